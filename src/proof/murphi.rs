//! Models of the protocols in the language of Murphi, for checkers of that family such as rumur.
//!
//! Modelled: the texts of `testbenches/models/`, which state the rules of the sheet a second time, and the constants in
//! them: how many agents, what they may begin, choices of the sheet, the rule that is broken. Left out: running a checker,
//! which `testbenches/models/compare.py` does.
//!
//! A text is a whole model as it stands; filling in changes numbers of its `const` section and nothing else. The names of
//! operations, options and broken rules are those of the explorations, so one scope can be asked for on both sides.

use crate::explore::named::MOST_AGENTS;
use crate::explore::options::changed;
use crate::systems::cache::{ALL_REQUESTS, HINTED_REQUESTS};
use scalepool_coherence::config::{CleanEvictAnswer, CoherenceConfig};
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode;

/// An option of an exploration that a model has too.
#[derive(Debug)]
pub struct MurphiOption {
    /// Its name in a configuration.
    pub name: &'static str,
    /// Its constant, 1 or 0.
    constant: &'static str,
    is_set: fn(&CoherenceConfig) -> bool,
}

/// A model.
#[derive(Debug)]
pub struct MurphiModel {
    /// The text, as it stands.
    pub text: &'static str,
    /// The constant that says how many agents are alike; `None`: they are all different.
    agents: Option<&'static str>,
    /// Operations that may be on the menu; the constant of each is its name in capitals.
    pub menu: &'static [&'static str],
    /// Options.
    pub options: &'static [MurphiOption],
}

/// A model in the scope of an exploration.
#[derive(Debug)]
pub struct MurphiScope {
    /// Name of the exploration, and of the scope.
    pub name: &'static str,
    /// The model.
    pub model: &'static MurphiModel,
    agents: u16,
    /// The requests of CXL.cache on the menu; `None`: all that the model has switched on.
    requests: Option<&'static [D2hReqOpcode]>,
}

/// What to fill in; what is not given stays as the exploration has it.
#[derive(Debug, Default)]
pub struct MurphiRequest {
    /// How many agents are alike.
    pub agents: Option<u16>,
    /// The menu, names separated by commas.
    pub ops: Option<String>,
    /// Options.
    pub config: CoherenceConfig,
    /// The rule that is broken.
    pub mutant: Option<String>,
}

/// Something that cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MurphiError {
    /// No such scope.
    #[error("found the model {found:?}, expected one of {expected}")]
    Name {
        /// The name.
        found: String,
        /// The names that are known.
        expected: String,
    },
    /// A number of agents that the model does not have.
    #[error("{name}: found {found} agents, expected {expected}")]
    Agents {
        /// The scope.
        name: &'static str,
        /// The number.
        found: u16,
        /// What it may be.
        expected: String,
    },
    /// An operation that the model does not have.
    #[error("{name}: found the operation {found:?}, expected one of {expected}")]
    Operation {
        /// The scope.
        name: &'static str,
        /// The operation.
        found: String,
        /// Those of the model.
        expected: String,
    },
    /// An option that the model does not have.
    #[error("{name}: found the option {found}, expected {expected}")]
    Option {
        /// The scope.
        name: &'static str,
        /// The option.
        found: String,
        /// Those of the model.
        expected: String,
    },
    /// A rule that the model cannot break.
    #[error("{name}: found the mutant {found:?}, expected one of {expected}")]
    Mutant {
        /// The scope.
        name: &'static str,
        /// The rule.
        found: String,
        /// Those of the model.
        expected: String,
    },
}

static CXL_CACHE: MurphiModel = MurphiModel {
    text: include_str!("../../testbenches/models/cxl_cache.m"),
    agents: Some("DEVICES"),
    menu: &[
        "RdCurr",
        "RdOwn",
        "RdShared",
        "RdAny",
        "RdOwnNoData",
        "ItoMWr",
        "WrCur",
        "CLFlush",
        "CleanEvict",
        "DirtyEvict",
        "CleanEvictNoData",
        "WOWrInv",
        "WOWrInvF",
        "WrInv",
        WAITING,
    ],
    options: &[
        MurphiOption {
            name: "clean_evict",
            constant: "CLEAN_EVICT_PULLS",
            is_set: |c| c.clean_evict == CleanEvictAnswer::Pull,
        },
        MurphiOption { name: "silent_drop_s", constant: "DROP_S", is_set: |c| c.silent_drop_s },
        MurphiOption { name: "silent_drop_e", constant: "DROP_E", is_set: |c| c.silent_drop_e },
    ],
};

static HDM_DB: MurphiModel = MurphiModel {
    text: include_str!("../../testbenches/models/hdm_db.m"),
    agents: Some("HOSTS"),
    menu: &["MemRdA", "MemRdS", "MemInv", "MemClnEvct", "MemWr", "Drop", WAITING],
    options: &[],
};

