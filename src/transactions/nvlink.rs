//! Transactions of the NVLink model: requests of both ends of a link, and their responses (`nvlink` §6.1, `bridge` §6.3). Basis: model, no
//! product.
//!
//! A request is known by its link, its direction, its requester and its tag, which is not used again before the response
//! (`bridge` §7, for any requester of the model). READ and ATOMIC_RETURN are answered by one RSP_DATA, WRITE_NONPOSTED and FLUSH by one
//! RSP_DONE, each of them by RSP_ERROR instead. Posted requests have no answer: a posted write has its effect somewhere before the RSP_DONE
//! of the next FLUSH of its requester, and until then a read may bring either bytes.
//!
//! With [`NvlTransactionConfig::all_writers_seen`] every byte that READ brings is compared with the image of the memory behind the other
//! end. Left out: the values that atomics leave and bytes of writes that end with an error (their lines are not compared any more), the size
//! of what ATOMIC_RETURN brings, reductions in a switch and multicast (their answers are counted, their bytes are nobody's here).

use super::image::{DataImage, EnabledBytes, ImageMismatch, LINE_BYTES, LineOf};
use super::ledger::{FlitPlace, Ledger, flit};
use super::{AnswerLimit, NO_ANSWER_AT_THE_END, TransactionFinding};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::nvlink::stream::NvlDecodedPacket;
use scalepool_protocols::nvlink::{FLIT_BYTES, Op};
use std::collections::VecDeque;

/// Lines of posted writes of one requester that wait for a FLUSH and are remembered; older ones stay uncertain. Basis: model.
const MOST_POSTED: usize = 4096;

/// What the checker knows beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NvlTransactionConfig {
    /// Nobody writes the memories but those whose requests pass: reads are compared.
    pub all_writers_seen: bool,
    /// Longest time of a request.
    pub limit: Option<AnswerLimit>,
}

/// What both ends know a request by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Request {
    link: usize,
    /// Direction of the request.
    dir: Dir,
    requester: u16,
    tag: u16,
}

impl Request {
    fn in_words(self) -> String {
        format!("tag {:#x} of requester {}", self.tag, self.requester)
    }
}

/// What answers a request, unless an error does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// RSP_DATA with so many bytes, or any number.
    Data(Option<usize>),
    /// RSP_DONE.
    Done,
}

impl Wanted {
    fn in_words(self) -> String {
        match self {
            Wanted::Data(Some(bytes)) => format!("RSP_DATA of {bytes} B"),
            Wanted::Data(None) => "RSP_DATA".into(),
            Wanted::Done => "RSP_DONE".into(),
        }
    }
}

/// A line that a request writes, with the number of that request.
type Written = (LineOf, u64);

/// A request without its answer.
#[derive(Debug, Clone)]
struct OpenRequest {
    /// When it passed, in messages: no other one has this number.
    number: u64,
    said: String,
    address: u64,
    wanted: Wanted,
    /// Lines of the image that it reads.
    reads: Vec<LineOf>,
    /// Writes that are done when it is: its own, or of a FLUSH those that were posted before it.
    writes: Vec<Written>,
}

/// The end of a request whose tag is free.
#[derive(Debug, Clone)]
struct NvlCompleted {
    said: String,
    end: u64,
    wanted: Wanted,
}

/// The checker beside some links.
#[derive(Debug)]
pub struct NvlTransactions {
    config: NvlTransactionConfig,
    ledger: Ledger<Request>,
    open: OrderedMap<Request, OpenRequest>,
    done: OrderedMap<Request, NvlCompleted>,
    /// Posted writes behind the last FLUSH, by link, direction and requester.
    posted: OrderedMap<(usize, Dir, u16), VecDeque<Written>>,
    image: DataImage,
}

/// Address of the line of a byte.
const fn line_of(address: u64) -> u64 {
    address & !(LINE_BYTES as u64 - 1)
}

/// The bytes of a request or response, line by line: the address of the line, and the bytes with their enables. Byte n of `data` lies at
/// `address` + n, and bit n of `be` enables it.
fn by_line(address: u64, data: &[u8], be: Option<u128>, poison: bool) -> Vec<(u64, EnabledBytes)> {
    let mut lines: Vec<(u64, EnabledBytes)> = Vec::new();
    for (n, value) in data.iter().enumerate() {
        let at = address.wrapping_add(n as u64);
        if lines.last().is_none_or(|(line, _)| *line != line_of(at)) {
            lines.push((line_of(at), EnabledBytes { bytes: [0; LINE_BYTES], enables: 0, poison }));
        }
        let is_enabled = be.is_none_or(|be| be.checked_shr(n as u32).unwrap_or(0) & 1 == 1);
        if let Some((line, bytes)) = lines.last_mut() {
            let byte = (at - *line) as usize;
            bytes.bytes[byte] = *value;
            bytes.enables |= u64::from(is_enabled) << byte;
        }
    }
    lines
}

fn data_of(packet: &NvlDecodedPacket) -> Vec<u8> {
    packet.packet.parts().data.iter().flat_map(|flit| flit.to_le_bytes()).collect()
}

