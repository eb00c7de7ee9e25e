//! What stands behind a buffer of pages: flash, or another memory.
//!
//! Modelled: pages that are read and pages that are written behind, each in the time of the media. Left out: bytes.
//!
//! A walk: a page is asked for under a token; the media is advanced; the token comes out with the time at which the whole page
//! has left the media. Nobody waits for a page that is written.

use super::{MemoryAccess, MemoryBackend, MemoryRequest};
use crate::flash::FlashArray;
use crate::owner_clock::OwnerClock;
use std::collections::VecDeque;

/// The media.
pub enum PageMedia {
    /// Dies of flash.
    Flash(FlashArray),
    /// Another memory, with what it has no room for, in order.
    Memory {
        /// It; a read has its token, a write none.
        backend: Box<dyn MemoryBackend<Option<u64>>>,
        /// What waits for its room.
        waiting: VecDeque<(MemoryRequest, Option<u64>)>,
    },
}

impl PageMedia {
    /// Reads a page at a time \[fs\].
    pub fn read(&mut self, now_fs: u64, page: u64, page_bytes: u64, token: u64) {
        match self {
            PageMedia::Flash(array) => array.read(now_fs, page, token),
            PageMedia::Memory { waiting, .. } => {
                waiting.push_back((request(page, page_bytes, MemoryAccess::Read), Some(token)));
            }
        }
    }

    /// Writes a page behind, from a time on \[fs\].
    pub fn write(&mut self, now_fs: u64, page: u64, page_bytes: u64) {
        match self {
            PageMedia::Flash(array) => array.program(now_fs, page),
            PageMedia::Memory { waiting, .. } => {
                waiting.push_back((request(page, page_bytes, MemoryAccess::Write), None));
            }
        }
    }

    /// Does what is due up to a cycle; tokens of pages that are there, with times that are not behind it \[fs\].
    pub fn advance(&mut self, cycle: u64, clock: OwnerClock) -> Vec<(u64, u64)> {
        match self {
            PageMedia::Flash(array) => {
                array.advance(clock.fs(cycle));
                array.take_finished()
            }
            PageMedia::Memory { backend, waiting } => {
                backend.advance(cycle);
                let ended: Vec<_> = std::iter::from_fn(|| backend.pop(cycle)).flatten().collect();
                while let Some((request, token)) = waiting.pop_front() {
                    if let Err(token) = backend.push(cycle, &request, token) {
                        waiting.push_front((request, token));
                        break;
                    }
                }
                ended.into_iter().map(|token| (token, clock.fs(cycle))).collect()
            }
        }
    }

    /// The first cycle behind this one at which it has to be advanced.
    pub fn wake_at(&self, cycle: u64, clock: OwnerClock) -> Option<u64> {
        match self {
            PageMedia::Flash(array) => array.next_event_fs().map(|fs| clock.cycle(fs).max(cycle + 1)),
            PageMedia::Memory { backend, waiting } => {
                let room = waiting.front().and_then(|(request, _)| backend.room_at(cycle, request));
                backend.wake_at(cycle).into_iter().chain(room.map(|room| room.max(cycle + 1))).min()
            }
        }
    }

    /// Whether nothing is left to do.
    pub fn is_idle(&self) -> bool {
        match self {
            PageMedia::Flash(array) => array.is_idle(),
            PageMedia::Memory { backend, waiting } => waiting.is_empty() && backend.is_idle(),
        }
    }
}

fn request(page: u64, page_bytes: u64, access: MemoryAccess) -> MemoryRequest {
    MemoryRequest { address: page * page_bytes, bytes: page_bytes, access }
}
