//! A flit to its object.

use super::{RESERVED_FORMAT, control, kind_name};
use crate::{Object, almp, flit_io, message, number, violation};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::check::{self, Findings};
use scalepool_protocols::cxl::cxl256::config::Cxl256Config;
use scalepool_protocols::cxl::cxl256::crd::Crd;
use scalepool_protocols::cxl::cxl256::flit::{self, Cxl256Flit, DLLP_BYTES, SLOTS, crc_parts};
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::stream::{Cxl256DecodedFlit, Cxl256FlitKind, Cxl256SlotRole, Unpacker};
use scalepool_protocols::cxl::cxl256::{Mode, Routing};
use scalepool_protocols::cxl::cxlio::dllp::Dllp;
use scalepool_protocols::wire::Wire;
use serde_json::Value;

/// Reads flits of one direction as one stream.
#[derive(Debug, Clone)]
pub struct Cxl256FlitDecoder {
    unpacker: Unpacker,
    config: Cxl256Config,
}

impl Cxl256FlitDecoder {
    /// A stream of which nothing has been read.
    pub fn new(mode: Mode, dir: Dir) -> Cxl256FlitDecoder {
        Cxl256FlitDecoder::with_config(mode, dir, Cxl256Config::default())
    }

    /// The same, judged by a configuration.
    pub fn with_config(mode: Mode, dir: Dir, config: Cxl256Config) -> Cxl256FlitDecoder {
        Cxl256FlitDecoder { unpacker: Unpacker::new(mode, dir), config }
    }

    /// Takes the next flit apart and judges it.
    pub fn read(&mut self, unit: &Cxl256Flit) -> (Cxl256DecodedFlit, Findings) {
        let decoded = self.unpacker.read(unit);
        let findings = check::flit(&decoded, &self.config);
        (decoded, findings)
    }
}

/// The object of a flit; `index` counts the flits of the stream from 0.
pub fn to_json(decoded: &Cxl256DecodedFlit, findings: &Findings, index: u64) -> Value {
    let (flit, mode) = (decoded.flit(), decoded.mode);
    let body: Vec<u8> = flit.body(mode).collect();
    let tlp_bytes = body.len() - DLLP_BYTES;
    let mut form = Object::new();
    form.insert("protocol".into(), mode.protocol().into());
    form.insert("dir".into(), decoded.dir.name().into());
    form.insert("index".into(), index.into());
    form.insert("kind".into(), kind_name(&decoded.kind).into());
    form.insert("header".into(), message::fields_to_json(FlitHeader::DEF, header_bits(flit)));
    match &decoded.kind {
        Cxl256FlitKind::Protocol | Cxl256FlitKind::Control | Cxl256FlitKind::Empty => {
            if decoded.kind == Cxl256FlitKind::Control {
                form.insert("control".into(), control::to_json(flit.slot(mode, 0)));
            }
            form.insert("slots".into(), (0..SLOTS).filter_map(|n| slot(decoded, n)).collect());
            form.insert("crd".into(), message::fields_to_json(Crd::DEF, crd_bits(flit)));
        }
        Cxl256FlitKind::Almp => {
            let word = almp_word(&body);
            let def = scalepool_protocols::cxl::cxl256::almp::def(word);
            let almp = almp::to_json(def, word);
            let own = almp::from_json(def, &almp, def.default_bits() as u32);
            form.insert("almp".into(), almp);
            if own != Ok(word) || body[4..].iter().any(|&b| b != 0) {
                form.insert("data".into(), number::hex(&body).into());
            }
        }
        Cxl256FlitKind::Nop | Cxl256FlitKind::Idle => {
            if body[tlp_bytes..].iter().any(|&b| b != 0) {
                form.insert("dllp".into(), dllp(decoded, &body));
            }
            if body[..tlp_bytes].iter().any(|&b| b != 0) {
                form.insert("data".into(), number::hex(&body).into());
            }
        }
        Cxl256FlitKind::Io(tlps) => {
            let pbr = mode.routing() == Routing::Pbr;
            form.insert("tlps".into(), flit_io::tlps_to_json(tlps, &body[..tlp_bytes], pbr));
            form.insert("dllp".into(), dllp(decoded, &body));
        }
    }
    form.insert("crc".into(), crc(decoded));
    form.insert("fec".into(), fec(decoded));
    form.insert("violations".into(), violation::list_to_json(&findings.violations));
    if !findings.lints.is_empty() {
        form.insert("lints".into(), violation::list_to_json(&findings.lints));
    }
    form.insert("hex".into(), number::hex(&decoded.unit.0).into());
    Value::Object(form)
}

