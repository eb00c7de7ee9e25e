//! CXL.io: TLPs of both modes, DLLPs, the tokens of 68-byte links.

use super::message::of_layout;
use super::print;
use scalepool::forms::flit_io::{dllp_from_json, dllp_to_json, tlps_from_json, tlps_to_json};
use scalepool::forms::message::message_from_json;
use scalepool_protocols::check::pcie;
use scalepool_protocols::cxl::cxlio::DW_BYTES;
use scalepool_protocols::cxl::cxlio::dllp::{DLLP_BYTES, Dllp, FRAMED_BYTES};
use scalepool_protocols::cxl::cxlio::framing::{Framed, FramingToken, frame_dllp, frame_tlp, length_fits, unframe_tlp};
use scalepool_protocols::cxl::cxlio::non_flit_mode::{TlpShape, tlp_bytes};
use scalepool_protocols::cxl::cxlio::stream::{self, TlpRegionReader};
use scalepool_protocols::cxl::cxlio::tlp::{self, TlpParts};

/// Bytes of the TLP region of a standard flit and of a latency-optimised one (`cxl-256b` §1.2, §1.5).
const REGIONS: [usize; 2] = [236, 232];

/// Flit mode. The bytes are one TLP; and they are the TLP regions of a stream of flits, of a length that bit 1 of the
/// first byte chooses. With bit 0 set they stand on a link with port based routing. Each region goes into pieces without
/// gap, their JSON form, and back to the same bytes.
pub fn tlp_flit_mode(bytes: &[u8]) {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let pbr = choice & 1 != 0;
    match TlpParts::split(bytes, pbr) {
        Ok(parts) => {
            let mut found = Vec::new();
            tlp::check(&parts, &mut found);
            print(&found);
            let _ = (parts.byte_enables(), parts.completion());
            let [a, b, c, e] = parts.ohc;
            let all = [parts.prefixes, parts.pth, parts.header, a, b, c, e, parts.data, parts.trailer];
            assert_eq!(all.concat(), bytes);
        }
        Err(e) => assert!(!e.to_string().is_empty()),
    }
    let mut reader = TlpRegionReader::new(pbr);
    for region in bytes.chunks(REGIONS[usize::from(choice >> 1 & 1)]) {
        let region = &region[..region.len() - region.len() % DW_BYTES];
        let pieces = reader.read(region);
        assert_eq!(pieces.iter().flat_map(|f| f.piece.of(region)).copied().collect::<Vec<_>>(), region);
        let mut found = Vec::new();
        stream::check(&pieces, region, pbr, &mut found);
        print(&found);
        let form = tlps_to_json(&pieces, region, pbr);
        let mut again = vec![0xff; region.len()];
        tlps_from_json(&form, &mut again, pbr).unwrap_or_else(|e| panic!("{form} is refused: {e}"));
        assert_eq!(again, region, "{form}");
    }
}

/// Non-flit mode. The header of a TLP at the front of the bytes is judged, printed and written again; the bytes as one
/// TLP are framed and taken out of their frame, whole, nullified and with any LCRC.
pub fn tlp_non_flit_mode(bytes: &[u8]) {
    let Some(&dw0) = bytes.first_chunk::<DW_BYTES>() else { return };
    if let Some(def) = TlpShape::of(dw0[0]).and_then(TlpShape::def)
        && let Some(header) = bytes.get(..def.len_bytes())
    {
        assert!(tlp_bytes(dw0).is_some_and(|n| n >= def.len_bytes()), "a header is a part of its TLP");
        of_layout(def, header);
    }
    let sequence = u16::from_be_bytes([dw0[0] & 0xf, dw0[1]]);
    let Some((token, lcrc)) = frame_tlp(sequence, bytes) else { return };
    let frame = |lcrc: [u8; 4]| [&token[..], bytes, &lcrc].concat();
    assert_eq!(unframe_tlp(&frame(lcrc)), Ok(Some(Framed::Good(sequence, bytes))));
    let nullified = frame(pcie::lcrc_nullified(sequence, bytes));
    assert_eq!(unframe_tlp(&nullified), Ok(Some(Framed::Nullified(sequence))));
    assert_eq!(unframe_tlp(&frame(lcrc.map(|b| b ^ 1))), Ok(Some(Framed::BadLcrc(sequence))));
    let _ = length_fits(bytes);
}

/// Every four bytes are a DLLP of a flit, with flit header bit 4 as bit 0 of the first byte says; every six are one of a
/// link without flits.
pub fn dllp(bytes: &[u8]) {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    for chunk in bytes.chunks_exact(DLLP_BYTES) {
        let dllp = Dllp::from_bytes(chunk).expect("four bytes");
        let bit_4 = choice & 1 != 0;
        let mut found = Vec::new();
        dllp.check(bit_4, &mut found);
        print(&found);
        let form = dllp_to_json(dllp, bit_4);
        assert_eq!(dllp_from_json(&form, "dllp"), Ok(dllp), "{form}");
        if let Some(message) = form.get("message") {
            let (_, bits) = message_from_json(message).expect("a printed message");
            assert_eq!(bits, dllp.bits(), "{form}");
        }
    }
    for chunk in bytes.chunks_exact(FRAMED_BYTES) {
        let (dllp, crc_ok) = Dllp::from_framed(chunk).expect("six bytes");
        assert_eq!(dllp.framed() == chunk, crc_ok);
        assert_eq!(frame_dllp(dllp)[2..], dllp.framed());
    }
}

/// The bytes as the io stream of a 68-byte link: token after token, TLPs and DLLPs between them. Behind a byte that
/// begins no token the search goes on with the next one.
pub fn framing(bytes: &[u8]) {
    let mut rest = bytes;
    loop {
        let (token, length_bytes) = match FramingToken::read(rest) {
            Ok(Some(found)) => found,
            // The bytes do not suffice.
            Ok(None) => return,
            Err(e) => {
                assert!(!e.to_string().is_empty());
                rest = &rest[1..];
                continue;
            }
        };
        let whole_bytes = match token {
            FramingToken::Stp(stp) => {
                assert_eq!(stp.to_bytes(), rest[..DW_BYTES]);
                // A length of 0 or 1 cannot hold the token and the LCRC.
                length_bytes.max(DW_BYTES * usize::from(stp.length_dw))
            }
            FramingToken::Sdp => length_bytes + FRAMED_BYTES,
            FramingToken::Edb | FramingToken::Eds | FramingToken::Idl => length_bytes,
        };
        let Some((whole, behind)) = rest.split_at_checked(whole_bytes) else { return };
        match token {
            FramingToken::Stp(stp) => match unframe_tlp(whole) {
                Ok(Some(Framed::Good(sequence, tlp))) => {
                    assert_eq!(sequence, stp.sequence);
                    tlp_non_flit_mode(tlp);
                    if let Some((token, lcrc)) = frame_tlp(sequence, tlp) {
                        assert_eq!([&token[..], tlp, &lcrc].concat(), whole);
                    }
                }
                Ok(Some(Framed::Nullified(sequence) | Framed::BadLcrc(sequence))) => {
                    assert_eq!(sequence, stp.sequence);
                }
                Ok(None) => assert!(stp.length_dw < 2, "the length of the token was taken"),
                Err(e) => panic!("the token was read: {e}"),
            },
            FramingToken::Sdp => {
                let (dllp, crc_ok) = Dllp::from_framed(&whole[length_bytes..]).expect("six bytes");
                assert_eq!(frame_dllp(dllp) == whole, crc_ok);
            }
            FramingToken::Edb | FramingToken::Eds | FramingToken::Idl => (),
        }
        rest = behind;
    }
}
