//! Requests and responses to TL flits (`ualink` §9).
//!
//! Modelled: Control halves filled in the order of what is sent, data and byte enables behind them, swap flits,
//! authentication tags, poison, message halves, credits. Left out: credits that a sender needs (see `scalepool::link`).
//!
//! A walk through one TL flit, with P halves to send: P of 2 and more, two of them; P = 1, a Control half and the last
//! one; P = 0, a Control half and tags, or the first half it owes, or nothing. A field that finds no room in a Control
//! half closes it, so fields never overtake each other. Credits have a place at the end of every Control half. A message
//! goes into the upper half of the first TL flit whose upper half holds no tags.

use super::code::HalfType;
use super::config::UalConfig;
use super::content::{TlContent, TlControl, TlHalves, TlUpper};
use super::control::{ControlField, Writer};
use super::field::TlFc;
use super::half::{HALF_BYTES, HALF_SECTORS, Half, MessageHalf, TAGS, TlFlit};
use super::spare::SpareBoxes;
use super::unpack::Transfer;
use crate::wire::FieldError;
use std::collections::VecDeque;
use thiserror::Error;

/// Why a transfer cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PackError {
    /// A part of the field does not fit.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// Credits are not sent as a transfer.
    #[error("transfer: found credits, expected a request or a response")]
    Credits,
    /// The data does not match the field.
    #[error("{layout}: found {found} data halves, expected {expected}")]
    Data {
        /// Layout of the field.
        layout: &'static str,
        /// Halves given.
        found: usize,
        /// Halves that the field owes.
        expected: usize,
    },
    /// Byte enables are missing, or the field has none.
    #[error("{layout}: found {}, expected {}", presence(*found), presence(!found))]
    Enables {
        /// Layout of the field.
        layout: &'static str,
        /// Whether they were given.
        found: bool,
    },
    /// A beat that the transfer does not have is poisoned.
    #[error("{layout}: found poison in beats {found:#x}, expected {beats} beats")]
    Poison {
        /// Layout of the field.
        layout: &'static str,
        /// Bit i: beat i.
        found: u8,
        /// Beats of the transfer.
        beats: usize,
    },
}

const fn presence(there: bool) -> &'static str {
    if there { "byte enables" } else { "no byte enables" }
}

/// Data or byte enables of a transfer whose field has gone.
#[derive(Debug, Clone)]
struct Sending {
    /// The transfer, whose data stay where they are until they go; `None`: it has gone whole, without bytes.
    transfer: Option<Box<Transfer>>,
    /// Halves of data.
    data: u8,
    /// Halves of data and byte enables.
    halves: u8,
    /// Halves that have gone.
    gone: u8,
}

impl Sending {
    fn of(transfer: &Transfer) -> Sending {
        // A transaction has at most 4 beats.
        let data = transfer.data.len() as u8;
        Sending { transfer: None, data, halves: data + u8::from(transfer.enables.is_some()), gone: 0 }
    }
}

/// Sectors of the last TL flit by what they hold; the rest is empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filled {
    /// Requests and responses, byte enables, tags.
    pub fields: usize,
    /// Data.
    pub data: usize,
    /// Credits and messages.
    pub control: usize,
}

/// Makes TL flits of one direction.
#[derive(Debug, Clone)]
pub struct TlPacker {
    config: UalConfig,
    /// Transfers whose field has not gone.
    waiting: VecDeque<Box<Transfer>>,
    sending: VecDeque<Sending>,
    /// Halves that they have to send.
    owed: usize,
    credits: Option<TlFc>,
    messages: VecDeque<MessageHalf>,
    filled: Filled,
    spare: SpareBoxes<TlHalves>,
}

impl TlPacker {
    /// Nothing to send.
    pub const fn new(config: UalConfig) -> TlPacker {
        TlPacker {
            config,
            waiting: VecDeque::new(),
            sending: VecDeque::new(),
            owed: 0,
            credits: None,
            messages: VecDeque::new(),
            filled: Filled { fields: 0, data: 0, control: 0 },
            spare: SpareBoxes::NONE,
        }
    }

