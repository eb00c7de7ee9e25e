//! How much memory a design may take, judged before it is built.
//!
//! Modelled: what grows with settings that each have a wide range: units under way on long wires, vectors of collectives.
//! Left out: the modules themselves, and NVLink wires, which are silent at rest and bound by credits.

/// Most MiB that one of these may take in a design.
pub const MOST_MIB: u64 = 1024;

/// What to say of more than that.
pub fn above(what: &str, bytes: u128) -> Option<String> {
    let mib = bytes >> 20;
    let text = || format!("found about {mib} MiB of memory for {what}, expected at most {MOST_MIB} MiB");
    (mib > u128::from(MOST_MIB)).then(text)
}

/// Units on wires that are never silent, of one design or a part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WireMemory {
    wires: u64,
    units: u128,
    bytes: u128,
}

impl WireMemory {
    /// Adds so many wires, each `way_fs` long, with a unit of `unit_bytes` in memory every `num / den` femtoseconds; their
    /// bytes.
    pub fn add(&mut self, wires: u64, way_fs: u64, (num, den): (u64, u64), unit_bytes: usize) -> u128 {
        let units = u128::from(way_fs) * u128::from(den) / u128::from(num.max(1)) * u128::from(wires);
        let bytes = units * unit_bytes as u128;
        self.wires += wires;
        self.units += units;
        self.bytes += bytes;
        bytes
    }

    /// What to say of too many.
    pub fn above(&self) -> Option<String> {
        above(&format!("{} units under way on {} wires", self.units, self.wires), self.bytes)
    }
}

/// What to say of too many on so many wires of one kind, see [`WireMemory::add`].
pub fn above_on_wires(wires: u64, way_fs: u64, unit_time_fs: (u64, u64), bytes: usize) -> Option<String> {
    let mut all = WireMemory::default();
    all.add(wires, way_fs, unit_time_fs, bytes);
    all.above()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates() {
        assert_eq!(above("vectors", 1 << 30), None);
        let text =
            "found about 1048576 MiB of memory for 1073741824 units under way on 2 wires, expected at most 1024 MiB";
        assert_eq!(above_on_wires(2, 1 << 40, (2048, 1), 1024).as_deref(), Some(text));
        assert_eq!(above_on_wires(2, 1 << 20, (1000, 1), 1024), None);
    }
}
