//! Health of links: the counters of ends and watchers against the faults that were put in, and waits that never end.

use crate::cxl256_link::rig as rig256;
use crate::watch::{LATENCY_FLITS, Side, sides, sides68};
use scalepool::kernel::Rng;
use scalepool::link::cxl256::{CachememConfig, Cxl256End, LinkConfig};
use scalepool::link::event::{Culprit, LinkEvent};
use scalepool::link::health::liveness::{LinkWait, Liveness, LivenessLimits, LivenessNow};
use scalepool::link::health::retimer::RetimerWatch;
use scalepool::link::health::{FIGURES, FigureShape, HealthFigure, HealthValue, channel_key, figures};
use scalepool::link::hook::Direction;
use scalepool::link::port::LinkEnd;
use scalepool::link::protocol::LinkProtocol;
use scalepool::link::ualink::OnLine;
use scalepool::link::watch::{EndWatch, WatchConfig};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl256::{Class, Mode};
use scalepool_testbenches::soak::number_in;
use std::collections::VecDeque;
use std::sync::LazyLock;

/// Flits of a run, over both directions, unless `SCALEPOOL_SOAK_FLITS` says otherwise.
const FLITS: u64 = 12_000;
/// Flit clocks between two faults: more than any repair takes.
const APART: u64 = 400;
/// Flit clocks before the first one.
const COMES_UP: u64 = 300;
/// How long anybody may wait in these tests \[flits\].
const LIMIT: u64 = 600;

fn flits() -> u64 {
    number_in("SCALEPOOL_SOAK_FLITS", FLITS)
}

const PROTOCOLS: [LinkProtocol; 6] = [
    LinkProtocol::Cxl68,
    LinkProtocol::Cxl256(Mode::Standard),
    LinkProtocol::Cxl256(Mode::LatencyOptimised),
    LinkProtocol::Cxl256(Mode::Pbr),
    LinkProtocol::Nvlink,
    LinkProtocol::Ualink,
];

/// Two ends with a watcher each, and wires that do what a test says.
struct HealthRig {
    ends: [Box<dyn Side>; 2],
    watches: [EndWatch; 2],
    liveness: [Liveness; 2],
    wires: [VecDeque<Option<Vec<u8>>>; 2],
    units: [[u64; 2]; 2],
    now: u64,
    rng: Rng,
    /// What the watchers have said and what the ends waited for too long: whose watcher or end, direction.
    said: Vec<(usize, Direction, LinkEvent)>,
    overdue: Vec<(usize, LinkEvent)>,
}

impl HealthRig {
    fn new(protocol: LinkProtocol) -> HealthRig {
        let limits = LivenessLimits { flits: Some(LIMIT), time_fs: None };
        let config = |dir| WatchConfig { liveness: limits, ..WatchConfig::new(protocol, dir) };
        HealthRig {
            ends: sides(protocol),
            watches: Dir::ALL.map(|dir| EndWatch::new(&config(dir)).expect("a watcher")),
            liveness: [(); 2].map(|()| Liveness::new(limits)),
            wires: [(); 2].map(|()| VecDeque::from([const { None }; LATENCY_FLITS])),
            units: [[0; 2]; 2],
            now: 0,
            rng: Rng::from_seed(23),
            said: Vec::new(),
            overdue: Vec::new(),
        }
    }

    /// One flit clock. `works` says whether an end sends and takes messages; `line` what becomes of a unit that an end has
    /// sent.
    fn step(&mut self, works: [bool; 2], line: &mut dyn FnMut(usize, u64, Vec<u8>) -> Option<Vec<u8>>) {
        self.now += 1;
        let now = self.now;
        for (n, works) in works.into_iter().enumerate() {
            self.ends[n].pass_time(now);
            if works {
                self.ends[n].work(&mut self.rng, now);
            }
            let sent = self.ends[n].transmit(now);
            if let Some(unit) = &sent {
                self.watches[n].unit(Direction::Tx, unit, now).expect("a unit");
                self.units[n][1] += 1;
            }
            self.wires[n].push_back(sent.and_then(|unit| line(n, now, unit)));
        }
        for n in 0..2 {
            if let Some(unit) = self.wires[1 - n].pop_front().flatten() {
                self.watches[n].unit(Direction::Rx, &unit, now).expect("a unit");
                self.ends[n].receive(&unit, now);
                self.units[n][0] += 1;
            }
            self.watches[n].clock(now, 0);
            self.said.extend(self.watches[n].take_events().into_iter().map(|(way, event)| (n, way, event)));
            let live = &mut self.liveness[n];
            live.begin(LivenessNow { flits: now, time_fs: 0, units: self.units[n] });
            self.ends[n].waits(&mut |wait| live.waits(wait));
            self.overdue.extend(live.end().into_iter().map(|(_, event)| (n, event)));
        }
    }

