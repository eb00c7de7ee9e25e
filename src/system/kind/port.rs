//! Ports of components: which side of which links they are, what a component offers there, and what a link tells it.
//!
//! Modelled: nothing; these are the words in which kinds of components and links speak of each other. Left out: what travels.
//!
//! A walk: a memory declares one port of the role [`PortRole::Device`] for links of CXL and offers its bytes there ([`Offer`]); the link tells
//! both ends the form of its messages ([`LinkFacts`]).

use scalepool_fabric::topology::routing::RoutePolicy;
use scalepool_kernel::Clock;
use scalepool_link::cxlio::IoOrder;
use scalepool_link::ualink::security::Protection;
use scalepool_nodes::io::mode::FlexPort;
use scalepool_protocols::cxl::message::MessageForm;

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
