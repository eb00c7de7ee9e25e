//! The content of 68B flits without their bytes.
//!
//! Modelled: the flit header, which message stands at which place of which slot, which slots hold data, control flits, and
//! the messages themselves, those of the agents, which move from sender to receiver with all their data and are never spelled
//! in bits: before they are queued they are what the receiver would read of their bits. Left out: bytes, and therefore the
//! protocol ID, CRC, reserved bits and errors in any of them. A link without observers and without faults transfers its
//! flits in this form: messages, times, credits, findings and counts are the same as with bytes.
//!
//! A walk through one flit: [`Packer::pack_slots`](super::packer::Packer::pack_slots) fills [`ContentSlots`] as it would fill
//! slots. A message travels with its header; the chunks that follow are only counted. [`ContentReader::read`] takes the
//! messages and delivers each one when its last chunk has arrived. [`check::content`](super::check::content) asks of a flit
//! what [`check::violations`](super::check::violations) asks of its bytes.

use super::control::Control;
use super::header::FlitHeader;
use super::packable::Packable;
use super::packer::Slots;
use super::slot::Cxl68SlotPlace;
use super::stream::Data;
use crate::cxl::fifo::Fifo;
use crate::cxl::message::Message;

/// A message in a flit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed68 {
    /// Its slot, 0 to 3.
    pub slot: u8,
    /// Its place in the slot.
    pub place: &'static Cxl68SlotPlace,
    /// The message with all of its data, as the receiver has it after the last chunk.
    pub message: Message,
}

/// Messages of a flit in order of their places. A flit in which none begins takes no memory for them.
pub type ContentSlots = Vec<Placed68>;

/// Messages for which a flit with one has room at first; few have more.
const FIRST_ROOM: usize = 2;

impl Slots for ContentSlots {
    type Message = Message;

    const HAS_BYTES: bool = false;

    #[inline]
    fn put(&mut self, slot: usize, place: &'static Cxl68SlotPlace, message: &Message) {
        if self.capacity() == 0 {
            self.reserve_exact(FIRST_ROOM);
        }
        self.push(Placed68 { slot: slot as u8, place, message: *message });
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
    /// A control flit. They are rare and large: beside them a flit of 40 bytes would be moved as one of 64.
    Control(Box<Control>),
}

/// Takes the contents of a stream of flits of one direction apart, as [`Unpacker`](super::stream::Unpacker) does bytes.
#[derive(Debug, Clone, Default)]
pub struct ContentReader {
    /// Messages of which chunks are to come, with the number of chunks.
    owed: Fifo<(Message, usize)>,
    /// Chunks owed of all of them.
    rollover: usize,
}

impl ContentReader {
    /// Chunks owed now.
    #[inline]
    pub fn rollover(&self) -> usize {
        self.rollover
    }

    /// Reads the next flit; puts the messages that it completes behind those in `inbox`, and gives the slots that hold owed
    /// chunks, bit n for slot n.
    pub fn read(&mut self, content: &Content68, inbox: &mut Fifo<Message>) -> u8 {
        match content {
            Content68::Control(_) => 0,
            Content68::AllData => {
                self.chunks(4, inbox);
                0b1111
            }
            Content68::Protocol(_, messages) => self.slots(messages, inbox),
        }
    }

    #[inline]
    fn slots(&mut self, messages: &ContentSlots, inbox: &mut Fifo<Message>) -> u8 {
        match &messages[..] {
            [] => (),
            [placed] if placed.slot == 0 => self.begin(&placed.message, inbox),
            _ => return self.all_slots(messages, inbox),
        }
        // Nothing but chunks is behind slot 0.
        let chunks = self.rollover.min(3) as u8;
        if chunks > 0 {
            self.chunks(chunks.into(), inbox);
        }
        ((1 << chunks) - 1) << 1
    }

    fn all_slots(&mut self, messages: &ContentSlots, inbox: &mut Fifo<Message>) -> u8 {
        let (mut begun, mut chunk_slots, mut n) = (0, 0, 0u8);
        while n < 4 {
            if n > 0 && self.rollover > 0 {
                // All slots in a row that hold chunks at once: 55 instructions a flit less than one by one.
                let chunks = self.rollover.min(usize::from(4 - n)) as u8;
                self.chunks(chunks.into(), inbox);
                chunk_slots |= ((1 << chunks) - 1) << n;
                n += chunks;
                continue;
            }
            while let Some(placed) = messages.get(begun).filter(|placed| placed.slot == n) {
                self.begin(&placed.message, inbox);
                begun += 1;
            }
            n += 1;
        }
        chunk_slots
    }

    #[inline]
    fn begin(&mut self, message: &Message, inbox: &mut Fifo<Message>) {
        match message.payload() {
            None => inbox.push(*message),
            Some(data) => {
                self.rollover += data.chunks();
                self.owed.push((*message, data.chunks()));
            }
        }
    }

