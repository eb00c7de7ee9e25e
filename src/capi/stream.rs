//! Whole flits as streams: bytes to JSON objects and back, for every protocol.
//!
//! A stream keeps what later flits depend on (rollover, carry-over). Flits go in, answers wait in order until they are
//! taken; an answer of UALink may wait for the next flit, so there can be more or fewer than flits that went in.

use super::call::{Buffer, Caller, call};
use super::check::bytes_of;
use super::parts::PartRecord;
use super::status::{Failure, SP_EMPTY, SP_ERR_KIND, SP_FINDING, SP_OK, SP_UNREADABLE};
use super::table::ObjectTable;
use scalepool::forms::flit::{FlitAnswer, FlitDecoder, FlitEncoder};
use scalepool::forms::options::Options;
use scalepool::forms::{self, number};
use scalepool_protocols::cxl::Dir;
use std::collections::VecDeque;
use std::ffi::c_char;

/// Direction from host to device: H2D, M2S.
pub const SP_DOWN: u32 = 0;
/// Direction from device to host: D2H, S2M.
pub const SP_UP: u32 = 1;

/// Answers that may wait to be taken.
const MAX_ANSWERS: usize = 1 << 16;

pub(super) struct CodecStream {
    codec: Codec,
    answers: VecDeque<FlitAnswer>,
    /// What is left of the answer that was taken last without JSON.
    pub(super) parts: VecDeque<PartRecord>,
}

enum Codec {
    Decode(FlitDecoder),
    Encode(FlitEncoder),
}

pub(super) static STREAMS: ObjectTable<CodecStream> = ObjectTable::new(1, "stream");

pub(super) fn dir_of(dir: u32) -> Result<Dir, Failure> {
    match dir {
        SP_DOWN => Ok(Dir::Down),
        SP_UP => Ok(Dir::Up),
        _ => Err(Failure::range("dir", dir, "SP_DOWN or SP_UP")),
    }
}

impl CodecStream {
    /// The oldest answer.
    pub(super) fn oldest(&self) -> Result<&FlitAnswer, Failure> {
        self.answers.front().ok_or_else(|| Failure::new(SP_EMPTY, "stream: no answer waits"))
    }

    fn has_room(&self, more: usize) -> Result<(), Failure> {
        if self.answers.len().saturating_add(more) > MAX_ANSWERS {
            let found = format!("{} answers and {more} flits", self.answers.len());
            return Err(Failure::range("stream", found, format!("at most {MAX_ANSWERS}: take answers first")));
        }
        Ok(())
    }
}

fn new(codec: Codec, handle: &super::call::OutValue<u64>) -> Result<i32, Failure> {
    handle.set(STREAMS.insert(CodecStream { codec, answers: VecDeque::new(), parts: VecDeque::new() })?);
    Ok(SP_OK)
}

/// Makes a stream that decodes the flits of one direction of a link. `protocol` is a name that `scalepool list
/// protocols` shows, such as `cxl-68b`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_decoder_new(
    protocol: *const c_char,
    protocol_length: usize,
    dir: u32,
    stream: *mut u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let stream = caller.place("stream", stream)?;
        let decoder = FlitDecoder::following(
            &caller.text("protocol", protocol, protocol_length)?,
            dir_of(dir)?,
            &Options::default(),
        )?;
        new(Codec::Decode(decoder), &stream)
    })
}

/// Makes a stream that encodes the flits of one direction of a link. `protocol` is as for sp_decoder_new.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_encoder_new(
    protocol: *const c_char,
    protocol_length: usize,
    dir: u32,
    stream: *mut u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let stream = caller.place("stream", stream)?;
        let encoder = FlitEncoder::new(&caller.text("protocol", protocol, protocol_length)?, Some(dir_of(dir)?))?;
        new(Codec::Encode(encoder), &stream)
    })
}

