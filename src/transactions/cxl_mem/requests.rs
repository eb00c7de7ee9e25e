//! Requests of CXL.mem and their answers, and BIConflict with its acknowledgement.

use super::{CxlMemTransactions, Waiting};
use crate::image::{EnabledBytes, ImageMismatch, LineOf};
use crate::ledger::{FlitPlace, flit};
use crate::owed::{self, Completions, OwedAnswers};
use scalepool_coherence::content::{LineAddr, WHOLE_LINE};
use scalepool_coherence::mem::tables::HdmRegion;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::{DrsOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType};
use scalepool_protocols::cxl::message::{Data, M2sReq, M2sRwd, S2mDrs, S2mNdr};
use scalepool_protocols::rules;

/// What both ends know a request by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Request {
    pub link: usize,
    /// Port of a fabric, 0 without one.
    pub port: u16,
    pub ld_id: u8,
    pub tag: u16,
}

/// A message that is owed answers.
#[derive(Debug, Clone)]
pub(super) struct OpenRequest {
    /// When it passed, in messages: no other one has this number.
    pub number: u64,
    /// The opcode.
    pub name: &'static str,
    pub address: u64,
    /// Flit that brought it.
    pub unit: u64,
    pub owed: OwedAnswers,
    /// Halves of a line that have come.
    pub halves: u8,
    /// It writes the line.
    pub is_write: bool,
    /// It writes a copy back: `SnpType` NoOp, which a host without a copy does not send (`coherence` §3.2).
    pub is_write_back: bool,
    /// No other request was open under its tag meanwhile.
    pub is_alone: bool,
    /// Its completion has come.
    pub is_completed: bool,
    /// Flit of the acknowledgement of its BIConflict, while the BIRsp to its line has not passed.
    pub acknowledged: Option<u64>,
}

/// The end of a request whose tag is free.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemCompleted {
    pub name: &'static str,
    pub address: u64,
    pub unit: u64,
    /// Flit of its last answer.
    pub end: u64,
    /// Whether a completion and data were among its answers.
    pub had: [bool; 2],
    /// No other request was open under its tag meanwhile.
    pub is_alone: bool,
}

/// A BIConflict without its acknowledgement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conflict {
    pub number: u64,
    pub address: u64,
    pub unit: u64,
    /// The BISnp of its line has been answered in front of its acknowledgement.
    pub is_passed: bool,
}

const HALVES_OF_A_LINE: u8 = 2;

/// The rule of the tables for writes to HDM-H, whose text does not say which fields they have.
const WRITES_OF_HDM_H: &str = "COH-MEM-33";

/// The name of a code that has none.
const RESERVED: &str = "a reserved opcode";

impl Request {
    pub(super) fn in_words(self) -> String {
        let ld = if self.ld_id == 0 { String::new() } else { format!(" of LD {}", self.ld_id) };
        let port = if self.port == 0 { String::new() } else { format!(" of port {}", self.port) };
        format!("tag {:#x}{ld}{port}", self.tag)
    }
}

impl OpenRequest {
    /// A read, or whatever is no write.
    fn new(number: u64, name: &'static str, address: u64, unit: u64, owed: OwedAnswers) -> OpenRequest {
        OpenRequest {
            number,
            name,
            address,
            unit,
            owed,
            halves: 0,
            is_write: false,
            is_write_back: false,
            is_alone: true,
            is_completed: false,
            acknowledged: None,
        }
    }

    /// `MemRd to 0x1000 in flit 3 down`.
    pub(super) fn in_words(&self) -> String {
        format!("{} to {:#x} in {}", self.name, self.address, flit(self.unit, Dir::Down))
    }

    /// The answers that have not come.
    pub(super) fn missing(&self) -> String {
        let OwedAnswers::Answers { completions, data } = self.owed else { return "an answer".into() };
        let data = match (data, self.halves) {
            (false, _) => "",
            (true, 0) => "MemData",
            (true, _) => "the other half of MemData",
        };
        match (completions.in_words(), data) {
            (ndr, "") => ndr,
            (ndr, data) if ndr.is_empty() => data.into(),
            (ndr, data) => format!("{ndr} and {data}"),
        }
    }

    pub(super) fn owes_data(&self) -> bool {
        matches!(self.owed, OwedAnswers::Answers { data: true, .. } | OwedAnswers::Unknown)
    }

