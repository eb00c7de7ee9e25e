//! The ARB/MUX of one port: two vLSMs, two clients, one numbered link. A walk stands in the [module above](super).

use super::almp::{self, AlmpContent};
use super::l0p::{L0pSide, LinkWidth, WidthMove, WidthRefused};
use super::state::Vlsm256Move;
use super::vlsm::Vlsm;
use crate::arbmux::share::WireShare;
use crate::arbmux::state::{ArbMuxInstance, Ask, State, resolve_phy};
use crate::cxl256::client::{Client, FlitPart, Urgent};
use crate::event::{LinkEvent, Severity};
use crate::hook::Hooks;
use crate::line_time::{LineTimeParts, Use};
use scalepool_arbiter::{ArbiterKind, WeightedRoundRobin};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::wire::Violation;

/// What an ARB/MUX is.
#[derive(Debug, Clone, Copy)]
pub struct ArbMuxConfig {
    /// Direction of its transmitter: the downstream port (host) sends down.
    pub dir: Dir,
    /// Flit map of the link, for judging ALMPs.
    pub mode: Mode,
    /// Who has the next place on the wire while both protocols have something to send.
    pub arbiter: &'static ArbiterKind,
    /// Places for CXL.io and CXL.cachemem while both have flits, 0 to 65535; 0 gets only what the other one leaves.
    pub weights: [u16; 2],
    /// Upstream port: flit clocks of silence after which a Request for a power state is given up; the sheet has no number.
    pub pm_patience_flits: u64,
    /// Downstream port: flit clocks that a Request for a power state waits for permission before it is refused by PMNAK,
    /// less than the peer's patience and the way there and back; the sheet has no number. `None`: it stays silent.
    pub pm_refusal_flits: Option<u64>,
    /// Width of the link with all lanes.
    pub width: LinkWidth,
    /// Narrowest width to which it agrees if the peer asks without priority.
    pub narrowest: LinkWidth,
}

impl ArbMuxConfig {
    /// A port of a link of 16 lanes with equal weights, that agrees to every width.
    pub fn new(dir: Dir, mode: Mode) -> ArbMuxConfig {
        ArbMuxConfig {
            dir,
            mode,
            arbiter: &WeightedRoundRobin::KIND,
            weights: [1, 1],
            pm_patience_flits: 512,
            pm_refusal_flits: Some(128),
            width: LinkWidth::X16,
            narrowest: LinkWidth::X1,
        }
    }
}

/// Counters, all from the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ArbMuxStats {
    /// Flits of CXL.io and of CXL.cachemem sent.
    pub sent: [u64; 2],
    /// ALMPs sent.
    pub almps_sent: u64,
    /// ALMPs received, bad ones included.
    pub almps_received: u64,
    /// Payload flits that came while their vLSM was not Active and were dropped.
    pub dropped: u64,
}

/// The ARB/MUX of one port with its clients.
#[derive(Debug, Clone)]
pub struct ArbMux<I, C> {
    /// Link layer of CXL.io.
    pub io: I,
    /// Link layer of CXL.cachemem.
    pub cachemem: C,
    config: ArbMuxConfig,
    vlsms: [Vlsm; 2],
    l0p: L0pSide,
    share: WireShare,
    /// The physical layer is in L0.
    up: bool,
    received: u64,
    events: Vec<LinkEvent>,
    moves: Vec<(ArbMuxInstance, Vlsm256Move)>,
    stats: ArbMuxStats,
    /// What the place of the last flit was used for.
    uses: LineTimeParts,
}

