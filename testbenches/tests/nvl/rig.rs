//! A link with random traffic and a scoreboard, and one end alone that is fed with packets made by hand.

use super::common::*;
use scalepool::kernel::Rng;
pub use scalepool::link::event::{LinkEvent, Severity};
pub use scalepool::link::fault::{Fault, FaultyWire};
pub use scalepool::link::nvlink::{Buffers, LinkConfig, NvlEnd, NvlFlit, NvlMessage, Pair};
use scalepool::link::protocol::LinkProtocol;
use scalepool::link::watch::WatchConfig;
pub use scalepool_protocols::cxl::Dir;
use scalepool_testbenches::beside::Beside;
use std::collections::VecDeque;

/// Flits that a flit is under way.
pub const LATENCY_FLITS: u64 = 12;
/// Messages that a producer queues ahead.
const AHEAD: usize = 4;
/// The channels that operations use.
pub const CHANNELS: [Vc; 3] = [Vc::CREQ0, Vc::CREQ1, Vc::RSP0];
/// Operations of the transaction layer.
pub const OPS: [Op; 11] = [
    Op::READ,
    Op::WRITE_POSTED,
    Op::WRITE_NONPOSTED,
    Op::ATOMIC_RETURN,
    Op::ATOMIC_POSTED,
    Op::FLUSH,
    Op::MULTICAST_WRITE,
    Op::REDUCE_READ,
    Op::RSP_DATA,
    Op::RSP_DONE,
    Op::RSP_ERROR,
];

/// Choices with a time-out that suits the latency here.
pub fn config() -> LinkConfig {
    LinkConfig { timeout_flits: 200, ..LinkConfig::default() }
}

/// A message with so many data flits.
pub fn message(op: Op, tag: u16, flits: usize) -> NvlMessage {
    NvlMessage { tag, data: data(flits), ..NvlMessage::new(op, &NvlConfig::default()) }
}

/// A legal message with random content and at most `most` data flits.
pub fn random_message(rng: &mut Rng, most: u64) -> NvlMessage {
    let op = OPS[rng.below(OPS.len() as u64) as usize];
    let flits = if op.has_data() == Some(true) { 1 + rng.below(most) as usize } else { 0 };
    let mut data = vec![0; 16 * flits];
    rng.fill_bytes(&mut data);
    // Few regions, so that an AE is needed often and not always.
    let region = rng.below(3) << 38 | rng.below(2) << 60;
    NvlMessage {
        tag: rng.below(1 << 10) as u16,
        rid: rng.below(511) as u16,
        size: if flits == 0 { rng.below(16) as u8 } else { 0 },
        ep: rng.ratio(1, 8),
        atag: rng.below(4) as u8,
        address: region | rng.below(1 << 34) << 4,
        attr: rng.below(2) as u8,
        be: ((1..=8).contains(&flits) && rng.ratio(1, 3)).then(|| u128::from(rng.next_u64())),
        data,
        ..NvlMessage::new(op, &NvlConfig::default())
    }
}

/// Number of a direction.
fn side(dir: Dir) -> usize {
    usize::from(dir == Dir::Up)
}

/// A link with producers, consumers and a scoreboard.
pub struct Bench {
    pub pair: Pair,
    rng: Rng,
    /// Messages of each direction and channel that have not come out.
    expected: [[VecDeque<NvlMessage>; 8]; 2],
    pub delivered: [[u64; 8]; 2],
    pub events: Vec<LinkEvent>,
    /// Chances of 64 a flit clock that a message is made, and that one is taken.
    pub produce: [u64; 2],
    pub consume: [u64; 2],
    /// Most data flits of a message.
    pub most: u64,
}

impl Bench {
    pub fn new(config: LinkConfig, buffers: Buffers, seed: u64) -> Bench {
        Bench {
            pair: Pair::new(config, buffers, LATENCY_FLITS),
            rng: Rng::for_name(seed, "bench"),
            expected: Default::default(),
            delivered: Default::default(),
            events: Vec::new(),
            produce: [16; 2],
            consume: [64; 2],
            most: 16,
        }
    }

    /// Faults of a direction.
    pub fn wire(&mut self, dir: Dir, faults: Vec<Fault>, ber: f64, seed: u64) {
        self.pair.wires.put(dir, FaultyWire::new(faults, ber, Rng::for_name(seed, dir.name())));
    }

    /// Sends a message and expects it at the other side.
    pub fn send(&mut self, dir: Dir, message: NvlMessage) {
        self.pair.sender(dir).send(message.clone()).expect("a legal message");
        self.expected[side(dir)][usize::from(message.vc.0)].push_back(message);
    }

    /// One flit clock with everything around it.
    pub fn step(&mut self) {
        for dir in Dir::ALL {
            if self.rng.ratio(self.produce[side(dir)], 64) {
                let message = random_message(&mut self.rng, self.most);
                if self.pair.sender(dir).waiting(message.vc) < AHEAD {
                    self.send(dir, message);
                }
            }
        }
        self.pair.step();
        self.collect();
    }

