//! What a description can be made of: kinds of components and of links.
//!
//! A kind is one file and one line in [`COMPONENTS`] or [`LINKS`]: a configuration, its ports, and how it is put into a
//! partition. A component exchanges messages with its ports and never sees a flit; a link owns both its ends and the wire.
//!
//! A walk through one component: its table is read to a configuration, which says what ports there are; links are joined
//! to the ports; when all fits, the component is told who is at the other end of each port ([`Site`]) and becomes modules of
//! a partition and a place where its figures will be ([`ComponentNode`]).

use super::channels::{ChannelWait, ClassOrder};
use super::coherence::{Coherent, Seat};
use super::document::Table;
use super::field::{self, Config, Field};
use super::hierarchies::HierarchyNumbers;
use super::kinds;
use super::kinds::gfd::PbrRequesters;
use super::measured::{Measure, MeasureLink};
use super::memory_map::{MapView, Span};
use super::metric::{self, Metric, Metrics};
use super::outside;
use super::pbr_fabric::{PbrDecl, PbrSite};
use super::problem::{Problems, TextPlace};
use scalepool_bridge::window::{BridgeWindow, InboundClass};
use scalepool_coherence::cache::route::CacheRoutes;
use scalepool_coherence::clocked::litmus::LitmusRuns;
use scalepool_fabric::cxl_switch::VppbBinding;
use scalepool_fabric::nvlink_switch::NvlSwitchResult;
use scalepool_fabric::topology::routing::RoutePolicy;
use scalepool_fabric::vc_router::VcPortEnds;
use scalepool_kernel::{BuildError, Clock, ClockId, InEnd, OutEnd, PartitionBuilder, Simulation};
use scalepool_link::cxlio::IoOrder;
use scalepool_link::io_ends::IoItem;
use scalepool_link::sim_port::SimPort;
use scalepool_link::ualink::security::Protection;
use scalepool_link::{nvlink, ualink};
use scalepool_memory::dropped::DroppedStores;
use scalepool_nodes::cxl::coherent::dealt::DealtTrace;
use scalepool_nodes::cxl::coherent::wiring::NodeEnds;
use scalepool_nodes::fabric::traffic_node::TrafficNodeResult;
use scalepool_nodes::io::mode::FlexPort;
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

/// Which side of a link a port can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortRole {
    /// The one that asks: the upstream side of CXL.
    Host,
    /// The one that answers: the downstream side of CXL.
    Device,
    /// A port of a CXL switch toward a host: the downstream side of CXL, with a channel for each class.
    SwitchUpstream,
    /// A port of a CXL switch toward a device: the upstream side of CXL, with a channel for each class.
    SwitchDownstream,
    /// A port of a CXL switch toward another one: all classes of CXL.mem come and go, with a channel for each.
    SwitchFabric,
    /// The same in a fabric with caching devices: those of CXL.cache too. A link has it once its fabric is known
    /// ([`System::roles_of`](crate::design::System::roles_of)); no component declares it.
    CachingFabric,
    /// A home that asks for its own lines: the upstream side of CXL.mem without coherence, with a channel for each class.
    HomeMemory,
    /// A device that asks another one for its memory: the upstream side of CXL.mem with port based routing, or on any link from a pool
    /// of memories, with a channel for each class.
    Requester,
    /// An accelerator or a GPU.
    Node,
    /// A switch.
    Switch,
    /// A node of a fabric without a protocol.
    Terminal,
    /// A router of such a fabric.
    Router,
    /// One that keeps lines coherent.
    Coherent(CoherenceProtocol, CxlSide),
}

/// How lines are kept coherent: what travels between their home and those that hold them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoherenceProtocol {
    /// Lines of a host, by CXL.cache.
    Cache,
    /// Lines of a device with back-invalidation, by CXL.mem.
    HdmDb,
    /// Lines of a device with a bias table, by CXL.mem and CXL.cache.
    HdmD,
}

impl CoherenceProtocol {
    /// Whether a switch with virtual hierarchies passes it on: HDM-D is that of one device below a root port (`coherence`
    /// §2.9).
    pub const fn passes_switches(self) -> bool {
        matches!(self, CoherenceProtocol::HdmDb | CoherenceProtocol::Cache)
    }
}

