//! Plain flits of CXL.cachemem: an interface that hands over protocol flits and has no link layer.
//!
//! Modelled: what is queued is packed at once, as if the peer had room for everything, and what comes is taken apart as it is. Rules of
//! packing, of slots and of messages are judged, and so is the CRC: nothing sends a damaged flit again, so it is a mistake of whoever sent
//! it, and its messages are lost. Left out, as the interface has none of it: credits, acknowledgements, sequence numbers, replays, training,
//! initialisation; units of other kinds pass unread. What a link layer makes is named (SIM-PLN-01): of flits of 68 bytes a control flit, and
//! a header with a credit or an acknowledgement; of 256 bytes INIT, Ack and Nak, and credits. Numbers of flits pass unread: a header of 256 bytes
//! always has one, and without a link layer nobody says which.
//!
//! A walk through one flit clock of an active end: [`PlainReader::read`] takes a unit apart and keeps its messages, [`PlainWriter::next`]
//! packs the next flit of what waits.

use super::ends::{AnyEnd, EndMessages};
use super::message::CapiMessage;
use crate::status::{Failure, SP_ERR_KIND};
use scalepool::forms::FormError;
use scalepool::link::cxl256::{WireFlit, repaired};
use scalepool::link::event::{LinkEvent, Severity};
use scalepool::link::fault::WireUnit;
use scalepool::link::health::LinkHealth;
use scalepool::link::health::figures::{CRC_ERRORS, RECEIVED_FLITS};
use scalepool::link::health::liveness::LinkWait;
use scalepool::link::hook::{Direction, Hooks};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::check as check68;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::control::Control;
use scalepool_protocols::cxl::cxl68::packer::{Packed, Packer as Packer68};
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68UnitKind, Unpacker as Unpacker68};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl256::check as check256;
use scalepool_protocols::cxl::cxl256::code::{FlitType, LlCtrl, ReplayCommand};
use scalepool_protocols::cxl::cxl256::config::Cxl256Config;
use scalepool_protocols::cxl::cxl256::crd::Crd;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxl256::header::{FlitHeader, MAX_SEQ};
use scalepool_protocols::cxl::cxl256::packer::Packer as Packer256;
use scalepool_protocols::cxl::cxl256::stream::{Cxl256DecodedFlit, Cxl256FlitKind, Unpacker as Unpacker256};
use scalepool_protocols::cxl::cxl256::{Class, Mode};
use scalepool_protocols::wire::{Violation, Wire};
use std::collections::VecDeque;

/// The flits that have this form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainForm {
    /// 68-byte flits with protocol ID and CRC.
    Cxl68,
    /// 256-byte flits of a mode.
    Cxl256(Mode),
}

/// Takes the flits of one direction apart and judges them.
pub enum PlainReader {
    Cxl68(Box<Unpacker68>),
    Cxl256(Mode, Box<Unpacker256>),
}

/// What a flit brings: messages, what is broken, and whether its CRC fits.
pub struct PlainFlit {
    pub messages: Vec<CapiMessage>,
    pub events: Vec<LinkEvent>,
    pub is_good: bool,
}

impl PlainReader {
    pub fn new(form: PlainForm, dir: Dir) -> PlainReader {
        match form {
            PlainForm::Cxl68 => {
                let revision = Cxl68Config::default().revision;
                PlainReader::Cxl68(Box::new(Unpacker68::new(dir, revision, pid::Enabled::ALL)))
            }
            PlainForm::Cxl256(mode) => PlainReader::Cxl256(mode, Box::new(Unpacker256::new(mode, dir))),
        }
    }

