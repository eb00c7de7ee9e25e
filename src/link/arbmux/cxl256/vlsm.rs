//! One virtual link state machine in 256B mode: ALMPs in and out (`cxl-256b` §6, `cxl-68b` §8.2 for what both modes share).
//!
//! Modelled: the Active handshake, power states, their refusal, waking. Detail: by ALMP. Left out: the payload, which the
//! ARB/MUX moves.
//!
//! A walk through a refusal, upstream port: the client asks for L1 and is quiet, so [`Vlsm::advance`] queues Request{L1}
//! and payload stops. The downstream port has no permission of its client; after its time it answers Status{PMNAK}, which
//! moves this side to PMNAK and forgets the wish. Its next step is Request{Active}; Status{Active} makes it Active again.
//! Had the answer been Status{L1}, both sides would be in L1 until one sends Request{Active}: then both go to Retrain, and
//! are Active when Status{Active} has gone both ways.

use super::almp::Says;
use super::mux::ArbMuxConfig;
use super::state::{Cause, STATE_BYTE, State, Vlsm256Move};
use crate::arbmux::state::{self as shared, Ask};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::wire::Violation;
use std::collections::VecDeque;

/// How far an exchange of Request{Active} and Status{Active} is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Handshake {
    requested: bool,
    status_sent: bool,
    status_received: bool,
}

/// What a vLSM does next of its own accord.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VlsmStep {
    /// Leaves L1 or L2.
    Wake,
    /// Sends Request{Active}.
    Open,
    /// Upstream: asks for a power state.
    AskPower(Ask),
    /// Upstream: waits no longer for the answer.
    GiveUp,
    /// Downstream: grants.
    Grant(State),
    /// Downstream: refuses.
    Refuse,
}

/// A vLSM.
#[derive(Debug, Clone)]
pub struct Vlsm {
    dir: Dir,
    pm_patience_flits: u64,
    pm_refusal_flits: Option<u64>,
    state: State,
    ask: Option<Ask>,
    handshake: Handshake,
    /// Since the link came up from its down state the downstream port has not sent Request{Active}.
    first_due: bool,
    /// Upstream: the Request for a power state that is not answered, and when it is given up. It counts until the answer
    /// to Request{Active}, because an answer may have been on its way.
    pm_asked: Option<(Ask, u64)>,
    /// Downstream: the Request that is not answered, and when it is refused.
    pm_offered: Option<(Ask, Option<u64>)>,
    /// Downstream: PMNAK was sent, Request{Active} is due.
    pm_refused: bool,
    outbox: VecDeque<Says>,
    moves: Vec<Vlsm256Move>,
}

fn odd(rule: &'static str, found: Says, expected: &str, text: &str) -> Option<Violation> {
    Some(Violation::at_byte(rule, STATE_BYTE, format!("{found:?}"), expected, text))
}

impl Vlsm {
    /// A vLSM in Reset.
    pub fn new(config: &ArbMuxConfig) -> Vlsm {
        Vlsm {
            dir: config.dir,
            pm_patience_flits: config.pm_patience_flits,
            pm_refusal_flits: config.pm_refusal_flits,
            state: State::Reset,
            ask: None,
            handshake: Handshake::default(),
            first_due: true,
            pm_asked: None,
            pm_offered: None,
            pm_refused: false,
            outbox: VecDeque::new(),
            moves: Vec::new(),
        }
    }

    // ---- what can be seen ----------------------------------------------------------------------------------------

    /// Its state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether payload may leave: Active, and nothing pending that must come first.
    pub fn may_send(&self) -> bool {
        self.state == State::Active && self.pm_asked.is_none() && !self.awaits_active()
    }

    /// Whether the peer was refused a power state and has not come back by Request{Active}: it must not send payload.
    pub fn is_peer_refused(&self) -> bool {
        self.pm_refused
    }

    /// The state that it wants of the physical layer: its own, or Active while it has something to say.
    pub fn phy_wish(&self) -> shared::State {
        let wakes = self.ask == Some(Ask::Active) || self.handshake.requested || self.has_almp();
        if wakes { shared::State::Active } else { self.state.phy() }
    }

