//! UALink DL flits in a wave.
//!
//! Modelled: DL flits with their headers, and what is inside of those that the receiver takes. The scope `flit` of a place
//! holds what arrives, good or not:
//!
//! | variable | is |
//! | --- | --- |
//! | `seq` | count of flits |
//! | `raw` | the 5120 bits as they came, bit 8n+b is bit b of byte n |
//! | `kind` | what the flit is, see the names of [`KINDS`] |
//! | `crc_ok` | whether the CRC fits |
//! | `explicit.*`, `command.*` | the last good header of each format, as a message |
//!
//! The scope `taken` holds payload as the receiver takes it, once and in the order of the numbers, which may be later than it
//! arrives (`ualink` §7):
//!
//! | variable | is |
//! | --- | --- |
//! | `seq` | count of payload flits taken |
//! | `number` | sequence number |
//! | `tl_flits` | TL flits that are whole with it |
//!
//! Beside them stands one scope a field of the transaction layer and one a DL message. The n-th field of a kind in one DL
//! flit goes to the scope `tl_req`, `tl_req_1` and so on, up to four (the last one shows what is beyond it). Left out: data,
//! tags, addresses out of the address cache.

use super::FlitVars;
use crate::signals::{MessageVars, SignalTree, VarId, short_name};
use crate::state::SignalValues;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::ualink::compress::CompressionRole;
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::field::{TlCreq, TlCrspMulti, TlCrspSingle, TlFc, TlReq, TlRsp};
use scalepool_protocols::ualink::flit::{DlFlit, FLIT_BYTES};
use scalepool_protocols::ualink::header::{CommandHeader, ExplicitHeader, UalHeader};
use scalepool_protocols::ualink::message::MESSAGES;
use scalepool_protocols::ualink::stream::{DlItem, Unpacker};
use scalepool_protocols::wire::{Code, CodeTable, LayoutDef, Wire};

/// Values of `flit.kind`.
pub static KINDS: CodeTable = CodeTable {
    name: "FlitKind",
    width: 3,
    rule: "none, it does not travel",
    source: "ualink §3",
    codes: &[
        Code { name: "nop", value: 0, doc: "Its number in full, no payload." },
        Code { name: "payload", value: 1, doc: "Its number in full, payload." },
        Code { name: "nop_command", value: 2, doc: "Ack or Replay Request, no payload." },
        Code { name: "payload_command", value: 3, doc: "Ack or Replay Request, payload." },
        Code { name: "dropped", value: DROPPED, doc: "Bad CRC, a reserved header, or the reserved number 0." },
    ],
};
const DROPPED: u128 = 4;

/// Fields of one kind that are shown apart.
const SCOPES: usize = 4;

/// Fields of the transaction layer.
fn fields() -> [&'static LayoutDef; 6] {
    [TlReq::DEF, TlCreq::DEF, TlRsp::DEF, TlCrspSingle::DEF, TlCrspMulti::DEF, TlFc::DEF]
}

/// What a place shows and what it remembers.
#[derive(Debug)]
pub(super) struct UalFlitVars {
    seq: VarId,
    raw: VarId,
    kind: VarId,
    crc_ok: VarId,
    explicit: MessageVars,
    command: MessageVars,
    taken: VarId,
    number: VarId,
    tl_flits: VarId,
    /// By kind; the n-th is for the n-th field of a DL flit.
    fields: Vec<Vec<MessageVars>>,
    messages: Vec<MessageVars>,
    unpacker: Unpacker,
}

impl UalFlitVars {
    /// Declares the variables in the scope of a place.
    pub(super) fn declare(tree: &mut SignalTree, place: usize, dir: Dir) -> UalFlitVars {
        let flit = tree.scope(place, "flit");
        let taken = tree.scope(place, "taken");
        let role = if dir == Dir::Down { CompressionRole::ToSwitch } else { CompressionRole::FromSwitch };
        UalFlitVars {
            seq: tree.count(flit, "seq"),
            raw: tree.raw(flit, 8 * FLIT_BYTES as u32),
            kind: tree.named(flit, "kind", TlReq::DEF.family(), &KINDS),
            crc_ok: tree.var(flit, "crc_ok", 1),
            explicit: tree.detail(flit, "explicit", ExplicitHeader::DEF),
            command: tree.detail(flit, "command", CommandHeader::DEF),
            taken: tree.count(taken, "seq"),
            number: tree.decimal(taken, "number", 9),
            tl_flits: tree.decimal(taken, "tl_flits", 4),
            fields: fields()
                .into_iter()
                .map(|layout| {
                    let name = short_name(layout);
                    let field = |n| match n {
                        0 => tree.message(place, name, layout),
                        n => tree.detail(place, &format!("{name}_{n}"), layout),
                    };
                    (0..SCOPES).map(field).collect()
                })
                .collect(),
            messages: MESSAGES.into_iter().map(|layout| tree.detail(place, short_name(layout), layout)).collect(),
            unpacker: Unpacker::new(UalConfig::SHEET, role),
        }
    }
}

fn flit_of(bytes: &[u8]) -> DlFlit {
    let mut flit = DlFlit([0; FLIT_BYTES]);
    let n = bytes.len().min(FLIT_BYTES);
    flit.0[..n].copy_from_slice(&bytes[..n]);
    flit
}

impl FlitVars for UalFlitVars {
    fn show(&mut self, state: &mut SignalValues, bytes: &[u8]) {
        let flit = flit_of(bytes);
        let (crc_ok, header) = (flit.crc() == flit.expected_crc(&UalConfig::SHEET), flit.header());
        state.count(self.seq);
        state.set_bytes(self.raw, &flit.0);
        state.set(self.crc_ok, u128::from(crc_ok));
        if !crc_ok || !header.is_usable() || header.zero_number().is_some() {
            state.set(self.kind, DROPPED);
            return;
        }
        let (vars, command) = match header {
            UalHeader::Explicit(_) => (&self.explicit, 0),
            UalHeader::Command(_) => (&self.command, 2),
        };
        vars.show(state, flit.header_bits().into());
        state.set(self.kind, command | u128::from(header.payload()));
    }

    fn take(&mut self, state: &mut SignalValues, number: u16, bytes: &[u8]) {
        let decoded = self.unpacker.read(&flit_of(bytes));
        state.count(self.taken);
        state.set(self.number, number.into());
        for word in &decoded.messages {
            if let DlItem::Message(layout) = word.item
                && let Some(vars) = self.messages.iter().find(|vars| vars.is(layout))
            {
                vars.show(state, word.word.into());
            }
        }
        let reads = decoded.finished.iter().chain(&decoded.tl).filter_map(|tl| tl.read.as_ref());
        let mut seen = [0; 6];
        let mut whole = 0;
        for read in reads {
            whole += 1;
            for placed in read.control.iter().flat_map(|control| &control.fields) {
                let layout = placed.field.def();
                let Some(kind) = fields().iter().position(|f| f.name == layout.name) else { continue };
                let scopes = &self.fields[kind];
                if let Some(vars) = scopes.get(seen[kind]).or(scopes.last()) {
                    vars.show(state, placed.bits);
                }
                seen[kind] += 1;
            }
        }
        state.set(self.tl_flits, whole);
    }
}
