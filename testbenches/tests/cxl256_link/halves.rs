//! CXL256-LOP and CXL256-MAP: the format of a link, and the halves of latency-optimised flits.

use super::io::{Io, io_flit, region_bytes, tlp};
use super::rig::*;
use scalepool::link::cxl256::{FlitPart, NoSuchMode, negotiated};
use scalepool_protocols::cxl::cxlio::stream::{self, TlpRegionReader};

const MODE: Mode = Mode::LatencyOptimised;

fn lopt() -> LinkConfig {
    LinkConfig { mode: MODE, ..LinkConfig::default() }
}

#[test]
fn cxl256_map_04_p() {
    let modes = [(false, false), (true, false), (false, true)].map(|(lopt, pbr)| negotiated(lopt, pbr));
    assert_eq!(modes, [Ok(Mode::Standard), Ok(Mode::LatencyOptimised), Ok(Mode::Pbr)]);
    for mode in Mode::ALL {
        let mut bench = Bench::new(LinkConfig { mode, ..LinkConfig::default() }, 32, 1);
        assert!(bench.rest(500));
        bench.assert_clean();
    }
}

#[test]
fn cxl256_map_04_n() {
    assert_eq!(negotiated(true, true), Err(NoSuchMode));
    // Flits of another format are bad flits.
    for (mode, other) in [(Mode::LatencyOptimised, Mode::Standard), (Mode::Standard, Mode::LatencyOptimised)] {
        let mut solo = Solo::new(LinkConfig { mode, ..LinkConfig::default() });
        let mut flit = Cxl256Flit::ZERO;
        flit.set_header(&FlitHeader { seq: 1023, ..FlitHeader::default() }).expect("fits");
        flit.seal(other);
        (0..2).for_each(|_| solo.receive(&flit));
        assert_eq!(solo.end.stats().bad, 2);
        assert!(solo.end.receiver().nak_open);
    }
}

/// Rules of a TLP region in which nine TLPs of 3 DW begin, the ninth at byte `last`.
fn nine(region_bytes: usize, first: usize, last: usize) -> Vec<&'static str> {
    let mut region = vec![0; region_bytes];
    (0..8).for_each(|n| region[first + 12 * n..][..12].copy_from_slice(&tlp(3, n as u16)));
    let end = region_bytes.min(last + 12);
    region[last..end].copy_from_slice(&tlp(3, 8)[..end - last]);
    let mut broken = Vec::new();
    stream::check(&TlpRegionReader::new(false).read(&region), &region, false, &mut broken);
    broken.iter().map(|v| v.rule).filter(|&r| r == "CXLIO-PLC-02").collect()
}

#[test]
fn cxl256_map_05_p() {
    for mode in [Mode::Standard, Mode::LatencyOptimised] {
        let bytes = region_bytes(mode);
        assert_eq!(bytes - stream::GROUP_BYTES, if mode.is_lopt() { 104 } else { 108 });
        // Eight in the first group, the ninth opens the second.
        assert_eq!(nine(bytes, 0, 128), [""; 0]);
    }
}

#[test]
fn cxl256_map_05_n() {
    for mode in [Mode::Standard, Mode::LatencyOptimised] {
        assert_eq!(nine(region_bytes(mode), 0, 124), ["CXLIO-PLC-02"]);
        assert_eq!(nine(region_bytes(mode), 128, region_bytes(mode) - 8), ["CXLIO-PLC-02"]);
        // Byte 120 of the TLPs is byte 128 of a latency-optimised flit: by flit bytes it would be in the second group.
        let mut flit = io_flit(mode, &[]);
        let region_at = |at| {
            let mut body = vec![0; region_bytes(mode)];
            body[at] = 1;
            body
        };
        flit.set_body(mode, region_at(120));
        assert_eq!(flit.0[128] == 1, mode.is_lopt());
        assert_eq!(nine(region_bytes(mode), 0, 120), ["CXLIO-PLC-02"]);
    }
}

/// A link on which the host has sent `flits` flits with eight TLPs of 4 DW, and one more that straddles the halves.
fn halves(faults: Vec<Fault>, flits: u16) -> Pair<Io> {
    let mut pair = Io::pair(lopt());
    pair.wires.put(Dir::Down, FaultyWire::new(faults, 0.0, scalepool::kernel::Rng::from_seed(1)));
    for n in 0..flits {
        let region = (0..14).flat_map(|k| tlp(4, 14 * n + k)).collect::<Vec<u8>>();
        pair.host.client.outgoing.push_back(io_flit(MODE, &region));
    }
    (0..u64::from(flits) + 200).for_each(|_| pair.step());
    let numbers: Vec<u16> = pair.device.client.tlps.iter().map(|(_, t)| u16::from_be_bytes([t[6], t[7]])).collect();
    assert!(numbers.iter().copied().eq(0..14 * flits), "every TLP once, in order: {numbers:?}");
    assert!(used_once(&pair.device.client.parts, flits.into()));
    pair
}

