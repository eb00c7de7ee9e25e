//! Judging a decoded flit: which rules its sender broke.
//!
//! Modelled: every rule that shows in one flit and the stream before it. Left out: rules over time (credits, the order of
//! sequence numbers, retry, initialisation), see `scalepool::link`. Bits that a receiver must ignore (CRD bit 15, unlisted credit
//! codes, slot bits behind the last message, stray bits of empty slots, unlisted control kinds) are no finding; reserved
//! bits of a valid message are.

use super::almp::{self, Almp, L0p};
use super::code::{self, FlitType, H2dRspOpcode, ReplayCommand, VlsmState};
use super::config::Cxl256Config;
use super::content::{Body256, Content256, ContentRead256, Placed256};
use super::control::{ControlKind, Poison};
use super::flit::{self, Cxl256Flit, Cxl256Received, SLOTS, body_byte, crc_parts, fec_bytes, slot_byte};
use super::header::MAX_SEQ;
use super::mode::Mode;
use super::per_class::PerClass;
use super::slot::{Cxl256SlotPlace, SlotFormat, SlotKind};
use super::stream::{ClassCounts, Cxl256DecodedFlit, Cxl256FlitKind, Cxl256Found, Cxl256SlotRole};
use super::{Class, Routing};
use crate::cxl::Dir;
use crate::cxl::cxlio::dllp::Dllp;
use crate::cxl::cxlio::{self, stream::FoundPiece};
pub use crate::wire::Findings;
use crate::wire::{At, LayoutDef, Violation, Wire};

/// Data slots that may remain when a data header stands in an H or HS slot (`cxl-256b` §5.3).
pub const MAX_OWED_IN_SHORT_SLOT: usize = 16;
/// Data slots that may be outstanding (`cxl-256b` §5.1).
pub const MAX_OWED: usize = 36;
/// Data messages that may be active in one flit (`cxl-256b` §5.3).
pub const MAX_ACTIVE: usize = 5;
/// Data messages that may be active in two flits on end (`cxl-256b` §5.3).
pub const MAX_ACTIVE_IN_TWO: usize = 8;
/// First slots of the groups A to D (`cxl-256b` §5.3).
const GROUPS: [core::ops::Range<usize>; 4] = [0..4, 4..8, 8..12, 12..15];
/// Slots of groups B and C that the halves of a latency-optimised flit both count.
const SHARED_LOPT_SLOT: usize = 7;

/// Judges a flit.
pub fn flit(decoded: &Cxl256DecodedFlit, config: &Cxl256Config) -> Findings {
    let mut found = Findings::default();
    if !receive(decoded, &mut found) {
        return found;
    }
    header(decoded, &mut found);
    match &decoded.kind {
        Cxl256FlitKind::Idle | Cxl256FlitKind::Empty => (),
        Cxl256FlitKind::Io(tlps) => io(decoded, tlps, &mut found),
        Cxl256FlitKind::Nop => nop(decoded, &mut found),
        Cxl256FlitKind::Almp => almp(decoded, &mut found),
        Cxl256FlitKind::Protocol | Cxl256FlitKind::Control => slots(decoded, config, &mut found),
    }
    found
}

/// The violations of [`fn@flit`] for a flit without bytes, as it was read.
///
/// A flit that breaks nothing is known by counts; what is broken is named by the same walk, over a flit that is spelled for it.
pub fn content(
    flit: &Content256,
    read: &ContentRead256,
    (mode, dir): (Mode, Dir),
    config: &Cxl256Config,
) -> Vec<Violation> {
    if content_is_sound(flit, read, (mode, dir), config) {
        return Vec::new();
    }
    self::flit(&spelled(flit, read, (mode, dir)), config).violations
}

