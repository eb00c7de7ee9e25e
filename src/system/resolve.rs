//! A description to a system: every name is looked up, every value is read, every port is joined. All that is wrong is said
//! at once.
//!
//! A walk: the format is judged first, since a newer one means other things; generators have written what they make;
//! clocks, then components with their arrays and exceptions, then links with their index variables; every port has to have
//! exactly one link that fits; windows of the memory map lead to components; at last links are judged with what their ends
//! offer, components with their links, and windows with who reaches them.

mod links;

use super::channels::ChannelGraph;
use super::coherence;
use super::description::{Description, component_kind, paths_of};
use super::design::{ComponentInstance, JoinedPort, LinkInstance, System};
use super::document::{DocumentItem, Table, Value};
use super::field::{self, FieldRange, config, unknown};
use super::io_times;
use super::kind::{COMPONENTS, ConfigFinding, ExternalComponent, PortDecl, UnitsInFlight};
use super::memory_map::{self, MappedWindow, MemoryTarget, OpenWindow, WindowConfig};
use super::neighbours::{self, Neighbourhood};
use super::outside;
use super::part::{self, Whole};
use super::pbr_fabric::PbrFabrics;
use super::problem::{Problems, TextPlace};
use super::quantity::{self, Unit};
use super::reference::{Index, Indexed, PortRef};
use scalepool_bridge::window::InboundClass;
use scalepool_kernel::Clock;
use scalepool_memory::limit;
use scalepool_ordered::OrderedMap;
use std::path::PathBuf;

/// Format of descriptions that this version reads.
pub const FORMAT: u64 = 1;
/// Most components and links of a system.
pub const MOST: usize = 1 << 16;
/// Tables and keys at the top.
pub const TOP: [&str; 11] = [
    "format",
    "system",
    "clock",
    "component",
    "link",
    "memory_map",
    "generator",
    "part",
    "export",
    "settings",
    "preset",
];

config! {
    /// `[system]`.
    pub struct SystemConfig {
        name: String = "system" [Unit::Of("-")] in FieldRange::Text("a name of lower-case letters, digits, `_` and `-`"), "name of the system";
        about: String = "" [Unit::Of("-")] in FieldRange::Text("a sentence"), "what the system is";
    }
}

config! {
    /// A clock: a period, a fraction of femtoseconds, or that of a link.
    pub struct ClockConfig {
        link: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a link"), "link whose clock of flits it is; empty = it has a period";
        period: u64 = "500 ps" [Unit::Time] in FieldRange::Int(1000, 1 << 30), "period of the clock; the first clock of a description is the reference clock";
        phase: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 40), "time of its first edge";
        num: u64 = "0" [Unit::Of("fs")] in FieldRange::Int(0, 1 << 40), "numerator of a period that is no whole number of femtoseconds; 0 = period counts";
        den: u64 = "1" [Unit::Of("-")] in FieldRange::Int(1, 1 << 20), "denominator of such a period";
    }
}

