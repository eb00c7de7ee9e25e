//! What a failed run tells: the seed that repeats it, the broken rule, the states, the last messages of the line.

use super::lanes::Letter;
use super::rig::Who;
use super::tester::arrow;
use scalepool_coherence::content::LineAddr;
use scalepool_coherence::event::CoherenceEvent;
use std::fmt;

/// Messages that are remembered.
const REMEMBERED: usize = 1024;
/// Of them those of the line that are shown.
const SHOWN: usize = 24;

/// The last messages of a run.
#[derive(Debug, Default)]
pub(super) struct History {
    ring: Vec<(u64, Who, bool, usize, Letter)>,
    next: usize,
}

impl History {
    /// Remembers that `who` has taken or sent a message.
    pub fn push(&mut self, step: u64, who: Who, taken: bool, link: usize, letter: Letter) {
        let entry = (step, who, taken, link, letter);
        if self.ring.len() < REMEMBERED {
            self.ring.push(entry);
        } else {
            self.ring[self.next] = entry;
        }
        self.next = (self.next + 1) % REMEMBERED;
    }

    /// The last messages of a line, oldest first; of all lines without one.
    pub fn of(&self, line: Option<LineAddr>, names: &[String]) -> Vec<String> {
        let start = if self.ring.len() < REMEMBERED { 0 } else { self.next };
        let (newer, older) = self.ring.split_at(start);
        let all = older.iter().chain(newer).filter(|e| line.is_none() || e.4.line.is_none() || e.4.line == line);
        let mut last: Vec<_> = all.rev_shown();
        last.reverse();
        let text = |(step, who, taken, link, letter): &(u64, Who, bool, usize, Letter)| {
            let name = match who {
                Who::Leaf(n) => names.get(*n).map_or("leaf", String::as_str),
                Who::Hub => "hub",
            };
            let way = if *taken { "takes" } else { "sends" };
            let (class, data) = (letter.msg.class(), letter.msg.data());
            let data = data.map_or_else(String::new, |d| format!(" {d}"));
            format!("step {step}: {name} {way} {} ({} link {link}){data}", letter.msg.label(), arrow(class.dir()))
        };
        last.into_iter().map(text).collect()
    }
}

/// The last few of an iterator, newest first.
trait Shown<'a>: Iterator<Item = &'a (u64, Who, bool, usize, Letter)> + DoubleEndedIterator + Sized {
    fn rev_shown(self) -> Vec<Self::Item> {
        self.rev().take(SHOWN).collect()
    }
}

impl<'a, I: Iterator<Item = &'a (u64, Who, bool, usize, Letter)> + DoubleEndedIterator> Shown<'a> for I {}

/// A run that broke a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StressFailure {
    /// Seed that repeats the run.
    pub seed: u64,
    /// Steps until the fault.
    pub step: u64,
    /// The broken rule.
    pub event: CoherenceEvent,
    /// Copies of the line.
    pub states: Vec<String>,
    /// Its last messages.
    pub last: Vec<String>,
}

impl fmt::Display for StressFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}, step {}: {}", self.seed, self.step, self.event)?;
        writeln!(f, "copies: {}", self.states.join("; "))?;
        self.last.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl std::error::Error for StressFailure {}
