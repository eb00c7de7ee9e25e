//! Stages of the pipeline and their latencies (`fabric` §5).

/// Names of the stages, in the order in which a message passes them.
pub const HBR_STAGES: [&str; 4] = ["ingress", "decode", "crossbar", "egress"];

/// A named set of latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HbrPreset {
    /// Name in descriptions.
    pub name: &'static str,
    /// Latency of each stage \[fs\], in the order of [`HBR_STAGES`]. The sheet has their sum alone, port to port; how it is spread
    /// over the stages is of the model.
    pub stages_fs: [u64; 4],
    /// The line of `fabric` §5 that it rests on.
    pub anchor: &'static str,
}

const NS: u64 = 1_000_000;

/// All of them. None is measured.
pub static HBR_PRESETS: [HbrPreset; 3] = [
    HbrPreset {
        name: "cxl_switch",
        stages_fs: [30 * NS, 15 * NS, 20 * NS, 25 * NS],
        anchor: "about 90 ns, one hop of a CXL 2.0 switch with 256 lanes",
    },
    HbrPreset {
        name: "cxl_switch_fast",
        stages_fs: [20 * NS, 10 * NS, 14 * NS, 16 * NS],
        anchor: "less than 100 ns, a switch for CXL 3.2; 60 ns is the choice of the sheet",
    },
    HbrPreset {
        name: "cxl_switch_slow",
        stages_fs: [46 * NS, 24 * NS, 32 * NS, 38 * NS],
        anchor: "120 to 140 ns, retimers and switch together",
    },
];

impl HbrPreset {
    /// The preset of a name.
    pub fn by_name(name: &str) -> Option<&'static HbrPreset> {
        HBR_PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Port to port, without the time of the message itself \[fs\].
    pub fn total_fs(&self) -> u64 {
        self.stages_fs.iter().sum()
    }
}
