//! Flits by hand: messages at chosen places, their data behind them.

use crate::legal::{self, random_bits};
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Revision;
use scalepool_protocols::cxl::cxl68::control::Control;
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::slot::{self, SlotFormat};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::Wire;
use std::collections::VecDeque;

/// One message at its place.
#[derive(Debug, Clone, Copy)]
pub struct Put {
    /// Slot, 0 to 3.
    pub slot: usize,
    /// Format of the slot.
    pub format: &'static SlotFormat,
    /// Place in the format.
    pub place: usize,
    /// The message.
    pub bits: u128,
}

impl Put {
    /// Class of the place.
    pub fn class(&self) -> Class {
        self.format.places()[self.place].class
    }
}

/// A legal random message at each place of a format that holds one of the classes.
pub fn fill(slot: usize, format: &'static SlotFormat, classes: &[Class], rng: &mut Rng) -> Vec<Put> {
    let places = format.places().iter().enumerate().filter(|(_, p)| classes.contains(&p.class));
    places.map(|(place, p)| Put { slot, format, place, bits: legal::random(p.class.def(), rng) }).collect()
}

/// The format of a name (`H0` to `H6` for slot 0, `G0` to `G6` for the others).
pub fn format(dir: Dir, name: &str) -> &'static SlotFormat {
    let found = slot::all_formats().find(|f| f.dir == dir && f.name == name);
    found.unwrap_or_else(|| unreachable!("the callers name rows of the format table"))
}

/// A message at the first place of a slot that takes its class, MDH formats left out.
pub fn put_at(slot: usize, class: Class, bits: u128) -> Option<Put> {
    let formats = slot::formats(Revision::V2_0, class.dir(), slot).iter().filter(|f| !f.mdh);
    let mut places = formats.filter_map(|f| Some((f, f.places().iter().position(|p| p.class == class)?)));
    places.next().map(|(format, place)| Put { slot, format, place, bits })
}

/// A message in slot 0, or in slot 1 where no format of slot 0 takes its class.
pub fn put(class: Class, bits: u128) -> Put {
    let found = put_at(0, class, bits).or_else(|| put_at(1, class, bits));
    found.unwrap_or_else(|| unreachable!("every class has a place in slot 0 or 1"))
}

/// A data header in slot 3: its chunks begin with the flit behind.
pub fn put_last(class: Class, bits: u128) -> Put {
    put_at(3, class, bits).unwrap_or_else(|| unreachable!("every class with data has a place in a generic slot"))
}

/// Flits that carry the messages in one flit and all their data: owed chunks take the slots behind their header, then
/// all-data flits, then slots 1 to 3 of a last flit. `sz` and `be` stand in the header that opens the data.
pub fn flits(dir: Dir, puts: &[Put], sz: bool, be: bool, rng: &mut Rng) -> Vec<Cxl68Unit> {
    debug_assert!(puts.iter().all(|p| p.class().dir() == dir));
    let mut header = FlitHeader { sz, be, ..FlitHeader::from_bits(0) };
    let mut slots = [0; 4];
    let mut owed = VecDeque::new();
    for (n, slot) in slots.iter_mut().enumerate() {
        if n > 0
            && let Some(chunk) = owed.pop_front()
        {
            *slot = chunk;
            continue;
        }
        for p in puts.iter().filter(|p| p.slot == n) {
            header.set_slot(n, p.format.code);
            *slot = p.format.places()[p.place].insert(*slot, p.bits);
            if p.class().has_data() {
                owed.extend((0..if sz { 4 } else { 2 }).map(|_| random_bits(rng, 128)));
                owed.extend(be.then(|| random_bits(rng, 64)));
            }
        }
    }
    let mut units = vec![protocol(&header, slots)];
    units.extend(data_flits(owed));
    units
}

/// Flits that carry chunks alone.
pub fn data_flits(chunks: impl IntoIterator<Item = u128>) -> Vec<Cxl68Unit> {
    let mut chunks: VecDeque<u128> = chunks.into_iter().collect();
    let mut units = Vec::new();
    while chunks.len() > 3 {
        let slots = std::array::from_fn(|_| chunks.pop_front().unwrap_or(0));
        units.push(Cxl68Unit::from_slots(pid::CACHEMEM, &slots));
    }
    if !chunks.is_empty() {
        let mut next = || chunks.pop_front().unwrap_or(0);
        units.push(protocol(&FlitHeader::from_bits(0), [0, next(), next(), next()]));
    }
    units
}

/// A protocol flit; bits 31:0 of slot 0 are taken from the header.
pub fn protocol(header: &FlitHeader, mut slots: [u128; 4]) -> Cxl68Unit {
    let bits = header.to_bits().unwrap_or_else(|_| unreachable!("the fields of a header come from its codes"));
    slots[0] = slots[0] & !0xffff_ffff | bits;
    Cxl68Unit::from_slots(pid::CACHEMEM, &slots)
}

/// The flit with another header and a CRC that fits.
pub fn reheaded(unit: &Cxl68Unit, change: impl FnOnce(&mut FlitHeader)) -> Cxl68Unit {
    let slots = std::array::from_fn(|n| unit.slot(n));
    let mut header = FlitHeader::from_bits(slots[0] & 0xffff_ffff);
    change(&mut header);
    protocol(&header, slots)
}

/// A control flit.
pub fn control(control: &Control) -> Cxl68Unit {
    let slot = control.to_slot().unwrap_or_else(|_| unreachable!("the fields of a control flit come from its layout"));
    Cxl68Unit::from_slots(pid::CACHEMEM, &[slot, 0, 0, 0])
}

/// The flit with one bit of its 68 bytes inverted and everything else, CRC included, as it was.
pub fn flipped(unit: &Cxl68Unit, bit: usize) -> Cxl68Unit {
    let mut bytes = unit.0;
    bytes[bit / 8] ^= 1 << (bit % 8);
    Cxl68Unit(bytes)
}