    /// Adds a request or response behind those that wait.
    ///
    /// # Errors
    /// It cannot be sent; nothing is added.
    pub fn push(&mut self, transfer: impl Into<Box<Transfer>>) -> Result<(), PackError> {
        let transfer = transfer.into();
        transfer.field.to_bits()?;
        let (owed, layout) = (transfer.field.owed(&self.config), transfer.field.def().name);
        let (found, expected) = (transfer.data.len(), 2 * owed.beats);
        if !transfer.field.is_transaction() {
            return Err(PackError::Credits);
        }
        if found != expected {
            return Err(PackError::Data { layout, found, expected });
        }
        if transfer.enables.is_some() != owed.enables {
            return Err(PackError::Enables { layout, found: !owed.enables });
        }
        if u32::from(transfer.poisoned) >> owed.beats != 0 {
            return Err(PackError::Poison { layout, found: transfer.poisoned, beats: owed.beats });
        }
        self.push_judged(transfer);
        Ok(())
    }

    /// The same with one of which [`TlPacker::push`] would say nothing.
    pub fn push_judged(&mut self, transfer: Box<Transfer>) {
        self.waiting.push_back(transfer);
    }

    /// Sets the credits that the next Control half returns. Gives back those that were set before and not sent yet.
    ///
    /// # Errors
    /// A count does not fit.
    pub fn set_credits(&mut self, credits: TlFc) -> Result<Option<TlFc>, FieldError> {
        use crate::wire::Wire;
        credits.to_bits()?;
        Ok(self.credits.replace(credits))
    }

    /// Adds a message half behind those that wait.
    pub fn push_message(&mut self, message: MessageHalf) {
        self.messages.push_back(message);
    }

