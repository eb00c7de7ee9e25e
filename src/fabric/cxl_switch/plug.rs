//! Downstream ports of a running switch that come and go ([`hot_plug`](super::hot_plug)), with the time that this takes.
//!
//! Modelled: for each port its device, its link and what the host and the fabric manager see of both, step by step; the time until
//! the software of a host releases Link Disable, and the time of a training; logical devices, whose hosts see them come and go while
//! the link stays the manager's (`fabric` MLD-3); removals that await every host (`fabric` MLD-10). Detail: to the message. What is on
//! the wire when a link goes down still arrives: the device takes the requests, and the switch drops and counts its answers (`fabric`
//! BND-6). A link does not train before the last of these has come, as nothing would tell it from an answer to a later request,
//! or before the time limit of a drain has passed, from which on what has not come counts as gone: with a limit that is shorter than a
//! device takes, its answer reaches a later request.
//! Left out: the states of a training; what the software of a host does with an event beside releasing the link; that a device which
//! is plugged in again has lost its bytes.
//!
//! A walk through a removal: the link goes down, the host sees that, then no presence, and gets a hot-plug event. When a device is
//! plugged in the host sees presence and gets another event, the link trains, and requests reach the device again.

use super::binding::{BindingError, Bindings, LOGICAL_DEVICES, VppbBinding};
use super::command::{CommandError, Vppb};
use super::hot_plug::{HotPlugPort, PortStep, SharedRemoval};
use scalepool_ordered::{OrderedMap, OrderedSet};
use std::collections::VecDeque;

/// What happens to the device or the link of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlugAction {
    /// The device is taken out.
    Remove,
    /// A device is plugged in.
    Insert,
    /// The link goes down by itself.
    LinkDown,
    /// The attention button is pressed: every host of the port is asked to agree to a removal.
    Attention,
}

/// A step at a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlugStep {
    /// The downstream port.
    pub port: usize,
    /// The vPPB whose host sees it, or which it is about; `None`: the fabric manager's.
    pub vppb: Option<Vppb>,
    /// What happens.
    pub step: PortStep,
}

/// How long software and links take \[cycles\].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlugDelays {
    /// From the hot-plug event until the host has released Link Disable.
    pub release_cycles: u64,
    /// From there, or from the loss of a link, until the link is trained.
    pub training_cycles: u64,
}

/// What a port waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlugWait {
    /// Its host, which releases Link Disable at this cycle.
    Release(u64),
    /// Its link, which is trained at this cycle.
    Training(u64),
}

impl PlugWait {
    const fn cycle(self) -> u64 {
        match self {
            PlugWait::Release(cycle) | PlugWait::Training(cycle) => cycle,
        }
    }
}

/// Ports for devices with logical devices, with the number of these.
pub type SharedPorts = OrderedMap<usize, u8>;

/// The downstream ports of a switch.
#[derive(Debug, Clone, Default)]
pub(super) struct Plugs {
    ports: Vec<HotPlugPort>,
    shared: SharedPorts,
    delays: PlugDelays,
    waits: OrderedMap<usize, PlugWait>,
    /// Removals that await hosts, by port.
    removals: OrderedMap<usize, SharedRemoval>,
    steps: VecDeque<PlugStep>,
}

impl Plugs {
    /// Ports with a device each, and with links that are up where something is bound. `shared`: ports for devices with logical
    /// devices, beside those of which one is bound.
    pub fn new(bindings: &Bindings, mut shared: SharedPorts, delays: PlugDelays) -> Plugs {
        for one in bindings.list().filter(|one| one.ld.is_some()) {
            shared.entry(one.port).or_insert(LOGICAL_DEVICES as u8);
        }
        let port = |n| {
            let is_shared = shared.contains_key(&n);
            let mut port = if is_shared { HotPlugPort::of_logical_devices(true) } else { HotPlugPort::new(true) };
            let whole = bindings.list().find(|one| one.port == n && one.ld.is_none());
            if let Some(VppbBinding { vcs, vppb, .. }) = whole {
                let _ = port.bind((vcs, vppb)).and_then(|()| port.release_link());
            }
            let _ = port.train();
            port.take_steps();
            port
        };
        let ports = (0..bindings.ports()).map(port).collect();
        Plugs { ports, shared, delays, ..Plugs::default() }
    }

    /// The next step that has happened.
    pub fn pop(&mut self) -> Option<PlugStep> {
        self.steps.pop_front()
    }

    /// Ports for devices with logical devices.
    pub fn shared(&self) -> &SharedPorts {
        &self.shared
    }

    fn port(&self, found: usize) -> Result<&HotPlugPort, CommandError> {
        let last = self.ports.len().saturating_sub(1);
        self.ports.get(found).ok_or_else(|| BindingError::Port { found, last }.into())
    }

