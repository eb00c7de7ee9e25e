//! What a description can be made of: kinds of components and of links.
//!
//! A kind is one file and one line in [`COMPONENTS`] or [`LINKS`]: a configuration, its ports, and how it is put into a
//! partition. A component exchanges messages with its ports and never sees a flit; a link owns both its ends and the wire.
//!
//! A walk through one component: its table is read to a configuration, which says what ports there are; links are joined
//! to the ports; when all fits, the component is told who is at the other end of each port ([`Site`]) and becomes modules of
//! a partition and a place where its figures will be ([`ComponentNode`]).

mod link;
mod port;

use super::channels::ChannelWait;
use super::coherence::{Coherent, Seat};
use super::document::Table;
use super::field::{self, Config, Field};
use super::hierarchies::HierarchyNumbers;
use super::kinds;
use super::kinds::gfd::PbrRequesters;
use super::measured::Measure;
use super::memory_map::{MapView, Span};
use super::metric::{self, Metric, Metrics};
use super::outside;
use super::pbr_fabric::{PbrDecl, PbrSite};
use super::problem::{Problems, TextPlace};
pub use link::{BuiltLink, Link, LinkEndSite, LinkKind, LinkSite, UnitsInFlight, link};
pub use port::{Carried, CoherenceProtocol, CxlSide, LinkFacts, MOST_GAPS, Offer, PortDecl, PortRole};
use scalepool_bridge::window::{BridgeWindow, InboundClass};
use scalepool_coherence::cache::route::CacheRoutes;
use scalepool_coherence::clocked::litmus::LitmusRuns;
use scalepool_fabric::cxl_switch::VppbBinding;
use scalepool_fabric::nvlink_switch::NvlSwitchResult;
use scalepool_fabric::vc_router::VcPortEnds;
use scalepool_kernel::{BuildError, Clock, ClockId, InEnd, OutEnd, PartitionBuilder};
use scalepool_link::io_ends::IoItem;
use scalepool_link::{nvlink, ualink};
use scalepool_memory::dropped::DroppedStores;
use scalepool_nodes::cxl::coherent::dealt::DealtTrace;
use scalepool_nodes::cxl::coherent::wiring::NodeEnds;
use scalepool_nodes::fabric::traffic_node::TrafficNodeResult;
use scalepool_nodes::nvlink::ledger::NvlLedger;
use scalepool_nodes::tiers::caller::PlacementSlots;
use scalepool_nodes::ualink::ledger::UalLedger;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::message::{Message, MessageForm};
use scalepool_trace::Hub;
use std::any::Any;
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// All kinds of components.
pub static COMPONENTS: &[ComponentKind] = &[
    kinds::cxl_host::KIND,
    kinds::cxl_memory::KIND,
    kinds::memory_node::KIND,
    kinds::memory_pool::KIND,
    kinds::memory_tray::KIND,
    kinds::cxl_switch::hbr::KIND,
    kinds::cxl_switch::io::KIND,
    kinds::cxl_switch::io_pbr::KIND,
    kinds::cxl_switch::pbr::KIND,
    kinds::cxl_root::KIND,
    kinds::cxl_io_device::KIND,
    kinds::cxl_coherent::home::KIND,
    kinds::cxl_coherent::cache_device::KIND,
    kinds::cxl_coherent::cache_device::PEER,
    kinds::cxl_coherent::hdm_db_device::KIND,
    kinds::cxl_coherent::hdm_db_host::KIND,
    kinds::cxl_coherent::hdm_db_host::PEER,
    kinds::cxl_coherent::hdm_d::DEVICE,
    kinds::cxl_coherent::hdm_d::HOST,
    kinds::cxl_coherent::switch::FABRIC,
    kinds::ualink_accelerator::KIND,
    kinds::accelerator_coherent::KIND,
    kinds::accelerator_ualink::KIND,
    kinds::accelerator_nvlink::KIND,
    kinds::ualink_switch::KIND,
    kinds::bridge::ualink::KIND,
    kinds::bridge::nvlink::KIND,
    kinds::net_rdma::KIND,
    kinds::nvlink_gpu::KIND,
    kinds::nvlink_switch::KIND,
    kinds::fabric_node::KIND,
    kinds::fabric_router::KIND,
    kinds::fabric_crossbar::KIND,
    kinds::fabric_queue::KIND,
];

