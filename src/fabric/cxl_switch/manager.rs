//! The fabric manager's changes to bindings while the switch runs (`fabric` §1.2).
//!
//! Modelled: bind and unbind commands at given times. An unbind first stops new requests to the vPPB, which the switch
//! answers as unmapped. It then waits, up to a time limit, until all outstanding requests have been answered. Finally it
//! removes the binding, and the messages of the vPPB that are still in the switch are flushed. A surprise removal does
//! not wait. Responses that arrive after the removal are dropped. Their port or logical device is not bound again before
//! the last of them has arrived, because nothing would distinguish them from responses to the next host. A device that is
//! gone never sends them, so a bind awaits them for the time limit of a drain and no longer: the limit has to be longer than
//! any device takes, as later answers would reach the next host. A command that cannot be executed changes nothing. A reset ends what
//! it covers in the same way and lets it come back, without a limit ([`reset`](super::reset)); a hot reset that comes over an upstream
//! port lets answers leave instead, and goes on to switches below. The
//! containment of a logical device (virtual DPC) flushes and discards its messages both ways, and leaves it bound; an unbind or a reset
//! of its vPPB ends it too, with an event of its own, and the loss of its link does not: while the link is down requests are answered as
//! those of any vPPB there, and discarded again when it is up. Devices and links that come and go
//! ([`plug`](super::plug)) end what was open in the same way. Left out: the mailbox of the manager.
//!
//! A walk through one unbind: at the time of the command the vPPB is stopped. Each response that leaves the switch
//! decrements the count of outstanding requests of the vPPB. When the count reaches zero, or at the time limit, the
//! command completes with an event.

use super::aer::{AerBridges, AerError, AerRecord, AerSettings};
use super::away::{AwayBindings, AwayCause};
use super::binding::{Bindings, VppbBinding};
use super::command::{CommandError, ManagerCommand, ManagerEvent, PortError, TimedCommand, UnbindOption, Vppb};
use super::hot_plug::PortStep;
use super::plug::{PlugAction, PlugDelays, PlugStep, Plugs, SharedPorts};
use super::reset::ResetScope;
use super::viral::ViralHierarchies;
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::link_status::LinkStatus;
use std::collections::VecDeque;

/// The next action of the manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// A command has ended.
    Event(ManagerEvent),
    /// The vPPB, which stays bound, is contained, and its messages in the switch have to be flushed.
    Contain(VppbBinding),
    /// The binding of a vPPB has been removed, and the messages of the vPPB in the switch have to be flushed.
    Flush(VppbBinding),
    /// Something has happened at a downstream port.
    Step(PlugStep),
    /// An error has been recorded.
    Recorded(AerRecord),
}

/// A cycle that never comes: the limit of what waits without one.
const NEVER: u64 = u64::MAX;

/// Pending commands, and the unbinds in progress.
#[derive(Debug, Clone, Default)]
pub struct Manager {
    commands: VecDeque<TimedCommand>,
    /// Time limit of a drain \[cycles\].
    limit_cycles: u64,
    /// vPPBs that are being unbound, with the cycle of their time limit.
    draining: OrderedMap<Vppb, u64>,
    /// vPPBs that are unbound when the link of their port goes down.
    awaits_link_down: OrderedSet<Vppb>,
    /// Number of forwarded requests without a response, by vPPB.
    open: OrderedMap<Vppb, u64>,
    /// Outstanding responses from ports and logical devices that have been unbound, by port and LD-ID.
    late: OrderedMap<(usize, u8), LateAnswers>,
    /// vPPBs whose binding comes back: in reset, or with a link that is down.
    away: AwayBindings,
    /// Downstream ports, their devices and their links.
    plugs: Plugs,
    /// vPPBs whose traffic is discarded.
    contained: OrderedSet<Vppb>,
    /// Hierarchies in viral.
    viral: ViralHierarchies,
    /// Downstream ports where a further switch is.
    switches_below: OrderedSet<usize>,
    /// Those of them that have to be told of a hot reset.
    hot_resets: OrderedSet<usize>,
    /// Error records of the bridges.
    errors: AerBridges,
    /// What they have recorded last.
    recorded: VecDeque<AerRecord>,
    /// Events of a command that has more than one.
    further: VecDeque<ManagerEvent>,
}

/// Responses that may still come from a port or a logical device that has been unbound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LateAnswers {
    /// Their number.
    due: u64,
    /// Cycle from which on the device counts as gone.
    until_cycle: u64,
}

impl Manager {
    /// Makes the manager of a switch with these bindings. Commands run in order of time, and in order of the list at equal times.
    pub fn new(mut commands: Vec<TimedCommand>, limit_cycles: u64, bindings: &Bindings) -> Manager {
        scalepool_ordered::sort_by_key(&mut commands, |timed| timed.at_cycle);
        let plugs = Plugs::new(bindings, SharedPorts::new(), PlugDelays::default());
        Manager { commands: commands.into(), limit_cycles, plugs, ..Manager::default() }
    }

