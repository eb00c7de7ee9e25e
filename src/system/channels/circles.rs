//! Circles of a directed graph whose vertices are numbers.
//!
//! A walk: Tarjan's algorithm, with a stack of its own since graphs are deep, finds the strongly connected parts; a search in
//! breadth from the first channel of each part with an edge inside gives its shortest circle.

use scalepool_ordered::OrderedMap;
use std::collections::VecDeque;

/// Edges that lead back to where the first one begins: from, to, reason.
pub type Circle = Vec<(usize, usize, usize)>;

/// Edges that leave a vertex: to, reason.
pub type NextEdges<'a> = dyn Fn(usize) -> Vec<(usize, usize)> + 'a;

/// A circle of each part with one, in the order of their first vertices.
pub fn of(vertices: usize, next: &NextEdges<'_>) -> Vec<Circle> {
    let part = parts(vertices, next);
    let mut first = OrderedMap::new();
    for (v, part) in part.iter().enumerate() {
        first.entry(*part).or_insert(v);
    }
    let mut first: Vec<usize> = first.into_values().collect();
    scalepool_ordered::sort(&mut first);
    first.into_iter().filter_map(|v| shortest(v, &part, next)).collect()
}

/// A vertex whose edges are being followed.
struct VisitedVertex {
    vertex: usize,
    edges: std::vec::IntoIter<(usize, usize)>,
}

/// The part of each vertex: two have the same number if each can be reached from the other.
pub(super) fn parts(vertices: usize, next: &NextEdges<'_>) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let (mut order, mut low, mut part) = (vec![NONE; vertices], vec![NONE; vertices], vec![NONE; vertices]);
    let (mut seen, mut found, mut open) = (0, 0, Vec::new());
    for root in 0..vertices {
        let mut frames: Vec<VisitedVertex> = Vec::new();
        let mut enter = (order[root] == NONE).then_some(root);
        loop {
            if let Some(vertex) = enter.take() {
                (order[vertex], low[vertex]) = (seen, seen);
                seen += 1;
                open.push(vertex);
                frames.push(VisitedVertex { vertex, edges: next(vertex).into_iter() });
            }
            let Some(VisitedVertex { vertex, edges }) = frames.last_mut() else { break };
            let vertex = *vertex;
            if let Some((to, _)) = edges.next() {
                if order[to] == NONE {
                    enter = Some(to);
                } else if part[to] == NONE {
                    low[vertex] = low[vertex].min(order[to]);
                }
                continue;
            }
            frames.pop();
            if let Some(above) = frames.last() {
                low[above.vertex] = low[above.vertex].min(low[vertex]);
            }
            if low[vertex] == order[vertex] {
                while let Some(member) = open.pop() {
                    part[member] = found;
                    if member == vertex {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    part
}

/// The shortest circle from a vertex through its part; `None`: there is none.
fn shortest(start: usize, part: &[usize], next: &NextEdges<'_>) -> Option<Circle> {
    // How each vertex was reached.
    let mut before: OrderedMap<usize, (usize, usize)> = OrderedMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(vertex) = queue.pop_front() {
        for (to, reason) in next(vertex).into_iter().filter(|(to, _)| part[*to] == part[start]) {
            if to == start {
                let mut circle = vec![(vertex, start, reason)];
                let mut at = vertex;
                while at != start {
                    let (from, reason) = before[&at];
                    circle.push((from, at, reason));
                    at = from;
                }
                circle.reverse();
                return Some(circle);
            }
            if !before.contains_key(&to) {
                before.insert(to, (vertex, reason));
                queue.push_back(to);
            }
        }
    }
    None
}