    /// Rules of waits that the watcher of an end has said, with whom they concern.
    fn watched_waits(&self, n: usize) -> Vec<(Culprit, &'static str)> {
        let of_waits = self.said.iter().filter(|(of, _, event)| *of == n && event.violation.rule.starts_with("LIV"));
        of_waits.map(|(_, way, event)| (event.culprit(*way), event.violation.rule)).collect()
    }

    /// Rules of waits that an end has said itself.
    fn own_waits(&self, n: usize) -> Vec<&'static str> {
        self.overdue.iter().filter(|(of, _)| *of == n).map(|(_, event)| event.violation.rule).collect()
    }
}

/// What a fault of the line does to the counters of the receiver.
#[derive(Debug, Default, PartialEq, Eq)]
struct Injected {
    crc_errors: u64,
    repaired_flits: u64,
    repaired_symbols: u64,
}

/// A fault of one flit: a wrong bit, or of 256B flits one to three symbols in a row, which the FEC repairs, or five, which it
/// does not.
fn damage(protocol: LinkProtocol, unit: &mut [u8], rng: &mut Rng, injected: &mut Injected) {
    let of_256b = matches!(protocol, LinkProtocol::Cxl256(_));
    let symbols = if of_256b { [1, 2, 3, 5, 5, 5][rng.below(6) as usize] } else { 1 };
    // Neither the protocol ID of 68B units nor FEC and CRC.
    let places = if unit.len() > 200 { 200 } else { unit.len() as u64 } - 2 - symbols as u64;
    let at = 2 + rng.below(places) as usize;
    for byte in &mut unit[at..at + symbols] {
        *byte ^= 1 + rng.below(255) as u8;
    }
    if of_256b && symbols <= 3 {
        injected.repaired_flits += 1;
        injected.repaired_symbols += symbols as u64;
    } else {
        injected.crc_errors += 1;
    }
}

/// Figures that the watcher of an end counts as the end does, of those that both have.
const SAME_FOR_BOTH: [&HealthFigure; 17] = [
    &figures::SENT_FLITS,
    &figures::RECEIVED_FLITS,
    &figures::NEXT_NUMBER,
    &figures::EXPECTED_NUMBER,
    &figures::ACKNOWLEDGED_NUMBER,
    &figures::UNACKNOWLEDGED_FLITS,
    &figures::REPLAYS,
    &figures::REPLAYED_FLITS,
    &figures::NAKS_SENT,
    &figures::NAKS_RECEIVED,
    &figures::CRC_ERRORS,
    &figures::FRAMING_ERRORS,
    &figures::FEC_REPAIRED_FLITS,
    &figures::FEC_REPAIRED_SYMBOLS,
    &figures::DUPLICATE_FLITS,
    &figures::DISCARDED_FLITS,
    &figures::CREDITS,
];

