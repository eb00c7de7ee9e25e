//! Goodput of the packer with queues that never run dry and credits without end: data slots a flit of 14, beside what slot
//! counts allow. And what it costs that implied numbers wait for a stated one.

use super::rig::*;
use scalepool::kernel::Rng;
use scalepool_protocols::cxl::cxl256::config::Cxl256Config;
use scalepool_protocols::cxl::cxl256::packer::Packer;
use scalepool_protocols::cxl::cxl256::stream::LINE_SLOTS;

/// Lines and messages without line, a flit in the long run; lines have no trailers.
fn per_flit(mode: Mode, classes: &[Class]) -> (f64, f64) {
    let mut packer = Packer::new(mode, classes[0].dir(), Cxl256Config::default());
    let mut rng = Rng::for_name(1, "goodput");
    let mut taken = [0; 12];
    let flits = 2000;
    for _ in 0..flits {
        for &class in classes {
            while packer.waiting(class) < 16 {
                let message = random_message(&mut rng, mode.routing(), class);
                if message.data.is_none_or(|d| d.byte_enables.is_none() && d.metadata.is_none()) {
                    packer.push(message).expect("legal");
                }
            }
        }
        packer.pack(&mut [u16::MAX; 12]).expect("there is always something");
        classes.iter().for_each(|&c| taken[c.index()] += 16 - packer.waiting(c));
    }
    let sum = |data| classes.iter().filter(|c| c.has_data() == data).map(|c| taken[c.index()]).sum::<usize>();
    (sum(true) as f64 / f64::from(flits), sum(false) as f64 / f64::from(flits))
}

/// Data slots a flit with `others` messages without line: G slots (14, of a latency-optimised flit 13) hold lines and, `in_g`
/// a slot, the headers and messages that do not stand in the H slot or in slot 8 of a latency-optimised flit, which have
/// room for `in_short` each.
fn closed_form(mode: Mode, in_short: f64, in_g: f64, others: f64) -> f64 {
    let (g_slots, short_slots) = if mode.is_lopt() { (13.0, 2.0) } else { (14.0, 1.0) };
    let lines = (g_slots + (short_slots * in_short - others) / in_g) / (LINE_SLOTS as f64 + 1.0 / in_g);
    LINE_SLOTS as f64 * lines
}

/// Data slots a flit that slot counts and the limits of packing (`cxl-256b` §5.3) allow.
///
/// Answers of reads alone: at most 5 data messages a flit and 8 in two leave no room for two G slots of headers; of three
/// flits, two need one in the standard map (13 + 13 + 14), all three where a G slot holds two (PBR) or where slot 8 takes a
/// message of the window of 128 B in which a G slot could have three (latency-optimised). Writes: at most 2 in 128 B, so
/// that slot 8 spares no G slot.
fn allowed(mode: Mode, classes: &[Class], others: f64) -> f64 {
    match (mode, classes) {
        (Mode::Standard, [Class::S2mDrs]) => 40.0 / 3.0,
        (_, [Class::S2mDrs]) => 13.0,
        (Mode::Pbr, [Class::S2mDrs, _]) => closed_form(mode, 2.0, 2.0, others),
        (_, [Class::S2mDrs, _]) => closed_form(mode, 2.0, 3.0, others),
        _ => closed_form(mode, 1.0, 1.0, others),
    }
}

#[test]
fn saturated_reads_and_writes_fill_the_flit() {
    let cases: [(&str, &[Class]); 4] = [
        ("reads, answers alone", &[Class::S2mDrs]),
        ("writes, requests alone", &[Class::M2sRwd]),
        ("answers of reads and writes", &[Class::S2mDrs, Class::S2mNdr]),
        ("requests of reads and writes", &[Class::M2sRwd, Class::M2sReq]),
    ];
    for mode in Mode::ALL {
        for (name, classes) in cases {
            let (lines, others) = per_flit(mode, classes);
            let (slots, allowed) = (LINE_SLOTS as f64 * lines, allowed(mode, classes, others));
            let percent = 100.0 * slots * 16.0 / 256.0;
            let protocol = mode.protocol();
            println!(
                "{protocol} {name}: {slots:.3} data slots a flit, closed form {allowed:.3}, {percent:.1} % of 256 B"
            );
            assert!((slots / allowed - 1.0).abs() < 0.02, "{protocol} {name}: {slots}, expected {allowed}");
        }
    }
}

/// Flit clocks from one end to the other, mean over messages that come one at a time.
fn latency_flits(doubt_implied: bool, mode: Mode) -> f64 {
    let mut bench = Bench::new(LinkConfig { doubt_implied, mode, ..LinkConfig::default() }, 32, 1);
    bench.phases = false;
    assert!(bench.rest(2000));
    let (mut sum, count) = (0, 400);
    for n in 0..count {
        bench.give(Class::M2sReq);
        let from = bench.pair.wires.now();
        while bench.pair.device.client.inbox_len() == 0 {
            bench.pair.step();
        }
        sum += bench.pair.wires.now() - from;
        (0..3 + n % 7).for_each(|_| bench.step());
    }
    sum as f64 / count as f64
}

#[test]
fn doubt_costs_a_flit_in_four() {
    for mode in [Mode::Standard, Mode::Pbr] {
        let (with, without) = (latency_flits(true, mode), latency_flits(false, mode));
        println!("{}: a request takes {with:.3} flits, {without:.3} without doubt", mode.protocol());
        assert!(with >= without && with - without < 0.5, "one flit more for the one in four with an implied number");
    }
}
