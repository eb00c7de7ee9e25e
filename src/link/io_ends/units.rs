//! Ends of 68B units with CXL.io, with CXL.cachemem or a log of wrong protocol IDs beside it.

use super::{HasIo, IoFigures, Shares, no_cachemem};
use crate::arbmux::cxl68::{ArbMux, Client, PhysicalLinkEntry};
use crate::arbmux::{ArbMuxInstance, Ask};
use crate::classes::ByClass;
use crate::coverage::Met;
use crate::cxl68::Cxl68End;
use crate::cxlio::{IoPort, NonFlitEnd};
use crate::event::{LinkEvent, Severity};
use crate::health::LinkHealth;
use crate::health::liveness::LinkWait;
use crate::hook::Hooks;
use crate::line_time::LineTimeParts;
use crate::port::{Carries, CxlEnd, LinkEnd};
use scalepool_forms::FormError;
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::message::{Class, Message};
use scalepool_protocols::wire::Violation;

/// What stands beside CXL.io on a link of 68B units.
pub trait Beside: Client + Clone + Send + 'static {
    /// Protocols of the link. With CXL.io alone the ARB/MUX is bypassed.
    const ENABLED: Enabled;

    /// The end of CXL.cachemem, if it is one.
    fn end(&self) -> Option<&Cxl68End>;

    /// The same, to be changed.
    fn end_mut(&mut self) -> Option<&mut Cxl68End>;

    /// Events since the last call.
    fn take_events(&mut self) -> Vec<LinkEvent>;
}

/// Stands where CXL.cachemem would: it logs units whose protocol ID cannot be used.
#[derive(Debug, Clone, Default)]
pub struct PidLogger {
    units: u64,
    events: Vec<LinkEvent>,
}

impl Client for PidLogger {
    fn transmit(&mut self, _now: u64) -> Option<Cxl68Unit> {
        None
    }

    fn receive(&mut self, unit: &Cxl68Unit, _now: u64) {
        self.units += 1;
        if let Some(log) = pid::receive(unit.pid(), PidLogger::ENABLED).log {
            let found = format!("{:#06x}", unit.pid());
            let violation = Violation::at_byte(log.rule(), 0, found, "an ID of CXL.io", log.text());
            self.events.push(LinkEvent { severity: Severity::Retrain, unit: self.units, violation });
        }
    }

    fn phy_down(&mut self) {}

    fn phy_up(&mut self) {}

    fn link_reset(&mut self) {}

    fn is_quiet(&self) -> bool {
        true
    }

    fn take_retrain_request(&mut self) -> bool {
        false
    }
}

impl Beside for PidLogger {
    const ENABLED: Enabled = Enabled { io: true, cachemem: false };

    fn end(&self) -> Option<&Cxl68End> {
        None
    }

    fn end_mut(&mut self) -> Option<&mut Cxl68End> {
        None
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        std::mem::take(&mut self.events)
    }
}

impl Beside for Cxl68End {
    const ENABLED: Enabled = Enabled::ALL;

    fn end(&self) -> Option<&Cxl68End> {
        Some(self)
    }

    fn end_mut(&mut self) -> Option<&mut Cxl68End> {
        Some(self)
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        Cxl68End::take_events(self)
    }
}

/// An end of a link of 68B units.
#[derive(Debug, Clone)]
pub struct UnitEnd<C> {
    mux: ArbMux<NonFlitEnd, C>,
    sent: u64,
    credit_stalls: u64,
    /// Trainings that the ARB/MUX had asked for when payload or an answer came well the last time.
    asked_before: u64,
    /// Faults are asked for, so the link may have something to repair. An error of a TLP may show units later.
    faulty: bool,
    down: bool,
    /// Of the wire and of CXL.cachemem; the link layer of CXL.io has no places for any.
    hooks: Hooks,
}

impl<C: Beside> UnitEnd<C> {
    /// An end whose link has just trained for the first time.
    pub fn new(mut mux: ArbMux<NonFlitEnd, C>, faulty: bool) -> UnitEnd<C> {
        mux.phy_up(PhysicalLinkEntry::First);
        if C::ENABLED == Enabled::ALL {
            ArbMuxInstance::ALL.into_iter().for_each(|instance| mux.ask(instance, Some(Ask::Active)));
        }
        UnitEnd { mux, sent: 0, credit_stalls: 0, asked_before: 0, faulty, down: false, hooks: Hooks::default() }
    }

