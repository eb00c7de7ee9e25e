//! Transactions as words and beats of a UPLI, and as the transfers of the transaction layer.
//!
//! A transfer has a byte-enable half for its block of 256 bytes where the command asks for one; a UPLI has 64 enables a
//! beat, in every beat. Beat k of a transfer lies in the block at 64-byte place `address[7:6] + k`. Our choices \[D\]:
//! `offset` counts the beats of the transfer from 0; the enables of a WriteFull are all ones.

use super::config::MAX_BEATS;
use super::signals::{
    BEAT_BYTES, DataWires, RdWires, ReqWires, WrWires, data_is_even, seal_request, seal_write_response,
};
use scalepool_protocols::ualink::code::{RdWr, ReqCmd};
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::half::{HALF_BYTES, Half};
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::ualink::upli::{UpliOrigData, UpliRdRsp, UpliReq, UpliWrRsp, data_parity};
use scalepool_protocols::wire::{FieldError, Wire};
use thiserror::Error;

/// A transaction that has no form on the other side.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConvertError {
    /// Flow control, or a compressed field.
    #[error("found {0}, expected an uncompressed {1}")]
    Form(&'static str, &'static str),
    /// A field is too wide.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// A command that is reserved.
    #[error("found command {0:#04x}, expected one that is listed")]
    Command(u8),
    /// Data that the field does not ask for, or too little.
    #[error("found {found} beats, expected {expected}")]
    Beats {
        /// Beats.
        found: usize,
        /// As the field says.
        expected: usize,
    },
    /// Half a beat.
    #[error("found {0} data halves, expected two a beat")]
    Halves(usize),
    /// Byte enables that the command does not have, or none where it has.
    #[error("found byte enables: {found}, expected: {expected}")]
    Enables {
        /// There are some.
        found: bool,
        /// As the command says.
        expected: bool,
    },
    /// A byte that no beat holds is enabled.
    #[error("found byte {0} of the block enabled, expected bytes of the transfer's beats alone")]
    Outside(usize),
    /// The beats leave their block of 256 bytes.
    #[error("found {beats} beats from place {place} of the block, expected at most 4 places")]
    Block {
        /// 64-byte place of the first.
        place: usize,
        /// Beats.
        beats: usize,
    },
}

/// A request: its word and the beats behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpliRequest {
    /// On the request channel.
    pub wires: ReqWires,
    /// On the originator data channel, in order.
    pub beats: Vec<DataWires>,
}

/// A response: what its channel carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Response {
    /// Beats on the read response channel: all of a read, or one.
    Read(Vec<RdWires>),
    /// On the write response channel.
    Write(WrWires),
}

/// 64-byte place of a beat in its block of 256 bytes.
fn place(address: u64) -> usize {
    (address / BEAT_BYTES as u64 % u64::from(MAX_BEATS)) as usize
}

/// Beats of originator data of a request (`ualink` §9, §12).
pub fn data_beats(word: &UpliReq, codec: &UalConfig) -> usize {
    ControlField::Request(tl_request(word)).owed(codec).beats
}

/// Beats that answer a request: those of a read by its address and length, one of an AtomicR, vendor atomics as many as
/// they carry \[D\]; 0: a write response answers it.
pub fn read_beats(word: &UpliReq) -> usize {
    match word.cmd {
        ReqCmd::AtomicR => 1,
        cmd if cmd.is_atomic() && cmd != ReqCmd::AtomicNR => usize::from(word.numbeats) + 1,
        // UPLI Write Messages of type 2 roll the key of read responses and are answered there (`ualink` §12).
        ReqCmd::WriteMessage if word.metadata == 2 => 1,
        cmd if cmd.has_data() => 0,
        _ => {
            let bytes = word.address % BEAT_BYTES as u64 + 4 * (u64::from(word.len) + 1);
            (bytes.div_ceil(BEAT_BYTES as u64) as usize).min(usize::from(MAX_BEATS))
        }
    }
}

fn tl_request(word: &UpliReq) -> TlReq {
    TlReq {
        numbeats: word.numbeats,
        dst: word.dst,
        src: word.src,
        address: word.address,
        metadata: word.metadata,
        len: word.len,
        attr: word.attr,
        pool: word.pool,
        tag: word.tag,
        asi: word.asi,
        vchan: word.vc,
        cmd: word.cmd,
        ..TlReq::default()
    }
}

