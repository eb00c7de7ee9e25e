//! The host: a core that follows a memory trace through a cache, and the requests that miss.
//!
//! Modelled: one access after the other in program order, at the earliest at the cycle that the trace gives and stalled
//! while too many misses are open; a write-back, write-allocate cache whose lines are claimed when they miss, so hits,
//! misses and write-backs do not depend on the latency of memory; CXL.mem requests with tags; an end-to-end check of all
//! bytes. Left out: dependences between accesses, instruction timing, virtual memory.
//!
//! A walk through one cycle: answers are taken, checked against what memory must hold, and put into the lines that wait
//! for them; then accesses are issued until one is not due or cannot go. A request to a line with a write under way
//! waits for its completion, because CXL.mem keeps no order between the two channels.

use super::TRANSACTION_LAYOUTS;
use crate::kernel::{Cx, In, Module, Next, Out, Pending, Rng, Time};
use crate::memory::cache::Cache;
use crate::memory::store::{Background, Store};
use crate::memory::{ALL_BYTES, Line};
use crate::scenario::report::Broken;
use crate::scenario::stimulus::LineAccess;
use crate::trace::{Body, Kind, PlaceKind, Stamp, Tap};
use scalepool_protocols::cxl::cxl68::code::{M2sReqOpcode, M2sRwdOpcode, MetaField};
use scalepool_protocols::cxl::cxl68::message::{Class, M2sReq, M2sRwd, S2mDrs, S2mNdr};
use scalepool_protocols::cxl::cxl68::stream::{Data, Message, Size};
use scalepool_protocols::wire::{At, Violation, Wire};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// What the host leaves behind for the report.
#[derive(Debug, Clone, Default)]
pub struct HostResult {
    /// Line accesses issued.
    pub accesses: u64,
    /// Of them hits.
    pub hits: u64,
    /// Of them misses, or reads where there is no cache.
    pub misses: u64,
    /// Dirty lines written back, or writes where there is no cache.
    pub writes: u64,
    /// Bytes of finished reads and writes.
    pub bytes: u64,
    /// Request to answer, by transaction \[cycles of the host clock\].
    pub latency_cycles: Vec<u64>,
    /// The same \[fs\].
    pub latency_fs: Vec<u64>,
    /// End-to-end checks that failed.
    pub broken: Vec<Broken>,
    /// Cycles in which an access was due and could not go.
    pub stall_cycles: u64,
}

/// How the host is built.
pub struct HostConfig {
    /// Accesses in program order, addresses of device memory.
    pub accesses: Vec<LineAccess>,
    /// Cycles are times of their own; else each is relative to the access before.
    pub absolute_cycles: bool,
    /// `None`: every access goes to memory.
    pub cache: Option<Cache>,
    /// Most misses that may be open (without a cache: most requests).
    pub outstanding: usize,
    /// Content of memory that was never written.
    pub background: Background,
}

/// A request whose answer has not come.
struct OpenRequest {
    line: u64,
    write: bool,
    bytes: u64,
    since: Time,
    since_cycle: u64,
    id: u64,
}

/// Place of the host in traces.
pub const PLACE: &str = "host.core";

/// What the host shows in a wave.
pub const SHOWS: PlaceKind = PlaceKind::Messages(TRANSACTION_LAYOUTS);

/// The host core and its cache.
pub struct Host {
    config: HostConfig,
    next: usize,
    /// Cycle and schedule of the access before.
    before: Option<(u64, u64)>,
    open: BTreeMap<u16, OpenRequest>,
    open_reads: usize,
    /// Lines with a read under way, and how many.
    reading: BTreeMap<u64, u32>,
    /// Lines with a write under way.
    writing: BTreeMap<u64, u32>,
    free_tags: VecDeque<u16>,
    /// What memory holds once every write under way is done.
    expected: Store,
    rng: Rng,
    tx: Out<Message>,
    rx: In<Message>,
    tap: Tap,
    result: Arc<Mutex<HostResult>>,
    mine: HostResult,
    stalled_since: Option<u64>,
    /// The next access is not due: time is all it waits for.
    waits: bool,
}

/// Tags of CXL.mem: 16 bits (`cxl-68b` §2.1).
const TAGS: u32 = 1 << 16;

impl Host {
    /// A host with its channel ends.
    pub fn new(
        config: HostConfig,
        tx: Out<Message>,
        rx: In<Message>,
        rng: Rng,
        tap: Tap,
        result: Arc<Mutex<HostResult>>,
    ) -> Host {
        Host {
            expected: Store::new(config.background),
            config,
            next: 0,
            before: None,
            open: BTreeMap::new(),
            open_reads: 0,
            reading: BTreeMap::new(),
            writing: BTreeMap::new(),
            free_tags: (0..TAGS).map(|t| t as u16).collect(),
            rng,
            tx,
            rx,
            tap,
            result,
            mine: HostResult::default(),
            stalled_since: None,
            waits: false,
        }
    }

