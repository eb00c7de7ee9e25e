//! Switching with hierarchy based routing: routes by bindings, which a fabric manager changes while the switch runs.

use super::aer::AerSettings;
use super::command::{ManagerEvent, TimedCommand, Vppb};
use super::committing::{Committing, TableCommit, TableKind};
use super::manager::{Due, Manager};
use super::module::{CxlSwitch, SwitchConfig, SwitchResult};
use super::plug::{PlugDelays, SharedPorts};
use super::plug_watch::PlugWatch;
use super::port_mode::DspModes;
use super::route::{HbrRoute, HbrRoutes, has_answer};
use super::switching::{Managed, Routed, Switching, Undelivered};
use super::{VppbBinding, violation};
use scalepool_arbiter::ArbiterError;
use scalepool_coherence::clocked::linked::NodeLink;
use scalepool_kernel::Module;
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::link_status::LinkStatus;
use scalepool_protocols::cxl::message::{Message, MessageForm};
use scalepool_protocols::wire::Violation;
use scalepool_trace::Tap;
use std::sync::{Arc, Mutex};

/// The routes of a switch with hierarchy based routing, and what changes them.
pub struct HbrSwitching {
    routes: HbrRoutes,
    manager: Manager,
    commits: Committing,
    /// Modes of downstream ports (`fabric` VCS-6).
    modes: DspModes,
    /// What is being flushed.
    flushing: Option<Flushing>,
}

/// Why messages of a vPPB are being flushed.
#[derive(Debug, Clone, Copy)]
enum Flushing {
    /// It is contained, and stays bound.
    Contained(VppbBinding),
    /// Its binding is gone, or away.
    Gone(VppbBinding),
}

/// A switch with hierarchy based routing.
pub type HbrSwitch = CxlSwitch<HbrSwitching>;

impl HbrSwitching {
    /// Routes by virtual hierarchies, bindings and decoders; `commands` of the fabric manager change bindings. An unbind waits
    /// for outstanding requests for at most `drain_cycles` cycles.
    pub fn new(routes: HbrRoutes, commands: Vec<TimedCommand>, drain_cycles: u64) -> HbrSwitching {
        let manager = Manager::new(commands, drain_cycles, &routes.bindings);
        HbrSwitching { routes, manager, commits: Committing::default(), modes: DspModes::default(), flushing: None }
    }

    /// The same, with links and hosts that take their time when a port comes or goes; `shared`: ports for devices with logical
    /// devices, beside those where one is bound.
    pub fn with_plugs(self, shared: SharedPorts, delays: PlugDelays) -> HbrSwitching {
        HbrSwitching { manager: self.manager.with_plugs(shared, delays, &self.routes.bindings), ..self }
    }

    /// The same, with these modes of downstream ports.
    pub fn with_modes(self, modes: DspModes) -> HbrSwitching {
        HbrSwitching { modes, ..self }
    }

    /// The same, with tables that are in use from their commit on.
    pub fn with_commits(mut self, commits: Vec<TableCommit>) -> HbrSwitching {
        self.commits = Committing::new(commits);
        self.routes.uncommitted = self.commits.uncommitted();
        self
    }

    /// The rule that a message breaks that was routed by a table which is not in use.
    fn uncommitted(&self, from: usize, message: &Message, routed: &Routed<Vppb>) -> Option<Violation> {
        let Routed::Port { flow: (vcs, _), .. } = routed else { return None };
        let (kind, name) = match message {
            Message::M2sReq(_) | Message::M2sRwd(..) if from < self.routes.hosts() => (TableKind::Hdm, "HDM decoders"),
            Message::D2hReq(_) | Message::H2dReq(_) | Message::H2dRsp(_) | Message::H2dData(..) => {
                (TableKind::CacheId, "CacheIDs")
            }
            _ => return None,
        };
        if self.commits.is_in_use(*vcs, kind) {
            return None;
        }
        let found = format!("a {} led by the {name} of VCS {vcs}", message.class().name());
        let text = "a table is used when its commit has ended as Committed";
        Some(violation("FAB-CID-04", found, "none before their commit", text))
    }

    /// The same, with masks and severities of the errors that bridges record.
    pub fn with_errors(self, settings: OrderedMap<Vppb, AerSettings>) -> HbrSwitching {
        HbrSwitching { manager: self.manager.with_errors(settings), ..self }
    }

    /// The same, with further switches at some downstream ports, to which resets go on.
    pub fn with_switches_below(self, ports: OrderedSet<usize>) -> HbrSwitching {
        HbrSwitching { manager: self.manager.with_switches_below(ports), ..self }
    }

    /// The same, with Viral_Enable off at some vPPBs (`fabric` VIR-1).
    pub fn with_viral_off(self, off: OrderedSet<Vppb>) -> HbrSwitching {
        HbrSwitching { manager: self.manager.with_viral_off(off), ..self }
    }
}