fn counters_equal_the_faults(protocol: LinkProtocol) {
    let name = protocol.name();
    let mut rig = HealthRig::new(protocol);
    let mut rng = Rng::from_seed(29);
    let mut injected = [Injected::default(), Injected::default()];
    let clocks = flits() / 2;
    let mut next = [COMES_UP, COMES_UP + APART / 2];
    for now in 1..=clocks {
        // At the end all comes to rest, so that both know the same.
        let faults = now + 2 * APART < clocks;
        rig.step([now + APART < clocks; 2], &mut |from, now, mut unit| {
            if faults && now >= next[from] && unit.len() > 1 {
                damage(protocol, &mut unit, &mut rng, &mut injected[from]);
                next[from] = now + APART;
            }
            Some(unit)
        });
    }
    assert_eq!((&rig.overdue, rig.watched_waits(0), rig.watched_waits(1)), (&Vec::new(), vec![], vec![]), "{name}");
    for (n, way, event) in &rig.said {
        assert_eq!(event.culprit(*way), Culprit::Line, "{name} watcher {n}: {event}");
    }
    for n in 0..2 {
        let (own, watched) = (rig.ends[n].health(clocks), rig.watches[n].health());
        for health in [&own, &watched] {
            let found = Injected {
                crc_errors: health.number_of(&figures::CRC_ERRORS),
                repaired_flits: health.number_of(&figures::FEC_REPAIRED_FLITS),
                repaired_symbols: health.number_of(&figures::FEC_REPAIRED_SYMBOLS),
            };
            assert_eq!(found, injected[1 - n], "{name} end {n}");
            for figure in FIGURES.iter().filter(|figure| figure.shape == FigureShape::ByState) {
                let Some(HealthValue::Each(times)) = health.of(figure) else { panic!("{name}: {}", figure.name) };
                let sum: u64 = times.iter().map(|(_, flits)| flits).sum();
                assert_eq!(sum, clocks, "{name} end {n}: {} {times:?}", figure.name);
            }
        }
        // Whether an end takes implied numbers at their word or doubts them, nobody knows who watches it.
        let of_receiver = [figures::DUPLICATE_FLITS.name, figures::DISCARDED_FLITS.name];
        let is_known = |figure: &&&HealthFigure| {
            !matches!(protocol, LinkProtocol::Cxl256(_)) || !of_receiver.contains(&figure.name)
        };
        for figure in SAME_FOR_BOTH.iter().filter(is_known) {
            if let (Some(own), Some(watched)) = (own.of(figure), watched.of(figure)) {
                assert_eq!(own, watched, "{name} end {n}: {}", figure.name);
            }
        }
        let [came, sent] = rig.units[n];
        assert_eq!(own.number_of(&figures::SENT_FLITS), sent, "{name} end {n}");
        assert!(came > clocks / 4, "{name} end {n}");
        let errors = injected[1 - n].crc_errors;
        let (asked, replays) = (own.number_of(&figures::NAKS_SENT), rig.ends[1 - n].health(clocks));
        let replays = replays.number_of(&figures::REPLAYS);
        println!("{name} end {n}: {:?}, {asked} requests, {replays} replays", injected[1 - n]);
        assert!(errors > 3 && (1..=errors).contains(&asked), "{name} end {n}: {errors} {asked}");
        assert!((1..=errors).contains(&replays), "{name} end {n}: {errors} {replays}");
    }
}

#[test]
fn counters_equal_the_faults_of_the_line() {
    PROTOCOLS.into_iter().for_each(counters_equal_the_faults);
}

// ---- waits that never end ----------------------------------------------------------------------------------------------

/// One of each protocol.
const ONE_OF_EACH: [LinkProtocol; 4] =
    [LinkProtocol::Cxl68, LinkProtocol::Cxl256(Mode::Standard), LinkProtocol::Nvlink, LinkProtocol::Ualink];

/// Flit clocks of a test that has to wait for the limit.
const LONG_ENOUGH: u64 = COMES_UP + 2 * LIMIT;

/// A link with traffic, faults and replays, on which nobody waits too long.
fn goes_on(protocol: LinkProtocol) -> HealthRig {
    let mut rig = HealthRig::new(protocol);
    let mut rng = Rng::from_seed(31);
    for _ in 0..LONG_ENOUGH {
        rig.step([true; 2], &mut |_, now, mut unit| {
            if now > COMES_UP && unit.len() > 1 && rng.ratio(1, 200) {
                damage(protocol, &mut unit, &mut rng, &mut Injected::default());
            }
            Some(unit)
        });
    }
    rig
}

/// What ends and watchers say of waits on links that go on, of all protocols; the runs are made once.
fn nobody_waits_too_long() {
    static SAID: LazyLock<Vec<String>> = LazyLock::new(|| {
        let of = |protocol| {
            let rig = goes_on(protocol);
            let own = (0..2).flat_map(|n| rig.own_waits(n)).map(str::to_owned).collect::<Vec<_>>();
            let watched = (0..2).flat_map(|n| rig.watched_waits(n)).map(|said| format!("{said:?}"));
            own.into_iter().chain(watched).collect::<Vec<_>>()
        };
        ONE_OF_EACH.into_iter().flat_map(of).collect()
    });
    assert!(SAID.is_empty(), "{SAID:?}");
}