    fn broken(&mut self, rule: &'static str, found: String, expected: String, text: String) {
        let violation = Violation { rule, at: At::Byte(0), found, expected, text };
        self.mine.broken.push(Broken { place: PLACE.into(), violation });
    }

    fn answer(&mut self, message: &Message, cx: &mut Cx, at: Stamp) {
        let is_data = message.class == Class::S2mDrs;
        let (tag, poison) = match message.class {
            Class::S2mDrs => {
                let drs = S2mDrs::from_bits(message.bits);
                (drs.tag, drs.poison)
            }
            _ => (S2mNdr::from_bits(message.bits).tag, false),
        };
        let Some(request) = self.open.get(&tag).filter(|r| r.write != is_data) else {
            let (found, expected) = (format!("tag {tag:#06x}"), "an open request of its kind".to_owned());
            let text = format!("{} without a request", message.class.def().name);
            self.broken("SIM-E2E-02", found, expected, text);
            return;
        };
        let (line, id) = (request.line, request.id);
        self.tap.record(at, Kind::End, id, 0, || Body::Message {
            layout: message.class.def(),
            bits: message.bits,
            data: message.data.map(|d| d.bytes.to_vec()),
        });
        self.mine.latency_cycles.push(at.cycle - request.since_cycle);
        self.mine.latency_fs.push(at.t_fs - request.since.as_fs());
        self.mine.bytes += request.bytes;
        self.open.remove(&tag);
        self.free_tags.push_back(tag);
        if is_data {
            self.open_reads -= 1;
            release(&mut self.reading, line);
            let bytes = message.data.map_or([0; 64], |d| d.bytes);
            let expected = self.expected.read_line(line);
            if bytes != expected.data || poison != expected.poison {
                let n = (0..64).find(|&n| bytes[n] != expected.data[n]).unwrap_or(0);
                let found = format!("{:#04x}, poison {}", bytes[n], u8::from(poison));
                let expected = format!("{:#04x}, poison {}", expected.data[n], u8::from(expected.poison));
                self.broken("SIM-E2E-01", found, expected, format!("byte {n} of line {line:#x}"));
            }
            if let Some(cache) = &mut self.config.cache {
                cache.refill(line, &bytes);
            }
        } else {
            release(&mut self.writing, line);
        }
        cx.progress();
    }

    /// Tries the access; `false`: it has to wait.
    fn issue(&mut self, access: &LineAccess, cx: &mut Cx, at: Stamp) -> bool {
        let line = access.line_address;
        let enables = access.byte_enables();
        let Some(cache) = &mut self.config.cache else {
            return self.issue_uncached(line, access.write, enables, cx, at);
        };
        if cache.lookup(line).is_some() {
            if access.write {
                let data = random_line(&mut self.rng);
                cache.write(line, &data, enables);
            } else {
                cache.read(line);
            }
            self.mine.hits += 1;
            return true;
        }
        let victim = cache.next_victim(line);
        let victim_waits = victim.is_some_and(|v| self.reading.contains_key(&v.address));
        let messages = 1 + usize::from(victim.is_some_and(|v| v.is_dirty()));
        if self.open_reads >= self.config.outstanding
            || self.writing.contains_key(&line)
            || victim_waits
            || self.free_tags.len() < messages
            || !self.tx.has_room(cx, messages)
        {
            return false;
        }
        let victim = cache.fill(line, &[0; 64]);
        if access.write {
            let data = random_line(&mut self.rng);
            cache.write(line, &data, enables);
        }
        if let Some(victim) = victim.filter(|v| v.is_dirty()) {
            self.send_write(victim.address, &victim.data, ALL_BYTES, cx, at);
        }
        self.send_read(line, cx, at);
        true
    }

    fn issue_uncached(&mut self, line: u64, write: bool, enables: u64, cx: &mut Cx, at: Stamp) -> bool {
        let conflicts = self.writing.contains_key(&line) || write && self.reading.contains_key(&line);
        if self.open.len() >= self.config.outstanding
            || conflicts
            || self.free_tags.is_empty()
            || !self.tx.has_room(cx, 1)
        {
            return false;
        }
        if write {
            let data = random_line(&mut self.rng);
            self.send_write(line, &data, enables, cx, at);
        } else {
            self.send_read(line, cx, at);
        }
        true
    }

