//! Flits of every protocol as streams: bytes to JSON objects and back, whatever the protocol is called.
//!
//! Modelled: one [`FlitDecoder`] and one [`FlitEncoder`] for all names of `registry::PROTOCOLS`. Left out: what an
//! object says (see the module of the protocol).
//!
//! An answer may have to wait for later inputs (UALink; NVLink beside a link), so every call gives the answers that are due, in the order of the
//! inputs, and `finish` gives the rest. A walk through one flit: [`FlitDecoder::read`] hands the bytes to the decoder
//! of the protocol and returns the object with what it found.

use super::options::Options;
use super::{FormError, flit_io, flit_nvl, flit_ual, flit68, flit256, message};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl256::{Mode, flit};
use scalepool_protocols::nvlink::NvlConfig;
use scalepool_protocols::registry::PROTOCOLS;
use scalepool_protocols::ualink;
use scalepool_protocols::wire::Findings;
use serde_json::Value;

/// The object of a flit and the rules that it breaks, or why there is none.
pub type FlitAnswer = Result<(Value, Findings), FormError>;

type DecodeFn = Box<dyn FnMut(&[u8]) -> FlitAnswer + Send>;
type EncodeFn = Box<dyn FnMut(&Value) -> FlitAnswer + Send>;

/// Reads the flits of one direction of a link.
pub struct FlitDecoder(Reader);

enum Reader {
    Prompt(DecodeFn),
    Waiting(Box<flit_ual::UalFlitDecoder>),
    Packets(Box<flit_nvl::Follower>),
}

impl FlitDecoder {
    /// The decoder of a protocol and a direction.
    ///
    /// # Errors
    /// No such protocol.
    pub fn new(protocol: &str, dir: Dir) -> Result<FlitDecoder, FormError> {
        FlitDecoder::with_options(protocol, dir, &Options::default())
    }

    /// The same, with what the ends of the link have agreed on.
    ///
    /// # Errors
    /// No such protocol.
    pub fn with_options(protocol: &str, dir: Dir, options: &Options) -> Result<FlitDecoder, FormError> {
        FlitDecoder::build(protocol, dir, options, false)
    }

    /// The decoder beside a link that retries: it follows the retry, so that a stream that goes on at an older flit is read as
    /// it is meant, and of a unit that is thrown away until then it judges only what it shows by itself. A stream that does
    /// not begin as a link does is taken as it stands, as [`FlitDecoder::new`] takes all: without INIT.Param of
    /// `cxl-68b`, NOPs of the last number of the 256B modes and `ualink`, CREDIT_INIT of `nvlink`.
    ///
    /// # Errors
    /// No such protocol.
    pub fn following(protocol: &str, dir: Dir, options: &Options) -> Result<FlitDecoder, FormError> {
        FlitDecoder::build(protocol, dir, options, true)
    }

    fn build(protocol: &str, dir: Dir, options: &Options, follows: bool) -> Result<FlitDecoder, FormError> {
        // Counts the flits that could be read.
        let mut read = 0..u64::MAX;
        let mut next = move || read.next().unwrap_or(u64::MAX);
        let decode: DecodeFn = match protocol {
            flit_ual::PROTOCOL => {
                let decoder = match follows {
                    true => flit_ual::UalFlitDecoder::following(dir, options.ualink),
                    false => flit_ual::UalFlitDecoder::with_config(dir, options.ualink),
                };
                return Ok(FlitDecoder(Reader::Waiting(Box::new(decoder))));
            }
            flit68::PROTOCOL if !follows => {
                let mut decoder = flit68::Cxl68UnitDecoder::with_config(dir, options.cxl68);
                Box::new(move |bytes| {
                    let (decoded, findings) = decoder.read(&Cxl68Unit::from_bytes(bytes)?);
                    Ok((flit68::to_json(&decoded, &findings, next()), findings))
                })
            }
            flit68::PROTOCOL => {
                let mut decoder = flit68::Follower::with_config(dir, options.cxl68);
                Box::new(move |bytes| {
                    let (decoded, findings) = decoder.read(&Cxl68Unit::from_bytes(bytes)?);
                    Ok((flit68::to_json(&decoded, &findings, next()), findings))
                })
            }
            flit_io::PROTOCOL => {
                let mut decoder =
                    if follows { flit_io::IoFlitDecoder::following(dir) } else { flit_io::IoFlitDecoder::new(dir) };
                Box::new(move |bytes| Ok(decoder.read(&flit::Cxl256Flit::from_bytes(bytes)?, next())))
            }
            flit_nvl::PROTOCOL => {
                if follows {
                    return Ok(FlitDecoder(Reader::Packets(Box::new(flit_nvl::Follower::new(
                        NvlConfig::default(),
                        dir,
                    )))));
                }
                let mut decoder = flit_nvl::NvlPacketDecoder::new(NvlConfig::default());
                Box::new(move |bytes| {
                    let (decoded, findings) = decoder.read(&flit_nvl::packet(bytes)?);
                    Ok((flit_nvl::to_json(&decoded, &findings, dir, next()), findings))
                })
            }
            _ => {
                let mut decoder = flit256::Follower::new(mode(protocol)?, dir, options.cxl256, follows);
                Box::new(move |bytes| {
                    let (decoded, findings) = decoder.read(&flit::Cxl256Flit::from_bytes(bytes)?);
                    Ok((flit256::to_json(&decoded, &findings, next()), findings))
                })
            }
        };
        Ok(FlitDecoder(Reader::Prompt(decode)))
    }

