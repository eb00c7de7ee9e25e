//! How rules look when they are broken: every rule has a case that breaks it first, or a reason why nothing is shown.

use scalepool::broken::runs::RUNS;
use scalepool::broken::{self, BrokenCases};
use scalepool::inspect::InspectDetail;
use scalepool_protocols::rules;
use scalepool_protocols::rules::area;
use std::env;

#[test]
fn every_rule_has_a_case_or_a_reason() {
    let cases = BrokenCases::of("", &env::temp_dir());
    let with_cases = cases.rules("");
    let mut wrong = Vec::new();
    for rule in rules::all() {
        let listed = with_cases.iter().filter(|id| **id == rule.id).count();
        match cases.find(rule) {
            Ok(Some(case)) => {
                let last = case.steps.last().is_some_and(|step| step.t_fs <= case.t_fs);
                if listed != 1 || !last || !case.found.starts_with(rule.id) || cases.reason(rule).is_some() {
                    wrong.push(format!("{}: listed {listed} times, {}", rule.id, case.found));
                }
            }
            Ok(None) if listed == 0 && cases.reason(rule).is_some() => (),
            Ok(None) => wrong.push(format!("{}: listed {listed} times, no case, no reason", rule.id)),
            Err(error) => wrong.push(format!("{}: {error:#}", rule.id)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(with_cases.len() > 880, "{} rules have cases", with_cases.len());
}

/// A run whose flits are as they were sent breaks nothing: what fires is the change.
#[test]
fn a_run_without_a_change_breaks_nothing() {
    for run in RUNS {
        let flits = run.capture(&env::temp_dir()).unwrap_or_else(|e| panic!("{e:#}"));
        let judged = run.judged(&flits, false, InspectDetail::default()).unwrap_or_else(|e| panic!("{e:#}"));
        let broken: Vec<_> = judged.seen.iter().flat_map(|seen| &seen.broken).collect();
        assert!(broken.is_empty(), "{}: {broken:?}", run.scenario);
        assert!(judged.seen.len() > 80, "{}: {} flits", run.scenario, judged.seen.len());
    }
}

/// A case is the same whether it is looked for alone or among all.
#[test]
fn a_case_is_found_by_its_own_id() {
    let all = BrokenCases::of("", &env::temp_dir());
    for id in [
        "CXL68-CRC-01",
        "CXL256-FEC-02",
        "CXLIO-FMT-03",
        "UAL-CRC-01",
        "TXN-TAG-02",
        "BRG-CRD-01",
        "MEM-TIM-02",
        "COH-BIC-10",
        "CXL68-SLT-06",
        "CXL68-LRS-04",
        "BRG-MAP-01",
        "FAB-VCS-01",
        "FAB-CMR-02",
        "FAB-BND-02",
        "FAB-RGT-03",
        "COH-SNP-12",
        "COH-DLK-01",
        "COH-MEM-38",
        "UAL-UPL-11",
        "CXL68-VLS-04",
        "CXL256-RTY-10",
    ] {
        let rule = rules::find(id).expect("a rule");
        let text =
            |cases: &BrokenCases| cases.find(rule).ok().flatten().map(|case| (case.what.clone(), case.timeline()));
        let alone = text(&BrokenCases::of(id, &env::temp_dir()));
        assert!(alone.is_some() && alone == text(&all), "{id}: {alone:?}");
    }
}

/// Where nothing passes behind a request, what is missing is told at the request and not in front of it.
#[test]
fn a_missing_answer_is_told_at_its_request() {
    let cases = BrokenCases::of("TXN-END-01", &env::temp_dir());
    let case = cases.find(rules::find("TXN-END-01").expect("a rule")).expect("a run").expect("a case");
    let last = case.steps.last().expect("steps");
    assert!(last.t_fs == case.t_fs && last.said.contains("m2s_req"), "{} at {}", last.said, case.t_fs);
}

/// Each line of reasons is that of a rule without a case, names an area or a rule once, and is a sentence.
#[test]
fn every_reason_is_used() {
    let cases = BrokenCases::of("", &env::temp_dir());
    let used: Vec<&str> = rules::all().filter_map(|rule| cases.reason(rule)).collect();
    for (n, (about, reason)) in broken::reasons().enumerate() {
        assert!(used.contains(&reason), "{about}: no rule has this reason: {reason}");
        assert!(reason.ends_with('.') && reason.len() > 20, "{about}: {reason}");
        let is_known = rules::find(about).is_some() || area::all().any(|area| area.id == about);
        assert!(is_known && broken::reasons().take(n).all(|(before, _)| before != about), "{about}");
        let of_it = |id: &str| id == about || id.rsplit_once('-').is_some_and(|(area, _)| area == about);
        let without = rules::all().filter(|rule| of_it(rule.id)).filter(|rule| cases.reason(rule) == Some(reason));
        assert!(without.count() > 0, "{about}: every rule of it has a case");
    }
}

/// Findings and steps are said to a reader, not printed as the values of a program: no options, structures, lists of nothing or paths.
/// Flits of runs are told by what tells all flits.
#[test]
fn cases_are_said_in_words() {
    const VALUES: [&str; 6] = ["Some(", "None", "::", "[]", " { ", "{\""];
    const OF_AGENTS: [&str; 6] = ["agent 0", "agent 1", "agent 2", "ports ", "Current", "Stale"];
    let cases = BrokenCases::of("", &env::temp_dir());
    let of_runs: Vec<&str> = broken::runs::rules().collect();
    let mut wrong = Vec::new();
    for rule in rules::all().filter(|rule| !of_runs.contains(&rule.id)) {
        let Some(case) = cases.find(rule).ok().flatten() else { continue };
        // What is changed in a description stands there as it is written.
        let said = if case.records.is_some() { case.timeline() } else { case.found.clone() };
        let text = format!("{} {said}", case.what);
        let of_agents = if rule.id.starts_with("COH-") { &OF_AGENTS[..] } else { &[] };
        for form in VALUES.iter().chain(of_agents).filter(|form| text.contains(**form)) {
            wrong.push(format!("{}: `{form}` in {text}", rule.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A case has a wave unless it is a description that is refused, and which ones have none is known without making them.
#[test]
fn a_refused_description_has_no_wave() {
    let cases = BrokenCases::of("FAB-", &env::temp_dir());
    let with_waves = cases.rules_with_waves("FAB-");
    for id in cases.rules("FAB-") {
        let case = cases.find(rules::find(id).expect("a rule")).expect("a case").expect("one");
        assert_eq!(case.records.is_some(), with_waves.contains(&id), "{id}");
    }
    assert!(!with_waves.contains(&"FAB-VCS-01") && with_waves.contains(&"FAB-TGT-01"), "{with_waves:?}");
}

/// The wrong message of an agent is in the steps of its case, delivered or not, with the line.
#[test]
fn what_is_sent_is_a_part_of_a_step() {
    for (id, last) in [
        ("COH-BIA-12", "RdCurr arrives, line 0x0; host sends device MemWr Any NoOp and MemRdFwd Any NoOp"),
        ("COH-SFI-05", "BISnpInv arrives, line 0x0; host 1 sends device MemWr Invalid NoOp and BIRspI"),
        ("COH-REQ-17", "RdOwn arrives, line 0x0; home sends device 0 Data and GO-M"),
        (
            "COH-BIC-10",
            "BISnpInvBlk arrives, the block at 0x0; host 0 sends device BIConflict Invalid NoOp of line 0x0",
        ),
    ] {
        let case = BrokenCases::of(id, &env::temp_dir()).find(rules::find(id).expect("a rule"));
        let case = case.expect("a search").expect("a case");
        assert_eq!(case.steps.last().map(|step| step.said.as_str()), Some(last), "{id}");
    }
}

/// What is wrong is said at the step in which it is, and what is right is in the steps before it.
#[test]
fn a_wrong_step_is_told_where_it_is() {
    for (id, last) in [
        ("COH-SNP-12", "SnpCur arrives, line 0x0, wrongly: a D2H Data is not sent; device 0 sends home RspVFwdV"),
        (
            "COH-SNP-07",
            "SnpInv arrives, line 0x0, wrongly: a D2H Rsp is sent as RspVHitV; device 0 sends home RspVHitV",
        ),
        ("COH-STA-01", "Store, wrongly: a copy in S is stored to, line 0x0"),
        ("COH-DLK-06", "nothing leaves while M2S Req is stuck"),
        ("COH-SNP-02", "D2H Rsp RspSFwdM"),
        ("CXL256-ALM-05", "gets Ack X8"),
        ("NVL-RPL-02", "packet bad init:1: last flit accepted = 0, waits for REPLAY_INIT = no"),
    ] {
        let case = BrokenCases::of(id, &env::temp_dir()).find(rules::find(id).expect("a rule"));
        let case = case.expect("a search").expect("a case");
        assert_eq!(case.steps.last().map(|step| step.said.as_str()), Some(last), "{id}");
    }
}
