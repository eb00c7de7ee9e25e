//! The LRSM table of the sheet (`cxl-68b` §7.3), written a second time: what each event does in each state.
//!
//! A walk: [`outcome`] is the table, one arm a row of the sheet. [`obeys`] drives the machine and a whole end through the
//! rows of one rule; [`elsewhere`] through the same events in all other states, where each does only what that state's
//! own row says.

use crate::cxl68_retry::bench::link;
use crate::cxl68_retry::solo::{Solo, ack, bad, control, framed, llcrd, req};
use scalepool::link::cxl68::retry::{LRSM, Local, LocalRetry, Trigger};
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, ReqCount};

/// What becomes of NUM_RETRY, NUM_PHY_REINIT or TIMEOUT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    Same,
    Zero,
    PlusOne,
}

use Count::{PlusOne, Same, Zero};
use Local::{Abort as X, LlrReq as Q, LocalIdle as I, Normal as N, PhyReinit as P};

/// Next state, whether the flit is used, NUM_RETRY, NUM_PHY_REINIT, TIMEOUT, and the rule of the row; no rule: the sheet
/// has no such row, nothing happens.
pub fn outcome(from: Local, on: Trigger) -> (Local, bool, [Count; 3], Option<&'static str>) {
    let same = [Same; 3];
    match (from, on) {
        (N, Trigger::Retryable) => (N, true, [Zero; 3], Some("CXL68-LRS-01")),
        (N, Trigger::NotRetryable) => (N, true, same, Some("CXL68-LRS-02")),
        (N | Q | I, Trigger::ReqSequence) => (from, true, same, Some("CXL68-LRS-03")),
        (N, Trigger::Error) => (Q, false, same, Some("CXL68-LRS-04")),
        (N | Q | I, Trigger::PhyDown) => (P, false, same, Some("CXL68-LRS-05")),
        (Q, Trigger::BothLimits) => (X, false, same, Some("CXL68-LRS-06")),
        (Q, Trigger::RetryLimit) => (P, false, [Same, PlusOne, Same], Some("CXL68-LRS-07")),
        (Q, Trigger::Retryable | Trigger::NotRetryable) => (Q, false, same, Some("CXL68-LRS-08")),
        (Q, Trigger::ReqSent) => (I, false, [PlusOne, Same, Zero], Some("CXL68-LRS-09")),
        (Q, Trigger::Error) => (Q, false, same, Some("CXL68-LRS-10")),
        (P, Trigger::PhyUp) => (Q, false, [Zero, Same, Zero], Some("CXL68-LRS-11")),
        (I, Trigger::AckMatch) => (N, true, [Same, Same, Zero], Some("CXL68-LRS-12")),
        (I, Trigger::AckMatchEmpty) => (N, true, [Zero; 3], Some("CXL68-LRS-12")),
        (I, Trigger::AckOther) => (I, false, same, Some("CXL68-LRS-13")),
        (I, Trigger::Timeout) => (Q, false, [Same, Same, Zero], Some("CXL68-LRS-14")),
        (I, Trigger::Error | Trigger::Retryable | Trigger::NotRetryable) => (I, false, same, Some("CXL68-LRS-15")),
        (X, _) => (X, false, same, Some("CXL68-LRS-16")),
        _ => (from, false, same, None),
    }
}

fn counted(before: u32, count: Count) -> u32 {
    match count {
        Same => before,
        Zero => 0,
        PlusOne => before + 1,
    }
}

/// One pair at the machine alone, from counters that tell 0, kept and counted apart.
fn at_machine(from: Local, on: Trigger) {
    let mut machine =
        LocalRetry { state: from, num_retry: 3, num_phy_reinit: 2, timeout_flits: 5, ..LocalRetry::new() };
    let used = machine.step(on);
    let (to, use_it, [retry, reinit, timeout], _) = outcome(from, on);
    assert_eq!((machine.state, used), (to, use_it), "{from:?} on {on:?}");
    let found = [machine.num_retry.into(), machine.num_phy_reinit.into(), machine.timeout_flits];
    assert_eq!(found, [counted(3, retry), counted(2, reinit), counted(5, timeout)], "{from:?} on {on:?}");
}

/// Limits and TIMEOUT that an event of a whole end needs.
fn config_for(on: Trigger, count: ReqCount) -> Cxl68Config {
    let link = Cxl68Config { req_count: count, ..link() };
    match on {
        Trigger::Timeout => Cxl68Config { timeout_flits: 8, ..link },
        // Limits are at least 1: they are met after one unanswered try.
        Trigger::RetryLimit => Cxl68Config { timeout_flits: 8, max_num_retry: 1, ..link },
        Trigger::BothLimits => Cxl68Config { timeout_flits: 8, max_num_retry: 1, max_num_phy_reinit: 1, ..link },
        _ => link,
    }
}

