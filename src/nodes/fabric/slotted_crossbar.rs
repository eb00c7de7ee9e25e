//! A crossbar in slots: the switch of queueing theory, with its sources and sinks.
//!
//! Modelled: N inputs and N outputs; in each slot, which is a cycle, at most one cell comes at each input, for any output, all
//! as often; then inputs are paired with outputs, and each pair moves a cell. Queues stand at the inputs, one each (`fifo`) or
//! one for each output (`voq`), or at the outputs (`output`), where all cells of a slot may come at once. Left out: links,
//! and room: queues have no end.
//!
//! A walk through one slot: cells come; with queues at the inputs the allocator pairs inputs with the outputs that their queues ask for;
//! the first cell of each pair leaves. A cell that leaves in the slot in which it came has waited 0 slots and has a latency
//! of 1. With arrivals `full` every queue always has a cell, which is what saturation means; a cell's time then runs from the slot in which it
//! became the first.
//!
//! Sources: `fabric` §6.1.

use crate::latencies::Latencies;
use scalepool_fabric::vc_router::RouterAllocator;
use scalepool_kernel::{Cx, Module, Next, Rng};
use scalepool_trace::{Body, PlaceKind, RecordKind, Stamp, Tap};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Where cells wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrossbarQueueing {
    /// At the inputs, one queue each.
    Fifo,
    /// At the inputs, one queue for each output.
    Voq,
    /// At the outputs.
    Output,
}

/// How inputs are paired with outputs.
#[derive(Debug, Clone)]
pub enum CrossbarPairing {
    /// By an allocator.
    Allocator(RouterAllocator),
    /// Outputs pick among inputs at random, then inputs among outputs: parallel iterative matching with one iteration.
    Random,
}

/// What a crossbar is made of.
#[derive(Debug, Clone)]
pub struct SlottedCrossbarConfig {
    /// Inputs, and outputs: 2 to 64.
    pub ports: usize,
    /// Where cells wait.
    pub queueing: CrossbarQueueing,
    /// How inputs are paired with outputs.
    pub pairing: CrossbarPairing,
    /// Cells that come at an input in a slot, 0 to 1; `None`: every queue always has a cell.
    pub load: Option<f64>,
    /// Slots before it is measured.
    pub warm_up_slots: u64,
    /// Slots in which it is.
    pub measured_slots: u64,
}

/// What a crossbar has measured.
#[derive(Debug, Clone, Default)]
pub struct CrossbarResult {
    /// Cells that came in measured slots.
    pub offered: u64,
    /// Cells that left in measured slots.
    pub accepted: u64,
    /// Slots from coming to leaving, both counted, of cells that came in measured slots.
    pub latencies: Latencies,
    /// Slots in which every output got a cell, of the measured ones.
    pub full_slots: u64,
}

/// A cell: the slot in which it came, its output, its id in traces.
#[derive(Debug, Clone, Copy)]
struct Cell {
    came: u64,
    output: u8,
    id: u64,
}

/// The module.
pub struct SlottedCrossbar {
    config: SlottedCrossbarConfig,
    threshold: u64,
    rng: Rng,
    /// Of inputs, of inputs and outputs (input by input), or of outputs.
    queues: Vec<VecDeque<Cell>>,
    requests: Vec<u64>,
    asking: Vec<u64>,
    pairs: Vec<(u8, u8)>,
    tap: Tap,
    counted: CrossbarResult,
    result: Arc<Mutex<CrossbarResult>>,
}

/// What a crossbar shows: cells as transactions.
pub const SHOWS: PlaceKind = PlaceKind::Messages(&[]);

/// The bits of a word, lowest first.
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}

/// One of the bits of a word that is not 0.
fn any_bit(rng: &mut Rng, word: u64) -> usize {
    let n = rng.below(word.count_ones().into()) as usize;
    bits(word).nth(n).unwrap_or(0)
}

impl SlottedCrossbar {
    /// A crossbar with empty queues.
    pub fn new(
        config: SlottedCrossbarConfig,
        rng: Rng,
        tap: Tap,
        result: Arc<Mutex<CrossbarResult>>,
    ) -> SlottedCrossbar {
        let ports = config.ports;
        let queues = if config.queueing == CrossbarQueueing::Voq { ports * ports } else { ports };
        // The product with a power of two is exact and the cast saturates, so every machine has the same threshold.
        let threshold = (config.load.unwrap_or(0.0) * 18_446_744_073_709_551_616.0) as u64;
        SlottedCrossbar {
            threshold,
            rng,
            queues: vec![VecDeque::new(); queues],
            requests: vec![0; ports],
            asking: vec![0; ports],
            pairs: Vec::with_capacity(ports),
            tap,
            counted: CrossbarResult::default(),
            result,
            config,
        }
    }

