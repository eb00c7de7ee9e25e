//! CXL256-VIR: viral, and data poisoned on its way. A receiver cannot tell a spoilt flit from a damaged one, so what was
//! sent is watched.

use super::rig::*;
use scalepool::link::cxl256::{FlitPart, Urgent};
use scalepool::link::hook::Direction;
use scalepool::link::protocol::LinkProtocol;
use scalepool::link::watch::{EndWatch, WatchConfig};
use scalepool_protocols::cxl::cxl256::control;

/// How a device signals viral wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slip {
    /// What it displaced is forgotten.
    Forgets,
    /// Viral goes like any other flit.
    Unspoilt,
    /// The flit that it displaced goes first.
    SlotZero,
}

/// CXL.cachemem with a slip.
struct Faulty {
    inner: Cachemem,
    slip: Option<Slip>,
}

impl Layer for Faulty {}

impl Client for Faulty {
    type Flit = Cxl256Flit;

    fn transmit(&mut self, now_flits: u64) -> Option<Cxl256Flit> {
        if self.slip == Some(Slip::Unspoilt)
            && let Some(urgent) = self.inner.urgent(None)
        {
            return Some(urgent.flit);
        }
        self.inner.transmit(now_flits)
    }

    fn receive(&mut self, flit: &Cxl256Flit, part: FlitPart, now_flits: u64) {
        self.inner.receive(flit, part, now_flits);
    }

    fn urgent(&mut self, leaving: Option<&Cxl256Flit>) -> Option<Urgent> {
        match self.slip {
            None => self.inner.urgent(leaving),
            Some(Slip::Unspoilt) => None,
            Some(Slip::Forgets) => self.inner.urgent(leaving).map(|u| Urgent { follows: None, ..u }),
            Some(Slip::SlotZero) => self.inner.urgent(None).map(|u| Urgent { flit: u.flit, follows: leaving.copied() }),
        }
    }

    fn phy_down(&mut self) {}

    fn phy_up(&mut self) {}

    fn link_reset(&mut self) {
        self.inner.link_reset();
    }

    fn take_retrain_request(&mut self) -> bool {
        false
    }

    fn is_quiet(&self) -> bool {
        self.inner.is_quiet()
    }

    fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        self.inner.wakes_at(now_flits)
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        self.inner.take_events()
    }
}

/// Slot of a flit with Viral.
fn viral_slot(mode: Mode, flit: &Cxl256Flit) -> Option<usize> {
    let is_viral = |n: &usize| {
        let kind = control::kind(flit.slot(mode, *n));
        flit.slot(mode, *n) & 0xf == 8 && kind.is_some_and(|k| k.name == "Viral")
    };
    let cachemem = flit.header().flit_type == FlitType::Cachemem;
    (if mode.is_lopt() { vec![0, 8] } else { vec![0] }).into_iter().find(is_viral).filter(|_| cachemem)
}

/// Judges how one direction signals viral: the rule that is broken.
fn watch(mode: Mode, log: &[Cxl256Flit]) -> Option<&'static str> {
    let good = |f: &Cxl256Flit| f.receive(mode).is_good();
    let viral = log.iter().position(|f| viral_slot(mode, f).is_some() && good(f)).expect("Viral was sent");
    let Some(spoilt) = log[..viral].iter().find(|f| !good(f)) else { return Some("CXL256-VIR-02") };
    let slot = viral_slot(mode, &log[viral]).expect("found above");
    if viral_slot(mode, spoilt).is_some() {
        // Viral was itself on the wire.
        return None;
    }
    let body = |f: &Cxl256Flit| f.body(mode).collect::<Vec<u8>>();
    if slot == 8 {
        // The rest of what was displaced goes on in slot 0 and behind.
        let moved = |f: &Cxl256Flit| {
            f.slot(mode, 0) == spoilt.slot(mode, 8) && (1..7).all(|n| f.slot(mode, n) == spoilt.slot(mode, n + 8))
        };
        let fits = log[viral].0[2..122] == spoilt.0[2..122] && log[viral..].iter().any(moved);
        return (!fits).then_some("CXL256-VIR-03");
    }
    let original = log[viral..].iter().any(|f| good(f) && body(f) == body(spoilt));
    match (original, mode.is_lopt()) {
        (_, true) => Some("CXL256-VIR-03"),
        (false, _) => Some("CXL256-VIR-01"),
        _ => None,
    }
}

/// A device that goes viral, busy or idle, `at` flits behind the first message: what the watch says, messages that the host got and those that it should have
/// got, its events, the vector it was told.
fn goes_viral(
    mode: Mode,
    slip: Option<Slip>,
    busy: bool,
    at: usize,
) -> (Option<&'static str>, [usize; 2], Vec<LinkEvent>, Option<u16>) {
    let link = LinkConfig { mode, ..LinkConfig::default() };
    let end = |dir| {
        let config = CachememConfig::cachemem(dir, mode, 200);
        Cxl256End::new(link, Faulty { inner: Cachemem::new(config), slip })
    };
    let mut pair = Pair::new(end(Dir::Down), end(Dir::Up), LATENCY_FLITS, RETRAIN_FLITS);
    (0..300).for_each(|_| pair.step());
    let mut rng = scalepool::kernel::Rng::from_seed(5);
    let (mut sent, mut got) = (Vec::new(), Vec::new());
    for n in 0..if busy { 120 } else { 0 } {
        let class = [Class::S2mDrs, Class::S2mNdr, Class::D2hData, Class::S2mBisnp][n % 4];
        let message = random_message(&mut rng, mode.routing(), class);
        pair.device.client.inner.send(message).expect("legal");
        sent.push(message);
    }
    pair.wires.keep_log();
    for n in 0..600 {
        if n == at {
            pair.device.client.inner.set_viral(0x21);
        }
        pair.step();
        got.extend(pair.host.client.inner.take());
    }
    let log: Vec<Cxl256Flit> =
        pair.wires.take_log().into_iter().filter(|s| s.dir == Dir::Up).map(|s| s.unit.flit).collect();
    let mut in_order = true;
    for class in Class::ALL {
        let of = |all: &[Cxl256Message]| all.iter().filter(|m| m.class == class).copied().collect::<Vec<_>>();
        in_order &= of(&sent) == of(&got);
    }
    assert!(in_order || slip.is_some(), "lost, twice or out of order");
    let told = pair.host.client.inner.peer_viral();
    (watch(mode, &log), [got.len(), sent.len()], pair.host.take_events(), told)
}

