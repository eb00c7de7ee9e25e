use super::*;

/// A sender of 0..5 at its own pace and a receiver, joined by a link, in one partition or in two; the log and the windows.
fn run(partitions: usize, threads: usize, evaluate_idle: bool) -> (Vec<String>, Vec<Time>, RunReport) {
    let log = Log::default();
    let mut sim = Simulation::new(1);
    let (tx, rx) = sim.link("cable", 25).unwrap();
    let its = log.clone();
    let receiver = move |p: &mut PartitionBuilder| {
        let clock = p.clock("rx", period(7))?;
        p.module("receiver", clock, |b| {
            let mut rx = b.attach(rx);
            assert_eq!(rx.latency_fs(), 25);
            Act(move |cx: &mut Cx| {
                let due = rx.is_due(cx);
                let seen = rx.peek(cx).copied();
                let item = rx.pop(cx);
                assert_eq!((seen, due), (item, item.is_some()));
                if let Some(n) = item {
                    its.add(cx, format!("got {n}"));
                    cx.progress();
                }
                Next::busy_if(rx.is_due(cx))
            })
        })
    };
    let its = log.clone();
    let sender = move |p: &mut PartitionBuilder| {
        let clock = p.clock("tx", period(10))?;
        p.module("sender", clock, |b| {
            let (mut tx, mut n) = (b.attach(tx), 0);
            Act(move |cx: &mut Cx| {
                let gap = Next::At(Time::from_fs(if n < 3 { 10 * n } else { 100_000 * n }));
                if n < 5 && gap == Next::At(cx.now()) {
                    its.add(cx, format!("sent {n}"));
                    tx.push(cx, n);
                    n += 1;
                }
                if n == 5 { Next::Idle } else { Next::At(Time::from_fs(if n < 3 { 10 * n } else { 100_000 * n })) }
            })
        })
    };
    if partitions == 1 {
        sim.partition(move |p| receiver(p).and_then(|()| sender(p)));
    } else {
        sim.partition(receiver);
        sim.partition(sender);
    }
    let mut windows = Vec::new();
    let options = RunOptions { threads, evaluate_idle, ..RunOptions::default() };
    let report = sim.run(&options, |end| windows.push(end)).unwrap();
    (log.lines(), windows, report)
}

#[test]
fn an_item_is_seen_at_the_readers_first_edge_after_the_latency() {
    let expected = [
        "0 sent 0",
        "10 sent 1",
        "20 sent 2",
        "28 got 0",
        "35 got 1",
        "49 got 2",
        "300000 sent 3",
        "300027 got 3",
        "400000 sent 4",
        "400029 got 4",
    ]
    .map(String::from);
    let two = run(2, 1, false);
    assert_eq!(two.0, expected);
    assert_eq!(two.2.completed, 5);
    assert_eq!(two.2.end, Time::from_fs(400_029));
    assert_eq!(two.2.clock_edges, [("rx".into(), 57_148), ("tx".into(), 40_003)]);
    // The windows: 25 fs from the next thing that can happen; idle time is skipped.
    assert_eq!(two.1, [25, 50, 300_025, 300_050, 400_025, 400_050].map(Time::from_fs));
    // Two threads: the same, windows included.
    assert_eq!(run(2, 2, false), two);
    assert_eq!(run(2, 9, false), two);
    // Idle modules evaluated: the same but for the work.
    for threads in [1, 2] {
        let busy = run(2, threads, true);
        assert_eq!((busy.0, busy.1, busy.2.end), (two.0.clone(), two.1.clone(), two.2.end));
    }
    // Within one partition: the same, in long windows.
    let one = run(1, 1, false);
    assert_eq!(one.0, expected);
    assert_eq!(one.2.end, two.2.end);
    assert_eq!(one.2.windows, 1);
}

#[test]
fn what_nobody_took_from_a_link_is_open() {
    for partitions in [1, 2] {
        let mut sim = Simulation::new(1);
        let (tx, rx) = sim.link("cable", 25).unwrap();
        let sender = move |p: &mut PartitionBuilder| {
            let clock = p.clock("tx", period(10))?;
            p.module("sender", clock, |b| {
                let mut tx = b.attach(tx);
                Act(move |cx: &mut Cx| {
                    if cx.cycle() < 2 {
                        tx.push(cx, cx.cycle());
                    }
                    Next::busy_if(cx.cycle() < 2)
                })
            })
        };
        let receiver = move |p: &mut PartitionBuilder| {
            let clock = p.clock("rx", period(10))?;
            p.module("receiver", clock, |b| {
                let mut rx = b.attach(rx);
                Act(move |cx: &mut Cx| {
                    let _ = rx.peek(cx);
                    Next::Idle
                })
            })
        };
        if partitions == 1 {
            sim.partition(move |p| receiver(p).and_then(|()| sender(p)));
        } else {
            sim.partition(receiver);
            sim.partition(sender);
        }
        let error = sim.run(&RunOptions::default(), |_| ()).unwrap_err().to_string();
        assert!(error.ends_with("\n  cable: 2 items not taken, since 25 fs"), "{error}");
    }
}
