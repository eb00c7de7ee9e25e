//! Plain flits of CXL.cachemem: an interface that hands over protocol flits and has no link layer.
//!
//! Modelled: what comes is taken apart as it is. Rules of packing, of slots and of messages are judged, and so is the CRC: nothing sends
//! a damaged flit again, so it is a mistake of whoever sent it, and its messages are lost. Left out, as the interface has none of it: credits, acknowledgements, sequence numbers, replays, training,
//! initialisation; units of other kinds pass unread. What a link layer makes is named (SIM-PLN-01): of flits of 68 bytes a control flit, and
//! a header with a credit or an acknowledgement; of 256 bytes INIT, Ack and Nak, and credits. Numbers of flits pass unread: a header of 256 bytes
//! always has one, and without a link layer nobody says which.
//!
//! A walk through one flit: [`PlainReader::read`] takes it apart, judges it and keeps its messages; [`PlainWatch`] does so with both directions of
//! an interface.

use crate::cxl256::repaired;
use crate::event::{LinkEvent, Severity};
use crate::health::figures::{CRC_ERRORS, RECEIVED_FLITS};
use crate::health::liveness::LinkWait;
use crate::health::{LinkHealth, states};
use crate::hook::Direction;
use crate::protocol::LinkProtocol;
use crate::watch::{Events, Judge, WatchedContent};
use scalepool_forms::FormError;
use scalepool_forms::options::Options;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::check as check68;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::control::Control;
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68Message, Cxl68UnitKind, Unpacker as Unpacker68};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::check as check256;
use scalepool_protocols::cxl::cxl256::code::{LlCtrl, ReplayCommand};
use scalepool_protocols::cxl::cxl256::config::Cxl256Config;
use scalepool_protocols::cxl::cxl256::crd::Crd;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxl256::stream::{
    Cxl256DecodedFlit, Cxl256FlitKind, Cxl256Message, Unpacker as Unpacker256,
};
use scalepool_protocols::cxl::message::Message;
use scalepool_protocols::wire::Violation;

/// The flits that have this form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainForm {
    /// 68-byte flits with protocol ID and CRC.
    Cxl68,
    /// 256-byte flits of a mode.
    Cxl256(Mode),
}

impl PlainForm {
    /// That of a protocol; `None` where there is none.
    pub fn of(protocol: LinkProtocol) -> Option<PlainForm> {
        match protocol {
            LinkProtocol::Cxl68 => Some(PlainForm::Cxl68),
            LinkProtocol::Cxl256(mode) => Some(PlainForm::Cxl256(mode)),
            LinkProtocol::Nvlink | LinkProtocol::Ualink => None,
        }
    }
}

/// Takes the flits of one direction apart and judges them.
pub enum PlainReader {
    /// 68-byte flits.
    Cxl68(Box<Unpacker68>, Cxl68Config),
    /// 256-byte flits of a mode.
    Cxl256(Mode, Box<Unpacker256>, Cxl256Config),
}

/// What a flit brings: messages, what is broken, and whether its CRC fits.
pub struct PlainFlit {
    /// Messages that it ends.
    pub messages: Vec<PlainMessage>,
    /// What is broken.
    pub events: Vec<LinkEvent>,
    /// Its CRC fits.
    pub is_good: bool,
}

/// A message of such a flit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlainMessage {
    /// Of a 68-byte flit.
    Cxl68(Cxl68Message),
    /// Of a 256-byte flit of a mode.
    Cxl256(Mode, Cxl256Message),
}

impl PlainMessage {
    /// What it says, whatever flits carry it.
    pub fn content(&self) -> Message {
        match self {
            PlainMessage::Cxl68(message) => Message::from_cxl68(message),
            PlainMessage::Cxl256(mode, message) => Message::from_cxl256(message, mode.routing()),
        }
    }
}

impl PlainReader {
    /// A reader of the flits of a direction, between ends that have agreed on these options.
    pub fn new(form: PlainForm, dir: Dir, options: &Options) -> PlainReader {
        match form {
            PlainForm::Cxl68 => {
                let unpacker = Unpacker68::new(dir, options.cxl68.revision, pid::Enabled::ALL);
                PlainReader::Cxl68(Box::new(unpacker), options.cxl68)
            }
            PlainForm::Cxl256(mode) => PlainReader::Cxl256(mode, Box::new(Unpacker256::new(mode, dir)), options.cxl256),
        }
    }

    /// Reads the flit with this number of its direction.
    ///
    /// # Errors
    /// Bytes that are no unit of this form.
    pub fn read(&mut self, unit: &[u8], number: u64) -> Result<PlainFlit, FormError> {
        let (messages, findings, is_good): (Vec<_>, _, _) = match self {
            PlainReader::Cxl68(unpacker, config) => {
                let decoded = unpacker.read(&Cxl68Unit::from_bytes(unit)?);
                let messages = unpacker.delivered().iter().copied().map(PlainMessage::Cxl68);
                let mut findings = check68::unit(&decoded, config);
                if decoded.is_good() {
                    findings.violations.extend(of_link_layer_68(&decoded.kind));
                }
                (messages.collect(), findings, decoded.is_good())
            }
            PlainReader::Cxl256(mode, unpacker, config) => {
                let decoded = unpacker.read(&Cxl256Flit::from_bytes(unit)?);
                let messages = unpacker.delivered().iter().map(|message| PlainMessage::Cxl256(*mode, *message));
                let mut findings = check256::flit(&decoded, config);
                findings.violations.retain(|violation| violation.rule != NUMBER);
                if decoded.is_good() {
                    findings.violations.extend(of_link_layer_256(&decoded));
                    // No line stands before it, so what the FEC repairs is a mistake of the sender.
                    let repairs = decoded.received.fec.as_ref().ok().filter(|repairs| !repairs.is_empty());
                    findings.violations.extend(repairs.map(repaired));
                }
                (messages.collect(), findings, decoded.is_good())
            }
        };
        let event = |violation| LinkEvent { severity: Severity::Protocol, unit: number, violation };
        Ok(PlainFlit { messages, events: findings.violations.into_iter().map(event).collect(), is_good })
    }
}

