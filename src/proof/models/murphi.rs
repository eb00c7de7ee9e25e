//! Texts in the language of Murphi, with their constants.

use super::{ModelError, ModelRequest, ModelScope};
use scalepool_coherence::config::{CleanEvictAnswer, CoherenceConfig};

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
    pub(super) agents: Option<&'static str>,
    /// Operations that may be on the menu; the constant of each is its name in capitals.
    pub menu: &'static [&'static str],
    /// Options.
    pub options: &'static [MurphiOption],
}

pub(super) static CXL_CACHE: MurphiModel = MurphiModel {
    text: include_str!("../../../testbenches/models/cxl_cache.m"),
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
        CORE,
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

pub(super) static HDM_DB: MurphiModel = MurphiModel {
    text: include_str!("../../../testbenches/models/hdm_db.m"),
    agents: Some("HOSTS"),
    menu: &["MemRdA", "MemRdS", "MemInv", "MemClnEvct", "MemWr", "Drop", WAITING],
    options: &[],
};

pub(super) static HDM_D: MurphiModel = MurphiModel {
    text: include_str!("../../../testbenches/models/hdm_d.m"),
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

pub(super) static TWO_LEVELS: MurphiModel = MurphiModel {
    text: include_str!("../../../testbenches/models/two_levels.m"),
    agents: Some("DEVICES"),
    menu: &[
        "RdShared",
        "RdOwn",
        "CleanEvict",
        "DirtyEvict",
        "MemRdA",
        "MemRdS",
        "MemClnEvct",
        "MemWr",
        "Drop",
        WAITING,
    ],
    options: &[],
};

/// Stores that wait for the ownership that was asked for with them.
pub(super) const WAITING: &str = "Waiting";
/// Reads and writes of the core of a home.
pub(super) const CORE: &str = "Core";
/// The memory of a home is behind a port.
pub(super) const MEMORY_BEHIND: &str = "MEMORY_BEHIND";

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

impl ModelScope {
    /// The model of Murphi with everything filled in.
    ///
    /// # Errors
    /// The first thing that the model does not have.
    pub fn murphi(&self, request: &ModelRequest) -> Result<String, ModelError> {
        self.check(request)?;
        let model = self.model;
        let mut text = model.text.to_owned();
        if let Some(constant) = model.agents {
            fill(&mut text, constant, &self.agents(request).to_string());
        }
        if let Some(menu) = self.menu(request) {
            for op in model.menu {
                fill(&mut text, &op.to_uppercase(), bit(menu.contains(op)));
            }
        }
        for option in model.options {
            fill(&mut text, option.constant, bit((option.is_set)(&request.config)));
        }
        for constant in self.system {
            fill(&mut text, constant, "1");
        }
        if let Some(mutant) = &request.mutant {
            fill(&mut text, "MUTANT", mutant);
        }
        Ok(text)
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
    use crate::models::{SCOPES, find};

    #[test]
    fn each_constant_stands_once_in_its_text_and_in_a_table() {
        for model in [&CXL_CACHE, &HDM_DB, &HDM_D, &TWO_LEVELS] {
            let menu = model.menu.iter().map(|op| op.to_uppercase());
            let systems =
                SCOPES.iter().filter(|scope| std::ptr::eq(scope.model, model)).flat_map(|s| s.system).copied();
            let others = model.options.iter().map(|o| o.constant).chain(model.agents).chain(["MUTANT", "STORE"]);
            let others = others.chain(systems);
            let named: Vec<String> = menu.chain(others.map(str::to_owned)).collect();
            let code: String =
                model.constants().lines().map(|l| l.split("--").next().unwrap_or("").to_owned() + "\n").collect();
            let of_text: Vec<&str> =
                code.split(';').filter_map(|part| part.rsplit_once(':')?.0.split_whitespace().last()).collect();
            let capitals = of_text.iter().filter(|name| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'));
            let mut capitals: Vec<&str> = capitals.copied().collect();
            let mut named: Vec<&str> = named.iter().map(String::as_str).collect();
            scalepool_ordered::sort(&mut capitals);
            scalepool_ordered::sort(&mut named);
            assert_eq!(capitals, named);
        }
    }

    #[test]
    fn broken_rules_have_the_names_of_the_explorations() {
        for (model, count) in [(&CXL_CACHE, 18), (&HDM_DB, 13), (&HDM_D, 6), (&TWO_LEVELS, 14)] {
            let names: Vec<&str> = model.mutants().collect();
            assert_eq!(names.len(), count, "{names:?}");
            let known = |name: &str| KILLERS.iter().any(|k| format!("{:?}", k.mutant) == name);
            names.iter().for_each(|name| assert!(known(name), "{name}"));
        }
    }

    /// The two systems of a text differ in their constants, and in the rules that can be broken.
    #[test]
    fn a_home_with_memory_behind_a_port_is_another_system() {
        let text = |name| find(name).and_then(|scope| scope.murphi(&ModelRequest::default())).expect("a scope");
        let own = text("cxl-cache-2");
        let core = own.replace(" CORE: 0;", " CORE: 1;");
        assert!(core != own && text("cxl-cache-2-core") == core);
        let behind = core.replace(" MEMORY_BEHIND: 0;", " MEMORY_BEHIND: 1;");
        assert!(behind != core && text("cxl-cache-2-memory") == behind);
        let count = |name| find(name).expect("a scope").mutants().count();
        assert_eq!((count("cxl-cache-2"), count("cxl-cache-2-memory")), (17, 18));
    }

    #[test]
    fn what_is_filled_in_is_all_that_changes() {
        let scope = find("cxl-cache-3").expect("a scope");
        let config = CoherenceConfig { silent_drop_e: true, ..CoherenceConfig::default() };
        let request = ModelRequest {
            agents: Some(4),
            ops: Some("RdOwn, DirtyEvict".into()),
            config,
            mutant: Some("BogusNotSet".into()),
        };
        let text = scope.murphi(&request).expect("all of it is in the model");
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
        for name in ["cxl-cache-2", "hdm-db-2", "hdm-d", "hdm-db-two-levels"] {
            let scope = find(name).expect("a scope");
            assert_eq!(scope.murphi(&ModelRequest::default()).as_deref(), Ok(scope.model.text));
        }
    }
}
