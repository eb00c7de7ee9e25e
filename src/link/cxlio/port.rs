//! What both link layers show to those above: TLPs in, TLPs out, credits, events.
//!
//! A walk through one TLP: it waits in the queues of its virtual channel, that of UIO or that of everything else, and leaves when the peer
//! has room there; the two channels take turns, so that neither waits for the other (`fabric` ORD-1).

use super::config::{IdPrefix, IoConfig, IoConfigError};
use super::flow::{FlowControl, FlowInitStep, UIO_VC};
use super::order::{self, IoOrder};
use super::queue::Queues;
use super::tlp::{IoCreditClass, IoTlp, IoTlpForm};
use crate::event::{LinkEvent, Severity, finding};
use scalepool_protocols::cxl::cxlio::dllp::{Dllp, DllpFc};
use scalepool_protocols::wire::Violation;

/// TLPs of UIO of each kind that may wait to be sent: as many as tags of 10 bits name, so that none of them is held in front of the channel,
/// where TLPs of others would wait behind it.
const UIO_QUEUE_TLPS: usize = 1 << 10;

/// Why a TLP was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// The queue of its kind is full: try again.
    #[error("the queue is full")]
    Full,
    /// It has another form than the link.
    #[error("found {found:?}, expected {expected:?}")]
    Form {
        /// Of the TLP.
        found: IoTlpForm,
        /// Of the link.
        expected: IoTlpForm,
    },
    /// The peer has advertised less than it needs.
    #[error("found {found} data credits, expected at most the {expected} that the peer has")]
    NeverFits {
        /// Data credits of the TLP.
        found: u32,
        /// Data credits that were advertised.
        expected: u32,
    },
    /// It is longer than a start token can say.
    #[error("found {found} DW, expected at most {expected}")]
    TooLong {
        /// DW of the TLP.
        found: usize,
        /// DW that fit.
        expected: usize,
    },
    /// PTH-04: an ID prefix on a link without, or none on a link with.
    #[error("found ID prefix {found:?}, expected one for {expected:?}")]
    Prefix {
        /// ID of the TLP.
        found: Option<u16>,
        /// What the link carries.
        expected: IdPrefix,
    },
}

/// A TLP that was not taken, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("TLP refused: {why}")]
pub struct IoRefused {
    /// The TLP, given back.
    pub tlp: IoTlp,
    /// Why.
    pub why: Why,
}

/// What could be sent of one kind now; `None`: without limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoCreditRoom {
    /// TLPs: credits of the peer that no waiting TLP will take.
    pub headers: Option<u64>,
    /// Data credits of 4 DW, likewise.
    pub data: Option<u64>,
}

/// Counters of one end, all from the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Units made, or new payload flits.
    pub flits: u64,
    /// TLPs sent, first copies, by [`IoCreditClass::index`].
    pub sent: [u64; 3],
    /// Of the TLPs sent those that left in front of others that had come before them.
    pub passed: u64,
    /// TLPs handed to the queue above, by [`IoCreditClass::index`].
    pub received: [u64; 3],
    /// DLLPs sent.
    pub dllps_sent: u64,
    /// DLLPs dropped because this link has no use for them.
    pub dllps_dropped: u64,
    /// TLPs dropped: without credit, unreadable, or with a prefix that does not belong here.
    pub dropped: u64,
    /// Of the TLPs received those with poisoned data.
    pub poisoned: u64,
    /// Parts of a flit that could not be read.
    pub unreadable: u64,
    /// Bad LCRC, bad CRC-16 or bad tokens.
    pub bad: u64,
    /// Nullified TLPs dropped.
    pub nullified: u64,
    /// TLPs that had been here.
    pub duplicates: u64,
    /// TLPs sent again.
    pub replayed: u64,
    /// Replays for a Nak or the timer.
    pub replays: u64,
    /// Acks sent.
    pub acks: u64,
    /// Naks sent.
    pub naks: u64,
    /// Acks and Naks received whose number was never sent.
    pub bad_acks: u64,
    /// Times that this end asked for training.
    pub trainings: u64,
}

