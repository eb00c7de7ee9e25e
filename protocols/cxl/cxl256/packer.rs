//! Packing: waiting messages to slots (`cxl-256b` §2, §5).
//!
//! Modelled: choice of slot formats, most messages of a class in 128 bytes, most open data messages and data slots, zero
//! extension, trailers, data that runs on into the flits behind. Left out: flit header and credits in the CRD field (the
//! link fills them in), control slots.
//!
//! A walk through one flit: slots are filled from 0 to 14. A G slot takes what is owed to data headers first. Any other
//! slot takes the format that serves the class which waited longest and, among those, holds the most messages. First
//! place in a slot first, first slot first: tight packing. A data header adds four data slots a line and its trailer to
//! what is owed, so that data stands behind its header and never in slot 0.

use super::Class;
use super::check::{MAX_ACTIVE, MAX_ACTIVE_IN_TWO, MAX_OWED, MAX_OWED_IN_SHORT_SLOT};
use super::config::Cxl256Config;
use super::flit::SLOTS;
use super::mode::Mode;
use super::per_class::PerClass;
use super::slot::{self, SlotFormat, SlotKind};
use super::stream::{Cxl256Message, Data, LINE_SLOTS, trailer};
use crate::cxl::Dir;
use crate::cxl::fifo::Fifo;
use crate::cxl::filled::Filled;
use crate::cxl::turn::Turn;

/// A message that must not be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cxl256Refused {
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
    /// The valid bit is 0, or bits stand behind the last field.
    #[error("{layout}: found {found:#x}, expected a valid message of {bits} bits")]
    Bits {
        /// Layout of the message.
        layout: &'static str,
        /// The message.
        found: u128,
        /// Its width.
        bits: u32,
    },
    /// Data, byte enables or metadata that the header does not announce, or the other way round.
    #[error("{layout}: found {what} = {found}, expected {expected} as the header says")]
    Payload {
        /// Layout of the message.
        layout: &'static str,
        /// Part of the payload.
        what: &'static str,
        /// Whether it is there.
        found: bool,
        /// Whether the header announces it.
        expected: bool,
    },
}

/// Judges a message before it is queued.
///
/// # Errors
/// See [`Cxl256Refused`].
pub fn admit(mode: Mode, dir: Dir, config: &Cxl256Config, message: &Cxl256Message) -> Result<(), Cxl256Refused> {
    let (class, routing) = (message.class, mode.routing());
    let def = class.def(routing);
    let layout = def.name;
    if !config.may_go(class, dir) {
        return Err(Cxl256Refused::Direction { layout, found: dir.name(), expected: class.dir().name() });
    }
    if message.bits & 1 == 0 || message.bits >> def.bits != 0 {
        return Err(Cxl256Refused::Bits { layout, found: message.bits, bits: def.bits });
    }
    // Nothing else can be wrong with most messages.
    if !class.has_data() && message.data.is_none() {
        return Ok(());
    }
    let announced = trailer(class, routing, message.bits);
    let data = message.data.as_ref();
    let found =
        [data.is_some(), data.is_some_and(|d| d.byte_enables.is_some()), data.is_some_and(|d| d.metadata.is_some())];
    let expected = [class.has_data(), announced.is_some_and(|t| t.byte_enables), announced.is_some_and(|t| t.metadata)];
    match found.iter().zip(expected).position(|(found, expected)| *found != expected) {
        Some(n) => {
            let what = ["data", "byte enables", "metadata"][n];
            Err(Cxl256Refused::Payload { layout, what, found: found[n], expected: expected[n] })
        }
        None => Ok(()),
    }
}

/// The slots that are owed to a data header: its line, then a trailer.
#[derive(Debug, Clone, Copy)]
struct Owed {
    data: Data,
    trailer: Option<u128>,
    /// Slots that have gone.
    gone: usize,
}

impl Owed {
    fn slots(&self) -> usize {
        LINE_SLOTS + usize::from(self.trailer.is_some())
    }

    /// Bits of the n-th slot.
    fn slot(&self, n: usize) -> u128 {
        if n < LINE_SLOTS { self.data.slot(n) } else { self.trailer.unwrap_or(0) }
    }
}

