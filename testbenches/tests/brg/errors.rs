//! Status and poison from CXL to UALink (`bridge` §4.2, §8.1, §8.3).

use super::common::*;
use super::judge::Event;
use scalepool::bridge::status::{RANKS, merged};
use scalepool::bridge::window::WindowClass;
use scalepool::coherence::content::CacheLine;
use scalepool::coherence::message::Msg;
use scalepool::conversion::config::ReferenceConfig;
use scalepool::conversion::message::BridgeMessage;
use scalepool::conversion::model::{BridgeEvent, BridgePoint};
use scalepool::conversion::scoreboard::BridgeScoreboard;
use scalepool::conversion::vectors;
use scalepool_protocols::cxl::cxl256::code::{DrsOpcode, NdrOpcode};
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::unpack::Transfer;

const CLASSES: [WindowClass; 2] = [WindowClass::Mc, WindowClass::Mn];

/// A bridge before memory that ends behind its first line.
fn short(class: WindowClass) -> Bench {
    Bench { end: OUT + 64, ..Bench::of(class) }
}

#[test]
fn brg_rsp_01_p() {
    for lines in 1..=4u8 {
        let mut bench = short(WindowClass::Mn);
        let response = bench.whole(read(BASE + 256, 16 * lines));
        assert_eq!(verdict(&response), (Status::DecodeError, RdWr::Read));
        assert_eq!(beats(&response), vec![[0xff; 64]; lines.into()]);
        assert!(rsp(&response).last && rsp(&response).len == lines - 1);
        assert!(matches!(response.field, ControlField::Response(_)), "it has the long form");
    }
}

/// Good beats of a request that is not OKAY are ones as well: there is one status for all.
#[test]
fn brg_rsp_01_n() {
    let mut bench = short(WindowClass::Mn);
    bench.memory.insert(OUT, CacheLine::of([1; 64]));
    let response = bench.whole(read(BASE, 32));
    assert_eq!((rsp(&response).status, beats(&response)), (Status::DecodeError, vec![[0xff; 64]; 2]));
}

#[test]
fn brg_rsp_02_p() {
    assert_eq!(RANKS.map(|status| status.0), [6, 3, 2, 8, 0]);
    for (n, a) in RANKS.into_iter().enumerate() {
        for (m, b) in RANKS.into_iter().enumerate() {
            assert_eq!(merged(a, b), RANKS[n.min(m)]);
        }
    }
}

/// Of a line without memory and one that is given up the first is told.
#[test]
fn brg_rsp_02_n() {
    let mut bench = short(WindowClass::Mn);
    let entry = bench.ask(read(BASE, 32));
    bench.answer(1);
    let id = scalepool::bridge::outbound::table::ChildId { entry, child: 0 };
    let advances = bench.bridge.child_of(id).expect("a child").advances;
    bench.bridge.time_out(id, advances, &mut bench.out);
    bench.collect();
    assert_eq!(rsp(&bench.responses[0]).status, Status::DecodeError);
}

#[test]
fn brg_err_01_p() {
    for class in CLASSES {
        assert_eq!(rsp(&short(class).whole(read(BASE + 64, 16))).status, Status::DecodeError);
    }
    assert_eq!(rsp(&short(WindowClass::Mc).whole(write_part(BASE + 64, 1, 1))).status, Status::DecodeError);
}

#[test]
fn brg_err_01_n() {
    CLASSES.into_iter().for_each(|class| assert_eq!(rsp(&short(class).whole(read(BASE, 16))).status, Status::OKAY));
}

/// A bridge whose windows allow nobody to do anything but to read.
fn read_only() -> Bench {
    use scalepool::bridge::window::{AccessRights, BridgeWindow, GROUPS};
    let rights = [AccessRights { read: true, ..AccessRights::default() }; GROUPS];
    let all = windows(vec![BridgeWindow { rights, ..window(WindowClass::Mc) }]);
    Bench::new(scalepool::bridge::outbound::OutboundConfig { windows: all, ..config(WindowClass::Mc) })
}

#[test]
fn brg_err_03_p() {
    for request in [write_full(BASE, 1, 1), add(ReqCmd::AtomicR, BASE, 1)] {
        assert_eq!(rsp(&read_only().whole(request)).status, Status::ProtectionViolation);
    }
}

