//! Tables over the states of a vLSM in 68B mode: one row a line of the sheet (`cxl-68b` §8.2).

use crate::arbmux::state::{State, resolve_phy};
use scalepool_protocols::wire::Violation;

/// Byte of an ALMP unit that holds the state (`cxl-68b` §8.1: byte 2 of the flit, behind two bytes of protocol ID).
pub const STATE_BYTE: usize = 4;

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

impl State {
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
pub struct Vlsm68Move {
    /// From this state.
    pub from: State,
    /// For this reason.
    pub cause: Cause,
    /// To this state.
    pub to: State,
}

/// Judges a change of state: the rule that it breaks, if any.
pub fn check_move(made: &Vlsm68Move) -> Option<Violation> {
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
    Some(Violation::at_byte(
        rule,
        STATE_BYTE,
        found,
        "a row of the transition table",
        "the vLSM has changed its state in a way that the table does not have",
    ))
}

/// Judges what an ARB/MUX asked of the physical layer for two vLSMs in these states.
pub fn check_phy(io: State, cachemem: State, asked: State) -> Option<Violation> {
    let expected = resolve_phy(io, cachemem);
    let text = "the state asked of the physical layer does not follow from both vLSMs";
    let violation = |asked| Violation::at_byte("CXL68-VLS-09", STATE_BYTE, asked, format!("{expected:?}"), text);
    (asked != expected).then(|| violation(format!("{asked:?}")))
}
