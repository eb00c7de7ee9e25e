//! Error correction of memories: the codes of `memory §6`, the faults of cells that they meet, and the patrol that looks for them.
//!
//! Modelled: two codes of the controller, [SECDED](secded) over 64 bits and a [symbol code](symbol) over ten devices, bit by bit;
//! correction inside the die, which the controller does not see; faults of cells, in data and check bits alike; the
//! marks of lines that cannot be corrected; [upsets] as inputs. Left out: how faults come about, and devices of a preset: codes work on the logical
//! line of 64 bytes \[D c7\].
//!
//! A walk through one read: the cells give data and check bits ([`line::LineCells`]), with the flips that stand in them. The die
//! repairs what it can ([`line::LineEcc::behind_die`]); the controller computes the syndrome of each word and repairs, or says that it
//! cannot ([`line::LineEcc::decode`]). The store counts the outcome and marks a line that is lost as poisoned ([`store::EccStore`]).

pub mod line;
pub mod patrol;
pub mod secded;
pub mod store;
pub mod symbol;
pub mod upsets;

pub use line::{EccOutcome, EccScheme, LineCells, LineEcc, OnDieEcc};
pub use patrol::Patrol;
pub use store::{EccConfig, EccCounts, EccStore};
pub use upsets::{UpsetConfig, Upsets};
