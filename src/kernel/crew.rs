//! Who runs the partitions: one thread after the other partition, or several threads in step.
//!
//! Each window is one round: the driver sets an order, every thread carries it out for its own partitions, and the driver
//! waits until all have arrived. A waiting thread spins for a while, then sleeps until it is woken. How long it spins follows
//! from what spinning has brought: where other work keeps the cores busy, the thread that it waits for does not run until
//! this one gives its core away.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, Thread};

use super::error::{BuildError, Unfinished};
use super::partition::{Counts, Partition, PartitionBuilder, PartitionStatus, TakenNames};
use super::simulation::RunOptions;
use super::time::Time;

/// Puts one partition together.
pub(super) type Build = Box<dyn FnOnce(&mut PartitionBuilder) -> Result<(), BuildError> + Send>;

/// All partitions, wherever they run.
pub(super) trait Crew {
    fn run(&mut self, end: Time);
    fn status(&self) -> PartitionStatus;
    fn open(&mut self) -> Vec<Unfinished>;
    /// Whether every module is done.
    fn is_done(&mut self) -> bool;
    /// Has every module leave what it has measured; the counts of the partitions.
    fn publish(&mut self) -> Vec<Counts>;
}

/// The partitions of one thread.
pub(super) struct Group {
    partitions: Vec<Partition>,
    status: PartitionStatus,
}

impl Group {
    /// Builds them; an error comes with the number of its partition.
    pub(super) fn build(
        seed: u64,
        options: &RunOptions,
        builds: Vec<(u32, Build)>,
    ) -> Result<(Group, Vec<TakenNames>), (u32, BuildError)> {
        let (mut partitions, mut names) = (Vec::new(), Vec::new());
        for (index, build) in builds {
            let mut builder = PartitionBuilder::new(index, seed);
            let built = build(&mut builder).and_then(|()| builder.finish(options));
            let (partition, its_names) = built.map_err(|error| (index, error))?;
            partitions.push(partition);
            names.push(its_names);
        }
        let status = partitions.iter_mut().map(Partition::status).fold(PartitionStatus::NONE, PartitionStatus::and);
        Ok((Group { partitions, status }, names))
    }
}

impl Crew for Group {
    fn run(&mut self, end: Time) {
        self.status = self
            .partitions
            .iter_mut()
            .map(|partition| partition.run(end))
            .fold(PartitionStatus::NONE, PartitionStatus::and);
    }
    fn status(&self) -> PartitionStatus {
        self.status
    }
    fn open(&mut self) -> Vec<Unfinished> {
        self.partitions.iter().flat_map(Partition::open).collect()
    }
    fn is_done(&mut self) -> bool {
        self.partitions.iter().all(Partition::is_done)
    }
    fn publish(&mut self) -> Vec<Counts> {
        self.partitions.iter().for_each(Partition::publish);
        self.partitions.iter().map(Partition::counts).collect()
    }
}

/// What the threads do in a round.
#[derive(Clone, Copy)]
enum Order {
    Run(Time),
    Open,
    IsDone,
    Publish,
    Stop,
}

/// What a thread answers.
enum CrewAnswer {
    Built(Vec<TakenNames>),
    NotBuilt(u32, BuildError),
    Ran(PartitionStatus),
    Open(Vec<Unfinished>),
    IsDone(bool),
    Counts(Vec<Counts>),
}

/// Where the driver and the other threads meet.
struct Desk {
    order: Mutex<Order>,
    /// The number of the order.
    round: AtomicUsize,
    answers: Vec<Mutex<Option<CrewAnswer>>>,
    /// Threads that have not answered yet.
    missing: AtomicUsize,
    /// The driver, while it sleeps.
    driver: Mutex<Option<Thread>>,
    /// A thread panicked.
    broken: AtomicBool,
}

impl Desk {
    fn give(&self, order: Order) {
        *lock(&self.order) = order;
        self.missing.store(self.answers.len(), Ordering::Release);
        self.round.fetch_add(1, Ordering::Release);
    }

