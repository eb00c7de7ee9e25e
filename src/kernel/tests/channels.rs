use super::*;

/// A writer that pushes 0, 1, 2, .. `count` times as fast as it can, and logs what it pushes and what came back.
fn eager(bind: &mut Binder, tx: OutEnd<u32>, count: u32, log: &Log) -> impl Module + use<> {
    let (mut tx, log, mut n, mut refused) = (bind.attach(tx), log.clone(), 0, None);
    Act(move |cx: &mut Cx| {
        if n == count {
            return Next::Idle;
        }
        match tx.push(cx, n) {
            Ok(()) => {
                log.add(cx, format!("push {n}"));
                n += 1;
                refused = None;
            }
            Err(Full(item)) => {
                assert_eq!(item, n);
                // Once an edge: a needless evaluation must not be seen.
                if refused != Some(n) {
                    log.add(cx, format!("full {n}"));
                }
                refused = Some(n);
                return Next::Idle;
            }
        }
        Next::busy_if(n < count)
    })
}

/// A reader that takes one item an edge.
fn taker(bind: &mut Binder, rx: InEnd<u32>, log: &Log) -> impl Module + use<> {
    let (mut rx, log) = (bind.attach(rx), log.clone());
    Act(move |cx: &mut Cx| {
        if let Some(n) = rx.pop(cx) {
            log.add(cx, format!("pop {n}"));
        }
        Next::busy_if(rx.is_due(cx))
    })
}

/// Writer and reader with given clocks, in both orders of elaboration; the log.
fn pair(depth: u32, latency: u32, count: u32, writer: Clock, reader: Clock) -> Vec<String> {
    let logs = [false, true].map(|reader_first| {
        logged(&RunOptions::default(), move |p, log| {
            let tx_clock = p.clock("tx", writer)?;
            let rx_clock = p.clock("rx", reader)?;
            let (tx, rx) = p.channel("c", depth, latency)?;
            if reader_first {
                p.module("reader", rx_clock, |b| taker(b, rx, log))?;
                p.module("writer", tx_clock, |b| eager(b, tx, count, log))
            } else {
                p.module("writer", tx_clock, |b| eager(b, tx, count, log))?;
                p.module("reader", rx_clock, |b| taker(b, rx, log))
            }
        })
    });
    assert_eq!(logs[0], logs[1]);
    logs[0].clone()
}

#[test]
fn an_item_is_seen_after_the_latency_and_not_before() {
    for latency in [1, 2, 63, 64, 65, 1_000] {
        let log = pair(4, latency, 2, period(10), period(10));
        let due = 10 * u64::from(latency);
        let pops = [format!("{due} pop 0"), format!("{} pop 1", due + 10)];
        assert_eq!(log.iter().filter(|line| line.contains("pop")).collect::<Vec<_>>(), pops.iter().collect::<Vec<_>>());
    }
}

#[test]
fn depth_1_passes_one_item_every_second_edge() {
    let log = pair(1, 1, 3, period(10), period(10));
    assert_eq!(
        log,
        ["0 push 0", "10 full 1", "10 pop 0", "20 push 1", "30 full 2", "30 pop 1", "40 push 2", "50 pop 2"]
    );
}

#[test]
fn depth_2_passes_one_item_every_edge() {
    let log = pair(2, 1, 4, period(10), period(10));
    assert_eq!(
        log,
        ["0 push 0", "10 pop 0", "10 push 1", "20 pop 1", "20 push 2", "30 pop 2", "30 push 3", "40 pop 3"]
    );
}

#[test]
fn coinciding_edges_of_two_clocks_are_one_instant() {
    // The reader's edges at 10, 20, .. coincide with the writer's: what it frees there is free 10 fs later. The writer's
    // item of 0 is due at 10, the reader's edge at 5 does not see it.
    let log = pair(1, 1, 3, period(10), period(5));
    assert_eq!(
        log,
        ["0 push 0", "10 full 1", "10 pop 0", "20 push 1", "30 full 2", "30 pop 1", "40 push 2", "50 pop 2"]
    );
    // With a slow reader, too.
    let log = pair(1, 1, 2, period(5), period(10));
    assert_eq!(log, ["0 push 0", "10 pop 0", "15 push 1", "20 pop 1", "5 full 1"].map(String::from).sorted_by_time());
}

trait SortedByTime {
    fn sorted_by_time(self) -> Vec<String>;
}

