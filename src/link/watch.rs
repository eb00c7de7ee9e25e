//! Watches one end of a link of any protocol, from nothing but the units of both directions.
//!
//! Modelled: the monitor of the protocol, and the content of every unit that counts, judged once: when the end takes it or
//! sends it for the first time. What is thrown away until a replay comes is held against its CRC alone, and a replay
//! against what it repeats. What an active end has to notice of what comes, the watcher of that end says too, with the same
//! rule; what stops the end stops the watcher ([`EndWatch::halted`]). Left out: what a monitor leaves out, see
//! [`cxl68::Monitor`], [`cxl256::Monitor`], [`nvlink::Monitor`] and [`ualink::Monitor`]; what needs the end's own queues
//! (CXL256-CRD-03) or the layer below it (UAL-LNK-01).
//!
//! Of units that are the same bit by bit, one behind the other, each broken rule is said once, and of
//! one unit at four places at most.
//!
//! The flit clock of CXL 68B is that of the caller, for its timers. The 256B modes take the units themselves for it: an
//! interface may need several clocks for one, so silence between two is no NOP that was left out.
//!
//! A walk through one unit: [`EndWatch::unit`] hands it to the monitor, which says whether it is next in its stream;
//! content and monitor leave events, which [`EndWatch::take_events`] gives with the direction that they concern.

use super::cxl68::Known;
use super::cxlio::flit::tlp_bytes;
use super::cxlio::{FramedLinkReader, IoCreditWatch, IoTlpForm};
use super::event::{LinkEvent, Severity};
use super::health::liveness::{LIVENESS_FLITS, LinkWait, Liveness, LivenessLimits, LivenessNow};
use super::health::retimer::RetimerSigns;
use super::health::{LinkHealth, StateTimes, figures, states};
use super::hook::Direction;
use super::plain::{PlainForm, PlainWatch};
use super::protocol::LinkProtocol;
use super::ualink::OnLine;
use super::ualink::line::INTERLEAVES;
use super::{cxl68, cxl256, nvlink, ualink};
use scalepool_forms::FormError;
use scalepool_forms::flit::FlitDecoder;
use scalepool_forms::options::Options;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::check;
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, StaticBitFault};
use scalepool_protocols::cxl::cxl68::control::Control;
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled, PidKind, PidLog};
use scalepool_protocols::cxl::cxl68::stream::{self as stream68, Cxl68DecodedUnit, Cxl68SlotRole, Cxl68UnitKind};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::flit::{Cxl256Flit, Cxl256Received, body_byte};
use scalepool_protocols::cxl::cxl256::stream as stream256;
use scalepool_protocols::cxl::cxlio::stream::TlpRegionReader;
use scalepool_protocols::cxl::message::Message;
use scalepool_protocols::nvlink::stream::NvlDecodedPacket;
use scalepool_protocols::ualink::compress::CompressionRole;
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::flit::DlFlit;
use scalepool_protocols::ualink::stream::Unpacker as UalUnpacker;
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::Violation;

/// Longest pipeline of an end that is watched \[units\]. Basis: model.
pub const MOST_REACTION_FLITS: u64 = 1 << 20;

/// What is known of the end beforehand.
#[derive(Debug, Clone)]
pub struct WatchConfig {
    /// What it speaks.
    pub protocol: LinkProtocol,
    /// Direction in which it sends.
    pub dir: Dir,
    /// `cxl-68b`: its choices.
    pub cxl68: Cxl68Config,
    /// `cxl-68b`: which of them are known. The end is not held to the others.
    pub known: Known,
    /// The 256B modes: it may ask for a single flit.
    pub selective_nak: bool,
    /// Standard 256B flits: the link carries CXL.io alone.
    pub io_alone: bool,
    /// `cxl-68b`, `ualink`: units that it may still send before it shows that something has come, at most
    /// [`MOST_REACTION_FLITS`].
    pub reaction_flits: u64,
    /// `ualink`: FEC code words that are interleaved, one of [`INTERLEAVES`]. Copies of a Replay Request go in groups of as many
    /// flits (`ualink` §7), so the peer is not held to that with 1.
    pub interleave: u8,
    /// Gives the messages of CXL.cachemem, the TLPs of CXL.io, and the transfers of UALink and NVLink too ([`EndWatch::take_messages`]).
    pub messages: bool,
    /// How long either side may wait for the other one.
    pub liveness: LivenessLimits,
    /// Reports what the FEC repairs, too.
    pub repairs: bool,
    /// The interface has protocol flits of CXL and no link layer ([`super::plain`]).
    pub plain_flits: bool,
    /// What both ends have agreed on, of the 256B modes and `ualink`; `cxl68` has what `cxl-68b` has of it.
    pub options: Options,
}

