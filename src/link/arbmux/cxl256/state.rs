//! States of a vLSM in 256B mode and the changes between them (`cxl-256b` §6).

use crate::arbmux::state::{self as shared, L1Level};
use scalepool_protocols::wire::Violation;

/// Byte of an ALMP flit that holds the state or the kind of an L0p message.
pub const STATE_BYTE: usize = 4;

/// State of a vLSM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Reset.
    Reset,
    /// Active: flits of the protocol may travel.
    Active,
    /// Active.PMNAK, of the upstream port alone: its Request for a power state was refused. It receives as in Active and has
    /// to ask for Active before it sends or asks for anything else.
    PmNak,
    /// A level of L1.
    L1(L1Level),
    /// L2.
    L2,
    /// Retrain: on the way from L1 to Active. No ALMP of ours names it.
    Retrain,
}

impl State {
    /// All states.
    pub const ALL: [State; 9] = [
        State::Reset,
        State::Active,
        State::PmNak,
        State::L1(L1Level::L1_0),
        State::L1(L1Level::L1_1),
        State::L1(L1Level::L1_2),
        State::L1(L1Level::L1_3),
        State::L2,
        State::Retrain,
    ];

    /// The state that it means for the physical layer.
    pub const fn phy(self) -> shared::State {
        match self {
            State::Reset => shared::State::Reset,
            State::Active | State::PmNak => shared::State::Active,
            State::L1(level) => shared::State::L1(level),
            State::L2 => shared::State::L2,
            State::Retrain => shared::State::Retrain,
        }
    }

    /// Whether payload of the peer may arrive in it.
    pub const fn may_receive(self) -> bool {
        matches!(self, State::Active | State::PmNak)
    }
}

impl From<shared::State> for State {
    fn from(state: shared::State) -> State {
        match state {
            shared::State::Reset => State::Reset,
            shared::State::Active => State::Active,
            shared::State::L1(level) => State::L1(level),
            shared::State::L2 => State::L2,
            shared::State::Retrain => State::Retrain,
        }
    }
}

/// Why a vLSM changes its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Status{Active} has gone both ways; out of PMNAK it has come.
    Handshake,
    /// A Request for a power state was granted.
    Granted,
    /// A Request for a power state was refused.
    Refused,
    /// Request{Active}, sent or received.
    Wake,
    /// The link has come up from its down state.
    LinkReset,
}

impl Cause {
    /// All causes.
    pub const ALL: [Cause; 5] = [Cause::Handshake, Cause::Granted, Cause::Refused, Cause::Wake, Cause::LinkReset];
}

/// A change of state that a vLSM has made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vlsm256Move {
    /// From this state.
    pub from: State,
    /// For this reason.
    pub cause: Cause,
    /// To this state.
    pub to: State,
}

/// Judges a change of state: the rule that it breaks, if any.
pub fn check_move(made: &Vlsm256Move) -> Option<Violation> {
    use State::{Active, L1, L2, PmNak, Reset, Retrain};
    let legal = match made.cause {
        Cause::Handshake => matches!((made.from, made.to), (Reset | Retrain | PmNak, Active)),
        Cause::Granted => matches!((made.from, made.to), (Active, L1(_) | L2)),
        Cause::Refused => matches!((made.from, made.to), (Active, PmNak)),
        Cause::Wake => matches!((made.from, made.to), (L1(_), Retrain) | (L2, Reset)),
        Cause::LinkReset => made.to == Reset && made.from != Reset,
    };
    let rule = match made.cause {
        Cause::Granted | Cause::Refused => "CXL256-ALM-04",
        Cause::Handshake if made.from == PmNak => "CXL256-ALM-04",
        Cause::Handshake | Cause::Wake | Cause::LinkReset => "CXL256-ALM-03",
    };
    let found = format!("{:?} to {:?} by {:?}", made.from, made.to, made.cause);
    let expected = "a row of the transition table";
    (!legal).then(|| {
        Violation::at_byte(
            rule,
            STATE_BYTE,
            found,
            expected,
            "the vLSM has changed its state in a way that the table does not have",
        )
    })
}
