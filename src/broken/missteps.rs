//! Agents of coherence of which one makes one wrong step, or goes by one wrong rule, where what fires first on the way is not the rule of
//! the case but the rule of the case fires in the same step, judged by the monitors of steps and of states.
//!
//! Modelled: the agents of an exploration, right but for one step ([`WrongStep`]), or for one decision of theirs ([`CoherenceMutant`]); the
//! search follows no way on which another rule was broken before. Steps and wave are those of `agents`.
//! Left out: rules that no such step breaks.

use super::agents::judged;
use super::{BrokenCase, CaseError};
use scalepool_coherence::config::{CoherenceConfig, ErrorAnswer, ErrorRange, OwnMemory};
use scalepool_coherence::mem::tables::Copy4;
use scalepool_coherence::message::Class::*;
use scalepool_proof::explore::killers;
use scalepool_proof::explore::named::{self, ExplorationScope};
use scalepool_proof::explore::{Counterexample, Limits};
use scalepool_proof::mutant::CoherenceMutant::{self, *};
use scalepool_proof::systems::altered::Alteration::{Field, Lost};
use scalepool_proof::systems::altered::AlteredField::*;
use scalepool_proof::systems::menu::Menu;
use scalepool_proof::systems::misstep::WrongStep::{
    self, Asks, Drops, Overtakes, Sends, Stays, Stores, Takes, TakesEarly,
};
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode;

/// Most states of a search; the largest takes a half.
const MOST_STATES: usize = 60_000;

/// A rule, and the wrong step that breaks it.
struct BreakingStep {
    rule: &'static str,
    exploration: &'static str,
    /// What its agents begin; empty: what it stands for.
    operations: &'static str,
    options: fn(&mut CoherenceConfig),
    wrong: WrongStep,
}

const fn row(
    rule: &'static str,
    exploration: &'static str,
    operations: &'static str,
    wrong: WrongStep,
) -> BreakingStep {
    BreakingStep { rule, exploration, operations, options: |_| (), wrong }
}

/// The decisions that break a rule together with the one that their exploration finds.
const DECISIONS: &[(&str, CoherenceMutant)] = &[
    ("COH-STA-02", DirtyDropped),
    ("COH-STA-04", UseAfterEvict),
    ("COH-SNP-06", CopyKeptUnderSnpInv),
    ("COH-SNP-14", CurrentDataCleansOwner),
    ("COH-TRN-02", OldBytesKept),
    ("COH-TRN-03", GrantedAnswersAsInvalid),
    ("COH-BOG-01", BogusNotSet),
    ("COH-BOG-03", BogusWritten),
    ("COH-ORD-01", SnoopPassesGo),
    ("COH-ORD-05", HomeDoesNotBlock),
    ("COH-ORD-08", GoBeforeAnswers),
    ("COH-ORD-12", EvictUntracksAll),
    ("COH-EVT-02", StaleEvictClearsOwner),
    ("COH-HOM-02", SharersNotSnooped),
    ("COH-HOM-05", SnoopDuringPull),
    ("COH-INV-08", SnoopPassesGo),
    ("COH-INV-07", BogusNotSet),
    ("COH-MEM-44", AnswerBeforeWriteDone),
    ("COH-SFI-07", EntryLeavesEarly),
    ("COH-BIC-12", GrantNotUsed),
    ("COH-BIA-01", LocalUseInHostBias),
    ("COH-QOS-04", LoadSkipsSnoops),
    ("COH-DLK-15", BisnpBlocksRwd),
    ("COH-ORD-03", HomeDoesNotBlock),
    ("COH-EVT-04", StaleEvictClearsOwner),
    ("COH-EVT-05", StaleEvictClearsOwner),
];