/// Makes the system.
pub(super) fn resolve(description: &Description) -> Result<System, Problems> {
    let mut problems = Problems { files: description.files.clone(), list: Vec::new() };
    // Another format means something else by the same words.
    if !judge(description, &mut problems) {
        return Err(problems.sorted());
    }
    let sound = problems.list.len();
    let whole = part::expand(description, &mut problems);
    let is_whole = problems.list.len() == sound;
    let mut all = Resolver {
        whole: &whole,
        problems,
        resolved: Vec::new(),
        clocks: Vec::new(),
        clocks_of_links: Vec::new(),
        components: Vec::new(),
        arrays: OrderedMap::new(),
        links: Vec::new(),
        link_tables: Vec::new(),
    };
    let title: SystemConfig = all.section("system");
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
    if title.name.is_empty() || !title.name.chars().all(is_name) {
        let found = format!("found `{}`, expected lower-case letters, digits, `_` and `-`", title.name);
        all.problems.add(all.place_of("system"), "system.name", found);
    }
    all.clocks();
    all.components();
    let (windows, memory_map) = all.memory_map();
    let sound = all.problems.list.len();
    // What a generator or a part did not make is no second finding, and neither is a port whose link or component is wrong, or a
    // setting of what is of no known kind.
    if is_whole {
        all.exports();
        all.links();
        all.set_clocks_of_links();
        if all.problems.list.len() == sound && all.components.iter().all(|component| component.is_read) {
            all.ports();
        }
    }
    if all.problems.list.iter().all(|problem| !problem.key.ends_with(".kind")) {
        settings(description, &mut all.problems);
    }
    let (resolved, clocks, links) =
        (std::mem::take(&mut all.resolved), std::mem::take(&mut all.clocks), std::mem::take(&mut all.links));
    let open = std::mem::take(&mut all.components).into_iter();
    let (components, tables) = open.map(|open| (open.instance, open.table)).unzip::<_, _, Vec<_>, Vec<_>>();
    let mut warnings = Problems { files: description.files.clone(), list: Vec::new() };
    memory_map::warnings(&windows, &mut warnings);
    for (component, own) in components.iter().zip(&tables) {
        own.judge(component.config.warnings(), &mut warnings);
    }
    let warnings = warnings.sorted();
    let (name, about, channels) = (title.name, title.about, ChannelGraph::default());
    let pbr = PbrFabrics::default();
    let mut system = System { name, about, clocks, components, links, memory_map, pbr, resolved, channels, warnings };
    if all.problems.list.is_empty() {
        system.pbr = PbrFabrics::of(&system, &tables, &mut all.problems);
    }
    if all.problems.list.is_empty() {
        let near = neighbours::of(&system);
        joined(&system, &near, &tables, &all.link_tables, &mut all.problems);
        homes(&system, &near, &tables, &mut all.problems);
        core_lines(&system, &tables, &mut all.problems);
        io_times::check(&system, &tables, &mut all.problems);
        memory(&system, &all.link_tables, &mut all.problems);
        memory_map::joined(&system, &windows, &near, &tables, &mut all.problems);
        system.pbr.check(&system, &tables, &mut all.problems);
        system.channels = ChannelGraph::of(&system);
        all.problems.list.extend(system.channels.problems(&system).list);
    }
    all.problems.none(system)
}

/// What fits alone and not together: links with what their ends offer, components with what is at their ports.
fn joined(
    system: &System,
    near: &[Neighbourhood],
    tables: &[OwnTable],
    link_tables: &[OwnTable],
    problems: &mut Problems,
) {
    let offer = |(component, port): (usize, usize)| system.components[component].config.offer_at(port);
    for (link, own) in system.links.iter().zip(link_tables) {
        own.judge(link.config.check_joined(link.ports.map(offer)), problems);
    }
    for ((component, near), own) in system.components.iter().zip(near).zip(tables) {
        let (_, clock) = &system.clocks[component.clock];
        own.judge(component.config.check_joined(*clock, near.member, &near.ports), problems);
        let silent = near.ports.iter().find(|port| !outside::has_channels(&port.link.carried));
        if let Some(port) = silent.filter(|_| component.external == Some(ExternalComponent::Messages)) {
            let text = format!(
                "found messages, expected flits: {} carries TLPs of CXL.io or flits of no protocol, for which there are no channels",
                port.path
            );
            own.judge(vec![("external", text)], problems);
        }
    }
}

