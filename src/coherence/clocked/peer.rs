//! A device that is a direct peer of another one, in front of a core (`coherence` §3.7).
//!
//! Modelled: a map of addresses that says through which interface a line is reached, so that a line is never held through
//! both; a watch for the lines of each.

use super::accessor::{Caching, CoreOperation, LineRequestOutcome};
use super::coverage::Point;
use super::node::AgentWatch;
use super::watcher::{HomeView, Watched};
use crate::agent::{AgentOutput, AgentPort, Effect};
use crate::config::CoherenceConfig;
use crate::content::{CacheLine, LineAddr};
use crate::event::CoherenceEvent;
use crate::mem::peer::{CACHE, MEM, MemPeer};
use crate::message::Msg;
use crate::monitor::CopyView;
use scalepool_ordered::OrderedSet;
use scalepool_trace::Stamp;

/// First line of the memory that is reached directly; those below it are the host's.
pub const DIRECT: LineAddr = LineAddr(1 << 40);

/// Whether a line is reached directly.
pub fn is_direct(line: LineAddr) -> bool {
    line >= DIRECT
}

impl MemPeer<CacheLine> {
    /// What an interface does for a core leaves through its port.
    fn through<R>(
        &mut self,
        line: LineAddr,
        out: &mut AgentOutput<CacheLine>,
        does: impl FnOnce(&mut dyn Caching, &mut AgentOutput<CacheLine>) -> R,
    ) -> R {
        let mut own = AgentOutput::default();
        let (port, result) = match is_direct(line) {
            true => (MEM, does(&mut self.mem, &mut own)),
            false => (CACHE, does(&mut self.cache, &mut own)),
        };
        out.sends.extend(own.sends.into_iter().map(|(_, msg)| (port, msg)));
        out.events.append(&mut own.events);
        out.effects.append(&mut own.effects);
        result
    }
}

impl Caching for MemPeer<CacheLine> {
    fn value(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        out: &mut AgentOutput<CacheLine>,
    ) -> Option<CacheLine> {
        self.through(line, out, |agent, out| agent.value(config, line, out))
    }

    fn store(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        bytes: &CacheLine,
        enables: u64,
        out: &mut AgentOutput<CacheLine>,
    ) -> bool {
        self.through(line, out, |agent, out| agent.store(config, line, bytes, enables, out))
    }

    fn ask(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        act: &CoreOperation,
        out: &mut AgentOutput<CacheLine>,
    ) -> LineRequestOutcome {
        self.through(line, out, |agent, out| agent.ask(config, line, act, out))
    }

    fn ask_to_own(&mut self, config: &CoherenceConfig, line: LineAddr, out: &mut AgentOutput<CacheLine>) {
        self.through(line, out, |agent, out| agent.ask_to_own(config, line, out));
    }

    fn evict(&mut self, config: &CoherenceConfig, line: LineAddr, out: &mut AgentOutput<CacheLine>) -> bool {
        self.through(line, out, |agent, out| agent.evict(config, line, out))
    }

    fn lines(&self) -> Vec<LineAddr> {
        let mut lines = Caching::lines(&self.cache);
        lines.extend(Caching::lines(&self.mem));
        lines
    }
}

impl Watched for MemPeer<CacheLine> {
    fn copy(&self, config: &CoherenceConfig, line: LineAddr) -> Option<CopyView<CacheLine>> {
        match is_direct(line) {
            true => Watched::copy(&self.mem, config, line),
            false => Watched::copy(&self.cache, config, line),
        }
    }

    fn home(&self, _: LineAddr) -> Option<HomeView> {
        None
    }

    fn early(&self, line: LineAddr) -> Option<CacheLine> {
        if is_direct(line) { self.mem.early(line) } else { self.cache.early(line) }
    }

    fn lines_of(&self, msg: &Msg<CacheLine>) -> Vec<LineAddr> {
        if msg.class().is_mem() { self.mem.lines_of(msg) } else { self.cache.lines_of(msg) }
    }

    fn row(&self, msg: &Msg<CacheLine>) -> Option<Point> {
        if msg.class().is_mem() { self.mem.row(msg) } else { self.cache.row(msg) }
    }
}

/// The watches of a peer: of the host's lines, of those that it reaches directly.
pub struct Divided<A> {
    /// Of the host's lines.
    pub cache: Option<Box<dyn AgentWatch<A>>>,
    /// Of the other device's lines.
    pub mem: Option<Box<dyn AgentWatch<A>>>,
}

impl<A> Divided<A> {
    fn of(&mut self, port: AgentPort) -> Option<&mut Box<dyn AgentWatch<A>>> {
        if port == MEM { self.mem.as_mut() } else { self.cache.as_mut() }
    }

    fn all(&self) -> impl Iterator<Item = &dyn AgentWatch<A>> {
        [&self.cache, &self.mem].into_iter().flatten().map(|watch| &**watch)
    }
}

impl<A> AgentWatch<A> for Divided<A> {
    fn step(
        &mut self,
        node: usize,
        agent: &A,
        effects: &[Effect<CacheLine>],
        worked: &[LineAddr],
        at: Stamp,
    ) -> Vec<CoherenceEvent> {
        let mut events = Vec::new();
        for port in [CACHE, MEM] {
            let own = |line: &LineAddr| is_direct(*line) == (port == MEM);
            let effects: Vec<_> = effects.iter().filter(|e| own(&e.line())).cloned().collect();
            let worked: Vec<_> = worked.iter().filter(|l| own(l)).copied().collect();
            events.extend(self.of(port).into_iter().flat_map(|w| w.step(node, agent, &effects, &worked, at)));
        }
        events
    }

    fn waits(&mut self, node: usize, port: AgentPort, msg: &Msg<CacheLine>) {
        if let Some(watch) = self.of(port) {
            watch.waits(node, port, msg);
        }
    }

    fn before(&mut self, agent: &A, msg: &Msg<CacheLine>) {
        let port = if msg.class().is_mem() { MEM } else { CACHE };
        if let Some(watch) = self.of(port) {
            watch.before(agent, msg);
        }
    }

    fn met(&self) -> OrderedSet<Point> {
        self.all().flat_map(AgentWatch::met).collect()
    }

    fn has_stopped(&self) -> bool {
        self.all().any(AgentWatch::has_stopped)
    }

    fn message(&mut self, node: usize, port: AgentPort, msg: &Msg<CacheLine>, taken: bool, at: Stamp) {
        if let Some(watch) = self.of(port) {
            watch.message(node, port, msg, taken, at);
        }
    }
}
