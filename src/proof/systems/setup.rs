//! What a system is made of: agents, links between their ports, and lines, each with its home.
//!
//! Modelled: which agent reaches which over which link, and what each may do. Detail: a link carries one protocol between one
//! home and one holder of its lines, which is what the ordering rules speak of: of two protocols on one wire, or of two
//! devices behind one switch, no message waits for one of the other. Left out: time, flits, credits.
//!
//! A walk: [`Setup::new`] follows every port to the agent behind it, through switches, and notes who holds the lines of whom. A
//! port that leads nowhere or two ends that do not fit are refused, with their names.

use super::menu::{Menu, ProgramOperation};
use super::part::Member;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{Age, LineAddr, LineContent, LineToken};
use scalepool_coherence::ids::{AgentPort, IdSet};
use scalepool_coherence::message::Dir;

/// Most lines of a system: what a search knows of a line's poison is a bit of 32.
pub const MOST_LINES: usize = 32;

/// An agent of a description.
#[derive(Debug, Clone)]
pub struct AgentDescription {
    /// Its name, the column of a chart.
    pub name: String,
    /// What it is, in its first state.
    pub member: Member,
    /// Choices of the specification that are left to it.
    pub config: CoherenceConfig,
    /// Its program; empty where agents are free.
    pub program: Vec<ProgramOperation>,
    /// Whether its stores and writes are poisoned.
    pub poisons: bool,
}

/// A system as data.
#[derive(Debug, Clone)]
pub struct SystemDescription {
    /// The agents.
    pub agents: Vec<AgentDescription>,
    /// Links: agent and port of the upstream end, whose messages go down, and of the other one.
    pub links: Vec<[(usize, AgentPort); 2]>,
    /// The home of each line, an agent.
    pub lines: Vec<usize>,
    /// What free agents may do.
    pub menu: Menu,
    /// Whether programs run; otherwise the agents are free.
    pub programs: bool,
    /// Check every step (V5 to V8) too, not only states and values.
    pub orders: bool,
}

/// A description that is no system.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: found {found}, expected {expected}")]
pub struct DescriptionError {
    /// The agent or line.
    pub at: String,
    /// What was found.
    pub found: String,
    /// What may be there.
    pub expected: String,
}

fn refused<T>(at: impl ToString, found: impl ToString, expected: impl ToString) -> Result<T, DescriptionError> {
    Err(DescriptionError { at: at.to_string(), found: found.to_string(), expected: expected.to_string() })
}

/// A system that was followed from port to port. It does not change during a search.
#[derive(Debug, Clone)]
pub struct Setup {
    pub(super) names: Vec<String>,
    configs: Vec<CoherenceConfig>,
    pub(super) programs: Vec<Vec<ProgramOperation>>,
    pub(super) poisoners: IdSet,
    pub(super) links: Vec<[(usize, AgentPort); 2]>,
    /// Of each port of each agent the link, and the direction in which it sends.
    ports: Vec<Vec<(usize, Dir)>>,
    /// Of each line its home.
    pub(super) lines: Vec<usize>,
    /// Lines that each agent is home of or may hold.
    own_lines: Vec<Vec<LineAddr>>,
    /// Of those that it may hold, the ones behind each of its ports.
    port_lines: Vec<Vec<Vec<LineAddr>>>,
    /// Of each home the holder behind each port, and the links on the way, those next to the holder first.
    holders: Vec<Vec<PortHolder>>,
    /// Of each home everybody below it, level by level: the agent above, and who stands behind one of its ports.
    below: Vec<Vec<(usize, PortHolder)>>,
    /// Of each home the agent that is its memory, if it has none of its own.
    memories: Vec<Option<usize>>,
    /// Homes whose holders are alike, so that a search may rename them.
    alike: Vec<bool>,
    pub(super) menu: Menu,
    pub(super) runs_programs: bool,
    pub(super) orders: bool,
}

