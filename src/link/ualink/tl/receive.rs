//! The receiver of the transaction layer: charges what comes, hands it on, and reports what breaks a rule.

use super::credit::{TARGETS, TlClass, returned};
use super::transfer::{expanded, held};
use super::{CATCH, Tl};
use scalepool_protocols::ualink::code::HalfType;
use scalepool_protocols::ualink::control::{Control, ControlField};
use scalepool_protocols::ualink::field::TlFc;
use scalepool_protocols::ualink::half::{HALF_BYTES, TlFlit};
use scalepool_protocols::ualink::unpack::{HalfRole, Transfer};
use scalepool_protocols::wire::{Violation, Wire};

/// Which of the two catch levels is our own.
const OWN: usize = 1;

impl Tl {
    /// Takes a TL flit.
    pub(super) fn take_flit(&mut self, flit: &TlFlit) {
        if self.unpacker.take_data(flit) {
            self.catch[OWN] = self.catch[OWN].map(|level| level.saturating_sub(1));
            while let Some(transfer) = self.unpacker.next_whole() {
                self.arrived(transfer);
            }
            return;
        }
        let mut read = self.unpacker.read(flit);
        read.violations.drain(..).for_each(|violation| self.event(violation));
        let fields = read.control.as_ref().map_or([0; 2], |control| self.take_control(control));
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
        for (n, role) in read.roles.iter().enumerate() {
            let HalfRole::Message(message) = role else { continue };
            if message.kind == HalfType::InitialCreditsDone {
                if self.purse.is_open() {
                    let text = "message 0x01 ends the initial credits a second time";
                    let at = n * HALF_BYTES;
                    self.event(Violation::at_byte("UAL-CRD-05", at, "message 0x01 again", "once", text));
                } else {
                    let found = self.purse.open(message.payload[0] & 1 == 1);
                    found.into_iter().for_each(|violation| self.event(violation));
                }
            }
        }
        read.delivered.drain(..).for_each(|transfer| self.arrived(transfer));
        self.unpacker.reuse(read);
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
            (None, Some(held)) => self.stock.release(&held),
            (_, None) => (),
        }
    }

    /// Credits and charges of a Control half; transactions by class.
    fn take_control(&mut self, control: &Control) -> [u16; 2] {
        let mut transactions = [0; 2];
        // Kinds and targets, a bit each.
        let mut seen = 0u32;
        for placed in &control.fields {
            let at = 4 * placed.sector;
            let mut found = Vec::new();
            if let ControlField::FlowControl(fc) = &placed.field {
                let bits = self.hooks.credits((fc.to_bits().unwrap_or(0) as u32).to_le_bytes());
                let fc = &TlFc::from_bits(u32::from_le_bytes(bits).into());
                for (kind, target, n) in returned(fc) {
                    let bit = 1 << (kind as usize * TARGETS + target.index());
                    if seen & bit != 0 {
                        let text = format!("{} credits of {target:?} stand twice in one Control half", kind.name());
                        found.push(Violation::at_byte("UAL-CRD-04", at, "two fields", "one field", text));
                    }
                    seen |= bit;
                    found.extend(self.purse.receive(kind, target, n));
                }
            } else if let Some(held) = held(&placed.field, &self.config.codec, self.epoch) {
                transactions[held.class.index()] += 1;
                if !self.purse.is_open() {
                    let text = "a transaction is received before all initial credits";
                    let layout = placed.field.def().name;
                    found.push(Violation::at_byte("UAL-CRD-05", at, layout, "credits, then message 0x01", text));
                }
                found.extend(self.stock.accept(held.class, held.target, held.beats));
            }
            found.into_iter().for_each(|violation| self.event(violation));
        }
        transactions
    }
}
