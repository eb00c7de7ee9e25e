//! The log: one line an event, with a filter for each layer and one id through all of them.
//!
//! Modelled: every [`Record`] as a line of `key=value` words; a flit as one line for each message that it carries. A line
//! has the time, the cycle, level, layer, the module that spoke, its place, the kind of event and the id of the
//! transaction: the id of the record that began it, which the trace shows too, so that one search for `id=N` (with a space
//! behind) shows a message's way through all layers. Left out: a message of the log's own; TLPs inside flits, whose lines
//! have id 0, as all lines have that concern no transaction. What was sent twice has a line each time.
//!
//! Nothing that travels carries such an id. It is found by what does: requester, tag and address of a request lead to the
//! transaction that was begun with them, requester and tag of an answer to the request; on coherent links, what each
//! message echoes (`trace::link_ids`). Where tags count for each port
//! (UALink) and a place between two ports shows an answer, the id is left 0 rather than guessed.
//!
//! | level | events |
//! | --- | --- |
//! | `warn` | broken rules |
//! | `info` | begin and end of transactions |
//! | `debug` | messages on links, marks |
//! | `trace` | signals, payload that a receiver has taken |
//!
//! Invariants: an observer only, like every [`Sink`](super::Sink); a run is the same with and without it.

use super::link_ids::{LinkIds, MessageRole};
use super::{Body, Places, Record, RecordKind};
use scalepool_forms::flit::FlitDecoder;
use scalepool_forms::{message, number};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::Dir;
use serde_json::{Value, json};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// Broken rules.
    Warn,
    /// Transactions.
    Info,
    /// Messages on links.
    Debug,
    /// Signals.
    Trace,
}

impl LogLevel {
    const NAMES: [(&'static str, LogLevel); 5] = [
        ("off", LogLevel::Off),
        ("warn", LogLevel::Warn),
        ("info", LogLevel::Info),
        ("debug", LogLevel::Debug),
        ("trace", LogLevel::Trace),
    ];

    fn name(self) -> &'static str {
        LogLevel::NAMES.into_iter().find(|(_, level)| *level == self).map_or("?", |(name, _)| name)
    }
}

/// Layers of the model that speak, lowest first. Those between record nothing of their own: what they do is seen at the links
/// and in the scenario.
pub const LAYERS: [&str; 3] = ["link", "coherence", "scenario"];

/// The level of each layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFilter([LogLevel; LAYERS.len()]);

/// A filter that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("log filter: found `{found}`, expected LEVEL or LAYER=LEVEL, separated by commas; layers are {}, levels off, warn, info, debug, trace", LAYERS.join(", "))]
pub struct LogError {
    found: String,
}

impl LogFilter {
    /// Reads `link=debug,scenario=info`; a level alone is that of every layer, and what stands later counts.
    ///
    /// # Errors
    /// A layer or level that there is not.
    pub fn parse(text: &str) -> Result<LogFilter, LogError> {
        let mut filter = LogFilter([LogLevel::Off; LAYERS.len()]);
        for part in text.split(',').map(str::trim) {
            let error = || LogError { found: part.to_owned() };
            let (layer, level) =
                part.split_once('=').map_or((None, part), |(layer, level)| (Some(layer.trim()), level));
            let level = LogLevel::NAMES.into_iter().find(|(name, _)| *name == level.trim()).ok_or_else(error)?.1;
            match layer.map(|layer| LAYERS.iter().position(|l| *l == layer).ok_or_else(error)).transpose()? {
                Some(layer) => filter.0[layer] = level,
                None => filter.0 = [level; LAYERS.len()],
            }
        }
        Ok(filter)
    }

    /// Whether a line of a layer is wanted.
    pub fn wants(&self, layer: &str, level: LogLevel) -> bool {
        LAYERS.iter().zip(&self.0).any(|(name, most)| *name == layer && level <= *most)
    }
}

type Write = dyn FnMut(&str) + Send;

/// Where the log of a run goes.
#[derive(Clone)]
pub struct LogTo {
    filter: LogFilter,
    write: Arc<Mutex<Write>>,
}

impl LogTo {
    /// Lines that the filter wants, without their ends.
    pub fn new(filter: LogFilter, write: impl FnMut(&str) + Send + 'static) -> LogTo {
        LogTo { filter, write: Arc::new(Mutex::new(write)) }
    }
}

impl fmt::Debug for LogTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LogTo").field(&self.filter).finish()
    }
}

impl PartialEq for LogTo {
    fn eq(&self, other: &LogTo) -> bool {
        self.filter == other.filter && Arc::ptr_eq(&self.write, &other.write)
    }
}

impl Eq for LogTo {}

/// What a message says of its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Names {
    request: bool,
    /// It has no answer, and its tag says nothing.
    posted: bool,
    requester: u64,
    tag: u64,
    /// Low 38 bits, which every format has.
    address: Option<u64>,
}

