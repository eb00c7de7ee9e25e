//! Requests and responses to TL flits (`ualink` §9).
//!
//! Modelled: Control halves filled in the order of what is sent, data and byte enables behind them, swap flits,
//! authentication tags, poison, message halves, credits. Left out: credits that a sender needs (see `scalepool::link`).
//!
//! A walk through one TL flit, with P halves to send: P of 2 and more, two of them; P = 1, a Control half and the last
//! one; P = 0, a Control half and tags, or the first half it owes, or nothing. A field that finds no room in a Control
//! half closes it, so fields never overtake each other. Credits have a place at the end of every Control half. A message
//! goes into the upper half of the first TL flit whose upper half holds no tags.

use super::config::UalConfig;
use super::control::{Field, Writer};
use super::field::TlFc;
use super::half::{HALF_SECTORS, Half, MessageHalf, TAGS, TlFlit};
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

/// A half to send; poison has its indicator set.
#[derive(Debug, Clone, Copy)]
struct Due {
    half: Half,
    poison: bool,
    enables: bool,
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
    waiting: VecDeque<Transfer>,
    due: VecDeque<Due>,
    credits: Option<TlFc>,
    messages: VecDeque<MessageHalf>,
    filled: Filled,
}

impl TlPacker {
    /// Nothing to send.
    pub const fn new(config: UalConfig) -> TlPacker {
        TlPacker {
            config,
            waiting: VecDeque::new(),
            due: VecDeque::new(),
            credits: None,
            messages: VecDeque::new(),
            filled: Filled { fields: 0, data: 0, control: 0 },
        }
    }

    /// Adds a request or response behind those that wait.
    ///
    /// # Errors
    /// It cannot be sent; nothing is added.
    pub fn push(&mut self, transfer: Transfer) -> Result<(), PackError> {
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
        self.waiting.push_back(transfer);
        Ok(())
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
        self.waiting.is_empty() && self.due.is_empty() && self.credits.is_none() && self.messages.is_empty()
    }

    /// Data and byte-enable halves that have to be sent.
    pub fn owed_halves(&self) -> usize {
        self.due.len()
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
        let tags = match self.due.len() {
            0 | 1 => {
                let (half, tags) = self.control(self.due.len() == 1);
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

    /// The next data half, or nothing.
    fn put_due(&mut self, flit: &mut TlFlit, n: usize) {
        if let Some(due) = self.due.pop_front() {
            flit.halves[n] = due.half;
            flit.message[n] = due.poison;
            *(if due.enables { &mut self.filled.fields } else { &mut self.filled.data }) += HALF_SECTORS;
        }
    }

    /// A Control half, and the tags that follow it.
    fn control(&mut self, swap: bool) -> (Half, Option<Half>) {
        let mut writer = Writer::default();
        if let Some(credits) = self.credits.take() {
            match writer.put_last(&credits) {
                Ok(true) => self.filled.control += Field::FlowControl(credits).sectors(),
                _ => self.credits = Some(credits),
            }
        }
        let most = match (self.config.authentication, swap) {
            (true, true) => 0,
            (true, false) => TAGS,
            (false, _) => usize::MAX,
        };
        let mut tags = Vec::new();
        while tags.len() < most
            && let Some(transfer) = self.waiting.front()
            // Its fields were found to fit when it was added.
            && matches!(writer.put(&transfer.field), Ok(true))
            && let Some(transfer) = self.waiting.pop_front()
        {
            tags.push(transfer.auth_tag);
            self.filled.fields += transfer.field.sectors();
            for (n, half) in transfer.data.into_iter().enumerate() {
                self.due.push_back(Due::data(half, transfer.poisoned >> (n / 2) & 1 == 1));
            }
            self.due.extend(transfer.enables.map(|half| Due { half: *half, poison: false, enables: true }));
        }
        let follow = self.config.authentication && !tags.is_empty();
        (writer.half(), follow.then(|| tag_half(&tags)))
    }
}

impl Due {
    fn data(half: Half, poison: bool) -> Due {
        let half = if poison { MessageHalf::new(super::code::HalfType::Poison).to_half() } else { half };
        Due { half, poison, enables: false }
    }
}

/// The tags of a Control half, lowest field first.
fn tag_half(tags: &[u64]) -> Half {
    let mut half = [0; 32];
    for (place, tag) in half.chunks_exact_mut(8).zip(tags) {
        place.copy_from_slice(&tag.to_le_bytes());
    }
    half
}

/// A transfer of a field and its data.
pub fn with_data(field: Field, data: &[[u8; 64]], enables: Option<Half>) -> Transfer {
    let halves = data.iter().flat_map(|beat| {
        let (low, high) = beat.split_at(32);
        [low, high].map(|half| core::array::from_fn(|k| half[k]))
    });
    Transfer { data: halves.collect(), enables: enables.map(Box::new), ..Transfer::new(field) }
}
