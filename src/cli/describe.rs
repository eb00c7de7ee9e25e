//! `scalepool describe`: the fields of a layout, the settings of a scenario, and whatever else `list` names.

use super::rule_wave;
use super::table::TextTable;
use super::{CommandStatus, list, print_json};
use anyhow::{anyhow, bail};
use clap::Args;
use scalepool_broken::{BrokenCases, CaseStep, breaking_test};
use scalepool_forms::{layout, message};
use scalepool_proof::explore::NAMED;
use scalepool_protocols::registry::{self, PROTOCOLS};
use scalepool_protocols::rules::area::{self, RuleAdvice, RuleArea};
use scalepool_protocols::rules::{self, Rule};
use scalepool_protocols::wire::{LayoutDef, Numbers};
use scalepool_scenario::settings::SettingKey;
use scalepool_scenario::{Scenario, described};
use scalepool_system::description::{Description, component_kind, link_kind};
use scalepool_system::field::{Config, Field, FieldRange};
use scalepool_system::generator::generator_kind;
use scalepool_system::memory_map::{WINDOW, WINDOW_ABOUT, WindowConfig};
use scalepool_system::metric::Metric;
use serde_json::{Value, json};
use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Show fields and codes of a layout, settings of a scenario or kind, or the text of a protocol or rule.
#[derive(Debug, Args)]
pub(super) struct Describe {
    /// Name of a layout, protocol, scenario, kind, exploration or rule, as `list` shows it, an area of rules, such as CXL68-CRD,
    /// or a system description, FILE.toml.
    name: String,
    /// Print the system description of a scenario as TOML, to start your own from.
    #[arg(long, conflicts_with = "json")]
    toml: bool,
    /// For a rule with a case that breaks it: write the wave of that case, FILE.vcd or FILE.fst, and beside it a GTKWave save file with
    /// a marker where the rule is broken.
    #[arg(long, value_name = "FILE", conflicts_with = "toml")]
    wave: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Describe {
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        if self.toml {
            let Some(text) = scalepool_scenario::find(&self.name).map(Scenario::description) else {
                let known = scalepool_scenario::names().collect::<Vec<_>>().join(", ");
                bail!("describe --toml: found `{}`, expected a scenario: {known}", self.name);
            };
            out.write_all(text.as_bytes())?;
            return Ok(CommandStatus::Good);
        }
        if self.wave.is_some() && rules::find(&self.name).is_none() {
            // Of an area, such as CXL68-CRC, those that have one.
            let area = format!("{}-", self.name.trim_end_matches('-'));
            let of_area = BrokenCases::of(&area, &env::temp_dir()).rules_with_waves(&area);
            let such = if of_area.is_empty() { "CXL68-CRC-01".to_owned() } else { of_area.join(", ") };
            bail!(
                "describe --wave: found `{}`, expected a rule that has a wave, such as {such}; \
                 docs/reference/rules.md shows of every rule whether it has one",
                self.name
            );
        }
        if described::is_file(&self.name) {
            let description = Description::open(Path::new(&self.name))?;
            let (name, about) = description.title();
            let keys: Vec<SettingKey> = description.shorts().iter().map(described::key_of).collect();
            return if self.json {
                print_json(out, &settings_json(&name, &about, &keys)).map(|()| CommandStatus::Good)
            } else {
                print_settings(&name, &about, &keys, out).map(|()| CommandStatus::Good)
            }
            .map_err(Into::into);
        }
        if let Some(kind) = kind(&self.name) {
            if self.json {
                print_json(out, &kind.json())?;
            } else {
                kind.print(out)?;
            }
            return Ok(CommandStatus::Good);
        }
        if let Some(scenario) = scalepool_scenario::find(&self.name) {
            if self.json {
                print_json(out, &scenario_json(scenario))?;
            } else {
                print_scenario(scenario, out)?;
            }
            return Ok(CommandStatus::Good);
        }
        if let Some(def) = registry::layout(&self.name) {
            if self.json {
                print_json(out, &layout::to_json(def))?;
            } else {
                print(def, out)?;
            }
            return Ok(CommandStatus::Good);
        }
        if let Some(rule) = rules::find(&self.name) {
            let (row, text) = self.rule(rule, &BrokenCases::of(rule.id, &env::temp_dir()))?;
            if self.json {
                print_json(out, &row)?;
            } else {
                writeln!(out, "{text}")?;
            }
            return Ok(CommandStatus::Good);
        }
        let Some((row, text)) = listed(&self.name) else {
            let known = registry::layouts()
                .map(|l| l.name)
                .chain(scalepool_scenario::names())
                .chain(rules::all().map(|r| r.id));
            let near = message::most_similar(&self.name, known);
            bail!(
                "describe: found `{}`, expected the name of a layout, protocol, scenario, kind, exploration or rule, such as {}",
                self.name,
                near.join(", ")
            );
        };
        if self.json {
            print_json(out, &row)?;
        } else {
            writeln!(out, "{text}")?;
        }
        Ok(CommandStatus::Good)
    }

