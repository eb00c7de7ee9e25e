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
use super::unit::{Cxl68Unit, SLOT_BYTES, UNIT_BYTES};
use crate::wire::Wire;

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
    /// A unit of zeros that nobody uses: a place to read to.
    pub const fn nothing(dir: Dir) -> Cxl68DecodedUnit {
        Cxl68DecodedUnit {
            unit: Cxl68Unit([0; UNIT_BYTES]),
            dir,
            pid: PidAction { accept: None, log: None },
            kind: Cxl68UnitKind::Dropped,
            roles: [Cxl68SlotRole::Opaque; 4],
            rollover_before: 0,
            rollover_after: 0,
            crc_ok: None,
        }
    }

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

/// Chunks owed before a flit with slots, at most; above, an all-data flit comes.
const OWED_BEFORE_SLOTS: usize = 3;

/// Messages whose chunks may be coming at the same time: one a chunk that is owed before a flit with slots, and those of one
/// slot of it, because a slot is read by its format only when it is slot 0 or nothing is owed. A power of two.
const ASSEMBLED: usize = 8;

const _: () = {
    let tables: [&[SlotFormat]; 6] = [
        &slot::DOWN_HEADER,
        &slot::DOWN_GENERIC,
        &slot::UP_HEADER,
        &slot::UP_GENERIC,
        &slot::UP_HEADER_1_1,
        &slot::UP_GENERIC_1_1,
    ];
    let mut n = 0;
    while n < tables.len() {
        let mut row = 0;
        while row < tables[n].len() {
            assert!(OWED_BEFORE_SLOTS + tables[n][row].data_headers() <= ASSEMBLED, "a flit may owe more messages");
            row += 1;
        }
        n += 1;
    }
};

/// A message whose chunks are still coming, and its data as far as it has come.
#[derive(Debug, Clone)]
struct Owed {
    class: Class,
    bits: u128,
    data: Data,
    to_come: u32,
}

impl Owed {
    const NONE: Owed = Owed { class: Class::M2sRwd, bits: 0, data: Data::line([0; 64]), to_come: END };
}

/// Takes a stream of units of one direction apart.
///
/// What is owed is put together where it lies, in a ring, and copied once, when it is whole. With a queue that moved each
/// message in and out, and an answer that is copied, a flit of a full stream took 70 ns and 740 instructions with its CRC; it
/// takes 43 ns and 400 (AMD EPYC, callgrind).
#[derive(Debug, Clone)]
pub struct Unpacker {
    dir: Dir,
    enabled: Enabled,
    /// Formats of slot 0 and of the others.
    formats: [&'static [SlotFormat]; 2],
    owed: [Owed; ASSEMBLED],
    /// Messages that have been owed, and those of them that are whole; both go on without end.
    begun: usize,
    whole: usize,
    rollover: usize,
    delivered: Vec<Cxl68Message>,
}

impl Unpacker {
    /// A stream of which nothing has been read.
    pub fn new(dir: Dir, revision: Revision, enabled: Enabled) -> Unpacker {
        let formats = [slot::formats(revision, dir, 0), slot::formats(revision, dir, 1)];
        let (owed, delivered) = ([Owed::NONE; ASSEMBLED], Vec::new());
        Unpacker { dir, enabled, formats, owed, begun: 0, whole: 0, rollover: 0, delivered }
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
        self.read_as(unit, pid::receive(unit.pid(), self.enabled))
    }

    /// Reads a unit whose protocol ID has been judged already.
    pub fn read_as(&mut self, unit: &Cxl68Unit, pid: PidAction) -> Cxl68DecodedUnit {
        let mut decoded = Cxl68DecodedUnit::nothing(self.dir);
        self.read_into(unit, pid, &mut decoded);
        decoded
    }

    /// Reads a unit whose protocol ID has been judged already to where the last one was kept, the fastest way: an answer of 208
    /// bytes is copied while its parts are still being written, and a flit takes 49 ns instead of 43 (CRC included, AMD EPYC).
    #[inline]
    pub fn read_into(&mut self, unit: &Cxl68Unit, pid: PidAction, decoded: &mut Cxl68DecodedUnit) {
        let has_crc = pid.accept.is_some_and(|p| p.kind == PidKind::Cachemem);
        self.read_judged(unit, pid, has_crc.then(|| unit.crc_ok()), decoded);
    }

