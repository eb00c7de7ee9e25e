//! A UALink [`UalEnd`] as ports and pairs drive it: its signals, what it repairs by itself, its open work.

use super::client::Client;
use super::end::{OnLine, PROTOCOL, UalEnd};
use super::state::{Fault, State};
use crate::event::{LinkEvent, Severity};
use crate::fault::WireUnit;
use crate::health::liveness::{LinkWait, WaitKind};
use crate::health::{LinkHealth, figures};
use crate::hook::{Direction, Hooks};
use crate::line_time::LineTimeParts;
use crate::port::LinkEnd;
use scalepool_forms::FormError;
use scalepool_kernel::Rng;
use std::sync::Arc;

/// Control flits have no bytes on a wire of the model: they stand in the place of a flit. A flit may go without them.
impl WireUnit for OnLine {
    fn bytes(&self) -> &[u8] {
        match self {
            OnLine::Flit(flit) => flit.bytes(),
            OnLine::Content(..) | OnLine::Idle | OnLine::RemoteFault => &[],
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            OnLine::Flit(flit) => Arc::make_mut(flit).bytes_mut(),
            OnLine::Content(..) | OnLine::Idle | OnLine::RemoteFault => &mut [],
        }
    }

    fn make_noise(&mut self, rng: &mut Rng) {
        if let OnLine::Flit(flit) = self {
            Arc::make_mut(flit).make_noise(rng);
        }
    }

    fn make_bad(&mut self, rng: &mut Rng) {
        if let OnLine::Flit(flit) = self {
            Arc::make_mut(flit).make_bad(rng);
        }
    }

    fn deceives(&self, sent: &OnLine) -> bool {
        matches!((self, sent), (OnLine::Flit(flit), OnLine::Flit(sent)) if flit.deceives(sent))
    }
}

impl<C: Client> UalEnd<C> {
    /// Places of its states in [`states::UALINK`].
    fn health_states(&self) -> [usize; 2] {
        [self.state() as usize, self.replay().health_state()]
    }
}

impl<C: Client + Send + 'static> LinkEnd for UalEnd<C> {
    type Unit = OnLine;

    const SIGNALS: &'static [(&'static str, u32)] = &[
        ("state", 2),
        ("requests_waiting", 16),
        ("responses_waiting", 16),
        ("credits", 16),
        ("credits_due", 16),
        ("carry_sectors", 4),
    ];

    const FILLS: bool = true;

    const MOST_FINDINGS: usize = 100;

    fn protocol(&self) -> &'static str {
        PROTOCOL
    }

    fn unit(&self, bytes: &[u8]) -> Result<OnLine, FormError> {
        OnLine::from_bytes(bytes)
    }

    fn receive(&mut self, unit: &OnLine, now_flits: u64) {
        let before = self.replay().last_taken();
        UalEnd::receive(self, unit, now_flits);
        let (number, is_up) = (self.replay().last_taken(), self.state() == State::Up);
        if let (OnLine::Flit(flit), Some(taken)) = (unit, &mut self.taken)
            && number != before
            && is_up
        {
            taken.push((number, flit.clone()));
        }
    }

    fn take_in(&mut self, unit: &mut OnLine, now_flits: u64) {
        match unit {
            OnLine::Content(..) => UalEnd::take_in(self, unit, now_flits),
            unit => LinkEnd::receive(self, unit, now_flits),
        }
    }

    fn keep_payload(&mut self) {
        self.taken.get_or_insert_default();
    }

    fn take_payload(&mut self, each: &mut dyn FnMut(u16, &[u8])) {
        for (number, flit) in self.taken.iter_mut().flat_map(|taken| taken.drain(..)) {
            each(number, &flit.0);
        }
    }

    fn transmit(&mut self, now_flits: u64) -> Option<OnLine> {
        Some(UalEnd::transmit(self, now_flits))
    }

    fn uses(&self) -> LineTimeParts {
        UalEnd::uses(self)
    }

    fn fruitless(&self) -> u32 {
        UalEnd::fruitless(self)
    }

    fn phy_down(&mut self) {
        self.line_fault(Some(Fault::Local));
    }

    fn phy_up(&mut self) {
        self.line_fault(None);
    }

    fn attach_hooks(&mut self, hooks: &Hooks) {
        UalEnd::attach_hooks(self, hooks);
    }

    fn hooks(&self) -> &Hooks {
        UalEnd::hooks(self)
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        UalEnd::take_events(self)
    }

    fn has_events(&self) -> bool {
        UalEnd::has_events(self)
    }

    /// That the link has left Up is counted with it, whoever made it.
    fn is_repaired(&self, event: &LinkEvent, _: bool) -> bool {
        matches!(event.severity, Severity::Corrected | Severity::Retrain)
    }

    fn is_numbered(&self) -> bool {
        true
    }

    fn halted(&self) -> Option<&'static str> {
        None
    }

    fn is_quiet(&self) -> bool {
        UalEnd::is_quiet(self)
    }

    fn values(&self) -> Vec<u64> {
        let levels = self.client.levels();
        let [requests, responses] = levels.waiting;
        let state = self.state() as u64;
        vec![state, requests as u64, responses as u64, levels.credits, levels.credits_due, self.carry() as u64]
    }

    fn pass_time(&mut self, now_flits: u64) {
        let [link, retry] = self.health_states();
        self.times.pass(now_flits, link, retry);
    }

    fn health(&self, now_flits: u64) -> LinkHealth {
        let (stats, replay) = (self.stats(), self.replay());
        let [sent, received] = self.flits();
        let mut health = LinkHealth::default();
        let [link, retry] = self.health_states();
        self.times.fill(&mut health, now_flits, link, retry);
        health.number(&figures::SENT_FLITS, sent);
        health.number(&figures::RECEIVED_FLITS, received);
        health.number(&figures::CRC_ERRORS, stats.bad_crc);
        health.number(&figures::FRAMING_ERRORS, stats.bad_header);
        health.number(&figures::TRAININGS, stats.downs);
        let all = self.replay_stats();
        health.number(&figures::REPLAYS, all.replays);
        health.number(&figures::REPLAYED_FLITS, all.replayed);
        health.number(&figures::NAKS_SENT, all.asked);
        replay.fill_health(&all, &mut health);
        self.client.fill_health(&mut health);
        health
    }

    fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        if self.state() != State::Up {
            let (kind, by, progress) = (WaitKind::Up, Direction::Rx, self.state() as u64);
            each(LinkWait { kind, by, channel: "", waiting: 0, is_passed: false, progress });
            return;
        }
        self.replay().pending_waits(each);
        self.client.credit_waits(each);
    }

    fn open_work(&self) -> String {
        let levels = self.client.levels();
        let [requests, responses] = [0, 1].map(|class| levels.waiting[class] + levels.received[class]);
        format!("link {}, {requests} requests and {responses} responses under way", self.state().name())
    }
}
