//! A topology out of a file: routers, nodes, and the links between them.
//!
//! Modelled: a TOML file with the numbers of `routers` and `nodes`, the `routing`, and one `[[link]]` for each channel, whose
//! `between` names a router and a node, or two routers: `router[0]`, or `router[0].port[2]` where the number of the port matters.
//! Any other key of a link is a setting of that one link, such as its latency; what is wrong with one is said at its place in the file,
//! with the key that it gets in the description (`link.channels[0].latency`). Left out: ports that lead nowhere.
//!
//! A walk through one file: its numbers are read, then its links; a port that is named is that one, the others take the lowest
//! numbers that are free at their router, in the order of the file; then every port leads somewhere, or it is said what does not.

use super::Generating;
use crate::document::{self, DocumentItem, Table, Value};
use crate::field::{self, FieldRange, config, unknown};
use crate::problem::TextPlace;
use crate::quantity::Unit;
use crate::reference::{Index, Indexed, PortRef};
use crate::resolve::FORMAT;
use scalepool_fabric::topology::{
    GRAPH_ROUTING_NAMES, MOST_GRAPH_ROUTERS, MOST_PORTS, MOST_ROUTERS, PortPeer, Topology,
};
use scalepool_ordered::OrderedMap;
use std::path::Path;

/// What stands in front of the path of a file where a topology is expected.
pub(super) const PREFIX: &str = "file:";

config! {
    /// What the file says of the whole.
    pub struct TopologyFile {
        routers: usize = "2" [Unit::Of("routers")] in FieldRange::Int(2, MOST_GRAPH_ROUTERS as u64), "routers; each is named by a link";
        nodes: usize = "2" [Unit::Of("nodes")] in FieldRange::Int(2, MOST_ROUTERS as u64), "nodes; each has one link, to a router";
        routing: String = "shortest" [Unit::Of("-")] in FieldRange::Words(GRAPH_ROUTING_NAMES), "the shortest ways by the lowest port, or ways up towards router 0, then down, which never wait in a circle";
    }
}

/// Keys of the file and of a link that are no fields.
const FILE_KEYS: &[&str] = &["format", "link"];
const NOT_OF_A_LINK: &[&str] = &["kind", "at"];

/// A topology, and the settings of single links by one of their ends, the port of a router.
pub(super) struct FileTopology {
    pub topology: Topology,
    pub settings: OrderedMap<(usize, usize), Table>,
}

/// An end of a link.
#[derive(Clone, Copy)]
enum FileEnd {
    Node(usize),
    /// The port, if it is named.
    Router(usize, Option<usize>),
}

/// A link, and where its ends stand.
struct FileLink {
    /// Its key in the file, with its number.
    key: String,
    ends: [(FileEnd, TextPlace); 2],
    settings: Table,
}

/// Reads the topology; what is wrong is said with its place in the file, and there is none.
pub(super) fn read(own: &mut Generating<'_>, path: &str) -> Option<FileTopology> {
    let path = own.folder.join(path);
    let text = match document::read(&path) {
        Ok(text) => text,
        Err(text) => {
            own.refuse("shape", format!("`{}`: {text}", path.display()));
            return None;
        }
    };
    let sound = own.problems.list.len();
    let file = file_number(own, &path)?;
    let root = document::parse(file, &text, own.problems);
    let mut reader = FileReader { own, start: TextPlace::start(file), ports: Vec::new(), home: Vec::new() };
    let found = reader.topology(&root);
    found.filter(|_| own.problems.list.len() == sound)
}

/// The number of the file in messages; each element of an array of parts reads it again.
fn file_number(own: &mut Generating<'_>, path: &Path) -> Option<u16> {
    let name = path.display().to_string();
    let at = own.problems.files.iter().position(|known| *known == name).unwrap_or(own.problems.files.len());
    if at == own.problems.files.len() {
        own.problems.files.push(name);
    }
    let number = u16::try_from(at).ok();
    if number.is_none() {
        own.refuse("shape", format!("found more than {} files, expected at most that", u16::MAX));
    }
    number
}

struct FileReader<'a, 'b> {
    own: &'a mut Generating<'b>,
    start: TextPlace,
    /// By router and port, where it leads.
    ports: Vec<OrderedMap<usize, PortPeer>>,
    /// Port of a router at which each node is.
    home: Vec<Option<(usize, usize)>>,
}

impl FileReader<'_, '_> {
    fn add(&mut self, place: TextPlace, key: &str, text: String) {
        self.own.problems.add(place, key, text);
    }

