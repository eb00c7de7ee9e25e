//! TLPs made by hand in both forms, and two ends with the wires between them.

use scalepool::kernel::Rng;
pub use scalepool::link::arbmux::cxl68::Client as UnitClient;
use scalepool::link::arbmux::cxl68::{ArbMux, ArbMuxConfig, IoQueue, PhysicalLinkEntry};
use scalepool::link::arbmux::{ArbMuxInstance, Ask};
pub use scalepool::link::cxl256::client::{Client as FlitClient, FlitPart};
pub use scalepool::link::cxlio::*;
pub use scalepool::link::event::{LinkEvent, Severity};
pub use scalepool::link::fault::{Fault, FaultyWire};
use scalepool::link::wires::LinkWires;
pub use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled};
pub use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
pub use scalepool_protocols::cxl::cxl256::Mode;
pub use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxlio::code::FmType;
use scalepool_protocols::cxl::cxlio::dllp::Dllp;
use scalepool_protocols::cxl::cxlio::flit_mode::{FmCpl, FmMem32, Pth};
use scalepool_protocols::cxl::cxlio::framing::frame_dllp;
use scalepool_protocols::cxl::cxlio::non_flit_mode::{NfmCpl, NfmMem32};
use scalepool_protocols::wire::Wire;
use std::collections::VecDeque;

/// Flits that one is under way.
pub const LATENCY_FLITS: u64 = 12;
/// Flits that training takes.
const RETRAIN_FLITS: u64 = 64;

fn bytes<W: Wire>(header: W) -> Vec<u8> {
    let bits = header.to_bits().expect("the fields fit");
    bits.to_be_bytes()[16 - W::DEF.bits as usize / 8..].to_vec()
}

/// A TLP of header and data; on a PBR link with a PBR header in front.
pub fn tlp(form: IoTlpForm, header: Vec<u8>, data: &[u8]) -> IoTlp {
    let mut all = Vec::new();
    if form == (IoTlpForm::Flit { pbr: true }) {
        all.extend(bytes(Pth { spid: 0x123, dpid: 0x456, ..Pth::default() }));
    }
    all.extend(header);
    all.extend(data);
    IoTlp::new(form, all).expect("a whole TLP")
}

fn length(data_bytes: usize) -> u16 {
    (data_bytes / 4 % 1024) as u16
}

/// A memory write of whole DW.
pub fn write(form: IoTlpForm, tag: u16, address: u64, data: &[u8]) -> IoTlp {
    let length = length(data.len());
    let header = match form {
        IoTlpForm::NonFlit => {
            let last_be = if data.len() > 4 { 0xf } else { 0 };
            let tag = tag as u8;
            bytes(NfmMem32 { fmt: 2, length, tag, address, first_be: 0xf, last_be, ..NfmMem32::default() })
        }
        IoTlpForm::Flit { .. } => {
            bytes(FmMem32 { tlp_type: FmType::MWr32, length, tag, address, ..FmMem32::default() })
        }
    };
    tlp(form, header, data)
}

/// A memory read of so many bytes.
pub fn read(form: IoTlpForm, tag: u16, address: u64, data_bytes: usize) -> IoTlp {
    let length = length(data_bytes);
    let header = match form {
        IoTlpForm::NonFlit => {
            let last_be = if data_bytes > 4 { 0xf } else { 0 };
            bytes(NfmMem32 { length, tag: tag as u8, address, first_be: 0xf, last_be, ..NfmMem32::default() })
        }
        IoTlpForm::Flit { .. } => {
            bytes(FmMem32 { tlp_type: FmType::MRd32, length, tag, address, ..FmMem32::default() })
        }
    };
    tlp(form, header, &[])
}

/// A completion with data.
pub fn completion(form: IoTlpForm, tag: u16, data: &[u8]) -> IoTlp {
    let (length, byte_count) = (length(data.len()), (data.len() % 4096) as u16);
    let header = match form {
        IoTlpForm::NonFlit => bytes(NfmCpl { fmt: 2, length, tag: tag as u8, byte_count, ..NfmCpl::default() }),
        IoTlpForm::Flit { .. } => bytes(FmCpl { tlp_type: FmType::CplD, length, tag, byte_count, ..FmCpl::default() }),
    };
    tlp(form, header, data)
}

