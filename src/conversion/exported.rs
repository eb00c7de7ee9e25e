//! Memory of accelerators that a bridge keeps coherent, as a reference model: the home of windows of class DB, and accelerators of the own
//! cluster that reach these lines by windows of class HP, the hairpin (`bridge` §1.3, §5.1).
//!
//! Modelled: what [`ExportedHome`], the inbound half behind it and the outbound half of the hairpin model, one message after the other: the
//! messages between them take no time. Whoever holds lines is at a CXL port of its own. Left out: what the halves leave out.
//!
//! A walk through a write of an accelerator to a line that the host at port 1 owns: it comes as a request of UALink; BISnpInv leaves as a
//! response through CXL port 1; the write back and then BIRspI come as requests there, the write back is sent to the accelerator whose line
//! it is and answered; now the write itself is sent there, and with its answer the response to the accelerator leaves.

use super::accelerators::{AcceleratorPorts, response_message};
use super::message::{BridgeMessage, CxlMessage};
use super::model::{BridgeEvent, BridgePoint, ReferenceFinding};
use scalepool_bridge::hairpin::OwnerAtomic;
use scalepool_bridge::inbound::exported::ExportedHome;
use scalepool_bridge::inbound::side::{AcceleratorAnswer, SideAccess};
use scalepool_bridge::inbound::table::InboundSource;
use scalepool_bridge::inbound::{InboundBridge, InboundConfig, InboundOutput, InboundStep};
use scalepool_bridge::outbound::request::BridgeRequest;
use scalepool_bridge::outbound::{BridgeActor, BridgeOutput, BridgeStep, OutboundBridge, OutboundConfig};
use scalepool_bridge::window::InboundClass;
use scalepool_coherence::agent::{Accept, Agent, AgentOutput, AgentPort};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::CacheLine;
use scalepool_coherence::message::{Class, Msg};
use scalepool_ordered::OrderedSet;
use std::collections::VecDeque;
use std::sync::Arc;

/// How the model of such memory is built.
#[derive(Debug, Clone)]
pub struct ExportedConfig {
    /// The half behind the home, with its windows.
    pub inbound: InboundConfig,
    /// By CXL port who holds lines there, as groups of sources name it: SPID, else LD-ID.
    pub holders: Vec<u16>,
    /// Filter and recalls of the home.
    pub coherence: CoherenceConfig,
    /// The half by which accelerators of the own cluster ask, if they may.
    pub hairpin: Option<Box<OutboundConfig>>,
}

/// What waits for an entry of the inbound half.
enum QueuedEntry {
    Message(Msg<CacheLine>),
    Atomic(OwnerAtomic),
}

/// Something to be done.
enum ExportedWork {
    Home(AgentPort, Msg<CacheLine>),
    Hairpin(BridgeStep),
    Inbound(InboundStep),
}

/// What leaves, and what was found.
pub(crate) type Made = (Vec<BridgeEvent>, Vec<ReferenceFinding>);

/// Such memory, with nothing under way.
pub(crate) struct ExportedHalf {
    coherence: CoherenceConfig,
    home: ExportedHome,
    /// Ports of the home at which holders are; behind them the hairpin has one, if there is one, and the memory the last one.
    holders: AgentPort,
    inbound: InboundBridge,
    hairpin: Option<OutboundBridge>,
    accelerators: AcceleratorPorts,
    /// Messages that the home does not take yet, in the order in which they came.
    waiting: Vec<(AgentPort, Msg<CacheLine>)>,
    asks: VecDeque<QueuedEntry>,
    /// Snoops that are not answered: CXL port and BITag.
    snoops: OrderedSet<(usize, u16)>,
    work: VecDeque<ExportedWork>,
    events: Vec<BridgeEvent>,
    findings: Vec<ReferenceFinding>,
}

