//! 4 KiB of PCI Express configuration space: bytes, and what a write does to each bit.
//!
//! Modelled: read-only bits, bits that take what is written, bits that a written 1 clears, bits that a lock makes read-only
//! for good; the capability lists of a CXL Type 3 device ([`type3`]) and of a CXL port ([`port`]). Detail: every register
//! that a host reads to find the device, size its BARs and program its memory ranges. Left out: interrupts, power states,
//! error reporting, resets, the registers behind BARs.
//!
//! A walk through one write: the byte enables choose bytes; of these, writable bits take the value unless the lock holds
//! them, and clearable bits that are written as 1 become 0; all others stay.

pub mod port;
pub mod registers;
pub mod type3;

use registers as reg;
use scalepool_protocols::cxl::cxlio::dvsec::{
    self, CAPABILITY_ID, ConnectedMode, DeviceControl, DvsecHeader, DvsecId, FlexBus, FlexBusStatus, LinkError,
};
use scalepool_protocols::cxl::cxlio::vdm::VENDOR_ID;
use scalepool_protocols::wire::Wire;
use std::ops::Range;

/// Bytes of a configuration space.
pub const BYTES: usize = 4096;
/// Where the extended capabilities begin.
pub const EXTENDED_AT: usize = 0x100;

/// A configuration space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigSpace {
    bytes: Vec<u8>,
    /// Bits that take what is written.
    writable: Vec<u8>,
    /// Bits that a written 1 clears.
    clearable: Vec<u8>,
    /// Of the writable bits those that the lock holds.
    lockable: Vec<u8>,
    /// Byte whose bit 0 is the lock.
    lock_at: Option<usize>,
    /// Last extended capability, its `next` is still 0.
    last: Option<usize>,
    /// First byte behind the extended capabilities.
    end: usize,
}

impl ConfigSpace {
    /// All zero and read-only.
    fn empty() -> ConfigSpace {
        let zeros = || vec![0; BYTES];
        ConfigSpace {
            bytes: zeros(),
            writable: zeros(),
            clearable: zeros(),
            lockable: zeros(),
            lock_at: None,
            last: None,
            end: EXTENDED_AT,
        }
    }

    /// The DW at a byte address; the low two address bits are ignored. All ones behind the end.
    pub fn read(&self, register: u16) -> u32 {
        let at = usize::from(register) & !3;
        self.bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(u32::MAX, |&dw| u32::from_le_bytes(dw))
    }

    /// Writes the bytes of a DW whose bit in `enables` is 1.
    pub fn write(&mut self, register: u16, value: u32, enables: u8) {
        let at = usize::from(register) & !3;
        if at >= BYTES {
            return;
        }
        let locked = self.is_locked();
        for (n, new) in value.to_le_bytes().into_iter().enumerate().filter(|(n, _)| enables >> n & 1 == 1) {
            let at = at + n;
            let held = if locked { self.lockable[at] } else { 0 };
            let takes = self.writable[at] & !held;
            let old = self.bytes[at];
            self.bytes[at] = (old & !takes | new & takes) & !(new & self.clearable[at]);
        }
    }

    /// Whether the lock is set.
    pub fn is_locked(&self) -> bool {
        self.lock_at.is_some_and(|at| self.bytes[at] & 1 == 1)
    }

