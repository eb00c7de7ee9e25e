//! A caching device of CXL.cache.

use super::alu::Alu;
use super::{Deed, Did, Operation, Part, ProgramPlace};
use crate::explore::Awaited;
use crate::systems::composite::Composite;
use crate::systems::menu::ProgramOperation;
use crate::systems::setup::AgentSite;
use scalepool_coherence::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
use scalepool_coherence::cache::device::{DeviceCache, WriteBytes};
use scalepool_coherence::cache::requests;
use scalepool_coherence::cache::state::CacheLineState;
use scalepool_coherence::content::{Age, LineAddr, LineContent, LineToken, WHOLE_LINE};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::message::Msg;
use scalepool_coherence::monitor::{CopyView, DeviceStep, DeviceWatch, misled};
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode as Op;

/// The agent, and what its core has computed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct CacheDevicePart(pub DeviceCache<LineToken>, Alu);

/// What a store writes: a part of the line.
fn stored(site: AgentSite<'_>, line: LineAddr) -> WriteBytes<LineToken> {
    WriteBytes { data: site.new_value(line), enables: 1 }
}

/// What a write request writes: a part of the line where that is legal.
fn written(site: AgentSite<'_>, opcode: Op, line: LineAddr) -> Option<WriteBytes<LineToken>> {
    match opcode {
        Op::WrInv | Op::WOWrInv => Some(stored(site, line)),
        Op::ItoMWr | Op::WrCur | Op::WOWrInvF => Some(WriteBytes { enables: WHOLE_LINE, ..stored(site, line) }),
        _ => None,
    }
}

impl Part for CacheDevicePart {
    fn ports(&self) -> AgentPort {
        1
    }

    fn accepts(&self, site: AgentSite<'_>, _: AgentPort, msg: &Msg<LineToken>) -> Accept {
        self.0.accepts(site.config(), 0, msg)
    }

    fn ways(&self, site: AgentSite<'_>, _: AgentPort, msg: &Msg<LineToken>) -> u8 {
        self.0.ways(site.config(), 0, msg)
    }

    fn act(&mut self, site: AgentSite<'_>, deed: &Deed, way: u8, out: &mut AgentOutput<LineToken>) {
        match *deed {
            Deed::Took(_, msg) => self.0.take(site.config(), 0, msg, way, out),
            Deed::Began(Operation::Request { line, opcode, store }) => {
                let bytes = if store { Some(stored(site, line)) } else { written(site, opcode, line) };
                self.0.issue(opcode, line, bytes, out);
            }
            Deed::Began(Operation::Join { line }) => {
                self.0.join(line, stored(site, line));
            }
            Deed::Began(Operation::Store { line }) => {
                self.0.store(line, &stored(site, line), out);
            }
            Deed::Began(Operation::Drop { line }) => {
                self.0.drop_copy(site.config(), line);
            }
            Deed::Began(Operation::Compute { line }) => {
                self.1.begin(site, line, self.0.load(site.config(), line).copied());
            }
            Deed::Began(Operation::StoreResult { line }) => {
                if let Some(data) = self.1.end(line) {
                    self.0.store(line, &WriteBytes { data, enables: 1 }, out);
                }
            }
            Deed::Began(_) => {}
        }
    }

    fn operations(&self, system: &Composite, site: AgentSite<'_>, out: &mut Vec<Operation>) {
        if let Some(place) = system.place(site.agent) {
            // Whether a store is there in time to wait with the read before it (§2.4) is not said: both.
            let line = LineAddr(0);
            if site.program().get(usize::from(place.0)) == Some(&ProgramOperation::Store) && self.0.can_join(line) {
                out.push(Operation::Join { line });
            }
            return;
        }
        let menu = site.menu();
        for &line in site.lines() {
            for &opcode in menu.cache.iter().filter(|op| self.0.can_issue(**op, line)) {
                out.push(Operation::Request { line, opcode, store: false });
                if menu.waiting_stores && [Op::RdOwn, Op::RdOwnNoData].contains(&opcode) {
                    out.push(Operation::Request { line, opcode, store: true });
                }
            }
            let stores = self.0.at(line).may_store();
            out.extend(self.1.operation(site, line, self.0.may_load(site.config(), line), stores));
            if stores && !self.1.is_at(line) {
                out.push(Operation::Store { line });
            }
            if self.0.can_drop(site.config(), line) {
                out.push(Operation::Drop { line });
            }
        }
    }

    /// A store whose requested ownership was lost before it could happen asks again, and waits with that request.
    fn advance(
        &mut self,
        site: AgentSite<'_>,
        place: &mut ProgramPlace,
        out: &mut AgentOutput<LineToken>,
    ) -> Option<Did> {
        let line = LineAddr(0);
        let config = site.config();
        let (next, asked) = *place;
        let cache = &mut self.0;
        let at = cache.at(line);
        let mut loaded = None;
        let text = match *site.program().get(usize::from(next))? {
            ProgramOperation::Cache(op) if cache.issue(op, line, written(site, op, line), out) => {
                *place = (next + 1, requests::owns(op, asked));
                op.name().unwrap_or("?")
            }
            ProgramOperation::Load if cache.may_load(config, line) => {
                place.0 += 1;
                let poison = cache.load(config, line).is_some_and(LineToken::is_poisoned);
                loaded = Some(poison);
                if poison { "Load, poisoned" } else { "Load" }
            }
            ProgramOperation::Store if cache.store(line, &stored(site, line), out) => {
                place.0 += 1;
                "Store"
            }
            // Ownership that was refused with an error is not lost: the store waits for ever.
            ProgramOperation::Store if asked && at.is_stable() && config.error_of(line).is_none() => {
                let op = if at == CacheLineState::S { Op::RdOwnNoData } else { Op::RdOwn };
                cache.issue(op, line, Some(stored(site, line)), out);
                "Store asks again"
            }
            _ => return None,
        };
        Some(Did { text, loaded, enables: WHOLE_LINE })
    }

