//! Figures of the watched end of a UALink, and what each side waits for.

use super::{Monitor, REQUEST_COPIES, Session};
use crate::health::liveness::{LinkWait, WaitKind};
use crate::health::retimer::ArrivedUnit;
use crate::health::{LinkHealth, figures, states};
use crate::hook::Direction;
use crate::ualink::end::head;
use crate::ualink::replay::Says;
use crate::ualink::state::State;
use crate::ualink::tl::TlClass;
use scalepool_protocols::ualink::flit::DlFlit;
use scalepool_protocols::ualink::sequence::{self, next, steps};

impl Monitor {
    /// What a flit says that comes next; `None`: it cannot be used.
    pub fn read_ahead(&self, flit: &DlFlit) -> Option<ArrivedUnit> {
        let session = self.up.as_ref()?;
        let header = flit.header();
        if flit.crc() != flit.expected_crc(&self.config.codec) || !header.is_usable() {
            return None;
        }
        let head = head(&header);
        let receiver = &session.receiver;
        let stated = match head.says {
            _ if !head.payload || !session.up => None,
            Says::Number { number, .. } => Some(number),
            Says::Ack { own_low, .. } | Says::Request { own_low, .. } => {
                (!receiver.is_ambiguous()).then(|| sequence::from_low_bits(receiver.last_taken(), own_low, true))
            }
        };
        let due = next(session.receiver.last_taken());
        Some(ArrivedUnit { stated, due: [due, next(due)], replay_asked: session.receiver.is_waiting() })
    }

    /// Places of the states of the end in [`states::UALINK`]. Faults are below flits: an end that sends control flits is idle.
    pub fn states(&self) -> [usize; 2] {
        match &self.up {
            None => [State::Idle as usize, states::RETRY_NORMAL],
            Some(session) => {
                let link = if session.up { State::Up } else { State::Nop };
                let retry = match () {
                    () if session.receiver.is_waiting() => states::RETRY_WAITS,
                    () if session.last != session.newest => states::RETRY_REPLAYS,
                    () => states::RETRY_NORMAL,
                };
                [link as usize, retry]
            }
        }
    }

    /// DL flits that have come and that were sent.
    pub fn flits(&self) -> [u64; 2] {
        self.seen.flits
    }

    /// Fills the figures that units show.
    pub fn fill_health(&self, health: &mut LinkHealth) {
        let seen = &self.seen;
        health.number(&figures::REPLAYS, seen.replays);
        health.number(&figures::REPLAYED_FLITS, seen.replayed);
        health.number(&figures::NAKS_SENT, seen.request_copies.div_ceil(REQUEST_COPIES.into()));
        health.number(&figures::CRC_ERRORS, seen.bad_crc);
        health.number(&figures::FRAMING_ERRORS, seen.bad_header);
        health.number(&figures::TRAININGS, seen.downs);
        // An end that is down has forgotten its numbers and credits: it has those with which it comes up.
        let fresh = self.up.is_none().then(|| Session::new(&self.config));
        let Some(session) = self.up.as_ref().or(fresh.as_ref()) else { return };
        let mut all = seen.before;
        all.add(session.receiver.stats());
        session.receiver.fill_health(&all, health);
        let [has, given] = session.books.credits();
        health.each(&figures::CREDITS, has.by_kind());
        health.each(&figures::CREDITS_GIVEN, given.by_kind());
    }

    /// Tells what each side waits for. Transactions that wait cannot be seen; a class that has gone and has no credit stands for
    /// them.
    pub fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        let mut wait = |kind, by, channel: &str, waiting: u64, progress: u64| {
            each(LinkWait { kind, by, channel, waiting, is_passed: true, progress });
        };
        let Some(session) = self.up.as_ref().filter(|session| session.up) else {
            // Each side has to send flits. Who sends control flits keeps the other one waiting.
            let peer_sends_flits = self.seen.flits[0] > 0 && self.control == 0;
            if self.up.is_some() || !peer_sends_flits {
                wait(WaitKind::Up, Direction::Rx, "", 0, self.up.is_some().into());
            }
            if self.up.is_none() {
                wait(WaitKind::Up, Direction::Tx, "", 0, 0);
            }
            return;
        };
        let owed = steps(session.told, session.receiver.last_taken());
        if owed > 0 {
            wait(WaitKind::Acknowledgement, Direction::Tx, "", owed.into(), session.told.into());
        }
        let [has, given] = session.books.credits();
        for class in TlClass::ALL {
            let sides = [(Direction::Rx, has, 1), (Direction::Tx, given, 0)];
            for (by, counts, side) in sides {
                let sent = session.books.transactions(class)[side];
                if sent > 0 && session.books.is_dry(class, side, counts) {
                    wait(WaitKind::Credit, by, class.name(), sent, sent);
                }
            }
        }
        session.receiver.pending_waits(each);
    }
}
