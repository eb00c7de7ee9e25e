//! Random testing of the agents.

use scalepool::coherence::stress::{Counts, Protocol, Stress};

fn run(protocol: Protocol, seed: u64, operations: u64) -> Counts {
    let began = std::time::Instant::now();
    let counts = Stress::new(protocol, seed, operations).run().unwrap_or_else(|f| panic!("{protocol:?}\n{f}"));
    println!("{protocol:?} seed {seed}: {counts:?} {:.2} s", began.elapsed().as_secs_f64());
    counts
}

#[test]
fn stress_cache() {
    for seed in 0..24 {
        run(Protocol::Cache([2, 3, 5, 16][seed as usize % 4]), seed, 20_000);
    }
}

#[test]
fn stress_db() {
    for seed in 0..24 {
        run(Protocol::HdmDb([2, 3, 5, 8][seed as usize % 4]), seed, 20_000);
    }
}

#[test]
fn stress_d() {
    for seed in 0..24 {
        run(Protocol::HdmD, seed, 20_000);
    }
}
