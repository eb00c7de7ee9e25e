//! Kinds of links, and how one is built.
//!
//! Modelled: nothing; a kind says what its links carry, how long a unit takes, and makes both ends with the wire between them. Left out: the
//! ends themselves, which stand in the crate of links.
//!
//! A walk: a link is read to its configuration, judged with what its ends offer, and built once in each partition that has an end of it
//! ([`LinkEndSite`]).

use super::{
    Clocks, ComponentPlug, ConfigFinding, DomainMember, ExternalComponent, LINK_KEYS, LinkFacts, Offer, PortRole,
};
use crate::channels::ClassOrder;
use crate::document::Table;
use crate::field::{Config, Field};
use crate::measured::MeasureLink;
use crate::metric::{Metric, Metrics};
use crate::problem::{Problems, TextPlace};
use crate::{field, metric};
use scalepool_kernel::{BuildError, PartitionBuilder, Simulation};
use scalepool_link::sim_port::SimPort;
use scalepool_trace::Hub;

/// Units under way on a wire that is never silent, for an estimate of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitsInFlight {
    /// The field to change if that is too much.
    pub key: &'static str,
    /// Length of the wire \[fs\].
    pub way_fs: u64,
    /// Time of a unit as a fraction \[fs\].
    pub unit_time_fs: (u64, u64),
    /// Memory of a unit \[bytes\].
    pub unit_bytes: usize,
}

/// One end of a link before it has a place.
pub trait LinkEndSite: Send {
    /// Where it can be watched and driven.
    fn port(&self) -> SimPort;

    /// Takes its places in traces; called in the order of output.
    fn tap(&mut self, hub: &mut Hub);

    /// Puts it into the partition of its component; `None`: a caller drives it.
    ///
    /// # Errors
    /// A mistake of ours.
    fn place(
        self: Box<Self>,
        p: &mut PartitionBuilder,
        clocks: &mut Clocks,
    ) -> Result<Option<ComponentPlug>, BuildError>;
}

/// A link that is ready to be built.
pub struct BuiltLink {
    /// Its ends.
    pub ends: [Box<dyn LinkEndSite>; 2],
    /// Gives its figures, whenever the run is looked at.
    pub measure: MeasureLink,
}

/// Where a link stands.
#[derive(Debug)]
pub struct LinkSite<'a> {
    /// Path, `hosts[0]`.
    pub path: &'a str,
    /// Paths of its ports.
    pub ports: [&'a str; 2],
    /// Sides of its ports.
    pub roles: [PortRole; 2],
    /// Who stands at its ends.
    pub members: [DomainMember; 2],
    /// Its number among the links of its array, 0 for one without an index.
    pub index: usize,
    /// What they offer.
    pub offers: [Offer; 2],
    /// How a caller stands there, if one does.
    pub external: [Option<ExternalComponent>; 2],
    /// Somebody may look at the bytes of its flits.
    pub is_watched: bool,
    /// It joins two switches with virtual hierarchies.
    pub is_cascade: bool,
}

/// A link with its configuration.
pub trait Link: Send {
    /// What it tells the components.
    fn facts(&self) -> LinkFacts;

    /// Fields that do not go together: name and text.
    fn check(&self) -> Vec<ConfigFinding>;

    /// Names of what the first end sends and of what the second one sends, in reports.
    fn directions(&self, roles: [PortRole; 2]) -> [&'static str; 2] {
        let _ = roles;
        ["down", "up"]
    }

    /// Classes of messages with a flow control of their own: of what the first end sends and of what the second one sends.
    fn channels(&self, roles: [PortRole; 2]) -> [Vec<&'static str>; 2];

    /// Classes that it may hold behind others of the same direction.
    fn order(&self) -> Vec<ClassOrder> {
        Vec::new()
    }

    /// What is under way on each of its two wires, if that is a matter of memory; `index` is its place in its array, from 0.
    fn on_wire(&self, roles: [PortRole; 2], index: usize) -> Option<UnitsInFlight> {
        let _ = (roles, index);
        None
    }

    /// Time for which its settings hold back credits, in which nothing need get done \[fs\].
    fn hold_fs(&self) -> u64 {
        0
    }

    /// A time above all its time-outs, after which a run without progress is over \[fs\]. By default that of CXL: 4096 flits
    /// at the slowest line rate take 2.3 ms.
    fn settle_fs(&self) -> u64 {
        20_000_000_000_000
    }

    /// Time that its settings make a unit take from one end to the other \[fs\]; `index` is its place in its array, from 0.
    fn latency_fs(&self, index: usize) -> u64;

    /// Fields that do not go with what its ends offer: name and text.
    fn check_joined(&self, offers: [Offer; 2]) -> Vec<ConfigFinding> {
        let _ = offers;
        Vec::new()
    }

    /// Bit error rate.
    fn ber(&self) -> f64;

    /// Makes both ends and the wire.
    ///
    /// # Errors
    /// A mistake of ours: what the configuration may hold, the link layer takes.
    fn build(self: Box<Self>, sim: &mut Simulation, site: &LinkSite<'_>) -> Result<BuiltLink, BuildError>;
}

/// Reads the table of a link.
pub type ReadLink = fn(&Table, TextPlace, &str, &mut Problems, &mut Vec<(String, String)>) -> Box<dyn Link>;

/// A kind of link.
pub struct LinkKind {
    /// Name in descriptions.
    pub name: &'static str,
    /// What it carries.
    pub about: &'static str,
    /// Fields of its table.
    pub fields: fn() -> Vec<&'static Field>,
    /// Reads them.
    pub read: ReadLink,
    /// What it can count beside what every link has.
    pub metrics: Metrics,
}

impl LinkKind {
    /// All figures that it can have, in the order of reports.
    pub fn all_metrics(&self) -> impl Iterator<Item = &'static Metric> {
        [metric::OF_LINKS].into_iter().chain(self.metrics.iter().copied()).flatten().copied()
    }
}

/// Reads the table of a link to a configuration that is one.
pub fn link<C: Config + Link + 'static>(
    table: &Table,
    place: TextPlace,
    path: &str,
    problems: &mut Problems,
    resolved: &mut Vec<(String, String)>,
) -> Box<dyn Link> {
    Box::new(field::read::<C>(table, place, path, LINK_KEYS, problems, resolved))
}
