//! Reading a stream of units: rollover, slots, whole messages (`cxl-68b` §1.4, §5.2).
//!
//! Modelled: the receiver's shadow count of owed data chunks, which decides what a flit is; data and byte-enable chunks
//! joined to their header. Left out: credits, retry, initialisation (a stream decodes without their history). Nothing
//! is judged here, see [`super::check`].
//!
//! A walk through one unit: the protocol ID says whether it is CXL.cachemem. If more than three chunks are owed it is an
//! all-data flit; else bit 0 tells control from protocol. In a protocol flit slots 1 to 3 take owed chunks first; any
//! other slot is read by its format code, and a data header found in it adds to what is owed. A unit with a bad CRC or
//! an unusable ID is decoded and changes no state.

use super::Dir;
use super::config::Revision;
use super::control::Control;
use super::header::FlitHeader;
use super::message::Class;
use super::pid::{self, Enabled, PidAction, PidKind};
use super::slot::{self, Cxl68SlotPlace, SlotFormat};
use super::unit::{Cxl68Unit, SLOT_BYTES};
use crate::wire::Wire;
use std::collections::VecDeque;

/// Payload of a message with data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data {
    /// The line; bytes outside a 32 B transfer are 0.
    pub bytes: [u8; 64],
    /// How much of it travels.
    pub size: Size,
    /// Byte enables, bit n for byte n, if a byte-enable chunk travels.
    pub byte_enables: Option<u64>,
}

/// How much of a line travels (`cxl-68b` §1.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// 64 bytes: four chunks.
    Line,
    /// 32 bytes, bytes 0 to 31 of the line: two chunks.
    LowerHalf,
    /// 32 bytes, bytes 32 to 63 of the line: two chunks.
    UpperHalf,
}

impl Size {
    /// Data chunks of 16 bytes.
    pub const fn chunks(self) -> usize {
        match self {
            Size::Line => 4,
            _ => 2,
        }
    }

    /// First byte of the line that travels.
    const fn first_byte(self) -> usize {
        match self {
            Size::UpperHalf => 32,
            _ => 0,
        }
    }

    /// Bytes of the line that travel, bit n for byte n.
    pub const fn bytes_mask(self) -> u64 {
        match self {
            Size::Line => u64::MAX,
            Size::LowerHalf => 0xffff_ffff,
            Size::UpperHalf => 0xffff_ffff << 32,
        }
    }
}

impl Data {
    /// A whole line, all bytes enabled.
    pub const fn line(bytes: [u8; 64]) -> Data {
        Data { bytes, size: Size::Line, byte_enables: None }
    }

    /// Chunks owed for it: data and byte enables (`cxl-68b` §5.2).
    pub const fn chunks(&self) -> usize {
        self.size.chunks() + self.byte_enables.is_some() as usize
    }

    /// Bytes that count, bit n for byte n: all that travel where no byte enables do (HDR-05).
    pub const fn enabled(&self) -> u64 {
        match self.byte_enables {
            Some(enables) => enables & self.size.bytes_mask(),
            None => self.size.bytes_mask(),
        }
    }

    /// The n-th chunk on the wire; byte enables are the last one (`cxl-68b` §3.4).
    pub fn chunk(&self, n: usize) -> u128 {
        if n == self.size.chunks() {
            return self.byte_enables.unwrap_or(u64::MAX).into();
        }
        let at = self.size.first_byte() + SLOT_BYTES * n;
        u128::from_le_bytes(self.bytes[at..at + SLOT_BYTES].try_into().expect("a chunk is 16 bytes"))
    }

    /// Puts the n-th chunk of the wire in its place.
    #[inline]
    fn set_chunk(&mut self, n: usize, chunk: &[u8; SLOT_BYTES]) {
        if n == self.size.chunks() {
            let [low @ .., _, _, _, _, _, _, _, _] = *chunk;
            self.byte_enables = Some(u64::from_le_bytes(low));
        } else {
            let at = self.size.first_byte() + SLOT_BYTES * n;
            self.bytes[at..at + SLOT_BYTES].copy_from_slice(chunk);
        }
    }
}

/// A whole message: one of the ten layouts, with its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cxl68Message {
    /// Class, and so the channel.
    pub class: Class,
    /// The message or data header.
    pub bits: u128,
    /// Data of the classes that have some.
    pub data: Option<Data>,
}

impl Cxl68Message {
    /// A message without data.
    pub const fn new(class: Class, bits: u128) -> Cxl68Message {
        Cxl68Message { class, bits, data: None }
    }

    /// A message with data.
    pub const fn with_data(class: Class, bits: u128, data: Data) -> Cxl68Message {
        Cxl68Message { class, bits, data: Some(data) }
    }
}

