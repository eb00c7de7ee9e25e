//! Order, locks of lines, identifiers, buffers, time-outs (`bridge` §3.3, §3.4, §6.2, §7).

use super::common::*;
use super::judge::Event;
use scalepool::bridge::outbound::order::BridgeOrder;
use scalepool::bridge::outbound::table::{ChildId, FEWEST_ENTRIES, MOST_ENTRIES, RESERVED};
use scalepool::bridge::outbound::{BridgeStep, Lacking, OutboundConfig};
use scalepool::bridge::window::{BridgeWindow, WindowClass};
use scalepool::coherence::content::{CacheLine, LineAddr};
use scalepool::coherence::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{BisnpOpcode, NdrOpcode};
use scalepool_protocols::ualink::code::Status;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlRsp;
use scalepool_protocols::ualink::pack::with_data;
use scalepool_protocols::ualink::unpack::Transfer;
use std::collections::BTreeMap;

const MN: WindowClass = WindowClass::Mn;

fn from(
    source: u16,
    mut request: scalepool_protocols::ualink::unpack::Transfer,
) -> scalepool_protocols::ualink::unpack::Transfer {
    change(&mut request, |req| req.src = source);
    request
}

/// What a request lacks to get in.
fn lacks(bench: &Bench, request: &Transfer) -> Option<Lacking> {
    bench.bridge.lacks(asked(request).need())
}

/// Children end in any order; there is one answer, behind the last of them.
#[test]
fn brg_spl_08_p() {
    for last_first in [false, true] {
        let mut bench = Bench::of(MN);
        bench.ask(read(BASE, 64));
        while bench.answers.len() > 1 {
            bench.answer(if last_first { bench.answers.len() - 1 } else { 0 });
            assert!(bench.responses.is_empty());
        }
        bench.answer(0);
        assert_eq!((bench.responses.len(), beats(&bench.responses[0]).len()), (1, 4));
    }
}

/// A second answer, one of another kind and one for nobody are told, and change nothing.
#[test]
fn brg_spl_08_n() {
    let mut bench = Bench::of(WindowClass::Mc);
    bench.ask(read(BASE, 16));
    let (_, twice) = bench.answers[0];
    bench.answer(0);
    bench.deliver(twice);
    assert_eq!((bench.findings[0].rule, bench.responses.len()), ("COH-IDS-01", 0));
    bench.ask(write_full(BASE + 256, 1, 1));
    let tag = 4;
    bench.deliver(cmp(tag, NdrOpcode::CmpS));
    assert_eq!(bench.findings[1].rule, "BRG-SPL-08", "a shared copy is none to write to");
    bench.finish(false);
    assert_eq!(bench.responses.len(), 2);
}

/// One after the other, in the order in which they came.
#[test]
fn brg_spl_09_p() {
    let mut bench = Bench::of(MN);
    for source in 0..5 {
        bench.ask(from(source, write_full(BASE, 1, source as u8)));
    }
    for n in 1..=5 {
        assert_eq!((bench.sent.len(), bench.answers.len()), (n, 1));
        bench.answer(0);
    }
    assert_eq!(bench.memory[&OUT].bytes, [4; 64]);
}

/// A read must not pass a write that waits for the line before it.
#[test]
fn brg_spl_09_n() {
    let mut bench = Bench::of(MN);
    bench.ask(from(0, read(BASE, 16)));
    bench.ask(from(1, write_full(BASE, 1, 9)));
    bench.ask(from(2, read(BASE, 16)));
    assert_eq!((bench.sent.len(), bench.bridge.counts().joined), (1, 0));
    bench.finish(false);
    assert_eq!(beats(&bench.responses[2]), [[9; 64]]);
}

/// Eight reads join one that is active; all of them get its data.
#[test]
fn brg_spl_10_p() {
    let mut bench = Bench::of(MN);
    bench.memory.insert(OUT, CacheLine::of([6; 64]));
    for source in 0..9 {
        bench.ask(from(source, read(BASE, 16)));
    }
    assert_eq!((bench.sent.len(), bench.bridge.counts().joined), (1, 8));
    bench.finish(false);
    assert!(bench.responses.len() == 9 && bench.responses.iter().all(|response| beats(response) == [[6; 64]]));
}

