//! The expander: a CXL Type 3 device with host-managed memory (HDM-H).
//!
//! Modelled: requests served in order of arrival, one a cycle, each after a fixed latency. What is answered is the business
//! of the device of the coherence engine ([`HdmH`]), the one that the chapter 14 tests judge, over a store with real bytes, byte
//! enables and poison; a message that is in no row of its table breaks that row's rule and gets no answer. HDM decoders make
//! device addresses of system addresses. Left out: DRAM banks and refresh, stored meta values, DevLoad other than light load.
//!
//! A walk through one cycle: answers whose time has come leave as far as the channel has room; one request is taken, and
//! applied to the store at once, so requests to one line take effect in order of arrival.

use super::{cxl_tag, shown};
use crate::Broken;
use scalepool_coherence::agent::Out as Step;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{Content, Line, LineAddr};
use scalepool_coherence::mem::HdmH;
use scalepool_coherence::mem::backing::Backing;
use scalepool_coherence::wire::{Route, from_link};
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending, Time};
use scalepool_memory::decoder::Decoders;
use scalepool_memory::store::Store;
use scalepool_protocols::cxl::cxl256::code::DrsOpcode;
use scalepool_protocols::cxl::message::{Form, Message};
use scalepool_protocols::wire::{At, Violation};
use scalepool_trace::wait::WAIT_OVER;
use scalepool_trace::{Body, Handle, Kind, Named, Stamp, Tap, Wait};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

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
    /// Number of its link, for traces.
    pub link: u32,
    /// Its name, for what breaks a rule.
    pub place: String,
}

/// A store of bytes behind HDM decoders as the memory of the agent.
struct Bytes {
    store: Store,
    decoders: Option<Decoders>,
}

impl Bytes {
    /// The address in the device; `None`: no decoder is hit.
    fn device_address(&self, line: LineAddr) -> Option<u64> {
        let address = line.address();
        self.decoders.as_ref().map_or(Some(address), |decoders| decoders.device_address(address))
    }
}

impl Backing<Line> for Bytes {
    fn holds(&self, line: LineAddr) -> bool {
        self.device_address(line).is_some()
    }

    fn value(&self, line: LineAddr) -> Line {
        self.device_address(line).map_or_else(Line::ones, |address| {
            let stored = self.store.read_line(address);
            Line { bytes: stored.data, poison: stored.poison }
        })
    }

    fn merge(&mut self, line: LineAddr, data: &Line, enables: u64) {
        if let Some(address) = self.device_address(line) {
            self.store.write_line(address, &data.bytes, enables, data.poison);
        }
    }
}

/// What the device answers, without time.
struct Server {
    agent: HdmH<Line, Bytes>,
    /// Choices of the agent.
    choices: CoherenceConfig,
    step: Step<Line>,
    port: u16,
    form: Form,
}

impl Server {
    fn new(memory: Bytes, port: u16, form: Form) -> Server {
        let (agent, choices, step) = (HdmH::over(memory), CoherenceConfig::default(), Step::default());
        Server { agent, choices, step, port, form }
    }

    /// The answer to a request, after its effect on the store; `None` where there is none: a hint, a request that breaks a rule,
    /// or one for another port, which stays open at the host. The rules that it breaks are in `step`.
    fn serve(&mut self, message: &Message) -> Option<Message> {
        self.step.clear();
        let (ld_id, spid, dpid) = match message {
            Message::M2sReq(header) => (header.ld_id, header.spid, header.dpid),
            Message::M2sRwd(header, _) => (header.ld_id, header.spid, header.dpid),
            _ => (0, 0, self.port),
        };
        if dpid != self.port {
            return None;
        }
        self.agent.serve(&self.choices, from_link(message), &mut self.step);
        let route = Route { ld_id, dpid: spid, ..Route::default() };
        let mut answer = self.step.sends.first().map(|(_, answer)| route.to_link(answer));
        // A device of a 68B link has no other word for data that is not there: all ones say it (`fabric` CMR-4).
        if self.form == Form::Cxl68
            && let Some(Message::S2mDrs(header, _)) = &mut answer
        {
            header.opcode = DrsOpcode::MemData;
        }
        answer
    }
}

/// The device.
pub struct Device {
    server: Server,
    latency_cycles: u64,
    queue: usize,
    link: u32,
    place: String,
    /// The first answer is due and has no room, as the trace says.
    is_held: bool,
    /// The next request has no place in the queue, as the trace says.
    is_full: bool,
    /// Answers with the cycle at which they may leave, transaction and time of arrival.
    answers: VecDeque<(u64, u64, Time, Message)>,
    rx: In<Message>,
    tx: Out<Message>,
    tap: Tap,
    broken: Vec<Broken>,
    result: Arc<Mutex<Vec<Broken>>>,
}

