//! What a bridge does at ports of CXL.io: TLPs leave and come, power management.
//!
//! Modelled: TLPs leave in one row at each port, whatever they are, and so never pass each other; what comes is a completion, a message of power
//! management, or told; the port of a root, which has the agent of a host and speaks of nothing but its own. Left out: the walk through
//! configuration spaces, which firmware has done before the run. A walk: MWr and the read of no byte of a write wait in the row; both find room and leave; the
//! completion passes the stages of answers and ends the write.

use super::{Bridge, Traced};
use crate::outbound::BridgeFinding;
use crate::outbound::table::ChildId;
use scalepool_endpoint::event::EndpointEvent;
use scalepool_endpoint::pm::PmAgent;
use scalepool_endpoint::tlp::{Tlp, TlpForm, TlpKind};
use scalepool_kernel::{Cx, In, Out};
use scalepool_link::io_ends::IoItem;
use scalepool_nodes::io::tlps::{self, IoRequestNames};
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionNaming, Wait};
use std::collections::VecDeque;

/// Bus, device and function of the bridge at its ports: that of a root complex.
pub const BRIDGE_ID: u16 = 0;
/// Class of posted requests.
const POSTED: &str = "posted";
/// Class of requests with a completion.
const NON_POSTED: &str = "non-posted";

/// A port of CXL.io.
pub struct BridgeIoPort {
    /// To the link.
    pub tx: Out<IoItem>,
    /// From the link.
    pub rx: In<IoItem>,
    /// How TLPs are written there.
    pub form: TlpForm,
    /// The power management agent of its root.
    pub agent: PmAgent,
    /// Number of the link, for traces.
    pub link: u32,
    /// Where its TLPs are shown.
    pub tap: Tap,
}

/// A TLP that waits to leave.
struct LeavingTlp {
    due: u64,
    child: ChildId,
    tlp: Tlp,
    is_last: bool,
    /// The trace says that it has no room.
    is_held: bool,
}

/// A port with what waits there.
pub(super) struct IoState {
    pub(super) port: BridgeIoPort,
    names: IoRequestNames,
    leaving: VecDeque<LeavingTlp>,
    /// Completions in the stages, each with the cycle in which it is through.
    answers: VecDeque<(u64, Vec<u8>, Tlp)>,
    /// The link knows that nothing is asked but what is under way.
    is_told: bool,
}

impl IoState {
    pub(super) fn new(port: BridgeIoPort) -> IoState {
        let names = IoRequestNames::new(port.link);
        IoState { port, names, leaving: VecDeque::new(), answers: VecDeque::new(), is_told: false }
    }

    /// Cycle in which the first TLP may leave.
    pub(super) fn due(&self) -> Option<u64> {
        self.leaving.front().map(|leaving| leaving.due)
    }

    /// Cycle in which the first completion is through, or the agent gives something up.
    pub(super) fn answers_due(&self) -> Option<u64> {
        self.answers.front().map(|(due, ..)| *due).into_iter().chain(self.port.agent.due()).min()
    }

    /// Where its TLPs are shown.
    pub(super) fn tap(&mut self) -> &mut Tap {
        &mut self.port.tap
    }

    /// What waits to leave does not leave: the entries of the requests to which it belonged.
    pub(super) fn take_back(&mut self) -> Vec<u16> {
        let mut entries: Vec<u16> = self.leaving.drain(..).map(|leaving| leaving.child.entry).collect();
        entries.dedup();
        entries
    }

    /// Whether power management has nothing to say.
    pub(super) fn is_quiet(&self) -> bool {
        self.port.agent.is_quiet()
    }
}

impl Bridge {
    /// Takes what has come at ports of CXL.io, and says what power management has to say there.
    pub(super) fn enter_tlps(&mut self, cx: &mut Cx, at: Stamp) {
        let due = at.cycle + self.config.timing.answer_cycles();
        let is_down = |n: &usize| self.links.is_down(self.cxl.len() + n);
        for n in (0..self.io.len()).filter(|n| !is_down(n)).collect::<Vec<_>>() {
            while let Some(item) = self.io[n].port.rx.pop(cx) {
                if let IoItem::Tlp(bytes) = item {
                    self.enter_tlp(n, due, bytes, at);
                }
            }
            let state = &mut self.io[n];
            state.port.agent.expire(at.cycle);
            while state.port.tx.has_room(cx, 1)
                && let Some(message) = state.port.agent.next_message()
                && let Ok(bytes) = message.encode(state.port.form)
            {
                let (id, form) = (state.port.tap.new_id(), state.port.form);
                let named = TransactionNaming::As(state.names.handle(&message));
                state.port.tap.named(named, at, RecordKind::Begin, id, 0, || tlps::body(&bytes, form));
                state.port.tap.record(at, RecordKind::End, id, 0, || Body::None);
                // Room was asked for before.
                let _ = state.port.tx.push(cx, IoItem::Tlp(bytes));
            }
            let is_quiet = state.port.agent.is_ready() && state.port.agent.is_quiet();
            if is_quiet && !state.is_told {
                // From here on the link rests while nothing is under way.
                state.is_told = state.port.tx.push(cx, IoItem::Done).is_ok();
            }
            let events = state.port.agent.take_events();
            self.io_events(events);
        }
    }

    fn io_events(&mut self, events: Vec<EndpointEvent>) {
        for placed in scalepool_nodes::io::broken(&self.config.place, &events) {
            self.mine.broken.push(placed);
        }
    }

