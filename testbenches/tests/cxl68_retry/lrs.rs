//! CXL68-LRS: the local retry state machine, row by row.

use crate::cxl68_retry::bench::{Bench, link};
use crate::cxl68_retry::mutants::killed;
use crate::cxl68_retry::sheet::{elsewhere, obeys};
use crate::cxl68_retry::solo::{Solo, ack, as_req, bad, framed, name};
use crate::cxl68_retry::wrong_end::RetryFault;
use scalepool::link::cxl68::EndConfig;
use scalepool::link::cxl68::retry::Local;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, ReqCount};

#[test]
fn cxl68_lrs_01_p() {
    obeys("CXL68-LRS-01");
}

#[test]
fn cxl68_lrs_01_n() {
    elsewhere("CXL68-LRS-01");
}

#[test]
fn cxl68_lrs_02_p() {
    obeys("CXL68-LRS-02");
}

#[test]
fn cxl68_lrs_02_n() {
    elsewhere("CXL68-LRS-02");
    killed(RetryFault::RetryFlitCounted);
}

#[test]
fn cxl68_lrs_03_p() {
    obeys("CXL68-LRS-03");
}

#[test]
fn cxl68_lrs_03_n() {
    elsewhere("CXL68-LRS-03");
    killed(RetryFault::ReqMovesLocal);
}

#[test]
fn cxl68_lrs_04_p() {
    obeys("CXL68-LRS-04");
}

#[test]
fn cxl68_lrs_04_n() {
    elsewhere("CXL68-LRS-04");
    killed(RetryFault::BadFlitDelivered);
}

#[test]
fn cxl68_lrs_05_p() {
    obeys("CXL68-LRS-05");
}

#[test]
fn cxl68_lrs_05_n() {
    elsewhere("CXL68-LRS-05");
}

#[test]
fn cxl68_lrs_08_p() {
    obeys("CXL68-LRS-08");
}

#[test]
fn cxl68_lrs_08_n() {
    elsewhere("CXL68-LRS-08");
    killed(RetryFault::DeliversInLlrReq);
}

#[test]
fn cxl68_lrs_10_p() {
    obeys("CXL68-LRS-10");
}

#[test]
fn cxl68_lrs_10_n() {
    elsewhere("CXL68-LRS-10");
}

#[test]
fn cxl68_lrs_11_p() {
    obeys("CXL68-LRS-11");
}

#[test]
fn cxl68_lrs_11_n() {
    elsewhere("CXL68-LRS-11");
    killed(RetryFault::ReinitKeepsCount);
}

#[test]
fn cxl68_lrs_12_p() {
    obeys("CXL68-LRS-12");
}

#[test]
fn cxl68_lrs_12_n() {
    elsewhere("CXL68-LRS-12");
}

#[test]
fn cxl68_lrs_13_p() {
    obeys("CXL68-LRS-13");
}

#[test]
fn cxl68_lrs_13_n() {
    elsewhere("CXL68-LRS-13");
    killed(RetryFault::StaleAckAccepted);
}

#[test]
fn cxl68_lrs_15_p() {
    obeys("CXL68-LRS-15");
}

#[test]
fn cxl68_lrs_15_n() {
    elsewhere("CXL68-LRS-15");
    killed(RetryFault::DeliversInLocalIdle);
}

#[test]
fn cxl68_lrs_16_p() {
    obeys("CXL68-LRS-16");
}

#[test]
fn cxl68_lrs_16_n() {
    elsewhere("CXL68-LRS-16");
    killed(RetryFault::AbortLeaves);
}

/// Lets an unanswered end run until it gives up: Req sequences sent, trainings asked for.
fn until_abort(link: Cxl68Config, limit_flits: usize) -> (u32, u32, Solo) {
    let mut solo = Solo::up(link);
    solo.feed(bad());
    let (mut reqs, mut trainings) = (0, 0);
    for _ in 0..limit_flits {
        reqs += u32::from(solo.sends().is_some_and(|u| name(&u) == "RETRY.Req"));
        if solo.end.take_retrain_request() {
            trainings += 1;
            solo.phy_down();
            solo.end.phy_up();
        }
        if solo.end.local().state == Local::Abort {
            break;
        }
    }
    (reqs, trainings, solo)
}

