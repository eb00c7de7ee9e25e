//! Requests of CXL.cache, their GOs, pulls and data.

use super::{CxlCacheTransactions, FlitPlace, WHOLE, Waiting, flit, halves_of};
use scalepool_coherence::cache::requests::{self, CacheRequestKind, CacheRequestRow};
use scalepool_coherence::cache::state::HostAnswer;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode as Op;
use scalepool_protocols::cxl::message::{D2hReq, Data, H2dData, H2dRsp};

/// What both ends know a request by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CacheRequestId {
    pub link: usize,
    /// Port of a fabric, or CacheID.
    pub device: u16,
    pub cqid: u16,
}

impl CacheRequestId {
    pub(super) fn in_words(self) -> String {
        let device = if self.device == 0 { String::new() } else { format!(" of device {}", self.device) };
        format!("CQID {:#x}{device}", self.cqid)
    }
}

/// A request without its last answer.
#[derive(Debug, Clone)]
pub(super) struct OpenCacheRequest {
    /// When it passed, in messages: no other one has this number.
    pub number: u64,
    pub address: u64,
    row: &'static CacheRequestRow,
    unit: u64,
    /// The answer with its GO or pull has come.
    first: bool,
    /// Its last answer has come: of WrInv the GO, of WOWrInv and WOWrInvF the ExtCmp.
    last: bool,
    halves: u8,
    /// A byte of its data that is not all ones.
    not_ones: Option<String>,
    /// It has been answered by GO-I or GO-Err.
    is_refused: bool,
    /// UQID of its pull.
    pull: Option<u16>,
}

/// The end of a request whose CQID is free.
#[derive(Debug, Clone)]
pub(super) struct PastCacheRequest {
    said: String,
    address: u64,
    end: u64,
    /// Whether H2D Rsp and H2D Data were among its answers.
    had: [bool; 2],
}

/// Whether a write has an answer behind its pull.
fn ends_apart(op: Op) -> bool {
    requests::write_answers(op).behind_data.is_some()
}

/// Whether an answer asks for the data of the device.
fn is_pull(answer: HostAnswer) -> bool {
    matches!(answer, HostAnswer::Pull | HostAnswer::GoPull | HostAnswer::FastGoPull | HostAnswer::GoErrPull)
}

/// An answer as the sheet calls it.
fn answer_name(answer: HostAnswer) -> String {
    let (opcode, state) = answer.code();
    match (state, answer) {
        (Some(_), HostAnswer::GoErr) => "GO-Err".into(),
        (Some(_), HostAnswer::GoI) => "GO-I".into(),
        (Some(_), HostAnswer::GoS) => "GO-S".into(),
        (Some(_), HostAnswer::GoE) => "GO-E".into(),
        (Some(_), _) => "GO-M".into(),
        (None, _) => opcode.name().unwrap_or("a reserved opcode").into(),
    }
}

impl OpenCacheRequest {
    fn name(&self) -> &'static str {
        self.row.op.name().unwrap_or("a reserved opcode")
    }

    /// `RdOwn to 0x1000 in flit 3 up`.
    pub(super) fn in_words(&self) -> String {
        format!("{} to {:#x} in {}", self.name(), self.address, flit(self.unit, Dir::Up))
    }

    fn owes_data(&self) -> bool {
        matches!(self.row.kind, CacheRequestKind::Current | CacheRequestKind::Read) && self.halves < WHOLE
    }

    /// The answers on H2D Rsp that may come now.
    fn owed(&self) -> impl Iterator<Item = HostAnswer> {
        let apart = ends_apart(self.row.op);
        self.row.answers.iter().copied().filter(move |answer| match apart {
            true if is_pull(*answer) => !self.first,
            true => !self.last,
            false => !self.first,
        })
    }

    /// The answers that have not come.
    pub(super) fn missing(&self) -> String {
        let names: Vec<String> = self.owed().map(answer_name).collect();
        let data = match self.halves {
            _ if !self.owes_data() => "",
            0 => "H2D Data",
            _ => "the other half of H2D Data",
        };
        match (names.join(" or "), data) {
            (names, "") => names,
            (names, data) if names.is_empty() => data.into(),
            (names, data) => format!("{names}, and {data}"),
        }
    }

    fn is_over(&self) -> bool {
        let is_answered = self.row.answers.is_empty() || self.first && (self.last || !ends_apart(self.row.op));
        is_answered && !self.owes_data()
    }
}

impl CxlCacheTransactions {
    pub(super) fn request(&mut self, at: FlitPlace, device: u16, message: &D2hReq) {
        // The link has told of a reserved opcode.
        let Some(row) = requests::request(message.opcode) else { return };
        let id = CacheRequestId { link: at.0, device, cqid: message.cqid };
        let (number, address) = (self.ledger.number(), message.address);
        let (first, last, halves, not_ones, is_refused, pull) = (false, false, 0, None, false, None);
        let open =
            OpenCacheRequest { number, address, row, unit: at.2, first, last, halves, not_ones, is_refused, pull };
        if let Some(older) = self.open.remove(&id) {
            let found = format!("{} with {}", open.name(), id.in_words());
            let expected = format!("a CQID that is free: {} waits for {}", older.in_words(), older.missing());
            self.say("TXN-TAG-04", at, Some(address), found, expected);
            self.ledger.end(older.number);
        }
        self.ledger.wait(Waiting::Request(id));
        self.open.insert(id, open);
    }