    /// A rule: the object that `list` has, and text; what breaks it, or why nothing is shown of that. The cases are those of its id at least.
    fn rule(&self, rule: &Rule, cases: &BrokenCases) -> anyhow::Result<(Value, String)> {
        let mark = if rule.choice { ", our choice" } else { "" };
        let mut text = format!("{}: {} ({}{mark})", rule.id, rule.text, rule.source);
        let mut row = list::rule(rule);
        if let Some(area) = area::of(rule.id) {
            row["area"] = area.about.into();
            text += &format!("\narea:        {}", area.about);
            advise(&area, &mut row, &mut text);
        }
        let test = breaking_test(rule);
        row["breaking_test"] = test.clone().into();
        text += &format!("\ntest:        {test}");
        let Some(mut case) = cases.find(rule)? else {
            let reason = cases.reason(rule).unwrap_or_default();
            if self.wave.is_some() {
                return Err(no_wave(rule.id, reason));
            }
            row["no_wave"] = reason.into();
            text += &format!("\nno wave:     {reason}");
            return Ok((row, text));
        };
        let step = |step: &CaseStep| json!({"t_fs": step.t_fs, "place": step.place, "said": step.said});
        let steps: Vec<Value> = case.steps.iter().map(step).collect();
        row["broken"] = json!({"what": case.what, "steps": steps, "t_fs": case.t_fs, "found": case.found});
        text += &format!("\nbroken by:   {}\n{}", case.what, case.timeline().trim_end());
        if let Some(path) = &self.wave {
            let wave = rule_wave::write(&mut case, path)?;
            row["wave"] = wave.json;
            text += &format!("\n{}", wave.text);
        }
        Ok((row, text))
    }
}

/// Why a rule has no wave, and which ones of its family have one.
fn no_wave(rule: &str, reason: &str) -> anyhow::Error {
    let family = rule.split_once('-').map_or(rule, |(family, _)| family);
    let prefix = format!("{family}-");
    let near = BrokenCases::of(&prefix, &env::temp_dir()).rules_with_waves(&prefix);
    let near = if near.is_empty() { String::new() } else { format!("; of {family} these are {}", near.join(", ")) };
    anyhow!("--wave: found {rule}, which has no wave: {reason} Expected a rule that has one{near}")
}

/// An area of rules, an exploration or a protocol: the object that `list` has, and text.
fn listed(name: &str) -> Option<(Value, String)> {
    if let Some(area) = area::all().find(|area| area.id == name) {
        let mut text = format!("{}: {}", area.id, area.about);
        let of_area = || rules::all().filter(|rule| area::of(rule.id) == Some(area));
        let mut row = serde_json::json!({"area": area.id, "text": area.about, "rules": of_area().map(list::rule).collect::<Vec<_>>()});
        advise(&area, &mut row, &mut text);
        of_area().for_each(|rule| text += &format!("\n{}: {}", rule.id, rule.text));
        return Some((row, text));
    }
    if let Some(exploration) = NAMED.iter().find(|n| n.name == name) {
        return Some((list::exploration(exploration), format!("{}: {}", exploration.name, exploration.doc)));
    }
    let protocol = PROTOCOLS.iter().find(|p| p.name == name)?;
    let layouts = registry::layouts().filter(|l| l.family() == protocol.family).map(|l| l.name);
    let text = format!(
        "{}: {} bytes per unit; layouts {}",
        protocol.name,
        protocol.unit_bytes,
        layouts.collect::<Vec<_>>().join(", ")
    );
    Some((list::protocol(protocol), text))
}

