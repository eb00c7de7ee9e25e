//! `scalepool wave-filter`: values of a signal in, text out, as GTKWave asks a process filter.
//!
//! Modelled: one answer of one line for each line, at once, since the viewer waits for it. Each value stands alone: a viewer asks for what is on
//! its screen, in any order, so nothing is kept from one value to the next. Left out: `nvlink`, whose packets are longer than what passes
//! at a time, and what depends on the flits before: rollover of data in CXL, the rest of a message in UALink. A flit of data alone may look
//! like messages, since only the flits before it tell them apart.
//!
//! A walk through one line: its digits, the most significant first, become the bytes of a message or flit; a value that is no number, or has
//! more bits, goes back as it came. The object of it is told in words, as `inspect` does. Of a flit only rules that it breaks whatever
//! stands before it are called broken ([`OF_ONE_FLIT`]). A flit that breaks others as the first of a stream is probably data: the answer
//! names these rules, and no messages.

use super::CommandStatus;
use super::flit::DirArg;
use anyhow::bail;
use clap::Args;
use scalepool_forms::flit::FlitDecoder;
use scalepool_forms::{FormError, message};
use scalepool_inspect::told::{fields, messages};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::registry::PROTOCOLS;
use scalepool_protocols::wire::LayoutDef;
use serde_json::Value;
use std::io::{BufRead, Write, stdin};

/// Translate values of a signal into text, line by line, as a process filter for GTKWave.
///
/// An input line is a value in hexadecimal digits, as the viewer shows it, the most significant first; leading zeros may be left out.
/// Each line is answered at once by one line. A value with `x` or `z`, or with more bits than the message or flit has, is returned as it is.
///
/// Each flit is read as the first of a stream. If a rule depends on the flits before it, the answer says that the flit goes on
/// from these, or breaks the rule, and shows no messages. A flit that is all data may look like messages here; `inspect` reads streams.
#[derive(Debug, Args)]
pub(super) struct WaveFilter {
    /// What a value is: the name of a layout, as `list layouts` shows it, or of a protocol other than nvlink, for its flits.
    what: String,
    /// Direction of the flits; a layout has none.
    #[arg(long)]
    dir: Option<DirArg>,
}

/// Rules that a flit breaks whatever stands before it: what its own CRC, FEC and protocol ID say.
const OF_ONE_FLIT: [&str; 5] = ["CXL68-CRC-", "CXL68-PID-", "CXL256-CRC-", "CXL256-FEC-", "UAL-CRC-"];

/// Kind of a flit that is whole by itself.
const ALMP: &str = "almp";

/// What a value is.
enum FilterValue {
    Message(&'static LayoutDef),
    Flit { protocol: &'static str, unit_bytes: usize, dir: Dir },
}

impl WaveFilter {
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        let decoded = self.decoded()?;
        for line in stdin().lock().split(b'\n') {
            let line = line?;
            writeln!(out, "{}", decoded.answer(String::from_utf8_lossy(&line).trim()))?;
            out.flush()?;
        }
        Ok(CommandStatus::Good)
    }

    fn decoded(&self) -> anyhow::Result<FilterValue> {
        let Some(protocol) = PROTOCOLS.iter().find(|protocol| protocol.name == self.what) else {
            let layout = message::layout(&self.what)?;
            if self.dir.is_some() {
                bail!("found --dir for the layout {}, expected it for flits only", self.what);
            }
            return Ok(FilterValue::Message(layout));
        };
        if protocol.name == "nvlink" {
            bail!(
                "found nvlink, whose packets have several flits, expected another protocol or a layout such as nvlink.header"
            );
        }
        let Some(dir) = self.dir else { bail!("found no --dir, expected `down` or `up` for flits of {}", self.what) };
        Ok(FilterValue::Flit { protocol: protocol.name, unit_bytes: protocol.unit_bytes, dir: dir.into() })
    }
}

impl FilterValue {
    /// The line for a value.
    fn answer(&self, value: &str) -> String {
        let len_bytes = match self {
            FilterValue::Message(layout) => layout.len_bytes(),
            FilterValue::Flit { unit_bytes, .. } => *unit_bytes,
        };
        let Some(bytes) = bytes_of(value, len_bytes) else { return value.to_owned() };
        match self {
            FilterValue::Message(layout) => {
                let bits = bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte));
                if bits.checked_shr(layout.bits).unwrap_or(0) != 0 {
                    return value.to_owned();
                }
                let mut found = Vec::new();
                layout.check(bits, &mut found);
                let form = message::message_to_json(layout, bits);
                told(&form, "") + &broken(found.iter().map(|violation| violation.rule))
            }
            FilterValue::Flit { protocol, dir, .. } => {
                self.flit(protocol, *dir, &bytes).unwrap_or_else(|error| error.to_string())
            }
        }
    }

    fn flit(&self, protocol: &str, dir: Dir, bytes: &[u8]) -> Result<String, FormError> {
        let mut decoder = FlitDecoder::new(protocol, dir)?;
        let mut answers = decoder.read(Ok(bytes));
        answers.extend(decoder.finish());
        let mut lines = Vec::new();
        for answer in answers {
            let (form, findings) = answer?;
            let kind = form["kind"].as_str().unwrap_or("unit").to_owned();
            let control = form.get("control").and_then(|control| control["name"].as_str());
            let head = control.map_or(kind.clone(), |name| format!("{kind} {name}"));
            let rules = findings.violations.iter().map(|violation| violation.rule);
            // No ALMP goes on from an earlier flit.
            let (own, of_stream): (Vec<_>, Vec<_>) =
                rules.partition(|rule| kind == ALMP || OF_ONE_FLIT.iter().any(|family| rule.starts_with(family)));
            // A flit that is damaged is told as it reads; of a good one the messages would be invented.
            lines.push(match (own.is_empty(), of_stream.is_empty()) {
                (true, false) => format!("{head}; goes on from earlier flits, or breaks {}", each_once(of_stream)),
                _ => told(&form, &head) + &broken(own),
            });
        }
        Ok(lines.join(" | "))
    }
}

