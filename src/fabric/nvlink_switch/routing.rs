//! Where a message goes (`nvlink` §5): a remap table chooses the target of a request, a table of ports does the rest.
//!
//! Modelled: address bits 46:36 select an entry; bits 35:20 are compared with base and limit, and an offset is added to
//! them. Left out: several windows a select value, security, the limit at bit 38 of the third generation.

use scalepool_ordered::OrderedMap;
use thiserror::Error;

/// Lowest bit of the select field.
pub const SELECT_LSB: u32 = 36;
/// Entries of a table: bits 46:36.
pub const ENTRIES: u16 = 1 << 11;
/// Lowest bit of base, limit and offset: units of 1 MiB.
pub const UNIT_LSB: u32 = 20;
/// Largest base, limit and offset: bits 35:20.
pub const MAX_UNITS: u32 = (1 << (SELECT_LSB - UNIT_LSB)) - 1;
/// Alternatives of a multicast group at most.
pub const MAX_REPLICA_SETS: usize = 16;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NvlTarget {
    /// One endpoint.
    Endpoint(u16),
    /// A multicast group.
    Group(u16),
}

/// An entry. Base, limit and offset are in units of 1 MiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemapEntry {
    /// Target.
    pub target: NvlTarget,
    /// First unit of the window.
    pub base: u32,
    /// Last unit of the window.
    pub limit: u32,
    /// Added to addresses in the window.
    pub offset: u32,
}

impl RemapEntry {
    /// The whole 64 GiB of a target, as they are.
    pub const fn whole(target: NvlTarget) -> RemapEntry {
        RemapEntry { target, base: 0, limit: MAX_UNITS, offset: 0 }
    }
}

/// Tables that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RoutingError {
    /// Select value of an entry.
    #[error("remap table: found select value {found}, expected below {ENTRIES}")]
    Select {
        /// What was given.
        found: u16,
    },
    /// Base, limit or offset.
    #[error(
        "remap table, entry {select}: found base {base}, limit {limit}, offset {offset}, expected base <= limit and limit + offset <= {MAX_UNITS}"
    )]
    Window {
        /// Select value.
        select: u16,
        /// Its base.
        base: u32,
        /// Its limit.
        limit: u32,
        /// Its offset.
        offset: u32,
    },
    /// Alternatives of a group.
    #[error("multicast group {group}: found {found} replica sets with members, expected 1 to {MAX_REPLICA_SETS}")]
    ReplicaSets {
        /// Group.
        group: u16,
        /// How many.
        found: usize,
    },
    /// A port twice in one set.
    #[error("multicast group {group}: found port {port} twice in a replica set, expected once")]
    Twice {
        /// Group.
        group: u16,
        /// Port.
        port: usize,
    },
}

/// The remap table of an input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemapTable(OrderedMap<u16, RemapEntry>);

impl RemapTable {
    /// Sets an entry.
    ///
    /// # Errors
    /// [`RoutingError::Select`], [`RoutingError::Window`].
    pub fn set(&mut self, select: u16, entry: RemapEntry) -> Result<(), RoutingError> {
        let RemapEntry { base, limit, offset, .. } = entry;
        if select >= ENTRIES {
            return Err(RoutingError::Select { found: select });
        }
        if base > limit || limit.saturating_add(offset) > MAX_UNITS {
            return Err(RoutingError::Window { select, base, limit, offset });
        }
        self.0.insert(select, entry);
        Ok(())
    }

    fn entry(&self, address: u64) -> Option<&RemapEntry> {
        self.0.get(&u16::try_from(address >> SELECT_LSB).ok()?)
    }

    /// Target of an address that names no memory (a FLUSH).
    pub fn target(&self, address: u64) -> Option<NvlTarget> {
        Some(self.entry(address)?.target)
    }

    /// Target and the address there; `None`: a miss.
    pub fn remap(&self, address: u64) -> Option<(NvlTarget, u64)> {
        let entry = self.entry(address)?;
        let local = address & ((1 << SELECT_LSB) - 1);
        let unit = (local >> UNIT_LSB) as u32;
        let hit = (entry.base..=entry.limit).contains(&unit);
        hit.then(|| (entry.target, local + (u64::from(entry.offset) << UNIT_LSB)))
    }
}

/// Ports of endpoints. Endpoints with several ports use the one that stands at the place of the input among the ports of
/// its own endpoint, so what came over one link leaves over one link.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NvlRoutes {
    ports: OrderedMap<u16, Vec<usize>>,
    /// Of each port: its endpoint, and its place among the ports of it.
    owner: OrderedMap<usize, (u16, usize)>,
}

impl NvlRoutes {
    /// Adds the next port of an endpoint.
    pub fn add(&mut self, endpoint: u16, port: usize) {
        let ports = self.ports.entry(endpoint).or_default();
        self.owner.insert(port, (endpoint, ports.len()));
        ports.push(port);
    }

    /// Endpoint at a port.
    pub fn endpoint(&self, port: usize) -> Option<u16> {
        self.owner.get(&port).map(|(endpoint, _)| *endpoint)
    }

    /// Ports of an endpoint, in the order in which they were added.
    pub fn ports(&self, endpoint: u16) -> &[usize] {
        self.ports.get(&endpoint).map_or(&[], Vec::as_slice)
    }

    /// Place of a port among those of its endpoint.
    pub fn place(&self, port: usize) -> usize {
        self.owner.get(&port).map_or(0, |(_, place)| *place)
    }

    /// The port to an endpoint for what came in at a port.
    pub fn port(&self, endpoint: u16, from: usize) -> Option<usize> {
        let ports = self.ports.get(&endpoint)?;
        ports.get(self.place(from) % ports.len()).copied()
    }
}

/// Multicast groups: for each the alternative replica sets, of which an input uses the one of its place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Groups(OrderedMap<u16, Vec<Vec<usize>>>);

impl Groups {
    /// Sets a group: one port for each member, in the order of reductions.
    ///
    /// # Errors
    /// [`RoutingError::ReplicaSets`], [`RoutingError::Twice`].
    pub fn set(&mut self, group: u16, sets: Vec<Vec<usize>>) -> Result<(), RoutingError> {
        let found = if sets.iter().any(Vec::is_empty) { 0 } else { sets.len() };
        if !(1..=MAX_REPLICA_SETS).contains(&found) {
            return Err(RoutingError::ReplicaSets { group, found });
        }
        for set in &sets {
            if let Some(port) = set.iter().enumerate().find(|(n, port)| set[..*n].contains(port)) {
                return Err(RoutingError::Twice { group, port: *port.1 });
            }
        }
        self.0.insert(group, sets);
        Ok(())
    }

    /// The replica set of a group for an input at this place.
    pub fn replicas(&self, group: u16, place: usize) -> Option<&[usize]> {
        let sets = self.0.get(&group)?;
        sets.get(place % sets.len()).map(Vec::as_slice)
    }
}
