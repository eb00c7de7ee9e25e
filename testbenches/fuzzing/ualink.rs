//! DL flits of UALink as a stream, TL flits on their own, and DL messages.

use super::message::of_layout;
use super::{print, to_send};
use scalepool::forms::flit_ual::{UalFlitAnswer, UalFlitDecoder, UalFlitEncoder};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::ualink::compress::CompressionRole;
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::flit::{DlFlit, FLIT_BYTES};
use scalepool_protocols::ualink::half::{TL_BYTES, TlFlit};
use scalepool_protocols::ualink::message::{def_of, unlisted};
use scalepool_protocols::ualink::unpack::TlUnpacker;
use serde_json::Value;

/// The bytes as one stream of DL flits: bit 0 of the first byte chooses the direction, the CRC is made right when bit 1 is
/// set. Each flit goes through decoder, checks and JSON form, and back to the same object.
pub fn ualink(bytes: &[u8]) {
    let Some((choice, stream)) = bytes.split_first() else { return };
    let dir = if choice & 1 == 0 { Dir::Down } else { Dir::Up };
    let mut decoder = UalFlitDecoder::new(dir);
    let mut answers = Vec::new();
    for chunk in stream.chunks_exact(FLIT_BYTES) {
        let Ok(mut flit) = DlFlit::from_bytes(chunk) else { return };
        if choice & 2 != 0 {
            flit.seal(&UalConfig::SHEET);
        }
        let mut copy = flit;
        copy.set_payload(&flit.payload());
        assert_eq!(copy, flit);
        answers.extend(decoder.read(&flit));
    }
    answers.extend(decoder.finish());
    assert_eq!(answers.len(), stream.len() / FLIT_BYTES);
    come_back(dir, answers);
}

/// What was printed makes the same objects again.
pub(super) fn come_back(dir: Dir, answers: Vec<UalFlitAnswer>) {
    let mut encoder = UalFlitEncoder::new(Some(dir));
    let (mut forms, mut again) = (Vec::new(), Vec::new());
    for (form, findings) in answers.into_iter().flatten() {
        print(&findings.violations);
        let mut sent = form.clone();
        to_send(&mut sent);
        forms.push(form);
        again.extend(encoder.encode(&sent));
    }
    again.extend(encoder.finish());
    let again: Vec<Value> = again
        .into_iter()
        .map(|answer| answer.unwrap_or_else(|e| panic!("an object that was printed is refused: {e:?}")).0)
        .collect();
    assert_eq!(again, forms);
}

/// TL flits of 64 bytes, each behind a byte with its two message indicators, as one stream: bit 0 of the first byte chooses
/// whose address cache is filled, bits 1 and 2 what both ends agreed on. Every bit of a TL flit survives its sectors.
pub fn ualink_tl(bytes: &[u8]) {
    let Some((choice, stream)) = bytes.split_first() else { return };
    let role = if choice & 1 == 0 { CompressionRole::ToSwitch } else { CompressionRole::FromSwitch };
    let config =
        UalConfig { authentication: choice & 2 != 0, write_message_enables: choice & 4 == 0, ..UalConfig::SHEET };
    let mut unpacker = TlUnpacker::new(config, role);
    for chunk in stream.chunks_exact(1 + TL_BYTES) {
        let mut flit = TlFlit::default();
        flit.set_indicators(chunk[0]);
        chunk[1..].chunks_exact(4).enumerate().for_each(|(n, s)| flit.set_sector(n, [s[0], s[1], s[2], s[3]]));
        assert_eq!(flit.halves.concat(), chunk[1..]);
        let read = unpacker.read(&flit);
        print(&read.violations);
        for transfer in &read.delivered {
            assert!(transfer.field.to_bits().is_ok(), "{transfer:?}");
        }
    }
}

/// DL messages: every four bytes are a DWord of a listed message, or named as an unlisted one.
pub fn ualink_message(bytes: &[u8]) {
    for chunk in bytes.as_chunks::<4>().0 {
        let word = u32::from_le_bytes(*chunk);
        match def_of(word) {
            Some(def) => of_layout(def, chunk),
            None => print(&[unlisted(word)]),
        }
    }
}
