//! When a memory answers: one request at a time goes in, one handle at a time comes out once its time has come.
//!
//! Modelled: the time and the room of an access, behind one trait. Left out: bytes. They stand in a [`Store`](crate::store::Store),
//! with their byte enables and poison, and an owner applies a request to it when the backend takes the request: so accesses
//! take effect in order of arrival, whatever the order in which they end. Six backends are here: a [fixed latency](fixed), a
//! [`server`] with a bandwidth, [`banks`] that are busy for a time, [`dram`] with its commands, and a [buffer of pages](line_buffer) in front of
//! flash or of another memory, and [several](interleaved) in turn. What a request has to say for that (address, bytes,
//! read, write or a write that has to read first) is a [`MemoryRequest`].
//!
//! Time is counted in cycles of the owner's clock; a backend with a clock of its own rounds up to them.
//!
//! A walk through one cycle: the owner lets the memory [`advance`](MemoryBackend::advance) to it; it takes what is ready with
//! [`pop`](MemoryBackend::pop) as far as it can send it; it asks for the room of the first request at its port and hands it
//! over with [`push`](MemoryBackend::push), or leaves it where it is; it sleeps until
//! [`wake_at`](MemoryBackend::wake_at) or until there is room.

pub mod banks;
pub mod dram;
pub mod fixed;
pub mod interleaved;
pub mod line_buffer;
pub mod page_media;
pub mod server;

pub use banks::{Banks, BanksConfig};
pub use dram::{Dram, DramMedia, DramView};
pub use fixed::Fixed;
pub use interleaved::{Interleaved, InterleavedConfig};
pub use line_buffer::{BufferedMedia, LineBuffer, LineBufferConfig, LineBufferCounts};
pub use server::{Server, ServerConfig};

use crate::flash::FlashCounts;

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryAccess {
    /// Reads all its bytes.
    Read,
    /// Writes all its bytes.
    Write,
    /// Writes some of its bytes, or what depends on them (an atomic), so a memory may have to read before it writes.
    Modify,
}

/// What a backend has to know of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryRequest {
    /// First byte in the memory.
    pub address: u64,
    /// Bytes; 0: it needs an answer after the latency and touches no memory.
    pub bytes: u64,
    /// What it does to them.
    pub access: MemoryAccess,
}

impl MemoryRequest {
    /// One that touches no memory.
    pub const NONE: MemoryRequest = MemoryRequest { address: 0, bytes: 0, access: MemoryAccess::Read };
}

/// Decides when requests are done. `H` is what the owner gets back of each: its handle.
///
/// Every request that is taken comes out once. Handles come out in the order of the cycles at which they are ready, and those of
/// one cycle in the order in which they were taken; requests that have a line in common keep the order in which they were taken.
pub trait MemoryBackend<H> {
    /// Does what is due up to a cycle and in it; an owner calls it first whenever it runs. A memory that decides when it takes
    /// a request how long that lasts has nothing to do.
    fn advance(&mut self, cycle: u64) {
        let _ = cycle;
    }

    /// The cycle, `cycle` or a later one, from which it takes such a request if none is taken before; to be asked again then.
    /// `None`: not before a handle has been popped.
    fn room_at(&self, cycle: u64, request: &MemoryRequest) -> Option<u64>;

    /// Takes a request at a cycle, which never goes back from one call to the next.
    ///
    /// # Errors
    /// The handle, where there is no room in this cycle; nothing has changed.
    fn push(&mut self, cycle: u64, request: &MemoryRequest, handle: H) -> Result<(), H>;

    /// The handle that comes out next of those whose end is known, ready or not.
    fn first(&self) -> Option<&H>;

    /// A handle that has not come out, whether its end is known or not; the oldest of those whose end is not.
    fn oldest(&self) -> Option<&H> {
        self.first()
    }

    /// The cycle at which [`first`](MemoryBackend::first) is ready; one that has passed stands until the handle is popped.
    fn ready_at(&self) -> Option<u64>;

