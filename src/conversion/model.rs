//! One half of a bridge as a reference model: messages in, messages out, no time.
//!
//! Modelled: what [`scalepool_bridge`] models of conversion, order, line locks, caches, lines of hosts, status and poison, behind three calls: a request
//! comes, an answer comes, new windows are committed. Accesses to the memory of a cache end at once. Left out: latencies, time-outs, the load that targets report,
//! back-pressure of links: whoever drives the model asks for one request after the other and takes what it makes. A request is looked up
//! in the moment in which it comes: [`BridgePoint::Request`] is where a bridge has accepted it behind its lookup.
//!
//! A walk through a partial write of coherent memory: the request comes, MemRd Any/SnpInv leaves; Cmp-E and the data come, MemWr
//! Invalid/NoOp leaves with the merged line; its Cmp comes, and the response leaves.

use super::accelerators::{AcceleratorPorts, response_message};
use super::config::{AcceleratorProtocol, BridgeHalf, ReferenceConfig, committed, io_tags};
use super::exported::{ExportedHalf, Made};
use super::hosts::{PulledData, other_sort};
use super::message::{BridgeMessage, CxlMessage};
use super::tlp;
use scalepool_bridge::inbound::bar::{BarOutput, BarStep, BarTarget};
use scalepool_bridge::inbound::side::{AcceleratorAnswer, SideAccess};
use scalepool_bridge::inbound::table::InboundSource;
use scalepool_bridge::inbound::{InboundBridge, InboundOutput, InboundStep};
use scalepool_bridge::outbound::epoch::{CommitOutcome, SAME_PORT};
use scalepool_bridge::outbound::table::ChildId;
use scalepool_bridge::outbound::{self, BridgeActor, BridgeFinding, BridgeOutput, BridgeStep, OutboundBridge};
use scalepool_bridge::window::{BridgeWindows, InboundClass, WindowClass};
use scalepool_coherence::message::Msg;
use scalepool_endpoint::tlp::TlpKind;
use scalepool_forms::FormError;
use scalepool_protocols::cxl::message::PeerRoute;
use scalepool_protocols::nvlink::{Class, NvlConfig};
use serde_json::Value;
use std::collections::VecDeque;
use std::ops::Range;
use thiserror::Error;

/// Where a message passes, seen from a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BridgePoint {
    /// A request is accepted by the bridge, behind the lookup of its line; or a holder answers a snoop of the bridge.
    Request,
    /// What it was converted to leaves, with a tag of the bridge; or the answer to a snoop of a host, or data that a host pulls, both under the
    /// UQID of the host.
    Sent,
    /// An answer to that comes, or a snoop.
    Answer,
    /// The response to the request leaves; or the bridge snoops those that hold its lines.
    Response,
}

impl BridgePoint {
    /// All of them, in the order in which a transaction passes them.
    pub const ALL: [BridgePoint; 4] =
        [BridgePoint::Request, BridgePoint::Sent, BridgePoint::Answer, BridgePoint::Response];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            BridgePoint::Request => "request",
            BridgePoint::Sent => "sent",
            BridgePoint::Answer => "answer",
            BridgePoint::Response => "response",
        }
    }
}

/// A message that passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BridgeEvent {
    /// The point of the bridge that it passes.
    pub point: BridgePoint,
    /// Number of the port or link on that side.
    pub port: usize,
    /// The message, in the fields of its protocol.
    pub message: BridgeMessage,
}

/// Why a message is not taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReferenceError {
    /// It belongs to the other side, or is none that comes there.
    #[error("{point}: found {found}, which does not come there, expected {expected}")]
    Misplaced {
        /// Where it was given in.
        point: &'static str,
        /// Its layout, and the operation of NVLink.
        found: String,
        /// What comes there at a bridge of this protocol.
        expected: String,
    },
    /// The table of transactions or the buffers of what is written are full.
    #[error("request: found no free entry, expected to be asked again when a response has left")]
    Full,
    /// New windows are committed, and requests under the old ones have still to be answered.
    #[error(
        "request: found a commit that waits for earlier requests, expected to be asked again when their responses have left"
    )]
    Epoch,
}

