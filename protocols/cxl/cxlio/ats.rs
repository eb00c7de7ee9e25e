//! The bit by which a translation request says that CXL.cache will use the answer (`cxl-io` §6).
//!
//! It is bit 3 of byte 15, the last byte of a header of four DW: a place where a memory request would have address bit 3.
//! A translation asks about a page, so the low address bits are free for such flags. Left out: requests with a header of
//! three DW, which have no such byte; the answers.

use super::flit_mode::FmMem64;
use super::non_flit_mode::NfmMem64;

/// Value of AT in a translation request (`cxl-io` §1.1).
pub const TRANSLATION_REQUEST: u8 = 1;
/// Byte 15, bit 3, seen as part of the address.
const CXL_SOURCE: u64 = 1 << 3;

/// A 64-bit memory request of either mode.
pub trait AtsHeader {
    /// AT field and address.
    fn parts(&mut self) -> (u8, &mut u64);

    /// Says whether the answer is for CXL.
    #[must_use]
    fn with_cxl_source(mut self, cxl: bool) -> Self
    where
        Self: Sized,
    {
        let (_, address) = self.parts();
        *address = *address & !CXL_SOURCE | if cxl { CXL_SOURCE } else { 0 };
        self
    }

    /// Whether the answer is for CXL; `None` for anything but a translation request.
    fn cxl_source(mut self) -> Option<bool>
    where
        Self: Sized,
    {
        let (at, address) = self.parts();
        (at == TRANSLATION_REQUEST).then_some(*address & CXL_SOURCE != 0)
    }
}

impl AtsHeader for NfmMem64 {
    fn parts(&mut self) -> (u8, &mut u64) {
        (self.at, &mut self.address)
    }
}

impl AtsHeader for FmMem64 {
    fn parts(&mut self) -> (u8, &mut u64) {
        (self.at, &mut self.address)
    }
}