    /// Whether a port can have a logical device; a port as a whole fits everywhere (`fabric` BND-7, MLD-4).
    ///
    /// # Errors
    /// The port is not there, or has no such logical device.
    pub fn fits(&self, port: usize, ld: Option<u8>) -> Result<(), CommandError> {
        self.port(port)?;
        match (ld, self.shared.get(&port).copied()) {
            (Some(found), None) => Err(CommandError::NotShared { port, found }),
            (Some(found), Some(count)) if found >= count => Err(CommandError::NoLd { port, found, count }),
            _ => Ok(()),
        }
    }

    /// Whether a device is plugged in, with a logical device if one is named.
    ///
    /// # Errors
    /// The port is not there, has no device, is bound as a whole and so has no logical devices, or not that one.
    pub fn has_device(&self, port: usize, ld: Option<u8>) -> Result<(), CommandError> {
        let own = self.port(port)?;
        match ld {
            _ if !own.is_present() => Err(CommandError::NoDevice { port }),
            Some(found) if own.bound().is_some() => Err(CommandError::NotShared { port, found }),
            _ => self.fits(port, ld),
        }
    }

    /// Whether the link of a port is up.
    pub fn is_up(&self, port: usize) -> bool {
        self.ports.get(port).is_some_and(HotPlugPort::is_up)
    }

    fn push(&mut self, port: usize, vppb: Option<Vppb>, steps: impl IntoIterator<Item = PortStep>) {
        self.steps.extend(steps.into_iter().map(|step| PlugStep { port, vppb, step }));
    }

    /// The steps that a port has taken.
    fn collect(&mut self, port: usize, vppb: Option<Vppb>) {
        let steps = self.ports[port].take_steps();
        self.push(port, vppb, steps);
    }

    /// A binding has been made.
    pub fn bind(&mut self, binding: VppbBinding, cycle: u64) {
        let VppbBinding { vcs, vppb, port, ld } = binding;
        let of = Some((vcs, vppb));
        if ld.is_some() {
            self.push(port, of, [PortStep::Mapped((vcs, vppb)), PortStep::LinesMoved]);
            if self.ports[port].is_present() {
                self.push(port, of, [PortStep::PresenceSeen, PortStep::HotPlugEvent]);
            }
            // A removal under way needs the new host's consent too.
            if let Some(removal) = self.removals.get_mut(&port) {
                removal.join((vcs, vppb));
                self.push(port, of, [PortStep::AttentionSeen]);
            }
            return;
        }
        // A port that is bound is refused before.
        let _ = self.ports[port].bind((vcs, vppb));
        self.collect(port, of);
        if self.ports[port].is_present() {
            self.waits.insert(port, PlugWait::Release(cycle.saturating_add(self.delays.release_cycles)));
        }
    }

    /// A binding has been taken away.
    pub fn unbind(&mut self, binding: VppbBinding, cycle: u64) -> Vec<Vppb> {
        let VppbBinding { vcs, vppb, port, ld } = binding;
        let of = Some((vcs, vppb));
        if ld.is_some() {
            let own = &self.ports[port];
            let seen = [(own.is_up(), PortStep::LinkDownSeen), (own.is_present(), PortStep::AbsenceSeen)];
            self.push(port, of, seen.into_iter().filter(|(is_seen, _)| *is_seen).map(|(_, step)| step));
        } else {
            let _ = self.ports[port].unbind();
            self.collect(port, of);
            self.waits.remove(&port);
            if self.shared.contains_key(&port) && self.ports[port].is_present() {
                self.waits.insert(port, PlugWait::Training(cycle.saturating_add(self.delays.training_cycles)));
            }
        }
        // A removal no longer awaits its host.
        let ready = self.removals.get_mut(&port).map(|removal| removal.forget((vcs, vppb))).unwrap_or_default();
        self.end_removals();
        ready
    }

    fn end_removals(&mut self) {
        self.removals.retain(|_, removal| removal.awaited().next().is_some());
    }