/// What a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cxl68UnitKind {
    /// Header and slots.
    Protocol(FlitHeader),
    /// Four data chunks, no header.
    AllData,
    /// A control flit.
    Control(Control),
    /// ARB/MUX packet.
    Almp,
    /// Filler of the physical layer.
    Null,
    /// CXL.io, opaque here.
    Io,
    /// The protocol ID cannot be used; the unit is dropped.
    Dropped,
}

/// What a slot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cxl68SlotRole {
    /// Messages at the places of a format; also empty slots and MAC slots.
    Format(&'static SlotFormat),
    /// The format code is reserved.
    Reserved(u8),
    /// Data chunk of the message that is owed first.
    Data,
    /// Byte enables of the message that is owed first.
    ByteEnables,
    /// Part of a flit without slots (control, CXL.io, ALMP, NULL, dropped).
    Opaque,
}

/// One unit, taken apart.
#[derive(Debug, Clone, Copy)]
pub struct Cxl68DecodedUnit {
    /// As read.
    pub unit: Cxl68Unit,
    /// Its direction.
    pub dir: Dir,
    /// What the protocol ID leads to.
    pub pid: PidAction,
    /// What it is.
    pub kind: Cxl68UnitKind,
    /// What its slots are.
    pub roles: [Cxl68SlotRole; 4],
    /// Chunks owed before it.
    pub rollover_before: usize,
    /// Chunks owed after it; as before when the unit is not used.
    pub rollover_after: usize,
    /// Whether the CRC fits; `None` where there is none.
    pub crc_ok: Option<bool>,
}

impl Cxl68DecodedUnit {
    /// Valid messages and data headers with their slot and bits, in message order. Where it counts, `for_each` takes a third
    /// of the instructions of a `for` loop, which asks three nested iterators again for each message.
    pub fn messages(&self) -> impl Iterator<Item = (usize, Class, u128)> + '_ {
        self.roles.iter().enumerate().flat_map(|(n, role)| {
            let slot = self.unit.slot(n);
            let places = match role {
                Cxl68SlotRole::Format(format) if format.any_valid(slot) => format.places(),
                _ => &[],
            };
            places.iter().filter(move |p| p.is_valid(slot)).map(move |p| (n, p.class, p.extract(slot)))
        })
    }

    /// Whether a receiver would use it: usable ID, CRC right where there is one.
    pub fn is_good(&self) -> bool {
        self.kind != Cxl68UnitKind::Dropped && self.crc_ok != Some(false)
    }
}

/// A message whose chunks are still coming, and its data as far as it has come.
#[derive(Debug, Clone)]
struct Owed {
    class: Class,
    bits: u128,
    data: Data,
    chunks: usize,
    next: usize,
}

/// Takes a stream of units of one direction apart.
#[derive(Debug, Clone)]
pub struct Unpacker {
    dir: Dir,
    revision: Revision,
    enabled: Enabled,
    owed: VecDeque<Owed>,
    rollover: usize,
    delivered: Vec<Cxl68Message>,
}

impl Unpacker {
    /// A stream of which nothing has been read.
    pub fn new(dir: Dir, revision: Revision, enabled: Enabled) -> Unpacker {
        Unpacker { dir, revision, enabled, owed: VecDeque::new(), rollover: 0, delivered: Vec::new() }
    }

    /// Chunks owed now.
    #[inline]
    pub fn rollover(&self) -> usize {
        self.rollover
    }

    /// Messages that the last unit completed, in order.
    #[inline]
    pub fn delivered(&self) -> &[Cxl68Message] {
        &self.delivered
    }

    /// Reads the next unit. A unit with a bad CRC or an unusable ID changes no state.
    pub fn read(&mut self, unit: &Cxl68Unit) -> Cxl68DecodedUnit {
        let pid = pid::receive(unit.pid(), self.enabled);
        self.read_as(unit, pid)
    }

    /// Reads a unit whose protocol ID has been judged already.
    pub fn read_as(&mut self, unit: &Cxl68Unit, pid: PidAction) -> Cxl68DecodedUnit {
        let has_crc = pid.accept.is_some_and(|p| p.kind == PidKind::Cachemem);
        self.read_judged(unit, pid, has_crc.then(|| unit.crc_ok()))
    }

