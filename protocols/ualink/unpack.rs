//! Reading a stream of TL flits: what each half is, data joined to its fields (`ualink` §9).
//!
//! Modelled: owed data and byte enables over TL flits, swap flits, authentication tags, message halves, poison, the
//! receiver's address cache. Left out: credits.
//!
//! A walk through one TL flit, with P halves owed before it. P of 2 and more: both halves are data. P = 1: the lower half
//! is Control, the upper one the last data half (a swap). P = 0: the lower half is Control; the upper one holds tags
//! (authentication on and the Control has requests or responses), else the first half that the Control owes, else
//! nothing. A message half delays all of this by a half; of a lower half that would be Control, the Control moves on.

use super::code::HalfType;
use super::compress::{AddressCache, CompressionRole};
use super::config::UalConfig;
use super::control::{self, Control, ControlField, Placed};
use super::half::{HALF_BYTES, Half, MessageHalf, TAGS, TlFlit};
use super::halves::Halves;
use crate::wire::Violation;
use std::collections::VecDeque;

/// A request or response with everything that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// The field.
    pub field: ControlField,
    /// Byte address of a request, from the address cache if it is compressed; none when the cache has none.
    pub address: MaybeAddress,
    /// Data halves, two a beat.
    pub data: Halves,
    /// Bit i: beat i is known to be wrong.
    pub poisoned: u8,
    /// Byte enables: bit i of the half enables byte i of the block. Few have any, and thousands wait in queues, so they do not
    /// take room in those that have none.
    pub enables: Option<Box<Half>>,
    /// Authentication tag; 0 without authentication.
    pub auth_tag: u64,
}

/// A byte address of 57 bits, or none, in 8 bytes: thousands of transactions wait in queues, which an `Option` would make
/// larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaybeAddress(u64);

impl MaybeAddress {
    /// None: more than an address.
    pub const NONE: MaybeAddress = MaybeAddress(u64::MAX);

    /// The address, if there is one.
    pub fn get(self) -> Option<u64> {
        (self != MaybeAddress::NONE).then_some(self.0)
    }
}

impl From<u64> for MaybeAddress {
    fn from(address: u64) -> MaybeAddress {
        MaybeAddress(address)
    }
}

impl From<Option<u64>> for MaybeAddress {
    fn from(address: Option<u64>) -> MaybeAddress {
        address.map_or(MaybeAddress::NONE, MaybeAddress)
    }
}

impl Transfer {
    /// A field without data, or whose data is added later.
    pub const fn new(field: ControlField) -> Transfer {
        Transfer { field, address: MaybeAddress::NONE, data: Halves::NONE, poisoned: 0, enables: None, auth_tag: 0 }
    }
}

/// What a half is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HalfRole {
    /// Fields.
    Control,
    /// Data of the field that is owed first.
    Data,
    /// In place of data that is known to be wrong.
    Poison,
    /// Byte enables.
    Enables,
    /// Authentication tags.
    Tags,
    /// A message.
    Message(MessageHalf),
    /// Nothing is owed.
    Nothing,
}

/// A TL flit, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlRead {
    /// What its halves are.
    pub roles: [HalfRole; 2],
    /// The Control half, if there is one.
    pub control: Option<Control>,
    /// What is wrong; places are bytes of the TL flit.
    pub violations: Vec<Violation>,
    /// Requests and responses that are whole now, in order of their fields.
    pub delivered: Vec<Box<Transfer>>,
}

/// A transfer whose data is still coming.
#[derive(Debug, Clone)]
struct OpenTransfer {
    transfer: Box<Transfer>,
    /// Data halves in all.
    data: usize,
    /// Halves still to come.
    left: usize,
}

/// Takes a stream of TL flits of one direction apart.
#[derive(Debug, Clone)]
pub struct TlUnpacker {
    config: UalConfig,
    cache: AddressCache,
    open: VecDeque<OpenTransfer>,
    /// Halves owed by all that is open.
    owed: usize,
    /// Of those that are open, so many from the first one on are owed nothing more.
    whole: usize,
    /// Room of a read that is over: no TL flit asks for memory. Transactions go on as they are, so they stay in their boxes.
    #[allow(clippy::vec_box)]
    spare: (Vec<Placed>, Vec<Box<Transfer>>),
}

impl TlUnpacker {
    /// A stream of which nothing has been read.
    pub const fn new(config: UalConfig, role: CompressionRole) -> TlUnpacker {
        TlUnpacker {
            config,
            cache: AddressCache::new(role),
            open: VecDeque::new(),
            owed: 0,
            whole: 0,
            spare: (Vec::new(), Vec::new()),
        }
    }

    /// Data and byte-enable halves that are still to come.
    pub const fn owed_halves(&self) -> usize {
        self.owed
    }

