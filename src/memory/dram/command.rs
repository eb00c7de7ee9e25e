//! Commands of a channel and the places that they name.

use super::preset::DramOrganisation;
use std::fmt::{self, Display};

/// What a command does. RDA and WRA are a read or a write that precharges its bank by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DramOperation {
    /// Opens a row.
    Act,
    /// Closes the row of a bank.
    Pre,
    /// Closes the rows of all banks of a rank or pseudo-channel.
    PreAll,
    /// Reads a burst.
    Read,
    /// Reads a burst and closes the row.
    ReadPre,
    /// Writes a whole burst.
    Write,
    /// Writes a whole burst and closes the row.
    WritePre,
    /// Writes some bytes of a burst.
    MaskedWrite,
    /// Writes some bytes of a burst and closes the row.
    MaskedWritePre,
    /// Refreshes all banks of a rank or pseudo-channel.
    RefreshAll,
    /// Refreshes one bank, or those that the device refreshes together with it.
    RefreshBank,
}

use DramOperation::{
    Act, MaskedWrite, MaskedWritePre, Pre, PreAll, Read, ReadPre, RefreshAll, RefreshBank, Write, WritePre,
};

impl DramOperation {
    /// All of them.
    pub const ALL: [DramOperation; 11] =
        [Act, Pre, PreAll, Read, ReadPre, Write, WritePre, MaskedWrite, MaskedWritePre, RefreshAll, RefreshBank];

    /// As traces spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Act => "ACT",
            Pre => "PRE",
            PreAll => "PREA",
            Read => "RD",
            ReadPre => "RDA",
            Write => "WR",
            WritePre => "WRA",
            MaskedWrite => "MWR",
            MaskedWritePre => "MWRA",
            RefreshAll => "REF",
            RefreshBank => "REFB",
        }
    }

    /// Reads a burst.
    pub const fn is_read(self) -> bool {
        matches!(self, Read | ReadPre)
    }

    /// Writes a burst or a part of it.
    pub const fn is_write(self) -> bool {
        matches!(self, Write | WritePre | MaskedWrite | MaskedWritePre)
    }

    /// Moves data.
    pub const fn is_column(self) -> bool {
        self.is_read() || self.is_write()
    }

    /// Closes its row by itself.
    pub const fn precharges(self) -> bool {
        matches!(self, ReadPre | WritePre | MaskedWritePre)
    }

    /// The same with its row closed afterwards.
    pub const fn with_precharge(self) -> DramOperation {
        match self {
            Read => ReadPre,
            Write => WritePre,
            MaskedWrite => MaskedWritePre,
            other => other,
        }
    }

    /// Names a bank, and not a whole rank.
    pub const fn has_bank(self) -> bool {
        !matches!(self, PreAll | RefreshAll)
    }
}

impl Display for DramOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where a command goes, or where a burst lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct DramPlace {
    /// Channel.
    pub channel: u32,
    /// Rank, or pseudo-channel of HBM: the two play one role (`memory §1.3`).
    pub rank: u32,
    /// Bank group, counted through the stacks of HBM: stack * groups of a stack + group.
    pub group: u32,
    /// Bank of the group.
    pub bank: u32,
    /// Row.
    pub row: u32,
    /// Burst of the row.
    pub column: u32,
}

impl DramPlace {
    /// Number of the bank in its rank or pseudo-channel.
    pub fn bank_of_scope(&self, organisation: &DramOrganisation) -> u32 {
        self.group * organisation.banks + self.bank
    }
}

/// A command at its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DramCommand {
    /// Clock edge of its first cycle.
    pub clock: u64,
    /// What it does.
    pub operation: DramOperation,
    /// Where; the row of an activate, row and column of a read or a write, else 0.
    pub place: DramPlace,
}