#[test]
fn liv_crd_01_p() {
    nobody_waits_too_long();
}

/// The device takes no message any more: its host sends until it has no credit. Both say so, and the watchers of both.
#[test]
fn liv_crd_01_n() {
    for protocol in ONE_OF_EACH {
        let name = protocol.name();
        let mut rig = HealthRig::new(protocol);
        for now in 1..=LONG_ENOUGH + 2 * LIMIT {
            rig.step([true, now < COMES_UP], &mut |_, _, unit| Some(unit));
        }
        assert!(rig.own_waits(0).contains(&"LIV-CRD-01"), "{name}: {:?}", rig.overdue);
        assert!(rig.watched_waits(0).contains(&(Culprit::Peer, "LIV-CRD-01")), "{name}: {:?}", rig.said);
        assert!(rig.watched_waits(1).contains(&(Culprit::End, "LIV-CRD-01")), "{name}: {:?}", rig.said);
        let (_, event) = rig.overdue.iter().find(|(n, e)| *n == 0 && e.violation.rule == "LIV-CRD-01").expect("one");
        println!("{name}: {event}");
        assert!(event.violation.found.contains(" wait, 0 ") && event.violation.found.contains(" credits since flit "));
        assert_eq!(event.violation.expected, "a credit within 600 flits");
        // Said once of each channel.
        assert!(rig.overdue.len() < 20, "{name}: {:?}", rig.overdue);
    }
}

#[test]
fn liv_ack_01_p() {
    nobody_waits_too_long();
}

/// Nothing of the device arrives any more: what the host has sent is never acknowledged.
#[test]
fn liv_ack_01_n() {
    for protocol in ONE_OF_EACH {
        let name = protocol.name();
        let mut rig = HealthRig::new(protocol);
        for _ in 1..=LONG_ENOUGH {
            rig.step([true; 2], &mut |from, now, unit| (from == 0 || now < COMES_UP).then_some(unit));
        }
        // An end of NVLink gives up before.
        assert!(
            protocol == LinkProtocol::Nvlink || rig.own_waits(0).contains(&"LIV-ACK-01"),
            "{name}: {:?}",
            rig.overdue
        );
        assert!(rig.watched_waits(0).contains(&(Culprit::Peer, "LIV-ACK-01")), "{name}: {:?}", rig.said);
    }
}

#[test]
fn liv_rty_01_p() {
    nobody_waits_too_long();
}

/// Flits of the host are damaged and no request of the device gets through. Where the host would send again by its own timer,
/// all that it sends is damaged.
#[test]
fn liv_rty_01_n() {
    for protocol in ONE_OF_EACH {
        let name = protocol.name();
        let by_timer = matches!(protocol, LinkProtocol::Cxl256(_) | LinkProtocol::Nvlink);
        let mut rig = HealthRig::new(protocol);
        let mut rng = Rng::from_seed(37);
        for _ in 1..=LONG_ENOUGH {
            rig.step([true; 2], &mut |from, now, mut unit| {
                if from == 1 && now > COMES_UP {
                    return None;
                }
                // Some in a row, so that there is payload among them.
                if from == 0 && now > COMES_UP && (by_timer || now < COMES_UP + 8) {
                    let at = unit.len() / 2;
                    unit.iter_mut().skip(at).take(9).for_each(|byte| *byte ^= 1 + rng.below(255) as u8);
                }
                Some(unit)
            });
        }
        assert!(rig.own_waits(1).contains(&"LIV-RTY-01"), "{name}: {:?}", rig.overdue);
        assert!(rig.watched_waits(1).contains(&(Culprit::Peer, "LIV-RTY-01")), "{name}: {:?}", rig.said);
    }
}

/// The line loses a RETRY.Ack. The device asks again when its own timer runs out, and until then nobody is to blame.
#[test]
fn a_lost_retry_ack_is_not_the_peers_fault() {
    let mut rig = HealthRig::new(LinkProtocol::Cxl68);
    rig.ends = sides68(Cxl68Config { timeout_flits: 4 * LIMIT as u32, ..Cxl68Config::default() });
    let lost = COMES_UP..COMES_UP + 100;
    for _ in 1..=LONG_ENOUGH {
        rig.step([true; 2], &mut |from, now, mut unit| {
            if from == 0 && now < lost.start + 8 && now >= lost.start {
                unit[30] ^= 1;
            }
            (from == 1 || !(lost.start + 8..lost.end).contains(&now)).then_some(unit)
        });
    }
    assert!(!rig.own_waits(1).contains(&"LIV-RTY-01"), "{:?}", rig.overdue);
    // It has asked once, and still waits for longer than anybody else may.
    let device = rig.ends[1].health(LONG_ENOUGH);
    assert_eq!((device.number_of(&figures::NAKS_SENT), device.number_of(&figures::REPLAYS)), (1, 0));
}

