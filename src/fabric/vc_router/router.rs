//! The router: one module, whose state lies in flat arrays by virtual channel of an input or of an output.
//!
//! Virtual channel v of port p is number p V + v of V virtual channels a port, on the input side and on the output side alike;
//! sets of them are words of 64 bits. An evaluation is one cycle:
//!
//! 1. Beats that are due bring credits and flits. A head at the front of a buffer finds its way.
//! 2. Packets that have a way and no output virtual channel ask for all free ones of their class; the allocator of virtual channels pairs
//!    them.
//! 3. Packets that had an output virtual channel before this cycle, a flit and a credit ask for the switch: of an input
//!    and an output the first virtual channel in turn. The allocator of the switch pairs inputs with outputs; each pair moves a
//!    flit, takes a credit and gives one back.
//! 4. What leaves at each port goes out as one beat.

use super::allocation::{RouterAllocator, bits, first_around};
use super::flit::{ChannelBeat, NO_VC, VcFlit, VcPort};
use super::route_table::RouteTable;
use scalepool_arbiter::ArbiterError;
use scalepool_kernel::{Cx, Module, Next, Pending, Rng, Time};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// What a router is made of.
#[derive(Debug, Clone)]
pub struct VcRouterConfig {
    /// Virtual channels of each port.
    pub vcs: usize,
    /// Flits that the buffer of a virtual channel holds, here and in whatever its outputs lead to.
    pub buffer_flits: u32,
    /// Name of both allocators.
    pub allocator: String,
    /// Cycles from the arrival of a credit to its use.
    pub credit_delay_cycles: u64,
    /// Cycles of route computation.
    pub routing_delay_cycles: u64,
    /// The ways.
    pub table: RouteTable,
}

/// What a router has counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VcRouterResult {
    /// Flits that crossed the switch.
    pub flits: u64,
    /// Cycles that packets waited for an output virtual channel.
    pub vc_wait_cycles: u64,
    /// Cycles that flits at the front of their buffers waited for a credit or the switch.
    pub switch_wait_cycles: u64,
    /// Cycles that flits spent in buffers before they left, by virtual channel.
    pub buffered_cycles: Vec<u64>,
    /// A flit came for which there was no room: where.
    pub overflow: Option<String>,
}

/// The buffer of a virtual channel, and where its packet is.
#[derive(Debug, Clone, Copy, Default)]
struct InputVc {
    head: u32,
    len: u32,
    /// First cycle in which its packet may ask for what it needs next.
    ready_cycle: u64,
    /// Output virtual channels that its packet may have.
    wanted: u64,
    /// Output virtual channel that its packet has.
    out: u8,
}

/// The module.
pub struct VcRouter {
    ports: Vec<VcPort>,
    vcs: usize,
    depth: u32,
    credit_delay: u64,
    routing_delay: u64,
    table: RouteTable,
    rng: Rng,
    /// Buffers, one after the other; with each flit the cycle in which it came.
    flits: Box<[(u64, VcFlit)]>,
    inputs: Box<[InputVc]>,
    /// Port of each virtual channel.
    port_of: Box<[u8]>,
    /// Input virtual channels whose packet has a way and no output virtual channel.
    waiting: u64,
    /// Input virtual channels whose packet has an output virtual channel.
    active: u64,
    /// Input virtual channels with a flit.
    filled: u64,
    /// Output virtual channels that no packet has.
    free: u64,
    /// Output virtual channels with a credit.
    credited: u64,
    credits: Box<[u32]>,
    /// Credits that have come and may not be used yet: cycle, output virtual channel.
    late_credits: VecDeque<(u64, u8)>,
    vc_allocator: RouterAllocator,
    switch_allocator: RouterAllocator,
    /// Requests of this cycle: of virtual channels, of ports.
    vc_requests: Box<[u64]>,
    switch_requests: Box<[u64]>,
    /// Virtual channel that asks for a pair of ports.
    candidates: Box<[u8]>,
    /// Virtual channel that is first in turn, of each input.
    turn: Box<[u8]>,
    pairs: Vec<(u8, u8)>,
    beats: Box<[ChannelBeat]>,
    counted: VcRouterResult,
    result: Arc<Mutex<VcRouterResult>>,
    /// When a flit came last.
    last_arrival: Time,
}

