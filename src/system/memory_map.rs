//! The memory map: which system (host physical) addresses lead to which memory.
//!
//! Modelled: windows with one target or several, dealt by the interleave arithmetic of the root (`fabric` §2.2); the decoders of
//! a device follow from the windows that lead to it, the routes of a host from its links. Without any window each memory
//! begins at address 0 for the one host at its port. Left out: decoders of bridges and switches, skips, memory that is
//! addressed by the number of its owner (UALink, NVLink) or whose lines are numbered (coherent homes).
//!
//! A walk through one window: its table is read and judged alone; its targets are looked up, each has to have memory enough for
//! all windows that lead to it; windows are compared with one another; when links are joined, one component that asks has to
//! reach all targets, and what a component asks for has to lie in windows that it reaches.

use super::design::System;
use super::document::Value;
use super::field::{FieldRange, config};
use super::kind::{Component, ConfigFinding};
use super::neighbours::Neighbourhood;
use super::problem::{Problems, TextPlace};
use super::quantity::Unit;
use super::resolve::OwnTable;
use scalepool_memory::decoder::{
    ADDRESS_END, Arithmetic, DEVICE_DECODERS, Decoders, GRANULARITIES, Interleave, WAYS, WINDOW_STEP_BYTES, Window,
    WindowRoute, WindowRoutes,
};
use std::collections::{BTreeMap, BTreeSet};

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
        targets: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts("components with memory, 1, 2, 3, 4, 6, 8, 12 or 16; `memory[i]` = all of an array"), "components to which the addresses of the window lead, in the order in which chunks are dealt to them (fabric HDM-9)";
        granularity: u64 = "256 B" [Unit::Bytes] in FieldRange::OneOf(&GRANULARITIES), "bytes in a row at one target (fabric §2.1)";
        arithmetic: String = "modulo" [Unit::Of("-")] in FieldRange::Words(ARITHMETICS), "how the target follows from the address: from address bits, or from their parities with published maps, shifted to the granularity (fabric §2.2)";
    }
}

/// A window with its targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedWindow {
    /// Name.
    pub name: String,
    /// Its addresses and its interleave.
    pub window: Window,
    /// Its targets, by way: places in the list of components.
    pub targets: Vec<usize>,
}

/// Addresses that can be used: the first, and the first behind them.
pub type Span = (u64, u64);

/// A window as it was read.
pub(super) struct OpenWindow {
    name: String,
    own: OwnTable,
    config: WindowConfig,
    /// Targets that were found, each with its place.
    targets: Vec<(usize, TextPlace)>,
    /// All targets were found.
    is_whole: bool,
}

impl OpenWindow {
    /// A window with the targets that were found, which are all that it names if `is_whole`.
    pub fn new(
        name: &str,
        own: OwnTable,
        config: WindowConfig,
        targets: Vec<(usize, TextPlace)>,
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
pub(super) type Target<'a> = (&'a str, &'static str, &'a dyn Component);

/// Judges all windows without links; those that are sound, in the order of their bases, when all are.
pub(super) fn judged<'a>(
    open: &mut [OpenWindow],
    target: impl Fn(usize) -> Target<'a>,
    problems: &mut Problems,
) -> Vec<MappedWindow> {
    for window in open.iter() {
        window.own.judge(window.judge(), problems);
        judge_targets(window, &target, problems);
    }
    open.sort_by_key(|window| (window.config.base, window.own.place));
    judge_overlaps(open, problems);
    judge_memories(open, &target, problems);
    open.iter().filter_map(OpenWindow::mapped).collect()
}

