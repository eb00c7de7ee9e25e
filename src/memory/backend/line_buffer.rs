//! A buffer of pages in DRAM or HBM in front of slower media: flash, or the media of a memory box (`memory §9`, \[D\]).
//!
//! Modelled: a lookup; hits in the time of the buffer's own memory; misses that read the page, fill the buffer and go on as hits;
//! requests to a page in flight that join it; least recently used victims, written behind when they are dirty; sets of which every
//! way waits for its page, which take no request. Left out: bytes, and the time in which a page moves between the buffer and its media.
//!
//! A walk through one miss: the request is taken and its page gets a way; a dirty victim starts on its way to the media. The lookup is
//! over after its time and the page is asked for; with the last of its bytes the page is there, and all requests that joined are accesses
//! of the buffer's memory, in the order in which they came.
//!
//! Invariants: a page is in flight once; a request of a line never passes an older one; a dirty page leaves by a write alone.

use super::page_media::PageMedia;
use super::{DramView, Media, MemoryAccess, MemoryBackend, MemoryRequest, MemoryTiming, RequestPace};
use crate::flash::{FlashArray, FlashCounts, FlashPreset};
use crate::owner_clock::OwnerClock;
use scalepool_ordered::OrderedMap;
use std::collections::VecDeque;

/// How a buffer and its media are built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineBufferConfig {
    /// Bytes of the buffer.
    pub bytes: u64,
    /// Bytes of a page, the line of the buffer.
    pub page_bytes: u64,
    /// Ways of a set.
    pub ways: u64,
    /// Time of a lookup \[fs\].
    pub lookup_fs: u64,
    /// Memory that holds the pages.
    pub memory: Media,
    /// What stands behind.
    pub behind: BufferedMedia,
    /// Clock of the owner.
    pub clock: OwnerClock,
}

/// What stands behind a buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BufferedMedia {
    /// Flash.
    Flash(FlashPreset),
    /// Another memory.
    Memory(Media),
}

impl LineBufferConfig {
    /// Sets.
    pub fn sets(&self) -> u64 {
        self.bytes / (self.page_bytes * self.ways).max(1)
    }

    /// What is wrong with it.
    pub fn check(&self) -> Option<String> {
        let set = self.page_bytes * self.ways;
        let is_whole = set > 0 && self.bytes >= set && self.bytes.is_multiple_of(set);
        let text =
            || format!("found a buffer of {} bytes, expected a multiple of {set} bytes, a set of it", self.bytes);
        (!is_whole).then(text)
    }
}

/// What a buffer counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineBufferCounts {
    /// Requests whose page was there.
    pub hits: u64,
    /// Requests that asked the media for their page.
    pub misses: u64,
    /// Requests that joined a page in flight.
    pub joined: u64,
    /// Pages that were written behind.
    pub written: u64,
    /// Pages that hold what the media do not.
    pub dirty: u64,
}

/// A way that holds a page.
#[derive(Debug, Clone)]
struct Way {
    page: u64,
    is_dirty: bool,
    /// Requests that wait for the page, `None` when it is there.
    waiting: Option<Vec<(u64, MemoryRequest, u64)>>,
}

/// The backend.
pub struct LineBuffer<H> {
    config: LineBufferConfig,
    latency_cycles: u64,
    most: usize,
    pace: RequestPace,
    /// By set, least recently used first.
    sets: Vec<VecDeque<Way>>,
    media: PageMedia,
    /// Lookups of misses that are not over: cycle and page.
    asking: VecDeque<(u64, u64)>,
    memory: Box<dyn MemoryBackend<u64>>,
    /// Accesses of the buffer's memory by the cycle from which they go and their number.
    accesses: OrderedMap<(u64, u64), MemoryRequest>,
    open: OrderedMap<u64, H>,
    ended: OrderedMap<(u64, u64), H>,
    taken: u64,
    counts: LineBufferCounts,
}

