//! Frames of tier 2 that leave and come while the system runs: when, and what a source knows of it.
//!
//! Modelled: a list of times, the same for all accelerators of a fabric, as a fabric manager tells them. A removal is managed: pages move
//! away first, and what stands behind the frames may leave when that is over; or it is a surprise: what the frames held is lost at once.
//! Left out: who tells it, and its messages. A walk: frames 2 and 3 are lost at cycle 9,000; a read of a page in frame 2 ends with an
//! error from then on, which is what a source expects until the frame is there again.

use std::collections::VecDeque;
use std::ops::Range;

/// What happens to frames of tier 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameChange {
    /// Pages move away.
    Remove,
    /// They are gone, with what they held.
    Lose,
    /// They are there.
    Insert,
}

/// What happens to frames, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedFrames {
    /// The cycle of the accelerators' clock in which it happens.
    pub at_cycle: u64,
    /// Whether they leave, are lost, or come.
    pub change: FrameChange,
    /// Frames of tier 2 of each manager.
    pub frames: Range<u32>,
}

/// All that happens to frames.
#[derive(Debug, Clone, Default)]
pub struct FrameSchedule {
    /// Not done yet, the earliest first.
    due: VecDeque<TimedFrames>,
    /// Frames whose bytes are lost now.
    lost: Vec<Range<u32>>,
}

impl FrameSchedule {
    /// These changes, in whatever order they stand.
    pub fn new(mut changes: Vec<TimedFrames>) -> FrameSchedule {
        scalepool_ordered::sort_by_key(&mut changes, |change| change.at_cycle);
        FrameSchedule { due: changes.into(), lost: Vec::new() }
    }

    /// Frames that come before they have left, so that they are not there at first.
    pub fn absent(&self) -> Vec<Range<u32>> {
        let is_first = |n: usize, change: &TimedFrames| {
            change.change == FrameChange::Insert
                && !self.due.iter().take(n).any(|before| is_met(&before.frames, &change.frames))
        };
        self.due
            .iter()
            .enumerate()
            .filter(|(n, change)| is_first(*n, change))
            .map(|(_, one)| one.frames.clone())
            .collect()
    }

    /// What is due by now.
    pub fn next(&mut self, cycle: u64) -> Option<TimedFrames> {
        self.due.front().filter(|first| first.at_cycle <= cycle)?;
        let change = self.due.pop_front()?;
        match change.change {
            FrameChange::Lose => self.lost.push(change.frames.clone()),
            FrameChange::Insert => self.lost.retain(|lost| !is_met(lost, &change.frames)),
            FrameChange::Remove => (),
        }
        Some(change)
    }

    /// When the next one is due.
    pub fn due_at(&self) -> Option<u64> {
        self.due.front().map(|first| first.at_cycle)
    }

    /// Whether what a frame held is lost, and it is not there again.
    pub fn is_lost(&self, frame: u32) -> bool {
        self.lost.iter().any(|lost| lost.contains(&frame))
    }

    /// Forgets what would still happen.
    pub fn end(&mut self) {
        self.due.clear();
    }

    /// What is wrong with changes of so many frames: what leaves must be there, and what comes must not; with frames for `needed` pages left
    /// at any time.
    ///
    /// # Errors
    /// What was found and expected.
    pub fn check(&self, frames: u32, spare: u32, needed: u32) -> Result<(), String> {
        let absent = self.absent();
        let mut there: Vec<bool> =
            (0..frames).map(|frame| !absent.iter().any(|absent| absent.contains(&frame))).collect();
        let enough = |there: &[bool], when: &str| {
            let left = spare + there.iter().filter(|is_there| **is_there).count() as u32;
            let text = || format!("found {left} frames {when}, expected {needed}, in which all pages can lie and move");
            (left >= needed).then_some(()).ok_or_else(text)
        };
        enough(&there, "at first")?;
        for TimedFrames { at_cycle, change, frames: own } in &self.due {
            let wanted = *change != FrameChange::Insert;
            let when = format!("from cycle {at_cycle} on");
            for frame in own.clone() {
                match there.get_mut(frame as usize) {
                    Some(is_there) if *is_there == wanted => *is_there = !wanted,
                    Some(_) => {
                        return Err(format!(
                            "found {change:?} of frame {frame} {when}, expected the other one before it"
                        ));
                    }
                    None => return Err(format!("found frame {frame}, expected one of {frames} in tier 2")),
                }
            }
            enough(&there, &when)?;
        }
        Ok(())
    }
}

fn is_met(a: &Range<u32>, b: &Range<u32>) -> bool {
    a.start < b.end && b.start < a.end
}
