//! Numbers of received flits: which one is due, what is missing, what to ask for (`cxl-256b` §9).
//!
//! Modelled: numbers stated and implied, one bad flit judged by the Prior bit of the next, two bad flits in a row,
//! standard Nak, selective Nak for a single loss. Left out: what the flits hold.
//!
//! A walk through one error: a bad flit comes. If the next good one says that it was a NOP, nothing is missing. If it was
//! payload, or a second bad flit comes first, a Nak is due and goes out in three flits; what is in flight until then lies
//! ahead and is dropped. The replay begins with the number that is due, stated; taking it ends the wait. With a selective
//! Nak what lies ahead is kept and the one missing flit comes alone; one more bad flit before that makes it a standard Nak.

use super::number::{self, Place};
use scalepool_protocols::cxl::cxl256::code::{FlitType, ReplayCommand};
use scalepool_protocols::cxl::cxl256::header::FlitHeader;

/// Flits in a row that carry a Nak (`cxl-256b` §9).
pub const NAK_FLITS: u8 = 3;

/// Whether flits of a type take a number and stand in the retry buffer (`cxl-256b` §1.4).
pub fn is_payload(flit_type: FlitType) -> bool {
    flit_type != FlitType::Nop
}

/// What becomes of a good flit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The payload that was due.
    Take,
    /// Not payload.
    Nothing,
    /// Payload that has been here.
    Duplicate,
    /// Payload that lies ahead of one that is missing, or has no known number.
    Ahead,
    /// Payload with this number that lies ahead of the only one that is missing: it is kept.
    Keep(u16),
    /// Payload with number 0.
    Zero,
}

/// Receive side of the sequence numbers.
#[derive(Debug, Clone)]
pub struct Receiver {
    /// Number of the payload that is due.
    pub expected: u16,
    /// Number of the last payload of the stream as the sender counts; `None`: not known until one is stated.
    last: Option<u16>,
    bad_run: u8,
    /// A Nak has been asked for and what it asks for has not come.
    pub nak_open: bool,
    /// It has asked for one flit alone.
    one_missing: bool,
    /// Whether a single loss is asked for alone.
    selective: bool,
    /// Flits that still have to carry the Nak.
    pub nak_flits: u8,
    /// One of them has gone out.
    nak_begun: bool,
    /// Whether the flit before was payload; `None`: there was none, or it was bad.
    before: Option<bool>,
    /// Naks of the peer in a row; `None`: a bad flit may have been one of them.
    peer_naks: Option<u8>,
}

impl Default for Receiver {
    fn default() -> Self {
        Receiver {
            expected: 1,
            last: None,
            bad_run: 0,
            nak_open: false,
            one_missing: false,
            selective: false,
            nak_flits: 0,
            nak_begun: false,
            before: None,
            peer_naks: Some(0),
        }
    }
}

impl Receiver {
    /// One that asks for a single loss alone, or never does.
    pub fn new(selective: bool) -> Receiver {
        Receiver { selective, ..Receiver::default() }
    }

    /// The Nak that is due.
    pub fn nak_command(&self) -> ReplayCommand {
        if self.one_missing { ReplayCommand::NakSelective } else { ReplayCommand::NakStandard }
    }

    /// Payload that was kept has become due and is taken.
    pub fn take_kept(&mut self) {
        self.expected = number::next(self.expected);
    }

    /// The last number received well, which Ack and Nak carry.
    pub fn last_good(&self) -> u16 {
        number::previous(self.expected)
    }

    /// The link is trained: what was on the wire is gone, the number that is due stays.
    pub fn trained(&mut self) {
        *self = Receiver { expected: self.expected, ..Receiver::new(self.selective) };
    }

    fn nak(&mut self) {
        self.nak_open = true;
        self.one_missing = false;
        self.nak_flits = NAK_FLITS;
    }

    /// A flit that could not be repaired.
    pub fn bad(&mut self) {
        self.bad_run = self.bad_run.saturating_add(1);
        self.before = None;
        self.peer_naks = None;
        if self.bad_run >= 2 {
            self.last = None;
            self.nak();
        } else if self.one_missing {
            self.nak();
        }
    }

    /// Whether the Prior bit of a good flit fits the flit before it, as far as that is known.
    pub fn prior_fits(&self, header: &FlitHeader) -> bool {
        self.before.is_none_or(|payload| payload == header.prior)
    }

    /// Follows the Naks of the peer: how many stood in a row when a good flit ends a run that was too short.
    pub fn short_nak_run(&mut self, header: &FlitHeader) -> Option<u8> {
        let is_nak = matches!(header.command, ReplayCommand::NakStandard | ReplayCommand::NakSelective);
        if is_nak {
            self.peer_naks = self.peer_naks.map(|n| n.saturating_add(1));
            return None;
        }
        self.peer_naks.replace(0).filter(|n| (1..NAK_FLITS).contains(n))
    }

    /// Nothing is missing, in doubt or to be asked for.
    pub fn is_settled(&self) -> bool {
        let at_rest = self.last == Some(self.last_good()) && self.bad_run == 0 && self.peer_naks == Some(0);
        at_rest && !self.nak_open && self.nak_flits == 0
    }

    /// The peer has left out NOPs: the flit before the next one was a NOP.
    pub fn nops_left_out(&mut self) {
        self.before = Some(false);
    }

    /// Whether a Nak has gone out in a flit and has to go out in more.
    pub const fn amid_nak(&self) -> bool {
        self.nak_begun
    }

    /// A flit goes out with the Nak that is due.
    pub fn nak_command_sent(&mut self) -> ReplayCommand {
        self.nak_flits = self.nak_flits.saturating_sub(1);
        self.nak_begun = self.nak_flits > 0;
        self.nak_command()
    }

    /// A good flit.
    pub fn good(&mut self, header: &FlitHeader) -> Verdict {
        let payload = is_payload(header.flit_type);
        let explicit = header.command == ReplayCommand::Explicit;
        if explicit && header.seq == 0 {
            // IDLE, or payload that must not have this number.
            return if payload { Verdict::Zero } else { Verdict::Nothing };
        }
        self.before = Some(payload);
        let bad_run = std::mem::take(&mut self.bad_run);
        if bad_run == 1 && header.prior {
            self.last = self.last.map(number::next);
            match self.last.map(|lost| number::place(self.expected, lost)) {
                Some(Place::Duplicate) => (),
                Some(Place::Expected) if self.selective && !self.nak_open => {
                    self.nak();
                    self.one_missing = true;
                }
                _ => self.nak(),
            }
        }
        let own = match (explicit, payload) {
            (true, _) => Some(header.seq),
            (false, true) => self.last.map(number::next),
            (false, false) => self.last,
        };
        self.last = own;
        let Some(own) = own else { return if payload { Verdict::Ahead } else { Verdict::Nothing } };
        let place = number::place(self.expected, own);
        match (payload, place) {
            (true, Place::Expected) => {
                self.expected = number::next(self.expected);
                (self.nak_open, self.one_missing) = (false, false);
                return Verdict::Take;
            }
            (true, Place::Duplicate) => return Verdict::Duplicate,
            // A NOP repeats the last payload's number: all is here.
            (false, Place::Duplicate) => {
                self.nak_open &= own != self.last_good();
                self.one_missing &= self.nak_open;
            }
            (true, Place::Future) if self.one_missing => return Verdict::Keep(own),
            // One is missing, and it has not been asked for.
            _ if !self.nak_open => self.nak(),
            _ => (),
        }
        if payload { Verdict::Ahead } else { Verdict::Nothing }
    }
}
