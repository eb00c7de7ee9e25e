//! A link with random traffic and a scoreboard, and one end alone that is fed with flits made by hand.

use scalepool::kernel::Rng;
pub use scalepool::link::cxl256::{Cachemem, CachememConfig, Client, Cxl256End, Layer, LinkConfig, Pair};
pub use scalepool::link::event::{LinkEvent, Severity};
pub use scalepool::link::fault::{Fault, FaultyWire};
use scalepool::link::protocol::LinkProtocol;
use scalepool::link::watch::WatchConfig;
pub use scalepool_protocols::cxl::Dir;
pub use scalepool_protocols::cxl::cxl256::code::{FlitType, ReplayCommand};
use scalepool_protocols::cxl::cxl256::control::InitParam;
pub use scalepool_protocols::cxl::cxl256::crd::Crd;
pub use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
pub use scalepool_protocols::cxl::cxl256::header::FlitHeader;
pub use scalepool_protocols::cxl::cxl256::stream::Cxl256Message;
use scalepool_protocols::cxl::cxl256::stream::{Data, trailer};
pub use scalepool_protocols::cxl::cxl256::{Class, Mode, Routing};
use scalepool_protocols::wire::Wire;
use scalepool_testbenches::beside::Beside;
use std::collections::VecDeque;

/// Flits that a flit is under way.
pub const LATENCY_FLITS: u64 = 12;
/// Flits that training takes.
pub const RETRAIN_FLITS: u64 = 64;
/// Messages a class that a producer queues ahead.
const AHEAD: usize = 6;
/// Flit clocks for which producers and consumers keep their speed.
const PHASE_FLITS: u64 = 500;
/// Speeds of producers and consumers: chances of 64 a flit clock.
const SPEEDS: [u64; 4] = [0, 4, 24, 64];

/// A legal message with random content; trailers come and go.
pub fn random_message(rng: &mut Rng, routing: Routing, class: Class) -> Cxl256Message {
    let def = class.def(routing);
    let partial = class == Class::M2sRwd && rng.ratio(1, 4);
    let with_metadata = rng.ratio(1, 4);
    let opcode = match class {
        Class::M2sRwd => 1 + u64::from(partial),
        Class::M2sReq | Class::H2dReq => 1,
        Class::D2hReq => 2,
        Class::D2hRsp | Class::H2dRsp => 5,
        _ => 0,
    };
    let number = rng.below(1 << 12);
    let fields = [
        ("tag", number),
        ("cqid", number),
        ("uqid", number),
        ("bi_tag", number),
        ("opcode", opcode),
        ("address", rng.below(1 << 46) << 6),
        ("bep", rng.below(2)),
        ("trp", u64::from(partial || with_metadata)),
        ("meta_field", u64::from(with_metadata)),
    ];
    let bits = fields.into_iter().fold(1, |bits, (name, value)| {
        let field = def.fields.iter().find(|f| f.name == name);
        field.map_or(bits, |f| f.insert(bits, value.into()).expect("the value fits"))
    });
    let announced = trailer(class, routing, bits);
    let data = class.has_data().then(|| {
        let mut line = [0; 64];
        rng.fill_bytes(&mut line);
        Data {
            line,
            byte_enables: announced.filter(|t| t.byte_enables).map(|_| rng.next_u64()),
            metadata: announced.filter(|t| t.metadata).map(|_| rng.next_u64() as u32),
        }
    });
    Cxl256Message { class, bits, data }
}

/// Classes of a direction.
pub fn classes(dir: Dir) -> impl Iterator<Item = Class> {
    Class::ALL.into_iter().filter(move |c| c.dir() == dir)
}

/// A link between two ends of all classes, with producers, consumers and a scoreboard.
pub struct Bench {
    pub pair: Pair,
    pub rng: Rng,
    /// Messages given to a class that have not come out.
    pub expected: [VecDeque<Cxl256Message>; 12],
    /// Messages that came out.
    pub delivered: [u64; 12],
    pub events: Vec<LinkEvent>,
    pub produce: [u64; 12],
    pub consume: [u64; 2],
    /// Whether speeds change from phase to phase.
    pub phases: bool,
}

