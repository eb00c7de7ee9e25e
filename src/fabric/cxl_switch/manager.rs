//! The fabric manager's changes to bindings while the switch runs (`fabric` §1.2).
//!
//! Modelled: bind and unbind commands at given times. An unbind first stops new requests to the vPPB, which the switch
//! answers as unmapped. It then waits, up to a time limit, until all outstanding requests have been answered. Finally it
//! removes the binding, and the messages of the vPPB that are still in the switch are flushed. A surprise removal does
//! not wait. Responses that arrive after the removal are dropped. Their port or logical device is not bound again before
//! the last of them has arrived, because nothing would distinguish them from responses to the next host. A device that is
//! gone never sends them, so a bind awaits them for the time limit of a drain and no longer: the limit has to be longer than
//! any device takes, as later answers would reach the next host. A command that cannot be executed changes nothing. A reset ends what
//! it covers in the same way and lets it come back, without a limit ([`reset`](super::reset)). The
//! containment of a logical device (virtual DPC) flushes and discards its messages both ways, and leaves it bound; an unbind or a reset
//! of its vPPB ends it too, with an event of its own. Left out: the mailbox of the manager; link down and hot-plug as the host sees
//! them, for which [`hot_plug`](super::hot_plug) is a reference.
//!
//! A walk through one unbind: at the time of the command the vPPB is stopped. Each response that leaves the switch
//! decrements the count of outstanding requests of the vPPB. When the count reaches zero, or at the time limit, the
//! command completes with an event.

use super::binding::{BindingError, Bindings, VppbBinding};
use super::reset::{ResetScope, Resets};
use super::violation;
use super::viral::ViralHierarchies;
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::wire::Violation;
use std::collections::VecDeque;

/// A vPPB, identified by VCS and number.
pub type Vppb = (usize, usize);

/// A command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManagerCommand {
    /// Bind vPPB, opcode 5201h.
    Bind(VppbBinding),
    /// Unbind vPPB, opcode 5202h.
    Unbind {
        /// The vPPB.
        vppb: Vppb,
        /// How.
        option: UnbindOption,
    },
    /// Reset what is bound.
    Reset(ResetScope),
    /// Containment of the logical device of a vPPB (virtual DPC), by an error message of it or by software (`fabric` MLD-7).
    Contain {
        /// The vPPB.
        vppb: Vppb,
        /// Why.
        cause: ContainmentCause,
    },
    /// The trigger status of a containment is cleared.
    Uncontain(Vppb),
    /// No command of a mailbox: a port goes viral, or the switch does inside.
    Viral(ResetScope),
}

/// What may trigger the containment of a logical device (`fabric` MLD-7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContainmentCause {
    /// ERR_FATAL of the logical device.
    FatalMessage,
    /// ERR_NONFATAL of the logical device.
    NonFatalMessage,
    /// Software writes the trigger.
    Software,
    /// An unmasked uncorrectable error of the link, without a message of the device: it triggers nothing.
    UncorrectableError,
}

impl ContainmentCause {
    /// Whether it triggers.
    pub const fn triggers(self) -> bool {
        !matches!(self, ContainmentCause::UncorrectableError)
    }
}

/// Option of an unbind command (`fabric` BND-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnbindOption {
    /// Code 0: wait for link down. Outstanding requests get their responses.
    WaitLinkDown,
    /// Code 1: act as a managed hot-remove. Outstanding requests get their responses.
    ManagedRemove,
    /// Code 2: act as a surprise hot-remove. Outstanding requests are lost.
    SurpriseRemove,
}

impl UnbindOption {
    /// The option of a code.
    ///
    /// # Errors
    /// Invalid input: a code that is not defined.
    pub fn of_code(code: u8) -> Result<UnbindOption, CommandError> {
        match code {
            0 => Ok(UnbindOption::WaitLinkDown),
            1 => Ok(UnbindOption::ManagedRemove),
            2 => Ok(UnbindOption::SurpriseRemove),
            found => Err(CommandError::Option { found }),
        }
    }
}

/// A command with its time of execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedCommand {
    /// Cycle of the switch in which the command starts.
    pub at_cycle: u64,
    /// The command.
    pub command: ManagerCommand,
}

