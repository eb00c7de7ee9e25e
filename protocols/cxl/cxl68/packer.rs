//! Packing: waiting messages to flits (`cxl-68b` §5.1 to §5.3).
//!
//! Modelled: choice of slot formats, per-flit maxima, one data header a flit or several in an MDH slot, rollover of data
//! into the slots and flits behind, all-data flits. Left out: credits and acknowledgements in the header (the link fills
//! them in), control flits.
//!
//! A walk through one flit: if more than three chunks are owed, the next four make an all-data flit. Else slots are
//! filled from 0 to 3: owed chunks first (never in slot 0), then the format that serves the class which waited longest
//! and, among those, holds the most messages. First place in a slot first, first slot first: tight packing.

use super::Dir;
use super::code::DrsOpcode;
use super::config::{Cxl68Config, Revision};
use super::header::FlitHeader;
use super::message::{Class, D2hData, H2dData, S2mDrs};
use super::slot::{self, Cxl68SlotPlace, SlotContent, SlotFormat};
use super::stream::{Cxl68Message, Data, Size};
use crate::cxl::fifo::Fifo;
use crate::cxl::filled::Filled;
use crate::cxl::served_last;
use crate::wire::Wire;
use std::collections::VecDeque;

/// A flit without credits, acknowledgement and CRC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packed<S = [u128; 4]> {
    /// Nothing waits.
    Nothing,
    /// Header (Type, BE, Sz and slot codes are set) and slots; bits 31:0 of slot 0 are free for the header.
    Protocol(FlitHeader, S),
    /// Four data chunks.
    AllData(S),
}

/// What the packer fills: slots with their bits, or a list of what stands in them (see [`super::content`]).
pub trait Slots: Default {
    /// Whether it takes the bytes of data.
    const HAS_BYTES: bool;

    /// Puts a message at a place of a slot.
    fn put(&mut self, slot: usize, place: &'static Cxl68SlotPlace, message: &Cxl68Message);

    /// Puts the n-th chunk of a message's data in a slot, if it takes bytes.
    fn put_chunk(&mut self, slot: usize, data: &Data, n: usize);
}

impl Slots for [u128; 4] {
    const HAS_BYTES: bool = true;

    #[inline]
    fn put(&mut self, slot: usize, place: &'static Cxl68SlotPlace, message: &Cxl68Message) {
        self[slot] = place.insert(self[slot], message.bits);
    }

    #[inline]
    fn put_chunk(&mut self, slot: usize, data: &Data, n: usize) {
        self[slot] = data.chunk(n);
    }
}

/// A message that must not be sent in 68B mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cxl68Refused {
    /// Travels the other way.
    #[error("{layout}: found direction {found}, expected {expected}")]
    Direction {
        /// Layout of the message.
        layout: &'static str,
        /// Direction of the packer.
        found: &'static str,
        /// Direction of the message.
        expected: &'static str,
    },
    /// Data where there must be none, or none where there must be some.
    #[error("{layout}: found {found}, expected {expected}")]
    DataPresence {
        /// Layout of the message.
        layout: &'static str,
        /// What it came with.
        found: &'static str,
        /// What it must come with.
        expected: &'static str,
    },
    /// 32 B where only 64 B is legal (CXL68-HDR-03).
    #[error("{layout}: found a 32 B transfer, expected 64 B (CXL68-HDR-03)")]
    Size {
        /// Layout of the message.
        layout: &'static str,
    },
    /// Byte enables where there must be none (CXL68-HDR-04).
    #[error("{layout}: found byte enables, expected none (CXL68-HDR-04)")]
    ByteEnables {
        /// Layout of the message.
        layout: &'static str,
    },
    /// ChunkValid of a 32 B transfer does not name the half that travels (CXL68-MSG-12).
    #[error("{layout}: chunk_valid is {found}, expected {expected} for the half that travels (CXL68-MSG-12)")]
    ChunkValid {
        /// Layout of the message.
        layout: &'static str,
        /// The bit.
        found: u8,
        /// The bit that fits.
        expected: u8,
    },
    /// An opcode of later revisions that this end does not send (CXL68-ENC-06).
    #[error("{layout}: found opcode MemDataNXM, expected MemData unless `send_nxm` is set (CXL68-ENC-06)")]
    NotSent {
        /// Layout of the message.
        layout: &'static str,
    },
    /// The valid bit is 0.
    #[error("{layout}: valid is 0, expected 1")]
    NotValid {
        /// Layout of the message.
        layout: &'static str,
    },
}