/// Whether a message answers a request of CXL.mem.
fn is_answer(message: &Message) -> bool {
    matches!(message, Message::S2mNdr(_) | Message::S2mDrs(..))
}

impl Switching for HbrSwitching {
    type Flow = Vppb;

    fn module(
        self,
        config: SwitchConfig,
        links: Vec<(NodeLink, Tap)>,
        tap: Tap,
        shared: Arc<Mutex<SwitchResult>>,
    ) -> Result<Box<dyn Module>, ArbiterError> {
        Ok(Box::new(CxlSwitch::new(self, config, links, tap, shared)?))
    }

    fn route(&self, from: usize, message: &Message) -> Routed<Vppb> {
        match self.modes.route(&self.routes, from, message) {
            HbrRoute::Port(_, _, flow) if self.manager.is_contained(flow) => Routed::Dropped(Undelivered::Contained),
            HbrRoute::Port(to, message, flow) => Routed::Port { to, message, flow },
            HbrRoute::Answered(why, answer) => Routed::Answered { why, answer: answer.map(|answer| (from, answer)) },
            HbrRoute::Dropped(why) => Routed::Dropped(why),
        }
    }

    fn judge(&mut self, from: usize, message: &Message, routed: &Routed<Vppb>) -> Option<Violation> {
        let (ld_id, hosts) = (message.route().ld_id, self.routes.hosts());
        let dsp = from.checked_sub(hosts);
        if let Some(violation) = self.uncommitted(from, message, routed) {
            return Some(violation);
        }
        if let (Routed::Dropped(Undelivered::UnknownLd), Some(dsp)) = (routed, dsp) {
            self.manager.unknown_ld(dsp, ld_id, is_answer(message));
        }
        if let (Routed::Dropped(Undelivered::Contained), Some(dsp), true) = (routed, dsp, is_answer(message))
            && let Some(vppb) = self.routes.bindings.up(dsp, ld_id)
        {
            self.manager.answered(vppb);
        }
        match (routed, message) {
            (Routed::Dropped(Undelivered::Class), _) => {
                let expected = "a class that the device below has";
                let (found, text) = (message.class().name(), "a class that the port has not negotiated is dropped");
                Some(violation("FAB-ERR-04", found, expected, text))
            }
            (
                Routed::Dropped(why @ (Undelivered::BackInvalidate | Undelivered::UnknownLd | Undelivered::Contained)),
                Message::S2mBisnp(snoop),
            ) => {
                let (bi_id, tag) = (snoop.bi_id, snoop.bi_tag);
                let dsp = from.saturating_sub(hosts);
                let found =
                    format!("BISnp for {:#x} with BI-ID {bi_id:#x} and BITag {tag:#x} at dsp[{dsp}]", snoop.address);
                let text = "a snoop that is discarded is never answered, and the device keeps its BITag";
                let expected = match why {
                    Undelivered::Contained => "a vPPB that is not contained",
                    _ => "a bridge that passes snoops, and a decoder with BI back to it",
                };
                Some(violation("FAB-BIR-03", found, expected, text))
            }
            (Routed::Dropped(Undelivered::BackInvalidate), Message::M2sBirsp(answer)) => {
                let found = format!("BIRsp with BI-ID {:#x}", answer.bi_id);
                let text = "an answer to a bus that no bridge has is dropped";
                Some(violation("FAB-BIR-02", found, "the bus below a bridge that passes snoops", text))
            }
            (Routed::Port { .. }, Message::H2dReq(_) | Message::H2dRsp(_) | Message::H2dData(..)) => {
                self.routes.caches.get(&from)?.routes.foreign(*message).map(|event| event.violation())
            }
            _ if from < hosts && ld_id != 0 => {
                let text = "there are no logical devices above the switch";
                Some(violation("FAB-MLD-02", format!("LD-ID {ld_id}"), "LD-ID 0", text))
            }
            _ => None,
        }
    }

    /// A trace spells what passes in one form, whatever the links of the ports have.
    fn shown(&self, message: &Message, _: MessageForm, _: Option<Vppb>) -> (Message, MessageForm) {
        (*message, self.routes.shown_form())
    }

    fn vppb(&self, vppb: Vppb) -> Option<Vppb> {
        Some(vppb)
    }

    fn queued(&mut self, message: &Message, vppb: Vppb) {
        if has_answer(message) {
            self.manager.asked(vppb);
        }
    }

    fn sent(&mut self, port: usize, message: &Message, vppb: Vppb) {
        if port < self.routes.hosts() && is_answer(message) {
            self.manager.answered(vppb);
        }
    }

    fn damaged(&mut self, port: usize, units: u64) {
        if let Some(port) = port.checked_sub(self.routes.hosts()) {
            self.manager.damaged(port, units, &self.routes.bindings);
        }
    }

    fn first_downstream(&self) -> usize {
        self.routes.hosts()
    }

