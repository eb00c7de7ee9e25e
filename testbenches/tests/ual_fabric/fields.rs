//! Fields, sequence and address cache as the transaction layer makes and judges them (`ualink` §9, §10).

use super::rig::{Both, Puppet, any, beat, control, read, response, rules, tag, with_tags, write};
use scalepool::kernel::Rng;
use scalepool::link::ualink::client::Client;
use scalepool::link::ualink::tl::{TlClass, TlConfig};
use scalepool_protocols::ualink::code::{HalfType, ReqCmd, Status};
use scalepool_protocols::ualink::compress::{Compressed, CompressionRole, Compressor};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlCreq, TlReq};
use scalepool_protocols::ualink::half::{MessageHalf, TlFlit};
use scalepool_protocols::ualink::unpack::Transfer;

/// What has to come out for what went in: POOL is the business of each link.
fn as_sent(transfer: &Transfer) -> Transfer {
    let mut plain = transfer.clone();
    match &mut plain.field {
        ControlField::Request(req) => {
            req.pool = false;
            plain.address = req.address.into();
        }
        // A compressed response has no source.
        ControlField::Response(rsp) => (rsp.pool, rsp.src) = (false, 0),
        _ => (),
    }
    plain
}

/// Sends transactions from end 0, all waiting at once, and compares what arrives; gives the TL flits.
fn passes(both: &mut Both, list: &[Transfer]) -> u64 {
    let before = both.sent[0];
    for transfer in list {
        both.ends[0].send(transfer.clone()).expect("legal");
    }
    let mut came: [Vec<Transfer>; 2] = Default::default();
    for now in 1000..1000 + 40 * list.len() as u64 {
        both.step(now);
        TlClass::ALL.iter().for_each(|&class| came[class.index()].extend(both.take(1, class)));
    }
    let of = |class: TlClass| {
        let is = |t: &&Transfer| matches!(t.field, ControlField::Request(_)) == (class == TlClass::Request);
        list.iter().filter(is).map(as_sent).collect::<Vec<Transfer>>()
    };
    for class in TlClass::ALL {
        let came: Vec<Transfer> = came[class.index()].iter().map(as_sent).collect();
        assert!(came == of(class), "{class:?}s");
    }
    assert_eq!(rules(&both.events()), [""; 0]);
    assert!(both.all_home());
    both.sent[0] - before
}

/// Every kind of transaction.
fn kinds() -> Vec<Transfer> {
    let atomic =
        ControlField::Request(TlReq { cmd: ReqCmd::AtomicR, len: 1, attr: 4, src: 3, dst: 5, ..TlReq::default() });
    let mut error = response(0, 9);
    if let ControlField::Response(rsp) = &mut error.field {
        rsp.status = Status::TargetAbort;
    }
    vec![
        read(0, 4, 1),
        write(ReqCmd::WriteFull, 256, 4, 2),
        write(ReqCmd::Write, 512, 1, 3),
        scalepool_protocols::ualink::pack::with_data(atomic, &[beat(4)], Some([0xff; 32])),
        response(0, 5),
        response(1, 6),
        response(4, 7),
        error,
    ]
}

/// UAL-T14: every pair of kinds beside each other, with and without authentication and compression.
#[test]
fn t14_control_mixes() {
    for (authentication, compression) in [(false, false), (false, true), (true, false), (true, true)] {
        let config =
            TlConfig { compress_requests: compression, compress_responses: compression, ..with_tags(authentication) };
        for first in kinds() {
            for second in kinds() {
                let mut both = Both::opened(config);
                passes(&mut both, &[first.clone(), second.clone(), first.clone(), second]);
            }
        }
    }
}

#[test]
fn ual_sqn_04_p2() {
    let mut both = Both::opened(TlConfig { strict_order: true, ..with_tags(true) });
    let mut rng = Rng::from_seed(4);
    let list: Vec<Transfer> = (0..200).map(|n| Transfer { auth_tag: rng.next_u64(), ..any(&mut rng, n).1 }).collect();
    passes(&mut both, &list);
}

