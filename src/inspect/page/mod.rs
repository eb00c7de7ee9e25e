//! One self-contained page that shows an inspection like the screen of an analyser.
//!
//! Modelled: the list of units with time, direction and messages; filters by interface, kind, message class, opcode, address, tag and
//! findings; for the chosen unit its bytes, with the fields that stand in each; all findings. The page needs no network, and its
//! bytes depend on the inspection alone. Left out: waves, see [`Inspection::decoded`].
//!
//! A walk through one unit: its messages become short texts with the values that filters look for, its bytes become digits, and
//! `parts` says what stands where. All of it is one JSON object in the page; the script (`page.js`) makes rows of those that are in
//! sight, and takes the bits of a chosen unit apart by the tables of layouts that the page carries.

mod parts;

use super::told::{self, time_ns};
use super::{Inspection, SeenUnit, WaveViolation};
use scalepool_forms::{Object, layout, number};
use scalepool_ordered::OrderedSet;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::registry;
use scalepool_protocols::rules;
use scalepool_protocols::wire::LayoutDef;
use scalepool_trace::TraceFilter;
use scalepool_trace::filter::When;
use serde_json::{Value, json};

/// The page around its data.
const FRAME: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Names of fields that hold what a message does.
const OPCODE_FIELDS: [&str; 3] = ["opcode", "cmd", "op"];

