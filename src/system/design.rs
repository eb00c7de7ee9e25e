//! A system: components and links that fit, with everything that was read of them.

use super::channels::ChannelGraph;
use super::hierarchies;
use super::kind::{Component, ComponentKind, ExternalComponent, Link, LinkKind, PortDecl, PortRole};
use super::memory_map::MappedWindow;
use super::pbr_fabric::PbrFabrics;
use super::problem::{Problems, TextPlace};
use scalepool_kernel::Clock;
use std::fmt::Write;
use std::path::PathBuf;

/// A system that can be built.
pub struct System {
    /// Name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// Clocks by name; the first is the reference.
    pub clocks: Vec<(String, Clock)>,
    /// Components, in the order of the file.
    pub components: Vec<ComponentInstance>,
    /// Links, in the order of the file.
    pub links: Vec<LinkInstance>,
    /// Windows of system addresses, in the order of their bases; none: each memory begins at 0.
    pub memory_map: Vec<MappedWindow>,
    /// Fabrics of switches with port based routing.
    pub pbr: PbrFabrics,
    /// Every value as it is used: path and text.
    pub resolved: Vec<(String, String)>,
    /// Which messages may wait for room where.
    pub channels: ChannelGraph,
    /// What is no mistake and may surprise.
    pub warnings: Problems,
}

/// A component.
pub struct ComponentInstance {
    /// Path, `host[0]`.
    pub path: String,
    /// Where its table stands.
    pub place: TextPlace,
    /// Its kind.
    pub kind: &'static ComponentKind,
    /// Its configuration.
    pub config: Box<dyn Component>,
    /// Its clock, a place in the list of the system.
    pub clock: usize,
    /// How a caller stands in its place, if one does.
    pub external: Option<ExternalComponent>,
    /// Folder to which its paths are relative.
    pub folder: PathBuf,
    /// Its ports, in the order of their declarations.
    pub ports: Vec<JoinedPort>,
}

/// A port that is joined to a link.
#[derive(Debug, Clone)]
pub struct JoinedPort {
    /// Path, `host[0].cxl`.
    pub path: String,
    /// Its declaration.
    pub decl: PortDecl,
    /// The link, a place in the list of the system, and which end of it.
    pub link: usize,
    /// 0 or 1.
    pub end: usize,
}

/// A link.
pub struct LinkInstance {
    /// Path, `hosts[0]`.
    pub path: String,
    /// Where its table stands.
    pub place: TextPlace,
    /// Its number in its array, 0 for one without an index.
    pub index: usize,
    /// Its kind.
    pub kind: &'static LinkKind,
    /// Its configuration.
    pub config: Box<dyn Link>,
    /// Its ports: component, and port of it.
    pub ports: [(usize, usize); 2],
}

impl LinkInstance {
    /// Path of the array that it is in, or its own.
    pub fn array(&self) -> &str {
        let array = self.path.strip_suffix(']').and_then(|path| path.rsplit_once('['));
        array.map_or(self.path.as_str(), |(array, _)| array)
    }
}

impl System {
    /// The port at the other end of the link of a port: component, and port of it.
    pub fn far(&self, component: usize, port: usize) -> (usize, usize) {
        let JoinedPort { link, end, .. } = self.components[component].ports[port];
        self.links[link].ports[1 - end]
    }

    /// Paths of the ports of a link.
    pub fn ports_of(&self, link: &LinkInstance) -> [&str; 2] {
        link.ports.map(|(component, port)| self.components[component].ports[port].path.as_str())
    }

    /// Sides of the ports of a link, those between switches by what their fabric carries, or by the host above both of them.
    pub fn roles_of(&self, link: &LinkInstance) -> [PortRole; 2] {
        let roles = link.ports.map(|(component, port)| match self.components[component].ports[port].decl.role {
            PortRole::SwitchFabric if self.pbr.has_cache(component) => PortRole::CachingFabric,
            role => role,
        });
        let above = |port| hierarchies::role_above(self, port).filter(|role| role.coherence().is_some());
        match roles {
            [PortRole::SwitchDownstream, below @ PortRole::SwitchUpstream] => {
                [above(link.ports[0]).unwrap_or(roles[0]), below]
            }
            _ => roles,
        }
    }

    /// Whether components keep lines coherent, so that there is a chart of their messages.
    pub fn is_coherent(&self) -> bool {
        self.components.iter().any(|component| component.config.coherent(&component.path).is_some())
    }

    /// Components, their values, and what is joined to what, whatever the kinds of links and their values.
    pub fn shape(&self) -> String {
        let values = self.resolved.iter().filter(|(path, _)| path.starts_with("component."));
        let mut lines: Vec<String> = values.map(|(path, value)| format!("{path} = {value}")).collect();
        lines.extend(self.components.iter().map(|component| format!("{} is {}", component.path, component.kind.name)));
        lines.extend(self.links.iter().map(|link| self.ports_of(link).join(" to ")));
        scalepool_ordered::sort(&mut lines);
        lines.join("\n")
    }

    /// Everything that decides what it does, in one spelling: what the hash of a run covers.
    pub fn canonical(&self) -> String {
        let mut lines: Vec<String> = self.resolved.iter().map(|(path, value)| format!("{path} = {value}")).collect();
        for component in &self.components {
            let external = match component.external {
                None => "",
                Some(ExternalComponent::Flits) => " external",
                Some(ExternalComponent::Messages) => " external messages",
            };
            let clock = &self.clocks[component.clock].0;
            lines.push(format!("component.{} is {} on {clock}{external}", component.path, component.kind.name));
        }
        for link in &self.links {
            let [a, b] = self.ports_of(link);
            lines.push(format!("link.{} is {} between {a} and {b}", link.path, link.kind.name));
        }
        scalepool_ordered::sort(&mut lines);
        lines.dedup();
        let mut text = format!("system {}\n", self.name);
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
        text
    }
}
