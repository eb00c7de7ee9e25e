//! Protected transactions: AES-256-GCM over each request and response (`ualink` section 12).
//!
//! Modelled: authentication alone or with encryption; three streams (requests, read responses, write responses), each with a
//! key and a counter of its own; the initialisation vector of 64 zero bits and that counter; tags of 8 bytes or none; which
//! bits of a field are encrypted; key rolls by UPLI Write Messages. Detail: one transaction a call, bytes are real. Left out:
//! how keys are agreed, time, what an end does after a bad tag. Off by default.
//!
//! A walk through one transaction: [`SecureEnd::seal`] takes the next counter of its stream, gathers what is only covered
//! (associated data) and what is encrypted too (plaintext), and puts ciphertext and tag back into the transfer.
//! [`SecureEnd::open`] at the other end takes the same counter, because a stream keeps its order, makes the plaintext, seals it
//! again, and compares the tags. A key roll is behind the transaction that announces it. Each pair of accelerators and each
//! direction has two ends of its own. A transfer is sealed below the UPLI: an encrypted address says nothing about places.
//!
//! The sheet gives the parts, not their order. Our choices \[D\], beside those of [`SecurityConfig`]: associated data is the
//! uncompressed field, little-endian, with 0 for what a hop may change (CLOAD, CWAY, POOL, NUMBEATS without data, the source of a
//! response) and for encrypted bits, then what of data and byte enables is not encrypted; encrypted bits stand packed from bit 0 on (address,
//! tag, address space), little-endian, filled with zeros to whole bytes, and the fill does not travel; a tag is the first 8
//! bytes that GCM gives; a bad tag uses up its counter; a poisoned transfer cannot be judged; a key roll ends with the message
//! itself (requests) or with its response, and the counter starts again.

use aes_gcm::aead::{AeadInOut, KeyInit};
use aes_gcm::{Aes256Gcm, Nonce};
use scalepool_protocols::ualink::code::{RdWr, ReqCmd};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::half::HALF_BYTES;
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::ualink::upli::Iv;
use scalepool_protocols::wire::{FieldError, Wire};
use std::fmt;
use thiserror::Error;

/// Bytes of a key of AES-256.
pub const KEY_BYTES: usize = 32;
/// Bytes of an initialisation vector (`ualink` §12).
pub const IV_BYTES: usize = 12;
/// Bytes of a tag of GCM, of which 8 travel (`ualink` §12).
pub const TAG_BYTES: usize = 16;
/// Lowest and highest bit of an address that are encrypted (`ualink` §12).
pub const ADDRESS_BITS: (u32, u32) = (2, 17);

/// What is done to transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protection {
    /// Nothing.
    #[default]
    Off,
    /// A tag covers them.
    Authenticate,
    /// They are encrypted, and a tag covers them if tags are on.
    Encrypt,
}

/// What both ends agree on. The marks \[D\] name what the sheet leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecurityConfig {
    /// What is done to transactions.
    pub protection: Protection,
    /// Tags of 8 bytes; else none.
    pub tags: bool,
    /// Counter of the first transaction of a key \[D\].
    pub first_counter: u32,
    /// Byte enables are encrypted like data, else covered alone \[D\].
    pub encrypt_enables: bool,
    /// Encrypted bits of the field stand before the data in the plaintext, else behind it \[D\].
    pub field_first: bool,
}

impl Default for SecurityConfig {
    fn default() -> SecurityConfig {
        SecurityConfig {
            protection: Protection::Off,
            tags: true,
            first_counter: 1,
            encrypt_enables: true,
            field_first: true,
        }
    }
}

/// Transactions that share a key and a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stream {
    /// Requests.
    Requests,
    /// Read responses.
    ReadResponses,
    /// Write responses.
    WriteResponses,
}

impl Stream {
    /// All of them, in the order of the sheet.
    pub const ALL: [Stream; 3] = [Stream::Requests, Stream::ReadResponses, Stream::WriteResponses];

