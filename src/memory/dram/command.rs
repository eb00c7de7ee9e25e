//! DRAM commands of a channel and the addresses (channel, rank, group, bank, row, column) that they carry.

use super::preset::DramOrganisation;
use std::fmt::{self, Display};

/// Operation of a command. RDA and WRA are a read and a write with auto-precharge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DramOperation {
    /// Opens a row.
    Act,
    /// Closes the row of a bank.
    Pre,
    /// Closes the rows of all banks of a rank or pseudo-channel.
    PreAll,
    /// Whether the operation reads a burst.
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
    /// Refreshes one bank, together with the banks that the device refreshes at the same time.
    RefreshBank,
}

use DramOperation::{
    Act, MaskedWrite, MaskedWritePre, Pre, PreAll, Read, ReadPre, RefreshAll, RefreshBank, Write, WritePre,
};

impl DramOperation {
    /// All operations.
    pub const ALL: [DramOperation; 11] =
        [Act, Pre, PreAll, Read, ReadPre, Write, WritePre, MaskedWrite, MaskedWritePre, RefreshAll, RefreshBank];

    /// The name in traces.
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

    /// Whether the operation reads a burst.
    pub const fn is_read(self) -> bool {
        matches!(self, Read | ReadPre)
    }

    /// Whether the operation writes a burst or a part of one.
    pub const fn is_write(self) -> bool {
        matches!(self, Write | WritePre | MaskedWrite | MaskedWritePre)
    }

    /// Whether the operation is a column command, that is, transfers data.
    pub const fn is_column(self) -> bool {
        self.is_read() || self.is_write()
    }

    /// Whether the operation precharges its bank automatically.
    pub const fn precharges(self) -> bool {
        matches!(self, ReadPre | WritePre | MaskedWritePre)
    }

    /// The same operation with auto-precharge.
    pub const fn with_precharge(self) -> DramOperation {
        match self {
            Read => ReadPre,
            Write => WritePre,
            MaskedWrite => MaskedWritePre,
            other => other,
        }
    }

    /// Whether the operation names a bank rather than a whole rank.
    pub const fn has_bank(self) -> bool {
        !matches!(self, PreAll | RefreshAll)
    }
}

impl Display for DramOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The address of a command or of a burst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct DramPlace {
    /// Channel.
    pub channel: u32,
    /// Rank, or pseudo-channel of HBM: the two play one role (`memory §1.3`).
    pub rank: u32,
    /// Bank group, counted through the stacks of HBM: stack * groups of a stack + group.
    pub group: u32,
    /// Bank in the group.
    pub bank: u32,
    /// Row.
    pub row: u32,
    /// Burst in the row.
    pub column: u32,
}

impl DramPlace {
    /// Number of the bank in its rank or pseudo-channel.
    pub fn bank_of_scope(&self, organisation: &DramOrganisation) -> u32 {
        self.group * organisation.banks + self.bank
    }
}

/// A command with its time of issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DramCommand {
    /// Clock edge of its first cycle.
    pub clock: u64,
    /// The operation.
    pub operation: DramOperation,
    /// The address. An activate has a row, a read or a write has row and column; unused fields are 0.
    pub place: DramPlace,
}
