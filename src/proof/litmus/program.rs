//! Programs of cores with the orders of their accesses.
//!
//! Modelled: the accesses of each thread, what each of them is ordered behind, from which store of its own thread a load may take
//! its value early, and the terms that stores write. Detail: lines hold one byte of a value. Left out: instructions, which
//! [`super::herd`] makes accesses of.
//!
//! Sequential cores are the case in which every access is behind all earlier ones ([`LitmusProgram::of_shape`]).

use super::shapes::{LitmusAccess, LitmusShape};

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
    Add(Box<Term>, u32),
}

impl Term {
    /// Numbers, loads and operations in it.
    pub fn size(&self) -> usize {
        match self {
            Term::Number(_) | Term::Load(_) => 1,
            Term::Eor(a, b) => 1 + a.size() + b.size(),
            Term::Add(a, _) => 1 + a.size(),
        }
    }

    /// Its value, where `loaded` has those of the loads.
    pub fn value(&self, loaded: &dyn Fn(usize) -> u8) -> u32 {
        match self {
            Term::Number(number) => *number,
            Term::Load(access) => loaded(*access).into(),
            Term::Eor(a, b) => a.value(loaded) ^ b.value(loaded),
            Term::Add(a, number) => a.value(loaded).wrapping_add(*number),
        }
    }
}

/// A set of accesses of a thread, a bit each.
pub type AccessSet = u16;

/// Most accesses of a thread.
pub const MOST_ACCESSES: usize = 8;

/// An access of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramAccess {
    /// Its line.
    pub line: u64,
    /// What is stored; `None`: it loads.
    pub store: Option<Term>,
    /// Earlier accesses that have to be done before it.
    pub behind: AccessSet,
    /// The last earlier store to its line, whose value a load takes while that is not done.
    pub forwards: Option<usize>,
    /// Loads that have to be done before a load takes the value of this store from it.
    pub known: AccessSet,
}

/// What an exploration of a program leaves free besides the order of messages and accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freedom {
    /// Every share of clean copies at the start, evicts at any time, loads that ask for a copy and for the value alone.
    All,
    /// No copies at the start, copies of one line at every core, or of all lines; nothing else.
    Copies,
}

/// Says of the values loaded, thread by thread, and the last values of the lines whether they must not be.
pub type Forbidden = fn(&[u8], &[u8]) -> bool;

/// A program.
#[derive(Debug, Clone)]
pub struct LitmusProgram {
    /// Name.
    pub name: String,
    /// Accesses of each thread in program order, at most [`MOST_ACCESSES`].
    pub threads: Vec<Vec<ProgramAccess>>,
    /// Value of each line at the start.
    pub initial: Vec<u8>,
    /// What must not be.
    pub forbidden: Option<Forbidden>,
    /// What is left free.
    pub freedom: Freedom,
}

impl LitmusProgram {
    /// The program of a shape: sequential cores, lines of 0.
    pub fn of_shape(shape: &LitmusShape) -> Self {
        let thread = |program: &&[LitmusAccess]| {
            let access = |(n, access): (usize, &LitmusAccess)| ProgramAccess {
                line: access.line(),
                store: match *access {
                    LitmusAccess::Load(_) => None,
                    LitmusAccess::Store(_, value) => Some(Term::Number(value.into())),
                },
                behind: (1 << n) - 1,
                forwards: None,
                known: 0,
            };
            program.iter().enumerate().map(access).collect()
        };
        let lines = shape.programs.iter().copied().flatten().map(|access| access.line() + 1).max().unwrap_or(1);
        Self {
            name: shape.name.to_owned(),
            threads: shape.programs.iter().map(thread).collect(),
            initial: vec![0; lines as usize],
            forbidden: Some(shape.forbidden),
            freedom: Freedom::All,
        }
    }
}
