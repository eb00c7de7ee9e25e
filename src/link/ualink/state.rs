//! Link states of the data link layer (`ualink` §8).
//!
//! Modelled: the four states and every way between them. Detail: one step a flit time. Left out: what makes the layer
//! below report a fault. A walk through one flit time: [`LinkState::received`] hears what arrived, [`LinkState::sends`] says
//! what may go out, [`LinkState::sent`] counts it.
//!
//! \[D\] The sheet leaves open how long an end stays in Idle behind Up. Both ends have to forget what was on its way, so an
//! end that has left Up sends control flits for longer than a round trip: the peer leaves Up as well and its own control
//! flits arrive before this end begins anew. Without that, flits from before would bring an end up.

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
/// The state machine of one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkState {
    state: State,
    fault: Option<Fault>,
    enabled: bool,
    sent: u8,
    flits: u8,
    control: u8,
    /// Control flits to send behind Up, and those that are left.
    hold: u8,
    held: u8,
}

impl LinkState {
    /// After reset: a local fault until the layer below says otherwise, enabled. `hold_flits`: control flits to send behind
    /// Up, more than a round trip.
    pub fn new(hold_flits: u8) -> LinkState {
        let (state, fault, hold) = (State::Fault, Some(Fault::Local), hold_flits);
        LinkState { state, fault, enabled: true, sent: 0, flits: 0, control: 0, hold, held: 0 }
    }

    /// Where it is.
    pub fn state(&self) -> State {
        self.state
    }

    fn go(&mut self, state: State) {
        if state != self.state {
            if self.state == State::Up {
                self.held = self.hold;
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
        if self.state == State::Idle && self.enabled && self.held == 0 {
            self.go(State::Nop);
        } else if self.state <= State::Idle {
            self.held = self.held.saturating_sub(1);
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
            Arrived::Control => (self.flits, self.control) = (0, self.control.saturating_add(1)),
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
