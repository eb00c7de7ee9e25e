//! Transactions inside a switch, by value: those in the pipeline and those that wait lie side by side.
//!
//! Modelled: nothing of the hardware. With the latency of a switch there are a hundred of them for each port, and each would
//! take memory of its own. A field is kept as its bits, data that a source makes as their position in it, data that count up
//! as their first word. Left out: what few have, byte enables, tags, poison and other data; those keep their form.
//!
//! A walk: a transaction that comes in is taken apart, and its source is noted under its number; when it leaves, it is put
//! together again from its bits and from the source of that number.

use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::halves::{HalfSource, Halves};
use scalepool_protocols::ualink::spare::SpareBoxes;
use scalepool_protocols::ualink::unpack::{MaybeAddress, Transfer};
use scalepool_protocols::wire::Wire;
use std::sync::Arc;

/// A transaction at rest, in 24 bytes.
#[derive(Debug, Clone)]
pub(super) enum Resting {
    /// A request without data, or with so many halves of a source from a position on. It has its address in the field.
    Request {
        count: u8,
        source: u16,
        position: u32,
        /// Its field, lower word first.
        bits: [u64; 2],
    },
    /// A response with so many halves of a source.
    Response { count: u8, source: u16, position: u32, bits: u64 },
    /// A response whose data count up from a first word, so many halves; none is a response without data.
    Counting { count: u8, bits: u64, first: u64 },
    /// Any other.
    Whole(Box<Transfer>),
}

/// Who makes the data of transactions at rest.
#[derive(Debug, Clone, Default)]
pub(super) struct RestingSources {
    /// By number.
    sources: Vec<Option<Arc<HalfSource>>>,
    /// What transactions came in goes with those that leave.
    spare: SpareBoxes<Transfer>,
}

fn address_of(field: &ControlField) -> MaybeAddress {
    match field {
        ControlField::Request(req) => req.address.into(),
        _ => MaybeAddress::NONE,
    }
}

impl RestingSources {
    /// The number under which a source can be found again; `None`: another one has it.
    fn note(&mut self, source: &Arc<HalfSource>) -> Option<u16> {
        let number = source.number();
        if self.sources.len() <= usize::from(number) {
            self.sources.resize(usize::from(number) + 1, None);
        }
        let known = self.sources[usize::from(number)].get_or_insert_with(|| source.clone());
        Arc::ptr_eq(known, source).then_some(number)
    }

    /// Takes a transaction apart.
    pub fn rest(&mut self, transfer: Box<Transfer>) -> Resting {
        match self.taken_apart(&transfer) {
            Some(resting) => {
                self.spare.keep(transfer);
                resting
            }
            None => Resting::Whole(transfer),
        }
    }

    fn taken_apart(&mut self, transfer: &Transfer) -> Option<Resting> {
        let Transfer { field, address, data, poisoned, enables, auth_tag } = transfer;
        if *poisoned != 0 || enables.is_some() || *auth_tag != 0 || *address != address_of(field) {
            return None;
        }
        let count = u8::try_from(data.len()).ok()?;
        let (source, position) = match data.source() {
            Some((source, position)) => (Some(self.note(source)?), position),
            None => (None, 0),
        };
        Some(match (field, source) {
            (ControlField::Request(req), source) if source.is_some() || count == 0 => {
                let bits = bits_of(req)?;
                let (source, bits) = (source.unwrap_or(0), [bits as u64, (bits >> 64) as u64]);
                Resting::Request { count, source, position, bits }
            }
            (ControlField::Response(rsp), Some(source)) => {
                Resting::Response { count, source, position, bits: bits_of(rsp)? as u64 }
            }
            (ControlField::Response(rsp), None) => {
                Resting::Counting { count, bits: bits_of(rsp)? as u64, first: data.first_word()? }
            }
            _ => return None,
        })
    }

    fn drawn(&self, source: u16, position: u32, count: u8) -> Halves {
        match self.sources.get(usize::from(source)) {
            Some(Some(source)) if count > 0 => Halves::drawn(source.clone(), position, count),
            _ => Halves::NONE,
        }
    }

    /// Puts a transaction together.
    pub fn transfer(&mut self, resting: Resting) -> Box<Transfer> {
        let (field, data) = match resting {
            Resting::Request { count, source, position, bits: [low, high] } => {
                let req = TlReq::from_bits(u128::from(high) << 64 | u128::from(low));
                (ControlField::Request(req), self.drawn(source, position, count))
            }
            Resting::Response { count, source, position, bits } => {
                (ControlField::Response(TlRsp::from_bits(bits.into())), self.drawn(source, position, count))
            }
            Resting::Counting { count, bits, first } => {
                (ControlField::Response(TlRsp::from_bits(bits.into())), Halves::counting(first, count))
            }
            Resting::Whole(transfer) => return transfer,
        };
        self.spare.boxed(Transfer { address: address_of(&field), data, ..Transfer::new(field) })
    }
}

/// The bits of a field, which say all of it.
fn bits_of<F: Wire + PartialEq>(field: &F) -> Option<u128> {
    let bits = field.to_bits().ok()?;
    debug_assert!(F::from_bits(bits) == *field, "each part of a field has its bits");
    Some(bits)
}
