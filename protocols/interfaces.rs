//! Interfaces that cores have: their signals, who drives each one, and what it says.
//!
//! Modelled: the names behind a prefix, widths and meanings of the signals with which a unit of a link goes from a sender to a receiver.
//! Detail: one row a signal; how the signals move is in those that drive or watch them: the buses of the Python package, the
//! classes of `scalepool_pkg`, and `inspect`. All of them read this table. What is called *like* a public interface has its handshake and
//! no more. Left out: errors, parity, power states, retraining, requests for them, and credits that a sender gives back.
//!
//! \[D\] All names and handshakes: AXI-Stream has those of its public description (signals `TVALID` to `TUSER`); the others are like
//! CXS, LPIF and FDI as far as said here.
//!
//! A walk through one row: `tkeep` of `axi-stream` is driven by the sender, has a bit for each byte of a beat, and may be missing.

/// An interface.
#[derive(Debug, PartialEq, Eq)]
pub struct CoreInterface {
    /// As maps of `inspect` name it.
    pub key: &'static str,
    /// What it is like.
    pub doc: &'static str,
    /// Its signals.
    pub signals: &'static [InterfaceSignal],
}

/// A signal of an interface.
#[derive(Debug, PartialEq, Eq)]
pub struct InterfaceSignal {
    /// Behind the prefix.
    pub name: &'static str,
    /// What it says.
    pub role: SignalRole,
    /// Whether it has to be there.
    pub need: SignalNeed,
}

/// What a signal says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalRole {
    /// The sender offers a beat; with [`SignalRole::Offer`] beside it, where both are 1.
    Valid,
    /// The sender is ready to send.
    Offer,
    /// The receiver takes a beat that is offered.
    Ready,
    /// The bytes of a beat, byte 0 in bits 7:0.
    Data,
    /// Which bytes of a beat count: bit n for byte n.
    Keep,
    /// The last beat of a unit.
    Last,
    /// What goes beside a unit.
    User,
    /// A credit for each edge at which it is 1.
    Grant,
    /// The state that the sender asks for.
    StateRequest,
    /// The state in which the receiver is; data are offered in [`ACTIVE`].
    State,
    /// The protocol ID of a 68B flit (`cxl-68b` §1.2).
    ProtocolId,
    /// The CRC of a 68B flit (`cxl-68b` §1.3).
    Crc,
}

/// Whether a signal has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalNeed {
    /// Wherever the interface is driven or watched.
    Always,
    /// Where it is driven.
    Driven,
    /// Nowhere.
    Optional,
}

/// How wide a signal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalWidth {
    /// So many bits.
    Bits(u32),
    /// All bits of a beat.
    Beat,
    /// A bit for each byte of a beat.
    BeatBytes,
    /// As the design has it.
    User,
}

/// The state Active: code 1, as in LPIF.
pub const ACTIVE: u64 = 1;
/// Bits of a state.
pub const STATE_BITS: u32 = 4;
/// Bits of the slots of a 68B flit (`cxl-68b` §1.1).
pub const SLOTS_BITS: u32 = 512;
/// Bits of its protocol ID, and of its CRC (`cxl-68b` §1.1).
pub const SIDE_BITS: u32 = 16;
/// The key of the interface whose data are the slots alone.
pub const SLOTS68: &str = "slots68";

impl SignalRole {
    /// All of them.
    pub const ALL: [SignalRole; 12] = [
        SignalRole::Valid,
        SignalRole::Offer,
        SignalRole::Ready,
        SignalRole::Data,
        SignalRole::Keep,
        SignalRole::Last,
        SignalRole::User,
        SignalRole::Grant,
        SignalRole::StateRequest,
        SignalRole::State,
        SignalRole::ProtocolId,
        SignalRole::Crc,
    ];

    /// One word for it.
    pub const fn key(self) -> &'static str {
        match self {
            SignalRole::Valid => "valid",
            SignalRole::Offer => "offer",
            SignalRole::Ready => "ready",
            SignalRole::Data => "data",
            SignalRole::Keep => "keep",
            SignalRole::Last => "last",
            SignalRole::User => "user",
            SignalRole::Grant => "grant",
            SignalRole::StateRequest => "state_request",
            SignalRole::State => "state",
            SignalRole::ProtocolId => "pid",
            SignalRole::Crc => "crc",
        }
    }

    /// Whether the sender of units drives it; else the receiver does.
    pub const fn is_of_sender(self) -> bool {
        !matches!(self, SignalRole::Ready | SignalRole::Grant | SignalRole::State)
    }
}

