//! Modules, and what they see of the kernel while they run.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::clock::Clock;
use super::rng::Rng;
use super::time::Time;
use super::wheel::{NEVER, Wheel};

/// A piece of hardware: state, and one function that runs at edges of its clock.
///
/// The contract that makes evaluation order and idle skipping invisible: a module reads its inputs through channel, wire
/// and link ends only, and an evaluation for which nothing new is there (nothing due, no slot freed, no timer run out)
/// changes nothing and asks for nothing new.
pub trait Module {
    /// Takes the state after reset. Called once, before the first edge.
    fn reset(&mut self) {}

    /// Runs at one edge: takes what is due, sends what will be due later, says when to run next.
    ///
    /// Every module runs at the first edge of its clock.
    fn eval(&mut self, cx: &mut Cx) -> Next;

    /// Says what is open: work that was accepted and is not finished. Asked between edges when the run ends or stalls.
    ///
    /// # Errors
    /// [`Pending`], the oldest of what is open.
    fn idle_ok(&self) -> Result<(), Pending> {
        Ok(())
    }

    /// Leaves what it has measured where its builder looks for it. Asked between edges when a run ends or is looked at, and
    /// it may go on: what is left stands for the run so far, and is replaced the next time.
    fn publish(&self) {}

    /// Whether no work of others is open here: nothing waits, is under way or stays, and what the module still does is for itself,
    /// as a link that repairs noise. A run of which that holds everywhere is over, see [`Stop::Done`](super::Stop::Done).
    fn is_done(&self) -> bool {
        false
    }

    /// Shows named state values to `visit`, for reports.
    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        let _ = visit;
    }
}

impl<M: Module + 'static> From<M> for Box<dyn Module> {
    fn from(module: M) -> Box<dyn Module> {
        Box::new(module)
    }
}

/// When a module next wants to run. What is sent to it and room that it waits for wake it in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// At the next edge.
    Busy,
    /// When something arrives. An item that is due and was left in its channel does not wake anybody again.
    Idle,
    /// So many edges of its clock from here; 0 is the next edge, as 1 is. Replaced by the next evaluation.
    In(u64),
    /// At the first edge at or after this time (at the next edge if it is past). Replaced by the next evaluation.
    At(Time),
}

impl Next {
    /// [`Next::Busy`] if there is more to do, else [`Next::Idle`].
    pub fn busy_if(more: bool) -> Next {
        if more { Next::Busy } else { Next::Idle }
    }
}

/// What a module still has open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// What is open, for a person to read.
    pub what: String,
    /// Since when.
    pub since: Time,
}

impl Pending {
    /// Something open since a time.
    pub fn new(what: impl Into<String>, since: Time) -> Pending {
        Pending { what: what.into(), since }
    }
}

/// The kernel as a running module sees it: the edge it runs at.
pub struct Cx<'a> {
    pub(super) core: &'a PartitionState,
    pub(super) domain: &'a ClockDomain,
    pub(super) now: Time,
    pub(super) cycle: u64,
    pub(super) place: ModulePlace,
}

impl Cx<'_> {
    /// The time of this edge.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The number of this edge, counted by the clock of the module from 0.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// The clock of the module.
    pub fn clock(&self) -> &Clock {
        &self.domain.clock
    }

    /// The time of the edge `cycles` edges from here.
    pub fn in_cycles(&self, cycles: u64) -> Time {
        self.clock().edge(self.cycle.saturating_add(cycles))
    }

    /// Reports that a transaction was completed here; the stall check counts from the last one.
    pub fn progress(&mut self) {
        self.core.progress_at.set(self.now);
        self.core.completed.set(self.core.completed.get() + 1);
    }

    /// Says that what is open here waits until a time by itself, so that nothing has stalled before it.
    pub fn waits_until(&mut self, time: Time) {
        self.core.waits_until.set(self.core.waits_until.get().max(time));
    }

    /// Ends the run at the end of this window: what is open here will never be done, by this rule.
    pub fn give_up(&mut self, rule: &'static str) {
        if self.core.given_up.get().is_none() {
            self.core.given_up.set(Some((self.now, rule)));
        }
    }
}

/// A module within its partition: its clock domain, and its place in the order of elaboration there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ModulePlace {
    pub(super) domain: u32,
    pub(super) module: u32,
}

impl ModulePlace {
    /// No module.
    pub(super) const UNKNOWN: ModulePlace = ModulePlace { domain: u32::MAX, module: u32::MAX };

    /// The place, if it is one.
    pub(super) fn known(self) -> Option<ModulePlace> {
        (self != ModulePlace::UNKNOWN).then_some(self)
    }
}

/// A clock and the modules that run on it.
pub(super) struct ClockDomain {
    pub(super) name: String,
    pub(super) clock: Clock,
    pub(super) wheel: Wheel,
}