    /// The same, with ports that take their time, and with more of them for devices with logical devices than those where one is
    /// bound.
    pub fn with_plugs(self, shared: SharedPorts, delays: PlugDelays, bindings: &Bindings) -> Manager {
        Manager { plugs: Plugs::new(bindings, shared, delays), ..self }
    }

    /// The same, with further switches at some downstream ports.
    pub fn with_switches_below(self, ports: OrderedSet<usize>) -> Manager {
        Manager { switches_below: ports, ..self }
    }

    /// The same, with Viral_Enable off at some vPPBs.
    pub fn with_viral_off(self, off: OrderedSet<Vppb>) -> Manager {
        Manager { viral: ViralHierarchies::new(off), ..self }
    }

    /// The same, with masks and severities of errors.
    pub fn with_errors(mut self, settings: OrderedMap<Vppb, AerSettings>) -> Manager {
        settings.iter().for_each(|(vppb, settings)| self.errors.set(*vppb, settings.clone()));
        self
    }

    /// Units have come damaged at a downstream port, and its link made them good.
    pub fn damaged(&mut self, port: usize, units: u64, bindings: &Bindings) {
        let error = PortError { port, error: AerError::CorrectedInternal, ld: None, header: None };
        (0..units).for_each(|_| self.record(error, bindings));
    }

    fn record(&mut self, error: PortError, bindings: &Bindings) {
        let PortError { port, error, ld, header } = error;
        self.recorded.extend(self.errors.record(port, error, ld, header, &self.whole(bindings)));
    }

    /// What is bound, to a link that is down or in a reset too.
    fn whole(&self, bindings: &Bindings) -> Bindings {
        let mut whole = bindings.clone();
        // They were bound, and nothing else is there.
        for (one, _) in self.away.list() {
            let _ = whole.bind(one);
        }
        whole
    }

    /// Whether all traffic of a vPPB is discarded.
    pub fn is_contained(&self, vppb: Vppb) -> bool {
        !self.contained.is_empty() && self.contained.contains(&vppb)
    }

    /// Whether the messages of a hierarchy count as viral.
    pub fn is_viral(&self, vcs: usize) -> bool {
        self.viral.has(vcs)
    }

    /// What ports, counted from the first upstream port on, have to tell since the last call.
    pub fn statuses_to_tell(&mut self, bindings: &Bindings) -> Vec<(usize, LinkStatus)> {
        // A port whose link is down stays a part of its hierarchies; after a reset it tells its status again.
        let mut lasting = bindings.clone();
        for one in self.away.by(AwayCause::LinkDown) {
            let _ = lasting.bind(one);
        }
        let hosts = bindings.hierarchies();
        let resets = std::mem::take(&mut self.hot_resets).into_iter().map(|port| (hosts + port, LinkStatus::HotReset));
        let viral = self.viral.to_tell(&lasting).into_iter();
        let viral = viral.map(|(port, vector)| (port, vector.map_or(LinkStatus::ViralOver, LinkStatus::Viral)));
        resets.chain(viral).collect()
    }

    /// The switch at the other end of a port, counted from the first upstream port on, has told something.
    pub fn hear(&mut self, port: usize, status: LinkStatus, bindings: &Bindings, stopped: &mut OrderedSet<Vppb>) {
        let scope = match port.checked_sub(bindings.hierarchies()) {
            None => ResetScope::Upstream(port),
            Some(port) => ResetScope::Port(port),
        };
        match (status, scope) {
            (LinkStatus::Viral(_), _) => {
                // A vPPB where viral is not enabled keeps it out.
                let hierarchies = self.viral.declare(scope, bindings).unwrap_or_default();
                self.further.extend(hierarchies.into_iter().map(ManagerEvent::Viral));
            }
            (LinkStatus::HotReset, ResetScope::Upstream(_)) => self.reset_from_above(scope, bindings, stopped),
            // Resets go down alone, and the end of viral is told to no peer.
            (LinkStatus::HotReset | LinkStatus::ViralOver, _) => (),
        }
    }

    /// A hot reset comes over an upstream port (`fabric` RST-3). The switch above awaits the answers that are due, and discards them:
    /// what is here of them still goes there, and when it has left the reset is over.
    fn reset_from_above(&mut self, scope: ResetScope, bindings: &Bindings, stopped: &mut OrderedSet<Vppb>) {
        let over = self.viral.reset(scope);
        self.further.extend(over.into_iter().map(ManagerEvent::ViralOver));
        self.reset_switches_below(scope, bindings);
        for binding in bindings.list().filter(|one| scope.covers(*one)) {
            let vppb = (binding.vcs, binding.vppb);
            stopped.insert(vppb);
            if !self.draining.contains_key(&vppb) {
                self.draining.insert(vppb, NEVER);
                self.away.begin(binding, AwayCause::Reset);
            }
        }
    }

