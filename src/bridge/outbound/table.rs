//! The table of outbound transactions: its entries, their identifiers, and what is reserved with them (`bridge` §7).
//!
//! Modelled: entries with four children, whose CXL.mem tag is the entry times 4 and the child; 8 entries for each virtual channel, and for
//! the hairpin if there is one, that nobody else can take; entries that stay taken until answers that nobody waits for have come. Left out: what an entry is for.
//!
//! A walk: a request of channel 1 comes, all entries but the reserved ones are taken, so it gets one of those of its channel; it is
//! answered, its entry is free again.

use super::transaction::{Child, Transaction};

/// Most entries: tags of CXL.mem have 16 bits, and CQIDs, which would have the same value, 12 (`bridge` §7).
pub const MOST_ENTRIES: usize = 1024;
/// Classes of requests: virtual channels of UALink; of NVLink two of them are in use.
pub const CHANNELS: usize = 4;
/// The class of requests to memory of the own cluster, whatever their channel.
pub const HAIRPIN: usize = CHANNELS;
/// Entries that each class has for itself (`bridge` §7).
pub const RESERVED: usize = 8;
/// Fewest entries of a table without a hairpin: those that are reserved.
pub const FEWEST_ENTRIES: usize = CHANNELS * RESERVED;
/// The same of a table with a hairpin.
pub const FEWEST_WITH_HAIRPIN: usize = FEWEST_ENTRIES + RESERVED;

/// A child of an entry: what is done to one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChildId {
    /// Its entry.
    pub entry: u16,
    /// 0 to 3.
    pub child: u8,
}

impl ChildId {
    /// Tag of its messages.
    pub fn tag(self) -> u16 {
        4 * self.entry + u16::from(self.child)
    }

    /// The child of a tag.
    pub fn of_tag(tag: u16) -> ChildId {
        ChildId { entry: tag / 4, child: (tag % 4) as u8 }
    }
}

/// Entries.
#[derive(Debug, Clone, Hash)]
pub struct TransactionTable {
    entries: Vec<Option<Box<Transaction>>>,
    /// Entries that are free; the one that came back last is taken last, so that a late answer is seen.
    free: std::collections::VecDeque<u16>,
    /// Entries in use, by class.
    used: [usize; CHANNELS + 1],
    /// Entries that are reserved for one class or another.
    reserved: usize,
}

impl TransactionTable {
    /// A table without transactions, which has entries for a hairpin alone or not.
    pub fn new(entries: usize, has_hairpin: bool) -> TransactionTable {
        TransactionTable {
            entries: (0..entries).map(|_| None).collect(),
            free: (0..entries as u16).collect(),
            used: [0; CHANNELS + 1],
            reserved: if has_hairpin { FEWEST_WITH_HAIRPIN } else { FEWEST_ENTRIES },
        }
    }

    /// Whether a request of a class can have an entry.
    pub fn has_room(&self, class: usize) -> bool {
        let shared = self.entries.len().saturating_sub(self.reserved);
        let taken: usize = self.used.iter().map(|used| used.saturating_sub(RESERVED)).sum();
        self.used[class] < RESERVED || taken < shared
    }

    /// Gives a transaction of a class an entry; `None`: there is no room.
    pub fn insert(&mut self, class: usize, transaction: Transaction) -> Option<u16> {
        let entry = self.has_room(class).then(|| self.free.pop_front()).flatten()?;
        self.used[class] += 1;
        self.entries[usize::from(entry)] = Some(Box::new(transaction));
        Some(entry)
    }

    /// A transaction.
    pub fn get(&self, entry: u16) -> Option<&Transaction> {
        self.entries.get(usize::from(entry))?.as_deref()
    }

    /// A child.
    pub fn child(&self, id: ChildId) -> Option<&Child> {
        self.get(id.entry)?.children.get(usize::from(id.child))
    }

    /// A transaction, to change it.
    pub fn get_mut(&mut self, entry: u16) -> Option<&mut Transaction> {
        self.entries.get_mut(usize::from(entry))?.as_deref_mut()
    }

    /// Frees an entry.
    pub fn remove(&mut self, entry: u16, class: usize) {
        if self.entries.get_mut(usize::from(entry)).and_then(Option::take).is_some() {
            self.used[class] -= 1;
            self.free.push_back(entry);
        }
    }

    /// Entries in use, ascending.
    pub fn numbers(&self) -> Vec<u16> {
        (0u16..).zip(&self.entries).filter(|(_, entry)| entry.is_some()).map(|(n, _)| n).collect()
    }

    /// All transactions that have an entry.
    pub fn all(&self) -> impl Iterator<Item = &Transaction> {
        self.entries.iter().flatten().map(|transaction| &**transaction)
    }

    /// The same, to change them.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Transaction> {
        self.entries.iter_mut().flatten().map(|transaction| &mut **transaction)
    }

    /// Entries in use.
    pub fn count(&self) -> usize {
        self.used.iter().sum()
    }
}