    /// Reads the flit with this number of its direction.
    ///
    /// # Errors
    /// Bytes that are no unit of this form.
    pub fn read(&mut self, unit: &[u8], number: u64) -> Result<PlainFlit, FormError> {
        let (messages, findings, is_good): (Vec<_>, _, _) = match self {
            PlainReader::Cxl68(unpacker) => {
                let decoded = unpacker.read(&Cxl68Unit::from_bytes(unit)?);
                let messages = unpacker.delivered().iter().copied().map(CapiMessage::Cxl68);
                let mut findings = check68::unit(&decoded, &Cxl68Config::default());
                if decoded.is_good() {
                    findings.violations.extend(of_link_layer_68(&decoded.kind));
                }
                (messages.collect(), findings, decoded.is_good())
            }
            PlainReader::Cxl256(mode, unpacker) => {
                let decoded = unpacker.read(&Cxl256Flit::from_bytes(unit)?);
                let messages = unpacker.delivered().iter().map(|message| CapiMessage::Cxl256(*mode, *message));
                let mut findings = check256::flit(&decoded, &Cxl256Config::default());
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

/// Packs the messages of one direction.
pub enum PlainWriter {
    Cxl68(Box<Packer68>),
    /// With the number of the flit that comes next: the header has a place for it, and its numbers go on.
    Cxl256(Mode, Box<Packer256>, u16),
}

impl PlainWriter {
    fn new(form: PlainForm, dir: Dir) -> PlainWriter {
        match form {
            PlainForm::Cxl68 => PlainWriter::Cxl68(Box::new(Packer68::new(dir, Cxl68Config::default()))),
            PlainForm::Cxl256(mode) => {
                PlainWriter::Cxl256(mode, Box::new(Packer256::new(mode, dir, Cxl256Config::default())), 1)
            }
        }
    }

    /// Messages that wait.
    fn waiting(&self) -> usize {
        match self {
            PlainWriter::Cxl68(packer) => packer.queued(),
            PlainWriter::Cxl256(_, packer, _) => packer.queued(),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            PlainWriter::Cxl68(packer) => packer.is_empty(),
            PlainWriter::Cxl256(_, packer, _) => packer.is_empty(),
        }
    }

    fn push(&mut self, message: CapiMessage) -> Result<(), FormError> {
        fn refused(error: impl std::fmt::Display) -> FormError {
            FormError::new("message", error.to_string(), "a message that this end may send")
        }
        match (self, message) {
            (PlainWriter::Cxl68(packer), CapiMessage::Cxl68(message)) => packer.push(message).map_err(refused),
            (PlainWriter::Cxl256(mode, packer, _), CapiMessage::Cxl256(of, message)) if *mode == of => {
                packer.push(message).map_err(refused)
            }
            _ => Err(refused("a message of another protocol")),
        }
    }

    /// Answers of CXL.cache that wait.
    fn cache_answers_waiting(&self) -> usize {
        match self {
            PlainWriter::Cxl68(packer) => packer.waiting(scalepool_protocols::cxl::cxl68::message::Class::H2dRsp),
            PlainWriter::Cxl256(_, packer, _) => packer.waiting(Class::H2dRsp),
        }
    }

    /// The next flit; `None`: nothing waits.
    fn next(&mut self, hooks: &Hooks, name: &'static str) -> Vec<Vec<u8>> {
        fn leaving<U: WireUnit>(hooks: &Hooks, name: &'static str, unit: U) -> Vec<Vec<u8>> {
            hooks.wire(Direction::Tx, name, unit).iter().flatten().map(|(unit, _)| unit.bytes().to_vec()).collect()
        }
        match self {
            PlainWriter::Cxl68(packer) => {
                let slots = match packer.pack(&mut [u16::MAX; 10], usize::MAX) {
                    Packed::Nothing => return Vec::new(),
                    Packed::AllData(slots) => slots,
                    Packed::Protocol(header, mut slots) => {
                        // Bits 31:0 of slot 0 are free for the header.
                        slots[0] |= header.to_bits().unwrap_or_default();
                        slots
                    }
                };
                leaving(hooks, name, Cxl68Unit::from_slots(pid::CACHEMEM, &slots))
            }
            PlainWriter::Cxl256(mode, packer, seq) => {
                let Some(slots) = packer.pack(&mut [u16::MAX; Class::COUNT]) else { return Vec::new() };
                let mut flit = Cxl256Flit::ZERO;
                let header = FlitHeader { flit_type: FlitType::Cachemem, seq: *seq, ..FlitHeader::default() };
                let fits = flit.set_header(&header);
                debug_assert!(fits.is_ok(), "numbers are below 1024");
                *seq = *seq % MAX_SEQ + 1;
                slots.iter().enumerate().for_each(|(n, &slot)| flit.set_slot(*mode, n, slot));
                flit.seal(*mode);
                leaving(hooks, name, WireFlit { mode: *mode, flit })
            }
        }
    }
}

/// Training is refused.
pub fn without_training() -> Failure {
    Failure::new(SP_ERR_KIND, "plain flits: found link training, which an interface without a link layer does not have")
}

/// An active end of an interface of plain flits.
pub struct PlainEnd {
    form: PlainForm,
    name: &'static str,
    reader: PlainReader,
    writer: PlainWriter,
    inbox: VecDeque<CapiMessage>,
    events: Vec<LinkEvent>,
    hooks: Hooks,
    /// Flits that have come, and those of them with a wrong CRC.
    came: u64,
    crc_errors: u64,
}

impl PlainEnd {
    /// An end that sends in a direction, of the protocol with this name.
    pub fn new(form: PlainForm, dir: Dir, name: &'static str) -> PlainEnd {
        PlainEnd {
            form,
            name,
            reader: PlainReader::new(form, dir.opposite()),
            writer: PlainWriter::new(form, dir),
            inbox: VecDeque::new(),
            events: Vec::new(),
            hooks: Hooks::default(),
            came: 0,
            crc_errors: 0,
        }
    }

    fn arrives(&mut self, unit: &[u8]) -> Result<(), FormError> {
        let flit = self.reader.read(unit, self.came)?;
        self.came += 1;
        self.crc_errors += u64::from(!flit.is_good);
        self.inbox.extend(flit.messages);
        self.events.extend(flit.events);
        Ok(())
    }
}

impl EndMessages for PlainEnd {
    fn waiting(&self) -> usize {
        self.writer.waiting()
    }

    fn send(&mut self, message: CapiMessage) -> Result<(), Failure> {
        Ok(self.writer.push(message)?)
    }

    fn take(&mut self) -> Option<CapiMessage> {
        self.inbox.pop_front()
    }

    fn cache_answers_waiting(&self) -> usize {
        self.writer.cache_answers_waiting()
    }

    fn is_up(&self) -> bool {
        true
    }

    fn is_silent_in_training(&self) -> Result<bool, Failure> {
        Err(without_training())
    }
}

impl AnyEnd for PlainEnd {
    fn attach_hooks(&mut self, hooks: &Hooks) {
        self.hooks = hooks.clone();
    }

    fn receive(&mut self, unit: &[u8], _now: u64) -> Result<(), FormError> {
        let units: Vec<Vec<u8>> = match self.form {
            PlainForm::Cxl68 => {
                let arrivals = self.hooks.wire(Direction::Rx, self.name, Cxl68Unit::from_bytes(unit)?);
                arrivals.iter().flatten().map(|(unit, _)| unit.bytes().to_vec()).collect()
            }
            PlainForm::Cxl256(mode) => {
                let unit = WireFlit { mode, flit: Cxl256Flit::from_bytes(unit)? };
                let arrivals = self.hooks.wire(Direction::Rx, self.name, unit);
                arrivals.iter().flatten().map(|(unit, _)| unit.bytes().to_vec()).collect()
            }
        };
        units.iter().try_for_each(|unit| self.arrives(unit))
    }

    fn transmit(&mut self, _now: u64) -> Vec<Vec<u8>> {
        self.writer.next(&self.hooks, self.name)
    }

    fn train(&mut self, _up: bool) {}

    fn take_retrain_request(&mut self) -> bool {
        false
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        std::mem::take(&mut self.events)
    }

    fn is_quiet(&self) -> bool {
        self.writer.is_empty() && self.inbox.is_empty()
    }

    fn halted(&self) -> Option<&'static str> {
        None
    }

    fn pass_time(&mut self, _now: u64) {}

    fn health(&self, _now: u64) -> LinkHealth {
        let mut health = LinkHealth::default();
        health.number(&RECEIVED_FLITS, self.came);
        health.number(&CRC_ERRORS, self.crc_errors);
        health
    }

    fn pending_waits(&self, _each: &mut dyn FnMut(LinkWait<'_>)) {}

    fn report_repairs(&mut self) {}
}

/// Watches both directions of an interface of plain flits.
pub struct PlainWatch {
    /// What arrives at the watched end, and what it sends.
    readers: [PlainReader; 2],
    came: [u64; 2],
    crc_errors: u64,
}

impl PlainWatch {
    /// A watcher of the end that sends in a direction.
    pub fn new(form: PlainForm, dir: Dir) -> PlainWatch {
        let readers = [PlainReader::new(form, dir.opposite()), PlainReader::new(form, dir)];
        PlainWatch { readers, came: [0; 2], crc_errors: 0 }
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

    pub fn health(&self) -> LinkHealth {
        let mut health = LinkHealth::default();
        health.number(&RECEIVED_FLITS, self.came[0]);
        health.number(&CRC_ERRORS, self.crc_errors);
        health
    }
}
