//! Who keeps which lines coherent: homes that own lines, agents that hold them, switches between.
//!
//! Modelled: the places of agents among each other. Each home with its holders is a domain: its watcher sees all of them at one
//! instant, so a domain is one partition of the simulation. Left out: the agents themselves and their messages.
//!
//! A walk through one domain: the ports of a home are followed, through a switch where one stands there, to the ports of
//! holders, which are numbered in this order; every port that was passed gets a [`Seat`], which says to which domain it leads
//! and by which identifiers its messages travel.

mod domains;

pub(super) use domains::{Domains, domains};
pub use domains::{Joined, joined};

use scalepool_coherence::clocked::making::MakesWatch;
use scalepool_coherence::clocked::node::AgentWatch;
use scalepool_coherence::clocked::sequence::{Recorded, Sequence};
use scalepool_coherence::clocked::watcher::Watcher;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::message::MessageForm;
use scalepool_protocols::cxl::message::PeerRoute;
use std::sync::{Arc, Mutex, PoisonError};

/// What a component is to the coherence of lines.
pub enum Coherent {
    /// It owns lines; its ports lead to their holders, or to their memory.
    Home(Box<LineOwner>),
    /// It holds lines: the names of the agents behind its ports. An agent with several ports holds lines of several homes, and
    /// the first says of which its core does the stimulus.
    Holder(Vec<String>),
    /// Both, at ports of its own each: a bridge that keeps memory behind it coherent and holds lines of other homes.
    Both(Box<LineOwner>, Vec<String>),
    /// It passes messages on; its first port leads to the home.
    Switch,
}

impl Coherent {
    /// The lines that it owns.
    fn home(self) -> Option<LineOwner> {
        match self {
            Coherent::Home(owner) | Coherent::Both(owner, _) => Some(*owner),
            Coherent::Holder(_) | Coherent::Switch => None,
        }
    }

    /// The agents behind its ports that hold lines.
    fn holders(&self) -> Option<&[String]> {
        match self {
            Coherent::Holder(names) | Coherent::Both(_, names) => Some(names),
            Coherent::Home(_) | Coherent::Switch => None,
        }
    }
}

/// An agent that owns lines.
pub struct LineOwner {
    /// Name of the agent.
    pub name: String,
    /// Choices, of the home and of all holders of its lines.
    pub config: CoherenceConfig,
    /// Whether the invariants of its lines are checked after every step.
    pub watch: bool,
    /// Whether a core in front of it does a part of the stimulus.
    pub acts: bool,
    /// Most holders of its lines that its protocol can tell apart.
    pub most_holders: usize,
    /// Who asks for its lines without ever holding one, by name; behind the holders among those that are watched.
    pub requester: Option<String>,
}

/// Numbers of links in the log from which on those behind switches are counted.
const SWITCHED: u16 = 1 << 15;

/// Numbers of links in the log from which on those between homes and their memory are counted.
const MEMORY_LINKS: u16 = 3 << 14;

/// Numbers of back-invalidate sources: the field has 12 bits.
const BI_IDS: usize = 1 << 12;

/// Port of a fabric at which a home stands; those of the holders are the others.
pub const HOME_PID: u16 = 0x100;

/// The number that is no port of a fabric: "handle here" on a first hop (`fabric` PID-1).
const NO_PID: u16 = 0xfff;

/// Most holders of lines behind one fabric: a port each, of those with 12 bits, without the home's, FFFh, and 0, which
/// stands for no fabric.
pub const MOST_FABRIC_HOLDERS: usize = NO_PID as usize - 2;

/// A home with the holders of its lines.
pub struct Domain {
    /// Its number among those whose lines the cores of a stimulus use first, and how many these are; `None`: it is none of them.
    dealt: Option<(usize, u64)>,
    /// Its number among all.
    number: usize,
    home: LineOwner,
    holders: Vec<Holder>,
    /// What stands between the home and all holders.
    between: Between,
    /// Links between homes and holders of the domains before.
    links_before: usize,
    watcher: Option<Arc<Mutex<Watcher>>>,
    chart: Option<Arc<Mutex<Sequence>>>,
    /// Columns of the home and of the holders in a chart.
    columns: Vec<usize>,
    /// Whether a holder still has open work, by number.
    waiting: Mutex<OrderedMap<usize, Waits>>,
}

/// Says whether an agent has open work.
pub type Waits = Box<dyn Fn() -> bool + Send>;

/// What stands between a home and the holders of its lines.
#[derive(Debug, Clone)]
pub(crate) enum Between {
    /// A link for each holder.
    Links,
    /// A switch that passes ports of a fabric on as they are.
    Fabric,
    /// A switch with virtual hierarchies, or a fabric of switches with port based routing: how each holder is reached.
    Hierarchies(Vec<HolderWay>),
}

/// How a switch with virtual hierarchies, or a fabric, joins a home and a holder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HolderWay {
    /// Logical device of the home to which the holder is bound; 0 without any.
    pub ld_id: u8,
    /// BI-ID of the device at the holder: the bus behind the vPPB, or with port based routing its PID.
    pub bi_id: u16,
    /// PIDs of the device and of the holder, where the device itself has port based routing.
    pub pids: Option<[u16; 2]>,
}

/// A holder in its domain.
struct Holder {
    name: String,
    /// Its core does the stimulus of this domain.
    acts: bool,
}

/// The place of a port in a domain.
#[derive(Clone)]
pub struct Seat {
    /// The domain.
    pub domain: Arc<Domain>,
    /// Numbers of the holders to which the port leads, or of the one that it belongs to.
    pub holders: std::ops::Range<usize>,
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} of {}", self.holders, self.domain.home.name)
    }
}

impl Domain {
    /// Choices of its agents.
    pub fn config(&self) -> &CoherenceConfig {
        &self.home.config
    }

