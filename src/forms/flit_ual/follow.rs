//! A stream of which some flits go again: the reader follows the replay of one direction (`ualink` §7).
//!
//! Modelled: numbers in full and by their low bits, replays, replays that leave out what was acknowledged meanwhile, a link that
//! begins anew. Detail: it works at the output of a sender, where replays are seen, and behind the wire, where flits are
//! damaged and what follows them comes again. Left out: whether a replay is due; that takes both directions.
//!
//! A walk through one flit: good payload that is next is read, and the stream before it is kept under its number. One
//! with an older number puts that stream back. One whose number is ahead, because a flit before it was damaged, or not
//! known, is judged by itself. A stream that does not begin with NOPs of the last number, as a link does, has no
//! numbers; nothing is followed there.

use super::role;
use crate::follow::Kept;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::flit::{DlFlit, Payload};
use scalepool_protocols::ualink::header::UalHeader;
use scalepool_protocols::ualink::sequence::{LAST, MOST_UNACKED, from_low_bits, next, plus, steps};
use scalepool_protocols::ualink::stream::{UalDecodedFlit, Unpacker};

/// NOPs of the last number that begin a numbered stream; a sender sends 10 before payload, some may be damaged.
const NOPS_BEFORE: u8 = 3;
/// Bits of the number in a command.
const LOW_BITS: u16 = 7;
/// Bad flits in a row behind which low bits of a number do not name it.
const MOST_BAD: u8 = 7;
/// Rules that a flit breaks whatever stands before it.
const OF_ONE_FLIT: [&str; 4] = ["UAL-CRC", "UAL-FLH", "UAL-SEQ-01", "UAL-RXR-03"];

/// Where a flit stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UalFlitPlace {
    /// Behind the one before.
    Next,
    /// At another place of the stream.
    Elsewhere,
    /// Not known: it has been taken apart as the first of a stream.
    Alone,
}

/// Reads the flits of one direction of a link that retries.
#[derive(Debug, Clone)]
pub struct Follower {
    config: UalConfig,
    dir: Dir,
    stream: Unpacker,
    /// Payload that comes before the NOPs of a link says that there are no numbers.
    follows: bool,
    /// NOPs of the last number in a row.
    nops: u8,
    /// `None`: nothing is followed.
    kept: Option<Kept<Unpacker>>,
    /// Payload by number.
    payloads: Vec<Option<Payload>>,
    /// Number of the last payload, and the highest one; `None`: not known until one is stated in full.
    last: Option<u16>,
    newest: u16,
    /// Bad flits in a row.
    bad: u8,
}

impl Follower {
    /// A stream of which nothing has been read; `follows`: a replay is followed, else every flit is taken as it stands.
    pub fn new(config: UalConfig, dir: Dir, follows: bool) -> Follower {
        let stream = Unpacker::new(config, role(dir));
        let (payloads, last, newest) = (Vec::new(), None, LAST);
        Follower { config, dir, stream, follows, nops: 0, kept: None, payloads, last, newest, bad: 0 }
    }

    /// Takes the next flit apart.
    pub fn read(&mut self, unit: &DlFlit) -> (UalDecodedFlit, UalFlitPlace) {
        if !self.follows {
            return (self.stream.read(unit), UalFlitPlace::Next);
        }
        let header = unit.header();
        let whole = unit.crc() == unit.expected_crc(&self.config);
        if !whole || !header.is_usable() || header.zero_number().is_some() {
            self.bad = self.bad.saturating_add(1);
            return (self.stream.read(unit), UalFlitPlace::Next);
        }
        let bad = std::mem::take(&mut self.bad);
        if !header.payload() {
            let begins = self.nop(&header, bad);
            return (self.stream.read(unit), if begins { UalFlitPlace::Elsewhere } else { UalFlitPlace::Next });
        }
        if self.kept.is_none() {
            self.follows = false;
            return (self.stream.read(unit), UalFlitPlace::Next);
        }
        let payload = unit.payload();
        (self.nops, self.last) = (0, self.number(&header, &payload, bad));
        match (self.last, &mut self.kept) {
            (Some(number), Some(kept)) => {
                let expected = kept.next();
                if !kept.goes_on(number.into(), &mut self.stream) {
                    return self.alone(unit);
                }
                if number == next(self.newest) {
                    self.newest = number;
                }
                kept.taken(self.stream.clone());
                self.payloads[usize::from(number)] = Some(payload);
                let mut decoded = self.stream.read(unit);
                if expected == usize::from(number) {
                    return (decoded, UalFlitPlace::Next);
                }
                // It was shown with the flit in which it begins.
                decoded.finished = None;
                (decoded, UalFlitPlace::Elsewhere)
            }
            _ => self.alone(unit),
        }
    }

