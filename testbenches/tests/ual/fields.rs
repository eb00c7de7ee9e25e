//! The six fields, their compressed forms and the address cache (`ualink` §10).

use super::common::*;
use scalepool_protocols::ualink::compress::*;
use scalepool_protocols::ualink::control::Credit;
use scalepool_protocols::wire::Wire;

#[test]
fn ual_fld_01_p() {
    layout_p::<TlReq>(
        "ftype 127:124, cmd 123:118, vchan 117:116, asi 115:114, tag 113:103, pool 102, attr 101:94, len 93:88, \
         metadata 87:80, address 79:25, src 24:15, dst 14:5, cload 4, cway 3:2, numbeats 1:0",
    );
}

#[test]
fn ual_fld_01_n() {
    layout_n::<TlReq>();
}

#[test]
fn ual_fld_02_p() {
    layout_p::<TlRsp>(
        "ftype 63:60, vchan 59:58, tag 57:47, pool 46, len 45:44, offset 43:42, status 41:38, rdwr 37, last 36, src 35:26, \
         dst 25:16, spare 15:0",
    );
}

#[test]
fn ual_fld_02_n() {
    layout_n::<TlRsp>();
    let write = response(RdWr::Write, 1, 1);
    for wrong in [TlRsp { len: 1, ..write }, TlRsp { offset: 1, ..write }, TlRsp { last: true, ..write }] {
        assert_eq!(broken(wrong), ["UAL-FLD-02"]);
    }
}

#[test]
fn ual_fld_03_p() {
    layout_p::<TlCreq>(
        "ftype 63:60, cmd 59:57, vchan 56:55, asi 54:53, tag 52:42, pool 41, len 40:39, metadata 38:36, address 35:22, \
         src 21:12, dst 11:2, cway 1:0",
    );
    for cmd in [0, 4, 6] {
        assert_eq!(broken(TlCreq { cmd: CompressedCmd(cmd), ..TlCreq::default() }), Vec::<&str>::new());
    }
}

#[test]
fn ual_fld_03_n() {
    layout_n::<TlCreq>();
    for cmd in [1, 2, 3, 5, 7] {
        assert_eq!(broken(TlCreq { cmd: CompressedCmd(cmd), ..TlCreq::default() }), ["UAL-FLD-03"]);
    }
    assert!(TlCreq { address: 32, ..TlCreq::default() }.to_bits().is_err(), "not 64 B aligned");
}

#[test]
fn ual_fld_04_p() {
    layout_p::<TlCrspSingle>("ftype 31:28, vchan 27:26, tag 25:15, pool 14, dst 13:4, offset 3:2, last 1, spare 0");
}

#[test]
fn ual_fld_04_n() {
    layout_n::<TlCrspSingle>();
}

#[test]
fn ual_fld_05_p() {
    layout_p::<TlCrspMulti>("ftype 31:28, vchan 27:26, tag 25:15, pool 14, dst 13:4, len 3:2, rdwr 1, spare 0");
}

#[test]
fn ual_fld_05_n() {
    layout_n::<TlCrspMulti>();
    assert_eq!(broken(TlCrspMulti { len: 1, ..TlCrspMulti::default() }), ["UAL-FLD-05"]);
}

#[test]
fn ual_fld_06_p() {
    layout_p::<TlFc>(
        "ftype 31:28, req_cmd_t 27, req_cmd_vc 26:25, req_cmd_cnt 24:22, rsp_cmd_t 21, rsp_cmd_vc 20:19, rsp_cmd_cnt 18:16, \
         req_data_t 15, req_data_vc 14:13, req_data_cnt 12:8, rsp_data_t 7, rsp_data_vc 6:5, rsp_data_cnt 4:0",
    );
    assert_eq!(TlFc::default().to_bits(), Ok(0), "a NOP");
}

#[test]
fn ual_fld_06_n() {
    layout_n::<TlFc>();
    assert!(TlFc { req_cmd_cnt: 8, ..TlFc::default() }.to_bits().is_err());
    assert!(TlFc { rsp_data_cnt: 32, ..TlFc::default() }.to_bits().is_err());
}

/// Requests that may be compressed come back as they were.
#[test]
fn ual_fld_07_p() {
    for cmd in [ReqCmd::Read, ReqCmd::Write, ReqCmd::WriteFull] {
        for beats in 1..=4 {
            for first in 0..=4 - beats {
                let address = 0x1_2345_6700 + u64::from(first) * 64;
                let req = TlReq { address, metadata: 5, vchan: 2, asi: 1, pool: true, ..request(cmd, 9, beats) };
                let loading = TlReq { cload: true, cway: 2, ..req };
                let mut cache = AddressCache::new(CompressionRole::ToSwitch);
                cache.load(&loading);
                let way = cache.way(1, 2, address).expect("loaded");
                let compressed = compress(&req, way).expect("it may be compressed");
                assert_eq!(broken(compressed), Vec::<&str>::new());
                let numbeats = if cmd == ReqCmd::Read { 0 } else { req.numbeats };
                assert_eq!(expand(&compressed, &cache), Some(TlReq { numbeats, ..req }));
            }
        }
    }
}