/// Why a command is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// Invalid input.
    #[error(transparent)]
    Binding(#[from] BindingError),
    /// Invalid input: an option that is not defined.
    #[error("found unbind option {found}, expected 0, 1 or 2 (fabric BND-4)")]
    Option {
        /// The code that was given.
        found: u8,
    },
    /// Busy: responses to the previous host are still outstanding.
    #[error("found port {port} with {due} answers due to the host before, expected none (fabric BND-6)")]
    Late {
        /// The port.
        port: usize,
        /// Number of outstanding responses.
        due: u64,
    },
    /// Busy: an unbind or a reset of the vPPB, or of the port, has not ended.
    #[error("found an unbind or a reset of vPPB {1} of VCS {0} under way, expected none (fabric BND-7)", .vppb.0, .vppb.1)]
    Busy {
        /// The vPPB that is being unbound or reset.
        vppb: Vppb,
    },
    /// Invalid input: containment of what is no logical device.
    #[error("found vPPB {1} of VCS {0}, which is not bound to a logical device, expected one that is (fabric MLD-7)", .vppb.0, .vppb.1)]
    NoLogicalDevice {
        /// The vPPB.
        vppb: Vppb,
    },
    /// Invalid input: the end of a containment of what is not contained.
    #[error("found vPPB {1} of VCS {0}, which is not contained, expected one that is (fabric MLD-7)", .vppb.0, .vppb.1)]
    NotContained {
        /// The vPPB.
        vppb: Vppb,
    },
    /// Invalid input: a port that goes viral and is part of no hierarchy where viral is enabled.
    #[error("found {found} going viral, expected a port of a hierarchy, with viral enabled at its vPPB (fabric VIR-1)")]
    NoHierarchy {
        /// What was to go viral.
        found: ResetScope,
    },
    /// Invalid input: a reset that covers nothing.
    #[error("found a reset of {found}, where nothing is bound, expected one of a bound vPPB (fabric §1.4)")]
    Nothing {
        /// What was to be reset.
        found: ResetScope,
    },
}

impl CommandError {
    /// The finding of a run in which it comes.
    pub fn violation(&self) -> Violation {
        let said = self.to_string();
        let (found, expected) = said.split_once(", expected ").unwrap_or((&said, "a command that can be done"));
        let found = found.strip_prefix("found ").unwrap_or(found);
        violation("FAB-BND-07", found, expected, "a command of the fabric manager is refused, and changes nothing")
    }
}

/// The completion of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManagerEvent {
    /// A vPPB is bound.
    Bound(VppbBinding),
    /// A vPPB has been unbound; the number counts the messages of the vPPB that were flushed.
    Unbound(VppbBinding, u64),
    /// A vPPB has been reset; the number counts its messages that were flushed.
    Reset(VppbBinding, u64),
    /// The reset of a vPPB is over, and it is used again.
    Released(VppbBinding),
    /// The logical device of a vPPB is contained, of which the manager is told; the number counts its messages that were
    /// flushed.
    Contained(VppbBinding, u64),
    /// The containment of a vPPB is over: by command its traffic goes on, by a reset or an unbind it ends with what was bound (our
    /// choice, the sheet names the cleared trigger status alone).
    Uncontained(Vppb),
    /// The hierarchy of an upstream port has gone viral.
    Viral(usize),
    /// A conventional reset has ended viral of a hierarchy.
    ViralOver(usize),
    /// The command was refused and changed nothing.
    Refused(ManagerCommand, CommandError),
    /// The routing tables lead around links that were lost (`fabric` ISL-7).
    Rerouted,
}

/// The next action of the manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// A command has ended.
    Event(ManagerEvent),
    /// The vPPB, which stays bound, is contained, and its messages in the switch have to be flushed.
    Contain(VppbBinding),
    /// The binding of a vPPB has been removed, and the messages of the vPPB in the switch have to be flushed.
    Flush(VppbBinding),
}

/// Pending commands, and the unbinds in progress.
#[derive(Debug, Clone, Default)]
pub struct Manager {
    commands: VecDeque<TimedCommand>,
    /// Time limit of a drain \[cycles\].
    limit_cycles: u64,
    /// vPPBs that are being unbound, with the cycle of their time limit.
    draining: OrderedMap<Vppb, u64>,
    /// Number of forwarded requests without a response, by vPPB.
    open: OrderedMap<Vppb, u64>,
    /// Outstanding responses from ports and logical devices that have been unbound, by port and LD-ID.
    late: OrderedMap<(usize, u8), LateAnswers>,
    /// vPPBs in reset.
    resets: Resets,
    /// vPPBs whose traffic is discarded.
    contained: OrderedSet<Vppb>,
    /// Hierarchies in viral.
    viral: ViralHierarchies,
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
    /// Makes a manager. Commands run in order of time, and in order of the list at equal times.
    pub fn new(mut commands: Vec<TimedCommand>, limit_cycles: u64) -> Manager {
        scalepool_ordered::sort_by_key(&mut commands, |timed| timed.at_cycle);
        Manager { commands: commands.into(), limit_cycles, ..Manager::default() }
    }

    /// The same, with Viral_Enable off at some vPPBs.
    pub fn with_viral_off(self, off: OrderedSet<Vppb>) -> Manager {
        Manager { viral: ViralHierarchies::new(off), ..self }
    }

