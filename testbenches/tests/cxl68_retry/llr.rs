//! CXL68-LLR: retry buffer, acknowledgements, framed sequences, order of what is sent. LLR-06 is a rule of the codec.

use crate::cxl68_retry::bench::{Bench, link};
use crate::cxl68_retry::mutants::killed;
use crate::cxl68_retry::solo::{Solo, ack, as_ack, as_req, bad, control, framed, llcrd, name, protocol, req};
use crate::cxl68_retry::wrong_end::RetryFault;
use scalepool::link::cxl68::LinkEvent;
use scalepool::link::cxl68::retry::{Local, RetryBuffer, Stored};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::control::Control;
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::Wire;

const NONE: [&str; 0] = [];

fn ak_of(unit: &Cxl68Unit) -> bool {
    name(unit) == "flit" && FlitHeader::from_bits(unit.slot(0) & 0xffff_ffff).ak
}

fn full_ack_of(unit: &Cxl68Unit) -> u8 {
    match Control::from_slot(unit.slot(0)) {
        Control::LlcrdAcknowledge(llcrd) => llcrd.full_ack(),
        other => panic!("{} is no LLCRD", other.name()),
    }
}

/// Receives n flits without acknowledgements, so NumAck is n + 1 behind [`Solo::up`].
fn to_acknowledge(solo: &mut Solo, count: usize) {
    for _ in 0..count {
        solo.feed(llcrd(0, [0; 3]));
    }
}

#[test]
fn cxl68_llr_01_p() {
    let mut solo = Solo::up(link());
    solo.read(1);
    solo.sends();
    let (eseq, num_ack) = (solo.end.eseq(), solo.end.num_ack());
    for _ in 0..1000 {
        solo.feed(control("RETRY.Idle"));
    }
    assert_eq!((solo.end.eseq(), solo.end.num_ack()), (eseq, num_ack), "Idle has no number");
    let (wr, free) = (solo.end.buffer().wr_ptr(), solo.end.buffer().num_free());
    solo.feed_all(&framed(5, req(wr, 0)));
    solo.feed(bad());
    let names = solo.sends_names(1000);
    assert!(names.contains(&"RETRY.Ack") && names.contains(&"RETRY.Req") && names.contains(&"RETRY.Idle"));
    assert_eq!((solo.end.buffer().wr_ptr(), solo.end.buffer().num_free()), (wr, free), "RETRY flits are not stored");
    assert_eq!(solo.seen(), NONE);
}

#[test]
fn cxl68_llr_01_n() {
    killed(RetryFault::IdleStored);
}

#[test]
fn cxl68_llr_02_p() {
    let mut solo = Solo::up(link());
    let eseq = solo.end.eseq();
    let mut trace = Vec::new();
    let flits = [llcrd(0, [0; 3]), protocol(false), control("RETRY.Idle"), bad(), llcrd(0, [0; 3]), protocol(false)];
    for unit in flits {
        solo.feed(unit);
        trace.push(solo.end.eseq() - eseq);
    }
    assert_eq!(trace, [1, 2, 2, 2, 2, 2], "frozen from the bad flit on");
    assert_eq!(as_req(&solo.sends_all(6)[5]).eseq, eseq + 2);
    solo.feed(protocol(false));
    solo.feed_all(&framed(5, ack(eseq + 2, 0, false)));
    solo.feed(protocol(false));
    assert_eq!(solo.end.eseq(), eseq + 3, "counts again behind the Ack");
    // Modulo the peer's buffer of 128.
    for _ in 0..128 {
        solo.feed(llcrd(0, [0; 3]));
        solo.sends();
    }
    assert_eq!(solo.end.eseq(), eseq + 3);
    assert_eq!((solo.events(), solo.seen()), (vec![], vec![]));
}