    /// Nothing waits and no answer is due; `quiet`: the client has nothing to send.
    pub fn is_quiet(&self, quiet: bool) -> bool {
        let open = self.has_almp() || self.handshake.requested || self.pm_asked.is_some() || self.pm_offered.is_some();
        !open && self.step(0, quiet).is_none()
    }

    /// Flit clock after `now` at which it does something if nothing comes; `None`: never.
    pub fn wakes_at(&self, now: u64, quiet: bool) -> Option<u64> {
        if self.has_almp() || self.step(now + 1, quiet).is_some() {
            return Some(now + 1);
        }
        let answer_due = self.pm_asked.map(|(_, give_up_at)| give_up_at).filter(|_| !self.handshake.requested);
        answer_due.or(self.pm_offered.and_then(|(_, refuse_at)| refuse_at))
    }

    /// Changes of state since the last call.
    pub fn take_moves(&mut self) -> Vec<Vlsm256Move> {
        std::mem::take(&mut self.moves)
    }

    fn awaits_active(&self) -> bool {
        self.handshake.requested && !self.handshake.status_received
    }

    // ---- inputs --------------------------------------------------------------------------------------------------

    /// What the client asks from now on; wishes that are fulfilled or refused are forgotten.
    pub fn ask(&mut self, ask: Option<Ask>) {
        let is_so = |ask| ask == Ask::Active && self.state == State::Active && self.pm_asked.is_none();
        self.ask = ask.filter(|&ask| !is_so(ask));
    }

    /// The link has come up from its down state.
    pub fn link_reset(&mut self) {
        self.outbox.clear();
        self.handshake = Handshake::default();
        (self.pm_asked, self.pm_offered, self.pm_refused) = (None, None, false);
        self.first_due = true;
        self.go(Cause::LinkReset, State::Reset);
    }

    fn go(&mut self, cause: Cause, to: State) {
        if to != self.state {
            self.moves.push(Vlsm256Move { from: self.state, cause, to });
            self.state = to;
        }
    }

    // ---- transmitter ---------------------------------------------------------------------------------------------

    fn step(&self, now: u64, quiet: bool) -> Option<VlsmStep> {
        let wakes = self.ask == Some(Ask::Active);
        let open = (!self.handshake.requested).then_some(VlsmStep::Open);
        match self.state {
            State::Active => self.step_in_active(now, quiet),
            State::PmNak | State::Retrain => open,
            // The downstream port begins.
            State::Reset if wakes && !(self.first_due && self.dir == Dir::Up) => open,
            State::L1(_) | State::L2 if wakes => Some(VlsmStep::Wake),
            State::Reset | State::L1(_) | State::L2 => None,
        }
    }

    fn step_in_active(&self, now: u64, quiet: bool) -> Option<VlsmStep> {
        if let Some((_, give_up_at)) = self.pm_asked {
            return (now >= give_up_at && !self.handshake.requested).then_some(VlsmStep::GiveUp);
        }
        if let Some((asked, refuse_at)) = self.pm_offered {
            let granted = self.ask.and_then(|allowed| asked.granted(allowed)).filter(|_| quiet);
            let refused = refuse_at.is_some_and(|at| now >= at).then_some(VlsmStep::Refuse);
            return granted.map(|state| VlsmStep::Grant(state.into())).or(refused);
        }
        let wish = self.ask.filter(|_| self.dir == Dir::Up && quiet && !self.awaits_active());
        wish.map(VlsmStep::AskPower)
    }

    /// Acts on what the client asks; `quiet`: the client has nothing to send.
    pub fn advance(&mut self, now: u64, quiet: bool) {
        match self.step(now, quiet) {
            None => (),
            Some(VlsmStep::Open) => self.open(),
            Some(VlsmStep::Wake) => {
                self.wake();
                self.open();
            }
            Some(VlsmStep::AskPower(ask)) => {
                self.pm_asked = Some((ask, now.saturating_add(self.pm_patience_flits)));
                self.outbox.push_back(Says::Request(ask));
            }
            Some(VlsmStep::GiveUp) => {
                self.forget_power_wish();
                self.open();
            }
            Some(VlsmStep::Grant(state)) => {
                self.outbox.push_back(Says::Status(state));
                self.enter_power_state(state);
            }
            Some(VlsmStep::Refuse) => {
                (self.pm_offered, self.pm_refused) = (None, true);
                self.outbox.push_back(Says::Status(State::PmNak));
            }
        }
    }