/// A rule that messages have broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceFinding {
    /// The rule.
    pub rule: &'static str,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

impl ReferenceFinding {
    pub(crate) fn new(rule: &'static str, found: String, expected: impl Into<String>) -> ReferenceFinding {
        ReferenceFinding { rule, found, expected: expected.into() }
    }
}

impl From<BridgeFinding> for ReferenceFinding {
    fn from(BridgeFinding { rule, found, expected }: BridgeFinding) -> ReferenceFinding {
        ReferenceFinding::new(rule, found, expected)
    }
}

enum ConversionHalf {
    Outbound(Box<OutboundBridge>),
    Inbound(Box<InboundBridge>, AcceleratorPorts),
    Bar(Box<BarTarget>, AcceleratorPorts),
    Exported(Box<ExportedHalf>),
}

/// One half of a bridge.
pub struct ReferenceBridge {
    protocol: AcceleratorProtocol,
    own: u16,
    half: ConversionHalf,
    codec: NvlConfig,
    /// Windows of all epochs of a half with a cache, whose lines outlive them.
    cached: Vec<BridgeWindows>,
    /// Its entries are few enough for tags of TLPs.
    has_io_tags: bool,
    /// CXL ports that lead to hosts.
    host_ports: Range<usize>,
    /// Sources of the TLPs that have left for another bridge, which is watched, until they are taken.
    tlp_sources: VecDeque<u16>,
    /// A commit waits for responses of another bridge.
    is_held: bool,
    /// Data that a host has pulled from another bridge, which is watched; `None`: they leave at once.
    pulled: Option<PulledData>,
    findings: Vec<ReferenceFinding>,
}

impl ReferenceBridge {
    /// A bridge with nothing under way.
    pub fn new(config: ReferenceConfig) -> ReferenceBridge {
        let cached = match &config.half {
            BridgeHalf::Outbound(config) if config.data.is_some() => vec![config.windows.clone()],
            _ => Vec::new(),
        };
        let (has_io_tags, host_ports) = match &config.half {
            BridgeHalf::Outbound(config) => (config.entries <= tlp::MOST_ENTRIES, config.host_ports.clone()),
            BridgeHalf::Inbound(_) | BridgeHalf::Bar(_) | BridgeHalf::Exported(_) => (true, 0..0),
        };
        let accelerators = AcceleratorPorts::new(config.protocol, config.own, config.ports);
        let half = match config.half {
            BridgeHalf::Outbound(config) => ConversionHalf::Outbound(Box::new(OutboundBridge::new(*config))),
            BridgeHalf::Inbound(config) => ConversionHalf::Inbound(Box::new(InboundBridge::new(config)), accelerators),
            BridgeHalf::Bar(config) => ConversionHalf::Bar(Box::new(BarTarget::new(config)), accelerators),
            BridgeHalf::Exported(config) => {
                ConversionHalf::Exported(Box::new(ExportedHalf::new(*config, accelerators)))
            }
        };
        ReferenceBridge {
            protocol: config.protocol,
            own: config.own,
            half,
            codec: NvlConfig::default(),
            cached,
            has_io_tags,
            host_ports,
            tlp_sources: VecDeque::new(),
            is_held: false,
            pulled: None,
            findings: Vec::new(),
        }
    }

    /// Transactions that have an entry, and what a cache writes back.
    pub fn open(&self) -> usize {
        match &self.half {
            ConversionHalf::Outbound(bridge) => bridge.open(),
            ConversionHalf::Inbound(bridge, _) => bridge.open(),
            ConversionHalf::Bar(target, _) => target.open(),
            ConversionHalf::Exported(half) => half.open(),
        }
    }

