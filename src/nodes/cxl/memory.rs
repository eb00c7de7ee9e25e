//! The expander: a CXL Type 3 device with host-managed memory (HDM-H).
//!
//! Modelled: requests served in order of arrival, at most one a cycle, and answered when the memory behind them is done, which
//! may be out of order where lines differ: a fixed latency, banks, or DRAM (see [`backend`](scalepool_memory::backend)). What is
//! answered is the business of the device of the coherence engine ([`HdmH`]), the one that the chapter 14 tests judge, over a store with real bytes, byte
//! enables and poison; a message that is in no row of its table breaks that row's rule and gets no answer. HDM decoders make
//! device addresses of system addresses. Left out: stored meta values, DevLoad other than light load.
//!
//! A walk through one cycle: answers whose time has come leave as far as the channel has room; one request is taken if the
//! memory has room for it, and applied to the store at once, so requests to one line take effect in order of arrival.

use super::{cxl_tag, shown};
use crate::PlacedViolation;
use scalepool_coherence::agent::AgentOutput;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LineAddr, LineContent};
use scalepool_coherence::mem::HdmH;
use scalepool_coherence::mem::backing::Backing;
use scalepool_coherence::message::from_link;
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending, Time};
use scalepool_memory::backend::{DramView, MemoryAccess, MemoryBackend, MemoryRequest, MemoryTiming};
use scalepool_memory::decoder::Decoders;
use scalepool_memory::dram::channel::DramCounts;
use scalepool_memory::dram::{DramCommand, DramFinding};
use scalepool_memory::store::{Background, Store};
use scalepool_memory::{ALL_BYTES, LINE_BYTES};
use scalepool_protocols::cxl::cxl256::code::DrsOpcode;
use scalepool_protocols::cxl::message::PeerRoute;
use scalepool_protocols::cxl::message::{Message, MessageForm};
use scalepool_protocols::wire::{At, Violation};
use scalepool_trace::wait::WAIT_OVER;
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionHandle, TransactionNaming, Wait};
use std::sync::{Arc, Mutex, PoisonError};

/// How the device is built.
pub struct DeviceConfig {
    /// Its logical devices, by LD-ID; a device without any has one.
    pub logical: Vec<LogicalDevice>,
    /// Bytes of each; they follow one another in the memory behind.
    pub logical_bytes: u64,
    /// When requests are answered, in cycles of its clock.
    pub timing: MemoryTiming,
    /// Its port, where the link routes by ports; else 0.
    pub port: u16,
    /// How its link spells messages, for traces.
    pub form: MessageForm,
    /// Number of its link, for traces.
    pub link: u32,
    /// Its name, for what breaks a rule.
    pub place: String,
}

/// A logical device: bytes of its own, at addresses of its own.
pub struct LogicalDevice {
    /// Backing store, by device addresses.
    pub store: Store,
    /// Windows of the memory map that lead to it; `None`: system addresses are device addresses.
    pub decoders: Option<Decoders>,
}

/// A store of bytes behind HDM decoders as the memory of the agent.
type Bytes = LogicalDevice;

impl Bytes {
    /// The address in the device; `None`: no decoder is hit.
    fn device_address(&self, line: LineAddr) -> Option<u64> {
        let address = line.address();
        self.decoders.as_ref().map_or(Some(address), |decoders| decoders.device_address(address))
    }
}

impl Backing<CacheLine> for Bytes {
    fn holds(&self, line: LineAddr) -> bool {
        self.device_address(line).is_some()
    }

    fn value(&self, line: LineAddr) -> CacheLine {
        self.device_address(line).map_or_else(CacheLine::ones, |address| {
            let stored = self.store.read_line(address);
            CacheLine { bytes: stored.data, poison: stored.poison }
        })
    }

    fn merge(&mut self, line: LineAddr, data: &CacheLine, enables: u64) {
        if let Some(address) = self.device_address(line) {
            self.store.write_line(address, &data.bytes, enables, data.poison);
        }
    }
}

/// What the device answers, without time.
struct Server {
    /// By LD-ID, and behind them one without memory: what has another LD-ID reaches nothing.
    agents: Vec<HdmH<CacheLine, Bytes>>,
    logical_bytes: u64,
    /// Choices of the agent.
    choices: CoherenceConfig,
    step: AgentOutput<CacheLine>,
    port: u16,
    form: MessageForm,
}

impl Server {
    fn new(logical: Vec<LogicalDevice>, logical_bytes: u64, port: u16, form: MessageForm) -> Server {
        let nothing = Bytes { store: Store::new(Background::Zero), decoders: Some(Decoders::default()) };
        let agents = logical.into_iter().chain([nothing]).map(HdmH::over).collect();
        let (choices, step) = (CoherenceConfig::default(), AgentOutput::default());
        Server { agents, logical_bytes, choices, step, port, form }
    }

