//! The sending side: identifiers, what is kept for a replay, and when one begins (`nvlink` §6.3).
//!
//! Modelled: the window, acknowledgements, time-out, identical acknowledgements, the count of tries. Left out: which
//! packet is next, and the flits of the packet under way.

use super::config::LinkConfig;
use super::{IDS, steps};
use scalepool_protocols::nvlink::Packet;
use std::collections::VecDeque;

/// A packet that is not acknowledged.
#[derive(Debug, Clone, Copy)]
struct UnacknowledgedPacket {
    packet: Packet,
    first: u16,
}

/// What an acknowledgement or a flit clock led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NvlTransmitOutcome {
    /// Nothing to do.
    Fine,
    /// A replay has begun.
    Replay,
    /// There were too many without progress: the link is down.
    Down,
    /// The acknowledgement names no packet that is open.
    Wrong,
}

/// The transmitter.
#[derive(Debug, Clone, Default)]
pub struct Transmitter {
    kept: VecDeque<UnacknowledgedPacket>,
    kept_flits: usize,
    next: u16,
    /// Place in `kept` of the packet that goes again next.
    again: Option<usize>,
    inits: u8,
    tries: u8,
    /// Replays since something was accepted, answered or not.
    fruitless: u32,
    /// Flit clocks without progress.
    waited_flits: u32,
    last_ack: Option<u16>,
    equal_acks: u8,
    /// The last replay began without progress since: identical acknowledgements are those of the error that it repairs.
    deaf: bool,
}

impl Transmitter {
    /// Identifier of the next new flit.
    pub fn next_id(&self) -> u16 {
        self.next
    }

    /// Flits that are not acknowledged.
    pub fn unacknowledged_flits(&self) -> usize {
        self.kept_flits
    }

    /// Whether a replay is under way.
    pub fn is_replaying(&self) -> bool {
        self.inits > 0 || self.again.is_some()
    }

    /// Whether a REPLAY_INIT is next.
    pub fn begins_replay(&self) -> bool {
        self.inits > 0
    }

    /// Replays without progress.
    pub fn tries(&self) -> u8 {
        self.tries
    }

    /// Whether a new packet of so many flits may go. Behind a replay nothing new goes before some of it is acknowledged: the
    /// IDLE in its place say what we have accepted, to a peer that may hunt as well.
    pub fn has_room(&self, flits: usize, config: &LinkConfig) -> bool {
        let proved = self.tries == 0 || self.kept.is_empty();
        proved && !self.is_replaying() && self.kept_flits + flits <= usize::from(config.window_flits.min(IDS / 2))
    }

    /// A new packet goes: it takes its identifiers and is kept.
    pub fn keep(&mut self, packet: Packet) {
        let flits = packet.flits().len();
        self.kept.push_back(UnacknowledgedPacket { packet, first: self.next });
        self.kept_flits += flits;
        self.next = (self.next + flits as u16) % IDS;
    }

    /// First identifier of the REPLAY_INIT that goes now.
    pub fn next_init(&mut self) -> Option<u16> {
        self.inits = self.inits.checked_sub(1)?;
        Some(self.oldest())
    }

    /// The packet that goes again now.
    pub fn next_again(&mut self) -> Option<Packet> {
        let at = self.again?;
        let packet = self.kept.get(at).map(|kept| kept.packet);
        self.again = (at + 1 < self.kept.len()).then_some(at + 1);
        packet
    }

    fn oldest(&self) -> u16 {
        self.kept.front().map_or(self.next, |kept| kept.first)
    }

    /// A header without acknowledgement: the peer does not hunt, or did not when it sent that. So the last replay has not
    /// failed, whatever has hit what came behind its REPLAY_INIT; where nothing is kept, that is all that it could reach. It
    /// begins no other replay: one within a replay would give the peer packets twice.
    pub fn no_ack(&mut self) {
        self.tries = 0;
        if self.kept.is_empty() {
            (self.deaf, self.waited_flits, self.fruitless) = (false, 0, 0);
        }
    }

    /// Replays in a row without a packet that was accepted or, where nothing is kept, an answer.
    pub fn fruitless(&self) -> u32 {
        self.fruitless
    }

    /// A replay of nothing has begun, and the peer has not said whether it has found the stream again.
    pub fn awaits_answer(&self) -> bool {
        self.deaf && self.kept.is_empty()
    }

    /// An acknowledgement.
    pub fn ack(&mut self, id: u16, config: &LinkConfig) -> NvlTransmitOutcome {
        let covered = usize::from(steps(self.oldest(), (id + 1) % IDS));
        if covered == 0 {
            let same = self.last_ack == Some(id) || self.last_ack.is_none();
            self.last_ack = Some(id);
            self.equal_acks = if same { self.equal_acks.saturating_add(1) } else { 1 };
            let enough = self.equal_acks >= config.equal_acks && !self.deaf;
            return if enough { self.replay(config) } else { NvlTransmitOutcome::Fine };
        }
        if covered > self.kept_flits {
            return NvlTransmitOutcome::Wrong;
        }
        let (mut left, mut gone) = (covered, 0);
        while let Some(kept) = self.kept.front().filter(|kept| kept.packet.flits().len() <= left) {
            left -= kept.packet.flits().len();
            gone += 1;
            self.kept.pop_front();
        }
        self.kept_flits -= covered - left;
        self.again = self.again.map(|at| at.saturating_sub(gone)).filter(|&at| at < self.kept.len());
        if gone > 0 {
            (self.tries, self.waited_flits, self.deaf) = (0, 0, false);
            self.fruitless = 0;
            (self.last_ack, self.equal_acks) = (Some(id), 1);
        }
        if left > 0 { NvlTransmitOutcome::Wrong } else { NvlTransmitOutcome::Fine }
    }

    /// One flit clock.
    pub fn clock(&mut self, config: &LinkConfig) -> NvlTransmitOutcome {
        if self.kept.is_empty() && !self.deaf {
            self.waited_flits = 0;
            return NvlTransmitOutcome::Fine;
        }
        // The time of a replay begins when all of it has gone.
        self.waited_flits = if self.is_replaying() { 0 } else { self.waited_flits + 1 };
        if self.waited_flits < config.timeout_flits {
            return NvlTransmitOutcome::Fine;
        }
        if self.kept.is_empty() {
            (self.deaf, self.waited_flits, self.equal_acks) = (false, 0, 0);
            return NvlTransmitOutcome::Fine;
        }
        self.replay(config)
    }

    fn replay(&mut self, config: &LinkConfig) -> NvlTransmitOutcome {
        (self.waited_flits, self.equal_acks, self.deaf) = (0, 0, true);
        if self.tries >= config.replay_tries {
            (self.inits, self.again) = (0, None);
            return NvlTransmitOutcome::Down;
        }
        self.tries += 1;
        self.fruitless += 1;
        self.inits = config.replay_inits;
        self.again = (!self.kept.is_empty()).then_some(0);
        NvlTransmitOutcome::Replay
    }
}
