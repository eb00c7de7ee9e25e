//! The legality tables of CXL.mem: which M2S message may be sent, from which host state, and what answers it.
//!
//! Modelled: every row of `coherence` §3.2 for HDM-D, HDM-DB and HDM-H, the host states at issue, and the legal answers
//! to a back-invalidate of §3.4. Detail: rows are data; sender, receiver, monitors, coverage and the printed tables read
//! the same rows. A combination that has no row is illegal. Left out: the TEE opcodes (answered as reserved) and
//! the record of Extended-Meta, which changes no coherence state; the MetaValue beside it means what it means alone.

use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};

/// Kind of memory behind an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HdmRegion {
    /// Device memory kept coherent by CXL.cache requests and a bias table.
    HdmD,
    /// Device memory kept coherent by back-invalidation.
    HdmDb,
    /// Memory that only the host caches.
    HdmH,
}

impl HdmRegion {
    /// All kinds.
    pub const ALL: [HdmRegion; 3] = [HdmRegion::HdmH, HdmRegion::HdmDb, HdmRegion::HdmD];

    /// Name in files and settings.
    pub const fn key(self) -> &'static str {
        match self {
            HdmRegion::HdmD => "hdm-d",
            HdmRegion::HdmDb => "hdm-db",
            HdmRegion::HdmH => "hdm-h",
        }
    }

    /// Name as the sheet spells it.
    pub const fn name(self) -> &'static str {
        match self {
            HdmRegion::HdmD => "HDM-D",
            HdmRegion::HdmDb => "HDM-DB",
            HdmRegion::HdmH => "HDM-H",
        }
    }
}

/// Stable state of a cached line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Copy4 {
    /// No copy.
    #[default]
    I,
    /// Shared, clean.
    S,
    /// Exclusive, clean.
    E,
    /// Exclusive, modified.
    M,
}

impl Copy4 {
    /// The letter.
    pub const fn letter(self) -> char {
        match self {
            Copy4::I => 'I',
            Copy4::S => 'S',
            Copy4::E => 'E',
            Copy4::M => 'M',
        }
    }
}

/// What the device's own cache holds after a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceAfter {
    /// Nothing.
    Invalid,
    /// S or nothing.
    SharedOrInvalid,
    /// What it held before.
    Unchanged,
    /// As the bias flow says (`coherence` §3.3).
    Bias,
}

impl DeviceAfter {
    /// As the tables of the page write it.
    pub const fn name(self) -> &'static str {
        match self {
            DeviceAfter::Invalid => "I",
            DeviceAfter::SharedOrInvalid => "S or I",
            DeviceAfter::Unchanged => "unchanged",
            DeviceAfter::Bias => "§3.3",
        }
    }
}

/// What the device's record says of the requesting host after a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectoryRecord {
    /// The host may hold it in any state.
    Any,
    /// The host may hold S.
    Shared,
    /// The host holds nothing.
    Invalid,
    /// What it said before.
    Unchanged,
    /// As the bias flow says (`coherence` §3.3).
    Bias,
}

impl DirectoryRecord {
    /// As the tables of the page write it.
    pub const fn name(self) -> &'static str {
        match self {
            DirectoryRecord::Any => "A",
            DirectoryRecord::Shared => "S",
            DirectoryRecord::Invalid => "I",
            DirectoryRecord::Unchanged => "unchanged",
            DirectoryRecord::Bias => "§3.3",
        }
    }
}

/// One legal M2S Req of HDM-D and HDM-DB with one of its answers.
#[derive(Debug)]
pub struct ReqRow {
    /// Rule of the row.
    pub rule: &'static str,
    /// Opcodes that share the row.
    pub opcodes: &'static [M2sReqOpcode],
    /// Value under MetaField Meta0; `None` for MetaField NoOp.
    pub meta: Option<MetaValue>,
    /// The MetaField is not looked at (MemRdData, MemSpecRd).
    pub meta_ignored: bool,
    /// What the device's caches must do.
    pub snp: SnpType,
    /// Legal completions on S2M NDR; empty for none.
    pub ndr: &'static [NdrOpcode],
    /// One line comes on S2M DRS.
    pub data: bool,
    /// Device cache afterwards.
    pub device: DeviceAfter,
    /// The device's record of the host afterwards.
    pub record: DirectoryRecord,
    /// Legal for HDM-D.
    pub hdm_d: bool,
    /// Legal for HDM-DB.
    pub hdm_db: bool,
    /// Stands in the usage tables of two revisions (`u` of the sheet).
    pub common: bool,
}

