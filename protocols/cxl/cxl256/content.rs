//! The content of 256B flits without their bytes, in all modes.
//!
//! Modelled: flit header, credits, which message stands at which place of which slot, which slots hold data and trailers,
//! and the messages themselves, which move from sender to receiver with all their data. Left out: bytes, and therefore CRC,
//! FEC, reserved bits and errors in any of them. A link without observers and without faults transfers its flits in this
//! form: messages, times, credits, findings and counts are the same as with bytes.
//!
//! A walk through one flit: [`Packer::pack_slots`](super::packer::Packer::pack_slots) fills [`SlotContent256`] as it would
//! fill slots. A message travels with its header; data and trailers that follow are only counted.
//! [`ContentReader256::read`] takes the messages and delivers each one when its last slot has arrived.
//! [`check::content`](super::check::content) asks of the flit what [`check::flit`](super::check::flit) asks of its bytes. Slots of a
//! packer with the choices of the receiver break no rule of packing, so of them [`check::is_vouched_for`](super::check::is_vouched_for)
//! asks the messages alone, and [`ContentReader256::read_vouched`] notes nothing for a walk through the rules.

use super::Class;
use super::code::FlitType;
use super::config::Cxl256Config;
use super::crd::Crd;
use super::flit::SLOTS;
use super::header::FlitHeader;
use super::mode::Mode;
use super::packer::SlotFill;
use super::slot::{SlotFormat, SlotKind};
use super::stream::{ClassCounts, Cxl256Message, EVEN_SLOTS, FIRST_SLOT_OF_LAST_GROUP, LINE_SLOTS, trailer};
use crate::cxl::fifo::Fifo;

/// A message in a flit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed256 {
    /// Its slot, 0 to 14.
    pub slot: u8,
    /// Its place in the slot, counted from 0.
    pub place: u8,
    /// Format of the slot.
    pub format: &'static SlotFormat,
    /// The message with all of its data, as the receiver has it after the last slot.
    pub message: Cxl256Message,
}

/// What stands in the slots of a flit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotContent256 {
    /// Messages in order of their places. A flit in which none begins takes no memory for them.
    pub messages: Vec<Placed256>,
    /// Whether slots 0 to 6 are all 0, data included. A receiver that may use the even half of a latency-optimised flit
    /// decides by it (`cxl-256b` §7.3).
    pub even_is_zero: bool,
    /// Choices of the packer that filled them, which keeps every rule of packing that these ask for; `None`: nobody vouches
    /// for the slots.
    pub packed_by: Option<Cxl256Config>,
}

impl Default for SlotContent256 {
    fn default() -> Self {
        SlotContent256 { messages: Vec::new(), even_is_zero: true, packed_by: None }
    }
}

impl SlotContent256 {
    /// Takes what stands in it away; its memory stays, for another flit.
    pub fn clear(&mut self) {
        self.messages.clear();
        (self.even_is_zero, self.packed_by) = (true, None);
    }
}

/// Messages for which a flit with one has room at first.
const FIRST_ROOM: usize = 8;

impl SlotFill for SlotContent256 {
    #[inline]
    fn begin(&mut self, slot: usize, _: &'static SlotFormat) {
        // A message follows, and its valid bit is 1.
        self.even_is_zero &= slot >= EVEN_SLOTS;
    }

    #[inline]
    fn put(&mut self, slot: usize, format: &'static SlotFormat, n: usize, message: &Cxl256Message) {
        if self.messages.capacity() == 0 {
            self.messages.reserve_exact(FIRST_ROOM);
        }
        self.messages.push(Placed256 { slot: slot as u8, place: n as u8, format, message: *message });
    }

    #[inline]
    fn put_owed(&mut self, slot: usize, bits: impl Iterator<Item = u128>) {
        // Nothing but the first bits of an even half is looked at.
        if self.even_is_zero && slot < EVEN_SLOTS {
            self.even_is_zero = (slot..EVEN_SLOTS).zip(bits).all(|(_, bits)| bits == 0);
        }
    }

