//! Order, locks of lines, identifiers, buffers, time-outs (`bridge` §3.3, §3.4, §6.2, §7).

use super::common::*;
use scalepool::bridge::outbound::order::BridgeOrder;
use scalepool::bridge::outbound::table::{ChildId, FEWEST_ENTRIES, MOST_ENTRIES, RESERVED};
use scalepool::bridge::outbound::{BridgeStep, Lacking, OutboundConfig};
use scalepool::bridge::window::WindowClass;
use scalepool_protocols::cxl::cxl256::code::NdrOpcode;
use scalepool_protocols::ualink::code::Status;
use scalepool_protocols::ualink::unpack::Transfer;

const MN: WindowClass = WindowClass::Mn;

fn from(
    source: u16,
    mut request: scalepool_protocols::ualink::unpack::Transfer,
) -> scalepool_protocols::ualink::unpack::Transfer {
    change(&mut request, |req| req.src = source);
    request
}

/// Children end in any order; there is one answer, behind the last of them.
/// What a request lacks to get in.
fn lacks(bench: &Bench, request: &Transfer) -> Option<Lacking> {
    let request = asked(request);
    bench.bridge.lacks(request.class, request.buffers)
}

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
    bench.memory.insert(OUT, scalepool::coherence::content::CacheLine::of([6; 64]));
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
