//! What a memory answers, without time: the agents of its logical devices over stores with codes, and the addresses of its ports.
//!
//! Modelled: HDM decoders of each port, or tables by requester; logical devices, codes and poison of the store, requests for another port, which stay without an
//! answer. Left out: time.
//!
//! A walk through one request: its port and its LD-ID choose decoders and agent; the codes of the line are accounted where bytes are read;
//! the agent answers, and the answer takes the route back.

use scalepool_coherence::agent::AgentOutput;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LineAddr, LineContent};
use scalepool_coherence::mem::HdmH;
use scalepool_coherence::mem::backing::Backing;
use scalepool_coherence::message::from_link;
use scalepool_memory::backend::{MemoryAccess, MemoryRequest};
use scalepool_memory::decoder::Decoders;
use scalepool_memory::dropped::DroppedStores;
use scalepool_memory::ecc::{EccConfig, EccCounts, EccStore};
use scalepool_memory::gfd::GfdTable;
use scalepool_memory::store::Background;
use scalepool_memory::{ALL_BYTES, LINE_BYTES};
use scalepool_protocols::cxl::cxl256::code::DrsOpcode;
use scalepool_protocols::cxl::message::{Message, MessageForm, PeerRoute};
use std::sync::Arc;

/// A logical device: bytes of its own, at addresses of its own.
pub struct LogicalDevice {
    /// Backing store, by device addresses.
    pub store: EccStore,
    /// What system addresses mean.
    pub addresses: DeviceAddresses,
    /// The request that is served.
    source: RequestSource,
    /// Medium whose lines are lost.
    pub dead: Option<DeadMedium>,
}

/// What makes device addresses of system addresses.
pub enum DeviceAddresses {
    /// By port of the device: windows of the memory map that lead to it; `None`: system addresses are device addresses.
    ByPort(Vec<Option<Decoders>>),
    /// A device with port based routing and its own tables for each requester (`fabric` §3.6).
    ByRequester(GfdTable),
}

/// Where a request came from.
#[derive(Debug, Clone, Copy, Default)]
struct RequestSource {
    port: usize,
    /// PID of the requester, where the link routes by ports.
    spid: u16,
}

/// A medium of several in turn that has died: its lines read as poison, and those of the others as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeadMedium {
    /// Its number.
    pub medium: u64,
    /// Of so many.
    pub media: u64,
    /// Bytes in a row at one of them.
    pub granule: u64,
}

impl DeadMedium {
    fn has(&self, address: u64) -> bool {
        address / self.granule % self.media == self.medium
    }
}

impl LogicalDevice {
    /// A device with these windows, by port.
    pub fn new(store: EccStore, decoders: Vec<Option<Decoders>>) -> LogicalDevice {
        LogicalDevice::with_addresses(store, DeviceAddresses::ByPort(decoders))
    }

    /// A device that finds its own addresses in this way.
    pub fn with_addresses(store: EccStore, addresses: DeviceAddresses) -> LogicalDevice {
        LogicalDevice { store, addresses, source: RequestSource::default(), dead: None }
    }
}

impl LogicalDevice {
    /// The address in the device of one of a request; `None`: no decoder is hit, or it is an access error.
    fn address_of(&self, RequestSource { port, spid }: RequestSource, line: LineAddr) -> Option<u64> {
        let address = line.address();
        match &self.addresses {
            DeviceAddresses::ByPort(decoders) => {
                decoders[port].as_ref().map_or(Some(address), |decoders| decoders.device_address(address))
            }
            DeviceAddresses::ByRequester(table) => table.device_address(spid, address).ok(),
        }
    }

    /// That of one of the request that is served.
    fn device_address(&self, line: LineAddr) -> Option<u64> {
        self.address_of(self.source, line)
    }

    /// Whether what reaches nothing is an access error, which is answered with poison and not as a hole (`fabric` GFD-5).
    fn has_access_errors(&self) -> bool {
        matches!(self.addresses, DeviceAddresses::ByRequester(_))
    }
}

impl Backing<CacheLine> for LogicalDevice {
    fn holds(&self, line: LineAddr) -> bool {
        self.device_address(line).is_some()
    }

    fn value(&self, line: LineAddr) -> CacheLine {
        self.device_address(line).map_or_else(CacheLine::ones, |address| {
            let stored = self.store.read_line(address);
            let is_dead = self.dead.is_some_and(|dead| dead.has(address));
            CacheLine { bytes: stored.data, poison: stored.poison || is_dead }
        })
    }

    fn merge(&mut self, line: LineAddr, data: &CacheLine, enables: u64) {
        if let Some(address) = self.device_address(line) {
            self.store.write_line(address, &data.bytes, enables, data.poison);
        }
    }
}

