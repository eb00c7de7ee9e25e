//! Reading a stream of flits: what each slot is, data and trailers joined to their headers (`cxl-256b` §5).
//!
//! Modelled: owed data and trailer slots over flit ends, control flits, Empty flits, whole messages. Left out: credits,
//! sequence numbers, retry (a stream decodes without their history). Nothing is judged here, see [`super::check`].
//!
//! A walk through one flit: FEC and CRC first; a flit that is not good is taken apart for show and changes no state. Of a
//! cachemem flit slots 0 to 14 are read in order: a G slot takes what is owed (four data slots a message, then the
//! trailer), any other slot is read by its format code, and data headers found in it add to what is owed. A control slot
//! makes the slots behind it (H8: all others) mean nothing, except with IDE.MAC. An Empty flit is dropped.

use super::code::{FlitType, M2sRwdOpcode, MetaField};
use super::control::{self, ControlKind};
use super::flit::{Cxl256Flit, Cxl256Received, SLOTS};
use super::header::FlitHeader;
use super::mode::Mode;
use super::slot::{self, SlotFormat};
use super::{Class, Routing};
use super::{message, pbr};
use crate::cxl::Dir;
use crate::cxl::cxlio::stream::{FoundPiece, TlpRegionReader};
use crate::wire::Wire;
use std::collections::VecDeque;

/// Data slots of a line (`cxl-256b` §5.1).
pub const LINE_SLOTS: usize = 4;
/// Bytes of a data slot.
const SLOT_BYTES: usize = 16;

/// Payload of a message with data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data {
    /// The line.
    pub line: [u8; 64],
    /// Byte enables of the trailer, bit n for byte n.
    pub byte_enables: Option<u64>,
    /// Extended metadata of the trailer.
    pub metadata: Option<u32>,
}

impl Data {
    /// A line without trailer.
    pub const fn line(line: [u8; 64]) -> Data {
        Data { line, byte_enables: None, metadata: None }
    }

    /// The n-th data slot, low bytes first.
    pub fn slot(&self, n: usize) -> u128 {
        u128::from_le_bytes(self.line[SLOT_BYTES * n..][..SLOT_BYTES].try_into().expect("a slot is 16 bytes"))
    }
}

/// A whole message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cxl256Message {
    /// Class, and so the channel.
    pub class: Class,
    /// The message or data header.
    pub bits: u128,
    /// Data of the classes that have some.
    pub data: Option<Data>,
}

/// What the trailer of one message holds (`cxl-256b` §5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trailer {
    /// Byte enables, bits 63:0.
    pub byte_enables: bool,
    /// Extended metadata, behind the byte enables if there are any.
    pub metadata: bool,
}

/// The trailer that a data header announces; `None` without TRP or BEP. Of a DRS it is this header's part of the trailer
/// that all headers of its slot share.
pub fn trailer(class: Class, routing: Routing, bits: u128) -> Option<Trailer> {
    match class {
        // TRP, opcode and MetaField of an RwD stand at the same place in both routings.
        Class::M2sRwd => {
            let rwd = message::M2sRwd::from_bits(bits);
            let byte_enables = matches!(rwd.opcode, M2sRwdOpcode::MemWrPtl | M2sRwdOpcode::MemWrPtlTEE);
            rwd.trp.then_some(Trailer { byte_enables, metadata: rwd.meta_field == MetaField::EMS })
        }
        // So does BEP.
        Class::D2hData => {
            let header = message::D2hData::from_bits(bits);
            header.bep.then_some(Trailer { byte_enables: true, metadata: false })
        }
        Class::S2mDrs => {
            let trp = match routing {
                Routing::Hbr => message::S2mDrs::from_bits(bits).trp,
                Routing::Pbr => pbr::S2mDrs::from_bits(bits).trp,
            };
            trp.then_some(Trailer { byte_enables: false, metadata: true })
        }
        _ => None,
    }
}

