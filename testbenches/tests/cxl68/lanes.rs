//! CXL68-LNE, EDS, NUL: units on lanes and in blocks.

use super::common::*;
use scalepool_protocols::cxl::cxl68::lanes::{Block, Cxl68Width, block_bytes, read_blocks, stripe, unstripe};
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled};
use scalepool_protocols::cxl::cxl68::unit::{Cxl68Unit, UNIT_BYTES};
use scalepool_protocols::wire::At;

const CACHEMEM_EDS: u16 = 0x8787;
const NULL_EDS: u16 = 0x4b4b;
const IO_EDS: u16 = 0xd2d2;

fn width(lanes: u8) -> Cxl68Width {
    Cxl68Width::new(lanes).expect("a width of the table")
}

/// Units without gap whose payload bytes are no protocol ID code.
fn units(n: usize) -> Vec<Cxl68Unit> {
    (0..n).map(|k| Cxl68Unit::cachemem(pid::CACHEMEM, &[0x21 + k as u8; 64])).collect()
}

fn bytes(units: &[Cxl68Unit]) -> Vec<u8> {
    units.iter().flat_map(|u| u.0).collect()
}

/// Units, then NULLs up to a block boundary of which the last one carries EDS; cut into data blocks.
fn blocks(stream: &[u8], width: Cxl68Width) -> Vec<Block> {
    stream.chunks(block_bytes(width)).map(|b| Block::Data(b.to_vec())).collect()
}

/// What a receiver makes of lanes when it thinks the unit starts on a given lane.
fn first_event(lanes: &[Vec<u8>], start_lane: usize) -> bool {
    let bytes = unstripe(lanes, start_lane);
    bytes.chunks_exact(UNIT_BYTES).any(|unit| {
        let id = u16::from_le_bytes([unit[0], unit[1]]);
        pid::receive(id, Enabled::ALL).log.is_some()
    })
}

#[test]
fn cxl68_lne_01_p() {
    let x16 = width(16);
    assert_eq!((0..9).map(|n| x16.start_lane(n)).collect::<Vec<_>>(), [0, 4, 8, 12, 0, 4, 8, 12, 0]);
    assert_eq!(x16.period_symbols(), 17);
    let sent = units(8);
    let lanes = stripe(&bytes(&sent), x16);
    assert_eq!(lanes.len(), 16);
    assert!(lanes.iter().all(|lane| lane.len() == 34), "8 units are two periods of 17 symbols");
    // Byte k of the stream is symbol k / 16 of lane k % 16.
    for (k, byte) in bytes(&sent).into_iter().enumerate() {
        assert_eq!(lanes[k % 16][k / 16], byte);
    }
    for n in 0..8 {
        let at = n * UNIT_BYTES;
        assert_eq!(at % 16, x16.start_lane(n));
        assert_eq!(lanes[at % 16][at / 16], 0x55, "unit {n} starts on its lane");
    }
    assert_eq!(unstripe(&lanes, 0), bytes(&sent));
}

#[test]
fn cxl68_lne_01_n() {
    for first in 0..4 {
        // A stream that starts with unit `first` of the period.
        let lead = width(16).start_lane(first);
        let mut stream = vec![0; lead];
        stream.extend(bytes(&units(4)));
        let lanes = stripe(&stream, width(16));
        for lane in [0, 4, 8, 12] {
            assert_eq!(first_event(&lanes, lane), lane != lead, "starts on lane {lead}, read from lane {lane}");
        }
    }
}

#[test]
fn cxl68_lne_02_p() {
    let starts = |lanes| (0..4).map(|n| width(lanes).start_lane(n)).collect::<Vec<_>>();
    assert_eq!(starts(8), [0, 4, 0, 4]);
    for lanes in [4, 2, 1] {
        assert_eq!(starts(lanes), [0, 0, 0, 0]);
    }
    let periods: Vec<usize> = [8, 4, 2, 1].iter().map(|l| width(*l).period_symbols()).collect();
    assert_eq!(periods, [17, 17, 34, 68]);
    let sent = bytes(&units(8));
    for w in Cxl68Width::ALL {
        let lanes = stripe(&sent, w);
        for (k, byte) in sent.iter().enumerate() {
            assert_eq!(lanes[k % w.lanes()][k / w.lanes()], *byte);
        }
        assert_eq!(unstripe(&lanes, 0), sent);
    }
    assert_eq!(Cxl68Width::ALL.map(Cxl68Width::lanes), [1, 2, 4, 8, 16]);
}

#[test]
fn cxl68_lne_02_n() {
    for lanes in [2, 4, 8] {
        let w = width(lanes);
        let striped = stripe(&bytes(&units(4)), w);
        for lane in 0..w.lanes() {
            assert_eq!(first_event(&striped, lane), lane != 0, "x{lanes} read from lane {lane}");
        }
    }
    for lanes in [0, 3, 5, 6, 7, 9, 12, 32, 255] {
        assert_eq!(Cxl68Width::new(lanes), None);
    }
}

