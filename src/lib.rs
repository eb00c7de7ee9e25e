//! `scalepool`: a bit-accurate, cycle-approximate model of CXL-over-XLink fabrics for RTL co-verification.
//!
//! Each layer is a crate, in the folder of its name under `src/`; this one gives them one name to import. The dependencies
//! of a layer are the order, lowest first: `scalepool_protocols` (codecs), [`ordered`], [`arbiter`], [`kernel`], [`forms`], [`grammar`], [`trace`],
//! [`link`], [`memory`], [`endpoint`], [`coherence`], [`transactions`], [`inspect`], [`fabric`], [`nodes`], [`bridge`], [`proof`], [`conversion`],
//! [`system`], [`scenario`], [`golden`], [`broken`], [`export`]; above them all stand the command line and the C functions (`scalepool_cli`, `scalepool_capi`).
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub use scalepool_arbiter as arbiter;
pub use scalepool_bridge as bridge;
pub use scalepool_broken as broken;
pub use scalepool_coherence as coherence;
pub use scalepool_conversion as conversion;
pub use scalepool_endpoint as endpoint;
pub use scalepool_export as export;
pub use scalepool_fabric as fabric;
pub use scalepool_forms as forms;
pub use scalepool_golden as golden;
pub use scalepool_grammar as grammar;
pub use scalepool_inspect as inspect;
pub use scalepool_kernel as kernel;
pub use scalepool_link as link;
pub use scalepool_memory as memory;
pub use scalepool_nodes as nodes;
pub use scalepool_ordered as ordered;
pub use scalepool_proof as proof;
pub use scalepool_scenario as scenario;
pub use scalepool_system as system;
pub use scalepool_trace as trace;
pub use scalepool_transactions as transactions;
