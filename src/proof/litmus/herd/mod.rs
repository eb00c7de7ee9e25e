//! `.litmus` files as herd7 and litmus7 have them: programs of weakly ordered cores over coherent agents.
//!
//! Modelled: the dialects X86 (each thread TSO), AArch64 (each weakly ordered, "ARM") and LISA (an order for each thread by the
//! line `Orders=`, so that a TSO host and weak devices stand in one program); fences, acquire and release, address, data and
//! control dependencies; 2 to 4 threads, 1 to 4 lines. Detail: a thread is a list of accesses, each behind some earlier ones
//! (`thread`); the agents and their messages are those of the other explorations, in every order, from no copies at all,
//! from copies of one line at every core, and from copies of all lines. A store exclusive may fail at any time, and does where its
//! line was stored to since its load exclusive. Left out: exclusive accesses over HDM-DB and HDM-D, whose hosts own a line for a
//! store that they then make; branches that are taken or not, what depends on the status of a store
//! exclusive, evicts while the programs run. Own choice where architectures differ \[D\]: two loads of a line keep their order, an
//! acquire load does not take the value of an own store early, and a read-modify-write takes effect at one point, in a line that its
//! core owns (`bridge` §3.2, atomic), so that nothing of its thread comes between its load and its store; no load takes the value of
//! an own store exclusive early.
//!
//! A file: [`parse`] makes a [`HerdTest`] of it, [`HerdTest::explore`] runs its program ([`super::cores`]) and gives the outcomes,
//! [`HerdResult`] prints them in herd's form. Clocked cores run its [`HerdTest::threads`]; [`HerdHistogram`] counts what they saw.

mod condition;
mod histogram;
mod parse;
mod result;
mod thread;

pub use histogram::{HerdHistogram, OutcomeSet, SeenOutcome};
pub use parse::{HerdError, is_herd, parse};
pub use result::HerdResult;

use super::cores;
use super::program::{Freedom, LitmusAgents, LitmusProgram};
use crate::explore::{ExplorationReport, Limits};
use condition::Condition;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::thread::{Term, ThreadProgram};

/// The language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// X86: every thread TSO.
    X86,
    /// AArch64: every thread weakly ordered.
    AArch64,
    /// LISA: each thread by its word.
    Lisa,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Dialect; 3] = [Dialect::X86, Dialect::AArch64, Dialect::Lisa];

    /// Its name, the first word of a file.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::X86 => "X86",
            Dialect::AArch64 => "AArch64",
            Dialect::Lisa => "LISA",
        }
    }
}

/// What the condition says of the outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    /// It holds in some.
    Exists,
    /// It holds in none.
    NotExists,
    /// It holds in all.
    ForAll,
}

/// How often a condition holds, as herd says it.
fn observation(witnesses: (u64, u64)) -> &'static str {
    match witnesses {
        (0, _) => "Never",
        (_, 0) => "Always",
        _ => "Sometimes",
    }
}

impl Quantifier {
    /// What herd calls it.
    pub(super) fn claim(self) -> &'static str {
        match self {
            Quantifier::Exists => "Allowed",
            Quantifier::NotExists => "Forbidden",
            Quantifier::ForAll => "Required",
        }
    }

    /// Whether the claim is so where the condition holds in some and not in others, counted as outcomes or as runs.
    pub(super) fn is_met(self, (positive, negative): (u64, u64)) -> bool {
        match self {
            Quantifier::Exists => positive > 0,
            Quantifier::NotExists => positive == 0,
            Quantifier::ForAll => negative == 0,
        }
    }

    /// As files have it.
    pub fn name(self) -> &'static str {
        match self {
            Quantifier::Exists => "exists",
            Quantifier::NotExists => "~exists",
            Quantifier::ForAll => "forall",
        }
    }
}

/// A register or a location that an outcome names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OutcomeTerm {
    /// A register of a thread: how it is printed, and its last value.
    Register { thread: usize, spelled: String, term: Term },
    /// A location.
    Line { name: String, line: usize },
}

impl OutcomeTerm {
    /// Key in the JSON form.
    fn key(&self) -> String {
        match self {
            OutcomeTerm::Register { thread, spelled, .. } => format!("{thread}:{spelled}"),
            OutcomeTerm::Line { name, .. } => name.clone(),
        }
    }
}

/// A file that was read.
#[derive(Debug, Clone)]
pub struct HerdTest {
    /// Its name.
    pub name: String,
    /// Its language.
    pub dialect: Dialect,
    /// On whose cores the program runs.
    pub agents: LitmusAgents,
    pub(super) program: LitmusProgram,
    /// What an outcome is, registers first.
    pub(super) named: Vec<OutcomeTerm>,
    /// What the condition says of the outcomes.
    pub quantifier: Quantifier,
    pub(super) condition: Condition,
    /// The condition as it stands in the file.
    pub text: String,
}

impl HerdTest {
    /// What clocked cores run.
    pub fn threads(&self) -> ThreadProgram {
        ThreadProgram { threads: self.program.threads.clone(), initial: self.program.initial.clone() }
    }

    /// Explores at most so many states, over agents with these choices; `progress` sees the counts now and then.
    ///
    /// # Errors
    /// A store of a value that is no byte.
    pub fn explore(
        &self,
        config: CoherenceConfig,
        states: usize,
        progress: &mut dyn FnMut(&ExplorationReport),
    ) -> Result<HerdResult, HerdError> {
        // Of moves that commute one order is enough: a file asks for outcomes alone.
        let limits = Limits { states, liveness: false, reduction: true, ..Limits::default() };
        let program = LitmusProgram { freedom: Freedom::Copies, ..self.program.clone() };
        let start = cores::run(program, self.agents, config);
        HerdResult::of(self.clone(), &start.search(limits, progress))
    }
}
