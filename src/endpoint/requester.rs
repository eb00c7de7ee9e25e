//! A requester: tags, and completions put together.
//!
//! Modelled: up to 1024 tags of 10 bits, given out in turn so that a late completion meets a free tag, and is told from one that nobody has asked for; a limit of open
//! requests; split completions checked against byte count and lower address and merged in order; completion time-out;
//! completions that nobody waits for. Detail: every field that decides where a completion belongs. Left out: ordering
//! between requests, retries (the caller decides), 14-bit tags.
//!
//! A walk through one read: [`Requester::send`] gives it the next free tag and remembers when; each completion to that tag
//! must begin where the last one ended; the one whose byte count is its own data ends the request, and [`Done`] holds the
//! bytes that were enabled first to last. [`Requester::expire`] ends requests whose time is up.

use super::event::EndpointEvent;
use super::tlp::{Tlp, TlpKind};
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::cxlio::DW_BYTES;
use scalepool_protocols::cxl::cxlio::code::CplStatus;
use std::collections::VecDeque;
use std::fmt;

/// Tags of 10 bits (`cxl-io` §1.1).
pub const TAGS: u16 = 1 << 10;

/// How a requester is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequesterConfig {
    /// Bus, device and function.
    pub id: u16,
    /// Requests that may be open, 1 to 1024.
    pub outstanding: usize,
    /// Time until a request without completion is given up, in the unit of the `now` that calls pass.
    pub timeout: u64,
}

/// Why a request ended without data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestFailure {
    /// The completer says so.
    Status(CplStatus),
    /// Nobody answered in time.
    Timeout,
}

/// As findings have it.
impl fmt::Display for RequestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestFailure::Status(status) => {
                write!(f, "a completion with status {}", status.name().unwrap_or("reserved"))
            }
            RequestFailure::Timeout => f.write_str("no completion in time"),
        }
    }
}

/// A request that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Its tag, free again.
    pub tag: u16,
    /// Bytes from the first to the last enabled one; none for a write.
    pub outcome: Result<Vec<u8>, RequestFailure>,
    /// A completion carried the poison mark.
    pub poison: bool,
    /// When it was sent.
    pub since: u64,
}

/// Why a request cannot go now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotNow {
    /// All that may be open are open.
    #[error("found {open} open requests, expected fewer")]
    Full {
        /// Open requests.
        open: usize,
    },
}

struct OutstandingRequest {
    since: u64,
    /// Bytes still to come; 0 for a write.
    missing: usize,
    /// Low 7 bits of the address of the next byte.
    lower: u8,
    /// Bytes so far.
    data: Vec<u8>,
    poison: bool,
    /// A memory read: its byte counts and addresses mean something.
    is_memory: bool,
}

/// The requester. Who asks by UIO too has one of its own for that, as those requests have tags of their own.
pub struct Requester {
    config: RequesterConfig,
    open: OrderedMap<u16, OutstandingRequest>,
    free: VecDeque<u16>,
    /// Free tags whose last request was given up.
    given_up: OrderedSet<u16>,
    events: Vec<EndpointEvent>,
}

impl Requester {
    /// A requester with nothing open.
    pub fn new(config: RequesterConfig) -> Requester {
        let (open, given_up, events) = (OrderedMap::new(), OrderedSet::new(), Vec::new());
        Requester { config, open, free: (0..TAGS).collect(), given_up, events }
    }

    /// Its bus, device and function.
    pub fn id(&self) -> u16 {
        self.config.id
    }

    /// It has learnt its bus, device and function.
    pub fn learns(&mut self, id: u16) {
        self.config.id = id;
    }

    /// Time until a request is given up.
    pub fn timeout(&self) -> u64 {
        self.config.timeout
    }

    /// Requests that are open.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// The oldest open request: its tag and when it was sent.
    pub fn oldest(&self) -> Option<(u16, u64)> {
        self.open.iter().map(|(tag, open)| (*tag, open.since)).min_by_key(|(tag, since)| (*since, *tag))
    }

    /// Whether a non-posted request can go.
    pub fn has_room(&self) -> bool {
        self.open.len() < self.config.outstanding.min(TAGS.into())
    }

    /// Events since the last call.
    pub fn take_events(&mut self) -> Vec<EndpointEvent> {
        std::mem::take(&mut self.events)
    }