static HDM_D: MurphiModel = MurphiModel {
    text: include_str!("../../testbenches/models/hdm_d.m"),
    agents: None,
    menu: &[
        "RdCurr",
        "RdShared",
        "RdAny",
        "RdOwn",
        "RdOwnNoData",
        "CLFlush",
        "WOWrInv",
        "WOWrInvF",
        "ItoMWr",
        "WrCur",
        "WrInv",
        "CleanEvict",
        "CleanEvictNoData",
        "DirtyEvict",
        "MemRdA",
        "MemRdS",
        "MemRdI",
        "MemRdCur",
        "MemRdNoOpCur",
        "MemRdNoOp",
        "MemRdData",
        "MemInv",
        "MemInvI",
        "MemWr",
        "Drop",
        WAITING,
    ],
    options: &[MurphiOption {
        name: "mem.flush_keeps_shared",
        constant: "FLUSH_KEEPS_SHARED",
        is_set: |c| c.mem.flush_keeps_shared,
    }],
};

/// Stores that wait for the ownership that was asked for with them.
const WAITING: &str = "Waiting";

const fn scope(
    name: &'static str,
    model: &'static MurphiModel,
    agents: u16,
    requests: Option<&'static [D2hReqOpcode]>,
) -> MurphiScope {
    MurphiScope { name, model, agents, requests }
}

/// All of them.
pub static SCOPES: &[MurphiScope] = &[
    scope("cxl-cache-2", &CXL_CACHE, 2, Some(ALL_REQUESTS)),
    scope("cxl-cache-3", &CXL_CACHE, 3, Some(HINTED_REQUESTS)),
    scope("hdm-db-2", &HDM_DB, 2, None),
    scope("hdm-db-3", &HDM_DB, 3, None),
    scope("hdm-d", &HDM_D, 1, None),
];

/// The scope of a name.
///
/// # Errors
/// A name that is none.
pub fn find(name: &str) -> Result<&'static MurphiScope, MurphiError> {
    let known = || SCOPES.iter().map(|scope| scope.name).collect::<Vec<_>>().join(", ");
    let scope = SCOPES.iter().find(|scope| scope.name == name);
    scope.ok_or_else(|| MurphiError::Name { found: name.to_owned(), expected: known() })
}

impl MurphiModel {
    /// The `const` section.
    fn constants(&self) -> &'static str {
        self.text.split_once("\ntype\n").map_or("", |(head, _)| head)
    }

    /// Rules that can be broken, in the order of the text: constants in small letters but for the one that says "none".
    pub fn mutants(&self) -> impl Iterator<Item = &'static str> {
        let names = self.constants().lines().filter_map(|line| line.strip_prefix("  ")?.split_once(": "));
        let named = names.filter(|(name, _)| name.chars().all(char::is_alphanumeric));
        let rules = named.filter(|(name, _)| name.contains(|c: char| c.is_ascii_lowercase()));
        rules.map(|(name, _)| name).filter(|name| *name != "NoMutant")
    }
}

impl MurphiScope {
    /// The model with everything filled in.
    ///
    /// # Errors
    /// The first thing that the model does not have.
    pub fn text(&self, request: &MurphiRequest) -> Result<String, MurphiError> {
        let (name, model) = (self.name, self.model);
        let mut text = model.text.to_owned();
        match (model.agents, request.agents) {
            (Some(_), Some(found)) if !(1..=MOST_AGENTS).contains(&found) => {
                return Err(MurphiError::Agents { name, found, expected: format!("1 to {MOST_AGENTS}") });
            }
            (None, Some(found)) => {
                let expected = "no number: a host and a device".to_owned();
                return Err(MurphiError::Agents { name, found, expected });
            }
            (Some(constant), given) => fill(&mut text, constant, &given.unwrap_or(self.agents).to_string()),
            (None, None) => {}
        }
        match &request.ops {
            Some(ops) => self.fill_menu(&mut text, ops)?,
            None => self.fill_requests(&mut text),
        }
        let is_known = |found: &str| model.options.iter().any(|option| option.name == found);
        if let Some((found, _)) = changed(&request.config).into_iter().find(|(found, _)| !is_known(found)) {
            let names: Vec<&str> = model.options.iter().map(|option| option.name).collect();
            let expected = if names.is_empty() { "none".to_owned() } else { format!("one of {}", names.join(", ")) };
            return Err(MurphiError::Option { name, found, expected });
        }
        for option in model.options {
            fill(&mut text, option.constant, bit((option.is_set)(&request.config)));
        }
        if let Some(found) = &request.mutant {
            if !model.mutants().any(|mutant| mutant == found) {
                let expected = model.mutants().collect::<Vec<_>>().join(", ");
                return Err(MurphiError::Mutant { name, found: found.clone(), expected });
            }
            fill(&mut text, "MUTANT", found);
        }
        Ok(text)
    }

