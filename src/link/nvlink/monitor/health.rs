//! Figures of the watched end of an NVLink, and what each side waits for.

use super::Monitor;
use crate::health::liveness::{LinkWait, WaitKind};
use crate::health::{LinkHealth, figures, states};
use crate::hook::Direction;
use crate::nvlink::link_end::vc_key;
use crate::nvlink::port::CHANNELS;
use crate::nvlink::{IDS, steps};
use scalepool_protocols::nvlink::Vc;

impl Monitor {
    /// Places of the states of the end in [`states::NVLINK`]: up once anything was acknowledged.
    pub fn states(&self) -> [usize; 2] {
        let link = if self.anything_acked { states::LINK_UP } else { states::LINK_INIT };
        let retry = match () {
            () if self.receiver.is_hunting() => states::RETRY_WAITS,
            () if self.replay.is_some() => states::RETRY_REPLAYS,
            () => states::RETRY_NORMAL,
        };
        [link, retry]
    }

    /// Fills the figures that units show.
    pub fn fill_health(&self, health: &mut LinkHealth) {
        let (seen, receiver) = (&self.seen, &self.receiver);
        health.number(&figures::RETRY_TRIES, self.tries);
        health.number(&figures::NEXT_NUMBER, (self.newest + 1) % IDS);
        health.number(&figures::EXPECTED_NUMBER, (receiver.accepted() + 1) % IDS);
        health.number(&figures::ACKNOWLEDGED_NUMBER, self.acked);
        health.number(&figures::UNACKNOWLEDGED_FLITS, steps(self.acked, self.newest));
        health.number(&figures::REPLAYS, seen.replays);
        health.number(&figures::REPLAYED_FLITS, seen.replayed_flits);
        health.number(&figures::NAKS_SENT, receiver.losses);
        health.number(&figures::CRC_ERRORS, seen.bad_headers);
        health.number(&figures::DISCARDED_FLITS, receiver.discarded);
        let of = |count: &dyn Fn(Vc) -> u64| CHANNELS.map(|vc| (vc_key(vc), count(vc)));
        health.each(&figures::CREDITS, of(&|vc| self.owned.available(vc).headers));
        health.each(&figures::CREDITS_GIVEN, of(&|vc| self.given.available(vc).headers));
    }

    /// Tells what each side waits for. Packets that wait cannot be seen; a channel that has carried some and has no header credit
    /// stands for them.
    pub fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        let mut wait = |kind, by, channel: &str, waiting: u64, progress: u64| {
            each(LinkWait { kind, by, channel, waiting, is_passed: true, progress });
        };
        let open = steps(self.acked, self.newest);
        if open > 0 {
            wait(WaitKind::Acknowledgement, Direction::Rx, "", open.into(), self.acked.into());
        }
        let owed = steps(self.told, self.counted);
        if owed > 0 && !self.receiver.is_hunting() {
            wait(WaitKind::Acknowledgement, Direction::Tx, "", owed.into(), self.told.into());
        }
        if self.receiver.is_hunting() {
            let due = ((self.receiver.accepted() + 1) % IDS).into();
            wait(WaitKind::Replay, Direction::Rx, "", due, due);
        }
        for vc in CHANNELS {
            let books = [(Direction::Rx, &self.owned, 1), (Direction::Tx, &self.given, 0)];
            for (by, book, side) in books {
                let passed = self.seen.packets[side][usize::from(vc.0) % Vc::COUNT];
                if passed > 0 && book.available(vc).headers == 0 {
                    wait(WaitKind::Credit, by, &vc_key(vc).to_uppercase(), passed, passed);
                }
            }
        }
    }
}
