//! A thread of a program: its accesses with the orders that they owe each other.
//!
//! Modelled: what each access is ordered behind, from which store of its own thread a load may take its value early, and the
//! terms that stores write. Detail: an access is of one byte. Left out: instructions and the rules of an architecture, which
//! say what is ordered behind what.
//!
//! A walk through one access: when all accesses that it is behind are done it may go; a load whose own earlier store is not
//! done takes the value of that; any other access takes effect at one point, in the cache of its core. A store exclusive has no
//! effect where its line has been stored to since its load exclusive, and may have none at any time.

/// A value that is computed from loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Term {
    /// A number.
    Number(u32),
    /// What access n of the thread loaded.
    Load(usize),
    /// Bits that differ.
    Eor(Box<Term>, Box<Term>),
    /// A sum.
    Add(Box<Term>, Box<Term>),
}

impl Term {
    /// Numbers, loads and operations in it.
    pub fn size(&self) -> usize {
        match self {
            Term::Number(_) | Term::Load(_) => 1,
            Term::Eor(a, b) | Term::Add(a, b) => 1 + a.size() + b.size(),
        }
    }

    /// Its value, where `loaded` has those of the loads.
    pub fn value(&self, loaded: &dyn Fn(usize) -> u8) -> u32 {
        match self {
            Term::Number(number) => *number,
            Term::Load(access) => loaded(*access).into(),
            Term::Eor(a, b) => a.value(loaded) ^ b.value(loaded),
            Term::Add(a, b) => a.value(loaded).wrapping_add(b.value(loaded)),
        }
    }
}

/// A set of accesses of a thread, a bit each.
pub type AccessSet = u16;

/// What a store exclusive gives when it has stored, and when it has not.
pub const EXCLUSIVE_STORED: u8 = 0;
/// See [`EXCLUSIVE_STORED`].
pub const EXCLUSIVE_FAILED: u8 = 1;

/// Most accesses of a thread.
pub const MOST_ACCESSES: usize = 8;

/// An access of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadAccess {
    /// Its line.
    pub line: u64,
    /// What is stored; `None`: it loads.
    pub store: Option<Term>,
    /// It stores and loads at one point, a read-modify-write; the term may use its own load.
    pub is_rmw: bool,
    /// Of a store exclusive: its load exclusive.
    pub exclusive: Option<usize>,
    /// Earlier accesses that have to be done before it.
    pub behind: AccessSet,
    /// The last earlier store to its line that is no store exclusive, whose value a load takes while that is not done.
    pub forwards: Option<usize>,
    /// Loads that have to be done before a load takes the value of this store from it.
    pub known: AccessSet,
}

impl ThreadAccess {
    /// Whether it gives a value: what it loads, alone or with its store, or whether a store exclusive has stored.
    pub fn gives_value(&self) -> bool {
        self.store.is_none() || self.is_rmw || self.exclusive.is_some()
    }
}

/// What litmus cores run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadProgram {
    /// Accesses of each thread in program order, at most [`MOST_ACCESSES`]. Their lines are locations, counted from 0.
    pub threads: Vec<Vec<ThreadAccess>>,
    /// Value of each location at the start.
    pub initial: Vec<u8>,
}