/// A unit that is dropped for its ID may have held a number: what comes before training begins must not take it.
#[test]
fn cxl68_llr_02_p2() {
    let mut solo = Solo::up(link());
    let (eseq, num_ack) = (solo.end.eseq(), solo.end.num_ack());
    let mut noise = llcrd(0, [0; 3]);
    (noise.0[0], noise.0[1]) = (0, 0);
    solo.feed(noise);
    to_acknowledge(&mut solo, 3);
    assert_eq!((solo.end.eseq(), solo.end.num_ack()), (eseq, num_ack));
    assert!(solo.end.take_retrain_request());
    solo.phy_down();
    solo.end.phy_up();
    assert_eq!(as_req(&solo.sends_all(6)[5]).eseq, eseq);
    assert_eq!(solo.seen(), NONE);
}

/// Units without a usable ID that were on the wire when training began ask for no other one: what they held comes again anyway.
#[test]
fn cxl68_llr_02_p3() {
    let mut solo = Solo::up(link());
    let eseq = solo.end.eseq();
    let mut noise = llcrd(0, [0; 3]);
    (noise.0[0], noise.0[1]) = (0, 0);
    solo.feed(noise);
    solo.feed(noise);
    assert!(solo.end.take_retrain_request());
    solo.phy_down();
    solo.feed(noise);
    solo.end.phy_up();
    assert!(!solo.end.take_retrain_request(), "one training");
    assert_eq!((solo.end.stats().trainings, solo.end.stats().pid_errors), (1, 3));
    assert_eq!(as_req(&solo.sends_all(6)[5]).eseq, eseq);
    // The next one behind it does, unless the peer has begun to train.
    solo.feed(noise);
    solo.phy_down();
    solo.end.phy_up();
    assert!(!solo.end.take_retrain_request(), "it has trained");
    solo.feed(noise);
    assert!(solo.end.take_retrain_request());
    assert_eq!(solo.end.stats().trainings, 3);
}

#[test]
fn cxl68_llr_02_n() {
    assert!(killed(RetryFault::CountedWhileFrozen).names("CXL68-LLR-02"));
}

#[test]
fn cxl68_llr_03_p() {
    let mut solo = Solo::up(link());
    to_acknowledge(&mut solo, 9);
    assert_eq!(solo.end.num_ack(), 10);
    solo.read(1);
    let first = solo.sends().expect("a protocol flit");
    assert!(ak_of(&first));
    assert_eq!(solo.end.num_ack(), 2, "a new flit with Ak takes 8 off");
    // Its replay takes nothing off, even with more than 8 waiting.
    solo.feed_all(&framed(5, req(solo.end.buffer().wr_ptr() - 1, 0)));
    to_acknowledge(&mut solo, 8);
    let replayed = solo.sends_all(7)[6];
    assert_eq!(replayed, first);
    assert_eq!(solo.end.num_ack(), 10);
    // An LLCRD takes off what it says.
    let later = solo.sends_all(usize::from(link().llcrd_flush_flits) + 2);
    assert_eq!(later.iter().map(full_ack_of).collect::<Vec<_>>(), [10]);
    assert_eq!(solo.end.num_ack(), 0);
    assert_eq!(solo.seen(), NONE);
}

#[test]
fn cxl68_llr_03_n() {
    killed(RetryFault::ReplayedAkDecrements);
}

fn stored(n: u8) -> Stored {
    Stored { unit: Cxl68Unit([n; 68]), rollover_after: 0, acks: 0 }
}

