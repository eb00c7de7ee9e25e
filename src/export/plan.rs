//! The verification plan as one table: `plan.csv`.
//!
//! | kind | id | is |
//! | --- | --- | --- |
//! | `rule` | rule id | a row of the rule table; `tests` are the two that obey and break it; `points` the code tables and layouts that it judges; `properties` whether `export sva` has it |
//! | `coverage` | `<protocol>: <group>: <bin>` | one point that a run can meet; what runs share is under `coherence` |
//! | `vectors` | layout or flit | a golden set, with the seed that it is made from |
//! | `run` | name | runs with fixed seeds |
//!
//! Rules and layouts come from the tables; who knows coverage points and runs hands them over. Columns are quoted as RFC 4180
//! says; lines end in a line feed. A rule can be a choice of ours (`choice`).
//!
//! With a coverage report there is one more column, `hits`: how often runs have met the point, or found the rule broken; empty for a
//! point that no run of the report could meet.

use super::coverage::CoverageReport;
use super::{File, sva};
use scalepool_protocols::registry;
use scalepool_protocols::rules::{self, Rule};
use std::collections::BTreeSet;

/// What the tables do not hold.
#[derive(Debug, Clone, Default)]
pub struct Extras {
    /// Coverage points: protocol, `group: bin`.
    pub coverage: Vec<(&'static str, String)>,
    /// Golden sets: name, files without ending, seed.
    pub vectors: Vec<(String, String, u64)>,
    /// Runs: name, command or test, seeds.
    pub runs: Vec<(&'static str, &'static str, &'static str)>,
}

const COLUMNS: [&str; 9] = ["kind", "id", "source", "choice", "text", "tests", "points", "property", "seeds"];

/// The file.
pub fn files(extras: &Extras, report: Option<&CoverageReport>) -> Vec<File> {
    let mut text = COLUMNS.join(",");
    text.push_str(if report.is_some() { ",hits\n" } else { "\n" });
    let mut row = |cells: [&str; 9]| {
        let mut line: Vec<String> = cells.into_iter().map(quoted).collect();
        if let Some(report) = report {
            let hits = match cells[0] {
                "coverage" => report.hits(cells[1]),
                "rule" => report.broken.iter().find(|(rule, _)| rule == cells[1]).map(|(_, times)| *times),
                _ => None,
            };
            line.push(hits.map_or_else(String::new, |hits| hits.to_string()));
        }
        text.push_str(&line.join(","));
        text.push('\n');
    };
    let with_property = sva::rules_with_properties();
    for rule in rules::all() {
        let name = rule.id.to_lowercase().replace('-', "_");
        let tests = format!("{name}_p {name}_n");
        let choice = if rule.choice { "yes" } else { "" };
        let property = if with_property.contains(rule.id) { "yes" } else { "" };
        row(["rule", rule.id, rule.source, choice, rule.text, &tests, &points(rule), property, ""]);
    }
    for (protocol, point) in &extras.coverage {
        row(["coverage", &format!("{protocol}: {point}"), "", "", "", "", "", "", ""]);
    }
    for (name, file, seed) in &extras.vectors {
        row(["vectors", name, "", "", "", file, "", "", &seed.to_string()]);
    }
    for (name, command, seeds) in &extras.runs {
        row(["run", name, "", "", "", command, "", "", seeds]);
    }
    vec![File { name: "plan.csv".into(), text }]
}

/// Code tables and layouts whose reserved codes and bits the rule judges.
fn points(rule: &Rule) -> String {
    let mut found = BTreeSet::new();
    for layout in registry::layouts() {
        if layout.rule == rule.id {
            found.insert(layout.name.to_owned());
        }
        for field in layout.fields {
            if let Some(table) = field.codes.filter(|t| field.codes_rule.unwrap_or(t.rule) == rule.id) {
                found.insert(format!("{}.{} ({} codes)", layout.name, field.name, table.codes.len()));
            }
        }
    }
    found.into_iter().collect::<Vec<_>>().join("; ")
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!(quoted("a b"), "a b");
        assert_eq!(quoted("a, \"b\""), "\"a, \"\"b\"\"\"");
    }
}