#[test]
fn liv_ini_01_p() {
    nobody_waits_too_long();
}

/// Nothing of the device ever arrives.
#[test]
fn liv_ini_01_n() {
    // Initialisation of NVLink is credits alone, whose packets are acknowledged.
    for protocol in ONE_OF_EACH.into_iter().filter(|protocol| *protocol != LinkProtocol::Nvlink) {
        let name = protocol.name();
        let mut rig = HealthRig::new(protocol);
        for _ in 1..=2 * LIMIT {
            rig.step([true; 2], &mut |from, _, unit| (from == 0).then_some(unit));
        }
        assert!(rig.own_waits(0).contains(&"LIV-INI-01"), "{name}: {:?}", rig.overdue);
        assert!(rig.watched_waits(0).contains(&(Culprit::Peer, "LIV-INI-01")), "{name}: {:?}", rig.said);
    }
}

// ---- what stands in the line -------------------------------------------------------------------------------------------

/// Protocols whose units show to one end what a retimer does.
const SHOWN_TO_AN_END: [LinkProtocol; 3] =
    [LinkProtocol::Cxl256(Mode::Standard), LinkProtocol::Cxl256(Mode::LatencyOptimised), LinkProtocol::Ualink];

/// A retimer in the direction of the device: given the flit clock and what it has to pass on, what comes out.
type Retimer<'a> = dyn FnMut(u64, Vec<u8>) -> Vec<Vec<u8>> + 'a;

/// Rules that the watcher of the device says, and those that [`RetimerWatch`] says beside the retimer.
fn behind_a_retimer(protocol: LinkProtocol, retimer: &mut Retimer<'_>) -> [Vec<&'static str>; 2] {
    let mode = if let LinkProtocol::Cxl256(mode) = protocol { Some(mode) } else { None };
    let mut beside = RetimerWatch::new(mode);
    let mut found = Vec::new();
    let mut rig = HealthRig::new(protocol);
    let mut out: VecDeque<Vec<u8>> = VecDeque::new();
    for _ in 1..=COMES_UP + LIMIT / 3 {
        rig.step([true; 2], &mut |from, now, unit| {
            if from == 1 {
                return Some(unit);
            }
            beside.goes_in(&unit);
            out.extend(retimer(now, unit));
            let came = out.pop_front();
            found.extend(came.iter().flat_map(|unit| beside.comes_out(unit)).map(|violation| violation.rule));
            came
        });
    }
    found.extend(beside.finish().into_iter().map(|violation| violation.rule));
    let of_device = rig.said.iter().filter(|(n, ..)| *n == 1);
    let own = of_device.filter(|(_, _, event)| event.violation.rule.starts_with("LIV"));
    let own = own.map(|(_, way, event)| {
        assert_eq!(event.culprit(*way), Culprit::Line, "{event}");
        event.violation.rule
    });
    [own.collect(), found]
}

/// Whatever only passes flits on is not found; the runs are made once.
fn passes_on() {
    static FOUND: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let of = |protocol| behind_a_retimer(protocol, &mut |_, unit| vec![unit]).concat();
        PROTOCOLS.into_iter().flat_map(of).collect()
    });
    assert!(FOUND.is_empty(), "{:?}", *FOUND);
}

#[test]
fn liv_dup_01_p() {
    passes_on();
}

#[test]
fn liv_dup_01_n() {
    for protocol in PROTOCOLS {
        // Enough of them that some are payload whose number is stated.
        let mut doubles = |now: u64, unit: Vec<u8>| {
            if now > COMES_UP && now.is_multiple_of(37) { vec![unit.clone(), unit] } else { vec![unit] }
        };
        let [own, beside] = behind_a_retimer(protocol, &mut doubles);
        let name = protocol.name();
        assert!(
            beside.contains(&"LIV-DUP-01") && beside.iter().all(|rule| *rule == "LIV-DUP-01"),
            "{name}: {beside:?}"
        );
        assert!(!SHOWN_TO_AN_END.contains(&protocol) || own.contains(&"LIV-DUP-01"), "{name}: {own:?}");
    }
}

