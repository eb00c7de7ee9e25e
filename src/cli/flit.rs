//! `scalepool flit`: whole flits, as one stream.

use super::Status;
use super::batch::{self, Answer};
use crate::forms::flit68::{self, Decoder, Encoder};
use crate::forms::{FormError, message, number};
use clap::{Args, Subcommand, ValueEnum};
use scalepool_protocols::cxl::cxl68::{Dir, unit::Unit};
use scalepool_protocols::registry::PROTOCOLS;
use std::io::Write;

/// Encode and decode whole flits: header, slots, messages, data, CRC.
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
            Way::Encode(c) => {
                protocol(&c.protocol)?;
                let mut encoder = Encoder::new(c.dir.map(Dir::from));
                Ok(batch::stdin(out, |line| {
                    let encoded = encoder.encode(&batch::json(line)?)?;
                    let status = Status::of(&encoded.findings.violations);
                    Ok(Answer { form: encoded.form, status })
                })?)
            }
            Way::Decode(c) => {
                protocol(&c.protocol)?;
                let mut decoder = Decoder::new(c.dir.into());
                let mut index = 0;
                let answer = |hex: &str| {
                    let unit = Unit::from_bytes(&number::bytes_of(hex.trim(), "flit")?)?;
                    let (decoded, findings) = decoder.read(&unit);
                    let form = flit68::to_json(&decoded, &findings, index);
                    index += 1;
                    Ok(Answer { form, status: Status::of(&findings.violations) })
                };
                Ok(if c.hex.is_empty() { batch::stdin(out, answer)? } else { batch::arguments(&c.hex, out, answer)? })
            }
        }
    }
}

/// Refuses what is no flit protocol.
fn protocol(name: &str) -> Result<(), FormError> {
    if name == flit68::PROTOCOL {
        return Ok(());
    }
    let near = message::most_similar(name, PROTOCOLS.iter().map(|p| p.name));
    let expected = format!("one that `list protocols` shows, such as {}", near.join(", "));
    Err(FormError::new("protocol", format!("`{name}`"), expected))
}