/// All kinds of links.
pub static LINKS: &[LinkKind] = &[
    kinds::cxl_links::CXL_68B,
    kinds::cxl_links::CXL_256B,
    kinds::cxl_links::CXL_256B_LOPT,
    kinds::cxl_links::CXL_256B_PBR,
    kinds::cxl_links::CXL_IO,
    kinds::ualink_link::KIND,
    kinds::nvlink_link::KIND,
    kinds::fabric_link::KIND,
];

/// The place of a component among those that links of a protocol join, over switches or directly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DomainMember {
    /// Its number among the nodes, in the order of the description: first peers, then others that may be asked, then the rest; of a
    /// switch 0.
    pub own: u16,
    /// Nodes in all.
    pub nodes: u16,
    /// Nodes that ask each other, such as GPUs; they have the first numbers.
    pub peers: u16,
    /// Nodes that others may ask for memory: peers, and bridges that lead to memory behind them.
    pub asked: u16,
    /// Whether a bridge among them refuses atomics, since a window of it leads to memory that nobody keeps coherent (`bridge` §4.1).
    pub refuses_atomics: bool,
    /// The shortest time after which a node of its fabric gives up what it has asked for \[fs\]; `None`: nobody gives up.
    pub gives_up_after_fs: Option<u64>,
    /// The first node of its fabric that asks does something else together with the others, or nothing.
    pub is_apart: bool,
    /// Number of the fabric that they are, by which traces tell identifiers of different fabrics apart.
    pub fabric: u32,
    /// The cache of the bridge that leads to its tier 2.
    pub tier2_cache: BridgeCacheFacts,
}

/// What others have to know of the cache of a bridge, and of its windows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BridgeCacheFacts {
    /// It keeps lines of memory behind it.
    pub keeps_lines: bool,
    /// First address of the registers by which they are flushed (`bridge` §9.9).
    pub control: Option<u64>,
    /// End of its windows for accelerators, those of commits among them; `None`: it has no windows.
    pub windows_end: Option<u64>,
}

/// What a node is to the others of its fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodePart {
    /// It asks the others, and is asked.
    Peer,
    /// It is asked for memory behind it, and may ask.
    Memory,
    /// It asks alone.
    Requester,
}

/// A port of a component that is joined to a link.
#[derive(Debug, Clone)]
pub struct SitePort {
    /// Path, `host[0].cxl`.
    pub path: String,
    /// Number of the link among all of the system, by which traces tell identifiers of different links apart.
    pub number: u32,
    /// The link.
    pub link: LinkFacts,
    /// What is at its other end.
    pub peer: Offer,
    /// The clock of that.
    pub peer_clock: Clock,
    /// Who that is.
    pub peer_member: DomainMember,
    /// Which of its ports that is, in the order of their declarations.
    pub peer_port: usize,
    /// Its side of the link.
    pub peer_role: PortRole,
    /// A switch with virtual hierarchies is there, and so is this: viral and hot resets pass.
    pub is_cascade: bool,
    /// Whose port this is may go viral, by what it does itself or by another switch of its cascade.
    pub goes_viral: bool,
    /// What keeps lines coherent there, or behind the switches with virtual hierarchies there.
    pub coherence: Option<CoherenceProtocol>,
    /// Its place among those that keep lines coherent, if it has one; it is known when the system is built.
    pub seat: Option<Seat>,
}

impl SitePort {
    /// Its place among those that keep lines coherent, of a port whose role says that it has one.
    pub fn seat(&self) -> &Seat {
        self.seat.as_ref().unwrap_or_else(|| unreachable!("every coherent port is followed from its home"))
    }
}

/// Where a component stands.
#[derive(Debug)]
pub struct Site<'a> {
    /// Path, `host[0]`.
    pub path: &'a str,
    /// Its clock.
    pub clock: Clock,
    /// Its place among those that it can reach.
    pub member: DomainMember,
    /// What it has to know of the memory map.
    pub map: MapView,
    /// The numbers of each of its virtual hierarchies, if it is a switch with any.
    pub hierarchies: Vec<HierarchyNumbers>,
    /// How it routes, if it is a switch with port based routing.
    pub pbr: Option<PbrSite>,
    /// Who asks it, if it has port based routing and stands at an edge port.
    pub requesters: Option<PbrRequesters>,
    /// Seed of the run.
    pub seed: u64,
    /// Its ports, in the order of their declarations.
    pub ports: &'a [SitePort],
    /// File of a stimulus that the command line names for it.
    pub stimulus: Option<PathBuf>,
    /// The trace of which it gets a share, if the command line names one.
    pub dealt: Option<DealtTrace>,
    /// The litmus program that its cores run in the place of their own stimulus.
    pub litmus: Option<&'a LitmusRuns>,
    /// If it is a memory with DRAM, it keeps all its commands.
    pub keeps_dram_commands: bool,
    /// Folder to which paths of the description are relative.
    pub folder: PathBuf,
    /// What components of a run have in common.
    pub shared: &'a Shared,
    /// A trace or a wave may be written, whose head has a hash of the stimulus.
    pub is_recorded: bool,
}

