//! NVL-FLT, NVL-HDR: bytes of a flit, layouts of header and AE, against the oracle.

use super::common::*;
use scalepool_oracle::nvlink as oracle;
use scalepool_protocols::registry;
use scalepool_protocols::wire::{FieldFault, LayoutDef};

fn patterns() -> Vec<u128> {
    let mut random = Random::new(25);
    let walking = (0..128).flat_map(|bit| [1 << bit, !(1 << bit)]);
    [0, u128::MAX].into_iter().chain(walking).chain(std::iter::repeat_with(|| random.wide()).take(200)).collect()
}

/// W, obeys: every pattern gives the bytes and the fields of the oracle, both ways.
fn layout_p(def: &'static LayoutDef, theirs: &[(&str, usize)]) {
    assert_eq!(registry::layout(def.name).map(|l| l.bits), Some(128));
    let names: Vec<_> = def.fields.iter().rev().map(|f| (f.name, f.width as usize)).collect();
    assert_eq!(names, theirs);
    for bits in patterns() {
        let values: Vec<u128> = def.fields.iter().rev().map(|f| f.extract(bits)).collect();
        let value = |name: &str| values[theirs.iter().position(|f| f.0 == name).expect("a name of the list")];
        let bytes = oracle::pack(theirs, value);
        assert_eq!(def.to_bytes(bits), bytes, "{} {bits:#x}", def.name);
        assert_eq!(oracle::unpack(theirs, bytes), values, "{} {bits:#x}", def.name);
    }
    for (index, field) in def.fields.iter().enumerate() {
        for value in [0, 1, field.max_raw()] {
            let bits = field.insert(0, value << field.address_lsb).expect("it fits");
            let expected = oracle::pack(theirs, |name| if name == field.name { value } else { 0 });
            assert_eq!(def.to_bytes(bits), expected, "{}.{} ({index})", def.name, field.name);
        }
    }
}

/// W, breaks: one above the maximum of each field is refused by name; a reserved bit is kept, and named.
fn layout_n(def: &'static LayoutDef, rule: &str) {
    for field in def.fields {
        // Addresses that reach the top of 64 bits and beyond are numbers of 128 bits here.
        let fault = field.insert(0, (field.max_raw() + 1) << field.address_lsb);
        assert!(matches!(fault, Err(FieldFault::TooWide { field: name, .. }) if name == field.name), "{fault:?}");
        let mut found = Vec::new();
        let bits = if field.reserved { field.max_raw() << field.lsb } else { 0 };
        def.check(bits, &mut found);
        assert_eq!(def.from_bytes(&def.to_bytes(bits)), Ok(bits));
        let named = found.iter().filter(|v| v.rule == rule).count();
        assert_eq!(named, usize::from(field.reserved), "{}.{}: {found:?}", def.name, field.name);
    }
}

#[test]
fn nvl_flt_01_p() {
    for bits in patterns() {
        let packet = Packet::new(&[bits]).expect("one flit");
        let bytes: Vec<u8> = packet.bytes().collect();
        for (k, byte) in bytes.iter().enumerate() {
            assert_eq!(u128::from(*byte), bits >> (8 * k) & 0xff, "byte {k} of {bits:#x}");
        }
        assert_eq!(Packet::from_bytes(&bytes), Ok(packet));
    }
}

#[test]
fn nvl_flt_01_n() {
    for found in [0, 1, 15, 17, 31, 287, 289] {
        let refused = Packet::from_bytes(&vec![0; found]);
        assert_eq!(refused, Err(PacketError::Length { found }));
        let text = refused.unwrap_err().to_string();
        assert!(text.contains(&format!("found {found} bytes")) && text.contains("expected a multiple of 16"), "{text}");
    }
}

#[test]
fn nvl_hdr_01_p() {
    layout_p(NvlHeader::DEF, &oracle::HEADER);
    let widths =
        |names: &[&str]| NvlHeader::DEF.fields.iter().filter(|f| names.contains(&f.name)).map(|f| f.width).sum::<u32>();
    assert_eq!((widths(&["crc"]), widths(&["len", "atag", "ackv", "ackid"])), (25, 20));
}

