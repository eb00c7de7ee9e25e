//! Sequence numbers of TLPs on 68B links: replay buffer and timer at the sender, Ack and Nak at the receiver.
//!
//! Modelled: the state of the PCI Express data link layer \[C\]: NEXT_TRANSMIT_SEQ, ACKD_SEQ, REPLAY_TIMER and REPLAY_NUM;
//! NEXT_RCV_SEQ, NAK_SCHEDULED and the latency timer of Ack. Numbers have 12 bits.
//!
//! A walk: a new TLP gets the next number and is kept. An Ack frees everything up to its number; a Nak does the same,
//! then what is left goes again in order; so does everything when the timer ends. One replay too many asks for training.

use super::config::{IoConfig, ReplayConfig};
use std::collections::VecDeque;

/// Numbers modulo 4096 (`cxl-io` §1.4).
const MODULUS: u16 = 1 << 12;

/// Steps from one number to another.
const fn steps(from: u16, to: u16) -> u16 {
    to.wrapping_sub(from) % MODULUS
}

const fn plus(n: u16, m: u16) -> u16 {
    (n + m) % MODULUS
}

/// What an acknowledgement or the timer has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// Taken.
    Fine,
    /// It started a replay.
    Replay,
    /// One replay too many.
    Train,
    /// Its number was never sent, or was freed long ago.
    OutOfWindow,
}

/// Sender's side.
#[derive(Debug, Clone)]
pub struct IoSequenceSender {
    next: u16,
    acked: u16,
    /// TLPs behind `acked`, in order.
    kept: VecDeque<Vec<u8>>,
    /// Next TLP of a replay, counted from the front of `kept`.
    replay: Option<usize>,
    tries: u8,
    /// Flit clock of the last progress.
    since: u64,
    timer_flits: u64,
    most: usize,
    most_tries: u8,
}

impl IoSequenceSender {
    /// Nothing sent.
    pub fn new(config: &ReplayConfig, io: &IoConfig) -> IoSequenceSender {
        IoSequenceSender {
            next: 0,
            acked: MODULUS - 1,
            kept: VecDeque::new(),
            replay: None,
            tries: 0,
            since: 0,
            timer_flits: io.flits(config.replay_timer_fs, 1),
            most: config.buffer_tlps,
            most_tries: config.replays,
        }
    }

    /// TLPs in the replay buffer.
    pub fn unacknowledged(&self) -> usize {
        self.kept.len()
    }

    /// Whether a new TLP may go.
    pub fn has_room(&self) -> bool {
        self.replay.is_none() && self.kept.len() < self.most
    }

    /// The number that the next new TLP gets.
    pub fn next_number(&self) -> u16 {
        self.next
    }

    /// Gives a new TLP its number and keeps it.
    pub fn keep(&mut self, tlp: Vec<u8>, now: u64) -> u16 {
        if self.kept.is_empty() {
            self.since = now;
        }
        self.kept.push_back(tlp);
        let number = self.next;
        self.next = plus(self.next, 1);
        number
    }

    /// The next TLP of a replay with its number.
    pub fn next_replayed(&mut self, now: u64) -> Option<(u16, &[u8])> {
        let at = self.replay?;
        self.replay = (at + 1 < self.kept.len()).then_some(at + 1);
        self.since = now;
        let number = plus(self.acked, at as u16 + 1);
        self.kept.get(at).map(|tlp| (number, &tlp[..]))
    }

    /// Everything kept goes again; for training, which counts no try.
    pub fn restart(&mut self, now: u64) {
        self.replay = (!self.kept.is_empty()).then_some(0);
        (self.tries, self.since) = (0, now);
    }

    fn try_replay(&mut self, now: u64) -> Heard {
        if self.kept.is_empty() {
            return Heard::Fine;
        }
        self.since = now;
        if self.tries == self.most_tries {
            return Heard::Train;
        }
        self.tries += 1;
        self.replay = Some(0);
        Heard::Replay
    }

