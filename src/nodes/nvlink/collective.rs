//! All-reduce over the first n GPUs, by three algorithms, checked bit for bit against a plain sum in the stated order.
//!
//! A vector has n chunks of blocks of 256 bytes. Chunk c is summed
//! * **ring**: beginning at GPU c, each GPU adds its own to what comes from the one before and passes it on, block by block
//!   as it comes; after n - 1 steps the sum goes around once more;
//! * **direct**: by GPU c, which reads the blocks of all others, adds them in the order of their numbers and writes the sum
//!   to all;
//! * **switch**: by the switch, which GPU c asks with a REDUCE_READ, in the order of the numbers; GPU c writes the sum to
//!   all with one MULTICAST_WRITE.
//!
//! Modelled: the messages and the sums. Left out: the time of additions in a GPU, barriers (a block is its own flag).

use super::link_group::BLOCK_BYTES;
use super::memory::GpuMemory;
use super::program::{GpuProgram, GpuRequest, GpuStep};
use scalepool_fabric::nvlink_switch::reduction::{NumberType, sum};
use scalepool_kernel::Rng;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::nvlink::Op;
use scalepool_protocols::wire::Violation;
use std::collections::VecDeque;
use std::sync::Arc;

/// How the vectors are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// Ring of posted writes.
    Ring,
    /// Reads, then posted writes.
    Direct,
    /// Reads that the switch reduces, then multicast writes.
    Switch,
}

/// Where a GPU has its own vector, the result, and what comes around the ring.
const VECTOR: u64 = 1 << 32;
const RESULT: u64 = 2 << 32;
const RING: u64 = 4 << 32;
/// Bytes of a block in memory.
const BLOCK: usize = BLOCK_BYTES as usize;

/// The vectors of all GPUs and their sum.
pub struct Vectors {
    /// Number type.
    pub number: NumberType,
    /// Blocks of a chunk.
    pub blocks: u64,
    own: Vec<Vec<u8>>,
    sum: Vec<u8>,
}

/// Numbers that lose bits when they are added, so that the order shows: exponents from -7 to 7.
fn vector(number: NumberType, bytes: usize, mut rng: Rng) -> Vec<u8> {
    let mut words = (0..bytes / 4).map(|_| {
        let bits = rng.next_u64();
        let float = |bits: u32, r: u64| (bits & 0x807f_ffff) | (120 + (r % 15) as u32) << 23;
        match number {
            NumberType::Int32 => bits as u32,
            NumberType::F32 => float(bits as u32, bits >> 32),
            NumberType::Bf16 => {
                float(bits as u32, bits >> 32) & 0xffff_0000 | float((bits >> 8) as u32, bits >> 40) >> 16
            }
        }
    });
    std::iter::from_fn(|| words.next()).flat_map(u32::to_le_bytes).collect()
}

impl Vectors {
    /// Vectors of n GPUs with chunks of so many blocks, and their sum in the order of an algorithm.
    pub fn new(seed: u64, n: usize, blocks: u64, number: NumberType, algorithm: Algorithm) -> Vectors {
        let bytes = n * blocks as usize * BLOCK;
        let own: Vec<Vec<u8>> =
            (0..n).map(|g| vector(number, bytes, Rng::for_name(seed, &format!("gpu[{g}].vector")))).collect();
        let mut all = Vec::with_capacity(bytes);
        let chunk_bytes = blocks as usize * BLOCK;
        for chunk in 0..n {
            let of = |g: usize| &own[g % n][chunk * chunk_bytes..(chunk + 1) * chunk_bytes];
            all.extend(match algorithm {
                // In a ring each step is a sum of two.
                Algorithm::Ring => (1..n).fold(of(chunk).to_vec(), |acc, k| sum(number, &[&acc, of(chunk + k)])),
                Algorithm::Direct | Algorithm::Switch => sum(number, &(0..n).map(of).collect::<Vec<_>>()),
            });
        }
        Vectors { number, blocks, own, sum: all }
    }

    /// GPUs.
    pub fn gpus(&self) -> usize {
        self.own.len()
    }

    /// Bytes of a vector.
    pub fn bytes(&self) -> u64 {
        self.sum.len() as u64
    }

