use super::*;

#[test]
fn a_module_runs_when_it_asked_to() {
    let log = logged(&RunOptions::default(), |p, log| {
        let clock = p.clock("clk", Clock::new(10, 1, 3)?)?;
        p.module("m", clock, |_| {
            let (log, mut last) = (log.clone(), None);
            // Edge number, then what it asks for there.
            let plan = [
                (0, Next::Busy),
                (1, Next::At(Time::from_fs(40))),
                (4, Next::At(Time::from_fs(43))),
                (5, Next::At(Time::from_fs(1_003))),
                (100, Next::At(Time::from_fs(1_000_000))),
                (100_000, Next::Idle),
            ];
            let mut step = 0;
            Act(move |cx: &mut Cx| {
                if last.is_some() && plan.get(step).is_some_and(|(cycle, _)| *cycle > cx.cycle()) {
                    return plan[step - 1].1;
                }
                let Some((cycle, next)) = plan.get(step) else { return Next::Idle };
                assert_eq!(cx.cycle(), *cycle);
                assert_eq!(cx.in_cycles(2), Time::from_fs(3 + 10 * (cycle + 2)));
                log.add(cx, cycle);
                (step, last) = (step + 1, Some(*cycle));
                *next
            })
        })
    });
    assert_eq!(log, ["3 0", "13 1", "43 4", "53 5", "1003 100", "1000003 100000"]);
}

#[test]
fn a_new_wish_replaces_the_timer() {
    // The reader would wake up at 1000, but something comes at 20 and it goes to sleep for good.
    let mut sim = Simulation::new(1);
    sim.partition(|p| {
        let clock = p.clock("clk", period(10))?;
        let (tx, rx) = p.channel("c", 1, 2)?;
        p.module("writer", clock, |b| {
            let mut tx = b.attach(tx);
            Act(move |cx: &mut Cx| {
                let _ = tx.push(cx, ());
                Next::Idle
            })
        })?;
        p.module("reader", clock, |b| {
            let mut rx = b.attach(rx);
            Act(move |cx: &mut Cx| match rx.pop(cx) {
                Some(()) => Next::Idle,
                None => Next::At(Time::from_fs(1_000)),
            })
        })
    });
    let report = sim.run(&RunOptions::default(), |_| ()).unwrap();
    assert_eq!((report.stop, report.end, report.evaluations), (Stop::Quiescent, Time::from_fs(20), 3));
}

#[test]
fn the_limit_is_exclusive_and_counts_edges() {
    let count = |limit_fs| {
        let mut sim = Simulation::new(1);
        sim.partition(|p| {
            let clock = p.clock("clk", period(10))?;
            p.module("m", clock, |_| Act(|_: &mut Cx| Next::Busy))
        });
        sim.run(&until(limit_fs), |_| ()).unwrap()
    };
    for (limit_fs, edges) in [(0, 0), (1, 1), (10, 1), (11, 2), (100, 10)] {
        let report = count(limit_fs);
        assert_eq!((report.stop, report.end), (Stop::Limit, Time::from_fs(limit_fs)));
        assert_eq!((report.evaluations, report.clock_edges), (edges, vec![("clk".into(), edges)]));
    }
}

#[test]
fn step_by_step_is_the_same_as_at_once() {
    let build = |log: &Log| {
        let (log, mut sim) = (log.clone(), Simulation::new(1));
        sim.partition(move |p| {
            let clock = p.clock("clk", period(10))?;
            p.module("m", clock, |_| {
                Act(move |cx: &mut Cx| {
                    log.add(cx, cx.cycle());
                    if cx.cycle() < 20 { Next::In(3) } else { Next::Idle }
                })
            })
        });
        sim
    };
    let (once, steps) = (Log::default(), Log::default());
    let expected = build(&once).run(&RunOptions::default(), |_| ()).unwrap();
    let mut running = build(&steps).start(&RunOptions::default()).unwrap();
    let mut stops = Vec::new();
    for limit in [0, 5, 30, 31, 100, 1_000] {
        stops.push(running.run_until(Time::from_fs(limit), |_| ()).unwrap());
    }
    assert_eq!(stops, [Stop::Limit, Stop::Limit, Stop::Limit, Stop::Limit, Stop::Limit, Stop::Quiescent]);
    let report = running.report().unwrap();
    assert_eq!((report.end, report.evaluations), (expected.end, expected.evaluations));
    assert_eq!(once.lines(), steps.lines());
}

#[test]
fn a_thousand_modules_on_three_clocks_run_in_elaboration_order() {
    let log = Log::default();
    let (its, mut sim) = (log.clone(), Simulation::new(1));
    sim.partition(move |p| {
        let clocks = [p.clock("a", period(4))?, p.clock("b", period(6))?, p.clock("c", period(6))?];
        for i in 0..1_000 {
            let its = its.clone();
            p.module(&format!("m[{i}]"), clocks[i % 3], |_| {
                Act(move |cx: &mut Cx| {
                    its.add(cx, format!("{} {i:04}", i % 3));
                    Next::busy_if(i % 100 == 0)
                })
            })?;
        }
        Ok(())
    });
    sim.run(&until(13), |_| ()).unwrap();
    let lines = log.0.lock().unwrap().clone();
    assert!(lines.is_sorted());
    // All at 0, then 4 of a at 4, 8, 12, 3 of b and 3 of c at 6 and 12.
    assert_eq!(lines.len(), 1_000 + 3 * 4 + 2 * (3 + 3));
}