    pub(super) fn completions(&self) -> Completions {
        if let OwedAnswers::Answers { completions, .. } = self.owed { completions } else { Completions::default() }
    }

    pub(super) fn is_unknown(&self) -> bool {
        self.owed == OwedAnswers::Unknown
    }
}

impl CxlMemTransactions {
    fn image_line(request: Request, address: u64) -> LineOf {
        (request.ld_id.into(), address)
    }

    pub(super) fn request(&mut self, link: usize, unit: u64, message: &M2sReq) {
        let &M2sReq { opcode, address, tag, ld_id, spid, .. } = message;
        let request = Request { link, port: spid, ld_id, tag };
        let name = opcode.name().unwrap_or(RESERVED);
        let owed = owed::of_request(self.config.region, message).unwrap_or_else(|rule| {
            let found = shown(name, message.snp_type, message.meta_field, message.meta_value);
            self.say_illegal(link, unit, address, found, rule);
            OwedAnswers::Unknown
        });
        self.begin(request, OpenRequest::new(self.ledger.number(), name, address, unit, owed));
    }

    pub(super) fn write(&mut self, link: usize, unit: u64, message: &M2sRwd, data: &Data) {
        let &M2sRwd { opcode, address, tag, ld_id, spid, poison, .. } = message;
        let request = Request { link, port: spid, ld_id, tag };
        if opcode == M2sRwdOpcode::BIConflict {
            self.check_conflict(request, unit, address);
            let conflict = Conflict { number: self.ledger.number(), address, unit, is_passed: false };
            self.conflicts.entry(request).or_default().push(conflict);
            self.ledger.wait(Waiting::Conflict(request));
            return;
        }
        let name = opcode.name().unwrap_or(RESERVED);
        let owed = owed::of_write(self.config.region, message).unwrap_or_else(|(rule, owed)| {
            let found = shown(name, message.snp_type, message.meta_field, message.meta_value);
            self.say_illegal(link, unit, address, found, rule);
            owed
        });
        let is_write_back = message.snp_type == SnpType::NoOp;
        let enables = match opcode {
            M2sRwdOpcode::MemWr => WHOLE_LINE,
            M2sRwdOpcode::MemWrPtl => data.byte_enables.unwrap_or(WHOLE_LINE),
            _ => {
                if owed == OwedAnswers::Unknown {
                    self.image.give_up(Self::image_line(request, address));
                }
                return self.begin(request, OpenRequest::new(self.ledger.number(), name, address, unit, owed));
            }
        };
        let open = OpenRequest {
            is_write: true,
            is_write_back,
            ..OpenRequest::new(self.ledger.number(), name, address, unit, owed)
        };
        if self.config.all_writers_seen {
            let bytes = EnabledBytes { bytes: data.line, enables, poison };
            self.image.write_begins(Self::image_line(request, address), self.ledger.number(), bytes);
        }
        self.begin(request, open);
    }

    fn say_illegal(&mut self, link: usize, unit: u64, address: u64, found: String, rule: &'static str) {
        let region = self.config.region.name();
        let why = rules::find(rule).map_or("", |rule| rule.text);
        let of_fields = if self.config.region == HdmRegion::HdmH && rule == WRITES_OF_HDM_H {
            ", with SnpType NoOp and MetaField Meta0State"
        } else {
            ""
        };
        let expected = format!("a request of {region} ({rule}: {why}{of_fields})");
        self.say("TXN-REQ-01", (link, Dir::Down, unit), Some(address), found, expected);
    }

    /// A request passes that is owed something, or nothing.
    fn begin(&mut self, request: Request, open: OpenRequest) {
        if open.owed.is_nothing() {
            return;
        }
        let OpenRequest { number, name, address, unit, owed, .. } = open;
        if self.config.all_writers_seen && open.owes_data() {
            self.image.read_begins(Self::image_line(request, address), number);
        }
        if owed != OwedAnswers::Unknown {
            self.ledger.wait(Waiting::Request(request));
        }
        let of_tag = self.open.entry(request).or_default();
        let older = of_tag.first().map(|open| (open.in_words(), open.missing()));
        // Of requests whose answers are not known nobody can tell when they are over; the next one under their tag ends them.
        let (unknown, mut known): (Vec<_>, Vec<_>) = of_tag.drain(..).partition(OpenRequest::is_unknown);
        known.push(open);
        if known.len() > 1 {
            known.iter_mut().for_each(|open| open.is_alone = false);
        }
        *of_tag = known;
        unknown.iter().for_each(|open| self.forget(request, open));
        if self.config.unique_tags
            && let Some((older, missing)) = older
        {
            let found = format!("{name} with {}", request.in_words());
            let expected = format!("a tag that is free: {older} waits for {missing}");
            self.say("TXN-TAG-01", (request.link, Dir::Down, unit), Some(address), found, expected);
        }
    }