    /// Takes what has come out, and compares.
    pub fn collect(&mut self) {
        for dir in Dir::ALL {
            for vc in CHANNELS {
                while self.rng.ratio(self.consume[side(dir)], 64) {
                    let Some(message) = self.pair.receiver(dir).take(vc) else { break };
                    let expected = self.expected[side(dir)][usize::from(vc.0)].pop_front();
                    assert_eq!(Some(message), expected, "{dir:?} {vc:?} at {}", self.pair.wires.now());
                    self.delivered[side(dir)][usize::from(vc.0)] += 1;
                }
            }
            let events = self.pair.sender(dir).take_events();
            self.events.extend(events);
        }
    }

    /// Runs with traffic.
    pub fn run(&mut self, flits: u64) {
        for _ in 0..flits {
            self.step();
        }
    }

    /// No more traffic; whether both ends come to rest.
    pub fn rest(&mut self, limit_flits: u64) -> bool {
        (self.produce, self.consume) = ([0; 2], [64; 2]);
        for _ in 0..limit_flits {
            self.step();
            if self.pair.is_quiet() {
                return true;
            }
        }
        false
    }

    /// Everything came out, nothing was against a rule, all credits are home.
    #[track_caller]
    pub fn assert_clean(&self) {
        assert_eq!(self.events, []);
        assert!(self.expected.iter().flatten().all(VecDeque::is_empty), "messages are missing");
        for (from, to) in [(&self.pair.host, &self.pair.device), (&self.pair.device, &self.pair.host)] {
            for vc in (0..8).map(Vc) {
                assert_eq!(from.credits().available(vc), to.credits().granted(vc), "{vc:?}");
            }
        }
    }
}

/// One end, fed by hand.
pub struct Solo {
    pub end: NvlEnd,
    beside: Beside,
    packer: Packer,
}

impl Solo {
    pub fn new() -> Solo {
        Solo::with(config())
    }

    pub fn with(config: LinkConfig) -> Solo {
        let beside = Beside::new(&WatchConfig::new(LinkProtocol::Nvlink, Dir::Up));
        Solo { end: NvlEnd::new(config, Buffers::default()), beside, packer: Packer::new(config.codec) }
    }

    /// The end with credits of a peer that has large buffers.
    pub fn with_credits() -> Solo {
        let mut solo = Solo::new();
        for vc in CHANNELS {
            for _ in 0..200 {
                solo.feed(&bare(NvlHeader { crvc: vc, crh: 15, crd: 31, ..header(Op::CREDIT_INIT) }));
            }
        }
        solo
    }

    /// A packet of the peer, with the CRC that fits here.
    pub fn feed(&mut self, packet: &Packet) {
        let sealed = self.packer.seal(packet);
        self.raw(&sealed);
    }

    /// A packet as it is.
    pub fn raw(&mut self, packet: &Packet) {
        packet.flits().iter().for_each(|bits| self.flit(NvlFlit::from(*bits)));
    }

    fn flit(&mut self, flit: NvlFlit) {
        self.beside.arrives(&flit.0, 0);
        self.end.receive(&flit);
    }

    pub fn transmit(&mut self) -> NvlFlit {
        let flit = self.end.transmit();
        self.beside.sends(&flit.0, 0);
        flit
    }

    /// An IDLE, which closes a payload.
    pub fn idle(&mut self) {
        self.feed(&bare(header(Op::IDLE)));
    }

    /// An acknowledgement of the peer.
    pub fn ack(&mut self, ackid: u16) {
        self.feed(&bare(NvlHeader { ackv: true, ackid, ..header(Op::IDLE) }));
    }

    /// A REPLAY_INIT of the peer, behind an IDLE that closes what is open.
    pub fn replay_init(&mut self, ackid: u16) {
        self.idle();
        self.feed(&bare(NvlHeader { ackid, ..header(Op::REPLAY_INIT) }));
    }

    /// A header whose CRC does not fit.
    pub fn bad_header(&mut self) {
        self.flit(NvlFlit([0x5a; 16]));
    }

    /// The next packet that the end sends.
    pub fn next(&mut self) -> Packet {
        let first = self.transmit().bits();
        let len = NvlHeader::from_bits(first).len;
        let rest = (0..len).map(|_| self.transmit().bits());
        Packet::new(&[first].into_iter().chain(rest).collect::<Vec<_>>()).expect("1 to 18 flits")
    }

    /// The next packets, as many as asked.
    pub fn packets(&mut self, count: usize) -> Vec<Packet> {
        (0..count).map(|_| self.next()).collect()
    }

    /// Operations of the next packets.
    pub fn ops(&mut self, count: usize) -> Vec<Op> {
        self.packets(count).iter().map(|p| p.header().op).collect()
    }

    /// Skips what is sent at the beginning.
    pub fn begun(mut self) -> Solo {
        while self.next().header().op == Op::CREDIT_INIT {}
        self
    }

    /// All messages that came out.
    pub fn taken(&mut self) -> Vec<NvlMessage> {
        CHANNELS.into_iter().flat_map(|vc| std::iter::from_fn(|| self.end.take(vc)).collect::<Vec<_>>()).collect()
    }

    /// Rules of the events since the last call.
    pub fn rules(&mut self) -> Vec<&'static str> {
        let events = self.end.take_events();
        self.beside.judge(&events);
        events.iter().map(|e| e.violation.rule).collect()
    }
}

/// A packet of one flit.
pub fn bare(header: NvlHeader) -> Packet {
    Packet::new(&[header.to_bits().expect("the fields fit")]).expect("one flit")
}