#[test]
fn nvl_hdr_01_n() {
    layout_n(NvlHeader::DEF, "NVL-HDR-01");
    let bad = changed(&packet(Op::READ, 0), |h| h.rsvd = 2);
    assert_eq!(rules(&bad), ["NVL-HDR-01"]);
}

#[test]
fn nvl_hdr_02_p() {
    layout_p(Ae::DEF, &oracle::AE);
    // BE: bit i is for payload byte i; the flit is the number.
    let be = 1 << 5 | 1 << 127;
    let packet = Packet::build(header(Op::WRITE_POSTED), None, Some(be), &data(8)).expect("128 bytes");
    let bytes: Vec<u8> = packet.bytes().skip(16).take(16).collect();
    assert_eq!((bytes[0], bytes[15]), (1 << 5, 1 << 7));
}

#[test]
fn nvl_hdr_02_n() {
    layout_n(Ae::DEF, "NVL-HDR-02");
    let ae = Ae { rsvd: 1 << 40, address: 1 << 38, ..Ae::default() };
    let bad = Packet::build(header(Op::READ), Some(ae), None, &[]).expect("it can be written");
    assert_eq!(rules(&first(&bad)), ["NVL-HDR-02"]);
}

/// Two channels alternate between regions: each has its own memory, zero at first.
#[test]
fn nvl_hdr_03_p() {
    let mut unpacker = Unpacker::default();
    let mut packer = Packer::default();
    let read = |vc, address, ae: Option<u64>| {
        let ae = ae.map(|address| Ae { address, ..Ae::default() });
        let header = NvlHeader { vc, address, ..header(Op::READ) };
        Packet::build(header, ae, None, &[]).expect("legal")
    };
    let (a, b) = (0x12 << 38, 0x3ff_ffff << 38);
    let steps = [
        (read(Vc(0), 0x40, None), 0x40),
        (read(Vc(0), 0x50, Some(a)), a | 0x50),
        (read(Vc(6), 0x60, None), 0x60),
        (read(Vc(6), 0x70, Some(b)), b | 0x70),
        (read(Vc(0), 0x80, None), a | 0x80),
        (read(Vc(6), 0x3f_ffff_fff0, None), !0xf),
        (read(Vc(0), 0x90, Some(0)), 0x90),
        (read(Vc(6), 0xa0, None), b | 0xa0),
    ];
    for (n, (packet, address)) in steps.into_iter().enumerate() {
        let needed = packer.needs_ae(packet.header().vc, address);
        assert_eq!(needed, packet.header().ae, "packet {n}");
        assert_eq!(unpacker.read(&packer.seal(&packet)).address(), address, "packet {n}");
    }
}

/// A memory that all channels share gives other addresses, and a bad packet leaves none behind.
#[test]
fn nvl_hdr_03_n() {
    let mut random = Random::new(3);
    let (mut unpacker, mut packer) = (Unpacker::default(), Packer::default());
    let (mut own, mut shared, mut differ) = ([0u64; 8], 0u64, 0);
    for _ in 0..500 {
        let packet = random_packet(&mut random);
        let NvlHeader { vc, address, .. } = packet.header();
        let sealed = packer.seal(&packet);
        let before = unpacker.clone().read(&sealed);
        // With a wrong CRC in front, nothing changes.
        assert!(!unpacker.read(&sealed.with_crc(sealed.crc() ^ 1)).is_good());
        let decoded = unpacker.read(&sealed);
        assert_eq!(decoded, before);
        if let Some(ae) = packet.parts().ae {
            shared = Ae::from_bits(ae).address;
            own[usize::from(vc.0)] = shared;
        }
        assert_eq!(decoded.address(), own[usize::from(vc.0)] | address);
        differ += usize::from(decoded.address() != shared | address);
    }
    assert!(differ > 100, "a shared memory would be seen {differ} times");
}