    fn takes_store_along(&self) -> bool {
        true
    }

    fn check_step(
        &self,
        site: AgentSite<'_>,
        before: &Self,
        deed: &Deed,
        out: &AgentOutput<LineToken>,
        events: &mut Vec<CoherenceEvent>,
    ) {
        let step = match *deed {
            Deed::Took(_, msg) => DeviceStep::Took(msg),
            Deed::Began(Operation::Request { line, opcode, .. }) => DeviceStep::Issued(opcode, line),
            Deed::Began(Operation::Store { line } | Operation::StoreResult { line }) => DeviceStep::Stored(line),
            Deed::Began(Operation::Drop { line }) => DeviceStep::Dropped(line),
            Deed::Began(_) => return,
        };
        DeviceWatch { before: &before.0, out, after: &self.0 }.check(site.config(), &step, events);
    }

    fn gives_up(&mut self, site: AgentSite<'_>) {
        self.1.keep(site, |line| self.0.at(line).may_store());
    }

    fn store_enables(&self, _: AgentSite<'_>, _: LineAddr) -> u64 {
        1
    }

    fn placed(&self, effect: &Effect<LineToken>) -> Option<LineToken> {
        self.0.entry(effect.line()).and_then(|e| e.data.as_ref()).map(|bytes| bytes.data)
    }

    fn settle(&mut self, effect: &Effect<LineToken>, settle: &mut dyn FnMut(&mut LineToken)) {
        if let Effect::Stored(line) = effect {
            self.0.visit(settle);
            self.1.stored(*line);
        }
    }

    fn used(
        &mut self,
        site: AgentSite<'_>,
        line: LineAddr,
        used: (LineToken, bool),
        newest: LineToken,
    ) -> Option<CoherenceEvent> {
        used_by_core(site, line, used, newest)
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut LineToken)) {
        self.0.visit(f);
        self.1.visit(f);
    }

    fn copy(&self, site: AgentSite<'_>, line: LineAddr) -> Option<CopyView<LineToken>> {
        let entry = self.0.entry(line).filter(|e| e.at.has_copy())?;
        let value = entry.data.as_ref()?.data;
        let (writable, dirty) = (entry.at.may_store(), entry.at.is_dirty());
        Some(CopyView { agent: site.agent, usable: self.0.may_load(site.config(), line), writable, dirty, value })
    }

    /// Data that it has early.
    fn kept(&self, _: AgentSite<'_>, line: LineAddr) -> Vec<LineToken> {
        let early = self.0.entry(line).filter(|e| e.at == CacheLineState::RdData);
        early.and_then(|e| e.data.as_ref()).map(|bytes| bytes.data).into_iter().collect()
    }

    fn waits(&self, site: AgentSite<'_>, place: Option<ProgramPlace>, wait: &mut dyn FnMut(Awaited, Option<LineAddr>)) {
        if self.0.is_flushing() {
            wait(Awaited::Request, None);
        }
        for (line, entry) in self.0.lines() {
            if !entry.at.is_stable() {
                wait(Awaited::Request, Some(line));
            }
            if entry.store.is_some() {
                wait(Awaited::Store, Some(line));
            }
        }
        // A store of a program that asks again and again until it is done.
        let line = LineAddr(0);
        if let Some((next, true)) = place
            && site.program().get(usize::from(next)) == Some(&ProgramOperation::Store)
            && self.0.entry(line).is_none_or(|e| e.store.is_none())
            && site.config().error_of(line).is_none()
        {
            wait(Awaited::Store, Some(line));
        }
    }

    fn is_idle(&self) -> bool {
        self.0.is_idle()
    }

    fn letter(&self, line: LineAddr) -> Option<char> {
        Some(self.0.at(line).letter())
    }

    fn knows_port(&self) -> bool {
        self.0.knows_port()
    }

    fn behind(&mut self, port: AgentPort) {
        self.0.rename_port(port);
    }
}

/// What a core of CXL.cache may not see: another poison than the last store's, or an old value where it has to be the newest.
pub(super) fn used_by_core(
    site: AgentSite<'_>,
    line: LineAddr,
    (value, current): (LineToken, bool),
    newest: LineToken,
) -> Option<CoherenceEvent> {
    if let Some((rule, expected)) = misled(&value, &newest) {
        return Some(CoherenceEvent::new(rule, line, site.name(), format!("a core used {value}"), expected));
    }
    let is_old = current && value.age != Age::Current;
    is_old.then(|| {
        CoherenceEvent::new("COH-REQ-20", line, site.name(), "an old value read by a core", "the newest value")
    })
}
