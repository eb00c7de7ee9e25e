//! A device with HDM-D: its memory, its bias table, its own cache.

use super::alu::Alu;
use super::{Deed, Did, Operation, Owner, Part, ProgramPlace, Signature};
use crate::explore::Awaited;
use crate::systems::composite::Composite;
use crate::systems::menu::ProgramOperation;
use crate::systems::setup::AgentSite;
use scalepool_coherence::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
use scalepool_coherence::bias::device::{Bias, BiasDevice, enables_of};
use scalepool_coherence::cache::requests::owns;
use scalepool_coherence::content::{Age, LineAddr, LineToken, WHOLE_LINE};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::mem::tables::Copy4;
use scalepool_coherence::message::Msg;
use scalepool_coherence::monitor::{CopyView, check_bias, check_bias_device, check_copies, misled};
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode;

use super::hdm_db_device::check_at_rest;

/// The agent, and its atomics.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct HdmDDevicePart(BiasDevice<LineToken>, Alu);

impl HdmDDevicePart {
    fn issue(&mut self, site: AgentSite<'_>, line: LineAddr, opcode: D2hReqOpcode, out: &mut AgentOutput<LineToken>) {
        let data = enables_of(opcode).map(|enables| (site.new_value(line), enables));
        self.0.issue(site.config(), line, opcode, data, out);
    }

    /// Puts a line into a state of its own, with memory's value; a device that owns has device bias.
    pub(in crate::systems) fn preset(&mut self, line: LineAddr, memory: LineToken, state: Copy4, value: LineToken) {
        let bias = if state >= Copy4::E { Bias::Device } else { Bias::Host };
        self.0.preset(line, memory, bias, state, (state != Copy4::I).then_some(value));
    }
}

impl Part for HdmDDevicePart {
    fn ports(&self) -> AgentPort {
        1
    }

    fn ports_below(&self) -> AgentPort {
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
            Deed::Began(Operation::Request { line, opcode, .. }) => self.issue(site, line, opcode, out),
            Deed::Began(Operation::Store { line }) => {
                self.0.store(line, &site.new_value(line), WHOLE_LINE, out);
            }
            Deed::Began(Operation::Compute { line }) => self.1.begin(site, line, self.0.own(line).1),
            Deed::Began(Operation::StoreResult { line }) => {
                if let Some(value) = self.1.end(line) {
                    self.0.store(line, &value, 1, out);
                }
            }
            Deed::Began(_) => {}
        }
    }

    fn operations(&self, system: &Composite, site: AgentSite<'_>, out: &mut Vec<Operation>) {
        if system.runs_programs() {
            return;
        }
        for &line in site.lines() {
            let free = site.menu().cache.iter().filter(|op| self.0.can_issue(line, **op));
            out.extend(free.map(|&opcode| Operation::Request { line, opcode, store: false }));
            let (loads, stores) = (self.0.can_load(line), self.0.can_store(line));
            out.extend(self.1.operation(site, line, loads, stores));
            if stores && !self.1.is_at(line) {
                out.push(Operation::Store { line });
            }
        }
    }

    fn advance(
        &mut self,
        site: AgentSite<'_>,
        place: &mut ProgramPlace,
        out: &mut AgentOutput<LineToken>,
    ) -> Option<Did> {
        let (line, config) = (LineAddr(0), site.config());
        let (next, asked) = *place;
        if config.mem.is_outside(line) {
            // The device does not have the line that its program is about.
            return None;
        }
        let act = *site.program().get(usize::from(next))?;
        // In device bias a write of the device is done at once.
        let enables = match act {
            ProgramOperation::Cache(opcode) => enables_of(opcode).unwrap_or(WHOLE_LINE),
            _ => WHOLE_LINE,
        };
        let mut loaded = None;
        let text = match act {
            ProgramOperation::Cache(opcode) if self.0.can_issue(line, opcode) => {
                self.issue(site, line, opcode, out);
                *place = (next + 1, owns(opcode, asked));
                opcode.name()?
            }
            ProgramOperation::Load if self.0.can_load(line) => {
                place.0 += 1;
                let poison = self.0.own(line).1.is_some_and(|value| value.poison);
                loaded = Some(poison);
                if poison { "Load, poisoned" } else { "Load" }
            }
            ProgramOperation::Store if self.0.store(line, &site.new_value(line), WHOLE_LINE, out) => {
                place.0 += 1;
                "Store"
            }
            // Ownership that was refused with an error is not lost: the store waits for ever.
            ProgramOperation::Store if asked && !self.0.is_pending(line) && config.error_of(line).is_none() => {
                let shared = self.0.own(line).0 == Copy4::S;
                let opcode = if shared { D2hReqOpcode::RdOwnNoData } else { D2hReqOpcode::RdOwn };
                self.issue(site, line, opcode, out);
                "Store asks again"
            }
            _ => return None,
        };
        Some(Did { text, loaded, enables })
    }

    fn check_step(
        &self,
        _: AgentSite<'_>,
        before: &Self,
        deed: &Deed,
        out: &AgentOutput<LineToken>,
        events: &mut Vec<CoherenceEvent>,
    ) {
        if let Deed::Took(_, msg) = deed {
            check_bias_device(&before.0, msg, out, &self.0, events);
        }
    }

    fn gives_up(&mut self, site: AgentSite<'_>) {
        self.1.keep(site, |line| self.0.can_store(line));
    }

    /// Of the operation that begins, of the data that comes, or of the open request that Mem*Fwd ends.
    fn write_of(&self, site: AgentSite<'_>, deed: &Deed) -> (bool, u64) {
        let of = |opcode| enables_of(opcode).unwrap_or(WHOLE_LINE);
        let enables = match deed {
            Deed::Began(Operation::Request { opcode, .. }) => of(*opcode),
            Deed::Took(_, Msg::M2sRwd { enables, .. }) => *enables,
            Deed::Took(_, msg) => {
                let asked = msg.line().or(site.lines().first().copied()).and_then(|line| self.0.asked(line));
                asked.map_or(WHOLE_LINE, of)
            }
            Deed::Began(_) => WHOLE_LINE,
        };
        (site.poisons(), enables)
    }

    fn placed(&self, effect: &Effect<LineToken>) -> Option<LineToken> {
        match effect {
            Effect::Stored(line) => self.0.own(*line).1,
            _ => Some(self.0.memory(effect.line())),
        }
    }

    fn settle(&mut self, effect: &Effect<LineToken>, settle: &mut dyn FnMut(&mut LineToken)) {
        self.0.visit(settle);
        if let Effect::Stored(line) = effect {
            self.1.stored(*line);
        }
    }

    fn used(
        &mut self,
        site: AgentSite<'_>,
        line: LineAddr,
        (value, current): (LineToken, bool),
        newest: LineToken,
    ) -> Option<CoherenceEvent> {
        if let Some((rule, expected)) = misled(&value, &newest) {
            return Some(CoherenceEvent::new(rule, line, site.name(), format!("{value} was used"), expected));
        }
        let is_old = current && value.age != Age::Current;
        is_old.then(|| CoherenceEvent::new("COH-INV-02", line, site.name(), "an old value used", "the newest"))
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut LineToken)) {
        self.0.visit(f);
        self.1.visit(f);
    }

    fn copy(&self, site: AgentSite<'_>, line: LineAddr) -> Option<CopyView<LineToken>> {
        let (state, value) = self.0.own(line);
        let (writable, dirty) = (state >= Copy4::E, state == Copy4::M);
        let value = value.filter(|_| state != Copy4::I)?;
        Some(CopyView { agent: site.agent, usable: true, writable, dirty, value })
    }

    fn waits(&self, site: AgentSite<'_>, place: Option<ProgramPlace>, wait: &mut dyn FnMut(Awaited, Option<LineAddr>)) {
        for &line in site.lines().iter().filter(|line| self.0.is_pending(**line)) {
            wait(Awaited::Request, Some(line));
        }
        let (line, config) = (LineAddr(0), site.config());
        let refused = config.mem.is_outside(line) || config.error_of(line).is_some();
        if let Some((next, true)) = place
            && !refused
            && site.program().get(usize::from(next)) == Some(&ProgramOperation::Store)
        {
            wait(Awaited::Store, Some(line));
        }
    }

    fn is_idle(&self) -> bool {
        self.0.is_idle()
    }

    fn letter(&self, line: LineAddr) -> Option<char> {
        Some(self.0.own(line).0.letter())
    }
}