#[test]
fn cxl68_llr_04_p() {
    for entries in [22u16, 128, 255] {
        let mut buffer = RetryBuffer::new(entries);
        for n in 0..3 * entries {
            let wr = buffer.wr_ptr();
            assert_eq!(u16::from(wr), n % entries);
            assert!(!buffer.replaying(), "equal pointers: the next flit is new");
            buffer.store(stored(n as u8));
            assert_eq!(buffer.rd_ptr(), buffer.wr_ptr());
            // Go back over up to nine flits, through the wrap as well.
            let back = (n % 10).min(buffer.unacknowledged());
            let from = buffer.after(buffer.wr_ptr(), entries - back);
            assert!(buffer.holds(from));
            buffer.rewind(from);
            for k in (0..back).rev() {
                assert!(buffer.replaying());
                assert_eq!(buffer.replay().map(|f| f.unit.0[0]), Some((n - k) as u8), "in order of their numbers");
            }
            assert!(buffer.replay().is_none());
            if n >= 15 {
                assert!(buffer.acknowledge(1));
            }
        }
    }
}

#[test]
fn cxl68_llr_04_n() {
    assert!(killed(RetryFault::ReplayOffByOne).names("CXL68-LLR-14"));
}

#[test]
fn cxl68_llr_05_p() {
    let mut solo = Solo::up(link());
    let entries = link().llrb_entries;
    let mut free = entries;
    for tag in 0..20 {
        solo.read(tag);
        solo.sends();
        free -= 1;
        assert_eq!(solo.end.buffer().num_free(), free);
    }
    solo.feed(protocol(true));
    assert_eq!(solo.end.buffer().num_free(), free + 8);
    solo.feed(llcrd(12, [0; 3]));
    assert_eq!(solo.end.buffer().num_free(), entries);
    assert_eq!((solo.events(), solo.seen()), (vec![], vec![]));
}

#[test]
fn cxl68_llr_05_n() {
    for sent in [0u8, 1, 7] {
        let mut solo = Solo::up(link());
        for tag in 0..sent {
            solo.read(tag.into());
            solo.sends();
        }
        let free = solo.end.buffer().num_free();
        solo.feed(llcrd(sent + 1, [0; 3]));
        assert_eq!(solo.events(), ["CXL68-LLR-05"]);
        solo.feed(protocol(true));
        assert_eq!(solo.events().len(), 1, "an Ak of 8 for {sent} flits");
        assert_eq!(solo.end.buffer().num_free(), free, "nothing is freed");
        assert_eq!(solo.end.halted(), None);
    }
    // Seen at the sender: an LLCRD for more than has come.
    let mut solo = Solo::up(link());
    solo.monitor.sent(&llcrd(2, [0; 3]), solo.now);
    assert_eq!(solo.seen(), ["CXL68-LLR-05"]);
}

#[test]
fn cxl68_llr_07_p() {
    for entries in [22, 128, 255] {
        let config = Cxl68Config { llrb_entries: entries, llcrd_ack_threshold: 255, llcrd_flush_flits: 1000, ..link() };
        let mut solo = Solo::up(Cxl68Config { llcrd_flush_flits: 16, ..config });
        // The peer acknowledges nothing but gives credits.
        for tag in 0..600 {
            solo.read(tag);
        }
        for _ in 0..10 {
            solo.feed(llcrd(0, [0, 15, 0]));
            solo.sends_all(60);
        }
        assert_eq!(solo.end.buffer().num_free(), 1, "of {entries}: with one entry left nothing goes");
        assert_eq!(solo.sends_all(50).len(), 0);
        assert_eq!(solo.seen(), NONE);
    }
    // Two entries left and nothing to acknowledge: silence; something to acknowledge: one flit that does so.
    let mut solo = Solo::up(Cxl68Config { llrb_entries: 22, ..link() });
    to_acknowledge(&mut solo, 7);
    for tag in 0..100 {
        solo.read(tag);
    }
    solo.sends_all(100);
    assert_eq!((solo.end.buffer().num_free(), solo.end.num_ack()), (2, 0));
    solo.feed(llcrd(0, [0; 3]));
    let last = solo.sends_all(20);
    assert_eq!(last.iter().map(full_ack_of).collect::<Vec<_>>(), [1]);
    assert_eq!(solo.end.buffer().num_free(), 1);
    assert_eq!(solo.seen(), NONE);
}

