//! Models of the protocols in the languages of other checkers: of Murphi and its family, such as rumur, and TLA+.
//!
//! Modelled: the texts of `testbenches/models/`, which state the rules of the sheet a second time, and what is filled in there: how
//! many agents, what they may begin, choices of the sheet, of Murphi the rule that is broken. Left out: running a checker, which
//! `testbenches/models/compare.py` does for Murphi. TLA+ is checked for its syntax only.
//!
//! A text is a whole model as it stands; filling in changes a few definitions at its head and nothing else. The names of
//! operations, options and broken rules are those of the explorations, so one scope can be asked for on both sides.
//!
//! A walk: a name leads to a scope ([`find`]), which refuses what its model does not have and fills in the rest
//! ([`ModelScope::murphi`], [`ModelScope::tla`]).

mod murphi;
mod tla;

use crate::explore::named::MOST_AGENTS;
use crate::explore::options::changed;
use crate::systems::cache::{ALL_REQUESTS, HINTED_REQUESTS};
use murphi::{CORE, CXL_CACHE, HDM_D, HDM_DB, MEMORY_BEHIND, MurphiModel, TWO_LEVELS, WAITING};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode;

/// A model in the scope of an exploration.
#[derive(Debug)]
pub struct ModelScope {
    /// Name of the exploration, and of the scope.
    pub name: &'static str,
    /// The model.
    model: &'static MurphiModel,
    agents: u16,
    /// The requests of CXL.cache on the menu; `None`: the menu is that of the text.
    requests: Option<&'static [D2hReqOpcode]>,
    /// Whether the core of the home is on the menu.
    core: bool,
    /// Constants that make the system of the exploration.
    system: &'static [&'static str],
    /// Whether there is a text in TLA+.
    has_tla: bool,
}

/// What to fill in; what is not given stays as the exploration has it.
#[derive(Debug, Default)]
pub struct ModelRequest {
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
pub enum ModelError {
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

/// Broken rules that do nothing in a system without a constant.
const NEEDS: &[(&str, &str)] = &[("StoreNotAwaited", MEMORY_BEHIND)];

const fn scope(
    name: &'static str,
    model: &'static MurphiModel,
    agents: u16,
    requests: Option<&'static [D2hReqOpcode]>,
) -> ModelScope {
    ModelScope { name, model, agents, requests, core: false, system: &[], has_tla: false }
}

/// The same with the core of the home.
const fn with_core(scope: ModelScope, system: &'static [&'static str]) -> ModelScope {
    ModelScope { core: true, system, ..scope }
}

/// All of them.
pub static SCOPES: &[ModelScope] = &[
    scope("cxl-cache-2", &CXL_CACHE, 2, Some(ALL_REQUESTS)),
    with_core(scope("cxl-cache-2-core", &CXL_CACHE, 2, Some(ALL_REQUESTS)), &[]),
    ModelScope {
        has_tla: true,
        ..with_core(scope("cxl-cache-2-memory", &CXL_CACHE, 2, Some(ALL_REQUESTS)), &[MEMORY_BEHIND])
    },
    scope("cxl-cache-3", &CXL_CACHE, 3, Some(HINTED_REQUESTS)),
    scope("hdm-db-2", &HDM_DB, 2, None),
    scope("hdm-db-3", &HDM_DB, 3, None),
    scope("hdm-db-two-levels", &TWO_LEVELS, 2, None),
    scope("hdm-d", &HDM_D, 1, None),
];

/// The scope of a name.
///
/// # Errors
/// A name that is none.
pub fn find(name: &str) -> Result<&'static ModelScope, ModelError> {
    let known = || SCOPES.iter().map(|scope| scope.name).collect::<Vec<_>>().join(", ");
    let scope = SCOPES.iter().find(|scope| scope.name == name);
    scope.ok_or_else(|| ModelError::Name { found: name.to_owned(), expected: known() })
}

impl ModelScope {
    /// Rules of the model that can be broken in this system.
    fn mutants(&self) -> impl Iterator<Item = &'static str> {
        let is_idle = |rule: &str| NEEDS.iter().any(|(name, system)| *name == rule && !self.system.contains(system));
        self.model.mutants().filter(move |rule| !is_idle(rule))
    }

    /// Refuses what the model does not have.
    fn check(&self, request: &ModelRequest) -> Result<(), ModelError> {
        let (name, model) = (self.name, self.model);
        match (model.agents, request.agents) {
            (Some(_), Some(found)) if !(1..=MOST_AGENTS).contains(&found) => {
                return Err(ModelError::Agents { name, found, expected: format!("1 to {MOST_AGENTS}") });
            }
            (None, Some(found)) => {
                let expected = "no number: a host and a device".to_owned();
                return Err(ModelError::Agents { name, found, expected });
            }
            _ => {}
        }
        if let Some(found) = request.names().into_iter().flatten().find(|name| !model.menu.contains(name)) {
            let (found, expected) = (found.to_owned(), model.menu.join(", "));
            return Err(ModelError::Operation { name, found, expected });
        }
        let is_known = |found: &str| model.options.iter().any(|option| option.name == found);
        if let Some((found, _)) = changed(&request.config).into_iter().find(|(found, _)| !is_known(found)) {
            let names: Vec<&str> = model.options.iter().map(|option| option.name).collect();
            let expected = if names.is_empty() { "none".to_owned() } else { format!("one of {}", names.join(", ")) };
            return Err(ModelError::Option { name, found, expected });
        }
        match &request.mutant {
            Some(found) if !self.mutants().any(|mutant| mutant == found) => {
                let expected = self.mutants().collect::<Vec<_>>().join(", ");
                Err(ModelError::Mutant { name, found: found.clone(), expected })
            }
            _ => Ok(()),
        }
    }

    /// How many agents are alike.
    fn agents(&self, request: &ModelRequest) -> u16 {
        request.agents.unwrap_or(self.agents)
    }

    /// What is on the menu; `None`: what the text has there. Stores to a copy that allows them always are.
    fn menu(&self, request: &ModelRequest) -> Option<Vec<&'static str>> {
        let is_on = |op: &str| match (request.names(), self.requests) {
            (Some(names), _) => Some(names.contains(&op)),
            (None, Some(_)) if op == WAITING => Some(true),
            (None, Some(_)) if op == CORE => Some(self.core),
            (None, Some(requests)) => Some(requests.iter().any(|opcode| opcode.name() == Some(op))),
            (None, None) => None,
        };
        self.model
            .menu
            .iter()
            .map(|op| is_on(op).map(|is_on| is_on.then_some(*op)))
            .collect::<Option<Vec<_>>>()
            .map(|ops| ops.into_iter().flatten().collect())
    }
}

impl ModelRequest {
    /// The names of the menu.
    fn names(&self) -> Option<Vec<&str>> {
        self.ops.as_ref().map(|ops| ops.split(',').map(str::trim).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::named;

    #[test]
    fn scopes_are_explorations() {
        SCOPES.iter().for_each(|scope| assert!(named::find(scope.name).is_some(), "{}", scope.name));
    }
}
