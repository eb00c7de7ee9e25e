//! What an originator expects in the memories of others, once all that is open is done.
//!
//! Modelled: each byte that it has written, with its poison; the others hold their background. A region that a single write
//! has filled is kept as the random numbers that its bytes were drawn from: 40 bytes for 256. Of a run with 500 operations
//! an accelerator that leaves 10 kB of the 50 kB that the bytes took. Left out: what others write: each originator has
//! regions of its own.
//!
//! A walk: a write that fills a region replaces what stands there by its generator; a read of such a region draws the bytes
//! anew; any other request puts the bytes of the region into a store first, and takes effect there as it does at the
//! completer.

use super::completer::{apply, global};
use super::read::{BACKGROUND, Read, drawn_lines};
use scalepool_kernel::Rng;
use scalepool_memory::store::Store;
use scalepool_memory::{ALL_BYTES, LINE_BYTES};
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::control::Field;
use scalepool_protocols::ualink::field::{REGION_BYTES, TlReq};
use scalepool_protocols::ualink::unpack::Transfer;
use std::collections::BTreeMap;

/// Lines of a region.
const REGION_LINES: u64 = REGION_BYTES / LINE_BYTES;

/// What is expected.
pub struct Expected {
    /// Where the bytes of a region were drawn from, by its address.
    drawn: BTreeMap<u64, Rng>,
    /// All others.
    store: Store,
}

impl Default for Expected {
    fn default() -> Expected {
        Expected { drawn: BTreeMap::new(), store: Store::new(BACKGROUND) }
    }
}

impl Expected {
    /// A request to an accelerator, whose data `from` has drawn, is to take effect; what it is to read.
    pub fn apply(&mut self, owner: u16, request: &Transfer, from: &Rng) -> Read {
        let Field::Request(req) = &request.field else { return Vec::new().into() };
        let region = global(owner, req.address / REGION_BYTES * REGION_BYTES);
        if fills(req) && request.poisoned == 0 {
            self.drawn.insert(region, from.clone());
            return Vec::new().into();
        }
        if let Some(from) = self.drawn.get(&region) {
            let offset = req.address % REGION_BYTES;
            let end = offset + 4 * (u64::from(req.len) + 1);
            if req.cmd == ReqCmd::Read && end <= REGION_BYTES {
                let first = offset / LINE_BYTES;
                return Read::drawn(from.clone(), first as u8, (end.div_ceil(LINE_BYTES) - first) as u8);
            }
            for (n, line) in drawn_lines(from).take(REGION_LINES as usize).enumerate() {
                self.store.write_line(region + LINE_BYTES * n as u64, &line, ALL_BYTES, false);
            }
            self.drawn.remove(&region);
        }
        apply(&mut self.store, owner, request)
    }
}

/// Whether a request writes all bytes of a region.
fn fills(req: &TlReq) -> bool {
    let bytes = 4 * (u64::from(req.len) + 1);
    req.cmd == ReqCmd::WriteFull && req.address.is_multiple_of(REGION_BYTES) && bytes == REGION_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use scalepool_protocols::ualink::pack::with_data;

    /// Whatever is written and read in whatever order, it is what a store has that all bytes are written to.
    #[test]
    fn drawn_regions_read_as_a_store_does() {
        const OWNER: u16 = 3;
        let (mut rng, mut expected, mut store) = (Rng::from_seed(1), Expected::default(), Store::new(BACKGROUND));
        let (mut read, mut drawn) = (0, 0);
        for n in 0..2000u64 {
            let cmd = [ReqCmd::Read, ReqCmd::WriteFull, ReqCmd::AtomicR, ReqCmd::Read][rng.below(4) as usize];
            let first = if rng.ratio(1, 2) { 0 } else { rng.below(REGION_LINES) };
            let lines = if first == 0 && rng.ratio(1, 2) { REGION_LINES } else { 1 };
            let dwords = if cmd.is_atomic() { 2 } else { 16 * lines };
            let address = REGION_BYTES * rng.below(4) + LINE_BYTES * first;
            let req = TlReq { cmd, address, len: (dwords - 1) as u8, ..TlReq::default() };
            let from = rng.clone();
            let data: Vec<_> = drawn_lines(&from).take(if cmd == ReqCmd::Read { 0 } else { lines as usize }).collect();
            rng.next_u64();
            let enables = cmd.is_atomic().then_some([0xff; 32]);
            let poisoned = u8::from(cmd == ReqCmd::WriteFull && n.is_multiple_of(7));
            let request = Transfer { poisoned, ..with_data(Field::Request(req), &data, enables) };
            drawn += usize::from(
                cmd == ReqCmd::Read
                    && expected.drawn.contains_key(&global(OWNER, address / REGION_BYTES * REGION_BYTES)),
            );
            let (is, want) = (expected.apply(OWNER, &request, &from), apply(&mut store, OWNER, &request));
            assert_eq!(is.beats(), want.beats(), "{n}: {req:?}");
            (0..=want.beats()).for_each(|beat| assert_eq!(is.beat(beat), want.beat(beat), "{n}: {req:?}, beat {beat}"));
            read += want.beats();
        }
        assert!(read > 1000 && drawn > 100, "{read} beats, {drawn} reads of regions that are drawn anew");
    }
}
