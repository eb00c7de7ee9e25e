//! The UPLI cycle by cycle, and protected transactions: for every rule a test that obeys it (`<rule>_p`) and one that breaks
//! it (`<rule>_n`).

mod convert;
mod failures;
mod order;
mod rig;
mod security;
mod transfers;
