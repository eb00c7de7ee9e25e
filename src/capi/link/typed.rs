//! Link ends without JSON: messages as bits and bytes, events, state and figures of health as numbers and short texts.
//!
//! The classes of the SystemVerilog package `scalepool_pkg` stand on these calls. Each says the same as its neighbour with JSON.

use super::bits::MessageBits;
use super::{LINKS, LinkRole, SP_RX, SP_TX};
use crate::call::{Buffer, Caller, OutValue, Plain, call};
use crate::status::{Failure, SP_EMPTY, SP_ERR_INPUT, SP_OK};
use scalepool::forms::message::most_similar;
use scalepool::link::event::{Culprit, Severity};
use scalepool::link::health::{FIGURES, HealthValue};
use scalepool::link::hook::Direction;
use std::ffi::c_char;

/// The number that means no layout.
pub const SP_NO_LAYOUT: u32 = 0xffff;

/// The data of a message of cxl-68b is a line of 64 bytes.
pub const SP_WHOLE_LINE: u64 = 0;
/// The data of a message of cxl-68b is bytes 0 to 31 of its line.
pub const SP_LOWER_HALF: u64 = 1;
/// The data of a message of cxl-68b is bytes 32 to 63 of its line.
pub const SP_UPPER_HALF: u64 = 2;
/// A message of the 256B modes has metadata, which stands in bits 63:32 beside this bit.
pub const SP_METADATA: u64 = 4;

/// The watched end has broken a rule.
pub const SP_BY_END: u32 = 0;
/// The other end of the link has broken a rule.
pub const SP_BY_PEER: u32 = 1;
/// Nobody has broken a rule: a unit was damaged or lost on the wire.
pub const SP_BY_LINE: u32 = 2;

/// Severity of an event: the link has repaired the error.
pub const SP_CORRECTED: u32 = 0;
/// Severity of an event: a rule of the protocol is broken; the receiver goes on.
pub const SP_PROTOCOL: u32 = 1;
/// The link is trained again.
pub const SP_RETRAIN: u32 = 2;
/// The link stops.
pub const SP_UNCORRECTABLE: u32 = 3;
/// The peer has declared viral.
pub const SP_FATAL: u32 = 4;

/// The numbers of an event.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpEvent {
    /// Number of the unit in its direction, from 0.
    pub unit: u64,
    /// SP_RX or SP_TX.
    pub port: u32,
    /// SP_BY_END, SP_BY_PEER or SP_BY_LINE.
    pub by: u32,
    /// SP_CORRECTED, SP_PROTOCOL, SP_RETRAIN, SP_UNCORRECTABLE or SP_FATAL.
    pub severity: u32,
    /// Tag of the request that the event concerns, or -1.
    pub tag: i32,
}

// SAFETY: a 64-bit and four 32-bit integers, 24 bytes without padding.
unsafe impl Plain for SpEvent {}

/// State and counters of a link end.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpLinkStatus {
    /// Flit clocks that have passed.
    pub flit_clocks: u64,
    /// Units that were driven and have not arrived yet.
    pub driven: u64,
    /// Units that were sent and wait to be sampled.
    pub sent: u64,
    /// Events that wait to be taken.
    pub events: u64,
    /// Events that were lost because the queue was full.
    pub events_lost: u64,
    /// Messages that a passive end has seen and that wait to be taken.
    pub seen: u64,
    /// Messages that a passive end has seen and that were lost because the queue was full.
    pub seen_lost: u64,
    /// Units that were compared by sp_link_expect.
    pub compared: u64,
    /// Those of them that differed.
    pub mismatches: u64,
    /// 1 if the link of an active end is up; always 0 for a passive end.
    pub up: u32,
    /// 1 if an active end has nothing left to send, to be acknowledged or to be taken; always 0 for a passive end.
    pub quiet: u32,
    /// 1 if an active end requests link training.
    pub wants_training: u32,
    /// 1 if a rule has stopped the link.
    pub halted: u32,
}

// SAFETY: nine 64-bit and four 32-bit integers, 88 bytes without padding.
unsafe impl Plain for SpLinkStatus {}

