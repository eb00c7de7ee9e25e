//! An NVLink [`NvlEnd`] as ports and pairs drive it: its signals, what a replay repairs, its open work.

use super::end::{NvlEnd, PROTOCOL};
use super::flit::NvlFlit;
use super::port::CHANNELS;
use crate::event::{LinkEvent, Severity};
use crate::hook::Hooks;
use crate::line_time::LineTimeParts;
use crate::port::LinkEnd;
use scalepool_forms::FormError;

/// The rule by which a link is down.
pub const LINK_FAILURE: &str = "NVL-RPL-05";

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

    fn open_work(&self) -> String {
        let waiting: usize = CHANNELS.iter().map(|&vc| self.waiting(vc)).sum();
        let received: usize = CHANNELS.iter().map(|&vc| self.received(vc)).sum();
        let open = self.transmitter().unacknowledged_flits();
        format!("{waiting} messages to send, {received} received and not taken, {open} flits unacknowledged")
    }
}
