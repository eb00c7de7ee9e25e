//! Links: channels of known physical latency that may join two partitions.
//!
//! A link is a wire, not a queue: sending never fails, and the protocol's own credits bound what is
//! under way. What is sent at t is due at t + latency; the reader sees it from its first edge not before that time.
//!
//! Between partitions, items wait in an outbox until the window ends. A window is never longer than the smallest latency of
//! such a link, so nothing sent in a window is due in it. Within one partition they go straight to the reader's mailbox.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::module::{Cx, End, Inbound, ModulePlace, Outbound, PartitionLinkEnds, PartitionState, sealed};
use super::time::Time;

/// Not attached to any partition.
const NOWHERE: u32 = u32::MAX;

/// What the simulation knows of a link: who owns its ends.
pub(super) struct LinkInfo {
    pub(super) name: String,
    pub(super) latency_fs: u64,
    writer: AtomicU32,
    reader: AtomicU32,
}

impl LinkInfo {
    /// The end that no module owns, if there is one.
    pub(super) fn unbound(&self) -> Option<&'static str> {
        let free = |end: &AtomicU32| end.load(Ordering::Acquire) == NOWHERE;
        if free(&self.writer) {
            Some("writer")
        } else if free(&self.reader) {
            Some("reader")
        } else {
            None
        }
    }

    /// Whether both ends are in one partition. Constant once the design is built.
    #[inline]
    pub(super) fn is_local(&self) -> bool {
        self.writer.load(Ordering::Acquire) == self.reader.load(Ordering::Acquire)
    }
}

/// What both ends share, across threads.
struct SharedLink<T> {
    info: Arc<LinkInfo>,
    /// What waits to be taken in; within one partition, what waits to be taken.
    mailbox: Mutex<VecDeque<(Time, T)>>,
    /// Between partitions: the mailbox is not empty.
    filled: AtomicBool,
    /// When the first item that the reader may take is due \[fs\]; the last of all times: there is none. A reader with many links
    /// finds most of them without anything due, by this alone.
    next_fs: AtomicU64,
    /// Where the reader is, for a writer in the same partition.
    reader_domain: AtomicU32,
    reader_module: AtomicU32,
}

impl<T> SharedLink<T> {
    /// The first item that may be taken.
    #[inline]
    fn set_next(&self, first: Option<&(Time, T)>) {
        self.next_fs.store(first.map_or(Time::MAX, |item| item.0).as_fs(), Ordering::Relaxed);
    }

    fn mailbox(&self) -> MutexGuard<'_, VecDeque<(Time, T)>> {
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A new link: its ends, and its entry in the list of the simulation.
pub(super) fn link<T: Send + 'static>(name: &str, latency_fs: u64) -> (LinkOutEnd<T>, LinkInEnd<T>, Arc<LinkInfo>) {
    let info = Arc::new(LinkInfo {
        name: name.into(),
        latency_fs,
        writer: AtomicU32::new(NOWHERE),
        reader: AtomicU32::new(NOWHERE),
    });
    let link = Arc::new(SharedLink {
        info: info.clone(),
        mailbox: Mutex::default(),
        filled: AtomicBool::new(false),
        next_fs: AtomicU64::new(Time::MAX.as_fs()),
        reader_domain: AtomicU32::new(0),
        reader_module: AtomicU32::new(0),
    });
    (LinkOutEnd(link.clone()), LinkInEnd(link), info)
}

/// The writing end of a link, not attached yet. It may travel to the thread of its partition.
#[must_use = "an end that no module owns is an error"]
pub struct LinkOutEnd<T>(Arc<SharedLink<T>>);

/// The reading end of a link, not attached yet. It may travel to the thread of its partition.
#[must_use = "an end that no module owns is an error"]
pub struct LinkInEnd<T>(Arc<SharedLink<T>>);

/// The port of the module that sends into a link.
pub struct LinkOut<T>(Rc<LinkSender<T>>);

struct LinkSender<T> {
    link: Arc<SharedLink<T>>,
    /// The place among the links that start in this partition.
    ordinal: u32,
    /// Sent in this window.
    outbox: RefCell<VecDeque<(Time, T)>>,
}

impl<T: Send + 'static> End for LinkOutEnd<T> {}
impl<T: Send + 'static> sealed::Attach for LinkOutEnd<T> {
    type Port = LinkOut<T>;
    #[allow(private_interfaces)]
    fn attach(self, _: ModulePlace, links: &mut PartitionLinkEnds) -> LinkOut<T> {
        self.0.info.writer.store(links.partition, Ordering::Release);
        let ordinal = links.outbound.len() as u32;
        let sender = Rc::new(LinkSender { link: self.0, ordinal, outbox: RefCell::default() });
        links.outbound.push(sender.clone());
        LinkOut(sender)
    }
}

impl<T> LinkOut<T> {
    /// Sends `item`. Never refused.
    pub fn push(&mut self, cx: &mut Cx, item: T) {
        let LinkSender { link, ordinal, outbox } = &*self.0;
        let due = cx.now.plus_fs(link.info.latency_fs);
        if link.info.is_local() {
            let mut mailbox = link.mailbox();
            mailbox.push_back((due, item));
            link.set_next(mailbox.front());
            drop(mailbox);
            let domain = link.reader_domain.load(Ordering::Relaxed);
            let module = link.reader_module.load(Ordering::Relaxed);
            cx.core.wake_at(ModulePlace { domain, module }, due);
        } else {
            let mut outbox = outbox.borrow_mut();
            if outbox.is_empty() {
                cx.core.to_send.borrow_mut().push(*ordinal);
            }
            outbox.push_back((due, item));
        }
    }

