//! The bytes of memories: what a completer has, and what an originator expects once all that is open is done.
//!
//! Modelled: each byte that was written, with its poison; the others hold their background. A region that a single write
//! has filled is kept as the position of the generator that has drawn its bytes: 16 bytes for 256. Left out: what
//! others write, in what an originator expects: each originator has regions of its own.
//!
//! A walk: a write that fills a region and comes as a position replaces what stands there by it; a read of such a region
//! gets the same position; any other request puts the bytes of the region into a store first, and takes effect there. A
//! write whose bytes have travelled on a wire comes as bytes, and goes into the store.

use super::completer::{apply, global};
use super::draws::{DrawLogs, Drawn};
use super::read::{BACKGROUND, Read, lines_of};
use crate::first_lines::MemoryBehind;
use scalepool_memory::store::Store;
use scalepool_memory::{ALL_BYTES, LINE_BYTES, LineBytes};
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{REGION_BYTES, TlReq};
use scalepool_protocols::ualink::half::HALF_BYTES;
use scalepool_protocols::ualink::unpack::Transfer;
use std::sync::Arc;

/// Halves of a region.
const REGION_HALVES: u8 = (REGION_BYTES / HALF_BYTES as u64) as u8;

/// Bytes of memories.
pub struct Regions {
    /// Where the bytes of a region were drawn, by its address.
    drawn: OrderedMap<u64, Drawn>,
    /// All others.
    store: Store,
    logs: Arc<DrawLogs>,
    /// Memory behind other nodes, which does not hold at first what memory of those nodes would; `None`: it is no matter here.
    behind: Option<Arc<MemoryBehind>>,
    /// Regions of such memory that hold what it holds at first.
    begun: OrderedSet<u64>,
}

impl Regions {
    /// Memories that nothing has written; what the originators draw that write them is in these logs.
    pub fn new(logs: Arc<DrawLogs>) -> Regions {
        Regions {
            drawn: OrderedMap::new(),
            store: Store::new(BACKGROUND),
            logs,
            behind: None,
            begun: OrderedSet::new(),
        }
    }

    /// What an originator expects of the memories of all nodes, those behind other nodes among them.
    pub fn expected(logs: Arc<DrawLogs>, behind: Arc<MemoryBehind>) -> Regions {
        Regions { behind: Some(behind), ..Regions::new(logs) }
    }

    /// Puts in place what memory behind another node holds at first in the regions that a request touches.
    fn begin(&mut self, owner: u16, req: &TlReq) {
        let Some(lines) = self.behind.as_deref().and_then(|behind| behind.of(owner)) else { return };
        let last = TlReq { address: req.address + 4 * u64::from(req.len), ..*req };
        for req in [*req, last] {
            let (region, first) = (region_of(owner, &req), req.address / REGION_BYTES * REGION_BYTES);
            if self.begun.insert(region) {
                let lines = (0..REGION_BYTES / LINE_BYTES).map_while(|n| lines(first + n * LINE_BYTES));
                self.store.write_lines(region, lines.map(|line| (line, ALL_BYTES, false)));
            }
        }
    }

    /// A request to an accelerator is to take effect: what it is to read.
    pub fn apply(&mut self, owner: u16, request: &Transfer) -> Read {
        let ControlField::Request(req) = &request.field else { return Read::nothing() };
        self.begin(owner, req);
        let region = region_of(owner, req);
        if let Some((originator, position)) = request.data.drawn_at().filter(|_| fills(request)) {
            self.drawn.insert(region, Drawn { originator, position });
            return Read::nothing();
        }
        let was_drawn = self.drawn.get(&region).copied();
        if let Some(drawn) = was_drawn.and_then(|drawn| self.logs.halves(drawn, REGION_HALVES)) {
            let offset = req.address % REGION_BYTES;
            let end = offset + 4 * (u64::from(req.len) + 1);
            if req.cmd == ReqCmd::Read && end <= REGION_BYTES {
                let first = offset / LINE_BYTES;
                return Read::from(drawn).part(first as u8, (end.div_ceil(LINE_BYTES) - first) as u8);
            }
        }
        // Only what is there is looked up again: a flit of `ualink-pod` took 450 instructions more.
        if was_drawn.is_some() {
            self.put_in_store(region);
        }
        // One that breaks its rules touches two regions.
        let last = region_of(owner, &TlReq { address: req.address + 4 * u64::from(req.len), ..*req });
        if last != region {
            self.put_in_store(last);
        }
        apply(&mut self.store, owner, request)
    }

