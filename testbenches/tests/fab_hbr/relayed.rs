//! A switch whose fabric manager does something wrong: what it does passes a function on its way to the queues and the watcher.

use scalepool::arbiter::ArbiterError;
use scalepool::coherence::clocked::linked::NodeLink;
use scalepool::fabric::cxl_switch::plug_watch::PlugWatch;
use scalepool::fabric::cxl_switch::switching::Managed;
use scalepool::fabric::cxl_switch::{
    CxlSwitch, HbrSwitching, ManagerEvent, Routed, SwitchConfig, SwitchResult, Switching,
};
use scalepool::kernel::Module;
use scalepool::trace::Tap;
use scalepool_protocols::cxl::link_status::LinkStatus;
use scalepool_protocols::cxl::message::{Message, MessageForm};
use scalepool_protocols::wire::Violation;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// A vPPB.
type Vppb = (usize, usize);

/// What comes of an action of the manager.
pub type Relay = fn(Managed<Vppb>) -> Vec<Managed<Vppb>>;

/// The routes of a switch, and its manager behind a relay.
pub struct Relayed {
    inner: HbrSwitching,
    relay: Relay,
    /// Routes in its place, which hasten ahead of it.
    hasty: Option<HbrSwitching>,
    waiting: VecDeque<Managed<Vppb>>,
    /// It sends bad data on as good ones.
    mends: bool,
}

impl Relayed {
    pub fn new(inner: HbrSwitching, relay: Relay, hasty: Option<HbrSwitching>) -> Relayed {
        Relayed { inner, relay, hasty, waiting: VecDeque::new(), mends: false }
    }

    pub fn mending(self, mends: bool) -> Relayed {
        Relayed { mends, ..self }
    }
}

impl Switching for Relayed {
    type Flow = Vppb;

    fn module(
        self,
        config: SwitchConfig,
        links: Vec<(NodeLink, Tap)>,
        tap: Tap,
        shared: Arc<Mutex<SwitchResult>>,
    ) -> Result<Box<dyn Module>, ArbiterError> {
        Ok(Box::new(CxlSwitch::new(self, config, links, tap, shared)?))
    }

    fn route(&self, from: usize, message: &Message) -> Routed<Vppb> {
        let mut routed = self.hasty.as_ref().unwrap_or(&self.inner).route(from, message);
        if let (true, Routed::Port { message: Message::S2mDrs(header, _), .. }) = (self.mends, &mut routed) {
            header.poison = false;
        }
        routed
    }

    fn judge(&mut self, from: usize, message: &Message, routed: &Routed<Vppb>) -> Option<Violation> {
        self.inner.judge(from, message, routed)
    }

    fn shown(&self, message: &Message, form: MessageForm, flow: Option<Vppb>) -> (Message, MessageForm) {
        self.inner.shown(message, form, flow)
    }

    fn queued(&mut self, message: &Message, flow: Vppb) {
        self.inner.queued(message, flow);
    }

    fn sent(&mut self, port: usize, message: &Message, flow: Vppb) {
        self.inner.sent(port, message, flow);
    }

    fn damaged(&mut self, port: usize, units: u64) {
        self.inner.damaged(port, units);
    }

    fn first_downstream(&self) -> usize {
        self.inner.first_downstream()
    }

    fn plug_watch(&self) -> Option<PlugWatch> {
        self.inner.plug_watch()
    }

    fn manage(&mut self, cycle: u64) -> Option<Managed<Vppb>> {
        while self.waiting.is_empty() {
            self.waiting.extend((self.relay)(self.inner.manage(cycle)?));
        }
        self.waiting.pop_front()
    }

    fn flushed(&mut self, messages: &[Message]) -> Option<ManagerEvent> {
        self.inner.flushed(messages)
    }

    fn statuses_to_tell(&mut self) -> Vec<(usize, LinkStatus)> {
        self.inner.statuses_to_tell()
    }

    fn heard(&mut self, port: usize, status: LinkStatus) {
        self.inner.heard(port, status);
    }

    fn is_viral(&self, port: usize, flow: Option<Vppb>) -> bool {
        self.inner.is_viral(port, flow)
    }

    fn next_cycle(&self) -> Option<u64> {
        self.inner.next_cycle()
    }
}
