//! Transactions of CXL.io: requests of both ends of a link for memory, configuration space and I/O, and their completions (`cxl-io` §1.3,
//! §3.5), in the form of 68B links and in that of 256B flits.
//!
//! A request that waits for a completion is known by its link (there, by the ports of its PBR header and the ID of its local prefix,
//! which tell hosts apart), its direction, its Requester ID and its tag, which is not used again
//! before its last completion. A memory read is answered by CplD, in one part or in several, each of which says in Byte Count how much is still to
//! come, itself included, and in Lower Address where it begins; a configuration read by one CplD, a configuration write by one Cpl. A
//! completion with another status than Successful ends its request, and Request Retry Status answers configuration requests alone.
//! Memory writes and messages are posted and have no answer.
//!
//! Compared are the registers of configuration space that change by no write or by a write of their own (`config_space`), and with
//! [`CxlIoConfig::all_writers_seen`] every byte that a memory read brings up: a read does not pass the writes before it, so it brings
//! them, or those that were on their way with it. A read with order by ID is not compared, and bytes of a write with order by ID or relaxed
//! order are unknown from then on.
//!
//! Requests of UIO have tags of their own, beside those of other requests. A UIOMWr is answered by one UIOWrCpl. A UIOMRd is answered by
//! UIORdCplD until all bytes that it asks for have come, or ended by a UIORdCpl. Tag and kind are judged; the sheets give no headers of
//! the three completions beyond Requester ID and tag, so neither which bytes one brings nor how many is judged. The bytes that a write of
//! UIO touches are unknown from then on.
//!
//! Left out: memory of the host, which others write; data and status of UIO; what atomics and I/O requests leave (their completions are
//! counted, and what passes down with data, such as an atomic, makes the memory below its link unknown); bridges that are written on one
//! link and stand in front of another one; completions behind a function level reset.
//!
//! A walk through one read: `MRd` with tag 5 for 128 bytes passes. `CplD` with tag 5 comes with Byte Count 128 and 64 bytes: 64 are
//! missing, from 64 bytes further on. A second one says 64 and brings the rest: the bytes are compared, and the tag is free.

mod changes;
mod config_space;
mod image;
mod path;

use super::ledger::{FlitPlace, Ledger, flit};
use super::{AnswerLimit, NO_ANSWER_AT_THE_END, TransactionFinding};
use config_space::{Begun, ConfigImage, ConfigWriteEffect, FunctionId};
use image::{MemoryImage, line_of};
use path::Path;
use scalepool_endpoint::tlp::{Enables, Tlp, TlpForm, TlpKind};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxlio::code::{CplStatus, FmType};
use scalepool_protocols::cxl::cxlio::flit_mode::{FmMem64, has_data};
use scalepool_protocols::cxl::cxlio::tlp::{IoTlpForm, TlpParts};
use scalepool_protocols::cxl::cxlio::{DW_BYTES, length_dw};
use scalepool_protocols::wire::Wire;

/// What the checker knows beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CxlIoConfig {
    /// Nobody writes the memory behind the BARs but the requests that pass down, and none of it is a register that changes by
    /// itself: reads are compared.
    pub all_writers_seen: bool,
    /// Longest time of a request.
    pub limit: Option<AnswerLimit>,
}

/// What both ends know a request by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Request {
    path: Path,
    /// Direction of the request.
    dir: Dir,
    requester: u16,
    tag: u16,
    /// It is one of UIO, which have tags of their own.
    is_uio: bool,
}

impl Request {
    /// The request of the other kind with the same tag.
    fn twin(self) -> Request {
        Request { is_uio: !self.is_uio, ..self }
    }

    fn in_words(self) -> String {
        format!("tag {:#x} of requester {:#06x}{}", self.tag, self.requester, self.path.in_words())
    }
}

