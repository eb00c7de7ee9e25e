//! Conformance of NVLink, model profile NVL-M1 (basis: model): for every rule a test that obeys it (`<rule>_p`) and one that
//! breaks it (`<rule>_n`). One file an area of the rule table.
#![forbid(unsafe_code)]

mod nvl {
    mod codes;
    mod common;
    mod crc;
    mod layouts;
    mod packets;
    mod streams;
}