impl<I: Client<Flit = Cxl256Flit>, C: Client<Flit = Cxl256Flit>> ArbMux<I, C> {
    /// A port that has just been told that the physical link is up, both vLSMs in Reset.
    pub fn new(config: ArbMuxConfig, io: I, cachemem: C) -> ArbMux<I, C> {
        ArbMux {
            io,
            cachemem,
            config,
            vlsms: [Vlsm::new(&config), Vlsm::new(&config)],
            l0p: L0pSide::new(config.dir, config.width, config.narrowest),
            share: WireShare::new(config.arbiter, config.weights),
            up: true,
            received: 0,
            events: Vec::new(),
            moves: Vec::new(),
            stats: ArbMuxStats::default(),
            uses: LineTimeParts::default(),
        }
    }

    // ---- the consumer's side -------------------------------------------------------------------------------------

    /// What the client of an instance asks from now on, `None`: nothing. See [`Ask`] for what it means at either port.
    pub fn ask(&mut self, instance: ArbMuxInstance, ask: Option<Ask>) {
        self.vlsms[instance.index()].ask(ask);
    }

    /// Programs the weights of CXL.io and CXL.cachemem, 0 to 65535; a client of weight 0 may starve.
    pub fn set_weights(&mut self, weights: [u16; 2]) {
        self.share = WireShare::new(self.config.arbiter, weights);
    }

    /// Asks the peer for a width of the link, see [`L0pSide::ask`].
    ///
    /// # Errors
    /// The link has fewer lanes, or a Request waits for its answer.
    pub fn ask_width(&mut self, width: LinkWidth, priority: bool) -> Result<(), WidthRefused> {
        self.l0p.ask(width, priority)
    }

    /// From now on the port agrees to Requests without priority down to `width`.
    pub fn set_narrowest(&mut self, width: LinkWidth) {
        self.l0p.set_narrowest(width);
    }

    // ---- what can be seen ----------------------------------------------------------------------------------------

    /// The vLSM of an instance.
    pub fn vlsm(&self, instance: ArbMuxInstance) -> &Vlsm {
        &self.vlsms[instance.index()]
    }

    /// Whether payload of an instance may leave now.
    pub fn may_send(&self, instance: ArbMuxInstance) -> bool {
        self.up && self.vlsm(instance).may_send()
    }

    /// The width of the link and what is being negotiated.
    pub fn l0p(&self) -> &L0pSide {
        &self.l0p
    }

    /// Width of the link in use: what times a flit.
    pub fn width(&self) -> LinkWidth {
        self.l0p.width()
    }

    /// Counters.
    pub fn stats(&self) -> &ArbMuxStats {
        &self.stats
    }

    /// Changes of state of the vLSMs since the last call, in order.
    pub fn take_moves(&mut self) -> Vec<(ArbMuxInstance, Vlsm256Move)> {
        std::mem::take(&mut self.moves)
    }

    /// Changes of the width since the last call, in order.
    pub fn take_width_moves(&mut self) -> Vec<WidthMove> {
        self.l0p.take_moves()
    }

    /// The state asked of the physical layer: Active, L1, L2, or Reset when nobody asks for anything.
    pub fn phy_request(&self) -> State {
        let [io, cachemem] = self.vlsms.each_ref().map(Vlsm::phy_wish);
        if self.l0p.is_quiet() { resolve_phy(io, cachemem) } else { State::Active }
    }

    fn has_almp(&self) -> bool {
        self.l0p.has_almp() || self.vlsms.iter().any(Vlsm::has_almp)
    }

    fn client(&self, instance: ArbMuxInstance) -> &dyn Client<Flit = Cxl256Flit> {
        match instance {
            ArbMuxInstance::Io => &self.io,
            ArbMuxInstance::Cachemem => &self.cachemem,
        }
    }

    fn client_mut(&mut self, instance: ArbMuxInstance) -> &mut dyn Client<Flit = Cxl256Flit> {
        match instance {
            ArbMuxInstance::Io => &mut self.io,
            ArbMuxInstance::Cachemem => &mut self.cachemem,
        }
    }

    fn event(&mut self, violation: Violation) {
        self.events.push(LinkEvent { severity: Severity::Protocol, unit: self.received, violation });
    }

