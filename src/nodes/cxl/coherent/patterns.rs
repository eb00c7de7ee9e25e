//! What cores do to lines that they share: patterns of accesses.
//!
//! Core 0 is the first at its home: the home itself where it has a core, else the first holder.
//!
//! * `producer-consumer`: the first core writes a buffer and then its flag; the others read flag and buffer.
//! * `migratory`: every core in turn reads and then writes the same lines.
//! * `false-sharing`: every core writes its own 8 bytes of the same lines.
//! * `read-mostly`: all read; one access in sixteen writes.
//! * `walk`: every core reads all lines in order, and writes every eighth.
//! * `private`: every core has lines of its own.

use super::uio;
use scalepool_coherence::clocked::accessor::{CoreAccess, CoreOperation, signed};
use scalepool_coherence::clocked::program::CoreProgram;
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_coherence::ids::AgentPort;
use scalepool_kernel::Rng;

/// Names of the patterns.
pub const PATTERNS: &[&str] = &["producer-consumer", "migratory", "false-sharing", "read-mostly", "private", "walk"];

/// What core number `core` does in a pattern: `count` rounds over `lines` lines, with random numbers of its own.
pub fn program(pattern: &str, core: usize, lines: u64, count: u64, rng: Rng) -> CoreProgram<CoreAccess> {
    CoreProgram::new(Pattern::new(pattern, core, lines, count, rng))
}

/// The number with which a core signs: its own, without that of the writer on CXL.io.
pub(super) fn writer(core: usize) -> AgentPort {
    let core = core as AgentPort;
    core + AgentPort::from(core >= uio::WRITER)
}

/// A line full of the number of a core and of its store.
pub fn stamped(core: AgentPort, n: u64) -> CacheLine {
    let mut line = signed(core, n).0;
    let mut part = [0; 8];
    part.copy_from_slice(&line.bytes[usize::from(core % 8) * 8..][..8]);
    line.bytes.chunks_exact_mut(8).for_each(|chunk| chunk.copy_from_slice(&part));
    line
}

/// Accesses of one core over `lines` lines.
#[derive(Clone)]
struct Pattern {
    word: &'static str,
    core: u64,
    lines: u64,
    /// Rounds in all, and those that were made.
    count: u64,
    made: u64,
    /// Second access of a round.
    second: Option<CoreAccess>,
    acts: Rng,
    /// Time between accesses.
    thinks: Rng,
}

impl Pattern {
    fn new(word: &str, core: usize, lines: u64, count: u64, rng: Rng) -> Pattern {
        let word = PATTERNS.iter().copied().find(|known| *known == word).unwrap_or_default();
        let core = core as u64;
        let mut all = Pattern { word, core, lines, count, made: 0, second: None, acts: rng.clone(), thinks: rng };
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
    fn round(&mut self, n: u64) -> (CoreAccess, Option<CoreAccess>) {
        let Pattern { core, lines, .. } = *self;
        let load = |line: u64| CoreAccess { line: LineAddr(line), act: CoreOperation::Load, think_cycles: 0 };
        let store = |line: u64| {
            let (bytes, enables) = signed(writer(core as usize), n);
            CoreAccess { line: LineAddr(line), act: CoreOperation::Store { bytes, enables }, think_cycles: 0 }
        };
        let line = n % lines;
        let one = match self.word {
            // The last line is the flag.
            "producer-consumer" if core == 0 => store(line),
            "producer-consumer" => load((n + lines - 1) % lines),
            "migratory" => {
                let turn = (line + core) % lines;
                return (load(turn), Some(store(turn)));
            }
            "walk" if n % 8 == 7 => store(line),
            "walk" => load(line),
            "false-sharing" => store(self.acts.below(lines)),
            "private" if n.is_multiple_of(4) => store(lines * core + line),
            "private" => load(lines * core + line),
            _ => {
                let line = self.acts.below(lines);
                if self.acts.below(16) == 0 { store(line) } else { load(line) }
            }
        };
        (one, None)
    }
}

impl Iterator for Pattern {
    type Item = CoreAccess;

    fn next(&mut self) -> Option<CoreAccess> {
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
        Some(CoreAccess { think_cycles: self.thinks.below(4) as u32, ..access })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let of_round = if self.word == "migratory" { 2 } else { 1 };
        let left = (self.count - self.made) as usize * of_round + usize::from(self.second.is_some());
        (left, Some(left))
    }
}

impl ExactSizeIterator for Pattern {}
