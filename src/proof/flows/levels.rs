//! Flows over two levels (`coherence` §2, §3): a device below a host, the device with the memory, and another host.

use super::{ChartedFlow, play};
use crate::systems::mem::two_levels;
use scalepool_coherence::config::CoherenceConfig;

fn flow(name: &'static str, doc: &'static str, script: &[&'static str]) -> ChartedFlow {
    ChartedFlow { name, doc, chart: play(name, two_levels(CoherenceConfig::default(), 1), script) }
}

/// A line that a caching device of a host holds in the memory of another device.
pub fn levels() -> Vec<ChartedFlow> {
    vec![
        flow(
            "two-levels-fetch",
            "The host asks for ownership of the line before a device below it gets a shared copy.",
            &["device 0: RdShared"],
        ),
        flow(
            "two-levels-taken-back",
            "Another host wants the line: the back-invalidate waits until the host has taken the line back from its device.",
            &["device 0: RdOwn", "all", "device 0: Store", "host 1: MemRd"],
        ),
        flow(
            "two-levels-early-snoop",
            "The back-invalidate comes before the data of the fetch: the device is served first, then the line is taken back.",
            &[
                "device 0: RdShared",
                "device 0 > host 0: RdShared",
                "host 0 > memory: MemRd Any SnpInv",
                "memory > host 0: CmpE",
                "host 1: MemRd",
                "host 1 > memory: MemRd Any SnpInv",
                "memory > host 0: BISnpInv",
                "memory > host 0: MemData",
            ],
        ),
    ]
}
