//! Pipeline stages and their latencies (`fabric` §5).

/// Names of the stages, in the order in which a message passes them.
pub const SWITCH_STAGES: [&str; 4] = ["ingress", "decode", "crossbar", "egress"];

/// A named set of latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwitchPreset {
    /// Name in descriptions.
    pub name: &'static str,
    /// Latency of each stage \[fs\], in the order of [`SWITCH_STAGES`]. The sheet gives only the sum, port to port; the
    /// split over the stages is a choice of the model.
    pub stages_fs: [u64; 4],
    /// The line of `fabric` §5 that the figure is based on.
    pub anchor: &'static str,
}

const NS: u64 = 1_000_000;

/// Presets of switches with hierarchy based routing. None of them is measured.
pub static HBR_PRESETS: [SwitchPreset; 3] = [
    SwitchPreset {
        name: "cxl_switch",
        stages_fs: [30 * NS, 15 * NS, 20 * NS, 25 * NS],
        anchor: "about 90 ns, one hop of a CXL 2.0 switch with 256 lanes",
    },
    SwitchPreset {
        name: "cxl_switch_fast",
        stages_fs: [20 * NS, 10 * NS, 14 * NS, 16 * NS],
        anchor: "less than 100 ns, a switch for CXL 3.2; 60 ns is the choice of the sheet",
    },
    SwitchPreset {
        name: "cxl_switch_slow",
        stages_fs: [46 * NS, 24 * NS, 32 * NS, 38 * NS],
        anchor: "120 to 140 ns, retimers and switch together",
    },
];

/// Presets of switches with port based routing. None of them is measured.
pub static PBR_PRESETS: [SwitchPreset; 1] = [SwitchPreset {
    name: "pbr_hop",
    stages_fs: [30 * NS, 25 * NS, 20 * NS, 25 * NS],
    anchor: "about 90 ns, one hop of a CXL 2.0 switch with 256 lanes, and 10 ns for the tables; the sum is the choice of the sheet",
}];

impl SwitchPreset {
    /// Finds the preset of a name.
    pub fn by_name(name: &str) -> Option<&'static SwitchPreset> {
        HBR_PRESETS.iter().chain(&PBR_PRESETS).find(|preset| preset.name == name)
    }

    /// Port-to-port latency without the transfer time of the message itself \[fs\].
    pub fn total_fs(&self) -> u64 {
        self.stages_fs.iter().sum()
    }
}
