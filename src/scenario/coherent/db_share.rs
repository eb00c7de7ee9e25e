//! `hdm-db-share` and `snoop-filter-thrash`: hosts that share the memory of devices, which take lines back by
//! back-invalidate snoops.

use super::keys;
use super::links::kind;
use super::star::{Star, Trunk};
use crate::coherence::config::CoherenceConfig;
use crate::coherence::content::Line;
use crate::coherence::mem::dcoh::Dcoh;
use crate::coherence::mem::host::MemHost;
use crate::coherence::mem::options::MemConfig;
use crate::scenario::settings::{SettingError, Settings};
use crate::scenario::{RunError, Scenario};
use std::sync::Arc;

/// Several hosts and devices.
pub const DB_SHARE: Scenario = Scenario {
    name: "hdm-db-share",
    doc: "hosts that share the memory of devices (HDM-DB); a device takes lines back by back-invalidate snoops",
    keys: keys::DB_SHARE,
    run: |request, settings, on_window| star(settings)?.run(request, settings, on_window),
};

/// More lines than the snoop filter has entries.
pub const FILTER_THRASH: Scenario = Scenario {
    name: "snoop-filter-thrash",
    doc: "a host walks through more lines than the device's inclusive snoop filter can track (HDM-DB)",
    keys: keys::FILTER_THRASH,
    run: |request, settings, on_window| star(settings)?.run(request, settings, on_window),
};

/// Hosts of a device and direct peers together: the tags of its filter.
const HOLDERS: u64 = 16;

fn star(settings: &Settings) -> Result<Star<MemHost<Line>, Dcoh<Line>>, RunError> {
    let mem = MemConfig {
        filter_sets: settings.int("device.filter_sets") as usize,
        filter_ways: settings.int("device.filter_ways") as usize,
        trackers: settings.int("device.trackers") as usize,
        ..MemConfig::default()
    };
    let mode = settings.word("link.mode");
    let (hosts, peers) = (settings.int("hosts"), settings.int("peers"));
    let together = |key, text: String| Err(SettingError::Together { key, text }.into());
    if settings.is_on("switch") && mode != "cxl-256b-pbr" {
        return together("switch", format!("found link.mode={mode}, expected cxl-256b-pbr, whose messages name their host"));
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
        leaf: |n| MemHost::new(n as u8),
        config: CoherenceConfig { mem, ..CoherenceConfig::default() },
        link: kind(mode, settings)?,
        switch,
    })
}
