//! Requests and responses of UALink, compressed or not, as the checker needs them.

use crate::image::{EnabledBytes, LINE_BYTES, LineOf};
use crate::ledger::flit;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::ualink::code::{CompressedCmd, RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::unpack::Transfer;
use std::ops::Range;

/// Bytes of a DWord.
const DWORD_BYTES: u64 = 4;
/// Bytes of a region, inside which a request lies (`ualink` §12).
const REGION_BYTES: u64 = 256;
/// Write messages that are answered on the read channel (`ualink` §12: the key roll of read responses), and the last one that is
/// not a vendor's.
const KEY_ROLL_READS: u8 = 2;
const LAST_KEY_ROLL: u8 = 3;

/// What answers a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Each beat once, in read responses.
    Beats,
    /// One write response.
    Response,
    /// One response of any kind.
    Any,
}

/// A request without its last answer.
#[derive(Debug, Clone)]
pub(super) struct OpenRequest {
    /// When it passed, in messages: no other one has this number.
    pub number: u64,
    /// Flit that ended it.
    unit: u64,
    pub tag: u16,
    pub source: u16,
    pub destination: u16,
    pub name: &'static str,
    cmd: ReqCmd,
    /// First byte; `None` where its address was compressed and the receiver's cache does not have it.
    address: Option<u64>,
    bytes: u64,
    /// Byte enables of the first and the last DWord of a read.
    attr: u8,
    /// Beats of 64 bytes that it touches, at most five.
    pub beats: u8,
    pub wanted: Wanted,
    /// Bit n: beat n has come.
    pub seen: u8,
}

impl OpenRequest {
    /// The request that a transfer is; its number is still to be given.
    pub fn of(transfer: &Transfer, unit: u64) -> Option<OpenRequest> {
        let (tag, source, destination, cmd, address, bytes, attr, metadata) = match &transfer.field {
            ControlField::Request(f) => {
                let bytes = DWORD_BYTES * (u64::from(f.len) + 1);
                (f.tag, f.src, f.dst, f.cmd, Some(f.address), bytes, f.attr, f.metadata)
            }
            ControlField::CompressedRequest(f) => {
                let cmd = match f.cmd {
                    CompressedCmd::Read => ReqCmd::Read,
                    CompressedCmd::Write => ReqCmd::Write,
                    CompressedCmd::WriteFull => ReqCmd::WriteFull,
                    // Reserved: a command of no kind.
                    _ => ReqCmd(0),
                };
                let bytes = LINE_BYTES as u64 * (u64::from(f.len) + 1);
                (f.tag, f.src, f.dst, cmd, transfer.address.get(), bytes, 0xff, f.metadata)
            }
            _ => return None,
        };
        let wanted = match cmd {
            ReqCmd::Read | ReqCmd::AtomicR => Wanted::Beats,
            ReqCmd::Write | ReqCmd::WriteFull | ReqCmd::AtomicNR => Wanted::Response,
            ReqCmd::WriteMessage if metadata <= LAST_KEY_ROLL && metadata != KEY_ROLL_READS => Wanted::Response,
            _ => Wanted::Any,
        };
        let offset = address.unwrap_or_default() % LINE_BYTES as u64;
        // The data of an atomic is one beat (`ualink` §9).
        let bytes = if cmd.is_atomic() { bytes.min(LINE_BYTES as u64 - offset) } else { bytes };
        let beats = (offset + bytes).div_ceil(LINE_BYTES as u64).min(u64::from(u8::BITS)) as u8;
        let name = cmd.name().unwrap_or("a reserved command");
        let (number, seen) = (0, 0);
        Some(OpenRequest {
            number,
            unit,
            tag,
            source,
            destination,
            name,
            cmd,
            address,
            bytes,
            attr,
            beats,
            wanted,
            seen,
        })
    }

    /// `Read of 128 B at 0x1000 of accelerator 3 in flit 3 down`.
    pub fn said(&self, dir: Dir) -> String {
        let at = self.address.map_or("an address that is not known".to_owned(), |address| format!("{address:#x}"));
        let (name, bytes, to) = (self.name, self.bytes, self.destination);
        format!("{name} of {bytes} B at {at} of accelerator {to} in {}", flit(self.unit, dir))
    }

    /// The answers that have not come.
    pub fn missing(&self) -> String {
        match self.wanted {
            Wanted::Response => "a write response".into(),
            Wanted::Any => "a response".into(),
            Wanted::Beats => {
                let missing = (0..self.beats).filter(|beat| self.seen >> beat & 1 == 0);
                let missing: Vec<String> = missing.map(|beat| beat.to_string()).collect();
                let beats = if missing.len() == 1 { "beat" } else { "beats" };
                format!("{beats} {} of read data", missing.join(", "))
            }
        }
    }

    /// Address of the line of a beat, where it is known.
    pub fn line(&self, beat: u8) -> Option<u64> {
        let first = self.address? & !(LINE_BYTES as u64 - 1);
        Some(first.wrapping_add(LINE_BYTES as u64 * u64::from(beat)))
    }

