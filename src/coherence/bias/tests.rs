use super::system::{BiasSystem, Setup};
use crate::coherence::config::CoherenceConfig;
use crate::coherence::explore::{Limits, search};

#[test]
fn scratch() {
    let start = std::time::Instant::now();
    let report = search(&BiasSystem::new(Setup::everything(CoherenceConfig::default())), Limits::default());
    println!("{} states {} transitions depth {} {:?}", report.states, report.transitions, report.depth, start.elapsed());
    if let Some(v) = &report.violation {
        println!("{}", v.event);
        for s in &v.steps {
            println!("  {s:?}");
        }
    }
    assert!(report.violation.is_none() && report.complete);
}
