//! Every ALMP of a vLSM in every state of either port: what follows, what is answered, what is named.

use crate::cxl256_arbmux::rig::{Port, config, port};
use scalepool::link::arbmux::cxl256::almp::{self, AlmpContent, Says};
use scalepool::link::arbmux::cxl256::{ArbMuxConfig, State};
use scalepool::link::arbmux::{ArbMuxInstance, Ask, L1Level};
use scalepool::link::cxl256::client::{Client, FlitPart};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::check;
use scalepool_protocols::cxl::cxl256::config::Cxl256Config;
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::stream::Unpacker;
use std::collections::BTreeSet;

const L1: State = State::L1(L1Level::L1_0);
const ASK_L1: Ask = Ask::L1(L1Level::L1_0);
const OPEN: Says = Says::Request(Ask::Active);
const ACTIVE: Says = Says::Status(State::Active);
const NAK: Says = Says::Status(State::PmNak);

/// A state, and what is open in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    /// The state with nothing open, where there is such a thing; in Retrain both ALMPs have gone, in PMNAK Request{Active}.
    In(State),
    /// Reset, Request{Active} has gone.
    Opening,
    /// Active, upstream: Request{L1.0} has gone.
    Asked,
    /// Active, upstream: Request{L1.0} and for want of an answer Request{Active} have gone.
    GaveUp,
    /// Active, downstream: Request{L1.0} came and waits.
    Offered,
    /// Active, downstream: PMNAK has gone.
    Refused,
}

fn cases(dir: Dir) -> Vec<Case> {
    let states = State::ALL.into_iter().filter(|&s| dir == Dir::Up || s != State::PmNak).map(Case::In);
    let open = match dir {
        Dir::Up => [Case::Opening, Case::Asked, Case::GaveUp].to_vec(),
        Dir::Down => [Case::Opening, Case::Offered, Case::Refused].to_vec(),
    };
    states.chain(open).collect()
}

/// A port of CXL.io alone.
struct Solo {
    port: Port,
    now: u64,
}

impl Solo {
    fn hears(&mut self, says: Says) {
        self.port.receive(&almp::flit(AlmpContent::Vlsm(ArbMuxInstance::Io, says)), FlitPart::Whole, self.now);
    }

    /// What it sends now.
    fn says(&mut self) -> Vec<Says> {
        let read = |flit| match almp::read(&flit) {
            Some(AlmpContent::Vlsm(ArbMuxInstance::Io, says)) => says,
            other => panic!("{other:?}"),
        };
        std::iter::from_fn(|| self.port.transmit(self.now)).map(read).collect()
    }

    fn state(&self) -> State {
        self.port.vlsm(ArbMuxInstance::Io).state()
    }

    fn ask(&mut self, ask: Ask) {
        self.port.ask(ArbMuxInstance::Io, Some(ask));
    }

    fn active(dir: Dir) -> Solo {
        let refusal = Some(10);
        let mut solo = Solo { port: port(ArbMuxConfig { pm_refusal_flits: refusal, ..config(dir) }), now: 1 };
        if dir == Dir::Down {
            solo.ask(Ask::Active);
            assert_eq!(solo.says(), [OPEN]);
            solo.hears(OPEN);
            solo.hears(ACTIVE);
            assert_eq!(solo.says(), [ACTIVE]);
        } else {
            solo.hears(OPEN);
            assert_eq!(solo.says(), [ACTIVE, OPEN]);
            solo.hears(ACTIVE);
        }
        assert_eq!(solo.state(), State::Active);
        solo
    }

    /// Active, then a power state.
    fn low(dir: Dir, ask: Ask) -> Solo {
        let mut solo = Solo::active(dir);
        let status = Says::Status(ask.power_state().expect("a power state").into());
        solo.ask(ask);
        match dir {
            Dir::Up => {
                assert_eq!(solo.says(), [Says::Request(ask)]);
                solo.hears(status);
            }
            Dir::Down => {
                solo.hears(Says::Request(ask));
                assert_eq!(solo.says(), [status]);
            }
        }
        solo
    }