impl Bench {
    /// A link whose ends have buffers of `messages` a class.
    pub fn new(link: LinkConfig, messages: u16, seed: u64) -> Bench {
        let end = |dir| CachememConfig::cachemem(dir, link.mode, messages);
        Bench {
            pair: Pair::cachemem(link, end(Dir::Down), end(Dir::Up), LATENCY_FLITS, RETRAIN_FLITS),
            rng: Rng::for_name(seed, "bench"),
            expected: Default::default(),
            delivered: [0; 12],
            events: Vec::new(),
            produce: [0; 12],
            consume: [64; 2],
            phases: true,
        }
    }

    /// Faults of a direction.
    pub fn wire(&mut self, dir: Dir, faults: Vec<Fault>, ber: f64, seed: u64) {
        self.pair.wires.put(dir, FaultyWire::new(faults, ber, Rng::for_name(seed, dir.name())));
    }

    /// Gives a random message to its sender.
    pub fn give(&mut self, class: Class) {
        let routing = self.pair.host.link().mode.routing();
        let message = random_message(&mut self.rng, routing, class);
        self.pair.sender(class.dir()).client.send(message).expect("legal");
        self.expected[class.index()].push_back(message);
    }

    /// One flit clock with everything around it.
    pub fn step(&mut self) {
        if self.phases && self.pair.wires.now().is_multiple_of(PHASE_FLITS) {
            self.produce = [0; 12].map(|_: u64| SPEEDS[self.rng.below(4) as usize]);
            self.consume = [0; 2].map(|_: u64| SPEEDS[1 + self.rng.below(3) as usize]);
        }
        for class in Class::ALL {
            let waiting = self.pair.sender(class.dir()).client.waiting(class);
            if waiting < AHEAD && self.rng.ratio(self.produce[class.index()], 64) {
                self.give(class);
            }
        }
        self.pair.step();
        for dir in Dir::ALL {
            for _ in 0..8 {
                if self.rng.ratio(self.consume[usize::from(dir == Dir::Up)], 64) {
                    self.take(dir);
                }
            }
            let events = self.pair.receiver(dir).take_events();
            self.events.extend(events);
        }
    }

    fn take(&mut self, dir: Dir) {
        let Some(message) = self.pair.receiver(dir).client.take() else { return };
        let i = message.class.index();
        assert_eq!(Some(message), self.expected[i].pop_front(), "lost, twice or out of order");
        self.delivered[i] += 1;
    }

    /// Stops the producers and waits until everything is at rest.
    pub fn rest(&mut self, limit_flits: u64) -> bool {
        (self.produce, self.consume, self.phases) = ([0; 12], [64; 2], false);
        for _ in 0..limit_flits {
            if self.pair.is_quiet() {
                return true;
            }
            self.step();
        }
        self.pair.is_quiet()
    }

    /// Credits that are not where they belong.
    pub fn astray(&mut self) -> Vec<Class> {
        let (host, device) = (&self.pair.host, &self.pair.device);
        let home = |c: &Class| {
            let (sender, receiver) = if c.dir() == Dir::Down { (host, device) } else { (device, host) };
            let (has, granted) = (sender.client.credits().spend[c.index()], receiver.client.credits().granted(*c));
            has == granted && granted == receiver.client.config().buffers[c.index()]
        };
        Class::ALL.into_iter().filter(|c| !home(c)).collect()
    }

    /// Nothing is lost, nothing was broken, all credits are home.
    #[track_caller]
    pub fn assert_clean(&mut self) {
        assert_eq!(self.events, []);
        assert!(self.expected.iter().all(VecDeque::is_empty), "messages are missing");
        assert_eq!(self.astray(), []);
    }
}

/// A sealed flit.
pub fn sealed(header: FlitHeader, slots: &[u128], crd: Crd) -> Cxl256Flit {
    let mut flit = Cxl256Flit::ZERO;
    flit.set_header(&header).expect("fits");
    slots.iter().enumerate().for_each(|(n, &slot)| flit.set_slot(Mode::Standard, n, slot));
    flit.set_crd(&crd).expect("fits");
    flit.seal(Mode::Standard);
    flit
}