    /// A request ends of which nothing is known.
    fn forget(&mut self, request: Request, open: &OpenRequest) {
        if self.config.all_writers_seen {
            self.image.read_ends(Self::image_line(request, open.address), open.number, self.ledger.number(), None);
        }
    }

    /// An answer to nothing that is open: a completion (0) or data (1).
    fn say_spare(&mut self, request: Request, unit: u64, kind: usize, what: &str) {
        let at = (request.link, Dir::Up, unit);
        let found = format!("{what} with {}", request.in_words());
        match self.done.get(&request).copied() {
            Some(MemCompleted { name, address, unit, end, had, .. }) => {
                let (begin, end) = (flit(unit, Dir::Down), flit(end, Dir::Up));
                let expected = format!("none: {name} to {address:#x} in {begin} had its last answer in {end}");
                let rule = if had[kind] { "TXN-TAG-03" } else { ["TXN-ANS-02", "TXN-ANS-01"][kind] };
                self.say(rule, at, Some(address), found, expected);
            }
            None => self.say("TXN-TAG-02", at, None, found, "the tag of a request"),
        }
    }

    pub(super) fn completion(&mut self, link: usize, unit: u64, message: &S2mNdr) {
        let &S2mNdr { opcode, tag, ld_id, dpid, .. } = message;
        let request = Request { link, port: dpid, ld_id, tag };
        if opcode == NdrOpcode::BIConflictAck {
            return self.acknowledgement(request, unit);
        }
        let at = (link, Dir::Up, unit);
        let what = || format!("NDR {}", opcode.name().unwrap_or(RESERVED));
        let found = || format!("{} with {}", what(), request.in_words());
        let Some(of_tag) = self.open.get_mut(&request) else { return self.say_spare(request, unit, 0, &what()) };
        let allows = of_tag.iter().position(|open| open.completions().has(opcode));
        let owes = || of_tag.iter().position(|open| !open.completions().is_empty());
        let Some(n) = allows.or_else(owes) else {
            let is_again = of_tag.iter().all(|open| open.is_completed);
            return self.say_unowed(request, at, is_again, "TXN-ANS-02", found());
        };
        let open = &mut of_tag[n];
        let (address, number, is_write, begin) = (open.address, open.number, open.is_write, open.in_words());
        let (acknowledged, allowed) = (open.acknowledged, open.completions());
        open.is_completed = true;
        if let OwedAnswers::Answers { completions, .. } = &mut open.owed {
            *completions = Completions::default();
        }
        if let Some(acknowledged) = acknowledged {
            let ack = flit(acknowledged, Dir::Up);
            let expected = format!("BIRsp before it: the BIConflict of {begin} was acknowledged in {ack}");
            self.say("TXN-ORD-01", at, Some(address), found(), expected);
        }
        if !allowed.has(opcode) {
            self.say("TXN-ANS-03", at, Some(address), found(), format!("{} for {begin}", allowed.in_words()));
        }
        if is_write && self.config.all_writers_seen {
            self.image.write_ends(Self::image_line(request, address), number, self.ledger.number());
        }
        self.close_if_over(request, n, unit);
    }

    /// An answer that none of the requests under its tag is owed: of a kind that has come, or that none of them gets.
    fn say_unowed(&mut self, request: Request, at: FlitPlace, is_again: bool, kind: &'static str, found: String) {
        let Some(of_tag) = self.open.get(&request).filter(|all| !all.iter().any(OpenRequest::is_unknown)) else {
            return;
        };
        let Some(open) = of_tag.first() else { return };
        let (address, expected) = (open.address, format!("{} for {}", open.missing(), open.in_words()));
        self.say(if is_again { "TXN-TAG-03" } else { kind }, at, Some(address), found, expected);
    }

