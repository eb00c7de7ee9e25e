//! Conformance of the CXL.io link layers over time: framing and replay on 68B units, TLP bytes and DLLPs in 256B flits,
//! credits and order on both. For every rule a test that obeys it (`<rule>_p`) and one that breaks it (`<rule>_n`); the
//! tests of chapter 14; then noise.

mod c14;
mod credits;
mod flits;
mod framing;
mod order;
mod rig;
mod soak;
