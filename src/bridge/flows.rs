//! What is sent to CXL for a line, by class of window and operation (`bridge` §4.1): the table of the flow without a cache, and the steps
//! of which the tables of the [cache](super::cache::sector) are made.
//!
//! Modelled: classes MC and MN; the TLPs of class IO, which belong to whole requests, stand in [`tlps`](super::io::tlps). A row is one step or two; a step is one message and the answers that end it. Left out: the data, which
//! stand with the transaction. A walk through a partial write of class MC: MemRd Any/SnpInv is answered by Cmp-E and data, in any order;
//! then MemWr Invalid/NoOp carries the merged line and is answered by Cmp.

use super::commands::AccessKind;
use super::window::WindowClass;
use scalepool_memory::ALL_BYTES;
use scalepool_protocols::cxl::cxl256::code::{M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType};

/// What is done to one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LineOperation {
    /// It is read.
    Read,
    /// All its bytes are written.
    WriteFull,
    /// Some of its bytes are written.
    WritePart,
    /// It is read, computed with and written.
    Atomic,
}

impl LineOperation {
    /// What an access with a byte mask does.
    pub fn of(access: AccessKind, mask: u64) -> LineOperation {
        match access {
            AccessKind::Read => LineOperation::Read,
            AccessKind::Atomic => LineOperation::Atomic,
            AccessKind::Write if mask == ALL_BYTES => LineOperation::WriteFull,
            AccessKind::Write => LineOperation::WritePart,
        }
    }
}

/// Meta and snoop fields of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CoherenceFields {
    /// MetaField.
    pub field: MetaField,
    /// MetaValue.
    pub value: MetaValue,
    /// SnpType.
    pub snp: SnpType,
}

/// The message of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StepMessage {
    /// M2S Req.
    Request(M2sReqOpcode, CoherenceFields),
    /// M2S RwD, with the bytes to write.
    Data(M2sRwdOpcode, CoherenceFields),
}

/// A step: a message, and the answers that end it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlowStep {
    /// What is sent.
    pub message: StepMessage,
    /// Completions of S2M NDR of which one has to come; none: there is no NDR.
    pub completions: &'static [NdrOpcode],
    /// Data have to come by S2M DRS.
    pub data: bool,
}

pub(crate) const fn fields(value: MetaValue, snp: SnpType) -> CoherenceFields {
    CoherenceFields { field: MetaField::Meta0State, value, snp }
}

/// Completions of a request for ownership.
const OWNED: &[NdrOpcode] = &[NdrOpcode::CmpE, NdrOpcode::CmpM];
/// Completions of anything else.
const COMPLETED: &[NdrOpcode] = &[NdrOpcode::Cmp];

/// Reads the line and owns it.
const FETCH_OWNED: FlowStep = FlowStep {
    message: StepMessage::Request(M2sReqOpcode::MemRd, fields(MetaValue::Any, SnpType::SnpInv)),
    completions: OWNED,
    data: true,
};
/// Owns the line without its bytes.
const OWN: FlowStep = FlowStep {
    message: StepMessage::Request(M2sReqOpcode::MemInv, fields(MetaValue::Any, SnpType::SnpInv)),
    completions: OWNED,
    data: false,
};
/// Writes the line that is owned, and keeps nothing.
const WRITE_BACK: FlowStep = FlowStep {
    message: StepMessage::Data(M2sRwdOpcode::MemWr, fields(MetaValue::Invalid, SnpType::NoOp)),
    completions: COMPLETED,
    data: false,
};
/// The present value; the bridge keeps nothing.
const READ_CURRENT: FlowStep = FlowStep {
    message: StepMessage::Request(M2sReqOpcode::MemRd, fields(MetaValue::Invalid, SnpType::SnpCur)),
    completions: COMPLETED,
    data: true,
};
/// Memory without an owner is read.
const READ_PLAIN: FlowStep = FlowStep {
    message: StepMessage::Request(
        M2sReqOpcode::MemRd,
        CoherenceFields { field: MetaField::NoOp, value: MetaValue::Invalid, snp: SnpType::NoOp },
    ),
    completions: &[],
    data: true,
};

const fn write_plain(opcode: M2sRwdOpcode) -> FlowStep {
    FlowStep {
        message: StepMessage::Data(opcode, fields(MetaValue::Any, SnpType::NoOp)),
        completions: COMPLETED,
        data: false,
    }
}

/// Shares the line and reads it, to keep it (`bridge` §9.4).
pub const FILL_SHARED: &[FlowStep] = &[FlowStep {
    message: StepMessage::Request(M2sReqOpcode::MemRd, fields(MetaValue::Shared, SnpType::SnpData)),
    completions: &[NdrOpcode::CmpS, NdrOpcode::CmpE],
    data: true,
}];
/// Owns the line and reads it, to keep it.
pub const FILL_OWNED: &[FlowStep] = &[FETCH_OWNED];
/// Owns the line, all bytes of which are stored, to keep it.
pub const FILL_OWNED_BLANK: &[FlowStep] = &[OWN];
/// Reads memory without an owner, to keep it.
pub const FILL_PLAIN: &[FlowStep] = &[READ_PLAIN];

/// A row: class, operation, steps; no steps: it is refused with status 2.
type Row = (WindowClass, LineOperation, &'static [FlowStep]);

/// The rows of all classes that are built.
const ROWS: [Row; 8] = [
    (WindowClass::Mc, LineOperation::Read, &[READ_CURRENT]),
    (WindowClass::Mc, LineOperation::WriteFull, &[OWN, WRITE_BACK]),
    (WindowClass::Mc, LineOperation::WritePart, &[FETCH_OWNED, WRITE_BACK]),
    (WindowClass::Mc, LineOperation::Atomic, &[FETCH_OWNED, WRITE_BACK]),
    (WindowClass::Mn, LineOperation::Read, &[READ_PLAIN]),
    (WindowClass::Mn, LineOperation::WriteFull, &[write_plain(M2sRwdOpcode::MemWr)]),
    (WindowClass::Mn, LineOperation::WritePart, &[write_plain(M2sRwdOpcode::MemWrPtl)]),
    // Nobody owns the line, so nothing can make a read, a computation and a write one step.
    (WindowClass::Mn, LineOperation::Atomic, &[]),
];

/// Steps for an operation on a line of a class; none: it is refused.
pub fn steps(class: WindowClass, operation: LineOperation) -> &'static [FlowStep] {
    let row = ROWS.iter().find(|row| (row.0, row.1) == (class, operation));
    row.map_or(&[], |row| row.2)
}