/// One M2S RwD of HDM-D and HDM-DB.
#[derive(Debug)]
pub struct RwdRow {
    /// Rule of the row.
    pub rule: &'static str,
    /// Opcodes that share the row.
    pub opcodes: &'static [M2sRwdOpcode],
    /// Values under MetaField Meta0; empty for MetaField NoOp.
    pub metas: &'static [MetaValue],
    /// SnpTypes of the row.
    pub snps: &'static [SnpType],
    /// Whether it may be sent at all.
    pub legal: bool,
    /// Illegal in memory that several hosts share, and for direct peers.
    pub single_host: bool,
    /// Legal for HDM-D.
    pub hdm_d: bool,
    /// The device's record of the host afterwards.
    pub record: DirectoryRecord,
}

/// One M2S message of HDM-H.
#[derive(Debug)]
pub struct HdmHRow {
    /// Rule of the row.
    pub rule: &'static str,
    /// Request opcodes of the row.
    pub req: &'static [M2sReqOpcode],
    /// Request-with-data opcodes of the row.
    pub rwd: &'static [M2sRwdOpcode],
    /// MetaField Meta0 is allowed.
    pub meta0: bool,
    /// MetaField NoOp is allowed.
    pub noop: bool,
    /// NDR Cmp answers.
    pub ndr: bool,
    /// DRS answers.
    pub data: bool,
    /// Whether it may be sent at all.
    pub legal: bool,
}

/// One row of the host's states at issue (`coherence` §3.2, last table).
#[derive(Debug)]
pub struct IssueRow {
    /// Rule of the row.
    pub rule: &'static str,
    /// The messages in words.
    pub message: &'static str,
    /// States from which it may be issued.
    pub states: &'static [Copy4],
}

/// One legal answer to a back-invalidate.
#[derive(Debug)]
pub struct AnswerRow {
    /// Rule of the row.
    pub rule: &'static str,
    /// The plain BISnp opcode; its `*Blk` form pairs with the `*Blk` answers.
    pub snoop: BisnpOpcode,
    /// Host state when the answer is decided.
    pub from: Copy4,
    /// The plain answer.
    pub answer: BirspOpcode,
    /// Host state that the answer names.
    pub left: Copy4,
    /// A MemWr and its Cmp come before the answer.
    pub write_back: bool,
}

use Copy4::{E, I, M, S};

const ANY: Option<MetaValue> = Some(MetaValue::Any);
const SHARED: Option<MetaValue> = Some(MetaValue::Shared);
const INVALID: Option<MetaValue> = Some(MetaValue::Invalid);
const BASE: ReqRow = ReqRow {
    rule: "",
    opcodes: &[M2sReqOpcode::MemRd],
    meta: None,
    meta_ignored: false,
    snp: SnpType::NoOp,
    ndr: &[NdrOpcode::Cmp],
    data: true,
    device: DeviceAfter::Unchanged,
    record: DirectoryRecord::Unchanged,
    hdm_d: true,
    hdm_db: true,
    common: false,
};
const INV: &[M2sReqOpcode] = &[M2sReqOpcode::MemInv, M2sReqOpcode::MemInvNT];
const WRITES: &[M2sRwdOpcode] = &[M2sRwdOpcode::MemWr, M2sRwdOpcode::MemWrPtl];

