//! Ends of 256B flits with CXL.io, alone or behind the ARB/MUX.

use super::{HasIo, IoFigures, Shares, no_cachemem};
use crate::arbmux::cxl256::ArbMux;
use crate::coverage::Met;
use crate::cxl256::port::{self, Layer};
use crate::cxl256::{Cachemem, Cxl256End};
use crate::cxlio::{FlitEnd, IoPort};
use crate::port::PACKER_DEPTH;
use scalepool_protocols::cxl::message::{Class, Message};
use scalepool_protocols::wire::Violation;

impl HasIo for Cxl256End<FlitEnd> {
    const CACHEMEM: bool = false;

    fn io(&self) -> &dyn IoPort {
        &self.client
    }

    fn io_mut(&mut self) -> &mut dyn IoPort {
        &mut self.client
    }

    fn figures(&self) -> IoFigures {
        of_flits(self)
    }

    fn has_room(&self, _: &Message) -> bool {
        false
    }

    fn send(&mut self, _: Message) -> Result<(), Violation> {
        Err(no_cachemem())
    }

    fn take(&mut self) -> Option<Message> {
        None
    }
}

impl HasIo for Cxl256End<ArbMux<FlitEnd, Cachemem>> {
    const CACHEMEM: bool = true;

    fn io(&self) -> &dyn IoPort {
        &self.client.io
    }

    fn io_mut(&mut self) -> &mut dyn IoPort {
        &mut self.client.io
    }

    fn figures(&self) -> IoFigures {
        let stats = self.client.stats();
        let shares = Some(Shares { sent: stats.sent, almps: stats.almps_sent });
        IoFigures { shares, ..of_flits(self) }
    }

    fn coverage(&self) -> Vec<Met> {
        self.client.cachemem.coverage().met()
    }

    fn has_room(&self, message: &Message) -> bool {
        self.client.cachemem.waiting(message.class()) < PACKER_DEPTH
    }

    fn send(&mut self, message: Message) -> Result<(), Violation> {
        port::send_message(&mut self.client.cachemem, &message)
    }

    fn take(&mut self) -> Option<Message> {
        port::take_message(&mut self.client.cachemem)
    }

    fn has_received(&self) -> bool {
        self.client.cachemem.has_received()
    }

    fn take_class(&mut self, class: Class) -> Option<Message> {
        port::take_of_class(&mut self.client.cachemem, class)
    }

    fn waits(&self, class: Class) -> usize {
        self.client.cachemem.waiting(class)
    }

    fn damaged(&self) -> u64 {
        self.stats().bad
    }
}

fn of_flits<C: Layer>(end: &Cxl256End<C>) -> IoFigures {
    let stats = end.stats();
    IoFigures {
        units: stats.modelled,
        credit_stalls: stats.credit_stalls,
        replays: stats.replays,
        replayed: stats.replayed,
        early_halves: stats.early_halves,
        ..IoFigures::default()
    }
}
