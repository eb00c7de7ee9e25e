//! Bindings of `cxl.switch.io` that end and begin again while the system runs, for both protocols of its links.
//!
//! Modelled: unbinds of whole ports as managed hot-removes (`fabric` BND-4, option 1), and binds of the same ports to the same vPPBs. Both
//! sides of the switch do them in the same cycle: what CXL.io does is in [`scalepool_nodes::io::switch::bindings`], and CXL.mem has the
//! manager of switches with hierarchy based routing. Left out: surprise, logical devices, and other ports at a vPPB, whose memory is not
//! what its host has written.
//!
//! A walk: commands are judged vPPB by vPPB; in the order of their times they become changes of CXL.io and commands of CXL.mem.

use super::cycles;
use crate::field::{FieldRange, config};
use crate::kind::ConfigFinding;
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_fabric::cxl_switch::{ManagerCommand, TimedCommand, UnbindOption, VppbBinding};
use scalepool_kernel::Clock;
use scalepool_nodes::io::switch::bindings::BindingChange;
use scalepool_ordered::OrderedMap;

/// Commands.
const COMMANDS: &[&str] = &["unbind", "bind"];

config! {
    /// A command of the fabric manager.
    pub struct IoCommand {
        at: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 50), "when it is given";
        command: String = "unbind" [Unit::Of("-")] in FieldRange::Words(COMMANDS), "unbind: as a managed hot-remove, in which what is open is still answered (fabric BND-4); bind: the port that the vPPB had is there again, and its host has to walk again (rescan_at of cxl.root)";
        vcs: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 63), "virtual hierarchy, the number of its upstream port";
        vppb: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 255), "vPPB of a downstream port, from 0, to which a port is bound whole at the start";
    }
}

impl IoCommand {
    fn is_bind(&self) -> bool {
        self.command == "bind"
    }

    /// What the CXL.io side does.
    fn change(&self, clock: Clock) -> BindingChange {
        BindingChange { cycle: cycles(clock, self.at), vppb: (self.vcs, self.vppb), is_bound: self.is_bind() }
    }

    /// What the manager of the CXL.mem side is told, if a port is bound to the vPPB at the start.
    fn timed(&self, bindings: &[VppbBinding], clock: Clock) -> Option<TimedCommand> {
        let binding = bindings.iter().find(|one| (one.vcs, one.vppb) == (self.vcs, self.vppb))?;
        let command = match self.is_bind() {
            true => ManagerCommand::Bind(*binding),
            false => ManagerCommand::Unbind { vppb: (self.vcs, self.vppb), option: UnbindOption::ManagedRemove },
        };
        Some(TimedCommand { at_cycle: cycles(clock, self.at), command })
    }
}

/// Commands in the order of their times.
fn in_order(commands: &[(IoCommand, TextPlace)]) -> Vec<&IoCommand> {
    let mut all: Vec<&IoCommand> = commands.iter().map(|(one, _)| one).collect();
    scalepool_ordered::sort_by_key(&mut all, |one| one.at);
    all
}

/// What is wrong with commands to a switch with these bindings at the start.
pub(super) fn check(commands: &[(IoCommand, TextPlace)], bindings: &[VppbBinding]) -> Option<ConfigFinding> {
    // Of each vPPB the time of its last command, and whether a port is bound to it then.
    let mut last: OrderedMap<(usize, usize), (Option<u64>, bool)> = OrderedMap::new();
    let wrong = in_order(commands).into_iter().find_map(|one| {
        let vppb = (one.vcs, one.vppb);
        let Some(binding) = bindings.iter().find(|binding| (binding.vcs, binding.vppb) == vppb) else {
            return Some(format!("found vPPB {} of VCS {}, expected one that is bound", one.vppb, one.vcs));
        };
        if let Some(ld) = binding.ld {
            return Some(format!(
                "found vPPB {} of VCS {}, which has the logical device {ld}, expected one to which a port is bound whole",
                one.vppb, one.vcs
            ));
        }
        let (before, is_bound) = last.get(&vppb).copied().unwrap_or((None, true));
        last.insert(vppb, (Some(one.at), one.is_bind()));
        let expected = if is_bound { "unbind" } else { "bind" };
        (is_bound == one.is_bind() || before == Some(one.at)).then(|| {
            format!(
                "found `{}` for vPPB {} of VCS {} at {}, expected `{expected}`, later than the command before",
                one.command,
                one.vppb,
                one.vcs,
                Unit::Time.shown(one.at)
            )
        })
    });
    wrong.map(|text| ("commands", text))
}

/// What the CXL.io side does, by time.
pub(super) fn changes(commands: &[(IoCommand, TextPlace)], clock: Clock) -> Vec<BindingChange> {
    in_order(commands).into_iter().map(|one| one.change(clock)).collect()
}

/// What the manager of the CXL.mem side is told, by time.
pub(super) fn timed(commands: &[(IoCommand, TextPlace)], bindings: &[VppbBinding], clock: Clock) -> Vec<TimedCommand> {
    in_order(commands).into_iter().filter_map(|one| one.timed(bindings, clock)).collect()
}
