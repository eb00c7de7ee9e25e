//! Judging a decoded unit: which rules its sender broke.
//!
//! Modelled: every rule that shows in one unit and the rollover before it. Left out: rules over time (credits, retry,
//! initialisation), see `scalepool::link`. Bits that a receiver must ignore (reserved bits of headers and control flits,
//! pad bits, stray bits of empty slots) are no finding; reserved bits of a valid message are.

use super::Dir;
use super::code::VlsmState;
use super::config::Cxl68Config;
use super::content::{ContentSlots, Placed68};
use super::control::{Almp, Control};
use super::header::FlitHeader;
use super::message::Class;
use super::pid;
use super::slot::{self, SlotFormat};
use super::stream::{Cxl68DecodedUnit, Cxl68SlotRole, Cxl68UnitKind};
use super::unit::{Cxl68Unit, map};
use crate::cxl::message::Message;
use crate::wire::{Violation, Wire};

pub use crate::wire::Findings;

/// Byte of the unit in which the format code of a slot begins (`cxl-68b` §1.5).
const CODE_BYTE: [usize; 4] = [2, 3, 3, 3];

/// Judges a unit.
pub fn unit(decoded: &Cxl68DecodedUnit, config: &Cxl68Config) -> Findings {
    let mut found = Findings::default();
    judge(decoded, config, &mut found);
    if let Cxl68UnitKind::Protocol(_) = decoded.kind
        && decoded.crc_ok != Some(false)
    {
        tight(decoded, &mut found);
    }
    found
}

/// The rules that a unit breaks, without lints: what a receiver asks of every unit.
///
/// A flit that breaks nothing is known by counts and masks alone; the walk that names what is broken follows when they show
/// something. A flit of a full stream takes 290 instructions, and 375 with the walk (callgrind).
pub fn violations(decoded: &Cxl68DecodedUnit, config: &Cxl68Config) -> Vec<Violation> {
    if is_sound(decoded, config) {
        return Vec::new();
    }
    let mut found = Findings::default();
    judge(decoded, config, &mut found);
    found.violations
}

/// [`violations`] of a protocol flit without bytes; `chunk_slots`: slots that hold owed chunks, bit n for slot n.
///
/// What is broken is named by the same walk, over slots that are spelled for it.
#[inline]
pub fn content(
    flit: (Dir, &FlitHeader, &ContentSlots),
    chunk_slots: u8,
    rollover_after: usize,
    config: &Cxl68Config,
) -> Vec<Violation> {
    if content_breaks_nothing(flit, rollover_after, config) {
        return Vec::new();
    }
    broken_content(flit, chunk_slots, rollover_after, config)
}

/// Whether [`content`] finds nothing: a receiver then needs no list of what it finds.
#[inline]
pub fn content_breaks_nothing(
    flit: (Dir, &FlitHeader, &ContentSlots),
    rollover_after: usize,
    config: &Cxl68Config,
) -> bool {
    rollover_after <= MAX_ROLLOVER && content_is_sound(flit, config)
}

#[cold]
fn broken_content(
    (dir, header, messages): (Dir, &FlitHeader, &ContentSlots),
    chunk_slots: u8,
    rollover_after: usize,
    config: &Cxl68Config,
) -> Vec<Violation> {
    let mut slots = [header.to_bits().unwrap_or(0), 0, 0, 0];
    for Placed68 { slot, place, message } in messages.iter() {
        let slot = &mut slots[usize::from(*slot)];
        *slot = place.insert(*slot, bits_of(message));
    }
    let roles = core::array::from_fn(|n| match slot::format(config.revision, dir, n, header.slot(n)) {
        _ if chunk_slots >> n & 1 == 1 => Cxl68SlotRole::Data,
        Some(format) => Cxl68SlotRole::Format(format),
        None => Cxl68SlotRole::Reserved(header.slot(n)),
    });
    let decoded = Cxl68DecodedUnit {
        unit: Cxl68Unit::from_slots(pid::CACHEMEM, &slots),
        pid: pid::receive(pid::CACHEMEM, pid::Enabled::ALL),
        kind: Cxl68UnitKind::Protocol(*header),
        roles,
        rollover_after,
        crc_ok: Some(true),
        ..Cxl68DecodedUnit::nothing(dir)
    };
    violations(&decoded, config)
}

