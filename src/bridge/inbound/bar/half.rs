//! Requests of CXL.io on a clock: ports of a device, the stages, traces.
//!
//! Modelled: ports whose BAR 0 leads to the windows of class BR, each with a configuration space and an agent of power management; a TLP
//! enters at each port a cycle; what needs no accelerator is answered behind the same stages; completions leave in their order, one a
//! cycle and port; while as many writes are under way as there are tags no port takes a TLP. Left out: logical devices, the second BAR.
//!
//! A link that is lost takes with it what was asked over it, as those of lines do (`inbound::links`): writes are still done, completions go
//! nowhere, and what comes meanwhile is dropped, but for messages of power management.
//!
//! A walk through one cycle, of which [`InboundModule`](crate::inbound::module::InboundModule) is the clock: TLPs enter; those through the
//! stages are converted, or answered; accesses without progress are given up; accesses leave for accelerators, completions for hosts.
//!
//! In traces a request is a child of that of its host, and what its accelerators do are children of it.

use super::rows::{TlpAction, action};
use super::{BarConfig, BarCounts, BarOutput, BarStep, BarTarget};
use crate::inbound::links::LOST;
use crate::inbound::side::{AcceleratorSide, SideAccess};
use crate::outbound::BridgeFinding;
use crate::timing::BridgeTiming;
use crate::waits::WaitWatch;
use scalepool_coherence::clocked::outages::{LinkChange, LinkOutage, LinkOutages};
use scalepool_coherence::content::CacheLine;
use scalepool_endpoint::completer::Completer;
use scalepool_endpoint::event::EndpointEvent;
use scalepool_endpoint::pm::{Happened, PmAgent};
use scalepool_endpoint::tlp::{Tlp, TlpForm, TlpKind};
use scalepool_kernel::{Cx, In, Out};
use scalepool_link::io_ends::IoItem;
use scalepool_nodes::io::tlps::{self, IoRequestNames};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxlio::DW_BYTES;
use scalepool_protocols::cxl::cxlio::code::CplStatus;
use scalepool_protocols::ualink::code::Status;
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionNaming, Wait};
use std::collections::VecDeque;

/// The BAR behind which the windows are.
const BAR: usize = 0;
/// Class of requests with a completion.
const NON_POSTED: &str = "non-posted";
/// Class of requests without one.
const POSTED: &str = "posted";
/// Class of completions.
const COMPLETION: &str = "completion";

/// A port of CXL.io at which the bridge is a device.
pub struct BarPort {
    /// To the link.
    pub tx: Out<IoItem>,
    /// From the link.
    pub rx: In<IoItem>,
    /// How TLPs are written there.
    pub form: TlpForm,
    /// Configuration space, and what answers requests that no window takes.
    pub completer: Completer,
    /// Its agent of power management.
    pub agent: PmAgent,
    /// Number of the link, for traces.
    pub link: u32,
    /// Where its TLPs are shown.
    pub tap: Tap,
}

/// How the half is built.
pub struct BarHalfConfig {
    /// What it converts.
    pub bar: BarConfig,
    /// Its stages.
    pub timing: BridgeTiming,
    /// What its requests may wait for.
    pub waits: WaitWatch,
    /// Times in which links of its ports are down; those of one port do not overlap.
    pub outages: Vec<LinkOutage>,
}

/// A TLP in the last stage.
struct Leaving {
    due: u64,
    bytes: Vec<u8>,
    /// The transaction in traces that it belongs to, 0: none.
    id: u64,
    is_last: bool,
    since_cycle: u64,
}

/// A port with what waits there.
struct BarPortState {
    port: BarPort,
    names: IoRequestNames,
    leaving: VecDeque<Leaving>,
    /// The trace says that the first one has no room.
    is_held: bool,
    /// When its link went down last \[cycles\]; 0: it has not.
    lost_before: u64,
}

/// A request in traces.
#[derive(Debug, Clone, Copy)]
struct TracedRequest {
    id: u64,
    port: usize,
    since_cycle: u64,
    is_posted: bool,
    wait: Option<Wait>,
}

/// What it leaves behind for the report.
#[derive(Debug, Clone, Default)]
pub struct BarResult {
    /// What it has counted.
    pub counts: BarCounts,
    /// Requests that have ended.
    pub done: u64,
    /// Cycles from the port in to the port out, or to the last access of a write, of all of them.
    pub cycles: u64,
    /// Times that the link of a port has gone down.
    pub lost_links: u64,
    /// Requests that were lost with a link, and completions.
    pub lost_tlps: u64,
    /// What did not go as it should.
    pub events: Vec<EndpointEvent>,
}

