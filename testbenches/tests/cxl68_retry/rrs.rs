//! CXL68-RRS: the remote retry state machine.

use crate::cxl68_retry::bench::{Bench, link};
use crate::cxl68_retry::mutants::killed;
use crate::cxl68_retry::solo::{Solo, as_ack, bad, framed, name, req};
use crate::cxl68_retry::wrong_end::RetryFault;
use scalepool::link::cxl68::retry::{Remote, RemoteTrigger};

/// An end with some flits that nobody has acknowledged.
fn with_flits(count: u16) -> Solo {
    let mut solo = Solo::up(link());
    for tag in 0..count {
        solo.read(2 * tag);
        solo.sends();
    }
    assert_eq!(solo.end.buffer().unacknowledged(), count);
    solo
}

#[test]
fn cxl68_rrs_01_p() {
    let due = Remote::LlrAck { num_retry: 3, eseq: 7 };
    assert_eq!(Remote::Normal.step(RemoteTrigger::Req { num_retry: 3, eseq: 7 }), due);
    let mut solo = with_flits(6);
    for back in 0..=6 {
        let eseq = solo.end.buffer().wr_ptr() - back;
        solo.feed_all(&framed(5, req(eseq, 3)));
        assert_eq!(solo.ack_due(), Some((3, eseq)));
        assert_eq!(solo.end.buffer().rd_ptr(), eseq, "RdPtr = Eseq");
        let ack = as_ack(&solo.sends_all(6)[5]);
        assert_eq!((ack.num_retry, ack.eseq), (3, eseq), "the Ack repeats what the Req asked for");
        solo.sends_all(back.into());
        assert!(!solo.end.buffer().replaying());
    }
    assert_eq!((solo.events(), solo.seen()), (vec![], vec![]));
}

#[test]
fn cxl68_rrs_01_n() {
    let mut solo = with_flits(6);
    let wr = solo.end.buffer().wr_ptr();
    for eseq in [wr - 7, wr + 1, 127, 128, 255] {
        solo.feed_all(&framed(5, req(eseq, 0)));
        assert_eq!(solo.events(), ["CXL68-RRS-01"], "Eseq {eseq} is not in the buffer");
        assert_eq!(solo.ack_due(), None);
        assert_eq!(solo.sends_names(3), [""; 0]);
        assert_eq!(solo.end.halted(), None);
    }
}

#[test]
fn cxl68_rrs_02_p() {
    let due = Remote::LlrAck { num_retry: 0, eseq: 0 };
    assert_eq!(due.step(RemoteTrigger::AckSent), Remote::Normal);
    assert_eq!(Remote::Normal.step(RemoteTrigger::AckSent), Remote::Normal);
    let mut solo = with_flits(3);
    solo.feed_all(&framed(5, req(solo.end.buffer().wr_ptr() - 3, 0)));
    for _ in 0..5 {
        assert!(solo.ack_due().is_some());
        assert_eq!(solo.sends_names(1), ["RETRY.Frame"]);
    }
    assert!(solo.ack_due().is_some(), "until the Ack has left");
    assert_eq!(solo.sends_names(1), ["RETRY.Ack"]);
    assert_eq!(solo.ack_due(), None);
    assert_eq!(solo.sends_names(4), ["flit"; 3], "then the replay");
    assert_eq!(solo.seen(), [""; 0]);
}

/// A Req that comes while the Ack of an older one is leaving gets an Ack of its own.
#[test]
fn cxl68_rrs_02_p2() {
    let mut solo = with_flits(3);
    let eseq = solo.end.buffer().wr_ptr() - 3;
    solo.feed_all(&framed(5, req(eseq, 0)));
    solo.sends_all(2);
    solo.feed_all(&framed(5, req(eseq, 1)));
    let units = solo.sends_all(4 + 6 + 3);
    assert_eq!(as_ack(&units[3]).num_retry, 0);
    assert_eq!(as_ack(&units[9]).num_retry, 1);
    assert!(units[10..].iter().all(|u| name(u) == "flit"));
    assert_eq!((solo.ack_due(), solo.events(), solo.seen()), (None, vec![], vec![]));
}

