//! The router: one kernel module that keeps its state in flat arrays, indexed by input or output virtual channel.
//!
//! With V virtual channels per port, virtual channel v of port p has the index p V + v, on the input side and on the
//! output side alike. A set of virtual channels is a 64-bit word. One evaluation is one cycle:
//!
//! 1. Beats that are due deliver credits and flits. The route of a head flit at the front of a buffer is computed.
//! 2. Each packet that has a route but no output virtual channel requests all free output virtual channels of its class.
//!    The virtual channel allocator pairs requests with output virtual channels.
//! 3. Packets that had an output virtual channel before this cycle, a flit and a credit request the switch. If several
//!    virtual channels of one input request the same output, a round-robin choice selects one of them. The switch
//!    allocator pairs inputs with outputs; each pair moves a flit, consumes a credit downstream and returns one upstream.
//! 4. The flit and the credit that leave at a port are sent as one beat.

use super::allocation::{RouterAllocator, bits, first_around};
use super::flit::{ChannelBeat, NO_VC, VcFlit, VcPort};
use super::route_table::RouteTable;
use scalepool_arbiter::ArbiterError;
use scalepool_kernel::{Cx, Module, Next, Pending, Rng, Time};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Configuration of a router.
#[derive(Debug, Clone)]
pub struct VcRouterConfig {
    /// Virtual channels of each port.
    pub vcs: usize,
    /// Depth of the buffer of a virtual channel of this router \[flits\].
    pub buffer_flits: u32,
    /// By port, flits that a virtual channel may have under way: the depth of its buffer at the other end of the channel.
    pub credits: Vec<u32>,
    /// Name of both allocators.
    pub allocator: String,
    /// Cycles from the arrival of a credit to its use.
    pub credit_delay_cycles: u64,
    /// Cycles of route computation.
    pub routing_delay_cycles: u64,
    /// Whether a packet asks for nothing before its last flit is in the buffer, which then has to hold all of it (store-and-forward).
    pub stores_packets: bool,
    /// The routes.
    pub table: RouteTable,
}

/// Counters of a router.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VcRouterResult {
    /// Flits that crossed the switch.
    pub flits: u64,
    /// Cycles for which packets waited for an output virtual channel.
    pub vc_wait_cycles: u64,
    /// Cycles for which flits at the front of their buffers waited for a credit or for the switch.
    pub switch_wait_cycles: u64,
    /// Cycles that flits spent in buffers before they left, by virtual channel.
    pub buffered_cycles: Vec<u64>,
    /// The place at which a flit arrived for which the buffer had no room.
    pub overflow: Option<String>,
}

/// The buffer of an input virtual channel, and the state of its packet.
#[derive(Debug, Clone, Copy, Default)]
struct InputVc {
    head: u32,
    len: u32,
    /// First cycle in which the packet may make its next request.
    ready_cycle: u64,
    /// Output virtual channels that the packet may use.
    wanted: u64,
    /// Output virtual channel that the packet holds.
    out: u8,
    /// Last flits of packets in the buffer.
    tails: u32,
}

/// The kernel module of a router.
pub struct VcRouter {
    ports: Vec<VcPort>,
    vcs: usize,
    depth: u32,
    credit_delay: u64,
    routing_delay: u64,
    stores_packets: bool,
    table: RouteTable,
    rng: Rng,
    /// Buffers of all virtual channels in sequence; each flit with the cycle of its arrival.
    flits: Box<[(u64, VcFlit)]>,
    inputs: Box<[InputVc]>,
    /// Port of each virtual channel index.
    port_of: Box<[u8]>,
    /// Input virtual channels whose packet has a route but no output virtual channel.
    waiting: u64,
    /// Input virtual channels whose packet has an output virtual channel.
    active: u64,
    /// Input virtual channels with a flit.
    filled: u64,
    /// Output virtual channels that no packet holds.
    free: u64,
    /// Output virtual channels with a credit.
    credited: u64,
    credits: Box<[u32]>,
    /// By port, the credits of a virtual channel when none is in use.
    all_credits: Box<[u32]>,
    /// Packets with a route to each port whose last flit has not left.
    routed: Box<[u32]>,
    /// Credits that have arrived but must not be used yet: cycle of first use, output virtual channel.
    late_credits: VecDeque<(u64, u8)>,
    vc_allocator: RouterAllocator,
    switch_allocator: RouterAllocator,
    /// Requests of this cycle, per input virtual channel and per input port.
    vc_requests: Box<[u64]>,
    switch_requests: Box<[u64]>,
    /// For each pair of input and output port, the virtual channel that requests it.
    candidates: Box<[u8]>,
    /// Round-robin pointer over the virtual channels of each input port.
    turn: Box<[u8]>,
    pairs: Vec<(u8, u8)>,
    beats: Box<[ChannelBeat]>,
    counted: VcRouterResult,
    result: Arc<Mutex<VcRouterResult>>,
    /// Time of the last arrival of a flit.
    last_arrival: Time,
}

