//! What the fabric manager does to bindings while the switch runs (`fabric` §1.2).
//!
//! Modelled: bind and unbind at stated times. An unbind first stops new requests to the vPPB, which are answered as unmapped;
//! then it waits until the open ones are answered, up to a limit; then it takes the binding away, and what the switch still
//! holds of it is flushed. A surprise removal does not wait. Answers that come later are dropped; what they come from
//! is not bound again before, since nothing would tell them from answers to its next host. A command that cannot be done changes nothing. Left out: the
//! mailbox of the manager, link down and hot-plug as the host sees them.
//!
//! A walk through one unbind: at its time the vPPB is stopped; each answer that leaves lowers the count of its open requests;
//! with the last one, or at the limit, the command ends with an event.

use super::binding::{BindingError, Bindings, VppbBinding};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A vPPB: VCS and number.
pub type Vppb = (usize, usize);

/// A command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManagerCommand {
    /// 5201h.
    Bind(VppbBinding),
    /// 5202h.
    Unbind {
        /// The vPPB.
        vppb: Vppb,
        /// Option 2: open requests are lost. Options 0 and 1 wait for them.
        surprise: bool,
    },
}

/// A command with its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedCommand {
    /// Cycle of the switch.
    pub at_cycle: u64,
    /// What is to be done.
    pub command: ManagerCommand,
}

/// Why a command is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// Invalid input.
    #[error(transparent)]
    Binding(#[from] BindingError),
    /// Busy: answers to the host before are still due.
    #[error("found port {port} with {due} answers due to the host before, expected none (fabric BND-6)")]
    Late {
        /// The port.
        port: usize,
        /// How many.
        due: u64,
    },
    /// Busy: an unbind of the vPPB, or of the port, has not ended.
    #[error("found an unbind of vPPB {1} of VCS {0} under way, expected none (fabric BND-7)", .vppb.0, .vppb.1)]
    Busy {
        /// What is being unbound.
        vppb: Vppb,
    },
}

/// How a command has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManagerEvent {
    /// A vPPB is bound.
    Bound(VppbBinding),
    /// A vPPB is not bound any more, and so many messages of it were flushed.
    Unbound(VppbBinding, u64),
    /// Nothing has changed.
    Refused(ManagerCommand, CommandError),
}

/// What is due of the manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// A command has ended.
    Event(ManagerEvent),
    /// What the switch holds of a vPPB, whose binding is gone, has to be flushed.
    Flush(VppbBinding),
}

/// Commands and what they have begun.
#[derive(Debug, Clone, Default)]
pub struct Manager {
    commands: VecDeque<TimedCommand>,
    /// Limit of a drain \[cycles\].
    limit_cycles: u64,
    /// vPPBs that are being unbound, with the cycle of their limit.
    draining: BTreeMap<Vppb, u64>,
    /// Requests that have been passed on and not answered.
    open: BTreeMap<Vppb, u64>,
    /// Answers that will come of what is not bound any more, by port and LD-ID.
    late: BTreeMap<(usize, u8), u64>,
}

impl Manager {
    /// Commands in the order of their times, or of the list where these are equal.
    pub fn new(mut commands: Vec<TimedCommand>, limit_cycles: u64) -> Manager {
        commands.sort_by_key(|timed| timed.at_cycle);
        Manager { commands: commands.into(), limit_cycles, ..Manager::default() }
    }

    /// Whether it has anything to do, now or later.
    pub fn is_active(&self) -> bool {
        !self.commands.is_empty() || !self.draining.is_empty()
    }

    /// A request of a vPPB was passed on that will be answered.
    pub fn asked(&mut self, vppb: Vppb) {
        *self.open.entry(vppb).or_default() += 1;
    }

    /// An answer of a vPPB has left.
    pub fn answered(&mut self, vppb: Vppb) {
        if let Some(open) = self.open.get_mut(&vppb) {
            *open = open.saturating_sub(1);
        }
    }

    /// An answer that is due of what is not bound any more has come, or was flushed with its request.
    pub fn late(&mut self, port: usize, ld_id: u8) {
        if let Some(due) = self.late.get_mut(&(port, ld_id)) {
            *due -= 1;
            if *due == 0 {
                self.late.remove(&(port, ld_id));
            }
        }
    }

