//! How a node on NVLink spells requests for whole lines of a block: packets, each with one mark of poison.
//!
//! Modelled: a read in one packet, writes of lines with unlike marks in several, see [`nvlink`](super::nvlink), which sends them. A walk: of
//! three lines the second is poisoned, so a write of them is three packets, the second one with `ep`.

use super::{BlockAddress, MarkedLine};
use crate::nvlink::link_group::global;
use scalepool_link::nvlink::NvlMessage;
use scalepool_memory::{LINE_BYTES, LineBytes};
use scalepool_protocols::nvlink::{NvlConfig, Op};
use std::collections::VecDeque;

/// Bytes of a line.
pub(super) const LINE: usize = LINE_BYTES as usize;

/// A packet of a request without a tag: some of its lines.
pub(super) struct BlockPacket {
    /// The first of them.
    pub(super) first: usize,
    pub(super) lines: usize,
    pub(super) message: NvlMessage,
}

/// A packet that is not answered.
#[derive(Clone, Copy)]
pub(super) struct OnWay {
    /// Tag of its request.
    pub(super) request: u16,
    pub(super) first: usize,
    pub(super) lines: usize,
}

/// Packets of a request.
#[derive(Default)]
pub(super) struct Packets {
    /// Without a tag so far.
    pub(super) left: VecDeque<BlockPacket>,
    /// Not answered.
    pub(super) on_way: usize,
}

/// A packet that waits for room.
pub(super) struct Held {
    pub(super) link: usize,
    pub(super) message: NvlMessage,
    pub(super) id: u64,
}

/// Lines of a payload, each with the mark of all.
pub(super) fn lines_of(data: &[u8], poison: bool) -> impl Iterator<Item = MarkedLine> + '_ {
    data.as_chunks::<LINE>().0.iter().map(move |line: &LineBytes| (*line, poison))
}

/// What all packets of a node have.
pub(super) struct PacketForm {
    /// Number of the node.
    pub(super) rid: u16,
    /// Choices of the protocol.
    pub(super) codec: NvlConfig,
}

impl PacketForm {
    /// A request of this node without lines.
    pub(super) fn message(&self, op: Op, at: BlockAddress) -> NvlMessage {
        let address = global(at.node, at.address);
        NvlMessage { rid: self.rid, address, ..NvlMessage::new(op, &self.codec) }
    }

    /// A read of so many lines from one on.
    pub(super) fn read(&self, to: BlockAddress, first: usize, lines: usize) -> BlockPacket {
        let at = BlockAddress { address: to.address + LINE_BYTES * first as u64, ..to };
        // Units of 16 bytes less one.
        let size = (lines * LINE / 16 - 1) as u8;
        BlockPacket { first, lines, message: NvlMessage { size, ..self.message(Op::READ, at) } }
    }

    /// Writes of all lines, a packet for each run of lines with the same mark.
    pub(super) fn writes(&self, op: Op, to: BlockAddress, lines: &[MarkedLine]) -> VecDeque<BlockPacket> {
        let mut first = 0;
        let runs = lines.chunk_by(|a, b| a.1 == b.1);
        let packet = |run: &[MarkedLine]| {
            let at = BlockAddress { address: to.address + LINE_BYTES * first as u64, ..to };
            let (data, ep) = (run.iter().flat_map(|(line, _)| *line).collect(), run[0].1);
            let message = NvlMessage { data, ep, ..self.message(op, at) };
            let packet = BlockPacket { first, lines: run.len(), message };
            first += run.len();
            packet
        };
        runs.map(packet).collect()
    }
}
