//! A node: a source of packets with an endless queue, and a sink that takes a flit a cycle.
//!
//! Modelled: open loop. In each cycle a packet is made with the probability load / flits; its flits leave one a cycle on a
//! virtual channel that has credits, in turn among those that do. A packet's time runs from its making, the wait in the
//! queue included, to the arrival of its last flit. Packets that are made after the warm-up and before the end are measured;
//! those before and in between are carried all the same. Left out: answers.
//!
//! A walk through one packet: the cycle of its making is drawn when the packet before it is made, so a node sleeps in between; the
//! head takes a virtual channel and the rest follows as credits allow; at the other node its tail ends it, and every flit gives a
//! credit back in the cycle in which it comes.

use super::pattern::TrafficPattern;
use crate::latencies::Latencies;
use scalepool_fabric::vc_router::flit::NO_VC;
use scalepool_fabric::vc_router::{ChannelBeat, VcFlit, VcPort};
use scalepool_kernel::{Cx, Module, Next, Pending, Rng, Time};
use scalepool_trace::{Body, PlaceKind, RecordKind, Stamp, Tap};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// What a node shows: packets as transactions.
pub const SHOWS: PlaceKind = PlaceKind::Messages(&[]);

/// What a node is made of.
#[derive(Debug, Clone)]
pub struct TrafficNodeConfig {
    /// Its number.
    pub node: u16,
    /// Nodes in all.
    pub nodes: u16,
    /// Where its packets go.
    pub pattern: TrafficPattern,
    /// Flits that it makes a cycle, 0 to 1.
    pub load: f64,
    /// Flits of each packet.
    pub packet_flits: u32,
    /// Cycles before packets are measured.
    pub warm_up_cycles: u64,
    /// Cycles in which they are; then no more are made.
    pub measured_cycles: u64,
    /// Virtual channels of its channel.
    pub vcs: usize,
    /// Flits that the buffer of a virtual channel at its router holds.
    pub buffer_flits: u32,
}

/// What a node has measured.
#[derive(Debug, Clone, Default)]
pub struct TrafficNodeResult {
    /// Packets made.
    pub made: u64,
    /// Packets that came.
    pub taken: u64,
    /// Flits made after the warm-up.
    pub offered_flits: u64,
    /// Flits that came after the warm-up, before the end of the measured time.
    pub accepted_flits: u64,
    /// Of measured packets: times from making to arrival.
    pub latencies: Latencies,
    /// Routers that measured packets have passed, all together.
    pub hops: u64,
    /// Most packets in its queue.
    pub most_queued: u64,
    /// A sum over all packets made, and over all that came: those of all nodes are equal if each packet came once.
    pub sums: [u64; 2],
    /// A packet came out of order or to the wrong node.
    pub astray: Option<String>,
}

/// A packet that waits.
#[derive(Debug, Clone, Copy)]
struct QueuedPacket {
    created_cycle: u64,
    id: u64,
    target: u16,
}

/// The module.
pub struct TrafficNode {
    config: TrafficNodeConfig,
    port: VcPort,
    rng: Rng,
    /// A packet is made where a drawn number is below.
    threshold: u64,
    /// Cycle in which the next packet is made; `u64::MAX`: none.
    next_cycle: u64,
    queue: VecDeque<QueuedPacket>,
    /// Flits of the first packet that have left, and their virtual channel.
    left: u32,
    vc: usize,
    credits: Box<[u32]>,
    /// A flit that crosses the switch of its router, and the cycle in which it is here.
    arriving: Option<(u64, VcFlit)>,
    tap: Tap,
    counted: TrafficNodeResult,
    /// When a flit left last.
    last_sent: Time,
    result: Arc<Mutex<TrafficNodeResult>>,
}