/// A stream of x`lanes` that ends with its last unit at a block end: 17 blocks of 16 bytes a lane.
fn full_blocks(lanes: u8, last_id: u16) -> Vec<Block> {
    let w = width(lanes);
    let n = 17 * block_bytes(w) / UNIT_BYTES;
    let mut all = units(n);
    all[n - 1] = Cxl68Unit::cachemem(last_id, &[0; 64]);
    blocks(&bytes(&all), w)
}

#[test]
fn cxl68_eds_01_p() {
    for lanes in [1, 2, 4, 8, 16] {
        for id in [CACHEMEM_EDS, IO_EDS] {
            let mut stream = full_blocks(lanes, id);
            stream.push(Block::OrderedSet);
            let read = read_blocks(&stream, width(lanes), false);
            assert_eq!(read.violations, [], "x{lanes}");
            assert_eq!(read.units.len(), 4 * usize::from(lanes));
        }
    }
    // Without EDS no ordered set is due.
    assert_eq!(read_blocks(&full_blocks(16, pid::CACHEMEM), width(16), false).violations, []);
}

#[test]
fn cxl68_eds_01_n() {
    // EDS on a unit in the middle of the data: the block behind the one it ends in is data.
    let mut all = units(64);
    all[10] = Cxl68Unit::cachemem(CACHEMEM_EDS, &[0; 64]);
    let read = read_blocks(&blocks(&bytes(&all), width(16)), width(16), false);
    assert_eq!(read.violations.len(), 1);
    assert_eq!((read.violations[0].rule, read.violations[0].at), ("CXL68-EDS-01", At::Byte(10 * UNIT_BYTES)));
    // An ordered set that no unit announced.
    let mut stream = full_blocks(16, pid::CACHEMEM);
    stream.push(Block::OrderedSet);
    let read = read_blocks(&stream, width(16), false);
    assert_eq!(read.violations.len(), 1);
    assert_eq!((read.violations[0].rule, read.violations[0].found.as_str()), ("CXL68-EDS-01", "an ordered set"));
}

/// EDS "only on the last flit of a data block": a second unit in the block behind an EDS unit is a break although the
/// ordered set does follow the block.
#[test]
fn cxl68_eds_01_n2() {
    let mut all = units(64);
    // Units 62 and 63 both end in the last of the 17 blocks of x16.
    all[62] = Cxl68Unit::cachemem(CACHEMEM_EDS, &[0; 64]);
    let mut stream = blocks(&bytes(&all), width(16));
    stream.push(Block::OrderedSet);
    let read = read_blocks(&stream, width(16), false);
    let rules: Vec<_> = read.violations.iter().map(|v| v.rule).collect();
    assert_eq!(rules, ["CXL68-EDS-01"], "{:?}", read.violations);
}

#[test]
fn cxl68_nul_01_n() {
    for at in 0..64 {
        for bit in 0..8 {
            let mut payload = [0; 64];
            payload[at] = 1 << bit;
            for id in [pid::NULL, NULL_EDS] {
                let read = judge(Dir::Down, Cxl68Unit::plain(id, &payload));
                assert_eq!(read.rules(), ["CXL68-NUL-01"]);
                assert_eq!(read.violations()[0].at, At::Byte(2 + at));
            }
        }
    }
}

#[test]
fn cxl68_nul_02_p() {
    // 128b/130b: three units and a NULL with EDS that the end of the first x16 block (256 bytes) cuts to 52 bytes.
    let w = width(16);
    let mut stream = bytes(&units(3));
    stream.extend([0x4b, 0x4b]);
    stream.resize(block_bytes(w), 0);
    let mut cut = blocks(&stream, w);
    cut.push(Block::OrderedSet);
    let next = units(1);
    cut.extend(blocks(&[bytes(&next), vec![0; block_bytes(w) - UNIT_BYTES]].concat(), w));
    let read = read_blocks(&cut, w, false);
    assert_eq!(read.violations, []);
    let lengths: Vec<usize> = read.units.iter().map(Vec::len).collect();
    assert_eq!(lengths[..5], [68, 68, 68, 52, 68], "the unit behind the ordered set starts a block");
    assert_eq!(read.units[4], next[0].0);
    // Sync header bypass: a NULL with EDS always has 68 bytes.
    let mut full = full_blocks(16, NULL_EDS);
    full.push(Block::OrderedSet);
    let read = read_blocks(&full, w, true);
    assert_eq!(read.violations, []);
    assert!(read.units.iter().all(|u| u.len() == 68));
    assert_eq!(read.units.len(), 64);
}

#[test]
fn cxl68_nul_02_n() {
    // A NULL with EDS written in full length across a block end, the ordered set behind the block in which it ends.
    let w = width(16);
    let mut stream = bytes(&units(3));
    stream.extend(Cxl68Unit::plain(NULL_EDS, &[0; 64]).0);
    stream.extend(bytes(&units(3)));
    stream.resize(2 * block_bytes(w), 0);
    let mut across = blocks(&stream, w);
    across.push(Block::OrderedSet);
    let read = read_blocks(&across, w, false);
    assert_eq!(read.violations.first().map(|v| v.rule), Some("CXL68-NUL-02"), "{:?}", read.violations);
    assert_eq!(read.violations[0].at, At::Byte(3 * UNIT_BYTES));
}