    /// The bytes of a region go into the store.
    fn put_in_store(&mut self, region: u64) {
        if let Some(drawn) = self.drawn.remove(&region).and_then(|drawn| self.logs.halves(drawn, REGION_HALVES)) {
            self.store.write_lines(region, lines_of(&drawn).map(|line| (line, ALL_BYTES, false)));
        }
    }

    /// A line, by its address among the memories of all, holds these bytes.
    pub fn set_line(&mut self, line: u64, (bytes, poison): (LineBytes, bool)) {
        self.put_in_store(line / REGION_BYTES * REGION_BYTES);
        self.store.write_line(line, &bytes, ALL_BYTES, poison);
    }
}

fn region_of(owner: u16, req: &TlReq) -> u64 {
    global(owner, req.address / REGION_BYTES * REGION_BYTES)
}

/// Whether a request writes all bytes of a region.
fn fills(request: &Transfer) -> bool {
    let ControlField::Request(req) = &request.field else { return false };
    let bytes = 4 * (u64::from(req.len) + 1);
    req.cmd == ReqCmd::WriteFull
        && req.address.is_multiple_of(REGION_BYTES)
        && bytes == REGION_BYTES
        && request.poisoned == 0
        && request.data.len() == usize::from(REGION_HALVES)
}

#[cfg(test)]
mod tests {
    use super::super::draws::Draws;
    use super::*;
    use scalepool_kernel::Rng;

    /// Whatever is written and read in whatever order, it is what a store has that all bytes are written to; also at a
    /// completer to which each eleventh request comes as bytes, and other ones.
    #[test]
    fn drawn_regions_read_as_a_store_does() {
        const OWNER: u16 = 3;
        let mut rng = Rng::from_seed(1);
        let logs = Arc::new(DrawLogs::new(2));
        let mut draws = Draws::new(Rng::from_seed(2), logs.of(1).expect("there are two").clone());
        let (mut expected, mut store) = (Regions::new(logs.clone()), Store::new(BACKGROUND));
        let (mut memory, mut other) = (Regions::new(logs), Store::new(BACKGROUND));
        let (mut read, mut drawn) = (0, 0);
        for n in 0..2000u64 {
            let cmd = [ReqCmd::Read, ReqCmd::WriteFull, ReqCmd::AtomicR, ReqCmd::Read][rng.below(4) as usize];
            let region_lines = REGION_BYTES / LINE_BYTES;
            let first = if rng.ratio(1, 2) { 0 } else { rng.below(region_lines) };
            let lines = if first == 0 && rng.ratio(1, 2) { region_lines } else { 1 };
            let dwords = if cmd.is_atomic() { 2 } else { 16 * lines };
            let address = REGION_BYTES * rng.below(4) + LINE_BYTES * first;
            let numbeats = if cmd == ReqCmd::Read { 0 } else { lines as u8 - 1 };
            let req = TlReq { cmd, address, len: (dwords - 1) as u8, numbeats, ..TlReq::default() };
            let data = draws.halves(if cmd == ReqCmd::Read { 0 } else { 2 * lines as u8 });
            let enables = cmd.is_atomic().then(|| Box::new([0xff; 32]));
            let poisoned = u8::from(cmd == ReqCmd::WriteFull && n.is_multiple_of(7));
            let request = Transfer { poisoned, data, enables, ..Transfer::new(ControlField::Request(req)) };
            let is = expected.apply(OWNER, &request);
            assert_eq!(is, apply(&mut store, OWNER, &request), "{n}: {req:?}");
            assert_eq!(is.lines(0).count(), usize::from(is.beats()));
            read += usize::from(is.beats());
            drawn += usize::from(is.data.drawn_at().is_some());
            let mut came = request;
            if n.is_multiple_of(11) {
                came.data.change(|data| data.iter_mut().for_each(|half| half[0] ^= 1));
            }
            let (is, want) = (memory.apply(OWNER, &came), apply(&mut other, OWNER, &came));
            assert_eq!(is, want, "{n}: {req:?}");
        }
        assert!(read > 1000 && drawn > 100, "{read} beats, {drawn} reads of regions that are drawn anew");
    }
}