    /// Hears an Ack, or a Nak: the number is that of the last good TLP.
    pub fn heard(&mut self, number: u16, nak: bool, now: u64) -> Heard {
        let freed = usize::from(steps(self.acked, number));
        if freed > self.kept.len() {
            return Heard::OutOfWindow;
        }
        if freed > 0 {
            self.kept.drain(..freed);
            self.acked = number;
            let left = self.replay.map(|at| at.saturating_sub(freed));
            self.replay = left.filter(|&at| at < self.kept.len());
            (self.tries, self.since) = (0, now);
        }
        if nak { self.try_replay(now) } else { Heard::Fine }
    }

    /// The replay timer.
    pub fn clock(&mut self, now: u64) -> Heard {
        let waits = !self.kept.is_empty() && self.replay.is_none();
        if waits && now > self.since + self.timer_flits { self.try_replay(now) } else { Heard::Fine }
    }
}

/// What a number makes of a TLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Take it.
    Take,
    /// It had been here.
    Duplicate,
    /// One before it is missing.
    Ahead,
}

/// The numbers of a direction, for those who watch it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SequenceWatch {
    next: u16,
}

/// Where a TLP stands in its direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SequencePlace {
    /// It is the next one.
    Next,
    /// It has passed before.
    Again,
    /// One before it is missing.
    Ahead,
}

impl SequenceWatch {
    /// Number of the TLP that comes next.
    pub fn next(&self) -> u16 {
        self.next
    }

    /// Where a good TLP stands; the next one is taken.
    pub fn place(&mut self, number: u16) -> SequencePlace {
        match steps(self.next, number) {
            0 => {
                self.next = plus(number, 1);
                SequencePlace::Next
            }
            ahead if ahead < MODULUS / 2 => SequencePlace::Ahead,
            _ => SequencePlace::Again,
        }
    }
}

/// Receiver's side.
#[derive(Debug, Clone)]
pub struct Receiver {
    next: u16,
    /// A Nak went, and the TLP that it asks for has not come.
    nak_scheduled: bool,
    nak_due: bool,
    /// Flit clock at which an Ack must go.
    ack_at: Option<u64>,
    latency_flits: u64,
}

impl Receiver {
    /// Nothing received.
    pub fn new(config: &ReplayConfig, io: &IoConfig) -> Receiver {
        let latency_flits = config.ack_latency_fs / io.flit_fs;
        Receiver { next: 0, nak_scheduled: false, nak_due: false, ack_at: None, latency_flits }
    }

    /// Number of the last good TLP.
    pub fn last_good(&self) -> u16 {
        plus(self.next, MODULUS - 1)
    }

    /// A TLP whose LCRC fits.
    pub fn good(&mut self, number: u16, now: u64) -> Verdict {
        if number == self.next {
            self.next = plus(self.next, 1);
            (self.nak_scheduled, self.nak_due) = (false, false);
            self.ack_at.get_or_insert(now + self.latency_flits);
            return Verdict::Take;
        }
        // At most half of the numbers behind; any other came too early [C].
        if steps(number, self.next) <= MODULUS / 2 {
            self.ack_at = Some(now);
            return Verdict::Duplicate;
        }
        self.bad();
        Verdict::Ahead
    }

    /// A TLP that cannot be used: asks for it, once.
    pub fn bad(&mut self) {
        if !std::mem::replace(&mut self.nak_scheduled, true) {
            self.nak_due = true;
        }
    }

    /// The link was down: what a Nak asked for comes again without it.
    pub fn restart(&mut self, now: u64) {
        (self.nak_scheduled, self.nak_due) = (false, false);
        self.ack_at = self.ack_at.map(|_| now);
    }

    /// Whether nothing is due or will be without a new TLP.
    pub fn is_quiet(&self) -> bool {
        !self.nak_due && self.ack_at.is_none()
    }

    /// What is due: the number and whether it is a Nak. A Nak acknowledges too.
    pub fn due(&mut self, now: u64) -> Option<(u16, bool)> {
        let nak = std::mem::take(&mut self.nak_due);
        if nak || self.ack_at.is_some_and(|at| now >= at) {
            self.ack_at = None;
            return Some((self.last_good(), nak));
        }
        None
    }
}
