//! Registers of configuration space that a reader may rely on (`cxl-io` §7; header of type 0, general knowledge of PCIe).
//!
//! Modelled: vendor and device, revision and class, and the pointer to the capabilities, which no write changes; base address
//! registers, which only a write of the function changes. A reset of the function is a write of it too, so any write makes the base
//! addresses unknown. Left out: all other registers, whose bits may change by themselves.

use scalepool_protocols::cxl::cxlio::DW_BYTES;
use std::collections::BTreeMap;

/// Vendor and device, revision and class, capabilities.
const CONSTANT: [u16; 3] = [0x00, 0x08, 0x34];
/// First and last base address register.
const BASE_ADDRESSES: [u16; 2] = [0x10, 0x24];

/// Bytes of a register that have been read, and which they are.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    bytes: [u8; DW_BYTES],
    enables: u8,
}

/// What is known of the registers below each link, by function and register.
#[derive(Debug, Default)]
pub(super) struct ConfigImage {
    known: BTreeMap<(usize, u16, u16), Known>,
}

impl ConfigImage {
    /// A write of any register of a function passes.
    pub fn written(&mut self, link: usize, function: u16) {
        let of_function = (link, function, BASE_ADDRESSES[0])..=(link, function, BASE_ADDRESSES[1]);
        let gone: Vec<_> = self.known.range(of_function).map(|(key, _)| *key).collect();
        for key in gone {
            self.known.remove(&key);
        }
    }

    /// A register is read: what came and what was expected, if they differ. A function that is not there brings ones.
    pub fn read(&mut self, link: usize, function: u16, register: u16, enables: u8, data: &[u8]) -> Option<(u32, u32)> {
        let is_base = (BASE_ADDRESSES[0]..=BASE_ADDRESSES[1]).contains(&register);
        let bytes: [u8; DW_BYTES] = data.try_into().ok()?;
        if !is_base && !CONSTANT.contains(&register) || bytes == [0xff; DW_BYTES] {
            return None;
        }
        let known = self.known.entry((link, function, register)).or_default();
        let (mut expected, mut differs) = (bytes, false);
        for (n, byte) in bytes.into_iter().enumerate().filter(|(n, _)| enables >> n & 1 == 1) {
            if known.enables >> n & 1 == 1 {
                expected[n] = known.bytes[n];
                differs |= byte != known.bytes[n];
            }
            known.bytes[n] = byte;
            known.enables |= 1 << n;
        }
        differs.then(|| (u32::from_le_bytes(bytes), u32::from_le_bytes(expected)))
    }
}