/// Things that several components of a run need and that are made once, by names that say all that they are made of.
#[derive(Default)]
pub struct Shared(RefCell<OrderedMap<String, Arc<dyn Any + Send + Sync>>>);

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.borrow().keys()).finish()
    }
}

impl Shared {
    /// The thing of a name and type, made if it is not there yet.
    pub fn get<T: Any + Send + Sync>(&self, name: &str, make: impl FnOnce() -> T) -> Arc<T> {
        let known = self.0.borrow().get(name).cloned().and_then(|thing| thing.downcast::<T>().ok());
        known.unwrap_or_else(|| {
            let thing = Arc::new(make());
            self.0.borrow_mut().insert(name.to_owned(), thing.clone());
            thing
        })
    }
}

impl Shared {
    /// Where functions of a caller decide about pages.
    pub fn placements(&self) -> Arc<PlacementSlots> {
        self.get("placements of pages", PlacementSlots::default)
    }
}

impl Site<'_> {
    /// Where functions of a caller decide about pages.
    pub fn placements(&self) -> Arc<PlacementSlots> {
        self.shared.placements()
    }

    /// Where those who drop a store and complete it tell the checkers of the run.
    pub fn dropped_stores(&self) -> Arc<DroppedStores> {
        self.shared.get("dropped stores", DroppedStores::default)
    }

    /// What its links carry, if that is the same for all of them; such a component works on their one clock of flits.
    ///
    /// # Errors
    /// The first port whose link differs.
    pub fn one_kind_of_link(&self) -> Result<Carried, NodeError> {
        let first = self.ports[0].link.carried;
        match self.ports.iter().find(|port| port.link.carried != first) {
            None => Ok(first),
            Some(other) => {
                let text = format!(
                    "found a link at {} of another rate, width or order than that at {}, expected links of one kind at all ports",
                    other.path, self.ports[0].path
                );
                Err(NodeError::Joined { path: self.path.to_owned(), text })
            }
        }
    }
}

/// The inner side of a port: what a component attaches.
pub enum ComponentPlug {
    /// Messages of CXL.mem and CXL.cache: to the link, from the link.
    Cxl(OutEnd<Message>, InEnd<Message>),
    /// The same, a channel for each class.
    Coherent(NodeEnds),
    /// TLPs of CXL.io, and messages of CXL.mem where they share the link.
    CxlIo(IoPlug),
    /// The end itself, to be bound by a module on the clock of flits.
    Ualink(Box<ualink::wiring::Socket>, ClockId),
    /// Channels of packets, and the clock of flits.
    Nvlink(nvlink::wiring::NvlPlug, ClockId),
    /// Flits and credits of no protocol, on the component's own clock.
    Flits(VcPortEnds),
}

/// The inner side of a port with CXL.io: to the link, from the link.
pub struct IoPlug {
    /// TLPs.
    pub io: (OutEnd<IoItem>, InEnd<IoItem>),
    /// Messages of CXL.mem, where they share the link.
    pub mem: Option<MemPlug>,
}

/// The inner side of a port with CXL.mem beside CXL.io.
pub enum MemPlug {
    /// All messages together: to the link, from the link.
    Together(OutEnd<Message>, InEnd<Message>),
    /// A channel for each class, at a switch.
    ByClass(NodeEnds),
}

impl MemPlug {
    /// Channels of all messages together, of a port of a host or a device.
    pub fn together(self) -> (OutEnd<Message>, InEnd<Message>) {
        match self {
            MemPlug::Together(tx, rx) => (tx, rx),
            MemPlug::ByClass(_) => unreachable!("ports of switches alone have a channel for each class"),
        }
    }