/// Nothing is sent for it, and what is allowed is not refused.
#[test]
fn brg_err_03_n() {
    let mut bench = read_only();
    bench.whole(write_full(BASE, 1, 1));
    assert!(bench.sent.is_empty() && bench.bridge.buffers_free() == 64);
    assert_eq!(rsp(&bench.whole(read(BASE, 16))).status, Status::OKAY);
}

#[test]
fn brg_err_04_p() {
    let mut vendor = read(BASE, 16);
    change(&mut vendor, |req| req.cmd = ReqCmd::VendorRead3);
    let mut operation = add(ReqCmd::AtomicNR, BASE, 1);
    change(&mut operation, |req| req.attr = 13 << 4);
    for request in [vendor, operation, read(BASE + 0xfc, 2)] {
        assert_eq!(rsp(&Bench::of(WindowClass::Mc).whole(request)).status, Status::TargetAbort);
    }
}

/// Nothing is sent for it.
#[test]
fn brg_err_04_n() {
    let mut bench = Bench::of(WindowClass::Mc);
    bench.whole(read(BASE + 0xfc, 2));
    assert!(bench.sent.is_empty());
}

/// The number by which a deadline knows its child is never used again, so that one that is still kept from an earlier request ends
/// no later one that took its entry.
#[test]
fn a_deadline_is_of_one_child_alone() {
    let mut bench = Bench::of(WindowClass::Mn);
    let mut numbers = Vec::new();
    for _ in 0..8 {
        let entry = bench.ask(read(BASE, 16));
        let id = scalepool::bridge::outbound::table::ChildId { entry, child: 0 };
        numbers.push(bench.bridge.child_of(id).expect("a child").advances);
        bench.answer(0);
    }
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
}

fn given_up() -> Bench {
    let mut bench = Bench::of(WindowClass::Mn);
    let entry = bench.ask(read(BASE, 16));
    let id = scalepool::bridge::outbound::table::ChildId { entry, child: 0 };
    let advances = bench.bridge.child_of(id).expect("a child").advances;
    bench.bridge.time_out(id, advances, &mut bench.out);
    bench.collect();
    bench
}

#[test]
fn brg_err_05_p() {
    let bench = given_up();
    assert_eq!(
        (verdict(&bench.responses[0]), beats(&bench.responses[0])),
        ((Status::CompletionTimeout, RdWr::Read), vec![[0xff; 64]])
    );
}

/// What comes later does not answer a second time.
#[test]
fn brg_err_05_n() {
    let mut bench = given_up();
    bench.finish(false);
    assert_eq!((bench.responses.len(), bench.bridge.counts().late), (1, 1));
}

/// Ownership that nobody can have is told like memory that is not there.
#[test]
fn brg_err_08_p() {
    let mut bench = short(WindowClass::Mc);
    assert_eq!(rsp(&bench.whole(write_full(BASE + 64, 1, 1))).status, Status::DecodeError);
    assert_eq!(bench.bridge.buffers_free(), 64);
}

/// No MemWr follows.
#[test]
fn brg_err_08_n() {
    let mut bench = short(WindowClass::Mc);
    bench.whole(write_full(BASE, 2, 1));
    assert_eq!(bench.labels(), ["MemInv Any/SnpInv", "MemInv Any/SnpInv", "MemWr Invalid/NoOp"]);
    assert_eq!(bench.memory.len(), 1);
}

/// Nobody can tell such a write from a good one.
#[test]
fn brg_err_09_p() {
    let mut bench = short(WindowClass::Mn);
    assert_eq!(rsp(&bench.whole(write_full(BASE + 64, 1, 1))).status, Status::OKAY);
}

/// A read of it tells.
#[test]
fn brg_err_09_n() {
    let mut bench = short(WindowClass::Mn);
    bench.whole(write_full(BASE + 64, 1, 1));
    assert_eq!(rsp(&bench.whole(read(BASE + 64, 16))).status, Status::DecodeError);
}

/// A line without memory ends by DRS alone.
#[test]
fn brg_err_10_p() {
    let mut bench = short(WindowClass::Mc);
    let response = bench.whole(read(BASE + 64, 16));
    assert_eq!((rsp(&response).status, bench.bridge.open()), (Status::DecodeError, 0));
}

/// A completion that comes all the same belongs to nothing.
#[test]
fn brg_err_10_n() {
    let mut bench = short(WindowClass::Mc);
    bench.whole(read(BASE + 64, 16));
    bench.deliver(cmp(0, NdrOpcode::Cmp));
    assert_eq!(bench.findings[0].rule, "COH-IDS-01");
}

