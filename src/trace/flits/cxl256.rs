//! 256-byte flits in a wave.
//!
//! Modelled: CXL.cachemem in the three flit formats. The scope `flit` of a place holds
//!
//! | variable | is |
//! | --- | --- |
//! | `seq` | count of flits |
//! | `raw` | the 2048 bits as they came, bit 8n+b is bit b of byte n |
//! | `kind` | what the flit is, see the names of [`KINDS`] |
//! | `number` | sequence number of the flit, stated or implied; of a NOP that of the payload before it |
//! | `crc_ok` | whether every CRC fits behind the FEC |
//! | `fec_repairs` | bytes that the FEC has changed |
//! | `owed_slots` | data and trailer slots owed after the flit |
//! | `slot0` to `slot14` | what each slot is, see the names of [`SLOT_ROLES`] |
//! | `header.*`, `crd.*` | header and credits of the last good flit, as messages |
//!
//! Beside it stands one scope a message of the direction and one a control slot. A message is shown in the flit that holds
//! its header, before its data. The n-th message of a class in one flit goes to the scope `m2s_req`, `m2s_req_1` and so on:
//! as many scopes as the specification allows a flit (the last one shows what is beyond it). Detail: every field. Left out:
//! joined data, content of CXL.io, IDE.
//!
//! A place follows the numbers as a receiver does (`cxl-256b` §9), so that the slots that are owed are known: payload that
//! came before is a `duplicate`, payload `ahead` of a missing flit waits for it and is shown behind it unless it goes again
//! too, and implied numbers that a stated one contradicts are taken back. Unlike a receiver it shows payload with an
//! implied number at once.

use super::FlitVars;
use crate::trace::signals::{MessageVars, Tree, VarId, short_name};
use crate::trace::state::State;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::{FlitType, ReplayCommand};
use scalepool_protocols::cxl::cxl256::control::{Ide, InitParam, Poison, Viral};
use scalepool_protocols::cxl::cxl256::crd::Crd;
use scalepool_protocols::cxl::cxl256::flit::{FLIT_BYTES, Flit, SLOTS};
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::stream::{Decoded, Kind, Role, Unpacker};
use scalepool_protocols::cxl::cxl256::{Class, Mode, almp, slot};
use scalepool_protocols::wire::{Code, CodeTable, LayoutDef, Wire};
use std::collections::BTreeMap;

/// Values of `flit.kind`: the kinds of the JSON form of flits, and three of a receiver.
static KINDS: CodeTable = CodeTable {
    name: "FlitKind",
    width: 4,
    rule: "none, it does not travel",
    source: "architecture §8.1",
    codes: &[
        Code { name: "protocol", value: PROTOCOL, doc: "Slots." },
        Code { name: "control", value: CONTROL, doc: "Slots, slot 0 is a control slot." },
        Code { name: "empty", value: EMPTY, doc: "No message; carries credits and takes a number." },
        Code { name: "almp", value: ALMP, doc: "ARB/MUX packet." },
        Code { name: "io", value: IO, doc: "CXL.io." },
        Code { name: "nop", value: NOP, doc: "NOP." },
        Code { name: "idle", value: IDLE, doc: "All zero, before the sequence handshake." },
        Code { name: "dropped", value: DROPPED, doc: "FEC or CRC: the flit cannot be used." },
        Code { name: "duplicate", value: DUPLICATE, doc: "Payload that has been here." },
        Code { name: "ahead", value: AHEAD, doc: "Payload ahead of one that is missing." },
    ],
};
const PROTOCOL: u128 = 0;
const CONTROL: u128 = 1;
const EMPTY: u128 = 2;
const ALMP: u128 = 3;
const IO: u128 = 4;
const NOP: u128 = 5;
const IDLE: u128 = 6;
const DROPPED: u128 = 7;
const DUPLICATE: u128 = 8;
const AHEAD: u128 = 9;

/// Values of `flit.slotN` above the format codes of the sheet.
static SLOT_ROLES: CodeTable = CodeTable {
    name: "SlotRole",
    width: 5,
    rule: "none, it does not travel",
    source: "cxl-256b §2, §5.1",
    codes: &[
        Code { name: "fmt0", value: 0, doc: "Format 0." },
        Code { name: "fmt1", value: 1, doc: "Format 1." },
        Code { name: "fmt2", value: 2, doc: "Format 2." },
        Code { name: "fmt3", value: 3, doc: "Format 3." },
        Code { name: "fmt4", value: 4, doc: "Format 4." },
        Code { name: "fmt5", value: 5, doc: "Format 5." },
        Code { name: "fmt6", value: 6, doc: "Format 6." },
        Code { name: "fmt7", value: 7, doc: "Format 7." },
        Code { name: "control", value: 8, doc: "Format 8, control." },
        Code { name: "fmt12", value: 12, doc: "Format 12, data follows." },
        Code { name: "fmt13", value: 13, doc: "Format 13, data follows." },
        Code { name: "fmt14", value: 14, doc: "Format 14, data follows." },
        Code { name: "fmt15", value: 15, doc: "Format 15, data follows." },
        Code { name: "data", value: DATA, doc: "Data of the message that is owed first." },
        Code { name: "trailer", value: TRAILER, doc: "A trailer." },
        Code { name: "unused", value: UNUSED, doc: "Means nothing." },
        Code { name: "none", value: NO_MESSAGE, doc: "No message." },
    ],
};
const DATA: u128 = 16;
const TRAILER: u128 = 17;
const UNUSED: u128 = 18;
const NO_MESSAGE: u128 = 19;

