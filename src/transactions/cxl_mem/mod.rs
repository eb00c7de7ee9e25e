//! Transactions of CXL.mem: requests with their completions and data, back-invalidate snoops with their answers, BIConflict with
//! its acknowledgement (`coherence` §1, §3.2, §3.4, §3.5).
//!
//! A request is known by its link, the port of a fabric that it comes from, its LD-ID and its Tag. Tags need not be unique
//! (`coherence` §1): of several open requests under one tag an answer belongs to the oldest that is owed it, and their data
//! is not compared. HDM-H is answered without snoops, so a device that nobody else writes is a memory of bytes: with
//! [`CxlMemConfig::all_writers_seen`] every read is compared with what passed before. A 68B link may bring the data of a read
//! in two halves, each with a header; nothing says which half is which, so they are counted and not compared.

mod requests;
mod snoops;

use super::image::DataImage;
use super::ledger::{FlitPlace, Ledger, flit};
use super::{AnswerLimit, NO_ANSWER_AT_THE_END, TransactionFinding};
use requests::{Conflict, MemCompleted, OpenRequest, Request};
use scalepool_coherence::content::LineAddr;
use scalepool_coherence::mem::tables::HdmRegion;
use scalepool_coherence::passive::LinkHosts;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::message::{Message, MessageIdentifier};
use snoops::{BackInvalidateSnoop, UnansweredSnoop, counted};

/// What the checker knows beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CxlMemConfig {
    /// Kind of the memory behind the requests.
    pub region: HdmRegion,
    /// Nobody writes the lines but those whose writes pass: reads are compared.
    pub all_writers_seen: bool,
    /// The requester does not use a tag again while it is open.
    pub unique_tags: bool,
    /// Longest time of a request.
    pub limit: Option<AnswerLimit>,
}

impl CxlMemConfig {
    /// A memory of this kind, of which nothing else is known: no legal requester or device breaks a rule here.
    pub fn new(region: HdmRegion) -> CxlMemConfig {
        CxlMemConfig { region, all_writers_seen: false, unique_tags: false, limit: None }
    }
}

/// Byte enables of half a line, as a 68B link brings it.
const LOWER_HALF: u64 = 0xffff_ffff;

/// Something that is owed an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Request(Request),
    Conflict(Request),
    Snoop(BackInvalidateSnoop),
}

/// The checker beside the links of one device.
#[derive(Debug)]
pub struct CxlMemTransactions {
    config: CxlMemConfig,
    ledger: Ledger<Waiting>,
    open: OrderedMap<Request, Vec<OpenRequest>>,
    done: OrderedMap<Request, MemCompleted>,
    conflicts: OrderedMap<Request, Vec<Conflict>>,
    snoops: OrderedMap<BackInvalidateSnoop, Vec<UnansweredSnoop>>,
    image: DataImage,
    /// The newest message with data of a link and direction, and its flit.
    last_data: OrderedMap<(usize, Dir), (String, u64)>,
    hosts: LinkHosts,
}

impl CxlMemTransactions {
    /// Beside links with these names, on which nothing has passed.
    pub fn new(config: CxlMemConfig, names: Vec<String>) -> CxlMemTransactions {
        CxlMemTransactions {
            config,
            ledger: Ledger::new(names),
            open: OrderedMap::new(),
            done: OrderedMap::new(),
            conflicts: OrderedMap::new(),
            snoops: OrderedMap::new(),
            image: DataImage::default(),
            last_data: OrderedMap::new(),
            hosts: LinkHosts::default(),
        }
    }

