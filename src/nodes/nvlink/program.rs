//! What runs on a GPU: the source of its requests, told of answers and of what others write.

use super::memory::GpuMemory;
use scalepool_protocols::nvlink::Op;
use scalepool_protocols::wire::Violation;

/// One request to a target.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GpuRequest {
    /// Operation; FLUSH goes over all links that need it.
    pub op: Op,
    /// Window of the address: a GPU, or a multicast group.
    pub target: u16,
    /// Local address, a multiple of 16.
    pub address: u64,
    /// Bytes to read; 0 where data is carried.
    pub read_bytes: usize,
    /// Data, a multiple of 16 bytes.
    pub data: Vec<u8>,
    /// Byte enables.
    pub be: Option<u128>,
    /// Attributes: the operation of an atomic, the number type of a reduction.
    pub attr: u8,
    /// Bytes that the answer must carry, where they are known.
    pub expected: Option<Vec<u8>>,
    /// Reads back what was written, and is no part of the traffic.
    pub is_check: bool,
}

/// What a program wants to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GpuStep {
    /// Send this.
    Send(GpuRequest),
    /// Wait for an answer or an arrival.
    Wait,
    /// Wait until a cycle, an answer or an arrival.
    Until(u64),
    /// Nothing more to send.
    Done,
}

/// A program.
pub trait GpuProgram: Send {
    /// Fills the memory before the first cycle.
    fn start(&mut self, memory: &mut GpuMemory) {
        let _ = memory;
    }

    /// The next request. Asked again in the same cycle after each [`GpuStep::Send`]; it must not depend on how often.
    fn next(&mut self, cycle: u64, memory: &mut GpuMemory) -> GpuStep;

    /// A request was answered: with these bytes (none for RSP_DONE), or with an error.
    fn answered(&mut self, ask: &GpuRequest, data: Result<&[u8], u8>, memory: &mut GpuMemory);

    /// Whether what a request is to read is still known when its answer comes.
    fn knows(&self, _ask: &GpuRequest) -> bool {
        true
    }

    /// Posted data from `from` is in memory.
    fn arrived(&mut self, from: u16, address: u64, data: &[u8], memory: &mut GpuMemory) {
        let _ = (from, address, data, memory);
    }

    /// What is missing at the end, if something is.
    fn missing(&self) -> Option<String>;

    /// Broken rules since the last call.
    fn take_broken(&mut self) -> Vec<Violation>;

    /// Broken rules that nobody has taken, and those of a run that ends here: what is still missing will not come.
    fn broken_at_end(&self) -> Vec<Violation>;

    /// Payload bytes that this program has moved, as its scenario counts them.
    fn bytes(&self) -> u64;
}