/// Whether a flit without bytes breaks no rule for sure, before it is read: a packer with the choices of the receiver has filled
/// its slots, so their rules are kept, and of every message its codes are known and its reserved bits 0. A flit of `pbr-rack` takes
/// 240 instructions, as against 850 with all of its rules.
pub fn is_vouched_for(
    flit: &Content256,
    (mode, dir): (Mode, Dir),
    config: &Cxl256Config,
    known: &mut KnownCodes,
) -> bool {
    let Body256::Slots(slots) = &flit.body else { return false };
    let header = &flit.header;
    let routing = mode.routing();
    slots.packed_by.as_ref() == Some(config)
        && knows_codes(config)
        && !header.dllp_type
        && !header.names_zero()
        && !flit.crd.marks_empty()
        && slots.messages.iter().all(|Placed256 { message, .. }| {
            let def = message.class.def(routing);
            config.may_go(message.class, dir)
                && known.are_sound(message.class, def, message.bits)
                && def.is_consistent(message.bits)
        })
}

/// Of each class the reserved bits and codes that were found sound last: messages in a row mostly have the same.
#[derive(Debug, Clone, Copy, Default)]
pub struct KnownCodes([Option<u128>; Class::COUNT]);

impl KnownCodes {
    /// Whether a valid message of a class has no reserved bit and codes with names alone.
    #[inline]
    fn are_sound(&mut self, class: Class, def: &LayoutDef, bits: u128) -> bool {
        let judged = bits & def.judged_bits();
        let known = &mut self.0[class.index()];
        if *known == Some(judged) {
            return true;
        }
        let is_sound = bits & def.reserved() == 0 && def.codes_are_sound(bits);
        if is_sound {
            *known = Some(judged);
        }
        is_sound
    }
}

/// Whether a flit without bytes breaks no rule for sure. Control slots and configurations that judge codes otherwise are left
/// to the walk.
fn content_is_sound(flit: &Content256, read: &ContentRead256, (mode, dir): (Mode, Dir), config: &Cxl256Config) -> bool {
    let header = &flit.header;
    if header.dllp_type && header.flit_type != FlitType::Io || header.names_zero() {
        return false;
    }
    let slots = match &flit.body {
        Body256::Nothing => return true,
        Body256::Control(_) => return false,
        Body256::Slots(_) if read.is_empty => return true,
        Body256::Slots(slots) => slots,
    };
    if flit.crd.marks_empty() || read.active > MAX_ACTIVE || read.active_in_two > MAX_ACTIVE_IN_TWO {
        return false;
    }
    if slots.messages.is_empty() {
        return true;
    }
    let mut sums = PackingSums::default();
    for of_slot in slots.messages.chunk_by(|a, b| a.slot == b.slot) {
        let [first, ..] = of_slot else { continue };
        let n = usize::from(first.slot);
        let owed = [usize::from(read.owed_slots[n]), read.owed_slots.get(n + 1).copied().map_or(0, usize::from)];
        let messages = of_slot.iter().map(|placed| (placed.place, placed.message.class, placed.message.bits));
        if !sums.add((n, first.format), messages, owed, dir, config) {
            return false;
        }
    }
    knows_codes(config) && sums.may_stand(&read.last_group, mode)
}

/// The violations of [`fn@flit`] without its lints. A flit that breaks nothing, as nearly all do, is known by counts.
pub fn violations(decoded: &Cxl256DecodedFlit, config: &Cxl256Config) -> Vec<Violation> {
    if is_sound(decoded, config) { Vec::new() } else { flit(decoded, config).violations }
}

/// Whether a flit with messages breaks no rule for sure. All others are left to the walk.
fn is_sound(decoded: &Cxl256DecodedFlit, config: &Cxl256Config) -> bool {
    let received = &decoded.received;
    let came_well = received.fec.is_ok() && received.crc_ok && !received.suspect && decoded.is_good();
    if !came_well || decoded.kind != Cxl256FlitKind::Protocol || decoded.header.dllp_type || decoded.header.names_zero()
    {
        return false;
    }
    let is_crowded = decoded.active > MAX_ACTIVE || decoded.active_in_two > MAX_ACTIVE_IN_TWO;
    if is_crowded || decoded.flit().crd().marks_empty() {
        return false;
    }
    let (mut sums, mut rest) = (PackingSums::default(), &decoded.found[..]);
    for (n, role) in decoded.roles.iter().enumerate() {
        let format = match role {
            Cxl256SlotRole::Format(format) => *format,
            Cxl256SlotRole::Data | Cxl256SlotRole::Trailer => continue,
            _ => return false,
        };
        let count = rest.iter().take_while(|found| usize::from(found.slot) == n).count();
        let (of_slot, behind) = rest.split_at(count);
        rest = behind;
        if of_slot.is_empty() {
            if decoded.flit().slot(decoded.mode, n) == 0 && !format.has_data() {
                continue;
            }
            return false;
        }
        let owed = [decoded.owed_slots[n], decoded.owed_slots.get(n + 1).copied().unwrap_or(0)];
        let messages = of_slot.iter().map(|found| (found.place, found.class, found.bits));
        if !sums.add((n, format), messages, owed, decoded.dir, config) {
            return false;
        }
    }
    knows_codes(config) && sums.may_stand(&decoded.last_group, decoded.mode)
}

