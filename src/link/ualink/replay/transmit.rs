//! Transmit decisions, a flit (`ualink` §7).

use super::{Head, Replay, Says};
use scalepool_protocols::ualink::sequence::{self, MOST_UNACKED, plus, steps};

/// A number in full at least every so many flits (`ualink` §7, contradiction X6).
pub(super) const EXPLICIT_FLITS: i8 = 7;

/// A flit to send.
#[derive(Debug, PartialEq, Eq)]
pub struct UalSentFlit<'a, P> {
    /// What its header says.
    pub head: Head,
    /// What it carries, where it is kept.
    pub payload: Option<&'a mut P>,
    /// The payload goes again.
    pub again: bool,
}

impl<P> Replay<P> {
    /// Whether new payload may go: not in a replay, not with a full buffer or 255 flits unacknowledged.
    pub fn has_room(&self) -> bool {
        let fits = self.kept.len() < usize::from(self.config.buffer_flits.min(MOST_UNACKED));
        self.replay_at.is_none() && fits
    }

    /// The flit of this flit time; `fresh` is asked for new payload if some may go.
    pub fn transmit(&mut self, fresh: impl FnOnce() -> Option<P>) -> UalSentFlit<'_, P> {
        let replaying = self.replay_at.is_some();
        // Its number, and where it is kept.
        let (own, at) = match self.next_replayed() {
            Some((number, at)) => (number, Some(at)),
            None if self.has_room() && !replaying => match fresh() {
                Some(payload) => (self.keep(payload), self.kept.len().checked_sub(1)),
                None => (self.tx_last, None),
            },
            None => (self.tx_last, None),
        };
        match (at, replaying) {
            (None, _) => self.stats.nops += 1,
            (Some(_), true) => self.stats.replayed += 1,
            (Some(_), false) => self.stats.sent += 1,
        }
        let again = replaying && at.is_some();
        let says = self.says(own, again);
        self.flits_sent += 1;
        self.watchdog = if self.kept.is_empty() { 0 } else { self.watchdog + 1 };
        UalSentFlit {
            head: Head { payload: at.is_some(), says },
            payload: at.and_then(|at| self.kept.get_mut(at)),
            again,
        }
    }

    /// Whether nothing was acknowledged for too long: the link leaves Up.
    pub fn has_expired(&self) -> bool {
        self.watchdog >= self.config.watchdog_flits
    }

    fn keep(&mut self, payload: P) -> u16 {
        self.tx_last = sequence::next(self.tx_last);
        self.kept.push_back(payload);
        self.tx_last
    }

    /// Number and place of the next payload that goes again.
    fn next_replayed(&mut self) -> Option<(u16, usize)> {
        let number = self.replay_at?;
        let at = usize::from(steps(self.acked, number)).checked_sub(1).filter(|&at| at < self.kept.len());
        self.replay_at = (at.is_some() && number != self.tx_last).then(|| sequence::next(number));
        at.map(|at| (number, at))
    }

    /// Kind of the header: the first that is due.
    fn says(&mut self, own: u16, replayed: bool) -> Says {
        let own_low = (own % 8) as u8;
        self.explicit -= 1;
        if std::mem::take(&mut self.first_replay) || self.explicit <= 0 {
            self.explicit = EXPLICIT_FLITS;
            return Says::Number { number: own, replayed };
        }
        let group = self.flits_sent / u64::from(self.config.fec_group_flits.max(1));
        if self.requests_left > 0 && self.request_group != Some(group) {
            if !std::mem::replace(&mut self.request_latched, true) {
                self.request_number = sequence::next(self.rx_last);
            }
            self.request_group = Some(group);
            self.requests_left -= 1;
            self.stats.requests += 1;
            return Says::Request { number: self.request_number, own_low };
        }
        Says::Ack { number: self.rx_last, own_low }
    }

    /// Payload goes again from `number` on. With a literal window that may be one that is not kept: then from the first.
    pub(super) fn begin_replay(&mut self, number: u16) {
        self.ignore = self.config.ignore_flits;
        if self.kept.is_empty() {
            return;
        }
        let behind = steps(self.acked, number);
        let resident = behind >= 1 && usize::from(behind) <= self.kept.len();
        self.replay_at = Some(if resident { number } else { plus(self.acked, 1) });
        self.first_replay = true;
        self.stats.replays += 1;
    }

    /// The peer has everything up to `number`.
    pub(super) fn free_up_to(&mut self, number: u16) {
        let freed = usize::from(steps(self.acked, number)).min(self.kept.len());
        if freed == 0 {
            return;
        }
        if let Some(at) = self.replay_at
            && usize::from(steps(self.acked, at)) <= freed
        {
            // What the peer has meanwhile need not go again.
            self.replay_at = (freed < self.kept.len()).then(|| plus(self.acked, freed as u16 + 1));
            self.first_replay &= self.replay_at.is_some();
        }
        self.kept.drain(..freed);
        self.acked = plus(self.acked, freed as u16);
        self.watchdog = 0;
    }
}