/// Bridges of one fabric export each byte of its accelerators once (`bridge` §1.3); those of one bridge it judges itself.
fn homes(system: &System, near: &[Neighbourhood], tables: &[OwnTable], problems: &mut Problems) {
    let windows: Vec<_> = system.components.iter().map(|component| component.config.exported()).collect();
    let exporting: Vec<usize> = (0..windows.len()).filter(|n| !windows[*n].is_empty()).collect();
    for (place, &n) in exporting.iter().enumerate() {
        let others = exporting[..place].iter().filter(|m| near[**m].member.fabric == near[n].member.fabric);
        let twice = others.flat_map(|&m| {
            let pairs = windows[n].iter().flat_map(|own| windows[m].iter().map(move |other| (own, other)));
            pairs.filter_map(|(own, other)| own.leads_where(other)).next().map(|byte| (m, byte))
        });
        // One pair of bridges says what is wrong, even if there are more.
        let Some((m, (accelerator, address))) = twice.into_iter().next() else { continue };
        let [one, other] = [n, m].map(|n| &system.components[n].path);
        let text = format!(
            "found byte {address:#x} of accelerator {accelerator} exported by {other} and by {one}, expected one bridge: a byte has one home (bridge §1.3)"
        );
        tables[n].judge(vec![("inbound", text)], problems);
    }
}

/// Lines of cores, which count them from address 0, lie in windows of the bridge that keeps them coherent (`bridge` §1.2).
fn core_lines(system: &System, tables: &[OwnTable], problems: &mut Problems) {
    // What cannot be joined is told when it is built.
    for home in coherence::joined(system).unwrap_or_default() {
        let windows = system.components[home.component].config.exported();
        let windows: Vec<_> = windows.iter().filter(|window| window.class == InboundClass::Db).collect();
        let has =
            |address: u64| windows.iter().find(|window| window.base <= address && address - window.base < window.size);
        // Where the windows that are one behind the other from address 0 on end.
        let mut end = if windows.is_empty() { u64::MAX } else { 0 };
        while let Some(next) = has(end).map(|window| window.base.saturating_add(window.size)).filter(|next| *next > end)
        {
            end = next;
        }
        let cores = home.holders.iter().filter_map(|(n, ..)| Some((*n, system.components[*n].config.core_lines()?)));
        let Some((n, lines)) = cores.filter(|(_, lines)| lines.saturating_mul(64) > end).min() else {
            continue;
        };
        let text = format!(
            "found windows of class DB for addresses from 0 to {end:#x} and {}, whose core works on {lines} lines from address 0 on, expected windows for all of them",
            system.components[n].path
        );
        tables[home.component].judge(vec![("inbound", text)], problems);
    }
}