impl Trailer {
    /// The trailer slot of an RwD or D2H data message.
    pub fn slot(&self, data: &Data) -> u128 {
        let enables = if self.byte_enables { u128::from(data.byte_enables.unwrap_or(u64::MAX)) } else { 0 };
        let metadata = if self.metadata { u128::from(data.metadata.unwrap_or(0)) } else { 0 };
        enables | metadata << if self.byte_enables { 64 } else { 0 }
    }

    /// Reads the trailer slot of an RwD or D2H data message.
    fn read(&self, slot: u128, data: &mut Data) {
        let behind = if self.byte_enables { slot >> 64 } else { slot };
        data.byte_enables = self.byte_enables.then_some(slot as u64);
        data.metadata = self.metadata.then_some(behind as u32);
    }
}

/// What a flit is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cxl256FlitKind {
    /// All zero, before the sequence handshake.
    Idle,
    /// NOP.
    Nop,
    /// CXL.io payload: its TLPs.
    Io(Vec<FoundPiece>),
    /// Slots.
    Protocol,
    /// Slots, slot 0 is a control slot.
    Control,
    /// No message; carries credits and takes a sequence number.
    Empty,
    /// ARB/MUX packet.
    Almp,
}

/// What a slot is.
#[derive(Debug, Clone, Copy)]
pub enum Cxl256SlotRole {
    /// Messages at the places of a format; also an empty slot.
    Format(&'static SlotFormat),
    /// Control content; `None`: an unlisted kind.
    Control(Option<&'static ControlKind>),
    /// The format code is reserved.
    Reserved,
    /// Data of the message that is owed first.
    Data,
    /// A trailer.
    Trailer,
    /// Means nothing: beside a control slot, or in a flit without slots.
    Unused,
}

/// Messages of each class, by index.
pub type ClassCounts = [u8; Class::COUNT];

/// One flit, taken apart.
#[derive(Debug, Clone)]
pub struct Cxl256DecodedFlit {
    /// As read.
    pub unit: Cxl256Flit,
    /// Behind FEC and CRC; everything here is about the repaired flit.
    pub received: Cxl256Received,
    /// Flit format.
    pub mode: Mode,
    /// Its direction.
    pub dir: Dir,
    /// Flit header.
    pub header: FlitHeader,
    /// What it is.
    pub kind: Cxl256FlitKind,
    /// What its slots are.
    pub roles: [Cxl256SlotRole; SLOTS],
    /// Data and trailer slots owed before each slot.
    pub owed_slots: [usize; SLOTS],
    /// Data messages whose data was not complete before each slot.
    pub open_messages: [usize; SLOTS],
    /// Data messages whose data travels in this flit or begins behind it.
    pub active: usize,
    /// Those of this cachemem flit and the one before, each once.
    pub active_in_two: usize,
    /// Messages in slots 12 to 14 of the cachemem flit before.
    pub last_group: ClassCounts,
    /// Valid messages and data headers, in message order: they are taken out of the slots once, for all who ask for them.
    pub found: Vec<Cxl256Found>,
}

/// A valid message or data header in a flit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cxl256Found {
    /// Its slot, 0 to 14.
    pub slot: u8,
    /// Its place in the slot, counted from 0.
    pub place: u8,
    /// Class, and so the channel.
    pub class: Class,
    /// The message or data header.
    pub bits: u128,
}

impl Cxl256DecodedFlit {
    /// The repaired flit.
    pub fn flit(&self) -> &Cxl256Flit {
        &self.received.flit
    }

    /// Whether a receiver would use it.
    pub fn is_good(&self) -> bool {
        self.received.is_good() && !self.received.suspect
    }

    /// Whether it has slots.
    pub fn has_slots(&self) -> bool {
        matches!(self.kind, Cxl256FlitKind::Protocol | Cxl256FlitKind::Control | Cxl256FlitKind::Empty)
    }

    /// Valid messages and data headers with their slot and bits, in message order.
    pub fn messages(&self) -> impl Iterator<Item = (usize, Class, u128)> + '_ {
        self.found.iter().map(|found| (usize::from(found.slot), found.class, found.bits))
    }
}

