//! A device with memory that only one home uses: CXL.mem without coherence (HDM-H).

use super::{Deed, Part};
use crate::systems::setup::AgentSite;
use scalepool_coherence::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
use scalepool_coherence::content::{LineAddr, LineToken};
use scalepool_coherence::mem::HdmH;
use scalepool_coherence::message::Msg;
use std::collections::BTreeMap;

/// The agent, with the lines that were written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MemoryPart(HdmH<LineToken>);

impl Default for MemoryPart {
    fn default() -> Self {
        Self(HdmH::new())
    }
}

impl MemoryPart {
    /// Its value of a line.
    pub(in crate::systems) fn value(&self, line: LineAddr) -> LineToken {
        self.0.memory(line)
    }

    /// Memory with this value of a line, for the start.
    pub(in crate::systems) fn preset(&mut self, line: LineAddr, value: LineToken) {
        let mut lines: BTreeMap<LineAddr, LineToken> = self.0.backing().clone();
        lines.insert(line, value);
        self.0 = HdmH::over(lines);
    }
}

impl Part for MemoryPart {
    fn ports(&self) -> AgentPort {
        1
    }

    fn accepts(&self, site: AgentSite<'_>, port: AgentPort, msg: &Msg<LineToken>) -> Accept {
        self.0.accepts(site.config(), port, msg)
    }

    fn act(&mut self, site: AgentSite<'_>, deed: &Deed, way: u8, out: &mut AgentOutput<LineToken>) {
        if let Deed::Took(port, msg) = *deed {
            self.0.take(site.config(), port, msg, way, out);
        }
    }

    fn settle(&mut self, _: &Effect<LineToken>, settle: &mut dyn FnMut(&mut LineToken)) {
        self.0.visit(settle);
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut LineToken)) {
        self.0.visit(f);
    }

    fn is_idle(&self) -> bool {
        true
    }
}
