//! Links of a description: which ports they join (`[[link]]`, and `[[export]]` of parts).
//!
//! Modelled: names of ports with numbers, extents and letters in brackets, pairs of two lists that have the same length, and what is wrong with
//! them. Left out: what a link is made of, which its kind reads.
//!
//! A walk: `between = ["host[i].cxl", "switch.usp[i]"]` gives one link for each host, in the order of their numbers: a letter stands for all
//! elements of its array.

use super::{Array, MOST, OpenPort, OwnTable, Resolver, UnjoinedComponent, element, exceptions};
use crate::description::link_kind;
use crate::design::LinkInstance;
use crate::document::{DocumentItem, Table, Value};
use crate::field::unknown;
use crate::kind::{CxlSide, LINKS, PortRole};
use crate::part::PartArray;
use crate::problem::TextPlace;
use crate::reference::{Index, Indexed, PortRef};
use scalepool_ordered::OrderedMap;

impl<'a> Resolver<'a> {
    pub(super) fn links(&mut self) {
        for (name, place, table) in self.named("link") {
            let path = format!("link.{name}");
            let kind = self.text(table, "kind", place, &path, "the name of a kind of link");
            let kind = kind.and_then(|(kind, at)| {
                let known = LINKS.iter().map(|kind| kind.name);
                let found = link_kind(kind);
                if found.is_none() {
                    self.problems.add(at, format!("{path}.kind"), unknown("kind of link", known).of(kind));
                }
                found
            });
            let Some(pairs) = self.between(table, place, &path) else { continue };
            let Some(kind) = kind else { continue };
            let count = pairs.len();
            let exceptions = exceptions(table, &path, if pairs[0].0.is_some() { count } else { 0 }, &mut self.problems);
            if self.links.len() + count > MOST {
                self.problems.add(place, path, format!("found more than {MOST} links, expected at most that"));
                return;
            }
            for (n, (index, ends, at)) in pairs.into_iter().enumerate() {
                let exception = exceptions.get(&n);
                let own = element(table, exception);
                let place_path = if exception.is_some() { format!("{path}[{n}]") } else { path.clone() };
                let config = (kind.read)(&own, place, &place_path, &mut self.problems, &mut self.resolved);
                let own = OwnTable { table: own, place, path: place_path };
                own.judge(config.check(), &mut self.problems);
                let Some(ports) = self.join(kind.name, &path, ends, at) else { continue };
                let path = index.map_or(name.to_owned(), |n| format!("{name}[{n}]"));
                self.links.push(LinkInstance { path, place, index: index.unwrap_or(0), kind, config, ports });
                self.link_tables.push(own);
            }
        }
    }

    /// Pairs of ports that a link joins: index of the link, component and port of each end, and their place.
    #[allow(clippy::type_complexity)]
    pub(super) fn between(
        &mut self,
        table: &Table,
        place: TextPlace,
        path: &str,
    ) -> Option<Vec<(Option<usize>, [(usize, usize); 2], TextPlace)>> {
        let key = format!("{path}.between");
        let expected = "two ports such as [\"host.cxl\", \"memory.cxl\"]";
        let Some(item) = table.get("between") else {
            self.problems.add(place, key, format!("found no between, expected {expected}"));
            return None;
        };
        let Value::List(items) = &item.value else {
            self.problems.add(item.place, key, format!("found {}, expected {expected}", item.shown()));
            return None;
        };
        if items.iter().all(|item| matches!(item.value, Value::List(_))) {
            return self.pairs(items, item.place, &key);
        }
        if items.len() != 2 {
            self.problems.add(item.place, key, format!("found {} elements, expected {expected}", items.len()));
            return None;
        }
        let mut refs = Vec::new();
        for item in items {
            let parsed = match &item.value {
                Value::Text(text) => PortRef::parse(text),
                _ => None,
            };
            match parsed {
                Some(port) => refs.push((port, item.place)),
                None => self.problems.add(item.place, &key, format!("found {}, expected component.port", item.shown())),
            }
        }
        let mut extents: Vec<(String, usize, String)> = Vec::new();
        let sound = refs.iter().map(|(port, at)| self.extents(port, *at, &key, &mut extents)).collect::<Vec<_>>();
        if refs.len() != 2 || sound.contains(&false) {
            return None;
        }
        let total = extents.iter().try_fold(1usize, |all, (_, len, _)| all.checked_mul(*len)).filter(|n| *n <= MOST);
        let Some(total) = total else {
            self.problems.add(item.place, key, format!("found more than {MOST} links, expected at most that"));
            return None;
        };
        let mut pairs = Vec::new();
        for n in 0..total {
            let mut rest = n;
            let mut values = OrderedMap::new();
            for (variable, len, _) in extents.iter().rev() {
                values.insert(variable.as_str(), rest % len);
                rest /= len;
            }
            let ends = [0, 1].map(|end| self.port(&refs[end].0, &values));
            let [Some(a), Some(b)] = ends else { continue };
            pairs.push((if extents.is_empty() { None } else { Some(n) }, [a, b], items[0].place));
        }
        (!pairs.is_empty()).then_some(pairs)
    }

