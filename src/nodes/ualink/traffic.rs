//! What accelerators ask each other for.
//!
//! Modelled: who asks whom (all to all, ring, hot spot, random), what for (reads, writes, atomics, whole and in part), at
//! which addresses. Every originator has regions of its own in every memory, so what a read has to return is known to the
//! one that asks. Left out: programs.

use scalepool_kernel::Rng;
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::field::REGION_BYTES;

/// Who asks whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// The others in turn.
    AllToAll,
    /// The next one.
    Ring,
    /// Accelerator 0; that one asks accelerator 1.
    HotSpot,
    /// Any of the others.
    Random,
}

/// What for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mix {
    /// Reads.
    Reads,
    /// WriteFull.
    Writes,
    /// Two reads to a WriteFull.
    TwoToOne,
    /// Reads and writes of any size, byte enables, atomics.
    All,
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UalTrafficOp {
    /// Accelerator that is asked.
    pub dst: u16,
    /// Command.
    pub cmd: ReqCmd,
    /// Meaning of a UPLI Write Message, else 0.
    pub metadata: u8,
    /// Byte address in its memory.
    pub address: u64,
    /// DWords.
    pub dwords: u8,
}

impl UalTrafficOp {
    /// Beats of 64 bytes that it touches.
    pub fn beats(&self) -> u8 {
        beats(self.address, self.dwords)
    }
}

/// Beats of 64 bytes that so many DWords from an address on touch.
pub fn beats(address: u64, dwords: u8) -> u8 {
    ((address % 64 + 4 * u64::from(dwords)).div_ceil(64)) as u8
}

/// Settings of the traffic of one accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// Its own number.
    pub own: u16,
    /// Accelerators in all.
    pub accelerators: u16,
    /// Who asks whom.
    pub pattern: Pattern,
    /// What for.
    pub mix: Mix,
    /// Bytes of an operation, a multiple of 64 up to 256; the mix `All` draws its own.
    pub bytes: u16,
    /// 1 MB regions that an originator uses in each memory.
    pub regions: u64,
    /// Blocks of 256 bytes in each of them.
    pub blocks: u64,
    /// Operations.
    pub count: u64,
    /// A key rolls behind so many operations, on top of them; 0: never.
    pub key_roll_every: u64,
}

/// Makes operations one by one.
#[derive(Debug)]
pub struct Generator {
    traffic: Traffic,
    rng: Rng,
    made: u64,
    /// The key roll that is due.
    roll: Option<UalTrafficOp>,
    rolls: u64,
}

impl Generator {
    /// A generator with random numbers of its own.
    pub fn new(traffic: Traffic, rng: Rng) -> Generator {
        // One that is alone has nobody to ask.
        let count = if traffic.accelerators < 2 { 0 } else { traffic.count };
        Generator { traffic: Traffic { count, ..traffic }, rng, made: 0, roll: None, rolls: 0 }
    }

    /// Operations still to come.
    pub fn left(&self) -> u64 {
        self.traffic.count - self.made
    }

    fn destination(&mut self) -> u16 {
        let Traffic { own, accelerators, pattern, .. } = self.traffic;
        let others = u64::from(accelerators) - 1;
        let step = match pattern {
            Pattern::AllToAll => self.made % others + 1,
            Pattern::Ring => 1,
            Pattern::HotSpot if own == 0 => 1,
            Pattern::HotSpot => u64::from(accelerators - own),
            Pattern::Random => self.rng.below(others) + 1,
        };
        ((u64::from(own) + step) % u64::from(accelerators)) as u16
    }

    fn command(&mut self) -> ReqCmd {
        match self.traffic.mix {
            Mix::Reads => ReqCmd::Read,
            Mix::Writes => ReqCmd::WriteFull,
            Mix::TwoToOne if self.made % 3 == 2 => ReqCmd::WriteFull,
            Mix::TwoToOne => ReqCmd::Read,
            Mix::All => match self.rng.below(8) {
                0..=2 => ReqCmd::Read,
                3 | 4 => ReqCmd::WriteFull,
                5 => ReqCmd::Write,
                6 => ReqCmd::AtomicR,
                _ => ReqCmd::AtomicNR,
            },
        }
    }

    /// Byte in the block, and DWords.
    fn extent(&mut self, cmd: ReqCmd) -> (u64, u8) {
        if self.traffic.mix != Mix::All {
            let dwords = self.traffic.bytes / 4;
            return (0, dwords as u8);
        }
        match cmd {
            // Operands of 64 bits (`ualink` §12).
            cmd if cmd.is_atomic() => (8 * self.rng.below(REGION_BYTES / 8), 2),
            // All bytes of its beats, or a few DWords with byte enables.
            ReqCmd::Write | ReqCmd::Read if self.rng.ratio(1, 4) => {
                let first = self.rng.below(REGION_BYTES / 4);
                (4 * first, (1 + self.rng.below(REGION_BYTES / 4 - first)) as u8)
            }
            _ => {
                let first = self.rng.below(4);
                (64 * first, 16 * (1 + self.rng.below(4 - first)) as u8)
            }
        }
    }
}

impl Iterator for Generator {
    type Item = UalTrafficOp;

    fn next(&mut self) -> Option<UalTrafficOp> {
        if let Some(roll) = self.roll.take() {
            return Some(roll);
        }
        if self.left() == 0 {
            return None;
        }
        let (dst, cmd) = (self.destination(), self.command());
        let (byte, dwords) = self.extent(cmd);
        let Traffic { own, accelerators, regions, blocks, key_roll_every, .. } = self.traffic;
        // Regions of one number lie side by side, so that each originator uses all parts of a memory.
        let region = self.rng.below(regions) * u64::from(accelerators) + u64::from(own);
        let block = (region << 20) + REGION_BYTES * self.rng.below(blocks);
        self.made += 1;
        if key_roll_every > 0 && self.made.is_multiple_of(key_roll_every) {
            // Types 1, 2, 3 in turn: requests, read responses, write responses (`ualink` §12).
            let metadata = 1 + (self.rolls % 3) as u8;
            self.rolls += 1;
            self.roll = Some(UalTrafficOp { dst, cmd: ReqCmd::WriteMessage, metadata, address: block, dwords: 16 });
        }
        Some(UalTrafficOp { dst, cmd, metadata: 0, address: block + byte, dwords })
    }
}