/// M2S Req to HDM-D and HDM-DB, in the order of the sheet.
pub static REQ_ROWS: &[ReqRow] = &[
    ReqRow {
        rule: "COH-MEM-04",
        meta: ANY,
        snp: SnpType::SnpInv,
        ndr: &[NdrOpcode::CmpE, NdrOpcode::CmpM],
        device: DeviceAfter::Invalid,
        record: DirectoryRecord::Any,
        common: true,
        ..BASE
    },
    ReqRow {
        rule: "COH-MEM-05",
        meta: SHARED,
        snp: SnpType::SnpData,
        ndr: &[NdrOpcode::CmpS],
        device: DeviceAfter::SharedOrInvalid,
        record: DirectoryRecord::Shared,
        common: true,
        ..BASE
    },
    ReqRow {
        rule: "COH-MEM-06",
        meta: SHARED,
        snp: SnpType::SnpData,
        ndr: &[NdrOpcode::CmpE],
        device: DeviceAfter::Invalid,
        record: DirectoryRecord::Any,
        ..BASE
    },
    ReqRow {
        rule: "COH-MEM-07",
        meta: INVALID,
        snp: SnpType::SnpInv,
        device: DeviceAfter::Invalid,
        record: DirectoryRecord::Unchanged,
        ..BASE
    },
    ReqRow { rule: "COH-MEM-08", meta: INVALID, snp: SnpType::SnpCur, ..BASE },
    ReqRow { rule: "COH-MEM-09", snp: SnpType::SnpInv, device: DeviceAfter::Invalid, common: true, ..BASE },
    ReqRow { rule: "COH-MEM-10", snp: SnpType::SnpCur, common: true, ..BASE },
    ReqRow { rule: "COH-MEM-11", ..BASE },
    ReqRow {
        rule: "COH-MEM-12",
        opcodes: &[M2sReqOpcode::MemRdData],
        meta_ignored: true,
        snp: SnpType::SnpData,
        ndr: &[NdrOpcode::CmpE],
        device: DeviceAfter::Invalid,
        record: DirectoryRecord::Any,
        common: true,
        ..BASE
    },
    ReqRow {
        rule: "COH-MEM-13",
        opcodes: &[M2sReqOpcode::MemRdData],
        meta_ignored: true,
        snp: SnpType::SnpData,
        ndr: &[NdrOpcode::CmpS],
        device: DeviceAfter::SharedOrInvalid,
        record: DirectoryRecord::Shared,
        common: true,
        ..BASE
    },
    ReqRow {
        rule: "COH-MEM-14",
        opcodes: INV,
        meta: ANY,
        snp: SnpType::SnpInv,
        ndr: &[NdrOpcode::CmpE],
        data: false,
        device: DeviceAfter::Invalid,
        record: DirectoryRecord::Any,
        common: true,
        ..BASE
    },
    ReqRow {
        rule: "COH-MEM-15",
        opcodes: INV,
        meta: SHARED,
        snp: SnpType::SnpData,
        ndr: &[NdrOpcode::CmpS],
        data: false,
        device: DeviceAfter::SharedOrInvalid,
        record: DirectoryRecord::Shared,
        ..BASE
    },
    ReqRow {
        rule: "COH-MEM-16",
        opcodes: INV,
        meta: INVALID,
        snp: SnpType::SnpInv,
        data: false,
        device: DeviceAfter::Invalid,
        record: DirectoryRecord::Invalid,
        common: true,
        ..BASE
    },
    ReqRow {
        rule: "COH-MEM-17",
        opcodes: INV,
        snp: SnpType::SnpInv,
        data: false,
        device: DeviceAfter::Invalid,
        ..BASE
    },
    ReqRow {
        rule: "COH-MEM-18",
        opcodes: &[M2sReqOpcode::MemClnEvct],
        meta: INVALID,
        data: false,
        record: DirectoryRecord::Invalid,
        hdm_d: false,
        common: true,
        ..BASE
    },
    ReqRow {
        rule: "COH-MEM-19",
        opcodes: &[M2sReqOpcode::MemSpecRd],
        meta_ignored: true,
        ndr: &[],
        data: false,
        common: true,
        ..BASE
    },
    ReqRow {
        rule: "COH-MEM-20",
        opcodes: &[M2sReqOpcode::MemRdFwd, M2sReqOpcode::MemWrFwd],
        meta: INVALID,
        ndr: &[],
        data: false,
        device: DeviceAfter::Bias,
        record: DirectoryRecord::Bias,
        hdm_db: false,
        common: true,
        ..BASE
    },
];

