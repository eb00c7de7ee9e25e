//! Levels of a coherence hierarchy: which agent is the home of a line for which others, and the rules that each level
//! imposes on the agents directly below it (`coherence` §3.4, §3.7).
//!
//! Modelled: any number of levels with one home each. The root owns the memory. A home in the middle, such as a host or a
//! bridge with caching devices, holds lines of the level above and grants copies of them to the agents below. Detail:
//! each level is judged separately. A clean copy has the value that its own home grants, whatever the levels above hold:
//! below a bridge whose copy is M, it is the value of the bridge, and memory is stale (V2). Each home tracks the holders
//! directly below it (V4). No agent holds a stronger state than its home: a line that is shared below is at least shared
//! above, and a line that is owned below is owned above.
//!
//! Therefore the root accounts for a copy at any depth, level by level, and invalidating a line at one level invalidates
//! it at all levels below.

use super::{CopyView, View, misled};
use crate::content::LineContent;
use crate::event::CoherenceEvent;
use crate::ids::{AgentPort, IdSet};
use crate::mem::tables::Copy4;

/// A home and the agents directly below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelView<D> {
    /// The home, an index into the system's names.
    pub home: usize,
    /// The agents directly below the home.
    pub agents: IdSet,
    /// The agents that the home tracks as holders, in-flight grants included.
    pub tracked: IdSet,
    /// The state of the line at the home itself; the root owns all lines.
    pub holds: Copy4,
    /// The value that the home grants to the agents below; `None` if it has none.
    pub value: Option<D>,
    /// Values in flight between the home and the agents below that take effect when they arrive.
    pub in_flight: Vec<D>,
}

/// A level of a hierarchy, or the only level of a system.
pub(super) struct Level<'a, D> {
    home: Option<usize>,
    agents: Option<&'a IdSet>,
    tracked: &'a IdSet,
    holds: Copy4,
    value: Option<&'a D>,
    in_flight: &'a [D],
}

impl<D: LineContent> Level<'_, D> {
    fn is_here(&self, agent: usize) -> bool {
        self.agents.is_none_or(|agents| agents.has(agent as AgentPort))
    }

    /// Checks V2 of a clean copy: the copy has the value of its home, or a value in flight makes the home's value equal
    /// when it arrives.
    pub fn check_value(
        &self,
        view: &View<D>,
        copy: &CopyView<D>,
        name: &dyn Fn(usize) -> String,
        events: &mut Vec<CoherenceEvent>,
    ) {
        if !self.is_here(copy.agent) || self.value == Some(&copy.value) || self.in_flight.contains(&copy.value) {
            return;
        }
        let found = match self.value {
            Some(value) => format!("a clean copy while the home holds {value}"),
            None => "a clean copy while the home holds nothing".to_owned(),
        };
        let (rule, expected) = self
            .value
            .and_then(|value| misled(value, &copy.value))
            .unwrap_or(("COH-INV-02", "a clean copy with the value of the home"));
        events.push(CoherenceEvent::new(rule, view.line, name(copy.agent), found, expected));
    }

    /// Checks V4, and that no agent holds a stronger state than the home.
    pub fn check_holders(&self, view: &View<D>, name: &dyn Fn(usize) -> String, events: &mut Vec<CoherenceEvent>) {
        for copy in view.copies.iter().filter(|copy| self.is_here(copy.agent)) {
            if !self.tracked.has(copy.agent as AgentPort) {
                let found = match self.home {
                    Some(home) => format!("a copy that {} above it does not track", name(home)),
                    None => "a copy that the home does not track".to_owned(),
                };
                let event =
                    CoherenceEvent::new("COH-INV-04", view.line, name(copy.agent), found, "tracking of every holder");
                events.push(event);
            }
            let least = match (copy.writable, copy.usable) {
                (true, _) => Copy4::E,
                (false, true) => Copy4::S,
                (false, false) => Copy4::I,
            };
            if self.holds < least
                && let Some(home) = self.home
            {
                let found = format!("{} below {}, which holds {}", least.letter(), name(home), self.holds.letter());
                let expected = "at least as much at the level above";
                events.push(CoherenceEvent::new("COH-INV-16", view.line, name(copy.agent), found, expected));
            }
        }
    }
}