    /// Channels of classes, of a port of a switch.
    pub fn by_class(self) -> NodeEnds {
        match self {
            MemPlug::ByClass(ends) => ends,
            MemPlug::Together(..) => unreachable!("a port of a switch has a channel for each class"),
        }
    }
}

impl ComponentPlug {
    /// Channels of messages, of a port that takes CXL links alone.
    pub fn cxl(self) -> (OutEnd<Message>, InEnd<Message>) {
        match self {
            ComponentPlug::Cxl(tx, rx) => (tx, rx),
            _ => unreachable!("a port takes the links that it declares"),
        }
    }

    /// Channels of classes, of a port that keeps lines coherent.
    pub fn coherent(self) -> NodeEnds {
        match self {
            ComponentPlug::Coherent(ends) => ends,
            _ => unreachable!("a port takes the links that it declares"),
        }
    }

    /// Channels of TLPs and of messages beside them, of a port that takes links of CXL.io alone.
    pub fn cxl_io(self) -> IoPlug {
        match self {
            ComponentPlug::CxlIo(plug) => plug,
            _ => unreachable!("a port takes the links that it declares"),
        }
    }

    /// The link end and its clock, of a port that takes UALinks alone.
    pub fn ualink(self) -> (Box<ualink::wiring::Socket>, ClockId) {
        match self {
            ComponentPlug::Ualink(socket, clock) => (socket, clock),
            _ => unreachable!("a port takes the links that it declares"),
        }
    }

    /// Channels of packets and the clock of flits, of a port that takes NVLinks alone.
    pub fn nvlink(self) -> (nvlink::wiring::NvlPlug, ClockId) {
        match self {
            ComponentPlug::Nvlink(plug, clock) => (plug, clock),
            _ => unreachable!("a port takes the links that it declares"),
        }
    }

    /// Flits and credits, of a port that takes channels without a protocol alone.
    pub fn flits(self) -> VcPortEnds {
        match self {
            ComponentPlug::Flits(ends) => ends,
            _ => unreachable!("a port takes the links that it declares"),
        }
    }
}

/// Clocks of a partition: one domain for each clock, whoever asks for it.
#[derive(Default)]
pub struct Clocks(Vec<(Clock, ClockId)>);

impl Clocks {
    /// The domain of a clock, with this name if it is the first to ask for it.
    ///
    /// # Errors
    /// A name that the kernel refuses.
    pub fn id(&mut self, p: &mut PartitionBuilder, name: &str, clock: Clock) -> Result<ClockId, BuildError> {
        if let Some((_, id)) = self.0.iter().find(|(of, _)| *of == clock) {
            return Ok(*id);
        }
        let id = p.clock(name, clock)?;
        self.0.push((clock, id));
        Ok(id)
    }
}

/// Puts a component into a partition, once its ports are there.
pub type PlaceNode =
    Box<dyn FnOnce(&mut PartitionBuilder, ClockId, Vec<ComponentPlug>) -> Result<(), BuildError> + Send>;

