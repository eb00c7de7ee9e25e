//! Up to 32 ports of a switch in one module.
//!
//! A walk through one flit clock: transactions from the core enter the transaction layers of their ports, freed buffers
//! become credits; each port whose wire has something, or that has something to do, receives, hands transactions to the
//! core, and sends one item. A port that rests costs a look at its wire.

use super::{FromCore, SLICE_PORTS, ToCore};
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending};
use scalepool_link::port::PortSteps;
use scalepool_link::ualink::UalEnd;
use scalepool_link::ualink::tl::port::illegal;
use scalepool_link::ualink::tl::stall::TakeStall;
use scalepool_link::ualink::tl::{Tl, TlClass};
use scalepool_trace::Stamp;

/// A port of a slice, and when what it receives waits.
pub type SliceLink = (Box<dyn PortSteps<UalEnd<Tl>>>, TakeStall);

struct SlicePort {
    link: Box<dyn PortSteps<UalEnd<Tl>>>,
    stall: TakeStall,
    busy: bool,
    /// Transactions that the core has sent and that have not left, by class.
    queued: [usize; 2],
}

/// Ports of a switch.
pub struct Slice {
    /// Number of its first port.
    first: u16,
    ports: Vec<SlicePort>,
    rx: In<Vec<FromCore>>,
    tx: Out<Vec<ToCore>>,
    /// How much the last batch for the core was: the next one gets the room for as much at once.
    sent: usize,
}

impl Slice {
    /// Ports from number `first` on, with the channels to the core.
    pub fn new(first: u16, ports: Vec<SliceLink>, rx: In<Vec<FromCore>>, tx: Out<Vec<ToCore>>) -> Slice {
        let port = |(link, stall)| SlicePort { link, stall, busy: true, queued: [0; 2] };
        Slice { first, ports: ports.into_iter().map(port).collect(), rx, tx, sent: 0 }
    }

    fn port(&mut self, port: u16) -> Option<&mut SlicePort> {
        self.ports.get_mut(usize::from(port) % SLICE_PORTS)
    }

    fn take(&mut self, item: FromCore, at: Stamp) {
        match item {
            FromCore::Send { port, transfer } => {
                let Some(port) = self.port(port) else { return };
                port.busy = true;
                let class = scalepool_link::ualink::tl::transfer::class_of(&transfer.field);
                match port.link.end().client.relay(transfer) {
                    Ok(()) => port.queued[class.map_or(0, TlClass::index)] += 1,
                    Err(refused) => port.link.broken(illegal(&refused), at),
                }
            }
            FromCore::Release { port, held } => {
                let Some(port) = self.port(port) else { return };
                port.busy = true;
                port.link.end().client.release(&held);
            }
        }
    }
}

impl Module for Slice {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        while let Some(batch) = self.rx.pop(cx) {
            batch.into_iter().for_each(|item| self.take(item, at));
        }
        let mut out = Vec::with_capacity(self.sent);
        let mut busy = false;
        for (n, port) in self.ports.iter_mut().enumerate() {
            let came = port.link.receive(cx);
            if !came && !port.busy {
                continue;
            }
            let number = self.first + n as u16;
            let tl = &mut port.link.end().client;
            for class in TlClass::ALL {
                if !port.stall.may_take(tl, class) {
                    continue;
                }
                while let Some((transfer, held)) = tl.take(class) {
                    // Nothing without buffers comes out of a switch port: no originator stands above it.
                    let Some(held) = held else { continue };
                    out.push(ToCore::Arrived { port: number, transfer, held });
                }
            }
            port.busy = port.link.transmit(cx) == Next::Busy;
            let tl = &port.link.end().client;
            for class in TlClass::ALL {
                let (queued, waiting) = (&mut port.queued[class.index()], tl.waiting(class));
                while *queued > waiting {
                    *queued -= 1;
                    out.push(ToCore::Room { port: number, class });
                }
            }
            busy |= port.busy;
        }
        self.sent = out.len();
        if !out.is_empty() {
            // The core takes a batch each cycle, so there is always room.
            let pushed = self.tx.push(cx, out);
            debug_assert!(pushed.is_ok(), "the core has not taken its batches");
        }
        Next::busy_if(busy)
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        self.ports.iter().try_for_each(|port| port.link.idle_ok())
    }

    fn publish(&self) {
        self.ports.iter().for_each(|port| port.link.publish());
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("ports_busy", self.ports.iter().filter(|p| p.busy).count() as u64);
    }
}
