//! A partition: the modules that one thread runs, how they are put together, and the loop that runs them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::rc::Rc;

use super::channel::{self, InEnd, OutEnd};
use super::clock::Clock;
use super::error::{BuildError, Unfinished};
use super::module::{
    Binder, ClockDomain, Cx, Module, ModulePlace, Next, PartitionLinkEnds, PartitionState, ReportedChannel,
};
use super::name::check_name;
use super::rng::Rng;
use super::simulation::RunOptions;
use super::time::Time;
use super::wheel::{NEVER, Wheel};
use super::wire::{self, WireInEnd, WireOutEnd};

/// A clock of the partition under construction.
#[derive(Clone, Copy, Debug)]
pub struct ClockId {
    domain: u32,
    /// It means nothing outside the partition, so it must not leave the thread.
    _local: PhantomData<Rc<()>>,
}

struct NewDomain {
    name: String,
    clock: Clock,
    module_names: Vec<String>,
    modules: Vec<Box<dyn Module>>,
}

/// Puts a partition together. The order of the calls of [`module`](PartitionBuilder::module) is the order of evaluation.
pub struct PartitionBuilder {
    seed: u64,
    domains: Vec<NewDomain>,
    names: TakenNames,
    queues: Vec<Rc<dyn ReportedChannel>>,
    links: PartitionLinkEnds,
}

/// The names given so far.
#[derive(Default)]
pub(super) struct TakenNames {
    pub(super) modules: BTreeSet<String>,
    pub(super) channels: BTreeSet<String>,
}

/// Checks a new name and enters it into `names`.
pub(super) fn enter(names: &mut BTreeSet<String>, kind: &'static str, name: &str) -> Result<(), BuildError> {
    check_name(name)?;
    if names.insert(name.into()) { Ok(()) } else { Err(BuildError::Duplicate { kind, name: name.into() }) }
}

impl PartitionBuilder {
    pub(super) fn new(partition: u32, seed: u64) -> PartitionBuilder {
        PartitionBuilder {
            seed,
            domains: Vec::new(),
            names: TakenNames::default(),
            queues: Vec::new(),
            links: PartitionLinkEnds { partition, ..PartitionLinkEnds::default() },
        }
    }

    /// Declares a clock.
    ///
    /// # Errors
    /// A name outside the grammar, or used for another clock of the partition.
    pub fn clock(&mut self, name: &str, clock: Clock) -> Result<ClockId, BuildError> {
        check_name(name)?;
        if self.domains.iter().any(|domain| domain.name == name) {
            return Err(BuildError::Duplicate { kind: "clock", name: name.into() });
        }
        let domain = self.domains.len() as u32;
        self.domains.push(NewDomain { name: name.into(), clock, module_names: Vec::new(), modules: Vec::new() });
        Ok(ClockId { domain, _local: PhantomData })
    }

