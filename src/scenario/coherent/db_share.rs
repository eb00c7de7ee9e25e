//! `hdm-db-share` and `snoop-filter-thrash`: hosts that share the memory of devices, which take lines back by
//! back-invalidate snoops.

use super::keys;
use super::links::kind;
use super::star::{Star, Trunk};
use super::stimulus::stamped;
use crate::settings::{SettingError, Settings};
use crate::{How, RunError, Scenario};
use scalepool_coherence::clocked::node::Reduction;
use scalepool_coherence::clocked::program::Program;
use scalepool_coherence::clocked::uio::{UioAccess, UioPeer};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::Line;
use scalepool_coherence::mem::dcoh::Dcoh;
use scalepool_coherence::mem::host::MemHost;
use scalepool_coherence::mem::load::Steps;
use scalepool_coherence::mem::options::MemConfig;
use scalepool_coherence::mem::uio::{Decoder, LINE_BYTES};
use scalepool_kernel::Rng;
use std::sync::Arc;

/// Several hosts and devices.
pub const DB_SHARE: Scenario = Scenario {
    name: "hdm-db-share",
    doc: "hosts that share the memory of devices (HDM-DB); a device takes lines back by back-invalidate snoops",
    keys: keys::DB_SHARE,
    how: How::Coded(|request, settings| star(request.seed, settings)?.build(request, settings)),
};

/// More lines than the snoop filter has entries.
pub const FILTER_THRASH: Scenario = Scenario {
    name: "snoop-filter-thrash",
    doc: "a host walks through more lines than the device's inclusive snoop filter can track (HDM-DB)",
    keys: keys::FILTER_THRASH,
    how: How::Coded(|request, settings| star(request.seed, settings)?.build(request, settings)),
};

/// Number of a writer on CXL.io, above those of all cores.
const UIO_WRITER: u8 = 0xff;

/// Hosts of a device and direct peers together: the tags of its filter.
const HOLDERS: u64 = 16;

pub(super) fn star(seed: u64, settings: &Settings) -> Result<Star<MemHost<Line>, Dcoh<Line>>, RunError> {
    let mem = MemConfig {
        filter_sets: settings.int("device.filter_sets") as usize,
        filter_ways: settings.int("device.filter_ways") as usize,
        trackers: settings.int("device.trackers") as usize,
        devload: thresholds(settings)?,
        ..MemConfig::default()
    };
    let uio = Uio {
        seed,
        accesses: settings.int("uio.accesses"),
        writes: settings.int("uio.writes"),
        bytes: settings.int("uio.bytes"),
        lines: settings.int("core.lines"),
    };
    let mode = settings.word("link.mode");
    let (hosts, peers) = (settings.int("hosts"), settings.int("peers"));
    let together = |key, text: String| Err(SettingError::Together { key, text }.into());
    if settings.is_on("switch") && mode != "cxl-256b-pbr" {
        return together(
            "switch",
            format!("found link.mode={mode}, expected cxl-256b-pbr, whose messages name their host"),
        );
    }
    if peers > 0 && !settings.is_on("switch") {
        return together("peers", "found no fabric, expected switch=on: direct peers need one".to_owned());
    }
    if hosts + peers > HOLDERS {
        return together("peers", format!("found {hosts} hosts and {peers} peers, expected at most {HOLDERS} in all"));
    }
    let switch = match settings.is_on("switch") {
        true => Some(Trunk { link: kind(mode, settings)?, cache_ids: None }),
        false => None,
    };
    Ok(Star {
        hubs: settings.int("devices") as usize,
        leaves: (hosts + peers) as usize,
        peers: peers as usize,
        host_is_hub: false,
        hub_name: |n| format!("dev[{n}].dcoh"),
        leaf_name: Arc::new(move |device, n| match n.checked_sub(hosts as usize) {
            None => format!("host[{n}].mem[{device}]"),
            Some(peer) => format!("acc[{peer}].mem[{device}]"),
        }),
        hub: |config, hosts| Dcoh::new(config, hosts as u8),
        hub_core: Box::new(move |device, _, _, _| uio.peer(device)),
        leaf: |n| MemHost::new(n as u8),
        config: CoherenceConfig { mem, ..CoherenceConfig::default() },
        reductions: reductions(settings)?,
        throttle: settings.is_on("throttle").then(|| Steps {
            normal_delta: settings.int("throttle.normal") as u32,
            severe_delta: settings.int("throttle.severe") as u32,
            most: settings.int("throttle.most") as u32,
            window_cycles: settings.int("throttle.window"),
        }),
        link: kind(mode, settings)?,
        switch,
        target: None,
    })
}

/// What peers on CXL.io do to each device: reads and writes all over the lines that the cores share.
#[derive(Clone, Copy)]
struct Uio {
    seed: u64,
    accesses: u64,
    /// Percent of them.
    writes: u64,
    bytes: u64,
    lines: u64,
}

/// Most cycles between two accesses of a peer on CXL.io.
const UIO_THINK_CYCLES: u64 = 200;

impl Uio {
    /// The peer of a device. One decoder covers the shared lines and no more, so an access that goes beyond is aborted.
    fn peer(self, device: usize) -> UioPeer {
        let end = self.lines * LINE_BYTES;
        let decoder = Decoder { first: 0, last: end - 1, granule_bytes: end, uio: true };
        let mut rng = Rng::for_name(self.seed, &format!("uio[{device}]"));
        let access = move |n| UioAccess {
            address: rng.below(end),
            bytes: self.bytes,
            write: (rng.below(100) < self.writes).then(|| stamped(UIO_WRITER, n as u64)),
            think_cycles: rng.below(UIO_THINK_CYCLES),
        };
        UioPeer::new(vec![decoder], Program::new((0..self.accesses as usize).map(access)))
    }
}

/// Open transactions at which DevLoad becomes optimal, moderate and severe; without the setting never.
///
/// # Errors
/// Not three numbers that do not fall.
fn thresholds(settings: &Settings) -> Result<[usize; 3], RunError> {
    const KEY: &str = "device.devload";
    let found = || settings.list(KEY).collect::<Vec<_>>().join(",");
    let numbers: Option<Vec<usize>> = settings.list(KEY).map(|n| n.parse().ok()).collect();
    match numbers.as_deref() {
        Some([]) => Ok([0; 3]),
        Some(&[optimal, moderate, severe]) if 0 < optimal && optimal <= moderate && moderate <= severe => {
            Ok([optimal, moderate, severe])
        }
        _ => Err(settings.refuse(KEY, found()).into()),
    }
}

/// Times in which the device's throughput is reduced.
///
/// # Errors
/// An element that is no time and load.
fn reductions(settings: &Settings) -> Result<Vec<Reduction>, RunError> {
    const KEY: &str = "device.reduced";
    let reduction = |text: &str| {
        let [from, to, level] = text.split(':').map(|n| n.parse::<u64>().ok()).collect::<Option<Vec<_>>>()?[..] else {
            return None;
        };
        let level = u8::try_from(level).ok().filter(|level| *level <= 3)?;
        (from < to).then_some(Reduction { from_cycle: from, to_cycle: to, level })
    };
    let read = |text| reduction(text).ok_or_else(|| settings.refuse(KEY, text).into());
    settings.list(KEY).map(read).collect()
}
