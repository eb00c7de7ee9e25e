//! What is worth seeing in a wave: which variables have shown something, and when the first event of interest was.
//!
//! A variable has shown something when it was set to anything but 0, or has names for its values and was set. The first
//! event of interest is the first trouble (a broken rule, a repair: a retry machine or replay at work); without one, the
//! first message on a wire; without a wire, the first message. Of messages it is the first one that eight others follow within
//! a window, so that a wait after the start is not all that is seen; if there is none, the very first one. What stands in the
//! wave from its start on is no event. Where the events after it go on, up to the eighth, says how much of the wave is worth
//! seeing with it.

use super::gtkw::WIDEST_FS;
use super::signals::{Signals, Var, VarId};
use super::state::SignalValues;

/// Signals of a link end that leave 0 while it repairs something.
const REPAIRS: [&str; 5] = ["lrsm", "replaying", "nak_open", "hunting", "tries"];

/// How much an event at a variable is worth seeing, the most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    /// A broken rule or a repair.
    Trouble,
    /// A message on a wire.
    OnWire,
    /// A message of an agent.
    Message,
}

/// Number of values of [`Worth`].
const WORTHS: usize = 3;

/// Instants with events of any worth, after the first one, that are worth seeing with it.
const FOLLOWED: usize = 8;

/// What is worth seeing in a wave.
#[derive(Debug, Clone)]
pub struct Highlights {
    /// By variable: it has shown something.
    shown: Vec<bool>,
    /// The first event and what follows it, by [`Worth`].
    first: [Option<First>; WORTHS],
}

/// An event of interest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HighlightEvent {
    /// Time in fs.
    pub t_fs: u64,
    /// Variable that shows it, as a position in [`Signals::vars`].
    pub var: usize,
    /// Time in fs of the last event that is worth seeing with it.
    pub until_fs: u64,
}

/// An event that may be the first of interest.
#[derive(Debug, Clone, Copy)]
struct First {
    event: HighlightEvent,
    /// Instants with events that have followed it so far.
    followed: usize,
    /// The very first event, while this one stands for it.
    before: Option<HighlightEvent>,
}

impl First {
    /// The very first event, until so many follow another one within a window.
    fn event(&self) -> HighlightEvent {
        self.before.filter(|_| self.followed < FOLLOWED).unwrap_or(self.event)
    }
}

impl Highlights {
    /// Those of a wave of which nothing is known: every variable, no event.
    pub fn all(signals: &Signals) -> Highlights {
        Highlights { shown: vec![true; signals.vars().len()], first: [None; WORTHS] }
    }

    /// Whether the variable of a position in [`Signals::vars`] has shown something.
    pub fn has_shown(&self, var: usize) -> bool {
        self.shown[var]
    }

    /// The first event of interest.
    pub fn first_event(&self) -> Option<HighlightEvent> {
        self.first.iter().find_map(|first| first.map(|first| first.event()))
    }
}

/// Looks at the changes of a wave.
#[derive(Debug)]
pub(super) struct Watch {
    found: Highlights,
    worth: Vec<Option<Worth>>,
    /// Has names for its values.
    named: Vec<bool>,
    /// Had a value before.
    known: Vec<bool>,
}

impl Watch {
    pub(super) fn new(signals: &Signals) -> Watch {
        let vars = signals.vars();
        let mut worth = vec![None; vars.len()];
        for scope in signals.scopes() {
            let is_wire = |s: &usize| signals.scopes()[*s].name == "flit";
            let of_message = if scope.scopes.iter().any(is_wire) { Worth::OnWire } else { Worth::Message };
            for inner in scope.scopes.iter().map(|&s| &signals.scopes()[s]).filter(|s| !s.is_detail && s.name != "flit")
            {
                let counts = inner.vars.iter().filter(|&&v| vars[v].name == "seq");
                counts.for_each(|&v| worth[v] = Some(of_message));
            }
            let troubles = |v: &Var| v.name == "violations" || REPAIRS.contains(&v.name.as_str());
            scope.vars.iter().filter(|&&v| troubles(&vars[v])).for_each(|&v| worth[v] = Some(Worth::Trouble));
        }
        let shown = vec![false; vars.len()];
        Watch {
            found: Highlights { shown, first: [None; WORTHS] },
            worth,
            named: vars.iter().map(|v| v.names.is_some()).collect(),
            known: vars.iter().map(|v| v.is_count).collect(),
        }
    }

    pub(super) fn highlights(&self) -> &Highlights {
        &self.found
    }

    /// An event, which may be the first of its worth, and follows others.
    fn event(&mut self, worth: Worth, event: HighlightEvent) {
        for (of, first) in self.found.first.iter_mut().enumerate() {
            let Some(first) = first.as_mut().filter(|first| first.followed < FOLLOWED) else { continue };
            let is_near = event.t_fs - first.event.t_fs <= WIDEST_FS;
            if is_near || of == Worth::Trouble as usize {
                // Events of one instant count as one.
                first.followed += usize::from(event.t_fs > first.event.until_fs);
                first.event.until_fs = event.t_fs;
            } else if of == worth as usize {
                *first = First { event, followed: 0, before: first.before.or(Some(first.event)) };
            }
        }
        self.found.first[worth as usize].get_or_insert(First { event, followed: 0, before: None });
    }

    /// These variables have changed; `t_fs` is `None` for what stands in the wave from its start on.
    pub(super) fn changed(&mut self, state: &SignalValues, changes: &[VarId], t_fs: Option<u64>) {
        for &var in changes {
            let is_set = state.words(var).is_some_and(|words| words.iter().any(|&word| word != 0));
            self.found.shown[var] |= is_set || self.named[var];
            let was_known = std::mem::replace(&mut self.known[var], true);
            let t_fs = t_fs.filter(|&t_fs| t_fs > 0);
            if let (true, true, Some(worth), Some(t_fs)) = (is_set, was_known, self.worth[var], t_fs) {
                self.event(worth, HighlightEvent { t_fs, var, until_fs: t_fs });
            }
        }
    }
}
