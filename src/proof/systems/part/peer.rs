//! A caching device that is a direct peer of a device with HDM-DB: two interfaces, each with the lines of its own home.

use super::{CacheDevicePart, Deed, MemHostPart, Operation, Part, ProgramPlace};
use crate::explore::{Awaited, Fairness};
use crate::systems::composite::Composite;
use crate::systems::setup::AgentSite;
use scalepool_coherence::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
use scalepool_coherence::content::{LineAddr, LineToken};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::mem::peer::{CACHE, MEM, MemPeer};
use scalepool_coherence::message::Msg;
use scalepool_coherence::monitor::CopyView;

/// The agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DirectPeer {
    /// Lines of the host.
    pub cache: CacheDevicePart,
    /// Lines of the other device.
    pub mem: MemHostPart,
}

/// Whether a line is reached through CXL.mem.
fn is_direct(site: AgentSite<'_>, line: LineAddr) -> bool {
    site.through(MEM).lines().contains(&line)
}

impl DirectPeer {
    /// A peer without copies; `id` names it in events.
    pub fn new(id: AgentPort) -> Self {
        Self { cache: CacheDevicePart::default(), mem: MemHostPart::new(id) }
    }

    /// What an interface sends leaves through its port.
    fn through<R>(
        out: &mut AgentOutput<LineToken>,
        port: AgentPort,
        does: impl FnOnce(&mut AgentOutput<LineToken>) -> R,
    ) -> R {
        let first = out.sends.len();
        let result = does(out);
        out.sends[first..].iter_mut().for_each(|(of, _)| *of = port);
        result
    }
}

impl Part for DirectPeer {
    fn ports(&self) -> AgentPort {
        2
    }

    fn accepts(&self, site: AgentSite<'_>, port: AgentPort, msg: &Msg<LineToken>) -> Accept {
        if port == MEM { self.mem.accepts(site, 0, msg) } else { self.cache.accepts(site, 0, msg) }
    }

    fn ways(&self, site: AgentSite<'_>, port: AgentPort, msg: &Msg<LineToken>) -> u8 {
        if port == MEM { self.mem.ways(site, 0, msg) } else { self.cache.ways(site, 0, msg) }
    }

    fn act(&mut self, site: AgentSite<'_>, deed: &Deed, way: u8, out: &mut AgentOutput<LineToken>) {
        match *deed {
            Deed::Took(port, msg) => {
                let mut peer = MemPeer { cache: self.cache.0.clone(), mem: self.mem.agent.clone() };
                peer.take(site.config(), port, msg, way, out);
                (self.cache.0, self.mem.agent) = (peer.cache, peer.mem);
            }
            Deed::Began(operation) if operation.line().is_some_and(|line| is_direct(site, line)) => {
                Self::through(out, MEM, |out| self.mem.act(site.through(MEM), deed, way, out));
            }
            Deed::Began(_) => Self::through(out, CACHE, |out| self.cache.act(site.through(CACHE), deed, way, out)),
        }
    }

    fn operations(&self, system: &Composite, site: AgentSite<'_>, out: &mut Vec<Operation>) {
        self.cache.operations(system, site.through(CACHE), out);
        self.mem.operations(system, site.through(MEM), out);
    }

    fn fairness(&self, operation: Operation) -> Fairness {
        self.mem.fairness(operation)
    }

    fn follow_up(&mut self, site: AgentSite<'_>, out: &mut AgentOutput<LineToken>) -> bool {
        Self::through(out, MEM, |out| self.mem.follow_up(site.through(MEM), out))
    }

    fn check_step(
        &self,
        site: AgentSite<'_>,
        before: &Self,
        deed: &Deed,
        out: &AgentOutput<LineToken>,
        events: &mut Vec<CoherenceEvent>,
    ) {
        let of_mem = match deed {
            Deed::Took(port, _) => *port == MEM,
            Deed::Began(operation) => operation.line().is_some_and(|line| is_direct(site, line)),
        };
        if of_mem {
            self.mem.check_step(site.through(MEM), &before.mem, deed, out, events);
        } else {
            self.cache.check_step(site.through(CACHE), &before.cache, deed, out, events);
        }
    }

    fn gives_up(&mut self, site: AgentSite<'_>) {
        self.cache.gives_up(site);
        self.mem.gives_up(site);
    }

    fn check_after(&mut self, site: AgentSite<'_>, events: &mut Vec<CoherenceEvent>) {
        self.mem.check_after(site.through(MEM), events);
    }

    fn store_enables(&self, site: AgentSite<'_>, line: LineAddr) -> u64 {
        if is_direct(site, line) { self.mem.store_enables(site, line) } else { self.cache.store_enables(site, line) }
    }

    fn placed(&self, effect: &Effect<LineToken>) -> Option<LineToken> {
        self.cache.placed(effect).or(self.mem.placed(effect))
    }

    fn settle(&mut self, effect: &Effect<LineToken>, settle: &mut dyn FnMut(&mut LineToken)) {
        self.cache.settle(effect, settle);
        self.mem.settle(effect, settle);
    }

    fn used(
        &mut self,
        site: AgentSite<'_>,
        line: LineAddr,
        used: (LineToken, bool),
        newest: LineToken,
    ) -> Option<CoherenceEvent> {
        if is_direct(site, line) { None } else { self.cache.used(site, line, used, newest) }
    }

    fn refused(&mut self, line: LineAddr) {
        self.mem.refused(line);
    }

    fn done(&mut self, line: LineAddr) {
        self.mem.done(line);
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut LineToken)) {
        self.cache.visit(f);
        self.mem.visit(f);
    }

    fn copy(&self, site: AgentSite<'_>, line: LineAddr) -> Option<CopyView<LineToken>> {
        self.cache.copy(site, line).or_else(|| self.mem.copy(site, line))
    }

    fn kept(&self, site: AgentSite<'_>, line: LineAddr) -> Vec<LineToken> {
        if is_direct(site, line) { self.mem.kept(site, line) } else { self.cache.kept(site, line) }
    }

    fn waits(&self, site: AgentSite<'_>, place: Option<ProgramPlace>, wait: &mut dyn FnMut(Awaited, Option<LineAddr>)) {
        self.cache.waits(site.through(CACHE), place, wait);
        self.mem.waits(site.through(MEM), place, wait);
    }

    fn is_idle(&self) -> bool {
        self.cache.is_idle() && self.mem.is_idle()
    }
}