    /// Makes a channel of `depth` items whose items are due `latency_cycles` edges of the writer's clock after the push.
    ///
    /// # Errors
    /// A depth or a latency of 0, a name outside the grammar or used twice.
    pub fn channel<T: 'static>(
        &mut self,
        name: &str,
        depth: u32,
        latency_cycles: u32,
    ) -> Result<(OutEnd<T>, InEnd<T>), BuildError> {
        enter(&mut self.names.channels, "channel", name)?;
        let (writer, reader, queue) = channel::channel(name, depth, latency_cycles)?;
        self.queues.push(queue);
        Ok((writer, reader))
    }

    /// Makes a wire whose value follows the writes by `latency_cycles` edges of the writer's clock.
    ///
    /// # Errors
    /// A latency of 0, a name outside the grammar or used twice.
    pub fn wire<T: Clone + PartialEq + 'static>(
        &mut self,
        name: &str,
        latency_cycles: u32,
        initial: T,
    ) -> Result<(WireOutEnd<T>, WireInEnd<T>), BuildError> {
        enter(&mut self.names.channels, "channel", name)?;
        let (writer, reader, queue) = wire::wire(name, latency_cycles, initial)?;
        self.queues.push(queue);
        Ok((writer, reader))
    }

    /// Adds a module on `clock`; `new` gets a [`Binder`] to attach the ends that the module owns. It returns a module, or a
    /// box with a module whose type the caller does not name.
    ///
    /// # Errors
    /// A name outside the grammar or used twice.
    pub fn module<M: Into<Box<dyn Module>>>(
        &mut self,
        name: &str,
        clock: ClockId,
        new: impl FnOnce(&mut Binder) -> M,
    ) -> Result<(), BuildError> {
        enter(&mut self.names.modules, "module", name)?;
        let domain = &mut self.domains[clock.domain as usize];
        let place = ModulePlace { domain: clock.domain, module: domain.modules.len() as u32 };
        let mut binder = Binder { name, seed: self.seed, clock: domain.clock, place, links: &mut self.links };
        domain.modules.push(new(&mut binder).into());
        domain.module_names.push(name.into());
        Ok(())
    }

    /// The finished partition, every module reset and set to run at its first edge.
    pub(super) fn finish(self, options: &RunOptions) -> Result<(Partition, TakenNames), BuildError> {
        for queue in &self.queues {
            for (end, owner) in [("writer", queue.writer()), ("reader", queue.reader())] {
                if owner.is_none() {
                    return Err(BuildError::Unbound { name: queue.name().into(), end });
                }
            }
        }
        let order = options.shuffle.map(|seed| Rng::for_name(seed, &format!("partition[{}]", self.links.partition)));
        let mut core = PartitionState {
            now: Cell::new(Time::ZERO),
            domains: Vec::new(),
            progress_at: Cell::new(Time::ZERO),
            completed: Cell::new(0),
            waits_until: Cell::new(Time::ZERO),
            given_up: Cell::new(None),
            to_send: RefCell::default(),
        };
        let (mut modules, mut module_names) = (Vec::new(), Vec::new());
        for mut domain in self.domains {
            domain.modules.iter_mut().for_each(|module| module.reset());
            let wheel = Wheel::new(domain.modules.len());
            core.domains.push(ClockDomain { name: domain.name, clock: domain.clock, wheel });
            modules.push(domain.modules);
            module_names.push(domain.module_names);
        }
        let partition = Partition {
            walked: vec![0; core.domains.len()],
            upcoming: vec![(Time::MAX, NEVER); core.domains.len()],
            core,
            modules,
            module_names,
            queues: self.queues,
            links: self.links,
            evaluations: 0,
            last_event: Time::ZERO,
            order,
            evaluate_idle: options.evaluate_idle,
        };
        Ok((partition, self.names))
    }
}

/// A partition that runs.
pub(super) struct Partition {
    core: PartitionState,
    /// One list a domain, in elaboration order.
    modules: Vec<Vec<Box<dyn Module>>>,
    module_names: Vec<Vec<String>>,
    queues: Vec<Rc<dyn ReportedChannel>>,
    links: PartitionLinkEnds,
    evaluations: u64,
    /// The last instant at which a module had a reason to run.
    last_event: Time,
    /// The edge that each domain runs next, and its time.
    upcoming: Vec<(Time, u64)>,
    /// Test mode: shuffles the modules of an instant.
    order: Option<Rng>,
    /// Test mode: runs every module at every edge.
    evaluate_idle: bool,
    /// The first edge of each domain that this mode has not walked over.
    walked: Vec<u64>,
}

/// Where a partition, or several, stand between two windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartitionStatus {
    /// Nothing happens before this time.
    pub(super) next: Time,
    pub(super) last_event: Time,
    pub(super) progress_at: Time,
    /// Until when a module waits by itself.
    pub(super) waits_until: Time,
    /// When a module gave up, and by which rule.
    pub(super) given_up: Option<(Time, &'static str)>,
}

impl PartitionStatus {
    /// Of nothing.
    pub(super) const NONE: PartitionStatus = PartitionStatus {
        next: Time::MAX,
        last_event: Time::ZERO,
        progress_at: Time::ZERO,
        waits_until: Time::ZERO,
        given_up: None,
    };

    /// Of both together.
    pub(super) fn and(self, other: PartitionStatus) -> PartitionStatus {
        PartitionStatus {
            next: self.next.min(other.next),
            last_event: self.last_event.max(other.last_event),
            progress_at: self.progress_at.max(other.progress_at),
            waits_until: self.waits_until.max(other.waits_until),
            given_up: self.given_up.into_iter().chain(other.given_up).min(),
        }
    }
}

/// The counts of a partition at the end of a run.
pub(super) struct Counts {
    pub(super) evaluations: u64,
    pub(super) completed: u64,
    pub(super) clocks: Vec<(String, Clock)>,
}

