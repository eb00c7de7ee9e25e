//! The memory map: which system (host physical) addresses lead to which memory.
//!
//! Modelled: windows with one target or several, dealt by the interleave arithmetic of the root (`fabric` §2.2); the decoders of
//! a device follow from the windows that lead to it, the routes of a host from its links, the decoders of a switch from both:
//! a host tells as many groups of targets apart as it has ports to them, its switches tell the targets of a group apart
//! (`fabric` §2.4). Without any window each memory begins at address 0 for the one host at its port, or for the one to which a
//! switch, or a fabric of switches with port based routing, has bound it. Switches with hierarchy based routing may stand below
//! one another, and below an edge port of such a fabric: each level tells targets apart by the bits above those of the level
//! before (`fabric` HDM-8). Left out: skips, memory that is addressed by the number of its owner
//! (UALink, NVLink) or whose lines are numbered (coherent homes).
//!
//! A walk through one window: its table is read and judged alone; its targets are looked up, each has to have memory enough for
//! all windows that lead to it; windows are compared with one another; when links are joined, one component that asks has to
//! reach all targets, and what a component asks for has to lie in windows that it reaches.

use super::design::System;
use super::document::Value;
use super::field::{FieldRange, config};
use super::kind::{CoherenceProtocol, Component, ConfigFinding, CxlSide, Offer, PortRole};
use super::neighbours::Neighbourhood;
use super::pbr_fabric::Bound;
use super::problem::{Problems, TextPlace};
use super::quantity::Unit;
use super::resolve::OwnTable;
use scalepool_fabric::cxl_switch::VppbBinding;
use scalepool_memory::bridge::BRIDGE_DECODERS;
use scalepool_memory::bridge::{BridgeDecoder, BridgeDecoders};
use scalepool_memory::decoder::{
    ADDRESS_END, Arithmetic, DEVICE_DECODERS, Decoders, GRANULARITIES, Interleave, WAYS, WINDOW_STEP_BYTES, WayRoute,
    Window, WindowRoute, WindowRoutes,
};
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::hdm_decoder::{MAX_DECODERS, MAX_DEVICE_DECODERS};

// Memory knows no registers and registers no memory; here both are known.
const _: () = assert!(DEVICE_DECODERS == MAX_DEVICE_DECODERS && BRIDGE_DECODERS == MAX_DECODERS);

/// The table at the top that holds windows, as `list kinds` and `describe` name it.
pub const WINDOW: &str = "memory_map";
/// What a window is.
pub const WINDOW_ABOUT: &str =
    "`[memory_map.NAME]`: a range of system addresses that leads to the memory of one component, or of several in turn";

/// Names of arithmetics.
const ARITHMETICS: &[&str] = &[Arithmetic::Modulo.name(), Arithmetic::Xor.name()];

config! {
    /// `[memory_map.NAME]`: a window of system addresses.
    pub struct WindowConfig {
        base: Option<u64> = "" [Unit::Bytes] in FieldRange::Int(0, ADDRESS_END - 1), "first address of the window, a multiple of 256 MiB (fabric §2.1); it has to be given";
        size: Option<u64> = "" [Unit::Bytes] in FieldRange::Int(1, ADDRESS_END), "size of the window, a multiple of 256 MiB for each target (fabric HDM-9); it has to be given";
        targets: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts("components with memory, 1, 2, 3, 4, 6, 8, 12 or 16; `memory[i]` = all of an array, `memory.ld[0]` = a logical device of one"), "components to which the addresses of the window lead, in the order in which chunks are dealt to them (fabric HDM-9)";
        granularity: u64 = "256 B" [Unit::Bytes] in FieldRange::OneOf(&GRANULARITIES), "bytes in a row at one target (fabric §2.1)";
        arithmetic: String = "modulo" [Unit::Of("-")] in FieldRange::Words(ARITHMETICS), "how the target follows from the address: from address bits, or from their parities with published maps, shifted to the granularity (fabric §2.2)";
    }
}

/// A memory to which addresses can lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemoryTarget {
    /// Place in the list of components.
    pub component: usize,
    /// The logical device, of a multi-logical device.
    pub logical: Option<u8>,
}

impl MemoryTarget {
    /// Its name, `memory[0]` or `memory.ld[1]`; `path` is that of its component.
    pub fn name(self, path: &str) -> String {
        self.logical.map_or(path.to_owned(), |ld| format!("{path}.ld[{ld}]"))
    }
}