    /// Bytes of a register.
    pub fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }

    /// A little-endian number of at most 16 bytes, `at` the beginning of its capability.
    pub fn number(&self, at: usize, range: Range<usize>) -> u128 {
        self.bytes[at + range.start..at + range.end].iter().rev().fold(0, |n, &b| n << 8 | u128::from(b))
    }

    /// A register of a DVSEC.
    fn register<T: Wire>(&self, id: DvsecId, range: Range<usize>) -> Option<T> {
        self.dvsec(id).map(|at| T::from_bits(self.number(at, range)))
    }

    /// The extended capabilities in order: where each begins and its ID.
    pub fn extended_capabilities(&self) -> Vec<(usize, u16)> {
        let mut found = Vec::new();
        let mut at = EXTENDED_AT;
        while (EXTENDED_AT..BYTES).contains(&at) {
            let header = DvsecHeader::from_bits(u128::from(self.read(at as u16)));
            if header.capability_id == 0 || found.len() > BYTES / 4 {
                break;
            }
            found.push((at, header.capability_id));
            at = usize::from(header.next_bytes);
        }
        found
    }

    /// Where a DVSEC of CXL begins, `None` where the space has none.
    pub fn dvsec(&self, id: DvsecId) -> Option<usize> {
        let dvsecs = self.extended_capabilities().into_iter().filter(|(_, id)| *id == CAPABILITY_ID);
        dvsecs.map(|(at, _)| at).find(|&at| {
            let header = self.header_at(at);
            header.vendor == VENDOR_ID && header.dvsec_id == id.number()
        })
    }

    /// The DVSEC header that begins at a byte.
    pub fn header_at(&self, at: usize) -> DvsecHeader {
        DvsecHeader::from_bits(self.number(at, dvsec::device::HEADER))
    }

    // ---- what the registers say ----------------------------------------------------------------------------------

    /// Whether memory requests are answered (command register).
    pub fn memory_enabled(&self) -> bool {
        self.bytes[reg::COMMAND.start] & reg::COMMAND_MEMORY != 0
    }

    /// Whether CXL.mem may be used.
    pub fn cxl_mem_enabled(&self) -> bool {
        self.register(DvsecId::Device, dvsec::device::CONTROL).is_some_and(|c: DeviceControl| c.mem_enable)
    }

    /// Address and size of BAR n of 0 and 1, both of 64 bits; `None` for one that is not there.
    pub fn bar(&self, n: usize) -> Option<Range<u64>> {
        let at = reg::bar_at(n);
        // A port has bus numbers where a device has its second BAR.
        if n >= reg::BARS || n > 0 && self.bytes[reg::HEADER_TYPE] != reg::TYPE_DEVICE {
            return None;
        }
        let size_mask = self.mask(at..at + 8) & !0xf;
        let size_bytes = size_mask.wrapping_neg();
        let base = self.number(at, 0..8) as u64 & size_mask;
        (size_mask != 0).then(|| base..base.saturating_add(size_bytes))
    }

    /// Bits of a register that can be written, as a number of 64 bits.
    fn mask(&self, range: Range<usize>) -> u64 {
        self.writable[range].iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
    }

    /// Address range of memory range n of 0 and 1, as programmed; `None` for one that is not there.
    pub fn memory_range(&self, n: usize) -> Option<Range<u64>> {
        let at = self.dvsec(DvsecId::Device)? + dvsec::RANGE_STRIDE * n;
        let half = |range: Range<usize>| self.number(at, range) as u64;
        let low = !reg::RANGE_LOW_STATE;
        let size = half(dvsec::device::RANGE0_SIZE_HIGH) << 32 | half(dvsec::device::RANGE0_SIZE_LOW) & low;
        let base = half(dvsec::device::RANGE0_BASE_HIGH) << 32 | half(dvsec::device::RANGE0_BASE_LOW) & low;
        (size != 0).then(|| base..base.saturating_add(size))
    }

    /// Largest payload that the device may send \[bytes\], from its PCI Express capability.
    pub fn max_payload_bytes(&self) -> usize {
        reg::payload_bytes(self.bytes[reg::PCIE_AT + reg::PCIE_DEVICE_CONTROL] >> 5 & 7)
    }

    /// What the Flex Bus port can do.
    pub fn flex_bus(&self) -> FlexBus {
        self.register(DvsecId::FlexBusPort, dvsec::flex_bus_port::CAPABILITY).unwrap_or_default()
    }

    /// What the Flex Bus port says of its link.
    pub fn flex_bus_status(&self) -> FlexBusStatus {
        self.register(DvsecId::FlexBusPort, dvsec::flex_bus_port::STATUS).unwrap_or_default()
    }

    // ---- what the hardware does ----------------------------------------------------------------------------------

    /// Training is over: the status says what was agreed with a peer of these capabilities (CXLIO-DVS-03).
    pub fn trained(&mut self, peer: &FlexBus, mode: ConnectedMode) {
        let mine = self.flex_bus();
        let is_256b = mode >= ConnectedMode::Standard256b;
        let agreed = FlexBusStatus {
            cache: mine.cache && peer.cache,
            io: true,
            mem: mine.mem && peer.mem,
            // 256B links have a virtual hierarchy too.
            vh_68b: mode == ConnectedMode::Vh68b || is_256b && mine.vh_68b && peer.vh_68b,
            mld: mine.mld && peer.mld,
            lopt_256b: mode == ConnectedMode::LatencyOptimised256b,
            pbr: mode == ConnectedMode::Pbr,
            ..FlexBusStatus::default()
        };
        self.set_status(|status| *status = agreed);
    }

    /// The link saw an error (CXLIO-DVS-04); the bit stays until software clears it.
    pub fn note(&mut self, error: LinkError) {
        self.set_status(|status| match error {
            LinkError::EvenHalfFailed => status.even_half_failed = true,
            LinkError::PidCorrected => status.pid_corrected = true,
            LinkError::PidUncorrectable => status.pid_uncorrectable = true,
            LinkError::PidUnexpected => status.pid_unexpected = true,
        });
    }

    fn set_status(&mut self, change: impl FnOnce(&mut FlexBusStatus)) {
        let Some(at) = self.dvsec(DvsecId::FlexBusPort) else { return };
        let mut status = self.flex_bus_status();
        change(&mut status);
        self.set(at + dvsec::flex_bus_port::STATUS.start, &bytes_of(&status));
    }

    /// Power management initialisation is over: the device says so in its second status.
    pub fn pm_init_complete(&mut self) {
        if let Some(at) = self.dvsec(DvsecId::Device) {
            self.bytes[at + dvsec::device::STATUS2.start + 1] |= reg::STATUS2_HIGH_PM_INIT;
        }
    }

    // ---- building ------------------------------------------------------------------------------------------------

    fn set(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn make_writable(&mut self, at: usize, mask: &[u8]) {
        for (n, bits) in mask.iter().enumerate() {
            self.writable[at + n] |= bits;
        }
    }

    fn make_lockable(&mut self, at: usize, mask: &[u8]) {
        self.make_writable(at, mask);
        for (n, bits) in mask.iter().enumerate() {
            self.lockable[at + n] |= bits;
        }
    }

    fn make_clearable(&mut self, at: usize, mask: &[u8]) {
        for (n, bits) in mask.iter().enumerate() {
            self.clearable[at + n] |= bits;
        }
    }

    /// A 64-bit memory BAR whose size is a power of two.
    fn add_bar(&mut self, n: usize, size_bytes: u64) {
        let at = reg::bar_at(n);
        self.bytes[at] = reg::BAR_64_BIT;
        self.make_writable(at, &size_bytes.wrapping_neg().to_le_bytes());
    }

    /// Appends a DVSEC of zeros to the list and answers where it begins.
    fn add_dvsec(&mut self, id: DvsecId, length_bytes: usize) -> usize {
        let at = self.append(length_bytes);
        self.set(at, &bytes_of(&id.header(length_bytes)));
        at
    }

    /// The capability of a device with a serial number.
    fn add_serial_number(&mut self, number: u64) {
        let at = self.append(reg::SERIAL_BYTES);
        // Version 1, nothing behind it.
        self.set(at, &(1 << 16 | u32::from(reg::SERIAL_ID)).to_le_bytes());
        self.set(at + reg::SERIAL_AT, &number.to_le_bytes());
    }

    /// Makes room for an extended capability at the end of the list; where it begins.
    fn append(&mut self, length_bytes: usize) -> usize {
        let at = self.end;
        if let Some(last) = self.last {
            let mut before = self.header_at(last);
            before.next_bytes = at as u16;
            self.set(last, &bytes_of(&before));
        }
        self.last = Some(at);
        // The next one begins at a whole DW.
        self.end = (at + length_bytes).next_multiple_of(4);
        at
    }

    /// The DVSEC of a Flex Bus port: controls can be written, error bits cleared.
    fn add_flex_bus(&mut self, can: FlexBus) {
        let at = self.add_dvsec(DvsecId::FlexBusPort, dvsec::flex_bus_port::LEN);
        self.set(at + dvsec::flex_bus_port::CAPABILITY.start, &bytes_of(&can));
        self.set(at + dvsec::flex_bus_port::CONTROL.start, &bytes_of(&can));
        let may = FlexBus { io: false, ..can };
        self.make_writable(at + dvsec::flex_bus_port::CONTROL.start, &bytes_of(&may));
        let errors = FlexBusStatus {
            even_half_failed: true,
            pid_corrected: true,
            pid_uncorrectable: true,
            pid_unexpected: true,
            ..FlexBusStatus::default()
        };
        self.make_clearable(at + dvsec::flex_bus_port::STATUS.start, &bytes_of(&errors));
    }

    /// The DVSEC that says where the component registers are: at the beginning of BAR 0.
    fn add_register_locator(&mut self) {
        let at = self.add_dvsec(DvsecId::RegisterLocator, dvsec::register_locator::LEN);
        let block = reg::BLOCK_COMPONENT << 8;
        self.set(at + dvsec::register_locator::BLOCK1_LOW.start, &block.to_le_bytes());
    }
}

/// Bytes of a register; every value that is built here fits, and zeros would be seen at once.
fn bytes_of<T: Wire>(register: &T) -> Vec<u8> {
    T::DEF.to_bytes(register.to_bits().unwrap_or(0))
}
