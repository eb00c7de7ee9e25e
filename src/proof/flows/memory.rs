//! Flows of a home whose memory is behind a port (`coherence` §2, §3.2): devices, the home, and a device with HDM-H.

use super::{ChartedFlow, play};
use crate::systems::cache::{ALL_REQUESTS, Setup, system};
use scalepool_coherence::config::CoherenceConfig;

fn flow(name: &'static str, doc: &'static str, devices: u16, script: &[&'static str]) -> ChartedFlow {
    let setup = Setup { memory_behind: true, ..Setup::free(CoherenceConfig::default(), devices, ALL_REQUESTS) };
    ChartedFlow { name, doc, chart: play(name, system(setup), script) }
}

/// Lines that are fetched and stored by messages.
pub fn memory() -> Vec<ChartedFlow> {
    vec![
        flow("memory-fetched", "A read of a line that nobody has: the home fetches it.", 1, &["device 0: RdShared"]),
        flow(
            "memory-stored-before-answer",
            "The line is dirty at another device: what it gives back is stored before the requester is answered, and not fetched.",
            2,
            &["device 0: RdOwn", "all", "device 0: Store", "device 1: RdShared"],
        ),
        flow(
            "memory-part",
            "A write of a part: the line is fetched before its bytes are pulled, and stored before the GO.",
            1,
            &["device 0: WrInv"],
        ),
        flow(
            "memory-evict",
            "A dirty line is given up, and another device asks for it while it is being stored: the request waits.",
            2,
            &[
                "device 0: RdOwn",
                "all",
                "device 0: Store",
                "device 0: DirtyEvict",
                "device 0 > home: DirtyEvict",
                "home > device 0: GO_WritePull",
                "device 0 > home: Data",
                "device 1: RdOwn",
            ],
        ),
    ]
}
