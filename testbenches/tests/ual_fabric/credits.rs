//! Credits and rate limits of the transaction layer (`ualink` §11).

use super::rig::{Both, Puppet, any, control, on_vc, read, response, rules, tag, with_buffers, write};
use scalepool::kernel::Rng;
use scalepool::link::ualink::tl::{TlClass, TlConfig, TlCreditCounts, TlCreditKind, TlCreditTarget};
use scalepool_protocols::ualink::code::{CreditTarget, ReqCmd};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlFc;

/// Buffers of one target alone.
fn only(target: TlCreditTarget, commands: u16, data: u16) -> TlCreditCounts {
    let mut buffers = TlCreditCounts::default();
    for kind in TlCreditKind::ALL {
        *buffers.at(kind, target) = if kind.is_data() { data } else { commands };
    }
    buffers
}

/// Sends `n` transactions of any kind each way, takes them at once, and gives what arrived.
fn exchange(both: &mut Both, n: u16, seed: u64, vc: Option<u8>) -> [u64; 2] {
    let mut rng = Rng::from_seed(seed);
    let (mut left, mut arrived) = ([n; 2], [0; 2]);
    let mut now = 1000;
    while left != [0; 2] || !both.all_home() {
        for (end, left) in left.iter_mut().enumerate() {
            let waiting: usize = TlClass::ALL.iter().map(|&class| both.ends[end].waiting(class)).sum();
            if *left > 0 && waiting < 4 {
                let (_, transfer) = any(&mut rng, *left);
                let transfer = vc.map_or(transfer.clone(), |vc| on_vc(transfer, vc));
                both.ends[end].send(transfer).expect("legal");
                *left -= 1;
            }
        }
        both.step(now);
        for (end, arrived) in arrived.iter_mut().enumerate() {
            *arrived += TlClass::ALL.iter().map(|&class| both.take(end, class).len() as u64).sum::<u64>();
        }
        now += 1;
        assert!(now < 100_000, "it hangs");
    }
    arrived
}

#[test]
fn ual_crd_01_p() {
    for target in TlCreditTarget::ALL {
        let mut both = Both::opened(with_buffers(only(target, 2, 8)));
        let vc = match target {
            TlCreditTarget::Pool => None,
            TlCreditTarget::Vc(vc) => Some(vc),
        };
        assert_eq!(exchange(&mut both, 100, 1, vc), [100; 2], "{target:?}");
        assert_eq!(both.events(), [], "{target:?}");
    }
}

#[test]
fn ual_crd_01_n() {
    // Nothing was given for the pool.
    let mut puppet = Puppet::opened(with_buffers(only(TlCreditTarget::Vc(0), 2, 8)));
    let mut transfer = read(0, 1, 0);
    let ControlField::Request(req) = &mut transfer.field else { unreachable!("a read") };
    req.pool = true;
    puppet.send(transfer);
    assert_eq!(puppet.broken(), ["UAL-CRD-01"]);
    // A command credit comes back that was never spent.
    puppet.credits(TlFc { req_cmd_cnt: 1, ..TlFc::default() });
    assert_eq!(puppet.broken(), ["UAL-CRD-01"]);
}

#[test]
fn ual_crd_02_p() {
    let mut both = Both::opened(with_buffers(only(TlCreditTarget::Pool, 2, 8)));
    both.ends[0].send(write(ReqCmd::Write, 0, 4, 1)).expect("legal");
    (1000..1010).for_each(|now| both.step(now));
    assert_eq!(
        both.ends[0].credits().has().of(TlCreditKind::ReqData, TlCreditTarget::Pool),
        4,
        "8 less a credit a beat"
    );
    assert_eq!(both.ends[0].credits().has().of(TlCreditKind::ReqCmd, TlCreditTarget::Pool), 1);
    assert_eq!(both.take(1, TlClass::Request).len(), 1);
    (1010..1020).for_each(|now| both.step(now));
    assert!(both.all_home());
}

#[test]
fn ual_crd_02_n() {
    // Whoever asks a credit for the byte enables cannot send this; ours can with 4, and not with 3.
    for (data, sends) in [(4, true), (3, false)] {
        let mut both = Both::opened(with_buffers(only(TlCreditTarget::Pool, 1, data)));
        both.ends[0].send(write(ReqCmd::Write, 0, 4, 1)).expect("legal");
        (1000..1010).for_each(|now| both.step(now));
        assert_eq!(both.take(1, TlClass::Request).len() == 1, sends, "{data} credits");
        assert_eq!(both.events(), []);
        assert_eq!(both.ends[0].stats().credit_stalls > 0, !sends);
    }
}

