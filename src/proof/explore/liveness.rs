//! What never ends: states without a way to quiescence, and waits that a fair run does not end.
//!
//! Two questions about all states and moves of a search:
//!
//! * **Every state reaches quiescence** (V9): from each state some moves, of any kind, lead to one in which nothing is open,
//!   nothing under way and nobody waits. A state of which this is not true is one that no luck leads out of.
//! * **Every wait ends** (V10): in every fair run each request gets its answer and each store and load that waits is done.
//!
//! A *run* starts at the start and makes one move after the other, for ever, or until it makes none any more. Each move that
//! is not [`Fairness::Optional`] is part of an *action*: the delivery of one message (class, fields, link, direction,
//! whatever its data), or a step of one agent for one line that it needs for what it waits for. An action is *possible* in
//! a state if a move of it is. A run is *fair* if it leaves out
//!
//! * no [`Fairness::Weak`] action that is possible in all states from some time on, and
//! * no [`Fairness::Strong`] action that is possible in infinitely many states.
//!
//! Weak are the steps of an agent's own: asking again for a line that was lost before its store, loading and storing. A core
//! may be late at any single chance, but not idle for ever while nothing stands in its way. Strong are deliveries. A message
//! under way stays there, but its receiver does not take it in every state: a home keeps a request waiting while another
//! one for its line is open. Where messages wait for one receiver it takes the longest waiting one first (`clocked::node`), and
//! that is what strong fairness says here, where no state counts how long a message waits. Under weak fairness alone each
//! home would be blamed that takes another request first whenever it is free. Optional is what begins something of which
//! nobody waits for the beginning: requests, stores and loads of free agents, evicts, drops. Others may go on with them for
//! ever, and may stop at any time.
//!
//! A wait that does not end is found as follows. Of the states in which it stands the strongly connected components are
//! taken, a state alone among them, since a run may stop there. A component with a weak action that is possible in all of
//! its states and part of no move inside has no fair run. Out of one with a strong action that is possible somewhere and
//! part of no move inside, the states in which it is possible are taken, and what is left is divided again. Any other
//! component has a fair run that goes round in it through all of its states: the wait never ends.
//!
//! The counterexample is a shortest way to a state in which somebody waits and nothing is owed; if there is none, a shortest
//! way to such a component and a round in it that makes every action it owes. All of this is done on states with names: where
//! agents are renamed, nobody knows who waits.

use super::graph::{OPTIONAL, StateGraph};
use super::system::AgentWait;
#[cfg(doc)]
use super::system::Fairness;
use std::collections::{HashMap, VecDeque};

/// What does not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endless {
    /// The work as a whole: no way leads to quiescence.
    Work,
    /// This wait.
    Wait(AgentWait),
}

/// A run that never ends: to a state, and round from there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lasso {
    pub endless: Endless,
    /// Where the round begins, the first state of it that the search found.
    pub state: u32,
    /// The round: for each move its place among the moves of its state. Empty: nothing more happens.
    pub round: Vec<u16>,
}

/// What does not end, the work as a whole first. With several threads both questions are asked at once.
pub(super) fn find(graph: &StateGraph, threads: usize) -> Option<Lasso> {
    if threads < 2 {
        return endless_work(graph).or_else(|| endless_wait(graph));
    }
    std::thread::scope(|scope| {
        let wait = scope.spawn(|| endless_wait(graph));
        let work = endless_work(graph);
        let wait = wait.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        work.or(wait)
    })
}

/// A state without a way to quiescence: of those components that lead nowhere else, the first one that the search found.
pub(super) fn endless_work(graph: &StateGraph) -> Option<Lasso> {
    let mut index = vec![NEW; graph.states() as usize];
    let mut reaches = vec![false; graph.states() as usize];
    let mut first: Option<Vec<u32>> = None;
    // Components come behind all that they lead to.
    components(
        graph,
        0..graph.states(),
        |_| true,
        &mut index,
        |part| {
            let targets = || part.iter().flat_map(|&state| graph.moves(state)).map(|mv| graph.target(mv));
            if part.iter().any(|&state| graph.is_quiescent(state)) || targets().any(|to| reaches[to as usize]) {
                part.iter().for_each(|&state| reaches[state as usize] = true);
                return;
            }
            let part = sorted(part);
            if targets().all(|to| part.binary_search(&to).is_ok()) && first.as_ref().is_none_or(|f| part[0] < f[0]) {
                first = Some(part);
            }
        },
    );
    let part = first?;
    Some(Lasso { endless: Endless::Work, state: part[0], round: round(graph, &part) })
}

