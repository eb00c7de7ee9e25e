//! The crossbar as a module of the kernel.
//!
//! Modelled: see [the module text](super). Detail: for each input and channel a store of so many flits, shared by its queues
//! for all outputs; a copied packet stands in it once until its last copy has left. An input sends one packet at a time, an
//! output takes one at a time, each as many flit clocks as the packet has flits, AE left out. A reduction is done where the
//! answer leaves: answers of members cross to that output and end there; the sum leaves in their place.
//!
//! A walk through one flit clock: what has come in is routed into queues, as far as the stores have room; finished sums
//! leave; free inputs whose front packets have waited the hop latency ask for free outputs with room in the channel; the
//! allocator pairs inputs with outputs; each pair sends a packet, of its channels in turn. What is done in a clock is proportional to the ports with something to do, apart from a look at each input.

use super::reduction::{NumberType, sum};
use super::routing::{Groups, NvlRoutes, NvlTarget, RemapTable};
use scalepool_arbiter::{Allocator, AllocatorKind, ArbiterError, Matching, Requests};
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending, Time};
use scalepool_link::event::{LinkEvent, Severity};
use scalepool_link::nvlink::NvlMessage;
use scalepool_link::nvlink::chain::Chain;
use scalepool_link::nvlink::port::channel_of;
use scalepool_protocols::nvlink::{Class, NvlConfig, Op};
use scalepool_protocols::wire::Violation;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

/// Requester of the reads that a switch sends for a reduction; endpoints have lower numbers. Our choice.
pub const SWITCH_RID: u16 = 0x1fe;
/// Reductions at a time: a tag for each (`nvlink` §6.1: 10 bits).
const CONTEXTS: u16 = 1 << 10;
/// Channels of a port, in the order of [`CHANNELS`](scalepool_link::nvlink::port::CHANNELS).
const VCS: usize = 3;
/// The channel of responses.
const RSP: usize = 2;
/// Flit clocks that the channels in front and behind take of the hop latency.
const CHANNEL_CYCLES: u64 = 2;
/// Grants that a request may lose in a row, in rounds of all pairs, before its input counts as starved (our choice). A request
/// that stands until it is granted loses at most one round: an output offers itself again where it was refused. An input that is
/// sending a packet of several flits asks for nothing, so the pointer of the output passes it and the round begins again: a
/// healthy switch of 5 ports was seen to need a little more than one.
const LOST_ROUNDS: usize = 4;

/// How a switch is built.
pub struct CrossbarConfig {
    /// Name, for reports.
    pub name: String,
    /// Packet in to packet out \[flit clocks\].
    pub hop_cycles: u64,
    /// Store of an input for each channel, in flits.
    pub store_flits: u32,
    /// Remap table of each input.
    pub remap: Vec<Arc<RemapTable>>,
    /// Ports of endpoints.
    pub routes: NvlRoutes,
    /// Multicast groups; none in generations that do not copy.
    pub groups: Groups,
    /// Which inputs send to which outputs.
    pub allocator: &'static AllocatorKind,
}

/// What a switch leaves behind for the report.
#[derive(Debug, Clone, Default)]
pub struct NvlSwitchResult {
    /// Messages received.
    pub received: u64,
    /// Messages sent.
    pub sent: u64,
    /// Messages more by copying.
    pub copies: u64,
    /// Answers of members that ended in a reduction.
    pub reduced: u64,
    /// Sums sent.
    pub sums: u64,
    /// Requests dropped: no entry, outside its window, or an operation that the target does not take.
    pub misses: u64,
    /// Responses dropped: no such requester.
    pub strays: u64,
    /// Packets sent, by input.
    pub by_input: Vec<u64>,
    /// Grants to others that a request has lost in a row, at most.
    pub most_lost: u64,
    /// Packets that had come and found the store of their input full.
    pub full_stalls: u64,
    /// Broken rules.
    pub broken: Vec<LinkEvent>,
    /// Evaluations in which something was received or sent.
    pub busy_cycles: u64,
    /// Messages that end in the switch and those that it sends of its own, by port and channel.
    pub own: Vec<[[Chain; 2]; VCS]>,
}

impl NvlSwitchResult {
    /// What came in or was made, and what went out or ended: equal when the switch is empty.
    pub fn balance(&self) -> (u64, u64) {
        (self.received + self.copies + self.sums, self.sent + self.reduced + self.misses + self.strays)
    }
}

