//! Choices of the 256B link layer that decide what is legal: what the sheet marks \[C\] or \[D\] or as contradictory, and the
//! capabilities that the two ends agree on.

use super::Class;
use crate::cxl::Dir;

/// Choices and capabilities, each named after its row of the sheet `cxl-256b`. `Default` is what the sheet uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cxl256Config {
    /// §4.1, contradiction: H2D Rsp code 12 is Fast_GO; else it is reserved.
    pub fast_go: bool,
    /// §4.2, §4.3: codes that a later revision withdraws are legal.
    pub withdrawn_codes: bool,
    /// §5.3: several data headers in one slot (MDH).
    pub mdh: bool,
    /// §2.1: direct peer-to-peer CXL.mem, so that CXL.mem formats are legal in both directions.
    pub direct_p2p: bool,
    /// `fabric` ISL-1: a link between two switches, so that formats of every class are legal in both directions.
    pub between_switches: bool,
}

impl Cxl256Config {
    /// Whether messages of a class may travel in a direction.
    #[inline]
    pub fn may_go(&self, class: Class, dir: Dir) -> bool {
        class.dir() == dir || self.between_switches || self.direct_p2p && class.is_mem()
    }
}

impl Default for Cxl256Config {
    fn default() -> Self {
        Cxl256Config { fast_go: false, withdrawn_codes: true, mdh: true, direct_p2p: false, between_switches: false }
    }
}