    /// Pairs of ports that are listed one by one.
    #[allow(clippy::type_complexity)]
    pub(super) fn pairs(
        &mut self,
        items: &[DocumentItem],
        place: TextPlace,
        key: &str,
    ) -> Option<Vec<(Option<usize>, [(usize, usize); 2], TextPlace)>> {
        if items.is_empty() || items.len() > MOST {
            self.problems.add(place, key, format!("found {} pairs of ports, expected 1 to {MOST}", items.len()));
            return None;
        }
        let mut pairs = Vec::new();
        for (n, item) in items.iter().enumerate() {
            let ends = match &item.value {
                Value::List(ends) => ends.iter().map(|end| self.numbered(end, key)).collect::<Option<Vec<_>>>(),
                _ => None,
            };
            match ends.as_deref() {
                Some(&[a, b]) => pairs.push((Some(n), [a, b], item.place)),
                Some(ends) => {
                    self.problems.add(item.place, key, format!("found {} ports in a pair, expected two", ends.len()));
                }
                None => (),
            }
        }
        (pairs.len() == items.len()).then_some(pairs)
    }

    /// A port that is named without index variables.
    pub(super) fn numbered(&mut self, item: &DocumentItem, key: &str) -> Option<(usize, usize)> {
        let parsed = match &item.value {
            Value::Text(text) => PortRef::parse(text),
            _ => None,
        };
        let mut extents = Vec::new();
        let is_sound = parsed.as_ref().is_some_and(|port| self.extents(port, item.place, key, &mut extents));
        if parsed.is_none() || !extents.is_empty() {
            let text =
                format!("found {}, expected component.port with numbers for indices in a list of pairs", item.shown());
            self.problems.add(item.place, key, text);
            return None;
        }
        self.port(&parsed.filter(|_| is_sound)?, &OrderedMap::new())
    }

    /// Looks a port up, and notes how far its index variables go; whether it is sound.
    pub(super) fn extents(
        &mut self,
        port: &PortRef,
        at: TextPlace,
        key: &str,
        extents: &mut Vec<(String, usize, String)>,
    ) -> bool {
        if let Some(part) = self.whole.parts.get(&port.component.name) {
            return self.extents_of_part(port, part, at, key, extents);
        }
        let Some(array) = self.array(&port.component.name, at, key) else { return false };
        let who = port.component.name.clone();
        if !self.extent(&port.component, array.count, &who, at, key, extents) {
            return false;
        }
        // Elements of an array may differ in their ports; an index variable goes through those of the first.
        let element = match port.component.index {
            Some(Index::Number(n)) => array.first + n,
            _ => array.first,
        };
        let UnjoinedComponent { ports, is_read, .. } = &self.components[element];
        if !is_read {
            return false;
        }
        let Some(OpenPort { decl, .. }) = ports.iter().find(|open| open.decl.name == port.port.name) else {
            let kind = self.components[element].instance.kind.name;
            let mut names: Vec<&str> = ports.iter().map(|open| open.decl.name).collect();
            names.dedup();
            let text = format!("{} (`{who}` is a {kind})", unknown("port", names.into_iter()).of(&port.port.name));
            self.problems.add(at, key, text);
            return false;
        };
        let (len, whole) = (decl.len, format!("{who}.{}", port.port.name));
        self.extent(&port.port, len, &whole, at, key, extents)
    }

    /// Looks an array of components up, or a component that is none.
    pub(super) fn array(&mut self, name: &str, at: TextPlace, key: &str) -> Option<Array> {
        let found = self.arrays.get(name).copied();
        // One that is there and has no known kind has been found already.
        if found.is_none() && self.table("component").is_none_or(|table| table.get(name).is_none()) {
            let known: Vec<&str> = self.arrays.keys().chain(self.whole.parts.keys()).map(String::as_str).collect();
            let text = unknown("component", known.into_iter()).of(name);
            self.problems.add(at, key, text);
        }
        found
    }