    pub(super) fn data(&mut self, link: usize, unit: u64, message: &S2mDrs, data: &Data) {
        let &S2mDrs { opcode, tag, ld_id, dpid, poison, .. } = message;
        let request = Request { link, port: dpid, ld_id, tag };
        let at = (link, Dir::Up, unit);
        let is_half = data.byte_enables.is_some_and(|enables| enables != WHOLE_LINE);
        let (halves, size) = if is_half { (1, "32 B") } else { (HALVES_OF_A_LINE, "64 B") };
        let what = || format!("DRS {} of {size}", opcode.name().unwrap_or(RESERVED));
        let found = || format!("{} with {}", what(), request.in_words());
        let Some(of_tag) = self.open.get_mut(&request) else { return self.say_spare(request, unit, 1, &what()) };
        let has_no_memory = opcode == DrsOpcode::MemDataNXM;
        let owes = |open: &OpenRequest| open.owes_data() && !open.is_unknown();
        // Where there is no memory there is no completion either, so this is for a request without one.
        let is_only = |open: &OpenRequest| owes(open) && !(has_no_memory && open.is_completed);
        let Some(n) = of_tag.iter().position(is_only).or_else(|| of_tag.iter().position(owes)) else {
            let is_again = of_tag.iter().all(|open| open.halves > 0);
            return self.say_unowed(request, at, is_again, "TXN-ANS-01", found());
        };
        let open = &mut of_tag[n];
        let (address, number, begin, is_alone) = (open.address, open.number, open.in_words(), open.is_alone);
        let is_completed = open.is_completed;
        let is_too_much = open.halves + halves > HALVES_OF_A_LINE;
        let is_whole = open.halves + halves >= HALVES_OF_A_LINE;
        open.halves = (open.halves + halves).min(HALVES_OF_A_LINE);
        if let OwedAnswers::Answers { completions, data } = &mut open.owed {
            *data = !is_whole;
            if has_no_memory {
                // At an address without memory nothing else comes (COH-MEM-36).
                *completions = Completions::default();
            }
        }
        let is_enabled = |n: &usize| data.byte_enables.is_none_or(|enables| enables >> n & 1 == 1);
        let other = (0..data.line.len()).filter(is_enabled).find(|n| data.line[*n] != 0xff);
        if let Some(byte) = other.filter(|_| has_no_memory) {
            let found = format!("{} and {:#04x} in byte {byte}", found(), data.line[byte]);
            self.say("COH-MEM-36", at, Some(address), found, format!("ones in all bytes for {begin}"));
        }
        if has_no_memory && is_completed {
            let expected = format!("no completion beside it, for {begin}");
            self.say("COH-MEM-36", at, Some(address), found(), expected);
        }
        if is_too_much {
            self.say("TXN-ANS-01", at, Some(address), found(), format!("32 B, the other half of MemData for {begin}"));
        }
        if is_whole && self.config.all_writers_seen {
            let bytes = EnabledBytes { bytes: data.line, enables: WHOLE_LINE, poison };
            let is_compared = !is_half && !is_too_much && !has_no_memory && is_alone;
            let line = Self::image_line(request, address);
            let mismatch = self.image.read_ends(line, number, self.ledger.number(), is_compared.then_some(&bytes));
            if let Some(mismatch) = mismatch {
                let looks = self.likeness(request, number, address, &bytes);
                self.say_mismatch(at, address, &format!("{begin} with {}{looks}", request.in_words()), &mismatch);
            }
        }
        self.close_if_over(request, n, unit);
    }

    /// What wrong data looks like, to stand behind what was found: the line of another request, or the right one in another state.
    fn likeness(&self, request: Request, number: u64, address: u64, found: &EnabledBytes) -> String {
        let others = self.open.iter().filter(|(other, _)| other.link == request.link && other.port == request.port);
        let mut reads = others.flat_map(|(other, all)| all.iter().map(move |open| (*other, open)));
        let of_other = reads.find(|(other, open)| {
            let line = Self::image_line(*other, open.address);
            (*other, open.number) != (request, number)
                && open.owes_data()
                && self.image.is_line(line, open.number, found)
        });
        if let Some((other, open)) = of_other {
            return format!(" (these are the bytes for {} with {})", open.in_words(), other.in_words());
        }
        let likeness = self.image.likeness(Self::image_line(request, address), number, found);
        likeness.map(|likeness| format!(" ({likeness})")).unwrap_or_default()
    }

