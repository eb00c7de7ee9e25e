//! Ganged links: which link a message takes, and what keeps the stated order (`nvlink` §3, `bridge` §6). Basis: model.
//!
//! The stated order: requests of one requester on one channel to one block of 256 bytes take effect in the order in which
//! they were issued; a FLUSH is answered when all posted writes and atomics that its requester sent before it to the same
//! target are done. Nothing else is ordered. How, our choice: a block has one link, its number modulo the links; posted
//! requests count up in `tag` for each target and link; a FLUSH goes over each link that has carried some, and states their
//! count in address bits 35:4. Multicast writes belong to many targets, so no FLUSH covers them.

use scalepool_ordered::OrderedMap;

/// Bytes of a block, the domain of order: the longest packet (`bridge` §6).
pub const BLOCK_BYTES: u64 = 256;
/// Bits of a local address; those above it choose the target (`nvlink` §5: bits 46:36 select).
pub const LOCAL_BITS: u32 = 36;
/// Tags of the header (`nvlink` §6.1: 10 bits).
pub const TAGS: u64 = 1 << 10;

/// The local part of an address.
pub const fn local(address: u64) -> u64 {
    address & ((1 << LOCAL_BITS) - 1)
}

/// The target of an address.
pub const fn target(address: u64) -> u16 {
    (address >> LOCAL_BITS) as u16
}

/// The address of a target's memory.
pub const fn global(target: u16, local: u64) -> u64 {
    (target as u64) << LOCAL_BITS | local
}

/// Sent and received posted requests, by peer and link.
pub struct LinkGroup {
    links: usize,
    sent: OrderedMap<(u16, usize), u64>,
    flushed: OrderedMap<(u16, usize), u64>,
    received: OrderedMap<(u16, usize), u64>,
}

impl LinkGroup {
    /// A group of this many links.
    pub fn new(links: usize) -> LinkGroup {
        LinkGroup { links, sent: OrderedMap::new(), flushed: OrderedMap::new(), received: OrderedMap::new() }
    }

    /// The link of a local address.
    pub fn link_of(&self, address: u64) -> usize {
        (local(address) / BLOCK_BYTES % self.links as u64) as usize
    }

    /// A posted request goes to a target over a link; the tag it takes.
    pub fn post(&mut self, target: u16, link: usize) -> u16 {
        let count = self.sent.entry((target, link)).or_default();
        *count += 1;
        ((*count - 1) % TAGS) as u16
    }

    /// Links over which a FLUSH to a target has to go, with the count that it states.
    pub fn flush(&mut self, target: u16) -> Vec<(usize, u64)> {
        let sent = self.sent.range((target, 0)..=(target, usize::MAX));
        let due: Vec<(usize, u64)> = sent
            .filter(|(key, count)| self.flushed.get(*key) != Some(*count))
            .map(|(&(_, link), &count)| (link, count))
            .collect();
        self.flushed.extend(due.iter().map(|&(link, count)| ((target, link), count)));
        due
    }

    /// A posted request has come; `Err`: what was expected, as `(link, tag)`.
    pub fn arrived(&mut self, from: u16, link: usize, tag: u16, address: u64) -> Result<(), (usize, u16)> {
        let count = self.received.entry((from, link)).or_default();
        let expected = (*count % TAGS) as u16;
        *count += 1;
        let home = (local(address) / BLOCK_BYTES % self.links as u64) as usize;
        if (link, tag) == (home, expected) { Ok(()) } else { Err((home, expected)) }
    }

    /// Whether so many posted requests have come from a peer over a link.
    pub fn has(&self, from: u16, link: usize, count: u64) -> bool {
        self.received.get(&(from, link)).copied().unwrap_or(0) >= count
    }
}
