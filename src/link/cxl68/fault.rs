//! Faults of the wire as they concern 68B units: what a bad unit looks like.

pub use crate::fault::{Fault, FaultyWire};

use crate::bit_errors::{bytes_68, judge_verdict, pattern_68};
use crate::fault::WireUnit;
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled, PidKind};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::Violation;

impl WireUnit for Cxl68Unit {
    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    fn make_noise(&mut self, rng: &mut Rng) {
        rng.fill_bytes(&mut self.0);
        // Whatever the draw: noise has no valid ID.
        (self.0[0], self.0[1]) = (0, 0);
    }

    /// Its ID and noise with a bad CRC.
    fn make_bad(&mut self, rng: &mut Rng) {
        rng.fill_bytes(&mut self.0[2..]);
        self.set_tail(!self.expected_crc());
    }

    /// CRC-16 lets one of 65536 heavy patterns through.
    fn deceives(&self, sent: &Cxl68Unit) -> bool {
        self.payload() != sent.payload() && self.crc_ok()
    }

    /// Units of CXL.cachemem alone, which are those with a CRC-16.
    fn judge_pattern(&self, sent: &Cxl68Unit) -> Option<Violation> {
        let kind = pid::lookup(sent.pid() as u8).map(|row| row.kind);
        if kind != Some(PidKind::Cachemem) {
            return None;
        }
        let pattern = Cxl68Unit(std::array::from_fn(|n| self.0[n] ^ sent.0[n]));
        judge_verdict(&pattern_68(sent.pid(), &pattern, Enabled::ALL), &bytes_68(sent, &pattern, Enabled::ALL))
    }

    fn is_good(&self) -> bool {
        self.crc_ok()
    }
}