/// The ninth asks for itself; writes never join, nor do reads of a coherent line that is only read, not kept: what is under way may be older.
#[test]
fn brg_spl_10_n() {
    let mut bench = Bench::of(MN);
    for source in 0..10 {
        bench.ask(from(source, read(BASE, 16)));
    }
    bench.finish(false);
    assert_eq!((bench.sent.len(), bench.responses.len()), (2, 10));
    let mut bench = Bench::of(WindowClass::Mc);
    for source in 0..3 {
        bench.ask(from(source, read(BASE, 16)));
    }
    bench.finish(false);
    assert_eq!((bench.sent.len(), bench.bridge.counts().joined), (3, 0));
    let mut bench = Bench::of(MN);
    for source in 0..3 {
        bench.ask(from(source, write_full(BASE, 1, 1)));
    }
    bench.finish(false);
    assert_eq!((bench.sent.len(), bench.bridge.counts().joined), (3, 0));
}

/// A flag and its data in one block: the second request waits until the first is performed, a read too.
#[test]
fn brg_ord_01_p() {
    let mut bench = Bench::of(WindowClass::Mc);
    bench.ask(read(BASE, 16));
    bench.ask(read(BASE + 64, 16));
    assert_eq!(bench.sent.len(), 1);
    bench.answer(0);
    assert_eq!(bench.sent.len(), 1, "its other answer is still to come");
    bench.answer(0);
    assert_eq!(bench.sent.len(), 2);
    bench.finish(false);
    assert_eq!(bench.responses.len(), 2);
}

/// A write is performed by the Cmp of its second step, not before.
#[test]
fn brg_ord_01_n() {
    let mut bench = Bench::of(WindowClass::Mc);
    bench.ask(write_full(BASE, 1, 1));
    bench.ask(read(BASE + 128, 16));
    bench.answer(0);
    assert_eq!(bench.labels(), ["MemInv Any/SnpInv", "MemWr Invalid/NoOp"]);
    bench.answer(0);
    assert_eq!(bench.labels()[2..], ["MemRd Invalid/SnpCur"]);
}

/// Other blocks, channels and sources are free.
#[test]
fn brg_ord_02_p() {
    let mut bench = Bench::of(MN);
    bench.ask(read(BASE, 16));
    bench.ask(read(BASE + 256, 16));
    bench.ask(from(SOURCE + 1, read(BASE + 64, 16)));
    let mut other = read(BASE + 128, 16);
    change(&mut other, |req| req.vchan = 1);
    bench.ask(other);
    assert_eq!((bench.sent.len(), bench.responses.len()), (4, 0));
}

/// They are answered as their data come, whoever was first.
#[test]
fn brg_ord_02_n() {
    let mut bench = Bench::of(MN);
    bench.ask(tagged(read(BASE, 16), 1));
    bench.ask(tagged(read(BASE + 256, 16), 2));
    bench.finish(true);
    assert_eq!(bench.responses.iter().map(|response| rsp(response).tag).collect::<Vec<_>>(), [2, 1]);
}

fn strict() -> Bench {
    Bench::new(OutboundConfig { order: BridgeOrder::Sources, ..config(MN) })
}

/// Strict: one after the other for a source, whatever the blocks, and answered in this order.
#[test]
fn brg_ord_03_p() {
    let mut bench = strict();
    bench.ask(tagged(read(BASE, 16), 1));
    bench.ask(tagged(read(0, 16), 2));
    bench.ask(tagged(read(BASE + 512, 16), 3));
    assert_eq!((bench.sent.len(), bench.responses.len()), (1, 0), "one that is refused waits for its turn too");
    bench.finish(false);
    let told: Vec<_> = bench.responses.iter().map(|response| (rsp(response).tag, rsp(response).status)).collect();
    assert_eq!(told, [(1, Status::OKAY), (2, Status::DecodeError), (3, Status::OKAY)]);
}

/// Another source does not wait.
#[test]
fn brg_ord_03_n() {
    let mut bench = strict();
    bench.ask(read(BASE, 16));
    bench.ask(from(SOURCE + 1, read(BASE + 256, 16)));
    assert_eq!(bench.sent.len(), 2);
}

#[test]
fn brg_tag_01_p() {
    for entry in [0, 1, 255, MOST_ENTRIES as u16 - 1] {
        for child in 0..4 {
            let id = ChildId { entry, child };
            assert_eq!((id.tag(), ChildId::of_tag(id.tag())), (entry * 4 + u16::from(child), id));
        }
    }
    let mut bench = Bench::of(MN);
    bench.ask(read(BASE + 256, 64));
    bench.ask(read(BASE + 512, 32));
    assert_eq!(tags(&bench), [0, 1, 2, 3, 4, 5]);
}

