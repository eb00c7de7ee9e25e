//! Two model ends with faulty wires, a monitor beside each, random traffic and a scoreboard.
//!
//! Modelled: producers and consumers of all ten classes whose speed changes from phase to phase, credits held back for
//! a while. The scoreboard knows what was given to each class and compares every message that comes out with all its
//! data: nothing lost, nothing twice, nothing out of order. Left out: protocols above; no message answers another one.
//!
//! A walk through [`Bench::step`]: producers queue messages, the link does one flit clock, consumers take messages out
//! and compare, findings of ends and monitors are collected.

// Two test programs share this file and each uses its part of it.
#![allow(dead_code)]

use crate::cxl68_retry::wrong_end::{RetryFault, WrongEnd};
use scalepool::kernel::Rng;
use scalepool::link::cxl68::fault::{Fault, FaultyWire};
use scalepool::link::cxl68::pair::Monitors;
use scalepool::link::cxl68::{EndConfig, LinkEvent, MonitorConfig, Severity};
use scalepool::link::pair::Pair;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::code::*;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::control::{Control, RetryAck, RetryReq};
use scalepool_protocols::cxl::cxl68::message::*;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68Message, Data, Size};
use scalepool_protocols::wire::Wire;
use std::collections::{BTreeSet, VecDeque};

/// Flits that a unit is under way.
pub const LATENCY_FLITS: u64 = 12;
/// Flits that training takes.
pub const RETRAIN_FLITS: u64 = 64;
/// Flit clocks for which producers and consumers keep their speed.
const PHASE_FLITS: u64 = 700;
/// Messages a class that a producer queues ahead.
const AHEAD: usize = 4;
/// Speeds of producers and consumers: chances of 64 a flit clock and class.
const SPEEDS: [u64; 5] = [0, 2, 8, 24, 64];

/// Time-out and limits as in the soak; the sheet's 4096 flits only cost time.
pub fn link() -> Cxl68Config {
    Cxl68Config { timeout_flits: 256, ..Cxl68Config::default() }
}

/// What was seen that must not be.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// Rules in events of the monitors.
    pub monitor: Vec<LinkEvent>,
    /// Events of the ends, without what was corrected or trained away.
    pub ends: Vec<LinkEvent>,
    /// Messages that came out wrong, with what was expected.
    pub scoreboard: Vec<String>,
    /// The link did not become quiet, or a credit did not come home.
    pub at_rest: Vec<String>,
}

impl Findings {
    /// Nothing was seen.
    pub fn is_empty(&self) -> bool {
        self.monitor.is_empty() && self.ends.is_empty() && self.scoreboard.is_empty() && self.at_rest.is_empty()
    }

    /// Who saw what, in short and in order.
    pub fn killers(&self) -> BTreeSet<String> {
        let mut killers: BTreeSet<String> =
            self.monitor.iter().map(|e| format!("monitor {}", e.violation.rule)).collect();
        killers.extend(self.ends.iter().map(|e| format!("end {}", e.violation.rule)));
        killers.extend(self.scoreboard.first().map(|_| "scoreboard".to_owned()));
        killers.extend(self.at_rest.iter().cloned());
        killers
    }

    /// Whether a monitor or an end named the rule.
    pub fn names(&self, rule: &str) -> bool {
        self.monitor.iter().chain(&self.ends).any(|e| e.violation.rule == rule)
    }
}

/// A link with everything around it.
#[derive(Debug, Clone)]
pub struct Bench {
    pub pair: Pair<WrongEnd, Monitors>,
    pub rng: Rng,
    /// Messages given to a class that have not come out.
    pub expected: [VecDeque<Cxl68Message>; 10],
    /// Messages that came out.
    pub delivered: [u64; 10],
    pub findings: Findings,
    given: [u64; 10],
    produce: [u64; 10],
    consume: [u64; 2],
    latency_flits: u64,
    /// Whether credits are held back now and then.
    pub holds: bool,
    /// Whether the data of some messages looks like RETRY flits.
    pub lookalikes: bool,
}

impl Bench {
    /// A link between a host and a device that speak all ten classes.
    pub fn new(host: Cxl68Config, device: Cxl68Config, seed: u64) -> Bench {
        Bench::with(EndConfig::cachemem(Dir::Down, host, 40), EndConfig::cachemem(Dir::Up, device, 40), seed)
    }

    /// The same with a fault in the device.
    pub fn wrong(link: Cxl68Config, fault: Option<RetryFault>, seed: u64) -> Bench {
        let [host, device] = [Dir::Down, Dir::Up].map(|dir| EndConfig::cachemem(dir, link, 40));
        Bench::of([host, device], fault, LATENCY_FLITS, seed)
    }

    /// A link between two given ends.
    pub fn with(host: EndConfig, device: EndConfig, seed: u64) -> Bench {
        Bench::with_latency(host, device, LATENCY_FLITS, seed)
    }

    /// The same with wires of another length.
    pub fn with_latency(host: EndConfig, device: EndConfig, latency_flits: u64, seed: u64) -> Bench {
        Bench::of([host, device], None, latency_flits, seed)
    }

