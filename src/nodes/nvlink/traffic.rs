//! Generated traffic with a scoreboard over all bytes.
//!
//! Modelled: each GPU owns a region in the memory of every target, so it knows what must stand there. Before a request with
//! an answer to a block that carries unflushed posted writes it sends a FLUSH; before a posted write to a block with open
//! requests it waits: the two channels are not ordered. At the end it flushes and reads everything back. A write that has failed, as
//! when a bridge gives it up, is done or not: blocks that it may have changed are not compared from there on. Left out: shared
//! regions (see [`litmus`](super::litmus)).

use super::link_group::BLOCK_BYTES;
use super::memory::{CAS, GpuMemory, SIMPLE};
use super::program::{GpuProgram, GpuRequest, GpuStep};
use crate::first_lines::MemoryBehind;
use scalepool_kernel::Rng;
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::nvlink::{Class, Op};
use scalepool_protocols::wire::Violation;
use std::sync::Arc;

/// Which operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mix {
    /// Reads.
    Reads,
    /// Posted writes.
    Writes,
    /// Posted writes to blocks in their order, as of a copy engine: all links have the same to do.
    Stream,
    /// Reads and writes of all sizes, with byte enables, posted and not: what memory without an owner takes.
    Accesses,
    /// All operations between two GPUs, all sizes.
    All,
}

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// All others in turn, beginning with the next one.
    AllToAll,
    /// Always this one; it asks nobody.
    HotSpot(u16),
    /// Any other one.
    Random,
}

/// What a [`Traffic`] is made of.
#[derive(Clone)]
pub struct TrafficConfig {
    /// Who asks.
    pub id: u16,
    /// GPUs in all.
    pub gpus: u16,
    /// Operations.
    pub mix: Mix,
    /// Targets.
    pub aim: Aim,
    /// Requests.
    pub requests: u64,
    /// Bytes of each, where the mix does not draw them: 16 to 256.
    pub bytes: usize,
    /// Size of the region in each target, a multiple of 256.
    pub region_bytes: u64,
    /// Flits a cycle that are offered; 0: as many as go.
    pub load: f64,
    /// Reads everything back at the end.
    pub verify: bool,
    /// Others store to the same bytes, so it does not know what it reads.
    pub shares: bool,
    /// Which targets stand in front of the memory of others.
    pub behind: Arc<MemoryBehind>,
}

/// Bytes that a request moves.
fn bytes_of(ask: &GpuRequest) -> u64 {
    (ask.data.len() + ask.read_bytes) as u64
}

/// The program.
pub struct Traffic {
    config: TrafficConfig,
    rng: Rng,
    issued: u64,
    offered_flits: u64,
    planned: Option<GpuRequest>,
    expected: OrderedMap<u16, GpuMemory>,
    /// Blocks with posted writes that no FLUSH covers.
    dirty: OrderedSet<(u16, u64)>,
    /// Bytes of posted requests to each target that no FLUSH has covered.
    posted_bytes: OrderedMap<u16, u64>,
    /// Targets whose FLUSH is not answered.
    flushing: OrderedSet<u16>,
    /// Open requests with an answer, by block.
    open: OrderedMap<(u16, u64), u32>,
    touched: OrderedSet<(u16, u64)>,
    /// Blocks of which a write has failed.
    unknown: OrderedSet<(u16, u64)>,
    bytes: u64,
    refused: Vec<Violation>,
}

impl Traffic {
    /// Traffic with its random numbers.
    pub fn new(config: TrafficConfig, rng: Rng) -> Traffic {
        let idle = config.gpus < 2 || config.aim == Aim::HotSpot(config.id);
        let config = TrafficConfig { requests: if idle { 0 } else { config.requests }, ..config };
        Traffic {
            config,
            rng,
            issued: 0,
            offered_flits: 0,
            planned: None,
            expected: OrderedMap::new(),
            dirty: OrderedSet::new(),
            posted_bytes: OrderedMap::new(),
            flushing: OrderedSet::new(),
            open: OrderedMap::new(),
            touched: OrderedSet::new(),
            unknown: OrderedSet::new(),
            bytes: 0,
            refused: Vec::new(),
        }
    }

    fn target(&mut self) -> u16 {
        let (id, gpus) = (u64::from(self.config.id), u64::from(self.config.gpus));
        let step = match self.config.aim {
            Aim::HotSpot(target) => return target,
            Aim::AllToAll => 1 + self.issued % (gpus - 1),
            Aim::Random => 1 + self.rng.below(gpus - 1),
        };
        ((id + step) % gpus) as u16
    }