/// Whether the codes of the tables are those of a configuration.
fn knows_codes(config: &Cxl256Config) -> bool {
    config.withdrawn_codes && !config.fast_go
}

/// What the rules of packing ask of the slots before: messages by group, and free places.
struct PackingSums {
    in_group: [PerClass; GROUPS.len()],
    in_shared_slot: PerClass,
    /// Classes of the free places of the H or HS slot of a group.
    free: u16,
    free_in: usize,
}

impl Default for PackingSums {
    fn default() -> PackingSums {
        let none = PerClass::default();
        PackingSums { in_group: [none; GROUPS.len()], in_shared_slot: none, free: 0, free_in: GROUPS.len() }
    }
}

impl PackingSums {
    /// Adds the messages of slot `n`, each with its place and class; `false`: something may be broken. `owed` are the data slots
    /// owed before the slot and behind it.
    #[inline]
    fn add(
        &mut self,
        (n, format): (usize, &'static SlotFormat),
        messages: impl Iterator<Item = (u8, Class, u128)>,
        owed: [usize; 2],
        dir: Dir,
        config: &Cxl256Config,
    ) -> bool {
        let group = n / GROUPS[0].end;
        let (mut used, mut of_classes, mut count) = (0u8, PerClass::default(), 0);
        for (place, class, bits) in messages {
            let def = class.def(format.routing);
            let is_known = bits & def.reserved() == 0 && def.codes_are_sound(bits);
            if !is_known || !config.may_go(class, dir) || self.free_in == group && self.free >> class.index() & 1 == 1 {
                return false;
            }
            used |= 1 << place;
            count += 1;
            of_classes = of_classes.and(PerClass::one(class));
        }
        self.in_group[group] = self.in_group[group].and(of_classes);
        if n == SHARED_LOPT_SLOT {
            self.in_shared_slot = of_classes;
        }
        if format.kind != SlotKind::G {
            let places = format.places.iter().enumerate();
            self.free = places.filter(|(k, _)| used >> k & 1 == 0).fold(0, |free, (_, p)| free | 1 << p.class.index());
            self.free_in = group;
        }
        let is_crowded = format.kind != SlotKind::G && owed[0] > MAX_OWED_IN_SHORT_SLOT || owed[1] > MAX_OWED;
        !format.has_data() || used & 1 == 1 && (count == 1 || config.mdh) && !is_crowded
    }

    /// Whether no window of 128 bytes holds too many messages of a class.
    fn may_stand(&self, last_group: &ClassCounts, mode: Mode) -> bool {
        let [a, b, c, d] = self.in_group;
        let before = PerClass::of(last_group);
        let last = if mode.is_lopt() { self.in_shared_slot.and(c).and(d) } else { c.and(d) };
        [before.and(a), a.and(b), b.and(c), last].into_iter().all(PerClass::may_stand)
    }
}

/// The bytes of a flit as far as they are known, taken apart as it was read. Data is 0, and nothing asks for it.
fn spelled(flit: &Content256, read: &ContentRead256, (mode, dir): (Mode, Dir)) -> Cxl256DecodedFlit {
    let mut unit = Cxl256Flit::ZERO;
    let mut slots = [0; SLOTS];
    match &flit.body {
        Body256::Nothing => (),
        Body256::Control(slot) => slots[0] = *slot,
        Body256::Slots(content) => {
            for Placed256 { slot, place, format, message } in &content.messages {
                let slot = &mut slots[usize::from(*slot)];
                *slot = format.places[usize::from(*place)].insert(*slot | u128::from(format.code), message.bits);
            }
        }
    }
    slots.iter().enumerate().for_each(|(n, slot)| unit.set_slot(mode, n, *slot));
    let fits = unit.set_header(&flit.header).and(unit.set_crd(&flit.crd));
    debug_assert!(fits.is_ok(), "header and credits are of their widths");
    let is_control = matches!(flit.body, Body256::Control(_));
    let roles = core::array::from_fn(|n| match n {
        _ if matches!(flit.body, Body256::Nothing) || is_control && n > 0 => Cxl256SlotRole::Unused,
        _ if is_control => Cxl256SlotRole::Control(super::control::kind(slots[n])),
        _ if read.data >> n & 1 == 1 => Cxl256SlotRole::Data,
        _ if read.trailers >> n & 1 == 1 => Cxl256SlotRole::Trailer,
        _ => super::slot::format(mode, n, super::slot::code(slots[n]))
            .map_or(Cxl256SlotRole::Reserved, Cxl256SlotRole::Format),
    });
    Cxl256DecodedFlit {
        unit,
        received: Cxl256Received::good(unit),
        mode,
        dir,
        header: flit.header,
        kind: match flit.body {
            Body256::Nothing => Cxl256FlitKind::Nop,
            Body256::Control(_) => Cxl256FlitKind::Control,
            Body256::Slots(_) if read.is_empty => Cxl256FlitKind::Empty,
            Body256::Slots(_) => Cxl256FlitKind::Protocol,
        },
        roles,
        owed_slots: read.owed_slots.map(usize::from),
        open_messages: read.open_messages.map(usize::from),
        active: read.active,
        active_in_two: read.active_in_two,
        last_group: read.last_group,
        found: match &flit.body {
            Body256::Slots(content) => content.messages.iter().map(found).collect(),
            Body256::Control(_) | Body256::Nothing => Vec::new(),
        },
    }
}

/// A message as it is found in the bytes of its flit.
fn found(placed: &Placed256) -> Cxl256Found {
    let Placed256 { slot, place, message, .. } = placed;
    Cxl256Found { slot: *slot, place: *place, class: message.class, bits: message.bits }
}

/// FEC and CRC; `false` when nothing behind them counts.
fn receive(decoded: &Cxl256DecodedFlit, found: &mut Findings) -> bool {
    let received = &decoded.received;
    if let Err(e) = &received.fec {
        let at = fec_bytes(decoded.mode).start;
        found.broken("CXL256-FEC-02", at, e, "at most one wrong byte in each group", "the FEC cannot repair the flit");
    }
    let crcs = if received.crc_ok { &[] } else { crc_parts(decoded.mode) };
    for crc in crcs.iter().filter(|c| !c.fits(&received.flit)) {
        let digits = 2 + 2 * crc.bytes.len();
        let word = |value: u64| format!("{value:#0digits$x}");
        let (is, expected) = (word(crc.found(&received.flit)), word(crc.expected(&received.flit)));
        let text = if crc.half.is_empty() {
            "the CRC does not match the bytes of the flit".into()
        } else {
            format!("the CRC of the {} half does not match its bytes", crc.half)
        };
        found.broken(crc.rule, crc.bytes.start, is, expected, text);
    }
    if received.suspect {
        let at = flit::lopt::CRC_EVEN.start;
        let text = "the even half was good as received and is bad after the FEC repair";
        found.broken("CXL256-LOP-04", at, "a bad even half", "a good one", text);
    }
    decoded.is_good()
}

fn header(decoded: &Cxl256DecodedFlit, found: &mut Findings) {
    let header = &decoded.header;
    if header.dllp_type && header.flit_type != FlitType::Io {
        let text = "the DLLP type bit is set in a flit that is not CXL.io";
        found.broken("CXL256-HDR-03", 0, 1, 0, text);
    }
    if header.names_zero() {
        let text = match header.command {
            ReplayCommand::Explicit => "a payload flit has the reserved sequence number",
            _ => "a payload flit acknowledges or asks for the reserved number",
        };
        found.broken("CXL256-RTY-01", 1, 0, format!("1 to {MAX_SEQ}"), text);
    }
}

/// Names the first byte of the body from `from` on that is not 0.
fn zero(
    decoded: &Cxl256DecodedFlit,
    bytes: core::ops::Range<usize>,
    rule: &'static str,
    text: &str,
    found: &mut Findings,
) {
    let body: Vec<u8> = decoded.flit().body(decoded.mode).collect();
    if let Some(k) = bytes.into_iter().find(|&k| body[k] != 0) {
        found.broken(rule, body_byte(decoded.mode, k), format!("{:#04x}", body[k]), 0, text);
    }
}

/// TLPs and DLLP, judged by the rules of CXL.io.
fn io(decoded: &Cxl256DecodedFlit, tlps: &[FoundPiece], found: &mut Findings) {
    let body: Vec<u8> = decoded.flit().body(decoded.mode).collect();
    let Some((region, dllp)) = body.split_last_chunk() else { return };
    let mut broken = Vec::new();
    cxlio::stream::check(tlps, region, decoded.mode.routing() == Routing::Pbr, &mut broken);
    for violation in &mut broken {
        if let At::Byte(at) = violation.at {
            violation.at = At::Byte(body_byte(decoded.mode, at));
        }
    }
    found.violations.append(&mut broken);
    Dllp(*dllp).check(decoded.header.dllp_type, &mut broken);
    let byte_of = |bit: u32| body_byte(decoded.mode, body.len() - 1 - bit as usize / 8);
    found.violations.extend(broken.into_iter().map(|v| v.in_unit(byte_of)));
}

fn nop(decoded: &Cxl256DecodedFlit, found: &mut Findings) {
    let end = flit::body_bytes(decoded.mode) - flit::DLLP_BYTES;
    zero(decoded, 0..end, "CXL256-TYP-01", "a NOP flit holds something other than a DLLP", found);
}

fn almp(decoded: &Cxl256DecodedFlit, found: &mut Findings) {
    let start = flit::standard::HEADER.end;
    let end = flit::body_bytes(decoded.mode);
    zero(decoded, almp::ALMP_BYTES..end, "CXL256-ALM-01", "a byte behind the four bytes of an ALMP is not 0", found);
    let bytes = decoded.flit().0[start..].first_chunk().expect("the flit is longer");
    let word = u32::from_le_bytes(*bytes);
    let mut of_message = Vec::new();
    almp::def(word).check(word.into(), &mut of_message);
    found.violations.extend(of_message.into_iter().map(|v| v.in_unit(|bit| start + bit as usize / 8)));
    if almp::def(word).name == L0p::DEF.name {
        let l0p = L0p::from_bits(word.into());
        if l0p.instance_id != 4 {
            found.broken(
                "CXL256-ALM-02",
                start + 3,
                l0p.instance_id,
                4,
                "the L0p ALMP names a vLSM instead of the link",
            );
        }
        return;
    }
    let almp = Almp::from_bits(word.into());
    if almp.code != almp::VLSM_CODE {
        let (is, expected) = (format!("{:#04x}", almp.code), "0x08 or 0x01");
        found.broken("CXL256-ALM-01", start + 1, is, expected, "the ALMP has an unknown message code");
    }
    let misused = match almp.state {
        VlsmState::Dapm => (!almp.request).then_some("Request"),
        VlsmState::Reset | VlsmState::ActivePMNAK => almp.request.then_some("Status"),
        _ => None,
    };
    if let Some(expected) = misused {
        let is = if almp.request { "Request" } else { "Status" };
        let text = format!("the vLSM state {:?} does not travel in a {is}", almp.state);
        found.broken("CXL256-ALM-02", start + 2, is, expected, text);
    }
}

fn slots(decoded: &Cxl256DecodedFlit, config: &Cxl256Config, found: &mut Findings) {
    let mode = decoded.mode;
    let crd = decoded.flit().crd();
    if crd.marks_empty() {
        let at = flit::standard::CRD.start;
        found.broken(
            "CXL256-TYP-03",
            at,
            "credit code 01",
            "another code",
            "the credit field marks the flit as Empty although it has content",
        );
    }
    let mut counts = [ClassCounts::default(); SLOTS];
    for (n, counts) in counts.iter_mut().enumerate() {
        let bits = decoded.flit().slot(mode, n);
        let at = slot_byte(mode, n, 0);
        match decoded.roles[n] {
            Cxl256SlotRole::Format(format) => messages(decoded, n, format, bits, config, counts, found),
            Cxl256SlotRole::Control(kind) => control(decoded, n, kind, bits, found),
            Cxl256SlotRole::Reserved => {
                let kind = mode.slot_kind(n);
                let rule = match (mode, kind) {
                    (Mode::Pbr, _) => "CXLPBR-SLT-01",
                    (_, SlotKind::G) => "CXL256-SLT-01",
                    (_, SlotKind::H) => "CXL256-SLT-02",
                    (_, SlotKind::Hs) => "CXL256-SLT-03",
                };
                let code = super::slot::code(bits);
                found.broken(
                    rule,
                    at,
                    format!("{code:#x}"),
                    "a code of the table",
                    "the slot has a reserved format code",
                );
            }
            Cxl256SlotRole::Unused if bits != 0 => {
                let text = format!("slot {n} of a control flit is not 0");
                found.broken("CXL256-CTL-03", at, "set bits", 0, text);
            }
            _ => (),
        }
    }
    if decoded.active > MAX_ACTIVE {
        active(decoded.active, MAX_ACTIVE, "too many data messages are active in one flit", found);
    }
    if decoded.active_in_two > MAX_ACTIVE_IN_TWO {
        active(
            decoded.active_in_two,
            MAX_ACTIVE_IN_TWO,
            "too many data messages are active in two neighbouring flits",
            found,
        );
    }
    windows(decoded, &counts, found);
    groups(decoded, found);
}

fn active(is: usize, max: usize, text: &str, found: &mut Findings) {
    found.broken("CXL256-PCK-06", flit::standard::SLOT0.start, is, format!("at most {max}"), text);
}

fn control(
    decoded: &Cxl256DecodedFlit,
    n: usize,
    kind: Option<&'static ControlKind>,
    bits: u128,
    found: &mut Findings,
) {
    // An unlisted kind is dropped [C].
    let Some(kind) = kind else { return };
    let at = slot_byte(decoded.mode, n, 0);
    let slot_kind = decoded.mode.slot_kind(n);
    if !kind.may_stand_in(slot_kind) {
        let text = format!("{} stands in a slot that may not hold it", kind.name);
        found.broken("CXL256-CTL-02", at, "an HS slot", "an H slot", text);
    }
    let mut of_slot = Vec::new();
    kind.def.check(bits, &mut of_slot);
    found.violations.extend(of_slot.into_iter().map(|v| v.in_unit(|bit| slot_byte(decoded.mode, n, bit as usize / 8))));
    if kind.def.name == Poison::DEF.name {
        let open = decoded.open_messages[n];
        let message = usize::from(Poison::from_bits(bits).message);
        if message > 7 || message >= open {
            let expected = format!("below {}", open.min(8));
            found.broken(
                "CXL256-CTL-06",
                at + 2,
                message,
                expected,
                "the Poison slot names a data message that is not open",
            );
        }
    }
}

/// The messages of one slot.
fn messages(
    decoded: &Cxl256DecodedFlit,
    n: usize,
    format: &'static SlotFormat,
    bits: u128,
    config: &Cxl256Config,
    counts: &mut ClassCounts,
    found: &mut Findings,
) {
    if !format.any_valid(bits) && !format.has_data() {
        return;
    }
    let mode = decoded.mode;
    let byte_of = |bit: u32| slot_byte(mode, n, bit as usize / 8);
    let valid = || format.places().filter(|p| p.is_valid(bits));
    for place in valid() {
        counts[place.class.index()] += 1;
        let before = found.violations.len();
        place.class.def(format.routing).check(place.extract(bits), &mut found.violations);
        by_config(&place, format, place.extract(bits), config, before, &mut found.violations);
        found.place(before, |bit| byte_of(place.lsb + bit));
        if !config.may_go(place.class, decoded.dir) {
            let text = format!("{} travels in the wrong direction", place.class.def(format.routing).name);
            let (is, expected) = (decoded.dir.name(), place.class.dir().name());
            found.broken("CXL256-SLT-04", byte_of(place.lsb), is, expected, text);
        }
    }
    if !format.has_data() {
        return;
    }
    let headers = valid().count();
    let at = slot_byte(mode, n, 0);
    let owed = decoded.owed_slots[n];
    if format.places().next().is_some_and(|p| !p.is_valid(bits)) {
        let text = format!("the first message of a slot of format {} is not valid", format.name);
        found.broken("CXL256-PCK-03", at, "Valid = 0", "Valid = 1", text);
    }
    if headers > 1 && !config.mdh {
        found.broken("CXL256-PCK-04", at, headers, 1, "the slot holds several data headers although MDH is disabled");
    }
    if headers > 0 && format.kind != SlotKind::G && owed > MAX_OWED_IN_SHORT_SLOT {
        let (is, expected) = (format!("{owed} data slots owed"), format!("at most {MAX_OWED_IN_SHORT_SLOT}"));
        found.broken(
            "CXL256-PCK-02",
            at,
            is,
            expected,
            format!("a data header stands in a slot of format {} although too many data slots are owed", format.name),
        );
    }
    let behind = decoded.owed_slots.get(n + 1).copied().filter(|&behind| headers > 0 && behind > MAX_OWED);
    if let Some(behind) = behind {
        let text = "too many data slots are owed behind this data header";
        found.broken("CXL256-DAT-05", at, behind, format!("at most {MAX_OWED}"), text);
    }
}

/// Codes whose meaning the configuration decides; the findings of the message are those from `first` on.
fn by_config(
    place: &Cxl256SlotPlace,
    format: &SlotFormat,
    message: u128,
    config: &Cxl256Config,
    first: usize,
    found: &mut Vec<Violation>,
) {
    if config.withdrawn_codes && !config.fast_go {
        return;
    }
    let Ok(opcode) = place.class.def(format.routing).field("opcode") else { return };
    let code = opcode.extract(message);
    if config.fast_go && place.class == Class::H2dRsp && code == u128::from(code::FAST_GO.0) {
        let mut of_message = found.split_off(first);
        of_message.retain(|v| v.rule != H2dRspOpcode::TABLE.rule);
        found.append(&mut of_message);
    }
    if config.withdrawn_codes {
        return;
    }
    let withdrawn = code::WITHDRAWN.iter().find(|(class, c, _)| *class == place.class && u128::from(*c) == code);
    if let Some((class, _, rule)) = withdrawn {
        found.push(Violation {
            rule,
            at: At::Bits { lsb: opcode.lsb, width: opcode.width },
            found: format!("{code:#x}"),
            expected: "a code of the later revision".into(),
            text: format!("{}: the opcode is withdrawn in the later revision", class.def(format.routing).name),
        });
    }
}

/// PCK-07: most messages of a class in any two neighbouring groups, the last group of the flit before included.
fn windows(decoded: &Cxl256DecodedFlit, counts: &[ClassCounts; SLOTS], found: &mut Findings) {
    // Sums of all classes side by side, and a look at those alone that stand in the group. Walking the slots for each class
    // and window took half of the 3,200 instructions of the judgement.
    let in_group = GROUPS.map(|group| {
        counts[group].iter().fold([0; Class::ALL.len()], |mut sums: ClassCounts, counts| {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            sums
        })
    });
    for (g, group) in GROUPS.iter().enumerate() {
        for class in Class::ALL.into_iter().filter(|class| in_group[g][class.index()] > 0) {
            let i = class.index();
            // Window of this group and the one before. Slot 7 of a latency-optimised flit counts in B and C: the
            // window of C and D has it as well, the window of B and C has it once.
            let is = match g {
                0 => usize::from(decoded.last_group[i]) + usize::from(in_group[0][i]),
                3 if decoded.mode.is_lopt() => {
                    [counts[SHARED_LOPT_SLOT][i], in_group[2][i], in_group[3][i]].into_iter().map(usize::from).sum()
                }
                _ => usize::from(in_group[g - 1][i]) + usize::from(in_group[g][i]),
            };
            let max = class.max_per_window();
            if is > usize::from(max) {
                let text =
                    format!("{}: 128 bytes hold too many of these messages", class.def(decoded.mode.routing()).name);
                let at = slot_byte(decoded.mode, group.start, 0);
                found.broken("CXL256-PCK-07", at, is, format!("at most {max}"), text);
            }
        }
    }
}

/// Holes: a lint, except where an H or HS slot has an invalid message of a kind that stands in a G slot of its group.
fn groups(decoded: &Cxl256DecodedFlit, found: &mut Findings) {
    let mode = decoded.mode;
    for group in GROUPS {
        let mut hole = None;
        let mut short: Option<(usize, &SlotFormat, u128)> = None;
        for n in group {
            let Cxl256SlotRole::Format(format) = decoded.roles[n] else { continue };
            let bits = decoded.flit().slot(mode, n);
            let at = slot_byte(mode, n, 0);
            let mut free = None;
            let places = if format.any_valid(bits) { format.places } else { &[] };
            for place in places {
                if !place.is_valid(bits) {
                    free = free.or(Some(place.class));
                    continue;
                }
                if free == Some(place.class) {
                    let text = format!("the message stands behind a free place of slot {n}");
                    found.lint(
                        "CXL256-PCK-01",
                        slot_byte(mode, n, place.lsb as usize / 8),
                        "a gap",
                        "the first free place",
                        text,
                    );
                }
                let before =
                    short.filter(|(_, f, bits)| f.places().any(|p| p.class == place.class && !p.is_valid(*bits)));
                if let Some((m, f, _)) = before {
                    let text = format!(
                        "{} stands in slot {n} although slot {m} has a free place for it",
                        place.class.def(format.routing).name
                    );
                    let is = format!("{} with a free place", f.name);
                    found.broken("CXL256-PCK-05", slot_byte(mode, m, 0), is, "no free place", text);
                }
            }
            if !format.any_valid(bits) {
                // A short slot may be empty because it could not hold what comes behind.
                hole = hole.or((format.kind == SlotKind::G).then_some(n));
            } else if let Some(hole) = hole {
                let text = format!("slot {n} holds messages although slot {hole} is empty");
                found.lint("CXL256-PCK-01", at, "a gap", "the first free slot", text);
            }
            // A slot of zeros is empty; its code names no kind.
            if format.kind != SlotKind::G && bits != 0 {
                short = Some((n, format, bits));
            }
        }
    }
}

/// Where a sender meant something that a receiver does not see: data where none is owed, messages where data is.
pub fn intent(mode: Mode, n: usize, meant_data: bool, seen: &Cxl256SlotRole) -> Option<Violation> {
    let at = slot_byte(mode, n, 0);
    match (meant_data, seen) {
        (true, Cxl256SlotRole::Format(_) | Cxl256SlotRole::Reserved) => {
            let text = "data is sent in a slot in which none is owed";
            Some(Violation::at_byte("CXL256-DAT-02", at, "data", "messages", text))
        }
        (false, Cxl256SlotRole::Data | Cxl256SlotRole::Trailer) => {
            let text = "messages are sent in a slot that is owed to data";
            Some(Violation::at_byte("CXL256-DAT-02", at, "messages", "data", text))
        }
        _ => None,
    }
}

/// Whether a message may stand at a place: the bits that its slot drops must be 0.
///
/// # Errors
/// The rule that it breaks, at the dropped bits.
pub fn zero_extension(place: &Cxl256SlotPlace, format: &SlotFormat, message: u128) -> Result<(), Violation> {
    if place.fits(message) {
        return Ok(());
    }
    let def = place.class.def(format.routing);
    let dropped: Vec<_> = def.fields.iter().filter(|f| f.lsb + f.width > place.kept).map(|f| f.name).collect();
    Err(Violation {
        rule: if format.routing == super::Routing::Pbr { "CXLPBR-SLT-02" } else { "CXL256-SLT-05" },
        at: At::Bits { lsb: place.kept, width: def.bits - place.kept },
        found: format!("{:#x}", message >> place.kept),
        expected: "0".into(),
        text: format!(
            "{}: a slot of format {} drops bits of {} that are not 0",
            def.name,
            format.name,
            dropped.join(", ")
        ),
    })
}