    /// Reads a unit whose protocol ID and CRC have been judged already; `crc_ok` is `None` where there is none.
    pub fn read_judged(&mut self, unit: &Cxl68Unit, pid: PidAction, crc_ok: Option<bool>) -> Cxl68DecodedUnit {
        self.delivered.clear();
        let kind = match pid.accept.map(|p| p.kind) {
            None => Cxl68UnitKind::Dropped,
            Some(PidKind::Io) => Cxl68UnitKind::Io,
            Some(PidKind::Null) => Cxl68UnitKind::Null,
            Some(PidKind::Almp) => Cxl68UnitKind::Almp,
            Some(PidKind::Cachemem) => self.kind(unit),
        };
        let mut decoded = Cxl68DecodedUnit {
            unit: *unit,
            dir: self.dir,
            pid,
            kind,
            roles: [Cxl68SlotRole::Opaque; 4],
            rollover_before: self.rollover,
            rollover_after: self.rollover,
            crc_ok,
        };
        if decoded.crc_ok == Some(false) {
            // The roles are worked out on a copy: a bad flit is shown in full and changes nothing.
            self.clone().slots(unit, &mut decoded);
            decoded.rollover_after = decoded.rollover_before;
        } else {
            self.slots(unit, &mut decoded);
        }
        decoded
    }

    fn kind(&self, unit: &Cxl68Unit) -> Cxl68UnitKind {
        let slot0 = unit.slot(0);
        let header = FlitHeader::from_bits(slot0 & 0xffff_ffff);
        if self.rollover > 3 {
            Cxl68UnitKind::AllData
        } else if header.flit_type {
            Cxl68UnitKind::Control(Control::from_slot(slot0))
        } else {
            Cxl68UnitKind::Protocol(header)
        }
    }

    /// Works out the roles of the slots and moves the stream on.
    fn slots(&mut self, unit: &Cxl68Unit, decoded: &mut Cxl68DecodedUnit) {
        let header = match &decoded.kind {
            Cxl68UnitKind::Protocol(header) => Some(header),
            Cxl68UnitKind::AllData => None,
            _ => return,
        };
        for (n, role) in decoded.roles.iter_mut().enumerate() {
            *role = match header {
                Some(header) if n == 0 || self.rollover == 0 => self.formatted(header, n, unit.slot(n)),
                _ => self.chunk(unit.slot_bytes(n)),
            };
        }
        decoded.rollover_after = self.rollover;
    }

    /// A slot that is read by its format code.
    #[inline(always)]
    fn formatted(&mut self, header: &FlitHeader, n: usize, slot: u128) -> Cxl68SlotRole {
        let code = header.slot(n);
        let Some(format) = slot::format(self.revision, self.dir, n, code) else { return Cxl68SlotRole::Reserved(code) };
        if format.any_valid(slot) {
            self.messages(format.places(), slot, header);
        }
        Cxl68SlotRole::Format(format)
    }

    fn messages(&mut self, places: &[Cxl68SlotPlace], slot: u128, header: &FlitHeader) {
        for place in places {
            if !place.is_valid(slot) {
                continue;
            }
            let (class, bits) = (place.class, place.extract(slot));
            if !class.has_data() {
                self.delivered.push(Cxl68Message::new(class, bits));
                continue;
            }
            let size = match (header.sz, upper_half(class, bits)) {
                (true, _) => Size::Line,
                (false, false) => Size::LowerHalf,
                (false, true) => Size::UpperHalf,
            };
            let data = Data { bytes: [0; 64], size, byte_enables: None };
            let chunks = size.chunks() + header.be as usize;
            self.rollover += chunks;
            self.owed.push_back(Owed { class, bits, data, chunks, next: 0 });
        }
    }

    // In line: the answer of a call would go through memory and be read back in one piece, which waits for its parts. A flit
    // takes 65 ns that way and 54 ns this way (AMD EPYC, CRC included).
    #[inline(always)]
    fn chunk(&mut self, slot: &[u8; SLOT_BYTES]) -> Cxl68SlotRole {
        // Called with rollover above 0 only, so something is owed; an empty queue would be an empty slot.
        let Some(Owed { class, bits, data, chunks, next }) = self.owed.front_mut() else {
            return Cxl68SlotRole::Opaque;
        };
        let role = if *next == data.size.chunks() { Cxl68SlotRole::ByteEnables } else { Cxl68SlotRole::Data };
        data.set_chunk(*next, slot);
        *next += 1;
        self.rollover -= 1;
        if next == chunks {
            self.delivered.push(Cxl68Message::with_data(*class, *bits, *data));
            self.owed.pop_front();
        }
        role
    }
}

/// ChunkValid of a CXL.cache data header; a DRS of 32 B has no such bit and means the lower half.
fn upper_half(class: Class, bits: u128) -> bool {
    match class {
        Class::D2hData => super::message::D2hData::from_bits(bits).chunk_valid,
        Class::H2dData => super::message::H2dData::from_bits(bits).chunk_valid,
        _ => false,
    }
}
