//! CXL.mem between peers in a fabric: who may ask whom (`fabric` EDG-11).

use scalepool::fabric::cxl_switch::pbr::{PbrPid, PeerEnd, PeerKind, PeerRefused};
use scalepool_protocols::cxl::message::{Data, M2sReq, M2sRwd, Message, PeerRoute, S2mNdr};

fn pid(number: u16) -> PbrPid {
    PbrPid::new(number).expect("it is none that is reserved")
}

fn end(kind: PeerKind, number: u16) -> PeerEnd {
    PeerEnd { kind, is_edge_dsp: true, pid: pid(number) }
}

/// A device whose logical devices belong to a host, to PID 201h and to PID 202h.
fn mld() -> PeerEnd {
    end(PeerKind::Mld(vec![(0, pid(0x101)), (4, pid(0x201)), (7, pid(0x202))]), 0x300)
}

const NONE: PeerRoute = PeerRoute { cache_id: 0, ld_id: 0, bi_id: 0, spid: 0, dpid: 0 };

/// A device and a bridge ask each kind of target; the requester's own logical device gets the request, and its answer comes back.
#[test]
fn fab_edg_11_p() {
    for (asks, ld) in [(end(PeerKind::Sld, 0x201), 4), (end(PeerKind::Bridge, 0x202), 7)] {
        let own = asks.pid.number();
        for (target, below) in [
            (end(PeerKind::Sld, 0x300), NONE),
            (mld(), PeerRoute { ld_id: ld, ..NONE }),
            // Such a device has the message as it is.
            (end(PeerKind::Gfd, 0x300), PeerRoute { spid: own, dpid: 0x300, ..NONE }),
        ] {
            assert_eq!(asks.may_ask(&target), Ok(()));
            let requests = [
                Message::M2sReq(M2sReq { tag: 0xabcd, ..M2sReq::default() }),
                Message::M2sRwd(M2sRwd { tag: 0xabcd, ..M2sRwd::default() }, Data::line([5; 64])),
            ];
            for message in requests {
                let sent = asks.request(&target, &message).expect("it is a request");
                assert_eq!((sent.route().spid, sent.route().dpid), (own, 0x300));
                let ids = target.ids(asks.pid);
                let taken = ids.to_hbr(&sent).expect("the target has it");
                assert_eq!((taken.route(), taken.identifier()), (below, message.identifier()));
            }
            if target.kind != PeerKind::Gfd {
                let answer = Message::S2mNdr(S2mNdr { tag: 0xabcd, ..S2mNdr::default() }).on_route(below);
                let back = target.ids(asks.pid).to_pbr(&answer, None).expect("its requester is known");
                assert_eq!(back.route().dpid, own);
            }
        }
    }
}

/// Other kinds of ends, ports inside the fabric, a device that asks itself, no logical device or more than one, and one that is shared.
#[test]
fn fab_edg_11_n() {
    let (sld, target) = (end(PeerKind::Sld, 0x201), end(PeerKind::Sld, 0x300));
    for kind in [mld().kind, PeerKind::Gfd, PeerKind::Switch, PeerKind::Host] {
        assert!(matches!(end(kind, 0x201).may_ask(&target), Err(PeerRefused::Requester { .. })));
    }
    for kind in [PeerKind::Bridge, PeerKind::Switch, PeerKind::Host] {
        assert!(matches!(sld.may_ask(&end(kind, 0x300)), Err(PeerRefused::Target { .. })));
    }
    let inner = |of: &PeerEnd| PeerEnd { is_edge_dsp: false, ..of.clone() };
    assert_eq!(inner(&sld).may_ask(&target), Err(PeerRefused::Inner { found: 0x201 }));
    assert_eq!(sld.may_ask(&inner(&target)), Err(PeerRefused::Inner { found: 0x300 }));
    assert_eq!(sld.may_ask(&sld), Err(PeerRefused::Same { found: 0x201 }));
    let of = |found, pid| Err(PeerRefused::LogicalDevices { found, pid });
    assert_eq!(end(PeerKind::Sld, 0x203).may_ask(&mld()), of(0, 0x203));
    let twice = end(PeerKind::Mld(vec![(1, pid(0x201)), (2, pid(0x201))]), 0x300);
    let shared = end(PeerKind::Mld(vec![(1, pid(0x201)), (1, pid(0x101))]), 0x300);
    assert_eq!([&twice, &shared].map(|target| sld.may_ask(target)), [of(2, 0x201), of(0, 0x201)]);
    assert_eq!(sld.request(&target, &Message::S2mNdr(S2mNdr::default())), None, "an answer is no request");
}
