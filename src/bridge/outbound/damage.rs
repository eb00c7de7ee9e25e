//! Errors of the memory of the cache, and what becomes of the bridge (`bridge` §8.1, §9.1).
//!
//! Modelled: a read of a sector whose error the code corrects goes on; a clean sector that it cannot correct is dropped and asked for again,
//! as one that was never there; a dirty one, whose bytes are nowhere else, is poisoned from then on. Tags in HBM that cannot be corrected may
//! belong to any line, so all ports of CXL.mem and CXL.cache of the bridge go viral: requests end with status 2, and what is still written
//! back is poison; CXL.io, of which nothing is in the cache, goes on. A write
//! of a whole sector reads nothing, and finds no error. Three or more bits of one word may look like a single one: the code then makes a wrong
//! word of them, counts a correction, and the sector holds that word from then on. Left out: what takes a bridge out of viral, which is a
//! reset; tags that are wrong behind such a correction, or that no code protects: they are counted, and the lines are found all the same.
//!
//! A walk: a sector is in E, two of its bits have flipped; a read finds it, its bytes are read in vain, the sector is in I, and MemRd
//! Shared/SnpData leaves; the home, which has the bridge as its owner, grants the line anew.

use super::table::ChildId;
use super::transaction::CachedStage;
use super::{BridgeOutput, BridgeStep, OutboundBridge};
use crate::cache::cells::CacheCells;
use crate::cache::data::{PortLine, Sector};
use crate::cache::sector::SectorState;
use crate::flows::LineOperation;
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_coherence::message::Msg;
use scalepool_memory::ecc::EccOutcome;
use scalepool_protocols::ualink::code::Status;

impl OutboundBridge {
    /// Cells of the memory of the cache, to flip bits of them; `None`: they never flip.
    pub fn cells_mut(&mut self) -> Option<&mut CacheCells> {
        self.cells.as_mut()
    }

    /// A bit of the sector to which an address leads flips, if it is in the cache; registers count it.
    pub(super) fn flip_at(&mut self, address: u64, bit: usize) {
        let route = self.config.windows.translated(address);
        let place = route.map(|route| (route.port, LineAddr::of_address(route.address)));
        let in_hbm = self
            .cache
            .as_ref()
            .zip(place)
            .and_then(|(cache, place)| cache.hbm_address(place).filter(|_| cache.state(place).is_valid()));
        let has_flipped = self.cells.as_mut().zip(in_hbm).is_some_and(|(cells, at)| cells.flip_one(at, bit));
        if let Some(registers) = &mut self.registers {
            registers.flipped(has_flipped);
        }
    }

    /// Whether its CXL ports are viral.
    pub fn is_viral(&self) -> bool {
        self.is_viral
    }

    /// Its CXL ports go viral.
    pub(super) fn go_viral(&mut self, out: &mut BridgeOutput) {
        if !std::mem::replace(&mut self.is_viral, true) {
            out.steps.push(BridgeStep::Viral);
        }
    }

    /// A child of a viral bridge ends; whether it has.
    pub(super) fn ends_by_viral(&mut self, id: ChildId, out: &mut BridgeOutput) -> bool {
        // A line that a host has granted is given back all the same.
        let is_owned = self.child_of(id).is_some_and(|child| child.host.copy.is_some());
        if self.is_viral && !is_owned {
            self.end(id, Some(Status::TargetAbort));
            self.release(id, out);
        }
        self.is_viral && !is_owned
    }

    /// A message as it leaves: a viral bridge writes poison.
    pub(super) fn as_viral(&self, mut msg: Msg<CacheLine>) -> Msg<CacheLine> {
        if let (true, Msg::M2sRwd { data, .. } | Msg::D2hData { data, .. }) = (self.is_viral, &mut msg) {
            data.poison = true;
        }
        msg
    }

    /// The tags of a set are read from HBM.
    pub(super) fn read_tags(&mut self, address: u64, out: &mut BridgeOutput) {
        let Some(cells) = &mut self.cells else { return };
        match cells.read(address, &[0; 64]).1 {
            EccOutcome::Good => (),
            EccOutcome::Corrected => self.cache_counts.corrected += 1,
            EccOutcome::Uncorrectable => {
                self.cache_counts.lost_tags += 1;
                self.go_viral(out);
            }
        }
    }

    /// The bytes of a sector are read from HBM for an access or a write back; `None`: it is clean and lost.
    pub(super) fn read_sector(
        &mut self,
        place: PortLine,
        sector: Sector,
        address: u64,
        out: &mut BridgeOutput,
    ) -> Option<CacheLine> {
        let Some(cells) = &mut self.cells else { return Some(sector.line) };
        let (bytes, outcome) = cells.read(address, &sector.line.bytes);
        let line = CacheLine { bytes, ..sector.line };
        match outcome {
            EccOutcome::Good => Some(line),
            EccOutcome::Corrected => {
                self.cache_counts.corrected += 1;
                // What is read is what is written anew, even where it is wrong: with three bits of one word the code takes it for another word.
                let is_there = self.cache.as_ref().is_some_and(|cache| cache.state(place).is_valid());
                if is_there && line.bytes != sector.line.bytes {
                    self.change(place, Sector { line, ..sector }, false, out);
                }
                Some(line)
            }
            EccOutcome::Uncorrectable if sector.state.is_dirty() => {
                self.cache_counts.lost_dirty += 1;
                let line = CacheLine { poison: true, ..sector.line };
                if self.cache.as_ref().is_some_and(|cache| cache.state(place).is_valid()) {
                    // From here on the poison is the newest value of the line, as if it was stored.
                    self.change(place, Sector { line, ..sector }, true, out);
                }
                Some(line)
            }
            EccOutcome::Uncorrectable => None,
        }
    }

    /// What a child reads of its sector in HBM; `None`: it has begun to read a clean sector that is lost.
    pub(super) fn read_for(
        &mut self,
        id: ChildId,
        place: PortLine,
        sector: Sector,
        address: u64,
        out: &mut BridgeOutput,
    ) -> Option<CacheLine> {
        let writes_all = self.child_of(id).is_some_and(|child| child.operation == LineOperation::WriteFull);
        if writes_all || !sector.state.is_valid() {
            return Some(sector.line);
        }
        let line = self.read_sector(place, sector, address, out);
        if line.is_none() {
            self.cache_counts.refetched += 1;
            if let Some(child) = self.child(id) {
                child.cached = Some(CachedStage::Damaged);
            }
            self.access_for(id, address, false, out);
        }
        line
    }

    /// A clean sector is lost: a snoop that waits for its line finds nothing, and the child asks for the line.
    pub(super) fn fetch_again(&mut self, id: ChildId, out: &mut BridgeOutput) {
        let Some(child) = self.child(id) else { return };
        child.cached = Some(CachedStage::Looked);
        let place = (child.port, child.line);
        self.change_state(place, SectorState::Invalid, out);
        if let Some(snoop) = self.locks.get_mut(place).and_then(|lock| lock.snoop.take()) {
            self.answer_snoop(place, snoop, out);
        }
        self.look_up(id, out);
    }
}
