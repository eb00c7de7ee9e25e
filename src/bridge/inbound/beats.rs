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

#[cfg(test)]
mod tests {
    use super::*;
    use scalepool_protocols::ualink::code::RdWr;
    use scalepool_protocols::ualink::field::TlRsp;
    use scalepool_protocols::ualink::pack::with_data;

    /// A response with these beats, each filled with its byte.
    fn response(offset: u8, last: bool, status: Status, bytes: &[u8]) -> Transfer {
        let beats: Vec<[u8; 64]> = bytes.iter().map(|byte| [*byte; 64]).collect();
        let len = beats.len() as u8 - 1;
        let rsp = TlRsp { rdwr: RdWr::Read, offset, last, len, status, ..TlRsp::default() };
        with_data(ControlField::Response(rsp), &beats, None)
    }

    fn lines(bytes: &[u8]) -> Vec<CacheLine> {
        bytes.iter().map(|byte| CacheLine::of([*byte; 64])).collect()
    }

    #[test]
    fn beats_come_at_once_or_one_by_one() {
        let mut whole = UpliAnswer::new(true, 3);
        assert_eq!(
            whole.take(&response(0, true, Status::OKAY, &[1, 2, 3])),
            Ok(Some((Status::OKAY, lines(&[1, 2, 3]))))
        );
        let mut single = UpliAnswer::new(true, 3);
        assert_eq!(single.take(&response(1, false, Status::OKAY, &[2])), Ok(None));
        assert_eq!(single.take(&response(2, false, Status::OKAY, &[3])), Ok(None));
        let poisoned = Transfer { poisoned: 1, ..response(0, true, Status::OKAY, &[1]) };
        let Ok(Some((status, came))) = single.take(&poisoned) else { panic!("the answer is complete") };
        assert_eq!(status, Status::OKAY);
        assert_eq!(
            came.iter().map(|line| (line.bytes[0], line.poison)).collect::<Vec<_>>(),
            [(1, true), (2, false), (3, false)]
        );
    }

    #[test]
    fn the_worst_beat_says_the_status() {
        let mut answer = UpliAnswer::new(true, 2);
        assert_eq!(answer.take(&response(1, false, Status::TargetAbort, &[0xff])), Ok(None));
        assert_eq!(answer.take(&response(0, true, Status::OKAY, &[1])), Ok(Some((Status::TargetAbort, Vec::new()))));
    }

    #[test]
    fn beats_that_do_not_fit_are_told() {
        let mut twice = UpliAnswer::new(true, 3);
        assert_eq!(twice.take(&response(1, false, Status::OKAY, &[2])), Ok(None));
        assert!(twice.take(&response(1, false, Status::OKAY, &[2])).is_err());
        assert!(UpliAnswer::new(true, 2).take(&response(2, false, Status::OKAY, &[2])).is_err());
        let mut mixed = UpliAnswer::new(true, 2);
        assert_eq!(mixed.take(&response(1, false, Status::OKAY, &[2])), Ok(None));
        assert!(mixed.take(&response(0, true, Status::OKAY, &[1, 2])).is_err());
        // Too few of them are judged where they are used.
        let short = UpliAnswer::new(true, 2).take(&response(0, true, Status::OKAY, &[1]));
        assert_eq!(short, Ok(Some((Status::OKAY, lines(&[1])))));
    }
}
