//! Conformance of link layer retry (`cxl-68b` section 7): rules CXL68-LLR, CXL68-LRS and CXL68-RRS, two tests each.
//!
//! `<rule>_p` obeys, `<rule>_n` breaks and is seen: by the end that receives, by the monitor beside the end that sends,
//! or, where the fault is in an end ([`wrong_end`]), by monitor, scoreboard or a link that does not come to rest.

pub mod bench;
mod halves;
mod llr;
mod lrs;
mod mutants;
mod pipeline;
mod rrs;
mod sheet;
mod solo;
mod watched;
mod wrong_end;
