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

use crate::settings::Settings;
use crate::{Request, RunError};
use scalepool_coherence::clocked::accessor::{Access, Act, signed};
use scalepool_coherence::clocked::program::Program;
use scalepool_coherence::content::{Line, LineAddr};
use scalepool_kernel::Rng;
use scalepool_nodes::stimulus::{LineAccess, in_memory, line_accesses, read_trace};
use sha2::{Digest, Sha256};
use std::iter::Zip;
use std::ops::RangeFrom;

/// Names of the patterns.
pub(super) const PATTERNS: &[&str] =
    &["producer-consumer", "migratory", "false-sharing", "read-mostly", "private", "walk"];

/// The programs of a run.
pub(super) struct Programs {
    /// Of each core, by hub.
    pub lists: Vec<Vec<Program<Access>>>,
    /// Bytes that name a trace, for the hash of the run.
    pub digest: Vec<u8>,
}

/// Reads or makes the programs of cores with these names, by hub.
///
/// # Errors
/// The trace cannot be read.
pub(super) fn programs(request: &Request, settings: &Settings, cores: Vec<Vec<String>>) -> Result<Programs, RunError> {
    let Some(path) = &request.stimulus else {
        let (word, lines) = (settings.word("core.pattern"), settings.int("core.lines"));
        let count = settings.int("core.accesses");
        let list = |(core, name): (usize, &String)| {
            Program::new(Pattern::new(word, core, lines, count, Rng::for_name(request.seed, name)))
        };
        let lists = cores.iter().map(|names| names.iter().enumerate().map(list).collect()).collect();
        return Ok(Programs { lists, digest: Vec::new() });
    };
    let raw = in_memory(read_trace(path, None)?);
    Ok(deal(&line_accesses(raw, false), &cores, settings.int("core.trace_block")))
}

/// Address bits of a line on a link: 51 to 6.
const LINE_BITS: u32 = 46;

fn deal<T>(trace: &T, cores: &[Vec<String>], block: u64) -> Programs
where
    T: Iterator<Item = LineAccess> + Clone + Send + 'static,
{
    let mut counts: Vec<Vec<usize>> = cores.iter().map(|names| vec![0; names.len()]).collect();
    let deal = Deal { hubs: cores.len() as u64, cores: cores[0].len() as u64, block };
    let mut sha = Sha256::new();
    for (n, access) in (0_u64..).zip(trace.clone()) {
        let (line, hub, core) = deal.of(n, &access);
        sha.update(access.cycle.to_le_bytes());
        sha.update(line.to_le_bytes());
        sha.update(access.byte_enables().to_le_bytes());
        sha.update([u8::from(access.write)]);
        counts[hub][core] += 1;
    }
    // Each core goes through the trace by itself and takes what is its own.
    let of = |hub: usize, core: usize, left: usize| {
        Program::new(Dealt { trace: (0_u64..).zip(trace.clone()), deal, hub, core, left, last: 0 })
    };
    let of_hub = |(hub, counts): (usize, &Vec<usize>)| {
        counts.iter().enumerate().map(|(core, &left)| of(hub, core, left)).collect()
    };
    Programs { lists: counts.iter().enumerate().map(of_hub).collect(), digest: sha.finalize().to_vec() }
}

/// To whom the accesses of a trace go.
#[derive(Clone, Copy)]
struct Deal {
    hubs: u64,
    /// Of each hub.
    cores: u64,
    block: u64,
}

impl Deal {
    /// Of access `n`: its line, hub and core there.
    fn of(self, n: u64, access: &LineAccess) -> (u64, usize, usize) {
        let line = LineAddr::of_address(access.line_address).0 & ((1 << LINE_BITS) - 1);
        (line, (line % self.hubs) as usize, (n / self.block % self.cores) as usize)
    }
}

/// The accesses of one core.
#[derive(Clone)]
struct Dealt<T> {
    trace: Zip<RangeFrom<u64>, T>,
    deal: Deal,
    hub: usize,
    core: usize,
    left: usize,
    /// Cycle of the access before, in the trace.
    last: u64,
}

impl<T: Iterator<Item = LineAccess>> Iterator for Dealt<T> {
    type Item = Access;