/// One fatal event and nothing else.
#[track_caller]
fn assert_told(mode: Mode, busy: bool, at: usize) {
    let (broken, [got, sent], events, told) = goes_viral(mode, None, busy, at);
    assert_eq!((broken, got, told), (None, sent, Some(0x21)), "{mode:?}");
    assert_eq!(events.len(), 1, "{mode:?}: {events:?}");
    assert_eq!((events[0].severity, events[0].violation.rule), (Severity::Fatal, "CXL256-VIR-01"));
}

#[test]
fn cxl256_vir_01_p() {
    for at in 0..24 {
        assert_told(Mode::Standard, true, at);
        assert_told(Mode::Pbr, true, at);
    }
}

#[test]
fn cxl256_vir_01_n() {
    let (broken, [got, sent], ..) = goes_viral(Mode::Standard, Some(Slip::Forgets), true, 7);
    assert_eq!(broken, Some("CXL256-VIR-01"));
    assert!(got < sent, "messages of the flit that was forgotten are missing");
}

#[test]
fn cxl256_vir_02_p() {
    Mode::ALL.into_iter().for_each(|mode| assert_told(mode, false, 7));
}

#[test]
fn cxl256_vir_02_n() {
    let (broken, ..) = goes_viral(Mode::Standard, Some(Slip::Unspoilt), false, 7);
    assert_eq!(broken, Some("CXL256-VIR-02"));
}

#[test]
fn cxl256_vir_03_p() {
    (0..24).for_each(|at| assert_told(Mode::LatencyOptimised, true, at));
}

#[test]
fn cxl256_vir_03_n() {
    let (broken, ..) = goes_viral(Mode::LatencyOptimised, Some(Slip::SlotZero), true, 7);
    assert_eq!(broken, Some("CXL256-VIR-03"));
    // A replay with another even half than the one that was used stops the link before anything is used twice.
    let link = LinkConfig { mode: Mode::LatencyOptimised, ..LinkConfig::default() };
    let mut end = Cxl256End::cachemem(link, CachememConfig::cachemem(Dir::Up, link.mode, 32));
    let flit = |slot: u128| {
        let mut flit = Cxl256Flit::ZERO;
        let header = FlitHeader { flit_type: FlitType::Cachemem, seq: 1, ..FlitHeader::default() };
        flit.set_header(&header).expect("fits");
        flit.set_slot(link.mode, 0, slot);
        flit.seal(link.mode);
        flit
    };
    let init = control::by_name("INIT.Param").expect("listed").default_slot();
    let viral = control::by_name("Viral").expect("listed").default_slot();
    end.receive_even(&flit(init), 1);
    let mut bad = flit(init);
    (bad.0[150], bad.0[153]) = (1, 2);
    let mut watch = EndWatch::new(&WatchConfig::new(LinkProtocol::Cxl256(link.mode), Dir::Up)).expect("a watcher");
    for (now, flit) in [(1, bad), (2, flit(viral))] {
        end.receive(&flit, now);
        watch.unit(Direction::Rx, &flit.0, now).expect("a flit");
    }
    assert_eq!((end.halted(), watch.halted()), (Some("CXL256-LOP-04"), Some("CXL256-LOP-04")));
    assert_eq!(end.client.peer_viral(), None);
}

#[test]
fn data_is_poisoned_on_its_way() {
    for mode in Mode::ALL {
        let mut bench = Bench::new(LinkConfig { mode, ..LinkConfig::default() }, 64, 1);
        bench.phases = false;
        assert!(bench.rest(1000));
        let device = &mut bench.pair.device.client;
        let mut rng = scalepool::kernel::Rng::from_seed(2);
        for _ in 0..40 {
            device.send(random_message(&mut rng, mode.routing(), Class::S2mDrs)).expect("legal");
        }
        assert!(!device.poison(0), "no header has gone");
        while !bench.pair.device.client.poison(1) {
            bench.pair.step();
            assert!(bench.pair.device.client.waiting(Class::S2mDrs) > 0, "two headers stand before their data");
        }
        let mut got = Vec::new();
        for _ in 0..100 {
            bench.pair.step();
            got.extend(bench.pair.host.client.take());
        }
        let field = Class::S2mDrs.def(mode.routing()).fields.iter().find(|f| f.name == "poison").expect("listed");
        let poisoned: Vec<bool> = got.iter().map(|m| field.extract(m.bits) == 1).collect();
        assert_eq!((poisoned.len(), poisoned.iter().filter(|&&p| p).count()), (40, 1), "{mode:?}");
        assert_eq!(bench.pair.host.take_events(), []);
    }
}