/// Targets are several components with memory, in a number that decoders know.
fn judge_targets<'a>(window: &OpenWindow, target: &impl Fn(usize) -> Target<'a>, problems: &mut Problems) {
    let key = window.own.key("targets");
    let mut known = BTreeSet::new();
    for &(component, place) in &window.targets {
        let (path, kind, config) = target(component);
        if config.offer().memory_bytes.is_none() {
            let reason = config.why_no_window();
            let text = format!(
                "found `{path}`, a {kind}, {reason}, expected a component with memory that has system addresses"
            );
            problems.add(place, &key, text);
        }
        if !known.insert(component) {
            problems.add(place, &key, format!("found `{path}` twice, expected each target once (fabric HDM-2)"));
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
fn judge_memories<'a>(open: &[OpenWindow], target: &impl Fn(usize) -> Target<'a>, problems: &mut Problems) {
    let mut taken: BTreeMap<usize, (usize, u64)> = BTreeMap::new();
    for (window, mapped) in open.iter().filter_map(|window| Some((window, window.mapped()?))) {
        for &(component, place) in &window.targets {
            let (path, _, config) = target(component);
            let Some(bytes) = config.offer().memory_bytes else { continue };
            let (count, all) = taken.entry(component).or_default();
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

/// Windows and decoders of a system, as routes are made of them.
struct Index<'a> {
    system: &'a System,
    decoders: BTreeMap<usize, Decoders>,
    /// Windows by their first target.
    windows: BTreeMap<usize, Vec<usize>>,
}

impl<'a> Index<'a> {
    fn of(system: &'a System) -> Index<'a> {
        let mut windows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (n, mapped) in system.memory_map.iter().enumerate() {
            windows.entry(mapped.targets[0]).or_default().push(n);
        }
        Index { system, decoders: decoders(system), windows }
    }

    /// The windows that a component reaches over its links.
    fn routes(&self, component: usize) -> WindowRoutes {
        let behind: BTreeMap<usize, usize> = behind(self.system, component).rev().collect();
        let way = |target: &usize, base: u64| {
            let own = self.decoders.get(target)?.list().iter().find(|decoder| decoder.window.base == base)?;
            Some((*behind.get(target)?, own.device_base))
        };
        // Windows are in the order of their bases.
        let near: BTreeSet<usize> = behind.keys().filter_map(|n| self.windows.get(n)).flatten().copied().collect();
        let reached = near.into_iter().filter_map(|n| {
            let MappedWindow { window, targets, .. } = &self.system.memory_map[n];
            let ways = targets.iter().map(|target| way(target, window.base)).collect::<Option<Vec<_>>>()?;
            Some(WindowRoute { window: *window, ways })
        });
        WindowRoutes::new(reached.collect())
    }
}

/// The components that a component reaches, each with the port that leads there.
fn behind(system: &System, component: usize) -> impl DoubleEndedIterator<Item = (usize, usize)> {
    (0..system.components[component].ports.len()).map(move |port| (system.far(component, port).0, port))
}

/// The decoders of all components to which windows lead.
fn decoders(system: &System) -> BTreeMap<usize, Decoders> {
    let mut decoders: BTreeMap<usize, Decoders> = BTreeMap::new();
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
    /// Windows that lead to it, if it is a memory.
    pub decoders: Option<Decoders>,
}

/// Of all components of a system, in their order.
pub fn views(system: &System) -> Vec<MapView> {
    if system.memory_map.is_empty() {
        return vec![MapView::default(); system.components.len()];
    }
    let index = Index::of(system);
    let view = |n: usize| {
        let config = &system.components[n].config;
        let own = || index.decoders.get(&n).cloned().unwrap_or_default();
        MapView {
            routes: config.uses_memory_map().then(|| index.routes(n)),
            decoders: config.offer().memory_bytes.is_some().then(own),
        }
    };
    (0..system.components.len()).map(view).collect()
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
    let reached: BTreeSet<u64> = routes().flat_map(WindowRoutes::list).map(|route| route.window.base).collect();
    let asking = (0..system.components.len()).filter(|&n| system.components[n].config.uses_memory_map());
    // Of those that ask for a target the first is named.
    let from: BTreeMap<usize, usize> =
        asking.rev().flat_map(|n| behind(system, n).map(move |(target, _)| (target, n))).collect();
    for (mapped, window) in system.memory_map.iter().zip(open) {
        if !reached.contains(&mapped.window.base) {
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
fn unreached(system: &System, window: &OpenWindow, from: &BTreeMap<usize, usize>, problems: &mut Problems) {
    let path = |component: usize| system.components[component].path.as_str();
    let reached = |target: usize| {
        let asking = from.get(&target).map_or("nowhere".to_owned(), |&asking| format!("`{}`", path(asking)));
        format!("`{}` from {asking}", path(target))
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