    fn say_mismatch(&mut self, at: FlitPlace, address: u64, of: &str, mismatch: &ImageMismatch) {
        match mismatch {
            ImageMismatch::Bytes(byte, value, known) => {
                let known: Vec<String> = known.iter().map(|value| format!("{value:#04x}")).collect();
                let found = format!("{value:#04x} in byte {byte} for {of}");
                self.say("TXN-DAT-01", at, Some(address), found, known.join(" or "));
            }
            ImageMismatch::PoisonLost(byte) => {
                self.say("TXN-DAT-02", at, Some(address), format!("byte {byte} without poison for {of}"), "poison");
            }
        }
    }

    /// Forgets a request that is owed nothing more.
    fn close_if_over(&mut self, request: Request, n: usize, unit: u64) {
        let Some(of_tag) = self.open.get_mut(&request) else { return };
        if !of_tag.get(n).is_some_and(|open| open.owed.is_nothing()) {
            return;
        }
        let OpenRequest { number, name, address, unit: begin, is_completed, halves, is_alone, .. } = of_tag.remove(n);
        if of_tag.is_empty() {
            self.open.remove(&request);
        }
        self.ledger.end(number);
        self.done.insert(
            request,
            MemCompleted { name, address, unit: begin, end: unit, had: [is_completed, halves > 0], is_alone },
        );
    }

    /// A BIConflict repeats the tag of the M2S Req to its line (`coherence` §3.5 step 1). At the probe that may be over, for its
    /// completion may still be on its way to the host; where no Req to the line is to be seen, nobody is blamed.
    fn check_conflict(&mut self, request: Request, unit: u64, address: u64) {
        let line = LineAddr::of_address(address);
        let is_of_line = |address: u64| LineAddr::of_address(address) == line;
        let of_tag = self.open.get(&request).map_or(&[][..], Vec::as_slice);
        let done = self.done.get(&request);
        if of_tag.iter().any(|open| is_of_line(open.address) || !open.is_alone)
            || done.is_some_and(|done| is_of_line(done.address) || !done.is_alone)
        {
            return;
        }
        let same_host =
            |other: &Request| (other.link, other.port, other.ld_id) == (request.link, request.port, request.ld_id);
        let of_line = self.open.iter().filter(|(other, _)| same_host(other)).find_map(|(other, all)| {
            let open = all.iter().find(|open| !open.is_write && is_of_line(open.address))?;
            Some(format!("tag {:#x}, that of {}", other.tag, open.in_words()))
        });
        let of_other =
            of_tag.first().map(|open| format!("a request to the same line: {} has the tag", open.in_words()));
        let Some(expected) = of_line.or(of_other) else { return };
        let found = format!("BIConflict with {}", request.in_words());
        self.say("COH-IDS-03", (request.link, Dir::Down, unit), Some(address), found, expected);
    }

    fn acknowledgement(&mut self, request: Request, unit: u64) {
        let conflict = self.conflicts.get_mut(&request).map(|all| all.remove(0));
        let Some(Conflict { number, address, is_passed, .. }) = conflict else {
            let found = format!("NDR BIConflictAck with {}", request.in_words());
            return self.say("TXN-TAG-02", (request.link, Dir::Up, unit), None, found, "the tag of a BIConflict");
        };
        self.ledger.end(number);
        self.conflicts.retain(|_, all| !all.is_empty());
        if is_passed {
            // Its BISnp has its answer.
            return;
        }
        let of_tag = self.open.get_mut(&request).into_iter().flatten();
        for open in of_tag.filter(|open| open.address == address && !open.is_write && !open.completions().is_empty()) {
            open.acknowledged = Some(unit);
        }
    }
}

/// The fields of a request on which its answers depend.
fn shown(name: &str, snoop: SnpType, field: MetaField, value: MetaValue) -> String {
    let [snoop, field, value] = [snoop.name(), field.name(), value.name()].map(|name| name.unwrap_or("reserved"));
    format!("{name} with SnpType {snoop}, MetaField {field}, MetaValue {value}")
}
