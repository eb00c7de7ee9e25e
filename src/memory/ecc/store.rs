//! A store of bytes whose cells have faults, under the codes of its memory (`memory §6.3`).
//!
//! Modelled: flips of cells since they were written, a dead device whose cells read as ones, what a read then returns, the mark of a line
//! that is lost, counters. Left out: time; an access that the codes add (the read before a partial write, the write behind a
//! correction) is the business of the owner.
//!
//! A walk: a bit of a line flips. A read corrects it on its way and leaves the cells as they are \[D c8\]; the patrol corrects the cells. A
//! write of the whole line replaces data and check bits, and with them the flip; a write of a part reads, corrects, merges and
//! replaces both \[D c9\].
//!
//! Invariant: check bits in the cells are those of the bytes that were last written, up to flips.

use super::line::{EccOutcome, EccScheme, LineCells, LineEcc, OnDieEcc};
use crate::spread::SpreadMap;
use crate::store::{Background, Store, StoredLine};
use crate::{ALL_BYTES, LineBytes, line_address, merge_bytes};

/// How a memory is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EccConfig {
    /// Its codes.
    pub ecc: LineEcc,
    /// A device whose cells read as ones: 0 and 1 hold check symbols, 2 to 9 data.
    pub dead_device: Option<usize>,
}

impl EccConfig {
    /// No code, no fault.
    pub const NONE: EccConfig = EccConfig {
        ecc: LineEcc { scheme: EccScheme::None, on_die: OnDieEcc::None, die_word_bits: 128 },
        dead_device: None,
    };

    /// Whether a write of a part of a line has to read it.
    pub fn reads_before_partial_writes(&self) -> bool {
        self.ecc.scheme != EccScheme::None
    }
}

/// What a memory counts of its codes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EccCounts {
    /// Bits that were flipped from outside.
    pub flips: u64,
    /// Reads of requests that were corrected.
    pub corrected: u64,
    /// Lines that a request found lost; they are marked.
    pub lost: u64,
    /// Lines that the patrol has read.
    pub scrubbed: u64,
    /// Of these, lines that were corrected and written back.
    pub scrub_corrected: u64,
    /// Of these, lines that were lost; they are marked.
    pub scrub_lost: u64,
}

impl EccCounts {
    /// Adds those of another memory.
    pub fn add(&mut self, other: &EccCounts) {
        let EccCounts { flips, corrected, lost, scrubbed, scrub_corrected, scrub_lost } = *other;
        self.flips += flips;
        self.corrected += corrected;
        self.lost += lost;
        self.scrubbed += scrubbed;
        self.scrub_corrected += scrub_corrected;
        self.scrub_lost += scrub_lost;
    }
}

/// The store.
pub struct EccStore {
    store: Store,
    config: EccConfig,
    /// Flips of cells, by address of the line.
    flips: SpreadMap<LineCells>,
    counts: EccCounts,
}

impl EccStore {
    /// A memory that was never written.
    pub fn new(background: Background, config: EccConfig) -> EccStore {
        EccStore { store: Store::new(background), config, flips: SpreadMap::default(), counts: EccCounts::default() }
    }

    /// What it has counted.
    pub fn counts(&self) -> EccCounts {
        self.counts
    }

    /// Inverts a bit in the cells of the line around `address`, see [`CELL_BITS`](super::line::CELL_BITS).
    pub fn flip(&mut self, address: u64, bit: usize) {
        self.flips.entry(line_address(address)).or_default().flip(bit);
        self.counts.flips += 1;
    }

    /// What the cells of a line hold.
    pub fn cells(&self, address: u64) -> LineCells {
        let mut cells = self.config.ecc.encode(&self.store.read_line(address).data);
        if let Some(flips) = self.flips.get(&line_address(address)) {
            cells = cells.with(flips);
        }
        if let Some(device) = self.config.dead_device {
            cells.device_mut(device).fill(0xff);
        }
        cells
    }

    /// Whether the cells of a line hold what was written.
    fn is_sound(&self, address: u64) -> bool {
        self.config.dead_device.is_none() && !self.flips.contains_key(&line_address(address))
    }

    /// What the controller sees of a line, and what it makes of it.
    fn seen(&self, address: u64) -> (StoredLine, EccOutcome) {
        let stored = self.store.read_line(address);
        if self.is_sound(address) {
            return (stored, EccOutcome::Good);
        }
        let ecc = &self.config.ecc;
        let written = ecc.encode(&stored.data);
        let left = ecc.behind_die(&written.with(&self.cells(address)));
        let (data, outcome) = ecc.decode(&written.with(&left));
        (StoredLine { data, poison: stored.poison || outcome == EccOutcome::Uncorrectable }, outcome)
    }

    /// What a read of the line around `address` returns.
    pub fn read_line(&self, address: u64) -> StoredLine {
        self.seen(address).0
    }

    /// Counts what a request finds that reads the line around `address`; a lost line is marked.
    pub fn account_read(&mut self, address: u64) {
        // Nearly all are: no line is read for that.
        if self.is_sound(address) {
            return;
        }
        match self.seen(address).1 {
            EccOutcome::Good => {}
            EccOutcome::Corrected => self.counts.corrected += 1,
            EccOutcome::Uncorrectable => self.counts.lost += u64::from(self.mark(address)),
        }
    }

    /// Marks a lost line; whether it was not marked before.
    fn mark(&mut self, address: u64) -> bool {
        let is_new = !self.store.read_line(address).poison;
        self.store.set_poison(address, true);
        is_new
    }

    /// Writes those bytes of the line around `address` whose bit in `byte_enables` is 1, as [`Store::write_line`] does.
    pub fn write_line(&mut self, address: u64, data: &LineBytes, byte_enables: u64, poison: bool) {
        let at = line_address(address);
        if byte_enables == ALL_BYTES {
            self.flips.remove(&at);
        } else if self.config.reads_before_partial_writes() {
            self.account_read(address);
            self.rewrite(address);
        } else if let Some(flips) = self.flips.get_mut(&at) {
            merge_bytes(&mut flips.data, &[0; 64], byte_enables);
            if flips.is_zero() {
                self.flips.remove(&at);
            }
        }
        self.store.write_line(address, data, byte_enables, poison);
    }

    /// Writes a line back as the controller sees it, with check bits of these data.
    fn rewrite(&mut self, address: u64) {
        let StoredLine { data, poison } = self.read_line(address);
        if self.flips.remove(&line_address(address)).is_some() {
            self.store.write_line(address, &data, ALL_BYTES, poison);
        }
    }

    /// Reads a line for the patrol; whether it is written back.
    pub fn scrub(&mut self, address: u64) -> bool {
        self.counts.scrubbed += 1;
        match self.seen(address).1 {
            EccOutcome::Good => false,
            EccOutcome::Corrected => {
                self.counts.scrub_corrected += 1;
                self.rewrite(address);
                true
            }
            EccOutcome::Uncorrectable => {
                self.counts.scrub_lost += u64::from(self.mark(address));
                false
            }
        }
    }
}
