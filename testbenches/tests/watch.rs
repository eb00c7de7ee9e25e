//! Healthy links of every protocol, with a line that damages flits now and then: no watcher blames an end, and no decoder of
//! one direction that follows a retry.

use crate::cxl68_retry::bench as bench68;
use crate::cxl256_link::rig as rig256;
use crate::nvl::rig as rig_nvl;
use scalepool::forms::flit::{FlitAnswer, FlitDecoder};
use scalepool::forms::options::Options;
use scalepool::kernel::Rng;
use scalepool::link::cxl256::{CachememConfig, LinkConfig as Link256};
use scalepool::link::event::Culprit;
use scalepool::link::health::LinkHealth;
use scalepool::link::health::liveness::LinkWait;
use scalepool::link::hook::Direction;
use scalepool::link::nvlink::Buffers;
use scalepool::link::port::LinkEnd;
use scalepool::link::protocol::LinkProtocol;
use scalepool::link::ualink::line::{LaneRate, UalLine, UalWidth};
use scalepool::link::ualink::tl::{Tl, TlClass, TlConfig, TlCreditCounts};
use scalepool::link::ualink::{EndConfig as UalConfig, OnLine};
use scalepool::link::watch::{EndWatch, WatchConfig};
use scalepool::link::{cxl68, cxl256, nvlink, ualink};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::message::Class as Class68;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxl256::{Class as Class256, Mode};
use scalepool_protocols::nvlink::{NvlHeader, Vc};
use scalepool_protocols::rules;
use scalepool_protocols::ualink::code::{RdWr, ReqCmd};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::pack::with_data;
use scalepool_protocols::wire::Wire;
use scalepool_testbenches::beside::{JUDGED_BY_BOTH, JUDGED_BY_NO_END, ONLY_THE_END, has};
use scalepool_testbenches::soak::number_in;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};

/// Flits of a run, over both directions, unless `SCALEPOOL_SOAK_FLITS` says otherwise.
const FLITS: u64 = 6_000;
/// Flits that a flit is under way.
pub const LATENCY_FLITS: usize = 12;
/// One bit of so many is wrong.
const WRONG_OF_BITS: u64 = 100_000;

/// One end with something to do.
pub trait Side {
    fn work(&mut self, rng: &mut Rng, n: u64);
    fn transmit(&mut self, now: u64) -> Option<Vec<u8>>;
    fn receive(&mut self, unit: &[u8], now: u64);
    /// Flits that went again.
    fn flits_again(&self) -> u64;
    /// Messages that came.
    fn came(&self) -> u64;
    /// Time goes on, before anything happens in a flit clock.
    fn pass_time(&mut self, now: u64);
    /// Its figures.
    fn health(&self, now: u64) -> LinkHealth;
    /// Everything that it waits for.
    fn waits(&self, each: &mut dyn FnMut(LinkWait<'_>));
}

/// What every end says of itself.
macro_rules! of_end {
    () => {
        fn pass_time(&mut self, now: u64) {
            self.0.pass_time(now);
        }

        fn health(&self, now: u64) -> LinkHealth {
            LinkEnd::health(&self.0, now)
        }

        fn waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
            self.0.pending_waits(each);
        }
    };
}

struct Side68(cxl68::Cxl68End, u64);

impl Side for Side68 {
    fn work(&mut self, rng: &mut Rng, n: u64) {
        let dir = self.0.config().dir;
        let classes: Vec<Class68> = Class68::ALL.into_iter().filter(|class| class.dir() == dir).collect();
        let class = classes[rng.below(classes.len() as u64) as usize];
        if rng.ratio(1, 2) && self.0.waiting(class) < 4 {
            self.0.send(bench68::random(class, n, rng)).expect("a legal message");
        }
        while rng.ratio(3, 4) && self.0.take().is_some() {
            self.1 += 1;
        }
    }

    fn transmit(&mut self, now: u64) -> Option<Vec<u8>> {
        self.0.transmit(now).map(|unit| unit.0.to_vec())
    }

    fn receive(&mut self, unit: &[u8], now: u64) {
        self.0.receive(&Cxl68Unit::from_bytes(unit).expect("a unit"), now);
    }

    fn flits_again(&self) -> u64 {
        self.0.stats().replayed
    }

    fn came(&self) -> u64 {
        self.1
    }