/// Class BR of an inbound half.
pub struct BarHalf {
    config: BarHalfConfig,
    target: BarTarget,
    ports: Vec<BarPortState>,
    /// Requests in the stages, each with the cycle in which it is through.
    requests: VecDeque<(u64, u64)>,
    /// Accesses in the last stage.
    accesses: VecDeque<(u64, u16)>,
    /// When an access that has not got on since is given up: cycle, tag, which time it had got on.
    deadlines: VecDeque<(u64, u16, u64)>,
    traced: OrderedMap<u64, TracedRequest>,
    /// Links of ports that are down, or will be.
    links: LinkOutages,
    findings: Vec<BridgeFinding>,
    mine: BarResult,
}

impl BarHalf {
    /// The half with its ports.
    pub fn new(config: BarHalfConfig, ports: Vec<BarPort>) -> BarHalf {
        let state = |port: BarPort| BarPortState {
            names: IoRequestNames::new(port.link),
            port,
            leaving: VecDeque::new(),
            is_held: false,
            lost_before: 0,
        };
        let mut half = BarHalf {
            target: BarTarget::new(config.bar.clone()),
            links: LinkOutages::new(&config.outages),
            config,
            ports: ports.into_iter().map(state).collect(),
            requests: VecDeque::new(),
            accesses: VecDeque::new(),
            deadlines: VecDeque::new(),
            traced: OrderedMap::new(),
            findings: Vec::new(),
            mine: BarResult::default(),
        };
        half.agree_on_payload();
        half
    }

    /// Whether a tag is one of its accesses.
    pub fn owns(&self, tag: u16) -> bool {
        self.target.owns(tag)
    }

    /// Requests that are not over.
    pub fn open(&self) -> usize {
        self.target.open() + self.ports.iter().map(|state| state.leaving.len()).sum::<usize>()
    }

