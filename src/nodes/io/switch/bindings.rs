//! Bindings of downstream ports that end and begin again while a system runs (`fabric` §1.2), as the CXL.io side of a switch notices them.
//!
//! Modelled: at its time a vPPB loses its port, as at the end of a managed removal: requests for what is behind it are unsupported from then
//! on (IOR-3), what was on its way is still answered, and what the device asks by itself nobody claims; power management does not wait for
//! it. Later the same port may come back to the vPPB, whose host finds the device again when it walks. Detail: whole ports. Left out: logical
//! devices, hot-plug registers of the bridge and its interrupts, other ports at the vPPB, resets of the device in between.
//!
//! A walk: what is due is done at the begin of a cycle, before anything that comes in it is routed.

use super::hierarchy::IoSide;
use super::{COMPLETION, IoSwitch, traffic};
use scalepool_endpoint::tlp::Tlp;
use std::collections::VecDeque;

/// A change of one binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BindingChange {
    /// When \[cycles\].
    pub cycle: u64,
    /// Virtual hierarchy and vPPB.
    pub vppb: (usize, usize),
    /// The port is there again; else it is unbound.
    pub is_bound: bool,
}

/// What is still to change.
pub type BindingChanges = VecDeque<BindingChange>;

impl IoSwitch {
    /// The switch whose bindings change, by time.
    pub fn rebinding(mut self, changes: Vec<BindingChange>) -> IoSwitch {
        self.rebinds = changes.into();
        self
    }

    /// Changes the bindings that are due until now.
    pub(super) fn rebind(&mut self, cycle: u64) {
        while let Some(change) = self.rebinds.front().copied().filter(|change| change.cycle <= cycle) {
            self.rebinds.pop_front();
            let (of, vppb) = change.vppb;
            let Some((port, _)) = self.port_of(of, IoSide::Down(vppb)) else { continue };
            self.ports[port].is_down = !change.is_bound;
            match change.is_bound {
                true => self.hierarchies[of].link_up(vppb),
                false => self.hierarchies[of].link_down(vppb),
            }
            self.mine.rebound[usize::from(change.is_bound)] += 1;
        }
    }

    /// Whether a TLP comes from a device that is bound to nobody any more and asks for something.
    pub(super) fn is_from_unbound(&self, port: usize, tlp: &Tlp) -> bool {
        self.ports[port].is_down && traffic(tlp) != COMPLETION
    }
}
