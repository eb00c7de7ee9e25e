//! A bridge without time, in front of memory that answers when it is told to.

use super::judge::{Event, JudgedCache};
use scalepool::bridge::cache::DataCacheConfig;
use scalepool::bridge::cache::data::DataCache;
use scalepool::bridge::cache::sector::SectorState;
use scalepool::bridge::outbound::order::BridgeOrder;
use scalepool::bridge::outbound::request::BridgeRequest;
use scalepool::bridge::outbound::table::ChildId;
use scalepool::bridge::outbound::{
    BridgeActor, BridgeFinding, BridgeOutput, BridgeStep, OutboundBridge, OutboundConfig, upli,
};
use scalepool::bridge::window::{AccessRights, BridgeWindow, BridgeWindows, GROUPS, WindowClass};
use scalepool::coherence::content::{CacheLine, LineAddr, LineContent};
use scalepool::coherence::message::Msg;
use scalepool::endpoint::tlp::Tlp;
use scalepool::ordered::OrderedMap;
use scalepool_protocols::cxl::cxl256::code::{
    D2hReqOpcode, DevLoad, DrsOpcode, GoState, H2dRspOpcode, M2sReqOpcode, MetaField, MetaValue, NdrOpcode,
};
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::half::Half;
use scalepool_protocols::ualink::pack::with_data;
use scalepool_protocols::ualink::unpack::Transfer;

/// First UALink address of the window.
pub const BASE: u64 = 0x1000_0000;
/// First CXL address of the window.
pub const OUT: u64 = 0x4_0000_0000;
/// Bytes of the window.
pub const SIZE: u64 = 16 << 20;
/// Number of the bridge.
pub const OWN: u16 = 7;
/// Number of the accelerator that asks.
pub const SOURCE: u16 = 3;

pub fn window(class: WindowClass) -> BridgeWindow {
    let rights = [AccessRights::ALL; GROUPS];
    BridgeWindow { base: BASE, size: SIZE, out_base: OUT, class, ports: vec![0], granule: 256, rights }
}

pub fn windows(all: Vec<BridgeWindow>) -> BridgeWindows {
    BridgeWindows::new(all, OrderedMap::new(), 16).unwrap_or_else(|e| panic!("{e}"))
}

pub fn config(class: WindowClass) -> OutboundConfig {
    OutboundConfig {
        windows: windows(vec![window(class)]),
        entries: 64,
        write_buffers: 64,
        order: BridgeOrder::Blocks,
        data: None,
        ecc: None,
        templates: None,
        host_ports: if class == WindowClass::Cc { 0..16 } else { 0..0 },
        control: None,
        io_ack: Default::default(),
        single_beat: false,
        exported: None,
    }
}

/// A cache of 2 sets of 2 blocks of 256 bytes, without a look at streams.
pub const SMALL: DataCacheConfig =
    DataCacheConfig { capacity_bytes: 2 * 2 * 256, ways: 2, stream_blocks: 0, ..DataCacheConfig::SHEET };

/// [`SMALL`] as it is judged.
pub fn judged(class: WindowClass) -> JudgedCache {
    JudgedCache { class, sets: 2, ways: 2, control: BASE + SIZE }
}

/// A bridge with a cache of lines.
pub fn cached(class: WindowClass, data: DataCacheConfig) -> OutboundConfig {
    OutboundConfig { data: Some(DataCache::new(data).unwrap_or_else(|e| panic!("{e}"))), ..config(class) }
}

/// A request of a source with data.
pub fn transfer(req: TlReq, data: &[[u8; 64]], enables: Option<Half>) -> Transfer {
    let numbeats = data.len().saturating_sub(1) as u8;
    let req = TlReq { src: SOURCE, dst: OWN, numbeats, ..req };
    Transfer { address: req.address.into(), ..with_data(ControlField::Request(req), data, enables) }
}

/// What the bridge takes of a transfer.
pub fn asked(transfer: &Transfer) -> BridgeRequest {
    upli::asked(transfer).expect("a request")
}

