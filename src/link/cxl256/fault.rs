//! What faults of the wire make of a 256B flit.

use crate::bit_errors::{bytes_256, judge_verdict, pattern_256};
use crate::fault::WireUnit;
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::{Cxl256Flit, crc_parts};
use scalepool_protocols::wire::Violation;

/// A flit on the wires of a link that has one flit format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireFlit {
    /// Format, which says where CRC and FEC stand.
    pub mode: Mode,
    /// The flit.
    pub flit: Cxl256Flit,
}

/// Spoils a sealed flit: the CRCs of the chosen halves do not fit (`[even, odd]`; a standard flit has one, which `even`
/// means) and the FEC finds nothing to repair.
pub(super) fn spoil(flit: &mut Cxl256Flit, mode: Mode, halves: [bool; 2]) {
    for (crc, _) in crc_parts(mode).iter().zip(halves).filter(|(_, spoilt)| *spoilt) {
        crc.put(flit, !crc.expected(flit));
    }
    flit.seal_fec(mode);
}

impl WireUnit for WireFlit {
    fn bytes(&self) -> &[u8] {
        &self.flit.0
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.flit.0
    }

    /// Random bytes; the CRC is made not to fit, whatever the draw.
    fn make_noise(&mut self, rng: &mut Rng) {
        rng.fill_bytes(&mut self.flit.0);
        self.make_bad(rng);
    }

    /// Its own bytes under a CRC that does not fit and a FEC that finds nothing to repair.
    fn make_bad(&mut self, _: &mut Rng) {
        spoil(&mut self.flit, self.mode, [true; 2]);
    }

    fn deceives(&self, sent: &Self) -> bool {
        let received = self.flit.receive(self.mode);
        let same =
            received.flit.header() == sent.flit.header() && received.flit.body(self.mode).eq(sent.flit.body(self.mode));
        received.is_good() && !same
    }

    fn judge_pattern(&self, sent: &Self) -> Option<Violation> {
        let pattern = Cxl256Flit(std::array::from_fn(|n| self.flit.0[n] ^ sent.flit.0[n]));
        let [of_pattern, of_bytes] = [pattern_256(self.mode, &pattern), bytes_256(self.mode, &sent.flit, &pattern)];
        judge_verdict(&of_pattern, &of_bytes)
    }

    fn is_good(&self) -> bool {
        let received = self.flit.receive(self.mode);
        received.is_good() && received.flit == self.flit
    }
}
