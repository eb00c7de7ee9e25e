//! Routing tables of a switch: commands that write entries, and the port of a DPID for what was received at a port (`fabric` §3.2).
//!
//! Modelled: several tables of which each port uses one; entries that are invalid, of a port and of a routing group; commands that
//! are refused and write nothing. Left out: what the modes of a group choose, which depends on load.

use super::{FabricVectors, SEED};
use scalepool_fabric::cxl_switch::pbr::drt::Drts;
use scalepool_fabric::cxl_switch::pbr::{DrtEntry, Rgt};
use scalepool_fabric::spread::{SpreadGroup, SpreadPolicy, SpreadPort};
use scalepool_kernel::Rng;
use serde_json::{Value, json};

/// Switches, commands to each, and lookups.
const SWITCHES: [usize; 4] = [2, 8, 16, 64];
const COMMANDS: usize = 24;
const LOOKUPS: usize = 60;
/// Tables of each switch, and groups.
const TABLES: u64 = 3;
const GROUPS: u64 = 5;

pub(super) fn vectors() -> FabricVectors {
    let mut rng = Rng::for_name(SEED, "routing_tables");
    FabricVectors {
        name: "routing_tables",
        about: "routing tables of a switch: what commands write, and the port of a DPID",
        cases: SWITCHES.into_iter().map(|ports| case(ports, &mut rng)).collect(),
    }
}

/// A number below `n`, and once in `seldom` one that may be `n`.
fn one_more(rng: &mut Rng, n: u64, seldom: u64) -> u64 {
    let more = u64::from(rng.below(seldom) == 0);
    rng.below(n + more)
}

fn case(ports: usize, rng: &mut Rng) -> Value {
    let port = |rng: &mut Rng| rng.below(ports as u64) as usize;
    let groups: Vec<Vec<usize>> = (0..GROUPS).map(|_| (0..1 + rng.below(4)).map(|_| port(rng)).collect()).collect();
    let group = |ports: &Vec<usize>| SpreadGroup {
        primary: ports.iter().map(|port| SpreadPort { port: *port, links: 1 }).collect(),
        secondary: Vec::new(),
        policy: SpreadPolicy::Random,
        mix: 0,
    };
    let rgt = Rgt::new(groups.iter().map(group).collect());
    let mut tables = Drts::new(TABLES as usize, ports, rgt.unwrap_or_else(|e| unreachable!("up to four ports: {e}")));
    let used: Vec<usize> = (0..ports).map(|_| rng.below(TABLES) as usize).collect();
    for (port, table) in used.iter().enumerate() {
        tables.select(port, *table).unwrap_or_else(|e| unreachable!("one of the tables: {e}"));
    }
    let mut touched = Vec::new();
    let commands: Vec<Value> = (0..COMMANDS)
        .map(|_| {
            // Now and then a table, a range, a type, a port or a group that is none.
            let table = one_more(rng, TABLES, 6) as usize;
            let count = 1 + rng.below(6);
            let first =
                if rng.below(6) == 0 { 0x1000 - rng.below(count + 1) } else { rng.below(0x1000 - count) } as usize;
            let bytes: Vec<[u8; 2]> = (0..count)
                .map(|_| {
                    let kind = one_more(rng, 3, 12) as u8;
                    let most = if kind == 2 { GROUPS } else { ports as u64 };
                    // Bits above the type are reserved.
                    [kind | (rng.below(4) as u8) << 2, one_more(rng, most, 12) as u8]
                })
                .collect();
            touched.extend((first..first + count as usize).map(|dpid| dpid as u16));
            let entries: Result<Vec<DrtEntry>, _> = bytes.iter().map(|bytes| DrtEntry::from_bytes(*bytes)).collect();
            let written = entries.and_then(|entries| tables.table(table)?.set(first, &entries));
            let hex: String = bytes.iter().flatten().map(|byte| format!("{byte:02x}")).collect();
            json!({ "table": table, "first": first, "entries": hex, "written": written.is_ok() })
        })
        .collect();
    let lookups: Vec<Value> = (0..LOOKUPS)
        .map(|_| {
            let from = port(rng);
            let dpid = match rng.below(4) {
                0 => rng.below(0x1000) as u16,
                _ => touched[rng.below(touched.len() as u64) as usize],
            };
            let ports = tables.group(from, dpid).map(|group| group.ports().collect::<Vec<_>>());
            json!({ "from": from, "dpid": dpid, "port": tables.port(from, dpid), "group": ports })
        })
        .collect();
    json!({ "ports": ports, "used": used, "groups": groups, "commands": commands, "lookups": lookups })
}