    /// Takes the bytes of the next flit, or why there are none; the answers that are due now.
    pub fn read(&mut self, bytes: Result<&[u8], FormError>) -> Vec<FlitAnswer> {
        match &mut self.0 {
            Reader::Prompt(decode) => vec![bytes.and_then(decode)],
            Reader::Waiting(decoder) => match bytes.and_then(|b| Ok(ualink::flit::DlFlit::from_bytes(b)?)) {
                Ok(unit) => decoder.read(&unit),
                Err(error) => decoder.refuse(error),
            },
            Reader::Packets(follower) => match bytes.and_then(flit_nvl::packet) {
                Ok(packet) => follower.read(&packet).into_iter().map(Ok).collect(),
                Err(error) => follower.finish().into_iter().map(Ok).chain([Err(error)]).collect(),
            },
        }
    }

    /// The answers that are left at the end.
    pub fn finish(&mut self) -> Vec<FlitAnswer> {
        match &mut self.0 {
            Reader::Prompt(_) => Vec::new(),
            Reader::Packets(follower) => follower.finish().into_iter().map(Ok).collect(),
            Reader::Waiting(decoder) => decoder.finish(),
        }
    }
}

/// Completes the flits of one direction of a link: CRC, violations, hex.
pub struct FlitEncoder(FlitWriter);

enum FlitWriter {
    Prompt(EncodeFn),
    Waiting(Box<flit_ual::UalFlitEncoder>),
}

impl FlitEncoder {
    /// The encoder of a protocol; `dir` is the direction of objects without the key.
    ///
    /// # Errors
    /// No such protocol.
    pub fn new(protocol: &str, dir: Option<Dir>) -> Result<FlitEncoder, FormError> {
        FlitEncoder::with_options(protocol, dir, &Options::default())
    }

    /// The same, with what the ends of the link have agreed on.
    ///
    /// # Errors
    /// No such protocol.
    pub fn with_options(protocol: &str, dir: Option<Dir>, options: &Options) -> Result<FlitEncoder, FormError> {
        /// The answer of an encoder; their results are alike and of different types.
        macro_rules! prompt {
            ($encoder:expr) => {{
                let mut encoder = $encoder;
                Box::new(move |form: &Value| {
                    let encoded = encoder.encode(form)?;
                    Ok((encoded.form, encoded.findings))
                })
            }};
        }
        let encode: EncodeFn = match protocol {
            flit_ual::PROTOCOL => {
                let encoder = flit_ual::UalFlitEncoder::with_config(dir, options.ualink);
                return Ok(FlitEncoder(FlitWriter::Waiting(Box::new(encoder))));
            }
            flit68::PROTOCOL => prompt!(flit68::Cxl68UnitEncoder::with_config(dir, options.cxl68)),
            flit_io::PROTOCOL => prompt!(flit_io::IoFlitEncoder::new(dir)),
            flit_nvl::PROTOCOL => prompt!(flit_nvl::NvlPacketEncoder::new(NvlConfig::default(), dir)),
            _ => prompt!(flit256::Cxl256FlitEncoder::with_config(mode(protocol)?, dir, options.cxl256)),
        };
        Ok(FlitEncoder(FlitWriter::Prompt(encode)))
    }

    /// Takes the object of the next flit, or why there is none; the answers that are due now.
    pub fn encode(&mut self, form: Result<Value, FormError>) -> Vec<FlitAnswer> {
        match &mut self.0 {
            FlitWriter::Prompt(encode) => vec![form.and_then(|form| encode(&form))],
            FlitWriter::Waiting(encoder) => match form {
                Ok(form) => encoder.encode(&form),
                Err(error) => encoder.refuse(error),
            },
        }
    }

    /// The answers that are left at the end.
    pub fn finish(&mut self) -> Vec<FlitAnswer> {
        match &mut self.0 {
            FlitWriter::Prompt(_) => Vec::new(),
            FlitWriter::Waiting(encoder) => encoder.finish(),
        }
    }
}

/// The 256B mode of a protocol; refuses what is no flit protocol.
fn mode(name: &str) -> Result<Mode, FormError> {
    flit256::mode_of(name).ok_or_else(|| {
        let near = message::most_similar(name, PROTOCOLS.iter().map(|p| p.name));
        let expected = format!("a name that `list protocols` shows, such as {}", near.join(", "));
        FormError::new("protocol", format!("`{name}`"), expected)
    })
}
