//! Slots, bursts, responses, tags, parity, credits.

use super::rig::*;
use scalepool_protocols::ualink::upli::{UpliRdRsp, UpliReq};
use scalepool_protocols::wire::Wire;
use scalepool_testbenches::legal::Random;

#[test]
fn traffic_of_1_to_4_ports_is_answered_without_a_broken_rule() {
    for ports in 1..=4 {
        for single in [false, true] {
            let rig = mixed(ports, single);
            rig.assert_quiet();
            assert_eq!(rig.requests.len(), 16 * usize::from(ports));
        }
    }
}

#[test]
fn the_same_stimulus_gives_the_same_wires() {
    assert_eq!(mixed(3, true).cycles, mixed(3, true).cycles);
}

/// Any commands, lengths, channels and pools: what arrives is what was sent, in an order that is allowed.
#[test]
fn random_traffic_arrives_as_it_was_sent() {
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let ports = 1 + seed as u8 % 4;
        let ordering = if seed < 4 { Ordering::Default } else { Ordering::Strict };
        let mut rig = Rig::new(UpliConfig { ports, ordering, ..UpliConfig::default() });
        rig.single = seed % 3 == 0;
        let mut checks: Vec<_> = (0..ports).map(|_| OrderCheck::new(ordering)).collect();
        let mut sent = Vec::new();
        for tag in 0..200_u16 {
            let mut pick = |n: u64| random.bits() % n;
            let commands = [ReqCmd::Read, ReqCmd::Write, ReqCmd::WriteFull, ReqCmd::AtomicR, ReqCmd::WriteMessage];
            let cmd = commands[pick(5) as usize];
            let place = pick(4);
            let beats = if cmd.is_atomic() { 1 } else { 1 + pick(4 - place) as u8 };
            let region = pick(8);
            let mut transfer = request(cmd, tag, 256 * region + 64 * place, beats);
            let ControlField::Request(req) = &mut transfer.field else { panic!("a request") };
            (req.vchan, req.pool) = (pick(4) as u8, pick(2) == 0);
            let port = (region % u64::from(ports)) as u8;
            checks[usize::from(port)].sent(&transfer);
            rig.submit(port, &transfer);
            sent.push((port, transfer));
        }
        rig.run(3000);
        rig.assert_quiet();
        for (port, transfer) in &rig.requests {
            assert_eq!(checks[usize::from(*port)].arrived(transfer), None);
        }
        let tag = |(_, transfer): &(u8, Transfer)| match &transfer.field {
            ControlField::Request(req) => req.tag,
            _ => panic!("{transfer:?}"),
        };
        let mut arrived = rig.requests.clone();
        arrived.sort_by_key(tag);
        assert_eq!(arrived, sent, "{seed}");
    }
}

#[test]
fn ual_upl_07_p() {
    let mut rig = Rig::ports(2);
    for n in 0..32_u16 {
        let region = u64::from(n) / 2;
        rig.submit((region % 2) as u8, &read(n, 256 * region + 64 * u64::from(n % 2), 1));
    }
    rig.run(200);
    rig.assert_quiet();
}

/// Half of a region on each port.
#[test]
fn ual_upl_07_n() {
    let mut rig = Rig::ports(2);
    rig.submit(0, &read(1, 0x100, 1));
    rig.submit(1, &read(2, 0x140, 1));
    rig.run(40);
    assert_eq!(ids(&rig.found), ["UAL-UPL-07"]);
}

/// All 2048 tags of a port, each twice, the second only after the first.
#[test]
fn ual_upl_09_p() {
    let mut rig = Rig::ports(1);
    for n in 0..2 * 2048_u16 {
        rig.submit(0, &read(n % 2048, 0x1000, 1));
    }
    rig.run(4600);
    rig.assert_quiet();
    assert_eq!(rig.got.len(), 4096);
    // A tag of two ports at a time.
    let mut rig = Rig::ports(2);
    rig.submit(0, &read(5, 0x100, 1));
    rig.submit(1, &read(5, 0x200, 1));
    rig.run(40);
    rig.assert_quiet();
}

