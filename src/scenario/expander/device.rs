//! The expander: a CXL Type 3 device with host-managed memory (HDM-H).
//!
//! Modelled: requests served in order of arrival, one a cycle, each after a fixed latency; a backing store with real
//! bytes, byte enables and poison; DRS for reads, NDR for writes. Left out: DRAM banks and refresh, meta state (the host
//! asks for none), DevLoad other than light load.
//!
//! A walk through one cycle: answers whose time has come leave as far as the channel has room; one request is taken, and
//! applied to the store at once, so requests to one line take effect in order of arrival.

use super::TRANSACTION_LAYOUTS;
use crate::kernel::{Cx, In, Module, Next, Out, Pending, Time};
use crate::memory::store::Store;
use crate::trace::{Body, Kind, PlaceKind, Stamp, Tap};
use scalepool_protocols::cxl::cxl68::code::{DrsOpcode, M2sReqOpcode, MetaField, NdrOpcode};
use scalepool_protocols::cxl::cxl68::message::{Class, M2sReq, M2sRwd, S2mDrs, S2mNdr};
use scalepool_protocols::cxl::cxl68::stream::{Data, Message};
use scalepool_protocols::wire::Wire;
use std::collections::VecDeque;

/// Place of the device in traces.
pub const PLACE: &str = "device.mem";

/// What the device shows in a wave.
pub const SHOWS: PlaceKind = PlaceKind::Messages(TRANSACTION_LAYOUTS);

/// The device.
pub struct Device {
    /// Backing store.
    store: Store,
    latency_cycles: u64,
    queue: usize,
    /// Answers with the cycle at which they may leave, transaction and time of arrival.
    answers: VecDeque<(u64, u64, Time, Message)>,
    rx: In<Message>,
    tx: Out<Message>,
    tap: Tap,
}

impl Device {
    /// A device that answers after `latency_cycles` and holds at most `queue` requests.
    pub fn new(store: Store, latency_cycles: u64, queue: usize, rx: In<Message>, tx: Out<Message>, tap: Tap) -> Device {
        Device { store, latency_cycles, queue, answers: VecDeque::new(), rx, tx, tap }
    }

    /// The answer to a request, after its effect on the store; `None` where there is none (MemSpecRd).
    fn serve(&mut self, message: &Message) -> Option<Message> {
        match message.class {
            Class::M2sRwd => {
                let header = M2sRwd::from_bits(message.bits);
                if let Some(data) = &message.data {
                    self.store.write_line(header.address, &data.bytes, data.enabled(), header.poison);
                }
                Some(self.completion(header.tag, header.ld_id))
            }
            _ => {
                let request = M2sReq::from_bits(message.bits);
                match request.opcode {
                    // A hint without a completion (`cxl-68b` §4.1).
                    M2sReqOpcode::MemSpecRd => None,
                    M2sReqOpcode::MemInv | M2sReqOpcode::MemInvNT => Some(self.completion(request.tag, request.ld_id)),
                    _ => Some(self.data(&request)),
                }
            }
        }
    }

    fn completion(&self, tag: u16, ld_id: u8) -> Message {
        let ndr = S2mNdr { opcode: NdrOpcode::Cmp, meta_field: MetaField::NoOp, tag, ld_id, ..S2mNdr::default() };
        Message::new(Class::S2mNdr, bits_of(&ndr))
    }

    fn data(&self, request: &M2sReq) -> Message {
        // Bit 5 of the address is a hint for the critical chunk; a line is read whole.
        let line = self.store.read_line(request.address & !63);
        let drs = S2mDrs {
            opcode: DrsOpcode::MemData,
            meta_field: MetaField::NoOp,
            tag: request.tag,
            poison: line.poison,
            ld_id: request.ld_id,
            ..S2mDrs::default()
        };
        Message::with_data(Class::S2mDrs, bits_of(&drs), Data::line(line.data))
    }
}

/// Every field of an answer is a field of the request or a constant, so it fits; zero bits would be no message at all.
fn bits_of(message: &impl Wire) -> u128 {
    message.to_bits().unwrap_or(0)
}

impl Module for Device {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        while let Some((due, id, _, answer)) = self.answers.front()
            && *due <= at.cycle
            && self.tx.has_room(cx, 1)
        {
            let (id, answer) = (*id, *answer);
            self.tap.record(at, Kind::End, id, 0, || Body::Message {
                layout: answer.class.def(),
                bits: answer.bits,
                data: answer.data.map(|d| d.bytes.to_vec()),
            });
            if self.tx.push(cx, answer).is_err() {
                break;
            }
            self.answers.pop_front();
        }
        if self.answers.len() < self.queue
            && let Some(request) = self.rx.pop(cx)
        {
            let id = self.tap.new_id();
            self.tap.record(at, Kind::Begin, id, 0, || Body::Message {
                layout: request.class.def(),
                bits: request.bits,
                data: request.data.map(|d| d.bytes.to_vec()),
            });
            if let Some(answer) = self.serve(&request) {
                self.answers.push_back((at.cycle + self.latency_cycles, id, cx.now(), answer));
            }
        }
        if self.rx.is_due(cx) && self.answers.len() < self.queue {
            return Next::Busy;
        }
        match self.answers.front() {
            Some((due, ..)) if *due > at.cycle => Next::At(cx.in_cycles(due - at.cycle)),
            // Due and no room: the consumer's pop wakes us.
            _ => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        match self.answers.front() {
            Some((_, _, since, _)) => Err(Pending::new(format!("{} answers to send", self.answers.len()), *since)),
            None => Ok(()),
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("answers", self.answers.len() as u64);
    }
}