/// Units that an end may go on for by default, before it shows that something has come: the smallest time-out of `cxl-68b`
/// §7.3, behind which its peer asks again. No pipeline is as long.
pub const REACTION_FLITS: u64 = 4096;

impl WatchConfig {
    /// An end of which nothing is known: no legal one breaks a rule here.
    pub fn new(protocol: LinkProtocol, dir: Dir) -> WatchConfig {
        WatchConfig {
            protocol,
            dir,
            cxl68: Cxl68Config::default(),
            known: Known::NONE,
            selective_nak: false,
            io_alone: false,
            reaction_flits: REACTION_FLITS,
            interleave: 1,
            messages: false,
            liveness: LivenessLimits { flits: Some(LIVENESS_FLITS), time_fs: None },
            repairs: false,
            plain_flits: false,
            options: Options::default(),
        }
    }
}

/// What a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchedContent {
    /// A message of CXL.cachemem, whole with its data.
    Cxl(Message),
    /// Bytes that are not 0 in a slot for data (G0) of a 68B flit, where no data is owed: a receiver takes it for empty
    /// (`cxl-68b` §5.3).
    SpareData {
        /// The slot, 1 to 3.
        slot: u8,
    },
    /// A TLP of CXL.io, whole with its data.
    Tlp {
        /// Its bytes, byte 0 first on the wire.
        bytes: Vec<u8>,
        /// How they are read.
        form: IoTlpForm,
    },
    /// A request or response of UALink, whole with its data.
    Ualink(Box<Transfer>),
    /// A packet of NVLink that a channel carries, with the address extension in force.
    Nvlink(Box<NvlDecodedPacket>),
    /// The link of UALink goes down: what was under way is lost.
    Restart,
}

/// A message of a direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedMessage {
    /// Whether it came to the end or was sent by it.
    pub way: Direction,
    /// The unit that ends it, counted in its direction from 0.
    pub unit: u64,
    /// What it says.
    pub message: WatchedContent,
}

/// The watcher of one end.
pub struct EndWatch {
    judge: Box<dyn Judge>,
    events: Vec<(Direction, LinkEvent)>,
    /// Messages that nobody has taken; `None`: nobody asks for them.
    messages: Option<Vec<WatchedMessage>>,
    units: [u64; 2],
    copies: [Copies; 2],
    halted: Option<&'static str>,
    liveness: Liveness,
    now: LivenessNow,
    times: StateTimes,
    /// The link trains.
    trains: bool,
}

/// Places of one unit at which one rule is said to be broken; garbage breaks some at hundreds.
const MOST_OF_A_RULE: usize = 4;

/// Units of one way that are the same bit by bit, one behind the other. An end that hangs sends nothing else; each rule that they
/// break is said once.
#[derive(Debug, Default)]
struct Copies {
    unit: Vec<u8>,
    said: Vec<(Direction, Severity, &'static str)>,
}

impl Copies {
    /// What is new of the events behind the next unit.
    fn news(&mut self, unit: &[u8], mut events: Vec<(Direction, LinkEvent)>) -> Vec<(Direction, LinkEvent)> {
        if self.unit != unit {
            unit.clone_into(&mut self.unit);
            self.said.clear();
        }
        let before = self.said.len();
        events.retain(|(way, event)| {
            let key = (*way, event.severity, event.violation.rule);
            let (earlier, here) = self.said.split_at(before);
            let is_news = !earlier.contains(&key) && here.iter().filter(|said| **said == key).count() < MOST_OF_A_RULE;
            if is_news {
                self.said.push(key);
            }
            is_news
        });
        events
    }
}

/// Events with the direction that they concern.
pub(crate) type Events = Vec<(Direction, LinkEvent)>;

/// What judges the units of a protocol.
pub(crate) trait Judge: Send {
    /// A unit has come to the end or was sent by it: its events, and whether it is next in its stream.
    ///
    /// # Errors
    /// Bytes of another length than that of a unit.
    fn unit(&mut self, way: Direction, unit: &[u8], now: u64, events: &mut Events) -> Result<bool, FormError>;

