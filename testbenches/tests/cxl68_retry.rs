//! Conformance of link layer retry (`cxl-68b` section 7): rules CXL68-LLR, CXL68-LRS and CXL68-RRS, two tests each.
//!
//! `<rule>_p` obeys, `<rule>_n` breaks and is seen: by the end that receives, by the monitor beside the end that sends,
//! or, for a deliberate fault of our own model, by monitor, scoreboard or a link that does not come to rest.

#[path = "cxl68_retry/bench.rs"]
mod bench;
#[path = "cxl68_retry/llr.rs"]
mod llr;
#[path = "cxl68_retry/lrs.rs"]
mod lrs;
#[path = "cxl68_retry/mutants.rs"]
mod mutants;
#[path = "cxl68_retry/pipeline.rs"]
mod pipeline;
#[path = "cxl68_retry/rrs.rs"]
mod rrs;
#[path = "cxl68_retry/sheet.rs"]
mod sheet;
#[path = "cxl68_retry/solo.rs"]
mod solo;
#[path = "cxl68_retry/watched.rs"]
mod watched;
