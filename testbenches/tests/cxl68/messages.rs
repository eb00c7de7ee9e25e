//! CXL68-MSG: the ten messages.

use super::common::*;
use scalepool_protocols::cxl::cxl68::code::*;
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, Revision};
use scalepool_protocols::cxl::cxl68::message::*;
use scalepool_protocols::cxl::cxl68::packable::{Cxl68Refused, admit};
use scalepool_protocols::cxl::cxl68::slot;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68Message, Size};
use scalepool_protocols::registry;
use scalepool_protocols::wire::{FieldFault, Wire};

/// Refuses each named field of a message set to a value one above its maximum.
macro_rules! too_wide {
    ($message:ident: $($field:ident = $value:expr),+ $(,)?) => {
        $(refused($message { $field: $value, ..$message::default() }, stringify!($field));)+
    };
}

/// One above the largest address of 52 bits.
const ADDRESS: u64 = 1 << 52;

#[test]
fn cxl68_msg_01_p() {
    layout_p::<M2sReq>();
}

#[test]
fn cxl68_msg_01_n() {
    layout_n::<M2sReq>("CXL68-MSG-01");
    too_wide!(M2sReq: opcode = M2sReqOpcode(16), snp_type = SnpType(8), meta_field = MetaField(4),
        meta_value = MetaValue(4), address = ADDRESS, address = 0x10, tc = 4, ld_id = 16, rsvd = 64);
}

#[test]
fn cxl68_msg_02_p() {
    layout_p::<M2sRwd>();
}

#[test]
fn cxl68_msg_02_n() {
    layout_n::<M2sRwd>("CXL68-MSG-02");
    too_wide!(M2sRwd: opcode = M2sRwdOpcode(16), snp_type = SnpType(8), meta_field = MetaField(4),
        meta_value = MetaValue(4), address = ADDRESS, address = 0x20, tc = 4, ld_id = 16, rsvd = 64);
}

#[test]
fn cxl68_msg_03_p() {
    layout_p::<S2mNdr>();
}

#[test]
fn cxl68_msg_03_n() {
    layout_n::<S2mNdr>("CXL68-MSG-03");
    too_wide!(S2mNdr: opcode = NdrOpcode(8), meta_field = MetaField(4), meta_value = MetaValue(4), ld_id = 16,
        devload = DevLoad(4));
}

#[test]
fn cxl68_msg_04_p() {
    layout_p::<S2mDrs>();
}

#[test]
fn cxl68_msg_04_n() {
    layout_n::<S2mDrs>("CXL68-MSG-04");
    too_wide!(S2mDrs: opcode = DrsOpcode(8), meta_field = MetaField(4), meta_value = MetaValue(4), ld_id = 16,
        devload = DevLoad(4), rsvd = 512);
}

#[test]
fn cxl68_msg_05_p() {
    layout_p::<D2hReq>();
}

#[test]
fn cxl68_msg_05_n() {
    layout_n::<D2hReq>("CXL68-MSG-05");
    too_wide!(D2hReq: opcode = D2hReqOpcode(32), cqid = 4096, rsvd = 128, address = ADDRESS, address = 0x20,
        rsvd1 = 128);
}

#[test]
fn cxl68_msg_06_p() {
    layout_p::<D2hRsp>();
}

#[test]
fn cxl68_msg_06_n() {
    layout_n::<D2hRsp>("CXL68-MSG-06");
    too_wide!(D2hRsp: opcode = D2hRspOpcode(32), uqid = 4096, rsvd = 4);
}

#[test]
fn cxl68_msg_07_p() {
    layout_p::<D2hData>();
}

#[test]
fn cxl68_msg_07_n() {
    layout_n::<D2hData>("CXL68-MSG-07");
    too_wide!(D2hData: uqid = 4096, rsvd = 2);
}

#[test]
fn cxl68_msg_08_p() {
    layout_p::<H2dReq>();
}

#[test]
fn cxl68_msg_08_n() {
    layout_n::<H2dReq>("CXL68-MSG-08");
    too_wide!(H2dReq: opcode = H2dReqOpcode(8), address = ADDRESS, address = 0x20, uqid = 4096, rsvd = 4);
}

#[test]
fn cxl68_msg_09_p() {
    layout_p::<H2dRsp>();
}