/// A field that does not go with others, and the text that says why.
pub type ConfigFinding = (&'static str, String);

/// A component that is ready to be built.
pub struct ComponentNode {
    /// Puts it into its partition.
    pub place: PlaceNode,
    /// Gives its figures, whenever the run is looked at.
    pub measure: Measure,
    /// Bytes that name its stimulus where the description does not say it all.
    pub digest: Vec<u8>,
    /// What it has sent and taken, to be compared with what others have.
    pub ledger: Option<NodeLedger>,
}

/// What a node has sent and taken.
#[derive(Clone)]
pub enum NodeLedger {
    /// Of a UALink accelerator.
    Ualink(Arc<Mutex<UalLedger>>),
    /// Of an NVLink GPU, or of a bridge.
    Nvlink(Arc<Mutex<NvlLedger>>),
    /// Of an NVLink switch: for each of its ports the GPU there, and which of its links.
    NvlinkSwitch(Arc<Mutex<NvlSwitchResult>>, Vec<(usize, usize)>),
    /// Of a node without a protocol.
    Packets(Arc<Mutex<TrafficNodeResult>>),
}

/// Why a component cannot be made of a sound description.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The file of a stimulus.
    #[error(transparent)]
    Stimulus(#[from] scalepool_nodes::stimulus::TraceError),
    /// A generated stimulus.
    #[error(transparent)]
    Parameter(#[from] scalepool_nodes::stimulus::ParameterError),
    /// A cache.
    #[error(transparent)]
    Cache(#[from] scalepool_memory::cache::CacheConfigError),
    /// Links that lead to the wrong nodes, or settings that do not go together.
    #[error("{path}: {text}")]
    Joined {
        /// The component.
        path: String,
        /// What was found and what was expected.
        text: String,
    },
}

/// How requests pass a switch of CXL.io.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoPassage {
    /// Latency from port to port \[fs\].
    pub latency_fs: u64,
    /// Its upstream ports with the downstream ports that are bound below each; of a switch with port based routing none, as its fabric
    /// says what is bound.
    pub below: Vec<(usize, usize)>,
}

/// A component with its configuration.
pub trait Component: Send + Any {
    /// Its ports.
    fn ports(&self) -> Vec<PortDecl>;

    /// What it tells its neighbours.
    fn offer(&self) -> Offer {
        Offer::default()
    }

    /// The same at one of its ports.
    fn offer_at(&self, port: usize) -> Offer {
        let _ = port;
        self.offer()
    }

    /// Of who holds lines: how many from the first one on its core works on.
    fn core_lines(&self) -> Option<u64> {
        None
    }

    /// Fields that do not go together: name and text.
    fn check(&self) -> Vec<ConfigFinding> {
        Vec::new()
    }

    /// What is no mistake and may surprise: name of the field and text.
    fn warnings(&self) -> Vec<ConfigFinding> {
        Vec::new()
    }

    /// What is wrong with its tables of who asks it over a fabric with port based routing, each with its place if it is of one
    /// line; `map` is what it knows of the memory map.
    fn check_requesters(&self, map: &MapView, requesters: &PbrRequesters) -> Vec<(Option<TextPlace>, String)> {
        let _ = (map, requesters);
        Vec::new()
    }

    /// Fields that do not go with the links at its ports, or with who is at their other ends: name and text.
    fn check_joined(&self, clock: Clock, member: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let _ = (clock, member, ports);
        Vec::new()
    }

    /// Of a bridge: windows from CXL to the accelerators of its fabric.
    fn exported(&self) -> Vec<BridgeWindow<InboundClass>> {
        Vec::new()
    }

    /// Whether it asks for memory by system addresses, so that windows of the memory map lead from it.
    fn uses_memory_map(&self) -> bool {
        false
    }

    /// Of a switch with virtual hierarchies: how many upstream ports it has, which are its first ones, and for each vPPB what
    /// is bound to it, now or first of all.
    fn hierarchies(&self) -> Option<(usize, Vec<VppbBinding>)> {
        None
    }

    /// Of a switch of CXL.io: how a request of a host passes it.
    fn io_passage(&self, clock: Clock) -> Option<IoPassage> {
        let _ = clock;
        None
    }

    /// Of a switch with port based routing: its edge ports and its bindings.
    fn pbr(&self) -> Option<PbrDecl<'_>> {
        None
    }

    /// Addresses that its settings ask for and that lie in none of the windows that it reaches: name of the field and text.
    /// `None`: there is no memory map, and what is at its port begins at 0.
    fn check_addresses(&self, windows: Option<&[Span]>, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let _ = (windows, ports);
        Vec::new()
    }

    /// Why no window of the memory map can lead to it, if it offers no memory.
    fn why_no_window(&self) -> &'static str {
        "which has no memory"
    }

    /// Pairs of nodes between which nothing may come: from and to.
    fn denied(&self) -> Vec<(u16, u16)> {
        Vec::new()
    }

    /// What it is to the coherence of lines; `path` is its own.
    fn coherent(&self, _path: &str) -> Option<Coherent> {
        None
    }

    /// Of a switch with virtual hierarchies: the way of messages of CXL.cache through one of them, by its numbers and the forms of
    /// messages on its ports, or why these do not fit.
    fn cache_routes(&self, _vcs: usize, _: &HierarchyNumbers, _forms: &[MessageForm]) -> Result<CacheRoutes, String> {
        Err("it is no switch with virtual hierarchies".to_owned())
    }

    /// Accesses in a block, if it takes its share of a trace that is dealt to several components in blocks.
    fn shares_stimulus(&self) -> Option<u64> {
        None
    }

    /// Whether it takes the file of a stimulus.
    fn takes_stimulus(&self) -> bool {
        false
    }

    /// Which messages that come in are taken only when there is room for which ones that go out; every other class is always
    /// taken, because a place was set aside for it. `None`: nobody has said it, so any may wait for any.
    fn waits(&self) -> Option<Vec<ChannelWait>> {
        None
    }

    /// Longest time that its settings make it wait by itself \[fs\]: for its start, its latency, its own time-out. A run in which
    /// nothing is done for that long has not stalled.
    fn own_wait_fs(&self, clock: Clock) -> u64 {
        let _ = clock;
        0
    }

    /// Column and row in a drawing, of a component whose place is more than its distance from those that ask.
    fn drawn_at(&self) -> Option<(usize, usize)> {
        None
    }

    /// Of a node: what it is to the others of its fabric.
    fn node_part(&self) -> NodePart {
        NodePart::Peer
    }

    /// What it does together with the other nodes of its fabric that ask, in words; `None`: nothing that others have to do too.
    fn joint_traffic(&self) -> Option<String> {
        None
    }

    /// Of a node: after which time it gives up what it has asked the others for \[fs\]; `None`: it waits for ever.
    fn gives_up_after_fs(&self) -> Option<u64> {
        None
    }

    /// Of a node: whether it refuses atomics of others by what it is, for some of its memory or for all.
    fn refuses_atomics(&self) -> bool {
        false
    }

    /// Of a bridge: its cache.
    fn bridge_cache(&self) -> BridgeCacheFacts {
        BridgeCacheFacts::default()
    }

    /// Which of the bridges of its fabric leads to its tier 2, in the order of the description; `None`: it has no tier 2.
    fn tier2_bridge(&self) -> Option<u16> {
        None
    }

    /// Whether it asks for anything, so that the rate of its ports is what goodput is judged against.
    fn asks(&self) -> bool {
        false
    }

    /// Makes it ready to be built.
    ///
    /// # Errors
    /// A stimulus that cannot be used.
    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError>;
}

