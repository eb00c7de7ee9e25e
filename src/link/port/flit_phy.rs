//! The side between a CXL link end of any mode and its wire.
//!
//! Modelled: one unit per flit clock, and link training, which takes both ends down. Detail: the latency of pipelines and lanes
//! is the latency of the kernel link between two ports. Left out: the meaning of units.
//!
//! When one end starts training, it tells the other, which trains too. An end returns to Up once its retrain timer has
//! expired and the peer's Train message has arrived, so no unit from before the training is mistaken for a unit from
//! after it. A hot reset is told in the order of the wire. Left out: that the link trains with it; what was under way goes on,
//! as the component that asked for the reset discards it.
//!
//! A walk through one flit clock: training ends if its timer has expired, units that are due are taken, one unit is sent.
//!
//! The timers of CXL.io never stop by themselves. Therefore an end may be told that its agents will issue no more
//! requests; its port then informs the peer port out of band, and both sleep once the link is at rest.
//!
//! A link whose units can be used by halves has two clock edges per unit: the wire delivers a unit when its even half has
//! arrived, the odd half follows one edge later, and units leave at every second edge.

use super::end::{CxlEnd, Reports};
use super::frame::Frame;
use super::phy::{PortEnd, PortPhy};
use super::wire::{Arriving, on_wire};
use crate::hook::Direction;
use crate::line_time::{LineTimeParts, Use};
use scalepool_kernel::{Cx, Next, Time};
use scalepool_trace::Stamp;

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

impl<E: CxlEnd + Reports> PortEnd for E {
    type Item = WireItem<E::Unit>;
    type Phy = FlitPhy<E::Unit>;
}

/// Choices of the side of a CXL link end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlitPhyConfig {
    /// Duration of training \[fs\].
    pub retrain_fs: u64,
    /// Number of flit clocks from the start during which credits are held back; 0 = none.
    pub hold_credits_flits: u64,
    /// Units are used by halves: the port has two clock edges per flit clock.
    pub halves: bool,
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
struct HalfArrived<U> {
    arriving: Arriving<U>,
    whole_at: u64,
}

/// The side between a CXL link end and its wire.
pub struct FlitPhy<U> {
    retrain_fs: u64,
    training: Training,
    /// Time at which the retrain timer of the last training expires.
    trained_at: Time,
    told_over: bool,
    hold_until_flits: u64,
    /// Units are used by halves: the port has two clock edges per flit clock.
    halves: bool,
    half: Option<HalfArrived<U>>,
    /// The first flit clock that is not yet in the accounting of line time.
    accounted: u64,
}

/// An edge or a flit clock that never comes.
const NEVER: u64 = u64::MAX;

