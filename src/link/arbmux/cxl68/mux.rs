//! The ARB/MUX of one port: two vLSMs, two clients, one wire. A walk stands in the [module above](super).

use super::almp;
use super::client::Client;
use super::table::Vlsm68Move;
use super::vlsm::{PhysicalLinkEntry, Vlsm, VlsmFinding};
use crate::arbmux::share::WireShare;
use crate::arbmux::state::{ArbMuxInstance, Ask, State, resolve_phy};
use crate::cxl68::{LinkEvent, Severity};
use crate::line_time::{LineTimeParts, Use};
use scalepool_arbiter::{ArbiterKind, WeightedRoundRobin};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::check;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled, PidKind};
use scalepool_protocols::cxl::cxl68::stream::Unpacker;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::Violation;

/// What an ARB/MUX is.
#[derive(Debug, Clone, Copy)]
pub struct ArbMuxConfig {
    /// Direction of its transmitter: the downstream port (host) sends down.
    pub dir: Dir,
    /// Link-layer choices, for judging units.
    pub link: Cxl68Config,
    /// Protocols that negotiation enabled. With one alone the ARB/MUX is bypassed: no ALMP, always Active.
    pub enabled: Enabled,
    /// Who has the next place on the wire while both protocols have something to send.
    pub arbiter: &'static ArbiterKind,
    /// Places for CXL.io and CXL.cachemem while both have units, 0 to 65535; 0 gets only what the other one leaves.
    pub weights: [u16; 2],
    /// Flit clocks of silence after which a Request for a power state is given up; the sheet has no number.
    pub pm_patience_flits: u64,
}

impl ArbMuxConfig {
    /// A port with both protocols, which share the wire by equal weights.
    pub fn new(dir: Dir, link: Cxl68Config) -> ArbMuxConfig {
        ArbMuxConfig {
            dir,
            link,
            enabled: Enabled::ALL,
            arbiter: &WeightedRoundRobin::KIND,
            weights: [1, 1],
            pm_patience_flits: 256,
        }
    }
}

/// Counters, all from the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ArbMuxStats {
    /// Units of CXL.io and of CXL.cachemem sent.
    pub sent: [u64; 2],
    /// ALMPs sent.
    pub almps_sent: u64,
    /// ALMPs received, bad ones included.
    pub almps_received: u64,
    /// Payload units that came while their vLSM was not Active and were dropped.
    pub dropped: u64,
    /// Times that this ARB/MUX itself asked for recovery.
    pub retrains_asked: u64,
}

/// The ARB/MUX of one port with its clients.
#[derive(Debug, Clone)]
pub struct ArbMux<I, C> {
    /// Link layer of CXL.io.
    pub io: I,
    /// Link layer of CXL.cachemem. It also gets units whose protocol ID cannot be used, which it logs and repairs.
    pub cachemem: C,
    config: ArbMuxConfig,
    vlsms: [Vlsm; 2],
    share: WireShare,
    /// The physical layer is in L0.
    up: bool,
    /// The downstream port has yet to send the first ALMP after the first training.
    first_due: bool,
    /// Clients that were told of training and not yet of its end.
    told_down: [bool; 2],
    retrain_wanted: bool,
    received: u64,
    events: Vec<LinkEvent>,
    moves: Vec<(ArbMuxInstance, Vlsm68Move)>,
    stats: ArbMuxStats,
    /// What the flit clock of the last unit was used for.
    uses: LineTimeParts,
}

impl<I: Client, C: Client> ArbMux<I, C> {
    /// A port whose physical link is down.
    pub fn new(config: ArbMuxConfig, io: I, cachemem: C) -> ArbMux<I, C> {
        let vlsm = || Vlsm::new(config.dir, config.pm_patience_flits);
        let mut mux = ArbMux {
            io,
            cachemem,
            config,
            vlsms: [vlsm(), vlsm()],
            share: WireShare::new(config.arbiter, [1, 1]),
            up: false,
            first_due: true,
            told_down: [false; 2],
            retrain_wanted: false,
            received: 0,
            events: Vec::new(),
            moves: Vec::new(),
            stats: ArbMuxStats::default(),
            uses: LineTimeParts::default(),
        };
        mux.set_weights(config.weights);
        mux
    }

    // ---- the consumer's side -------------------------------------------------------------------------------------

    /// What the client of an instance asks from now on, `None`: nothing. See [`Ask`] for what it means at either port.
    pub fn ask(&mut self, instance: ArbMuxInstance, ask: Option<Ask>) {
        self.vlsms[instance.index()].ask(ask);
    }

    /// Programs the weights of CXL.io and CXL.cachemem. A weight of 0 for an enabled protocol is reported: the client may
    /// starve.
    pub fn set_weights(&mut self, weights: [u16; 2]) {
        self.share = WireShare::new(self.config.arbiter, weights);
        for instance in ArbMuxInstance::ALL {
            if weights[instance.index()] == 0 && self.is_enabled(instance) {
                let text = format!("{instance:?} has weight 0 and gets only flits that the other client leaves");
                self.event(Severity::Protocol, Violation::at_byte("CXL68-MUX-01", 0, 0, "1 to 65535", text));
            }
        }
    }

