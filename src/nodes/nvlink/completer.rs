//! What a node on NVLink does for others: its memory behind its links (`nvlink` §3, `bridge` §4.3, §4.4). Basis: model.
//!
//! Modelled: requests that take effect in the order in which they come over a link, answers behind a fixed latency, atomics, posted
//! requests with their order (see [`link_group`](super::link_group)), FLUSH, poison of lines. Left out: banks, address translation.
//!
//! A walk: a posted write takes effect when it comes; a READ takes its bytes when it comes, and its answer is due behind the latency; a
//! FLUSH waits until as many posted requests have come over its link as it states, and its answer takes the latency too.

use super::gpu::request_handle;
use super::link_group::{LinkGroup, local};
use super::memory::GpuMemory;
use scalepool_link::nvlink::NvlMessage;
use scalepool_memory::backend::{MemoryBackend, MemoryRequest, MemoryTiming};
use scalepool_protocols::nvlink::{NvlConfig, Op};
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionNaming, Wait};

/// Error code of a refused operation (`bridge` §4.3, status 2), in `size` of RSP_ERROR.
pub const REFUSED: u8 = 2;

/// Answers a link that wait for their time or for room, at which no more requests are taken \[D\].
pub const NVLINK_ANSWERS: usize = 256;

/// An answer with the transaction that it ends.
pub struct NvlDelayedAnswer {
    /// The answer.
    pub message: NvlMessage,
    /// The transaction in traces.
    pub id: u64,
}

/// A FLUSH whose writes are not all here.
struct Flush {
    link: usize,
    count: u64,
    message: NvlMessage,
    id: u64,
}

/// The completer of a node.
pub struct NvlCompleter {
    own: u16,
    fabric: u32,
    codec: NvlConfig,
    /// Answers a link that wait, before requests are taken no more.
    answer_queue: usize,
    /// The memory.
    pub memory: GpuMemory,
    arrivals: LinkGroup,
    /// Answers by link, which keep their order there.
    answers: Vec<Box<dyn MemoryBackend<NvlDelayedAnswer>>>,
    /// Links whose first answer is due and has no room, as the trace says.
    full: Vec<bool>,
    flushes: Vec<Flush>,
}

impl NvlCompleter {
    /// Of node `own` of a fabric, with so many links, an answer so many cycles behind its request, and room for so many answers a link
    /// that wait.
    pub fn new((own, fabric): (u16, u32), links: usize, memory_cycles: u64, answer_queue: usize) -> NvlCompleter {
        NvlCompleter {
            own,
            fabric,
            codec: NvlConfig::default(),
            answer_queue,
            memory: GpuMemory::default(),
            arrivals: LinkGroup::new(links),
            answers: (0..links).map(|_| MemoryTiming::fixed(memory_cycles).build()).collect(),
            full: vec![false; links],
            flushes: Vec::new(),
        }
    }

    /// Begins in traces what is done for a request of another node.
    pub fn serves(&self, message: &NvlMessage, at: Stamp, tap: &mut Tap) -> u64 {
        let id = tap.new_id();
        let named = TransactionNaming::By(request_handle(self.fabric, message, self.own));
        let address = message.address;
        tap.named(named, at, RecordKind::Begin, id, 0, || Body::Access { name: "serve", address });
        id
    }

    /// A posted request takes effect; what is wrong with its order, if something is.
    pub fn posted(&mut self, message: &NvlMessage, link: usize) -> Option<Violation> {
        let mut wrong = None;
        if message.op != Op::MULTICAST_WRITE
            && let Err((home, tag)) = self.arrivals.arrived(message.rid, link, message.tag, message.address)
        {
            let found = format!("link {link}, number {}, from {}", message.tag, message.rid);
            let expected = format!("link {home}, number {tag}");
            let text = "posted requests to a block have come in the wrong order";
            wrong = Some(Violation::at_byte("NVL-TLR-03", 0, found, expected, text));
        }
        let address = local(message.address);
        if message.op == Op::ATOMIC_POSTED {
            // Nobody hears of a refused one: it has no answer.
            let _ = self.memory.atomic(address, message.attr, message.be.unwrap_or(0), &message.data);
        } else {
            self.memory.write_marked(address, &message.data, message.be, message.ep);
        }
        wrong
    }

    /// Whether there is room for the answer to one more request of a link.
    pub fn may_take(&self, link: usize) -> bool {
        self.answers[link].in_flight() < self.answer_queue
    }