const RWD: RwdRow = RwdRow {
    rule: "",
    opcodes: WRITES,
    metas: &[],
    snps: &[SnpType::NoOp],
    legal: true,
    single_host: false,
    hdm_d: true,
    record: DirectoryRecord::Unchanged,
};

/// M2S RwD to HDM-D and HDM-DB, in the order of the sheet.
pub static RWD_ROWS: &[RwdRow] = &[
    RwdRow { rule: "COH-MEM-21", metas: &[MetaValue::Any], record: DirectoryRecord::Any, ..RWD },
    RwdRow { rule: "COH-MEM-22", metas: &[MetaValue::Shared], record: DirectoryRecord::Shared, ..RWD },
    RwdRow { rule: "COH-MEM-23", metas: &[MetaValue::Invalid], record: DirectoryRecord::Invalid, ..RWD },
    RwdRow {
        rule: "COH-MEM-24",
        metas: &[MetaValue::Invalid],
        snps: &[SnpType::SnpInv],
        single_host: true,
        record: DirectoryRecord::Invalid,
        ..RWD
    },
    RwdRow {
        rule: "COH-MEM-25",
        metas: &[MetaValue::Any, MetaValue::Shared],
        snps: &[SnpType::SnpData, SnpType::SnpCur, SnpType::SnpInv],
        legal: false,
        ..RWD
    },
    RwdRow {
        rule: "COH-MEM-26",
        metas: &[MetaValue::Invalid],
        snps: &[SnpType::SnpData, SnpType::SnpCur],
        legal: false,
        ..RWD
    },
    RwdRow { rule: "COH-MEM-27", opcodes: &[M2sRwdOpcode::BIConflict], hdm_d: false, ..RWD },
    RwdRow { rule: "COH-MEM-28", opcodes: &[M2sRwdOpcode::MemRdFill], legal: false, ..RWD },
];

const H: HdmHRow =
    HdmHRow { rule: "", req: &[], rwd: &[], meta0: false, noop: true, ndr: false, data: false, legal: true };

/// M2S messages to HDM-H, in the order of the sheet.
pub static HDM_H_ROWS: &[HdmHRow] = &[
    HdmHRow { rule: "COH-MEM-29", req: &[M2sReqOpcode::MemRd], meta0: true, data: true, ..H },
    HdmHRow { rule: "COH-MEM-30", req: &[M2sReqOpcode::MemRdData], data: true, ..H },
    HdmHRow { rule: "COH-MEM-31", req: INV, meta0: true, ndr: true, ..H },
    HdmHRow { rule: "COH-MEM-32", req: &[M2sReqOpcode::MemSpecRd], ..H },
    HdmHRow { rule: "COH-MEM-33", rwd: WRITES, meta0: true, noop: false, ndr: true, ..H },
    HdmHRow { rule: "COH-MEM-34", rwd: &[M2sRwdOpcode::MemRdFill], data: true, ..H },
    HdmHRow {
        rule: "COH-MEM-35",
        req: &[M2sReqOpcode::MemClnEvct, M2sReqOpcode::MemRdFwd, M2sReqOpcode::MemWrFwd],
        rwd: &[M2sRwdOpcode::BIConflict],
        meta0: true,
        legal: false,
        ..H
    },
];

/// Whether a line of data answers an M2S Req.
pub const fn is_read(opcode: M2sReqOpcode) -> bool {
    matches!(opcode, M2sReqOpcode::MemRd | M2sReqOpcode::MemRdData)
}

/// Rule of an access to an address that no range holds.
pub const NO_RANGE: &str = "COH-MEM-36";

/// Host states at issue, in the order of the sheet.
pub static ISSUE_ROWS: &[IssueRow] = &[
    IssueRow { rule: "COH-MEM-37", message: "MemRd, MemInv, MemInvNT of Any", states: &[M, E, S, I] },
    IssueRow { rule: "COH-MEM-38", message: "MemRd, MemInv, MemInvNT of Shared; MemRdData", states: &[S, I] },
    IssueRow { rule: "COH-MEM-39", message: "MemRd, MemInv, MemInvNT of Invalid", states: &[I] },
    IssueRow { rule: "COH-MEM-40", message: "MemRd, MemInv, MemInvNT without meta", states: &[M, E, S, I] },
    IssueRow { rule: "COH-MEM-41", message: "MemClnEvct", states: &[E, S] },
    IssueRow { rule: "COH-MEM-42", message: "MemWr, MemWrPtl with SnpType NoOp", states: &[M] },
    IssueRow { rule: "COH-MEM-43", message: "MemWr, MemWrPtl with SnpType SnpInv", states: &[I] },
];