/// What is under way on all wires fits in memory; the finding is about the link with the largest part.
fn memory(system: &System, link_tables: &[OwnTable], problems: &mut Problems) {
    let (mut all, mut largest): (_, Option<(u128, &OwnTable, &'static str)>) = (limit::WireMemory::default(), None);
    for (link, own) in system.links.iter().zip(link_tables) {
        let Some(UnitsInFlight { key, way_fs, unit_time_fs, unit_bytes }) =
            link.config.on_wire(system.roles_of(link), link.index)
        else {
            continue;
        };
        let bytes = all.add(2, way_fs, unit_time_fs, unit_bytes);
        if largest.is_none_or(|(most, ..)| bytes > most) {
            largest = Some((bytes, own, key));
        }
    }
    if let (Some(text), Some((_, own, key))) = (all.above(), largest) {
        own.judge(vec![(key, text)], problems);
    }
}

/// The table that a configuration was read from, where it stands, and its path in messages.
pub(super) struct OwnTable {
    pub table: Table,
    pub place: TextPlace,
    pub path: String,
}

impl OwnTable {
    /// Path of one of its keys.
    pub fn key(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    /// Whether the key of a problem is that of a field, or within its table or list.
    fn is_within(&self, field: &str, key: &str) -> bool {
        key.strip_prefix(&self.key(field)).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }

    /// Findings of the configuration, at the values that they are about.
    pub fn judge(&self, found: Vec<ConfigFinding>, problems: &mut Problems) {
        for (key, text) in found {
            let mut at = self.place;
            let mut inner = Some(&self.table);
            for part in key.split('.') {
                let item = inner.and_then(|table| table.get(part));
                at = item.map_or(at, |item| item.place);
                inner = match item.map(|item| &item.value) {
                    Some(Value::Table(table)) => Some(table),
                    _ => None,
                };
            }
            problems.add(at, self.key(key), text);
        }
    }
}

/// Judges the format and the tables at the top of a description, or of a part; `false`: the format is another one.
pub(super) fn judge(description: &Description, problems: &mut Problems) -> bool {
    let known = problems.list.len();
    format(description, problems);
    if problems.list.len() > known {
        return false;
    }
    for (key, place, item) in &description.root.entries {
        if !TOP.contains(&key.as_str()) {
            problems.add(*place, key, unknown("key", TOP.into_iter()).of(key));
            continue;
        }
        match &item.value {
            _ if key == "format" => (),
            Value::Table(named) if !["system", "settings", "preset"].contains(&key.as_str()) => {
                for (name, place, _) in named.entries.iter().filter(|(name, ..)| !is_name(name)) {
                    let text =
                        format!("found the name `{name}`, expected a lower-case letter, then letters, digits and `_`");
                    problems.add(*place, format!("{key}.{name}"), text);
                }
            }
            Value::Table(_) => (),
            _ => problems.add(item.place, key, format!("found {}, expected a table", item.shown())),
        }
    }
    true
}

fn format(description: &Description, problems: &mut Problems) {
    let found = description.root.entries.iter().find(|(name, ..)| name == "format");
    let (place, text) = match found.map(|(_, place, item)| (*place, item)) {
        None => {
            (TextPlace::start(description.file), format!("found no format, expected `format = {FORMAT}` at the top"))
        }
        Some((place, DocumentItem { value: Value::Number(text), .. })) => match text.parse::<u64>() {
            Ok(FORMAT) => return,
            Ok(newer) if newer > FORMAT => (
                place,
                format!("found format {newer}, expected {FORMAT}: a newer version of scalepool is needed to read it"),
            ),
            _ => (place, format!("found {text}, expected {FORMAT}")),
        },
        Some((place, item)) => (place, format!("found {}, expected {FORMAT}", item.shown())),
    };
    problems.add(place, "format", text);
}

/// Every short name leads to a field.
pub(super) fn settings(description: &Description, problems: &mut Problems) {
    presets(description, problems);
    for (name, place, item) in description.table("settings").into_iter().flat_map(|t| &t.entries) {
        let key = format!("settings.\"{name}\"");
        let Some(paths) = paths_of(item) else {
            problems.add(*place, key, format!("found {}, expected the path of a field, or several", item.shown()));
            continue;
        };
        for path in paths.iter().filter(|path| !description.is_value(path)) {
            problems.add(item.place, &key, format!("found `{path}`, expected the path of a field"));
        }
    }
}

/// Presets are of short names, and bring values of short names.
fn presets(description: &Description, problems: &mut Problems) {
    let known: Vec<String> = description.shorts().into_iter().map(|short| short.name).collect();
    for (name, value, short, item) in description.presets() {
        for wrong in [name, short].into_iter().filter(|name| !known.iter().any(|known| known == name)) {
            let text = unknown("setting", known.iter().map(String::as_str)).of(wrong);
            problems.add(item.place, format!("preset.\"{name}\".{value}"), text);
        }
    }
}

/// Exceptions of an array of `count`: index and table of each.
pub(super) fn exceptions<'t>(
    table: &'t Table,
    path: &str,
    count: usize,
    problems: &mut Problems,
) -> OrderedMap<usize, &'t Table> {
    let mut found = OrderedMap::new();
    let Some(item) = table.get("at") else { return found };
    let Value::Table(at) = &item.value else {
        problems.add(item.place, format!("{path}.at"), format!("found {}, expected tables by index", item.shown()));
        return found;
    };
    for (index, place, item) in &at.entries {
        let key = format!("{path}.at.{index}");
        match (index.parse::<usize>().ok().filter(|n| *n < count), &item.value) {
            (Some(n), Value::Table(table)) => drop(found.insert(n, table)),
            (None, _) if count == 0 => problems.add(*place, key, "found an index, expected none: it is no array"),
            (None, _) => problems.add(*place, key, format!("found the index `{index}`, expected 0 to {}", count - 1)),
            (_, _) => problems.add(item.place, key, format!("found {}, expected a table", item.shown())),
        }
    }
    found
}

/// The table of one element: that of the array with its exception over it.
pub(super) fn element(table: &Table, exception: Option<&&Table>) -> Table {
    // Exceptions are as many as elements where a generator makes them: copies of all for each would be a square of them.
    let entries = table.entries.iter().filter(|(name, ..)| name != "at").cloned().collect();
    let mut own = Table { entries };
    if let Some(over) = exception {
        own.merge(over);
    }
    own
}

/// A component whose ports are being joined.
struct UnjoinedComponent {
    instance: ComponentInstance,
    table: OwnTable,
    ports: Vec<OpenPort>,
    /// All its fields could be read; else it may have other ports.
    is_read: bool,
}

/// A port, joined or not.
struct OpenPort {
    decl: PortDecl,
    index: Option<usize>,
    /// The link, and which end of it.
    link: Option<(usize, usize)>,
}

/// An array of components, or one without an index: where it begins in the list, and its length.
#[derive(Clone, Copy)]
struct Array {
    first: usize,
    count: Option<usize>,
}

struct Resolver<'a> {
    whole: &'a Whole,
    problems: Problems,
    resolved: Vec<(String, String)>,
    clocks: Vec<(String, Clock)>,
    /// Clocks that are those of links: place in the list, name of the link, and where that stands.
    clocks_of_links: Vec<(usize, String, TextPlace)>,
    components: Vec<UnjoinedComponent>,
    arrays: OrderedMap<String, Array>,
    links: Vec<LinkInstance>,
    link_tables: Vec<OwnTable>,
}