    /// What is expected of the memory of a target.
    fn expected(&mut self, target: u16) -> &mut GpuMemory {
        let behind = &self.config.behind;
        self.expected.entry(target).or_insert_with(|| GpuMemory::expected(behind.clone(), target))
    }

    /// The next request, without what it will meet.
    fn draw(&mut self) -> GpuRequest {
        let target = self.target();
        let base = (1 + u64::from(self.config.id)) << 24;
        let blocks = self.config.region_bytes / BLOCK_BYTES;
        let number = if self.config.mix == Mix::Stream { self.issued % blocks } else { self.rng.below(blocks) };
        let block = base + BLOCK_BYTES * number;
        let op = match self.config.mix {
            Mix::Reads => Op::READ,
            Mix::Writes | Mix::Stream => Op::WRITE_POSTED,
            Mix::Accesses | Mix::All => {
                let ops = [
                    Op::READ,
                    Op::WRITE_POSTED,
                    Op::WRITE_POSTED,
                    Op::WRITE_NONPOSTED,
                    Op::ATOMIC_RETURN,
                    Op::ATOMIC_POSTED,
                ];
                // Atomics stand behind the others.
                let count = if self.config.mix == Mix::All { ops.len() } else { ops.len() - 2 };
                ops[self.rng.below(count as u64) as usize]
            }
        };
        if matches!(op, Op::ATOMIC_RETURN | Op::ATOMIC_POSTED) {
            return self.atomic(op, target, block);
        }
        let has_all_sizes = matches!(self.config.mix, Mix::Accesses | Mix::All);
        let (mut bytes, mut offset) = (self.config.bytes, 0);
        if has_all_sizes {
            bytes = 16 * (1 + self.rng.below(16) as usize);
            offset = 16 * self.rng.below((BLOCK_BYTES - bytes as u64) / 16 + 1);
        }
        let mut ask = GpuRequest { op, target, address: block + offset, ..GpuRequest::default() };
        if op == Op::READ {
            ask.read_bytes = bytes;
            return ask;
        }
        ask.data = vec![0; bytes];
        self.rng.fill_bytes(&mut ask.data);
        if has_all_sizes && bytes <= 128 && self.rng.ratio(1, 2) {
            let bits = u128::from(self.rng.next_u64()) << 64 | u128::from(self.rng.next_u64());
            ask.be = Some(bits & (u128::MAX >> (128 - bytes)));
        }
        ask
    }

    /// One element of 4 or 8 bytes in a unit of 16.
    fn atomic(&mut self, op: Op, target: u16, block: u64) -> GpuRequest {
        let wide = self.rng.ratio(1, 2);
        let size = if wide { 8 } else { 4 };
        let at = size * self.rng.below(16 / size as u64) as usize;
        let code = match self.rng.below(1 + SIMPLE.len() as u64) {
            0 => CAS,
            n => SIMPLE[n as usize - 1],
        };
        let mut data = vec![0; 16];
        self.rng.fill_bytes(&mut data);
        let address = block + 16 * self.rng.below(16);
        if code == CAS && self.rng.ratio(1, 2) {
            // Half of the comparisons succeed.
            let old = self.expected(target).read(address + at as u64, size);
            data[..size].copy_from_slice(&old);
        }
        let be = Some(((1 << size) - 1) << at);
        GpuRequest { op, target, address, data, be, attr: code | u8::from(wide) << 4, ..GpuRequest::default() }
    }

    fn flits_of(ask: &GpuRequest) -> u64 {
        1 + (ask.data.len() + ask.read_bytes) as u64 / 16
    }

    /// The planned request as it goes, or what has to happen before.
    fn ready(&mut self, ask: GpuRequest) -> GpuStep {
        let key = (ask.target, ask.address / BLOCK_BYTES);
        let posted = ask.op.class() == Some(Class::Posted);
        if posted && self.open.contains_key(&key) {
            self.planned = Some(ask);
            return GpuStep::Wait;
        }
        if !posted && self.dirty.contains(&key) {
            let target = ask.target;
            self.planned = Some(ask);
            return self.flush(target);
        }
        let expected = self.expected(ask.target);
        let mut ask = ask;
        match ask.op {
            Op::READ => ask.expected = Some(expected.read(ask.address, ask.read_bytes)),
            Op::ATOMIC_RETURN => {
                ask.expected = expected.atomic(ask.address, ask.attr, ask.be.unwrap_or(0), &ask.data);
            }
            Op::ATOMIC_POSTED => {
                let _ = expected.atomic(ask.address, ask.attr, ask.be.unwrap_or(0), &ask.data);
            }
            _ => expected.write(ask.address, &ask.data, ask.be),
        }
        if posted {
            self.dirty.insert(key);
        } else {
            *self.open.entry(key).or_default() += 1;
        }
        if ask.op != Op::READ {
            self.touched.insert(key);
        }
        if posted {
            *self.posted_bytes.entry(ask.target).or_default() += bytes_of(&ask);
        }
        GpuStep::Send(ask)
    }

