//! A device with HDM-DB: its memory, its own cache, its snoop filter.

use super::alu::Alu;
use super::{Deed, Operation, Owner, Part, ProgramPlace, Signature};
use crate::explore::Awaited;
use crate::systems::composite::Composite;
use crate::systems::setup::AgentSite;
use scalepool_coherence::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{Age, LineAddr, LineToken, WHOLE_LINE};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::mem::dcoh::{Dcoh, DeviceOp};
use scalepool_coherence::mem::filter::Holders;
use scalepool_coherence::mem::host::block_lines;
use scalepool_coherence::mem::host_rows::Phase;
use scalepool_coherence::mem::tables::Copy4;
use scalepool_coherence::message::Msg;
use scalepool_coherence::monitor::{CopyView, DcohStep, DcohWatch, check_copies, misled};
use scalepool_protocols::cxl::cxl256::code::M2sRwdOpcode;

/// The agent, and what the search knows of reads over UIO.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HdmDbDevicePart {
    agent: Dcoh<LineToken>,
    hosts: AgentPort,
    /// Lines with a UIO read under way, and those of them that were stored to since it began.
    reading: IdSet,
    moved: IdSet,
    /// What has been computed from the own cache.
    alu: Alu,
}

impl HdmDbDevicePart {
    /// A device for so many hosts, with empty filter and cache.
    pub fn new(config: &CoherenceConfig, hosts: AgentPort) -> Self {
        let (reading, moved) = (IdSet::EMPTY, IdSet::EMPTY);
        Self { agent: Dcoh::new(config, hosts), hosts, reading, moved, alu: Alu::default() }
    }

    /// The same with its memory behind the port that follows those of the hosts.
    pub fn without_memory(config: &CoherenceConfig, hosts: AgentPort) -> Self {
        Self { agent: Dcoh::without_memory(config, hosts), ..Self::new(config, hosts) }
    }
}

impl Part for HdmDbDevicePart {
    fn ports(&self) -> AgentPort {
        self.hosts + AgentPort::from(self.agent.is_memory_behind())
    }

    fn ports_below(&self) -> AgentPort {
        self.hosts
    }

    fn memory_port(&self) -> Option<AgentPort> {
        self.agent.is_memory_behind().then_some(self.hosts)
    }

    fn accepts(&self, site: AgentSite<'_>, port: AgentPort, msg: &Msg<LineToken>) -> Accept {
        self.agent.accepts(site.config(), port, msg)
    }

    fn ways(&self, site: AgentSite<'_>, port: AgentPort, msg: &Msg<LineToken>) -> u8 {
        if site.config().alternatives { self.agent.ways(site.config(), port, msg) } else { 1 }
    }

    fn act(&mut self, site: AgentSite<'_>, deed: &Deed, way: u8, out: &mut AgentOutput<LineToken>) {
        let config = site.config();
        match *deed {
            Deed::Took(port, msg) => self.agent.take(config, port, msg, way, out),
            Deed::Began(Operation::Own { line, op: DeviceOp::UioWrite }) => {
                self.agent.uio_write(config, line, site.new_value(line), 1, out);
            }
            Deed::Began(Operation::Own { line, op }) => {
                if op == DeviceOp::UioRead {
                    self.reading.insert(line.0 as AgentPort);
                }
                self.agent.issue(config, line, op, out);
            }
            Deed::Began(Operation::Store { line }) => {
                self.agent.store(line, &site.new_value(line), WHOLE_LINE, out);
            }
            Deed::Began(Operation::Block { op, enable }) => {
                self.agent.issue_block(config, LineAddr(enable.into()), op, out);
            }
            Deed::Began(Operation::Compute { line }) => {
                self.alu.begin(site, line, self.agent.own(line).map(|(_, value)| value));
            }
            Deed::Began(Operation::StoreResult { line }) => {
                if let Some(value) = self.alu.end(line) {
                    self.agent.store(line, &value, 1, out);
                }
            }
            Deed::Began(_) => {}
        }
    }

