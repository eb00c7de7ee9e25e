//! What runs have covered: the bins of all of them with their hits, and which rules were broken.
//!
//! Modelled: groups of bins by protocol, as runs, watched waves and link ends fill them, and the rules that were reported broken; one
//! JSON file a run, merged at will. Left out: goals and weights: a bin is covered by one hit.
//!
//! Invariants: merging adds hits; its result does not depend on how the files are bracketed, and the order of bins is that of the
//! first file that has them. The same report gives the same bytes in every form.
//!
//! A walk: whoever has counted makes a [`CoverageReport`] and writes [`CoverageReport::to_json`]; files are read by
//! [`CoverageReport::read`] and joined by [`CoverageReport::merge`]; the result is shown by the caller, as a page ([`html`]), for
//! cocotb-coverage or as UCIS ([`xml`]).

pub mod html;
pub mod xml;

use scalepool_forms::json::read;
use serde_json::{Map, Value, json};

/// Version of the file.
const FORMAT: u64 = 1;

/// A bin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveredBin {
    /// Its name within the group.
    pub name: String,
    /// How often it was met.
    pub hits: u64,
}

/// A group of bins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveredGroup {
    /// What it is about: a protocol, or `coherence`.
    pub protocol: String,
    /// Its name.
    pub name: String,
    /// Its bins, each name once.
    pub bins: Vec<CoveredBin>,
}

impl CoveredGroup {
    /// Bins that were met.
    pub fn met(&self) -> usize {
        self.bins.iter().filter(|bin| bin.hits > 0).count()
    }

    fn add(&mut self, name: &str, hits: u64) {
        match self.bins.iter_mut().find(|bin| bin.name == name) {
            Some(bin) => bin.hits = bin.hits.saturating_add(hits),
            None => self.bins.push(CoveredBin { name: name.to_owned(), hits }),
        }
    }
}

/// What some runs have covered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CoverageReport {
    /// Where it comes from, such as `run cxl68-expander, seed 1`.
    pub sources: Vec<String>,
    /// Groups, each pair of protocol and name once.
    pub groups: Vec<CoveredGroup>,
    /// Rules that were reported broken, with how often.
    pub broken: Vec<(String, u64)>,
}

impl CoverageReport {
    /// Nothing covered by one source.
    pub fn of(source: impl Into<String>) -> CoverageReport {
        CoverageReport { sources: vec![source.into()], ..CoverageReport::default() }
    }

