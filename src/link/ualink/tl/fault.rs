//! Faults of the wire as they concern DL flits: what a bad flit looks like.

use crate::fault::WireUnit;
use scalepool_kernel::Rng;
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::flit::DlFlit;

impl WireUnit for DlFlit {
    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    fn make_noise(&mut self, rng: &mut Rng) {
        rng.fill_bytes(&mut self.0);
        self.make_crc_bad();
    }

    /// A flit with a bad CRC is dropped and sent again, so noise is no worse.
    fn make_bad(&mut self, rng: &mut Rng) {
        self.make_noise(rng);
    }

    fn deceives(&self, sent: &DlFlit) -> bool {
        self.0 != sent.0 && self.crc() == self.expected_crc(&UalConfig::SHEET)
    }
}

/// The way in which noise is sure to be seen.
trait BadCrc {
    fn make_crc_bad(&mut self);
}

impl BadCrc for DlFlit {
    /// Bad, and not the inverted one, which says that the sender spoilt the flit on purpose (`ualink` §5).
    fn make_crc_bad(&mut self) {
        let crc = self.expected_crc(&UalConfig::SHEET) ^ 1;
        self.set_crc(crc);
    }
}
