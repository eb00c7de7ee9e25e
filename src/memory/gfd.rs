//! Addresses of a G-FAM device (GFD): one device address space (DPA) for all who ask (`fabric` §3.6).
//!
//! Modelled: up to eight decoders for each requester, which is known by its PID; removal of interleave bits; memory groups and the
//! access vector of each requester; the way back from a device address to the address of a requester, which a back-invalidate
//! snoop needs. Detail: addresses, without time. Left out: the registers of the tables, dynamic capacity, and the management
//! endpoint that writes them.
//!
//! A walk through one request: the decoders of its SPID are asked; exactly one has to hold the address. What is left without the
//! interleave bits, behind the decoder's own device address, lies in a memory group, which the requester has to be allowed. Else
//! it is an access error, and nothing is read or written.

use crate::decoder::GRANULARITIES;
use scalepool_ordered::{OrderedMap, OrderedSet};

/// Decoders of a requester (`fabric` GFD-2).
pub const GFD_DECODERS: usize = 8;
/// Most ways of an interleave (`fabric` GFD-2); 1 is none.
pub const GFD_WAYS: u64 = 256;
/// Most media partitions (`fabric` GFD-3).
pub const GFD_PARTITIONS: usize = 4;
/// A partition is a multiple of this \[bytes\] (`fabric` GFD-3).
pub const GFD_PARTITION_STEP: u64 = 256 << 20;
/// The smallest block of a memory group \[bytes\] (`fabric` GFD-3).
pub const GFD_BLOCK: u64 = 64 << 20;

/// A decoder of a requester.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GfdDecoder {
    /// First address of the requester.
    pub base: u64,
    /// First device address.
    pub device_base: u64,
    /// Bytes of the device.
    pub bytes: u64,
    /// Bytes in a row at one device of the interleave.
    pub granularity: u64,
    /// Devices of the interleave, a power of two; 1: none.
    pub ways: u64,
    /// Which of them it is, for the way back.
    pub way: u64,
}

impl GfdDecoder {
    /// The device address of an address of the requester; `None`: it does not hold it.
    fn device_address(&self, address: u64) -> Option<u64> {
        let offset = address.checked_sub(self.base)?;
        let inner = offset / self.granularity / self.ways * self.granularity + offset % self.granularity;
        (inner < self.bytes).then(|| self.device_base + inner)
    }

    /// The address at which the requester knows a device address; `None`: it does not lead there.
    fn requester_address(&self, device_address: u64) -> Option<u64> {
        let inner = device_address.checked_sub(self.device_base).filter(|inner| *inner < self.bytes)?;
        let chunk = inner / self.granularity * self.ways + self.way;
        Some(self.base + chunk * self.granularity + inner % self.granularity)
    }
}

/// Device addresses of a memory group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GfdGroup {
    /// First device address.
    pub first: u64,
    /// Bytes.
    pub bytes: u64,
    /// The group. What is in no range is in group 0.
    pub group: u8,
}

/// What a requester may do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GfdRequester {
    /// Its decoders.
    pub decoders: Vec<GfdDecoder>,
    /// Groups that its access vector allows.
    pub groups: OrderedSet<u8>,
}

/// Why a table is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GfdTableError {
    /// The media partitions.
    #[error(
        "found {count} media partitions of {bytes} bytes together, expected 1 to {GFD_PARTITIONS}, each a multiple of 256 MiB (fabric GFD-3)"
    )]
    Partitions {
        /// How many.
        count: usize,
        /// Bytes of all.
        bytes: u64,
    },
    /// A range of a group.
    #[error(
        "found a memory group of {bytes} bytes from {first:#x} on, expected multiples of 64 MiB in the device (fabric GFD-3)"
    )]
    Block {
        /// Its first address.
        first: u64,
        /// Its bytes.
        bytes: u64,
    },
    /// Two groups for one device address.
    #[error("found the device address {found:#x} in two ranges, expected one memory group (fabric GFD-3)")]
    Overlap {
        /// The address.
        found: u64,
    },
    /// The number of decoders.
    #[error("found {found} decoders of a requester, expected at most {GFD_DECODERS} (fabric GFD-2)")]
    Decoders {
        /// How many.
        found: usize,
    },
    /// An interleave that no decoder says.
    #[error(
        "found {ways} ways of {granularity} bytes, of which it is number {way}, expected a power of two up to {GFD_WAYS}, 256 to 16384 bytes, and a number below the ways (fabric GFD-2)"
    )]
    Interleave {
        /// Its ways.
        ways: u64,
        /// Its granularity.
        granularity: u64,
        /// Its number.
        way: u64,
    },
    /// A decoder beyond the device.
    #[error(
        "found a decoder up to the device address {end:#x}, expected at most {bytes:#x}, the device (fabric GFD-2)"
    )]
    Range {
        /// Its end.
        end: u64,
        /// Bytes of the device.
        bytes: u64,
    },
}