    /// The next thing to do at a cycle; bindings and stopped vPPBs have changed then.
    pub fn due(&mut self, cycle: u64, bindings: &mut Bindings, stopped: &mut BTreeSet<Vppb>) -> Option<Due> {
        if let Some(vppb) = self.drained().chain(self.overdue(cycle)).min() {
            self.draining.remove(&vppb);
            stopped.remove(&vppb);
            let open = self.open.remove(&vppb).unwrap_or(0);
            let binding = bindings.unbind(vppb.0, vppb.1).ok()?;
            if open > 0 {
                self.late.insert((binding.port, binding.ld.unwrap_or(0)), open);
            }
            return Some(Due::Flush(binding));
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
                if let Some(&vppb) = busy {
                    return refused(CommandError::Busy { vppb });
                }
                let late = self.late.get(&(binding.port, binding.ld.unwrap_or(0)));
                if let Some(&due) = late {
                    return refused(CommandError::Late { port: binding.port, due });
                }
                match bindings.bind(binding) {
                    Ok(()) => Some(Due::Event(ManagerEvent::Bound(binding))),
                    Err(error) => refused(error.into()),
                }
            }
            ManagerCommand::Unbind { vppb, .. } if self.draining.contains_key(&vppb) => {
                refused(CommandError::Busy { vppb })
            }
            ManagerCommand::Unbind { vppb, surprise } => {
                if bindings.down(vppb.0, vppb.1).is_none() {
                    // It says what is wrong, and changes nothing.
                    return bindings.unbind(vppb.0, vppb.1).err().and_then(|error| refused(error.into()));
                }
                stopped.insert(vppb);
                let limit = if surprise { cycle } else { cycle.saturating_add(self.limit_cycles) };
                self.draining.insert(vppb, limit);
                self.due(cycle, bindings, stopped)
            }
        }
    }

    /// vPPBs whose open requests have all been answered.
    fn drained(&self) -> impl Iterator<Item = Vppb> + '_ {
        self.draining.keys().copied().filter(|vppb| self.open.get(vppb).is_none_or(|open| *open == 0))
    }

    /// vPPBs whose limit has come.
    fn overdue(&self, cycle: u64) -> impl Iterator<Item = Vppb> + '_ {
        self.draining.iter().filter(move |(_, limit)| **limit <= cycle).map(|(vppb, _)| *vppb)
    }

    /// The next cycle in which something is due, 0 if it is now.
    pub fn next_cycle(&self) -> Option<u64> {
        let command = self.commands.front().map(|first| first.at_cycle);
        let drained = self.drained().next().map(|_| 0);
        self.draining.values().copied().chain(command).chain(drained).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: VppbBinding = VppbBinding { vcs: 0, vppb: 1, port: 2, ld: Some(3) };

    fn all(manager: &mut Manager, cycle: u64, bindings: &mut Bindings, stopped: &mut BTreeSet<Vppb>) -> Vec<Due> {
        std::iter::from_fn(|| manager.due(cycle, bindings, stopped)).collect()
    }

    fn unbind(at_cycle: u64, surprise: bool) -> TimedCommand {
        TimedCommand { at_cycle, command: ManagerCommand::Unbind { vppb: (0, 1), surprise } }
    }

    #[test]
    fn a_drain_ends_with_the_last_answer_or_at_its_limit() {
        for (answers, ends) in [(2, 40), (1, 110)] {
            let (mut bindings, mut stopped) = (Bindings::new(1, 4, 4), BTreeSet::new());
            bindings.bind(OWN).expect("it is free");
            let mut manager = Manager::new(vec![unbind(10, false)], 100);
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
        let (mut bindings, mut stopped) = (Bindings::new(1, 4, 4), BTreeSet::new());
        bindings.bind(OWN).expect("it is free");
        let bind = TimedCommand { at_cycle: 11, command: ManagerCommand::Bind(VppbBinding { vppb: 0, ..OWN }) };
        let mut manager = Manager::new(vec![bind, unbind(10, true)], 100);
        manager.asked((0, 1));
        assert_eq!(all(&mut manager, 10, &mut bindings, &mut stopped), [Due::Flush(OWN)]);
        // An answer is still due, and may not come to the next host.
        let again = VppbBinding { vppb: 0, ..OWN };
        let late = ManagerEvent::Refused(ManagerCommand::Bind(again), CommandError::Late { port: 2, due: 1 });
        assert_eq!(all(&mut manager, 12, &mut bindings, &mut stopped), [Due::Event(late)]);
        manager.late(2, 3);
        manager.commands.push_back(TimedCommand { at_cycle: 13, command: ManagerCommand::Bind(again) });
        let bound = Due::Event(ManagerEvent::Bound(again));
        assert_eq!(all(&mut manager, 13, &mut bindings, &mut stopped), [bound]);
    }

    #[test]
    fn what_is_refused_changes_nothing() {
        let (mut bindings, mut stopped) = (Bindings::new(1, 4, 4), BTreeSet::new());
        bindings.bind(OWN).expect("it is free");
        let at = |at_cycle, command| TimedCommand { at_cycle, command };
        let bind = ManagerCommand::Bind(VppbBinding { vppb: 2, ..OWN });
        let other = ManagerCommand::Unbind { vppb: (0, 2), surprise: false };
        let mut manager =
            Manager::new(vec![at(1, bind), at(1, other), unbind(2, false), unbind(3, true), at(4, bind)], 9);
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
}
