//! CacheID: several caching devices below one root port (`coherence` §2.9).
//!
//! Modelled: the port next to a device, which gives its requests their CacheID and lets only messages for it down; the
//! table of a switch or bridge from CacheID to port; the rules that a hierarchy has to keep before it may run. Detail:
//! messages as links carry them, one at a time; what has no way is discarded without answer and counted. Left out: time,
//! and the ports between, which forward unchanged.
//!
//! One answer on its way down: the switch looks its CacheID up and hands it to the port of the entry, or discards it when
//! the entry is invalid; the port hands it to the device when the CacheID is its own.

use crate::config::CoherenceConfig;
use crate::event::CoherenceEvent;
use scalepool_protocols::cxl::message::Message;
use thiserror::Error;

/// CacheIDs of a hierarchy: the field has 4 bits.
pub const CACHE_IDS: usize = 16;

/// Memory of a caching device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hdm {
    /// Type 1: none.
    None,
    /// Type 2 with bias.
    D,
    /// Type 2 with back-invalidate.
    Db,
}

/// Flits of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flits {
    /// 68 bytes: no CacheID field, it counts as 0.
    B68,
    /// 256 bytes.
    B256,
}

/// A caching device and the port above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Below {
    /// Its memory.
    pub hdm: Hdm,
    /// Its own link.
    pub link: Flits,
    /// CacheID of the port; `None`: not configured, it discards both ways.
    pub cache_id: Option<u8>,
}

/// What stands below one root port or host bridge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    /// Caching devices.
    pub devices: Vec<Below>,
    /// Links between the lowest switch and the host.
    pub upper: Flits,
    /// The host and all switches support CacheID.
    pub cache_ids: bool,
}

/// A hierarchy that may not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HierarchyError {
    /// More devices than CacheIDs.
    #[error("COH-CID-01: {found} caching devices below one port, expected at most 16")]
    TooMany {
        /// Devices.
        found: usize,
    },
    /// A CacheID above 15, or given twice.
    #[error("COH-CID-01: CacheID {found} at device {device}, expected 0 to 15, each once")]
    BadId {
        /// The CacheID.
        found: u8,
        /// Index of the device.
        device: usize,
    },
    /// Several devices over links that cannot carry a CacheID.
    #[error("COH-CID-04: {devices} caching devices behind a link without CacheID, expected one")]
    NoField {
        /// Devices.
        devices: usize,
    },
    /// HDM-D beside another caching device.
    #[error("COH-CID-06: device {device} has HDM-D beside {others} other caching devices, expected HDM-DB")]
    HdmD {
        /// Index of the device.
        device: usize,
        /// Others.
        others: usize,
    },
}

impl Hierarchy {
    /// Whether it may run.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn check(&self) -> Result<(), HierarchyError> {
        let count = self.devices.len();
        if count > CACHE_IDS {
            return Err(HierarchyError::TooMany { found: count });
        }
        if count > 1 && (self.upper == Flits::B68 || !self.cache_ids) {
            return Err(HierarchyError::NoField { devices: count });
        }
        for (device, below) in self.devices.iter().enumerate() {
            if below.hdm == Hdm::D && count > 1 {
                return Err(HierarchyError::HdmD { device, others: count - 1 });
            }
            if let Some(found) = below.cache_id {
                let again = self.devices[..device].iter().any(|d| d.cache_id == Some(found));
                if usize::from(found) >= CACHE_IDS || again {
                    return Err(HierarchyError::BadId { found, device });
                }
            }
        }
        Ok(())
    }
}

/// The CacheID of a message; `None` for those that go home by UQID.
fn field(message: &mut Message) -> Option<&mut u8> {
    match message {
        Message::D2hReq(m) => Some(&mut m.cache_id),
        Message::H2dReq(m) => Some(&mut m.cache_id),
        Message::H2dRsp(m) => Some(&mut m.cache_id),
        Message::H2dData(m, _) => Some(&mut m.cache_id),
        _ => None,
    }
}

/// The ports and the table between a host and its caching devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheRoutes {
    devices: Vec<Below>,
    /// Port, which is the index of a device, of each CacheID; `None` is an invalid entry.
    table: [Option<usize>; CACHE_IDS],
    /// Messages that the table had no entry for, by CacheID.
    pub without_entry: [u64; CACHE_IDS],
    /// Messages that the port of each device discarded.
    pub discarded: Vec<u64>,
}

impl CacheRoutes {
    /// Routes of a hierarchy, with an entry for each configured port.
    ///
    /// # Errors
    /// A hierarchy that may not run.
    pub fn new(hierarchy: &Hierarchy) -> Result<Self, HierarchyError> {
        hierarchy.check()?;
        let mut table = [None; CACHE_IDS];
        for (n, below) in hierarchy.devices.iter().enumerate() {
            if let Some(id) = below.cache_id {
                table[usize::from(id)] = Some(n);
            }
        }
        let discarded = vec![0; hierarchy.devices.len()];
        Ok(Self { devices: hierarchy.devices.clone(), table, without_entry: [0; CACHE_IDS], discarded })
    }

    /// Programs an entry; `None` makes it invalid.
    pub fn set_entry(&mut self, cache_id: u8, port: Option<usize>) {
        self.table[usize::from(cache_id) % CACHE_IDS] = port;
    }

    /// A message from a device: its request gets the CacheID of the port. `None`: discarded.
    pub fn up(&mut self, device: usize, mut message: Message) -> Option<Message> {
        let Some(id) = self.devices[device].cache_id else {
            self.discarded[device] += 1;
            return None;
        };
        if let Some(field) = field(&mut message) {
            *field = id;
        }
        Some(message)
    }

    /// A message of the host: the device that gets it and what it gets. `None`: discarded.
    pub fn down(
        &mut self,
        config: &CoherenceConfig,
        mut message: Message,
        events: &mut Vec<CoherenceEvent>,
    ) -> Option<(usize, Message)> {
        let id = field(&mut message).map(|id| *id)?;
        let Some(port) = self.table[usize::from(id) % CACHE_IDS] else {
            self.without_entry[usize::from(id) % CACHE_IDS] += 1;
            return None;
        };
        let below = self.devices.get(port)?;
        let own = below.cache_id == Some(id);
        if !config.rules.passes_down(own) {
            self.discarded[port] += 1;
            return None;
        }
        if !own {
            let found = format!("a message with CacheID {id}");
            events.push(CoherenceEvent::new(
                "COH-CID-02",
                None,
                format!("device {port}"),
                found,
                "its own CacheID only",
            ));
        }
        if let (Flits::B68, Some(field)) = (below.link, field(&mut message)) {
            *field = 0;
        }
        Some((port, message))
    }

    /// What a watch-dog says of devices that wait while nothing is under way: those that an invalid entry cuts off.
    pub fn watchdog(&self, waiting: &[usize]) -> Vec<CoherenceEvent> {
        let cut_off = |device: &&usize| {
            let id = self.devices.get(**device).and_then(|d| d.cache_id);
            id.is_none_or(|id| self.table[usize::from(id)].is_none())
        };
        let said = |device: &usize| {
            let lost: u64 = self.without_entry.iter().sum();
            let found = format!("it waits, {lost} messages had no entry");
            CoherenceEvent::new("COH-CID-03", None, format!("device {device}"), found, "a valid entry for its CacheID")
        };
        waiting.iter().filter(cut_off).map(said).collect()
    }
}