/// Why a request reaches nothing: an access error (`fabric` GFD-5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GfdAccessError {
    /// No decoder of the requester holds the address, or there is no such requester.
    #[error("no decoder of the requester holds the address (fabric GFD-2)")]
    NotDecoded,
    /// Several do.
    #[error("{found} decoders of the requester hold the address, expected one (fabric GFD-2)")]
    Ambiguous {
        /// How many.
        found: usize,
    },
    /// The access vector does not allow the group.
    #[error("the requester may not access memory group {group} (fabric GFD-3)")]
    Group {
        /// The group.
        group: u8,
    },
}

/// The tables of a device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GfdTable {
    bytes: u64,
    groups: Vec<GfdGroup>,
    /// By PID.
    requesters: OrderedMap<u16, GfdRequester>,
}

impl GfdTable {
    /// A device with these media partitions \[bytes\] and memory groups, and no requester.
    ///
    /// # Errors
    /// What a device cannot have.
    pub fn new(partitions: &[u64], groups: Vec<GfdGroup>) -> Result<GfdTable, GfdTableError> {
        let bytes = partitions.iter().fold(0u64, |sum, one| sum.saturating_add(*one));
        let is_whole = |bytes: &u64| *bytes > 0 && bytes.is_multiple_of(GFD_PARTITION_STEP);
        if !(1..=GFD_PARTITIONS).contains(&partitions.len()) || !partitions.iter().all(is_whole) {
            return Err(GfdTableError::Partitions { count: partitions.len(), bytes });
        }
        for (n, &GfdGroup { first, bytes: own, .. }) in groups.iter().enumerate() {
            let is_of_blocks = own > 0 && own.is_multiple_of(GFD_BLOCK) && first.is_multiple_of(GFD_BLOCK);
            if !is_of_blocks || first.checked_add(own).is_none_or(|end| end > bytes) {
                return Err(GfdTableError::Block { first, bytes: own });
            }
            let meets = |other: &&GfdGroup| first < other.first + other.bytes && other.first < first + own;
            if let Some(other) = groups[..n].iter().find(meets) {
                return Err(GfdTableError::Overlap { found: first.max(other.first) });
            }
        }
        Ok(GfdTable { bytes, groups, requesters: OrderedMap::new() })
    }

    /// Adds a requester, or writes its tables anew.
    ///
    /// # Errors
    /// What its decoders cannot say; nothing is written then.
    pub fn set(&mut self, pid: u16, requester: GfdRequester) -> Result<(), GfdTableError> {
        if requester.decoders.len() > GFD_DECODERS {
            return Err(GfdTableError::Decoders { found: requester.decoders.len() });
        }
        for &GfdDecoder { device_base, bytes, granularity, ways, way, .. } in &requester.decoders {
            let is_known = ways.is_power_of_two() && ways <= GFD_WAYS && way < ways;
            if !is_known || !GRANULARITIES.contains(&granularity) {
                return Err(GfdTableError::Interleave { ways, granularity, way });
            }
            let end = device_base.saturating_add(bytes);
            if end > self.bytes {
                return Err(GfdTableError::Range { end, bytes: self.bytes });
            }
        }
        self.requesters.insert(pid, requester);
        Ok(())
    }

    /// The memory group of a device address.
    pub fn group(&self, device_address: u64) -> u8 {
        let holds = |one: &&GfdGroup| device_address >= one.first && device_address - one.first < one.bytes;
        self.groups.iter().find(holds).map_or(0, |one| one.group)
    }

    /// The device address of a request.
    ///
    /// # Errors
    /// It is an access error.
    pub fn device_address(&self, pid: u16, address: u64) -> Result<u64, GfdAccessError> {
        let requester = self.requesters.get(&pid).ok_or(GfdAccessError::NotDecoded)?;
        let mut hits = requester.decoders.iter().filter_map(|decoder| decoder.device_address(address));
        let hit = hits.next().ok_or(GfdAccessError::NotDecoded)?;
        let found = 1 + hits.count();
        if found > 1 {
            return Err(GfdAccessError::Ambiguous { found });
        }
        let group = self.group(hit);
        if requester.groups.contains(&group) { Ok(hit) } else { Err(GfdAccessError::Group { group }) }
    }

    /// The address by which a requester knows a device address, as a back-invalidate snoop to it has to carry it (`fabric` GFD-4);
    /// `None`: it does not reach it.
    pub fn requester_address(&self, pid: u16, device_address: u64) -> Option<u64> {
        let requester = self.requesters.get(&pid)?;
        let mut known = requester.decoders.iter().filter_map(|decoder| decoder.requester_address(device_address));
        // What two decoders hold the requester cannot ask for.
        known.find(|known| self.device_address(pid, *known) == Ok(device_address))
    }
}
