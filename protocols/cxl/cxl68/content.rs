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
use crate::cxl::fifo::Fifo;

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
    fn put(&mut self, slot: usize, place: &'static Cxl68SlotPlace, message: &Cxl68Message) {
        if self.capacity() == 0 {
            self.reserve_exact(FIRST_ROOM);
        }
        // Bits that have no place do not travel, nor do bytes outside of a half of a line.
        let bits = place.carried(message.bits);
        self.push(Placed68 { slot: slot as u8, place, message: Cxl68Message { bits, ..*message } });
        if let Some(Placed68 { message: Cxl68Message { data: Some(data), .. }, .. }) = self.last_mut()
            && data.size != Size::Line
        {
            data.cut_to_size();
        }
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
    owed: Fifo<(Cxl68Message, usize)>,
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
        let (mut begun, mut chunk_slots) = (0, 0);
        for n in 0..4 {
            if n > 0 && self.rollover > 0 {
                self.chunk();
                chunk_slots |= 1 << n;
                continue;
            }
            while let Some(placed) = messages.get(begun).filter(|placed| placed.slot == n) {
                self.begin(&placed.message);
                begun += 1;
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
                self.owed.push((*message, data.chunks()));
            }
        }
    }

    #[inline]
    fn chunk(&mut self) {
        let Some((message, to_come)) = self.owed.first_mut() else { return };
        self.rollover -= 1;
        *to_come -= 1;
        if *to_come == 0 {
            self.delivered.push(*message);
            self.owed.drop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::{Cxl68Config, Revision};
    use super::super::message::{Class, D2hData, H2dData};
    use super::super::packer::{Packed, Packer};
    use super::super::pid::{self, Enabled};
    use super::super::stream::Unpacker;
    use super::super::unit::Cxl68Unit;
    use super::super::{Dir, check};
    use super::*;
    use crate::wire::Wire;

    /// A linear congruential sequence (the constants are Knuth's).
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) % n
        }

        /// A message that a packer takes; one in ten has bits that a receiver finds wrong.
        fn message(&mut self, class: Class) -> Cxl68Message {
            let legal = self.below(10) > 0;
            let size = match class.may_be_32_bytes() && self.below(3) == 0 {
                true if class == Class::S2mDrs || self.below(2) == 0 => Size::LowerHalf,
                true => Size::UpperHalf,
                false => Size::Line,
            };
            let bits = loop {
                let mut bits = (0..4).fold(0, |bits, _| bits << 31 | u128::from(self.below(1 << 31))) | 1;
                bits &= (1 << class.def().bits) - 1;
                bits = match class {
                    Class::D2hData => {
                        D2hData { chunk_valid: size == Size::UpperHalf, ..D2hData::from_bits(bits) }.to_bits()
                    }
                    Class::H2dData => {
                        H2dData { chunk_valid: size == Size::UpperHalf, ..H2dData::from_bits(bits) }.to_bits()
                    }
                    _ => Ok(bits),
                }
                .expect("read from bits");
                if !legal || class.def().codes_are_sound(bits & !class.def().reserved()) {
                    break if legal { bits & !class.def().reserved() } else { bits };
                }
            };
            let data = class.has_data().then(|| Data {
                bytes: [0; 64].map(|_: u8| self.below(256) as u8),
                size,
                byte_enables: (class.may_have_byte_enables() && self.below(4) == 0).then(|| self.below(1 << 31)),
            });
            Cxl68Message { class, bits, data }
        }
    }

    /// Both forms pack the same at the same time, and a receiver makes the same of them: messages, what is owed, findings.
    #[test]
    fn content_and_bytes_are_packed_and_read_alike() {
        let mut numbers = Numbers(68);
        let (mut delivered, mut broken) = (0, 0);
        for (dir, revision, mdh) in Dir::ALL.into_iter().flat_map(|dir| {
            [(Revision::V2_0, true), (Revision::V2_0, false), (Revision::V1_1, true)].map(|(r, mdh)| (dir, r, mdh))
        }) {
            let config = Cxl68Config { revision, mdh, send_nxm: true, ..Cxl68Config::default() };
            // A receiver that refuses what the sender may do.
            let strict = Cxl68Config { mdh: false, ..config };
            let mut packers = [Packer::new(dir, config), Packer::new(dir, config)];
            let (mut unpacker, mut reader) = (Unpacker::new(dir, revision, Enabled::ALL), ContentReader::default());
            let classes: Vec<Class> = Class::ALL.into_iter().filter(|class| class.dir() == dir).collect();
            for _ in 0..4000 {
                for _ in 0..numbers.below(4) {
                    let class = classes[numbers.below(classes.len() as u64) as usize];
                    let message = numbers.message(class);
                    let taken = packers.each_mut().map(|packer| packer.push(message));
                    assert_eq!(taken[0], taken[1]);
                }
                let credits = [0; 10].map(|_: u16| numbers.below(4) as u16);
                let (mut left, most) = ([credits; 2], numbers.below(5) as usize);
                let packed: Packed = packers[0].pack(&mut left[0], most);
                let content: Packed<ContentSlots> = packers[1].pack_slots(&mut left[1], most, Vec::new);
                assert_eq!(left[0], left[1], "credits");
                assert_eq!(packers[0].filled(), packers[1].filled());
                assert!(packers[0].packed().eq(packers[1].packed()));
                assert_eq!(packers[0].rollover(), packers[1].rollover());
                let (unit, content) = match (packed, content) {
                    (Packed::Nothing, Packed::Nothing) => continue,
                    (Packed::AllData(chunks), Packed::AllData(_)) => {
                        (Cxl68Unit::from_slots(pid::CACHEMEM, &chunks), Content68::AllData)
                    }
                    (Packed::Protocol(header, mut slots), Packed::Protocol(other, messages)) => {
                        assert_eq!(header, other);
                        slots[0] |= header.to_bits().expect("codes fit");
                        (Cxl68Unit::from_slots(pid::CACHEMEM, &slots), Content68::Protocol(other, messages))
                    }
                    other => panic!("{other:?}"),
                };
                let decoded = unpacker.read(&unit);
                let chunk_slots = reader.read(&content);
                assert_eq!(reader.delivered(), unpacker.delivered());
                assert_eq!(reader.rollover(), unpacker.rollover());
                delivered += reader.delivered().len();
                let Content68::Protocol(header, messages) = &content else { continue };
                let placed = messages.iter().map(|p| (usize::from(p.slot), p.message.class, p.message.bits));
                assert!(placed.eq(decoded.messages()), "{unit:?}");
                for config in [config, strict] {
                    let found = check::content((dir, header, messages), chunk_slots, reader.rollover(), &config);
                    assert_eq!(found, check::violations(&decoded, &config), "{unit:?}");
                    broken += usize::from(!found.is_empty());
                }
            }
        }
        assert!(delivered > 5000 && broken > 1000, "{delivered} delivered, {broken} broken");
    }
}