/// Address, tag and length in bytes of a memory request.
pub fn request_of(tlp: &IoTlp) -> (u64, u16, usize) {
    let bits = tlp.header_bits();
    let (address, tag, length) = match tlp.form() {
        IoTlpForm::NonFlit => {
            let h = NfmMem32::from_bits(bits);
            (h.address, h.tag.into(), h.length)
        }
        IoTlpForm::Flit { .. } => {
            let h = FmMem32::from_bits(bits);
            (h.address, h.tag, h.length)
        }
    };
    (address, tag, 4 * if length == 0 { 1024 } else { usize::from(length) })
}

/// Tag of a completion.
pub fn tag_of_completion(tlp: &IoTlp) -> u16 {
    match tlp.form() {
        IoTlpForm::NonFlit => NfmCpl::from_bits(tlp.header_bits()).tag.into(),
        IoTlpForm::Flit { .. } => FmCpl::from_bits(tlp.header_bits()).tag,
    }
}

/// An end of either kind.
pub trait IoEnd: IoPort {
    fn quiet(&self) -> bool;
}

impl IoEnd for NonFlitEnd {
    fn quiet(&self) -> bool {
        UnitClient::is_quiet(self)
    }
}

impl IoEnd for FlitEnd {
    fn quiet(&self) -> bool {
        FlitClient::is_quiet(self)
    }
}

/// A link of either kind, a flit clock at a time.
pub trait Link {
    fn form(&self) -> IoTlpForm;
    /// The end that sends in a direction.
    fn end(&mut self, dir: Dir) -> &mut dyn IoEnd;
    fn step(&mut self);
    fn is_empty(&self) -> bool;
    /// Hands a DLLP to the far end of a direction.
    fn inject_dllp(&mut self, dir: Dir, dllp: Dllp);

    fn steps(&mut self, flits: u64) {
        (0..flits).for_each(|_| self.step());
    }

    /// Until both ends know their credits.
    fn bring_up(&mut self) {
        for _ in 0..10_000 {
            if Dir::ALL.into_iter().all(|dir| self.end(dir).is_up()) {
                return;
            }
            self.step();
        }
        panic!("the link does not come up");
    }

    fn push(&mut self, dir: Dir, tlp: IoTlp) {
        self.end(dir).push(tlp).expect("the TLP is taken");
    }

    /// Everything that comes to the far end of a direction within so many flits.
    fn collect(&mut self, dir: Dir, flits: u64) -> Vec<IoTlp> {
        let mut all = Vec::new();
        for _ in 0..flits {
            self.step();
            all.extend(std::iter::from_fn(|| self.end(dir.opposite()).pop()));
        }
        all
    }

    /// Until nothing is under way; TLPs that come are thrown away.
    fn rest(&mut self) {
        for _ in 0..100_000 {
            if Dir::ALL.into_iter().all(|dir| self.end(dir).quiet()) && self.is_empty() {
                return;
            }
            self.step();
            for dir in Dir::ALL {
                while self.end(dir).pop().is_some() {}
            }
        }
        panic!("the link does not come to rest");
    }

    fn events(&mut self, dir: Dir) -> Vec<LinkEvent> {
        self.end(dir).take_io_events()
    }

    #[track_caller]
    fn assert_no_events(&mut self) {
        for dir in Dir::ALL {
            let events = self.events(dir);
            assert!(events.is_empty(), "{dir:?}: {}", events[0]);
        }
    }
}

/// Rules of events.
pub fn rules(events: &[LinkEvent]) -> Vec<&'static str> {
    events.iter().map(|e| e.violation.rule).collect()
}

/// 68B units between two ARB/MUX, with CXL.io alone or a second client.
pub struct Units<C: UnitClient = IoQueue> {
    pub ends: [ArbMux<NonFlitEnd, C>; 2],
    pub wires: LinkWires<Cxl68Unit>,
    training: Option<u64>,
    pub trainings: u64,
}

impl Units {
    pub fn new(config: [IoConfig; 2], replay: ReplayConfig) -> Units {
        let alone = Enabled { io: true, cachemem: false };
        Units::with(config, replay, alone, Dir::ALL.map(|_| IoQueue::default()))
    }

    pub fn plain() -> Units {
        Units::new([config(), config()], ReplayConfig::default())
    }
}

