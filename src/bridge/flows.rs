//! What is sent to CXL for a line, by class of window and operation (`bridge` §4.1): the table of the flow without a cache, and the steps
//! of which the tables of the [cache](super::cache::sector) are made.
//!
//! Modelled: classes MC, MN, CC and HP; the TLPs of class IO, which belong to whole requests, stand in [`tlps`](super::io::tlps). A row is one
//! step or two; a step is one message and the answers that end it. Left out: the data, which stand with the transaction; how the answers of a
//! host end a step, which the tables of [CXL.cache](scalepool_coherence::cache::answers) say. A walk through a partial write of class MC:
//! MemRd Any/SnpInv is answered by Cmp-E and data, in any order;
//! then MemWr Invalid/NoOp carries the merged line and is answered by Cmp.

use super::commands::AccessKind;
use super::window::WindowClass;
use scalepool_coherence::cache::requests;
use scalepool_memory::ALL_BYTES;
use scalepool_protocols::cxl::cxl256::code::{
    D2hReqOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};

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
    /// D2H Req, to the host whose line it is.
    Cache(D2hReqOpcode),
    /// The atomic itself, to the accelerator whose line it is.
    Owner,
    /// M2S RwD of no byte, to the own home: others may have the line again. It is no request, because those for a line wait for each other.
    GiveBack,
}

/// A step: a message, and the answers that end it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlowStep {
    /// What is sent.
    pub message: StepMessage,
    /// Completions of S2M NDR of which one has to come; none: there is no NDR.
    pub completions: &'static [NdrOpcode],
    /// Data have to come by S2M DRS, or by H2D Data.
    pub data: bool,
}

impl FlowStep {
    /// Whether an answer without data has to come: S2M NDR, or H2D Rsp.
    pub fn is_completed(&self) -> bool {
        match self.message {
            StepMessage::Cache(opcode) => requests::request(opcode).is_some_and(|row| !row.answers.is_empty()),
            _ => !self.completions.is_empty(),
        }
    }
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

/// Takes the line back from all holders; the bridge is not recorded as one.
const TAKE_BACK: FlowStep =
    FlowStep { message: StepMessage::Request(M2sReqOpcode::MemInv, RECALLED), completions: COMPLETED, data: false };
/// The accelerator whose line it is computes.
const AT_OWNER: FlowStep = FlowStep { message: StepMessage::Owner, completions: &[], data: true };
/// Others may have the line again.
pub const GIVE_LINE_BACK: FlowStep = FlowStep { message: StepMessage::GiveBack, completions: COMPLETED, data: false };
/// Fields of what is written to a line that was taken back from all holders.
pub const RECALLED: CoherenceFields = fields(MetaValue::Invalid, SnpType::SnpInv);

/// Writes a line that was taken back from all holders.
const fn write_recalled(opcode: M2sRwdOpcode) -> FlowStep {
    FlowStep { message: StepMessage::Data(opcode, RECALLED), completions: COMPLETED, data: false }
}

const fn host(opcode: D2hReqOpcode, data: bool) -> FlowStep {
    FlowStep { message: StepMessage::Cache(opcode), completions: &[], data }
}

/// Owns a line of a host and reads it.
const HOST_OWN: FlowStep = host(D2hReqOpcode::RdOwn, true);
/// Gives back a line of a host that is dirty.
const HOST_EVICT: FlowStep = host(D2hReqOpcode::DirtyEvict, false);

/// Gives up a line of a host that is clean.
const HOST_CLEAN: FlowStep = host(D2hReqOpcode::CleanEvictNoData, false);

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

/// Shares a line of a host and reads it, to keep it.
pub const FILL_HOST_SHARED: &[FlowStep] = &[host(D2hReqOpcode::RdShared, true)];
/// Owns a line of a host and reads it, to keep it.
pub const FILL_HOST_OWNED: &[FlowStep] = &[HOST_OWN];
/// Owns a line of a host that is there, or all bytes of which are stored, to keep it.
pub const FILL_HOST_UPGRADED: &[FlowStep] = &[host(D2hReqOpcode::RdOwnNoData, false)];
/// Gives up a line of a host that is owned without its bytes, and reads it as one that was never there.
pub const HOST_FETCH_AGAIN: &[FlowStep] = &[HOST_CLEAN, HOST_OWN];
/// Gives back a line of a host that nobody waits for.
pub const HOST_GIVE_BACK: &[FlowStep] = &[HOST_EVICT];
/// Gives up a clean line of a host that nobody waits for.
pub const HOST_DROP: &[FlowStep] = &[HOST_CLEAN];

/// A row: class, operation, steps; no steps: it is refused with status 2.
type FlowTableRow = (WindowClass, LineOperation, &'static [FlowStep]);

/// The rows of all classes that are built.
const ROWS: [FlowTableRow; 16] = [
    (WindowClass::Mc, LineOperation::Read, &[READ_CURRENT]),
    (WindowClass::Mc, LineOperation::WriteFull, &[OWN, WRITE_BACK]),
    (WindowClass::Mc, LineOperation::WritePart, &[FETCH_OWNED, WRITE_BACK]),
    (WindowClass::Mc, LineOperation::Atomic, &[FETCH_OWNED, WRITE_BACK]),
    (WindowClass::Mn, LineOperation::Read, &[READ_PLAIN]),
    (WindowClass::Mn, LineOperation::WriteFull, &[write_plain(M2sRwdOpcode::MemWr)]),
    (WindowClass::Mn, LineOperation::WritePart, &[write_plain(M2sRwdOpcode::MemWrPtl)]),
    // Nobody owns the line, so nothing can make a read, a computation and a write one step.
    (WindowClass::Mn, LineOperation::Atomic, &[]),
    // A GO of these writes says that they are done, and they need no line here.
    (WindowClass::Cc, LineOperation::Read, &[host(D2hReqOpcode::RdCurr, true)]),
    (WindowClass::Cc, LineOperation::WriteFull, &[host(D2hReqOpcode::WrCur, false)]),
    (WindowClass::Cc, LineOperation::WritePart, &[host(D2hReqOpcode::WrInv, false)]),
    (WindowClass::Cc, LineOperation::Atomic, &[HOST_OWN, HOST_EVICT]),
    // The home is the bridge itself, and nothing is kept (`bridge` §5.1).
    (WindowClass::Hp, LineOperation::Read, &[READ_CURRENT]),
    (WindowClass::Hp, LineOperation::WriteFull, &[TAKE_BACK, write_recalled(M2sRwdOpcode::MemWr)]),
    (WindowClass::Hp, LineOperation::WritePart, &[TAKE_BACK, write_recalled(M2sRwdOpcode::MemWrPtl)]),
    (WindowClass::Hp, LineOperation::Atomic, &[TAKE_BACK, AT_OWNER, GIVE_LINE_BACK]),
];

/// Steps for an operation on a line of a class; none: it is refused.
pub fn steps(class: WindowClass, operation: LineOperation) -> &'static [FlowStep] {
    let row = ROWS.iter().find(|row| (row.0, row.1) == (class, operation));
    row.map_or(&[], |row| row.2)
}
