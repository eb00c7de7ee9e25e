//! Flit vectors of the 256-byte modes `cxl-256b`, `cxl-256b-lopt` and `cxl-256b-pbr`.
//!
//! Every case starts and ends with no data owed, so a file is a set of cases and one stream at once. A flit that a receiver
//! cannot use is sent once more behind it, as a retry does, so sequence numbers count on.

mod breaks;
pub(super) mod content;
pub(super) mod damage;
pub mod flits;
pub(super) mod send;