const fn answer(
    rule: &'static str,
    snoop: BisnpOpcode,
    from: Copy4,
    answer: BirspOpcode,
    left: Copy4,
    write_back: bool,
) -> AnswerRow {
    AnswerRow { rule, snoop, from, answer, left, write_back }
}

/// Legal answers to a back-invalidate (`coherence` §3.4). The first row of a pair (snoop, state) is our default.
pub static ANSWER_ROWS: &[AnswerRow] = &[
    answer("COH-SFI-02", BisnpOpcode::BISnpInv, I, BirspOpcode::BIRspI, I, false),
    answer("COH-SFI-02", BisnpOpcode::BISnpInv, S, BirspOpcode::BIRspI, I, false),
    answer("COH-SFI-02", BisnpOpcode::BISnpInv, E, BirspOpcode::BIRspI, I, false),
    answer("COH-SFI-02", BisnpOpcode::BISnpInv, M, BirspOpcode::BIRspI, I, true),
    answer("COH-SFI-03", BisnpOpcode::BISnpData, I, BirspOpcode::BIRspI, I, false),
    answer("COH-SFI-03", BisnpOpcode::BISnpData, S, BirspOpcode::BIRspS, S, false),
    answer("COH-SFI-03", BisnpOpcode::BISnpData, S, BirspOpcode::BIRspI, I, false),
    answer("COH-SFI-03", BisnpOpcode::BISnpData, E, BirspOpcode::BIRspS, S, false),
    answer("COH-SFI-03", BisnpOpcode::BISnpData, E, BirspOpcode::BIRspI, I, false),
    answer("COH-SFI-03", BisnpOpcode::BISnpData, M, BirspOpcode::BIRspS, S, true),
    answer("COH-SFI-03", BisnpOpcode::BISnpData, M, BirspOpcode::BIRspI, I, true),
    answer("COH-SFI-04", BisnpOpcode::BISnpCur, I, BirspOpcode::BIRspI, I, false),
    answer("COH-SFI-04", BisnpOpcode::BISnpCur, S, BirspOpcode::BIRspS, S, false),
    answer("COH-SFI-04", BisnpOpcode::BISnpCur, S, BirspOpcode::BIRspI, I, false),
    answer("COH-SFI-04", BisnpOpcode::BISnpCur, E, BirspOpcode::BIRspE, E, false),
    answer("COH-SFI-04", BisnpOpcode::BISnpCur, E, BirspOpcode::BIRspS, S, false),
    answer("COH-SFI-04", BisnpOpcode::BISnpCur, E, BirspOpcode::BIRspI, I, false),
    answer("COH-SFI-04", BisnpOpcode::BISnpCur, M, BirspOpcode::BIRspE, E, true),
    answer("COH-SFI-04", BisnpOpcode::BISnpCur, M, BirspOpcode::BIRspS, S, true),
    answer("COH-SFI-04", BisnpOpcode::BISnpCur, M, BirspOpcode::BIRspI, I, true),
];

/// What the meta fields of an M2S message say of copies: a value, or `Some(None)`, nothing. Nothing is said by MetaField NoOp, and by
/// Explicit-NoOp beside extended metadata (`coherence` §1, §3.1). `None`: MetaField is reserved.
pub fn meta_said(field: MetaField, value: MetaValue) -> Option<Option<MetaValue>> {
    match (field, value) {
        (MetaField::NoOp, _) | (MetaField::EMS, MetaValue::ExplicitNoOp) => Some(None),
        (MetaField::Meta0State | MetaField::EMS, value) => Some(Some(value)),
        _ => None,
    }
}