    /// Answers to a request of this node's memory; data come with the poison of any line that they are read from.
    fn answer(&mut self, (at, id): (Stamp, u64), link: usize, to: &NvlMessage, op: Op, data: Vec<u8>, tap: &mut Tap) {
        tap.wait(at, id, Wait::Media, 0);
        let ep = self.memory.is_poisoned(local(to.address), data.len());
        let size = if op == Op::RSP_ERROR { REFUSED } else { 0 };
        self.answer_as(at, link, id, NvlMessage { ep, data, size, ..self.answer_to(to, op) });
    }

    /// The head of an answer to a request.
    pub fn answer_to(&self, to: &NvlMessage, op: Op) -> NvlMessage {
        NvlMessage { tag: to.tag, rid: to.rid, ..NvlMessage::new(op, &self.codec) }
    }

    /// This answer leaves behind the latency; with it the transaction `id` ends.
    pub fn answer_as(&mut self, at: Stamp, link: usize, id: u64, message: NvlMessage) {
        // A latency without limits always has room.
        let _ = self.answers[link].push(at.cycle, &MemoryRequest::NONE, NvlDelayedAnswer { message, id });
    }

    /// A request with an answer takes effect, for which transaction `id` was begun.
    pub fn request(&mut self, message: NvlMessage, link: usize, id: u64, at: Stamp, tap: &mut Tap) {
        let served = (at, id);
        let address = local(message.address);
        match message.op {
            Op::READ => {
                let data = self.memory.read(address, 16 * (usize::from(message.size) + 1));
                self.answer(served, link, &message, Op::RSP_DATA, data, tap);
            }
            Op::WRITE_NONPOSTED => {
                self.memory.write_marked(address, &message.data, message.be, message.ep);
                self.answer(served, link, &message, Op::RSP_DONE, Vec::new(), tap);
            }
            Op::ATOMIC_RETURN => {
                match self.memory.atomic(address, message.attr, message.be.unwrap_or(0), &message.data) {
                    Some(old) => self.answer(served, link, &message, Op::RSP_DATA, old, tap),
                    None => self.answer(served, link, &message, Op::RSP_ERROR, Vec::new(), tap),
                }
            }
            Op::FLUSH => {
                tap.wait(at, id, Wait::Order, 0);
                self.flushes.push(Flush { link, count: address >> 4, message, id });
            }
            // What only a switch understands.
            _ => self.answer(served, link, &message, Op::RSP_ERROR, Vec::new(), tap),
        }
    }

    /// FLUSHes whose writes are here are answered.
    pub fn answer_flushes(&mut self, at: Stamp, tap: &mut Tap) {
        for flush in std::mem::take(&mut self.flushes) {
            let Flush { link, count, message, id } = &flush;
            if self.arrivals.has(message.rid, *link, *count) {
                self.answer((at, *id), *link, message, Op::RSP_DONE, Vec::new(), tap);
            } else {
                self.flushes.push(flush);
            }
        }
    }

    /// Whether an answer of a link is due.
    pub fn is_due(&self, link: usize, cycle: u64) -> bool {
        self.answers[link].is_ready(cycle)
    }

    /// The next answer of a link leaves, for which there is room.
    pub fn leaves(&mut self, link: usize, at: Stamp, tap: &mut Tap) -> Option<NvlMessage> {
        let NvlDelayedAnswer { message, id } = self.answers[link].pop(at.cycle)?;
        self.full[link] = false;
        tap.record(at, RecordKind::End, id, 0, || Body::None);
        Some(message)
    }

    /// An answer of a link that is due and has found no room waits for it, as traces say once.
    pub fn stays(&mut self, link: usize, at: Stamp, tap: &mut Tap) {
        let first = self.answers[link].first().filter(|_| !self.full[link]);
        if let Some(first) = first.filter(|_| self.answers[link].is_ready(at.cycle)) {
            self.full[link] = true;
            tap.wait(at, first.id, Wait::Link, 0);
        }
    }

    /// When the next answer is due that was not yet.
    pub fn due(&self, cycle: u64) -> Option<u64> {
        self.answers.iter().filter_map(|queue| queue.ready_at()).filter(|&ready| ready > cycle).min()
    }

    /// Answers that wait, FLUSHes among them.
    pub fn waiting(&self) -> usize {
        self.answers.iter().map(|queue| queue.in_flight()).sum::<usize>() + self.flushes.len()
    }
}
