//! Conformance of CXL.io endpoints: requests and completions, configuration space, power management messages. For every
//! rule a test that obeys it (`<rule>_p`) and one that breaks it (`<rule>_n`).

mod c14;
mod config;
mod pm;
mod register_model;
mod registers;
mod rig;
mod scenario;
mod transactions;