/// A side of a CXL link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CxlSide {
    /// Upstream.
    Host,
    /// Downstream.
    Device,
}

impl PortRole {
    /// As messages name it.
    pub fn name(self) -> &'static str {
        match self {
            PortRole::Host => "host",
            PortRole::Device => "device",
            PortRole::SwitchUpstream => "upstream port of a switch",
            PortRole::SwitchDownstream => "downstream port of a switch",
            PortRole::SwitchFabric | PortRole::CachingFabric => "fabric port of a switch",
            PortRole::HomeMemory => "home without memory",
            PortRole::Requester => "direct requester of memory",
            PortRole::Node => "node",
            PortRole::Switch => "switch",
            PortRole::Terminal => "node of a fabric",
            PortRole::Router => "router",
            PortRole::Coherent(CoherenceProtocol::Cache, CxlSide::Host) => "host of CXL.cache",
            PortRole::Coherent(CoherenceProtocol::Cache, CxlSide::Device) => "device of CXL.cache",
            PortRole::Coherent(CoherenceProtocol::HdmDb, CxlSide::Host) => "host of HDM-DB",
            PortRole::Coherent(CoherenceProtocol::HdmDb, CxlSide::Device) => "device with HDM-DB",
            PortRole::Coherent(CoherenceProtocol::HdmD, CxlSide::Host) => "host of HDM-D",
            PortRole::Coherent(CoherenceProtocol::HdmD, CxlSide::Device) => "device with HDM-D",
        }
    }
}

impl PortRole {
    /// The protocol of one that keeps lines coherent.
    pub const fn coherence(self) -> Option<CoherenceProtocol> {
        match self {
            PortRole::Coherent(protocol, _) => Some(protocol),
            _ => None,
        }
    }

    /// Whether it is a port of a CXL switch.
    pub fn is_of_cxl_switch(self) -> bool {
        use PortRole::{CachingFabric, SwitchDownstream, SwitchFabric, SwitchUpstream};
        matches!(self, SwitchUpstream | SwitchDownstream | SwitchFabric | CachingFabric)
    }

    /// Whether its component takes the messages of each class by themselves, where no lines are kept coherent.
    pub fn takes_classes(self) -> bool {
        use PortRole::{CachingFabric, HomeMemory, Requester, SwitchDownstream, SwitchFabric, SwitchUpstream};
        matches!(self, HomeMemory | Requester | SwitchUpstream | SwitchDownstream | SwitchFabric | CachingFabric)
    }
}

/// A port, or an array of ports, of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortDecl {
    /// Name within the component.
    pub name: &'static str,
    /// Ports in the array; `None`: one port, without an index.
    pub len: Option<usize>,
    /// Kinds of links that it takes.
    pub links: &'static [&'static str],
    /// Its side of them.
    pub role: PortRole,
}