/// Channel ends of a port, by channel.
pub struct CrossbarPortEnds {
    /// From the port.
    pub rx: [In<NvlMessage>; VCS],
    /// To the port.
    pub tx: [Out<NvlMessage>; VCS],
}

struct QueuedMessage {
    ready: u64,
    message: Rc<NvlMessage>,
    /// Ends in this reduction.
    context: Option<u16>,
}

struct CollectiveContext {
    rid: u16,
    tag: u16,
    /// Output to the requester.
    port: usize,
    number: Option<NumberType>,
    /// Inputs of the members, in their order, with their answers.
    members: Vec<(usize, Option<Vec<u8>>)>,
    left: usize,
    error: Option<u8>,
}

/// The module.
pub struct Crossbar {
    config: CrossbarConfig,
    codec: NvlConfig,
    ports: Vec<CrossbarPortEnds>,
    /// Queues by input, output, channel.
    queues: Vec<VecDeque<QueuedMessage>>,
    /// Outputs with something in a queue, by input and channel.
    waiting: Vec<[Requests; VCS]>,
    /// Packets for each output.
    demand: Vec<u32>,
    /// Flits in store, by input and channel.
    stored: Vec<[u32; VCS]>,
    input_free: Vec<u64>,
    output_free: Vec<u64>,
    /// The channel that goes first, by output.
    turn: Vec<usize>,
    allocator: Box<dyn Allocator>,
    /// Outputs that each input asks for in this clock, and who got which.
    requests: Vec<Requests>,
    matching: Matching,
    /// Grants lost in a row, by input and output.
    lost: Vec<u64>,
    contexts: Vec<Option<CollectiveContext>>,
    free_contexts: VecDeque<u16>,
    sums: Vec<VecDeque<NvlMessage>>,
    /// Outputs that were free and had room in this clock, by channel.
    room: [Requests; VCS],
    /// Something that has come found no room in this clock.
    refused: bool,
    /// The front packet of an input and channel has found no room.
    stalled: Vec<[bool; VCS]>,
    mine: NvlSwitchResult,
    result: Arc<Mutex<NvlSwitchResult>>,
    busy_since: Option<Time>,
}

fn flits(message: &NvlMessage) -> u32 {
    1 + u32::from(message.be.is_some()) + u32::from(message.data_flits())
}

impl Crossbar {
    /// A switch with its ports.
    ///
    /// # Errors
    /// A number of ports that an arbiter cannot have.
    pub fn new(
        config: CrossbarConfig,
        ports: Vec<CrossbarPortEnds>,
        result: Arc<Mutex<NvlSwitchResult>>,
    ) -> Result<Crossbar, ArbiterError> {
        let n = ports.len();
        Ok(Crossbar {
            codec: NvlConfig::default(),
            queues: (0..n * n * VCS).map(|_| VecDeque::new()).collect(),
            waiting: vec![[Requests::NONE; VCS]; n],
            demand: vec![0; n],
            stored: vec![[0; VCS]; n],
            input_free: vec![0; n],
            output_free: vec![0; n],
            turn: vec![0; n],
            allocator: (config.allocator.make)(n, n)?,
            requests: vec![Requests::NONE; n],
            matching: Matching::new(),
            lost: vec![0; n * n],
            contexts: (0..CONTEXTS).map(|_| None).collect(),
            free_contexts: (0..CONTEXTS).collect(),
            sums: (0..n).map(|_| VecDeque::new()).collect(),
            room: [Requests::NONE; VCS],
            refused: false,
            stalled: vec![[false; VCS]; n],
            mine: NvlSwitchResult {
                by_input: vec![0; n],
                own: vec![Default::default(); n],
                ..NvlSwitchResult::default()
            },
            result,
            busy_since: None,
            ports,
            config,
        })
    }

    fn at(&self, input: usize, output: usize, channel: usize) -> usize {
        (input * self.ports.len() + output) * VCS + channel
    }

    // ---- in ------------------------------------------------------------------------------------------------------

    fn put(
        &mut self,
        cycle: u64,
        input: usize,
        output: usize,
        channel: usize,
        message: Rc<NvlMessage>,
        context: Option<u16>,
    ) {
        let ready = cycle + self.config.hop_cycles.saturating_sub(CHANNEL_CYCLES);
        let at = self.at(input, output, channel);
        self.queues[at].push_back(QueuedMessage { ready, message, context });
        self.waiting[input][channel].insert(output);
        self.demand[output] += 1;
    }