/// The tag of a request that still waits, and a response that nobody waits for.
#[test]
fn ual_upl_09_n() {
    let mut rig = Rig::ports(1);
    rig.submit(0, &read(1, 0x100, 1));
    rig.submit(0, &read(2, 0x200, 1));
    rig.answering = false;
    rig.run(30);
    let second = rig.request_cycles()[1];
    let again = rig.replay(|cycles| {
        let word = &mut cycles[second].originator.request.word;
        *word = signals::seal_request(UpliReq { tag: 1, ..*word }).expect("it fits");
    });
    assert_eq!(again, ["UAL-UPL-09"]);
    rig.completer.answer(0, &answers(&write(9, 0, 1), false)[0]).expect("a response");
    rig.run(5);
    assert_eq!(ids(&rig.found), ["UAL-UPL-09"]);
}

/// Every port, every phase: a word stands in the slot of its port; the slots of requests and their data are the same.
#[test]
fn ual_upl_10_p() {
    for ports in 1..=4 {
        for phase in 0..ports {
            let completer_phase = (phase + 1) % ports;
            let config = UpliConfig { ports, originator_phase: phase, completer_phase, ..UpliConfig::default() };
            let mut rig = Rig::new(config);
            for n in 0..4 * u16::from(ports) {
                let port = (n % u16::from(ports)) as u8;
                rig.submit(
                    port,
                    &if n % 2 == 0 { write(n, u64::from(n) << 8, 4) } else { read(n, u64::from(n) << 8, 4) },
                );
            }
            rig.run(200);
            rig.assert_quiet();
            for (c, cycle) in rig.cycles.iter().enumerate() {
                let slot = |phase: u8| ((c + usize::from(phase)) % usize::from(ports)) as u8;
                let (request, data) = (cycle.originator.request.word, cycle.originator.data.word);
                assert!(!request.valid || request.port == slot(phase));
                assert!(!data.valid || data.port == slot(phase));
                assert!(!cycle.completer.rd.word.valid || cycle.completer.rd.word.port == slot(completer_phase));
            }
        }
    }
}

/// A read one cycle late, in a slot of the next port; and a write response.
#[test]
fn ual_upl_10_n() {
    let mut rig = Rig::ports(4);
    rig.submit(2, &read(1, 0x100, 1));
    rig.run(40);
    let at = rig.request_cycles()[0];
    let late = rig.replay(|cycles| {
        cycles[at + 1].originator.request = cycles[at].originator.request;
        cycles[at].originator.request = FromOriginator::default().request;
    });
    assert_eq!(late, ["UAL-UPL-10"]);
    let mut rig = Rig::ports(2);
    rig.submit(1, &write(1, 0x100, 1));
    rig.run(40);
    let at = (0..40).find(|&c| rig.cycles[c].completer.wr.word.valid).expect("a response");
    let early = rig.replay(|cycles| {
        cycles[at - 1].completer.wr = cycles[at].completer.wr;
        cycles[at].completer.wr = FromCompleter::default().wr;
    });
    assert_eq!(early, ["UAL-UPL-10"]);
}

/// Bursts of 1 to 4 beats; reads overlap them.
#[test]
fn ual_upl_11_p() {
    for ports in [1, 2, 4] {
        let mut rig = Rig::ports(ports);
        for n in 0..4_u16 {
            rig.submit(0, &write(n, 256 * u64::from(n), 4));
            rig.submit(0, &read(8 + n, 0x8000 + 256 * u64::from(n), 4));
        }
        rig.run(200);
        rig.assert_quiet();
        let (requests, data) = (rig.request_cycles(), rig.data_cycles());
        let step = usize::from(ports);
        assert_eq!(data, (0..16).map(|k| data[0] + step * k).collect::<Vec<_>>(), "all beats in a row");
        assert_eq!(requests[0], data[0]);
        // The first read goes beside the second beat.
        assert_eq!(requests[1], data[1]);
    }
}

