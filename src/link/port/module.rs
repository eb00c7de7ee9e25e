//! A link end of any protocol as a module of the kernel.
//!
//! Modelled: what every port does in a clock: it takes what is due on the wire, exchanges items with its agents, and lets the
//! end send. Detail: what a clock is and what travels is a matter of the [`PortPhy`] of the end. Left out: the meaning of units
//! and items. Agents exchange items (messages, TLPs or transactions) with a port and have no knowledge of flits. A link with
//! CXL.io and CXL.cachemem has one agent for each.
//!
//! A walk through one clock: [`PortSteps::receive`] takes units that are due on the wire, and records their events. Received
//! items go to their agents as far as the channels have room, which frees the receive buffers. Items of the agents move into
//! the end. [`PortSteps::transmit`] sends, and says when there is work again. A module that has several ports, as a slice of a
//! switch has, takes these steps itself.

use super::agent::PortAgent;
use super::frame::{Frame, FrameConfig, PortResult};
use super::phy::{PortEnd, PortPhy};
use crate::fault::FaultyWire;
use scalepool_kernel::{Cx, LinkIn, LinkOut, Module, Next, Pending};
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Stamp, Tap};
use std::sync::{Arc, Mutex};

/// Channel ends, wire ends and taps of a port.
pub struct Ports<E: PortEnd> {
    /// Channels of the agents.
    pub agents: Vec<Box<dyn PortAgent<E>>>,
    /// Wire to the peer.
    pub wire_out: LinkOut<E::Item>,
    /// Wire from the peer.
    pub wire_in: LinkIn<E::Item>,
    /// Trace tap of received units.
    pub flits: Tap,
    /// Trace tap of the signals of the link layer.
    pub signals: Tap,
}

/// Inputs of a port besides its channel ends.
pub struct PortConfig<E: PortEnd> {
    /// The link end.
    pub end: E,
    /// What stands between it and the wire.
    pub phy: E::Phy,
    /// Faults of the wire behind the transmitter.
    pub wire: FaultyWire,
    /// Direction of received units, as traces show it.
    pub dir: &'static str,
    /// Number of trainings and replays without progress after which the run ends, see
    /// [`LinkEnd::fruitless`](super::LinkEnd::fruitless).
    pub give_up: u32,
}

/// A port whose steps somebody else takes, several of them in one module.
pub trait PortSteps<E>: Module {
    /// Takes what is due on the wire; tells whether anything came.
    fn receive(&mut self, cx: &mut Cx) -> bool;

    /// Its link end.
    fn end(&mut self) -> &mut E;

    /// A rule that was broken above the link end.
    fn broken(&mut self, violation: Violation, at: Stamp);

    /// Sends what leaves in this clock; tells when there is work again.
    fn transmit(&mut self, cx: &mut Cx) -> Next;
}

/// A link end as a module of the kernel.
pub struct Port<E: PortEnd> {
    frame: Frame<E>,
    phy: E::Phy,
    agents: Vec<Box<dyn PortAgent<E>>>,
    wire_in: LinkIn<E::Item>,
    /// Rules that items of the agents would break; empty between two calls.
    refused: Vec<Violation>,
    /// Whether items of the agents still wait, where the exchange of this clock has told it.
    items_wait: Option<bool>,
}

/// This instant.
#[inline]
fn stamp(cx: &Cx) -> Stamp {
    Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() }
}

impl<E: PortEnd> Port<E> {
    /// Makes a port. Broken rules appear in `result` as they are detected, the report of the end when the port
    /// publishes.
    pub fn new(config: PortConfig<E>, ports: Ports<E>, result: Arc<Mutex<PortResult<E::Report>>>) -> Port<E> {
        let PortConfig { end, phy, wire, dir, give_up } = config;
        let Ports { agents, wire_out, wire_in, flits, signals } = ports;
        let frame = Frame::new(FrameConfig { end, wire, dir, give_up, wire_out, flits, signals }, result);
        Port { frame, phy, agents, wire_in, refused: Vec::new(), items_wait: None }
    }

    fn exchange(&mut self, cx: &mut Cx, at: Stamp) {
        let (delivers, fetches) = (self.phy.delivers(&self.frame.end, at), self.phy.fetches(at));
        if let ([agent], true, true) = (&mut self.agents[..], delivers, fetches) {
            self.items_wait = Some(agent.exchange(&mut self.frame.end, cx, &mut self.refused));
        } else {
            self.exchange_with_each(cx, delivers, fetches);
        }
        if !self.refused.is_empty() {
            self.refused.drain(..).for_each(|violation| self.frame.broken(violation, at));
        }
    }

    fn exchange_with_each(&mut self, cx: &mut Cx, delivers: bool, fetches: bool) {
        if delivers {
            for agent in &mut self.agents {
                agent.deliver(&mut self.frame.end, cx);
            }
        }
        if !fetches {
            return;
        }
        for agent in &mut self.agents {
            agent.fetch(&mut self.frame.end, cx, &mut self.refused);
        }
    }
}

impl<E: PortEnd> PortSteps<E> for Port<E> {
    #[inline]
    fn receive(&mut self, cx: &mut Cx) -> bool {
        let at = stamp(cx);
        self.phy.begins(&mut self.frame, cx, at);
        let mut came = false;
        while let Some(item) = self.wire_in.pop(cx) {
            came = true;
            self.phy.arrives(&mut self.frame, item, cx, at);
        }
        self.phy.arrived(&mut self.frame, cx);
        came
    }

    fn end(&mut self) -> &mut E {
        &mut self.frame.end
    }

    fn broken(&mut self, violation: Violation, at: Stamp) {
        self.frame.broken(violation, at);
    }

    #[inline]
    fn transmit(&mut self, cx: &mut Cx) -> Next {
        let at = stamp(cx);
        self.phy.sends(&mut self.frame, cx, at);
        self.frame.show(at);
        self.frame.is_busy(self.phy.is_busy(&self.frame.end), cx.now());
        let told = self.items_wait.take();
        let is_due = |cx: &Cx| told.unwrap_or_else(|| self.agents.iter().any(|agent| agent.is_due(cx)));
        self.phy.next(&self.frame.end, cx, at, is_due)
    }
}

impl<E: PortEnd> Module for Port<E> {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        self.receive(cx);
        self.exchange(cx, stamp(cx));
        self.transmit(cx)
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        self.frame.idle_ok(self.phy.is_busy(&self.frame.end))
    }

    fn publish(&self) {
        let mut report = self.frame.end.report();
        self.phy.completes(&mut report);
        self.frame.publish(report);
    }

    fn is_done(&self) -> bool {
        self.phy.is_up(&self.frame.end) && self.frame.end.is_done()
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        for (&(signal, _), value) in E::SIGNALS.iter().zip(self.frame.end.values()) {
            visit(signal, value);
        }
    }
}