/// A number of a packet that adds up to the same whichever way packets come.
fn digest(source: u16, target: u16, packet: u64) -> u64 {
    let all = packet ^ (u64::from(source) << 16 | u64::from(target)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // SplitMix64's finisher: equal sums of other sets are as rare as equal random numbers.
    let mixed = (all ^ all >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

impl TrafficNode {
    /// A node that has made nothing yet.
    pub fn new(
        config: TrafficNodeConfig,
        port: VcPort,
        rng: Rng,
        tap: Tap,
        result: Arc<Mutex<TrafficNodeResult>>,
    ) -> TrafficNode {
        let chance = config.load / f64::from(config.packet_flits);
        // The product with a power of two is exact and the cast saturates, so every machine has the same threshold.
        let threshold = (chance * 18_446_744_073_709_551_616.0) as u64;
        let credits = vec![config.buffer_flits; config.vcs].into();
        let mut node = TrafficNode {
            config,
            port,
            rng,
            threshold,
            next_cycle: 0,
            queue: VecDeque::new(),
            left: 0,
            vc: 0,
            credits,
            arriving: None,
            tap,
            counted: TrafficNodeResult::default(),
            last_sent: Time::ZERO,
            result,
        };
        node.next_cycle = node.draw_from(0);
        node
    }

    /// The first cycle from this one on in which a packet is made.
    fn draw_from(&mut self, mut cycle: u64) -> u64 {
        let end = self.config.warm_up_cycles.saturating_add(self.config.measured_cycles);
        while self.threshold > 0 && cycle < end {
            // A threshold that saturated stands for every cycle.
            if self.rng.next_u64() < self.threshold || self.threshold == u64::MAX {
                return cycle;
            }
            cycle += 1;
        }
        u64::MAX
    }

    fn make(&mut self, at: Stamp) {
        while self.next_cycle <= at.cycle {
            let created_cycle = self.next_cycle;
            let target = self.config.pattern.draw(&mut self.rng, self.config.nodes);
            let id = self.tap.new_id();
            self.tap.record(at, RecordKind::Begin, id, 0, || Body::Access { name: "packet", address: target.into() });
            self.queue.push_back(QueuedPacket { created_cycle, id, target });
            if created_cycle >= self.config.warm_up_cycles {
                self.counted.offered_flits += u64::from(self.config.packet_flits);
            }
            self.next_cycle = self.draw_from(created_cycle + 1);
        }
        self.counted.most_queued = self.counted.most_queued.max(self.queue.len() as u64);
    }

    /// The flit that leaves now, if one can.
    fn next_flit(&mut self) -> Option<VcFlit> {
        let &QueuedPacket { created_cycle, id: packet, target } = self.queue.front()?;
        if self.left == 0 {
            let vcs = self.config.vcs;
            self.vc = (1..=vcs).map(|n| (self.vc + n) % vcs).find(|&vc| self.credits[vc] > 0)?;
        } else if self.credits[self.vc] == 0 {
            return None;
        }
        self.credits[self.vc] -= 1;
        let source = self.config.node;
        let is_head = self.left == 0;
        self.left += 1;
        let is_tail = self.left == self.config.packet_flits;
        if is_tail {
            self.queue.pop_front();
            self.left = 0;
            self.counted.sums[0] = self.counted.sums[0].wrapping_add(digest(source, target, packet));
            self.counted.made += 1;
        }
        Some(VcFlit { created_cycle, packet, source, target, vc: self.vc as u8, hops: 0, is_head, is_tail })
    }

    fn take(&mut self, cx: &mut Cx<'_>, flit: VcFlit) {
        let cycle = cx.cycle();
        let TrafficNodeConfig { node, warm_up_cycles, measured_cycles, .. } = self.config;
        if flit.target != node {
            let text = || format!("packet {} of node {} for node {}", flit.packet, flit.source, flit.target);
            self.counted.astray.get_or_insert_with(text);
        }
        let is_measured = |cycle: u64| cycle >= warm_up_cycles && cycle - warm_up_cycles < measured_cycles;
        self.counted.accepted_flits += u64::from(is_measured(cycle));
        if !flit.is_tail {
            return;
        }
        cx.progress();
        let at = Stamp { t_fs: cx.now().as_fs(), cycle };
        self.tap.record(at, RecordKind::End, flit.packet, 0, || Body::None);
        self.counted.taken += 1;
        self.counted.sums[1] = self.counted.sums[1].wrapping_add(digest(flit.source, flit.target, flit.packet));
        if is_measured(flit.created_cycle) {
            let cycles = cycle - flit.created_cycle;
            self.counted.latencies.add(cycles, cx.clock().periods_fs(cycles));
            self.counted.hops += u64::from(flit.hops);
        }
    }
}

impl Module for TrafficNode {
    fn eval(&mut self, cx: &mut Cx<'_>) -> Next {
        let cycle = cx.cycle();
        let mut beat = ChannelBeat::NONE;
        if let Some((due, flit)) = self.arriving
            && due <= cycle
        {
            self.arriving = None;
            self.take(cx, flit);
            beat.credit_vc = flit.vc;
        }
        while let Some(came) = self.port.pop(cx) {
            if came.credit_vc != NO_VC {
                self.credits[usize::from(came.credit_vc)] += 1;
            }
            if came.flit.vc != NO_VC {
                self.arriving = Some((cycle + u64::from(came.flit_behind_cycles), came.flit));
            }
        }
        self.make(Stamp { t_fs: cx.now().as_fs(), cycle });
        if let Some(flit) = self.next_flit() {
            beat.flit = flit;
            self.last_sent = cx.now();
        }
        let has_sent = beat.flit.vc != NO_VC;
        if beat != ChannelBeat::NONE {
            self.port.push(cx, beat);
        }
        match self.next_cycle {
            _ if self.arriving.is_some() || has_sent && !self.queue.is_empty() => Next::Busy,
            u64::MAX => Next::Idle,
            // With an empty hand and a full queue it waits for a credit.
            next => Next::At(cx.in_cycles(next - cycle)),
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        match self.queue.len() {
            0 if self.arriving.is_none() => Ok(()),
            0 => Err(Pending::new("a flit is on its way through the switch of its router", self.last_sent)),
            waiting => {
                Err(Pending::new(format!("{waiting} packets wait to leave for want of credits"), self.last_sent))
            }
        }
    }

    fn publish(&self) {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&self.counted);
        self.port.publish();
    }
}
