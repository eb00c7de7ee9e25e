//! Dies behind channels: which operation runs when (`memory §9`, \[D\]).
//!
//! Modelled: a die does one operation at a time, those that wait in order of arrival; a page crosses its channel alone, at 1.2 GB/s,
//! pages that wait in the order in which they were ready; 256 programs of a die are followed by an erase. Left out: which block is
//! erased, and reads that suspend a program.
//!
//! A walk through one read: the die is free and reads; when it is done the page waits for the channel, while the die goes on with
//! its next operation; when the page has crossed, the read has ended. A program takes the channel first and the die after it.
//!
//! Invariant: operations of a die do not overlap, nor do pages on a channel.

use super::preset::FlashPreset;
use scalepool_ordered::OrderedMap;
use std::collections::VecDeque;

/// Programs of a die that an erase follows.
pub const PROGRAMS_PER_ERASE: u64 = 256;
/// Femtoseconds in which a channel carries so many bytes: 1.2 GB/s are 6 bytes in 5 ns.
const CHANNEL: (u64, u64) = (5_000_000, 6);

/// What an array counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlashCounts {
    /// Pages that dies have read.
    pub reads: u64,
    /// Pages that dies have programmed.
    pub programs: u64,
    /// Blocks that dies have erased.
    pub erases: u64,
}

/// What a die does, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DieOperation {
    Read(u64),
    Program,
    Erase,
}

/// What crosses a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Page {
    /// To the owner, the end of the read with this token.
    Out(u64),
    /// To a die.
    In(usize),
}

#[derive(Debug, Clone, Default)]
struct Die {
    waiting: VecDeque<DieOperation>,
    busy: Option<DieOperation>,
    programs: u64,
}

#[derive(Debug, Clone, Default)]
struct FlashChannel {
    waiting: VecDeque<Page>,
    busy: Option<Page>,
}

/// Who has something to do at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FlashPlace {
    Die(usize),
    Channel(usize),
}

/// The array. Page n lies in die n modulo all dies, behind channel n modulo all channels.
#[derive(Debug, Clone)]
pub struct FlashArray {
    preset: FlashPreset,
    dies: Vec<Die>,
    channels: Vec<FlashChannel>,
    /// Ends of what runs, by time and by number.
    events: OrderedMap<(u64, u64), FlashPlace>,
    next_event: u64,
    counts: FlashCounts,
    /// Tokens of reads that have ended, with their times \[fs\].
    finished: Vec<(u64, u64)>,
}

impl FlashArray {
    /// An array at rest.
    pub fn new(preset: &FlashPreset) -> FlashArray {
        let dies = (preset.channels * preset.dies_per_channel) as usize;
        FlashArray {
            preset: *preset,
            dies: vec![Die::default(); dies],
            channels: vec![FlashChannel::default(); preset.channels as usize],
            events: OrderedMap::new(),
            next_event: 0,
            counts: FlashCounts::default(),
            finished: Vec::new(),
        }
    }

    /// Time that a page takes on its channel, rounded up \[fs\].
    pub fn channel_fs(preset: &FlashPreset) -> u64 {
        let (fs, bytes) = CHANNEL;
        (preset.page_bytes * fs).div_ceil(bytes)
    }

    /// What it has counted.
    pub fn counts(&self) -> FlashCounts {
        self.counts
    }

    /// Whether nothing runs and nothing waits.
    pub fn is_idle(&self) -> bool {
        self.events.is_empty()
    }

    /// The die of a page and its channel.
    fn die(&self, page: u64) -> usize {
        (page % self.dies.len() as u64) as usize
    }

    fn channel(&self, die: usize) -> usize {
        die % self.channels.len()
    }

    /// Begins to read a page at a time \[fs\] up to which it was advanced.
    pub fn read(&mut self, now_fs: u64, page: u64, token: u64) {
        let die = self.die(page);
        self.dies[die].waiting.push_back(DieOperation::Read(token));
        self.start_die(die, now_fs);
    }

    /// Begins to program a page at a time \[fs\] up to which it was advanced.
    pub fn program(&mut self, now_fs: u64, page: u64) {
        let die = self.die(page);
        let channel = self.channel(die);
        self.channels[channel].waiting.push_back(Page::In(die));
        self.start_channel(channel, now_fs);
    }

    /// Ends what has ended up to a time \[fs\], in the order of ends.
    pub fn advance(&mut self, now_fs: u64) {
        while let Some((&key, &place)) = self.events.first_key_value()
            && key.0 <= now_fs
        {
            self.events.remove(&key);
            let (at, _) = key;
            match place {
                FlashPlace::Die(die) => self.end_die(die, at),
                FlashPlace::Channel(channel) => self.end_channel(channel, at),
            }
        }
    }

    /// Tokens of reads that have ended since the last call, with their times \[fs\].
    pub fn take_finished(&mut self) -> Vec<(u64, u64)> {
        std::mem::take(&mut self.finished)
    }

    /// The time of the next end \[fs\].
    pub fn next_event_fs(&self) -> Option<u64> {
        self.events.first_key_value().map(|((at, _), _)| *at)
    }

    fn at(&mut self, time: u64, place: FlashPlace) {
        self.events.insert((time, self.next_event), place);
        self.next_event += 1;
    }

    fn start_die(&mut self, n: usize, now: u64) {
        let die = &mut self.dies[n];
        if die.busy.is_some() {
            return;
        }
        die.busy = die.waiting.pop_front();
        let Some(operation) = die.busy else { return };
        let (time, count) = match operation {
            DieOperation::Read(_) => (self.preset.read_fs, &mut self.counts.reads),
            DieOperation::Program => (self.preset.program_fs, &mut self.counts.programs),
            DieOperation::Erase => (self.preset.erase_fs, &mut self.counts.erases),
        };
        *count += 1;
        self.at(now + time, FlashPlace::Die(n));
    }

    fn end_die(&mut self, n: usize, now: u64) {
        let die = &mut self.dies[n];
        match die.busy.take() {
            Some(DieOperation::Read(token)) => {
                let channel = self.channel(n);
                self.channels[channel].waiting.push_back(Page::Out(token));
                self.start_channel(channel, now);
            }
            Some(DieOperation::Program) => {
                die.programs += 1;
                if die.programs.is_multiple_of(PROGRAMS_PER_ERASE) {
                    die.waiting.push_front(DieOperation::Erase);
                }
            }
            Some(DieOperation::Erase) | None => {}
        }
        self.start_die(n, now);
    }

    fn start_channel(&mut self, n: usize, now: u64) {
        let channel = &mut self.channels[n];
        if channel.busy.is_some() {
            return;
        }
        channel.busy = channel.waiting.pop_front();
        if channel.busy.is_some() {
            self.at(now + Self::channel_fs(&self.preset), FlashPlace::Channel(n));
        }
    }

    fn end_channel(&mut self, n: usize, now: u64) {
        match self.channels[n].busy.take() {
            Some(Page::Out(token)) => self.finished.push((token, now)),
            Some(Page::In(die)) => {
                self.dies[die].waiting.push_back(DieOperation::Program);
                self.start_die(die, now);
            }
            None => {}
        }
        self.start_channel(n, now);
    }
}
