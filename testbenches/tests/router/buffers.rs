//! Buffers of different sizes at the ends of a channel: the credits of who sends are the places of who receives.

use super::{good, run};

/// Any router or node may have another buffer than its neighbours, and no flit comes without a place for it.
#[test]
fn credits_are_those_of_the_buffer_at_the_other_end() {
    for (topology, buffers) in [
        ("mesh:2x1", &["component.router[1].buffer_flits=4"][..]),
        ("mesh:2x1", &["component.router[0].buffer_flits=1", "component.router[1].buffer_flits=64"]),
        ("mesh:2x1", &["component.router.buffer_flits=4"]),
        ("mesh:2x1", &["component.router.buffer_flits=1024"]),
        ("mesh:2x1", &["router.buffer_flits=2", "component.router[1].buffer_flits=3"]),
        ("mesh:3x3", &["component.router[4].buffer_flits=1"]),
        ("fat-tree:2x2", &["component.router[1].buffer_flits=2", "router.routing=adaptive"]),
    ] {
        for vcs in ["router.vcs=1", "router.vcs=4"] {
            let shape = format!("topology={topology}");
            let rest = [shape.as_str(), "traffic.packets=60", "traffic.load=0.5", "traffic.packet_flits=5", vcs];
            good("fabric-vc-router", &[&rest[..], buffers].concat());
        }
    }
}

/// A node that is told of a buffer which its router does not have is refused.
#[test]
fn a_node_knows_the_buffer_of_its_router() {
    let set = |set: &'static str| ["topology=mesh:2x1", "traffic.packets=10", set];
    let error = run("fabric-vc-router", &set("component.node.buffer_flits=32")).expect_err("it is refused").to_string();
    assert!(error.contains("found 32 flits at node[0].port, expected 8 as the router there has"), "{error}");
    good("fabric-vc-router", &set("component.node.buffer_flits=8"));
}
