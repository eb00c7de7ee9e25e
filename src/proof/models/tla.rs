//! Texts in TLA+, a module and a configuration for TLC. No test runs a checker on them.
//!
//! The definitions that are filled in stand at the head of the module: each begins a line, and its further lines are indented.

use super::{ModelError, ModelRequest, ModelScope, SCOPES};
use scalepool_coherence::config::{CleanEvictAnswer, CoherenceConfig};

/// The module of a home with its memory behind a port.
const TEXT: &str = include_str!("../../../testbenches/models/cxl_cache_memory.tla");

/// Names of operations in a line of the menu.
const NAMES_PER_LINE: usize = 7;

/// Options with their definitions.
const OPTIONS: &[(&str, fn(&CoherenceConfig) -> bool)] = &[
    ("CleanEvictPulls", |c| c.clean_evict == CleanEvictAnswer::Pull),
    ("DropS", |c| c.silent_drop_s),
    ("DropE", |c| c.silent_drop_e),
];

impl ModelScope {
    /// The module and the configuration with everything filled in, each with the name of its file.
    ///
    /// # Errors
    /// A scope without a text in TLA+; the first thing that the model does not have.
    pub fn tla(&self, request: &ModelRequest) -> Result<[(String, String); 2], ModelError> {
        if !self.has_tla {
            let known: Vec<&str> = SCOPES.iter().filter(|scope| scope.has_tla).map(|scope| scope.name).collect();
            return Err(ModelError::Name { found: self.name.to_owned(), expected: known.join(", ") });
        }
        self.check(request)?;
        let mut text = TEXT.to_owned();
        define(&mut text, "Devices", &format!("1..{}", self.agents(request)));
        define(&mut text, "Menu", &set(&self.menu(request).unwrap_or_default()));
        for (name, is_set) in OPTIONS {
            define(&mut text, name, if is_set(&request.config) { "TRUE" } else { "FALSE" });
        }
        let module = module_of(&text).to_owned();
        let invariants: String = invariants(&text).map(|name| format!("  {name}\n")).collect();
        let configuration = format!("SPECIFICATION Spec\nINVARIANTS\n{invariants}");
        Ok([(format!("{module}.tla"), text), (format!("{module}.cfg"), configuration)])
    }
}

/// A set of strings over as many lines as it needs.
fn set(names: &[&str]) -> String {
    let lines = names.chunks(NAMES_PER_LINE).map(|line| line.iter().map(|name| format!("\"{name}\"")).collect());
    format!("{{\n  {}}}", lines.map(|line: Vec<String>| line.join(", ")).collect::<Vec<_>>().join(",\n  "))
}

/// The name in the first line.
fn module_of(text: &str) -> &str {
    text.split_whitespace().skip_while(|word| *word != "MODULE").nth(1).unwrap_or_default()
}

/// Names of the invariants: V with a number of the sheet.
fn invariants(text: &str) -> impl Iterator<Item = &str> {
    let names = text.lines().filter_map(|line| line.split_once(" ==")).map(|(name, _)| name);
    names.filter(|name| name.strip_prefix('V').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())))
}

/// The body of a definition without parameters: from ` == ` to the next line that does not belong to it.
fn body_of(text: &str, name: &str) -> Option<std::ops::Range<usize>> {
    let from = text.find(&format!("\n{name} == "))? + name.len() + " == ".len() + 1;
    let lines = text[from..].match_indices('\n').map(|(at, _)| from + at);
    let ends = |at: &usize| !text[at + 1..].starts_with("  ");
    Some(from..lines.into_iter().find(ends)?)
}

/// Gives a definition another body. Every definition that is named above is in the text; a test says so.
fn define(text: &mut String, name: &str, body: &str) {
    if let Some(place) = body_of(text, name) {
        text.replace_range(place, body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::find;

    fn files(request: &ModelRequest) -> [(String, String); 2] {
        find("cxl-cache-2-memory").and_then(|scope| scope.tla(request)).expect("a scope with TLA+")
    }

    #[test]
    fn each_definition_that_is_filled_in_stands_once_in_the_text() {
        for name in ["Devices", "Menu"].into_iter().chain(OPTIONS.iter().map(|(name, _)| *name)) {
            assert_eq!(TEXT.matches(&format!("\n{name} == ")).count(), 1, "{name}");
        }
    }

    #[test]
    fn the_text_itself_is_that_of_the_exploration() {
        let [(file, text), (configuration, invariants)] = files(&ModelRequest::default());
        assert_eq!((file.as_str(), configuration.as_str()), ("CxlCacheMemory.tla", "CxlCacheMemory.cfg"));
        assert_eq!(text, TEXT);
        assert!(invariants.starts_with("SPECIFICATION Spec\nINVARIANTS\n  V1OneWriter\n"), "{invariants}");
        assert_eq!(invariants.lines().count(), 14, "{invariants}");
    }

    #[test]
    fn what_is_filled_in_is_all_that_changes() {
        let config = CoherenceConfig { silent_drop_e: true, ..CoherenceConfig::default() };
        let ops = Some("RdOwn,DirtyEvict".to_owned());
        let [(_, text), _] = files(&ModelRequest { agents: Some(4), ops, config, mutant: None });
        for line in [
            "\nDevices == 1..4\n",
            "\nMenu == {\n  \"RdOwn\", \"DirtyEvict\"}\n",
            "\nDropE == TRUE\n",
            "\nDropS == TRUE\n",
        ] {
            assert!(text.contains(line), "{line}");
        }
        let rules = |text: &str| text.split_once("\nVARIABLE ").map(|(_, rules)| rules.to_owned());
        assert!(rules(&text).is_some());
        assert_eq!(rules(&text), rules(TEXT));
    }
}
