//! Protection of the transactions of one port: AES-256-GCM between the two accelerators, over links and switches alike.
//!
//! Modelled: for each accelerator on the far side two ends of [`security`](scalepool_link::ualink::security), one for what
//! this side asks and one for what it is asked; keys of their own for each stream, port and pair; the next keys loaded
//! before any key roll. Detail: a transaction a call. Left out: how keys are agreed: both sides derive them from the seed.
//!
//! Our choices \[D\]: a port is a stream of its own, because ports keep no order among each other; the pair of a response is
//! found by its tag, or by its source where the tag is encrypted, so encrypted responses travel uncompressed; a transaction whose tag does not fit is
//! dropped, so its originator's time-out ends the matter.

use scalepool_kernel::Rng;
use scalepool_link::ualink::security::{
    AesKey, KEY_BYTES, Protection, SecureEnd, SecurityConfig, SecurityError, Stream,
};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::Violation;

/// One end between a requester and its completer, with keys that never run out.
struct Keyed {
    end: SecureEnd,
    /// Seed and names from which both sides derive keys.
    origin: (u64, String),
    /// Keys loaded, by stream.
    loaded: [u64; 3],
}

impl Keyed {
    fn new(config: SecurityConfig, seed: u64, name: String) -> Result<Keyed, SecurityError> {
        let origin = (seed, name);
        let end = SecureEnd::new(config, Stream::ALL.map(|stream| derive(&origin, stream, 0)))?;
        Ok(Keyed { end, origin, loaded: [1; 3] })
    }

    /// The end, with a next key for each stream.
    fn ready(&mut self) -> Result<&mut SecureEnd, SecurityError> {
        for stream in Stream::ALL {
            if !self.end.has_next_key(stream) {
                let generation = &mut self.loaded[stream as usize];
                self.end.load_next_key(stream, derive(&self.origin, stream, *generation))?;
                *generation += 1;
            }
        }
        Ok(&mut self.end)
    }
}

fn derive((seed, name): &(u64, String), stream: Stream, generation: u64) -> AesKey {
    let mut key = [0; KEY_BYTES];
    Rng::for_name(*seed, &format!("{name}.{stream:?}.{generation}")).fill_bytes(&mut key);
    AesKey(key)
}

/// All ends of a port.
pub struct Guard {
    config: SecurityConfig,
    own: u16,
    port: usize,
    seed: u64,
    /// Destination of the last request of each tag, for responses whose tags can be read.
    asked: OrderedMap<u16, u16>,
    /// By requester and completer.
    ends: OrderedMap<(u16, u16), Keyed>,
}

impl Guard {
    /// A port of an accelerator; both sides of a link have the same port number and seed.
    pub fn new(config: SecurityConfig, own: u16, port: usize, seed: u64) -> Guard {
        Guard { config, own, port, seed, asked: OrderedMap::new(), ends: OrderedMap::new() }
    }

    fn end(&mut self, requester: u16, completer: u16) -> Result<&mut SecureEnd, SecurityError> {
        let key = (requester, completer);
        if !self.ends.contains_key(&key) {
            let name = format!("key:{requester}>{completer}.{}", self.port);
            self.ends.insert(key, Keyed::new(self.config, self.seed, name)?);
        }
        match self.ends.get_mut(&key) {
            Some(keyed) => keyed.ready(),
            None => Err(SecurityError::Form("a pair without keys")),
        }
    }

    /// Protects what is sent.
    ///
    /// # Errors
    /// As [`SecureEnd::seal`].
    pub fn seal(&mut self, transfer: &Transfer) -> Result<Transfer, SecurityError> {
        let pair = match &transfer.field {
            ControlField::Request(req) => {
                self.asked.insert(req.tag, req.dst);
                (self.own, req.dst)
            }
            ControlField::Response(rsp) => (rsp.dst, self.own),
            other => return Err(SecurityError::Form(other.def().name)),
        };
        self.end(pair.0, pair.1)?.seal(transfer)
    }

    /// Opens what has arrived.
    ///
    /// # Errors
    /// As [`SecureEnd::open`]: it must not be used.
    pub fn open(&mut self, transfer: &Transfer) -> Result<Transfer, SecurityError> {
        let pair = match &transfer.field {
            ControlField::Request(req) => (req.src, self.own),
            ControlField::Response(rsp) if self.config.protection == Protection::Encrypt => (self.own, rsp.src),
            ControlField::Response(rsp) => (self.own, self.asked.get(&rsp.tag).copied().unwrap_or(rsp.src)),
            other => return Err(SecurityError::Form(other.def().name)),
        };
        self.end(pair.0, pair.1)?.open(transfer)
    }
}

/// What is reported of a transaction that is not let through.
pub fn finding(error: &SecurityError) -> Violation {
    let expected = "a transaction that its key and counter open";
    Violation::at_byte(
        "UAL-SEC-02",
        0,
        error,
        expected,
        "a protected transaction does not fit its key and counter; it is dropped",
    )
}