#[test]
fn cxl68_lrs_06_p() {
    obeys("CXL68-LRS-06");
    for (max_num_retry, max_num_phy_reinit) in [(10, 10), (1, 1), (3, 2), (31, 31)] {
        let link = Cxl68Config { timeout_flits: 4, max_num_retry, max_num_phy_reinit, ..link() };
        let (reqs, trainings, mut solo) = until_abort(link, 100_000);
        assert_eq!(solo.end.local().state, Local::Abort);
        assert_eq!(trainings, u32::from(max_num_phy_reinit));
        assert_eq!(reqs, u32::from(max_num_retry) * (trainings + 1));
        assert_eq!(solo.end.halted(), Some("CXL68-LRS-06"), "the failure is reported");
        assert_eq!(solo.events(), ["CXL68-LRS-06"]);
        assert_eq!(solo.seen(), [""; 0]);
    }
}

#[test]
fn cxl68_lrs_06_n() {
    elsewhere("CXL68-LRS-06");
    // One below the maximum of either counter leads to training or to another try.
    let link = Cxl68Config { timeout_flits: 4, max_num_retry: 2, max_num_phy_reinit: 3, ..link() };
    let mut solo = Solo::up(link);
    solo.feed(bad());
    for reinits in 1..=3 {
        solo.sends_all(2 * (6 + 4) + 2);
        assert_eq!(solo.end.local().state, Local::PhyReinit);
        assert_eq!(solo.end.local().num_phy_reinit, reinits);
        assert!(solo.end.take_retrain_request());
        assert_eq!(solo.events(), [""; 0]);
        solo.phy_down();
        solo.end.phy_up();
    }
    solo.sends_all(2 * (6 + 4) - 1);
    assert_ne!(solo.end.local().state, Local::Abort, "the last try is not over");
}

#[test]
fn cxl68_lrs_07_p() {
    obeys("CXL68-LRS-07");
}

#[test]
fn cxl68_lrs_07_n() {
    elsewhere("CXL68-LRS-07");
    let link = Cxl68Config { timeout_flits: 4, max_num_retry: 3, ..link() };
    let mut solo = Solo::up(link);
    solo.feed(bad());
    // One below the maximum: another Req, no training.
    let names = solo.sends_names(2 * (6 + 4) + 6);
    assert_eq!(names.iter().filter(|&&n| n == "RETRY.Req").count(), 3);
    assert!(!solo.end.take_retrain_request());
    assert_eq!(solo.end.local().state, Local::LocalIdle);
    // A Req beyond the maximum is seen on the wire: the monitor knows a maximum of 3, the end goes on to 4.
    let mut solo = Solo::up(Cxl68Config { max_num_retry: 4, ..link });
    solo.monitor = Solo::up(link).monitor;
    solo.feed(bad());
    solo.sends_all(3 * (6 + 4) + 6);
    assert!(solo.seen().contains(&"CXL68-LRS-07"));
}

#[test]
fn cxl68_lrs_09_p() {
    obeys("CXL68-LRS-09");
}

#[test]
fn cxl68_lrs_09_n() {
    elsewhere("CXL68-LRS-09");
    killed(RetryFault::NoTimeout);
}

#[test]
fn cxl68_lrs_14_p() {
    obeys("CXL68-LRS-14");
    // Time-out and a bad flit in the same flit clock: the time-out wins.
    let mut solo = Solo::in_state(Local::LocalIdle, Cxl68Config { timeout_flits: 8, ..link() });
    solo.sends_all(8);
    solo.feed(bad());
    assert_eq!(solo.end.local().state, Local::LocalIdle);
    solo.sends_all(1);
    assert_eq!(solo.end.local().state, Local::LlrReq);
    assert_eq!(solo.end.local().timeout_flits, 0);
    // A lost Ack: the second Req has the next NUM_RETRY, its Ack ends it.
    let eseq = solo.end.eseq();
    let units = solo.sends_all(5);
    assert_eq!(as_req(&units[4]).num_retry, 1);
    solo.feed_all(&framed(5, ack(eseq, 0, false)));
    assert_eq!(solo.end.local().state, Local::LocalIdle, "the Ack of the first Req comes too late");
    solo.feed_all(&framed(5, ack(eseq, 1, false)));
    assert_eq!(solo.end.local().state, Local::Normal);
    assert_eq!((solo.events(), solo.seen()), (vec![], vec![]));
}

#[test]
fn cxl68_lrs_14_n() {
    elsewhere("CXL68-LRS-14");
    killed(RetryFault::NoTimeout);
}