/// Adds what usually breaks the rules of an area.
fn advise(area: &RuleArea, row: &mut Value, text: &mut String) {
    let RuleAdvice { cause, remedy } = area.advice;
    (row["usual_cause"], row["look_at"]) = (cause.into(), remedy.into());
    *text += &format!("\nusual cause: {cause}\nlook at:     {remedy}");
}

fn scenario_json(scenario: &Scenario) -> Value {
    settings_json(scenario.name, scenario.doc(), scenario.keys())
}

fn settings_json(name: &str, doc: &str, keys: &[SettingKey]) -> Value {
    let key = |k: &SettingKey| serde_json::json!({"key": k.name, "default": k.default, "unit": k.unit, "range": k.range.to_string(), "doc": k.doc});
    serde_json::json!({
        "scenario": name,
        "doc": doc,
        "settings": keys.iter().map(key).collect::<Vec<_>>(),
    })
}

fn print_scenario(scenario: &Scenario, out: &mut dyn Write) -> io::Result<()> {
    print_settings(scenario.name, scenario.doc(), scenario.keys(), out)
}

fn print_settings(name: &str, doc: &str, keys: &[SettingKey], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{name}: {doc}\n")?;
    let mut table = TextTable::new(["key", "default", "unit", "range", "what it is"]);
    for k in keys {
        let default = if k.default.is_empty() { "-" } else { k.default };
        table.row([k.name, default, k.unit, &k.range.to_string(), k.doc].map(str::to_owned));
    }
    table.print(out)
}

/// A kind of component, link or generator, or a window of the memory map.
struct DescribedKind {
    name: &'static str,
    about: &'static str,
    fields: Vec<&'static Field>,
    /// How a component can be driven from outside.
    external: &'static [&'static str],
    /// What it counts.
    metrics: Vec<&'static Metric>,
}

/// The kind of a name.
fn kind(name: &str) -> Option<DescribedKind> {
    const NONE: &[&str] = &[];
    let of = |name, about, fields: fn() -> Vec<&'static Field>, external, metrics| DescribedKind {
        name,
        about,
        fields: fields(),
        external,
        metrics,
    };
    let component = component_kind(name).map(|k| of(k.name, k.about, k.fields, k.external, k.all_metrics().collect()));
    let link = || link_kind(name).map(|k| of(k.name, k.about, k.fields, NONE, k.all_metrics().collect()));
    let generator = || generator_kind(name).map(|k| of(k.name, k.about, k.fields, NONE, Vec::new()));
    let window = || (name == WINDOW).then(|| of(WINDOW, WINDOW_ABOUT, WindowConfig::fields, NONE, Vec::new()));
    component.or_else(link).or_else(generator).or_else(window)
}

impl DescribedKind {
    /// All fields with the tables inside: dotted name and field.
    fn rows(&self) -> Vec<(String, &'static Field)> {
        let mut rows = Vec::new();
        for field in &self.fields {
            match field.range {
                FieldRange::Table(inner) => {
                    rows.extend(inner().into_iter().map(|inner| (format!("{}.{}", field.name, inner.name), inner)));
                }
                FieldRange::Tables(inner) => {
                    rows.extend(inner().into_iter().map(|inner| (format!("{}[].{}", field.name, inner.name), inner)));
                }
                _ => rows.push((field.name.to_owned(), *field)),
            }
        }
        rows
    }

    fn json(&self) -> Value {
        let row = |(name, f): (String, &Field)| {
            serde_json::json!({
                "field": name, "default": f.default, "unit": f.unit.name(), "range": f.range.to_string(), "doc": f.doc,
            })
        };
        let fields: Vec<Value> = self.rows().into_iter().map(row).collect();
        let metric = |m: &&Metric| serde_json::json!({"metric": m.name, "unit": m.unit, "total": m.total.name(), "doc": m.about});
        let metrics: Vec<Value> = self.metrics.iter().map(metric).collect();
        serde_json::json!({
            "kind": self.name, "doc": self.about, "external": self.external, "fields": fields, "metrics": metrics,
        })
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}: {}", self.name, self.about)?;
        if !self.external.is_empty() {
            writeln!(out, "can be external, replaced by your RTL: external = {}", self.external.join(", "))?;
        }
        writeln!(out)?;
        let mut table = TextTable::new(["field", "default", "unit", "range", "what it is"]);
        for (name, f) in self.rows() {
            let default = if f.default.is_empty() { "-" } else { f.default };
            table.row([name, default.to_owned(), f.unit.name().to_owned(), f.range.to_string(), f.doc.to_owned()]);
        }
        table.print(out)?;
        if self.metrics.is_empty() {
            return Ok(());
        }
        writeln!(out, "\nwhat it counts; `in a system` is how a report combines several instances\n")?;
        let mut table = TextTable::new(["count", "unit", "in a system", "what it is"]);
        for m in &self.metrics {
            table.row([m.name, m.unit, m.total.name(), m.about].map(str::to_owned));
        }
        table.print(out)
    }
}