/// A message whose data is still coming.
#[derive(Debug, Clone)]
struct PartialMessage {
    message: Cxl256Message,
    data: Data,
    /// Data slots read.
    lines: usize,
    /// Its own trailer, or its part of the one that its slot shares.
    trailer: Option<Trailer>,
    /// A trailer slot follows its data.
    trailer_follows: bool,
    /// Number of the header slot, counted over the stream: messages of one slot share it.
    header_slot: u64,
}

/// Takes a stream of flits of one direction apart.
#[derive(Debug, Clone)]
pub struct Unpacker {
    mode: Mode,
    dir: Dir,
    open: VecDeque<PartialMessage>,
    owed_slots: usize,
    header_slots: u64,
    last_active: usize,
    last_group: ClassCounts,
    tlps: TlpRegionReader,
    delivered: Vec<Cxl256Message>,
}

impl Unpacker {
    /// A stream of which nothing has been read.
    pub fn new(mode: Mode, dir: Dir) -> Unpacker {
        Unpacker {
            mode,
            dir,
            open: VecDeque::new(),
            owed_slots: 0,
            header_slots: 0,
            last_active: 0,
            last_group: [0; Class::COUNT],
            tlps: TlpRegionReader::new(mode.routing() == Routing::Pbr),
            delivered: Vec::new(),
        }
    }

    /// Data and trailer slots owed now.
    pub fn owed_slots(&self) -> usize {
        self.owed_slots
    }

    /// Messages that the last flit completed, in order.
    pub fn delivered(&self) -> &[Cxl256Message] {
        &self.delivered
    }

    /// Messages that the even half of a latency-optimised flit completes, by itself: those of slots 0 to 6, as a later
    /// [`Unpacker::read`] of the whole flit delivers them first. Nothing is read, nothing is judged (`cxl-256b` §7.3).
    ///
    /// A half of zeros while data is owed completes nothing: the flit may be an Empty one, which the odd half tells.
    pub fn early(&self, even: &Cxl256Flit) -> Vec<Cxl256Message> {
        let slots = (0..EVEN_SLOTS).map(|n| even.slot(self.mode, n));
        if even.header().flit_type != FlitType::Cachemem || slots.clone().all(|slot| slot == 0) {
            return Vec::new();
        }
        let mut copy = self.clone();
        copy.delivered.clear();
        for (n, bits) in slots.enumerate() {
            if copy.owed_slots > 0 && self.mode.slot_kind(n) == slot::SlotKind::G {
                copy.data(bits);
                continue;
            }
            match slot::format(self.mode, n, slot::code(bits)) {
                // A control slot tells what the others mean; that waits for the whole flit.
                Some(format) if format.is_control() => return Vec::new(),
                Some(format) => {
                    copy.messages(format, bits, None, |_, _, _| ());
                }
                None => (),
            }
        }
        copy.delivered
    }

    /// Sets the Poison bit of the n-th message whose data is still coming, as a Poison control slot asks. `false`: there is
    /// none.
    pub fn poison(&mut self, n: usize) -> bool {
        let routing = self.mode.routing();
        let Some(open) = self.open.get_mut(n) else { return false };
        let field = open.message.class.def(routing).fields.iter().find(|f| f.name == "poison");
        if let Some(bits) = field.and_then(|f| f.insert(open.message.bits, 1).ok()) {
            open.message.bits = bits;
        }
        true
    }

    /// Reads the next flit. One that is not good changes no state.
    pub fn read(&mut self, unit: &Cxl256Flit) -> Cxl256DecodedFlit {
        self.read_judged(unit, unit.receive(self.mode))
    }