/// Bits of a message that flits without bytes carry, so that they can be spelled.
fn bits_of(message: &Message) -> u128 {
    message.to_cxl68().map_or(1, |spelled| spelled.bits)
}

/// Whether a message without reserved bits breaks no rule by itself.
#[inline]
fn message_is_sound(class: Class, message: &Message) -> bool {
    let def = class.def();
    message.is_named_in_cxl68() && (def.cross_check.is_none() || def.codes_are_sound(bits_of(message)))
}

/// [`is_sound`] of a flit whose messages are known.
#[inline(always)]
fn content_is_sound((dir, header, messages): (Dir, &FlitHeader, &ContentSlots), config: &Cxl68Config) -> bool {
    // Most flits have one message: it stands before no other one, and no class has more than it may.
    match &messages[..] {
        [] => true,
        [Placed68 { slot, place, message }] => {
            slot::format(config.revision, dir, usize::from(*slot), header.slot(usize::from(*slot)))
                .is_some_and(|format| !format.mdh)
                && PerClass::one_fits(place.class, header)
                && message_is_sound(place.class, message)
        }
        _ => several_are_sound((dir, header, messages), config),
    }
}

/// [`content_is_sound`] of a flit with any number of messages.
fn several_are_sound((dir, header, messages): (Dir, &FlitHeader, &ContentSlots), config: &Cxl68Config) -> bool {
    let (mut all, mut here, mut with_data) = (PerClass::default(), PerClass::default(), false);
    let mut messages = messages.iter().peekable();
    while let Some(Placed68 { slot, place, message }) = messages.next() {
        if !message_is_sound(place.class, message) {
            return false;
        }
        here.0 += PerClass::ONE[place.class.index()];
        if messages.peek().is_some_and(|next| next.slot == *slot) {
            continue;
        }
        let n = usize::from(*slot);
        let Some(format) = slot::format(config.revision, dir, n, header.slot(n)) else { return false };
        if !may_stand(&here, format, header, with_data, config) {
            return false;
        }
        with_data |= here.data_headers() > 0;
        all.0 += std::mem::take(&mut here).0 & PerClass::NUMBERS;
    }
    all.fit(header)
}

/// Whether data headers may stand in a slot, behind those of the slots before.
#[inline]
fn may_stand(here: &PerClass, format: &SlotFormat, header: &FlitHeader, with_data: bool, config: &Cxl68Config) -> bool {
    match here.data_headers() {
        0 => !format.mdh,
        _ if with_data => false,
        1 => !format.mdh,
        _ => format.mdh && config.mdh && header.sz && !header.be,
    }
}

/// Whether a flit with slots, or one of data alone, breaks no rule. A unit of another kind is left to the walk.
fn is_sound(decoded: &Cxl68DecodedUnit, config: &Cxl68Config) -> bool {
    if decoded.pid.log.is_some() || decoded.crc_ok == Some(false) {
        return false;
    }
    let header = match &decoded.kind {
        Cxl68UnitKind::AllData => return true,
        Cxl68UnitKind::Protocol(header) => header,
        _ => return false,
    };
    let codes = [0, 1, 2, 3].map(|n| header.slot(n));
    let (mut all, mut with_data) = (PerClass::default(), false);
    for ((n, role), code) in decoded.roles.iter().enumerate().zip(codes) {
        let format = match role {
            Cxl68SlotRole::Format(format) => format,
            Cxl68SlotRole::Data | Cxl68SlotRole::ByteEnables if code == 0 => continue,
            _ => return false,
        };
        let slot = decoded.unit.slot(n);
        if !format.any_valid(slot) {
            continue;
        }
        let Some(here) = sound_messages(format, slot) else { return false };
        if !may_stand(&here, format, header, with_data, config) {
            return false;
        }
        with_data |= here.data_headers() > 0;
        all.0 += here.0 & PerClass::NUMBERS;
    }
    all.fit(header) && decoded.rollover_after <= MAX_ROLLOVER
}