/// One pair at a whole end: state, ESeq, NumAck, delivery and the pending Ack.
fn at_end(from: Local, on: Trigger, count: ReqCount) {
    let mut solo = Solo::in_state(from, config_for(on, count));
    let before = solo.end.clone();
    let (eseq, echo) = (solo.end.eseq(), u8::from(count == ReqCount::AfterIncrement));
    match on {
        Trigger::Retryable => solo.feed(llcrd(0, [0; 3])),
        Trigger::NotRetryable => solo.feed(control("RETRY.Idle")),
        Trigger::ReqSequence => {
            let eseq = solo.end.buffer().wr_ptr();
            solo.feed_all(&framed(5, req(eseq, 3)));
        }
        Trigger::AckMatch => solo.feed_all(&framed(5, ack(eseq, echo, false))),
        Trigger::AckMatchEmpty => solo.feed_all(&framed(5, ack(eseq, echo, true))),
        Trigger::AckOther => solo.feed_all(&framed(5, ack(eseq, echo + 1, false))),
        Trigger::Error => solo.feed(bad()),
        Trigger::PhyDown => solo.phy_down(),
        Trigger::PhyUp => solo.end.phy_up(),
        // What the end brings about itself: let it send. In other states the event does not happen.
        Trigger::ReqSent if from == Q => {
            solo.sends_all(6);
        }
        Trigger::Timeout if from == I => {
            // The flit in which TIMEOUT is noticed is the first Frame of the next Req.
            solo.sends_all(9);
        }
        Trigger::RetryLimit | Trigger::BothLimits if from == Q => {
            limits(&mut solo, on);
        }
        _ => return,
    }
    let (to, ..) = outcome(from, on);
    assert_eq!(solo.end.local().state, to, "{from:?} on {on:?}");
    let counts = u16::from(from == N && on == Trigger::Retryable);
    assert_eq!(u16::from(solo.end.eseq()), u16::from(before.eseq()) + counts, "ESeq in {from:?} on {on:?}");
    assert_eq!(solo.end.num_ack(), before.num_ack() + counts, "NumAck in {from:?} on {on:?}");
    assert_eq!(solo.end.inbox_len(), 0);
    let asked = on == Trigger::ReqSequence && matches!(from, N | Q | I);
    assert_eq!(solo.ack_due().is_some(), asked, "{from:?} on {on:?}");
    let mut expected: Vec<&str> = Vec::new();
    match (from, on) {
        (N, Trigger::AckMatch | Trigger::AckMatchEmpty | Trigger::AckOther) => expected.push("CXL68-LLR-15"),
        (Q, Trigger::BothLimits) => expected.push("CXL68-LRS-06"),
        _ => (),
    }
    assert_eq!(solo.events(), expected, "{from:?} on {on:?}");
    assert_eq!(solo.seen(), [""; 0], "{from:?} on {on:?}");
}

/// From LLRREQ to a limit: nobody answers.
fn limits(solo: &mut Solo, on: Trigger) {
    let reinits = if on == Trigger::BothLimits { 2 } else { 1 };
    for round in 1..=reinits {
        // Six flits of the Req sequence and eight of the TIMEOUT; the limit is met where the next Req would begin.
        let sent = solo.sends_all(6 + 8 + 3);
        assert_eq!(sent.len(), 14, "then silence");
        if round < reinits {
            assert!(solo.end.take_retrain_request(), "training is asked for");
            assert_eq!(solo.end.local().num_phy_reinit, round);
            solo.phy_down();
            solo.end.phy_up();
        }
    }
}

fn rows(rule: &'static str) -> Vec<(Local, Trigger)> {
    let pairs = Local::ALL.into_iter().flat_map(|s| Trigger::ALL.map(|t| (s, t)));
    pairs.filter(|&(s, t)| outcome(s, t).3 == Some(rule)).collect()
}

/// Every row of a rule does what the sheet says, at the machine and at a whole end, whichever NUM_RETRY a Req carries.
pub fn obeys(rule: &'static str) {
    let rows = rows(rule);
    assert!(!rows.is_empty(), "{rule} has rows");
    for (from, on) in rows {
        at_machine(from, on);
        for count in [ReqCount::BeforeIncrement, ReqCount::AfterIncrement] {
            at_end(from, on, count);
        }
        // The model's own table names the same rule; the terminal state needs no rows.
        if from != X {
            let row = LRSM.iter().find(|r| r.on == on && r.from.contains(&from));
            assert_eq!(row.map(|r| r.rule), Some(rule), "{from:?} on {on:?}");
        }
    }
}

/// The events of a rule, in all states in which it is not the rule.
pub fn elsewhere(rule: &'static str) {
    let events: Vec<Trigger> = Trigger::ALL.into_iter().filter(|&t| rows(rule).iter().any(|r| r.1 == t)).collect();
    for from in Local::ALL {
        for &on in &events {
            if outcome(from, on).3 != Some(rule) {
                at_machine(from, on);
                at_end(from, on, ReqCount::BeforeIncrement);
            }
        }
    }
}

#[test]
fn every_pair_of_the_table() {
    for from in Local::ALL {
        for on in Trigger::ALL {
            at_machine(from, on);
            at_end(from, on, ReqCount::BeforeIncrement);
        }
    }
}