/// What a request waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted {
    /// The bytes of a memory read.
    Memory {
        /// Byte address of the first DW.
        address: u64,
        /// Bytes of all its DW.
        bytes: usize,
        /// Those that are asked for.
        enables: Enables,
        /// Bytes from the first to the last enabled one, and the address behind them.
        missing: usize,
        end: u64,
        /// Data so far, whole DW.
        came: Vec<u8>,
        poison: bool,
        /// A completion had a wrong Byte Count or Lower Address: where others belong is not known.
        is_lost: bool,
        /// It may pass writes of other requesters, so it may bring what was before them.
        is_by_id: bool,
    },
    /// A register of a function.
    Register {
        function: FunctionId,
        begun: Begun,
        /// Byte address.
        register: u16,
        /// Bytes that are asked for.
        enables: u8,
    },
    /// The end of a configuration write; what it may change, if it passes down.
    Written(Option<(FunctionId, ConfigWriteEffect)>),
    /// The completion of a request that is not taken apart; whether it may leave anything in memory.
    Any(bool),
    /// So many bytes of a read of UIO.
    UioData(usize),
    /// The completion of a write of UIO.
    UioWritten,
}

/// A request without its last completion.
#[derive(Debug, Clone)]
struct OpenRequest {
    /// When it passed, in messages: no other one has this number.
    number: u64,
    said: String,
    /// Line of the first byte of memory.
    line: Option<u64>,
    wanted: Wanted,
}

impl OpenRequest {
    /// The completion that has not come.
    fn missing(&self) -> String {
        match &self.wanted {
            Wanted::Memory { missing, came, .. } if came.is_empty() => format!("CplD of {missing} B"),
            Wanted::Memory { missing, .. } => format!("CplD of the last {missing} B"),
            Wanted::Register { .. } => "CplD".into(),
            Wanted::Written(_) => "Cpl".into(),
            Wanted::Any(_) => "a completion".into(),
            Wanted::UioData(missing) => format!("UIORdCplD of {missing} B or UIORdCpl"),
            Wanted::UioWritten => "UIOWrCpl".into(),
        }
    }
}

/// The end of a request whose tag is free.
#[derive(Debug, Clone)]
struct IoCompleted {
    said: String,
    end: u64,
}

/// A completion.
#[derive(Debug)]
struct Completion<'a> {
    status: CplStatus,
    byte_count: usize,
    lower_address: u8,
    data: &'a [u8],
    poison: bool,
    /// `CplD of 64 B with tag 0x5 of requester 0x0000`.
    said: String,
}

/// The checker beside some links.
#[derive(Debug)]
pub struct CxlIoTransactions {
    config: CxlIoConfig,
    ledger: Ledger<Request>,
    open: OrderedMap<Request, OpenRequest>,
    done: OrderedMap<Request, IoCompleted>,
    registers: ConfigImage,
    memory: MemoryImage,
}

/// Bus, device and function as they are written.
fn function_name(function: u16) -> String {
    format!("{:02x}:{:02x}.{}", function >> 8, function >> 3 & 0x1f, function & 7)
}

/// A TLP of UIO, as far as it is looked at (`cxl-io` §3.3, §3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UioTlp {
    /// A read from a byte address on, of so many bytes.
    Read(u64, usize),
    /// A write of the same kind.
    Write(u64, usize),
    /// The completion of a write.
    Written,
    /// The completion of a read without data.
    NoData,
    /// The completion of a read with so many bytes.
    Data(usize),
}

impl UioTlp {
    fn of(parts: &TlpParts) -> Option<UioTlp> {
        let header = || FmMem64::from_bits(parts.header.iter().fold(0, |all, byte| all << 8 | u128::from(*byte)));
        Some(match parts.size.code {
            FmType::UIOMRd => {
                let FmMem64 { address, length, .. } = header();
                UioTlp::Read(address, length_dw(length) * DW_BYTES)
            }
            FmType::UIOMWr => UioTlp::Write(header().address, parts.data.len()),
            FmType::UIOWrCpl => UioTlp::Written,
            FmType::UIORdCpl => UioTlp::NoData,
            FmType::UIORdCplD => UioTlp::Data(parts.data.len()),
            _ => return None,
        })
    }

    /// Its name, with what it brings or asks for.
    fn said(self) -> String {
        match self {
            UioTlp::Read(address, bytes) => format!("UIOMRd of {bytes} B at {address:#x}"),
            UioTlp::Write(address, bytes) => format!("UIOMWr of {bytes} B at {address:#x}"),
            UioTlp::Written => "UIOWrCpl".into(),
            UioTlp::NoData => "UIORdCpl".into(),
            UioTlp::Data(bytes) => format!("UIORdCplD of {bytes} B"),
        }
    }
}

