//! `cxl-68b`, `cxl-256b`, `cxl-256b-lopt`, `cxl-256b-pbr`: links of CXL.cache and CXL.mem, one kind a flit mode; `cxl-io`: links
//! of CXL.io in the mode that their ends train to, with CXL.mem beside it or without.
//!
//! The kinds differ in their link ends and in nothing else. The first end is that of the host; what it sends goes down.
//! Between ports that keep lines coherent all classes of CXL.cache and CXL.mem travel, each by a channel of its own; between
//! others those of CXL.mem, by a channel of its own each at switches and where the component stands outside by its messages;
//! between switches with port based routing each class travels both ways.

mod cxl256;
mod cxl68;
mod cxl_io;
mod site;

pub use cxl_io::CXL_IO;
pub(crate) use cxl_io::{COMPLETION, NON_POSTED, POSTED};
pub use cxl68::CXL_68B;
pub use cxl256::{CXL_256B, CXL_256B_LOPT, CXL_256B_PBR};

use super::cable::Cable;
use crate::channels::ChannelWait;
use crate::field::{FieldRange, config};
use crate::kind::{CoherenceProtocol, ComponentPlug, ConfigFinding, LinkSite, PortRole};
use crate::metric::MetricValue;
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_kernel::{Binder, BuildError, InEnd, OutEnd, PartitionBuilder};
use scalepool_link::coverage::Met;
use scalepool_link::fault::Fault;
use scalepool_link::port::{Channels, MakesAgents, MakesPort, PortAgent};
use scalepool_nodes::cxl::coherent::wiring::{self, LinkExtras};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::message::{Class, MessageForm, TransactionRole};

/// Listed faults.
const FAULTS: &str =
    "flip:FLIT:BIT, noise:FLIT, drop:FLIT, dup:FLIT, vanish:FLIT; `up:` in front for the device's flits";

/// Names of the kinds of CXL.mem alone, for ports that take any of them.
pub const NAMES: &[&str] = &["cxl-68b", "cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"];

config! {
    /// When flits of CXL.cachemem have bytes.
    pub struct FlitBits {
        bits: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(&["watched", "always"]), "when its flits have bytes: watched (if left out) = where somebody looks at them or a fault may hit them, else messages, times, credits and counts alone are modelled, with the same results; always = in any run";
    }
}

impl FlitBits {
    /// Whether flits need bytes: somebody may look at them, or something may happen to them.
    fn has_bytes(&self, line: &CxlLine, site: &LinkSite<'_>) -> bool {
        let is_faulty = line.ber > 0.0 || !line.fault.is_empty();
        site.is_watched
            || is_faulty
            || site.offers.iter().any(|offer| offer.declares_viral)
            || self.bits.as_deref() == Some("always")
    }
}

config! {
    /// What links of every flit mode have.
    pub struct CxlLine with { cable: Cable } {
        width: u8 = "16" [Unit::Of("lanes")] in FieldRange::OneOf(&[1, 2, 4, 8, 16]), "lanes (cxl-68b §1.3)";
        mdh: bool = "on" [Unit::Of("-")] in FieldRange::Switch, "allow several data headers in one slot (cxl-68b §5.3, cxl-256b §5.3)";
        ber: f64 = "0" [Unit::Of("errors per bit")] in FieldRange::Real(0.0, 0.1), "bit error rate of both directions, before FEC";
        give_up: u32 = "64" [Unit::Of("tries")] in FieldRange::Int(1, 1 << 20), "trainings and replays in a row, without one good payload unit, after which the run ends (SIM-LNK-01)";
        fault: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts(FAULTS), "faults to inject at numbered flits, counted from 0 in the order sent, flits without messages included";
        credits_hold: u64 = "0" [Unit::Of("flit clocks")] in FieldRange::Int(0, 1 << 20), "time for which the device holds back freed credits";
        buffers: u16 = "256" [Unit::Of("messages per channel")] in FieldRange::Int(1, 1023), "receive buffers of each channel";
        tx_pipeline: u64 = "8 ns" [Unit::Time] in FieldRange::Int(0, 1 << 40), "delay of the transmit pipeline";
        rx_pipeline: u64 = "8 ns" [Unit::Time] in FieldRange::Int(0, 1 << 40), "delay of the receive pipeline";
        propagation: u64 = "2 ns" [Unit::Time] in FieldRange::Int(0, 1 << 40), "propagation delay of the wire";
        retrain: u64 = "1 us" [Unit::Time] in FieldRange::Int(1, 1 << 50), "duration of link training";
    }
}

