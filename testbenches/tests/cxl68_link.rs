//! Conformance of the CXL 68-byte link layer over time: initialisation, credits, protocol IDs, viral, poison, and what
//! travels in between. For every rule a test that obeys it (`<rule>_p`) and one that breaks it (`<rule>_n`). Retry has a
//! suite of its own, and so has the codec.
#![forbid(unsafe_code)]

mod cxl68_link {
    mod control;
    mod credits;
    mod ids;
    mod init;
    mod messages;
    // Each suite over a link uses a part of these two.
    #[allow(dead_code)]
    pub mod rig;
    #[allow(dead_code)]
    pub mod units;
    mod viral;
}
