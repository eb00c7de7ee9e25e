//! Who asks by unordered I/O (UIO): a device that reads and writes memory of its peers, or a root complex (`fabric` §2.6, IOR-6).
//!
//! Modelled: writes and reads of one length at random places of a window, as many at a time as the requester allows; each read is compared
//! with the bytes that were written. Requests of UIO have no order (`fabric` ORD-1), so one whose bytes another one has open waits for that
//! one's completion. Detail: every TLP. Left out: other requesters of the same window; data longer than the smallest payload, so a
//! read has one completion with all of its data; relaxed checks where a request was given up, after which nothing is known of its bytes.
//!
//! A walk through one access: it is drawn, and waits while one that is open touches its bytes; its request gets a tag and leaves; its completion
//! frees the tag. What a write has put there is known from its completion on, and what was refused has changed nothing (`fabric` UIO-03).

use super::held::{HeldByte, HeldBytes};
use super::tlps::{self, IoRequestNames};
use crate::PlacedViolation;
use crate::latencies::Latencies;
use scalepool_endpoint::event::EndpointEvent;
use scalepool_endpoint::requester::{Done, RequestFailure, Requester};
use scalepool_endpoint::tlp::{Enables, Tlp, TlpForm, TlpKind};
use scalepool_kernel::{Pending, Rng, Time};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxlio::DW_BYTES;
use scalepool_protocols::cxl::cxlio::code::CplStatus;
use scalepool_protocols::wire::{At, Violation};
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionNaming, Wait};
use std::ops::Range;

/// Longest request \[bytes\]: the smallest payload of PCI Express, so that its data always fits one TLP.
pub const LONGEST_UIO_BYTES: u64 = 128;

/// How accesses are made.
#[derive(Debug, Clone)]
pub struct UioAccessConfig {
    /// Place of findings.
    pub place: String,
    /// Number of its link, for traces.
    pub link: u32,
    /// How TLPs are written on the link.
    pub form: TlpForm,
    /// Addresses, which nobody else writes; at least `bytes` of them.
    pub window: Range<u64>,
    /// Accesses in all.
    pub accesses: u64,
    /// Bytes of each: a multiple of 4, at most [`LONGEST_UIO_BYTES`].
    pub bytes: u64,
    /// Addresses are multiples of this from the first one on: a multiple of 4.
    pub step: u64,
    /// Cycle of the first one.
    pub start: u64,
    /// A request that is refused is counted, and is nothing wrong.
    pub may_be_refused: bool,
}

/// What is left for the report.
#[derive(Debug, Clone, Default)]
pub struct UioAccessResult {
    /// Writes and reads that were performed.
    pub done: [u64; 2],
    /// Requests that were refused: as Completer Abort, and as Unsupported Request or another status.
    pub refused: [u64; 2],
    /// Requests without a completion in time.
    pub timed_out: u64,
    /// Bytes of what was performed.
    pub bytes: u64,
    /// Request to answer.
    pub latencies: Latencies,
    /// What did not go as it should.
    pub events: Vec<EndpointEvent>,
    /// End-to-end checks that failed.
    pub broken: Vec<PlacedViolation>,
}

/// An access before it is sent.
#[derive(Debug, Clone)]
struct Drawn {
    address: u64,
    /// What is written; `None`: it reads.
    data: Option<Vec<u8>>,
    /// Its place in the trace, and what it waits for.
    id: u64,
    waits: Option<Wait>,
}

/// An access whose request is open.
struct OpenUio {
    address: u64,
    bytes: u64,
    /// What is written; `None`: it reads.
    data: Option<Vec<u8>>,
    expected: Vec<HeldByte>,
    access: u64,
    id: u64,
    since: Time,
    since_cycle: u64,
    last: Vec<u8>,
}

/// The accesses of one requester.
pub struct UioAccesses {
    config: UioAccessConfig,
    requester: Requester,
    names: IoRequestNames,
    rng: Rng,
    held: HeldBytes,
    left: u64,
    drawn: Option<Drawn>,
    open: OrderedMap<u16, OpenUio>,
    mine: UioAccessResult,
}