    /// Whether there is nothing to send.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.owed == 0 && self.credits.is_none() && self.messages.is_empty()
    }

    /// Data and byte-enable halves that have to be sent.
    pub const fn owed_halves(&self) -> usize {
        self.owed
    }

    /// Requests and responses whose field has not been sent.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// What the TL flit that was packed last holds.
    pub const fn filled(&self) -> Filled {
        self.filled
    }

    /// The next TL flit; `None` when there is nothing to send.
    pub fn pack(&mut self) -> Option<TlFlit> {
        self.filled = Filled::default();
        if self.is_idle() {
            return None;
        }
        let mut flit = TlFlit::default();
        let tags = match self.owed {
            0 | 1 => {
                let (half, tags) = self.control(self.owed == 1);
                flit.halves[0] = half;
                tags
            }
            _ => {
                self.put_due(&mut flit, 0);
                None
            }
        };
        if let Some(tags) = tags {
            flit.halves[1] = tags;
            self.filled.fields += HALF_SECTORS;
        } else if let Some(message) = self.messages.pop_front() {
            flit.halves[1] = message.to_half();
            flit.message[1] = true;
            self.filled.control += HALF_SECTORS;
        } else {
            self.put_due(&mut flit, 1);
        }
        Some(flit)
    }

    /// The same TL flit without its bytes. A packer makes all its TL flits with bytes, or all without.
    pub fn pack_content(&mut self) -> Option<TlContent> {
        self.filled = Filled::default();
        if self.is_idle() {
            return None;
        }
        if let Some(data) = self.pack_data_content() {
            return Some(data);
        }
        let control = if self.owed <= 1 {
            Some(self.control_content(self.owed == 1))
        } else {
            self.next_due();
            None
        };
        let has_tags = self.config.authentication && control.as_ref().is_some_and(|c| c.transfers[0].is_some());
        let upper = if has_tags {
            self.filled.fields += HALF_SECTORS;
            TlUpper::Tags
        } else if let Some(message) = self.messages.pop_front() {
            self.filled.control += HALF_SECTORS;
            TlUpper::Message(Box::new(message))
        } else if self.next_due().is_some() {
            TlUpper::Owed
        } else {
            TlUpper::Nothing
        };
        Some(match (control, upper) {
            (None, TlUpper::Owed) => TlContent::Data(1),
            (control, upper) => TlContent::Other(self.spare.boxed(TlHalves { control, upper })),
        })
    }

    /// The same TL flit if both its halves are data of one transfer; `None`: [`TlPacker::pack_content`] makes it.
    #[inline]
    pub fn pack_data_content(&mut self) -> Option<TlContent> {
        let sending = self.sending.front_mut().filter(|sending| sending.gone + 2 <= sending.data)?;
        if !self.messages.is_empty() {
            return None;
        }
        sending.gone += 2;
        self.owed -= 2;
        self.filled = Filled { fields: 0, data: 2 * HALF_SECTORS, control: 0 };
        Some(TlContent::Data(1))
    }

    /// Takes the box of a TL flit without bytes that has been taken apart.
    pub fn reuse(&mut self, halves: Box<TlHalves>) {
        self.spare.keep(halves);
    }

    /// Counts the next half that is owed; where it stands, if there is one.
    fn next_due(&mut self) -> Option<(u8, Option<&Transfer>)> {
        if self.sending.front()?.gone == self.sending.front()?.halves {
            self.sending.pop_front();
        }
        let sending = self.sending.front_mut()?;
        let n = sending.gone;
        sending.gone += 1;
        self.owed -= 1;
        if n < sending.data {
            self.filled.data += HALF_SECTORS;
        } else {
            self.filled.fields += HALF_SECTORS;
        }
        Some((n, sending.transfer.as_deref()))
    }

    /// The next data half, or nothing.
    fn put_due(&mut self, flit: &mut TlFlit, at: usize) {
        let Some((n, Some(transfer))) = self.next_due() else { return };
        let (half, is_message) = match transfer.data.get(n.into()) {
            Some(_) if transfer.poisoned >> (n / 2) & 1 == 1 => (MessageHalf::new(HalfType::Poison).to_half(), true),
            Some(half) => (half, false),
            None => (transfer.enables.as_deref().copied().unwrap_or_default(), false),
        };
        (flit.halves[at], flit.message[at]) = (half, is_message);
    }

    /// Most transactions of a Control half, whose upper half has tags for so many, or is owed.
    const fn most(&self, swap: bool) -> usize {
        match (self.config.authentication, swap) {
            (true, true) => 0,
            (true, false) => TAGS,
            (false, _) => usize::MAX,
        }
    }

    /// Takes the credits that are to be returned, if they have room.
    fn take_credits(&mut self, writer: &mut Writer) -> Option<TlFc> {
        let credits = self.credits.take()?;
        if writer.put_last(&credits) == Ok(true) {
            self.filled.control += ControlField::FlowControl(credits).sectors();
            return Some(credits);
        }
        self.credits = Some(credits);
        None
    }

    /// The next transfer that waits, if its field has room.
    fn take_next(&mut self, writer: &mut Writer, put: fn(&mut Writer, &ControlField) -> bool) -> Option<Box<Transfer>> {
        if !put(writer, &self.waiting.front()?.field) {
            return None;
        }
        let transfer = self.waiting.pop_front()?;
        self.filled.fields += transfer.field.sectors();
        Some(transfer)
    }

    /// Adds what follows the field of a transfer to what is owed; whether there is anything.
    fn owe(&mut self, sending: Sending) -> bool {
        let owes = sending.halves > 0;
        if owes {
            self.owed += usize::from(sending.halves);
            self.sending.push_back(sending);
        }
        owes
    }

    /// A Control half, and the tags that follow it.
    fn control(&mut self, swap: bool) -> (Half, Option<Half>) {
        let mut writer = Writer::default();
        self.take_credits(&mut writer);
        let most = self.most(swap);
        // The tags of the Control half, lowest field first.
        let (mut count, mut tags) = (0, [0; HALF_BYTES]);
        while count < most
            && let Some(mut transfer) = self.take_next(&mut writer, |writer, field| writer.put(field) == Ok(true))
        {
            if let Some(place) = tags.chunks_exact_mut(8).nth(count) {
                place.copy_from_slice(&transfer.auth_tag.to_le_bytes());
            }
            count += 1;
            let sending = Sending::of(&transfer);
            if transfer.data.drawn_at().is_some() {
                // Its halves go one by one.
                transfer.data.keep_bytes();
            }
            self.owe(Sending { transfer: Some(transfer), ..sending });
        }
        let follow = self.config.authentication && count > 0;
        (writer.half(), follow.then_some(tags))
    }

    /// The same Control half without its bytes.
    fn control_content(&mut self, swap: bool) -> TlControl {
        let mut writer = Writer::default();
        let mut control = TlControl { credits: self.take_credits(&mut writer), ..TlControl::default() };
        for place in control.transfers.iter_mut().take(self.most(swap)) {
            let next = self.take_next(&mut writer, |writer, field| writer.take(field.sectors()));
            let Some(transfer) = next else { break };
            self.owe(Sending::of(&transfer));
            *place = Some(transfer.as_received());
        }
        control
    }
}

/// A transfer of a field and its data.
pub fn with_data(field: ControlField, data: &[[u8; 64]], enables: Option<Half>) -> Transfer {
    let halves = data.as_flattened().as_chunks::<HALF_BYTES>().0;
    Transfer { data: halves.iter().copied().collect(), enables: enables.map(Box::new), ..Transfer::new(field) }
}