fn tags(bench: &Bench) -> Vec<u16> {
    bench.sent.iter().map(|(.., msg)| msg.identifier().1).collect()
}

/// Tags fit 12 bits, so the entries of a table do.
#[test]
fn brg_tag_01_n() {
    assert_eq!(ChildId { entry: MOST_ENTRIES as u16 - 1, child: 3 }.tag(), 0xfff);
    let text = include_str!("../../../src/system/builtin/bridge-ualink.toml");
    for (entries, is_fine) in [(31, false), (32, true), (1024, true), (1025, false)] {
        let changed = text.replace("clock = \"bridge\"", &format!("clock = \"bridge\"\nentries = {entries}"));
        assert_eq!(super::systems::resolves(&changed).is_ok(), is_fine, "{entries}");
    }
}

/// With all entries in use no identifier is used twice; the second step has that of the first.
#[test]
fn brg_tag_02_p() {
    let mut bench = Bench::new(OutboundConfig { entries: FEWEST_ENTRIES, ..config(WindowClass::Mc) });
    for n in 0..RESERVED as u64 {
        bench.ask(write_full(BASE + 256 * n, 4, 1));
    }
    let all = tags(&bench);
    assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
    let first = all[0];
    bench.answer(0);
    assert_eq!(tags(&bench).last(), Some(&first));
}

/// An entry whose response has not left is not used again.
#[test]
fn brg_tag_02_n() {
    let mut bench = Bench::new(OutboundConfig { entries: FEWEST_ENTRIES, ..config(MN) });
    bench.held = Some(Vec::new());
    for n in 0..RESERVED as u64 {
        bench.ask(read(BASE + 256 * n, 16));
    }
    bench.finish(false);
    assert_eq!(lacks(&bench, &read(BASE, 16)), Some(Lacking::Entry));
    let held = bench.held.take().expect("responses");
    bench.respond(held[0]);
    let next = bench.ask(read(BASE, 16));
    assert!(!held[1..].contains(&next));
    assert_eq!(lacks(&bench, &read(BASE, 16)), Some(Lacking::Entry));
}

/// Gives up the first child of an entry.
fn time_out(bench: &mut Bench, entry: u16) {
    let id = ChildId { entry, child: 0 };
    let advances = bench.bridge.child_of(id).expect("a child").advances;
    bench.bridge.time_out(id, advances, &mut bench.out);
    bench.collect();
}

/// The late answer is dropped, and the entry is free behind it.
#[test]
fn brg_tag_03_p() {
    let mut bench = Bench::of(MN);
    let entry = bench.ask(read(BASE, 16));
    time_out(&mut bench, entry);
    assert_eq!((rsp(&bench.responses[0]).status, bench.bridge.open()), (Status::CompletionTimeout, 1));
    bench.finish(false);
    let counts = bench.bridge.counts();
    assert_eq!((bench.bridge.open(), counts.late, counts.timeouts, bench.responses.len()), (0, 1, 1, 1));
    assert!(bench.findings.is_empty());
}

/// Without it the entry stays taken, and what comes to the line waits.
#[test]
fn brg_tag_03_n() {
    let mut bench = Bench::of(MN);
    let entry = bench.ask(read(BASE, 16));
    time_out(&mut bench, entry);
    let next = bench.ask(from(SOURCE + 1, write_full(BASE, 1, 1)));
    assert!(next != entry && bench.sent.len() == 1, "the line may still be read");
    bench.finish(false);
    assert_eq!((bench.sent.len(), bench.bridge.open()), (2, 0));
}

/// All children of a request that is given up end, those that wait for a line as well, and its buffers are free.
#[test]
fn brg_tmo_01_p() {
    let mut bench = Bench::of(MN);
    bench.ask(from(1, write_full(BASE, 1, 1)));
    let entry = bench.ask(from(2, write_full(BASE, 4, 2)));
    time_out(&mut bench, entry);
    let told = rsp(&bench.responses[0]);
    assert_eq!((told.status, told.dst), (Status::CompletionTimeout, 2));
    bench.finish(false);
    assert_eq!((bench.bridge.open(), bench.bridge.buffers_free()), (0, 64));
    assert_eq!(bench.memory[&OUT].bytes, [1; 64], "what has not left does not leave any more");
}