#[test]
fn cxl68_msg_09_n() {
    layout_n::<H2dRsp>("CXL68-MSG-09");
    too_wide!(H2dRsp: opcode = H2dRspOpcode(16), rsp_data = 4096, rsp_pre = RspPre(4), cqid = 4096, rsvd = 2);
}

#[test]
fn cxl68_msg_10_p() {
    layout_p::<H2dData>();
}

#[test]
fn cxl68_msg_10_n() {
    layout_n::<H2dData>("CXL68-MSG-10");
    too_wide!(H2dData: cqid = 4096);
}

fn read_at(address: u64) -> Cxl68Message {
    let request = M2sReq { opcode: M2sReqOpcode::MemRd, address, tag: 1, ..M2sReq::default() };
    Cxl68Message::new(Class::M2sReq, request.to_bits().expect("fits"))
}

#[test]
fn cxl68_msg_11_p() {
    let sent = |send_address_bit_5| {
        let config = Cxl68Config { send_address_bit_5, ..config() };
        let units = pack(Dir::Down, config, &[read_at(0x1020), read_at(0x1000)]);
        let messages = read_as(Dir::Down, config, &units).delivered;
        messages.iter().map(|m| M2sReq::from_bits(m.bits).address).collect::<Vec<_>>()
    };
    assert!(!config().send_address_bit_5, "our choice");
    assert_eq!(sent(false), [0x1000, 0x1000]);
    assert_eq!(sent(true), [0x1020, 0x1000]);
}

#[test]
fn cxl68_msg_11_n() {
    let flit = Flit::new(Dir::Down).with(0, "H5", &[(0, read_at(0x1020).bits)]);
    let read = judge(Dir::Down, flit.unit());
    read.assert_clean();
    assert_eq!(M2sReq::from_bits(read.delivered[0].bits).address, 0x1020, "decode keeps the bit");
}

#[test]
fn cxl68_msg_12_p() {
    for class in [Class::D2hData, Class::H2dData] {
        for (size, at) in [(Size::LowerHalf, 0), (Size::UpperHalf, 32)] {
            let sent = sized(class, 4, size, None);
            let units = pack(class.dir(), config(), &[sent]);
            let read = read(class.dir(), &units);
            read.assert_clean();
            assert_eq!(read.delivered, [sent]);
            let data = read.delivered[0].data.expect("data");
            assert_eq!(data.bytes[at..at + 32], line(4)[at..at + 32], "in its natural place");
            assert_eq!(data.bytes[32 - at..64 - at], [0; 32], "the other half does not travel");
        }
    }
}

#[test]
fn cxl68_msg_12_n() {
    for class in [Class::D2hData, Class::H2dData] {
        // 64 B with ChunkValid 1: ignored.
        let mut whole = message(class, 6);
        whole.bits |= 1 << 13;
        assert_eq!(admit(class.dir(), &whole), Ok(()));
        let read_back = read(class.dir(), &pack(class.dir(), config(), &[whole]));
        read_back.assert_clean();
        assert_eq!(read_back.delivered, [whole]);
        // A bit that names the other half: refused before it is sent.
        for size in [Size::LowerHalf, Size::UpperHalf] {
            let mut wrong = sized(class, 6, size, None);
            wrong.bits ^= 1 << 13;
            assert!(matches!(admit(class.dir(), &wrong), Err(Cxl68Refused::ChunkValid { .. })));
        }
        // An upper half that is stored low is not what was sent.
        let sent = sized(class, 6, Size::UpperHalf, None);
        let units = pack(class.dir(), config(), &[sent]);
        let mut low = read(class.dir(), &units).delivered[0];
        let data = low.data.as_mut().expect("data");
        data.bytes.rotate_left(32);
        data.size = Size::LowerHalf;
        let facts = oracle(class.dir(), true, &units).expect("legal");
        let transfer = facts.iter().flat_map(|f| &f.completed).next().expect("one transfer");
        assert!(same_transfer(&sent, transfer));
        low.data.as_mut().expect("data").size = Size::UpperHalf;
        assert!(!same_transfer(&low, transfer), "the checker sees it");
    }
}

#[test]
fn cxl68_msg_13_p() {
    for name in ["m2s_birsp", "s2m_bisnp", "bi_snp", "bi_rsp"] {
        assert!(LAYOUTS.iter().all(|l| l.name != format!("cxl68.{name}")));
    }
    for absent in ["cache_id", "ck_id", "ckid", "trp", "bep", "spid", "dpid", "bi_id"] {
        assert!(LAYOUTS.iter().flat_map(|l| l.fields).all(|f| f.name != absent), "{absent}");
    }
    assert_eq!(Class::ALL.len(), 10);
}