/// A window with its targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedWindow {
    /// Name.
    pub name: String,
    /// Its addresses and its interleave.
    pub window: Window,
    /// Its targets, by way.
    pub targets: Vec<MemoryTarget>,
}

/// Addresses that can be used: the first, and the first behind them.
pub type Span = (u64, u64);

/// A window as it was read.
pub(super) struct OpenWindow {
    name: String,
    own: OwnTable,
    config: WindowConfig,
    /// Targets that were found, each with its place.
    targets: Vec<(MemoryTarget, TextPlace)>,
    /// All targets were found.
    is_whole: bool,
}

impl OpenWindow {
    /// A window with the targets that were found, which are all that it names if `is_whole`.
    pub fn new(
        name: &str,
        own: OwnTable,
        config: WindowConfig,
        targets: Vec<(MemoryTarget, TextPlace)>,
        is_whole: bool,
    ) -> OpenWindow {
        OpenWindow { name: name.to_owned(), own, config, targets, is_whole }
    }

    /// Its range, as far as it is one.
    fn span(&self) -> Option<Span> {
        let (base, size) = (self.config.base?, self.config.size?);
        Some((base, base.checked_add(size).filter(|end| *end <= ADDRESS_END)?))
    }

    fn mapped(&self) -> Option<MappedWindow> {
        let arithmetic = Arithmetic::ALL.into_iter().find(|one| one.name() == self.config.arithmetic)?;
        let interleave = Interleave::new(self.targets.len(), self.config.granularity, arithmetic)?;
        let (base, end) = self.span()?;
        let targets = self.targets.iter().map(|(target, _)| *target).collect();
        Some(MappedWindow { name: self.name.clone(), window: Window { base, size: end - base, interleave }, targets })
    }

    /// Whether decoders know the number of its targets.
    fn has_ways(&self) -> bool {
        self.is_whole && WAYS.contains(&self.targets.len())
    }

    /// What is wrong with it alone.
    fn judge(&self) -> Vec<ConfigFinding> {
        let (mut found, WindowConfig { base, size, .. }) = (Vec::new(), &self.config);
        let is_given = |key| self.own.table.get(key).is_some();
        if !is_given("base") {
            found.push(("base", "found no base, expected the first address of the window".to_owned()));
        }
        if !is_given("size") {
            found.push(("size", "found no size, expected the bytes of the window".to_owned()));
        }
        if let Some(base) = base.filter(|base| !base.is_multiple_of(WINDOW_STEP_BYTES)) {
            let text =
                format!("found {base:#x}, expected a multiple of 256 MiB, as decoder registers hold it (fabric §2.1)");
            found.push(("base", text));
        }
        // What is wrong with the targets is said of them.
        let ways = if self.has_ways() { self.targets.len() as u64 } else { 1 };
        if let Some(size) = size.filter(|size| !size.is_multiple_of(ways * WINDOW_STEP_BYTES)) {
            let each = if ways > 1 {
                format!(" for each of {ways} targets (fabric HDM-9)")
            } else {
                " (fabric §2.1)".to_owned()
            };
            found.push(("size", format!("found {size} bytes, expected a multiple of 256 MiB{each}")));
        }
        if let (Some(base), Some(size), None) = (base, size, self.span()) {
            let text = format!(
                "found a window of {size} bytes at {base:#x}, expected an end of at most {ADDRESS_END:#x}: addresses have 52 bits (cxl-68b §2.1, cxl-256b §3.1)"
            );
            found.push(("size", text));
        }
        let names_none = match self.own.table.get("targets").map(|item| &item.value) {
            None | Some(Value::Text(_)) => self.targets.is_empty() && self.is_whole,
            Some(Value::List(items)) => items.is_empty(),
            Some(_) => false,
        };
        if names_none {
            found.push(("targets", "found no targets, expected one component with memory, or several".to_owned()));
        }
        found
    }
}

/// A component as the map looks at it: path, name of its kind, configuration.
pub(super) type MapTarget<'a> = (&'a str, &'static str, &'a dyn Component);

/// Judges all windows without links; those that are sound, in the order of their bases, when all are.
pub(super) fn judged<'a>(
    open: &mut [OpenWindow],
    target: impl Fn(usize) -> MapTarget<'a>,
    problems: &mut Problems,
) -> Vec<MappedWindow> {
    for window in open.iter() {
        window.own.judge(window.judge(), problems);
        judge_targets(window, &target, problems);
    }
    scalepool_ordered::sort_by_key(open, |window| (window.config.base, window.own.place));
    judge_overlaps(open, problems);
    judge_memories(open, &target, problems);
    open.iter().filter_map(OpenWindow::mapped).collect()
}