#[test]
fn without_links_windows_are_capped_and_skip_idle_time() {
    let mut sim = Simulation::new(1);
    sim.partition(|p| {
        let clock = p.clock("clk", period(1_000_000))?;
        p.module("m", clock, |_| {
            Act(|cx: &mut Cx| match cx.cycle() {
                0 => Next::At(Time::from_ns(50_000)),
                50_000 => Next::At(Time::from_ns(5_000_000)),
                _ => Next::Idle,
            })
        })
    });
    let mut windows = Vec::new();
    sim.run(&RunOptions::default(), |end| windows.push(end.as_fs() / 1_000_000)).unwrap();
    assert_eq!(windows, [100_000, 5_100_000]);
}

fn stuck(next: Next, options: &RunOptions) -> SimError {
    stuck_simulation(next).run(options, |_| ()).unwrap_err()
}

fn stuck_simulation(next: Next) -> Simulation {
    let mut sim = Simulation::new(1);
    sim.partition(move |p| {
        let clock = p.clock("clk", period(1_000))?;
        p.module("young", clock, |_| Stuck(Pending::new("read 7", Time::from_fs(60)), Next::Idle))?;
        p.module("old", clock, |_| Stuck(Pending::new("read 3", Time::from_fs(20)), next))
    });
    sim
}

/// Whatever the steps, a stall is that of a run at once; it is found once and for all.
#[test]
fn a_stall_is_the_same_in_steps() {
    let options = RunOptions { stall_limit_fs: Some(5_000), open_at_limit_allowed: true, ..RunOptions::default() };
    for next in [Next::Busy, Next::At(Time::from_fs(1_000_000))] {
        let at_once = stuck(next, &options);
        for step_fs in [1, 1_000, 3_700, 1 << 40] {
            let mut running = stuck_simulation(next).start(&options).unwrap();
            let mut limit = Time::ZERO;
            let found = loop {
                limit = limit.plus_fs(step_fs);
                // Looking at it changes nothing.
                if step_fs == 3_700 {
                    let _ = running.report();
                }
                if let Err(error) = running.run_until(limit, |_| ()) {
                    break error;
                }
            };
            assert_eq!(found, at_once, "steps of {step_fs} fs");
            assert_eq!(
                (running.report().unwrap_err(), running.run_until(None, |_| ()).unwrap_err()),
                (at_once.clone(), at_once.clone())
            );
        }
    }
}

#[test]
fn a_stall_names_the_oldest_first() {
    let options = RunOptions { stall_limit_fs: Some(5_000), ..RunOptions::default() };
    let error = stuck(Next::Busy, &options);
    assert!(matches!(error, SimError::Stall { limit_fs: 5_000, .. }), "{error}");
    let lines: Vec<String> = error.to_string().lines().skip(1).map(String::from).collect();
    assert_eq!(
        lines,
        ["  old: read 3, since 20 fs (credits=3, state=1)", "  young: read 7, since 60 fs (credits=3, state=1)"]
    );
    // A long sleep is found when it begins.
    let SimError::Stall { at, .. } = stuck(Next::At(Time::from_fs(1_000_000)), &options) else { panic!() };
    assert_eq!(at, Time::from_fs(1_000_000));
    // Without the check the limit ends the run, and finds the same.
    let options = RunOptions { stall_limit_fs: None, limit: Some(Time::from_fs(9_000)), ..RunOptions::default() };
    let SimError::OpenAtLimit { at, open } = stuck(Next::Busy, &options) else { panic!() };
    assert_eq!((at, open.len(), open[0].place.as_str()), (Time::from_fs(9_000), 2, "old"));
}

#[test]
fn progress_and_idleness_keep_a_stall_away() {
    for (progress, open) in [(true, true), (false, false)] {
        struct Worker(bool, bool);
        impl Module for Worker {
            fn eval(&mut self, cx: &mut Cx) -> Next {
                if self.0 {
                    cx.progress();
                }
                if cx.cycle() == 100 {
                    self.1 = false;
                    return Next::Idle;
                }
                Next::Busy
            }
            fn idle_ok(&self) -> Result<(), Pending> {
                if self.1 { Err(Pending::new("work", Time::ZERO)) } else { Ok(()) }
            }
        }
        let mut sim = Simulation::new(1);
        sim.partition(move |p| {
            let clock = p.clock("clk", period(1_000))?;
            p.module("m", clock, |_| Worker(progress, open))
        });
        let mut running = sim.start(&RunOptions { stall_limit_fs: Some(5_000), ..RunOptions::default() }).unwrap();
        for limit in 0..=101 {
            running.run_until(Time::from_fs(limit * 1_000), |_| ()).unwrap();
        }
        let report = running.report().unwrap();
        assert_eq!((report.stop, report.completed), (Stop::Quiescent, if progress { 101 } else { 0 }));
    }
}

