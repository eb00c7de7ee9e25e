//! Sizes, byte map, flit header, CRC, sequence numbers (`ualink` §1 to §3, §5, §7).

use super::common::*;
use scalepool_protocols::ualink::crc::{CrcBitOrder, CrcCoverage, crc};
use scalepool_protocols::ualink::flit::{FLIT_BYTES, PAYLOAD_BYTES, SECTORS, map, sector_byte, segment_header_byte};
use scalepool_protocols::ualink::half::TL_BYTES;
use scalepool_protocols::ualink::phy;
use scalepool_protocols::wire::Wire;

/// The idle Ack of §5: ackReqSeq 511, flitSeqLo 7.
fn anchor() -> DlFlit {
    let header = CommandHeader { ack_req_seq: 511, seq_lo: 7, ..CommandHeader::default() };
    flit(UalHeader::Command(header), &Payload::ZERO)
}

#[test]
fn ual_siz_01_p() {
    assert_eq!((TL_BYTES, FLIT_BYTES, phy::CODE_WORD_BYTES), (64, 640, 680));
    assert_eq!((PAYLOAD_BYTES, PAYLOAD_BYTES + map::FH.len() + 5 + map::CRC.len()), (628, 640));
    assert!(DlFlit::from_bytes(&[0; 640]).is_ok());
}

#[test]
fn ual_siz_01_n() {
    for bytes in [0, 639, 641] {
        let error = DlFlit::from_bytes(&vec![0; bytes]).expect_err("another length");
        assert_eq!(error.to_string(), format!("ualink.dl_flit: found {bytes} bytes, expected 640 (5120 bits)"));
    }
}

#[test]
fn ual_siz_02_p() {
    let small = TlReq { len: 0, address: 252, ..request(ReqCmd::Read, 0, 1) };
    for req in [small, request(ReqCmd::WriteFull, 0, 4), TlReq { address: 128, ..request(ReqCmd::Write, 0, 2) }] {
        assert_eq!(broken(req), Vec::<&str>::new());
    }
}

#[test]
fn ual_siz_02_n() {
    let crossing = TlReq { address: 4, ..request(ReqCmd::WriteFull, 0, 4) };
    assert_eq!(broken(crossing), ["UAL-SIZ-02"]);
    assert_eq!(
        broken(TlReq { address: 252, len: 1, ..TlReq { cmd: ReqCmd::Read, ..TlReq::default() } }),
        ["UAL-SIZ-02"]
    );
    // 65 DWords do not fit into the field.
    assert!(TlReq { len: 64, ..TlReq::default() }.to_bits().is_err());
}

#[test]
fn ual_siz_03_p() {
    for address in [0, 4, (1 << 57) - 4] {
        let bits = TlReq { address, ..TlReq::default() }.to_bits().expect("it fits");
        assert_eq!(TlReq::from_bits(bits).address, address);
    }
}

#[test]
fn ual_siz_03_n() {
    for address in [1, 2, 3, 1 << 57] {
        assert!(TlReq { address, ..TlReq::default() }.to_bits().is_err(), "{address:#x}");
    }
}

#[test]
fn ual_map_01_p() {
    let mut used = [false; FLIT_BYTES];
    for sector in 0..SECTORS {
        for byte in 0..4 {
            let mut payload = Payload::ZERO;
            payload.sectors[sector][byte] = 0xff;
            let mut flit = DlFlit::ZERO;
            flit.set_payload(&payload);
            let at: Vec<_> = (0..FLIT_BYTES).filter(|&n| flit.0[n] != 0).collect();
            assert_eq!(at, [sector_byte(sector, byte)]);
            assert_eq!(flit.payload(), payload);
            assert!(!std::mem::replace(&mut used[at[0]], true), "a byte holds two");
        }
    }
    assert_eq!(used.iter().filter(|u| **u).count(), 628);
}

/// X1: a flit with FH at 632 is another one.
#[test]
fn ual_map_01_n() {
    let good = anchor();
    let mut moved = good;
    moved.0.copy_within(624..627, 632);
    moved.0[624..627].fill(0);
    assert_eq!(rules(&read(&[moved])[0]), ["UAL-CRC-01"]);
    assert_ne!(moved.header(), good.header());
    assert_eq!(moved.expected_crc(&SHEET).reverse_bits(), 0x274f_e453);
}