/// A read of so many DWords.
pub fn read(address: u64, dwords: u8) -> Transfer {
    transfer(TlReq { cmd: ReqCmd::Read, address, len: dwords - 1, ..TlReq::default() }, &[], None)
}

/// A write of whole lines, all bytes of which have one value.
pub fn write_full(address: u64, lines: u8, value: u8) -> Transfer {
    let req = TlReq { cmd: ReqCmd::WriteFull, address, len: 16 * lines - 1, ..TlReq::default() };
    transfer(req, &vec![[value; 64]; lines.into()], None)
}

/// A write of one line under the enables of its bytes.
pub fn write_part(address: u64, mask: u64, value: u8) -> Transfer {
    let req = TlReq { cmd: ReqCmd::Write, address: address & !63, len: 15, ..TlReq::default() };
    let mut enables = [0; 32];
    enables[(address % 256 / 64 * 8) as usize..][..8].copy_from_slice(&mask.to_le_bytes());
    transfer(req, &[[value; 64]], Some(enables))
}

/// An ADD of 64 bits.
pub fn add(cmd: ReqCmd, address: u64, operand: u64) -> Transfer {
    let mut beat = [0; 64];
    beat[(address % 64) as usize..][..8].copy_from_slice(&operand.to_le_bytes());
    let req = TlReq { cmd, address, len: 1, attr: 1 << 2, ..TlReq::default() };
    transfer(req, &[beat], Some([0xff; 32]))
}

/// With another tag.
pub fn tagged(mut request: Transfer, tag: u16) -> Transfer {
    change(&mut request, |req| req.tag = tag);
    request
}

/// With other fields.
pub fn change(request: &mut Transfer, change: impl FnOnce(&mut TlReq)) {
    let ControlField::Request(req) = &mut request.field else { panic!("a request") };
    change(req);
    request.address = req.address.into();
}

/// The field of a response.
pub fn rsp(response: &Transfer) -> TlRsp {
    let ControlField::Response(rsp) = response.field else { panic!("{response:?}") };
    rsp
}

/// Beats of a response.
pub fn beats(response: &Transfer) -> Vec<[u8; 64]> {
    scalepool::nodes::ualink::read::lines_of(&response.data).collect()
}

pub fn cmp(tag: u16, opcode: NdrOpcode) -> Msg<CacheLine> {
    let (meta_field, meta, devload) = (MetaField::NoOp, MetaValue::Invalid, DevLoad(0));
    Msg::S2mNdr { opcode, meta_field, meta, tag, devload }
}

pub fn drs(tag: u16, opcode: DrsOpcode, data: CacheLine) -> Msg<CacheLine> {
    let (meta_field, meta, devload) = (MetaField::NoOp, MetaValue::Invalid, DevLoad(0));
    Msg::S2mDrs { opcode, meta_field, meta, tag, data, devload }
}

/// A GO of a host.
pub fn go(cqid: u16, state: GoState) -> Msg<CacheLine> {
    Msg::H2dRsp { opcode: H2dRspOpcode::GO, rsp_data: state.0.into(), cqid }
}

/// Data of a host.
pub fn h2d_data(cqid: u16, data: CacheLine) -> Msg<CacheLine> {
    Msg::H2dData { cqid, go_err: false, data }
}

/// A message as the tables print it: opcode, meta value or NoOp, snoop type.
pub fn label(msg: &Msg<CacheLine>) -> String {
    let (name, field, value, snp) = match msg {
        Msg::M2sReq { opcode, meta_field, meta, snp, .. } => (opcode.name(), *meta_field, meta.name(), snp.name()),
        Msg::M2sRwd { opcode, meta_field, meta, snp, .. } => (opcode.name(), *meta_field, meta.name(), snp.name()),
        other => return other.label(),
    };
    let value = if field == MetaField::NoOp { Some("NoOp") } else { value };
    format!("{} {}/{}", name.unwrap_or("?"), value.unwrap_or("?"), snp.unwrap_or("?"))
}

