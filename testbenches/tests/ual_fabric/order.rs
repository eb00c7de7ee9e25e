//! What UPLI promises about order, tags and responses (`ualink` §12).

use super::pods::{rules_of, run, set};
use super::rig::{Both, any, beat, on_vc, read, response, tag, with_buffers, write};
use scalepool::kernel::Rng;
use scalepool::link::ualink::client::Client;
use scalepool::link::ualink::tl::{TlClass, TlConfig, TlCreditCounts, TlCreditKind, TlCreditTarget};
use scalepool::nodes::ualink::check::{CompleterWatch, UalReadAssembly};
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlReq;
use scalepool_protocols::ualink::unpack::Transfer;

/// Buffers of which channel 0 has few.
fn scarce_vc0() -> TlCreditCounts {
    let mut buffers = TlCreditCounts::even([0, 0], [8, 32]);
    for kind in TlCreditKind::ALL {
        *buffers.at(kind, TlCreditTarget::Vc(0)) = if kind.is_data() { 4 } else { 1 };
    }
    buffers
}

/// Tags of what arrives when end 0 sends `list` and nothing is taken for a while.
fn arrival(config: TlConfig, list: &[Transfer]) -> Vec<u16> {
    let mut both = Both::opened(config);
    list.iter().for_each(|transfer| both.ends[0].send(transfer.clone()).expect("legal"));
    let mut tags = Vec::new();
    for now in 1000..1400 {
        both.step(now);
        if now % 8 == 0
            && let Some((transfer, held)) = both.ends[1].take(TlClass::Request)
        {
            both.ends[1].release(&held.expect("it came over the link"));
            tags.push(tag(&transfer));
        }
    }
    assert_eq!(both.events(), []);
    tags
}

fn request(transfer: &Transfer) -> TlReq {
    let ControlField::Request(req) = transfer.field else { panic!("a request") };
    req
}

#[test]
fn ual_upl_05_p() {
    let mut rng = Rng::from_seed(5);
    let list: Vec<Transfer> =
        (0..40).map(|n| on_vc(write(ReqCmd::WriteFull, 0x100, 4, n), rng.below(4) as u8)).collect();
    let came = arrival(with_buffers(scarce_vc0()), &list);
    assert_eq!(came.len(), 40);
    for vc in 0..4 {
        let of = |tags: &mut dyn Iterator<Item = u16>| {
            tags.filter(|&n| request(&list[usize::from(n)]).vchan == vc).collect::<Vec<u16>>()
        };
        assert_eq!(of(&mut came.iter().copied()), of(&mut (0..40)), "channel {vc}");
    }
    assert_ne!(came, (0..40).collect::<Vec<u16>>(), "between channels there is no order");
}

#[test]
fn ual_upl_05_n() {
    // One region over two channels: the second write overtakes the first, which waits for a credit.
    let list = [0, 0, 1].into_iter().enumerate();
    let list: Vec<Transfer> = list.map(|(n, vc)| on_vc(write(ReqCmd::WriteFull, 0x100, 4, n as u16), vc)).collect();
    assert_eq!(arrival(with_buffers(scarce_vc0()), &list), [0, 2, 1]);
}

#[test]
fn ual_upl_06_p() {
    let config = TlConfig { strict_order: true, ..with_buffers(scarce_vc0()) };
    let mut rng = Rng::from_seed(6);
    let list: Vec<Transfer> =
        (0..40).map(|n| on_vc(write(ReqCmd::WriteFull, 0x100 * u64::from(n), 4, n), rng.below(4) as u8)).collect();
    assert_eq!(arrival(config, &list), (0..40).collect::<Vec<u16>>());
}

#[test]
fn ual_upl_06_n() {
    // Read responses of different channels change places where the order is not strict.
    for (strict_order, expected) in [(true, [0, 1, 2]), (false, [0, 2, 1])] {
        let mut both = Both::opened(TlConfig { strict_order, ..with_buffers(scarce_vc0()) });
        for (n, vc) in [0, 0, 1].into_iter().enumerate() {
            both.ends[0].send(on_vc(response(4, n as u16), vc)).expect("legal");
        }
        let mut came = Vec::new();
        for now in 1000..1100 {
            both.step(now);
            if now % 20 == 19 {
                came.extend(both.take(1, TlClass::Response).iter().map(tag));
            }
        }
        assert_eq!(came, expected);
    }
}

#[test]
fn ual_upl_07_p() {
    let report = run("ualink-pod", &[set("pod.switches=3"), set("traffic.mix=all"), set("traffic.operations=60")]);
    assert_eq!(rules_of(&report), [""; 0]);
}

#[test]
fn ual_upl_07_n() {
    let mut watch = CompleterWatch::new(5, 4);
    assert_eq!(watch.request(0, &request(&read(0x100, 1, 1))), []);
    let found = watch.request(1, &request(&read(0x1c0, 1, 2)));
    assert_eq!(found.iter().map(|v| v.rule).collect::<Vec<_>>(), ["UAL-UPL-07"], "a second port for a region");
}

#[test]
fn ual_upl_08_p() {
    // Requests that nobody takes fill every buffer; responses go on.
    let mut both = Both::opened(with_buffers(TlCreditCounts::even([2, 8], [1, 4])));
    for n in 0..40 {
        both.ends[0].send(write(ReqCmd::WriteFull, 0, 4, n)).expect("legal");
        both.ends[0].send(response(4, n)).expect("legal");
    }
    let mut came = 0;
    for now in 1000..1600 {
        both.step(now);
        came += both.take(1, TlClass::Response).len();
    }
    assert_eq!((came, both.ends[1].received(TlClass::Request)), (40, 3));
}