#[test]
fn cxl68_rrs_02_n() {
    assert!(killed(RetryFault::DataBeforeAck).names("CXL68-RRS-02"));
}

#[test]
fn cxl68_rrs_03_p() {
    let due = Remote::LlrAck { num_retry: 0, eseq: 0 };
    assert_eq!(due.step(RemoteTrigger::PhyDown), Remote::Normal);
    for sent in 0..6 {
        let mut solo = with_flits(3);
        solo.feed_all(&framed(5, req(solo.end.buffer().wr_ptr() - 3, 0)));
        solo.sends_all(sent);
        solo.phy_down();
        assert_eq!(solo.ack_due(), None);
        solo.end.phy_up();
        let names = solo.sends_names(20);
        assert!(!names.contains(&"RETRY.Ack"), "training drops the pending Ack");
        assert_eq!(
            names[..6],
            ["RETRY.Frame", "RETRY.Frame", "RETRY.Frame", "RETRY.Frame", "RETRY.Frame", "RETRY.Req"]
        );
        assert_eq!(solo.seen(), [""; 0]);
    }
}

/// RdPtr = Eseq stays so when training comes between, also where a data run was finished after the Req.
#[test]
fn cxl68_rrs_03_p2() {
    let mut runs = 0;
    for offset in 0..60 {
        let mut solo = Solo::up(link());
        (0..16).for_each(|n| solo.write(n));
        solo.sends_all(offset);
        let eseq = solo.end.buffer().wr_ptr();
        solo.feed_all(&framed(5, req(eseq, 0)));
        solo.sends();
        runs += u32::from(solo.end.buffer().wr_ptr() != eseq);
        solo.phy_down();
        solo.end.phy_up();
        assert_eq!(solo.end.buffer().rd_ptr(), eseq);
        solo.sends_all(40);
        assert_eq!(solo.seen(), [""; 0]);
    }
    assert!(runs > 3, "{runs} runs were under way");
}

#[test]
fn cxl68_rrs_03_n() {
    assert!(killed(RetryFault::AckAfterRetrain).names("CXL68-RRS-03"));
    // At the peer the late Ack is one that nobody asked for (LLR-15), unless it waits for one itself.
    let mut solo = Solo::up(link());
    solo.feed_all(&framed(5, crate::cxl68_retry::solo::ack(0, 0, false)));
    assert_eq!(solo.events(), ["CXL68-LLR-15"]);
}

#[test]
fn cxl68_rrs_04_p() {
    for lost in 0..=6u8 {
        let mut solo = with_flits(6);
        solo.feed_all(&framed(5, req(solo.end.buffer().wr_ptr() - lost, 0)));
        assert_eq!(as_ack(&solo.sends_all(6)[5]).empty, lost == 0);
        assert_eq!(solo.seen(), [""; 0]);
    }
    // Nothing lost: a bad RETRY flit, and the Ack that clears both counters.
    let mut solo = Solo::up(link());
    solo.feed(bad());
    solo.sends_all(6);
    solo.feed_all(&framed(5, crate::cxl68_retry::solo::ack(solo.end.eseq(), 0, true)));
    assert_eq!((solo.end.local().num_retry, solo.end.local().num_phy_reinit), (0, 0));
}

#[test]
fn cxl68_rrs_04_n() {
    let findings = killed(RetryFault::EmptyWithData);
    assert!(findings.names("CXL68-RRS-04"));
    assert!(findings.scoreboard.is_empty(), "a bit of the Ack loses nothing");
    // A peer that never says Empty reads the rule otherwise: the counters stay, nothing else, no event.
    let mut solo = Solo::up(link());
    solo.feed(bad());
    solo.sends_all(6);
    solo.feed_all(&framed(5, crate::cxl68_retry::solo::ack(solo.end.eseq(), 0, false)));
    assert_eq!(solo.end.local().num_retry, 1);
    assert_eq!((solo.events(), solo.end.halted()), (vec![], None));
    let mut bench = Bench::new(link(), link(), 4);
    bench.run(2000);
    bench.rest(5000);
    bench.assert_clean("clean link");
}
