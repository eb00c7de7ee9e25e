//! `hdm-db-share` and `snoop-filter-thrash`: hosts that share the memory of devices, which take lines back by
//! back-invalidate snoops.

use super::star::Star;
use super::{by_mode, keys};
use crate::coherence::config::CoherenceConfig;
use crate::coherence::content::Line;
use crate::coherence::mem::dcoh::Dcoh;
use crate::coherence::mem::host::MemHost;
use crate::coherence::mem::options::MemConfig;
use crate::scenario::Scenario;
use crate::scenario::settings::Settings;

/// Several hosts and devices.
pub const DB_SHARE: Scenario = Scenario {
    name: "hdm-db-share",
    doc: "hosts that share the memory of devices (HDM-DB); a device takes lines back by back-invalidate snoops",
    keys: keys::DB_SHARE,
    build: |request, settings| by_mode!(star(settings), request, settings),
};

/// More lines than the snoop filter has entries.
pub const FILTER_THRASH: Scenario = Scenario {
    name: "snoop-filter-thrash",
    doc: "a host walks through more lines than the device's inclusive snoop filter can track (HDM-DB)",
    keys: keys::FILTER_THRASH,
    build: |request, settings| by_mode!(star(settings), request, settings),
};

fn star(settings: &Settings) -> Star<MemHost<Line>, Dcoh<Line>> {
    let mem = MemConfig {
        filter_sets: settings.int("device.filter_sets") as usize,
        filter_ways: settings.int("device.filter_ways") as usize,
        trackers: settings.int("device.trackers") as usize,
        ..MemConfig::default()
    };
    Star {
        hubs: settings.int("devices") as usize,
        leaves: settings.int("hosts") as usize,
        host_is_hub: false,
        hub_name: |n| format!("dev[{n}].dcoh"),
        leaf_name: |device, host| format!("host[{host}].mem[{device}]"),
        hub: |config, hosts| Dcoh::new(config, hosts as u8),
        leaf: |n| MemHost::new(n as u8),
        config: CoherenceConfig { mem, ..CoherenceConfig::default() },
    }
}