impl Device {
    /// A device with its channel ends; `result` is filled with the rules that requests broke, when the run is looked at.
    pub fn new(
        config: DeviceConfig,
        rx: In<Message>,
        tx: Out<Message>,
        tap: Tap,
        result: Arc<Mutex<Vec<Broken>>>,
    ) -> Device {
        let DeviceConfig { store, decoders, latency_cycles, queue, port, form, link, place } = config;
        let server = Server::new(Bytes { store, decoders }, port, form);
        let (answers, broken) = (VecDeque::new(), Vec::new());
        let (is_held, is_full) = (false, false);
        Device { server, latency_cycles, queue, link, place, is_held, is_full, answers, rx, tx, tap, broken, result }
    }

    /// A request as its host knows it.
    fn handle(&self, request: &Message) -> Option<Handle> {
        let (host, device, tag) = match request {
            Message::M2sReq(header) => (header.spid, header.dpid, header.tag),
            Message::M2sRwd(header, _) => (header.spid, header.dpid, header.tag),
            _ => return None,
        };
        Some(cxl_tag(self.link, host, device, tag))
    }

    /// Says of the next request that it waits for a place in the queue, and when it does no more.
    fn show_queue(&mut self, cx: &Cx, at: Stamp) {
        let is_full = self.answers.len() >= self.queue && self.rx.is_due(cx);
        if is_full == self.is_full {
            return;
        }
        self.is_full = is_full;
        if let Some(handle) = self.rx.peek(cx).copied().and_then(|request| self.handle(&request)) {
            let body = || if is_full { Body::Wait { wait: Wait::Room, holder: 0 } } else { Body::Mark(WAIT_OVER) };
            self.tap.named(Named::By(handle), at, Kind::Mark, 0, 0, body);
        }
    }

    /// The answer to a request; the rules that it breaks are kept.
    fn serve(&mut self, request: &Message, at: Stamp) -> Option<Message> {
        let answer = self.server.serve(request);
        for event in &self.server.step.events {
            let address = event.line.map_or_else(String::new, |line| format!(" at {:#x}", line.address()));
            let violation = Violation {
                rule: event.rule,
                at: At::Byte(0),
                found: format!("{}{address}", event.found),
                expected: event.expected.clone(),
                text: event.text(),
            };
            self.tap.record(at, Kind::Violation, 0, 0, || Body::Violation(violation.clone()));
            self.broken.push(Broken { place: self.place.clone(), violation });
        }
        answer
    }
}

impl Module for Device {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        while let Some((due, id, _, answer)) = self.answers.front()
            && *due <= at.cycle
            && self.tx.has_room(cx, 1)
        {
            let (id, answer) = (*id, *answer);
            self.tap.record(at, Kind::End, id, 0, || shown(&answer, self.server.form));
            if self.tx.push(cx, answer).is_err() {
                break;
            }
            self.answers.pop_front();
            self.is_held = false;
        }
        if let Some((_, id, ..)) = self.answers.front().filter(|(due, ..)| *due <= at.cycle && !self.is_held) {
            self.tap.wait(at, *id, Wait::Link, 0);
            self.is_held = true;
        }
        self.show_queue(cx, at);
        if self.answers.len() < self.queue
            && let Some(request) = self.rx.pop(cx)
        {
            let id = self.tap.new_id();
            let named = self.handle(&request).map_or(Named::Nowhere, Named::By);
            self.tap.named(named, at, Kind::Begin, id, 0, || shown(&request, self.server.form));
            match self.serve(&request, at) {
                Some(answer) => {
                    self.tap.wait(at, id, Wait::Media, 0);
                    self.answers.push_back((at.cycle + self.latency_cycles, id, cx.now(), answer));
                }
                None => self.tap.record(at, Kind::End, id, 0, || Body::None),
            }
        }
        self.show_queue(cx, at);
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

    fn publish(&self) {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&self.broken);
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
    use scalepool_protocols::cxl::cxl256::code::{M2sReqOpcode, M2sRwdOpcode};
    use scalepool_protocols::cxl::message::{Data, M2sReq, M2sRwd};

    const BASE: u64 = 4 << 30;

    /// A device that has every second chunk of a window.
    fn device(form: Form) -> Server {
        let interleave = Interleave::new(2, 256, Arithmetic::Modulo).expect("a legal interleave");
        let mut decoders = Decoders::default();
        decoders.push(Window { base: BASE, size: 512 << 20, interleave });
        let store = Store::new(Background::Zero);
        Server::new(Bytes { store, decoders: Some(decoders) }, 0, form)
    }

    fn write(address: u64) -> Message {
        Message::M2sRwd(M2sRwd { opcode: M2sRwdOpcode::MemWr, address, ..M2sRwd::default() }, Data::line([7; 64]))
    }

    fn read(device: &mut Server, address: u64) -> (DrsOpcode, [u8; 64]) {
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
        assert_eq!(device.agent.backing().store.read_line(0x100).data, [7; 64]);
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