/// Layouts that the page refers to, by position.
#[derive(Default)]
struct Layouts(Vec<&'static LayoutDef>);

impl Layouts {
    fn position(&mut self, layout: &'static LayoutDef) -> usize {
        let known = self.0.iter().position(|known| known.name == layout.name);
        known.unwrap_or_else(|| {
            self.0.push(layout);
            self.0.len() - 1
        })
    }

    fn named(&mut self, name: &str) -> Option<usize> {
        registry::layouts().find(|layout| layout.name == name).map(|layout| self.position(layout))
    }
}

/// Names of fields that name a transaction.
const TAG_FIELDS: [&str; 3] = ["tag", "cqid", "uqid"];

/// What one message says, for the list and its filters: layout, all other fields as text, opcode, address, tag.
fn message(layouts: &mut Layouts, name: &str, fields: &Object) -> Value {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let field = |names: &[&str]| names.iter().find_map(|key| fields.get_key_value(*key));
    let (opcode, tag) = (field(&OPCODE_FIELDS), field(&TAG_FIELDS));
    let address = fields.get_key_value("address");
    let told_apart: Vec<&String> = [opcode, tag, address].into_iter().flatten().map(|(key, _)| key).collect();
    let rest: Object =
        fields.iter().filter(|(key, _)| !told_apart.contains(key)).map(|(k, v)| (k.clone(), v.clone())).collect();
    let address = address.and_then(|(_, value)| number::from_json(value, "address").ok());
    json!([
        layouts.named(name),
        told::fields(Some(&rest)).trim_start(),
        opcode.map_or_else(String::new, |(_, value)| text(value)),
        address.map(|address| format!("{address:#x}")),
        tag.map(|(_, value)| text(value)),
    ])
}

fn finding(found: &WaveViolation) -> Value {
    let violation = &found.violation;
    json!([
        violation.rule,
        violation.at.to_string(),
        violation.found,
        violation.expected,
        violation.text,
        time_ns(found.t_fs),
        found.signal,
    ])
}

/// Name of what a unit is: that of its control flit, or its kind.
fn kind(form: Option<&Value>) -> &str {
    let Some(form) = form else { return "no unit" };
    let control = form.get("control").and_then(|control| control["name"].as_str());
    control.or(form["kind"].as_str()).unwrap_or("unit")
}

/// The bytes of a unit behind its FEC, where that has changed some.
fn repaired(protocol: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let mode = Mode::ALL.into_iter().find(|mode| mode.protocol() == protocol)?;
    let found = Cxl256Flit::from_bytes(bytes).ok()?;
    let received = found.receive(mode).flit;
    (received != found).then(|| received.0.to_vec())
}

impl Inspection {
    /// The page; `wave` is the name of the wave in its title. Units of the filter's window are in it.
    pub fn page(&self, wave: &str, filter: &TraceFilter) -> String {
        let mut layouts = Layouts::default();
        let in_window = self.seen.iter().filter(|seen| filter.when(seen.t_fs) == When::Within);
        let units: Vec<Value> = in_window.map(|seen| self.unit(&mut layouts, seen)).collect();
        let broken: OrderedSet<&str> =
            self.seen.iter().flat_map(|seen| seen.broken.iter().chain(&seen.lints)).map(|b| b.violation.rule).collect();
        let told: Object = broken
            .into_iter()
            .filter_map(rules::find)
            .map(|rule| (rule.id.to_owned(), json!([rule.text, rule.source])))
            .collect();
        let interfaces = self.map.interface.iter().zip(&self.counts).map(|(interface, count)| {
            json!({
                "name": interface.name, "protocol": interface.protocol, "dir": interface.dir,
                "edges": count.edges, "units": count.units, "violations": count.violations,
            })
        });
        let health = self.health.iter().map(|(link, health)| json!([link, health.rows().collect::<Vec<_>>()]));
        let data = json!({
            "wave": wave,
            "version": env!("CARGO_PKG_VERSION"),
            "interfaces": interfaces.collect::<Vec<_>>(),
            "health": health.collect::<Vec<_>>(),
            "layouts": layouts.0.iter().map(|def| layout::to_json(def)).collect::<Vec<_>>(),
            "rules": told,
            "units": units,
        });
        // In a script a `<` could end it, and U+2028 could end a line.
        let data =
            data.to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
        let title = wave.replace('&', "&amp;").replace('<', "&lt;");
        // Places stand between two @; what is put in is not looked through again.
        let parts = FRAME.split('@').enumerate().map(|(n, text)| match (n % 2, text) {
            (1, "title") => title.as_str(),
            (1, "style") => STYLE,
            (1, "script") => SCRIPT,
            (1, "data") => data.as_str(),
            _ => text,
        });
        parts.collect()
    }

    fn unit(&self, layouts: &mut Layouts, seen: &SeenUnit) -> Value {
        let interface = &self.map.interface[seen.interface];
        let empty = Value::Null;
        let form = seen.form.as_ref().unwrap_or(&empty);
        let mut messages: Vec<Value> =
            told::messages(form).into_iter().map(|(name, fields)| message(layouts, name, fields)).collect();
        if let Some(header) = form["packet"]["header"].as_object() {
            messages.push(message(layouts, "nvlink.header", header));
        }
        let parts = match &seen.form {
            Some(form) => {
                let behind_fec = repaired(&interface.protocol, &seen.bytes);
                let bytes = behind_fec.as_deref().unwrap_or(&seen.bytes);
                parts::parts(&interface.protocol, interface.direction(), bytes, form)
            }
            None => Vec::new(),
        };
        let parts = parts.into_iter().map(|part| {
            let runs: Vec<_> = part.runs.iter().map(|run| [run.unit_bit, run.part_bit, run.bits]).collect();
            json!([part.label, part.layout.map(|layout| layouts.position(layout)), runs])
        });
        json!({
            "t": time_ns(seen.t_fs),
            "c": seen.cycle,
            "i": seen.interface,
            "n": form["index"],
            "k": kind(seen.form.as_ref()),
            "m": messages,
            "p": parts.collect::<Vec<_>>(),
            "v": seen.broken.iter().map(finding).collect::<Vec<_>>(),
            "l": seen.lints.iter().map(finding).collect::<Vec<_>>(),
            "w": seen.waived.iter().map(|waived| json!([finding(&waived.found), waived.reason])).collect::<Vec<_>>(),
            "h": number::hex(&seen.bytes),
            "r": repaired(&interface.protocol, &seen.bytes).map(|bytes| number::hex(&bytes)),
        })
    }
}
