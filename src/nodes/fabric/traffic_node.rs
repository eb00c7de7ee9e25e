//! A node: a source of packets with an endless queue, and a sink that takes a flit a cycle.
//!
//! Modelled: packets come [at random](super::random_traffic) or by a [program](super::packet_program); their flits leave one a
//! cycle on a virtual channel that has credits, in turn among those that do. A packet's time runs from its making, the wait in
//! the queue included, to the arrival of its last flit. In a closed loop a node answers each packet with one of its own, answers
//! before packets, and a packet's time runs until its answer has come. Packets that are made after the warm-up and before the end
//! are measured; those before and in between are carried all the same. Left out: time that a node takes to answer.
//!
//! Answers have no virtual channels of their own, and cannot block: a node takes whatever comes, and has room for an answer to
//! each packet that the others may have open.
//!
//! A walk through one packet: it is made in its cycle and the node sleeps until then; the head takes a virtual channel and the rest
//! follows as credits allow; at the other node its tail ends it, and every flit gives a credit back in the cycle in which it comes.

use super::packet_program::NodeProgram;
use super::random_traffic::{Came, RandomTraffic};
use crate::latencies::Latencies;
use scalepool_fabric::vc_router::flit::NO_VC;
use scalepool_fabric::vc_router::{ChannelBeat, VcFlit, VcPort};
use scalepool_kernel::{Cx, Module, Next, Pending, Time};
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
    /// Flits of each random packet.
    pub packet_flits: u32,
    /// Flits of each answer.
    pub answer_flits: u32,
    /// Cycles before packets are measured.
    pub warm_up_cycles: u64,
    /// Cycles in which they are; then no more are made.
    pub measured_cycles: u64,
    /// Virtual channels of its channel.
    pub vcs: usize,
    /// Flits that the buffer of a virtual channel at its router holds.
    pub buffer_flits: u32,
}

/// Where the packets of a node come from.
#[derive(Debug, Clone)]
pub enum PacketSource {
    /// At random.
    Random(RandomTraffic),
    /// As a program says.
    Program(NodeProgram),
}

impl PacketSource {
    fn next_cycle(&self) -> u64 {
        match self {
            PacketSource::Random(traffic) => traffic.next_cycle(),
            PacketSource::Program(program) => program.next_cycle(),
        }
    }
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
    /// Routers that measured packets have passed, all together; in a closed loop their answers.
    pub hops: u64,
    /// Cycle in which the last packet came.
    pub last_cycle: u64,
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
    flits: u32,
}

