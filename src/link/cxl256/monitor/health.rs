//! Figures of the watched end of a 256B link, and what each side waits for.

use super::{HANDSHAKE, Monitor};
use crate::health::liveness::{LinkWait, WaitKind};
use crate::health::retimer::ArrivedUnit;
use crate::health::{LinkHealth, channel_key, channel_name, figures, states};
use crate::hook::Direction;
use scalepool_protocols::cxl::cxl256::code::ReplayCommand;
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::number::is_payload;
use scalepool_protocols::cxl::cxl256::{Class, number};

impl Monitor {
    /// What a good flit says that comes next.
    pub fn read_ahead(&self, header: &FlitHeader) -> ArrivedUnit {
        let is_stated = header.command == ReplayCommand::Explicit && is_payload(header.flit_type) && header.seq != 0;
        let due = number::next(self.taken);
        let replay_asked = self.receivers.iter().any(|receiver| receiver.nak_open);
        ArrivedUnit { stated: is_stated.then_some(header.seq), due: [due, number::next(due)], replay_asked }
    }

    /// Numbers are agreed in both directions, as far as the end knows.
    fn is_agreed(&self) -> bool {
        self.acks >= HANDSHAKE.0 && self.stated >= HANDSHAKE.1
    }

    fn is_up(&self) -> bool {
        if self.io_alone { self.is_agreed() } else { self.init && self.peer_init }
    }

    /// Places of the states of the end in [`states::CXL256`].
    pub fn states(&self) -> [usize; 2] {
        let link = if self.is_up() { states::LINK_UP } else { states::LINK_INIT };
        let retry = match () {
            () if !self.is_agreed() => states::RETRY_HANDSHAKE,
            () if self.receivers[0].nak_open => states::RETRY_WAITS,
            () if self.replayed > 0 => states::RETRY_REPLAYS,
            () => states::RETRY_NORMAL,
        };
        [link, retry]
    }

    /// Fills the figures that units show.
    pub fn fill_health(&self, health: &mut LinkHealth) {
        let (seen, receiver) = (&self.seen, &self.receivers[0]);
        health.number(&figures::NEXT_NUMBER, number::next(self.newest));
        health.number(&figures::EXPECTED_NUMBER, number::next(self.taken));
        health.number(&figures::ACKNOWLEDGED_NUMBER, self.acked);
        health.number(&figures::UNACKNOWLEDGED_FLITS, number::steps(self.acked, self.newest));
        health.number(&figures::REPLAYS, seen.replays);
        health.number(&figures::REPLAYED_FLITS, seen.replayed);
        health.number(&figures::NAKS_SENT, seen.naks_sent);
        health.number(&figures::NAKS_RECEIVED, seen.naks_heard);
        health.number(&figures::CRC_ERRORS, seen.bad);
        health.number(&figures::FEC_REPAIRED_FLITS, seen.repaired);
        health.number(&figures::FEC_REPAIRED_SYMBOLS, seen.symbols);
        health.number(&figures::DUPLICATE_FLITS, receiver.duplicates);
        health.number(&figures::DISCARDED_FLITS, receiver.ahead + receiver.doubted);
        if self.io_alone {
            return;
        }
        let of = |is_sent: bool, count: &dyn Fn(Class) -> u64| {
            let classes = Class::ALL.into_iter().filter(|class| (class.dir() == self.dir) == is_sent);
            classes.map(|class| (channel_key(self.layout(class)).to_owned(), count(class))).collect::<Vec<_>>()
        };
        health.each(&figures::CREDITS, of(true, &|class| self.spend[class.index()].into()));
        health.each(&figures::CREDITS_GIVEN, of(false, &|class| self.given[class.index()].into()));
    }

    fn layout(&self, class: Class) -> &'static str {
        class.def(self.mode.routing()).name
    }

    /// Tells what each side waits for. Messages that wait cannot be seen; a channel that has carried some and has no credit
    /// stands for them.
    pub fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        let mut wait = |kind, by, channel: &str, waiting: u64, progress: u64| {
            each(LinkWait { kind, by, channel, waiting, is_passed: true, progress });
        };
        let has_to_begin = |has_begun: bool| !(has_begun || self.io_alone && self.is_agreed());
        if has_to_begin(self.peer_init) {
            wait(WaitKind::Up, Direction::Rx, "", 0, self.acks.min(HANDSHAKE.0).into());
        }
        if has_to_begin(self.init) {
            wait(WaitKind::Up, Direction::Tx, "", 0, self.stated.min(HANDSHAKE.1).into());
        }
        let open = number::steps(self.acked, self.newest);
        if open > 0 {
            wait(WaitKind::Acknowledgement, Direction::Rx, "", open.into(), self.acked.into());
        }
        let owed = number::steps(self.told, self.taken);
        if owed > 0 {
            wait(WaitKind::Acknowledgement, Direction::Tx, "", owed.into(), self.told.into());
        }
        if self.receivers.iter().all(|receiver| receiver.nak_open) {
            let due = number::next(self.taken).into();
            wait(WaitKind::Replay, Direction::Rx, "", due, due);
        }
        for class in Class::ALL.into_iter().filter(|class| self.seen.messages[class.index()] > 0) {
            let at = class.index();
            let (by, has) = match class.dir() == self.dir {
                true => (Direction::Rx, self.spend[at].into()),
                false => (Direction::Tx, self.given[at]),
            };
            if has == 0 {
                wait(
                    WaitKind::Credit,
                    by,
                    &channel_name(self.layout(class)),
                    self.seen.messages[at],
                    self.seen.messages[at],
                );
            }
        }
    }
}