    /// Switches below what a reset covers get a hot reset.
    fn reset_switches_below(&mut self, scope: ResetScope, bindings: &Bindings) {
        let ports = bindings.list().chain(self.away.list().map(|(one, _)| one)).filter(|one| scope.covers(*one));
        self.hot_resets.extend(ports.map(|one| one.port).filter(|port| self.switches_below.contains(port)));
    }

    /// Ports for devices with logical devices.
    pub fn shared_ports(&self) -> OrderedSet<usize> {
        self.plugs.shared().keys().copied().collect()
    }

    /// Time limit of a drain \[cycles\].
    pub fn limit_cycles(&self) -> u64 {
        self.limit_cycles
    }

    /// Whether any command is pending or in progress.
    pub fn is_active(&self) -> bool {
        let has_events = !self.further.is_empty() || !self.recorded.is_empty() || self.plugs.is_active();
        has_events || !self.commands.is_empty() || !self.draining.is_empty() || !self.away.is_empty()
    }

    /// Notes that a request of a vPPB, which will be answered, has been forwarded.
    pub fn asked(&mut self, vppb: Vppb) {
        *self.open.entry(vppb).or_default() += 1;
    }

    /// Notes that a response of a vPPB has left the switch.
    pub fn answered(&mut self, vppb: Vppb) {
        if let Some(open) = self.open.get_mut(&vppb) {
            *open = open.saturating_sub(1);
        }
    }

    /// Notes that an outstanding response from an unbound port or logical device has arrived, or was flushed with its
    /// request; `false`: none was outstanding.
    pub fn late(&mut self, port: usize, ld_id: u8) -> bool {
        let Some(late) = self.late.get_mut(&(port, ld_id)) else { return false };
        late.due -= 1;
        if late.due == 0 {
            self.late.remove(&(port, ld_id));
        }
        true
    }

    /// A message came at a downstream port with an LD-ID that is not bound: the manager is told, but of late responses, as those are
    /// what it has unbound.
    pub fn unknown_ld(&mut self, port: usize, ld_id: u8, is_answer: bool) {
        if !(is_answer && self.late(port, ld_id)) {
            self.further.push_back(ManagerEvent::UnknownLd(port, ld_id));
        }
    }

