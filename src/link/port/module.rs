//! A CXL link end of any mode as a module of the kernel.
//!
//! Modelled: one unit per flit clock, wire faults behind the transmitter, and link training, which takes both ends down.
//! Detail: the latency of pipelines and lanes is the latency of the kernel link between two ports. Left out: the meaning
//! of units and items. Agents exchange items (messages or TLPs) with a port and have no knowledge of flits. A link with
//! CXL.io and CXL.cachemem has one agent for each.
//!
//! When one end starts training, it tells the other, which trains too. An end returns to Up once its retrain timer has
//! expired and the peer's Train message has arrived, so no unit from before the training is mistaken for a unit from
//! after it. A hot reset is told in the order of the wire. Left out: that the link trains with it; what was under way goes on,
//! as the component that asked for the reset discards it.
//!
//! A walk through one flit clock: training ends if its timer has expired. Units that are due on the wire are received,
//! and their events are recorded. Received items go to their agents as far as the channels have room, which frees the
//! receive buffers. Items of the agents move into the end. One unit is sent.
//!
//! The timers of CXL.io never stop by themselves. Therefore an end may be told that its agents will issue no more
//! requests; its port then informs the peer port out of band, and both sleep once the link is at rest.
//!
//! A link whose units can be used by halves has two clock edges per unit: the wire delivers a unit when its even half has
//! arrived, the odd half follows one edge later, and units leave at every second edge.

use super::agent::PortAgent;
use super::end::{CxlEnd, Reports};
use super::frame::{Frame, FrameConfig, PortResult};
use super::wire::{Arriving, on_wire};
use crate::fault::FaultyWire;
use crate::hook::Direction;
use crate::line_time::{LineTimeParts, Use};
use scalepool_kernel::{Cx, LinkIn, LinkOut, Module, Next, Pending, Time};
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Stamp, Tap};
use std::sync::{Arc, Mutex};

/// An item that travels between two ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireItem<U> {
    /// A unit.
    Unit {
        /// The unit as it arrives.
        arriving: Arriving<U>,
        /// The sequence number that the sender expects next, see [`CxlEnd::expects`].
        expects: u8,
    },
    /// The sender starts training. Units behind this item belong to the link after the training.
    Train,
    /// The component of the sender's end asserts a hot reset.
    HotReset,
    /// The agents of the sender's end have finished. This item is out of band and does not exist on a real link.
    Over,
}

/// Channel ends, wire ends and taps of a port.
pub struct Ports<E: CxlEnd> {
    /// Channels of the agents.
    pub agents: Vec<Box<dyn PortAgent<E>>>,
    /// Wire to the peer.
    pub wire_out: LinkOut<WireItem<E::Unit>>,
    /// Wire from the peer.
    pub wire_in: LinkIn<WireItem<E::Unit>>,
    /// Trace tap of received units.
    pub flits: Tap,
    /// Trace tap of the signals of the link layer.
    pub signals: Tap,
}

/// Configuration of a port.
pub struct PortConfig<E> {
    /// The link end.
    pub end: E,
    /// Injected faults of the transmitter.
    pub wire: FaultyWire,
    /// Direction of received units, as traces show it.
    pub dir: &'static str,
    /// Duration of training \[fs\].
    pub retrain_fs: u64,
    /// Number of flit clocks from the start during which credits are held back; 0 = none.
    pub hold_credits_flits: u64,
    /// Units are used by halves: the port has two clock edges per flit clock.
    pub halves: bool,
    /// Number of trainings and replays without progress after which the run ends, see
    /// [`LinkEnd::fruitless`](super::LinkEnd::fruitless).
    pub give_up: u32,
}

/// State of link training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Training {
    /// The link is up.
    Over,
    /// This end is training; the peer's Train message has not arrived.
    Alone,
    /// Both ends are training.
    Both,
}

/// A unit whose even half has been taken; its odd half arrives at the edge `whole_at`.
struct Half<U> {
    arriving: Arriving<U>,
    whole_at: u64,
}

/// A CXL link end as a module of the kernel.
pub struct LinkEndPort<E: CxlEnd + Reports> {
    frame: Frame<E, E::Report>,
    agents: Vec<Box<dyn PortAgent<E>>>,
    wire_out: LinkOut<WireItem<E::Unit>>,
    wire_in: LinkIn<WireItem<E::Unit>>,
    retrain_fs: u64,
    training: Training,
    /// Time at which the retrain timer of the last training expires.
    trained_at: Time,
    told_over: bool,
    hold_until_flits: u64,
    /// Units are used by halves: the port has two clock edges per flit clock.
    halves: bool,
    half: Option<Half<E::Unit>>,
    /// The first flit clock that is not yet in the accounting of line time.
    accounted: u64,
    /// Rules that items of the agents would break; empty between two calls.
    refused: Vec<Violation>,
}

/// An edge or a flit clock that never comes.
const NEVER: u64 = u64::MAX;