/// What a request reaches: the logical device, its address there, and what is done to it.
pub(super) type ReachedMemory = (usize, u64, MemoryAccess);

/// A port, as requests and answers name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryRoute {
    /// Its identifier, where the link routes by ports; else 0.
    pub id: u16,
    /// How its link spells messages.
    pub form: MessageForm,
}

/// How traces spell what passes at any of these ports: by the form with the most fields.
pub fn shown_form(routes: impl IntoIterator<Item = MessageForm>) -> MessageForm {
    routes.into_iter().fold(MessageForm::Cxl68, |richest, form| match (richest, form) {
        (MessageForm::Pbr, _) | (_, MessageForm::Pbr) => MessageForm::Pbr,
        (MessageForm::Hbr, _) | (_, MessageForm::Hbr) => MessageForm::Hbr,
        _ => MessageForm::Cxl68,
    })
}

/// What the device answers, without time.
pub(super) struct DeviceServer {
    /// By LD-ID, and behind them one without memory: what has another LD-ID reaches nothing.
    agents: Vec<HdmH<CacheLine, LogicalDevice>>,
    logical_bytes: u64,
    /// The port chooses the logical device, and not the LD-ID.
    is_apart: bool,
    /// Choices of the agent.
    choices: CoherenceConfig,
    /// What the last request did.
    pub(super) step: AgentOutput<CacheLine>,
    /// Access errors so far (`fabric` GFD-5).
    pub(super) access_errors: u64,
    routes: Vec<MemoryRoute>,
    /// Where the checkers of a run learn of stores that reach nothing.
    dropped: Arc<DroppedStores>,
}

impl DeviceServer {
    pub(super) fn new(
        logical: Vec<LogicalDevice>,
        (logical_bytes, is_apart): (u64, bool),
        routes: Vec<MemoryRoute>,
        dropped: Arc<DroppedStores>,
    ) -> DeviceServer {
        let store = EccStore::new(Background::Zero, EccConfig::NONE);
        let nothing = LogicalDevice::new(store, vec![Some(Decoders::default()); routes.len()]);
        let agents = logical.into_iter().chain([nothing]).map(HdmH::over).collect();
        let (choices, step) = (CoherenceConfig::default(), AgentOutput::default());
        DeviceServer { agents, logical_bytes, is_apart, choices, step, access_errors: 0, routes, dropped }
    }

    /// How traces spell messages of all ports.
    pub(super) fn shown(&self) -> MessageForm {
        shown_form(self.routes.iter().map(|route| route.form))
    }

    /// What the codes of all logical devices have counted.
    pub(super) fn ecc(&self) -> EccCounts {
        let mut counts = EccCounts::default();
        self.agents.iter().for_each(|agent| counts.add(&agent.backing().store.counts()));
        counts
    }

    /// The store that holds an address of the memory behind, with the address there.
    pub(super) fn store_mut(&mut self, address: u64) -> (&mut EccStore, u64) {
        let place = (address / self.logical_bytes.max(1)) as usize;
        let place = place.min(self.agents.len() - 1);
        (&mut self.agents[place].backing_mut().store, address - place as u64 * self.logical_bytes)
    }

    /// The place of a logical device. A device with one does not look at the LD-ID.
    fn place(&self, port: usize, ld_id: u8) -> usize {
        let nothing = self.agents.len() - 1;
        match nothing {
            1 => 0,
            _ if self.is_apart => port.min(nothing),
            _ => usize::from(ld_id).min(nothing),
        }
    }

    /// What a request at a port reaches; `None` where there is no memory. Windows and tables do not change in a run.
    pub(super) fn target(&self, port: usize, message: &Message) -> Option<ReachedMemory> {
        let (ld_id, spid, address, access) = match message {
            Message::M2sReq(header) => (header.ld_id, header.spid, header.address, MemoryAccess::Read),
            Message::M2sRwd(header, data) => {
                let is_whole = data.byte_enables.is_none_or(|enables| enables == ALL_BYTES);
                (
                    header.ld_id,
                    header.spid,
                    header.address,
                    if is_whole { MemoryAccess::Write } else { MemoryAccess::Modify },
                )
            }
            _ => return None,
        };
        let place = self.place(port, ld_id);
        let device = self.agents[place].backing();
        let address = device.address_of(RequestSource { port, spid }, LineAddr::of_address(address))?;
        Some((place, address, access))
    }

    /// What a request asks of the memory; nothing where it reaches none.
    pub(super) fn request(&self, target: Option<ReachedMemory>) -> MemoryRequest {
        target.map_or(MemoryRequest::NONE, |(place, address, access)| {
            let address = address.wrapping_add(self.logical_bytes.wrapping_mul(place as u64));
            MemoryRequest { address, bytes: LINE_BYTES, access }
        })
    }

