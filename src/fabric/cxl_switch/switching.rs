//! What one kind of switch decides about the messages that pass it; ports, queues, counters and traces are the same for
//! all kinds ([`super::module`]).
//!
//! A walk through one message: it is routed when it is the first of its class at a port, again in each cycle in which its
//! queue has no room. Once it has been taken it is judged, and what leaves in its place is queued. It also hears of every
//! message that leaves, and of the time that passes.

use super::aer::AerRecord;
use super::command::{ManagerEvent, Vppb};
use super::module::{SwitchConfig, SwitchResult};
use super::plug::PlugStep;
use super::plug_watch::PlugWatch;
use crate::spread::Backlog;
use scalepool_arbiter::ArbiterError;
use scalepool_coherence::clocked::linked::NodeLink;
use scalepool_kernel::Module;
use scalepool_protocols::cxl::link_status::LinkStatus;
use scalepool_protocols::cxl::message::{Message, MessageForm};
use scalepool_protocols::wire::Violation;
use scalepool_trace::Tap;
use std::sync::{Arc, Mutex};

/// Why a message does not reach a device or a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Undelivered {
    /// No decoder claims the address.
    NotDecoded,
    /// The decoder selects a vPPB that is not bound.
    NotBound,
    /// The LD-ID is not bound (`fabric` MLD-5), or the host has no logical device there (`fabric` EDG-8).
    UnknownLd,
    /// The device there has not negotiated the class, or it must not travel in this direction (`fabric` ERR-4).
    Class,
    /// A bridge discards the back-invalidate snoop, or no bridge has the bus of its answer (`fabric` BIR-1, BIR-2).
    BackInvalidate,
    /// The table has no entry for the CacheID, or the port of the device discards it (`fabric` CID-2, CID-3).
    CacheId,
    /// The routing table has no port for the DPID (`fabric` DRT-2).
    NoRoute,
    /// No binding has both the SPID and the DPID (`fabric` PID-5).
    NotClaimed,
    /// The switch discards what belongs to the vPPB after a trigger of its containment (`fabric` MLD-7).
    Contained,
    /// The link at the port of its way, or at the port where it came, is lost (`fabric` DRT-2, ISL-7).
    LostLink,
}

/// What becomes of a message that was received at a port. `F` names what it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Routed<F> {
    /// It leaves at a port, in this form.
    Port {
        /// The port.
        to: usize,
        /// The message as it leaves.
        message: Message,
        /// What it belongs to.
        flow: F,
    },
    /// It is undelivered; the switch generates a response, if the request requires one.
    Answered {
        /// Why.
        why: Undelivered,
        /// The port of the response, and the response.
        answer: Option<(usize, Message)>,
    },
    /// It is undelivered, without a response.
    Dropped(Undelivered),
}

/// An action of the fabric manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Managed<F> {
    /// A command has ended.
    Event(ManagerEvent),
    /// Something has happened at a downstream port.
    Step(PlugStep),
    /// An error has been recorded.
    Recorded(AerRecord),
    /// What belongs to this is removed from the queues; [`Switching::flushed`] is told how much that was.
    Flush(F),
    /// The link at a port is lost: what is queued for it is dropped.
    LostLink(usize),
}

/// What a kind of switch decides.
pub trait Switching: Send + Sized + 'static {
    /// What a message that passes belongs to.
    type Flow: Copy + PartialEq + Send;

    /// The switch as a module, see [`CxlSwitch::new`](super::module::CxlSwitch::new). Each way of switching says it for itself:
    /// a module is compiled where its type is named.
    ///
    /// # Errors
    /// The switch has more ports than the allocator supports.
    fn module(
        self,
        config: SwitchConfig,
        links: Vec<(NodeLink, Tap)>,
        tap: Tap,
        shared: Arc<Mutex<SwitchResult>>,
    ) -> Result<Box<dyn Module>, ArbiterError>;

    /// What becomes of a message that was received at a port.
    fn route(&self, from: usize, message: &Message) -> Routed<Self::Flow>;

    /// The port at which a message leaves that may leave at several ones, of which [`Switching::route`] gave the first; `None`: it
    /// waits, as no port that it may take has room. `number` counts the messages of its class that the input took before; the
    /// answer depends on it and on the backlog alone.
    fn spread(
        &self,
        from: usize,
        number: u64,
        (to, message): (usize, &Message),
        backlog: Backlog<'_>,
    ) -> Option<usize> {
        let _ = (from, number, message, backlog);
        Some(to)
    }

    /// Whether a message that is routed to a port, and waits for room on its way there, keeps this way until something is managed or
    /// heard: then it need not be routed again in each cycle.
    fn keeps_way(&self, from: usize, message: &Message) -> bool {
        let _ = (from, message);
        false
    }

    /// The rule that a message breaks that has been taken.
    fn judge(&mut self, from: usize, message: &Message, routed: &Routed<Self::Flow>) -> Option<Violation>;

    /// How a trace shows a received message, and in which form it spells it; `form` is that of the link.
    fn shown(&self, message: &Message, form: MessageForm, flow: Option<Self::Flow>) -> (Message, MessageForm) {
        let _ = flow;
        (*message, form)
    }

    /// Hierarchy and vPPB that a message passes, where the switch has such; a trace says so.
    fn vppb(&self, flow: Self::Flow) -> Option<Vppb> {
        let _ = flow;
        None
    }

    /// A message that passes has been queued.
    fn queued(&mut self, message: &Message, flow: Self::Flow) {
        let _ = (message, flow);
    }

    /// A message that passes has been sent at a port.
    fn sent(&mut self, port: usize, message: &Message, flow: Self::Flow) {
        let _ = (port, message, flow);
    }

    /// Units have come damaged at a port, and its link made them good.
    fn damaged(&mut self, port: usize, units: u64) {
        let _ = (port, units);
    }

    /// Number of the first downstream port, from which [`PlugStep`] counts.
    fn first_downstream(&self) -> usize {
        0
    }

    /// What watches the downstream ports, if they may come and go.
    fn plug_watch(&self) -> Option<PlugWatch> {
        None
    }

    /// The next action of the fabric manager at a cycle.
    fn manage(&mut self, cycle: u64) -> Option<Managed<Self::Flow>> {
        let _ = cycle;
        None
    }

    /// The messages of [`Managed::Flush`] are gone, which were these. The event that this ends.
    fn flushed(&mut self, messages: &[Message]) -> Option<ManagerEvent> {
        let _ = messages;
        None
    }

    /// What ports have to tell their links beside messages, since the last call. It is asked after each action of the fabric
    /// manager, and after what a port has heard.
    fn statuses_to_tell(&mut self) -> Vec<(usize, LinkStatus)> {
        Vec::new()
    }

    /// Whether each status of viral of a port is told, and not the latest alone: it names what is viral, and others stay so.
    fn tells_all(&self, port: usize) -> bool {
        let _ = port;
        false
    }

    /// The peer of a port has told something beside messages.
    fn heard(&mut self, port: usize, status: LinkStatus) {
        let _ = (port, status);
    }

    /// Whether a message counts as viral that is sent at a port; `flow` as in [`Switching::sent`], `None`: the switch made it.
    fn is_viral(&self, port: usize, flow: Option<Self::Flow>) -> bool {
        let _ = (port, flow);
        false
    }

    /// The next cycle in which the fabric manager acts; a cycle that has passed if it acts now.
    fn next_cycle(&self) -> Option<u64> {
        None
    }
}
