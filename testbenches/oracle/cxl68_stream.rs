//! Checker of a stream of 68-byte flits in one direction, from the receiver's side.
//!
//! Modelled: protocol IDs, CRC, what kind each flit is, the rollover count that alone tells data from headers (sheet
//! cxl-68b §5.2), per-flit maxima and the rules of data headers (§5.1, §5.3), static bits of control flits (§6.1), the
//! frame of ALMP and NULL flits (§1.1, §8.1); the transfers are put together again, header, data and byte enables.
//! Left out: credits, initialisation, opcodes, tight packing, the CXL 1.1 forms, and retry (a flit that is sent again is
//! read again). Reserved bits are ignored. The limit of four all-data flits in a row needs no check: one group of headers
//! a flit owes at most 16 chunks after it.
//!
//! One flit: the protocol ID says who made it. ALMP, NULL and CXL.io flits may stand anywhere and change nothing. With
//! more than three chunks owed a link-layer flit is four chunks whatever it looks like, so a control flit put into a data
//! run shows as wrong data and not as an error here. Otherwise bit 0 tells control from protocol. In a protocol flit the
//! chunks still owed fill slot 1 upward, a header in slot 0 is read before them, and any header makes the slots after it
//! data until nothing is owed or the flit ends. What is owed then is the rollover of the next flit. A flit with an error
//! leaves the checker as it was before it.

use std::collections::VecDeque;

use bitvec::prelude::*;

use super::cxl68_crc;
use super::cxl68_messages::message;
use super::cxl68_slots::{CHUNK, Dir, MAC, SlotOracle, extract, slot_of_code};

/// What a flit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlitKind {
    /// Flit header and slots.
    Protocol,
    /// Four chunks, no header.
    AllData,
    /// Control layout in slot 0.
    Control,
    /// ARB/MUX packet.
    Almp,
    /// Made by the physical layer.
    Null,
    /// CXL.io payload, not looked at.
    Io,
}

/// A valid message of a flit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenMessage {
    /// Layout name. RETRY.Idle and RETRY.Frame, which have no payload, are `cxl68.retry_idle` and `cxl68.retry_frame`.
    pub name: &'static str,
    /// Bit i of the message is bit i.
    pub raw: u128,
    /// Slot, 0..=3.
    pub slot: usize,
    /// Place within the slot format.
    pub place: usize,
}

/// A data or byte-enable chunk of a flit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenChunk {
    /// Slot, 0..=3.
    pub slot: usize,
    /// The slot as it is.
    pub bytes: [u8; 16],
    /// Byte enables, otherwise data.
    pub is_byte_enable: bool,
}

/// A data header with all its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// Layout name of the header.
    pub name: &'static str,
    /// Bit i of the header is bit i.
    pub header: u128,
    /// Data bytes in address order, 32 or 64.
    pub data: Vec<u8>,
    /// Enable of byte i of the 64-byte line is bit i. All ones if none were sent; for 32 bytes with enables only the half
    /// that ChunkValid names.
    pub byte_enables: u64,
    /// Whether a byte-enable chunk was sent.
    pub has_byte_enables: bool,
}

/// What the checker found in one flit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlitFacts {
    /// What the flit is.
    pub kind: FlitKind,
    /// Chunks owed before the flit.
    pub rollover_before: usize,
    /// Chunks owed after it.
    pub rollover_after: usize,
    /// Flit header of a protocol flit.
    pub header: Option<u32>,
    /// Valid messages in order; the control layout or one ALMP double word for those flits.
    pub messages: Vec<SeenMessage>,
    /// Chunks in order.
    pub chunks: Vec<SeenChunk>,
    /// Transfers whose last chunk was in this flit.
    pub completed: Vec<Transfer>,
    /// Slots coded as data, not zero, with nothing owed. A receiver takes them as empty (§5.3); a packer sends none.
    pub stray_slots: Vec<usize>,
}

/// The checker: direction, link set-up, and the transfers under way.
#[derive(Debug, Clone)]
pub struct StreamChecker {
    dir: Dir,
    mdh_enabled: bool,
    open: VecDeque<OpenTransfer>,
}

impl StreamChecker {
    /// A checker at a point of the stream where no data is owed.
    pub fn new(dir: Dir, mdh_enabled: bool) -> Self {
        Self { dir, mdh_enabled, open: VecDeque::new() }
    }

    /// Chunks owed.
    pub fn rollover(&self) -> usize {
        self.open.iter().map(OpenTransfer::owed).sum()
    }

    /// Reads the next flit, protocol ID first. Errors start with the id of the broken rule and name the place.
    pub fn flit(&mut self, bytes: &[u8; 68]) -> Result<FlitFacts, String> {
        let mut after = self.clone();
        let facts = after.read(bytes)?;
        *self = after;
        Ok(facts)
    }