/// Whether a region has messages with this MetaField: extended metadata is not on HDM-D (`coherence` §3.1).
fn has_field(region: HdmRegion, field: MetaField) -> bool {
    field != MetaField::EMS || region == HdmRegion::HdmDb
}

/// Whether a row has this meaning of the meta fields.
fn fits_meta(row: &ReqRow, said: Option<Option<MetaValue>>) -> bool {
    let forwards = row.device == DeviceAfter::Bias && said.flatten().is_some_and(|v| v != MetaValue::ExplicitNoOp);
    row.meta_ignored || said == Some(row.meta) || forwards
}

/// The rows of one M2S Req to HDM-D or HDM-DB, one for each legal answer; none when it is illegal.
pub fn req_rows(
    region: HdmRegion,
    opcode: M2sReqOpcode,
    field: MetaField,
    value: MetaValue,
    snp: SnpType,
) -> impl Iterator<Item = &'static ReqRow> + Clone {
    let said = meta_said(field, value).filter(|_| has_field(region, field));
    REQ_ROWS.iter().filter(move |r| {
        let region_fits = match region {
            HdmRegion::HdmD => r.hdm_d,
            HdmRegion::HdmDb => r.hdm_db,
            HdmRegion::HdmH => false,
        };
        r.opcodes.contains(&opcode) && fits_meta(r, said) && r.snp == snp && region_fits
    })
}

/// Whether one M2S Req is legal: the sender asks before it sends, the receiver when it has it.
///
/// # Errors
/// The rule that the combination breaks: the row of the same opcode that comes nearest.
pub fn check_req(
    region: HdmRegion,
    opcode: M2sReqOpcode,
    field: MetaField,
    value: MetaValue,
    snp: SnpType,
) -> Result<(), &'static str> {
    if region == HdmRegion::HdmH {
        return hdm_h_req(opcode, field, snp).map(|_| ());
    }
    if req_rows(region, opcode, field, value, snp).next().is_some() {
        return Ok(());
    }
    let said = meta_said(field, value);
    let same = || REQ_ROWS.iter().filter(|r| r.opcodes.contains(&opcode));
    let nearest = same().find(|r| fits_meta(r, said)).or_else(|| same().next());
    Err(nearest.map_or("COH-MEM-04", |r| r.rule))
}

/// The row of one M2S RwD to HDM-D or HDM-DB. `shared` says that several hosts, or a peer, use the memory.
///
/// # Errors
/// The rule that the combination breaks.
pub fn rwd(
    region: HdmRegion,
    shared: bool,
    opcode: M2sRwdOpcode,
    field: MetaField,
    value: MetaValue,
    snp: SnpType,
) -> Result<&'static RwdRow, &'static str> {
    let row = RWD_ROWS.iter().find(|r| {
        r.opcodes.contains(&opcode)
            && r.snps.contains(&snp)
            && match field {
                MetaField::NoOp => r.metas.is_empty(),
                // A write says what its host keeps, so Explicit-NoOp is none of its values (our own choice).
                MetaField::Meta0State | MetaField::EMS => r.metas.contains(&value),
                _ => false,
            }
    });
    let near = RWD_ROWS.iter().find(|r| r.opcodes.contains(&opcode));
    let Some(row) = row else { return Err(near.map_or("COH-MEM-28", |r| r.rule)) };
    let region_fits = match region {
        HdmRegion::HdmD => row.hdm_d,
        HdmRegion::HdmDb => true,
        HdmRegion::HdmH => false,
    };
    if !row.legal || !region_fits || !has_field(region, field) || (row.single_host && shared) {
        return Err(if row.single_host && shared { "COH-MEM-45" } else { row.rule });
    }
    Ok(row)
}

/// The row of one M2S Req to HDM-H.
///
/// # Errors
/// The rule that the combination breaks.
pub fn hdm_h_req(opcode: M2sReqOpcode, field: MetaField, snp: SnpType) -> Result<&'static HdmHRow, &'static str> {
    let Some(row) = HDM_H_ROWS.iter().find(|r| r.req.contains(&opcode)) else { return Err("COH-MEM-35") };
    hdm_h(row, field, snp)
}

