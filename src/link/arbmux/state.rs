//! States of a vLSM and the tables over them: one row a line of the sheet (`cxl-68b` §8.2).

use scalepool_protocols::cxl::cxl68::code::VlsmState;
use scalepool_protocols::wire::Violation;

/// Byte of an ALMP unit that holds the state (`cxl-68b` §8.1: byte 2 of the flit, behind two bytes of protocol ID).
pub const STATE_BYTE: usize = 4;

/// A level of L1, shallowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// L1.0.
    L1_0,
    /// L1.1.
    L1_1,
    /// L1.2.
    L1_2,
    /// L1.3.
    L1_3,
}

impl Level {
    /// All levels, shallowest first.
    pub const ALL: [Level; 4] = [Level::L1_0, Level::L1_1, Level::L1_2, Level::L1_3];

    const fn code(self) -> VlsmState {
        match self {
            Level::L1_0 => VlsmState::L1_0,
            Level::L1_1 => VlsmState::L1_1,
            Level::L1_2 => VlsmState::L1_2,
            Level::L1_3 => VlsmState::L1_3,
        }
    }
}

/// State of a vLSM, and state that the vLSMs ask of the physical layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Reset.
    Reset,
    /// Active: units of the protocol may travel.
    Active,
    /// A level of L1.
    L1(Level),
    /// L2.
    L2,
    /// Retrain: on the way back to Active.
    Retrain,
}

impl State {
    /// All states.
    pub const ALL: [State; 8] = [
        State::Reset,
        State::Active,
        State::L1(Level::L1_0),
        State::L1(Level::L1_1),
        State::L1(Level::L1_2),
        State::L1(Level::L1_3),
        State::L2,
        State::Retrain,
    ];

    /// Its code in an ALMP.
    pub const fn code(self) -> VlsmState {
        match self {
            State::Reset => VlsmState::Reset,
            State::Active => VlsmState::Active,
            State::L1(level) => level.code(),
            State::L2 => VlsmState::L2,
            State::Retrain => VlsmState::Retrain,
        }
    }

    /// The state of a code in a Status; `None` for codes that no Status carries.
    pub fn of_code(code: VlsmState) -> Option<State> {
        State::ALL.into_iter().find(|s| s.code() == code)
    }

    /// The row of the tables it belongs to.
    pub const fn family(self) -> Family {
        match self {
            State::Reset => Family::Reset,
            State::Active => Family::Active,
            State::L1(_) => Family::L1,
            State::L2 => Family::L2,
            State::Retrain => Family::Retrain,
        }
    }
}

/// States as the tables name them: all levels of L1 are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Reset.
    Reset,
    /// Active.
    Active,
    /// Any level of L1.
    L1,
    /// L2.
    L2,
    /// Retrain.
    Retrain,
}

/// What a client asks of its vLSM.
///
/// At the upstream port a power state is a wish that becomes a Request. At the downstream port it is a permission: the
/// deepest state that a Request of the peer may lead to; without one, Requests for power states meet silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ask {
    /// Active.
    Active,
    /// A level of L1.
    L1(Level),
    /// L2.
    L2,
    /// The deepest power state that the other side allows (DAPM).
    Deepest,
}

impl Ask {
    /// Its code in a Request.
    pub const fn code(self) -> VlsmState {
        match self {
            Ask::Active => VlsmState::Active,
            Ask::L1(level) => level.code(),
            Ask::L2 => VlsmState::L2,
            Ask::Deepest => VlsmState::Dapm,
        }
    }

    /// What a Request with a code asks; `None` for codes that no Request carries.
    pub fn of_code(code: VlsmState) -> Option<Ask> {
        let levels = Level::ALL.map(Ask::L1);
        [Ask::Active, Ask::L2, Ask::Deepest].into_iter().chain(levels).find(|a| a.code() == code)
    }

    /// The power state it names; `None` for Active and for the deepest one, which depends on the other side.
    pub const fn power_state(self) -> Option<State> {
        match self {
            Ask::L1(level) => Some(State::L1(level)),
            Ask::L2 => Some(State::L2),
            Ask::Active | Ask::Deepest => None,
        }
    }

    /// The power state that a Request for `self` leads to where `allowed` is the deepest one; `None`: refused.
    ///
    /// Our choice: a Request is granted as it stands or not at all; two sides that both leave the depth open meet in L2.
    pub fn granted(self, allowed: Ask) -> Option<State> {
        let deepest = match allowed {
            Ask::Active => return None,
            Ask::Deepest => State::L2,
            Ask::L1(_) | Ask::L2 => allowed.power_state()?,
        };
        let asked = match self {
            Ask::Active => return None,
            Ask::Deepest => deepest,
            Ask::L1(_) | Ask::L2 => self.power_state()?,
        };
        // The order of `State` puts the levels of L1 by depth and L2 behind them.
        (asked <= deepest).then_some(asked)
    }
}

/// One row of the resolution table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resolution {
    /// Status sent.
    pub sent: Family,
    /// Status received.
    pub received: Family,
    /// State that follows.
    pub resolved: Family,
}

