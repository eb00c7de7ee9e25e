//! The graph of channels: which message may have to wait for room where. A circle in it is a deadlock that can happen.
//!
//! Modelled: a vertex for each class of messages with a flow control of its own, in each direction of each link, and for each
//! queue of a component in front of an output; an edge where a message that waits in one may need room in the other. Edges
//! are what kinds declare: components say which class that comes in needs room for which one that goes out
//! ([`Component::waits`](super::kind::Component::waits): routes of switches, answers to requests, snoops), links say which
//! class they hold behind another one ([`Link::order`](super::kind::Link::order)). A class that needs no room is a guaranteed
//! sink: its receiver has set a place aside for it, so no circle goes through it. Left out: how many credits and places there
//! are, for more of them put a deadlock off and do not take it away; links below messages (replay, training).
//!
//! A walk: the channels of all links are numbered; each declaration of a component becomes a group, channels from which
//! messages come and channels to which they go, so that a crossbar takes as many entries as it has ports and not their square;
//! `circles` looks for parts in which every channel waits for every other, and gives the shortest circle
//! of each, and [`problems`](ChannelGraph::problems) says where it stands in the description.

pub mod circles;
pub mod forbidden;
mod waits;

pub use waits::{ChannelWait, ClassOrder, Reach, RoutedWays};

use super::design::{JoinedPort, System};
use super::kind::NodePart;
use super::kinds::fabric_router;
use super::problem::{Problems, TextPlace};
use circles::Circle;
use scalepool_ordered::OrderedMap;
use serde_json::{Value, json};

/// Where a channel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ChannelLocation {
    /// On a link: 0 is what its first end sends, 1 what its second end sends.
    Link { link: usize, direction: usize },
    /// In a component, in front of one of its ports.
    Queue { component: usize, port: usize, name: &'static str },
}

/// A channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ChannelVertex {
    at: ChannelLocation,
    class: &'static str,
}

/// Who makes a message wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// A component, by its place in the system.
    Component(usize),
    /// A link, by its place in the system.
    Link(usize),
}

impl By {
    fn path(self, system: &System) -> &str {
        match self {
            By::Component(n) => &system.components[n].path,
            By::Link(n) => &system.links[n].path,
        }
    }

    /// Whether it is a router with virtual channels.
    fn is_router(self, system: &System) -> bool {
        matches!(self, By::Component(n) if system.components[n].kind.name == fabric_router::KIND.name)
    }

    /// Its key in the description.
    fn key(self, system: &System) -> String {
        let table = if matches!(self, By::Component(_)) { "component" } else { "link" };
        format!("{table}.{}", self.path(system))
    }

    /// Where its table stands.
    fn place(self, system: &System) -> TextPlace {
        match self {
            By::Component(n) => system.components[n].place,
            By::Link(n) => system.links[n].place,
        }
    }
}

/// Why an edge is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reason {
    by: By,
    why: &'static str,
}

/// Edges of one reason.
#[derive(Debug)]
struct EdgeGroup {
    reason: usize,
    reach: Reach,
    /// Ports and channels to which they lead.
    to: Vec<(usize, usize)>,
}

/// The graph.
#[derive(Debug, Default)]
pub struct ChannelGraph {
    channels: Vec<ChannelVertex>,
    reasons: Vec<Reason>,
    groups: Vec<EdgeGroup>,
    /// Groups of edges that leave a channel, with the port at which its messages come in.
    leaving: Vec<Vec<(usize, usize)>>,
}

/// Most waits of a circle that a finding lists.
const LISTED: usize = 16;

/// What a router of a topology out of a file with `routing = "shortest"` does.
pub(crate) const PASSED_ON_SHORTEST: &str = "passes packets on by the shortest way";

/// What a kind that declares nothing does.
const UNDECLARED: &str = "does not say what waits for what";

/// Ways of requests through a switch of a fabric of nodes, without those from one bridge to another.
fn asked(system: &System, component: usize, reach: Reach) -> Reach {
    let ports = &system.components[component].ports;
    let is_bridge = |port: &JoinedPort| {
        let (peer, _) = system.links[port.link].ports[1 - port.end];
        system.components[peer].config.node_part() != NodePart::Peer
    };
    let bridges: Vec<bool> = ports.iter().map(is_bridge).collect();
    if !bridges.contains(&true) {
        return reach;
    }
    let pairs = (0..ports.len()).flat_map(|from| (0..ports.len()).map(move |to| (from, to)));
    Reach::Ways(pairs.filter(|(from, to)| reach.leads(*from, *to) && !(bridges[*from] && bridges[*to])).collect())
}

/// Waits that are wrong by themselves, once for each component and pair of classes.
fn forbidden_waits(system: &System, problems: &mut Problems) {
    for (component, own) in system.components.iter().enumerate() {
        let mut told: Vec<(&str, &str)> = Vec::new();
        for ChannelWait { incoming, outgoing, why, .. } in own.config.waits().into_iter().flatten() {
            let Some(reason) = forbidden::why_not(incoming, outgoing) else { continue };
            if told.contains(&(incoming, outgoing)) {
                continue;
            }
            told.push((incoming, outgoing));
            let by = By::Component(component);
            let text = format!(
                "found {incoming} that waits for room for {outgoing} ({} {why}), expected no such wait: {reason} (bridge §10)",
                own.path
            );
            problems.add(by.place(system), by.key(system), text);
        }
    }
}

