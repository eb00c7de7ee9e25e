//! vPPBs whose binding stands while nothing reaches what they are bound to (`fabric` CMR-5): it is in reset, or its link is down.
//!
//! Modelled: which bindings come back, and what each of them waits for. Detail: without time; the [manager](super::manager) asks.
//! Left out: the reasons themselves, which are in [`reset`](super::reset) and [`plug`](super::plug).
//!
//! A walk: a link goes down. The bindings there leave the tables by which messages are routed, so that the switch answers requests
//! as it does where nothing is bound. When the link is up again they return as they were.

use super::binding::VppbBinding;
use super::command::Vppb;
use scalepool_ordered::OrderedMap;

/// What a binding waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AwayCause {
    /// The end of a reset: the last answer to an earlier request.
    Reset,
    /// The link of the port.
    LinkDown,
}

/// Bindings that come back.
#[derive(Debug, Clone, Default)]
pub(super) struct AwayBindings(OrderedMap<Vppb, (VppbBinding, AwayCause)>);

impl AwayBindings {
    /// A binding is away from here on.
    pub fn begin(&mut self, binding: VppbBinding, cause: AwayCause) {
        self.0.insert((binding.vcs, binding.vppb), (binding, cause));
    }

    /// It comes back, or is unbound.
    pub fn end(&mut self, vppb: Vppb) -> Option<VppbBinding> {
        self.0.remove(&vppb).map(|(binding, _)| binding)
    }

    /// All of them with what they wait for.
    pub fn list(&self) -> impl Iterator<Item = (VppbBinding, AwayCause)> + '_ {
        self.0.values().copied()
    }

    /// Those that wait for one thing.
    pub fn by(&self, cause: AwayCause) -> impl Iterator<Item = VppbBinding> + '_ {
        self.list().filter(move |(_, of)| *of == cause).map(|(binding, _)| binding)
    }

    /// What a vPPB waits for; `None`: it is not away.
    pub fn cause(&self, vppb: Vppb) -> Option<AwayCause> {
        self.0.get(&vppb).map(|(_, cause)| *cause)
    }

    /// The vPPB in reset whose binding a new one would take a part of.
    pub fn in_reset(&self, binding: VppbBinding) -> Option<Vppb> {
        let meets = |other: &VppbBinding| {
            let is_own = (other.vcs, other.vppb) == (binding.vcs, binding.vppb);
            let shares = other.ld.is_none() || binding.ld.is_none() || other.ld == binding.ld;
            is_own || (other.port == binding.port && shares)
        };
        self.by(AwayCause::Reset).find(meets).map(|other| (other.vcs, other.vppb))
    }

    /// Whether nothing is away.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