/// Whose TLP it is, what it says, and what it is of UIO. `None` of one that cannot be read.
fn read(link: usize, dir: Dir, tlp: &[u8], form: IoTlpForm) -> Option<(Path, Tlp, Option<UioTlp>)> {
    let IoTlpForm::Flit { pbr } = form else {
        let (path, tlp) = Path::of_non_flit(link, tlp);
        return Some((path, Tlp::decode(tlp, TlpForm::NonFlit).ok()?, None));
    };
    let parts = TlpParts::split(tlp, pbr).ok()?;
    let form = if pbr { TlpForm::Pbr { spid: 0, dpid: 0 } } else { TlpForm::Flit };
    Some((Path::of(link, dir, &parts), Tlp::decode(tlp, form).ok()?, UioTlp::of(&parts)))
}

/// Attributes of a request that loosen its order (general knowledge of PCIe; places in `cxl-io` §1.3, §3.4): relaxed order of a
/// posted write, which may pass other posted writes; order by ID, with which a request may pass those of other requesters.
const RELAXED: u8 = 0b010;
const BY_ID: u8 = 0b100;

/// Low 7 bits of an address, as a completion has them.
const fn low_bits(address: u64) -> u8 {
    (address & 0x7f) as u8
}

impl CxlIoTransactions {
    /// Beside links with these names, on which nothing has passed.
    pub fn new(config: CxlIoConfig, names: Vec<String>) -> CxlIoTransactions {
        let (open, done, registers, memory) = Default::default();
        CxlIoTransactions { config, ledger: Ledger::new(names), open, done, registers, memory }
    }

    /// Time goes on, in the unit of [`CxlIoConfig::limit`], which never goes back: what has waited too long. Each request is told once;
    /// its completions may still come.
    pub fn clock(&mut self, now: u64) -> Vec<TransactionFinding> {
        self.ledger.clock(now);
        if let Some(limit) = self.config.limit {
            while let Some((number, request)) = self.ledger.late(limit) {
                self.say_missing("TXN-END-02", number, request, &limit.exceeded());
            }
        }
        self.ledger.take()
    }

    /// A flit of a link passes, with or without a TLP; flits of a direction are numbered upwards.
    pub fn unit(&mut self, link: usize, dir: Dir, unit: u64) {
        self.ledger.unit((link, dir, unit));
    }

