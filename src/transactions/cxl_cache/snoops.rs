//! Snoops of CXL.cache and pulls of a host, both of which have a UQID, and what a device answers to them.

use super::requests::CacheRequestId;
use super::{CxlCacheTransactions, FlitPlace, WHOLE, Waiting, flit, halves_of};
use scalepool_coherence::cache::snoops::{self, READINGS};
use scalepool_coherence::cache::state::Snoop;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, D2hRspOpcode};
use scalepool_protocols::cxl::message::{D2hData, D2hRsp, Data, H2dReq};

/// What an entry of the host waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostEntryKind {
    /// The answer of a snoop, and the line that belongs to it.
    Snoop(Snoop),
    /// The data of a write or an evict.
    Pull(CacheRequestId),
}

/// Byte enables of a line, and of the halves in which a 68B link may bring one.
const FULL_LINES: [u64; 3] = [u64::MAX, 0xffff_ffff, 0xffff_ffff << 32];

/// A snoop or a pull that is owed an answer.
#[derive(Debug, Clone)]
pub(super) struct OpenHostEntry {
    /// When it passed, in messages: no other one has this number.
    pub number: u64,
    pub address: u64,
    kind: HostEntryKind,
    /// `SnpInv`, `the pull for DirtyEvict`.
    name: String,
    unit: u64,
    /// Its data may have byte enables.
    may_be_partial: bool,
    answer: Option<D2hRspOpcode>,
    halves: u8,
}

/// The end of a snoop or a pull whose UQID is free.
#[derive(Debug, Clone)]
pub(super) struct PastHostEntry {
    said: String,
    address: u64,
    end: u64,
    /// Whether D2H Rsp and D2H Data were among its answers.
    had: [bool; 2],
}

impl OpenHostEntry {
    /// `SnpInv of 0x1000 in flit 3 down`.
    pub(super) fn in_words(&self) -> String {
        format!("{} of {:#x} in {}", self.name, self.address, flit(self.unit, Dir::Down))
    }

    /// The answers that have not come.
    pub(super) fn missing(&self) -> String {
        let HostEntryKind::Snoop(snoop) = self.kind else { return "D2H Data".into() };
        if self.answer.is_some() {
            return "D2H Data".into();
        }
        let legal = READINGS.iter().filter(|row| row.to.contains(&snoop) && (row.data || self.halves == 0));
        legal.filter_map(|row| row.rsp.name()).collect::<Vec<_>>().join(" or ")
    }

    fn is_over(&self) -> bool {
        match (self.kind, self.answer) {
            (HostEntryKind::Pull(_), _) => self.halves >= WHOLE,
            (_, None) => false,
            (_, Some(rsp)) => self.halves >= WHOLE || !snoops::reading(rsp).is_some_and(|reading| reading.data),
        }
    }
}

impl CxlCacheTransactions {
    /// Whether the data of the pull of a request has not come.
    pub(super) fn is_pulled_for(&self, link: usize, uqid: u16, id: CacheRequestId) -> bool {
        self.host.get(&(link, uqid)).is_some_and(|open| open.kind == HostEntryKind::Pull(id))
    }

    fn begin(&mut self, at: FlitPlace, uqid: u16, open: OpenHostEntry) {
        let key = (at.0, uqid);
        if let Some(older) = self.host.remove(&key) {
            let found = format!("{} with UQID {uqid:#x}", open.name);
            let expected = format!("a UQID that is free: {} waits for {}", older.in_words(), older.missing());
            self.say("TXN-TAG-04", at, Some(open.address), found, expected);
            self.ledger.end(older.number);
        }
        self.ledger.wait_as(open.number, Waiting::Host(key));
        self.host.insert(key, open);
    }

    pub(super) fn snoop(&mut self, at: FlitPlace, message: &H2dReq) {
        // The link has told of a reserved opcode.
        let Some(snoop) = Snoop::of(message.opcode) else { return };
        let (kind, name) = (HostEntryKind::Snoop(snoop), format!("Snp{}", snoop.name()));
        let (number, address, may_be_partial) = (self.ledger.number(), message.address, false);
        let (answer, halves) = (None, 0);
        let open = OpenHostEntry { number, address, kind, name, unit: at.2, may_be_partial, answer, halves };
        self.begin(at, message.uqid, open);
    }

