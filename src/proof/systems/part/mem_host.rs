//! A host of HDM-DB, or a device that is a direct peer, with a core that may wait for its accesses.

use super::alu::Alu;
use super::{Deed, Did, Operation, Part, ProgramPlace};
use crate::explore::{Awaited, Fairness};
use crate::systems::composite::Composite;
use crate::systems::menu::ProgramOperation;
use crate::systems::setup::AgentSite;
use scalepool_coherence::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{LineAddr, LineContent, LineToken, WHOLE_LINE};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::mem::host::{HostAccess, HostReq, MemHost};
use scalepool_coherence::mem::host_rows::Phase;
use scalepool_coherence::mem::tables::Copy4;
use scalepool_coherence::message::Msg;
use scalepool_coherence::monitor::{CopyView, MemHostWatch};
use scalepool_protocols::cxl::cxl256::code::M2sReqOpcode;

/// The agent, and what the search knows of its core.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MemHostPart {
    /// The agent.
    pub agent: MemHost<LineToken>,
    /// Lines with a store that waits to be made, and those of them that were granted and have not been used.
    wanting: IdSet,
    unused: IdSet,
    /// Lines with a load that waits to be made.
    loading: IdSet,
    /// What the core has computed.
    alu: Alu,
}

impl MemHostPart {
    /// A host without copies; `id` names it in events.
    pub fn new(id: AgentPort) -> Self {
        let (wanting, unused, loading) = (IdSet::EMPTY, IdSet::EMPTY, IdSet::EMPTY);
        Self { agent: MemHost::new(id), wanting, unused, loading, alu: Alu::default() }
    }

    /// The access that waits.
    fn want(&self, line: LineAddr) -> HostAccess {
        if self.wanting.has(line.0 as AgentPort) {
            HostAccess::Store
        } else if self.loading.has(line.0 as AgentPort) {
            HostAccess::Load
        } else {
            HostAccess::Nothing
        }
    }

    /// The core makes an access.
    fn access(&mut self, site: AgentSite<'_>, line: LineAddr, stores: bool, out: &mut AgentOutput<LineToken>) {
        if stores {
            self.agent.store(site.config(), line, site.new_value(line), WHOLE_LINE, out);
            self.wanting.remove(line.0 as AgentPort);
        } else {
            self.agent.load(site.config(), line, out);
            self.loading.remove(line.0 as AgentPort);
        }
    }

    /// Whether a hint may be sent: it changes nothing, so one under way is enough.
    fn may_hint(&self, system: &Composite, site: AgentSite<'_>, line: LineAddr) -> bool {
        let hint = |m: &&Msg<LineToken>| matches!(m, Msg::M2sReq { opcode: M2sReqOpcode::MemSpecRd, .. });
        self.agent.copy(line).state == Copy4::I && system.sent(site.agent, site.port()).iter().find(hint).is_none()
    }
}

impl Part for MemHostPart {
    fn ports(&self) -> AgentPort {
        1
    }

    fn accepts(&self, site: AgentSite<'_>, _: AgentPort, msg: &Msg<LineToken>) -> Accept {
        self.agent.accepts(site.config(), 0, msg)
    }

    fn ways(&self, site: AgentSite<'_>, _: AgentPort, msg: &Msg<LineToken>) -> u8 {
        if site.config().alternatives { self.agent.ways(site.config(), 0, msg) } else { 1 }
    }

    fn act(&mut self, site: AgentSite<'_>, deed: &Deed, way: u8, out: &mut AgentOutput<LineToken>) {
        match *deed {
            Deed::Took(_, msg) => self.agent.take(site.config(), 0, msg, way, out),
            Deed::Began(Operation::Read { line, request, want }) => {
                self.agent.issue(line, request, want, out);
                match want {
                    HostAccess::Store | HostAccess::StorePart => self.wanting.insert(line.0 as AgentPort),
                    HostAccess::Load => self.loading.insert(line.0 as AgentPort),
                    HostAccess::Nothing => {}
                }
            }
            Deed::Began(Operation::WriteBack { line, kept }) => self.agent.write_back(line, kept, out),
            Deed::Began(Operation::Store { line }) => self.access(site, line, true, out),
            Deed::Began(Operation::Load { line }) => self.access(site, line, false, out),
            Deed::Began(Operation::Drop { line }) => self.agent.drop_clean(line),
            Deed::Began(Operation::Compute { line }) => {
                self.alu.begin(site, line, self.agent.load(site.config(), line, out));
            }
            Deed::Began(Operation::StoreResult { line }) => {
                if let Some(data) = self.alu.end(line) {
                    self.agent.store(site.config(), line, data, 1, out);
                }
            }
            Deed::Began(_) => {}
        }
    }