    of_end!();
}

struct Side256(cxl256::Cxl256End<cxl256::Cachemem>, Dir, u64);

impl Side for Side256 {
    fn work(&mut self, rng: &mut Rng, _n: u64) {
        let classes: Vec<Class256> = rig256::classes(self.1).collect();
        let class = classes[rng.below(classes.len() as u64) as usize];
        if self.0.client.waiting(class) < 4 {
            let message = rig256::random_message(rng, self.0.link().mode.routing(), class);
            self.0.client.send(message).expect("a legal message");
        }
        while rng.ratio(3, 4) && self.0.client.take().is_some() {
            self.2 += 1;
        }
    }

    fn transmit(&mut self, now: u64) -> Option<Vec<u8>> {
        Some(self.0.transmit(now).0.to_vec())
    }

    fn receive(&mut self, unit: &[u8], now: u64) {
        self.0.receive(&Cxl256Flit::from_bytes(unit).expect("a flit"), now);
    }

    fn flits_again(&self) -> u64 {
        self.0.stats().replays
    }

    fn came(&self) -> u64 {
        self.2
    }

    of_end!();
}

struct SideNvl(nvlink::NvlEnd, u64);

impl Side for SideNvl {
    fn work(&mut self, rng: &mut Rng, _n: u64) {
        if rng.ratio(1, 4) {
            let message = rig_nvl::random_message(rng, 16);
            if self.0.waiting(message.vc) < 4 {
                self.0.send(message).expect("a legal message");
            }
        }
        for vc in (0..8).map(Vc) {
            while rng.ratio(3, 4) && self.0.take(vc).is_some() {
                self.1 += 1;
            }
        }
    }

    fn transmit(&mut self, _now: u64) -> Option<Vec<u8>> {
        Some(self.0.transmit().0.to_vec())
    }

    fn receive(&mut self, unit: &[u8], _now: u64) {
        self.0.receive(&nvlink::NvlFlit(unit.try_into().expect("a flit")));
    }

    fn flits_again(&self) -> u64 {
        self.0.stats().replayed
    }

    fn came(&self) -> u64 {
        self.1
    }

    of_end!();
}

struct SideUal(ualink::UalEnd<Tl>, u16, u64);

impl Side for SideUal {
    fn work(&mut self, rng: &mut Rng, _n: u64) {
        let (end, id) = (&mut self.0.client, self.1);
        if end.waiting(TlClass::Request) < 4 && rng.ratio(1, 2) {
            let (cmd, dst) = (ReqCmd::WriteFull, 1 - id);
            let req = TlReq { cmd, src: id, dst, address: 0x1000, len: 63, numbeats: 3, ..TlReq::default() };
            end.send(with_data(ControlField::Request(req), &[[7; 64]; 4], None)).expect("a legal request");
        }
        while let Some((_, held)) = end.take(TlClass::Request) {
            end.release(&held.expect("it came over the link"));
            let rsp = TlRsp { dst: 1 - id, rdwr: RdWr::Write, ..TlRsp::default() };
            end.send(with_data(ControlField::Response(rsp), &[], None)).expect("a legal response");
        }
        while let Some((_, held)) = end.take(TlClass::Response) {
            held.into_iter().for_each(|held| end.release(&held));
            self.2 += 1;
        }
    }

    fn transmit(&mut self, now: u64) -> Option<Vec<u8>> {
        Some(self.0.transmit(now).to_bytes())
    }

    fn receive(&mut self, unit: &[u8], now: u64) {
        self.0.receive(&OnLine::from_bytes(unit).expect("a unit"), now);
    }

    fn flits_again(&self) -> u64 {
        self.0.replay().stats().replayed
    }

    fn came(&self) -> u64 {
        self.2
    }

