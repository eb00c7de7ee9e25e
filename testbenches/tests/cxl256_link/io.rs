//! A client that sends and takes CXL.io flits, and remembers what came when.

use super::rig::*;
use scalepool::link::cxl256::{FlitPart, Monitor};
use scalepool_protocols::cxl::cxlio::stream::TlpRegionReader;
use std::collections::VecDeque;

/// Bytes of the TLP region of a format.
pub const fn region_bytes(mode: Mode) -> usize {
    if mode.is_lopt() { 232 } else { 236 }
}

/// A request of `dw` DW, 3 or 4, that carries a number.
pub fn tlp(dw: usize, number: u16) -> Vec<u8> {
    let tlp_type = if dw == 3 { 0x03 } else { 0x20 };
    let mut bytes = vec![0; 4 * dw];
    (bytes[0], bytes[3]) = (tlp_type, 1);
    bytes[6..8].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// A CXL.io flit with a TLP region, filled up with NOPs.
pub fn io_flit(mode: Mode, region: &[u8]) -> Cxl256Flit {
    let mut flit = Cxl256Flit::ZERO;
    flit.set_header(&FlitHeader { flit_type: FlitType::Io, ..FlitHeader::default() }).expect("fits");
    let mut body = region.to_vec();
    body.resize(region_bytes(mode), 0);
    flit.set_body(mode, body);
    flit
}

/// The link layer of CXL.io as far as the numbers below see it.
pub struct Io {
    mode: Mode,
    reader: TlpRegionReader,
    /// Flits to be sent.
    pub outgoing: VecDeque<Cxl256Flit>,
    /// Parts that came, with their flit clock.
    pub parts: Vec<(u64, FlitPart)>,
    /// TLPs that came, with their flit clock.
    pub tlps: Vec<(u64, Vec<u8>)>,
    /// Whether it has DLLPs to send, each with the next number.
    pub sends_dllps: bool,
    sent_dllps: u32,
    /// DLLPs that came, those of zeros left out.
    pub dllps: Vec<u32>,
}

impl Io {
    pub fn new(mode: Mode) -> Io {
        Io {
            mode,
            reader: TlpRegionReader::new(false),
            outgoing: VecDeque::new(),
            parts: Vec::new(),
            tlps: Vec::new(),
            sends_dllps: false,
            sent_dllps: 0,
            dllps: Vec::new(),
        }
    }

    /// A link between two of them.
    pub fn pair(link: LinkConfig) -> Pair<Io> {
        let end = || Cxl256End::new(link, Io::new(link.mode));
        Pair::new(end(), end(), LATENCY_FLITS, RETRAIN_FLITS)
    }
}

impl Layer for Io {}

impl Client for Io {
    type Flit = Cxl256Flit;

    fn transmit(&mut self, _: u64) -> Option<Cxl256Flit> {
        self.outgoing.pop_front()
    }

    fn receive(&mut self, flit: &Cxl256Flit, part: FlitPart, now_flits: u64) {
        self.parts.push((now_flits, part));
        let found = self.reader.read(&part.tlp_bytes(self.mode, flit));
        self.tlps.extend(found.into_iter().filter_map(|f| Some((now_flits, f.whole?))));
    }

    fn dllp(&mut self, _: u64) -> Option<[u8; 4]> {
        self.sent_dllps += 1;
        self.sends_dllps.then_some(self.sent_dllps.to_be_bytes())
    }

    fn receive_dllp(&mut self, bytes: [u8; 4], _: u64) {
        self.dllps.extend(Some(u32::from_be_bytes(bytes)).filter(|&n| n != 0));
    }

    fn phy_down(&mut self) {}

    fn phy_up(&mut self) {}

    fn link_reset(&mut self) {
        self.outgoing.clear();
        self.reader = TlpRegionReader::new(false);
    }

    fn take_retrain_request(&mut self) -> bool {
        false
    }

    fn is_quiet(&self) -> bool {
        self.outgoing.is_empty()
    }

    fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        (!self.outgoing.is_empty() || self.sends_dllps).then_some(now_flits + 1)
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        Vec::new()
    }
}