/// Queues a message to be sent, as sp_link_send does, with its bits and bytes in place of JSON. `data` and `enables` may have
/// length 0: the message has none. `enables` has bit n for byte n of the data, low byte first. By protocol:
///
/// * CXL: `layout` is the number of the layout of a message (sp_layout_find) and `bits` its bytes, as sp_encode makes them. `data` is a
///   line of 64 bytes, `enables` has 8 bytes. `extra` is 0, SP_LOWER_HALF or SP_UPPER_HALF for 32 bytes of data of cxl-68b, or
///   SP_METADATA together with the metadata in bits 63:32 in the 256B modes.
/// * nvlink: `layout` is that of `nvlink.header`. `bits` has 16 bytes of that layout, then 16 bytes of `nvlink.ae`; of them count
///   op, vc, tag, rid, size, ep, atag, address, attr and route, since the link fills in the others. `data` has up to 256 bytes,
///   `enables` 16. `extra` is 0.
/// * ualink: `layout` is SP_NO_LAYOUT and `bits` has length 0. `data` is a TL flit of 64 bytes, lower half first; bit 0 or 1 of `extra` is
///   set if the lower or the upper half is a message. An end with `layer` = `tl` has requests and responses instead: `layout` is that
///   of `ualink.tl_req` or `ualink.tl_rsp` and `bits` its bytes, `data` has 64 bytes for each beat, `enables` 32 bytes for a block of
///   256, and bit n of `extra` says that beat n is poisoned: its bytes mean nothing.
/// * cxl-io: `layout` is SP_NO_LAYOUT, `bits` and `enables` have length 0, `extra` is 0, and `data` is a TLP of flit mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_link_send_bits(
    link: u64,
    layout: u32,
    bits: *const u8,
    bits_length: usize,
    data: *const u8,
    data_length: usize,
    enables: *const u8,
    enables_length: usize,
    extra: u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let message = MessageBits {
            layout,
            bits: caller.items("bits", bits, bits_length)?,
            data: caller.items("data", data, data_length)?,
            enables: caller.items("enables", enables, enables_length)?,
            extra,
        };
        LINKS.with(link, |link| {
            link.end()?;
            link.send(message.read(link.config.protocol)?).map(|()| SP_OK)
        })
    })
}

/// Takes the oldest message that has arrived and returns its credit to the peer, as sp_link_take does, with its bits and bytes in
/// place of JSON. They are those of sp_link_send_bits. Returns SP_EMPTY if none waits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_link_take_bits(
    link: u64,
    layout: *mut u32,
    bits: *mut u8,
    bits_capacity: usize,
    bits_length: *mut usize,
    data: *mut u8,
    data_capacity: usize,
    data_length: *mut usize,
    enables: *mut u8,
    enables_capacity: usize,
    enables_length: *mut usize,
    extra: *mut u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let place = BitsPlace {
            layout: caller.place("layout", layout)?,
            bits: caller.buffer("bits", bits, bits_capacity, bits_length)?,
            data: caller.buffer("data", data, data_capacity, data_length)?,
            enables: caller.buffer("enables", enables, enables_capacity, enables_length)?,
            extra: caller.place("extra", extra)?,
        };
        LINKS.with(link, |link| {
            place.fill(&MessageBits::of(link.next()?))?;
            link.taken().map(|()| SP_OK)
        })
    })
}

/// Where the parts of a message go.
pub(crate) struct BitsPlace {
    pub(crate) layout: OutValue<u32>,
    pub(crate) bits: Buffer<u8>,
    pub(crate) data: Buffer<u8>,
    pub(crate) enables: Buffer<u8>,
    pub(crate) extra: OutValue<u64>,
}

impl BitsPlace {
    /// Writes a message, or only its lengths if one of its parts has no room.
    pub(crate) fn fill(&self, message: &MessageBits) -> Result<(), Failure> {
        let parts = [(&self.bits, &message.bits), (&self.data, &message.data), (&self.enables, &message.enables)];
        // All lengths are written before one is too short.
        let fits: Vec<_> = parts.iter().map(|(buffer, bytes)| buffer.fits(bytes.len())).collect();
        fits.into_iter().collect::<Result<(), _>>()?;
        for (buffer, bytes) in parts {
            buffer.fill(bytes)?;
        }
        self.layout.set(message.layout);
        self.extra.set(message.extra);
        Ok(())
    }
}

