//! K-ary N-trees: K^N nodes under N levels of K^(N-1) routers.
//!
//! Modelled: level 0 is the top, and the nodes are attached to level N-1. A router is identified by its level l and its
//! place w, a number of N-1 digits in base K. Down port j of a router leads to the router of level l+1 whose digit l is j
//! and whose other digits are the same. A packet goes up by any port until the destination is below, then down by the
//! digits of the destination (`fabric` §6.3).
//!
//! Ports of a router: K down, then, below the top, K up.

use super::{PortPeer, RouteChoice, VcClass};
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FatTree {
    k: usize,
    n: usize,
}

impl FatTree {
    pub(super) fn new(k: usize, n: usize) -> FatTree {
        FatTree { k, n }
    }

    fn power(&self, exponent: usize) -> usize {
        (0..exponent).fold(1usize, |all, _| all.saturating_mul(self.k))
    }

    fn per_level(&self) -> usize {
        self.power(self.n - 1)
    }

    pub(super) fn nodes(&self) -> usize {
        self.power(self.n)
    }

    pub(super) fn routers(&self) -> usize {
        self.per_level().saturating_mul(self.n)
    }

    /// The router of a node, which is one of the lowest level.
    pub(super) fn router_of(&self, node: usize) -> usize {
        (self.n - 1) * self.per_level() + node / self.k
    }

    /// Level and place of a router.
    fn split(&self, router: usize) -> (usize, usize) {
        (router / self.per_level(), router % self.per_level())
    }

    /// Weight of a digit of a place; digit 0 is the most significant.
    fn weight(&self, digit: usize) -> usize {
        self.power(self.n - 2 - digit)
    }

    fn digit(&self, place: usize, digit: usize) -> usize {
        place / self.weight(digit) % self.k
    }

    fn with_digit(&self, place: usize, digit: usize, value: usize) -> usize {
        place - self.digit(place, digit) * self.weight(digit) + value * self.weight(digit)
    }

    pub(super) fn ports(&self, router: usize) -> usize {
        if self.split(router).0 == 0 { self.k } else { 2 * self.k }
    }

    pub(super) fn peer(&self, router: usize, port: usize) -> PortPeer {
        let (level, place) = self.split(router);
        let at = |level: usize, place: usize| level * self.per_level() + place;
        match port.checked_sub(self.k) {
            None if level == self.n - 1 => PortPeer::Node(place * self.k + port),
            None => {
                let back = self.k + self.digit(place, level);
                PortPeer::Router(at(level + 1, self.with_digit(place, level, port)), back)
            }
            Some(up) => {
                let back = self.digit(place, level - 1);
                PortPeer::Router(at(level - 1, self.with_digit(place, level - 1, up)), back)
            }
        }
    }

    pub(super) fn route(&self, router: usize, node: usize) -> RouteChoice {
        let (level, place) = self.split(router);
        let leaf = node / self.k;
        // Digits above this level tell the subtree of a router.
        let is_below = (0..level).all(|digit| self.digit(place, digit) == self.digit(leaf, digit));
        if !is_below {
            return RouteChoice { first: self.k as u8, count: self.k as u8, classes: [VcClass::ALL; 2] };
        }
        let down = if level == self.n - 1 { node % self.k } else { self.digit(leaf, level) };
        RouteChoice::one(down, VcClass::ALL)
    }

    pub(super) fn place(&self, router: usize) -> (usize, usize) {
        let (level, place) = self.split(router);
        (place, level)
    }
}

impl fmt::Display for FatTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.k, self.n)
    }
}