    #[inline]
    fn packed_by(&mut self, config: &Cxl256Config) {
        self.packed_by = Some(*config);
    }
}

/// A flit without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content256 {
    /// Flit header.
    pub header: FlitHeader,
    /// Credits of a flit with slots.
    pub crd: Crd,
    /// What else is in it.
    pub body: Body256,
}

/// What a flit without bytes holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body256 {
    /// Nothing: a NOP.
    Nothing,
    /// Slots.
    Slots(SlotContent256),
    /// A control slot alone, in slot 0.
    Control(u128),
}

impl Content256 {
    /// A NOP before it gets its number.
    pub fn nop() -> Content256 {
        Content256 { header: FlitHeader::default(), crd: Crd::default(), body: Body256::Nothing }
    }

    /// A flit of CXL.cachemem before it gets its number.
    pub fn cachemem(body: Body256, crd: Crd) -> Content256 {
        let header = FlitHeader { flit_type: FlitType::Cachemem, ..FlitHeader::default() };
        Content256 { header, crd, body }
    }
}

/// What reading has found out about a flit with slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentRead256 {
    /// It is an Empty one.
    pub is_empty: bool,
    /// Slots with data, bit n for slot n.
    pub data: u16,
    /// Slots with trailers.
    pub trailers: u16,
    /// Data and trailer slots owed before each slot.
    pub owed_slots: [u8; SLOTS],
    /// Data messages that were open before each slot.
    pub open_messages: [u8; SLOTS],
    /// Data messages whose data travels in this flit or begins behind it.
    pub active: usize,
    /// Those of this flit and the one before, each once.
    pub active_in_two: usize,
    /// Messages in slots 12 to 14 of the flit before.
    pub last_group: ClassCounts,
}

/// A message of which slots are to come.
#[derive(Debug, Clone, Copy)]
struct PartialContent {
    message: Cxl256Message,
    to_come: u8,
    has_trailer: bool,
}

/// Takes the contents of a stream of flits of one direction apart, as [`Unpacker`](super::stream::Unpacker) does bytes.
#[derive(Debug, Clone)]
pub struct ContentReader256 {
    mode: Mode,
    open: Fifo<PartialContent>,
    owed_slots: usize,
    last_active: usize,
    last_group: ClassCounts,
    delivered: Vec<Cxl256Message>,
}