    /// The link was down and is up again. NVLink knows no training here; UALink is trained by control flits.
    fn trained(&mut self) {}

    /// Place of the state of the link while it trains.
    fn training_state(&self) -> usize {
        states::LINK_TRAINING
    }

    /// Places of the states of the watched end, those of its protocol ([`HealthStates`]).
    fn states(&self) -> [usize; 2];

    /// Fills the figures of the watched end but those of states.
    fn fill_health(&self, health: &mut LinkHealth);

    /// Tells what each side waits for.
    fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>));

    /// Nothing more passes: what is wrong with that.
    fn ends(&mut self, events: &mut Events) {
        let _ = events;
    }

    /// Messages that the unit has ended, if they are asked for.
    fn take_messages(&mut self) -> Vec<(Direction, WatchedContent)> {
        Vec::new()
    }
}

impl Judge for nvlink::Monitor {
    fn unit(&mut self, way: Direction, unit: &[u8], _: u64, events: &mut Events) -> Result<bool, FormError> {
        let flit = nvlink::NvlFlit::from_bytes(unit)?;
        let in_stream = match way {
            Direction::Rx => self.received(&flit),
            Direction::Tx => self.sent(&flit),
        };
        events.extend(self.take_events());
        Ok(in_stream)
    }

    fn states(&self) -> [usize; 2] {
        nvlink::Monitor::states(self)
    }

    fn fill_health(&self, health: &mut LinkHealth) {
        nvlink::Monitor::fill_health(self, health);
    }

    fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        nvlink::Monitor::pending_waits(self, each);
    }

    fn take_messages(&mut self) -> Vec<(Direction, WatchedContent)> {
        let packets = nvlink::Monitor::take_packets(self).into_iter();
        packets.map(|(way, packet)| (way, WatchedContent::Nvlink(Box::new(packet)))).collect()
    }
}

struct WatchUal {
    monitor: ualink::Monitor,
    dir: Dir,
    codec: UalConfig,
    /// Takes the transfers out of the flits, where they are asked for.
    unpackers: Option<[UalUnpacker; 2]>,
    /// A flit was read since the link came up.
    is_begun: bool,
    messages: Vec<(Direction, WatchedContent)>,
    /// Flits that have come, and what they show of what stands in the line.
    came: u64,
    signs: RetimerSigns,
}

/// How addresses are compressed in a direction.
const fn compression(dir: Dir) -> CompressionRole {
    match dir {
        Dir::Down => CompressionRole::ToSwitch,
        Dir::Up => CompressionRole::FromSwitch,
    }
}

impl WatchUal {
    fn new(config: ualink::MonitorConfig, messages: bool) -> WatchUal {
        let (dir, codec) = (config.dir, config.codec);
        let unpackers = messages.then(|| WatchUal::unpackers(dir, codec));
        let monitor = ualink::Monitor::new(config);
        WatchUal {
            monitor,
            dir,
            codec,
            unpackers,
            is_begun: false,
            messages: Vec::new(),
            came: 0,
            signs: RetimerSigns::default(),
        }
    }

    fn unpackers(dir: Dir, codec: UalConfig) -> [UalUnpacker; 2] {
        [dir.opposite(), dir].map(|dir| UalUnpacker::new(codec, compression(dir)))
    }

    /// What a unit shows of what stands in the line.
    fn look_at_line(&mut self, way: Direction, unit: &OnLine, events: &mut Events) {
        if way == Direction::Tx {
            self.signs.sends();
            return;
        }
        let found = match unit {
            OnLine::Flit(flit) => match self.monitor.read_ahead(flit) {
                Some(arrived) => self.signs.good(&flit.0, arrived),
                None => {
                    self.signs.bad();
                    None
                }
            },
            OnLine::Content(..) | OnLine::Idle | OnLine::RemoteFault => {
                self.signs.bad();
                None
            }
        };
        let unit = self.came;
        self.came += 1;
        events.extend(found.map(|violation| (way, LinkEvent { severity: Severity::Corrected, unit, violation })));
    }

