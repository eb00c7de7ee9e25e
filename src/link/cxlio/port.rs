//! What both link layers show to those above: TLPs in, TLPs out, credits, events.

use super::config::{IdPrefix, IoConfig, IoConfigError};
use super::flow::{FlowControl, FlowInitStep};
use super::order;
use super::queue::Queues;
use super::tlp::{IoCreditClass, IoTlp, IoTlpForm};
use crate::event::{LinkEvent, Severity, finding};
use scalepool_protocols::wire::Violation;

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
        self.channel().flow.step() == FlowInitStep::Up
    }

    /// Credits of the peer beyond those that waiting TLPs will take; none before the link is up.
    fn room(&self, kind: IoCreditClass) -> IoCreditRoom {
        self.channel().room(kind)
    }

    /// TLPs wait and none of them has credit.
    fn lacks_credit(&self) -> bool {
        let channel = self.channel();
        self.is_up() && !channel.outgoing.is_empty() && !channel.can_send()
    }

    /// Events since the last call.
    fn take_io_events(&mut self) -> Vec<LinkEvent> {
        std::mem::take(&mut self.channel_mut().events)
    }

    /// Counters.
    fn stats(&self) -> &Stats {
        &self.channel().stats
    }

    /// Credits of both ends.
    fn flow(&self) -> &FlowControl {
        &self.channel().flow
    }

    /// A fault: no credits are returned while `held`.
    fn hold_credits(&mut self, held: bool) {
        self.channel_mut().flow.held = held;
    }
}

/// Queues, credits and events of one end.
#[derive(Debug, Clone)]
pub struct IoChannel {
    pub(super) config: IoConfig,
    pub(super) form: IoTlpForm,
    pub(super) flow: FlowControl,
    pub(super) stats: Stats,
    /// Flits received.
    pub(super) received: u64,
    outgoing: Queues,
    incoming: Queues,
    /// Nothing leaves although something has to be able to, which was said.
    is_stuck: bool,
    events: Vec<LinkEvent>,
}

impl IoChannel {
    pub(super) fn new(config: IoConfig, form: IoTlpForm) -> Result<IoChannel, IoConfigError> {
        config.check()?;
        Ok(IoChannel {
            flow: FlowControl::new(&config),
            form,
            stats: Stats::default(),
            received: 0,
            outgoing: Queues::new(config.order),
            incoming: Queues::new(config.order),
            is_stuck: false,
            config,
            events: Vec::new(),
        })
    }

    /// As it was built; events stay.
    pub(super) fn reset(&mut self) {
        self.flow = FlowControl::new(&self.config);
        [self.outgoing, self.incoming] = std::array::from_fn(|_| Queues::new(self.config.order));
        self.is_stuck = false;
    }

    fn push(&mut self, tlp: IoTlp) -> Result<(), IoRefused> {
        match self.refusal(&tlp) {
            Some(why) => Err(IoRefused { tlp, why }),
            None => {
                self.outgoing.push(tlp);
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
        let advertised = self.flow.counters(kind).and_then(|[_, data]| data.granted().credits());
        if let Some(expected) = advertised.filter(|&most| found > most) {
            return Some(Why::NeverFits { found, expected });
        }
        (self.outgoing.len(kind) >= self.config.queue_tlps[kind.index()]).then_some(Why::Full)
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
        let tlp = self.incoming.pop(|tlp| wanted(tlp.kind()))?;
        self.flow.freed(&tlp);
        Some(tlp)
    }

    fn room(&self, kind: IoCreditClass) -> IoCreditRoom {
        let Some([headers, data]) = self.flow.counters(kind).filter(|_| self.flow.step() == FlowInitStep::Up) else {
            return IoCreditRoom { headers: Some(0), data: Some(0) };
        };
        let waiting = (self.outgoing.len(kind) as u64, self.outgoing.data_credits(kind));
        IoCreditRoom {
            headers: headers.left().map(|n| n.saturating_sub(waiting.0)),
            data: data.left().map(|n| n.saturating_sub(waiting.1)),
        }
    }

    /// Whether a TLP could leave now.
    pub(super) fn can_send(&self) -> bool {
        self.outgoing.next(|tlp| self.flow.may_send(tlp)).is_some()
    }

    /// The next TLP that leaves; its credits are taken.
    pub(super) fn next_tlp(&mut self) -> Option<IoTlp> {
        if self.outgoing.is_empty() {
            return None;
        }
        let flow = &self.flow;
        let chosen = self.outgoing.next(|tlp| flow.may_send(tlp));
        // The oldest passes nobody; who is stuck is named once.
        let is_known = chosen == Some(0) || chosen.is_none() && self.is_stuck;
        if !is_known
            && let Some(violation) = order::judge(&self.config.order, &self.outgoing, chosen, |tlp| flow.may_send(tlp))
        {
            self.is_stuck = chosen.is_none();
            self.protocol(violation);
        }
        let tlp = self.outgoing.take(chosen?)?;
        self.is_stuck = false;
        self.stats.passed += u64::from(chosen > Some(0));
        self.flow.sent(&tlp);
        self.stats.sent[tlp.kind().index()] += 1;
        Some(tlp)
    }

    /// Nothing waits in either direction, and every UpdateFC went.
    pub(super) fn is_quiet(&self, now: u64) -> bool {
        self.flow.step() == FlowInitStep::Up
            && self.outgoing.is_empty()
            && self.incoming.is_empty()
            && (self.flow.held || !self.flow.has_dllp(now))
    }

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
        if !self.flow.arrived(&tlp) {
            self.stats.dropped += 1;
            let found = format!("1 header and {} data credits", tlp.data_credits());
            let [headers, data] = self.flow.ledgers(tlp.kind()).map(|l| l.free_credits());
            let expected = format!("at most {headers:?} and {data:?}");
            let text = format!("a TLP received although its sender has no credit for it, {:?}", tlp.kind());
            self.protocol(finding("CXLIO-FCC-01", found, expected, &text));
            return;
        }
        if !self.prefix_fits(&tlp) {
            self.stats.dropped += 1;
            self.flow.freed(&tlp);
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
        self.incoming.push(tlp);
    }

    pub(super) fn event(&mut self, severity: Severity, violation: Violation) {
        self.events.push(LinkEvent { severity, unit: self.received, violation });
    }

    pub(super) fn protocol(&mut self, violation: Violation) {
        self.event(Severity::Protocol, violation);
    }

    /// From here on both ends are silent while nothing is under way.
    pub fn rest(&mut self) {
        self.flow.rests = true;
    }

    /// What the clock alone brings.
    pub(super) fn clock(&mut self, now: u64) {
        if let Some(violation) = self.flow.silence(now) {
            self.protocol(violation);
        }
    }
}
