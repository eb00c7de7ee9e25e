use super::*;

#[test]
fn the_last_write_of_an_edge_wins_and_the_value_stays() {
    let log = logged(&RunOptions::default(), |p, log| {
        let clock = p.clock("clk", period(10))?;
        let other = p.clock("other", Clock::new(7, 1, 0)?)?;
        let (tx, rx) = p.wire("w", 2, 0_u32)?;
        for (name, clock) in [("near", clock), ("far", other)] {
            p.module(name, clock, |b| {
                let (rx, log, name, mut last) = (b.attach(rx.clone()), log.clone(), b.name().to_owned(), None);
                Act(move |cx: &mut Cx| {
                    let value = rx.read(cx);
                    if last != Some(value) {
                        log.add(cx, format!("{name} {value}"));
                        last = Some(value);
                    }
                    Next::Idle
                })
            })?;
        }
        p.module("driver", clock, |b| {
            let mut tx = b.attach(tx);
            Act(move |cx: &mut Cx| {
                match cx.cycle() {
                    0 => {
                        tx.write(cx, 1);
                        tx.write(cx, 2);
                    }
                    1 => tx.write(cx, 3),
                    // The same value again is nothing, and so is a write that is taken back.
                    2 => tx.write(cx, 3),
                    3 => {
                        tx.write(cx, 9);
                        tx.write(cx, 3);
                    }
                    _ => return Next::Idle,
                }
                Next::Busy
            })
        })
    });
    assert_eq!(log, ["0 far 0", "0 near 0", "20 near 2", "21 far 2", "30 near 3", "35 far 3"]);
}