    /// The same with a fault in the device.
    pub fn of(ends: [EndConfig; 2], fault: Option<RetryFault>, latency_flits: u64, seed: u64) -> Bench {
        // The monitors know what the ends should be.
        let monitors = Monitors::new(ends.each_ref().map(MonitorConfig::of));
        let [host, device] = ends;
        let [host, device] =
            [(host, None), (device, fault)].map(|(end, fault)| WrongEnd::new(end, fault).expect("legal configuration"));
        let mut pair = Pair::of(host, device, latency_flits, RETRAIN_FLITS);
        pair.beside = monitors;
        Bench {
            pair,
            rng: Rng::for_name(seed, "bench"),
            expected: Default::default(),
            delivered: [0; 10],
            findings: Findings::default(),
            given: [0; 10],
            produce: [0; 10],
            consume: [SPEEDS[4]; 2],
            latency_flits,
            holds: false,
            lookalikes: false,
        }
    }

    /// Listed faults and bit errors in a direction.
    pub fn wire(&mut self, dir: Dir, faults: Vec<Fault>, ber: f64, seed: u64) {
        self.pair.wires.put(dir, FaultyWire::new(faults, ber, Rng::for_name(seed, dir.name())));
    }

    fn new_phase(&mut self) {
        for speed in &mut self.produce {
            *speed = SPEEDS[self.rng.below(5) as usize];
        }
        for speed in &mut self.consume {
            // A consumer that never takes anything would leave nothing to look at.
            *speed = SPEEDS[1 + self.rng.below(4) as usize];
        }
        if self.holds {
            for dir in Dir::ALL {
                let hold = self.rng.ratio(1, 8);
                self.pair.sender(dir).hold_credits(hold);
            }
        }
    }

    /// Queues a message and expects it at the other end.
    pub fn give(&mut self, message: Cxl68Message) {
        let class = message.class;
        self.expected[class.index()].push_back(message);
        self.pair.sender(class.dir()).send(message).expect("the generator makes legal messages");
        self.given[class.index()] += 1;
    }

    /// Queues a random message of a class.
    pub fn give_random(&mut self, class: Class) {
        let mut message = random(class, self.given[class.index()], &mut self.rng);
        if self.lookalikes
            && let Some(data) = &mut message.data
            && self.rng.ratio(7, 8)
        {
            *data = Data::line(lookalike(&mut self.rng));
        }
        self.give(message);
    }

    /// One flit clock with random traffic.
    pub fn step(&mut self) {
        if self.pair.wires.now().is_multiple_of(PHASE_FLITS) {
            self.new_phase();
        }
        for class in Class::ALL {
            let speed = self.produce[class.index()];
            if self.rng.ratio(speed, 64) && self.pair.sender(class.dir()).waiting(class) < AHEAD {
                self.give_random(class);
            }
        }
        self.quiet_step();
    }

    /// One flit clock without new messages.
    pub fn quiet_step(&mut self) {
        self.pair.step();
        for dir in Dir::ALL {
            let speed = self.consume[usize::from(dir == Dir::Up)];
            while self.rng.ratio(speed, 65)
                && let Some(message) = self.pair.receiver(dir).take()
            {
                self.compare(message);
            }
        }
        self.collect();
    }

    fn compare(&mut self, message: Cxl68Message) {
        let class = message.class;
        self.delivered[class.index()] += 1;
        let expected = self.expected[class.index()].pop_front();
        if expected != Some(message) {
            let n = self.delivered[class.index()];
            self.findings.scoreboard.push(format!("{class:?} {n}: found {message:?}, expected {expected:?}"));
        }
    }

    fn collect(&mut self) {
        for events in self.pair.beside.take_findings() {
            self.findings.monitor.extend(events);
        }
        for dir in Dir::ALL {
            let repaired = |e: &LinkEvent| matches!(e.severity, Severity::Corrected | Severity::Retrain);
            let events = self.pair.sender(dir).take_events();
            self.findings.ends.extend(events.into_iter().filter(|e| !repaired(e)));
        }
    }

    /// Random traffic for some flit clocks.
    pub fn run(&mut self, flits: u64) {
        for _ in 0..flits {
            self.step();
        }
    }

    /// Lets everything arrive, then checks that nothing is missing and all credits are home.
    pub fn rest(&mut self, limit_flits: u64) {
        self.consume = [SPEEDS[4]; 2];
        for dir in Dir::ALL {
            self.pair.sender(dir).hold_credits(false);
        }
        let mut steps = 0;
        while !(self.pair.is_quiet() && self.outstanding() == 0) && steps < limit_flits {
            self.quiet_step();
            steps += 1;
        }
        // The last acknowledgements travel on a quiet link too; both flush timers run out.
        for _ in 0..200 + 4 * self.latency_flits {
            self.quiet_step();
        }
        self.pair.beside.finish(self.pair.wires.now());
        self.collect();
        if !self.pair.is_quiet() {
            self.findings.at_rest.push("drain limit".to_owned());
        }
        if self.outstanding() != 0 {
            self.findings.at_rest.push("messages missing".to_owned());
        }
        for class in Class::ALL {
            let spend = self.pair.sender(class.dir()).credits().spend[class.index()];
            let receiver = self.pair.receiver(class.dir());
            let home = receiver.config().buffers[class.index()];
            if spend != home || receiver.credits().granted(class) != home {
                self.findings.at_rest.push("credits not home".to_owned());
            }
        }
        for dir in Dir::ALL {
            // One acknowledgement may stay: it is not worth an LLCRD, which would ask for one itself.
            if self.pair.sender(dir).buffer().unacknowledged() > 1 {
                self.findings.at_rest.push("acknowledgements not home".to_owned());
            }
        }
    }

