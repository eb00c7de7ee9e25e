//! Flits of `cxl-io`: the standard 256-byte map under its own name.

use crate::flit256::{self, Encoded};
use crate::{FormError, shown};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::check::Findings;
use scalepool_protocols::cxl::cxl256::config::Cxl256Config;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use serde_json::Value;

/// Name on the command line and in objects.
pub const PROTOCOL: &str = "cxl-io";
/// The map of its flits.
const MODE: Mode = Mode::Standard;

/// Reads flits of one direction as one stream.
#[derive(Debug, Clone)]
pub struct IoFlitDecoder(flit256::Follower);

impl IoFlitDecoder {
    /// A stream of which nothing has been read.
    pub fn new(dir: Dir) -> IoFlitDecoder {
        IoFlitDecoder(flit256::Follower::new(MODE, dir, Cxl256Config::default(), false))
    }

    /// The same beside a link: a replay is followed from the first NOPs on.
    pub fn following(dir: Dir) -> IoFlitDecoder {
        IoFlitDecoder(flit256::Follower::new(MODE, dir, Cxl256Config::default(), true))
    }

    /// The object of the next flit, the `index`-th of the stream, and what is wrong with it.
    pub fn read(&mut self, unit: &Cxl256Flit, index: u64) -> (Value, Findings) {
        let (decoded, findings) = self.0.read(unit);
        (named(flit256::to_json(&decoded, &findings, index), PROTOCOL), findings)
    }
}

/// Builds flits from objects.
#[derive(Debug, Clone)]
pub struct IoFlitEncoder(flit256::Cxl256FlitEncoder);

impl IoFlitEncoder {
    /// Streams of which nothing has been sent. `default_dir` is the direction of objects without `dir`.
    pub fn new(default_dir: Option<Dir>) -> IoFlitEncoder {
        IoFlitEncoder(flit256::Cxl256FlitEncoder::new(MODE, default_dir))
    }

    /// Builds the next flit.
    ///
    /// # Errors
    /// As [`flit256::Cxl256FlitEncoder::encode`]; another protocol.
    pub fn encode(&mut self, form: &Value) -> Result<Encoded, FormError> {
        if let Some(protocol) = form.get("protocol")
            && protocol != PROTOCOL
        {
            return Err(FormError::new("protocol", shown(protocol), PROTOCOL));
        }
        let encoded = self.0.encode(&named(form.clone(), MODE.protocol()))?;
        Ok(Encoded { form: named(encoded.form, PROTOCOL), ..encoded })
    }
}

/// The object under another protocol; one without `protocol` stays as it is.
fn named(mut form: Value, protocol: &str) -> Value {
    if let Some(name) = form.get_mut("protocol") {
        *name = protocol.into();
    }
    form
}
