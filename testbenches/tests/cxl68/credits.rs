//! CXL68-CRD-01: the credit field.

use super::common::*;
use scalepool_protocols::cxl::cxl68::credit::{COUNTS, CreditField, channel, decode, encode};
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::stream::Cxl68UnitKind;

/// `cxl-68b` §5.4: field, protocol bit, channel for a flit that travels down, channel for one that travels up.
const TABLE: [(CreditField, bool, Option<Class>, Option<Class>); 6] = [
    (CreditField::Req, false, Some(Class::D2hReq), Some(Class::H2dReq)),
    (CreditField::Req, true, None, Some(Class::M2sReq)),
    (CreditField::Data, false, Some(Class::D2hData), Some(Class::H2dData)),
    (CreditField::Data, true, Some(Class::S2mDrs), Some(Class::M2sRwd)),
    (CreditField::Rsp, false, Some(Class::D2hRsp), Some(Class::H2dRsp)),
    (CreditField::Rsp, true, Some(Class::S2mNdr), None),
];

#[test]
fn cxl68_crd_01_p() {
    assert_eq!(COUNTS, [0, 1, 2, 4, 8, 16, 32, 64]);
    for (field, mem, down, up) in TABLE {
        for (dir, class) in [(Dir::Down, down), (Dir::Up, up)] {
            assert_eq!(channel(dir, field, mem), class, "{} {field:?} mem {mem}", dir.name());
            for (count, code) in COUNTS.into_iter().zip(0u8..) {
                let code = code | u8::from(mem) << 3;
                let expected = class.filter(|_| count > 0).map(|c| (c, count));
                assert_eq!(decode(dir, field, code), expected, "{} {field:?} {code:#x}", dir.name());
            }
            // The channel travels against the flit that returns its credits.
            assert!(class.is_none_or(|c| c.dir() == dir.opposite()));
        }
        for pending in 0..1000u16 {
            let (code, count) = encode(mem, pending);
            let largest = COUNTS.into_iter().filter(|c| u16::from(*c) <= pending).max().expect("0 is one of them");
            assert_eq!(count, largest, "{pending} pending");
            assert_eq!(COUNTS[usize::from(code & 7)], count);
            assert_eq!(code & 8 != 0, mem && count > 0, "no credits: code 0000");
        }
    }
}

#[test]
fn cxl68_crd_01_n() {
    let reserved = TABLE.iter().flat_map(|(field, mem, down, up)| {
        [(Dir::Down, *field, *mem, *down), (Dir::Up, *field, *mem, *up)].into_iter().filter(|r| r.3.is_none())
    });
    let mut seen = 0;
    for (dir, field, mem, _) in reserved {
        for count in 0..8 {
            let code = u8::from(mem) << 3 | count;
            assert_eq!(decode(dir, field, code), None);
            let mut flit = Flit::new(dir);
            match field {
                CreditField::Rsp => flit.header.rsp_crd = code,
                CreditField::Req => flit.header.req_crd = code,
                CreditField::Data => flit.header.data_crd = code,
            }
            let read = judge(dir, flit.unit());
            read.assert_clean();
            assert_eq!(read.decoded[0].kind, Cxl68UnitKind::Protocol(flit.header), "decode keeps the code");
            seen += 1;
        }
    }
    assert_eq!(seen, 2 * 8);
}