/// Control slots and ALMPs; both directions have all of them.
fn controls() -> [&'static LayoutDef; 6] {
    [Ide::DEF, Viral::DEF, Poison::DEF, InitParam::DEF, almp::Almp::DEF, almp::L0p::DEF]
}

/// What a place shows and what it remembers.
#[derive(Debug)]
pub(super) struct Flits {
    mode: Mode,
    seq: VarId,
    raw: VarId,
    kind: VarId,
    number: VarId,
    crc_ok: VarId,
    fec_repairs: VarId,
    owed_slots: VarId,
    slots: Vec<VarId>,
    header: MessageVars,
    crd: MessageVars,
    /// By class; the n-th is for the n-th message of a flit.
    messages: [Vec<MessageVars>; 12],
    /// In order of [`controls`].
    controls: Vec<MessageVars>,
    stream: Stream,
    /// The stream as it was when a number was stated last.
    settled: Stream,
    /// Number of the last payload of the wire; `None`: not known until one is stated.
    last: Option<u16>,
    bad_run: u8,
}

/// Payload in the order of its numbers.
#[derive(Debug, Clone)]
struct Stream {
    unpacker: Unpacker,
    /// Number that is due.
    expected: u16,
    /// Payload ahead of it.
    kept: BTreeMap<u16, Flit>,
    /// The missing one has come: the next flit tells whether it went again alone.
    filled: bool,
}

/// Numbers of payload are 1 to 1023 (`cxl-256b` §9).
const NUMBERS: u16 = 1023;
/// Distance that still is ahead (`cxl-256b` §9, sequence check).
const WINDOW: u16 = 511;

/// Most messages of a class in one flit: those of its two windows; of data messages no more than may be active (§5.3).
const fn max_per_flit(class: Class) -> u8 {
    const MAX_ACTIVE: u8 = 5;
    let of_windows = 2 * class.max_per_window();
    if class.has_data() && of_windows > MAX_ACTIVE { MAX_ACTIVE } else { of_windows }
}

/// The number behind another.
const fn next(number: u16) -> u16 {
    number % NUMBERS + 1
}

impl Flits {
    /// Declares the variables in the scope of a place.
    pub(super) fn declare(tree: &mut Tree, place: usize, mode: Mode, dir: Dir) -> Flits {
        let family = FlitHeader::DEF.family();
        let flit = tree.scope(place, "flit");
        let routing = mode.routing();
        let stream = Stream { unpacker: Unpacker::new(mode, dir), expected: 1, kept: BTreeMap::new(), filled: false };
        Flits {
            mode,
            seq: tree.count(flit, "seq"),
            raw: tree.raw(flit, 8 * FLIT_BYTES as u32),
            kind: tree.named(flit, "kind", family, &KINDS),
            number: tree.decimal(flit, "number", 10),
            crc_ok: tree.var(flit, "crc_ok", 1),
            fec_repairs: tree.decimal(flit, "fec_repairs", 3),
            owed_slots: tree.decimal(flit, "owed_slots", 6),
            slots: (0..SLOTS).map(|n| tree.named(flit, &format!("slot{n}"), family, &SLOT_ROLES)).collect(),
            header: tree.detail(flit, "header", FlitHeader::DEF),
            crd: tree.detail(flit, "crd", Crd::DEF),
            messages: Class::ALL.map(|class| {
                let scopes = if class.dir() == dir { max_per_flit(class) } else { 0 };
                let name = short_name(class.def(routing));
                let message = |n| match n {
                    0 => tree.message(place, name, class.def(routing)),
                    n => tree.detail(place, &format!("{name}_{n}"), class.def(routing)),
                };
                (0..scopes).map(message).collect()
            }),
            controls: controls().iter().map(|layout| tree.detail(place, short_name(layout), layout)).collect(),
            settled: stream.clone(),
            stream,
            last: None,
            bad_run: 0,
        }
    }

    /// Follows the numbers; gives the number of the flit. The one that was missing may stand beside the stream, sent again
    /// alone.
    fn number(&mut self, header: &FlitHeader, payload: bool) -> Option<u16> {
        let stated = (header.command == ReplayCommand::Explicit).then_some(header.seq);
        let lost = std::mem::take(&mut self.bad_run) == 1 && header.prior;
        let counted = self.last.map(|n| (0..u8::from(lost) + u8::from(payload)).fold(n, |n, _| next(n)));
        let stream = &self.stream;
        let alone = payload && stated == Some(stream.expected) && !stream.kept.is_empty() && !stream.filled;
        if let Some(number) = stated
            && counted != Some(number)
            && !alone
        {
            self.stream = self.settled.clone();
        }
        let own = stated.or(counted);
        if !alone {
            self.last = own;
        }
        own
    }

