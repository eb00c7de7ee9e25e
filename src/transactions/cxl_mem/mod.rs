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
use super::{AnswerLimit, TransactionFinding};
use requests::{Conflict, Done, OpenRequest, Request};
use scalepool_coherence::content::LineAddr;
use scalepool_coherence::mem::tables::HdmRegion;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::message::{Message, MessageIdentifier};
use scalepool_protocols::rules;
use scalepool_protocols::wire::{At, Violation};
use snoops::{OpenSnoop, Snoop, counted};
use std::collections::BTreeMap;

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

/// Something that is owed an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Request(Request),
    Conflict(Request),
    Snoop(Snoop),
}

/// The checker beside the links of one device.
#[derive(Debug)]
pub struct CxlMemTransactions {
    config: CxlMemConfig,
    names: Vec<String>,
    /// Newest flit of each link, by direction.
    units: Vec<[u64; 2]>,
    /// Messages so far.
    number: u64,
    now: u64,
    open: BTreeMap<Request, Vec<OpenRequest>>,
    done: BTreeMap<Request, Done>,
    conflicts: BTreeMap<Request, Vec<Conflict>>,
    snoops: BTreeMap<Snoop, Vec<OpenSnoop>>,
    /// By number: what waits for an answer, with the time at which it passed; late ones have gone from here.
    waiting: BTreeMap<u64, (Waiting, u64)>,
    image: DataImage,
    /// Tag of the request that is looked at.
    concerned: Option<u16>,
    findings: Vec<TransactionFinding>,
}

fn place(dir: Dir) -> usize {
    usize::from(dir == Dir::Up)
}

/// `flit 12 up`.
fn flit(unit: u64, dir: Dir) -> String {
    format!("flit {unit} {}", dir.name())
}

impl CxlMemTransactions {
    /// Beside links with these names, on which nothing has passed.
    pub fn new(config: CxlMemConfig, names: Vec<String>) -> CxlMemTransactions {
        CxlMemTransactions {
            config,
            units: vec![[0; 2]; names.len()],
            names,
            number: 0,
            now: 0,
            open: BTreeMap::new(),
            done: BTreeMap::new(),
            conflicts: BTreeMap::new(),
            snoops: BTreeMap::new(),
            waiting: BTreeMap::new(),
            image: DataImage::default(),
            concerned: None,
            findings: Vec::new(),
        }
    }

    /// Time goes on, in the unit of [`CxlMemConfig::limit`], which never goes back: what has waited too long. Each request is
    /// told once; its answers may still come.
    pub fn clock(&mut self, now: u64) -> Vec<TransactionFinding> {
        self.now = now;
        if let Some(limit) = self.config.limit {
            while let Some((&number, &(waiting, since))) = self.waiting.first_key_value()
                && now.saturating_sub(since) > limit.time
            {
                let told = format!("no answer in {} {}", limit.time / limit.steps.max(1), limit.unit);
                self.say_missing("TXN-END-02", number, waiting, &told);
                self.waiting.remove(&number);
            }
        }
        std::mem::take(&mut self.findings)
    }

    /// A flit of a link passes, with or without a message; flits of a direction are numbered upwards.
    pub fn unit(&mut self, link: usize, dir: Dir, unit: u64) {
        if let Some(units) = self.units.get_mut(link) {
            units[place(dir)] = unit;
        }
    }

    /// A message passes the probe of a link, an index into the names, in the flit with this number of its direction. Messages of
    /// all links come in the order of time. What is wrong with it.
    pub fn see(&mut self, link: usize, unit: u64, message: &Message) -> Vec<TransactionFinding> {
        self.unit(link, message.class().dir(), unit);
        self.number += 1;
        self.concerned = match message.identifier() {
            (MessageIdentifier::Tag, tag) => Some(tag),
            _ => None,
        };
        match message {
            Message::M2sReq(request) => self.request(link, unit, request),
            Message::M2sRwd(request, data) => self.write(link, unit, request, data),
            Message::S2mNdr(answer) => self.completion(link, unit, answer),
            Message::S2mDrs(answer, data) => self.data(link, unit, answer, data),
            Message::S2mBisnp(snoop) => self.snoop(link, unit, snoop),
            Message::M2sBirsp(answer) => self.snoop_answer(link, unit, answer),
            _ => {}
        }
        std::mem::take(&mut self.findings)
    }

    /// The run has ended with all at rest: what is still owed. Nothing may pass behind it.
    pub fn finish(&mut self) -> Vec<TransactionFinding> {
        for (number, (waiting, _)) in std::mem::take(&mut self.waiting) {
            self.say_missing("TXN-END-01", number, waiting, "no answer at the end of the run");
        }
        std::mem::take(&mut self.findings)
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
        (link, dir, unit): (usize, Dir, u64),
        address: Option<u64>,
        found: String,
        expected: impl Into<String>,
    ) {
        let tag = self.concerned;
        let name = self.names.get(link).map_or("?", String::as_str);
        let text = format!("{name}: {}", rules::find(rule).map_or(rule, |rule| rule.text));
        let at = address.map_or(At::Message, |address| At::Line(LineAddr::of_address(address).address()));
        let violation = Violation { rule, at, found, expected: expected.into(), text };
        self.findings.push(TransactionFinding { link, dir, unit, tag, violation });
    }

    /// An answer that does not come; the end that owes it is told by the direction.
    fn say_missing(&mut self, rule: &'static str, number: u64, waiting: Waiting, told: &str) {
        self.concerned = match waiting {
            Waiting::Request(request) | Waiting::Conflict(request) => Some(request.tag),
            Waiting::Snoop(_) => None,
        };
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
        let unit = self.units.get(link).map_or(0, |units| units[place(dir)]);
        self.say(rule, (link, dir, unit), Some(address), found, expected);
    }
}
