//! Transmitter and receiver pairs.