/// Copies of one CXL.io flit that differ in their TLP bytes: each flit begins with a TLP with a number of its own.
fn changed_tlps(mode: Mode, log: &[Cxl256Flit]) -> Vec<Vec<u8>> {
    let regions =
        log.iter().filter(|f| f.header().flit_type == FlitType::Io).map(|f| FlitPart::Whole.tlp_bytes(mode, f));
    let mut seen: Vec<Vec<u8>> = Vec::new();
    let mut changed = Vec::new();
    for region in regions {
        match seen.iter().find(|s| s[..12] == region[..12]) {
            Some(first) if *first != region => changed.push(region),
            Some(_) => (),
            None => seen.push(region),
        }
    }
    changed
}

/// Flits of a link with CXL.io of which some are lost, as they were sent down.
fn replayed(mode: Mode) -> (Pair<Io>, Vec<Cxl256Flit>) {
    let mut pair = Io::pair(LinkConfig { mode, ..LinkConfig::default() });
    let drops = (60..63).map(|unit| Fault::Drop { unit }).collect();
    pair.wires.put(Dir::Down, FaultyWire::new(drops, 0.0, scalepool::kernel::Rng::from_seed(1)));
    pair.host.client.sends_dllps = true;
    for n in 0..100 {
        let region = (0..18).flat_map(|k| tlp(3, 18 * n + k)).collect::<Vec<u8>>();
        pair.host.client.outgoing.push_back(io_flit(mode, &region));
    }
    pair.wires.keep_log();
    (0..300).for_each(|_| pair.step());
    let log = pair.wires.take_log();
    (pair, log.into_iter().filter(|s| s.dir == Dir::Down).map(|s| s.unit.flit).collect())
}

#[test]
fn cxl256_rty_16_p() {
    for mode in [Mode::Standard, Mode::LatencyOptimised] {
        let (pair, log) = replayed(mode);
        assert!(pair.host.stats().replayed > 3);
        assert_eq!(changed_tlps(mode, &log), [] as [Vec<u8>; 0]);
        let numbers: Vec<u16> = pair.device.client.tlps.iter().map(|(_, t)| u16::from_be_bytes([t[6], t[7]])).collect();
        assert!(numbers.iter().copied().eq(0..1800), "every TLP once, in order");
        // The DLLP of a flit that goes again is a new one, and none comes twice.
        assert!(pair.device.client.dllps.windows(2).all(|w| w[0] < w[1]));
        assert!(pair.device.client.dllps.len() > 250);
    }
    // A cachemem flit goes again as it is.
    let mut bench = Bench::new(LinkConfig::default(), 32, 1);
    bench.wire(Dir::Down, vec![Fault::Drop { unit: 300 }], 0.0, 1);
    (bench.phases, bench.produce) = (false, [64; 12]);
    bench.pair.wires.keep_log();
    (0..500).for_each(|_| bench.step());
    let mut bodies: Vec<Option<Vec<u8>>> = vec![None; 1024];
    for seen in bench.pair.wires.take_log().iter().filter(|s| s.dir == Dir::Down) {
        let header = seen.unit.flit.header();
        if header.flit_type == FlitType::Cachemem && header.command == ReplayCommand::Explicit {
            let body: Vec<u8> = seen.unit.flit.body(Mode::Standard).collect();
            let first = bodies[usize::from(header.seq)].get_or_insert_with(|| body.clone());
            assert_eq!(*first, body);
        }
    }
    assert!(bench.pair.host.stats().replayed > 3);
}

#[test]
fn cxl256_rty_16_n() {
    let (_, mut log) = replayed(Mode::Standard);
    let copy = log.iter().rposition(|f| f.header().flit_type == FlitType::Io).expect("CXL.io was sent");
    let mut again = log[copy];
    again.0[200] ^= 1;
    log.push(again);
    assert_eq!(changed_tlps(Mode::Standard, &log).len(), 1, "another TLP in the copy is seen");
    // So it is by whoever watches the end, in a copy with checks that fit; copies whose DLLP alone differs are right.
    let seen = |log: &[Cxl256Flit]| {
        let mut monitor = Monitor::new(Mode::Standard, Dir::Down, false);
        log.iter().zip(1..).for_each(|(flit, now)| drop(monitor.sent(flit, &flit.receive(Mode::Standard), now)));
        monitor.take_events().iter().filter(|event| event.violation.rule == "CXL256-RTY-16").count()
    };
    assert_eq!(seen(&log[..log.len() - 1]), 0);
    again.seal(Mode::Standard);
    *log.last_mut().expect("a flit") = again;
    assert_eq!(seen(&log), 1);
}