    /// The place of a logical device. A device with one does not look at the LD-ID.
    fn place(&self, ld_id: u8) -> usize {
        let nothing = self.agents.len() - 1;
        if nothing == 1 { 0 } else { usize::from(ld_id).min(nothing) }
    }

    /// What a request asks of the memory; nothing where there is none.
    fn request(&self, message: &Message) -> MemoryRequest {
        let (ld_id, address, access) = match message {
            Message::M2sReq(header) => (header.ld_id, header.address, MemoryAccess::Read),
            Message::M2sRwd(header, data) => {
                let is_whole = data.byte_enables.is_none_or(|enables| enables == ALL_BYTES);
                (header.ld_id, header.address, if is_whole { MemoryAccess::Write } else { MemoryAccess::Modify })
            }
            _ => return MemoryRequest::NONE,
        };
        let place = self.place(ld_id);
        let address = self.agents[place].backing().device_address(LineAddr::of_address(address));
        address.map_or(MemoryRequest::NONE, |address| {
            let address = address.wrapping_add(self.logical_bytes.wrapping_mul(place as u64));
            MemoryRequest { address, bytes: LINE_BYTES, access }
        })
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
        let place = self.place(ld_id);
        self.agents[place].serve(&self.choices, from_link(message), &mut self.step);
        let route = PeerRoute { ld_id, dpid: spid, ..PeerRoute::default() };
        let mut answer = self.step.sends.first().map(|(_, answer)| answer.to_link(route));
        // A device of a 68B link has no other word for data that is not there: all ones say it (`fabric` CMR-4).
        if self.form == MessageForm::Cxl68
            && let Some(Message::S2mDrs(header, _)) = &mut answer
        {
            header.opcode = DrsOpcode::MemData;
        }
        answer
    }
}

/// An answer that waits for the memory.
struct Answer {
    transaction: u64,
    /// When its request came.
    since: Time,
    message: Message,
}

/// What a device leaves behind.
#[derive(Debug, Clone, Default)]
pub struct MemoryResult {
    /// Rules that requests broke, or commands of its DRAM.
    pub broken: Vec<PlacedViolation>,
    /// Figures of its DRAM, if it has that.
    pub dram: Option<DramFigures>,
    /// Commands of its DRAM, if they are kept; those of one channel in order.
    pub commands: Vec<DramCommand>,
}

/// Figures of the DRAM of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DramFigures {
    /// What its channels have done.
    pub counts: DramCounts,
    /// Bytes that went over its data buses.
    pub bytes: u64,
    /// Time at which the last data ended \[fs\].
    pub last_data_fs: u64,
}

/// The device.
pub struct MemoryDevice {
    server: Server,
    memory: Box<dyn MemoryBackend<Answer>>,
    link: u32,
    place: String,
    /// The first answer is ready and has no room, as the trace says.
    is_held: bool,
    /// The memory has no room for the next request, as the trace says.
    is_full: bool,
    rx: In<Message>,
    tx: Out<Message>,
    tap: Tap,
    broken: Vec<PlacedViolation>,
    /// Rules broken by commands that stand in `broken`.
    findings: usize,
    result: Arc<Mutex<MemoryResult>>,
}

impl MemoryDevice {
    /// A device with its channel ends; `result` is filled when the run is looked at.
    pub fn new(
        config: DeviceConfig,
        rx: In<Message>,
        tx: Out<Message>,
        tap: Tap,
        result: Arc<Mutex<MemoryResult>>,
    ) -> MemoryDevice {
        let DeviceConfig { logical, logical_bytes, timing, port, form, link, place } = config;
        let server = Server::new(logical, logical_bytes, port, form);
        let (memory, is_held, is_full) = (timing.build(), false, false);
        let (broken, findings) = (Vec::new(), 0);
        MemoryDevice { server, memory, link, place, is_held, is_full, rx, tx, tap, broken, findings, result }
    }

    /// What the first request at the port asks of the memory, if there is one.
    fn next_request(&mut self, cx: &Cx) -> Option<MemoryRequest> {
        self.rx.peek(cx).map(|message| self.server.request(message))
    }

    /// The cycle from which the memory takes it.
    fn takes_at(&self, request: Option<MemoryRequest>, cycle: u64) -> Option<u64> {
        self.memory.room_at(cycle, &request?)
    }

    /// A request as its host knows it.
    fn handle(&self, request: &Message) -> Option<TransactionHandle> {
        let (host, device, tag) = match request {
            // A link has port identifiers or LD-IDs.
            Message::M2sReq(header) => (header.spid, header.dpid | u16::from(header.ld_id), header.tag),
            Message::M2sRwd(header, _) => (header.spid, header.dpid | u16::from(header.ld_id), header.tag),
            _ => return None,
        };
        Some(cxl_tag(self.link, host, device, tag))
    }