#[test]
fn ual_upl_08_n() {
    // Responses that nobody takes block themselves, and the layer says that it is not done.
    let mut both = Both::opened(with_buffers(TlCreditCounts::even([2, 8], [0, 0])));
    (0..4).for_each(|n| both.ends[0].send(response(4, n)).expect("legal"));
    (1000..2000).for_each(|now| both.step(now));
    assert_eq!(both.ends[1].received(TlClass::Response), 2);
    assert!(!both.ends[0].is_quiet(), "a watchdog sees that work is open");
}

#[test]
fn ual_upl_09_p() {
    // More operations than tags, answered beat by beat.
    let report = run(
        "ualink-pair",
        &[
            set("traffic.operations=2500"),
            set("traffic.mix=reads"),
            set("traffic.bytes=128"),
            set("accel.responses=single"),
        ],
    );
    assert_eq!(rules_of(&report), [""; 0]);
}

#[test]
fn ual_upl_09_n() {
    let mut watch = CompleterWatch::new(5, 4);
    let req = request(&read(0x100, 1, 1));
    assert_eq!(watch.request(0, &req), []);
    assert_eq!(watch.request(0, &req).iter().map(|v| v.rule).collect::<Vec<_>>(), ["UAL-UPL-09"]);
    watch.answered(0, 3, 1);
    assert_eq!(watch.request(0, &req), [], "free again");
}

/// A read response of one beat.
fn single(offset: u8, last: bool) -> Transfer {
    let mut transfer = response(1, 1);
    if let ControlField::Response(rsp) = &mut transfer.field {
        (rsp.offset, rsp.last) = (offset, last);
    }
    transfer
}

fn two_beats() -> UalReadAssembly {
    UalReadAssembly::new(vec![(beat(4), false); 2].into())
}

#[test]
fn ual_upl_12_p() {
    for order in [[0, 1], [1, 0]] {
        let mut answer = two_beats();
        assert_eq!(answer.take(&single(order[0], false)), (false, vec![]));
        assert_eq!(answer.take(&single(order[1], true)), (true, vec![]));
    }
    let mut answer = UalReadAssembly::new((0..3).map(|n| (beat(4 + n), false)).collect::<Vec<_>>().into());
    assert_eq!(answer.take(&response(3, 1)), (true, vec![]), "all beats at once");
}

#[test]
fn ual_upl_12_n() {
    let of = |answer: &mut UalReadAssembly, transfer: &Transfer| {
        answer.take(transfer).1.iter().map(|v| v.rule).collect::<Vec<_>>()
    };
    let mut answer = two_beats();
    assert_eq!(of(&mut answer, &single(0, false)), [""; 0]);
    assert_eq!(of(&mut answer.clone(), &single(1, false)), ["UAL-UPL-12"], "Last is missing");
    assert_eq!(of(&mut answer.clone(), &single(0, true)), ["UAL-UPL-12", "UAL-UPL-12"], "a beat twice, another never");
    assert_eq!(of(&mut two_beats(), &single(0, true)), ["UAL-UPL-12"], "Last too early");
    assert_eq!(of(&mut two_beats(), &response(4, 1)).last(), Some(&"UAL-UPL-12"), "more beats than were asked for");
}

#[test]
fn ual_upl_14_p() {
    // The line fails in traffic: every operation is answered, really or by a dummy.
    let settings = ["link.outage_fs=3000000000", "accel.timeout_fs=20000000000", "traffic.operations=1500"];
    let report = run("ualink-pair", &settings.map(set));
    let count = |name: &str| report.counts.iter().find(|(k, _)| k == name).expect("counted").1;
    assert!(count("dummy answers") > 0 && count("link downs") == 2);
    assert_eq!(count("operations") + count("dummy answers"), 3000);
    assert!(rules_of(&report).iter().all(|rule| *rule == "SIM-E2E-03"), "and it is told: {:?}", rules_of(&report));
}

#[test]
fn ual_upl_14_n() {
    // A request whose route is denied is never answered; the watchdog says so, however late: behind a second here.
    let settings = ["switch.deny=1:2", "accel.timeout_fs=1000000000000000", "traffic.operations=20"];
    let report = run("ualink-pod", &settings.map(set));
    assert!(rules_of(&report).contains(&"UAL-UPL-14"), "{:?}", rules_of(&report));
    assert!(report.time_fs > 1_000_000_000_000_000 && report.violations.iter().all(|b| b.place != "simulation"));
}

/// UAL-T18: what must not be seen is not, what may be seen is, over many seeds.
#[test]
fn t18_ordering_litmus() {
    let (mut overtaken, mut kept) = (0, 0);
    for seed in 0..30 {
        let mut rng = Rng::from_seed(seed);
        let list: Vec<Transfer> = (0..30)
            .filter_map(|n| Some(any(&mut rng, n).1).filter(|t| matches!(t.field, ControlField::Request(_))))
            .collect();
        for strict_order in [false, true] {
            let config = TlConfig { strict_order, ..with_buffers(scarce_vc0()) };
            let came = arrival(config, &list);
            let vc = |n: u16| list.iter().find(|t| tag(t) == n).map(|t| request(t).vchan);
            for (n, &late) in came.iter().enumerate() {
                for &early in came[..n].iter().filter(|&&early| early > late) {
                    assert!(!strict_order && vc(early) != vc(late), "seed {seed}: {early} before {late}");
                    overtaken += 1;
                }
            }
            kept += usize::from(strict_order && came.len() == list.len());
        }
    }
    assert!(overtaken > 100 && kept == 30, "{overtaken} {kept}");
}
