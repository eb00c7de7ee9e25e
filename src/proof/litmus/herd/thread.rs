//! A thread: its instructions as accesses with the order that they owe each other.
//!
//! Modelled: what is known of each register, the term of its value and the loads it depends on; fences between accesses.
//! Detail: the rules of [`is_behind`], one a line, are those of the page that the axiomatic checker in `testbenches/litmus/` was
//! written from too. Left out: instructions, which `parse` reads.

use scalepool_coherence::thread::{AccessSet, Term, ThreadAccess};
use scalepool_ordered::OrderedMap;

/// How a thread orders its accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThreadModel {
    /// Sequential.
    Sc,
    /// A store buffer.
    Tso,
    /// Weak, with dependencies.
    Arm,
}

impl ThreadModel {
    pub const ALL: [(&'static str, ThreadModel); 3] =
        [("SC", ThreadModel::Sc), ("TSO", ThreadModel::Tso), ("ARM", ThreadModel::Arm)];
}

/// A fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fence {
    /// Everything before is before everything behind.
    Full,
    /// Loads before are before everything behind.
    Load,
    /// Stores before are before stores behind.
    Store,
}

/// An access as its instruction says.
#[derive(Debug, Clone)]
pub(super) struct Access {
    pub line: usize,
    /// What is stored; `None`: it loads.
    pub store: Option<Term>,
    /// It stores and loads at one point.
    pub is_rmw: bool,
    /// Of a store exclusive: its load exclusive.
    pub exclusive: Option<usize>,
    pub acquire: bool,
    pub release: bool,
    /// Loads of its address, of its value, and of branches before it.
    pub address: AccessSet,
    pub data: AccessSet,
    pub control: AccessSet,
}

/// What a register holds.
#[derive(Debug, Clone)]
pub(super) enum Register {
    /// The address of a location.
    Address(usize),
    /// A number, and the loads it depends on.
    Number(Term, AccessSet),
    /// Whether this store exclusive has stored.
    Status(usize),
}

/// A column of a program while it is read.
#[derive(Debug, Clone)]
pub(super) struct Thread {
    pub order: ThreadModel,
    pub registers: OrderedMap<String, Register>,
    /// How each register is written where it comes first.
    pub spelled: OrderedMap<String, String>,
    /// Loads on which branches so far depend.
    pub control: AccessSet,
    pub accesses: Vec<Access>,
    /// The load exclusive that a store exclusive may follow.
    pub reserves: Option<usize>,
    /// Fences, each with the number of accesses before it.
    pub fences: Vec<(Fence, usize)>,
}

impl Thread {
    pub fn new(order: ThreadModel) -> Self {
        let (registers, spelled) = (OrderedMap::new(), OrderedMap::new());
        Self { order, registers, spelled, control: 0, accesses: Vec::new(), reserves: None, fences: Vec::new() }
    }

    fn is_between(&self, fence: Fence, a: usize, b: usize) -> bool {
        self.fences.iter().any(|(kind, at)| *kind == fence && a < *at && *at <= b)
    }

    /// Whether access b, which comes behind access a in the program, takes effect behind it.
    fn is_behind(&self, a: usize, b: usize) -> bool {
        let (first, second) = (&self.accesses[a], &self.accesses[b]);
        let (a_stores, b_stores) = (first.store.is_some(), second.store.is_some());
        let a_loads = !a_stores || first.is_rmw;
        let depends = |set: AccessSet| set >> a & 1 == 1;
        let full = self.is_between(Fence::Full, a, b);
        match self.order {
            ThreadModel::Sc => true,
            // A read-modify-write is a fence by both.
            ThreadModel::Tso => a_loads || b_stores || full,
            ThreadModel::Arm => {
                full
                    // Of one line; a load may take the value of a store early, but for an acquire load; that of a store exclusive
                    // is known when it has stored.
                    || first.line == second.line
                        && (b_stores || a_loads || second.acquire || first.exclusive.is_some())
                    || a_loads && self.is_between(Fence::Load, a, b)
                    || a_stores && b_stores && self.is_between(Fence::Store, a, b)
                    || first.acquire
                    || second.release
                    || first.release && second.acquire
                    || depends(second.address)
                    || depends(second.data)
                    || b_stores && depends(second.control)
                    // An address between them has to be known before the store.
                    || b_stores && self.accesses[a + 1..b].iter().any(|between| depends(between.address))
            }
        }
    }

    /// The accesses with their orders.
    pub fn program(&self) -> Vec<ThreadAccess> {
        let of = |b: usize| {
            let access = &self.accesses[b];
            let behind = (0..b).filter(|a| self.is_behind(*a, b)).fold(0, |set: AccessSet, a| set | 1 << a);
            let is_own = |a: &Access| a.line == access.line && a.store.is_some() && a.exclusive.is_none();
            let own = (0..b).rev().find(|a| is_own(&self.accesses[*a]));
            ThreadAccess {
                line: access.line as u64,
                store: access.store.clone(),
                is_rmw: access.is_rmw,
                exclusive: access.exclusive,
                behind,
                forwards: own.filter(|_| access.store.is_none()),
                known: access.data | access.address,
            }
        };
        (0..self.accesses.len()).map(of).collect()
    }
}