/// What the flit under construction holds so far.
#[derive(Debug, Clone, Default)]
struct FlitFill {
    /// Messages in it, and those in front of each slot that was begun and from which a window may begin ([`WINDOW_STARTS`]).
    messages: PerClass,
    before: [PerClass; SLOTS],
    /// Slots that were begun.
    slots: usize,
    /// Data messages of earlier flits whose data was not complete at its start.
    carried: usize,
    /// Data headers in it.
    begun: usize,
}

impl FlitFill {
    /// Slots `n` to `end` begin. What stands before the other slots is not asked for, and noting it took 50 more
    /// instructions a flit.
    #[inline]
    fn begins(&mut self, n: usize, end: usize) {
        let mut starts = WINDOW_STARTS >> n << n & !(u32::MAX << end);
        while starts != 0 {
            self.before[starts.trailing_zeros() as usize] = self.messages;
            starts &= starts - 1;
        }
        self.slots = end;
    }

    /// Messages from a slot on.
    fn from(&self, slot: usize) -> PerClass {
        if slot < self.slots { self.messages.without(self.before[slot]) } else { PerClass::default() }
    }
}

/// Slots of a flit without header, credits, CRC and FEC; empty slots are 0.
pub type Slots = [u128; SLOTS];

/// What the packer fills: slots with their bits, or a list of what stands in them (see [`super::content`]).
pub trait SlotFill: Default {
    /// A slot gets a format.
    fn begin(&mut self, slot: usize, format: &'static SlotFormat);

    /// Puts a message at the n-th place of a slot that has begun.
    fn put(&mut self, slot: usize, format: &'static SlotFormat, n: usize, message: &Cxl256Message);

    /// Puts slots of a line and its trailer in the slots from one on, as many as there are.
    fn put_owed(&mut self, slot: usize, bits: impl Iterator<Item = u128>);

    /// All slots are filled, by a packer with these choices. Bits do not show that.
    #[inline]
    fn packed_by(&mut self, config: &Cxl256Config) {
        let _ = config;
    }
}

impl SlotFill for Slots {
    #[inline]
    fn begin(&mut self, slot: usize, format: &'static SlotFormat) {
        self[slot] = format.code.into();
    }

    #[inline]
    fn put(&mut self, slot: usize, format: &'static SlotFormat, n: usize, message: &Cxl256Message) {
        self[slot] = format.places[n].insert(self[slot], message.bits);
    }

    #[inline]
    fn put_owed(&mut self, slot: usize, bits: impl Iterator<Item = u128>) {
        self[slot..].iter_mut().zip(bits).for_each(|(slot, bits)| *slot = bits);
    }
}

/// Bits of the code of a slot (`cxl-256b` §3).
const CODE_BITS: u32 = 4;
/// Slots of a group: A to C have four, D has the last three (`cxl-256b` §5.3).
const GROUP_SLOTS: usize = 4;
/// Slot that the halves of a latency-optimised flit both count (`cxl-256b` §5.3).
const SHARED_LOPT_SLOT: usize = 7;

/// Slots from which messages are counted, bit n for slot n: the first of each group, and the shared one.
const WINDOW_STARTS: u32 = 1 << SHARED_LOPT_SLOT | 0b1_0001_0001_0001;

/// First slot of the last group, whose messages count in a window with the first group of the next flit (`cxl-256b` §5.3).
const LAST_GROUP: usize = 12;
/// Data messages that begin in one flit: half of what two may have. A flit that took more would leave the next one
/// fewer than its data needs.
const BEGUN_IN_ONE: usize = MAX_ACTIVE_IN_TWO / 2;

/// Packs the messages of one direction.
#[derive(Debug, Clone)]
pub struct Packer {
    mode: Mode,
    dir: Dir,
    config: Cxl256Config,
    queues: [Fifo<Cxl256Message>; Class::COUNT],
    /// Messages in all of them.
    queued: usize,
    /// Classes of which one waits, bit n for [`Class::index`] n.
    waiting: u16,
    owed: Fifo<Owed>,
    /// Slots owed of all of them.
    owed_slots: usize,
    filled: Filled,
    /// Data messages that were active in the flit before.
    last_active: usize,
    /// Messages in the last group of the flit before.
    last_group: PerClass,
    turn: Turn<{ Class::COUNT }>,
}

impl Packer {
    /// An empty packer.
    pub fn new(mode: Mode, dir: Dir, config: Cxl256Config) -> Packer {
        Packer {
            mode,
            dir,
            config,
            queues: Default::default(),
            queued: 0,
            waiting: 0,
            owed: Fifo::default(),
            owed_slots: 0,
            filled: Filled::default(),
            last_active: 0,
            last_group: PerClass::default(),
            turn: Turn::new(),
        }
    }

    /// Queues a message.
    ///
    /// # Errors
    /// It must not be sent, see [`admit`].
    #[inline]
    pub fn push(&mut self, message: Cxl256Message) -> Result<(), Cxl256Refused> {
        admit(self.mode, self.dir, &self.config, &message)?;
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
        let mut left = self.waiting;
        std::iter::from_fn(move || {
            let class = *Class::ALL.get(left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(class)
        })
    }

    /// Messages that wait in all classes.
    #[inline]
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Whether nothing waits and no slot is owed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.owed.is_empty() && self.queued == 0
    }

    /// What the flit that was packed last holds.
    pub fn filled(&self) -> Filled {
        self.filled
    }

    /// Fills slot `n`, a G slot, and those behind it with what is owed to the message that is owed first, as far as G slots follow
    /// without a gap; how many are filled, 0 if nothing is owed. A flit of `pbr-rack` has nine such slots, and each by itself took
    /// 44 instructions and its part of the loop.
    fn put_run(&mut self, n: usize, slots: &mut impl SlotFill) -> usize {
        let Some(owed) = self.owed.first_mut() else { return 0 };
        let from = owed.gone;
        let count = (owed.slots() - from).min(self.mode.g_slots_end(n) - n);
        owed.gone += count;
        slots.put_owed(n, (from..owed.gone).map(|slot| owed.slot(slot)));
        let data = owed.gone.min(LINE_SLOTS) - from.min(LINE_SLOTS);
        self.filled.data += data as u32 * u128::BITS;
        self.filled.trailers += (count - data) as u32 * u128::BITS;
        self.owed_slots -= count;
        if owed.gone == owed.slots() {
            self.owed.drop_first();
        }
        count
    }

    /// Data and trailer slots owed.
    pub fn owed_slots(&self) -> usize {
        self.owed_slots
    }

    /// Data messages of which data or trailer is owed.
    pub fn open_messages(&self) -> usize {
        self.owed.len()
    }

    /// Fills the G slots of a flit from slot `from` on with what is owed, and nothing else. For a flit whose slots before
    /// are not of this packer: windows and active messages count as they did for the flit packed last.
    pub fn pack_owed(&mut self, slots: &mut Slots, from: usize) {
        self.filled = Filled::default();
        let mut n = from;
        while n < SLOTS {
            let filled = if self.mode.slot_kind(n) == SlotKind::G { self.put_run(n, slots) } else { 0 };
            n += filled.max(1);
        }
    }

    /// Packs the next flit and takes its messages off the queues, one credit each off `credits` (by [`Class::index`]);
    /// `None`: nothing waits that may go.
    pub fn pack(&mut self, credits: &mut [u16; Class::COUNT]) -> Option<Slots> {
        self.pack_slots(credits, Slots::default)
    }

    /// [`Packer::pack`] to slots of any form, which `empty` gives: what is packed where is the same.
    pub fn pack_slots<S: SlotFill>(
        &mut self,
        credits: &mut [u16; Class::COUNT],
        empty: impl FnOnce() -> S,
    ) -> Option<S> {
        let mut slots = empty();
        self.pack_into(credits, &mut slots).then_some(slots)
    }

    /// [`Packer::pack_slots`] into empty slots; `false`: nothing waits that may go, and they are as they were.
    pub fn pack_into(&mut self, credits: &mut [u16; Class::COUNT], slots: &mut impl SlotFill) -> bool {
        self.filled = Filled::default();
        if self.is_empty() {
            return false;
        }
        let carried = self.open_messages();
        let mut taken = FlitFill { carried, ..FlitFill::default() };
        let mut used = false;
        // Classes of which an H or HS slot of the group has a free place (`cxl-256b` §5.3), by bit.
        let mut barred: u16 = 0;
        let mut n = 0;
        while n < SLOTS && !self.is_empty() {
            if n % GROUP_SLOTS == 0 {
                barred = 0;
            }
            let is_g = self.mode.slot_kind(n) == SlotKind::G;
            let owed = if is_g { self.put_run(n, slots) } else { 0 };
            let end = n + owed.max(1);
            taken.begins(n, end);
            if owed > 0 {
                used = true;
                if (end - 1) / GROUP_SLOTS > n / GROUP_SLOTS {
                    barred = 0;
                }
            } else if let Some((format, plan)) = self.choose(n, &taken, credits, barred) {
                self.fill((n, &mut *slots), format, plan, &mut taken, credits);
                used = true;
                if !is_g {
                    let free = format.places().enumerate().filter(|(k, _)| plan >> k & 1 == 0);
                    barred = free.fold(barred, |barred, (_, place)| barred | 1 << place.class.index());
                }
            } else if self.owed.is_empty() && !self.waiting_classes().any(|class| credits[class.index()] > 0) {
                // Nothing that waits has a credit, so the other slots stay empty too.
                break;
            }
            n = end;
        }
        if !used {
            return false;
        }
        self.last_active = taken.carried + taken.begun;
        self.last_group = taken.from(LAST_GROUP);
        slots.packed_by(&self.config);
        true
    }

    /// The flit that goes out has no slots for messages (control, credits alone): the stream moves on without any.
    pub fn skip(&mut self) {
        self.last_active = self.open_messages();
        self.last_group = PerClass::default();
    }

    /// The format for a slot and the places it uses, bit n for place n.
    fn choose(
        &self,
        n: usize,
        taken: &FlitFill,
        credits: &[u16; Class::COUNT],
        barred: u16,
    ) -> Option<(&'static SlotFormat, u8)> {
        match self.queued {
            0 => None,
            1 => self.choose_for_one(n, taken, credits, barred),
            _ => self.choose_among(n, taken, credits, barred),
        }
    }

    /// What [`Packer::choose_among`] chooses where one message waits: the first format that has a legal place for it, in 190
    /// instructions instead of 470.
    fn choose_for_one(
        &self,
        n: usize,
        taken: &FlitFill,
        credits: &[u16; Class::COUNT],
        barred: u16,
    ) -> Option<(&'static SlotFormat, u8)> {
        let class = self.waiting_classes().next()?;
        if self.room(self.window(n, taken), class, credits) == 0 {
            return None;
        }
        let bits = self.queues[class.index()].first()?.bits;
        slot::formats_with(self.mode, n, class).find_map(|format| {
            let is_open = self.is_open(format, class, barred);
            let place = format.places.iter().position(|place| place.class == class && place.fits(bits))?;
            let fits = || {
                let own = LINE_SLOTS + usize::from(trailer(class, format.routing, bits).is_some());
                self.takes_data(n, taken, 0, self.owed_slots, own)
            };
            (is_open && (!format.has_data() || fits())).then_some((format, 1 << place))
        })
    }

    fn choose_among(
        &self,
        n: usize,
        taken: &FlitFill,
        credits: &[u16; Class::COUNT],
        barred: u16,
    ) -> Option<(&'static SlotFormat, u8)> {
        let (window, mut room) = (self.window(n, taken), [0; Class::COUNT]);
        let mut has_room = 0u16;
        for class in self.waiting_classes() {
            room[class.index()] = self.room(window, class, credits);
            has_room |= u16::from(room[class.index()] > 0) << class.index();
        }
        // Only classes with room and formats with a place for them are tried: a flit takes 1,450 instructions instead of 12,300.
        while let Some(class) = self.turn.first(has_room).map(|n| Class::ALL[n]) {
            has_room &= !(1 << class.index());
            if let Some(format) = slot::lone_format(self.mode, n, class) {
                if self.may_stand(n, format, taken, barred) {
                    return Some((format, 1));
                }
                continue;
            }
            let mut best: Option<(&'static SlotFormat, u8)> = None;
            for format in slot::formats_with(self.mode, n, class) {
                // One with no more places than are used already holds no more messages.
                if best.is_some_and(|(_, best)| format.places.len() <= best.count_ones() as usize) {
                    continue;
                }
                let plan = self.plan(n, format, taken, &room, barred);
                let serves = (0..).zip(format.places).any(|(k, p)| plan >> k & 1 == 1 && p.class == class);
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

    /// Whether the first message of a class may take a slot with the one format that has a place for it, and no other place, as
    /// [`Packer::plan`] says: most requests are placed so, and a choice takes 280
    /// instructions instead of 340.
    fn may_stand(&self, n: usize, format: &SlotFormat, taken: &FlitFill, barred: u16) -> bool {
        let place = &format.places[0];
        let Some(message) = self.queues[place.class.index()].first() else { return false };
        if !place.fits(message.bits) || !self.is_open(format, place.class, barred) {
            return false;
        }
        let own = || LINE_SLOTS + usize::from(trailer(place.class, format.routing, message.bits).is_some());
        !format.has_data() || self.takes_data(n, taken, 0, self.owed_slots, own())
    }

    /// Messages in front of slot `n` that count in one window of 128 bytes with it.
    fn window(&self, n: usize, taken: &FlitFill) -> PerClass {
        match n / GROUP_SLOTS {
            0 => self.last_group.and(taken.messages),
            // Slot 7 of a latency-optimised flit counts in group C too.
            3 if self.mode.is_lopt() => taken.from(SHARED_LOPT_SLOT),
            group => taken.from((group - 1) * GROUP_SLOTS),
        }
    }

    /// How many more messages of a class may stand behind those of a window: by queue, credit and the most in 128 bytes.
    #[inline]
    fn room(&self, window: PerClass, class: Class, credits: &[u16; Class::COUNT]) -> u8 {
        let i = class.index();
        let most = self.queues[i].len().min(usize::from(credits[i])).min(usize::from(u8::MAX)) as u8;
        class.max_per_window().saturating_sub(window.get(class)).min(most)
    }

    /// The places that a format would use, bit n for place n; 0 where it is not legal now.
    fn plan(&self, n: usize, format: &SlotFormat, taken: &FlitFill, room: &[u8; Class::COUNT], barred: u16) -> u8 {
        let (mut plan, mut headers, mut owed, mut shared_trailer) = (0, 0, self.owed_slots, false);
        let mut per_class = [0u8; Class::COUNT];
        for (k, place) in format.places().enumerate() {
            let more = &mut per_class[place.class.index()];
            if *more >= room[place.class.index()] || !self.is_open(format, place.class, barred) {
                continue;
            }
            let bits = self.queues[place.class.index()][usize::from(*more)].bits;
            if !place.fits(bits) {
                continue;
            }
            if format.has_data() {
                let has_trailer = trailer(place.class, format.routing, bits).is_some();
                let is_drs = place.class == Class::S2mDrs;
                let own = LINE_SLOTS + usize::from(has_trailer && !(is_drs && shared_trailer));
                if !self.takes_data(n, taken, headers, owed, own) {
                    // Headers stand without gaps, so those behind wait too.
                    break;
                }
                shared_trailer |= is_drs && has_trailer;
                owed += own;
                headers += 1;
            }
            *more += 1;
            plan |= 1 << k;
        }
        plan
    }

    /// Whether a slot with a format may have messages of a class: one with data not as an H or HS slot while much is owed, and a
    /// G slot none of which such a slot of its group has a free place.
    fn is_open(&self, format: &SlotFormat, class: Class, barred: u16) -> bool {
        match format.kind {
            SlotKind::G => barred >> class.index() & 1 == 0,
            _ => !format.has_data() || self.owed_slots <= MAX_OWED_IN_SHORT_SLOT,
        }
    }

    /// Whether a data header may stand in slot `n` behind so many others of the slot, when so many slots are owed in front of
    /// its `own`.
    fn takes_data(&self, n: usize, taken: &FlitFill, headers: usize, owed: usize, own: usize) -> bool {
        let begun = taken.begun + headers + 1;
        let is_alone = headers > 0 && !self.config.mdh;
        // Data that ends in the last group would bring headers there, which take places from the next flit's.
        let ends_late = n == 0 && !self.mode.is_lopt() && (LAST_GROUP..SLOTS).contains(&(1 + owed + own));
        !is_alone
            && !ends_late
            && begun <= BEGUN_IN_ONE
            && owed + own <= MAX_OWED
            && taken.carried + begun <= MAX_ACTIVE
            && self.last_active + begun <= MAX_ACTIVE_IN_TWO
    }

    /// Moves the planned messages into a slot and their data and trailers to what is owed.
    fn fill(
        &mut self,
        (n, slots): (usize, &mut impl SlotFill),
        format: &'static SlotFormat,
        plan: u8,
        taken: &mut FlitFill,
        credits: &mut [u16; Class::COUNT],
    ) {
        slots.begin(n, format);
        self.filled.messages += CODE_BITS;
        let first = self.owed.len();
        let (mut served, mut words, mut shared) = (0u16, 0, None);
        let mut left = plan;
        while let Some(place) = format.places.get(left.trailing_zeros() as usize) {
            let k = left.trailing_zeros() as usize;
            left &= left - 1;
            let i = place.class.index();
            let Some(message) = self.queues[i].first() else { continue };
            self.queued -= 1;
            debug_assert!(place.fits(message.bits), "place {k} was planned for it");
            credits[i] = credits[i].saturating_sub(1);
            taken.messages = taken.messages.and(PerClass::one(place.class));
            served |= 1 << i;
            self.filled.messages += place.kept;
            slots.put(n, format, k, message);
            if let Some(data) = &message.data {
                // The trailer of an RwD or D2H data message stands behind its own line, the one that all DRS of a slot share
                // behind the first line (`cxl-256b` §5.2).
                let announced = trailer(message.class, format.routing, message.bits);
                let is_drs = message.class == Class::S2mDrs;
                if is_drs && announced.is_some() {
                    let word = u128::from(data.metadata.unwrap_or(0)) << (32 * words);
                    shared = Some(shared.unwrap_or(0) | word);
                    words += 1;
                }
                let own = announced.filter(|_| !is_drs).map(|trailer| trailer.slot(data));
                self.owed.push(Owed { data: *data, trailer: own, gone: 0 });
            }
            self.queues[i].drop_first();
            if self.queues[i].is_empty() {
                self.waiting &= !(1 << i);
            }
        }
        if let Some(owed) = self.owed.get_mut(first..) {
            if let Some(owed) = owed.first_mut().filter(|_| shared.is_some()) {
                owed.trailer = shared;
            }
            taken.begun += owed.len();
            self.owed_slots += owed.iter().map(Owed::slots).sum::<usize>();
        }
        self.turn.serve(served);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cxl::cxl256::check;
    use crate::cxl::cxl256::code::FlitType;
    use crate::cxl::cxl256::flit::Cxl256Flit;
    use crate::cxl::cxl256::header::FlitHeader;
    use crate::cxl::cxl256::stream::{Data, Unpacker};
    use std::collections::VecDeque;

    /// Numbers that look random: xorshift, 64 bits.
    struct Draw(u64);

    impl Draw {
        fn below(&mut self, n: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % n
        }

        /// A legal message; trailers and fields that short slots drop come and go.
        fn message(&mut self, mode: Mode, class: Class) -> Cxl256Message {
            let def = class.def(mode.routing());
            let mut bits = 1;
            let mut set = |name: &str, value: u64| {
                if let Some(f) = def.fields.iter().find(|f| f.name == name) {
                    bits = f.insert(bits, value.into()).expect("fits");
                }
            };
            for name in ["tag", "cqid", "uqid", "bi_tag"] {
                set(name, self.below(1 << 12));
            }
            let partial = class == Class::M2sRwd && self.below(3) == 0;
            let with_metadata = self.below(3) == 0;
            set(
                "opcode",
                match class {
                    Class::M2sRwd => 1 + u64::from(partial),
                    Class::M2sReq | Class::H2dReq => 1,
                    Class::D2hReq => 2,
                    Class::D2hRsp | Class::H2dRsp => 5,
                    _ => 0,
                },
            );
            set("address", self.below(1 << 46) << 6);
            set("bep", self.below(2));
            set("trp", u64::from(partial || with_metadata));
            set("meta_field", u64::from(with_metadata));
            set("tc", self.below(8) / 7);
            let announced = trailer(class, mode.routing(), bits);
            let data = class.has_data().then(|| Data {
                line: [0; 64].map(|_: u8| self.below(256) as u8),
                byte_enables: announced.filter(|t| t.byte_enables).map(|_| self.below(u64::MAX)),
                metadata: announced.filter(|t| t.metadata).map(|_| self.below(1 << 32) as u32),
            });
            Cxl256Message { class, bits, data }
        }
    }

    fn stream(mode: Mode, dir: Dir, config: Cxl256Config, seed: u64) {
        let mut draw = Draw(seed);
        let (mut packer, mut unpacker) = (Packer::new(mode, dir, config), Unpacker::new(mode, dir));
        let mut sent: [VecDeque<Cxl256Message>; Class::COUNT] = Default::default();
        let mut credits = [0; Class::COUNT];
        for n in 0..400 {
            for class in Class::ALL.into_iter().filter(|c| c.dir() == dir) {
                for _ in 0..if n < 300 { draw.below(4) } else { 0 } {
                    let message = draw.message(mode, class);
                    packer.push(message).expect("legal");
                    sent[class.index()].push_back(message);
                }
                let more = if n < 300 { draw.below(6) as u16 } else { 2000 };
                credits[class.index()] = more.max(credits[class.index()]);
            }
            let mut flit = Cxl256Flit::ZERO;
            let header = FlitHeader { flit_type: FlitType::Cachemem, seq: 1, ..FlitHeader::default() };
            flit.set_header(&header).expect("fits");
            let Some(slots) = packer.pack(&mut credits) else {
                packer.skip();
                unpacker.read(&{
                    flit.seal(mode);
                    flit
                });
                continue;
            };
            slots.into_iter().enumerate().for_each(|(n, slot)| flit.set_slot(mode, n, slot));
            flit.seal(mode);
            let decoded = unpacker.read(&flit);
            let found = check::flit(&decoded, &config);
            assert!(found.violations.is_empty() && found.lints.is_empty(), "{mode:?} {dir:?} flit {n}: {found:#?}");
            for message in unpacker.delivered() {
                assert_eq!(sent[message.class.index()].pop_front().as_ref(), Some(message), "flit {n}");
            }
            assert_eq!(packer.owed_slots(), unpacker.owed_slots());
        }
        while let Some(slots) = packer.pack(&mut [2000; Class::COUNT]) {
            let mut flit = Cxl256Flit::ZERO;
            flit.set_header(&FlitHeader { flit_type: FlitType::Cachemem, ..FlitHeader::default() }).expect("fits");
            slots.into_iter().enumerate().for_each(|(n, slot)| flit.set_slot(mode, n, slot));
            flit.seal(mode);
            unpacker.read(&flit);
            for message in unpacker.delivered() {
                assert_eq!(sent[message.class.index()].pop_front().as_ref(), Some(message));
            }
        }
        assert!(sent.iter().all(VecDeque::is_empty), "everything came out");
    }

    #[test]
    fn what_is_packed_is_legal_and_comes_out_again() {
        for mode in Mode::ALL {
            for dir in Dir::ALL {
                for mdh in [true, false] {
                    for seed in 1..6 {
                        stream(mode, dir, Cxl256Config { mdh, ..Cxl256Config::default() }, seed << 20 | 0x9e37_79b9);
                    }
                }
            }
        }
    }

    /// For one message, in every slot, whatever is owed and whatever stands in the flit and in those before, the short way
    /// chooses what the long one chooses.
    #[test]
    fn one_message_is_placed_as_one_of_many() {
        let mut draw = Draw(0x9e37_79b9);
        let mut placed = 0;
        for (mode, class) in Mode::ALL.into_iter().flat_map(|mode| Class::ALL.map(|class| (mode, class))) {
            for _ in 0..400 {
                let config = Cxl256Config { mdh: draw.below(2) == 0, ..Cxl256Config::default() };
                let mut packer = Packer::new(mode, class.dir(), config);
                packer.push(draw.message(mode, class)).expect("legal");
                packer.owed_slots = draw.below(MAX_OWED as u64 + 2) as usize;
                packer.last_active = draw.below(MAX_ACTIVE_IN_TWO as u64 + 1) as usize;
                let behind = |count| (0..count).fold(PerClass::default(), |sum, _| sum.and(PerClass::one(class)));
                packer.last_group = behind(draw.below(3));
                let mut taken = FlitFill {
                    carried: draw.below(MAX_ACTIVE as u64 + 1) as usize,
                    begun: draw.below(BEGUN_IN_ONE as u64 + 1) as usize,
                    ..FlitFill::default()
                };
                for n in 0..SLOTS {
                    (taken.before[n], taken.slots) = (taken.messages, n + 1);
                    let credits = [draw.below(4).min(1) as u16; Class::COUNT];
                    let barred = draw.below(1 << Class::COUNT) as u16 & draw.below(1 << Class::COUNT) as u16;
                    let one = packer.choose_for_one(n, &taken, &credits, barred);
                    assert_eq!(
                        one,
                        packer.choose_among(n, &taken, &credits, barred),
                        "{class:?} in slot {n}, {mode:?}"
                    );
                    placed += usize::from(one.is_some());
                    if draw.below(8) == 0 {
                        taken.messages = taken.messages.and(behind(1));
                    }
                }
            }
        }
        assert!(placed > 10_000, "{placed}");
    }
}
