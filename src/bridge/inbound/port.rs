//! Where messages of CXL.mem come to the inbound half: at a link, or at the home of memory that the bridge keeps coherent.
//!
//! Modelled: the channels, and how messages there are spelled. Left out: the link, and what the home asks for, which is up to
//! [`exported`](super::exported). A walk: a port of a link and the home each have a message; one enters in each cycle, and its answer goes
//! back where it came from.

use crate::window::InboundClass;
use scalepool_coherence::clocked::linked::Numbered;
use scalepool_kernel::{Cx, In, Out};
use scalepool_protocols::cxl::message::{Message, MessageForm};

/// Messages that come.
pub enum TargetMessages {
    /// From a link, for memory that hosts alone keep coherent.
    Link(In<Message>),
    /// From the home in front of memory that the bridge keeps coherent.
    Home(In<Numbered>),
}

impl TargetMessages {
    /// To windows of which class they go.
    pub fn class(&self) -> InboundClass {
        match self {
            TargetMessages::Link(_) => InboundClass::Nh,
            TargetMessages::Home(_) => InboundClass::Db,
        }
    }

    /// Whether there is one.
    pub fn is_due(&self, cx: &Cx) -> bool {
        match self {
            TargetMessages::Link(rx) => rx.is_due(cx),
            TargetMessages::Home(rx) => rx.is_due(cx),
        }
    }

    /// The first one.
    pub fn peek(&mut self, cx: &Cx) -> Option<&Message> {
        match self {
            TargetMessages::Link(rx) => rx.peek(cx),
            TargetMessages::Home(rx) => rx.peek(cx).map(|(_, message)| message),
        }
    }

    /// Takes the first one.
    pub fn pop(&mut self, cx: &mut Cx) -> Option<Message> {
        match self {
            TargetMessages::Link(rx) => rx.pop(cx),
            TargetMessages::Home(rx) => rx.pop(cx).map(|(_, message)| message),
        }
    }
}

/// A target port.
pub struct TargetPort {
    /// What comes.
    pub rx: TargetMessages,
    /// Answers.
    pub tx: Out<Message>,
    /// Its identifier, where the link routes by ports; else 0.
    pub own: u16,
    /// How its link spells messages.
    pub form: MessageForm,
    /// Number of its link, for traces.
    pub link: u32,
}
