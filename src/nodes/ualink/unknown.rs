//! Lines behind a bridge of which an originator does not know whether its write has reached them.
//!
//! Modelled: a write that a bridge has given up (status 8, `bridge` §7) is done or not, line by line, and until a line is read again either
//! is right. Where the originator had more than that write under way at the line, anything is right until then. Left out: the
//! bytes that are expected, which stand in the [`regions`](super::regions).
//!
//! A walk: a write of a line leaves for a bridge, and what the line held before is kept. The bridge answers status 8, so the line is unknown.
//! A read that leaves later finds the old bytes; they are expected from there on, and the line is known. Had a write of the whole line left
//! first, the line would be known by that.

use super::completer::global;
use super::open::UalOpenRequest;
use super::read::Read;
use super::traffic::UalTrafficOp;
use scalepool_memory::{LINE_BYTES, LineBytes};
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::ualink::code::ReqCmd;

/// A line as it is read: its bytes, and whether they are poisoned.
pub type ReadLine = (LineBytes, bool);

/// A request by its port and tag.
pub type RequestAt = (usize, u16);

/// What may be in a line beside what is expected.
#[derive(Debug, Clone)]
struct UnknownLine {
    /// What it held before the write; `None`: anything may be there.
    before: Option<ReadLine>,
    /// A read that was sent after this cycle tells what is there.
    since_cycle: u64,
}

/// What a line that was read is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineJudgement {
    /// What is expected, and nothing else.
    Known,
    /// It is as good as what is expected, and says nothing about what is read later.
    Accepted,
    /// It is what is expected from here on.
    Learned,
}

/// Unknown lines of an originator, by their addresses among the memories of all.
#[derive(Debug, Default)]
pub struct UnknownLines {
    /// What the lines of open writes to bridges held before.
    before: OrderedMap<RequestAt, Read>,
    /// Of those writes, lines that were unknown before: what they held is not what was expected.
    unknown_before: OrderedSet<(RequestAt, u64)>,
    lines: OrderedMap<u64, UnknownLine>,
    /// Open requests that were sent when it was not known yet that a line of theirs would be unknown.
    accepted: OrderedSet<RequestAt>,
}

/// Lines of a request.
fn lines_of(open: &UalOpenRequest) -> impl Iterator<Item = u64> + use<> {
    let first = open.first_line();
    (0..u64::from(open.beats())).map(move |beat| first + beat * LINE_BYTES)
}

/// Whether a command changes what memory holds.
pub fn writes(cmd: ReqCmd) -> bool {
    cmd.has_data() && cmd != ReqCmd::WriteMessage
}

