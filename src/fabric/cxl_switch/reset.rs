//! Resets of a hierarchy or a device while the switch runs (`fabric` §1.4).
//!
//! Modelled: what a reset covers, and that it ends what it covers: messages in the switch are flushed, answers that still come are
//! dropped, and until the last of them is there the switch answers requests as unmapped. Then the same vPPB is used again, with
//! the same binding; where a device never comes back from its reset, the vPPB does not either. Detail: to the message. Left out:
//! PERST#, link states and configuration writes, of which CXL.mem sees nothing; the state that a device loses, as its media keep
//! their bytes; FLR, in which a switch has no part (RST-6).
//!
//! A switch at a port that is reset gets a hot reset over its link, and does the same for its hierarchy there,
//! and for switches below it. It drops no answer that is due, because the switch above counts them all and discards them (our
//! choice: on a real link they would be lost, and nobody could tell).
//!
//! | reset | covers |
//! | --- | --- |
//! | the switch (RST-1) | everything that is bound |
//! | PERST# or hot reset of an upstream port, SBR in its vPPB (RST-2, RST-3) | what is bound in its VCS, of a multi-logical device no more than that |
//! | SBR in the vPPB of a downstream port (RST-4) | its port, or its logical device |
//! | the manager resets a port (RST-5) | the port, with all of its logical devices |
//!
//! A walk through one reset: the vPPBs that it covers are removed like those of a surprise removal, and the manager keeps their
//! bindings (`away.rs`). Each comes back by itself when the last answer to an earlier request has arrived. A reset is not refused because a part of what it
//! covers is busy, as nobody can refuse PERST#: a vPPB that is being unbound is unbound at once, one in reset stays in it.

use super::binding::VppbBinding;
use super::command::Vppb;
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
