//! Resets of a hierarchy or a device while the switch runs (`fabric` §1.4).
//!
//! Modelled: what a reset covers, and that it ends what it covers: messages in the switch are flushed, answers that still come are
//! dropped, and until the last of them is there the switch answers requests as unmapped. Then the same vPPB is used again, with
//! the same binding; where a device never comes back from its reset, the vPPB does not either. Detail: to the message. Left out:
//! PERST#, link states and configuration writes, of which CXL.mem sees nothing; the state that a device loses, as its media keep
//! their bytes; FLR, in which a switch has no part (RST-6).
//!
//! | reset | covers |
//! | --- | --- |
//! | the switch (RST-1) | everything that is bound |
//! | PERST# or hot reset of an upstream port, SBR in its vPPB (RST-2, RST-3) | what is bound in its VCS, of a multi-logical device no more than that |
//! | SBR in the vPPB of a downstream port (RST-4) | its port, or its logical device |
//! | the manager resets a port (RST-5) | the port, with all of its logical devices |
//!
//! A walk through one reset: the vPPBs that it covers are removed like those of a surprise removal, and the manager keeps their
//! bindings. Each comes back by itself when the last answer of before has arrived. A reset is not refused because a part of what it
//! covers is busy, as nobody can refuse PERST#: a vPPB that is being unbound is unbound at once, one in reset stays in it.

use super::binding::VppbBinding;
use super::manager::Vppb;
use scalepool_ordered::OrderedMap;
use std::fmt;

/// What a reset covers; where something goes viral it names the place in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetScope {
    /// Everything that is bound.
    Switch,
    /// What is bound in the VCS of an upstream port.
    Upstream(usize),
    /// What one vPPB is bound to.
    Vppb(Vppb),
    /// Everything that is bound to a downstream port.
    Port(usize),
}

impl ResetScope {
    /// Whether it covers a vPPB.
    pub fn covers(self, binding: VppbBinding) -> bool {
        match self {
            ResetScope::Switch => true,
            ResetScope::Upstream(vcs) => binding.vcs == vcs,
            ResetScope::Vppb(vppb) => (binding.vcs, binding.vppb) == vppb,
            ResetScope::Port(port) => binding.port == port,
        }
    }
}

impl fmt::Display for ResetScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResetScope::Switch => f.write_str("the switch"),
            ResetScope::Upstream(vcs) => write!(f, "VCS {vcs}"),
            ResetScope::Vppb((vcs, vppb)) => write!(f, "vPPB {vppb} of VCS {vcs}"),
            ResetScope::Port(port) => write!(f, "port {port}"),
        }
    }
}

/// vPPBs in reset, with the bindings that come back.
#[derive(Debug, Clone, Default)]
pub(super) struct Resets(OrderedMap<Vppb, VppbBinding>);

impl Resets {
    /// Begins the reset of a vPPB.
    pub fn begin(&mut self, binding: VppbBinding) {
        self.0.insert((binding.vcs, binding.vppb), binding);
    }

    /// Ends it.
    pub fn end(&mut self, binding: VppbBinding) {
        self.0.remove(&(binding.vcs, binding.vppb));
    }

    /// The bindings that come back.
    pub fn bindings(&self) -> impl Iterator<Item = VppbBinding> + '_ {
        self.0.values().copied()
    }

    /// Whether a vPPB is in reset.
    pub fn has(&self, vppb: Vppb) -> bool {
        self.0.contains_key(&vppb)
    }

    /// The vPPB in reset whose binding a new one would take a part of.
    pub fn in_the_way(&self, binding: VppbBinding) -> Option<Vppb> {
        let meets = |other: &VppbBinding| {
            let is_own = (other.vcs, other.vppb) == (binding.vcs, binding.vppb);
            let shares = other.ld.is_none() || binding.ld.is_none() || other.ld == binding.ld;
            is_own || (other.port == binding.port && shares)
        };
        self.bindings().find(meets).map(|other| (other.vcs, other.vppb))
    }

    /// Whether nothing is in reset.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
