//! What becomes of a message of CXL.mem to memory of accelerators that hosts alone keep coherent (`bridge` §5.2), and what their status
//! becomes (`bridge` §8.2): the tables.
//!
//! Modelled: every message that such memory takes, and every status. Which combinations of fields a message may have stands in the table
//! of HDM-H ([`tables::HDM_H_ROWS`]). Left out: windows and rights, see [`window`](crate::window). A walk: MemWrPtl stands in its row, so
//! it becomes a write with byte enables; the accelerator answers it with status 2, so the host gets Cmp and the line is lost.

use crate::flows::LineOperation;
use scalepool_coherence::content::{CacheLine, LineContent};
use scalepool_coherence::mem::tables;
use scalepool_coherence::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{DrsOpcode, M2sReqOpcode, M2sRwdOpcode};
use scalepool_protocols::ualink::code::Status;

/// How a message is answered on CXL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboundAnswer {
    /// S2M DRS alone: nobody stores meta values here.
    Data,
    /// S2M NDR Cmp.
    Completion,
    /// It is a hint, which is dropped.
    Nothing,
    /// To the outbound half: a status and old values.
    OldValues,
}

/// What becomes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InboundRow {
    /// What is done to the line at its accelerator; `None`: nothing.
    pub operation: Option<LineOperation>,
    /// The answer.
    pub answer: InboundAnswer,
}

const fn row(operation: Option<LineOperation>, answer: InboundAnswer) -> InboundRow {
    InboundRow { operation, answer }
}

/// What becomes of an atomic of the hairpin.
pub const OWNER_ATOMIC: InboundRow = row(Some(LineOperation::Atomic), InboundAnswer::OldValues);
const READ: InboundRow = row(Some(LineOperation::Read), InboundAnswer::Data);
const COMPLETED: InboundRow = row(None, InboundAnswer::Completion);

/// Requests without data.
const REQUESTS: [(M2sReqOpcode, InboundRow); 5] = [
    (M2sReqOpcode::MemRd, READ),
    (M2sReqOpcode::MemRdData, READ),
    (M2sReqOpcode::MemInv, COMPLETED),
    (M2sReqOpcode::MemInvNT, COMPLETED),
    (M2sReqOpcode::MemSpecRd, row(None, InboundAnswer::Nothing)),
];

/// Requests with data.
const WITH_DATA: [(M2sRwdOpcode, InboundRow); 3] = [
    (M2sRwdOpcode::MemWr, row(Some(LineOperation::WriteFull), InboundAnswer::Completion)),
    (M2sRwdOpcode::MemWrPtl, row(Some(LineOperation::WritePart), InboundAnswer::Completion)),
    (M2sRwdOpcode::MemRdFill, READ),
];

/// The row of a message.
///
/// # Errors
/// The rule of HDM-H that it breaks.
pub fn inbound_row(msg: &Msg<CacheLine>) -> Result<InboundRow, &'static str> {
    let found = match msg {
        Msg::M2sReq { opcode, meta_field, snp, .. } => {
            tables::hdm_h_req(*opcode, *meta_field, *snp)?;
            REQUESTS.iter().find(|(of, _)| of == opcode).map(|(_, row)| *row)
        }
        Msg::M2sRwd { opcode, meta_field, snp, .. } => {
            tables::hdm_h_rwd(*opcode, *meta_field, *snp)?;
            WITH_DATA.iter().find(|(of, _)| of == opcode).map(|(_, row)| *row)
        }
        _ => return Err("COH-TYP-01"),
    };
    found.ok_or("COH-MEM-35")
}

/// The row of a message that breaks a rule: it has no effect, and its host gets an answer, so that it does not wait for ever.
pub fn refused_row(msg: &Msg<CacheLine>) -> InboundRow {
    match msg {
        Msg::M2sReq { opcode, .. } if tables::is_read(*opcode) => row(None, InboundAnswer::Data),
        Msg::M2sRwd { opcode: M2sRwdOpcode::MemRdFill, .. } => row(None, InboundAnswer::Data),
        Msg::M2sReq { opcode: M2sReqOpcode::MemSpecRd, .. } => row(None, InboundAnswer::Nothing),
        _ => COMPLETED,
    }
}

/// What a status says of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadWord {
    /// The bytes that came.
    Bytes,
    /// MemData, all ones, poisoned.
    Poison,
    /// MemDataNXM, all ones.
    Nowhere,
}

/// What a status says of a write. All are answered by Cmp, for CXL.mem has no other word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteEnd {
    /// The bytes are in memory.
    Written,
    /// Memory is as before, and the event is counted.
    Refused,
    /// What is in memory is not known: the line enters the poison list.
    Lost,
}

/// A status, what it says of a read, what it says of a write.
const STATUS_ROWS: [(Status, ReadWord, WriteEnd); 3] = [
    (Status::OKAY, ReadWord::Bytes, WriteEnd::Written),
    (Status::DecodeError, ReadWord::Nowhere, WriteEnd::Refused),
    (Status::ProtectionViolation, ReadWord::Poison, WriteEnd::Refused),
];
/// 2, 8, 15, reserved ones, and a link that is down.
const OTHER_STATUS: (ReadWord, WriteEnd) = (ReadWord::Poison, WriteEnd::Lost);

fn status_row(status: Status) -> (ReadWord, WriteEnd) {
    let found = STATUS_ROWS.iter().find(|(of, ..)| *of == status);
    found.map_or(OTHER_STATUS, |(_, read, write)| (*read, *write))
}

/// The opcode and the data with which a read is answered.
pub fn read_answer(status: Status, line: CacheLine) -> (DrsOpcode, CacheLine) {
    match status_row(status).0 {
        ReadWord::Bytes => (DrsOpcode::MemData, line),
        ReadWord::Poison => (DrsOpcode::MemData, CacheLine::ones().poisoned(true)),
        ReadWord::Nowhere => (DrsOpcode::MemDataNXM, CacheLine::ones()),
    }
}

/// What a write has come to.
pub fn write_end(status: Status) -> WriteEnd {
    status_row(status).1
}
