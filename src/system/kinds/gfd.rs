//! A memory as a G-FAM device (GFD): its tables by requester, see [`scalepool_memory::gfd`].
//!
//! Modelled: media partitions of one size, memory groups, and which of them each host may access. A walk: the windows that lead to the
//! memory become decoders of every host that the fabric has bound to it; what the description says of a host limits its groups.

use crate::field::{FieldRange, config};
use crate::metric::metrics;
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_memory::decoder::{AddressDecoder, GRANULARITIES};
use scalepool_memory::gfd::{
    GFD_PARTITION_STEP, GFD_PARTITIONS, GfdDecoder, GfdGroup, GfdRequester, GfdTable, GfdTableError,
};
use scalepool_ordered::OrderedSet;

metrics! {
    /// What a G-FAM device counts.
    pub static GFD_METRICS {
        ACCESS_ERRORS = "access errors" ["requests"] Sum, "requests that no decoder, or several, of their host hold, or whose memory group it may not access; reads are answered with poisoned ones, writes are dropped and completed (fabric GFD-5)";
    }
}

config! {
    /// Device addresses of a memory group.
    pub struct GfdGroupConfig {
        from: u64 = "0" [Unit::Bytes] in FieldRange::Int(0, 1 << 46), "first device address, a multiple of 64 MiB";
        size: u64 = "64 MiB" [Unit::Bytes] in FieldRange::Int(1, 1 << 46), "bytes, a multiple of 64 MiB (fabric GFD-3)";
        group: u8 = "1" [Unit::Of("-")] in FieldRange::Int(0, 255), "the group; what is in no range is in group 0";
    }
}

config! {
    /// A memory group that a host may access.
    pub struct GfdAccessConfig {
        usp: String = "" [Unit::Of("-")] in FieldRange::Text("the edge port of a host, such as `front.usp[0]`"), "edge port of the host";
        group: u8 = "0" [Unit::Of("-")] in FieldRange::Int(0, 255), "a group that it may access";
    }
}

config! {
    /// A memory as a G-FAM device.
    pub struct GfdConfig {
        partitions: usize = "1" [Unit::Of("partitions")] in FieldRange::Int(1, GFD_PARTITIONS as u64), "media partitions of equal size, each a multiple of 256 MiB (fabric GFD-3), which limits the size of the memory; nothing else depends on them";
        groups: Vec<(GfdGroupConfig, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(GfdGroupConfig::fields), "memory groups (fabric GFD-3)";
        access: Vec<(GfdAccessConfig, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(GfdAccessConfig::fields), "groups that hosts may access; a host without any may access all";
    }
}

/// Who asks a device with port based routing.
#[derive(Debug, Clone, Default)]
pub struct PbrRequesters {
    /// PID of the device.
    pub own: u16,
    /// Edge ports of hosts by path, and their PIDs.
    pub hosts: Vec<(String, u16)>,
    /// Base of each window that leads to it, and which of its ways that is.
    pub ways: Vec<(u64, u64)>,
}

impl GfdConfig {
    /// What such a device of `size` bytes cannot have.
    pub fn check(&self, size: u64) -> Option<String> {
        let (count, step) = (self.partitions, GFD_PARTITION_STEP * self.partitions as u64);
        if !size.is_multiple_of(step) {
            let (rest, mib) = (size % step, GFD_PARTITION_STEP >> 20);
            return Some(format!(
                "found {size} bytes for {count} media partitions, {rest} bytes more than a multiple of {count} x {mib} MiB, expected such a multiple (fabric GFD-3)"
            ));
        }
        self.table(size).err().map(|error| error.to_string())
    }

    /// What is wrong with it among who asks it, each with its place if it is of one line; `windows` as for
    /// [`GfdConfig::with_requesters`].
    pub fn check_requesters(
        &self,
        size: u64,
        windows: Option<&[AddressDecoder]>,
        requesters: &PbrRequesters,
    ) -> Vec<(Option<TextPlace>, String)> {
        let unknown = self.unknown_access(requesters).map(|(text, place)| (Some(place), text));
        let found: Vec<_> = unknown.collect();
        if !found.is_empty() {
            return found;
        }
        self.with_requesters(size, windows, requesters).err().map(|text| (None, text)).into_iter().collect()
    }

    /// Access of what is no host of the device.
    fn unknown_access<'a>(&'a self, requesters: &'a PbrRequesters) -> impl Iterator<Item = (String, TextPlace)> + 'a {
        let is_known = |usp: &str| requesters.hosts.iter().any(|(path, _)| path == usp);
        self.access.iter().filter(move |(one, _)| !is_known(&one.usp)).map(|(one, place)| {
            let paths: Vec<&str> = requesters.hosts.iter().map(|(path, _)| path.as_str()).collect();
            (format!("found access of `{}`, expected one of {}", one.usp, paths.join(", ")), *place)
        })
    }

    /// The device without requesters.
    ///
    /// # Errors
    /// What such a device cannot have.
    pub fn table(&self, size: u64) -> Result<GfdTable, GfdTableError> {
        let group =
            |(one, _): &(GfdGroupConfig, TextPlace)| GfdGroup { first: one.from, bytes: one.size, group: one.group };
        let partitions = vec![size / self.partitions as u64; self.partitions];
        GfdTable::new(&partitions, self.groups.iter().map(group).collect())
    }

    /// The device with its requesters; `windows` lead to it, `None`: its addresses begin at 0.
    ///
    /// # Errors
    /// What is wrong with the tables.
    pub fn with_requesters(
        &self,
        size: u64,
        windows: Option<&[AddressDecoder]>,
        requesters: &PbrRequesters,
    ) -> Result<GfdTable, String> {
        let mut table = self.table(size).map_err(|error| error.to_string())?;
        if let Some((text, _)) = self.unknown_access(requesters).next() {
            return Err(text);
        }
        let all = GfdDecoder { base: 0, device_base: 0, bytes: size, granularity: GRANULARITIES[0], ways: 1, way: 0 };
        let decoder = |AddressDecoder { window, device_base }: &AddressDecoder| GfdDecoder {
            base: window.base,
            device_base: *device_base,
            bytes: window.share(),
            granularity: window.interleave.granularity(),
            ways: window.interleave.ways(),
            way: requesters.ways.iter().find(|(base, _)| *base == window.base).map_or(0, |(_, way)| *way),
        };
        let decoders = windows.map_or_else(|| vec![all], |windows| windows.iter().map(decoder).collect());
        for (path, pid) in &requesters.hosts {
            let own = self.access.iter().filter(|(one, _)| one.usp == *path).map(|(one, _)| one.group);
            let mut groups: OrderedSet<u8> = own.collect();
            if groups.is_empty() {
                groups = (0..=u8::MAX).collect();
            }
            let requester = GfdRequester { decoders: decoders.clone(), groups };
            table.set(*pid, requester).map_err(|error| error.to_string())?;
        }
        Ok(table)
    }
}
