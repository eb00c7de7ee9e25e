//! The transaction trace: one JSON object a line.
//!
//! The first line is the [`TraceHeader`]. Every other line is a record with the keys, in this order, `t_fs`, `cycle`,
//! `where`, `kind`, `id`, `parent`, and then by what it carries
//!
//! | body | keys |
//! | --- | --- |
//! | message | `protocol`, `message`, `fields`, `hex`, `data` if there is some |
//! | flit | `protocol`, `dir`, `hex` |
//! | mark | `name` |
//! | access | `name` of what it does, `address` |
//! | wait | `name` of its reason ([`Wait`](super::wait::Wait)), `holder` if it is known |
//! | payload taken | `name` `taken`, `number`; its bytes are those of the flit that came |
//! | violation | `rule`, `at`, `found`, `expected`, `text` |
//! | value | `signal`, `value` |
//! | any of them where it passes a vPPB of a switch | behind its own keys `vcs` and `vppb`, both from 0 as in descriptions |
//!
//! Integers above 2^53-1 are `0x` strings; bytes are lower-case hex, byte 0 first; codes stand by name, reserved ones
//! as numbers; addresses are byte addresses as `0x` strings. `protocol` of a message is the first flit protocol of its layout's
//! family. `id` is the transaction that a record belongs to and `parent` the one that caused it, 0 where there is none: on every
//! record of a transaction, as it was when it began. An id is that of one transaction in the whole trace. A transaction begins
//! while its parent is open, or after it where the parent is a posted request, which ends when it is sent; it may end later.

use std::io::{self, Write};

use scalepool_protocols::registry;

use super::fields::{hex, integer, object, text};
use super::filter::When;
use super::{Body, OpenError, Places, Record, Sink, TraceFilter, TraceHeader};

/// Value of `format` in the first line.
pub const FORMAT: &str = "scalepool-trace";

/// Version of the format. A change of a key, its meaning or its order raises it; further keys behind those of a record do not.
pub const FORMAT_VERSION: u64 = 1;

/// Writes JSON lines. Give it a buffered writer.
#[derive(Debug)]
pub struct JsonlSink<W: Write> {
    out: W,
    filter: TraceFilter,
    /// By ordinal.
    taken: Vec<bool>,
    line: String,
}

impl<W: Write> JsonlSink<W> {
    /// Begins a trace: writes the first line.
    ///
    /// # Errors
    /// The filter takes no place, or the output cannot be written.
    pub fn new(
        mut out: W,
        header: &TraceHeader,
        places: &Places,
        filter: TraceFilter,
    ) -> Result<JsonlSink<W>, OpenError> {
        let taken = filter.select(places)?;
        let mut line = format!("{{\"format\":\"{FORMAT}\",\"format_version\":{FORMAT_VERSION},\"model_version\":");
        text(&mut line, &header.model_version);
        if let Some(run) = &header.run {
            line.push_str(",\"scenario_hash\":");
            text(&mut line, &run.scenario_hash);
            line.push_str(",\"seed\":");
            integer(&mut line, run.seed.into());
        }
        line.push_str("}\n");
        out.write_all(line.as_bytes())?;
        Ok(JsonlSink { out, filter, taken, line })
    }

    fn key(&mut self, name: &str) {
        self.line.push_str(",\"");
        self.line.push_str(name);
        self.line.push_str("\":");
    }

    fn integer(&mut self, name: &str, value: u64) {
        self.key(name);
        integer(&mut self.line, value.into());
    }

    fn text(&mut self, name: &str, value: &str) {
        self.key(name);
        text(&mut self.line, value);
    }

    fn hex(&mut self, name: &str, bytes: &[u8]) {
        self.key(name);
        hex(&mut self.line, bytes);
    }

    fn body(&mut self, body: &Body) {
        match body {
            Body::None => (),
            Body::Mark(name) => self.text("name", name),
            Body::Access { name, address } => {
                self.text("name", name);
                self.text("address", &format!("{address:#x}"));
            }
            Body::Wait { wait, holder } => {
                self.text("name", wait.name());
                if *holder != 0 {
                    self.integer("holder", *holder);
                }
            }
            Body::Message { layout, bits, data } => {
                let family = layout.family();
                let protocol = registry::PROTOCOLS.iter().find(|p| p.family == family).map_or(family, |p| p.name);
                self.text("protocol", protocol);
                self.text("message", layout.name);
                self.key("fields");
                object(&mut self.line, layout, *bits);
                self.hex("hex", &layout.to_bytes(*bits));
                if let Some(data) = data {
                    self.hex("data", data);
                }
            }
            Body::Flit { protocol, dir, bytes } => {
                self.text("protocol", protocol);
                self.text("dir", dir);
                self.hex("hex", bytes);
            }
            Body::Taken { number, .. } => {
                self.text("name", "taken");
                self.integer("number", (*number).into());
            }
            Body::Violation(v) => {
                self.text("rule", v.rule);
                self.text("at", &v.at.to_string());
                self.text("found", &v.found);
                self.text("expected", &v.expected);
                self.text("text", &v.text);
            }
            Body::Via { vppb, body } => {
                self.body(body);
                self.integer("vcs", vppb.vcs as u64);
                self.integer("vppb", vppb.vppb as u64);
            }
            Body::Value { signal, value } => {
                self.text("signal", signal);
                self.integer("value", *value);
            }
            Body::Figure { signal, value } => {
                self.integer("signal", *signal as u64);
                self.integer("value", *value);
            }
        }
    }
}

impl<W: Write> Sink for JsonlSink<W> {
    fn record(&mut self, places: &Places, r: &Record) -> io::Result<()> {
        let taken = self.taken.get(r.ordinal as usize) == Some(&true);
        if !taken || self.filter.when(r.at.t_fs) != When::Within {
            return Ok(());
        }
        self.line.clear();
        self.line.push_str("{\"t_fs\":");
        integer(&mut self.line, r.at.t_fs.into());
        self.integer("cycle", r.at.cycle);
        self.text("where", places.path(r.ordinal));
        self.text("kind", r.kind.name());
        self.integer("id", r.id);
        self.integer("parent", r.parent);
        self.body(&r.body);
        self.line.push_str("}\n");
        self.out.write_all(self.line.as_bytes())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
