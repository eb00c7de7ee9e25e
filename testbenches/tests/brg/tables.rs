//! The tables of the bridge against the oracle: every command, size, offset and shape of enables on all classes.

use super::common::*;
use scalepool::bridge::window::WindowClass;
use scalepool::coherence::content::{CacheLine, WHOLE_LINE};
use scalepool::coherence::message::Msg;
use scalepool_oracle::bridge::{Conversion, LineConversion, UpliRequest, told};
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::field::TlReq;
use scalepool_protocols::ualink::half::Half;
use std::collections::BTreeMap;

const CLASSES: [(WindowClass, &str); 3] = [(WindowClass::Mc, "MC"), (WindowClass::Mn, "MN"), (WindowClass::Cc, "CC")];

fn half(enables: &[bool]) -> Half {
    std::array::from_fn(|n| (0..8).fold(0, |byte, bit| byte | u8::from(enables[8 * n + bit]) << bit))
}

/// A request of the model for what the oracle is asked.
fn request(asked: &UpliRequest) -> scalepool_protocols::ualink::unpack::Transfer {
    let len = asked.dwords as u8 - 1;
    let (cmd, attr, metadata) = (ReqCmd(asked.cmd), asked.attr, asked.message);
    let req = TlReq { cmd, address: asked.address, len, attr, metadata, ..TlReq::default() };
    let beats = ((asked.address % 64 + 4 * asked.dwords).div_ceil(64) as usize).min(4);
    let data: Vec<[u8; 64]> = (0..beats).map(|n| std::array::from_fn(|k| (16 * n + k) as u8 ^ 0x5a)).collect();
    let has_enables = cmd.has_data() && cmd != ReqCmd::WriteFull;
    transfer(req, if cmd.has_data() { &data } else { &[] }, has_enables.then(|| half(&asked.enables)))
}

/// What the bridge does about a request, in the words of the oracle.
fn converted(class: WindowClass, asked: &UpliRequest) -> Conversion {
    let mut bench = Bench::of(class);
    let response = bench.whole(request(asked));
    assert_eq!((bench.bridge.open(), bench.bridge.buffers_free()), (0, 64), "{asked:?}");
    assert!(bench.findings.is_empty(), "{asked:?}: {:?}", bench.findings);
    let field = rsp(&response);
    let is_read = field.rdwr == RdWr::Read;
    let mut lines: BTreeMap<u64, LineConversion> = BTreeMap::new();
    for (.., msg) in &bench.sent {
        let address = bench.line_of(msg).address() - OUT + BASE;
        let told = lines.entry(address).or_insert_with(|| LineConversion {
            line: address,
            bytes: Vec::new(),
            messages: Vec::new(),
            answers: Vec::new(),
        });
        told.messages.push(label(msg).leak());
        if let Msg::M2sRwd { enables, .. } | Msg::D2hData { enables, .. } = msg {
            told.bytes = (0..64).filter(|byte| enables >> byte & 1 == 1).collect();
        }
    }
    Conversion {
        channel: if is_read { 'R' } else { 'W' },
        beats: if is_read { beats(&response).len() } else { 0 },
        refused: (field.status != Status::OKAY).then_some(field.status.0),
        lines: lines.into_values().collect(),
    }
}

/// What the oracle tells, as far as messages show it: lines for which nothing is sent do not show, and a line that is fetched is written
/// whole.
fn visible(told: Conversion) -> Conversion {
    let lines = told.lines.into_iter().filter(|line| !line.messages.is_empty());
    let line = |line: LineConversion| LineConversion {
        bytes: match line.messages[0] {
            "MemRd Any/SnpInv" | "MemInv Any/SnpInv" | "RdOwn" => (0..64).collect(),
            _ => line.bytes,
        },
        answers: Vec::new(),
        ..line
    };
    let beats = if told.channel == 'R' { told.beats } else { 0 };
    Conversion { beats, lines: lines.map(line).collect(), ..told }
}