    /// Whether an answer with this tag of the model, of CXL.cache this CQID, is still to come at a port.
    pub fn awaits(&self, port: usize, tag: u16) -> bool {
        match &self.half {
            ConversionHalf::Outbound(bridge) => match bridge.write_back_of(port, tag) {
                Some(n) => bridge.write_backs().get(n).is_some(),
                None => {
                    let child = bridge.child_of(ChildId::of_tag(tag)).filter(|child| child.port == port);
                    child.is_some_and(|child| child.awaited.completion || child.awaited.data || child.awaited.ack)
                }
            },
            ConversionHalf::Inbound(_, accelerators) | ConversionHalf::Bar(_, accelerators) => accelerators.awaits(tag),
            ConversionHalf::Exported(half) => half.awaits(tag),
        }
    }

    /// Whether the answer to a snoop with this BITag of the model is still to come at a CXL port.
    pub(crate) fn awaits_snoop(&self, port: usize, tag: u16) -> bool {
        matches!(&self.half, ConversionHalf::Exported(half) if half.awaits_snoop(port, tag))
    }

    /// Bytes of an element, and the bytes of the elements, of the sum of floating point numbers that is done under a tag of the model at a
    /// port.
    pub(crate) fn float_elements(&self, port: usize, tag: u16) -> Option<(usize, u64)> {
        let ConversionHalf::Outbound(bridge) = &self.half else { return None };
        let is_write_back = bridge.write_back_of(port, tag).is_some();
        let child = bridge.child_of(ChildId::of_tag(tag)).filter(|_| !is_write_back)?;
        child.atomic.as_ref()?.float_elements()
    }

    /// The same of the data that leave for a host because of an answer of it, or of its snoop: they have no tag of the bridge.
    pub(crate) fn float_elements_behind(&self, port: usize, answer: &BridgeMessage) -> Option<(usize, u64)> {
        let ConversionHalf::Outbound(bridge) = &self.half else { return None };
        let BridgeMessage::Cxl(CxlMessage { msg, .. }) = answer else { return None };
        match *msg {
            Msg::H2dRsp { cqid, .. } | Msg::H2dData { cqid, .. } => self.float_elements(port, cqid),
            Msg::H2dReq { line, .. } => bridge.child_with(port, line)?.atomic.as_ref()?.float_elements(),
            _ => None,
        }
    }

    /// The source of the first TLP that has left and was not asked for, of a bridge that is watched.
    pub(crate) fn take_tlp_source(&mut self) -> Option<u16> {
        self.tlp_sources.pop_front()
    }

    /// Rules that messages have broken since the last call.
    pub fn take_findings(&mut self) -> Vec<ReferenceFinding> {
        std::mem::take(&mut self.findings)
    }

    /// Commits new windows and groups to an outbound half, in the JSON form of [`committed`]: whether they are
    /// valid now. If not, requests that are under way have to be answered first, and no other one is taken meanwhile.
    ///
    /// # Errors
    /// Windows that cannot be, or that lead to a host by a port of memory or the other way; an inbound half, whose windows stay; an earlier commit that waits; with a cache of lines, windows that lead an
    /// address of class MN by another port than earlier ones did, since the model has no registers by which the cache is flushed before.
    pub fn commit(&mut self, form: &Value) -> Result<bool, FormError> {
        let windows = committed(form, self.protocol)?;
        let other_sort =
            || other_sort(&windows, &self.host_ports).filter(|_| matches!(self.half, ConversionHalf::Outbound(_)));
        if let Some(found) = self.io_without_tags(&windows).or_else(other_sort) {
            return Err(found);
        }
        let ConversionHalf::Outbound(bridge) = &mut self.half else {
            return Err(FormError::new(
                "commit",
                "an inbound half",
                "an outbound one: windows from CXL stay as they are",
            ));
        };
        if self.is_held || bridge.is_committing() {
            return Err(FormError::new("commit", "an earlier commit that waits", "one at a time"));
        }
        if bridge.cache().is_some() {
            let rerouted = |before: &BridgeWindows| before.first_rerouted(&windows, WindowClass::Mn);
            if let Some(address) = self.cached.iter().find_map(rerouted) {
                let found = format!("windows that lead {address:#x} by another port than before");
                return Err(FormError::new("commit", found, SAME_PORT));
            }
            if !self.cached.contains(&windows) {
                self.cached.push(windows.clone());
            }
        }
        bridge.write_shadow(windows);
        Ok(bridge.commit() == CommitOutcome::Done)
    }