    fn operations(&self, system: &Composite, site: AgentSite<'_>, out: &mut Vec<Operation>) {
        if system.place(site.agent).is_some() {
            return;
        }
        let (menu, agent) = (site.menu(), &self.agent);
        for &line in site.lines() {
            for &request in &menu.requests {
                if request.opcode == M2sReqOpcode::MemSpecRd {
                    if self.may_hint(system, site, line) {
                        out.push(Operation::Read { line, request, want: HostAccess::Nothing });
                    }
                } else if agent.can_issue(line, request) {
                    let waits = self.want(line);
                    let wants = if request.asks_ownership() { menu.wants.as_slice() } else { &[HostAccess::Nothing] };
                    // A core makes one access to a line at a time.
                    let is_free = |w: &HostAccess| *w == HostAccess::Nothing || !self.alu.is_at(line);
                    let open = wants.iter().filter(|w| waits == HostAccess::Nothing || **w == waits);
                    let open = open.filter(|w| is_free(w));
                    out.extend(open.map(|&want| Operation::Read { line, request, want }));
                }
            }
            if agent.can_write_back(line) {
                out.extend(menu.write_backs.iter().map(|&kept| Operation::WriteBack { line, kept }));
            }
            let (loads, stores) = (agent.can_load(line), agent.can_store(line, false));
            let atomic = self.alu.operation(site, line, loads, stores);
            out.extend(atomic.filter(|_| self.want(line) == HostAccess::Nothing));
            if menu.stores && agent.can_store(line, true) && !self.alu.is_at(line) {
                out.push(Operation::Store { line });
            }
            if self.want(line) == HostAccess::Load && agent.can_load(line) {
                out.push(Operation::Load { line });
            }
            let clean = matches!(agent.copy(line).state, Copy4::S | Copy4::E);
            if menu.drops && clean && agent.phase(line) == Phase::Idle {
                out.push(Operation::Drop { line });
            }
        }
    }

    /// What it does for an access that waits already is owed weakly.
    fn fairness(&self, operation: Operation) -> Fairness {
        match operation {
            Operation::Load { .. } => Fairness::Weak,
            Operation::Read { line, want, .. } if want != HostAccess::Nothing && self.want(line) == want => {
                Fairness::Weak
            }
            Operation::Store { line } if self.want(line) == HostAccess::Store => Fairness::Weak,
            _ => Fairness::Optional,
        }
    }

    fn follow_up(&mut self, site: AgentSite<'_>, out: &mut AgentOutput<LineToken>) -> bool {
        let due = site.lines().iter().map(|line| (*line, self.agent.due(*line)));
        let Some((line, access)) = due.into_iter().find(|(_, access)| *access != HostAccess::Nothing) else {
            return false;
        };
        self.access(site, line, access.stores(), out);
        true
    }

    fn advance(
        &mut self,
        site: AgentSite<'_>,
        place: &mut ProgramPlace,
        out: &mut AgentOutput<LineToken>,
    ) -> Option<Did> {
        advance(&mut self.agent, site, place, out)
    }

    fn check_step(
        &self,
        site: AgentSite<'_>,
        before: &Self,
        deed: &Deed,
        out: &AgentOutput<LineToken>,
        events: &mut Vec<CoherenceEvent>,
    ) {
        let took = match deed {
            Deed::Took(_, msg) => Some(msg),
            Deed::Began(Operation::Drop { .. }) => return,
            Deed::Began(_) => None,
        };
        let first = events.len();
        MemHostWatch { before: &before.agent, out, after: &self.agent }.check(took, events);
        events[first..].iter_mut().for_each(|event| event.at = site.name().to_owned());
    }

    fn gives_up(&mut self, site: AgentSite<'_>) {
        self.alu.keep(site, |line| self.agent.can_store(line, false));
    }

    /// A grant that was taken away before its access: V10.
    fn check_after(&mut self, site: AgentSite<'_>, events: &mut Vec<CoherenceEvent>) {
        for &line in site.lines() {
            if !self.wanting.has(line.0 as AgentPort) {
                self.unused.remove(line.0 as AgentPort);
            } else if self.unused.has(line.0 as AgentPort) && self.agent.copy(line).state < Copy4::E {
                let found = "a granted line given up before the store it was granted for";
                for rule in ["COH-INV-10", "COH-BIC-12"] {
                    events.push(CoherenceEvent::new(rule, line, site.name(), found, "at least one access"));
                }
            }
        }
    }

    fn placed(&self, effect: &Effect<LineToken>) -> Option<LineToken> {
        self.agent.copy(effect.line()).data
    }

    fn settle(&mut self, effect: &Effect<LineToken>, settle: &mut dyn FnMut(&mut LineToken)) {
        self.agent.visit(settle);
        if let Effect::Stored(line) = effect {
            self.alu.stored(*line);
        }
    }

    /// The access that waits is not made.
    fn refused(&mut self, line: LineAddr) {
        for lines in [&mut self.wanting, &mut self.unused, &mut self.loading] {
            lines.remove(line.0 as AgentPort);
        }
    }