    fn answer(&self, me: usize, answer: CrewAnswer) {
        *lock(&self.answers[me]) = Some(answer);
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.wake_driver();
        }
    }

    fn wake_driver(&self) {
        if let Some(driver) = lock(&self.driver).take() {
            driver.unpark();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a thread spins before it sleeps.
#[derive(Default)]
struct Patience {
    /// Spinning was in vain the last time.
    lost: bool,
    waits: u32,
}

impl Patience {
    /// Some ten microseconds: longer than most windows, shorter than a time slice.
    const SPINS: u32 = 2_000;
    /// Of so many waits one spins whatever came of it before, to find out when it pays again.
    const TRY_EVERY: u32 = 64;

    /// Spins, then sleeps again and again, until `ready`. Whoever makes it ready wakes this thread; `announce` is called before it
    /// looks for the last time.
    fn wait_until(&mut self, ready: impl Fn() -> bool, announce: impl Fn()) {
        self.waits = self.waits.wrapping_add(1);
        if !self.lost || self.waits.is_multiple_of(Patience::TRY_EVERY) {
            for _ in 0..Patience::SPINS {
                if ready() {
                    self.lost = false;
                    return;
                }
                std::hint::spin_loop();
            }
            self.lost = true;
        }
        loop {
            announce();
            if ready() {
                return;
            }
            std::thread::park();
        }
    }
}

/// Tells the driver if the thread panics.
struct Alarm<'a>(&'a Desk);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Release);
            self.0.wake_driver();
        }
    }
}

/// One of the other threads: builds its partitions and carries out orders.
fn work(desk: &Desk, me: usize, seed: u64, options: &RunOptions, builds: Vec<(u32, Build)>) {
    let _alarm = Alarm(desk);
    let mut group = match Group::build(seed, options, builds) {
        Ok((group, names)) => {
            desk.answer(me, CrewAnswer::Built(names));
            group
        }
        Err((partition, error)) => return desk.answer(me, CrewAnswer::NotBuilt(partition, error)),
    };
    let (mut done, mut patience) = (0, Patience::default());
    loop {
        // The driver wakes it with every order.
        patience.wait_until(|| desk.round.load(Ordering::Acquire) != done, || ());
        done += 1;
        let order = *lock(&desk.order);
        let answer = match order {
            Order::Run(end) => {
                group.run(end);
                CrewAnswer::Ran(group.status())
            }
            Order::Open => CrewAnswer::Open(group.open()),
            Order::IsDone => CrewAnswer::IsDone(group.is_done()),
            Order::Publish => CrewAnswer::Counts(group.publish()),
            Order::Stop => return,
        };
        desk.answer(me, answer);
    }
}

/// The partitions of each thread, ascending: those of most weight are dealt first, each to the thread that has least so far.
///
/// Of a pod with 256 UALink accelerators the switch is two fifths of all work. Dealt in turn, the thread that got it had two and
/// a half times the work of the other one.
fn deal(weights: &[u64], threads: usize) -> Vec<Vec<usize>> {
    let mut heaviest: Vec<usize> = (0..weights.len()).collect();
    scalepool_ordered::sort_by_key(&mut heaviest, |&partition| std::cmp::Reverse(weights[partition]));
    let mut shares: Vec<(u64, Vec<usize>)> = vec![(0, Vec::new()); threads];
    for partition in heaviest {
        if let Some((weight, share)) = shares.iter_mut().min_by_key(|(weight, _)| *weight) {
            *weight += weights[partition];
            share.push(partition);
        }
    }
    let ascending = |(_, mut share): (u64, Vec<usize>)| {
        scalepool_ordered::sort(&mut share);
        share
    };
    shares.into_iter().map(ascending).collect()
}

/// Partitions on several threads, this one included.
pub(super) struct Threads {
    own: Group,
    /// Partitions by thread, this one first.
    dealt: Vec<Vec<usize>>,
    desk: Arc<Desk>,
    others: Vec<JoinHandle<()>>,
    status: PartitionStatus,
    patience: Patience,
}

