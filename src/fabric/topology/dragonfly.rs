//! Dragonflies: groups whose routers are fully connected, and one global channel between any two groups.
//!
//! Modelled: (p, a, h): a group has a routers, each with p nodes and h global channels. There are a h + 1 groups, the
//! most that the global channels can connect. Global channel q of a group is channel q mod h of the group's router q / h.
//! It leads to group q, or to group q + 1 if q is not below the number of its own group. A packet takes a local channel
//! in its group, a global channel, and a local channel in the group of its destination, each only where needed. Local
//! channels have two classes of virtual channels: the lower half before a global channel, the upper half after it
//! (`fabric` §6.5). Global channels use all virtual channels.
//!
//! Ports of a router: p nodes, a - 1 local channels in the order of routers, h global channels.

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

    /// The router of a node.
    pub(super) fn router_of(&self, node: usize) -> usize {
        node / self.p
    }

    /// The port of router `from` that leads to router `to` of the same group; both are numbered within the group.
    fn local(&self, from: usize, to: usize) -> usize {
        self.p + if to < from { to } else { to - 1 }
    }

    /// The global channel of group `from` that leads to group `to`.
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
        let target = self.router_of(node);
        let (to, last) = (target / self.a, target % self.a);
        if router == target {
            return RouteChoice::one(node % self.p, VcClass::ALL);
        }
        if group == to {
            return RouteChoice::one(self.local(own, last), VcClass::UPPER);
        }
        self.toward(router, to)
    }

    /// Number of groups, and the group of a router.
    pub(super) fn group_of(&self, router: usize) -> (usize, usize) {
        (self.groups(), router / self.a)
    }

    /// The port of a router that leads towards another group.
    pub(super) fn toward(&self, router: usize, to: usize) -> RouteChoice {
        let (group, own) = (router / self.a, router % self.a);
        let channel = Self::global(group, to);
        match channel / self.h {
            gateway if gateway == own => RouteChoice::one(self.p + self.a - 1 + channel % self.h, VcClass::ALL),
            gateway => RouteChoice::one(self.local(own, gateway), VcClass::LOWER),
        }
    }

    /// The router at which packets from one group enter another one.
    pub(super) fn entry(&self, from: usize, to: usize) -> usize {
        to * self.a + Self::global(to, from) / self.h
    }

    /// Channels between two routers: local, global and local, each where it is needed.
    pub(super) fn distance(&self, from: usize, to: usize) -> usize {
        let groups = (from / self.a, to / self.a);
        if groups.0 == groups.1 {
            return usize::from(from != to);
        }
        usize::from(from != self.entry(groups.1, groups.0)) + 1 + usize::from(to != self.entry(groups.0, groups.1))
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