/// The messages of a slot, `None` if one of them breaks a rule by itself. A reserved bit of an empty place counts as one of a
/// message, so that one mask does for all places: the walk looks closer.
#[inline(never)]
fn sound_messages(format: &SlotFormat, slot: u128) -> Option<PerClass> {
    if slot & format.reserved_in_messages != 0 {
        return None;
    }
    let mut count = PerClass::default();
    for place in format.places() {
        if place.is_valid(slot) {
            if !place.class.def().codes_are_sound(place.extract(slot)) {
                return None;
            }
            count.0 += PerClass::ONE[place.class.index()];
        }
    }
    Some(count)
}

/// Messages of each class, six bits a class; a flit has at most 4 slots with 5 messages.
#[derive(Default)]
struct PerClass(u64);

impl PerClass {
    const BITS: usize = 6;
    /// Highest bit of a number; it stands above every limit.
    const GUARD: u64 = 1 << (PerClass::BITS - 1);
    /// Guards of all classes.
    const GUARDS: u64 = PerClass::limits().0;
    /// Most messages of each class below its guard: the guard goes when more are taken away.
    const MOST: u64 = PerClass::limits().1;
    /// Classes with data that have no transfers of 32 B.
    const WHOLE_LINES: u64 = PerClass::limits().2;
    /// Classes with data that have no byte enables.
    const ALL_BYTES: u64 = PerClass::limits().3;

    const fn limits() -> (u64, u64, u64, u64) {
        let (mut guards, mut most, mut whole_lines, mut all_bytes) = (0, 0, 0, 0);
        let mut n = 0;
        while n < Class::ALL.len() {
            let (class, at) = (Class::ALL[n], PerClass::BITS * n);
            let number = (2 * PerClass::GUARD - 1) << at;
            guards |= PerClass::GUARD << at;
            most |= (PerClass::GUARD | class.max_per_flit() as u64) << at;
            whole_lines |= if class.has_data() && !class.may_be_32_bytes() { number } else { 0 };
            all_bytes |= if class.has_data() && !class.may_have_byte_enables() { number } else { 0 };
            n += 1;
        }
        (guards, most, whole_lines, all_bytes)
    }

    /// The number of all classes with data stands above those of the classes.
    const DATA: usize = PerClass::BITS * Class::ALL.len();
    /// All numbers of classes.
    const NUMBERS: u64 = (1 << PerClass::DATA) - 1;
    /// A message of each class.
    const ONE: [u64; Class::ALL.len()] = {
        let mut one = [0; Class::ALL.len()];
        let mut n = 0;
        while n < one.len() {
            one[n] = 1 << (PerClass::BITS * n) | (Class::ALL[n].has_data() as u64) << PerClass::DATA;
            n += 1;
        }
        one
    };

    /// Data headers of one slot.
    fn data_headers(&self) -> u64 {
        self.0 >> PerClass::DATA
    }

    fn are_within_limits(&self) -> bool {
        (PerClass::MOST - self.0) & PerClass::GUARDS == PerClass::GUARDS
    }

    /// Whether the messages of a flit are no more than it may have, and their data as its header says.
    fn fit(&self, header: &FlitHeader) -> bool {
        self.are_within_limits()
            && (header.sz || !self.any_of(PerClass::WHOLE_LINES))
            && (!header.be || !self.any_of(PerClass::ALL_BYTES))
    }

    /// Whether one message may be all that a flit has, and its data is as its header says.
    #[inline]
    fn one_fits(class: Class, header: &FlitHeader) -> bool {
        let one = PerClass(PerClass::ONE[class.index()] & PerClass::NUMBERS);
        (header.sz || !one.any_of(PerClass::WHOLE_LINES)) && (!header.be || !one.any_of(PerClass::ALL_BYTES))
    }

