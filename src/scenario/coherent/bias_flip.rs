//! `bias-flip`: a device and its host over HDM-D; the bias table says who uses a line without asking.

use super::star::Star;
use super::{by_mode, keys};
use crate::coherence::bias::{BiasDevice, BiasHost};
use crate::coherence::config::CoherenceConfig;
use crate::coherence::content::Line;
use crate::scenario::Scenario;

/// The scenario.
pub const BIAS_FLIP: Scenario = Scenario {
    name: "bias-flip",
    doc: "a device and its host, each with a core, that use the device's memory in turn; its bias flips both ways (HDM-D)",
    keys: keys::BIAS_FLIP,
    build: |request, settings| by_mode!(star(), request, settings),
};

fn star() -> Star<BiasHost<Line>, BiasDevice<Line>> {
    Star {
        hubs: 1,
        leaves: 1,
        host_is_hub: false,
        hub_name: |_| "dev[0].bias".to_owned(),
        leaf_name: |_, _| "host.mem".to_owned(),
        hub: |_, _| BiasDevice::new(),
        leaf: |_| BiasHost::new(0),
        config: CoherenceConfig::default(),
    }
}