/// Each condition broken in turn: sent uncompressed. Received: named.
#[test]
fn ual_fld_07_n() {
    let good = TlReq { address: 64, ..request(ReqCmd::Read, 1, 2) };
    assert!(compressible(&good).is_some());
    let write = request(ReqCmd::WriteFull, 1, 1);
    let broken_in_turn = [
        TlReq { address: 68, ..good },
        TlReq { len: 14, ..good },
        TlReq { address: 192, ..good },
        TlReq { attr: 0x0f, ..good },
        TlReq { attr: 1, ..write },
        TlReq { metadata: 8, ..good },
        TlReq { numbeats: 1, ..write },
        TlReq { cmd: ReqCmd::AtomicR, ..write },
        TlReq { cmd: ReqCmd::WriteMessage, ..write },
        TlReq { cmd: ReqCmd::VendorRead0, ..good },
        TlReq { cmd: ReqCmd::VendorWrite0, ..write },
    ];
    for (n, req) in broken_in_turn.into_iter().enumerate() {
        assert_eq!(compress(&req, 0), None, "{n}");
        assert_eq!(Compressor::new(CompressionRole::ToSwitch).request(&req), Compressed::Miss(req), "{n}");
    }
    let crossing = TlCreq { address: 128, len: 2, ..TlCreq::default() };
    assert_eq!(broken(crossing), ["UAL-FLD-07"]);
}

#[test]
fn ual_fld_08_p() {
    let write = compress_response(&response(RdWr::Write, 7, 1)).expect("OKAY");
    assert_eq!(write, ControlField::CompressedMulti(TlCrspMulti { tag: 7, dst: 1, ..TlCrspMulti::default() }));
    let all = compress_response(&response(RdWr::Read, 7, 4)).expect("OKAY");
    assert!(matches!(all, ControlField::CompressedMulti(r) if r.len == 3 && r.rdwr == RdWr::Read));
    let one = compress_response(&TlRsp { offset: 2, ..response(RdWr::Read, 7, 1) }).expect("OKAY");
    assert!(matches!(one, ControlField::CompressedSingle(r) if r.offset == 2 && r.last));
}

#[test]
fn ual_fld_08_n() {
    for status in (1..16).map(Status) {
        for rdwr in [RdWr::Read, RdWr::Write] {
            assert_eq!(compress_response(&TlRsp { status, ..response(rdwr, 7, 1) }), None, "{status:?}");
        }
    }
}

#[test]
fn ual_fld_09_p() {
    let pool = TlFc { req_cmd_cnt: 1, ..TlFc::default() };
    let channel = TlFc { req_cmd_t: CreditTarget::Vc, req_cmd_vc: 2, ..pool };
    assert_eq!(pool.to_bits(), Ok(1 << 22));
    assert_eq!(channel.to_bits(), Ok(1 << 27 | 2 << 25 | 1 << 22));
    // POOL of a request has the other sense.
    assert_eq!(TlReq { pool: true, ..TlReq::default() }.to_bits().map(|bits| bits >> 102 & 1), Ok(1));
}

/// With the senses exchanged a credit goes to the wrong place.
#[test]
fn ual_fld_09_n() {
    let sent = TlFc { rsp_data_cnt: 3, rsp_data_t: CreditTarget::Pool, ..TlFc::default() };
    let exchanged = TlFc::from_bits(sent.to_bits().expect("it fits") ^ 1 << 7);
    assert_eq!(exchanged.rsp_data_t, CreditTarget::Vc);
}

#[test]
fn ual_fld_10_p() {
    assert_eq!(TlRsp { rdwr: RdWr::Read, ..TlRsp::default() }.to_bits().map(|b| b >> 37 & 1), Ok(1));
    assert_eq!(TlCrspMulti { rdwr: RdWr::Read, ..TlCrspMulti::default() }.to_bits().map(|b| b >> 1 & 1), Ok(1));
}

/// A read response that says it answers a write owes no data: its data is read as something else.
#[test]
fn ual_fld_10_n() {
    let sent = transfer(ControlField::Response(response(RdWr::Read, 1, 1)), 1, &SHEET);
    let mut flits = pack_all(SHEET, &[sent]);
    flits[0].halves[0][4] &= !(1 << 5);
    let reads = read_tl(SHEET, &flits);
    assert_ne!(tl_rules(&reads[0]), Vec::<&str>::new());
    assert!(delivered(&reads)[0].data.is_empty());
}

