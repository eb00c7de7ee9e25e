//! A host of HDM-D.

use super::alu::Alu;
use super::mem_host::{advance, copy, kept, program_wait};
use super::{Deed, Did, Operation, Part, ProgramPlace};
use crate::explore::Awaited;
use crate::systems::composite::Composite;
use crate::systems::setup::AgentSite;
use scalepool_coherence::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
use scalepool_coherence::bias::host::BiasHost;
use scalepool_coherence::content::{LineAddr, LineToken, WHOLE_LINE};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::mem::host::HostAccess;
use scalepool_coherence::mem::tables::Copy4;
use scalepool_coherence::message::Msg;
use scalepool_coherence::monitor::{CopyView, check_bias_host};

/// The agent, and its atomics.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HdmDHostPart(pub BiasHost<LineToken>, Alu);

impl Default for HdmDHostPart {
    fn default() -> Self {
        Self(BiasHost::new(0), Alu::default())
    }
}

impl HdmDHostPart {
    fn store(&mut self, site: AgentSite<'_>, line: LineAddr, out: &mut AgentOutput<LineToken>) {
        self.0.mem.store(site.config(), line, site.new_value(line), WHOLE_LINE, out);
    }
}

impl Part for HdmDHostPart {
    fn ports(&self) -> AgentPort {
        1
    }

    fn accepts(&self, site: AgentSite<'_>, _: AgentPort, msg: &Msg<LineToken>) -> Accept {
        self.0.accepts(site.config(), 0, msg)
    }

    fn ways(&self, site: AgentSite<'_>, _: AgentPort, msg: &Msg<LineToken>) -> u8 {
        if site.config().alternatives { self.0.ways(site.config(), 0, msg) } else { 1 }
    }

    fn act(&mut self, site: AgentSite<'_>, deed: &Deed, way: u8, out: &mut AgentOutput<LineToken>) {
        match *deed {
            Deed::Took(_, msg) => self.0.take(site.config(), 0, msg, way, out),
            Deed::Began(Operation::Read { line, request, want }) => self.0.mem.issue(line, request, want, out),
            Deed::Began(Operation::WriteBack { line, kept }) => self.0.mem.write_back(line, kept, out),
            Deed::Began(Operation::Store { line }) => self.store(site, line, out),
            Deed::Began(Operation::Drop { line }) => self.0.mem.drop_clean(line),
            Deed::Began(Operation::Compute { line }) => {
                self.1.begin(site, line, self.0.mem.load(site.config(), line, out));
            }
            Deed::Began(Operation::StoreResult { line }) => {
                if let Some(data) = self.1.end(line) {
                    self.0.mem.store(site.config(), line, data, 1, out);
                }
            }
            Deed::Began(_) => {}
        }
    }

    fn operations(&self, system: &Composite, site: AgentSite<'_>, out: &mut Vec<Operation>) {
        if system.runs_programs() {
            return;
        }
        let (menu, mem) = (site.menu(), &self.0.mem);
        for &line in site.lines().iter().filter(|line| self.0.is_free(**line)) {
            for &request in menu.requests.iter().filter(|req| mem.can_issue(line, **req)) {
                let wants = if request.asks_ownership() { menu.wants.as_slice() } else { &[HostAccess::Nothing] };
                // A core makes one access to a line at a time.
                let open = wants.iter().filter(|want| **want == HostAccess::Nothing || !self.1.is_at(line));
                out.extend(open.map(|&want| Operation::Read { line, request, want }));
            }
            if mem.can_write_back(line) {
                out.extend(menu.write_backs.iter().map(|&kept| Operation::WriteBack { line, kept }));
            }
            out.extend(self.1.operation(site, line, mem.can_load(line), mem.can_store(line, false)));
            if menu.stores && mem.can_store(line, true) && !self.1.is_at(line) {
                out.push(Operation::Store { line });
            }
            if menu.drops && matches!(mem.copy(line).state, Copy4::S | Copy4::E) {
                out.push(Operation::Drop { line });
            }
        }
    }

    fn follow_up(&mut self, site: AgentSite<'_>, out: &mut AgentOutput<LineToken>) -> bool {
        let line = site.lines().iter().copied().find(|line| self.0.mem.due(*line).stores());
        line.into_iter().for_each(|line| self.store(site, line, out));
        line.is_some()
    }

    fn advance(
        &mut self,
        site: AgentSite<'_>,
        place: &mut ProgramPlace,
        out: &mut AgentOutput<LineToken>,
    ) -> Option<Did> {
        if self.0.is_busy(LineAddr(0)) { None } else { advance(&mut self.0.mem, site, place, out) }
    }

    fn check_step(
        &self,
        _: AgentSite<'_>,
        _: &Self,
        _: &Deed,
        out: &AgentOutput<LineToken>,
        events: &mut Vec<CoherenceEvent>,
    ) {
        check_bias_host(out, &self.0, events);
    }

    fn gives_up(&mut self, site: AgentSite<'_>) {
        self.1.keep(site, |line| self.0.mem.can_store(line, false));
    }

    fn placed(&self, effect: &Effect<LineToken>) -> Option<LineToken> {
        self.0.mem.copy(effect.line()).data
    }

    fn settle(&mut self, effect: &Effect<LineToken>, settle: &mut dyn FnMut(&mut LineToken)) {
        self.0.visit(settle);
        if let Effect::Stored(line) = effect {
            self.1.stored(*line);
        }
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut LineToken)) {
        self.0.visit(f);
        self.1.visit(f);
    }

    fn copy(&self, site: AgentSite<'_>, line: LineAddr) -> Option<CopyView<LineToken>> {
        copy(&self.0.mem, site, line)
    }

    fn kept(&self, site: AgentSite<'_>, line: LineAddr) -> Vec<LineToken> {
        kept(&self.0.mem, site, line)
    }

    fn waits(&self, site: AgentSite<'_>, place: Option<ProgramPlace>, wait: &mut dyn FnMut(Awaited, Option<LineAddr>)) {
        for &line in site.lines().iter().filter(|line| self.0.mem.awaits(**line)) {
            wait(Awaited::Request, Some(line));
        }
        if let Some(awaited) = place.and_then(|place| program_wait(&self.0.mem, site, place)) {
            wait(awaited, Some(LineAddr(0)));
        }
    }

    fn is_idle(&self) -> bool {
        self.0.is_idle()
    }

    fn letter(&self, line: LineAddr) -> Option<char> {
        Some(self.0.mem.copy(line).state.letter())
    }
}
