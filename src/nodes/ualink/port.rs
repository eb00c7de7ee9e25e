//! The channels between an accelerator and the port of its link.
//!
//! Modelled: protection of transactions where that is on, back-pressure at will, bits of received transactions that flip behind
//! the data link layer. Left out: UPLI, see [`station`](super::station).
//!
//! A walk through one flit clock of the port: received transactions are opened and go to the accelerator as far as its channel
//! has room, which frees their buffers; transactions of the accelerator are sealed and move into the queues of the transaction
//! layer.

use super::guard::{self, Guard};
use scalepool_kernel::{Cx, In, Out};
use scalepool_link::port::PortAgent;
use scalepool_link::ualink::UalEnd;
use scalepool_link::ualink::tl::port::illegal;
use scalepool_link::ualink::tl::stall::TakeStall;
use scalepool_link::ualink::tl::{Tl, TlClass};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::{Violation, Wire};

/// Most transactions of a class that wait in the transaction layer; the rest waits in the channel.
const DEPTH: usize = 16;

/// Channels between an accelerator and its port.
pub struct AcceleratorChannels {
    /// Transactions to send, by class.
    pub tx: [In<Box<Transfer>>; 2],
    /// Transactions received, by class.
    pub rx: [Out<Box<Transfer>>; 2],
    /// Received requests of virtual channels 1 to 3, where none waits for those of another channel; else they go with those of channel 0.
    pub rx_vchans: Option<[Out<Box<Transfer>>; 3]>,
    /// Protection, if it is on.
    pub guard: Option<Guard>,
    /// Bits that flip in received transactions.
    pub tamper: Tamper,
    /// When received transactions wait.
    pub stall: TakeStall,
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

/// The virtual channel of a request; 0 of anything else.
fn vchan(transfer: &Transfer) -> usize {
    match &transfer.field {
        ControlField::Request(req) => req.vchan.into(),
        _ => 0,
    }
}

impl AcceleratorChannels {
    /// Where requests of a virtual channel go, and all else.
    fn output(&self, class: TlClass, vchan: usize) -> &Out<Box<Transfer>> {
        match (&self.rx_vchans, vchan.checked_sub(1)) {
            (Some(outs), Some(other)) => &outs[other],
            _ => &self.rx[class.index()],
        }
    }

    /// Whether something of a class may go to the accelerator.
    fn has_room(&self, class: TlClass, cx: &Cx) -> bool {
        let vchans = self.rx_vchans.iter().flatten().filter(|_| class == TlClass::Request);
        std::iter::once(&self.rx[class.index()]).chain(vchans).any(|out| out.has_room(cx, 1))
    }
}

impl PortAgent<UalEnd<Tl>> for AcceleratorChannels {
    /// Both ways are served in [`PortAgent::fetch`].
    fn deliver(&mut self, _: &mut UalEnd<Tl>, _: &mut Cx) {}

    /// Requests go in before responses are taken out: while the link is down, the transaction layer answers them at once.
    fn fetch(&mut self, end: &mut UalEnd<Tl>, cx: &mut Cx, broken: &mut Vec<Violation>) {
        let tl = &mut end.client;
        for class in TlClass::ALL {
            let n = class.index();
            while self.has_room(class, cx) && self.stall.may_take(tl, class) {
                let taken = match self.rx_vchans.is_some() && class == TlClass::Request {
                    true => tl.take_first(class, |transfer| self.output(class, vchan(transfer)).has_room(cx, 1)),
                    false => tl.take(class),
                };
                let Some((mut transfer, held)) = taken else { break };
                let of = vchan(&transfer);
                held.iter().for_each(|held| tl.release(held));
                // What comes without buffers is from this side: the link is down.
                if held.is_some() {
                    self.tamper.apply(&mut transfer);
                    let opened = self.guard.as_mut().map(|guard| guard.open(&transfer));
                    match opened {
                        Some(Ok(opened)) => *transfer = opened,
                        Some(Err(error)) => {
                            broken.push(guard::finding(&error));
                            continue;
                        }
                        None => (),
                    }
                }
                // Room was asked for before.
                let out = match (&mut self.rx_vchans, of.checked_sub(1)) {
                    (Some(outs), Some(other)) => &mut outs[other],
                    _ => &mut self.rx[n],
                };
                let _ = out.push(cx, transfer);
            }
            while tl.waiting(class) < DEPTH
                && let Some(transfer) = self.tx[n].pop(cx)
            {
                let sealed = self.guard.as_mut().map(|guard| guard.seal(&transfer));
                let transfer = match sealed {
                    Some(Ok(sealed)) => Box::new(sealed),
                    Some(Err(error)) => {
                        broken.push(guard::finding(&error));
                        continue;
                    }
                    None => transfer,
                };
                if let Err(refused) = tl.send(transfer) {
                    broken.push(illegal(&refused));
                }
            }
        }
    }

    fn is_due(&self, cx: &Cx) -> bool {
        self.tx.iter().any(|tx| tx.is_due(cx))
    }
}
