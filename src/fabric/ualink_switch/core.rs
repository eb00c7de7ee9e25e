//! The middle of the switch: routes, latency, a queue for each pair of ports and class, and who is next.
//!
//! A walk through one cycle of [`CoreModule`]: what the slices have sent is taken: room counts, transactions are routed and
//! enter the pipeline; those whose latency is over enter the queue of their pair; each output with work grants as long as
//! it has room, to the inputs that its arbiter chooses, responses apart from requests; grants and freed buffers go to the
//! slices.

use super::resting::{Resting, RestingSources};
use super::route::{UalRouteRefused, UalRoutes};
use super::{FromCore, SLICE_PORTS, ToCore};
use scalepool_arbiter::{Arbiter, ArbiterError, ArbiterKind, Requests};
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending, Time};
use scalepool_link::ualink::tl::transfer::destination;
use scalepool_link::ualink::tl::{TlClass, TlHeldBuffers};
use scalepool_protocols::ualink::unpack::Transfer;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// A transaction inside, in 40 bytes.
#[derive(Debug, Clone)]
struct QueuedTransfer {
    input: u16,
    output: u16,
    /// The place of the one behind it in the pipeline or in its queue.
    next: u32,
    held: TlHeldBuffers,
    resting: Resting,
}

/// Transactions that came in one cycle, from the first place to the last.
#[derive(Debug, Clone, Copy)]
struct Batch {
    due: u64,
    first: u32,
    last: u32,
}

/// No place.
const NOWHERE: u32 = u32::MAX;

/// A place for a transaction inside.
#[derive(Debug, Clone)]
enum TransferPlace {
    Taken(QueuedTransfer),
    /// It is free, and so is the place `next`.
    Free {
        next: u32,
    },
}

/// Transactions of the pipeline and of all queues, side by side at places that are used again; on the way from one to the
/// other they stay where they are. A tree of queues with memory of their own takes about 600 instructions a flit more.
#[derive(Debug, Clone)]
struct TransferPlaces {
    places: Vec<TransferPlace>,
    /// The first free place.
    free: u32,
    taken: usize,
}

impl TransferPlaces {
    /// Puts a transaction at a place.
    fn put(&mut self, queued: QueuedTransfer) -> u32 {
        self.taken += 1;
        let (at, filled) = (self.free, TransferPlace::Taken(queued));
        if let Some(place) = self.places.get_mut(at as usize)
            && let TransferPlace::Free { next } = *place
        {
            (self.free, *place) = (next, filled);
            return at;
        }
        if self.places.len() == self.places.capacity() {
            // An eighth more, not twice as much.
            self.places.reserve_exact(LEAST_ROOM.max(self.places.len() / 8));
        }
        self.places.push(filled);
        self.places.len() as u32 - 1
    }

    /// What stands at a place is followed by what stands at another one.
    fn follow(&mut self, at: u32, next: u32) {
        if let Some(TransferPlace::Taken(queued)) = self.places.get_mut(at as usize) {
            queued.next = next;
        }
    }

    /// What stands at a place.
    fn get(&self, at: u32) -> Option<&QueuedTransfer> {
        match self.places.get(at as usize)? {
            TransferPlace::Taken(queued) => Some(queued),
            TransferPlace::Free { .. } => None,
        }
    }

    /// Takes what stands at a place out of it.
    fn take(&mut self, at: u32) -> Option<QueuedTransfer> {
        let place = self.places.get_mut(at as usize).filter(|place| matches!(place, TransferPlace::Taken(_)))?;
        let taken = std::mem::replace(place, TransferPlace::Free { next: self.free });
        (self.free, self.taken) = (at, self.taken - 1);
        match taken {
            TransferPlace::Taken(queued) => Some(queued),
            TransferPlace::Free { .. } => None,
        }
    }
}

/// Room for so many more is made at least.
const LEAST_ROOM: usize = 16;

/// What waits from one input port for one class of an output port, first to last.
#[derive(Debug, Clone, Copy)]
struct ClassQueue {
    input: u16,
    first: u32,
    last: u32,
}

/// One class of an output port.
#[derive(Debug, Clone)]
struct OutputLane {
    /// By input port, ascending; none of them is empty.
    queues: Vec<ClassQueue>,
    /// Inputs of which something waits.
    asking: Requests,
    arbiter: Box<dyn Arbiter>,
    /// Transactions that the output port has room for.
    room: u16,
}

impl OutputLane {
    /// Queues what stands at a place and came in by a port.
    fn push(&mut self, places: &mut TransferPlaces, input: u16, place: u32) {
        places.follow(place, NOWHERE);
        match self.queues.binary_search_by_key(&input, |queue| queue.input) {
            Ok(at) => {
                let last = std::mem::replace(&mut self.queues[at].last, place);
                places.follow(last, place);
            }
            Err(at) => {
                self.queues.insert(at, ClassQueue { input, first: place, last: place });
                self.asking.insert(input.into());
            }
        }
    }