impl VcRouter {
    /// A router with empty buffers and all credits.
    ///
    /// # Errors
    /// No such allocator, or more than 64 virtual channels of all ports together.
    pub fn new(
        config: VcRouterConfig,
        ports: Vec<VcPort>,
        rng: Rng,
        result: Arc<Mutex<VcRouterResult>>,
    ) -> Result<VcRouter, ArbiterError> {
        let VcRouterConfig { vcs, buffer_flits, allocator, credit_delay_cycles, routing_delay_cycles, table } = config;
        let (count, lines) = (ports.len(), ports.len() * vcs);
        let vc_allocator = RouterAllocator::by_name(&allocator, lines, lines)?;
        let switch_allocator = RouterAllocator::by_name(&allocator, count, count)?;
        let all = if lines == 64 { u64::MAX } else { (1 << lines) - 1 };
        Ok(VcRouter {
            vcs,
            depth: buffer_flits,
            credit_delay: credit_delay_cycles,
            routing_delay: routing_delay_cycles,
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
            credits: vec![buffer_flits; lines].into(),
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

    /// A head at the front of a buffer: takes its way, at random where several are as good.
    #[inline]
    fn find_way(&mut self, line: usize, ready_cycle: u64) {
        let input = self.inputs[line];
        let target = self.flits[line * self.depth as usize + input.head as usize].1.target;
        let choice = self.table.to(target);
        let way = if choice.count == 1 { 0 } else { self.rng.below(u64::from(choice.count)) as usize };
        let port = usize::from(choice.first) + way;
        let from = self.port_of[line];
        let came = (from, line - usize::from(from) * self.vcs);
        self.inputs[line].wanted = self.table.vcs(choice, way, came) << (port * self.vcs);
        self.inputs[line].ready_cycle = ready_cycle;
        self.waiting |= 1 << line;
    }

    #[inline]
    fn add_credit(&mut self, line: usize) {
        self.credits[line] += 1;
        self.credited |= 1 << line;
    }

    /// Takes what is due.
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
        if len == 0 {
            self.filled |= bit;
            if self.active & bit != 0 {
                self.inputs[line].ready_cycle = cycle + behind;
            } else {
                self.find_way(line, cycle + behind + self.routing_delay);
            }
        }
    }

    /// Gives output virtual channels; `true`: there is more to do in the next cycle.
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
        // Who has one asks for the switch in the next cycle, and who has none asks again.
        asking != 0
    }

    /// Gives the switch to those that were active before; `true`: there is more to do in the next cycle.
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
                // The one that is first in turn stands for both.
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
            self.free |= 1 << out;
            self.active &= !bit;
            if !is_empty {
                self.find_way(line, cycle + 1 + self.routing_delay);
            }
        }
        flit.vc = (out - to * self.vcs) as u8;
        flit.hops = flit.hops.saturating_add(1);
        self.beats[to].flit = flit;
        // It crosses the switch in the next cycle.
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
            wake => Next::At(cx.in_cycles(wake - cycle)),
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        let full = self.credits.iter().all(|&credits| credits == self.depth);
        match self.filled {
            0 if full && self.active == 0 => Ok(()),
            0 if full => Err(Pending::new("the rest of a packet has not come", self.last_arrival)),
            0 => Err(Pending::new("credits have not come back", self.last_arrival)),
            filled => {
                let line = filled.trailing_zeros() as usize;
                let (port, vc) = (line / self.vcs, line % self.vcs);
                let wants =
                    if self.active >> line & 1 == 1 { "a credit or the switch" } else { "an output virtual channel" };
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