    /// The next action at a cycle; the call has already updated `bindings` and `stopped`.
    pub fn due(&mut self, cycle: u64, bindings: &mut Bindings, stopped: &mut OrderedSet<Vppb>) -> Option<Due> {
        if let Some(event) = self.further.pop_front() {
            return Some(Due::Event(event));
        }
        if let Some(step) = self.plugs.pop() {
            return Some(Due::Step(step));
        }
        if let Some(record) = self.recorded.pop_front() {
            return Some(Due::Recorded(record));
        }
        if let Some(vppb) = self.drained().chain(self.overdue(cycle)).min() {
            self.draining.remove(&vppb);
            stopped.remove(&vppb);
            let open = self.open.remove(&vppb).unwrap_or(0);
            let binding = bindings.unbind(vppb.0, vppb.1).ok()?;
            if open > 0 {
                let until_cycle = cycle.saturating_add(self.limit_cycles);
                self.late.insert((binding.port, binding.ld.unwrap_or(0)), LateAnswers { due: open, until_cycle });
            }
            match self.away.cause(vppb) {
                None => self.unbound(binding, cycle, stopped),
                Some(AwayCause::Reset) => self.end_containment(vppb),
                // A link is no trigger status, and clears none (`fabric` MLD-7).
                Some(AwayCause::LinkDown) => (),
            }
            return Some(Due::Flush(binding));
        }
        self.pass(cycle);
        if let Some(step) = self.plugs.pop() {
            return Some(Due::Step(step));
        }
        if let Some((binding, cause)) = self.released() {
            let vppb = (binding.vcs, binding.vppb);
            self.away.end(vppb);
            // Nothing else was bound there in between.
            bindings.bind(binding).ok()?;
            return Some(match cause {
                AwayCause::Reset => Due::Event(ManagerEvent::Released(binding)),
                AwayCause::LinkDown => {
                    Due::Step(PlugStep { port: binding.port, vppb: Some(vppb), step: PortStep::LinkUpSeen })
                }
            });
        }
        let TimedCommand { command, .. } = *self.commands.front().filter(|first| first.at_cycle <= cycle)?;
        self.commands.pop_front();
        let refused = |error: CommandError| Some(Due::Event(ManagerEvent::Refused(command, error)));
        match command {
            ManagerCommand::Bind(binding) => {
                let busy = self.draining.keys().find(|vppb| {
                    let of_port = bindings.down(vppb.0, vppb.1).map(|(port, _)| port);
                    **vppb == (binding.vcs, binding.vppb) || of_port == Some(binding.port)
                });
                if let Some(vppb) = busy.copied().or_else(|| self.away.in_reset(binding)) {
                    return refused(CommandError::Busy { vppb });
                }
                if let Err(error) = self.plugs.fits(binding.port, binding.ld) {
                    return refused(error);
                }
                // What is bound to a link that is down is bound all the same.
                if let Err(error) = self.whole(bindings).bind(binding) {
                    return refused(error.into());
                }
                let target = (binding.port, binding.ld.unwrap_or(0));
                let late = self.late.get(&target).filter(|late| cycle < late.until_cycle);
                if let Some(&LateAnswers { due, .. }) = late {
                    return refused(CommandError::Late { port: binding.port, due });
                }
                self.late.remove(&target);
                self.plugs.bind(binding, cycle);
                if self.plugs.is_up(binding.port) {
                    bindings.bind(binding).ok()?;
                } else {
                    self.away.begin(binding, AwayCause::LinkDown);
                }
                Some(Due::Event(ManagerEvent::Bound(binding)))
            }
            ManagerCommand::Unbind { vppb, .. } if self.draining.contains_key(&vppb) || self.is_in_reset(vppb) => {
                refused(CommandError::Busy { vppb })
            }
            ManagerCommand::Unbind { vppb, .. } if self.away.cause(vppb).is_some() => {
                let binding = self.away.end(vppb)?;
                self.unbound(binding, cycle, stopped);
                Some(Due::Event(ManagerEvent::Unbound(binding, 0)))
            }
            ManagerCommand::Plug(port, action) => match self.plug((port, action), cycle, bindings, stopped) {
                Ok(()) => self.due(cycle, bindings, stopped),
                Err(error) => refused(error),
            },
            ManagerCommand::Error(error) => match self.plugs.has_device(error.port, error.ld) {
                Ok(()) => {
                    self.record(error, bindings);
                    self.due(cycle, bindings, stopped)
                }
                Err(error) => refused(error),
            },
            ManagerCommand::Ready(vppb) => match self.plugs.ready(vppb) {
                Ok(ready) => {
                    // The host has agreed before anything is unbound for that; no other step is left at a command.
                    let step = self.plugs.pop()?;
                    self.begin_drains(ready, cycle, stopped);
                    Some(Due::Step(step))
                }
                Err(error) => refused(error),
            },
            ManagerCommand::Contain { vppb, .. }
                if bindings.down(vppb.0, vppb.1).is_none_or(|(_, ld)| ld.is_none()) =>
            {
                let is_there = |one: &VppbBinding| (one.vcs, one.vppb) == vppb && one.ld.is_some();
                refused(self.why_away(is_there).unwrap_or(CommandError::NoLogicalDevice { vppb }))
            }
            ManagerCommand::Contain { vppb, cause } => {
                let (port, ld) = bindings.down(vppb.0, vppb.1)?;
                if !cause.triggers() || !self.contained.insert(vppb) {
                    return self.due(cycle, bindings, stopped);
                }
                Some(Due::Contain(VppbBinding { vcs: vppb.0, vppb: vppb.1, port, ld }))
            }
            ManagerCommand::Uncontain(vppb) if self.contained.remove(&vppb) => {
                Some(Due::Event(ManagerEvent::Uncontained(vppb)))
            }
            ManagerCommand::Uncontain(vppb)
                if self.whole(bindings).down(vppb.0, vppb.1).is_some_and(|(_, ld)| ld.is_some()) =>
            {
                refused(CommandError::NotContained { vppb })
            }
            ManagerCommand::Uncontain(vppb) => refused(CommandError::NoLogicalDevice { vppb }),
            ManagerCommand::Viral(scope) => {
                let Some(hierarchies) = self.viral.declare(scope, bindings) else {
                    let error = self.why_away(|one| scope.covers(*one));
                    return refused(error.unwrap_or(CommandError::NoHierarchy { found: scope }));
                };
                self.further.extend(hierarchies.into_iter().map(ManagerEvent::Viral));
                if scope == ResetScope::Switch {
                    for port in 0..bindings.ports() {
                        let error = AerError::UncorrectableInternal;
                        self.record(PortError { port, error, ld: None, header: None }, bindings);
                    }
                }
                self.due(cycle, bindings, stopped)
            }
            ManagerCommand::Reset(scope) => {
                let over = self.viral.reset(scope);
                let ends_viral = !over.is_empty();
                self.further.extend(over.into_iter().map(ManagerEvent::ViralOver));
                let covered: Vec<VppbBinding> = bindings.list().filter(|one| scope.covers(*one)).collect();
                let is_again = self.away.list().any(|(one, _)| scope.covers(one));
                if covered.is_empty() && !is_again && !ends_viral {
                    return refused(CommandError::Nothing { found: scope });
                }
                self.reset_switches_below(scope, bindings);
                let away: Vec<VppbBinding> =
                    self.away.list().map(|(one, _)| one).filter(|one| scope.covers(*one)).collect();
                away.into_iter().for_each(|one| self.end_containment((one.vcs, one.vppb)));
                for binding in covered {
                    let vppb = (binding.vcs, binding.vppb);
                    stopped.insert(vppb);
                    // An unbind that waits ends here, as nothing will answer it, and what it unbinds does not come back.
                    if self.draining.insert(vppb, cycle).is_none() {
                        self.away.begin(binding, AwayCause::Reset);
                    }
                }
                self.due(cycle, bindings, stopped)
            }
            ManagerCommand::Unbind { vppb, option } => {
                if bindings.down(vppb.0, vppb.1).is_none() {
                    // The unbind fails, names the problem and changes nothing.
                    return bindings.unbind(vppb.0, vppb.1).err().and_then(|error| refused(error.into()));
                }
                let limit = match option {
                    // The end of its link unbinds it; until then nothing changes for its host.
                    UnbindOption::WaitLinkDown => {
                        self.awaits_link_down.insert(vppb);
                        return self.due(cycle, bindings, stopped);
                    }
                    UnbindOption::ManagedRemove => cycle.saturating_add(self.limit_cycles),
                    UnbindOption::SurpriseRemove => cycle,
                };
                stopped.insert(vppb);
                self.draining.insert(vppb, limit);
                self.due(cycle, bindings, stopped)
            }
        }
    }