/// A link layer of CXL.io, seen from above. The same for both modes; only the [`IoTlpForm`] of the TLPs differs.
pub trait IoPort {
    /// The part that both modes share.
    fn channel(&self) -> &IoChannel;
    /// The same, to be changed.
    fn channel_mut(&mut self) -> &mut IoChannel;

    /// Form of the TLPs of this link.
    fn form(&self) -> IoTlpForm {
        self.channel().form
    }

    /// Queues a TLP. It leaves when the peer has credit and its kind may go.
    ///
    /// # Errors
    /// The TLP comes back: no room, or it can never go.
    fn push(&mut self, tlp: IoTlp) -> Result<(), IoRefused> {
        self.channel_mut().push(tlp)
    }

    /// The next TLP that has come; its buffers become credits of the peer.
    fn pop(&mut self) -> Option<IoTlp> {
        self.channel_mut().pop(|_| true)
    }

    /// The next TLP of the kinds that `wanted` picks, as far as the ordering rules let it pass others. A consumer that
    /// cannot take non-posted requests goes on with the other kinds so.
    fn pop_if(&mut self, wanted: &dyn Fn(IoCreditClass) -> bool) -> Option<IoTlp> {
        self.channel_mut().pop(wanted)
    }

    /// Whether TLPs may flow: credits are known at both ends.
    fn is_up(&self) -> bool {
        self.channel().main.flow.step() == FlowInitStep::Up
    }

    /// Credits of the peer beyond those that waiting TLPs will take; none before the link is up.
    fn room(&self, kind: IoCreditClass) -> IoCreditRoom {
        self.channel().room(kind)
    }

    /// TLPs wait and none of them has credit.
    fn lacks_credit(&self) -> bool {
        let channel = self.channel();
        self.is_up() && channel.lanes().any(|lane| !lane.outgoing.is_empty()) && !channel.can_send()
    }

    /// Events since the last call.
    fn take_io_events(&mut self) -> Vec<LinkEvent> {
        std::mem::take(&mut self.channel_mut().events)
    }

    /// Counters.
    fn stats(&self) -> &Stats {
        &self.channel().stats
    }

    /// Credits of both ends in channel 0.
    fn flow(&self) -> &FlowControl {
        &self.channel().main.flow
    }

    /// Credits of both ends in the channel of UIO; `None`: the link has none.
    fn uio_flow(&self) -> Option<&FlowControl> {
        self.channel().uio.as_ref().map(|lane| &lane.flow)
    }

    /// A fault: no credits are returned while `held`.
    fn hold_credits(&mut self, held: bool) {
        self.channel_mut().lanes_mut().for_each(|lane| lane.flow.held = held);
    }
}

/// A virtual channel of one end: its queues and its credits.
#[derive(Debug, Clone)]
struct IoLane {
    flow: FlowControl,
    outgoing: Queues,
    incoming: Queues,
    /// Nothing leaves although something has to be able to, which was said.
    is_stuck: bool,
}

impl IoLane {
    fn new(flow: FlowControl, config: &IoConfig) -> IoLane {
        let [outgoing, incoming] = std::array::from_fn(|_| Queues::new(config.order));
        IoLane { flow, outgoing, incoming, is_stuck: false }
    }

    /// Whether a TLP could leave now.
    fn can_send(&self) -> bool {
        self.outgoing.next(|tlp| self.flow.may_send(tlp)).is_some()
    }

    /// The next TLP that leaves, its credits taken; how many it passes; and what is wrong with that choice.
    fn next_tlp(&mut self, order: &IoOrder) -> (Option<(IoTlp, usize)>, Option<Violation>) {
        if self.outgoing.is_empty() {
            return (None, None);
        }
        let flow = &self.flow;
        let chosen = self.outgoing.next(|tlp| flow.may_send(tlp));
        // The oldest passes nobody; who is stuck is named once.
        let is_known = chosen == Some(0) || chosen.is_none() && self.is_stuck;
        let judged = (!is_known).then(|| order::judge(order, &self.outgoing, chosen, |tlp| flow.may_send(tlp)));
        let wrong = judged.flatten();
        if wrong.is_some() {
            self.is_stuck = chosen.is_none();
        }
        let Some((n, tlp)) = chosen.and_then(|n| Some((n, self.outgoing.take(n)?))) else { return (None, wrong) };
        self.is_stuck = false;
        self.flow.sent(&tlp);
        (Some((tlp, n)), wrong)
    }