    /// Reads the next flit as it came out of FEC and CRC.
    pub fn read_judged(&mut self, unit: &Cxl256Flit, received: Cxl256Received) -> Cxl256DecodedFlit {
        self.delivered.clear();
        let mut decoded = Cxl256DecodedFlit {
            unit: *unit,
            received,
            mode: self.mode,
            dir: self.dir,
            header: received.flit.header(),
            kind: Cxl256FlitKind::Nop,
            roles: [Cxl256SlotRole::Unused; SLOTS],
            owed_slots: [self.owed_slots; SLOTS],
            open_messages: [self.open.len(); SLOTS],
            active: 0,
            active_in_two: 0,
            last_group: self.last_group,
            found: Vec::new(),
        };
        if decoded.is_good() {
            self.take(&mut decoded);
        } else {
            // Taken apart on a copy: a bad flit is shown in full and changes nothing.
            self.clone().take(&mut decoded);
        }
        decoded
    }

    /// Works out what the flit is and moves the stream on.
    fn take(&mut self, decoded: &mut Cxl256DecodedFlit) {
        let flit = &decoded.received.flit;
        let is_zero = || flit.body(self.mode).all(|b| b == 0);
        decoded.kind = match decoded.header.flit_type {
            FlitType::Nop if decoded.header.seq == 0 && is_zero() => Cxl256FlitKind::Idle,
            FlitType::Nop => Cxl256FlitKind::Nop,
            FlitType::Io => {
                let body: Vec<u8> = flit.body(self.mode).collect();
                Cxl256FlitKind::Io(self.tlps.read(&body[..body.len() - super::flit::DLLP_BYTES]))
            }
            FlitType::Almp => Cxl256FlitKind::Almp,
            _ if self.is_empty(flit) => {
                for (n, role) in decoded.roles.iter_mut().enumerate() {
                    let format = slot::format(self.mode, n, slot::code(flit.slot(self.mode, n)));
                    *role = format.map_or(Cxl256SlotRole::Reserved, Cxl256SlotRole::Format);
                }
                Cxl256FlitKind::Empty
            }
            _ => {
                self.slots(decoded);
                if matches!(decoded.roles[0], Cxl256SlotRole::Control(_)) {
                    Cxl256FlitKind::Control
                } else {
                    Cxl256FlitKind::Protocol
                }
            }
        };
    }

    /// Whether a cachemem flit is Empty: marked so, and no message or data in it.
    fn is_empty(&self, flit: &Cxl256Flit) -> bool {
        let no_message = |n| {
            let bits = flit.slot(self.mode, n);
            match slot::format(self.mode, n, slot::code(bits)) {
                Some(format) => !format.is_control() && !format.any_valid(bits),
                None => true,
            }
        };
        let all_zero = |n| flit.slot(self.mode, n) == 0;
        flit.crd().marks_empty() && (0..SLOTS).all(|n| if self.open.is_empty() { no_message(n) } else { all_zero(n) })
    }

    fn slots(&mut self, decoded: &mut Cxl256DecodedFlit) {
        let flit = &decoded.received.flit;
        let carried = self.open.len();
        let mut begun = 0;
        let mut unused = false;
        let mut group: ClassCounts = [0; Class::COUNT];
        for n in 0..SLOTS {
            decoded.owed_slots[n] = self.owed_slots;
            decoded.open_messages[n] = self.open.len();
            if unused {
                continue;
            }
            let bits = flit.slot(self.mode, n);
            let takes_data = matches!(self.mode.slot_kind(n), slot::SlotKind::G);
            decoded.roles[n] = if takes_data && self.owed_slots > 0 {
                self.data(bits)
            } else {
                match slot::format(self.mode, n, slot::code(bits)) {
                    None => Cxl256SlotRole::Reserved,
                    Some(format) if format.is_control() => {
                        let kind = control::kind(bits);
                        unused = !kind.is_some_and(|k| k.shares_flit);
                        Cxl256SlotRole::Control(kind)
                    }
                    Some(format) => {
                        let counts = if n >= FIRST_SLOT_OF_LAST_GROUP { Some(&mut group) } else { None };
                        begun += self.messages(format, bits, counts, |place, class, bits| {
                            if decoded.found.capacity() == 0 {
                                decoded.found.reserve_exact(FIRST_FOUND);
                            }
                            decoded.found.push(Cxl256Found { slot: n as u8, place, class, bits });
                        });
                        Cxl256SlotRole::Format(format)
                    }
                }
            };
        }
        decoded.active = carried + begun;
        decoded.active_in_two = self.last_active + begun;
        self.last_active = decoded.active;
        self.last_group = group;
    }