    /// The first cycle after this one at which the owner has to run if nothing is pushed: for a handle that is ready then, or
    /// for what the memory does by itself.
    fn wake_at(&self, cycle: u64) -> Option<u64> {
        self.ready_at().filter(|ready| *ready > cycle)
    }

    /// Takes the next handle, if it is ready.
    fn pop(&mut self, cycle: u64) -> Option<H>;

    /// Requests that were taken and not popped.
    fn in_flight(&self) -> usize;

    /// What it shows of its DRAM by number, counted from 0 without a gap, where it is that or has some.
    fn dram(&self, n: usize) -> Option<DramView<'_>> {
        let _ = n;
        None
    }

    /// How many it has.
    fn drams(&self) -> usize {
        (0..).take_while(|n| self.dram(*n).is_some()).count()
    }

    /// What its buffer of pages and the flash behind it have counted, if it has that.
    fn buffer(&self) -> Option<(LineBufferCounts, FlashCounts)> {
        None
    }

    /// Whether there is none, and nothing else to do.
    fn is_idle(&self) -> bool {
        self.in_flight() == 0
    }

    /// Whether it takes such a request in this cycle.
    fn has_room(&self, cycle: u64, request: &MemoryRequest) -> bool {
        self.room_at(cycle, request) == Some(cycle)
    }

    /// Whether a handle is ready.
    fn is_ready(&self, cycle: u64) -> bool {
        self.ready_at().is_some_and(|ready| ready <= cycle)
    }
}

/// What stands behind the latency of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Media {
    /// Nothing: any number of requests goes on at once.
    #[default]
    Fixed,
    /// A latency and a bandwidth.
    Server(ServerConfig),
    /// Banks.
    Banks(BanksConfig),
    /// DRAM or HBM with its commands.
    Dram(Box<DramMedia>),
    /// A buffer of pages in front of flash or another memory.
    Buffered(Box<LineBufferConfig>),
    /// Several media in turn.
    Interleaved(Box<InterleavedConfig>),
}

/// How a memory keeps time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryTiming {
    /// Request to answer, without the time in a bank \[cycles\].
    pub latency_cycles: u64,
    /// Least cycles from one request to the next; 0: any number in a cycle.
    pub interval_cycles: u64,
    /// Most requests in flight.
    pub in_flight: usize,
    /// What stands behind the latency.
    pub media: Media,
}

impl MemoryTiming {
    /// A latency without limits.
    pub fn fixed(latency_cycles: u64) -> MemoryTiming {
        MemoryTiming { latency_cycles, interval_cycles: 0, in_flight: usize::MAX, media: Media::Fixed }
    }

    /// The backend.
    pub fn build<H: 'static>(self) -> Box<dyn MemoryBackend<H>> {
        match self.media {
            Media::Fixed => Box::new(Fixed::new(&self)),
            Media::Banks(banks) => Box::new(Banks::new(&self, banks)),
            Media::Dram(ref dram) => Box::new(Dram::new(&self, **dram)),
            Media::Server(server) => Box::new(Server::new(&self, server)),
            Media::Interleaved(ref media) => Box::new(Interleaved::new(&self, InterleavedConfig::clone(media))),
            Media::Buffered(ref buffer) => Box::new(LineBuffer::new(&self, LineBufferConfig::clone(buffer))),
        }
    }
}

/// Lets one request in each interval.
#[derive(Debug, Clone, Copy)]
struct RequestPace {
    interval_cycles: u64,
    from: u64,
}

impl RequestPace {
    fn new(interval_cycles: u64) -> RequestPace {
        RequestPace { interval_cycles, from: 0 }
    }

    /// The first cycle from `cycle` on for the next request.
    fn at(&self, cycle: u64) -> u64 {
        self.from.max(cycle)
    }

    fn taken(&mut self, cycle: u64) {
        self.from = cycle + self.interval_cycles;
    }
}