/// Targets are several components with memory, in a number that decoders know.
fn judge_targets<'a>(window: &OpenWindow, target: &impl Fn(usize) -> MapTarget<'a>, problems: &mut Problems) {
    let key = window.own.key("targets");
    let mut known = OrderedSet::new();
    for &(named, place) in &window.targets {
        let (path, kind, config) = target(named.component);
        if let (Some(count), None) = (config.offer().logical_devices, named.logical) {
            let text = format!(
                "found `{path}`, which has {count} logical devices, expected one of them, as `{path}.ld[0]`, or all: `{path}.ld[i]`"
            );
            problems.add(place, &key, text);
        }
        if config.offer().memory_bytes.is_none() {
            let reason = config.why_no_window();
            let text = format!(
                "found `{path}`, a {kind}, {reason}, expected a component with memory that has system addresses"
            );
            problems.add(place, &key, text);
        }
        if !known.insert(named) {
            let name = named.name(path);
            problems.add(place, &key, format!("found `{name}` twice, expected each target once (fabric HDM-2)"));
        }
    }
    let ways = window.targets.len();
    if window.is_whole && ways > 0 && !window.has_ways() {
        let known = WAYS.map(|ways| ways.to_string()).join(", ");
        let text = format!("found {ways} targets, expected one of {known} (fabric HDM-9)");
        window.own.judge(vec![("targets", text)], problems);
    }
}

/// No address lies in two windows; the windows are in the order of their bases.
fn judge_overlaps(open: &[OpenWindow], problems: &mut Problems) {
    let mut furthest: Option<(&OpenWindow, u64)> = None;
    for (window, (base, end)) in open.iter().filter_map(|window| Some((window, window.span()?))) {
        if let Some((before, until)) = furthest.filter(|(_, until)| *until > base) {
            let last = until.min(end) - 1;
            let text = format!(
                "found the addresses {base:#x} to {last:#x} in `{}` and in `{}`, expected windows that don't overlap",
                before.name, window.name
            );
            window.own.judge(vec![("base", text)], problems);
        }
        if furthest.is_none_or(|(_, until)| until < end) {
            furthest = Some((window, end));
        }
    }
}

/// Every memory is large enough for its shares of all windows, and has a decoder for each.
fn judge_memories<'a>(open: &[OpenWindow], target: &impl Fn(usize) -> MapTarget<'a>, problems: &mut Problems) {
    let mut taken: OrderedMap<MemoryTarget, (usize, u64)> = OrderedMap::new();
    for (window, mapped) in open.iter().filter_map(|window| Some((window, window.mapped()?))) {
        for &(named, place) in &window.targets {
            let (path, _, config) = target(named.component);
            let Some(bytes) = config.offer().memory_bytes else { continue };
            let path = named.name(path);
            let (count, all) = taken.entry(named).or_default();
            *count += 1;
            let own = mapped.window.share();
            *all = all.saturating_add(own);
            if *all > bytes {
                let others =
                    if *count > 1 { format!(" beside {} of windows below", *all - own) } else { String::new() };
                let text = format!(
                    "found `{path}` with {bytes} bytes, expected at least {all}: the window takes {own}{others}"
                );
                problems.add(place, window.own.key("targets"), text);
            }
            if *count > DEVICE_DECODERS {
                let text = format!(
                    "found {count} windows that lead to `{path}`, expected at most {DEVICE_DECODERS}, the decoders of a device (fabric §2.1)"
                );
                problems.add(place, window.own.key("targets"), text);
            }
        }
    }
}

/// What is no mistake and may surprise.
pub(super) fn warnings(open: &[OpenWindow], problems: &mut Problems) {
    for window in open {
        let Some(base) = window.config.base.filter(|_| window.targets.len().is_multiple_of(3)) else { continue };
        if !base.is_multiple_of(3 * WINDOW_STEP_BYTES) {
            let text = format!(
                "{base:#x} is no multiple of 768 MiB, so that the first chunk of the window is not that of its first target (fabric HDM-6)"
            );
            window.own.judge(vec![("base", text)], problems);
        }
    }
}

/// A memory that a component reaches.
#[derive(Debug, Clone, Copy)]
struct Reached {
    target: MemoryTarget,
    /// Port of the one who asks.
    port: usize,
}

/// A window that a component reaches as a whole.
struct Reach<'a> {
    /// Its number in the map.
    number: usize,
    mapped: &'a MappedWindow,
    /// Its interleave, with the ways of the root.
    interleave: Interleave,
    /// By way: place in the list of what the component reaches, and that.
    ways: Vec<(usize, Reached)>,
}