fn poisoned_write(mask: Option<u64>) -> scalepool_protocols::ualink::unpack::Transfer {
    let mut request = mask.map_or_else(|| write_full(BASE, 2, 5), |mask| write_part(BASE, mask, 5));
    request.poisoned = 1;
    request
}

/// A poisoned beat poisons its line, a part of a line all of it; other beats are clean.
#[test]
fn brg_psn_01_p() {
    for class in CLASSES {
        let mut bench = Bench::of(class);
        bench.whole(poisoned_write(None));
        assert_eq!([0, 64].map(|at| bench.memory[&(OUT + at)].poison), [true, false], "{class:?}");
        let mut bench = Bench::of(class);
        bench.whole(poisoned_write(Some(0xff)));
        assert!(bench.memory[&OUT].poison, "{class:?}");
    }
}

/// What is not poisoned is clean, and a whole clean line takes poison away.
#[test]
fn brg_psn_01_n() {
    for class in CLASSES {
        let mut bench = Bench::of(class);
        bench.whole(poisoned_write(None));
        bench.whole(write_full(BASE, 1, 6));
        assert!(!bench.memory[&OUT].poison, "{class:?}");
    }
}

fn marked(beat: u64) -> Bench {
    let mut bench = Bench::of(WindowClass::Mc);
    bench.memory.insert(OUT + 64 * beat, CacheLine { bytes: [9; 64], poison: true });
    bench
}

#[test]
fn brg_psn_02_p() {
    for beat in 0..4 {
        let response = marked(beat).whole(read(BASE, 64));
        assert_eq!((rsp(&response).status, response.poisoned), (Status::OKAY, 1 << beat));
    }
}

/// No other beat is marked, and the bytes go along.
#[test]
fn brg_psn_02_n() {
    let response = marked(2).whole(read(BASE, 32));
    assert_eq!((response.poisoned, beats(&response)), (0, vec![[0; 64]; 2]));
    let response = marked(1).whole(read(BASE, 32));
    assert_eq!(beats(&response)[1], [9; 64]);
}

#[test]
fn brg_psn_07_p() {
    for class in CLASSES {
        let mut bench = Bench::of(class);
        bench.memory.insert(OUT, CacheLine { bytes: [9; 64], poison: true });
        bench.whole(write_part(BASE, 0xff, 1));
        assert!(bench.memory[&OUT].poison, "{class:?}");
    }
}

/// What is written to a clean line stays clean.
#[test]
fn brg_psn_07_n() {
    for class in CLASSES {
        let mut bench = Bench::of(class);
        bench.whole(write_part(BASE, 0xff, 1));
        assert!(!bench.memory[&OUT].poison, "{class:?}");
    }
}

/// The enables of a poisoned write are good: it selects as any other.
#[test]
fn brg_psn_08_p() {
    let mut bench = Bench::of(WindowClass::Mn);
    bench.whole(poisoned_write(Some(0xf0)));
    let Msg::M2sRwd { enables, data, .. } = bench.sent[0].2 else { panic!("a write") };
    assert_eq!((enables, data.poison), (0xf0, true));
}

/// Poison without an enabled byte has nothing that it could mark.
#[test]
fn brg_psn_08_n() {
    let mut bench = Bench::of(WindowClass::Mn);
    bench.whole(poisoned_write(Some(0)));
    assert!(bench.sent.is_empty());
}

/// Answers of kinds that are not known do not end anything.
#[test]
fn unknown_messages_are_told() {
    let mut bench = Bench::of(WindowClass::Mn);
    bench.ask(read(BASE, 16));
    bench.deliver(cmp(0, NdrOpcode::Cmp));
    bench.deliver(drs(9, DrsOpcode::MemData, CacheLine::of([0; 64])));
    let (.., echo) = bench.sent[0];
    bench.deliver(echo);
    let rules: Vec<&str> = bench.findings.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, ["COH-IDS-01", "COH-IDS-01", "COH-TYP-01"]);
    assert_eq!((bench.responses.len(), bench.bridge.open()), (0, 1));
    assert_eq!(ReqCmd::Read.name(), Some("Read"));
}

/// Status 15 in what a bridge says to accelerators, as requests or as answers.
fn isolates(event: &BridgeEvent) -> bool {
    let form = event.message.to_json();
    let is_nvlink = form["layout"] == "nvlink.header";
    let is_error = form["fields"]["op"] == "RSP_ERROR" && form["fields"]["size"] == 15;
    form["fields"]["status"] == "ISOLATE" || form["fields"]["status"] == 15 || is_nvlink && is_error
}

