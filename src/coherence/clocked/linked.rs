//! A link as a node or a switch uses it: channels of every class, and queues on the way out.
//!
//! Modelled: classes that do not hold one another; the order that crosses classes, at both ends: a snoop is offered behind
//! every response that came before it, and leaves behind every response that was sent before it (`coherence` §2.6 O1).
//! Several peers may share a link; identifiers of the messages tell them apart. Left out: flits, which are the port's.

use crate::cache::home;
use crate::message::Class;
use scalepool_kernel::{self, Cx, In};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::link_status::LinkStatus;
use scalepool_protocols::cxl::message::{Message, MessageForm, PeerRoute};
use std::collections::VecDeque;

/// Most messages of a class in a queue on the way out for which another class still counts as free.
const QUEUE_MESSAGES: usize = 4;

/// A message with its place among all that its agent sent on this link, so that the link can keep the orders that cross
/// classes.
pub type Numbered = (u64, Message);

/// Messages of one class that come to an agent.
pub enum Received {
    /// By a link.
    Link(In<Message>),
    /// From an agent beside it, without a link.
    Agent(In<Numbered>),
}

impl From<In<Message>> for Received {
    fn from(rx: In<Message>) -> Received {
        Received::Link(rx)
    }
}

impl Received {
    /// Whether there is one.
    #[inline]
    pub fn is_due(&self, cx: &Cx) -> bool {
        match self {
            Received::Link(rx) => rx.is_due(cx),
            Received::Agent(rx) => rx.is_due(cx),
        }
    }

    /// The first one.
    pub fn peek(&mut self, cx: &Cx) -> Option<&Message> {
        match self {
            Received::Link(rx) => rx.peek(cx),
            Received::Agent(rx) => rx.peek(cx).map(|(_, message)| message),
        }
    }

    /// Takes the first one.
    pub fn pop(&mut self, cx: &mut Cx) -> Option<Message> {
        match self {
            Received::Link(rx) => rx.pop(cx),
            Received::Agent(rx) => rx.pop(cx).map(|(_, message)| message),
        }
    }
}

/// Kernel channels of one class in one direction.
type Rx = (Class, Received);
type Tx = (Class, scalepool_kernel::Out<Numbered>);

/// One link of a node.
pub struct NodeLink {
    /// Tells the link statuses beside messages; `None`: that is never done.
    pub tells: Option<scalepool_kernel::Out<LinkStatus>>,
    /// Statuses that the peer has told; `None`: nobody wants to know.
    pub hears: Option<In<LinkStatus>>,
    /// How many units have come damaged on the link since it told last; `None`: it does not tell.
    pub damage: Option<In<u64>>,
    /// Received messages, in [`ORDER`](crate::message::ORDER).
    pub rx: Vec<Rx>,
    /// Messages to send.
    pub tx: Vec<Tx>,
    /// How the link finds each peer behind it; a port of the agent for each.
    pub routes: Vec<PeerRoute>,
    /// How it spells messages, for traces.
    pub form: MessageForm,
    /// Number by which the log tells its identifiers from those of other links; behind a switch all links have one.
    pub number: u16,
    /// Its number among all links, by which traces do.
    pub link: u32,
}

/// A link with what waits for it.
pub struct Linked {
    /// Its channels.
    pub link: NodeLink,
    /// What was posted and a channel has not taken, by position in `link.tx`.
    queues: Vec<VecDeque<Numbered>>,
    /// Messages posted so far.
    posted: u64,
    /// The peer at each port of a fabric, an index into the link's routes.
    by_port: OrderedMap<u16, usize>,
}

impl Linked {
    /// With nothing under way.
    pub fn new(link: NodeLink) -> Linked {
        let by_port = link.routes.iter().enumerate().rev().map(|(n, route)| (route.dpid, n)).collect();
        Linked { queues: vec![VecDeque::new(); link.tx.len()], link, posted: 0, by_port }
    }

