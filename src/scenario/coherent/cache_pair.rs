//! `cxl-cache-pair`: devices that share the host's memory over CXL.cache, each below a root port of its own or all of
//! them behind one switch, which tells them apart by CacheID. With a target the devices are direct peers of one more
//! device besides, whose memory they use over CXL.mem of their own.

use super::keys;
use super::links::kind;
use super::star::{Star, Trunk};
use crate::settings::{SettingError, Settings};
use crate::{How, RunError, Scenario};
use scalepool_coherence::cache::device::Device;
use scalepool_coherence::cache::home::Home;
use scalepool_coherence::cache::route::{Below, CACHE_IDS, Flits, Hdm, Hierarchy, Routes};
use scalepool_coherence::clocked::cache::Sparse;
use scalepool_coherence::clocked::core::NoCore;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::Line;
use scalepool_coherence::mem::peer::Peer;
use std::sync::Arc;

/// The scenario.
pub const CACHE_PAIR: Scenario = Scenario {
    name: "cxl-cache-pair",
    doc: "caching devices that share the host's memory over CXL.cache, each over its own link",
    keys: keys::CACHE_PAIR,
    how: How::Coded(|request, settings| match settings.is_on("target") {
        true => star(settings, |n| Peer::new(n as u8))?.build(request, settings),
        false => star(settings, |_| Device::new())?.build(request, settings),
    }),
};

/// Devices of a kind below the home.
///
/// # Errors
/// Settings that do not go together.
pub(super) fn star<L>(settings: &Settings, leaf: fn(usize) -> L) -> Result<Star<L, Home<Line, Sparse>>, RunError> {
    let (upper, own) = (settings.word("link.mode"), settings.word("switch.device_mode"));
    let has_target = settings.is_on("target");
    let is_switched = settings.is_on("switch");
    let own = if is_switched && own != "same" { own } else { upper };
    let switch = if is_switched {
        // A fabric has ports of its own in every message, and no CacheID.
        let cache_ids = if upper == "cxl-256b-pbr" { None } else { Some(routes(settings, upper, own)?) };
        if cache_ids.is_none() && own != upper {
            let text = "found links of another kind below a fabric, expected `same`".to_owned();
            return Err(SettingError::Together { key: "switch.device_mode", text }.into());
        }
        Some(Trunk { link: kind(upper, settings)?, cache_ids })
    } else {
        None
    };
    Ok(Star {
        hubs: 1,
        leaves: settings.int("devices") as usize,
        peers: if has_target { settings.int("devices") as usize } else { 0 },
        host_is_hub: true,
        hub_name: |_| "host.home".to_owned(),
        leaf_name: Arc::new(|_, n| format!("dev[{n}].cache")),
        hub: |_, _| Home::new(Sparse::default()),
        hub_core: Box::new(|_, _, _, _| NoCore),
        leaf,
        config: CoherenceConfig {
            home_filter_lines: settings.int("home.filter_lines") as usize,
            ..CoherenceConfig::default()
        },
        reductions: Vec::new(),
        throttle: None,
        link: kind(own, settings)?,
        switch,
        // Direct peers need a fabric.
        target: if has_target { Some(kind("cxl-256b-pbr", settings)?) } else { None },
    })
}

/// CacheID n leads to device n, but for the entries that are set otherwise.
///
/// # Errors
/// A hierarchy that may not run, an entry that cannot be read.
fn routes(settings: &Settings, upper: &str, own: &str) -> Result<Routes, RunError> {
    let flits = |mode: &str| if mode == "cxl-68b" { Flits::B68 } else { Flits::B256 };
    let below = |n| Below { hdm: Hdm::None, link: flits(own), cache_id: Some(n) };
    let devices = (0..settings.int("devices") as u8).map(below).collect();
    let refused = |e| SettingError::Together { key: "switch", text: format!("{e}") };
    let mut routes = Routes::new(&Hierarchy { devices, upper: flits(upper), cache_ids: true }).map_err(refused)?;
    for entry in settings.list("switch.table") {
        let bad = || settings.refuse("switch.table", entry);
        let (id, device) = entry.split_once(':').ok_or_else(bad)?;
        let id = id.parse::<u8>().ok().filter(|id| usize::from(*id) < CACHE_IDS).ok_or_else(bad)?;
        let device = match device {
            "none" => None,
            n => Some(n.parse::<usize>().ok().filter(|n| *n < CACHE_IDS).ok_or_else(bad)?),
        };
        routes.set_entry(id, device);
    }
    Ok(routes)
}