/// A wait that a fair run does not end: one in which nothing more need happen, or else the one whose round the search found
/// first.
pub(super) fn endless_wait(graph: &StateGraph) -> Option<Lasso> {
    let rests = |state: &u32| graph.moves(*state).all(|mv| graph.action(mv) == OPTIONAL);
    let resting =
        graph.waits().into_iter().filter_map(|wait| Some((graph.waiting(wait).into_iter().find(rests)?, wait)));
    if let Some((state, wait)) = resting.min() {
        return Some(Lasso { endless: Endless::Wait(wait), state, round: Vec::new() });
    }
    let mut index = vec![NEW; graph.states() as usize];
    // In which list a state stands.
    let mut list_of = vec![0_u32; graph.states() as usize];
    let mut list = 0;
    let mut judge = FairnessJudge::new(graph);
    let mut first: Option<(AgentWait, Vec<u32>)> = None;
    for wait in graph.waits() {
        let mut lists = vec![graph.waiting(wait)];
        while let Some(states) = lists.pop() {
            list += 1;
            for &state in &states {
                (list_of[state as usize], index[state as usize]) = (list, NEW);
            }
            let inside = |state: u32| list_of[state as usize] == list;
            components(graph, states.iter().copied(), inside, &mut index, |part| match judge.verdict(part) {
                FairnessVerdict::Unfair => {}
                FairnessVerdict::Without(rest) => lists.push(rest),
                FairnessVerdict::Fair => {
                    let part = sorted(part);
                    if first.as_ref().is_none_or(|(_, f)| part[0] < f[0]) {
                        first = Some((wait, part));
                    }
                }
            });
        }
    }
    let (wait, part) = first?;
    Some(Lasso { endless: Endless::Wait(wait), state: part[0], round: round(graph, &part) })
}

fn sorted(part: &[u32]) -> Vec<u32> {
    let mut part = part.to_vec();
    part.sort_unstable();
    part
}

/// A state that no walk has come to.
const NEW: u32 = 0;
/// A state whose component is known.
const DONE: u32 = u32::MAX;

/// A state on the walk's way: the moves that are left, and the earliest state that it leads back to.
struct WalkFrame {
    state: u32,
    moves: std::ops::Range<u32>,
    low: u32,
}

/// Strongly connected components (Tarjan) of the states `inside`, from those of `roots` on; each one behind all that it
/// leads to. `index` is [`NEW`] for each of them at first.
fn components(
    graph: &StateGraph,
    roots: impl Iterator<Item = u32>,
    inside: impl Fn(u32) -> bool,
    index: &mut [u32],
    mut found: impl FnMut(&[u32]),
) {
    let mut count = 0;
    // States without a component, and the way to the present one.
    let (mut open, mut way): (Vec<u32>, Vec<WalkFrame>) = (Vec::new(), Vec::new());
    for root in roots {
        let mut next = (index[root as usize] == NEW).then_some(root);
        loop {
            if let Some(state) = next.take() {
                count += 1;
                index[state as usize] = count;
                open.push(state);
                way.push(WalkFrame { state, moves: graph.moves(state), low: count });
            }
            let Some(frame) = way.last_mut() else { break };
            if let Some(mv) = frame.moves.next() {
                let to = graph.target(mv);
                match index[to as usize] {
                    _ if !inside(to) => {}
                    NEW => next = Some(to),
                    DONE => {}
                    at => frame.low = frame.low.min(at),
                }
                continue;
            }
            let (state, low) = (frame.state, frame.low);
            way.pop();
            if low == index[state as usize] {
                let begin = open.iter().rposition(|&s| s == state).unwrap_or(0);
                open[begin..].iter().for_each(|&s| index[s as usize] = DONE);
                found(&open[begin..]);
                open.truncate(begin);
            } else if let Some(parent) = way.last_mut() {
                parent.low = parent.low.min(low);
            }
        }
    }
}