#[test]
fn ual_map_02_p() {
    assert_eq!([0, 1, 2, 3, 4].map(segment_header_byte), [67, 195, 323, 451, 579]);
    assert_eq!((map::FH, map::CRC), (624..627, 636..640));
    let mut payload = Payload::ZERO;
    payload.headers = [1, 2, 3, 4, 5];
    let flit = flit(explicit(1), &payload);
    assert_eq!([67, 195, 323, 451, 579].map(|at| flit.0[at]), payload.headers);
}

#[test]
fn ual_map_02_n() {
    let mut moved = DlFlit::ZERO;
    moved.0[68] = 0x10;
    assert_eq!(moved.payload().headers, [0; 5]);
    assert_eq!(moved.payload().sectors[16][0], 0x10);
}

#[test]
fn ual_map_03_p() {
    assert_eq!(anchor().0[624..627], [0x00, 0xff, 0x4f]);
    assert_eq!(anchor().header_bits(), 0x4f_ff00);
}

#[test]
fn ual_map_03_n() {
    let mut reversed = anchor();
    reversed.0[624..627].reverse();
    assert_ne!(reversed.header(), anchor().header());
    assert!(rules(&read(&[reversed])[0]).contains(&"UAL-CRC-01"));
}

#[test]
fn ual_flh_01_p() {
    layout_p::<ExplicitHeader>("op 23:21, payload 20, rsvd1 19:17, seq 16:8, rsvd 7:0");
}

#[test]
fn ual_flh_01_n() {
    layout_n::<ExplicitHeader>();
    assert!(ExplicitHeader { seq: 512, ..ExplicitHeader::default() }.to_bits().is_err());
}

#[test]
fn ual_flh_02_p() {
    layout_p::<CommandHeader>("op 23:21, payload 20, ack_req_seq 19:11, seq_lo 10:8, rsvd 7:0");
}

#[test]
fn ual_flh_02_n() {
    layout_n::<CommandHeader>();
    assert!(CommandHeader { seq_lo: 8, ..CommandHeader::default() }.to_bits().is_err());
}

/// Every `op` with and without payload: (explicit format, usable).
#[test]
fn ual_flh_03_p() {
    for (op, payload) in [(0, false), (0, true), (1, true), (2, false), (2, true), (3, false), (3, true)] {
        // No number is 0 in either format.
        let header = UalHeader::from_bits(op << 21 | u32::from(payload) << 20 | 1 << 11 | 1 << 8);
        assert_eq!(matches!(header, UalHeader::Command(_)), op >= 2, "{op}");
        assert_eq!((header.op().0, header.payload(), header.is_usable()), (op as u8, payload, true));
        let decoded = &read(&[flit(header, &Payload::ZERO)])[0];
        assert_eq!((rules(decoded), decoded.is_good()), (vec![], true));
    }
}

#[test]
fn ual_flh_03_n() {
    for (op, payload) in [(1, false), (4, true), (5, true), (6, false), (7, true)] {
        let header = UalHeader::from_bits(op << 21 | u32::from(payload) << 20);
        assert!(!header.is_usable());
        let mut offers = Offers::default();
        offers.tl[0][0] = Some(tl(control(&[ControlField::Request(request(ReqCmd::WriteFull, 1, 1))]), [0; 32]));
        let payload_of = if payload { super::common::payload(&offers) } else { Payload::ZERO };
        // The flit is dropped: nothing is owed behind it.
        let flits = [flit(header, &payload_of), flit(explicit(1), &super::common::payload(&offers))];
        let decoded = read(&flits);
        assert_eq!((rules(&decoded[0]), decoded[0].is_good()), (vec!["UAL-FLH-03"], false), "{op}");
        assert_eq!(rules(&decoded[1]), Vec::<&str>::new());
    }
    // A layout read as the other format.
    assert_eq!(broken(ExplicitHeader { op: FlitOp::Ack, ..ExplicitHeader::default() }), ["UAL-FLH-03"]);
    assert_eq!(broken(CommandHeader { op: FlitOp::Original, ..CommandHeader::default() }), ["UAL-FLH-03"]);
}

