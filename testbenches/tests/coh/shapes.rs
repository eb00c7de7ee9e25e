//! The litmus shapes in every order of messages: exactly the outcomes that some order of the accesses explains.

use scalepool::coherence::config::CoherenceConfig;
use scalepool::proof::explore::killers::SHAPE_KILLERS;
use scalepool::proof::explore::{Limits, named};
use scalepool::proof::litmus::shapes::{CORR, CORW, COWR, COWW, IRIW, LitmusAccess, LitmusShape, MP, SB, SHAPES, WW};
use scalepool_testbenches::soak::is_soak;
use std::collections::BTreeSet;

/// Names of explorations, behind that of the protocol.
const EXPLORED: [(&str, &LitmusShape); 7] =
    [("corr", &CORR), ("coww", &COWW), ("cowr", &COWR), ("corw", &CORW), ("mp", &MP), ("sb", &SB), ("2+2w", &WW)];

/// What one memory gives: all interleavings, each core with its next access, loaded values and both lines.
pub fn explained(shape: &LitmusShape) -> BTreeSet<(Vec<u8>, [u8; 2])> {
    fn go(
        shape: &LitmusShape,
        next: &mut [usize],
        loads: &mut [Vec<u8>],
        lines: [u8; 2],
        out: &mut BTreeSet<(Vec<u8>, [u8; 2])>,
    ) {
        let mut over = true;
        for core in 0..next.len() {
            let Some(&access) = shape.programs[core].get(next[core]) else { continue };
            over = false;
            next[core] += 1;
            match access {
                LitmusAccess::Load(line) => {
                    loads[core].push(lines[line as usize]);
                    go(shape, next, loads, lines, out);
                    loads[core].pop();
                }
                LitmusAccess::Store(line, value) => {
                    let mut after = lines;
                    after[line as usize] = value;
                    go(shape, next, loads, after, out);
                }
            }
            next[core] -= 1;
        }
        if over {
            out.insert((loads.concat(), lines));
        }
    }
    let cores = shape.programs.len();
    let mut all = BTreeSet::new();
    go(shape, &mut vec![0; cores], &mut vec![Vec::new(); cores], [0; 2], &mut all);
    all
}

#[test]
fn forbidden_is_what_no_order_of_the_accesses_explains() {
    for shape in SHAPES {
        let explained = explained(shape);
        assert!(!explained.iter().any(|(loads, last)| (shape.forbidden)(loads, last)), "{}", shape.name);
    }
    assert!((IRIW.forbidden)(&[1, 0, 1, 0], &[1, 1]));
}

/// Half of the states of all shapes of their protocol and more, for `make soak`. The mutant of the first one dies in `mutants`, and HDM-DB
/// and HDM-D have the shape too; those of a bridge run in `bridge_litmus`, with a cache and without.
const LARGEST: [&str; 4] = ["cxl-cache-sb", "bridge-mp", "bridge-sb", "bridge-2+2w"];

fn explore(protocol: &str) {
    for (name, shape) in EXPLORED {
        let name = format!("{protocol}-{name}");
        if LARGEST.contains(&&*name) && !is_soak() {
            continue;
        }
        let start = named::find(&name).expect("a name").start(CoherenceConfig::default());
        // What never ends is looked for in `make soak`, and in the explorations of the agents, who begin whatever they like.
        let limits = Limits { liveness: is_soak(), reduction: !is_soak(), ..Limits::default() };
        let report = start.search(limits, &mut |_| ());
        println!("{name}: {} states, {} transitions, depth {}", report.states, report.transitions, report.depth);
        assert!(report.complete && report.violation.is_none(), "{name}: {:?}", report.violation.map(|v| v.event));
        let expected: BTreeSet<String> =
            explained(shape).into_iter().map(|(loads, last)| format!("{loads:?} {last:?}")).collect();
        assert_eq!(report.outcomes.into_keys().collect::<BTreeSet<_>>(), expected, "{name}");
    }
}

#[test]
fn shapes_over_cxl_cache() {
    explore("cxl-cache");
}

#[test]
fn shapes_over_hdm_db() {
    explore("hdm-db");
}

#[test]
fn shapes_over_hdm_d() {
    explore("hdm-d");
}

/// One core is that of an accelerator behind a bridge, the other one that of a host, in both ways.
#[test]
fn shapes_over_a_bridge() {
    explore("bridge");
}

#[test]
fn every_shape_has_its_killer() {
    let found: Vec<&str> = SHAPE_KILLERS.iter().filter_map(|k| k.exploration).collect();
    let protocols = ["cxl-cache", "hdm-db", "hdm-d", "bridge"];
    let all: Vec<String> = protocols.iter().flat_map(|p| EXPLORED.map(|(shape, _)| format!("{p}-{shape}"))).collect();
    assert_eq!(found, all);
}
