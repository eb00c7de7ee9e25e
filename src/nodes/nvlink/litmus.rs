//! NVL-T12: litmus tests of order over ganged links.
//!
//! Each round a writer sends, to blocks over all links, two posted writes a block (first the one half, then the other), then
//! a FLUSH, and when it is answered a posted write of a flag. Forbidden, and looked for whenever something arrives: the
//! second half of a block without the first (order within a block); the flag without all blocks (FLUSH). Allowed: blocks
//! that arrive in another order than they were sent. Each of two GPUs is the writer of one
//! test and the observer of the other.

use super::link_group::BLOCK_BYTES;
use super::memory::GpuMemory;
use super::program::{GpuProgram, GpuRequest, GpuStep};
use scalepool_protocols::nvlink::Op;
use scalepool_protocols::wire::Violation;

/// Address of the blocks; the flag lies at another place each round.
const BLOCKS: u64 = 0x10_0000;
const FLAGS: u64 = 0x80_0000;
/// Bytes of a number in memory, the smallest write.
const UNIT: u64 = 16;
/// Half of a block.
const HALF: u64 = BLOCK_BYTES / 2;

/// The program.
pub struct Litmus {
    peer: u16,
    blocks: u64,
    rounds: u64,
    /// Round under way, from 1, and its next step.
    round: u64,
    step: u64,
    flushed: bool,
    seen: u64,
    broken: Vec<Violation>,
}

impl Litmus {
    /// So many rounds over so many blocks against a peer.
    pub fn new(peer: u16, blocks: u64, rounds: u64) -> Litmus {
        let broken = Vec::new();
        Litmus { peer, blocks, rounds, round: 1, step: 0, flushed: false, seen: 0, broken }
    }

    fn write(&self, address: u64) -> GpuStep {
        let mut data = vec![0; UNIT as usize];
        data[..8].copy_from_slice(&self.round.to_le_bytes());
        GpuStep::Send(GpuRequest { op: Op::WRITE_POSTED, target: self.peer, address, data, ..GpuRequest::default() })
    }

    fn round_at(memory: &GpuMemory, address: u64) -> u64 {
        memory.read(address, 8).iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
    }

    fn forbidden(&mut self, rule: &'static str, found: u64, expected: u64, text: &str) {
        self.broken.push(Violation::at_byte(
            rule,
            0,
            format!("round {found}"),
            format!("round {expected} or later"),
            text,
        ));
    }
}

impl GpuProgram for Litmus {
    fn start(&mut self, memory: &mut GpuMemory) {
        for block in 0..2 * self.blocks {
            memory.write(BLOCKS + block * HALF, &[0; UNIT as usize], None);
        }
    }

    fn next(&mut self, _: u64, _: &mut GpuMemory) -> GpuStep {
        if self.round > self.rounds {
            return GpuStep::Done;
        }
        let writes = 2 * self.blocks;
        self.step += 1;
        match self.step - 1 {
            step if step < writes => self.write(BLOCKS + step * HALF),
            step if step == writes => {
                GpuStep::Send(GpuRequest { op: Op::FLUSH, target: self.peer, ..GpuRequest::default() })
            }
            _ if !self.flushed => {
                self.step -= 1;
                GpuStep::Wait
            }
            _ => {
                let flag = self.write(FLAGS + self.round * BLOCK_BYTES);
                (self.round, self.step, self.flushed) = (self.round + 1, 0, false);
                flag
            }
        }
    }

    fn answered(&mut self, _: &GpuRequest, _: Result<&[u8], u8>, _: &mut GpuMemory) {
        self.flushed = true;
    }

    fn arrived(&mut self, _: u16, address: u64, data: &[u8], memory: &mut GpuMemory) {
        let round = data.iter().take(8).rev().fold(0, |n, b| n << 8 | u64::from(*b));
        if address >= FLAGS {
            self.seen += 1;
            for block in 0..2 * self.blocks {
                let found = Self::round_at(memory, BLOCKS + block * HALF);
                if found < round {
                    self.forbidden(
                        "NVL-TLR-02",
                        found,
                        round,
                        "data written before a FLUSH is older than the flag written behind it",
                    );
                }
            }
            return;
        }
        let half = (address - BLOCKS) / HALF;
        if half % 2 == 1 {
            let first = Self::round_at(memory, address - HALF);
            if first < round {
                self.forbidden(
                    "NVL-TLR-03",
                    first,
                    round,
                    "the first half of a block is older than the second half, which was written later",
                );
            }
        }
    }

    fn missing(&self) -> Option<String> {
        let open = self.rounds + 1 - self.round.min(self.rounds + 1) + self.rounds - self.seen.min(self.rounds);
        (open > 0).then(|| format!("{open} rounds of the litmus test to send or to see"))
    }

    fn take_broken(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.broken)
    }

    fn broken_at_end(&self) -> Vec<Violation> {
        self.broken.clone()
    }

    fn bytes(&self) -> u64 {
        (self.round - 1) * (2 * self.blocks + 1) * UNIT
    }
}
