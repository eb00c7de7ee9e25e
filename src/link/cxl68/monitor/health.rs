//! Figures of the watched end of a 68B link, and what each side waits for.

use super::{Lrsm, Monitor};
use crate::cxl68::port::OWED_FLITS;
use crate::cxl68::retry::Local;
use crate::health::liveness::{LinkWait, WaitKind};
use crate::health::{LinkHealth, channel_key, channel_name, figures, states};
use crate::hook::Direction;
use scalepool_protocols::cxl::cxl68::message::Class;

impl Monitor {
    fn is_up(&self) -> bool {
        self.init_sent && self.init_received
    }

    /// Places of the states of the end in [`states::CXL68`], as far as the wire tells; training is not on the wire.
    pub fn states(&self) -> [usize; 2] {
        let link = if self.is_up() { states::LINK_UP } else { states::LINK_INIT };
        let retry = match self.lrsm {
            Lrsm::Normal => Local::Normal,
            Lrsm::ReqDue(_) => Local::LlrReq,
            Lrsm::Waiting(_) => Local::LocalIdle,
        };
        [link, retry as usize]
    }

    /// Fills the figures that units show.
    pub fn fill_health(&self, health: &mut LinkHealth) {
        let seen = &self.seen;
        health.number(&figures::RETRY_TRIES, self.num_retry);
        health.number(&figures::NEXT_NUMBER, self.wr);
        health.number(&figures::EXPECTED_NUMBER, self.eseq);
        health.number(&figures::UNACKNOWLEDGED_FLITS, self.unacknowledged);
        health.number(&figures::REPLAYS, seen.replays);
        health.number(&figures::REPLAYED_FLITS, seen.replayed);
        health.number(&figures::NAKS_SENT, seen.reqs_sent);
        health.number(&figures::NAKS_RECEIVED, seen.reqs_heard);
        health.number(&figures::CRC_ERRORS, seen.bad_crc);
        health.number(&figures::FRAMING_ERRORS, seen.bad_id);
        health.number(&figures::DISCARDED_FLITS, seen.discarded);
        let of = |is_sent: bool, counts: &[u32; 10]| {
            let classes = Class::ALL.into_iter().filter(|class| (class.dir() == self.config.dir) == is_sent);
            classes.map(|c| (channel_key(c.def().name).to_owned(), counts[c.index()].into())).collect::<Vec<_>>()
        };
        health.each(&figures::CREDITS, of(true, &self.spend));
        health.each(&figures::CREDITS_GIVEN, of(false, &self.given));
    }

    /// Tells what each side waits for. Messages that wait cannot be seen; a channel that has carried some and has no credit
    /// stands for them.
    pub fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        let mut wait = |kind, by, channel: &str, waiting: u64, progress: u64| {
            each(LinkWait { kind, by, channel, waiting, is_passed: true, progress });
        };
        if !self.init_received {
            wait(WaitKind::Up, Direction::Rx, "", 0, 0);
        }
        if !self.init_sent {
            wait(WaitKind::Up, Direction::Tx, "", 0, 0);
        }
        if self.unacknowledged >= OWED_FLITS {
            let modulus = self.buffer.len() as u16;
            let oldest = (self.wr + modulus - self.unacknowledged) % modulus;
            wait(WaitKind::Acknowledgement, Direction::Rx, "", self.unacknowledged.into(), oldest.into());
        }
        if self.num_ack >= OWED_FLITS {
            let oldest = (self.eseq + self.rx_modulus - self.num_ack % self.rx_modulus) % self.rx_modulus;
            wait(WaitKind::Acknowledgement, Direction::Tx, "", self.num_ack.into(), oldest.into());
        }
        if self.lrsm != Lrsm::Normal {
            wait(WaitKind::Replay, Direction::Rx, "", self.eseq.into(), self.eseq.into());
        }
        for class in Class::ALL.into_iter().filter(|class| self.seen.messages[class.index()] > 0) {
            let at = class.index();
            let (by, has) = match class.dir() == self.config.dir {
                true => (Direction::Rx, self.spend[at]),
                false => (Direction::Tx, self.given[at]),
            };
            if has == 0 {
                wait(
                    WaitKind::Credit,
                    by,
                    &channel_name(class.def().name),
                    self.seen.messages[at],
                    self.seen.messages[at],
                );
            }
        }
    }
}
