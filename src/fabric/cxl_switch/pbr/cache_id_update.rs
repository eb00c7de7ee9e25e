//! CacheIDs that two edge switches keep in step (`fabric` EDG-10).
//!
//! Modelled: the CacheIDs of an edge port and the PID of each, the update that tells the other edge of a CacheID that is assigned or released,
//! and its acknowledgement. Detail: one update, without time. Left out: the bytes of both messages, which the sheet does not
//! give, and updates in any run, where CacheIDs are those of the start.
//!
//! A walk through one CacheID: the edge of the host assigns it to a PID and sends the update. Until the acknowledgement has come the
//! CacheID is not used: a snoop with it would find no entry at the other edge. The other edge takes the update into its table and
//! acknowledges it, again if it comes again. A CacheID that is released is used no more from then on, and is assigned again
//! behind the acknowledgement alone: a message of the cache before would else be taken for one of the next.

use super::pid::PbrPid;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::wire::Violation;

/// Values of a CacheID (`fabric` CID-2).
const CACHE_IDS: u8 = 16;

/// What an edge tells the other one; the acknowledgement repeats it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheIdUpdate {
    /// The CacheID.
    pub cache_id: u8,
    /// Whose it is from now on; `None`: nobody's.
    pub pid: Option<PbrPid>,
}

/// Why an edge does not change a CacheID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CacheIdUpdateError {
    /// It has more than 4 bits.
    #[error("found the CacheID {found}, expected 0 to 15 (fabric CID-2)")]
    Range {
        /// Which.
        found: u8,
    },
    /// It is assigned.
    #[error("found the CacheID {found} assigned already, expected a free one (fabric EDG-10)")]
    InUse {
        /// Which.
        found: u8,
    },
    /// It is not assigned.
    #[error("found the CacheID {found} to be released, expected one that is assigned (fabric EDG-10)")]
    Free {
        /// Which.
        found: u8,
    },
    /// The PID has another one.
    #[error("found the CacheID {found} of the same PID, expected one CacheID for each (fabric EDG-10)")]
    Pid {
        /// The other one.
        found: u8,
    },
    /// An update of it has no acknowledgement yet.
    #[error(
        "found an update of the CacheID {found} without its acknowledgement, expected one at a time (fabric EDG-10)"
    )]
    Awaited {
        /// Which.
        found: u8,
    },
    /// No such update is awaited.
    #[error(
        "found an acknowledgement for the CacheID {found}, expected one for an update that was sent (fabric EDG-10)"
    )]
    NotAwaited {
        /// Which.
        found: u8,
    },
}

/// The CacheIDs of an edge port.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CacheIdEdge {
    in_use: OrderedMap<u8, PbrPid>,
    /// Updates without an acknowledgement.
    awaited: OrderedMap<u8, CacheIdUpdate>,
}

impl CacheIdEdge {
    /// Assigns a CacheID, which is used once the acknowledgement has come.
    ///
    /// # Errors
    /// Why nothing has changed.
    pub fn assign(&mut self, cache_id: u8, pid: PbrPid) -> Result<CacheIdUpdate, CacheIdUpdateError> {
        if cache_id >= CACHE_IDS {
            return Err(CacheIdUpdateError::Range { found: cache_id });
        }
        if self.in_use.contains_key(&cache_id) {
            return Err(CacheIdUpdateError::InUse { found: cache_id });
        }
        let of_pid = self.in_use.iter().map(|(id, of)| (*id, Some(*of)));
        let mut of_pid = of_pid.chain(self.awaited.iter().map(|(id, update)| (*id, update.pid)));
        if let Some((found, _)) = of_pid.find(|(id, of)| *id != cache_id && *of == Some(pid)) {
            return Err(CacheIdUpdateError::Pid { found });
        }
        self.send(CacheIdUpdate { cache_id, pid: Some(pid) })
    }

    /// Releases a CacheID, which is used no more.
    ///
    /// # Errors
    /// Why nothing has changed.
    pub fn release(&mut self, cache_id: u8) -> Result<CacheIdUpdate, CacheIdUpdateError> {
        if !self.in_use.contains_key(&cache_id) {
            return Err(CacheIdUpdateError::Free { found: cache_id });
        }
        let update = self.send(CacheIdUpdate { cache_id, pid: None })?;
        self.in_use.remove(&cache_id);
        Ok(update)
    }

    fn send(&mut self, update: CacheIdUpdate) -> Result<CacheIdUpdate, CacheIdUpdateError> {
        let found = update.cache_id;
        if self.awaited.contains_key(&found) {
            return Err(CacheIdUpdateError::Awaited { found });
        }
        self.awaited.insert(found, update);
        Ok(update)
    }

    /// Takes an update of the other edge. What comes back is its acknowledgement.
    pub fn take(&mut self, update: CacheIdUpdate) -> CacheIdUpdate {
        match update.pid {
            Some(pid) => self.in_use.insert(update.cache_id, pid),
            None => self.in_use.remove(&update.cache_id),
        };
        update
    }

    /// Takes the acknowledgement of an update.
    ///
    /// # Errors
    /// None is awaited, and nothing has changed.
    pub fn acknowledged(&mut self, ack: CacheIdUpdate) -> Result<(), CacheIdUpdateError> {
        if self.awaited.get(&ack.cache_id) != Some(&ack) {
            return Err(CacheIdUpdateError::NotAwaited { found: ack.cache_id });
        }
        self.awaited.remove(&ack.cache_id);
        if let Some(pid) = ack.pid {
            self.in_use.insert(ack.cache_id, pid);
        }
        Ok(())
    }

    /// The CacheIDs that are used, each with its PID: the table of an edge ([`EdgeIds`](super::edge_ids::EdgeIds)).
    pub fn table(&self) -> Vec<(u8, PbrPid)> {
        self.in_use.iter().map(|(id, pid)| (*id, *pid)).collect()
    }

    /// The rule that a message breaks which this edge has sent with a CacheID.
    pub fn judge(&self, cache_id: u8) -> Option<Violation> {
        let update = self.awaited.get(&cache_id)?;
        let (found, text) = match update.pid {
            Some(_) => ("assigned", "the other edge may not have the CacheID yet, and would drop the message"),
            None => ("released", "the other edge may have released the CacheID already, and would drop the message"),
        };
        Some(super::super::violation(
            "FAB-EDG-10",
            format!("a message with CacheID {cache_id}, which was {found} without an acknowledgement yet"),
            "none before the acknowledgement",
            text,
        ))
    }
}
