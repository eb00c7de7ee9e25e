//! Codes of memories (`memory §6.1`, `§6.2`), against spellings of their own from the sheet.

use scalepool::memory::ALL_BYTES;
use scalepool::memory::ecc::line::CELL_BITS;
use scalepool::memory::ecc::secded::{self, SecdedWord};
use scalepool::memory::ecc::symbol::{self, SymbolWord};
use scalepool::memory::ecc::{EccConfig, EccOutcome, EccScheme, EccStore, LineCells, LineEcc, OnDieEcc};
use scalepool::memory::store::Background;

const WORD: u64 = 0x0123_4567_89ab_cdef;

pub fn codes(scheme: EccScheme, on_die: OnDieEcc) -> LineEcc {
    LineEcc { scheme, on_die, die_word_bits: 128 }
}

pub fn store(scheme: EccScheme) -> EccStore {
    let config = EccConfig { ecc: codes(scheme, OnDieEcc::None), dead_device: None };
    EccStore::new(Background::OwnAddress, config)
}

/// What `read_line` gives for a line that nobody has written.
pub fn fresh(address: u64) -> [u8; 64] {
    Background::OwnAddress.line(address)
}

/// The check byte, by the words of the sheet: weight 3 ascending, then weight 5.
fn check_of_the_sheet(data: u64, descending: bool) -> u8 {
    let of_weight = |weight| (0..=255_u8).filter(move |byte| byte.count_ones() == weight);
    let mut columns: Vec<u8> = of_weight(3).chain(of_weight(5).take(8)).collect();
    if descending {
        columns.reverse();
    }
    let mut check = 0;
    for (bit, column) in columns.iter().enumerate() {
        if data & 1 << bit != 0 {
            check ^= column;
        }
    }
    check
}

/// The rule that a memory breaks which tells of a flipped bit, or hides it from whoever compares bytes.
fn silence_broken(scheme: EccScheme) -> Option<&'static str> {
    let mut memory = store(scheme);
    memory.flip(0x40, 9);
    memory.account_read(0x40);
    let (read, counts) = (memory.read_line(0x40), memory.counts());
    let is_seen = read.data[1] ^ fresh(0x40)[1] == 2;
    (!is_seen || read.poison || counts.corrected + counts.lost > 0).then_some("MEM-ECC-01")
}

#[test]
fn mem_ecc_01_p() {
    assert_eq!(silence_broken(EccScheme::None), None);
}

#[test]
fn mem_ecc_01_n() {
    for scheme in [EccScheme::Secded, EccScheme::Symbol] {
        assert_eq!(silence_broken(scheme), Some("MEM-ECC-01"), "{scheme:?} does not keep silent");
    }
}

/// Flips of a line as bits.
fn flips(bits: &[usize]) -> LineCells {
    let mut cells = LineCells::default();
    bits.iter().for_each(|bit| cells.flip(*bit));
    cells
}

#[test]
fn mem_ecc_02_p() {
    for die_word_bits in [128, 256] {
        let sec = LineEcc { die_word_bits, ..codes(EccScheme::None, OnDieEcc::Sec) };
        let ssc = LineEcc { on_die: OnDieEcc::Ssc, ..sec };
        for bit in 0..CELL_BITS {
            assert!(sec.behind_die(&flips(&[bit])).is_zero() && ssc.behind_die(&flips(&[bit])).is_zero(), "{bit}");
        }
        for symbol in (0..512).step_by(16) {
            let all: Vec<usize> = (symbol..symbol + 16).collect();
            assert!(ssc.behind_die(&flips(&all)).is_zero(), "{symbol}");
        }
        // One in each word.
        let each: Vec<usize> = (0..512).step_by(die_word_bits).collect();
        assert!(sec.behind_die(&flips(&each)).is_zero());
    }
}