    /// The transfers that a flit of a stream ends.
    fn read(&mut self, way: Direction, flit: &DlFlit) {
        let Some(unpackers) = &mut self.unpackers else { return };
        let decoded = unpackers[index(way)].read(flit);
        self.is_begun = true;
        if decoded.is_good() {
            let reads = decoded.finished.into_iter().chain(decoded.tl).filter_map(|item| item.read);
            let transfers = reads.flat_map(|read| read.delivered);
            self.messages.extend(transfers.map(|transfer| (way, WatchedContent::Ualink(transfer))));
        }
    }
}

impl Judge for WatchUal {
    /// Training is a fault of the line.
    fn training_state(&self) -> usize {
        ualink::state::State::Fault as usize
    }

    fn unit(&mut self, way: Direction, unit: &[u8], _: u64, events: &mut Events) -> Result<bool, FormError> {
        let on_line = OnLine::from_bytes(unit)?;
        self.look_at_line(way, &on_line, events);
        let in_stream = match way {
            Direction::Rx => self.monitor.received(&on_line),
            Direction::Tx => self.monitor.sent(&on_line),
        };
        match &on_line {
            OnLine::Flit(flit) if in_stream => self.read(way, flit),
            // An end that sends control flits is down, and forgets what was under way.
            OnLine::Idle | OnLine::RemoteFault if way == Direction::Tx && self.is_begun => {
                self.unpackers = Some(WatchUal::unpackers(self.dir, self.codec));
                self.is_begun = false;
                self.messages.push((way, WatchedContent::Restart));
            }
            _ => {}
        }
        events.extend(self.monitor.take_events());
        Ok(in_stream)
    }

    fn states(&self) -> [usize; 2] {
        self.monitor.states()
    }

    fn fill_health(&self, health: &mut LinkHealth) {
        self.monitor.fill_health(health);
    }

    fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        self.monitor.pending_waits(each);
    }

    fn take_messages(&mut self) -> Vec<(Direction, WatchedContent)> {
        std::mem::take(&mut self.messages)
    }
}

struct Watch68 {
    monitor: cxl68::Monitor,
    link: Cxl68Config,
    /// Units that came, and that were sent.
    units: [u64; 2],
    /// Takes the messages out of them, where they are asked for.
    unpackers: Option<[stream68::Unpacker; 2]>,
    /// The same for the TLPs of CXL.io.
    tlps: FramedLinkReader,
    messages: Vec<(Direction, WatchedContent)>,
}

struct Watch256 {
    mode: Mode,
    monitor: cxl256::Monitor,
    /// Decoders of what comes and of what is sent.
    streams: [FlitDecoder; 2],
    units: [u64; 2],
    /// Takes the messages out of them, where they are asked for.
    unpackers: Option<[stream256::Unpacker; 2]>,
    /// The TLPs of CXL.io, and the credits that they take.
    readers: [TlpRegionReader; 2],
    credits: IoCreditWatch,
    messages: Vec<(Direction, WatchedContent)>,
    /// Reports what the FEC repairs.
    repairs: bool,
    signs: RetimerSigns,
}

/// Directions by [`index`].
const WAYS: [Direction; 2] = [Direction::Rx, Direction::Tx];

const fn index(way: Direction) -> usize {
    match way {
        Direction::Rx => 0,
        Direction::Tx => 1,
    }
}