/// Windows and decoders of a system, as routes are made of them.
struct MapIndex<'a> {
    system: &'a System,
    decoders: OrderedMap<MemoryTarget, Decoders>,
    /// Windows by their first target.
    windows: OrderedMap<MemoryTarget, Vec<usize>>,
}

impl<'a> MapIndex<'a> {
    fn of(system: &'a System) -> MapIndex<'a> {
        let mut windows: OrderedMap<MemoryTarget, Vec<usize>> = OrderedMap::new();
        for (n, mapped) in system.memory_map.iter().enumerate() {
            windows.entry(mapped.targets[0]).or_default().push(n);
        }
        MapIndex { system, decoders: decoders(system), windows }
    }

    /// The windows whose targets a component reaches, in the order of their bases; each as it is dealt to ports and vPPBs, or
    /// why it cannot be.
    fn reaches(&self, component: usize) -> Vec<Result<Reach<'a>, (usize, String)>> {
        let behind: OrderedMap<MemoryTarget, (usize, Reached)> = behind(self.system, component)
            .into_iter()
            .enumerate()
            .rev()
            .map(|(n, one)| (one.target, (n, one)))
            .collect();
        let near: OrderedSet<usize> = behind.keys().filter_map(|n| self.windows.get(n)).flatten().copied().collect();
        let reached = near.into_iter().filter_map(|n| {
            let mapped = &self.system.memory_map[n];
            let ways = mapped.targets.iter().map(|target| behind.get(target).copied()).collect::<Option<Vec<_>>>()?;
            let has_levels = ways.iter().any(|(_, one)| has_levels(self.system, component, one.port));
            let interleave = split(mapped, &ways, has_levels).map_err(|text| (n, text));
            Some(interleave.map(|interleave| Reach { number: n, mapped, interleave, ways }))
        });
        reached.collect()
    }

    /// The windows that a component reaches over its links.
    fn routes(&self, component: usize) -> WindowRoutes {
        let route = |Reach { mapped, interleave, ways, .. }: Reach<'_>| {
            let base = mapped.window.base;
            let way = |&(n, reached): &(usize, Reached)| {
                let all = self.decoders.get(&reached.target)?.list();
                let own = all.iter().find(|decoder| decoder.window.base == base)?;
                Some(WayRoute { port: reached.port, target: n, device_base: own.device_base })
            };
            let ways = ways.iter().map(way).collect::<Option<Vec<_>>>()?;
            Some(WindowRoute { window: Window { interleave, ..mapped.window }, ways })
        };
        WindowRoutes::new(self.reaches(component).into_iter().flatten().filter_map(route).collect())
    }

    /// The decoders of a virtual hierarchy of a switch: one for each window that its host reaches over the port above it, so every
    /// switch on a way has the decoder that the way needs.
    ///
    /// # Errors
    /// What a commit refuses, an order of targets that no decoder deals, or a hierarchy without a host.
    fn bridge(&self, switch: usize, vcs: usize) -> Result<BridgeDecoders, BridgeError> {
        let path = hierarchy_path(self.system, switch, vcs).map_err(BridgeError::of_switch)?;
        let HierarchyPath { asking, port, levels } = path;
        let of_level = |&(switch, vcs): &(usize, usize)| -> OrderedMap<MemoryTarget, usize> {
            bound(self.system, switch, vcs).into_iter().map(|one| (one.target, one.vppb)).collect()
        };
        let levels: Vec<_> = levels.iter().map(of_level).collect();
        let mut decoders = BridgeDecoders::default();
        for reach in self.reaches(asking) {
            let Reach { number, mapped, interleave, ways } =
                reach.map_err(|(window, text)| BridgeError { window: Some(window), text })?;
            let refused = |text: String| BridgeError { window: Some(number), text };
            // The ways of one group of the root, in the order of the decoder's target list.
            let of_root = ways.iter().filter(|(_, one)| one.port == port).map(|(_, one)| one.target);
            let Some(LevelTargets { targets, granularity }) = below_root(&levels, of_root.collect(), interleave) else {
                let text = "found targets in another order than that in which the switches on the way deal them, expected those behind each vPPB in turn (fabric HDM-11)";
                return Err(refused(text.to_owned()));
            };
            if targets.is_empty() {
                continue;
            }
            let Window { base, size, .. } = mapped.window;
            let decoder = BridgeDecoder { back_invalidate: false, base, size, granularity, targets };
            let who = || &self.system.components[switch].ports[vcs].path;
            decoders.commit(decoder).map_err(|error| refused(format!("below `{}`: {error}", who())))?;
        }
        Ok(decoders)
    }
}

