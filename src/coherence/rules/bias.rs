//! HDM-D: what a device with a bias for each line and its host decide (`coherence` §3.3).

use crate::bias::Bias;
use crate::bias::tables::{self, Row};
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, M2sReqOpcode, SnpType};

/// The decisions of a device, then those of its host.
pub trait BiasRules {
    /// Whether the device uses a line of its memory without asking the host.
    fn uses_alone(&self, bias: Bias) -> bool {
        bias == Bias::Device
    }

    /// How the device's own cache is snooped for an access of the host.
    fn own_snoop(&self, snp: SnpType) -> SnpType {
        snp
    }

    /// What a request of the device gets.
    fn bias_row(&self, op: D2hReqOpcode) -> Option<&'static Row> {
        tables::find(op)
    }

    /// Whether a request of the host waits until the device's own request for the line has ended: none does.
    fn awaits_own_request(&self, _req: M2sReqOpcode) -> bool {
        false
    }

    /// Whether Mem*Fwd waits for the Cmp of the write back.
    fn forward_awaits_write(&self) -> bool {
        true
    }
}
