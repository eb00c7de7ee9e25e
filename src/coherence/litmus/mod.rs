//! Litmus cases.
