//! `cxl-cache-pair`: devices that share the host's memory over CXL.cache.

use super::star::Star;
use super::{by_mode, keys};
use crate::coherence::cache::device::Device;
use crate::coherence::cache::home::Home;
use crate::coherence::clocked::cache::Sparse;
use crate::coherence::config::CoherenceConfig;
use crate::coherence::content::Line;
use crate::scenario::Scenario;
use crate::scenario::settings::Settings;

/// The scenario.
pub const CACHE_PAIR: Scenario = Scenario {
    name: "cxl-cache-pair",
    doc: "caching devices that share the host's memory over CXL.cache, each over its own link",
    keys: keys::CACHE_PAIR,
    build: |request, settings| by_mode!(star(settings), request, settings),
};

fn star(settings: &Settings) -> Star<Device<Line>, Home<Line, Sparse>> {
    Star {
        hubs: 1,
        leaves: settings.int("devices") as usize,
        host_is_hub: true,
        hub_name: |_| "host.home".to_owned(),
        leaf_name: |_, n| format!("dev[{n}].cache"),
        hub: |_, _| Home::new(Sparse::default()),
        leaf: |_| Device::new(),
        config: CoherenceConfig {
            home_filter_lines: settings.int("home.filter_lines") as usize,
            ..CoherenceConfig::default()
        },
    }
}
