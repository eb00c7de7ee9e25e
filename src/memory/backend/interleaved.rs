//! Several media behind one address space, in turn: those of a tray.
//!
//! Modelled: bytes in a row at one medium before the next one follows; each medium with queues of its own, so one that is full holds up
//! its own requests alone. Left out: requests that lie in two media: whoever asks stays in one row of bytes.
//!
//! A walk through one request: the number of its row of bytes, modulo the media, names the medium; there the rows lie side by side. What
//! is ready at several media in one cycle comes out in the order in which it was taken.

use super::{DramView, Media, MemoryBackend, MemoryRequest, MemoryTiming, RequestPace};
use scalepool_ordered::OrderedMap;

/// How they are built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterleavedConfig {
    /// Media, at least 1, all alike.
    pub media: usize,
    /// Bytes in a row at one of them, at least a line.
    pub granule: u64,
    /// Each of them.
    pub each: Media,
}

impl InterleavedConfig {
    /// The medium of an address, and the address there.
    pub fn place(&self, address: u64) -> (usize, u64) {
        let (row, ways) = (address / self.granule, self.media as u64);
        ((row % ways) as usize, row / ways * self.granule + address % self.granule)
    }
}

/// The backend.
pub struct Interleaved<H> {
    config: InterleavedConfig,
    most: usize,
    pace: RequestPace,
    /// Each with numbers of requests, since a memory in a memory has to know its own handles.
    media: Vec<Box<dyn MemoryBackend<u64>>>,
    open: OrderedMap<u64, H>,
    taken: u64,
}

impl<H> Interleaved<H> {
    /// Media at rest.
    pub fn new(timing: &MemoryTiming, config: InterleavedConfig) -> Interleaved<H> {
        let MemoryTiming { latency_cycles, interval_cycles, in_flight, .. } = *timing;
        let each = || MemoryTiming { media: config.each.clone(), ..MemoryTiming::fixed(latency_cycles) }.build();
        Interleaved {
            media: (0..config.media).map(|_| each()).collect(),
            most: in_flight,
            pace: RequestPace::new(interval_cycles),
            open: OrderedMap::new(),
            taken: 0,
            config,
        }
    }

    /// The medium of a request, and the request there; one that touches no memory goes to the first.
    fn at(&self, request: &MemoryRequest) -> (usize, MemoryRequest) {
        if request.bytes == 0 {
            return (0, *request);
        }
        let (medium, address) = self.config.place(request.address);
        (medium, MemoryRequest { address, ..*request })
    }

    /// The medium whose handle comes out next.
    fn next(&self) -> Option<usize> {
        let ready = self.media.iter().enumerate().filter_map(|(n, medium)| {
            let (at, token) = (medium.ready_at()?, *medium.first()?);
            Some((at, token, n))
        });
        ready.min().map(|(.., n)| n)
    }
}

impl<H> MemoryBackend<H> for Interleaved<H> {
    fn advance(&mut self, cycle: u64) {
        self.media.iter_mut().for_each(|medium| medium.advance(cycle));
    }

    fn room_at(&self, cycle: u64, request: &MemoryRequest) -> Option<u64> {
        if self.in_flight() >= self.most {
            return None;
        }
        let (medium, request) = self.at(request);
        self.media[medium].room_at(self.pace.at(cycle), &request)
    }

    fn push(&mut self, cycle: u64, request: &MemoryRequest, handle: H) -> Result<(), H> {
        if !self.has_room(cycle, request) {
            return Err(handle);
        }
        let (medium, request) = self.at(request);
        if self.media[medium].push(cycle, &request, self.taken).is_err() {
            return Err(handle);
        }
        self.open.insert(self.taken, handle);
        self.pace.taken(cycle);
        self.taken += 1;
        Ok(())
    }

    fn first(&self) -> Option<&H> {
        self.next().and_then(|n| self.media[n].first()).and_then(|token| self.open.get(token))
    }

    fn oldest(&self) -> Option<&H> {
        self.open.first_key_value().map(|(_, handle)| handle)
    }

    fn ready_at(&self) -> Option<u64> {
        self.next().and_then(|n| self.media[n].ready_at())
    }

    fn wake_at(&self, cycle: u64) -> Option<u64> {
        self.media.iter().filter_map(|medium| medium.wake_at(cycle)).min()
    }

    fn pop(&mut self, cycle: u64) -> Option<H> {
        let n = self.next()?;
        self.media[n].pop(cycle).and_then(|token| self.open.remove(&token))
    }

    fn in_flight(&self) -> usize {
        self.open.len()
    }

    fn dram(&self, n: usize) -> Option<DramView<'_>> {
        let mut before = 0;
        self.media.iter().find_map(|medium| {
            let found = n.checked_sub(before).and_then(|n| medium.dram(n));
            before += medium.drams();
            found
        })
    }

    fn is_idle(&self) -> bool {
        self.media.iter().all(|medium| medium.is_idle())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{BanksConfig, MemoryAccess};
    use scalepool_ordered::OrderedSet;

    /// Every byte has a place of its own, whatever the number of media.
    #[test]
    fn every_byte_has_one_place() {
        for media in 1..=8 {
            let config = InterleavedConfig { media, granule: 256, each: Media::Fixed };
            let places: OrderedSet<_> = (0..256 * 64).step_by(64).map(|address| config.place(address)).collect();
            assert_eq!(places.len(), 256);
            assert!(places.iter().all(
                |(medium, address)| *medium < media && *address < (256 * 64_u64).div_ceil(256 * media as u64) * 256
            ));
        }
    }

    /// A bank each, busy for 10 cycles with 256 bytes: n media are n times as fast, and a full one holds up nothing else.
    #[test]
    fn media_work_side_by_side() {
        let banks = BanksConfig { banks: 1, interleave_bytes: 64, busy_cycles: 10, write_busy_cycles: 10, queue: 1 };
        for media in [1, 2, 4] {
            let each = Media::Banks(banks);
            let config = InterleavedConfig { media, granule: 256, each };
            let timing = MemoryTiming { media: Media::Interleaved(Box::new(config)), ..MemoryTiming::fixed(5) };
            let (mut memory, mut next, mut out, mut cycle) = (timing.build(), 0_u64, Vec::new(), 0);
            while out.len() < 64 {
                memory.advance(cycle);
                out.extend(std::iter::from_fn(|| memory.pop(cycle)).map(|n| (n, cycle)));
                let line = |n| MemoryRequest { address: n * 256, bytes: 64, access: MemoryAccess::Read };
                while next < 64 && memory.push(cycle, &line(next), next).is_ok() {
                    next += 1;
                }
                cycle += 1;
            }
            let expected: Vec<_> = (0..64).map(|n| (n, (n / media as u64 + 1) * 10 + 5)).collect();
            assert_eq!(out, expected, "{media} media");
            assert!(memory.is_idle());
        }
    }
}