    fn enter_tlp(&mut self, n: usize, due: u64, bytes: Vec<u8>, at: Stamp) {
        let tlp = match Tlp::decode(&bytes, self.io[n].port.form) {
            Ok(tlp) => tlp,
            Err(error) => return self.io_events(vec![error.into()]),
        };
        if self.io[n].port.agent.receive(&tlp, at.cycle) {
            return;
        }
        if let Some(child) = self.traced_child(&tlp).filter(|child| *child != 0) {
            self.io[n].port.tap.wait(at, child, Wait::Stage, 0);
        }
        self.io[n].answers.push_back((due, bytes, tlp));
    }

    /// The transaction in traces that a completion is for.
    fn traced_child(&self, tlp: &Tlp) -> Option<u64> {
        let TlpKind::Completion { .. } = tlp.kind else { return None };
        let id = ChildId::of_tag(tlp.tag);
        let traced = self.traced.get(usize::from(id.entry))?;
        Some(traced.children[usize::from(id.child)])
    }

    /// Completions that are through the stages take effect.
    pub(super) fn take_tlps(&mut self, cx: &mut Cx, at: Stamp) {
        for n in 0..self.io.len() {
            while self.io[n].answers.front().is_some_and(|(due, ..)| *due <= at.cycle) {
                let Some((_, bytes, tlp)) = self.io[n].answers.pop_front() else { return };
                let (traced, id) = (self.traced_child(&tlp), ChildId::of_tag(tlp.tag));
                self.bridge.receive_tlp(self.cxl.len() + n, &tlp, &mut self.out);
                if let Some(child) = traced.filter(|child| *child != 0) {
                    let is_open = self.bridge.child_of(id).is_some_and(|child| child.awaited.any());
                    let form = self.io[n].port.form;
                    let kind = if is_open { RecordKind::Mark } else { RecordKind::End };
                    if !is_open {
                        self.traced[usize::from(id.entry)].children[usize::from(id.child)] = 0;
                    }
                    self.io[n].port.tap.record(at, kind, child, 0, || tlps::body(&bytes, form));
                }
                self.follow(at);
                cx.progress();
            }
        }
    }

    /// A TLP is made: it leaves behind those before it.
    pub(super) fn frame_tlp(&mut self, child: ChildId, port: usize, (tlp, is_last): (Tlp, bool), at: Stamp) {
        let converted = self.traced[usize::from(child.entry)].converted_cycle;
        let due = at.cycle.max(converted) + self.config.timing.frame_cycles;
        let n = port - self.cxl.len();
        let leaving = &mut self.io[n].leaving;
        let due = leaving.back().map_or(due, |before| before.due.max(due));
        leaving.push_back(LeavingTlp { due, child, tlp, is_last, is_held: false });
    }

    /// The port whose TLP leaves next, and since when it may; those without room say so in the trace.
    pub(super) fn next_tlp(&mut self, cx: &Cx, at: Stamp) -> Option<(u64, usize)> {
        let mut next: Option<(u64, usize)> = None;
        for n in 0..self.io.len() {
            if self.links.is_down(self.cxl.len() + n) {
                continue;
            }
            let has_room = self.io[n].port.tx.has_room(cx, 1);
            let Some(front) = self.io[n].leaving.front_mut().filter(|front| front.due <= at.cycle) else { continue };
            if has_room {
                if next.is_none_or(|(due, _)| front.due < due) {
                    next = Some((front.due, n));
                }
                continue;
            }
            if !std::mem::replace(&mut front.is_held, true) {
                let (child, is_non_posted) = (front.child, front.tlp.is_non_posted());
                self.show_wait(child.entry, Some((Wait::Link, 0)), at);
                let outgoing = if is_non_posted { NON_POSTED } else { POSTED };
                let incoming = self.config.waits.classes.request;
                if let Some(BridgeFinding { rule, found, expected }) = self.config.waits.observed(incoming, outgoing) {
                    self.broken(rule, found, expected, "a message waits for one that it must not wait for");
                }
            }
        }
        next
    }

    /// The first TLP at a port leaves.
    pub(super) fn send_tlp(&mut self, n: usize, cx: &mut Cx, at: Stamp) {
        let Some(LeavingTlp { child, mut tlp, is_last, is_held, .. }) = self.io[n].leaving.pop_front() else { return };
        tlp.requester = BRIDGE_ID;
        let state = &mut self.io[n];
        let form = state.port.form;
        match tlp.encode(form) {
            Ok(bytes) => {
                let Traced { id: parent, wait, .. } = self.traced[usize::from(child.entry)];
                if is_held || wait == Some(Wait::Stage) {
                    self.show_wait(child.entry, None, at);
                }
                let state = &mut self.io[n];
                let id = state.port.tap.new_id();
                let named = TransactionNaming::As(state.names.handle(&tlp));
                state.port.tap.named(named, at, RecordKind::Begin, id, parent, || tlps::body(&bytes, form));
                if tlp.is_non_posted() {
                    self.traced[usize::from(child.entry)].children[usize::from(child.child)] = id;
                } else {
                    state.port.tap.record(at, RecordKind::End, id, 0, || Body::None);
                }
                // Room was asked for before.
                let _ = state.port.tx.push(cx, IoItem::Tlp(bytes));
            }
            // A tag or an address that the form does not have: the request times out.
            Err(error) => self.io_events(vec![error.into()]),
        }
        self.bridge.tlp_sent(child, is_last, &mut self.out);
        self.follow(at);
        cx.progress();
    }
}
