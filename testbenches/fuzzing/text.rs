//! Text: vector files, objects as JSON, memory traces.

use super::to_send;
use scalepool::forms::hex::{HexOrder, HexReader};
use scalepool::forms::message::{message_from_json, message_to_json};
use scalepool::forms::{flit_io, flit_nvl, flit68, flit256};
use scalepool::golden::{hex::parse_hex, rsp::parse_rsp};
use scalepool::nodes::stimulus::{MAX_ACCESS_BYTES, StimulusFormat, line_accesses, parse_trace};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::nvlink::NvlConfig;
use serde_json::Value;

/// Vector files, `.hex` and `.rsp`, and lines of digits: read or refused with a place inside the text.
pub fn vectors(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let lines = text.lines().count();
    match parse_hex(text) {
        Ok(file) => {
            assert_eq!(file.comments.len() + file.vectors.len(), lines);
            let digits = file.vectors.first().map(|v| v.digits.len());
            assert!(file.vectors.iter().all(|v| Some(v.digits.len()) == digits && v.line <= lines));
        }
        Err(e) => assert!(e.line <= lines + 1 && e.column >= 1, "{e}"),
    }
    match parse_rsp(text) {
        Ok(file) => assert!(file.cases.iter().all(|c| c.line <= lines && !c.values.is_empty())),
        Err(e) => assert!(e.line <= lines + 1 && e.column >= 1, "{e}"),
    }
    for order in [HexOrder::Byte0, HexOrder::Msb] {
        digits(text, HexReader::new(4, false, order), |bytes| bytes == 4);
        digits(text, HexReader::new(16, true, order), |bytes| bytes % 16 == 0 && (16..=288).contains(&bytes));
    }
}

/// Flits as simulators print them: each has its length, whatever is refused has a line of the text.
fn digits(text: &str, mut reader: HexReader, is_unit: impl Fn(usize) -> bool) {
    let mut units: Vec<_> = (1..).zip(text.lines()).flat_map(|(n, line)| reader.line(n, line)).collect();
    units.extend(reader.finish());
    for unit in units {
        match unit {
            Ok(bytes) => assert!(is_unit(bytes.len()), "{} bytes", bytes.len()),
            Err(e) => assert!(e.line.is_some_and(|n| (1..=text.lines().count() as u64).contains(&n)), "{e}"),
        }
    }
}

/// A line of `encode --jsonl`. What is read is printed, and read again as the same.
pub fn message_object(bytes: &[u8]) {
    let Ok(form) = serde_json::from_slice::<Value>(bytes) else { return };
    match message_from_json(&form) {
        Ok((def, bits)) => {
            assert!(bits <= u128::MAX >> (128 - def.bits), "{form}");
            let again = message_from_json(&message_to_json(def, bits)).map(|(def, bits)| (def.name, bits));
            assert_eq!(again, Ok((def.name, bits)), "{form}");
        }
        Err(e) => assert!(!e.to_string().is_empty()),
    }
}

/// Lines of `flit encode`: bit 0 of the first byte chooses the direction, bits 1 to 3 the protocol. What an encoder
/// prints, it makes the same flit of.
pub fn flit_object(bytes: &[u8]) {
    let Some((choice, text)) = bytes.split_first() else { return };
    let dir = Some(if choice & 1 == 0 { Dir::Down } else { Dir::Up });
    let forms = text.split(|&b| b == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    match choice >> 1 & 7 {
        n @ 0..3 => {
            let mut encoder = flit256::Cxl256FlitEncoder::new(Mode::ALL[usize::from(n)], dir);
            stays(forms, |form| encoder.encode(form).map(|e| (e.unit, e.form)));
        }
        3 | 4 => {
            let mut encoder = flit_io::IoFlitEncoder::new(dir);
            stays(forms, |form| encoder.encode(form).map(|e| (e.unit, e.form)));
        }
        6 => {
            let mut encoder = flit_nvl::NvlPacketEncoder::new(NvlConfig::default(), dir);
            stays(forms, |form| encoder.encode(form).map(|e| (e.packet, e.form)));
        }
        _ => {
            let mut encoder = flit68::Cxl68UnitEncoder::new(dir);
            stays(forms, |form| encoder.encode(form).map(|e| (e.unit, e.form)));
        }
    }
}

fn stays<U: PartialEq + std::fmt::Debug>(
    forms: impl Iterator<Item = Value>,
    mut encode: impl FnMut(&Value) -> Result<(U, Value), scalepool::forms::FormError>,
) {
    for form in forms {
        match encode(&form) {
            Ok((unit, mut form)) => {
                to_send(&mut form);
                let (again, _) = encode(&form).unwrap_or_else(|e| panic!("{form} is refused: {e}"));
                assert_eq!(again, unit, "{form}");
            }
            Err(e) => assert!(!e.to_string().is_empty()),
        }
    }
}

/// A memory trace: bits 0 and 1 of the first byte choose the format, or leave it to the text.
pub fn stimulus(bytes: &[u8]) {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let format = [None, Some(StimulusFormat::Lackey), Some(StimulusFormat::Csv)][usize::from(choice & 3) % 3];
    match parse_trace("trace", bytes, format) {
        Ok(accesses) => {
            assert!(accesses.iter().all(|a| (1..=MAX_ACCESS_BYTES).contains(&a.size_bytes)));
            for ifetch in [false, true] {
                line_accesses(&accesses, ifetch).for_each(|line| assert!(line.byte_enables() != 0));
            }
        }
        Err(e) => assert!(!e.to_string().is_empty()),
    }
}