impl<D: LineContent> View<D> {
    /// All levels, the root first.
    pub(super) fn levels(&self) -> impl Iterator<Item = Level<'_, D>> {
        let one = Level {
            home: None,
            agents: None,
            tracked: &self.tracked,
            holds: Copy4::M,
            value: Some(&self.home),
            in_flight: &self.in_flight,
        };
        let many = self.levels.iter().map(|level| Level {
            home: Some(level.home),
            agents: Some(&level.agents),
            tracked: &level.tracked,
            holds: level.holds,
            value: level.value.as_ref(),
            in_flight: &level.in_flight,
        });
        self.levels.is_empty().then_some(one).into_iter().chain(many)
    }
}

#[cfg(test)]
mod tests {
    use super::super::check_copies;
    use super::*;
    use crate::content::{Age, LineAddr, LineToken};

    const LINE: LineAddr = LineAddr(0);

    fn token(age: Age) -> LineToken {
        LineToken::of(LINE, age)
    }

    fn copy(agent: usize, state: Copy4, age: Age) -> CopyView<LineToken> {
        let (writable, dirty) = (state >= Copy4::E, state == Copy4::M);
        CopyView { agent, usable: state != Copy4::I, writable, dirty, value: token(age) }
    }

    fn level(home: usize, below: AgentPort, holds: Copy4, value: Age) -> LevelView<LineToken> {
        let (agents, tracked) = (IdSet::one(below), IdSet::one(below));
        LevelView { home, agents, tracked, holds, value: Some(token(value)), in_flight: Vec::new() }
    }

    /// Agent 0 has the memory, 1 is below 0, 2 below 1, 3 below 2. The bridges 1 and 2 own the line, and 1 has stored to it; 3 shares
    /// it, so that no bridge may store.
    fn three() -> View<LineToken> {
        let held = |agent, state| CopyView { writable: false, ..copy(agent, state, Age::Current) };
        View {
            line: LINE,
            newest: token(Age::Current),
            home: token(Age::Stale),
            copies: vec![held(1, Copy4::M), held(2, Copy4::E), held(3, Copy4::S)],
            in_flight: Vec::new(),
            tracked: IdSet::EMPTY,
            levels: vec![
                level(0, 1, Copy4::M, Age::Stale),
                level(1, 2, Copy4::M, Age::Current),
                level(2, 3, Copy4::E, Age::Current),
            ],
        }
    }

    const NOTHING: [(&str, String); 0] = [];

    fn found(change: impl FnOnce(&mut View<LineToken>)) -> Vec<(&'static str, String)> {
        let (mut view, mut events) = (three(), Vec::new());
        change(&mut view);
        check_copies(&view, &|n| format!("agent {n}"), &mut events);
        events.into_iter().map(|event| (event.rule, event.at)).collect()
    }

    /// A clean copy below a bridge with M is that bridge's, and memory is older: no alarm at any depth.
    #[test]
    fn each_level_is_judged_by_its_own_home() {
        assert_eq!(found(|_| ()), NOTHING);
        let agent = |n: usize| format!("agent {n}");
        assert_eq!(found(|view| view.levels[1].value = Some(token(Age::Stale))), [("COH-INV-02", agent(2))]);
        assert_eq!(found(|view| view.levels[2].value = None), [("COH-INV-02", agent(3))]);
        let late = |view: &mut View<LineToken>| {
            view.levels[2].value = None;
            view.levels[2].in_flight = vec![token(Age::Current)];
        };
        assert_eq!(found(late), NOTHING);
        for n in 0..3 {
            assert_eq!(found(|view| view.levels[n].tracked = IdSet::EMPTY), [("COH-INV-04", agent(n + 1))]);
        }
        assert_eq!(found(|view| view.levels[2].holds = Copy4::I), [("COH-INV-16", agent(3))]);
        assert_eq!(found(|view| view.levels[2].holds = Copy4::S), NOTHING, "shared below shared");
        let owned = |view: &mut View<LineToken>| {
            view.copies.truncate(2);
            view.copies[0].usable = false;
            view.copies[1] = copy(2, Copy4::M, Age::Current);
            view.levels[1].holds = Copy4::S;
        };
        assert_eq!(found(owned), [("COH-INV-16", agent(2))], "owned below shared");
    }
}
