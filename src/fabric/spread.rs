//! Which of several ports a message takes: the modes of routing groups (`fabric` RGT-3 to RGT-5) and policies of our own.
//!
//! Modelled: ports of shortest ways (primary) and of longer ones (secondary), each with the links that are left from there; how
//! many messages wait for each port, which is all that is known (local congestion). Detail: one decision, without time. Left out:
//! what others know of congestion further away.
//!
//! | policy | takes |
//! | --- | --- |
//! | `static` | the first port |
//! | `random` | the mix picks primary or secondary ports; any of these that has room |
//! | `congestion` | the mix picks; the one of these for which the fewest messages wait |
//! | `advanced` | the cheapest of all; a secondary port costs twice its backlog and one more |
//! | `valiant` | any of all |
//! | `ugal` | a primary port at random, or a secondary one if backlog times links is less there, by more than a threshold |
//!
//! A walk through one decision: ports without room are left out. Bits of the draw select between primary and secondary, and among
//! equals. A message of whose group no port has room waits, and is decided with the same draw again, so that a decision does
//! not depend on how often it is asked for.

/// A policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpreadPolicy {
    /// The first port.
    Static,
    /// Any port of the group that the mix picks.
    Random,
    /// The least loaded port of that group.
    Congestion,
    /// The cheapest port.
    Advanced,
    /// Any port.
    Valiant,
    /// Universal globally-adaptive load-balanced routing by local queues (UGAL-L, `fabric` §6.5).
    Ugal {
        /// By how much backlog times links of a longer way has to be less \[messages times links\].
        threshold: usize,
    },
}

/// Names of the policies, as descriptions choose them.
pub const SPREAD_NAMES: &[&str] = &["static", "random", "congestion", "advanced", "valiant", "ugal"];

impl SpreadPolicy {
    /// The policy of a name, with a threshold of 0.
    pub fn by_name(name: &str) -> Option<SpreadPolicy> {
        use SpreadPolicy::{Advanced, Congestion, Random, Static, Ugal, Valiant};
        let at = SPREAD_NAMES.iter().position(|known| *known == name)?;
        [Static, Random, Congestion, Advanced, Valiant, Ugal { threshold: 0 }].get(at).copied()
    }

    /// The policy with a threshold of its own; one without thresholds as it is.
    pub fn with_threshold(self, threshold: usize) -> SpreadPolicy {
        match self {
            SpreadPolicy::Ugal { .. } => SpreadPolicy::Ugal { threshold },
            other => other,
        }
    }

    /// Whether it chooses between primary and secondary ports by itself, and so has no use for a mix.
    pub const fn needs_longer_ways(self) -> bool {
        matches!(self, SpreadPolicy::Valiant | SpreadPolicy::Ugal { .. })
    }
}

/// A port, and the links to the destination over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpreadPort {
    /// The port.
    pub port: usize,
    /// Links that are left, this one included.
    pub links: usize,
}

/// The mix for which secondary ports are used where no primary one has room; below it are eighths of messages (`fabric` RGT-4).
pub const OVERFLOW_MIX: u8 = 7;

/// Ports that lead to a destination, and how one is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpreadGroup {
    /// Ports of shortest ways; one at least. The first one is that of what is routed statically.
    pub primary: Vec<SpreadPort>,
    /// Ports of longer ways.
    pub secondary: Vec<SpreadPort>,
    /// The policy.
    pub policy: SpreadPolicy,
    /// Code of the mix, 0 to 7 (`fabric` RGT-4): 7/8 to 1/8 of messages go to primary ports, or all for which there is room.
    pub mix: u8,
}

/// Messages that wait for a port; `None`: it has no room for the message.
pub type Backlog<'a> = &'a dyn Fn(usize) -> Option<usize>;

/// A port with room and what waits for it.
type Candidate = (SpreadPort, usize);

impl SpreadGroup {
    /// The port of a message with a random draw; `None`: no port that may be chosen has room.
    pub fn choose(&self, draw: u64, backlog: Backlog<'_>) -> Option<usize> {
        // Three bits for the mix, the others for what is picked.
        let (eighth, pick) = ((draw & 7) as u8, draw >> 3);
        let open = |ports: &[SpreadPort]| -> Vec<Candidate> {
            ports.iter().filter_map(|port| Some((*port, backlog(port.port)?))).collect()
        };
        let any = |among: &[Candidate]| {
            let at = pick.checked_rem(among.len() as u64)?;
            among.get(at as usize).copied()
        };
        let cheapest = |among: &[Candidate]| among.iter().min_by_key(|(_, waiting)| *waiting).copied();
        let mixed = || {
            let primary = open(&self.primary);
            // Primary ports without room are waited for, unless the mix is the one that overflows; there are none if all are lost.
            let is_overflow = self.primary.is_empty() || self.mix == OVERFLOW_MIX && primary.is_empty();
            let is_primary = self.mix == OVERFLOW_MIX || eighth < OVERFLOW_MIX - self.mix;
            match self.secondary.is_empty() || is_primary && !is_overflow {
                true => primary,
                false => open(&self.secondary),
            }
        };
        let chosen = match self.policy {
            SpreadPolicy::Static => open(self.primary.get(..1)?).first().copied(),
            SpreadPolicy::Random => any(&mixed()),
            SpreadPolicy::Congestion => cheapest(&mixed()),
            SpreadPolicy::Advanced => {
                let secondary = open(&self.secondary).into_iter().map(|(port, waiting)| (port, 2 * waiting + 1));
                cheapest(&open(&self.primary).into_iter().chain(secondary).collect::<Vec<_>>())
            }
            SpreadPolicy::Valiant => {
                any(&open(&self.primary).into_iter().chain(open(&self.secondary)).collect::<Vec<_>>())
            }
            SpreadPolicy::Ugal { threshold } => {
                let cost = |(port, waiting): &Candidate| port.links * waiting;
                match (any(&open(&self.primary)), any(&open(&self.secondary))) {
                    (Some(short), Some(long)) => {
                        Some(if cost(&short) <= cost(&long) + threshold { short } else { long })
                    }
                    (short, long) => short.or(long),
                }
            }
        };
        chosen.map(|(SpreadPort { port, .. }, _)| port)
    }

    /// The group without ports that are lost.
    pub fn without(&self, is_lost: impl Fn(usize) -> bool) -> SpreadGroup {
        let left = |ports: &[SpreadPort]| ports.iter().filter(|one| !is_lost(one.port)).copied().collect();
        SpreadGroup { primary: left(&self.primary), secondary: left(&self.secondary), ..*self }
    }

    /// All ports at which a message may leave.
    pub fn ports(&self) -> impl Iterator<Item = usize> + '_ {
        let of_static = if self.policy == SpreadPolicy::Static { 1 } else { usize::MAX };
        self.primary.iter().chain(&self.secondary).take(of_static).map(|port| port.port)
    }
}