    fn block(&self, vector: &[u8], block: u64) -> Vec<u8> {
        let at = block as usize * BLOCK;
        vector[at..at + BLOCK].to_vec()
    }
}

/// The program of one GPU.
pub struct AllReduce {
    algorithm: Algorithm,
    id: usize,
    group: u16,
    vectors: Arc<Vectors>,
    /// Blocks of the own chunk that were begun, and reads of the block under way.
    begun: u64,
    reads: usize,
    /// Blocks of members, by number of the block.
    collected: OrderedMap<u64, Vec<Option<Vec<u8>>>>,
    to_send: VecDeque<GpuRequest>,
    done: Vec<bool>,
    left: u64,
    bytes: u64,
    broken: Vec<Violation>,
}

impl AllReduce {
    /// Part `id` of an all-reduce; `group` is the window of the multicast group.
    pub fn new(algorithm: Algorithm, id: u16, group: u16, vectors: Arc<Vectors>) -> AllReduce {
        let blocks = vectors.blocks * vectors.gpus() as u64;
        AllReduce {
            algorithm,
            id: id.into(),
            group,
            begun: 0,
            reads: 0,
            collected: OrderedMap::new(),
            to_send: VecDeque::new(),
            done: vec![false; blocks as usize],
            left: blocks,
            bytes: 0,
            broken: Vec::new(),
            vectors,
        }
    }

    fn n(&self) -> usize {
        self.vectors.gpus()
    }

    /// A block of the result is here.
    fn finish_block(&mut self, block: u64, data: &[u8]) {
        let expected = self.vectors.block(&self.vectors.sum, block);
        let hex = scalepool_forms::number::hex;
        if data != expected {
            let text = format!("block {block} of the sum has a wrong value");
            self.broken.push(Violation::at_byte("SIM-E2E-01", 0, hex(data), hex(&expected), text));
        }
        if std::mem::replace(&mut self.done[block as usize], true) {
            let text = format!("block {block} of the sum has come twice");
            let rule = if self.algorithm == Algorithm::Switch { "NVL-SWI-03" } else { "SIM-E2E-02" };
            self.broken.push(Violation::at_byte(rule, 0, "2 copies", "one copy", text));
            return;
        }
        self.left -= 1;
    }

    fn write(op: Op, target: u16, address: u64, data: Vec<u8>) -> GpuRequest {
        GpuRequest { op, target, address, data, ..GpuRequest::default() }
    }

    fn read(op: Op, target: u16, address: u64) -> GpuRequest {
        GpuRequest { op, target, address, read_bytes: BLOCK, ..GpuRequest::default() }
    }

    /// A block of the ring for the next GPU, as part of a step.
    fn to_next(&self, step: u64, k: u64, data: Vec<u8>) -> GpuRequest {
        let next = ((self.id + 1) % self.n()) as u16;
        let address = RING + (step * self.vectors.blocks + k) * BLOCK_BYTES;
        Self::write(Op::WRITE_POSTED, next, address, data)
    }

    fn ring_step(&mut self, address: u64, data: &[u8]) {
        let (n, blocks) = (self.n() as u64, self.vectors.blocks);
        let place = (address - RING) / BLOCK_BYTES;
        let (step, k) = (place / blocks, place % blocks);
        // The GPU before sends chunk (its number - step).
        let chunk = (self.id as u64 + 2 * n - 1 - step % n) % n;
        let block = chunk * blocks + k;
        let data = if step < n - 1 {
            let own = self.vectors.block(&self.vectors.own[self.id], block);
            sum(self.vectors.number, &[data, &own])
        } else {
            data.to_vec()
        };
        if step + 2 >= n {
            self.finish_block(block, &data);
        }
        if step < 2 * n - 3 {
            self.to_send.push_back(self.to_next(step + 1, k, data));
        }
    }