    of_end!();
}

/// Both ends of a 68B link with the choices of a sheet.
pub fn sides68(link: Cxl68Config) -> [Box<dyn Side>; 2] {
    Dir::ALL.map(|dir| {
        let end = cxl68::Cxl68End::new(cxl68::EndConfig::cachemem(dir, link, 40)).expect("legal");
        Box::new(Side68(end, 0)) as Box<dyn Side>
    })
}

pub fn sides(protocol: LinkProtocol) -> [Box<dyn Side>; 2] {
    match protocol {
        LinkProtocol::Cxl68 => sides68(bench68::link()),
        LinkProtocol::Cxl256(mode) => Dir::ALL.map(|dir| {
            let link = Link256 { mode, ..Link256::default() };
            let end = cxl256::Cxl256End::cachemem(link, CachememConfig::cachemem(dir, mode, 40));
            Box::new(Side256(end, dir, 0)) as Box<dyn Side>
        }),
        LinkProtocol::Nvlink => Dir::ALL.map(|_| {
            let end = nvlink::NvlEnd::new(rig_nvl::config(), Buffers::default());
            Box::new(SideNvl(end, 0)) as Box<dyn Side>
        }),
        LinkProtocol::Ualink => {
            let line = UalLine { rate: LaneRate::G200, width: UalWidth::X4, interleave: 4 };
            let ends = [UalConfig::accelerator(line, 0), UalConfig::switch_port(line, 1)];
            let buffers = TlCreditCounts::even([16, 64], [2, 8]);
            let layers = [TlConfig::accelerator(), TlConfig::switch_port()];
            let mut id = 0;
            ends.map(|config| {
                let mut end = ualink::UalEnd::new(config, Tl::new(TlConfig { buffers, ..layers[id] }));
                end.line_fault(None);
                id += 1;
                Box::new(SideUal(end, id as u16 - 1, 0)) as Box<dyn Side>
            })
        }
    }
}

/// A copy with some wrong bits: few enough for every CRC.
fn damaged(protocol: LinkProtocol, mut unit: Vec<u8>, rng: &mut Rng) -> Vec<u8> {
    // FEC of 256B flits repairs one byte in each of three groups.
    let bytes = if matches!(protocol, LinkProtocol::Cxl256(_)) { 1 + rng.below(4) } else { 1 };
    for _ in 0..bytes {
        let at = rng.below(unit.len() as u64) as usize;
        unit[at] ^= 1 << rng.below(8);
    }
    unit
}

/// Units of one direction in the form that their decoder takes: packets of NVLink, flits of the others.
#[derive(Default)]
struct Packets(Vec<u8>);

impl Packets {
    fn next(&mut self, protocol: LinkProtocol, unit: &[u8]) -> Option<Vec<u8>> {
        match protocol {
            LinkProtocol::Ualink => (unit.len() > 1).then(|| unit.to_vec()),
            LinkProtocol::Nvlink => {
                self.0.extend_from_slice(unit);
                let first = self.0[..16].iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte));
                let whole = 16 * (1 + usize::from(NvlHeader::from_bits(first).len).min(17));
                (self.0.len() >= whole).then(|| std::mem::take(&mut self.0))
            }
            _ => Some(unit.to_vec()),
        }
    }
}

fn flits() -> u64 {
    number_in("SCALEPOOL_SOAK_FLITS", FLITS)
}

/// Decoders of one direction: at its sender, and behind the wire.
struct OneWay {
    protocol: LinkProtocol,
    sent: (Packets, FlitDecoder),
    came: (Packets, FlitDecoder),
    /// Answers that name a damaged unit.
    damaged: u64,
    /// What the slots of each CXL flit were called when it was sent first, by its body, and how many came again.
    named: HashMap<Vec<u8>, Value>,
    again: u64,
}

/// Rules that a unit breaks which was damaged under way.
const DAMAGE: [&str; 8] = [
    "CXL68-CRC-",
    "CXL68-PID-",
    "CXL256-CRC-",
    "CXL256-LOP-03",
    "CXL256-LOP-04",
    "CXL256-FEC-",
    "UAL-CRC-01",
    "NVL-CRC-",
];

impl OneWay {
    fn new(protocol: LinkProtocol, dir: Dir) -> OneWay {
        let decoder = || {
            (Packets::default(), FlitDecoder::following(protocol.name(), dir, &Options::default()).expect("a decoder"))
        };
        OneWay { protocol, sent: decoder(), came: decoder(), damaged: 0, named: HashMap::new(), again: 0 }
    }

    fn sends(&mut self, unit: &[u8], now: u64) {
        let unit = self.sent.0.next(self.protocol, unit);
        let answers: Vec<FlitAnswer> = unit.into_iter().flat_map(|unit| self.sent.1.read(Ok(&unit))).collect();
        for answer in answers {
            let (form, findings) = answer.expect("a unit of the right length");
            self.names(&form);
            assert_eq!(findings.violations, [], "{} sender, flit clock {now}: {form}", self.protocol.name());
        }
    }

    /// A flit that goes again has the same name as its first copy. Headers of 256B flits may differ, and CRC and FEC with them.
    fn names(&mut self, form: &Value) {
        let hex = form["hex"].as_str().expect("hex").as_bytes();
        let body = match self.protocol {
            LinkProtocol::Cxl68 => hex,
            LinkProtocol::Cxl256(_) => &hex[4..460],
            LinkProtocol::Nvlink | LinkProtocol::Ualink => return,
        };
        // What is mostly zeros is sent often, and means another thing each time.
        if body.iter().filter(|&&digit| digit != b'0').count() < 40 {
            return;
        }
        let name = json!([form["kind"], form["slots"]]);
        let first = self.named.entry(body.to_vec()).or_insert_with(|| name.clone());
        assert_eq!(*first, name, "{}", self.protocol.name());
        self.again += 1;
    }