/// Judges a message before it is queued.
///
/// # Errors
/// See [`Cxl68Refused`].
pub fn admit(dir: Dir, message: &Cxl68Message) -> Result<(), Cxl68Refused> {
    let class = message.class;
    let layout = class.def().name;
    if class.dir() != dir {
        return Err(Cxl68Refused::Direction { layout, found: dir.name(), expected: class.dir().name() });
    }
    if message.bits & 1 == 0 {
        return Err(Cxl68Refused::NotValid { layout });
    }
    let data = match (class.has_data(), message.data) {
        (false, None) => return Ok(()),
        (true, Some(data)) => data,
        (false, Some(_)) => {
            return Err(Cxl68Refused::DataPresence { layout, found: "data", expected: "none" });
        }
        (true, None) => return Err(Cxl68Refused::DataPresence { layout, found: "no data", expected: "data" }),
    };
    if data.size != Size::Line && !class.may_be_32_bytes() {
        return Err(Cxl68Refused::Size { layout });
    }
    if data.byte_enables.is_some() && !class.may_have_byte_enables() {
        return Err(Cxl68Refused::ByteEnables { layout });
    }
    let chunk_valid = match class {
        Class::D2hData => D2hData::from_bits(message.bits).chunk_valid,
        Class::H2dData => H2dData::from_bits(message.bits).chunk_valid,
        _ => false,
    };
    if data.size != Size::Line && chunk_valid != (data.size == Size::UpperHalf) {
        return Err(Cxl68Refused::ChunkValid { layout, found: chunk_valid.into(), expected: (!chunk_valid).into() });
    }
    Ok(())
}

/// Bit 28 of an M2S Req: Addr\[5\].
const ADDRESS_BIT_5: u128 = 1 << 28;

/// The classes of a set, bit n for [`Class::index`] n.
#[inline]
fn classes(mut set: u16) -> impl Iterator<Item = Class> {
    std::iter::from_fn(move || {
        let class = *Class::ALL.get(set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(class)
    })
}

/// What one flit has taken so far.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    per_class: [u8; 10],
    /// A data header stands in the flit.
    header: bool,
    sz: bool,
    be: bool,
}

/// Data of which chunks are owed.
#[derive(Debug, Clone, Copy)]
struct Owed {
    /// Its chunks.
    chunks: usize,
    /// Those of them that are data; a last one is byte enables.
    of_data: usize,
    /// The chunk that goes next.
    next: usize,
}

/// Packs the messages of one direction.
#[derive(Debug, Clone)]
pub struct Packer {
    dir: Dir,
    config: Cxl68Config,
    queues: [Fifo<Cxl68Message>; 10],
    /// Messages in all of them.
    queued: usize,
    /// Classes of which one waits, bit n for [`Class::index`] n.
    waiting: u16,
    /// Messages of each class in the flit that was packed last, and its classes by bit.
    packed: [u8; 10],
    served: u16,
    owed: VecDeque<Owed>,
    /// The data itself, where slots take its bytes.
    owed_data: VecDeque<Data>,
    /// Chunks owed of all of them.
    chunks: usize,
    filled: Filled,
    /// Classes of this direction, the one served longest ago first.
    turn: Vec<Class>,
}

impl Packer {
    /// An empty packer.
    pub fn new(dir: Dir, config: Cxl68Config) -> Packer {
        Packer {
            dir,
            config,
            queues: Default::default(),
            queued: 0,
            waiting: 0,
            packed: [0; 10],
            served: 0,
            owed: VecDeque::new(),
            owed_data: VecDeque::new(),
            chunks: 0,
            filled: Filled::default(),
            turn: Class::ALL.into_iter().filter(|c| c.dir() == dir).collect(),
        }
    }