/// The row of one M2S RwD to HDM-H.
///
/// # Errors
/// The rule that the combination breaks.
pub fn hdm_h_rwd(opcode: M2sRwdOpcode, field: MetaField, snp: SnpType) -> Result<&'static HdmHRow, &'static str> {
    let Some(row) = HDM_H_ROWS.iter().find(|r| r.rwd.contains(&opcode)) else { return Err("COH-MEM-35") };
    hdm_h(row, field, snp)
}

fn hdm_h(row: &'static HdmHRow, field: MetaField, snp: SnpType) -> Result<&'static HdmHRow, &'static str> {
    if !row.legal {
        return Err("COH-MEM-35");
    }
    if snp != SnpType::NoOp {
        return Err(row.rule);
    }
    let field_fits = match field {
        MetaField::NoOp => row.noop,
        MetaField::Meta0State => row.meta0,
        // Memory of HDM-H has no extended metadata.
        _ => false,
    };
    // MemSpecRd has no meta field of its own: the field is reserved, 0 on the wire.
    if field_fits || row.req.contains(&M2sReqOpcode::MemSpecRd) { Ok(row) } else { Err(row.rule) }
}

/// The row of the host states from which an M2S Req may be issued; `None` for opcodes that no cache state guards.
pub fn issue_req(opcode: M2sReqOpcode, field: MetaField, value: MetaValue) -> Option<&'static IssueRow> {
    let row = match (opcode, meta_said(field, value)) {
        (M2sReqOpcode::MemRdData, _) => 1,
        (M2sReqOpcode::MemClnEvct, _) => 4,
        (M2sReqOpcode::MemRd | M2sReqOpcode::MemInv | M2sReqOpcode::MemInvNT, said) => match said {
            Some(Some(MetaValue::Any)) => 0,
            Some(Some(MetaValue::Shared)) => 1,
            Some(Some(MetaValue::Invalid)) => 2,
            Some(Some(_)) | None => return None,
            Some(None) => 3,
        },
        _ => return None,
    };
    ISSUE_ROWS.get(row)
}

/// The row of the host states from which an M2S RwD write may be issued.
pub fn issue_rwd(opcode: M2sRwdOpcode, snp: SnpType) -> Option<&'static IssueRow> {
    match opcode {
        M2sRwdOpcode::MemWr | M2sRwdOpcode::MemWrPtl if snp == SnpType::NoOp => ISSUE_ROWS.get(5),
        M2sRwdOpcode::MemWr | M2sRwdOpcode::MemWrPtl => ISSUE_ROWS.get(6),
        _ => None,
    }
}

/// The plain form of a BISnp opcode.
pub fn plain_snoop(opcode: BisnpOpcode) -> BisnpOpcode {
    if opcode.is_block() { BisnpOpcode(opcode.0 - 4) } else { opcode }
}

/// The plain form of a BIRsp opcode.
pub fn plain_answer(opcode: BirspOpcode) -> BirspOpcode {
    if opcode.is_block() { BirspOpcode(opcode.0 - 4) } else { opcode }
}

/// Legal answers of a host in a state to a BISnp, plain or `*Blk`, our default first.
pub fn answers(snoop: BisnpOpcode, from: Copy4) -> impl Iterator<Item = &'static AnswerRow> {
    let plain = plain_snoop(snoop);
    ANSWER_ROWS.iter().filter(move |r| r.snoop == plain && r.from == from)
}

/// Whether an answer may follow a BISnp whatever the host held, and the rule that says so.
///
/// # Errors
/// The rule that the pair breaks.
pub fn check_answer(snoop: BisnpOpcode, answer: BirspOpcode) -> Result<&'static str, &'static str> {
    if answer.is_block() && !snoop.is_block() {
        return Err("COH-BLK-03");
    }
    let (s, a) = (plain_snoop(snoop), plain_answer(answer));
    let rule = ANSWER_ROWS.iter().find(|r| r.snoop == s).map_or("COH-SFI-02", |r| r.rule);
    if ANSWER_ROWS.iter().any(|r| r.snoop == s && r.answer == a) { Ok(rule) } else { Err(rule) }
}