impl Names {
    fn of(form: &Value) -> Option<Names> {
        let (layout, fields) = (form["layout"].as_str()?, &form["fields"]);
        let field = |name: &str| number::from_json(fields.get(name)?, name).ok().map(|n| n as u64);
        if field("valid") == Some(0) {
            return None;
        }
        let (family, message) = layout.split_once('.')?;
        let (request, requester) = match (family, message) {
            ("ualink", "tl_req" | "tl_creq") => (true, field("src")?),
            ("ualink", _) => (false, field("dst")?),
            ("nvlink", _) => (!fields["op"].as_str()?.starts_with("RSP"), field("rid")?),
            ("cxl68" | "cxl256" | "cxlpbr", m2s) if m2s.starts_with("m2s") => (true, field("spid").unwrap_or(0)),
            ("cxl68" | "cxl256" | "cxlpbr", s2m) if s2m.starts_with("s2m") => (false, field("dpid").unwrap_or(0)),
            _ => return None,
        };
        let posted = fields["op"].as_str().is_some_and(|op| op.ends_with("POSTED") && !op.ends_with("NONPOSTED"));
        let address = field("address").filter(|_| message != "tl_creq").map(|a| a & ((1 << 38) - 1));
        Some(Names { request, posted, requester, tag: field("tag")?, address })
    }
}

/// A transaction that has begun and not ended.
struct OpenTransaction {
    requester: u64,
    /// `None`: it has no tag before it is on a link.
    tag: Option<u64>,
    address: Option<u64>,
    /// It ends when it is sent, before its messages are on a link.
    posted: bool,
}

/// In place of a port: requests without an answer.
const POSTED: Option<u64> = Some(u64::MAX);

/// Which transaction a message belongs to.
#[derive(Default)]
struct TransactionIds {
    open: OrderedMap<u64, OpenTransaction>,
    /// By requester, tag and port.
    bound: OrderedMap<(u64, u64, Option<u64>), Vec<u64>>,
    /// Ids of those who serve a request, by their own.
    served: OrderedMap<u64, u64>,
}

impl TransactionIds {
    /// The id of a message at a port of which the requester numbers its tags; 0 if it is not known.
    fn of(&mut self, names: Names, port: Option<u64>) -> u64 {
        let Names { request, posted, requester, tag, address } = names;
        let port = if posted { POSTED } else { port };
        let known: Vec<u64> = match self.bound.get(&(requester, tag, port)) {
            Some(ids) => ids.clone(),
            None => {
                let ports = self.bound.range((requester, tag, None)..(requester, tag, POSTED));
                ports.flat_map(|(_, ids)| ids.iter().copied()).collect()
            }
        };
        let fits = |id: &&u64| self.open.get(id).is_some_and(|open| address.is_none() || open.address == address);
        if request {
            if let Some(id) = known.iter().find(fits) {
                return *id;
            }
            let begun = self.open.iter().find(|(id, open)| {
                open.requester == requester
                    && open.tag.is_none_or(|t| t == tag)
                    && (address.is_none() || open.address == address)
                    && (open.tag.is_some() || !self.bound.values().flatten().any(|bound| bound == *id))
            });
            let Some(id) = begun.map(|(id, _)| *id) else { return 0 };
            self.bound.entry((requester, tag, port)).or_default().push(id);
            return id;
        }
        match known[..] {
            [id] => id,
            _ => 0,
        }
    }

    fn begins(&mut self, id: u64, form: &Value) -> u64 {
        let Some(names) = Names::of(form) else { return id };
        // NVLink gives a tag when a part of the request goes out.
        let tagged = form["layout"] != "nvlink.header";
        let origin = if tagged { self.of(names, None) } else { 0 };
        if origin != 0 {
            // The request was begun elsewhere: this one serves it.
            self.served.insert(id, origin);
            return origin;
        }
        let Names { requester, tag, address, posted, .. } = names;
        self.open.insert(id, OpenTransaction { requester, tag: tagged.then_some(tag), address, posted });
        id
    }

    fn ends(&mut self, id: u64) -> u64 {
        if let Some(origin) = self.served.remove(&id) {
            return origin;
        }
        if self.open.get(&id).is_some_and(|open| open.posted) {
            return id;
        }
        self.open.remove(&id);
        self.bound.retain(|_, ids| {
            ids.retain(|bound| *bound != id);
            !ids.is_empty()
        });
        id
    }
}

/// Writes the log.
pub struct LogSink {
    to: LogTo,
    ids: TransactionIds,
    /// Those of coherent links, as soon as an agent has spoken.
    coherent: Option<LinkIds>,
    /// Streams of flits, by ordinal of their place.
    streams: OrderedMap<u32, FlitDecoder>,
}

