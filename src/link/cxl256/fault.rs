//! What faults of the wire make of a 256B flit.

use crate::kernel::Rng;
use crate::link::fault::OnWire;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::{Flit, standard};

impl OnWire for Flit {
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// Random bytes; the CRC is made not to fit, whatever the draw.
    fn make_noise(&mut self, rng: &mut Rng) {
        rng.fill_bytes(&mut self.0);
        self.make_bad(rng);
    }

    /// Its own bytes under a CRC that does not fit and a FEC that finds nothing to repair.
    fn make_bad(&mut self, _: &mut Rng) {
        self.seal(Mode::Standard);
        self.0[standard::CRC].iter_mut().for_each(|b| *b = !*b);
        self.seal_fec(Mode::Standard);
    }

    fn deceives(&self, sent: &Flit) -> bool {
        let received = self.receive(Mode::Standard);
        received.is_good() && received.flit.0[..standard::CRC.start] != sent.0[..standard::CRC.start]
    }
}