    pub(super) fn answer(&mut self, at: FlitPlace, device: u16, message: &H2dRsp) {
        let id = CacheRequestId { link: at.0, device, cqid: message.cqid };
        // The link has told of a reserved opcode or state.
        let Some(answer) = HostAnswer::of(message.opcode, message.rsp_data) else { return };
        let name = answer_name(answer);
        let found = format!("{name} with {}", id.in_words());
        let Some(open) = self.open.get_mut(&id) else { return self.say_spare(at, id, 0, found) };
        let (address, said) = (Some(open.address), open.in_words());
        let is_allowed = open.row.answers.contains(&answer);
        let is_again = !open.owed().any(|owed| owed == answer || !is_allowed);
        let expected = format!("{} for {said}", open.missing());
        if is_again {
            let rule = if open.row.answers.is_empty() { "TXN-ANS-02" } else { "TXN-TAG-03" };
            return self.say(rule, at, address, found, expected);
        }
        let is_early_end = open.row.op == Op::WrInv && !is_pull(answer);
        let (has_pull, pull) = (open.first, open.pull);
        if ends_apart(open.row.op) && !is_pull(answer) {
            open.last = true;
        } else {
            open.first = true;
        }
        if is_pull(answer) && is_allowed {
            open.pull = Some(message.rsp_data);
        }
        open.is_refused |= matches!(answer, HostAnswer::GoI | HostAnswer::GoErr);
        let not_ones = open.not_ones.take().filter(|_| open.is_refused);
        let is_over = open.is_over();
        if let Some(byte) = not_ones {
            let found = format!("{found} behind data with {byte}");
            self.say("COH-REQ-18", at, address, found, format!("ones in all bytes for {said}"));
        }
        if !is_allowed {
            self.say("TXN-ANS-03", at, address, found, expected);
        } else if is_early_end && !has_pull {
            self.say("TXN-ORD-03", at, address, found, format!("WritePull first, for {said}"));
        } else if is_early_end && pull.is_some_and(|uqid| self.is_pulled_for(at.0, uqid, id)) {
            self.say("TXN-ORD-03", at, address, found, format!("the data of the pull first, for {said}"));
        }
        if is_pull(answer) && is_allowed {
            let pulled = self.open.get(&id).map(|open| (open.address, open.row.op));
            if let Some((address, op)) = pulled {
                self.pull(at, message.rsp_data, id, address, op);
            }
        }
        if is_over {
            self.close(at, id);
        }
    }

    pub(super) fn data(&mut self, at: FlitPlace, device: u16, message: &H2dData, data: &Data) {
        let id = CacheRequestId { link: at.0, device, cqid: message.cqid };
        let found = format!("H2D Data with {}", id.in_words());
        let Some(open) = self.open.get_mut(&id) else { return self.say_spare(at, id, 1, found) };
        let address = Some(open.address);
        let halves = halves_of(data);
        if !open.owes_data() || open.halves & halves != 0 {
            let rule = if open.halves > 0 { "TXN-TAG-03" } else { "TXN-ANS-01" };
            let expected = format!("{} for {}", open.missing(), open.in_words());
            return self.say(rule, at, address, found, expected);
        }
        open.halves |= halves;
        let is_enabled = |n: &usize| data.byte_enables.is_none_or(|enables| enables >> n & 1 == 1);
        let byte = (0..data.line.len()).filter(is_enabled).find(|n| data.line[*n] != 0xff);
        // Poisoned bytes mean nothing.
        let byte = byte.filter(|_| !message.poison).map(|n| format!("{:#04x} in byte {n}", data.line[n]));
        let is_refused = open.is_refused || message.go_err;
        if !is_refused && let Some(byte) = &byte {
            open.not_ones.get_or_insert(byte.clone());
        }
        let (said, is_over) = (open.in_words(), open.is_over());
        if let Some(byte) = byte.filter(|_| is_refused) {
            let found = format!("{byte} of {found} behind an error");
            self.say("COH-REQ-18", at, address, found, format!("ones in all bytes for {said}"));
        }
        if is_over {
            self.close(at, id);
        }
    }

    /// The host has sent the request on to memory of the device itself: nothing else comes (`coherence` §3.3).
    pub(super) fn forwarded(&mut self, at: FlitPlace, device: u16, cqid: u16) {
        let id = CacheRequestId { link: at.0, device, cqid };
        if self.open.contains_key(&id) {
            self.close(at, id);
        }
    }

    fn close(&mut self, (_, _, end): FlitPlace, id: CacheRequestId) {
        let Some(open) = self.open.remove(&id) else { return };
        self.ledger.end(open.number);
        let had = [open.first || open.last, open.halves > 0];
        self.done.insert(id, PastCacheRequest { said: open.in_words(), address: open.address, end, had });
    }

    /// An answer to nothing that is open: an H2D Rsp (0) or H2D Data (1).
    fn say_spare(&mut self, at: FlitPlace, id: CacheRequestId, kind: usize, found: String) {
        let Some(PastCacheRequest { said, address, end, had }) = self.done.get(&id).cloned() else {
            return self.say("TXN-TAG-02", at, None, found, "the CQID of a request");
        };
        let expected = format!("none: {said} had its last answer in {}", flit(end, Dir::Down));
        let rule = if had[kind] { "TXN-TAG-03" } else { ["TXN-ANS-02", "TXN-ANS-01"][kind] };
        self.say(rule, at, Some(address), found, expected);
    }
}