    // ---- what can be seen ----------------------------------------------------------------------------------------

    /// The vLSM of an instance.
    pub fn vlsm(&self, instance: ArbMuxInstance) -> &Vlsm {
        &self.vlsms[instance.index()]
    }

    /// Whether payload of an instance may leave now.
    pub fn may_send(&self, instance: ArbMuxInstance) -> bool {
        self.up && self.is_enabled(instance) && (self.is_bypassed() || self.vlsm(instance).may_send())
    }

    /// Counters.
    pub fn stats(&self) -> &ArbMuxStats {
        &self.stats
    }

    /// Events since the last call. Those of the clients are with the clients.
    pub fn take_events(&mut self) -> Vec<LinkEvent> {
        std::mem::take(&mut self.events)
    }

    /// Changes of state of the vLSMs since the last call, in order.
    pub fn take_moves(&mut self) -> Vec<(ArbMuxInstance, Vlsm68Move)> {
        std::mem::take(&mut self.moves)
    }

    fn is_enabled(&self, instance: ArbMuxInstance) -> bool {
        match instance {
            ArbMuxInstance::Io => self.config.enabled.io,
            ArbMuxInstance::Cachemem => self.config.enabled.cachemem,
        }
    }

    fn is_bypassed(&self) -> bool {
        self.config.enabled != Enabled::ALL
    }

    fn event(&mut self, severity: Severity, violation: Violation) {
        if severity == Severity::Retrain {
            self.ask_for_training();
        }
        self.events.push(LinkEvent { severity, unit: self.received, violation });
    }

    fn ask_for_training(&mut self) {
        self.stats.retrains_asked += u64::from(!self.retrain_wanted);
        self.retrain_wanted = true;
    }

    fn found(&mut self, finding: Option<VlsmFinding>) {
        if let Some((severity, violation)) = finding {
            self.event(severity, violation);
        }
    }

    fn client(&mut self, instance: ArbMuxInstance) -> &mut dyn Client {
        match instance {
            ArbMuxInstance::Io => &mut self.io,
            ArbMuxInstance::Cachemem => &mut self.cachemem,
        }
    }

    // ---- the physical layer's side -------------------------------------------------------------------------------

    /// The state asked of the physical layer: Active, L1, L2, or Reset when nobody asks for anything.
    pub fn phy_request(&self) -> State {
        if self.is_bypassed() {
            return State::Active;
        }
        let [io, cachemem] = self.vlsms.each_ref().map(Vlsm::phy_wish);
        resolve_phy(io, cachemem)
    }

    /// Whether the ARB/MUX or a client asks for recovery; the request is taken.
    pub fn take_retrain_request(&mut self) -> bool {
        let clients = [self.io.take_retrain_request(), self.cachemem.take_retrain_request()];
        std::mem::take(&mut self.retrain_wanted) || clients.contains(&true)
    }

    /// The physical layer has left L0, for recovery, a power state or its down state.
    pub fn phy_down(&mut self) {
        self.up = false;
        for instance in ArbMuxInstance::ALL {
            self.vlsms[instance.index()].phy_down();
            // A client that never was Active has nothing to repair: before it has sent a flit its peer sends RETRY flits alone.
            if self.is_bypassed() || self.vlsm(instance).state() != State::Reset {
                self.tell_down(instance);
            }
        }
    }

    /// The physical layer is in L0.
    pub fn phy_up(&mut self, entry: PhysicalLinkEntry) {
        self.up = true;
        self.retrain_wanted = false;
        self.first_due = entry == PhysicalLinkEntry::First;
        for instance in ArbMuxInstance::ALL {
            if self.is_bypassed() {
                self.tell_up(instance);
            } else {
                self.vlsms[instance.index()].phy_up(entry);
                self.follow(instance);
            }
        }
    }

    fn tell_down(&mut self, instance: ArbMuxInstance) {
        if !std::mem::replace(&mut self.told_down[instance.index()], true) {
            self.client(instance).phy_down();
        }
    }

    fn tell_up(&mut self, instance: ArbMuxInstance) {
        if std::mem::take(&mut self.told_down[instance.index()]) {
            self.client(instance).phy_up();
        }
    }

    /// Tells the client of an instance what its vLSM has done.
    fn follow(&mut self, instance: ArbMuxInstance) {
        for made in self.vlsms[instance.index()].take_moves() {
            self.moves.push((instance, made));
            match made.to {
                State::Retrain => self.tell_down(instance),
                State::Reset => {
                    self.told_down[instance.index()] = false;
                    self.client(instance).link_reset();
                }
                _ => (),
            }
        }
        if self.vlsm(instance).may_receive() {
            self.tell_up(instance);
        }
    }

    // ---- transmitter ---------------------------------------------------------------------------------------------

    /// What the flit clock of the last [`ArbMux::transmit`] was used for.
    pub fn uses(&self) -> LineTimeParts {
        self.uses
    }