impl VcRouter {
    /// A router with empty buffers and all credits.
    ///
    /// # Errors
    /// The allocator is unknown, or all ports together have more than 64 virtual channels.
    pub fn new(
        config: VcRouterConfig,
        ports: Vec<VcPort>,
        rng: Rng,
        result: Arc<Mutex<VcRouterResult>>,
    ) -> Result<VcRouter, ArbiterError> {
        let VcRouterConfig {
            vcs,
            buffer_flits,
            credits: all_credits,
            allocator,
            credit_delay_cycles,
            routing_delay_cycles,
            stores_packets,
            table,
        } = config;
        let (count, lines) = (ports.len(), ports.len() * vcs);
        let vc_allocator = RouterAllocator::by_name(&allocator, lines, lines)?;
        let switch_allocator = RouterAllocator::by_name(&allocator, count, count)?;
        let all = if lines == 64 { u64::MAX } else { (1 << lines) - 1 };
        Ok(VcRouter {
            vcs,
            depth: buffer_flits,
            credit_delay: credit_delay_cycles,
            routing_delay: routing_delay_cycles,
            stores_packets,
            table,
            rng,
            flits: vec![(0, VcFlit::NONE); lines * buffer_flits as usize].into(),
            inputs: vec![InputVc::default(); lines].into(),
            port_of: (0..lines).map(|line| (line / vcs) as u8).collect(),
            waiting: 0,
            active: 0,
            filled: 0,
            free: all,
            credited: all,
            credits: all_credits.iter().flat_map(|of_port| std::iter::repeat_n(*of_port, vcs)).collect(),
            all_credits: all_credits.into(),
            routed: vec![0; count].into(),
            late_credits: VecDeque::new(),
            vc_allocator,
            switch_allocator,
            vc_requests: vec![0; lines].into(),
            switch_requests: vec![0; count].into(),
            candidates: vec![0; count * count].into(),
            turn: vec![0; count].into(),
            pairs: Vec::with_capacity(lines),
            beats: vec![ChannelBeat::NONE; count].into(),
            counted: VcRouterResult { buffered_cycles: vec![0; vcs], ..VcRouterResult::default() },
            result,
            last_arrival: Time::ZERO,
            ports,
        })
    }

    /// Computes the route of a head flit at the front of a buffer. The backlog of an output are flits whose credits have not come
    /// back, and packets that have this route already and are not through: without these, packets that come together would
    /// all take the same output. Of a packet that is half sent, its flits count and the packet as one more.
    #[inline]
    fn find_way(&mut self, line: usize, ready_cycle: u64) {
        let input = self.inputs[line];
        let (vcs, all, credits, routed) = (self.vcs, &self.all_credits, &self.credits, &self.routed);
        let backlog = |port: usize| {
            let used = |left: &u32| u64::from(all[port] - *left);
            let sent = credits[port * vcs..(port + 1) * vcs].iter().map(used).sum::<u64>();
            sent + u64::from(routed[port])
        };
        let flit = &mut self.flits[line * self.depth as usize + input.head as usize].1;
        let from = self.port_of[line];
        let came = (from, line - usize::from(from) * vcs);
        let (port, mask) = self.table.next(flit, came, &mut self.rng, backlog);
        self.routed[port] += 1;
        self.inputs[line].wanted = mask << (port * vcs);
        self.inputs[line].ready_cycle = ready_cycle;
        self.waiting |= 1 << line;
    }

    #[inline]
    fn add_credit(&mut self, line: usize) {
        self.credits[line] += 1;
        self.credited |= 1 << line;
    }

