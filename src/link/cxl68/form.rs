//! The form in which the flits of an end travel: as bytes, or as their content without bytes.
//!
//! Modelled: what transmitter and receiver need of either form. Left out: when a link may go without bytes, which is for
//! whoever builds it: nothing may look at the flits of such a link, damage them or lose them.

use super::end::{Cxl68End, EndConfig};
use crate::fault::WireUnit;
use crate::hook::{Direction, HookPoint, Hooks, Passed};
use scalepool_forms::FormError;
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::cxl68::config::CrcSpoil;
use scalepool_protocols::cxl::cxl68::content::{Content68, ContentReader, ContentSlots};
use scalepool_protocols::cxl::cxl68::control::Control;
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::packable::{self, Packable};
use scalepool_protocols::cxl::cxl68::packer::Slots;
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68Message, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::message::Message;
use scalepool_protocols::wire::Wire;
use std::fmt::Debug;

/// Name of its units.
const PROTOCOL: &str = "cxl-68b";

/// A flit of a 68B link.
pub trait Flit68: WireUnit + Debug + Send + 'static {
    /// What it carries: messages with their bits, or those of the agents.
    type Message: Packable + Debug + Send;
    /// What the packer fills.
    type Slots: Slots<Message = Self::Message> + Clone + Debug + Send;
    /// What the retry buffer keeps of it.
    type Kept: Clone + Debug + Send;
    /// What takes a stream of them apart.
    type Reader: Clone + Debug + Send;

    /// A control flit.
    fn control(control: Control) -> Self;

    /// A protocol flit.
    fn protocol(header: &FlitHeader, slots: Self::Slots) -> Self;

    /// Four data chunks.
    fn all_data(slots: Self::Slots) -> Self;

    /// Makes its CRC wrong, to tell viral.
    fn spoil_crc(&mut self, how: CrcSpoil);

    /// What the retry buffer keeps of it.
    fn kept(&self) -> Self::Kept;

    /// The flit again.
    fn again(kept: Self::Kept) -> Self;

    /// The slots of one that has been received, empty, if they have memory for another flit.
    fn emptied(&mut self) -> Option<Self::Slots>;

    /// A flit of these bytes.
    ///
    /// # Errors
    /// The number of bytes is wrong, or flits of this form have none.
    fn from_bytes(bytes: &[u8]) -> Result<Self, FormError>;

    /// Shows it to the hooks of a point; `None`: it is gone.
    fn shown(self, hooks: &Hooks, point: HookPoint, way: Direction) -> Option<Self>;

    /// Shows it to the hooks in front of the retry buffer. One that they drop goes all the same: it has its number.
    fn numbered(self, hooks: &Hooks) -> Self;

    /// A reader of which nothing has been read, at an end.
    fn reader(config: &EndConfig) -> Self::Reader;

    /// Chunks that a reader still waits for.
    fn rollover(reader: &Self::Reader) -> usize;

    /// Queues a message of an agent at an end.
    ///
    /// # Errors
    /// What is wrong with one that must not travel.
    fn queue(end: &mut Cxl68End<Self>, message: Message) -> Result<(), String>;

    /// The same of a message that is moved only once, into the queue.
    ///
    /// # Errors
    /// As [`Flit68::queue`].
    #[inline]
    fn queue_in_place(end: &mut Cxl68End<Self>, message: &mut Message) -> Result<(), String> {
        Self::queue(end, *message)
    }

    /// The message of an agent that it has carried.
    fn message(carried: &Self::Message) -> Message;

    /// Shows a message to the hooks of a point; `false`: it is gone.
    fn shown_message(message: &mut Self::Message, hooks: &Hooks, at: (HookPoint, Direction)) -> bool;

    /// Takes a flit off the wire.
    fn receive(end: &mut Cxl68End<Self>, unit: &Self, now_flits: u64);
}

impl Flit68 for Cxl68Unit {
    type Message = Cxl68Message;
    type Slots = [u128; 4];
    type Kept = Cxl68Unit;
    type Reader = Unpacker;

    fn control(control: Control) -> Self {
        // All fields of our own control flits fit by construction; a zero slot would be a NULL-like protocol flit.
        Cxl68Unit::from_slots(pid::CACHEMEM, &[control.to_slot().unwrap_or(0), 0, 0, 0])
    }

    fn protocol(header: &FlitHeader, mut slots: [u128; 4]) -> Self {
        // So do those of its headers.
        slots[0] |= header.to_bits().unwrap_or(0);
        Cxl68Unit::from_slots(pid::CACHEMEM, &slots)
    }

    fn all_data(slots: [u128; 4]) -> Self {
        Cxl68Unit::from_slots(pid::CACHEMEM, &slots)
    }

    fn spoil_crc(&mut self, how: CrcSpoil) {
        self.set_tail(match how {
            CrcSpoil::InvertAll => !self.tail(),
            CrcSpoil::InvertLowest => self.tail() ^ 1,
        });
    }

