//! Records to values at the end of each instant: what every wave format has in common.
//!
//! At the start of the window a file gets all current values; from then on a variable when it differs from what stands there,
//! at most once a time, in order of declaration. So a file depends on the values at the end of each instant alone; of several
//! events in one instant the last one is seen, and `seq` tells how many there were.

use std::io;

use super::filter::When;
use super::highlights::{Highlights, Watch};
use super::signals::{Signals, VarId};
use super::state::SignalValues;
use super::{Places, Record, TraceFilter};

/// A file of some format.
pub(super) trait Target {
    /// The window begins: all values. Called once, before any change.
    fn begin(&mut self, t_fs: u64, state: &SignalValues) -> io::Result<()>;

    /// These variables have changed, in order of declaration; there is at least one.
    fn changes(&mut self, t_fs: u64, state: &SignalValues, vars: &[VarId]) -> io::Result<()>;
}

/// Collects the changes of an instant and writes them to a file.
#[derive(Debug)]
pub(super) struct Instants<T> {
    target: T,
    filter: TraceFilter,
    signals: Signals,
    state: SignalValues,
    watch: Watch,
    changes: Vec<VarId>,
    /// Time of the changes that are collected now.
    now_fs: u64,
    begun: bool,
}

impl<T: Target> Instants<T> {
    pub fn new(target: T, signals: Signals, filter: TraceFilter) -> Instants<T> {
        let (state, watch) = (SignalValues::new(signals.vars()), Watch::new(&signals));
        Instants { target, filter, signals, state, watch, changes: Vec::new(), now_fs: 0, begun: false }
    }

    /// The file.
    pub fn target(&mut self) -> &mut T {
        &mut self.target
    }

    /// What the variables have shown so far.
    pub fn highlights(&self) -> &Highlights {
        self.watch.highlights()
    }

    /// Takes the next record.
    pub fn record(&mut self, places: &Places, r: &Record) -> io::Result<()> {
        let t_fs = r.at.t_fs;
        if t_fs < self.now_fs {
            let text = format!("wave: found a record of {t_fs} fs, expected none before {} fs", self.now_fs);
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        if t_fs > self.now_fs {
            self.flush_changes()?;
            self.now_fs = t_fs;
        }
        match self.filter.when(t_fs) {
            When::After => Ok(()),
            When::Before => self.signals.apply(&mut self.state, places, r),
            When::Within => {
                self.begin_window()?;
                self.signals.apply(&mut self.state, places, r)
            }
        }
    }

    /// The last instant is over.
    pub fn finish(&mut self) -> io::Result<()> {
        self.flush_changes()?;
        self.begin_window()
    }

    /// Writes the changes collected so far.
    fn flush_changes(&mut self) -> io::Result<()> {
        if self.filter.when(self.now_fs) != When::Within {
            return Ok(());
        }
        self.state.take_changes(&mut self.changes);
        if self.changes.is_empty() {
            return Ok(());
        }
        self.watch.changed(&self.state, &self.changes, Some(self.now_fs));
        self.target.changes(self.now_fs, &self.state, &self.changes)
    }

    /// Writes all values, once.
    fn begin_window(&mut self) -> io::Result<()> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        // What changed before is part of it.
        self.state.take_changes(&mut self.changes);
        self.watch.changed(&self.state, &self.changes, None);
        self.target.begin(self.filter.from_fs(), &self.state)
    }
}