/// A device end alone; the test is its peer, whose Prior bits are kept right.
pub struct Solo {
    pub end: Cxl256End<Cachemem>,
    beside: Beside,
    now: u64,
    /// Flits fed, without a gap in their clock.
    fed: u64,
    prior: bool,
}

impl Solo {
    /// An end that has just been started.
    pub fn new(link: LinkConfig) -> Solo {
        Solo::with(link, CachememConfig::cachemem(Dir::Up, link.mode, 32))
    }

    /// One with choices of its own above the numbers.
    pub fn with(link: LinkConfig, config: CachememConfig) -> Solo {
        let watched = WatchConfig {
            selective_nak: link.selective_nak,
            ..WatchConfig::new(LinkProtocol::Cxl256(link.mode), Dir::Up)
        };
        let beside = Beside::new(&watched);
        Solo { end: Cxl256End::cachemem(link, config), beside, now: 0, fed: 0, prior: false }
    }

    /// An end that is up: its INIT.Param has number 1, and so has the peer's.
    pub fn up(link: LinkConfig) -> Solo {
        let mut solo = Solo::new(link);
        solo.handshake();
        let init = InitParam::default().to_bits().expect("fits");
        solo.payload(1, &[init]);
        solo.nop(ReplayCommand::Ack, 1);
        assert!(solo.end.client.is_up());
        solo
    }

    /// Three Acks, and as many flits as the end needs; its INIT.Param leaves last.
    pub fn handshake(&mut self) {
        for _ in 0..3 {
            self.nop(ReplayCommand::Explicit, 1023);
            self.nop(ReplayCommand::Ack, 1023);
        }
        for _ in 0..20 {
            if self.end.transmitter().unacknowledged() > 0 {
                return;
            }
            self.transmit();
        }
        panic!("the handshake does not end");
    }

    /// The next flit of the end.
    pub fn transmit(&mut self) -> Cxl256Flit {
        self.now += 1;
        let flit = self.end.transmit(self.now);
        self.beside.sends(&flit.0, self.now);
        flit
    }

    /// Feeds a flit.
    pub fn receive(&mut self, flit: &Cxl256Flit) {
        self.fed += 1;
        self.beside.arrives(&flit.0, self.fed);
        self.end.receive(flit, self.fed);
    }

    /// Feeds a flit of a type.
    pub fn flit(&mut self, flit_type: FlitType, command: ReplayCommand, seq: u16, slots: &[u128], crd: Crd) {
        let header = FlitHeader { flit_type, prior: self.prior, dllp_type: false, command, seq };
        self.prior = flit_type != FlitType::Nop;
        self.receive(&sealed(header, slots, crd));
    }

    /// Feeds a NOP.
    pub fn nop(&mut self, command: ReplayCommand, seq: u16) {
        self.flit(FlitType::Nop, command, seq, &[], Crd::default());
    }

    /// Feeds payload with a stated number.
    pub fn payload(&mut self, seq: u16, slots: &[u128]) {
        self.flit(FlitType::Cachemem, ReplayCommand::Explicit, seq, slots, Crd::default());
    }

    /// Feeds payload with a stated number and credits alone.
    pub fn payload_with(&mut self, seq: u16, crd: Crd) {
        self.flit(FlitType::Cachemem, ReplayCommand::Explicit, seq, &[], crd);
    }

    /// Feeds a flit that cannot be repaired, in place of one that was payload or not.
    pub fn bad(&mut self, payload: bool) {
        self.prior = payload;
        let mut flit = sealed(FlitHeader::default(), &[], Crd::default());
        flit.0[100] ^= 0xff;
        flit.0[103] ^= 0x0f;
        self.receive(&flit);
    }

    /// Rules of the events since the last call.
    pub fn rules(&mut self) -> Vec<&'static str> {
        let events = self.end.take_events();
        self.beside.judge(&events);
        events.iter().map(|e| e.violation.rule).collect()
    }

    /// Headers of the next flits of the end.
    pub fn headers(&mut self, flits: usize) -> Vec<FlitHeader> {
        (0..flits).map(|_| self.transmit().header()).collect()
    }
}