impl<C: UnitClient> Units<C> {
    pub fn with(config: [IoConfig; 2], replay: ReplayConfig, enabled: Enabled, second: [C; 2]) -> Units<C> {
        let mut second = second.into_iter();
        let mut config = config.into_iter();
        let ends = Dir::ALL.map(|dir| {
            let end = NonFlitEnd::new(config.next().expect("two"), replay.clone()).expect("legal choices");
            let mux = ArbMuxConfig { enabled, ..ArbMuxConfig::new(dir, Cxl68Config::default()) };
            let mut mux = ArbMux::new(mux, end, second.next().expect("two"));
            ArbMuxInstance::ALL.into_iter().for_each(|instance| mux.ask(instance, Some(Ask::Active)));
            mux.phy_up(PhysicalLinkEntry::First);
            mux
        });
        let mut wires = LinkWires::new(LATENCY_FLITS);
        wires.keep_log();
        Units { ends, wires, training: None, trainings: 0 }
    }

    /// Units sent down since the last call, as they were before any fault.
    pub fn sent_down(&mut self) -> Vec<Cxl68Unit> {
        self.wires.take_log().into_iter().filter(|seen| seen.dir == Dir::Down).map(|seen| seen.unit).collect()
    }

    pub fn io(&mut self, dir: Dir) -> &mut NonFlitEnd {
        &mut self.ends[dir as usize].io
    }

    /// Hands a unit to the receiver of a direction.
    pub fn inject(&mut self, dir: Dir, unit: &Cxl68Unit) {
        self.ends[dir.opposite() as usize].receive(unit, self.wires.now());
    }
}

impl<C: UnitClient> Link for Units<C> {
    fn form(&self) -> IoTlpForm {
        IoTlpForm::NonFlit
    }

    fn end(&mut self, dir: Dir) -> &mut dyn IoEnd {
        self.io(dir)
    }

    fn is_empty(&self) -> bool {
        self.wires.is_empty() && self.training.is_none()
    }

    fn inject_dllp(&mut self, dir: Dir, dllp: Dllp) {
        let mut payload = [0; 64];
        payload[..8].copy_from_slice(&frame_dllp(dllp));
        self.inject(dir, &Cxl68Unit::plain(pid::IO, &payload));
    }

    fn step(&mut self) {
        self.wires.tick();
        let now = self.wires.now();
        if self.training.is_some_and(|until| now >= until) {
            self.training = None;
            self.ends.iter_mut().for_each(|end| end.phy_up(PhysicalLinkEntry::Recovery));
        }
        if self.training.is_some() {
            return;
        }
        for dir in Dir::ALL {
            while let Some(unit) = self.wires.arrival(dir) {
                self.ends[dir.opposite() as usize].receive(&unit, now);
            }
        }
        for dir in Dir::ALL {
            if let Some(unit) = self.ends[dir as usize].transmit(now) {
                self.wires.send(dir, unit);
            }
        }
        let wanted = self.ends.each_mut().map(|end| end.take_retrain_request());
        if wanted.contains(&true) {
            self.trainings += 1;
            self.wires.clear();
            self.ends.iter_mut().for_each(|end| end.phy_down());
            self.training = Some(now + RETRAIN_FLITS);
        }
    }
}

/// What a lossless pipe of 256B flits carries for one flit clock.
#[derive(Clone, Copy)]
struct Under {
    due: u64,
    payload: Option<Cxl256Flit>,
    dllp: Option<[u8; 4]>,
}

/// 256B flits between two ends, above numbers and replay: payload is never lost, DLLPs may be.
pub struct Flits {
    pub ends: [FlitEnd; 2],
    pub mode: Mode,
    pipes: [VecDeque<Under>; 2],
    pub now: u64,
    /// Chance of 64 that the DLLP of a flit is lost.
    pub dllp_loss: u64,
    rng: Rng,
    /// Payload flits sent down.
    pub log: Vec<Cxl256Flit>,
}

impl Flits {
    pub fn new(config: [IoConfig; 2], mode: Mode) -> Flits {
        let ends = config.map(|c| FlitEnd::new(c, FlitConfig::new(mode)).expect("legal choices"));
        let rng = Rng::for_name(1, "dllp");
        Flits { ends, mode, pipes: Default::default(), now: 0, dllp_loss: 0, rng, log: Vec::new() }
    }

    pub fn plain(mode: Mode) -> Flits {
        Flits::new([config(), config()], mode)
    }