    /// Says of the next request that it waits for room in the memory, and when it does no more.
    fn show_queue(&mut self, is_full: bool, cx: &Cx, at: Stamp) {
        if is_full == self.is_full {
            return;
        }
        self.is_full = is_full;
        if let Some(handle) = self.rx.peek(cx).copied().and_then(|request| self.handle(&request)) {
            let body = || if is_full { Body::Wait { wait: Wait::Room, holder: 0 } } else { Body::Mark(WAIT_OVER) };
            self.tap.named(TransactionNaming::By(handle), at, RecordKind::Mark, 0, 0, body);
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
            self.tap.record(at, RecordKind::Violation, 0, 0, || Body::Violation(violation.clone()));
            self.broken.push(PlacedViolation { place: self.place.clone(), violation });
        }
        answer
    }

    /// Lets the memory do what is due; the rules that its commands break are kept.
    fn advance(&mut self, at: Stamp) {
        self.memory.advance(at.cycle);
        let Some(DramView { findings, .. }) = self.memory.dram() else { return };
        let new = &findings[self.findings..];
        self.findings = findings.len();
        for placed in new.iter().map(|finding| violation(finding, &self.place)) {
            self.tap.record(at, RecordKind::Violation, 0, 0, || Body::Violation(placed.violation.clone()));
            self.broken.push(placed);
        }
    }
}

/// A rule that a command of the memory at a place broke.
pub fn violation(finding: &DramFinding, place: &str) -> PlacedViolation {
    let DramFinding { rule, command, found, expected } = finding;
    let violation = Violation {
        rule,
        at: At::Byte(0),
        found: format!("{found}, channel {}", command.place.channel),
        expected: expected.clone(),
        text: scalepool_protocols::rules::find(rule).map_or_else(String::new, |rule| rule.text.to_owned()),
    };
    PlacedViolation { place: place.to_owned(), violation }
}

impl Module for MemoryDevice {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        self.advance(at);
        let mut is_ready = self.memory.is_ready(at.cycle);
        while is_ready
            && self.tx.has_room(cx, 1)
            && let Some(Answer { transaction, message, .. }) = self.memory.pop(at.cycle)
        {
            self.tap.record(at, RecordKind::End, transaction, 0, || shown(&message, self.server.form));
            // Room was asked for before.
            let _ = self.tx.push(cx, message);
            self.is_held = false;
            is_ready = self.memory.is_ready(at.cycle);
        }
        if is_ready
            && !self.is_held
            && let Some(first) = self.memory.first()
        {
            self.tap.wait(at, first.transaction, Wait::Link, 0);
            self.is_held = true;
        }
        // Looked up once for each message that stands in front: 130 instructions a flit of `cxl68-expander` less than each
        // time it is asked for.
        let mut next = self.next_request(cx);
        let mut takes_at = self.takes_at(next, at.cycle);
        self.show_queue(next.is_some() && takes_at != Some(at.cycle), cx, at);
        if takes_at == Some(at.cycle)
            && let Some(request) = next
            && let Some(message) = self.rx.pop(cx)
        {
            let transaction = self.tap.new_id();
            let named = self.handle(&message).map_or(TransactionNaming::Nowhere, TransactionNaming::By);
            self.tap.named(named, at, RecordKind::Begin, transaction, 0, || shown(&message, self.server.form));
            match self.serve(&message, at) {
                Some(message) => {
                    self.tap.wait(at, transaction, Wait::Media, 0);
                    // Room was asked for before.
                    let _ = self.memory.push(at.cycle, &request, Answer { transaction, since: cx.now(), message });
                }
                None => self.tap.record(at, RecordKind::End, transaction, 0, || Body::None),
            }
            next = self.next_request(cx);
            takes_at = self.takes_at(next, at.cycle);
            self.show_queue(next.is_some() && takes_at != Some(at.cycle), cx, at);
        }
        // One that is ready and has no room is woken for by the consumer's pop.
        let wake = self.memory.wake_at(at.cycle);
        match wake.into_iter().chain(takes_at).min() {
            Some(next) if next <= at.cycle => Next::Busy,
            Some(next) => Next::At(cx.in_cycles(next - at.cycle)),
            None => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        match self.memory.oldest() {
            Some(oldest) => Err(Pending::new(format!("{} answers to send", self.memory.in_flight()), oldest.since)),
            None => Ok(()),
        }
    }

