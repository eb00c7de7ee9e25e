//! What becomes of one flit of a capture.

use scalepool_inspect::capture::{Capture, CapturedUnit};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::{Cxl256Flit, fec_bytes};
use scalepool_protocols::nvlink::{NvlConfig, Packet};
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::flit::DlFlit;
use std::ops::Range;

/// What becomes of one flit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FlitChange {
    /// It is lost.
    Lost,
    /// It comes twice.
    Twice,
    /// It changes places with the next one of its direction.
    Swapped,
    /// It and the next one of its direction that carries something change what they carry, and keep numbers and acknowledgements; their
    /// checks are made anew.
    Traded,
    /// This bit of it is inverted, and its checks are made anew.
    Bit(usize),
    /// This bit of it is inverted on the line.
    Damaged(usize),
    /// It comes with the bytes of another one, by its number among those of both directions.
    As(usize),
    /// It is the last one of its direction.
    Last,
    /// It is the last one of all.
    Ends,
    /// From it on the bytes behind the CRC of 256B flits are 0 in its direction.
    NoFec,
}

impl FlitChange {
    /// The capture with a changed unit; `None` where it cannot be changed so.
    pub(super) fn of(self, protocol: &str, whole: &Capture, n: usize) -> Option<Capture> {
        let mut units = whole.units.clone();
        let place = units[n].place.clone();
        match self {
            FlitChange::Lost => drop(units.remove(n)),
            FlitChange::Twice => units.insert(n, units[n].clone()),
            FlitChange::Swapped => {
                let next = n + 1 + units[n + 1..].iter().position(|unit| unit.place == place)?;
                let bytes = std::mem::take(&mut units[n].bytes);
                units[n].bytes = std::mem::replace(&mut units[next].bytes, bytes);
            }
            FlitChange::Traded => {
                let content = content(protocol)?;
                let carried = |unit: &CapturedUnit| unit.bytes.get(content.clone()).map(<[u8]>::to_vec);
                let own = carried(&units[n])?;
                let is_other = |unit: &CapturedUnit| {
                    unit.place == place && carried(unit).is_some_and(|of| of != own && of.iter().any(|byte| *byte != 0))
                };
                let next = n + 1 + units[n + 1..].iter().position(is_other)?;
                let other = carried(&units[next])?;
                units[n].bytes.get_mut(content.clone())?.copy_from_slice(&other);
                units[next].bytes.get_mut(content)?.copy_from_slice(&own);
                for at in [n, next] {
                    units[at].bytes = sealed(protocol, &[], &units[at].bytes)?;
                }
            }
            FlitChange::Bit(bit) => {
                invert(&mut units[n].bytes, bit)?;
                let before = units[..n].iter().rev().find(|unit| unit.place == place);
                let before = before.map_or(&[][..], |unit| unit.bytes.as_slice());
                units[n].bytes = sealed(protocol, before, &units[n].bytes)?;
            }
            FlitChange::Damaged(bit) => invert(&mut units[n].bytes, bit)?,
            FlitChange::As(other) => {
                let bytes = &whole.units.get(other).filter(|other| other.place == place)?.bytes;
                units[n].bytes.clone_from(bytes);
            }
            FlitChange::Ends => units.truncate(n + 1),
            FlitChange::NoFec => {
                let mode = Mode::ALL.into_iter().find(|mode| mode.protocol() == protocol)?;
                let others = units[n..].iter_mut().filter(|unit| unit.place == place);
                others.for_each(|unit| unit.bytes[fec_bytes(mode)].fill(0));
            }
            FlitChange::Last => {
                let mut at = 0..;
                units.retain(|unit| at.next().is_none_or(|at| at <= n) || unit.place != place);
            }
        }
        Some(Capture { units })
    }

    pub(super) fn said(self) -> String {
        match self {
            FlitChange::Lost => "is lost".into(),
            FlitChange::Twice => "comes twice".into(),
            FlitChange::Traded => "carries what the next one does, and the next one what it does".into(),
            FlitChange::Swapped => "changes places with the next one".into(),
            FlitChange::Bit(bit) => format!("has another bit {bit} and checks that fit"),
            FlitChange::Damaged(bit) => format!("has a wrong bit {bit}"),
            FlitChange::NoFec => "and those behind it have a FEC of 0".into(),
            FlitChange::As(_) => "comes with the bytes of another one".into(),
            FlitChange::Ends => "is the last one of all".into(),
            FlitChange::Last => "is the last one of its direction".into(),
        }
    }
}

/// Bytes of a flit behind its header and in front of its checks, where these stand apart (`cxl-256b` §4, `cxl-io` §4, `ualink` §3).
fn content(protocol: &str) -> Option<Range<usize>> {
    match protocol {
        "cxl-io" => Some(2..238),
        "cxl-256b" => Some(2..240),
        "ualink" => Some(0..624),
        _ => None,
    }
}

fn invert(bytes: &mut [u8], bit: usize) -> Option<()> {
    *bytes.get_mut(bit / 8)? ^= 1 << (bit % 8);
    Some(())
}

/// A unit with the checks that fit its bytes, and those in front of it in its direction.
pub(crate) fn sealed(protocol: &str, before: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
    match protocol {
        "cxl-68b" => {
            let mut unit = Cxl68Unit::from_bytes(bytes).ok()?;
            unit.set_tail(unit.expected_crc());
            Some(unit.0.to_vec())
        }
        "ualink" => {
            let mut flit = DlFlit::from_bytes(bytes).ok()?;
            flit.seal(&UalConfig::default());
            Some(flit.0.to_vec())
        }
        "nvlink" => {
            let packet = Packet::from_bytes(bytes).ok()?;
            let before = Packet::from_bytes(before).ok();
            let crc = NvlConfig::default().crc_of(before.as_ref().map_or(&[], Packet::payload), packet.header_bits());
            Some(packet.with_crc(crc).bytes().collect())
        }
        _ => {
            let is_of = |mode: &Mode| mode.protocol() == protocol;
            // CXL.io by itself stands in standard flits.
            let mode = if protocol == "cxl-io" { Mode::Standard } else { Mode::ALL.into_iter().find(is_of)? };
            let mut flit = Cxl256Flit::from_bytes(bytes).ok()?;
            flit.seal(mode);
            Some(flit.0.to_vec())
        }
    }
}

/// Inverts a bit of a 68B flit or a flit of UALink whose checks do not fit.
pub(super) fn restore(bytes: &mut [u8], bit: usize) {
    let is_damaged = Cxl68Unit::from_bytes(bytes).is_ok_and(|unit| !unit.crc_ok())
        || DlFlit::from_bytes(bytes).is_ok_and(|flit| flit.crc() != flit.expected_crc(&UalConfig::default()));
    if is_damaged {
        // A flit has that bit.
        let _ = invert(bytes, bit);
    }
}