#[test]
fn cxl68_llr_07_n() {
    assert!(killed(RetryFault::LastEntryUsed).names("CXL68-LLR-07"));
}

#[test]
fn cxl68_llr_08_p() {
    // A write of 64 B in a flit of its own leaves one chunk behind; its data needs no all-data flit. Two writes in a row
    // and byte enables do, so every fill is tried with many of them.
    for free in 2..12u16 {
        let mut solo = Solo::up(Cxl68Config { llrb_entries: 22, ..link() });
        for tag in 0..22 - free {
            solo.read(tag);
            solo.sends();
        }
        assert_eq!(solo.end.buffer().num_free(), free);
        (0..8).for_each(|n| solo.write(n));
        let units = solo.sends_all(40);
        let llcrds = units.iter().filter(|u| name(u) == "LLCRD.Acknowledge").count() as u16;
        let left = solo.end.buffer().num_free() + llcrds;
        assert!(left >= 2, "an all-data run ends before two entries are left");
        assert_eq!(solo.seen(), NONE);
    }
}

#[test]
fn cxl68_llr_08_n() {
    // An end with 128 entries, of which the monitor knows 22: it keeps none for the end of a run.
    let small = Cxl68Config { llrb_entries: 22, ..link() };
    let broken = |free: &u16| {
        let mut solo = Solo::up(Cxl68Config { llrb_entries: 128, ..link() });
        solo.monitor = Solo::up(small).monitor;
        for tag in 0..22 - free {
            solo.read(tag);
            solo.sends();
        }
        assert_eq!(solo.seen(), NONE);
        (0..8).for_each(|n| solo.write(n));
        solo.sends_all(5);
        solo.seen().contains(&"CXL68-LLR-08")
    };
    let found: Vec<u16> = (3..12).filter(broken).collect();
    assert!(found.contains(&4) && !found.contains(&11), "{found:?} entries are free when the run begins");
}

#[test]
fn cxl68_llr_09_p() {
    for (count, ak) in [(6, false), (7, true), (8, true)] {
        let mut solo = Solo::up(link());
        to_acknowledge(&mut solo, count);
        solo.read(1);
        let unit = solo.sends().expect("a protocol flit");
        assert_eq!(ak_of(&unit), ak, "{} flits to acknowledge", count + 1);
        assert_eq!(usize::from(solo.end.num_ack()), if ak { count - 7 } else { count + 1 });
        assert_eq!(solo.seen(), NONE);
    }
}

#[test]
fn cxl68_llr_09_n() {
    assert!(killed(RetryFault::AkTooEarly).names("CXL68-LLR-09"));
}

#[test]
fn cxl68_llr_10_p() {
    // By the timer.
    for flush in [1u16, 8, 32, 1023] {
        let mut solo = Solo::up(Cxl68Config { llcrd_flush_flits: flush, llcrd_ack_threshold: 255, ..link() });
        to_acknowledge(&mut solo, 2);
        let silent = (0..2000).take_while(|_| solo.sends().is_none()).count();
        assert_eq!(silent + 1, usize::from(flush), "flit clocks until an LLCRD goes");
        assert_eq!(solo.end.num_ack(), 0);
        assert_eq!(solo.seen(), NONE);
    }
    // By the threshold, before protocol flits.
    for threshold in [2u8, 16, 40] {
        let mut solo = Solo::up(Cxl68Config { llcrd_ack_threshold: threshold, llcrd_flush_flits: 1023, ..link() });
        let before = solo.end.num_ack() as u8;
        to_acknowledge(&mut solo, usize::from(threshold - before));
        solo.read(1);
        let unit = solo.sends().expect("an LLCRD");
        assert_eq!(full_ack_of(&unit), threshold);
        assert_eq!(solo.seen(), NONE);
    }
}

