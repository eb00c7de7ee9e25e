//! A watcher of downstream ports that come and go while a switch runs: it judges the steps, the commands that end and the messages
//! that pass (`fabric` §1.2, MLD-3, MLD-10).
//!
//! Modelled: the order of a bind, Link Disable, what hosts have to see of a link and of a device, that nothing passes a link which is
//! down, and that a shared device waits for every host. Detail: it knows the events alone that the switch reports, and keeps a
//! state of its own, so a switch that behaves otherwise than it reports is found by a report that does not fit. Left out: times, but for
//! the limit by which a removal that every host has agreed to has to be done; whether the attention button was shown to every host that
//! was bound when it was pressed.
//!
//! A walk: a device is taken out. From then on the watcher owes each host of the port a link that is down, an absence and an event.
//! When the switch has done everything that is due at this time, what is still owed is a finding.

use super::binding::{Bindings, VppbBinding};
use super::command::{ManagerEvent, Vppb};
use super::hot_plug::PortStep;
use super::plug::PlugStep;
use super::violation;
use scalepool_ordered::OrderedSet;
use scalepool_protocols::wire::Violation;

/// Steps of a bind before its host acts, without the vPPB of the first one.
const BIND_STEPS: [&str; 5] =
    ["plug_mapped", "plug_lines_moved", "plug_link_disabled", "plug_functions_moved", "plug_manager_bridge_gone"];

/// What is known of a port.
#[derive(Debug, Clone, Default)]
struct WatchedPort {
    whole: Option<Vppb>,
    logical_devices: OrderedSet<Vppb>,
    /// It has one device alone, so that Link Disable holds it while it is the manager's.
    is_single: bool,
    present: bool,
    up: bool,
    disabled: bool,
    /// Steps of a bind under way.
    bind_steps: usize,
    /// Since it was bound, whether its host has seen presence, and has got an event.
    is_seen: [bool; 2],
    /// Hosts that were asked to agree to a removal, those of them that have not, and, once all have, the cycle by which they have to
    /// be unbound.
    asked: OrderedSet<Vppb>,
    awaited: OrderedSet<Vppb>,
    until_cycle: Option<u64>,
    /// vPPBs of a device that is gone, which have to be unbound at once.
    gone: OrderedSet<Vppb>,
    /// What has to follow at once, with the rule that it would break.
    owed: Vec<(Option<Vppb>, PortStep, &'static str)>,
}

impl WatchedPort {
    fn hosts(&self) -> impl Iterator<Item = Vppb> + '_ {
        self.whole.into_iter().chain(self.logical_devices.iter().copied())
    }

    fn owe_hosts(&mut self, steps: &[PortStep]) {
        let hosts: Vec<Vppb> = self.hosts().collect();
        for vppb in hosts {
            self.owed.extend(steps.iter().map(|step| (Some(vppb), *step, "FAB-BND-08")));
        }
        if self.whole.is_none() {
            self.owed.push((None, PortStep::PhysicalRecord, "FAB-BND-08"));
        }
    }
}

/// The watcher of the ports of a switch.
#[derive(Debug, Clone, Default)]
pub struct PlugWatch {
    ports: Vec<WatchedPort>,
    found: Vec<Violation>,
    /// Time limit of a drain \[cycles\].
    limit_cycles: u64,
}

impl PlugWatch {
    /// Ports with a device each, which are up where something is bound. `shared`: ports for devices with logical devices, beside
    /// those of which one is bound. `limit_cycles`: time limit of a drain.
    pub fn new(bindings: &Bindings, shared: &OrderedSet<usize>, limit_cycles: u64) -> PlugWatch {
        let mut ports: Vec<WatchedPort> = (0..bindings.ports())
            .map(|n| WatchedPort {
                present: true,
                is_single: !shared.contains(&n),
                bind_steps: BIND_STEPS.len(),
                is_seen: [true; 2],
                ..WatchedPort::default()
            })
            .collect();
        for VppbBinding { vcs, vppb, port, ld } in bindings.list() {
            let own = &mut ports[port];
            match ld {
                None => own.whole = Some((vcs, vppb)),
                Some(_) => {
                    own.logical_devices.insert((vcs, vppb));
                    own.is_single = false;
                }
            }
        }
        for own in &mut ports {
            own.up = own.whole.is_some() || !own.is_single;
            own.disabled = !own.up;
        }
        PlugWatch { ports, found: Vec::new(), limit_cycles }
    }

    fn find(&mut self, rule: &'static str, port: usize, found: &str, expected: &str, text: &str) {
        self.found.push(violation(rule, format!("{found} at port {port}"), expected, text));
    }

