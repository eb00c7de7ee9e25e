//! One model end whose peer is the test: every unit that it receives is made by hand, every unit that it sends is looked
//! at. A monitor stands beside it.
//!
//! A walk: [`Solo::up`] plays the peer until INIT.Param and the first credits have gone both ways. Then [`Solo::feed`]
//! hands over a unit and [`Solo::sends`] gives the unit of the next flit clock.

use scalepool::link::cxl68::retry::{Local, Remote};
use scalepool::link::cxl68::{Cxl68End, EndConfig, Known, LinkEvent, Monitor, MonitorConfig};
use scalepool::link::protocol::LinkProtocol;
use scalepool::link::watch::WatchConfig;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::control::{Control, InitParam, Llcrd, RetryAck, RetryReq};
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68Message, Data};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::Wire;
use scalepool_testbenches::beside::Beside;

/// Buffers of the peer that the test plays: its wrap value is one less.
pub const PEER_ENTRIES: u8 = 128;
/// Credits a class that the peer gives.
pub const CREDITS: u16 = 64;
/// Code of 64 credits of CXL.mem (`cxl-68b` §5.4).
const MEM_64: u8 = 15;

/// An end alone.
#[derive(Debug, Clone)]
pub struct Solo {
    pub end: Cxl68End,
    pub monitor: Monitor,
    pub beside: Beside,
    pub now: u64,
}

impl Solo {
    /// A host that speaks CXL.mem, before its first flit clock.
    pub fn new(link: Cxl68Config) -> Solo {
        let config = EndConfig::mem(Dir::Down, link, 32);
        let monitor = Monitor::new(MonitorConfig::of(&config));
        let watched =
            WatchConfig { cxl68: link, known: Known::ALL, ..WatchConfig::new(LinkProtocol::Cxl68, Dir::Down) };
        let beside = Beside::new(&watched);
        Solo { end: Cxl68End::new(config).expect("legal configuration"), monitor, beside, now: 0 }
    }

    /// A host of which initialisation and first credits are done, with nothing to acknowledge.
    pub fn up(link: Cxl68Config) -> Solo {
        let mut solo = Solo::new(link);
        solo.feed(control("RETRY.Idle"));
        solo.sends();
        solo.feed(init(PEER_ENTRIES - 1));
        // Credits for M2S Req and RwD in one flit; the end's own first credits leave meanwhile.
        solo.feed(llcrd(0, [0, MEM_64, MEM_64]));
        for _ in 0..3 * link.llcrd_flush_flits {
            solo.sends();
        }
        let sent = solo.end.buffer().unacknowledged() as u8;
        solo.feed(llcrd(sent, [0; 3]));
        assert!(solo.end.is_up() && solo.end.num_ack() == 1, "up, with one flit to acknowledge");
        assert_eq!(solo.end.buffer().unacknowledged(), 0);
        assert_eq!(solo.end.credits().spend[Class::M2sReq.index()], CREDITS);
        solo
    }

    /// The same in a state of the LRSM. Limits of 1 and a short TIMEOUT lead to RETRY_ABORT soon.
    pub fn in_state(state: Local, link: Cxl68Config) -> Solo {
        let link = match state {
            Local::Abort => Cxl68Config { timeout_flits: 8, max_num_retry: 1, max_num_phy_reinit: 1, ..link },
            _ => link,
        };
        let mut solo = Solo::up(link);
        match state {
            Local::Normal => (),
            Local::LlrReq => solo.feed(bad()),
            Local::LocalIdle => {
                solo.feed(bad());
                solo.sends_all(6);
            }
            Local::PhyReinit => solo.phy_down(),
            Local::Abort => {
                solo.feed(bad());
                for _ in 0..200 {
                    solo.sends();
                    if solo.end.take_retrain_request() {
                        solo.phy_down();
                        solo.end.phy_up();
                    }
                }
                solo.end.take_events();
            }
        }
        assert_eq!(solo.end.local().state, state, "the state is reached");
        solo
    }

    /// Training begins.
    pub fn phy_down(&mut self) {
        self.end.phy_down();
        self.monitor.trained();
        self.beside.trained();
    }

    /// A unit arrives.
    pub fn feed(&mut self, unit: Cxl68Unit) {
        self.monitor.received(&unit, self.now);
        self.beside.arrives(&unit.0, self.now);
        self.end.receive(&unit, self.now);
    }

    /// Units arrive one behind the other.
    pub fn feed_all(&mut self, units: &[Cxl68Unit]) {
        units.iter().for_each(|&u| self.feed(u));
    }

    /// The unit of the next flit clock.
    pub fn sends(&mut self) -> Option<Cxl68Unit> {
        self.now += 1;
        let unit = self.end.transmit(self.now)?;
        self.monitor.sent(&unit, self.now);
        self.beside.sends(&unit.0, self.now);
        Some(unit)
    }

    /// The units of the next flit clocks.
    pub fn sends_all(&mut self, flits: usize) -> Vec<Cxl68Unit> {
        (0..flits).filter_map(|_| self.sends()).collect()
    }