    /// Whether there is room for a message of so many flits.
    fn admits(&self, input: usize, channel: usize, need: u32, reduces: bool) -> bool {
        let stored = self.stored[input][channel];
        let fits = stored == 0 || stored + need <= self.config.store_flits;
        fits && (!reduces || !self.free_contexts.is_empty())
    }

    fn take_in(&mut self, cx: &mut Cx, cycle: u64) {
        self.refused = false;
        for input in 0..self.ports.len() {
            for channel in 0..VCS {
                while let Some(message) = self.ports[input].rx[channel].peek(cx) {
                    let (need, reduces) = (flits(message), message.op == Op::REDUCE_READ);
                    let fits = self.admits(input, channel, need, reduces);
                    let stalled = &mut self.stalled[input][channel];
                    // A stall is one packet, however often it is looked at.
                    self.mine.full_stalls += u64::from(!fits && !*stalled);
                    *stalled = !fits;
                    if !fits {
                        self.refused = true;
                        break;
                    }
                    let Some(message) = self.ports[input].rx[channel].pop(cx) else { break };
                    self.mine.received += 1;
                    self.route(cycle, input, channel, message);
                }
            }
        }
    }

    fn route(&mut self, cycle: u64, input: usize, channel: usize, message: NvlMessage) {
        if message.op.class() == Some(Class::Response) {
            self.route_response(cycle, input, channel, message);
            return;
        }
        let remap = &self.config.remap[input];
        let target = match message.op {
            Op::FLUSH => remap.target(message.address).map(|target| (target, message.address & ((1 << 36) - 1))),
            _ => remap.remap(message.address),
        };
        let of_group = matches!(message.op, Op::MULTICAST_WRITE | Op::REDUCE_READ);
        match target {
            Some((NvlTarget::Endpoint(endpoint), address)) if !of_group => {
                if let Some(output) = self.config.routes.port(endpoint, input) {
                    self.stored[input][channel] += flits(&message);
                    self.put(cycle, input, output, channel, Rc::new(NvlMessage { address, ..message }), None);
                    return;
                }
            }
            Some((NvlTarget::Group(group), address)) if of_group => {
                let place = self.config.routes.place(input);
                if let Some(set) = self.config.groups.replicas(group, place) {
                    let set = set.to_vec();
                    self.spread(cycle, input, channel, NvlMessage { address, ..message }, &set);
                    return;
                }
            }
            _ => (),
        }
        self.mine.misses += 1;
    }

    /// To all ports of a replica set, or reads from all of them.
    fn spread(&mut self, cycle: u64, input: usize, channel: usize, message: NvlMessage, set: &[usize]) {
        let reduces = message.op == Op::REDUCE_READ;
        let message = if reduces {
            self.mine.own[input][channel][0].add(&message);
            let Some(context) = self.free_contexts.pop_front() else { return };
            let members: Vec<(usize, Option<Vec<u8>>)> = set.iter().map(|&port| (port, None)).collect();
            let (rid, tag, left) = (message.rid, message.tag, members.len());
            let number = NumberType::of(message.attr);
            let error = number.is_none().then_some(2);
            let open = CollectiveContext { rid, tag, port: input, number, members, left, error };
            self.contexts[usize::from(context)] = Some(open);
            NvlMessage { op: Op::READ, rid: SWITCH_RID, tag: context, attr: 0, ..message }
        } else {
            message
        };
        let message = Rc::new(message);
        self.stored[input][channel] += flits(&message);
        // The request itself ends here, and the copies begin.
        self.mine.copies += set.len() as u64;
        self.mine.received -= 1;
        for &output in set {
            self.put(cycle, input, output, channel, message.clone(), None);
        }
    }

    fn route_response(&mut self, cycle: u64, input: usize, channel: usize, message: NvlMessage) {
        let (output, context) = if message.rid == SWITCH_RID {
            self.mine.own[input][channel][0].add(&message);
            let context = self.contexts.get(usize::from(message.tag)).and_then(Option::as_ref);
            (context.map(|c| c.port), Some(message.tag))
        } else {
            (self.config.routes.port(message.rid, input), None)
        };
        match output {
            Some(output) => {
                self.stored[input][channel] += flits(&message);
                self.put(cycle, input, output, channel, Rc::new(message), context);
            }
            None => self.mine.strays += 1,
        }
    }

    // ---- out -----------------------------------------------------------------------------------------------------

