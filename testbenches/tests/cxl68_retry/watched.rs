//! A passive end says what an active one says. All tests of this program that feed an end alone are also run against its
//! watcher (`Beside` in the rig); here is what ends a link, and what only a watcher of both directions can say.

use crate::cxl68_retry::solo::{Solo, ack, as_req, bad, control, framed, init, llcrd, protocol, req};
use scalepool::link::cxl68::retry::Local;
use scalepool::link::event::Severity;
use scalepool::link::hook::Direction;
use scalepool::link::protocol::LinkProtocol;
use scalepool::link::watch::{EndWatch, WatchConfig};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::Wire;
use std::collections::VecDeque;

/// What comes, and the rule by which it ends the link.
type Ending = (&'static str, fn() -> Solo, Cxl68Unit);

fn silent() -> Solo {
    Solo::new(Cxl68Config::default())
}

/// Something has been sent; INIT.Param of this end has not.
fn before_init() -> Solo {
    let mut solo = silent();
    solo.sends();
    solo
}

/// INIT.Param has come, that of this end has not left.
fn half_up() -> Solo {
    let mut solo = before_init();
    solo.feed(init(127));
    solo
}

fn up() -> Solo {
    Solo::up(Cxl68Config::default())
}

#[test]
fn what_stops_an_end_stops_its_watcher() {
    let endings: [Ending; 5] = [
        ("CXL68-INI-01", silent, llcrd(0, [0, 9, 0])),
        ("CXL68-INI-01", silent, protocol(false)),
        ("CXL68-INI-05", before_init, protocol(false)),
        ("CXL68-INI-03", half_up, protocol(false)),
        ("CXL68-INI-02", up, init(127)),
    ];
    for (rule, begin, unit) in endings {
        let mut solo = begin();
        assert_eq!((solo.end.halted(), solo.beside.halted()), (None, None), "{rule}");
        solo.feed(unit);
        assert_eq!((solo.end.halted(), solo.beside.halted()), (Some(rule), Some(rule)));
        assert_eq!(solo.events(), [rule]);
        // Nothing that comes later counts.
        solo.feed(init(127));
        assert_eq!((solo.events(), solo.beside.said()), (vec![], vec![]));
    }
}

/// Every rule that an end can notice by what comes to it, one after the other.
#[test]
fn what_an_end_says_its_watcher_says() {
    // More acknowledgements than flits, an Ack that nobody asked for, a Req for what is not kept.
    let mut solo = up();
    solo.feed(llcrd(9, [0; 3]));
    solo.feed_all(&framed(5, ack(0, 0, true)));
    solo.feed_all(&framed(5, req(77, 0)));
    for _ in 0..8 {
        solo.feed(protocol(true));
    }
    let said = solo.events();
    assert_eq!(said[..3], ["CXL68-LLR-05", "CXL68-LLR-15", "CXL68-RRS-01"]);
    assert!(said.contains(&"CXL68-LLR-09"), "{said:?}");
    // A message without credit: the peer of a host has 32 credits for S2M NDR.
    let mut solo = up();
    for _ in 0..40 {
        let header = FlitHeader::default().to_bits().expect("fits");
        let ndr = Class::S2mNdr.def();
        assert_eq!(ndr.name, "cxl68.s2m_ndr");
        // H3 of the up direction has two NDR in slot 0; one is valid here.
        let slot = header | 3 << 5 | 1 << 32;
        solo.feed(Cxl68Unit::from_slots(pid::CACHEMEM, &[slot, 0, 0, 0]));
    }
    assert!(solo.events().contains(&"CXL68-CRD-04"));
    // The Ack of a retry names another flit than the missing one.
    let mut solo = up();
    solo.feed(bad());
    let asked = as_req(&solo.sends_all(6)[5]);
    solo.feed_all(&framed(5, ack(asked.eseq + 3, asked.num_retry, true)));
    assert_eq!(solo.events(), ["CXL68-LLR-14"]);
}

/// One damaged Frame voids the sequence. The watcher says so at the Ack, and not by a rule that an end breaks later.
#[test]
fn a_damaged_frame_voids_the_ack_and_is_said_there() {
    for damaged in 0..5 {
        let mut solo = up();
        solo.feed(bad());
        let asked = as_req(&solo.sends_all(6)[5]);
        solo.beside.said();
        let mut sequence = framed(5, ack(asked.eseq, asked.num_retry, true));
        sequence[damaged].0[40] ^= 1;
        solo.feed_all(&sequence);
        assert_eq!(solo.end.local().state, Local::LocalIdle, "the end goes on waiting");
        let said = solo.beside.said();
        assert_eq!(said, [(Severity::Corrected, "CXL68-CRC-01"), (Severity::Corrected, "CXL68-LLR-12")], "{damaged}");
        assert_eq!(solo.events(), [""; 0]);
    }
}

/// Code of 8 credits of CXL.mem (`cxl-68b` §5.4).
const MEM_8: u8 = 12;
/// Clocks from the input of an end to its retry machine.
const PIPELINE: usize = 60;

/// Legal ends of all sorts, of which the watcher knows nothing: no rule is broken.
#[test]
fn a_watcher_that_knows_nothing_blames_no_legal_end() {
    for link in [
        Cxl68Config { llrb_entries: 64, ..Cxl68Config::default() },
        Cxl68Config { llrb_entries: 22, llcrd_flush_flits: 700, llcrd_ack_threshold: 200, ..Cxl68Config::default() },
        Cxl68Config { llrb_entries: 255, timeout_flits: 300, max_num_retry: 31, ..Cxl68Config::default() },
    ] {
        let mut watch = EndWatch::new(&WatchConfig::new(LinkProtocol::Cxl68, Dir::Down)).expect("a watcher");
        let mut solo = Solo::new(link);
        let mut pipeline = VecDeque::from([None; PIPELINE]);
        let mut script = VecDeque::new();
        let (mut acked, mut broken) = (0, Vec::new());
        for clock in 0..6000u32 {
            let stats = *solo.end.stats();
            let flits = stats.sent_protocol + stats.sent_all_data + stats.sent_llcrd + 1;
            match clock {
                1 => script.push_back(control("RETRY.Idle")),
                200 => script.extend([init(127), llcrd(0, [0, 15, 15])]),
                // A bad flit, whose first Req stays without an answer.
                400 => script.push_back(bad()),
                1000 => {
                    let asked = solo.end.local().num_retry.saturating_sub(1);
                    script.extend(framed(5, ack(solo.end.eseq(), asked, true)));
                }
                _ if clock > 1500 && clock % 40 == 0 => {
                    let more = (flits - acked).min(8);
                    acked += more;
                    script.push_back(llcrd(more as u8, [0, MEM_8, MEM_8]));
                }
                _ => (),
            }
            if clock > 1500 && clock % 7 == 0 {
                solo.read(clock as u16);
            }
            let comes: Option<Cxl68Unit> = script.pop_front();
            if let Some(unit) = comes {
                watch.unit(Direction::Rx, &unit.0, clock.into()).expect("a unit");
            }
            pipeline.push_back(comes);
            if let Some(unit) = pipeline.pop_front().flatten() {
                solo.feed(unit);
            }
            if let Some(unit) = solo.sends() {
                watch.unit(Direction::Tx, &unit.0, clock.into()).expect("a unit");
            }
            broken.extend(watch.take_events().into_iter().filter(|(_, event)| event.severity != Severity::Corrected));
        }
        let first: Vec<String> = broken.iter().take(3).map(|(way, event)| format!("{way:?} {event}")).collect();
        assert!(broken.is_empty(), "{} entries: {first:?}", link.llrb_entries);
        assert!(solo.end.stats().sent_protocol > 100, "{:?}", solo.end.stats());
    }
}