    fn any_of(&self, classes: u64) -> bool {
        self.0 & classes != 0
    }
}

fn judge(decoded: &Cxl68DecodedUnit, config: &Cxl68Config, found: &mut Findings) {
    if let Some(log) = decoded.pid.log {
        let expected = if log.is_unexpected() { "the ID of an enabled protocol" } else { "two equal valid bytes" };
        found.broken(log.rule(), 0, format!("{:#06x}", decoded.unit.pid()), expected, log.text());
    }
    match &decoded.kind {
        Cxl68UnitKind::Dropped | Cxl68UnitKind::Io => (),
        Cxl68UnitKind::Null => null(decoded, found),
        Cxl68UnitKind::Almp => almp(decoded, found),
        _ if decoded.crc_ok == Some(false) => {
            let (crc, expected) = (decoded.unit.tail(), decoded.unit.expected_crc());
            let at = map::TAIL.start;
            found.broken(
                "CXL68-CRC-01",
                at,
                format!("{crc:#06x}"),
                format!("{expected:#06x}"),
                "the CRC does not match the bytes of the flit",
            );
        }
        Cxl68UnitKind::AllData => (),
        Cxl68UnitKind::Control(control) => self::control(decoded, control, found),
        Cxl68UnitKind::Protocol(header) => protocol(decoded, header, config, found),
    }
}

/// What a sender is about to do, judged against the chunks it owes; a receiver cannot see these breaks, because it
/// knows all-data flits by the count alone (`cxl-68b` §1.4, §5.2, §5.3).
pub fn intent(kind: &Cxl68UnitKind, rollover: usize) -> Option<Violation> {
    let owed = format!("{rollover} chunks owed");
    match kind {
        Cxl68UnitKind::AllData if rollover <= 3 => Some(Violation::at_byte(
            "CXL68-FLT-02",
            map::SLOT0.start,
            owed,
            "more than 3 chunks owed",
            "an all-data flit is sent that no receiver takes for one, because too few chunks are owed",
        )),
        Cxl68UnitKind::Protocol(_) if rollover > 3 => Some(Violation::at_byte(
            "CXL68-PCK-04",
            map::SLOT0.start,
            owed,
            "at most 3 chunks owed",
            "a protocol flit is sent where an all-data flit is due",
        )),
        Cxl68UnitKind::Control(_) if rollover > 3 => Some(Violation::at_byte(
            "CXL68-PCK-15",
            map::SLOT0.start,
            owed,
            "at most 3 chunks owed",
            "a control flit is sent inside a data run",
        )),
        _ => None,
    }
}

fn tail_is_zero(decoded: &Cxl68DecodedUnit, found: &mut Findings) {
    if decoded.unit.tail() != 0 {
        let at = map::TAIL.start;
        found.broken(
            "CXL68-FRM-02",
            at,
            format!("{:#06x}", decoded.unit.tail()),
            0,
            "the last two bytes of an ALMP or NULL unit are not 0",
        );
    }
}

fn null(decoded: &Cxl68DecodedUnit, found: &mut Findings) {
    tail_is_zero(decoded, found);
    if let Some(at) = decoded.unit.payload().iter().position(|&b| b != 0) {
        let byte = decoded.unit.payload()[at];
        found.broken(
            "CXL68-NUL-01",
            map::SLOT0.start + at,
            format!("{byte:#04x}"),
            0,
            "the payload of a NULL unit is not 0",
        );
    }
}