impl NvlTransactions {
    /// Beside links with these names, on which nothing has passed.
    pub fn new(config: NvlTransactionConfig, names: Vec<String>) -> NvlTransactions {
        let (open, done, posted) = Default::default();
        NvlTransactions { config, ledger: Ledger::new(names), open, done, posted, image: DataImage::default() }
    }

    /// Time goes on, in the unit of [`NvlTransactionConfig::limit`], which never goes back: what has waited too long. Each request
    /// is told once; its answer may still come.
    pub fn clock(&mut self, now: u64) -> Vec<TransactionFinding> {
        self.ledger.clock(now);
        if let Some(limit) = self.config.limit {
            while let Some((number, request)) = self.ledger.late(limit) {
                self.say_missing("TXN-END-02", number, request, &limit.exceeded());
            }
        }
        self.ledger.take()
    }

    /// A flit of a link passes, with or without a packet; flits of a direction are numbered upwards.
    pub fn unit(&mut self, link: usize, dir: Dir, unit: u64) {
        self.ledger.unit((link, dir, unit));
    }

    /// A packet of the transaction layer passes the probe of a link, an index into the names, confirmed by the flit with this number of its
    /// direction. Those of all links come in the order of time. What is wrong with it.
    pub fn see(&mut self, link: usize, dir: Dir, unit: u64, packet: &NvlDecodedPacket) -> Vec<TransactionFinding> {
        let at = (link, dir, unit);
        let header = packet.packet.header();
        match header.op {
            Op::RSP_DATA | Op::RSP_DONE | Op::RSP_ERROR => {
                self.ledger.message(at, Some(header.tag));
                self.response(at, packet);
            }
            Op::READ
            | Op::WRITE_POSTED
            | Op::WRITE_NONPOSTED
            | Op::ATOMIC_RETURN
            | Op::ATOMIC_POSTED
            | Op::FLUSH
            | Op::REDUCE_READ => {
                self.ledger.message(at, Some(header.tag));
                self.request(at, packet);
            }
            _ => {}
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
        let (line, found) = (line_of(open.address), format!("{told} to {} with {}", open.said, request.in_words()));
        let (expected, at) = (open.wanted.in_words(), self.ledger.newest(request.link, request.dir.opposite()));
        self.ledger.concern(Some(request.tag));
        self.ledger.say(rule, at, Some(line), found, expected);
    }

    /// The line of the memory behind the other end of a link.
    fn image_line(at: FlitPlace, line: u64) -> LineOf {
        let memory = 2 * at.0 + usize::from(at.1 == Dir::Up);
        (memory as u16, line)
    }

    fn request(&mut self, at: FlitPlace, packet: &NvlDecodedPacket) {
        let (header, address, data) = (packet.packet.header(), packet.address(), data_of(packet));
        let request = Request { link: at.0, dir: at.1, requester: header.rid, tag: header.tag };
        let number = self.ledger.number();
        let asked = FLIT_BYTES * (usize::from(header.size) + 1);
        let bytes = if data.is_empty() { asked } else { data.len() };
        let name = header.op.name().unwrap_or("a reserved operation");
        let said = match header.op {
            Op::FLUSH => format!("FLUSH in {}", flit(at.2, at.1)),
            _ => format!("{name} of {bytes} B at {address:#x} in {}", flit(at.2, at.1)),
        };
        let wanted = match header.op {
            Op::READ => Some(Wanted::Data(Some(asked))),
            Op::REDUCE_READ | Op::ATOMIC_RETURN => Some(Wanted::Data(None)),
            Op::WRITE_NONPOSTED | Op::FLUSH => Some(Wanted::Done),
            _ => None,
        };
        let mut open = OpenRequest {
            number,
            said,
            address,
            wanted: wanted.unwrap_or(Wanted::Done),
            reads: Vec::new(),
            writes: Vec::new(),
        };
        if wanted.is_some()
            && let Some(older) = self.open.remove(&request)
        {
            let found = format!("{name} with {}", request.in_words());
            let expected = format!("a tag that is free: {} waits for {}", older.said, older.wanted.in_words());
            self.ledger.say("TXN-TAG-01", at, Some(line_of(address)), found, expected);
            self.ledger.end(older.number);
            self.forget(&older);
        }
        let posted = (at.0, at.1, header.rid);
        if self.config.all_writers_seen {
            match header.op {
                Op::READ => {
                    let lines = (line_of(address)..address.saturating_add(asked as u64)).step_by(LINE_BYTES);
                    open.reads = lines.map(|line| Self::image_line(at, line)).collect();
                    open.reads.iter().for_each(|line| self.image.read_begins(*line, number));
                }
                Op::WRITE_POSTED | Op::WRITE_NONPOSTED => {
                    for (line, bytes) in by_line(address, &data, packet.packet.parts().be, header.ep) {
                        let line = Self::image_line(at, line);
                        self.image.write_begins(line, number, bytes);
                        open.writes.push((line, number));
                    }
                }
                Op::ATOMIC_RETURN | Op::ATOMIC_POSTED => {
                    by_line(address, &data, None, false)
                        .iter()
                        .for_each(|(line, _)| self.image.give_up(Self::image_line(at, *line)));
                }
                Op::FLUSH => open.writes = self.posted.remove(&posted).unwrap_or_default().into(),
                _ => {}
            }
        }
        if wanted.is_some() {
            self.ledger.wait(request);
            self.open.insert(request, open);
        } else if !open.writes.is_empty() {
            let waiting = self.posted.entry(posted).or_default();
            waiting.extend(open.writes);
            let over = waiting.len().saturating_sub(MOST_POSTED);
            waiting.drain(..over);
        }
    }

    /// Nothing is to be learned any more of a request: its bytes may have been written or not.
    fn forget(&mut self, open: &OpenRequest) {
        let now = self.ledger.number();
        open.reads.iter().for_each(|line| drop(self.image.read_ends(*line, open.number, now, None)));
        open.writes.iter().for_each(|(line, _)| self.image.give_up(*line));
    }

    fn response(&mut self, at: FlitPlace, packet: &NvlDecodedPacket) {
        let header = packet.packet.header();
        let request = Request { link: at.0, dir: at.1.opposite(), requester: header.rid, tag: header.tag };
        let data = data_of(packet);
        let name = header.op.name().unwrap_or("a response");
        let size = if data.is_empty() { String::new() } else { format!(" of {} B", data.len()) };
        let found = format!("{name}{size} with {}", request.in_words());
        let Some(open) = self.open.remove(&request) else { return self.say_spare(at, request, header.op, found) };
        let (fits, rule) = match (header.op, open.wanted) {
            (Op::RSP_DATA, Wanted::Data(bytes)) => (bytes.is_none_or(|bytes| bytes == data.len()), "TXN-ANS-01"),
            (Op::RSP_DATA, Wanted::Done) => (false, "TXN-ANS-01"),
            (Op::RSP_DONE, wanted) => (wanted == Wanted::Done, "TXN-ANS-02"),
            _ => (true, ""),
        };
        if !fits {
            let expected = format!("{} for {}", open.wanted.in_words(), open.said);
            self.ledger.say(rule, at, Some(line_of(open.address)), found, expected);
            self.open.insert(request, open);
            return;
        }
        if header.op == Op::RSP_ERROR {
            self.forget(&open);
        } else {
            self.finish_reads(at, request, &open, &data, header.ep);
            let now = self.ledger.number();
            open.writes.iter().for_each(|(line, begin)| self.image.write_ends(*line, *begin, now));
        }
        self.ledger.end(open.number);
        self.done.insert(request, NvlCompleted { said: open.said, end: at.2, wanted: open.wanted });
    }

    /// Compares what a READ brings.
    fn finish_reads(&mut self, at: FlitPlace, request: Request, open: &OpenRequest, data: &[u8], poison: bool) {
        let found: OrderedMap<u64, EnabledBytes> = by_line(open.address, data, None, poison).into_iter().collect();
        for line in &open.reads {
            let bytes = found.get(&line.1);
            let now = self.ledger.number();
            let mismatch = self.image.read_ends(*line, open.number, now, bytes);
            let (Some(mismatch), Some(bytes)) = (mismatch, bytes) else { continue };
            let of = format!("of line {:#x} for {} with {}", line.1, open.said, request.in_words());
            match mismatch {
                ImageMismatch::Bytes(byte, value, known) => {
                    let looks = self.image.likeness(*line, open.number, bytes);
                    let looks = looks.map(|likeness| format!(" ({likeness})")).unwrap_or_default();
                    let known: Vec<String> = known.iter().map(|value| format!("{value:#04x}")).collect();
                    let found = format!("{value:#04x} in byte {byte} {of}{looks}");
                    self.ledger.say("TXN-DAT-01", at, Some(line.1), found, known.join(" or "));
                }
                ImageMismatch::PoisonLost(byte) => {
                    let found = format!("byte {byte} {of} without poison");
                    self.ledger.say("TXN-DAT-02", at, Some(line.1), found, "poison");
                }
            }
        }
    }

    /// A response to nothing that is open.
    fn say_spare(&mut self, at: FlitPlace, request: Request, op: Op, found: String) {
        let Some(NvlCompleted { said, end, wanted }) = self.done.get(&request) else {
            return self.ledger.say("TXN-TAG-02", at, None, found, "the tag of a request");
        };
        let is_again = match op {
            Op::RSP_DATA => matches!(wanted, Wanted::Data(_)),
            Op::RSP_DONE => *wanted == Wanted::Done,
            _ => true,
        };
        let unowed = if op == Op::RSP_DATA { "TXN-ANS-01" } else { "TXN-ANS-02" };
        let expected = format!("none: {said} had its last answer in {}", flit(*end, at.1));
        self.ledger.say(if is_again { "TXN-TAG-03" } else { unowed }, at, None, found, expected);
    }
}