/// Name, size, basis and source of a layout on one line.
pub(super) fn title(def: &LayoutDef) -> String {
    format!("{}: {} bits, {} ({})", def.name, def.bits, def.source, def.basis.name())
}

fn print(def: &LayoutDef, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}\n{}\n", title(def), def.doc)?;
    let mut table = TextTable::new(["bits", "width", "field", "default", "meaning"]);
    for f in def.fields {
        let default = match f.codes.and_then(|table| table.name_of(f.default)) {
            Some(name) => name.to_owned(),
            None => (f.default << f.address_lsb).to_string(),
        };
        table.row([f.span(), f.width.to_string(), f.name.into(), default, f.doc.into()]);
    }
    table.print(out)?;
    for f in def.fields {
        let Some(codes) = f.codes else { continue };
        writeln!(out, "\n{} ({}):", f.name, codes.source)?;
        let mut table = TextTable::new(["code", "name", "meaning"]);
        for c in codes.codes {
            table.row([c.value.to_string(), c.name.into(), c.doc.into()]);
        }
        table.print(out)?;
    }
    numbers(def, out)
}

/// Tables of what numbers stand for, each once.
fn numbers(def: &LayoutDef, out: &mut dyn Write) -> io::Result<()> {
    let mut tables: Vec<&Numbers> = Vec::new();
    for numbers in def.fields.iter().filter_map(|f| f.numbers) {
        if tables.contains(&numbers) {
            continue;
        }
        tables.push(numbers);
        let fields = def.fields.iter().filter(|f| f.numbers == Some(numbers)).map(|f| f.name);
        writeln!(out, "\n{} ({}):", fields.collect::<Vec<_>>().join(", "), numbers.source)?;
        let mut table = TextTable::new(["number", "meaning"]);
        for (number, meaning) in numbers.rows {
            table.row([number.to_string(), (*meaning).to_owned()]);
        }
        table.print(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `describe NAME` prints.
    fn described(name: &str, json: bool) -> Describe {
        Describe { name: name.to_owned(), toml: false, wave: None, json }
    }

    fn said(name: &str, json: bool) -> String {
        let mut out = Vec::new();
        let describe = described(name, json);
        assert!(matches!(describe.run(&mut out), Ok(CommandStatus::Good)), "{name}");
        String::from_utf8(out).unwrap_or_default()
    }

    #[test]
    fn describes_every_name_that_list_shows() {
        let names = registry::layouts().map(|l| l.name).chain(PROTOCOLS.iter().map(|p| p.name));
        let names =
            names.chain(scalepool_scenario::SCENARIOS.iter().map(|s| s.name)).chain(NAMED.iter().map(|n| n.name));
        for name in names.chain(rules::all().map(|r| r.id).take(2)) {
            assert!(said(name, false).starts_with(name), "{name}");
            assert!(serde_json::from_str::<Value>(&said(name, true)).is_ok_and(|v| v.is_object()), "{name}");
        }
        // Cases are found once for all rules.
        let cases = BrokenCases::of("", &env::temp_dir());
        for rule in rules::all() {
            let (row, text) =
                described(rule.id, true).rule(rule, &cases).unwrap_or_else(|e| panic!("{}: {e}", rule.id));
            assert!(text.starts_with(rule.id) && row.is_object(), "{}", rule.id);
        }
    }

    #[test]
    fn a_layout_shows_what_its_numbers_stand_for() {
        let text = said("cxl68.flit_header", false);
        assert!(text.contains("rsp_crd, req_crd, data_crd (cxl-68b §5.4):"), "{text}");
        assert!(text.contains("12      8 credits of CXL.mem"), "{text}");
        assert!(!text.contains("::"), "{text}");
    }
}
