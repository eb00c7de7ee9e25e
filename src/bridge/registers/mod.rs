//! Registers of a bridge, in a window of 4 KiB of the addresses of accelerators (`bridge` §2, §9.1, §9.9).
//!
//! Modelled: the block of [`scalepool_protocols::registers::bridge`], and nothing beside it: what software can write of a register, and what starts
//! something, is what its fields say there. Registers have 64 bits, little-endian; one that is not written whole keeps what it holds. Windows,
//! rights and groups are shadow [`tables`]. Left out: who may use them, since the window has no class to which rights belong; windows from CXL,
//! which stay.
//!
//! A walk: op, base, length and start of the management are written by one write of a line; what is written is kept, start is not, and an operation
//! on the range begins; done reads 0 until it has ended.

pub mod tables;

use crate::window::{AccessRights, GROUPS, WindowClass};
use scalepool_memory::LineBytes;
use scalepool_protocols::bridge::{
    BRIDGE_REGISTER_BYTES, BRIDGE_TABLES_AT, BridgeDone, BridgeFlip, BridgeFlips, BridgeManagementOp, BridgeStatus,
    CONTROL_BYTES, bridge_management, bridge_tables,
};
use scalepool_protocols::registers::bridge::BRIDGE;
use scalepool_protocols::registers::{RegisterAccess, RegisterField};
use scalepool_protocols::wire::Wire;

/// Registers of the window, those that there are not among them.
const REGISTERS: usize = CONTROL_BYTES as usize / BRIDGE_REGISTER_BYTES;
/// Registers of a line.
const OF_LINE: usize = 64 / BRIDGE_REGISTER_BYTES;

/// Where the registers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlWindow {
    /// Their first address: a multiple of 4 KiB, outside of all windows.
    pub base: u64,
    /// What groups of sources may do there.
    pub rights: [AccessRights; GROUPS],
    /// CXL ports of the bridge, among which windows can be dealt.
    pub ports: usize,
    /// The first so many of them lead to memory that nobody keeps coherent, which takes class MN; those behind them to devices that
    /// keep theirs coherent, which take class MC.
    pub plain_ports: usize,
    /// First CXL port that leads to a host, which takes class CC.
    pub first_host: usize,
    /// The port of the own home, which takes class HP.
    pub hairpin: Option<usize>,
    /// The first port of CXL.io, which takes class IO, as all behind it do.
    pub io_from: usize,
}

impl ControlWindow {
    /// Whether an address of accelerators is one of them.
    pub fn holds(&self, address: u64) -> bool {
        address >= self.base && address - self.base < CONTROL_BYTES
    }

    /// The class of windows that lead to a port.
    pub fn class_at(&self, port: usize) -> WindowClass {
        match port {
            _ if Some(port) == self.hairpin => WindowClass::Hp,
            _ if port >= self.io_from => WindowClass::Io,
            _ if port >= self.first_host => WindowClass::Cc,
            _ if port >= self.plain_ports => WindowClass::Mc,
            _ => WindowClass::Mn,
        }
    }
}

/// What is done to lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ManagedRange {
    /// Stores go to memory.
    pub flush: bool,
    /// Lines leave.
    pub invalidate: bool,
    /// First address of accelerators.
    pub base: u64,
    /// Bytes.
    pub length: u64,
}

impl ManagedRange {
    /// Whether so many bytes from an address on have one in common with it; a range without a byte has none, wherever it lies.
    pub fn meets(&self, address: u64, bytes: u64) -> bool {
        self.length > 0 && address < self.base.saturating_add(self.length) && self.base < address.saturating_add(bytes)
    }
}

/// What a write starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterStart {
    /// An operation on lines that nobody keeps coherent.
    Manage(ManagedRange),
    /// The shadow tables are committed.
    Commit,
    /// A bit of the memory of the cache flips: in the line of an address, by its number.
    Flip(u64, usize),
}

/// What software may do with a register.
#[derive(Debug, Clone, Copy, Default)]
struct RegisterRights {
    /// Bits that take what is written.
    writes: u64,
    /// Bits that start something and read 0.
    starts: u64,
}

/// The registers.
#[derive(Debug, Clone)]
pub struct BridgeRegisters {
    values: Vec<u64>,
    rights: Vec<RegisterRights>,
}

/// Bits of a field.
fn mask(field: &RegisterField) -> u64 {
    u64::MAX >> (64 - field.width) << field.lsb
}

/// Number of a register by where it stands in its byte map, and where the map begins.
fn number(at: usize, segment: std::ops::Range<usize>) -> usize {
    (at + segment.start) / BRIDGE_REGISTER_BYTES
}

/// Bits of a register; what does not fit its field is a mistake of the bridge, and reads 0.
fn bits(register: &impl Wire) -> u64 {
    register.to_bits().unwrap_or_default() as u64
}