    /// The end of CXL.cachemem, if there is one.
    fn cachemem(&self) -> Option<&Cxl68End> {
        self.mux.cachemem.end()
    }

    /// What has come well for any of its protocols.
    fn progress(&self) -> u64 {
        self.mux.io.progress() + self.cachemem().map_or(0, Cxl68End::progress)
    }

    /// Whether payload of all its protocols may leave.
    fn is_open(&self) -> bool {
        let all = C::ENABLED == Enabled::ALL;
        self.mux.may_send(ArbMuxInstance::Io) && (!all || self.mux.may_send(ArbMuxInstance::Cachemem))
    }
}

impl<C: Beside> LinkEnd for UnitEnd<C> {
    type Unit = Cxl68Unit;

    const SIGNALS: &'static [(&'static str, u32)] =
        &[("io_up", 1), ("unacknowledged", 12), ("tlps_sent", 32), ("tlps_received", 32)];

    fn protocol(&self) -> &'static str {
        "cxl-68b"
    }

    fn unit(&self, bytes: &[u8]) -> Result<Cxl68Unit, FormError> {
        Ok(Cxl68Unit::from_bytes(bytes)?)
    }

    fn receive(&mut self, unit: &Cxl68Unit, now_flits: u64) {
        // Of before the training; what comes behind it finds this end up, as its time is over first.
        if !self.down {
            let before = self.progress();
            self.mux.receive(unit, now_flits);
            if self.progress() > before {
                self.asked_before = self.mux.stats().retrains_asked;
            }
        }
    }

    fn transmit(&mut self, now_flits: u64) -> Option<Cxl68Unit> {
        let unit = self.mux.transmit(now_flits);
        self.sent += u64::from(unit.is_some());
        self.credit_stalls += u64::from(unit.is_none() && self.mux.io.lacks_credit());
        unit
    }

    fn uses(&self) -> LineTimeParts {
        self.mux.uses()
    }

    fn fruitless(&self) -> u32 {
        let of_mux = u32::try_from(self.mux.stats().retrains_asked - self.asked_before).unwrap_or(u32::MAX);
        self.cachemem().map_or(0, Cxl68End::fruitless).max(self.mux.io.fruitless()).max(of_mux)
    }

    fn attach_hooks(&mut self, hooks: &Hooks) {
        self.hooks = hooks.clone();
        if let Some(end) = self.mux.cachemem.end_mut() {
            end.attach_hooks(hooks);
        }
    }

    fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    fn phy_down(&mut self) {
        self.down = true;
        self.mux.phy_down();
    }

    fn phy_up(&mut self) {
        self.down = false;
        self.mux.phy_up(PhysicalLinkEntry::Recovery);
    }

    fn take_retrain_request(&mut self) -> bool {
        self.mux.take_retrain_request()
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        let mut events = self.mux.take_events();
        events.extend(self.mux.cachemem.take_events());
        events.extend(self.mux.io.take_io_events());
        events
    }

    fn halted(&self) -> Option<&'static str> {
        self.cachemem().and_then(Cxl68End::halted)
    }

    fn is_quiet(&self) -> bool {
        !self.down && self.is_open() && self.mux.io.is_quiet() && self.mux.cachemem.is_quiet()
    }

    fn values(&self) -> Vec<u64> {
        let (io, total) = (&self.mux.io, |counts: [u64; 3]| counts.into_iter().sum());
        let stats = io.stats();
        vec![io.is_up().into(), io.unacknowledged() as u64, total(stats.sent), total(stats.received)]
    }

    fn pass_time(&mut self, now_flits: u64) {
        if let Some(end) = self.mux.cachemem.end_mut() {
            end.pass_time(now_flits);
        }
    }

    /// Of CXL.cachemem, if it is on the link; the figures of CXL.io are those of its own link layer.
    fn health(&self, now_flits: u64) -> LinkHealth {
        self.cachemem().map(|end| LinkEnd::health(end, now_flits)).unwrap_or_default()
    }

    fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        if let Some(end) = self.cachemem() {
            LinkEnd::pending_waits(end, each);
        }
    }

    fn report_repairs(&mut self) {
        if let Some(end) = self.mux.cachemem.end_mut() {
            LinkEnd::report_repairs(end);
        }
    }

    fn open_work(&self) -> String {
        format!("{} TLPs not acknowledged", self.mux.io.unacknowledged())
    }

    fn is_numbered(&self) -> bool {
        // UnitEnd of CXL.cachemem are not.
        C::ENABLED != Enabled::ALL
    }

    fn is_repaired(&self, event: &LinkEvent, damaged: bool) -> bool {
        (damaged || self.faulty) && matches!(event.severity, Severity::Corrected | Severity::Retrain)
    }
}