impl<U> FlitPhy<U> {
    /// The side of an end that is up.
    pub fn new(config: FlitPhyConfig) -> FlitPhy<U> {
        FlitPhy {
            retrain_fs: config.retrain_fs,
            training: Training::Over,
            trained_at: Time::ZERO,
            told_over: false,
            hold_until_flits: config.hold_credits_flits,
            halves: config.halves,
            half: None,
            accounted: 0,
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

    /// Whether a flit clock begins at an edge.
    #[inline]
    fn is_flit_edge(&self, cycle: u64) -> bool {
        !self.halves || cycle.is_multiple_of(2)
    }

    /// The edge of the next flit clock.
    #[inline]
    fn next_flit(&self, cycle: u64) -> u64 {
        self.edge(self.flits(cycle) + 1)
    }

    /// Takes the end down, starts the retrain timer and tells the peer.
    fn train<E: CxlEnd<Unit = U> + Reports>(&mut self, frame: &mut Frame<E>, cx: &mut Cx, peer: bool) {
        frame.end.phy_down();
        frame.wire_out.push(cx, WireItem::Train);
        self.training = if peer { Training::Both } else { Training::Alone };
        self.trained_at = cx.now().plus_fs(self.retrain_fs);
        // Trainings without progress are counted while work waits at this end, so the number of trainings is bounded.
        if !frame.end.is_done() {
            cx.waits_until(self.trained_at);
        }
        self.accounted = self.accounted.max(self.flits_from(cx.cycle()));
        frame.down_since = Some(cx.now());
    }

    /// Handles the peer's Train message: a reply to the Train message of this end, or a training that the peer started
    /// itself, possibly directly after one that it has finished.
    fn peer_trains<E: CxlEnd<Unit = U> + Reports>(&mut self, frame: &mut Frame<E>, cx: &mut Cx) {
        match self.training {
            Training::Alone => self.training = Training::Both,
            Training::Over | Training::Both => self.train(frame, cx, true),
        }
    }

    fn trained<E: CxlEnd<Unit = U> + Reports>(&mut self, frame: &mut Frame<E>, cx: &Cx) {
        if self.training == Training::Both && cx.now() >= self.trained_at {
            self.training = Training::Over;
            frame.end.phy_up();
            let now_flits = self.flits_from(cx.cycle());
            let flits = now_flits.saturating_sub(self.accounted);
            frame.account(flits, &LineTimeParts::all(Use::Replay));
            self.accounted = self.accounted.max(now_flits);
            frame.down_since = None;
        }
    }

    /// Completes a half unit before the next item. Units never overlap, but a duplicate follows its original
    /// immediately.
    fn rest_of_half<E: CxlEnd<Unit = U> + Reports>(&mut self, frame: &mut Frame<E>, at: Stamp) {
        if self.half.is_some() {
            self.whole_half(frame, at);
        }
    }

    #[inline(never)]
    fn whole_half<E: CxlEnd<Unit = U> + Reports>(&mut self, frame: &mut Frame<E>, at: Stamp) {
        if let Some(mut half) = self.half.take() {
            self.unit(frame, &mut half.arriving, at);
        }
    }

    /// Whether a unit is taken as it comes: no hook looks at it, and it is not used by halves.
    fn takes_whole<E: CxlEnd<Unit = U>>(&self, end: &E) -> bool {
        !self.halves && !end.hooks().looks_at_wire(Direction::Rx)
    }

    #[inline(never)]
    fn arrival<E: CxlEnd<Unit = U> + Reports>(&mut self, frame: &mut Frame<E>, mut arriving: Arriving<U>, at: Stamp) {
        if !self.halves {
            self.unit(frame, &mut arriving, at);
            return;
        }
        self.rest_of_half(frame, at);
        frame.end.receive_even(&arriving.unit, self.flits(at.cycle));
        frame.taken(at);
        frame.report(arriving.damaged, at);
        self.half = Some(HalfArrived { arriving, whole_at: at.cycle + 1 });
    }

    /// Takes a unit that has arrived completely.
    #[inline]
    fn unit<E: CxlEnd<Unit = U> + Reports>(&self, frame: &mut Frame<E>, arriving: &mut Arriving<U>, at: Stamp) {
        let Arriving { unit, damaged, behind_hidden } = arriving;
        if *behind_hidden {
            frame.end.hidden_fault();
        }
        frame.takes_in(unit, *damaged, self.flits(at.cycle), at);
    }

    fn send<E: CxlEnd<Unit = U> + Reports>(&mut self, frame: &mut Frame<E>, cx: &mut Cx, at: Stamp) {
        let now_flits = self.flits(at.cycle);
        self.accounted = now_flits + 1;
        if let Some(unit) = frame.transmit(now_flits) {
            let expects = frame.end.expects();
            frame.leaves(unit, |wire_out, arriving| wire_out.push(cx, WireItem::Unit { arriving, expects }));
            frame.report_wire(at);
        }
        frame.report(false, at);
        if frame.end.take_retrain_request() {
            self.train(frame, cx, false);
        }
        frame.judge(cx, E::is_done, at);
    }
}

impl<E: CxlEnd + Reports> PortPhy<E> for FlitPhy<E::Unit> {
    fn begins(&mut self, frame: &mut Frame<E>, cx: &mut Cx, at: Stamp) {
        let now_flits = self.flits(at.cycle);
        frame.begins(now_flits, at);
        frame.pass_time(now_flits);
        self.trained(frame, cx);
        frame.end.hold_credits(now_flits < self.hold_until_flits);
        if self.half.as_ref().is_some_and(|half| half.whole_at <= at.cycle) {
            self.whole_half(frame, at);
        }
    }

    #[inline]
    fn arrives(&mut self, frame: &mut Frame<E>, mut item: WireItem<E::Unit>, cx: &mut Cx, at: Stamp) {
        self.rest_of_half(frame, at);
        match item {
            WireItem::Train => self.peer_trains(frame, cx),
            WireItem::HotReset => frame.end.peer_resets(),
            WireItem::Over => frame.end.peer_is_over(),
            // Nearly every unit is taken where it lies.
            WireItem::Unit { ref mut arriving, expects } if self.takes_whole(&frame.end) => {
                frame.end.peer_expects(expects);
                self.unit(frame, arriving, at);
            }
            WireItem::Unit { arriving, expects } => {
                frame.end.peer_expects(expects);
                let Arriving { unit, damaged, mut behind_hidden } = arriving;
                let units = on_wire(frame.end.hooks(), Direction::Rx, frame.end.protocol(), unit);
                for (unit, hooked) in units {
                    let behind_hidden = std::mem::take(&mut behind_hidden);
                    self.arrival(frame, Arriving { unit, damaged: damaged || hooked, behind_hidden }, at);
                }
            }
        }
    }

    fn arrived(&mut self, frame: &mut Frame<E>, cx: &mut Cx) {
        self.trained(frame, cx);
    }

    fn fetches(&self, at: Stamp) -> bool {
        self.is_flit_edge(at.cycle)
    }

    fn sends(&mut self, frame: &mut Frame<E>, cx: &mut Cx, at: Stamp) {
        if self.is_flit_edge(at.cycle) {
            if frame.end.take_hot_reset() {
                frame.wire_out.push(cx, WireItem::HotReset);
            }
            if self.training == Training::Over {
                self.send(frame, cx, at);
            }
        }
        if frame.end.tells_over() && !std::mem::replace(&mut self.told_over, true) {
            frame.wire_out.push(cx, WireItem::Over);
        }
    }

    fn next(&self, end: &E, cx: &Cx, at: Stamp, is_due: impl FnOnce(&Cx) -> bool) -> Next {
        let now_flits = self.flits(at.cycle);
        let half_at = self.half.as_ref().map_or(NEVER, |half| half.whole_at);
        // Items that arrived between two flit clocks, or that still wait behind those sent in this flit, are fetched at
        // the next flit clock.
        let is_due = is_due(cx);
        let is_training = self.training != Training::Over;
        // While the link trains no unit leaves the end, so items that had no room stay in their channels.
        let has_room = !(is_training && self.is_flit_edge(at.cycle));
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
        let mut wakes_at = end.wakes_at(now_flits).unwrap_or(NEVER);
        if now_flits < self.hold_until_flits {
            wakes_at = wakes_at.min(self.hold_until_flits);
        }
        match self.edge(wakes_at).max(self.next_flit(at.cycle)).min(own) {
            NEVER => Next::Idle,
            cycle if cycle <= at.cycle + 1 => Next::Busy,
            cycle => Next::In(cycle - at.cycle),
        }
    }

    fn is_up(&self, _: &E) -> bool {
        self.training == Training::Over
    }
}
