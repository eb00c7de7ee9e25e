//! The stress algorithms of the compliance chapter (14.3.2 to 14.3.4; `conformance/c14 §1.1`) for a single host over
//! CXL.mem, as sequences of abstract steps with the data that every read has to give.
//!
//! Modelled: the addresses, patterns, byte masks, order and visibility points. Left out: the second agent. One host
//! writes and reads in program order, so every read has exactly one right answer, also where the book allows a range;
//! address Z, where another agent would put what it read, is not needed. Which M2S opcodes carry the steps is up to the
//! host.
//!
//! A pattern is 32 bits, little-endian, repeated over the line; the byte mask chooses the bytes written and compared.
//! Pattern width, and the pattern going on from loop to loop (so that a line left from the loop before is seen), are
//! our choice (basis: model).

use scalepool_ordered::OrderedSet;

use super::ParameterError;
use scalepool_memory::{ALL_BYTES, LINE_BYTES, LineBytes};

/// One step of an algorithm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlgorithmStep {
    /// Write those bytes of a line whose bit in `byte_enables` is 1.
    Write {
        /// Line address.
        address: u64,
        /// The line's bytes.
        data: LineBytes,
        /// Bit n for byte n.
        byte_enables: u64,
    },
    /// All writes before are globally visible before anything after is issued.
    Fence,
    /// Read a line and compare the bytes whose bit in `byte_mask` is 1.
    Read {
        /// Line address.
        address: u64,
        /// What the line has to hold.
        expected: LineBytes,
        /// Bit n for byte n.
        byte_mask: u64,
    },
}

/// Parameters of [`alg1a`] and [`alg1b`], with the letters of the book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteStreams {
    /// X: first address, a multiple of 64.
    pub start_address: u64,
    /// Y: distance of the addresses of a set, a multiple of 64, not 0.
    pub increment_bytes: u64,
    /// N: a set has N + 1 addresses.
    pub increments: u64,
    /// S: sets, at least 2.
    pub sets: u64,
    /// Distance of the sets, a multiple of 64; no two sets may share a line.
    pub set_offset_bytes: u64,
    /// P: the pattern of the first address; one more at each next one.
    pub pattern: u32,
    /// B: the pattern that must never be read; only for [`alg1b`], and none of the good ones.
    pub bogus_pattern: u32,
    /// J: bogus writes before each good one; only for [`alg1b`], at least 1.
    pub bogus_writes: u64,
    /// The bytes written and compared: bit n for byte n, not 0.
    pub byte_mask: u64,
    /// How often all is written and verified, at least 1.
    pub loops: u64,
}

impl Default for WriteStreams {
    /// Two sets of 16 lines, a page apart, twice. Basis: model.
    fn default() -> WriteStreams {
        WriteStreams {
            start_address: 0,
            increment_bytes: LINE_BYTES,
            increments: 15,
            sets: 2,
            set_offset_bytes: 4096,
            pattern: 1,
            bogus_pattern: 0xb09b_09b0,
            bogus_writes: 2,
            byte_mask: ALL_BYTES,
            loops: 2,
        }
    }
}

/// Parameters of [`alg2`], with the letters of the book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProducerConsumer {
    /// X: first data address, a multiple of 64.
    pub start_address: u64,
    /// Y: distance of the data addresses, a multiple of 64, not 0.
    pub increment_bytes: u64,
    /// N: there are N + 1 data addresses.
    pub increments: u64,
    /// F: line address of the flag, none of the data addresses.
    pub flag_address: u64,
    /// P: the value of the first round; one more in each next round.
    pub pattern: u32,
    /// Rounds, at least 1.
    pub loops: u64,
}

impl Default for ProducerConsumer {
    /// 16 lines of data, the flag a page above, four rounds. Basis: model.
    fn default() -> ProducerConsumer {
        ProducerConsumer {
            start_address: 0,
            increment_bytes: LINE_BYTES,
            increments: 15,
            flag_address: 4096,
            pattern: 1,
            loops: 4,
        }
    }
}

/// The largest sequence: it is built in memory. Basis: model.
const MAX_STEPS: u64 = 1 << 20;

/// Algorithm 1a, write streaming: every set gets P, P+1, ..; then all is made visible and verified.
///
/// # Errors
/// A parameter outside the range that its field states.
pub fn alg1a(streams: &WriteStreams) -> Result<Vec<AlgorithmStep>, ParameterError> {
    write_streams(streams, 0)
}

/// Algorithm 1b: as 1a, with J writes of the bogus pattern B to an address before each good one.
///
/// # Errors
/// A parameter outside the range that its field states.
pub fn alg1b(streams: &WriteStreams) -> Result<Vec<AlgorithmStep>, ParameterError> {
    require("bogus_writes", streams.bogus_writes, streams.bogus_writes >= 1, "at least 1")?;
    let good_patterns = streams.loops.saturating_mul(streams.increments.saturating_add(1));
    let is_good = u64::from(streams.bogus_pattern.wrapping_sub(streams.pattern)) < good_patterns;
    require("bogus_pattern", streams.bogus_pattern.into(), !is_good, "none of the good patterns")?;
    write_streams(streams, streams.bogus_writes)
}