/// Whether the bridge does what the oracle tells; else both.
fn compared(class: (WindowClass, &str), asked: &UpliRequest) -> Result<(), String> {
    let (is, want) = (converted(class.0, asked), visible(told(class.1, asked)));
    if is == want { Ok(()) } else { Err(format!("{asked:?}\n  is   {is:?}\n  want {want:?}")) }
}

fn holds(class: (WindowClass, &str), asked: &UpliRequest) {
    compared(class, asked).unwrap_or_else(|text| panic!("{text}"));
}

/// Shapes of enables: all, none, every third byte, one line, whole elements of 8 bytes.
fn shapes() -> [Vec<bool>; 5] {
    let of = |f: fn(usize) -> bool| (0..256).map(f).collect::<Vec<bool>>();
    [of(|_| true), of(|_| false), of(|n| n % 3 == 0), of(|n| n / 64 == 1), of(|n| n / 8 % 3 == 0)]
}

fn asked(cmd: u8, message: u8, attr: u8, offset: u64, dwords: u64, enables: &[bool]) -> UpliRequest {
    UpliRequest { cmd, message, attr, address: BASE + 0x4_2000 + offset, dwords, enables: enables.to_vec() }
}

/// Offsets and sizes: all of them near the edges of lines, others now and then.
fn extents() -> Vec<(u64, u64)> {
    let all = (0..64).flat_map(|first| (1..=64).map(move |dwords| (4 * first, dwords)));
    let near = |byte: u64| byte % 64 <= 4 || byte % 64 >= 60;
    all.filter(|(offset, dwords)| near(*offset) && near(offset + 4 * dwords)).collect()
}

fn walk(class: (WindowClass, &str), cmds: &[u8]) -> usize {
    let (shapes, mut count) = (shapes(), 0);
    for (offset, dwords) in extents() {
        for &cmd in cmds {
            for shape in &shapes[..if cmd == 0x28 { 5 } else { 1 }] {
                holds(class, &asked(cmd, 0, 0, offset, dwords, shape));
                count += 1;
            }
        }
    }
    count
}

/// Atomics of every code and size, on one element, several and none, inside a line and over its end.
fn walk_atomics(class: (WindowClass, &str), cmd: u8) {
    for op in 0..32u8 {
        for size in 0..4u8 {
            let attr = (op & 15) << 4 | op >> 4 | size << 2;
            for (offset, dwords) in [(0, 1), (8, 2), (56, 2), (60, 2), (64, 16), (4, 3)] {
                for shape in &shapes() {
                    holds(class, &asked(cmd, 0, attr, offset, dwords, shape));
                }
            }
        }
    }
}

/// Whether a wrong word in a row of the oracle is seen: the walk is not blind there.
fn is_seen(class: (WindowClass, &str), asked: &UpliRequest, spoil: fn(&mut Conversion)) -> bool {
    let mut want = visible(told(class.1, asked));
    spoil(&mut want);
    converted(class.0, asked) != want
}

fn full() -> UpliRequest {
    asked(0x29, 0, 0, 64, 16, &shapes()[0])
}

fn part() -> UpliRequest {
    asked(0x28, 0, 0, 64, 16, &shapes()[2])
}

fn load() -> UpliRequest {
    asked(0x03, 0, 0, 0x38, 20, &shapes()[0])
}

fn atomic() -> UpliRequest {
    asked(0x30, 0, 1 << 2, 8, 2, &shapes()[0])
}

/// The messages of a row, and that another word in it is seen.
macro_rules! rows {
    ($($p:ident $n:ident $class:expr, $asked:expr, $messages:expr;)*) => {$(
        #[test]
        fn $p() {
            let class = CLASSES[$class];
            holds(class, &$asked);
            let is = converted(class.0, &$asked);
            let messages: Vec<&str> = is.lines.iter().flat_map(|line| line.messages.clone()).collect();
            assert_eq!(messages, $messages, "{is:?}");
        }

        #[test]
        fn $n() {
            let class = CLASSES[$class];
            let spoil: fn(&mut Conversion) = |told| match told.lines.first_mut() {
                Some(line) => line.messages[0] = "MemRd Shared/SnpData",
                None => told.refused = None,
            };
            assert!(is_seen(class, &$asked, spoil), "{:?}", $asked);
        }
    )*};
}

