//! `scalepool flit`: whole flits, as one stream.

use super::CommandStatus;
use super::batch::{self, BatchAnswer, Responder};
use clap::{Args, Subcommand, ValueEnum};
use scalepool_forms::hex::{self, HexOrder};
use scalepool_forms::options::{CHOICES, Options};
use scalepool_forms::{FormError, flit, flit_nvl};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::registry::PROTOCOLS;
use scalepool_protocols::wire::Findings;
use std::io::Write;

/// Encode or decode whole flits: header, slots, messages, data, CRC and FEC.
#[derive(Debug, Args)]
pub(super) struct FlitArgs {
    #[command(subcommand)]
    command: FlitCommand,
}

#[derive(Debug, Subcommand)]
enum FlitCommand {
    Encode(EncodeFlit),
    Decode(DecodeFlit),
}

/// Read flits as JSON objects, one per line, and print each object completed with CRC, violations and hex.
#[derive(Debug, Args)]
struct EncodeFlit {
    /// Name of a protocol, as `list protocols` shows it.
    protocol: String,
    /// Direction of the objects; one that has another `dir` is refused. Without it each object has its own.
    #[arg(long)]
    dir: Option<DirArg>,
    #[command(flatten)]
    agreed: Agreed,
    /// No effect: the output is always JSON, one object per line.
    #[arg(long)]
    json: bool,
}

/// Read one stream of flits as hex and print one JSON object per flit.
#[derive(Debug, Args)]
#[command(after_help = GRAMMAR)]
struct DecodeFlit {
    /// Name of a protocol, as `list protocols` shows it.
    protocol: String,
    /// Direction of the stream.
    #[arg(long)]
    dir: DirArg,
    /// Hex digits of the flits. Each argument is one line; without arguments, lines are read from stdin.
    hex: Vec<String>,
    /// Which byte comes first.
    #[arg(long, value_enum, default_value_t)]
    order: OrderArg,
    #[command(flatten)]
    agreed: Agreed,
    /// No effect: the output is always JSON, one object per line.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum DirArg {
    /// Host to device.
    Down,
    /// Device to host.
    Up,
}

/// How lines of digits are read.
const GRAMMAR: &str = "\
The input has lines such as simulators print:

  line    = [ label ] { word } [ comment ]
  label   = hexadecimal digits and `:`, an index or an address, which is ignored
  word    = [ `0x` ] hexadecimal digits, with `_` between them
  comment = `//` or `#`, to the end of the line

Words are separated by white space. Their digits are joined until a flit is complete: one flit may span several lines, and
one line may hold several flits. A packet of nvlink has the length that its header states, and each of its flits is in the order
of --order by itself. `x`, `z` and any other character are refused with line and column. The flits after them are
still read: a line or word whose digits make up whole flits starts a new flit.";

/// Order of the digits of a flit.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum OrderArg {
    /// Byte 0 first, as on the wire.
    #[default]
    Byte0,
    /// The most significant digit of one number first, byte 0 last, as `%h` prints a vector.
    Msb,
}

impl From<OrderArg> for HexOrder {
    fn from(order: OrderArg) -> HexOrder {
        match order {
            OrderArg::Byte0 => HexOrder::Byte0,
            OrderArg::Msb => HexOrder::Msb,
        }
    }
}

/// What the ends of the link have agreed on.
#[derive(Debug, Args)]
struct Agreed {
    #[arg(long, value_name = "NAME=on|off", help = choices())]
    set: Vec<String>,
}

/// Help of `--set`: every choice with its default.
fn choices() -> String {
    let mut text =
        "An option that the two ends have negotiated, or a choice that the specification leaves open; may be repeated:"
            .to_owned();
    for choice in &CHOICES {
        let default = if choice.default() { "on" } else { "off" };
        let protocols = choice.protocols.join(", ");
        text += &format!("\n{} ({protocols}; {default}): {}", choice.name, choice.doc);
    }
    text
}

impl Agreed {
    fn options(&self, protocol: &str) -> Result<Options, FormError> {
        let mut options = Options::default();
        self.set.iter().try_for_each(|setting| options.set(protocol, setting))?;
        Ok(options)
    }
}

impl From<DirArg> for Dir {
    fn from(dir: DirArg) -> Dir {
        match dir {
            DirArg::Down => Dir::Down,
            DirArg::Up => Dir::Up,
        }
    }
}

impl FlitArgs {
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        match self.command {
            FlitCommand::Encode(c) => {
                let options = c.agreed.options(&c.protocol)?;
                let encoder = flit::FlitEncoder::with_options(&c.protocol, c.dir.map(Dir::from), &options)?;
                Ok(batch::stdin(out, Encoder(encoder))?)
            }
            FlitCommand::Decode(c) => {
                let decoder = LineDecoder::new(&c)?;
                Ok(if c.hex.is_empty() { batch::stdin(out, decoder)? } else { batch::arguments(&c.hex, out, decoder)? })
            }
        }
    }
}

/// Lines of digits to objects.
struct LineDecoder {
    digits: hex::HexReader,
    /// Lines so far.
    lines: u64,
    flits: flit::FlitDecoder,
}

impl LineDecoder {
    fn new(asked: &DecodeFlit) -> Result<LineDecoder, FormError> {
        let protocol = asked.protocol.as_str();
        let flits = flit::FlitDecoder::with_options(protocol, asked.dir.into(), &asked.agreed.options(protocol)?)?;
        let unit_bytes = PROTOCOLS.iter().find(|p| p.name == protocol).map_or(0, |p| p.unit_bytes);
        let digits = hex::HexReader::new(unit_bytes, protocol == flit_nvl::PROTOCOL, asked.order.into());
        Ok(LineDecoder { digits, lines: 0, flits })
    }

    fn decode(&mut self, units: Vec<Result<Vec<u8>, FormError>>) -> Vec<Result<BatchAnswer, FormError>> {
        let read = |unit: Result<Vec<u8>, FormError>| self.flits.read(unit.as_deref().map_err(FormError::clone));
        answers(units.into_iter().flat_map(read).collect())
    }
}

impl Responder for LineDecoder {
    fn ask(&mut self, line: Result<&str, FormError>) -> Vec<Result<BatchAnswer, FormError>> {
        self.lines += 1;
        let units = match line {
            Ok(text) => self.digits.line(self.lines, text),
            Err(error) => vec![Err(self.digits.refuse(self.lines, error))],
        };
        self.decode(units)
    }

    fn end(&mut self) -> Vec<Result<BatchAnswer, FormError>> {
        let units = self.digits.finish();
        let mut rest = self.decode(units);
        rest.extend(answers(self.flits.finish()));
        rest
    }
}

/// Lines of objects to completed objects.
struct Encoder(flit::FlitEncoder);

impl Responder for Encoder {
    fn ask(&mut self, line: Result<&str, FormError>) -> Vec<Result<BatchAnswer, FormError>> {
        answers(self.0.encode(line.and_then(scalepool_forms::parse)))
    }

    fn end(&mut self) -> Vec<Result<BatchAnswer, FormError>> {
        answers(self.0.finish())
    }
}

fn answers(given: Vec<flit::FlitAnswer>) -> Vec<Result<BatchAnswer, FormError>> {
    let judged =
        |(form, findings): (_, Findings)| BatchAnswer { form, status: CommandStatus::of(&findings.violations) };
    given.into_iter().map(|answer| answer.map(judged)).collect()
}