/// Flits that carry neither acknowledgements nor credits do not hold the timer back.
#[test]
fn cxl68_llr_10_p2() {
    let mut solo = Solo::up(link());
    to_acknowledge(&mut solo, 4);
    for tag in 0..200 {
        solo.read(tag);
    }
    let units = solo.sends_all(60);
    let at = units.iter().position(|u| name(u) == "LLCRD.Acknowledge").expect("an LLCRD among protocol flits");
    assert_eq!(at + 1, usize::from(link().llcrd_flush_flits));
    assert_eq!(solo.seen(), NONE);
}

#[test]
fn cxl68_llr_10_n() {
    let findings = killed(RetryFault::FlushTimerOff);
    assert!(findings.names("CXL68-LLR-10"));
    assert!(!findings.at_rest.is_empty(), "and the peer stalls");
}

#[test]
fn cxl68_llr_11_p() {
    let mut bench = Bench::new(link(), link(), 21);
    bench.pair.wires.keep_log();
    for dir in Dir::ALL {
        bench.wire(dir, Vec::new(), 5e-5, 21);
    }
    bench.run(20_000);
    bench.rest(20_000);
    bench.assert_clean("noisy link");
    // Without the monitor: every replayed flit is one that has been sent before, bit by bit.
    let sent: Vec<Cxl68Unit> =
        bench.pair.wires.take_log().iter().filter(|s| s.dir == Dir::Up).map(|s| s.unit).collect();
    let stats = *bench.pair.device.stats();
    assert!(stats.replayed > 100);
    let data: Vec<&Cxl68Unit> = sent.iter().filter(|u| u.slot(3) != 0).collect();
    let distinct: std::collections::BTreeSet<&Cxl68Unit> = data.iter().copied().collect();
    assert!(data.len() > distinct.len(), "random data comes twice only as a replay");
}

#[test]
fn cxl68_llr_11_n() {
    // A peer that fills in credits anew reads the rule otherwise: events, and the link goes on.
    let findings = killed(RetryFault::ReplayAltered);
    assert!(findings.names("CXL68-LLR-11"));
    assert!(findings.scoreboard.is_empty());
    assert!(findings.monitor.iter().all(|e: &LinkEvent| e.severity == scalepool::link::cxl68::Severity::Protocol));
}

#[test]
fn cxl68_llr_12_p() {
    let mut solo = Solo::up(link());
    solo.feed(bad());
    let five = ["RETRY.Frame"; 5];
    let names = solo.sends_names(6);
    assert_eq!((&names[..5], names[5]), (&five[..], "RETRY.Req"));
    solo.feed_all(&framed(5, req(solo.end.buffer().wr_ptr(), 0)));
    let names = solo.sends_names(6);
    assert_eq!((&names[..5], names[5]), (&five[..], "RETRY.Ack"));
    // Five Frames or more are accepted; where the choice asks for more, as many.
    for needed in [5u8, 6, 9] {
        for frames in needed..needed + 8 {
            let mut solo = Solo::up(Cxl68Config { frames_before_sequence: needed, ..link() });
            solo.feed_all(&framed(frames.into(), req(solo.end.buffer().wr_ptr(), 1)));
            assert!(solo.ack_due().is_some(), "{frames} Frames where {needed} are needed");
            assert_eq!(solo.events(), NONE);
        }
    }
}