/// What the ends and the scheduler of one partition share.
pub(super) struct PartitionState {
    pub(super) now: Cell<Time>,
    pub(super) domains: Vec<ClockDomain>,
    pub(super) progress_at: Cell<Time>,
    pub(super) completed: Cell<u64>,
    /// Until when a module waits by itself.
    pub(super) waits_until: Cell<Time>,
    /// When a module gave up, and by which rule.
    pub(super) given_up: Cell<Option<(Time, &'static str)>>,
    /// Links (by their place among those that start here) with items to hand over at the end of the window.
    pub(super) to_send: RefCell<Vec<u32>>,
}

impl PartitionState {
    /// Runs the module at `place` at its first edge at or after `due`, and returns the number of that edge.
    // In line: a third of what it takes would be the call.
    #[inline(always)]
    pub(super) fn wake_at(&self, place: ModulePlace, due: Time) -> u64 {
        let domain = &self.domains[place.domain as usize];
        let cycle = domain.clock.first_at_or_after(due);
        domain.wake(place.module, cycle, self.now.get());
        cycle
    }
}

impl ClockDomain {
    /// The next edge at which a module runs, and its time; [`Time::MAX`] if there is none.
    #[inline]
    pub(super) fn next(&self) -> (Time, u64) {
        match self.wheel.next() {
            NEVER => (Time::MAX, NEVER),
            cycle => (self.clock.edge(cycle), cycle),
        }
    }

    /// Makes of an earlier [`ClockDomain::next`] that of now.
    #[inline]
    pub(super) fn renew(&self, next: &mut (Time, u64)) {
        if self.wheel.next() != next.1 {
            *next = self.next();
        }
    }

    /// Runs `module` at edge `cycle`; nobody will be woken for an edge before `now` any more.
    #[inline]
    pub(super) fn wake(&self, module: u32, cycle: u64, now: Time) {
        self.wheel.wake(cycle, module, || self.clock.first_at_or_after(now));
    }
}

/// Handed to the constructor of a module: attaches ends to it, and derives its random numbers.
pub struct Binder<'a> {
    pub(super) name: &'a str,
    pub(super) seed: u64,
    pub(super) clock: Clock,
    pub(super) place: ModulePlace,
    pub(super) links: &'a mut PartitionLinkEnds,
}

impl Binder<'_> {
    /// Makes this module the owner of an end of a channel, a wire or a link.
    pub fn attach<E: End>(&mut self, end: E) -> E::Port {
        end.attach(self.place, self.links)
    }

    /// The full name of the module.
    pub fn name(&self) -> &str {
        self.name
    }

    /// The clock of the module.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The random numbers of the module, from the seed of the run and its full name.
    pub fn rng(&self) -> Rng {
        Rng::for_name(self.seed, self.name)
    }

    /// A further stream of the module, `purpose` apart from the others.
    pub fn rng_for(&self, purpose: &str) -> Rng {
        Rng::for_name(self.seed, &format!("{}:{purpose}", self.name))
    }
}

/// An end that no module owns yet. Implemented by the ends of channels, wires and links, and by nothing else.
pub trait End: sealed::Attach {}

pub(super) mod sealed {
    use super::{ModulePlace, PartitionLinkEnds};

    /// How an end becomes the port of a module.
    pub trait Attach {
        /// What the module holds.
        type Port;
        /// Makes the module at `place` the owner.
        #[allow(private_interfaces)]
        fn attach(self, place: ModulePlace, links: &mut PartitionLinkEnds) -> Self::Port;
    }
}

/// The link ends attached within one partition.
#[derive(Default)]
pub(super) struct PartitionLinkEnds {
    pub(super) partition: u32,
    pub(super) outbound: Vec<Rc<dyn Outbound>>,
    pub(super) inbound: Vec<Rc<dyn Inbound>>,
}

/// The writing end of a link, as the scheduler sees it.
pub(super) trait Outbound {
    /// Hands over what was sent in this window, and returns when the first of it is due.
    fn flush(&self) -> Time;
}

/// The reading end of a link, as the scheduler sees it.
pub(super) trait Inbound {
    /// Takes in what was handed over, and wakes the reader for it.
    fn take_in(&self, core: &PartitionState);
    /// Items that nobody took, and when the first of them was due.
    fn left(&self) -> Option<(String, usize, Time)>;
}

/// A channel, as the report at the end of a run sees it.
pub(super) trait ReportedChannel {
    fn name(&self) -> &str;
    fn writer(&self) -> Option<ModulePlace>;
    fn reader(&self) -> Option<ModulePlace>;
    /// Items that nobody took, and the edge of the reader at which the first of them was due. Empty for a wire.
    fn left(&self) -> Option<(usize, u64)>;
}
