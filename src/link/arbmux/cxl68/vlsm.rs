//! One virtual link state machine: ALMPs in and out (`cxl-68b` §8.2).
//!
//! Modelled: the Active handshake, power states, waking, synchronisation after recovery. Detail: by ALMP. Left out: the
//! payload, which the ARB/MUX moves.
//!
//! A walk through L1 and back, upstream port: the client asks for L1 and is quiet, so [`Vlsm::advance`] queues
//! Request{L1} and payload stops; Status{L1} moves the vLSM to L1. Silence for the stated time makes it send
//! Request{Active} and go on. When the client asks for Active the physical layer recovers first, both sides exchange
//! Status{L1}, then L1 is left to Retrain with Request{Active}; when Status{Active} has gone both ways it is Active.

use super::almp::Says;
use super::table::{Cause, STATE_BYTE, Vlsm68Move, resolve};
use crate::arbmux::state::{Ask, State};
use crate::cxl68::Severity;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::wire::Violation;
use std::collections::VecDeque;

/// How the physical link came up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PhysicalLinkEntry {
    /// From its down state, after full training; the way out of L2.
    First,
    /// From recovery; the way out of L1.
    Recovery,
}

/// A finding of a vLSM.
pub type VlsmFinding = (Severity, Violation);

fn finding(severity: Severity, rule: &'static str, found: Says, expected: &str, text: &str) -> Option<VlsmFinding> {
    Some((severity, Violation::at_byte(rule, STATE_BYTE, format!("{found:?}"), expected, text)))
}

/// How far an exchange of Request{Active} and Status{Active} is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Handshake {
    requested: bool,
    status_sent: bool,
    status_received: bool,
}

/// How far a synchronisation is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sync {
    sent: bool,
    received: Option<State>,
}

/// A vLSM.
#[derive(Debug, Clone)]
pub struct Vlsm {
    dir: Dir,
    pm_patience_flits: u64,
    state: State,
    ask: Option<Ask>,
    handshake: Handshake,
    /// State that this side reports in a synchronisation.
    snapshot: State,
    sync: Option<Sync>,
    /// Upstream: the power state asked for and the flit clock of the Request.
    pm_asked: Option<(Ask, u64)>,
    /// Downstream: the Request for a power state that has not been granted.
    pm_offered: Option<Ask>,
    outbox: VecDeque<Says>,
    moves: Vec<Vlsm68Move>,
}

impl Vlsm {
    /// A vLSM in Reset at the port that transmits in a direction: the downstream port sends down.
    pub fn new(dir: Dir, pm_patience_flits: u64) -> Vlsm {
        Vlsm {
            dir,
            pm_patience_flits,
            state: State::Reset,
            ask: None,
            handshake: Handshake::default(),
            snapshot: State::Reset,
            sync: None,
            pm_asked: None,
            pm_offered: None,
            outbox: VecDeque::new(),
            moves: Vec::new(),
        }
    }

    /// Its state; while it synchronises, the one before recovery.
    pub fn state(&self) -> State {
        self.state
    }

    /// The state that it wants of the physical layer: its own, or Active when the client wants to leave it.
    pub fn phy_wish(&self) -> State {
        if self.ask == Some(Ask::Active) { State::Active } else { self.state }
    }

    /// Whether the exchange of Status after recovery is not done.
    pub fn is_synchronising(&self) -> bool {
        self.sync.is_some()
    }

    /// Whether payload may leave: Active, nothing pending that must come first.
    pub fn may_send(&self) -> bool {
        self.may_receive() && self.pm_asked.is_none() && !self.awaits_active()
    }

    /// Whether payload may arrive.
    pub fn may_receive(&self) -> bool {
        self.state == State::Active && self.sync.is_none()
    }

    /// Changes of state since the last call.
    pub fn take_moves(&mut self) -> Vec<Vlsm68Move> {
        std::mem::take(&mut self.moves)
    }

    /// What the client asks from now on; fulfilled wishes are forgotten.
    pub fn ask(&mut self, ask: Option<Ask>) {
        self.ask = ask;
    }

    fn go(&mut self, cause: Cause, to: State) {
        if to != self.state {
            self.moves.push(Vlsm68Move { from: self.state, cause, to });
            self.state = to;
        }
    }

    fn awaits_active(&self) -> bool {
        self.handshake.requested && !self.handshake.status_received
    }

    // ---- the physical layer --------------------------------------------------------------------------------------

    /// The physical layer has left L0. The snapshot of a synchronisation that was not done is kept.
    pub fn phy_down(&mut self) {
        if self.sync.is_none() {
            self.snapshot = self.state;
        }
        self.outbox.clear();
        self.handshake = Handshake::default();
        (self.pm_asked, self.pm_offered) = (None, None);
    }

    /// The physical layer is in L0.
    pub fn phy_up(&mut self, entry: PhysicalLinkEntry) {
        match entry {
            PhysicalLinkEntry::First => {
                self.sync = None;
                self.go(Cause::LinkReset, State::Reset);
            }
            PhysicalLinkEntry::Recovery => {
                self.sync = Some(Sync::default());
                self.outbox.push_back(Says::Status(self.snapshot));
            }
        }
    }

    // ---- transmitter ---------------------------------------------------------------------------------------------

    /// Acts on what the client asks; `quiet`: the client has nothing to send.
    pub fn advance(&mut self, now: u64, quiet: bool) {
        if self.sync.is_some() {
            return;
        }
        let wakes = self.ask == Some(Ask::Active);
        match self.state {
            State::Active => self.advance_active(now, quiet),
            State::L1(_) | State::L2 if wakes => {
                self.wake();
                self.open();
            }
            State::Reset if wakes => self.open(),
            State::Retrain => self.open(),
            State::Reset | State::L1(_) | State::L2 => (),
        }
    }

