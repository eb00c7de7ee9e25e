//! NVL-PKT: how many flits, which, in which order.

use super::common::*;

/// Every mix of AE, BE and data that fits.
fn mixes() -> impl Iterator<Item = (Op, Option<Ae>, Option<u128>, usize)> {
    let ae = Ae { address: 5 << 38, route: 7, attr: 3, rsvd: 0 };
    OPERATIONS.iter().flat_map(move |&(code, _, has_data, _)| {
        let op = Op(code);
        let flits = if has_data { 1..=16 } else { 0..=0 };
        flits.flat_map(move |flits| {
            let be = [None, Some(0xff)].into_iter().filter(move |be| be.is_none() || (1..=8).contains(&flits));
            be.flat_map(move |be| [None, Some(ae)].map(|ae| (op, ae, be, flits)))
        })
    })
}

#[test]
fn nvl_pkt_01_p() {
    assert_eq!(packet(Op::READ, 0).flits().len(), 1);
    let longest = Packet::build(header(Op::WRITE_POSTED), Some(Ae::default()), None, &data(16)).expect("18 flits");
    assert_eq!((longest.flits().len(), longest.header().len), (18, 17));
    assert!(rules(&first(&longest)).is_empty());
    let bytes: Vec<u8> = longest.bytes().collect();
    assert_eq!((bytes.len(), Packet::from_bytes(&bytes)), (288, Ok(longest)));
}

#[test]
fn nvl_pkt_01_n() {
    assert_eq!(Packet::new(&[0; 19]), Err(PacketError::Flits { found: 19 }));
    assert_eq!(Packet::new(&[]), Err(PacketError::Flits { found: 0 }));
    assert_eq!(Packet::from_bytes(&[0; 304]), Err(PacketError::Length { found: 304 }));
    let refused = Packet::build(header(Op::WRITE_POSTED), None, None, &data(17)).unwrap_err();
    assert!(matches!(refused, PacketError::Data { found: 272, .. }), "{refused}");
    for len in 18..32 {
        let bad = changed(&packet(Op::READ, 0), |h| h.len = len);
        assert_eq!(rules(&bad)[0], "NVL-PKT-01", "len {len}");
    }
}

#[test]
fn nvl_pkt_02_p() {
    for (op, ae, be, flits) in mixes() {
        let packet = first(&Packet::build(header(op), ae, be, &data(flits)).expect("legal"));
        let parts = packet.parts();
        assert_eq!((parts.ae, parts.be), (ae.map(|ae| ae.to_bits().expect("it fits")), be), "{op:?}");
        let bytes: Vec<u8> = parts.data.iter().flat_map(|flit| flit.to_le_bytes()).collect();
        assert_eq!(bytes, data(flits), "{op:?}");
        let order: Vec<u128> = parts.ae.into_iter().chain(parts.be).chain(parts.data.iter().copied()).collect();
        assert_eq!(packet.payload(), order);
        let bare = op.class() == Some(Class::Link) && ae.is_some();
        assert_eq!(rules(&packet), if bare { vec!["NVL-PKT-04"] } else { vec![] }, "{op:?}");
    }
}

#[test]
fn nvl_pkt_02_n() {
    let ae = Ae { address: 5 << 38, ..Ae::default() };
    let mut packet = Packet::build(header(Op::WRITE_POSTED), Some(ae), Some(0xffff), &data(1)).expect("legal");
    packet.payload_mut().swap(0, 1);
    let rules = rules(&first(&packet));
    assert_eq!(rules, ["NVL-PKT-02", "NVL-HDR-02"]);
}

#[test]
fn nvl_pkt_03_p() {
    for flits in 1..=8 {
        let packet = Packet::build(header(Op::WRITE_NONPOSTED), None, Some(u128::MAX), &data(flits)).expect("legal");
        assert!(rules(&first(&packet)).is_empty(), "{flits} flits");
    }
}

#[test]
fn nvl_pkt_03_n() {
    for flits in 9..=16 {
        let refused = Packet::build(header(Op::WRITE_POSTED), None, Some(1), &data(flits));
        assert_eq!(refused, Err(PacketError::ByteEnables { found: 16 * flits }));
        // The same bits from a peer: a BE flit in front of the data, said in the header.
        let mut all = vec![packet(Op::WRITE_POSTED, flits).header_bits(), 1];
        all.extend_from_slice(packet(Op::WRITE_POSTED, flits).payload());
        let Ok(bad) = Packet::new(&all) else { panic!("{} flits", all.len()) };
        let bad = changed(&bad, |h| (h.be, h.len) = (true, flits as u8 + 1));
        assert_eq!(rules(&bad), ["NVL-PKT-03"], "{flits} flits");
    }
    let without_data = changed(&Packet::new(&[0, 1]).expect("two flits"), |h| {
        *h = NvlHeader { be: true, len: 1, ..header(Op::READ) };
    });
    assert_eq!(rules(&without_data), ["NVL-PKT-03"]);
}

#[test]
fn nvl_pkt_04_p() {
    for (op, ae, be, flits) in mixes().filter(|(op, ae, ..)| op.class() != Some(Class::Link) || ae.is_none()) {
        let packet = Packet::build(header(op), ae, be, &data(flits)).expect("legal");
        let header = packet.header();
        assert_eq!(usize::from(header.len), usize::from(ae.is_some()) + usize::from(be.is_some()) + flits);
        assert_eq!(op.has_data() == Some(true), flits > 0);
        assert!(flits == 0 || usize::from(header.size) + 1 == flits);
        assert!(rules(&first(&packet)).is_empty(), "{op:?}");
    }
    // A read asks for up to 256 bytes and carries none.
    assert!(rules(&changed(&packet(Op::READ, 0), |h| h.size = 15)).is_empty());
}

#[test]
fn nvl_pkt_04_n() {
    // `len` is not what follows.
    let bad = changed(&packet(Op::WRITE_POSTED, 4), |h| h.len = 3);
    assert_eq!(rules(&bad), ["NVL-PKT-04", "NVL-PKT-04"], "neither what follows nor what `size` says");
    // `size` is not what follows.
    assert_eq!(rules(&changed(&packet(Op::WRITE_POSTED, 4), |h| h.size = 4)), ["NVL-PKT-04"]);
    // Data behind an operation without.
    let bad = changed(&packet(Op::WRITE_POSTED, 1), |h| *h = NvlHeader { len: 1, ..header(Op::READ) });
    assert_eq!(rules(&bad), ["NVL-PKT-04"]);
    // A flit that nobody announced.
    let bad = changed(&packet(Op::WRITE_POSTED, 1), |h| h.ae = true);
    assert_eq!(rules(&bad), ["NVL-PKT-04", "NVL-HDR-02"], "the data is read as an AE");
    for (op, flits) in [(Op::READ, 1), (Op::WRITE_POSTED, 0), (Op::RSP_DONE, 16)] {
        let refused = Packet::build(header(op), None, None, &data(flits)).unwrap_err();
        assert!(matches!(refused, PacketError::Data { found, .. } if found == 16 * flits), "{refused}");
    }
    // The other reading of §6.1: nothing at all behind an operation without data.
    let read = first(&Packet::build(header(Op::READ), Some(Ae::default()), None, &[]).expect("legal"));
    assert!(rules(&read).is_empty());
    assert_eq!(rules_with(&read, NvlConfig { ae_without_data: false, ..NvlConfig::default() }), ["NVL-PKT-04"]);
}
