//! Viral: a fatal error that a virtual hierarchy (VCS) contains (`fabric` §1.10).
//!
//! Modelled: which hierarchies are viral, how that begins and ends, and the status that each port has to tell its link, with
//! the vector of logical devices. Detail: without time; the [module](super::module) tells a status in front of the messages
//! that leave later, and the link ends send it as their protocol says. A switch that hears it from another one goes viral at that
//! port, so it passes a whole cascade. Left out: what hosts and devices do when they hear of it, CXL Reset and
//! FLR, which leave viral on (`fabric` VIR-4), and CXL.io, which goes on.
//!
//! A walk: a port goes viral by a command, and each hierarchy that it is a part of is viral. Upstream ports and ports that are
//! bound whole tell an empty vector. The port of a multi-logical device tells one bit for each logical device that is bound to
//! a viral hierarchy. A hierarchy stays viral through bind and unbind; a conventional reset of the whole hierarchy or of the
//! switch ends it. A reset of one port ends it on the link of that port alone, and the port tells it again when it is used
//! again (our choice: the sheet says which kinds of reset clear viral, and nothing of a reset of a part).

use super::binding::Bindings;
use super::command::Vppb;
use super::reset::ResetScope;
use scalepool_ordered::{OrderedMap, OrderedSet};

/// Hierarchies in viral, and what ports have told of that.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ViralHierarchies {
    /// By the number of their upstream port.
    viral: OrderedSet<usize>,
    /// vPPBs whose Viral_Enable is off.
    off: OrderedSet<Vppb>,
    /// The status that each port has told last, of those that have told one.
    told: OrderedMap<usize, u16>,
}

impl ViralHierarchies {
    /// No hierarchy is viral. `off`: vPPBs of downstream ports at which viral is not enabled.
    pub fn new(off: OrderedSet<Vppb>) -> ViralHierarchies {
        ViralHierarchies { off, ..ViralHierarchies::default() }
    }

    /// A port goes viral, or the switch does inside. The hierarchies that are viral by this and were not before; `None`: the
    /// port is part of no hierarchy where viral is enabled.
    pub fn declare(&mut self, at: ResetScope, bindings: &Bindings) -> Option<Vec<usize>> {
        let hierarchies: OrderedSet<usize> = match at {
            ResetScope::Upstream(vcs) => (vcs < bindings.hierarchies()).then_some(vcs).into_iter().collect(),
            ResetScope::Switch => (0..bindings.hierarchies()).collect(),
            _ => bindings
                .list()
                .filter(|one| at.covers(*one) && self.is_on(one.vcs, one.vppb))
                .map(|one| one.vcs)
                .collect(),
        };
        if hierarchies.is_empty() {
            return None;
        }
        Some(hierarchies.into_iter().filter(|vcs| self.viral.insert(*vcs)).collect())
    }

    /// A conventional reset. The hierarchies that are viral no more.
    pub fn reset(&mut self, scope: ResetScope) -> Vec<usize> {
        let over: Vec<usize> = match scope {
            ResetScope::Switch => self.viral.iter().copied().collect(),
            ResetScope::Upstream(vcs) => self.viral.contains(&vcs).then_some(vcs).into_iter().collect(),
            ResetScope::Vppb(_) | ResetScope::Port(_) => Vec::new(),
        };
        for vcs in &over {
            self.viral.remove(vcs);
        }
        over
    }

    /// Whether every CXL.cache and CXL.mem message of a hierarchy counts as viral.
    pub fn has(&self, vcs: usize) -> bool {
        self.viral.contains(&vcs)
    }

    fn is_on(&self, vcs: usize, vppb: usize) -> bool {
        !self.off.contains(&(vcs, vppb))
    }

    /// The status of each port that is not idle, by its number among all ports, upstream ports first.
    fn statuses(&self, bindings: &Bindings) -> OrderedMap<usize, u16> {
        let mut all: OrderedMap<usize, u16> = self.viral.iter().map(|vcs| (*vcs, 0)).collect();
        for one in bindings.list().filter(|one| self.has(one.vcs) && self.is_on(one.vcs, one.vppb)) {
            *all.entry(bindings.hierarchies() + one.port).or_default() |= one.ld.map_or(0, |ld| 1 << ld);
        }
        all
    }

    /// What ports have to tell now: port and vector of logical devices, or `None` where viral is over.
    pub fn to_tell(&mut self, bindings: &Bindings) -> Vec<(usize, Option<u16>)> {
        let now = self.statuses(bindings);
        let over = self.told.keys().filter(|port| !now.contains_key(port)).map(|port| (*port, None));
        let others = now.iter().filter(|(port, vector)| self.told.get(port) != Some(vector));
        let all = over.chain(others.map(|(port, vector)| (*port, Some(*vector)))).collect();
        self.told = now;
        all
    }
}