/// Flit bytes 0 and 1 as the layout counts them.
fn header_bits(flit: &Cxl256Flit) -> u128 {
    u16::from_be_bytes([flit.0[0], flit.0[1]]).into()
}

fn crd_bits(flit: &Cxl256Flit) -> u128 {
    let at = flit::standard::CRD.start;
    u16::from_le_bytes([flit.0[at], flit.0[at + 1]]).into()
}

/// The four bytes of an ALMP.
pub(super) fn almp_word(body: &[u8]) -> u32 {
    u32::from_le_bytes([body[0], body[1], body[2], body[3]])
}

/// The last four bytes of a body.
fn dllp(decoded: &Cxl256DecodedFlit, body: &[u8]) -> Value {
    let dllp = body.last_chunk().copied().unwrap_or_default();
    flit_io::dllp_to_json(Dllp(dllp), decoded.header.dllp_type)
}

/// A slot; `None` where it is zero and means nothing.
fn slot(decoded: &Cxl256DecodedFlit, n: usize) -> Option<Value> {
    let kind = decoded.mode.slot_kind(n);
    let bits = decoded.flit().slot(decoded.mode, n);
    let hex = || Value::from(number::hex(&bits.to_le_bytes()[..kind.bytes()]));
    let mut form = Object::new();
    form.insert("slot".into(), n.into());
    match decoded.roles[n] {
        Cxl256SlotRole::Format(format) => {
            form.insert("format".into(), format.name.into());
            if bits != 0 {
                let def = |class: scalepool_protocols::cxl::cxl256::Class| class.def(format.routing);
                let messages = format.places().map(|p| message::message_to_json(def(p.class), p.extract(bits)));
                form.insert("messages".into(), messages.collect());
            }
            if bits & format.reserved_bits() != 0 {
                form.insert("hex".into(), hex());
            }
        }
        Cxl256SlotRole::Control(_) => {
            let control = control::to_json(bits);
            let own = control::from_json(&control, None);
            form.insert("format".into(), (if n == 0 { "H8" } else { "HS8" }).into());
            if n != 0 {
                form.insert("control".into(), control);
            }
            if own != Ok(bits) {
                form.insert("hex".into(), hex());
            }
        }
        Cxl256SlotRole::Reserved => {
            form.insert("format".into(), RESERVED_FORMAT.into());
            form.insert("hex".into(), hex());
        }
        Cxl256SlotRole::Data | Cxl256SlotRole::Trailer => {
            form.insert("data".into(), hex());
        }
        Cxl256SlotRole::Unused if bits == 0 => return None,
        Cxl256SlotRole::Unused => {
            form.insert("hex".into(), hex());
        }
    }
    Some(Value::Object(form))
}

fn crc(decoded: &Cxl256DecodedFlit) -> Value {
    let flit = decoded.flit();
    let mut form = Object::new();
    form.insert("ok".into(), decoded.received.crc_ok.into());
    for part in crc_parts(decoded.mode) {
        let digits = 2 + 2 * part.bytes.len();
        let word = |value: u64| Value::from(format!("{value:#0digits$x}"));
        let (found, expected) = (part.found(flit), part.expected(flit));
        let words = [("found".to_owned(), word(found)), ("expected".to_owned(), word(expected))];
        if part.half.is_empty() {
            form.extend(words);
        } else {
            let mut half = Object::from_iter([("ok".to_owned(), (found == expected).into())]);
            half.extend(words);
            form.insert(part.half.into(), Value::Object(half));
        }
    }
    Value::Object(form)
}

fn fec(decoded: &Cxl256DecodedFlit) -> Value {
    let mut form = Object::new();
    form.insert("ok".into(), decoded.received.fec.is_ok().into());
    let corrected: Vec<Value> = match &decoded.received.fec {
        Ok(corrections) => corrections
            .iter()
            .map(|c| {
                let byte = |value: u8| Value::from(format!("{value:#04x}"));
                Value::Object(Object::from_iter([
                    ("byte".into(), c.byte.into()),
                    ("found".into(), byte(decoded.unit.0[c.byte])),
                    ("expected".into(), byte(decoded.flit().0[c.byte])),
                ]))
            })
            .collect(),
        Err(_) => Vec::new(),
    };
    form.insert("corrected".into(), corrected.into());
    if let Err(e) = &decoded.received.fec {
        form.insert("uncorrectable_group".into(), e.group.into());
    }
    Value::Object(form)
}
