//! The expander: a CXL Type 3 device with host-managed memory (HDM-H).
//!
//! Modelled: requests served in order of arrival, one a cycle, each after a fixed latency; a backing store with real
//! bytes, byte enables and poison; DRS for reads, NDR for writes; HDM decoders that make device addresses of system
//! addresses. Left out: DRAM banks and refresh, meta state (the host
//! asks for none), DevLoad other than light load.
//!
//! A walk through one cycle: answers whose time has come leave as far as the channel has room; one request is taken, and
//! applied to the store at once, so requests to one line take effect in order of arrival.

use super::shown;
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending, Time};
use scalepool_memory::decoder::Decoders;
use scalepool_memory::store::{Store, StoredLine};
use scalepool_memory::{ALL_BYTES, LINE_BYTES};
use scalepool_protocols::cxl::cxl256::code::{DrsOpcode, M2sReqOpcode, MetaField, NdrOpcode};
use scalepool_protocols::cxl::message::{Data, Form, M2sReq, Message, S2mDrs, S2mNdr};
use scalepool_trace::{Kind, Stamp, Tap};
use std::collections::VecDeque;

/// How the device is built.
pub struct DeviceConfig {
    /// Backing store, by device addresses.
    pub store: Store,
    /// Windows of the memory map that lead to it; `None`: system addresses are device addresses.
    pub decoders: Option<Decoders>,
    /// Request to answer \[cycles of its clock\].
    pub latency_cycles: u64,
    /// Most requests that it holds.
    pub queue: usize,
    /// Its port, where the link routes by ports; else 0.
    pub port: u16,
    /// How its link spells messages, for traces.
    pub form: Form,
}

/// The device.
pub struct Device {
    config: DeviceConfig,
    /// Answers with the cycle at which they may leave, transaction and time of arrival.
    answers: VecDeque<(u64, u64, Time, Message)>,
    rx: In<Message>,
    tx: Out<Message>,
    tap: Tap,
}

impl Device {
    /// A device with its channel ends.
    pub fn new(config: DeviceConfig, rx: In<Message>, tx: Out<Message>, tap: Tap) -> Device {
        Device { config, answers: VecDeque::new(), rx, tx, tap }
    }
}

impl DeviceConfig {
    /// The answer to a request, after its effect on the store; `None` where there is none: a hint, or a request for
    /// another port, which stays open at the host.
    fn serve(&mut self, message: &Message) -> Option<Message> {
        match message {
            Message::M2sRwd(header, data) if header.dpid == self.port => {
                let enables = data.byte_enables.unwrap_or(ALL_BYTES);
                // A write that hits no decoder is dropped and completed, as a switch does it (`fabric` CMR-4).
                if let Some(address) = self.device_address(header.address) {
                    self.store.write_line(address, &data.line, enables, header.poison);
                }
                Some(completion(header.tag, header.ld_id, header.spid))
            }
            Message::M2sReq(request) if request.dpid == self.port => match request.opcode {
                // A hint without a completion (`cxl-68b` §4.1).
                M2sReqOpcode::MemSpecRd => None,
                M2sReqOpcode::MemInv | M2sReqOpcode::MemInvNT => {
                    Some(completion(request.tag, request.ld_id, request.spid))
                }
                _ => Some(self.data(request)),
            },
            _ => None,
        }
    }

    /// The address in the device; `None`: no decoder is hit.
    fn device_address(&self, address: u64) -> Option<u64> {
        self.decoders.as_ref().map_or(Some(address), |decoders| decoders.device_address(address))
    }

    fn data(&self, request: &M2sReq) -> Message {
        let hit = self.device_address(request.address).map(|address| self.store.read_line(address));
        // All ones where no decoder is hit; 256B flits can say so too (`fabric` CMR-4).
        let opcode = match (hit, self.form) {
            (None, Form::Hbr | Form::Pbr) => DrsOpcode::MemDataNXM,
            _ => DrsOpcode::MemData,
        };
        let line = hit.unwrap_or(StoredLine { data: [0xff; LINE_BYTES as usize], poison: false });
        let drs = S2mDrs {
            opcode,
            meta_field: MetaField::NoOp,
            tag: request.tag,
            poison: line.poison,
            ld_id: request.ld_id,
            dpid: request.spid,
            ..S2mDrs::default()
        };
        Message::S2mDrs(drs, Data::line(line.data))
    }
}