/// Who stands behind a port of a home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PortHolder {
    /// The agent.
    pub agent: usize,
    /// Its port towards the home.
    pub port: AgentPort,
    /// Links between it and the home, its own first, each with the direction towards the holder.
    pub way: Vec<(usize, Dir)>,
}

/// The other direction.
pub(super) fn back(dir: Dir) -> Dir {
    match dir {
        Dir::Down => Dir::Up,
        Dir::Up => Dir::Down,
    }
}

/// The end of a link from which messages of a direction come.
fn sender(dir: Dir) -> usize {
    usize::from(dir == Dir::Up)
}

impl Setup {
    /// Follows the links of a description.
    ///
    /// # Errors
    /// A port without a link or with two; ends that do not fit; a line whose home is none; too many lines.
    pub fn new(description: SystemDescription) -> Result<(Self, Vec<Member>), DescriptionError> {
        let SystemDescription { agents, links, lines, menu, programs, orders } = description;
        if lines.is_empty() || lines.len() > MOST_LINES {
            return refused("lines", format!("{} lines", lines.len()), format!("1 to {MOST_LINES}"));
        }
        let poisoners = (0..).zip(&agents).filter(|(_, a)| a.poisons).map(|(n, _)| n).collect();
        let mut setup = Self {
            names: agents.iter().map(|a| a.name.clone()).collect(),
            configs: agents.iter().map(|a| a.config.clone()).collect(),
            programs: agents.iter().map(|a| a.program.clone()).collect(),
            poisoners,
            ports: Vec::new(),
            own_lines: vec![Vec::new(); agents.len()],
            port_lines: agents.iter().map(|a| vec![Vec::new(); a.member.part().ports().into()]).collect(),
            holders: vec![Vec::new(); agents.len()],
            below: Vec::new(),
            memories: vec![None; agents.len()],
            alike: Vec::new(),
            links,
            lines,
            menu,
            runs_programs: programs,
            orders,
        };
        let members: Vec<Member> = agents.into_iter().map(|a| a.member).collect();
        for (agent, member) in members.iter().enumerate() {
            let ports = (0..member.part().ports()).map(|port| setup.joined(agent, port)).collect::<Result<_, _>>()?;
            setup.ports.push(ports);
        }
        for (n, link) in setup.links.iter().enumerate() {
            for &(agent, port) in link {
                if agent >= members.len() || port >= members[agent].part().ports() {
                    let name = setup.names.get(agent).map_or("?", String::as_str);
                    return refused(format!("link {n}"), format!("port {port} of {name}"), "a port of an agent");
                }
            }
        }
        setup.check_memories(&members)?;
        for (agent, member) in members.iter().enumerate() {
            setup.holders[agent] = (0..member.part().ports_below())
                .map(|port| setup.follow(&members, agent, port))
                .collect::<Result<_, DescriptionError>>()?;
        }
        setup.below = (0..members.len()).map(|home| setup.followed(home)).collect();
        setup.alike = (0..members.len()).map(|home| setup.has_like_holders(&members, home)).collect();
        for (line, &home) in setup.lines.iter().enumerate() {
            if !members.get(home).is_some_and(Member::is_home) {
                return refused(format!("line {line}"), "a home that owns no lines", "an agent that owns lines");
            }
            let line = LineAddr(line as u64);
            setup.own_lines[home].push(line);
            for (_, holder) in &setup.below[home] {
                setup.own_lines[holder.agent].push(line);
                setup.port_lines[holder.agent][usize::from(holder.port)].push(line);
            }
        }
        Ok((setup, members))
    }

    /// The link of a port, and the direction in which the port sends.
    fn joined(&self, agent: usize, port: AgentPort) -> Result<(usize, Dir), DescriptionError> {
        let ends = self.links.iter().enumerate().flat_map(|(n, ends)| [(n, Dir::Down, ends[0]), (n, Dir::Up, ends[1])]);
        let mut own = ends.filter(|(_, _, end)| *end == (agent, port));
        match (own.next(), own.next()) {
            (Some((link, dir, _)), None) => Ok((link, dir)),
            (found, _) => {
                let found = if found.is_none() { "no link" } else { "two links" };
                refused(&self.names[agent], format!("{found} at port {port}"), "one link at each port")
            }
        }
    }