    /// What is wrong with windows of class IO of a bridge with more entries than TLPs have tags.
    fn io_without_tags(&self, windows: &BridgeWindows) -> Option<FormError> {
        (!self.has_io_tags).then(|| io_tags(windows)).flatten()
    }

    /// Whether a commit waits for requests that are under way.
    pub fn is_committing(&self) -> bool {
        self.is_held || matches!(&self.half, ConversionHalf::Outbound(bridge) if bridge.is_committing())
    }

    /// The commit that was just done waits, until it is released, even if nothing is under way here.
    pub(crate) fn hold_commit(&mut self) {
        self.is_held = true;
    }

    /// A commit that is held waits no longer than the model itself needs.
    pub(crate) fn release_commit(&mut self) {
        self.is_held &= matches!(&self.half, ConversionHalf::Outbound(bridge) if bridge.is_committing());
    }

    /// Why a request has no entry.
    fn full(&self) -> ReferenceError {
        if self.is_committing() { ReferenceError::Epoch } else { ReferenceError::Full }
    }

    fn misplaced(&self, point: BridgePoint, message: &BridgeMessage) -> ReferenceError {
        let protocol = self.protocol.name();
        let expected = match (&self.half, point) {
            (ConversionHalf::Outbound(_), BridgePoint::Request) => {
                format!("a request of the accelerators, which speak {protocol}")
            }
            (ConversionHalf::Outbound(_), _) => {
                "S2M NDR, DRS or BISnp of cxl256, of a host H2D Req, Rsp or Data, or a completion of CXL.io".to_owned()
            }
            (ConversionHalf::Inbound(..), BridgePoint::Request) => "M2S Req or RwD of cxl256".to_owned(),
            (ConversionHalf::Bar(..), BridgePoint::Request) => "MRd, MWr or an atomic of CXL.io".to_owned(),
            (ConversionHalf::Exported(half), BridgePoint::Request) => {
                let last = half.holders() - 1;
                let holders = format!("M2S Req, RwD or BIRsp of cxl256 with LD-ID 0 at ports 0 to {last}");
                match half.has_hairpin() {
                    true => format!("{holders}, or a request of the accelerators, which speak {protocol}"),
                    false => holders,
                }
            }
            _ => format!("a response of the accelerators, which speak {protocol}"),
        };
        let found = match message {
            BridgeMessage::Nvlink(message) => format!("{:?} of NVLink", message.op),
            _ => message.layout().to_owned(),
        };
        ReferenceError::Misplaced { point: point.name(), found, expected }
    }