    /// Since when requests are open \[cycles\].
    pub fn since(&self) -> impl Iterator<Item = u64> + '_ {
        let leaving = self.ports.iter().flat_map(|state| &state.leaving).map(|leaving| leaving.since_cycle);
        self.traced.values().map(|traced| traced.since_cycle).chain(leaving)
    }

    /// Whether power management has nothing to say.
    pub fn is_quiet(&self) -> bool {
        self.ports.iter().all(|state| state.port.agent.is_quiet())
    }

    /// What it leaves behind for the report.
    pub fn result(&self) -> BarResult {
        BarResult { counts: self.target.counts(), ..self.mine.clone() }
    }

    /// Broken rules since the last call.
    pub fn take_findings(&mut self) -> Vec<BridgeFinding> {
        std::mem::take(&mut self.findings)
    }

    /// Completions are as long as the smallest of the payloads that hosts have set.
    fn agree_on_payload(&mut self) {
        let payloads = self.ports.iter().map(|state| state.port.completer.space().max_payload_bytes());
        if let Some(bytes) = payloads.min() {
            self.target.set_payload(bytes);
        }
    }

    // ---- from CXL ------------------------------------------------------------------------------------------------

    /// Takes a TLP at each port, and says what power management has to say there.
    pub fn enter(&mut self, cx: &mut Cx, at: Stamp) {
        self.follow_links(cx, at);
        for n in 0..self.ports.len() {
            if (self.target.has_room() || self.links.is_down(n))
                && let Some(item) = self.ports[n].port.rx.pop(cx)
            {
                cx.progress();
                match item {
                    IoItem::Tlp(bytes) => self.enter_tlp(n, &bytes, at),
                    IoItem::Error(error) => self.ports[n].port.completer.space_mut().note(error),
                    IoItem::Done => (),
                }
            }
            self.speak(n, cx, at);
            let state = &mut self.ports[n].port;
            self.mine.events.extend(state.completer.take_events());
            self.mine.events.extend(state.agent.take_events());
        }
    }

    /// Links go down and come back that are due to.
    fn follow_links(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(change) = self.links.next_at(at.cycle) {
            cx.progress();
            let (port, name) = match change {
                LinkChange::Down(port) => {
                    self.ports[port].lost_before = at.cycle;
                    self.mine.lost_links += 1;
                    (port, "link_lost")
                }
                LinkChange::Up(port) => (port, "link_back"),
            };
            self.ports[port].port.tap.record(at, RecordKind::Mark, 0, 0, || Body::Mark(name));
        }
    }

    fn speak(&mut self, n: usize, cx: &mut Cx, at: Stamp) {
        let port = &mut self.ports[n].port;
        port.agent.expire(at.cycle);
        while port.tx.has_room(cx, 1)
            && let Some(message) = port.agent.next_message()
            && let Ok(bytes) = message.encode(port.form)
        {
            let (id, form) = (port.tap.new_id(), port.form);
            port.tap.record(at, RecordKind::Begin, id, 0, || tlps::body(&bytes, form));
            port.tap.record(at, RecordKind::End, id, 0, || Body::None);
            // Room was asked for before.
            let _ = port.tx.push(cx, IoItem::Tlp(bytes));
        }
    }

    fn enter_tlp(&mut self, n: usize, bytes: &[u8], at: Stamp) {
        let state = &mut self.ports[n];
        let tlp = match Tlp::decode(bytes, state.port.form) {
            Ok(tlp) => tlp,
            Err(error) => return self.mine.events.push(error.into()),
        };
        let named = TransactionNaming::By(state.names.handle_of(None, &tlp));
        if state.port.agent.receive(&tlp, at.cycle) {
            if state.port.agent.take_happened().contains(&Happened::Ready) {
                state.port.completer.space_mut().pm_init_complete();
            }
            return;
        }
        let (id, form) = (state.port.tap.new_id(), state.port.form);
        state.port.tap.named(named, at, RecordKind::Begin, id, 0, || tlps::body(bytes, form));
        if self.links.is_down(n) {
            self.mine.lost_tlps += 1;
            return state.port.tap.record(at, RecordKind::End, id, 0, || Body::Mark(LOST));
        }
        if let Some(tlp) = behind_bar(&state.port.completer, &tlp) {
            state.port.tap.wait(at, id, Wait::Stage, 0);
            let (is_posted, since_cycle) = (!tlp.is_non_posted(), at.cycle);
            let request = self.target.admit(n, tlp);
            let wait = Some(Wait::Stage);
            self.traced.insert(request, TracedRequest { id, port: n, since_cycle, is_posted, wait });
            self.requests.push_back((at.cycle + self.config.timing.request_cycles(), request));
            return;
        }
        let answers = match action(&tlp) {
            TlpAction::Refused(status) => vec![refused(&tlp, state.port.completer.id(), status)],
            TlpAction::Accesses | TlpAction::Local => state.port.completer.receive(&tlp),
        };
        if answers.is_empty() {
            state.port.tap.record(at, RecordKind::End, id, 0, || Body::None);
        }
        let timing = self.config.timing;
        let due = at.cycle + timing.request_cycles() + timing.frame_cycles;
        let count = answers.len();
        for (k, answer) in answers.into_iter().enumerate() {
            self.frame(n, due, &answer, (id, k + 1 == count, at.cycle));
        }
        self.agree_on_payload();
    }

    /// A TLP enters the last stage of its port.
    fn frame(&mut self, n: usize, due: u64, tlp: &Tlp, (id, is_last, since_cycle): (u64, bool, u64)) {
        let state = &mut self.ports[n];
        match tlp.encode(state.port.form) {
            Ok(bytes) => state.leaving.push_back(Leaving { due, bytes, id, is_last, since_cycle }),
            // Every field of it comes from a TLP of the same form, so it has some.
            Err(error) => self.mine.events.push(error.into()),
        }
    }

    /// Requests that are through the stages are converted; `is_viral`: the bridge takes nothing any more.
    pub fn start(&mut self, is_viral: bool, at: Stamp, cx: &mut Cx) {
        while self.requests.front().is_some_and(|(due, _)| *due <= at.cycle) {
            let Some((_, request)) = self.requests.pop_front() else { return };
            let mut out = BarOutput::default();
            self.target.start(request, is_viral, &mut out);
            self.follow(out, at);
            cx.progress();
        }
    }

    // ---- from accelerators ---------------------------------------------------------------------------------------

    /// An accelerator answers.
    pub fn receive(&mut self, tag: u16, status: Status, lines: &[CacheLine], at: Stamp) {
        let mut out = BarOutput::default();
        self.target.receive(tag, status, lines, &mut out);
        self.follow(out, at);
    }

    /// The link over which the access of a tag was asked was reset.
    pub fn link_lost(&mut self, tag: u16, at: Stamp) {
        let mut out = BarOutput::default();
        self.target.link_lost(tag, &mut out);
        self.follow(out, at);
    }

    /// The answer to an access that was lost cannot come any more.
    pub fn forget(&mut self, tag: u16, at: Stamp) {
        let mut out = BarOutput::default();
        self.target.forget(tag, &mut out);
        self.follow(out, at);
    }

    /// Gives up what has not got on for too long.
    pub fn time_out(&mut self, at: Stamp, cx: &mut Cx) {
        while let Some(&(due, tag, advances)) = self.deadlines.front() {
            let is_open = self.target.advances(tag) == Some(advances);
            if is_open && due > at.cycle {
                break;
            }
            self.deadlines.pop_front();
            if is_open {
                // One that has not left still does, so that its answer frees its tag and its lines.
                let mut out = BarOutput::default();
                self.target.time_out(tag, advances, &mut out);
                self.follow(out, at);
                cx.progress();
            }
        }
    }

    fn follow(&mut self, out: BarOutput, at: Stamp) {
        let timing = self.config.timing;
        for step in out.steps {
            match step {
                BarStep::Send(tag) => self.accesses.push_back((at.cycle + timing.frame_cycles, tag)),
                BarStep::Advanced { tag, advances } => {
                    self.deadlines.push_back((at.cycle + timing.timeout_cycles, tag, advances));
                }
                BarStep::Respond { request, port, tlp, is_last } => {
                    let traced = self.traced.get(&request).copied();
                    let TracedRequest { id, since_cycle, .. } = traced.unwrap_or(TracedRequest::NONE);
                    self.show_wait(request, Some((Wait::Stage, 0)), at);
                    if is_last {
                        self.traced.remove(&request);
                        self.end(at.cycle + timing.frame_cycles - since_cycle);
                    }
                    let tlp = completed_by(tlp, self.ports[port].port.completer.id());
                    self.frame(port, at.cycle + timing.frame_cycles, &tlp, (id, is_last, since_cycle));
                }
                BarStep::Written(request) => {
                    if let Some(TracedRequest { id, port, since_cycle, .. }) = self.traced.remove(&request) {
                        self.ports[port].port.tap.record(at, RecordKind::End, id, 0, || Body::None);
                        self.end(at.cycle - since_cycle);
                    }
                }
                BarStep::Waits { request, holder } => {
                    let holder = self.traced.get(&holder).map_or(0, |traced| traced.id);
                    self.show_wait(request, Some((Wait::Order, holder)), at);
                }
            }
        }
        self.findings.extend(out.findings);
    }

    fn end(&mut self, cycles: u64) {
        self.mine.done += 1;
        self.mine.cycles += cycles;
    }

    /// Says of a request what it waits for from here on, or that it goes on.
    fn show_wait(&mut self, request: u64, wait: Option<(Wait, u64)>, at: Stamp) {
        let Some(traced) = self.traced.get_mut(&request) else { return };
        let tap = &mut self.ports[traced.port].port.tap;
        match wait {
            Some((wait, holder)) if traced.wait != Some(wait) => tap.wait(at, traced.id, wait, holder),
            None if traced.wait.is_some() => tap.wait_over(at, traced.id),
            _ => (),
        }
        traced.wait = wait.map(|(wait, _)| wait);
    }

    fn observe_wait(&mut self, incoming: &'static str, outgoing: &'static str) {
        self.findings.extend(self.config.waits.observed(incoming, outgoing));
    }

    // ---- out -----------------------------------------------------------------------------------------------------

    /// Accesses leave, at most so many, as far as links have room: how many did, and whether that number has held some back.
    pub fn send(&mut self, side: &mut dyn AcceleratorSide, most: usize, at: Stamp, cx: &mut Cx) -> (usize, bool) {
        let (mut sent, mut n) = (0, 0);
        while n < self.accesses.len() {
            let (due, tag) = self.accesses[n];
            if due > at.cycle {
                break;
            }
            if sent == most {
                return (sent, true);
            }
            let request = self.target.request_of(tag).unwrap_or(0);
            let Some(access) = self.target.access(tag) else {
                self.accesses.remove(n);
                continue;
            };
            if !side.has_room(cx, SideAccess::Block(access)) {
                let is_posted = self.traced.get(&request).is_some_and(|traced| traced.is_posted);
                self.show_wait(request, Some((Wait::Link, 0)), at);
                self.observe_wait(if is_posted { POSTED } else { NON_POSTED }, self.config.waits.classes.request);
                n += 1;
                continue;
            }
            let handle = side.send(cx, tag, SideAccess::Block(access));
            self.accesses.remove(n);
            self.show_wait(request, None, at);
            if let Some(TracedRequest { id, port, .. }) = self.traced.get(&request).copied() {
                let named = handle.map_or(TransactionNaming::Nowhere, TransactionNaming::As);
                self.ports[port].port.tap.named(named, at, RecordKind::Mark, id, 0, || Body::Mark("sent"));
            }
            let mut out = BarOutput::default();
            self.target.sent(tag, &mut out);
            self.follow(out, at);
            sent += 1;
            cx.progress();
        }
        (sent, false)
    }

    /// A completion leaves at each port where one is due and has room; whether one did.
    pub fn respond(&mut self, at: Stamp, cx: &mut Cx) -> bool {
        let mut has_left = false;
        for n in 0..self.ports.len() {
            let state = &mut self.ports[n];
            let Some(first) = state.leaving.front().filter(|leaving| leaving.due <= at.cycle) else { continue };
            let (id, form) = (first.id, state.port.form);
            if first.since_cycle < state.lost_before {
                // Its host has asked by a link that was lost since.
                if let Some(Leaving { is_last: true, .. }) = state.leaving.pop_front() {
                    state.port.tap.record(at, RecordKind::End, id, 0, || Body::Mark(LOST));
                }
                self.mine.lost_tlps += 1;
                cx.progress();
                has_left = true;
                continue;
            }
            if !state.port.tx.has_room(cx, 1) {
                if !std::mem::replace(&mut state.is_held, true) {
                    state.port.tap.wait(at, id, Wait::Link, 0);
                }
                self.observe_wait(NON_POSTED, COMPLETION);
                continue;
            }
            state.is_held = false;
            let Some(Leaving { bytes, is_last, .. }) = state.leaving.pop_front() else { continue };
            let kind = if is_last { RecordKind::End } else { RecordKind::Mark };
            state.port.tap.record(at, kind, id, 0, || match is_last {
                true => tlps::body(&bytes, form),
                false => Body::Mark("part"),
            });
            // Room was asked for before.
            let _ = state.port.tx.push(cx, IoItem::Tlp(bytes));
            cx.progress();
            has_left = true;
        }
        has_left
    }

    /// Whether a TLP can be taken.
    pub fn is_due(&self, cx: &Cx) -> bool {
        let takes = |n| self.target.has_room() || self.links.is_down(n);
        self.ports.iter().enumerate().any(|(n, state)| takes(n) && state.port.rx.is_due(cx))
    }

    /// The first later cycle in which it has something to do without being woken.
    pub fn next(&self, at: Stamp) -> Option<u64> {
        let fronts = [
            self.requests.front().map(|(due, _)| *due),
            self.accesses.iter().map(|(due, _)| *due).filter(|due| *due > at.cycle).min(),
            self.deadlines.front().map(|(due, ..)| *due),
            self.links.due(),
        ];
        let leaving = self.ports.iter().filter_map(|state| state.leaving.front().map(|leaving| leaving.due));
        let agents = self.ports.iter().filter_map(|state| state.port.agent.due());
        fronts.into_iter().flatten().chain(leaving).chain(agents).filter(|due| *due > at.cycle).min()
    }
}

