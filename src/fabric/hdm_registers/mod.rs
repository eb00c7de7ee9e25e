//! HDM decoders as software sees them: registers that are written and read, and what a commit makes of them (`fabric` §2.1).
//!
//! Modelled: the registers of a device and of a switch or host bridge; a commit with and without lock, everything that refuses it, and
//! the bits that tell the result; which decoder an address hits, the port of a bridge and the address in a device, with skips.
//! Detail: registers of 32 bits, written as a whole, whose writable bits are those of
//! [`scalepool_protocols::registers::cxl`]. Left out: the time that a commit takes (at most 10 ms; the next read has the result here),
//! UIO, back-invalidation, and where the block lies. A reference for software and RTL: the decoders of a running system come from its
//! memory map ([`scalepool_memory::bridge`]), which nobody writes register by register.
//!
//! A walk through one decoder: software writes base, size and targets or skip, which are only kept; then it writes the control register
//! with the commit bit. `refusals` of the file `commit` judges the registers; what it accepts is copied to what is in use, Committed is
//! read as 1, and with Lock on commit the registers take no further write. A refused commit sets Error instead, and nothing is in use.
//! Commit written as 0 ends both.
//!
//! Our choices where the sheet is silent, all of them here: a commit bit that is 1 already and is written as 1 begins nothing; a decoder
//! without lock may be written while it is in use, and decodes as it was committed until it is committed anew; a decoder that is not in
//! use has no share of the device; the lowest decoder that is hit decides; the global control keeps both of its
//! bits in every part, and means something by the second one in a device alone.

mod commit;
mod setup;

pub use setup::{HdmDecoderSetup, HdmSetupError, HdmWrite};

use commit::refusals;
use scalepool_memory::decoder::{Arithmetic, Interleave};
use scalepool_protocols::cxl::hdm_decoder::{
    DECODER_STRIDE, DECODERS_AT, HdmCapability, HdmControl, HdmDecoderCount, HdmGlobalControl,
    hdm_bridge_decoder as bridge, hdm_device_decoder as device, hdm_head as head,
};
use scalepool_protocols::registers::cxl::{BRIDGE_DECODERS, DEVICE_DECODERS};
use scalepool_protocols::registers::{RegisterAccess, RegisterBlock, RegisterFile};
use scalepool_protocols::wire::{Findings, Wire};

/// Bytes of a register.
const REGISTER_BYTES: usize = 4;
/// Registers of a decoder.
const REGISTERS: usize = DECODER_STRIDE / REGISTER_BYTES;

/// The bit of a flag of the control register.
const fn bit(field: &'static str) -> u32 {
    1 << HdmControl::DEF.known_field(field).lsb
}

/// Whose decoders they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecoderOwner {
    /// A device: from a host address to its own.
    Device,
    /// A switch or a host bridge: from a host address to a port.
    Bridge,
}

impl DecoderOwner {
    /// Both.
    pub const ALL: [DecoderOwner; 2] = [DecoderOwner::Device, DecoderOwner::Bridge];

    /// Its name in vectors.
    pub const fn name(self) -> &'static str {
        match self {
            DecoderOwner::Device => "device",
            DecoderOwner::Bridge => "bridge",
        }
    }

    const fn block(self) -> &'static RegisterBlock {
        match self {
            DecoderOwner::Device => &DEVICE_DECODERS,
            DecoderOwner::Bridge => &BRIDGE_DECODERS,
        }
    }
}

/// Why a block cannot be, or has no such register.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HdmRegisterError {
    /// A count of decoders that has no code, or that a device cannot have.
    #[error("found code {found} of the number of decoders of a {owner}, expected 0 to {most} (fabric §2.1)")]
    Count {
        /// The code.
        found: u8,
        /// Device or bridge.
        owner: &'static str,
        /// The largest code.
        most: u8,
    },
    /// A number of targets that is not 1, 2, 4 or 8 in a bridge.
    #[error("found {found} targets of a decoder of a bridge, expected 1, 2, 4 or 8 (fabric §2.1)")]
    Targets {
        /// The number.
        found: u8,
    },
    /// No register begins there.
    #[error("found offset {found:#x}, expected a multiple of 4 below {end:#x}")]
    Offset {
        /// The offset.
        found: usize,
        /// The end of the block.
        end: usize,
    },
}

/// What a committed decoder decodes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct InUse {
    base: u64,
    size: u64,
    interleave: Interleave,
    /// Port of each way; of a bridge.
    targets: [u8; 8],
    /// Bytes of the device that are left out below its share.
    skip: u64,
    /// It was committed with lock, so its registers stay as they are.
    is_locked: bool,
}

impl InUse {
    fn holds(&self, address: u64) -> bool {
        address.checked_sub(self.base).is_some_and(|offset| offset < self.size)
    }

    /// The first address behind it, which may be 2^64.
    fn end(&self) -> u128 {
        u128::from(self.base) + u128::from(self.size)
    }

    fn overlaps(&self, other: &InUse) -> bool {
        let begins = u128::from(self.base.max(other.base));
        begins < self.end().min(other.end())
    }
}