    /// DLLPs that have just been sent down.
    pub fn under_way(&self) -> impl Iterator<Item = Dllp> + '_ {
        self.pipes[0].back().and_then(|u| u.dllp).map(Dllp).into_iter()
    }

    /// Hands a flit to the receiver of a direction, in halves where the format has them.
    pub fn inject(&mut self, dir: Dir, flit: &Cxl256Flit) {
        let (now, halves) = (self.now, self.mode.is_lopt());
        let end = &mut self.ends[dir.opposite() as usize];
        let parts: &[FlitPart] = if halves { &[FlitPart::Even, FlitPart::Odd] } else { &[FlitPart::Whole] };
        for &part in parts {
            let mut seen = *flit;
            if part == FlitPart::Even {
                // Not there yet.
                seen.0[128..].fill(0xee);
            }
            end.receive(&seen, part, now);
        }
    }
}

impl Link for Flits {
    fn form(&self) -> IoTlpForm {
        self.ends[0].form()
    }

    fn end(&mut self, dir: Dir) -> &mut dyn IoEnd {
        &mut self.ends[dir as usize]
    }

    fn is_empty(&self) -> bool {
        self.pipes.iter().flatten().all(|u| u.payload.is_none() && u.dllp.is_none())
    }

    fn inject_dllp(&mut self, dir: Dir, dllp: Dllp) {
        let now = self.now;
        self.ends[dir.opposite() as usize].receive_dllp(dllp.0, now);
    }

    fn step(&mut self) {
        self.now += 1;
        let now = self.now;
        for dir in Dir::ALL {
            while self.pipes[dir as usize].front().is_some_and(|u| u.due <= now) {
                let Some(under) = self.pipes[dir as usize].pop_front() else { break };
                if let Some(flit) = under.payload {
                    self.inject(dir, &flit);
                }
                if let Some(dllp) = under.dllp {
                    self.ends[dir.opposite() as usize].receive_dllp(dllp, now);
                }
            }
        }
        for dir in Dir::ALL {
            let end = &mut self.ends[dir as usize];
            let payload = end.transmit(now);
            let dllp = end.dllp(now).filter(|_| !self.rng.ratio(self.dllp_loss, 64));
            if dir == Dir::Down {
                self.log.extend(payload);
            }
            self.pipes[dir as usize].push_back(Under { due: now + LATENCY_FLITS, payload, dllp });
        }
    }
}

/// Finite credits of every kind.
pub fn config() -> IoConfig {
    let some = Buffers { headers: Advertised::x1(16), data: Advertised::x1(256) };
    IoConfig { buffers: [some; 3], ..IoConfig::default() }
}

/// Every link that there is.
pub fn links() -> Vec<Box<dyn Link>> {
    links_of([config(), config()])
}

/// Every link, with the configurations of the ends that send down and up.
pub fn links_of(config: [IoConfig; 2]) -> Vec<Box<dyn Link>> {
    let mut all: Vec<Box<dyn Link>> = vec![Box::new(Units::new(config.clone(), ReplayConfig::default()))];
    all.extend(Mode::ALL.map(|mode| Box::new(Flits::new(config.clone(), mode)) as Box<dyn Link>));
    all
}

/// Bytes that tell their place.
pub fn pattern(first: u8, count: usize) -> Vec<u8> {
    (0..count).map(|i| first.wrapping_add(i as u8).wrapping_mul(7)).collect()
}

use scalepool::link::cxl256::{Cxl256End, LinkConfig, Pair};

impl Link for Pair<FlitEnd> {
    fn form(&self) -> IoTlpForm {
        self.host.client.form()
    }
    fn end(&mut self, dir: Dir) -> &mut dyn IoEnd {
        &mut self.sender(dir).client
    }
    fn is_empty(&self) -> bool {
        self.is_quiet()
    }
    fn inject_dllp(&mut self, _: Dir, _: Dllp) {}
    fn step(&mut self) {
        Pair::step(self)
    }
}

pub fn pair(mode: Mode, selective_nak: bool) -> Pair<FlitEnd> {
    let link = LinkConfig { mode, selective_nak, ..LinkConfig::default() };
    let end = || Cxl256End::new(link, FlitEnd::new(config(), FlitConfig::new(mode)).expect("legal"));
    Pair::new(end(), end(), LATENCY_FLITS, 64)
}