    /// Adds hits of a group.
    pub fn add<'a>(&mut self, protocol: &str, name: &str, bins: impl IntoIterator<Item = (&'a str, u64)>) {
        let is_it = |group: &CoveredGroup| group.protocol == protocol && group.name == name;
        let at = self.groups.iter().position(is_it).unwrap_or_else(|| {
            let (protocol, name) = (protocol.to_owned(), name.to_owned());
            self.groups.push(CoveredGroup { protocol, name, bins: Vec::new() });
            self.groups.len() - 1
        });
        bins.into_iter().for_each(|(bin, hits)| self.groups[at].add(bin, hits));
    }

    /// Adds broken rules.
    pub fn add_broken(&mut self, rule: &str, times: u64) {
        match self.broken.iter_mut().find(|(known, _)| known == rule) {
            Some((_, all)) => *all = all.saturating_add(times),
            None => self.broken.push((rule.to_owned(), times)),
        }
    }

    /// Adds another report.
    pub fn merge(&mut self, other: &CoverageReport) {
        self.sources.extend(other.sources.iter().cloned());
        for group in &other.groups {
            self.add(&group.protocol, &group.name, group.bins.iter().map(|bin| (bin.name.as_str(), bin.hits)));
        }
        other.broken.iter().for_each(|(rule, times)| self.add_broken(rule, *times));
    }

    /// Hits of a bin by its name in the verification plan, `<protocol>: <group>: <bin>`; `None` for one that no run knew.
    pub fn hits(&self, id: &str) -> Option<u64> {
        let found = self.groups.iter().find_map(|group| {
            let bin =
                id.strip_prefix(&group.protocol)?.strip_prefix(": ")?.strip_prefix(&group.name)?.strip_prefix(": ")?;
            group.bins.iter().find(|known| known.name == bin)
        });
        found.map(|bin| bin.hits)
    }

    /// The file, with a line feed at its end.
    pub fn to_json(&self) -> String {
        format!("{}\n", self.to_value())
    }

    /// The object in the file.
    pub fn to_value(&self) -> Value {
        let groups = self.groups.iter().map(|group| {
            let bins: Map<String, Value> = group.bins.iter().map(|bin| (bin.name.clone(), bin.hits.into())).collect();
            json!({ "protocol": group.protocol, "group": group.name, "bins": bins })
        });
        let broken: Map<String, Value> = self.broken.iter().map(|(rule, n)| (rule.clone(), (*n).into())).collect();
        json!({
            "scalepool_coverage": FORMAT,
            "sources": self.sources,
            "groups": groups.collect::<Vec<_>>(),
            "broken": broken,
        })
    }

    /// Reads a file. The state of a link end is one too, if it has a key `coverage`.
    ///
    /// # Errors
    /// What was found and what was expected, with the place in the file.
    pub fn read(text: &str) -> Result<CoverageReport, String> {
        let mut form = read(text).map_err(|e| format!("found no JSON: {e}"))?;
        if let Some(of_state) = form.get_mut("coverage").map(Value::take) {
            form = of_state;
        }
        let wrong = |at: &str, found: &Value, expected: &str| {
            let mut found = found.to_string();
            found.truncate(found.char_indices().nth(60).map_or(found.len(), |(at, _)| at));
            format!("key `{at}`: found {found}, expected {expected}")
        };
        if form["scalepool_coverage"] != FORMAT {
            return Err(wrong(
                "scalepool_coverage",
                &form["scalepool_coverage"],
                &format!("{FORMAT}: a file of coverage"),
            ));
        }
        let list = |at: &str| form[at].as_array().ok_or_else(|| wrong(at, &form[at], "a list"));
        let mut report = CoverageReport::default();
        for source in list("sources")? {
            report.sources.push(source.as_str().ok_or_else(|| wrong("sources", source, "texts"))?.to_owned());
        }
        let counts = |at: &str, object: &Value| -> Result<Vec<(String, u64)>, String> {
            let object =
                object.as_object().ok_or_else(|| wrong(at, object, "an object with a number for each name"))?;
            let count = |(name, hits): (&String, &Value)| {
                Ok((
                    name.clone(),
                    hits.as_u64().ok_or_else(|| wrong(&format!("{at}.{name}"), hits, "a whole number from 0"))?,
                ))
            };
            object.iter().map(count).collect()
        };
        for (n, group) in list("groups")?.iter().enumerate() {
            let at = |key: &str| format!("groups[{n}].{key}");
            let text = |key: &str| group[key].as_str().ok_or_else(|| wrong(&at(key), &group[key], "a text"));
            let bins = counts(&at("bins"), &group["bins"])?;
            let is_again = |known: &CoveredGroup| group["protocol"] == *known.protocol && group["group"] == *known.name;
            if report.groups.iter().any(is_again) {
                return Err(wrong(&at("group"), &group["group"], "each group once"));
            }
            report.add(text("protocol")?, text("group")?, bins.iter().map(|(name, hits)| (name.as_str(), *hits)));
        }
        counts("broken", &form["broken"])?.iter().for_each(|(rule, times)| report.add_broken(rule, *times));
        Ok(report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(source: &str, hits: [u64; 2]) -> CoverageReport {
        let mut report = CoverageReport::of(source);
        report.add("cxl-68b", "opcode x channel", [("cxl68.m2s_req MemRd", hits[0]), ("a: b", hits[1])]);
        report.add_broken("CXL68-CRC-01", hits[1]);
        report
    }

    #[test]
    fn merging_adds_and_a_file_comes_back() {
        let mut all = report("one", [1, 0]);
        all.merge(&report("two", [2, 5]));
        let mut other = CoverageReport::of("three");
        other.add("ualink", "code x field", [("x", 1)]);
        all.merge(&other);
        assert_eq!(all.sources, ["one", "two", "three"]);
        assert_eq!(all.hits("cxl-68b: opcode x channel: cxl68.m2s_req MemRd"), Some(3));
        assert_eq!(all.hits("cxl-68b: opcode x channel: a: b"), Some(5));
        assert_eq!(all.hits("ualink: code x field: x"), Some(1));
        assert_eq!(all.hits("ualink: code x field: y"), None);
        assert_eq!(all.broken, [("CXL68-CRC-01".to_owned(), 5)]);
        let state = format!("{{\"protocol\":\"cxl-68b\",\"coverage\":{}}}", all.to_json());
        assert_eq!(CoverageReport::read(&state), Ok(all.clone()));
        assert_eq!(CoverageReport::read(&all.to_json()), Ok(all));
    }

    #[test]
    fn files_that_are_none_are_refused_with_the_place() {
        let good = report("one", [1, 0]).to_json();
        for (text, expected) in [
            ("", "found no JSON"),
            ("{}", "key `scalepool_coverage`: found null"),
            (&good.replace("\"scalepool_coverage\":1", "\"scalepool_coverage\":2"), "found 2, expected 1"),
            (
                &good.replace(":1,\"a: b\"", ":-1,\"a: b\""),
                "key `groups[0].bins.cxl68.m2s_req MemRd`: found -1, expected a whole number from 0",
            ),
            (&good.replace("\"sources\":[\"one\"]", "\"sources\":7"), "key `sources`: found 7, expected a list"),
        ] {
            let found = CoverageReport::read(text).expect_err("no file of coverage");
            assert!(found.contains(expected), "{found}");
        }
    }
}
