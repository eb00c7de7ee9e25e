//! All states that a piece can reach, and the longest run of slots in which one that keeps asking gets nothing.

use std::collections::BTreeMap;

/// A decision in a state: what was asked, what came of it, the state behind it.
pub struct Step<Q, G> {
    pub asked: Q,
    pub got: G,
    pub next: usize,
}

/// States by number, with every decision in each.
pub struct Graph<S, Q, G> {
    pub states: Vec<S>,
    pub steps: Vec<Vec<Step<Q, G>>>,
}

/// Walks from a state through all that follow it; `step` decides and moves on, for every `Q` of `questions`.
pub fn explore<S: Clone + Ord, Q: Clone, G>(
    start: S,
    questions: &[Q],
    mut step: impl FnMut(&mut S, &Q) -> G,
) -> Graph<S, Q, G> {
    let mut numbers = BTreeMap::from([(start.clone(), 0)]);
    let (mut states, mut steps) = (vec![start], Vec::new());
    while steps.len() < states.len() {
        assert!(states.len() < 200_000, "the states do not come to an end");
        let state = states[steps.len()].clone();
        let all = questions.iter().map(|asked| {
            let mut later = state.clone();
            let got = step(&mut later, asked);
            let new = numbers.len();
            let next = *numbers.entry(later.clone()).or_insert(new);
            if next == new {
                states.push(later);
            }
            Step { asked: asked.clone(), got, next }
        });
        let all = all.collect();
        steps.push(all);
    }
    Graph { states, steps }
}

impl<S, Q, G> Graph<S, Q, G> {
    /// Most slots in a row for which `lost` holds; `None` when there is no end to them.
    pub fn longest(&self, lost: impl Fn(&Q, &G) -> bool) -> Option<usize> {
        // 0: not seen, 1: on the way, n + 2: n slots at most.
        let mut known = vec![0; self.states.len()];
        for root in 0..self.states.len() {
            let mut way = vec![root];
            while let Some(&state) = way.last() {
                if known[state] == 0 {
                    known[state] = 1;
                    for step in self.steps[state].iter().filter(|s| lost(&s.asked, &s.got)) {
                        match known[step.next] {
                            0 => way.push(step.next),
                            1 => return None,
                            _ => {}
                        }
                    }
                } else {
                    way.pop();
                    if known[state] == 1 {
                        let lost = self.steps[state].iter().filter(|s| lost(&s.asked, &s.got));
                        known[state] = lost.map(|s| known[s.next] + 1).max().unwrap_or(2);
                    }
                }
            }
        }
        known.into_iter().max().map(|n| n - 2)
    }
}

#[test]
fn the_longest_way_is_found_and_a_circle_too() {
    let count = |top: u8| {
        explore(0u8, &[false, true], move |n, up| {
            *n = if *up { (*n + 1).min(top) } else { 0 };
            *n
        })
    };
    assert_eq!(count(7).longest(|up, n| *up && *n < 7), Some(6));
    assert_eq!(count(7).longest(|up, _| *up), None);
    assert_eq!(count(7).longest(|_, _| false), Some(0));
}
