//! The litmus shapes: programs of sequential cores on one or two lines, and the outcomes that must never be seen.
//!
//! Every core does one access after the other; a load ends with its value, a store with its place in coherence order. The
//! agents then owe sequential consistency: an outcome that no order of the accesses explains is forbidden. Lines hold 0
//! at the start.

/// An access of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LitmusAccess {
    /// Loads a line.
    Load(u64),
    /// Stores a value to a line.
    Store(u64, u8),
}

impl LitmusAccess {
    /// Its line.
    pub fn line(self) -> u64 {
        match self {
            LitmusAccess::Load(line) | LitmusAccess::Store(line, _) => line,
        }
    }
}

/// A shape: programs, and which outcome no order of the accesses explains.
#[derive(Debug)]
pub struct LitmusShape {
    /// Name in the literature.
    pub name: &'static str,
    /// What sequential cores keep.
    pub doc: &'static str,
    /// One a core.
    pub programs: &'static [&'static [LitmusAccess]],
    /// Of the values loaded, core by core, and the last values of the two lines.
    pub forbidden: fn(&[u8], &[u8]) -> bool,
}

use LitmusAccess::{Load, Store};
const X: u64 = 0;
const Y: u64 = 1;

/// Loads of a line see its stores in one order.
pub static CORR: LitmusShape = LitmusShape {
    name: "CoRR",
    doc: "the loads of a core see the stores to a line in their order",
    programs: &[&[Store(X, 1), Store(X, 2)], &[Load(X), Load(X), Load(X)]],
    forbidden: |r, _| !r.is_sorted(),
};

/// Stores of a core to a line have the core's order.
pub static COWW: LitmusShape = LitmusShape {
    name: "CoWW",
    doc: "the stores of a core to a line take effect in program order",
    programs: &[&[Store(X, 1), Store(X, 2)], &[Load(X)]],
    forbidden: |_, last| last[0] != 2,
};

/// A core loads its own store or a later one.
pub static COWR: LitmusShape = LitmusShape {
    name: "CoWR",
    doc: "a load returns the core's own earlier store or a later one",
    programs: &[&[Store(X, 1), Load(X)], &[Store(X, 2)]],
    forbidden: |r, last| r[0] == 0 || (r[0] == 2 && last[0] == 1),
};

/// A core does not load what it or others store later.
pub static CORW: LitmusShape = LitmusShape {
    name: "CoRW",
    doc: "a load does not see a later store of its own core",
    programs: &[&[Load(X), Store(X, 1)], &[Store(X, 2)]],
    forbidden: |r, last| r[0] == 1 || (r[0] == 2 && last[0] == 2),
};

/// Message passing: who sees the flag sees the data.
pub static MP: LitmusShape = LitmusShape {
    name: "MP",
    doc: "a core that sees the flag sees the data written before it",
    programs: &[&[Store(X, 1), Store(Y, 1)], &[Load(Y), Load(X)]],
    forbidden: |r, _| r == [1, 0],
};

/// Store buffering: one of the two cores sees the other.
pub static SB: LitmusShape = LitmusShape {
    name: "SB",
    doc: "two cores store, then load each other's line; at least one sees the other's store",
    programs: &[&[Store(X, 1), Load(Y)], &[Store(Y, 1), Load(X)]],
    forbidden: |r, _| r == [0, 0],
};

/// Stores to two lines have one order.
pub static WW: LitmusShape = LitmusShape {
    name: "2+2W",
    doc: "two cores store to two lines in opposite order; the final values agree with one order of all stores",
    programs: &[&[Store(X, 1), Store(Y, 2)], &[Store(Y, 1), Store(X, 2)]],
    forbidden: |_, last| last == [1, 1],
};

/// Two readers agree on the order of two writers.
pub static IRIW: LitmusShape = LitmusShape {
    name: "IRIW",
    doc: "two readers agree on the order of two writers",
    programs: &[&[Store(X, 1)], &[Store(Y, 1)], &[Load(X), Load(Y)], &[Load(Y), Load(X)]],
    forbidden: |r, _| r == [1, 0, 1, 0],
};

/// All of them.
pub static SHAPES: &[&LitmusShape] = &[&CORR, &COWW, &COWR, &CORW, &MP, &SB, &WW, &IRIW];