#[test]
fn liv_swp_01_p() {
    passes_on();
}

#[test]
fn liv_swp_01_n() {
    for protocol in PROTOCOLS {
        let mut held: Option<Vec<u8>> = None;
        let mut swaps = |now: u64, unit: Vec<u8>| match held.take() {
            Some(first) => vec![unit, first],
            None if now > COMES_UP && now.is_multiple_of(37) => {
                held = Some(unit);
                vec![]
            }
            None => vec![unit],
        };
        let [own, beside] = behind_a_retimer(protocol, &mut swaps);
        let name = protocol.name();
        assert!(beside.contains(&"LIV-SWP-01"), "{name}: {beside:?}");
        assert!(!SHOWN_TO_AN_END.contains(&protocol) || own.contains(&"LIV-SWP-01"), "{name}: {own:?}");
    }
}

#[test]
fn liv_lst_01_p() {
    passes_on();
}

#[test]
fn liv_lst_01_n() {
    for protocol in PROTOCOLS {
        let mut loses =
            |now: u64, unit: Vec<u8>| if now > COMES_UP && now.is_multiple_of(23) { vec![] } else { vec![unit] };
        let [_, beside] = behind_a_retimer(protocol, &mut loses);
        assert!(beside.contains(&"LIV-LST-01"), "{}: {beside:?}", protocol.name());
    }
}

#[test]
fn liv_fec_01_p() {
    passes_on();
}

/// The bytes of the FEC come as zeros.
#[test]
fn liv_fec_01_n() {
    for mode in Mode::ALL {
        let at = if mode.is_lopt() { 244..250 } else { 250..256 };
        let mut eats = |now: u64, mut unit: Vec<u8>| {
            if now > COMES_UP {
                unit[at.clone()].fill(0);
            }
            vec![unit]
        };
        let [own, beside] = behind_a_retimer(LinkProtocol::Cxl256(mode), &mut eats);
        assert!(own.contains(&"LIV-FEC-01"), "{mode:?}: {own:?}");
        assert_eq!(beside, ["LIV-FEC-01"], "{mode:?}");
    }
}

// ---- single faults of figures and waits ----------------------------------------------------------------------------------

/// Requests of a host whose credits come and are spent within one flit clock: who looks behind each of them sees no credit for
/// longer than the limit, and yet nobody waits.
#[test]
fn a_credit_that_is_spent_at_once_is_progress() {
    const CREDITS: u16 = 8;
    let limits = LivenessLimits { flits: Some(200), time_fs: None };
    let mut ends = Dir::ALL
        .map(|dir| Cxl256End::cachemem(LinkConfig::default(), CachememConfig::cachemem(dir, Mode::Standard, CREDITS)));
    // Beside the waits as they are, waits without their progress.
    let mut looks = [Liveness::new(limits), Liveness::new(limits)];
    let mut said = [Vec::new(), Vec::new()];
    let mut wires = [None, None];
    let (mut rng, mut taken) = (Rng::from_seed(41), 0);
    for now in 1..=1000 {
        let came = wires.each_mut().map(Option::take);
        for n in 0..2 {
            if let Some(unit) = &came[1 - n] {
                LinkEnd::receive(&mut ends[n], unit, now);
            }
            while n == 0 && ends[0].client.waiting(Class::M2sReq) < 64 {
                let request = rig256::random_message(&mut rng, Mode::Standard.routing(), Class::M2sReq);
                ends[0].client.send(request).expect("a legal message");
            }
            wires[n] = LinkEnd::fill(&mut ends[n], now);
        }
        taken += std::iter::from_fn(|| ends[1].client.take()).count();
        for (n, (live, said)) in looks.iter_mut().zip(&mut said).enumerate() {
            live.begin(LivenessNow { flits: now, time_fs: 0, units: [now; 2] });
            LinkEnd::pending_waits(&ends[0], &mut |wait| {
                live.waits(LinkWait { progress: if n == 0 { wait.progress } else { 0 }, ..wait });
            });
            said.extend(live.end().into_iter().map(|(_, event)| event.violation.rule));
        }
    }
    assert!(taken > 5 * usize::from(CREDITS), "{taken} messages");
    assert_eq!(said, [vec![], vec!["LIV-CRD-01"]]);
}