impl UnknownLines {
    /// Whether every line is known, so that nothing has to be asked.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.accepted.is_empty()
    }

    /// A request that writes leaves for a bridge; its lines hold this before. Lines that it makes known: what was sent before may still find
    /// something else there, and is to be [accepted](Self::accept).
    #[must_use]
    pub fn sends(&mut self, at: RequestAt, op: &UalTrafficOp, before: Read, cycle: u64) -> Vec<u64> {
        let mut known = Vec::new();
        let start = global(op.dst, op.address);
        let (first, end) = (start / LINE_BYTES * LINE_BYTES, start + 4 * u64::from(op.dwords));
        for line in (0..u64::from(before.beats())).map(|beat| first + beat * LINE_BYTES) {
            if op.cmd == ReqCmd::WriteFull && start <= line && line + LINE_BYTES <= end {
                if self.lines.remove(&line).is_some() {
                    self.unknown_before.insert((at, line));
                    known.push(line);
                }
            } else if let Some(unknown) = self.lines.get_mut(&line) {
                *unknown = UnknownLine { before: None, since_cycle: cycle };
            }
        }
        self.before.insert(at, before);
        known
    }

    /// A request has ended.
    pub fn ended(&mut self, at: RequestAt) {
        self.before.remove(&at);
        self.unknown_before.retain(|(other, _)| *other != at);
        self.accepted.remove(&at);
    }

    /// A bridge has given a request up; `others` are those that are open beside it.
    pub fn given_up(
        &mut self,
        at: RequestAt,
        open: &UalOpenRequest,
        others: &[(RequestAt, UalOpenRequest)],
        cycle: u64,
    ) {
        let before = self.before.remove(&at);
        self.accepted.remove(&at);
        if !writes(open.cmd) {
            return;
        }
        let mut before = before.iter().flat_map(|read| read.lines(0));
        for line in lines_of(open) {
            let before = before.next();
            let mut at_line = others.iter().filter(|(_, other)| lines_of(other).any(|of| of == line)).peekable();
            let is_alone = at_line.clone().all(|(_, other)| !writes(other.cmd)) && !self.lines.contains_key(&line);
            self.accepted.extend(at_line.by_ref().map(|(at, _)| *at));
            let was_known = !self.unknown_before.remove(&(at, line));
            let before = before.filter(|_| is_alone && was_known);
            self.lines.insert(line, UnknownLine { before, since_cycle: cycle });
        }
    }

    /// A request of which a line comes as `is`, where `expected` is expected.
    pub fn judge(
        &mut self,
        at: RequestAt,
        open: &UalOpenRequest,
        line: u64,
        (is, expected): (&ReadLine, &ReadLine),
    ) -> LineJudgement {
        if self.accepted.contains(&at) {
            return LineJudgement::Accepted;
        }
        let Some(unknown) = self.lines.get(&line) else { return LineJudgement::Known };
        // What an atomic brings is a part of its line, which it has changed meanwhile.
        if open.since_cycle <= unknown.since_cycle || writes(open.cmd) {
            return LineJudgement::Accepted;
        }
        let judged = match &unknown.before {
            _ if is == expected => LineJudgement::Known,
            Some(before) if before != is => LineJudgement::Known,
            _ => LineJudgement::Learned,
        };
        self.lines.remove(&line);
        judged
    }

    /// What a line holds has been learned; these were sent before, when something else was expected.
    pub fn accept(&mut self, line: u64, others: &[(RequestAt, UalOpenRequest)]) {
        let at_line = others.iter().filter(|(_, other)| lines_of(other).any(|of| of == line));
        self.accepted.extend(at_line.map(|(at, _)| *at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: u64 = 0x40;
    const OLD: ReadLine = ([1; 64], false);
    const NEW: ReadLine = ([2; 64], false);
    const OTHER: ReadLine = ([3; 64], false);

    fn op(cmd: ReqCmd) -> UalTrafficOp {
        UalTrafficOp { dst: 0, cmd, metadata: 0, address: LINE, dwords: 16 }
    }

    fn open(cmd: ReqCmd, cycle: u64) -> UalOpenRequest {
        UalOpenRequest::new(&op(cmd), cycle, 1, 1)
    }

    /// A write of the line at tag 0 was given up in cycle 10.
    fn unknown(others: &[(RequestAt, UalOpenRequest)]) -> UnknownLines {
        let mut unknown = UnknownLines::default();
        assert!(unknown.sends((0, 0), &op(ReqCmd::WriteFull), vec![OLD].into(), 1).is_empty());
        unknown.given_up((0, 0), &open(ReqCmd::WriteFull, 1), others, 10);
        unknown
    }

    fn judge(unknown: &mut UnknownLines, tag: u16, cycle: u64, is: ReadLine) -> LineJudgement {
        unknown.judge((0, tag), &open(ReqCmd::Read, cycle), LINE, (&is, &NEW))
    }

    /// Old and new bytes are right, others are not; what was read first is all that is right from there on.
    #[test]
    fn a_read_finds_the_bytes_before_or_behind_a_write_that_was_given_up() {
        for (is, judged) in [(OLD, LineJudgement::Learned), (NEW, LineJudgement::Known), (OTHER, LineJudgement::Known)]
        {
            let mut unknown = unknown(&[]);
            assert_eq!(judge(&mut unknown, 1, 11, is), judged, "{is:?}");
            assert!(unknown.is_empty());
            assert_eq!(judge(&mut unknown, 1, 12, OLD), LineJudgement::Known);
        }
    }

    /// A read that was under way says nothing; one that found another write under way learns anything.
    #[test]
    fn what_was_under_way_makes_a_line_less_known() {
        let mut after_read = unknown(&[((0, 5), open(ReqCmd::Read, 9))]);
        assert_eq!(judge(&mut after_read, 5, 9, OTHER), LineJudgement::Accepted);
        after_read.ended((0, 5));
        assert_eq!(judge(&mut after_read, 6, 11, OTHER), LineJudgement::Known);
        let mut after_write = unknown(&[((0, 5), open(ReqCmd::Write, 9))]);
        assert_eq!(judge(&mut after_write, 6, 11, OTHER), LineJudgement::Learned);
        after_write.accept(LINE, &[((0, 7), open(ReqCmd::Read, 11))]);
        assert_eq!(judge(&mut after_write, 7, 11, OLD), LineJudgement::Accepted);
    }

    /// A write of the whole line that fails as well leaves what was there before the first one, of which nobody knows.
    #[test]
    fn two_writes_that_fail_one_after_the_other_leave_anything() {
        let mut twice = unknown(&[]);
        assert_eq!(twice.sends((0, 1), &op(ReqCmd::WriteFull), vec![NEW].into(), 12), [LINE]);
        twice.given_up((0, 1), &open(ReqCmd::WriteFull, 12), &[], 14);
        twice.ended((0, 1));
        assert_eq!(judge(&mut twice, 2, 15, OLD), LineJudgement::Learned);
        assert!(twice.is_empty() && twice.unknown_before.is_empty());
    }

    /// A write of all bytes makes a line known, one of some does not.
    #[test]
    fn a_write_of_the_whole_line_ends_what_is_unknown() {
        let mut whole = unknown(&[]);
        // A read that is under way has been sent before, and finds what is there.
        assert_eq!(whole.sends((0, 1), &op(ReqCmd::WriteFull), vec![OLD].into(), 12), [LINE]);
        whole.accept(LINE, &[((0, 9), open(ReqCmd::Read, 11))]);
        assert_eq!(judge(&mut whole, 9, 11, OTHER), LineJudgement::Accepted);
        whole.ended((0, 9));
        assert_eq!(judge(&mut whole, 2, 13, OLD), LineJudgement::Known);
        let mut part = unknown(&[]);
        assert!(part.sends((0, 1), &op(ReqCmd::Write), vec![OLD].into(), 12).is_empty());
        assert_eq!(judge(&mut part, 2, 12, OTHER), LineJudgement::Accepted);
        assert_eq!(judge(&mut part, 2, 13, OTHER), LineJudgement::Learned);
    }
}
