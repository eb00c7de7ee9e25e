//! A host with home agent and memory, whose lines devices cache over CXL.cache.

use super::cache_device::used_by_core;
use super::{Deed, Operation, Owner, Part, Signature};
use crate::explore::Awaited;
use crate::systems::composite::Composite;
use crate::systems::setup::AgentSite;
use scalepool_coherence::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
use scalepool_coherence::cache::backing::{Backing, Flat, HomeMemory};
use scalepool_coherence::cache::device::DeviceCache;
use scalepool_coherence::cache::home::{Holders, HomeAgent, HomeTransaction, PORTS, Phase, Task};
use scalepool_coherence::cache::snoops;
use scalepool_coherence::cache::state::{HostAnswer, Snoop};
use scalepool_coherence::content::{Age, LineAddr, LineToken, WHOLE_LINE};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::mem::tables::Copy4;
use scalepool_coherence::message::Msg;
use scalepool_coherence::monitor::{HomeWatch, check_copies};
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode as Op;

/// The agent, and how many devices it has.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CacheHomePart {
    home: HomeAgent<LineToken, HomeMemory<Flat<LineToken>, LineToken>>,
    devices: AgentPort,
}

impl CacheHomePart {
    /// A home of at most 16 devices, with empty memory.
    pub fn new(devices: AgentPort) -> Self {
        Self { home: HomeAgent::new(HomeMemory::Own(Flat::default())), devices: devices.min(PORTS) }
    }

    /// A home of at most 16 devices, whose memory is behind the port that follows theirs.
    pub fn without_memory(devices: AgentPort) -> Self {
        let devices = devices.min(PORTS);
        Self { home: HomeAgent::new(HomeMemory::behind(devices)), devices }
    }
}

impl Part for CacheHomePart {
    fn ports(&self) -> AgentPort {
        self.devices + AgentPort::from(self.memory_port().is_some())
    }

    fn ports_below(&self) -> AgentPort {
        self.devices
    }

    fn memory_port(&self) -> Option<AgentPort> {
        self.home.memory.port()
    }

    fn accepts(&self, site: AgentSite<'_>, port: AgentPort, msg: &Msg<LineToken>) -> Accept {
        self.home.accepts(site.config(), port, msg)
    }

    fn act(&mut self, site: AgentSite<'_>, deed: &Deed, way: u8, out: &mut AgentOutput<LineToken>) {
        let config = site.config();
        match *deed {
            Deed::Took(port, msg) => self.home.take(config, port, msg, way, out),
            Deed::Began(Operation::Choose(choice)) => self.home.choose(config, choice, out),
            Deed::Began(Operation::CoreRead { line }) => {
                self.home.core_read(config, line, out);
            }
            Deed::Began(Operation::CoreWrite { line }) => {
                self.home.core_write(config, line, LineToken::of(line, Age::New), 1, out);
            }
            Deed::Began(_) => {}
        }
    }