#[test]
fn ual_crd_03_p() {
    let mut both = Both::opened(with_buffers(TlCreditCounts::even([1, 4], [1, 4])));
    assert_eq!(exchange(&mut both, 200, 3, None), [200; 2]);
    assert_eq!(both.events(), [], "what a command's data took came back to the same target");
}

#[test]
fn ual_crd_03_n() {
    let mut puppet = Puppet::opened(TlConfig::accelerator());
    puppet.tl.send(write(ReqCmd::WriteFull, 0, 4, 1)).expect("legal");
    assert_eq!(puppet.listen(10).len(), 1);
    // It was paid by the pool; the data comes back to channel 0.
    puppet.credits(TlFc { req_cmd_cnt: 1, req_data_cnt: 4, req_data_t: CreditTarget::Vc, ..TlFc::default() });
    assert_eq!(puppet.broken(), ["UAL-CRD-03"]);
    puppet.credits(TlFc { req_data_cnt: 4, ..TlFc::default() });
    assert_eq!(puppet.broken(), [""; 0]);
}

#[test]
fn ual_crd_04_p() {
    let mut puppet = Puppet::new(TlConfig::accelerator());
    let fc = |t, vc| TlFc { req_cmd_cnt: 1, req_cmd_t: t, req_cmd_vc: vc, rsp_data_cnt: 1, ..TlFc::default() };
    let other = TlFc { rsp_data_cnt: 0, ..fc(CreditTarget::Vc, 2) };
    let fields = [fc(CreditTarget::Pool, 0), other, TlFc { rsp_cmd_cnt: 3, ..TlFc::default() }];
    puppet.flit(&control(&fields.map(ControlField::FlowControl)));
    assert_eq!(puppet.broken(), [""; 0], "several fields, each kind and target once");
    assert_eq!(puppet.tl.credits().has().of(TlCreditKind::ReqCmd, TlCreditTarget::Vc(2)), 1);
}

#[test]
fn ual_crd_04_n() {
    let mut puppet = Puppet::new(TlConfig::accelerator());
    let fc = TlFc { rsp_data_cnt: 3, ..TlFc::default() };
    puppet.flit(&control(&[ControlField::FlowControl(fc), ControlField::FlowControl(fc)]));
    assert_eq!(puppet.broken(), ["UAL-CRD-04"]);
}

#[test]
fn ual_crd_05_p() {
    let mut both = Both::new(TlConfig::accelerator());
    both.ends[0].send(read(0, 4, 1)).expect("legal");
    assert!(both.ends[0].credits().has().is_zero(), "both sides start at 0");
    (0..400).for_each(|now| both.step(now));
    assert_eq!(both.take(1, TlClass::Request).len(), 1, "it waited for message 0x01");
    assert_eq!(both.events(), []);
    // One end alone never begins.
    let mut puppet = Puppet::new(TlConfig::accelerator());
    puppet.credits(TlFc { req_cmd_cnt: 7, ..TlFc::default() });
    puppet.tl.send(read(0, 4, 1)).expect("legal");
    assert_eq!(puppet.listen(400), []);
    puppet.done(false);
    assert_eq!(puppet.listen(400).len(), 1);
}

#[test]
fn ual_crd_05_n() {
    let mut puppet = Puppet::new(TlConfig::accelerator());
    puppet.listen(400);
    puppet.send(read(0, 4, 1));
    assert_eq!(puppet.broken(), ["UAL-CRD-05"]);
    puppet.done(false);
    puppet.done(false);
    assert_eq!(puppet.broken(), ["UAL-CRD-05"], "the message comes once");
}

#[test]
fn ual_crd_06_p() {
    let mut both = Both::opened(with_buffers(only(TlCreditTarget::Pool, 1, 4)));
    assert_eq!(exchange(&mut both, 100, 6, None), [100; 2]);
    assert_eq!(both.events(), []);
    assert!(both.ends[0].stats().credit_stalls > 0);
}

#[test]
fn ual_crd_06_n() {
    let mut puppet = Puppet::opened(with_buffers(only(TlCreditTarget::Vc(0), 1, 4)));
    puppet.send(write(ReqCmd::WriteFull, 0, 4, 1));
    assert_eq!(puppet.broken(), [""; 0]);
    puppet.send(write(ReqCmd::WriteFull, 0, 1, 2));
    assert_eq!(puppet.broken(), ["UAL-CRD-06", "UAL-CRD-06"], "no command credit, no data credit");
    // What came without credit gives none back.
    while let Some((_, held)) = puppet.take(TlClass::Request) {
        puppet.tl.release(&held);
    }
    puppet.given.clear();
    puppet.listen(20);
    assert_eq!(puppet.given.iter().map(|fc| fc.req_cmd_cnt).sum::<u8>(), 1);
    assert_eq!(puppet.given.iter().map(|fc| fc.req_data_cnt).sum::<u8>(), 4);
}