impl<H> LineBuffer<H> {
    /// An empty buffer.
    pub fn new(timing: &MemoryTiming, config: LineBufferConfig) -> LineBuffer<H> {
        let MemoryTiming { latency_cycles, interval_cycles, in_flight, .. } = *timing;
        let alone = |media: &Media| MemoryTiming { media: media.clone(), ..MemoryTiming::fixed(0) };
        let media = match &config.behind {
            BufferedMedia::Flash(preset) => PageMedia::Flash(FlashArray::new(preset)),
            BufferedMedia::Memory(media) => {
                PageMedia::Memory { backend: alone(media).build(), waiting: VecDeque::new() }
            }
        };
        LineBuffer {
            latency_cycles,
            most: in_flight,
            pace: RequestPace::new(interval_cycles),
            sets: vec![VecDeque::new(); config.sets().max(1) as usize],
            media,
            asking: VecDeque::new(),
            memory: alone(&config.memory).build(),
            accesses: OrderedMap::new(),
            open: OrderedMap::new(),
            ended: OrderedMap::new(),
            taken: 0,
            counts: LineBufferCounts::default(),
            config,
        }
    }

    /// Set of a page.
    fn set(&self, page: u64) -> usize {
        (page % self.sets.len() as u64) as usize
    }

    /// Whether the page of a request is there, on its way, or finds a way.
    fn finds_way(&self, page: u64) -> bool {
        let set = &self.sets[self.set(page)];
        let is_free = || (set.len() as u64) < self.config.ways || set.iter().any(|way| way.waiting.is_none());
        set.iter().any(|way| way.page == page) || is_free()
    }

    /// Bytes of the buffer's memory in which a request lies: way after way of a set.
    fn place(&self, page: u64, request: &MemoryRequest) -> MemoryRequest {
        // A page keeps no way of its own, so its place follows from its number alone.
        let frames = self.sets.len() as u64 * self.config.ways;
        let address = page % frames * self.config.page_bytes + request.address % self.config.page_bytes;
        MemoryRequest { address, ..*request }
    }

    /// Takes a request into the buffer at a cycle.
    fn enter(&mut self, cycle: u64, request: &MemoryRequest, token: u64) {
        let page = request.address / self.config.page_bytes;
        let (n, is_write) = (self.set(page), request.access != MemoryAccess::Read);
        let looked_up = self.config.clock.cycle(self.config.clock.fs(cycle).saturating_add(self.config.lookup_fs));
        let access = self.place(page, request);
        let found = self.sets[n].iter().position(|way| way.page == page);
        let count = match found.map(|at| &self.sets[n][at].waiting) {
            None => &mut self.counts.misses,
            Some(Some(_)) => &mut self.counts.joined,
            Some(None) => &mut self.counts.hits,
        };
        *count += 1;
        let mut way = match found.and_then(|at| self.sets[n].remove(at)) {
            Some(way) => way,
            None => {
                self.evict(n, cycle);
                self.asking.push_back((looked_up, page));
                Way { page, is_dirty: false, waiting: Some(Vec::new()) }
            }
        };
        self.counts.dirty += u64::from(is_write && !way.is_dirty);
        way.is_dirty |= is_write;
        match &mut way.waiting {
            Some(waiting) => waiting.push((looked_up, access, token)),
            None => drop(self.accesses.insert((looked_up, token), access)),
        }
        self.sets[n].push_back(way);
    }

    /// Makes room in a set that has a way to give.
    fn evict(&mut self, n: usize, cycle: u64) {
        if (self.sets[n].len() as u64) < self.config.ways {
            return;
        }
        let victim = self.sets[n].iter().position(|way| way.waiting.is_none());
        let Some(way) = victim.and_then(|at| self.sets[n].remove(at)) else { return };
        if way.is_dirty {
            self.counts.written += 1;
            self.counts.dirty -= 1;
            self.media.write(self.config.clock.fs(cycle), way.page, self.config.page_bytes);
        }
    }

    /// Pages that have come: who waited for them goes on.
    fn fill(&mut self, page: u64, at_fs: u64) {
        let (n, at) = (self.set(page), self.config.clock.cycle(at_fs));
        let Some(way) = self.sets[n].iter_mut().find(|way| way.page == page) else { return };
        for (looked_up, access, token) in way.waiting.take().into_iter().flatten() {
            self.accesses.insert((looked_up.max(at), token), access);
        }
    }
}