#[test]
fn a_deadlock_is_an_error() {
    let SimError::Deadlock { at, open } = stuck(Next::Idle, &RunOptions::default()) else { panic!() };
    assert_eq!((at, open.len(), open[0].what.as_str()), (Time::ZERO, 2, "read 3"));
    // So is an item that nobody takes.
    let mut sim = Simulation::new(1);
    sim.partition(|p| {
        let clock = p.clock("clk", period(10))?;
        let (tx, rx) = p.channel("c", 4, 3)?;
        p.module("writer", clock, |b| {
            let mut tx = b.attach(tx);
            Act(move |cx: &mut Cx| {
                if cx.cycle() == 0 {
                    tx.push(cx, 5).unwrap();
                }
                Next::Idle
            })
        })?;
        p.module("reader", clock, |b| {
            let rx = b.attach(rx);
            Act(move |cx: &mut Cx| Next::busy_if(rx.is_due(cx) && cx.cycle() < 5))
        })
    });
    let error = sim.run(&RunOptions::default(), |_| ()).unwrap_err().to_string();
    assert!(error.starts_with("deadlock at 50 fs") && error.ends_with("c: 1 item not taken, since 30 fs"), "{error}");
}

#[test]
fn a_panic_of_a_module_is_passed_on_by_every_thread() {
    for broken in 0..3 {
        let mut sim = Simulation::new(1);
        for i in 0..3 {
            sim.partition(move |p| {
                let clock = p.clock("clk", period(10))?;
                p.module(&format!("m[{i}]"), clock, |_| {
                    Act(move |cx: &mut Cx| {
                        if i == broken && cx.cycle() == 5 {
                            std::panic::panic_any(i);
                        }
                        Next::Busy
                    })
                })
            });
        }
        let options = RunOptions { threads: 3, ..until(1_000) };
        let run = std::panic::AssertUnwindSafe(|| sim.run(&options, |_| ()));
        let panic = std::panic::catch_unwind(run).unwrap_err();
        assert_eq!(panic.downcast_ref::<i32>(), Some(&broken));
    }
}

/// A link that noise keeps busy, and a worker that has something open until a cycle.
struct Noisy(bool);

impl Module for Noisy {
    fn eval(&mut self, _: &mut Cx) -> Next {
        Next::Busy
    }
    fn idle_ok(&self) -> Result<(), Pending> {
        Err(Pending::new("a retry", Time::ZERO))
    }
    fn is_done(&self) -> bool {
        self.0
    }
}

#[test]
fn a_run_whose_work_is_done_ends_though_a_link_does_not_rest() {
    struct Worker;
    impl Module for Worker {
        fn eval(&mut self, cx: &mut Cx) -> Next {
            if cx.cycle() == 7 {
                cx.progress();
                return Next::Idle;
            }
            // It sleeps with nothing open, and will go on.
            Next::In(7)
        }
    }
    let build = |noisy: bool| {
        let mut sim = Simulation::new(1);
        sim.partition(move |p| {
            let clock = p.clock("clk", period(time::FS_PER_US))?;
            p.module("noisy", clock, |_| Noisy(noisy))?;
            p.module("worker", clock, |_| Worker)
        });
        sim
    };
    let options = RunOptions { stall_limit_fs: Some(1_000 * time::FS_PER_US), ..RunOptions::default() };
    let report = build(true).run(&options, |_| ()).unwrap();
    assert_eq!(report.stop, Stop::Done);
    assert!(
        (107..=307).contains(&(report.end.as_fs() / time::FS_PER_US)),
        "100 us behind the last progress: {}",
        report.end
    );
    // In steps it is the same.
    let mut running = build(true).start(&options).unwrap();
    let stops = (1..=400).map(|n| running.run_until(Time::from_fs(n * time::FS_PER_US), |_| ()).unwrap());
    assert_eq!(stops.last(), Some(Stop::Done));
    assert_eq!(running.report().unwrap(), report);
    // A link with work in it stalls.
    assert!(matches!(build(false).run(&options, |_| ()), Err(SimError::Stall { .. })));
}

#[test]
fn a_module_that_gives_up_ends_the_run_by_its_rule() {
    struct Lost;
    impl Module for Lost {
        fn eval(&mut self, cx: &mut Cx) -> Next {
            if cx.cycle() >= 5 {
                cx.give_up("SIM-LNK-01");
            }
            Next::Busy
        }
        fn idle_ok(&self) -> Result<(), Pending> {
            Err(Pending::new("the link cannot work", Time::from_fs(5_000)))
        }
    }
    let mut sim = Simulation::new(1);
    sim.partition(|p| {
        let clock = p.clock("clk", period(1_000))?;
        p.module("link", clock, |_| Lost)
    });
    let error = sim.run(&RunOptions::default(), |_| ()).unwrap_err();
    let SimError::GivenUp { since, rule, open, .. } = &error else { panic!("{error}") };
    assert_eq!((since.as_fs(), *rule, open.len()), (5_000, "SIM-LNK-01", 1));
}
