//! Transactions of UALink: requests of both ends of a link, and their responses (`ualink` §12).
//!
//! A request is known by its link, its direction, its source accelerator and its Tag. A tag is unique until the last beat of its
//! response, so an answer belongs to one request. A read is answered by all of its beats in one response, or by one response for each beat, in
//! any order, the last of which has Last; a write by one write response. The responses to one source are unordered, unless
//! [`UalTransactionConfig::strict`] says that the link keeps strict order: then read responses come in the order of their requests, and
//! write responses likewise, for each pair of source and destination.
//!
//! With [`UalTransactionConfig::all_writers_seen`] every beat is compared with the image of the destination's memory, byte by byte inside the
//! length of the request. Left out: the values that atomics leave (their lines are not compared any more), which answers vendor
//! commands and write messages of vendors get (any one response ends them), and the data of responses with a status that is not OKAY.

mod request;

use super::image::{DataImage, EnabledBytes, ImageMismatch};
use super::ledger::{FlitPlace, Ledger, flit};
use super::{AnswerLimit, NO_ANSWER_AT_THE_END, TransactionFinding};
use request::{OpenRequest, UalResponse, Wanted};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::ualink::code::Status;
use scalepool_protocols::ualink::unpack::Transfer;

/// What the checker knows beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UalTransactionConfig {
    /// Nobody writes the memories but those whose requests pass: reads are compared.
    pub all_writers_seen: bool,
    /// Responses of a kind keep the order of their requests.
    pub strict: bool,
    /// Longest time of a request.
    pub limit: Option<AnswerLimit>,
}

/// What both ends know a request by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Request {
    link: usize,
    /// Direction of the request.
    dir: Dir,
    source: u16,
    tag: u16,
}

/// The end of a request whose tag is free.
#[derive(Debug, Clone)]
struct UalCompleted {
    said: String,
    end: u64,
    wanted: Wanted,
}

/// The checker beside some links.
#[derive(Debug)]
pub struct UalTransactions {
    config: UalTransactionConfig,
    ledger: Ledger<Request>,
    open: OrderedMap<Request, OpenRequest>,
    done: OrderedMap<Request, UalCompleted>,
    image: DataImage,
}

impl Request {
    fn in_words(self) -> String {
        format!("tag {:#x} of accelerator {}", self.tag, self.source)
    }
}

impl UalTransactions {
    /// Beside links with these names, on which nothing has passed.
    pub fn new(config: UalTransactionConfig, names: Vec<String>) -> UalTransactions {
        let (open, done) = Default::default();
        UalTransactions { config, ledger: Ledger::new(names), open, done, image: DataImage::default() }
    }

    /// Time goes on, in the unit of [`UalTransactionConfig::limit`], which never goes back: what has waited too long. Each request
    /// is told once; its answers may still come.
    pub fn clock(&mut self, now: u64) -> Vec<TransactionFinding> {
        self.ledger.clock(now);
        if let Some(limit) = self.config.limit {
            while let Some((number, request)) = self.ledger.late(limit) {
                self.say_missing("TXN-END-02", number, request, &limit.exceeded());
            }
        }
        self.ledger.take()
    }

    /// A flit of a link passes, with or without a message; flits of a direction are numbered upwards.
    pub fn unit(&mut self, link: usize, dir: Dir, unit: u64) {
        self.ledger.unit((link, dir, unit));
    }

    /// A request or response passes the probe of a link, an index into the names, whole with its data, in the flit with this number of
    /// its direction. Those of all links come in the order of time. What is wrong with it.
    pub fn see(&mut self, link: usize, dir: Dir, unit: u64, transfer: &Transfer) -> Vec<TransactionFinding> {
        let at = (link, dir, unit);
        if let Some(mut open) = OpenRequest::of(transfer, unit) {
            open.number = self.ledger.message(at, Some(open.tag));
            self.request(at, open, transfer);
        } else if let Some(response) = UalResponse::of(&transfer.field) {
            self.ledger.message(at, Some(response.tag));
            self.response(at, &response, transfer);
        }
        self.ledger.take()
    }

