//! Flits of 68 bytes.

use super::{print, to_send};
use scalepool::forms::flit68::{Cxl68UnitDecoder, Cxl68UnitEncoder, to_json};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::unit::{Cxl68Unit, UNIT_BYTES};

/// The bytes as one stream: the first one chooses the direction, every 68 that follow are a unit; its CRC is made right
/// when the first byte has bit 1 set. Each unit goes through decoder, checks and JSON form and back to the same bytes.
pub fn flit68(bytes: &[u8]) {
    let Some((choice, stream)) = bytes.split_first() else { return };
    let dir = if choice & 1 == 0 { Dir::Down } else { Dir::Up };
    let (mut decoder, mut encoder) = (Cxl68UnitDecoder::new(dir), Cxl68UnitEncoder::new(Some(dir)));
    for (n, chunk) in stream.chunks_exact(UNIT_BYTES).enumerate() {
        let Ok(mut unit) = Cxl68Unit::from_bytes(chunk) else { return };
        if choice & 2 != 0 {
            unit.set_tail(unit.expected_crc());
        }
        let (decoded, findings) = decoder.read(&unit);
        print(&findings.violations);
        print(&findings.lints);
        let mut form = to_json(&decoded, &findings, n as u64);
        to_send(&mut form);
        let again = encoder.encode(&form).unwrap_or_else(|e| panic!("{form} is refused: {e:?}"));
        assert_eq!(again.unit, unit, "{form}");
    }
}