    /// Ends the stream: an error if data is still owed.
    pub fn finish(&self) -> Result<(), String> {
        match self.open.front() {
            None => Ok(()),
            Some(open) => Err(format!(
                "CXL68-PCK-03: stream ends with {} chunks owed, the first of {} {:#x}",
                self.rollover(),
                open.name,
                open.header
            )),
        }
    }

    fn read(&mut self, bytes: &[u8; 68]) -> Result<FlitFacts, String> {
        let rollover = self.rollover();
        let mut facts = FlitFacts {
            kind: FlitKind::Io,
            rollover_before: rollover,
            rollover_after: rollover,
            header: None,
            messages: Vec::new(),
            chunks: Vec::new(),
            completed: Vec::new(),
            stray_slots: Vec::new(),
        };
        // Both bytes of an ID are equal; the second ID of each pair announces an ordered set (§1.2).
        match (bytes[0], bytes[1]) {
            (0xFF, 0xFF) | (0xD2, 0xD2) => {}
            (0x55, 0x55) | (0x87, 0x87) => self.link_layer(bytes, &mut facts)?,
            (0x99, 0x99) | (0x4B, 0x4B) => {
                facts.kind = FlitKind::Null;
                all_zero(bytes, 2, "CXL68-NUL-01")?;
            }
            (0xCC, 0xCC) | (0x1E, 0x1E) => almp(bytes, &mut facts)?,
            (low, high) => return Err(format!("CXL68-PID-01 at byte 0: {low:02x} {high:02x} is no protocol ID")),
        }
        facts.rollover_after = self.rollover();
        Ok(facts)
    }

    fn link_layer(&mut self, bytes: &[u8; 68], facts: &mut FlitFacts) -> Result<(), String> {
        let mut payload = [0; 64];
        payload.copy_from_slice(&bytes[2..66]);
        let expected = cxl68_crc::lfsr(&payload);
        let found = u16::from_le_bytes([bytes[66], bytes[67]]);
        if found != expected {
            return Err(format!("CXL68-CRC-01 at byte 66: found {found:#06x}, expected {expected:#06x}"));
        }
        let mut slots = [[0; 16]; 4];
        for (slot, bytes) in slots.iter_mut().zip(payload.chunks_exact(16)) {
            slot.copy_from_slice(bytes);
        }
        if facts.rollover_before > 3 {
            facts.kind = FlitKind::AllData;
            for (slot, bytes) in slots.iter().enumerate() {
                self.chunk(slot, bytes, facts);
            }
            Ok(())
        } else if payload.view_bits::<Lsb0>()[0] {
            facts.kind = FlitKind::Control;
            control(&slots[0], facts)
        } else {
            facts.kind = FlitKind::Protocol;
            self.protocol(&slots, facts)
        }
    }

    fn protocol(&mut self, slots: &[[u8; 16]; 4], facts: &mut FlitFacts) -> Result<(), String> {
        let raw = number(&slots[0].view_bits::<Lsb0>()[..32]) as u32;
        facts.header = Some(raw);
        let header = FlitHeader::new(raw);
        let mut data_slot = None;

        for (slot, bytes) in slots.iter().enumerate() {
            let code = header.codes[slot];
            let format = slot_of_code(self.dir, slot > 0, code)
                .ok_or_else(|| format!("CXL68-SLT-01 at slot {slot}: format code {code} is reserved"))?;
            let is_chunk = format.places[0].message == CHUNK;
            if slot > 0 && self.rollover() > 0 {
                if !is_chunk {
                    let owed = self.rollover();
                    return Err(format!(
                        "CXL68-PCK-04 at slot {slot}: found {}, expected data, {owed} owed",
                        format.name
                    ));
                }
                self.chunk(slot, bytes, facts);
            } else if is_chunk {
                if bytes.iter().any(|byte| *byte != 0) {
                    facts.stray_slots.push(slot);
                }
            } else {
                let found = valid_messages(format, bytes, slot);
                self.data_headers(format, &found, &header, slot, &mut data_slot)?;
                facts.messages.extend(found);
            }
        }
        self.maxima(&facts.messages)
    }

