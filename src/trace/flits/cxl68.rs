//! 68-byte units in a wave.
//!
//! Modelled: `cxl-68b` of revision 2.0. The scope `flit` of a place holds
//!
//! | variable | is |
//! | --- | --- |
//! | `seq` | count of units |
//! | `raw` | the 544 bits, bit 8n+b is bit b of byte n |
//! | `kind` | what the unit is, see the names of [`KINDS`] |
//! | `pid`, `crc` | protocol ID and tail, as read |
//! | `crc_ok` | whether the CRC fits; 1 where there is none |
//! | `rollover` | data chunks owed after the unit |
//! | `header.*` | the last good flit header, as a message |
//!
//! Beside it stands one scope a message of the direction and one a control slot. A message is shown in the unit that
//! holds its header, before its data. The n-th message of a class in one unit goes to the scope `m2s_req`, `m2s_req_1`
//! and so on: as many scopes as the specification allows a flit (the last one shows what is beyond it). Detail: every
//! field. Left out: joined data, revision 1.1, content of CXL.io.
//!
//! A place must see what a receiver sees. A unit with a bad CRC or an unusable ID is shown as `flit` alone; the units
//! behind it are `discarded` until five RETRY.Frame and a RETRY.Ack have come (`cxl-68b` §7.2, §7.3), because only then
//! the rollover is known again.

