//! A replay machine that gets something wrong: what is heard and what is said is changed around the right one.
//!
//! Modelled: one [`ReplayFault`] at a time, in the heads of flits. Left out: what flits carry, but for payload that is lost.
//!
//! A walk: [`WrongHeads::hears`] gives the heads that the machine is shown instead of the one that came,
//! [`WrongHeads::heard`] what becomes of it; [`WrongHeads::says`] changes the head that leaves.

use scalepool::link::ualink::replay::{Head, Replay, Says, UalFlitOutcome, UalReceived};
use scalepool_protocols::ualink::sequence::{from_low_bits, next, plus, steps};

/// One fault, named after what goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayFault {
    /// FLH-05: payload behind an Ack or a Replay Request is counted and lost.
    CommandPayloadLost,
    /// SEQ-02: a NOP takes a number of its own.
    NopNumbered,
    /// RXR-02: too many bad flits do not make numbers ambiguous.
    NeverAmbiguous,
    /// RXR-05: a Replay Request acknowledges what comes before it.
    RequestAcknowledges,
    /// RXR-08: payload out of order is taken.
    GapTaken,
    /// RXR-09: a Replay Request is never repeated.
    AskedOnce,
    /// RXR-10: numbers in full count as unexpected too.
    ExplicitCounted,
    /// RXR-11: a command flit is used while only ambiguous.
    AmbiguousUsed,
    /// TXS-01: a Replay Request goes before a number in full that is due.
    RequestFirst,
    /// TXS-02: a number in full every eight flits.
    ExplicitEveryEight,
    /// TXS-04: replayed flits are marked as original.
    ReplayUnmarked,
    /// TXS-05: each copy of a Replay Request names what is due when it is sent, and follows at once.
    RequestMoves,
    /// TXS-06: new payload goes out with a full buffer, and its place is that of the oldest.
    RoomIgnored,
}

use ReplayFault::*;

/// Bad flits in a row from which three bits no longer tell a number (`ualink` §7).
const AMBIGUOUS_AT: u8 = 7;
/// Copies of a Replay Request (`ualink` §7).
const REQUEST_COPIES: u8 = 3;
/// Commands between two numbers in full where there is one in eight flits.
const COMMANDS_OF_EIGHT: u8 = 7;

/// The changes of one machine.
#[derive(Debug, Clone)]
pub struct WrongHeads {
    fault: ReplayFault,
    /// Bad flits shown since the last one that fitted.
    bad: u8,
    /// NOPs sent, by which numbers are ahead.
    nops: u16,
    /// Commands said since the last number in full.
    commands: u8,
    /// Copies of the present Replay Request that the machine has said, and that are to follow at once.
    copies: u8,
    more: u8,
    /// A number in full was due and has not been said.
    owed: bool,
}

impl WrongHeads {
    pub fn new(fault: ReplayFault) -> WrongHeads {
        WrongHeads { fault, bad: 0, nops: 0, commands: 0, copies: 0, more: 0, owed: false }
    }

    /// A flit without payload that changes nothing but by what it acknowledges.
    fn ack<P>(ours: &Replay<P>, number: u16) -> Option<Head> {
        Some(Head { payload: false, says: Says::Ack { number, own_low: (ours.last_taken() % 8) as u8 } })
    }

    /// What the machine is shown for a flit that comes, `None` being a bad one.
    pub fn hears<P>(&mut self, ours: &Replay<P>, head: Option<Head>) -> Vec<Option<Head>> {
        let Some(flit) = head else {
            self.bad = self.bad.saturating_add(1);
            let hidden = self.fault == NeverAmbiguous && self.bad >= AMBIGUOUS_AT;
            return if hidden { Vec::new() } else { vec![None] };
        };
        let number = match flit.says {
            Says::Number { number, .. } => number,
            Says::Ack { own_low, .. } | Says::Request { own_low, .. } => {
                from_low_bits(ours.last_taken(), own_low, flit.payload)
            }
        };
        match (self.fault, flit.says) {
            (RequestAcknowledges, Says::Request { number, .. }) if number != 0 => {
                vec![Self::ack(ours, plus(number, 510)), head]
            }
            (ExplicitCounted, Says::Number { .. }) if ours.is_waiting() => {
                vec![Self::ack(ours, ours.last_acknowledged()), head]
            }
            (AmbiguousUsed, Says::Ack { .. } | Says::Request { .. }) if ours.is_ambiguous() && !ours.is_waiting() => {
                vec![Some(Head { says: Says::Number { number, replayed: false }, ..flit })]
            }
            (GapTaken, _) if flit.payload && number != 0 => {
                // As if all those between had come.
                let missing = 1..steps(ours.last_taken(), number);
                let between = missing.map(|n| {
                    let says = Says::Number { number: plus(ours.last_taken(), n), replayed: ours.is_waiting() };
                    Some(Head { payload: true, says })
                });
                between.chain([head]).collect()
            }
            _ => vec![head],
        }
    }

