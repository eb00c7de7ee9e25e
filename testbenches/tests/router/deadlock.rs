//! What the check for deadlock says of topologies, and of those with too few virtual channels.

use super::{good, request};
use scalepool::scenario::{self, RunError};

fn refusal(set: &[&str]) -> Option<String> {
    match scenario::check(&request("fabric-vc-router", set)) {
        Ok(()) => None,
        Err(RunError::Description(problems)) => Some(problems.lines().join("\n")),
        Err(other) => panic!("{set:?}: {other}"),
    }
}

#[test]
fn every_topology_is_free_of_circles() {
    for topology in ["mesh:4x4", "mesh:2x2x3", "torus:4x4", "torus:5", "torus:3x3x3", "fat-tree:2x3", "dragonfly:1,3,1"]
    {
        assert_eq!(refusal(&[&format!("topology={topology}")]), None, "{topology}");
    }
}

/// Dimension order, and up and down, need one virtual channel.
#[test]
fn fab_dlk_03_p() {
    for topology in ["mesh:4x4", "fat-tree:2x3"] {
        assert_eq!(refusal(&[&format!("topology={topology}"), "router.vcs=1"]), None, "{topology}");
        good("fabric-vc-router", &[&format!("topology={topology}"), "router.vcs=1", "traffic.packets=20"]);
    }
}

/// Two virtual channels and a dateline open rings of any size.
#[test]
fn fab_dlk_02_p() {
    for k in 3..=8 {
        assert_eq!(refusal(&[&format!("topology=torus:{k}"), "router.vcs=2"]), None, "{k}");
    }
}

/// With one virtual channel a ring is refused, and its circle named.
#[test]
fn fab_dlk_02_n() {
    let text = refusal(&["topology=torus:4", "router.vcs=1"]).expect("no dateline");
    assert!(text.contains("found channels that wait for each other in a circle"), "{text}");
    assert_eq!(text.lines().count(), 2, "one for each way round: {text}");
    for line in text.lines() {
        // Four channels, and the first one again.
        assert_eq!(line.matches("needs room for vc0 on channels[").count(), 4, "{line}");
    }
}

#[test]
fn a_dragonfly_with_one_virtual_channel_is_refused() {
    assert!(refusal(&["topology=dragonfly:1,3,1", "router.vcs=1"]).is_some_and(|text| text.contains("circle")));
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    for (set, expected) in [
        (["topology=torus:2x2", "router.vcs=4"], "expected 3 or more routers in each ring"),
        (
            ["topology=fat-tree:16x2", "router.vcs=4"],
            "found 32 ports with 4 virtual channels each, expected at most 64",
        ),
        (["topology=mesh:2x3", "traffic.pattern=transpose"], "expected a square number of nodes"),
        (["topology=mesh:4x4", "link.channels.vcs=2"], "found 4 virtual channels at"),
        (["topology=mesh:4x4", "link.channels.cycle=2 ns"], "expected its cycle time"),
    ] {
        let text = refusal(&set).unwrap_or_else(|| panic!("{set:?} is accepted"));
        assert!(text.contains(expected), "{set:?}: {text}");
    }
}