    /// A request comes through a port; what follows at once.
    ///
    /// # Errors
    /// It is none that comes there, or there is no room for it.
    pub fn request(&mut self, port: usize, message: &BridgeMessage) -> Result<Vec<BridgeEvent>, ReferenceError> {
        let (misplaced, full) = (self.misplaced(BridgePoint::Request, message), self.full());
        match (&mut self.half, message) {
            (ConversionHalf::Outbound(bridge), BridgeMessage::Upli(transfer))
                if self.protocol == AcceleratorProtocol::Ualink =>
            {
                let request = outbound::upli::asked(transfer).ok_or(misplaced)?;
                let entry = (!self.is_held).then(|| bridge.admit(port, request)).flatten().ok_or(full)?;
                Ok(self.outbound(|bridge, out| bridge.start(entry, out)))
            }
            (ConversionHalf::Outbound(bridge), BridgeMessage::Nvlink(asked))
                if self.protocol == AcceleratorProtocol::Nvlink =>
            {
                if !matches!(asked.op.class(), Some(Class::Posted | Class::NonPosted)) {
                    return Err(misplaced);
                }
                // What a switch alone understands is dropped.
                let Some(request) = outbound::nvlink::asked(asked, port) else { return Ok(Vec::new()) };
                let entry = (!self.is_held).then(|| bridge.admit(port, request)).flatten().ok_or(full)?;
                Ok(self.outbound(|bridge, out| bridge.start(entry, out)))
            }
            (ConversionHalf::Inbound(bridge, _), BridgeMessage::Cxl(CxlMessage { msg, ld_id, traffic_class })) => {
                if !matches!(msg, Msg::M2sReq { .. } | Msg::M2sRwd { .. }) {
                    return Err(misplaced);
                }
                let route = PeerRoute { ld_id: *ld_id, ..PeerRoute::default() };
                let (id, traffic_class) = (u16::from(*ld_id), *traffic_class);
                let source = InboundSource { port, id, route, traffic_class, class: InboundClass::Nh };
                let mut out = InboundOutput::default();
                let entry = bridge.admit(source, *msg, &mut out).ok_or(ReferenceError::Full)?;
                bridge.start(entry, &mut out);
                Ok(self.inbound_steps(out))
            }
            (ConversionHalf::Bar(target, _), BridgeMessage::Tlp(tlp)) => {
                if matches!(tlp.kind, TlpKind::Completion { .. }) {
                    return Err(misplaced);
                }
                if !target.has_room() {
                    return Err(ReferenceError::Full);
                }
                let mut out = BarOutput::default();
                let request = target.admit(port, (**tlp).clone());
                target.start(request, false, &mut out);
                Ok(self.bar_steps(out))
            }
            (ConversionHalf::Exported(half), BridgeMessage::Cxl(CxlMessage { msg, ld_id: 0, .. })) => {
                let is_of_holder = matches!(msg, Msg::M2sReq { .. } | Msg::M2sRwd { .. } | Msg::M2sBirsp { .. });
                if !is_of_holder || port >= half.holders() {
                    return Err(misplaced);
                }
                let made = half.holder_asks(port, *msg);
                Ok(self.made(made))
            }
            (ConversionHalf::Exported(half), BridgeMessage::Upli(transfer))
                if half.has_hairpin() && self.protocol == AcceleratorProtocol::Ualink =>
            {
                let request = outbound::upli::asked(transfer).ok_or(misplaced)?;
                let made = half.accelerator_asks(port, request).ok_or(full)?;
                Ok(self.made(made))
            }
            (ConversionHalf::Exported(half), BridgeMessage::Nvlink(asked))
                if half.has_hairpin() && self.protocol == AcceleratorProtocol::Nvlink =>
            {
                if !matches!(asked.op.class(), Some(Class::Posted | Class::NonPosted)) {
                    return Err(misplaced);
                }
                let Some(request) = outbound::nvlink::asked(asked, port) else { return Ok(Vec::new()) };
                let made = half.accelerator_asks(port, request).ok_or(full)?;
                Ok(self.made(made))
            }
            _ => Err(misplaced),
        }
    }

    /// Data that a host pulls leave when [`ReferenceBridge::left`] says so: another bridge is watched, which is done with a write when they have.
    pub(crate) fn waits_for_pulled(&mut self) {
        self.pulled = Some(PulledData::new());
    }

    /// A message has left the bridge that is watched; what follows.
    pub(crate) fn left(&mut self, port: usize, message: &BridgeMessage) -> Vec<BridgeEvent> {
        let BridgeMessage::Cxl(CxlMessage { msg: Msg::D2hData { uqid, .. }, .. }) = message else { return Vec::new() };
        let Some((child, msg)) = self.pulled.as_mut().and_then(|pulled| pulled.remove(&(port, *uqid))) else {
            return Vec::new();
        };
        self.outbound(|bridge, out| bridge.sent(child, &msg, out))
    }

    /// What leaves of what was made; what was found is kept.
    fn made(&mut self, (events, mut findings): Made) -> Vec<BridgeEvent> {
        self.findings.append(&mut findings);
        events
    }