/// What fairness says of a component.
enum FairnessVerdict {
    /// A fair run goes round in it.
    Fair,
    /// No fair run stays in it.
    Unfair,
    /// A fair run that stays in it stays in these states.
    Without(Vec<u32>),
}

/// What is known of an action in a component.
#[derive(Clone, Default)]
struct ActionSeen {
    /// States in which it is possible.
    states: u32,
    /// The last of them.
    last: Option<u32>,
    /// Some move of it stays inside.
    taken: bool,
}

struct FairnessJudge<'a> {
    graph: &'a StateGraph,
    /// The component that each state was in last.
    part_of: Vec<u32>,
    part: u32,
    seen: Vec<ActionSeen>,
}

impl<'a> FairnessJudge<'a> {
    fn new(graph: &'a StateGraph) -> Self {
        let part_of = vec![0; graph.states() as usize];
        Self { graph, part_of, part: 0, seen: vec![ActionSeen::default(); graph.actions()] }
    }

    fn verdict(&mut self, part: &[u32]) -> FairnessVerdict {
        self.part += 1;
        for &state in part {
            self.part_of[state as usize] = self.part;
        }
        let mut possible = Vec::new();
        for &state in part {
            for mv in self.graph.moves(state) {
                let action = self.graph.action(mv);
                if action == OPTIONAL {
                    continue;
                }
                let seen = &mut self.seen[action as usize];
                if seen.last.is_none() {
                    possible.push(action);
                }
                seen.states += u32::from(seen.last != Some(state));
                seen.last = Some(state);
                seen.taken |= self.part_of[self.graph.target(mv) as usize] == self.part;
            }
        }
        let (mut unfair, mut owed) = (false, Vec::new());
        for action in possible {
            let seen = std::mem::take(&mut self.seen[action as usize]);
            if !seen.taken {
                unfair |= seen.states as usize == part.len();
                owed.extend(self.graph.is_strong(action).then_some(action));
            }
        }
        if unfair {
            return FairnessVerdict::Unfair;
        }
        if owed.is_empty() {
            return FairnessVerdict::Fair;
        }
        let owes = |state: u32| self.graph.moves(state).any(|mv| owed.contains(&self.graph.action(mv)));
        FairnessVerdict::Without(part.iter().copied().filter(|&state| !owes(state)).collect())
    }
}

/// A round through a component, from its first state, that leaves out no action that it owes.
fn round(graph: &StateGraph, part: &[u32]) -> Vec<u16> {
    let start = part[0];
    let (mut at, mut round) = (start, Vec::new());
    // Each state of the round, and the moves that were made.
    let (mut states, mut made) = (vec![start], Vec::new());
    loop {
        let way = match owed(graph, &states, &made) {
            Some(action) => nearest(graph, part, at, |mv| {
                let makes = graph.action(mv) == action;
                makes || !graph.is_strong(action) && !graph.enables(graph.target(mv), action)
            }),
            None if at == start => return round,
            None => nearest(graph, part, at, |mv| graph.target(mv) == start),
        };
        // Fairness has said that there is one.
        let Some(way) = way else { return round };
        for (state, mv) in way {
            round.push((mv - graph.moves(state).start) as u16);
            made.push(graph.action(mv));
            at = graph.target(mv);
            states.push(at);
        }
    }
}

/// An action that a round through these states with these actions leaves out though it is owed.
fn owed(graph: &StateGraph, states: &[u32], made: &[u32]) -> Option<u32> {
    let possible = states.iter().flat_map(|&state| graph.moves(state)).map(|mv| graph.action(mv));
    let left_out = possible.filter(|action| *action != OPTIONAL && !made.contains(action));
    let is_owed = |&action: &u32| graph.is_strong(action) || states.iter().all(|&state| graph.enables(state, action));
    left_out.filter(is_owed).min()
}