/// The wrong steps, a rule once.
const STEPS: &[BreakingStep] = &[
    row("COH-STA-01", "cxl-cache-2", "RdShared,RdOwn", Stores(Copy4::S)),
    row("COH-STA-03", "cxl-cache-2", "RdOwn", Drops(Copy4::E)),
    row("COH-REQ-16", "cxl-cache-2", "RdShared,RdOwn", Takes(D2hReq, Lost)),
    row("COH-REQ-23", "cxl-cache-2", "WOWrInv", Sends(H2dRsp, Lost)),
    BreakingStep {
        options: |config| {
            config.error_ranges = vec![ErrorRange { first: 0, last: 63, answer: ErrorAnswer::GoError }];
        },
        ..row("COH-REQ-24", "cxl-cache-2", "RdOwn,ItoMWr,WrInv,WOWrInv", Sends(D2hData, Lost))
    },
    row("COH-REQ-26", "cxl-cache-2", "WrInv", Takes(D2hData, Field(Enables, 0))),
    row("COH-REQ-27", "cxl-cache-2", "RdOwn", Asks(D2hReqOpcode::CacheFlushed)),
    row("COH-SNP-03", "cxl-cache-2", "RdShared,RdOwn", Sends(D2hRsp, Field(Opcode, 4))),
    row("COH-SNP-04", "cxl-cache-2", "RdShared,RdOwn", Sends(D2hData, Lost)),
    row("COH-SNP-07", "cxl-cache-2", "RdOwn", Sends(D2hRsp, Field(Opcode, 6))),
    row("COH-SNP-08", "cxl-cache-2", "RdOwn", Sends(D2hRsp, Field(Opcode, 5))),
    row("COH-SNP-11", "cxl-cache-2", "RdOwn,RdCurr", Sends(D2hRsp, Field(Opcode, 4))),
    row("COH-SNP-12", "cxl-cache-2", "RdOwn,RdCurr", Sends(D2hData, Lost)),
    row("COH-SNP-15", "cxl-cache-2", "RdShared,RdOwn", Takes(D2hRsp, Field(Opcode, 15))),
    row("COH-SNP-16", "cxl-cache-2", "RdShared,RdOwn", Sends(H2dReq, Field(Opcode, 1))),
    row("COH-TRN-01", "cxl-cache-2", "RdShared,RdOwn", Sends(D2hRsp, Field(Opcode, 5))),
    row("COH-TRN-04", "cxl-cache-2", "RdOwn,DirtyEvict", Sends(D2hRsp, Field(Opcode, 4))),
    row("COH-TRN-05", "cxl-cache-2", "RdOwn,CleanEvict", Sends(D2hRsp, Field(Opcode, 6))),
    row("COH-TRN-06", "cxl-cache-2", "RdShared,RdOwn,WrInv", Sends(D2hRsp, Field(Opcode, 5))),
    row("COH-ORD-02", "cxl-cache-2", "RdShared,RdOwn", Overtakes(H2dReq)),
    row("COH-ORD-11", "cxl-cache-2", "RdOwn", Asks(D2hReqOpcode::RdOwn)),
    row("COH-EVT-01", "cxl-cache-2", "RdOwn,DirtyEvict", Takes(D2hData, Field(Value, 0))),
    row("COH-HOM-04", "cxl-cache-2", "RdShared,RdOwn", Takes(D2hRsp, Field(Opcode, 15))),
    row("COH-HOM-06", "cxl-cache-2", "RdShared,RdOwn", Stays(D2hReq)),
    row("COH-CID-05", "cxl-cache-2", "RdShared", Takes(D2hReq, Field(Identifier, 3))),
    row("COH-INV-05", "cxl-cache-2", "RdOwn", Sends(D2hRsp, Field(Opcode, 1))),
    row("COH-INV-16", "hdm-db-two-levels", "", Stores(Copy4::I)),
    row("COH-QOS-01", "hdm-db-2", "", Sends(S2mNdr, Field(DevLoad, 4))),
    row("COH-INV-14", "hdm-db-2", "", Drops(Copy4::M)),
    row("COH-MEM-01", "hdm-db-filter", "", Stays(S2mBisnp)),
    row("COH-MEM-02", "hdm-db-device", "", Stays(M2sReq)),
    row("COH-MEM-08", "hdm-db-2-all", "", Sends(S2mNdr, Field(Opcode, 1))),
    row("COH-MEM-10", "hdm-db-2-all", "", Sends(S2mNdr, Field(Opcode, 1))),
    row("COH-MEM-11", "hdm-db-2-all", "", Sends(S2mNdr, Field(Opcode, 1))),
    row("COH-MEM-22", "hdm-db-2-all", "", Sends(S2mNdr, Field(Opcode, 1))),
    row("COH-MEM-43", "hdm-d", "", TakesEarly(D2hReq)),
    row("COH-MEM-45", "hdm-db-2", "", Sends(M2sRwd, Field(SnpType, 3))),
    row("COH-BIC-05", "hdm-db-2", "", Sends(M2sBirsp, Lost)),
    row("COH-BIC-06", "hdm-db-2-all", "MemRdA,MemClnEvct", Sends(M2sBirsp, Lost)),
    row("COH-BIC-07", "hdm-db-2-all", "MemRdA,MemClnEvct", Takes(S2mNdr, Lost)),
    row("COH-BIC-08", "hdm-db-2-all", "MemRdA,MemWr", Sends(M2sBirsp, Lost)),
    row("COH-BIC-09", "hdm-db-2", "", Sends(M2sBirsp, Lost)),
];