impl<E: CxlEnd + Reports> LinkEndPort<E> {
    /// Makes a port. Broken rules appear in `result` as they are detected, the report of the end when the port
    /// publishes.
    pub fn new(config: PortConfig<E>, ports: Ports<E>, result: Arc<Mutex<PortResult<E::Report>>>) -> LinkEndPort<E> {
        let PortConfig { end, wire, dir, retrain_fs, hold_credits_flits, halves, give_up } = config;
        let Ports { agents, wire_out, wire_in, flits, signals } = ports;
        LinkEndPort {
            frame: Frame::new(FrameConfig { end, wire, dir, give_up, flits, signals }, result),
            agents,
            wire_out,
            wire_in,
            retrain_fs,
            training: Training::Over,
            trained_at: Time::ZERO,
            told_over: false,
            hold_until_flits: hold_credits_flits,
            halves,
            half: None,
            accounted: 0,
            refused: Vec::new(),
        }
    }

    /// The flit clock of an edge. A division by a number that is known when it is compiled is a shift.
    #[inline]
    fn flits(&self, cycle: u64) -> u64 {
        if self.halves { cycle / 2 } else { cycle }
    }

    /// The first flit clock that does not begin before an edge.
    fn flits_from(&self, cycle: u64) -> u64 {
        if self.halves { cycle.div_ceil(2) } else { cycle }
    }

    /// The edge at which a flit clock begins.
    #[inline]
    fn edge(&self, flits: u64) -> u64 {
        if self.halves { flits.saturating_mul(2) } else { flits }
    }

    /// Takes the end down, starts the retrain timer and tells the peer.
    fn train(&mut self, cx: &mut Cx, peer: bool) {
        self.frame.end.phy_down();
        self.wire_out.push(cx, WireItem::Train);
        self.training = if peer { Training::Both } else { Training::Alone };
        self.trained_at = cx.now().plus_fs(self.retrain_fs);
        // Trainings without progress are counted while work waits at this end, so the number of trainings is bounded.
        if !self.frame.end.is_done() {
            cx.waits_until(self.trained_at);
        }
        self.accounted = self.accounted.max(self.flits_from(cx.cycle()));
        self.frame.down_since = Some(cx.now());
    }

    /// Handles the peer's Train message: a reply to the Train message of this end, or a training that the peer started
    /// itself, possibly directly after one that it has finished.
    fn peer_trains(&mut self, cx: &mut Cx) {
        match self.training {
            Training::Alone => self.training = Training::Both,
            Training::Over | Training::Both => self.train(cx, true),
        }
    }

    fn trained(&mut self, cx: &Cx) {
        if self.training == Training::Both && cx.now() >= self.trained_at {
            self.training = Training::Over;
            self.frame.end.phy_up();
            let now_flits = self.flits_from(cx.cycle());
            let flits = now_flits.saturating_sub(self.accounted);
            self.frame.account(flits, &LineTimeParts::all(Use::Replay));
            self.accounted = self.accounted.max(now_flits);
            self.frame.down_since = None;
        }
    }

    fn arrivals(&mut self, cx: &mut Cx, at: Stamp) {
        if let Some(mut half) = self.half.take_if(|half| half.whole_at <= at.cycle) {
            self.unit(&mut half.arriving, at);
        }
        while let Some(mut item) = self.wire_in.pop(cx) {
            self.rest_of_half(at);
            match item {
                WireItem::Train => self.peer_trains(cx),
                WireItem::HotReset => self.frame.end.peer_resets(),
                WireItem::Over => self.frame.end.peer_is_over(),
                // Nearly every unit is taken where it lies.
                WireItem::Unit { ref mut arriving, expects } if self.takes_whole() => {
                    self.frame.end.peer_expects(expects);
                    self.unit(arriving, at);
                }
                WireItem::Unit { arriving, expects } => {
                    self.frame.end.peer_expects(expects);
                    let Arriving { unit, damaged, mut behind_hidden } = arriving;
                    let end = &self.frame.end;
                    for (unit, hooked) in on_wire(end.hooks(), Direction::Rx, end.protocol(), unit) {
                        let behind_hidden = std::mem::take(&mut behind_hidden);
                        self.arrival(Arriving { unit, damaged: damaged || hooked, behind_hidden }, at);
                    }
                }
            }
        }
    }

    /// Completes a half unit before the next item. Units never overlap, but a duplicate follows its original
    /// immediately.
    fn rest_of_half(&mut self, at: Stamp) {
        if let Some(mut half) = self.half.take() {
            self.unit(&mut half.arriving, at);
        }
    }

    /// Whether a unit is taken as it comes: no hook looks at it, and it is not used by halves.
    fn takes_whole(&self) -> bool {
        !self.halves && !self.frame.end.hooks().looks_at_wire(Direction::Rx)
    }