impl LogSink {
    /// A log that begins.
    pub fn new(to: LogTo) -> LogSink {
        LogSink { to, ids: TransactionIds::default(), coherent: None, streams: OrderedMap::new() }
    }

    fn line(&self, places: &Places, r: &Record, level: LogLevel, id: u64, rest: &str) {
        let layer = layer(r.from);
        if !self.to.filter.wants(layer, level) {
            return;
        }
        let module = module(r.from);
        let (t_fs, cycle, level, place, kind) =
            (r.at.t_fs, r.at.cycle, level.name(), places.path(r.ordinal), r.kind.name());
        let line = format!(
            "t_fs={t_fs} cycle={cycle} level={level} layer={layer} module={module} where={place} kind={kind} id={id} {rest}"
        );
        (self.to.write.lock().unwrap_or_else(PoisonError::into_inner))(line.trim_end());
    }

    /// Messages of a flit.
    fn flit(&mut self, r: &Record, protocol: &str, dir: &str, bytes: &[u8]) -> Vec<Value> {
        let dir = if dir == Dir::Down.name() { Dir::Down } else { Dir::Up };
        if !self.streams.contains_key(&r.ordinal)
            && let Ok(decoder) = FlitDecoder::new(protocol, dir)
        {
            self.streams.insert(r.ordinal, decoder);
        }
        let Some(decoder) = self.streams.get_mut(&r.ordinal) else { return Vec::new() };
        let mut messages = Vec::new();
        for (form, _) in decoder.read(Ok(bytes)).into_iter().flatten() {
            if form["crc"]["ok"] != false {
                collect(&form, &mut messages);
                // The header of a packet stands in its form without a name.
                let header = json!({"layout": "nvlink.header", "fields": form["packet"]["header"]});
                messages.extend(Names::of(&header).map(|_| header));
            }
        }
        messages
    }
}

/// Everything in a form that is a message with a tag, or of CXL.cache or a back-invalidate.
fn collect(form: &Value, messages: &mut Vec<Value>) {
    if Names::of(form).is_some() || has_link_id(form) {
        messages.push(form.clone());
        return;
    }
    match form {
        Value::Object(object) => object.values().for_each(|value| collect(value, messages)),
        Value::Array(items) => items.iter().for_each(|value| collect(value, messages)),
        _ => (),
    }
}

/// Whether only [`LinkIds`] knows what it belongs to.
fn has_link_id(form: &Value) -> bool {
    let layout = form["layout"].as_str().unwrap_or_default();
    let message = layout.split_once('.').filter(|(family, _)| family.starts_with("cxl")).map_or("", |(_, m)| m);
    let cached = message.starts_with("d2h_") || message.starts_with("h2d_");
    (cached || matches!(message, "s2m_bisnp" | "m2s_birsp")) && form["fields"]["valid"] != 0
}

/// A message in words.
fn words(form: &Value) -> String {
    let mut text = format!("message={}", form["layout"].as_str().unwrap_or("?"));
    for key in ["opcode", "op", "cmd", "tag", "cqid", "uqid", "bi_tag", "address"] {
        match &form["fields"][key] {
            Value::Null => (),
            Value::String(value) => text += &format!(" {key}={value}"),
            value => text += &format!(" {key}={value}"),
        }
    }
    text
}

type Location = std::panic::Location<'static>;