/// What a flit of 256 bytes has that belongs to a link layer: control of the link, a request or answer of a replay, credits (`cxl-256b` §1.3,
/// §1.6, §6).
fn of_link_layer_256(decoded: &Cxl256DecodedFlit) -> Option<Violation> {
    let (flit, command) = (&decoded.received.flit, decoded.header.command);
    let is_init = matches!(decoded.kind, Cxl256FlitKind::Control)
        && flit.slot(decoded.mode, 0) >> 4 & 0xf == u128::from(LlCtrl::INIT.0);
    let (at, found, text) = match decoded.kind {
        Cxl256FlitKind::Control if is_init => (2, "INIT".to_owned(), CONTROL),
        Cxl256FlitKind::Empty => (CRD_AT, "an Empty flit, which is there for credits alone".to_owned(), CONTROL),
        _ if command != ReplayCommand::Explicit => {
            (0, format!("command {}", command.name().unwrap_or("reserved")), HEADER)
        }
        Cxl256FlitKind::Protocol | Cxl256FlitKind::Control if flit.crd() != Crd::default() => {
            (CRD_AT, "credits".to_owned(), HEADER)
        }
        _ => return None,
    };
    Some(Violation::at_byte("SIM-PLN-01", at, found, ALONE, text))
}

/// Rule of the numbers of flits, which pass unread.
const NUMBER: &str = "CXL256-RTY-01";

/// Where the credits of a flit of 256 bytes stand (`cxl-256b` §1.6).
const CRD_AT: usize = 240;
const ALONE: &str = "protocol and data alone: the interface has no link layer";

/// What a flit of 68 bytes has that belongs to a link layer.
fn of_link_layer_68(kind: &Cxl68UnitKind) -> Option<Violation> {
    let (found, text) = match kind {
        Cxl68UnitKind::Control(control) => match control {
            Control::LlcrdAcknowledge(_) => ("LLCRD", CONTROL),
            Control::RetryIdle(_) | Control::RetryFrame(_) | Control::RetryReq(_) | Control::RetryAck(_) => {
                ("RETRY", CONTROL)
            }
            Control::InitParam(_) => ("INIT", CONTROL),
            _ => return None,
        },
        Cxl68UnitKind::Protocol(header) if header.rsp_crd | header.req_crd | header.data_crd != 0 => {
            ("credits in the header", HEADER)
        }
        Cxl68UnitKind::Protocol(header) if header.ak => ("an acknowledgement in the header", HEADER),
        _ => return None,
    };
    // Slot 0, the first one, begins behind the protocol ID (`cxl-68b` §1.2).
    Some(Violation::at_byte("SIM-PLN-01", 2, found, ALONE, text))
}

const CONTROL: &str = "a control flit of a link layer passes at an interface that has none";
const HEADER: &str = "a flit speaks of a link layer at an interface that has none";

/// Watches both directions of an interface of plain flits.
pub struct PlainWatch {
    /// What arrives at the watched end, and what it sends.
    readers: [PlainReader; 2],
    came: [u64; 2],
    crc_errors: u64,
    /// Messages since they were last taken.
    messages: Vec<(Direction, WatchedContent)>,
}

impl PlainWatch {
    /// A watcher of the end that sends in a direction.
    pub fn new(form: PlainForm, dir: Dir, options: &Options) -> PlainWatch {
        let readers = [dir.opposite(), dir].map(|dir| PlainReader::new(form, dir, options));
        PlainWatch { readers, came: [0; 2], crc_errors: 0, messages: Vec::new() }
    }

    /// A unit passes.
    ///
    /// # Errors
    /// Bytes that are no unit.
    pub fn unit(&mut self, way: Direction, unit: &[u8]) -> Result<PlainFlit, FormError> {
        let n = usize::from(way == Direction::Tx);
        let flit = self.readers[n].read(unit, self.came[n])?;
        self.came[n] += 1;
        self.crc_errors += u64::from(!flit.is_good);
        Ok(flit)
    }

    /// Its figures.
    pub fn health(&self) -> LinkHealth {
        let mut health = LinkHealth::default();
        health.number(&RECEIVED_FLITS, self.came[0]);
        self.fill_health(&mut health);
        health
    }
}

impl Judge for PlainWatch {
    fn unit(&mut self, way: Direction, unit: &[u8], _: u64, events: &mut Events) -> Result<bool, FormError> {
        let flit = PlainWatch::unit(self, way, unit)?;
        events.extend(flit.events.into_iter().map(|event| (way, event)));
        let said = flit.messages.iter().map(|message| (way, WatchedContent::Cxl(message.content())));
        self.messages.extend(said);
        Ok(flit.is_good)
    }

    fn states(&self) -> [usize; 2] {
        [states::LINK_UP, 0]
    }

    fn fill_health(&self, health: &mut LinkHealth) {
        health.number(&CRC_ERRORS, self.crc_errors);
    }

    fn pending_waits(&self, _: &mut dyn FnMut(LinkWait<'_>)) {}

    fn take_messages(&mut self) -> Vec<(Direction, WatchedContent)> {
        std::mem::take(&mut self.messages)
    }
}
