//! Dragonflies: groups whose routers are all joined, and one channel between any two groups.
//!
//! Modelled: (p, a, h): a group has a routers, each with p nodes and h global channels; there are a h + 1 groups, the most
//! that the channels reach. Global channel q of a group, which is channel q mod h of its router q / h, leads to group q, or q + 1 from the
//! own group on. A packet takes a channel in its group, a global one, and a channel in the group of its destination,
//! each where needed. Local channels have two classes: the lower half in front of a global channel, the upper half behind it
//! (`fabric` §6.5); global channels use all.
//!
//! Ports of a router: p nodes, a - 1 local ones in the order of routers, h global ones.

use super::{PortPeer, RouteChoice, VcClass};
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dragonfly {
    p: usize,
    a: usize,
    h: usize,
}

impl Dragonfly {
    pub(super) fn new(p: usize, a: usize, h: usize) -> Dragonfly {
        Dragonfly { p, a, h }
    }

    fn groups(&self) -> usize {
        self.a.saturating_mul(self.h).saturating_add(1)
    }

    pub(super) fn routers(&self) -> usize {
        self.groups().saturating_mul(self.a)
    }

    pub(super) fn nodes(&self) -> usize {
        self.routers().saturating_mul(self.p)
    }

    pub(super) fn ports(&self) -> usize {
        self.p.saturating_add(self.a - 1).saturating_add(self.h)
    }

    /// Port of a router to another one of its group, by their numbers in it.
    fn local(&self, from: usize, to: usize) -> usize {
        self.p + if to < from { to } else { to - 1 }
    }

    /// The global channel of a group that leads to another one.
    fn global(from: usize, to: usize) -> usize {
        if to < from { to } else { to - 1 }
    }

    pub(super) fn peer(&self, router: usize, port: usize) -> PortPeer {
        let (group, own) = (router / self.a, router % self.a);
        if port < self.p {
            return PortPeer::Node(router * self.p + port);
        }
        let first_global = self.p + self.a - 1;
        if port < first_global {
            let n = port - self.p;
            let other = if n < own { n } else { n + 1 };
            return PortPeer::Router(group * self.a + other, self.local(other, own));
        }
        let channel = own * self.h + port - first_global;
        let to = if channel < group { channel } else { channel + 1 };
        let back = Self::global(to, group);
        PortPeer::Router(to * self.a + back / self.h, first_global + back % self.h)
    }

    pub(super) fn route(&self, router: usize, node: usize) -> RouteChoice {
        let (group, own) = (router / self.a, router % self.a);
        let target = node / self.p;
        let (to, last) = (target / self.a, target % self.a);
        if router == target {
            return RouteChoice::one(node % self.p, VcClass::All);
        }
        if group == to {
            return RouteChoice::one(self.local(own, last), VcClass::Upper);
        }
        let channel = Self::global(group, to);
        match channel / self.h {
            gateway if gateway == own => RouteChoice::one(self.p + self.a - 1 + channel % self.h, VcClass::All),
            gateway => RouteChoice::one(self.local(own, gateway), VcClass::Lower),
        }
    }

    pub(super) fn place(&self, router: usize) -> (usize, usize) {
        (router % self.a, router / self.a)
    }
}

impl fmt::Display for Dragonfly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{}", self.p, self.a, self.h)
    }
}
