//! `scalepool list`: what there is.

use super::table::TextTable;
use super::{CommandStatus, print_json};
use clap::{Args, ValueEnum};
use scalepool_link::health::{FIGURES, HealthFigure};
use scalepool_proof::explore::{NAMED, NamedExploration};
use scalepool_protocols::registry::{self, PROTOCOLS, Protocol};
use scalepool_protocols::rules::{self, Rule};
use scalepool_system::generator::GENERATORS;
use scalepool_system::kind::{COMPONENTS, LINKS};
use scalepool_system::memory_map::{WINDOW, WINDOW_ABOUT};
use scalepool_trace::Wait;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// List layouts, protocols, scenarios, kinds, explorations, wait reasons, link figures and rules by name.
#[derive(Debug, Args)]
pub(super) struct List {
    /// What to list [default: everything].
    what: Option<What>,
    /// Print JSON: a list of objects, or one object with all lists.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Messages, headers and control slots.
    Layouts,
    /// Flit formats that encode and decode as a stream.
    Protocols,
    /// Built-in simulations.
    Scenarios,
    /// Kinds of components and links from which system descriptions are built.
    Kinds,
    /// Built-in cases for `explore`.
    Explorations,
    /// Reasons why a transaction waits, as traces and `explain` name them.
    Waits,
    /// Figures of the health of a link end, as `run --health` and `inspect --health` print them.
    Health,
    /// Protocol rules that the program checks, by id.
    Rules,
}

impl List {
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        match (self.what, self.json) {
            (Some(what), true) => print_json(out, &what.to_json())?,
            (Some(what), false) => what.print(out)?,
            (None, true) => {
                let all = What::value_variants().iter().map(|w| (w.name(), w.to_json()));
                print_json(out, &Value::Object(Map::from_iter(all)))?;
            }
            (None, false) => {
                for (i, what) in What::value_variants().iter().enumerate() {
                    if i > 0 {
                        writeln!(out)?;
                    }
                    writeln!(out, "{}:", what.name())?;
                    what.print(out)?;
                }
            }
        }
        Ok(CommandStatus::Good)
    }
}

/// The object of a protocol.
pub(super) fn protocol(p: &Protocol) -> Value {
    json!({"protocol": p.name, "family": p.family, "unit_bytes": p.unit_bytes})
}

/// The object of an exploration.
pub(super) fn exploration(n: &NamedExploration) -> Value {
    json!({"exploration": n.name, "doc": n.doc})
}

/// The object of a figure of health.
fn figure(f: &HealthFigure) -> Value {
    json!({"figure": f.name, "unit": f.unit, "meaning": f.meaning, "source": f.source})
}

/// The object of a rule.
pub(super) fn rule(r: &Rule) -> Value {
    json!({"rule": r.id, "source": r.source, "choice": r.choice, "text": r.text})
}

/// Kinds of descriptions: of what, name, meaning.
fn kinds() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let components = COMPONENTS.iter().map(|kind| ("component", kind.name, kind.about));
    let links = LINKS.iter().map(|kind| ("link", kind.name, kind.about));
    let generators = GENERATORS.iter().map(|kind| ("generator", kind.name, kind.about));
    components.chain(links).chain(generators).chain([("window", WINDOW, WINDOW_ABOUT)])
}

impl What {
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned())
    }

    fn to_json(self) -> Value {
        match self {
            What::Layouts => registry::layouts()
                .map(|l| {
                    json!({"layout": l.name, "family": l.family(), "bits": l.bits, "basis": l.basis.name(), "source": l.source})
                })
                .collect(),
            What::Protocols => PROTOCOLS.iter().map(protocol).collect(),
            What::Scenarios => scalepool_scenario::all().map(|s| json!({"scenario": s.name, "doc": s.doc()})).collect(),
            What::Kinds => kinds().map(|(of, kind, doc)| json!({"kind": kind, "of": of, "doc": doc})).collect(),
            What::Explorations => NAMED.iter().map(exploration).collect(),
            What::Waits => Wait::ALL.iter().map(|w| json!({"wait": w.name(), "doc": w.meaning()})).collect(),
            What::Health => FIGURES.iter().map(|f| figure(f)).collect(),
            What::Rules => rules::all().map(rule).collect(),
        }
    }

    fn print(self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            What::Layouts => {
                let mut table = TextTable::new(["layout", "bits", "basis", "source", "what it is"]);
                for l in registry::layouts() {
                    let source = l.source.to_owned();
                    table.row([l.name.into(), l.bits.to_string(), l.basis.name().into(), source, l.doc.into()]);
                }
                table.print(out)
            }
            What::Protocols => {
                let mut table = TextTable::new(["protocol", "family", "bytes of a unit"]);
                for p in PROTOCOLS {
                    table.row([p.name.into(), p.family.into(), p.unit_bytes.to_string()]);
                }
                table.print(out)
            }
            What::Scenarios => {
                let mut table = TextTable::new(["scenario", "what it is"]);
                for s in scalepool_scenario::all() {
                    table.row([s.name.into(), s.doc().into()]);
                }
                table.print(out)
            }
            What::Kinds => {
                let mut table = TextTable::new(["kind", "of", "what it is"]);
                kinds().for_each(|(of, kind, doc)| table.row([kind, of, doc].map(str::to_owned)));
                table.print(out)
            }
            What::Explorations => {
                let mut table = TextTable::new(["exploration", "who does what"]);
                for n in NAMED {
                    table.row([n.name.into(), n.doc.into()]);
                }
                table.print(out)
            }
            What::Waits => {
                let mut table = TextTable::new(["wait", "meaning"]);
                Wait::ALL.iter().for_each(|w| table.row([w.name(), w.meaning()].map(str::to_owned)));
                table.print(out)
            }
            What::Health => {
                let mut table = TextTable::new(["figure", "unit", "meaning", "source"]);
                FIGURES.iter().for_each(|f| table.row([f.name, f.unit, f.meaning, f.source].map(str::to_owned)));
                table.print(out)
            }
            What::Rules => {
                let mut table = TextTable::new(["rule", "source", "text"]);
                for r in rules::all() {
                    let mark = if r.choice { " (our choice)" } else { "" };
                    table.row([r.id.into(), r.source.into(), format!("{}{mark}", r.text)]);
                }
                table.print(out)
            }
        }
    }
}
