//! What the cores do: patterns of accesses to shared lines, or the memory trace of a program.
//!
//! The accesses of a trace are cut into lines (`scenario::stimulus`) and dealt to the cores in blocks of
//! `core.trace_block` in turn, as if the program moved from core to core; with several devices, line n of the program is
//! on device n modulo their number. No access begins earlier than its cycle in the trace after the one before it on its
//! core. A trace has no data: a store writes the number of its core and its own, over and over.
//!
//! Patterns (core 0 is the first device; in `bias-flip` the device, core 1 the host):
//!
//! * `producer-consumer`: the first device writes a buffer and then its flag; the others read flag and buffer.
//! * `migratory`: every device in turn reads and then writes the same lines.
//! * `false-sharing`: every device writes its own 8 bytes of the same lines.
//! * `read-mostly`: all read; one access in sixteen writes.
//! * `walk`: every device reads all lines in order, and writes every eighth.
//! * `private`: every device has lines of its own.

use crate::coherence::clocked::accessor::{Access, Act, signed};
use crate::coherence::content::{Line, LineAddr};
use crate::kernel::Rng;
use crate::scenario::settings::Settings;
use crate::scenario::stimulus::{LineAccess, line_accesses, read_trace};
use crate::scenario::{Request, RunError};
use sha2::{Digest, Sha256};

/// Names of the patterns.
pub(super) const PATTERNS: &[&str] =
    &["producer-consumer", "migratory", "false-sharing", "read-mostly", "private", "walk"];

/// The programs of a run.
pub(super) struct Programs {
    /// Of each core, by hub.
    pub lists: Vec<Vec<Vec<Access>>>,
    /// Bytes that name a trace, for the hash of the run.
    pub digest: Vec<u8>,
}

/// Reads or makes the programs of cores with these names, by hub.
///
/// # Errors
/// The trace cannot be read.
pub(super) fn programs(request: &Request, settings: &Settings, cores: Vec<Vec<String>>) -> Result<Programs, RunError> {
    let Some(path) = &request.stimulus else {
        let (pattern, lines) = (settings.word("core.pattern"), settings.int("core.lines"));
        let count = settings.int("core.accesses");
        let list = |(core, name): (usize, &String)| {
            accesses(pattern, core, lines, count, &mut Rng::for_name(request.seed, name))
        };
        let lists = cores.iter().map(|names| names.iter().enumerate().map(list).collect()).collect();
        return Ok(Programs { lists, digest: Vec::new() });
    };
    let raw = read_trace(path, None)?;
    Ok(deal(line_accesses(&raw, false), &cores, settings.int("core.trace_block")))
}

/// Address bits of a line on a link: 51 to 6.
const LINE_BITS: u32 = 46;

fn deal(trace: impl Iterator<Item = LineAccess>, cores: &[Vec<String>], block: u64) -> Programs {
    let mut lists: Vec<Vec<Vec<Access>>> = cores.iter().map(|names| vec![Vec::new(); names.len()]).collect();
    let mut last: Vec<Vec<u64>> = cores.iter().map(|names| vec![0; names.len()]).collect();
    let mut sha = Sha256::new();
    for (n, access) in (0_u64..).zip(trace) {
        let line = LineAddr::of_address(access.line_address).0 & ((1 << LINE_BITS) - 1);
        let hub = (line % cores.len() as u64) as usize;
        let core = (n / block % cores[hub].len() as u64) as usize;
        let enables = access.byte_enables();
        sha.update(access.cycle.to_le_bytes());
        sha.update(line.to_le_bytes());
        sha.update(enables.to_le_bytes());
        sha.update([u8::from(access.write)]);
        let act = match access.write {
            true => Act::Store { bytes: stamped(core as u8, n), enables },
            false => Act::Load,
        };
        // The next access enters one cycle later at the earliest.
        let think = access.cycle.saturating_sub(last[hub][core] + 1);
        last[hub][core] = last[hub][core].max(access.cycle);
        let think_cycles = u32::try_from(think).unwrap_or(u32::MAX);
        lists[hub][core].push(Access { line: LineAddr(line), act, think_cycles });
    }
    Programs { lists, digest: sha.finalize().to_vec() }
}

/// A line full of the number of a core and of its store.
pub(super) fn stamped(core: u8, n: u64) -> Line {
    let mut line = signed(core, n).0;
    let mut part = [0; 8];
    part.copy_from_slice(&line.bytes[usize::from(core % 8) * 8..][..8]);
    line.bytes.chunks_exact_mut(8).for_each(|chunk| chunk.copy_from_slice(&part));
    line
}

/// Accesses of device `device`: `count` of them, over `lines` lines.
fn accesses(pattern: &str, device: usize, lines: u64, count: u64, rng: &mut Rng) -> Vec<Access> {
    let mut list = Vec::new();
    let load = |line: u64| Access { line: LineAddr(line), act: Act::Load, think_cycles: 0 };
    let store = |line: u64, n: u64| {
        let (bytes, enables) = signed(device as u8, n);
        Access { line: LineAddr(line), act: Act::Store { bytes, enables }, think_cycles: 0 }
    };
    for n in 0..count {
        let line = n % lines;
        match pattern {
            "producer-consumer" => {
                // The last line is the flag.
                list.push(if device == 0 { store(line, n) } else { load((n + lines - 1) % lines) });
            }
            "migratory" => {
                let turn = (line + device as u64) % lines;
                list.extend([load(turn), store(turn, n)]);
            }
            "walk" => list.push(if n % 8 == 7 { store(line, n) } else { load(line) }),
            "false-sharing" => list.push(store(rng.below(lines), n)),
            "private" => {
                let own = lines * device as u64 + line;
                list.push(if n % 4 == 0 { store(own, n) } else { load(own) });
            }
            _ => {
                let line = rng.below(lines);
                list.push(if rng.below(16) == 0 { store(line, n) } else { load(line) });
            }
        }
    }
    for access in &mut list {
        access.think_cycles = rng.below(4) as u32;
    }
    list
}