    fn comes(&mut self, unit: &[u8], now: u64) {
        let unit = self.came.0.next(self.protocol, unit);
        for answer in unit.into_iter().flat_map(|unit| self.came.1.read(Ok(&unit))) {
            let (form, findings) = answer.expect("a unit of the right length");
            let name = self.protocol.name();
            for violation in &findings.violations {
                let by_damage = DAMAGE.iter().any(|rules| violation.rule.starts_with(rules));
                assert!(by_damage, "{name} behind the wire, flit clock {now}: {violation}: {form}");
            }
            self.damaged += u64::from(!findings.violations.is_empty());
        }
    }
}

fn healthy(protocol: LinkProtocol) {
    let mut rng = Rng::from_seed(17);
    let mut ends = sides(protocol);
    let mut watches = Dir::ALL.map(|dir| EndWatch::new(&WatchConfig::new(protocol, dir)).expect("a watcher"));
    let mut ways = Dir::ALL.map(|dir| OneWay::new(protocol, dir));
    let mut wires: [VecDeque<Option<Vec<u8>>>; 2] = [(); 2].map(|()| VecDeque::from([const { None }; LATENCY_FLITS]));
    let mut harmed = 0;
    for now in 1..=flits() / 2 {
        for n in 0..2 {
            ends[n].work(&mut rng, now);
            let mut sent = ends[n].transmit(now);
            if let Some(unit) = &sent {
                watches[n].unit(Direction::Tx, unit, now).expect("a unit");
                ways[n].sends(unit, now);
            }
            let bits = sent.as_ref().map_or(0, |unit| 8 * unit.len() as u64);
            if bits > 8 && now > 200 && rng.ratio(bits, WRONG_OF_BITS) {
                sent = sent.map(|unit| damaged(protocol, unit, &mut rng));
                harmed += 1;
            }
            wires[n].push_back(sent);
        }
        for n in 0..2 {
            if let Some(unit) = wires[1 - n].pop_front().flatten() {
                ways[1 - n].comes(&unit, now);
                watches[n].unit(Direction::Rx, &unit, now).expect("a unit");
                ends[n].receive(&unit, now);
            }
            for (way, event) in watches[n].take_events() {
                let name = protocol.name();
                assert_eq!(event.culprit(way), Culprit::Line, "{name} watcher {n}, flit clock {now}, {way:?}: {event}");
            }
        }
    }
    let replayed: u64 = ends.iter().map(|end| end.flits_again()).sum();
    let came: u64 = ends.iter().map(|end| end.came()).sum();
    let seen: u64 = ways.iter().map(|way| way.damaged).sum();
    let name = protocol.name();
    println!("{name}: {harmed} units damaged, {seen} of them seen, {replayed} units or replays again, {came} messages");
    // A damaged packet of NVLink may be seen at the one behind it, and what a receiver throws away is not judged.
    assert!(seen <= harmed && seen > 0, "{name}: {harmed} damaged, {seen} seen");
    let again: u64 = ways.iter().map(|way| way.again - way.named.len() as u64).sum();
    assert!(
        again > 50 || matches!(protocol, LinkProtocol::Nvlink | LinkProtocol::Ualink),
        "{name}: {again} flits named again"
    );
    let least = flits() / 2000;
    assert!(harmed > least && replayed > least && came > flits() / 50, "{name}: {harmed}, {replayed}, {came}");
}

#[test]
fn no_watcher_blames_a_healthy_link_of_cxl_68b() {
    healthy(LinkProtocol::Cxl68);
}

#[test]
fn no_watcher_blames_a_healthy_link_of_cxl_256b() {
    Mode::ALL.into_iter().for_each(|mode| healthy(LinkProtocol::Cxl256(mode)));
}

#[test]
fn no_watcher_blames_a_healthy_link_of_nvlink() {
    healthy(LinkProtocol::Nvlink);
}

#[test]
fn no_watcher_blames_a_healthy_link_of_ualink() {
    healthy(LinkProtocol::Ualink);
}

// ---- an end that hangs -----------------------------------------------------------------------------------------------

/// What an end sends once it hangs.
#[derive(Debug, Clone, Copy)]
enum Hung {
    /// Nothing.
    Silent,
    /// The unit that it sent last.
    Last,
    /// The unit with the fewest zeros that it sent.
    Full,
    /// Zeros.
    Zeros,
    /// Ones.
    Ones,
}

/// Flit clocks before and behind the moment at which an end hangs.
const HANGS_AT: u64 = 1000;
const HUNG_CLOCKS: u64 = 4000;

