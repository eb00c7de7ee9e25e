//! Codes that check what a line carries, and what two ports agree on.
//!
//! Modelled: the codes of every flit and TLP, of a few bytes that a case names. Left out: units around them.

use super::machine::{Figure, NamedReference, number, said};
use scalepool_protocols::check::crc25::Crc25;
use scalepool_protocols::check::crc256::{self, EVEN_BYTES, STANDARD_BYTES};
use scalepool_protocols::check::{crc16, fec256, pcie};
use scalepool_protocols::cxl::cxl68::lanes::Cxl68Width;
use scalepool_protocols::cxl::cxl68::unit::PAYLOAD_BYTES;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxlio::dvsec::{ConnectedMode, FlexBus, Trained, negotiate};

/// All of them.
pub(super) static ALL: [NamedReference; 7] = [
    NamedReference { name: "fec", words: &["mode", "wrong byte"], answers: fec },
    NamedReference { name: "crc_even", words: &["form", "wrong byte"], answers: crc_even },
    NamedReference { name: "crc_68", words: &["ID", "byte"], answers: crc_68 },
    NamedReference { name: "tlp_check", words: &["form", "TLP", "sequence number"], answers: tlp_check },
    NamedReference { name: "crc_nvl", words: &["polynomial", "initial value", "final XOR"], answers: crc_nvl },
    NamedReference { name: "start_lanes", words: &["lanes", "units"], answers: start_lanes },
    NamedReference { name: "mode", words: &["flit mode", "GT/s", "own", "peer's"], answers: mode },
];

fn parse(text: &str) -> Option<u64> {
    scalepool_forms::number::parse(text).and_then(|value| u64::try_from(value).ok())
}

fn place(text: &str) -> Option<usize> {
    usize::try_from(parse(text)?).ok()
}

/// A flit of 256 bytes that comes with wrong bytes: `standard` or `lopt`, then `BYTE:XOR ..`.
fn fec(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let (form, wrong) = words.split_first()?;
    let is_lopt = *form == "lopt";
    let mode = if is_lopt { Mode::LatencyOptimised } else { Mode::Standard };
    let mut flit = Cxl256Flit::ZERO;
    flit.set_header(&FlitHeader { flit_type: FlitType::Cachemem, seq: 5, ..FlitHeader::default() }).ok()?;
    flit.seal(mode);
    let mut bytes = flit.0;
    for word in wrong {
        let (at, xor) = word.split_once(':')?;
        *bytes.get_mut(place(at)?)? ^= u8::try_from(parse(xor)?).ok()?;
    }
    let found = if is_lopt { fec256::correct_lopt(&mut bytes) } else { fec256::correct(&mut bytes) };
    let (value, verdict) = match found {
        Ok(corrected) => {
            let list: Vec<String> = corrected.iter().map(|one| format!("byte {}", one.byte)).collect();
            (list.len() as u64, if list.is_empty() { "nothing".to_owned() } else { list.join(", ") })
        }
        Err(wrong) => (u64::MAX, format!("group {} is uncorrectable", wrong.group)),
    };
    let is_valid = value != u64::MAX && Cxl256Flit(bytes).crc_ok(mode);
    Some(vec![vec![
        said("corrected", value, verdict),
        said("flit", is_valid.into(), if is_valid { "valid" } else { "not valid" }),
    ]])
}

/// The CRC of an even half with one byte that is not 0: `folded`, as the six bytes are made, or `whole`, the 8-byte CRC itself.
fn crc_even(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [form, at] = words else { return None };
    let mut half = [0; EVEN_BYTES];
    *half.get_mut(place(at)?)? = 1;
    let crc = match *form {
        "folded" => crc256::crc6_even(&half),
        "whole" => {
            let mut message = [0; STANDARD_BYTES];
            message[..EVEN_BYTES].copy_from_slice(&half);
            crc256::crc8(&message)
        }
        _ => return None,
    };
    Some(vec![vec![said("CRC", crc, format!("{crc:#x}"))]])
}