/// A decoder: its registers without the bits of its state, and what is in use.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DecoderRegisters {
    registers: [u32; REGISTERS],
    in_use: Option<InUse>,
    has_failed: bool,
}

impl DecoderRegisters {
    const RESET: DecoderRegisters = DecoderRegisters { registers: [0; REGISTERS], in_use: None, has_failed: false };

    fn at(&self, register: std::ops::Range<usize>) -> u32 {
        self.registers[register.start / REGISTER_BYTES]
    }

    /// A number of 64 bits in two registers.
    fn wide(&self, low: std::ops::Range<usize>, high: std::ops::Range<usize>) -> u64 {
        u64::from(self.at(high)) << 32 | u64::from(self.at(low))
    }

    fn control(&self) -> HdmControl {
        HdmControl::from_bits(self.at(device::CONTROL).into())
    }

    fn is_locked(&self) -> bool {
        self.in_use.is_some_and(|in_use| in_use.is_locked)
    }

    /// What its registers would decode by; `None`: a code of ways or granularity has no meaning.
    fn as_written(&self, owner: DecoderOwner) -> Option<InUse> {
        let control = self.control();
        let interleave = Interleave::new(control.ways.ways()?, control.granularity.bytes()?, Arithmetic::Modulo)?;
        let (mut targets, mut skip) = ([0; 8], 0);
        match owner {
            DecoderOwner::Bridge => {
                let ports = self.wide(bridge::TARGETS_LOW, bridge::TARGETS_HIGH);
                targets = ports.to_le_bytes();
            }
            DecoderOwner::Device => skip = self.wide(device::SKIP_LOW, device::SKIP_HIGH),
        }
        let (base, size) =
            (self.wide(device::BASE_LOW, device::BASE_HIGH), self.wide(device::SIZE_LOW, device::SIZE_HIGH));
        Some(InUse { base, size, interleave, targets, skip, is_locked: control.lock_on_commit })
    }
}

/// Where an address leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HdmTarget {
    /// To a port of the bridge.
    Port(u8),
    /// To this address of the device.
    Device(u64),
}

/// A hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HdmHit {
    /// Number of the decoder.
    pub decoder: usize,
    /// Where it leads.
    pub target: HdmTarget,
}

/// The registers of all decoders of a device or a bridge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HdmDecoderRegisters {
    owner: DecoderOwner,
    capability: HdmCapability,
    capability_bits: u32,
    global: u32,
    decoders: Vec<DecoderRegisters>,
}

impl HdmDecoderRegisters {
    /// The registers as they are after reset; `capability` is the register that says what the decoders can do.
    ///
    /// # Errors
    /// A capability that no such part has.
    pub fn new(owner: DecoderOwner, capability: u32) -> Result<HdmDecoderRegisters, HdmRegisterError> {
        let capability_bits = capability & !(HdmCapability::DEF.reserved() as u32);
        let capability = HdmCapability::from_bits(capability_bits.into());
        let most = match owner {
            DecoderOwner::Device => HdmDecoderCount::Decoders10,
            DecoderOwner::Bridge => HdmDecoderCount::Decoders32,
        };
        let code = capability.decoder_count;
        let count = code.decoders().filter(|_| code.0 <= most.0).ok_or(HdmRegisterError::Count {
            found: code.0,
            owner: owner.name(),
            most: most.0,
        })?;
        let targets = capability.target_count;
        if owner == DecoderOwner::Bridge && !matches!(targets, 1 | 2 | 4 | 8) {
            return Err(HdmRegisterError::Targets { found: targets });
        }
        let decoders = vec![DecoderRegisters::RESET; count];
        Ok(HdmDecoderRegisters { owner, capability, capability_bits, global: 0, decoders })
    }

    /// Whose they are.
    pub fn owner(&self) -> DecoderOwner {
        self.owner
    }

    /// Number of decoders.
    pub fn count(&self) -> usize {
        self.decoders.len()
    }

    /// Where the control register of a decoder is.
    pub const fn control_at(decoder: usize) -> usize {
        DECODERS_AT + DECODER_STRIDE * decoder + device::CONTROL.start
    }

    /// What software reads.
    ///
    /// # Errors
    /// No register begins at that offset.
    pub fn read(&self, offset: usize) -> Result<u32, HdmRegisterError> {
        Ok(match self.place(offset)? {
            RegisterPlace::Head(at) if at == head::CAPABILITY.start => self.capability_bits,
            RegisterPlace::Head(at) if at == head::GLOBAL_CONTROL.start => self.global,
            RegisterPlace::Head(_) => 0,
            RegisterPlace::Decoder(n, at) => {
                let decoder = &self.decoders[n];
                let state = match at == device::CONTROL.start {
                    true if decoder.in_use.is_some() => bit("committed"),
                    true if decoder.has_failed => bit("commit_error"),
                    _ => 0,
                };
                decoder.registers[at / REGISTER_BYTES] | state
            }
        })
    }

