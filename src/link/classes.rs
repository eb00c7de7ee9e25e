//! An agent with a channel of its own for each message class, in front of a link end.
//!
//! Modelled: the classes of CXL.cache and CXL.mem pass one another as credits and buffers allow, so that a class that is
//! stuck holds no other one (`coherence` §3.6). The order that crosses classes is kept: an H2D Req stays behind every
//! H2D Rsp that was sent before it (§2.6 O1; a GO carries no address, so behind all of them). Orders within a class are
//! those of its channel, which is in order. Viral and hot resets have a channel of their own, and are told before messages are taken.
//!
//! A walk through one flit clock: each class gives its received messages away as far as its channel has room, snoops not
//! before responses that arrived earlier; then each class gives the packer what it has room for. A snoop goes when all
//! earlier responses have left in flits; later responses wait the few flits that this takes, so neither starves.

use super::port::{Carries, PACKER_DEPTH, PortAgent};
use scalepool_kernel::{Cx, In, Out};
use scalepool_protocols::cxl::link_status::LinkStatus;
use scalepool_protocols::cxl::message::{Class, Message};
use scalepool_protocols::wire::Violation;

/// A message behind its number, which counts all messages that the agent sent on this link.
pub type Posted = (u64, Message);

/// A link end whose buffers are emptied class by class.
pub trait ByClass: Carries<Message> {
    /// Whether there is a received message that nobody has taken.
    fn has_received(&self) -> bool;

    /// Whether one of a class may be among them. An end that does not know says so.
    fn may_have_received(&self, class: Class) -> bool {
        let _ = class;
        self.has_received()
    }

    /// Takes the next received message of a class; an H2D Req only when no H2D Rsp came before it.
    fn take_class(&mut self, class: Class) -> Option<Message>;

    /// Messages of a class that have not left in a flit.
    fn waits(&self, class: Class) -> usize;

    /// Units that have come damaged so far, each of which the link makes good.
    fn damaged(&self) -> u64;

    /// Tells the peer a status, in front of all messages that are sent later.
    fn tell(&mut self, status: LinkStatus);

    /// Takes the oldest status that the peer has told.
    fn take_heard(&mut self) -> Option<LinkStatus>;
}

/// [`Posted`] messages to send and received messages, one channel a class.
pub struct ClassChannels {
    /// To send, one channel a class.
    pub tx: Vec<(Class, In<Posted>)>,
    /// Received, one channel a class.
    pub rx: Vec<(Class, Out<Message>)>,
    /// Statuses to tell; `None`: the component never tells any.
    pub tells: Option<In<LinkStatus>>,
    /// Statuses that the peer has told; `None`: the component does not hear of them.
    pub hears: Option<Out<LinkStatus>>,
    /// How many units have come damaged; `None`: the component does not record that.
    pub damage: Option<DamageChannel>,
}

/// Units that have come damaged, as the component behind the link hears of them.
pub struct DamageChannel {
    /// Their number since it was told last.
    pub channel: Out<u64>,
    /// Units of which it was told.
    pub told: u64,
}

impl DamageChannel {
    /// Tells what is new; what finds no room is told with the next.
    fn tell(&mut self, damaged: u64, cx: &mut Cx) {
        if damaged > self.told && self.channel.push(cx, damaged - self.told).is_ok() {
            self.told = damaged;
        }
    }
}

impl ClassChannels {
    /// Number of the oldest message of a class that waits to be fetched.
    fn oldest(&mut self, class: Class, cx: &Cx) -> Option<u64> {
        self.tx.iter_mut().find(|(c, _)| *c == class)?.1.peek(cx).map(|(number, _)| *number)
    }
}

impl<E: ByClass> PortAgent<E> for ClassChannels {
    fn deliver(&mut self, end: &mut E, cx: &mut Cx) {
        if let Some(damage) = &mut self.damage {
            damage.tell(end.damaged(), cx);
        }
        // In front of every message that came with it or later.
        if let Some(hears) = &mut self.hears {
            while hears.has_room(cx, 1)
                && let Some(status) = end.take_heard()
            {
                // Room was asked for before.
                let _ = hears.push(cx, status);
            }
        }
        if !end.has_received() {
            return;
        }
        for (class, channel) in &mut self.rx {
            while end.may_have_received(*class)
                && channel.has_room(cx, 1)
                && let Some(message) = end.take_class(*class)
            {
                // Room was asked for before.
                let _ = channel.push(cx, message);
            }
        }
    }

    fn fetch(&mut self, end: &mut E, cx: &mut Cx, refused: &mut Vec<Violation>) {
        // In front of every message that comes with it.
        while let Some(status) = self.tells.as_mut().and_then(|tells| tells.pop(cx)) {
            end.tell(status);
        }
        // In most flit clocks of a link nothing waits.
        if !self.tx.iter().any(|(_, channel)| channel.is_due(cx)) {
            return;
        }
        let snoop = self.oldest(Class::H2dReq, cx);
        for n in 0..self.tx.len() {
            let class = self.tx[n].0;
            // A message is moved once, into the end: 150 instructions less than where it is looked at first.
            while self.tx[n].1.is_due(cx) && end.waits(class) < PACKER_DEPTH {
                let waits = match class {
                    // O1: earlier responses have to be in flits.
                    Class::H2dReq => {
                        let [earlier, own] = [Class::H2dRsp, Class::H2dReq].map(|class| self.oldest(class, cx));
                        end.waits(Class::H2dRsp) > 0 || earlier.zip(own).is_some_and(|(earlier, own)| earlier < own)
                    }
                    // A later response lets the snoop go first, unless the snoop itself is stuck.
                    Class::H2dRsp => {
                        let own = self.oldest(Class::H2dRsp, cx);
                        snoop.zip(own).is_some_and(|(earlier, own)| earlier < own) && end.waits(Class::H2dReq) == 0
                    }
                    _ => false,
                };
                if waits {
                    break;
                }
                let Some((_, message)) = self.tx[n].1.pop(cx) else { break };
                refused.extend(end.send(message).err());
            }
        }
    }

    fn is_due(&self, cx: &Cx) -> bool {
        self.tx.iter().any(|(_, channel)| channel.is_due(cx))
            || self.tells.as_ref().is_some_and(|tells| tells.is_due(cx))
    }
}