/// A name in the grammar of paths: a lower-case letter, then letters, digits and `_`.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

impl<'a> Resolver<'a> {
    fn place_of(&self, key: &str) -> TextPlace {
        let found = self.whole.root.entries.iter().find(|(name, ..)| name == key);
        found.map_or(TextPlace::start(0), |(_, place, _)| *place)
    }

    /// A table at the top.
    fn table(&self, name: &str) -> Option<&'a Table> {
        match self.whole.root.get(name) {
            Some(DocumentItem { value: Value::Table(table), .. }) => Some(table),
            _ => None,
        }
    }

    /// A table at the top that is one configuration.
    fn section<C: field::Config>(&mut self, name: &str) -> C {
        let empty = Table::default();
        let (table, place) = (self.table(name).unwrap_or(&empty), self.place_of(name));
        field::read(table, place, name, &[], &mut self.problems, &mut self.resolved)
    }

    /// The named tables of a table at the top: name, place and table of each that is sound.
    fn named(&mut self, top: &str) -> Vec<(&'a str, TextPlace, &'a Table)> {
        let mut named = Vec::new();
        for (name, place, item) in self.table(top).into_iter().flat_map(|table| &table.entries) {
            match &item.value {
                Value::Table(table) => named.push((name.as_str(), *place, table)),
                _ => {
                    let text = format!("found {}, expected a table", item.shown());
                    self.problems.add(item.place, format!("{top}.{name}"), text);
                }
            }
        }
        named
    }

    fn clocks(&mut self) {
        for (name, place, table) in self.named("clock") {
            let path = format!("clock.{name}");
            let ClockConfig { link, period, phase, num, den } =
                field::read(table, place, &path, &[], &mut self.problems, &mut self.resolved);
            let (is_period, is_fraction) = (table.get("period").is_some(), table.get("num").is_some());
            if [is_period, is_fraction, !link.is_empty()].iter().filter(|&&given| given).count() != 1 {
                let text = "found more than one of period, num and link, or none, expected one of them";
                self.problems.add(place, path, text);
                continue;
            }
            if !link.is_empty() {
                let place = table.get("link").map_or(place, |item| item.place);
                self.clocks_of_links.push((self.clocks.len(), link, place));
            }
            let (num, den) = if is_fraction { (num, den) } else { (period, 1) };
            match Clock::new(num, den, phase) {
                Ok(clock) => self.clocks.push((name.to_owned(), clock)),
                Err(error) => self.problems.add(place, path, format!("found a clock that cannot tick: {error}")),
            }
        }
    }

    /// Links are known behind clocks.
    fn set_clocks_of_links(&mut self) {
        for (n, name, place) in std::mem::take(&mut self.clocks_of_links) {
            let key = format!("clock.{}.link", self.clocks[n].0);
            let is_it = |link: &&LinkInstance| link.array() == name;
            match self.links.iter().find(is_it).map(|link| (link.kind.name, link.config.facts().flit_clock())) {
                Some((_, Some(clock))) => self.clocks[n].1 = clock,
                Some((kind, None)) => {
                    let text = format!(
                        "found `{name}`, a link of kind `{kind}`, expected one whose components work on its clock"
                    );
                    self.problems.add(place, key, text);
                }
                // A link that is there and wrong has been found already.
                None if self.table("link").is_some_and(|links| links.get(&name).is_some()) => (),
                None => {
                    let links = self.table("link").into_iter().flat_map(|links| &links.entries);
                    let text = unknown("link", links.map(|(name, ..)| name.as_str())).of(&name);
                    self.problems.add(place, key, text);
                }
            }
        }
    }

    /// A number of a table that is not a field of a kind.
    fn number(&mut self, table: &Table, key: &str, path: &str, low: u64, high: u64) -> Option<u64> {
        let item = table.get(key)?;
        let number = match &item.value {
            Value::Number(text) | Value::Text(text) => quantity::parse(text, Unit::Of("-")),
            _ => None,
        };
        let number = number.filter(|n| (low..=high).contains(n));
        if number.is_none() {
            let text = format!("found {}, expected {low} to {high}", item.shown());
            self.problems.add(item.place, format!("{path}.{key}"), text);
        }
        Some(number.unwrap_or(low))
    }

    /// The text of a key that has to be there.
    fn text<'t>(
        &mut self,
        table: &'t Table,
        key: &str,
        place: TextPlace,
        path: &str,
        expected: &str,
    ) -> Option<(&'t str, TextPlace)> {
        match table.get(key) {
            Some(DocumentItem { value: Value::Text(text), place }) => return Some((text, *place)),
            Some(item) => {
                let text = format!("found {}, expected {expected}", item.shown());
                self.problems.add(item.place, format!("{path}.{key}"), text);
            }
            None => self.problems.add(place, format!("{path}.{key}"), format!("found no {key}, expected {expected}")),
        }
        None
    }

    fn components(&mut self) {
        for (name, place, table) in self.named("component") {
            let path = format!("component.{name}");
            let Some((kind_name, at)) = self.text(table, "kind", place, &path, "the name of a kind of component")
            else {
                continue;
            };
            let Some(kind) = component_kind(kind_name) else {
                let known = COMPONENTS.iter().map(|kind| kind.name);
                self.problems.add(at, format!("{path}.kind"), unknown("kind of component", known).of(kind_name));
                continue;
            };
            let count = self.number(table, "count", &path, 1, MOST as u64).map(|n| n as usize);
            let exceptions = exceptions(table, &path, count.unwrap_or(0), &mut self.problems);
            if self.components.len() + count.unwrap_or(1) > MOST {
                self.problems.add(place, path, format!("found more than {MOST} components, expected at most that"));
                return;
            }
            self.arrays.insert(name.to_owned(), Array { first: self.components.len(), count });
            for n in 0..count.unwrap_or(1) {
                let exception = exceptions.get(&n);
                let own = element(table, exception);
                // Elements without an exception have one table: what is wrong with it is said once.
                let place_path = if exception.is_some() { format!("{path}[{n}]") } else { path.clone() };
                let clock = self.clock(&own, place, &place_path, name);
                let external = self.external(&own, kind, &place_path);
                let sound = self.problems.list.len();
                let config = (kind.read)(&own, place, &place_path, &mut self.problems, &mut self.resolved);
                let own = OwnTable { table: own, place, path: place_path };
                // What a field that could not be read has in its place is not judged, neither is what others are beside it. A key that is
                // none stands in the place of none.
                let wrong =
                    |field: &str| self.problems.list[sound..].iter().any(|found| own.is_within(field, &found.key));
                let is_read = !(kind.fields)().iter().any(|field| wrong(field.name));
                if is_read {
                    own.judge(config.check(), &mut self.problems);
                }
                let ports = config.ports().into_iter().flat_map(|decl| {
                    let indices: Vec<Option<usize>> = decl.len.map_or(vec![None], |len| (0..len).map(Some).collect());
                    indices.into_iter().map(move |index| OpenPort { decl, index, link: None })
                });
                let ports = ports.collect();
                let path = if count.is_some() { format!("{name}[{n}]") } else { name.to_owned() };
                let folder = self.folder(name);
                let instance =
                    ComponentInstance { path, place, kind, config, clock, external, folder, ports: Vec::new() };
                self.components.push(UnjoinedComponent { instance, table: own, ports, is_read });
            }
        }
        if self.components.is_empty() && self.table("component").is_none_or(|t| t.entries.is_empty()) {
            self.problems.add(self.place_of("component"), "component", "found no component, expected at least one");
        }
    }

    /// The windows of the memory map, in the order of their bases: as they were read, and those that are sound.
    fn memory_map(&mut self) -> (Vec<OpenWindow>, Vec<MappedWindow>) {
        let mut open = Vec::new();
        for (name, place, table) in self.named("memory_map") {
            let path = format!("memory_map.{name}");
            if open.len() == MOST {
                self.problems.add(place, path, format!("found more than {MOST} windows, expected at most that"));
                break;
            }
            let config: WindowConfig = field::read(table, place, &path, &[], &mut self.problems, &mut self.resolved);
            let own = OwnTable { table: table.clone(), place, path };
            let (key, sound) = (own.key("targets"), self.problems.list.len());
            let targets: Vec<(MemoryTarget, TextPlace)> = config
                .targets
                .iter()
                .flat_map(|(text, at)| self.targets(text, *at, &key).into_iter().map(|target| (target, *at)))
                .collect();
            // However the targets were written, who they are decides.
            let named = |target: MemoryTarget| target.name(&self.components[target.component].instance.path);
            let paths: Vec<String> = targets.iter().map(|(target, _)| named(*target)).collect();
            if let Some((_, text)) = self.resolved.iter_mut().rfind(|(path, _)| *path == key) {
                *text = paths.join(",");
            }
            let is_whole = self.problems.list.len() == sound;
            open.push(OpenWindow::new(name, own, config, targets, is_whole));
        }
        let target = |n: usize| {
            let ComponentInstance { path, kind, config, .. } = &self.components[n].instance;
            (path.as_str(), kind.name, config.as_ref())
        };
        let mapped = memory_map::judged(&mut open, target, &mut self.problems);
        (open, mapped)
    }

    /// The memories that a target of a window names: one, or all of an array.
    fn targets(&mut self, text: &str, at: TextPlace, key: &str) -> Vec<MemoryTarget> {
        let Some(mut target) = Indexed::parse(text) else {
            self.problems.add(at, key, format!("found `{text}`, expected a component such as `memory[0]`"));
            return Vec::new();
        };
        // `memory.ld[0]` is a logical device of a component, unless a component of a part has that name.
        let of_device = PortRef::parse(text).filter(|port| port.port.name == "ld");
        let logical = of_device.filter(|_| !self.arrays.contains_key(&target.name)).map(|port| {
            target = port.component;
            port.port
        });
        let Some(Array { first, count }) = self.array(&target.name, at, key) else { return Vec::new() };
        let mut extents = Vec::new();
        if !self.extent(&target, count, &target.name, at, key, &mut extents) {
            return Vec::new();
        }
        let chosen = |index: &Option<Index>, count: Option<usize>| match index {
            None => 0..1,
            Some(Index::Number(n)) => *n..*n + 1,
            Some(Index::Variable(_)) => 0..count.unwrap_or(0),
        };
        let mut targets = Vec::new();
        for n in chosen(&target.index, count) {
            let component = first + n;
            let Some(logical) = &logical else {
                targets.push(MemoryTarget { component, logical: None });
                continue;
            };
            let instance = &self.components[component].instance;
            let (count, who) = (instance.config.offer().logical_devices, format!("{}.ld", instance.path));
            if count.is_none() {
                let text = format!("found `{text}`, expected `{}`: it has no logical devices", instance.path);
                self.problems.add(at, key, text);
                return Vec::new();
            }
            if !self.extent(logical, count.map(usize::from), &who, at, key, &mut extents) {
                return Vec::new();
            }
            let all = chosen(&logical.index, count.map(usize::from));
            targets.extend(all.map(|ld| MemoryTarget { component, logical: Some(ld as u8) }));
        }
        targets
    }

    /// Folder to which the paths of a component are relative: that of the description it stands in.
    fn folder(&self, name: &str) -> PathBuf {
        let of_part = name.rsplit_once('.').and_then(|(element, _)| self.whole.folders.get(element));
        of_part.unwrap_or(&self.whole.folder).clone()
    }

    /// The clock of a component: one of the description that it stands in.
    fn clock(&mut self, table: &Table, place: TextPlace, path: &str, component: &str) -> usize {
        let key = format!("{path}.clock");
        let element = |name: &str| name.rsplit_once('.').map(|(element, _)| element.to_owned());
        let own = element(component);
        let names: Vec<(usize, String)> = self.clocks.iter().map(|(name, _)| name.clone()).enumerate().collect();
        let names: Vec<(usize, String)> = names.into_iter().filter(|(_, name)| element(name) == own).collect();
        let known = || names.iter().map(|(_, name)| name.as_str());
        match table.get("clock") {
            Some(DocumentItem { value: Value::Text(name), place }) => {
                match names.iter().find(|(_, known)| known == name) {
                    Some((n, _)) => return *n,
                    None => self.problems.add(*place, key, unknown("clock", known()).of(name)),
                }
            }
            Some(item) => {
                self.problems.add(item.place, key, format!("found {}, expected the name of a clock", item.shown()));
            }
            None => match &names[..] {
                [(only, _)] => return *only,
                [] => self.problems.add(place, key, "found no clock, expected one under [clock]"),
                _ => {
                    let text = format!("found no clock, expected one of {}", known().collect::<Vec<_>>().join(", "));
                    self.problems.add(place, key, text);
                }
            },
        }
        0
    }

    fn external(&mut self, table: &Table, kind: &super::kind::ComponentKind, path: &str) -> Option<ExternalComponent> {
        let item = table.get("external")?;
        let offered = match &item.value {
            Value::Text(how) => ExternalComponent::of(kind, how),
            _ => None,
        };
        if offered.is_none() {
            let text = match kind.external {
                [] => format!("found {}, expected none: `{}` offers no way to stand outside", item.shown(), kind.name),
                offers => {
                    let offers = offers.join(", ");
                    format!("found {}, expected one of what `{}` offers: {offers}", item.shown(), kind.name)
                }
            };
            self.problems.add(item.place, format!("{path}.external"), text);
        }
        offered
    }

    /// Every port has its link.
    fn ports(&mut self) {
        for component in 0..self.components.len() {
            for port in 0..self.components[component].ports.len() {
                let OpenPort { decl, link, .. } = self.components[component].ports[port];
                let path = self.path_of((component, port));
                match link {
                    Some((link, end)) => {
                        let joined = JoinedPort { path, decl, link, end };
                        self.components[component].instance.ports.push(joined);
                    }
                    None => {
                        let name = self.components[component].instance.path.clone();
                        let text = format!(
                            "found no link at the port `{path}`, expected one of kind {}",
                            decl.links.join(", ")
                        );
                        self.problems.add(self.components[component].table.place, format!("component.{name}"), text);
                    }
                }
            }
        }
    }
}