const fn row(sent: Family, received: Family, resolved: Family) -> Resolution {
    Resolution { sent, received, resolved }
}

use Family::{Active, L1, L2, Reset, Retrain};

/// What follows from the two Status of a synchronisation, in order of the sheet. Other pairs are undefined.
pub const RESOLUTION: [Resolution; 17] = [
    row(Reset, Reset, Reset),
    row(Reset, Active, Active),
    row(Reset, L2, Reset),
    row(Active, Reset, Active),
    row(Active, Active, Active),
    row(Active, Retrain, Active),
    row(Active, L1, Retrain),
    row(Active, L2, Reset),
    row(Retrain, Active, Active),
    row(Retrain, Retrain, Retrain),
    row(Retrain, L1, Retrain),
    row(L1, Active, L1),
    row(L1, Retrain, L1),
    row(L1, L1, L1),
    row(L2, Active, L2),
    row(L2, Reset, L2),
    row(L2, L2, L2),
];

/// The state after a synchronisation; `None`: the sheet does not define the pair.
///
/// Where the table says L1 the side that sent L1 stays at its own level.
pub fn resolve(sent: State, received: State) -> Option<State> {
    let row = RESOLUTION.iter().find(|r| r.sent == sent.family() && r.received == received.family())?;
    Some(match row.resolved {
        Family::Reset => State::Reset,
        Family::Active => State::Active,
        Family::Retrain => State::Retrain,
        // Rows that lead to L1 and L2 begin there.
        Family::L1 | Family::L2 => sent,
    })
}

/// Why a vLSM changes its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Status{Active} has gone both ways.
    Handshake,
    /// A Request for a power state was granted.
    Granted,
    /// Request{Active}, sent or received.
    Wake,
    /// Two Status were resolved after recovery.
    Resolved,
    /// The physical link has come up from its down state.
    LinkReset,
}

/// One row of the transition table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// From this state.
    pub from: Family,
    /// For this reason.
    pub cause: Cause,
    /// To this state.
    pub to: Family,
}

const fn step(from: Family, cause: Cause, to: Family) -> Transition {
    Transition { from, cause, to }
}

/// Changes of state outside synchronisation, whose rows are those of [`RESOLUTION`].
pub const TRANSITIONS: [Transition; 10] = [
    step(Reset, Cause::Handshake, Active),
    step(Retrain, Cause::Handshake, Active),
    step(Active, Cause::Granted, L1),
    step(Active, Cause::Granted, L2),
    step(L1, Cause::Wake, Retrain),
    step(L2, Cause::Wake, Reset),
    step(Active, Cause::LinkReset, Reset),
    step(L1, Cause::LinkReset, Reset),
    step(L2, Cause::LinkReset, Reset),
    step(Retrain, Cause::LinkReset, Reset),
];

/// A change of state that a vLSM has made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// From this state.
    pub from: State,
    /// For this reason.
    pub cause: Cause,
    /// To this state.
    pub to: State,
}

/// Judges a change of state: the rule that it breaks, if any.
pub fn check_move(made: &Move) -> Option<Violation> {
    let (from, to) = (made.from.family(), made.to.family());
    let legal = match made.cause {
        Cause::Resolved => RESOLUTION.iter().any(|r| r.sent == from && r.resolved == to),
        cause => TRANSITIONS.contains(&Transition { from, cause, to }),
    };
    let rule = match (legal, from) {
        (true, _) => return None,
        (false, _) if made.cause == Cause::Resolved => "CXL68-VLS-07",
        (false, Family::L1 | Family::L2) => "CXL68-VLS-05",
        (false, _) => "CXL68-VLS-01",
    };
    let found = format!("{:?} to {:?} by {:?}", made.from, made.to, made.cause);
    Some(Violation::at_byte(rule, STATE_BYTE, found, "a row of the transition table", "change of a vLSM's state"))
}

/// What two vLSMs ask of the physical layer: Active wins over all, and Retrain is on the way there; a vLSM in Reset follows
/// the other one; L1 wins over L2, and the shallower level over the deeper one.
pub fn resolve_phy(io: State, cachemem: State) -> State {
    match (io, cachemem) {
        (State::Active | State::Retrain, _) | (_, State::Active | State::Retrain) => State::Active,
        (State::Reset, other) | (other, State::Reset) => other,
        (State::L1(a), State::L1(b)) => State::L1(a.min(b)),
        (State::L1(level), State::L2) | (State::L2, State::L1(level)) => State::L1(level),
        (State::L2, State::L2) => State::L2,
    }
}

/// Judges what an ARB/MUX asked of the physical layer for two vLSMs in these states.
pub fn check_phy(io: State, cachemem: State, asked: State) -> Option<Violation> {
    let expected = resolve_phy(io, cachemem);
    let text = "state that two vLSMs ask of the physical layer";
    let violation = |asked| Violation::at_byte("CXL68-VLS-09", STATE_BYTE, asked, format!("{expected:?}"), text);
    (asked != expected).then(|| violation(format!("{asked:?}")))
}