impl Partition {
    /// Runs everything before `end`, and hands over what was sent to other partitions.
    pub(super) fn run(&mut self, end: Time) -> PartitionStatus {
        for link in &self.links.inbound {
            link.take_in(&self.core);
        }
        if self.evaluate_idle || self.order.is_some() {
            self.run_test_modes(end)
        } else {
            self.run_instants(end)
        }
        let mut status = self.status();
        for ordinal in self.core.to_send.borrow_mut().drain(..) {
            status.next = status.next.min(self.links.outbound[ordinal as usize].flush());
        }
        status
    }

    /// Where the partition stands.
    pub(super) fn status(&mut self) -> PartitionStatus {
        let PartitionState { progress_at, waits_until, given_up, .. } = &self.core;
        let (progress_at, waits_until, given_up) = (progress_at.get(), waits_until.get(), given_up.get());
        PartitionStatus { next: self.next(), last_event: self.last_event, progress_at, waits_until, given_up }
    }

    /// The next instant at which a module has a reason to run, with the edges of all domains in `upcoming`.
    #[inline]
    fn next(&mut self) -> Time {
        let mut first = Time::MAX;
        for (domain, upcoming) in self.core.domains.iter().zip(&mut self.upcoming) {
            *upcoming = domain.next();
            first = first.min(upcoming.0);
        }
        first
    }

    fn run_instants(&mut self, end: Time) {
        // With one clock there is nothing to compare.
        if let ([domain], [modules]) = (&self.core.domains[..], &mut self.modules[..]) {
            loop {
                let (now, cycle) = domain.next();
                if now >= end {
                    return;
                }
                self.last_event = now;
                self.evaluations += run_edge(&self.core, 0, modules, now, cycle);
            }
        }
        // A component and its link end have two: each is asked once an instant, 180 instructions an evaluation instead of 320.
        if let ([first, second], [of_first, of_second]) = (&self.core.domains[..], &mut self.modules[..]) {
            let (mut next, mut other_next) = (first.next(), second.next());
            loop {
                let ((time, cycle), (other_time, other_cycle)) = (next, other_next);
                let now = time.min(other_time);
                if now >= end {
                    return;
                }
                self.last_event = now;
                if time == now {
                    self.evaluations += run_edge(&self.core, 0, of_first, now, cycle);
                }
                if other_time == now {
                    self.evaluations += run_edge(&self.core, 1, of_second, now, other_cycle);
                }
                // Mostly one of them has run, and the next edge of the other one is what it was.
                first.renew(&mut next);
                second.renew(&mut other_next);
            }
        }
        loop {
            let now = self.next();
            if now >= end {
                return;
            }
            self.last_event = now;
            for (index, (modules, &(time, cycle))) in self.modules.iter_mut().zip(&self.upcoming).enumerate() {
                if time == now {
                    self.evaluations += run_edge(&self.core, index, modules, now, cycle);
                }
            }
        }
    }

    /// The same, with more evaluations, or in another order.
    fn run_test_modes(&mut self, end: Time) {
        let mut batch = Vec::new();
        while self.next() < end {
            if self.evaluate_idle {
                let edges = self.core.domains.iter().zip(&self.walked);
                self.upcoming.clear();
                self.upcoming.extend(edges.map(|(domain, cycle)| (domain.clock.edge(*cycle), *cycle)));
            }
            let now = self.upcoming.iter().map(|edge| edge.0).min().unwrap_or(Time::MAX);
            self.core.now.set(now);
            batch.clear();
            let mut reasons = 0;
            for (domain, &(time, cycle)) in self.upcoming.iter().enumerate() {
                if time == now {
                    let wheel = &self.core.domains[domain].wheel;
                    let asleep = batch.len();
                    let entry = |module| (cycle, ModulePlace { domain: domain as u32, module });
                    wheel.start(cycle);
                    wheel.take_each(cycle, |module| batch.push(entry(module)));
                    reasons += batch.len() - asleep;
                    if self.evaluate_idle {
                        batch.truncate(asleep);
                        batch.extend((0..wheel.modules() as u32).map(entry));
                        self.walked[domain] = cycle + 1;
                    }
                }
            }
            if reasons > 0 {
                self.last_event = now;
            }
            if let Some(order) = &mut self.order {
                order.shuffle(&mut batch);
            }
            self.evaluations += batch.len() as u64;
            for &(cycle, place) in &batch {
                let domain = &self.core.domains[place.domain as usize];
                let mut cx = Cx { core: &self.core, domain, now, cycle, place };
                let next = self.modules[place.domain as usize][place.module as usize].eval(&mut cx);
                sleep(&cx, next);
            }
        }
    }