    /// Keeps what a vLSM has done, and tells its client of Reset.
    fn follow(&mut self, instance: ArbMuxInstance) {
        for made in self.vlsms[instance.index()].take_moves() {
            self.moves.push((instance, made));
            if made.to == super::State::Reset {
                self.client_mut(instance).link_reset();
            }
        }
    }

    // ---- transmitter ---------------------------------------------------------------------------------------------

    fn almp(&mut self) -> Option<Cxl256Flit> {
        let mut content = self.l0p.transmit().map(AlmpContent::Width);
        for instance in ArbMuxInstance::ALL {
            if content.is_none() {
                content = self.vlsms[instance.index()].transmit().map(|says| AlmpContent::Vlsm(instance, says));
                self.follow(instance);
            }
        }
        let flit = almp::flit(content?);
        self.stats.almps_sent += 1;
        Some(flit)
    }

    fn payload(&mut self, instance: ArbMuxInstance, now: u64) -> Option<Cxl256Flit> {
        if !self.may_send(instance) {
            return None;
        }
        let client = self.client_mut(instance);
        let flit = client.transmit(now);
        let uses = client.uses();
        // Of two that send nothing the one that wants to tells why.
        if flit.is_some() || self.uses.empty() == Use::Idle {
            self.uses = uses;
        }
        self.stats.sent[instance.index()] += u64::from(flit.is_some());
        flit
    }

    // ---- receiver ------------------------------------------------------------------------------------------------

    fn receive_almp(&mut self, flit: &Cxl256Flit, now: u64) {
        self.stats.almps_received += 1;
        for violation in almp::judge(flit, self.config.mode) {
            self.event(violation);
        }
        let finding = match almp::read(flit) {
            None => None,
            Some(AlmpContent::Width(says)) => self.l0p.receive(says),
            Some(AlmpContent::Vlsm(instance, says)) => {
                let finding = self.vlsms[instance.index()].receive(says, now);
                self.follow(instance);
                finding
            }
        };
        if let Some(violation) = finding {
            self.event(violation);
        }
    }

    fn receive_payload(&mut self, instance: ArbMuxInstance, flit: &Cxl256Flit, part: FlitPart, now: u64) {
        let state = self.vlsm(instance).state();
        let fault = if !state.may_receive() {
            Some(("CXL256-ALM-03", "ALMPs only", "payload received although the vLSM is not Active"))
        } else if self.vlsm(instance).is_peer_refused() {
            Some(("CXL256-ALM-04", "Request{Active} first", "payload received from a peer whose vLSM is in PMNAK"))
        } else {
            None
        };
        // Both halves of a flit are one finding.
        if let Some((rule, expected, text)) = fault
            && part != FlitPart::Odd
        {
            self.stats.dropped += u64::from(!state.may_receive());
            self.event(Violation::at_byte(rule, 0, format!("{instance:?} in {state:?}"), expected, text));
        }
        if state.may_receive() {
            self.client_mut(instance).receive(flit, part, now);
        }
    }
}

impl<I: Client<Flit = Cxl256Flit>, C: Client<Flit = Cxl256Flit>> Client for ArbMux<I, C> {
    type Flit = Cxl256Flit;

    fn transmit(&mut self, now_flits: u64) -> Option<Cxl256Flit> {
        self.uses = LineTimeParts::all(Use::Idle);
        if !self.up {
            return None;
        }
        for instance in ArbMuxInstance::ALL {
            let quiet = self.client(instance).is_quiet();
            self.vlsms[instance.index()].advance(now_flits, quiet);
            self.follow(instance);
        }
        if let Some(flit) = self.almp() {
            self.uses = LineTimeParts::all(Use::Control);
            return Some(flit);
        }
        let [first, second] = self.share.order();
        if let Some(flit) = self.payload(first, now_flits) {
            self.share.taken_by(first);
            return Some(flit);
        }
        self.payload(second, now_flits)
    }

    fn uses(&self) -> LineTimeParts {
        self.uses
    }