fn completion(tag: u16, ld_id: u8, dpid: u16) -> Message {
    let ndr = S2mNdr { opcode: NdrOpcode::Cmp, meta_field: MetaField::NoOp, tag, ld_id, dpid, ..S2mNdr::default() };
    Message::S2mNdr(ndr)
}

impl Module for Device {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        while let Some((due, id, _, answer)) = self.answers.front()
            && *due <= at.cycle
            && self.tx.has_room(cx, 1)
        {
            let (id, answer) = (*id, *answer);
            self.tap.record(at, Kind::End, id, 0, || shown(&answer, self.config.form));
            if self.tx.push(cx, answer).is_err() {
                break;
            }
            self.answers.pop_front();
        }
        if self.answers.len() < self.config.queue
            && let Some(request) = self.rx.pop(cx)
        {
            let id = self.tap.new_id();
            self.tap.record(at, Kind::Begin, id, 0, || shown(&request, self.config.form));
            if let Some(answer) = self.config.serve(&request) {
                self.answers.push_back((at.cycle + self.config.latency_cycles, id, cx.now(), answer));
            }
        }
        if self.rx.is_due(cx) && self.answers.len() < self.config.queue {
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

#[cfg(test)]
mod tests {
    use super::*;
    use scalepool_memory::decoder::{Arithmetic, Interleave, Window};
    use scalepool_memory::store::Background;
    use scalepool_protocols::cxl::cxl256::code::M2sRwdOpcode;
    use scalepool_protocols::cxl::message::M2sRwd;

    const BASE: u64 = 4 << 30;

    /// A device that has every second chunk of a window.
    fn device(form: Form) -> DeviceConfig {
        let interleave = Interleave::new(2, 256, Arithmetic::Modulo).expect("a legal interleave");
        let mut decoders = Decoders::default();
        decoders.push(Window { base: BASE, size: 512 << 20, interleave });
        let store = Store::new(Background::Zero);
        DeviceConfig { store, decoders: Some(decoders), latency_cycles: 1, queue: 1, port: 0, form }
    }

    fn write(address: u64) -> Message {
        Message::M2sRwd(M2sRwd { opcode: M2sRwdOpcode::MemWr, address, ..M2sRwd::default() }, Data::line([7; 64]))
    }

    fn read(device: &mut DeviceConfig, address: u64) -> (DrsOpcode, [u8; 64]) {
        let request = M2sReq { opcode: M2sReqOpcode::MemRd, address, ..M2sReq::default() };
        match device.serve(&Message::M2sReq(request)) {
            Some(Message::S2mDrs(drs, data)) => (drs.opcode, data.line),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_line_is_kept_at_its_device_address() {
        let mut device = device(Form::Cxl68);
        assert!(matches!(device.serve(&write(BASE + 0x200)), Some(Message::S2mNdr(_))));
        assert_eq!(device.store.read_line(0x100).data, [7; 64]);
        assert_eq!(read(&mut device, BASE + 0x200), (DrsOpcode::MemData, [7; 64]));
    }

    #[test]
    fn a_hole_takes_writes_and_reads_as_ones() {
        for (form, opcode) in
            [(Form::Cxl68, DrsOpcode::MemData), (Form::Hbr, DrsOpcode::MemDataNXM), (Form::Pbr, DrsOpcode::MemDataNXM)]
        {
            let mut device = device(form);
            for address in [0, BASE - 64, BASE + (512 << 20)] {
                assert!(matches!(device.serve(&write(address)), Some(Message::S2mNdr(_))));
                assert_eq!(read(&mut device, address), (opcode, [0xff; 64]), "{address:#x}");
            }
            assert_eq!(read(&mut device, BASE), (DrsOpcode::MemData, [0; 64]), "nothing was written");
        }
    }
}
