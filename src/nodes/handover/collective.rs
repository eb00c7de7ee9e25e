//! Collectives of accelerators with a link of CXL.cache beside XLink: what is exchanged, and the ring by XLink (BRG-TIR-06).
//!
//! Modelled: an all-reduce, in which every accelerator has a vector and gets the sum of all, and a broadcast of the vector of accelerator 0; a vector
//! has a chunk for each accelerator. By the ring each round of a [handover](super) carries one chunk to the next accelerator: in an all-reduce
//! chunk c begins at accelerator c, everybody adds its own to what comes and passes it on, and behind the last one the sum goes around once
//! more; a broadcast passes chunk by chunk on from accelerator 0. Every chunk that comes is compared bit for bit with a plain sum in that order.
//! The same by loads and stores of lines is in [`exchange`](super::exchange). Left out: the time of additions.
//!
//! A walk through an all-reduce of three: in round 1 accelerator 1 gets chunk 0 of accelerator 0 and adds its own; in round 2 it passes the sum of both on to
//! accelerator 2, which adds its own and has the sum of chunk 0; in rounds 3 and 4 that goes to 0 and 1.

use scalepool_fabric::nvlink_switch::reduction::{NumberType, sum};
use scalepool_kernel::Rng;
use scalepool_memory::{LINE_BYTES, LineBytes};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::ualink::field::REGION_BYTES;

/// What is exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectiveKind {
    /// Everybody gets the sum of all vectors.
    AllReduce,
    /// Everybody gets the vector of accelerator 0.
    Broadcast,
}

/// Collectives, one after the other, each with vectors of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectiveTask {
    /// Whether all add up, or one tells the others.
    pub kind: CollectiveKind,
    /// Numbers of the vectors.
    pub number: NumberType,
    /// Accelerators, at least two.
    pub members: usize,
    /// Blocks of 256 bytes of a chunk.
    pub blocks: u64,
    /// Of the vectors.
    pub seed: u64,
}

impl CollectiveTask {
    /// Bytes of a chunk.
    pub fn chunk_bytes(&self) -> usize {
        (self.blocks * REGION_BYTES) as usize
    }

    /// Lines of a chunk.
    pub fn chunk_lines(&self) -> u64 {
        self.blocks * REGION_BYTES / LINE_BYTES
    }

    /// A chunk of a member in a collective, counted from 0: numbers that lose bits when they are added, so that the order shows.
    pub fn own(&self, collective: u64, member: usize, chunk: usize) -> Vec<u8> {
        let mut rng = Rng::for_name(self.seed, &format!("vector {collective} of {member}, chunk {chunk}"));
        let float = |bits: u32, r: u64| (bits & 0x807f_ffff) | (120 + (r % 15) as u32) << 23;
        let words = (0..self.chunk_bytes() / 4).map(|_| {
            let bits = rng.next_u64();
            match self.number {
                NumberType::Int32 => bits as u32,
                NumberType::F32 => float(bits as u32, bits >> 32),
                NumberType::Bf16 => {
                    float(bits as u32, bits >> 32) & 0xffff_0000 | float((bits >> 8) as u32, bits >> 40) >> 16
                }
            }
        });
        words.flat_map(u32::to_le_bytes).collect()
    }

    /// The plain sum of a chunk in the order of the members.
    pub fn direct(&self, collective: u64, chunk: usize) -> Vec<u8> {
        let all: Vec<Vec<u8>> = (0..self.members).map(|member| self.own(collective, member, chunk)).collect();
        match self.kind {
            CollectiveKind::AllReduce => sum(self.number, &all.iter().map(Vec::as_slice).collect::<Vec<_>>()),
            CollectiveKind::Broadcast => all.into_iter().next().unwrap_or_default(),
        }
    }

    /// The plain sum of a chunk over so many members from the one of its number on, two at a time; of a broadcast the chunk.
    fn around(&self, collective: u64, chunk: usize, members: usize) -> Vec<u8> {
        let of = |member: usize| self.own(collective, member % self.members, chunk);
        match self.kind {
            CollectiveKind::AllReduce => {
                (1..members).fold(of(chunk), |before, n| sum(self.number, &[&before, &of(chunk + n)]))
            }
            CollectiveKind::Broadcast => self.own(collective, 0, chunk),
        }
    }

    /// Rounds of a handover in one collective.
    pub fn steps(&self) -> u64 {
        2 * (self.members as u64 - 1)
    }