impl Default for BridgeRegisters {
    /// As after a reset, without a window.
    fn default() -> BridgeRegisters {
        let mut registers =
            BridgeRegisters { values: vec![0; REGISTERS], rights: vec![RegisterRights::default(); REGISTERS] };
        for file in BRIDGE.files {
            for (register, copy) in
                file.registers().iter().flat_map(|register| (0..file.count).map(move |n| (register, n)))
            {
                let at = file.at_byte + copy * file.stride_bytes + register.at_byte;
                let own = &mut registers.rights[at / BRIDGE_REGISTER_BYTES];
                for field in &register.fields {
                    let reset = field.reset.unwrap_or(0) << field.lsb;
                    registers.values[at / BRIDGE_REGISTER_BYTES] |= reset;
                    match field.access {
                        RegisterAccess::ReadWrite => own.writes |= mask(field),
                        RegisterAccess::Starts => own.starts |= mask(field),
                        _ => (),
                    }
                }
            }
        }
        registers
    }
}

impl BridgeRegisters {
    fn management(&mut self, segment: std::ops::Range<usize>) -> &mut u64 {
        &mut self.values[number(0, segment)]
    }

    fn table(&mut self, segment: std::ops::Range<usize>) -> &mut u64 {
        &mut self.values[number(BRIDGE_TABLES_AT, segment)]
    }

    /// A line of the window, as it is read.
    pub fn line(&self, n: usize) -> LineBytes {
        let mut line = [0; 64];
        let registers = self.values.iter().skip(n * OF_LINE);
        for (bytes, register) in line.chunks_exact_mut(BRIDGE_REGISTER_BYTES).zip(registers) {
            bytes.copy_from_slice(&register.to_le_bytes());
        }
        line
    }

    /// Registers of a line that are written whole under a mask of bytes, with what is written.
    pub fn written(n: usize, data: &LineBytes, mask: u64) -> impl Iterator<Item = (usize, u64)> {
        let values = data.chunks_exact(BRIDGE_REGISTER_BYTES).enumerate();
        let whole = values.filter(move |(register, _)| mask >> (8 * register) & 0xff == 0xff);
        whole.map(move |(register, bytes)| {
            (n * OF_LINE + register, u64::from_le_bytes(bytes.try_into().unwrap_or([0; 8])))
        })
    }

    /// A register is written: what starts now, if something does. While an operation runs, what it is about stays.
    pub fn write(&mut self, register: usize, value: u64) -> Option<RegisterStart> {
        let RegisterRights { writes, starts } = *self.rights.get(register)?;
        let is_of_operation =
            [bridge_management::OP, bridge_management::BASE, bridge_management::LENGTH].map(|s| number(0, s));
        if !(self.is_running() && is_of_operation.contains(&register)) {
            let own = &mut self.values[register];
            *own = *own & !writes | value & writes;
        }
        if value & starts == 0 {
            return None;
        }
        if register == number(0, bridge_management::START) {
            return self.operation().map(RegisterStart::Manage);
        }
        if register == number(BRIDGE_TABLES_AT, bridge_tables::COMMIT) {
            return Some(RegisterStart::Commit);
        }
        let address = *self.table(bridge_tables::FLIP_ADDRESS);
        let flip = BridgeFlip::from_bits(u128::from(*self.table(bridge_tables::FLIP)));
        Some(RegisterStart::Flip(address, flip.bit_number.into()))
    }

    /// The operation that begins; `None`: none is named, or one runs.
    fn operation(&mut self) -> Option<ManagedRange> {
        let op = BridgeManagementOp::from_bits(u128::from(*self.management(bridge_management::OP)));
        let (flush, invalidate) = (op.flush, op.invalidate);
        if self.is_running() || !(flush || invalidate) {
            self.error();
            return None;
        }
        self.set_running(true);
        let base = *self.management(bridge_management::BASE);
        Some(ManagedRange { flush, invalidate, base, length: *self.management(bridge_management::LENGTH) })
    }

    fn is_running(&self) -> bool {
        !BridgeDone::from_bits(u128::from(self.values[number(0, bridge_management::DONE)])).done
    }

    /// An operation runs from here on, or none does.
    pub fn set_running(&mut self, is_running: bool) {
        *self.management(bridge_management::DONE) = bits(&BridgeDone { done: !is_running, ..BridgeDone::default() });
    }

    /// A start is refused, or a write was poisoned.
    pub fn error(&mut self) {
        *self.management(bridge_management::ERRORS) += 1;
    }

    /// The store of a line is dropped.
    pub fn lost(&mut self) {
        *self.management(bridge_management::LOST) += 1;
    }

    /// What the bridge says of itself.
    pub fn show(&mut self, epoch: u64, is_committing: bool, is_viral: bool) {
        *self.table(bridge_tables::EPOCH) = epoch;
        let status = self.table(bridge_tables::STATUS);
        let before = BridgeStatus::from_bits(u128::from(*status));
        *status = bits(&BridgeStatus { committing: is_committing, viral: is_viral, ..before });
    }

    /// What became of a bit that was to flip.
    pub fn flipped(&mut self, has_flipped: bool) {
        let flips = self.table(bridge_tables::FLIPS);
        let BridgeFlips { flipped, refused } = BridgeFlips::from_bits(u128::from(*flips));
        let counted = |count: u32, more: bool| count.saturating_add(u32::from(more));
        *flips = bits(&BridgeFlips { flipped: counted(flipped, has_flipped), refused: counted(refused, !has_flipped) });
    }
}