    /// Receives the credits and flits that are due.
    fn receive(&mut self, cx: &mut Cx<'_>, cycle: u64) {
        while let Some(&(due, line)) = self.late_credits.front()
            && due <= cycle
        {
            self.late_credits.pop_front();
            self.add_credit(usize::from(line));
        }
        for port in 0..self.ports.len() {
            while let Some(beat) = self.ports[port].pop(cx) {
                if beat.credit_vc != NO_VC {
                    let line = port * self.vcs + usize::from(beat.credit_vc);
                    match self.credit_delay {
                        0 => self.add_credit(line),
                        delay => self.late_credits.push_back((cycle + delay, line as u8)),
                    }
                }
                if beat.flit.vc != NO_VC {
                    self.last_arrival = cx.now();
                    let line = port * self.vcs + usize::from(beat.flit.vc);
                    self.store(line, beat.flit, cycle, u64::from(beat.flit_behind_cycles));
                }
            }
        }
    }

    fn store(&mut self, line: usize, flit: VcFlit, cycle: u64, behind: u64) {
        let bit = 1 << line;
        let InputVc { head, len, .. } = self.inputs[line];
        if len == self.depth {
            self.counted
                .overflow
                .get_or_insert_with(|| format!("virtual channel {} of port {}", flit.vc, self.port_of[line]));
            return;
        }
        let mut at = head + len;
        if at >= self.depth {
            at -= self.depth;
        }
        self.flits[line * self.depth as usize + at as usize] = (cycle + behind, flit);
        self.inputs[line].len = len + 1;
        self.inputs[line].tails += u32::from(flit.is_tail);
        self.filled |= bit;
        if self.stores_packets {
            // What is in front then is the whole packet that has come, unless another one is on its way out.
            let is_first = flit.is_tail && self.inputs[line].tails == 1 && (self.active | self.waiting) & bit == 0;
            if is_first {
                self.find_way(line, cycle + behind + self.routing_delay);
            }
        } else if len == 0 {
            if self.active & bit != 0 {
                self.inputs[line].ready_cycle = cycle + behind;
            } else {
                self.find_way(line, cycle + behind + self.routing_delay);
            }
        }
    }

    /// Allocates output virtual channels; returns `true` if there is work in the next cycle.
    fn allocate_vcs(&mut self, cycle: u64, wake: &mut u64) -> bool {
        let mut asking = 0u64;
        for line in bits(self.waiting) {
            let InputVc { ready_cycle, wanted, .. } = self.inputs[line];
            if ready_cycle > cycle {
                *wake = (*wake).min(ready_cycle);
            } else if wanted & self.free != 0 {
                self.vc_requests[line] = wanted & self.free;
                asking |= 1 << line;
            }
        }
        self.vc_allocator.allocate(asking, &self.vc_requests, &mut self.pairs);
        for &(line, out) in &self.pairs {
            let input = &mut self.inputs[usize::from(line)];
            input.out = out;
            self.counted.vc_wait_cycles += cycle - input.ready_cycle;
            input.ready_cycle = cycle + 1;
            self.waiting &= !(1 << line);
            self.active |= 1 << line;
            self.free &= !(1 << out);
        }
        // A packet that got an output virtual channel requests the switch in the next cycle; any other requests again.
        asking != 0
    }

    /// Allocates the switch among the input virtual channels that were active before this cycle. The first result is
    /// `true` if there is work in the next cycle; the second is the set of ports that moved a flit.
    fn allocate_switch(&mut self, cycle: u64, active: u64, wake: &mut u64) -> (bool, u64) {
        let mut asking = 0u64;
        let count = self.ports.len();
        for line in bits(active & self.filled) {
            let InputVc { ready_cycle, out, .. } = self.inputs[line];
            if ready_cycle > cycle {
                *wake = (*wake).min(ready_cycle);
                continue;
            }
            if self.credited >> out & 1 == 0 {
                continue;
            }
            let (from, to) = (usize::from(self.port_of[line]), usize::from(self.port_of[usize::from(out)]));
            let (pair, own) = (from * count + to, line - from * self.vcs);
            if asking >> from & 1 == 0 {
                asking |= 1 << from;
                self.switch_requests[from] = 0;
            }
            if self.switch_requests[from] >> to & 1 == 1 {
                // Of two virtual channels that request the same pair of ports, the first in round-robin order is the
                // candidate.
                let other = usize::from(self.candidates[pair]) - from * self.vcs;
                if first_around(1 << own | 1 << other, self.turn[from]) == other {
                    continue;
                }
            }
            self.switch_requests[from] |= 1 << to;
            self.candidates[pair] = line as u8;
        }
        self.switch_allocator.allocate(asking, &self.switch_requests, &mut self.pairs);
        let mut touched = 0;
        for n in 0..self.pairs.len() {
            let (from, to) = (usize::from(self.pairs[n].0), usize::from(self.pairs[n].1));
            touched |= 1 << from | 1 << to;
            self.cross(cycle, from, to);
        }
        (asking != 0, touched)
    }

