//! The form in which the flits of an end travel: as bytes, or as their content without bytes.
//!
//! Modelled: what the numbers of a link and CXL.cachemem above them need of either form. Left out: when a link may go
//! without bytes, which is for whoever builds it: nothing may look at the flits of such a link, damage them, lose them or
//! ask for them again.

use super::cachemem::Cachemem;
use super::client::Urgent;
use super::end::EVEN_BODY;
use super::fault::{WireFlit, spoil};
use super::spares::SpareLists;
use crate::event::finding;
use crate::fault::WireUnit;
use crate::hook::{Direction, HookPoint, Hooks, Passed};
use scalepool_forms::FormError;
use scalepool_kernel::Rng;
use scalepool_protocols::check::fec256::Corrections;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::content::{Body256, Content256, ContentReader256, SlotContent256};
use scalepool_protocols::cxl::cxl256::crd::Crd;
use scalepool_protocols::cxl::cxl256::flit::{Cxl256Flit, Cxl256Received, DLLP_BYTES, crc_parts, lopt_io, standard_io};
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::packer::{SlotFill, Slots};
use scalepool_protocols::cxl::cxl256::stream::{Cxl256Message, Unpacker};
use scalepool_protocols::wire::Violation;
use std::fmt::Debug;
use std::ops::Range;

/// A flit that could not be repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadFlit;

/// A flit of a 256B link.
pub trait Flit256: Clone + Debug + Send + 'static {
    /// What stands on the wire.
    type Unit: WireUnit + Debug + Send + 'static;
    /// What the packer fills.
    type Slots: SlotFill + Clone + Debug + Send;
    /// What takes a stream of them apart.
    type Reader: Clone + Debug + Send;

    /// A NOP before it gets its number.
    fn nop() -> Self;

    /// A flit with slots before it gets its number.
    fn cachemem(mode: Mode, slots: Self::Slots, crd: &Crd) -> Self;

    /// A flit with a control slot alone before it gets its number.
    fn control(mode: Mode, slot: u128) -> Self;

    /// What waits for an acknowledgement, and what later flits are compared with.
    fn kept(&self) -> Self;

    /// Empty slots for a flit.
    fn empty() -> Self::Slots;

    /// Nothing was filled into slots, whose memory may serve another flit.
    fn unused(slots: Self::Slots);

    /// It has been received, and what memory its slots have may serve another flit.
    fn done_with(self);

    /// Slots have been filled: memory that they do not need may serve another flit.
    fn filled(slots: &mut Self::Slots);

    /// Flit header.
    fn header(&self) -> FlitHeader;

    /// Writes the flit header.
    fn put_header(&mut self, header: &FlitHeader);

    /// DLLP bytes of a flit that has some.
    fn dllp(&self, mode: Mode) -> [u8; DLLP_BYTES];

    /// Writes them.
    fn put_dllp(&mut self, mode: Mode, bytes: [u8; DLLP_BYTES]);

    /// Completes a flit that goes: CRC and FEC.
    fn seal(&mut self, mode: Mode);

    /// Makes the CRCs of the chosen halves wrong, see [`Urgent`].
    fn spoil(&mut self, mode: Mode, halves: [bool; 2]);

    /// Becomes what comes out of FEC and CRC; what the FEC has repaired.
    ///
    /// # Errors
    /// It could not be repaired; it is as it came.
    fn repair(&mut self, mode: Mode) -> Result<Corrections, BadFlit>;

    /// Why it could not be repaired.
    fn damage(&self, mode: Mode) -> Option<Violation>;

    /// Whether the CRC of the even half fits.
    fn even_half_fits(&self, mode: Mode) -> bool;

    /// The first byte in which the even half differs from that of another flit.
    fn even_half_differs(&self, other: &Self) -> Option<EvenByte>;

    /// Whether it is the other flit bit for bit.
    fn is_copy_of(&self, other: &Self) -> bool;

    /// Shows it to the hooks of a point; `None`: it is gone.
    fn shown(self, hooks: &Hooks, point: HookPoint, way: Direction, mode: Mode) -> Option<Self>;

    /// All of its bytes, as a trace shows them.
    fn bytes(&self) -> &[u8];

    /// Puts it on the wire.
    fn on_wire(self, mode: Mode) -> Self::Unit;

    /// The flit of a unit on the wire.
    fn of_wire(unit: &Self::Unit) -> &Self;

    /// Takes it off the wire.
    fn off_wire(unit: &mut Self::Unit) -> Self;

    /// A unit of these bytes.
    ///
    /// # Errors
    /// The number of bytes is wrong, or flits of this form have none.
    fn unit(mode: Mode, bytes: &[u8]) -> Result<Self::Unit, FormError>;

    /// A reader of which nothing has been read, for a direction.
    fn reader(mode: Mode, dir: Dir) -> Self::Reader;

    /// Data slots that a reader still waits for.
    fn owed_slots(reader: &Self::Reader) -> usize;

    /// Messages that the last flit completed, in order.
    fn delivered(reader: &Self::Reader) -> &[Cxl256Message];

    /// Messages that the even half completes by itself.
    fn early(&self, reader: &Self::Reader) -> Vec<Cxl256Message>;

    /// The flit that tells viral in front of one that was about to go.
    fn viral_before(cachemem: &mut Cachemem<Self>, leaving: Option<&Self>, viral: u128) -> Urgent<Self>;

    /// CXL.cachemem takes the flit.
    fn taken_by(&self, cachemem: &mut Cachemem<Self>);
}

