//! What vLSMs of both flit modes share: instances, states, what clients ask, what two vLSMs ask of the physical layer.

use scalepool_protocols::cxl::cxl68::code::VlsmInstance;

/// Which protocol a vLSM is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArbMuxInstance {
    /// CXL.io.
    Io,
    /// CXL.cache and CXL.mem.
    Cachemem,
}

impl ArbMuxInstance {
    /// Both, in the order of their codes.
    pub const ALL: [ArbMuxInstance; 2] = [ArbMuxInstance::Io, ArbMuxInstance::Cachemem];

    /// Place in arrays.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its code in an ALMP.
    pub const fn code(self) -> VlsmInstance {
        match self {
            ArbMuxInstance::Io => VlsmInstance::Io,
            ArbMuxInstance::Cachemem => VlsmInstance::Cachemem,
        }
    }
}

/// A level of L1, shallowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum L1Level {
    /// L1.0.
    L1_0,
    /// L1.1.
    L1_1,
    /// L1.2.
    L1_2,
    /// L1.3.
    L1_3,
}

impl L1Level {
    /// All levels, shallowest first.
    pub const ALL: [L1Level; 4] = [L1Level::L1_0, L1Level::L1_1, L1Level::L1_2, L1Level::L1_3];
}

/// State of a vLSM, and state that the vLSMs ask of the physical layer. In 256B mode a vLSM has
/// [one more](super::cxl256::State).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Reset.
    Reset,
    /// Active: units of the protocol may travel.
    Active,
    /// A level of L1.
    L1(L1Level),
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
        State::L1(L1Level::L1_0),
        State::L1(L1Level::L1_1),
        State::L1(L1Level::L1_2),
        State::L1(L1Level::L1_3),
        State::L2,
        State::Retrain,
    ];
}

/// What a client asks of its vLSM.
///
/// At the upstream port a power state is a wish that becomes a Request. At the downstream port it is a permission: the
/// deepest state that a Request of the peer may lead to; without one, Requests for power states are refused, each mode in its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ask {
    /// Active.
    Active,
    /// A level of L1.
    L1(L1Level),
    /// L2.
    L2,
    /// The deepest power state that the other side allows (DAPM).
    Deepest,
}

impl Ask {
    /// All of them.
    pub const ALL: [Ask; 7] = [
        Ask::Active,
        Ask::Deepest,
        Ask::L1(L1Level::L1_0),
        Ask::L1(L1Level::L1_1),
        Ask::L1(L1Level::L1_2),
        Ask::L1(L1Level::L1_3),
        Ask::L2,
    ];

    /// The power state it names; `None` for Active and for the deepest one, which depends on the other side.
    pub const fn power_state(self) -> Option<State> {
        match self {
            Ask::L1(level) => Some(State::L1(level)),
            Ask::L2 => Some(State::L2),
            Ask::Active | Ask::Deepest => None,
        }
    }

    /// Whether a Status{state} grants a Request for it.
    pub fn is_answered_by(self, state: State) -> bool {
        let is_low = matches!(state, State::L1(_) | State::L2);
        is_low && (self == Ask::Deepest || self.power_state() == Some(state))
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