/// §11: a command credit each, a data credit for each beat, none for byte enables.
#[test]
fn credits_that_fields_take() {
    let write = ControlField::Request(TlReq { pool: true, ..request(ReqCmd::Write, 1, 3) });
    let taken = Credit { request: true, pool: true, vchan: 0, beats: 3 };
    assert_eq!(write.credit(&SHEET), Some(taken));
    let read = ControlField::CompressedRequest(TlCreq { vchan: 2, ..TlCreq::default() });
    assert_eq!(read.credit(&SHEET), Some(Credit { request: true, pool: false, vchan: 2, beats: 0 }));
    let answer = ControlField::Response(response(RdWr::Read, 1, 4));
    assert_eq!(answer.credit(&SHEET), Some(Credit { request: false, pool: false, vchan: 0, beats: 4 }));
    assert_eq!(ControlField::FlowControl(TlFc::default()).credit(&SHEET), None);
}

fn load(src: u16, dst: u16, way: u8, address: u64) -> TlReq {
    TlReq { src, dst, cload: true, cway: way, address, ..request(ReqCmd::Read, 1, 1) }
}

fn hit(src: u16, dst: u16, cway: u8) -> TlCreq {
    TlCreq { src, dst, cway, address: 0x40, ..TlCreq::default() }
}

/// What a receiver makes of fields in one Control half each.
fn addresses(role: CompressionRole, fields: &[ControlField]) -> Vec<Option<u64>> {
    let mut unpacker = TlUnpacker::new(SHEET, role);
    let reads: Vec<_> = fields.iter().map(|&f| unpacker.read(&tl(control(&[f]), [0; 32]))).collect();
    delivered(&reads).iter().map(|t| t.address.get()).collect()
}

#[test]
fn ual_cac_01_p() {
    // Five regions over four ways: a sender replaces the one used least recently, a receiver follows.
    let mut compressor = Compressor::new(CompressionRole::ToSwitch);
    let regions = [0, 1, 2, 3, 0, 4, 1, 0, 4, 4];
    let mut fields = Vec::new();
    let mut hits = Vec::new();
    for region in regions {
        let req = TlReq { address: region << 20 | 0x40, ..request(ReqCmd::Read, 1, 1) };
        match compressor.request(&req) {
            Compressed::Hit(req) => fields.push(ControlField::CompressedRequest(req)),
            Compressed::Miss(req) => fields.push(ControlField::Request(req)),
        }
        hits.push(matches!(fields.last(), Some(ControlField::CompressedRequest(_))));
    }
    assert_eq!(addresses(CompressionRole::ToSwitch, &fields), regions.map(|r| Some(r << 20 | 0x40)));
    // 4 takes the way of 1, which takes the way of 2.
    assert_eq!(hits, [false, false, false, false, true, false, false, true, true, true]);
}

#[test]
fn ual_cac_01_n() {
    let never = ControlField::CompressedRequest(hit(1, 2, 3));
    let reads = read_tl(SHEET, &[tl(control(&[never]), [0; 32])]);
    assert_eq!(tl_rules(&reads[0]), ["UAL-CAC-01"]);
    assert_eq!(delivered(&reads)[0].address.get(), None);
}

#[test]
fn ual_cac_02_p() {
    let fields = [load(1, 2, 0, 5 << 20), load(3, 4, 0, 6 << 20)].map(ControlField::Request);
    let towards = [fields[0], fields[1], ControlField::CompressedRequest(hit(3, 2, 0))];
    assert_eq!(addresses(CompressionRole::ToSwitch, &towards)[2], Some(5 << 20 | 0x40), "by destination");
    assert_eq!(addresses(CompressionRole::FromSwitch, &towards)[2], Some(6 << 20 | 0x40), "by source");
}

/// The row of the other id: another address.
#[test]
fn ual_cac_02_n() {
    let fields = [load(1, 2, 0, 5 << 20), load(3, 4, 0, 6 << 20)].map(ControlField::Request);
    let stream = [fields[0], fields[1], ControlField::CompressedRequest(hit(1, 4, 0))];
    assert_ne!(addresses(CompressionRole::ToSwitch, &stream)[2], addresses(CompressionRole::FromSwitch, &stream)[2]);
}

#[test]
fn ual_cac_03_p() {
    let half = control(&[ControlField::Request(load(1, 2, 0, 7 << 20)), ControlField::CompressedRequest(hit(1, 2, 0))]);
    let reads = read_tl(SHEET, &[tl(half, [0; 32])]);
    assert_clean(&reads);
    assert_eq!(delivered(&reads)[1].address.get(), Some(7 << 20 | 0x40));
}

/// An earlier field does not see the load.
#[test]
fn ual_cac_03_n() {
    let half = control(&[ControlField::CompressedRequest(hit(1, 2, 0)), ControlField::Request(load(1, 2, 0, 7 << 20))]);
    assert_eq!(tl_rules(&read_tl(SHEET, &[tl(half, [0; 32])])[0]), ["UAL-CAC-01"]);
}