    fn next(&mut self) -> Option<Access> {
        // Behind its last access nobody looks through the rest of the trace.
        self.left = self.left.checked_sub(1)?;
        let (n, access, line) = self.trace.by_ref().find_map(|(n, access)| {
            let (line, hub, core) = self.deal.of(n, &access);
            ((hub, core) == (self.hub, self.core)).then_some((n, access, line))
        })?;
        let act = match access.write {
            true => Act::Store { bytes: stamped(self.core as u8, n), enables: access.byte_enables() },
            false => Act::Load,
        };
        // The next access enters one cycle later at the earliest.
        let think = access.cycle.saturating_sub(self.last.saturating_add(1));
        self.last = self.last.max(access.cycle);
        let think_cycles = u32::try_from(think).unwrap_or(u32::MAX);
        Some(Access { line: LineAddr(line), act, think_cycles })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T: Iterator<Item = LineAccess>> ExactSizeIterator for Dealt<T> {}

/// A line full of the number of a core and of its store.
pub(super) fn stamped(core: u8, n: u64) -> Line {
    let mut line = signed(core, n).0;
    let mut part = [0; 8];
    part.copy_from_slice(&line.bytes[usize::from(core % 8) * 8..][..8]);
    line.bytes.chunks_exact_mut(8).for_each(|chunk| chunk.copy_from_slice(&part));
    line
}

/// Accesses of one device over `lines` lines.
#[derive(Clone)]
struct Pattern {
    word: &'static str,
    device: u64,
    lines: u64,
    /// Rounds in all, and those that were made.
    count: u64,
    made: u64,
    /// Second access of a round.
    second: Option<Access>,
    acts: Rng,
    /// Time between accesses.
    thinks: Rng,
}

impl Pattern {
    fn new(word: &str, device: usize, lines: u64, count: u64, rng: Rng) -> Pattern {
        let word = PATTERNS.iter().copied().find(|known| *known == word).unwrap_or_default();
        let device = device as u64;
        let mut all = Pattern { word, device, lines, count, made: 0, second: None, acts: rng.clone(), thinks: rng };
        if matches!(word, "false-sharing" | "read-mostly") {
            // The numbers of times stand behind those of all accesses, and so they do without a list of these.
            let mut passed = all.clone();
            for n in 0..count {
                passed.round(n);
            }
            all.thinks = passed.acts;
        }
        all
    }

    /// One round: one access, or two.
    fn round(&mut self, n: u64) -> (Access, Option<Access>) {
        let Pattern { device, lines, .. } = *self;
        let load = |line: u64| Access { line: LineAddr(line), act: Act::Load, think_cycles: 0 };
        let store = |line: u64| {
            let (bytes, enables) = signed(device as u8, n);
            Access { line: LineAddr(line), act: Act::Store { bytes, enables }, think_cycles: 0 }
        };
        let line = n % lines;
        let one = match self.word {
            // The last line is the flag.
            "producer-consumer" if device == 0 => store(line),
            "producer-consumer" => load((n + lines - 1) % lines),
            "migratory" => {
                let turn = (line + device) % lines;
                return (load(turn), Some(store(turn)));
            }
            "walk" if n % 8 == 7 => store(line),
            "walk" => load(line),
            "false-sharing" => store(self.acts.below(lines)),
            "private" if n.is_multiple_of(4) => store(lines * device + line),
            "private" => load(lines * device + line),
            _ => {
                let line = self.acts.below(lines);
                if self.acts.below(16) == 0 { store(line) } else { load(line) }
            }
        };
        (one, None)
    }
}

impl Iterator for Pattern {
    type Item = Access;

    fn next(&mut self) -> Option<Access> {
        let access = match self.second.take() {
            Some(second) => second,
            None if self.made == self.count => return None,
            None => {
                let (first, second) = self.round(self.made);
                self.made += 1;
                self.second = second;
                first
            }
        };
        Some(Access { think_cycles: self.thinks.below(4) as u32, ..access })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let of_round = if self.word == "migratory" { 2 } else { 1 };
        let left = (self.count - self.made) as usize * of_round + usize::from(self.second.is_some());
        (left, Some(left))
    }
}

impl ExactSizeIterator for Pattern {}