#[test]
fn ual_flh_04_p() {
    for header in [explicit(511), nop(1), UalHeader::Command(CommandHeader::default())] {
        assert_eq!(header.to_bits().expect("it fits") & 0xff, 0);
    }
    assert_eq!(explicit(511).to_bits().expect("it fits") & 0xe_0000, 0);
}

/// Reserved bits are ignored: named, and the flit is used.
#[test]
fn ual_flh_04_n() {
    for bit in [0, 7, 17, 19] {
        let decoded = &read(&[flit(UalHeader::from_bits(1 << 20 | 1 << 8 | 1 << bit), &Payload::ZERO)])[0];
        assert_eq!((rules(decoded), decoded.is_good()), (vec!["UAL-FLH-04"], true), "{bit}");
    }
}

#[test]
fn ual_crc_01_p() {
    assert_eq!(anchor().0[636..], [0x02, 0x90, 0x3d, 0xea]);
    assert_eq!(rules(&read(&[anchor()])[0]), Vec::<&str>::new());
}

#[test]
fn ual_crc_01_n() {
    for bit in 0..5120 {
        let mut flit = anchor();
        flit.0[bit / 8] ^= 1 << (bit % 8);
        assert_ne!(flit.crc(), flit.expected_crc(&SHEET), "bit {bit}");
    }
    let mut poisoned = anchor();
    poisoned.poison(&SHEET);
    assert_eq!(rules(&read(&[poisoned])[0]), ["UAL-CRC-01"]);
}

#[test]
fn ual_crc_02_p() {
    assert_eq!(crc(&anchor().0, CrcBitOrder::X31First, CrcCoverage::WholeFlit), 0x4009_bc57);
}

/// X3: over 636 bytes.
#[test]
fn ual_crc_02_n() {
    let mut other = anchor();
    other.seal(&UalConfig { crc_coverage: CrcCoverage::DataOnly, ..SHEET });
    assert_ne!(other, anchor());
    assert_eq!(rules(&read(&[other])[0]), ["UAL-CRC-01"]);
}

#[test]
fn ual_crc_03_p() {
    for crc_order in [CrcBitOrder::X0First, CrcBitOrder::X31First] {
        let config = UalConfig { crc_order, ..SHEET };
        let mut flit = anchor();
        flit.seal(&config);
        let decoded = Unpacker::new(config, CompressionRole::ToSwitch).read(&flit);
        assert_eq!(rules(&decoded), Vec::<&str>::new());
    }
}

#[test]
fn ual_crc_03_n() {
    let mut flit = anchor();
    flit.seal(&UalConfig { crc_order: CrcBitOrder::X31First, ..SHEET });
    assert_eq!(flit.0[636..], [0x57, 0xbc, 0x09, 0x40]);
    assert_eq!(rules(&read(&[flit])[0]), ["UAL-CRC-01"]);
}

/// Every last number with every low value: the number behind it, or itself for a NOP, and nothing else.
#[test]
fn ual_rxr_12_p() {
    for last in 1..=511 {
        for low in 0..8 {
            let next = seq_of_low_bits(last, low, true);
            assert_eq!(next == next_seq(last), u16::from(low) == next_seq(last) & 7, "{last} {low}");
            let same = seq_of_low_bits(last, low, false);
            assert_eq!(same == last, u16::from(low) == last & 7, "{last} {low}");
        }
    }
    let header = CommandHeader { seq_lo: 1, payload: true, ..CommandHeader::default() };
    assert_eq!(UalHeader::Command(header).own_seq(511), 1);
    assert_eq!(UalHeader::Command(header).own_seq(8), 9);
    assert_eq!(UalHeader::Command(CommandHeader { seq_lo: 4, ..header }).own_seq(41), 44);
    assert_eq!(UalHeader::Explicit(ExplicitHeader { seq: 300, ..ExplicitHeader::default() }).own_seq(41), 300);
}

/// Counting modulo 512 gives number 0, which nobody sends.
#[test]
fn ual_rxr_12_n() {
    assert_eq!(next_seq(511), 1);
    assert_ne!(next_seq(511), (511 + 1) % 512);
    assert_eq!(seq_of_low_bits(511, 0, true), 0, "low bits 0 behind 511 are no sender's");
}