/// In all vectors, with every status that there is among their answers, and on each way by which a request ends: never 15.
#[test]
fn brg_err_25_p() {
    let files = vectors::all();
    let events = || files.iter().flat_map(|file| &file.cases).flat_map(|case| &case.events);
    let responses = || events().filter(|event| event.point == BridgePoint::Response);
    assert!(responses().count() > 1000);
    assert_eq!(responses().filter(|event| isolates(event)).count(), 0);
    let mut seen = std::collections::BTreeSet::new();
    for class in CLASSES {
        let mut vendor = read(BASE, 16);
        change(&mut vendor, |req| req.cmd = ReqCmd::VendorRead3);
        for request in
            [read(BASE, 16), write_full(BASE, 4, 1), write_part(BASE, 1, 1), read(BASE + 64, 16), read(0, 16), vendor]
        {
            for mut bench in [short(class), read_only(), Bench::of(class)] {
                seen.insert(rsp(&bench.whole(request.clone())).status.0);
            }
            let mut bench = Bench::of(class);
            let entry = bench.ask(request);
            let id = scalepool::bridge::outbound::table::ChildId { entry, child: 0 };
            let Some(advances) = bench.bridge.child_of(id).map(|child| child.advances) else { continue };
            bench.bridge.time_out(id, advances, &mut bench.out);
            bench.collect();
            seen.extend(bench.responses.iter().map(|response| rsp(response).status.0));
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 2, 3, 6, 8], "all that there are, and no other one");
}

/// A bridge of somebody else that answers with 15 is found, whatever the right answer was.
#[test]
fn brg_err_25_n() {
    let mut tried = 0;
    for file in vectors::all() {
        let config = ReferenceConfig::from_json(&file.config).expect("a configuration");
        for case in file.cases.iter().step_by(41) {
            // Completions of CXL.io have a status of their own.
            let response = |event: &BridgeEvent| {
                event.point == BridgePoint::Response
                    && !matches!(event.message, BridgeMessage::Tlp(_))
                    && event.message.to_json()["fields"].get("status").is_some()
            };
            let Some(n) = case.events.iter().position(response) else { continue };
            let mut events = case.events.clone();
            let mut form = events[n].message.to_json();
            form["fields"]["status"] = 15.into();
            events[n].message = BridgeMessage::from_json(&form).unwrap_or_else(|error| panic!("{error}: {form}"));
            assert!(isolates(&events[n]), "{:?}", events[n]);
            let mut scoreboard = BridgeScoreboard::new(config.clone());
            for event in &events {
                scoreboard.pass(event).unwrap_or_else(|error| panic!("{error}: {event:?}"));
            }
            scoreboard.finish();
            let finding = scoreboard.finding().unwrap_or_else(|| panic!("{events:?}"));
            assert_eq!((finding.rule, finding.message), ("BRG-ERR-25", n as u64), "{}", finding.found);
            assert!(finding.found.contains("status=ISOLATE"), "{}", finding.found);
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried}");
}

/// Status and marks of the answer of a bridge to a read of which one line is poisoned.
fn told_of_a_poisoned_line(class: WindowClass, wrong: WrongBridge) -> (Status, u8) {
    let mut bench = Bench { wrong, ..Bench::of(class) };
    bench.memory.insert(OUT + 64, CacheLine { bytes: [9; 64], poison: true });
    let response = bench.whole(read(BASE, 64));
    (rsp(&response).status, response.poisoned)
}

#[test]
fn brg_err_07_p() {
    for class in CLASSES {
        assert_eq!(told_of_a_poisoned_line(class, WrongBridge::NOTHING), (Status::OKAY, 2), "{class:?}");
    }
}

/// A bridge that makes an error of it.
#[test]
fn brg_err_07_n() {
    let aborts = |_: &[Event], mut response: Transfer| {
        let is_marked = response.poisoned != 0;
        if let ControlField::Response(rsp) = &mut response.field
            && is_marked
        {
            rsp.status = Status::TargetAbort;
        }
        response
    };
    let wrong = WrongBridge { responds: aborts, ..WrongBridge::NOTHING };
    assert_eq!(told_of_a_poisoned_line(WindowClass::Mc, wrong).0, Status::TargetAbort);
}