/// A byte of an even half: where, what was used, and what is there now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvenByte {
    /// Byte of the flit.
    pub at: usize,
    /// As it is.
    pub found: u8,
    /// As it is in the other flit.
    pub expected: u8,
}

/// Where the DLLP field stands.
const fn dllp_bytes(mode: Mode) -> Range<usize> {
    if mode.is_lopt() { lopt_io::DLLP } else { standard_io::DLLP }
}

impl Flit256 for Cxl256Flit {
    type Unit = WireFlit;
    type Slots = Slots;
    type Reader = Unpacker;

    fn nop() -> Self {
        Cxl256Flit::ZERO
    }

    fn cachemem(mode: Mode, slots: Slots, crd: &Crd) -> Self {
        let mut flit = Cxl256Flit::ZERO;
        flit.put_header(&FlitHeader { flit_type: FlitType::Cachemem, ..FlitHeader::default() });
        slots.iter().enumerate().for_each(|(n, &slot)| flit.set_slot(mode, n, slot));
        let fits = flit.set_crd(crd);
        debug_assert!(fits.is_ok(), "codes of a table have five bits");
        flit
    }

    fn control(mode: Mode, slot: u128) -> Self {
        let mut slots = Slots::default();
        slots[0] = slot;
        Self::cachemem(mode, slots, &Crd::default())
    }

    fn kept(&self) -> Self {
        *self
    }

    #[inline]
    fn empty() -> Slots {
        Slots::default()
    }

    #[inline]
    fn unused(_: Slots) {}

    #[inline]
    fn done_with(self) {}

    #[inline]
    fn filled(_: &mut Slots) {}

    #[inline]
    fn header(&self) -> FlitHeader {
        Cxl256Flit::header(self)
    }

    fn put_header(&mut self, header: &FlitHeader) {
        let fits = self.set_header(header);
        debug_assert!(fits.is_ok(), "numbers are below 1024");
    }

    fn dllp(&self, mode: Mode) -> [u8; DLLP_BYTES] {
        let mut bytes = [0; DLLP_BYTES];
        bytes.copy_from_slice(&self.0[dllp_bytes(mode)]);
        bytes
    }

    fn put_dllp(&mut self, mode: Mode, bytes: [u8; DLLP_BYTES]) {
        self.0[dllp_bytes(mode)].copy_from_slice(&bytes);
    }

