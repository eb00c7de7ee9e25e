//! Stimulus.