    /// An ALMP acts when all of its flit is there.
    fn receive(&mut self, flit: &Cxl256Flit, part: FlitPart, now_flits: u64) {
        match flit.header().flit_type {
            FlitType::Io => self.receive_payload(ArbMuxInstance::Io, flit, part, now_flits),
            FlitType::Cachemem => self.receive_payload(ArbMuxInstance::Cachemem, flit, part, now_flits),
            FlitType::Almp if part != FlitPart::Even => self.receive_almp(flit, now_flits),
            _ => (),
        }
        self.received += u64::from(part != FlitPart::Even);
    }

    /// Not in front of an ALMP, which may be the one that opens the vLSM of the urgent flit.
    fn urgent(&mut self, leaving: Option<&Cxl256Flit>) -> Option<Urgent> {
        if leaving.is_some_and(|flit| flit.header().flit_type == FlitType::Almp) {
            return None;
        }
        let may_send = ArbMuxInstance::ALL.map(|instance| self.may_send(instance));
        let mut active = ArbMuxInstance::ALL.into_iter().filter(|i| may_send[i.index()]);
        active.find_map(|instance| self.client_mut(instance).urgent(leaving))
    }

    fn attach_hooks(&mut self, hooks: &Hooks) {
        self.cachemem.attach_hooks(hooks);
    }

    fn dllp(&mut self, now_flits: u64) -> Option<[u8; 4]> {
        if self.may_send(ArbMuxInstance::Io) { self.io.dllp(now_flits) } else { None }
    }

    /// DLLPs are not numbered, so one may overtake the ALMP that opens the vLSM; it is dropped, as if it were lost.
    fn receive_dllp(&mut self, bytes: [u8; 4], now_flits: u64) {
        if self.vlsm(ArbMuxInstance::Io).state().may_receive() {
            self.io.receive_dllp(bytes, now_flits);
        }
    }

    fn phy_down(&mut self) {
        self.up = false;
        ArbMuxInstance::ALL.into_iter().for_each(|instance| self.client_mut(instance).phy_down());
    }

    fn phy_up(&mut self) {
        self.up = true;
        ArbMuxInstance::ALL.into_iter().for_each(|instance| self.client_mut(instance).phy_up());
    }

    fn link_reset(&mut self) {
        self.l0p.link_reset();
        for instance in ArbMuxInstance::ALL {
            self.vlsms[instance.index()].link_reset();
            let made = self.vlsms[instance.index()].take_moves();
            self.moves.extend(made.into_iter().map(|m| (instance, m)));
            self.client_mut(instance).link_reset();
        }
    }

    fn take_retrain_request(&mut self) -> bool {
        let clients = [self.io.take_retrain_request(), self.cachemem.take_retrain_request()];
        clients.contains(&true)
    }

    fn is_quiet(&self) -> bool {
        let is_quiet = |instance: ArbMuxInstance| {
            let quiet = self.client(instance).is_quiet();
            quiet && self.vlsm(instance).is_quiet(quiet)
        };
        self.l0p.is_quiet() && ArbMuxInstance::ALL.into_iter().all(is_quiet)
    }

    fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        if !self.up {
            return None;
        }
        if self.has_almp() {
            return Some(now_flits + 1);
        }
        let of_instance = |instance: ArbMuxInstance| {
            let client = self.client(instance);
            let payload = if self.may_send(instance) { client.wakes_at(now_flits) } else { None };
            payload.into_iter().chain(self.vlsm(instance).wakes_at(now_flits, client.is_quiet()))
        };
        ArbMuxInstance::ALL.into_iter().flat_map(of_instance).min()
    }

    /// Those of the clients behind its own.
    fn take_events(&mut self) -> Vec<LinkEvent> {
        let mut events = std::mem::take(&mut self.events);
        events.extend(self.io.take_events());
        events.extend(self.cachemem.take_events());
        events
    }
}
