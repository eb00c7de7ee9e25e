//! Numbers of received flits: which one is due, what is missing, what to ask for (`cxl-256b` §9).
//!
//! Modelled: numbers stated and implied, one bad flit judged by the Prior bit of the next, two bad flits in a row,
//! standard Nak, selective Nak for a single loss, payload in doubt. Left out: what the flits hold.
//!
//! A walk through one error: a bad flit comes. If the next good one says that it was a NOP, nothing is missing. If it was
//! payload, or a second bad flit comes first, a Nak is due and goes out in three flits; what is in flight until then lies
//! ahead and is dropped. The replay begins with the number that is due, stated; taking it ends the wait. With a selective
//! Nak what lies ahead is kept and the one missing flit comes alone; one more bad flit before that makes it a standard Nak.
//!
//! Doubt: an implied number is one more than the number before it, which is wrong behind a flit that vanished or came
//! twice. So payload with an implied number waits until a flit states its number. If that fits the count, what waits is
//! good; if not, it is dropped, and what is missing is asked for. Nothing is acknowledged before. So that two faults side
//! by side do not even out, it is also dropped if a bad flit was counted since the last stated number, and a flit with an
//! implied number that is the same bit for bit as the one before it is taken for its copy.

use super::form::Flit256;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxl256::code::ReplayCommand;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::number::{self, NumberPlace, is_payload};
use std::collections::VecDeque;

/// Flits in a row that carry a Nak (`cxl-256b` §9).
pub const NAK_FLITS: u8 = 3;

/// Payload with number 0, which is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberZero;

/// Receive side of the sequence numbers.
#[derive(Debug, Clone)]
pub struct Receiver<F = Cxl256Flit> {
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
    /// Whether payload with an implied number waits for a stated one.
    doubts: bool,
    /// Flits that still have to carry the Nak.
    pub nak_flits: u8,
    /// One of them has gone out.
    nak_begun: bool,
    /// Whether the flit before was payload; `None`: there was none, or it was bad.
    before: Option<bool>,
    /// Naks of the peer in a row; `None`: a bad flit may have been one of them.
    peer_naks: Option<u8>,
    /// The good flit directly before, if it was payload: no other one can be taken for a copy of payload.
    previous: Option<F>,
    /// A bad flit was counted since the last stated number.
    guessed: bool,
    /// Payload in doubt, with the numbers as counted.
    in_doubt: VecDeque<(u16, F)>,
    /// Payload ahead of the one flit that is missing, by number.
    ahead_of_one: OrderedMap<u16, F>,
    /// Payload that was due and has not been taken by the client.
    due: VecDeque<(u16, F)>,
    /// Payload that had been here.
    pub duplicates: u64,
    /// Payload dropped because one before it is missing, or because its number is not known.
    pub ahead: u64,
    /// Payload dropped because a stated number did not fit the count.
    pub doubted: u64,
    /// Naks that went out, each in a row of flits.
    pub naks: u64,
}

impl<F: Flit256> Receiver<F> {
    /// One that asks for a single loss alone or never does, and that doubts implied numbers or never does.
    pub fn new(selective: bool, doubts: bool) -> Receiver<F> {
        Receiver {
            expected: 1,
            last: None,
            bad_run: 0,
            nak_open: false,
            one_missing: false,
            selective,
            doubts,
            nak_flits: 0,
            nak_begun: false,
            before: None,
            peer_naks: Some(0),
            previous: None,
            guessed: false,
            in_doubt: VecDeque::new(),
            ahead_of_one: OrderedMap::new(),
            due: VecDeque::new(),
            duplicates: 0,
            ahead: 0,
            doubted: 0,
            naks: 0,
        }
    }

    /// The Nak that is due.
    pub fn nak_command(&self) -> ReplayCommand {
        if self.one_missing { ReplayCommand::NakSelective } else { ReplayCommand::NakStandard }
    }

    /// The last number received well, which Ack and Nak carry.
    pub fn last_good(&self) -> u16 {
        number::previous(self.expected)
    }

    /// Payload that was due with its number, in order, each once.
    pub fn next_due(&mut self) -> Option<(u16, F)> {
        self.due.pop_front()
    }

    /// Whether payload waits for a stated number.
    pub fn is_in_doubt(&self) -> bool {
        !self.in_doubt.is_empty()
    }

    /// The link is trained: what was on the wire is gone, the number that is due stays.
    pub fn trained(&mut self) {
        let fresh = Receiver::new(self.selective, self.doubts);
        let old = std::mem::replace(self, fresh);
        self.expected = old.expected;
        (self.duplicates, self.ahead, self.doubted) = (old.duplicates, old.ahead, old.doubted);
        self.naks = old.naks;
    }

    fn nak(&mut self) {
        self.nak_open = true;
        self.one_missing = false;
        self.ahead_of_one.clear();
        self.nak_flits = NAK_FLITS;
    }

    /// A flit that could not be repaired.
    pub fn bad(&mut self) {
        self.bad_run = self.bad_run.saturating_add(1);
        self.previous = None;
        self.before = None;
        self.peer_naks = None;
        if self.bad_run >= 2 {
            self.last = None;
            self.nak();
        } else if self.one_missing {
            self.nak();
        }
    }

    /// The checks of the next flit against those before it, [`Receiver::prior_fits`] and [`Receiver::short_nak_run`], know
    /// nothing of them.
    pub fn forget_stream(&mut self) {
        self.before = None;
        self.peer_naks = None;
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
        at_rest && !self.nak_open && self.nak_flits == 0 && self.in_doubt.is_empty()
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
        self.naks += u64::from(!self.nak_begun);
        self.nak_flits = self.nak_flits.saturating_sub(1);
        self.nak_begun = self.nak_flits > 0;
        self.nak_command()
    }

