//! CacheID: several caching devices below one root port (`coherence` §2.9, `fabric` CID-1 to CID-3).
//!
//! Modelled: the port next to a device, which gives its requests their CacheID and lets only messages for it down; the
//! table of a switch or bridge from CacheID to port; the rules that a hierarchy has to keep before it may run. Detail:
//! messages as links carry them, one at a time; what has no way is discarded without answer. Left out: time, and the commit
//! of a decoder.
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
    /// CacheID that the port assigns; `None`: it assigns none.
    pub cache_id: Option<u8>,
    /// The port forwards CacheIDs as they are, those of another switch below it.
    pub forward: bool,
}

/// Where a message is discarded, without answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheIdDiscard {
    /// The table has no entry for its CacheID.
    NoEntry(u8),
    /// The port above this device.
    Port(usize),
}

/// What a port does with a CacheID, by its decoder control (`fabric` CID-2).
enum PortAction {
    Discard,
    Forward,
    Assign(u8),
}

impl Below {
    fn action(&self) -> PortAction {
        match (self.cache_id, self.forward) {
            // A port that is told to do both does neither.
            (None, false) | (Some(_), true) => PortAction::Discard,
            (None, true) => PortAction::Forward,
            (Some(id), false) => PortAction::Assign(id),
        }
    }
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
        Ok(Self { devices: hierarchy.devices.clone(), table })
    }

    /// Programs an entry; `None` makes it invalid.
    pub fn set_entry(&mut self, cache_id: u8, port: Option<usize>) {
        self.table[usize::from(cache_id) % CACHE_IDS] = port;
    }

    /// A message from a device: its request gets the CacheID of the port.
    ///
    /// # Errors
    /// The port discards it.
    pub fn up(&self, device: usize, mut message: Message) -> Result<Message, CacheIdDiscard> {
        let below = self.devices.get(device).ok_or(CacheIdDiscard::Port(device))?;
        let id = match below.action() {
            PortAction::Discard => return Err(CacheIdDiscard::Port(device)),
            PortAction::Forward => None,
            PortAction::Assign(id) => Some(id),
        };
        if let (Some(field), Some(id)) = (field(&mut message), id) {
            *field = id;
        }
        Ok(message)
    }

    /// A message of the host: the device that gets it and what it gets.
    ///
    /// # Errors
    /// The table has no entry for it, or the port of the entry discards it.
    pub fn down(&self, config: &CoherenceConfig, mut message: Message) -> Result<(usize, Message), CacheIdDiscard> {
        let id = field(&mut message).map_or(0, |id| *id);
        let port = self.entry(id).ok_or(CacheIdDiscard::NoEntry(id))?;
        let below = self.devices.get(port).ok_or(CacheIdDiscard::Port(port))?;
        let passes = match below.action() {
            PortAction::Discard => false,
            PortAction::Forward => true,
            PortAction::Assign(own) => config.rules.passes_down(own == id),
        };
        if !passes {
            return Err(CacheIdDiscard::Port(port));
        }
        if let (Flits::B68, Some(field)) = (below.link, field(&mut message)) {
            *field = 0;
        }
        Ok((port, message))
    }

    fn entry(&self, id: u8) -> Option<usize> {
        self.table[usize::from(id) % CACHE_IDS]
    }

    /// What a checker says of a message of the host that the port of its entry should not have let through.
    pub fn foreign(&self, mut message: Message) -> Option<CoherenceEvent> {
        let id = *field(&mut message)?;
        let port = self.entry(id)?;
        let PortAction::Assign(own) = self.devices.get(port)?.action() else { return None };
        let event = || {
            let (at, found) = (format!("device {port}"), format!("a message with CacheID {id}"));
            CoherenceEvent::new("COH-CID-02", None, at, found, "its own CacheID only")
        };
        (own != id).then(event)
    }

    /// What a watch-dog says of devices that wait while nothing is under way: those that an invalid entry cuts off; `lost`
    /// messages were discarded. Each is given with the port, the index of a device, behind which it stands, and with the CacheID by
    /// which the host knows it.
    pub fn watchdog(&self, waiting: &[(usize, u8)], lost: u64) -> Vec<CoherenceEvent> {
        let cut_off = |(port, id): &&(usize, u8)| match self.devices.get(*port).map(Below::action) {
            None | Some(PortAction::Discard) => true,
            Some(PortAction::Forward) => self.entry(*id).is_none(),
            Some(PortAction::Assign(own)) => self.entry(own).is_none(),
        };
        let said = |(_, device): &(usize, u8)| {
            let found = format!("it waits, {lost} messages were discarded");
            CoherenceEvent::new("COH-CID-03", None, format!("device {device}"), found, "a valid entry for its CacheID")
        };
        waiting.iter().filter(cut_off).map(said).collect()
    }
}