impl CoreInterface {
    /// The interface of a key.
    pub fn find(key: &str) -> Option<&'static CoreInterface> {
        CORE_INTERFACES.iter().find(|interface| interface.key == key)
    }

    /// Its signal of a role.
    pub fn signal(&self, role: SignalRole) -> Option<&'static InterfaceSignal> {
        self.signals.iter().find(|signal| signal.role == role)
    }

    /// The width of one of its signals.
    pub fn width(&self, role: SignalRole) -> SignalWidth {
        match role {
            SignalRole::Data if self.key == SLOTS68 => SignalWidth::Bits(SLOTS_BITS),
            SignalRole::Data => SignalWidth::Beat,
            SignalRole::Keep => SignalWidth::BeatBytes,
            SignalRole::User => SignalWidth::User,
            SignalRole::StateRequest | SignalRole::State => SignalWidth::Bits(STATE_BITS),
            SignalRole::ProtocolId | SignalRole::Crc => SignalWidth::Bits(SIDE_BITS),
            _ => SignalWidth::Bits(1),
        }
    }
}

const fn always(name: &'static str, role: SignalRole) -> InterfaceSignal {
    InterfaceSignal { name, role, need: SignalNeed::Always }
}

const fn driven(name: &'static str, role: SignalRole) -> InterfaceSignal {
    InterfaceSignal { name, role, need: SignalNeed::Driven }
}

const fn optional(name: &'static str, role: SignalRole) -> InterfaceSignal {
    InterfaceSignal { name, role, need: SignalNeed::Optional }
}

/// All interfaces.
pub const CORE_INTERFACES: [CoreInterface; 4] = [
    CoreInterface {
        key: "axi-stream",
        doc: "AXI-Stream: a packet is a unit, a beat is transferred where tvalid and tready are 1",
        signals: &[
            always("tvalid", SignalRole::Valid),
            optional("tready", SignalRole::Ready),
            always("tdata", SignalRole::Data),
            optional("tkeep", SignalRole::Keep),
            optional("tlast", SignalRole::Last),
            optional("tuser", SignalRole::User),
        ],
    },
    CoreInterface {
        key: "credited",
        doc: "like CXS: a beat is transferred wherever valid is 1, and costs a credit",
        signals: &[
            always("valid", SignalRole::Valid),
            always("data", SignalRole::Data),
            optional("last", SignalRole::Last),
            driven("crdgnt", SignalRole::Grant),
        ],
    },
    CoreInterface {
        key: "state",
        doc: "like LPIF and FDI: a beat is transferred where irdy, valid and trdy are 1, in the state Active alone",
        signals: &[
            always("irdy", SignalRole::Offer),
            always("valid", SignalRole::Valid),
            always("data", SignalRole::Data),
            always("trdy", SignalRole::Ready),
            driven("state_req", SignalRole::StateRequest),
            driven("state_sts", SignalRole::State),
        ],
    },
    CoreInterface {
        key: SLOTS68,
        doc: "68B flits as the 512 bits of their slots, with protocol ID and CRC beside them or without",
        signals: &[
            always("valid", SignalRole::Valid),
            optional("ready", SignalRole::Ready),
            always("data", SignalRole::Data),
            optional("pid", SignalRole::ProtocolId),
            optional("crc", SignalRole::Crc),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_interface_has_a_role_once_and_what_a_beat_needs() {
        for interface in &CORE_INTERFACES {
            for role in SignalRole::ALL {
                let count = interface.signals.iter().filter(|signal| signal.role == role).count();
                assert!(count <= 1, "{}: {}", interface.key, role.key());
            }
            for role in [SignalRole::Valid, SignalRole::Data] {
                let signal = interface.signal(role).expect("a beat is offered and has bytes");
                assert_eq!(signal.need, SignalNeed::Always, "{}: {}", interface.key, signal.name);
            }
            assert_eq!(CoreInterface::find(interface.key), Some(interface));
        }
        assert_eq!(CoreInterface::find("none"), None);
    }
}