    /// The stream of a transaction; `None` for compressed fields and credits.
    pub fn of(field: &ControlField) -> Option<Stream> {
        match field {
            ControlField::Request(_) => Some(Stream::Requests),
            ControlField::Response(rsp) if rsp.rdwr == RdWr::Read => Some(Stream::ReadResponses),
            ControlField::Response(_) => Some(Stream::WriteResponses),
            _ => None,
        }
    }

    /// The stream whose key a request rolls: a UPLI Write Message of type 1, 2 or 3 (`ualink` §12).
    pub fn rolled_by(field: &ControlField) -> Option<Stream> {
        match field {
            ControlField::Request(TlReq { cmd: ReqCmd::WriteMessage, metadata, .. }) => match metadata {
                1 => Some(Stream::Requests),
                2 => Some(Stream::ReadResponses),
                3 => Some(Stream::WriteResponses),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A key of AES-256. It is not printed.
#[derive(Clone, PartialEq, Eq)]
pub struct AesKey(pub [u8; KEY_BYTES]);

impl fmt::Debug for AesKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// A transaction that is not sealed or not opened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SecurityError {
    /// Authentication without a tag would do nothing.
    #[error("found authentication alone and no tags, expected tags")]
    NoTags,
    /// A compressed field or credits.
    #[error("found {0}, expected an uncompressed request or response")]
    Form(&'static str),
    /// A field is too wide.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// More than GCM can take.
    #[error("found {0} bytes, expected at most what GCM takes")]
    Length(usize),
    /// A counter that was used with this key, or a key that was used before.
    #[error("{stream:?}: found {found}, expected {expected}: an initialisation vector is used once with a key")]
    IvReuse {
        /// Stream.
        stream: Stream,
        /// Counter or key.
        found: String,
        /// What is free.
        expected: String,
    },
    /// All counters of a key are used.
    #[error("{0:?}: found no counter left, expected a key roll before")]
    Exhausted(Stream),
    /// A key roll without a key to roll to.
    #[error("{0:?}: found no next key, expected one before the key roll")]
    NoNextKey(Stream),
    /// The tag does not fit: something was changed on the way, or the ends are out of step.
    #[error("{stream:?}, counter {counter}: found tag {found:#018x}, expected the one of what arrived")]
    Tag {
        /// Stream.
        stream: Stream,
        /// Counter of the vector.
        counter: u32,
        /// As it arrived.
        found: u64,
    },
    /// Data was replaced on the way because it is known to be wrong.
    #[error("{stream:?}, counter {counter}: found poisoned beats {found:#06b}, expected none")]
    Poisoned {
        /// Stream.
        stream: Stream,
        /// Counter of the vector.
        counter: u32,
        /// Bit i: beat i.
        found: u8,
    },
}

/// AES-256-GCM (NIST SP 800-38D): encrypts in place, gives the whole tag.
///
/// # Errors
/// More bytes than GCM can take.
pub fn encrypt(
    key: &AesKey,
    iv: &[u8; IV_BYTES],
    associated: &[u8],
    data: &mut [u8],
) -> Result<[u8; TAG_BYTES], SecurityError> {
    run(&Aes256Gcm::new(&key.0.into()), iv, associated, data)
}

fn run(
    cipher: &Aes256Gcm,
    iv: &[u8; IV_BYTES],
    associated: &[u8],
    data: &mut [u8],
) -> Result<[u8; TAG_BYTES], SecurityError> {
    let bytes = associated.len() + data.len();
    let tag = cipher.encrypt_inout_detached(&Nonce::from(*iv), associated, data.into());
    tag.map(Into::into).map_err(|_| SecurityError::Length(bytes))
}

/// The initialisation vector of a counter.
fn vector(counter: u32) -> [u8; IV_BYTES] {
    // 64 zero bits, then the counter with its highest byte first: the layout `ualink.iv`.
    let bits = Iv { counter, ..Iv::default() }.to_bits().unwrap_or_default();
    let mut iv = [0; IV_BYTES];
    iv.copy_from_slice(&Iv::DEF.to_bytes(bits)[..IV_BYTES]);
    iv
}

/// Encrypted bits of a field, packed, and how many they are.
fn hidden(field: &ControlField) -> (u32, u32) {
    let (low, high) = ADDRESS_BITS;
    match field {
        ControlField::Request(req) => {
            let address = (req.address >> low) as u32 & ((1 << (high - low + 1)) - 1);
            (address | u32::from(req.tag) << 16 | u32::from(req.asi) << 27, 29)
        }
        ControlField::Response(rsp) => (rsp.tag.into(), 11),
        _ => (0, 0),
    }
}

/// The field with other encrypted bits.
fn with_hidden(field: &ControlField, bits: u32) -> ControlField {
    let (low, high) = ADDRESS_BITS;
    match field {
        ControlField::Request(req) => {
            let mask = ((1_u64 << (high - low + 1)) - 1) << low;
            ControlField::Request(TlReq {
                address: req.address & !mask | u64::from(bits) << low & mask,
                tag: (bits >> 16 & 0x7ff) as u16,
                asi: (bits >> 27 & 3) as u8,
                ..*req
            })
        }
        ControlField::Response(rsp) => ControlField::Response(TlRsp { tag: (bits & 0x7ff) as u16, ..*rsp }),
        other => *other,
    }
}

/// A transaction, taken apart.
struct TransactionParts {
    associated: Vec<u8>,
    /// Empty when nothing is encrypted.
    secret: Vec<u8>,
    /// Place and bytes of the field's bits in it.
    field_at: (usize, usize),
}

impl TransactionParts {
    fn of(transfer: &Transfer, config: &SecurityConfig) -> Result<TransactionParts, SecurityError> {
        // A part that is too wide would spill into its neighbours.
        transfer.field.to_bits()?;
        let encrypts = config.protection == Protection::Encrypt;
        let plain = if encrypts { with_hidden(&transfer.field, 0) } else { transfer.field };
        let unhopped = match plain {
            ControlField::Request(req) => {
                let numbeats = if req.cmd.has_data() { req.numbeats } else { 0 };
                ControlField::Request(TlReq { cload: false, cway: 0, pool: false, numbeats, ..req })
            }
            ControlField::Response(rsp) => ControlField::Response(TlRsp { pool: false, src: 0, ..rsp }),
            other => other,
        };
        let bytes = unhopped.def().bits as usize / 8;
        let mut associated = unhopped.to_bits()?.to_le_bytes()[..bytes].to_vec();
        let data = transfer.data.to_vec().concat();
        let enables = transfer.enables.as_ref().map_or(Vec::new(), |half| half.to_vec());
        if !encrypts {
            associated.extend(data.into_iter().chain(enables));
            return Ok(TransactionParts { associated, secret: Vec::new(), field_at: (0, 0) });
        }
        let mut secret = data;
        if config.encrypt_enables {
            secret.extend(enables);
        } else {
            associated.extend(enables);
        }
        let (bits, width) = hidden(&transfer.field);
        let own = &bits.to_le_bytes()[..width.div_ceil(8) as usize];
        let at = if config.field_first { 0 } else { secret.len() };
        secret.splice(at..at, own.iter().copied());
        Ok(TransactionParts { associated, secret, field_at: (at, own.len()) })
    }

    /// The transfer with what is in `secret` now.
    fn put_back(&self, transfer: &Transfer, config: &SecurityConfig) -> Transfer {
        let mut out = transfer.clone();
        if config.protection != Protection::Encrypt {
            return out;
        }
        let mut rest = self.secret.clone();
        let own: Vec<u8> = rest.drain(self.field_at.0..self.field_at.0 + self.field_at.1).collect();
        let bits = own.iter().rev().fold(0, |bits, &byte| bits << 8 | u32::from(byte));
        out.field = with_hidden(&transfer.field, bits);
        if let ControlField::Request(req) = &out.field {
            out.address = req.address.into();
        }
        let mut bytes = rest.as_chunks::<HALF_BYTES>().0.iter();
        out.data.change(|data| data.iter_mut().zip(&mut bytes).for_each(|(half, bytes)| *half = *bytes));
        out.enables.as_deref_mut().into_iter().zip(bytes).for_each(|(half, bytes)| *half = *bytes);
        out
    }

    /// Fills the packed bits up with zeros.
    fn clear_fill(&mut self, field: &ControlField) {
        let (_, width) = hidden(field);
        let (at, bytes) = self.field_at;
        if bytes > 0 {
            self.secret[at + bytes - 1] &= 0xff >> (8 * bytes as u32 - width);
        }
    }
}

/// Key and counter of a stream.
#[derive(Clone)]
struct StreamState {
    cipher: Aes256Gcm,
    next_key: Option<AesKey>,
    /// The next one; `None`: all are used.
    counter: Option<u32>,
    /// The response to this tag is the last one of its key.
    rolls_at: Option<u16>,
}

/// One end of a protected pair: it seals what it sends and opens what it gets.
#[derive(Clone)]
pub struct SecureEnd {
    config: SecurityConfig,
    streams: [StreamState; 3],
    /// Keys that were loaded, at any time.
    keys: Vec<AesKey>,
}

impl fmt::Debug for SecureEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counters = self.streams.each_ref().map(|stream| stream.counter);
        f.debug_struct("SecureEnd").field("config", &self.config).field("counters", &counters).finish_non_exhaustive()
    }
}

impl SecureEnd {
    /// An end with its keys: requests, read responses, write responses.
    ///
    /// # Errors
    /// Two streams with one key, which would use vectors twice; authentication without tags.
    pub fn new(config: SecurityConfig, keys: [AesKey; 3]) -> Result<SecureEnd, SecurityError> {
        if config.protection == Protection::Authenticate && !config.tags {
            return Err(SecurityError::NoTags);
        }
        let streams = keys.each_ref().map(|key| StreamState {
            cipher: Aes256Gcm::new(&key.0.into()),
            next_key: None,
            counter: Some(config.first_counter),
            rolls_at: None,
        });
        let mut end = SecureEnd { config, streams, keys: Vec::new() };
        for (stream, key) in Stream::ALL.into_iter().zip(keys) {
            end.remember(stream, key)?;
        }
        Ok(end)
    }

    /// Counter of the next transaction of a stream; `None`: all are used.
    pub fn counter(&self, stream: Stream) -> Option<u32> {
        self.streams[stream as usize].counter
    }

    /// Goes on with a later counter.
    ///
    /// # Errors
    /// The counter was used with this key.
    pub fn skip_to(&mut self, stream: Stream, counter: u32) -> Result<(), SecurityError> {
        let state = &mut self.streams[stream as usize];
        match state.counter {
            Some(next) if counter >= next => {
                state.counter = Some(counter);
                Ok(())
            }
            next => {
                let expected = next.map_or("none".to_owned(), |next| format!("counter {next} or a later one"));
                Err(SecurityError::IvReuse { stream, found: format!("counter {counter}"), expected })
            }
        }
    }

    /// Loads the key that the next key roll of a stream takes.
    ///
    /// # Errors
    /// The key was used by this end before.
    pub fn load_next_key(&mut self, stream: Stream, key: AesKey) -> Result<(), SecurityError> {
        self.remember(stream, key.clone())?;
        self.streams[stream as usize].next_key = Some(key);
        Ok(())
    }

    /// Whether a stream has a key to roll to.
    pub fn has_next_key(&self, stream: Stream) -> bool {
        self.streams[stream as usize].next_key.is_some()
    }

    /// Protects a transaction that is sent.
    ///
    /// # Errors
    /// It has no uncompressed form, its stream has no counter left, or it rolls a key and there is none. Nothing is used up
    /// then.
    pub fn seal(&mut self, transfer: &Transfer) -> Result<Transfer, SecurityError> {
        let Some((stream, counter)) = self.place(transfer)? else { return Ok(transfer.clone()) };
        self.check_roll(&transfer.field)?;
        let mut parts = TransactionParts::of(transfer, &self.config)?;
        let tag = run(&self.streams[stream as usize].cipher, &vector(counter), &parts.associated, &mut parts.secret)?;
        self.use_up(stream, counter);
        let auth_tag = if self.config.tags { travels(&tag) } else { 0 };
        self.roll_behind(stream, &transfer.field);
        Ok(Transfer { auth_tag, ..parts.put_back(transfer, &self.config) })
    }

    /// Takes the protection off a transaction that has arrived.
    ///
    /// # Errors
    /// Its tag does not fit or it is poisoned: its counter is used up, and it must not be used. Or it has no uncompressed
    /// form, its stream has no counter left, or it rolls a key and there is none.
    pub fn open(&mut self, transfer: &Transfer) -> Result<Transfer, SecurityError> {
        let Some((stream, counter)) = self.place(transfer)? else { return Ok(transfer.clone()) };
        self.use_up(stream, counter);
        if transfer.poisoned != 0 {
            return Err(SecurityError::Poisoned { stream, counter, found: transfer.poisoned });
        }
        let cipher = &self.streams[stream as usize].cipher;
        let mut parts = TransactionParts::of(transfer, &self.config)?;
        // What encrypts zeros is the key stream, and ciphertext with the key stream over it is plaintext.
        let mut key_stream = vec![0; parts.secret.len()];
        run(cipher, &vector(counter), &[], &mut key_stream)?;
        parts.secret.iter_mut().zip(&key_stream).for_each(|(byte, key)| *byte ^= key);
        parts.clear_fill(&transfer.field);
        let opened = Transfer { auth_tag: 0, ..parts.put_back(transfer, &self.config) };
        let tag = run(cipher, &vector(counter), &parts.associated, &mut parts.secret)?;
        let expected = if self.config.tags { travels(&tag) } else { 0 };
        if transfer.auth_tag != expected {
            return Err(SecurityError::Tag { stream, counter, found: transfer.auth_tag });
        }
        self.check_roll(&opened.field)?;
        self.roll_behind(stream, &opened.field);
        Ok(opened)
    }

    /// Stream and counter of a transaction; `None` when nothing is protected.
    fn place(&self, transfer: &Transfer) -> Result<Option<(Stream, u32)>, SecurityError> {
        if self.config.protection == Protection::Off {
            return Ok(None);
        }
        let stream = Stream::of(&transfer.field).ok_or(SecurityError::Form(transfer.field.def().name))?;
        let counter = self.streams[stream as usize].counter.ok_or(SecurityError::Exhausted(stream))?;
        Ok(Some((stream, counter)))
    }

    fn use_up(&mut self, stream: Stream, counter: u32) {
        self.streams[stream as usize].counter = counter.checked_add(1);
    }

    fn remember(&mut self, stream: Stream, key: AesKey) -> Result<(), SecurityError> {
        if self.keys.contains(&key) {
            let (found, expected) = ("a key that was loaded before".to_owned(), "a new key".to_owned());
            return Err(SecurityError::IvReuse { stream, found, expected });
        }
        self.keys.push(key);
        Ok(())
    }

    fn check_roll(&self, field: &ControlField) -> Result<(), SecurityError> {
        match Stream::rolled_by(field) {
            Some(stream) if self.streams[stream as usize].next_key.is_none() => Err(SecurityError::NoNextKey(stream)),
            _ => Ok(()),
        }
    }

    /// Rolls keys behind a transaction.
    fn roll_behind(&mut self, stream: Stream, field: &ControlField) {
        match field {
            ControlField::Request(req) => match Stream::rolled_by(field) {
                Some(Stream::Requests) => self.roll(Stream::Requests),
                Some(other) => self.streams[other as usize].rolls_at = Some(req.tag),
                None => {}
            },
            ControlField::Response(rsp) => {
                let announced = self.streams[stream as usize].rolls_at == Some(rsp.tag);
                if announced && (rsp.rdwr != RdWr::Read || rsp.last) {
                    self.roll(stream);
                }
            }
            _ => {}
        }
    }

    fn roll(&mut self, stream: Stream) {
        let state = &mut self.streams[stream as usize];
        if let Some(key) = state.next_key.take() {
            state.cipher = Aes256Gcm::new(&key.0.into());
            state.counter = Some(self.config.first_counter);
        }
        state.rolls_at = None;
    }
}

/// The 8 bytes of a tag that travel, byte 0 lowest as in a tag half (`ualink` §9).
fn travels(tag: &[u8; TAG_BYTES]) -> u64 {
    tag[..8].iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}