    /// The line of a beat in the image.
    pub fn image_line(&self, beat: u8) -> Option<LineOf> {
        Some((self.destination, self.line(beat)?)).filter(|_| self.cmd != ReqCmd::WriteMessage)
    }

    /// It leaves values of which nobody knows.
    pub fn changes_unknown(&self) -> bool {
        self.cmd.is_atomic() || self.wanted == Wanted::Any && self.cmd.has_data()
    }

    /// Bytes of a beat that lie inside the request.
    fn inside(&self, beat: u8) -> u64 {
        let (Some(address), Some(line)) = (self.address, self.line(beat)) else { return 0 };
        let up_to = |end: u64| {
            let bytes = end.saturating_sub(line).min(LINE_BYTES as u64) as u32;
            u64::MAX.checked_shr(u64::BITS - bytes).unwrap_or(0)
        };
        up_to(address.saturating_add(self.bytes)) & !up_to(address)
    }

    /// Bytes of a beat that a read asks for: those of the first and the last DWord as its attributes say.
    pub fn wants(&self, beat: u8) -> u64 {
        let (Some(address), Some(line)) = (self.address, self.line(beat)) else { return 0 };
        let dword = |at: u64, enables: u8| {
            let off = u64::from(!enables & 0xf);
            let place = at.checked_sub(line).filter(|place| *place < LINE_BYTES as u64);
            place.map_or(0, |place| off << place)
        };
        let last = address.saturating_add(self.bytes - DWORD_BYTES);
        let first = dword(address, self.attr);
        let last = if self.bytes > DWORD_BYTES { dword(last, self.attr >> 4) } else { 0 };
        self.inside(beat) & !first & !last
    }

    /// The bytes of a beat that a write brings.
    pub fn written(&self, beat: u8, transfer: &Transfer) -> EnabledBytes {
        // Bit i of the half enables byte i of the block (`ualink` §9).
        let first = (self.line(beat).unwrap_or_default() % REGION_BYTES / 8) as usize;
        let enables = transfer.enables.as_ref().map_or(u64::MAX, |half| {
            u64::from_le_bytes(std::array::from_fn(|n| half.get(first + n).copied().unwrap_or_default()))
        });
        EnabledBytes { enables: self.inside(beat) & enables, ..bytes_of(transfer, beat.into()) }
    }
}

/// A beat of the data of a transfer.
pub(super) fn bytes_of(transfer: &Transfer, beat: usize) -> EnabledBytes {
    let mut bytes = [0; LINE_BYTES];
    for (n, half) in bytes.chunks_mut(LINE_BYTES / 2).enumerate() {
        if let Some(data) = transfer.data.get(2 * beat + n) {
            half.copy_from_slice(&data);
        }
    }
    EnabledBytes { bytes, enables: u64::MAX, poison: transfer.poisoned.checked_shr(beat as u32).unwrap_or(0) & 1 == 1 }
}

/// A response.
#[derive(Debug, Clone, Copy)]
pub(super) struct UalResponse {
    pub tag: u16,
    /// The source of the request.
    pub to: u16,
    pub is_read: bool,
    pub status: Status,
    /// First beat of those that it brings, and their number.
    first: u8,
    count: u8,
    /// Whether it says that it is the last one, where it says so.
    pub last: Option<bool>,
}

impl UalResponse {
    /// The response that a field is.
    pub fn of(field: &ControlField) -> Option<UalResponse> {
        Some(match field {
            ControlField::Response(f) => {
                let is_read = f.rdwr == RdWr::Read;
                let first = if f.len == 0 { f.offset } else { 0 };
                let (tag, to, status, count) = (f.tag, f.dst, f.status, f.len + 1);
                UalResponse { tag, to, is_read, status, first, count, last: is_read.then_some(f.last) }
            }
            ControlField::CompressedSingle(f) => {
                let (tag, to, first, last) = (f.tag, f.dst, f.offset, Some(f.last));
                UalResponse { tag, to, is_read: true, status: Status::OKAY, first, count: 1, last }
            }
            ControlField::CompressedMulti(f) => {
                let (tag, to, is_read, count) = (f.tag, f.dst, f.rdwr == RdWr::Read, f.len + 1);
                UalResponse { tag, to, is_read, status: Status::OKAY, first: 0, count, last: None }
            }
            _ => return None,
        })
    }

    pub fn wanted(&self) -> Wanted {
        if self.is_read { Wanted::Beats } else { Wanted::Response }
    }

    /// The beats of the request that it brings.
    pub fn beats(&self) -> Range<u8> {
        self.first..self.first + self.count
    }

    /// `read response of beats 0 to 1`.
    pub fn said(&self) -> String {
        let status = match self.status {
            Status::OKAY => String::new(),
            status => format!(", status {}", status.name().unwrap_or("reserved")),
        };
        match (self.is_read, self.count) {
            (false, _) => format!("a write response{status}"),
            (true, 1) => format!("a read response of beat {}{status}", self.first),
            (true, count) => format!("a read response of {count} beats{status}"),
        }
    }
}