    /// The unit of this flit clock; `None`: nothing to send, the physical layer fills with NULL.
    pub fn transmit(&mut self, now: u64) -> Option<Cxl68Unit> {
        self.uses = LineTimeParts::all(Use::Idle);
        if !self.up || self.retrain_wanted {
            return None;
        }
        if !self.is_bypassed() {
            for instance in ArbMuxInstance::ALL {
                let quiet = self.client(instance).is_quiet();
                self.vlsms[instance.index()].advance(now, quiet);
                self.follow(instance);
            }
            if let Some(unit) = self.almp() {
                self.uses = LineTimeParts::all(Use::Control);
                return Some(unit);
            }
        }
        let [first, second] = self.share.order();
        if let Some(unit) = self.payload(first, now) {
            self.share.taken_by(first);
            return Some(unit);
        }
        self.payload(second, now)
    }

    /// The next ALMP. After the first training the upstream port waits for one of the downstream port.
    fn almp(&mut self) -> Option<Cxl68Unit> {
        if self.first_due && self.config.dir == Dir::Up {
            return None;
        }
        let instance = ArbMuxInstance::ALL.into_iter().find(|&i| self.vlsm(i).has_almp())?;
        let (says, finding) = self.vlsms[instance.index()].transmit()?;
        self.found(finding);
        self.follow(instance);
        self.stats.almps_sent += 1;
        self.first_due = false;
        Some(almp::unit(instance, says))
    }

    fn payload(&mut self, instance: ArbMuxInstance, now: u64) -> Option<Cxl68Unit> {
        if !self.may_send(instance) {
            return None;
        }
        let client = self.client(instance);
        let unit = client.transmit(now);
        let uses = client.uses();
        // Of two that send nothing the one that wants to tells why.
        if unit.is_some() || self.uses.empty() == Use::Idle {
            self.uses = uses;
        }
        self.stats.sent[instance.index()] += u64::from(unit.is_some());
        unit
    }

    // ---- receiver ------------------------------------------------------------------------------------------------

    /// Takes a unit off the wire.
    pub fn receive(&mut self, unit: &Cxl68Unit, now: u64) {
        let action = pid::receive(unit.pid(), self.config.enabled);
        match action.accept.map(|p| p.kind) {
            None => {
                self.ask_for_training();
                self.cachemem.receive(unit, now);
            }
            Some(PidKind::Cachemem) => self.receive_payload(ArbMuxInstance::Cachemem, unit, now),
            Some(kind) => {
                self.judge(unit);
                match kind {
                    PidKind::Io => self.receive_payload(ArbMuxInstance::Io, unit, now),
                    PidKind::Almp => self.receive_almp(unit),
                    PidKind::Null | PidKind::Cachemem => (),
                }
            }
        }
        self.received += 1;
    }

    /// Reports what the codec finds in a unit that no link layer of CXL.cachemem sees.
    fn judge(&mut self, unit: &Cxl68Unit) {
        let (dir, link) = (self.config.dir.opposite(), self.config.link);
        let decoded = Unpacker::new(dir, link.revision, self.config.enabled).read(unit);
        for violation in check::unit(&decoded, &link).violations {
            let severity = match violation.rule {
                rule if rule.starts_with("CXL68-PID") => Severity::Corrected,
                // Only copies that differ make an ALMP corrupt.
                "CXL68-ALM-01" if !almp::copies_agree(unit) => Severity::Retrain,
                _ => Severity::Protocol,
            };
            self.event(severity, violation);
        }
    }

    fn receive_almp(&mut self, unit: &Cxl68Unit) {
        self.stats.almps_received += 1;
        if !almp::copies_agree(unit) {
            return;
        }
        let Some((instance, says)) = almp::read(unit) else { return };
        if self.is_bypassed() {
            let (found, text) = (format!("{instance:?} {says:?}"), "an ALMP received on a link with one protocol only");
            self.event(Severity::Protocol, Violation::at_byte("CXL68-VLS-08", 2, found, "no ALMP", text));
            return;
        }
        // Cleared by the first ALMP of the downstream port, whichever side of the wire this is.
        if std::mem::take(&mut self.first_due) && self.config.dir == Dir::Down {
            let text = "the upstream port has sent an ALMP before the downstream port";
            let found = format!("{instance:?} {says:?}");
            self.event(Severity::Protocol, Violation::at_byte("CXL68-VLS-02", 2, found, "no ALMP yet", text));
        }
        let finding = self.vlsms[instance.index()].receive(says);
        self.found(finding);
        self.follow(instance);
    }

    fn receive_payload(&mut self, instance: ArbMuxInstance, unit: &Cxl68Unit, now: u64) {
        let vlsm = self.vlsm(instance);
        if self.is_bypassed() || vlsm.may_receive() {
            self.client(instance).receive(unit, now);
            return;
        }
        let (rule, text) = if vlsm.is_synchronising() {
            ("CXL68-VLS-06", "payload received before Status has gone both ways after recovery")
        } else {
            ("CXL68-VLS-01", "payload received although the vLSM is not Active")
        };
        let found = format!("{instance:?} in {:?}", vlsm.state());
        self.stats.dropped += 1;
        self.event(Severity::Protocol, Violation::at_byte(rule, 0, found, "ALMPs only", text));
    }
}
