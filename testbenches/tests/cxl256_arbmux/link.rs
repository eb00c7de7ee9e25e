//! Both protocols with a real CXL.cachemem over a noisy link: nothing is lost, ALMPs included.

use crate::cxl256_arbmux::rig::{Queue, config};
use scalepool::kernel::Rng;
use scalepool::link::arbmux::cxl256::{ArbMux, ArbMuxConfig, LinkWidth, State};
use scalepool::link::arbmux::{ArbMuxInstance, Ask, L1Level};
use scalepool::link::cxl256::{Cachemem, CachememConfig, Cxl256End, LinkConfig, Pair};
use scalepool::link::fault::FaultyWire;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::stream::Cxl256Message;
use scalepool_protocols::cxl::cxl256::{Class, Mode};

type Port = ArbMux<Queue, Cachemem>;

fn end(mode: Mode, dir: Dir, selective_nak: bool) -> Cxl256End<Port> {
    let cachemem = Cachemem::new(CachememConfig::mem(dir, mode, 64));
    let mux = ArbMux::new(ArbMuxConfig { mode, ..config(dir) }, Queue::new(FlitType::Io), cachemem);
    Cxl256End::new(LinkConfig { mode, selective_nak, ..LinkConfig::default() }, mux)
}

/// A message of CXL.mem with a number in its tag.
fn message(dir: Dir, number: u64) -> Cxl256Message {
    let class = if dir == Dir::Down { Class::M2sReq } else { Class::S2mNdr };
    let def = class.def(Mode::Standard.routing());
    let tag = def.fields.iter().find(|f| f.name == "tag").expect("a tag");
    Cxl256Message { class, bits: tag.insert(1, number.into()).expect("16 bits"), data: None }
}

/// Viral of CXL.cachemem gets ahead of payload of CXL.io too, and waits for its vLSM and for ALMPs.
#[test]
fn viral_passes_the_arbiter() {
    for mode in [Mode::Standard, Mode::LatencyOptimised] {
        let mut pair = Pair::new(end(mode, Dir::Down, false), end(mode, Dir::Up, false), 12, 64);
        let open = |pair: &mut Pair<Port>| {
            for dir in Dir::ALL {
                ArbMuxInstance::ALL.into_iter().for_each(|i| pair.sender(dir).client.ask(i, Some(Ask::Active)));
            }
        };
        pair.host.client.cachemem.set_viral(0x0003);
        (0..30).for_each(|_| pair.step());
        assert_eq!(pair.host.stats().spoilt, 0, "the vLSM is in Reset");
        open(&mut pair);
        (0..200).for_each(|n| pair.host.client.io.outgoing.push_back(n));
        (0..400).for_each(|_| pair.step());
        assert_eq!(pair.device.client.cachemem.peer_viral(), Some(0x0003));
        assert_eq!(pair.host.stats().spoilt, 1);
        assert_eq!(pair.device.client.io.incoming, (0..200).collect::<Vec<u64>>());
        let rules: Vec<_> = pair.device.take_events().into_iter().map(|e| e.violation.rule).collect();
        assert_eq!(rules, ["CXL256-VIR-01"]);
        assert_eq!(pair.host.take_events(), []);
    }
}

#[test]
fn both_protocols_over_a_noisy_link() {
    for (seed, mode) in [(1, Mode::Standard), (2, Mode::Standard), (3, Mode::LatencyOptimised)] {
        let selective = seed == 2;
        let mut pair = Pair::new(end(mode, Dir::Down, selective), end(mode, Dir::Up, selective), 12, 64);
        for dir in Dir::ALL {
            pair.wires.put(dir, FaultyWire::new(Vec::new(), 2e-5, Rng::for_name(seed, dir.name())));
        }
        for dir in Dir::ALL {
            for instance in ArbMuxInstance::ALL {
                pair.sender(dir).client.ask(instance, Some(Ask::Active));
            }
        }
        let (mut io, mut mem) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        let mut events = Vec::new();
        let mut given = 0;
        for now in 0..12_000u64 {
            if now % 40 == 0 && given < 200 {
                for dir in Dir::ALL {
                    let port = &mut pair.sender(dir).client;
                    port.io.outgoing.push_back(given);
                    port.cachemem.send(message(dir, given)).expect("a legal message");
                }
                given += 1;
            }
            if now % 1000 == 400 {
                // Power states of CXL.io in the middle of it, granted now and then, and other widths.
                let ask = Some(Ask::L1(L1Level::L1_0));
                pair.device.client.ask(ArbMuxInstance::Io, ask);
                pair.host.client.ask(ArbMuxInstance::Io, ask.filter(|_| now % 2000 == 400));
                let width = LinkWidth::ALL[(now / 1000) as usize % 5];
                pair.host.client.ask_width(width, true).expect("answered by now");
            }
            if now % 1000 == 700 {
                pair.device.client.ask(ArbMuxInstance::Io, Some(Ask::Active));
            }
            pair.step();
            for dir in Dir::ALL {
                let port = &mut pair.receiver(dir).client;
                io[dir as usize].append(&mut port.io.incoming);
                while let Some(message) = port.cachemem.take() {
                    mem[dir as usize].push(message);
                }
                events.append(&mut pair.receiver(dir).take_events());
            }
        }
        assert!(pair.drain(5_000), "seed {seed}");
        assert!(pair.wires.damaged() > 20, "seed {seed}: {}", pair.wires.damaged());
        assert_eq!(given, 200);
        for dir in Dir::ALL {
            assert_eq!(io[dir as usize], (0..200).collect::<Vec<u64>>(), "seed {seed}");
            assert_eq!(mem[dir as usize], (0..200).map(|n| message(dir, n)).collect::<Vec<_>>(), "seed {seed}");
            for instance in ArbMuxInstance::ALL {
                assert_eq!(pair.sender(dir).client.vlsm(instance).state(), State::Active);
            }
        }
        assert_eq!(pair.host.client.width(), pair.device.client.width());
        let rules: Vec<_> = events.iter().map(|e| e.violation.rule).collect();
        assert_eq!(rules, [""; 0], "seed {seed}");
    }
}
