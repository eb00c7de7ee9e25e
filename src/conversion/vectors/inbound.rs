//! Cases from CXL.mem to memory of accelerators that nobody keeps coherent (`bridge` §5.2, §5.4, §8.2, §8.3).

use super::peer::PeerAccelerator;
use super::{CaseWriter, ConversionVectors};
use crate::message::{BridgeMessage, CxlMessage};
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_coherence::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, SnpType};
use serde_json::{Value, json};

/// First address of the window.
pub(super) const FROM: u64 = 0x4000_0000;
/// A logical device whose group may read alone, and one whose group may write alone.
const LIMITED: [u8; 2] = [4, 5];

pub(super) fn files() -> Vec<ConversionVectors> {
    let of = |name, about, protocol| {
        let mut writer = CaseWriter::new(name, about, config(protocol));
        messages(&mut writer);
        windows(&mut writer);
        statuses(&mut writer);
        writer.vectors
    };
    vec![
        of("cxl_to_ualink_nh", "CXL.mem to UALink, a window of class NH", "ualink"),
        of("cxl_to_nvlink_nh", "CXL.mem to NVLink (model), a window of class NH", "nvlink"),
    ]
}

/// The configuration of a bridge to memory of accelerators.
pub(super) fn config(protocol: &str) -> Value {
    json!({
        "protocol": protocol, "direction": "inbound", "own": super::ualink::OWN,
        "windows": [{
            "class": "NH", "base": FROM, "size": 16 << 20, "out_base": "0x100000000",
            "targets": [3, 1], "granule": 256, "rights": { "1": "r", "2": "w" },
        }],
        "groups": { "4": 1, "5": 2 },
        "entries": 64,
    })
}

/// What a message of a case says beside its address and data.
#[derive(Clone, Copy)]
struct Fields {
    meta_field: MetaField,
    meta: MetaValue,
    snp: SnpType,
    ld_id: u8,
    traffic_class: u8,
}

const PLAIN: Fields =
    Fields { meta_field: MetaField::NoOp, meta: MetaValue::Invalid, snp: SnpType::NoOp, ld_id: 0, traffic_class: 0 };
const STORED: Fields = Fields { meta_field: MetaField::Meta0State, meta: MetaValue::Any, ..PLAIN };

impl CaseWriter {
    fn req(&mut self, opcode: M2sReqOpcode, address: u64, fields: Fields) -> BridgeMessage {
        let Fields { meta_field, meta, snp, ld_id, traffic_class } = fields;
        let (line, tag) = (LineAddr::of_address(address), self.rng.below(1 << 16) as u16);
        let msg = Msg::M2sReq { opcode, snp, meta_field, meta, line, tag };
        BridgeMessage::Cxl(CxlMessage { msg, ld_id, traffic_class })
    }

    fn rwd(
        &mut self,
        opcode: M2sRwdOpcode,
        address: u64,
        fields: Fields,
        (enables, poison): (u64, bool),
    ) -> BridgeMessage {
        let Fields { meta_field, meta, snp, ld_id, traffic_class } = fields;
        let (line, tag) = (LineAddr::of_address(address), self.rng.below(1 << 16) as u16);
        let mut data = CacheLine { bytes: [0; 64], poison };
        // Zeros follow these two (`cxl-256b` §4.2).
        if !matches!(opcode, M2sRwdOpcode::BIConflict | M2sRwdOpcode::MemRdFill) {
            self.rng.fill_bytes(&mut data.bytes);
        }
        let msg = Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data, enables };
        BridgeMessage::Cxl(CxlMessage { msg, ld_id, traffic_class })
    }

    pub(super) fn read(&mut self, address: u64) -> BridgeMessage {
        self.req(M2sReqOpcode::MemRd, address, PLAIN)
    }

    /// A write of a line whose bytes are known to be wrong.
    pub(super) fn write_poisoned(&mut self, address: u64) -> BridgeMessage {
        self.rwd(M2sRwdOpcode::MemWr, address, STORED, (u64::MAX, true))
    }

    pub(super) fn write(&mut self, address: u64, enables: u64) -> BridgeMessage {
        let opcode = if enables == u64::MAX { M2sRwdOpcode::MemWr } else { M2sRwdOpcode::MemWrPtl };
        self.rwd(opcode, address, STORED, (enables, false))
    }
}

