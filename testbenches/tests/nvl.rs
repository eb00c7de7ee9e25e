//! Conformance of NVLink, model profile NVL-M1 (basis: model): for every rule a test that obeys it (`<rule>_p`) and one that
//! breaks it (`<rule>_n`). One file an area of the rule table; `link_*` and `scenarios` are the link layer.

mod codes;
mod common;
mod crc;
mod golden;
mod layouts;
mod link_credits;
mod link_monitor;
mod link_numbers;
mod link_replay;
mod packets;
mod rates;
pub mod rig;
mod scenarios;
mod soak;
mod streams;