    /// The latency of the link, in fs.
    pub fn latency_fs(&self) -> u64 {
        self.0.link.info.latency_fs
    }
}

impl<T> Outbound for LinkSender<T> {
    fn flush(&self) -> Time {
        let mut outbox = self.outbox.borrow_mut();
        let first = outbox.front().map_or(Time::MAX, |item| item.0);
        let mut mailbox = self.link.mailbox();
        if mailbox.is_empty() {
            std::mem::swap(&mut *mailbox, &mut *outbox);
        } else {
            mailbox.append(&mut outbox);
        }
        self.link.filled.store(true, Ordering::Release);
        first
    }
}

/// The port of the module that receives from a link.
pub struct LinkIn<T> {
    receiver: Rc<LinkReceiver<T>>,
    /// The first item, if somebody looked at it.
    seen: Option<T>,
}

struct LinkReceiver<T> {
    link: Arc<SharedLink<T>>,
    place: ModulePlace,
    queue: RefCell<VecDeque<(Time, T)>>,
    /// When the item that somebody looked at was due.
    seen_due: Cell<Option<Time>>,
}

impl<T: Send + 'static> End for LinkInEnd<T> {}
impl<T: Send + 'static> sealed::Attach for LinkInEnd<T> {
    type Port = LinkIn<T>;
    #[allow(private_interfaces)]
    fn attach(self, place: ModulePlace, links: &mut PartitionLinkEnds) -> LinkIn<T> {
        self.0.reader_domain.store(place.domain, Ordering::Relaxed);
        self.0.reader_module.store(place.module, Ordering::Relaxed);
        self.0.info.reader.store(links.partition, Ordering::Release);
        let receiver =
            Rc::new(LinkReceiver { link: self.0, place, queue: RefCell::default(), seen_due: Cell::new(None) });
        links.inbound.push(receiver.clone());
        LinkIn { receiver, seen: None }
    }
}

impl<T> LinkReceiver<T> {
    /// Moves the mailbox into the queue and shows every item to `each`. If the queue is empty, the two change places: an item is
    /// moved when it is sent and when it is taken, and not in between.
    fn open_mailbox(&self, mut each: impl FnMut(Time)) {
        let mut queue = self.queue.borrow_mut();
        let mut mailbox = self.link.mailbox();
        if queue.is_empty() {
            std::mem::swap(&mut *queue, &mut *mailbox);
            queue.iter().for_each(|item| each(item.0));
        } else {
            while let Some(item) = mailbox.pop_front() {
                each(item.0);
                queue.push_back(item);
            }
        }
        self.link.set_next(queue.front());
        // The mailbox is still locked: a writer on another thread cannot fill it in between.
        self.link.filled.store(false, Ordering::Relaxed);
    }

    /// Whether an item is due. Between partitions the scheduler opens the mailbox, between windows.
    #[inline]
    fn is_due(&self, now: Time) -> bool {
        self.link.next_fs.load(Ordering::Relaxed) <= now.as_fs()
    }

    /// Takes the first item, which is due.
    #[inline]
    fn take_first(&self) -> Option<(Time, T)> {
        if self.link.info.is_local() {
            self.take_from(&mut self.link.mailbox())
        } else {
            self.take_from(&mut self.queue.borrow_mut())
        }
    }

    #[inline]
    fn take_from(&self, queue: &mut VecDeque<(Time, T)>) -> Option<(Time, T)> {
        let first = queue.pop_front();
        self.link.set_next(queue.front());
        first
    }
}

impl<T> LinkIn<T> {
    /// Takes the first item that is due.
    #[inline(always)]
    pub fn pop(&mut self, cx: &mut Cx) -> Option<T> {
        // Asked for before it is taken, and here: most often there is none, and a call costs more than the question.
        if self.is_due(cx) { self.take() } else { None }
    }

    /// Takes the first item, which is due.
    #[inline(never)]
    fn take(&mut self) -> Option<T> {
        if self.seen.is_some() {
            self.receiver.seen_due.set(None);
            return self.seen.take();
        }
        self.receiver.take_first().map(|item| item.1)
    }

    /// Looks at the first item that is due and leaves it there.
    pub fn peek(&mut self, cx: &Cx) -> Option<&T> {
        if self.seen.is_none()
            && self.receiver.is_due(cx.now)
            && let Some((due, item)) = self.receiver.take_first()
        {
            self.receiver.seen_due.set(Some(due));
            self.seen = Some(item);
        }
        self.seen.as_ref()
    }

    /// Whether an item is due.
    #[inline]
    pub fn is_due(&self, cx: &Cx) -> bool {
        self.seen.is_some() || self.receiver.is_due(cx.now)
    }

    /// The latency of the link, in fs.
    pub fn latency_fs(&self) -> u64 {
        self.receiver.link.info.latency_fs
    }
}

impl<T> Inbound for LinkReceiver<T> {
    fn take_in(&self, core: &PartitionState) {
        if self.link.filled.load(Ordering::Acquire) && !self.link.info.is_local() {
            self.open_mailbox(|due| {
                core.wake_at(self.place, due);
            });
        }
    }

    fn left(&self) -> Option<(String, usize, Time)> {
        let queue = self.queue.borrow();
        let mailbox = self.link.mailbox();
        let first = queue.front().or(mailbox.front()).map(|item| item.0);
        let items = queue.len() + mailbox.len() + usize::from(self.seen_due.get().is_some());
        self.seen_due.get().or(first).map(|due| (self.link.info.name.clone(), items, due))
    }
}
