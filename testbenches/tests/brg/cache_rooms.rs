//! Who waits for a way of the conversion cache or for an entry of the buffer of write backs, in which order and for how long (`bridge` §9.3).

use super::common::*;
use scalepool::bridge::cache::{DataCacheConfig, StorePolicy};
use scalepool::bridge::outbound::table::ChildId;
use scalepool::bridge::window::WindowClass;
use scalepool::coherence::message::Msg;
use scalepool_protocols::ualink::code::Status;
use scalepool_protocols::ualink::unpack::Transfer;

const MN: WindowClass = WindowClass::Mn;
/// One block.
const ONE: DataCacheConfig = DataCacheConfig { capacity_bytes: 256, ways: 1, ..SMALL };

/// A read of a line by a source, whose number is the tag.
fn read_by(source: u16, line: u64) -> Transfer {
    let mut request = tagged(read(BASE + 64 * line, 16), source);
    change(&mut request, |req| req.src = source);
    request
}

/// Lines of the window to which messages have gone, in their order.
fn lines(bench: &Bench) -> Vec<u64> {
    let line = |msg: &Msg<_>| match msg {
        Msg::M2sReq { line, .. } | Msg::M2sRwd { line, .. } => line.0 - (OUT >> 6),
        other => panic!("{other:?}"),
    };
    bench.sent.iter().map(|(.., msg)| line(msg)).collect()
}

fn answered(bench: &Bench) -> Vec<(u16, Status)> {
    bench.responses.iter().map(|response| (rsp(response).tag, rsp(response).status)).collect()
}

/// The time of the only child of an entry is over.
fn time_out(bench: &mut Bench, entry: u16) {
    let id = ChildId { entry, child: 0 };
    let advances = bench.bridge.child_of(id).expect("a child").advances;
    bench.bridge.time_out(id, advances, &mut bench.out);
    bench.collect();
}

/// Blocks get the way in the order in which they came, each for all of its lines; nobody who comes later is in front.
#[test]
fn blocks_take_a_way_in_their_order() {
    let mut bench = Bench::new(cached(MN, ONE));
    for (source, line) in [(0, 0), (1, 4), (2, 8), (3, 5), (4, 12)] {
        bench.ask(read_by(source, line));
    }
    assert_eq!(lines(&bench), [0]);
    bench.answer(0);
    assert_eq!(lines(&bench), [0, 4, 5], "both lines of the second block");
    bench.answer(0);
    bench.ask(read_by(5, 16));
    assert_eq!(lines(&bench), [0, 4, 5], "the way is in use until the other line is there");
    bench.finish(false);
    assert_eq!(lines(&bench), [0, 4, 5, 8, 12, 16]);
    assert_eq!((bench.responses.len(), bench.bridge.open()), (6, 0));
}

/// More stores leave, or are written through, than there are entries: as many as there are go, the others follow in their order.
#[test]
fn entries_are_taken_in_their_order() {
    let of_sets = DataCacheConfig { capacity_bytes: 100 * 64, ways: 1, block_bytes: 64, ..SMALL };
    let config = scalepool::bridge::outbound::OutboundConfig { entries: 256, ..cached(MN, of_sets) };
    let mut bench = Bench::new(config);
    (0..100).for_each(|line| _ = bench.whole(write_full(BASE + 64 * line, 1, 1)));
    (0..100).for_each(|line| _ = bench.ask(read_by(line as u16, 100 + line)));
    assert_eq!(lines(&bench), Vec::from_iter(0..64));
    for gone in 0..36 {
        bench.answer(0);
        assert_eq!(lines(&bench).last_chunk(), Some(&[100 + gone, 64 + gone]));
    }
    bench.finish(false);
    assert_eq!((bench.responses.len(), bench.bridge.open(), bench.memory.len()), (100, 0, 100));

    let through = DataCacheConfig { stores: StorePolicy::Through, ..of_sets };
    let mut bench = Bench::new(cached(MN, through));
    (0..80).for_each(|line| {
        let mut request = write_full(BASE + 64 * line, 1, 1);
        change(&mut request, |req| (req.src, req.tag) = (line as u16, line as u16));
        bench.ask(request);
        if line >= 64 {
            // The table is as large as the buffer: what is answered has left it.
            assert_eq!((bench.responses.len(), lines(&bench).len()), (64, 64));
        }
    });
    bench.finish(false);
    assert_eq!((lines(&bench), bench.bridge.open()), (Vec::from_iter(0..80), 0));
    assert!(answered(&bench).into_iter().eq((0..80).map(|tag| (tag, Status::OKAY))));
}

