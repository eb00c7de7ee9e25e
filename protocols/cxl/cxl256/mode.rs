//! The three flit formats of 256B mode. A link has one of them, agreed in negotiation (`cxl-256b` §1.5).

use super::Routing;
use super::flit::SLOTS;
use super::slot::SlotKind;

/// The HS slot of a latency-optimised flit (`cxl-256b` §1.5).
const HS_SLOT: usize = 8;

/// Flit format of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// One CRC of 8 bytes.
    Standard,
    /// Two halves with a CRC of 6 bytes each: the even half can be used before the odd one is there.
    LatencyOptimised,
    /// Standard map, port based routing. Never latency-optimised.
    Pbr,
}

impl Mode {
    /// All modes.
    pub const ALL: [Mode; 3] = [Mode::Standard, Mode::LatencyOptimised, Mode::Pbr];

    /// Name of the protocol: `cxl-256b`, `cxl-256b-lopt`, `cxl-256b-pbr`.
    pub const fn protocol(self) -> &'static str {
        match self {
            Mode::Standard => "cxl-256b",
            Mode::LatencyOptimised => "cxl-256b-lopt",
            Mode::Pbr => "cxl-256b-pbr",
        }
    }

    /// Layouts of the messages.
    pub const fn routing(self) -> Routing {
        match self {
            Mode::Pbr => Routing::Pbr,
            _ => Routing::Hbr,
        }
    }

    /// Whether the flit has two halves.
    pub const fn is_lopt(self) -> bool {
        matches!(self, Mode::LatencyOptimised)
    }

    /// Kind of a slot, 0 to 14.
    pub const fn slot_kind(self, slot: usize) -> SlotKind {
        match slot {
            0 => SlotKind::H,
            HS_SLOT if self.is_lopt() => SlotKind::Hs,
            _ => SlotKind::G,
        }
    }

    /// The slot behind the row of G slots in which one stands.
    pub const fn g_slots_end(self, slot: usize) -> usize {
        if self.is_lopt() && slot < HS_SLOT { HS_SLOT } else { SLOTS }
    }
}