#[test]
fn ual_crd_07_p() {
    // Nothing but reads and short answers: four and eight would fit into every TL flit.
    let mut both = Both::opened(TlConfig::accelerator());
    for now in 0..2000u64 {
        for end in &mut both.ends {
            while end.waiting(TlClass::Request) < 8 {
                end.send(read(256 * (now % 64), 4, 0)).expect("legal");
            }
            while end.waiting(TlClass::Response) < 8 {
                end.send(response(0, 0)).expect("legal");
            }
        }
        both.step(now);
        (0..2).for_each(|end| TlClass::ALL.iter().for_each(|&class| drop(both.take(end, class))));
    }
    assert_eq!(both.events(), []);
    let received = both.ends[1].stats().received;
    assert!(received[0] > 1900 && received[1] > 1900, "one of each a TL flit: {received:?}");
}

#[test]
fn ual_crd_07_n() {
    let mut puppet = Puppet::opened(with_buffers(only(TlCreditTarget::Vc(0), 64, 64)));
    // Two uncompressed requests fill a Control half: after three TL flits the level is 2 - 1 + 2 - 1 + 2 = 4, then 5.
    let two = || control(&[read(0, 1, 1).field, read(256, 1, 2).field]);
    (0..3).for_each(|_| puppet.flit(&two()));
    assert_eq!(puppet.broken(), [""; 0]);
    puppet.flit(&two());
    assert_eq!(puppet.broken(), ["UAL-CRD-07"]);
    puppet.pause(8);
    puppet.flit(&two());
    assert_eq!(puppet.broken(), [""; 0], "an empty TL flit drains one");
}

#[test]
fn ual_crd_08_p() {
    let config = TlConfig { shared_data_buffer: true, ..with_buffers(only(TlCreditTarget::Pool, 4, 4)) };
    let mut both = Both::opened(config);
    assert!(both.ends.iter().all(|end| end.credits().is_shared()));
    assert_eq!(both.ends[0].credits().total().of(TlCreditKind::ReqData, TlCreditTarget::Pool), 8, "both together");
    assert_eq!(both.ends[0].credits().total().of(TlCreditKind::RspData, TlCreditTarget::Pool), 0);
    assert_eq!(exchange(&mut both, 300, 8, None), [300; 2]);
    assert_eq!(both.events(), []);
}

#[test]
fn ual_crd_08_n() {
    let mut puppet = Puppet::new(TlConfig::accelerator());
    puppet.credits(TlFc { rsp_data_cnt: 3, ..TlFc::default() });
    puppet.done(true);
    assert_eq!(puppet.broken(), ["UAL-CRD-08"], "separate credits before a shared buffer is told");
    puppet.credits(TlFc { rsp_data_cnt: 3, ..TlFc::default() });
    assert_eq!(puppet.broken(), ["UAL-CRD-08"]);
}

/// UAL-T17: each kind and target at the least that one transaction needs.
#[test]
fn t17_credit_starvation() {
    for target in TlCreditTarget::ALL {
        for (commands, data) in [(1, 4), (1, 8), (4, 4)] {
            let mut both = Both::opened(with_buffers(only(target, commands, data)));
            let vc = if let TlCreditTarget::Vc(vc) = target { Some(vc) } else { None };
            assert_eq!(exchange(&mut both, 60, 17, vc), [60; 2], "{target:?} {commands} {data}");
            assert_eq!(rules(&both.events()), [""; 0]);
        }
    }
}

/// UAL-T21: shared data buffer, both classes busy, responses pass requests that wait.
#[test]
fn t21_shared_data_buffer() {
    let config = TlConfig { shared_data_buffer: true, ..with_buffers(TlCreditCounts::even([8, 8], [0, 0])) };
    let mut both = Both::opened(config);
    for n in 0..8 {
        both.ends[0].send(write(ReqCmd::WriteFull, 256 * u64::from(n), 4, n)).expect("legal");
    }
    (1000..1100).for_each(|now| both.step(now));
    // 16 credits; requests leave 4 of them, so three of four beats go.
    assert_eq!(both.ends[1].received(TlClass::Request), 3);
    both.ends[0].send(response(4, 99)).expect("legal");
    (1100..1110).for_each(|now| both.step(now));
    let came: Vec<u16> = both.take(1, TlClass::Response).iter().map(tag).collect();
    assert_eq!(came, [99], "requests that are not taken do not block responses");
    for now in 1110..1300 {
        both.step(now);
        both.take(1, TlClass::Request);
    }
    assert!(both.all_home());
    assert_eq!(exchange(&mut both, 500, 21, Some(0)), [500; 2]);
    assert_eq!(both.events(), []);
}