    /// Nothing waits in either direction, and every UpdateFC went.
    fn is_quiet(&self, now: u64) -> bool {
        self.flow.step() == FlowInitStep::Up
            && self.outgoing.is_empty()
            && self.incoming.is_empty()
            && (self.flow.held || !self.flow.has_dllp(now))
    }
}

/// Queues, credits and events of one end.
#[derive(Debug, Clone)]
pub struct IoChannel {
    pub(super) config: IoConfig,
    pub(super) form: IoTlpForm,
    /// Channel 0.
    main: IoLane,
    /// The channel of UIO; without it UIO takes channel 0.
    uio: Option<IoLane>,
    /// The channel of UIO sends, and is heard, first.
    is_turn_of_uio: bool,
    pub(super) stats: Stats,
    /// Flits received.
    pub(super) received: u64,
    events: Vec<LinkEvent>,
}

impl IoChannel {
    pub(super) fn new(config: IoConfig, form: IoTlpForm) -> Result<IoChannel, IoConfigError> {
        config.check()?;
        let (main, uio) = IoChannel::fresh(&config, form);
        Ok(IoChannel {
            main,
            uio,
            is_turn_of_uio: false,
            form,
            stats: Stats::default(),
            received: 0,
            config,
            events: Vec::new(),
        })
    }

    fn fresh(config: &IoConfig, form: IoTlpForm) -> (IoLane, Option<IoLane>) {
        let main = IoLane::new(FlowControl::new(config), config);
        // UIO is in flit mode alone (`cxl-io` §3.3).
        let buffers = config.uio.filter(|_| form != IoTlpForm::NonFlit);
        let of_uio = |buffers| IoLane::new(FlowControl::of_channel(UIO_VC, buffers, config), config);
        (main, buffers.map(of_uio))
    }

    /// As it was built; events stay.
    pub(super) fn reset(&mut self) {
        (self.main, self.uio) = IoChannel::fresh(&self.config, self.form);
        self.is_turn_of_uio = false;
    }

    fn lanes(&self) -> impl Iterator<Item = &IoLane> {
        [Some(&self.main), self.uio.as_ref()].into_iter().flatten()
    }

    fn lanes_mut(&mut self) -> impl Iterator<Item = &mut IoLane> {
        [Some(&mut self.main), self.uio.as_mut()].into_iter().flatten()
    }

    /// Both channels, that whose turn it is first.
    fn lanes_in_turn(&mut self) -> impl Iterator<Item = &mut IoLane> {
        let (main, uio) = (Some(&mut self.main), self.uio.as_mut());
        let in_turn = if self.is_turn_of_uio { [uio, main] } else { [main, uio] };
        in_turn.into_iter().flatten()
    }

    /// The channel that a TLP takes.
    fn lane_of(&self, tlp: &IoTlp) -> &IoLane {
        self.uio.as_ref().filter(|_| tlp.is_uio()).unwrap_or(&self.main)
    }

    /// The same, to be changed.
    fn lane_of_mut(&mut self, tlp: &IoTlp) -> &mut IoLane {
        self.uio.as_mut().filter(|_| tlp.is_uio()).unwrap_or(&mut self.main)
    }

    fn push(&mut self, tlp: IoTlp) -> Result<(), IoRefused> {
        match self.refusal(&tlp) {
            Some(why) => Err(IoRefused { tlp, why }),
            None => {
                self.lane_of_mut(&tlp).outgoing.push(tlp);
                Ok(())
            }
        }
    }