fn almp(decoded: &Cxl68DecodedUnit, found: &mut Findings) {
    tail_is_zero(decoded, found);
    let payload = decoded.unit.payload();
    let word = |n: usize| u32::from_le_bytes(payload[4 * n..4 * n + 4].try_into().expect("4 bytes"));
    for n in 1..4 {
        if word(n) != word(0) {
            let (a, b) = (format!("{:#010x}", word(n)), format!("{:#010x}", word(0)));
            found.broken("CXL68-ALM-01", map::SLOT0.start + 4 * n, a, b, "the four copies of an ALMP differ");
        }
    }
    if let Some(at) = payload[16..].iter().position(|&b| b != 0) {
        let at = 16 + at;
        let byte = format!("{:#04x}", payload[at]);
        found.broken(
            "CXL68-ALM-01",
            map::SLOT0.start + at,
            byte,
            0,
            "a byte behind the four copies of an ALMP is not 0",
        );
    }
    let bits = u128::from(word(0));
    let almp = Almp::from_bits(bits);
    let mut in_word = Vec::new();
    Almp::DEF.check(bits, &mut in_word);
    found.violations.extend(in_word.into_iter().map(|v| v.in_unit(|bit| map::SLOT0.start + bit as usize / 8)));
    if almp.code != 8 {
        found.broken(
            "CXL68-ALM-02",
            map::SLOT0.start + 1,
            format!("{:#04x}", almp.code),
            "0x08",
            "the ALMP has an unknown message code",
        );
    }
    let misused = match almp.state {
        VlsmState::Dapm => (!almp.request).then_some("Request"),
        VlsmState::Reset | VlsmState::Retrain => almp.request.then_some("Status"),
        _ => None,
    };
    if let Some(expected) = misused {
        let is = if almp.request { "Request" } else { "Status" };
        let text = format!("the vLSM state {:?} does not travel in a {is}", almp.state);
        found.broken("CXL68-ALM-02", map::SLOT0.start + 2, is, expected, text);
    }
}

fn control(decoded: &Cxl68DecodedUnit, control: &Control, found: &mut Findings) {
    let slot = decoded.unit.slot(0);
    if let Control::Reserved(slot) = control {
        let code = format!("LLCTRL {:#x}, SubType {:#x}", slot >> 32 & 0xf, slot >> 36 & 0xf);
        found.broken(
            "CXL68-CTL-02",
            map::SLOT0.start + 4,
            code,
            "a pair of the table",
            "the control flit is of a reserved kind",
        );
    } else if !Control::static_bits_ok(slot) {
        let (ctl_fmt, static_bits) = (slot >> 5 & 7, slot >> 40 & 0xff_ffff);
        let ide = matches!(control, Control::IdeIdle(_) | Control::IdeStart(_) | Control::IdeTmac(_));
        let (is, expected, text) = if ide || static_bits == 0 {
            let text = "the CTL_FMT field does not have the code of this kind of control flit";
            (format!("CTL_FMT {ctl_fmt:#x}"), format!("CTL_FMT {:#x}", u8::from(ide)), text)
        } else {
            let text = "bits 63:40 of this control flit must be 0";
            (format!("{static_bits:#x}"), "0".into(), text)
        };
        found.broken("CXL68-CTL-05", map::SLOT0.start, is, expected, text);
    }
}

fn protocol(decoded: &Cxl68DecodedUnit, header: &FlitHeader, config: &Cxl68Config, found: &mut Findings) {
    let mut count = [0u8; 10];
    let mut data_headers = 0;
    for (n, role) in decoded.roles.iter().enumerate() {
        let code = header.slot(n);
        match role {
            Cxl68SlotRole::Reserved(code) => {
                found.broken(
                    "CXL68-SLT-01",
                    CODE_BYTE[n],
                    format!("{code:#x}"),
                    "a code of the table",
                    "the slot has a reserved format code",
                );
            }
            Cxl68SlotRole::Data | Cxl68SlotRole::ByteEnables if code != 0 => {
                found.broken(
                    "CXL68-PCK-06",
                    CODE_BYTE[n],
                    format!("{code:#x}"),
                    "G0",
                    "the slot names a message format although it holds owed data",
                );
            }
            Cxl68SlotRole::Format(format) => {
                self::slot(decoded, n, format, header, config, &mut count, &mut data_headers, found);
            }
            _ => (),
        }
    }
    if decoded.rollover_after > MAX_ROLLOVER {
        found.broken(
            "CXL68-PCK-08",
            map::SLOT0.start,
            format!("{} chunks owed", decoded.rollover_after),
            format!("at most {MAX_ROLLOVER}"),
            "so many chunks are owed that a fifth all-data flit would follow",
        );
    }
}

