//! CXL68-HDR: the 32-bit flit header.

use super::common::*;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::packable::{Cxl68Refused, admit};
use scalepool_protocols::cxl::cxl68::packer::{Packed, Packer};
use scalepool_protocols::cxl::cxl68::stream::{Cxl68Message, Cxl68UnitKind, Size};
use scalepool_protocols::wire::{At, Wire};
use scalepool_testbenches::legal::{Random, random_message};

#[test]
fn cxl68_hdr_01_p() {
    layout_p::<FlitHeader>();
    // The order of the sheet, low to high.
    let places: Vec<(&str, u32, u32)> = FlitHeader::DEF.fields.iter().map(|f| (f.name, f.lsb, f.width)).collect();
    let sheet = [
        ("flit_type", 0, 1),
        ("rsvd", 1, 1),
        ("ak", 2, 1),
        ("be", 3, 1),
        ("sz", 4, 1),
        ("slot0", 5, 3),
        ("slot1", 8, 3),
        ("slot2", 11, 3),
        ("slot3", 14, 3),
        ("rsvd1", 17, 3),
        ("rsp_crd", 20, 4),
        ("req_crd", 24, 4),
        ("data_crd", 28, 4),
    ];
    assert_eq!(places, sheet);
    for n in 0..4 {
        for code in 0..8 {
            let mut header = FlitHeader::from_bits(0);
            header.set_slot(n, code);
            assert_eq!(header.to_bits(), Ok(u128::from(code) << (5 + 3 * n)));
            assert_eq!(header.slot(n), code);
        }
    }
}

#[test]
fn cxl68_hdr_01_n() {
    layout_n::<FlitHeader>("CXL68-HDR-02");
    let zero = FlitHeader::from_bits(0);
    refused(FlitHeader { rsvd: 2, ..zero }, "rsvd");
    refused(FlitHeader { slot0: 8, ..zero }, "slot0");
    refused(FlitHeader { slot1: 8, ..zero }, "slot1");
    refused(FlitHeader { slot2: 8, ..zero }, "slot2");
    refused(FlitHeader { slot3: 8, ..zero }, "slot3");
    refused(FlitHeader { rsvd1: 8, ..zero }, "rsvd1");
    refused(FlitHeader { rsp_crd: 16, ..zero }, "rsp_crd");
    refused(FlitHeader { req_crd: 16, ..zero }, "req_crd");
    refused(FlitHeader { data_crd: 16, ..zero }, "data_crd");
}

/// Header bits 1 and 19:17.
const RESERVED: u32 = 1 << 1 | 7 << 17;

#[test]
fn cxl68_hdr_02_p() {
    let mut random = Random::new(2);
    for dir in Dir::ALL {
        let mut packer = Packer::new(dir, config());
        for _ in 0..2000 {
            packer.push(&random_message(&mut random, dir)).expect("legal");
            if let Packed::Protocol(header, _) = packer.pack(&mut PLENTY.clone(), 4) {
                assert_eq!(header.to_bits().expect("fits") as u32 & RESERVED, 0);
            }
        }
    }
}

#[test]
fn cxl68_hdr_02_n() {
    let clean = Flit::new(Dir::Down).with(0, "H5", &[(0, legal(Class::M2sReq, 5))]);
    for bits in [1 << 1, 1 << 17, 1 << 18, 1 << 19, RESERVED] {
        let mut flit = clean;
        flit.slots[0] |= u128::from(bits);
        let read = judge(Dir::Down, flit.unit());
        read.assert_clean();
        assert_eq!(read.delivered, judge(Dir::Down, clean.unit()).delivered);
        let Cxl68UnitKind::Protocol(header) = read.decoded[0].kind else { panic!("a protocol flit") };
        assert_eq!(header.to_bits().expect("fits") as u32 & RESERVED, bits, "decode keeps the bits");
    }
}

/// A flit of one data header of each class, with the place for it, and the flits of its chunks.
fn one_data_header(class: Class, sz: bool, be: bool) -> Read {
    let (dir, format, place) = match class {
        Class::M2sRwd => (Dir::Down, "H4", 0),
        Class::H2dData => (Dir::Down, "H2", 1),
        Class::D2hData => (Dir::Up, "H1", 1),
        _ => (Dir::Up, "H3", 0),
    };
    let chunks = if sz { 4 } else { 2 } + usize::from(be);
    let first = Flit::new(dir).sized(sz, be).with(0, format, &[(place, legal(class, 3))]);
    let flits = [
        first.chunk(1, 1).chunk(2, 2).chunk(3, if chunks > 2 { 3 } else { 0 }),
        Flit::new(dir).chunk(1, 4).chunk(2, 5),
    ];
    let units: Vec<_> = flits.iter().map(Flit::unit).take(if chunks > 3 { 2 } else { 1 }).collect();
    read(dir, &units)
}

const DATA_CLASSES: [Class; 4] = [Class::M2sRwd, Class::S2mDrs, Class::D2hData, Class::H2dData];

#[test]
fn cxl68_hdr_03_p() {
    for class in [Class::H2dData, Class::D2hData, Class::S2mDrs] {
        let read = one_data_header(class, false, false);
        read.assert_clean();
        assert_eq!(read.delivered[0].data.map(|d| d.size), Some(Size::LowerHalf));
        assert_eq!(admit(class.dir(), &sized(class, 1, Size::LowerHalf, None)), Ok(()));
    }
    for class in DATA_CLASSES {
        one_data_header(class, true, false).assert_clean();
    }
}