    fn topology(&mut self, root: &Table) -> Option<FileTopology> {
        let sound = self.own.problems.list.len();
        let place_of = |key: &str| root.get(key).map_or(self.start, |item| item.place);
        let (format, routers) = (place_of("format"), place_of("routers"));
        match root.get("format") {
            Some(DocumentItem { value: Value::Number(text), .. }) if text.parse() == Ok(FORMAT) => (),
            other => {
                let found = other.map_or("no format".to_owned(), DocumentItem::shown);
                self.add(format, "format", format!("found {found}, expected `format = {FORMAT}` at the top"));
                return None;
            }
        }
        for key in ["routers", "nodes"].into_iter().filter(|key| root.get(key).is_none()) {
            self.add(self.start, key, format!("found no number, expected the number of {key}"));
        }
        // The keys of the file have no table around them.
        let (known, mut resolved) = (self.own.problems.list.len(), Vec::new());
        let whole: TopologyFile = field::read(root, self.start, "", FILE_KEYS, self.own.problems, &mut resolved);
        for problem in &mut self.own.problems.list[known..] {
            problem.key = problem.key.trim_start_matches('.').to_owned();
        }
        if self.own.problems.list.len() > sound {
            return None;
        }
        self.ports = vec![OrderedMap::new(); whole.routers];
        self.home = vec![None; whole.nodes];
        let links = self.links(root);
        let settings = self.join(&links);
        self.loose(root);
        if self.own.problems.list.len() > sound {
            return None;
        }
        let ports = self.ports.iter().map(|ports| ports.values().copied().collect()).collect();
        match Topology::of_ports(ports, &whole.routing) {
            Ok(topology) => Some(FileTopology { topology, settings }),
            Err(error) => {
                self.add(routers, "routers", error.to_string());
                None
            }
        }
    }

    /// The links that can be read.
    fn links(&mut self, root: &Table) -> Vec<FileLink> {
        let items = match root.get("link") {
            Some(DocumentItem { value: Value::List(items), .. }) => items.as_slice(),
            other => {
                let found = other.map_or("no links".to_owned(), DocumentItem::shown);
                let place = other.map_or(self.start, |item| item.place);
                self.add(place, "link", format!("found {found}, expected a [[link]] for each channel"));
                &[]
            }
        };
        let read = |(n, item): (usize, &DocumentItem)| self.link(&format!("link[{n}]"), item);
        items.iter().enumerate().filter_map(read).collect()
    }

    fn link(&mut self, path: &str, item: &DocumentItem) -> Option<FileLink> {
        let Value::Table(table) = &item.value else {
            self.add(item.place, path, format!("found {}, expected a table", item.shown()));
            return None;
        };
        let (key, expected) = (format!("{path}.between"), "two ends such as [\"router[0]\", \"node[0]\"]");
        let ends = match table.get("between") {
            Some(DocumentItem { value: Value::List(ends), .. }) if ends.len() == 2 => ends,
            other => {
                let found = match other.map(|item| &item.value) {
                    None => "no between".to_owned(),
                    Some(Value::List(ends)) => format!("{} ends", ends.len()),
                    Some(_) => other.map_or_else(String::new, DocumentItem::shown),
                };
                let place = other.map_or(item.place, |item| item.place);
                self.add(place, &key, format!("found {found}, expected {expected}"));
                return None;
            }
        };
        for (name, place, _) in table.entries.iter().filter(|(name, ..)| NOT_OF_A_LINK.contains(&name.as_str())) {
            let text = unknown("key", ["between", "and those of its kind of link"].into_iter()).of(name);
            self.add(*place, &format!("{path}.{name}"), text);
        }
        let ends: Vec<_> = ends.iter().map(|end| Some((self.end(&key, end)?, end.place))).collect();
        let [Some(first), Some(second)] = ends[..] else { return None };
        match [first.0, second.0] {
            [FileEnd::Node(_), FileEnd::Node(_)] => {
                self.add(second.1, &key, "found two nodes, expected a router and a node, or two routers".to_owned());
                return None;
            }
            [FileEnd::Router(a, _), FileEnd::Router(b, _)] if a == b => {
                self.add(second.1, &key, format!("found router[{a}] at both ends, expected another router"));
                return None;
            }
            _ => (),
        }
        let settings = table.entries.iter().filter(|(name, ..)| name != "between").cloned().collect();
        Some(FileLink { key, ends: [first, second], settings: Table { entries: settings } })
    }