    /// The run has ended with all at rest: what is still owed. Nothing may pass behind it.
    pub fn finish(&mut self) -> Vec<TransactionFinding> {
        while let Some((number, request)) = self.ledger.oldest() {
            self.say_missing("TXN-END-01", number, request, NO_ANSWER_AT_THE_END);
        }
        self.ledger.take()
    }

    /// Requests that are owed an answer.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    fn say_missing(&mut self, rule: &'static str, number: u64, request: Request, told: &str) {
        let Some(open) = self.open.get(&request).filter(|open| open.number == number) else { return };
        let (line, found) = (open.line(0), format!("{told} to {} with {}", open.said(request.dir), request.in_words()));
        let (expected, at) = (open.missing(), self.ledger.newest(request.link, request.dir.opposite()));
        self.ledger.concern(Some(request.tag));
        self.ledger.say(rule, at, line, found, expected);
    }

    fn request(&mut self, at: FlitPlace, open: OpenRequest, transfer: &Transfer) {
        let request = Request { link: at.0, dir: at.1, source: open.source, tag: open.tag };
        if let Some(older) = self.open.remove(&request) {
            let found = format!("{} with {}", open.name, request.in_words());
            let expected = format!("a tag that is free: {} waits for {}", older.said(request.dir), older.missing());
            self.ledger.say("TXN-TAG-01", at, open.line(0), found, expected);
            self.ledger.end(older.number);
            self.forget(&older);
        }
        if self.config.all_writers_seen {
            for beat in 0..open.beats {
                let Some(line) = open.image_line(beat) else { continue };
                match open.wanted {
                    _ if open.changes_unknown() => self.image.give_up(line),
                    Wanted::Beats => self.image.read_begins(line, open.number),
                    Wanted::Response => self.image.write_begins(line, open.number, open.written(beat, transfer)),
                    Wanted::Any => {}
                }
            }
        }
        self.ledger.wait(request);
        self.open.insert(request, open);
    }

    /// Nothing is to be learned any more of a request.
    fn forget(&mut self, open: &OpenRequest) {
        let now = self.ledger.number();
        for beat in (0..open.beats).filter(|beat| open.seen >> beat & 1 == 0) {
            let Some(line) = open.image_line(beat).filter(|_| self.config.all_writers_seen) else { continue };
            match open.wanted {
                Wanted::Beats => drop(self.image.read_ends(line, open.number, now, None)),
                Wanted::Response => self.image.write_ends(line, open.number, now),
                Wanted::Any => {}
            }
        }
    }

    fn response(&mut self, at: FlitPlace, response: &UalResponse, transfer: &Transfer) {
        let request = Request { link: at.0, dir: at.1.opposite(), source: response.to, tag: response.tag };
        let found = format!("{} with {}", response.said(), request.in_words());
        let Some(mut open) = self.open.remove(&request) else { return self.say_spare(at, request, response, found) };
        let line = open.line(0);
        // An accelerator that is cut off answers everything alike.
        let is_any = open.wanted == Wanted::Any || response.status == Status::ISOLATE;
        if !is_any && response.wanted() != open.wanted {
            let rule = if response.is_read { "TXN-ANS-01" } else { "TXN-ANS-02" };
            let expected = format!("{} for {}", open.missing(), open.said(request.dir));
            self.ledger.say(rule, at, line, found, expected);
            self.open.insert(request, open);
            return;
        }
        self.check_order(at, request, &open, &found);
        if !is_any && response.is_read {
            let beats = response.beats();
            let before = open.seen;
            for (n, beat) in beats.clone().enumerate() {
                self.beat(at, request, &mut open, (n, beat), response, transfer);
            }
            let is_over = open.seen.count_ones() >= u32::from(open.beats);
            if response.last.is_some_and(|last| last != is_over) && open.seen != before {
                let expected = if is_over { "Last with the final beat" } else { "Last with the final beat alone" };
                let said = format!(
                    "{expected}: {} has had {} of {}",
                    open.said(request.dir),
                    open.seen.count_ones(),
                    open.beats
                );
                self.ledger.say("TXN-ANS-05", at, line, found, said);
            }
            if !is_over {
                self.open.insert(request, open);
                return;
            }
        }
        self.forget(&open);
        self.ledger.end(open.number);
        let done = UalCompleted { said: open.said(request.dir), end: at.2, wanted: open.wanted };
        self.done.insert(request, done);
    }

    /// A beat of a read response: its place in the response, and in the request.
    fn beat(
        &mut self,
        at: FlitPlace,
        request: Request,
        open: &mut OpenRequest,
        (n, beat): (usize, u8),
        response: &UalResponse,
        transfer: &Transfer,
    ) {
        let found = || format!("beat {beat} in {} with {}", response.said(), request.in_words());
        if beat >= open.beats {
            let expected = format!("beats below {} for {}", open.beats, open.said(request.dir));
            return self.ledger.say("TXN-ANS-01", at, open.line(0), found(), expected);
        }
        if open.seen >> beat & 1 == 1 {
            let expected = format!("{} for {}", open.missing(), open.said(request.dir));
            return self.ledger.say("TXN-TAG-03", at, open.line(beat), found(), expected);
        }
        open.seen |= 1 << beat;
        let Some(line) = open.image_line(beat).filter(|_| self.config.all_writers_seen) else { return };
        let data = EnabledBytes { enables: open.wants(beat), ..request::bytes_of(transfer, n) };
        let is_compared = response.status == Status::OKAY && !open.changes_unknown();
        let now = self.ledger.number();
        let said = open.said(request.dir);
        match self.image.read_ends(line, open.number, now, is_compared.then_some(&data)) {
            Some(ImageMismatch::Bytes(byte, value, known)) => {
                let known: Vec<String> = known.iter().map(|value| format!("{value:#04x}")).collect();
                let looks = self.image.likeness(line, open.number, &data);
                let looks = looks.map(|likeness| format!(" ({likeness})")).unwrap_or_default();
                let with = request.in_words();
                let found = format!("{value:#04x} in byte {byte} of beat {beat} for {said} with {with}{looks}");
                self.ledger.say("TXN-DAT-01", at, open.line(beat), found, known.join(" or "));
            }
            Some(ImageMismatch::PoisonLost(byte)) => {
                let found = format!("byte {byte} of beat {beat} without poison for {said} with {}", request.in_words());
                self.ledger.say("TXN-DAT-02", at, open.line(beat), found, "poison");
            }
            None => {}
        }
    }

    /// Strict order: the response of a kind belongs to the oldest request of its pair that waits for one.
    fn check_order(&mut self, at: FlitPlace, request: Request, open: &OpenRequest, found: &str) {
        if !self.config.strict || open.wanted == Wanted::Any {
            return;
        }
        let first = Request { tag: 0, ..request };
        let of_source = self.open.range(first..=Request { tag: u16::MAX, ..request }).map(|(_, other)| other);
        let older = of_source
            .filter(|other| other.destination == open.destination && other.wanted == open.wanted)
            .filter(|other| other.number < open.number)
            .min_by_key(|other| other.number);
        if let Some(older) = older {
            let expected = format!("{} for {} first", older.missing(), older.said(request.dir));
            self.ledger.say("TXN-ORD-02", at, open.line(0), found.to_owned(), expected);
        }
    }

    /// A response to nothing that is open.
    fn say_spare(&mut self, at: FlitPlace, request: Request, response: &UalResponse, found: String) {
        let Some(UalCompleted { said, end, wanted }) = self.done.get(&request) else {
            return self.ledger.say("TXN-TAG-02", at, None, found, "the tag of a request");
        };
        let is_again = *wanted == Wanted::Any || *wanted == response.wanted();
        let unowed = if response.is_read { "TXN-ANS-01" } else { "TXN-ANS-02" };
        let expected = format!("none: {said} had its last answer in {}", flit(*end, at.1));
        self.ledger.say(if is_again { "TXN-TAG-03" } else { unowed }, at, None, found, expected);
    }
}
