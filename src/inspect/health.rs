//! How the figures of a watched end went over time, as signals of a wave.
//!
//! Modelled: counts, levels, states by name, credits and messages of each channel. Left out: the time in each state, which the
//! states themselves show.
//!
//! A walk through one unit: behind it the figures of the end are compared with those before; each that is another one is kept
//! with the time of the unit. A figure that shows up later, such as that of a channel, is a signal from then on.

use scalepool_link::health::{FigureShape, HealthFigure, HealthStates, HealthValue, LinkHealth, figures, states};
use scalepool_link::protocol::LinkProtocol;
use scalepool_protocols::wire::CodeTable;
use scalepool_trace::FigureSignal;

/// Bits of a figure that counts or is a level: as a viewer shows them, counts wrap.
const FIGURE_BITS: u32 = 32;

/// A change of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HealthChange {
    /// When \[fs\].
    pub t_fs: u64,
    /// Position in [`HealthHistory::signals`].
    pub signal: usize,
    /// The new value; of a state its code.
    pub value: u64,
}

/// How the figures of one end went.
#[derive(Debug, Clone)]
pub struct HealthHistory {
    states: &'static HealthStates,
    signals: Vec<FigureSignal>,
    now: Vec<u64>,
    changes: Vec<HealthChange>,
}

impl HealthHistory {
    /// Nothing has happened yet.
    pub(super) fn new(protocol: LinkProtocol) -> HealthHistory {
        HealthHistory { states: states::of(protocol), signals: Vec::new(), now: Vec::new(), changes: Vec::new() }
    }

    /// The figures as signals.
    pub fn signals(&self) -> &[FigureSignal] {
        &self.signals
    }

    /// All changes in the order of time.
    pub fn changes(&self) -> &[HealthChange] {
        &self.changes
    }

    /// The figures at a time.
    pub(super) fn add(&mut self, t_fs: u64, health: &LinkHealth) {
        for (figure, value) in health.iter().filter(|(figure, _)| figure.shape != FigureShape::ByState) {
            match value {
                HealthValue::Number(value) => self.set(t_fs, figure.name, None, *value),
                HealthValue::Name(name) => {
                    let codes = self.codes(figure);
                    let code = codes.1.codes.iter().find(|code| code.name == *name).map_or(0, |code| code.value as u64);
                    self.set(t_fs, figure.name, Some(codes), code);
                }
                HealthValue::Each(each) => {
                    for (channel, value) in each {
                        self.set(t_fs, &format!("{}.{channel}", figure.name), None, *value);
                    }
                }
            }
        }
    }

    fn codes(&self, figure: &HealthFigure) -> (&'static str, &'static CodeTable) {
        if figure == &figures::LINK_STATE { self.states.link_codes } else { self.states.retry_codes }
    }

    fn set(&mut self, t_fs: u64, name: &str, names: Option<(&'static str, &'static CodeTable)>, value: u64) {
        let known = self.signals.iter().position(|signal| signal.name == name);
        if let Some(signal) = known {
            if self.now[signal] != value {
                self.now[signal] = value;
                self.changes.push(HealthChange { t_fs, signal, value });
            }
            return;
        }
        self.signals.push(FigureSignal { name: name.to_owned(), width: FIGURE_BITS, names });
        self.now.push(value);
        self.changes.push(HealthChange { t_fs, signal: self.signals.len() - 1, value });
    }
}
