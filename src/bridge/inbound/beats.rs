//! The answer of an accelerator on UALink, as its beats come together (`ualink` §12, `bridge` §3.3).
//!
//! Modelled: one response with all beats, or one of each beat with its number in `OFFSET`, in any order, the last one with `LAST`; the
//! status is that of the worst beat. Left out: whether the lines are as many as were asked for, which is judged where they are used.
//!
//! A walk through a read of two lines: a response with offset 1 waits; the one with offset 0 and `LAST` ends the answer, which has line 0
//! and then line 1.

use super::ualink::upli_understood;
use crate::lines::BLOCK_LINES;
use crate::status::merged;
use scalepool_coherence::content::CacheLine;
use scalepool_protocols::ualink::code::Status;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::unpack::Transfer;

/// An answer that has not come yet, or not with all beats.
#[derive(Debug, Clone)]
pub struct UpliAnswer {
    is_read: bool,
    /// Lines that it brings.
    beats: usize,
    /// Those that have come by themselves.
    lines: [Option<CacheLine>; BLOCK_LINES],
    /// Beats that have come by themselves, with or without a line.
    count: usize,
    status: Status,
}

impl UpliAnswer {
    /// The answer to an access that reads so many lines, none for a write.
    pub fn new(is_read: bool, beats: usize) -> UpliAnswer {
        UpliAnswer { is_read, beats, lines: [None; BLOCK_LINES], count: 0, status: Status::OKAY }
    }

    /// Takes a response: status and lines if the answer is complete.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn take(&mut self, transfer: &Transfer) -> Result<Option<(Status, Vec<CacheLine>)>, &'static str> {
        let (status, lines) = upli_understood(self.is_read, transfer)?;
        let ControlField::Response(rsp) = &transfer.field else { return Err("no response") };
        let is_whole = !self.is_read || self.beats < 2 || rsp.len > 0;
        if is_whole && self.count == 0 {
            return Ok(Some((status, lines)));
        }
        if is_whole {
            return Err("all beats of a read of which some have come by themselves");
        }
        let line = self.lines.get_mut(usize::from(rsp.offset)).filter(|line| line.is_none());
        let Some(line) = line.filter(|_| usize::from(rsp.offset) < self.beats) else {
            return Err("a beat for the second time, or one that was not asked for");
        };
        *line = lines.first().copied().or(Some(CacheLine::of([0xff; 64])));
        self.count += 1;
        self.status = merged(self.status, status);
        if !rsp.last && self.count < self.beats {
            return Ok(None);
        }
        let lines = if self.status == Status::OKAY { self.lines.into_iter().flatten().collect() } else { Vec::new() };
        Ok(Some((self.status, lines)))
    }
}