/// Why a virtual hierarchy has no decoders.
struct BridgeError {
    /// The window that is at fault, by its number in the map; `None`: the switch is.
    window: Option<usize>,
    text: String,
}

impl BridgeError {
    fn of_switch(text: String) -> BridgeError {
        BridgeError { window: None, text }
    }
}

/// Who asks a virtual hierarchy of a switch, and by which switches.
struct HierarchyPath {
    /// The component that asks, and its port.
    asking: usize,
    port: usize,
    /// Switches and their hierarchies from there down to the one that was asked for.
    levels: Vec<(usize, usize)>,
}

/// The way from the host of a virtual hierarchy down to it.
///
/// # Errors
/// No host is above it.
fn hierarchy_path(system: &System, switch: usize, vcs: usize) -> Result<HierarchyPath, String> {
    let mut levels = vec![(switch, vcs)];
    // No way is longer than there are components, unless it is a circle.
    while levels.len() <= system.components.len() {
        let (switch, vcs) = levels[levels.len() - 1];
        let (far, port) = system.far(switch, vcs);
        if !is_switch(system, far) {
            levels.reverse();
            return Ok(HierarchyPath { asking: far, port, levels });
        }
        let Some(above) = hierarchy_of(system, far, port) else { break };
        levels.push(above);
    }
    let path = &system.components[switch].ports[vcs].path;
    Err(format!("found no host above `{path}`, expected one at the end of the switches above it (fabric PID-3)"))
}

/// The upstream port whose host has what is below a downstream port of a switch: its switch, and the port.
fn hierarchy_of(system: &System, switch: usize, port: usize) -> Option<(usize, usize)> {
    let Some((hosts, bindings)) = system.components[switch].config.hierarchies() else {
        return system.pbr.owner(switch, port);
    };
    let dsp = port.checked_sub(hosts)?;
    bindings.iter().find(|binding| binding.port == dsp).map(|binding| (switch, binding.vcs))
}

/// What a decoder on the way deals addresses to.
struct LevelTargets {
    /// vPPBs in the order of its target list.
    targets: Vec<usize>,
    granularity: u64,
}

/// How the last of several switches on the way deals the targets of a group of the root; `levels` are the vPPBs of each switch by
/// target. `None`: their order is none that decoders deal.
fn below_root(
    levels: &[OrderedMap<MemoryTarget, usize>],
    mut ways: Vec<MemoryTarget>,
    interleave: Interleave,
) -> Option<LevelTargets> {
    let (_, mut granularity) = interleave.below();
    let mut targets: Vec<usize> = Vec::new();
    for own in levels {
        // Every level takes the bits above those of the one before (`fabric` HDM-8).
        granularity *= targets.len().max(1) as u64;
        let vppbs: Vec<usize>;
        (ways, vppbs) = ways.iter().filter_map(|target| Some((*target, *own.get(target)?))).unzip();
        let groups = vppbs.iter().copied().collect::<OrderedSet<_>>().len();
        if (0..vppbs.len()).any(|n| vppbs[n] != vppbs[n % groups]) {
            return None;
        }
        targets = vppbs[..groups].to_vec();
    }
    // A single way has no bits to select by.
    let granularity = if targets.len() == 1 { interleave.granularity() } else { granularity };
    Some(LevelTargets { targets, granularity })
}

/// How the ways of a window are dealt: the root tells as many groups apart as there are ports, decoders below it the rest.
///
/// `has_levels`: behind a port stands a switch below another one.
fn split(mapped: &MappedWindow, ways: &[(usize, Reached)], has_levels: bool) -> Result<Interleave, String> {
    let port = |n: usize| ways[n].1.port;
    let groups = (0..ways.len()).map(port).collect::<OrderedSet<_>>().len();
    if groups == ways.len() {
        return Ok(mapped.window.interleave);
    }
    let whole = mapped.window.interleave;
    let split = if has_levels { whole.over_levels(groups) } else { whole.over_root(groups) };
    let interleave = split.ok_or_else(|| {
        let (ways, granularity) = (ways.len(), mapped.window.interleave.granularity());
        format!(
            "found {ways} targets, {granularity} bytes each in turn, over {groups} ports, expected for each port 1, 2, 4 or 8 of them that a switch deals 256 to 16384 bytes to (fabric HDM-8, HDM-9)"
        )
    })?;
    let is_turned = (0..groups).map(port).collect::<OrderedSet<_>>().len() == groups;
    match (0..ways.len()).find(|&n| port(n) != port(n % groups)) {
        None if is_turned => Ok(interleave),
        _ => Err(format!(
            "found {} targets over {groups} ports in another order, expected the first {groups} behind one port each and the others in the same order of ports (fabric HDM-11)",
            ways.len()
        )),
    }
}