    fn send_sums(&mut self, cx: &mut Cx, cycle: u64) {
        for output in 0..self.ports.len() {
            if self.output_free[output] > cycle
                || self.sums[output].is_empty()
                || !self.ports[output].tx[RSP].has_room(cx, 1)
            {
                continue;
            }
            let Some(message) = self.sums[output].pop_front() else { continue };
            self.output_free[output] = cycle + u64::from(flits(&message));
            self.mine.own[output][RSP][1].add(&message);
            if self.ports[output].tx[RSP].push(cx, message).is_ok() {
                self.mine.sent += 1;
            }
        }
    }

    /// The first packet of a queue, if it may go.
    fn goes(&self, cycle: u64, input: usize, output: usize, channel: usize) -> bool {
        let front = self.queues[self.at(input, output, channel)].front();
        front.is_some_and(|e| e.ready <= cycle && (e.context.is_some() || self.room[channel].contains(output)))
    }

    /// Who asks for which output: credit and time first.
    fn ask(&self, cycle: u64, free: &Requests, requests: &mut [Requests]) {
        for (input, request) in requests.iter_mut().enumerate() {
            request.clear();
            if self.input_free[input] > cycle {
                continue;
            }
            for (channel, waiting) in self.waiting[input].iter().enumerate() {
                for output in waiting.intersection(free) {
                    if !request.contains(output) && self.goes(cycle, input, output, channel) {
                        request.insert(output);
                    }
                }
            }
        }
    }

    /// Outputs that are free and that something waits for; notes which have room.
    fn look_at_outputs(&mut self, cx: &mut Cx, cycle: u64) -> Requests {
        self.room.iter_mut().for_each(Requests::clear);
        let mut free = Requests::NONE;
        for output in 0..self.ports.len() {
            if self.demand[output] > 0 && self.output_free[output] <= cycle {
                free.insert(output);
                for (channel, room) in self.room.iter_mut().enumerate() {
                    if self.ports[output].tx[channel].has_room(cx, 1) {
                        room.insert(output);
                    }
                }
            }
        }
        free
    }

    fn cross(&mut self, cx: &mut Cx, cycle: u64) {
        let free = self.look_at_outputs(cx, cycle);
        if free.is_empty() {
            return;
        }
        // Taken out, so that the crossbar can change while they are read.
        let (mut requests, mut matching) = (std::mem::take(&mut self.requests), std::mem::take(&mut self.matching));
        self.ask(cycle, &free, &mut requests);
        if !requests.iter().all(Requests::is_empty) {
            self.allocator.arbitrate(&requests, &mut matching);
            for (input, output) in matching.iter() {
                self.send(cx, cycle, input, output);
                self.count_lost(input, output, &requests);
            }
            self.allocator.update(&requests, &matching);
        }
        (self.requests, self.matching) = (requests, matching);
    }

    /// The watchdog of fairness: no request loses more grants of its output in a row than [`LOST_ROUNDS`] times the number of pairs.
    fn count_lost(&mut self, winner: usize, output: usize, requests: &[Requests]) {
        let n = self.ports.len();
        for (input, _) in requests.iter().enumerate().filter(|(_, r)| r.contains(output)) {
            let lost = &mut self.lost[input * n + output];
            *lost = if input == winner { 0 } else { *lost + 1 };
            let found = *lost;
            self.mine.most_lost = self.mine.most_lost.max(found);
            let most = LOST_ROUNDS * n * n;
            if found == most as u64 + 1 {
                let text = format!("input {input} is starved while it waits for output {output}");
                let violation = Violation::at_byte("NVL-SWI-01", 0, format!("{found} grants lost"), most, text);
                self.mine.broken.push(LinkEvent { severity: Severity::Protocol, unit: 0, violation });
            }
        }
    }

    fn send(&mut self, cx: &mut Cx, cycle: u64, input: usize, output: usize) {
        let order = (0..VCS).map(|k| (self.turn[output] + k) % VCS);
        let mut ready = order.filter(|&channel| self.goes(cycle, input, output, channel));
        let Some(channel) = ready.next() else { return };
        self.turn[output] = (channel + 1) % VCS;
        let at = self.at(input, output, channel);
        let Some(entry) = self.queues[at].pop_front() else { return };
        if self.queues[at].is_empty() {
            self.waiting[input][channel].remove(output);
        }
        self.demand[output] -= 1;
        let length = flits(&entry.message);
        self.input_free[input] = cycle + u64::from(length);
        self.output_free[output] = cycle + u64::from(length);
        self.mine.by_input[input] += 1;
        let message = match Rc::try_unwrap(entry.message) {
            Ok(last) => {
                self.stored[input][channel] -= length;
                last
            }
            Err(shared) => (*shared).clone(),
        };
        match entry.context {
            Some(context) => self.reduce(context, input, message),
            None => {
                if message.rid == SWITCH_RID {
                    self.mine.own[output][channel][1].add(&message);
                }
                // There was room when the output was asked for.
                if self.ports[output].tx[channel_of(message.vc)].push(cx, message).is_ok() {
                    self.mine.sent += 1;
                }
            }
        }
    }