    /// The peer that sent a message, an index into the link's routes; `None`: nobody that is known here.
    ///
    /// Requests of CXL.cache name it by CacheID, its answers by the UQID that the home gave; M2S names the port of a fabric
    /// that sends it, and behind a switch without port based routing the logical device to which its host is bound.
    pub fn peer(&self, message: &Message) -> Option<usize> {
        let routes = &self.link.routes;
        if routes.len() == 1 {
            return Some(0);
        }
        let of_ld = |ld_id: u8| routes.iter().position(|route| route.ld_id == ld_id);
        let from = |spid: u16| self.by_port.get(&spid).copied();
        let answered = |uqid: u16| Some(usize::from(home::port_of(uqid))).filter(|n| *n < routes.len());
        match message {
            Message::D2hReq(m) if self.link.form == MessageForm::Pbr => from(m.spid),
            Message::D2hReq(m) => routes.iter().position(|r| r.cache_id == m.cache_id),
            Message::D2hRsp(m) => answered(m.uqid),
            Message::D2hData(m, _) => answered(m.uqid),
            Message::M2sReq(m) if self.link.form == MessageForm::Pbr => from(m.spid),
            Message::M2sRwd(m, _) if self.link.form == MessageForm::Pbr => from(m.spid),
            Message::M2sBirsp(m) if self.link.form == MessageForm::Pbr => from(m.spid),
            Message::M2sReq(m) => of_ld(m.ld_id),
            Message::M2sRwd(m, _) => of_ld(m.ld_id),
            // The BI-ID on the link of a device with logical devices is an LD-ID (`fabric` BIR-1).
            Message::M2sBirsp(m) => u8::try_from(m.bi_id).ok().and_then(of_ld),
            _ => None,
        }
    }

    /// The first message of the class at `place` in `link.rx`, if it may be taken now.
    pub fn offered(&mut self, place: usize, cx: &Cx) -> Option<Message> {
        let (class, channel) = &mut self.link.rx[place];
        let is_snoop = *class == Class::H2dReq;
        let message = channel.peek(cx).copied()?;
        // O1: responses that came before the snoop are taken before it, however many a cycle takes.
        let is_response = |(class, channel): &Rx| *class == Class::H2dRsp && channel.is_due(cx);
        (!is_snoop || !self.link.rx.iter().any(is_response)).then_some(message)
    }

    /// Takes what was offered.
    pub fn take(&mut self, place: usize, cx: &mut Cx) {
        self.link.rx[place].1.pop(cx);
    }

    /// Queues a message to send.
    pub fn post(&mut self, class: Class, message: Message) {
        let numbered = (self.posted, message);
        self.posted += 1;
        if let Some(n) = self.link.tx.iter().position(|(c, _)| *c == class) {
            self.queues[n].push_back(numbered);
        }
    }

    /// Classes whose queue is full.
    pub fn full(&self) -> impl Iterator<Item = Class> {
        let queues = self.link.tx.iter().zip(&self.queues);
        queues.filter(|(_, queue)| queue.len() >= QUEUE_MESSAGES).map(|((class, _), _)| *class)
    }

    /// Messages in the queues.
    pub fn queued(&self) -> usize {
        self.queues.iter().map(VecDeque::len).sum()
    }

    /// Gives the channels what they have room for; a snoop stays behind responses that were posted before it. Whether there was
    /// room for anything; otherwise room wakes the module.
    pub fn flush(&mut self, cx: &mut Cx) -> bool {
        let Linked { link, queues, .. } = self;
        let mut moved = false;
        for n in 0..queues.len() {
            while let Some(posted) = queues[n].front().copied() {
                let class = link.tx[n].0;
                let is_earlier = |(m, (c, _)): (usize, &Tx)| {
                    *c == Class::H2dRsp && queues[m].front().is_some_and(|r| r.0 < posted.0)
                };
                if class == Class::H2dReq && link.tx.iter().enumerate().any(is_earlier) {
                    break;
                }
                if link.tx[n].1.push(cx, posted).is_err() {
                    break;
                }
                queues[n].pop_front();
                moved = true;
            }
        }
        moved
    }
}