/// The shortest way inside a component whose last move is a `goal`; each move with its state.
fn nearest(graph: &StateGraph, part: &[u32], from: u32, goal: impl Fn(u32) -> bool) -> Option<Vec<(u32, u32)>> {
    let mut origins: HashMap<u32, (u32, u32)> = HashMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(state) = queue.pop_front() {
        for mv in graph.moves(state).filter(|&mv| part.binary_search(&graph.target(mv)).is_ok()) {
            if goal(mv) {
                let mut way = vec![(state, mv)];
                let mut at = state;
                while at != from {
                    let origin = origins[&at];
                    way.push(origin);
                    at = origin.0;
                }
                way.reverse();
                return Some(way);
            }
            let to = graph.target(mv);
            if to != from && !origins.contains_key(&to) {
                origins.insert(to, (state, mv));
                queue.push_back(to);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::system::{Awaited, Fairness};
    use super::*;
    use scalepool_kernel::Rng;

    const WAIT: AgentWait = AgentWait { agent: 0, awaited: Awaited::Store, line: None };

    /// A move: where it leads, and the fairness and number of its action.
    type Mv = (u32, Option<(Fairness, u128)>);

    /// States, each with whether somebody waits, and its moves. Where nobody waits the state is quiescent.
    fn graph(states: &[(bool, &[Mv])]) -> StateGraph {
        let mut graph = StateGraph::default();
        for (waits, _) in states {
            graph.push_state(if *waits { &[WAIT] } else { &[] }, !waits);
        }
        for (_, moves) in states {
            graph.begin_moves();
            moves.iter().for_each(|&(to, action)| graph.push_move(to, action));
        }
        graph
    }

    fn endless(graph: &StateGraph) -> (Option<u32>, Option<u32>) {
        (endless_work(graph).map(|l| l.state), endless_wait(graph).map(|l| l.state))
    }

    /// With one thread and with two.
    fn found(graph: &StateGraph) -> Option<Lasso> {
        let one = find(graph, 1);
        assert_eq!(find(graph, 2), one);
        one
    }

    const SWAP: Option<(Fairness, u128)> = Some((Fairness::Strong, 1));
    const BACK: Option<(Fairness, u128)> = Some((Fairness::Strong, 2));
    const WEAK: Option<(Fairness, u128)> = Some((Fairness::Weak, 3));
    const STRONG: Option<(Fairness, u128)> = Some((Fairness::Strong, 3));

    /// A line goes from one to the other and back for ever, while a store waits for it. What else is possible decides.
    #[test]
    fn a_line_that_is_swapped_for_ever() {
        // Nothing else: both questions find it.
        let only = graph(&[(false, &[(1, None)]), (true, &[(2, SWAP)]), (true, &[(1, BACK)])]);
        assert_eq!(endless(&only), (Some(1), Some(1)));
        let lasso = found(&only).expect("a lasso");
        assert_eq!((lasso.endless, lasso.round), (Endless::Work, vec![0, 0]));
        // The store can be made, but nothing says that it is.
        let may = graph(&[(false, &[(1, None)]), (true, &[(2, SWAP), (0, None)]), (true, &[(1, BACK)])]);
        assert_eq!(endless(&may), (None, Some(1)));
        // Only while the line is here: a core that is late each time makes it never.
        let late = graph(&[(false, &[(1, None)]), (true, &[(2, SWAP), (0, WEAK)]), (true, &[(1, BACK)])]);
        assert_eq!(endless(&late), (None, Some(1)));
        assert_eq!(found(&late).expect("a lasso").round, [0, 0]);
        // At any time: it is made.
        let free = graph(&[(false, &[(1, None)]), (true, &[(2, SWAP), (0, WEAK)]), (true, &[(1, BACK), (0, WEAK)])]);
        assert_eq!(endless(&free), (None, None));
        // A message that can be taken again and again is taken.
        let taken = graph(&[(false, &[(1, None)]), (true, &[(2, SWAP), (0, STRONG)]), (true, &[(1, BACK)])]);
        assert_eq!(endless(&taken), (None, None));
    }

    /// A wait in a state from which nothing, or nothing that anybody owes, leads on.
    #[test]
    fn a_wait_in_which_nothing_more_happens() {
        let dead = graph(&[(false, &[(1, None)]), (true, &[])]);
        assert_eq!(endless(&dead), (Some(1), Some(1)));
        assert!(found(&dead).expect("a lasso").round.is_empty());
        let optional = graph(&[(false, &[(1, None)]), (true, &[(0, None)])]);
        assert_eq!(endless(&optional), (None, Some(1)));
        let owed = graph(&[(false, &[(1, None)]), (true, &[(0, WEAK)])]);
        assert_eq!(endless(&owed), (None, None));
    }

    /// The round makes every action that it owes, not only the shortest way back.
    #[test]
    fn the_round_is_fair() {
        let other = Some((Fairness::Strong, 4));
        let states: &[(bool, &[Mv])] =
            &[(false, &[(1, None)]), (true, &[(2, SWAP), (3, other)]), (true, &[(1, BACK)]), (true, &[(1, WEAK)])];
        assert_eq!(endless_wait(&graph(states)).expect("a lasso").round, [0, 0, 1, 0]);
    }

    /// All sets of states that hang together, tried one by one.
    fn is_endless(states: &[(bool, Vec<Mv>)]) -> bool {
        (1_u32..1 << states.len()).any(|set| {
            let has = |state: u32| set >> state & 1 == 1;
            let members = || (0..states.len() as u32).filter(|&s| has(s));
            let moves = |s: u32| states[s as usize].1.iter();
            let reaches_all = |from: u32| {
                let mut seen = 1_u32 << from;
                for _ in states {
                    for s in members().filter(|s| seen >> s & 1 == 1).collect::<Vec<_>>() {
                        seen |= moves(s).filter(|mv| has(mv.0)).fold(0, |all, mv| all | 1 << mv.0);
                    }
                }
                seen == set
            };
            let actions = members().flat_map(moves).filter_map(|mv| mv.1);
            let possible = |s: u32, action| moves(s).any(|mv| mv.1 == Some(action));
            members().all(|s| states[s as usize].0 && reaches_all(s))
                && actions.into_iter().all(|action| {
                    let taken = members().any(|s| moves(s).any(|mv| mv.1 == Some(action) && has(mv.0)));
                    taken || action.0 == Fairness::Weak && !members().all(|s| possible(s, action))
                })
        })
    }

    #[test]
    fn every_small_graph_is_judged_as_by_trying_all_sets_of_states() {
        let mut rng = Rng::from_seed(5);
        let mut found = 0;
        for _ in 0..4_000 {
            let count = 2 + rng.below(4) as u32;
            let mut states: Vec<(bool, Vec<Mv>)> = Vec::new();
            for _ in 0..count {
                let mut moves = Vec::new();
                for _ in 0..rng.below(4) {
                    let action = match rng.below(5) {
                        0 => None,
                        n => Some((if n < 3 { Fairness::Weak } else { Fairness::Strong }, u128::from(n))),
                    };
                    moves.push((rng.below(count.into()) as u32, action));
                }
                states.push((rng.below(4) != 0, moves));
            }
            let borrowed: Vec<(bool, &[Mv])> = states.iter().map(|(waits, moves)| (*waits, moves.as_slice())).collect();
            let graph = graph(&borrowed);
            let lasso = endless_wait(&graph);
            assert_eq!(lasso.is_some(), is_endless(&states), "{states:?}");
            let Some(lasso) = lasso else { continue };
            found += 1;
            // Along the round: back to its start, and fair.
            let (mut at, mut seen, mut made) = (lasso.state, vec![lasso.state], Vec::new());
            for ordinal in lasso.round {
                let mv = graph.moves(at).start + u32::from(ordinal);
                made.push(graph.action(mv));
                at = graph.target(mv);
                seen.push(at);
            }
            assert!(at == lasso.state && owed(&graph, &seen, &made).is_none(), "{states:?}");
        }
        assert!((400..3_600).contains(&found), "{found} of them never end");
    }
}