    fn operations(&self, system: &Composite, site: AgentSite<'_>, out: &mut Vec<Operation>) {
        if system.runs_programs() {
            return;
        }
        let (menu, config) = (site.menu(), site.config());
        for &line in site.lines() {
            let own = menu.device.iter().filter(|op| self.agent.can_issue(config, line, **op));
            out.extend(own.map(|&op| Operation::Own { line, op }));
            if menu.device.is_empty() {
                continue;
            }
            let stores = self.agent.can_store(line);
            out.extend(self.alu.operation(site, line, self.agent.own(line).is_some(), stores));
            if stores && !self.alu.is_at(line) {
                out.push(Operation::Store { line });
            }
        }
        for &(op, enable) in &menu.blocks {
            let count = if enable == 3 { 4 } else { 2 };
            let first = if enable == 2 { 2 } else { 0 };
            if (first..first + count).all(|l| self.agent.can_issue(config, LineAddr(l), op)) {
                out.push(Operation::Block { op, enable });
            }
        }
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
            Deed::Took(port, msg) => DcohStep::Took(port, msg),
            Deed::Began(Operation::Own { line, op }) => DcohStep::Began(op, line, 1),
            Deed::Began(Operation::Block { op, enable }) => match block_lines(LineAddr(enable.into())) {
                Some((first, count)) => DcohStep::Began(op, first, count),
                None => return,
            },
            Deed::Began(_) => return,
        };
        let (before, after, peers) = (&before.agent, &self.agent, &site.menu().peers);
        DcohWatch { before, out, after, peers }.check(site.config(), &step, events);
    }

    fn gives_up(&mut self, site: AgentSite<'_>) {
        self.alu.keep(site, |line| self.agent.can_store(line));
    }

    /// Only a peer's write over UIO comes to memory as a new one, and it is one of a part.
    fn write_of(&self, site: AgentSite<'_>, _: &Deed) -> (bool, u64) {
        (site.poisons(), 1)
    }

    fn placed(&self, effect: &Effect<LineToken>) -> Option<LineToken> {
        match effect {
            Effect::Stored(line) => self.agent.own(*line).map(|(_, value)| value),
            _ => Some(self.agent.memory(effect.line())),
        }
    }

    fn settle(&mut self, effect: &Effect<LineToken>, settle: &mut dyn FnMut(&mut LineToken)) {
        self.agent.visit(settle);
        if let Effect::Stored(line) = effect {
            self.alu.stored(*line);
        }
    }

    fn used(
        &mut self,
        site: AgentSite<'_>,
        line: LineAddr,
        (value, _): (LineToken, bool),
        newest: LineToken,
    ) -> Option<CoherenceEvent> {
        let place = line.0 as AgentPort;
        if !self.reading.has(place) {
            return None;
        }
        let moved = self.moved.has(place);
        self.reading.remove(place);
        self.moved.remove(place);
        let found = format!("a read of {value}");
        if let Some((rule, expected)) = misled(&value, &newest) {
            return Some(CoherenceEvent::new(rule, line, site.name(), found, expected));
        }
        let is_old = value.age != Age::Current && !moved;
        is_old.then(|| CoherenceEvent::new("COH-INV-02", line, site.name(), found, "the newest value since it began"))
    }

    fn stored_somewhere(&mut self, line: LineAddr) {
        if self.reading.has(line.0 as AgentPort) {
            self.moved.insert(line.0 as AgentPort);
        }
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut LineToken)) {
        self.agent.visit(f);
        self.alu.visit(f);
    }

    fn copy(&self, site: AgentSite<'_>, line: LineAddr) -> Option<CopyView<LineToken>> {
        let (state, value) = self.agent.own(line)?;
        let (writable, dirty) = (state >= Copy4::E, state == Copy4::M);
        Some(CopyView { agent: site.agent, usable: true, writable, dirty, value })
    }

    /// Values on their way to a memory behind a port.
    fn kept(&self, _: AgentSite<'_>, line: LineAddr) -> Vec<LineToken> {
        self.agent.unsent(line).copied().collect()
    }

    fn waits(&self, _: AgentSite<'_>, _: Option<ProgramPlace>, wait: &mut dyn FnMut(Awaited, Option<LineAddr>)) {
        self.agent.own_operations().for_each(|line| wait(Awaited::Request, Some(line)));
    }

    fn is_idle(&self) -> bool {
        self.agent.is_idle()
    }
}

