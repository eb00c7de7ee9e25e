//! The agents of a system behind one interface: `Part` for each kind, [`Member`] for one of them.
//!
//! A kind says what its agent may begin, what a step of it has to keep (`Part::check_step`), and what it shows of a line: its
//! copy, values that it keeps, and, of a home, memory and tracking. A new kind is a file here and a line in `members!`.

mod alu;
mod cache_device;
mod cache_home;
mod hdm_d_device;
mod hdm_d_host;
mod hdm_db_device;
mod hdm_home;
mod mem_host;
mod memory;
mod peer;
mod switch;

pub use cache_device::CacheDevicePart;
pub use cache_home::CacheHomePart;
pub use hdm_d_device::HdmDDevicePart;
pub use hdm_d_host::HdmDHostPart;
pub use hdm_db_device::HdmDbDevicePart;
pub use hdm_home::HdmCacheHome;
pub use mem_host::MemHostPart;
pub use memory::MemoryPart;
pub use peer::DirectPeer;
pub use switch::{SwitchNames, SwitchPart};

use super::composite::Composite;
use super::setup::AgentSite;
use crate::explore::{Awaited, Fairness};
use scalepool_coherence::agent::{Accept, AgentOutput, AgentPort, Effect};
use scalepool_coherence::cache::device::DeviceCache;
use scalepool_coherence::cache::state::CacheLineState;
use scalepool_coherence::content::{LineAddr, LineToken, WHOLE_LINE};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::mem::dcoh::DeviceOp;
use scalepool_coherence::mem::host::{HostAccess, HostReq, MemHost};
use scalepool_coherence::mem::tables::Copy4;
use scalepool_coherence::message::Msg;
use scalepool_coherence::monitor::CopyView;
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode;

/// What an agent begins of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operation {
    /// A request of CXL.cache, or of a device with HDM-D; with a store that waits for it or without.
    Request {
        line: LineAddr,
        opcode: D2hReqOpcode,
        store: bool,
    },
    /// The store that comes next in a program joins the read of its device, which has GO and no data yet.
    Join {
        line: LineAddr,
    },
    /// A request of CXL.mem for an access or for none.
    Read {
        line: LineAddr,
        request: HostReq,
        want: HostAccess,
    },
    /// MemWr of a dirty line, of which this is kept.
    WriteBack {
        line: LineAddr,
        kept: Copy4,
    },
    /// A core loads.
    Load {
        line: LineAddr,
    },
    /// A core stores to its copy.
    Store {
        line: LineAddr,
    },
    /// A clean copy is dropped.
    Drop {
        line: LineAddr,
    },
    /// An operation of the own cache of a device with HDM-DB, on a line or on the lines of a block.
    Own {
        line: LineAddr,
        op: DeviceOp,
    },
    Block {
        op: DeviceOp,
        enable: u8,
    },
    /// A choice of a home.
    Choose(u8),
    /// An atomic: the value of a copy is read and a new one computed from it, and later it is stored.
    Compute {
        line: LineAddr,
    },
    StoreResult {
        line: LineAddr,
    },
    /// The core of a home reads or writes.
    CoreRead {
        line: LineAddr,
    },
    CoreWrite {
        line: LineAddr,
    },
}

impl Operation {
    /// Its line, if it is about one.
    pub fn line(self) -> Option<LineAddr> {
        match self {
            Operation::Request { line, .. }
            | Operation::Join { line }
            | Operation::Read { line, .. }
            | Operation::WriteBack { line, .. }
            | Operation::Load { line }
            | Operation::Store { line }
            | Operation::Drop { line }
            | Operation::Own { line, .. }
            | Operation::Compute { line }
            | Operation::StoreResult { line }
            | Operation::CoreRead { line }
            | Operation::CoreWrite { line } => Some(line),
            Operation::Block { .. } | Operation::Choose(_) => None,
        }
    }