    /// The host asks for the data of a request.
    pub(super) fn pull(&mut self, at: FlitPlace, uqid: u16, id: CacheRequestId, address: u64, op: D2hReqOpcode) {
        // The answer that carries the pull may still concern the request under the number of the message.
        let number = self.ledger.another();
        let (kind, answer, halves) = (HostEntryKind::Pull(id), None, 0);
        let name = format!("the pull for {}", op.name().unwrap_or("?"));
        let may_be_partial = [D2hReqOpcode::WrInv, D2hReqOpcode::WOWrInv].contains(&op);
        self.begin(at, uqid, OpenHostEntry { number, address, kind, name, unit: at.2, may_be_partial, answer, halves });
    }

    pub(super) fn snoop_answer(&mut self, at: FlitPlace, message: &D2hRsp) {
        let key = (at.0, message.uqid);
        // The link has told of a reserved opcode.
        let Some(reading) = snoops::reading(message.opcode) else { return };
        let name = message.opcode.name().unwrap_or("a reserved opcode");
        let found = format!("{name} with UQID {:#x}", message.uqid);
        let Some(open) = self.host.get_mut(&key) else { return self.say_spare_of_device(at, key, 0, found) };
        let (address, expected) = (Some(open.address), format!("{} for {}", open.missing(), open.in_words()));
        let HostEntryKind::Snoop(snoop) = open.kind else {
            return self.say("TXN-ANS-02", at, address, found, expected);
        };
        if open.answer.is_some() {
            return self.say("TXN-TAG-03", at, address, found, expected);
        }
        let has_spare_data = open.halves > 0 && !reading.data;
        open.answer = Some(message.opcode);
        let is_over = open.is_over();
        if !reading.to.contains(&snoop) {
            self.say("TXN-ANS-06", at, address, found, expected);
        } else if has_spare_data {
            self.say("TXN-ANS-01", at, address, format!("{found} behind D2H Data"), expected);
        }
        if is_over {
            self.end(at, key);
        }
    }

    pub(super) fn device_data(&mut self, at: FlitPlace, message: &D2hData, data: &Data) {
        let key = (at.0, message.uqid);
        let found = format!("D2H Data with UQID {:#x}", message.uqid);
        let Some(open) = self.host.get_mut(&key) else { return self.say_spare_of_device(at, key, 1, found) };
        // A write that need not be whole says by its enables what it writes, and is one message.
        let partial = data.byte_enables.filter(|enables| !open.may_be_partial && !FULL_LINES.contains(enables));
        let halves = if open.may_be_partial || partial.is_some() { WHOLE } else { halves_of(data) };
        if open.halves & halves != 0 {
            let (address, expected) = (open.address, format!("{} for {}", open.missing(), open.in_words()));
            return self.say("TXN-TAG-03", at, Some(address), found, expected);
        }
        open.halves |= halves;
        let (address, is_over) = (open.address, open.is_over());
        if let Some(enables) = partial {
            let rule = if let HostEntryKind::Pull(_) = open.kind { "COH-REQ-26" } else { "COH-SNP-13" };
            let expected = format!("a full line for {}", open.in_words());
            let found = format!("{found} and byte enables {enables:#018x}");
            self.say(rule, at, Some(address), found, expected);
        }
        if is_over {
            self.end(at, key);
        }
    }

    fn end(&mut self, (.., end): FlitPlace, key: (usize, u16)) {
        let Some(open) = self.host.remove(&key) else { return };
        self.ledger.end(open.number);
        let had = [open.answer.is_some(), open.halves > 0];
        self.host_done.insert(key, PastHostEntry { said: open.in_words(), address: open.address, end, had });
    }

    /// An answer to nothing that is open: a D2H Rsp (0) or D2H Data (1).
    fn say_spare_of_device(&mut self, at: FlitPlace, key: (usize, u16), kind: usize, found: String) {
        let Some(PastHostEntry { said, address, end, had }) = self.host_done.get(&key).cloned() else {
            return self.say("TXN-TAG-02", at, None, found, "the UQID of a snoop or a pull");
        };
        let expected = format!("none: {said} had its last answer in {}", flit(end, Dir::Up));
        let rule = if had[kind] { "TXN-TAG-03" } else { ["TXN-ANS-02", "TXN-ANS-01"][kind] };
        self.say(rule, at, Some(address), found, expected);
    }
}