    fn operations(&self, _: &Composite, site: AgentSite<'_>, out: &mut Vec<Operation>) {
        out.extend((0..self.home.choices(site.config())).map(Operation::Choose));
        if site.menu().core {
            for &line in site.lines().iter().filter(|line| self.home.open().iter().all(|t| t.line != **line)) {
                out.extend([Operation::CoreRead { line }, Operation::CoreWrite { line }]);
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
        if let Deed::Took(port, msg) = deed {
            HomeWatch { before: &before.home, out, after: &self.home }.check(site.config(), *port, msg, events);
        }
    }

    /// A device's data, or the write of the own core.
    fn write_of(&self, site: AgentSite<'_>, deed: &Deed) -> (bool, u64) {
        match *deed {
            Deed::Took(port, Msg::D2hData { uqid, enables, .. }) if self.home.pulls(uqid) => {
                (site.holder_poisons(port), enables)
            }
            _ => (false, 1),
        }
    }

    fn placed(&self, effect: &Effect<LineToken>) -> Option<LineToken> {
        Some(self.home.memory.read(effect.line()))
    }

    fn settle(&mut self, _: &Effect<LineToken>, settle: &mut dyn FnMut(&mut LineToken)) {
        self.home.memory.visit(settle);
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
        self.home.visit(f);
    }

    /// Data that waits for its answer, or to be stored.
    fn kept(&self, _: AgentSite<'_>, line: LineAddr) -> Vec<LineToken> {
        let unstored = match &self.home.memory {
            HomeMemory::Own(_) => None,
            HomeMemory::Behind(lines) => lines.unstored(line),
        };
        let kept = self.home.open().iter().flat_map(|t| {
            let write = match &t.task {
                Task::CoreWrite { data, .. } => Some(data),
                _ => None,
            };
            t.values().chain(write)
        });
        kept.chain(unstored).copied().collect()
    }

    fn waits(&self, _: AgentSite<'_>, _: Option<super::ProgramPlace>, wait: &mut dyn FnMut(Awaited, Option<LineAddr>)) {
        let own = self.home.open().iter().filter(|t| !matches!(t.task, Task::Request { .. }));
        own.for_each(|t| wait(Awaited::Request, Some(t.line)));
    }

    fn is_idle(&self) -> bool {
        self.home.is_idle()
    }
}

impl Owner for CacheHomePart {
    fn memory(&self, system: &Composite, site: AgentSite<'_>, line: LineAddr) -> LineToken {
        system.memory_of(site.agent).map_or_else(|| self.home.memory.read(line), |memory| memory.value(line))
    }

    fn tracked(&self, line: LineAddr) -> IdSet {
        self.home.holders(line).all()
    }

    fn start(&mut self, line: LineAddr, memory: LineToken, held: &[Copy4]) {
        let mut holders = Holders::default();
        for (port, state) in (0..).zip(held) {
            match state {
                Copy4::I => {}
                Copy4::S => holders.sharers.insert(port),
                Copy4::E | Copy4::M => holders.owner = Some(port),
            }
        }
        self.home.set_holders(line, holders);
        if let HomeMemory::Own(own) = &mut self.home.memory {
            own.write(line, &memory, WHOLE_LINE);
        }
    }

    fn check(&self, system: &Composite, site: AgentSite<'_>, line: LineAddr, events: &mut Vec<CoherenceEvent>) {
        let found = events.len();
        check_copies(&system.view(line), &|n| system.name(n).to_owned(), events);
        if system.is_absent(site.agent, line) {
            // A write that is answered with an error is aborted, and its data may be dropped (§2.2).
            let kept: Vec<CoherenceEvent> = events.drain(found..).filter(|e| e.rule != "COH-INV-03").collect();
            events.extend(kept);
        }
        for (port, device) in self.devices(system, site) {
            self.check_answers(system, site, port, device, line, events);
        }
        if system.checks_orders() {
            for (port, device) in self.devices(system, site) {
                self.check_orders(system, site, port, device, line, events);
            }
            self.check_open(site, line, events);
        }
    }

    /// O7: a snoop that has arrived is answered, whatever else the device waits for.
    fn check_held(&self, system: &Composite, site: AgentSite<'_>, events: &mut Vec<CoherenceEvent>) {
        for (port, device) in self.devices(system, site) {
            let (agent, _) = system.holder(site.agent, port);
            let config = system.config(agent);
            let mut lane = system.coming(site.agent, port);
            let Some(msg) = lane.find(|m| device.accepts(config, 0, m) == Accept::Wait) else { continue };
            let at = system.name(agent);
            let found = "a snoop that is kept waiting";
            events.push(CoherenceEvent::new("COH-ORD-07", msg.line(), at, found, "an answer at once"));
            if let Msg::H2dReq { opcode, line, .. } = *msg
                && let Some(snoop) = Snoop::of(opcode)
            {
                let state = device.at(line);
                let found = format!("Snp{} held in {}", snoop.name(), state.name());
                let rule = snoops::row_of(state, snoop).rule;
                events.push(CoherenceEvent::new(rule, line, at, found, "the answer of the row"));
            }
        }
    }

    fn check_idle(&self, system: &Composite, site: AgentSite<'_>, line: LineAddr, events: &mut Vec<CoherenceEvent>) {
        if system.is_absent(site.agent, line) {
            return;
        }
        let dirty = system.view(line).copies.iter().any(|copy| copy.dirty);
        if !dirty && self.memory(system, site, line).age != Age::Current {
            let found = "an old value at the home and no M copy";
            events.push(CoherenceEvent::new("COH-INV-14", line, site.name(), found, "the last store's value"));
        }
    }

    fn signature(&self, port: AgentPort) -> Signature {
        let (flags, early) = self.home.signature(port);
        (flags, Vec::new(), early.into_iter().map(Option::<&LineToken>::copied).collect())
    }

    fn renamed(&mut self, to: &[AgentPort]) {
        self.home.rename(to);
    }
}

impl CacheHomePart {
    fn devices<'a>(
        &self,
        system: &'a Composite,
        site: AgentSite<'_>,
    ) -> impl Iterator<Item = (AgentPort, &'a DeviceCache<LineToken>)> + use<'a> {
        let home = site.agent;
        (0..self.devices).filter_map(move |port| Some((port, system.holder(home, port).1.cache()?)))
    }

    /// What a grant or an end under way says must be true already: GO-M of dirty data only, WrInv after its data.
    fn check_answers(
        &self,
        system: &Composite,
        site: AgentSite<'_>,
        port: AgentPort,
        device: &DeviceCache<LineToken>,
        line: LineAddr,
        events: &mut Vec<CoherenceEvent>,
    ) {
        // A copy without a request has no CQID: its place is 0, the name of a request for another line.
        let Some(entry) = device.entry(line).filter(|entry| device.asked(entry.cqid) == Some(line)) else { return };
        let at = || system.name(system.holder(site.agent, port).0);
        for msg in system.coming(site.agent, port) {
            let Msg::H2dRsp { opcode, rsp_data, cqid } = *msg else { continue };
            let Some(answer) = HostAnswer::of(opcode, rsp_data).filter(|_| cqid == entry.cqid) else { continue };
            if answer == HostAnswer::GoM && self.memory(system, site, line).age == Age::Current {
                let found = "GO-M for data that memory has too";
                events.push(CoherenceEvent::new("COH-REQ-17", line, at(), found, "GO-M for dirty data only"));
            }
            let pulled = |t: &HomeTransaction<LineToken>| {
                let write = matches!(t.task, Task::Request { op: Op::WrInv, cqid } if cqid == entry.cqid);
                write && t.port == port && t.line == line
            };
            if answer == HostAnswer::GoI && self.home.open().iter().any(pulled) {
                let found = "the end of WrInv before its data has come";
                let expected = "a strongly ordered write that is visible when it ends";
                events.push(CoherenceEvent::new("COH-ORD-13", line, at(), found, expected));
            }
        }
    }

    fn open_on(&self, line: LineAddr) -> impl Iterator<Item = &HomeTransaction<LineToken>> {
        self.home.open().iter().filter(move |t| t.line == line)
    }

    /// V6, V8: what the home has open on a line for a device, and what it has sent under it.
    fn check_orders(
        &self,
        system: &Composite,
        site: AgentSite<'_>,
        port: AgentPort,
        device: &DeviceCache<LineToken>,
        line: LineAddr,
        events: &mut Vec<CoherenceEvent>,
    ) {
        let (agent, _) = system.holder(site.agent, port);
        let mut say = |rule, found: &str, expected: &str| {
            events.push(CoherenceEvent::new(rule, line, system.name(agent), found, expected));
        };
        let open = || self.open_on(line);
        if device.at(line).is_evicting() && device.may_load(system.config(agent), line) {
            let found = format!("a copy in use in {}", device.at(line).name());
            say("COH-STA-04", &found, "no use after the evict was issued");
        }
        let snoops = open().filter(|t| t.answers.has(port) || t.data.has(port)).count();
        if snoops > 1 {
            say("COH-ORD-04", "two snoops on a line", "one snoop per line and device");
        }
        if snoops > 0 && open().any(|t| matches!(t.phase, Phase::Pulling { .. }) && t.port == port) {
            say("COH-ORD-03", "a snoop beside an open pull", "one of them at a time");
        }
        if snoops == 0 || matches!(open().find(|t| t.answers.has(port)), Some(t) if t.phase == Phase::Answered) {
            return;
        }
        let lane = system.coming(site.agent, port);
        let cqid = device.entry(line).filter(|e| !e.at.is_stable()).map(|e| e.cqid);
        let go = |m: &Msg<LineToken>| m.bears_go() && matches!(m, Msg::H2dRsp { cqid: c, .. } if Some(*c) == cqid);
        let snoop = lane.clone().position(|m| matches!(m, Msg::H2dReq { line: l, .. } if *l == line));
        // Without the snoop in the channel, it is at the device or answered: any GO under way came after it.
        if lane.enumerate().any(|(i, m)| go(m) && snoop.is_none_or(|s| i > s)) {
            say("COH-ORD-02", "a GO under an open snoop", "the GO after the snoop's answer and data");
        }
    }

    /// V6: what the home has open on a line at once.
    fn check_open(&self, site: AgentSite<'_>, line: LineAddr, events: &mut Vec<CoherenceEvent>) {
        let mut say = |rule, found: &str, expected: &str| {
            events.push(CoherenceEvent::new(rule, line, site.name(), found, expected));
        };
        if self.open_on(line).count() > 1 {
            say("COH-ORD-05", "two transactions on a line", "one transaction per line");
        }
        if self.open_on(line).any(|t| t.phase == Phase::Answered) {
            say("COH-ORD-08", "an answer before all snoop answers", "all answers before the GO");
        }
    }
}
