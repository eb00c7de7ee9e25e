//! The active end of an interface of plain flits, whose flits are read as [`scalepool::link::plain`] reads them.
//!
//! Modelled: what is queued is packed at once, as if the peer had room for everything. Left out: what the interface has none of.
//!
//! A walk through one flit clock: [`PlainReader::read`] takes a unit apart and keeps its messages, [`PlainWriter::next`] packs the next flit
//! of what waits.

use super::ends::{AnyEnd, EndMessages};
use super::message::CapiMessage;
use crate::status::{Failure, SP_ERR_KIND};
use scalepool::forms::FormError;
use scalepool::forms::options::Options;
use scalepool::link::coverage::Met;
use scalepool::link::cxl256::WireFlit;
use scalepool::link::event::LinkEvent;
use scalepool::link::fault::WireUnit;
use scalepool::link::health::LinkHealth;
use scalepool::link::health::figures::{CRC_ERRORS, RECEIVED_FLITS};
use scalepool::link::health::liveness::LinkWait;
use scalepool::link::hook::{Direction, Hooks};
use scalepool::link::link_coverage::LinkCoverage;
use scalepool::link::plain::{PlainForm, PlainReader};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::packer::{Packed, Packer as Packer68};
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::config::Cxl256Config;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxl256::header::{FlitHeader, MAX_SEQ};
use scalepool_protocols::cxl::cxl256::packer::Packer as Packer256;
use scalepool_protocols::cxl::cxl256::{Class, Mode};
use scalepool_protocols::wire::Wire;
use std::collections::VecDeque;

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
            (PlainWriter::Cxl68(packer), CapiMessage::Cxl68(message)) => packer.push(&message).map_err(refused),
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
    /// The direction of what comes.
    comes: Dir,
    name: &'static str,
    reader: PlainReader,
    writer: PlainWriter,
    inbox: VecDeque<CapiMessage>,
    events: Vec<LinkEvent>,
    hooks: Hooks,
    /// What has come by its codes, where that is asked for.
    covered: Option<LinkCoverage>,
    /// Flits that have come, and those of them with a wrong CRC.
    came: u64,
    crc_errors: u64,
}

impl PlainEnd {
    /// An end that sends in a direction, of the protocol with this name; `covered` counts what comes.
    pub fn new(form: PlainForm, dir: Dir, name: &'static str, covered: Option<LinkCoverage>) -> PlainEnd {
        PlainEnd {
            covered,
            comes: dir.opposite(),
            form,
            name,
            reader: PlainReader::new(form, dir.opposite(), &Options::default()),
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
        if let Some(covered) = self.covered.as_mut().filter(|_| flit.is_good) {
            covered.unit(self.comes, unit)?;
        }
        self.inbox.extend(flit.messages.into_iter().map(CapiMessage::from));
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

    fn coverage(&self) -> Vec<Met> {
        self.covered.as_ref().map(LinkCoverage::met).unwrap_or_default()
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