    /// Collective and step, both from 0, of a round of the handover.
    fn step(&self, round: u64) -> (u64, usize) {
        let number = round - 1;
        (number / self.steps(), (number % self.steps()) as usize)
    }

    /// The chunk that a member passes on in a step; `None`: nothing.
    fn passed(&self, member: usize, step: usize) -> Option<usize> {
        match self.kind {
            CollectiveKind::AllReduce => Some((member + 2 * self.members - step) % self.members),
            CollectiveKind::Broadcast => {
                let chunk = step.checked_sub(member)?;
                (member + 1 < self.members && chunk < self.members).then_some(chunk)
            }
        }
    }
}

/// The part of an accelerator in collectives by the ring.
#[derive(Debug)]
pub struct RingMember {
    task: CollectiveTask,
    own: usize,
    /// Chunks as far as they are summed, by collective and chunk: those that came.
    came: OrderedMap<(u64, usize), Vec<u8>>,
}

/// What came in a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingArrival {
    /// Blocks that were not what a plain sum says.
    pub wrong: Vec<u64>,
    /// A collective has ended with it.
    pub is_last: bool,
}

impl RingMember {
    /// Member `own`.
    pub fn new(task: CollectiveTask, own: u16) -> RingMember {
        RingMember { task, own: own.into(), came: OrderedMap::new() }
    }

    /// Blocks that it passes on in a round.
    pub fn blocks(&self, round: u64) -> u64 {
        let (_, step) = self.task.step(round);
        self.task.passed(self.own, step).map_or(0, |_| self.task.blocks)
    }

    /// A block of what it passes on in a round: chunks that it begins, and those that came with its own added.
    pub fn passed_on(&self, round: u64, block: u64) -> Vec<LineBytes> {
        let (collective, step) = self.task.step(round);
        let Some(chunk) = self.task.passed(self.own, step) else { return Vec::new() };
        let of_block = |bytes: &[u8]| {
            let from = (block * REGION_BYTES) as usize;
            bytes[from..from + REGION_BYTES as usize].as_chunks().0.to_vec()
        };
        match self.came.get(&(collective, chunk)) {
            Some(bytes) => of_block(bytes),
            None => of_block(&self.task.own(collective, self.own, chunk)),
        }
    }

    /// Takes what came in a round, of which `line` gives each line.
    pub fn arrives(&mut self, round: u64, line: impl Fn(u64) -> LineBytes) -> RingArrival {
        let (collective, step) = self.task.step(round);
        let is_last = step as u64 + 1 == self.task.steps();
        let before = (self.own + self.task.members - 1) % self.task.members;
        let Some(chunk) = self.task.passed(before, step) else { return RingArrival { wrong: Vec::new(), is_last } };
        let mut bytes: Vec<u8> = (0..self.task.chunk_lines()).flat_map(line).collect();
        let expected = self.task.around(collective, chunk, (step + 1).min(self.task.members));
        let block_bytes = REGION_BYTES as usize;
        let pairs = bytes.chunks(block_bytes).zip(expected.chunks(block_bytes)).enumerate();
        let wrong = pairs.filter(|(_, (is, expected))| is != expected).map(|(n, _)| n as u64).collect();
        if self.task.kind == CollectiveKind::AllReduce && step + 1 < self.task.members {
            bytes = sum(self.task.number, &[&bytes, &self.task.own(collective, self.own, chunk)]);
        }
        // What was passed on in the collective before has been taken by now.
        self.came.retain(|(of, _), _| of + 1 >= collective);
        self.came.insert((collective, chunk), bytes);
        RingArrival { wrong, is_last }
    }
}

/// What collectives have come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CollectiveResult {
    /// Those that have ended here.
    pub done: u64,
    /// Cycles from the first access to the end of the last one.
    pub cycles: u64,
    /// Blocks that were not what a plain sum says, as text, and how many.
    pub wrong: Vec<String>,
    /// How many.
    pub wrong_blocks: u64,
}

impl CollectiveResult {
    /// Blocks of something are wrong.
    pub fn is_wrong(&mut self, what: &str, blocks: &[u64]) {
        const MOST: usize = 100;
        let Some(first) = blocks.first() else { return };
        self.wrong_blocks += blocks.len() as u64;
        if self.wrong.len() < MOST {
            self.wrong.push(format!("{} wrong blocks in {what}, the first one {first}", blocks.len()));
        }
    }
}
