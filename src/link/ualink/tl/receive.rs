//! The receiver of the transaction layer: charges what comes, hands it on, and reports what breaks a rule.

use super::credit::{TARGETS, TlClass, returned};
use super::transfer::{expanded, held};
use super::{CATCH, Tl};
use scalepool_protocols::ualink::code::HalfType;
use scalepool_protocols::ualink::content::{TlControl, TlHalves, TlUpper};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlFc;
use scalepool_protocols::ualink::half::{HALF_BYTES, MessageHalf, TlFlit};
use scalepool_protocols::ualink::unpack::{HalfRole, Transfer};
use scalepool_protocols::wire::{Violation, Wire};

/// Which of the two catch levels is our own.
const OWN: usize = 1;

/// What the fields of a Control half have done so far.
#[derive(Debug, Default)]
struct Charged {
    /// Transactions by class.
    transactions: [u16; 2],
    /// Kinds and targets of credits, a bit each.
    credits: u32,
}

impl Tl {
    /// Takes a TL flit.
    pub(super) fn take_flit(&mut self, flit: &TlFlit) {
        if self.unpacker.take_data(flit) {
            self.catch_drains(1);
            self.whole_arrive();
            return;
        }
        let mut read = self.unpacker.read(flit);
        read.violations.drain(..).for_each(|violation| self.event(violation));
        let fields = read.control.as_ref().map_or([0; 2], |control| {
            let mut seen = Charged::default();
            control.fields.iter().for_each(|placed| self.charge(&placed.field, 4 * placed.sector, &mut seen));
            seen.transactions
        });
        self.catch(fields);
        for (n, role) in read.roles.iter().enumerate() {
            if let HalfRole::Message(message) = role {
                self.message(message, n * HALF_BYTES);
            }
        }
        read.delivered.drain(..).for_each(|transfer| self.arrived(transfer));
        self.unpacker.reuse(read);
    }

    /// So many TL flits whose halves are all owed, without bytes.
    pub(super) fn take_owed(&mut self, flits: u8) {
        self.unpacker.take_owed(2 * usize::from(flits));
        self.catch_drains(flits.into());
        self.whole_arrive();
    }

    /// Any other TL flit without bytes; its transactions are taken out of it.
    pub(super) fn take_halves(&mut self, halves: &mut TlHalves) {
        let TlHalves { control, upper } = halves;
        let mut seen = Charged::default();
        match control {
            Some(TlControl { credits, transfers }) => {
                // Credits stand in the last sector.
                for transfer in transfers.iter_mut().map_while(Option::take) {
                    self.charge(&transfer.field, 0, &mut seen);
                    self.unpacker.begin(transfer);
                }
                if let Some(credits) = credits {
                    self.credit(credits, 0, &mut seen);
                }
            }
            None => self.unpacker.take_owed(1),
        }
        self.catch(seen.transactions);
        match upper {
            TlUpper::Owed => self.unpacker.take_owed(1),
            TlUpper::Message(message) => self.message(message, HALF_BYTES),
            TlUpper::Nothing | TlUpper::Tags => (),
        }
        self.whole_arrive();
    }

    /// What was owed the last half is whole.
    fn whole_arrive(&mut self) {
        while let Some(transfer) = self.unpacker.next_whole() {
            self.arrived(transfer);
        }
    }

    /// So many TL flits without fields let the catch buffer drain.
    fn catch_drains(&mut self, flits: u16) {
        self.catch[OWN] = self.catch[OWN].map(|level| level.saturating_sub(flits));
    }

    /// So many fields of each class come into the catch buffer, and it drains.
    fn catch(&mut self, fields: [u16; 2]) {
        for class in TlClass::ALL {
            let index = class.index();
            let level = self.catch[OWN][index] + fields[index];
            if level > CATCH[index] {
                let (found, expected) = (level.to_string(), format!("at most {}", CATCH[index]));
                let text = format!("too many {class:?}s have come for the catch buffer");
                self.event(Violation::at_byte("UAL-CRD-07", 0, found, expected, text));
            }
            self.catch[OWN][index] = level.min(CATCH[index]).saturating_sub(1);
        }
    }

    /// A message half at a byte of the TL flit.
    fn message(&mut self, message: &MessageHalf, at: usize) {
        if message.kind != HalfType::InitialCreditsDone {
            return;
        }
        if self.credits.is_open() {
            let text = "message 0x01 ends the initial credits a second time";
            self.event(Violation::at_byte("UAL-CRD-05", at, "message 0x01 again", "once", text));
        } else {
            let found = self.credits.open(message.payload[0] & 1 == 1);
            found.into_iter().for_each(|violation| self.event(violation));
        }
    }

    /// A transaction is whole.
    fn arrived(&mut self, transfer: Box<Transfer>) {
        let held = held(&transfer.field, &self.config.codec, self.epoch);
        match (expanded(transfer), held) {
            (Some(transfer), Some(held)) => {
                self.stats.received[held.class.index()] += 1;
                self.received[held.class.index()].push_back((transfer, Some(held)));
            }
            // Nobody can use it: its buffers are free at once.
            (None, Some(held)) => self.buffers.release(&held),
            (_, None) => (),
        }
    }

    /// Credits or charge of a field of a Control half, at a byte of it.
    fn charge(&mut self, field: &ControlField, at: usize, seen: &mut Charged) {
        if let ControlField::FlowControl(fc) = field {
            self.credit(fc, at, seen);
        } else if let Some(held) = held(field, &self.config.codec, self.epoch) {
            seen.transactions[held.class.index()] += 1;
            if !self.credits.is_open() {
                let text = "a transaction is received before all initial credits";
                let layout = field.def().name;
                self.event(Violation::at_byte("UAL-CRD-05", at, layout, "credits, then message 0x01", text));
            }
            let found = self.buffers.accept(held.class, held.target, held.beats.into());
            if !found.is_empty() {
                found.into_iter().for_each(|violation| self.event(violation));
            }
        }
    }

    /// Credits that a field returns, at a byte of its Control half.
    fn credit(&mut self, fc: &TlFc, at: usize, seen: &mut Charged) {
        let bits = self.hooks.credits((fc.to_bits().unwrap_or(0) as u32).to_le_bytes());
        for (kind, target, n) in returned(&TlFc::from_bits(u32::from_le_bytes(bits).into())) {
            let bit = 1 << (kind as usize * TARGETS + target.index());
            if seen.credits & bit != 0 {
                let text = format!("{} credits of {target:?} stand twice in one Control half", kind.name());
                self.event(Violation::at_byte("UAL-CRD-04", at, "two fields", "one field", text));
            }
            seen.credits |= bit;
            if let Some(violation) = self.credits.receive(kind, target, n) {
                self.event(violation);
            }
        }
    }
}