    /// An end by its name.
    fn end(&mut self, key: &str, item: &DocumentItem) -> Option<FileEnd> {
        let (routers, nodes) = (self.ports.len(), self.home.len());
        let text = match &item.value {
            Value::Text(text) => text.as_str(),
            _ => "",
        };
        let number = |indexed: &Indexed, name: &str| match indexed.index {
            Some(Index::Number(n)) if indexed.name == name => Some(n),
            _ => None,
        };
        let named = match (Indexed::parse(text), PortRef::parse(text)) {
            (_, Some(PortRef { component, port })) => {
                number(&component, "router").zip(number(&port, "port")).map(|(r, p)| FileEnd::Router(r, Some(p)))
            }
            (Some(end), None) => number(&end, "node")
                .map(FileEnd::Node)
                .or_else(|| number(&end, "router").map(|router| FileEnd::Router(router, None))),
            (None, None) => None,
        };
        let refused = match named {
            Some(FileEnd::Node(node)) if node >= nodes => format!("expected node[0] to node[{}]", nodes - 1),
            Some(FileEnd::Router(router, _)) if router >= routers => {
                format!("expected router[0] to router[{}]", routers - 1)
            }
            Some(FileEnd::Router(_, Some(port))) if port >= MOST_PORTS => {
                format!("expected port[0] to port[{}]", MOST_PORTS - 1)
            }
            Some(_) => return named,
            None => "expected router[N], router[N].port[M] or node[N]".to_owned(),
        };
        self.add(item.place, key, format!("found {}, {refused}", item.shown()));
        None
    }

    /// Gives every link its ports, those with names first.
    fn join(&mut self, links: &[FileLink]) -> OrderedMap<(usize, usize), Table> {
        let mut chosen: Vec<[Option<usize>; 2]> = vec![[None; 2]; links.len()];
        // A port that is taken leads to node 0 until both ends of its link are known.
        for is_named in [true, false] {
            for (link, chosen) in links.iter().zip(&mut chosen) {
                for ((end, place), chosen) in link.ends.into_iter().zip(chosen) {
                    if let FileEnd::Router(router, named) = end
                        && named.is_some() == is_named
                    {
                        *chosen = self.take(router, named, (&link.key, place));
                    }
                }
            }
        }
        let mut settings = OrderedMap::new();
        for (link, chosen) in links.iter().zip(chosen) {
            for n in 0..2 {
                let (FileEnd::Router(router, _), Some(port)) = (link.ends[n].0, chosen[n]) else { continue };
                let (peer, place) = link.ends[1 - n];
                let peer = match (peer, chosen[1 - n]) {
                    (FileEnd::Node(node), _) => {
                        if let Some((router, port)) = self.home[node].replace((router, port)) {
                            let text = format!(
                                "found node[{node}] at router[{router}].port[{port}] too, expected one link of each node"
                            );
                            self.add(place, &link.key, text);
                        }
                        PortPeer::Node(node)
                    }
                    (FileEnd::Router(other, _), Some(back)) => PortPeer::Router(other, back),
                    (FileEnd::Router(..), None) => continue,
                };
                self.ports[router].insert(port, peer);
                if !link.settings.entries.is_empty() {
                    settings.insert((router, port), link.settings.clone());
                }
            }
        }
        settings
    }

    /// Takes a port of a router, the lowest one that is free if none is named.
    fn take(&mut self, router: usize, named: Option<usize>, (key, place): (&str, TextPlace)) -> Option<usize> {
        let ports = &mut self.ports[router];
        let free = (0..MOST_PORTS).find(|port| !ports.contains_key(port));
        let refused = match named.or(free) {
            Some(port) if !ports.contains_key(&port) => {
                ports.insert(port, PortPeer::Node(0));
                return Some(port);
            }
            Some(port) => format!("found router[{router}].port[{port}] twice, expected one link of each port"),
            None => format!("found more than {MOST_PORTS} links of router[{router}], expected at most that"),
        };
        self.add(place, key, refused);
        None
    }

    /// Nodes and ports without a link.
    fn loose(&mut self, root: &Table) {
        if let Some(node) = self.home.iter().position(Option::is_none) {
            let place = root.get("nodes").map_or(self.start, |item| item.place);
            self.add(place, "nodes", format!("found no link of node[{node}], expected one of each node"));
        }
        let gap = |ports: &OrderedMap<usize, PortPeer>| (0..=ports.len()).find(|port| !ports.contains_key(port));
        let gaps = self.ports.iter().map(|ports| gap(ports).filter(|gap| *gap < ports.len() || ports.is_empty()));
        if let Some((router, port)) = gaps.enumerate().find_map(|(router, gap)| Some((router, gap?))) {
            let place = root.get("routers").map_or(self.start, |item| item.place);
            let text = format!("found no link of router[{router}].port[{port}], expected ports without gaps");
            self.add(place, "routers", text);
        }
    }
}
