//! Flits of 256 bytes: the three modes, and those that carry CXL.io alone.

use super::{print, to_send};
use scalepool::forms::{flit_io as io, flit256 as form};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::{Cxl256Flit, FLIT_BYTES};
use serde_json::Value;

/// The bytes as one stream: bit 0 of the first one chooses the direction, bits 2 and 3 the mode, every 256 that follow
/// are a flit. CRC and FEC are made right when bit 1 is set. Each flit goes through decoder, checks and JSON form, and
/// back to the bytes behind the FEC.
pub fn flit256(bytes: &[u8]) {
    let Some((choice, stream)) = bytes.split_first() else { return };
    let (dir, mode) = (dir(*choice), Mode::ALL[usize::from(choice >> 2) % Mode::ALL.len()]);
    let (mut decoder, mut encoder) =
        (form::Cxl256FlitDecoder::new(mode, dir), form::Cxl256FlitEncoder::new(mode, Some(dir)));
    for (n, flit) in flits(*choice, mode, stream).enumerate() {
        let (decoded, findings) = decoder.read(&flit);
        print(&findings.violations);
        print(&findings.lints);
        let mut form = form::to_json(&decoded, &findings, n as u64);
        to_send(&mut form);
        let again = encoder.encode(&form).unwrap_or_else(|e| panic!("{form} is refused: {e:?}"));
        comes_back(decoded.flit(), &again, mode, &form);
    }
}

/// As [`flit256`] for the protocol `cxl-io`; it has one mode.
pub fn flit_io(bytes: &[u8]) {
    let Some((choice, stream)) = bytes.split_first() else { return };
    let (dir, mode) = (dir(*choice), Mode::Standard);
    let (mut decoder, mut encoder) = (io::IoFlitDecoder::new(dir), io::IoFlitEncoder::new(Some(dir)));
    for (n, flit) in flits(*choice, mode, stream).enumerate() {
        let (mut form, findings) = decoder.read(&flit, n as u64);
        print(&findings.violations);
        print(&findings.lints);
        to_send(&mut form);
        let again = encoder.encode(&form).unwrap_or_else(|e| panic!("{form} is refused: {e:?}"));
        comes_back(&flit.receive(mode).flit, &again, mode, &form);
    }
}

fn dir(choice: u8) -> Dir {
    if choice & 1 == 0 { Dir::Down } else { Dir::Up }
}

fn flits(choice: u8, mode: Mode, stream: &[u8]) -> impl Iterator<Item = Cxl256Flit> {
    stream.chunks_exact(FLIT_BYTES).filter_map(|chunk| Cxl256Flit::from_bytes(chunk).ok()).map(move |mut flit| {
        if choice & 2 != 0 {
            flit.seal(mode);
        }
        flit
    })
}

/// All but the FEC, which is the one that belongs to the rest.
fn comes_back(seen: &Cxl256Flit, again: &form::Encoded, mode: Mode, form: &Value) {
    let mut expected = *seen;
    expected.seal_fec(mode);
    assert_eq!(again.unit, expected, "{form}");
}