    /// Takes so many chunks of what is owed.
    #[inline]
    fn chunks(&mut self, mut chunks: usize, inbox: &mut Fifo<Message>) {
        while chunks > 0
            && let Some((message, to_come)) = self.owed.first_mut()
        {
            let taken = chunks.min(*to_come);
            (chunks, self.rollover) = (chunks - taken, self.rollover - taken);
            *to_come -= taken;
            if *to_come == 0 {
                inbox.push(*message);
                self.owed.drop_first();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::{Cxl68Config, Revision};
    use super::super::message::Class;
    use super::super::packable::pass;
    use super::super::packer::{Packed, Packer};
    use super::super::pid::{self, Enabled};
    use super::super::stream::{Cxl68Message, Size, Unpacker};
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

        /// A message of an agent; one in ten has codes that a receiver finds wrong, or that 68B flits do not have, and one in
        /// twenty byte enables where there may be none.
        fn message(&mut self, class: Class) -> Message {
            let legal = self.below(10) > 0;
            let bits = loop {
                let mut bits = (0..4).fold(0, |bits, _| bits << 31 | u128::from(self.below(1 << 31))) | 1;
                bits &= ((1 << class.def().bits) - 1) & !class.def().reserved();
                if !legal || class.def().codes_are_sound(bits) {
                    break bits;
                }
            };
            let enabled = if class.may_have_byte_enables() { 5 } else { 1 };
            let data = class.has_data().then(|| Data {
                bytes: [0; 64].map(|_: u8| self.below(256) as u8),
                size: Size::Line,
                byte_enables: (self.below(20) < enabled).then(|| self.below(1 << 31)),
            });
            Message::from_cxl68(&Cxl68Message { class, bits, data })
        }
    }

    /// Both forms pack the same at the same time, and a receiver makes the same of them: messages, what is owed, findings.
    #[test]
    fn content_and_bytes_are_packed_and_read_alike() {
        let mut numbers = Numbers(68);
        let (mut delivered, mut broken, mut refused) = (0, 0, [0; 2]);
        for (dir, revision, mdh) in Dir::ALL.into_iter().flat_map(|dir| {
            [(Revision::V2_0, true), (Revision::V2_0, false), (Revision::V1_1, true)].map(|(r, mdh)| (dir, r, mdh))
        }) {
            let config = Cxl68Config { revision, mdh, send_nxm: true, ..Cxl68Config::default() };
            // A receiver that refuses what the sender may do.
            let strict = Cxl68Config { mdh: false, ..config };
            let (mut bytes, mut contents) = (Packer::new(dir, config), Packer::new(dir, config));
            let (mut unpacker, mut reader) = (Unpacker::new(dir, revision, Enabled::ALL), ContentReader::default());
            let classes: Vec<Class> = Class::ALL.into_iter().filter(|class| class.dir() == dir).collect();
            for _ in 0..4000 {
                for _ in 0..numbers.below(4) {
                    let class = classes[numbers.below(classes.len() as u64) as usize];
                    let message = numbers.message(class);
                    let mut passed = message;
                    let (spelled, carried) = (message.to_cxl68(), pass(&mut passed, &config).map(|()| passed));
                    assert_eq!(spelled.as_ref().err(), carried.as_ref().err());
                    let (Ok(spelled), Ok(carried)) = (spelled, carried) else {
                        refused[0] += 1;
                        continue;
                    };
                    let taken = bytes.push(&spelled);
                    refused[1] += usize::from(taken.is_err());
                    assert_eq!(taken, contents.push(&carried));
                }
                let credits = [0; 10].map(|_: u16| numbers.below(4) as u16);
                let (mut left, most) = ([credits; 2], numbers.below(5) as usize);
                let packed: Packed = bytes.pack(&mut left[0], most);
                let content: Packed<ContentSlots> = contents.pack_slots(&mut left[1], most, Vec::new);
                assert_eq!(left[0], left[1], "credits");
                assert_eq!(bytes.filled(), contents.filled());
                assert!(bytes.packed().eq(contents.packed()));
                assert_eq!(bytes.rollover(), contents.rollover());
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
                let mut inbox = Fifo::default();
                let chunk_slots = reader.read(&content, &mut inbox);
                let read: Vec<Message> = unpacker.delivered().iter().map(Message::from_cxl68).collect();
                assert_eq!(*inbox, *read);
                assert_eq!(reader.rollover(), unpacker.rollover());
                delivered += inbox.len();
                let Content68::Protocol(header, messages) = &content else { continue };
                let placed = messages.iter().map(|placed| {
                    let spelled = placed.message.to_cxl68().expect("it was spelled before");
                    (usize::from(placed.slot), spelled.class, spelled.bits)
                });
                // A read has lost bit 5 of its address.
                let without_bit_5 = |class, bits| if class == Class::M2sReq { bits & !(1 << 28) } else { bits };
                let read = decoded.messages().map(|(slot, class, bits)| (slot, class, without_bit_5(class, bits)));
                assert!(placed.eq(read), "{unit:?}");
                for config in [config, strict] {
                    let found = check::content((dir, header, messages), chunk_slots, reader.rollover(), &config);
                    assert_eq!(found, check::violations(&decoded, &config), "{unit:?}");
                    broken += usize::from(!found.is_empty());
                }
            }
        }
        assert!(
            delivered > 5000 && broken > 1000 && refused[0] > 100 && refused[1] > 100,
            "{delivered} delivered, {broken} broken, {refused:?} refused"
        );
    }
}