    /// A command has ended.
    pub fn event(&mut self, event: &ManagerEvent) {
        match *event {
            ManagerEvent::Bound(VppbBinding { vcs, vppb, port, ld }) => {
                let Some(own) = self.ports.get_mut(port) else { return };
                if ld.is_some() {
                    own.logical_devices.insert((vcs, vppb));
                    let of = Some((vcs, vppb));
                    let seen = [PortStep::PresenceSeen, PortStep::HotPlugEvent].into_iter().filter(|_| own.present);
                    own.owed.extend(seen.map(|step| (of, step, "FAB-BND-02")));
                    // It has a say in a removal under way.
                    let asked = (!own.awaited.is_empty()).then_some((of, PortStep::AttentionSeen, "FAB-MLD-10"));
                    own.owed.extend(asked);
                } else {
                    (own.whole, own.bind_steps, own.is_seen, own.up) = (Some((vcs, vppb)), 0, [false; 2], false);
                }
            }
            ManagerEvent::Unbound(binding, _) => self.unbound(binding),
            _ => (),
        }
    }

    fn unbound(&mut self, VppbBinding { vcs, vppb, port, ld }: VppbBinding) {
        let Some(own) = self.ports.get_mut(port) else { return };
        let of = Some((vcs, vppb));
        let seen = [(own.up, PortStep::LinkDownSeen), (own.present, PortStep::AbsenceSeen)];
        let seen = seen.into_iter().filter(|(is_due, _)| *is_due).map(|(_, step)| (of, step, "FAB-BND-03"));
        own.owed.extend(seen);
        if ld.is_some() {
            own.logical_devices.remove(&(vcs, vppb));
        } else {
            let held = own.is_single.then_some(PortStep::LinkDisabled);
            let own_steps = held.into_iter().chain([PortStep::ManagerOwned]);
            own.owed.extend(own_steps.map(|step| (of, step, "FAB-BND-03")));
            (own.whole, own.up) = (None, false);
        }
        own.gone.remove(&(vcs, vppb));
        let awaited = own.awaited.len();
        own.awaited.remove(&(vcs, vppb));
        // Who was not asked was being unbound before.
        if own.asked.remove(&(vcs, vppb)) && awaited > 0 && own.present {
            let found = format!("vPPB {vppb} of VCS {vcs} unbound while {awaited} hosts have not agreed");
            let text = "a shared device is removed when every host has signalled ready";
            self.find("FAB-MLD-10", port, &found, "no unbind before the last host is ready", text);
        }
    }

    /// A step at a port.
    pub fn step(&mut self, PlugStep { port, vppb, step }: PlugStep) {
        let Some(own) = self.ports.get_mut(port) else { return };
        let is_owed = own.owed.iter().position(|(of, owed, _)| *owed == step && (of.is_none() || *of == vppb));
        let owed = is_owed.map(|place| own.owed.remove(place));
        let of_whole = own.whole.is_some() && vppb == own.whole;
        if of_whole && own.bind_steps < BIND_STEPS.len() {
            let expected = BIND_STEPS[own.bind_steps];
            own.bind_steps += 1;
            if step.name() != expected {
                own.bind_steps = BIND_STEPS.len();
                let text = "the steps of a bind have an order, and the host acts behind all of them";
                self.find("FAB-BND-01", port, step.name(), expected, text);
                return;
            }
        }
        match step {
            PortStep::LinkDisabled => {
                let (shares, whole) = (!own.logical_devices.is_empty(), own.whole);
                (own.disabled, own.up) = (true, false);
                if shares && whole.is_none() {
                    let text = "a logical device comes and goes without an effect on the link";
                    self.find("FAB-MLD-03", port, "Link Disable", "a link that stays up for the others", text);
                }
            }
            PortStep::PresenceSeen => own.is_seen[0] = true,
            PortStep::HotPlugEvent => {
                own.is_seen[1] = true;
                if vppb.is_none() {
                    let text = "the manager gets a record of an unbound port, and no host an event";
                    self.find("FAB-BND-08", port, "a hot-plug event of no host", "a record of the manager", text);
                }
            }
            PortStep::LinkReleased => own.disabled = false,
            PortStep::LinkUp => self.link_up(port),
            PortStep::LinkDownSeen => own.up &= !of_whole,
            PortStep::AbsenceSeen if owed.is_none() => {
                let text = "a link that goes down leaves presence, and an unbind or a removal alone clears it";
                self.find("FAB-BND-08", port, "no presence", "presence of a device that is still there", text);
            }
            PortStep::LinkLost => {
                own.up = false;
                own.owe_hosts(&[PortStep::LinkDownSeen, PortStep::HotPlugEvent]);
            }
            PortStep::DeviceRemoved => {
                let seen = [PortStep::LinkDownSeen, PortStep::AbsenceSeen, PortStep::HotPlugEvent];
                own.owe_hosts(&seen[usize::from(!own.up)..]);
                (own.up, own.present, own.is_seen) = (false, false, [false; 2]);
                (own.asked, own.awaited, own.until_cycle) = (OrderedSet::new(), OrderedSet::new(), None);
                own.gone = own.logical_devices.clone();
            }
            PortStep::DeviceInserted => {
                own.present = true;
                own.owe_hosts(&[PortStep::PresenceSeen, PortStep::HotPlugEvent]);
            }
            PortStep::AttentionSeen => {
                own.asked.extend(vppb);
                own.awaited.extend(vppb);
            }
            PortStep::ReadySignalled => {
                if let Some(vppb) = vppb {
                    own.awaited.remove(&vppb);
                }
            }
            _ => (),
        }
    }

