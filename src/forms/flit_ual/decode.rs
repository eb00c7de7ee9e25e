//! A flit to its object.

use super::PROTOCOL;
use super::answers::{Answers, UalFlitAnswer};
use super::follow::{Follower, UalFlitPlace};
use crate::{FormError, Object, message, number, violation};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::flit::{DlFlit, SEGMENTS};
use scalepool_protocols::ualink::header::SegmentHeader;
use scalepool_protocols::ualink::segment::BOUNDS;
use scalepool_protocols::ualink::stream::{DlItem, DlWord, TlItem, UalDecodedFlit};
use scalepool_protocols::ualink::unpack::{HalfRole, TlRead};
use scalepool_protocols::wire::{Findings, Wire};
use serde_json::Value;

/// Reads flits of one direction as one stream.
#[derive(Debug, Clone)]
pub struct UalFlitDecoder {
    dir: Dir,
    stream: Follower,
    answers: Answers,
    flits: u64,
}

impl UalFlitDecoder {
    /// A stream of which nothing has been read.
    pub fn new(dir: Dir) -> UalFlitDecoder {
        UalFlitDecoder::with_config(dir, UalConfig::SHEET)
    }

    /// The same, read and judged by a configuration.
    pub fn with_config(dir: Dir, config: UalConfig) -> UalFlitDecoder {
        UalFlitDecoder { dir, stream: Follower::new(config, dir, false), answers: Answers::default(), flits: 0 }
    }

    /// The same beside a link: a replay is followed from the first NOPs on.
    pub fn following(dir: Dir, config: UalConfig) -> UalFlitDecoder {
        UalFlitDecoder { stream: Follower::new(config, dir, true), ..UalFlitDecoder::with_config(dir, config) }
    }

    /// Takes the next flit; all answers that are due now.
    pub fn read(&mut self, unit: &DlFlit) -> Vec<UalFlitAnswer> {
        let index = self.flits;
        self.flits += 1;
        let (decoded, place) = self.stream.read(unit);
        match place {
            UalFlitPlace::Alone => return self.answers.alone(self.dir, index, decoded),
            UalFlitPlace::Elsewhere => self.answers.abandon(),
            UalFlitPlace::Next => (),
        }
        self.answers.flit(self.dir, index, decoded)
    }

    /// Notes a line that is no flit; all answers that are due now.
    pub fn refuse(&mut self, error: FormError) -> Vec<UalFlitAnswer> {
        self.answers.error(error)
    }

    /// The end of the stream: all other answers.
    pub fn finish(&mut self) -> Vec<UalFlitAnswer> {
        self.answers.finish()
    }
}

/// The object of a flit and all that is wrong with it; `index` counts the flits of the stream from 0.
pub(super) fn to_json(decoded: &UalDecodedFlit, dir: Dir, index: u64) -> (Value, Findings) {
    let mut findings = Findings { violations: decoded.violations.clone(), ..Findings::default() };
    findings.violations.extend(decoded.tl.iter().flat_map(TlItem::violations));
    let header = decoded.header;
    let mut form = Object::new();
    form.insert("protocol".into(), PROTOCOL.into());
    form.insert("dir".into(), dir.name().into());
    form.insert("index".into(), index.into());
    form.insert("kind".into(), (if header.payload() { "protocol" } else { "nop" }).into());
    form.insert("header".into(), message::fields_to_json(header.def(), decoded.unit.header_bits().into()));
    form.insert("segments".into(), (0..SEGMENTS).filter_map(|n| segment(decoded, n)).collect());
    form.insert("messages".into(), decoded.messages.iter().map(dl_word).collect());
    form.insert("tl_flits".into(), decoded.tl.iter().map(tl_flit).collect());
    form.insert("crc".into(), crc(decoded));
    form.insert("violations".into(), violation::list_to_json(&findings.violations));
    form.insert("hex".into(), number::hex(&decoded.unit.0).into());
    (Value::Object(form), findings)
}

/// A segment; `None` where it is all zero.
fn segment(decoded: &UalDecodedFlit, n: usize) -> Option<Value> {
    let header = decoded.payload.headers[n];
    let data: Vec<u8> = decoded.payload.sectors[BOUNDS[n].0..BOUNDS[n].2].concat();
    if header == 0 && data.iter().all(|&b| b == 0) {
        return None;
    }
    let mut form = Object::new();
    form.insert("segment".into(), n.into());
    form.insert("header".into(), message::fields_to_json(SegmentHeader::DEF, header.into()));
    form.insert("data".into(), number::hex(&data).into());
    Some(Value::Object(form))
}

fn dl_word(word: &DlWord) -> Value {
    let bytes = || Value::from(number::hex(&word.word.to_le_bytes()));
    match word.item {
        DlItem::Message(def) => message::message_to_json(def, word.word.into()),
        DlItem::Uart => Value::Object(Object::from_iter([("uart".to_owned(), bytes())])),
        DlItem::Unlisted => Value::Object(Object::from_iter([("hex".to_owned(), bytes())])),
    }
}

fn tl_flit(item: &TlItem) -> Value {
    let mut form = Object::new();
    form.insert("segment".into(), item.piece.segment.into());
    form.insert("place".into(), (item.piece.place as u8).into());
    if item.read.is_none() {
        form.insert("incomplete".into(), true.into());
    }
    for (n, key) in ["lower", "upper"].into_iter().enumerate() {
        form.insert(key.into(), half(item, n));
    }
    Value::Object(form)
}

fn half(item: &TlItem, n: usize) -> Value {
    let mut form = Object::new();
    if let Some(read) = &item.read {
        form.insert("kind".into(), kind(&read.roles[n]).into());
        if let HalfRole::Message(message) = &read.roles[n] {
            let name = message.kind.name().map_or_else(|| message.kind.0.into(), Value::from);
            form.insert("type".into(), name);
        }
        if read.roles[n] == HalfRole::Control {
            form.insert("messages".into(), fields(read));
        }
    }
    // Of a TL flit whose rest never came, the sectors that did.
    let come = item.piece.sectors.saturating_sub(8 * n).min(8);
    form.insert("hex".into(), number::hex(&item.piece.flit.halves[n][..4 * come]).into());
    Value::Object(form)
}

/// Name of a kind of half.
const fn kind(role: &HalfRole) -> &'static str {
    match role {
        HalfRole::Control => "control",
        HalfRole::Data => "data",
        HalfRole::Poison => "poison",
        HalfRole::Enables => "byte_enables",
        HalfRole::Tags => "auth_tags",
        HalfRole::Message(_) => "message",
        HalfRole::Nothing => "nop",
    }
}

fn fields(read: &TlRead) -> Value {
    let placed = read.control.iter().flat_map(|control| &control.fields);
    placed.map(|p| message::message_to_json(p.field.def(), p.bits)).collect()
}

fn crc(decoded: &UalDecodedFlit) -> Value {
    let word = |crc: u32| Value::from(format!("{crc:#010x}"));
    let mut form = Object::new();
    form.insert("ok".into(), decoded.crc_ok().into());
    form.insert("found".into(), word(decoded.unit.crc()));
    form.insert("expected".into(), word(decoded.expected_crc));
    Value::Object(form)
}
