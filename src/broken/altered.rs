//! Agents of coherence that are right, and one message between them that is not what was sent.
//!
//! Modelled: one message of a class is lost, comes twice or gets another value in a field, any one of its class and at any time; an
//! exploration finds the shortest way to what that breaks first, judged by the agents themselves and by the monitors of explorations. A
//! few thousandths of a second each. Steps and wave are those of `agents`.
//! Left out: rules that no single change of a message breaks first.

use super::agents::judged;
use super::{BrokenCase, CaseError};
use scalepool_coherence::message::Class;
use scalepool_proof::explore::named::{self, ExplorationScope};
use scalepool_proof::explore::{Counterexample, Limits};
use scalepool_proof::systems::altered::Alteration::{self, Field, Twice};
use scalepool_proof::systems::altered::AlteredField::*;
use scalepool_proof::systems::menu::Menu;

/// Most states of a search; the largest takes a half.
const MOST_STATES: usize = 16_000;

/// A rule, and the change that breaks it.
struct AlteredBreak {
    rule: &'static str,
    exploration: &'static str,
    /// What its agents begin; empty: what it stands for.
    operations: &'static str,
    class: Class,
    alteration: Alteration,
}

const fn row(
    rule: &'static str,
    exploration: &'static str,
    operations: &'static str,
    class: Class,
    alteration: Alteration,
) -> AlteredBreak {
    AlteredBreak { rule, exploration, operations, class, alteration }
}

/// The table, a rule once.
const BREAKS: &[AlteredBreak] = &[
    row("COH-BIA-02", "hdm-d", "", Class::D2hReq, Field(Opcode, 12)),
    row("COH-BIA-03", "hdm-d", "RdShared", Class::D2hReq, Field(Opcode, 12)),
    row("COH-BIA-04", "hdm-d", "RdAny", Class::D2hReq, Field(Opcode, 12)),
    row("COH-BIA-05", "hdm-d", "RdOwn", Class::D2hReq, Field(Opcode, 12)),
    row("COH-BIA-06", "hdm-d", "CLFlush", Class::D2hReq, Field(Opcode, 12)),
    row("COH-BIA-07", "hdm-d", "", Class::D2hReq, Field(Opcode, 1)),
    row("COH-BIA-08", "hdm-d", "", Class::H2dRsp, Field(Opcode, 0)),
    row("COH-BIA-09", "hdm-d", "", Class::D2hReq, Field(Opcode, 0)),
    row("COH-BIC-02", "hdm-d", "", Class::S2mNdr, Field(Opcode, 4)),
    row("COH-BIC-11", "hdm-db-block", "", Class::M2sBirsp, Field(Opcode, 4)),
    row("COH-BLK-01", "hdm-db-block", "", Class::S2mBisnp, Field(Opcode, 12)),
    row("COH-BLK-02", "hdm-db-block", "", Class::M2sBirsp, Twice),
    row("COH-BLK-03", "hdm-db-2-all", "MemRdA", Class::M2sBirsp, Field(Opcode, 4)),
    row("COH-BOG-02", "cxl-cache-2", "", Class::D2hData, Field(Bogus, 1)),
    row("COH-IDS-01", "hdm-db-2-all", "", Class::M2sReq, Field(Identifier, 1)),
    row("COH-IDS-02", "hdm-d", "", Class::H2dRsp, Field(RspData, 1)),
    row("COH-IDS-05", "cxl-cache-2", "", Class::H2dRsp, Field(Opcode, 0)),
    row("COH-INV-06", "hdm-db-block", "", Class::M2sRwd, Twice),
    row("COH-INV-12", "hdm-db-filter", "", Class::M2sReq, Field(Identifier, 0)),
    row("COH-MEM-03", "hdm-d", "", Class::S2mNdr, Field(MetaField, 0)),
    row("COH-MEM-04", "hdm-db-block", "", Class::M2sReq, Field(Opcode, 5)),
    row("COH-MEM-06", "hdm-d", "MemRdS", Class::S2mNdr, Field(Opcode, 0)),
    row("COH-MEM-09", "hdm-db-block", "MemRdS", Class::M2sReq, Field(MetaField, 3)),
    row("COH-MEM-12", "hdm-db-block", "", Class::M2sReq, Field(Opcode, 2)),
    row("COH-MEM-13", "hdm-d", "MemRdData", Class::S2mNdr, Field(Opcode, 0)),
    row("COH-MEM-14", "hdm-d", "MemInv", Class::M2sReq, Field(SnpType, 0)),
    row("COH-MEM-15", "hdm-d", "MemInv", Class::M2sReq, Field(MetaValue, 3)),
    row("COH-MEM-16", "hdm-d", "", Class::M2sReq, Field(Opcode, 0)),
    row("COH-MEM-17", "hdm-d", "MemRdData", Class::M2sReq, Field(Opcode, 0)),
    row("COH-MEM-19", "hdm-db-block", "", Class::M2sReq, Field(Opcode, 8)),
    row("COH-MEM-20", "hdm-db-block", "", Class::M2sReq, Field(Opcode, 3)),
    row("COH-MEM-21", "hdm-db-block", "", Class::M2sRwd, Field(Opcode, 1)),
    row("COH-MEM-23", "hdm-d", "ItoMWr", Class::S2mNdr, Field(Opcode, 1)),
    row("COH-MEM-24", "hdm-db-2-all", "MemInv,MemWr", Class::M2sRwd, Field(SnpType, 3)),
    row("COH-MEM-25", "hdm-d", "", Class::M2sRwd, Field(MetaValue, 2)),
    row("COH-MEM-26", "hdm-db-2-all", "MemInv,MemWr", Class::M2sRwd, Field(SnpType, 1)),
    row("COH-MEM-27", "hdm-d", "ItoMWr", Class::M2sRwd, Field(Opcode, 4)),
    row("COH-MEM-28", "hdm-db-block", "", Class::M2sRwd, Field(Opcode, 0)),
    row("COH-MEM-46", "hdm-db-block", "", Class::S2mNdr, Field(Opcode, 3)),
    row("COH-OPC-01", "cxl-cache-2-core", "", Class::H2dReq, Field(Opcode, 0)),
    row("COH-ORD-04", "cxl-cache-2-core", "", Class::H2dReq, Twice),
    row("COH-REQ-01", "cxl-cache-2", "", Class::D2hReq, Field(Opcode, 2)),
    row("COH-REQ-02", "cxl-cache-2", "RdShared", Class::H2dRsp, Field(Opcode, 1)),
    row("COH-REQ-03", "cxl-cache-2", "RdAny", Class::H2dRsp, Field(Opcode, 1)),
    row("COH-REQ-04", "cxl-cache-2", "", Class::H2dRsp, Field(Opcode, 1)),
    row("COH-REQ-05", "cxl-cache-2", "", Class::H2dRsp, Field(RspData, 3)),
    row("COH-REQ-06", "cxl-cache-2", "CLFlush", Class::H2dRsp, Field(Opcode, 1)),
    row("COH-REQ-08", "cxl-cache-2", "ItoMWr", Class::H2dRsp, Field(Opcode, 1)),
    row("COH-REQ-09", "cxl-cache-2", "WrCur", Class::H2dRsp, Field(Opcode, 1)),
    row("COH-REQ-13", "cxl-cache-2", "WrInv", Class::H2dRsp, Field(Opcode, 5)),
    row("COH-REQ-14", "cxl-cache-2", "WOWrInv", Class::H2dRsp, Field(Opcode, 1)),
    row("COH-REQ-15", "cxl-cache-2", "WOWrInvF", Class::H2dRsp, Field(Opcode, 1)),
    row("COH-REQ-19", "cxl-cache-2", "", Class::H2dRsp, Field(RspData, 2)),
    row("COH-REQ-21", "cxl-cache-2", "", Class::H2dRsp, Twice),
    row("COH-REQ-22", "cxl-cache-2", "WrInv", Class::H2dRsp, Twice),
    row("COH-REQ-25", "cxl-cache-2", "ItoMWr", Class::H2dRsp, Field(Opcode, 8)),
    row("COH-SFI-02", "hdm-db-block", "", Class::M2sBirsp, Field(Opcode, 1)),
    row("COH-SFI-03", "hdm-db-2-all", "MemRdData", Class::M2sBirsp, Field(Opcode, 2)),
    row("COH-SFI-04", "hdm-db-2-all", "MemRdA,ReadOnce", Class::M2sBirsp, Field(Opcode, 3)),
    row("COH-SFI-08", "hdm-db-block", "", Class::S2mBisnp, Twice),
    row("COH-SNP-01", "cxl-cache-2-core", "", Class::H2dReq, Field(Opcode, 2)),
    row("COH-SNP-05", "cxl-cache-2-core", "", Class::H2dReq, Field(Opcode, 1)),
    row("COH-SNP-09", "cxl-cache-2-core", "RdOwn,RdCurr", Class::H2dReq, Field(Opcode, 2)),
    row("COH-SNP-13", "cxl-cache-2-memory", "", Class::D2hData, Twice),
];

