//! A link with numbered TL flits and a scoreboard, and one end alone with a peer made by hand.

pub use scalepool::kernel::Rng;
pub use scalepool::link::event::{LinkEvent, Severity};
use scalepool::link::protocol::LinkProtocol;
pub use scalepool::link::ualink::client::Client;
pub use scalepool::link::ualink::line::{CodeWord, LaneRate, UalLine, UalWidth};
pub use scalepool::link::ualink::messages::{MIN_RATE, NOMINAL_RATE, RateError, TL_CHANNEL, UART_CHANNEL};
pub use scalepool::link::ualink::replay::ReplayConfig;
pub use scalepool::link::ualink::state::{Fault, State};
pub use scalepool::link::ualink::{EndConfig, OnLine, Pair, UalEnd};
use scalepool::link::watch::WatchConfig;
use scalepool_protocols::cxl::Dir;
pub use scalepool_protocols::ualink::code::*;
pub use scalepool_protocols::ualink::config::UalConfig;
pub use scalepool_protocols::ualink::flit::{DlFlit, Payload};
pub use scalepool_protocols::ualink::half::TlFlit;
pub use scalepool_protocols::ualink::header::*;
pub use scalepool_protocols::ualink::message::*;
pub use scalepool_protocols::ualink::segment::Packer;
use scalepool_protocols::ualink::segment::{SegmentPlace, SegmentSource, Unpacker};
pub use scalepool_protocols::wire::Wire;
use scalepool_testbenches::beside::Beside;
use std::sync::Arc;

/// x4 at 200G: 6.4 ns a flit.
pub const X4: UalLine = UalLine { rate: LaneRate::G200, width: UalWidth::X4, interleave: 4 };
/// 1.0 us in flit times of [`X4`].
pub const MICROSECOND_FLITS: u64 = 157;
/// 10 ms in flit times of [`X4`].
pub const TEN_MS_FLITS: u64 = 1_562_500;

/// A TL flit with a number in it, and all of its sectors different.
pub fn numbered(n: u64) -> TlFlit {
    let mut flit = TlFlit::default();
    flit.halves[0] = std::array::from_fn(|k| n.to_le_bytes()[k % 8] ^ (k as u8 & 0xf8));
    flit.halves[1] = std::array::from_fn(|k| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()[k % 8] ^ k as u8);
    flit.set_indicators((n % 4) as u8);
    flit
}

/// Sends numbered TL flits and looks at those that come.
#[derive(Debug, Clone, Default)]
pub struct Numbers {
    /// Number of the next one to send, and of the first not to be sent.
    pub next: u64,
    pub last: u64,
    /// Number that is due.
    pub due: u64,
    /// Those that came well, and that came damaged or out of order.
    pub taken: u64,
    pub wrong: u64,
    /// Times that the link went down.
    pub downs: u64,
}

impl Client for Numbers {
    fn transmit(&mut self, _now: u64) -> Option<TlFlit> {
        (self.next < self.last).then(|| {
            self.next += 1;
            numbered(self.next - 1)
        })
    }

    fn receive(&mut self, flit: &TlFlit, _now: u64) {
        let found = u64::from_le_bytes(flit.halves[0][..8].try_into().expect("eight bytes"));
        if found != self.due || *flit != numbered(found) {
            self.wrong += 1;
        }
        (self.due, self.taken) = (found + 1, self.taken + 1);
    }

    fn link_down(&mut self) {
        self.downs += 1;
    }

    fn is_quiet(&self) -> bool {
        self.next == self.last
    }

    fn wakes_at(&self, _now: u64) -> Option<u64> {
        None
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        Vec::new()
    }
}

/// An accelerator and a switch port.
pub fn configs() -> [EndConfig; 2] {
    [EndConfig::accelerator(X4, 5), EndConfig::switch_port(X4, 7)]
}

/// The same with other choices for replay.
pub fn configs_with(replay: ReplayConfig) -> [EndConfig; 2] {
    configs().map(|config| EndConfig { replay, ..config })
}

/// A link whose ends send so many TL flits each, 10 flit times apart.
pub fn pair_of(configs: [EndConfig; 2], each: [u64; 2]) -> Pair<Numbers> {
    Pair::new(configs, each.map(|last| Numbers { last, ..Numbers::default() }), 10)
}

/// Runs over a good line until nothing is left to do.
pub fn rest(pair: &mut Pair<Numbers>, within_flits: u64) {
    rest_with(pair, within_flits, &mut |_, _, flit| Some(flit));
}