/// The CRC of a 68B flit: `ID BYTE`, the first byte of what is covered; zeros follow. The ID is not covered.
fn crc_68(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [_, first] = words else { return None };
    let mut payload = [0; PAYLOAD_BYTES];
    payload[0] = u8::try_from(parse(first)?).ok()?;
    let crc = crc16::cxl68(&payload);
    Some(vec![vec![said("CRC", crc.into(), format!("{crc:#06x}"))]])
}

/// The check of a TLP: `lcrc BYTES NUMBER`, `nullified BYTES NUMBER`, `ecrc BYTES`, or `crc BYTES`, the plain CRC of the bytes.
fn tlp_check(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let (form, words) = words.split_first()?;
    let tlp = scalepool_forms::number::bytes_of(words.first()?, "TLP").ok()?;
    let number = || u16::try_from(parse(words.get(1)?)?).ok();
    let check = match *form {
        "lcrc" => pcie::lcrc(number()?, &tlp),
        "nullified" => pcie::lcrc_nullified(number()?, &tlp),
        "ecrc" => pcie::ecrc(&tlp),
        "crc" => pcie::Crc32::default().feed(&tlp).finish(),
        _ => return None,
    };
    let value = u32::from_be_bytes(check);
    Some(vec![vec![said("check", value.into(), format!("{value:#010x}"))]])
}

/// The CRC of a header of NVLink that is 1, by its parameters.
fn crc_nvl(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    /// Bits of a header that the CRC covers.
    const HEADER_BITS: u32 = 103;
    let [poly, init, xorout] = words else { return None };
    let parameter = |text: &str| u32::try_from(parse(text)?).ok();
    let crc = Crc25 { poly: parameter(poly)?, init: parameter(init)?, xorout: parameter(xorout)? };
    let value = crc.finish(crc.update(crc.start(), 1, HEADER_BITS));
    Some(vec![vec![said("CRC", value.into(), format!("{value:#x}"))]])
}

/// The lanes on which units of a stream without gaps start: `LANES UNITS`.
fn start_lanes(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    /// Most units of a case.
    const MOST_UNITS: usize = 64;
    let [lanes, units] = words else { return None };
    let width = Cxl68Width::new(u8::try_from(parse(lanes)?).ok()?)?;
    let units = place(units).filter(|units| (1..=MOST_UNITS).contains(units))?;
    let lanes: Vec<String> = (0..units).map(|n| width.start_lane(n).to_string()).collect();
    Some(vec![vec![
        said("start lanes", width.start_lane(units - 1) as u64, lanes.join(", ")),
        number("symbols of the pattern", width.period_symbols() as u64),
    ]])
}

/// What two ports agree on: `on` or `off`, the rate, and what each of them can, letters out of `v` (68B with virtual hierarchy), `l`
/// (latency-optimised) and `p` (port based routing), or `-`.
fn mode(words: &[&str]) -> Option<Vec<Vec<Figure>>> {
    let [flits, rate, own, peer] = words else { return None };
    let can = |letters: &str| FlexBus {
        io: true,
        mem: true,
        vh_68b: letters.contains('v'),
        lopt_256b: letters.contains('l'),
        pbr: letters.contains('p'),
        ..FlexBus::default()
    };
    let trained = Trained { flit_mode: *flits == "on", rate_gtps: u32::try_from(parse(rate)?).ok()? };
    let agreed = negotiate(&can(own), &can(peer), trained);
    let text = match agreed {
        None => "no link of CXL",
        Some(ConnectedMode::Rcd) => "restricted device",
        Some(ConnectedMode::Vh68b) => "68B flits",
        Some(ConnectedMode::Standard256b) => "256B flits",
        Some(ConnectedMode::LatencyOptimised256b) => "latency-optimised 256B flits",
        Some(ConnectedMode::Pbr) => "256B flits with port based routing",
    };
    Some(vec![vec![said("mode", agreed.map_or(0, |mode| mode as u64), text)]])
}
