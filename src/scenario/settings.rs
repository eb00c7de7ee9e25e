//! Keys that `--set key=value` may change, as they are listed: name, default, unit, range and text.
//!
//! A key stands for fields of a description, which declare all this; what is set is checked where the description is read.

use std::fmt::{self, Display};

/// What a key accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SettingRange {
    /// A whole number, both ends included.
    Int(u64, u64),
    /// A real number, both ends included.
    Real(f64, f64),
    /// One of these words.
    Words(&'static [&'static str]),
    /// A list, separated by commas; each element is read by the scenario.
    List(&'static str),
}

impl Display for SettingRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingRange::Int(low, high) => write!(f, "{low} to {high}"),
            SettingRange::Real(low, high) => write!(f, "{low} to {high}"),
            SettingRange::Words(words) => f.write_str(&words.join(", ")),
            SettingRange::List(of) => write!(f, "list of {of}"),
        }
    }
}

/// A switch.
pub const ON_OFF: SettingRange = SettingRange::Words(&["on", "off"]);

/// One key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SettingKey {
    /// Dotted name.
    pub name: &'static str,
    /// Value when it is not set.
    pub default: &'static str,
    /// Unit, `-` for none.
    pub unit: &'static str,
    /// Values it takes.
    pub range: SettingRange,
    /// What it is, with its source.
    pub doc: &'static str,
}

/// A setting that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("--set {key}: found `{found}`, expected {expected}")]
pub struct SettingError {
    /// The key.
    pub key: &'static str,
    /// The value given.
    pub found: String,
    /// The range.
    pub expected: String,
}

/// Elements of a list, without brackets, quotes and white space.
pub fn elements(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim().trim_start_matches('[').trim_end_matches(']');
    text.split([',', ';']).map(|e| e.trim().trim_matches(['"', '\''])).filter(|e| !e.is_empty())
}
