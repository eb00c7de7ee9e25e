//! Transactions of CXL.cache: requests of devices with their GOs, data and pulls, snoops with their answers (`coherence` §1, §2.2,
//! §2.3).
//!
//! A request is known by its link, its device and its CQID, a snoop or a pull by its link and its UQID. Which answers a request is
//! owed stands in the table of requests (`scalepool_coherence::cache::requests`), which answer a snoop may get in that of readings
//! (`scalepool_coherence::cache::snoops`). A read is owed one GO and one line, in either order; a write its pull, whose data comes under
//! the UQID that the pull names, and where the table has one a last answer. The CQID of a request is free once both are there, the
//! UQID of a pull once its data has passed.
//!
//! Left out: who may hold a copy and which bytes a read may bring, which `scalepool_coherence::passive` judges beside this checker from
//! the same messages; several hosts behind one link of a fabric, whose UQIDs could be the same.
//!
//! A walk through one write: `WrInv` with CQID 5 passes, and the checker notes that a pull and a GO are owed. `WritePull` passes
//! and names UQID 2: the pull is noted, and the request waits for its GO. The data with UQID 2 passes, the pull is forgotten. `GO-I`
//! passes: nothing is owed any more. Had it passed in front of the data, it would break TXN-ORD-03.

mod requests;
mod snoops;

use super::ledger::{FlitPlace, Ledger, flit};
use super::{AnswerLimit, NO_ANSWER_AT_THE_END, TransactionFinding};
use requests::{CacheRequestId, OpenCacheRequest, PastCacheRequest};
use scalepool_coherence::content::{LineAddr, WHOLE_LINE};
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::M2sReqOpcode;
use scalepool_protocols::cxl::message::{Data, Message, MessageIdentifier};
use snoops::{OpenHostEntry, PastHostEntry};

/// What the checker knows beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CxlCacheConfig {
    /// Longest time of a request, a snoop or a pull.
    pub limit: Option<AnswerLimit>,
}

/// Both halves of a line: bit 0 is the lower one, bit 1 the upper one.
const WHOLE: u8 = 0b11;

/// Something that is owed an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Request(CacheRequestId),
    /// A snoop or a pull, by link and UQID.
    Host((usize, u16)),
}

/// The checker beside the links of one home.
#[derive(Debug)]
pub struct CxlCacheTransactions {
    config: CxlCacheConfig,
    ledger: Ledger<Waiting>,
    /// Devices that have asked, by link.
    devices: OrderedMap<usize, OrderedSet<u16>>,
    open: OrderedMap<CacheRequestId, OpenCacheRequest>,
    done: OrderedMap<CacheRequestId, PastCacheRequest>,
    /// Snoops and pulls, by link and UQID.
    host: OrderedMap<(usize, u16), OpenHostEntry>,
    host_done: OrderedMap<(usize, u16), PastHostEntry>,
}

impl CxlCacheTransactions {
    /// Beside links with these names, on which nothing has passed.
    pub fn new(config: CxlCacheConfig, names: Vec<String>) -> CxlCacheTransactions {
        let (devices, open, done, host, host_done) = Default::default();
        CxlCacheTransactions { config, ledger: Ledger::new(names), devices, open, done, host, host_done }
    }

    /// Time goes on, in the unit of [`CxlCacheConfig::limit`], which never goes back: what has waited too long. Each request is told
    /// once; its answers may still come.
    pub fn clock(&mut self, now: u64) -> Vec<TransactionFinding> {
        self.ledger.clock(now);
        if let Some(limit) = self.config.limit {
            while let Some((number, waiting)) = self.ledger.late(limit) {
                self.say_missing("TXN-END-02", number, waiting, &limit.exceeded());
            }
        }
        self.ledger.take()
    }

    /// A flit of a link passes, with or without a message; flits of a direction are numbered upwards.
    pub fn unit(&mut self, link: usize, dir: Dir, unit: u64) {
        self.ledger.unit((link, dir, unit));
    }