#[test]
fn cxl68_hdr_03_n() {
    let read = one_data_header(Class::M2sRwd, false, false);
    assert_eq!(read.rules(), ["CXL68-HDR-03"]);
    assert_eq!(read.violations()[0].at, At::Byte(2), "Sz stands in the header");
    let half = sized(Class::M2sRwd, 1, Size::LowerHalf, None);
    assert_eq!(admit(Dir::Down, &half), Err(Cxl68Refused::Size { layout: "cxl68.m2s_rwd" }));
    assert!(Packer::new(Dir::Down, config()).push(&half).is_err());
}

#[test]
fn cxl68_hdr_04_p() {
    for class in [Class::M2sRwd, Class::D2hData] {
        let read = one_data_header(class, true, true);
        read.assert_clean();
        assert_eq!(read.delivered[0].data.and_then(|d| d.byte_enables), Some(5), "the last chunk");
        assert_eq!(admit(class.dir(), &sized(class, 1, Size::Line, Some(5))), Ok(()));
    }
    one_data_header(Class::D2hData, false, true).assert_clean();
}

#[test]
fn cxl68_hdr_04_n() {
    for class in [Class::H2dData, Class::S2mDrs] {
        let read = one_data_header(class, true, true);
        assert_eq!(read.rules(), ["CXL68-HDR-04"]);
        assert_eq!(read.violations()[0].at, At::Byte(2), "BE stands in the header");
        let with_enables = sized(class, 1, Size::Line, Some(1));
        assert_eq!(admit(class.dir(), &with_enables), Err(Cxl68Refused::ByteEnables { layout: class.def().name }));
    }
    // Both at once: each rule is named.
    assert_eq!(one_data_header(Class::S2mDrs, false, true).rules(), ["CXL68-HDR-04"]);
}

#[test]
fn cxl68_hdr_05_p() {
    let write = message(Class::M2sRwd, 8);
    let units = pack(Dir::Down, config(), &[write]);
    let read = read(Dir::Down, &units);
    read.assert_clean();
    let data = read.delivered[0].data.expect("a write has data");
    assert_eq!((data.byte_enables, data.enabled()), (None, u64::MAX));
    let facts = oracle(Dir::Down, true, &units).expect("legal");
    let transfer = &facts.iter().flat_map(|f| &f.completed).next().expect("one transfer");
    assert_eq!((transfer.byte_enables, transfer.has_byte_enables), (u64::MAX, false));
    for (size, mask) in [(Size::LowerHalf, 0xffff_ffff), (Size::UpperHalf, 0xffff_ffff_0000_0000)] {
        let half = sized(Class::D2hData, 1, size, None);
        assert_eq!(half.data.expect("data").enabled(), mask, "all bytes that travel");
    }
}

#[test]
fn cxl68_hdr_05_n() {
    // Writes with and without enables in turn. A receiver that kept the enables of the write before would differ from the
    // oracle in every second transfer; ours differs in none.
    let writes: Vec<Cxl68Message> =
        (0..10).map(|n| sized(Class::M2sRwd, n, Size::Line, (n % 2 == 0).then_some(0x5a5a << n))).collect();
    let units = pack(Dir::Down, config(), &writes);
    let transfers: Vec<_> =
        oracle(Dir::Down, true, &units).expect("legal").into_iter().flat_map(|f| f.completed).collect();
    let mut stale = u64::MAX;
    let (mut ours, mut mutant) = (0, 0);
    for (m, t) in read(Dir::Down, &units).delivered.iter().zip(&transfers) {
        let data = m.data.expect("a write has data");
        ours += usize::from(data.enabled() != t.byte_enables);
        stale = data.byte_enables.unwrap_or(stale);
        mutant += usize::from(stale != t.byte_enables);
    }
    assert_eq!((transfers.len(), ours, mutant), (10, 0, 5));
}

#[test]
fn cxl68_hdr_06_p() {
    for choice in [(false, false), (true, false), (false, true), (true, true)] {
        let config = Cxl68Config { idle_sz_be: choice, ..config() };
        let mut packer = Packer::new(Dir::Up, config);
        packer.push(&message(Class::D2hReq, 1)).expect("legal");
        let Packed::Protocol(header, _) = packer.pack(&mut PLENTY.clone(), 4) else { panic!("a protocol flit") };
        assert_eq!((header.sz, header.be), choice);
        // A flit in which data begins says what its data is, whatever the choice.
        packer.push(&sized(Class::D2hData, 2, Size::UpperHalf, None)).expect("legal");
        let Packed::Protocol(header, _) = packer.pack(&mut PLENTY.clone(), 4) else { panic!("a protocol flit") };
        assert_eq!((header.sz, header.be), (false, false));
    }
    assert_eq!(config().idle_sz_be, (false, false), "our choice");
}

#[test]
fn cxl68_hdr_06_n() {
    for (sz, be) in [(true, false), (false, true), (true, true)] {
        for (dir, format, class) in [(Dir::Down, "H5", Class::M2sReq), (Dir::Up, "H1", Class::D2hReq)] {
            let flit = Flit::new(dir).sized(sz, be).with(0, format, &[(0, legal(class, 1))]);
            let read = judge(dir, flit.unit());
            read.assert_clean();
            assert_eq!((read.delivered.len(), read.rollover), (1, 0));
        }
    }
}