/// Lines of the watchers of the end that hangs and of its peer, of both ways.
fn hung(protocol: LinkProtocol, hung: Hung) -> [[usize; 2]; 2] {
    let mut rng = Rng::from_seed(18);
    let mut ends = sides(protocol);
    let mut watches = Dir::ALL.map(|dir| EndWatch::new(&WatchConfig::new(protocol, dir)).expect("a watcher"));
    let mut wires: [VecDeque<Option<Vec<u8>>>; 2] = [(); 2].map(|()| VecDeque::from([const { None }; LATENCY_FLITS]));
    let (mut last, mut full) = (Vec::new(), Vec::new());
    let mut lines = [[0; 2]; 2];
    for now in 1..=HANGS_AT + HUNG_CLOCKS {
        for n in 0..2 {
            ends[n].work(&mut rng, now);
            let mut sent = ends[n].transmit(now);
            if n == 1 && now > HANGS_AT {
                sent = match hung {
                    Hung::Silent => None,
                    Hung::Last => Some(last.clone()),
                    Hung::Full => Some(full.clone()),
                    Hung::Zeros => Some(vec![0; protocol.unit_bytes()]),
                    Hung::Ones => Some(vec![0xff; protocol.unit_bytes()]),
                };
            }
            if let Some(unit) = &sent {
                watches[n].unit(Direction::Tx, unit, now).expect("a unit");
                if n == 1 && now <= HANGS_AT {
                    last.clone_from(unit);
                    let zeros = |unit: &[u8]| unit.iter().filter(|byte| **byte == 0).count();
                    if full.is_empty() || zeros(unit) < zeros(&full) {
                        full.clone_from(unit);
                    }
                }
            }
            wires[n].push_back(sent);
        }
        for n in 0..2 {
            if let Some(unit) = wires[1 - n].pop_front().flatten() {
                watches[n].unit(Direction::Rx, &unit, now).expect("a unit");
                ends[n].receive(&unit, now);
            }
            for (way, event) in watches[n].take_events() {
                assert!(now > HANGS_AT, "{event}");
                lines[1 - n][usize::from(way == Direction::Tx)] += 1;
            }
        }
    }
    lines
}

#[test]
fn an_end_that_hangs_fills_no_log() {
    for protocol in
        [LinkProtocol::Cxl68, LinkProtocol::Cxl256(Mode::Standard), LinkProtocol::Nvlink, LinkProtocol::Ualink]
    {
        for how in [Hung::Silent, Hung::Last, Hung::Full, Hung::Zeros, Hung::Ones] {
            let [of_end, of_peer] = hung(protocol, how);
            let name = protocol.name();
            println!("{name} {how:?}: {of_end:?} lines of what the end takes and sends, {of_peer:?} of its peer");
            // A few for each rule: 7500 lines before that, and 20,000 of an all-data flit.
            assert!(of_end.iter().chain(&of_peer).all(|&lines| lines <= 30), "{name} {how:?}: {of_end:?} {of_peer:?}");
            assert_eq!(of_peer[1], 0, "{name} {how:?}: the peer is healthy");
        }
    }
}

// ---- who judges which rule -------------------------------------------------------------------------------------------

/// Every rule of the link layers stands in one list: judged by an end and its watcher, by the end alone with the reason, or by
/// what an end does. The rigs hold each event of an end under test against its watcher, and against these lists.
#[test]
fn every_rule_of_a_link_is_judged_by_both_or_says_why_not() {
    let only = |rule: &str| ONLY_THE_END.iter().any(|(only, _)| *only == rule);
    let lists = |rule: &str| [has(&JUDGED_BY_BOTH, rule), has(&JUDGED_BY_NO_END, rule), only(rule)];
    let areas: Vec<&str> = JUDGED_BY_BOTH.iter().chain(&JUDGED_BY_NO_END).map(|(area, _)| *area).collect();
    let mut rules = 0;
    for rule in
        rules::all().filter(|rule| areas.iter().any(|area| rule.id.rsplit_once('-').is_some_and(|(of, _)| of == *area)))
    {
        let count = lists(rule.id).iter().filter(|is_in| **is_in).count();
        assert_eq!(count, 1, "{} ({}) is in {count} lists of testbenches/beside.rs", rule.id, rule.text);
        rules += 1;
    }
    let listed: usize = JUDGED_BY_BOTH.iter().chain(&JUDGED_BY_NO_END).map(|(_, numbers)| numbers.len()).sum();
    assert_eq!(listed + ONLY_THE_END.len(), rules, "the lists hold what is no rule");
    assert!(ONLY_THE_END.iter().all(|(_, why)| why.len() > 20));
}