    fn seal(&mut self, mode: Mode) {
        Cxl256Flit::seal(self, mode);
    }

    fn spoil(&mut self, mode: Mode, halves: [bool; 2]) {
        spoil(self, mode, halves);
    }

    fn repair(&mut self, mode: Mode) -> Result<Corrections, BadFlit> {
        if self.is_clean(mode) {
            return Ok(Corrections::default());
        }
        match self.receive(mode) {
            Cxl256Received { flit, fec: Ok(repairs), crc_ok: true, .. } => {
                if !repairs.is_empty() {
                    *self = flit;
                }
                Ok(repairs)
            }
            _ => Err(BadFlit),
        }
    }

    fn damage(&self, mode: Mode) -> Option<Violation> {
        match self.receive(mode) {
            Cxl256Received { fec: Err(group), .. } => {
                let text = "the FEC cannot repair the flit; a replay brings it again";
                Some(finding("CXL256-FEC-02", group, "at most one wrong byte in each group", text))
            }
            Cxl256Received { crc_ok: false, .. } => {
                let rule = if mode.is_lopt() { "CXL256-CRC-04" } else { "CXL256-CRC-01" };
                let text = "the CRC does not fit behind the FEC; a replay brings the flit again";
                Some(finding(rule, "a wrong CRC", "the CRC of the bytes", text))
            }
            _ => None,
        }
    }

    fn even_half_fits(&self, mode: Mode) -> bool {
        crc_parts(mode)[0].fits(self)
    }

    fn even_half_differs(&self, other: &Self) -> Option<EvenByte> {
        let at = EVEN_BODY.into_iter().find(|&at| self.0[at] != other.0[at])?;
        Some(EvenByte { at, found: self.0[at], expected: other.0[at] })
    }

    fn is_copy_of(&self, other: &Self) -> bool {
        self == other
    }

    #[inline]
    fn shown(self, hooks: &Hooks, point: HookPoint, way: Direction, mode: Mode) -> Option<Self> {
        if hooks.watches(point, way) { watched(self, hooks, point, way, mode) } else { Some(self) }
    }

    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn on_wire(self, mode: Mode) -> WireFlit {
        WireFlit { mode, flit: self }
    }

    fn of_wire(unit: &WireFlit) -> &Self {
        &unit.flit
    }

    fn off_wire(unit: &mut WireFlit) -> Self {
        unit.flit
    }

    fn unit(mode: Mode, bytes: &[u8]) -> Result<WireFlit, FormError> {
        Ok(WireFlit { mode, flit: Cxl256Flit::from_bytes(bytes)? })
    }

    fn reader(mode: Mode, dir: Dir) -> Unpacker {
        Unpacker::new(mode, dir)
    }

    fn owed_slots(reader: &Unpacker) -> usize {
        reader.owed_slots()
    }

    fn delivered(reader: &Unpacker) -> &[Cxl256Message] {
        reader.delivered()
    }

    fn early(&self, reader: &Unpacker) -> Vec<Cxl256Message> {
        reader.early(self)
    }

    fn viral_before(cachemem: &mut Cachemem, leaving: Option<&Self>, viral: u128) -> Urgent {
        cachemem.viral_before(leaving, viral)
    }

    fn taken_by(&self, cachemem: &mut Cachemem) {
        cachemem.read(self);
    }
}

#[cold]
fn watched(mut flit: Cxl256Flit, hooks: &Hooks, point: HookPoint, way: Direction, mode: Mode) -> Option<Cxl256Flit> {
    (hooks.pass(point, way, mode.protocol(), &mut flit.0) == Passed::On).then_some(flit)
}

impl Flit256 for Content256 {
    type Unit = Content256;
    type Slots = SlotContent256;
    type Reader = ContentReader256;

    fn nop() -> Self {
        Content256::nop()
    }

