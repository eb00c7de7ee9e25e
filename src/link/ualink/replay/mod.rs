//! Link-level replay of UALink (`ualink` §7): which flits are taken, what is sent again, what a flit's header says.
//!
//! Modelled: every variable of the sheet's table at its width, with the sheet's names in the docs. Detail: decisions a flit,
//! as the text and the flow chart have them. Left out: the bits of the header and of the payload; a [`Head`] is what the
//! header says, the payload is whatever the caller keeps.
//!
//! A walk through one flit time. [`Replay::receive`] gets the head of a flit, or nothing when its CRC is bad: first its
//! Ack or Replay Request acts on our transmitter, then its number decides whether its payload is taken. Then
//! [`Replay::transmit`] sends a flit: the next one of a replay or new payload or none, under a head whose kind is the first
//! of: replay begins, a number in full is due, Replay Request, Ack. At last the watchdog counts.

pub mod config;
mod health;
mod receive;
#[cfg(test)]
mod tests;
mod transmit;
mod window;

pub use config::ReplayConfig;
pub use receive::{UalFlitOutcome, UalReceived};
pub use transmit::UalSentFlit;

use scalepool_protocols::ualink::sequence;
use std::collections::VecDeque;

/// What the header of a DL flit says (`ualink` §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The flit carries payload.
    pub payload: bool,
    /// The rest.
    pub says: Says,
}

/// Number or command of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// The flit's own number in full.
    Number {
        /// 1 to 511; 0 is reserved.
        number: u16,
        /// The flit goes again.
        replayed: bool,
    },
    /// All payload up to a number has come well.
    Ack {
        /// 1 to 511; 0 is reserved.
        number: u16,
        /// Low three bits of the flit's own number.
        own_low: u8,
    },
    /// Payload is asked for again from a number on.
    Request {
        /// 1 to 511; 0 is reserved.
        number: u16,
        /// Low three bits of the flit's own number.
        own_low: u8,
    },
}

/// Counters, from the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReplayStats {
    /// Payload sent for the first time.
    pub sent: u64,
    /// Payload sent again.
    pub replayed: u64,
    /// Flits without payload.
    pub nops: u64,
    /// Replays begun at the peer's request.
    pub replays: u64,
    /// Copies of Replay Requests sent.
    pub requests: u64,
    /// Payload taken.
    pub taken: u64,
    /// Flits with a bad CRC or a reserved header.
    pub bad: u64,
    /// Good flits that were dropped.
    pub dropped: u64,
    /// Of them payload that had been taken already.
    pub duplicates: u64,
    /// Times that a replay was asked for, each in several copies.
    pub asked: u64,
    /// Copies of Replay Requests that came.
    pub requests_heard: u64,
}

impl ReplayStats {
    /// Adds those of a session that is over.
    pub fn add(&mut self, other: &ReplayStats) {
        let ReplayStats {
            sent,
            replayed,
            nops,
            replays,
            requests,
            taken,
            bad,
            dropped,
            duplicates,
            asked,
            requests_heard,
        } = other;
        self.sent += sent;
        self.replayed += replayed;
        self.nops += nops;
        self.replays += replays;
        self.requests += requests;
        self.taken += taken;
        self.bad += bad;
        self.dropped += dropped;
        self.duplicates += duplicates;
        self.asked += asked;
        self.requests_heard += requests_heard;
    }
}

/// Replay Requests of the peer, in flits received.
#[derive(Debug, Clone, Copy, Default)]
struct PeerAsks {
    /// Flits received.
    flits: u64,
    /// The last one whose CRC was bad.
    bad_at: Option<u64>,
    /// Number that is asked for, and the first copy that has come.
    target: Option<(u16, u64)>,
    /// The last two copies, the older one first.
    copies: [Option<u64>; 2],
}

