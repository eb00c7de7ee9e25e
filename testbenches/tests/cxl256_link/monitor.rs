//! The monitor beside an end: silent for our own ends whatever the wires do, and every check of it fires.

use super::rig::*;
use scalepool::kernel::Rng;
use scalepool::link::cxl256::{Monitor, WireFlit};
use scalepool_testbenches::soak::number_in;
use std::collections::{BTreeSet, VecDeque};

/// Flit clocks, more with `SCALEPOOL_SOAK`.
fn soak(flits: u64) -> u64 {
    flits * number_in("SCALEPOOL_SOAK", 1)
}

/// Two ends with wires, traffic and a monitor beside each.
struct Watched {
    ends: [Cxl256End<Cachemem>; 2],
    monitors: [Monitor; 2],
    wires: [(FaultyWire, VecDeque<(u64, Cxl256Flit)>); 2],
    mode: Mode,
    rng: Rng,
    now: u64,
    trainings: u64,
    delivered: u64,
}

const DIRS: [Dir; 2] = [Dir::Down, Dir::Up];

impl Watched {
    fn new(link: LinkConfig, ber: f64, seed: u64) -> Watched {
        let rng = |dir: Dir| Rng::for_name(seed, dir.name());
        Watched {
            ends: DIRS.map(|dir| Cxl256End::cachemem(link, CachememConfig::cachemem(dir, link.mode, 12))),
            monitors: DIRS.map(|dir| Monitor::new(link.mode, dir, link.selective_nak)),
            wires: DIRS.map(|dir| (FaultyWire::new(Vec::new(), ber, rng(dir)), VecDeque::new())),
            mode: link.mode,
            rng: Rng::for_name(seed, "bench"),
            now: 0,
            trainings: 0,
            delivered: 0,
        }
    }

    /// One flit clock; `seen` may change what the monitor sees of a flit that the host sends.
    fn step(&mut self, seen: &mut impl FnMut(&mut Cxl256Flit)) {
        self.now += 1;
        for n in [0, 1] {
            while let Some(&(_, flit)) = self.wires[1 - n].1.front().filter(|(due, _)| *due <= self.now) {
                self.wires[1 - n].1.pop_front();
                self.monitors[n].received(&flit, &flit.receive(self.mode), self.now);
                self.ends[n].receive(&flit, self.now);
            }
            while self.ends[n].client.take().is_some() {
                self.delivered += 1;
            }
            let class: Vec<Class> = classes(DIRS[n]).collect();
            let class = class[self.rng.below(class.len() as u64) as usize];
            if self.rng.ratio(1, 3) && self.ends[n].client.waiting(class) < 4 {
                let message = random_message(&mut self.rng, self.mode.routing(), class);
                self.ends[n].client.send(message).expect("legal");
            }
            let flit = self.ends[n].transmit(self.now);
            let mut shown = flit;
            if n == 0 {
                seen(&mut shown);
            }
            self.monitors[n].sent(&shown, &shown.receive(self.mode), self.now);
            let (wire, queue) = &mut self.wires[n];
            let arrives = wire.send(WireFlit { mode: self.mode, flit });
            queue.extend(arrives.into_iter().flatten().map(|unit| (self.now + LATENCY_FLITS, unit.flit)));
        }
        if self.ends.iter_mut().any(|end| end.take_retrain_request()) {
            self.trainings += 1;
            self.wires.iter_mut().for_each(|(_, queue)| queue.clear());
            self.ends.iter_mut().for_each(|end| {
                end.phy_down();
                end.phy_up();
            });
            self.monitors.iter_mut().for_each(Monitor::trained);
        }
    }

    fn rules(&mut self) -> BTreeSet<&'static str> {
        self.monitors.iter_mut().flat_map(Monitor::take_events).map(|event| event.violation.rule).collect()
    }
}

#[test]
fn our_own_ends_break_nothing_whatever_the_wires_do() {
    for mode in [Mode::Standard, Mode::LatencyOptimised, Mode::Pbr] {
        for (selective_nak, ber) in [(false, 0.0), (false, 1e-4), (true, 1e-4), (true, 4e-4)] {
            let link = LinkConfig { mode, selective_nak, ..LinkConfig::default() };
            let mut link = Watched::new(link, ber, 3);
            for _ in 0..soak(1500) {
                link.step(&mut |_| ());
                let found: Vec<LinkEvent> = link.monitors.iter_mut().flat_map(Monitor::take_events).collect();
                assert!(found.is_empty(), "{mode:?} {selective_nak} {ber}, clock {}: {}", link.now, found[0]);
            }
            assert!(link.delivered > 100, "{mode:?} {ber}: {} messages, {} trainings", link.delivered, link.trainings);
        }
    }
}