/// What stands around a bridge and makes it a wrong one.
#[derive(Clone, Copy)]
pub struct WrongBridge {
    /// What it sends instead of a message to memory.
    pub sends: fn(Msg<CacheLine>) -> Msg<CacheLine>,
    /// What leaves instead of a response, behind all that has passed.
    pub responds: fn(&[Event], Transfer) -> Transfer,
    /// The entry of a request, with the space for its data, is free when all of them are there, though its response has not left.
    pub frees_early: bool,
    /// An answer to a snoop leaves when the next request has come.
    pub keeps_snoops: bool,
}

impl WrongBridge {
    /// It changes nothing.
    pub const NOTHING: WrongBridge =
        WrongBridge { sends: |msg| msg, responds: |_, response| response, frees_early: false, keeps_snoops: false };
}

/// A bridge, memory behind it, and what has passed.
pub struct Bench {
    pub bridge: OutboundBridge,
    pub out: BridgeOutput,
    /// Lines by CXL address; others are zero.
    pub memory: OrderedMap<u64, CacheLine>,
    /// Messages that have left, each with its sender and port.
    pub sent: Vec<(Option<BridgeActor>, usize, Msg<CacheLine>)>,
    /// Answers that memory has made and nobody has delivered, with their ports.
    pub answers: Vec<(usize, Msg<CacheLine>)>,
    /// Responses in their order.
    pub responses: Vec<Transfer>,
    /// Deadlines that the module would watch: each time that a child got on, with its number.
    pub deadlines: Vec<(ChildId, u64)>,
    pub findings: Vec<BridgeFinding>,
    /// What has passed at both sides.
    pub log: Vec<Event>,
    /// Addresses from which on there is no memory.
    pub end: u64,
    /// Entries whose response is held back.
    pub held: Option<Vec<u16>>,
    /// What memory grants to one who asks to share a line.
    pub shared: NdrOpcode,
    /// What is wrong with the bridge.
    pub wrong: WrongBridge,
    /// Responses of entries that were free before they have left.
    pub late: Vec<(u16, Transfer)>,
    /// Answers to snoops that have not left.
    pub kept: Vec<(usize, Msg<CacheLine>)>,
    /// TLPs that are made, with their children and ports, and whether each is the last one of its request. They leave when the test says so.
    pub tlps: Vec<(ChildId, usize, Tlp, bool)>,
    /// What a host pulls data for, by the UQID of the pull, which is the CQID of the request.
    pub pulls: OrderedMap<u16, (D2hReqOpcode, u64)>,
}

impl Bench {
    pub fn new(config: OutboundConfig) -> Bench {
        Bench {
            bridge: OutboundBridge::new(config),
            out: BridgeOutput::default(),
            memory: OrderedMap::new(),
            sent: Vec::new(),
            answers: Vec::new(),
            responses: Vec::new(),
            deadlines: Vec::new(),
            findings: Vec::new(),
            log: Vec::new(),
            end: u64::MAX,
            held: None,
            shared: NdrOpcode::CmpS,
            wrong: WrongBridge::NOTHING,
            late: Vec::new(),
            kept: Vec::new(),
            tlps: Vec::new(),
            pulls: OrderedMap::new(),
        }
    }

    pub fn of(class: WindowClass) -> Bench {
        Bench::new(config(class))
    }

    /// Hands in a request; its entry.
    pub fn ask(&mut self, request: Transfer) -> u16 {
        let entry = self.bridge.admit(0, asked(&request)).expect("room");
        self.log.push(Event::Asked(entry, request));
        for (port, msg) in std::mem::take(&mut self.kept) {
            self.log.push(Event::Sent(msg));
            self.sent.push((None, port, msg));
        }
        self.bridge.start(entry, &mut self.out);
        self.collect();
        entry
    }

    /// The state of the sector of a line, by the UALink address, as the sheet prints it.
    pub fn state(&self, address: u64) -> char {
        let place = (0, LineAddr::of_address(address - BASE + OUT));
        match self.bridge.cache().expect("a cache").state(place) {
            SectorState::Invalid => 'I',
            SectorState::Shared => 'S',
            SectorState::Exclusive => 'E',
            SectorState::Modified => 'M',
            SectorState::Valid => 'V',
            SectorState::Dirty => 'D',
        }
    }