impl Judge for Watch68 {
    fn unit(&mut self, way: Direction, unit: &[u8], now: u64, events: &mut Events) -> Result<bool, FormError> {
        let unit = &Cxl68Unit::from_bytes(unit)?;
        let number = self.units[index(way)];
        self.units[index(way)] += 1;
        let sent_before = self.monitor.newest();
        // RETRY flits that come while a replay is awaited are read without what is owed: none of them continues a run of data.
        let is_outside = way == Direction::Rx && !self.monitor.follows_stream();
        let read: Option<Cxl68DecodedUnit> = match way {
            Direction::Rx => self.monitor.received(unit, now),
            Direction::Tx => self.monitor.sent(unit, now),
        };
        let in_stream = match way {
            Direction::Rx => read.is_some(),
            Direction::Tx => read.is_some() || self.monitor.newest() != sent_before,
        };
        if let Some(unpackers) = self.unpackers.as_mut().filter(|_| in_stream && !is_outside) {
            let decoded = unpackers[index(way)].read(unit);
            let delivered = unpackers[index(way)].delivered().iter().map(Message::from_cxl68).map(WatchedContent::Cxl);
            self.messages.extend(delivered.map(|message| (way, message)));
            if decoded.is_good() {
                let spare = spare_data(&decoded).map(|slot| WatchedContent::SpareData { slot });
                self.messages.extend(spare.map(|data| (way, data)));
            }
        }
        let is_io = pid::receive(unit.pid(), Enabled::ALL).accept.is_some_and(|of| of.kind == PidKind::Io);
        if self.unpackers.is_some() && is_io {
            let (whole, missing) = self.tlps.read(index(way), unit.payload());
            let content = |(of, bytes)| (WAYS[of], WatchedContent::Tlp { bytes, form: IoTlpForm::NonFlit });
            self.messages.extend(whole.into_iter().map(content));
            let event = |violation| (way, LinkEvent { severity: Severity::Protocol, unit: number, violation });
            events.extend(missing.map(event));
        }
        if let Some(decoded) = read {
            for violation in check::unit(&decoded, &self.link).violations {
                let severity =
                    if way == Direction::Rx { self.severity(&decoded, violation.rule) } else { Severity::Protocol };
                events.push((way, LinkEvent { severity, unit: number, violation }));
            }
        }
        events.extend(self.monitor.take_heard().into_iter().map(|event| (Direction::Rx, event)));
        events.extend(self.monitor.take_events().into_iter().map(|event| (Direction::Tx, event)));
        Ok(in_stream)
    }

    fn ends(&mut self, events: &mut Events) {
        let missing = self.tlps.end().filter(|_| self.unpackers.is_some());
        events.extend(missing.map(|(way, violation)| {
            let unit = self.units[way].saturating_sub(1);
            (WAYS[way], LinkEvent { severity: Severity::Protocol, unit, violation })
        }));
    }

    fn trained(&mut self) {
        self.monitor.trained();
    }

    fn states(&self) -> [usize; 2] {
        self.monitor.states()
    }

    fn fill_health(&self, health: &mut LinkHealth) {
        self.monitor.fill_health(health);
    }

    fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        self.monitor.pending_waits(each);
    }

    fn take_messages(&mut self) -> Vec<(Direction, WatchedContent)> {
        std::mem::take(&mut self.messages)
    }
}

/// Slots for data with bytes in them that are nobody's.
fn spare_data(decoded: &Cxl68DecodedUnit) -> impl Iterator<Item = u8> {
    let (kind, unit) = (decoded.kind, decoded.unit);
    let is_unowed = decoded.roles.map(|role| matches!(role, Cxl68SlotRole::Format(_)));
    (1..4).filter(move |&slot: &u8| {
        let n = usize::from(slot);
        let is_g0 = matches!(kind, Cxl68UnitKind::Protocol(header) if header.slot(n) == 0);
        is_g0 && is_unowed[n] && unit.slot(n) != 0
    })
}

impl Watch68 {
    /// How bad it is that a unit comes which breaks a rule by itself, as for the end.
    fn severity(&self, decoded: &Cxl68DecodedUnit, rule: &str) -> Severity {
        let log = pid::receive(decoded.unit.pid(), Enabled::ALL).log;
        let fatal = self.link.static_bit_fault == StaticBitFault::FatalInNormal;
        match (rule, decoded.kind) {
            // A unit that was damaged under way comes again.
            _ if decoded.crc_ok == Some(false) => Severity::Corrected,
            (rule, _) if rule.starts_with("CXL68-PID") && log == Some(PidLog::CorrectableFraming) => {
                Severity::Corrected
            }
            (rule, _) if rule.starts_with("CXL68-PID") && log.is_some() => Severity::Retrain,
            ("CXL68-HDR-03" | "CXL68-HDR-04" | "CXL68-PCK-14", _) => Severity::Uncorrectable,
            (_, Cxl68UnitKind::Control(_)) if fatal && !Control::static_bits_ok(decoded.unit.slot(0)) => {
                Severity::Uncorrectable
            }
            _ => Severity::Protocol,
        }
    }
}