    /// Something happens to the device or the link of a port.
    fn plug(
        &mut self,
        (port, action): (usize, PlugAction),
        cycle: u64,
        bindings: &Bindings,
        stopped: &mut OrderedSet<Vppb>,
    ) -> Result<(), CommandError> {
        let there = |one: &VppbBinding| one.port == port;
        let bound: Vec<VppbBinding> = bindings.list().filter(there).collect();
        let away: Vec<VppbBinding> = self.away.list().map(|(one, _)| one).filter(there).collect();
        let mut hosts = [&bound[..], &away[..]].concat();
        if action == PlugAction::Attention {
            // Who is being unbound has nothing to agree to any more.
            hosts.retain(|one| !self.draining.contains_key(&(one.vcs, one.vppb)));
        }
        let was_up = self.plugs.is_up(port);
        self.plugs.act(port, action, &hosts, cycle)?;
        if was_up && !self.plugs.is_up(port) {
            self.record(PortError { port, error: AerError::SurpriseDown, ld: None, header: None }, bindings);
        }
        if !matches!(action, PlugAction::LinkDown | PlugAction::Remove) {
            return Ok(());
        }
        // The switch itself unbinds the logical devices of a device that is gone (`fabric` MLD-10).
        let comes_back = |one: &VppbBinding| one.ld.is_none() || action == PlugAction::LinkDown;
        for binding in bound {
            let vppb = (binding.vcs, binding.vppb);
            stopped.insert(vppb);
            // An unbind that waits ends here, as nothing will answer it, and what it unbinds does not come back.
            let is_unbound = self.draining.insert(vppb, cycle).is_some() || self.awaits_link_down.contains(&vppb);
            if !is_unbound && comes_back(&binding) {
                self.away.begin(binding, AwayCause::LinkDown);
            }
        }
        for binding in away {
            if comes_back(&binding) {
                self.away.begin(binding, AwayCause::LinkDown);
            } else {
                self.unbind_away(binding, cycle, stopped);
            }
        }
        Ok(())
    }

    /// A binding has been taken away for good.
    fn unbound(&mut self, binding: VppbBinding, cycle: u64, stopped: &mut OrderedSet<Vppb>) {
        self.awaits_link_down.remove(&(binding.vcs, binding.vppb));
        self.end_containment((binding.vcs, binding.vppb));
        let ready = self.plugs.unbind(binding, cycle);
        self.begin_drains(ready, cycle, stopped);
    }

    /// What no message can be open of any more, as its link is down or it has been flushed by a reset, is unbound at once.
    fn unbind_away(&mut self, binding: VppbBinding, cycle: u64, stopped: &mut OrderedSet<Vppb>) {
        self.away.end((binding.vcs, binding.vppb));
        self.further.push_back(ManagerEvent::Unbound(binding, 0));
        self.unbound(binding, cycle, stopped);
    }

    fn end_containment(&mut self, vppb: Vppb) {
        if self.contained.remove(&vppb) {
            self.further.push_back(ManagerEvent::Uncontained(vppb));
        }
    }

    /// Why nothing can be done to a vPPB that is bound: its link is down, or a reset has not ended.
    fn why_away(&self, which: impl Fn(&VppbBinding) -> bool) -> Option<CommandError> {
        self.away.list().find(|(one, _)| which(one)).map(|(one, cause)| match cause {
            AwayCause::Reset => CommandError::Busy { vppb: (one.vcs, one.vppb) },
            AwayCause::LinkDown => CommandError::LinkDown { port: one.port },
        })
    }