    /// Brings the line of an address into a state, and forgets the messages that this took.
    pub fn bring(&mut self, address: u64, state: char) {
        self.shared = if state == 'E' { NdrOpcode::CmpE } else { NdrOpcode::CmpS };
        match state {
            'S' | 'E' | 'V' => self.whole(read(address, 16)),
            'M' | 'D' => self.whole(write_full(address, 1, 0xd1)),
            _ => return,
        };
        assert_eq!(self.state(address), state);
        self.sent.clear();
    }

    /// Delivers a message from CXL.
    pub fn deliver(&mut self, msg: Msg<CacheLine>) {
        self.log.push(Event::Came(msg));
        self.bridge.receive(0, msg, &mut self.out);
        self.collect();
    }

    /// Delivers the answer at a place of the list.
    pub fn answer(&mut self, place: usize) {
        let (port, msg) = self.answers.remove(place);
        self.log.push(Event::Came(msg));
        self.bridge.receive(port, msg, &mut self.out);
        self.collect();
    }

    /// Delivers answers, the first or the last ones first, until there is none.
    pub fn finish(&mut self, last_first: bool) {
        while !self.answers.is_empty() {
            self.answer(if last_first { self.answers.len() - 1 } else { 0 });
        }
    }

    /// One request, from its arrival to its response.
    pub fn whole(&mut self, request: Transfer) -> Transfer {
        self.ask(request);
        self.finish(false);
        self.responses.pop().expect("a response")
    }

    /// The line of a message that has left: data for a host names the request for which it was pulled.
    pub fn line_of(&self, msg: &Msg<CacheLine>) -> LineAddr {
        let of_pull = |asked: &&Msg<CacheLine>| match (asked, msg) {
            (Msg::D2hReq { cqid, .. }, Msg::D2hData { uqid, .. }) => cqid == uqid,
            _ => false,
        };
        let line = msg.line().or_else(|| self.sent.iter().map(|(.., msg)| msg).find(of_pull)?.line());
        line.expect("a line")
    }

    /// Messages that have left, as the tables print them.
    pub fn labels(&self) -> Vec<String> {
        self.sent.iter().map(|(.., msg)| label(msg)).collect()
    }

    pub fn collect(&mut self) {
        self.findings.append(&mut self.out.findings);
        let mut accessed = Vec::new();
        for step in std::mem::take(&mut self.out.steps) {
            match step {
                BridgeStep::Send { by, port, msg, .. } => {
                    if let Some(BridgeActor::Child(child)) = by {
                        self.bridge.sent(child, &msg, &mut self.out);
                    }
                    let msg = (self.wrong.sends)(msg);
                    if self.wrong.keeps_snoops && matches!(msg, Msg::M2sBirsp { .. }) {
                        self.kept.push((port, msg));
                        continue;
                    }
                    if by.is_some() {
                        let made = self.made(&msg);
                        self.answers.extend(made.into_iter().map(|msg| (port, msg)));
                    }
                    self.log.push(Event::Sent(msg));
                    self.sent.push((by, port, msg));
                }
                BridgeStep::SendTlp { child, port, tlp, is_last } => self.tlps.push((child, port, tlp, is_last)),
                BridgeStep::Access { by: Some(by), .. } => accessed.push(by),
                BridgeStep::Advanced { child, advances } => self.deadlines.push((child, advances)),
                BridgeStep::Beat { entry, beat } => {
                    let (_, response) = self.bridge.beat(entry, beat).expect("a beat");
                    let response = upli::answered(OWN, &response).expect("it is UALink's");
                    self.responses.push((self.wrong.responds)(&self.log, response));
                }
                BridgeStep::Respond { entry } => match &mut self.held {
                    Some(_) if self.wrong.frees_early => {
                        let (_, response) = self.bridge.response(entry).expect("a response");
                        let response = upli::answered(OWN, &response).expect("it is UALink's");
                        self.late.push((entry, response));
                        self.bridge.left(entry);
                    }
                    Some(held) => held.push(entry),
                    None => self.respond(entry),
                },
                _ => (),
            }
        }
        if !self.out.steps.is_empty() {
            self.collect();
        }
        for by in accessed {
            self.bridge.accessed(by, &mut self.out);
            self.collect();
        }
    }