    fn cachemem(_: Mode, slots: SlotContent256, crd: &Crd) -> Self {
        Content256::cachemem(Body256::Slots(slots), *crd)
    }

    fn control(_: Mode, slot: u128) -> Self {
        Content256::cachemem(Body256::Control(slot), Crd::default())
    }

    /// Its messages have moved to the peer, and nothing is ever asked for again.
    fn kept(&self) -> Self {
        Content256 { header: self.header, crd: self.crd, body: Body256::Nothing }
    }

    #[inline]
    fn empty() -> SlotContent256 {
        SlotContent256 { messages: SpareLists::take(), ..SlotContent256::default() }
    }

    #[inline]
    fn unused(slots: SlotContent256) {
        SpareLists::give(slots.messages);
    }

    #[inline]
    fn done_with(self) {
        if let Body256::Slots(slots) = self.body {
            SpareLists::give(slots.messages);
        }
    }

    /// A flit with data alone travels without memory.
    #[inline]
    fn filled(slots: &mut SlotContent256) {
        if slots.messages.is_empty() {
            SpareLists::give(std::mem::take(&mut slots.messages));
        }
    }

    #[inline]
    fn header(&self) -> FlitHeader {
        self.header
    }

    fn put_header(&mut self, header: &FlitHeader) {
        self.header = *header;
    }

    fn dllp(&self, _: Mode) -> [u8; DLLP_BYTES] {
        [0; DLLP_BYTES]
    }

    /// CXL.cachemem alone stands above such a link, and it has none.
    fn put_dllp(&mut self, _: Mode, _: [u8; DLLP_BYTES]) {}

    fn seal(&mut self, _: Mode) {}

    fn spoil(&mut self, _: Mode, _: [bool; 2]) {}

    #[inline]
    fn repair(&mut self, _: Mode) -> Result<Corrections, BadFlit> {
        Ok(Corrections::default())
    }

    fn damage(&self, _: Mode) -> Option<Violation> {
        None
    }

    fn even_half_fits(&self, _: Mode) -> bool {
        true
    }

    fn even_half_differs(&self, _: &Self) -> Option<EvenByte> {
        None
    }

    /// Two flits in a row that state no number stand in a Nak alone, and nothing makes one necessary.
    fn is_copy_of(&self, _: &Self) -> bool {
        false
    }

    fn shown(self, _: &Hooks, _: HookPoint, _: Direction, _: Mode) -> Option<Self> {
        Some(self)
    }

    fn bytes(&self) -> &[u8] {
        &[]
    }

    fn on_wire(self, _: Mode) -> Content256 {
        self
    }

    fn of_wire(unit: &Content256) -> &Self {
        unit
    }

    fn off_wire(unit: &mut Content256) -> Self {
        std::mem::replace(unit, Content256::nop())
    }

    fn unit(mode: Mode, bytes: &[u8]) -> Result<Content256, FormError> {
        let found = format!("{} bytes", bytes.len());
        Err(FormError::new(mode.protocol(), found, "a flit without bytes, as this link sends"))
    }

    fn reader(mode: Mode, _: Dir) -> ContentReader256 {
        ContentReader256::new(mode)
    }

    fn owed_slots(reader: &ContentReader256) -> usize {
        reader.owed_slots()
    }

    fn delivered(reader: &ContentReader256) -> &[Cxl256Message] {
        reader.delivered()
    }

    fn early(&self, reader: &ContentReader256) -> Vec<Cxl256Message> {
        reader.early(self)
    }

    /// Never asked for: no caller can tell it viral.
    fn viral_before(cachemem: &mut Cachemem<Content256>, leaving: Option<&Self>, viral: u128) -> Urgent<Self> {
        let mode = cachemem.config().mode;
        Urgent { flit: Flit256::control(mode, viral), follows: leaving.cloned() }
    }

    fn taken_by(&self, cachemem: &mut Cachemem<Content256>) {
        cachemem.read_content(self);
    }
}

impl WireUnit for Content256 {
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