    /// Unbinds of vPPBs begin, which wait for open requests up to the limit.
    fn begin_drains(&mut self, vppbs: Vec<Vppb>, cycle: u64, stopped: &mut OrderedSet<Vppb>) {
        for vppb in vppbs {
            let away = self.away.list().map(|(one, _)| one).find(|one| (one.vcs, one.vppb) == vppb);
            match away {
                // It is flushed in this cycle, and then does not come back.
                Some(_) if self.draining.contains_key(&vppb) => drop(self.away.end(vppb)),
                Some(binding) => {
                    self.unbind_away(binding, cycle, stopped);
                    continue;
                }
                None => (),
            }
            stopped.insert(vppb);
            self.draining.entry(vppb).or_insert(cycle.saturating_add(self.limit_cycles));
        }
    }

    /// Time passes for hosts and links.
    fn pass(&mut self, cycle: u64) {
        let late = &self.late;
        let trained = self.plugs.pass(cycle, |port| clear_at(late, port) <= cycle);
        // What has not come by now counts as gone: no later reset awaits it.
        self.late.retain(|(port, _), _| !trained.contains(port));
    }

    /// vPPBs whose open requests have all been answered.
    fn drained(&self) -> impl Iterator<Item = Vppb> + '_ {
        self.draining.keys().copied().filter(|vppb| self.open.get(vppb).is_none_or(|open| *open == 0))
    }

    /// Whether a vPPB is in reset.
    pub fn is_in_reset(&self, vppb: Vppb) -> bool {
        self.away.cause(vppb) == Some(AwayCause::Reset)
    }

    /// Whether the link of a vPPB that stays bound is down.
    pub fn is_link_down(&self, vppb: Vppb) -> bool {
        self.away.cause(vppb) == Some(AwayCause::LinkDown)
    }

    /// A binding that comes back: it has been flushed, and no answer to an earlier request is due, or its link is up again.
    fn released(&self) -> Option<(VppbBinding, AwayCause)> {
        let is_over = |(one, cause): &(VppbBinding, AwayCause)| {
            let is_flushed = !self.draining.contains_key(&(one.vcs, one.vppb));
            is_flushed
                && match cause {
                    AwayCause::Reset => !self.late.contains_key(&(one.port, one.ld.unwrap_or(0))),
                    AwayCause::LinkDown => self.plugs.is_up(one.port),
                }
        };
        self.away.list().find(is_over)
    }

    /// vPPBs whose time limit has expired.
    fn overdue(&self, cycle: u64) -> impl Iterator<Item = Vppb> + '_ {
        self.draining.iter().filter(move |(_, limit)| **limit <= cycle).map(|(vppb, _)| *vppb)
    }

    /// The next cycle in which an action is due; 0 if one is due now.
    pub fn next_cycle(&self) -> Option<u64> {
        let command = self.commands.front().map(|first| first.at_cycle);
        let drained = self.drained().next().map(|_| 0);
        let released = self.released().map(|_| 0);
        let event = self.further.front().map(|_| 0);
        let plugs = self.plugs.next_cycle(|port| clear_at(&self.late, port));
        let recorded = self.recorded.front().map(|_| 0);
        let event = event.into_iter().chain(plugs).chain(recorded);
        let limits = self.draining.values().copied().filter(|limit| *limit != NEVER);
        limits.chain(command).chain(drained).chain(released).chain(event).min()
    }
}

