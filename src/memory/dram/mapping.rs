//! Address mapping: from a byte address to channel, rank, bank, row and column, and back (`memory §5`).
//!
//! Modelled: five orders of the fields in mixed radix, so no size has to be a power of two; an interleave that splits the
//! columns of a row into a low and a high part; an optional XOR of bank group and bank with the low bits of the row.
//!
//! A walk through one address: the address is divided by the bytes of a burst. Each field, from the least significant one
//! on, takes the remainder of a division by its size. A quotient that is left over after the last field means that the
//! address lies beyond the memory.

use super::command::DramPlace;
use super::preset::DramOrganisation;

/// A field of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AddressField {
    Channel,
    PseudoChannel,
    Rank,
    Stack,
    Group,
    Bank,
    Row,
    Column,
    /// Column modulo the bursts of an interleave.
    ColumnLow,
    /// Column divided by the bursts of an interleave.
    ColumnHigh,
}

use AddressField::{Bank, Channel, Column, ColumnHigh, ColumnLow, Group, PseudoChannel, Rank, Row, Stack};

/// An order of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DramMap {
    /// A sequential stream rotates through channels, then pseudo-channels, then bank groups, one interleave at a time.
    /// The default.
    Sp1,
    /// Channel lowest, then columns, banks, row.
    RoBaRaCoCh,
    /// As [`RoBaRaCoCh`](DramMap::RoBaRaCoCh) with the rank above the banks.
    RoRaBaCoCh,
    /// Banks right above the channel, columns above them.
    RoCoRaBaCh,
    /// Channel highest: a sequential stream stays in one channel.
    ChRaBaRoCo,
}

impl DramMap {
    /// All orders.
    pub const ALL: [DramMap; 5] =
        [DramMap::Sp1, DramMap::RoBaRaCoCh, DramMap::RoRaBaCoCh, DramMap::RoCoRaBaCh, DramMap::ChRaBaRoCo];

    /// Names of all orders, in the same sequence.
    pub const NAMES: &'static [&'static str] = &["sp1", "robaracoch", "rorabacoch", "rocorabach", "chrabaroco"];

    /// Finds the order of a name.
    pub fn find(name: &str) -> Option<DramMap> {
        DramMap::NAMES.iter().zip(DramMap::ALL).find(|(known, _)| **known == name).map(|(_, map)| map)
    }

    /// The fields from the least significant one on: the rows of the sheet, read from the right.
    fn parts(self) -> &'static [AddressField] {
        match self {
            DramMap::Sp1 => &[ColumnLow, Channel, PseudoChannel, Group, ColumnHigh, Bank, Stack, Rank, Row],
            DramMap::RoBaRaCoCh => &[Channel, PseudoChannel, Column, Rank, Stack, Group, Bank, Row],
            DramMap::RoRaBaCoCh => &[Channel, PseudoChannel, Column, Group, Bank, Stack, Rank, Row],
            DramMap::RoCoRaBaCh => &[Channel, PseudoChannel, Group, Bank, Stack, Rank, Column, Row],
            DramMap::ChRaBaRoCo => &[Column, Row, Bank, Group, Stack, Rank, PseudoChannel, Channel],
        }
    }
}

/// The address mapping of one memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DramMapping {
    map: DramMap,
    organisation: DramOrganisation,
    low_columns: u32,
    row_xor: bool,
}

impl DramMapping {
    /// Makes a mapping; `interleave_bytes` is the number of contiguous bytes before the next channel follows, with
    /// [`DramMap::Sp1`].
    ///
    /// # Errors
    /// An interleave that does not divide a row or is not a multiple of a burst; an XOR with sizes that are not powers
    /// of two.
    pub fn new(
        map: DramMap,
        organisation: &DramOrganisation,
        interleave_bytes: u32,
        row_xor: bool,
    ) -> Result<DramMapping, String> {
        let DramOrganisation { row_bytes, burst_bytes, bank_groups, banks, rows, .. } = *organisation;
        let divides = interleave_bytes != 0
            && row_bytes.is_multiple_of(interleave_bytes)
            && interleave_bytes.is_multiple_of(burst_bytes);
        if !divides {
            return Err(format!(
                "found an interleave of {interleave_bytes} bytes, expected a multiple of {burst_bytes} that divides {row_bytes}"
            ));
        }
        if row_xor && let Some(size) = [bank_groups, banks].into_iter().find(|size| !size.is_power_of_two()) {
            return Err(format!("found row_xor with a field of {size}, expected powers of two"));
        }
        if row_xor && rows < bank_groups * banks {
            return Err(format!("found row_xor with {rows} rows, expected at least {}", bank_groups * banks));
        }
        Ok(DramMapping { map, organisation: *organisation, low_columns: interleave_bytes / burst_bytes, row_xor })
    }

    fn size(&self, part: AddressField) -> u32 {
        let o = &self.organisation;
        let columns = o.row_bytes / o.burst_bytes;
        match part {
            Channel => o.channels,
            PseudoChannel => o.pseudo_channels,
            Rank => o.ranks,
            Stack => o.stacks,
            Group => o.bank_groups,
            Bank => o.banks,
            Row => o.rows,
            Column => columns,
            ColumnLow => self.low_columns,
            ColumnHigh => columns / self.low_columns,
        }
    }

    /// The place of the burst at an address; `None` beyond the memory.
    pub fn place(&self, address: u64) -> Option<DramPlace> {
        let o = &self.organisation;
        let mut rest = address / u64::from(o.burst_bytes);
        let mut place = DramPlace::default();
        let (mut stack, mut group, mut pseudo_channel) = (0, 0, 0);
        for &part in self.map.parts() {
            let size = self.size(part);
            let value = (rest % u64::from(size)) as u32;
            rest /= u64::from(size);
            match part {
                Channel => place.channel = value,
                PseudoChannel => pseudo_channel = value,
                Rank => place.rank = value,
                Stack => stack = value,
                Group => group = value,
                Bank => place.bank = value,
                Row => place.row = value,
                Column | ColumnLow => place.column += value,
                ColumnHigh => place.column += value * self.low_columns,
            }
        }
        (group, place.bank) = self.hashed(group, place.bank, place.row);
        place.rank = place.rank * o.pseudo_channels + pseudo_channel;
        place.group = stack * o.bank_groups + group;
        (rest == 0).then_some(place)
    }

    /// The address of the burst at a place of the memory.
    pub fn address(&self, place: &DramPlace) -> u64 {
        let o = &self.organisation;
        let (group, bank) = self.hashed(place.group % o.bank_groups, place.bank, place.row);
        let value = |part| match part {
            Channel => place.channel,
            PseudoChannel => place.rank % o.pseudo_channels,
            Rank => place.rank / o.pseudo_channels,
            Stack => place.group / o.bank_groups,
            Group => group,
            Bank => bank,
            Row => place.row,
            Column => place.column,
            ColumnLow => place.column % self.low_columns,
            ColumnHigh => place.column / self.low_columns,
        };
        let bursts = self
            .map
            .parts()
            .iter()
            .rev()
            .fold(0_u64, |address, &part| address * u64::from(self.size(part)) + u64::from(value(part)));
        bursts * u64::from(o.burst_bytes)
    }

    /// Group and bank XORed with the lowest bits of the row, the bits of the group first. The operation is its own
    /// inverse.
    fn hashed(&self, group: u32, bank: u32, row: u32) -> (u32, u32) {
        if !self.row_xor {
            return (group, bank);
        }
        let DramOrganisation { bank_groups, banks, .. } = self.organisation;
        (group ^ (row % bank_groups), bank ^ (row / bank_groups % banks))
    }
}