/// Whether each of `flits` flits was used whole, or its even half and then its odd one.
fn used_once(parts: &[(u64, FlitPart)], flits: usize) -> bool {
    let mut half = false;
    let fits = parts.iter().all(|&(_, part)| {
        let fits = half == (part == FlitPart::Odd);
        half = part == FlitPart::Even;
        fits
    });
    fits && !half && parts.iter().filter(|(_, part)| *part != FlitPart::Even).count() == flits
}

#[test]
fn cxl256_lop_01_p() {
    let pair = halves(Vec::new(), 100);
    let parts = &pair.device.client.parts;
    let early = parts.iter().filter(|(_, part)| *part == FlitPart::Even).count();
    assert!(early >= 70, "{early} of 100: all but those with an implied number");
    for pair in parts.windows(2).filter(|w| w[0].1 == FlitPart::Even) {
        assert_eq!(pair[1].0, pair[0].0 + 1, "the odd half comes later");
    }
    println!("latency-optimised: {early} even halves of 100 flits half a flit earlier");
}

#[test]
fn cxl256_lop_01_n() {
    // One bit of every even half is wrong: nothing is used before the FEC has repaired it.
    let pair = halves((0..150).map(|unit| Fault::Flip { unit, bit: 8 * 50 }).collect(), 100);
    assert!(pair.device.client.parts.iter().all(|(_, part)| *part == FlitPart::Whole));
    assert!(pair.device.stats().repaired > 100);
}

/// Two wrong bytes of one FEC group in the odd half.
fn odd_half_lost(units: impl Iterator<Item = u64>) -> Vec<Fault> {
    units.flat_map(|unit| [150, 153].map(|byte| Fault::Flip { unit, bit: 8 * byte })).collect()
}

#[test]
fn cxl256_lop_03_p() {
    for step in [5, 7, 16] {
        let pair = halves(odd_half_lost((20..110).step_by(step)), 100);
        let parts = &pair.device.client.parts;
        let waited = parts.windows(2).filter(|w| w[0].1 == FlitPart::Even && w[1].0 > w[0].0 + 1).count();
        assert!(waited > 0 && pair.host.stats().replays > 0, "odd halves came with replays");
    }
}

#[test]
fn cxl256_lop_03_n() {
    let parts = [FlitPart::Whole, FlitPart::Even, FlitPart::Even, FlitPart::Odd];
    assert!(!used_once(&parts.map(|part| (0, part)), 2), "an even half that is used twice is seen");
    // However often it comes, it is used once.
    let mut end = Cxl256End::new(lopt(), Io::new(MODE));
    let mut flit = io_flit(MODE, &tlp(4, 7));
    flit.set_header(&FlitHeader { flit_type: FlitType::Io, seq: 1, ..FlitHeader::default() }).expect("fits");
    flit.seal(MODE);
    let mut bad = flit;
    (bad.0[150], bad.0[153]) = (0x55, 0x12);
    for now in 0..3 {
        end.receive_even(&bad, now);
        end.receive(&bad, now);
    }
    assert_eq!((end.stats().early_halves, end.stats().bad), (1, 3));
    end.receive_even(&flit, 3);
    end.receive(&flit, 3);
    assert!(used_once(&end.client.parts, 1), "{:?}", end.client.parts);
}

#[test]
fn cxl256_lop_05_p() {
    // 120 bytes: seven TLPs of 16 bytes and a half of the eighth.
    let pair = halves(Vec::new(), 20);
    let tlps = &pair.device.client.tlps;
    let first = pair.device.client.parts.iter().find(|(_, part)| *part == FlitPart::Even).expect("an even half").0;
    let came: Vec<u64> = tlps.iter().map(|(at, _)| *at).filter(|&at| at == first || at == first + 1).collect();
    assert_eq!(came.iter().filter(|&&at| at == first).count(), 7);
    assert!(came.iter().filter(|&&at| at == first + 1).count() >= 7, "the eighth and the rest come with the odd half");
}

#[test]
fn cxl256_lop_05_n() {
    // A reader that takes the eighth with what stood in the odd half before gets another TLP than was sent.
    let region = (0..14).flat_map(|k| tlp(4, k)).collect::<Vec<u8>>();
    let flit = io_flit(MODE, &region);
    let mut early = FlitPart::Even.tlp_bytes(MODE, &flit);
    assert_eq!(TlpRegionReader::new(false).read(&early).iter().filter(|f| f.whole.is_some()).count(), 7);
    early.resize(region_bytes(MODE), 0xee);
    let wrong = TlpRegionReader::new(false).read(&early)[7].whole.clone().expect("eight whole TLPs");
    assert_ne!(wrong, tlp(4, 7));
}

#[test]
fn messages_of_even_halves_come_early() {
    let mut bench = Bench::new(lopt(), 32, 1);
    (bench.phases, bench.produce) = (false, [64; 12]);
    (0..1000).for_each(|_| bench.step());
    assert!(bench.rest(5000));
    bench.assert_clean();
    let stats = bench.pair.device.client.stats();
    let all: u64 = stats.messages.iter().sum();
    println!("{} of {all} messages read from even halves before the odd ones", stats.messages_early);
    assert!(5 * stats.messages_early > all);
}