    fn link_up(&mut self, port: usize) {
        let own = &mut self.ports[port];
        own.up = true;
        let seen: Vec<_> = own.hosts().map(|vppb| (Some(vppb), PortStep::LinkUpSeen, "FAB-BND-02")).collect();
        own.owed.extend(seen);
        let (disabled, present, seen, whole) = (own.disabled, own.present, own.is_seen, own.whole);
        if disabled {
            let (rule, expected) = match whole {
                Some(_) => ("FAB-BND-01", "a host that has released Link Disable before"),
                None => ("FAB-BND-03", "a port of the manager that Link Disable holds"),
            };
            self.find(rule, port, "a link that comes up under Link Disable", expected, "Link Disable holds a link");
        } else if whole.is_some() && seen != [true; 2] {
            let text = "the host sees presence and gets an event before it trains the link";
            self.find("FAB-BND-02", port, "a link that comes up", "presence and an event before it", text);
        } else if !present {
            let text = "a device that was taken out has no link";
            self.find("FAB-BND-08", port, "a link without a device", "a device that is plugged in", text);
        }
    }

    /// A message leaves for a downstream port.
    pub fn sent(&mut self, port: usize) {
        if self.ports.get(port).is_some_and(|own| !own.up) {
            let rule = if self.ports[port].hosts().next().is_some() { "FAB-BND-02" } else { "FAB-BND-03" };
            let text = "requests reach a device when its link is up";
            self.find(rule, port, "a message that leaves", "none while the link is down", text);
        }
    }

    /// A message leaves that came from a downstream port.
    pub fn passed(&mut self, port: usize) {
        if self.ports.get(port).is_some_and(|own| !own.up) {
            let text = "what a port sends that is gone is dropped and counted";
            let expected = "none while the link is down";
            self.find("FAB-BND-06", port, "a message for a host that came", expected, text);
        }
    }

    /// The next cycle in which something has to have been done.
    pub fn next_cycle(&self) -> Option<u64> {
        self.ports.iter().filter_map(|own| own.until_cycle).min()
    }

    /// Everything has been done that was due at a cycle; the findings since the last call.
    pub fn settle(&mut self, cycle: u64) -> Vec<Violation> {
        for port in 0..self.ports.len() {
            for (vppb, step, rule) in std::mem::take(&mut self.ports[port].owed) {
                let who = vppb.map_or("the manager".to_owned(), |(vcs, vppb)| format!("vPPB {vppb} of VCS {vcs}"));
                let text = "hosts and manager see what happens at a port";
                self.find(rule, port, &format!("no {} for {who}", step.name()), "it at once", text);
            }
            let own = &mut self.ports[port];
            let gone = std::mem::take(&mut own.gone);
            own.logical_devices.retain(|vppb| !gone.contains(vppb));
            let is_agreed = own.awaited.is_empty() && !own.asked.is_empty();
            let until_cycle = own.until_cycle.unwrap_or(cycle.saturating_add(self.limit_cycles));
            own.until_cycle = is_agreed.then_some(until_cycle).filter(|until| *until > cycle);
            let kept = if is_agreed && own.until_cycle.is_none() { std::mem::take(&mut own.asked).len() } else { 0 };
            if !gone.is_empty() {
                let found = format!("{} bound vPPBs of a device that is gone", gone.len());
                let text = "the switch unbinds the logical devices of a device that is taken out";
                self.find("FAB-MLD-10", port, &found, "none", text);
            }
            if kept > 0 {
                let found = format!("{kept} bound vPPBs although every host has agreed");
                let text = "the vPPBs of a shared device are unbound when every host has signalled ready";
                self.find("FAB-MLD-10", port, &found, "none behind the time limit of a drain", text);
            }
        }
        std::mem::take(&mut self.found)
    }

    /// The findings since the last call, while something may still be owed.
    pub fn take(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.found)
    }
}
