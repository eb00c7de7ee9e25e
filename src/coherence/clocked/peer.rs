//! A device that is a direct peer of another one, in front of a core (`coherence` §3.7).
//!
//! Modelled: a map of addresses that says through which interface a line is reached, so that a line is never held through
//! both; a watch for the lines of each.

use super::accessor::{Act, Asked, Caching};
use super::coverage::Point;
use super::node::Watch;
use super::watcher::{HomeView, Watched};
use crate::agent::{Effect, Out, Port};
use crate::config::CoherenceConfig;
use crate::content::{Line, LineAddr};
use crate::event::Event;
use crate::mem::peer::{CACHE, MEM, Peer};
use crate::message::Msg;
use crate::monitor::CopyView;
use scalepool_trace::Stamp;
use std::collections::BTreeSet;

/// First line of the memory that is reached directly; those below it are the host's.
pub const DIRECT: LineAddr = LineAddr(1 << 40);

/// Whether a line is reached directly.
pub fn is_direct(line: LineAddr) -> bool {
    line >= DIRECT
}

impl Peer<Line> {
    /// What an interface does for a core leaves through its port.
    fn through<R>(
        &mut self,
        line: LineAddr,
        out: &mut Out<Line>,
        does: impl FnOnce(&mut dyn Caching, &mut Out<Line>) -> R,
    ) -> R {
        let mut own = Out::default();
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

impl Caching for Peer<Line> {
    fn value(&mut self, config: &CoherenceConfig, line: LineAddr, out: &mut Out<Line>) -> Option<Line> {
        self.through(line, out, |agent, out| agent.value(config, line, out))
    }

    fn store(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        bytes: &Line,
        enables: u64,
        out: &mut Out<Line>,
    ) -> bool {
        self.through(line, out, |agent, out| agent.store(config, line, bytes, enables, out))
    }

    fn ask(&mut self, config: &CoherenceConfig, line: LineAddr, act: &Act, out: &mut Out<Line>) -> Asked {
        self.through(line, out, |agent, out| agent.ask(config, line, act, out))
    }

    fn evict(&mut self, config: &CoherenceConfig, line: LineAddr, out: &mut Out<Line>) -> bool {
        self.through(line, out, |agent, out| agent.evict(config, line, out))
    }

    fn lines(&self) -> Vec<LineAddr> {
        let mut lines = Caching::lines(&self.cache);
        lines.extend(Caching::lines(&self.mem));
        lines
    }
}

impl Watched for Peer<Line> {
    fn copy(&self, config: &CoherenceConfig, line: LineAddr) -> Option<CopyView<Line>> {
        match is_direct(line) {
            true => Watched::copy(&self.mem, config, line),
            false => Watched::copy(&self.cache, config, line),
        }
    }

    fn home(&self, _: LineAddr) -> Option<HomeView> {
        None
    }

    fn early(&self, line: LineAddr) -> Option<Line> {
        if is_direct(line) { self.mem.early(line) } else { self.cache.early(line) }
    }

    fn lines_of(&self, msg: &Msg<Line>) -> Vec<LineAddr> {
        if msg.class().is_mem() { self.mem.lines_of(msg) } else { self.cache.lines_of(msg) }
    }

    fn row(&self, msg: &Msg<Line>) -> Option<Point> {
        if msg.class().is_mem() { self.mem.row(msg) } else { self.cache.row(msg) }
    }
}

/// The watches of a peer: of the host's lines, of those that it reaches directly.
pub struct Divided<A> {
    /// Of the host's lines.
    pub cache: Option<Box<dyn Watch<A>>>,
    /// Of the other device's lines.
    pub mem: Option<Box<dyn Watch<A>>>,
}

impl<A> Divided<A> {
    fn of(&mut self, port: Port) -> Option<&mut Box<dyn Watch<A>>> {
        if port == MEM { self.mem.as_mut() } else { self.cache.as_mut() }
    }

    fn all(&self) -> impl Iterator<Item = &dyn Watch<A>> {
        [&self.cache, &self.mem].into_iter().flatten().map(|watch| &**watch)
    }
}

impl<A> Watch<A> for Divided<A> {
    fn step(&mut self, node: usize, agent: &A, effects: &[Effect<Line>], worked: &[LineAddr], at: Stamp) -> Vec<Event> {
        let mut events = Vec::new();
        for port in [CACHE, MEM] {
            let own = |line: &LineAddr| is_direct(*line) == (port == MEM);
            let effects: Vec<_> = effects.iter().filter(|e| own(&e.line())).cloned().collect();
            let worked: Vec<_> = worked.iter().filter(|l| own(l)).copied().collect();
            events.extend(self.of(port).into_iter().flat_map(|w| w.step(node, agent, &effects, &worked, at)));
        }
        events
    }

    fn waits(&mut self, node: usize, port: Port, msg: &Msg<Line>) {
        if let Some(watch) = self.of(port) {
            watch.waits(node, port, msg);
        }
    }

    fn before(&mut self, agent: &A, msg: &Msg<Line>) {
        let port = if msg.class().is_mem() { MEM } else { CACHE };
        if let Some(watch) = self.of(port) {
            watch.before(agent, msg);
        }
    }

    fn met(&self) -> BTreeSet<Point> {
        self.all().flat_map(Watch::met).collect()
    }

    fn has_stopped(&self) -> bool {
        self.all().any(Watch::has_stopped)
    }

    fn message(&mut self, node: usize, port: Port, msg: &Msg<Line>, taken: bool, at: Stamp) {
        if let Some(watch) = self.of(port) {
            watch.message(node, port, msg, taken, at);
        }
    }
}
