//! Receive decisions, a flit (`ualink` §7).

use super::transmit::EXPLICIT_FLITS;
use super::{Head, Replay, Says};
use crate::event::{Severity, finding};
use scalepool_protocols::ualink::sequence::{self, from_low_bits, steps};
use scalepool_protocols::wire::Violation;

/// Bad flits in a row from which three bits no longer tell a number (`ualink` §7).
const AMBIGUOUS_AT: u8 = 7;
/// Copies of a Replay Request (`ualink` §7).
const REQUEST_COPIES: u8 = 3;

/// What becomes of a flit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UalFlitOutcome {
    /// Its payload is the next in order.
    Payload,
    /// It carries none, and its number fits.
    Nop,
    /// It is not used.
    Dropped,
}

/// Outcome of one received flit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UalReceived {
    /// What becomes of it.
    pub taken: UalFlitOutcome,
    /// What is to be logged.
    pub found: Option<(Severity, Violation)>,
}

impl UalReceived {
    fn quiet(taken: UalFlitOutcome) -> UalReceived {
        UalReceived { taken, found: None }
    }

    fn dropped(severity: Severity, violation: Violation) -> UalReceived {
        UalReceived { taken: UalFlitOutcome::Dropped, found: Some((severity, violation)) }
    }
}

impl<P> Replay<P> {
    /// Takes a flit; `None`: its CRC is bad or its header reserved.
    pub fn receive(&mut self, head: Option<Head>) -> UalReceived {
        self.ignore = self.ignore.saturating_sub(1);
        self.peer_asks.flits += 1;
        let Some(head) = head else {
            self.commands = 0;
            self.peer_asks.bad_at = Some(self.peer_asks.flits);
            self.bad();
            return UalReceived::quiet(UalFlitOutcome::Dropped);
        };
        let logged = match self.command(&head) {
            Ok(logged) => logged,
            Err(zero) => {
                self.stats.dropped += 1;
                return UalReceived::dropped(Severity::Protocol, zero);
            }
        };
        let mut received = self.number(&head);
        let overdue = self.without_number(&head);
        // All but ever there is nothing, and nothing is moved.
        if received.found.is_none() && (logged.is_some() || overdue.is_some()) {
            received.found = logged.or(overdue);
        }
        match received.taken {
            UalFlitOutcome::Payload => self.stats.taken += 1,
            UalFlitOutcome::Dropped => self.stats.dropped += 1,
            UalFlitOutcome::Nop => (),
        }
        received
    }

    /// A number in full is overdue. It may have been lost with a flit that never came, so it is no fault of the peer alone.
    fn without_number(&mut self, head: &Head) -> Option<(Severity, Violation)> {
        let explicit = matches!(head.says, Says::Number { .. });
        self.commands = if explicit { 0 } else { self.commands.saturating_add(1) };
        if self.commands != EXPLICIT_FLITS as u8 {
            return None;
        }
        if matches!(head.says, Says::Request { .. }) {
            let text = "a Replay Request is received where a number in full is due";
            return Some((Severity::Corrected, finding("UAL-TXS-01", "a Replay Request", "a number in full", text)));
        }
        let text = "too many flits in a row do not state their number in full";
        Some((Severity::Corrected, finding("UAL-TXS-02", self.commands, "at most 6", text)))
    }

    /// Copies of a Replay Request stand in FEC groups of their own and name the same number. Where groups begin cannot be
    /// seen in flits: three copies lie further apart than a group is long. Another number is asked for when the flits before
    /// it have come and one behind them was bad, a flit time each. Flits that never came may spoil either count.
    fn copy(&mut self, number: u16) -> Option<(Severity, Violation)> {
        let asks = &mut self.peer_asks;
        let (now, group) = (asks.flits, u64::from(self.config.fec_group_flits.max(1)));
        let [second_last, last] = asks.copies;
        asks.copies = [last, Some(now)];
        let before = asks.target;
        if asks.target.is_none_or(|(target, _)| target != number) {
            asks.target = Some((number, now));
        }
        if asks.bad_at.is_some_and(|at| now - at <= 4 * group) {
            return None;
        }
        if second_last.is_some_and(|at| now - at <= group) {
            let text = "three Replay Requests come in fewer than three FEC groups";
            let expected = format!("three groups of {group} flits");
            return Some((Severity::Corrected, finding("UAL-TXS-05", "fewer", expected, text)));
        }
        let (target, since) = before?;
        let moved = u64::from(steps(target, number));
        (moved > 0 && moved < u64::from(sequence::MOST_UNACKED) && now - since <= moved).then(|| {
            let text = "a further copy of a Replay Request names another number";
            (Severity::Corrected, finding("UAL-TXS-05", number, target, text))
        })
    }

