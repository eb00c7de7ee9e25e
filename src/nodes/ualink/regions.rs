//! The bytes of memories: what a completer has, and what an originator expects once all that is open is done.
//!
//! Modelled: each byte that was written, with its poison; the others hold their background. A region that a single write
//! has filled is kept as the position of the generator that has drawn its bytes: 16 bytes for 256. In a pod of 256 with 500
//! operations an accelerator that takes 36 kB an accelerator off its memory, and 45 kB off what it expects. Left out: what
//! others write, in what an originator expects: each originator has regions of its own.
//!
//! A walk: a write that fills a region replaces what stands there by its position; a read of such a region draws the bytes
//! anew; any other request puts the bytes of the region into a store first, and takes effect there.
//!
//! The position does not travel with a request, its bytes do. So a completer asks what the originator expects for the
//! position, and believes it when all bytes that have come are those that it draws; else it keeps the bytes. Either way
//! they are the bytes that came.

use super::completer::{apply, global, lines};
use super::draws::{Drawn, Draws, Marks};
use super::read::{BACKGROUND, Read, drawn_lines};
use scalepool_kernel::Rng;
use scalepool_memory::store::Store;
use scalepool_memory::{ALL_BYTES, LINE_BYTES, LineBytes};
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{REGION_BYTES, TlReq};
use scalepool_protocols::ualink::unpack::Transfer;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Lines of a region.
const REGION_LINES: u64 = REGION_BYTES / LINE_BYTES;

/// Bytes of memories.
pub struct Regions {
    /// Where the bytes of a region were drawn, by its address.
    drawn: BTreeMap<u64, Drawn>,
    /// All others.
    store: Store,
}

impl Default for Regions {
    fn default() -> Regions {
        Regions { drawn: BTreeMap::new(), store: Store::new(BACKGROUND) }
    }
}

impl Regions {
    /// A request to an accelerator is to take effect, whose data were drawn at a place, if that is known; what it is to read.
    /// `rng` gives the generator as it was at such a place.
    pub fn apply(
        &mut self,
        owner: u16,
        request: &Transfer,
        drawn: Option<Drawn>,
        rng: impl Fn(Drawn) -> Option<Rng>,
    ) -> Read {
        let ControlField::Request(req) = &request.field else { return Read::nothing() };
        let region = region_of(owner, req);
        if let Some(drawn) = drawn.filter(|_| fills(request)) {
            self.drawn.insert(region, drawn);
            return Read::nothing();
        }
        if let Some(from) = self.drawn.get(&region).and_then(|drawn| rng(*drawn)) {
            let offset = req.address % REGION_BYTES;
            let end = offset + 4 * (u64::from(req.len) + 1);
            if req.cmd == ReqCmd::Read && end <= REGION_BYTES {
                let first = offset / LINE_BYTES;
                return Read::drawn(from, first as u8, (end.div_ceil(LINE_BYTES) - first) as u8);
            }
        }
        // One that breaks its rules touches two regions.
        let last = TlReq { address: req.address + 4 * u64::from(req.len), ..*req };
        for region in [region, region_of(owner, &last)] {
            if let Some(from) = self.drawn.remove(&region).and_then(&rng) {
                let lines = drawn_lines(&from).take(REGION_LINES as usize);
                self.store.write_lines(region, lines.map(|line| (line, ALL_BYTES, false)));
            }
        }
        apply(&mut self.store, owner, request)
    }

    /// Where the data of a request were drawn, if it fills a region with just those bytes that are in it here.
    fn drawn_at(&self, owner: u16, request: &Transfer, rng: impl Fn(Drawn) -> Option<Rng>) -> Option<Drawn> {
        let ControlField::Request(req) = &request.field else { return None };
        let drawn = *self.drawn.get(&region_of(owner, req)).filter(|_| fills(request))?;
        drawn_lines(&rng(drawn)?).zip(lines(request)).all(|(drawn, came)| drawn == came).then_some(drawn)
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
        && lines(request).count() as u64 == REGION_LINES
}

/// What an originator expects, and what it has drawn.
#[derive(Default)]
struct Originator {
    regions: Regions,
    marks: Marks,
    /// Regions of memory behind other nodes that hold what it holds at first.
    begun: BTreeSet<u64>,
}

impl Originator {
    /// Memory that stands behind another node does not hold at first what memory of that node would.
    fn begin(&mut self, owner: u16, request: &Transfer, behind: &LinesBehind) {
        let ControlField::Request(req) = &request.field else { return };
        let last = TlReq { address: req.address + 4 * u64::from(req.len), ..*req };
        for req in [*req, last] {
            let (region, first) = (region_of(owner, &req), req.address / REGION_BYTES * REGION_BYTES);
            if self.begun.insert(region) {
                let lines = (0..REGION_LINES).map_while(|n| behind(first + n * LINE_BYTES));
                self.regions.store.write_lines(region, lines.map(|line| (line, ALL_BYTES, false)));
            }
        }
    }
}

/// What the memory behind another node holds at first: the line at an address of that node; `None`: there is no memory at it.
pub type LinesBehind = Box<dyn Fn(u64) -> Option<LineBytes> + Send + Sync>;

/// What the originators of a fabric expect, by their numbers.
pub struct Expected {
    originators: Vec<Mutex<Originator>>,
    /// Of nodes with memory behind them, by their numbers.
    behind: Vec<OnceLock<LinesBehind>>,
}

impl Expected {
    /// Of so many originators, which have written nothing.
    pub fn new(accelerators: usize) -> Expected {
        Expected {
            originators: (0..accelerators).map(|_| Mutex::default()).collect(),
            behind: (0..accelerators).map(|_| OnceLock::new()).collect(),
        }
    }