    /// What is open: in modules, in channels, in links.
    pub(super) fn open(&self) -> Vec<Unfinished> {
        let mut open = Vec::new();
        for (modules, names) in self.modules.iter().zip(&self.module_names) {
            for (module, name) in modules.iter().zip(names) {
                if let Err(pending) = module.idle_ok() {
                    let mut probes = Vec::new();
                    module.probes(&mut |probe, value| probes.push((probe.into(), value)));
                    open.push(Unfinished { since: pending.since, place: name.clone(), what: pending.what, probes });
                }
            }
        }
        let left = |place: &str, items: usize, since| {
            let what = format!("{items} item{} not taken", if items == 1 { "" } else { "s" });
            Unfinished { since, place: place.into(), what, probes: Vec::new() }
        };
        for queue in &self.queues {
            if let (Some((items, due)), Some(reader)) = (queue.left(), queue.reader()) {
                let since = self.core.domains[reader.domain as usize].clock.edge(due);
                open.push(left(queue.name(), items, since));
            }
        }
        for link in &self.links.inbound {
            open.extend(link.left().map(|(name, items, since)| left(&name, items, since)));
        }
        open
    }

    /// Whether every module is done: nothing is open here but what links do for themselves, and nobody else will run.
    pub(super) fn is_done(&self) -> bool {
        let domains = self.modules.iter().zip(&self.core.domains);
        domains.into_iter().all(|(modules, domain)| {
            let rests = |n: usize, m: &dyn Module| m.idle_ok().is_ok() && !domain.wheel.is_set(n as u32);
            modules.iter().enumerate().all(|(n, module)| module.is_done() || rests(n, &**module))
        })
    }

    /// Has every module leave what it has measured.
    pub(super) fn publish(&self) {
        self.modules.iter().flatten().for_each(|module| module.publish());
    }

    pub(super) fn counts(&self) -> Counts {
        let clocks = self.core.domains.iter().map(|domain| (domain.name.clone(), domain.clock)).collect();
        Counts { evaluations: self.evaluations, completed: self.core.completed.get(), clocks }
    }
}

/// Runs edge `cycle` of a domain and returns how many modules that were.
// In line: most edges have one module, and the call would cost as much as the rest of an edge without work.
#[inline(always)]
fn run_edge(core: &PartitionState, index: usize, modules: &mut [Box<dyn Module>], now: Time, cycle: u64) -> u64 {
    let domain = &core.domains[index];
    let place = ModulePlace { domain: index as u32, module: 0 };
    let mut cx = Cx { core, domain, now, cycle, place };
    core.now.set(now);
    domain.wheel.start(cycle);
    let evaluations = run_word(&mut cx, modules, 0, domain.wheel.take(cycle));
    if domain.wheel.has_others() { u64::wrapping_add(evaluations, run_others(&mut cx, modules)) } else { evaluations }
}

/// Runs the modules behind the first 64.
#[inline(never)]
fn run_others(cx: &mut Cx, modules: &mut [Box<dyn Module>]) -> u64 {
    let others = cx.domain.wheel.take_others(cx.cycle);
    others.map(|(first, bits)| run_word(cx, modules, first, bits)).sum()
}

/// Runs those of 64 modules whose bits are set, and returns how many that were.
#[inline(always)]
fn run_word(cx: &mut Cx, modules: &mut [Box<dyn Module>], first: u32, mut bits: u64) -> u64 {
    let mut evaluations = 0;
    while bits != 0 {
        // Numbers of modules have 32 bits, and no run evaluates 2^64 of them.
        let module = u32::wrapping_add(first, bits.trailing_zeros());
        bits &= u64::wrapping_sub(bits, 1);
        evaluations = u64::wrapping_add(evaluations, 1);
        cx.place.module = module;
        let next = modules[module as usize].eval(cx);
        sleep(cx, next);
    }
    evaluations
}

/// Does what the module that just ran asked for.
#[inline(always)]
fn sleep(cx: &Cx, next: Next) {
    let (domain, module) = (cx.domain, cx.place.module);
    let timer = match next {
        Next::Idle => NEVER,
        Next::Busy => {
            domain.wake(module, cx.cycle + 1, cx.now);
            NEVER
        }
        Next::In(edges) => cx.cycle.saturating_add(edges.max(1)),
        Next::At(time) => domain.clock.first_at_or_after(time).max(cx.cycle + 1),
    };
    domain.wheel.set_timer(module, timer);
}