#[test]
fn cxl68_llr_12_n() {
    for needed in [5u8, 6, 9] {
        for frames in 0..needed {
            let config = Cxl68Config { frames_before_sequence: needed, timeout_flits: 8, ..link() };
            let mut solo = Solo::up(config);
            solo.feed_all(&framed(frames.into(), req(solo.end.buffer().wr_ptr(), 1)));
            assert_eq!((solo.ack_due(), solo.events()), (None, vec![]), "{frames} Frames: dropped");
            // The same for an Ack: dropped, then the time-out asks again.
            solo.feed(bad());
            solo.sends_all(6);
            let (eseq, echo) = (solo.end.eseq(), solo.end.local().num_retry - 1);
            solo.feed_all(&framed(frames.into(), ack(eseq, echo, false)));
            assert_eq!(solo.end.local().state, Local::LocalIdle);
            let again = solo.sends_all(8 + 6);
            assert_eq!(as_req(&again[13]).num_retry, 1);
        }
    }
    // Frames that are not directly before do not count.
    for between in [control("RETRY.Idle"), llcrd(0, [0; 3]), bad()] {
        let mut solo = Solo::up(link());
        solo.feed_all(&framed(4, control("RETRY.Frame")));
        solo.feed(between);
        solo.feed(req(solo.end.buffer().wr_ptr(), 1));
        assert_eq!(solo.ack_due(), None);
    }
    assert!(killed(RetryFault::FourFrames).names("CXL68-LLR-12"));
}

#[test]
fn cxl68_llr_13_p() {
    let mut bench = Bench::new(link(), link(), 13);
    bench.wire(Dir::Down, Vec::new(), 2e-5, 13);
    bench.run(10_000);
    bench.rest(10_000);
    bench.assert_clean("legal traffic");
}

#[test]
fn cxl68_llr_13_n() {
    for state in Local::ALL {
        let solo = Solo::in_state(state, link());
        let wr = solo.end.buffer().wr_ptr();
        for alone in [control("RETRY.Frame"), req(wr, 0), ack(solo.end.eseq(), 0, false), ack(solo.end.eseq(), 0, true)]
        {
            let mut solo = solo.clone();
            let before = (solo.end.local().registers(), solo.end.remote(), solo.end.eseq(), solo.end.num_ack());
            solo.feed(alone);
            let after = (solo.end.local().registers(), solo.end.remote(), solo.end.eseq(), solo.end.num_ack());
            assert_eq!(after, before, "{} alone in {state:?}", name(&alone));
            assert_eq!(solo.events(), NONE);
        }
    }
    // On the wire a sender of such flits is seen.
    for alone in [vec![req(0, 0)], vec![ack(0, 0, false)], vec![control("RETRY.Frame"), control("RETRY.Idle")]] {
        let mut solo = Solo::up(link());
        alone.iter().for_each(|u| {
            solo.monitor.sent(u, solo.now);
        });
        assert!(solo.seen().contains(&"CXL68-LLR-13"), "{}", name(&alone[0]));
    }
}

#[test]
fn cxl68_llr_14_p() {
    for depth in 0..=12u8 {
        let mut solo = Solo::up(link());
        for tag in 0..6 {
            solo.read(tag);
            solo.write(tag as u8);
        }
        let sent: Vec<Cxl68Unit> = std::iter::from_fn(|| solo.sends()).collect();
        let depth = depth.min(sent.len() as u8);
        solo.feed_all(&framed(5, req(solo.end.buffer().wr_ptr() - depth, 0)));
        solo.read(99);
        let again = solo.sends_all(6 + usize::from(depth) + 1);
        assert_eq!(as_ack(&again[5]).eseq, solo.end.buffer().wr_ptr() - depth - 1, "Eseq of the Req");
        assert_eq!(again[6..6 + usize::from(depth)], sent[sent.len() - usize::from(depth)..], "the rest in order");
        assert!(again[6 + usize::from(depth)] != sent[0], "then a new flit");
        assert_eq!(solo.seen(), NONE);
    }
}

#[test]
fn cxl68_llr_14_n() {
    assert!(killed(RetryFault::ReplayOrderChanged).names("CXL68-LLR-14"));
    // An Ack with another Eseq than the one that was asked for is an event at the receiver.
    let mut solo = Solo::up(link());
    solo.feed(bad());
    solo.sends_all(6);
    solo.feed_all(&framed(5, ack(solo.end.eseq() + 1, 0, false)));
    assert_eq!(solo.events(), ["CXL68-LLR-14"]);
}

