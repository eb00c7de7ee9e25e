//! Segment tables of edge ports: from an address to the DPID that a host's request gets (`fabric` EDG-1 to EDG-4).
//!
//! Modelled: all sizes of segments, depths, entries with one DPID and with 2 to 256, and addresses that no entry claims. Left
//! out: access vectors, and the decoders that are asked next.

use super::{FabricVectors, SEED, hex, pid};
use scalepool_fabric::cxl_switch::pbr::segments::{MOST_SEGMENT_CODE, SEGMENT_BYTES};
use scalepool_fabric::cxl_switch::pbr::{AccessVector, PbrPid, SegmentTable};
use scalepool_kernel::Rng;
use serde_json::{Value, json};

/// Entries of each table, and addresses of each entry at random.
const ENTRIES: u64 = 9;
const RANDOM: usize = 4;

pub(super) fn vectors() -> FabricVectors {
    let mut rng = Rng::for_name(SEED, "segment_tables");
    let sizes = (0..=MOST_SEGMENT_CODE).flat_map(|code| [16usize, 64].map(|depth| (code, depth)));
    let cases = sizes.map(|(code, depth)| case(code, depth, &mut rng)).collect();
    FabricVectors {
        name: "segment_tables",
        about: "segment tables (FAST, LDST) of edge ports: entry and DPID of an address",
        cases,
    }
}

/// A table. Its numbers are those that registers can say.
fn case(code: u8, depth: usize, rng: &mut Rng) -> Value {
    let segment = SEGMENT_BYTES << code;
    let base = segment * (1 + rng.below(8));
    let limit = base + segment * depth as u64;
    let mut table =
        SegmentTable::new(base, limit, code, depth).unwrap_or_else(|e| unreachable!("a table of registers: {e}"));
    let mut access = AccessVector::default();
    (0..0xfff).map(pid).for_each(|pid| access.set(pid, true));
    let (mut entries, mut addresses) = (Vec::new(), vec![base - 1, limit - 1, limit]);
    for n in 0..ENTRIES {
        // One, two, four .. 256 ways; the segments behind the last of these have no valid entry.
        let (first, granularity) = (base + n * segment, 256u64 << rng.below(7));
        let Some(index) = table.index(first) else { unreachable!("{first:#x} lies in the table") };
        let start = rng.below(0xe00) as u16;
        let dpids: Vec<PbrPid> = (start..start + (1 << n)).map(pid).collect();
        let set = table.set(index, granularity, &dpids, &access);
        set.unwrap_or_else(|e| unreachable!("an entry of the table: {e}"));
        entries.push(json!({
            "entry": index, "granularity": granularity, "dpids": dpids.iter().map(|pid| pid.number()).collect::<Vec<_>>(),
        }));
        addresses.extend([first, first + granularity - 1, first + granularity, first + segment - 1]);
        addresses.extend((0..RANDOM).map(|_| first + rng.below(segment)));
    }
    let lookup = |address: u64| {
        let dpid = table.dpid(address).map(PbrPid::number);
        json!({ "address": hex(address), "entry": table.index(address), "dpid": dpid })
    };
    json!({
        "base": hex(base), "limit": hex(limit), "segment_code": code, "depth": depth, "entries": entries,
        "lookups": addresses.into_iter().map(lookup).collect::<Vec<_>>(),
    })
}