    /// The next request of those that begin a block.
    fn begin(&mut self) -> GpuStep {
        let (n, blocks) = (self.n(), self.vectors.blocks);
        if self.begun == blocks || n < 2 {
            return GpuStep::Done;
        }
        let (k, block) = (self.begun, self.id as u64 * blocks + self.begun);
        match self.algorithm {
            Algorithm::Ring => {
                self.begun += 1;
                GpuStep::Send(self.to_next(0, k, self.vectors.block(&self.vectors.own[self.id], block)))
            }
            Algorithm::Direct => {
                self.reads += 1;
                let target = (self.id + self.reads) % n;
                if self.reads == n - 1 {
                    (self.reads, self.begun) = (0, self.begun + 1);
                }
                GpuStep::Send(Self::read(Op::READ, target as u16, VECTOR + block * BLOCK_BYTES))
            }
            Algorithm::Switch => {
                self.begun += 1;
                let attr = self.vectors.number.code();
                GpuStep::Send(GpuRequest {
                    attr,
                    ..Self::read(Op::REDUCE_READ, self.group, VECTOR + block * BLOCK_BYTES)
                })
            }
        }
    }

    /// Answers to the reads of a block, complete or not.
    fn collect(&mut self, member: usize, block: u64, data: &[u8], memory: &mut GpuMemory) {
        let (n, id) = (self.n(), self.id);
        let own = || memory.read(VECTOR + block * BLOCK_BYTES, BLOCK);
        let parts = self.collected.entry(block).or_insert_with(|| {
            let mut parts = vec![None; n];
            parts[id] = Some(own());
            parts
        });
        parts[member] = Some(data.to_vec());
        let complete: Vec<&[u8]> = parts.iter().flatten().map(Vec::as_slice).collect();
        if complete.len() < n {
            return;
        }
        let total = sum(self.vectors.number, &complete);
        self.collected.remove(&block);
        let address = RESULT + block * BLOCK_BYTES;
        memory.write(address, &total, None);
        for step in 1..n {
            let target = ((id + step) % n) as u16;
            self.to_send.push_back(Self::write(Op::WRITE_POSTED, target, address, total.clone()));
        }
        self.finish_block(block, &total);
    }
}

impl GpuProgram for AllReduce {
    fn start(&mut self, memory: &mut GpuMemory) {
        memory.write(VECTOR, &self.vectors.own[self.id], None);
    }

    fn next(&mut self, _: u64, _: &mut GpuMemory) -> GpuStep {
        // Blocks of the ring go around together: one that began late would go around alone.
        if self.algorithm == Algorithm::Ring && self.begun < self.vectors.blocks {
            return self.begin();
        }
        match self.to_send.pop_front() {
            Some(ask) => GpuStep::Send(ask),
            None => self.begin(),
        }
    }

    fn answered(&mut self, ask: &GpuRequest, data: Result<&[u8], u8>, memory: &mut GpuMemory) {
        let block = ask.address.saturating_sub(VECTOR) / BLOCK_BYTES;
        let data = match data {
            Ok(data) => data,
            Err(code) => {
                let text = format!("{:?} of block {block} has failed", ask.op);
                self.broken.push(Violation::at_byte("SIM-E2E-02", 0, format!("error {code}"), "data", text));
                return;
            }
        };
        self.bytes += data.len() as u64;
        if self.algorithm == Algorithm::Switch {
            let address = RESULT + block * BLOCK_BYTES;
            self.to_send.push_back(Self::write(Op::MULTICAST_WRITE, self.group, address, data.to_vec()));
        } else {
            self.collect(ask.target.into(), block, data, memory);
        }
    }

    fn arrived(&mut self, _: u16, address: u64, data: &[u8], _: &mut GpuMemory) {
        self.bytes += data.len() as u64;
        if address >= RING {
            self.ring_step(address, data);
        } else {
            self.finish_block((address - RESULT) / BLOCK_BYTES, data);
        }
    }

    fn missing(&self) -> Option<String> {
        let sent = self.to_send.is_empty();
        (self.left > 0 || !sent).then(|| format!("{} blocks of the sum missing", self.left))
    }

    fn take_broken(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.broken)
    }

    fn broken_at_end(&self) -> Vec<Violation> {
        let mut broken = self.broken.clone();
        if self.algorithm == Algorithm::Switch && self.left > 0 {
            let found = format!("{} blocks without a copy", self.left);
            let text = "multicast writes have not given each member one copy";
            broken.push(Violation::at_byte("NVL-SWI-03", 0, found, "one copy of each", text));
        }
        broken
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
