//! Folded Clos networks of any number of levels, and K-ary N-trees, those of them whose levels are all alike.
//!
//! Modelled: level 0 is the top, and the nodes are attached to the last level. Each level has its own number of ports down and up.
//! A router is identified by its level l and its place w, a number of one digit for each level but the last. Down port j of a
//! router leads to the router of level l+1 whose digit l is j and whose other digits are the same; its own digit l says which of the
//! ports up of that router leads back. So digits before l tell the subtree that is below a router, the others tell routers with the
//! same subtree from each other. A packet goes up by any port until the destination is below, then down by the digits of the
//! destination (`fabric` §6.3). A Clos network of three stages (m, n, r) is folded `clos:n/m,r`: r routers with n nodes and m
//! ports up each, below m routers with r ports. Left out: levels with several channels between two routers.
//!
//! Ports of a router: those down, then, below the top, those up.

use super::{PortPeer, RouteChoice, VcClass};
use std::fmt;

/// Ports of the routers of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TreeLevel {
    pub(super) down: usize,
    /// 0 at the top.
    pub(super) up: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FatTree {
    /// From the top on.
    levels: Vec<TreeLevel>,
    /// First router of each level, and behind the last one.
    firsts: Vec<usize>,
}

impl FatTree {
    /// A tree of these levels, from the top on; two at least.
    pub(super) fn new(levels: Vec<TreeLevel>) -> FatTree {
        let mut tree = FatTree { levels, firsts: vec![0] };
        for level in 0..tree.levels.len() {
            let routers = tree.digits().map(|digit| tree.radix(level, digit)).fold(1usize, usize::saturating_mul);
            tree.firsts.push(tree.routers().saturating_add(routers));
        }
        tree
    }

    /// A K-ary N-tree.
    pub(super) fn k_ary(k: usize, n: usize) -> FatTree {
        FatTree::new((0..n).map(|level| TreeLevel { down: k, up: if level == 0 { 0 } else { k } }).collect())
    }

    fn last(&self) -> usize {
        self.levels.len() - 1
    }

    /// Digits of a place.
    fn digits(&self) -> std::ops::Range<usize> {
        0..self.last()
    }

    /// How many values a digit of the places of a level has.
    fn radix(&self, level: usize, digit: usize) -> usize {
        if digit < level { self.levels[digit].down } else { self.levels[digit + 1].up }
    }

    pub(super) fn nodes(&self) -> usize {
        self.levels.iter().map(|level| level.down).fold(1usize, usize::saturating_mul)
    }

    pub(super) fn routers(&self) -> usize {
        self.firsts.last().copied().unwrap_or(0)
    }

    /// The router of a node, which is one of the last level.
    pub(super) fn router_of(&self, node: usize) -> usize {
        self.firsts[self.last()] + node / self.levels[self.last()].down
    }

    /// Level and place of a router.
    fn split(&self, router: usize) -> (usize, usize) {
        let level = self.firsts.partition_point(|first| *first <= router) - 1;
        (level, router - self.firsts[level])
    }

    /// Weight of a digit of the places of a level; digit 0 is the most significant.
    fn weight(&self, level: usize, digit: usize) -> usize {
        (digit + 1..self.last()).map(|less| self.radix(level, less)).product()
    }

    fn digit(&self, level: usize, place: usize, digit: usize) -> usize {
        place / self.weight(level, digit) % self.radix(level, digit)
    }

    /// The router of a level whose place has this digit, and the other ones of a place of a level beside it.
    fn at(&self, level: usize, (beside, place): (usize, usize), digit: usize, value: usize) -> usize {
        let of = |n: usize| if n == digit { value } else { self.digit(beside, place, n) };
        self.firsts[level] + self.digits().map(|n| of(n) * self.weight(level, n)).sum::<usize>()
    }

    pub(super) fn ports(&self, router: usize) -> usize {
        let TreeLevel { down, up } = self.levels[self.split(router).0];
        down + up
    }

    pub(super) fn peer(&self, router: usize, port: usize) -> PortPeer {
        let (level, place) = self.split(router);
        let TreeLevel { down, .. } = self.levels[level];
        match port.checked_sub(down) {
            None if level == self.last() => PortPeer::Node(place * down + port),
            None => {
                let back = self.levels[level + 1].down + self.digit(level, place, level);
                PortPeer::Router(self.at(level + 1, (level, place), level, port), back)
            }
            Some(up) => {
                let back = self.digit(level, place, level - 1);
                PortPeer::Router(self.at(level - 1, (level, place), level - 1, up), back)
            }
        }
    }

    pub(super) fn route(&self, router: usize, node: usize) -> RouteChoice {
        let (level, place) = self.split(router);
        let TreeLevel { down, up } = self.levels[level];
        let (last, leaf) = (self.last(), node / self.levels[self.last()].down);
        // Digits above this level tell the subtree of a router.
        let is_below = (0..level).all(|digit| self.digit(level, place, digit) == self.digit(last, leaf, digit));
        if !is_below {
            return RouteChoice::consecutive(down, up, [VcClass::ALL; 2]);
        }
        let port = if level == last { node % down } else { self.digit(last, leaf, level) };
        RouteChoice::one(port, VcClass::ALL)
    }

    /// The numbers of a K-ary N-tree, if it is one.
    fn is_k_ary(&self) -> Option<(usize, usize)> {
        let k = self.levels[0].down;
        let is_alike = self.levels[1..].iter().all(|level| *level == TreeLevel { down: k, up: k });
        is_alike.then_some((k, self.levels.len()))
    }

    /// Whether every router has one port up at most, so that every packet has one way.
    pub(super) fn has_one_way(&self) -> bool {
        self.levels.iter().all(|level| level.up < 2)
    }

    pub(super) fn place(&self, router: usize) -> (usize, usize) {
        let (level, place) = self.split(router);
        (place, level)
    }
}

/// As it is written: a tree whose levels are all alike by two numbers, others level by level from the nodes on.
impl fmt::Display for FatTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((k, n)) = self.is_k_ary() {
            return write!(f, "fat-tree:{k}x{n}");
        }
        f.write_str("clos:")?;
        self.levels[1..].iter().rev().try_for_each(|TreeLevel { down, up }| write!(f, "{down}/{up},"))?;
        write!(f, "{}", self.levels[0].down)
    }
}