/// Rules that a case breaks.
pub(super) fn rules() -> impl Iterator<Item = &'static str> {
    BREAKS.iter().map(|row| row.rule)
}

/// The case of a rule.
pub(super) fn of(rule: &str) -> Result<Option<BrokenCase>, CaseError> {
    let Some(row) = BREAKS.iter().find(|row| row.rule == rule) else { return Ok(None) };
    let way = row.find()?.ok_or_else(|| CaseError::breaks_nothing(rule, "changed message between agents"))?;
    Ok(Some(judged(row.what(), &way)))
}

impl AlteredBreak {
    fn what(&self) -> String {
        let AlteredBreak { exploration, operations, class, alteration, .. } = self;
        let with =
            if operations.is_empty() { String::new() } else { format!(" with {}", operations.replace(',', ", ")) };
        format!(
            "agents of the exploration {exploration}{with}, and one {} between them that {}",
            class.name(),
            alteration.about()
        )
    }

    fn find(&self) -> Result<Option<Counterexample>, CaseError> {
        let named = named::find(self.exploration);
        let menu = match self.operations {
            "" => None,
            names => Some(Menu::of_names(names).map_err(CaseError::of)?),
        };
        let scope = ExplorationScope { menu, ..ExplorationScope::default() };
        let start = named.and_then(|named| named.altered(&scope, self.class, self.alteration));
        let missing =
            || CaseError::of(format!("{}: found no exploration whose messages can be changed", self.exploration));
        let limits = Limits { states: MOST_STATES, liveness: false, ..Limits::default() };
        let way = start.ok_or_else(missing)?.search(limits, &mut |_| ()).violation;
        Ok(way.filter(|way| way.event.rule == self.rule))
    }
}