impl<C: Beside> CxlEnd for UnitEnd<C> {
    fn hold_credits(&mut self, hold: bool) {
        IoPort::hold_credits(&mut self.mux.io, hold);
        if let Some(end) = self.mux.cachemem.end_mut() {
            end.hold_credits(hold);
        }
    }

    fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        Some(now_flits + 1)
    }
}

impl<C: Beside> HasIo for UnitEnd<C> {
    const CACHEMEM: bool = C::ENABLED.cachemem;

    fn io(&self) -> &dyn IoPort {
        &self.mux.io
    }

    fn io_mut(&mut self) -> &mut dyn IoPort {
        &mut self.mux.io
    }

    fn figures(&self) -> IoFigures {
        let (of_cachemem, stats) =
            (self.cachemem().map(Cxl68End::stats).copied().unwrap_or_default(), self.mux.stats());
        let shares = Shares { sent: stats.sent, almps: stats.almps_sent };
        IoFigures {
            units: self.sent,
            credit_stalls: self.credit_stalls + of_cachemem.credit_stalls,
            replays: of_cachemem.retries,
            replayed: of_cachemem.replayed,
            shares: (C::ENABLED == Enabled::ALL).then_some(shares),
            ..IoFigures::default()
        }
    }

    fn coverage(&self) -> Vec<Met> {
        self.cachemem().map(|end| end.coverage().met()).unwrap_or_default()
    }

    fn has_room(&self, message: &Message) -> bool {
        self.cachemem().is_some_and(|end| Carries::has_room(end, message))
    }

    fn send(&mut self, message: Message) -> Result<(), Violation> {
        self.mux.cachemem.end_mut().map_or_else(|| Err(no_cachemem()), |end| Carries::send(end, message))
    }

    fn take(&mut self) -> Option<Message> {
        self.mux.cachemem.end_mut().and_then(Carries::take)
    }

    fn has_received(&self) -> bool {
        self.cachemem().is_some_and(ByClass::has_received)
    }

    fn take_class(&mut self, class: Class) -> Option<Message> {
        self.mux.cachemem.end_mut().and_then(|end| ByClass::take_class(end, class))
    }

    fn waits(&self, class: Class) -> usize {
        self.cachemem().map_or(0, |end| ByClass::waits(end, class))
    }

    fn damaged(&self) -> u64 {
        self.cachemem().map_or(0, ByClass::damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arbmux::cxl68::ArbMuxConfig;
    use crate::cxl68::EndConfig;
    use crate::cxlio::{IoConfig, ReplayConfig};
    use scalepool_protocols::cxl::Dir;
    use scalepool_protocols::cxl::cxl68::config::Cxl68Config;

    fn end(dir: Dir) -> UnitEnd<Cxl68End> {
        let link = Cxl68Config::default();
        let io = NonFlitEnd::new(IoConfig::default(), ReplayConfig::default()).expect("a link layer of CXL.io");
        let cachemem = Cxl68End::new(EndConfig::mem(dir, link, 8)).expect("a link layer of CXL.mem");
        UnitEnd::new(ArbMux::new(ArbMuxConfig::new(dir, link), io, cachemem), true)
    }

    /// Rules of the events of a device, of whose first unit of CXL.mem one bit is wrong.
    fn rules(reports: bool) -> Vec<&'static str> {
        let [mut host, mut device] = [Dir::Down, Dir::Up].map(end);
        if reports {
            device.report_repairs();
        }
        let (mut damaged, mut rules) = (0, Vec::new());
        for now in 1..400 {
            let units = [host.transmit(now), device.transmit(now)];
            if let Some(mut unit) = units[0] {
                if damaged == 0 && unit.pid() == pid::CACHEMEM {
                    (unit.0[20], damaged) = (unit.0[20] ^ 1, 1);
                }
                device.receive(&unit, now);
            }
            units[1].iter().for_each(|unit| host.receive(unit, now));
            rules.extend(device.take_events().into_iter().map(|event| event.violation.rule));
        }
        assert_eq!(damaged, 1, "no unit of CXL.mem has passed");
        rules
    }

    #[test]
    fn a_wrong_crc_of_cachemem_is_reported_where_repairs_are_asked_for() {
        assert_eq!(rules(false), [""; 0]);
        assert_eq!(rules(true), ["CXL68-CRC-01"]);
    }
}
