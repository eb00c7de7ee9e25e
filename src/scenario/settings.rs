//! What `--set key=value` may change: one table a scenario, with default, unit, range and text.
//!
//! A key is declared once; `describe` prints the table, the builder reads typed values from it. Ranges are checked when a
//! value is set, so a builder never meets a value outside.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};

/// What a key accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// A whole number, both ends included.
    Int(u64, u64),
    /// A real number, both ends included.
    Real(f64, f64),
    /// One of these words.
    Words(&'static [&'static str]),
    /// A list, separated by commas; each element is read by the scenario.
    List(&'static str),
}

impl Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Range::Int(low, high) => write!(f, "{low} to {high}"),
            Range::Real(low, high) => write!(f, "{low} to {high}"),
            Range::Words(words) => f.write_str(&words.join(", ")),
            Range::List(of) => write!(f, "list of {of}"),
        }
    }
}

/// A switch.
pub const ON_OFF: Range = Range::Words(&["on", "off"]);

/// One key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// Dotted name.
    pub name: &'static str,
    /// Value when it is not set.
    pub default: &'static str,
    /// Unit, `-` for none.
    pub unit: &'static str,
    /// Values it takes.
    pub range: Range,
    /// What it is, with its source.
    pub doc: &'static str,
}

/// A setting that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// Not `key=value`.
    #[error("--set `{found}`: expected key=value")]
    Form {
        /// What was given.
        found: String,
    },
    /// No such key.
    #[error("--set `{found}`: no such key; expected one of: {expected}")]
    Unknown {
        /// The key given.
        found: String,
        /// All keys.
        expected: String,
    },
    /// A value outside the range.
    #[error("--set {key}: found `{found}`, expected {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// The value given.
        found: String,
        /// The range.
        expected: String,
    },
    /// Values that do not go together.
    #[error("--set {key}: {text}")]
    Together {
        /// The key that has to change.
        key: &'static str,
        /// Why.
        text: String,
    },
}

/// The values of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    keys: &'static [Key],
    values: BTreeMap<&'static str, String>,
    /// Keys that were set, whatever to.
    given: BTreeSet<&'static str>,
}

impl Settings {
    /// All defaults.
    pub fn new(keys: &'static [Key]) -> Settings {
        let values = keys.iter().map(|k| (k.name, k.default.to_owned())).collect();
        Settings { keys, values, given: BTreeSet::new() }
    }

    /// Takes `key=value`.
    ///
    /// # Errors
    /// No such key, or a value outside its range.
    pub fn set(&mut self, text: &str) -> Result<(), SettingError> {
        let Some((name, value)) = text.split_once('=') else {
            return Err(SettingError::Form { found: text.to_owned() });
        };
        let (name, value) = (name.trim(), value.trim());
        let Some(key) = self.keys.iter().find(|k| k.name == name) else {
            let expected = self.keys.iter().map(|k| k.name).collect::<Vec<_>>().join(", ");
            return Err(SettingError::Unknown { found: name.to_owned(), expected });
        };
        let fits = match key.range {
            Range::Int(low, high) => parse_int(value).is_some_and(|n| (low..=high).contains(&n)),
            Range::Real(low, high) => value.parse::<f64>().is_ok_and(|x| x >= low && x <= high),
            Range::Words(words) => words.contains(&value),
            Range::List(_) => true,
        };
        if !fits {
            return Err(self.refuse(key.name, value));
        }
        self.values.insert(key.name, value.to_owned());
        self.given.insert(key.name);
        Ok(())
    }

    /// Another default for a declared key, which counts where the key was not set: part of a preset.
    pub fn default_to(&mut self, name: &str, value: impl Display) {
        let name = self.key(name).name;
        if !self.given.contains(name) {
            self.values.insert(name, value.to_string());
        }
    }

    /// An error about a value of a key.
    pub fn refuse(&self, name: &str, found: impl Display) -> SettingError {
        let key = self.key(name);
        let expected = match key.unit {
            "-" => key.range.to_string(),
            unit => format!("{} [{unit}]", key.range),
        };
        SettingError::Value { key: key.name, found: found.to_string(), expected }
    }

