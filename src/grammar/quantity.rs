//! The one grammar of quantities: in descriptions, in settings of the command line, in C and in Python.
//!
//! ```text
//! quantity = number *" " [unit]
//! number   = digits with `_` between them / "0x" hexadecimal digits / digits "." digits, where a unit makes it whole
//! ```
//! A bare number has the unit that `describe` shows. `k`, `m`, `g` behind a whole number are powers of 1024.

/// What a number measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Time, in femtoseconds.
    Time,
    /// Size, in bytes.
    Bytes,
    /// Rate of a lane, in GT/s.
    Rate,
    /// A count of these; `-`: of nothing.
    Of(&'static str),
}

impl Unit {
    /// As `describe` shows it.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Time => "fs",
            Unit::Bytes => "bytes",
            Unit::Rate => "GT/s per lane",
            Unit::Of(name) => name,
        }
    }

    /// Words behind a number, with what they multiply it by.
    fn words(self) -> &'static [(&'static str, u64)] {
        match self {
            Unit::Time => &[
                ("fs", 1),
                ("ps", 1_000),
                ("ns", 1_000_000),
                ("us", 1_000_000_000),
                ("ms", 1_000_000_000_000),
                ("s", 1_000_000_000_000_000),
            ],
            Unit::Bytes => &[
                ("B", 1),
                ("bytes", 1),
                ("KiB", 1 << 10),
                ("MiB", 1 << 20),
                ("GiB", 1 << 30),
                ("TiB", 1 << 40),
                ("PiB", 1 << 50),
                ("EiB", 1 << 60),
            ],
            Unit::Rate => &[("GT/s", 1)],
            Unit::Of(_) => &[],
        }
    }

    /// A value as one writes it, in the largest unit of which it is at least one: a time with as many digits as it has, a number of bytes
    /// only if it is a whole number of them.
    pub fn shown(self, value: u64) -> String {
        let fits = |factor: u64| match self {
            Unit::Time => factor <= value,
            _ => factor <= value && value.is_multiple_of(factor),
        };
        let largest = self.words().iter().rfind(|(_, factor)| fits(*factor));
        match (self, largest) {
            (Unit::Time | Unit::Bytes, Some((word, factor))) => {
                let (whole, part) = (value / factor, value % factor);
                let digits = factor.ilog10() as usize;
                let part = if part == 0 { String::new() } else { format!(".{part:0digits$}") };
                format!("{whole}{} {word}", part.trim_end_matches('0'))
            }
            _ => value.to_string(),
        }
    }

    /// What may stand behind a number, for messages.
    pub fn expected(self) -> String {
        let words: Vec<&str> = self.words().iter().map(|(word, _)| *word).collect();
        match (self, words.split_last()) {
            (Unit::Of("-"), _) => "a number without a unit".to_owned(),
            (Unit::Of(name), _) => format!("a number of {name}"),
            (_, Some((last, [_, ..]))) => {
                format!("a number with one of the units {} or {last}", words[..words.len() - 1].join(", "))
            }
            _ => format!("a number with the unit {}", words.join("")),
        }
    }
}

/// A whole number of the unit; `None`: not of this grammar, or not whole, or above 64 bits.
pub fn parse(text: &str, unit: Unit) -> Option<u64> {
    let text = text.trim();
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(&hex.replace('_', ""), 16).ok();
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '_' || c == '.')).unwrap_or(text.len());
    let (number, word) = (text[..end].replace('_', ""), text[end..].trim());
    let factor = match (word, unit) {
        ("", _) => 1,
        ("k" | "K", _) => 1 << 10,
        ("m" | "M", _) => 1 << 20,
        ("g" | "G", _) => 1 << 30,
        (word, Unit::Of(name)) if word == name && name != "-" => 1,
        (word, unit) => unit.words().iter().find(|(known, _)| *known == word)?.1,
    };
    match number.split_once('.') {
        None => number.parse::<u64>().ok()?.checked_mul(factor),
        Some((whole, part)) => {
            let scale = 10u128.checked_pow(part.len().try_into().ok()?)?;
            let digits =
                format!("{whole}{part}").parse::<u128>().ok().filter(|_| !whole.is_empty() && !part.is_empty())?;
            let scaled = digits.checked_mul(u128::from(factor))?;
            if scaled % scale != 0 {
                return None;
            }
            u64::try_from(scaled / scale).ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_with_and_without_units() {
        let cases = [
            ("500 ps", Unit::Time, Some(500_000)),
            ("0.5ns", Unit::Time, Some(500_000)),
            ("1.0625 ns", Unit::Time, Some(1_062_500)),
            ("500000", Unit::Time, Some(500_000)),
            ("16 GiB", Unit::Bytes, Some(16 << 30)),
            ("16g", Unit::Bytes, Some(16 << 30)),
            ("0x1_000", Unit::Bytes, Some(4096)),
            ("32 GT/s", Unit::Rate, Some(32)),
            ("64 misses", Unit::Of("misses"), Some(64)),
            ("10_000", Unit::Of("-"), Some(10_000)),
            ("0.0001 fs", Unit::Time, None),
            ("16 GB", Unit::Bytes, None),
            ("500 ps", Unit::Bytes, None),
            ("64 hits", Unit::Of("misses"), None),
            ("1.5", Unit::Of("-"), None),
            (".5 ns", Unit::Time, None),
            ("-1", Unit::Of("-"), None),
            ("99999999999999999999", Unit::Of("-"), None),
            ("18446744073709551615 KiB", Unit::Bytes, None),
            ("", Unit::Time, None),
        ];
        for (text, unit, value) in cases {
            assert_eq!(parse(text, unit), value, "{text} {unit:?}");
        }
        for (value, unit, shown) in [
            (50_000_000_000, Unit::Time, "50 us"),
            (1_062_500, Unit::Time, "1.0625 ns"),
            (1 << 50, Unit::Time, "1.125899906842624 s"),
            (0, Unit::Time, "0"),
            (7, Unit::Time, "7 fs"),
            (16 << 30, Unit::Bytes, "16 GiB"),
            ((1 << 52) - 256, Unit::Bytes, "4503599627370240 bytes"),
            (1 << 52, Unit::Bytes, "4 PiB"),
            (0, Unit::Bytes, "0"),
            (32, Unit::Rate, "32"),
            (3000, Unit::Of("ports"), "3000"),
        ] {
            assert_eq!(unit.shown(value), shown);
            assert_eq!(parse(shown, unit), Some(value), "what is shown can be written");
        }
        assert_eq!(Unit::Rate.expected(), "a number with the unit GT/s");
        assert_eq!(Unit::Time.expected(), "a number with one of the units fs, ps, ns, us, ms or s");
    }
}
