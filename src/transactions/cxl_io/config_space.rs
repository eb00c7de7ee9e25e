//! Registers of configuration space that a reader may rely on (`cxl-io` §7; header of type 0, general knowledge of PCIe).
//!
//! Modelled: vendor and device, revision and class, and the pointer to the capabilities, which no write changes; base address
//! registers, which only a write of the function changes. A reset of the function is a write of it too, so any write makes the base
//! addresses unknown, from its request to its completion. Compared are functions whose header type has been read as 0; a write of
//! any other one may be a bridge that resets or renumbers all behind it, so it makes all of its link unknown. Left out: all other
//! registers, whose bits may change by themselves; bridges that are written on one link and stand in front of another one.

use super::changes::Changes;
use super::path::Path;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxlio::DW_BYTES;

/// Vendor and device, revision and class, capabilities.
const CONSTANT: [u16; 3] = [0x00, 0x08, 0x34];
/// Command and status.
const COMMAND: u16 = 0x04;
/// The DW with the header type, and the byte of it there.
const HEADER: (u16, usize) = (0x0c, 2);
/// Bits of the header type without the one that says that there are several functions.
const HEADER_TYPE_MASK: u8 = 0x7f;
/// First and last base address register.
const BASE_ADDRESSES: [u16; 2] = [0x10, 0x24];
/// First extended capability; those of virtual functions have base addresses.
const EXTENDED: u16 = 0x100;

/// A function: where it is, and its bus, device and function.
pub(super) type FunctionId = (Path, u16);

/// What a configuration write may change, beside the registers of its function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConfigWriteEffect {
    /// All functions of the link.
    pub of_link: bool,
    /// Where memory lies.
    pub of_memory: bool,
}

/// Bytes of a register that have been read, and which they are.
#[derive(Debug, Clone, Copy, Default)]
struct KnownBytes {
    bytes: [u8; DW_BYTES],
    enables: u8,
}

/// What has changed by the time of a request to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Begun {
    link: Option<u64>,
    function: Option<u64>,
}

/// What is known of the registers below each link, by function and register.
#[derive(Debug, Default)]
pub(super) struct ConfigImage {
    known: OrderedMap<(FunctionId, u16), KnownBytes>,
    /// Writes that concern all functions of a link, and those of one.
    links: Changes<usize>,
    functions: Changes<FunctionId>,
}

const fn is_base(register: u16) -> bool {
    BASE_ADDRESSES[0] <= register && register <= BASE_ADDRESSES[1]
}

impl ConfigImage {
    /// Whether the header type of a function has been read as 0.
    fn is_plain(&self, function: FunctionId) -> bool {
        let (register, byte) = HEADER;
        let known = self.known.get(&(function, register));
        known.is_some_and(|known| known.enables >> byte & 1 == 1 && known.bytes[byte] & HEADER_TYPE_MASK == 0)
    }

    fn forget(&mut self, function: FunctionId, effect: ConfigWriteEffect) {
        let link = function.0.link;
        self.known.retain(|((path, of), register), _| {
            if effect.of_link { path.link != link } else { (*path, *of) != function || !is_base(*register) }
        });
    }

    /// A request to write a register of a function passes: what it may change.
    pub fn write_begins(&mut self, function: FunctionId, register: u16) -> ConfigWriteEffect {
        let of_link = !self.is_plain(function);
        let of_memory = of_link || register == COMMAND || is_base(register) || register >= EXTENDED;
        let effect = ConfigWriteEffect { of_link, of_memory };
        self.functions.begin(function);
        if of_link {
            self.links.begin(function.0.link);
        }
        self.forget(function, effect);
        effect
    }

    /// The completion of a write with this effect passes.
    pub fn write_ends(&mut self, function: FunctionId, effect: ConfigWriteEffect) {
        self.functions.end(function);
        if effect.of_link {
            self.links.end(function.0.link);
        }
        self.forget(function, effect);
    }

    /// A request to read a register of a function passes.
    pub fn read_begins(&self, function: FunctionId) -> Begun {
        Begun { link: self.links.now(function.0.link), function: self.functions.now(function) }
    }

    /// A register comes: what it is and what was expected, if they differ. A function that is not there brings ones.
    pub fn read_ends(
        &mut self,
        function: FunctionId,
        begun: Begun,
        register: u16,
        enables: u8,
        data: &[u8],
    ) -> Option<(u32, u32)> {
        let bytes: [u8; DW_BYTES] = data.try_into().ok()?;
        let may_differ = !self.links.none_since(function.0.link, begun.link)
            || is_base(register) && !self.functions.none_since(function, begun.function);
        let is_constant = CONSTANT.contains(&register) || register == HEADER.0;
        if may_differ || !is_base(register) && !is_constant || bytes == [0xff; DW_BYTES] {
            return None;
        }
        // The other bytes beside the header type may be written.
        let is_compared = register != HEADER.0 && self.is_plain(function);
        let known = self.known.entry((function, register)).or_default();
        let (mut expected, mut differs) = (bytes, false);
        for (n, byte) in bytes.into_iter().enumerate().filter(|(n, _)| enables >> n & 1 == 1) {
            if known.enables >> n & 1 == 1 {
                expected[n] = known.bytes[n];
                differs |= byte != known.bytes[n];
            }
            known.bytes[n] = byte;
            known.enables |= 1 << n;
        }
        (is_compared && differs).then(|| (u32::from_le_bytes(bytes), u32::from_le_bytes(expected)))
    }
}