fn beats_of(transfer: &Transfer, expected: usize) -> Result<Vec<[u8; BEAT_BYTES]>, ConvertError> {
    let halves = transfer.data.to_vec();
    let (pairs, []) = halves.as_chunks::<2>() else { return Err(ConvertError::Halves(transfer.data.len())) };
    if pairs.len() != expected {
        return Err(ConvertError::Beats { found: pairs.len(), expected });
    }
    let join = |[low, high]: &[Half; 2]| std::array::from_fn(|k| [low, high][k / HALF_BYTES][k % HALF_BYTES]);
    Ok(pairs.iter().map(join).collect())
}

fn halves_of(beat: &[u8; BEAT_BYTES]) -> [Half; 2] {
    [0, 1].map(|n| std::array::from_fn(|k| beat[n * HALF_BYTES + k]))
}

/// The enables of each beat.
fn enables_of(half: &Half, place: usize, beats: usize) -> Result<Vec<u64>, ConvertError> {
    let inside = 8 * place..8 * (place + beats);
    if let Some(byte) = (0..HALF_BYTES).find(|byte| half[*byte] != 0 && !inside.contains(byte)) {
        return Err(ConvertError::Outside(8 * byte + half[byte].trailing_zeros() as usize));
    }
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
    Ok(half[inside].chunks_exact(8).map(word).collect())
}

/// A request of the transaction layer as a UPLI of this port carries it.
///
/// # Errors
/// It is no uncompressed request, its data does not fit its command, or enables lie outside.
pub fn request_to_wires(transfer: &Transfer, port: u8, codec: &UalConfig) -> Result<UpliRequest, ConvertError> {
    let ControlField::Request(req) = &transfer.field else {
        return Err(ConvertError::Form(transfer.field.def().name, "request"));
    };
    if req.cmd.name().is_none() {
        return Err(ConvertError::Command(req.cmd.0));
    }
    // Misaligned addresses and wide fields are refused here.
    req.to_bits()?;
    let word = UpliReq {
        valid: true,
        port,
        vc: req.vchan,
        pool: req.pool,
        tag: req.tag,
        src: req.src,
        dst: req.dst,
        address: req.address,
        cmd: req.cmd,
        len: req.len,
        attr: req.attr,
        metadata: req.metadata,
        asi: req.asi,
        numbeats: if req.cmd.has_data() { req.numbeats } else { 0 },
        parity: false,
    };
    let owed = transfer.field.owed(codec);
    let data = beats_of(transfer, owed.beats)?;
    let first = place(req.address);
    if first + owed.beats > usize::from(MAX_BEATS) {
        return Err(ConvertError::Block { place: first, beats: owed.beats });
    }
    let enables = match &transfer.enables {
        Some(half) if owed.enables => enables_of(half, first, owed.beats)?,
        None if !owed.enables => vec![u64::MAX; owed.beats],
        other => return Err(ConvertError::Enables { found: other.is_some(), expected: owed.enables }),
    };
    let beat = |(k, (data, byte_en)): (usize, ([u8; BEAT_BYTES], u64))| DataWires {
        word: UpliOrigData {
            valid: true,
            port,
            vc: req.vchan,
            pool: req.pool,
            offset: k as u8,
            last: k + 1 == owed.beats,
            error: transfer.poisoned >> k & 1 == 1,
            byte_en,
            data_parity: data_parity(&data),
        },
        data,
    };
    let beats = data.into_iter().zip(enables).enumerate().map(beat).collect();
    Ok(UpliRequest { wires: ReqWires { word: seal_request(word)?, auth_tag: transfer.auth_tag }, beats })
}

/// A request of a UPLI as the transaction layer has it. A beat whose parity does not fit is poisoned.
///
/// # Errors
/// The command is reserved, or the beats are not those of the request.
pub fn request_from_wires(request: &UpliRequest, codec: &UalConfig) -> Result<Transfer, ConvertError> {
    let word = &request.wires.word;
    if word.cmd.name().is_none() {
        return Err(ConvertError::Command(word.cmd.0));
    }
    let field = ControlField::Request(tl_request(word));
    let owed = field.owed(codec);
    if request.beats.len() != owed.beats {
        return Err(ConvertError::Beats { found: request.beats.len(), expected: owed.beats });
    }
    let first = place(word.address);
    if first + owed.beats > usize::from(MAX_BEATS) {
        return Err(ConvertError::Block { place: first, beats: owed.beats });
    }
    let mut transfer =
        Transfer { address: word.address.into(), auth_tag: request.wires.auth_tag, ..Transfer::new(field) };
    let mut enables = [0; HALF_BYTES];
    for (k, beat) in request.beats.iter().enumerate() {
        halves_of(&beat.data).into_iter().for_each(|half| transfer.data.push(half, 2 * request.beats.len()));
        let wrong = beat.word.error || !data_is_even(&beat.data, beat.word.data_parity);
        transfer.poisoned |= u8::from(wrong) << k;
        enables[8 * (first + k)..8 * (first + k + 1)].copy_from_slice(&beat.word.byte_en.to_le_bytes());
    }
    transfer.enables = owed.enables.then(|| Box::new(enables));
    Ok(transfer)
}