/// Algorithm 2, producer and consumer: all data gets P, then, when it is visible, the flag; the consumer reads the
/// flag, all data and the flag again; then P+1. Between a round and the next there is no fence: the order of accesses
/// to the same line alone keeps the reads right.
///
/// # Errors
/// A parameter outside the range that its field states.
pub fn alg2(parameters: &ProducerConsumer) -> Result<Vec<AlgorithmStep>, ParameterError> {
    let &ProducerConsumer { start_address, increment_bytes, increments, flag_address, pattern, loops } = parameters;
    require("loops", loops, loops >= 1, "at least 1")?;
    require_lines("flag_address", flag_address)?;
    let addresses = stream_addresses(start_address, increment_bytes, increments)?;
    require("flag_address", flag_address, !addresses.contains(&flag_address), "none of the data addresses")?;
    require_steps(&[loops, 2 * addresses.len() as u64 + 4])?;

    let mut steps = Vec::new();
    for round in 0..loops {
        let value = pattern.wrapping_add(round as u32); // patterns are modulo 2^32
        steps.extend(addresses.iter().map(|&address| write(address, value, ALL_BYTES)));
        steps.push(AlgorithmStep::Fence);
        steps.push(write(flag_address, value, ALL_BYTES));
        steps.push(read(flag_address, value, ALL_BYTES));
        steps.extend(addresses.iter().map(|&address| read(address, value, ALL_BYTES)));
        steps.push(read(flag_address, value, ALL_BYTES));
    }
    Ok(steps)
}

fn write_streams(streams: &WriteStreams, bogus_writes: u64) -> Result<Vec<AlgorithmStep>, ParameterError> {
    let &WriteStreams { sets, set_offset_bytes, pattern, byte_mask, loops, .. } = streams;
    require("sets", sets, sets >= 2, "at least 2")?;
    require("loops", loops, loops >= 1, "at least 1")?;
    require("byte_mask", byte_mask, byte_mask != 0, "at least one byte")?;
    require_lines("set_offset_bytes", set_offset_bytes)?;
    let first_set = stream_addresses(streams.start_address, streams.increment_bytes, streams.increments)?;
    let set_lines = first_set.len() as u64;
    require_steps(&[sets, set_lines, bogus_writes.saturating_add(2), loops])?;
    let addresses = all_sets(sets, set_offset_bytes, &first_set)?;

    let mut steps = Vec::new();
    for round in 0..loops {
        // Every set gets the same patterns, modulo 2^32.
        let patterns = (0..set_lines).cycle().map(|n| pattern.wrapping_add((round * set_lines + n) as u32));
        for (&address, good) in addresses.iter().zip(patterns.clone()) {
            steps.extend((0..bogus_writes).map(|_| write(address, streams.bogus_pattern, byte_mask)));
            steps.push(write(address, good, byte_mask));
        }
        steps.push(AlgorithmStep::Fence);
        steps.extend(addresses.iter().zip(patterns).map(|(&address, good)| read(address, good, byte_mask)));
    }
    Ok(steps)
}

/// X, X+Y, .. X+N*Y.
fn stream_addresses(start: u64, increment: u64, increments: u64) -> Result<Vec<u64>, ParameterError> {
    require_lines("start_address", start)?;
    require_lines("increment_bytes", increment)?;
    require("increment_bytes", increment, increment != 0, "at least 64")?;
    require_steps(&[increments])?;
    let last = increment.checked_mul(increments).and_then(|span| span.checked_add(start));
    require("increments", increments, last.is_some(), "all addresses within 2^64 bytes")?;
    Ok((0..=increments).map(|n| start + n * increment).collect())
}

/// The addresses of all sets, set by set.
fn all_sets(sets: u64, offset: u64, first_set: &[u64]) -> Result<Vec<u64>, ParameterError> {
    let parameter = "set_offset_bytes";
    let last = offset.checked_mul(sets - 1).and_then(|span| span.checked_add(*first_set.last()?));
    require(parameter, offset, last.is_some(), "all addresses within 2^64 bytes")?;
    let all: Vec<u64> = (0..sets).flat_map(|set| first_set.iter().map(move |first| first + set * offset)).collect();
    let distinct: OrderedSet<u64> = all.iter().copied().collect();
    require(parameter, offset, distinct.len() == all.len(), "a distance at which no two sets share a line")?;
    Ok(all)
}

fn require(parameter: &'static str, found: u64, holds: bool, expected: &'static str) -> Result<(), ParameterError> {
    if holds { Ok(()) } else { Err(ParameterError { parameter, found, expected }) }
}

fn require_lines(parameter: &'static str, found: u64) -> Result<(), ParameterError> {
    require(parameter, found, found.is_multiple_of(LINE_BYTES), "a multiple of 64")
}

fn require_steps(factors: &[u64]) -> Result<(), ParameterError> {
    let steps = factors.iter().fold(1, |steps: u64, &factor| steps.saturating_mul(factor));
    require("steps", steps, steps <= MAX_STEPS, "at most 2^20 steps in all")
}

fn write(address: u64, pattern: u32, byte_enables: u64) -> AlgorithmStep {
    AlgorithmStep::Write { address, data: pattern_line(pattern), byte_enables }
}

fn read(address: u64, pattern: u32, byte_mask: u64) -> AlgorithmStep {
    AlgorithmStep::Read { address, expected: pattern_line(pattern), byte_mask }
}

/// The pattern repeated over a line.
fn pattern_line(pattern: u32) -> LineBytes {
    let bytes = pattern.to_le_bytes();
    std::array::from_fn(|n| bytes[n % bytes.len()])
}