    /// Something happens to a port, to whose logical devices these vPPBs are bound.
    ///
    /// # Errors
    /// It cannot happen there; nothing changes.
    pub fn act(
        &mut self,
        port: usize,
        action: PlugAction,
        hosts: &[VppbBinding],
        cycle: u64,
    ) -> Result<(), CommandError> {
        let Some(own) = self.ports.get_mut(port) else {
            return Err(BindingError::Port { found: port, last: self.ports.len().saturating_sub(1) }.into());
        };
        let (was_up, was_present, whole) = (own.is_up(), own.is_present(), own.bound());
        match action {
            PlugAction::LinkDown if !was_up => return Err(CommandError::LinkDown { port }),
            PlugAction::Remove | PlugAction::Attention if !was_present => return Err(CommandError::NoDevice { port }),
            PlugAction::Insert if was_present => return Err(CommandError::Device { port }),
            PlugAction::Attention if hosts.is_empty() => return Err(CommandError::NoHost { port }),
            PlugAction::Attention if self.removals.contains_key(&port) => {
                return Err(CommandError::RemovalUnderWay { port });
            }
            _ => (),
        }
        let training = PlugWait::Training(cycle.saturating_add(self.delays.training_cycles));
        let of_logical_device: &[PortStep] = match action {
            PlugAction::LinkDown => {
                own.surprise_down();
                self.waits.insert(port, training);
                self.push(port, whole, [PortStep::LinkLost]);
                &[PortStep::LinkDownSeen, PortStep::HotPlugEvent]
            }
            PlugAction::Remove => {
                own.remove();
                self.waits.remove(&port);
                self.removals.remove(&port);
                self.push(port, whole, [PortStep::DeviceRemoved]);
                let seen: &[PortStep] = &[PortStep::LinkDownSeen, PortStep::AbsenceSeen, PortStep::HotPlugEvent];
                &seen[usize::from(!was_up)..]
            }
            PlugAction::Insert => {
                own.insert();
                let wait = match whole {
                    Some(_) => Some(PlugWait::Release(cycle.saturating_add(self.delays.release_cycles))),
                    None => self.shared.contains_key(&port).then_some(training),
                };
                self.waits.extend(wait.map(|wait| (port, wait)));
                self.push(port, whole, [PortStep::DeviceInserted]);
                &[PortStep::PresenceSeen, PortStep::HotPlugEvent]
            }
            PlugAction::Attention => {
                self.removals.insert(port, SharedRemoval::begin(hosts.iter().map(|one| (one.vcs, one.vppb))));
                for one in hosts {
                    self.push(port, Some((one.vcs, one.vppb)), [PortStep::AttentionSeen]);
                }
                return Ok(());
            }
        };
        self.collect(port, whole);
        for one in hosts.iter().filter(|one| one.ld.is_some()) {
            self.push(port, Some((one.vcs, one.vppb)), of_logical_device.iter().copied());
        }
        Ok(())
    }

    /// A host agrees to a removal: the vPPBs that the manager may unbind now.
    ///
    /// # Errors
    /// No removal awaits it.
    pub fn ready(&mut self, vppb: Vppb) -> Result<Vec<Vppb>, CommandError> {
        let awaits = |(_, removal): &(&usize, &mut SharedRemoval)| removal.awaited().any(|one| one == vppb);
        let Some((port, removal)) = self.removals.iter_mut().find(awaits) else {
            return Err(CommandError::NotAwaited { vppb });
        };
        let (port, ready) = (*port, removal.ready(vppb));
        self.push(port, Some(vppb), [PortStep::ReadySignalled]);
        self.end_removals();
        Ok(ready)
    }

    /// What hosts and links have done by a cycle, and the ports whose links were trained. `is_clear`: no answer to an earlier request can come
    /// at a port.
    pub fn pass(&mut self, cycle: u64, is_clear: impl Fn(usize) -> bool) -> OrderedSet<usize> {
        let mut trained = OrderedSet::new();
        let due = |(port, wait): (&usize, &PlugWait)| (wait.cycle() <= cycle).then_some((*port, *wait));
        for (port, wait) in self.waits.iter().filter_map(due).collect::<Vec<_>>() {
            let vppb = self.ports[port].bound();
            match wait {
                PlugWait::Release(_) => {
                    let _ = self.ports[port].release_link();
                    let training = PlugWait::Training(cycle.saturating_add(self.delays.training_cycles));
                    self.waits.insert(port, training);
                }
                PlugWait::Training(_) if is_clear(port) => {
                    let _ = self.ports[port].train();
                    self.waits.remove(&port);
                    trained.insert(port);
                }
                PlugWait::Training(_) => (),
            }
            self.collect(port, vppb);
        }
        trained
    }

    /// Whether a step has happened that was not taken, or anything will happen by itself.
    pub fn is_active(&self) -> bool {
        !self.steps.is_empty() || !self.waits.is_empty()
    }

    /// The next cycle in which something happens by itself, 0 if something has; `clear_at`: the cycle at which no answer to an earlier request
    /// can come at a port any more, where that is known.
    pub fn next_cycle(&self, clear_at: impl Fn(usize) -> u64) -> Option<u64> {
        let steps = self.steps.front().map(|_| 0);
        let wait = |(port, wait): (&usize, &PlugWait)| match wait {
            PlugWait::Release(cycle) => *cycle,
            PlugWait::Training(cycle) => (*cycle).max(clear_at(*port)),
        };
        self.waits.iter().map(wait).chain(steps).min()
    }
}