/// One that got on meanwhile is not given up.
#[test]
fn brg_tmo_01_n() {
    let mut bench = Bench::of(WindowClass::Mc);
    let entry = bench.ask(write_full(BASE, 1, 1));
    let id = ChildId { entry, child: 0 };
    let advances = bench.bridge.child_of(id).expect("a child").advances;
    bench.answer(0);
    bench.bridge.time_out(id, advances, &mut bench.out);
    assert!(!bench.out.steps.iter().any(|step| matches!(step, BridgeStep::Respond { .. })));
    bench.collect();
    bench.finish(false);
    assert_eq!(rsp(&bench.responses[0]).status, Status::OKAY);
}

/// One that waits for a line is not given up while those before it get on, however long all of them take; behind a holder that has been
/// given up it is.
#[test]
fn a_line_that_moves_gives_nobody_up() {
    let mut bench = Bench::of(MN);
    let [_, second, third] = [1, 2, 3].map(|source| bench.ask(from(source, write_full(BASE, 1, source as u8))));
    bench.answer(0);
    time_out(&mut bench, third);
    assert_eq!(bench.bridge.counts().timeouts, 0, "the second one has got the line since");
    time_out(&mut bench, second);
    time_out(&mut bench, third);
    assert_eq!(bench.bridge.counts().timeouts, 2, "nothing has come since");
    assert_eq!(bench.responses.iter().map(|response| rsp(response).dst).collect::<Vec<_>>(), [1, 2, 3]);
    bench.finish(false);
    assert_eq!((bench.bridge.open(), bench.memory[&OUT].bytes), (0, [2; 64]));
}

/// A deadline of a request that has ended gives up none that has its entry later, even if neither has sent anything: the first one waited
/// for its line, the second one waits for its turn, and a write that was given up here would be lost.
#[test]
fn a_deadline_ends_with_its_request() {
    let mut bench = Bench::new(OutboundConfig { entries: FEWEST_ENTRIES, ..config(MN) });
    let first = [1, 2].map(|source| bench.ask(from(source, write_full(BASE, 1, source as u8))));
    bench.finish(false);
    // Entries are used in turn.
    for n in first.len()..FEWEST_ENTRIES {
        bench.whole(read(BASE + 256 * n as u64, 16));
    }
    let old = std::mem::take(&mut bench.deadlines);
    let second = [3, 4].map(|value| bench.ask(from(3, write_full(BASE, 1, value))));
    assert_eq!(second, first);
    assert!(first.iter().all(|entry| old.iter().any(|(child, _)| child.entry == *entry)));
    for (child, advances) in old {
        bench.bridge.time_out(child, advances, &mut bench.out);
    }
    bench.collect();
    bench.finish(false);
    assert_eq!((bench.bridge.counts().timeouts, bench.bridge.open()), (0, 0));
    assert_eq!(bench.memory[&OUT].bytes, [4; 64], "the last write");
}

/// Every channel has entries of its own, however many another one wants.
#[test]
fn brg_buf_02_p() {
    let mut bench = Bench::new(OutboundConfig { entries: FEWEST_ENTRIES + 5, ..config(MN) });
    let on = |vchan, n: u64| {
        let mut request = read(BASE + 256 * n, 16);
        change(&mut request, |req| req.vchan = vchan);
        request
    };
    let mut n = 0;
    let mut fill = |bench: &mut Bench, vchan| {
        let before = n;
        while lacks(bench, &on(vchan, n)).is_none() {
            bench.ask(on(vchan, n));
            n += 1;
        }
        n - before
    };
    assert_eq!([0, 1, 2, 3].map(|vchan| fill(&mut bench, vchan)), [13, 8, 8, 8]);
}

/// One that floods gets no entry of another one, and there is never more than the table holds.
#[test]
fn brg_buf_02_n() {
    let mut bench = Bench::new(OutboundConfig { entries: FEWEST_ENTRIES, ..config(MN) });
    for n in 0..RESERVED as u64 {
        bench.ask(read(BASE + 256 * n, 16));
    }
    assert_eq!(bench.bridge.admit(0, asked(&read(BASE, 16))), None);
    assert_eq!(bench.bridge.open(), RESERVED);
}