#[test]
fn cxl68_llr_15_p() {
    let mut solo = Solo::up(link());
    solo.feed(bad());
    solo.sends_all(6);
    solo.feed_all(&framed(5, ack(solo.end.eseq(), 0, false)));
    assert_eq!(solo.end.local().state, Local::Normal);
    assert_eq!((solo.events(), solo.seen()), (vec![], vec![]));
}

#[test]
fn cxl68_llr_15_n() {
    for empty in [false, true] {
        let mut solo = Solo::up(link());
        let before = (solo.end.local().registers(), solo.end.eseq());
        solo.feed_all(&framed(5, ack(solo.end.eseq(), 0, empty)));
        assert_eq!(solo.events(), ["CXL68-LLR-15"]);
        assert_eq!((solo.end.local().registers(), solo.end.eseq()), before, "LRSM unchanged");
        assert_eq!(solo.end.halted(), None);
        // At the sender.
        let mut solo = Solo::up(link());
        framed(5, ack(3, 0, empty)).iter().for_each(|u| {
            solo.monitor.sent(u, solo.now);
        });
        assert_eq!(solo.seen(), ["CXL68-LLR-15"]);
    }
}

#[test]
fn cxl68_llr_16_p() {
    // Both due, in either order of arrival: Ack, Req, replay.
    for req_first in [true, false] {
        let mut solo = Solo::up(link());
        for tag in 0..3 {
            solo.read(2 * tag);
            solo.sends();
        }
        let asks = framed(5, req(solo.end.buffer().wr_ptr() - 3, 0));
        if req_first {
            solo.feed_all(&asks);
            solo.feed(bad());
        } else {
            solo.feed(bad());
            solo.feed_all(&asks);
        }
        let names = solo.sends_names(15);
        assert_eq!((names[5], names[11]), ("RETRY.Ack", "RETRY.Req"));
        assert_eq!(names[12..], ["flit"; 3]);
        assert_eq!(solo.seen(), NONE);
    }
    // A data run that has begun is finished first, whichever is due, at every place in it.
    let mut runs = 0;
    for offset in 0..60 {
        for asked in [true, false] {
            let mut solo = Solo::up(link());
            (0..16).for_each(|n| solo.write(n));
            solo.sends_all(offset);
            let asks = framed(5, req(solo.end.buffer().wr_ptr(), 0));
            solo.feed_all(if asked { &asks } else { std::slice::from_ref(&asks[0]) });
            if !asked {
                solo.feed(bad());
            }
            let names = solo.sends_names(5 + 6);
            let first = names.iter().position(|&n| n == "RETRY.Frame").expect("a sequence");
            runs += u32::from(first > 0);
            assert!(first <= 4, "a run is at most four flits");
            assert_eq!(names[first + 5], if asked { "RETRY.Ack" } else { "RETRY.Req" });
            solo.sends_all(60);
            assert_eq!(solo.seen(), NONE);
        }
    }
    assert!(runs > 5, "{runs} runs were under way");
}

#[test]
fn cxl68_llr_16_n() {
    assert!(killed(RetryFault::ReqBeforeAck).names("CXL68-LLR-16"));
    // A sequence that cuts a data run: its Frames take the place of data.
    let mut solo = Solo::up(Cxl68Config { mdh: false, ..link() });
    let (mut others, mut found) = (0, false);
    for n in 0..8 {
        solo.write(n);
    }
    while let Some(unit) = solo.sends() {
        let mut cut = solo.monitor.clone();
        framed(5, req(solo.end.eseq(), 0)).iter().for_each(|u| {
            cut.sent(u, solo.now);
        });
        let seen = crate::cxl68_retry::solo::rules(&cut.take_events());
        found |= seen.contains(&"CXL68-LLR-16");
        others += u32::from(name(&unit) == "flit");
    }
    assert!(found, "among {others} places there is one in a run");
}
