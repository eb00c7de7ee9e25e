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
use super::config::Cxl68Config;
use super::header::FlitHeader;
use super::message::Class;
use super::packable::{Cxl68Refused, Packable};
use super::slot::{self, Cxl68SlotPlace, SlotContent, SlotFormat};
use super::stream::{Cxl68Message, Data, Size};
use crate::cxl::fifo::Fifo;
use crate::cxl::filled::Filled;
use crate::cxl::turn::Turn;
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
    /// What it is filled with.
    type Message: Packable;

    /// Whether it takes the bytes of data.
    const HAS_BYTES: bool;

    /// Puts a message at a place of a slot.
    fn put(&mut self, slot: usize, place: &'static Cxl68SlotPlace, message: &Self::Message);

    /// Puts the n-th chunk of a message's data in a slot, if it takes bytes.
    fn put_chunk(&mut self, slot: usize, data: &Data, n: usize);
}

impl Slots for [u128; 4] {
    type Message = Cxl68Message;

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
struct FlitUse {
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
pub struct Packer<M = Cxl68Message> {
    dir: Dir,
    config: Cxl68Config,
    queues: [Fifo<M>; 10],
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
    turn: Turn<10>,
    /// Formats of slot 0 and of the others, and where each class stands alone.
    formats: [&'static [SlotFormat]; 2],
    alone: [[Option<Alone>; 10]; 2],
}

/// Where a message stands that is alone in its slot: the first format that has a place for it, and the place.
type Alone = (&'static SlotFormat, u8);

/// [`Alone`] of each class. An MDH slot has at least two headers.
fn alone(formats: &'static [SlotFormat]) -> [Option<Alone>; 10] {
    Class::ALL.map(|class| {
        let format = formats.iter().find(|f| !f.mdh && f.class_set >> class.index() & 1 == 1)?;
        let place = format.places().iter().position(|place| place.class == class)?;
        Some((format, 1 << place))
    })
}

impl Packer {
    /// Packs the next flit and takes its messages off the queues, one credit each off `credits` (by class index).
    ///
    /// `max_all_data` bounds the all-data flits that may follow (`cxl-68b` §7.1: a run that cannot finish is not begun).
    pub fn pack(&mut self, credits: &mut [u16; 10], max_all_data: usize) -> Packed {
        self.pack_slots(credits, max_all_data, <[u128; 4]>::default)
    }
}

impl<M: Packable> Packer<M> {
    /// An empty packer.
    pub fn new(dir: Dir, config: Cxl68Config) -> Packer<M> {
        let formats = [0, 1].map(|slot| slot::formats(config.revision, dir, slot));
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
            turn: Turn::new(),
            formats,
            alone: formats.map(alone),
        }
    }

    /// Queues a message.
    ///
    /// # Errors
    /// It must not be sent, see [`Packable::admit`]; or the configuration keeps this end from sending it.
    #[inline]
    pub fn push(&mut self, message: &M) -> Result<(), Cxl68Refused> {
        message.admit(self.dir)?;
        let class = message.class();
        if message.is_nxm() && !self.config.send_nxm {
            return Err(Cxl68Refused::NotSent { layout: class.def().name });
        }
        self.queues[class.index()].push(*message);
        self.queued += 1;
        self.waiting |= 1 << class.index();
        Ok(())
    }

    /// Messages that wait in a class.
    #[inline]
    pub fn waiting(&self, class: Class) -> usize {
        self.queues[class.index()].len()
    }

    /// Classes of which a message waits.
    #[inline]
    pub fn waiting_classes(&self) -> impl Iterator<Item = Class> + use<M> {
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

    /// [`Packer::pack`] to slots of any form, which `empty` gives: what is packed where is the same.
    pub fn pack_slots<S: Slots<Message = M>>(
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
        if self.in_data_run() {
            let mut slots = empty();
            self.next_chunks(0, &mut slots);
            return Packed::AllData(slots);
        }
        match self.queued {
            0 => self.pack_one_or_none(None, credits, empty()),
            1 => match self.choose_for_one(0, &FlitUse::default(), credits, max_all_data) {
                Some(alone) => self.pack_one_or_none(Some(alone), credits, empty()),
                None => self.pack_any(credits, max_all_data, empty()),
            },
            _ => self.pack_any(credits, max_all_data, empty()),
        }
    }

    /// Packs the only message that waits, if there is one, at its place in slot 0, and chunks behind it: what
    /// [`Packer::pack_any`] does with so few, without asking for each slot who goes there.
    #[inline]
    fn pack_one_or_none<S: Slots<Message = M>>(
        &mut self,
        alone: Option<Alone>,
        credits: &mut [u16; 10],
        mut slots: S,
    ) -> Packed<S> {
        let mut header = FlitHeader::default();
        let mut taken = FlitUse::default();
        if let Some((format, plan)) = alone {
            if let Some(place) = format.places().get(plan.trailing_zeros() as usize) {
                self.move_message((0, &mut slots), place, &mut taken, credits);
                self.served = 1 << place.class.index();
                self.turn.serve(self.served);
            }
            header.set_slot(0, format.code);
        }
        if self.chunks > 0 {
            self.next_chunks(1, &mut slots);
        }
        self.packed = taken.per_class;
        (header.sz, header.be) = if taken.header { (taken.sz, taken.be) } else { self.config.idle_sz_be };
        Packed::Protocol(header, slots)
    }

    /// Packs any number of messages and chunks.
    fn pack_any<S: Slots<Message = M>>(
        &mut self,
        credits: &mut [u16; 10],
        max_all_data: usize,
        mut slots: S,
    ) -> Packed<S> {
        let mut header = FlitHeader::from_bits(0);
        let mut taken = FlitUse::default();
        let (mut used, mut n) = (false, 0);
        while n < 4 && !self.is_empty() {
            if n > 0 && self.chunks > 0 {
                n += self.next_chunks(n, &mut slots);
                used = true;
                continue;
            }
            if let Some((format, plan)) = self.choose(n, &taken, credits, max_all_data) {
                self.fill((n, &mut slots), format, plan, &mut taken, credits);
                header.set_slot(n, format.code);
                used = true;
            }
            n += 1;
        }
        self.packed = taken.per_class;
        (header.sz, header.be) = if taken.header { (taken.sz, taken.be) } else { self.config.idle_sz_be };
        if used { Packed::Protocol(header, slots) } else { Packed::Nothing }
    }

    /// Puts chunks that are owed in the slots from `first` on, as many as there are of either: how many.
    fn next_chunks<S: Slots<Message = M>>(&mut self, first: usize, slots: &mut S) -> usize {
        let mut n = first;
        while n < 4
            && let Some(owed) = self.owed.front_mut()
        {
            // Those of one message at once.
            let chunks = (owed.chunks - owed.next).min(4 - n);
            let of_data = owed.of_data.saturating_sub(owed.next).min(chunks);
            self.filled.data += of_data as u32 * u128::BITS;
            self.filled.trailers += (chunks - of_data) as u32 * u128::BITS;
            if S::HAS_BYTES
                && let Some(data) = self.owed_data.front()
            {
                (0..chunks).for_each(|chunk| slots.put_chunk(n + chunk, data, owed.next + chunk));
            }
            owed.next += chunks;
            self.chunks -= chunks;
            n += chunks;
            if owed.next == owed.chunks {
                self.owed.pop_front();
                self.owed_data.pop_front();
            }
        }
        n - first
    }

    /// The format for a slot and the places it uses, bit n for place n.
    fn choose(
        &self,
        n: usize,
        taken: &FlitUse,
        credits: &[u16; 10],
        max_all_data: usize,
    ) -> Option<(&'static SlotFormat, u8)> {
        match self.queued {
            0 => None,
            1 => self.choose_for_one(n, taken, credits, max_all_data),
            _ => self.choose_among(n, taken, credits, max_all_data),
        }
    }

    /// What [`Packer::choose_among`] chooses where one message waits: where it stands alone.
    fn choose_for_one(
        &self,
        n: usize,
        taken: &FlitUse,
        credits: &[u16; 10],
        max_all_data: usize,
    ) -> Option<(&'static SlotFormat, u8)> {
        let class = self.waiting_classes().next()?;
        if !self.may_send(class, 0, taken, credits) {
            return None;
        }
        // Asked of the class first: most messages have none, and to find it in a message costs more.
        if class.has_data()
            && let Some(data) = self.queues[class.index()].first()?.payload()
            && (taken.header || self.all_data_behind(n, self.chunks + data.chunks()) > max_all_data)
        {
            return None;
        }
        self.alone[usize::from(n > 0)][class.index()]
    }

    /// All-data flits behind this one, if so many chunks are owed from slot `n` on: slots behind it take chunks in this flit,
    /// the rest goes to flits of its own.
    fn all_data_behind(&self, n: usize, chunks: usize) -> usize {
        chunks.saturating_sub(3 - n) / 4
    }

    fn choose_among(
        &self,
        n: usize,
        taken: &FlitUse,
        credits: &[u16; 10],
        max_all_data: usize,
    ) -> Option<(&'static SlotFormat, u8)> {
        let formats = self.formats[usize::from(n > 0)];
        let mut left = self.waiting;
        while let Some(class) = self.turn.first(left).map(|n| Class::ALL[n]) {
            left &= !(1 << class.index());
            if !self.may_send(class, 0, taken, credits) {
                continue;
            }
            let mut best: Option<(&'static SlotFormat, u8)> = None;
            // Most formats have no place for the class: of the seven of a header slot two have one for an S2M NDR. One with no more
            // places than are used already holds no more messages.
            for format in formats.iter().filter(|format| format.class_set >> class.index() & 1 == 1) {
                if best.is_some_and(|(_, best)| format.places().len() <= best.count_ones() as usize) {
                    continue;
                }
                let plan = self.plan(n, format, taken, credits, max_all_data);
                let serves = (0..).zip(format.places()).any(|(k, p)| plan >> k & 1 == 1 && p.class == class);
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
    fn may_send(&self, class: Class, more: u8, taken: &FlitUse, credits: &[u16; 10]) -> bool {
        let i = class.index();
        self.queues[i].len() > more as usize
            && credits[i] > more as u16
            && taken.per_class[i] + more < class.max_per_flit()
    }

    /// The places that a format would use, bit n for place n; 0 where the format is not legal now.
    fn plan(&self, n: usize, format: &SlotFormat, taken: &FlitUse, credits: &[u16; 10], max_all_data: usize) -> u8 {
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
            if place.class.has_data()
                && let Some(data) = self.queues[place.class.index()][*more as usize].payload()
            {
                let fits = if format.mdh {
                    data.size == Size::Line && !data.has_byte_enables
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
    fn fill<S: Slots<Message = M>>(
        &mut self,
        (n, slots): (usize, &mut S),
        format: &SlotFormat,
        plan: u8,
        taken: &mut FlitUse,
        credits: &mut [u16; 10],
    ) {
        let mut served = 0u16;
        let (places, mut left) = (format.places(), plan);
        while let Some(place) = places.get(left.trailing_zeros() as usize) {
            left &= left - 1;
            if self.move_message((n, slots), place, taken, credits) {
                served |= 1 << place.class.index();
            }
        }
        self.served |= served;
        self.turn.serve(served);
    }

    /// Moves the first message of a place's class to it; whether there was one.
    #[inline]
    fn move_message<S: Slots<Message = M>>(
        &mut self,
        (n, slots): (usize, &mut S),
        place: &'static Cxl68SlotPlace,
        taken: &mut FlitUse,
        credits: &mut [u16; 10],
    ) -> bool {
        let i = place.class.index();
        let Some(message) = self.queues[i].first_mut() else { return false };
        self.queued -= 1;
        credits[i] -= 1;
        taken.per_class[i] += 1;
        self.filled.messages += place.class.def().bits;
        message.keep_sent(&self.config);
        slots.put(n, place, message);
        if place.class.has_data()
            && let Some(shape) = message.payload()
        {
            taken.header = true;
            taken.sz = shape.size == Size::Line;
            taken.be = shape.has_byte_enables;
            self.chunks += shape.chunks();
            self.owed.push_back(Owed { chunks: shape.chunks(), of_data: shape.size.chunks(), next: 0 });
            if S::HAS_BYTES {
                self.owed_data.extend(message.data());
            }
        }
        self.queues[i].drop_first();
        if self.queues[i].is_empty() {
            self.waiting &= !(1 << i);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::Revision;
    use super::*;

    /// A flit with one message or none, whatever is owed before it, is packed as one of many are.
    #[test]
    fn a_flit_with_one_message_is_packed_as_one_with_many() {
        let mut number = 68u64;
        let mut below = |n: u64| {
            number = number.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (number >> 33) % n
        };
        let mut few = 0;
        for (dir, mdh) in Dir::ALL.into_iter().flat_map(|dir| [(dir, true), (dir, false)]) {
            let config = Cxl68Config { mdh, ..Cxl68Config::default() };
            let (mut short, mut long): (Packer, Packer) = (Packer::new(dir, config), Packer::new(dir, config));
            let classes: Vec<Class> = Class::ALL.into_iter().filter(|class| class.dir() == dir).collect();
            for _ in 0..2000 {
                for _ in 0..below(3) {
                    let class = classes[below(classes.len() as u64) as usize];
                    let byte_enables = (class.may_have_byte_enables() && below(3) == 0).then_some(below(1 << 20));
                    let data = class.has_data().then_some(Data { bytes: [7; 64], size: Size::Line, byte_enables });
                    let message = Cxl68Message { class, bits: 1, data };
                    assert_eq!(short.push(&message), long.push(&message));
                }
                let (credits, most) = ([below(3) as u16; 10], below(3) as usize);
                let mut left = [credits; 2];
                few += usize::from(short.queued < 2 && !short.is_empty());
                let packed = short.pack(&mut left[0], most);
                let expected = if long.in_data_run() || long.is_empty() {
                    long.pack(&mut left[1], most)
                } else {
                    (long.filled, long.packed, long.served) = (Filled::default(), [0; 10], 0);
                    long.pack_any(&mut left[1], most, <[u128; 4]>::default())
                };
                assert_eq!((packed, left[0]), (expected, left[1]));
                assert_eq!((short.filled, short.packed, short.served), (long.filled, long.packed, long.served));
                assert_eq!((short.queued, short.waiting, short.chunks), (long.queued, long.waiting, long.chunks));
            }
        }
        assert!(few > 1000, "{few}");
    }

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
                let mut packer: Packer = Packer::new(class.dir(), config);
                packer.queues[class.index()].push(Cxl68Message { class, bits: 1, data });
                (packer.queued, packer.waiting, packer.chunks) = (1, 1 << class.index(), chunks);
                for (n, before, header, credit) in (0..4).flat_map(|n| {
                    (0..5).flat_map(move |before| [(n, before, false, 1), (n, before, true, 1), (n, before, false, 0)])
                }) {
                    let mut taken = FlitUse { header, ..FlitUse::default() };
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
