//! How a UALink pod grows: time and memory of a run with 16, 64, 256 and 1,024 accelerators that all have the same to do.
//!
//! Both should grow with the ports that are active, so each row has the time for a port and cycle of the reference clock,
//! and the memory for a port. Memory is what the process has gained at most, as the system counts it; none where it does
//! not say.

use super::Effort;
use super::table::Table;
use scalepool::scenario::{self, ScenarioRequest};
use std::time::Instant;

/// Accelerators of the runs; a quick one stops behind the first.
const ACCELERATORS: [u64; 4] = [16, 64, 256, 1024];

/// Most memory that the process has had \[KiB\].
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Adds a remark a size.
pub fn measure(effort: Effort, table: &mut Table) {
    let sizes = if effort.kernel_part == 1 { &ACCELERATORS[..] } else { &ACCELERATORS[..1] };
    for accelerators in sizes {
        let request = ScenarioRequest {
            scenario: "ualink-pod".into(),
            seed: 1,
            threads: 1,
            set: vec![
                format!("pod.accelerators={accelerators}"),
                "traffic.pattern=random".into(),
                "traffic.operations=4".into(),
            ],
            ..ScenarioRequest::default()
        };
        let (before, begun) = (peak_kib(), Instant::now());
        let report = match scenario::run(&request, &mut |_| ()) {
            Ok(report) => report,
            Err(e) => {
                table.remark(format!("ualink-pod, {accelerators} accelerators: {e}"));
                continue;
            }
        };
        let seconds = begun.elapsed().as_secs_f64();
        let nanoseconds = seconds * 1e9 / (report.cycles * accelerators) as f64;
        let memory = match before.zip(peak_kib()) {
            Some((before, after)) => format!("{} KiB a port", (after - before) / accelerators),
            None => "memory not known".into(),
        };
        table.remark(format!(
            "ualink-pod, {accelerators} accelerators: {} cycles in {seconds:.2} s, {nanoseconds:.1} ns a port and cycle, {memory}",
            report.cycles
        ));
    }
}