impl ChannelGraph {
    /// The graph of a system whose ports are joined.
    pub fn of(system: &System) -> ChannelGraph {
        let mut graph = ChannelGraph::default();
        let links: Vec<[Vec<(&'static str, usize)>; 2]> =
            (0..system.links.len()).map(|n| graph.add_link(system, n)).collect();
        for component in 0..system.components.len() {
            graph.add_component(system, component, &links);
        }
        graph
    }

    fn add(&mut self, at: ChannelLocation, class: &'static str) -> usize {
        self.channels.push(ChannelVertex { at, class });
        self.leaving.push(Vec::new());
        self.channels.len() - 1
    }

    fn add_reason(&mut self, by: By, why: &'static str) -> usize {
        self.reasons.push(Reason { by, why });
        self.reasons.len() - 1
    }

    /// Edges from channels to channels, each with its port.
    fn join(&mut self, reason: usize, reach: &Reach, from: &[(usize, usize)], to: Vec<(usize, usize)>) {
        if *reach == Reach::SamePort {
            // One group for each port, so that nothing is looked for.
            let by_port: OrderedMap<usize, usize> = to.into_iter().collect();
            for &(port, channel) in from {
                if let Some(&next) = by_port.get(&port) {
                    self.join(reason, &Reach::AnyPort, &[(port, channel)], vec![(port, next)]);
                }
            }
        } else if !from.is_empty() && !to.is_empty() {
            let group = self.groups.len();
            self.groups.push(EdgeGroup { reason, reach: reach.clone(), to });
            from.iter().for_each(|&(port, channel)| self.leaving[channel].push((group, port)));
        }
    }

    /// Channels of a link, by direction: class and number.
    fn add_link(&mut self, system: &System, link: usize) -> [Vec<(&'static str, usize)>; 2] {
        let config = &system.links[link].config;
        let classes = config.channels(system.roles_of(&system.links[link]));
        let mut direction = 0;
        let numbered = classes.map(|classes| {
            let at = ChannelLocation::Link { link, direction };
            direction += 1;
            classes.into_iter().map(|class| (class, self.add(at, class))).collect::<Vec<_>>()
        });
        for ClassOrder { held, behind, why } in config.order() {
            let reason = self.add_reason(By::Link(link), why);
            for channels in &numbered {
                let of = |name: &str| channels.iter().find(|(class, _)| *class == name).map(|(_, n)| (0, *n));
                self.join(reason, &Reach::AnyPort, of(held).as_slice(), of(behind).into_iter().collect());
            }
        }
        numbered
    }

    fn add_component(&mut self, system: &System, component: usize, links: &[[Vec<(&'static str, usize)>; 2]]) {
        let (mut incoming, mut outgoing): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
        for (n, port) in system.components[component].ports.iter().enumerate() {
            let [first, second] = &links[port.link];
            let (sent, received) = if port.end == 0 { (first, second) } else { (second, first) };
            outgoing.extend(sent.iter().map(|(class, channel)| (*class, n, *channel)));
            incoming.extend(received.iter().map(|(class, channel)| (*class, n, *channel)));
        }
        let of = |all: &[(&str, usize, usize)], name: Option<&str>| -> Vec<(usize, usize)> {
            let wanted = all.iter().filter(|(class, ..)| name.is_none_or(|name| name == *class));
            wanted.map(|(_, port, channel)| (*port, *channel)).collect()
        };
        let by = By::Component(component);
        let Some(waits) = system.components[component].config.waits() else {
            // What nobody has thought about may wait for everything.
            let reason = self.add_reason(by, UNDECLARED);
            return self.join(reason, &Reach::AnyPort, &of(&incoming, None), of(&outgoing, None));
        };
        let mut queues = OrderedMap::new();
        for ChannelWait { incoming: from, outgoing: to, reach, queue, why } in waits {
            let mut targets = of(&outgoing, Some(to));
            if let Some(name) = queue {
                for (port, channel) in &mut targets {
                    *channel = *queues.entry((*port, name, to)).or_insert_with(|| {
                        let queue = self.add(ChannelLocation::Queue { component, port: *port, name }, to);
                        let reason = self.add_reason(by, "sends what it has queued");
                        self.join(reason, &Reach::AnyPort, &[(*port, queue)], vec![(*port, *channel)]);
                        queue
                    });
                }
            }
            let reason = self.add_reason(by, why);
            let reach = match reach {
                Reach::Routes(of) => Reach::Ways(system.pbr.ways(component, of)),
                Reach::Asked(reach) => asked(system, component, *reach),
                other => other,
            };
            self.join(reason, &reach, &of(&incoming, Some(from)), targets);
        }
    }

    /// Channels for whose room a message in a channel may wait, with the reasons.
    fn next(&self, channel: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.leaving[channel].iter().flat_map(|&(group, from)| {
            let EdgeGroup { reason, reach, to } = &self.groups[group];
            to.iter().filter(move |(port, _)| reach.leads(from, *port)).map(|(_, next)| (*next, *reason))
        })
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.channels.len()
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        (0..self.channels.len()).map(|channel| self.next(channel).count()).sum()
    }

    /// A circle of each part of the graph in which every channel waits for every other: the shortest one through its first channel.
    ///
    /// A group as a vertex between its channels leads from any of them to any, whatever its reach: what is no circle there is
    /// none, so the edges one by one are looked at where that graph has a circle alone.
    fn circles(&self) -> Vec<Circle> {
        let channels = self.channels.len();
        let between = |vertex: usize| match vertex.checked_sub(channels) {
            None => self.leaving[vertex].iter().map(|(group, _)| (channels + group, 0)).collect(),
            Some(group) => self.groups[group].to.iter().map(|(_, channel)| (*channel, 0)).collect(),
        };
        let part = circles::parts(channels + self.groups.len(), &between);
        let mut members = vec![0; part.len()];
        part.iter().for_each(|part| members[*part] += 1);
        circles::of(channels, &|channel| match members[part[channel]] {
            1 => Vec::new(),
            _ => self.next(channel).filter(|(next, _)| part[*next] == part[channel]).collect(),
        })
    }

    /// A channel in words.
    fn shown(&self, system: &System, channel: usize) -> String {
        let ChannelVertex { at, class } = self.channels[channel];
        match at {
            ChannelLocation::Link { link, direction } => {
                let link = &system.links[link];
                format!("{class} on {} {}", link.path, link.config.directions(system.roles_of(link))[direction])
            }
            ChannelLocation::Queue { component, port, name } => {
                format!("{class} in the {name} of {}", system.components[component].ports[port].path)
            }
        }
    }

    /// The port of a component at the link of a channel.
    fn port_of<'a>(&self, system: &'a System, channel: usize, by: By) -> Option<&'a str> {
        let (ChannelLocation::Link { link, .. }, By::Component(own)) = (self.channels[channel].at, by) else {
            return None;
        };
        let (_, port) = system.links[link].ports.into_iter().find(|(component, _)| *component == own)?;
        Some(&system.components[own].ports[port].path)
    }

    /// The graph as `check --json` prints it: channels, reasons, and edges as triples of their numbers: channel, channel whose
    /// room it may wait for, reason.
    pub fn json(&self, system: &System) -> Value {
        let channel = |n: usize| {
            let ChannelVertex { at, class } = self.channels[n];
            match at {
                ChannelLocation::Link { link, direction } => {
                    let link = &system.links[link];
                    let direction = link.config.directions(system.roles_of(link))[direction];
                    json!({"link": link.path, "direction": direction, "class": class})
                }
                ChannelLocation::Queue { component, port, name } => {
                    json!({"port": system.components[component].ports[port].path, "queue": name, "class": class})
                }
            }
        };
        let reason = |reason: &Reason| json!({"by": reason.by.path(system), "why": reason.why});
        let edges = |from: usize| self.next(from).map(move |(to, reason)| json!([from, to, reason]));
        json!({
            "channels": (0..self.channels.len()).map(channel).collect::<Vec<_>>(),
            "reasons": self.reasons.iter().map(reason).collect::<Vec<_>>(),
            "edges": (0..self.channels.len()).flat_map(edges).collect::<Vec<_>>(),
        })
    }

    /// A problem for each circle, at the table of the first that makes messages wait.
    pub fn problems(&self, system: &System) -> Problems {
        let mut problems = Problems { files: system.warnings.files.clone(), list: Vec::new() };
        for circle in self.circles() {
            let Some(&(first, _, reason)) = circle.first() else { continue };
            let steps = circle.iter().take(LISTED).map(|&(_, next, reason)| {
                let Reason { by, why } = self.reasons[reason];
                let at = problems.at(by.place(system));
                let place = self.port_of(system, next, by).filter(|_| why == PASSED_ON_SHORTEST);
                let by = place.unwrap_or_else(|| by.path(system));
                format!("needs room for {} ({at}: {by} {why})", self.shown(system, next))
            });
            let steps: Vec<String> = steps.collect();
            let rest = match circle.len().saturating_sub(LISTED) {
                0 => String::new(),
                more => format!(", and so on over {more} more"),
            };
            let why = || circle.iter().map(|&(_, _, reason)| self.reasons[reason]);
            let advice = if why().any(|reason| reason.why == PASSED_ON_SHORTEST) {
                ": `routing = \"up-down\"` in the file of the topology has no circle"
            } else if why().all(|reason| reason.by.is_router(system)) {
                ", or more virtual channels of the routers (`vcs`)"
            } else {
                ""
            };
            let text = format!(
                "found channels that wait for each other in a circle, so messages in them can wait for ever: {} {}{rest}, expected a class among them that is always taken{advice}",
                self.shown(system, first),
                steps.join(", which "),
            );
            let by = self.reasons[reason].by;
            problems.add(by.place(system), by.key(system), text);
        }
        forbidden_waits(system, &mut problems);
        problems.sorted()
    }
}