/// Runs until nothing is left to do.
pub fn rest_with(
    pair: &mut Pair<Numbers>,
    within_flits: u64,
    line: &mut dyn FnMut(usize, u64, OnLine) -> Option<OnLine>,
) {
    let end = pair.wires.now() + within_flits;
    while !pair.is_quiet() {
        assert!(pair.wires.now() < end, "not quiet within {within_flits} flit times: {:?}", states(pair));
        pair.step_with(line);
    }
}

pub fn states(pair: &Pair<Numbers>) -> [State; 2] {
    pair.ends().map(UalEnd::state)
}

/// Events of both ends.
pub fn events(pair: &mut Pair<Numbers>) -> Vec<LinkEvent> {
    pair.ends_mut().into_iter().flat_map(UalEnd::take_events).collect()
}

/// Everything that was sent has come, once and in order.
#[track_caller]
pub fn assert_all_came(pair: &Pair<Numbers>) {
    let [a, b] = pair.ends().map(|end| &end.client);
    assert_eq!((b.taken, b.wrong, a.taken, a.wrong), (a.next, 0, b.next, 0), "{a:?} {b:?}");
}

/// A flit with some bits wrong.
pub fn spoil(flit: OnLine) -> OnLine {
    match flit {
        OnLine::Flit(mut flit) => {
            Arc::make_mut(&mut flit).0[100] ^= 0x10;
            OnLine::Flit(flit)
        }
        control => control,
    }
}

pub fn explicit(op: FlitOp, payload: bool, seq: u16) -> UalHeader {
    UalHeader::Explicit(ExplicitHeader { op, payload, seq, ..ExplicitHeader::default() })
}

pub fn command(op: FlitOp, payload: bool, ack_req_seq: u16, own: u16) -> UalHeader {
    UalHeader::Command(CommandHeader { op, payload, ack_req_seq, seq_lo: (own % 8) as u8, ..CommandHeader::default() })
}

/// A sealed flit.
pub fn flit(header: UalHeader, payload: &Payload) -> DlFlit {
    DlFlit::new(&header, payload, &UalConfig::SHEET).expect("the header fits")
}

pub fn word<W: Wire>(message: &W) -> u32 {
    message.to_bits().expect("the message fits") as u32
}

/// A negotiation message for a state, `nibble` being bit 3 online and the channel.
pub fn channel(command: ChannelCommand, nibble: u8) -> u32 {
    word(&DlChannel { command, target: nibble, ..DlChannel::default() })
}

/// What the peer made by hand puts into one flit.
#[derive(Debug, Default)]
pub struct Offers {
    pub words: Vec<u32>,
    pub tl: Vec<TlFlit>,
}

impl SegmentSource for Offers {
    fn message(&mut self, _segment: usize) -> Option<u32> {
        (!self.words.is_empty()).then(|| self.words.remove(0))
    }

    fn tl_flit(&mut self, _segment: usize, _place: SegmentPlace) -> Option<TlFlit> {
        (!self.tl.is_empty()).then(|| self.tl.remove(0))
    }
}

/// One end, and a peer that takes everything in order and says what it is told to.
pub struct Solo {
    pub end: UalEnd<Numbers>,
    beside: Beside,
    /// Time that the end is told.
    pub now: u64,
    /// Last number that the peer has given, and has taken.
    pub given: u16,
    pub taken: u16,
    /// The peer acknowledges what it takes.
    pub acks: bool,
    /// DL message DWords that the end sent, and the flit time of each.
    pub words: Vec<(u64, u32)>,
    /// TL flits that the end began to send.
    pub tl_sent: u64,
    /// Headers that the end sent; `None`: a control flit.
    pub headers: Vec<Option<UalHeader>>,
    unpacker: Unpacker,
    packer: Packer,
    /// Flits of the peer since its last number in full.
    commands: u8,
}

impl Solo {
    /// An end that is up; it has `last` TL flits to send.
    pub fn up(config: EndConfig, last: u64) -> Solo {
        let mut solo = Solo::new(config, last);
        solo.end.line_fault(None);
        for _ in 0..10 {
            solo.exchange(&[]);
        }
        assert_eq!(solo.end.state(), State::Up);
        solo
    }