    /// The same for a port that a part exports.
    pub(super) fn extents_of_part(
        &mut self,
        port: &PortRef,
        part: &PartArray,
        at: TextPlace,
        key: &str,
        extents: &mut Vec<(String, usize, String)>,
    ) -> bool {
        let who = port.component.name.clone();
        if !self.extent(&port.component, part.count, &who, at, key, extents) {
            return false;
        }
        let Some((.., inner)) = part.exports.iter().find(|(name, ..)| *name == port.port.name) else {
            let names = part.exports.iter().map(|(name, ..)| name.as_str());
            let text = format!("{} (`{who}` is a part)", unknown("exported port", names).of(&port.port.name));
            self.problems.add(at, key, text);
            return false;
        };
        // Elements whose settings differ may export arrays of different lengths.
        let mut lengths = Vec::new();
        for inner in inner {
            let mut own = Vec::new();
            if !self.extents(inner, at, key, &mut own) {
                return false;
            }
            lengths.push(own.first().map(|(_, len, _)| *len));
        }
        if lengths.iter().any(|len| *len != lengths[0]) {
            let text = format!("found arrays of different lengths as `{}` of the elements of `{who}`", port.port.name);
            self.problems.add(at, key, text);
            return false;
        }
        self.extent(&port.port, lengths[0], &format!("{who}.{}", port.port.name), at, key, extents)
    }

    /// Every exported port is one, or an array of them.
    pub(super) fn exports(&mut self) {
        let whole = self.whole;
        for (name, at, ports) in whole.parts.values().flat_map(|part| &part.exports) {
            let key = format!("export.{name}");
            for port in ports {
                self.extents(port, *at, &key, &mut Vec::new());
                if port.variables().len() > 1 {
                    let text = "found several index variables, expected at most one: an array of ports has one index";
                    self.problems.add(*at, &key, text);
                }
            }
        }
    }

    /// One index: `count` is the length of what it goes through, `None` where there is no array.
    pub(super) fn extent(
        &mut self,
        indexed: &Indexed,
        count: Option<usize>,
        who: &str,
        at: TextPlace,
        key: &str,
        extents: &mut Vec<(String, usize, String)>,
    ) -> bool {
        let text = match (&indexed.index, count) {
            (None, None) => return true,
            (Some(Index::Number(n)), Some(count)) if *n < count => return true,
            (Some(Index::Number(n)), Some(count)) => {
                format!("found the index {n} of `{who}`, expected 0 to {}", count.saturating_sub(1))
            }
            (Some(Index::Variable(variable)), Some(count)) => {
                match extents.iter().find(|(known, ..)| known == variable) {
                    None => {
                        extents.push((variable.clone(), count, who.to_owned()));
                        return true;
                    }
                    Some((_, len, _)) if *len == count => return true,
                    Some((_, len, other)) => format!(
                        "found the index `{variable}` through the {len} of `{other}` and the {count} of `{who}`, expected equal lengths"
                    ),
                }
            }
            (None, Some(count)) => format!("found `{who}` without an index, expected one: it is an array of {count}"),
            (Some(_), None) => format!("found an index of `{who}`, expected none: it is no array"),
        };
        self.problems.add(at, key, text);
        false
    }

    /// The place of a port: component, and port of it.
    pub(super) fn port(&self, port: &PortRef, values: &OrderedMap<&str, usize>) -> Option<(usize, usize)> {
        let value = |indexed: &Indexed| match &indexed.index {
            None => None,
            Some(Index::Number(n)) => Some(*n),
            Some(Index::Variable(v)) => values.get(v.as_str()).copied(),
        };
        if let Some(part) = self.whole.parts.get(&port.component.name) {
            let (.., inner) = part.exports.iter().find(|(name, ..)| *name == port.port.name)?;
            let inner = inner.get(value(&port.component).unwrap_or(0))?;
            let own = inner.variables().into_iter().zip(value(&port.port)).collect();
            return self.port(inner, &own);
        }
        let array = self.arrays.get(&port.component.name)?;
        let component = array.first + value(&port.component).unwrap_or(0);
        let index = value(&port.port);
        let ports = &self.components.get(component)?.ports;
        // The ports of a declaration stand side by side in the order of their indices, and a switch may have thousands.
        let mut first = 0;
        while let Some(OpenPort { decl, .. }) = ports.get(first) {
            if decl.name == port.port.name {
                let at = first.checked_add(index.unwrap_or(0))?;
                let found = ports.get(at)?;
                return (found.decl.name == decl.name && found.index == index).then_some((component, at));
            }
            first += decl.len.unwrap_or(1);
        }
        None
    }

    pub(super) fn path_of(&self, (component, port): (usize, usize)) -> String {
        let open = &self.components[component];
        let OpenPort { decl, index, .. } = open.ports[port];
        let index = index.map_or(String::new(), |n| format!("[{n}]"));
        format!("{}.{}{index}", open.instance.path, decl.name)
    }