    /// A TLP passes the probe of a link, an index into the names, in the flit with this number of its direction that ends it. Those of
    /// all links come in the order of time. What is wrong with it; a TLP that cannot be read is passed over, for the link has told of it.
    pub fn see(&mut self, link: usize, dir: Dir, unit: u64, tlp: &[u8], form: IoTlpForm) -> Vec<TransactionFinding> {
        let at = (link, dir, unit);
        let Some((path, tlp, uio)) = read(link, dir, tlp, form) else { return Vec::new() };
        if let Some(uio) = uio {
            self.uio(at, path, &tlp, uio);
            return self.ledger.take();
        }
        let tag = (tlp.is_non_posted() || matches!(tlp.kind, TlpKind::Completion { .. })).then_some(tlp.tag);
        self.ledger.message(at, tag);
        match tlp.kind {
            TlpKind::Completion { status, byte_count, lower_address, .. } => {
                let (dir, is_uio) = (dir.opposite(), false);
                let request = Request { path, dir, requester: tlp.requester, tag: tlp.tag, is_uio };
                let name = match tlp.data.len() {
                    0 if status == CplStatus::SC => "Cpl".into(),
                    0 => format!("Cpl with status {}", status.name().unwrap_or("reserved")),
                    bytes => format!("CplD of {bytes} B"),
                };
                let said = format!("{name} with {}", request.in_words());
                let (data, poison) = (tlp.data.as_slice(), tlp.poison);
                self.completion(at, request, Completion { status, byte_count, lower_address, data, poison, said });
            }
            _ if tlp.is_non_posted() => self.request(at, path, &tlp),
            TlpKind::MemWrite { address, enables } if self.config.all_writers_seen && dir == Dir::Down => {
                let now = self.ledger.number();
                let dw = tlp.data.len() / DW_BYTES;
                if tlp.attr & (RELAXED | BY_ID) != 0 {
                    // It may pass the writes before it, so any of them may be the last one.
                    return self.relaxed_write(path, address, tlp.data.len());
                }
                self.memory.write(path, now, address, &tlp.data, tlp.poison, |n| enables.has(n, dw));
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

    /// Requests that are owed a completion.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// A posted write passes that may pass others.
    fn relaxed_write(&mut self, path: Path, address: u64, bytes: usize) -> Vec<TransactionFinding> {
        self.memory.give_up(path, address, bytes);
        self.ledger.take()
    }

    /// A TLP of UIO.
    fn uio(&mut self, at: FlitPlace, path: Path, tlp: &Tlp, uio: UioTlp) {
        self.ledger.message(at, Some(tlp.tag));
        let (requester, tag, is_uio) = (tlp.requester, tlp.tag, true);
        match uio {
            UioTlp::Read(address, bytes) => {
                let request = Request { path, dir: at.1, requester, tag, is_uio };
                self.begin(at, request, uio.said(), Some(line_of(address)), Wanted::UioData(bytes));
            }
            UioTlp::Write(address, bytes) => {
                if self.config.all_writers_seen && at.1 == Dir::Down {
                    self.memory.give_up(path, address, bytes);
                }
                let request = Request { path, dir: at.1, requester, tag, is_uio };
                self.begin(at, request, uio.said(), Some(line_of(address)), Wanted::UioWritten);
            }
            UioTlp::Written | UioTlp::NoData | UioTlp::Data(_) => {
                self.uio_completion(at, Request { path, dir: at.1.opposite(), requester, tag, is_uio }, uio);
            }
        }
    }

    /// A completion of UIO.
    fn uio_completion(&mut self, at: FlitPlace, request: Request, uio: UioTlp) {
        let said = format!("{} with {}", uio.said(), request.in_words());
        let Some(mut open) = self.open.remove(&request) else { return self.say_spare(at, request, said) };
        match (&mut open.wanted, uio) {
            (Wanted::UioWritten, UioTlp::Written) | (Wanted::UioData(_), UioTlp::NoData) => {}
            (Wanted::UioData(missing), UioTlp::Data(bytes)) => {
                *missing = missing.saturating_sub(bytes);
                if *missing > 0 {
                    self.open.insert(request, open);
                    return;
                }
            }
            _ => {
                let expected = format!("{} for {}", open.missing(), open.said);
                self.ledger.say("TXN-ANS-03", at, open.line, said, expected);
            }
        }
        // One of the wrong kind ends its request all the same: no other one is to be expected.
        self.end(at, request, open, None);
    }

    fn say_missing(&mut self, rule: &'static str, number: u64, request: Request, told: &str) {
        let Some(open) = self.open.get(&request).filter(|open| open.number == number) else { return };
        let (line, found) = (open.line, format!("{told} to {} with {}", open.said, request.in_words()));
        let (expected, at) = (open.missing(), self.ledger.newest(request.path.link, request.dir.opposite()));
        self.ledger.concern(Some(request.tag));
        self.ledger.say(rule, at, line, found, expected);
    }

    fn request(&mut self, at: FlitPlace, path: Path, tlp: &Tlp) {
        let request = Request { path, dir: at.1, requester: tlp.requester, tag: tlp.tag, is_uio: false };
        let (name, line, wanted) = match tlp.kind {
            TlpKind::MemRead { address, dw, enables } => {
                let (first, missing) = enables.bounds(dw);
                // Requests may stand at the end of all addresses.
                let (begin, bytes) = (address.wrapping_add(first as u64), dw * DW_BYTES);
                let (came, poison, is_lost) = (Vec::new(), false, false);
                let end = begin.wrapping_add(missing as u64);
                let is_by_id = tlp.attr & BY_ID != 0;
                let wanted = Wanted::Memory { address, bytes, enables, missing, end, came, poison, is_lost, is_by_id };
                (format!("MRd of {missing} B at {begin:#x}"), Some(line_of(begin)), wanted)
            }
            TlpKind::ConfigRead { target, register, enables, .. } => {
                let function = (path, target);
                let begun = self.registers.read_begins(function);
                let wanted = Wanted::Register { function, begun, register, enables };
                (format!("CfgRd of register {register:#x} of {}", function_name(target)), None, wanted)
            }
            TlpKind::ConfigWrite { target, register, .. } => {
                let function = (path, target);
                let effect = (at.1 == Dir::Down).then(|| self.registers.write_begins(function, register));
                if effect.is_some_and(|effect| effect.of_memory) {
                    self.memory.move_begins(path.link);
                }
                let wanted = Wanted::Written(effect.map(|effect| (function, effect)));
                (format!("CfgWr of register {register:#x} of {}", function_name(target)), None, wanted)
            }
            TlpKind::Other { .. } | TlpKind::Atomic { .. } => {
                let type_code = tlp.type_code();
                let leaves_anything = at.1 == Dir::Down && has_data(FmType(type_code));
                if leaves_anything {
                    self.memory.move_begins(path.link);
                }
                (format!("a request of type {type_code:#04x}"), None, Wanted::Any(leaves_anything))
            }
            _ => return,
        };
        self.begin(at, request, name, line, wanted);
    }

    /// A request waits for its completions.
    fn begin(&mut self, at: FlitPlace, request: Request, name: String, line: Option<u64>, wanted: Wanted) {
        let number = self.ledger.number();
        if let Some(older) = self.open.remove(&request) {
            let found = format!("{name} with {}", request.in_words());
            let expected = format!("a tag that is free: {} waits for {}", older.said, older.missing());
            self.ledger.say("TXN-TAG-01", at, line, found, expected);
            self.ledger.end(older.number);
            self.forget(request, &older);
        }
        if let Wanted::Memory { address, bytes, .. } = wanted
            && self.compares(request)
        {
            self.memory.read_begins(request.path, number, address, bytes);
        }
        self.ledger.wait(request);
        let said = format!("{name} in {}", flit(at.2, at.1));
        self.open.insert(request, OpenRequest { number, said, line, wanted });
    }

    /// Whether the bytes of a read of memory are known to be those of writes that pass.
    fn compares(&self, request: Request) -> bool {
        self.config.all_writers_seen && request.dir == Dir::Down
    }

    /// A request is over, of which nothing is to be learned: what it has changed changes no more.
    fn forget(&mut self, request: Request, open: &OpenRequest) {
        match open.wanted {
            Wanted::Memory { address, bytes, .. } if self.compares(request) => {
                let now = self.ledger.number();
                self.memory.read_ends(request.path, open.number, now, (address, bytes), None, |_| false);
            }
            Wanted::Written(Some((function, effect))) => {
                self.registers.write_ends(function, effect);
                if effect.of_memory {
                    self.memory.move_ends(request.path.link);
                }
            }
            Wanted::Any(true) => self.memory.move_ends(request.path.link),
            _ => {}
        }
    }

    fn completion(&mut self, at: FlitPlace, request: Request, of: Completion<'_>) {
        let Some(mut open) = self.open.remove(&request) else { return self.say_spare(at, request, of.said) };
        let expected = format!("{} for {}", open.missing(), open.said);
        let is_retry = of.status == CplStatus::CRS;
        let of_config = matches!(open.wanted, Wanted::Register { .. } | Wanted::Written(_));
        let is_good = of.status == CplStatus::SC;
        let wrong = match &open.wanted {
            Wanted::Any(_) => None,
            _ if !is_good && !of.data.is_empty() => Some(("TXN-ANS-01", "no data behind an error")),
            _ if is_retry && !of_config => {
                Some(("TXN-ANS-03", "Request Retry Status for configuration requests alone"))
            }
            Wanted::Written(_) if is_good && !of.data.is_empty() => Some(("TXN-ANS-01", "")),
            Wanted::Memory { .. } | Wanted::Register { .. } if is_good && of.data.is_empty() => {
                Some(("TXN-ANS-03", ""))
            }
            Wanted::Register { .. } if is_good && of.data.len() != DW_BYTES => Some(("TXN-ANS-01", "one DW")),
            _ => None,
        };
        if let Some((rule, why)) = wrong {
            let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
            self.ledger.say(rule, at, open.line, of.said, format!("{expected}{why}"));
            // It ends its request all the same: no other one is to be expected.
            return self.end(at, request, open, None);
        }
        if !is_good {
            return self.end(at, request, open, None);
        }
        let is_over = match &mut open.wanted {
            Wanted::Memory { bytes, missing, end, came, poison, is_lost, .. } => {
                if came.len() + of.data.len() > *bytes {
                    let found = format!("{} behind {} B", of.said, came.len());
                    self.ledger.say("TXN-ANS-01", at, open.line, found, format!("{expected}, {bytes} B in all"));
                    return self.end(at, request, open, None);
                }
                let next = end.wrapping_sub(*missing as u64);
                if !*is_lost && (of.byte_count, of.lower_address) != (*missing, low_bits(next)) {
                    // The bytes of a later part say where they belong.
                    let is_later = of.byte_count < *missing
                        && of.lower_address == low_bits(end.wrapping_sub(of.byte_count as u64));
                    let rule = if is_later { "TXN-ORD-04" } else { "TXN-ANS-07" };
                    let found =
                        format!("{}, Byte Count {}, Lower Address {:#x}", of.said, of.byte_count, of.lower_address);
                    let expected =
                        format!("Byte Count {missing}, Lower Address {:#x} for {}", low_bits(next), open.said);
                    self.ledger.say(rule, at, open.line, found, expected);
                    *is_lost = true;
                }
                let skip = (next % DW_BYTES as u64) as usize;
                *missing -= of.data.len().saturating_sub(skip).min(*missing);
                came.extend(of.data);
                *poison |= of.poison;
                came.len() == *bytes || (*missing == 0 && !*is_lost)
            }
            Wanted::Any(_) => of.byte_count <= of.data.len().max(DW_BYTES),
            _ => true,
        };
        if is_over {
            self.end(at, request, open, Some(&of));
        } else {
            self.open.insert(request, open);
        }
    }

    /// The last completion of a request; `of` where it brings what was asked for.
    fn end(&mut self, at: FlitPlace, request: Request, open: OpenRequest, of: Option<&Completion<'_>>) {
        match (&open.wanted, of) {
            (Wanted::Register { function, begun, register, enables }, Some(of))
                if !of.poison && request.dir == Dir::Down =>
            {
                let found = self.registers.read_ends(*function, *begun, *register, *enables, of.data);
                if let Some((found, expected)) = found {
                    let found = format!("{found:#010x} for {} with {}", open.said, request.in_words());
                    self.ledger.say("TXN-DAT-03", at, open.line, found, format!("{expected:#010x}, as before"));
                }
            }
            (Wanted::Memory { address, bytes, enables, came, poison, is_lost, is_by_id, .. }, Some(_))
                if self.compares(request) =>
            {
                let now = self.ledger.number();
                let whole = (!is_lost && !is_by_id && came.len() == *bytes).then_some((came.as_slice(), *poison));
                let is_enabled = |n| enables.has(n, bytes / DW_BYTES);
                let span = (*address, *bytes);
                let wrong = self.memory.read_ends(request.path, open.number, now, span, whole, is_enabled);
                for (rule, line, found, expected) in wrong {
                    let found = format!("{found} of line {line:#x} for {} with {}", open.said, request.in_words());
                    self.ledger.say(rule, at, Some(line), found, expected);
                }
            }
            _ => self.forget(request, &open),
        }
        self.ledger.end(open.number);
        self.done.insert(request, IoCompleted { said: open.said, end: at.2 });
    }

    /// A completion of nothing that is open of its kind.
    fn say_spare(&mut self, at: FlitPlace, request: Request, said: String) {
        // UIO is answered by completions of its own, and nothing else is.
        if let Some(open) = self.open.remove(&request.twin()) {
            let expected = format!("{} for {}", open.missing(), open.said);
            self.ledger.say("TXN-ANS-03", at, open.line, said, expected);
            return self.end(at, request.twin(), open, None);
        }
        let Some(done) = self.done.get(&request) else {
            return self.ledger.say("TXN-TAG-02", at, None, said, "the tag of a request");
        };
        let expected = format!("none: {} had its last completion in {}", done.said, flit(done.end, at.1));
        self.ledger.say("TXN-TAG-03", at, None, said, expected);
    }
}
