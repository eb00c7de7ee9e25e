//! A stream of which some flits go again: the reader follows the replay of one direction (`cxl-256b` §9).
//!
//! Modelled: numbers stated and implied, one bad flit judged by the Prior bit of the next, replays, a flit that goes again alone
//! (selective Nak). Detail: it works at the output of a sender, where replays are seen, and behind the wire, where flits are
//! damaged and what follows them comes again. Left out: whether a replay is due; that takes both directions.
//!
//! A walk through one flit: a good payload flit that is next is read, and the stream before it is kept under its number.
//! One with an older number puts that stream back. One whose number is ahead, because a flit before it was damaged, or not
//! known, is judged by itself; it is kept for a sender that sends the missing one alone. A stream that does not begin with
//! NOPs of the last number, as a link does, has no numbers; nothing is followed there.

use super::Cxl256FlitDecoder;
use crate::follow::Kept;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::check::Findings;
use scalepool_protocols::cxl::cxl256::code::ReplayCommand;
use scalepool_protocols::cxl::cxl256::config::Cxl256Config;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::number::{self, LAST, WINDOW, is_payload};
use scalepool_protocols::cxl::cxl256::stream::Cxl256DecodedFlit;
use std::collections::BTreeMap;

/// NOPs of the last number that begin a numbered stream; a sender states it 9 times before payload, some may be damaged.
const NOPS_BEFORE: u8 = 3;
/// Rules that a flit breaks whatever stands before it.
const OF_ONE_FLIT: [&str; 5] = ["CXL256-CRC", "CXL256-FEC", "CXL256-HDR", "CXL256-LOP-04", "CXL256-RTY-01"];

/// Reads the flits of one direction of a link that retries.
#[derive(Debug, Clone)]
pub struct Follower {
    mode: Mode,
    dir: Dir,
    config: Cxl256Config,
    decoder: Cxl256FlitDecoder,
    /// Payload that comes before the NOPs of a link says that there are no numbers.
    follows: bool,
    /// NOPs of the last number.
    nops: u8,
    /// `None`: nothing is followed.
    kept: Option<Kept<Cxl256FlitDecoder>>,
    /// Number of the last payload as the sender counts; `None`: not known until one is stated.
    last: Option<u16>,
    /// Number that the next payload has if it does not state one: the flit before has gone again alone.
    resumes: Option<u16>,
    /// Bad flits in a row.
    bad: u8,
    /// Payload ahead of one that is missing.
    ahead: BTreeMap<u16, Cxl256Flit>,
}

impl Follower {
    /// A stream of which nothing has been read; `follows`: a replay is followed, else every flit is taken as it stands.
    pub fn new(mode: Mode, dir: Dir, config: Cxl256Config, follows: bool) -> Follower {
        Follower {
            mode,
            dir,
            config,
            decoder: Cxl256FlitDecoder::with_config(mode, dir, config),
            follows,
            nops: 0,
            kept: None,
            last: None,
            resumes: None,
            bad: 0,
            ahead: BTreeMap::new(),
        }
    }

    /// Takes the next flit apart and judges it.
    pub fn read(&mut self, unit: &Cxl256Flit) -> (Cxl256DecodedFlit, Findings) {
        if !self.follows {
            return self.decoder.read(unit);
        }
        let received = unit.receive(self.mode);
        if !received.is_good() || received.suspect {
            self.bad = self.bad.saturating_add(1);
            self.resumes = None;
            return self.decoder.read(unit);
        }
        let header = received.flit.header();
        let payload = is_payload(header.flit_type);
        if payload && self.kept.is_none() {
            self.follows = false;
        }
        if !self.follows || header.seq == 0 && header.command == ReplayCommand::Explicit {
            // IDLE, or payload that no receiver takes.
            return if self.follows { self.decoder.clone().read(unit) } else { self.decoder.read(unit) };
        }
        self.last = self.number(&header, payload);
        if !payload {
            self.begins(&header);
            return self.decoder.read(unit);
        }
        let number = self.last;
        if number.is_some_and(|number| self.reaches(number)) {
            return self.in_stream(unit);
        }
        self.ahead.extend(number.map(|number| (number, *unit)));
        self.alone(unit)
    }

    /// A NOP states the last number before the first payload.
    fn begins(&mut self, header: &FlitHeader) {
        if self.kept.is_some() || header.command != ReplayCommand::Explicit || header.seq != LAST {
            return;
        }
        self.nops += 1;
        if self.nops == NOPS_BEFORE {
            self.kept = Some(Kept::new(1..=LAST.into(), WINDOW.into()));
        }
    }

    /// The number of the last payload behind a good flit, as it states it or as the sender counts.
    fn number(&mut self, header: &FlitHeader, payload: bool) -> Option<u16> {
        let bad = std::mem::take(&mut self.bad);
        let resumes = self.resumes.take();
        let lost = bad == 1 && header.prior;
        let last = self.last.filter(|_| bad < 2).map(|last| if lost { number::next(last) } else { last });
        let counted = if payload { last.map(number::next) } else { last };
        if header.command != ReplayCommand::Explicit {
            return if payload { resumes.or(counted) } else { counted };
        }
        // A replay states its first three numbers; of one flit alone the next one goes on where the stream was.
        self.resumes = counted.filter(|&counted| payload && counted != header.seq);
        Some(header.seq)
    }

    /// Whether the stream can be put before the payload with this number.
    fn reaches(&mut self, number: u16) -> bool {
        let Some(kept) = &mut self.kept else { return false };
        if kept.goes_on(number.into(), &mut self.decoder) {
            return true;
        }
        let missing = number::steps(kept.next() as u16, number);
        let between: Vec<Cxl256Flit> = (0..missing.min(WINDOW + 1))
            .map_while(|n| self.ahead.get(&number::plus(kept.next() as u16, n)).copied())
            .collect();
        if between.len() != usize::from(missing) {
            return false;
        }
        // The one flit that was missing has come alone; what stood behind it has been judged by itself.
        between.iter().for_each(|flit| drop(self.in_stream(flit)));
        true
    }

    /// The flit that is next.
    fn in_stream(&mut self, unit: &Cxl256Flit) -> (Cxl256DecodedFlit, Findings) {
        let before = self.decoder.clone();
        if let Some(kept) = &mut self.kept {
            self.ahead.remove(&(kept.next() as u16));
            kept.taken(before);
        }
        self.decoder.read(unit)
    }

    /// A flit as the first of a stream, with what it breaks by itself.
    fn alone(&self, unit: &Cxl256Flit) -> (Cxl256DecodedFlit, Findings) {
        let (decoded, mut findings) = Cxl256FlitDecoder::with_config(self.mode, self.dir, self.config).read(unit);
        findings.violations.retain(|violation| OF_ONE_FLIT.iter().any(|rules| violation.rule.starts_with(rules)));
        findings.lints.clear();
        (decoded, findings)
    }
}