#[test]
fn mem_ecc_02_n() {
    let sec = codes(EccScheme::None, OnDieEcc::Sec);
    let ssc = LineEcc { on_die: OnDieEcc::Ssc, ..sec };
    for second in [1, 16, 127] {
        assert_eq!(sec.behind_die(&flips(&[0, second])), flips(&[0, second]), "more than one bit of a word stays");
    }
    assert_eq!(ssc.behind_die(&flips(&[15, 16])), flips(&[15, 16]), "two symbols stay, however near");
    assert!(sec.behind_die(&flips(&[127, 128])).is_zero(), "they lie in two words");
    let wide = LineEcc { die_word_bits: 256, ..sec };
    assert_eq!(wide.behind_die(&flips(&[127, 128])), flips(&[127, 128]), "and in HBM in one");
}

#[test]
fn mem_ecc_03_p() {
    assert_eq!([WORD, u64::MAX, 1].map(secded::check_byte), [0x42, 0xd8, 0x07]);
    for bit in 0..64 {
        assert_eq!(secded::check_byte(1 << bit), check_of_the_sheet(1 << bit, false), "{bit}");
    }
}

#[test]
fn mem_ecc_03_n() {
    assert_ne!(check_of_the_sheet(WORD, true), 0x42, "columns in another order make another byte");
}

/// Data bits of a word and its check byte with some of 72 bits flipped.
fn flipped(data: u64, bits: &[usize]) -> (u64, u8) {
    let (mut word, mut check) = (data, secded::check_byte(data));
    for bit in bits {
        if *bit < 64 { word ^= 1 << bit } else { check ^= 1 << (bit - 64) }
    }
    (word, check)
}

/// The first flip of a word that a judge does not correct.
fn first_uncorrected(judge: impl Fn(u64, u8) -> SecdedWord) -> Option<usize> {
    (0..72).find(|bit| {
        let (word, check) = flipped(WORD, &[*bit]);
        judge(word, check) != SecdedWord::Corrected(WORD)
    })
}

#[test]
fn mem_ecc_04_p() {
    assert_eq!(first_uncorrected(secded::judge), None);
    let (word, check) = flipped(WORD, &[17]);
    assert_eq!(secded::judge(word, check), SecdedWord::Corrected(WORD), "the example of the sheet");
}

#[test]
fn mem_ecc_04_n() {
    // A judge that takes a column for that of its neighbour.
    let wrong = |word: u64, check: u8| match secded::judge(word, check) {
        SecdedWord::Corrected(data) if data ^ word == 1 << 5 => SecdedWord::Corrected(word ^ 1 << 6),
        other => other,
    };
    assert_eq!(first_uncorrected(wrong), Some(5));
}

/// The first two flips of a word that a judge takes for anything but lost.
fn first_hidden_pair(judge: impl Fn(u64, u8) -> SecdedWord) -> Option<(usize, usize)> {
    (0..72).flat_map(|a| (a + 1..72).map(move |b| (a, b))).find(|(a, b)| {
        let (word, check) = flipped(WORD, &[*a, *b]);
        judge(word, check) != SecdedWord::Lost
    })
}

#[test]
fn mem_ecc_05_p() {
    assert_eq!(first_hidden_pair(secded::judge), None);
    assert_eq!(secded::COLUMNS[0] ^ secded::COLUMNS[1], 0x0c, "the syndrome of the sheet");
}

#[test]
fn mem_ecc_05_n() {
    // A code without the columns' odd weights: a judge that flips any bit back for an even syndrome.
    let wrong = |word: u64, check: u8| match secded::judge(word, check) {
        SecdedWord::Lost => SecdedWord::Corrected(word ^ 1),
        other => other,
    };
    assert_eq!(first_hidden_pair(wrong), Some((0, 1)));
    // Three flips may look like one, which the sheet expects.
    let (word, check) = flipped(WORD, &[0, 1, 2]);
    assert!(matches!(secded::judge(word, check), SecdedWord::Corrected(data) if data != WORD));
}

/// A product modulo 0x11D by long division.
fn times(a: u8, b: u8) -> u8 {
    let mut product = 0_u32;
    for bit in 0..8 {
        product ^= if b >> bit & 1 == 1 { u32::from(a) << bit } else { 0 };
    }
    for bit in (8..16).rev() {
        product ^= if product >> bit & 1 == 1 { 0x11d << (bit - 8) } else { 0 };
    }
    product as u8
}

