//! A host whose caching devices hold lines of a device's HDM-DB: a level between.

use super::{Deed, Operation, Part, ProgramPlace, Signature};
use crate::explore::Awaited;
use crate::systems::composite::Composite;
use crate::systems::setup::AgentSite;
use scalepool_coherence::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
use scalepool_coherence::cache::backing::Backing;
use scalepool_coherence::cache::home::Task;
use scalepool_coherence::content::{LineAddr, LineToken};
use scalepool_coherence::mem::HdmHome;
use scalepool_coherence::mem::tables::Copy4;
use scalepool_coherence::message::Msg;
use scalepool_coherence::monitor::CopyView;

/// The agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HdmCacheHome(HdmHome<LineToken>);

impl HdmCacheHome {
    /// A host of so many devices; `id` names it in events.
    pub fn new(devices: AgentPort, id: AgentPort) -> Self {
        Self(HdmHome::new(devices, id))
    }

    /// The agent.
    pub(in crate::systems) fn agent(&self) -> &HdmHome<LineToken> {
        &self.0
    }
}

impl HdmCacheHome {
    pub(super) fn signature(&self, port: AgentPort) -> Signature {
        let (flags, early) = self.0.signature(port);
        (flags, Vec::new(), early.into_iter().map(Option::<&LineToken>::copied).collect())
    }

    pub(super) fn renamed(&mut self, to: &[AgentPort]) {
        self.0.rename(to);
    }
}

impl Part for HdmCacheHome {
    fn ports(&self) -> AgentPort {
        self.0.devices() + 1
    }

    fn ports_below(&self) -> AgentPort {
        self.0.devices()
    }

    fn accepts(&self, site: AgentSite<'_>, port: AgentPort, msg: &Msg<LineToken>) -> Accept {
        self.0.accepts(site.config(), port, msg)
    }

    fn ways(&self, site: AgentSite<'_>, port: AgentPort, msg: &Msg<LineToken>) -> u8 {
        if site.config().alternatives { self.0.ways(site.config(), port, msg) } else { 1 }
    }

    fn act(&mut self, site: AgentSite<'_>, deed: &Deed, way: u8, out: &mut AgentOutput<LineToken>) {
        match *deed {
            Deed::Took(port, msg) => self.0.take(site.config(), port, msg, way, out),
            Deed::Began(Operation::Drop { line }) => self.0.evict(site.config(), line, out),
            Deed::Began(_) => {}
        }
    }

    fn operations(&self, _: &Composite, site: AgentSite<'_>, out: &mut Vec<Operation>) {
        let free = site.lines().iter().filter(|line| site.menu().drops && self.0.can_evict(**line));
        out.extend(free.map(|&line| Operation::Drop { line }));
    }

    /// A device's data.
    fn write_of(&self, site: AgentSite<'_>, deed: &Deed) -> (bool, u64) {
        match *deed {
            Deed::Took(port, Msg::D2hData { uqid, enables, .. }) if self.0.home().pulls(uqid) => {
                (site.holder_poisons(port), enables)
            }
            _ => (false, 1),
        }
    }

    fn placed(&self, effect: &Effect<LineToken>) -> Option<LineToken> {
        Some(self.0.home().memory.read(effect.line()))
    }

    fn settle(&mut self, _: &Effect<LineToken>, settle: &mut dyn FnMut(&mut LineToken)) {
        self.0.visit(settle);
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut LineToken)) {
        self.0.visit(f);
    }

    /// What the devices own is not here, and what they share nobody may store to.
    fn copy(&self, site: AgentSite<'_>, line: LineAddr) -> Option<CopyView<LineToken>> {
        let copy = self.0.host().copy(line);
        let held = self.0.home().holders(line);
        let usable = copy.usable && held.owner.is_none() && !self.0.is_in_use(line);
        let value = copy.data.filter(|_| copy.state != Copy4::I)?;
        let (writable, dirty) = (usable && copy.writable, copy.dirty);
        Some(CopyView { agent: site.agent, usable, writable, dirty, value })
    }

    fn between(&self, line: LineAddr) -> (Copy4, Option<LineToken>) {
        let (copy, memory) = (self.0.host().copy(line), &self.0.home().memory);
        let own = memory.holds(line).then(|| memory.read(line));
        (copy.state, own.or(copy.data))
    }

    /// Data that waits for its answer.
    fn kept(&self, site: AgentSite<'_>, line: LineAddr) -> Vec<LineToken> {
        let open = self.0.home().open().iter().flat_map(|t| t.values());
        let arrived = self.0.host().arrived(line).filter(|_| site.config().mem.cmp_m);
        open.chain(arrived).copied().collect()
    }

    fn waits(&self, site: AgentSite<'_>, _: Option<ProgramPlace>, wait: &mut dyn FnMut(Awaited, Option<LineAddr>)) {
        let own = self.0.home().open().iter().filter(|t| !matches!(t.task, Task::Request { .. }));
        own.for_each(|t| wait(Awaited::Request, Some(t.line)));
        for &line in site.lines().iter().filter(|line| self.0.awaits(**line)) {
            wait(Awaited::Request, Some(line));
        }
    }

    fn is_idle(&self) -> bool {
        self.0.is_idle()
    }
}