    /// An answer to what the bridge has sent comes through a port, or a snoop; what follows at once.
    ///
    /// # Errors
    /// It is none that comes there.
    pub fn answer(&mut self, port: usize, message: &BridgeMessage) -> Result<Vec<BridgeEvent>, ReferenceError> {
        let misplaced = self.misplaced(BridgePoint::Answer, message);
        match (&mut self.half, message) {
            (ConversionHalf::Outbound(_), BridgeMessage::Cxl(CxlMessage { msg, .. })) => {
                let is_of_memory = matches!(msg, Msg::S2mNdr { .. } | Msg::S2mDrs { .. } | Msg::S2mBisnp { .. });
                let is_of_host = matches!(msg, Msg::H2dReq { .. } | Msg::H2dRsp { .. } | Msg::H2dData { .. });
                if !is_of_memory && !is_of_host {
                    return Err(misplaced);
                }
                Ok(self.outbound(|bridge, out| bridge.receive(port, *msg, out)))
            }
            (ConversionHalf::Outbound(_), BridgeMessage::Tlp(tlp)) => {
                if !matches!(tlp.kind, TlpKind::Completion { .. }) {
                    return Err(misplaced);
                }
                Ok(self.outbound(|bridge, out| bridge.receive_tlp(port, tlp, out)))
            }
            (ConversionHalf::Inbound(bridge, accelerators), message) => {
                let answer = accelerators.answered(message, &mut self.findings).ok_or(misplaced)?;
                let mut out = InboundOutput::default();
                if let Some(AcceleratorAnswer { tag, status, lines }) = answer {
                    bridge.receive(tag, status, &lines, &mut out);
                }
                Ok(self.inbound_steps(out))
            }
            (ConversionHalf::Bar(target, accelerators), message) => {
                let answer = accelerators.answered(message, &mut self.findings).ok_or(misplaced)?;
                let mut out = BarOutput::default();
                if let Some(AcceleratorAnswer { tag, status, lines }) = answer {
                    target.receive(tag, status, &lines, &mut out);
                }
                Ok(self.bar_steps(out))
            }
            (ConversionHalf::Exported(half), message) => {
                let made = half.accelerator_answers(message).ok_or(misplaced)?;
                Ok(self.made(made))
            }
            _ => Err(misplaced),
        }
    }

    /// Does something to the outbound half and all that follows.
    fn outbound(&mut self, work: impl FnOnce(&mut OutboundBridge, &mut BridgeOutput)) -> Vec<BridgeEvent> {
        let ConversionHalf::Outbound(bridge) = &mut self.half else { return Vec::new() };
        let (mut out, mut events) = (BridgeOutput::default(), Vec::new());
        work(bridge, &mut out);
        self.findings.extend(out.findings.drain(..).map(ReferenceFinding::from));
        let mut steps: VecDeque<BridgeStep> = out.steps.drain(..).collect();
        while let Some(step) = steps.pop_front() {
            match step {
                BridgeStep::Send { by, port, msg, .. } => {
                    let mut traffic_class = 0;
                    if let Some(BridgeActor::Child(child)) = by {
                        match (&mut self.pulled, msg) {
                            (Some(pulled), Msg::D2hData { uqid, .. }) => {
                                pulled.insert((port, uqid), (child, msg));
                            }
                            _ => bridge.sent(child, &msg, &mut out),
                        }
                        // CXL.cache has no traffic classes.
                        let of = bridge.transaction(child.entry).filter(|_| msg.class().is_mem());
                        traffic_class = of.map_or(0, |transaction| transaction.request.traffic_class);
                    }
                    let message = BridgeMessage::Cxl(CxlMessage { msg, ld_id: 0, traffic_class });
                    events.push(BridgeEvent { point: BridgePoint::Sent, port, message });
                    self.findings.extend(out.findings.drain(..).map(ReferenceFinding::from));
                    steps.extend(out.steps.drain(..));
                }
                BridgeStep::SendTlp { child, port, tlp, is_last } => {
                    let message = BridgeMessage::Tlp(Box::new(tlp));
                    events.push(BridgeEvent { point: BridgePoint::Sent, port, message });
                    if self.pulled.is_some() {
                        let source = bridge.transaction(child.entry).map(|open| open.request.source);
                        self.tlp_sources.push_back(source.unwrap_or_default());
                    }
                    bridge.tlp_sent(child, is_last, &mut out);
                    self.findings.extend(out.findings.drain(..).map(ReferenceFinding::from));
                    steps.extend(out.steps.drain(..));
                }
                BridgeStep::Access { by: Some(by), .. } => {
                    bridge.accessed(by, &mut out);
                    self.findings.extend(out.findings.drain(..).map(ReferenceFinding::from));
                    steps.extend(out.steps.drain(..));
                }
                BridgeStep::Beat { entry, beat } => {
                    if let Some((port, response)) = bridge.beat(entry, beat) {
                        let message = response_message(self.own, &self.codec, &response);
                        let event = |message| BridgeEvent { point: BridgePoint::Response, port, message };
                        events.extend(message.map(event));
                    }
                }
                BridgeStep::Respond { entry } => {
                    if let Some((port, response)) = bridge.response(entry) {
                        let message = response_message(self.own, &self.codec, &response);
                        let event = |message| BridgeEvent { point: BridgePoint::Response, port, message };
                        events.extend(message.map(event));
                    }
                    bridge.left(entry);
                }
                _ => (),
            }
        }
        events
    }