    /// Makes a request ready to be sent: its requester ID and, if somebody has to answer, a tag.
    ///
    /// # Errors
    /// Too many requests are open.
    pub fn send(&mut self, mut tlp: Tlp, now: u64) -> Result<Tlp, NotNow> {
        tlp.requester = self.config.id;
        if !tlp.is_non_posted() {
            return Ok(tlp);
        }
        let open = self.open.len();
        if !self.has_room() {
            return Err(NotNow::Full { open });
        }
        tlp.tag = self.free.pop_front().ok_or(NotNow::Full { open })?;
        self.given_up.remove(&tlp.tag);
        let (missing, lower, is_memory) = match tlp.kind {
            TlpKind::MemRead { address, dw, enables } | TlpKind::UioRead { address, dw, enables } => {
                let (first, bytes) = enables.bounds(dw);
                (bytes, ((address + first as u64) & 0x7f) as u8, true)
            }
            TlpKind::ConfigRead { .. } => (DW_BYTES, 0, false),
            TlpKind::Atomic { operation, .. } => (tlp.data.len() / operation.operands(), 0, false),
            _ => (0, 0, false),
        };
        let request = OutstandingRequest { since: now, missing, lower, data: Vec::new(), poison: false, is_memory };
        self.open.insert(tlp.tag, request);
        Ok(tlp)
    }

    /// Takes a completion; [`Done`] if it ends its request.
    pub fn receive(&mut self, tlp: &Tlp) -> Option<Done> {
        let (TlpKind::Completion { status, byte_count, lower_address, .. }
        | TlpKind::UioCompletion { status, byte_count, lower_address, .. }) = tlp.kind
        else {
            return None;
        };
        if tlp.requester != self.config.id {
            return self.unexpected(tlp, "it is for another requester");
        }
        if self.given_up.contains(&tlp.tag) {
            self.events.push(EndpointEvent::LateCompletion { requester: tlp.requester, tag: tlp.tag });
            return None;
        }
        let Some(open) = self.open.get_mut(&tlp.tag) else { return self.unexpected(tlp, "no request has this tag") };
        if status != CplStatus::SC {
            return self.end(tlp.tag, Err(RequestFailure::Status(status)));
        }
        // Bytes in front of the first enabled one and behind the last one are in the payload and do not count. Of other answers than
        // those to memory reads the lower address means nothing.
        let skip = if open.is_memory { usize::from(lower_address) % DW_BYTES } else { 0 };
        let bytes = tlp.data.len().saturating_sub(skip).min(open.missing);
        if open.is_memory && (byte_count != open.missing || lower_address != open.lower) {
            return self.unexpected(tlp, "its byte count or lower address is not what comes next");
        }
        if bytes == 0 && open.missing > 0 {
            return self.unexpected(tlp, "it has no data");
        }
        open.data.extend(&tlp.data[skip..skip + bytes]);
        open.missing -= bytes;
        // What follows begins at a boundary, so its address is that of the next byte.
        open.lower = ((usize::from(open.lower) + bytes) & 0x7f) as u8;
        open.poison |= tlp.poison;
        match open.missing {
            0 => {
                let data = std::mem::take(&mut open.data);
                self.end(tlp.tag, Ok(data))
            }
            _ => None,
        }
    }

    /// Ends all requests whose time is up, oldest first.
    pub fn expire(&mut self, now: u64) -> Vec<Done> {
        let timeout = self.config.timeout;
        let due = |open: &OutstandingRequest| now.saturating_sub(open.since) >= timeout;
        let mut late: Vec<(u64, u16)> =
            self.open.iter().filter(|(_, o)| due(o)).map(|(tag, open)| (open.since, *tag)).collect();
        scalepool_ordered::sort(&mut late);
        let mut ended = Vec::new();
        for (since, tag) in late {
            let missing_bytes = self.open.get(&tag).map_or(0, |o| o.missing);
            self.events.push(EndpointEvent::CompletionTimeout { tag, since, missing_bytes });
            ended.extend(self.end(tag, Err(RequestFailure::Timeout)));
            self.given_up.insert(tag);
        }
        ended
    }

    fn end(&mut self, tag: u16, outcome: Result<Vec<u8>, RequestFailure>) -> Option<Done> {
        let open = self.open.remove(&tag)?;
        self.free.push_back(tag);
        Some(Done { tag, outcome, poison: open.poison, since: open.since })
    }

    fn unexpected(&mut self, tlp: &Tlp, text: &'static str) -> Option<Done> {
        self.events.push(EndpointEvent::UnexpectedCompletion { requester: tlp.requester, tag: tlp.tag, text });
        None
    }
}