rows! {
    brg_map_01_p brg_map_01_n 0, load(), ["MemRd Invalid/SnpCur"; 3];
    brg_map_02_p brg_map_02_n 1, load(), ["MemRd NoOp/NoOp"; 3];
    brg_map_03_p brg_map_03_n 2, load(), ["RdCurr"; 3];
    brg_map_05_p brg_map_05_n 0, full(), ["MemInv Any/SnpInv", "MemWr Invalid/NoOp"];
    brg_map_06_p brg_map_06_n 1, full(), ["MemWr Any/NoOp"];
    brg_map_07_p brg_map_07_n 2, full(), ["WrCur", "Data"];
    brg_map_09_p brg_map_09_n 0, part(), ["MemRd Any/SnpInv", "MemWr Invalid/NoOp"];
    brg_map_10_p brg_map_10_n 1, part(), ["MemWrPtl Any/NoOp"];
    brg_map_11_p brg_map_11_n 2, part(), ["WrInv", "Data"];
    brg_map_13_p brg_map_13_n 0, atomic(), ["MemRd Any/SnpInv", "MemWr Invalid/NoOp"];
    brg_map_14_p brg_map_14_n 1, atomic(), [""; 0];
    brg_map_15_p brg_map_15_n 2, atomic(), ["RdOwn", "DirtyEvict", "Data"];
}

#[test]
fn brg_map_17_p() {
    let walked: usize = CLASSES.iter().map(|class| walk(*class, &[0x03])).sum();
    assert!(walked > 200, "{walked}");
}

/// A response with a beat less is no answer to a read.
#[test]
fn brg_map_17_n() {
    assert!(is_seen(CLASSES[0], &load(), |told| told.beats -= 1));
}

#[test]
fn brg_map_18_p() {
    let walked: usize = CLASSES.iter().map(|class| walk(*class, &[0x28, 0x29])).sum();
    assert!(walked > 1000, "{walked}");
}

/// A WriteFull of a part of a line is no write of a whole one.
#[test]
fn brg_map_18_n() {
    let part_of_line = asked(0x29, 0, 0, 64, 4, &shapes()[0]);
    holds(CLASSES[1], &part_of_line);
    assert!(is_seen(CLASSES[1], &part_of_line, |told| told.lines[0].messages[0] = "MemWr Any/NoOp"));
}

#[test]
fn brg_map_19_p() {
    CLASSES.iter().for_each(|class| walk_atomics(*class, 0x30));
}

/// An atomic on two lines is refused.
#[test]
fn brg_map_19_n() {
    let two_lines = converted(WindowClass::Mc, &asked(0x30, 0, 1 << 2, 60, 2, &shapes()[0]));
    assert_eq!((two_lines.refused, two_lines.channel, two_lines.lines), (Some(2), 'R', Vec::new()));
}

#[test]
fn brg_map_20_p() {
    CLASSES.iter().for_each(|class| walk_atomics(*class, 0x32));
}

#[test]
fn brg_map_20_n() {
    let two_lines = converted(WindowClass::Mc, &asked(0x32, 0, 1 << 2, 60, 2, &shapes()[0]));
    assert_eq!((two_lines.refused, two_lines.channel, two_lines.lines), (Some(2), 'W', Vec::new()));
}

#[test]
fn brg_map_21_p() {
    for message in 0..4 {
        let asked = asked(0x2a, message, 0, 0, 16, &shapes()[0]);
        holds(CLASSES[1], &asked);
        let is = converted(WindowClass::Mn, &asked);
        assert_eq!((is.channel, is.refused), (if message == 2 { 'R' } else { 'W' }, None), "{message}");
    }
}

/// Types of vendors and others are refused, and nothing goes on to CXL.
#[test]
fn brg_map_21_n() {
    for message in 4..=255 {
        let is = converted(WindowClass::Mn, &asked(0x2a, message, 0, 0, 16, &shapes()[0]));
        assert_eq!((is.channel, is.refused, is.lines), ('W', Some(2), Vec::new()), "{message}");
    }
}