impl Watch256 {
    /// The TLPs that end in a flit of CXL.io, and what breaks a rule of their credits.
    fn read_tlps(&mut self, way: Direction, received: &Cxl256Received) -> Vec<Violation> {
        let mode = self.mode;
        if !received.is_good() || received.flit.header().flit_type != FlitType::Io {
            return Vec::new();
        }
        let region: Vec<u8> = (0..tlp_bytes(mode)).map(|k| received.flit.0[body_byte(mode, k)]).collect();
        let form = IoTlpForm::Flit { pbr: mode == Mode::Pbr };
        let whole: Vec<_> =
            self.readers[index(way)].read(&region).into_iter().filter_map(|found| found.whole).collect();
        let broken = whole.iter().filter_map(|bytes| self.credits.tlp(way, form, bytes)).collect();
        if self.unpackers.is_some() {
            self.messages.extend(whole.into_iter().map(|bytes| (way, WatchedContent::Tlp { bytes, form })));
        }
        broken
    }

    /// The DLLP of a flit that has one: what breaks a rule of credits.
    fn read_dllp(&mut self, way: Direction, received: &Cxl256Received) -> Option<Violation> {
        let header = received.flit.header();
        let has_dllp = matches!(header.flit_type, FlitType::Nop | FlitType::Io) && !header.dllp_type;
        if !received.is_good() || !has_dllp {
            return None;
        }
        let first = tlp_bytes(self.mode);
        self.credits.dllp(way, std::array::from_fn(|k| received.flit.0[body_byte(self.mode, first + k)]))
    }

    /// What a flit that comes shows of the line and of what stands in it.
    fn look_at_line(&mut self, flit: &Cxl256Flit, received: &Cxl256Received) -> Vec<Violation> {
        let mut found: Vec<Violation> = self.signs.fec(flit, received, self.mode).into_iter().collect();
        if !received.is_good() {
            self.signs.bad();
            return found;
        }
        found.extend(self.signs.good(&received.flit.0, self.monitor.read_ahead(&received.flit.header())));
        let repairs = received.fec.as_ref().ok().filter(|repairs| self.repairs && !repairs.is_empty());
        found.extend(repairs.map(cxl256::repaired));
        found
    }
}

impl Judge for Watch256 {
    fn unit(&mut self, way: Direction, unit: &[u8], _: u64, events: &mut Events) -> Result<bool, FormError> {
        let flit = &Cxl256Flit::from_bytes(unit)?;
        let number = self.units[index(way)];
        self.units[index(way)] += 1;
        // FEC and CRC are asked once; only flits that waited for this one are judged anew.
        let came = flit.receive(self.mode);
        let mut of_line = match way {
            Direction::Rx => self.look_at_line(flit, &came),
            Direction::Tx => {
                self.signs.sends();
                Vec::new()
            }
        };
        let event = |violation| (way, LinkEvent { severity: Severity::Corrected, unit: number, violation });
        events.extend(of_line.drain(..).map(event));
        let of_dllp = self.read_dllp(way, &came);
        let event = |violation| (way, LinkEvent { severity: Severity::Protocol, unit: number, violation });
        events.extend(of_dllp.map(event));
        let next = match way {
            Direction::Rx => self.monitor.received(flit, &came, number + 1),
            Direction::Tx => self.monitor.sent(flit, &came, number + 1),
        };
        for of_stream in &next {
            let received = if of_stream == flit { came } else { of_stream.receive(self.mode) };
            if let Some(unpackers) = &mut self.unpackers {
                unpackers[index(way)].read_judged(of_stream, received);
                let (delivered, routing) = (unpackers[index(way)].delivered(), self.mode.routing());
                let neutral =
                    delivered.iter().map(|message| WatchedContent::Cxl(Message::from_cxl256(message, routing)));
                self.messages.extend(neutral.map(|message| (way, message)));
            }
            let broken = self.read_tlps(way, &received);
            let event = |violation| (way, LinkEvent { severity: Severity::Protocol, unit: number, violation });
            events.extend(broken.into_iter().map(event));
            // A flit that was damaged under way is repaired or comes again.
            let whole = way == Direction::Tx || received.is_good() && received.flit == *of_stream;
            let severity = if whole { Severity::Protocol } else { Severity::Corrected };
            // A flit has the length of its protocol, so every answer is an object.
            for (_, findings) in self.streams[index(way)].read(Ok(&of_stream.0)).into_iter().flatten() {
                let events_of = |violation| (way, LinkEvent { severity, unit: number, violation });
                events.extend(findings.violations.into_iter().map(events_of));
            }
        }
        events.extend(self.monitor.take_heard().into_iter().map(|event| (Direction::Rx, event)));
        events.extend(self.monitor.take_events().into_iter().map(|event| (Direction::Tx, event)));
        Ok(next.contains(flit))
    }