    /// The same with both channels online, and quiet.
    pub fn online(config: EndConfig, last: u64) -> Solo {
        let mut solo = Solo::up(EndConfig { opens_channels: false, ..config }, 0);
        for nibble in [8 | TL_CHANNEL, 8 | UART_CHANNEL] {
            solo.exchange(&[channel(ChannelCommand::Request, nibble)]);
            solo.exchange(&[]);
            solo.exchange(&[channel(ChannelCommand::Ack, nibble)]);
        }
        for nibble in [TL_CHANNEL, UART_CHANNEL] {
            assert!(solo.end.messages.channels().is_online(nibble));
        }
        solo.exchange(&[]);
        assert_eq!(solo.rules(), [""; 0]);
        solo.words.clear();
        solo.headers.clear();
        solo.end.client.last = last;
        solo
    }

    /// An end after reset.
    pub fn new(config: EndConfig, last: u64) -> Solo {
        Solo {
            beside: Beside::new(&WatchConfig {
                interleave: config.replay.fec_group_flits,
                ..WatchConfig::new(LinkProtocol::Ualink, Dir::Down)
            }),
            end: UalEnd::new(config, Numbers { last, ..Numbers::default() }),
            now: 0,
            given: 511,
            taken: 511,
            acks: true,
            words: Vec::new(),
            tl_sent: 0,
            headers: Vec::new(),
            unpacker: Unpacker::default(),
            packer: Packer::default(),
            commands: 0,
        }
    }

    /// One flit time of the end's transmitter.
    pub fn transmit(&mut self) -> OnLine {
        let sent = self.end.transmit(self.now);
        self.beside.sends(&sent.to_bytes(), self.now);
        self.now += 1;
        self.headers.push(match &sent {
            OnLine::Flit(flit) => Some(flit.header()),
            _ => None,
        });
        if let OnLine::Flit(flit) = &sent
            && flit.header().payload()
        {
            self.taken = next_seq(self.taken);
            let cut = self.unpacker.read(&flit.payload());
            self.words.extend(cut.messages.iter().map(|&(_, word)| (self.now - 1, word)));
            self.tl_sent += cut.started.len() as u64;
        }
        sent
    }

    /// A flit of the peer.
    pub fn receive(&mut self, header: UalHeader, payload: &Payload) {
        self.arrives(&OnLine::Flit(Arc::new(flit(header, payload))));
    }

    /// Anything of the peer.
    pub fn arrives(&mut self, on_line: &OnLine) {
        self.beside.arrives(&on_line.to_bytes(), self.now);
        self.end.receive(on_line, self.now);
    }

    /// A control flit of the peer.
    pub fn idle(&mut self) {
        self.arrives(&OnLine::Idle);
    }

    /// Payload of the peer: DL messages, at most five, and TL flits.
    pub fn payload(&mut self, words: &[u32], tl: &[TlFlit]) -> Payload {
        assert!(words.len() <= 5, "a flit has five segments");
        self.packer.pack(&mut Offers { words: words.to_vec(), tl: tl.to_vec() })
    }

    /// The peer sends payload.
    pub fn deliver(&mut self, words: &[u32], tl: &[TlFlit]) {
        let payload = self.payload(words, tl);
        self.given = next_seq(self.given);
        let header = self.header(true);
        self.receive(header, &payload);
    }

    /// What the peer's next flit says: an Ack, every seventh time its number.
    fn header(&mut self, payload: bool) -> UalHeader {
        self.commands = if self.acks { (self.commands + 1) % 7 } else { 0 };
        match self.commands {
            0 => explicit(FlitOp::Original, payload, self.given),
            _ => command(FlitOp::Ack, payload, self.taken, self.given),
        }
    }

    /// One flit time in each direction: the end's flit, then one of the peer with DL messages or a NOP.
    pub fn exchange(&mut self, words: &[u32]) {
        self.transmit();
        if !words.is_empty() {
            self.deliver(words, &[]);
        } else {
            let header = self.header(false);
            self.receive(header, &Payload::ZERO);
        }
    }

    /// So many flit times without a word of the peer.
    pub fn pass(&mut self, flits: u64) {
        (0..flits).for_each(|_| self.exchange(&[]));
    }

    /// DWords that the end sent since the last call.
    pub fn take_words(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.words).into_iter().map(|(_, word)| word).collect()
    }

    /// Rules of the events since the last call.
    pub fn rules(&mut self) -> Vec<&'static str> {
        let events = self.end.take_events();
        self.beside.judge(&events);
        events.into_iter().map(|e| e.violation.rule).collect()
    }
}