    /// Queues a message.
    ///
    /// # Errors
    /// It must not be sent, see [`admit`]; or the configuration keeps this end from sending it.
    pub fn push(&mut self, message: Cxl68Message) -> Result<(), Cxl68Refused> {
        admit(self.dir, &message)?;
        let is_nxm = message.class == Class::S2mDrs && S2mDrs::from_bits(message.bits).opcode == DrsOpcode::MemDataNXM;
        if is_nxm && !self.config.send_nxm {
            return Err(Cxl68Refused::NotSent { layout: message.class.def().name });
        }
        self.queues[message.class.index()].push(message);
        self.queued += 1;
        self.waiting |= 1 << message.class.index();
        Ok(())
    }

    /// Messages that wait in a class.
    #[inline]
    pub fn waiting(&self, class: Class) -> usize {
        self.queues[class.index()].len()
    }

    /// Classes of which a message waits.
    #[inline]
    pub fn waiting_classes(&self) -> impl Iterator<Item = Class> + use<> {
        classes(self.waiting)
    }

    /// Messages that wait in all classes.
    #[inline]
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Whether nothing waits and no chunk is owed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.chunks == 0 && self.queued == 0
    }

    /// Messages in the flit that was packed last: each class that it has, with their number.
    #[inline]
    pub fn packed(&self) -> impl Iterator<Item = (Class, u8)> {
        classes(self.served).map(|class| (class, self.packed[class.index()]))
    }

    /// What the flit that was packed last holds.
    #[inline]
    pub fn filled(&self) -> Filled {
        self.filled
    }

    /// Chunks owed.
    #[inline]
    pub fn rollover(&self) -> usize {
        self.chunks
    }

    /// Whether the next flit must be all data.
    #[inline]
    pub fn in_data_run(&self) -> bool {
        self.chunks > 3
    }

    /// Packs the next flit and takes its messages off the queues, one credit each off `credits` (by class index).
    ///
    /// `max_all_data` bounds the all-data flits that may follow (`cxl-68b` §7.1: a run that cannot finish is not begun).
    pub fn pack(&mut self, credits: &mut [u16; 10], max_all_data: usize) -> Packed {
        self.pack_slots(credits, max_all_data, <[u128; 4]>::default)
    }

    /// [`Packer::pack`] to slots of any form, which `empty` gives: what is packed where is the same.
    pub fn pack_slots<S: Slots>(
        &mut self,
        credits: &mut [u16; 10],
        max_all_data: usize,
        empty: impl FnOnce() -> S,
    ) -> Packed<S> {
        self.filled = Filled::default();
        (self.packed, self.served) = ([0; 10], 0);
        if self.is_empty() {
            return Packed::Nothing;
        }
        let mut slots = empty();
        if self.in_data_run() {
            (0..4).for_each(|n| self.next_chunk(n, &mut slots));
            return Packed::AllData(slots);
        }
        let mut header = FlitHeader::from_bits(0);
        let mut taken = Taken::default();
        let mut used = false;
        for n in 0..4 {
            if self.is_empty() {
                break;
            }
            if n > 0 && self.chunks > 0 {
                self.next_chunk(n, &mut slots);
                used = true;
            } else if let Some((format, plan)) = self.choose(n, &taken, credits, max_all_data) {
                self.fill((n, &mut slots), format, plan, &mut taken, credits);
                header.set_slot(n, format.code);
                used = true;
            }
        }
        self.packed = taken.per_class;
        (header.sz, header.be) = if taken.header { (taken.sz, taken.be) } else { self.config.idle_sz_be };
        if used { Packed::Protocol(header, slots) } else { Packed::Nothing }
    }

    /// Puts the next chunk that is owed in a slot.
    fn next_chunk<S: Slots>(&mut self, n: usize, slots: &mut S) {
        let Some(owed) = self.owed.front_mut() else { return };
        *(if owed.next < owed.of_data { &mut self.filled.data } else { &mut self.filled.trailers }) += u128::BITS;
        if S::HAS_BYTES
            && let Some(data) = self.owed_data.front()
        {
            slots.put_chunk(n, data, owed.next);
        }
        owed.next += 1;
        self.chunks -= 1;
        if owed.next == owed.chunks {
            self.owed.pop_front();
            self.owed_data.pop_front();
        }
    }

    /// The format for a slot and the places it uses, bit n for place n.
    fn choose(
        &self,
        n: usize,
        taken: &Taken,
        credits: &[u16; 10],
        max_all_data: usize,
    ) -> Option<(&'static SlotFormat, u8)> {
        match self.queued {
            0 => None,
            1 => self.choose_for_one(n, taken, credits, max_all_data),
            _ => self.choose_among(n, taken, credits, max_all_data),
        }
    }

    /// What [`Packer::choose_among`] chooses where one message waits: the first format that has a place for it, in 83
    /// instructions instead of 200.
    fn choose_for_one(
        &self,
        n: usize,
        taken: &Taken,
        credits: &[u16; 10],
        max_all_data: usize,
    ) -> Option<(&'static SlotFormat, u8)> {
        let class = self.waiting_classes().next()?;
        if !self.may_send(class, 0, taken, credits) {
            return None;
        }
        if let Some(data) = &self.queues[class.index()].first()?.data
            && (taken.header || self.all_data_behind(n, self.chunks + data.chunks()) > max_all_data)
        {
            return None;
        }
        // An MDH slot has at least two headers.
        let has_place = |format: &&SlotFormat| !format.mdh && format.class_set >> class.index() & 1 == 1;
        let format = slot::formats(self.config.revision, self.dir, n).iter().find(has_place)?;
        let place = format.places().iter().position(|place| place.class == class)?;
        Some((format, 1 << place))
    }

    /// All-data flits behind this one, if so many chunks are owed from slot `n` on: slots behind it take chunks in this flit,
    /// the rest goes to flits of its own.
    fn all_data_behind(&self, n: usize, chunks: usize) -> usize {
        chunks.saturating_sub(3 - n) / 4
    }

    fn choose_among(
        &self,
        n: usize,
        taken: &Taken,
        credits: &[u16; 10],
        max_all_data: usize,
    ) -> Option<(&'static SlotFormat, u8)> {
        let formats = slot::formats(self.config.revision, self.dir, n);
        let waits = |class: &&Class| self.waiting >> class.index() & 1 == 1;
        for class in self.turn.iter().filter(waits).filter(|class| self.may_send(**class, 0, taken, credits)) {
            let mut best: Option<(&'static SlotFormat, u8)> = None;
            // Most formats have no place for the class: of the seven of a header slot two have one for an S2M NDR. One with no more
            // places than are used already holds no more messages.
            for format in formats.iter().filter(|format| format.class_set >> class.index() & 1 == 1) {
                if best.is_some_and(|(_, best)| format.places().len() <= best.count_ones() as usize) {
                    continue;
                }
                let plan = self.plan(n, format, taken, credits, max_all_data);
                let serves = (0..).zip(format.places()).any(|(k, p)| plan >> k & 1 == 1 && p.class == *class);
                // The first of equal formats stays: the order of the sheet decides.
                if !serves || best.is_some_and(|(_, best)| plan.count_ones() <= best.count_ones()) {
                    continue;
                }
                best = Some((format, plan));
                // None can hold more than all that wait, mostly one.
                if plan.count_ones() as usize == self.queued {
                    break;
                }
            }
            if best.is_some() {
                return best;
            }
        }
        None
    }

    /// Whether one more message of a class may go, `more` of it being chosen for the same slot already.
    fn may_send(&self, class: Class, more: u8, taken: &Taken, credits: &[u16; 10]) -> bool {
        let i = class.index();
        self.queues[i].len() > more as usize
            && credits[i] > more as u16
            && taken.per_class[i] + more < class.max_per_flit()
    }

    /// The places that a format would use, bit n for place n; 0 where the format is not legal now.
    fn plan(&self, n: usize, format: &SlotFormat, taken: &Taken, credits: &[u16; 10], max_all_data: usize) -> u8 {
        let SlotContent::Messages(places) = format.content else { return 0 };
        if format.mdh && (!self.config.mdh || taken.header) {
            return 0;
        }
        let mut per_class = [0u8; 10];
        let (mut plan, mut headers, mut chunks) = (0, 0, self.chunks);
        for (k, place) in places.iter().enumerate() {
            let more = &mut per_class[place.class.index()];
            if !self.may_send(place.class, *more, taken, credits) {
                continue;
            }
            if let Some(data) = &self.queues[place.class.index()][*more as usize].data {
                let fits = if format.mdh {
                    data.size == Size::Line && data.byte_enables.is_none()
                } else {
                    !taken.header && headers == 0
                };
                if !fits || self.all_data_behind(n, chunks + data.chunks()) > max_all_data {
                    continue;
                }
                headers += 1;
                chunks += data.chunks();
            }
            *more += 1;
            plan |= 1 << k;
        }
        if format.mdh && headers < 2 { 0 } else { plan }
    }

    /// Moves the planned messages into a slot.
    fn fill<S: Slots>(
        &mut self,
        (n, slots): (usize, &mut S),
        format: &SlotFormat,
        plan: u8,
        taken: &mut Taken,
        credits: &mut [u16; 10],
    ) {
        let mut served = 0u16;
        for (k, place) in format.places().iter().enumerate() {
            let i = place.class.index();
            if plan >> k & 1 == 0 {
                continue;
            }
            let Some(message) = self.queues[i].first_mut() else { continue };
            self.queued -= 1;
            credits[i] -= 1;
            taken.per_class[i] += 1;
            served |= 1 << i;
            self.filled.messages += place.class.def().bits;
            if place.class == Class::M2sReq && !self.config.send_address_bit_5 {
                message.bits &= !ADDRESS_BIT_5;
            }
            if self.config.revision == Revision::V1_1 {
                message.bits &= !place.class.reserved_in_1_1();
            }
            slots.put(n, place, message);
            if let Some(data) = &message.data {
                taken.header = true;
                taken.sz = data.size == Size::Line;
                taken.be = data.byte_enables.is_some();
                self.chunks += data.chunks();
                self.owed.push_back(Owed { chunks: data.chunks(), of_data: data.size.chunks(), next: 0 });
                if S::HAS_BYTES {
                    self.owed_data.push_back(*data);
                }
            }
            self.queues[i].drop_first();
            if self.queues[i].is_empty() {
                self.waiting &= !(1 << i);
            }
        }
        self.served |= served;
        served_last(&mut self.turn, |class| served >> class.index() & 1 == 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For one message, in every slot, whatever stands in the flit before it and whatever is owed, the short way chooses what
    /// the long one chooses.
    #[test]
    fn one_message_is_placed_as_one_of_many() {
        let line = |size, byte_enables| Data { bytes: [0; 64], size, byte_enables };
        let mut placed = 0;
        for class in Class::ALL {
            let data = match class.has_data() {
                false => vec![None],
                true => vec![Some(line(Size::Line, None)), Some(line(Size::LowerHalf, Some(1)))],
            };
            for (data, revision, mdh, chunks) in data.into_iter().flat_map(|data| {
                let chunks = move |(revision, mdh)| (0..8).map(move |chunks| (data, revision, mdh, chunks));
                [(Revision::V2_0, true), (Revision::V2_0, false), (Revision::V1_1, true)].into_iter().flat_map(chunks)
            }) {
                let config = Cxl68Config { revision, mdh, ..Cxl68Config::default() };
                let mut packer = Packer::new(class.dir(), config);
                packer.queues[class.index()].push(Cxl68Message { class, bits: 1, data });
                (packer.queued, packer.waiting, packer.chunks) = (1, 1 << class.index(), chunks);
                for (n, before, header, credit) in (0..4).flat_map(|n| {
                    (0..5).flat_map(move |before| [(n, before, false, 1), (n, before, true, 1), (n, before, false, 0)])
                }) {
                    let mut taken = Taken { header, ..Taken::default() };
                    taken.per_class[class.index()] = before;
                    for most in 0..3 {
                        let one = packer.choose_for_one(n, &taken, &[credit; 10], most);
                        assert_eq!(one, packer.choose_among(n, &taken, &[credit; 10], most), "{class:?} in slot {n}");
                        placed += usize::from(one.is_some());
                    }
                }
            }
        }
        assert!(placed > 1000, "{placed}");
    }
}
