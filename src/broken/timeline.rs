//! A case as a few lines of text.

use super::BrokenCase;
use scalepool_inspect::told::time_ns;
use scalepool_protocols::wire::Violation;
use std::fmt::Write;

/// Most steps of a case that are shown.
pub(super) const MOST_STEPS: usize = 6;

/// Most characters of what is found that a timeline shows.
const MOST_FOUND: usize = 300;

/// What is found of a rule that no place in a unit breaks.
pub(super) fn told(Violation { rule, found, expected, text, .. }: &Violation) -> String {
    format!("{rule}: found {found}, expected {expected} ({text})")
}

/// A text up to a number of characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most).chain(" ..".chars()).collect() }
}

/// What passes at one time and place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseStep {
    /// When \[fs\].
    pub t_fs: u64,
    /// Where: the direction of a link, or the channel of a memory.
    pub place: String,
    /// What passes or is done there, in words.
    pub said: String,
}

impl BrokenCase {
    /// The steps, a line each, and behind them what is found; indented by two blanks.
    pub fn timeline(&self) -> String {
        let times: Vec<String> = self.steps.iter().map(|step| time_ns(step.t_fs)).collect();
        // Zeros that all of them end in say nothing.
        let zeros = times.iter().map(|time| time.len() - time.trim_end_matches('0').len()).min().unwrap_or(0);
        let times: Vec<&str> = times.iter().map(|time| time[..time.len() - zeros].trim_end_matches('.')).collect();
        let wide = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
        let time_width = wide(&mut times.iter().map(|time| time.len()));
        let place_width = wide(&mut self.steps.iter().map(|step| step.place.len()));
        let mut text = String::new();
        for (time, CaseStep { place, said, .. }) in times.iter().zip(&self.steps) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {time:>time_width$} ns  {place:place_width$}  {said}");
        }
        let _ = writeln!(text, "  broken: {}", cut(&self.found, MOST_FOUND));
        text
    }
}