    /// Joins two ports by the next link; the side that asks is the first end. `None`: they do not fit.
    pub(super) fn join(
        &mut self,
        kind: &str,
        path: &str,
        ends: [(usize, usize); 2],
        at: TextPlace,
    ) -> Option<[(usize, usize); 2]> {
        let key = format!("{path}.between");
        let decls = ends.map(|(component, port)| self.components[component].ports[port].decl);
        let names = ends.map(|end| self.path_of(end));
        for (decl, name) in decls.iter().zip(&names) {
            if !decl.links.contains(&kind) {
                let text = format!("found a link of kind `{kind}` at `{name}`, expected {}", decl.links.join(", "));
                self.problems.add(at, &key, text);
                return None;
            }
        }
        // Below another switch stands one with hierarchy based routing alone (`fabric` PID-3).
        let is_cascaded = |end: usize| self.components[ends[end].0].instance.config.hierarchies().is_some();
        let ends = match decls.map(|decl| decl.role) {
            _ if ends[0].0 == ends[1].0 => {
                let text = format!(
                    "found both ends at `{}`, expected two components",
                    self.components[ends[0].0].instance.path
                );
                self.problems.add(at, key, text);
                return None;
            }
            [
                PortRole::Host | PortRole::HomeMemory | PortRole::Requester | PortRole::SwitchDownstream,
                PortRole::Device,
            ]
            | [PortRole::Host, PortRole::SwitchUpstream]
            | [PortRole::SwitchFabric, PortRole::SwitchFabric]
            | [PortRole::Node, PortRole::Node | PortRole::Switch]
            | [PortRole::Terminal | PortRole::Router, PortRole::Router] => ends,
            [
                PortRole::Device,
                PortRole::Host | PortRole::HomeMemory | PortRole::Requester | PortRole::SwitchDownstream,
            ]
            | [PortRole::SwitchUpstream, PortRole::Host]
            | [PortRole::Switch, PortRole::Node]
            | [PortRole::Router, PortRole::Terminal] => [ends[1], ends[0]],
            [PortRole::SwitchDownstream, PortRole::SwitchUpstream] if is_cascaded(1) => ends,
            [PortRole::SwitchUpstream, PortRole::SwitchDownstream] if is_cascaded(0) => [ends[1], ends[0]],
            [PortRole::Coherent(a, CxlSide::Host), PortRole::Coherent(b, CxlSide::Device)] if a == b => ends,
            [PortRole::Coherent(a, CxlSide::Host), PortRole::SwitchUpstream]
            | [PortRole::SwitchDownstream, PortRole::Coherent(a, CxlSide::Device)]
                if a.passes_switches() =>
            {
                ends
            }
            [PortRole::SwitchUpstream, PortRole::Coherent(a, CxlSide::Host)]
            | [PortRole::Coherent(a, CxlSide::Device), PortRole::SwitchDownstream]
                if a.passes_switches() =>
            {
                [ends[1], ends[0]]
            }
            [PortRole::Coherent(a, CxlSide::Device), PortRole::Coherent(b, CxlSide::Host)] if a == b => {
                [ends[1], ends[0]]
            }
            roles => {
                let ([a, b], [role, other]) = (&names, roles.map(PortRole::name));
                let expected = match roles {
                    [PortRole::Terminal, _] | [_, PortRole::Terminal] => "a router at one end",
                    [PortRole::Switch, _] => "a node at one end: switches are not joined to each other",
                    [PortRole::Coherent(..), _] | [_, PortRole::Coherent(..)] => "both sides of one protocol",
                    [PortRole::SwitchFabric, _] | [_, PortRole::SwitchFabric] => {
                        "fabric ports of two switches (fabric PID-3)"
                    }
                    [PortRole::SwitchUpstream, _] | [_, PortRole::SwitchUpstream] => "a host above the upstream port",
                    [PortRole::SwitchDownstream, _] | [_, PortRole::SwitchDownstream] => {
                        "a device below the downstream port"
                    }
                    [PortRole::HomeMemory, _] | [_, PortRole::HomeMemory] => "a home and a device with memory",
                    [PortRole::Requester, _] | [_, PortRole::Requester] => "a requester and a device with memory",
                    _ => "a host and a device",
                };
                let text = format!("found `{a}`, a {role}, and `{b}`, a {other}, expected {expected}");
                self.problems.add(at, key, text);
                return None;
            }
        };
        let link = self.links.len();
        for (end, port) in ends.into_iter().enumerate() {
            if self.components[port.0].ports[port.1].link.is_some() {
                let text = format!("found a second link at `{}`, expected one for each port", self.path_of(port));
                self.problems.add(at, key, text);
                return None;
            }
            self.components[port.0].ports[port.1].link = Some((link, end));
        }
        Some(ends)
    }
}