/// Decodes `count` flits of `flit_bytes` each, which stand one after the other. Their answers are queued in the stream,
/// also that of a flit that cannot be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_stream_decode(stream: u64, flits: *const u8, flit_bytes: usize, count: usize) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let flits = caller.items("flits", flits, bytes_of(count, flit_bytes)?)?;
        STREAMS.with(stream, |stream| {
            stream.has_room(count)?;
            let Codec::Decode(decoder) = &mut stream.codec else {
                return Err(Failure::new(SP_ERR_KIND, "stream: found an encoder, expected a decoder"));
            };
            for n in 0..count {
                stream.answers.extend(decoder.read(Ok(&flits[n * flit_bytes..][..flit_bytes])));
            }
            Ok(SP_OK)
        })
    })
}

/// Encodes the JSON object of a flit, as `scalepool flit encode` reads it. Its answer is queued in the stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_stream_encode(stream: u64, json: *const c_char, json_length: usize) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let json = caller.text("json", json, json_length)?;
        STREAMS.with(stream, |stream| {
            stream.has_room(1)?;
            let Codec::Encode(encoder) = &mut stream.codec else {
                return Err(Failure::new(SP_ERR_KIND, "stream: found a decoder, expected an encoder"));
            };
            stream.answers.extend(encoder.encode(forms::parse(&json)));
            Ok(SP_OK)
        })
    })
}

/// Tells a stream that no more flits follow. Answers that depend on the next flit (UALink) are queued now.
#[unsafe(no_mangle)]
pub extern "C" fn sp_stream_finish(stream: u64) -> i32 {
    call(|| {
        STREAMS.with(stream, |stream| {
            stream.answers.extend(match &mut stream.codec {
                Codec::Decode(decoder) => decoder.finish(),
                Codec::Encode(encoder) => encoder.finish(),
            });
            Ok(SP_OK)
        })
    })
}

/// Takes the oldest answer: the JSON object of the flit, its bytes, or both. Pass null, 0, null for the one that is not
/// wanted. Returns SP_EMPTY if no answer is queued, SP_FINDING for a flit that breaks a rule, and SP_UNREADABLE for a
/// flit that could not be read, which has neither object nor bytes. In the last two cases the answer is taken, too, and
/// sp_last_error gives the reason.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_stream_take(
    stream: u64,
    json: *mut c_char,
    json_capacity: usize,
    json_length: *mut usize,
    flit: *mut u8,
    flit_capacity: usize,
    flit_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let json = caller.wanted("json", json, json_capacity, json_length)?;
        let flit = caller.wanted("flit", flit, flit_capacity, flit_length)?;
        STREAMS.with(stream, |stream| taken(stream, json, flit))
    })
}

/// Takes the oldest answer.
pub(super) fn taken(
    stream: &mut CodecStream,
    json: Option<Buffer<c_char>>,
    flit: Option<Buffer<u8>>,
) -> Result<i32, Failure> {
    let taken = match stream.oldest()? {
        Err(error) => Err(Failure::new(SP_UNREADABLE, error.to_string())),
        Ok((form, findings)) => {
            let text = json.as_ref().map(|_| form.to_string()).unwrap_or_default();
            let bytes = number::bytes_of(form["hex"].as_str().unwrap_or_default(), "hex")?;
            // Both lengths are written before either is too short.
            let fits = [
                json.as_ref().map_or(Ok(()), |json| json.fits_text(&text)),
                flit.as_ref().map_or(Ok(()), |flit| flit.fits(bytes.len())),
            ];
            fits.into_iter().collect::<Result<(), _>>()?;
            json.map_or(Ok(SP_OK), |json| json.fill_text(&text))?;
            flit.map_or(Ok(SP_OK), |flit| flit.fill(&bytes))?;
            match findings.violations.first() {
                Some(first) => Err(Failure::new(SP_FINDING, first.to_string())),
                None => Ok(SP_OK),
            }
        }
    };
    stream.answers.pop_front();
    stream.parts.clear();
    taken
}

/// Gives the number of answers that are queued.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_stream_waiting(stream: u64, count: *mut usize) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let count = caller.place("count", count)?;
        STREAMS.with(stream, |stream| {
            count.set(stream.answers.len());
            Ok(SP_OK)
        })
    })
}

/// Destroys a stream; its handle is invalid from then on.
#[unsafe(no_mangle)]
pub extern "C" fn sp_stream_destroy(stream: u64) -> i32 {
    call(|| STREAMS.remove(stream).map(|()| SP_OK))
}
