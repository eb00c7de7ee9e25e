//! The destination routing table (DRT) of a switch (`fabric` §3.2).
//!
//! Modelled: 4096 entries of two bytes by DPID, their codes, and what a Set command refuses; an entry of type 2 names a group of
//! the routing group table ([`super::rgt`]). Left out: the mailbox of the command.
//!
//! A walk through one Set: all entries are judged first. One that is refused leaves the whole table as it was.

use super::pid::{PIDS, PbrPid};
use super::rgt::Rgt;
use crate::spread::SpreadGroup;

/// An entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DrtEntry {
    /// Type 0: messages to this DPID are dropped.
    #[default]
    Invalid,
    /// Type 1: they leave at this physical port.
    Port(u8),
    /// Type 2: the entry of the routing group table with this index says where they leave.
    Group(u8),
}

/// Why a Set command is refused, as Invalid Input (`fabric` DRT-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DrtError {
    /// Type 3.
    #[error("found an entry of type 3, expected 0, 1 or 2: 3 is reserved (fabric DRT-1)")]
    Reserved,
    /// Entries behind the last DPID.
    #[error("found {count} entries from {first:#x} on, expected none behind 0xfff (fabric DRT-4)")]
    Range {
        /// DPID of the first entry.
        first: usize,
        /// Number of entries.
        count: usize,
    },
    /// A port that the switch does not have.
    #[error("found port {found}, expected 0 to {last} (fabric DRT-4)")]
    Port {
        /// The number that was given.
        found: u8,
        /// The highest valid number.
        last: usize,
    },
    /// A routing group.
    #[error("found the routing group {found}, expected one of the {groups} that the switch has (fabric DRT-4)")]
    Group {
        /// Its index.
        found: u8,
        /// How many there are.
        groups: usize,
    },
    /// A table that the switch does not have.
    #[error("found table {found}, expected 0 to {last} (fabric DRT-4)")]
    Table {
        /// The number that was given.
        found: usize,
        /// The highest valid number.
        last: usize,
    },
}

impl DrtEntry {
    /// The two bytes of the entry (`fabric` DRT-1).
    pub const fn to_bytes(self) -> [u8; 2] {
        match self {
            DrtEntry::Invalid => [0, 0],
            DrtEntry::Port(port) => [1, port],
            DrtEntry::Group(index) => [2, index],
        }
    }

    /// The entry of two bytes; reserved bits are ignored.
    ///
    /// # Errors
    /// Type 3.
    pub const fn from_bytes([kind, value]: [u8; 2]) -> Result<DrtEntry, DrtError> {
        match kind & 3 {
            0 => Ok(DrtEntry::Invalid),
            1 => Ok(DrtEntry::Port(value)),
            2 => Ok(DrtEntry::Group(value)),
            _ => Err(DrtError::Reserved),
        }
    }
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drt {
    ports: usize,
    /// The port of each routing group that is routed statically.
    groups: Vec<usize>,
    entries: Vec<DrtEntry>,
}

impl Drt {
    /// Makes a table of a switch with so many ports and these routing groups. All entries are invalid.
    pub fn new(ports: usize, groups: &Rgt) -> Drt {
        let first = |index: u8| groups.group(index)?.primary.first().map(|port| port.port);
        let groups = (0..=u8::MAX).map_while(first).collect();
        Drt { ports, groups, entries: vec![DrtEntry::Invalid; PIDS] }
    }

    /// Writes entries from a DPID on.
    ///
    /// # Errors
    /// What is refused as Invalid Input; nothing is written then.
    pub fn set(&mut self, first: usize, entries: &[DrtEntry]) -> Result<(), DrtError> {
        let count = entries.len();
        if first.checked_add(count).is_none_or(|end| end > PIDS) {
            return Err(DrtError::Range { first, count });
        }
        for entry in entries {
            match *entry {
                DrtEntry::Port(found) if usize::from(found) >= self.ports => {
                    return Err(DrtError::Port { found, last: self.ports.saturating_sub(1) });
                }
                DrtEntry::Group(found) if usize::from(found) >= self.groups.len() => {
                    return Err(DrtError::Group { found, groups: self.groups.len() });
                }
                _ => (),
            }
        }
        self.entries[first..first + count].copy_from_slice(entries);
        Ok(())
    }

    /// The entry of a PID.
    pub fn entry(&self, pid: PbrPid) -> DrtEntry {
        self.entries[usize::from(pid.number())]
    }

    /// The port at which messages to a DPID leave that are routed statically; `None`: they are dropped.
    pub fn port(&self, dpid: u16) -> Option<usize> {
        match self.entries.get(usize::from(dpid))? {
            DrtEntry::Port(port) => Some(usize::from(*port)),
            DrtEntry::Group(index) => self.groups.get(usize::from(*index)).copied(),
            DrtEntry::Invalid => None,
        }
    }
}

/// The tables of a switch; each input uses one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drts {
    tables: Vec<Drt>,
    /// By port.
    used: Vec<usize>,
    groups: Rgt,
}

impl Drts {
    /// Makes `tables` tables for a switch with so many ports, all of which use the first table, and with these routing groups.
    pub fn new(tables: usize, ports: usize, groups: Rgt) -> Drts {
        Drts { tables: vec![Drt::new(ports, &groups); tables.max(1)], used: vec![0; ports], groups }
    }

    /// Number of tables, at least 1.
    pub fn count(&self) -> usize {
        self.tables.len()
    }

    /// Whether there is a routing group.
    #[inline]
    pub fn has_groups(&self) -> bool {
        !self.groups.is_empty()
    }

    /// The routing groups.
    pub const fn groups(&self) -> &Rgt {
        &self.groups
    }

    /// A table for a Set command.
    ///
    /// # Errors
    /// The table does not exist.
    pub fn table(&mut self, number: usize) -> Result<&mut Drt, DrtError> {
        let last = self.tables.len() - 1;
        self.tables.get_mut(number).ok_or(DrtError::Table { found: number, last })
    }

    /// Makes a port use a table for what it receives.
    ///
    /// # Errors
    /// The table does not exist; the port then uses the one before.
    pub fn select(&mut self, port: usize, number: usize) -> Result<(), DrtError> {
        self.table(number)?;
        if let Some(used) = self.used.get_mut(port) {
            *used = number;
        }
        Ok(())
    }

    /// The routing group of a DPID for what was received at a port; `None`: it has one port, or none.
    pub fn group(&self, from: usize, dpid: u16) -> Option<&SpreadGroup> {
        match self.tables[*self.used.get(from)?].entries.get(usize::from(dpid))? {
            DrtEntry::Group(index) => self.groups.group(*index),
            DrtEntry::Port(_) | DrtEntry::Invalid => None,
        }
    }

    /// The port at which messages to a DPID leave that were received at a port and are routed statically.
    pub fn port(&self, from: usize, dpid: u16) -> Option<usize> {
        self.tables[*self.used.get(from)?].port(dpid)
    }
}