/// A form in words: what it begins with, and its messages.
fn told(form: &Value, head: &str) -> String {
    let said = messages(form).into_iter().map(|(layout, values)| {
        let short = layout.split_once('.').map_or(layout, |(_, short)| short);
        format!("{short}{}", fields(Some(values)))
    });
    let parts = Some(head.to_owned()).filter(|head| !head.is_empty()).into_iter().chain(said);
    parts.collect::<Vec<_>>().join("; ")
}

/// The rules that a value breaks.
fn broken(rules: impl IntoIterator<Item = &'static str>) -> String {
    let names = each_once(rules);
    if names.is_empty() { names } else { format!("; broken: {names}") }
}

/// Names of rules, each once.
fn each_once(rules: impl IntoIterator<Item = &'static str>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for rule in rules {
        if !names.contains(&rule) {
            names.push(rule);
        }
    }
    names.join(" ")
}

/// Bytes of a number of hexadecimal digits, the lowest first. `None` for a value that is no number, or too large.
fn bytes_of(value: &str, len_bytes: usize) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        value.chars().filter(|c| *c != '_').map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits.filter(|digits| !digits.is_empty())?;
    let mut bytes = vec![0; len_bytes];
    for (n, digit) in digits.iter().rev().enumerate().filter(|(_, digit)| **digit != 0) {
        *bytes.get_mut(n / 2)? |= digit << (4 * (n % 2));
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(what: &str, dir: Option<DirArg>) -> FilterValue {
        WaveFilter { what: what.into(), dir }.decoded().expect("known")
    }

    #[test]
    fn digits_become_bytes() {
        assert_eq!(bytes_of("1_2f", 2), Some(vec![0x2f, 0x01]));
        assert_eq!(bytes_of("0001", 1), Some(vec![1]));
        assert_eq!(bytes_of("100", 1), None);
        assert_eq!((bytes_of("", 1), bytes_of("1x", 1)), (None, None));
    }

    #[test]
    fn a_message_is_told_by_its_fields() {
        let messages = filter("cxl68.m2s_req", None);
        // Valid, MemRd (1), tag 7 from bit 12 on, Address[51:5] from bit 28 on (`cxl-68b` section 2.1).
        let words = "m2s_req opcode=MemRd snp_type=NoOp meta_field=Meta0State meta_value=Invalid tag=7 address=0x1240";
        assert_eq!(messages.answer("920007003"), words);
        assert_eq!(messages.answer("xxxx"), "xxxx");
        assert_eq!(messages.answer(&"f".repeat(22)), "f".repeat(22));
    }

    #[test]
    fn what_cannot_be_filtered_is_refused() {
        let down = Some(DirArg::Down);
        for (what, dir) in
            [("nvlink", down), ("cxl-68b", None), ("cxl68.m2s_reg", None), ("cxl68.m2s_req", Some(DirArg::Up))]
        {
            assert!(WaveFilter { what: what.into(), dir }.decoded().is_err(), "{what}");
        }
    }

    /// Golden flits stand in streams, and each of them obeys all rules there but those that its object names.
    #[test]
    fn no_good_flit_is_called_broken_where_it_stands_alone() {
        let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden");
        let mut all_data = 0;
        for (folder, what) in [
            ("cxl68", "cxl-68b"),
            ("cxl256", "cxl-256b"),
            ("cxl256", "cxl-256b-lopt"),
            ("cxlpbr", "cxl-256b-pbr"),
            ("cxlio", "cxl-io"),
            ("ualink", "ualink"),
        ] {
            for (name, dir) in [("down", DirArg::Down), ("up", DirArg::Up)] {
                let text = |kind: &str| {
                    let file = golden.join(folder).join(format!("flit_{what}_{name}.{kind}"));
                    std::fs::read_to_string(file).expect("a golden file")
                };
                let (filter, values, forms) = (filter(what, Some(dir)), text("hex"), text("jsonl"));
                let values = values.lines().filter(|line| !line.starts_with("//"));
                let forms = forms.lines().map(|line| serde_json::from_str::<Value>(line).expect("an object"));
                for (n, (value, form)) in values.zip(forms).enumerate() {
                    let answer = filter.answer(value);
                    let is_good = form["violations"].as_array().is_none_or(Vec::is_empty);
                    assert!(!is_good || !answer.contains("; broken: "), "{what} {name} {n}: {answer}");
                    all_data += usize::from(form["kind"] == "all-data");
                }
            }
        }
        assert!(all_data > 20, "found {all_data} flits of data alone");
    }
}