    fn trained(&mut self) {
        self.monitor.trained();
    }

    fn states(&self) -> [usize; 2] {
        self.monitor.states()
    }

    fn fill_health(&self, health: &mut LinkHealth) {
        self.monitor.fill_health(health);
    }

    fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        self.monitor.pending_waits(each);
    }

    fn take_messages(&mut self) -> Vec<(Direction, WatchedContent)> {
        std::mem::take(&mut self.messages)
    }
}

impl EndWatch {
    /// Beside an end that has just come up.
    ///
    /// # Errors
    /// A choice that is not in its range.
    pub fn new(config: &WatchConfig) -> Result<EndWatch, FormError> {
        let WatchConfig {
            protocol,
            dir,
            cxl68,
            known,
            selective_nak,
            io_alone,
            reaction_flits,
            interleave,
            messages,
            liveness,
            repairs,
            plain_flits,
            options,
        } = config.clone();
        let ways = [dir.opposite(), dir];
        if !INTERLEAVES.contains(&interleave.into()) {
            return Err(FormError::new("interleave", interleave.to_string(), "1, 2 or 4 code words"));
        }
        if reaction_flits > MOST_REACTION_FLITS {
            let expected = format!("at most {MOST_REACTION_FLITS} units");
            return Err(FormError::new("reaction_flits", reaction_flits.to_string(), expected));
        }
        let plain = PlainForm::of(protocol).filter(|_| plain_flits && !io_alone);
        if plain_flits && plain.is_none() {
            return Err(FormError::new("plain_flits", "true", "flits of CXL.cachemem"));
        }
        let of_plain = plain.map(|form| PlainWatch::new(form, dir, &Options { cxl68, ..options }));
        let judge: Box<dyn Judge> = match (protocol, of_plain) {
            (_, Some(watch)) => Box::new(watch),
            (LinkProtocol::Cxl68, _) => {
                let wrong =
                    |e: &dyn std::fmt::Display| FormError::new("config", e.to_string(), "a choice in its range");
                cxl68.validate().map_err(|e| wrong(&e))?;
                let monitor = cxl68::Monitor::new(cxl68::MonitorConfig {
                    dir,
                    link: cxl68,
                    enabled: Enabled::ALL,
                    reaction_flits,
                    known,
                });
                let unpack = |dir| stream68::Unpacker::new(dir, cxl68.revision, Enabled::ALL);
                let unpackers = messages.then(|| ways.map(unpack));
                let (tlps, messages) = Default::default();
                Box::new(Watch68 { monitor, link: cxl68, units: [0; 2], unpackers, tlps, messages })
            }
            (LinkProtocol::Cxl256(mode), _) => {
                let stream = |dir| FlitDecoder::with_options(protocol.name(), dir, &options);
                let streams = [stream(dir.opposite())?, stream(dir)?];
                let monitor = cxl256::Monitor::new(mode, dir, selective_nak).of_io_alone(io_alone);
                let unpackers = messages.then(|| ways.map(|dir| stream256::Unpacker::new(mode, dir)));
                Box::new(Watch256 {
                    mode,
                    monitor,
                    streams,
                    units: [0; 2],
                    unpackers,
                    readers: [(); 2].map(|()| TlpRegionReader::new(mode == Mode::Pbr)),
                    credits: IoCreditWatch::default(),
                    messages: Vec::new(),
                    repairs,
                    signs: RetimerSigns::default(),
                })
            }
            (LinkProtocol::Nvlink, _) => {
                let monitor = nvlink::Monitor::new(nvlink::LinkConfig::default());
                Box::new(if messages { monitor.with_packets() } else { monitor })
            }
            (LinkProtocol::Ualink, _) => {
                let mut config = ualink::MonitorConfig { reaction_flits, ..ualink::MonitorConfig::new(dir) };
                config.replay.fec_group_flits = interleave;
                config.codec = options.ualink;
                Box::new(WatchUal::new(config, messages))
            }
        };
        let messages = messages.then(Vec::new);
        let states = states::of(protocol);
        Ok(EndWatch {
            judge,
            events: Vec::new(),
            messages,
            units: [0; 2],
            copies: Default::default(),
            halted: None,
            liveness: Liveness::new(liveness),
            now: LivenessNow::default(),
            times: StateTimes::new(states),
            trains: false,
        })
    }