#[test]
fn ual_sqn_05_n2() {
    // A data half too few: the next Control half is taken for data.
    let mut puppet = Puppet::opened(TlConfig::accelerator());
    puppet.packer.push(write(ReqCmd::WriteFull, 0, 1, 1)).expect("legal");
    let first = puppet.packer.pack().expect("Control and a data half");
    puppet.flit(&first);
    let second = control(&[read(0, 1, 2).field, read(256, 1, 3).field]);
    puppet.flit(&TlFlit { halves: [[0; 32], second.halves[0]], ..TlFlit::default() });
    let (got, _) = puppet.take(TlClass::Request).expect("the write is whole");
    assert_ne!(got.data, write(ReqCmd::WriteFull, 0, 1, 1).data, "its last half is a Control half");
    assert!(puppet.take(TlClass::Request).is_none(), "and the reads are lost");
}

/// UAL-T15: each beat poisoned, and message halves between all of it.
#[test]
fn t15_poison_and_messages() {
    for poisoned in 0..16u8 {
        let mut both = Both::opened(TlConfig::accelerator());
        for transfer in [write(ReqCmd::Write, 0, 4, 1), response(4, 2)] {
            both.ends[0].send(Transfer { poisoned, ..transfer }).expect("legal");
        }
        (1000..1020).for_each(|now| both.step(now));
        for class in TlClass::ALL {
            let got = both.take(1, class).pop().expect("it came");
            assert_eq!(got.poisoned, poisoned, "{class:?}");
            let good = if class == TlClass::Request { write(ReqCmd::Write, 0, 4, 1) } else { response(4, 2) };
            for n in (0..8).filter(|n| poisoned >> (n / 2) & 1 == 0) {
                assert_eq!(got.data.get(n), good.data.get(n), "half {n}");
            }
            assert_eq!(got.enables, good.enables, "byte enables are never poisoned");
        }
        assert_eq!(rules(&both.events()), [""; 0]);
    }
    for at in 0..12 {
        let mut puppet = Puppet::opened(TlConfig::accelerator());
        let list = [write(ReqCmd::Write, 0, 3, 1), write(ReqCmd::WriteFull, 256, 2, 2), read(512, 1, 3)];
        list.iter().for_each(|t| puppet.packer.push(t.clone()).expect("legal"));
        for n in 0.. {
            if n == at {
                puppet.packer.push_message(MessageHalf::new(HalfType::NOP));
            }
            let Some(flit) = puppet.packer.pack() else { break };
            puppet.flit(&flit);
        }
        for transfer in list {
            let (got, _) = puppet.take(TlClass::Request).expect("it came");
            assert_eq!((got.data, got.enables), (transfer.data, transfer.enables), "message {at}");
        }
    }
}

/// UAL-T16: five regions over four ways, in both roles.
#[test]
fn t16_compression_cache() {
    for role in [CompressionRole::ToSwitch, CompressionRole::FromSwitch] {
        for (regions, loads) in [(4u64, 4), (5, 50)] {
            let config = TlConfig { role, ..TlConfig::accelerator() };
            let peer =
                if role == CompressionRole::ToSwitch { CompressionRole::FromSwitch } else { CompressionRole::ToSwitch };
            let mut both = Both::of([config, TlConfig { role: peer, ..config }]);
            (0..400).for_each(|now| both.step(now));
            let list: Vec<Transfer> = (0..50).map(|n| read(((n % regions) << 20) + 64 * n, 1, n as u16)).collect();
            passes(&mut both, &list);
            let fields = both.ends[0].stats().fields;
            assert_eq!((fields[1], fields[3]), (loads, 50 - loads), "{role:?}: loads and hits of {regions} regions");
        }
    }
}

#[test]
fn ual_cac_01_n2() {
    let mut puppet = Puppet::opened(TlConfig::accelerator());
    puppet.flit(&control(&[ControlField::CompressedRequest(TlCreq { cway: 2, tag: 7, ..TlCreq::default() })]));
    assert!(puppet.broken().contains(&"UAL-CAC-01"));
    assert_eq!(puppet.tl.received(TlClass::Request), 0, "nobody knows its address");
}