    /// In words.
    pub fn text(self) -> String {
        let cache = |opcode: D2hReqOpcode| opcode.name().unwrap_or("?").to_owned();
        match self {
            Operation::Request { opcode, store: true, .. } => format!("{}, a store waits", cache(opcode)),
            Operation::Request { opcode, .. } => cache(opcode),
            Operation::Join { .. } => "a store waits".into(),
            Operation::Read { request, want, .. } => {
                let name = request.opcode.name().unwrap_or("?");
                match want {
                    HostAccess::Store | HostAccess::StorePart => format!("{name} for a store"),
                    HostAccess::Load => format!("{name} for a load"),
                    HostAccess::Nothing => name.to_owned(),
                }
            }
            Operation::WriteBack { kept, .. } => format!("MemWr, keeps {}", kept.letter()),
            Operation::Load { .. } => "Load".into(),
            Operation::Store { .. } => "Store".into(),
            Operation::Drop { .. } => "drops its copy".into(),
            Operation::Own { op, .. } => format!("{op:?}"),
            Operation::Block { op, .. } => format!("{op:?} of a block"),
            Operation::Choose(_) => "sends the GO".into(),
            Operation::Compute { .. } => "Atomic loads".into(),
            Operation::StoreResult { .. } => "Atomic stores".into(),
            Operation::CoreRead { .. } => "core reads".into(),
            Operation::CoreWrite { .. } => "core writes".into(),
        }
    }
}

/// What an agent does in one step.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Deed {
    /// It takes a message at a port.
    Took(AgentPort, Msg<LineToken>),
    /// It begins something.
    Began(Operation),
}

/// What a program did.
pub(super) struct Did {
    /// In words.
    pub text: &'static str,
    /// A load: whether it got poison.
    pub loaded: Option<bool>,
    /// Byte enables of a write that has been brought to memory with it.
    pub enables: u64,
}

/// Where a program stands: its next operation, and whether ownership has been asked for and not given up.
pub(super) type ProgramPlace = (u8, bool);

/// An agent in a system. Methods with a [`Composite`] see the messages under way and the other agents too.
pub(super) trait Part {
    /// How many ports it has.
    fn ports(&self) -> AgentPort;

    /// How many of them, from the first on, lead to holders of lines that it owns or holds itself.
    fn ports_below(&self) -> AgentPort {
        0
    }

    /// The port behind which its memory is; `None`: it has its own, or needs none.
    fn memory_port(&self) -> Option<AgentPort> {
        None
    }

    /// The port through which it passes on what comes through this one; `None`: it takes messages itself.
    fn passes_on(&self, _port: AgentPort) -> Option<AgentPort> {
        None
    }