impl<const N: usize> SortedByTime for [String; N] {
    fn sorted_by_time(self) -> Vec<String> {
        let mut lines = self.to_vec();
        lines.sort_by_key(|line| line.split(' ').next().and_then(|time| time.parse::<u64>().ok()));
        lines
    }
}

#[test]
fn latency_counts_the_writers_clock_and_the_reader_takes_its_next_edge() {
    // Due at 7 and 14; the reader's edges: 2, 13, 24.
    let log = pair(8, 1, 2, period(7), Clock::new(11, 1, 2).unwrap());
    assert_eq!(log, ["0 push 0", "7 push 1", "13 pop 0", "24 pop 1"]);
}

#[test]
fn a_look_takes_no_item_and_frees_no_slot() {
    let log = logged(&until(60), |p, log| {
        let clock = p.clock("clk", period(10))?;
        let (tx, rx) = p.channel("c", 1, 1)?;
        p.module("writer", clock, |b| eager(b, tx, 2, log))?;
        p.module("reader", clock, |b| {
            let (mut rx, log, mut last) = (b.attach(rx), log.clone(), None);
            Act(move |cx: &mut Cx| {
                if last == Some(cx.cycle()) {
                    return Next::Busy;
                }
                last = Some(cx.cycle());
                log.add(cx, format!("{:?}", rx.peek(cx)));
                if cx.cycle() == 3 {
                    assert!(rx.is_due(cx));
                    assert_eq!((rx.pop(cx), rx.pop(cx)), (Some(0), None));
                }
                Next::Busy
            })
        })
    });
    assert_eq!(
        log,
        [
            "0 None",
            "0 push 0",
            "10 Some(0)",
            "10 full 1",
            "20 Some(0)",
            "30 Some(0)",
            "40 None",
            "40 push 1",
            "50 Some(1)"
        ]
    );
}

#[test]
fn a_writer_that_needs_more_room_is_woken_by_each_pop() {
    let log = logged(&RunOptions::default(), |p, log| {
        let clock = p.clock("clk", period(10))?;
        let (tx, rx) = p.channel("c", 3, 1)?;
        p.module("reader", clock, |b| taker(b, rx, log))?;
        p.module("writer", clock, |b| {
            let (mut tx, log, mut bursts) = (b.attach(tx), log.clone(), 0);
            Act(move |cx: &mut Cx| {
                if bursts < 2 && tx.has_room(cx, 3) {
                    bursts += 1;
                    assert_eq!(tx.free(cx), 3);
                    for n in 0..3 {
                        assert_eq!(tx.push(cx, n), Ok(()));
                    }
                    assert_eq!(tx.push(cx, 3), Err(Full(3)));
                    log.add(cx, "burst");
                    let _ = tx.has_room(cx, 3);
                }
                Next::Idle
            })
        })
    });
    assert_eq!(log, ["0 burst", "10 pop 0", "20 pop 1", "30 pop 2", "40 burst", "50 pop 0", "60 pop 1", "70 pop 2"]);
}

#[test]
fn a_deep_channel_keeps_the_order_while_its_ring_grows() {
    let log = logged(&RunOptions::default(), |p, log| {
        let clock = p.clock("clk", period(10))?;
        let (tx, rx) = p.channel("c", 37, 1)?;
        p.module("writer", clock, |b| {
            let (mut tx, mut n) = (b.attach(tx), 0);
            Act(move |cx: &mut Cx| {
                // 1, 2, 3, .. items an edge, as far as they fit.
                let burst = cx.cycle() as u32 % 40 + 1;
                let goal = n + burst;
                while n < goal.min(600) && tx.push(cx, n).is_ok() {
                    n += 1;
                }
                Next::busy_if(n < 600)
            })
        })?;
        p.module("reader", clock, |b| {
            let (mut rx, log, mut expected) = (b.attach(rx), log.clone(), 0);
            Act(move |cx: &mut Cx| {
                for _ in 0..cx.cycle() % 7 {
                    if let Some(next) = rx.peek(cx) {
                        assert_eq!(*next, expected);
                    }
                    if let Some(n) = rx.pop(cx) {
                        assert_eq!(n, expected);
                        expected += 1;
                    }
                }
                if expected == 600 {
                    expected += 1;
                    log.add(cx, "all");
                }
                Next::busy_if(expected < 600)
            })
        })
    });
    assert_eq!(log.len(), 1);
}
