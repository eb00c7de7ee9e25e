//! Where messages of CXL.mem come to the inbound half: at a link, or at the home of memory that the bridge keeps coherent.
//!
//! Modelled: the channels, and how messages there are spelled. Left out: the link, and what the home asks for, which is up to
//! [`exported`](super::exported). A walk: a port of a link and the home each have a message; one enters in each cycle, and its answer goes
//! back where it came from.

use crate::window::InboundClass;
use scalepool_coherence::clocked::linked::Received;
use scalepool_kernel::Out;
use scalepool_protocols::cxl::message::{Message, MessageForm};

/// A target port.
pub struct TargetPort {
    /// What comes.
    pub rx: Received,
    /// Answers.
    pub tx: Out<Message>,
    /// Its identifier, where the link routes by ports; else 0.
    pub own: u16,
    /// How its link spells messages.
    pub form: MessageForm,
    /// Number of its link, for traces.
    pub link: u32,
}

impl TargetPort {
    /// To windows of which class it leads: over links hosts ask for memory that they alone keep coherent.
    pub fn class(&self) -> InboundClass {
        match self.rx {
            Received::Link(_) => InboundClass::Nh,
            Received::Agent(_) => InboundClass::Db,
        }
    }
}