/// What a monitor says when it sees every flit of the host changed by `change`, from clock 100 on.
fn changed(ber: f64, mut change: impl FnMut(&mut Cxl256Flit, &mut FlitHeader) -> bool) -> BTreeSet<&'static str> {
    let mut link = Watched::new(LinkConfig::default(), ber, 5);
    let mode = link.mode;
    for clock in 0..3000 {
        link.step(&mut |flit| {
            let mut header = flit.header();
            if clock > 100 && flit.crc_ok(mode) && change(flit, &mut header) {
                flit.set_header(&header).expect("a number of ten bits");
                flit.seal(mode);
            }
        });
    }
    link.rules()
}

fn is_payload(header: &FlitHeader) -> bool {
    header.flit_type == FlitType::Cachemem
}

#[test]
fn each_check_fires() {
    let once = |found: BTreeSet<&'static str>, rule: &str| assert!(found.contains(rule), "{rule}: found {found:?}");
    let of = |mut change: Box<dyn FnMut(&mut FlitHeader) -> bool>| changed(0.0, move |_, header| change(header));
    let mut n = 0;
    let mut every = move |wanted: bool| {
        n += u32::from(wanted);
        wanted && n.is_multiple_of(40)
    };
    once(
        of(Box::new(move |header| {
            header.prior ^= every(true);
            true
        })),
        "CXL256-HDR-02",
    );
    let states = |header: &FlitHeader| header.command == ReplayCommand::Explicit;
    let moves = |header: &mut FlitHeader, by: u16| header.seq = (header.seq + by - 1) % 1023 + 1;
    once(
        of(Box::new(move |header| {
            let hit = is_payload(header) && states(header);
            if hit {
                moves(header, 7);
            }
            hit
        })),
        "CXL256-RTY-01",
    );
    once(
        of(Box::new(move |header| {
            let hit = header.flit_type == FlitType::Nop && states(header);
            if hit {
                moves(header, 7);
            }
            hit
        })),
        "CXL256-RTY-02",
    );
    once(
        of(Box::new(move |header| {
            let hit = header.command == ReplayCommand::Ack;
            if hit {
                moves(header, 9);
            }
            hit
        })),
        "CXL256-RTY-04",
    );
    // Only the first of the three flits with a Nak says so.
    let mut naks = 0;
    let lonely = move |_: &mut Cxl256Flit, header: &mut FlitHeader| {
        naks = if header.command == ReplayCommand::NakStandard { naks + 1 } else { 0 };
        if naks > 1 {
            header.command = ReplayCommand::Ack;
        }
        naks > 1
    };
    once(changed(2e-4, lonely), "CXL256-RTY-06");
    // Replayed flits with another byte in a slot.
    let mut seen = BTreeSet::new();
    let alters = move |flit: &mut Cxl256Flit, header: &mut FlitHeader| {
        let again = is_payload(header) && !seen.insert(flit.body(Mode::Standard).collect::<Vec<u8>>());
        flit.0[100] ^= u8::from(again);
        again
    };
    once(changed(2e-4, alters), "CXL256-RTY-16");
}

/// The monitor of the device sees a stream that no end of ours sends.
#[test]
fn what_comes_too_early_or_too_often_is_found() {
    // No Ack of the peer is ever seen: the handshake is not over, INIT.Param has not come, no credit has.
    let mut link = Watched::new(LinkConfig::default(), 0.0, 7);
    let mode = link.mode;
    let mut deaf = Monitor::new(mode, Dir::Down, false);
    for _ in 0..3000 {
        let now = link.now + 1;
        link.step(&mut |flit| drop(deaf.sent(flit, &flit.receive(mode), now)));
    }
    let rules: BTreeSet<&str> = deaf.take_events().iter().map(|e| e.violation.rule).collect();
    for rule in ["CXL256-RTY-05", "CXL256-RTY-07", "CXL256-CTL-05"] {
        assert!(rules.contains(rule), "{rule}: {rules:?}");
    }
    // What comes is seen without its credits.
    let mut link = Watched::new(LinkConfig::default(), 0.0, 7);
    let mut poor = Monitor::new(link.mode, Dir::Down, false);
    for _ in 0..600 {
        let now = link.now + 1;
        if let Some((_, mut flit)) = link.wires[1].1.front().copied().filter(|(due, _)| *due <= now) {
            if is_payload(&flit.header()) {
                flit.set_crd(&Crd::default()).expect("codes of five bits");
                flit.seal(link.mode);
            }
            poor.received(&flit, &flit.receive(mode), now);
        }
        link.step(&mut |flit| drop(poor.sent(flit, &flit.receive(mode), now)));
    }
    let rules: BTreeSet<&str> = poor.take_events().iter().map(|e| e.violation.rule).collect();
    assert_eq!(rules, ["CXL256-CRD-06"].into());
}