    /// Judges the data headers of one slot and opens their transfers. `data_slot` is the slot of this flit that has had
    /// valid data headers, if any.
    fn data_headers(
        &mut self,
        format: &SlotOracle,
        found: &[SeenMessage],
        header: &FlitHeader,
        slot: usize,
        data_slot: &mut Option<usize>,
    ) -> Result<(), String> {
        let data: Vec<&SeenMessage> = found.iter().filter(|m| channel(m.name).data.is_some()).collect();
        let at = format!("at slot {slot} ({})", format.name);
        if format.mdh && !found.is_empty() {
            if !self.mdh_enabled {
                return Err(format!("CXL68-PCK-14 {at}: several data headers, but the link has them disabled"));
            }
            if data.len() < 2 {
                return Err(format!(
                    "CXL68-PCK-13 {at}: found {} valid data headers, expected more than one",
                    data.len()
                ));
            }
            if !header.sz || header.be {
                let (sz, be) = (u8::from(header.sz), u8::from(header.be));
                return Err(format!("CXL68-PCK-13 {at}: found Sz={sz} BE={be}, expected Sz=1 BE=0"));
            }
        }
        // One header a flit, or all of them in one slot of a format for several.
        if !data.is_empty() {
            if let Some(first) = *data_slot {
                return Err(format!(
                    "CXL68-PCK-12 {at}: second slot with a valid data header, the first is slot {first}"
                ));
            }
            *data_slot = Some(slot);
        }
        for message in data {
            let rules = channel(message.name).data.expect("filtered above");
            if !header.sz && !rules.half_line {
                return Err(format!("CXL68-HDR-03 {at}: Sz=0 with {}", message.name));
            }
            if header.be && !rules.byte_enables {
                return Err(format!("CXL68-HDR-04 {at}: BE=1 with {}", message.name));
            }
            self.open.push_back(OpenTransfer {
                name: message.name,
                header: message.raw,
                data: Vec::new(),
                data_chunks: if header.sz { 4 } else { 2 },
                byte_enables_owed: header.be,
            });
        }
        Ok(())
    }

    /// Gives a chunk to the oldest open transfer.
    fn chunk(&mut self, slot: usize, bytes: &[u8; 16], facts: &mut FlitFacts) {
        let open = self.open.front_mut().expect("called with chunks owed");
        let is_byte_enable = open.data.len() == 16 * open.data_chunks;
        facts.chunks.push(SeenChunk { slot, bytes: *bytes, is_byte_enable });
        let mut sent = None;
        if is_byte_enable {
            open.byte_enables_owed = false;
            sent = Some(number(&bytes.view_bits::<Lsb0>()[..64]) as u64);
        } else {
            open.data.extend_from_slice(bytes);
        }
        if open.owed() == 0 {
            let open = self.open.pop_front().expect("it was at the front");
            facts.completed.push(open.complete(sent));
        }
    }

    fn maxima(&self, messages: &[SeenMessage]) -> Result<(), String> {
        for channel in CHANNELS {
            let found = messages.iter().filter(|m| m.name == channel.name).count();
            if found > channel.most_per_flit {
                let rule = if self.dir == Dir::Up { "CXL68-PCK-01" } else { "CXL68-PCK-02" };
                return Err(format!(
                    "{rule}: found {found} {}, expected at most {}",
                    channel.name, channel.most_per_flit
                ));
            }
        }
        Ok(())
    }
}

/// The fields of the flit header that decide how the flit is read.
struct FlitHeader {
    sz: bool,
    be: bool,
    codes: [u8; 4],
}

impl FlitHeader {
    fn new(raw: u32) -> Self {
        let field = |name| message("cxl68.flit_header").field_of(raw.into(), name);
        let codes = ["slot0", "slot1", "slot2", "slot3"].map(|name| field(name) as u8);
        Self { sz: field("sz") == 1, be: field("be") == 1, codes }
    }
}

#[derive(Debug, Clone)]
struct OpenTransfer {
    name: &'static str,
    header: u128,
    data: Vec<u8>,
    data_chunks: usize,
    byte_enables_owed: bool,
}

impl OpenTransfer {
    fn owed(&self) -> usize {
        self.data_chunks - self.data.len() / 16 + usize::from(self.byte_enables_owed)
    }

    fn complete(self, sent: Option<u64>) -> Transfer {
        let byte_enables = match sent {
            // Both channels that send enables with 32 bytes have ChunkValid; the half keeps its natural position (§3.4).
            Some(sent) if self.data.len() == 32 => {
                let upper = message(self.name).field_of(self.header, "chunk_valid") == 1;
                sent & if upper { 0xFFFF_FFFF_0000_0000 } else { 0xFFFF_FFFF }
            }
            Some(sent) => sent,
            None => u64::MAX,
        };
        let has_byte_enables = sent.is_some();
        Transfer { name: self.name, header: self.header, data: self.data, byte_enables, has_byte_enables }
    }
}

/// What one channel may do in a flit: §5.1 for the count, §1.5 for size and byte enables.
struct Channel {
    name: &'static str,
    most_per_flit: usize,
    data: Option<DataRules>,
}

#[derive(Clone, Copy)]
struct DataRules {
    half_line: bool,
    byte_enables: bool,
}