impl<H> MemoryBackend<H> for LineBuffer<H> {
    fn advance(&mut self, cycle: u64) {
        while let Some(&(from, page)) = self.asking.front()
            && from <= cycle
        {
            self.asking.pop_front();
            self.media.read(self.config.clock.fs(cycle), page, self.config.page_bytes, page);
        }
        for (page, at_fs) in self.media.advance(cycle, self.config.clock) {
            self.fill(page, at_fs);
        }
        self.memory.advance(cycle);
        while let Some((&key, request)) = self.accesses.first_key_value()
            && key.0 <= cycle
            && self.memory.push(cycle, request, key.1).is_ok()
        {
            self.accesses.remove(&key);
        }
        while let Some(token) = self.memory.pop(cycle) {
            if let Some(handle) = self.open.remove(&token) {
                self.ended.insert((cycle + self.latency_cycles, token), handle);
            }
        }
    }

    fn room_at(&self, cycle: u64, request: &MemoryRequest) -> Option<u64> {
        if self.in_flight() >= self.most {
            return None;
        }
        let from = self.pace.at(cycle);
        let has_way = request.bytes == 0 || self.finds_way(request.address / self.config.page_bytes);
        if from > cycle || has_way { Some(from) } else { self.wake_at(cycle).or(Some(cycle + 1)) }
    }

    fn push(&mut self, cycle: u64, request: &MemoryRequest, handle: H) -> Result<(), H> {
        self.advance(cycle);
        if !self.has_room(cycle, request) {
            return Err(handle);
        }
        self.pace.taken(cycle);
        let token = self.taken;
        self.taken += 1;
        if request.bytes == 0 {
            self.ended.insert((cycle + self.latency_cycles, token), handle);
            return Ok(());
        }
        self.open.insert(token, handle);
        self.enter(cycle, request, token);
        Ok(())
    }

    fn first(&self) -> Option<&H> {
        self.ended.first_key_value().map(|(_, handle)| handle)
    }

    fn oldest(&self) -> Option<&H> {
        self.open.first_key_value().map(|(_, handle)| handle).or_else(|| self.first())
    }

    fn ready_at(&self) -> Option<u64> {
        self.ended.first_key_value().map(|((ready, _), _)| *ready)
    }

    fn wake_at(&self, cycle: u64) -> Option<u64> {
        let ready = self.ready_at().filter(|ready| *ready > cycle);
        let asking = self.asking.front().map(|(from, _)| (*from).max(cycle + 1));
        let access = self.accesses.first_key_value().and_then(|((from, _), request)| {
            let room = if *from > cycle { Some(*from) } else { self.memory.room_at(cycle, request) };
            room.map(|room| room.max(cycle + 1))
        });
        let media = self.media.wake_at(cycle, self.config.clock);
        let memory = self.memory.wake_at(cycle);
        [ready, asking, access, media, memory].into_iter().flatten().min()
    }

    fn pop(&mut self, cycle: u64) -> Option<H> {
        if self.is_ready(cycle) { self.ended.pop_first().map(|(_, handle)| handle) } else { None }
    }

    fn in_flight(&self) -> usize {
        self.open.len() + self.ended.len()
    }

    fn is_idle(&self) -> bool {
        self.in_flight() == 0 && self.media.is_idle()
    }

    fn dram(&self, n: usize) -> Option<DramView<'_>> {
        let own = self.memory.drams();
        match &self.media {
            _ if n < own => self.memory.dram(n),
            PageMedia::Memory { backend, .. } => backend.dram(n - own),
            PageMedia::Flash(_) => None,
        }
    }

    fn buffer(&self) -> Option<(LineBufferCounts, FlashCounts)> {
        let flash = match &self.media {
            PageMedia::Flash(array) => array.counts(),
            PageMedia::Memory { .. } => FlashCounts::default(),
        };
        Some((self.counts, flash))
    }
}
