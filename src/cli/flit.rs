//! `scalepool flit`: whole flits, as one stream.

use super::Status;
use super::batch::{self, Answer, Responder};
use crate::forms::{FormError, flit_io, flit_nvl, flit_ual, flit68, flit256, message, number};
use clap::{Args, Subcommand, ValueEnum};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::unit::Unit;
use scalepool_protocols::cxl::cxl256::{Mode, flit};
use scalepool_protocols::nvlink::NvlConfig;
use scalepool_protocols::registry::PROTOCOLS;
use scalepool_protocols::ualink;
use scalepool_protocols::wire::Findings;
use serde_json::Value;
use std::io::Write;

/// Encode and decode whole flits: header, slots, messages, data, CRC, FEC.
#[derive(Debug, Args)]
pub(super) struct Flit {
    #[command(subcommand)]
    way: Way,
}

#[derive(Debug, Subcommand)]
enum Way {
    Encode(EncodeFlit),
    Decode(DecodeFlit),
}

/// Read flit objects, one a line, and print them completed: CRC, violations, hex.
#[derive(Debug, Args)]
struct EncodeFlit {
    /// Name of a protocol, as `list protocols` shows it.
    protocol: String,
    /// Direction of objects without `dir`.
    #[arg(long)]
    dir: Option<DirArg>,
    /// Accepted; output is always JSON, one object a line.
    #[arg(long)]
    json: bool,
}

/// Read flits as hex, as one stream, and print one object a flit.
#[derive(Debug, Args)]
struct DecodeFlit {
    /// Name of a protocol, as `list protocols` shows it.
    protocol: String,
    /// Direction of the stream.
    #[arg(long)]
    dir: DirArg,
    /// Flits, byte 0 first; from stdin, one a line, when there are none.
    hex: Vec<String>,
    /// Accepted; output is always JSON, one object a line.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum DirArg {
    /// Host to device.
    Down,
    /// Device to host.
    Up,
}

impl From<DirArg> for Dir {
    fn from(dir: DirArg) -> Dir {
        match dir {
            DirArg::Down => Dir::Down,
            DirArg::Up => Dir::Up,
        }
    }
}

impl Flit {
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<Status> {
        match self.way {
            Way::Encode(c) if c.protocol == flit_ual::PROTOCOL => {
                Ok(batch::stdin(out, UalEncoder(flit_ual::Encoder::new(c.dir.map(Dir::from))))?)
            }
            Way::Decode(c) if c.protocol == flit_ual::PROTOCOL => {
                let decoder = UalDecoder(flit_ual::Decoder::new(c.dir.into()));
                Ok(if c.hex.is_empty() { batch::stdin(out, decoder)? } else { batch::arguments(&c.hex, out, decoder)? })
            }
            Way::Encode(c) => {
                let mut encode = encoder(&c.protocol, c.dir.map(Dir::from))?;
                Ok(batch::stdin(out, |line: &str| encode(&batch::json(line)?))?)
            }
            Way::Decode(c) => {
                let mut decode = decoder(&c.protocol, c.dir.into())?;
                let answer = |hex: &str| decode(&number::bytes_of(hex.trim(), "flit")?);
                Ok(if c.hex.is_empty() { batch::stdin(out, answer)? } else { batch::arguments(&c.hex, out, answer)? })
            }
        }
    }
}

/// UALink: an answer may wait for the next flit.
struct UalDecoder(flit_ual::Decoder);

impl Responder for UalDecoder {
    fn ask(&mut self, line: Result<&str, FormError>) -> Vec<Result<Answer, FormError>> {
        let unit = line
            .and_then(|hex| number::bytes_of(hex.trim(), "flit"))
            .and_then(|bytes| Ok(ualink::flit::Flit::from_bytes(&bytes)?));
        let due = match unit {
            Ok(unit) => self.0.read(&unit),
            Err(error) => self.0.refuse(error),
        };
        due.into_iter().map(answer_of).collect()
    }

    fn end(&mut self) -> Vec<Result<Answer, FormError>> {
        self.0.finish().into_iter().map(answer_of).collect()
    }
}

/// UALink the other way.
struct UalEncoder(flit_ual::Encoder);

