//! `scalepool flit`: whole flits, as one stream.

use super::Status;
use super::batch::{self, Answer, Responder};
use crate::forms::{FormError, flit, number};
use clap::{Args, Subcommand, ValueEnum};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::wire::Findings;
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

/// Read flit objects, one per line, and print them completed with CRC, violations and hex.
#[derive(Debug, Args)]
struct EncodeFlit {
    /// Name of a protocol, as `list protocols` shows it.
    protocol: String,
    /// Direction of objects without `dir`.
    #[arg(long)]
    dir: Option<DirArg>,
    /// Accepted; output is always JSON, one object per line.
    #[arg(long)]
    json: bool,
}

/// Read flits as hex, as one stream, and print one object per flit.
#[derive(Debug, Args)]
struct DecodeFlit {
    /// Name of a protocol, as `list protocols` shows it.
    protocol: String,
    /// Direction of the stream.
    #[arg(long)]
    dir: DirArg,
    /// Flits, byte 0 first; from stdin, one a line, when there are none.
    hex: Vec<String>,
    /// Accepted; output is always JSON, one object per line.
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
                let encoder = flit::Encoder::new(&c.protocol, c.dir.map(Dir::from))?;
                Ok(batch::stdin(out, Encoder(encoder))?)
            }
            Way::Decode(c) => {
                let decoder = Decoder(flit::Decoder::new(&c.protocol, c.dir.into())?);
                Ok(if c.hex.is_empty() { batch::stdin(out, decoder)? } else { batch::arguments(&c.hex, out, decoder)? })
            }
        }
    }
}

/// Lines of hex to objects.
struct Decoder(flit::Decoder);

impl Responder for Decoder {
    fn ask(&mut self, line: Result<&str, FormError>) -> Vec<Result<Answer, FormError>> {
        let bytes = line.and_then(|hex| number::bytes_of(hex.trim(), "flit"));
        answers(self.0.read(bytes.as_deref().map_err(FormError::clone)))
    }

    fn end(&mut self) -> Vec<Result<Answer, FormError>> {
        answers(self.0.finish())
    }
}

/// Lines of objects to completed objects.
struct Encoder(flit::Encoder);

impl Responder for Encoder {
    fn ask(&mut self, line: Result<&str, FormError>) -> Vec<Result<Answer, FormError>> {
        answers(self.0.encode(line.and_then(crate::forms::parse)))
    }

    fn end(&mut self) -> Vec<Result<Answer, FormError>> {
        answers(self.0.finish())
    }
}

fn answers(given: Vec<flit::Answer>) -> Vec<Result<Answer, FormError>> {
    let judged = |(form, findings): (_, Findings)| Answer { form, status: Status::of(&findings.violations) };
    given.into_iter().map(|answer| answer.map(judged)).collect()
}
