//! What each message of CXL.mem is owed, read from the tables of the agents (`coherence` §3.2): the completions of which one has to
//! come, and whether a line of data does.

use scalepool_coherence::mem::tables::{self, HdmRegion};
use scalepool_protocols::cxl::cxl256::code::{M2sReqOpcode, M2sRwdOpcode, MetaField, NdrOpcode};
use scalepool_protocols::cxl::message::{M2sReq, M2sRwd};

/// A set of completions of which one is owed; empty where none is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Completions(u8);

impl Completions {
    /// The set of these opcodes.
    pub fn of(opcodes: &[NdrOpcode]) -> Completions {
        Completions(opcodes.iter().fold(0, |set, opcode| set | 1 << (opcode.0 & 7)))
    }

    fn or(self, other: Completions) -> Completions {
        Completions(self.0 | other.0)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn has(self, opcode: NdrOpcode) -> bool {
        self.0 >> (opcode.0 & 7) & 1 == 1
    }

    /// `Cmp or CmpE`.
    pub fn in_words(self) -> String {
        let names = (0..8).map(NdrOpcode).filter(|opcode| self.has(*opcode)).filter_map(NdrOpcode::name);
        names.collect::<Vec<_>>().join(" or ")
    }
}

/// The answers that a request is owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwedAnswers {
    /// Exactly these.
    Answers {
        /// One of these completions.
        completions: Completions,
        /// A line of data.
        data: bool,
    },
    /// The tables do not say: the request is illegal, or of a kind that is not modelled.
    Unknown,
}

const NOTHING: OwedAnswers = OwedAnswers::Answers { completions: Completions(0), data: false };

/// What an M2S Req is owed.
///
/// # Errors
/// The rule of the tables against which it is sent.
pub(crate) fn of_request(region: HdmRegion, request: &M2sReq) -> Result<OwedAnswers, &'static str> {
    let &M2sReq { opcode, meta_field, meta_value, snp_type, .. } = request;
    if !is_known(opcode) || meta_field == MetaField::EMS {
        return Ok(OwedAnswers::Unknown);
    }
    tables::check_req(region, opcode, meta_field, meta_value, snp_type)?;
    if region == HdmRegion::HdmH {
        let row = tables::hdm_h_req(opcode, meta_field, snp_type)?;
        let completions = if row.ndr { Completions::of(&[NdrOpcode::Cmp]) } else { Completions::default() };
        return Ok(OwedAnswers::Answers { completions, data: row.data });
    }
    let rows = tables::req_rows(region, opcode, meta_field, meta_value, snp_type);
    let mut completions = rows.clone().fold(Completions::default(), |set, row| set.or(Completions::of(row.ndr)));
    let data = rows.clone().any(|row| row.data);
    if !completions.is_empty() && !data {
        // At an address without memory (COH-MEM-36), and nobody tells where memory is.
        completions = completions.or(Completions::of(&[NdrOpcode::Cmp]));
    }
    Ok(OwedAnswers::Answers { completions, data })
}

/// What an M2S RwD is owed, but for BIConflict.
///
/// # Errors
/// The rule of the tables against which it is sent, and what answers it all the same.
pub(crate) fn of_write(region: HdmRegion, request: &M2sRwd) -> Result<OwedAnswers, (&'static str, OwedAnswers)> {
    let &M2sRwd { opcode, meta_field, meta_value, snp_type, .. } = request;
    let is_write = [M2sRwdOpcode::MemWr, M2sRwdOpcode::MemWrPtl].contains(&opcode);
    let cmp = OwedAnswers::Answers { completions: Completions::of(&[NdrOpcode::Cmp]), data: false };
    if !is_write && opcode != M2sRwdOpcode::MemRdFill {
        return Ok(OwedAnswers::Unknown);
    }
    if is_write && meta_field == MetaField::EMS {
        return Ok(cmp);
    }
    let against = |rule| (rule, if is_write { cmp } else { OwedAnswers::Unknown });
    if region == HdmRegion::HdmH {
        let row = tables::hdm_h_rwd(opcode, meta_field, snp_type).map_err(against)?;
        return Ok(if row.data {
            OwedAnswers::Answers { completions: Completions::default(), data: true }
        } else {
            cmp
        });
    }
    // Who else uses the memory is not to be seen from here.
    tables::rwd(region, false, opcode, meta_field, meta_value, snp_type).map_err(against)?;
    Ok(cmp)
}

impl OwedAnswers {
    /// Nothing at all is owed.
    pub fn is_nothing(self) -> bool {
        self == NOTHING
    }
}

/// Opcodes that the tables know; the others are those of trusted environments, and reserved ones.
fn is_known(opcode: M2sReqOpcode) -> bool {
    [
        M2sReqOpcode::MemInv,
        M2sReqOpcode::MemRd,
        M2sReqOpcode::MemRdData,
        M2sReqOpcode::MemRdFwd,
        M2sReqOpcode::MemWrFwd,
        M2sReqOpcode::MemSpecRd,
        M2sReqOpcode::MemInvNT,
        M2sReqOpcode::MemClnEvct,
    ]
    .contains(&opcode)
}