    fn refusal(&self, tlp: &IoTlp) -> Option<Why> {
        let (kind, found, dw) = (tlp.kind(), tlp.data_credits(), tlp.bytes().len() / 4);
        if tlp.form() != self.form {
            return Some(Why::Form { found: tlp.form(), expected: self.form });
        }
        // Start token and LCRC are counted in the 11 bits of the token (`cxl-io` §5).
        if self.form == IoTlpForm::NonFlit && dw + 2 > 0x7ff {
            return Some(Why::TooLong { found: dw, expected: 0x7ff - 2 });
        }
        if !self.prefix_fits(tlp) {
            return Some(Why::Prefix { found: tlp.id_prefix(), expected: self.config.id_prefix });
        }
        let lane = self.lane_of(tlp);
        let advertised = lane.flow.counters(kind).and_then(|[_, data]| data.granted().credits());
        if let Some(expected) = advertised.filter(|&most| found > most) {
            return Some(Why::NeverFits { found, expected });
        }
        let most = if lane.flow.vc() == UIO_VC { UIO_QUEUE_TLPS } else { self.config.queue_tlps[kind.index()] };
        (lane.outgoing.len(kind) >= most).then_some(Why::Full)
    }

    /// PTH-04 (`cxl-io` §3.8): an ID stands in front where the link has several devices behind it, and only there. On a
    /// hop with PBR-IDs, which only some TLPs carry, it may be missing.
    fn prefix_fits(&self, tlp: &IoTlp) -> bool {
        match (self.config.id_prefix, tlp.id_prefix()) {
            (IdPrefix::Nothing, id) => id.is_none(),
            (IdPrefix::LdId, id) => id.is_some(),
            (IdPrefix::PbrId, id) => id.is_none_or(|id| id < 1 << 12),
        }
    }

    fn pop(&mut self, wanted: impl Fn(IoCreditClass) -> bool) -> Option<IoTlp> {
        let tlp = self.lanes_in_turn().find_map(|lane| {
            let tlp = lane.incoming.pop(|tlp| wanted(tlp.kind()))?;
            lane.flow.freed(&tlp);
            Some(tlp)
        });
        self.is_turn_of_uio ^= tlp.is_some();
        tlp
    }

    fn room(&self, kind: IoCreditClass) -> IoCreditRoom {
        let lane = &self.main;
        let Some([headers, data]) = lane.flow.counters(kind).filter(|_| lane.flow.step() == FlowInitStep::Up) else {
            return IoCreditRoom { headers: Some(0), data: Some(0) };
        };
        let waiting = (lane.outgoing.len(kind) as u64, lane.outgoing.data_credits(kind));
        IoCreditRoom {
            headers: headers.left().map(|n| n.saturating_sub(waiting.0)),
            data: data.left().map(|n| n.saturating_sub(waiting.1)),
        }
    }

    /// Whether a TLP could leave now.
    pub(super) fn can_send(&self) -> bool {
        self.lanes().any(IoLane::can_send)
    }

    /// The next TLP that leaves; its credits are taken.
    pub(super) fn next_tlp(&mut self) -> Option<IoTlp> {
        let order = self.config.order;
        let mut wrong = Vec::new();
        let chosen = self.lanes_in_turn().find_map(|lane| {
            let (chosen, found) = lane.next_tlp(&order);
            wrong.extend(found);
            chosen
        });
        wrong.into_iter().for_each(|violation| self.protocol(violation));
        let (tlp, n) = chosen?;
        self.is_turn_of_uio ^= self.uio.is_some();
        self.stats.passed += u64::from(n > 0);
        self.stats.sent[tlp.kind().index()] += 1;
        Some(tlp)
    }

    /// Nothing waits in either direction, and every UpdateFC went.
    pub(super) fn is_quiet(&self, now: u64) -> bool {
        self.lanes().all(|lane| lane.is_quiet(now))
    }

    // ---- DLLPs of flow control -----------------------------------------------------------------------------------

    /// Whether a DLLP of flow control is due.
    pub(super) fn has_dllp(&self, now: u64) -> bool {
        self.lanes().any(|lane| lane.flow.has_dllp(now))
    }