    fn bad(&mut self) {
        self.stats.bad += 1;
        self.bad_crc = (self.bad_crc + 1).min(AMBIGUOUS_AT);
        self.ambiguous |= self.bad_crc == AMBIGUOUS_AT;
        if self.waiting {
            // Counted alone: the limit is looked at when the next good flit does not fit (§7, step 2).
            self.unexpected = self.unexpected.saturating_add(1);
        }
    }

    /// Ack or Replay Request of a flit. `Err`: a reserved number, which spoils the whole flit.
    fn command(&mut self, head: &Head) -> Result<Option<(Severity, Violation)>, Violation> {
        let (number, is_request) = match head.says {
            Says::Number { .. } => return Ok(None),
            Says::Ack { number, .. } => (number, false),
            Says::Request { number, .. } => (number, true),
        };
        if number == 0 {
            return Err(finding("UAL-RXR-03", 0, "1 to 511", "the flit acknowledges or asks for the reserved number"));
        }
        if is_request {
            self.stats.requests_heard += 1;
            let judged = self.copy(number);
            if self.ignore > 0 {
                // A further copy of the request that has begun the replay.
                return Ok(judged);
            }
            if !self.request_fits(number) {
                let expected = format!("one of the {} that are kept behind {}", self.kept.len(), self.acked);
                // A flit that the line has doubled is out of order for the peer, which then asks for the one behind it.
                if number == sequence::next(self.tx_last) {
                    let text = "a Replay Request asks for the flit that goes next: the last one came twice";
                    return Ok(Some((Severity::Corrected, finding("UAL-RXR-04", number, expected, text))));
                }
                let text = "a Replay Request asks for a flit that is not in the buffer";
                return Ok(Some((Severity::Protocol, finding("UAL-RXR-04", number, expected, text))));
            }
            self.begin_replay(number);
            return Ok(judged);
        }
        if !self.ack_fits(number) {
            let expected = format!("{} or one of the {} behind it", self.acked, self.kept.len());
            let text = "an Ack names a flit that is not in the buffer";
            return Ok(Some((Severity::Protocol, finding("UAL-RXR-06", number, expected, text))));
        }
        self.free_up_to(number);
        Ok(None)
    }

    /// The flit's own number against the one that is due.
    fn number(&mut self, head: &Head) -> UalReceived {
        let explicit = matches!(head.says, Says::Number { .. });
        if !explicit && (self.ambiguous || self.waiting) {
            // [D] As the flow chart has it: only these count as unexpected, and only while a replay is waited for.
            if self.waiting {
                self.count_unexpected();
            }
            return UalReceived::quiet(UalFlitOutcome::Dropped);
        }
        let own = match head.says {
            Says::Number { number: 0, .. } => {
                let zero = finding("UAL-SEQ-01", 0, "1 to 511", "the flit has the reserved sequence number");
                return UalReceived::dropped(Severity::Protocol, zero);
            }
            Says::Number { number, .. } => number,
            Says::Ack { own_low, .. } | Says::Request { own_low, .. } => {
                from_low_bits(self.rx_last, own_low, head.payload)
            }
        };
        let due = if head.payload { sequence::next(self.rx_last) } else { self.rx_last };
        if own == due {
            let replay_is_due = self.waiting && !self.behind_copy && head.payload;
            let unmarked = replay_is_due && matches!(head.says, Says::Number { replayed: false, .. });
            self.rx_last = own;
            (self.unexpected, self.waiting, self.ambiguous, self.bad_crc) = (0, false, false, 0);
            let taken = if head.payload { UalFlitOutcome::Payload } else { UalFlitOutcome::Nop };
            let text = "a replayed flit is not marked as replayed";
            let found = unmarked.then(|| (Severity::Protocol, finding("UAL-TXS-04", "op 0", "op 1", text)));
            return UalReceived { taken, found };
        }
        self.stats.duplicates += u64::from(head.payload && steps(own, self.rx_last) < sequence::MOST_UNACKED);
        if self.waiting {
            return UalReceived::quiet(UalFlitOutcome::Dropped);
        }
        self.ask_again();
        (self.waiting, self.unexpected) = (true, 0);
        // Three bits name the last number and the eighth behind it alike.
        self.behind_copy = head.payload && (own == self.rx_last || !explicit && own % 8 == self.rx_last % 8);
        let text = "a flit is received out of order; a replay is asked for";
        UalReceived::dropped(Severity::Corrected, finding("UAL-RXR-08", own, due, text))
    }

    fn count_unexpected(&mut self) {
        self.unexpected = self.unexpected.saturating_add(1);
        if self.unexpected >= self.config.replay_limit_flits {
            self.ask_again();
            (self.unexpected, self.bad_crc) = (0, 0);
        }
    }

    fn ask_again(&mut self) {
        self.stats.asked += 1;
        (self.requests_left, self.request_latched) = (REQUEST_COPIES, false);
    }
}