    /// Moves the flit of a pair of ports.
    fn cross(&mut self, cycle: u64, from: usize, to: usize) {
        let line = usize::from(self.candidates[from * self.ports.len() + to]);
        let (own, bit) = ((line - from * self.vcs) as u8, 1u64 << line);
        let input = &mut self.inputs[line];
        let out = usize::from(input.out);
        let (came_cycle, mut flit) = self.flits[line * self.depth as usize + input.head as usize];
        self.counted.switch_wait_cycles += cycle - input.ready_cycle;
        self.counted.buffered_cycles[usize::from(own)] += cycle - came_cycle;
        input.head += 1;
        if input.head == self.depth {
            input.head = 0;
        }
        input.len -= 1;
        input.ready_cycle = cycle + 1;
        let is_empty = input.len == 0;
        self.turn[from] = if usize::from(own) + 1 == self.vcs { 0 } else { own + 1 };
        self.counted.flits += 1;
        if is_empty {
            self.filled &= !bit;
        }
        self.credits[out] -= 1;
        if self.credits[out] == 0 {
            self.credited &= !(1 << out);
        }
        if flit.is_tail {
            let input = &mut self.inputs[line];
            input.tails -= 1;
            let has_next = !is_empty && (!self.stores_packets || input.tails > 0);
            self.routed[to] -= 1;
            self.free |= 1 << out;
            self.active &= !bit;
            if has_next {
                self.find_way(line, cycle + 1 + self.routing_delay);
            }
        }
        flit.vc = (out - to * self.vcs) as u8;
        flit.hops = flit.hops.saturating_add(1);
        self.beats[to].flit = flit;
        // The flit crosses the switch in the next cycle.
        self.beats[to].flit_behind_cycles = 1;
        self.beats[from].credit_vc = own;
    }
}

impl Module for VcRouter {
    fn eval(&mut self, cx: &mut Cx<'_>) -> Next {
        let cycle = cx.cycle();
        self.receive(cx, cycle);
        let mut wake = self.late_credits.front().map_or(u64::MAX, |(due, _)| *due);
        let active = self.active;
        let mut is_busy = self.waiting != 0 && self.allocate_vcs(cycle, &mut wake);
        if active & self.filled != 0 {
            let (more, touched) = self.allocate_switch(cycle, active, &mut wake);
            is_busy |= more;
            for port in bits(touched) {
                let beat = std::mem::replace(&mut self.beats[port], ChannelBeat::NONE);
                self.ports[port].push(cx, beat);
            }
        }
        match wake {
            _ if is_busy => Next::Busy,
            u64::MAX => Next::Idle,
            wake => Next::In(wake - cycle),
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        let mut of_ports = self.credits.chunks(self.vcs).zip(&self.all_credits);
        let full = of_ports.all(|(left, all)| left.iter().all(|left| left == all));
        match self.filled {
            0 if full && self.active == 0 => Ok(()),
            0 if full => Err(Pending::new("the rest of a packet has not come", self.last_arrival)),
            0 => Err(Pending::new("credits have not come back", self.last_arrival)),
            filled => {
                let line = filled.trailing_zeros() as usize;
                let (port, vc) = (line / self.vcs, line % self.vcs);
                let is_whole = !self.stores_packets || self.inputs[line].tails > 0;
                let wants = match self.active >> line & 1 {
                    1 => "a credit or the switch",
                    _ if is_whole => "an output virtual channel",
                    _ => "the rest of its packet, for all of which the buffer has to have room",
                };
                let text = format!("a flit in virtual channel {vc} of port {port} waits for {wants}");
                Err(Pending::new(text, self.last_arrival))
            }
        }
    }

    fn publish(&self) {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&self.counted);
        self.ports.iter().for_each(VcPort::publish);
    }
}