#[test]
fn ual_upl_11_n() {
    let mut rig = Rig::ports(1);
    rig.submit(0, &write(1, 0x100, 3));
    rig.run(40);
    let at = rig.data_cycles();
    let idle = FromOriginator::default();
    let gap = rig.replay(|cycles| {
        cycles.insert(at[1], Cycle::default());
        // InitDone is a level.
        cycles[at[1]].completer = cycles[at[1] - 1].completer;
        cycles[at[1]].completer.req_credits.iter_mut().for_each(|word| word.valid = false);
        cycles[at[1]].completer.data_credits.iter_mut().for_each(|word| word.valid = false);
        cycles[at[1]].originator = cycles[at[1] - 1].originator;
        cycles[at[1]].originator.data = idle.data;
        cycles[at[1]].originator.request = idle.request;
        cycles[at[1]].originator.rd_credits.iter_mut().for_each(|word| word.valid = false);
        cycles[at[1]].originator.wr_credits.iter_mut().for_each(|word| word.valid = false);
    });
    assert_eq!(gap, ["UAL-UPL-11"]);
    let without = rig.replay(|cycles| cycles[at[0]].originator.data = idle.data);
    // And a credit comes back that was not spent.
    assert_eq!(without, ["UAL-UPL-11", "UAL-UPL-15"]);
    for (beat, last, offset) in [(0, true, 0), (2, false, 2), (1, false, 2)] {
        let wrong = rig.replay(|cycles| {
            let word = &mut cycles[at[beat]].originator.data.word;
            (word.last, word.offset) = (last, offset);
        });
        assert_eq!(wrong, ["UAL-UPL-11"], "{beat}");
    }
    // Pool and VC are the request's; and the credit comes back to where it was not spent.
    let other = rig.replay(|cycles| cycles[at[1]].originator.data.word.pool = false);
    assert_eq!(other, ["UAL-UPL-11", "UAL-UPL-15"]);
}

/// All beats in a row and ascending, or each by itself in any order.
#[test]
fn ual_upl_12_p() {
    for ports in [1, 2, 4] {
        for single in [false, true] {
            let mut rig = Rig::ports(ports);
            rig.single = single;
            (0..4).for_each(|n| rig.submit(0, &read(n, 256 * u64::from(n), n as u8 + 1)));
            rig.run(100);
            rig.assert_quiet();
            assert_eq!(rig.got.len(), if single { 10 } else { 4 });
            assert_eq!(rig.got.iter().map(|(_, t)| t.data.len()).sum::<usize>(), 20);
        }
    }
}

#[test]
fn ual_upl_12_n() {
    let mut rig = Rig::ports(1);
    rig.submit(0, &read(1, 0x100, 3));
    rig.run(40);
    let at = rig.read_cycles();
    let mutate = |beat: usize, change: &dyn Fn(&mut UpliRdRsp)| {
        rig.replay(|cycles| change(&mut cycles[at[beat]].completer.rd.word))
    };
    assert_eq!(mutate(2, &|word| word.last = false), ["UAL-UPL-12"]);
    assert_eq!(mutate(1, &|word| word.offset = 2), ["UAL-UPL-12"]);
    assert_eq!(mutate(1, &|word| word.numbeats = 1), ["UAL-UPL-12"]);
    assert!(mutate(0, &|word| word.last = true).contains(&"UAL-UPL-12"));
    assert!(mutate(1, &|word| word.valid = false).contains(&"UAL-UPL-12"));
    // The same beat twice, of a response of single ones.
    rig = Rig::ports(1);
    rig.single = true;
    rig.submit(0, &read(1, 0x100, 2));
    rig.run(40);
    let at = rig.read_cycles();
    assert_eq!(rig.replay(|cycles| cycles[at[1]].completer.rd.word.offset = 1), ["UAL-UPL-12"]);
    // An originator that sees Last too early says so too.
    let mut originator = Originator::new(rig.config).expect("sound");
    originator.submit(0, &read(1, 0x100, 2)).expect("a request");
    for (c, cycle) in rig.cycles.iter().enumerate() {
        let mut completer = cycle.completer;
        completer.rd.word.last |= c == at[0];
        originator.drive();
        originator.sample(&completer);
    }
    assert!(ids(&originator.take_events()).contains(&"UAL-UPL-12"));
}

#[test]
fn ual_upl_13_p() {
    mixed(2, false).assert_clean();
}

