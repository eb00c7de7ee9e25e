//! 256-byte flits in a wave.
//!
//! Modelled: CXL.cachemem in the three flit formats. The scope `flit` of a place holds what arrives, good or not:
//!
//! | variable | is |
//! | --- | --- |
//! | `seq` | count of flits |
//! | `raw` | the 2048 bits as they came, bit 8n+b is bit b of byte n |
//! | `kind` | what the flit is, see the names of [`ARRIVALS`] |
//! | `crc_ok` | whether every CRC fits behind the FEC |
//! | `fec_repairs` | bytes that the FEC has changed |
//! | `header.*`, `crd.*` | header and credits of the last good flit, as messages |
//!
//! The scope `taken` holds payload as the receiver takes it, in the order of the numbers and once, which may be later
//! than it arrives (`cxl-256b` §9):
//!
//! | variable | is |
//! | --- | --- |
//! | `seq` | count of payload flits taken |
//! | `number` | sequence number |
//! | `kind` | what it is, see the names of [`KINDS`] |
//! | `owed_slots` | data and trailer slots owed behind it |
//! | `slot0` to `slot14` | what each slot is, see the names of [`SLOT_ROLES`] |
//!
//! Beside them stands one scope a message of the direction and one a control slot. A message is shown when the flit is
//! taken that holds its header, before its data. The n-th message of a class in one flit goes to the scope `m2s_req`,
//! `m2s_req_1` and so on: as many scopes as the specification allows a flit (the last one shows what is beyond it). Detail:
//! every field. Left out: joined data, content of CXL.io, IDE.

use super::FlitVars;
use crate::signals::{MessageVars, SignalTree, VarId, short_name};
use crate::state::SignalValues;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::control::{Ide, InitParam, Poison, Viral};
use scalepool_protocols::cxl::cxl256::crd::Crd;
use scalepool_protocols::cxl::cxl256::flit::{Cxl256Flit, FLIT_BYTES, SLOTS};
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::stream::{Cxl256DecodedFlit, Cxl256FlitKind, Cxl256SlotRole, Unpacker};
use scalepool_protocols::cxl::cxl256::{Class, Mode, almp, slot};
use scalepool_protocols::wire::{Code, CodeTable, LayoutDef, Wire};

/// Values of `flit.kind`.
pub static ARRIVALS: CodeTable = CodeTable {
    name: "Arrival",
    width: 3,
    rule: "none, it does not travel",
    source: "cxl-256b §1.4",
    codes: &[
        Code { name: "nop", value: 0, doc: "NOP, or IDLE before the sequence handshake." },
        Code { name: "io", value: 1, doc: "CXL.io." },
        Code { name: "cachemem", value: 2, doc: "Slots, or Empty." },
        Code { name: "almp", value: 3, doc: "ARB/MUX packet." },
        Code { name: "dropped", value: DROPPED, doc: "FEC or CRC: the flit cannot be used." },
    ],
};
const DROPPED: u128 = 4;

/// Values of `taken.kind`: the kinds of the JSON form of flits that are payload.
pub static KINDS: CodeTable = CodeTable {
    name: "FlitKind",
    width: 3,
    rule: "none, it does not travel",
    source: "architecture §8.1",
    codes: &[
        Code { name: "protocol", value: PROTOCOL, doc: "Slots." },
        Code { name: "control", value: CONTROL, doc: "Slots, slot 0 is a control slot." },
        Code { name: "empty", value: EMPTY, doc: "No message; carries credits and takes a number." },
        Code { name: "almp", value: ALMP, doc: "ARB/MUX packet." },
        Code { name: "io", value: IO, doc: "CXL.io." },
    ],
};
const PROTOCOL: u128 = 0;
const CONTROL: u128 = 1;
const EMPTY: u128 = 2;
const ALMP: u128 = 3;
const IO: u128 = 4;