#[test]
fn ual_cac_03_p2() {
    // A load, and a hit behind it in the same Control half.
    let mut sender = Compressor::new(CompressionRole::FromSwitch);
    let of = |t: Transfer| if let ControlField::Request(req) = t.field { req } else { unreachable!("a request") };
    let Compressed::Miss(load) = sender.request(&of(read(0x12_3000_0000, 1, 1))) else { panic!("an empty cache") };
    let Compressed::Hit(hit) = sender.request(&of(read(0x12_3000_0040, 1, 2))) else { panic!("just loaded") };
    let mut puppet = Puppet::opened(TlConfig::accelerator());
    puppet.flit(&control(&[ControlField::Request(load), ControlField::CompressedRequest(hit)]));
    assert_eq!(puppet.broken(), [""; 0]);
    for n in 0..2 {
        let (got, _) = puppet.take(TlClass::Request).expect("it came");
        let ControlField::Request(req) = got.field else { panic!("uncompressed") };
        assert_eq!((req.address, req.cload), (0x12_3000_0000 + 0x40 * n, false));
    }
}

#[test]
fn ual_fld_07_p2() {
    let mut both = Both::opened(TlConfig::accelerator());
    passes(&mut both, &(0..4).map(|n| read(64 * n, 1, n as u16)).collect::<Vec<Transfer>>());
    assert_eq!(both.ends[0].stats().fields[3], 3, "the first one loads, the others are compressed");
}

#[test]
fn ual_fld_07_n2() {
    // Each condition broken in turn: sent as it is, and it arrives as it was.
    let change = |change: &dyn Fn(&mut TlReq)| {
        let mut transfer = read(0x40, 1, 1);
        if let ControlField::Request(req) = &mut transfer.field {
            change(req);
        }
        transfer
    };
    let broken = [
        change(&|req| req.address = 0x44),
        change(&|req| req.len = 7),
        change(&|req| req.attr = 0x7f),
        change(&|req| req.metadata = 8),
        change(&|req| req.cmd = ReqCmd::VendorRead0),
    ];
    for transfer in broken {
        let mut both = Both::opened(TlConfig::accelerator());
        passes(&mut both, &[read(0, 1, 0), transfer.clone()]);
        assert_eq!(both.ends[0].stats().fields[3], 0, "{:?}", transfer.field);
    }
}

#[test]
fn ual_fld_08_p2() {
    let mut both = Both::opened(TlConfig::accelerator());
    passes(&mut both, &[response(0, 1), response(1, 2), response(4, 3)]);
    assert_eq!(both.ends[0].stats().fields[4..], [1, 2]);
}

#[test]
fn ual_fld_08_n2() {
    let mut both = Both::opened(TlConfig::accelerator());
    let mut error = response(1, 1);
    if let ControlField::Response(rsp) = &mut error.field {
        rsp.status = Status::DecodeError;
    }
    both.ends[0].send(error).expect("legal");
    (1000..1010).for_each(|now| both.step(now));
    let got = both.take(1, TlClass::Response).pop().expect("it came");
    assert!(matches!(got.field, ControlField::Response(rsp) if rsp.status == Status::DecodeError));
    assert_eq!((both.ends[0].stats().fields[2], both.ends[0].stats().fields[4]), (1, 0), "uncompressed");
}

/// While the link is down nothing is kept, and an originator hears of it, and of each request that is dropped.
#[test]
fn drop_mode() {
    let mut both = Both::opened(TlConfig::accelerator());
    both.ends[0].send(read(0, 4, 1)).expect("legal");
    both.ends[0].link_down();
    both.ends[0].send(read(0, 4, 2)).expect("legal, and dropped");
    assert_eq!(both.ends[0].stats().dropped, 2);
    let (told, held) = both.ends[0].take(TlClass::Response).expect("ISOLATE");
    let isolated = |told: &Transfer| match told.field {
        ControlField::Response(rsp) if rsp.status == Status::ISOLATE => (rsp.dst, rsp.src, rsp.tag),
        other => panic!("{other:?}"),
    };
    assert_eq!((held.is_none(), isolated(&told)), (true, (0, 0, 0)));
    let (told, _) = both.ends[0].take(TlClass::Response).expect("ISOLATE of the request");
    let ControlField::Request(dropped) = read(0, 4, 2).field else { panic!("a request") };
    assert_eq!(isolated(&told), (dropped.src, dropped.dst, 2));
    both.ends[1].link_down();
    both.ends[1].take(TlClass::Response);
    (1000..1400).for_each(|now| both.step(now));
    assert!(both.all_home(), "credits have been exchanged anew");
    both.ends[0].send(read(0, 4, 3)).expect("legal");
    (1400..1410).for_each(|now| both.step(now));
    assert_eq!(both.take(1, TlClass::Request).iter().map(tag).collect::<Vec<_>>(), [3]);
    assert_eq!(both.events(), []);
}
