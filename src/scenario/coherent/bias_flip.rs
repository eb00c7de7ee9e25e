//! `bias-flip`: a device and its host over HDM-D; the bias table says who uses a line without asking.

use super::keys;
use super::links::kind;
use super::star::Star;
use crate::settings::Settings;
use crate::{How, RunError, Scenario};
use scalepool_coherence::bias::{BiasDevice, BiasHost};
use scalepool_coherence::clocked::accessor::Accessor;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::Line;
use std::sync::Arc;

/// The scenario.
pub const BIAS_FLIP: Scenario = Scenario {
    name: "bias-flip",
    doc: "a device and its host, each with a core, that use the device's memory in turn; its bias flips both ways (HDM-D)",
    keys: keys::BIAS_FLIP,
    how: How::Coded(|request, settings| star(settings)?.build(request, settings)),
};

fn star(settings: &Settings) -> Result<Star<BiasHost<Line>, BiasDevice<Line>>, RunError> {
    let poison_every = settings.int("core.poison_every");
    Ok(Star {
        hubs: 1,
        leaves: 1,
        peers: 0,
        host_is_hub: false,
        hub_name: |_| "dev[0].bias".to_owned(),
        leaf_name: Arc::new(|_, _| "host.mem".to_owned()),
        hub: |_, _| BiasDevice::new(),
        hub_core: Box::new(move |_, accesses, window, lines| {
            Accessor::new(accesses, window, lines).poisoning(poison_every)
        }),
        leaf: |_| BiasHost::new(0),
        config: CoherenceConfig::default(),
        reductions: Vec::new(),
        throttle: None,
        link: kind(settings.word("link.mode"), settings)?,
        switch: None,
        target: None,
    })
}