    /// The menu by names. Stores to a copy that allows them are always there.
    fn fill_menu(&self, text: &mut String, ops: &str) -> Result<(), MurphiError> {
        let names: Vec<&str> = ops.split(',').map(str::trim).collect();
        if let Some(found) = names.iter().find(|name| !self.model.menu.contains(name)) {
            let (found, expected) = ((*found).to_owned(), self.model.menu.join(", "));
            return Err(MurphiError::Operation { name: self.name, found, expected });
        }
        for op in self.model.menu {
            fill(text, &op.to_uppercase(), bit(names.contains(op)));
        }
        Ok(())
    }

    /// The menu of the exploration.
    fn fill_requests(&self, text: &mut String) {
        let Some(requests) = self.requests else { return };
        for op in self.model.menu.iter().filter(|op| **op != WAITING) {
            let is_asked = requests.iter().any(|opcode| opcode.name() == Some(*op));
            fill(text, &op.to_uppercase(), bit(is_asked));
        }
    }
}

fn bit(is_set: bool) -> &'static str {
    if is_set { "1" } else { "0" }
}

/// The value of a constant: the bytes between `NAME: ` and the next `;`, not in a comment.
fn value_of(text: &str, constant: &str) -> Option<std::ops::Range<usize>> {
    let declared = format!(" {constant}: ");
    let is_code = |at: usize| !text[..at].rsplit('\n').next().is_some_and(|line| line.contains("--"));
    let (at, _) = text.match_indices(&declared).find(|(at, _)| is_code(*at))?;
    let from = at + declared.len();
    Some(from..from + text[from..].find(';')?)
}

/// Gives a constant a value. Every constant that the tables above name is in its text; a test says so.
fn fill(text: &mut String, constant: &str, value: &str) {
    if let Some(place) = value_of(text, constant) {
        text.replace_range(place, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::killers::KILLERS;
    use crate::explore::named;

    #[test]
    fn each_constant_stands_once_in_its_text_and_in_a_table() {
        for model in [&CXL_CACHE, &HDM_DB, &HDM_D] {
            let menu = model.menu.iter().map(|op| op.to_uppercase());
            let others = model.options.iter().map(|o| o.constant).chain(model.agents).chain(["MUTANT", "STORE"]);
            let named: Vec<String> = menu.chain(others.map(str::to_owned)).collect();
            let code: String =
                model.constants().lines().map(|l| l.split("--").next().unwrap_or("").to_owned() + "\n").collect();
            let of_text: Vec<&str> =
                code.split(';').filter_map(|part| part.rsplit_once(':')?.0.split_whitespace().last()).collect();
            let capitals = of_text.iter().filter(|name| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'));
            let mut capitals: Vec<&str> = capitals.copied().collect();
            let mut named: Vec<&str> = named.iter().map(String::as_str).collect();
            capitals.sort_unstable();
            named.sort_unstable();
            assert_eq!(capitals, named);
        }
    }

    #[test]
    fn broken_rules_have_the_names_of_the_explorations() {
        for (model, count) in [(&CXL_CACHE, 17), (&HDM_DB, 13), (&HDM_D, 6)] {
            let names: Vec<&str> = model.mutants().collect();
            assert_eq!(names.len(), count, "{names:?}");
            let known = |name: &str| KILLERS.iter().any(|k| format!("{:?}", k.mutant) == name);
            names.iter().for_each(|name| assert!(known(name), "{name}"));
        }
    }

    #[test]
    fn scopes_are_explorations() {
        SCOPES.iter().for_each(|scope| assert!(named::find(scope.name).is_some(), "{}", scope.name));
    }

    #[test]
    fn what_is_filled_in_is_all_that_changes() {
        let scope = find("cxl-cache-3").expect("a scope");
        let config = CoherenceConfig { silent_drop_e: true, ..CoherenceConfig::default() };
        let request = MurphiRequest {
            agents: Some(4),
            ops: Some("RdOwn, DirtyEvict".into()),
            config,
            mutant: Some("BogusNotSet".into()),
        };
        let text = scope.text(&request).expect("all of it is in the model");
        for line in [
            "DEVICES: 4;",
            "MUTANT: BogusNotSet;",
            " RDOWN: 1;",
            " RDCURR: 0;",
            " WAITING: 0;",
            " STORE: 1;",
            " DROP_E: 1;",
        ] {
            assert!(text.contains(line), "{line}");
        }
        let rules = |text: &str| text.split_once("\ntype\n").map(|(_, rules)| rules.to_owned());
        assert_eq!(rules(&text), rules(scope.model.text));
        // The scope of the smallest exploration is the text itself.
        for name in ["cxl-cache-2", "hdm-db-2", "hdm-d"] {
            let scope = find(name).expect("a scope");
            assert_eq!(scope.text(&MurphiRequest::default()).as_deref(), Ok(scope.model.text));
        }
    }
}
