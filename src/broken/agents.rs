//! Agents that break a rule of coherence, judged by the monitors that judge agents in every exploration.
//!
//! Modelled: what only an agent can do wrong, with its own state and in an order of messages that one link does not show. One decision of
//! one agent is not that of the sheet, or a bridge changes what it gets or says ([`scalepool_proof`] has both); an exploration finds the
//! shortest way to the broken rule, some hundredths of a second each. Steps and wave have what an agent takes and what it sends, delivered
//! or not; each step is one nanosecond.
//! Left out: rules that no wrong decision of an agent breaks first.

use super::{BrokenCase, CaseError, CaseStep};
use scalepool_bridge::cache::StorePolicy;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_proof::explore::killers::{KILLERS, Killer};
use scalepool_proof::explore::{Counterexample, Explored, Limits};
use scalepool_proof::replay::{STEP_FS, ToldStep, WayPlaces, told_steps};
use scalepool_proof::systems::bridge::wrong::WrongBridge;
use scalepool_proof::systems::bridge::{BridgeSetup, BridgeSystem, HostMenu};
use scalepool_trace::{Hub, TimeAxis};

/// Rules that a flit of a run breaks too, which shows them at a link of anybody.
const SHOWN_BY_FLITS: [&str; 1] = ["COH-INV-02"];

/// Rules of what never ends, which is looked for where all states were visited.
const NEVER_ENDS: [&str; 1] = ["COH-INV-10"];

/// Most states of a search; the largest takes a twentieth.
const MOST_STATES: usize = 800_000;

/// Bridges with a fault, and what is seen of them first.
const BRIDGES: [(&str, WrongBridge, Option<StorePolicy>); 6] = [
    ("COH-MEM-42", WrongBridge::IgnoresSnoops, None),
    ("COH-MEM-18", WrongBridge::DropsDirty, Some(StorePolicy::Through)),
    ("COH-MEM-07", WrongBridge::ReadsPastOwners, None),
    ("COH-MEM-05", WrongBridge::ReadsPastOwners, Some(StorePolicy::Back)),
    ("BRG-ORD-01", WrongBridge::Overtakes, None),
    ("BRG-ERR-20", WrongBridge::TellsAnError, None),
];

/// The first fault by which an exploration finds each rule.
fn killers() -> impl Iterator<Item = &'static Killer> {
    let found = |n: usize, killer: &Killer| {
        let is_first = KILLERS[..n].iter().all(|before| before.exploration.is_none() || before.rule != killer.rule);
        is_first && killer.exploration.is_some() && !SHOWN_BY_FLITS.contains(&killer.rule)
    };
    KILLERS.iter().enumerate().filter(move |(n, killer)| found(*n, killer)).map(|(_, killer)| killer)
}

/// Rules that a case breaks.
pub(super) fn rules() -> impl Iterator<Item = &'static str> {
    killers().map(|killer| killer.rule).chain(BRIDGES.map(|(rule, ..)| rule))
}

/// The case of a rule.
pub(super) fn of(rule: &str) -> Result<Option<BrokenCase>, CaseError> {
    let agents = killers().find(|killer| killer.rule == rule).and_then(wrong_agent);
    let bridge =
        || BRIDGES.into_iter().find(|(of, ..)| *of == rule).map(|(_, wrong, stores)| wrong_bridge(wrong, stores));
    let Some((what, start)) = agents.or_else(bridge) else { return Ok(None) };
    let limits = Limits { states: MOST_STATES, liveness: NEVER_ENDS.contains(&rule), ..Limits::default() };
    let way = start.search(limits, &mut |_| ()).violation.filter(|way| way.event.rule == rule);
    let way = way.ok_or_else(|| CaseError::breaks_nothing(rule, "step"))?;
    Ok(Some(judged(what, &way)))
}

/// Agents of which one is wrong: in words, and where they start.
fn wrong_agent(killer: &Killer) -> Option<(String, Box<dyn Explored>)> {
    let (named, config) = killer.case()?;
    let what = format!("agents of the exploration {}, where one is wrong: {}", named.name, killer.mutant.about());
    Some((what, named.start(config)))
}

/// The same of a bridge and the accelerators behind it.
fn wrong_bridge(wrong: WrongBridge, stores: Option<StorePolicy>) -> (String, Box<dyn Explored>) {
    let plain = BridgeSetup::one_line(CoherenceConfig::default(), stores);
    let setup = match wrong {
        // Requests of one accelerator to two lines, which no lock orders.
        WrongBridge::Overtakes => {
            BridgeSetup { lines: 2, requesters: 2, is_one_source: true, host: HostMenu::Bounded(0), ..plain }
        }
        _ => plain,
    };
    let kept = match stores {
        None => "without a cache",
        Some(StorePolicy::Back) => "that writes back",
        Some(StorePolicy::Through) => "that writes through",
    };
    let what = format!(
        "accelerators behind a bridge {kept}, which is wrong: {}; for the device the host is host 0, the bridge host 1",
        wrong.about()
    );
    (what, Box::new(BridgeSystem::new(BridgeSetup { wrong: Some(wrong), ..setup })))
}

pub(super) fn judged(what: String, way: &Counterexample) -> BrokenCase {
    let mut records = Hub::new(true);
    WayPlaces::new(way, &mut records).record(way);
    // The monitors look at the agents when the last step is over.
    let t_fs = (way.steps.len() as u64 + 1) * STEP_FS;
    BrokenCase {
        what,
        t_fs,
        found: way.event.to_string(),
        steps: told_steps(way).into_iter().enumerate().map(|(n, step)| case_step(way, n, step)).collect(),
        records: Some(records),
        axis: TimeAxis::of_step(1, t_fs + STEP_FS),
    }
}

fn case_step(way: &Counterexample, number: usize, step: ToldStep) -> CaseStep {
    let ToldStep { place, mut said } = step;
    if way.repeats == Some(number) {
        said += ", from here on again and again";
    }
    CaseStep { t_fs: (number as u64 + 1) * STEP_FS, place, said }
}