    fn done(&mut self, line: LineAddr) {
        if self.agent.copy(line).state >= Copy4::E && self.wanting.has(line.0 as AgentPort) {
            self.unused.insert(line.0 as AgentPort);
        }
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut LineToken)) {
        self.agent.visit(f);
        self.alu.visit(f);
    }

    fn copy(&self, site: AgentSite<'_>, line: LineAddr) -> Option<CopyView<LineToken>> {
        copy(&self.agent, site, line)
    }

    fn kept(&self, site: AgentSite<'_>, line: LineAddr) -> Vec<LineToken> {
        kept(&self.agent, site, line)
    }

    fn waits(&self, site: AgentSite<'_>, place: Option<ProgramPlace>, wait: &mut dyn FnMut(Awaited, Option<LineAddr>)) {
        for &line in site.lines() {
            if self.agent.awaits(line) {
                wait(Awaited::Request, Some(line));
            }
            match self.want(line) {
                HostAccess::Load => wait(Awaited::Load, Some(line)),
                HostAccess::Store | HostAccess::StorePart => wait(Awaited::Store, Some(line)),
                HostAccess::Nothing => {}
            }
        }
        if let Some(awaited) = place.and_then(|place| program_wait(&self.agent, site, place)) {
            wait(awaited, Some(LineAddr(0)));
        }
    }

    fn is_idle(&self) -> bool {
        self.agent.is_idle()
    }

    fn letter(&self, line: LineAddr) -> Option<char> {
        Some(self.agent.copy(line).state.letter())
    }

    fn knows_port(&self) -> bool {
        true
    }

    fn behind(&mut self, port: AgentPort) {
        self.agent.rename(port);
    }
}

/// The copy of a host.
pub(super) fn copy(agent: &MemHost<LineToken>, site: AgentSite<'_>, line: LineAddr) -> Option<CopyView<LineToken>> {
    let copy = agent.copy(line);
    let value = copy.data.unwrap_or_else(LineToken::ones);
    let (usable, writable, dirty) = (copy.usable, copy.writable, copy.dirty);
    (copy.state != Copy4::I).then_some(CopyView { agent: site.agent, usable, writable, dirty, value })
}

/// Data that has come with Cmp-M and waits for its other half.
pub(super) fn kept(agent: &MemHost<LineToken>, site: AgentSite<'_>, line: LineAddr) -> Vec<LineToken> {
    agent.arrived(line).filter(|_| site.config().mem.cmp_m).copied().into_iter().collect()
}

/// One step of a host's program on line 0. A store that lost its ownership asks again.
pub(super) fn advance(
    host: &mut MemHost<LineToken>,
    site: AgentSite<'_>,
    place: &mut ProgramPlace,
    out: &mut AgentOutput<LineToken>,
) -> Option<Did> {
    let (line, config, program) = (LineAddr(0), site.config(), site.program());
    let next = usize::from(place.0);
    // An access waits for the end of the request before it, also where the old copy would allow it.
    let may_access = host.phase(line) == Phase::Idle || host.due(line) != HostAccess::Nothing;
    let (text, loaded) = match *program.get(next)? {
        ProgramOperation::Load | ProgramOperation::Store if !may_access => return None,
        ProgramOperation::Mem(req) if host.can_issue(line, req) => {
            host.issue(line, req, ProgramOperation::want(program.get(next + 1)), out);
            *place = (place.0 + 1, req.asks_ownership() || place.1 && req != HostReq::CLN_EVCT);
            (req.opcode.name()?, None)
        }
        ProgramOperation::WriteBack if host.can_write_back(line) => {
            host.write_back(line, Copy4::I, out);
            *place = (place.0 + 1, false);
            ("MemWr", None)
        }
        ProgramOperation::Load if host.can_load(line) => {
            let poison = host.load(config, line, out).is_some_and(|value| value.poison);
            place.0 += 1;
            (if poison { "Load, poisoned" } else { "Load" }, Some(poison))
        }
        ProgramOperation::Store if host.store(config, line, site.new_value(line), WHOLE_LINE, out) => {
            place.0 += 1;
            ("Store", None)
        }
        // Ownership that was refused is not lost: the store waits for ever.
        ProgramOperation::Store if place.1 && asks_again(host, config) => {
            host.issue(line, HostReq::RD_ANY, HostAccess::Store, out);
            ("Store asks again", None)
        }
        _ => return None,
    };
    Some(Did { text, loaded, enables: WHOLE_LINE })
}

fn asks_again(host: &MemHost<LineToken>, config: &CoherenceConfig) -> bool {
    let line = LineAddr(0);
    host.copy(line).state < Copy4::E && !config.mem.is_outside(line) && host.can_issue(line, HostReq::RD_ANY)
}

/// The access that comes next in a host's program and waits for what was asked for it: a store for ownership, which it asks
/// for again when it was lost, a load for the bytes of a line that was granted without them.
pub(super) fn program_wait(
    host: &MemHost<LineToken>,
    site: AgentSite<'_>,
    (next, asked): ProgramPlace,
) -> Option<Awaited> {
    let copy = host.copy(LineAddr(0));
    match site.program().get(usize::from(next))? {
        ProgramOperation::Store if asked && !site.config().mem.is_outside(LineAddr(0)) => Some(Awaited::Store),
        ProgramOperation::Load if copy.state != Copy4::I && copy.data.is_none() => Some(Awaited::Load),
        _ => None,
    }
}
