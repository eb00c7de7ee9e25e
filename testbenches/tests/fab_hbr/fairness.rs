//! No class starves where more messages want to leave, or to enter, than a port can move (`fabric` ORD-6).

use super::module::{bench, read, run, write};
use scalepool::arbiter::{ArbiterKind, RoundRobin, StrictPriority};
use scalepool_protocols::cxl::message::Message;

const HOSTS: usize = 3;
/// What a port moves in a cycle: a request, or a fifth of a write \[bytes\].
const NARROW: u64 = 16;
/// While every host always has reads and writes for one port, each of them is served once a round: a request and a write of each
/// host, 16 + 80 bytes. Two rounds, because a queue may just have been empty when its turn came \[cycles\].
const BOUND_CYCLES: u64 = 2 * HOSTS as u64 * (16 + 80) / NARROW;
/// From here on all queues are full \[cycles\].
const FULL: u64 = 200;
/// Cycles of a run.
const END: u64 = 1000;

/// The longest time for which nothing of a host and of a class came to the device \[cycles\].
fn longest_gap(speedup: u64, width_bytes: u64, arbiter: &'static ArbiterKind) -> u64 {
    let mut narrow = bench(HOSTS);
    (narrow.speedup, narrow.width_bytes, narrow.arbiter) = (speedup, width_bytes, arbiter);
    narrow.floods = vec![vec![read(1, 0), write(2)]; HOSTS];
    let (seen, _) = run(narrow);
    let gap = |(ld, tag): (u8, u16)| {
        let is_it = |message: &Message| message.route().ld_id == ld && message.identifier().1 == tag;
        let came = seen[HOSTS].iter().filter(|(cycle, message)| *cycle > FULL && is_it(message));
        let times: Vec<u64> = [FULL].into_iter().chain(came.map(|(cycle, _)| *cycle)).chain([END]).collect();
        times.windows(2).map(|pair| pair[1] - pair[0]).max()
    };
    let all = (0..HOSTS as u8).flat_map(|ld| [(ld, 1), (ld, 2)]);
    all.filter_map(gap).max().expect("there are hosts")
}

#[test]
fn fab_ord_06_p() {
    for speedup in [1, 2, 8] {
        let found = longest_gap(speedup, NARROW, &RoundRobin::KIND);
        assert!(found <= BOUND_CYCLES, "speed-up {speedup}: nothing for {found} cycles");
    }
}

/// An arbiter that always prefers one class lets another one starve.
#[test]
fn fab_ord_06_n() {
    for speedup in [1, 2] {
        let found = longest_gap(speedup, NARROW, &StrictPriority::KIND);
        assert!(found > BOUND_CYCLES, "speed-up {speedup}: at most {found} cycles");
    }
}