impl CxlLine {
    /// Time from one end to the other, without that of the unit itself \[fs\].
    fn way_fs(&self) -> u64 {
        self.tx_pipeline + self.propagation + self.cable.delay_fs() + self.rx_pipeline
    }

    /// Time for which credits are held back, where a flit takes `num / den` fs \[fs\].
    fn hold_fs(&self, (num, den): (u64, u64)) -> u64 {
        self.credits_hold.saturating_mul(num / den + 1)
    }

    /// The slowest stage of the way, the last of several.
    fn slowest(&self) -> &'static str {
        let own =
            [("rx_pipeline", self.rx_pipeline), ("propagation", self.propagation), ("tx_pipeline", self.tx_pipeline)];
        self.cable.slowest(own)
    }

    /// Listed faults, of what the host sends and of what the device sends; and those that are none.
    fn faults(&self, unit_bytes: usize) -> ([Vec<Fault>; 2], Vec<ConfigFinding>) {
        super::faults(&self.fault, unit_bytes, FAULTS)
    }
}

/// A link that is not built yet.
struct CxlLink<E> {
    host: E,
    device: E,
    line: CxlLine,
    /// Bytes of what travels in one flit clock.
    unit_bytes: usize,
    /// Time of that as a fraction \[fs\], (numerator, denominator).
    unit_time_fs: (u64, u64),
    /// Units are used by halves.
    halves: bool,
    /// How messages of CXL.mem and CXL.cache are spelled.
    form: MessageForm,
    /// Its components keep lines coherent: all classes of messages travel, and every class has a channel of its own.
    is_coherent: bool,
}

/// Bytes a second of whole units in one direction.
fn unit_bytes_per_s(unit_bytes: usize, (num, den): (u64, u64)) -> f64 {
    unit_bytes as f64 * 1e15 * den as f64 / num as f64
}

