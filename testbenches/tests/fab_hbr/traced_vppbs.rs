//! Which vPPB a transaction has passed, out of the trace of a run (`fabric` VCS-1).

use super::systems::POOLED;
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool::trace::diff::DiffInput;
use scalepool::trace::explain::{TraceTransaction, Trees};

const LOGICAL: &str = include_str!("../../systems/io_logical_devices.toml");
const PBR: &str = include_str!("../../systems/pbr_two_switches.toml");

fn traced(text: &str, set: &[&str]) -> Trees {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.jsonl");
    let request = ScenarioRequest {
        description: Some(text.to_owned()),
        seed: 1,
        threads: 1,
        set: set.iter().map(|&s| s.to_owned()).collect(),
        outputs: Outputs { trace: Some(path.clone()), ..Outputs::default() },
        ..ScenarioRequest::default()
    };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, [], "{set:?}");
    let file = std::fs::File::open(path).expect("the trace is there");
    let reader = std::io::BufReader::new(file);
    Trees::read(DiffInput { name: "trace".to_owned(), reader }).unwrap_or_else(|error| panic!("{error}"))
}

/// Host and vPPB of each transaction that names any: it names one, and once, though its answer passes there too.
fn passed(trees: &Trees) -> Vec<(&TraceTransaction, [u64; 2])> {
    let named = trees.all().values().filter(|transaction| !transaction.vppbs.is_empty());
    let only = |transaction: &'_ TraceTransaction| match &transaction.vppbs[..] {
        [one] => [one.vcs, one.vppb],
        several => panic!("{transaction:?}: found {several:?}, expected one vPPB"),
    };
    named.map(|transaction| (transaction, only(transaction))).collect()
}

/// Every request of CXL.mem passes the vPPB of its host, and the text of the tree says which.
#[test]
fn a_request_of_memory_names_its_vppb() {
    let trees = traced(POOLED, &["host.accesses=20"]);
    let named = passed(&trees);
    for host in 0..2u64 {
        let of_host = |t: &TraceTransaction| t.place.starts_with(&format!("host[{host}]")) && t.what.contains("m2s_");
        assert_eq!(trees.all().values().filter(|t| of_host(t)).count(), 20, "host[{host}]");
        let vppbs: Vec<[u64; 2]> = named.iter().filter(|(t, _)| of_host(t)).map(|(_, vppb)| *vppb).collect();
        assert_eq!(vppbs, [[host, 0]; 20], "host[{host}]");
    }
    let (&id, _) = trees.all().iter().find(|(_, t)| t.vppbs.iter().any(|p| p.vcs == 1)).expect("host[1] asks");
    let text = trees.tree(id).expect("it is there");
    assert!(text.contains("  - passes vPPB 0 of VCS 1 at switch\n"), "{text}");
    assert_eq!(trees.tree_json(id).expect("it is there")["vppbs"][0]["vcs"], 1);
}

/// So does every request of CXL.io, here to one of the logical devices behind one port.
#[test]
fn a_request_of_io_names_its_vppb() {
    let trees = traced(LOGICAL, &["host.accesses=8"]);
    let named = passed(&trees);
    for host in 0..4 {
        let of_host = |t: &TraceTransaction| t.place.starts_with(&format!("host[{host}]"));
        let mut vppbs: Vec<[u64; 2]> = named.iter().filter(|(t, _)| of_host(t)).map(|(_, vppb)| *vppb).collect();
        vppbs.sort_unstable();
        vppbs.dedup();
        assert_eq!(vppbs, [0, 1, 2, 3].map(|vppb| [host, vppb]), "host[{host}]");
    }
}

/// Ports of a switch with port based routing are no vPPBs: there a message has its PIDs.
#[test]
fn port_based_routing_names_no_vppb() {
    assert!(passed(&traced(PBR, &["host.accesses=20"])).is_empty());
}
