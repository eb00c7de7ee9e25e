//! Litmus cases: small programs on one line, explored exhaustively; every final outcome that some order of messages
//! reaches.
//!
//! Modelled: per agent a start state and a list of operations; an operation begins in the very step in which its start
//! state holds (`coherence` §2.2, §3.2), until then it waits. `Load` needs a valid copy, `Store` needs E or M; neither
//! sends a message, except that a store whose requested ownership was lost before it could happen asks again (RdOwn, from
//! S RdOwnNoData; MemRdA), unless its program gave it up by an evict. A store behind RdOwn or RdAny may be there in time to
//! wait with the fill, or late: a snoop between GO and data is answered both ways (§2.4). A program that cannot go on when nothing is under way ends there. Left out: silent drops, evictions for
//! want of place, more than one line.
//!
//! A write request (ItoMWr, WrCur, WrInv, WOWrInv*) is a store at the point where the home takes its data. *Fresh*: the
//! home's copy holds the value of the last store in coherence order, without one the newest value of the start.
//!
//! `poison = [1]` names agents whose stores and writes are poisoned. Poison stays with the line until a store or write of
//! the whole line; a `Store` of CXL.cache is one of a part, one of CXL.mem of the whole. Each `Load` says what it got.
//!
//! [`shapes`] has the shapes of the literature, two lines and sequential cores; [`herd`] reads programs of any cores from `.litmus`
//! files; [`cores`] explores both.
//!
//! One case: [`parse`] reads the file, [`LitmusCase::explore`] lets the adapter of its kind build the system and
//! searches it.

mod bias;
pub mod bridge;
mod cache;
pub mod cores;
mod file;
pub mod herd;
mod mem;
pub mod program;
pub mod shapes;
pub use file::{LitmusError, parse};

use crate::explore::{Counterexample, ExplorationReport, Explored, Limits, options};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::ids::IdSet;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Which agents, and over which protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LitmusKind {
    /// Device caches and a home over CXL.cache.
    CxlCache,
    /// Hosts and a device with back-invalidation.
    HdmDb,
    /// A host and a device with bias.
    HdmD,
}

impl LitmusKind {
    /// All of them.
    pub const ALL: [LitmusKind; 3] = [LitmusKind::CxlCache, LitmusKind::HdmDb, LitmusKind::HdmD];

    /// Options that act in it: one line, no drops, no cache of an HDM-DB device.
    pub fn options(self) -> options::Acting {
        match self {
            LitmusKind::CxlCache => options::CACHE,
            LitmusKind::HdmDb => options::HDM_DB,
            LitmusKind::HdmD => options::HDM_D,
        }
    }

    /// Name in a file.
    pub fn name(self) -> &'static str {
        match self {
            LitmusKind::CxlCache => "cxl-cache",
            LitmusKind::HdmDb => "hdm-db",
            LitmusKind::HdmD => "hdm-d",
        }
    }
}

/// A word of a file and the line that it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LitmusWord {
    /// The word.
    pub text: String,
    /// Line of the file, from 1.
    pub line: usize,
}

/// A case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LitmusCase {
    /// Kind.
    pub kind: LitmusKind,
    /// One letter an agent: M, E, S or I.
    pub start: String,
    /// Line of the file in which `start` stands.
    pub start_line: usize,
    /// Operations, per agent.
    pub programs: Vec<Vec<LitmusWord>>,
    /// Agents whose stores and writes are poisoned; an M copy of the start is a store.
    pub poisoners: IdSet,
    /// Choices.
    pub config: CoherenceConfig,
    /// Line of the file in which they stand.
    pub config_line: usize,
}

/// Poison in a final outcome.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutcomePoison {
    /// The home's copy is poisoned.
    pub home: bool,
    /// Of each agent a letter a `Load`, in order: `P` poisoned, `c` clean.
    pub loads: Vec<String>,
}

impl OutcomePoison {
    /// Reads the third word of an outcome's name ([`outcome`](crate::explore::system::outcome)).
    fn of(word: &str) -> Option<Self> {
        let (home, loads) = word.split_once(':')?;
        Some(Self { home: home == "P", loads: loads.split(',').map(str::to_owned).collect() })
    }
}

/// A final outcome.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LitmusOutcome {
    /// One stable letter an agent.
    pub letters: String,
    /// The home's copy holds the last store's value.
    pub fresh: bool,
    /// What became of poison; `None` where nobody poisons.
    pub poison: Option<OutcomePoison>,
    /// Moves that end here; information only.
    pub paths: u64,
}