/// A response of the transaction layer as a UPLI of this port carries it.
///
/// # Errors
/// It is no uncompressed response, or its data does not fit.
pub fn response_to_wires(transfer: &Transfer, port: u8) -> Result<Response, ConvertError> {
    let ControlField::Response(rsp) = &transfer.field else {
        return Err(ConvertError::Form(transfer.field.def().name, "response"));
    };
    rsp.to_bits()?;
    if transfer.enables.is_some() {
        return Err(ConvertError::Enables { found: true, expected: false });
    }
    if rsp.rdwr != RdWr::Read {
        beats_of(transfer, 0)?;
        let word = UpliWrRsp {
            valid: true,
            port,
            vc: rsp.vchan,
            pool: rsp.pool,
            tag: rsp.tag,
            src: rsp.src,
            dst: rsp.dst,
            status: rsp.status,
            parity: false,
        };
        return Ok(Response::Write(WrWires { word: seal_write_response(word)?, auth_tag: transfer.auth_tag }));
    }
    let beats = usize::from(rsp.len) + 1;
    let beat = |(k, data): (usize, [u8; BEAT_BYTES])| RdWires {
        word: UpliRdRsp {
            valid: true,
            port,
            vc: rsp.vchan,
            pool: rsp.pool,
            tag: rsp.tag,
            src: rsp.src,
            dst: rsp.dst,
            status: rsp.status,
            numbeats: rsp.len,
            offset: if beats == 1 { rsp.offset } else { k as u8 },
            last: if beats == 1 { rsp.last } else { k + 1 == beats },
            error: transfer.poisoned >> k & 1 == 1,
            data_parity: data_parity(&data),
        },
        auth_tag: transfer.auth_tag,
        data,
    };
    Ok(Response::Read(beats_of(transfer, beats)?.into_iter().enumerate().map(beat).collect()))
}

/// A response of a UPLI as the transaction layer has it. A beat whose parity does not fit is poisoned.
///
/// # Errors
/// The number of beats is not what the first one says.
pub fn response_from_wires(response: &Response) -> Result<Transfer, ConvertError> {
    match response {
        Response::Write(WrWires { word, auth_tag }) => {
            let rsp = TlRsp {
                rdwr: RdWr::Write,
                dst: word.dst,
                src: word.src,
                status: word.status,
                pool: word.pool,
                tag: word.tag,
                vchan: word.vc,
                ..TlRsp::default()
            };
            Ok(Transfer { auth_tag: *auth_tag, ..Transfer::new(ControlField::Response(rsp)) })
        }
        Response::Read(beats) => {
            let Some(first) = beats.first() else { return Err(ConvertError::Beats { found: 0, expected: 1 }) };
            let word = &first.word;
            let expected = usize::from(word.numbeats) + 1;
            if beats.len() != expected {
                return Err(ConvertError::Beats { found: beats.len(), expected });
            }
            let single = expected == 1;
            let rsp = TlRsp {
                rdwr: RdWr::Read,
                len: word.numbeats,
                offset: if single { word.offset } else { 0 },
                last: !single || word.last,
                dst: word.dst,
                src: word.src,
                status: word.status,
                pool: word.pool,
                tag: word.tag,
                vchan: word.vc,
                ..TlRsp::default()
            };
            let mut transfer = Transfer { auth_tag: first.auth_tag, ..Transfer::new(ControlField::Response(rsp)) };
            for (k, beat) in beats.iter().enumerate() {
                halves_of(&beat.data).into_iter().for_each(|half| transfer.data.push(half, 2 * beats.len()));
                let wrong = beat.word.error || !data_is_even(&beat.data, beat.word.data_parity);
                transfer.poisoned |= u8::from(wrong) << k;
            }
            Ok(transfer)
        }
    }
}