/// Chunks owed after which four all-data flits are followed by three data slots: more makes a fifth (`cxl-68b` §5.2).
const MAX_ROLLOVER: usize = 19;

#[allow(clippy::too_many_arguments)]
fn slot(
    decoded: &Cxl68DecodedUnit,
    n: usize,
    format: &'static SlotFormat,
    header: &FlitHeader,
    config: &Cxl68Config,
    count: &mut [u8; 10],
    data_headers: &mut usize,
    found: &mut Findings,
) {
    let slot = decoded.unit.slot(n);
    if !format.any_valid(slot) {
        return;
    }
    let slot_byte = Cxl68Unit::slot_byte(n);
    let mut in_slot = 0;
    for place in format.places().iter().filter(|p| p.is_valid(slot)) {
        let class = place.class;
        let at = slot_byte + place.lsb as usize / 8;
        let before = found.violations.len();
        class.def().check(place.extract(slot), &mut found.violations);
        found.place(before, |bit| slot_byte + (u32::from(place.lsb) + bit) as usize / 8);
        let seen = &mut count[class.index()];
        *seen += 1;
        if *seen > class.max_per_flit() {
            let rule = if decoded.dir == Dir::Up { "CXL68-PCK-01" } else { "CXL68-PCK-02" };
            let text = format!("{}: the flit holds too many of these messages", class.def().name);
            found.broken(rule, at, *seen, format!("at most {}", class.max_per_flit()), text);
        }
        if !class.has_data() {
            continue;
        }
        in_slot += 1;
        if !header.sz && !class.may_be_32_bytes() {
            let text = format!("{}: a 32 B transfer is not legal for this message", class.def().name);
            found.broken("CXL68-HDR-03", map::SLOT0.start, "Sz = 0", "Sz = 1", text);
        }
        if header.be && !class.may_have_byte_enables() {
            let text = format!("{}: byte enables are not legal for this message", class.def().name);
            found.broken("CXL68-HDR-04", map::SLOT0.start, "BE = 1", "BE = 0", text);
        }
        if *data_headers > 0 || in_slot > 1 && !format.mdh {
            found.broken(
                "CXL68-PCK-12",
                at,
                "a second one",
                "one per flit",
                "the flit holds several data headers that do not share one MDH slot",
            );
        }
    }
    *data_headers += in_slot;
    if format.mdh {
        if !config.mdh {
            found.broken(
                "CXL68-PCK-14",
                slot_byte,
                format.name,
                "a format with one data header",
                "the slot holds multiple data headers although MDH is disabled",
            );
        }
        if in_slot < 2 {
            found.broken(
                "CXL68-PCK-13",
                slot_byte,
                in_slot,
                "at least 2 data headers",
                "the MDH slot holds fewer than two data headers",
            );
        } else if !header.sz || header.be {
            let is = format!("Sz = {}, BE = {}", u8::from(header.sz), u8::from(header.be));
            found.broken(
                "CXL68-PCK-13",
                map::SLOT0.start,
                is,
                "Sz = 1, BE = 0",
                "the data headers of an MDH slot announce 32 B or byte enables",
            );
        }
    }
}