    fn send_read(&mut self, line: u64, cx: &mut Cx, at: Stamp) {
        let Some(tag) = self.free_tags.pop_front() else { return };
        let request = M2sReq {
            opcode: M2sReqOpcode::MemRd,
            meta_field: MetaField::NoOp,
            tag,
            address: line,
            ..M2sReq::default()
        };
        self.mine.misses += 1;
        self.open_reads += 1;
        *self.reading.entry(line).or_default() += 1;
        let message = request.to_bits().map(|bits| Message::new(Class::M2sReq, bits));
        self.send(
            message,
            OpenRequest { line, write: false, bytes: 64, since: cx.now(), since_cycle: at.cycle, id: 0 },
            tag,
            cx,
            at,
        );
    }

    fn send_write(&mut self, line: u64, data: &Line, enables: u64, cx: &mut Cx, at: Stamp) {
        let Some(tag) = self.free_tags.pop_front() else { return };
        let whole = enables == ALL_BYTES;
        let header = M2sRwd {
            opcode: if whole { M2sRwdOpcode::MemWr } else { M2sRwdOpcode::MemWrPtl },
            meta_field: MetaField::NoOp,
            tag,
            address: line,
            ..M2sRwd::default()
        };
        let data_of = Data { bytes: *data, size: Size::Line, byte_enables: (!whole).then_some(enables) };
        self.mine.writes += 1;
        *self.writing.entry(line).or_default() += 1;
        self.expected.write_line(line, data, enables, false);
        let bytes = u64::from(enables.count_ones());
        let message = header.to_bits().map(|bits| Message::with_data(Class::M2sRwd, bits, data_of));
        self.send(
            message,
            OpenRequest { line, write: true, bytes, since: cx.now(), since_cycle: at.cycle, id: 0 },
            tag,
            cx,
            at,
        );
    }

    fn send(
        &mut self,
        message: Result<Message, scalepool_protocols::wire::FieldError>,
        mut request: OpenRequest,
        tag: u16,
        cx: &mut Cx,
        at: Stamp,
    ) {
        request.id = self.tap.new_id();
        let (id, line) = (request.id, request.line);
        self.open.insert(tag, request);
        match message {
            Ok(message) => {
                self.tap.record(at, Kind::Begin, id, 0, || Body::Message {
                    layout: message.class.def(),
                    bits: message.bits,
                    data: message.data.map(|d| d.bytes.to_vec()),
                });
                // Room was asked for before; a refusal would lose the request and show as one that is never answered.
                let _ = self.tx.push(cx, message);
            }
            Err(e) => self.broken("SIM-E2E-02", format!("{line:#x}"), "an address of 52 bits".into(), e.to_string()),
        }
    }

    /// Cycle at which the next access is due.
    fn due(&self, access: &LineAccess) -> u64 {
        match self.before {
            Some((issued, scheduled)) if !self.config.absolute_cycles => issued + (access.cycle - scheduled),
            _ => access.cycle,
        }
    }
}

/// Bytes that a store writes: random, so that a byte in a wrong place is seen.
fn random_line(rng: &mut Rng) -> Line {
    let mut line = [0; 64];
    rng.fill_bytes(&mut line);
    line
}

fn release(lines: &mut BTreeMap<u64, u32>, line: u64) {
    if let Some(count) = lines.get_mut(&line) {
        *count -= 1;
        if *count == 0 {
            lines.remove(&line);
        }
    }
}

impl Drop for Host {
    /// The simulation is over, however it ended.
    fn drop(&mut self) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = std::mem::take(&mut self.mine);
    }
}

impl Module for Host {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        while let Some(message) = self.rx.pop(cx) {
            self.answer(&message, cx, at);
        }
        let mut then = Next::Idle;
        self.waits = false;
        while let Some(access) = self.config.accesses.get(self.next).copied() {
            let due = self.due(&access);
            if due > at.cycle {
                then = Next::At(cx.in_cycles(due - at.cycle));
                self.waits = true;
                break;
            }
            if !self.issue(&access, cx, at) {
                // Woken by an answer or by room in the channel.
                self.stalled_since.get_or_insert(at.cycle);
                break;
            }
            if let Some(since) = self.stalled_since.take() {
                self.mine.stall_cycles += at.cycle - since;
            }
            self.mine.accesses += 1;
            self.before = Some((at.cycle, access.cycle));
            self.next += 1;
        }
        then
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        let left = self.config.accesses.len() - self.next;
        match self.open.iter().min_by_key(|(_, r)| r.since) {
            Some((tag, r)) => {
                let kind = if r.write { "write" } else { "read" };
                let n = self.open.len();
                let what = format!(
                    "{n} requests open, oldest: {kind} of line {:#x}, tag {tag:#06x}; {left} accesses left",
                    r.line
                );
                Err(Pending::new(what, r.since))
            }
            // A trace may be silent for longer than any time-out; that is no stall.
            None if left > 0 && !self.waits => Err(Pending::new(format!("{left} accesses left"), Time::ZERO)),
            None => Ok(()),
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("open", self.open.len() as u64);
        visit("next_access", self.next as u64);
    }
}