impl Threads {
    /// Starts the threads; each builds its own partitions, which come with their weights. The names come in the order of the
    /// partitions.
    pub(super) fn build(
        threads: usize,
        seed: u64,
        options: &RunOptions,
        builds: Vec<(u64, Build)>,
    ) -> Result<(Threads, Vec<TakenNames>), BuildError> {
        let (weights, builds): (Vec<u64>, Vec<Build>) = builds.into_iter().unzip();
        let dealt = deal(&weights, threads);
        let mut builds: Vec<Option<Build>> = builds.into_iter().map(Some).collect();
        let mut build_of = |&partition: &usize| builds[partition].take().map(|build| (partition as u32, build));
        let shares: Vec<Vec<(u32, Build)>> =
            dealt.iter().map(|share| share.iter().filter_map(&mut build_of).collect()).collect();
        let mut shares = shares.into_iter();
        let own_share = shares.next().unwrap_or_default();
        let desk = Arc::new(Desk {
            order: Mutex::new(Order::Stop),
            round: AtomicUsize::new(0),
            answers: (1..threads).map(|_| Mutex::default()).collect(),
            missing: AtomicUsize::new(threads - 1),
            driver: Mutex::default(),
            broken: AtomicBool::new(false),
        });
        let start = |(me, share)| {
            let (desk, options) = (desk.clone(), options.clone());
            std::thread::spawn(move || work(&desk, me, seed, &options, share))
        };
        let others = shares.enumerate().map(start).collect();
        // From here on, dropping the crew sends the threads home.
        let own = Group { partitions: Vec::new(), status: PartitionStatus::NONE };
        let mut crew =
            Threads { own, dealt, desk, others, status: PartitionStatus::NONE, patience: Patience::default() };
        let mut outcomes = Vec::new();
        match Group::build(seed, options, own_share) {
            Ok((group, names)) => {
                crew.own = group;
                outcomes.push(Ok(names));
            }
            Err(error) => outcomes.push(Err(error)),
        }
        for answer in crew.gather() {
            match answer {
                CrewAnswer::Built(names) => outcomes.push(Ok(names)),
                CrewAnswer::NotBuilt(partition, error) => outcomes.push(Err((partition, error))),
                _ => {}
            }
        }
        let mut names = Vec::new();
        let mut first_error: Option<(u32, BuildError)> = None;
        for (thread, outcome) in outcomes.into_iter().enumerate() {
            match outcome {
                Ok(its) => names.extend(crew.dealt[thread].iter().copied().zip(its)),
                Err(error) if first_error.as_ref().is_none_or(|first| error.0 < first.0) => first_error = Some(error),
                Err(_) => {}
            }
        }
        if let Some((_, error)) = first_error {
            return Err(error);
        }
        scalepool_ordered::sort_by_key(&mut names, |(partition, _)| *partition);
        // A window that ends at 0 runs nothing: it fetches where the partitions stand.
        crew.run(Time::ZERO);
        Ok((crew, names.into_iter().map(|(_, names)| names).collect()))
    }

    fn give(&self, order: Order) {
        self.desk.give(order);
        self.others.iter().for_each(|other| other.thread().unpark());
    }

    /// Waits for the answers of the other threads.
    fn gather(&mut self) -> Vec<CrewAnswer> {
        let desk = &self.desk;
        let done = || desk.missing.load(Ordering::Acquire) == 0 || desk.broken.load(Ordering::Acquire);
        self.patience.wait_until(done, || *lock(&desk.driver) = Some(std::thread::current()));
        if desk.broken.load(Ordering::Acquire) {
            self.give(Order::Stop);
            for other in self.others.drain(..) {
                if let Err(panic) = other.join() {
                    resume_unwind(panic);
                }
            }
        }
        desk.answers.iter().filter_map(|answer| lock(answer).take()).collect()
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.give(Order::Stop);
        for other in self.others.drain(..) {
            // A panic of a thread was passed on when its answer was waited for.
            let _ = other.join();
        }
    }
}

impl Crew for Threads {
    fn run(&mut self, end: Time) {
        self.give(Order::Run(end));
        self.own.run(end);
        let mut status = self.own.status();
        for answer in self.gather() {
            if let CrewAnswer::Ran(its) = answer {
                status = status.and(its);
            }
        }
        self.status = status;
    }

    fn status(&self) -> PartitionStatus {
        self.status
    }

    fn open(&mut self) -> Vec<Unfinished> {
        self.give(Order::Open);
        let mut open = self.own.open();
        for answer in self.gather() {
            if let CrewAnswer::Open(its) = answer {
                open.extend(its);
            }
        }
        open
    }

    fn is_done(&mut self) -> bool {
        self.give(Order::IsDone);
        let own = self.own.is_done();
        let others = self.gather();
        own && !others.iter().any(|answer| matches!(answer, CrewAnswer::IsDone(false)))
    }

    fn publish(&mut self) -> Vec<Counts> {
        self.give(Order::Publish);
        let mut shares = vec![self.own.publish()];
        for answer in self.gather() {
            if let CrewAnswer::Counts(its) = answer {
                shares.push(its);
            }
        }
        // Back into the order of the partitions.
        let mut counts: Vec<_> = self.dealt.iter().flatten().zip(shares.into_iter().flatten()).collect();
        scalepool_ordered::sort_by_key(&mut counts, |(partition, _)| **partition);
        counts.into_iter().map(|(_, counts)| counts).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::deal;

    #[test]
    fn threads_get_about_the_same_weight() {
        assert_eq!(deal(&[1; 7], 3), [vec![0, 3, 6], vec![1, 4], vec![2, 5]], "of one weight in turn");
        let mut pod = vec![5; 10];
        pod.push(40);
        assert_eq!(deal(&pod, 2), [vec![8, 10], vec![0, 1, 2, 3, 4, 5, 6, 7, 9]]);
        assert_eq!(deal(&[3, 4], 4), [vec![1], vec![0], vec![], vec![]]);
    }
}