    /// Takes the next TL flit.
    pub fn read(&mut self, flit: &TlFlit) -> TlRead {
        let delivered = std::mem::take(&mut self.spare.1);
        let mut read = TlRead { roles: [HalfRole::Nothing; 2], control: None, violations: Vec::new(), delivered };
        let swap = self.owed == 1;
        // Transfers of this Control, which its tags belong to.
        let mut fresh = 0..0;
        read.roles[0] = match (flit.message[0], self.owed >= 2) {
            (true, data) => self.message(flit, 0, data, &mut read.violations),
            (false, true) => self.data(&flit.halves[0], 0, false, &mut read.violations),
            (false, false) => {
                let before = self.open.len();
                let control = self.control(&flit.halves[0], swap, &mut read.violations);
                fresh = before..self.open.len();
                read.control = Some(control);
                HalfRole::Control
            }
        };
        let tags = self.config.authentication && !swap && !fresh.is_empty();
        read.roles[1] = match flit.message[1] {
            true if tags => {
                read.violations.push(Violation::at_byte(
                    "UAL-SQN-10",
                    HALF_BYTES,
                    "a message",
                    "tags",
                    "a message half replaces authentication tags",
                ));
                HalfRole::Message(MessageHalf::from_half(&flit.halves[1]))
            }
            false if tags => self.tags(&flit.halves[1], fresh, &mut read.violations),
            true => self.message(flit, 1, self.owed > 0, &mut read.violations),
            false if self.owed > 0 => self.data(&flit.halves[1], 1, false, &mut read.violations),
            false => {
                nothing(&flit.halves[1], &mut read.violations);
                HalfRole::Nothing
            }
        };
        while let Some(whole) = self.next_whole() {
            read.delivered.push(whole);
        }
        read
    }

    /// Takes the next TL flit if it is data alone, of which nothing can be wrong: most are, and take 167 instructions.
    /// `false`: it has to be read, which takes 3,000 of a Control half and what follows.
    pub fn take_data(&mut self, flit: &TlFlit) -> bool {
        self.pass_whole();
        let is_poisoned = self.open.get(self.whole).is_none_or(|open| open.transfer.poisoned != 0);
        if self.owed < 2 || flit.message != [false; 2] || is_poisoned {
            return false;
        }
        self.owed -= 2;
        for half in &flit.halves {
            self.pass_whole();
            let Some(open) = self.open.get_mut(self.whole) else { break };
            open.left -= 1;
            if open.transfer.data.len() == open.data {
                open.transfer.enables = Some(Box::new(*half));
            } else {
                open.transfer.data.push(*half, open.data);
            }
        }
        true
    }

    /// The next request or response that is whole, behind [`TlUnpacker::take_data`].
    pub fn next_whole(&mut self) -> Option<Box<Transfer>> {
        let whole = if self.open.front()?.left == 0 { self.open.pop_front()? } else { return None };
        self.whole = self.whole.saturating_sub(1);
        Some(whole.transfer)
    }

    /// Begins a request or response that comes with all its data, without bytes; halves follow as it owes them.
    pub fn begin(&mut self, transfer: Box<Transfer>) {
        let owed = transfer.field.owed(&self.config);
        self.owed += owed.halves();
        self.open.push_back(OpenTransfer { transfer, data: 2 * owed.beats, left: owed.halves() });
    }

    /// So many halves that were owed have come, of transactions that were begun by [`TlUnpacker::begin`].
    pub fn take_owed(&mut self, halves: usize) {
        let mut come = halves.min(self.owed);
        self.owed -= come;
        while come > 0 {
            self.pass_whole();
            let Some(open) = self.open.get_mut(self.whole) else { break };
            let taken = come.min(open.left);
            open.left -= taken;
            come -= taken;
        }
    }

    /// Finds the first one that is owed something.
    fn pass_whole(&mut self) {
        while self.open.get(self.whole).is_some_and(|open| open.left == 0) {
            self.whole += 1;
        }
    }

    /// Takes the room of a read back that nobody looks at any more.
    pub fn reuse(&mut self, read: TlRead) {
        let TlRead { control, mut delivered, .. } = read;
        delivered.clear();
        self.spare.1 = delivered;
        if let Some(Control { mut fields, .. }) = control {
            fields.clear();
            self.spare.0 = fields;
        }
    }

