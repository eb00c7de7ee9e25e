//! The port of an accelerator: a link end with channels to the accelerator.
//!
//! Modelled: the port between the channels of the accelerator and the link, protection of transactions where that is on,
//! back-pressure at will, bits of received transactions that flip behind the data link layer. Left out: UPLI, see
//! [`station`](super::station).
//!
//! A walk through one flit clock: what is due on the wire is received; received transactions are opened and go to the
//! accelerator as far as its channel has room, which frees their buffers; transactions of the accelerator are sealed and
//! move into the queues of the transaction layer; one item is sent.

use super::guard::{self, Guard};
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending};
use scalepool_link::ualink::tl::TlClass;
use scalepool_link::ualink::tl::port::LinkPort;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::Wire;
use scalepool_trace::Stamp;

/// Most transactions of a class that wait in the transaction layer; the rest waits in the channel.
const DEPTH: usize = 16;

/// A port of an accelerator.
pub struct AcceleratorPort {
    /// The link end.
    pub link: LinkPort,
    /// Transactions to send, by class.
    pub tx: [In<Box<Transfer>>; 2],
    /// Transactions received, by class.
    pub rx: [Out<Box<Transfer>>; 2],
    /// Protection, if it is on.
    pub guard: Option<Guard>,
    /// Bits that flip in received transactions.
    pub tamper: Tamper,
}

/// Bits that flip where no CRC sees it.
#[derive(Debug, Clone, Default)]
pub struct Tamper {
    /// Transactions, counted from 0 as they are received, and bits: of the field, then of data, byte enables and tag.
    pub flips: Vec<(u64, u32)>,
    /// Transactions so far.
    pub seen: u64,
}

/// Reads `TRANSACTION:BIT`; `None` for anything else.
pub fn parse(text: &str) -> Option<(u64, u32)> {
    let (transaction, bit) = text.split_once(':')?;
    Some((transaction.parse().ok()?, bit.parse().ok()?))
}

impl Tamper {
    fn apply(&mut self, transfer: &mut Transfer) {
        let now = self.seen;
        self.seen += 1;
        for &(_, bit) in self.flips.iter().filter(|(number, _)| *number == now) {
            flip(transfer, bit as usize);
        }
    }
}

/// Flips a bit of an uncompressed transaction, counted around its end.
fn flip(transfer: &mut Transfer, bit: usize) {
    let field_bits = transfer.field.def().bits as usize;
    let halves = transfer.data.len() + usize::from(transfer.enables.is_some());
    let bit = bit % (field_bits + 256 * halves + 64);
    if bit < field_bits {
        let bits = transfer.field.to_bits().unwrap_or(0) ^ 1 << bit;
        match &mut transfer.field {
            ControlField::Request(req) => {
                *req = TlReq::from_bits(bits);
                transfer.address = req.address.into();
            }
            ControlField::Response(rsp) => *rsp = TlRsp::from_bits(bits),
            _ => (),
        }
    } else if bit < field_bits + 256 * halves {
        let bit = bit - field_bits;
        let enables = transfer.enables.as_deref_mut();
        transfer.data.change(|data| {
            let half = data.iter_mut().chain(enables).nth(bit / 256);
            half.into_iter().for_each(|half| half[bit % 256 / 8] ^= 1 << (bit % 8));
        });
    } else {
        transfer.auth_tag ^= 1 << (bit - field_bits - 256 * halves);
    }
}

impl Module for AcceleratorPort {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        self.link.receive(cx);
        for class in TlClass::ALL {
            let n = class.index();
            while self.rx[n].has_room(cx, 1) && self.link.may_take(class) {
                let Some((mut transfer, held)) = self.link.tl().take(class) else { break };
                held.iter().for_each(|held| self.link.tl().release(held));
                // What comes without buffers is from this side: the link is down.
                if held.is_some() {
                    self.tamper.apply(&mut transfer);
                    let opened = self.guard.as_mut().map(|guard| guard.open(&transfer));
                    match opened {
                        Some(Ok(opened)) => *transfer = opened,
                        Some(Err(error)) => {
                            self.link.broken(guard::finding(&error), at);
                            continue;
                        }
                        None => (),
                    }
                }
                // Room was asked for before.
                let _ = self.rx[n].push(cx, transfer);
            }
            while self.link.tl().waiting(class) < DEPTH
                && let Some(transfer) = self.tx[n].pop(cx)
            {
                let sealed = self.guard.as_mut().map(|guard| guard.seal(&transfer));
                let transfer = match sealed {
                    Some(Ok(sealed)) => Box::new(sealed),
                    Some(Err(error)) => {
                        self.link.broken(guard::finding(&error), at);
                        continue;
                    }
                    None => transfer,
                };
                if let Err(refused) = self.link.tl().send(transfer) {
                    self.link.refuse(&refused.to_string());
                }
            }
        }
        let busy = self.link.transmit(cx);
        match self.link.wakes_at(cx.now()) {
            _ if busy => Next::Busy,
            Some(at) => Next::At(at),
            None => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        self.link.idle_ok()
    }

    fn publish(&self) {
        self.link.publish();
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        self.link.probes(visit);
    }
}