/// Values of `taken.slotN`: data and what is beside it above the format codes of the sheet.
pub static SLOT_ROLES: CodeTable = CodeTable {
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
pub(super) struct Cxl256FlitVars {
    mode: Mode,
    seq: VarId,
    raw: VarId,
    arrival: VarId,
    crc_ok: VarId,
    fec_repairs: VarId,
    header: MessageVars,
    crd: MessageVars,
    taken: VarId,
    number: VarId,
    kind: VarId,
    owed_slots: VarId,
    slots: Vec<VarId>,
    /// By class; the n-th is for the n-th message of a flit.
    messages: [Vec<MessageVars>; Class::COUNT],
    /// In order of [`controls`].
    controls: Vec<MessageVars>,
    unpacker: Unpacker,
}

/// Most messages of a class in one flit: those of its two windows; of data messages no more than may be active (§5.3).
const fn max_per_flit(class: Class) -> u8 {
    const MAX_ACTIVE: u8 = 5;
    let of_windows = 2 * class.max_per_window();
    if class.has_data() && of_windows > MAX_ACTIVE { MAX_ACTIVE } else { of_windows }
}

impl Cxl256FlitVars {
    /// Declares the variables in the scope of a place.
    pub(super) fn declare(tree: &mut SignalTree, place: usize, mode: Mode, dir: Dir) -> Cxl256FlitVars {
        let family = FlitHeader::DEF.family();
        let (flit, taken) = (tree.scope(place, "flit"), tree.scope(place, "taken"));
        let routing = mode.routing();
        Cxl256FlitVars {
            mode,
            seq: tree.count(flit, "seq"),
            raw: tree.raw(flit, 8 * FLIT_BYTES as u32),
            arrival: tree.named(flit, "kind", family, &ARRIVALS),
            crc_ok: tree.var(flit, "crc_ok", 1),
            fec_repairs: tree.decimal(flit, "fec_repairs", 3),
            header: tree.detail(flit, "header", FlitHeader::DEF),
            crd: tree.detail(flit, "crd", Crd::DEF),
            taken: tree.count(taken, "seq"),
            number: tree.decimal(taken, "number", 10),
            kind: tree.named(taken, "kind", family, &KINDS),
            owed_slots: tree.decimal(taken, "owed_slots", 6),
            slots: (0..SLOTS).map(|n| tree.named(taken, &format!("slot{n}"), family, &SLOT_ROLES)).collect(),
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
            unpacker: Unpacker::new(mode, dir),
        }
    }

    fn slots(&self, state: &mut SignalValues, decoded: &Cxl256DecodedFlit) {
        for (n, (role, var)) in decoded.roles.iter().zip(&self.slots).enumerate() {
            let bits = decoded.flit().slot(self.mode, n);
            let value = match role {
                Cxl256SlotRole::Format(format) if !format.any_valid(bits) => NO_MESSAGE,
                Cxl256SlotRole::Format(_) | Cxl256SlotRole::Reserved => slot::code(bits).into(),
                Cxl256SlotRole::Control(kind) => {
                    self.control(state, kind.map(|k| k.def), bits);
                    slot::code(bits).into()
                }
                Cxl256SlotRole::Data => DATA,
                Cxl256SlotRole::Trailer => TRAILER,
                Cxl256SlotRole::Unused => UNUSED,
            };
            state.set(*var, value);
        }
    }

    fn control(&self, state: &mut SignalValues, layout: Option<&'static LayoutDef>, bits: u128) {
        if let Some(vars) = self.controls.iter().find(|c| layout.is_some_and(|l| c.is(l))) {
            vars.show(state, bits);
        }
    }
}

/// What was read from bits fits into them.
fn bits_of(read: &impl Wire) -> u128 {
    read.to_bits().unwrap_or(0)
}

/// A unit of which missing bytes are 0.
fn flit_of(bytes: &[u8]) -> Cxl256Flit {
    let mut flit = Cxl256Flit::ZERO;
    flit.0.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    flit
}

impl FlitVars for Cxl256FlitVars {
    fn show(&mut self, state: &mut SignalValues, bytes: &[u8]) {
        let flit = flit_of(bytes);
        state.count(self.seq);
        state.set_bytes(self.raw, &flit.0);
        let received = flit.receive(self.mode);
        state.set(self.crc_ok, received.crc_ok.into());
        let repairs = flit.0.iter().zip(&received.flit.0).filter(|(came, is)| came != is).count();
        state.set(self.fec_repairs, repairs as u128);
        if !received.is_good() || received.suspect {
            state.set(self.arrival, DROPPED);
            return;
        }
        let header = received.flit.header();
        state.set(self.arrival, header.flit_type.0.into());
        self.header.show(state, bits_of(&header));
        if header.flit_type == FlitType::Cachemem {
            self.crd.show(state, bits_of(&received.flit.crd()));
        }
    }

    fn take(&mut self, state: &mut SignalValues, number: u16, bytes: &[u8]) {
        let decoded = self.unpacker.read(&flit_of(bytes));
        state.count(self.taken);
        state.set(self.number, number.into());
        self.slots(state, &decoded);
        let mut seen = [0; Class::COUNT];
        for (_, class, bits) in decoded.messages() {
            let scopes = &self.messages[class.index()];
            let n = &mut seen[class.index()];
            if let Some(message) = scopes.get(*n).or(scopes.last()) {
                message.show(state, bits);
            }
            *n += 1;
        }
        let kind = match decoded.kind {
            Cxl256FlitKind::Io(_) => IO,
            Cxl256FlitKind::Control => CONTROL,
            Cxl256FlitKind::Empty => EMPTY,
            Cxl256FlitKind::Almp => {
                let word = decoded.flit().0[2..6].iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
                self.control(state, Some(almp::def(word)), word.into());
                ALMP
            }
            // IDLE and NOP are no payload and are not taken.
            Cxl256FlitKind::Protocol | Cxl256FlitKind::Idle | Cxl256FlitKind::Nop => PROTOCOL,
        };
        state.set(self.kind, kind);
        state.set(self.owed_slots, self.unpacker.owed_slots() as u128);
    }
}