    /// Whether all traffic of a vPPB is discarded.
    pub fn is_contained(&self, vppb: Vppb) -> bool {
        !self.contained.is_empty() && self.contained.contains(&vppb)
    }

    /// Whether the messages of a hierarchy count as viral.
    pub fn is_viral(&self, vcs: usize) -> bool {
        self.viral.has(vcs)
    }

    /// What ports have to tell of viral since the last call: port and vector, or `None` where it is over.
    pub fn viral_to_tell(&mut self, bindings: &Bindings) -> Vec<(usize, Option<u16>)> {
        self.viral.to_tell(bindings)
    }

    /// Whether any command is pending or in progress.
    pub fn is_active(&self) -> bool {
        let has_events = !self.further.is_empty();
        has_events || !self.commands.is_empty() || !self.draining.is_empty() || !self.resets.is_empty()
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
    /// request.
    pub fn late(&mut self, port: usize, ld_id: u8) {
        if let Some(late) = self.late.get_mut(&(port, ld_id)) {
            late.due -= 1;
            if late.due == 0 {
                self.late.remove(&(port, ld_id));
            }
        }
    }

    /// The next action at a cycle; the call has already updated `bindings` and `stopped`.
    pub fn due(&mut self, cycle: u64, bindings: &mut Bindings, stopped: &mut OrderedSet<Vppb>) -> Option<Due> {
        if let Some(event) = self.further.pop_front() {
            return Some(Due::Event(event));
        }
        if let Some(vppb) = self.drained().chain(self.overdue(cycle)).min() {
            self.draining.remove(&vppb);
            stopped.remove(&vppb);
            if self.contained.remove(&vppb) {
                self.further.push_back(ManagerEvent::Uncontained(vppb));
            }
            let open = self.open.remove(&vppb).unwrap_or(0);
            let binding = bindings.unbind(vppb.0, vppb.1).ok()?;
            if open > 0 {
                let until_cycle = cycle.saturating_add(self.limit_cycles);
                self.late.insert((binding.port, binding.ld.unwrap_or(0)), LateAnswers { due: open, until_cycle });
            }
            return Some(Due::Flush(binding));
        }
        if let Some(binding) = self.released() {
            self.resets.end(binding);
            // Nothing else was bound there in between.
            bindings.bind(binding).ok()?;
            return Some(Due::Event(ManagerEvent::Released(binding)));
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
                if let Some(vppb) = busy.copied().or_else(|| self.resets.in_the_way(binding)) {
                    return refused(CommandError::Busy { vppb });
                }
                let target = (binding.port, binding.ld.unwrap_or(0));
                let late = self.late.get(&target).filter(|late| cycle < late.until_cycle);
                if let Some(&LateAnswers { due, .. }) = late {
                    return refused(CommandError::Late { port: binding.port, due });
                }
                match bindings.bind(binding) {
                    Ok(()) => {
                        self.late.remove(&target);
                        Some(Due::Event(ManagerEvent::Bound(binding)))
                    }
                    Err(error) => refused(error.into()),
                }
            }
            ManagerCommand::Unbind { vppb, .. } if self.draining.contains_key(&vppb) || self.resets.has(vppb) => {
                refused(CommandError::Busy { vppb })
            }
            ManagerCommand::Contain { vppb, .. }
                if bindings.down(vppb.0, vppb.1).is_none_or(|(_, ld)| ld.is_none()) =>
            {
                refused(CommandError::NoLogicalDevice { vppb })
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
            ManagerCommand::Uncontain(vppb) if bindings.down(vppb.0, vppb.1).is_some_and(|(_, ld)| ld.is_some()) => {
                refused(CommandError::NotContained { vppb })
            }
            ManagerCommand::Uncontain(vppb) => refused(CommandError::NoLogicalDevice { vppb }),
            ManagerCommand::Viral(scope) => {
                let Some(hierarchies) = self.viral.declare(scope, bindings) else {
                    return refused(CommandError::NoHierarchy { found: scope });
                };
                self.further.extend(hierarchies.into_iter().map(ManagerEvent::Viral));
                self.due(cycle, bindings, stopped)
            }
            ManagerCommand::Reset(scope) => {
                let over = self.viral.reset(scope);
                let ends_viral = !over.is_empty();
                self.further.extend(over.into_iter().map(ManagerEvent::ViralOver));
                let covered: Vec<VppbBinding> = bindings.list().filter(|one| scope.covers(*one)).collect();
                let is_again = self.resets.bindings().any(|one| scope.covers(one));
                if covered.is_empty() && !is_again && !ends_viral {
                    return refused(CommandError::Nothing { found: scope });
                }
                for binding in covered {
                    let vppb = (binding.vcs, binding.vppb);
                    stopped.insert(vppb);
                    // An unbind that waits ends here, as nothing will answer it, and what it unbinds does not come back.
                    if self.draining.insert(vppb, cycle).is_none() {
                        self.resets.begin(binding);
                    }
                }
                self.due(cycle, bindings, stopped)
            }
            ManagerCommand::Unbind { vppb, option } => {
                if bindings.down(vppb.0, vppb.1).is_none() {
                    // The unbind fails, names the problem and changes nothing.
                    return bindings.unbind(vppb.0, vppb.1).err().and_then(|error| refused(error.into()));
                }
                stopped.insert(vppb);
                let is_surprise = option == UnbindOption::SurpriseRemove;
                let limit = if is_surprise { cycle } else { cycle.saturating_add(self.limit_cycles) };
                self.draining.insert(vppb, limit);
                self.due(cycle, bindings, stopped)
            }
        }
    }

    /// vPPBs whose open requests have all been answered.
    fn drained(&self) -> impl Iterator<Item = Vppb> + '_ {
        self.draining.keys().copied().filter(|vppb| self.open.get(vppb).is_none_or(|open| *open == 0))
    }