    fn advance_active(&mut self, now: u64, quiet: bool) {
        match (self.dir, self.ask) {
            (_, Some(Ask::Active)) if self.pm_asked.is_none() => self.ask = None,
            (Dir::Up, Some(ask)) if self.pm_asked.is_none() && quiet && !self.awaits_active() => {
                self.outbox.push_back(Says::Request(ask));
                self.pm_asked = Some((ask, now));
            }
            (Dir::Down, Some(allowed)) if quiet => {
                if let Some(state) = self.pm_offered.and_then(|asked| asked.granted(allowed)) {
                    self.outbox.push_back(Says::Status(state));
                    self.enter_power_state(state);
                }
            }
            _ => (),
        }
        if self.pm_asked.is_some_and(|(_, since)| now.saturating_sub(since) >= self.pm_patience_flits) {
            (self.pm_asked, self.ask) = (None, None);
            self.open();
        }
    }

    fn enter_power_state(&mut self, state: State) {
        (self.pm_asked, self.pm_offered) = (None, None);
        // A client that has changed its mind meanwhile is woken at once.
        self.ask = self.ask.filter(|&ask| ask == Ask::Active);
        self.handshake = Handshake::default();
        self.go(Cause::Granted, state);
    }

    /// Leaves L1 to Retrain and L2 to Reset.
    fn wake(&mut self) {
        match self.state {
            State::L1(_) => self.go(Cause::Wake, State::Retrain),
            State::L2 => self.go(Cause::Wake, State::Reset),
            _ => (),
        }
    }

    /// Sends Request{Active} unless it has gone.
    fn open(&mut self) {
        if !self.handshake.requested {
            self.handshake.requested = true;
            self.outbox.push_back(Says::Request(Ask::Active));
        }
    }

    /// Whether an ALMP waits.
    pub fn has_almp(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// The next ALMP, which leaves now; with a finding if it completes a synchronisation of an undefined pair.
    pub fn transmit(&mut self) -> Option<(Says, Option<VlsmFinding>)> {
        let says = self.outbox.pop_front()?;
        let mut found = None;
        if let Some(sync) = &mut self.sync {
            sync.sent = true;
            found = self.resolve();
        } else if says == Says::Status(State::Active) && self.state != State::Active {
            self.handshake.status_sent = true;
            self.complete();
        }
        Some((says, found))
    }

    // ---- receiver ------------------------------------------------------------------------------------------------

    /// Takes an ALMP. A finding of [`Severity::Retrain`] asks for recovery.
    pub fn receive(&mut self, says: Says) -> Option<VlsmFinding> {
        match says {
            Says::Request(ask) if ask != Ask::Active && self.dir == Dir::Up => {
                let text = "the downstream port has asked for a power state";
                finding(Severity::Protocol, "CXL68-VLS-04", says, "a Request of the upstream port", text)
            }
            Says::Request(_) if self.sync.is_some() => {
                let text = "an ALMP other than a Status received during synchronisation";
                finding(Severity::Retrain, "CXL68-VLS-08", says, "a Status", text)
            }
            Says::Request(Ask::Active) => {
                self.peer_wakes();
                None
            }
            Says::Request(_) if self.awaits_active() => {
                let text = "a Request for a power state received while Status{Active} is due";
                finding(Severity::Retrain, "CXL68-VLS-08", says, "Status{Active} or Request{Active}", text)
            }
            Says::Request(ask) => {
                self.pm_offered = (self.state == State::Active).then_some(ask);
                None
            }
            Says::Status(state) => self.receive_status(state),
        }
    }

    fn peer_wakes(&mut self) {
        self.pm_offered = None;
        self.wake();
        self.outbox.push_back(Says::Status(State::Active));
        if self.state != State::Active {
            self.open();
        }
    }

    fn receive_status(&mut self, state: State) -> Option<VlsmFinding> {
        let says = Says::Status(state);
        if let Some(sync) = &mut self.sync {
            sync.received = Some(state);
            return self.resolve();
        }
        if self.awaits_active() {
            if state != State::Active {
                let text = "Request{Active} is answered by another Status";
                return finding(Severity::Retrain, "CXL68-VLS-03", says, "Status{Active}", text);
            }
            self.handshake.status_received = true;
            self.complete();
            return None;
        }
        match self.pm_asked {
            Some((ask, _)) if ask.is_answered_by(state) => self.enter_power_state(state),
            _ => {
                return finding(
                    Severity::Retrain,
                    "CXL68-VLS-08",
                    says,
                    "no Status",
                    "a Status received although no Request was sent",
                );
            }
        }
        None
    }

    /// Ends the handshake when it is done: in Active with the answer, elsewhere when Status{Active} has gone both ways.
    fn complete(&mut self) {
        if self.handshake.status_received && (self.state == State::Active || self.handshake.status_sent) {
            self.handshake = Handshake::default();
            self.go(Cause::Handshake, State::Active);
            if self.ask == Some(Ask::Active) {
                self.ask = None;
            }
        }
    }

    fn resolve(&mut self) -> Option<VlsmFinding> {
        let Some(Sync { sent: true, received: Some(received) }) = self.sync else { return None };
        self.sync = None;
        match resolve(self.snapshot, received) {
            Some(state) => {
                self.go(Cause::Resolved, state);
                None
            }
            None => {
                let expected = format!("a Status that has a row beside {:?}", self.snapshot);
                let text = "the two Status have no resolution; the state stays";
                finding(Severity::Protocol, "CXL68-VLS-07", Says::Status(received), &expected, text)
            }
        }
    }
}
