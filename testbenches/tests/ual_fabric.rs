//! UALink above the data link layer: the transaction layer, the switch, accelerators and pods.

mod conservation;
mod credits;
mod fields;
mod guarded;
mod order;
mod pods;
mod rig;
mod scenarios;
mod switch;
mod upli;