/// Attaches the port's side of the channels to its module.
type PortBinding<E> = Box<dyn FnOnce(&mut Binder<'_>) -> Vec<Box<dyn PortAgent<E>>>>;

/// The component's side of channels: to the link, from the link.
type ChannelEnds<T> = (OutEnd<T>, InEnd<T>);

/// Channels of a kind of items, `depth` deep, and the port's side of them, of which `agent` makes an agent.
fn channels<T: 'static, E: 'static>(
    p: &mut PartitionBuilder,
    name: &str,
    (depth, edges): (u32, u32),
    agent: fn(Channels<T>) -> Box<dyn PortAgent<E>>,
) -> Result<(ChannelEnds<T>, PortBinding<E>), BuildError> {
    let (tx, to_link) = p.channel::<T>(&format!("{name}.tx"), depth, 1)?;
    let (from_link, rx) = p.channel::<T>(&format!("{name}.rx"), depth, edges)?;
    let attach: PortBinding<E> = Box::new(move |bind| {
        let channels = Channels { tx: bind.attach(to_link), rx: bind.attach(from_link) };
        vec![agent(channels)]
    });
    Ok(((tx, rx), attach))
}

/// Channels of an end with CXL.cache and CXL.mem: one for each class, or one for CXL.mem together.
fn messages<E: MakesAgents>(
    p: &mut PartitionBuilder,
    name: &str,
    edges: u32,
    classes: Option<Classes>,
) -> Result<(ComponentPlug, PortBinding<E>), BuildError> {
    /// Messages between an agent and its link end; channels are one flit clock or agent clock long.
    const DEPTH: u32 = 32;
    if let Some(classes) = classes {
        return classes.channels(p, name, edges);
    }
    let ((tx, rx), attach) = channels(p, name, (DEPTH, edges), E::agent)?;
    Ok((ComponentPlug::Cxl(tx, rx), attach))
}

/// Channels of an end with all classes of CXL.cache and CXL.mem.
#[derive(Debug, Clone, Copy)]
struct Classes {
    /// How messages are spelled: not every form has all classes.
    form: MessageForm,
    /// Directions of what the component sends.
    sends: &'static [Dir],
    /// What the component exchanges with the link beside messages.
    beside: LinkExtras,
}

impl Classes {
    /// A channel for each class.
    fn channels<E: MakesAgents>(
        self,
        p: &mut PartitionBuilder,
        name: &str,
        edges: u32,
    ) -> Result<(ComponentPlug, PortBinding<E>), BuildError> {
        let (node, port) = wiring::channels(p, &format!("{name}.node"), (self.sends, self.beside), self.form, edges)?;
        let attach: PortBinding<E> = Box::new(move |bind| vec![E::agent_by_class(port.attach(bind))]);
        Ok((ComponentPlug::Coherent(node), attach))
    }
}

/// Whether a link joins two switches, so that all of its classes travel both ways (`fabric` ISL-1).
fn is_between_switches(roles: [PortRole; 2]) -> bool {
    [[PortRole::SwitchFabric; 2], [PortRole::CachingFabric; 2]].contains(&roles)
}

/// Whether a link carries what keeps lines coherent.
fn is_coherent(site: &LinkSite<'_>) -> bool {
    coherence(site.roles).is_some()
}

/// What keeps lines coherent on a link; beside a port of a switch the other port says it.
fn coherence(roles: [PortRole; 2]) -> Option<CoherenceProtocol> {
    roles.into_iter().find_map(PortRole::coherence)
}

/// Classes of messages between ports: of what the host sends and of what the device sends.
fn classes(roles: [PortRole; 2]) -> [Vec<&'static str>; 2] {
    let is_snoop = |class: &Class| matches!(class.role(), TransactionRole::Snoop | TransactionRole::SnoopAnswer);
    let both = is_between_switches(roles);
    let carries = |class: &Class| match coherence(roles) {
        Some(CoherenceProtocol::Cache) => !class.is_mem(),
        Some(CoherenceProtocol::HdmDb) => class.is_mem(),
        // CXL.mem without back-invalidation.
        Some(CoherenceProtocol::HdmD) => !(class.is_mem() && is_snoop(class)),
        // Lines that devices keep coherent may be those of any device of the fabric.
        None if both => class.is_mem() || roles[0] == PortRole::CachingFabric,
        None => class.is_mem() && !is_snoop(class),
    };
    let sent = |dir| {
        let of_way = Class::ALL.into_iter().filter(|class| (both || class.dir() == dir) && carries(class));
        of_way.map(Class::name).collect()
    };
    [sent(Dir::Down), sent(Dir::Up)]
}

/// What a device whose memory has no other holders needs room for.
pub(super) fn answered_memory() -> Vec<ChannelWait> {
    use Class::*;
    let answered = |(request, answer): (Class, Class)| ChannelWait::answered(request.name(), answer.name());
    [(M2sReq, S2mDrs), (M2sReq, S2mNdr), (M2sRwd, S2mNdr)].map(answered).to_vec()
}

/// Figures of both ends together.
struct Figures {
    /// Units sent, by the host and by the device.
    units: [u64; 2],
    /// Messages sent, by layout; those of CXL.mem where nothing else travels.
    messages: Vec<(String, u64)>,
    /// Times that something was asked for again.
    retries: u64,
    /// Flit clocks in which a message waited for a credit.
    credit_stalls: u64,
    /// Further counts.
    counts: Vec<MetricValue>,
    /// Coverage points.
    coverage: Vec<Met>,
}

/// A link end that a component can use and that can be reported on.
trait Reported: MakesPort {
    /// Makes the channels between an end and its component, with this prefix in their names; what comes to the component
    /// is under way for so many edges of the port. `classes`: a channel for each, where the component keeps lines coherent.
    ///
    /// # Errors
    /// A mistake of ours.
    fn plug(
        p: &mut PartitionBuilder,
        name: &str,
        edges: u32,
        classes: Option<Classes>,
    ) -> Result<(ComponentPlug, PortBinding<Self>), BuildError>;

    /// Figures of a link from those of the host's end and the device's; `is_coherent`: all classes of CXL.cache and CXL.mem travel
    /// on it.
    fn figures(ends: [&Self::Report; 2], is_coherent: bool) -> Figures;

    /// The rule that stopped an end.
    fn stopped_by(end: &Self::Report) -> Option<&'static str>;

    /// What is not in its place when nothing is under way any more: credits that neither end has, flits that nobody will
    /// acknowledge. Each is a text of what was found and one of what was expected.
    fn astray(end: &Self::Report, peer: &Self::Report) -> Vec<(String, String)>;

    /// Buffers of the end that hold messages, by the name of their class.
    fn held(end: &Self::Report) -> Vec<(&'static str, u16)>;
}