use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::control::{Almp, Control, Ide, InitParam, Llcrd, Retry, RetryAck, RetryReq};
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled, PidKind};
use scalepool_protocols::cxl::cxl68::stream::{self, Cxl68DecodedUnit, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::{Cxl68Unit, UNIT_BYTES};
use scalepool_protocols::wire::{Code, CodeTable, LayoutDef, Wire};

use super::FlitVars;
use crate::signals::{MessageVars, SignalTree, VarId, short_name};
use crate::state::SignalValues;

/// Values of `flit.kind`: the kinds of the JSON form of flits, and two of a receiver.
pub static KINDS: CodeTable = CodeTable {
    name: "FlitKind",
    width: 3,
    rule: "none, it does not travel",
    source: "architecture §8.1",
    codes: &[
        Code { name: "protocol", value: 0, doc: "Header and slots." },
        Code { name: "all-data", value: 1, doc: "Four data chunks." },
        Code { name: "control", value: 2, doc: "Control flit." },
        Code { name: "almp", value: 3, doc: "ARB/MUX packet." },
        Code { name: "null", value: 4, doc: "Filler of the physical layer." },
        Code { name: "io", value: 5, doc: "CXL.io." },
        Code { name: "dropped", value: 6, doc: "Bad CRC, or a protocol ID that cannot be used." },
        Code { name: "discarded", value: 7, doc: "Comes while the receiver waits for RETRY.Ack." },
    ],
};
const CONTROL: u128 = 2;
const DROPPED: u128 = 6;
const DISCARDED: u128 = 7;

/// Slots of control flits and ALMPs; both directions have all of them.
const CONTROLS: [&LayoutDef; 7] =
    [Llcrd::DEF, Retry::DEF, RetryReq::DEF, RetryAck::DEF, InitParam::DEF, Ide::DEF, Almp::DEF];

/// What a place of 68-byte units shows and what it remembers.
#[derive(Debug)]
pub(super) struct Cxl68FlitVars {
    seq: VarId,
    raw: VarId,
    kind: VarId,
    pid: VarId,
    crc: VarId,
    crc_ok: VarId,
    rollover: VarId,
    header: MessageVars,
    /// By class; the n-th is for the n-th message of a unit.
    messages: [Vec<MessageVars>; 10],
    /// In order of [`CONTROLS`].
    controls: Vec<MessageVars>,
    unpacker: Unpacker,
    /// RETRY.Frame seen in a row while waiting for RETRY.Ack; `None` when not waiting.
    frames_before_ack: Option<u8>,
}

impl Cxl68FlitVars {
    /// Declares the variables in the scope of a place.
    pub(super) fn declare(tree: &mut SignalTree, place: usize, dir: Dir) -> Cxl68FlitVars {
        let family = FlitHeader::DEF.family();
        let flit = tree.scope(place, "flit");
        Cxl68FlitVars {
            seq: tree.count(flit, "seq"),
            raw: tree.raw(flit, 8 * UNIT_BYTES as u32),
            kind: tree.named(flit, "kind", family, &KINDS),
            pid: tree.var(flit, "pid", 16),
            crc: tree.var(flit, "crc", 16),
            crc_ok: tree.var(flit, "crc_ok", 1),
            rollover: tree.decimal(flit, "rollover", 8),
            header: tree.detail(flit, "header", FlitHeader::DEF),
            messages: Class::ALL.map(|class| {
                let scopes = if class.dir() == dir { class.max_per_flit() } else { 0 };
                let name = short_name(class.def());
                let message = |n| match n {
                    0 => tree.message(place, name, class.def()),
                    n => tree.detail(place, &format!("{name}_{n}"), class.def()),
                };
                (0..scopes).map(message).collect()
            }),
            controls: CONTROLS.iter().map(|layout| tree.detail(place, short_name(layout), layout)).collect(),
            unpacker: Unpacker::new(dir, Cxl68Config::default().revision, Enabled::ALL),
            frames_before_ack: None,
        }
    }

    fn decoded(&mut self, state: &mut SignalValues, decoded: &Cxl68DecodedUnit) {
        if !decoded.is_good() {
            state.set(self.kind, DROPPED);
            // A receiver that waits already goes on waiting.
            self.frames_before_ack.get_or_insert(0);
            return;
        }
        let kind = match &decoded.kind {
            stream::Cxl68UnitKind::Protocol(_) => {
                self.header.show(state, decoded.unit.slot(0));
                0
            }
            stream::Cxl68UnitKind::AllData => 1,
            stream::Cxl68UnitKind::Control(control) => {
                self.control(state, control.def(), decoded.unit.slot(0));
                CONTROL
            }
            stream::Cxl68UnitKind::Almp => {
                self.control(state, Some(Almp::DEF), decoded.unit.slot(0));
                3
            }
            stream::Cxl68UnitKind::Null => 4,
            stream::Cxl68UnitKind::Io => 5,
            stream::Cxl68UnitKind::Dropped => DROPPED,
        };
        state.set(self.kind, kind);
        let mut seen = [0; 10];
        for (_, class, bits) in decoded.messages() {
            let scopes = &self.messages[class.index()];
            let n = &mut seen[class.index()];
            if let Some(message) = scopes.get(*n).or(scopes.last()) {
                message.show(state, bits);
            }
            *n += 1;
        }
    }

    /// While the receiver waits, RETRY flits alone are looked at.
    fn wait_for_ack(&mut self, state: &mut SignalValues, unit: &Cxl68Unit, frames: u8) {
        let slot = unit.slot(0);
        let control = Control::from_slot(slot);
        let is_retry = matches!(
            control,
            Control::RetryIdle(_) | Control::RetryFrame(_) | Control::RetryReq(_) | Control::RetryAck(_)
        );
        if !is_retry || !unit.crc_ok() || !Control::static_bits_ok(slot) {
            state.set(self.kind, if unit.crc_ok() { DISCARDED } else { DROPPED });
            self.frames_before_ack = Some(0);
            return;
        }
        state.set(self.kind, CONTROL);
        self.control(state, control.def(), slot);
        let enough = frames >= Cxl68Config::default().frames_before_sequence;
        self.frames_before_ack = match control {
            Control::RetryFrame(_) => Some(frames.saturating_add(1)),
            Control::RetryAck(_) if enough => None,
            _ => Some(0),
        };
    }

    fn control(&self, state: &mut SignalValues, layout: Option<&'static LayoutDef>, slot: u128) {
        if let Some(vars) = self.controls.iter().find(|c| layout.is_some_and(|l| c.is(l))) {
            vars.show(state, slot);
        }
    }
}

impl FlitVars for Cxl68FlitVars {
    /// A NULL unit may be cut short.
    fn show(&mut self, state: &mut SignalValues, bytes: &[u8]) {
        let mut unit = Cxl68Unit([0; UNIT_BYTES]);
        let n = bytes.len().min(UNIT_BYTES);
        unit.0[..n].copy_from_slice(&bytes[..n]);
        state.count(self.seq);
        state.set_bytes(self.raw, &unit.0);
        state.set(self.pid, unit.pid().into());
        state.set(self.crc, unit.tail().into());

        let pid = pid::receive(unit.pid(), Enabled::ALL);
        let is_cachemem = pid.accept.is_some_and(|p| p.kind == PidKind::Cachemem);
        state.set(self.crc_ok, u128::from(!is_cachemem || unit.crc_ok()));
        if let (Some(frames), true) = (self.frames_before_ack, is_cachemem) {
            self.wait_for_ack(state, &unit, frames);
        } else {
            let decoded = self.unpacker.read_as(&unit, pid);
            self.decoded(state, &decoded);
        }
        state.set(self.rollover, self.unpacker.rollover() as u128);
    }
}