    /// Behind the flit that was missing: payload that waited for it is taken, unless that goes again.
    fn behind_missing(&mut self, state: &mut State, number: Option<u16>, payload: bool) {
        if !std::mem::take(&mut self.stream.filled) {
            return;
        }
        let mut kept = std::mem::take(&mut self.stream.kept);
        if payload && number == Some(self.stream.expected) {
            return;
        }
        while let Some(flit) = kept.remove(&self.stream.expected) {
            self.take(state, &flit);
        }
    }

    /// Payload with a number: what it is for the stream.
    fn payload(&mut self, state: &mut State, flit: &Flit, number: Option<u16>) -> u128 {
        let Some(number) = number else { return AHEAD };
        let ahead = (number + NUMBERS - self.stream.expected) % NUMBERS;
        if ahead > WINDOW {
            return DUPLICATE;
        }
        if ahead > 0 {
            self.stream.kept.insert(number, *flit);
            return AHEAD;
        }
        let kind = self.take(state, flit);
        self.stream.filled = !self.stream.kept.is_empty();
        kind
    }

    /// Payload that is due.
    fn take(&mut self, state: &mut State, flit: &Flit) -> u128 {
        self.stream.expected = next(self.stream.expected);
        let decoded = self.stream.unpacker.read(flit);
        self.slots(state, &decoded);
        let mut seen = [0; 12];
        for (_, class, bits) in decoded.messages() {
            let scopes = &self.messages[class.index()];
            let n = &mut seen[class.index()];
            if let Some(message) = scopes.get(*n).or(scopes.last()) {
                message.show(state, bits);
            }
            *n += 1;
        }
        match decoded.kind {
            Kind::Idle | Kind::Nop => NOP,
            Kind::Io(_) => IO,
            Kind::Protocol => PROTOCOL,
            Kind::Control => CONTROL,
            Kind::Empty => EMPTY,
            Kind::Almp => {
                let word = decoded.flit().0[2..6].iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
                self.control(state, Some(almp::def(word)), word.into());
                ALMP
            }
        }
    }

    fn slots(&self, state: &mut State, decoded: &Decoded) {
        for (n, (role, var)) in decoded.roles.iter().zip(&self.slots).enumerate() {
            let bits = decoded.flit().slot(self.mode, n);
            let value = match role {
                Role::Format(format) if !format.any_valid(bits) => NO_MESSAGE,
                Role::Format(_) | Role::Reserved => slot::code(bits).into(),
                Role::Control(kind) => {
                    self.control(state, kind.map(|k| k.def), bits);
                    slot::code(bits).into()
                }
                Role::Data => DATA,
                Role::Trailer => TRAILER,
                Role::Unused => UNUSED,
            };
            state.set(*var, value);
        }
    }

    fn control(&self, state: &mut State, layout: Option<&'static LayoutDef>, bits: u128) {
        if let Some(vars) = self.controls.iter().find(|c| layout.is_some_and(|l| c.is(l))) {
            vars.show(state, bits);
        }
    }
}

/// What was read from bits fits into them.
fn bits_of(read: &impl Wire) -> u128 {
    read.to_bits().unwrap_or(0)
}

impl FlitVars for Flits {
    fn show(&mut self, state: &mut State, bytes: &[u8]) {
        let mut flit = Flit::ZERO;
        let n = bytes.len().min(FLIT_BYTES);
        flit.0[..n].copy_from_slice(&bytes[..n]);
        state.count(self.seq);
        state.set_bytes(self.raw, &flit.0);
        let received = flit.receive(self.mode);
        state.set(self.crc_ok, received.crc_ok.into());
        let repairs = flit.0.iter().zip(&received.flit.0).filter(|(came, is)| came != is).count();
        state.set(self.fec_repairs, repairs as u128);
        if !received.is_good() || received.suspect {
            state.set(self.kind, DROPPED);
            self.bad_run = self.bad_run.saturating_add(1);
            if self.bad_run >= 2 {
                self.last = None;
            }
            return;
        }
        let flit = received.flit;
        let header = flit.header();
        self.header.show(state, bits_of(&header));
        let payload = header.flit_type != FlitType::Nop;
        let idle = header.command == ReplayCommand::Explicit && header.seq == 0;
        let kind = if idle {
            IDLE
        } else {
            let number = self.number(&header, payload);
            if let Some(number) = number {
                state.set(self.number, number.into());
            }
            self.behind_missing(state, number, payload);
            let kind = if payload { self.payload(state, &flit, number) } else { NOP };
            if header.command == ReplayCommand::Explicit {
                self.settled = self.stream.clone();
            }
            kind
        };
        if header.flit_type == FlitType::Cachemem {
            self.crd.show(state, bits_of(&flit.crd()));
        }
        state.set(self.kind, kind);
        state.set(self.owed_slots, self.stream.unpacker.owed_slots() as u128);
    }
}