/// A buffer is free when its data have left; those of lines without an enabled byte at once.
#[test]
fn brg_buf_03_p() {
    let mut bench = Bench::of(WindowClass::Mc);
    bench.ask(write_full(BASE, 4, 1));
    assert_eq!(bench.bridge.buffers_free(), 60, "the second steps have not begun");
    bench.answer(0);
    assert_eq!(bench.bridge.buffers_free(), 61);
    bench.ask(write_part(BASE + 256, 0, 1));
    assert_eq!(bench.bridge.buffers_free(), 61);
    bench.finish(false);
    assert_eq!(bench.bridge.buffers_free(), 64);
}

/// Data for which there is no buffer do not get in; a read does.
#[test]
fn brg_buf_03_n() {
    let mut bench = Bench::new(OutboundConfig { write_buffers: 4, ..config(WindowClass::Mc) });
    bench.ask(write_full(BASE, 4, 1));
    assert_eq!(lacks(&bench, &write_full(BASE + 256, 1, 1)), Some(Lacking::Buffers));
    assert_eq!(bench.bridge.admit(0, asked(&write_full(BASE + 256, 1, 1))), None);
    assert_eq!(lacks(&bench, &read(BASE + 256, 16)), None);
}

/// Messages that leave without space for their answers: their request has no entry or that of another one, or its entry has more than four
/// of them to come.
fn without_space(log: &[Event]) -> usize {
    let mut to_come = BTreeMap::new();
    let mut wrong = 0;
    for event in log {
        match event {
            Event::Asked(entry, _) => wrong += usize::from(to_come.insert(*entry, 0).is_some()),
            Event::Answered(entry, _) => {
                to_come.remove(entry);
            }
            Event::Sent(msg) => match to_come.get_mut(&(msg.identifier().1 / 4)) {
                Some(lines) if *lines < 4 => *lines += 1,
                _ => wrong += 1,
            },
            Event::Came(msg) => {
                to_come.get_mut(&(msg.identifier().1 / 4)).into_iter().for_each(|lines| *lines -= 1);
            }
        }
    }
    wrong
}

/// A bridge with as many reads of four lines as there are entries for them, whose responses do not leave, and what has passed until all
/// data were there.
fn slow_responses(wrong: WrongBridge) -> Bench {
    let mut bench = Bench { wrong, ..Bench::new(OutboundConfig { entries: FEWEST_ENTRIES, ..config(MN) }) };
    bench.held = Some(Vec::new());
    for n in 0..RESERVED as u64 {
        bench.ask(read(BASE + 256 * n, 64));
    }
    assert_eq!((lacks(&bench, &read(BASE, 16)), bench.answers.len()), (Some(Lacking::Entry), 4 * RESERVED));
    bench.finish(true);
    bench
}

/// However slowly responses leave, all data of CXL are taken, for which there was space before they were asked for.
#[test]
fn brg_buf_01_p() {
    let mut bench = slow_responses(WrongBridge::NOTHING);
    assert!(bench.answers.is_empty() && bench.responses.is_empty() && bench.findings.is_empty());
    for entry in bench.held.take().expect("responses") {
        bench.respond(entry);
    }
    assert_eq!((bench.responses.len(), without_space(&bench.log)), (RESERVED, 0));
    assert!(bench.responses.iter().all(|response| beats(response).len() == 4));
}

/// A bridge that gives the space of a request away when all of its data are there: the next request has the entry of one whose response
/// has not left, and its data come where those of the other one lie. One that asks for a line twice has more to come than there is space.
#[test]
fn brg_buf_01_n() {
    let wrong = WrongBridge { frees_early: true, ..WrongBridge::NOTHING };
    let mut bench = slow_responses(wrong);
    assert_eq!((bench.late.len(), without_space(&bench.log)), (RESERVED, 0));
    // Entries are used in turn.
    for n in 0..FEWEST_ENTRIES as u64 {
        bench.ask(read(BASE + 256 * n, 64));
        bench.finish(false);
    }
    assert_eq!((bench.late.len(), without_space(&bench.log)), (RESERVED + FEWEST_ENTRIES, RESERVED));
    let mut bench = Bench::of(MN);
    bench.ask(read(BASE, 64));
    let again = bench.sent[0].2;
    bench.log.push(Event::Sent(again));
    assert_eq!(without_space(&bench.log), 1, "a fifth message of one request");
}

/// A bridge with two CXL ports, each of which has every other block.
fn two_ports() -> Bench {
    let windows = windows(vec![BridgeWindow { ports: vec![0, 1], ..window(WindowClass::Mc) }]);
    Bench::new(OutboundConfig { windows, entries: FEWEST_ENTRIES, ..config(WindowClass::Mc) })
}