/// A file of the sources without what a dependent's path puts in front.
fn file(from: &'static Location) -> &'static str {
    let file = from.file();
    file.rfind("src/").or_else(|| file.rfind("src\\")).map_or(file, |at| &file[at + 4..])
}

/// Layer that speaks there. Nodes are the inside of scenarios, whether code or a description joins them.
fn layer(from: &'static Location) -> &'static str {
    let folder = match file(from).split(['/', '\\']).next() {
        Some("nodes") => "scenario",
        folder => folder.unwrap_or_default(),
    };
    LAYERS.into_iter().find(|layer| *layer == folder).unwrap_or("?")
}

/// Module that speaks there.
fn module(from: &'static Location) -> String {
    let module = file(from).replace(['/', '\\'], "::");
    let module = module.strip_suffix(".rs").unwrap_or(&module);
    format!("scalepool::{}", ["::mod", "::lib"].iter().find_map(|end| module.strip_suffix(end)).unwrap_or(module))
}

/// The port that a path ends with: `accel[1].port[0]`.
fn port(path: &str) -> Option<u64> {
    path.rsplit_once("port[")?.1.split(']').next()?.parse().ok()
}

impl LogSink {
    /// Takes the next record; times never fall.
    pub fn record(&mut self, places: &Places, r: &Record) {
        // Nothing is learnt from these but their own lines, and there are many.
        let apart = match r.body {
            Body::Flit { .. } => Some(LogLevel::Debug),
            Body::Value { .. } | Body::Figure { .. } | Body::Taken { .. } => Some(LogLevel::Trace),
            _ => None,
        };
        if apart.is_some_and(|level| !self.to.filter.wants(layer(r.from), level)) {
            return;
        }
        // Tags of UALink are counted for each port; those of others are not.
        let port_of = |form: &Value| {
            let ualink = form["layout"].as_str().is_some_and(|l| l.starts_with("ualink"));
            if ualink { port(places.path(r.ordinal)) } else { None }
        };
        match r.body.without_vppb() {
            Body::Flit { protocol, dir, bytes } => {
                let messages = self.flit(r, protocol, dir, bytes);
                if messages.is_empty() {
                    self.line(places, r, LogLevel::Debug, r.id, &format!("protocol={protocol} dir={dir}"));
                }
                for form in messages {
                    let id = match (&mut self.coherent, places.get(r.ordinal).and_then(|place| place.link)) {
                        (Some(ids), Some(link)) => ids.of(link.into(), &form, None),
                        _ => Names::of(&form).map_or(0, |names| self.ids.of(names, port_of(&form))),
                    };
                    self.line(places, r, LogLevel::Debug, id, &words(&form));
                }
            }
            Body::Message { layout, bits, .. } => {
                let form = message::message_to_json(layout, *bits);
                if let Some((link, sends)) = r.link {
                    let part = Some(MessageRole { place: r.ordinal, own: r.id, sends });
                    let id = self.coherent.get_or_insert_default().of(link.into(), &form, part);
                    if r.kind == RecordKind::Begin && id != r.id {
                        // The request was begun elsewhere: this one serves it.
                        self.ids.served.insert(r.id, id);
                    }
                    let level = if r.kind == RecordKind::Begin { LogLevel::Info } else { LogLevel::Debug };
                    return self.line(places, r, level, id, &words(&form));
                }
                let (level, id) = match r.kind {
                    RecordKind::Begin => (LogLevel::Info, self.ids.begins(r.id, &form)),
                    RecordKind::End => (LogLevel::Info, self.ids.ends(r.id)),
                    _ => (LogLevel::Debug, Names::of(&form).map_or(r.id, |names| self.ids.of(names, port_of(&form)))),
                };
                self.line(places, r, level, id, &words(&form));
            }
            Body::Violation(violation) => self.line(places, r, LogLevel::Warn, r.id, &format!("rule={violation}")),
            Body::Figure { signal, value } => {
                self.line(places, r, LogLevel::Trace, r.id, &format!("figure {signal}={value}"))
            }
            Body::Value { signal, value } => self.line(places, r, LogLevel::Trace, r.id, &format!("{signal}={value}")),
            Body::Taken { number, .. } => self.line(places, r, LogLevel::Trace, r.id, &format!("number={number}")),
            Body::Mark(name) => self.mark(places, r, &format!("name={name}")),
            Body::Access { name, address } => self.mark(places, r, &format!("name={name} address={address:#x}")),
            Body::Wait { wait, holder: 0 } => self.mark(places, r, &format!("name={wait}")),
            Body::Wait { wait, holder } => self.mark(places, r, &format!("name={wait} holder={holder}")),
            Body::Via { .. } | Body::None => self.mark(places, r, ""),
        }
    }

    fn mark(&mut self, places: &Places, r: &Record, rest: &str) {
        let (level, id) = match r.kind {
            RecordKind::End => (LogLevel::Info, self.ids.ends(r.id)),
            RecordKind::Begin => (LogLevel::Info, r.id),
            _ => (LogLevel::Debug, self.ids.served.get(&r.id).copied().unwrap_or(r.id)),
        };
        self.line(places, r, level, id, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_has_a_level_for_each_layer() {
        let filter = LogFilter::parse("info, link=debug,coherence=off").expect("it is one");
        assert!(filter.wants("link", LogLevel::Debug) && !filter.wants("link", LogLevel::Trace));
        assert!(filter.wants("scenario", LogLevel::Info) && !filter.wants("scenario", LogLevel::Debug));
        assert!(!filter.wants("coherence", LogLevel::Warn) && !filter.wants("kernel", LogLevel::Warn));
        for wrong in ["", "loud", "link", "links=info", "link=", "link=info=debug", "info,,warn"] {
            let error = LogFilter::parse(wrong).expect_err(wrong).to_string();
            assert!(error.starts_with("log filter: found `"), "{error}");
        }
    }

    #[test]
    fn a_speaker_is_named_by_its_module() {
        let here = std::panic::Location::caller();
        assert_eq!((module(here).as_str(), layer(here)), ("scalepool::trace::log", "?"));
        assert_eq!((port("accel[1].port[3]"), port("host.core")), (Some(3), None));
    }
}