#[test]
fn brg_map_22_p() {
    for cmd in [0x03, 0x28, 0x29] {
        assert_eq!(converted(WindowClass::Mn, &asked(cmd, 0, 0, 0, 16, &shapes()[0])).refused, None, "{cmd:#x}");
    }
}

/// Every other code is refused on the channel of its class.
#[test]
fn brg_map_22_n() {
    let known = [0x03, 0x28, 0x29, 0x2a, 0x30, 0x32];
    for cmd in (0..64).filter(|cmd| !known.contains(cmd)) {
        let asked = asked(cmd, 0, 0, 0, 16, &shapes()[0]);
        CLASSES.iter().for_each(|class| holds(*class, &asked));
        assert_eq!(converted(WindowClass::Mc, &asked).refused, Some(2), "{cmd:#x}");
    }
}

/// Requests at random against the oracle, and their bytes against a plain memory.
#[test]
fn brg_int_02_p() {
    let mut rng = scalepool::kernel::Rng::from_seed(5);
    for class in CLASSES {
        for _ in 0..400 {
            let cmd = [0x03, 0x28, 0x29, 0x30, 0x32][rng.below(5) as usize];
            let enables: Vec<bool> = (0..256).map(|_| rng.ratio(2, 3)).collect();
            let (offset, dwords, attr) = (4 * rng.below(64), 1 + rng.below(64), rng.below(256) as u8);
            holds(class, &asked(cmd, 0, attr, offset, dwords, &enables));
        }
        bytes_land_where_they_belong(class.0, &mut rng);
    }
}

fn bytes_land_where_they_belong(class: WindowClass, rng: &mut scalepool::kernel::Rng) {
    let (mut bench, mut plain) = (Bench::of(class), vec![0u8; 1024]);
    for n in 0..300 {
        let enables: Vec<bool> = (0..256).map(|_| rng.ratio(1, 2)).collect();
        let block = 256 * rng.below(4);
        let first = 4 * rng.below(64);
        let dwords = 1 + rng.below(64 - first / 4);
        let cmd = [0x03, 0x28, 0x29][rng.below(3) as usize];
        let asked = UpliRequest { cmd, message: 0, attr: 0, address: BASE + block + first, dwords, enables };
        let mut request = request(&asked);
        request.data.change(|halves| halves.iter_mut().for_each(|half| rng.fill_bytes(half)));
        let sent = scalepool::nodes::ualink::read::lines_of(&request.data).collect::<Vec<_>>();
        let is_written =
            |byte: u64| byte >= first && byte < first + 4 * dwords && (cmd == 0x29 || asked.enables[byte as usize]);
        if cmd != 0x03 {
            for byte in (0..256).filter(|byte| is_written(*byte)) {
                plain[(block + byte) as usize] = sent[(byte / 64 - first / 64) as usize][byte as usize % 64];
            }
        }
        let response = bench.whole(request);
        assert_eq!(verdict(&response).0, Status::OKAY);
        for (k, beat) in beats(&response).iter().enumerate() {
            let at = (block + first / 64 * 64) as usize + 64 * k;
            assert_eq!(beat[..], plain[at..at + 64], "request {n}, beat {k}");
        }
    }
    for (address, line) in &bench.memory {
        let at = (address - OUT) as usize;
        assert_eq!(line.bytes[..], plain[at..at + 64], "{address:#x}");
        assert_eq!(*line, CacheLine::of(line.bytes));
    }
}

/// Any one cell of a row that is changed is found: each message, the line, the bytes, the channel.
#[test]
fn brg_int_02_n() {
    let spoils: [fn(&mut Conversion); 4] = [
        |told| told.channel = if told.channel == 'R' { 'W' } else { 'R' },
        |told| told.refused = Some(3),
        |told| told.lines.iter_mut().for_each(|line| line.line ^= 64),
        |told| told.lines.iter_mut().for_each(|line| line.bytes.push(64)),
    ];
    for class in CLASSES {
        for asked in [load(), full(), part()] {
            assert!(spoils.iter().all(|spoil| is_seen(class, &asked, *spoil)), "{asked:?}");
        }
    }
    assert_eq!(WHOLE_LINE, u64::MAX);
}
