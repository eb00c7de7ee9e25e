//! The stimulus of a run: the trace of a program or generated accesses, as lines of the device.

use super::super::settings::Settings;
use super::super::{Request, RunError};
use crate::memory::LINE_BYTES;
use crate::nodes::cxl::host::LineSource;
use crate::nodes::stimulus::{self, Access, LineAccess, Mix, Op, Region};
use sha2::{Digest, Sha256};

/// Latest time of an access \[fs\], 2.5 hours: the half of what 64 bits hold, so what follows it has a time too.
const LATEST_ACCESS_FS: u64 = u64::MAX / 2;

/// Accesses in program order.
pub(super) struct Accesses {
    pub list: LineSource,
    /// Their cycles are times of their own.
    pub absolute: bool,
    /// Bytes that name the stimulus, for the hash of the run.
    pub digest: [u8; 32],
    /// They go through the cache of the host.
    pub cached: bool,
}

/// Reads or makes them.
///
/// # Errors
/// The trace cannot be read, or a parameter is out of range.
pub(super) fn accesses(request: &Request, settings: &Settings) -> Result<Accesses, RunError> {
    let size = settings.int("device.bytes");
    match &request.stimulus {
        Some(path) => {
            let raw = stimulus::read_trace(path, None)?;
            let absolute = raw.iter().any(|a| a.at_cycles.is_some());
            judged(stimulus::in_memory(raw), absolute, true, settings)
        }
        None => {
            let mix = match settings.word("host.pattern") {
                "reads" => Mix::Reads,
                "writes" => Mix::Writes,
                _ => Mix::TwoToOne,
            };
            let lines = settings.int("host.region_lines").min(size / LINE_BYTES);
            let region = Region::new(0, lines)?;
            judged(stimulus::saturated(mix, region, settings.int("host.accesses")), true, false, settings)
        }
    }
}

/// Names and checks them, and cuts them into lines when these are asked for.
fn judged(
    raw: impl Iterator<Item = Access> + Clone + Send + 'static,
    absolute: bool,
    cached: bool,
    settings: &Settings,
) -> Result<Accesses, RunError> {
    let mut sha = Sha256::new();
    let latest_cycle = LATEST_ACCESS_FS / settings.int("host.clock_fs");
    for a in raw.clone() {
        if let Some(found) = a.at_cycles.filter(|&cycle| cycle > latest_cycle) {
            let expected = "a cycle of host.clock_fs before 2^63 fs";
            return Err(stimulus::ParameterError { parameter: "time of an access", found, expected }.into());
        }
        let op = match a.op {
            Op::Ifetch => 0u8,
            Op::Load => 1,
            Op::Store => 2,
            Op::Modify => 3,
        };
        let mut bytes = [0; 21];
        bytes[..8].copy_from_slice(&a.at_cycles.unwrap_or(u64::MAX).to_le_bytes());
        bytes[8] = op;
        bytes[9..17].copy_from_slice(&a.address.to_le_bytes());
        bytes[17..].copy_from_slice(&a.size_bytes.to_le_bytes());
        sha.update(bytes);
    }
    let size = settings.int("device.bytes");
    let lines = stimulus::line_accesses(raw, settings.is_on("host.ifetch"));
    let list = Box::new(lines.map(move |a| LineAccess { line_address: a.line_address % size, ..a }));
    Ok(Accesses { list, absolute, digest: sha.finalize().into(), cached })
}