impl ExportedHalf {
    pub fn new(config: ExportedConfig, accelerators: AcceleratorPorts) -> ExportedHalf {
        let ExportedConfig { inbound, holders, coherence, hairpin } = config;
        let windows = Arc::new(inbound.windows.clone());
        let count = holders.len() as AgentPort;
        let new = if hairpin.is_some() { ExportedHome::with_hairpin } else { ExportedHome::new };
        ExportedHalf {
            home: new(&coherence, windows, holders),
            coherence,
            holders: count,
            inbound: InboundBridge::new(inbound),
            hairpin: hairpin.map(|config| OutboundBridge::new(*config)),
            accelerators,
            waiting: Vec::new(),
            asks: VecDeque::new(),
            snoops: OrderedSet::new(),
            work: VecDeque::new(),
            events: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// CXL ports, at each of which somebody holds lines.
    pub fn holders(&self) -> usize {
        usize::from(self.holders)
    }

    /// Whether accelerators of the own cluster may ask.
    pub fn has_hairpin(&self) -> bool {
        self.hairpin.is_some()
    }

    /// Transactions that are open, and the home if it waits for somebody.
    pub fn open(&self) -> usize {
        let asked = self.hairpin.as_ref().map_or(0, OutboundBridge::open);
        asked + self.inbound.open() + self.waiting.len() + usize::from(!self.home.is_idle())
    }

    /// Whether an answer of an accelerator with this tag is still to come.
    pub fn awaits(&self, tag: u16) -> bool {
        self.accelerators.awaits(tag)
    }

    /// Whether a snoop with this BITag is not answered at a CXL port.
    pub fn awaits_snoop(&self, port: usize, tag: u16) -> bool {
        self.snoops.contains(&(port, tag))
    }

    /// A message of a holder comes; what leaves at once.
    pub fn holder_asks(&mut self, port: usize, msg: Msg<CacheLine>) -> Made {
        if let Msg::M2sBirsp { bi_tag, .. } = msg {
            self.snoops.remove(&(port, bi_tag));
        }
        self.work.push_back(ExportedWork::Home(port as AgentPort, msg));
        self.run()
    }

    /// A request of an accelerator comes through an input; `None`: there is no room for it.
    pub fn accelerator_asks(&mut self, input: usize, request: BridgeRequest) -> Option<Made> {
        let hairpin = self.hairpin.as_mut()?;
        let entry = hairpin.admit(input, request)?;
        self.outbound(|hairpin, out| hairpin.start(entry, out));
        Some(self.run())
    }

    /// An accelerator answers; `None`: the message is no answer.
    pub fn accelerator_answers(&mut self, message: &BridgeMessage) -> Option<Made> {
        let answer = self.accelerators.answered(message, &mut self.findings)?;
        if let Some(AcceleratorAnswer { tag, status, lines }) = answer {
            let mut out = InboundOutput::default();
            self.inbound.receive(tag, status, &lines, &mut out);
            self.note_inbound(out);
        }
        Some(self.run())
    }

    /// Does all that is to be done.
    fn run(&mut self) -> Made {
        loop {
            match self.work.pop_front() {
                Some(ExportedWork::Home(port, msg)) => self.waiting.push((port, msg)),
                Some(ExportedWork::Hairpin(step)) => self.follow_hairpin(step),
                Some(ExportedWork::Inbound(step)) => self.follow_inbound(step),
                None if self.enter_home() || self.enter_inbound() => (),
                None => break,
            }
        }
        (std::mem::take(&mut self.events), std::mem::take(&mut self.findings))
    }

    /// The home takes the first message that it accepts: whether there is one. Requests for one line keep their order.
    fn enter_home(&mut self) -> bool {
        let asks = |msg: &Msg<CacheLine>| msg.line().filter(|_| msg.class() == Class::M2sReq);
        let is_taken = |n: &usize| {
            let (port, msg) = &self.waiting[*n];
            let is_behind = asks(msg).is_some_and(|line| self.waiting[..*n].iter().any(|(_, m)| asks(m) == Some(line)));
            !is_behind && self.home.accepts(&self.coherence, *port, msg) == Accept::Take
        };
        let Some(n) = (0..self.waiting.len()).find(is_taken) else { return false };
        let (port, msg) = self.waiting.remove(n);
        let mut out = AgentOutput::default();
        self.home.take(&self.coherence, port, msg, 0, &mut out);
        let findings =
            out.events.into_iter().map(|event| ReferenceFinding::new(event.rule, event.found, event.expected));
        self.findings.extend(findings);
        for (port, msg) in out.sends {
            match port.checked_sub(self.holders) {
                None => self.leave(usize::from(port), msg),
                Some(0) if self.hairpin.is_some() => self.outbound(|hairpin, out| hairpin.receive(0, msg, out)),
                Some(_) => self.asks.push_back(QueuedEntry::Message(msg)),
            }
        }
        true
    }

    /// A message leaves for a holder.
    fn leave(&mut self, port: usize, msg: Msg<CacheLine>) {
        if let Msg::S2mBisnp { bi_tag, .. } = msg {
            self.snoops.insert((port, bi_tag));
        }
        let message = BridgeMessage::Cxl(CxlMessage { msg, ld_id: 0, traffic_class: 0 });
        self.events.push(BridgeEvent { point: BridgePoint::Response, port, message });
    }

    /// The first of what waits for an entry of the inbound half gets one: whether there is one.
    fn enter_inbound(&mut self) -> bool {
        let Some(ask) = self.inbound.has_room().then(|| self.asks.pop_front()).flatten() else { return false };
        let mut out = InboundOutput::default();
        let entry = match ask {
            QueuedEntry::Message(msg) => {
                let source = InboundSource { class: InboundClass::Db, ..InboundSource::default() };
                self.inbound.admit(source, msg, &mut out)
            }
            QueuedEntry::Atomic(ask) => self.inbound.admit_atomic(ask),
        };
        entry.into_iter().for_each(|entry| self.inbound.start(entry, &mut out));
        self.note_inbound(out);
        true
    }

    fn note_inbound(&mut self, out: InboundOutput) {
        self.findings.extend(out.findings.into_iter().map(ReferenceFinding::from));
        self.work.extend(out.steps.into_iter().map(ExportedWork::Inbound));
    }

    fn follow_inbound(&mut self, step: InboundStep) {
        let mut out = InboundOutput::default();
        match step {
            InboundStep::Send(entry) => {
                let Some(access) = self.inbound.access(entry) else { return };
                self.events.push(self.accelerators.send(entry, SideAccess::Lines(&access)));
                self.inbound.sent(entry, &mut out);
            }
            InboundStep::Respond(entry) => {
                if let Some(answer) = self.inbound.owner_answer(entry) {
                    self.outbound(|hairpin, out| hairpin.receive_owner(answer, out));
                } else if let Some((_, answer)) = self.inbound.answer(entry) {
                    let memory = self.holders + AgentPort::from(self.hairpin.is_some());
                    self.work.push_back(ExportedWork::Home(memory, answer));
                }
                self.inbound.left(entry);
            }
            InboundStep::AccessCache(entry) => self.inbound.cache_accessed(entry, &mut out),
            InboundStep::Drop(entry) => self.inbound.left(entry),
            _ => (),
        }
        self.note_inbound(out);
    }

    /// Does something to the half of the hairpin.
    fn outbound(&mut self, work: impl FnOnce(&mut OutboundBridge, &mut BridgeOutput)) {
        let Some(hairpin) = &mut self.hairpin else { return };
        let mut out = BridgeOutput::default();
        work(hairpin, &mut out);
        self.findings.extend(out.findings.into_iter().map(ReferenceFinding::from));
        self.work.extend(out.steps.into_iter().map(ExportedWork::Hairpin));
    }

    fn follow_hairpin(&mut self, step: BridgeStep) {
        match step {
            BridgeStep::Send { by, msg, .. } => {
                if let Some(BridgeActor::Child(child)) = by {
                    self.outbound(|hairpin, out| hairpin.sent(child, &msg, out));
                }
                self.work.push_back(ExportedWork::Home(self.holders, msg));
            }
            BridgeStep::AskOwner(ask) => self.asks.push_back(QueuedEntry::Atomic(ask)),
            BridgeStep::Respond { entry } => {
                let (Some(hairpin), accelerators) = (&mut self.hairpin, &self.accelerators) else { return };
                let event = hairpin.response(entry).and_then(|(port, response)| {
                    let message = response_message(accelerators.own, &accelerators.codec, &response)?;
                    Some(BridgeEvent { point: BridgePoint::Response, port, message })
                });
                self.events.extend(event);
                hairpin.left(entry);
            }
            _ => (),
        }
    }
}