    fn control(&mut self, half: &Half, swap: bool, violations: &mut Vec<Violation>) -> Control {
        let mut control = Control { fields: std::mem::take(&mut self.spare.0), violations: Vec::new() };
        control.read(half);
        for placed in &control.fields {
            let at = 4 * placed.sector;
            let mut transfer = Transfer::new(placed.field);
            match &placed.field {
                ControlField::FlowControl(_) => continue,
                ControlField::Request(req) => {
                    self.cache.load(req);
                    transfer.address = req.address.into();
                }
                ControlField::CompressedRequest(req) => {
                    transfer.address = self.cache.address(req).into();
                    if transfer.address == MaybeAddress::NONE && req.cmd.name().is_some() {
                        control.violations.push(Violation::at_byte(
                            "UAL-CAC-01",
                            at,
                            format!("way {} of row {}", req.cway, self.cache.row(req.src, req.dst)),
                            "a way that a CLOAD has filled",
                            "a compressed request names a way of the address cache that was never loaded",
                        ));
                    }
                }
                _ => {}
            }
            let owed = placed.field.owed(&self.config);
            self.owed += owed.halves();
            self.open.push_back(OpenTransfer {
                transfer: Box::new(transfer),
                data: 2 * owed.beats,
                left: owed.halves(),
            });
        }
        if self.config.encryption {
            control.violations.retain(|violation| violation.rule != "UAL-SIZ-02");
        }
        let transactions = control.transactions();
        let most = if swap { 0 } else { TAGS };
        if self.config.authentication && transactions > most {
            control.violations.push(Violation::at_byte(
                "UAL-SQN-04",
                0,
                format!("{transactions} requests and responses"),
                format!("at most {most}"),
                if swap {
                    "a TL flit with swapped halves holds transactions although it has no room for tags"
                } else {
                    "the Control half holds more transactions than there are tags for"
                },
            ));
        }
        violations.extend_from_slice(&control.violations);
        control
    }

    /// A data or byte-enable half; `poison` stands in its place.
    fn data(&mut self, half: &Half, n: usize, poison: bool, violations: &mut Vec<Violation>) -> HalfRole {
        self.pass_whole();
        let Some(open) = self.open.get_mut(self.whole) else { return HalfRole::Nothing };
        self.owed -= 1;
        open.left -= 1;
        let transfer = &mut open.transfer;
        let mut broken = |found: &str, expected: &str, text: &str| {
            violations.push(Violation::at_byte("UAL-SQN-09", n * HALF_BYTES, found, expected, text));
        };
        let index = transfer.data.len();
        if index == open.data {
            if poison {
                broken("poison", "byte enables", "poison replaces byte enables");
            }
            transfer.enables = Some(Box::new(*half));
            return HalfRole::Enables;
        }
        let bit = 1 << (index / 2);
        let first_was = transfer.poisoned & bit != 0;
        if index % 2 == 1 && first_was != poison {
            let (found, expected) = if poison { ("poison", "data") } else { ("data", "poison") };
            broken(found, expected, "poison replaces only one half of a beat");
        }
        if poison {
            transfer.poisoned |= bit;
        }
        transfer.data.push(*half, open.data);
        if poison { HalfRole::Poison } else { HalfRole::Data }
    }

    /// A half whose indicator is set; `data` says whether a data half is due.
    fn message(&mut self, flit: &TlFlit, n: usize, data: bool, violations: &mut Vec<Violation>) -> HalfRole {
        let half = &flit.halves[n];
        let message = MessageHalf::from_half(half);
        let at = n * HALF_BYTES;
        match message.kind {
            HalfType::Poison if data => return self.data(half, n, true, violations),
            HalfType::Poison => {
                let text = "poison is sent where no data is due";
                violations.push(Violation::at_byte("UAL-SQN-09", at, "poison", "no poison", text));
            }
            kind if kind.name().is_none() => {
                let found = format!("type {:#04x}", kind.0);
                let text = "a message half of an unlisted type is ignored";
                violations.push(Violation::at_byte("UAL-SQN-08", at, found, "0x00, 0x01 or 0x20", text));
            }
            _ => {}
        }
        HalfRole::Message(message)
    }

    /// Tags: the lowest one belongs to the lowest field.
    fn tags(&mut self, half: &Half, fresh: std::ops::Range<usize>, violations: &mut Vec<Violation>) -> HalfRole {
        let used = fresh.len().min(TAGS);
        for (open, tag) in self.open.range_mut(fresh).zip(half.chunks_exact(8)) {
            open.transfer.auth_tag = tag.iter().rev().fold(0, |tag, &byte| tag << 8 | u64::from(byte));
        }
        if half[8 * used..].iter().any(|&b| b != 0) {
            let at = HALF_BYTES + 8 * used;
            violations.push(Violation::at_byte("UAL-SQN-04", at, "not 0", "0", "a tag without a transaction is not 0"));
        }
        HalfRole::Tags
    }
}

/// Judges an upper half to which nothing is owed.
fn nothing(half: &Half, violations: &mut Vec<Violation>) {
    if *half == [0; HALF_BYTES] {
        return;
    }
    let second = control::read(half);
    let (rule, text) = match second.violations.is_empty() {
        true => ("UAL-TLF-05", "the upper half is a second Control half"),
        false => ("UAL-SQN-01", "the upper half is not 0 although nothing is owed to it"),
    };
    violations.push(Violation::at_byte(rule, HALF_BYTES, "not 0", "0", text));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the word in front of it that an allocator takes, it fits into 96 bytes: thousands of them are under way.
    #[test]
    fn a_transfer_takes_little() {
        assert_eq!(size_of::<Transfer>(), 80);
        assert!(MaybeAddress::from(None).get().is_none() && MaybeAddress::from(0).get() == Some(0));
    }
}
