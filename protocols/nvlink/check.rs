//! Judging a packet: which rules its sender broke.
//!
//! Modelled: every rule that shows in one packet and the stream before it. Left out: rules over time (identifiers,
//! delivery, replay, credits), see `scalepool::link`. Nothing but the CRC is judged of a packet whose CRC does not fit.

use super::code::Class;
use super::config::NvlConfig;
use super::header::{Ae, CRC_LSB, NvlHeader};
use super::stream::NvlDecodedPacket;
use super::{FLIT_BYTES, MAX_BE_DATA_FLITS, MAX_FLITS};
pub use crate::wire::Findings;
use crate::wire::Wire;

/// Byte of the unit with the lowest bit of a header field.
fn byte_of(field: &str) -> usize {
    NvlHeader::DEF.fields.iter().find(|f| f.name == field).map_or(0, |f| f.lsb as usize / 8)
}

/// Judges a packet.
pub fn packet(decoded: &NvlDecodedPacket, config: &NvlConfig) -> Findings {
    let mut found = Findings::default();
    if !decoded.is_good() {
        let (rule, covered) = match decoded.covered_flits {
            0 => ("NVL-CRC-01", "the header".to_owned()),
            n => ("NVL-CRC-02", format!("{n} flits of the packet before and the header")),
        };
        let [is, expected] = [decoded.packet.crc(), decoded.expected_crc].map(|crc| format!("{crc:#09x}"));
        found.broken(rule, CRC_LSB as usize / 8, is, expected, format!("the CRC does not match {covered}"));
        return found;
    }
    let mut of_header = Vec::new();
    NvlHeader::DEF.check(decoded.packet.header_bits(), &mut of_header);
    found.violations.extend(of_header.into_iter().map(|v| v.in_unit(|bit| bit as usize / 8)));
    lengths(decoded, config, &mut found);
    extensions(decoded, &mut found);
    let header = decoded.packet.header();
    if let Some(vc) = config.vc_of(header.op).filter(|vc| *vc != header.vc) {
        let (is, expected) = (format!("{:?}", header.vc), format!("{vc:?}"));
        found.broken(
            "NVL-OPC-02",
            byte_of("vc"),
            is,
            expected,
            format!("{:?} travels on a channel that is not its own", header.op),
        );
    }
    found
}

fn lengths(decoded: &NvlDecodedPacket, config: &NvlConfig, found: &mut Findings) {
    let header = decoded.packet.header();
    let (len, follow) = (usize::from(header.len), decoded.packet.payload().len());
    if len >= MAX_FLITS {
        found.broken("NVL-PKT-01", byte_of("len"), len, "at most 17", "the header announces too many flits");
    }
    if len != follow {
        found.broken("NVL-PKT-04", byte_of("len"), len, follow, "`len` is not the number of flits that follow");
    }
    let Some(has_data) = header.op.has_data() else { return };
    let data = if has_data { usize::from(header.size) + 1 } else { 0 };
    let announced = usize::from(header.ae) + usize::from(header.be) + data;
    if len != announced {
        let text = format!("`len` of {:?} does not count its AE, BE and {data} data flits", header.op);
        found.broken("NVL-PKT-04", byte_of("len"), len, announced, text);
    }
    if header.be && !(1..=MAX_BE_DATA_FLITS).contains(&data) {
        let (is, expected) = (format!("{} bytes", data * FLIT_BYTES), "16 to 128 bytes");
        found.broken("NVL-PKT-03", byte_of("be"), is, expected, "byte enables travel with too much data, or none");
    }
    let bare = header.op.class() == Some(Class::Link) || !has_data && !config.ae_without_data;
    if header.ae && bare {
        let text = format!("{:?} announces an AE flit although it has none", header.op);
        found.broken("NVL-PKT-04", byte_of("ae"), 1, 0, text);
    }
}

fn extensions(decoded: &NvlDecodedPacket, found: &mut Findings) {
    let parts = decoded.packet.parts();
    let Some(ae) = parts.ae else { return };
    let mut of_ae = Vec::new();
    Ae::DEF.check(ae, &mut of_ae);
    // The low half of an AE is zero. Where the flit behind it looks like one and it does not, the two changed places.
    if !of_ae.is_empty() && parts.be.is_some_and(|be| be as u64 == 0 && be != 0) {
        found.broken(
            "NVL-PKT-02",
            FLIT_BYTES,
            "BE, AE",
            "AE, BE",
            "the flits behind the header stand in the wrong order",
        );
    }
    found.violations.extend(of_ae.into_iter().map(|v| v.in_unit(|bit| FLIT_BYTES + bit as usize / 8)));
}