    fn reduce(&mut self, id: u16, input: usize, message: NvlMessage) {
        self.mine.reduced += 1;
        let Some(context) = self.contexts[usize::from(id)].as_mut() else { return };
        let Some(member) = context.members.iter_mut().find(|(port, data)| *port == input && data.is_none()) else {
            return;
        };
        if message.op == Op::RSP_ERROR {
            context.error = Some(message.size);
        }
        member.1 = Some(message.data);
        context.left -= 1;
        if context.left > 0 {
            return;
        }
        let Some(context) = self.contexts[usize::from(id)].take() else { return };
        self.free_contexts.push_back(id);
        let (rid, tag) = (context.rid, context.tag);
        let answer = match (context.number, context.error) {
            (Some(number), None) => {
                let terms: Vec<&[u8]> = context.members.iter().filter_map(|(_, data)| data.as_deref()).collect();
                NvlMessage { rid, tag, data: sum(number, &terms), ..NvlMessage::new(Op::RSP_DATA, &self.codec) }
            }
            (_, error) => {
                NvlMessage { rid, tag, size: error.unwrap_or(0), ..NvlMessage::new(Op::RSP_ERROR, &self.codec) }
            }
        };
        self.mine.sums += 1;
        self.sums[context.port].push_back(answer);
    }

    /// The next cycle at which something may happen without anybody telling; it may be too early.
    fn wakes_at(&self, cycle: u64) -> Option<u64> {
        let of_sums = self.sums.iter().zip(&self.output_free);
        let sums = of_sums.filter(|(sums, free)| !sums.is_empty() && **free > cycle).map(|(_, free)| *free).min();
        let mut next = sums.unwrap_or(u64::MAX);
        for (input, waiting) in self.waiting.iter().enumerate() {
            if waiting.iter().all(Requests::is_empty) {
                continue;
            }
            if self.input_free[input] > cycle {
                next = next.min(self.input_free[input]);
                continue;
            }
            for (channel, waiting) in waiting.iter().enumerate() {
                for output in waiting.iter() {
                    if next == cycle + 1 {
                        return Some(next);
                    }
                    let Some(front) = self.queues[self.at(input, output, channel)].front() else { continue };
                    let due = front.ready.max(self.output_free[output]);
                    let room = front.context.is_some() || self.room[channel].contains(output);
                    if due > cycle {
                        next = next.min(due);
                    } else if room {
                        // The output had picked an input that picked another one.
                        next = cycle + 1;
                    }
                    // Without room its channel wakes us.
                }
            }
        }
        (next < u64::MAX).then_some(next)
    }

    fn held(&self) -> usize {
        self.demand.iter().map(|&d| d as usize).sum::<usize>() + self.sums.iter().map(VecDeque::len).sum::<usize>()
    }
}

impl Module for Crossbar {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let cycle = cx.cycle();
        let before = (self.mine.received, self.mine.sent, self.mine.reduced, self.mine.copies);
        self.take_in(cx, cycle);
        self.send_sums(cx, cycle);
        self.cross(cx, cycle);
        let after = (self.mine.received, self.mine.sent, self.mine.reduced, self.mine.copies);
        self.mine.busy_cycles += u64::from(before != after);
        let empty = self.held() == 0;
        self.busy_since = if empty { None } else { self.busy_since.or(Some(cx.now())) };
        let (_, sent, reduced, _) = before;
        if self.refused && (self.mine.sent, self.mine.reduced) != (sent, reduced) {
            return Next::Busy;
        }
        match self.wakes_at(cycle) {
            Some(due) => Next::In(due - cycle),
            None => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        let since = self.busy_since.unwrap_or(Time::ZERO);
        let contexts = self.contexts.iter().flatten().count();
        if self.held() + contexts > 0 {
            return Err(Pending::new(format!("{} packets, {contexts} reductions under way", self.held()), since));
        }
        let (into, out) = self.mine.balance();
        if into != out {
            return Err(Pending::new(format!("{into} messages in and made, {out} out and ended"), since));
        }
        Ok(())
    }

    fn publish(&self) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = self.mine.clone();
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("held", self.held() as u64);
    }
}