/// Reads the table of a component.
pub type ReadComponent = fn(&Table, TextPlace, &str, &mut Problems, &mut Vec<(String, String)>) -> Box<dyn Component>;

/// A kind of component.
pub struct ComponentKind {
    /// Name in descriptions.
    pub name: &'static str,
    /// What it models.
    pub about: &'static str,
    /// Fields of its table.
    pub fields: fn() -> Vec<&'static Field>,
    /// Reads them.
    pub read: ReadComponent,
    /// What may stand in `external`: names of [`ExternalComponent`].
    pub external: &'static [&'static str],
    /// What it can count beside what every component has.
    pub metrics: Metrics,
}

impl ComponentKind {
    /// All figures that it can have, in the order of reports.
    pub fn all_metrics(&self) -> impl Iterator<Item = &'static Metric> {
        let has_messages = self.external.contains(&ExternalComponent::Messages.name());
        let outside = has_messages.then_some(outside::METRICS);
        self.metrics.iter().copied().chain(outside).chain([metric::OF_COMPONENTS]).flatten().copied()
    }
}

/// How a component stands outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExternalComponent {
    /// The caller stands for its link ends too: flits are exchanged.
    Flits,
    /// The model keeps its link ends: messages are exchanged.
    Messages,
}

impl ExternalComponent {
    /// As descriptions name it.
    pub const fn name(self) -> &'static str {
        match self {
            ExternalComponent::Flits => "flits",
            ExternalComponent::Messages => "messages",
        }
    }

    /// What a kind offers, by name.
    pub fn of(kind: &ComponentKind, name: &str) -> Option<ExternalComponent> {
        let offered = |how: &ExternalComponent| how.name() == name && kind.external.contains(&name);
        [ExternalComponent::Flits, ExternalComponent::Messages].into_iter().find(offered)
    }
}

/// Fields of a kind of component.
pub fn component_fields(kind: &str) -> Option<Vec<&'static Field>> {
    COMPONENTS.iter().find(|known| known.name == kind).map(|known| (known.fields)())
}

/// Keys of a component's table that every kind has.
pub const COMPONENT_KEYS: &[&str] = &["kind", "count", "clock", "at", "external"];
/// Keys of a link's table that every kind has.
pub const LINK_KEYS: &[&str] = &["kind", "between", "at"];

/// Reads the table of a component to a configuration that is one.
pub fn component<C: Config + Component + 'static>(
    table: &Table,
    place: TextPlace,
    path: &str,
    problems: &mut Problems,
    resolved: &mut Vec<(String, String)>,
) -> Box<dyn Component> {
    Box::new(field::read::<C>(table, place, path, COMPONENT_KEYS, problems, resolved))
}