/// Both directions of the replay machine of one end; `P` is the payload that is kept.
#[derive(Debug, Clone)]
pub struct Replay<P> {
    config: ReplayConfig,
    /// What the peer has asked for, to judge its copies; no variable of the sheet.
    peer_asks: PeerAsks,
    /// Rx_last_seq_calc: the last number taken in order.
    rx_last: u16,
    /// Rx_last_ack: the last acknowledgement that our transmitter took.
    acked: u16,
    /// Rx_bad_crc_count, to 7.
    bad_crc: u8,
    /// Rx_ambiguous: the low bits of a number no longer tell it.
    ambiguous: bool,
    /// Rx_replay: waiting for the replay that was asked for.
    waiting: bool,
    /// What is waited for may come as it is sent first: the replay was asked for since the last flit came twice.
    behind_copy: bool,
    /// Rx_unexpected_count, to 255.
    unexpected: u8,
    /// Rx_replay_ignore_count.
    ignore: u8,
    /// Commands in a row that have come well.
    commands: u8,
    /// Tx_last_seq: the last number given.
    tx_last: u16,
    /// Tx_first_replay: the next flit is the first of a replay.
    first_replay: bool,
    /// Number that a replay sends next; `Some` is Tx_replay.
    replay_at: Option<u16>,
    /// Tx_replay_req_count: copies of the Replay Request left.
    requests_left: u8,
    /// Tx_replay_req_seq_no: what they ask for.
    request_number: u16,
    /// FEC group that carried the copy sent last.
    request_group: Option<u64>,
    /// The first copy has gone and fixed the number.
    request_latched: bool,
    /// Tx_explicit_count.
    explicit: i8,
    /// Tx_ack_counter \[flit times\].
    watchdog: u32,
    /// Payload from `acked` + 1 to `tx_last`.
    kept: VecDeque<P>,
    flits_sent: u64,
    stats: ReplayStats,
}

impl<P> Replay<P> {
    /// An end after reset.
    pub fn new(config: ReplayConfig) -> Replay<P> {
        Replay {
            config,
            peer_asks: PeerAsks::default(),
            rx_last: sequence::LAST,
            acked: sequence::LAST,
            bad_crc: 0,
            ambiguous: false,
            waiting: false,
            behind_copy: false,
            unexpected: 0,
            ignore: 0,
            commands: 0,
            tx_last: sequence::LAST,
            first_replay: false,
            replay_at: None,
            requests_left: 0,
            request_number: sequence::LAST,
            request_group: None,
            request_latched: false,
            explicit: transmit::EXPLICIT_FLITS,
            watchdog: 0,
            kept: VecDeque::new(),
            flits_sent: 0,
            stats: ReplayStats::default(),
        }
    }

    /// Payload flits that are not acknowledged.
    pub fn unacknowledged(&self) -> usize {
        self.kept.len()
    }

    /// New payload has been sent by the end that this machine follows; its number is the next one.
    pub fn follow_sent(&mut self, payload: P) {
        self.kept.push_back(payload);
        self.tx_last = sequence::next(self.tx_last);
    }

    /// Counters.
    pub fn stats(&self) -> &ReplayStats {
        &self.stats
    }

    /// Whether a replay is being sent.
    pub fn is_replaying(&self) -> bool {
        self.replay_at.is_some()
    }

    /// Whether a replay is waited for.
    pub fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Whether too many flits in a row were bad for three bits to tell a number.
    pub fn is_ambiguous(&self) -> bool {
        self.ambiguous
    }

    /// Last number taken in order.
    pub fn last_taken(&self) -> u16 {
        self.rx_last
    }

    /// Last number given to payload.
    pub fn last_given(&self) -> u16 {
        self.tx_last
    }

    /// Last number that the peer has acknowledged.
    pub fn last_acknowledged(&self) -> u16 {
        self.acked
    }

    /// Counts while a replay is waited for, as Rx_unexpected_count.
    pub fn unexpected(&self) -> u8 {
        self.unexpected
    }

    /// Nothing is kept, waited for or asked for.
    pub fn is_quiet(&self) -> bool {
        self.kept.is_empty() && !self.waiting && self.requests_left == 0 && !self.ambiguous
    }
}
