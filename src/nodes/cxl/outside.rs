//! The place of a component that stands outside, in front of link ends that the model keeps.
//!
//! Modelled: channels with valid and ready, one for each class of messages; each moves at most one message in a cycle, so what the
//! caller posts is in front of the link end one cycle later. Left out: the inside, which is the caller's.
//!
//! A walk through one cycle: of each class that arrives, a message is taken from the link end if it finds room in the mailbox;
//! else it stays there and its credit with it. Of each class that is sent, a posted message leaves if the link end has room.

use crate::PlacedViolation;
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending, Time};
use scalepool_link::classes::Posted;
use scalepool_link::mailbox::Mailbox;
use scalepool_link::sample::WireSample;
use scalepool_protocols::cxl::message::{Class, Message};
use scalepool_protocols::wire::{At, Violation};
use std::sync::{Arc, Mutex, PoisonError};

/// Channel ends of the component.
pub struct OutsideChannels {
    /// Messages that arrive.
    pub rx: Vec<(Class, In<Message>)>,
    /// Messages that it sends.
    pub tx: Vec<(Class, Out<Posted>)>,
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
        let form = self.mailbox.form();
        for (class, channel) in &mut self.channels.rx {
            if !self.mailbox.has_room(*class) {
                continue;
            }
            let Some(message) = channel.pop(cx) else { continue };
            match message.to_packed(form) {
                Ok(unit) => {
                    self.mailbox.keep(*class, WireSample { t_fs, unit });
                    self.mine.moved[0] += 1;
                    cx.progress();
                }
                Err(error) => {
                    let rule = form.layout(*class).map_or("SIM-E2E-02", |layout| layout.rule);
                    let (found, expected) = (error.to_string(), "a message that the link can carry".to_owned());
                    let text = "a message arrived that has no spelling".to_owned();
                    let violation = Violation { rule, at: At::Message, found, expected, text };
                    self.mine.broken.push(PlacedViolation { place: self.place.clone(), violation });
                }
            }
        }
    }

    fn leave(&mut self, cx: &mut Cx) {
        for (class, channel) in &mut self.channels.tx {
            if channel.has_room(cx, 1)
                && let Some(posted) = self.mailbox.next(*class)
            {
                // Room was asked for before.
                let _ = channel.push(cx, posted);
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