    /// A good flit.
    ///
    /// # Errors
    /// Payload with number 0.
    pub fn good(&mut self, flit: F) -> Result<(), NumberZero> {
        let header = flit.header();
        let payload = is_payload(header.flit_type);
        let stated = (header.command == ReplayCommand::Explicit).then_some(header.seq);
        if stated == Some(0) {
            // IDLE, or payload that must not have this number.
            return if payload { Err(NumberZero) } else { Ok(()) };
        }
        self.before = Some(payload);
        if payload
            && stated.is_none()
            && self.doubts
            && self.previous.as_ref().is_some_and(|previous| flit.is_copy_of(previous))
        {
            self.last = None;
        }
        self.previous = payload.then(|| flit.kept());
        let bad_run = std::mem::take(&mut self.bad_run);
        if payload && self.one_missing && stated == Some(self.expected) {
            // The one flit that was asked for stands beside the stream, whose count goes on behind it.
            self.accept(self.expected, flit);
            return Ok(());
        }
        let lost = bad_run == 1 && header.prior;
        let counted = self.count(lost, payload);
        self.guessed |= lost;
        if let Some(number) = stated {
            let guessed = std::mem::take(&mut self.guessed);
            self.settle(counted == Some(number) && !guessed);
        }
        let own = stated.or(counted);
        if lost {
            self.one_lost(own.map(|n| if payload { number::previous(n) } else { n }));
        }
        self.last = own;
        match (payload, stated, own) {
            (true, None, Some(number)) if self.doubts => self.doubt(number, flit),
            (true, _, Some(number)) => self.accept(number, flit),
            (true, _, None) => self.ahead += 1,
            (false, Some(number), _) => self.nop_states(number),
            (false, None, _) => (),
        }
        Ok(())
    }

    /// Takes what the header of a latency-optimised flit tells, whose even half alone has come: whether its payload is due
    /// for sure. What is in doubt before it is settled. The flit as a whole is still to be taken with [`Receiver::good`].
    pub fn is_due(&mut self, header: &FlitHeader) -> bool {
        let number = header.seq;
        if !is_payload(header.flit_type) || header.command != ReplayCommand::Explicit || number == 0 {
            return false;
        }
        if self.is_in_doubt() && self.bad_run == 0 && !self.guessed && self.count(false, true) == Some(number) {
            self.settle(true);
            self.last = Some(number::previous(number));
        }
        number == self.expected && !self.is_in_doubt()
    }

    /// The number of a flit as the stream counts: behind a lost payload or not, itself payload or not.
    fn count(&self, lost: bool, payload: bool) -> Option<u16> {
        let plus_one = |n: u16, is_more: bool| if is_more { number::next(n) } else { n };
        self.last.map(|n| plus_one(plus_one(n, lost), payload))
    }

    /// A number is stated: what is in doubt is good, or it is dropped.
    fn settle(&mut self, fits: bool) {
        if fits {
            while let Some((number, flit)) = self.in_doubt.pop_front() {
                self.accept(number, flit);
            }
        } else if self.is_in_doubt() {
            self.doubted += self.in_doubt.len() as u64;
            self.in_doubt.clear();
            if self.one_missing {
                self.nak();
            }
        }
    }

    /// Payload whose number is implied. More than a window of it cannot be in order.
    fn doubt(&mut self, number: u16, flit: F) {
        if self.in_doubt.len() >= usize::from(number::WINDOW) {
            self.settle(false);
            self.nak();
        }
        self.in_doubt.push_back((number, flit));
    }

    /// A single bad flit was payload with this number; `None`: the number is not known.
    fn one_lost(&mut self, number: Option<u16>) {
        match number.map(|n| number::place(self.expected, n)) {
            Some(NumberPlace::Duplicate) => (),
            Some(NumberPlace::Expected) if self.selective && !self.nak_open && !self.is_in_doubt() => {
                self.nak();
                self.one_missing = true;
            }
            _ => self.nak(),
        }
    }

    /// Payload with a number that is sure.
    fn accept(&mut self, number: u16, flit: F) {
        match number::place(self.expected, number) {
            NumberPlace::Duplicate => self.duplicates += 1,
            NumberPlace::Future if self.one_missing => {
                self.ahead_of_one.insert(number, flit);
            }
            NumberPlace::Future => {
                self.ahead += 1;
                // One is missing, and it has not been asked for.
                if !self.nak_open {
                    self.nak();
                }
            }
            NumberPlace::Expected => {
                (self.nak_open, self.one_missing) = (false, false);
                self.becomes_due(flit);
                while let Some(flit) = self.take_ahead() {
                    self.becomes_due(flit);
                }
                self.forget_ahead();
            }
        }
    }

    fn becomes_due(&mut self, flit: F) {
        self.due.push_back((self.expected, flit));
        self.expected = number::next(self.expected);
    }

    /// Payload that came before its turn and is due now. Nearly always there is none, and none is looked for.
    #[inline]
    fn take_ahead(&mut self) -> Option<F> {
        if self.ahead_of_one.is_empty() { None } else { self.ahead_of_one.remove(&self.expected) }
    }

    /// What is left behind a gap comes again.
    #[inline]
    fn forget_ahead(&mut self) {
        if !self.ahead_of_one.is_empty() {
            self.ahead_of_one.clear();
        }
    }

    /// A NOP repeats the number of the last payload.
    fn nop_states(&mut self, number: u16) {
        if number::place(self.expected, number) != NumberPlace::Duplicate {
            if !self.nak_open {
                self.nak();
            }
        } else if number == self.last_good() {
            // All is here.
            (self.nak_open, self.one_missing) = (false, false);
            self.forget_ahead();
        }
    }
}