    fn plug_watch(&self) -> Option<PlugWatch> {
        let watch = || PlugWatch::new(&self.routes.bindings, &self.manager.shared_ports(), self.manager.limit_cycles());
        self.manager.is_active().then(watch)
    }

    fn manage(&mut self, cycle: u64) -> Option<Managed<Vppb>> {
        if let Some(event) = self.commits.due(cycle) {
            self.routes.uncommitted = self.commits.uncommitted();
            return Some(Managed::Event(event));
        }
        if !self.manager.is_active() {
            return None;
        }
        let HbrRoutes { bindings, stopped, .. } = &mut self.routes;
        Some(match self.manager.due(cycle, bindings, stopped)? {
            Due::Event(event) => Managed::Event(event),
            Due::Step(step) => Managed::Step(step),
            Due::Recorded(record) => Managed::Recorded(record),
            Due::Contain(binding) => {
                self.flushing = Some(Flushing::Contained(binding));
                Managed::Flush((binding.vcs, binding.vppb))
            }
            Due::Flush(binding) => {
                self.flushing = Some(Flushing::Gone(binding));
                Managed::Flush((binding.vcs, binding.vppb))
            }
        })
    }

    fn flushed(&mut self, messages: &[Message]) -> Option<ManagerEvent> {
        let flushing = self.flushing.take()?;
        // A request with an answer, or that answer, is due no more. A request without one never was.
        let is_due = |one: &&Message| has_answer(one) || is_answer(one);
        let binding = match flushing {
            Flushing::Contained(binding) => {
                messages.iter().filter(is_due).for_each(|_| self.manager.answered((binding.vcs, binding.vppb)));
                return Some(ManagerEvent::Contained(binding, messages.len() as u64));
            }
            Flushing::Gone(binding) => binding,
        };
        for _ in messages.iter().filter(is_due) {
            self.manager.late(binding.port, binding.ld.unwrap_or(0));
        }
        let messages = messages.len() as u64;
        let vppb = (binding.vcs, binding.vppb);
        Some(if self.manager.is_in_reset(vppb) {
            ManagerEvent::Reset(binding, messages)
        } else if self.manager.is_link_down(vppb) {
            ManagerEvent::Lost(binding, messages)
        } else {
            ManagerEvent::Unbound(binding, messages)
        })
    }

    fn statuses_to_tell(&mut self) -> Vec<(usize, LinkStatus)> {
        self.manager.statuses_to_tell(&self.routes.bindings)
    }

    fn heard(&mut self, port: usize, status: LinkStatus) {
        let HbrRoutes { bindings, stopped, .. } = &mut self.routes;
        self.manager.hear(port, status, bindings, stopped);
    }

    fn is_viral(&self, port: usize, flow: Option<Vppb>) -> bool {
        self.manager.is_viral(flow.map_or(port, |(vcs, _)| vcs))
    }

    fn next_cycle(&self) -> Option<u64> {
        self.manager.next_cycle().into_iter().chain(self.commits.next_cycle()).min()
    }
}

#[cfg(test)]
mod tests {
    use super::super::binding::Bindings;
    use super::super::command::{ManagerCommand, UnbindOption};
    use super::*;
    use scalepool_memory::bridge::BridgeDecoders;
    use scalepool_protocols::cxl::message::{M2sReq, S2mBisnp, S2mNdr};

    /// A snoop that goes to the host is no answer, so an unbind waits on.
    #[test]
    fn an_unbind_waits_for_answers_alone() {
        let mut bindings = Bindings::new(1, 1, 1);
        let binding = VppbBinding { vcs: 0, vppb: 0, port: 0, ld: None };
        bindings.bind(binding).expect("it is free");
        let routes = HbrRoutes {
            bindings,
            stopped: OrderedSet::new(),
            decoders: vec![BridgeDecoders::default()],
            bridges: OrderedMap::new(),
            caches: OrderedMap::new(),
            forms: vec![MessageForm::Hbr; 2],
            uncommitted: OrderedSet::new(),
            poison_on_decode_error: false,
        };
        let command = ManagerCommand::Unbind { vppb: (0, 0), option: UnbindOption::ManagedRemove };
        let mut switching = HbrSwitching::new(routes, vec![TimedCommand { at_cycle: 5, command }], 100);
        switching.queued(&Message::M2sReq(M2sReq::default()), (0, 0));
        assert_eq!(switching.manage(5), None);
        switching.sent(0, &Message::S2mBisnp(S2mBisnp::default()), (0, 0));
        assert_eq!(switching.manage(6), None, "the request is open");
        switching.sent(0, &Message::S2mNdr(S2mNdr::default()), (0, 0));
        assert_eq!(switching.manage(7), Some(Managed::Flush((0, 0))));
        assert_eq!(switching.flushed(&[]), Some(ManagerEvent::Unbound(binding, 0)));
    }
}
