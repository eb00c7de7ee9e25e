//! What passed a wire, kept for somebody who looks later.
//!
//! Modelled: nothing. Units are kept as they pass, behind all hooks of their wire, until they are taken; a bounded number
//! of them, so that nobody who forgets them fills the memory: those that find no room are counted and gone.

use std::collections::VecDeque;

/// Units that may wait for each wire.
pub const MAX_SAMPLES: usize = 1 << 16;

/// A unit that passed a wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireSample {
    /// When, in the time of the simulation; 0 where there is none.
    pub t_fs: u64,
    /// Its bytes, byte 0 first.
    pub unit: Vec<u8>,
}

/// The units of one wire, oldest first.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    waiting: VecDeque<WireSample>,
    lost: u64,
}

impl Samples {
    /// Keeps a unit, if there is room.
    pub(super) fn keep(&mut self, sample: WireSample) {
        if self.waiting.len() < MAX_SAMPLES {
            self.waiting.push_back(sample);
        } else {
            self.lost += 1;
        }
    }

    /// The oldest one.
    pub fn first(&self) -> Option<&WireSample> {
        self.waiting.front()
    }

    /// Takes the oldest one.
    pub fn take(&mut self) -> Option<WireSample> {
        self.waiting.pop_front()
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Those that found no room.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}