impl UioAccesses {
    /// Accesses with a requester of their own.
    pub fn new(config: UioAccessConfig, requester: Requester, rng: Rng) -> UioAccesses {
        UioAccesses {
            left: config.accesses,
            names: IoRequestNames::new(config.link),
            held: HeldBytes::new(false),
            config,
            requester,
            rng,
            drawn: None,
            open: OrderedMap::new(),
            mine: UioAccessResult::default(),
        }
    }

    /// What is left for the report.
    pub fn result(&self) -> UioAccessResult {
        self.mine.clone()
    }

    /// Its bus, device and function.
    pub fn learns(&mut self, id: u16) {
        if self.open.is_empty() {
            self.requester.learns(id);
        }
    }

    /// Everything was asked for and answered.
    pub fn is_over(&self) -> bool {
        self.left == 0 && self.drawn.is_none() && self.open.is_empty()
    }

    /// Why it is not over yet.
    pub fn pending(&self) -> Option<Pending> {
        if let Some((tag, open)) = self.open.iter().min_by_key(|(_, open)| open.since) {
            let text = format!(
                "{} requests of UIO open, oldest: {:#x}, tag {tag:#x}, requester {:#06x}",
                self.open.len(),
                open.address,
                self.requester.id()
            );
            return Some(Pending::new(text, open.since));
        }
        (!self.is_over()).then(|| Pending::new(format!("{} accesses of UIO to make", self.left), Time::ZERO))
    }

    /// Cycle, later than `now`, in which it has to be asked again although nothing came.
    pub fn due(&self, now: u64) -> Option<u64> {
        let start = (self.left > 0).then_some(self.config.start).filter(|start| *start > now);
        let timeout = self.requester.oldest().map(|(_, since)| since + self.requester.timeout());
        start.into_iter().chain(timeout).min().map(|due| due.max(now + 1))
    }

    fn draw(&mut self, tap: &mut Tap, at: Stamp) -> Drawn {
        let UioAccessConfig { window, bytes, step, .. } = &self.config;
        let places = (window.end - window.start - bytes) / step + 1;
        let address = window.start + self.rng.below(places) * step;
        let data = self.rng.ratio(1, 2).then(|| {
            let mut data = vec![0; *bytes as usize];
            self.rng.fill_bytes(&mut data);
            data
        });
        let id = tap.new_id();
        let name = if data.is_some() { "uio_write" } else { "uio_read" };
        tap.record(at, RecordKind::Begin, id, 0, || Body::Access { name, address });
        Drawn { address, data, id, waits: None }
    }

    /// What the drawn access waits for, and for which transaction; `None`: it may leave.
    fn lacks(&self, drawn: &Drawn) -> Option<(Wait, u64)> {
        let end = drawn.address + self.config.bytes;
        let touches = |open: &&OpenUio| {
            (drawn.data.is_some() || open.data.is_some())
                && open.address < end
                && drawn.address < open.address + open.bytes
        };
        if let Some(open) = self.open.values().find(touches) {
            return Some((Wait::Line, open.id));
        }
        (!self.requester.has_room()).then_some((Wait::Limit, 0))
    }

    /// The bytes of the next request, if one may leave now; there is room for it on the link.
    pub fn next(&mut self, now: Time, tap: &mut Tap, at: Stamp) -> Option<Vec<u8>> {
        if at.cycle < self.config.start {
            return None;
        }
        if self.drawn.is_none() && self.left > 0 {
            self.left -= 1;
            self.drawn = Some(self.draw(tap, at));
        }
        let mut drawn = self.drawn.take()?;
        if let Some((wait, holder)) = self.lacks(&drawn) {
            if drawn.waits != Some(wait) {
                tap.wait(at, drawn.id, wait, holder);
            }
            drawn.waits = Some(wait);
            self.drawn = Some(drawn);
            return None;
        }
        if drawn.waits.is_some() {
            tap.wait_over(at, drawn.id);
        }
        let (address, bytes) = (drawn.address, self.config.bytes);
        let dw = bytes as usize / DW_BYTES;
        let enables = Enables::all(dw);
        let (kind, data) = match &drawn.data {
            Some(data) => (TlpKind::UioWrite { address, enables }, data.clone()),
            None => (TlpKind::UioRead { address, dw, enables }, Vec::new()),
        };
        // There is room for it.
        let tlp = self.requester.send(Tlp::new(kind, 0, data), at.cycle).ok()?;
        let form = self.config.form;
        let encoded = match tlp.encode(form) {
            Ok(encoded) => encoded,
            Err(error) => {
                self.mine.events.push(error.into());
                return None;
            }
        };
        let id = tap.new_id();
        let named = TransactionNaming::As(self.names.handle(&tlp));
        tap.named(named, at, RecordKind::Begin, id, drawn.id, || tlps::body(&encoded, form));
        let expected = self.held.of(address, bytes as usize);
        let open = OpenUio {
            address,
            bytes,
            data: drawn.data,
            expected,
            access: drawn.id,
            id,
            since: now,
            since_cycle: at.cycle,
            last: Vec::new(),
        };
        self.open.insert(tlp.tag, open);
        Some(encoded)
    }