    /// The next transaction, if there is room for it.
    fn grant(&mut self, places: &mut TransferPlaces) -> Option<QueuedTransfer> {
        if self.room == 0 {
            return None;
        }
        let granted = self.arbiter.arbitrate(&self.asking)?;
        self.arbiter.update(&self.asking, granted);
        let at = self.queues.binary_search_by_key(&granted, |queue| queue.input.into()).ok()?;
        let queued = places.take(self.queues[at].first)?;
        if queued.next == NOWHERE {
            self.queues.remove(at);
            self.asking.remove(granted);
        } else {
            self.queues[at].first = queued.next;
        }
        self.room -= 1;
        Some(queued)
    }
}

/// A set of ports, a bit each: a tree takes 100 instructions for each of them.
#[derive(Debug, Clone, Default)]
struct Marks {
    words: Vec<u64>,
    /// No word before this one has a bit.
    first: usize,
}

impl Marks {
    fn insert(&mut self, port: u16) {
        let word = usize::from(port) / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (port % 64);
        self.first = self.first.min(word);
    }

    /// Takes the lowest one out.
    fn take_first(&mut self) -> Option<u16> {
        while let Some(word) = self.words.get_mut(self.first) {
            if *word != 0 {
                let bit = word.trailing_zeros();
                *word &= *word - 1;
                return Some((64 * self.first) as u16 + bit as u16);
            }
            self.first += 1;
        }
        None
    }
}

/// What leaves the core.
#[derive(Debug, Clone)]
pub struct Grant {
    /// Port it came in by.
    pub input: u16,
    /// Port it leaves by.
    pub output: u16,
    /// The transaction itself.
    pub transfer: Box<Transfer>,
    /// Its buffers at the input port.
    pub held: TlHeldBuffers,
}

/// Counters, all from the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CoreStats {
    /// Transactions that came in, by class.
    pub arrived: [u64; 2],
    /// Transactions granted, by class.
    pub granted: [u64; 2],
    /// Dropped because denied.
    pub denied: u64,
    /// Dropped because there is no such destination.
    pub out_of_range: u64,
}

/// The core, without its place in a simulation.
#[derive(Debug, Clone)]
pub struct UalSwitchCore {
    routes: UalRoutes,
    latency_cycles: u64,
    /// What is on its way to its queue.
    pipeline: VecDeque<Batch>,
    /// Each output, by class.
    outputs: Vec<[OutputLane; 2]>,
    /// Outputs that have something to grant and room, or had when last looked at.
    active: Marks,
    places: TransferPlaces,
    /// Who makes the data of those inside.
    sources: RestingSources,
    stats: CoreStats,
}

impl UalSwitchCore {
    /// A core whose outputs have room for `room` transactions of each class; what arrives can leave after
    /// `latency_cycles`. An arbiter of `kind` chooses among the inputs of each output and class, all of one weight.
    ///
    /// # Errors
    /// A number of ports that an arbiter cannot have.
    pub fn new(
        routes: UalRoutes,
        latency_cycles: u64,
        room: u16,
        kind: &ArbiterKind,
    ) -> Result<UalSwitchCore, ArbiterError> {
        let arbiter = (kind.make)(&vec![1; usize::from(routes.ports())])?;
        let lane = OutputLane { queues: Vec::new(), asking: Requests::NONE, arbiter, room };
        let outputs = vec![[lane.clone(), lane]; usize::from(routes.ports())];
        Ok(UalSwitchCore {
            routes,
            latency_cycles,
            pipeline: VecDeque::new(),
            outputs,
            active: Marks::default(),
            places: TransferPlaces { places: Vec::new(), free: NOWHERE, taken: 0 },
            sources: RestingSources::default(),
            stats: CoreStats::default(),
        })
    }

    /// Counters.
    pub fn stats(&self) -> &CoreStats {
        &self.stats
    }

    /// Transactions inside.
    pub fn inside(&self) -> usize {
        self.places.taken
    }

    /// Takes a transaction.
    ///
    /// # Errors
    /// It is dropped: its buffers are free at once.
    pub fn arrive(
        &mut self,
        input: u16,
        transfer: impl Into<Box<Transfer>>,
        held: TlHeldBuffers,
        now: u64,
    ) -> Result<(), UalRouteRefused> {
        let transfer = transfer.into();
        self.stats.arrived[held.class.index()] += 1;
        match self.routes.route(input, destination(&transfer.field)) {
            Ok(output) => {
                let due = now + self.latency_cycles;
                let resting = self.sources.rest(transfer);
                let place = self.places.put(QueuedTransfer { input, output, next: NOWHERE, held, resting });
                match self.pipeline.back_mut() {
                    Some(batch) if batch.due == due => {
                        let last = std::mem::replace(&mut batch.last, place);
                        self.places.follow(last, place);
                    }
                    _ => self.pipeline.push_back(Batch { due, first: place, last: place }),
                }
                Ok(())
            }
            Err(refused) => {
                match refused {
                    UalRouteRefused::Denied { .. } => self.stats.denied += 1,
                    UalRouteRefused::OutOfRange { .. } => self.stats.out_of_range += 1,
                }
                Err(refused)
            }
        }
    }