#[test]
fn cxl68_lrs_17_p() {
    for (count, first) in [(ReqCount::BeforeIncrement, 0), (ReqCount::AfterIncrement, 1)] {
        let mut solo = Solo::up(Cxl68Config { req_count: count, timeout_flits: 8, ..link() });
        solo.feed(bad());
        for n in 0..5 {
            let units = solo.sends_all(6 + 8);
            assert_eq!(as_req(&units[5]).num_retry, first + n, "{count:?}");
            assert_eq!(solo.end.local().num_retry, n + 1);
        }
        assert_eq!(solo.seen(), [""; 0]);
    }
    // Ends with different readings understand each other: each echo is compared with what was sent.
    let other = Cxl68Config { req_count: ReqCount::AfterIncrement, ..link() };
    for (host, device) in [(link(), other), (other, link()), (other, other)] {
        let mut bench = Bench::new(host, device, 17);
        for dir in Dir::ALL {
            bench.wire(dir, Vec::new(), 5e-5, 17);
        }
        bench.run(20_000);
        bench.rest(20_000);
        bench.assert_clean("different readings of NUM_RETRY");
    }
}

#[test]
fn cxl68_lrs_17_n() {
    for count in [ReqCount::BeforeIncrement, ReqCount::AfterIncrement] {
        let other = match count {
            ReqCount::BeforeIncrement => ReqCount::AfterIncrement,
            ReqCount::AfterIncrement => ReqCount::BeforeIncrement,
        };
        let mut solo = Solo::up(Cxl68Config { req_count: count, ..link() });
        solo.feed(bad());
        let sent = as_req(&solo.sends_all(6)[5]).num_retry;
        // An echo of one more is not the awaited one (LRS-13).
        solo.feed_all(&framed(5, ack(solo.end.eseq(), sent + 1, false)));
        assert_eq!(solo.end.local().state, Local::LocalIdle);
        assert_eq!(solo.events(), [""; 0]);
        // On the wire the other reading is an event and no more.
        let mut solo = Solo::up(Cxl68Config { req_count: other, ..link() });
        solo.monitor = Solo::up(Cxl68Config { req_count: count, ..link() }).monitor;
        solo.feed(bad());
        solo.sends_all(6);
        assert_eq!(solo.seen(), ["CXL68-LRS-17"]);
        assert_eq!(solo.end.halted(), None);
    }
}

#[test]
fn cxl68_lrs_18_p() {
    let default = Cxl68Config::default();
    assert_eq!((default.timeout_flits, default.max_num_retry, default.max_num_phy_reinit), (4096, 10, 10));
    for timeout_flits in [1, 8, 256, 4096] {
        // Flits of any kind count: RETRY.Idle without traffic, protocol flits with it.
        for traffic in [false, true] {
            let mut solo = Solo::in_state(Local::LocalIdle, Cxl68Config { timeout_flits, ..link() });
            if traffic {
                (0..12).for_each(|tag| solo.read(tag));
            }
            let names = solo.sends_names(timeout_flits as usize);
            assert_eq!(names.len(), timeout_flits as usize);
            assert!(!names.contains(&"RETRY.Frame"), "below the threshold nothing is asked again");
            assert_eq!(names.contains(&"flit"), traffic);
            assert_eq!(solo.end.local().state, Local::LocalIdle);
            assert_eq!(solo.sends_names(1), ["RETRY.Frame"], "at the threshold the next Req begins");
            assert_eq!(solo.seen(), [""; 0]);
        }
    }
    for limit in [1, 10, 31] {
        let link = Cxl68Config { max_num_retry: limit, max_num_phy_reinit: limit, ..link() };
        assert!(link.validate().is_ok());
    }
}

#[test]
fn cxl68_lrs_18_n() {
    let refused = |link: Cxl68Config| {
        let error = link.validate().expect_err("out of range");
        assert_eq!(error.rule, "CXL68-LRS-18");
        assert!(scalepool::link::cxl68::Cxl68End::new(EndConfig::mem(Dir::Down, link, 8)).is_err());
        error.name
    };
    for wrong in [0, 32, 255] {
        assert_eq!(refused(Cxl68Config { max_num_retry: wrong, ..link() }), "max_num_retry");
        assert_eq!(refused(Cxl68Config { max_num_phy_reinit: wrong, ..link() }), "max_num_phy_reinit");
    }
    assert_eq!(refused(Cxl68Config { timeout_flits: 0, ..link() }), "timeout_flits");
    // A Req before the threshold is seen on the wire.
    let mut solo = Solo::up(Cxl68Config { timeout_flits: 8, ..link() });
    solo.monitor = Solo::up(Cxl68Config { timeout_flits: 64, ..link() }).monitor;
    solo.feed(bad());
    solo.sends_all(2 * (6 + 8));
    assert!(solo.seen().contains(&"CXL68-LRS-18"));
}