    /// Software writes a register. Reserved bits, bits of the decoder's state and registers of a locked decoder stay as they are.
    ///
    /// A commit that is refused gives a broken rule for each reason; one that is accepted, but that software should not have begun or
    /// ended in this order, a lint (`fabric` HDM-3).
    ///
    /// # Errors
    /// No register begins at that offset.
    pub fn write(&mut self, offset: usize, value: u32) -> Result<Findings, HdmRegisterError> {
        let mut findings = Findings::default();
        let (head, decoders) = match self.owner.block().files {
            [head, decoders] => (head, decoders),
            _ => unreachable!("a block of decoders has a head and an array"),
        };
        match self.place(offset)? {
            RegisterPlace::Head(at) => {
                if at == head::GLOBAL_CONTROL.start {
                    self.global = value & writable(head, at);
                }
            }
            RegisterPlace::Decoder(n, _) if self.decoders[n].is_locked() => (),
            RegisterPlace::Decoder(n, at) => {
                let before = self.decoders[n].control().commit;
                self.decoders[n].registers[at / REGISTER_BYTES] = value & writable(decoders, at);
                let after = self.decoders[n].control().commit;
                if !before && after {
                    self.commit(n, &mut findings);
                } else if before && !after {
                    self.end(n, &mut findings);
                }
            }
        }
        Ok(findings)
    }

    /// Where an address leads; `None`: no decoder is hit, or those of a device are not enabled.
    pub fn look_up(&self, address: u64) -> Option<HdmHit> {
        let is_enabled = HdmGlobalControl::from_bits(self.global.into()).decoder_enable;
        if self.owner == DecoderOwner::Device && !is_enabled {
            return None;
        }
        let hit = |(decoder, one): (usize, &DecoderRegisters)| {
            one.in_use.filter(|in_use| in_use.holds(address)).map(|in_use| (decoder, in_use))
        };
        let (decoder, in_use) = self.decoders.iter().enumerate().find_map(hit)?;
        let target = match self.owner {
            DecoderOwner::Bridge => HdmTarget::Port(in_use.targets[in_use.interleave.way(address)]),
            DecoderOwner::Device => {
                let share = in_use.interleave.share_offset(address - in_use.base);
                HdmTarget::Device(self.device_base(decoder).wrapping_add(share))
            }
        };
        Some(HdmHit { decoder, target })
    }

    /// Where the share of a decoder begins in the device (`fabric` §2.3): behind the shares and skips of those below it. Device
    /// addresses have 64 bits; sizes that add up to more are software's mistake, and wrap.
    fn device_base(&self, decoder: usize) -> u64 {
        let below = self.decoders[..decoder].iter().filter_map(|one| one.in_use);
        let own = self.decoders[decoder].in_use.map_or(0, |in_use| in_use.skip);
        below.fold(own, |base, one| base.wrapping_add(one.skip).wrapping_add(one.size / one.interleave.ways()))
    }

    fn commit(&mut self, n: usize, findings: &mut Findings) {
        let refusals = refusals(self, n);
        let decoder = &mut self.decoders[n];
        decoder.in_use = if refusals.is_empty() { decoder.as_written(self.owner) } else { None };
        decoder.has_failed = decoder.in_use.is_none();
        findings.violations = refusals;
        if n > 0 && self.decoders[n].in_use.is_some() && self.decoders[n - 1].in_use.is_none() {
            commit::out_of_order(n, "the decoder before is not committed", findings);
        }
    }

    /// Commit is written as 0.
    fn end(&mut self, n: usize, findings: &mut Findings) {
        let was_in_use = self.decoders[n].in_use.take().is_some();
        self.decoders[n].has_failed = false;
        if was_in_use && self.decoders[n + 1..].iter().any(|above| above.in_use.is_some()) {
            commit::out_of_order(n, "a decoder above is still committed", findings);
        }
    }

    fn place(&self, offset: usize) -> Result<RegisterPlace, HdmRegisterError> {
        let end = DECODERS_AT + DECODER_STRIDE * self.decoders.len();
        if !offset.is_multiple_of(REGISTER_BYTES) || offset >= end {
            return Err(HdmRegisterError::Offset { found: offset, end });
        }
        Ok(match offset.checked_sub(DECODERS_AT) {
            None => RegisterPlace::Head(offset),
            Some(behind) => RegisterPlace::Decoder(behind / DECODER_STRIDE, behind % DECODER_STRIDE),
        })
    }
}

/// Where a register is.
enum RegisterPlace {
    /// Before the decoders.
    Head(usize),
    /// In the registers of a decoder.
    Decoder(usize, usize),
}

/// Bits of a register that software writes.
fn writable(file: &RegisterFile, at: usize) -> u32 {
    let registers = file.registers().into_iter().filter(|register| register.at_byte == at);
    let fields = registers.flat_map(|register| register.fields);
    let written = fields.filter(|field| matches!(field.access, RegisterAccess::ReadWrite | RegisterAccess::Lockable));
    written.fold(0, |bits, field| bits | (((1u64 << field.width) - 1) << field.lsb) as u32)
}
