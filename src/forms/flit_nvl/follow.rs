//! A stream of which some packets go again: the reader follows the replay of one direction (`nvlink` §6.3).
//!
//! The payload of a packet is confirmed by the CRC of the next header, so its answer waits for that one.
//!
//! A walk through one replay: a header whose CRC does not fit says that it, or the payload before it, was damaged; of that
//! payload nothing is judged. A receiver throws away what follows up to a REPLAY_INIT, behind which the packets come again;
//! those are shown and not judged. A stream without CREDIT_INIT before its first numbered packet is not that of a link;
//! nothing is followed there, and no answer waits.

use super::{NvlPacketDecoder, to_json};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::nvlink::check::Findings;
use scalepool_protocols::nvlink::stream::NvlDecodedPacket;
use scalepool_protocols::nvlink::{FLIT_BYTES, MAX_FLITS, NvlConfig, Op, Packet};
use scalepool_protocols::wire::{At, Violation};
use serde_json::Value;

/// Reads the packets of one direction of a link that replays.
#[derive(Debug, Clone)]
pub struct Follower {
    config: NvlConfig,
    dir: Dir,
    decoder: NvlPacketDecoder,
    /// A numbered packet before CREDIT_INIT says that there is no replay.
    follows: bool,
    begun: bool,
    /// Packets are thrown away until a REPLAY_INIT.
    lost: bool,
    packets: u64,
    /// The packet whose payload is not confirmed.
    open: Option<(u64, NvlDecodedPacket, Findings)>,
}

impl Follower {
    /// A stream of which nothing has been read.
    pub fn new(config: NvlConfig, dir: Dir) -> Follower {
        let decoder = NvlPacketDecoder::new(config);
        Follower { config, dir, decoder, follows: true, begun: false, lost: false, packets: 0, open: None }
    }

    /// Checks the next packet; the answers that are due now.
    pub fn read(&mut self, packet: &Packet) -> Vec<(Value, Findings)> {
        let header = packet.header();
        self.follows &= self.begun || !header.op.is_numbered();
        if self.lost && self.replays(packet) {
            self.lost = false;
            self.decoder.goes_on_behind(None);
        }
        let (decoded, mut findings) = self.decoder.read(packet);
        let good = decoded.is_good();
        self.begun |= self.follows && header.op == Op::CREDIT_INIT && good;
        if self.lost {
            findings = Findings::default();
        }
        let mut due = Vec::new();
        if let Some((index, decoded, mut findings)) = self.open.take() {
            if !good {
                findings.violations.retain(is_of_header);
            }
            due.push(self.answer(index, &decoded, findings));
        }
        self.lost |= self.begun && (!good || usize::from(header.len) >= MAX_FLITS);
        if self.lost {
            self.decoder.goes_on_behind(Some(packet));
        }
        let index = self.packets;
        self.packets += 1;
        if self.begun && !self.lost && !packet.payload().is_empty() {
            self.open = Some((index, decoded, findings));
        } else {
            due.push(self.answer(index, &decoded, findings));
        }
        due
    }

    /// The answer that is left at the end.
    pub fn finish(&mut self) -> Vec<(Value, Findings)> {
        let open = self.open.take();
        open.into_iter().map(|(index, decoded, findings)| self.answer(index, &decoded, findings)).collect()
    }

    fn answer(&self, index: u64, decoded: &NvlDecodedPacket, findings: Findings) -> (Value, Findings) {
        (to_json(decoded, &findings, self.dir, index), findings)
    }

    /// Whether it is a good REPLAY_INIT, of which the CRC covers nothing else.
    fn replays(&self, packet: &Packet) -> bool {
        let (header, bits) = (packet.header(), packet.header_bits());
        header.op == Op::REPLAY_INIT && header.len == 0 && self.config.crc_of(&[], bits) == header.crc
    }
}

/// Whether a rule is broken in the first flit of a packet.
fn is_of_header(violation: &Violation) -> bool {
    matches!(violation.at, At::Byte(byte) if byte < FLIT_BYTES)
}