    fn failed(&mut self, ask: &GpuRequest, code: u8) {
        let text = format!("{:?} at {:#x} of {} has failed", ask.op, ask.address, ask.target);
        self.refused.push(Violation::at_byte("SIM-E2E-02", 0, format!("error {code}"), "an answer", text));
    }

    fn flush(&mut self, target: u16) -> GpuStep {
        if !self.flushing.insert(target) {
            return GpuStep::Wait;
        }
        GpuStep::Send(GpuRequest { op: Op::FLUSH, target, ..GpuRequest::default() })
    }

    /// Reads back what was written.
    fn verify(&mut self) -> GpuStep {
        let unflushed = self.dirty.iter().find(|(target, _)| !self.flushing.contains(target));
        if let Some(&(target, _)) = unflushed {
            return self.flush(target);
        }
        if !self.flushing.is_empty() {
            return GpuStep::Wait;
        }
        let Some((target, block)) = self.touched.pop_first().filter(|_| self.config.verify) else {
            return GpuStep::Done;
        };
        let (address, read_bytes) = (block * BLOCK_BYTES, BLOCK_BYTES as usize);
        let expected = Some(self.expected(target).read(address, read_bytes));
        *self.open.entry((target, block)).or_default() += 1;
        let is_check = true;
        GpuStep::Send(GpuRequest {
            op: Op::READ,
            target,
            address,
            read_bytes,
            expected,
            is_check,
            ..GpuRequest::default()
        })
    }
}

impl GpuProgram for Traffic {
    fn next(&mut self, cycle: u64, _: &mut GpuMemory) -> GpuStep {
        if let Some(ask) = self.planned.take() {
            return self.ready(ask);
        }
        if self.issued == self.config.requests {
            return self.verify();
        }
        if self.config.load > 0.0 {
            let due = (self.offered_flits as f64 / self.config.load) as u64;
            if due > cycle {
                return GpuStep::Until(due);
            }
        }
        let ask = self.draw();
        self.issued += 1;
        self.offered_flits += Self::flits_of(&ask);
        self.ready(ask)
    }

    fn answered(&mut self, ask: &GpuRequest, data: Result<&[u8], u8>, _: &mut GpuMemory) {
        if ask.op == Op::FLUSH {
            self.flushing.remove(&ask.target);
            let posted_bytes = self.posted_bytes.remove(&ask.target).unwrap_or(0);
            self.bytes += if data.is_ok() { posted_bytes } else { 0 };
            if let Err(code) = data {
                // It reports a posted request, and does not say which.
                self.unknown.extend(self.dirty.iter().filter(|(target, _)| *target == ask.target));
                self.failed(ask, code);
            }
            self.dirty.retain(|(target, _)| *target != ask.target);
            return;
        }
        if data.is_ok() && !ask.is_check {
            self.bytes += bytes_of(ask);
        }
        let key = (ask.target, ask.address / BLOCK_BYTES);
        if let Some(left) = self.open.get_mut(&key) {
            *left -= 1;
            if *left == 0 {
                self.open.remove(&key);
            }
        }
        if let Err(code) = data {
            if ask.op != Op::READ {
                self.unknown.insert(key);
            }
            self.failed(ask, code);
        }
    }

    fn knows(&self, ask: &GpuRequest) -> bool {
        !self.config.shares && !self.unknown.contains(&(ask.target, ask.address / BLOCK_BYTES))
    }

    fn missing(&self) -> Option<String> {
        let left = self.config.requests - self.issued + u64::from(self.planned.is_some());
        (left > 0).then(|| format!("{left} requests not sent"))
    }

    fn take_broken(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.refused)
    }

    fn broken_at_end(&self) -> Vec<Violation> {
        self.refused.clone()
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
