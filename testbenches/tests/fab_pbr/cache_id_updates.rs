//! CacheIDs that edge switches keep in step, update by update (`fabric` EDG-10).

use scalepool::fabric::cxl_switch::pbr::{CacheIdEdge, CacheIdUpdate, CacheIdUpdateError, EdgeDrop, EdgeIds, PbrPid};
use scalepool_protocols::cxl::message::{H2dReq, Message, PeerRoute};

fn pid(number: u16) -> PbrPid {
    PbrPid::new(number).expect("it is none that is reserved")
}

fn usp(edge: &CacheIdEdge) -> EdgeIds {
    EdgeIds::Usp { own: pid(0x101), caches: edge.table() }
}

/// The edge above a switch with hierarchy based routing.
fn switch(edge: &CacheIdEdge) -> EdgeIds {
    EdgeIds::Switch { own: pid(0x202), root: pid(0x101), caches: edge.table(), buses: Vec::new() }
}

/// A snoop with a CacheID over both edges: the CacheID behind the far one.
fn snoop([near, far]: [&CacheIdEdge; 2], cache_id: u8) -> Result<u8, EdgeDrop> {
    let message = Message::H2dReq(H2dReq { cache_id, ..H2dReq::default() });
    let between = usp(near).to_pbr(&message, None)?;
    Ok(switch(far).to_hbr(&between)?.route().cache_id)
}

fn in_step([near, far]: [&mut CacheIdEdge; 2], update: CacheIdUpdate) {
    let ack = far.take(update);
    near.acknowledged(ack).expect("it is awaited");
}

/// Every CacheID is assigned, used, released and assigned again; others are used meanwhile.
#[test]
fn fab_edg_10_p() {
    let (mut near, mut far) = (CacheIdEdge::default(), CacheIdEdge::default());
    for cache_id in 0..16 {
        let update = near.assign(cache_id, pid(0x300 + u16::from(cache_id))).expect("it is free");
        assert!((0..cache_id).all(|other| near.judge(other).is_none() && snoop([&near, &far], other) == Ok(other)));
        in_step([&mut near, &mut far], update);
        assert_eq!((near.judge(cache_id), snoop([&near, &far], cache_id)), (None, Ok(cache_id)));
        assert_eq!(near.table(), far.table());
    }
    let update = near.release(9).expect("it is assigned");
    assert_eq!(snoop([&near, &far], 9), Err(EdgeDrop::Unknown { name: "CacheID", found: 9 }), "no more from here on");
    in_step([&mut near, &mut far], update);
    assert_eq!((near.table().len(), near.table()), (15, far.table()));
    let update = near.assign(9, pid(0x309)).expect("it is free");
    // An acknowledgement is lost, and the update comes again.
    far.take(update);
    in_step([&mut near, &mut far], update);
    assert_eq!(snoop([&near, &far], 9), Ok(9));
}

/// Used before the acknowledgement: the far edge has no entry and drops it, and the rule names it.
#[test]
fn fab_edg_10_n() {
    let (mut near, mut far) = (CacheIdEdge::default(), CacheIdEdge::default());
    let broken = |edge: &CacheIdEdge, cache_id| edge.judge(cache_id).map(|violation| violation.rule);
    let update = near.assign(5, pid(0x305)).expect("it is free");
    assert_eq!((broken(&near, 5), broken(&near, 6)), (Some("FAB-EDG-10"), None));
    assert_eq!(snoop([&near, &far], 5), Err(EdgeDrop::Unknown { name: "CacheID", found: 5 }), "it is not in use yet");
    let hasty = Message::H2dReq(H2dReq::default()).on_route(PeerRoute { dpid: 0x305, ..PeerRoute::default() });
    assert_eq!(switch(&far).to_hbr(&hasty), Err(EdgeDrop::Unknown { name: "DPID", found: 0x305 }));
    // Nothing else moves the CacheID meanwhile, and a wrong acknowledgement changes nothing.
    let before = near.clone();
    assert_eq!(near.assign(5, pid(0x306)), Err(CacheIdUpdateError::Awaited { found: 5 }));
    assert_eq!(near.assign(6, pid(0x305)), Err(CacheIdUpdateError::Pid { found: 5 }));
    assert_eq!(near.release(5), Err(CacheIdUpdateError::Free { found: 5 }));
    for ack in [CacheIdUpdate { pid: None, ..update }, CacheIdUpdate { cache_id: 6, ..update }] {
        assert_eq!(near.acknowledged(ack), Err(CacheIdUpdateError::NotAwaited { found: ack.cache_id }));
    }
    assert_eq!(near, before);
    in_step([&mut near, &mut far], update);
    assert_eq!(near.acknowledged(update), Err(CacheIdUpdateError::NotAwaited { found: 5 }), "a second one");
    assert_eq!(near.assign(5, pid(0x306)), Err(CacheIdUpdateError::InUse { found: 5 }));
    assert_eq!(near.assign(16, pid(0x306)), Err(CacheIdUpdateError::Range { found: 16 }));
    near.release(5).expect("it is assigned");
    assert_eq!(broken(&near, 5), Some("FAB-EDG-10"));
    assert_eq!(near.assign(5, pid(0x306)), Err(CacheIdUpdateError::Awaited { found: 5 }), "the far edge has it still");
}