    fn arrival(&mut self, mut arriving: Arriving<E::Unit>, at: Stamp) {
        if !self.halves {
            self.unit(&mut arriving, at);
            return;
        }
        self.rest_of_half(at);
        self.frame.end.receive_even(&arriving.unit, self.flits(at.cycle));
        self.frame.taken(at);
        self.frame.report(arriving.damaged, at);
        self.half = Some(Half { arriving, whole_at: at.cycle + 1 });
    }

    /// Takes a unit that has arrived completely.
    fn unit(&mut self, Arriving { unit, damaged, behind_hidden }: &mut Arriving<E::Unit>, at: Stamp) {
        if *behind_hidden {
            self.frame.end.hidden_fault();
        }
        self.frame.takes_in(unit, *damaged, self.flits(at.cycle), at);
    }

    fn deliver(&mut self, cx: &mut Cx) {
        for agent in &mut self.agents {
            agent.deliver(&mut self.frame.end, cx);
        }
    }

    fn fetch(&mut self, cx: &mut Cx, at: Stamp) {
        for agent in &mut self.agents {
            agent.fetch(&mut self.frame.end, cx, &mut self.refused);
        }
        if !self.refused.is_empty() {
            self.refused.drain(..).for_each(|violation| self.frame.broken(violation, at));
        }
    }

    fn send(&mut self, cx: &mut Cx, at: Stamp) {
        let now_flits = self.flits(at.cycle);
        self.accounted = now_flits + 1;
        if let Some(unit) = self.frame.transmit(now_flits) {
            let (expects, wire_out) = (self.frame.end.expects(), &mut self.wire_out);
            self.frame.leaves(unit, |arriving| wire_out.push(cx, WireItem::Unit { arriving, expects }));
            self.frame.report_wire(at);
        }
        self.frame.report(false, at);
        if self.frame.end.take_retrain_request() {
            self.train(cx, false);
        }
        self.frame.judge(cx, E::is_done, at);
    }

    /// The edge of the next flit clock.
    #[inline]
    fn next_flit(&self, cycle: u64) -> u64 {
        self.edge(self.flits(cycle) + 1)
    }
}

impl<E: CxlEnd + Reports> Module for LinkEndPort<E> {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        let now_flits = self.flits(at.cycle);
        self.frame.begins(now_flits, at);
        self.frame.pass_time(now_flits);
        self.trained(cx);
        self.frame.end.hold_credits(now_flits < self.hold_until_flits);
        self.arrivals(cx, at);
        self.trained(cx);
        self.deliver(cx);
        let is_flit_edge = self.edge(now_flits) == at.cycle;
        if is_flit_edge {
            self.fetch(cx, at);
            if self.frame.end.take_hot_reset() {
                self.wire_out.push(cx, WireItem::HotReset);
            }
            if self.training == Training::Over {
                self.send(cx, at);
            }
        }
        self.frame.show(at);
        if self.frame.end.tells_over() && !std::mem::replace(&mut self.told_over, true) {
            self.wire_out.push(cx, WireItem::Over);
        }
        let busy = !self.frame.end.is_quiet();
        self.frame.is_busy(busy, cx.now());
        let half_at = self.half.as_ref().map_or(NEVER, |half| half.whole_at);
        // Items that arrived between two flit clocks, or that still wait behind those sent in this flit, are fetched at
        // the next flit clock.
        let is_due = self.agents.iter().any(|agent| agent.is_due(cx));
        let is_training = self.training != Training::Over;
        // While the link trains no unit leaves the end, so items that had no room stay in their channels.
        let has_room = !(is_training && is_flit_edge);
        let fetch_at = if is_due && has_room { self.next_flit(at.cycle) } else { NEVER };
        let own = half_at.min(fetch_at);
        if is_training {
            // Until the peer's Train message arrives there is nothing to do, and its arrival wakes the module.
            let over = if self.trained_at > cx.now() { self.trained_at } else { Time::MAX };
            let own = if own == NEVER { Time::MAX } else { cx.in_cycles(own - at.cycle) };
            return match own.min(over) {
                Time::MAX => Next::Idle,
                time => Next::At(time),
            };
        }
        let mut wakes_at = self.frame.end.wakes_at(now_flits).unwrap_or(NEVER);
        if now_flits < self.hold_until_flits {
            wakes_at = wakes_at.min(self.hold_until_flits);
        }
        match self.edge(wakes_at).max(self.next_flit(at.cycle)).min(own) {
            NEVER => Next::Idle,
            cycle if cycle <= at.cycle + 1 => Next::Busy,
            cycle => Next::In(cycle - at.cycle),
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        self.frame.idle_ok(!self.frame.end.is_quiet())
    }

    fn publish(&self) {
        self.frame.publish(self.frame.end.report());
    }

    fn is_done(&self) -> bool {
        self.training == Training::Over && self.frame.end.is_done()
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        for (&(signal, _), value) in E::SIGNALS.iter().zip(self.frame.end.values()) {
            visit(signal, value);
        }
    }
}