    /// Messages that have not come out.
    pub fn outstanding(&self) -> usize {
        self.expected.iter().map(VecDeque::len).sum()
    }

    /// Panics with what was seen, if anything was.
    #[track_caller]
    pub fn assert_clean(&self, what: &str) {
        let f = &self.findings;
        let first = |events: &[LinkEvent]| events.iter().take(3).map(|e| format!("\n  {e}")).collect::<String>();
        assert!(
            f.is_empty(),
            "{what}: {:?}{}{}{}",
            f.killers(),
            first(&f.monitor),
            first(&f.ends),
            f.scoreboard.iter().take(2).map(|s| format!("\n  {s}")).collect::<String>(),
        );
    }
}

/// A link of which INIT.Param and the first credits have gone both ways.
pub fn up(bench: &mut Bench) {
    for _ in 0..20 * LATENCY_FLITS {
        bench.quiet_step();
    }
    assert!(bench.pair.is_quiet(), "the link comes up");
}

/// A legal message whose fields tell its number in the class.
pub fn random(class: Class, n: u64, rng: &mut Rng) -> Cxl68Message {
    let address = n << 6 & ((1 << 52) - 1);
    let (tag, id) = (n as u16, (n & 0xfff) as u16);
    let poison = rng.ratio(1, 16);
    let pick = |rng: &mut Rng| rng.ratio(1, 3);
    let (small, upper, enables) = (pick(rng), pick(rng), pick(rng));
    let bits = match class {
        Class::M2sReq => M2sReq { tag, address, opcode: M2sReqOpcode::MemRd, ..M2sReq::default() }.to_bits(),
        Class::M2sRwd => {
            let opcode = if enables { M2sRwdOpcode::MemWrPtl } else { M2sRwdOpcode::MemWr };
            M2sRwd { tag, address, poison, opcode, ..M2sRwd::default() }.to_bits()
        }
        Class::S2mNdr => S2mNdr { tag, ..S2mNdr::default() }.to_bits(),
        Class::S2mDrs => S2mDrs { tag, poison, ..S2mDrs::default() }.to_bits(),
        Class::D2hReq => D2hReq { cqid: id, address, opcode: D2hReqOpcode::RdOwn, ..D2hReq::default() }.to_bits(),
        Class::D2hRsp => D2hRsp { uqid: id, opcode: D2hRspOpcode::RspIHitI, ..D2hRsp::default() }.to_bits(),
        Class::D2hData => D2hData { uqid: id, poison, chunk_valid: small && upper, ..D2hData::default() }.to_bits(),
        Class::H2dReq => H2dReq { uqid: id, address, opcode: H2dReqOpcode::SnpData, ..H2dReq::default() }.to_bits(),
        Class::H2dRsp => {
            let opcode = H2dRspOpcode::WritePull;
            H2dRsp { cqid: id, rsp_data: id, opcode, ..H2dRsp::default() }.to_bits()
        }
        Class::H2dData => H2dData { cqid: id, poison, chunk_valid: small && upper, ..H2dData::default() }.to_bits(),
    };
    let bits = bits.expect("the fields fit");
    if !class.has_data() {
        return Cxl68Message::new(class, bits);
    }
    let half = if upper && class != Class::S2mDrs { Size::UpperHalf } else { Size::LowerHalf };
    let size = if small && class.may_be_32_bytes() { half } else { Size::Line };
    let mut bytes = [0; 64];
    rng.fill_bytes(&mut bytes);
    for (n, byte) in bytes.iter_mut().enumerate() {
        if size.bytes_mask() >> n & 1 == 0 {
            *byte = 0;
        }
    }
    let byte_enables = (enables && class.may_have_byte_enables()).then(|| rng.next_u64());
    Cxl68Message::with_data(class, bits, Data { bytes, size, byte_enables })
}

/// A line of which each chunk, as slot 0 of an all-data flit, is a RETRY flit.
pub fn lookalike(rng: &mut Rng) -> [u8; 64] {
    let control = match rng.below(8) {
        0 => Control::RetryReq(RetryReq { eseq: rng.below(22) as u8, ..RetryReq::default() }),
        1 => Control::RetryAck(RetryAck { num_retry: rng.below(2) as u8, ..RetryAck::default() }),
        _ => Control::by_name("RETRY.Frame").expect("a listed name"),
    };
    let chunk = control.to_slot().expect("fits").to_le_bytes();
    std::array::from_fn(|n| chunk[n % chunk.len()])
}