    /// The answer to a request at a port, which reaches this, after its effect on the store; `None` where there is none: a hint, a
    /// request that breaks a rule, or one for another port, which stays open at the host. The rules that it breaks are in `step`.
    pub(super) fn serve(&mut self, port: usize, message: &Message, target: Option<ReachedMemory>) -> Option<Message> {
        self.step.clear();
        let MemoryRoute { id, form } = self.routes[port];
        let (ld_id, spid, dpid) = match message {
            Message::M2sReq(header) => (header.ld_id, header.spid, header.dpid),
            Message::M2sRwd(header, _) => (header.ld_id, header.spid, header.dpid),
            _ => (0, 0, id),
        };
        if dpid != id {
            return None;
        }
        if let Some((place, address, MemoryAccess::Read)) = target {
            self.agents[place].backing_mut().store.account_read(address);
        }
        let place = self.place(port, ld_id);
        self.agents[place].backing_mut().source = RequestSource { port, spid };
        let is_access_error = target.is_none() && self.agents[place].backing().has_access_errors();
        self.agents[place].serve(&self.choices, from_link(message), &mut self.step);
        if let (None, Message::M2sRwd(header, data), [_, ..]) = (target, message, &*self.step.sends) {
            self.dropped.note(header.address, &data.line, data.byte_enables.unwrap_or(ALL_BYTES));
        }
        let route = PeerRoute { ld_id, dpid: spid, ..PeerRoute::default() };
        let mut answer = self.step.sends.first().map(|(_, answer)| answer.to_link(route));
        // A device of a 68B link has no other word for data that is not there: all ones say it (`fabric` CMR-4).
        if form == MessageForm::Cxl68
            && let Some(Message::S2mDrs(header, _)) = &mut answer
        {
            header.opcode = DrsOpcode::MemData;
        }
        if is_access_error {
            self.access_errors += 1;
            if let Some(Message::S2mDrs(header, _)) = &mut answer {
                (header.opcode, header.poison) = (DrsOpcode::MemData, true);
            }
        }
        answer
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
    fn device(form: MessageForm) -> DeviceServer {
        let interleave = Interleave::new(2, 256, Arithmetic::Modulo).expect("a legal interleave");
        let mut decoders = Decoders::default();
        decoders.push(Window { base: BASE, size: 512 << 20, interleave });
        let store = EccStore::new(Background::Zero, EccConfig::NONE);
        DeviceServer::new(
            vec![LogicalDevice::new(store, vec![Some(decoders)])],
            (512 << 20, false),
            vec![MemoryRoute { id: 0, form }],
            Arc::default(),
        )
    }

    fn write(address: u64) -> Message {
        Message::M2sRwd(M2sRwd { opcode: M2sRwdOpcode::MemWr, address, ..M2sRwd::default() }, Data::line([7; 64]))
    }

    fn serve(device: &mut DeviceServer, port: usize, message: &Message) -> Option<Message> {
        device.serve(port, message, device.target(port, message))
    }

    fn request(device: &DeviceServer, port: usize, message: &Message) -> MemoryRequest {
        device.request(device.target(port, message))
    }

    fn read(device: &mut DeviceServer, address: u64) -> (DrsOpcode, [u8; 64]) {
        let request = M2sReq { opcode: M2sReqOpcode::MemRd, address, ..M2sReq::default() };
        match serve(device, 0, &Message::M2sReq(request)) {
            Some(Message::S2mDrs(drs, data)) => (drs.opcode, data.line),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_line_is_kept_at_its_device_address() {
        let mut device = device(MessageForm::Cxl68);
        assert!(matches!(serve(&mut device, 0, &write(BASE + 0x200)), Some(Message::S2mNdr(_))));
        assert_eq!(device.agents[0].backing().store.read_line(0x100).data, [7; 64]);
        assert_eq!(read(&mut device, BASE + 0x200), (DrsOpcode::MemData, [7; 64]));
    }

    /// A store into a hole is completed, and the checkers are told; one that reaches memory is nothing to tell.
    #[test]
    fn a_store_into_a_hole_is_told() {
        let mut device = device(MessageForm::Hbr);
        for (address, is_hole) in [(BASE + 0x200, false), (BASE - 0x40, true), (0, true)] {
            assert!(matches!(serve(&mut device, 0, &write(address)), Some(Message::S2mNdr(_))));
            assert_eq!(device.dropped.take(address, &[7; 64], ALL_BYTES), is_hole, "{address:#x}");
        }
    }

    #[test]
    fn requests_ask_the_memory_by_its_own_addresses() {
        let device = device(MessageForm::Hbr);
        let line = |access| MemoryRequest { address: 0x100, bytes: 64, access };
        let req = M2sReq { opcode: M2sReqOpcode::MemRd, address: BASE + 0x200, ..M2sReq::default() };
        assert_eq!(request(&device, 0, &Message::M2sReq(req)), line(MemoryAccess::Read));
        assert_eq!(request(&device, 0, &write(BASE + 0x200)), line(MemoryAccess::Write));
        let Message::M2sRwd(header, data) = write(BASE + 0x200) else { unreachable!("it is a write") };
        for (enables, access) in [(u64::MAX, MemoryAccess::Write), (u64::MAX >> 1, MemoryAccess::Modify)] {
            let data = Data { byte_enables: Some(enables), ..data };
            assert_eq!(request(&device, 0, &Message::M2sRwd(header, data)), line(access));
        }
        assert_eq!(request(&device, 0, &write(0)), MemoryRequest::NONE, "a hole");
    }

    #[test]
    fn logical_devices_have_bytes_and_addresses_of_their_own() {
        let logical = || LogicalDevice::new(EccStore::new(Background::Zero, EccConfig::NONE), vec![None]);
        let mut device = DeviceServer::new(
            vec![logical(), logical()],
            (1 << 30, false),
            vec![MemoryRoute { id: 0, form: MessageForm::Hbr }],
            Arc::default(),
        );
        let on = |ld_id: u8, message: Message| message.on_route(PeerRoute { ld_id, ..PeerRoute::default() });
        let line =
            |ld_id: u8| M2sReq { opcode: M2sReqOpcode::MemRd, address: 0x40, tag: 5, ld_id, ..M2sReq::default() };
        for (ld_id, opcode, first) in
            [(0, DrsOpcode::MemData, 0), (1, DrsOpcode::MemData, 7), (2, DrsOpcode::MemDataNXM, 0xff)]
        {
            if ld_id > 0 {
                assert!(
                    matches!(serve(&mut device, 0, &on(ld_id, write(0x40))), Some(Message::S2mNdr(ndr)) if ndr.ld_id == ld_id)
                );
            }
            let Some(Message::S2mDrs(drs, data)) = serve(&mut device, 0, &Message::M2sReq(line(ld_id))) else {
                panic!("{ld_id}")
            };
            assert_eq!((drs.opcode, drs.ld_id, drs.tag, data.line[0]), (opcode, ld_id, 5, first));
        }
        let banks = [0, 1].map(|ld_id| request(&device, 0, &Message::M2sReq(line(ld_id))).address);
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
                assert!(matches!(serve(&mut device, 0, &write(address)), Some(Message::S2mNdr(_))));
                assert_eq!(read(&mut device, address), (opcode, [0xff; 64]), "{address:#x}");
            }
            assert_eq!(read(&mut device, BASE), (DrsOpcode::MemData, [0; 64]), "nothing was written");
        }
    }

    /// What one port has written another one reads, each by addresses of its own; a port without a window reaches nothing.
    #[test]
    fn ports_share_their_bytes_and_not_their_addresses() {
        let interleave = Interleave::new(1, 256, Arithmetic::Modulo).expect("a legal interleave");
        let mut mapped = Decoders::default();
        mapped.push(Window { base: BASE, size: 512 << 20, interleave });
        let store = EccStore::new(Background::Zero, EccConfig::NONE);
        let memory = LogicalDevice::new(store, vec![Some(mapped), None, Some(Decoders::default())]);
        let routes = [0, 7, 0].map(|id| MemoryRoute { id, form: MessageForm::Pbr });
        let mut device = DeviceServer::new(vec![memory], (512 << 20, false), routes.into(), Arc::default());
        assert!(matches!(serve(&mut device, 0, &write(BASE + 0x40)), Some(Message::S2mNdr(_))));
        let read =
            |address, dpid| Message::M2sReq(M2sReq { opcode: M2sReqOpcode::MemRd, address, dpid, ..M2sReq::default() });
        let data = |answer| match answer {
            Some(Message::S2mDrs(drs, data)) => (drs.opcode, data.line[0]),
            other => panic!("{other:?}"),
        };
        assert_eq!(data(serve(&mut device, 1, &read(0x40, 7))), (DrsOpcode::MemData, 7));
        assert_eq!(data(serve(&mut device, 2, &read(0x40, 0))), (DrsOpcode::MemDataNXM, 0xff));
        assert_eq!(serve(&mut device, 1, &read(0x40, 3)), None, "a request for another port");
        assert_eq!(request(&device, 1, &read(0x40, 7)), request(&device, 0, &read(BASE + 0x40, 0)));
    }
}