    /// What follows from steps of the half behind a BAR.
    fn bar_steps(&mut self, mut out: BarOutput) -> Vec<BridgeEvent> {
        let ConversionHalf::Bar(target, accelerators) = &mut self.half else { return Vec::new() };
        let mut events = Vec::new();
        let mut steps: VecDeque<BarStep> = out.steps.drain(..).collect();
        while let Some(step) = steps.pop_front() {
            match step {
                BarStep::Send(tag) => {
                    let Some(access) = target.access(tag) else { continue };
                    events.push(accelerators.send(tag, SideAccess::Block(access)));
                    target.sent(tag, &mut out);
                    steps.extend(out.steps.drain(..));
                }
                BarStep::Respond { port, tlp, .. } => {
                    let message = BridgeMessage::Tlp(Box::new(tlp));
                    events.push(BridgeEvent { point: BridgePoint::Response, port, message });
                }
                BarStep::Advanced { .. } | BarStep::Written(_) | BarStep::Waits { .. } => (),
            }
        }
        self.findings.extend(out.findings.drain(..).map(ReferenceFinding::from));
        events
    }

    /// What follows from steps of the inbound half.
    fn inbound_steps(&mut self, mut out: InboundOutput) -> Vec<BridgeEvent> {
        let ConversionHalf::Inbound(bridge, accelerators) = &mut self.half else { return Vec::new() };
        self.findings.extend(out.findings.drain(..).map(ReferenceFinding::from));
        let mut events = Vec::new();
        let mut steps: VecDeque<InboundStep> = out.steps.drain(..).collect();
        while let Some(step) = steps.pop_front() {
            match step {
                InboundStep::Send(entry) => {
                    let Some(access) = bridge.access(entry) else { continue };
                    events.push(accelerators.send(entry, SideAccess::Lines(&access)));
                    bridge.sent(entry, &mut out);
                    steps.extend(out.steps.drain(..));
                }
                InboundStep::Respond(entry) => {
                    if let Some((InboundSource { port, route, .. }, msg)) = bridge.answer(entry) {
                        let message = BridgeMessage::Cxl(CxlMessage { msg, ld_id: route.ld_id, traffic_class: 0 });
                        events.push(BridgeEvent { point: BridgePoint::Response, port, message });
                    }
                    bridge.left(entry);
                }
                InboundStep::AccessCache(entry) => {
                    bridge.cache_accessed(entry, &mut out);
                    steps.extend(out.steps.drain(..));
                }
                InboundStep::Drop(entry) => bridge.left(entry),
                _ => (),
            }
        }
        self.findings.extend(out.findings.drain(..).map(ReferenceFinding::from));
        events
    }
}