    /// Reads a unit whose protocol ID and CRC have been judged already; `crc_ok` is `None` where there is none.
    pub fn read_judged(
        &mut self,
        unit: &Cxl68Unit,
        pid: PidAction,
        crc_ok: Option<bool>,
        decoded: &mut Cxl68DecodedUnit,
    ) {
        self.delivered.clear();
        (decoded.unit, decoded.dir, decoded.pid, decoded.crc_ok) = (*unit, self.dir, pid, crc_ok);
        decoded.rollover_before = self.rollover;
        match pid.accept.map(|p| p.kind) {
            // The roles are worked out on a copy: a bad flit is shown in full and changes nothing.
            Some(PidKind::Cachemem) if crc_ok == Some(false) => self.clone().slots(unit, decoded),
            Some(PidKind::Cachemem) => self.slots(unit, decoded),
            other => {
                decoded.roles = [Cxl68SlotRole::Opaque; 4];
                decoded.kind = match other {
                    Some(PidKind::Null) => Cxl68UnitKind::Null,
                    Some(PidKind::Almp) => Cxl68UnitKind::Almp,
                    Some(_) => Cxl68UnitKind::Io,
                    None => Cxl68UnitKind::Dropped,
                };
            }
        }
        decoded.rollover_after = self.rollover;
    }

    /// Works out kind and roles of a flit of CXL.cachemem, and moves the stream on.
    #[inline]
    fn slots(&mut self, unit: &Cxl68Unit, decoded: &mut Cxl68DecodedUnit) {
        if self.rollover > OWED_BEFORE_SLOTS {
            decoded.kind = Cxl68UnitKind::AllData;
            for (n, role) in decoded.roles.iter_mut().enumerate() {
                *role = self.chunk(unit.slot_bytes(n));
            }
            return;
        }
        let slot0 = unit.slot(0);
        let header = FlitHeader::from_bits(slot0 & 0xffff_ffff);
        if header.flit_type {
            decoded.kind = Cxl68UnitKind::Control(Control::from_slot(slot0));
            decoded.roles = [Cxl68SlotRole::Opaque; 4];
            return;
        }
        decoded.kind = Cxl68UnitKind::Protocol(header);
        let codes = [0, 1, 2, 3].map(|n| header.slot(n));
        for ((n, role), code) in decoded.roles.iter_mut().enumerate().zip(codes) {
            *role = match n == 0 || self.rollover == 0 {
                true => self.formatted(&header, n, code, unit.slot(n)),
                false => self.chunk(unit.slot_bytes(n)),
            };
        }
    }

    /// A slot that is read by its format code.
    #[inline(always)]
    fn formatted(&mut self, header: &FlitHeader, n: usize, code: u8, slot: u128) -> Cxl68SlotRole {
        let Some(format) = self.formats[usize::from(n > 0)].get(usize::from(code)) else {
            return Cxl68SlotRole::Reserved(code);
        };
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
            let size = match header.sz {
                true => Size::Line,
                false if upper_half(class, bits) => Size::UpperHalf,
                false => Size::LowerHalf,
            };
            let owed = &mut self.owed[self.begun % ASSEMBLED];
            *owed = Owed {
                class,
                bits,
                data: Data { bytes: [0; 64], size, byte_enables: None },
                to_come: to_come(size, header.be),
            };
            self.begun = self.begun.wrapping_add(1);
            self.rollover += size.chunks() + usize::from(header.be);
        }
    }

    // In line: the answer of a call would go through memory and be read back in one piece, which waits for its parts.
    #[inline(always)]
    fn chunk(&mut self, slot: &[u8; SLOT_BYTES]) -> Cxl68SlotRole {
        let Owed { class, bits, data, to_come } = &mut self.owed[self.whole % ASSEMBLED];
        let place = *to_come & 0xf;
        *to_come >>= 4;
        // Called with rollover above 0 only, so something is owed.
        self.rollover = self.rollover.saturating_sub(1);
        let role = match data.bytes.as_chunks_mut().0.get_mut(place as usize) {
            Some(chunk) => {
                *chunk = *slot;
                Cxl68SlotRole::Data
            }
            None => {
                let [low @ .., _, _, _, _, _, _, _, _] = *slot;
                data.byte_enables = Some(u64::from_le_bytes(low));
                Cxl68SlotRole::ByteEnables
            }
        };
        if *to_come == END {
            self.delivered.push(Cxl68Message::with_data(*class, *bits, *data));
            self.whole = self.whole.wrapping_add(1);
        }
        role
    }
}

/// Places of the chunks of a message in the order in which they come, four bits each, the next one lowest: 0 to 3 in the line,
/// 4 the byte enables, then [`END`].
const fn to_come(size: Size, byte_enables: bool) -> u32 {
    match (size, byte_enables) {
        (Size::Line, false) => 0xf_3210,
        (Size::Line, true) => 0xf4_3210,
        (Size::LowerHalf, false) => 0xf10,
        (Size::LowerHalf, true) => 0xf410,
        (Size::UpperHalf, false) => 0xf32,
        (Size::UpperHalf, true) => 0xf432,
    }
}

/// No chunk is to come.
const END: u32 = 0xf;

/// ChunkValid of a CXL.cache data header; a DRS of 32 B has no such bit and means the lower half.
fn upper_half(class: Class, bits: u128) -> bool {
    match class {
        Class::D2hData => super::message::D2hData::from_bits(bits).chunk_valid,
        Class::H2dData => super::message::H2dData::from_bits(bits).chunk_valid,
        _ => false,
    }
}
