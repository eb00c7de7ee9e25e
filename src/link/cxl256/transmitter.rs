//! Numbers of sent flits: the retry buffer, replays, their timer and count (`cxl-256b` §9).
//!
//! Modelled: go-back-N, replay of one flit, the least number of stated numbers at its start, the window in which a Nak is not heard, the
//! pattern of three stated numbers and one Ack. Left out: what a flit holds.
//!
//! A walk: new payload gets the next number and is kept. An Ack frees everything up to its number. A Nak does the same,
//! then everything that is kept goes again, in order, before anything new.

use super::config::LinkConfig;
use super::form::Flit256;
use super::receiver::Receiver;
use scalepool_protocols::cxl::cxl256::code::ReplayCommand;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::number::{self, is_payload};
use std::collections::VecDeque;

/// Stated numbers at the start of a replay, and between two Acks (`cxl-256b` §9).
const EXPLICIT_FLITS: u8 = 3;
/// Valid Acks, and stated numbers sent, that end the handshake (`cxl-256b` §9).
const HANDSHAKE: (u8, u8) = (3, 9);

/// What an acknowledgement has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// Taken.
    Fine,
    /// It started a replay.
    Replay,
    /// The replay was one too many: the link has to be trained.
    Train,
    /// Its number was never sent, or was freed long ago.
    OutOfWindow,
}

/// Transmit side of the sequence numbers.
#[derive(Debug, Clone)]
pub struct Transmitter<F = Cxl256Flit> {
    /// Number of the next new payload.
    next: u16,
    /// Last number that the peer has acknowledged.
    acked: u16,
    /// Payload behind `acked`, in order.
    kept: VecDeque<F>,
    /// Next flit of a replay, counted from the front of `kept`.
    replay: Option<usize>,
    /// The replay is of one flit.
    single: bool,
    /// Number of the payload sent last.
    last: u16,
    /// Whether the flit sent last was payload.
    prior: bool,
    /// Stated numbers until the next Ack.
    explicit: u8,
    /// Stated numbers that come before any Nak.
    explicit_first: u8,
    tries: u8,
    without_progress: u32,
    deaf_flits: u16,
    /// Acks received and stated numbers sent in the handshake; `None`: it is over.
    handshake: Option<(u8, u8)>,
    handshake_flits: u32,
    /// Number of the last Ack.
    told: Option<u16>,
}

impl<F> Default for Transmitter<F> {
    fn default() -> Self {
        Transmitter {
            next: 1,
            acked: number::LAST,
            kept: VecDeque::new(),
            replay: None,
            single: false,
            last: number::LAST,
            prior: false,
            explicit: EXPLICIT_FLITS,
            explicit_first: 0,
            tries: 0,
            without_progress: 0,
            deaf_flits: 0,
            handshake: Some((0, 0)),
            handshake_flits: 0,
            told: None,
        }
    }
}

impl<F: Flit256> Transmitter<F> {
    /// Number of the next new payload.
    pub fn next_number(&self) -> u16 {
        self.next
    }

    /// Last number that the peer has acknowledged.
    pub fn acknowledged(&self) -> u16 {
        self.acked
    }

    /// Flits in the retry buffer.
    pub fn unacknowledged(&self) -> usize {
        self.kept.len()
    }

    /// Whether the numbers are still being agreed.
    pub fn in_handshake(&self) -> bool {
        self.handshake.is_some()
    }

    /// Whether flits go again.
    pub fn replaying(&self) -> bool {
        self.replay.is_some()
    }

    /// Number that the last Ack carried; `None`: there was none since the last training.
    pub fn told(&self) -> Option<u16> {
        self.told
    }

    /// NOPs have been left out: nothing but their place in the pattern of stated numbers and Acks remains.
    pub fn nops_left_out(&mut self, flits: u64) {
        if flits == 0 {
            return;
        }
        self.prior = false;
        self.deaf_flits = self.deaf_flits.saturating_sub(flits.min(u64::from(u16::MAX)) as u16);
        // Stated numbers that were still due go first, then an Ack.
        let first = flits.min(u64::from(self.explicit_first));
        if first > 0 {
            self.explicit_first -= first as u8;
            self.explicit = 0;
        }
        let round = u64::from(EXPLICIT_FLITS) + 1;
        // Counted down to 0, then an Ack, which starts again from the top.
        self.explicit = ((u64::from(self.explicit) + round - (flits - first) % round) % round) as u8;
    }

    /// Replays since the last progress, as the limit counts them.
    pub fn tries(&self) -> u8 {
        self.tries
    }

    /// Whether the flit that goes now carries a Nak. The stated numbers at the start of a replay go first.
    pub fn carries_nak(&self, receiver: &Receiver<F>) -> bool {
        receiver.nak_flits > 0 && (receiver.amid_nak() || self.explicit_first == 0)
    }

    /// Whether new payload may go. Payload waits while a Nak goes out, so that numbers are implied one at a time and never
    /// where one has to be stated.
    pub fn has_room(&self, link: &LinkConfig, nak: bool) -> bool {
        !nak && !self.in_handshake()
            && !self.replaying()
            && self.kept.len() < usize::from(link.buffer_flits.min(number::WINDOW))
    }

