//! The stages of a bridge as a description gives them, see [`scalepool_bridge::timing`].

use crate::field::{FieldRange, config};
use crate::quantity::Unit;
use scalepool_bridge::timing::BridgeTiming;

config! {
    /// The stages of a bridge, the nanoseconds of the sheet at 1 GHz.
    pub struct BridgeStages {
        deframe_cycles: u64 = "5" [Unit::Of("cycles")] in FieldRange::Int(0, 1 << 20), "a message out of a link layer into the core (bridge §11)";
        lookup_cycles: u64 = "3" [Unit::Of("cycles")] in FieldRange::Int(0, 1 << 20), "window and rights (bridge §11)";
        convert_cycles: u64 = "8" [Unit::Of("cycles")] in FieldRange::Int(0, 1 << 20), "cut into lines, masks, messages (bridge §11)";
        frame_cycles: u64 = "4" [Unit::Of("cycles")] in FieldRange::Int(0, 1 << 20), "a message into the packer of a link (bridge §11)";
        response_cycles: u64 = "5" [Unit::Of("cycles")] in FieldRange::Int(0, 1 << 20), "an answer is matched and merged (bridge §11)";
        children_per_cycle: usize = "2" [Unit::Of("messages")] in FieldRange::Int(1, 64), "messages to CXL that may leave in a cycle (bridge §11)";
        growth_cycles: u64 = "1000" [Unit::Of("cycles")] in FieldRange::Int(1, 1 << 40), "cycles in which the lines under way at a target, 4 to 64 by the load that it reports, may become one more (bridge §7)";
        timeout_cycles: u64 = "50_000" [Unit::Of("cycles")] in FieldRange::Int(1, 1 << 40), "cycles without progress of a line after which its request is answered with status 8 (bridge §7); has to be less than the time-out of accelerators";
    }
}

impl BridgeStages {
    /// The same as the core takes them, without a cache.
    pub fn timing(&self) -> BridgeTiming {
        let &BridgeStages {
            deframe_cycles,
            lookup_cycles,
            convert_cycles,
            frame_cycles,
            response_cycles,
            children_per_cycle,
            growth_cycles,
            timeout_cycles,
        } = self;
        BridgeTiming {
            deframe_cycles,
            lookup_cycles,
            convert_cycles,
            frame_cycles,
            response_cycles,
            children_per_cycle,
            growth_cycles,
            timeout_cycles,
            ..BridgeTiming::SHEET
        }
    }
}