    fn kept(&self) -> Cxl68Unit {
        *self
    }

    fn again(kept: Cxl68Unit) -> Self {
        kept
    }

    #[inline]
    fn emptied(&mut self) -> Option<[u128; 4]> {
        None
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, FormError> {
        Ok(Cxl68Unit::from_bytes(bytes)?)
    }

    #[inline]
    fn shown(self, hooks: &Hooks, point: HookPoint, way: Direction) -> Option<Self> {
        if hooks.watches(point, way) { watched(self, hooks, point, way) } else { Some(self) }
    }

    #[inline]
    fn numbered(self, hooks: &Hooks) -> Self {
        self.shown(hooks, HookPoint::ReplayIn, Direction::Tx).unwrap_or(self)
    }

    fn reader(config: &EndConfig) -> Unpacker {
        Unpacker::new(config.dir.opposite(), config.link.revision, config.enabled)
    }

    fn rollover(reader: &Unpacker) -> usize {
        reader.rollover()
    }

    fn queue(end: &mut Cxl68End, message: Message) -> Result<(), String> {
        let spelled = message.to_cxl68().map_err(|error| error.to_string())?;
        end.send(spelled).map_err(|error| error.to_string())
    }

    fn message(carried: &Cxl68Message) -> Message {
        Message::from_cxl68(carried)
    }

    fn shown_message(message: &mut Cxl68Message, hooks: &Hooks, at: (HookPoint, Direction)) -> bool {
        let data = message.data.as_mut().map(|data| &mut data.bytes);
        hooks.message(at, message.class.def(), &mut message.bits, data)
    }

    fn receive(end: &mut Cxl68End, unit: &Self, now_flits: u64) {
        end.receive(unit, now_flits);
    }
}

#[cold]
fn watched(mut unit: Cxl68Unit, hooks: &Hooks, point: HookPoint, way: Direction) -> Option<Cxl68Unit> {
    (hooks.pass(point, way, PROTOCOL, &mut unit.0) == Passed::On).then_some(unit)
}

impl Flit68 for Content68 {
    type Message = Message;
    type Slots = ContentSlots;
    type Kept = ();
    type Reader = ContentReader;

    fn control(control: Control) -> Self {
        Content68::Control(Box::new(control))
    }

    fn protocol(header: &FlitHeader, slots: ContentSlots) -> Self {
        Content68::Protocol(*header, slots)
    }

    fn all_data(_: ContentSlots) -> Self {
        Content68::AllData
    }

    /// It has none, and an end without bytes does not tell viral.
    fn spoil_crc(&mut self, _: CrcSpoil) {}

    /// Nothing: its messages have moved to the peer, and it is never asked for again.
    fn kept(&self) {}

    fn again((): ()) -> Self {
        Content68::AllData
    }

    #[inline]
    fn emptied(&mut self) -> Option<ContentSlots> {
        let Content68::Protocol(_, slots) = self else { return None };
        let mut slots = std::mem::take(slots);
        slots.clear();
        (slots.capacity() > 0).then_some(slots)
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, FormError> {
        Err(FormError::new(PROTOCOL, format!("{} bytes", bytes.len()), "a flit without bytes, as this link sends"))
    }

    fn shown(self, _: &Hooks, _: HookPoint, _: Direction) -> Option<Self> {
        Some(self)
    }

    fn numbered(self, _: &Hooks) -> Self {
        self
    }

    fn reader(_: &EndConfig) -> ContentReader {
        ContentReader::default()
    }

    fn rollover(reader: &ContentReader) -> usize {
        reader.rollover()
    }

    #[inline]
    fn queue(end: &mut Cxl68End<Content68>, mut message: Message) -> Result<(), String> {
        Self::queue_in_place(end, &mut message)
    }

    #[inline]
    fn queue_in_place(end: &mut Cxl68End<Content68>, message: &mut Message) -> Result<(), String> {
        packable::pass(message, &end.config().link).map_err(|error| error.to_string())?;
        end.send_in_place(message).map_err(|error| error.to_string())
    }

    #[inline]
    fn message(carried: &Message) -> Message {
        *carried
    }

    #[inline]
    fn shown_message(_: &mut Message, _: &Hooks, _: (HookPoint, Direction)) -> bool {
        true
    }

    fn receive(end: &mut Cxl68End<Content68>, unit: &Self, now_flits: u64) {
        end.receive_content(unit, now_flits);
    }
}

impl WireUnit for Content68 {
    fn bytes(&self) -> &[u8] {
        &[]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut []
    }

    fn make_noise(&mut self, _: &mut Rng) {}

    fn make_bad(&mut self, _: &mut Rng) {}

    fn deceives(&self, _: &Self) -> bool {
        false
    }
}