#[test]
fn cxl68_msg_13_n() {
    assert!(registry::layout("cxl68.m2s_birsp").is_none());
    assert!(registry::layout("cxl68.s2m_bisnp").is_none());
    for class in Class::ALL {
        for field in ["cache_id", "ck_id", "trp", "spid", "dpid"] {
            let error = class.def().field(field).expect_err("no such field in 68B mode");
            assert!(matches!(error.fault, FieldFault::UnknownField { .. }));
            assert!(error.to_string().contains(field), "{error}");
        }
    }
}

fn v1_1() -> Cxl68Config {
    Cxl68Config { revision: Revision::V1_1, ..config() }
}

/// G5 of 1.1 with three NDR, tags 1 to 3: 28 bits each (`cxl-68b` §3.3).
fn three_ndr() -> Flit {
    let mut flit = Flit::new(Dir::Up).with(1, "G5", &[]);
    flit.slots[1] = (0..3).fold(0, |slot, n| slot | legal(Class::S2mNdr, n + 1) << (28 * n));
    flit
}

#[test]
fn cxl68_msg_14_p() {
    let read = read_as(Dir::Up, v1_1(), &[three_ndr().unit()]);
    let tags: Vec<u16> = read.delivered.iter().map(|m| S2mNdr::from_bits(m.bits).tag).collect();
    assert_eq!(tags, [1, 2, 3]);
    // Length sums of §3.3: H0 85, H3 68, H4 56, G4 96, G5 84.
    let used = |n, code| {
        let format = slot::format(Revision::V1_1, Dir::Up, n, code).expect("listed");
        (!format.reserved_bits()).count_ones() - if n == 0 { 32 } else { 0 }
    };
    assert_eq!([used(0, 0), used(0, 3), used(0, 4), used(1, 4), used(1, 5)], [85, 68, 56, 96, 84]);
    // What 1.1 sends, 1.1 reads back, two completions a flit at most.
    let ndr: Vec<Cxl68Message> = (0..7).map(|n| message(Class::S2mNdr, n)).collect();
    let units = pack(Dir::Up, v1_1(), &ndr);
    assert_eq!(units.len(), 4);
    let read = read_as(Dir::Up, v1_1(), &units);
    read.assert_clean();
    assert_eq!(read.delivered, ndr);
}

#[test]
fn cxl68_msg_14_n() {
    let read = judge(Dir::Up, three_ndr().unit());
    let tags: Vec<u16> = read.delivered.iter().map(|m| S2mNdr::from_bits(m.bits).tag).collect();
    assert_eq!(tags, [1, 2], "2.0 reads two NDR; the bits of the third are its DevLoads and reserved ones");
    // Three in one flit are more than a 1.1 receiver may get.
    assert_eq!(read_as(Dir::Up, v1_1(), &[three_ndr().unit()]).rules(), ["CXL68-PCK-01"]);
    // H6 does not exist in 1.1.
    for dir in Dir::ALL {
        let mac = Flit::new(dir).with(0, "H6", &[]).unit();
        assert_eq!(read_as(dir, v1_1(), &[mac]).rules(), ["CXL68-SLT-01"]);
    }
}

/// LD-ID and DevLoad are reserved in 1.1, and reserved bits are sent as 0.
#[test]
fn cxl68_msg_14_n2() {
    let full = |class: Class, name: &str| {
        let field = class.def().field(name).expect("a field");
        message(class, 1).bits | field.max_raw() << field.lsb
    };
    for (class, fields) in [
        (Class::M2sReq, &["ld_id"][..]),
        (Class::M2sRwd, &["ld_id"]),
        (Class::S2mNdr, &["ld_id", "devload"]),
        (Class::S2mDrs, &["ld_id", "devload"]),
    ] {
        for field in fields {
            let sent = Cxl68Message { bits: full(class, field), ..message(class, 1) };
            let arrives = |config| read_as(class.dir(), config, &pack(class.dir(), config, &[sent])).delivered;
            assert_eq!(arrives(v1_1()), [message(class, 1)], "{} {field}", class.def().name);
            assert_eq!(arrives(config()), [sent]);
        }
    }
}