    /// A NOP repeats the number of the last payload. Whether the link begins with it.
    fn nop(&mut self, header: &UalHeader, bad: u8) -> bool {
        if self.is_of_a_start(header, bad) {
            self.nops += 1;
            if self.nops == NOPS_BEFORE {
                let fresh = Follower::new(self.config, self.dir, true);
                let kept = Some(Kept::new(1..=LAST.into(), MOST_UNACKED.into()));
                let payloads = vec![None; usize::from(LAST) + 1];
                *self = Follower { kept, payloads, last: Some(LAST), ..fresh };
            }
            // The stream is a new one.
            return self.nops == 0;
        }
        let low = match header {
            UalHeader::Explicit(header) => {
                (self.nops, self.last) = (0, Some(header.seq));
                return false;
            }
            UalHeader::Command(header) => u16::from(header.seq_lo),
        };
        self.last = self.last.filter(|_| bad < MOST_BAD).and_then(|last| {
            let in_replay = (1..=MOST_UNACKED).contains(&steps(last, self.newest));
            match last % 8 == low {
                true => Some(last),
                // A replay has ended early. Behind a bad flit it may as well go on.
                false if in_replay && self.newest % 8 == low => Some(self.newest).filter(|_| bad == 0),
                false => Some(from_low_bits(last, low as u8, false)),
            }
        });
        false
    }

    /// Whether a NOP tells the number before the first payload, of which it cannot be a repetition.
    fn is_of_a_start(&self, header: &UalHeader, bad: u8) -> bool {
        let (says, bits) = match header {
            UalHeader::Explicit(header) => (header.seq == LAST, LAST),
            UalHeader::Command(header) => (header.ack_req_seq == LAST && header.seq_lo == LOW_BITS as u8, LOW_BITS),
        };
        let Some(kept) = &self.kept else { return says };
        let missing = bad > 0 || self.last.is_none_or(|last| kept.next() != usize::from(next(last)));
        let known = [self.last.unwrap_or(LAST), self.newest];
        says && !missing && known.iter().all(|n| n & bits != LAST & bits)
    }

    /// The number of a payload flit; `None`: it does not say.
    fn number(&self, header: &UalHeader, payload: &Payload, bad: u8) -> Option<u16> {
        let low = match header {
            UalHeader::Explicit(header) => return Some(header.seq),
            UalHeader::Command(header) => header.seq_lo,
        };
        let last = self.last.filter(|_| bad < MOST_BAD)?;
        let due = from_low_bits(last, low, true);
        let to_newest = steps(last, self.newest);
        if due == next(last) || bad > 0 || to_newest > MOST_UNACKED {
            return Some(due).filter(|&number| number != 0);
        }
        // What was acknowledged meanwhile is left out of a replay.
        let fits = |n: u16| n == next(self.newest) || self.payloads[usize::from(n)].as_ref() == Some(payload);
        let mut behind = (1..=to_newest + 1).map(|ahead| plus(last, ahead));
        behind.find(|&n| n % 8 == u16::from(low) && fits(n)).or(Some(due)).filter(|&number| number != 0)
    }

    /// A flit as the first of a stream, with what it breaks by itself.
    fn alone(&self, unit: &DlFlit) -> (UalDecodedFlit, UalFlitPlace) {
        let mut decoded = Unpacker::new(self.config, role(self.dir)).read(unit);
        decoded.violations.retain(|violation| OF_ONE_FLIT.iter().any(|rules| violation.rule.starts_with(rules)));
        decoded.tl.iter_mut().filter_map(|tl| tl.read.as_mut()).for_each(|read| read.violations.clear());
        decoded.finished = None;
        (decoded, UalFlitPlace::Alone)
    }
}