const fn plain(name: &'static str, most_per_flit: usize) -> Channel {
    Channel { name, most_per_flit, data: None }
}

const fn with_data(name: &'static str, most_per_flit: usize, half_line: bool, byte_enables: bool) -> Channel {
    Channel { name, most_per_flit, data: Some(DataRules { half_line, byte_enables }) }
}

static CHANNELS: &[Channel] = &[
    plain("cxl68.d2h_req", 4),
    plain("cxl68.d2h_rsp", 2),
    with_data("cxl68.d2h_data", 4, true, true),
    plain("cxl68.s2m_ndr", 2),
    with_data("cxl68.s2m_drs", 3, true, false),
    plain("cxl68.h2d_req", 2),
    plain("cxl68.h2d_rsp", 4),
    with_data("cxl68.h2d_data", 4, true, false),
    plain("cxl68.m2s_req", 2),
    with_data("cxl68.m2s_rwd", 1, false, true),
];

fn channel(name: &str) -> &'static Channel {
    CHANNELS.iter().find(|c| c.name == name).expect("every message of a slot has a channel")
}

/// The messages of a slot whose valid bit, their bit 0, is set.
fn valid_messages(format: &SlotOracle, bytes: &[u8; 16], slot: usize) -> Vec<SeenMessage> {
    let places = format.places.iter().enumerate().filter(|(_, place)| place.message != MAC);
    let messages = places.map(|(index, place)| {
        let raw = number(&extract(format, bytes, index));
        SeenMessage { name: place.message, raw, slot, place: index }
    });
    messages.filter(|m| m.raw & 1 == 1).collect()
}

/// A control flit (§6). Static bits: CTL_FMT against LLCTRL, and 63:40 except with IDE.
fn control(slot: &[u8; 16], facts: &mut FlitFacts) -> Result<(), String> {
    let raw = number(slot.view_bits());
    // Type, CTL_FMT, LLCTRL, SubType and the static bits lie at the same place in every layout but IDE's.
    let field = |name| message("cxl68.retry_req").field_of(raw, name);
    let (llctrl, sub_type) = (field("llctrl"), field("sub_type"));
    let name = match (llctrl, sub_type) {
        (0b0000, 0b0001) => "cxl68.llcrd",
        (0b0001, 0b0000) => "cxl68.retry_idle",
        (0b0001, 0b0001) => "cxl68.retry_req",
        (0b0001, 0b0010) => "cxl68.retry_ack",
        (0b0001, 0b0011) => "cxl68.retry_frame",
        (0b0010, 0b0000..=0b0010) => "cxl68.ide",
        (0b1100, 0b1000) => "cxl68.init_param",
        _ => return Err(format!("CXL68-CTL-02 at bit 32: LLCTRL {llctrl:#x} with SubType {sub_type:#x} is reserved")),
    };
    let is_ide = name == "cxl68.ide";
    let (found, expected) = (field("ctl_fmt"), u128::from(is_ide));
    if found != expected {
        return Err(format!("CXL68-CTL-05 at bit 5: CTL_FMT found {found}, expected {expected}"));
    }
    if !is_ide && field("static0") != 0 {
        return Err(format!("CXL68-CTL-05 at bit 40: static bits found {:#x}, expected 0", field("static0")));
    }
    facts.messages.push(SeenMessage { name, raw, slot: 0, place: 0 });
    Ok(())
}

/// An ARB/MUX packet (§8.1): four equal double words, the rest zero.
fn almp(bytes: &[u8; 68], facts: &mut FlitFacts) -> Result<(), String> {
    facts.kind = FlitKind::Almp;
    for copy in 1..4 {
        let at = 2 + 4 * copy;
        if bytes[at..at + 4] != bytes[2..6] {
            let (found, expected) = (&bytes[at..at + 4], &bytes[2..6]);
            return Err(format!("CXL68-ALM-01 at byte {at}: copy {copy} is {found:02x?}, expected {expected:02x?}"));
        }
    }
    all_zero(bytes, 18, "CXL68-ALM-01")?;
    let raw = number(bytes[2..6].view_bits());
    facts.messages.push(SeenMessage { name: "cxl68.almp", raw, slot: 0, place: 0 });
    Ok(())
}

fn all_zero(bytes: &[u8; 68], from: usize, rule: &str) -> Result<(), String> {
    match (from..68).find(|at| bytes[*at] != 0) {
        None => Ok(()),
        Some(at) => Err(format!("{rule} at byte {at}: found {:#04x}, expected 0", bytes[at])),
    }
}

/// Up to 128 bits as a number, the first bit lowest.
fn number(bits: &BitSlice<u8, Lsb0>) -> u128 {
    bits.load_le()
}

#[cfg(test)]
#[path = "cxl68_stream_tests.rs"]
mod tests;