    /// Reads the messages of a slot and shows each with its place; gives the number of data messages that begin.
    #[inline]
    fn messages(
        &mut self,
        format: &'static SlotFormat,
        bits: u128,
        counts: Option<&mut ClassCounts>,
        mut show: impl FnMut(u8, Class, u128),
    ) -> usize {
        if !format.any_valid(bits) {
            self.header_slots += 1;
            return 0;
        }
        let mut none = [0; Class::COUNT];
        let counts = counts.unwrap_or(&mut none);
        let first = self.open.len();
        for (k, place) in (0..).zip(format.places).filter(|(_, place)| place.is_valid(bits)) {
            counts[place.class.index()] += 1;
            let message = Cxl256Message { class: place.class, bits: place.extract(bits), data: None };
            show(k, message.class, message.bits);
            if !place.class.has_data() {
                self.delivered.push(message);
                continue;
            }
            let trailer = trailer(place.class, format.routing, message.bits);
            let data = Data::line([0; 64]);
            let (header_slot, trailer_follows) = (self.header_slots, trailer.is_some() && place.class != Class::S2mDrs);
            self.open.push_back(PartialMessage { message, data, lines: 0, trailer, trailer_follows, header_slot });
        }
        self.header_slots += 1;
        let begun = self.open.len() - first;
        // The trailer of a DRS slot stands behind the first line, whichever header asked for it.
        let shared = self.open.iter().skip(first).any(|o| o.message.class == Class::S2mDrs && o.trailer.is_some());
        if shared {
            self.open[first].trailer_follows = true;
        }
        self.owed_slots +=
            self.open.iter().skip(first).map(|o| LINE_SLOTS + usize::from(o.trailer_follows)).sum::<usize>();
        begun
    }

    /// Gives a slot to the message that is owed first.
    fn data(&mut self, bits: u128) -> Cxl256SlotRole {
        // Called with slots owed only; with none open the slot would mean nothing.
        let Some(front) = self.open.front_mut() else { return Cxl256SlotRole::Unused };
        self.owed_slots -= 1;
        let role = if front.lines < LINE_SLOTS {
            front.data.line[SLOT_BYTES * front.lines..][..SLOT_BYTES].copy_from_slice(&bits.to_le_bytes());
            front.lines += 1;
            Cxl256SlotRole::Data
        } else {
            front.trailer_follows = false;
            if front.message.class == Class::S2mDrs {
                let header_slot = front.header_slot;
                let sharing = self.open.iter_mut().filter(|o| o.header_slot == header_slot && o.trailer.is_some());
                for (word, open) in sharing.enumerate() {
                    open.data.metadata = Some((bits >> (32 * word)) as u32);
                }
            } else if let Some(trailer) = front.trailer {
                trailer.read(bits, &mut front.data);
            }
            Cxl256SlotRole::Trailer
        };
        let complete = |o: &PartialMessage| o.lines == LINE_SLOTS && !o.trailer_follows;
        if self.open.front().is_some_and(complete) {
            self.delivered.extend(self.open.pop_front().map(|o| Cxl256Message { data: Some(o.data), ..o.message }));
        }
        role
    }
}

/// Messages for which a flit with one has room at first.
const FIRST_FOUND: usize = 8;
/// Slots of which all bytes stand in the even half of a latency-optimised flit (`cxl-256b` §1.5).
pub(super) const EVEN_SLOTS: usize = 7;
/// Slots 12 to 14 are the last group of a flit (`cxl-256b` §5.3).
pub(super) const FIRST_SLOT_OF_LAST_GROUP: usize = 12;