fn snoop(address: u64) -> Msg<CacheLine> {
    let line = LineAddr::of_address(address - BASE + OUT);
    Msg::S2mBisnp { opcode: BisnpOpcode::BISnpInv, line, bi_tag: 1 }
}

/// What goes on while one port gives no answer and the entries of a channel are all in use: requests at the other port that have an entry,
/// other channels, and snoops.
fn goes_on(bench: &mut Bench) -> [bool; 3] {
    let before = bench.responses.len();
    while let Some(place) = bench.answers.iter().position(|(port, _)| *port == 1) {
        bench.answer(place);
    }
    let other_port = bench.responses.len() > before;
    let mut other_channel = read(BASE + (1 << 20), 16);
    change(&mut other_channel, |req| req.vchan = 1);
    let has_room = lacks(bench, &other_channel).is_none();
    let sent = bench.sent.len();
    bench.deliver(snoop(BASE + (2 << 20)));
    [other_port, has_room, bench.sent.len() > sent]
}

/// A full table stops requests of its channel; all that is in it ends when the port answers.
#[test]
fn brg_buf_04_p() {
    let mut bench = two_ports();
    for n in 0..RESERVED as u64 {
        bench.ask(write_full(BASE + 256 * n, 4, 1));
    }
    assert_eq!(lacks(&bench, &read(BASE, 16)), Some(Lacking::Entry));
    assert_eq!(goes_on(&mut bench), [true; 3]);
    assert_eq!(bench.responses.len(), RESERVED / 2);
    bench.finish(false);
    assert_eq!((bench.responses.len(), bench.bridge.open()), (RESERVED, 0));
}

/// It does stop its own channel: with every entry at the port without answers nothing of it gets in, and nothing ends.
#[test]
fn brg_buf_04_n() {
    let mut bench = two_ports();
    for n in 0..RESERVED as u64 {
        bench.ask(write_full(BASE + 512 * n, 4, 1));
    }
    assert_eq!(goes_on(&mut bench), [false, true, true]);
    assert_eq!(bench.bridge.admit(0, asked(&read(BASE + 256, 16))), None);
    assert!(bench.responses.is_empty());
}

/// Whether a response has so many beats of these lines in their order, and is the last one.
fn is_ascending(response: &Transfer, lines: &[[u8; 64]]) -> bool {
    let told = rsp(response);
    told.last && told.offset == 0 && usize::from(told.len) + 1 == lines.len() && beats(response) == lines
}

const LINES: [[u8; 64]; 4] = [[1; 64], [2; 64], [3; 64], [4; 64]];

/// The answer of a bridge to a read of four lines, the data of which come in this order of what is left.
fn read_in(wrong: WrongBridge, order: [usize; 4]) -> Transfer {
    let mut bench = Bench { wrong, ..Bench::of(MN) };
    for (n, line) in LINES.into_iter().enumerate() {
        bench.memory.insert(OUT + 64 * n as u64, CacheLine::of(line));
    }
    bench.ask(read(BASE, 64));
    order.into_iter().for_each(|place| bench.answer(place));
    assert_eq!(bench.responses.len(), 1);
    bench.responses.remove(0)
}

/// All orders of four answers.
#[test]
fn brg_rsp_03_p() {
    for n in 0..24 {
        let response = read_in(WrongBridge::NOTHING, [n % 4, n / 4 % 3, n / 12, 0]);
        assert!(is_ascending(&response, &LINES), "{n}: {response:?}");
    }
}

/// Whether responses bring these lines one by one in this order, each with its offset, the last one with Last.
fn are_single(responses: &[Transfer], order: [usize; 4]) -> bool {
    let told = |response: &Transfer| (usize::from(rsp(response).offset), rsp(response).len, beats(response));
    let wanted = order.map(|n| (n, 0, vec![LINES[n]]));
    let is_last = |n: usize| n + 1 == wanted.len();
    responses.iter().map(told).eq(wanted.clone())
        && responses.iter().enumerate().all(|(n, response)| rsp(response).last == is_last(n))
}