    /// A message passes the probe of a link, an index into the names, in the flit with this number of its direction. Messages of
    /// all links come in the order of time. What is wrong with it. Of CXL.mem only MemRdFwd and MemWrFwd mean something here: they end
    /// a request for memory of the device itself (`coherence` §3.3).
    pub fn see(&mut self, link: usize, unit: u64, message: &Message) -> Vec<TransactionFinding> {
        let tag = match message.identifier() {
            (MessageIdentifier::Cqid | MessageIdentifier::Uqid, tag) => Some(tag),
            _ => None,
        };
        let at = (link, message.class().dir(), unit);
        self.ledger.message(at, tag);
        match message {
            Message::D2hReq(m) => {
                let device = peer(m.spid, m.cache_id);
                self.devices.entry(link).or_default().insert(device);
                self.request(at, device, m);
            }
            Message::H2dRsp(m) => self.answer(at, self.device(link, peer(m.dpid, m.cache_id)), m),
            Message::H2dData(m, data) => self.data(at, self.device(link, peer(m.dpid, m.cache_id)), m, data),
            Message::H2dReq(m) => self.snoop(at, m),
            Message::D2hRsp(m) => self.snoop_answer(at, m),
            Message::D2hData(m, data) => self.device_data(at, m, data),
            Message::M2sReq(m) if [M2sReqOpcode::MemRdFwd, M2sReqOpcode::MemWrFwd].contains(&m.opcode) => {
                self.forwarded(at, self.device(link, m.spid), m.tag);
            }
            _ => {}
        }
        self.ledger.take()
    }

    /// The run has ended with all at rest: what is still owed. Nothing may pass behind it.
    pub fn finish(&mut self) -> Vec<TransactionFinding> {
        while let Some((number, waiting)) = self.ledger.oldest() {
            self.say_missing("TXN-END-01", number, waiting, NO_ANSWER_AT_THE_END);
        }
        self.ledger.take()
    }

    /// Requests, snoops and pulls that are owed an answer.
    pub fn open(&self) -> usize {
        self.open.len() + self.host.len()
    }

    /// The device as its requests name it: alone behind its link, it may not know the CacheID that a switch has filled in.
    fn device(&self, link: usize, named: u16) -> u16 {
        match self.devices.get(&link) {
            Some(all) if all.len() == 1 => all.first().copied().unwrap_or(named),
            _ => named,
        }
    }

    fn say(
        &mut self,
        rule: &'static str,
        at: FlitPlace,
        address: Option<u64>,
        found: String,
        expected: impl Into<String>,
    ) {
        let line = address.map(|address| LineAddr::of_address(address).address());
        self.ledger.say(rule, at, line, found, expected);
    }

    /// An answer that does not come; the end that owes it is told by the direction.
    fn say_missing(&mut self, rule: &'static str, number: u64, waiting: Waiting, told: &str) {
        let (link, dir, tag, address, what, expected) = match waiting {
            Waiting::Request(id) => {
                let Some(open) = self.open.get(&id).filter(|open| open.number == number) else { return };
                let what = format!("{} with {}", open.in_words(), id.in_words());
                // Behind its pull a write waits for its own data first.
                (id.link, Dir::Down, id.cqid, open.address, what, open.missing())
            }
            Waiting::Host((link, uqid)) => {
                let Some(open) = self.host.get(&(link, uqid)).filter(|open| open.number == number) else { return };
                (link, Dir::Up, uqid, open.address, format!("{} with UQID {uqid:#x}", open.in_words()), open.missing())
            }
        };
        self.ledger.concern(Some(tag));
        self.say(rule, self.ledger.newest(link, dir), Some(address), format!("{told} to {what}"), expected);
    }
}

/// Halves of a line that a message brings: a 68B link may bring a line in two messages, each with a header. Without any byte
/// it is the only one.
fn halves_of(data: &Data) -> u8 {
    let enables = data.byte_enables.unwrap_or(WHOLE_LINE);
    let (lower, upper) = (enables & 0xffff_ffff != 0, enables >> 32 != 0);
    if lower == upper { WHOLE } else { u8::from(lower) | u8::from(upper) << 1 }
}

/// What names a device among those behind a link: its port of a fabric, or its CacheID.
fn peer(port: u16, cache_id: u8) -> u16 {
    if port == 0 { cache_id.into() } else { port }
}
