//! What a host is asked to do in a run: a trace that was read, or accesses to a region that are made when they are asked for.
//!
//! Modelled: both as one program, which can be judged as a whole before it is run line by line. Left out: traffic of other kinds
//! of components.
//!
//! A walk: [`HostProgram::first_behind`] and [`HostProgram::digest`] go through all accesses, [`HostProgram::lines`] hands them out.

use super::{LineAccess, LineRegion, Mix, StimulusAccess, StimulusOp, in_memory, line_accesses, saturated};
use scalepool_kernel::Rng;
use scalepool_memory::LINE_BYTES;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Accesses to lines, in program order; how many are left is known.
pub type LineSource = Box<dyn ExactSizeIterator<Item = LineAccess> + Send>;

/// Accesses to the lines of a region, one after the other and round again, or at random.
#[derive(Clone)]
pub struct RegionTraffic {
    /// The share of reads.
    pub mix: Mix,
    /// First byte, and the first behind the last, of the parts in which the region lies, which are whole lines.
    pub spans: Arc<[(u64, u64)]>,
    /// Lines of the region, at least 1, all of them in the spans.
    pub lines: u64,
    /// Number of accesses.
    pub accesses: u64,
    /// Time between two accesses \[fs\].
    pub interval_fs: u64,
    /// Period of the host's clock in femtoseconds, as a fraction.
    pub period_fs: (u64, u64),
    /// What draws the lines; `None`: they come in order.
    pub draws: Option<Rng>,
}

impl RegionTraffic {
    /// The cycle of the n-th access. No later access has an earlier one.
    fn cycle(&self, n: u64) -> u64 {
        let (num, den) = self.period_fs;
        // A count of at most 2^24 and times below 2^50 fs; what comes too late is refused where all accesses are judged.
        match self.interval_fs.checked_mul(den).and_then(|interval| interval.checked_mul(n)) {
            Some(due) => due / num,
            None => {
                let due = u128::from(n) * (u128::from(self.interval_fs) * u128::from(den));
                (due / u128::from(num)).min(u128::from(u64::MAX)) as u64
            }
        }
    }

    fn accesses(mut self, region: LineRegion) -> impl Iterator<Item = StimulusAccess> + Clone + Send {
        let raw = saturated(self.mix, region, self.accesses);
        (0..).zip(raw).map(move |(n, access): (u64, StimulusAccess)| {
            let byte = self.draws.as_mut().map_or(access.address, |draws| draws.below(self.lines) * LINE_BYTES);
            StimulusAccess { at_cycles: Some(self.cycle(n)), address: nth_byte(&self.spans, byte), ..access }
        })
    }
}

/// The address of the n-th byte of spans.
fn nth_byte(spans: &[(u64, u64)], mut n: u64) -> u64 {
    for (from, until) in spans {
        if n < until - from {
            return from + n;
        }
        n -= until - from;
    }
    unreachable!("a region is no larger than its spans")
}

/// A program.
#[derive(Clone)]
pub enum HostProgram {
    /// A trace, held once for any number of readers.
    Trace(Arc<Vec<StimulusAccess>>),
    /// Accesses to a region, and its lines as they are numbered.
    Region(RegionTraffic, LineRegion),
}

impl HostProgram {
    /// Hands every access to `visit`, until it breaks off.
    fn all<B>(&self, visit: impl FnMut(StimulusAccess) -> Option<B>) -> Option<B> {
        match self.clone() {
            HostProgram::Trace(trace) => trace.iter().copied().find_map(visit),
            HostProgram::Region(traffic, region) => traffic.accesses(region).find_map(visit),
        }
    }

    /// The cycle of the first access that is later than that.
    pub fn first_behind(&self, latest_cycle: u64) -> Option<u64> {
        match self {
            // None is later than the last one.
            HostProgram::Region(traffic, _) if traffic.cycle(traffic.accesses.saturating_sub(1)) <= latest_cycle => {
                None
            }
            _ => self.all(|access| access.at_cycles.filter(|cycle| *cycle > latest_cycle)),
        }
    }

    /// Bytes that name the program, for the hash of a run.
    pub fn digest(&self) -> [u8; 32] {
        let mut sha = Sha256::new();
        self.all(|access| {
            let op = match access.op {
                StimulusOp::Ifetch => 0u8,
                StimulusOp::Load => 1,
                StimulusOp::Store => 2,
                StimulusOp::Modify => 3,
            };
            let mut bytes = [0; 21];
            bytes[..8].copy_from_slice(&access.at_cycles.unwrap_or(u64::MAX).to_le_bytes());
            bytes[8] = op;
            bytes[9..17].copy_from_slice(&access.address.to_le_bytes());
            bytes[17..].copy_from_slice(&access.size_bytes.to_le_bytes());
            sha.update(bytes);
            None::<()>
        });
        sha.finalize().into()
    }

    /// Its accesses, cut into lines, see [`line_accesses`]; addresses are taken modulo the size of the memory, if there is one.
    pub fn lines(self, ifetch: bool, memory_bytes: Option<u64>) -> LineSource {
        let wrapped = move |address: u64| memory_bytes.map_or(address, |size| address % size);
        let place = move |access: LineAccess| LineAccess { line_address: wrapped(access.line_address), ..access };
        match self {
            HostProgram::Trace(trace) => Box::new(line_accesses(in_memory(trace), ifetch).map(place)),
            HostProgram::Region(traffic, region) => {
                Box::new(line_accesses(traffic.accesses(region), ifetch).map(place))
            }
        }
    }
}

/// `count` accesses of whole lines to a region, see [`saturated`], all of them ready at one cycle.
pub fn lines_from(cycle: u64, mix: Mix, region: LineRegion, count: u64) -> LineSource {
    let lines = line_accesses(saturated(mix, region, count), false);
    Box::new(lines.map(move |access| LineAccess { cycle, ..access }))
}