/// The module.
pub struct TrafficNode {
    config: TrafficNodeConfig,
    port: VcPort,
    source: PacketSource,
    queue: VecDeque<QueuedPacket>,
    answers: VecDeque<QueuedPacket>,
    /// The packet of which flits have left, how many, and the virtual channel.
    leaving: Option<QueuedPacket>,
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
        source: PacketSource,
        tap: Tap,
        result: Arc<Mutex<TrafficNodeResult>>,
    ) -> TrafficNode {
        let credits = vec![config.buffer_flits; config.vcs].into();
        TrafficNode {
            config,
            port,
            source,
            queue: VecDeque::new(),
            answers: VecDeque::new(),
            leaving: None,
            left: 0,
            vc: 0,
            credits,
            arriving: None,
            tap,
            counted: TrafficNodeResult::default(),
            last_sent: Time::ZERO,
            result,
        }
    }

    /// The next packet that is made in this cycle or was before, and its name.
    fn next_packet(&mut self, cycle: u64) -> Option<(QueuedPacket, &'static str)> {
        let TrafficNodeConfig { node, packet_flits, .. } = self.config;
        match &mut self.source {
            PacketSource::Random(traffic) => {
                let (created_cycle, id, target) = traffic.take_due(cycle, node, || self.tap.new_id())?;
                Some((QueuedPacket { created_cycle, id, target, flits: packet_flits }, "packet"))
            }
            PacketSource::Program(program) => {
                let (created_cycle, packet) = program.take_due(cycle)?;
                let (id, target, flits) = (packet.id, packet.target, packet.flits);
                Some((QueuedPacket { created_cycle, id, target, flits }, packet.kind))
            }
        }
    }

    fn make(&mut self, at: Stamp) {
        while let Some((packet, name)) = self.next_packet(at.cycle) {
            let address = packet.target.into();
            self.tap.record(at, RecordKind::Begin, packet.id, 0, || Body::Access { name, address });
            self.queue.push_back(packet);
            self.count_offered(packet);
        }
        self.counted.most_queued = self.counted.most_queued.max(self.waiting() as u64);
    }

    fn count_offered(&mut self, packet: QueuedPacket) {
        if packet.created_cycle >= self.config.warm_up_cycles {
            self.counted.offered_flits += u64::from(packet.flits);
        }
    }

    /// The flit that leaves now, if one can.
    fn next_flit(&mut self, cycle: u64) -> Option<VcFlit> {
        let packet = *self.leaving.as_ref().or_else(|| self.answers.front()).or_else(|| self.queue.front())?;
        if self.leaving.is_none() {
            let vcs = self.config.vcs;
            self.vc = (1..=vcs).map(|n| (self.vc + n) % vcs).find(|&vc| self.credits[vc] > 0)?;
            if self.answers.pop_front().is_none() {
                self.queue.pop_front();
            }
            self.leaving = Some(packet);
        } else if self.credits[self.vc] == 0 {
            return None;
        }
        let QueuedPacket { created_cycle, id: packet, target, flits } = packet;
        self.credits[self.vc] -= 1;
        let source = self.config.node;
        let is_head = self.left == 0;
        self.left += 1;
        let is_tail = self.left == flits;
        if is_tail {
            self.leaving = None;
            self.left = 0;
            self.counted.sums[0] = self.counted.sums[0].wrapping_add(digest(source, target, packet));
            self.counted.made += 1;
            if let PacketSource::Program(program) = &mut self.source {
                program.is_there(packet, cycle + 1);
            }
        }
        Some(VcFlit { created_cycle, packet, source, target, vc: self.vc as u8, is_head, is_tail, ..VcFlit::NONE })
    }

    /// Packets and answers that have not left.
    fn waiting(&self) -> usize {
        self.queue.len() + self.answers.len() + usize::from(self.leaving.is_some())
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
        self.counted.taken += 1;
        self.counted.last_cycle = cycle;
        self.counted.sums[1] = self.counted.sums[1].wrapping_add(digest(flit.source, flit.target, flit.packet));
        let came = match &mut self.source {
            PacketSource::Random(traffic) => traffic.came(flit.packet),
            PacketSource::Program(program) => {
                program.is_there(flit.packet, cycle);
                None
            }
        };
        if came == Some(Came::Request) {
            let (created_cycle, flits) = (flit.created_cycle, self.config.answer_flits);
            let answer = QueuedPacket { created_cycle, id: flit.packet, target: flit.source, flits };
            self.answers.push_back(answer);
            self.count_offered(answer);
            return;
        }
        let at = Stamp { t_fs: cx.now().as_fs(), cycle };
        self.tap.record(at, RecordKind::End, flit.packet, 0, || Body::None);
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
        if let Some(flit) = self.next_flit(cycle) {
            beat.flit = flit;
            self.last_sent = cx.now();
        }
        let has_sent = beat.flit.vc != NO_VC;
        if beat != ChannelBeat::NONE {
            self.port.push(cx, beat);
        }
        match self.source.next_cycle() {
            _ if self.arriving.is_some() || has_sent && self.waiting() > 0 => Next::Busy,
            u64::MAX => Next::Idle,
            // With an empty hand and a full queue it waits for a credit.
            next => Next::In(next - cycle),
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        let waits = match &self.source {
            _ if self.waiting() > 0 => format!("{} packets wait to leave for want of credits", self.waiting()),
            _ if self.arriving.is_some() => "a flit is on its way through the switch of its router".to_owned(),
            PacketSource::Random(traffic) if traffic.open() > 0 => {
                format!("{} packets have no answer", traffic.open())
            }
            PacketSource::Program(program) if program.waiting() > 0 => match program.waiting() {
                1 => "1 packet of the program waits for others that have not come".to_owned(),
                waiting => format!("{waiting} packets of the program wait for others that have not come"),
            },
            _ => return Ok(()),
        };
        Err(Pending::new(waits, self.last_sent))
    }

    fn publish(&self) {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&self.counted);
        self.port.publish();
    }
}
