//! Conformance of the CXL 256-byte flits, all three modes: for every rule a test that obeys it (`<rule>_p`) and one that
//! breaks it (`<rule>_n`). One file an area of the rule table.

mod checksums;
mod common;
mod control;
mod data;
mod encodings;
mod flits;
mod messages;
mod packing;
mod pbr;
mod slots;