    /// Time goes on, in the unit of [`CxlMemConfig::limit`], which never goes back: what has waited too long. Each request is
    /// told once; its answers may still come.
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
    /// all links come in the order of time. What is wrong with it.
    pub fn see(&mut self, link: usize, unit: u64, message: &Message) -> Vec<TransactionFinding> {
        let tag = match message.identifier() {
            (MessageIdentifier::Tag, tag) => Some(tag),
            _ => None,
        };
        let dir = message.class().dir();
        let host = self.hosts.host_of(link, message);
        self.ledger.message((link, dir, unit), tag);
        if let Some(data) = message.data() {
            let size = if data.byte_enables.is_some_and(|enables| enables == LOWER_HALF) { "32 B" } else { "64 B" };
            let (_, number) = message.identifier();
            let said = format!("{} of {size} with tag {number:#x}", message.class().name());
            self.last_data.insert((link, dir), (said, unit));
        }
        match message {
            Message::M2sReq(request) => self.request(link, unit, request),
            Message::M2sRwd(request, data) => self.write(link, unit, request, data),
            Message::S2mNdr(answer) => self.completion(link, unit, answer),
            Message::S2mDrs(answer, data) => self.data(link, unit, answer, data),
            Message::S2mBisnp(snoop) => self.snoop(link, unit, snoop),
            Message::M2sBirsp(answer) => self.snoop_answer((link, host), unit, answer),
            _ => {}
        }
        self.ledger.take()
    }

    /// Bytes pass in a slot for data where none is owed, as behind a header that says 32 B and is followed by 64 (`cxl-68b` §1.5, §5.3).
    /// A receiver takes the slot for empty, so the bytes are lost.
    pub fn see_spare_data(&mut self, link: usize, dir: Dir, unit: u64, slot: u8) -> Vec<TransactionFinding> {
        self.ledger.concern(None);
        let found = format!("16 B of data in slot {slot} of {}", flit(unit, dir));
        let last =
            self.last_data.get(&(link, dir)).map(|(said, unit)| format!(", behind {said} in {}", flit(*unit, dir)));
        let expected = format!("0 in all of them: no data is owed{}", last.unwrap_or_default());
        self.say("TXN-ANS-01", (link, dir, unit), None, found, expected);
        self.ledger.take()
    }

    /// The run has ended with all at rest: what is still owed. Nothing may pass behind it.
    pub fn finish(&mut self) -> Vec<TransactionFinding> {
        while let Some((number, waiting)) = self.ledger.oldest() {
            self.say_missing("TXN-END-01", number, waiting, NO_ANSWER_AT_THE_END);
        }
        self.ledger.take()
    }

    /// Requests and snoops that are owed an answer.
    pub fn open(&self) -> usize {
        let requests = self.open.values().flatten().filter(|open| !open.is_unknown()).count();
        requests
            + self.conflicts.values().map(Vec::len).sum::<usize>()
            + self.snoops.values().map(Vec::len).sum::<usize>()
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
        self.ledger.concern(match waiting {
            Waiting::Request(request) | Waiting::Conflict(request) => Some(request.tag),
            Waiting::Snoop(_) => None,
        });
        let (link, dir, address, found, expected) = match waiting {
            Waiting::Request(request) => {
                let of = self.open.get(&request).and_then(|all| all.iter().find(|open| open.number == number));
                let Some(open) = of else { return };
                let found = format!("{told} to {} with {}", open.in_words(), request.in_words());
                (request.link, Dir::Up, open.address, found, open.missing())
            }
            Waiting::Conflict(request) => {
                let of = self.conflicts.get(&request).and_then(|all| all.iter().find(|open| open.number == number));
                let Some(conflict) = of else { return };
                let at = flit(conflict.unit, Dir::Down);
                let found = format!("{told} to BIConflict in {at} with {}", request.in_words());
                (request.link, Dir::Up, conflict.address, found, "BIConflictAck".into())
            }
            Waiting::Snoop(snoop) => {
                let of = self.snoops.get(&snoop).and_then(|all| all.iter().find(|open| open.number == number));
                let Some(open) = of else { return };
                let name = open.message.opcode.name().unwrap_or("?");
                let found = format!("{told} to {name} in {} with {}", flit(open.unit, Dir::Up), snoop.in_words());
                let expected = format!("BIRsp to {}", counted(open.lines.len()));
                (snoop.link, Dir::Down, open.message.address, found, expected)
            }
        };
        self.say(rule, self.ledger.newest(link, dir), Some(address), found, expected);
    }
}