/// PCK-10, a lint: a message stands behind an earlier place that could have held it.
fn tight(decoded: &Cxl68DecodedUnit, found: &mut Findings) {
    let mut empty_slot = None;
    for (n, role) in decoded.roles.iter().enumerate() {
        let Cxl68SlotRole::Format(format) = role else { continue };
        let slot = decoded.unit.slot(n);
        let mut free = [false; Class::ALL.len()];
        let mut used = false;
        for place in format.places() {
            if !place.is_valid(slot) {
                free[place.class.index()] = true;
            } else {
                used = true;
                if free[place.class.index()] {
                    let text =
                        format!("{}: the message stands behind a free place of slot {n}", place.class.def().name);
                    let at = Cxl68Unit::slot_byte(n) + place.lsb as usize / 8;
                    found.lint("CXL68-PCK-10", at, "a gap", "the first free place", text);
                }
            }
        }
        match (used, empty_slot) {
            (true, Some(earlier)) => {
                let text = format!("slot {n} holds messages although slot {earlier} is empty");
                found.lint("CXL68-PCK-10", Cxl68Unit::slot_byte(n), "a gap", "the first free slot", text);
            }
            // Slot 0 holds no data, and a generic slot may be empty because it could not hold what comes behind.
            (false, None) if format.name == "G0" => empty_slot = Some(n),
            _ => (),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::Revision;
    use super::super::pid::{self, Enabled};
    use super::super::slot;
    use super::super::stream::Unpacker;
    use super::*;

    /// A linear congruential sequence (the constants are Knuth's).
    struct Numbers(u64);

    impl Numbers {
        fn next(&mut self) -> u128 {
            (0..4).fold(0, |bits, _| {
                self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                bits << 32 | u128::from(self.0 >> 32)
            })
        }

        fn below(&mut self, n: u128) -> u128 {
            self.next() % n
        }

        /// Legal for the most part.
        fn message(&mut self, class: Class) -> u128 {
            loop {
                let bits = self.next() | 1;
                let legal = bits & !class.def().reserved();
                match self.below(100) {
                    0 => return bits,
                    _ if class.def().codes_are_sound(legal) => return legal,
                    _ => (),
                }
            }
        }

        fn slot(&mut self, dir: Dir, n: usize, code: u8) -> u128 {
            let format = slot::format(Revision::V2_0, dir, n, code);
            let mut slot = 0;
            for place in format.map_or(&[][..], |format| format.places()) {
                if self.below(3) == 0 {
                    slot = place.insert(slot, self.message(place.class));
                }
            }
            // Now and then a bit outside of the messages, or one of an empty place.
            let first = if n == 0 { 32 } else { 0 };
            slot | u128::from(self.below(20) == 0) << (first + self.below(128 - first))
        }
    }

    /// What masks and counts let pass is what the walk finds nothing in.
    #[test]
    fn masks_and_walk_agree() {
        let mut numbers = Numbers(68);
        let (mut sound, mut broken) = (0, 0);
        for dir in Dir::ALL {
            let mut unpacker = Unpacker::new(dir, Revision::V2_0, Enabled::ALL);
            for _ in 0..20_000 {
                // No byte enables and whole lines for the most part, few codes above the tables.
                let (be, sz) = (numbers.below(8) == 0, numbers.below(8) != 0);
                let mut header = FlitHeader { be, sz, ..FlitHeader::default() };
                let mut slots = [0; 4];
                for (n, slot) in slots.iter_mut().enumerate() {
                    let codes = if numbers.below(30) == 0 { 8 } else { 7 };
                    let code = numbers.below(codes) as u8 * u8::from(numbers.below(3) > 0);
                    header.set_slot(n, code);
                    *slot = numbers.slot(dir, n, code);
                }
                slots[0] |= header.to_bits().expect("fields fit");
                let unit = Cxl68Unit::from_slots(pid::CACHEMEM, &slots);
                let config = Cxl68Config { mdh: numbers.below(4) != 0, ..Cxl68Config::default() };
                let decoded = unpacker.read(&unit);
                let found = super::unit(&decoded, &config).violations;
                assert_eq!(violations(&decoded, &config), found, "{unit:?}");
                let counter = if found.is_empty() { &mut sound } else { &mut broken };
                *counter += usize::from(matches!(decoded.kind, Cxl68UnitKind::Protocol(_)));
            }
        }
        assert!(sound > 1_000 && broken > 1_000, "{sound} and {broken}");
    }
}
