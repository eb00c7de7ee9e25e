//! The routing group table (RGT) of a switch (`fabric` §3.2).
//!
//! Modelled: a power of two of entries, each a list of up to eight ports of which the first ones are primary, with the mode and
//! the mix by which one is taken ([`crate::spread`]); what is refused. Left out: the bits of an entry, which the sheet does not
//! give, and the mailbox that writes them.
//!
//! A walk through one message: the entry of its DPID in the routing table names a group. What has to keep its order takes the
//! first port of the group, everything else the port that the mode chooses ([`is_spread`]).

use crate::spread::{OVERFLOW_MIX, SpreadGroup};
use scalepool_protocols::cxl::message::Class;

/// Most entries of a table (`fabric` RGT-1).
pub const MOST_GROUPS: usize = 256;
/// Most ports of an entry (`fabric` RGT-1).
pub const MOST_GROUP_PORTS: usize = 8;

/// Why a table is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RgtError {
    /// The number of entries.
    #[error("found {found} routing groups, expected at most {MOST_GROUPS} (fabric RGT-1)")]
    Groups {
        /// The number that was given.
        found: usize,
    },
    /// The number of ports.
    #[error("found {found} ports of a routing group, expected 1 to {MOST_GROUP_PORTS} (fabric RGT-1)")]
    Ports {
        /// The number that was given.
        found: usize,
    },
    /// No port is primary.
    #[error("found no primary port of a routing group, expected one at least (fabric RGT-1)")]
    Primary,
    /// The code of the mix.
    #[error("found mix {found}, expected 0 to 7 (fabric RGT-4)")]
    Mix {
        /// The code that was given.
        found: u8,
    },
}

/// A table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rgt(Vec<SpreadGroup>);

impl Rgt {
    /// A table of these groups.
    ///
    /// # Errors
    /// What a table cannot hold.
    pub fn new(groups: Vec<SpreadGroup>) -> Result<Rgt, RgtError> {
        if groups.len() > MOST_GROUPS {
            return Err(RgtError::Groups { found: groups.len() });
        }
        for SpreadGroup { primary, secondary, mix, .. } in &groups {
            let found = primary.len() + secondary.len();
            if !(1..=MOST_GROUP_PORTS).contains(&found) {
                return Err(RgtError::Ports { found });
            }
            if primary.is_empty() {
                return Err(RgtError::Primary);
            }
            if *mix > OVERFLOW_MIX {
                return Err(RgtError::Mix { found: *mix });
            }
        }
        Ok(Rgt(groups))
    }

    /// Whether it has no group.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of entries that the table has: a power of two, or none (`fabric` RGT-1).
    pub fn entries(&self) -> usize {
        if self.0.is_empty() { 0 } else { self.0.len().next_power_of_two() }
    }

    /// The group of an index.
    pub fn group(&self, index: u8) -> Option<&SpreadGroup> {
        self.0.get(usize::from(index))
    }
}

/// Whether messages of a class may take any port of a group: all but those that have to stay behind others of their class
/// (`fabric` §3.2, preferred routing by class). M2S Req is that of host memory and of HDM-DB: HDM-D passes no switch here.
pub const fn is_spread(class: Class) -> bool {
    use Class::{D2hData, D2hReq, D2hRsp, H2dData, M2sBirsp, M2sReq, M2sRwd, S2mBisnp, S2mDrs};
    matches!(class, D2hReq | D2hRsp | D2hData | H2dData | M2sReq | M2sRwd | S2mDrs | S2mBisnp | M2sBirsp)
}
