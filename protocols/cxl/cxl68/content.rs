//! The content of 68B flits without their bytes.
//!
//! Modelled: the flit header, which message stands at which place of which slot, which slots hold data, control flits, and
//! the messages themselves, which move from sender to receiver with all their data. Left out: bytes, and therefore the
//! protocol ID, CRC, reserved bits and errors in any of them. A link without observers and without faults transfers its
//! flits in this form: messages, times, credits, findings and counts are the same as with bytes.
//!
//! A walk through one flit: [`Packer::pack_slots`](super::packer::Packer::pack_slots) fills [`ContentSlots`] as it would fill
//! slots. A message travels with its header; the chunks that follow are only counted. [`ContentReader::read`] takes the
//! messages and delivers each one when its last chunk has arrived. [`check::content`](super::check::content) asks of a flit
//! what [`check::violations`](super::check::violations) asks of its bytes.

use super::control::Control;
use super::header::FlitHeader;
use super::packer::Slots;
use super::slot::Cxl68SlotPlace;
use super::stream::{Cxl68Message, Data, Size};
use std::collections::VecDeque;

/// A message in a flit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed68 {
    /// Its slot, 0 to 3.
    pub slot: u8,
    /// Its place in the slot.
    pub place: &'static Cxl68SlotPlace,
    /// The message with all of its data, as the receiver has it after the last chunk.
    pub message: Cxl68Message,
}

/// Messages of a flit in order of their places. A flit in which none begins takes no memory for them.
pub type ContentSlots = Vec<Placed68>;

/// Messages for which a flit with one has room at first; few have more.
const FIRST_ROOM: usize = 2;

impl Slots for ContentSlots {
    const HAS_BYTES: bool = false;

    #[inline]
    fn put(&mut self, slot: usize, place: &'static Cxl68SlotPlace, mut message: Cxl68Message) {
        // Bits that have no place do not travel, nor do bytes outside of a half of a line.
        message.bits = place.extract(place.insert(0, message.bits));
        if let Some(data) = &mut message.data
            && data.size != Size::Line
        {
            data.cut_to_size();
        }
        if self.capacity() == 0 {
            self.reserve_exact(FIRST_ROOM);
        }
        self.push(Placed68 { slot: slot as u8, place, message });
    }

    #[inline]
    fn put_chunk(&mut self, _: usize, _: &Data, _: usize) {}
}

/// A flit without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content68 {
    /// Header and slots.
    Protocol(FlitHeader, ContentSlots),
    /// Four data chunks.
    AllData,
    /// A control flit.
    Control(Control),
}

/// Takes the contents of a stream of flits of one direction apart, as [`Unpacker`](super::stream::Unpacker) does bytes.
#[derive(Debug, Clone, Default)]
pub struct ContentReader {
    /// Messages of which chunks are to come, with the number of chunks.
    owed: VecDeque<(Cxl68Message, usize)>,
    /// Chunks owed of all of them.
    rollover: usize,
    /// Messages that the last flit completed, in order.
    delivered: Vec<Cxl68Message>,
}

impl ContentReader {
    /// Chunks owed now.
    #[inline]
    pub fn rollover(&self) -> usize {
        self.rollover
    }

    /// Messages that the last flit completed, in order.
    #[inline]
    pub fn delivered(&self) -> &[Cxl68Message] {
        &self.delivered
    }

    /// Reads the next flit; gives the slots that hold owed chunks, bit n for slot n.
    pub fn read(&mut self, content: &Content68) -> u8 {
        self.delivered.clear();
        match content {
            Content68::Control(_) => 0,
            Content68::AllData => {
                (0..4).for_each(|_| self.chunk());
                0b1111
            }
            Content68::Protocol(_, messages) => self.slots(messages),
        }
    }

    #[inline]
    fn slots(&mut self, messages: &ContentSlots) -> u8 {
        let mut messages = messages.iter().peekable();
        let mut chunk_slots = 0;
        for n in 0..4 {
            if n > 0 && self.rollover > 0 {
                self.chunk();
                chunk_slots |= 1 << n;
                continue;
            }
            while let Some(placed) = messages.next_if(|placed| placed.slot == n) {
                self.begin(&placed.message);
            }
        }
        chunk_slots
    }

    #[inline]
    fn begin(&mut self, message: &Cxl68Message) {
        match &message.data {
            None => self.delivered.push(*message),
            Some(data) => {
                self.rollover += data.chunks();
                self.owed.push_back((*message, data.chunks()));
            }
        }
    }

    #[inline]
    fn chunk(&mut self) {
        let Some((_, to_come)) = self.owed.front_mut() else { return };
        self.rollover -= 1;
        *to_come -= 1;
        if *to_come == 0 {
            self.delivered.extend(self.owed.pop_front().map(|(message, _)| message));
        }
    }
}