    /// Whether a vPPB is in reset.
    pub fn is_in_reset(&self, vppb: Vppb) -> bool {
        self.resets.has(vppb)
    }

    /// A vPPB whose reset is over: it has been flushed, and no answer of before is due.
    fn released(&self) -> Option<VppbBinding> {
        let is_over = |one: &VppbBinding| {
            let is_flushed = !self.draining.contains_key(&(one.vcs, one.vppb));
            is_flushed && !self.late.contains_key(&(one.port, one.ld.unwrap_or(0)))
        };
        self.resets.bindings().find(is_over)
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
        self.draining.values().copied().chain(command).chain(drained).chain(released).chain(event).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: VppbBinding = VppbBinding { vcs: 0, vppb: 1, port: 2, ld: Some(3) };

    fn all(manager: &mut Manager, cycle: u64, bindings: &mut Bindings, stopped: &mut OrderedSet<Vppb>) -> Vec<Due> {
        std::iter::from_fn(|| manager.due(cycle, bindings, stopped)).collect()
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
        let (mut bindings, mut stopped) = (Bindings::new(1, 4, 4), OrderedSet::new());
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

    /// Answers of a device that is gone never come: they are awaited as long as a drain waits.
    #[test]
    fn a_port_whose_device_is_gone_is_bound_again() {
        let (mut bindings, mut stopped) = (Bindings::new(1, 4, 4), OrderedSet::new());
        bindings.bind(OWN).expect("it is free");
        let binds = [109, 110].map(|at_cycle| TimedCommand { at_cycle, command: ManagerCommand::Bind(OWN) });
        let mut manager = Manager::new([vec![unbind(10, true)], binds.to_vec()].concat(), 100);
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

    /// However long the device takes: an answer of before would be taken for one to a request of afterwards.
    #[test]
    fn a_reset_ends_with_the_last_answer_and_no_earlier() {
        let (mut bindings, mut stopped) = (Bindings::new(1, 4, 4), OrderedSet::new());
        bindings.bind(OWN).expect("it is free");
        let mut manager = Manager::new(vec![reset(10, ResetScope::Vppb((0, 1)))], 100);
        (0..2).for_each(|_| manager.asked((0, 1)));
        assert_eq!(all(&mut manager, 10, &mut bindings, &mut stopped), [Due::Flush(OWN)]);
        manager.late(2, 3);
        assert_eq!(all(&mut manager, 5000, &mut bindings, &mut stopped), []);
        assert_eq!((bindings.down(0, 1), manager.next_cycle(), manager.is_active()), (None, None, true));
        manager.late(2, 3);
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
        let mut manager = Manager::new(commands, 100);
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
        (0..3).for_each(|port| manager.late(port, 3));
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

    /// An unbind and a reset end containment and say so; the end of what is not contained is refused for what it is.
    #[test]
    fn the_end_of_containment_is_told() {
        let contain = ManagerCommand::Contain { vppb: (0, 1), cause: ContainmentCause::Software };
        let clear = ManagerCommand::Uncontain((0, 1));
        for end in [unbind(2, false).command, ManagerCommand::Reset(ResetScope::Switch)] {
            let (mut bindings, mut stopped) = (Bindings::new(1, 4, 4), OrderedSet::new());
            bindings.bind(OWN).expect("it is free");
            let at = |at_cycle, command| TimedCommand { at_cycle, command };
            let mut manager = Manager::new(vec![at(1, contain), at(2, end), at(3, clear)], 9);
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