impl Owner for HdmDbDevicePart {
    fn memory(&self, system: &Composite, site: AgentSite<'_>, line: LineAddr) -> LineToken {
        system.memory_of(site.agent).map_or_else(|| self.agent.memory(line), |memory| memory.value(line))
    }

    fn tracked(&self, line: LineAddr) -> IdSet {
        self.agent.holders(line).map_or(IdSet::EMPTY, |holders| holders.all())
    }

    fn start(&mut self, line: LineAddr, memory: LineToken, held: &[Copy4]) {
        let mut holders = Holders::NONE;
        for (port, state) in (0..).zip(held) {
            match state {
                Copy4::I => {}
                Copy4::S => holders = Holders::Shared(holders.all().with(port)),
                Copy4::E | Copy4::M => holders = Holders::Owner(port),
            }
        }
        self.agent.preset(line, memory, holders);
    }

    fn check(&self, system: &Composite, site: AgentSite<'_>, line: LineAddr, events: &mut Vec<CoherenceEvent>) {
        let view = system.view(line);
        // V12: with a filter of limited size a held line without an entry is a victim that left too early.
        let held = view.copies.iter().find(|copy| copy.agent != site.agent);
        if site.config().mem.filter_sets != 0
            && self.agent.holders(line).is_none()
            && let Some(copy) = held
        {
            let (at, found) = (system.name(copy.agent), "a copy without a filter entry");
            events.push(CoherenceEvent::new("COH-INV-12", line, at, found, "a filter entry for every copy"));
        }
        check_copies(&view, &|n| system.name(n).to_owned(), events);
    }

    /// What a device keeps waiting though it must not: RwD and BIRsp drain without a Req or a BISnp.
    fn check_held(&self, system: &Composite, site: AgentSite<'_>, events: &mut Vec<CoherenceEvent>) {
        for port in 0..self.hosts {
            let (link, dir) = system.toward_home(site.agent, port);
            for msg in system.under_way(link, dir) {
                let (Msg::M2sRwd { .. } | Msg::M2sBirsp { .. }) = msg else { continue };
                if self.agent.accepts(site.config(), port, msg) == Accept::Take {
                    continue;
                }
                let (host, member) = system.holder(site.agent, port);
                let mut say = |rule, expected: &str| {
                    let found = format!("{} of {} kept waiting", msg.label(), system.name(host));
                    events.push(CoherenceEvent::new(rule, msg.line(), site.name(), found, expected));
                };
                if matches!(msg, Msg::M2sRwd { opcode, .. } if *opcode == M2sRwdOpcode::BIConflict) {
                    say("COH-BIC-01", "BIConflict on RwD, which passes what a Req waits for");
                    say("COH-BIC-02", "BIConflictAck at once");
                    continue;
                }
                say("COH-SFI-06", "RwD and BIRsp accepted while a BISnp is open");
                say("COH-DLK-15", "a sink for RwD and BIRsp without progress of Req");
                let snooped = |l: LineAddr| member.host().is_some_and(|h| h.phase(l) == Phase::WritingSnooped);
                if msg.line().is_some_and(snooped) {
                    say("COH-BIC-08", "the data of the write passes the open BISnp");
                }
            }
        }
    }

    fn check_idle(&self, system: &Composite, _: AgentSite<'_>, line: LineAddr, events: &mut Vec<CoherenceEvent>) {
        check_at_rest(system, line, events);
        for _ in self.agent.filter().iter().filter(|e| e.line == line && e.holders.is_empty()) {
            let found = "an entry without holders".to_owned();
            events.push(CoherenceEvent::new("COH-INV-14", line, "DCOH", found, "entries for holders only"));
        }
    }

    fn signature(&self, port: AgentPort) -> Signature {
        (Vec::new(), self.agent.signature(port), Vec::new())
    }

    fn renamed(&mut self, to: &[AgentPort]) {
        self.agent.rename(to);
    }
}

/// V14 of a device's memory.
pub(super) fn check_at_rest(system: &Composite, line: LineAddr, events: &mut Vec<CoherenceEvent>) {
    let view = system.view(line);
    if view.home != view.newest && !view.copies.iter().any(|copy| copy.dirty) {
        let found = format!("{} in memory and no M copy", view.home);
        events.push(CoherenceEvent::new("COH-INV-14", line, "system", found, "the newest value"));
    }
}