    /// The response of an entry leaves.
    pub fn respond(&mut self, entry: u16) {
        let (port, response) = self.bridge.response(entry).expect("a response");
        assert_eq!(port, 0);
        let response = upli::answered(OWN, &response).expect("it is UALink's");
        let response = (self.wrong.responds)(&self.log, response);
        self.log.push(Event::Answered(entry, response.clone()));
        self.responses.push(response);
        self.bridge.left(entry);
    }

    /// What a host answers to a request, by the table of `coherence` §2.2, if nobody else has the line.
    fn asked_of_host(&mut self, opcode: D2hReqOpcode, address: u64, cqid: u16) -> Vec<Msg<CacheLine>> {
        let line = self.memory.get(&address).copied().unwrap_or(CacheLine::of([0; 64]));
        let pull = match opcode {
            D2hReqOpcode::RdCurr => return vec![h2d_data(cqid, line)],
            D2hReqOpcode::RdShared => return vec![go(cqid, GoState::Shared), h2d_data(cqid, line)],
            D2hReqOpcode::RdOwn => return vec![go(cqid, GoState::Exclusive), h2d_data(cqid, line)],
            D2hReqOpcode::RdOwnNoData => return vec![go(cqid, GoState::Exclusive)],
            D2hReqOpcode::CleanEvictNoData => return vec![go(cqid, GoState::Invalid)],
            D2hReqOpcode::WrInv => H2dRspOpcode::WritePull,
            _ => H2dRspOpcode::GO_WritePull,
        };
        self.pulls.insert(cqid, (opcode, address));
        vec![Msg::H2dRsp { opcode: pull, rsp_data: cqid, cqid }]
    }

    /// What memory answers, by the tables of `coherence` §3.2; what is written is written at once.
    fn made(&mut self, msg: &Msg<CacheLine>) -> Vec<Msg<CacheLine>> {
        match *msg {
            Msg::M2sReq { opcode, meta_field, meta, line, tag, .. } => {
                if line.address() >= self.end {
                    return match opcode {
                        M2sReqOpcode::MemInv => vec![cmp(tag, NdrOpcode::Cmp)],
                        _ => vec![drs(tag, DrsOpcode::MemDataNXM, CacheLine::ones())],
                    };
                }
                let data = self.memory.get(&line.address()).copied().unwrap_or(CacheLine::of([0; 64]));
                let grant = match meta {
                    MetaValue::Any => NdrOpcode::CmpE,
                    MetaValue::Shared => self.shared,
                    _ => NdrOpcode::Cmp,
                };
                let mut made = Vec::new();
                if meta_field == MetaField::Meta0State {
                    made.push(cmp(tag, grant));
                }
                if opcode == M2sReqOpcode::MemRd {
                    made.push(drs(tag, DrsOpcode::MemData, data));
                }
                made
            }
            Msg::M2sRwd { line, tag, data, enables, .. } => {
                if line.address() < self.end {
                    let own = self.memory.entry(line.address()).or_insert(CacheLine::of([0; 64]));
                    own.merge(&data, enables);
                }
                vec![cmp(tag, NdrOpcode::Cmp)]
            }
            Msg::D2hReq { opcode, line, cqid } => self.asked_of_host(opcode, line.address(), cqid),
            Msg::D2hData { uqid, bogus, data, enables } => {
                let Some((opcode, address)) = self.pulls.remove(&uqid) else { return Vec::new() };
                if !bogus {
                    self.memory.entry(address).or_insert(CacheLine::of([0; 64])).merge(&data, enables);
                }
                let is_last = opcode == D2hReqOpcode::WrInv;
                is_last.then(|| go(uqid, GoState::Invalid)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Status and channel of a response.
pub fn verdict(response: &Transfer) -> (Status, RdWr) {
    (rsp(response).status, rsp(response).rdwr)
}
