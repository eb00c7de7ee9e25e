//! The port of an accelerator: a link end with channels to the accelerator.
//!
//! A walk through one flit clock: what is due on the wire is received; received transactions go to the accelerator as far
//! as its channel has room, which frees their buffers; transactions of the accelerator move into the queues of the
//! transaction layer; one item is sent.

use crate::kernel::{Cx, In, Module, Next, Out, Pending};
use crate::link::ualink::tl::TlClass;
use crate::link::ualink::tl::port::LinkPort;
use scalepool_protocols::ualink::unpack::Transfer;

/// Most transactions of a class that wait in the transaction layer; the rest waits in the channel.
const DEPTH: usize = 16;

/// A port of an accelerator.
pub struct Port {
    /// The link end.
    pub link: LinkPort,
    /// Transactions to send, by class.
    pub tx: [In<Transfer>; 2],
    /// Transactions received, by class.
    pub rx: [Out<Transfer>; 2],
}

impl Module for Port {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        self.link.receive(cx);
        for class in TlClass::ALL {
            let n = class.index();
            while self.link.tl().received(class) > 0 && self.rx[n].has_room(cx, 1) {
                let Some((transfer, held)) = self.link.tl().take(class) else { break };
                held.iter().for_each(|held| self.link.tl().release(held));
                // Room was asked for before.
                let _ = self.rx[n].push(cx, transfer);
            }
            while self.link.tl().waiting(class) < DEPTH
                && let Some(transfer) = self.tx[n].pop(cx)
            {
                if let Err(refused) = self.link.tl().send(transfer) {
                    self.link.refuse(&refused.to_string());
                }
            }
        }
        self.link.transmit(cx);
        match self.link.wakes_at(cx.now()) {
            _ if self.link.is_busy() => Next::Busy,
            Some(at) => Next::At(at),
            None => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        self.link.idle_ok()
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        self.link.probes(visit);
    }
}
