//! What a switch says of itself to the fabric manager: Identify PBR Switch, 5700h (`fabric` RGT-6).
//!
//! Modelled: number of destination routing tables, number of routing groups, and the modes. Left out: the places of these in the
//! payload, which the sheet does not give, and the mailbox.
//!
//! A walk: the tables of the switch give both numbers; the modes are those of [`crate::spread`].

use super::drt::Drts;

/// Mode bits of the standard: random, congestion avoidance, advanced congestion avoidance.
pub const STANDARD_MODES: u8 = 0b0000_0111;
/// Mode bits of vendors: 6 and 7.
pub const VENDOR_MODES: u8 = 0b1100_0000;

/// What it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PbrIdentity {
    /// Destination routing tables.
    pub drts: usize,
    /// Entries of the routing group table.
    pub groups: usize,
    /// Modes, a bit each.
    pub modes: u8,
}

/// Why a switch cannot say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// No routing table.
    #[error("found no routing table, expected one at least (fabric RGT-6)")]
    Tables,
    /// Reserved mode bits.
    #[error("found mode bits {found:#04x}, expected bits 0 to 2, 6 and 7 alone (fabric RGT-6)")]
    Modes {
        /// What was given.
        found: u8,
    },
    /// Groups that no mode chooses from.
    #[error("found {groups} routing groups and no mode of the standard, expected one at least (fabric RGT-2)")]
    NoMode {
        /// How many groups.
        groups: usize,
    },
}

impl PbrIdentity {
    /// Judges what a switch says.
    ///
    /// # Errors
    /// What no switch may say.
    pub const fn check(self) -> Result<PbrIdentity, IdentityError> {
        let PbrIdentity { drts, groups, modes } = self;
        if drts == 0 {
            return Err(IdentityError::Tables);
        }
        if modes & !(STANDARD_MODES | VENDOR_MODES) != 0 {
            return Err(IdentityError::Modes { found: modes });
        }
        if groups > 0 && modes & STANDARD_MODES == 0 {
            return Err(IdentityError::NoMode { groups });
        }
        Ok(self)
    }

    /// What a switch with these tables says: it has all modes of the standard, and Valiant and UGAL routing as those of a vendor
    /// (`fabric` RGT-7).
    pub fn of(tables: &Drts) -> PbrIdentity {
        PbrIdentity { drts: tables.count(), groups: tables.groups().entries(), modes: STANDARD_MODES | VENDOR_MODES }
    }
}