    /// An output port has room for one more transaction of a class.
    pub fn give_room(&mut self, output: u16, class: TlClass) {
        if let Some(lanes) = self.outputs.get_mut(usize::from(output)) {
            let lane = &mut lanes[class.index()];
            lane.room += 1;
            if !lane.queues.is_empty() {
                self.active.insert(output);
            }
        }
    }

    /// Hands out everything that can leave.
    pub fn grant(&mut self, now: u64, mut leave: impl FnMut(Grant)) {
        while self.pipeline.front().is_some_and(|batch| batch.due <= now) {
            let Some(batch) = self.pipeline.pop_front() else { break };
            let mut place = batch.first;
            while let Some(&QueuedTransfer { input, output, next, held, .. }) = self.places.get(place) {
                self.active.insert(output);
                self.outputs[usize::from(output)][held.class.index()].push(&mut self.places, input, place);
                place = next;
            }
        }
        while let Some(output) = self.active.take_first() {
            // Each class has room of its own, so requests and responses do not see each other.
            for lane in &mut self.outputs[usize::from(output)] {
                while let Some(QueuedTransfer { input, output, held, resting, .. }) = lane.grant(&mut self.places) {
                    self.stats.granted[held.class.index()] += 1;
                    leave(Grant { input, output, transfer: self.sources.transfer(resting), held });
                }
            }
        }
    }

    /// Cycle at which the next transaction leaves the pipeline.
    pub fn wakes_at(&self) -> Option<u64> {
        self.pipeline.front().map(|batch| batch.due)
    }
}

/// The core as a module of the kernel.
pub struct CoreModule {
    /// The core.
    core: UalSwitchCore,
    rx: Vec<In<Vec<ToCore>>>,
    tx: Vec<Out<Vec<FromCore>>>,
    /// How much the last batch for each slice was: the next one gets the room for as much at once.
    sent: Vec<usize>,
    busy_since: Option<Time>,
    result: Arc<Mutex<CoreStats>>,
}

impl CoreModule {
    /// A core with its channels, one pair a slice; its counters are in `result` when the run is looked at.
    pub fn new(
        core: UalSwitchCore,
        rx: Vec<In<Vec<ToCore>>>,
        tx: Vec<Out<Vec<FromCore>>>,
        result: Arc<Mutex<CoreStats>>,
    ) -> CoreModule {
        CoreModule { sent: vec![0; tx.len()], core, rx, tx, busy_since: None, result }
    }
}

impl Module for CoreModule {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let now = cx.cycle();
        let mut out: Vec<Vec<FromCore>> = self.sent.iter().map(|sent| Vec::with_capacity(*sent)).collect();
        let slice_of = |port: u16| usize::from(port) / SLICE_PORTS;
        for rx in &mut self.rx {
            while let Some(batch) = rx.pop(cx) {
                for item in batch {
                    match item {
                        ToCore::Room { port, class } => self.core.give_room(port, class),
                        ToCore::Arrived { port, transfer, held } => {
                            if self.core.arrive(port, transfer, held, now).is_err() {
                                out[slice_of(port)].push(FromCore::Release { port, held });
                            }
                        }
                    }
                }
            }
        }
        self.core.grant(now, |grant| {
            let Grant { input, output, transfer, held } = grant;
            out[slice_of(output)].push(FromCore::Send { port: output, transfer });
            out[slice_of(input)].push(FromCore::Release { port: input, held });
        });
        for ((tx, sent), batch) in self.tx.iter_mut().zip(&mut self.sent).zip(out) {
            *sent = batch.len();
            if !batch.is_empty() {
                // A slice takes a batch each cycle, so there is always room.
                let pushed = tx.push(cx, batch);
                debug_assert!(pushed.is_ok(), "the slice has not taken its batches");
            }
        }
        self.busy_since = if self.core.inside() == 0 { None } else { self.busy_since.or(Some(cx.now())) };
        match self.core.wakes_at() {
            Some(due) => Next::In(due.saturating_sub(now).max(1)),
            None => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        match self.busy_since {
            Some(since) => Err(Pending::new(format!("{} transactions inside", self.core.inside()), since)),
            None => Ok(()),
        }
    }

    fn publish(&self) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = *self.core.stats();
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("inside", self.core.inside() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hundreds of transactions are inside for each port.
    #[test]
    fn a_transaction_inside_takes_little() {
        assert_eq!((size_of::<QueuedTransfer>(), size_of::<TransferPlace>()), (40, 40));
    }
}
