//! Patterns of accesses to shared lines.
//!
//! * `producer-consumer`: the first device writes a buffer and then its flag; the others read flag and buffer.
//! * `migratory`: every device in turn reads and then writes the same lines.
//! * `false-sharing`: every device writes its own 8 bytes of the same lines.
//! * `read-mostly`: all read; one access in sixteen writes.
//! * `walk`: every device reads all lines in order, and writes every eighth.
//! * `private`: every device has lines of its own.

use crate::coherence::clocked::accessor::{Access, Act, signed};
use crate::coherence::content::LineAddr;
use crate::kernel::Rng;

/// Names of the patterns.
pub(super) const PATTERNS: &[&str] =
    &["producer-consumer", "migratory", "false-sharing", "read-mostly", "private", "walk"];

/// Accesses of device `device`: `count` of them, over `lines` lines.
pub(super) fn accesses(pattern: &str, device: usize, lines: u64, count: u64, rng: &mut Rng) -> Vec<Access> {
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