/// An end of UALink sends control flits for ever while its peer sends flits: the end is to blame, and nobody else. Its figures are
/// there although it has never been up.
#[test]
fn an_end_of_ualink_that_never_begins_is_to_blame() {
    let limits = LivenessLimits { flits: Some(LIMIT), time_fs: None };
    let config = WatchConfig { liveness: limits, ..WatchConfig::new(LinkProtocol::Ualink, Dir::Down) };
    let mut watch = EndWatch::new(&config).expect("a watcher");
    let mut ends = sides(LinkProtocol::Ualink);
    let mut waits = Vec::new();
    for now in 1..=2 * LIMIT {
        let sent = ends.each_mut().map(|end| {
            end.pass_time(now);
            end.transmit(now)
        });
        for (n, unit) in sent.iter().enumerate() {
            unit.iter().for_each(|unit| ends[1 - n].receive(unit, now));
        }
        watch.unit(Direction::Tx, &OnLine::Idle.to_bytes(), now).expect("a unit");
        sent[1].iter().for_each(|unit| assert!(watch.unit(Direction::Rx, unit, now).is_ok()));
        let events = watch.take_events().into_iter();
        let events = events.filter(|(_, event)| event.violation.rule.starts_with("LIV"));
        waits.extend(events.map(|(way, event)| (event.culprit(way), event.violation.rule)));
    }
    assert_eq!(waits, [(Culprit::End, "LIV-INI-01")]);
    let (own, watched) = (ends[0].health(2 * LIMIT), watch.health());
    for figure in SAME_FOR_BOTH {
        assert_eq!(own.of(figure).is_some(), watched.of(figure).is_some(), "{}", figure.name);
    }
    let Some(HealthValue::Each(credits)) = watched.of(&figures::CREDITS) else { panic!("{watched:?}") };
    assert!(credits.len() == 4 && credits.iter().all(|(_, n)| *n == 0), "{credits:?}");
}

/// Each channel goes both ways between switches: both ends have credits to spend and credits given of all of them.
#[test]
fn channels_between_switches_have_figures_both_ways() {
    let link = LinkConfig { mode: Mode::Pbr, ..LinkConfig::default() };
    for dir in Dir::ALL {
        let end = Cxl256End::cachemem(link, CachememConfig::mem_both_ways(dir, Mode::Pbr, 8));
        let health = LinkEnd::health(&end, 0);
        for figure in [&figures::MESSAGES_WAITING, &figures::CREDITS, &figures::CREDITS_GIVEN] {
            let Some(HealthValue::Each(channels)) = health.of(figure) else { panic!("{}", figure.name) };
            for class in Class::ALL.into_iter().filter(|class| class.is_mem()) {
                let key = channel_key(class.def(Mode::Pbr.routing()).name);
                assert!(channels.iter().any(|(name, _)| name == key), "{dir:?} {}: {channels:?}", figure.name);
            }
        }
    }
}

/// NOPs that are left out at rest are counted by neither end.
#[test]
fn both_ends_count_the_same_flits_at_rest() {
    let mut ends =
        Dir::ALL.map(|dir| Cxl256End::cachemem(LinkConfig::default(), CachememConfig::mem(dir, Mode::Standard, 8)));
    for now in 1..=2000 {
        // At the end one flit that need not be sent shows how many were left out.
        let sent = ends.each_mut().map(|end| match now {
            2000 => LinkEnd::fill(end, now),
            _ => LinkEnd::transmit(end, now),
        });
        for (n, unit) in sent.iter().enumerate() {
            unit.iter().for_each(|unit| LinkEnd::receive(&mut ends[1 - n], unit, now));
        }
    }
    let [host, device] = ends.each_ref().map(|end| LinkEnd::health(end, 2000));
    for (one, other) in [(&host, &device), (&device, &host)] {
        let (sent, came) = (one.number_of(&figures::SENT_FLITS), other.number_of(&figures::RECEIVED_FLITS));
        assert_eq!(sent, came);
        assert!((10..1000).contains(&sent), "{sent}");
    }
}