    /// A unit has come to the end or was sent by it, in flit clock `now`: its bytes, of UALink also the one byte of
    /// [`OnLine::from_bytes`]. Whether it is next in its stream. Once the link has stopped nothing is.
    ///
    /// # Errors
    /// Bytes of another length than that of a unit.
    pub fn unit(&mut self, way: Direction, unit: &[u8], now: u64) -> Result<bool, FormError> {
        if self.halted.is_some() {
            return Ok(false);
        }
        self.pass_time(now);
        let first = self.events.len();
        let in_stream = self.judge.unit(way, unit, now, &mut self.events)?;
        let number = self.units[index(way)];
        self.units[index(way)] += 1;
        self.now.units = self.units;
        if let Some(messages) = &mut self.messages {
            let ended = self.judge.take_messages().into_iter();
            messages.extend(ended.map(|(way, message)| WatchedMessage { way, unit: number, message }));
        }
        let stops =
            |(way, event): &&(Direction, LinkEvent)| *way == Direction::Rx && event.severity == Severity::Uncorrectable;
        let fresh = self.events.split_off(first);
        self.halted = fresh.iter().find(stops).map(|(_, event)| event.violation.rule);
        self.events.extend(self.copies[index(way)].news(unit, fresh));
        self.look_for_waits();
        Ok(in_stream)
    }

    /// Nothing more passes.
    pub fn ends(&mut self) {
        if self.halted.is_none() {
            self.judge.ends(&mut self.events);
        }
    }

    /// Time goes on to a flit clock, or to a time \[fs\] where there is some, although no unit passes.
    pub fn clock(&mut self, now: u64, time_fs: u64) {
        if self.halted.is_none() {
            self.now.time_fs = self.now.time_fs.max(time_fs);
            self.pass_time(now);
            self.look_for_waits();
        }
    }

    fn pass_time(&mut self, now: u64) {
        let of_units = self.units[0].max(self.units[1]);
        self.now.flits = self.now.flits.max(now).max(of_units);
        let [link, retry] = self.states();
        self.times.pass(self.now.flits, link, retry);
    }

    fn look_for_waits(&mut self) {
        if self.liveness.is_on() && self.halted.is_none() && !self.trains {
            self.liveness.begin(self.now);
            self.judge.pending_waits(&mut |wait| self.liveness.waits(wait));
            self.events.extend(self.liveness.end());
        }
    }

    /// Figures of the watched end, as far as units show them.
    pub fn health(&self) -> LinkHealth {
        let mut health = LinkHealth::default();
        let [link, retry] = self.states();
        self.times.fill(&mut health, self.now.flits, link, retry);
        health.number(&figures::SENT_FLITS, self.units[1]);
        health.number(&figures::RECEIVED_FLITS, self.units[0]);
        self.judge.fill_health(&mut health);
        health
    }

    /// Events since the last call, with the direction that they concern.
    pub fn take_events(&mut self) -> Vec<(Direction, LinkEvent)> {
        std::mem::take(&mut self.events)
    }

    /// Messages since the last call, each behind the unit that ends it; a message that was repeated stands here once. None where
    /// [`WatchConfig::messages`] is off, and none of NVLink.
    pub fn take_messages(&mut self) -> Vec<WatchedMessage> {
        self.messages.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The rule that has stopped the link, by what came to the end.
    pub fn halted(&self) -> Option<&'static str> {
        self.halted
    }

    /// The link begins to train, or is up again. Nobody waits for anything in between, and waits begin anew behind it.
    pub fn train(&mut self, up: bool) {
        if up {
            self.judge.trained();
        }
        self.trains = !up;
        self.liveness.restart();
    }

    /// Places of the states of the watched end.
    fn states(&self) -> [usize; 2] {
        let [link, retry] = self.judge.states();
        [if self.trains { self.judge.training_state() } else { link }, retry]
    }
}