    /// A completion of UIO comes, with these bytes.
    pub fn receive(&mut self, tlp: &Tlp, bytes: Vec<u8>, tap: &mut Tap, at: Stamp) {
        if let Some(open) = self.open.get_mut(&tlp.tag) {
            open.last = bytes;
        }
        if let Some(done) = self.requester.receive(tlp) {
            self.end(done, tap, at);
        }
    }

    /// Ends what has waited too long, and collects what the requester found.
    pub fn expire(&mut self, tap: &mut Tap, at: Stamp) {
        for done in self.requester.expire(at.cycle) {
            self.end(done, tap, at);
        }
        self.mine.events.extend(self.requester.take_events());
    }

    fn end(&mut self, done: Done, tap: &mut Tap, at: Stamp) {
        let Some(open) = self.open.remove(&done.tag) else { return };
        let form = self.config.form;
        tap.record(at, RecordKind::End, open.id, 0, || tlps::body(&open.last, form));
        tap.record(at, RecordKind::End, open.access, 0, || Body::None);
        self.mine.latencies.add(at.cycle - open.since_cycle, at.t_fs - open.since.as_fs());
        let address = open.address;
        match (done.outcome, open.data) {
            (Ok(_), Some(data)) => {
                self.held.write(address, &data);
                self.mine.done[0] += 1;
                self.mine.bytes += open.bytes;
            }
            (Ok(data), None) => {
                self.mine.done[1] += 1;
                self.mine.bytes += open.bytes;
                let is_right = |n: &usize| data.get(*n).is_some_and(|byte| open.expected[*n].allows(*byte));
                let wrong = (0..open.expected.len()).find(|n| !is_right(n));
                if let Some(n) = wrong.or(done.poison.then_some(0)) {
                    let found = data.get(n).map_or("nothing".to_owned(), |byte| format!("{byte:#04x}"));
                    let text = format!("byte {n} of {} at {address:#x} has a wrong value", open.bytes);
                    self.broken("SIM-E2E-01", found, open.expected[n].to_string(), text);
                }
            }
            (Err(failure), data) => {
                match failure {
                    RequestFailure::Timeout => self.mine.timed_out += 1,
                    RequestFailure::Status(CplStatus::CA) => self.mine.refused[0] += 1,
                    RequestFailure::Status(_) => self.mine.refused[1] += 1,
                }
                let is_lost = failure == RequestFailure::Timeout;
                if is_lost && data.is_some() {
                    self.held.forget(address, open.bytes as usize);
                }
                // A time-out is an event of its own.
                if !is_lost && !self.config.may_be_refused {
                    let what = if data.is_some() { "write" } else { "read" };
                    let text = format!("the UIO {what} of {address:#x} has failed");
                    self.broken("SIM-E2E-03", failure.to_string(), "success".to_owned(), text);
                }
            }
        }
    }

    fn broken(&mut self, rule: &'static str, found: String, expected: String, text: String) {
        let violation = Violation { rule, at: At::Byte(0), found, expected, text };
        self.mine.broken.push(PlacedViolation { place: self.config.place.clone(), violation });
    }
}
