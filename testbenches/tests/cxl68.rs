//! Conformance of the CXL 68-byte link: for every rule a test that obeys it (`<rule>_p`) and one that breaks it
//! (`<rule>_n`); further cases are `_p2`, `_n2`. One file an area of the rule table.

mod bounds;
mod common;
mod control;
mod crc;
mod credits;
mod encodings;
mod framing;
mod header;
mod lanes;
mod messages;
mod packing;
mod slots;
mod streams;