/// What the exploration of a case found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LitmusResult {
    /// Different states.
    pub states: usize,
    /// Moves tried.
    pub transitions: u64,
    /// The first broken rule; the search ends there.
    pub violation: Option<Counterexample>,
    /// Outcomes, sorted.
    pub outcomes: Vec<LitmusOutcome>,
    /// Whether all states were visited; otherwise there may be outcomes and broken rules that nobody has seen.
    pub complete: bool,
}

/// States that a case may have by default. With 8 agents a state takes some 0.8 kB, with 16 twice as much: the most memory
/// is about 4 GB.
pub const MOST_STATES: usize = 2_000_000;

impl LitmusCase {
    /// Where the case starts.
    ///
    /// # Errors
    /// A word that the kind does not know, too many agents, an option that does nothing in the kind.
    pub fn start(&self) -> Result<Box<dyn Explored>, LitmusError> {
        options::check(&self.config, self.kind.options()).map_err(|e| LitmusError::Value {
            line: self.config_line,
            found: e.found,
            expected: e.expected,
        })?;
        match self.kind {
            LitmusKind::CxlCache => cache::start(self),
            LitmusKind::HdmDb => mem::start(self),
            LitmusKind::HdmD => bias::start(self),
        }
    }

    /// Explores the case, up to [`MOST_STATES`].
    ///
    /// # Errors
    /// Those of [`LitmusCase::start`].
    pub fn explore(&self) -> Result<LitmusResult, LitmusError> {
        self.explore_within(MOST_STATES, &mut |_| ())
    }

    /// Explores at most so many states; `progress` sees the counts now and then.
    ///
    /// # Errors
    /// Those of [`LitmusCase::start`].
    pub fn explore_within(
        &self,
        states: usize,
        progress: &mut dyn FnMut(&ExplorationReport),
    ) -> Result<LitmusResult, LitmusError> {
        let limits = Limits { states, ..Limits::default() };
        Ok(LitmusResult::of(&self.start()?.search(limits, progress)))
    }
}

impl LitmusResult {
    /// What a report of a case says.
    pub fn of(report: &ExplorationReport) -> Self {
        let outcomes = report.outcomes.iter().map(|(name, &paths)| {
            let mut words = name.split(' ');
            let (letters, fresh) = (words.next().unwrap_or_default().to_owned(), words.next() == Some("true"));
            LitmusOutcome { letters, fresh, poison: words.next().and_then(OutcomePoison::of), paths }
        });
        Self {
            states: report.states,
            transitions: report.transitions,
            outcomes: outcomes.collect(),
            violation: report.violation.clone(),
            complete: report.complete,
        }
    }

    /// The outcomes for people, one a line: letters, whether the home is fresh, paths; where poison may be, whether the home
    /// is poisoned and what each load got.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn print_outcomes(&self, out: &mut dyn Write) -> io::Result<()> {
        self.outcomes.iter().try_for_each(|o| {
            let fresh = if o.fresh { "fresh" } else { "old" };
            write!(out, "{} {fresh} {}", o.letters, o.paths)?;
            if let Some(poison) = &o.poison {
                write!(out, " home {}, loads", if poison.home { "poisoned" } else { "clean" })?;
                poison.loads.iter().try_for_each(|l| write!(out, " {}", if l.is_empty() { "-" } else { l }))?;
            }
            writeln!(out)
        })
    }

    /// The limit of states ended the search, not a broken rule.
    pub fn gave_up(&self) -> bool {
        !self.complete && self.violation.is_none()
    }

    /// The JSON form. `complete` stands in it, false, when the search was given up and nothing found.
    pub fn to_json(&self) -> Value {
        let violations: Vec<Value> = self
            .violation
            .iter()
            .map(|v| {
                let e = &v.event;
                json!({"rule": e.rule, "at": e.at, "found": e.found, "expected": e.expected})
            })
            .collect();
        let outcomes = self.outcomes.iter().map(|o| {
            let mut form = json!({"final": o.letters, "fresh": o.fresh, "paths": o.paths});
            if let Some(poison) = &o.poison {
                (form["poisoned"], form["loads"]) = (json!(poison.home), json!(poison.loads));
            }
            form
        });
        let outcomes: Vec<Value> = outcomes.collect();
        let mut form = json!({
            "states": self.states,
            "transitions": self.transitions,
            "violations": violations,
            "outcomes": outcomes,
        });
        if self.gave_up() {
            form["complete"] = json!(false);
        }
        form
    }
}