    fn forget_power_wish(&mut self) {
        self.ask = self.ask.filter(|&ask| ask == Ask::Active);
    }

    fn enter_power_state(&mut self, state: State) {
        (self.pm_asked, self.pm_offered) = (None, None);
        // A client that has changed its mind meanwhile is woken at once.
        self.forget_power_wish();
        self.go(Cause::Granted, state);
        if self.handshake.requested {
            // The grant met our Request{Active} on the way: it wakes the peer, and so us.
            self.wake();
        }
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
            self.first_due = false;
            self.outbox.push_back(Says::Request(Ask::Active));
        }
    }

    /// Whether an ALMP waits.
    pub fn has_almp(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// The next ALMP, which leaves now.
    pub fn transmit(&mut self) -> Option<Says> {
        let says = self.outbox.pop_front()?;
        if says == Says::Status(State::Active) && !self.state.may_receive() {
            self.handshake.status_sent = true;
            self.complete();
        }
        Some(says)
    }

    // ---- receiver ------------------------------------------------------------------------------------------------

    /// Takes an ALMP.
    pub fn receive(&mut self, says: Says, now: u64) -> Option<Violation> {
        match says {
            Says::Request(Ask::Active) => self.receive_wake(says),
            Says::Request(ask) => self.receive_power_request(says, ask, now),
            Says::Status(state) => self.receive_status(says, state),
        }
    }

    fn receive_wake(&mut self, says: Says) -> Option<Violation> {
        let is_early = std::mem::take(&mut self.first_due) && self.dir == Dir::Down;
        (self.pm_offered, self.pm_refused) = (None, false);
        self.wake();
        self.outbox.push_back(Says::Status(State::Active));
        if !self.state.may_receive() {
            self.open();
        }
        let text = "the upstream port has sent an ALMP before the downstream port";
        if is_early {
            odd("CXL256-ALM-03", says, "no ALMP before Request{Active} of the downstream port", text)
        } else {
            None
        }
    }

    fn receive_power_request(&mut self, says: Says, ask: Ask, now: u64) -> Option<Violation> {
        let rule = "CXL256-ALM-04";
        if self.dir == Dir::Up {
            odd(rule, says, "a Request of the upstream port", "the downstream port has asked for a power state")
        } else if self.state != State::Active {
            odd(rule, says, "Request{Active}", "a power state is asked for although the vLSM is not Active")
        } else if self.pm_refused || self.pm_offered.is_some() {
            let text = "a refused port asks again for a power state without having been Active";
            odd(rule, says, "Request{Active}", text)
        } else {
            let refuse_at = self.pm_refusal_flits.map(|flits| now.saturating_add(flits));
            self.pm_offered = Some((ask, refuse_at));
            None
        }
    }

    fn receive_status(&mut self, says: Says, state: State) -> Option<Violation> {
        let asked = self.pm_asked.map(|(ask, _)| ask);
        match (state, asked) {
            (State::Active, _) if self.awaits_active() => {
                self.handshake.status_received = true;
                self.complete();
            }
            (State::PmNak, Some(_)) => {
                self.pm_asked = None;
                self.forget_power_wish();
                self.go(Cause::Refused, State::PmNak);
            }
            (State::L1(_) | State::L2, Some(ask)) if ask.is_answered_by(state.phy()) => self.enter_power_state(state),
            (State::PmNak, None) => {
                return odd(
                    "CXL256-ALM-04",
                    says,
                    "no Status",
                    "a refusal received although no power state was asked for",
                );
            }
            _ => return odd("CXL256-ALM-03", says, "no such Status", "a Status received that answers no Request"),
        }
        None
    }

    /// Ends the handshake when it is done: where the peer is Active anyway with the answer, elsewhere when Status{Active}
    /// has gone both ways.
    fn complete(&mut self) {
        if self.handshake.status_received && (self.state.may_receive() || self.handshake.status_sent) {
            self.handshake = Handshake::default();
            self.pm_asked = None;
            self.go(Cause::Handshake, State::Active);
            self.ask = self.ask.filter(|&ask| ask != Ask::Active);
        }
    }
}