/// The polynomial with these symbols at a root.
fn at_root(symbols: &[u8; 10], root: u8) -> u8 {
    symbols.iter().rev().fold(0, |sum, symbol| times(sum, root) ^ symbol)
}

#[test]
fn mem_ecc_06_p() {
    let word = symbol::encode([0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!((word[0], word[1]), (0xf6, 0xf6));
    assert_eq!(symbol::encode([0xff; 8])[..2], [0x65, 0x65]);
    for data in [[0; 8], [1, 2, 4, 8, 16, 32, 64, 128], [0xa5; 8], [9, 0, 0, 0, 0, 0, 0, 0x81]] {
        let word = symbol::encode(data);
        assert_eq!((at_root(&word, 1), at_root(&word, 2)), (0, 0), "{data:?}");
    }
    let mut wrong = word;
    wrong[5] ^= 0xa5;
    assert_eq!(symbol::judge(&wrong), SymbolWord::Error { place: 5, by: 0xa5 });
    wrong[9] ^= 0x11;
    assert_eq!(symbol::judge(&wrong), SymbolWord::Lost);
}

#[test]
fn mem_ecc_06_n() {
    // Check symbols for the roots 2 and 4 are others.
    let word = symbol::encode([0, 1, 2, 3, 4, 5, 6, 7]);
    assert_ne!(at_root(&word, 4), 0);
}

#[test]
fn mem_ecc_07_p() {
    let word = symbol::encode([3, 1, 4, 1, 5, 9, 2, 6]);
    for place in 0..10 {
        for by in 1..=255 {
            let mut wrong = word;
            wrong[place] ^= by;
            assert_eq!(symbol::judge(&wrong), SymbolWord::Error { place, by });
        }
    }
    let ecc = codes(EccScheme::Symbol, OnDieEcc::None);
    for device in 0..10 {
        let right = ecc.encode(&fresh(0x1000));
        let mut cells = right;
        cells.device_mut(device).iter_mut().for_each(|byte| *byte = !*byte);
        assert_eq!(ecc.decode(&cells), (right.data, EccOutcome::Corrected), "device {device}");
    }
}

#[test]
fn mem_ecc_07_n() {
    // Each word of the line has one wrong symbol, which it would correct; together they name two devices.
    let ecc = codes(EccScheme::Symbol, OnDieEcc::None);
    let mut cells = ecc.encode(&fresh(0x1000));
    cells.device_mut(4)[0] ^= 1;
    cells.device_mut(6)[1] ^= 1;
    assert_eq!(ecc.decode(&cells).1, EccOutcome::Uncorrectable);
    let mut alone = ecc.encode(&fresh(0x1000));
    alone.device_mut(4)[0] ^= 1;
    assert_eq!(ecc.decode(&alone), (fresh(0x1000), EccOutcome::Corrected));
}

#[test]
fn mem_ecc_08_p() {
    for scheme in [EccScheme::Secded, EccScheme::Symbol] {
        let ecc = codes(scheme, OnDieEcc::None);
        let mut memory = store(scheme);
        for (n, enables) in [ALL_BYTES, 1, 0xff00, ALL_BYTES, 1 << 63].into_iter().enumerate() {
            memory.flip(0x40, n * 7);
            memory.write_line(0x40, &[n as u8 * 3 + 1; 64], enables, false);
            let cells = memory.cells(0x40);
            assert_eq!(cells, ecc.encode(&cells.data), "{scheme:?}: check bits are those of the data");
            assert_eq!(ecc.decode(&cells).1, EccOutcome::Good);
        }
        assert_eq!(memory.read_line(0x40).data[62..], [10, 13], "and the data those that were written");
    }
}

#[test]
fn mem_ecc_08_n() {
    // Check bits of the data before a partial write do not fit those behind it.
    for scheme in [EccScheme::Secded, EccScheme::Symbol] {
        let ecc = codes(scheme, OnDieEcc::None);
        let mut stale = ecc.encode(&fresh(0x40));
        stale.data[..2].copy_from_slice(&[0xfe, 0x31]);
        assert_ne!(ecc.decode(&stale), (stale.data, EccOutcome::Good), "{scheme:?}");
    }
}