    /// Whether a message is taken now.
    fn accepts(&self, site: AgentSite<'_>, port: AgentPort, msg: &Msg<LineToken>) -> Accept;

    /// In how many legal ways.
    fn ways(&self, _site: AgentSite<'_>, _port: AgentPort, _msg: &Msg<LineToken>) -> u8 {
        1
    }

    /// Takes a message, or begins an operation.
    fn act(&mut self, site: AgentSite<'_>, deed: &Deed, way: u8, out: &mut AgentOutput<LineToken>);

    /// What it may begin now where agents are free; what programs leave to chance where they run.
    fn operations(&self, _system: &Composite, _site: AgentSite<'_>, _out: &mut Vec<Operation>) {}

    /// What a fair run owes an operation.
    fn fairness(&self, operation: Operation) -> Fairness {
        if matches!(operation, Operation::Choose(_)) { Fairness::Strong } else { Fairness::Optional }
    }

    /// An access that has to be made at once; called until there is none.
    fn follow_up(&mut self, _site: AgentSite<'_>, _out: &mut AgentOutput<LineToken>) -> bool {
        false
    }

    /// Begins or does the operation of its program at `place`, if it is possible now: an operation is issued as soon as its
    /// start state holds.
    fn advance(
        &mut self,
        _site: AgentSite<'_>,
        _place: &mut ProgramPlace,
        _out: &mut AgentOutput<LineToken>,
    ) -> Option<Did> {
        None
    }

    /// Whether a request takes the store of a program along, so that its end ends the store too.
    fn takes_store_along(&self) -> bool {
        false
    }

    /// V5 to V8: what the step breaks.
    fn check_step(
        &self,
        _site: AgentSite<'_>,
        _before: &Self,
        _deed: &Deed,
        _out: &AgentOutput<LineToken>,
        _events: &mut Vec<CoherenceEvent>,
    ) where
        Self: Sized,
    {
    }

    /// What its core gives up behind a step.
    fn gives_up(&mut self, _site: AgentSite<'_>) {}

    /// What a free agent breaks behind its step and all that followed from it.
    fn check_after(&mut self, _site: AgentSite<'_>, _events: &mut Vec<CoherenceEvent>) {}

    /// Poison and byte enables of the write that a step may bring to memory.
    fn write_of(&self, site: AgentSite<'_>, _deed: &Deed) -> (bool, u64) {
        (site.poisons(), WHOLE_LINE)
    }

    /// Byte enables of its stores.
    fn store_enables(&self, _site: AgentSite<'_>, _line: LineAddr) -> u64 {
        WHOLE_LINE
    }

    /// The value that a store or write has left where it was done; `None`: it has gone in the same step and is on its way.
    fn placed(&self, _effect: &Effect<LineToken>) -> Option<LineToken> {
        None
    }

    /// Its new values have their place in coherence order.
    fn settle(&mut self, effect: &Effect<LineToken>, settle: &mut dyn FnMut(&mut LineToken));

    /// A value was used: what is wrong with it, where `newest` is the last store's.
    fn used(
        &mut self,
        _site: AgentSite<'_>,
        _line: LineAddr,
        _used: (LineToken, bool),
        _newest: LineToken,
    ) -> Option<CoherenceEvent> {
        None
    }

    /// Its core gets nothing for its access.
    fn refused(&mut self, _line: LineAddr) {}

    /// A request of its core has ended.
    fn done(&mut self, _line: LineAddr) {}

    /// Somebody has stored to a line.
    fn stored_somewhere(&mut self, _line: LineAddr) {}

    /// Every value that it holds.
    fn visit(&mut self, f: &mut dyn FnMut(&mut LineToken));

    /// Its copy of a line, usable or not.
    fn copy(&self, _site: AgentSite<'_>, _line: LineAddr) -> Option<CopyView<LineToken>> {
        None
    }

    /// Of a home that is no root: what it holds of a line of the level above, and the value of which it gives copies below.
    fn between(&self, _line: LineAddr) -> (Copy4, Option<LineToken>) {
        (Copy4::I, None)
    }

    /// Values of a line that it keeps and that will count when they arrive.
    fn kept(&self, _site: AgentSite<'_>, _line: LineAddr) -> Vec<LineToken> {
        Vec::new()
    }

    /// Who waits for what.
    fn waits(
        &self,
        _site: AgentSite<'_>,
        _place: Option<ProgramPlace>,
        _wait: &mut dyn FnMut(Awaited, Option<LineAddr>),
    ) {
    }

    /// Nothing open.
    fn is_idle(&self) -> bool;

    /// The letter of its stable state, for outcomes.
    fn letter(&self, _line: LineAddr) -> Option<char> {
        None
    }

    /// Whether its state says behind which port of its home it stands.
    fn knows_port(&self) -> bool {
        false
    }

    /// The same behind another port of its home.
    fn behind(&mut self, _port: AgentPort) {}
}

/// What an agent does that owns lines.
pub(super) trait Owner: Part {
    /// The memory's value.
    fn memory(&self, system: &Composite, site: AgentSite<'_>, line: LineAddr) -> LineToken;

    /// Ports of those that it takes for holders.
    fn tracked(&self, line: LineAddr) -> IdSet;

    /// Writes memory and says who holds the line, port by port, for the start.
    fn start(&mut self, line: LineAddr, memory: LineToken, held: &[Copy4]);

    /// The invariants of a line.
    fn check(&self, system: &Composite, site: AgentSite<'_>, line: LineAddr, events: &mut Vec<CoherenceEvent>);

    /// What is kept waiting and must not.
    fn check_held(&self, system: &Composite, site: AgentSite<'_>, events: &mut Vec<CoherenceEvent>);

    /// What is asked of a line when all is at rest: V14.
    fn check_idle(&self, system: &Composite, site: AgentSite<'_>, line: LineAddr, events: &mut Vec<CoherenceEvent>);

    /// What it knows of one port, without its number.
    fn signature(&self, port: AgentPort) -> Signature;

    /// Port p becomes `to[p]`.
    fn renamed(&mut self, to: &[AgentPort]);
}

/// What a home knows of one port: two ports with equal ones are the same to it.
pub(super) type Signature = (Vec<u64>, Vec<(u64, u64)>, Vec<Option<LineToken>>);

/// The pattern of a kind that owns lines.
macro_rules! owned {
    (lines $pattern:pat) => {
        $pattern
    };
}

/// Declares the kinds, with `owns lines` those that have an [`Owner`].
macro_rules! members {
    ($($(#[doc = $doc:literal])* $name:ident($part:ident) $(owns $owner:tt)?,)*) => {
        /// An agent of a system.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum Member {
            $($(#[doc = $doc])* $name($part),)*
        }

        impl Member {
            /// The agent as a part.
            pub(super) fn part(&self) -> &dyn Part {
                match self {
                    $(Member::$name(part) => part,)*
                }
            }

            /// The agent as a part.
            pub(super) fn part_mut(&mut self) -> &mut dyn Part {
                match self {
                    $(Member::$name(part) => part,)*
                }
            }

            /// As the owner of lines.
            pub(super) fn owner(&self) -> Option<&dyn Owner> {
                match self {
                    $($(owned!($owner Member::$name(part)) => Some(part),)?)*
                    _ => None,
                }
            }

            /// As the owner of lines.
            pub(super) fn owner_mut(&mut self) -> Option<&mut dyn Owner> {
                match self {
                    $($(owned!($owner Member::$name(part)) => Some(part),)?)*
                    _ => None,
                }
            }

            /// [`Part::check_step`], of an agent before and behind a step.
            pub(super) fn check_step(
                &self,
                site: AgentSite<'_>,
                before: &Self,
                deed: &Deed,
                out: &AgentOutput<LineToken>,
                events: &mut Vec<CoherenceEvent>,
            ) {
                match (self, before) {
                    $((Member::$name(after), Member::$name(before)) => after.check_step(site, before, deed, out, events),)*
                    _ => {}
                }
            }
        }

        $(impl From<$part> for Member {
            fn from(part: $part) -> Member {
                Member::$name(part)
            }
        })*
    };
}

members! {
    /// A cache over CXL.cache.
    CacheDevice(CacheDevicePart),
    /// A host of HDM-DB, or a direct peer.
    Host(MemHostPart),
    /// A host of HDM-D.
    HdmDHost(HdmDHostPart),
    /// A caching device that is a direct peer of a device with HDM-DB.
    DirectPeer(DirectPeer),
    /// A host whose caching devices hold lines of a device's HDM-DB.
    HdmCacheHome(HdmCacheHome),
    /// A switch.
    Switch(SwitchPart),
    /// The memory of a home that has none of its own.
    Memory(MemoryPart),
    /// A host with home agent and memory.
    CacheHome(CacheHomePart) owns lines,
    /// A device with HDM-DB.
    HdmDbDevice(HdmDbDevicePart) owns lines,
    /// A device with HDM-D.
    HdmDDevice(HdmDDevicePart) owns lines,
}

impl Member {
    /// Whether it owns lines.
    pub(super) fn is_home(&self) -> bool {
        self.owner().is_some()
    }

    /// Puts a line into a stable state without a message, with the value of its copy and of the memory behind it.
    pub(super) fn preset(&mut self, line: LineAddr, memory: LineToken, state: Copy4, value: LineToken) {
        match self {
            Member::CacheDevice(device) => {
                let at = match state {
                    Copy4::I => CacheLineState::I,
                    Copy4::S => CacheLineState::S,
                    Copy4::E => CacheLineState::E,
                    Copy4::M => CacheLineState::M,
                };
                device.0.preset(line, at, value);
            }
            Member::Host(host) => host.agent.preset(line, state, value),
            Member::HdmDHost(host) => host.0.mem.preset(line, state, value),
            Member::HdmDDevice(device) => device.preset(line, memory, state, value),
            Member::Memory(own) => own.preset(line, memory),
            Member::DirectPeer(_)
            | Member::HdmCacheHome(_)
            | Member::Switch(_)
            | Member::CacheHome(_)
            | Member::HdmDbDevice(_) => {}
        }
    }

    /// Its cache of a host's lines.
    pub(super) fn cache(&self) -> Option<&DeviceCache<LineToken>> {
        match self {
            Member::CacheDevice(device) => Some(&device.0),
            Member::DirectPeer(peer) => Some(&peer.cache.0),
            _ => None,
        }
    }

    /// Ports of those below that it takes for holders of a line.
    pub(super) fn tracked(&self, line: LineAddr) -> IdSet {
        match self {
            Member::HdmCacheHome(home) => home.agent().home().holders(line).all(),
            _ => self.owner().map_or(IdSet::EMPTY, |owner| owner.tracked(line)),
        }
    }

    /// Whether it is the home of others: it owns lines, or it holds lines of the level above for those below.
    pub(super) fn has_level(&self) -> bool {
        self.is_home() || matches!(self, Member::HdmCacheHome(_))
    }

    /// Of a home, what it knows of one port, without its number.
    pub(super) fn signature(&self, port: AgentPort) -> Option<Signature> {
        match self {
            Member::HdmCacheHome(home) => Some(home.signature(port)),
            _ => self.owner().map(|owner| owner.signature(port)),
        }
    }

    /// Of a home: port p becomes `to[p]`.
    pub(super) fn renamed(&mut self, to: &[AgentPort]) {
        match self {
            Member::HdmCacheHome(home) => home.renamed(to),
            _ => self.owner_mut().into_iter().for_each(|owner| owner.renamed(to)),
        }
    }

    /// Its half that is a host of HDM-DB.
    pub(super) fn host(&self) -> Option<&MemHost<LineToken>> {
        match self {
            Member::Host(host) => Some(&host.agent),
            Member::DirectPeer(peer) => Some(&peer.mem.agent),
            Member::HdmCacheHome(home) => Some(home.agent().host()),
            _ => None,
        }
    }

    /// Whether it may hold lines of a home.
    pub(super) fn fits(&self, home: &Member) -> bool {
        matches!(
            (self, home),
            (Member::CacheDevice(_) | Member::DirectPeer(_), Member::CacheHome(_))
                | (Member::CacheDevice(_), Member::HdmCacheHome(_))
                | (Member::Host(_) | Member::DirectPeer(_) | Member::HdmCacheHome(_), Member::HdmDbDevice(_))
                | (Member::HdmDHost(_), Member::HdmDDevice(_))
        )
    }

    /// Who may hold the lines of this home.
    pub(super) fn expected(&self) -> &'static str {
        match self {
            Member::CacheHome(_) | Member::HdmCacheHome(_) => "a caching device",
            Member::HdmDbDevice(_) => "a host of HDM-DB or a direct peer",
            Member::HdmDDevice(_) => "a host of HDM-D",
            _ => "nobody",
        }
    }
}