    /// Finds the memory of each home that has none of its own. A link joins a memory and the port for one, or neither.
    fn check_memories(&mut self, members: &[Member]) -> Result<(), DescriptionError> {
        for ends in &self.links {
            let is_memory = ends.map(|(agent, _)| matches!(members[agent], Member::Memory(_)));
            let asks = ends.map(|(agent, port)| members[agent].part().memory_port() == Some(port));
            match (is_memory, asks) {
                ([false, false], [false, false]) => {}
                ([false, true], [true, false]) => self.memories[ends[0].0] = Some(ends[1].0),
                _ => {
                    // Named is the end that is not as the other one needs it.
                    let at = usize::from(is_memory[1] || asks[0] && !asks[1]);
                    let (own, other) = (ends[at].0, ends[1 - at].0);
                    let found = format!("{} behind its port {}", self.names[other], ends[at].1);
                    let expected =
                        if is_memory[at] { "a home upstream, by its port for a memory" } else { "no memory" };
                    let expected = if asks[at] { "a memory downstream" } else { expected };
                    return refused(&self.names[own], found, expected);
                }
            }
        }
        Ok(())
    }

    /// The agent that is the memory of a home without one of its own.
    pub(super) fn memory_of(&self, home: usize) -> Option<usize> {
        self.memories[home]
    }

    /// Who stands behind a port of a home.
    fn follow(&self, members: &[Member], home: usize, port: AgentPort) -> Result<PortHolder, DescriptionError> {
        let (mut at, mut way) = ((home, port), Vec::new());
        loop {
            let (link, dir) = self.ports[at.0][usize::from(at.1)];
            way.insert(0, (link, dir));
            let (agent, port) = self.links[link][1 - sender(dir)];
            let far = &members[agent];
            match far.part().passes_on(port) {
                Some(next) if way.len() <= members.len() => at = (agent, next),
                Some(_) => return refused(&self.names[home], "switches joined in a circle", "holders of its lines"),
                None if far.fits(&members[home]) => return Ok(PortHolder { agent, port, way }),
                None => {
                    let found = format!("{} behind port {port}", self.names[agent]);
                    return refused(&self.names[home], found, members[home].expected());
                }
            }
        }
    }

    /// Whether the holders of a home, at any level, are alike: of one kind, with one configuration, behind ways of one shape, with no program,
    /// no poison, no direct peer anywhere and no line that is memory of one of them. A device asks all holders at once and numbers its snoops host by host, so no order of hosts is in
    /// what it does; with the rule off that leaves out the first holder there is one.
    fn has_like_holders(&self, members: &[Member], home: usize) -> bool {
        let like = |a: &PortHolder, b: &PortHolder| {
            std::mem::discriminant(&members[a.agent]) == std::mem::discriminant(&members[b.agent])
                && self.configs[a.agent] == self.configs[b.agent]
                && a.way.len() == b.way.len()
                && members[a.agent].part().ports() == 1
        };
        let holders = &self.holders[home];
        members[home].has_level()
            && !self.runs_programs
            && self.poisoners.is_empty()
            && self.configs[home].rules.treats_holders_alike()
            && self.menu.peers.is_empty()
            && self.configs[home].own_memory.is_empty()
            && holders.len() > 1
            && holders.iter().all(|holder| like(holder, &holders[0]))
    }

    /// Homes whose holders are alike.
    pub(super) fn alike(&self) -> impl Iterator<Item = usize> {
        (0..).zip(&self.alike).filter(|(_, alike)| **alike).map(|(home, _)| home)
    }

