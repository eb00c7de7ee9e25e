//! Link states of the data link layer (`ualink` §8).
//!
//! Modelled: the four states and every way between them. Detail: one step a flit time. Left out: what makes the layer
//! below report a fault. A walk through one flit time: [`LinkState::received`] hears what arrived, [`LinkState::sends`] says
//! what may go out, [`LinkState::sent`] counts it.
//!
//! \[D\] The sheet leaves open how long an end stays in Idle after Up. Both ends have to forget what was on its way, so an
//! end that has left Up sends enough Idle for the peer to leave Up as well, and waits for a control flit as the sign that
//! the peer has done so: what comes behind it is new.

/// A state of the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The layer below reports a fault; also after reset.
    Fault,
    /// Idle control flits, until the link is enabled.
    Idle,
    /// NOP flits alone; no acknowledgement is expected.
    Nop,
    /// NOP and payload flits.
    Up,
}

impl State {
    /// All, in the order of the sheet.
    pub const ALL: [State; 4] = [State::Fault, State::Idle, State::Nop, State::Up];

    /// Name in waves and reports.
    pub const fn name(self) -> &'static str {
        match self {
            State::Fault => "fault",
            State::Idle => "idle",
            State::Nop => "nop",
            State::Up => "up",
        }
    }
}

/// Fault that the reconciliation sublayer reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Seen by this end.
    Local,
    /// Told by the peer.
    Remote,
}

impl Fault {
    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Fault::Local => "a local fault",
            Fault::Remote => "a remote fault",
        }
    }
}

/// What arrived in one flit time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrived {
    /// A DL flit, whatever its CRC.
    Flit,
    /// A control flit: idle, start, fault.
    Control,
}

/// What goes out in one flit time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sends {
    /// Remote fault ordered sets.
    RemoteFault,
    /// Idle control flits.
    Idle,
    /// A DL flit without payload.
    Nop,
    /// Any DL flit.
    Any,
}

/// NOP flits sent before Up (`ualink` §8).
const NOPS_SENT: u8 = 10;
/// DL flits received in a row before Up (`ualink` §8).
const FLITS_RECEIVED: u8 = 2;
/// Control flits in a row that end Up (`ualink` §8).
const CONTROL_RECEIVED: u8 = 4;
/// \[D\] Control flits that an end sends after it has left Up: twice what the peer needs. Fewer than the NOPs before Up,
/// so that the peer's own Idle has passed when this end is up.
const CONTROL_SENT: u8 = 8;

/// The state machine of one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkState {
    state: State,
    fault: Option<Fault>,
    enabled: bool,
    sent: u8,
    flits: u8,
    control: u8,
    /// What is still to do since the link has left Up: control flits to send, and whether the peer's are waited for.
    parting: (u8, bool),
}

impl Default for LinkState {
    /// After reset: a local fault until the layer below says otherwise, enabled.
    fn default() -> Self {
        let (state, fault) = (State::Fault, Some(Fault::Local));
        LinkState { state, fault, enabled: true, sent: 0, flits: 0, control: 0, parting: (0, false) }
    }
}

impl LinkState {
    /// Where it is.
    pub fn state(&self) -> State {
        self.state
    }

    fn go(&mut self, state: State) {
        if state != self.state {
            if self.state == State::Up {
                self.parting = (CONTROL_SENT, self.control < CONTROL_RECEIVED);
            }
            (self.state, self.sent, self.flits, self.control) = (state, 0, 0, 0);
        }
    }

    /// The layer below reports a fault or that there is none.
    pub fn fault(&mut self, fault: Option<Fault>) {
        self.fault = fault;
        match (fault, self.state) {
            (Some(_), _) => self.go(State::Fault),
            (None, State::Fault) => self.go(State::Idle),
            (None, _) => (),
        }
    }

    /// Lets the link leave Idle, or holds it there.
    pub fn enable(&mut self, enabled: bool) {
        self.enabled = enabled;
    }

    /// Error containment has spoilt a flit, or nothing was acknowledged for too long.
    pub fn leave_up(&mut self) {
        if self.state == State::Up {
            self.go(State::Idle);
        }
    }

    /// What goes out now.
    pub fn sends(&mut self) -> Sends {
        let (to_send, waits) = &mut self.parting;
        if self.state == State::Idle && self.enabled && *to_send == 0 && !*waits {
            self.go(State::Nop);
        } else if self.state <= State::Idle {
            *to_send = to_send.saturating_sub(1);
        }
        match (self.state, self.fault) {
            (State::Fault, Some(Fault::Remote)) | (State::Idle, _) => Sends::Idle,
            (State::Fault, _) => Sends::RemoteFault,
            (State::Nop, _) => Sends::Nop,
            (State::Up, _) => Sends::Any,
        }
    }

    /// A DL flit has gone out.
    pub fn sent(&mut self) {
        self.sent = self.sent.saturating_add(1);
        self.come_up();
    }

    /// Something has arrived.
    pub fn received(&mut self, arrived: Arrived) {
        match arrived {
            Arrived::Flit => (self.flits, self.control) = (self.flits.saturating_add(1), 0),
            Arrived::Control => {
                (self.flits, self.control) = (0, self.control.saturating_add(1));
                self.parting.1 = false;
            }
        }
        if self.state == State::Up && self.control >= CONTROL_RECEIVED {
            self.go(State::Idle);
        }
        self.come_up();
    }

    fn come_up(&mut self) {
        if self.state == State::Nop && self.sent >= NOPS_SENT && self.flits >= FLITS_RECEIVED {
            self.go(State::Up);
        }
    }
}