    /// Its number among the homes of the description.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Number of holders.
    pub fn holders(&self) -> usize {
        self.holders.len()
    }

    /// Its place among the homes whose lines cores use first, and how many these are.
    pub fn dealt(&self) -> (usize, u64) {
        self.dealt.unwrap_or((0, 1))
    }

    /// Number of the core of a holder, or of the home, among those that do the stimulus of the domain; and how many these are.
    pub fn core(&self, holder: Option<usize>) -> (usize, u64) {
        let acting = |holders: &[Holder]| usize::from(self.home.acts) + holders.iter().filter(|h| h.acts).count();
        (holder.map_or(0, |n| acting(&self.holders[..n])), acting(&self.holders) as u64)
    }

    /// Keeps how to learn whether a holder still has open work.
    pub fn add_waiting(&self, holder: usize, waits: Waits) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(holder, waits);
    }

    /// Holders that have open work.
    pub fn waiting(&self) -> Vec<usize> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.iter().filter(|(_, waits)| waits()).map(|(holder, _)| *holder).collect()
    }

    /// The handle of an agent on the watcher, if the domain is watched.
    pub fn watch<A: MakesWatch>(&self) -> Option<Box<dyn AgentWatch<A>>> {
        self.watcher.clone().map(A::watch)
    }

    /// Number of the link to the memory of its lines in the log.
    pub fn memory_link_number(&self) -> u16 {
        MEMORY_LINKS | self.number as u16
    }

    /// Number of its switched links in the log, or of the link of a holder.
    fn link_number(&self, holder: usize) -> u16 {
        match self.between {
            Between::Fabric | Between::Hierarchies(_) => SWITCHED | self.number as u16,
            Between::Links => (self.links_before + holder) as u16 % SWITCHED,
        }
    }
}

/// Port of a fabric at which a holder stands: from 1 on, without that of the home.
pub const fn holder_pid(holder: usize) -> u16 {
    let pid = 1 + holder as u16;
    if pid < HOME_PID { pid } else { pid + 1 }
}

/// Ports of a fabric: that of a home, then those of so many holders.
pub fn fabric_ports(holders: usize) -> Vec<u16> {
    std::iter::once(HOME_PID).chain((0..holders).map(holder_pid)).collect()
}

/// Which end of its links an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentEnd {
    /// It is the home of the lines; otherwise a holder.
    pub is_home: bool,
    /// It is the host of the link; otherwise the device.
    pub is_host: bool,
}

impl HolderWay {
    /// How the agent at one end finds the one at the other. Above the switch the BI-ID is the bus of the device or its PID, on the
    /// link of a device with logical devices the LD-ID (`fabric` BIR-1, §3.4); a device does not know its CacheID.
    fn route(self, holder: usize, end: AgentEnd) -> PeerRoute {
        match (end.is_home, end.is_host) {
            (true, true) => PeerRoute { cache_id: holder as u8, ..PeerRoute::default() },
            (true, false) => match self.pids {
                Some([spid, dpid]) => PeerRoute { spid, dpid, ..PeerRoute::default() },
                None => PeerRoute { ld_id: self.ld_id, bi_id: self.ld_id.into(), ..PeerRoute::default() },
            },
            (false, true) => PeerRoute { bi_id: self.bi_id, ..PeerRoute::default() },
            (false, false) => PeerRoute::default(),
        }
    }
}

impl Seat {
    /// How the agent at one end of a link finds the one at the other: of the home to a holder, or of that holder to the home.
    /// `form` and `port_ids` are the link's.
    pub fn route(&self, holder: usize, end: AgentEnd, form: MessageForm, port_ids: [u16; 2]) -> PeerRoute {
        let domain = &self.domain;
        if let Between::Hierarchies(ways) = &domain.between {
            return ways.get(holder).copied().unwrap_or_else(|| unreachable!("each has its way")).route(holder, end);
        }
        let is_switched = matches!(domain.between, Between::Fabric);
        let [spid, dpid] = match (is_switched, form) {
            (true, _) if end.is_home => [HOME_PID, holder_pid(holder)],
            (true, _) => [holder_pid(holder), HOME_PID],
            (false, MessageForm::Pbr) if end.is_host => port_ids,
            (false, MessageForm::Pbr) => [port_ids[1], port_ids[0]],
            (false, _) => [0, 0],
        };
        // A device behind a switch does not know its CacheID. A home with more holders than CacheIDs is none of CXL.cache, and no
        // message of CXL.mem has one.
        let cache_id = if is_switched && !end.is_home { 0 } else { holder as u8 };
        let source = if is_switched { domain.number } else { domain.links_before + holder };
        PeerRoute { cache_id, ld_id: 0, bi_id: (source % BI_IDS) as u16, spid, dpid }
    }

    /// Number of the link at the port, by which the log tells identifiers of different links apart.
    pub fn link_number(&self) -> u16 {
        self.domain.link_number(self.holders.start)
    }
}

/// The watch of an agent, which writes its messages down if there is a chart to draw; `number` is its own: 0 for the home, n + 1
/// for holder n. `seats` are those of its ports.
pub fn recorded<A: MakesWatch>(
    watch: Option<Box<dyn AgentWatch<A>>>,
    number: usize,
    seats: &[Seat],
) -> Option<Box<dyn AgentWatch<A>>> {
    let Some(sequence) = &seats[0].domain.chart else { return watch };
    let peers = match number {
        0 => seats[0].domain.columns[1..].to_vec(),
        _ => seats.iter().map(|seat| seat.domain.columns[0]).collect(),
    };
    let column = seats[0].domain.columns[number];
    Some(A::recorded(Recorded { watch, sequence: sequence.clone(), column, peers }))
}