    /// The next one that is due.
    pub(super) fn next_dllp(&mut self, now: u64) -> Option<Dllp> {
        self.lanes_mut().find_map(|lane| lane.flow.next_dllp(now))
    }

    /// Flit clock, later than `now`, at which a DLLP is due or a silence is too long, if nothing happens before.
    pub(super) fn flow_wakes_at(&self, now: u64) -> Option<u64> {
        self.lanes().filter_map(|lane| lane.flow.wakes_at(now)).min()
    }

    /// Hears a DLLP of flow control; one of a channel that this link does not have is dropped.
    pub(super) fn receive_flow(&mut self, dllp: &DllpFc, now: u64) -> Option<Violation> {
        let vc = dllp.vc;
        if let Some(lane) = self.lanes_mut().find(|lane| lane.flow.vc() == vc && !dllp.shared) {
            return lane.flow.receive(dllp, now);
        }
        self.stats.dllps_dropped += 1;
        None
    }

    /// Both ends count afresh from here: the link was down.
    pub(super) fn restart_clocks(&mut self, now: u64) {
        self.lanes_mut().for_each(|lane| lane.flow.restart_clocks(now));
    }

    // ---- what came -----------------------------------------------------------------------------------------------

    /// Takes the bytes of a TLP that came well.
    pub(super) fn arrived(&mut self, bytes: Vec<u8>) {
        let tlp = match IoTlp::new(self.form, bytes) {
            Ok(tlp) => tlp,
            Err(error) => {
                self.stats.dropped += 1;
                let rule = if self.form == IoTlpForm::NonFlit { "CXLIO-NFM-02" } else { "CXLIO-FMT-03" };
                self.protocol(finding(rule, error, "a whole TLP", "the received bytes are not a whole TLP"));
                return;
            }
        };
        if !self.lane_of_mut(&tlp).flow.arrived(&tlp) {
            self.stats.dropped += 1;
            let found = format!("1 header and {} data credits", tlp.data_credits());
            let [headers, data] = self.lane_of(&tlp).flow.ledgers(tlp.kind()).map(|l| l.free_credits());
            let expected = format!("at most {headers:?} and {data:?}");
            let text = format!("a TLP received although its sender has no credit for it, {:?}", tlp.kind());
            self.protocol(finding("CXLIO-FCC-01", found, expected, &text));
            return;
        }
        if !self.prefix_fits(&tlp) {
            self.stats.dropped += 1;
            self.lane_of_mut(&tlp).flow.freed(&tlp);
            let found = tlp.id_prefix().map_or("no ID prefix".to_owned(), |id| format!("ID prefix {id:#x}"));
            let expected = format!("{:?}", self.config.id_prefix);
            self.protocol(finding(
                "CXLIO-PTH-04",
                found,
                expected,
                "the ID in the local prefix 8E of a TLP is not the one of this link",
            ));
            return;
        }
        self.stats.received[tlp.kind().index()] += 1;
        self.stats.poisoned += u64::from(tlp.is_poisoned());
        self.lane_of_mut(&tlp).incoming.push(tlp);
    }

    pub(super) fn event(&mut self, severity: Severity, violation: Violation) {
        self.events.push(LinkEvent { severity, unit: self.received, violation });
    }

    pub(super) fn protocol(&mut self, violation: Violation) {
        self.event(Severity::Protocol, violation);
    }

    /// From here on both ends are silent while nothing is under way.
    pub fn rest(&mut self) {
        self.lanes_mut().for_each(|lane| lane.flow.rests = true);
    }

    /// All that was asked over the link is answered.
    pub fn settle(&mut self) {
        self.lanes_mut().for_each(|lane| lane.flow.is_settled = true);
    }

    /// What the clock alone brings.
    pub(super) fn clock(&mut self, now: u64) {
        let silent: Vec<Violation> = self.lanes_mut().filter_map(|lane| lane.flow.silence(now)).collect();
        silent.into_iter().for_each(|violation| self.protocol(violation));
    }
}
