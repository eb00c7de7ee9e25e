//! Transactions as they are above the wire: uncompressed, whoever sent them (`ualink` §10).

use super::credit::{TlClass, TlCreditTarget, TlHeldBuffers};
use scalepool_protocols::ualink::code::{CompressedCmd, RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::compress::compress_response;
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::unpack::Transfer;

/// Class of a field; `None` for credits.
pub fn class_of(field: &ControlField) -> Option<TlClass> {
    match field {
        ControlField::FlowControl(_) => None,
        ControlField::Request(_) | ControlField::CompressedRequest(_) => Some(TlClass::Request),
        _ => Some(TlClass::Response),
    }
}

/// POOL and VCHAN of a field.
fn pool_and_vc(field: &ControlField) -> (bool, u8) {
    match field {
        ControlField::FlowControl(_) => (false, 0),
        ControlField::Request(f) => (f.pool, f.vchan),
        ControlField::CompressedRequest(f) => (f.pool, f.vchan),
        ControlField::Response(f) => (f.pool, f.vchan),
        ControlField::CompressedSingle(f) => (f.pool, f.vchan),
        ControlField::CompressedMulti(f) => (f.pool, f.vchan),
    }
}

/// Virtual channel of a field.
pub fn vchan(field: &ControlField) -> u8 {
    pool_and_vc(field).1
}

/// What a field was paid with; `None` for credits.
pub(super) fn held(field: &ControlField, codec: &UalConfig, epoch: u32) -> Option<TlHeldBuffers> {
    let (pool, vc) = pool_and_vc(field);
    let beats = field.owed(codec).beats as u8;
    Some(TlHeldBuffers { class: class_of(field)?, target: TlCreditTarget::of(pool, vc), beats, epoch })
}

/// Destination of a request or response; 0 for credits.
pub fn destination(field: &ControlField) -> u16 {
    match field {
        ControlField::FlowControl(_) => 0,
        ControlField::Request(f) => f.dst,
        ControlField::CompressedRequest(f) => f.dst,
        ControlField::Response(f) => f.dst,
        ControlField::CompressedSingle(f) => f.dst,
        ControlField::CompressedMulti(f) => f.dst,
    }
}

/// The uncompressed form of what arrived; `None` for a reserved command, or a compressed request without an address.
pub fn expanded(mut transfer: Box<Transfer>) -> Option<Box<Transfer>> {
    transfer.field = match transfer.field {
        ControlField::FlowControl(_) => return None,
        ControlField::Request(req) => {
            req.cmd.name()?;
            ControlField::Request(TlReq { cload: false, cway: 0, ..req })
        }
        ControlField::CompressedRequest(req) => {
            let cmd = match req.cmd {
                CompressedCmd::Read => ReqCmd::Read,
                CompressedCmd::Write => ReqCmd::Write,
                CompressedCmd::WriteFull => ReqCmd::WriteFull,
                _ => return None,
            };
            ControlField::Request(TlReq {
                numbeats: if cmd.has_data() { req.len } else { 0 },
                dst: req.dst,
                src: req.src,
                address: transfer.address.get()?,
                metadata: req.metadata,
                len: 16 * req.len + 15,
                attr: if cmd == ReqCmd::Read { 0xff } else { 0 },
                pool: req.pool,
                tag: req.tag,
                asi: req.asi,
                vchan: req.vchan,
                cmd,
                ..TlReq::default()
            })
        }
        ControlField::Response(rsp) => ControlField::Response(rsp),
        ControlField::CompressedSingle(rsp) => ControlField::Response(TlRsp {
            rdwr: RdWr::Read,
            last: rsp.last,
            offset: rsp.offset,
            dst: rsp.dst,
            pool: rsp.pool,
            tag: rsp.tag,
            vchan: rsp.vchan,
            status: Status::OKAY,
            ..TlRsp::default()
        }),
        ControlField::CompressedMulti(rsp) => ControlField::Response(TlRsp {
            rdwr: rsp.rdwr,
            last: rsp.rdwr == RdWr::Read,
            len: rsp.len,
            dst: rsp.dst,
            pool: rsp.pool,
            tag: rsp.tag,
            vchan: rsp.vchan,
            status: Status::OKAY,
            ..TlRsp::default()
        }),
    };
    Some(transfer)
}

/// A response in the form in which it is sent: compressed where that is allowed. A read response of all beats that is one
/// beat long goes as a single one.
pub(super) fn response(rsp: &TlRsp, compress: bool) -> ControlField {
    compress.then(|| compress_response(rsp)).flatten().unwrap_or(ControlField::Response(*rsp))
}