impl TracedRequest {
    const NONE: TracedRequest = TracedRequest { id: 0, port: 0, since_cycle: 0, is_posted: false, wait: None };
}

/// A request that memory behind the BAR takes, with its address counted from there on; one that runs over the end of the BAR is none.
fn behind_bar(completer: &Completer, tlp: &Tlp) -> Option<Tlp> {
    let space = completer.space();
    let bar = space.bar(BAR).filter(|_| space.memory_enabled() && action(tlp) == TlpAction::Accesses)?;
    let (address, bytes) = super::extent(tlp);
    let is_inside = bar.contains(&address) && address.checked_add(bytes).is_some_and(|end| end <= bar.end);
    let offset = address.wrapping_sub(bar.start);
    let kind = match tlp.kind {
        TlpKind::MemRead { dw, enables, .. } => TlpKind::MemRead { address: offset, dw, enables },
        TlpKind::MemWrite { enables, .. } => TlpKind::MemWrite { address: offset, enables },
        TlpKind::Atomic { operation, .. } => TlpKind::Atomic { operation, address: offset },
        _ => return None,
    };
    is_inside.then(|| Tlp { kind, ..tlp.clone() })
}

/// The completion of a request that has no effect.
fn refused(tlp: &Tlp, completer: u16, status: CplStatus) -> Tlp {
    // Unordered I/O has completions of its own.
    if let Some(ended) = tlp.uio_ended(completer, status) {
        return ended;
    }
    let kind = TlpKind::Completion { completer, status, byte_count: DW_BYTES, lower_address: 0 };
    Tlp { tag: tlp.tag, tc: tlp.tc, attr: tlp.attr, ..Tlp::new(kind, tlp.requester, Vec::new()) }
}

/// A completion with the one who completes.
fn completed_by(tlp: Tlp, by: u16) -> Tlp {
    let kind = match tlp.kind {
        TlpKind::Completion { status, byte_count, lower_address, .. } => {
            TlpKind::Completion { completer: by, status, byte_count, lower_address }
        }
        other => other,
    };
    Tlp { kind, ..tlp }
}