/// Takes the oldest message that a passive end has seen, in either direction: `port` is SP_TX for what the watched end has sent and
/// SP_RX for what came to it, `unit` the number of the unit in which the message ends, in its direction from 0. A message that was
/// sent again is seen once. The other parts are those of sp_link_send_bits. Returns SP_EMPTY if none waits, or if the end was made
/// without `messages`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_link_seen_bits(
    link: u64,
    port: *mut u32,
    unit: *mut u64,
    layout: *mut u32,
    bits: *mut u8,
    bits_capacity: usize,
    bits_length: *mut usize,
    data: *mut u8,
    data_capacity: usize,
    data_length: *mut usize,
    enables: *mut u8,
    enables_capacity: usize,
    enables_length: *mut usize,
    extra: *mut u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let (port, unit) = (caller.place("port", port)?, caller.place("unit", unit)?);
        let place = BitsPlace {
            layout: caller.place("layout", layout)?,
            bits: caller.buffer("bits", bits, bits_capacity, bits_length)?,
            data: caller.buffer("data", data, data_capacity, data_length)?,
            enables: caller.buffer("enables", enables, enables_capacity, enables_length)?,
            extra: caller.place("extra", extra)?,
        };
        LINKS.with(link, |link| {
            let Some((way, number, message)) = link.seen.front() else {
                let why = if link.config.messages { "no message waits" } else { "it was made without `messages`" };
                return Err(Failure::new(SP_EMPTY, format!("link end: {why}")));
            };
            place.fill(&MessageBits::of(message))?;
            port.set(port_of(*way));
            unit.set(*number);
            link.seen.pop_front();
            Ok(SP_OK)
        })
    })
}

/// The number of a direction.
fn port_of(way: Direction) -> u32 {
    match way {
        Direction::Rx => SP_RX,
        Direction::Tx => SP_TX,
    }
}

/// Takes the oldest event, as sp_link_event does: its numbers, and the texts `rule`, `place` (where in the unit or message), `found`,
/// `expected` and `text` (one sentence on it). Returns SP_EMPTY if none waits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_link_event_fields(
    link: u64,
    event: *mut SpEvent,
    rule: *mut c_char,
    rule_capacity: usize,
    rule_length: *mut usize,
    place: *mut c_char,
    place_capacity: usize,
    place_length: *mut usize,
    found: *mut c_char,
    found_capacity: usize,
    found_length: *mut usize,
    expected: *mut c_char,
    expected_capacity: usize,
    expected_length: *mut usize,
    text: *mut c_char,
    text_capacity: usize,
    text_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let event = caller.place("event", event)?;
        let texts = [
            caller.buffer("rule", rule, rule_capacity, rule_length)?,
            caller.buffer("place", place, place_capacity, place_length)?,
            caller.buffer("found", found, found_capacity, found_length)?,
            caller.buffer("expected", expected, expected_capacity, expected_length)?,
            caller.buffer("text", text, text_capacity, text_length)?,
        ];
        LINKS.with(link, |link| {
            let oldest = link.events.front().ok_or_else(|| Failure::new(SP_EMPTY, "link end: no event waits"))?;
            let violation = &oldest.event.violation;
            let place = violation.at.to_string();
            let said = [violation.rule, &place, &violation.found, &violation.expected, &violation.text];
            // All lengths are written before one is too short.
            let fits: Vec<_> = texts.iter().zip(said).map(|(buffer, text)| buffer.fits_text(text)).collect();
            fits.into_iter().collect::<Result<(), _>>()?;
            for (buffer, text) in texts.iter().zip(said) {
                buffer.fill_text(text)?;
            }
            event.set(SpEvent {
                unit: oldest.event.unit,
                port: port_of(oldest.way),
                by: match oldest.event.culprit(oldest.way) {
                    Culprit::End => SP_BY_END,
                    Culprit::Peer => SP_BY_PEER,
                    Culprit::Line => SP_BY_LINE,
                },
                severity: match oldest.event.severity {
                    Severity::Corrected => SP_CORRECTED,
                    Severity::Protocol => SP_PROTOCOL,
                    Severity::Retrain => SP_RETRAIN,
                    Severity::Uncorrectable => SP_UNCORRECTABLE,
                    Severity::Fatal => SP_FATAL,
                },
                tag: oldest.tag.map_or(-1, i32::from),
            });
            link.events.pop_front();
            Ok(SP_OK)
        })
    })
}