    /// What becomes of the flit that came.
    pub fn heard(&mut self, head: Option<Head>, received: UalReceived) -> UalReceived {
        if received.taken != UalFlitOutcome::Dropped {
            self.bad = 0;
        }
        let command = head.is_some_and(|head| !matches!(head.says, Says::Number { .. }));
        match received.taken {
            UalFlitOutcome::Payload if command && self.fault == CommandPayloadLost => {
                UalReceived { taken: UalFlitOutcome::Nop, ..received }
            }
            _ => received,
        }
    }

    /// What the machine is shown before it sends, where new payload is offered.
    pub fn makes_room<P>(&self, ours: &Replay<P>) -> Option<Head> {
        let full = self.fault == RoomIgnored && !ours.has_room() && !ours.is_replaying();
        full.then(|| Self::ack(ours, next(ours.last_acknowledged()))).flatten()
    }

    /// The head that leaves for one of the machine; `again`: its payload goes again.
    pub fn says<P>(&mut self, ours: &Replay<P>, head: Head, again: bool) -> Head {
        let (due, taken) = (next(ours.last_taken()), ours.last_taken());
        let number = match head.says {
            Says::Number { number, .. } => number,
            Says::Ack { own_low, .. } | Says::Request { own_low, .. } => {
                let behind = (ours.last_given() + 8 - u16::from(own_low)) % 8;
                plus(ours.last_given(), 511 - behind)
            }
        };
        let own_low = (number % 8) as u8;
        let in_full = Says::Number { number, replayed: again };
        if !ours.is_waiting() && self.fault != RequestMoves {
            (self.copies, self.more) = (0, 0);
        }
        let says = match (self.fault, head.says) {
            (NopNumbered, says) => self.ahead(head.payload, says),
            (AskedOnce, Says::Request { .. }) if self.copies == REQUEST_COPIES => Says::Ack { number: taken, own_low },
            (AskedOnce, says @ Says::Request { .. }) => {
                self.copies += 1;
                says
            }
            (RequestFirst, Says::Number { .. }) if ours.is_waiting() && self.copies < REQUEST_COPIES && !again => {
                (self.copies, self.owed) = (self.copies + 1, true);
                Says::Request { number: due, own_low }
            }
            (RequestFirst, Says::Ack { .. } | Says::Request { .. }) if self.owed && !again => {
                self.owed = false;
                in_full
            }
            (ExplicitEveryEight, says) => self.every_eight(says, in_full, Says::Ack { number: taken, own_low }),
            (ReplayUnmarked, Says::Number { number, .. }) => Says::Number { number, replayed: false },
            (RequestMoves, Says::Ack { .. } | Says::Request { .. }) => {
                if matches!(head.says, Says::Request { .. }) {
                    // The first copy brings the others with it.
                    self.more += if self.copies == 0 { REQUEST_COPIES } else { 0 };
                    self.copies = (self.copies + 1) % REQUEST_COPIES;
                }
                let follows = self.more > 0;
                self.more -= u8::from(follows);
                if follows { Says::Request { number: due, own_low } } else { Says::Ack { number: taken, own_low } }
            }
            (_, says) => says,
        };
        Head { says, ..head }
    }

    /// Numbers of its own, with those that NOPs have taken.
    fn ahead(&mut self, payload: bool, says: Says) -> Says {
        let nops = self.nops;
        self.nops = (nops + u16::from(!payload)) % 511;
        let low = |own_low: u8| ((u16::from(own_low) + nops) % 8) as u8;
        match says {
            Says::Number { number, replayed } => Says::Number { number: plus(number, nops), replayed },
            Says::Ack { number, own_low } => Says::Ack { number, own_low: low(own_low) },
            Says::Request { number, own_low } => Says::Request { number, own_low: low(own_low) },
        }
    }

    fn every_eight(&mut self, says: Says, in_full: Says, ack: Says) -> Says {
        let early = matches!(says, Says::Number { replayed: false, .. }) && self.commands < COMMANDS_OF_EIGHT;
        let says = match says {
            Says::Number { .. } if early => ack,
            Says::Number { .. } => says,
            _ if self.commands >= COMMANDS_OF_EIGHT => in_full,
            _ => says,
        };
        self.commands = if matches!(says, Says::Number { .. }) { 0 } else { self.commands + 1 };
        says
    }
}