/// What a component tells those at the other ends of its links.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Offer {
    /// Bytes of memory behind the port that have system addresses; of a multi-logical device those of one logical device.
    pub memory_bytes: Option<u64>,
    /// First address at which there is any of it, for who asks directly.
    pub memory_from: u64,
    /// Addresses behind it at which there is none, of each the first one and the one behind the last.
    pub memory_gaps: [(u64, u64); MOST_GAPS],
    /// Logical devices, of a multi-logical device.
    pub logical_devices: Option<u8>,
    /// It copies writes to groups and reduces reads of them.
    pub multicast: bool,
    /// What a port of CXL.io brings into training.
    pub flex_bus: Option<FlexPort>,
    /// Which TLPs it lets pass which, of a switch of CXL.io.
    pub io_order: Option<IoOrder>,
    /// It takes part in unordered I/O, at a port of CXL.io: a link of two such ports has a virtual channel for it.
    pub has_uio: bool,
    /// Logical devices of a device of CXL.io, and of those of a switch at the port in question the highest that is bound, counted from 1.
    pub io_logical_devices: Option<u16>,
    /// Time from a request to its answer \[cycles of its clock\].
    pub answer_cycles: u64,
    /// Answers of CXL.mem that it takes beside CXL.io before its link may rest.
    pub answers_due: u64,
    /// Time after which a host of CXL.io gives up what it asks, in power management too \[fs\].
    pub power_timeout_fs: Option<u64>,
    /// Time after which it gives up what it asks by unordered I/O \[fs\].
    pub uio_timeout_fs: Option<u64>,
    /// It writes registers and memory behind BARs, and judges what it reads there by that.
    pub uses_bars: bool,
    /// How it chooses ways, of a router of a fabric.
    pub routing: Option<RoutePolicy>,
    /// Flits that the buffer of each virtual channel at its ports holds, of a router of a fabric.
    pub buffer_flits: Option<u32>,
    /// It may declare viral at its ports.
    pub declares_viral: bool,
    /// It records damage of the lines at its ports.
    pub hears_damage: bool,
    /// It is a host without a time-out: a request of it without an answer stalls the run.
    pub waits_for_ever: bool,
    /// It is a G-FAM device.
    pub is_gfd: bool,
    /// Most switches of CXL.io one below the other that a host sees through it, of an edge of a fabric (`fabric` PID-4).
    pub edge_layers: Option<usize>,
}

/// Most places between windows from CXL of a bridge.
pub const MOST_GAPS: usize = scalepool_bridge::window::MOST_WINDOWS - 1;

/// What a link carries, as its components have to know it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Carried {
    /// CXL.mem and CXL.cache.
    Cxl {
        /// How messages are spelled.
        form: MessageForm,
        /// Identifiers of host and device in port based routing, else 0.
        port_ids: [u16; 2],
    },
    /// TLPs of CXL.io, with messages of CXL.mem beside them or without; the mode is what the ports at the ends train to.
    CxlIo {
        /// Line rate \[GT/s a lane\].
        rate_gtps: u32,
        /// CXL.mem shares the link.
        cachemem: bool,
        /// Identifiers of host and device in port based routing.
        port_ids: [u16; 2],
        /// Time from one end to the other, without that of a unit \[fs\].
        way_fs: u64,
    },
    /// UALink transactions.
    Ualink {
        /// Time of a code word as a fraction \[fs\].
        code_word_fs: (u64, u64),
        /// Lanes.
        lanes: u16,
        /// All requests and all responses of a pair and port keep their order.
        strict: bool,
        /// Protection of transactions between accelerators.
        protection: Protection,
    },
    /// NVLink packets.
    Nvlink {
        /// Clock of flits.
        flit_clock: Clock,
        /// Nominal rate in one direction \[MB/s\].
        link_mbps: u64,
    },
    /// Flits of no protocol.
    Flits {
        /// Clock of flits.
        clock: Clock,
        /// Virtual channels.
        vcs: usize,
    },
}

/// What a link tells the components at its ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkFacts {
    /// What it carries.
    pub carried: Carried,
    /// Rate of whole units in one direction \[B/s\].
    pub unit_bytes_per_s: f64,
}

impl LinkFacts {
    /// Clock of flits, if components can work on it.
    pub fn flit_clock(&self) -> Option<Clock> {
        match self.carried {
            Carried::Cxl { .. } | Carried::CxlIo { .. } => None,
            Carried::Ualink { code_word_fs: (num, den), .. } => Clock::new(num, den, 0).ok(),
            Carried::Nvlink { flit_clock: clock, .. } | Carried::Flits { clock, .. } => Some(clock),
        }
    }

    /// Form of messages of a CXL link. One of CXL.io alone has none; its TLPs are not those of port based routing at an edge.
    pub fn message_form(&self) -> MessageForm {
        match self.carried {
            Carried::CxlIo { .. } => MessageForm::Cxl68,
            _ => self.cxl().0,
        }
    }

    /// Form of messages and port identifiers of a CXL link.
    pub fn cxl(&self) -> (MessageForm, [u16; 2]) {
        match self.carried {
            Carried::Cxl { form, port_ids } => (form, port_ids),
            _ => unreachable!("a port takes the links that it declares"),
        }
    }
}

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
