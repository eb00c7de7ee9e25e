//! What the tester needs of a protocol: agents in a star, one hub and its leaves, a link to each leaf.

use scalepool_coherence::agent::{Accept, AgentOutput, AgentPort};
use scalepool_coherence::cache::device::WriteBytes;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LineAddr, LineContent};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::mem::host::HostAccess;
use scalepool_coherence::mem::tables::HdmRegion;
use scalepool_coherence::message::{Dir, Msg};
use scalepool_coherence::monitor::View;
use scalepool_kernel::Rng;

/// Who takes a message or acts: a leaf, or the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// A leaf by number, which is also the number of its link.
    Leaf(usize),
    /// The hub; its cores, where it has any, are the last actor.
    Hub,
}

/// A store that has no place in coherence order yet.
#[derive(Debug, Clone, Copy)]
pub struct PendingStore {
    /// What is stored.
    pub bytes: WriteBytes<CacheLine>,
    /// The agent has it and does it on its own; otherwise the core does it when it may.
    pub given: bool,
    /// Step at which it began.
    pub since: u64,
}

/// What a core asks its agent for.
#[derive(Debug, Clone, Copy)]
pub enum Need<'a> {
    /// A copy to load from.
    Copy,
    /// The value, which is not cached.
    Value,
    /// Ownership for a store.
    Ownership(&'a WriteBytes<CacheLine>),
    /// Ownership with the bytes, for a read-modify-write that the core makes itself.
    Update,
    /// A read-modify-write of byte 0 that is done elsewhere: its operation (`bridge` §4.4), and the operand.
    Atomic(u8, &'a WriteBytes<CacheLine>),
}

/// An access of an actor without a cache has been answered.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CoreAnswer {
    /// The actor that asked.
    pub actor: usize,
    /// Its line.
    pub line: LineAddr,
    /// What it has read; `None`: it was a store.
    pub value: Option<CacheLine>,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StressRequestOutcome {
    /// Not now.
    No,
    /// On its way.
    Yes,
    /// On its way, and the agent has the store.
    Given,
    /// It is a write by message, and the agent has it.
    Written,
}

/// The random choices of a run.
#[derive(Debug)]
pub struct Dice {
    /// Numbers.
    pub rng: Rng,
    /// Cores write bytes of their own only, so that each knows what it must find there.
    pub byte_owners: bool,
    /// Actors, which share the bytes of a line among them.
    pub actors: usize,
    /// Lines that a cache holds.
    pub cache_lines: usize,
    /// [`StressRig::other`] evicts and drops, and does nothing else.
    pub evicts_only: bool,
    /// Counts the stores: every one writes other values.
    pub count: u64,
    /// One of so many is poisoned; 0: none.
    pub poison_every: u64,
}

impl Dice {
    /// One of `of`.
    pub fn below(&mut self, of: usize) -> usize {
        self.rng.below(of as u64) as usize
    }

    /// True once in `of`.
    pub fn once_in(&mut self, of: u64) -> bool {
        self.rng.below(of) == 0
    }

    /// Bytes of an actor: byte i belongs to actor i modulo their number.
    pub fn own_bytes(&self, actor: usize) -> u64 {
        (0..64).filter(|i| i % self.actors == actor).fold(0, |bits, i| bits | 1 << i)
    }

    /// A new value for some bytes: own ones of `actor`, or all of them.
    pub fn bytes(&mut self, actor: usize, whole: bool) -> WriteBytes<CacheLine> {
        self.count += 1;
        let poison = self.poison_every > 0 && self.count.is_multiple_of(self.poison_every);
        let mut data = CacheLine::initial(LineAddr(0)).poisoned(poison);
        for (i, word) in data.bytes.chunks_exact_mut(8).enumerate() {
            word.copy_from_slice(&(self.count.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ i as u64).to_le_bytes());
        }
        if whole {
            return WriteBytes { data, enables: u64::MAX };
        }
        let own = self.own_bytes(actor);
        let some = own & self.rng.next_u64();
        WriteBytes { data, enables: if some == 0 { own } else { some } }
    }
}

/// The agents of a protocol, as cores work on them.
pub trait Rig {
    /// Direction of messages to a leaf.
    const TO_LEAF: Dir;

    /// Leaves.
    fn leaves(&self) -> usize;

    /// Actors: cores of the leaves, then of the hub.
    fn actors(&self) -> usize {
        self.leaves() + 1
    }

    /// Where an actor is.
    fn who(&self, actor: usize) -> Who {
        if actor < self.leaves() { Who::Leaf(actor) } else { Who::Hub }
    }

    /// Whose accesses the effects of an agent are; `None`: it tells of accesses by [`Rig::take_answers`].
    fn actor_at(&self, who: Who) -> Option<usize> {
        match who {
            Who::Leaf(leaf) => Some(leaf),
            Who::Hub => Some(self.leaves()),
        }
    }

    /// Whether all actors are of one kind, so that it makes no difference which program is whose.
    fn are_alike(&self) -> bool {
        self.leaves() >= self.actors()
    }

    /// Whether an actor has no cache, so that its read-modify-writes are done elsewhere ([`Need::Atomic`]).
    fn asks_away(&self, _actor: usize) -> bool {
        false
    }

    /// Accesses of actors without a cache that have been answered since the last call.
    fn take_answers(&mut self) -> Vec<CoreAnswer> {
        Vec::new()
    }

    /// What has begun inside a leaf and may end at any time.
    fn inner_steps(&self, _leaf: usize) -> usize {
        0
    }

    /// One of it ends.
    fn inner_step(&mut self, _leaf: usize, _index: usize, _out: &mut AgentOutput<CacheLine>) {}

    /// Names of an agent.
    fn name(&self, who: Who) -> String;

    /// Whether a message is taken now.
    fn accepts(&self, config: &CoherenceConfig, who: Who, port: AgentPort, msg: &Msg<CacheLine>) -> Accept;

    /// Takes it.
    fn take(
        &mut self,
        config: &CoherenceConfig,
        who: Who,
        port: AgentPort,
        msg: Msg<CacheLine>,
        way: u8,
        out: &mut AgentOutput<CacheLine>,
    );

    /// Whether a line is one of them.
    fn holds(&self, actor: usize, line: LineAddr) -> bool;

    /// A load, if it is possible now.
    fn load(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        out: &mut AgentOutput<CacheLine>,
    ) -> Option<CacheLine>;

    /// A store, if it is possible now.
    fn store(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        bytes: &WriteBytes<CacheLine>,
        out: &mut AgentOutput<CacheLine>,
    ) -> bool;

    /// Asks for what an access needs.
    fn ask(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        need: Need,
        out: &mut AgentOutput<CacheLine>,
    ) -> StressRequestOutcome;

    /// The access that the agent must see at once, before it gives the line up.
    fn due(&self, _actor: usize, _line: LineAddr) -> HostAccess {
        HostAccess::Nothing
    }

    /// Gives a copy up, by message where there is one for it. `false`: nothing is held, or not now.
    fn evict(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        out: &mut AgentOutput<CacheLine>,
    ) -> bool;

    /// Drops a dirty copy, where the rule against it is off.
    fn drop_dirty(&mut self, _config: &CoherenceConfig, _actor: usize, _line: LineAddr) -> bool {
        false
    }

    /// Fills the view of a line but for the newest value and what is under way.
    fn view(&self, config: &CoherenceConfig, line: LineAddr, view: &mut View<CacheLine>);

    /// Whether a request of an actor for a line has not ended.
    fn awaits(&self, actor: usize, line: LineAddr) -> bool;

    /// Nothing open anywhere.
    fn is_idle(&self) -> bool;
}

/// What the random tester asks of them besides.
pub trait StressRig: Rig {
    /// Kind of memory behind requests of CXL.mem, where there are any.
    const REGION: HdmRegion = HdmRegion::HdmDb;

    /// A value used once has every store that its core made before. Not so where a host may read the memory below its own
    /// dirty copy (MemRd with SnpType NoOp).
    const READS_FOLLOW_WRITES: bool = false;

    /// In how many legal ways.
    fn ways(&self, config: &CoherenceConfig, who: Who, port: AgentPort, msg: &Msg<CacheLine>) -> u8;

    /// Lines that take a place in the cache of an actor.
    fn held(&self, actor: usize) -> usize;

    /// Any other legal operation, picked at random: another request, an eviction, a drop, a write by message, which it
    /// returns.
    fn other(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        dice: &mut Dice,
        out: &mut AgentOutput<CacheLine>,
    ) -> Option<WriteBytes<CacheLine>>;

    /// Whose write the home has taken, when `who` has taken `msg` at `port` or has acted; `matches` says whether the
    /// write of an actor has these bytes.
    fn writer(
        &self,
        port: Option<AgentPort>,
        msg: Option<&Msg<CacheLine>>,
        matches: &dyn Fn(usize, &Msg<CacheLine>) -> bool,
    ) -> usize;

    /// Values that agents hold on their way to a place.
    fn kept(&self, line: LineAddr, values: &mut Vec<CacheLine>);

    /// Invariants of the protocol alone.
    fn check(&self, _config: &CoherenceConfig, _line: LineAddr, _events: &mut Vec<CoherenceEvent>) {}
}