    fn is_measured(&self, slot: u64) -> bool {
        slot >= self.config.warm_up_slots
    }

    fn push(&mut self, at: Stamp, queue: usize, output: usize) {
        let id = self.tap.new_id();
        self.tap.record(at, RecordKind::Begin, id, 0, || Body::Access { name: "packet", address: output as u64 });
        self.counted.offered += u64::from(self.is_measured(at.cycle));
        self.queues[queue].push_back(Cell { came: at.cycle, output: output as u8, id });
    }

    /// Cells come.
    fn arrive(&mut self, at: Stamp) {
        let ports = self.config.ports;
        if self.config.load.is_none() {
            for queue in (0..self.queues.len()).filter(|&queue| self.queues[queue].is_empty()).collect::<Vec<_>>() {
                let output = match self.config.queueing {
                    CrossbarQueueing::Fifo => self.rng.below(ports as u64) as usize,
                    CrossbarQueueing::Voq | CrossbarQueueing::Output => queue % ports,
                };
                self.push(at, queue, output);
            }
            return;
        }
        for input in 0..ports {
            // A threshold that saturated stands for every slot.
            if self.rng.next_u64() < self.threshold || self.threshold == u64::MAX {
                let output = self.rng.below(ports as u64) as usize;
                let queue = match self.config.queueing {
                    CrossbarQueueing::Fifo => input,
                    CrossbarQueueing::Voq => input * ports + output,
                    CrossbarQueueing::Output => output,
                };
                self.push(at, queue, output);
            }
        }
    }

    /// Pairs inputs with outputs.
    fn pair(&mut self) {
        let ports = self.config.ports;
        let mut asking = 0u64;
        for input in 0..ports {
            self.requests[input] = match self.config.queueing {
                CrossbarQueueing::Voq => {
                    let own = &self.queues[input * ports..(input + 1) * ports];
                    own.iter().enumerate().fold(0, |all, (n, queue)| all | u64::from(!queue.is_empty()) << n)
                }
                CrossbarQueueing::Fifo => self.queues[input].front().map_or(0, |cell| 1 << cell.output),
                CrossbarQueueing::Output => u64::from(!self.queues[input].is_empty()) << input,
            };
            asking |= u64::from(self.requests[input] != 0) << input;
        }
        match &mut self.config.pairing {
            CrossbarPairing::Allocator(allocator) => allocator.allocate(asking, &self.requests, &mut self.pairs),
            CrossbarPairing::Random => {
                self.pairs.clear();
                self.asking.fill(0);
                for input in bits(asking) {
                    bits(self.requests[input]).for_each(|output| self.asking[output] |= 1 << input);
                }
                self.requests.fill(0);
                for output in 0..ports {
                    if self.asking[output] != 0 {
                        let input = any_bit(&mut self.rng, self.asking[output]);
                        self.requests[input] |= 1 << output;
                    }
                }
                for input in 0..ports {
                    if self.requests[input] != 0 {
                        let output = any_bit(&mut self.rng, self.requests[input]);
                        self.pairs.push((input as u8, output as u8));
                    }
                }
            }
        }
    }

    /// The first cells of the pairs leave.
    fn depart(&mut self, cx: &mut Cx<'_>, at: Stamp) {
        let ports = self.config.ports;
        for n in 0..self.pairs.len() {
            let (input, output) = (usize::from(self.pairs[n].0), usize::from(self.pairs[n].1));
            let queue = if self.config.queueing == CrossbarQueueing::Voq { input * ports + output } else { input };
            let Some(cell) = self.queues[queue].pop_front() else { continue };
            cx.progress();
            self.tap.record(at, RecordKind::End, cell.id, 0, || Body::None);
            self.counted.accepted += u64::from(self.is_measured(at.cycle));
            if self.is_measured(cell.came) {
                let slots = at.cycle - cell.came + 1;
                self.counted.latencies.add(slots, cx.clock().periods_fs(slots));
            }
        }
        self.counted.full_slots += u64::from(self.is_measured(at.cycle) && self.pairs.len() == ports);
    }
}

impl Module for SlottedCrossbar {
    fn eval(&mut self, cx: &mut Cx<'_>) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        let end = self.config.warm_up_slots + self.config.measured_slots;
        if at.cycle >= end {
            return Next::Idle;
        }
        self.arrive(at);
        self.pair();
        self.depart(cx, at);
        Next::busy_if(at.cycle + 1 < end)
    }

    fn publish(&self) {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&self.counted);
    }
}
