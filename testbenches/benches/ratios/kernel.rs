//! The kernel's ring beside the same ring in SystemC, once with its items as a struct of four words, once as `sc_bv<256>`.

use super::systemc::Peer;
use super::table::{Row, Table};
use super::{Effort, ring};

/// Turns of each, fewer than elsewhere: they are longer, because a turn of SystemC is a process.
const ROUNDS: u32 = 20;
/// Edges after which the three outcomes are compared.
const COMPARED_CYCLES: u64 = 3_000;

/// A number of items in flight; edges a turn (about 0.06 s each) of the kernel, of the struct form and of the `sc_bv` form;
/// what we want of the ratios to those two.
const CASES: [(usize, [u64; 3], [Option<f64>; 2]); 3] = [
    (64, [100_000, 30_000, 1_000], [Some(2.5), Some(20.0)]),
    (8, [600_000, 50_000, 4_000], [None, None]),
    (1, [4_000_000, 80_000, 20_000], [Some(30.0), None]),
];

/// Adds the rows of the ring.
pub fn measure(effort: Effort, table: &mut Table) {
    let peer = match effort.kernel_part {
        1 => Peer::build(),
        _ => Err("a quick run leaves it out".into()),
    };
    if let Err(reason) = &peer {
        table.remark(format!("ring: our figures alone, no SystemC: {reason}"));
    }
    for (items, cycles, aims) in CASES {
        let [ours, of_struct, of_bv] = cycles.map(|cycles| cycles / effort.kernel_part);
        let rate = |cycles: u64, (seconds, _): (f64, u64)| cycles as f64 / seconds / 1e6;
        let mut best = [0.0_f64; 3];
        for _ in 0..ROUNDS.min(effort.rounds) {
            best[0] = best[0].max(rate(ours, ring::run(items, ours)));
            if let Ok(peer) = &peer {
                best[1] = best[1].max(rate(of_struct, peer.run("struct", items, of_struct)));
                best[2] = best[2].max(rate(of_bv, peer.run("bv", items, of_bv)));
            }
        }
        let mut row = |peer, aim| {
            let what = format!("ring, {items} item{}", if items == 1 { "" } else { "s" });
            table.row(Row { what, unit: "M cycle/s", ours: best[0], peer, aim, memcpy: None });
        };
        let Ok(peer) = &peer else {
            row(None, None);
            continue;
        };
        let (_, hash) = ring::run(items, COMPARED_CYCLES);
        for (n, form, name) in [(0, "struct", "SystemC, struct"), (1, "bv", "SystemC, sc_bv<256>")] {
            assert_eq!(peer.run(form, items, COMPARED_CYCLES).1, hash, "{name}: found another outcome, {items} items");
            row(Some((name, best[n + 1])), aims[n]);
        }
    }
}