impl Responder for UalEncoder {
    fn ask(&mut self, line: Result<&str, FormError>) -> Vec<Result<Answer, FormError>> {
        let due = match line.and_then(batch::json) {
            Ok(form) => self.0.encode(&form),
            Err(error) => self.0.refuse(error),
        };
        due.into_iter().map(answer_of).collect()
    }

    fn end(&mut self) -> Vec<Result<Answer, FormError>> {
        self.0.finish().into_iter().map(answer_of).collect()
    }
}

fn answer_of(given: flit_ual::Answer) -> Result<Answer, FormError> {
    given.map(|(form, findings)| answer(form, &findings))
}

/// Answers the objects of a stream.
type Encode = Box<dyn FnMut(&Value) -> Result<Answer, FormError>>;
/// Answers the flits of a stream.
type Decode = Box<dyn FnMut(&[u8]) -> Result<Answer, FormError>>;

fn answer(form: Value, findings: &Findings) -> Answer {
    Answer { form, status: Status::of(&findings.violations) }
}

/// The encoder of a protocol.
fn encoder(protocol: &str, dir: Option<Dir>) -> Result<Encode, FormError> {
    if protocol == flit68::PROTOCOL {
        let mut encoder = flit68::Encoder::new(dir);
        return Ok(Box::new(move |form| {
            let encoded = encoder.encode(form)?;
            Ok(answer(encoded.form, &encoded.findings))
        }));
    }
    if protocol == flit_io::PROTOCOL {
        let mut encoder = flit_io::Encoder::new(dir);
        return Ok(Box::new(move |form| {
            let encoded = encoder.encode(form)?;
            Ok(answer(encoded.form, &encoded.findings))
        }));
    }
    if protocol == flit_nvl::PROTOCOL {
        let mut encoder = flit_nvl::Encoder::new(NvlConfig::default(), dir);
        return Ok(Box::new(move |form| {
            let encoded = encoder.encode(form)?;
            Ok(answer(encoded.form, &encoded.findings))
        }));
    }
    let mut encoder = flit256::Encoder::new(mode(protocol)?, dir);
    Ok(Box::new(move |form| {
        let encoded = encoder.encode(form)?;
        Ok(answer(encoded.form, &encoded.findings))
    }))
}

/// The decoder of a protocol.
fn decoder(protocol: &str, dir: Dir) -> Result<Decode, FormError> {
    // Counts the flits that could be read.
    let mut read = 0..u64::MAX;
    let mut next = move || read.next().unwrap_or(u64::MAX);
    if protocol == flit68::PROTOCOL {
        let mut decoder = flit68::Decoder::new(dir);
        return Ok(Box::new(move |bytes| {
            let (decoded, findings) = decoder.read(&Unit::from_bytes(bytes)?);
            Ok(answer(flit68::to_json(&decoded, &findings, next()), &findings))
        }));
    }
    if protocol == flit_io::PROTOCOL {
        let mut decoder = flit_io::Decoder::new(dir);
        return Ok(Box::new(move |bytes| {
            let (form, findings) = decoder.read(&flit::Flit::from_bytes(bytes)?, next());
            Ok(answer(form, &findings))
        }));
    }
    if protocol == flit_nvl::PROTOCOL {
        let mut decoder = flit_nvl::Decoder::new(NvlConfig::default());
        return Ok(Box::new(move |bytes| {
            let (decoded, findings) = decoder.read(&flit_nvl::packet(bytes)?);
            Ok(answer(flit_nvl::to_json(&decoded, &findings, dir, next()), &findings))
        }));
    }
    let mut decoder = flit256::Decoder::new(mode(protocol)?, dir);
    Ok(Box::new(move |bytes| {
        let (decoded, findings) = decoder.read(&flit::Flit::from_bytes(bytes)?);
        Ok(answer(flit256::to_json(&decoded, &findings, next()), &findings))
    }))
}

/// The 256B mode of a protocol; refuses what is no flit protocol.
fn mode(name: &str) -> Result<Mode, FormError> {
    flit256::mode_of(name).ok_or_else(|| {
        let near = message::most_similar(name, PROTOCOLS.iter().map(|p| p.name));
        let expected = format!("one that `list protocols` shows, such as {}", near.join(", "));
        FormError::new("protocol", format!("`{name}`"), expected)
    })
}