/// The cycle from which on no answer to an earlier request can come at a port; 0 if none is due.
fn clear_at(late: &OrderedMap<(usize, u8), LateAnswers>, port: usize) -> u64 {
    late.range((port, 0)..=(port, u8::MAX)).map(|(_, late)| late.until_cycle).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::binding::BindingError;
    use super::super::command::ContainmentCause;
    use super::*;

    const OWN: VppbBinding = VppbBinding { vcs: 0, vppb: 1, port: 2, ld: Some(3) };

    fn all(manager: &mut Manager, cycle: u64, bindings: &mut Bindings, stopped: &mut OrderedSet<Vppb>) -> Vec<Due> {
        let due = std::iter::from_fn(|| manager.due(cycle, bindings, stopped));
        due.filter(|one| !matches!(one, Due::Step(_))).collect()
    }

    fn unbind(at_cycle: u64, surprise: bool) -> TimedCommand {
        let option = if surprise { UnbindOption::SurpriseRemove } else { UnbindOption::ManagedRemove };
        TimedCommand { at_cycle, command: ManagerCommand::Unbind { vppb: (0, 1), option } }
    }

    #[test]
    fn a_drain_ends_with_the_last_answer_or_at_its_limit() {
        for (answers, ends) in [(2, 40), (1, 110)] {
            let (mut bindings, mut stopped) = (Bindings::new(1, 4, 4), OrderedSet::new());
            bindings.bind(OWN).expect("it is free");
            let mut manager = Manager::new(vec![unbind(10, false)], 100, &bindings);
            manager.asked((0, 1));
            manager.asked((0, 1));
            assert_eq!(all(&mut manager, 9, &mut bindings, &mut stopped), []);
            assert_eq!(manager.next_cycle(), Some(10));
            assert_eq!(all(&mut manager, 10, &mut bindings, &mut stopped), []);
            assert_eq!((stopped.len(), bindings.down(0, 1), manager.next_cycle()), (1, Some((2, Some(3))), Some(110)));
            (0..answers).for_each(|_| manager.answered((0, 1)));
            assert_eq!(manager.next_cycle(), Some(if answers == 2 { 0 } else { 110 }));
            let found: Vec<_> = (40..120).map(|cycle| all(&mut manager, cycle, &mut bindings, &mut stopped)).collect();
            let first = found.iter().position(|due| !due.is_empty()).expect("it ends");
            assert_eq!((40 + first as u64, &found[first][..]), (ends, &[Due::Flush(OWN)][..]));
            assert_eq!((bindings.down(0, 1), stopped.len(), manager.is_active()), (None, 0, false));
        }
    }

    #[test]
    fn a_surprise_waits_for_nothing() {
        let (mut bindings, mut stopped) = (Bindings::new(1, 4, 4), OrderedSet::new());
        bindings.bind(OWN).expect("it is free");
        let bind = TimedCommand { at_cycle: 11, command: ManagerCommand::Bind(VppbBinding { vppb: 0, ..OWN }) };
        let mut manager = Manager::new(vec![bind, unbind(10, true)], 100, &bindings);
        manager.asked((0, 1));
        assert_eq!(all(&mut manager, 10, &mut bindings, &mut stopped), [Due::Flush(OWN)]);
        // An answer is still due, and may not come to the next host.
        let again = VppbBinding { vppb: 0, ..OWN };
        let late = ManagerEvent::Refused(ManagerCommand::Bind(again), CommandError::Late { port: 2, due: 1 });
        assert_eq!(all(&mut manager, 12, &mut bindings, &mut stopped), [Due::Event(late)]);
        assert!(manager.late(2, 3));
        manager.commands.push_back(TimedCommand { at_cycle: 13, command: ManagerCommand::Bind(again) });
        let bound = Due::Event(ManagerEvent::Bound(again));
        assert_eq!(all(&mut manager, 13, &mut bindings, &mut stopped), [bound]);
    }

    /// Answers of a device that is gone never come: they are awaited as long as a drain waits.
    #[test]
    fn a_port_whose_device_is_gone_is_bound_again() {
        let (mut bindings, mut stopped) = (Bindings::new(1, 4, 4), OrderedSet::new());
        bindings.bind(OWN).expect("it is free");
        let binds = [109, 110].map(|at_cycle| TimedCommand { at_cycle, command: ManagerCommand::Bind(OWN) });
        let mut manager = Manager::new([vec![unbind(10, true)], binds.to_vec()].concat(), 100, &bindings);
        (0..2).for_each(|_| manager.asked((0, 1)));
        assert_eq!(all(&mut manager, 10, &mut bindings, &mut stopped), [Due::Flush(OWN)]);
        let late = ManagerEvent::Refused(ManagerCommand::Bind(OWN), CommandError::Late { port: 2, due: 2 });
        assert_eq!(all(&mut manager, 109, &mut bindings, &mut stopped), [Due::Event(late)]);
        let bound = Due::Event(ManagerEvent::Bound(OWN));
        assert_eq!(all(&mut manager, 110, &mut bindings, &mut stopped), [bound]);
        assert_eq!(bindings.down(0, 1), Some((2, Some(3))));
    }

    fn reset(at_cycle: u64, scope: ResetScope) -> TimedCommand {
        TimedCommand { at_cycle, command: ManagerCommand::Reset(scope) }
    }

    /// However long the device takes: an answer to an earlier request would be taken for one to a later request.
    #[test]
    fn a_reset_ends_with_the_last_answer_and_no_earlier() {
        let (mut bindings, mut stopped) = (Bindings::new(1, 4, 4), OrderedSet::new());
        bindings.bind(OWN).expect("it is free");
        let mut manager = Manager::new(vec![reset(10, ResetScope::Vppb((0, 1)))], 100, &bindings);
        (0..2).for_each(|_| manager.asked((0, 1)));
        assert_eq!(all(&mut manager, 10, &mut bindings, &mut stopped), [Due::Flush(OWN)]);
        assert!(manager.late(2, 3));
        assert_eq!(all(&mut manager, 5000, &mut bindings, &mut stopped), []);
        assert_eq!((bindings.down(0, 1), manager.next_cycle(), manager.is_active()), (None, None, true));
        assert!(manager.late(2, 3));
        assert_eq!(manager.next_cycle(), Some(0));
        assert_eq!(all(&mut manager, 5001, &mut bindings, &mut stopped), [Due::Event(ManagerEvent::Released(OWN))]);
        assert_eq!((bindings.down(0, 1), manager.is_active()), (Some((2, Some(3))), false));
    }

    /// PERST# cannot be refused: an unbind that waits ends, a reset under way goes on, and the others are reset.
    #[test]
    fn a_reset_of_more_takes_what_is_under_way() {
        let (mut bindings, mut stopped) = (Bindings::new(1, 4, 4), OrderedSet::new());
        let [first, own, second] = [0, 1, 2].map(|vppb| VppbBinding { vppb, port: vppb, ..OWN });
        [first, own, second].into_iter().for_each(|one| bindings.bind(one).expect("it is free"));
        let commands = vec![
            unbind(10, false),
            reset(11, ResetScope::Vppb((0, 0))),
            reset(12, ResetScope::Switch),
            reset(13, ResetScope::Switch),
            reset(13, ResetScope::Port(3)),
        ];
        let mut manager = Manager::new(commands, 100, &bindings);
        (0..3).for_each(|vppb| manager.asked((0, vppb)));
        assert_eq!(all(&mut manager, 10, &mut bindings, &mut stopped), []);
        assert_eq!(all(&mut manager, 11, &mut bindings, &mut stopped), [Due::Flush(first)]);
        let flushed = [own, second].map(Due::Flush);
        assert_eq!(all(&mut manager, 12, &mut bindings, &mut stopped), flushed);
        assert_eq!([0, 1, 2].map(|vppb| manager.is_in_reset((0, vppb))), [true, false, true]);
        let found = ResetScope::Port(3);
        let nothing = ManagerEvent::Refused(ManagerCommand::Reset(found), CommandError::Nothing { found });
        assert_eq!(all(&mut manager, 13, &mut bindings, &mut stopped), [Due::Event(nothing)]);
        assert!(
            CommandError::Nothing { found }.to_string().starts_with("found a reset of port 3, where nothing is bound")
        );
        (0..3).for_each(|port| assert!(manager.late(port, 3)));
        let over = [first, second].map(|one| Due::Event(ManagerEvent::Released(one)));
        assert_eq!(all(&mut manager, 20, &mut bindings, &mut stopped), over);
        assert_eq!((bindings.list().collect::<Vec<_>>(), stopped.len()), (vec![first, second], 0));
    }

    #[test]
    fn what_is_refused_changes_nothing() {
        let (mut bindings, mut stopped) = (Bindings::new(1, 4, 4), OrderedSet::new());
        bindings.bind(OWN).expect("it is free");
        let at = |at_cycle, command| TimedCommand { at_cycle, command };
        let bind = ManagerCommand::Bind(VppbBinding { vppb: 2, ..OWN });
        let other = ManagerCommand::Unbind { vppb: (0, 2), option: UnbindOption::WaitLinkDown };
        let mut manager =
            Manager::new(vec![at(1, bind), at(1, other), unbind(2, false), unbind(3, true), at(4, bind)], 9, &bindings);
        manager.asked((0, 1));
        let in_use = BindingError::PortInUse { port: 2, ld: Some(3), vcs: 0, vppb: 1 };
        let refused = |command, error| Due::Event(ManagerEvent::Refused(command, error));
        assert_eq!(
            all(&mut manager, 1, &mut bindings, &mut stopped),
            [refused(bind, in_use.into()), refused(other, BindingError::NotBound { vcs: 0, vppb: 2 }.into())]
        );
        let busy = CommandError::Busy { vppb: (0, 1) };
        assert_eq!(
            all(&mut manager, 4, &mut bindings, &mut stopped),
            [refused(unbind(3, true).command, busy), refused(bind, busy)]
        );
        assert_eq!((bindings.down(0, 1), stopped.len()), (Some((2, Some(3))), 1));
    }

    /// An unbind and a reset end containment and say so; the end of what is not contained is refused for what it is.
    #[test]
    fn the_end_of_containment_is_told() {
        let contain = ManagerCommand::Contain { vppb: (0, 1), cause: ContainmentCause::Software };
        let clear = ManagerCommand::Uncontain((0, 1));
        for end in [unbind(2, false).command, ManagerCommand::Reset(ResetScope::Switch)] {
            let (mut bindings, mut stopped) = (Bindings::new(1, 4, 4), OrderedSet::new());
            bindings.bind(OWN).expect("it is free");
            let at = |at_cycle, command| TimedCommand { at_cycle, command };
            let mut manager = Manager::new(vec![at(1, contain), at(2, end), at(3, clear)], 9, &bindings);
            assert_eq!(all(&mut manager, 1, &mut bindings, &mut stopped), [Due::Contain(OWN)]);
            let over = Due::Event(ManagerEvent::Uncontained((0, 1)));
            let due = all(&mut manager, 2, &mut bindings, &mut stopped);
            assert_eq!(due[..2], [Due::Flush(OWN), over], "{end:?}");
            let is_reset = matches!(end, ManagerCommand::Reset(_));
            assert_eq!(due[2..], [Due::Event(ManagerEvent::Released(OWN))][..usize::from(is_reset)]);
            let error = if is_reset {
                CommandError::NotContained { vppb: (0, 1) }
            } else {
                CommandError::NoLogicalDevice { vppb: (0, 1) }
            };
            let refused = Due::Event(ManagerEvent::Refused(clear, error));
            assert_eq!(all(&mut manager, 3, &mut bindings, &mut stopped), [refused]);
        }
    }
}
