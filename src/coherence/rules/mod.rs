//! What the sheet rules, decision by decision: an agent asks here whatever is no choice of a configuration.
//!
//! Modelled: the rules of `coherence` §2 and §3 by which agents decide, one method each. What a method does here is the
//! sheet ([`Sheet`] has nothing but these). Detail: a decision is a function of what the agent knows when it decides, or a row of
//! a table that has a page of its own ([`snoops`](crate::cache::snoops), [`requests`](crate::cache::requests),
//! [`host_rows`](crate::mem::host_rows), [`tables`](crate::bias::tables)). Left out: choices that the sheet leaves open, which are
//! [`CoherenceConfig`](crate::config::CoherenceConfig)'s.
//!
//! A walk: a home with a request for a busy line asks [`CacheRules::blocks`] of each open transaction of that line, through the
//! [`RuleSet`] of its configuration. To see what a rule is for, a proof gives the agents a set that decides one thing otherwise.

mod bias;
mod cache;
mod mem;
mod poison;

pub use bias::BiasRules;
pub use cache::CacheRules;
pub use mem::{AskedFor, M2sKind, MemRules};
pub use poison::{PoisonRules, PoisonStep};

use std::fmt;
use std::ops::Deref;

/// All decisions of all agents.
pub trait SheetRules: PoisonRules + CacheRules + MemRules + BiasRules + Send + Sync {
    /// The name of rules that differ from the sheet; `None`: they are the sheet's.
    fn deviation(&self) -> Option<&'static str> {
        None
    }

    /// Whether messages of a link keep the order that this rule asks for (§3.6).
    fn keeps_order(&self, _rule: &'static str) -> bool {
        true
    }
}

/// The rules of the sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sheet;

impl PoisonRules for Sheet {}
impl CacheRules for Sheet {}
impl MemRules for Sheet {}
impl BiasRules for Sheet {}
impl SheetRules for Sheet {}

static SHEET: Sheet = Sheet;

/// The rules that an agent decides by; those of the sheet unless a proof sets others.
#[derive(Clone, Copy)]
pub struct RuleSet(&'static dyn SheetRules);

impl RuleSet {
    /// These rules.
    pub const fn new(rules: &'static dyn SheetRules) -> Self {
        Self(rules)
    }

    /// Whether they are the rules of the sheet.
    pub fn is_sheet(&self) -> bool {
        self.0.deviation().is_none()
    }
}

impl Default for RuleSet {
    fn default() -> Self {
        Self(&SHEET)
    }
}

impl Deref for RuleSet {
    type Target = dyn SheetRules;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

/// One set equals itself. The names are compared too, since two values without a size may have one address.
impl PartialEq for RuleSet {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::addr_eq(self.0, other.0) && self.0.deviation() == other.0.deviation()
    }
}

impl Eq for RuleSet {}

impl fmt::Debug for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.deviation().unwrap_or("sheet"))
    }
}