/// Every opcode with every MetaField and SnpType, as far as links carry them: data with extended meta bits have a trailer that these
/// messages do not have (`cxl-256b` §4.1).
fn messages(writer: &mut CaseWriter) {
    for opcode in 0..16u8 {
        for field in 0..4 {
            for snp in 0..8 {
                let (meta_field, snp) = (MetaField(field), SnpType(snp));
                let fields = Fields { meta_field, snp, meta: MetaValue(opcode % 4), ..PLAIN };
                let req = writer.req(M2sReqOpcode(opcode), FROM + 0x140, fields);
                let what = format!("M2S Req {opcode}, MetaField {field}, SnpType {}", snp.0);
                writer.case(what, &[req], &mut PeerAccelerator::with_status(0));
                if meta_field == MetaField::EMS {
                    continue;
                }
                let enables = if M2sRwdOpcode(opcode) == M2sRwdOpcode::MemWrPtl { 0xf0f0 } else { u64::MAX };
                let rwd = writer.rwd(M2sRwdOpcode(opcode), FROM + 0x140, fields, (enables, false));
                let what = format!("M2S RwD {opcode}, MetaField {field}, SnpType {}", snp.0);
                writer.case(what, &[rwd], &mut PeerAccelerator::with_status(0));
            }
        }
    }
}

/// Places inside and outside of the window, accelerators, rights, traffic classes, enables.
fn windows(writer: &mut CaseWriter) {
    let places = [FROM - 64, FROM, FROM + 0x100, FROM + 0x2c0, FROM + (16 << 20) - 64, FROM + (16 << 20), 0];
    for address in places {
        let requests = [writer.read(address), writer.write(address, u64::MAX), writer.write(address, 0x3c)];
        for request in requests {
            writer.case(format!("address {address:#x}"), &[request], &mut PeerAccelerator::with_status(0));
        }
    }
    for ld_id in LIMITED {
        let fields = Fields { ld_id, ..PLAIN };
        let read = writer.req(M2sReqOpcode::MemRd, FROM, fields);
        let inv = writer.req(M2sReqOpcode::MemInv, FROM, fields);
        let stored = Fields { ld_id, ..STORED };
        let write = writer.rwd(M2sRwdOpcode::MemWr, FROM, stored, (u64::MAX, false));
        for request in [read, inv, write] {
            writer.case(format!("logical device {ld_id}"), &[request], &mut PeerAccelerator::with_status(0));
        }
    }
    for traffic_class in 1..4 {
        let fields = Fields { traffic_class, ..PLAIN };
        let read = writer.req(M2sReqOpcode::MemRd, FROM + 64, fields);
        writer.case(format!("traffic class {traffic_class}"), &[read], &mut PeerAccelerator::with_status(0));
    }
    let masks: Vec<u64> = (0..64).map(|bit| 1 << bit).chain([0, u64::MAX, 0xaaaa_aaaa_5555_5555]).collect();
    for mask in masks {
        let write = writer.rwd(M2sRwdOpcode::MemWrPtl, FROM + 0x1c0, STORED, (mask, false));
        writer.case(format!("enables {mask:#x}"), &[write], &mut PeerAccelerator::with_status(0));
    }
}

/// Every status of an accelerator for reads and writes, what is read behind a write that failed, poison both ways.
fn statuses(writer: &mut CaseWriter) {
    for status in 0..16 {
        let line = FROM + 0x180;
        let requests = [writer.read(line), writer.write(line, u64::MAX), writer.write(line, 0xff)];
        for request in requests {
            // A line whose write was lost is not asked for any more.
            let again = writer.read(line);
            let what = format!("status {status}, then a read");
            writer.case(what, &[request, again], &mut PeerAccelerator::with_status(status));
        }
    }
    let read = writer.read(FROM + 64);
    let poisoned = PeerAccelerator::poisoned();
    writer.case("what is read is poisoned", &[read], &mut { poisoned });
    for enables in [u64::MAX, 0xf] {
        let opcode = if enables == u64::MAX { M2sRwdOpcode::MemWr } else { M2sRwdOpcode::MemWrPtl };
        let write = writer.rwd(opcode, FROM + 64, STORED, (enables, true));
        let read = writer.read(FROM + 64);
        writer.case(
            format!("poisoned write, enables {enables:#x}"),
            &[write, read],
            &mut PeerAccelerator::with_status(0),
        );
    }
}