    fn asked(dir: Dir) -> Solo {
        let mut solo = Solo::active(dir);
        if dir == Dir::Up {
            solo.ask(ASK_L1);
            assert_eq!(solo.says(), [Says::Request(ASK_L1)]);
        } else {
            solo.hears(Says::Request(ASK_L1));
        }
        solo
    }

    fn in_case(dir: Dir, case: Case) -> Solo {
        let mut solo = match case {
            Case::In(State::Reset) => Solo { port: port(config(dir)), now: 1 },
            Case::In(State::Active) => Solo::active(dir),
            Case::In(State::L1(level)) => Solo::low(dir, Ask::L1(level)),
            Case::In(State::L2) | Case::Opening => Solo::low(dir, Ask::L2),
            Case::In(State::Retrain) => Solo::low(dir, ASK_L1),
            Case::In(State::PmNak) | Case::Asked | Case::GaveUp | Case::Offered | Case::Refused => Solo::asked(dir),
        };
        match case {
            Case::Opening => {
                solo.ask(Ask::Active);
                assert_eq!(solo.says(), [OPEN]);
            }
            Case::In(State::Retrain) => {
                solo.hears(OPEN);
                assert_eq!(solo.says(), [ACTIVE, OPEN]);
            }
            Case::In(State::PmNak) => {
                solo.hears(NAK);
                assert_eq!(solo.says(), [OPEN]);
            }
            Case::GaveUp => {
                solo.now += 1000;
                assert_eq!(solo.says(), [OPEN]);
            }
            Case::Refused => {
                solo.now += 10;
                assert_eq!(solo.says(), [NAK]);
            }
            _ => (),
        }
        let state = match case {
            Case::In(state) => state,
            Case::Opening => State::Reset,
            _ => State::Active,
        };
        assert_eq!(solo.state(), state);
        assert_eq!(solo.port.take_events(), [], "{dir:?} {case:?}");
        solo
    }
}