/// Whether a switch stands below another one behind a port of a component.
fn has_levels(system: &System, component: usize, port: usize) -> bool {
    let (switch, far_port) = system.far(component, port);
    let next = if hosts_at(system, switch) == 0 { Vec::new() } else { bound_next(system, switch, far_port) };
    next.iter().any(|(_, below)| hosts_at(system, below.target.component) > 0)
}

/// The memories that a component reaches, in the order of its ports and of the vPPBs of switches there.
fn behind(system: &System, component: usize) -> Vec<Reached> {
    let ports = 0..system.components[component].ports.len();
    let of_port = |port: usize| {
        let (far, far_port) = system.far(component, port);
        if hosts_at(system, far) == 0 {
            return vec![Reached { target: MemoryTarget { component: far, logical: None }, port }];
        }
        let own = bound(system, far, far_port).into_iter();
        own.map(|Bound { target, .. }| Reached { target, port }).collect()
    };
    ports.flat_map(of_port).collect()
}

/// The one memory that a virtual hierarchy of a switch leads to; `None`: it leads to another number of them.
pub(super) fn only_target(system: &System, switch: usize, vcs: usize) -> Option<MemoryTarget> {
    match bound(system, switch, vcs)[..] {
        [Bound { target, .. }] => Some(target),
        _ => None,
    }
}

/// Whether a component is a CXL switch that decodes; one of the devices alone has no ports towards hosts.
fn is_switch(system: &System, component: usize) -> bool {
    let config = &system.components[component].config;
    config.pbr().is_some_and(|decl| !decl.is_io) || config.hierarchies().is_some()
}

/// Ports towards hosts of a CXL switch, which are its first ones; 0 of anything else.
fn hosts_at(system: &System, component: usize) -> usize {
    let config = &system.components[component].config;
    let pbr = config.pbr().filter(|decl| !decl.is_io);
    pbr.map_or_else(|| config.hierarchies().map_or(0, |(hosts, _)| hosts), |decl| decl.hosts)
}

/// The memories that are bound to the host at a port of a CXL switch, those behind switches below included; nothing at other ports.
fn bound(system: &System, switch: usize, port: usize) -> Vec<Bound> {
    bound_within(system, (switch, port), system.components.len())
}

/// What is bound to the host at a port of a CXL switch, each with the port of the component there.
fn bound_next(system: &System, switch: usize, port: usize) -> Vec<(usize, Bound)> {
    match system.components[switch].config.hierarchies() {
        None => system.pbr.bound(system, switch, port).unwrap_or_default(),
        Some((hosts, bindings)) => {
            let own = bindings.into_iter().filter(|binding| binding.vcs == port && port < hosts);
            let below = |binding: VppbBinding| {
                let (component, port) = system.far(switch, hosts + binding.port);
                (port, Bound { vppb: binding.vppb, target: MemoryTarget { component, logical: binding.ld } })
            };
            own.map(below).collect()
        }
    }
}

/// The same over at most so many further switches: more of them are a circle, which [`hierarchy_path`] finds.
fn bound_within(system: &System, (switch, port): (usize, usize), most: usize) -> Vec<Bound> {
    let memories = |(port, Bound { vppb, target }): (usize, Bound)| match (hosts_at(system, target.component), most) {
        (0, _) => vec![Bound { vppb, target }],
        (_, 0) => Vec::new(),
        _ => {
            let below = bound_within(system, (target.component, port), most - 1);
            below.into_iter().map(|Bound { target, .. }| Bound { vppb, target }).collect()
        }
    };
    bound_next(system, switch, port).into_iter().flat_map(memories).collect()
}

/// The decoders of all memories to which windows lead.
fn decoders(system: &System) -> OrderedMap<MemoryTarget, Decoders> {
    let mut decoders: OrderedMap<MemoryTarget, Decoders> = OrderedMap::new();
    for MappedWindow { window, targets, .. } in &system.memory_map {
        targets.iter().for_each(|target| decoders.entry(*target).or_default().push(*window));
    }
    decoders
}

