//! An NVLink [`NvlEnd`] as ports and pairs drive it: its signals, what a replay repairs, its open work.

use super::IDS;
use super::end::{NvlEnd, PROTOCOL};
use super::flit::NvlFlit;
use super::port::CHANNELS;
use super::transmitter::Transmitter;
use crate::event::{LinkEvent, Severity};
use crate::health::liveness::{LinkWait, WaitKind};
use crate::health::{LinkHealth, figures, states};
use crate::hook::{Direction, Hooks};
use crate::line_time::LineTimeParts;
use crate::port::LinkEnd;
use scalepool_forms::FormError;
use scalepool_protocols::nvlink::Vc;

/// The rule by which a link is down.
pub const LINK_FAILURE: &str = "NVL-RPL-05";

impl NvlEnd {
    /// Places of its states in [`states::NVLINK`].
    fn health_states(&self) -> [usize; 2] {
        let link = match (self.is_down(), self.credits().is_said()) {
            (true, _) => states::LINK_STOPPED,
            (false, true) => states::LINK_UP,
            (false, false) => states::LINK_INIT,
        };
        let retry = match () {
            () if self.receiver().is_hunting() => states::RETRY_WAITS,
            () if self.transmitter().is_replaying() => states::RETRY_REPLAYS,
            () => states::RETRY_NORMAL,
        };
        [link, retry]
    }
}

/// Identifier of the last flit that the peer has acknowledged.
fn acknowledged(sender: &Transmitter) -> u16 {
    (sender.next_id() + IDS - 1 - sender.unacknowledged_flits() as u16) % IDS
}

/// Key of a channel in [`LinkHealth`].
pub(super) fn vc_key(vc: Vc) -> String {
    vc.name().map_or_else(|| format!("vc{}", vc.0), str::to_lowercase)
}

impl LinkEnd for NvlEnd {
    type Unit = NvlFlit;

    const SIGNALS: &'static [(&'static str, u32)] =
        &[("next_id", 12), ("accepted_id", 12), ("unacknowledged", 12), ("hunting", 1), ("replaying", 1), ("tries", 4)];

    const FILLS: bool = true;

    const FINDINGS_WITH_UNITS: bool = true;

    fn protocol(&self) -> &'static str {
        PROTOCOL
    }

    fn unit(&self, bytes: &[u8]) -> Result<NvlFlit, FormError> {
        NvlFlit::from_bytes(bytes)
    }

    fn receive(&mut self, unit: &NvlFlit, _: u64) {
        NvlEnd::receive(self, unit);
    }

    fn keep_payload(&mut self) {
        self.keep_packets();
    }

    /// Packets, each with the identifier of its last flit.
    fn take_payload(&mut self, each: &mut dyn FnMut(u16, &[u8])) {
        for (number, packet) in self.take_packets() {
            each(number, &packet.bytes().collect::<Vec<u8>>());
        }
    }

    fn transmit(&mut self, _: u64) -> Option<NvlFlit> {
        Some(NvlEnd::transmit(self))
    }

    fn uses(&self) -> LineTimeParts {
        NvlEnd::uses(self)
    }

    fn fruitless(&self) -> u32 {
        NvlEnd::fruitless(self)
    }

    fn attach_hooks(&mut self, hooks: &Hooks) {
        NvlEnd::attach_hooks(self, hooks);
    }

    fn hooks(&self) -> &Hooks {
        NvlEnd::hooks(self)
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        NvlEnd::take_events(self)
    }

    /// A packet whose CRC a fault input made fit may break any rule of its content.
    fn is_repaired(&self, event: &LinkEvent, damaged: bool) -> bool {
        damaged && event.severity <= Severity::Retrain
    }

    fn halted(&self) -> Option<&'static str> {
        self.is_down().then_some(LINK_FAILURE)
    }

    fn is_quiet(&self) -> bool {
        NvlEnd::is_quiet(self)
    }

    fn is_done(&self) -> bool {
        NvlEnd::is_done(self)
    }

    fn values(&self) -> Vec<u64> {
        let (sender, receiver) = (self.transmitter(), self.receiver());
        vec![
            sender.next_id().into(),
            receiver.accepted().into(),
            sender.unacknowledged_flits() as u64,
            receiver.is_hunting().into(),
            sender.is_replaying().into(),
            sender.tries().into(),
        ]
    }

    fn pass_time(&mut self, now_flits: u64) {
        let [link, retry] = self.health_states();
        self.times.pass(now_flits, link, retry);
    }

    fn health(&self, now_flits: u64) -> LinkHealth {
        let (stats, sender, receiver) = (self.stats(), self.transmitter(), self.receiver());
        let mut health = LinkHealth::default();
        let [link, retry] = self.health_states();
        self.times.fill(&mut health, now_flits, link, retry);
        health.number(&figures::RETRY_TRIES, sender.tries());
        health.number(&figures::SENT_FLITS, stats.sent_flits);
        health.number(&figures::RECEIVED_FLITS, self.received_flits());
        health.number(&figures::NEXT_NUMBER, sender.next_id());
        health.number(&figures::EXPECTED_NUMBER, (receiver.accepted() + 1) % IDS);
        health.number(&figures::ACKNOWLEDGED_NUMBER, acknowledged(sender));
        health.number(&figures::UNACKNOWLEDGED_FLITS, sender.unacknowledged_flits() as u64);
        health.number(&figures::REPLAYS, stats.replays);
        health.number(&figures::REPLAYED_FLITS, stats.replayed_flits);
        health.number(&figures::NAKS_SENT, receiver.losses);
        health.number(&figures::CRC_ERRORS, stats.bad_headers);
        health.number(&figures::DISCARDED_FLITS, receiver.discarded);
        let of = |count: &dyn Fn(Vc) -> u64| CHANNELS.map(|vc| (vc_key(vc), count(vc)));
        health.each(&figures::MESSAGES_WAITING, of(&|vc| self.waiting(vc) as u64));
        health.each(&figures::CREDITS, of(&|vc| self.credits().available(vc).headers));
        health.each(&figures::CREDITS_GIVEN, of(&|vc| self.credits().granted(vc).headers));
        health
    }

    fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        let mut wait = |kind, channel: &str, waiting: u64, progress: u64| {
            each(LinkWait { kind, by: Direction::Rx, channel, waiting, is_passed: false, progress });
        };
        if self.is_down() {
            return;
        }
        let (sender, receiver) = (self.transmitter(), self.receiver());
        let open = sender.unacknowledged_flits() as u64;
        if open > 0 {
            wait(WaitKind::Acknowledgement, "", open, acknowledged(sender).into());
        }
        if receiver.is_hunting() {
            let due = ((receiver.accepted() + 1) % IDS).into();
            wait(WaitKind::Replay, "", due, due);
        }
        for vc in CHANNELS {
            let Some(data_flits) = self.next_data_flits(vc) else { continue };
            let has = self.credits().available(vc);
            if has.headers == 0 || has.data_flits < data_flits.into() {
                wait(
                    WaitKind::Credit,
                    &vc_key(vc).to_uppercase(),
                    self.waiting(vc) as u64,
                    self.credits().received(vc),
                );
            }
        }
    }

    fn open_work(&self) -> String {
        let waiting: usize = CHANNELS.iter().map(|&vc| self.waiting(vc)).sum();
        let received: usize = CHANNELS.iter().map(|&vc| self.received(vc)).sum();
        let open = self.transmitter().unacknowledged_flits();
        format!("{waiting} messages to send, {received} received and not taken, {open} flits unacknowledged")
    }
}