/// The responses of a bridge with `single_beat` to a read of four lines, the data of which come in this order of what is left.
fn single_beats(wrong: WrongBridge, order: [usize; 4]) -> Vec<Transfer> {
    let mut bench = Bench { wrong, ..Bench::new(OutboundConfig { single_beat: true, ..config(MN) }) };
    for (n, line) in LINES.into_iter().enumerate() {
        bench.memory.insert(OUT + 64 * n as u64, CacheLine::of(line));
    }
    bench.ask(read(BASE, 64));
    for (n, place) in order.into_iter().enumerate() {
        assert_eq!(bench.responses.len(), n, "a line is answered when it has come");
        bench.answer(place);
    }
    assert_eq!(bench.bridge.open(), 0);
    bench.responses
}

/// All orders of four answers, line by line.
#[test]
fn brg_rsp_03_p2() {
    for n in 0..24 {
        let places = [n % 4, n / 4 % 3, n / 12, 0];
        let mut left = vec![0, 1, 2, 3];
        let order = places.map(|place| left.remove(place));
        let responses = single_beats(WrongBridge::NOTHING, places);
        assert!(are_single(&responses, order), "{n}: {responses:?}");
    }
}

/// Bridges that forget Last, that set it on every beat, that count lines and not offsets, that set a length.
#[test]
fn brg_rsp_03_n2() {
    let responds: [fn(&[Event], Transfer) -> Transfer; 4] = [
        |_, response| with_fields(response, |rsp| rsp.last = false),
        |_, response| with_fields(response, |rsp| rsp.last = true),
        |_, response| with_fields(response, |rsp| rsp.offset = 3 - rsp.offset),
        |_, response| with_fields(response, |rsp| rsp.len = 1),
    ];
    for (n, responds) in responds.into_iter().enumerate() {
        let wrong = WrongBridge { responds, ..WrongBridge::NOTHING };
        assert!(!are_single(&single_beats(wrong, [0; 4]), [0, 1, 2, 3]), "{n}");
    }
}

/// A line that fails: the beats behind it have its status, and bytes of ones; a read of one line, and one that is refused as a whole,
/// have one response, as without `single_beat`.
#[test]
fn single_beats_have_the_status_so_far() {
    let single = || Bench::new(OutboundConfig { single_beat: true, ..config(MN) });
    let mut bench = Bench { end: OUT + 64, ..single() };
    bench.ask(read(BASE, 32));
    bench.finish(true);
    let told: Vec<_> = bench.responses.iter().map(|r| (rsp(r).offset, rsp(r).last, rsp(r).status)).collect();
    assert_eq!(told, [(1, false, Status::DecodeError), (0, true, Status::DecodeError)]);
    assert!(bench.responses.iter().all(|response| beats(response) == [[0xff; 64]]));
    for (asked, count) in [(read(BASE, 16), 1), (read(0, 32), 2)] {
        let mut bench = single();
        bench.ask(asked);
        bench.finish(false);
        let [response] = &bench.responses[..] else { panic!("{:?}", bench.responses) };
        assert_eq!((beats(response).len(), rsp(response).last, rsp(response).offset), (count, true, 0));
    }
}

/// The response with other fields.
fn with_fields(mut response: Transfer, change: impl FnOnce(&mut TlRsp)) -> Transfer {
    let mut field = rsp(&response);
    change(&mut field);
    response.field = ControlField::Response(field);
    response
}

/// Bridges that put beats in the order in which their data came, that forget Last, that begin behind the first line, that lack a beat.
#[test]
fn brg_rsp_03_n() {
    let as_they_came = |log: &[Event], response: Transfer| {
        let came = log.iter().filter_map(|event| match event {
            Event::Came(Msg::S2mDrs { data, .. }) => Some(data.bytes),
            _ => None,
        });
        let lines: Vec<[u8; 64]> = came.collect();
        Transfer { poisoned: response.poisoned, address: response.address, ..with_data(response.field, &lines, None) }
    };
    let responds: [fn(&[Event], Transfer) -> Transfer; 4] = [
        as_they_came,
        |_, response| with_fields(response, |rsp| rsp.last = false),
        |_, response| with_fields(response, |rsp| rsp.offset = 1),
        |_, response| with_fields(response, |rsp| rsp.len = 2),
    ];
    for (n, responds) in responds.into_iter().enumerate() {
        let wrong = WrongBridge { responds, ..WrongBridge::NOTHING };
        assert!(!is_ascending(&read_in(wrong, [3, 0, 0, 0]), &LINES), "{n}");
    }
    let in_order = WrongBridge { responds: as_they_came, ..WrongBridge::NOTHING };
    assert!(is_ascending(&read_in(in_order, [0; 4]), &LINES), "data that came in order leave in order");
}