impl Owner for HdmDDevicePart {
    fn memory(&self, _: &Composite, _: AgentSite<'_>, line: LineAddr) -> LineToken {
        self.0.memory(line)
    }

    /// Where the host may hold a line, it is taken for a holder.
    fn tracked(&self, line: LineAddr) -> IdSet {
        if self.0.bias(line) == Bias::Host { IdSet::one(0) } else { IdSet::EMPTY }
    }

    fn start(&mut self, line: LineAddr, memory: LineToken, _: &[Copy4]) {
        self.preset(line, memory, Copy4::I, memory);
    }

    fn check(&self, system: &Composite, site: AgentSite<'_>, line: LineAddr, events: &mut Vec<CoherenceEvent>) {
        let view = system.view(line);
        check_copies(&view, &|n| system.name(n).to_owned(), events);
        check_bias(&view, site.agent, self.0.bias(line) == Bias::Device, &|n| system.name(n).to_owned(), events);
    }

    /// The device ends M2S requests whatever it asks for itself.
    fn check_held(&self, system: &Composite, site: AgentSite<'_>, events: &mut Vec<CoherenceEvent>) {
        let (link, dir) = system.toward_home(site.agent, 0);
        let held = system.under_way(link, dir).iter().find(|m| self.0.accepts(site.config(), 0, m) == Accept::Wait);
        if let Some(msg) = held {
            let (found, expected) =
                (format!("{} kept waiting", msg.label()), "an end without requests of the device's own");
            events.push(CoherenceEvent::new("COH-BIA-15", msg.line(), site.name(), found, expected));
        }
    }

    fn check_idle(&self, system: &Composite, _: AgentSite<'_>, line: LineAddr, events: &mut Vec<CoherenceEvent>) {
        check_at_rest(system, line, events);
    }

    fn signature(&self, _: AgentPort) -> Signature {
        Signature::default()
    }

    fn renamed(&mut self, _: &[AgentPort]) {}
}