    /// The link is trained: numbers are agreed again, then everything kept goes again.
    pub fn trained(&mut self) {
        self.handshake = Some((0, 0));
        (self.handshake_flits, self.replay, self.prior, self.told) = (0, None, false, None);
        (self.tries, self.without_progress, self.deaf_flits) = (0, 0, 0);
        // The pattern begins anew, whatever NOPs were sent or left out before.
        self.explicit = EXPLICIT_FLITS;
    }

    /// The flit of the replay that goes now. It waits while a Nak goes out.
    pub fn next_replayed(&mut self, nak: bool) -> Option<F> {
        let at = self.replay.filter(|_| !nak)?;
        let flit = self.kept.get(at).cloned();
        self.replay = (!self.single && at + 1 < self.kept.len()).then_some(at + 1);
        if flit.is_some() {
            self.last = number::plus(self.acked, at as u16 + 1);
        }
        flit
    }

    /// Keeps new payload.
    pub fn keep(&mut self, flit: F) {
        self.kept.push_back(flit);
        self.last = self.next;
        self.next = number::next(self.next);
    }

    fn begin_replay(&mut self, link: &LinkConfig) {
        self.replay = (!self.kept.is_empty()).then_some(0);
        self.single = false;
        self.explicit_first = EXPLICIT_FLITS;
        self.without_progress = 0;
        self.deaf_flits = link.nak_ignore_flits;
    }

    fn try_replay(&mut self, link: &LinkConfig) -> Heard {
        let Some(tries) = link.replay_limit.after(self.tries) else { return Heard::Train };
        self.tries = tries;
        self.begin_replay(link);
        Heard::Replay
    }

    /// Hears a number that the peer has received well.
    pub fn heard(&mut self, command: ReplayCommand, n: u16, link: &LinkConfig) -> Heard {
        let freed = number::steps(self.acked, n);
        if n == 0 || usize::from(freed) > self.kept.len() {
            return Heard::OutOfWindow;
        }
        if freed > 0 {
            self.kept.drain(..usize::from(freed));
            // What the peer has meanwhile need not go again.
            // Where that leaves out numbers, the next ones are stated: an implied one would be too low.
            if self.replay.is_some_and(|at| self.single || at < usize::from(freed)) {
                self.explicit_first = EXPLICIT_FLITS;
            }
            let left = self.replay.filter(|_| !self.single).map(|at| at.saturating_sub(freed.into()));
            self.replay = left.filter(|&at| at < self.kept.len());
            if self.replay.is_none() {
                self.last = number::previous(self.next);
            }
            self.acked = n;
            (self.tries, self.without_progress) = (0, 0);
        }
        if command == ReplayCommand::Ack {
            if let Some((acks, _)) = &mut self.handshake {
                *acks = acks.saturating_add(1);
            }
        } else if !self.in_handshake() {
            // A standard Nak behind a selective one asks for more than is on its way.
            let one = command == ReplayCommand::NakSelective;
            if self.deaf_flits == 0 || self.single && !one {
                let heard = self.try_replay(link);
                self.single = one && heard == Heard::Replay;
                return heard;
            }
        }
        Heard::Fine
    }

    /// The header of the flit that goes now, and the clocks of one flit.
    pub fn header(&mut self, flit: &F, receiver: &mut Receiver<F>, link: &LinkConfig) -> FlitHeader {
        let flit_type = flit.header().flit_type;
        let command = if self.carries_nak(receiver) {
            receiver.nak_command_sent()
        } else if self.explicit_first > 0 {
            self.explicit_first -= 1;
            // Three of them, not four: an Ack comes next.
            self.explicit = 0;
            ReplayCommand::Explicit
        } else if self.explicit > 0 {
            self.explicit -= 1;
            ReplayCommand::Explicit
        } else {
            self.explicit = EXPLICIT_FLITS;
            self.told = Some(receiver.last_good());
            ReplayCommand::Ack
        };
        let explicit = command == ReplayCommand::Explicit;
        let seq = if explicit { self.last } else { receiver.last_good() };
        if self.single && self.replay.is_none() && is_payload(flit_type) {
            // Behind a flit that went again alone the stream goes on where it was.
            self.last = number::previous(self.next);
        }
        let prior = std::mem::replace(&mut self.prior, is_payload(flit_type));
        if let Some((acks, sent)) = &mut self.handshake {
            *sent = sent.saturating_add(explicit.into());
            self.handshake_flits += 1;
            if *acks >= HANDSHAKE.0 && *sent >= HANDSHAKE.1 {
                self.handshake = None;
                self.explicit_first = EXPLICIT_FLITS;
                if !self.kept.is_empty() {
                    self.begin_replay(link);
                }
            }
        }
        self.deaf_flits = self.deaf_flits.saturating_sub(1);
        FlitHeader { flit_type, prior, dllp_type: flit.header().dllp_type, command, seq }
    }

    /// The replay timer and the limit of the handshake, once a flit.
    pub fn clock(&mut self, link: &LinkConfig) -> Heard {
        if self.in_handshake() {
            return if self.handshake_flits > link.handshake_flits { Heard::Train } else { Heard::Fine };
        }
        if self.kept.is_empty() || self.replaying() {
            self.without_progress = 0;
            return Heard::Fine;
        }
        self.without_progress += 1;
        if self.without_progress >= link.replay_timer_flits { self.try_replay(link) } else { Heard::Fine }
    }
}