/// Gives state and counters of a link end, as sp_link_state does. `rule` is the id of the rule that has stopped the link, or empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_link_state_fields(
    link: u64,
    state: *mut SpLinkStatus,
    rule: *mut c_char,
    rule_capacity: usize,
    rule_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let state = caller.place("state", state)?;
        let rule = caller.buffer("rule", rule, rule_capacity, rule_length)?;
        LINKS.with(link, |link| {
            let (halted, [up, quiet, wants_training]) = match &link.part {
                LinkRole::Active(end) => (end.halted(), [end.is_up(), end.is_quiet(), end.wants_training()]),
                LinkRole::Passive(watch) => (watch.halted(), [false; 3]),
                LinkRole::PassivePlain(_) => (None, [false; 3]),
            };
            rule.fill_text(halted.unwrap_or_default())?;
            state.set(SpLinkStatus {
                flit_clocks: link.now,
                driven: (link.driven[0].len() + link.driven[1].len()) as u64,
                sent: link.sent.len() as u64,
                events: link.events.len() as u64,
                events_lost: link.events_lost,
                seen: link.seen.len() as u64,
                seen_lost: link.seen_lost,
                compared: link.compared,
                mismatches: link.mismatches,
                up: up.into(),
                quiet: quiet.into(),
                wants_training: wants_training.into(),
                halted: halted.is_some().into(),
            });
            Ok(SP_OK)
        })
    })
}

/// Gives one figure of the health of a link end. `figure` is a name that `scalepool list health` prints, `part` the name of a channel
/// or of a state for those figures that have one number for each, else empty. `value` receives the number. `name` receives the name
/// of a state for figures that are names, for which `value` is 0. Returns SP_EMPTY if the end does not have this figure or this part.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_link_health(
    link: u64,
    figure: *const c_char,
    figure_length: usize,
    part: *const c_char,
    part_length: usize,
    value: *mut u64,
    name: *mut c_char,
    name_capacity: usize,
    name_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let (figure, part) = (caller.text("figure", figure, figure_length)?, caller.text("part", part, part_length)?);
        let value = caller.place("value", value)?;
        let name = caller.buffer("name", name, name_capacity, name_length)?;
        let known = FIGURES.iter().find(|known| known.name == figure).ok_or_else(|| {
            let near = most_similar(&figure, FIGURES.iter().map(|known| known.name)).join(", ");
            Failure::new(SP_ERR_INPUT, format!("figure: found `{figure}`, expected one of health, such as {near}"))
        })?;
        LINKS.with(link, |link| {
            let health = match &link.part {
                LinkRole::Active(end) => end.health(link.now),
                LinkRole::Passive(watch) => watch.health(),
                LinkRole::PassivePlain(watch) => watch.health(),
            };
            let none = || Failure::new(SP_EMPTY, format!("link end: it has no {figure} {part}").trim_end());
            let (number, text) = match health.of(known).ok_or_else(none)? {
                HealthValue::Number(number) if part.is_empty() => (*number, ""),
                HealthValue::Name(text) if part.is_empty() => (0, *text),
                HealthValue::Each(each) => {
                    (each.iter().find(|(of, _)| *of == part).map(|(_, number)| *number).ok_or_else(none)?, "")
                }
                _ => return Err(none()),
            };
            name.fill_text(text)?;
            value.set(number);
            Ok(SP_OK)
        })
    })
}