    fn key(&self, name: &str) -> &'static Key {
        self.keys.iter().find(|k| k.name == name).unwrap_or_else(|| panic!("`{name}` is not a key of this scenario"))
    }

    fn text(&self, name: &str) -> &str {
        self.values.get(name).map_or(self.key(name).default, String::as_str)
    }

    /// A whole number of a declared key; the range was checked when it was set.
    pub fn int(&self, name: &str) -> u64 {
        parse_int(self.text(name)).unwrap_or_else(|| panic!("`{name}` is declared as a whole number"))
    }

    /// A real number of a declared key.
    pub fn real(&self, name: &str) -> f64 {
        self.text(name).parse().unwrap_or_else(|_| panic!("`{name}` is declared as a real number"))
    }

    /// A word of a declared key.
    pub fn word(&self, name: &str) -> &str {
        self.text(name)
    }

    /// Whether a declared key says `on`.
    pub fn is_on(&self, name: &str) -> bool {
        self.text(name) == "on"
    }

    /// Elements of a list, without brackets, quotes and white space.
    pub fn list(&self, name: &str) -> impl Iterator<Item = &str> {
        elements(self.text(name))
    }

    /// All keys with their values, in order of their names: what the hash of a run covers.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.values.iter().map(|(k, v)| (*k, v.as_str()))
    }
}

/// Elements of a list, without brackets, quotes and white space.
pub fn elements(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim().trim_start_matches('[').trim_end_matches(']');
    text.split([',', ';']).map(|e| e.trim().trim_matches(['"', '\''])).filter(|e| !e.is_empty())
}

/// Decimal, or hexadecimal with `0x`; `_` separates digits; `k`, `m`, `g` are powers of 1024.
fn parse_int(text: &str) -> Option<u64> {
    let text = text.replace('_', "");
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok();
    }
    let (digits, shift) = match text.to_ascii_lowercase().as_bytes().last()? {
        b'k' => (&text[..text.len() - 1], 10),
        b'm' => (&text[..text.len() - 1], 20),
        b'g' => (&text[..text.len() - 1], 30),
        _ => (text.as_str(), 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Setting of all links: when a run is over because its link cannot work.
pub const GIVE_UP: Key = Key {
    name: "link.give_up",
    default: "64",
    unit: "tries",
    range: Range::Int(1, 1 << 20),
    doc: "link trainings and replays in a row, without a good payload unit, after which the run ends (SIM-LNK-01); for UALink, each replay limit of discarded flits counts as one",
};

#[cfg(test)]
mod tests {
    use super::*;

    static KEYS: &[Key] = &[
        Key { name: "a.n", default: "4", unit: "lines", range: Range::Int(1, 1 << 20), doc: "" },
        Key { name: "a.w", default: "on", unit: "-", range: Range::Words(&["on", "off"]), doc: "" },
        Key { name: "a.l", default: "", unit: "-", range: Range::List("faults"), doc: "" },
    ];

    #[test]
    fn values_and_refusals() {
        let mut s = Settings::new(KEYS);
        assert_eq!(s.int("a.n"), 4);
        for (text, value) in [("a.n=0x10", 16), ("a.n=4k", 4096), ("a.n = 1_000", 1000)] {
            s.set(text).expect("in range");
            assert_eq!(s.int("a.n"), value);
        }
        let refused = |s: &mut Settings, text: &str| s.set(text).expect_err("outside").to_string();
        assert_eq!(refused(&mut s, "a.n=0"), "--set a.n: found `0`, expected 1 to 1048576 [lines]");
        assert_eq!(refused(&mut s, "a.n=x"), "--set a.n: found `x`, expected 1 to 1048576 [lines]");
        assert_eq!(refused(&mut s, "a.w=yes"), "--set a.w: found `yes`, expected on, off");
        assert_eq!(refused(&mut s, "a.n"), "--set `a.n`: expected key=value");
        assert_eq!(refused(&mut s, "b=1"), "--set `b`: no such key; expected one of: a.n, a.w, a.l");
        s.set("a.l=[\"x:1\", y:2]").expect("a list");
        assert_eq!(s.list("a.l").collect::<Vec<_>>(), ["x:1", "y:2"]);
        assert_eq!(s.int("a.n"), 1000, "a refused value changes nothing");
    }
}