    fn publish(&self) {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        result.broken.clone_from(&self.broken);
        if let Some(DramView { counts, bytes, last_data_fs, trace, .. }) = self.memory.dram() {
            result.dram = Some(DramFigures { counts, bytes, last_data_fs });
            let known = result.commands.len();
            result.commands.extend_from_slice(&trace[known..]);
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("answers", self.memory.in_flight() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scalepool_memory::decoder::{Arithmetic, Interleave, Window};
    use scalepool_protocols::cxl::cxl256::code::{M2sReqOpcode, M2sRwdOpcode};
    use scalepool_protocols::cxl::message::{Data, M2sReq, M2sRwd};

    const BASE: u64 = 4 << 30;

    /// A device that has every second chunk of a window.
    fn device(form: MessageForm) -> Server {
        let interleave = Interleave::new(2, 256, Arithmetic::Modulo).expect("a legal interleave");
        let mut decoders = Decoders::default();
        decoders.push(Window { base: BASE, size: 512 << 20, interleave });
        let store = Store::new(Background::Zero);
        Server::new(vec![LogicalDevice { store, decoders: Some(decoders) }], 512 << 20, 0, form)
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
        let mut device = device(MessageForm::Cxl68);
        assert!(matches!(device.serve(&write(BASE + 0x200)), Some(Message::S2mNdr(_))));
        assert_eq!(device.agents[0].backing().store.read_line(0x100).data, [7; 64]);
        assert_eq!(read(&mut device, BASE + 0x200), (DrsOpcode::MemData, [7; 64]));
    }

    #[test]
    fn requests_ask_the_memory_by_its_own_addresses() {
        let device = device(MessageForm::Hbr);
        let line = |access| MemoryRequest { address: 0x100, bytes: 64, access };
        let req = M2sReq { opcode: M2sReqOpcode::MemRd, address: BASE + 0x200, ..M2sReq::default() };
        assert_eq!(device.request(&Message::M2sReq(req)), line(MemoryAccess::Read));
        assert_eq!(device.request(&write(BASE + 0x200)), line(MemoryAccess::Write));
        let Message::M2sRwd(header, data) = write(BASE + 0x200) else { unreachable!("it is a write") };
        for (enables, access) in [(u64::MAX, MemoryAccess::Write), (u64::MAX >> 1, MemoryAccess::Modify)] {
            let data = Data { byte_enables: Some(enables), ..data };
            assert_eq!(device.request(&Message::M2sRwd(header, data)), line(access));
        }
        assert_eq!(device.request(&write(0)), MemoryRequest::NONE, "a hole");
    }

    #[test]
    fn logical_devices_have_bytes_and_addresses_of_their_own() {
        let logical = || LogicalDevice { store: Store::new(Background::Zero), decoders: None };
        let mut device = Server::new(vec![logical(), logical()], 1 << 30, 0, MessageForm::Hbr);
        let on = |ld_id: u8, message: Message| message.on_route(PeerRoute { ld_id, ..PeerRoute::default() });
        let line =
            |ld_id: u8| M2sReq { opcode: M2sReqOpcode::MemRd, address: 0x40, tag: 5, ld_id, ..M2sReq::default() };
        for (ld_id, opcode, first) in
            [(0, DrsOpcode::MemData, 0), (1, DrsOpcode::MemData, 7), (2, DrsOpcode::MemDataNXM, 0xff)]
        {
            if ld_id > 0 {
                assert!(
                    matches!(device.serve(&on(ld_id, write(0x40))), Some(Message::S2mNdr(ndr)) if ndr.ld_id == ld_id)
                );
            }
            let Some(Message::S2mDrs(drs, data)) = device.serve(&Message::M2sReq(line(ld_id))) else {
                panic!("{ld_id}")
            };
            assert_eq!((drs.opcode, drs.ld_id, drs.tag, data.line[0]), (opcode, ld_id, 5, first));
        }
        let banks = [0, 1].map(|ld_id| device.request(&Message::M2sReq(line(ld_id))).address);
        assert_eq!(banks, [0x40, (1 << 30) + 0x40], "they follow one another in the memory behind");
    }

    #[test]
    fn a_hole_takes_writes_and_reads_as_ones() {
        for (form, opcode) in [
            (MessageForm::Cxl68, DrsOpcode::MemData),
            (MessageForm::Hbr, DrsOpcode::MemDataNXM),
            (MessageForm::Pbr, DrsOpcode::MemDataNXM),
        ] {
            let mut device = device(form);
            for address in [0, BASE - 64, BASE + (512 << 20)] {
                assert!(matches!(device.serve(&write(address)), Some(Message::S2mNdr(_))));
                assert_eq!(read(&mut device, address), (opcode, [0xff; 64]), "{address:#x}");
            }
            assert_eq!(read(&mut device, BASE), (DrsOpcode::MemData, [0; 64]), "nothing was written");
        }
    }
}