/// What a component has to know of the memory map; nothing where there is none.
#[derive(Debug, Clone, Default)]
pub struct MapView {
    /// Windows that it reaches, if it asks by system addresses.
    pub routes: Option<WindowRoutes>,
    /// Windows that lead to it, if it is a memory, by logical device.
    decoders: Option<Vec<Decoders>>,
    /// Decoders of each virtual hierarchy, if it is a switch; their targets are vPPBs.
    pub bridges: Vec<BridgeDecoders>,
}

impl MapView {
    /// Windows that lead to a logical device, or to the memory if it has none; `None`: there is no map.
    pub fn decoders(&self, logical: usize) -> Option<Decoders> {
        self.decoders.as_ref().map(|all| all.get(logical).cloned().unwrap_or_default())
    }
}

/// Of all components of a system, in their order.
pub fn views(system: &System) -> Vec<MapView> {
    let index = (!system.memory_map.is_empty()).then(|| MapIndex::of(system));
    let view = |n: usize| {
        let config = &system.components[n].config;
        // What a decoder refuses was found when the system was judged.
        let bridges = bridges(system, index.as_ref(), n).into_iter().map(Result::unwrap_or_default).collect();
        let Some(index) = &index else { return MapView { bridges, ..MapView::default() } };
        let of_target =
            |logical| index.decoders.get(&MemoryTarget { component: n, logical }).cloned().unwrap_or_default();
        let Offer { memory_bytes, logical_devices, .. } = config.offer();
        let own = || match logical_devices {
            None => vec![of_target(None)],
            Some(count) => (0..count).map(|ld| of_target(Some(ld))).collect(),
        };
        MapView {
            routes: config.uses_memory_map().then(|| index.routes(n)),
            decoders: memory_bytes.is_some().then(own),
            bridges,
        }
    };
    (0..system.components.len()).map(view).collect()
}

/// The decoders of each virtual hierarchy of a component, none if it is no switch with any; or why there are none.
fn bridges(
    system: &System,
    index: Option<&MapIndex<'_>>,
    component: usize,
) -> Vec<Result<BridgeDecoders, BridgeError>> {
    let hosts = hosts_at(system, component);
    let of_vcs = |vcs: usize| match index {
        _ if asks_coherently(system, component, vcs) => lines(system, component, vcs).map_err(BridgeError::of_switch),
        Some(index) => index.bridge(component, vcs),
        None => alone(system, component, vcs).map_err(BridgeError::of_switch),
    };
    (0..hosts).map(of_vcs).collect()
}

/// The role of the host above an upstream port of a switch, over all switches.
fn role_of_host(system: &System, switch: usize, vcs: usize) -> Option<PortRole> {
    let HierarchyPath { asking, port, .. } = hierarchy_path(system, switch, vcs).ok()?;
    Some(system.components[asking].ports[port].decl.role)
}

/// Whether the host above an upstream port of a switch keeps lines coherent, and so numbers them from 0.
fn asks_coherently(system: &System, switch: usize, vcs: usize) -> bool {
    role_of_host(system, switch, vcs).is_some_and(|role| role.coherence().is_some())
}

/// The decoder of a hierarchy whose host numbers the lines of one device from 0: all addresses are that device's. Lines of the
/// host itself need none.
fn lines(system: &System, switch: usize, vcs: usize) -> Result<BridgeDecoders, String> {
    let mut decoders = BridgeDecoders::default();
    if role_of_host(system, switch, vcs) != Some(PortRole::Coherent(CoherenceProtocol::HdmDb, CxlSide::Host)) {
        return Ok(decoders);
    }
    let [Bound { vppb, .. }] = bound(system, switch, vcs)[..] else {
        let found = bound(system, switch, vcs).len();
        return Err(format!(
            "found {found} devices bound to VCS {vcs}, expected one: its host numbers the lines of a device from 0"
        ));
    };
    let decoder = BridgeDecoder {
        base: 0,
        size: ADDRESS_END,
        granularity: GRANULARITIES[0],
        targets: vec![vppb],
        back_invalidate: true,
    };
    decoders.commit(decoder).map_err(|error| format!("the lines of VCS {vcs}: {error}"))?;
    Ok(decoders)
}