impl ContentReader256 {
    /// A stream of which nothing has been read.
    pub fn new(mode: Mode) -> ContentReader256 {
        ContentReader256 {
            mode,
            open: Fifo::default(),
            owed_slots: 0,
            last_active: 0,
            last_group: [0; Class::COUNT],
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

    /// Messages that the even half of a latency-optimised flit completes by itself, as
    /// [`Unpacker::early`](super::stream::Unpacker::early) says.
    pub fn early(&self, flit: &Content256) -> Vec<Cxl256Message> {
        match &flit.body {
            Body256::Slots(slots) if !slots.even_is_zero => {
                let mut copy = self.clone();
                let mut delivered = Vec::new();
                copy.slots(slots, EVEN_SLOTS, &mut |message| delivered.push(*message));
                delivered
            }
            _ => Vec::new(),
        }
    }

    /// Reads the next flit of CXL.cachemem.
    pub fn read(&mut self, flit: &Content256) -> ContentRead256 {
        let before = [self.owed_slots as u8, self.open.len() as u8].map(|count| [count; SLOTS]);
        let mut delivered = std::mem::take(&mut self.delivered);
        delivered.clear();
        let read = self.read_noting::<true>(flit, before, &mut |message| delivered.push(*message));
        self.delivered = delivered;
        read
    }

    /// [`ContentReader256::read`] of a flit that is known to break no rule: what was owed and open before each slot, which only a
    /// walk through the rules asks for, is not noted. Messages that it completes go to `taken` alone, in order.
    #[inline]
    pub fn read_vouched(&mut self, flit: &Content256, mut taken: impl FnMut(&Cxl256Message)) -> ContentRead256 {
        self.delivered.clear();
        self.read_noting::<false>(flit, [[0; SLOTS]; 2], &mut taken)
    }

    fn read_noting<const NOTES: bool>(
        &mut self,
        flit: &Content256,
        [owed_slots, open_messages]: [[u8; SLOTS]; 2],
        taken: &mut impl FnMut(&Cxl256Message),
    ) -> ContentRead256 {
        let mut read = ContentRead256 {
            is_empty: false,
            data: 0,
            trailers: 0,
            owed_slots,
            open_messages,
            active: 0,
            active_in_two: 0,
            last_group: self.last_group,
        };
        match &flit.body {
            Body256::Slots(slots) => {
                read.is_empty = flit.crd.marks_empty() && slots.messages.is_empty() && self.open.is_empty();
                if !read.is_empty {
                    self.whole::<NOTES>(slots, &mut read, taken);
                }
            }
            // The slots behind it mean nothing.
            Body256::Control(_) => self.ends(self.open.len(), 0, [0; Class::COUNT], &mut read),
            Body256::Nothing => (),
        }
        read
    }

    fn whole<const NOTES: bool>(
        &mut self,
        slots: &SlotContent256,
        read: &mut ContentRead256,
        taken: &mut impl FnMut(&Cxl256Message),
    ) {
        let carried = self.open.len();
        let mut begun = 0;
        let mut group: ClassCounts = [0; Class::COUNT];
        let (mut rest, mut n) = (&slots.messages[..], 0);
        while n < SLOTS {
            if NOTES {
                (read.owed_slots[n], read.open_messages[n]) = (self.owed_slots as u8, self.open.len() as u8);
            }
            if self.owed_slots > 0 && self.mode.slot_kind(n) == SlotKind::G {
                n += self.run::<NOTES>(n, read, taken);
                continue;
            }
            if !NOTES && self.owed_slots == 0 {
                // Nothing stands in the slots before the next message.
                let Some(placed) = rest.first() else { break };
                n = n.max(usize::from(placed.slot));
            }
            if rest.first().is_some_and(|placed| usize::from(placed.slot) == n) {
                begun += self.messages(n, &mut rest, (n >= FIRST_SLOT_OF_LAST_GROUP).then_some(&mut group), taken);
            }
            n += 1;
        }
        self.ends(carried, begun, group, read);
    }

    /// Gives the G slots from `n` on to the message that is owed first, as many as there are without a gap and as it is owed: how
    /// many.
    fn run<const NOTES: bool>(
        &mut self,
        n: usize,
        read: &mut ContentRead256,
        taken: &mut impl FnMut(&Cxl256Message),
    ) -> usize {
        let Some(front) = self.open.first() else { return 1 };
        let slots = usize::from(front.to_come).min(self.mode.g_slots_end(n) - n);
        let has_trailer = front.has_trailer && slots == usize::from(front.to_come);
        for k in 0..if NOTES { slots } else { 0 } {
            (read.owed_slots[n + k], read.open_messages[n + k]) = ((self.owed_slots - k) as u8, self.open.len() as u8);
        }
        let filled = ((1 << slots) - 1) << n;
        let trailer = u16::from(has_trailer) << (n + slots - 1);
        read.data |= filled & !trailer;
        read.trailers |= trailer;
        self.give(slots, taken);
        slots
    }

    fn ends(&mut self, carried: usize, begun: usize, group: ClassCounts, read: &mut ContentRead256) {
        (read.active, read.active_in_two) = (carried + begun, self.last_active + begun);
        (self.last_active, self.last_group) = (read.active, group);
    }

    /// Reads the first slots alone.
    fn slots(&mut self, slots: &SlotContent256, count: usize, taken: &mut impl FnMut(&Cxl256Message)) {
        let mut rest = &slots.messages[..];
        for n in 0..count {
            if self.owed_slots > 0 && self.mode.slot_kind(n) == SlotKind::G {
                self.give(1, taken);
            } else {
                self.messages(n, &mut rest, None, taken);
            }
        }
    }

    /// Takes the messages of slot `n` off the front; gives the number of data messages that begin.
    #[inline]
    fn messages(
        &mut self,
        n: usize,
        rest: &mut &[Placed256],
        mut counts: Option<&mut ClassCounts>,
        taken: &mut impl FnMut(&Cxl256Message),
    ) -> usize {
        let first = self.open.len();
        let mut is_shared = false;
        while let Some((placed, behind)) = rest.split_first().filter(|(placed, _)| usize::from(placed.slot) == n) {
            *rest = behind;
            let message = &placed.message;
            if let Some(counts) = &mut counts {
                counts[message.class.index()] += 1;
            }
            if !message.class.has_data() {
                taken(message);
                continue;
            }
            let has_trailer = trailer(message.class, placed.format.routing, message.bits).is_some();
            let is_drs = message.class == Class::S2mDrs;
            is_shared |= is_drs && has_trailer;
            self.open.push(PartialContent {
                message: *message,
                to_come: LINE_SLOTS as u8,
                has_trailer: has_trailer && !is_drs,
            });
        }
        // The trailer of a DRS slot stands behind the first line, whichever header asked for it.
        if is_shared {
            self.open[first].has_trailer = true;
        }
        for open in self.open.iter_mut().skip(first) {
            open.to_come += u8::from(open.has_trailer);
            self.owed_slots += usize::from(open.to_come);
        }
        self.open.len() - first
    }

    /// Gives slots to the message that is owed first and is owed as many.
    #[inline]
    fn give(&mut self, slots: usize, taken: &mut impl FnMut(&Cxl256Message)) {
        let Some(front) = self.open.first_mut() else { return };
        self.owed_slots -= slots;
        front.to_come -= slots as u8;
        if front.to_come == 0 {
            taken(&front.message);
            self.open.drop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::super::config::Cxl256Config;
    use super::super::flit::Cxl256Flit;
    use super::super::packer::{Packer, Slots, admit};
    use super::super::stream::{Data, Unpacker};
    use super::*;
    use crate::cxl::Dir;

    /// A linear congruential sequence (the constants are Knuth's).
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) % n
        }

        /// A message that a packer takes; one in ten has bits that a receiver finds wrong, and one line in three is 0.
        fn message(&mut self, mode: Mode, class: Class) -> Cxl256Message {
            let def = class.def(mode.routing());
            let legal = self.below(10) > 0;
            let bits = loop {
                let mut bits = (0..5).fold(0, |bits, _| bits << 31 | u128::from(self.below(1 << 31))) | 1;
                bits &= u128::MAX >> (128 - def.bits);
                // Fields above stay 0 for the most part, so that messages fit short slots.
                bits &= if self.below(3) > 0 { (1 << 76) - 1 } else { u128::MAX };
                if !legal || def.codes_are_sound(bits & !def.reserved()) {
                    break if legal { bits & !def.reserved() } else { bits };
                }
            };
            let announced = trailer(class, mode.routing(), bits);
            let is_zero = self.below(3) == 0;
            let data = class.has_data().then(|| Data {
                line: [0; 64].map(|_: u8| if is_zero { 0 } else { self.below(256) as u8 }),
                byte_enables: announced.filter(|t| t.byte_enables).map(|_| self.below(1 << 31)),
                metadata: announced.filter(|t| t.metadata).map(|_| self.below(1 << 31) as u32),
            });
            Cxl256Message { class, bits, data }
        }
    }

    /// Both forms pack the same at the same time, and a receiver makes the same of them: messages, those of even halves, what is
    /// owed, findings.
    #[test]
    fn content_and_bytes_are_packed_and_read_alike() {
        let mut numbers = Numbers(256);
        let (mut delivered, mut early, mut broken, mut vouched) = (0, 0, 0, 0);
        for (mode, dir) in Mode::ALL.into_iter().flat_map(|mode| Dir::ALL.map(|dir| (mode, dir))) {
            let config = Cxl256Config::default();
            // Receivers that refuse what the sender may do.
            let strict = Cxl256Config { mdh: false, ..config };
            let later = Cxl256Config { withdrawn_codes: false, ..config };
            let mut packers = [Packer::new(mode, dir, config), Packer::new(mode, dir, config)];
            let (mut unpacker, mut reader) = (Unpacker::new(mode, dir), ContentReader256::new(mode));
            // One for all configurations: which codes are sound does not depend on them.
            let mut known = check::KnownCodes::default();
            let mut vouched_reader = reader.clone();
            let classes: Vec<Class> = Class::ALL.into_iter().filter(|class| class.dir() == dir).collect();
            for _ in 0..1500 {
                for _ in 0..numbers.below(6) {
                    let class = classes[numbers.below(classes.len() as u64) as usize];
                    let message = numbers.message(mode, class);
                    assert_eq!(admit(mode, dir, &config, &message), Ok(()));
                    packers.iter_mut().for_each(|packer| packer.push(message).expect("admitted"));
                }
                let mut left = [[0; Class::COUNT].map(|_: u16| numbers.below(4) as u16); 2];
                left[1] = left[0];
                let packed: Option<Slots> = packers[0].pack(&mut left[0]);
                let content: Option<SlotContent256> = packers[1].pack_slots(&mut left[1], SlotContent256::default);
                assert_eq!(left[0], left[1], "credits");
                assert_eq!(packers[0].filled(), packers[1].filled());
                assert_eq!(packers[0].owed_slots(), packers[1].owed_slots());
                let (slots, content) = match (packed, content) {
                    (None, None) => continue,
                    (Some(slots), Some(content)) => {
                        (slots, Content256::cachemem(Body256::Slots(content), Crd::default()))
                    }
                    other => panic!("{other:?}"),
                };
                let mut content = content;
                content.header.seq = 1;
                let mut flit = Cxl256Flit::ZERO;
                flit.set_header(&content.header).expect("it fits");
                slots.iter().enumerate().for_each(|(n, slot)| flit.set_slot(mode, n, *slot));
                flit.seal(mode);
                if mode.is_lopt() {
                    assert_eq!(reader.early(&content), unpacker.early(&flit), "{flit:?}");
                    early += reader.early(&content).len();
                }
                let decoded = unpacker.read(&flit);
                let read = reader.read(&content);
                assert_eq!(reader.delivered(), unpacker.delivered());
                assert_eq!(reader.owed_slots(), unpacker.owed_slots());
                delivered += reader.delivered().len();
                let Body256::Slots(of_content) = &content.body else { unreachable!("slots were packed") };
                let placed = of_content.messages.iter().map(|p| (usize::from(p.slot), p.message.class, p.message.bits));
                assert!(placed.eq(decoded.messages()), "{flit:?}");
                let is_vouched_for = check::is_vouched_for(&content, (mode, dir), &config, &mut known);
                let mut taken = Vec::new();
                let vouched_read = match is_vouched_for {
                    true => vouched_reader.read_vouched(&content, |message| taken.push(*message)),
                    false => {
                        let read = vouched_reader.read(&content);
                        taken.extend_from_slice(vouched_reader.delivered());
                        read
                    }
                };
                assert_eq!(taken, reader.delivered());
                assert_eq!(vouched_reader.owed_slots(), reader.owed_slots());
                let seen = |read: &ContentRead256| {
                    (read.data, read.trailers, read.active, read.active_in_two, read.last_group)
                };
                assert_eq!(seen(&vouched_read), seen(&read));
                vouched += usize::from(is_vouched_for);
                for config in [config, strict, later] {
                    // A packer with other choices vouches for nothing.
                    let is_vouched_for = check::is_vouched_for(&content, (mode, dir), &config, &mut known);
                    assert!(!is_vouched_for || config == Cxl256Config::default());
                    let found = check::content(&content, &read, (mode, dir), &config);
                    assert_eq!(found, check::flit(&decoded, &config).violations, "{flit:?}");
                    assert_eq!(found, check::violations(&decoded, &config), "{flit:?}");
                    assert!(!is_vouched_for || found.is_empty(), "{found:?}");
                    broken += usize::from(!found.is_empty());
                }
            }
        }
        assert!(
            delivered > 5000 && early > 100 && broken > 1000 && vouched > 1000,
            "{delivered} delivered, {early} early, {broken} broken, {vouched} vouched for"
        );
    }
}
