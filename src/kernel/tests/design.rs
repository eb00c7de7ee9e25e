use super::*;

/// The error of a design of one partition, the same for building it with others on two threads.
fn refused(build: impl Fn(&mut PartitionBuilder) -> Result<(), BuildError> + Clone + Send + 'static) -> BuildError {
    let error = |threads| {
        let mut sim = Simulation::new(1);
        sim.partition(|_| Ok(()));
        sim.partition(build.clone());
        sim.partition(build.clone());
        match sim.run(&RunOptions { threads, ..RunOptions::default() }, |_| ()) {
            Err(SimError::Build(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(error(1), error(3));
    error(1)
}

fn idle() -> impl Module {
    Act(|_: &mut Cx| Next::Idle)
}

#[test]
fn an_end_without_a_module_is_refused() {
    let unbound = |end| BuildError::Unbound { name: "c".into(), end };
    let writer = refused(|p| {
        let clock = p.clock("clk", period(1))?;
        let (_tx, rx) = p.channel::<u8>("c", 1, 1)?;
        p.module("m", clock, |b| {
            b.attach(rx);
            idle()
        })
    });
    assert_eq!(writer, unbound("writer"));
    let reader = refused(|p| {
        let clock = p.clock("clk", period(1))?;
        let (tx, _rx) = p.channel::<u8>("c", 1, 1)?;
        p.module("m", clock, |b| {
            b.attach(tx);
            idle()
        })
    });
    assert_eq!(reader, unbound("reader"));
    let wire = refused(|p| {
        let clock = p.clock("clk", period(1))?;
        let (tx, _rx) = p.wire("c", 1, 0)?;
        p.module("m", clock, |b| {
            b.attach(tx);
            idle()
        })
    });
    assert_eq!(wire, unbound("reader"));
    for (end, threads) in [("writer", 1), ("reader", 1), ("writer", 2), ("reader", 2)] {
        let mut sim = Simulation::new(1);
        let (tx, rx) = sim.link::<u8>("c", 1).unwrap();
        sim.partition(move |p| {
            let clock = p.clock("clk", period(1))?;
            p.module("m", clock, |b| {
                if end == "writer" {
                    b.attach(rx);
                } else {
                    b.attach(tx);
                }
                idle()
            })
        });
        sim.partition(|_| Ok(()));
        let error = sim.run(&RunOptions { threads, ..RunOptions::default() }, |_| ()).unwrap_err();
        assert_eq!(error, SimError::Build(unbound(end)));
    }
}

#[test]
fn a_name_stands_for_one_thing() {
    let twice = |kind| BuildError::Duplicate { kind, name: "a.b[1]".into() };
    let module = refused(|p| {
        let clock = p.clock("clk", period(1))?;
        p.module("a.b[1]", clock, |_| idle())?;
        p.module("a.b[1]", clock, |_| idle())
    });
    assert_eq!(module, twice("module"));
    let channel = refused(|p| {
        let _ends = p.channel::<u8>("a.b[1]", 1, 1)?;
        p.wire("a.b[1]", 1, 0).map(|_| ())
    });
    assert_eq!(channel, twice("channel"));
    let clock = refused(|p| {
        p.clock("a.b[1]", period(1))?;
        p.clock("a.b[1]", period(2)).map(|_| ())
    });
    assert_eq!(clock, twice("clock"));
    // Across partitions, and between links and channels. `refused` builds the partition twice.
    let across = refused(|p| {
        let clock = p.clock("clk", period(1))?;
        p.module("a.b[1]", clock, |_| idle())
    });
    assert_eq!(across, twice("module"));
    let mut sim = Simulation::new(1);
    let _ends = sim.link::<u8>("a.b[1]", 1).unwrap();
    assert_eq!(sim.link::<u8>("a.b[1]", 1).map(|_| ()), Err(twice("channel")));
    sim.partition(|p| {
        let clock = p.clock("clk", period(1))?;
        let (tx, rx) = p.channel::<u8>("a.b[1]", 1, 1)?;
        p.module("m", clock, |b| {
            b.attach(tx);
            b.attach(rx);
            idle()
        })
    });
    assert_eq!(sim.run(&RunOptions::default(), |_| ()), Err(SimError::Build(twice("channel"))));
}

#[test]
fn a_bad_name_is_refused_everywhere() {
    let is_name = |error| matches!(error, BuildError::Name { at: 0, .. });
    assert!(is_name(refused(|p| p.clock("Clk", period(1)).map(|_| ()))));
    assert!(is_name(refused(|p| p.channel::<u8>("Bad", 1, 1).map(|_| ()))));
    assert!(is_name(refused(|p| p.wire("Bad", 1, 0).map(|_| ()))));
    assert!(is_name(refused(|p| {
        let clock = p.clock("clk", period(1))?;
        p.module("Bad", clock, |_| idle())
    })));
    let error = Simulation::new(1).link::<u8>("a b", 1).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "name `a b`, byte 1: found ' ', expected `.`, `[`, a letter a-z, a digit or `_`");
}

#[test]
fn no_latency_no_depth_no_period_are_refused() {
    let latency = BuildError::Latency { name: "c".into() };
    assert_eq!(refused(|p| p.channel::<u8>("c", 1, 0).map(|_| ())), latency);
    assert_eq!(refused(|p| p.wire("c", 0, 0).map(|_| ())), latency);
    assert_eq!(Simulation::new(1).link::<u8>("c", 0).map(|_| ()).unwrap_err(), latency);
    assert_eq!(refused(|p| p.channel::<u8>("c", 0, 1).map(|_| ())), BuildError::Depth { name: "c".into() });
    let period = refused(|p| p.clock("clk", Clock::new(0, 1, 0)?).map(|_| ()));
    assert_eq!(period, BuildError::Period { num: 0, den: 1 });
}

#[test]
fn an_empty_simulation_ends_at_once() {
    let report = Simulation::new(1).run(&RunOptions { threads: 0, ..RunOptions::default() }, |_| ()).unwrap();
    assert_eq!((report.stop, report.end, report.windows), (Stop::Quiescent, Time::ZERO, 0));
}

#[test]
fn modules_are_reset_once_and_have_their_own_numbers() {
    struct Probe(u64, Vec<u64>, Log);
    impl Module for Probe {
        fn reset(&mut self) {
            self.0 += 1;
        }
        fn eval(&mut self, cx: &mut Cx) -> Next {
            self.2.add(cx, format!("{} {:?}", self.0, self.1));
            Next::Idle
        }
    }
    let log = Log::default();
    let (its, mut sim) = (log.clone(), Simulation::new(7));
    sim.partition(move |p| {
        let clock = p.clock("clk", period(5))?;
        p.module("a", clock, |b| {
            assert_eq!((b.name(), b.clock()), ("a", period(5)));
            Probe(0, vec![b.rng().next_u64(), b.rng_for("faults").next_u64()], its)
        })
    });
    sim.run(&RunOptions::default(), |_| ()).unwrap();
    let numbers = [Rng::for_name(7, "a").next_u64(), Rng::for_name(7, "a:faults").next_u64()];
    assert_eq!(log.lines(), [format!("0 1 {numbers:?}")]);
}