    /// An agent and what it may know.
    pub(super) fn site(&self, agent: usize) -> AgentSite<'_> {
        AgentSite { setup: self, agent, port: None }
    }

    /// The link of a port, and the direction in which the port sends.
    pub(super) fn port(&self, agent: usize, port: AgentPort) -> (usize, Dir) {
        self.ports[agent][usize::from(port)]
    }

    /// Who takes the messages of a link and direction, and at which of its ports.
    pub(super) fn receiver(&self, link: usize, dir: Dir) -> (usize, AgentPort) {
        self.links[link][1 - sender(dir)]
    }

    /// Who sends them.
    pub(super) fn sender(&self, link: usize, dir: Dir) -> usize {
        self.links[link][sender(dir)].0
    }

    /// Everybody below a home, level by level.
    fn followed(&self, home: usize) -> Vec<(usize, PortHolder)> {
        let mut all: Vec<(usize, PortHolder)> = Vec::new();
        let mut levels = vec![home];
        while let Some(level) = levels.pop() {
            for holder in &self.holders[level] {
                // Ways that meet again are no second ones.
                if all.iter().all(|(_, known)| (known.agent, known.port) != (holder.agent, holder.port)) {
                    all.push((level, holder.clone()));
                    levels.push(holder.agent);
                }
            }
        }
        all
    }

    /// Everybody below a home who may hold its lines: the agent above, and who stands behind one of its ports.
    pub(super) fn below(&self, home: usize) -> &[(usize, PortHolder)] {
        &self.below[home]
    }

    /// Who stands behind the ports of a home, in order.
    pub(super) fn holders(&self, home: usize) -> &[PortHolder] {
        &self.holders[home]
    }

    /// The configuration of an agent.
    pub(super) fn config(&self, agent: usize) -> &CoherenceConfig {
        &self.configs[agent]
    }

    /// All lines.
    pub(super) fn all_lines(&self) -> impl Iterator<Item = LineAddr> + use<> {
        (0..self.lines.len() as u64).map(LineAddr)
    }
}

/// What an agent knows of the system besides its own state.
#[derive(Debug, Clone, Copy)]
pub(super) struct AgentSite<'a> {
    setup: &'a Setup,
    /// Its number.
    pub agent: usize,
    /// The one of its ports that it is about.
    port: Option<AgentPort>,
}

impl<'a> AgentSite<'a> {
    /// Its name.
    pub fn name(self) -> &'a str {
        &self.setup.names[self.agent]
    }

    /// Its configuration.
    pub fn config(self) -> &'a CoherenceConfig {
        self.setup.config(self.agent)
    }

    /// What it may do where it is free.
    pub fn menu(self) -> &'a Menu {
        &self.setup.menu
    }

    /// Lines that it is home of or may hold, of one port those behind it.
    pub fn lines(self) -> &'a [LineAddr] {
        match self.port {
            Some(port) => &self.setup.port_lines[self.agent][usize::from(port)],
            None => &self.setup.own_lines[self.agent],
        }
    }

    /// The same agent as far as one of its ports goes.
    pub fn through(self, port: AgentPort) -> Self {
        Self { port: Some(port), ..self }
    }

    /// The port that it is about.
    pub fn port(self) -> AgentPort {
        self.port.unwrap_or(0)
    }

    /// Its program.
    pub fn program(self) -> &'a [ProgramOperation] {
        &self.setup.programs[self.agent]
    }

    /// Whether its stores are poisoned.
    pub fn poisons(self) -> bool {
        self.setup.poisoners.has(self.agent as AgentPort)
    }

    /// What it stores.
    pub fn new_value(self, line: LineAddr) -> LineToken {
        LineToken::of(line, Age::New).poisoned(self.poisons())
    }

    /// Of a home: whether what comes through a port is poisoned where it is new.
    pub fn holder_poisons(self, port: AgentPort) -> bool {
        let holder = self.setup.holders(self.agent).get(usize::from(port));
        holder.is_some_and(|holder| self.setup.poisoners.has(holder.agent as AgentPort))
    }
}