/// The state that follows, what is sent, the rule that is named.
type Follows = (State, Vec<Says>, Option<&'static str>);

const PAIR: &str = "CXL256-ALM-03";
const POWER: &str = "CXL256-ALM-04";

/// The sheet again, by what is heard.
fn follows(dir: Dir, case: Case, says: Says) -> Follows {
    let state = match case {
        Case::In(state) => state,
        Case::Opening => State::Reset,
        _ => State::Active,
    };
    match (says, case) {
        // Whoever is asked for Active answers, and asks back where it is not Active itself and has not asked.
        (OPEN, Case::In(State::L1(_))) => (State::Retrain, vec![ACTIVE, OPEN], None),
        (OPEN, Case::In(State::L2)) => (State::Reset, vec![ACTIVE, OPEN], None),
        (OPEN, Case::In(State::Reset)) => (state, vec![ACTIVE, OPEN], (dir == Dir::Down).then_some(PAIR)),
        (OPEN, _) => (state, vec![ACTIVE], None),
        // Power states are asked for by the upstream port, once, while Active.
        (Says::Request(_), Case::In(State::Active)) if dir == Dir::Down => (state, vec![], None),
        (Says::Request(_), _) => (state, vec![], Some(POWER)),
        // Status{Active} answers Request{Active}; in Retrain and PMNAK it is the last word, in Reset ours has not gone.
        (ACTIVE, Case::In(State::Retrain | State::PmNak) | Case::GaveUp) => (State::Active, vec![], None),
        (ACTIVE, Case::Opening) => (State::Reset, vec![], None),
        // The answers to a Request for L1.0, in time and late.
        (Says::Status(L1), Case::Asked) => (L1, vec![], None),
        (Says::Status(L1), Case::GaveUp) => (State::Retrain, vec![], None),
        (NAK, Case::Asked) => (State::PmNak, vec![OPEN], None),
        (NAK, Case::GaveUp) => (State::PmNak, vec![], None),
        // No other Status answers anything.
        (NAK, _) => (state, vec![], Some(POWER)),
        (Says::Status(_), _) => (state, vec![], Some(PAIR)),
    }
}

#[test]
fn every_almp_in_every_state() {
    let mut seen = BTreeSet::new();
    for dir in Dir::ALL {
        for case in cases(dir) {
            for says in Says::all() {
                let mut solo = Solo::in_case(dir, case);
                seen.insert((solo.state(), says));
                solo.hears(says);
                let rules: Vec<_> = solo.port.take_events().into_iter().map(|e| e.violation.rule).collect();
                let answers = solo.says();
                let what = format!("{dir:?} {case:?} {says:?}");
                assert_eq!((solo.state(), answers, rules.first().copied()), follows(dir, case, says), "{what}");
                assert!(rules.len() <= 1, "{what}");
                assert!(!solo.port.take_retrain_request(), "{what}");
            }
        }
    }
    assert_eq!(seen.len(), State::ALL.len() * Says::all().count());
}

/// What any of these ends in: both sides ask for Active, the peer does what it must.
#[test]
fn every_almp_in_every_state_leaves_a_way_to_active() {
    for dir in Dir::ALL {
        for case in cases(dir) {
            for says in Says::all() {
                let mut solo = Solo::in_case(dir, case);
                solo.hears(says);
                solo.ask(Ask::Active);
                // A peer that answers every Request{Active}, gives in to every other Request, and begins.
                solo.now += 2000;
                let mut heard = solo.says();
                solo.hears(OPEN);
                for _ in 0..8 {
                    heard.extend(solo.says());
                    for said in std::mem::take(&mut heard) {
                        match said {
                            OPEN => solo.hears(ACTIVE),
                            Says::Request(_) => solo.hears(NAK),
                            Says::Status(_) => (),
                        }
                    }
                }
                // The answer to a Request that had gone before.
                if solo.state() != State::Active {
                    solo.port.take_events();
                    solo.hears(ACTIVE);
                    assert_eq!(solo.port.take_events(), []);
                }
                assert_eq!(solo.state(), State::Active, "{dir:?} {case:?} {says:?}");
            }
        }
    }
}

#[test]
fn every_almp_of_ours_is_legal_and_reads_back() {
    use scalepool::link::arbmux::cxl256::{LinkWidth, l0p};
    let vlsm = ArbMuxInstance::ALL.into_iter().flat_map(|i| Says::all().map(move |says| AlmpContent::Vlsm(i, says)));
    let requests = LinkWidth::ALL.into_iter().flat_map(|width| [true, false].map(|p| (width, p)));
    let requests = requests.map(|(width, priority)| l0p::Says::Request { width, priority });
    let answers = LinkWidth::ALL.into_iter().map(l0p::Says::Ack).chain([l0p::Says::Nak]);
    for content in vlsm.chain(requests.chain(answers).map(AlmpContent::Width)) {
        let flit = almp::flit(content);
        assert_eq!(almp::read(&flit), Some(content));
        for mode in Mode::ALL {
            assert_eq!(almp::judge(&flit, mode), [], "{content:?}");
            let mut flit = flit;
            // The link layer numbers it; 0 belongs to no payload flit.
            flit.set_header(&FlitHeader { seq: 1, ..flit.header() }).expect("in range");
            flit.seal(mode);
            let decoded = Unpacker::new(mode, Dir::Down).read(&flit);
            assert_eq!(check::flit(&decoded, &Cxl256Config::default()).violations, [], "{content:?}");
        }
    }
}

/// The sheet's vector (`cxl-256b` §10): the L0p Request for x8.
#[test]
fn the_known_l0p_request() {
    use scalepool::link::arbmux::cxl256::{LinkWidth, l0p};
    let flit = almp::flit(AlmpContent::Width(l0p::Says::Request { width: LinkWidth::X8, priority: false }));
    assert_eq!(flit.0[2..6], [0x00, 0x01, 0x80, 0x14]);
}