    /// The names of the units of the next flit clocks.
    pub fn sends_names(&mut self, flits: usize) -> Vec<&'static str> {
        self.sends_all(flits).iter().map(name).collect()
    }

    /// Queues a read.
    pub fn read(&mut self, tag: u16) {
        let bits = scalepool_protocols::cxl::cxl68::message::M2sReq { tag, ..Default::default() };
        self.end.send(Cxl68Message::new(Class::M2sReq, bits.to_bits().expect("fits"))).expect("legal");
    }

    /// Queues a write of 64 bytes, all equal.
    pub fn write(&mut self, byte: u8) {
        self.write_line([byte; 64]);
    }

    /// Queues a write.
    pub fn write_line(&mut self, bytes: [u8; 64]) {
        use scalepool_protocols::cxl::cxl68::code::M2sRwdOpcode;
        use scalepool_protocols::cxl::cxl68::message::M2sRwd;
        let bits = M2sRwd { opcode: M2sRwdOpcode::MemWr, ..M2sRwd::default() }.to_bits().expect("fits");
        self.end.send(Cxl68Message::with_data(Class::M2sRwd, bits, Data::line(bytes))).expect("legal");
    }

    /// Rules of the end's own events since the last call.
    pub fn events(&mut self) -> Vec<&'static str> {
        let events = self.end.take_events();
        self.beside.judge(&events);
        rules(&events)
    }

    /// Rules that the monitor saw broken since the last call.
    pub fn seen(&mut self) -> Vec<&'static str> {
        rules(&self.monitor.take_events())
    }

    /// Num_Retry and Eseq of a pending Ack.
    pub fn ack_due(&self) -> Option<(u8, u8)> {
        match self.end.remote() {
            Remote::Normal => None,
            Remote::LlrAck { num_retry, eseq } => Some((num_retry, eseq)),
        }
    }
}

/// Rules of events.
pub fn rules(events: &[LinkEvent]) -> Vec<&'static str> {
    events.iter().map(|e| e.violation.rule).collect()
}

/// A control flit.
pub fn unit_of(control: Control) -> Cxl68Unit {
    Cxl68Unit::from_slots(pid::CACHEMEM, &[control.to_slot().expect("fits"), 0, 0, 0])
}

/// A control flit with its default fields.
pub fn control(name: &str) -> Cxl68Unit {
    unit_of(Control::by_name(name).expect("a listed name"))
}

/// RETRY.Idle with a wrong CRC.
pub fn bad() -> Cxl68Unit {
    let mut unit = control("RETRY.Idle");
    unit.set_tail(!unit.tail());
    unit
}

/// INIT.Param.
pub fn init(wrap: u8) -> Cxl68Unit {
    unit_of(Control::InitParam(InitParam { version: 2, wrap, ..InitParam::default() }))
}

/// LLCRD with acknowledgements and credit codes in the order Rsp, Req, Data.
pub fn llcrd(full_ack: u8, [rsp_crd, req_crd, data_crd]: [u8; 3]) -> Cxl68Unit {
    let mut llcrd = Llcrd { rsp_crd, req_crd, data_crd, ..Llcrd::default() };
    llcrd.set_full_ack(full_ack);
    unit_of(Control::LlcrdAcknowledge(llcrd))
}

/// RETRY.Req alone.
pub fn req(eseq: u8, num_retry: u8) -> Cxl68Unit {
    unit_of(Control::RetryReq(RetryReq { eseq, num_retry, ..RetryReq::default() }))
}

/// RETRY.Ack alone.
pub fn ack(eseq: u8, num_retry: u8, empty: bool) -> Cxl68Unit {
    unit_of(Control::RetryAck(RetryAck { eseq, num_retry, empty, ..RetryAck::default() }))
}

/// Frames and what they announce.
pub fn framed(frames: usize, last: Cxl68Unit) -> Vec<Cxl68Unit> {
    let mut units = vec![control("RETRY.Frame"); frames];
    units.push(last);
    units
}

/// An empty protocol flit, which may carry an Ak.
pub fn protocol(ak: bool) -> Cxl68Unit {
    let header = FlitHeader { ak, ..FlitHeader::default() };
    Cxl68Unit::from_slots(pid::CACHEMEM, &[header.to_bits().expect("fits"), 0, 0, 0])
}

/// Name of a control flit, `flit` for anything else. A data flit may look like a control flit.
pub fn name(unit: &Cxl68Unit) -> &'static str {
    if unit.slot(0) & 1 == 1 { Control::from_slot(unit.slot(0)).name() } else { "flit" }
}

/// The Req that a unit holds.
pub fn as_req(unit: &Cxl68Unit) -> RetryReq {
    match Control::from_slot(unit.slot(0)) {
        Control::RetryReq(req) => req,
        other => panic!("{} is no RETRY.Req", other.name()),
    }
}

/// The Ack that a unit holds.
pub fn as_ack(unit: &Cxl68Unit) -> RetryAck {
    match Control::from_slot(unit.slot(0)) {
        Control::RetryAck(ack) => ack,
        other => panic!("{} is no RETRY.Ack", other.name()),
    }
}