    /// A node of this number has no memory of its own, but that of others behind it. What is said twice counts once.
    pub fn stands_in_front(&self, owner: u16, behind: LinesBehind) {
        if let Some(place) = self.behind.get(usize::from(owner)) {
            let _ = place.set(behind);
        }
    }

    /// What one expects; `None`: there is no such accelerator.
    fn of(&self, accelerator: u16) -> Option<MutexGuard<'_, Originator>> {
        Some(self.originators.get(usize::from(accelerator))?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// An originator sends a request to another accelerator, whose data were drawn from there on; what it is to read.
    pub fn issue(&self, originator: u16, owner: u16, request: &Transfer, draws: &Draws) -> Read {
        let Some(mut own) = self.of(originator) else { return Read::nothing() };
        if let Some(behind) = self.behind.get(usize::from(owner)).and_then(OnceLock::get) {
            own.begin(owner, request, behind);
        }
        let Originator { regions, marks, .. } = &mut *own;
        let drawn = if request.data.is_empty() { None } else { marks.mark(draws) };
        let drawn = drawn.map(|position| Drawn { originator, position });
        regions.apply(owner, request, drawn, |drawn| marks.at(drawn.position))
    }

    /// Where the data of a request to an accelerator were drawn, if its originator expects just those bytes.
    pub fn drawn_at(&self, owner: u16, request: &Transfer) -> Option<Drawn> {
        let ControlField::Request(req) = &request.field else { return None };
        let peer = self.of(req.src).filter(|_| !request.data.is_empty())?;
        peer.regions.drawn_at(owner, request, |drawn| peer.marks.at(drawn.position))
    }

    /// A generator as it was at a place.
    pub fn rng(&self, drawn: Drawn) -> Option<Rng> {
        self.of(drawn.originator)?.marks.at(drawn.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scalepool_protocols::ualink::pack::with_data;

    /// Whatever is written and read in whatever order, it is what a store has that all bytes are written to; also at a
    /// completer that learns generators from what is expected, and to which each eleventh request comes with other bytes.
    #[test]
    fn drawn_regions_read_as_a_store_does() {
        const OWNER: u16 = 3;
        let (mut rng, mut store) = (Rng::from_seed(1), Store::new(BACKGROUND));
        let (mut expected, mut memory) = (Regions::default(), Regions::default());
        let mut other = Store::new(BACKGROUND);
        let mut rngs: Vec<Rng> = Vec::new();
        let (mut read, mut drawn, mut learned) = (0, 0, 0);
        for n in 0..2000u64 {
            let cmd = [ReqCmd::Read, ReqCmd::WriteFull, ReqCmd::AtomicR, ReqCmd::Read][rng.below(4) as usize];
            let first = if rng.ratio(1, 2) { 0 } else { rng.below(REGION_LINES) };
            let lines = if first == 0 && rng.ratio(1, 2) { REGION_LINES } else { 1 };
            let dwords = if cmd.is_atomic() { 2 } else { 16 * lines };
            let address = REGION_BYTES * rng.below(4) + LINE_BYTES * first;
            let numbeats = if cmd == ReqCmd::Read { 0 } else { lines as u8 - 1 };
            let req = TlReq { cmd, address, len: (dwords - 1) as u8, numbeats, ..TlReq::default() };
            let from = rng.clone();
            rngs.push(from.clone());
            let at = |drawn: Drawn| rngs.get(drawn.position as usize).cloned();
            let place = Some(Drawn { originator: 0, position: n as u32 });
            let data: Vec<_> = drawn_lines(&from).take(if cmd == ReqCmd::Read { 0 } else { lines as usize }).collect();
            rng.next_u64();
            let enables = cmd.is_atomic().then_some([0xff; 32]);
            let poisoned = u8::from(cmd == ReqCmd::WriteFull && n.is_multiple_of(7));
            let request = Transfer { poisoned, ..with_data(ControlField::Request(req), &data, enables) };
            drawn += usize::from(
                cmd == ReqCmd::Read
                    && expected.drawn.contains_key(&global(OWNER, address / REGION_BYTES * REGION_BYTES)),
            );
            let (is, want) = (expected.apply(OWNER, &request, place, at), apply(&mut store, OWNER, &request));
            assert_eq!(is.beats(), want.beats(), "{n}: {req:?}");
            (0..=want.beats()).for_each(|beat| assert_eq!(is.beat(beat), want.beat(beat), "{n}: {req:?}, beat {beat}"));
            assert_eq!(
                is.lines(0).collect::<Vec<_>>(),
                (0..want.beats()).filter_map(|n| want.beat(n)).collect::<Vec<_>>()
            );
            read += want.beats();
            let mut came = request;
            if n.is_multiple_of(11) {
                came.data.change(|data| data.iter_mut().for_each(|half| half[0] ^= 1));
            }
            let learns = expected.drawn_at(OWNER, &came, at);
            learned += usize::from(learns.is_some());
            assert!(learns.is_none() || !n.is_multiple_of(11), "other bytes than those that are drawn");
            let (is, want) = (memory.apply(OWNER, &came, learns, at), apply(&mut other, OWNER, &came));
            (0..=want.beats()).for_each(|beat| assert_eq!(is.beat(beat), want.beat(beat), "{n}: {req:?}, beat {beat}"));
        }
        assert!(read > 1000 && drawn > 100, "{read} beats, {drawn} reads of regions that are drawn anew");
        assert!(learned > 50, "{learned} writes whose place the completer has found");
    }
}