/// What agents are asked to do by their cores that is wrong in itself: the rule, the exploration, what they begin, the options, and what is
/// wrong in words.
type WrongOperation = (&'static str, &'static str, &'static str, fn(&mut CoherenceConfig), &'static str);

const ASKED: &[WrongOperation] = &[
    (
        "COH-BIA-10",
        "cxl-cache-2",
        "RdOwn",
        |config| config.own_memory = vec![OwnMemory { first: 0, last: 63, device: 1 }],
        "device 1 asks for a line of its own HDM-DB by RdOwn",
    ),
    (
        "COH-INV-15",
        "cxl-cache-2",
        "RdShared,RdOwn,UnheldAtomic",
        |_| (),
        "an atomic of a device does not hold its line from its load to its store",
    ),
];

/// Rules that a case breaks.
pub(super) fn rules() -> impl Iterator<Item = &'static str> {
    let asked = ASKED.iter().map(|(rule, ..)| *rule);
    DECISIONS.iter().map(|(rule, _)| *rule).chain(STEPS.iter().map(|row| row.rule)).chain(asked)
}

/// The case of a rule.
pub(super) fn of(rule: &str) -> Result<Option<BrokenCase>, CaseError> {
    let decision = DECISIONS.iter().find(|(of, _)| *of == rule).map(|(rule, mutant)| decided(rule, *mutant));
    let step = || STEPS.iter().find(|row| row.rule == rule).map(BreakingStep::find);
    let asked = || ASKED.iter().find(|(of, ..)| *of == rule).map(asked);
    let Some(found) = decision.or_else(step).or_else(asked) else { return Ok(None) };
    let (what, way) = found?;
    let way = way.ok_or_else(|| CaseError::breaks_nothing(rule, "step of an agent"))?;
    Ok(Some(judged(what, &way)))
}

/// What a case is in words, and the way to its rule.
type Found = Result<(String, Option<Counterexample>), CaseError>;

fn searched(
    exploration: &str,
    config: CoherenceConfig,
    menu: Option<Menu>,
    wrong: Option<WrongStep>,
    rule: &'static str,
) -> Result<Option<Counterexample>, CaseError> {
    let scope = ExplorationScope { menu, ..ExplorationScope::default() };
    let start = named::find(exploration).and_then(|named| named.misstep(config, &scope, wrong, rule));
    let missing = || CaseError::of(format!("{exploration}: found no exploration whose steps can be wrong"));
    let limits = Limits { states: MOST_STATES, liveness: false, ..Limits::default() };
    let way = start.ok_or_else(missing)?.search(limits, &mut |_| ()).violation;
    Ok(way.filter(|way| way.event.rule == rule))
}

/// Agents that go by one wrong rule.
fn decided(rule: &'static str, mutant: CoherenceMutant) -> Found {
    let case = killers::of(mutant).and_then(killers::Killer::case);
    let (named, config) = case.ok_or_else(|| CaseError::of(format!("{mutant:?}: found no exploration")))?;
    // That of values alone is without the monitors of steps.
    let name = named.name.strip_suffix("-values").unwrap_or(named.name);
    let what = format!("agents of the exploration {name}, where one is wrong: {}", mutant.about());
    Ok((what, searched(name, config, None, None, rule)?))
}

/// The menu of operations; `None` for that of the exploration.
fn menu_of(operations: &str) -> Result<Option<Menu>, CaseError> {
    (!operations.is_empty()).then(|| Menu::of_names(operations).map_err(CaseError::of)).transpose()
}

/// Agents whose cores ask for what is wrong.
fn asked((rule, exploration, operations, options, about): &WrongOperation) -> Found {
    let mut config = CoherenceConfig::default();
    options(&mut config);
    let what = format!("agents of the exploration {exploration}, where {about}");
    Ok((what, searched(exploration, config, menu_of(operations)?, None, rule)?))
}

impl BreakingStep {
    fn find(&self) -> Found {
        let BreakingStep { rule, exploration, operations, options, wrong } = self;
        let menu = menu_of(operations)?;
        let with =
            if operations.is_empty() { String::new() } else { format!(" with {}", operations.replace(',', ", ")) };
        let what =
            format!("agents of the exploration {exploration}{with}, of which one is wrong once: {}", wrong.about());
        let mut config = CoherenceConfig::default();
        options(&mut config);
        Ok((what, searched(exploration, config, menu, Some(*wrong), rule)?))
    }
}
