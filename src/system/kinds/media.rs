//! The table `media` of a component with memory: what stands behind its latency, see [`scalepool_memory::backend`].

use crate::field::{FieldRange, config};
use crate::quantity::Unit;
use scalepool_kernel::Clock;
use scalepool_memory::backend::{self, BanksConfig, MemoryTiming};

config! {
    /// Media. Numbers without another source are of the model (basis: model).
    pub struct CxlMedia {
        kind: String = "fixed" [Unit::Of("-")] in FieldRange::Words(&["fixed", "banks"]), "fixed: the latency is all; banks: interleaved banks, each of which does one request at a time";
        interval: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 40), "least time from one request to the next, rounded up to clock cycles; 0 = none (a choice)";
        banks: u64 = "16" [Unit::Of("banks")] in FieldRange::Int(1, 4096), "number of banks, with kind = \"banks\" (a choice)";
        interleave: u64 = "64" [Unit::Bytes] in FieldRange::OneOf(&[64, 128, 256, 512, 1024, 2048, 4096]), "bytes in a row in one bank before the next one follows, with kind = \"banks\" (a choice)";
        busy: u64 = "48 ns" [Unit::Time] in FieldRange::Int(1, 1 << 40), "time that a bank is busy with a request, rounded up to clock cycles; a write of a part of a line takes it twice; with kind = \"banks\" (a choice: about tRC of memory §2.2)";
        queue: usize = "8" [Unit::Of("requests")] in FieldRange::Int(1, 1 << 16), "requests that a bank holds, with the one that it does, before its next one holds up all that come; with kind = \"banks\" (a choice)";
    }
}

/// Cycles that cover a time.
fn cycles(fs: u64, clock: Clock) -> u64 {
    let (num, den) = clock.period();
    (u128::from(fs) * u128::from(den)).div_ceil(u128::from(num)) as u64
}

/// When a memory with these settings answers, on this clock.
pub fn timing(latency_cycles: u64, in_flight: usize, media: Option<&CxlMedia>, clock: Clock) -> MemoryTiming {
    let fixed = MemoryTiming { in_flight, ..MemoryTiming::fixed(latency_cycles) };
    let Some(media) = media else { return fixed };
    let banks = || BanksConfig {
        banks: media.banks,
        interleave_bytes: media.interleave,
        busy_cycles: cycles(media.busy, clock),
        queue: media.queue,
    };
    MemoryTiming {
        interval_cycles: cycles(media.interval, clock),
        media: if media.kind == "banks" { backend::Media::Banks(banks()) } else { backend::Media::Fixed },
        ..fixed
    }
}
