//! The place of a component that stands outside, in front of link ends that the model keeps.
//!
//! Modelled: channels with valid and ready, one for each class of messages; each moves at most one message in a cycle, so what the
//! caller posts is in front of the link end one cycle later. Left out: the inside, which is the caller's.
//!
//! A walk through one cycle: of each class that arrives, a message is taken from the link end if it finds room in the mailbox;
//! else it stays there and its credit with it. Of each class that is sent, a posted message leaves if the link end has room.

use crate::PlacedViolation;
use crate::cxl::coherent::wiring::ClassEnds;
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending, Time};
use scalepool_link::classes::Posted;
use scalepool_link::mailbox::{Mailbox, MailboxKind, MailboxMessage};
use scalepool_link::nvlink::NvlMessage;
use scalepool_link::sample::WireSample;
use scalepool_protocols::cxl::message::{Class, Message};
use scalepool_protocols::nvlink::NvlHeader;
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::{At, Violation, Wire};
use std::sync::{Arc, Mutex, PoisonError};

/// A channel end by which messages arrive.
pub enum OutsideIn {
    /// Of CXL.
    Cxl(In<Message>),
    /// Of UALink.
    Ualink(In<Box<Transfer>>),
    /// Of NVLink.
    Nvlink(In<NvlMessage>),
}

impl OutsideIn {
    fn pop(&mut self, cx: &mut Cx) -> Option<MailboxMessage> {
        match self {
            OutsideIn::Cxl(channel) => channel.pop(cx).map(MailboxMessage::Cxl),
            OutsideIn::Ualink(channel) => channel.pop(cx).map(MailboxMessage::Ualink),
            OutsideIn::Nvlink(channel) => channel.pop(cx).map(MailboxMessage::Nvlink),
        }
    }
}

/// A channel end by which it sends.
pub enum OutsideOut {
    /// Of CXL.
    Cxl(Out<Posted>),
    /// Of UALink.
    Ualink(Out<Box<Transfer>>),
    /// Of NVLink.
    Nvlink(Out<NvlMessage>),
}

impl OutsideOut {
    fn has_room(&self, cx: &Cx) -> bool {
        match self {
            OutsideOut::Cxl(channel) => channel.has_room(cx, 1),
            OutsideOut::Ualink(channel) => channel.has_room(cx, 1),
            OutsideOut::Nvlink(channel) => channel.has_room(cx, 1),
        }
    }

    /// Sends a message for which there is room, with its number among all.
    fn push(&mut self, cx: &mut Cx, (number, message): (u64, MailboxMessage)) {
        // Room was asked for before.
        match (self, message) {
            (OutsideOut::Cxl(channel), MailboxMessage::Cxl(message)) => drop(channel.push(cx, (number, message))),
            (OutsideOut::Ualink(channel), MailboxMessage::Ualink(transfer)) => drop(channel.push(cx, transfer)),
            (OutsideOut::Nvlink(channel), MailboxMessage::Nvlink(message)) => drop(channel.push(cx, message)),
            _ => unreachable!("channels carry what their links do"),
        }
    }
}

/// Channel ends of the component at a port, each with the number of its channel in the mailbox.
pub struct OutsideChannels {
    /// Messages that arrive.
    pub rx: Vec<(usize, OutsideIn)>,
    /// Messages that it sends.
    pub tx: Vec<(usize, OutsideOut)>,
}

impl OutsideChannels {
    /// Those of the classes of a CXL link that the mailbox has a channel for; the others stay unused.
    pub fn of_classes(ends: ClassEnds, mailbox: &Mailbox) -> OutsideChannels {
        let number = |class: Class| {
            mailbox.channels().iter().position(|(kind, _)| matches!(kind, MailboxKind::Cxl(_, of) if *of == class))
        };
        OutsideChannels {
            rx: ends.rx.into_iter().filter_map(|(class, end)| Some((number(class)?, OutsideIn::Cxl(end)))).collect(),
            tx: ends.tx.into_iter().filter_map(|(class, end)| Some((number(class)?, OutsideOut::Cxl(end)))).collect(),
        }
    }
}

/// Figures of a port of a component that stands outside.
#[derive(Debug, Clone, Default)]
pub struct OutsideResult {
    /// Messages that arrived and were handed to the caller, and posted messages that left.
    pub moved: [u64; 2],
    /// Messages that cannot be spelled, as their peer must not send them.
    pub broken: Vec<PlacedViolation>,
}

/// The place of the component at one of its ports.
pub struct Outside {
    /// Path of the port.
    place: String,
    channels: OutsideChannels,
    mailbox: Mailbox,
    mine: OutsideResult,
    result: Arc<Mutex<OutsideResult>>,
}

impl Outside {
    /// The place at a port, with its channel ends.
    pub fn new(
        place: String,
        channels: OutsideChannels,
        mailbox: Mailbox,
        result: Arc<Mutex<OutsideResult>>,
    ) -> Outside {
        Outside { place, channels, mailbox, mine: OutsideResult::default(), result }
    }

    fn arrive(&mut self, cx: &mut Cx) {
        let t_fs = cx.now().as_fs();
        for (number, channel) in &mut self.channels.rx {
            if !self.mailbox.has_room(*number) {
                continue;
            }
            let Some(message) = channel.pop(cx) else { continue };
            let (kind, _) = self.mailbox.channels()[*number];
            match kind.pack(&message) {
                Ok(unit) => {
                    self.mailbox.keep(*number, WireSample { t_fs, unit });
                    self.mine.moved[0] += 1;
                    cx.progress();
                }
                Err(error) => {
                    let rule = match kind {
                        MailboxKind::Cxl(form, class) => form.layout(class).map_or("SIM-E2E-02", |layout| layout.rule),
                        MailboxKind::Ualink(class) => class.layout().rule,
                        MailboxKind::Nvlink(_) => NvlHeader::DEF.rule,
                    };
                    let (found, expected) = (error.to_string(), "a message that the link can carry".to_owned());
                    let text = "a message arrived that has no spelling".to_owned();
                    let violation = Violation { rule, at: At::Message, found, expected, text };
                    self.mine.broken.push(PlacedViolation { place: self.place.clone(), violation });
                }
            }
        }
    }

    fn leave(&mut self, cx: &mut Cx) {
        for (number, channel) in &mut self.channels.tx {
            if channel.has_room(cx)
                && let Some(posted) = self.mailbox.next(*number)
            {
                channel.push(cx, posted);
                self.mine.moved[1] += 1;
                cx.progress();
            }
        }
    }
}

impl Module for Outside {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        self.arrive(cx);
        self.leave(cx);
        // The caller may post or take a message at any time.
        Next::Busy
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        match self.mailbox.oldest() {
            Some((count, t_fs)) => {
                Err(Pending::new(format!("{count} messages that the caller has not taken"), Time::from_fs(t_fs)))
            }
            None => Ok(()),
        }
    }

    fn publish(&self) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = self.mine.clone();
    }
}