/// The time of a request that waits for a way, and of one that waits for its line, counts anew while others get on in front of it.
#[test]
fn a_queue_that_moves_gives_nobody_up() {
    let mut bench = Bench::new(cached(MN, ONE));
    let [.., third, fourth, same_line] =
        [(0, 0), (1, 4), (2, 8), (3, 12), (4, 12)].map(|(source, line)| bench.ask(read_by(source, line)));
    for _ in 0..2 {
        bench.answer(0);
        time_out(&mut bench, fourth);
        time_out(&mut bench, same_line);
    }
    assert_eq!(answered(&bench), [(0, Status::OKAY), (1, Status::OKAY)]);
    // The third one has its way and asks: its time counts.
    time_out(&mut bench, third);
    assert_eq!(answered(&bench).last(), Some(&(2, Status::CompletionTimeout)));
    bench.finish(false);
    assert_eq!(answered(&bench)[3..], [(3, Status::OKAY), (4, Status::OKAY)]);
    assert_eq!((bench.bridge.counts().timeouts, bench.bridge.open()), (1, 0));
}

/// Reads that have joined one that is given up have no line: they end with status 8 as it does, and not with zeros, whether it has waited for room
/// or for the tags of its line in HBM.
#[test]
fn reads_that_joined_one_that_is_given_up_are_told() {
    let mut bench = Bench::new(cached(MN, ONE));
    let [_, waits, _] = [(0, 0), (1, 4), (2, 4)].map(|(source, line)| bench.ask(read_by(source, line)));
    assert_eq!(bench.bridge.counts().joined, 1);
    time_out(&mut bench, waits);
    bench.finish(false);
    let given_up = [(1, Status::CompletionTimeout), (2, Status::CompletionTimeout)];
    assert_eq!((answered(&bench), bench.bridge.open()), ([&given_up[..], &[(0, Status::OKAY)]].concat(), 0));

    let mut bench = Bench::new(cached(MN, DataCacheConfig { tags_in_hbm: true, ..ONE }));
    let [reads, _] = [1, 2].map(|source| {
        let entry = bench.bridge.admit(0, asked(&read_by(source, 4))).expect("room");
        bench.bridge.start(entry, &mut bench.out);
        entry
    });
    let id = ChildId { entry: reads, child: 0 };
    let advances = bench.bridge.child_of(id).expect("a child").advances;
    bench.bridge.time_out(id, advances, &mut bench.out);
    bench.collect();
    assert_eq!((answered(&bench), bench.bridge.open(), lines(&bench)), (given_up.to_vec(), 0, vec![]));
}

/// A queue in which nobody gets on ends with status 8, one request after the other, and leaves nothing behind.
#[test]
fn a_queue_that_stands_still_is_given_up() {
    let mut bench = Bench::new(cached(MN, ONE));
    let [_, second, third] = [(0, 0), (1, 4), (2, 8)].map(|(source, line)| bench.ask(read_by(source, line)));
    time_out(&mut bench, third);
    time_out(&mut bench, second);
    // One that is given up moves its set: who waits behind it may wait a period longer.
    assert_eq!(answered(&bench)[0], (2, Status::CompletionTimeout));
    time_out(&mut bench, second);
    assert_eq!(answered(&bench)[1..], [(1, Status::CompletionTimeout)]);
    bench.finish(false);
    assert_eq!((bench.responses.len(), bench.bridge.open(), lines(&bench)), (3, 0, vec![0]));
    assert_eq!(beats(&bench.whole(read_by(3, 4))), [[0; 64]]);
}