/// Every bit of a request, of a beat and of a write response.
#[test]
fn ual_upl_13_n() {
    let mut rig = Rig::ports(1);
    rig.submit(0, &write(1, 0x100, 1));
    rig.run(40);
    let at = rig.request_cycles()[0];
    for byte in [0, 31, 63] {
        assert_eq!(rig.replay(|cycles| cycles[at].originator.data.data[byte] ^= 0x10), ["UAL-UPL-13"]);
    }
    for bit in 1..UpliReq::DEF.bits {
        let found = rig.replay(|cycles| {
            let word = &mut cycles[at].originator.request.word;
            let bits = word.to_bits().expect("it fits") ^ 1 << bit;
            *word = Wire::from_bits(bits);
        });
        assert!(found.contains(&"UAL-UPL-13"), "{bit}");
    }
    let response = (0..40).find(|&c| rig.cycles[c].completer.wr.word.valid).expect("a response");
    assert_eq!(rig.replay(|cycles| cycles[response].completer.wr.word.parity ^= true), ["UAL-UPL-13"]);
}

/// One credit of each kind at the least, pools and channels apart, returns of up to 4.
#[test]
fn ual_upl_15_p() {
    let mut credits = [UpliCreditCounts { pool: 1, vc: [1; 4] }; 4];
    credits[UpliChannel::OrigData.index()] = UpliCreditCounts::each(4);
    credits[UpliChannel::RdRsp.index()] = UpliCreditCounts::each(4);
    let mut rig = Rig::new(UpliConfig { credits, ..UpliConfig::default() });
    for n in 0..40_u16 {
        let mut transfer = if n % 2 == 0 { write(n, 256 * u64::from(n), 4) } else { read(n, 256 * u64::from(n), 4) };
        let ControlField::Request(req) = &mut transfer.field else { panic!("a request") };
        (req.pool, req.vchan) = (n % 5 == 4, (n % 5 % 4) as u8);
        rig.submit(0, &transfer);
    }
    rig.run(1000);
    rig.assert_quiet();
    assert_eq!(rig.requests.len(), 40);
    let returned = |c: &Cycle| c.completer.data_credits[0].valid.then_some(c.completer.data_credits[0].num + 1);
    assert_eq!(rig.cycles.iter().filter_map(returned).max(), Some(4));
    // All initial credits before InitDone, nothing before it.
    let done = rig.cycles.iter().position(|c| c.completer.req_credits[0].init_done).expect("InitDone");
    assert!(rig.request_cycles()[0] > done);
}

#[test]
fn ual_upl_15_n() {
    let mut rig = Rig::ports(1);
    rig.submit(0, &read(1, 0x100, 1));
    rig.run(60);
    let at = rig.request_cycles()[0];
    // Before InitDone.
    let early = rig.replay(|cycles| {
        cycles[0].originator.request = cycles[at].originator.request;
        cycles[at].originator.request = FromOriginator::default().request;
    });
    assert_eq!(early, ["UAL-UPL-15"]);
    // A credit too many.
    let twice = rig.replay(|cycles| {
        let word = &mut cycles[59].completer.req_credits[0];
        (word.valid, word.pool) = (true, true);
    });
    assert_eq!(twice, ["UAL-UPL-15"]);
    // A credit that was never given, the 17th of the pool.
    let mut rig = Rig::ports(1);
    rig.answering = false;
    (0..17).for_each(|n| rig.submit(0, &read(n, 0x100, 1)));
    rig.run(60);
    rig.assert_clean();
    assert_eq!(rig.originator.waiting(0), 1);
    let last = *rig.request_cycles().last().expect("a request");
    let forced = rig.replay(|cycles| {
        let mut request = cycles[last].originator.request;
        let other = UpliReq { tag: 99, ..request.word };
        request.word = signals::seal_request(other).expect("it fits");
        cycles[last + 1].originator.request = request;
    });
    assert_eq!(forced, ["UAL-UPL-15"]);
}

#[test]
fn configurations_with_which_nothing_works_are_refused() {
    let bad = |config: UpliConfig| Monitor::new(config).map(|_| ()).expect_err("it is bad");
    assert_eq!(bad(UpliConfig { ports: 0, ..UpliConfig::default() }), UpliConfigError::Ports(0));
    assert_eq!(bad(UpliConfig { ports: 5, ..UpliConfig::default() }), UpliConfigError::Ports(5));
    let mut config = UpliConfig::default();
    config.credits[1].pool = 3;
    assert_eq!(bad(config), UpliConfigError::Credits { channel: UpliChannel::OrigData, found: 3 });
    config.credits[1] = UpliCreditCounts::each(0);
    assert_eq!(bad(config), UpliConfigError::NoCredits(UpliChannel::OrigData));
}