/// Without a memory map the one memory of a hierarchy begins at address 0.
fn alone(system: &System, switch: usize, vcs: usize) -> Result<BridgeDecoders, String> {
    let who = match system.components[switch].config.pbr() {
        Some(_) => format!("the host at `{}`", system.components[switch].ports[vcs].path),
        None => format!("VCS {vcs}"),
    };
    let vppb = bound(system, switch, vcs).first().map(|bound| bound.vppb);
    let size = only_target(system, switch, vcs)
        .and_then(|target| system.components[target.component].config.offer().memory_bytes);
    let (Some(vppb), Some(size)) = (vppb, size) else {
        return Err(format!(
            "found several memories bound to {who}, expected a [memory_map] that says which addresses lead to which of them"
        ));
    };
    let mut decoders = BridgeDecoders::default();
    let decoder =
        BridgeDecoder { back_invalidate: false, base: 0, size, granularity: GRANULARITIES[0], targets: vec![vppb] };
    decoders.commit(decoder).map_err(|error| format!("the memory of {who}: {error}"))?;
    Ok(decoders)
}

/// Judges the windows with the links of a system: all targets of a window are reached by one who asks, and who asks stays in
/// windows that it reaches. `open` are the windows in the order of their bases, `tables` those of the components.
pub(super) fn joined(
    system: &System,
    open: &[OpenWindow],
    near: &[Neighbourhood],
    tables: &[OwnTable],
    problems: &mut Problems,
) {
    let views = views(system);
    let routes = || views.iter().filter_map(|view| view.routes.as_ref());
    let reached: OrderedSet<u64> = routes().flat_map(WindowRoutes::list).map(|route| route.window.base).collect();
    let asking = (0..system.components.len()).filter(|&n| system.components[n].config.uses_memory_map());
    // Of those that ask for a target the first is named.
    let from: OrderedMap<MemoryTarget, usize> =
        asking.rev().flat_map(|n| behind(system, n).into_iter().map(move |one| (one.target, n))).collect();
    let index = (!system.memory_map.is_empty()).then(|| MapIndex::of(system));
    let mut refused: OrderedMap<usize, String> = OrderedMap::new();
    if let Some(index) = &index {
        let asking = (0..system.components.len()).filter(|&n| system.components[n].config.uses_memory_map());
        refused.extend(asking.flat_map(|n| index.reaches(n)).filter_map(Result::err));
    }
    for (component, own) in tables.iter().enumerate() {
        for BridgeError { window, text } in
            bridges(system, index.as_ref(), component).into_iter().filter_map(Result::err)
        {
            match window {
                // Several hierarchies on the way may refuse a window; the first says so.
                Some(window) => drop(refused.entry(window).or_insert(text)),
                None => own.judge(vec![("bindings", text)], problems),
            }
        }
    }
    for (n, (mapped, window)) in system.memory_map.iter().zip(open).enumerate() {
        if let Some(text) = refused.remove(&n) {
            window.own.judge(vec![("targets", text)], problems);
        } else if !reached.contains(&mapped.window.base) {
            unreached(system, window, &from, problems);
        }
    }
    for (((component, view), near), own) in system.components.iter().zip(&views).zip(near).zip(tables) {
        let spans = view.routes.as_ref().map(WindowRoutes::spans);
        if spans.as_ref().is_some_and(Vec::is_empty) {
            let text = "found no window that leads to what is at its ports, expected one under [memory_map]";
            problems.add(own.place, &own.path, text);
        } else {
            own.judge(component.config.check_addresses(spans.as_deref(), &near.ports), problems);
        }
    }
}

/// Says who reaches the targets of a window that nobody reaches as a whole. `from` has one who asks for each component that is
/// reached.
fn unreached(system: &System, window: &OpenWindow, from: &OrderedMap<MemoryTarget, usize>, problems: &mut Problems) {
    let path = |component: usize| system.components[component].path.as_str();
    let reached = |target: MemoryTarget| {
        let asking = from.get(&target).map_or("nowhere".to_owned(), |&asking| format!("`{}`", path(asking)));
        format!("`{}` from {asking}", target.name(path(target.component)))
    };
    let reached: Vec<String> = window.targets.iter().map(|(target, _)| reached(*target)).collect();
    let text = format!(
        "found targets that no single component reaches ({}), expected one that asks with links to all of them",
        reached.join(", ")
    );
    window.own.judge(vec![("targets", text)], problems);
}

/// Ranges of addresses for messages, the first few of them.
pub fn shown(spans: &[Span]) -> String {
    const MOST: usize = 4;
    let mut texts: Vec<String> =
        spans.iter().take(MOST).map(|(from, end)| format!("{from:#x} to {:#x}", end - 1)).collect();
    if spans.len() > MOST {
        texts.push(format!("{} more", spans.len() - MOST));
    }
    texts.join(", ")
}
