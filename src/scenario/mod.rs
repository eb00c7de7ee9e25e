//! Scenarios.

pub mod stimulus;
