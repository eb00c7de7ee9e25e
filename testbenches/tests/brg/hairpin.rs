//! Memory of accelerators that those of the same cluster reach by the bridge which keeps it coherent, the hairpin (`bridge` §1.3, §4.4,
//! §5.1, §6.4): every access at every record, atomics by their accelerator beside stores of holders, order, time-outs, and systems.
//!
//! The bench joins the outbound half, the home, the inbound half, holders of lines and the memory of an accelerator by channels whose
//! messages come in an order by chance.

use super::common::{self, OWN, SOURCE, asked, beats, change, read, transfer, verdict, write_full, write_part};
use super::supercluster::{run, sound};
use super::systems::resolves;
use scalepool::bridge::cache::data::DataCache;
use scalepool::bridge::flows::LineOperation;
use scalepool::bridge::hairpin::{OwnerAnswer, OwnerAtomic};
use scalepool::bridge::inbound::exported::ExportedHome;
use scalepool::bridge::inbound::nvlink;
use scalepool::bridge::inbound::table::InboundSource;
use scalepool::bridge::inbound::ualink::{upli_spelled, upli_understood};
use scalepool::bridge::inbound::{InboundBridge, InboundConfig, InboundOutput, InboundStep};
use scalepool::bridge::outbound::table::{ChildId, FEWEST_WITH_HAIRPIN, RESERVED};
use scalepool::bridge::outbound::{
    BridgeActor, BridgeOutput, BridgeStep, Lacking, OutboundBridge, OutboundConfig, upli,
};
use scalepool::bridge::window::{
    AccessRights, BridgeWindow, BridgeWindows, GROUPS, InboundClass, WindowClass, WindowLimits,
};
use scalepool::coherence::agent::{Accept, Agent, AgentOutput};
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{CacheLine, LineAddr};
use scalepool::coherence::mem::Holders;
use scalepool::coherence::mem::host::{HostAccess, HostReq, MemHost};
use scalepool::coherence::message::{Class, Msg};
use scalepool::memory::store::Store;
use scalepool::nodes::ualink::completer::apply;
use scalepool::nodes::ualink::read::BACKGROUND;
use scalepool::ordered::OrderedMap;
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool_oracle::bridge::{ExportRecord, HairpinConversion, hairpin};
use scalepool_protocols::cxl::cxl256::code::{M2sReqOpcode, MetaValue};
use scalepool_protocols::nvlink::{NvlConfig, Op};
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_testbenches::legal::Random;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// First address of the window of class HP, for accelerators.
const BASE: u64 = common::BASE;
/// Where it leads, in the window of class DB.
const EXPORTED: u64 = 0x60_0000;
/// First address of the window of class DB, and its first one at the accelerator.
const FROM: u64 = 0x20_0000;
const TO: u64 = 0x4000_0000;
const SIZE: u64 = 8 << 20;

/// The line of CXL behind an address of the window of class HP.
fn line(address: u64) -> LineAddr {
    LineAddr::of_address(address - BASE + EXPORTED)
}

/// What a holder does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HolderOp {
    /// Loads the first eight bytes of a line.
    Load(LineAddr),
    /// Adds one to them.
    Add(LineAddr),
}

/// A channel of the bench, whose messages keep their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Channel {
    /// To the home, from a port of it.
    ToHome(u16, Class),
    /// From the home to a port.
    FromHome(u16, Class),
    Asks,
    OldValues,
    /// Accesses to a block of the accelerator: it keeps their order.
    Accelerator(u64),
}

#[derive(Debug, Clone, Copy)]
enum Item {
    Message(Msg<CacheLine>),
    Ask(OwnerAtomic),
    Answer(OwnerAnswer),
    Access(u16),
}

/// What is wrong on purpose.
type Wrong = fn(Msg<CacheLine>) -> Msg<CacheLine>;

fn right(msg: Msg<CacheLine>) -> Msg<CacheLine> {
    msg
}

struct Cluster {
    bridge: OutboundBridge,
    home: ExportedHome,
    inbound: InboundBridge,
    exported: Arc<BridgeWindows<InboundClass>>,
    holders: Vec<MemHost<CacheLine>>,
    programs: Vec<VecDeque<HolderOp>>,
    loaded: Vec<Vec<u64>>,
    config: CoherenceConfig,
    store: Store,
    /// Statuses with which the accelerator ends, the first one first; then OKAY, and it does what it is asked.
    statuses: Vec<Status>,
    channels: BTreeMap<Channel, VecDeque<Item>>,
    wrong: Wrong,
    /// Messages of the hairpin come to the home in any order.
    is_unordered: bool,
    responses: Vec<Transfer>,
    /// Accesses that the accelerator has seen: what it was asked.
    accessed: Vec<ReqCmd>,
    /// Recalls: holder and name.
    recalled: Vec<(u16, &'static str)>,
    deadlines: Vec<(ChildId, u64)>,
    findings: Vec<(&'static str, String)>,
    random: Random,
}

impl Cluster {
    fn new(holders: u16, seed: u64) -> Cluster {
        Cluster::with(holders, seed, None)
    }

    /// The same with a cache in front of the memory of accelerators.
    fn cached(holders: u16, seed: u64) -> Cluster {
        Cluster::with(holders, seed, Some(DataCache::new(common::SMALL).expect("a cache")))
    }

    fn with(holders: u16, seed: u64, cache: Option<DataCache>) -> Cluster {
        let mut config = CoherenceConfig::default();
        [config.mem.filter_sets, config.mem.filter_ways] = [4, 2];
        let rights = [AccessRights::ALL; GROUPS];
        let exported = vec![BridgeWindow {
            base: FROM,
            size: SIZE,
            out_base: TO + FROM,
            class: InboundClass::Db,
            ports: vec![0],
            granule: 256,
            rights,
        }];
        let exported = BridgeWindows::exporting(WindowLimits::INBOUND_UALINK, exported, OrderedMap::new(), 1);
        let exported = Arc::new(exported.expect("windows"));
        let window = BridgeWindow {
            base: BASE,
            size: 4 << 20,
            out_base: EXPORTED,
            class: WindowClass::Hp,
            ports: vec![0],
            granule: 256,
            rights,
        };
        let outbound = OutboundConfig {
            windows: common::windows(vec![window]),
            exported: Some(exported.clone()),
            ..common::config(WindowClass::Hp)
        };
        let sources = (0..holders).map(|n| 10 + n).collect();
        let mut store = Store::new(BACKGROUND);
        for n in 0..8 {
            store.write_line(TO + EXPORTED + 64 * n, &[0; 64], u64::MAX, false);
        }
        let inbound = InboundConfig { windows: (*exported).clone(), decoders: vec![None; 2], entries: 16, cache };
        Cluster {
            bridge: OutboundBridge::new(outbound),
            home: ExportedHome::with_hairpin(&config, exported.clone(), sources),
            exported,
            inbound: InboundBridge::new(inbound),
            holders: (0..holders).map(MemHost::new).collect(),
            programs: vec![VecDeque::new(); holders.into()],
            loaded: vec![Vec::new(); holders.into()],
            config,
            store,
            statuses: Vec::new(),
            channels: BTreeMap::new(),
            wrong: right,
            is_unordered: false,
            responses: Vec::new(),
            accessed: Vec::new(),
            recalled: Vec::new(),
            deadlines: Vec::new(),
            findings: Vec::new(),
            random: Random::new(seed),
        }
    }

    /// The port of the home at which the hairpin is; the next one leads to memory.
    fn hairpin(&self) -> u16 {
        self.holders.len() as u16
    }

    fn put(&mut self, channel: Channel, item: Item) {
        self.channels.entry(channel).or_default().push_back(item);
    }

    /// An accelerator asks.
    fn ask(&mut self, request: Transfer) {
        let entry = self.bridge.admit(0, asked(&request)).expect("an entry");
        let mut out = BridgeOutput::default();
        self.bridge.start(entry, &mut out);
        self.follow_bridge(out);
    }

    fn follow_bridge(&mut self, mut out: BridgeOutput) {
        self.findings.extend(out.findings.drain(..).map(|finding| (finding.rule, finding.found)));
        for step in std::mem::take(&mut out.steps) {
            match step {
                BridgeStep::Send { by, msg, .. } => {
                    if let Some(BridgeActor::Child(child)) = by {
                        self.bridge.sent(child, &msg, &mut out);
                    }
                    let msg = (self.wrong)(msg);
                    self.put(Channel::ToHome(self.hairpin(), msg.class()), Item::Message(msg));
                }
                BridgeStep::AskOwner(ask) => self.put(Channel::Asks, Item::Ask(ask)),
                BridgeStep::Advanced { child, advances } => self.deadlines.push((child, advances)),
                BridgeStep::Respond { entry } => {
                    let (_, response) = self.bridge.response(entry).expect("a response");
                    self.responses.push(upli::answered(OWN, &response).expect("it is UALink's"));
                    self.bridge.left(entry);
                }
                _ => (),
            }
        }
        if !out.steps.is_empty() {
            self.follow_bridge(out);
        }
    }

    fn follow_agent(&mut self, from: Option<u16>, out: AgentOutput<CacheLine>) {
        self.findings.extend(out.events.iter().map(|event| (event.rule, event.found.clone())));
        for (port, msg) in out.sends {
            if let Msg::S2mBisnp { opcode, .. } = msg {
                self.recalled.push((port, opcode.name().expect("a name")));
            }
            let channel = match from {
                Some(holder) => Channel::ToHome(holder, msg.class()),
                None => Channel::FromHome(port, msg.class()),
            };
            self.put(channel, Item::Message(msg));
        }
    }

    fn follow_inbound(&mut self, out: InboundOutput) {
        self.findings.extend(out.findings.iter().map(|finding| (finding.rule, finding.found.clone())));
        for step in out.steps {
            match step {
                InboundStep::Send(entry) => {
                    let access = self.inbound.access(entry).expect("an access");
                    self.put(Channel::Accelerator(access.line.0 / 4), Item::Access(entry));
                }
                InboundStep::Respond(entry) => {
                    match self.inbound.owner_answer(entry) {
                        Some(answer) => self.put(Channel::OldValues, Item::Answer(answer)),
                        None => {
                            let (_, answer) = self.inbound.answer(entry).expect("an answer");
                            let memory = self.hairpin() + 1;
                            self.put(Channel::ToHome(memory, answer.class()), Item::Message(answer));
                        }
                    }
                    self.inbound.left(entry);
                }
                InboundStep::Drop(entry) => self.inbound.left(entry),
                InboundStep::AccessCache(entry) => {
                    let mut out = InboundOutput::default();
                    self.inbound.cache_accessed(entry, &mut out);
                    self.follow_inbound(out);
                }
                _ => (),
            }
        }
    }

    /// The accelerator does what it is asked.
    fn accelerator(&mut self, tag: u16) {
        let access = self.inbound.access(tag).expect("an access");
        let request = upli_spelled(OWN, tag, &access);
        let ControlField::Request(req) = request.field else { panic!("{request:?}") };
        self.accessed.push(req.cmd);
        // Operations and sizes are those of atomics alone, and NVLink asks for the same.
        let is_atomic = matches!(req.cmd, ReqCmd::AtomicR | ReqCmd::AtomicNR);
        assert!(is_atomic || req.attr == 0, "{req:?}");
        let op = match access.operation {
            LineOperation::Read => Op::READ,
            LineOperation::Atomic => Op::ATOMIC_RETURN,
            LineOperation::WriteFull | LineOperation::WritePart => Op::WRITE_NONPOSTED,
        };
        assert_eq!(nvlink::spelled(OWN, tag, &access, &NvlConfig::default()).op, op, "{access:?}");
        let status = if self.statuses.is_empty() { Status::OKAY } else { self.statuses.remove(0) };
        let is_read = req.cmd == ReqCmd::Read || req.cmd == ReqCmd::AtomicR;
        let came: Vec<_> =
            if status == Status::OKAY { apply(&mut self.store, 0, &request).lines(0).collect() } else { Vec::new() };
        let beats: Vec<_> = came.iter().map(|(bytes, _)| *bytes).collect();
        let poisoned = came.iter().enumerate().fold(0, |all, (n, (_, poison))| all | u8::from(*poison) << n);
        let rdwr = if is_read { RdWr::Read } else { RdWr::Write };
        let rsp = ControlField::Response(TlRsp { tag, status, rdwr, ..TlRsp::default() });
        let answer = scalepool_protocols::ualink::pack::with_data(rsp, &beats, None);
        let understood = upli_understood(is_read, &Transfer { poisoned, ..answer });
        let (status, lines) = understood.expect("a response of its request");
        let mut out = InboundOutput::default();
        self.inbound.receive(tag, status, &lines, &mut out);
        self.follow_inbound(out);
    }

    /// Delivers the first message of a channel, if its receiver takes it.
    fn deliver(&mut self, channel: Channel) -> bool {
        let (hairpin, memory) = (self.hairpin(), self.hairpin() + 1);
        let count = self.channels.get(&channel).map_or(0, VecDeque::len);
        let is_any = self.is_unordered && matches!(channel, Channel::ToHome(port, _) if port == hairpin);
        let place = if is_any { self.random.below(count.max(1)) } else { 0 };
        if is_any && place == 0 && self.random.below(8) != 0 {
            // The oldest one is slow.
            return false;
        }
        let Some(item) = self.channels.get(&channel).and_then(|queue| queue.get(place)).copied() else { return false };
        if let (Channel::ToHome(port, _), Item::Message(msg)) = (channel, item)
            && self.home.accepts(&self.config, port, &msg) == Accept::Wait
        {
            return false;
        }
        self.channels.get_mut(&channel).and_then(|queue| queue.remove(place));
        match (channel, item) {
            (Channel::ToHome(port, _), Item::Message(msg)) => {
                let mut out = AgentOutput::default();
                self.home.take(&self.config, port, msg, 0, &mut out);
                self.follow_agent(None, out);
            }
            (Channel::FromHome(port, _), Item::Message(msg)) if port == hairpin => {
                let mut out = BridgeOutput::default();
                self.bridge.receive(0, msg, &mut out);
                self.follow_bridge(out);
            }
            (Channel::FromHome(port, _), Item::Message(msg)) if port == memory => {
                let source = InboundSource { class: InboundClass::Db, ..InboundSource::default() };
                let mut out = InboundOutput::default();
                let entry = self.inbound.admit(source, msg, &mut out).expect("room");
                self.inbound.start(entry, &mut out);
                self.follow_inbound(out);
            }
            (Channel::FromHome(port, _), Item::Message(msg)) => {
                let mut out = AgentOutput::default();
                self.holders[usize::from(port)].take(&self.config, 0, msg, 0, &mut out);
                self.follow_agent(Some(port), out);
                self.works(port);
            }
            (_, Item::Ask(ask)) => {
                let entry = self.inbound.admit_atomic(ask).expect("room");
                let mut out = InboundOutput::default();
                self.inbound.start(entry, &mut out);
                self.follow_inbound(out);
            }
            (_, Item::Answer(answer)) => {
                let mut out = BridgeOutput::default();
                self.bridge.receive_owner(answer, &mut out);
                self.follow_bridge(out);
            }
            (_, Item::Access(tag)) => self.accelerator(tag),
            other => panic!("{other:?}"),
        }
        true
    }

    /// A holder goes on with its program.
    fn works(&mut self, holder: u16) {
        let n = usize::from(holder);
        let mut out = AgentOutput::default();
        while let Some(&op) = self.programs[n].front() {
            let agent = &mut self.holders[n];
            let (of, request, want) = match op {
                HolderOp::Load(line) => (line, HostReq::RD_SHARED, HostAccess::Load),
                HolderOp::Add(line) => (line, HostReq::RD_ANY, HostAccess::StorePart),
            };
            let value = agent.copy(of).data.map(|data| u64::from_le_bytes(*data.bytes.first_chunk().expect("a line")));
            match op {
                HolderOp::Load(_) if agent.can_load(of) => {
                    agent.load(&self.config, of, &mut out);
                    self.loaded[n].push(value.expect("a line"));
                }
                HolderOp::Add(_) if agent.can_store(of, false) => {
                    let mut data = CacheLine::of([0; 64]);
                    data.bytes[..8].copy_from_slice(&(value.expect("a line") + 1).to_le_bytes());
                    assert!(agent.store(&self.config, of, data, 0xff, &mut out));
                }
                _ => {
                    if agent.can_issue(of, request) {
                        agent.issue(of, request, want, &mut out);
                    } else if agent.can_issue(of, HostReq::CLN_EVCT) {
                        agent.issue(of, HostReq::CLN_EVCT, HostAccess::Nothing, &mut out);
                    }
                    break;
                }
            }
            self.programs[n].pop_front();
        }
        self.follow_agent(Some(holder), out);
    }

    /// Everything goes on in an order by chance until nothing does, as far as a choice lets channels go on.
    fn settle_but(&mut self, stays: impl Fn(Channel) -> bool) {
        let mut refused = 0;
        loop {
            (0..self.hairpin()).for_each(|holder| self.works(holder));
            let open: Vec<Channel> = self.channels.iter().filter(|(_, q)| !q.is_empty()).map(|(c, _)| *c).collect();
            let open: Vec<Channel> = open.into_iter().filter(|channel| !stays(*channel)).collect();
            if open.is_empty() || refused > 100 * open.len() {
                return;
            }
            let next = open[self.random.below(open.len())];
            refused = if self.deliver(next) { 0 } else { refused + 1 };
        }
    }

    fn settle(&mut self) {
        self.settle_but(|_| false);
        let left: Vec<_> = self.channels.iter().filter(|(_, queue)| !queue.is_empty()).collect();
        assert!(left.is_empty(), "{left:?}");
        assert!(self.programs.iter().all(VecDeque::is_empty), "{:?}", self.programs);
        assert_eq!((self.bridge.open(), self.inbound.open(), self.home.is_idle()), (0, 0, true));
    }

    /// One request, from its arrival to its response.
    fn whole(&mut self, request: Transfer) -> Transfer {
        self.ask(request);
        self.settle();
        self.responses.pop().expect("a response")
    }

    /// The first eight bytes of a line as a holder sees them, else as memory has them.
    fn value(&self, address: u64) -> u64 {
        let of = line(address);
        let held = self.holders.iter().map(|holder| holder.copy(of)).find(|copy| copy.dirty).and_then(|copy| copy.data);
        let bytes = held.map_or_else(|| self.store.read_line(of.address() + TO).data, |data| data.bytes);
        u64::from_le_bytes(*bytes.first_chunk().expect("a line"))
    }

    fn holders_of(&self, address: u64) -> Vec<u16> {
        match self.home.dcoh().holders(line(address)) {
            Some(Holders::Owner(owner)) => vec![owner],
            Some(Holders::Shared(all)) => all.iter().collect(),
            None => Vec::new(),
        }
    }

    /// The same in the words of the oracle.
    fn record_of(&self, address: u64) -> ExportRecord {
        match self.home.dcoh().holders(line(address)) {
            Some(Holders::Owner(owner)) => ExportRecord::A(owner),
            Some(Holders::Shared(all)) => ExportRecord::S(all.iter().collect()),
            None => ExportRecord::I,
        }
    }
}

/// An ADD of 64 bits to the first bytes of a line.
fn add(cmd: ReqCmd, address: u64, operand: u64) -> Transfer {
    common::add(cmd, address, operand)
}

fn of_source(source: u16, vchan: u8, mut request: Transfer) -> Transfer {
    change(&mut request, |req| (req.src, req.vchan) = (source, vchan));
    request
}

/// Who holds the line before: nobody, an owner that has changed it, sharers.
fn held(cluster: &mut Cluster, sharers: u16, is_owned: bool) {
    for holder in 0..sharers {
        let op = if is_owned { HolderOp::Add(line(BASE)) } else { HolderOp::Load(line(BASE)) };
        cluster.programs[usize::from(holder)].push_back(op);
        cluster.settle();
    }
    cluster.recalled.clear();
    cluster.accessed.clear();
}

/// All records of a line that three holders may have.
fn records() -> Vec<ExportRecord> {
    let sharers = (1..8u16).map(|set| ExportRecord::S((0..3).filter(|holder| set >> holder & 1 != 0).collect()));
    let owners = (0..3).map(ExportRecord::A);
    [ExportRecord::I].into_iter().chain(sharers).chain(owners).collect()
}

/// What an access to a line with a record comes to, in the words of the oracle, and what the line is behind it.
fn converted(request: Transfer, record: &ExportRecord) -> (HairpinConversion, u64) {
    let mut cluster = Cluster::new(3, 1);
    let (holders, op) = match record {
        ExportRecord::I => (Vec::new(), HolderOp::Load(line(BASE))),
        ExportRecord::S(all) => (all.clone(), HolderOp::Load(line(BASE))),
        ExportRecord::A(owner) => (vec![*owner], HolderOp::Add(line(BASE))),
    };
    for holder in holders {
        cluster.programs[usize::from(holder)].push_back(op);
        cluster.settle();
    }
    assert_eq!(cluster.record_of(BASE), *record);
    cluster.recalled.clear();
    cluster.accessed.clear();
    let response = cluster.whole(request);
    assert_eq!((verdict(&response).0, &cluster.findings[..]), (Status::OKAY, &[][..]));
    let recall = cluster.recalled.first().map(|(_, name)| {
        assert!(cluster.recalled.iter().all(|(_, other)| other == name), "{:?}", cluster.recalled);
        let mut of: Vec<u16> = cluster.recalled.iter().map(|(holder, _)| *holder).collect();
        of.sort_unstable();
        (*name, of)
    });
    // What an owner has changed is in memory first.
    let own = match (record, &cluster.accessed[..]) {
        (ExportRecord::A(_), [ReqCmd::WriteFull, own]) | (ExportRecord::I | ExportRecord::S(_), [own]) => *own,
        other => panic!("{other:?}"),
    };
    let access = own.name().expect("a name");
    (HairpinConversion { recall, access, record: cluster.record_of(BASE) }, cluster.value(BASE))
}

/// Reads take the present value and leave copies; writes and atomics take the line back from all holders before its accelerator is asked; the
/// hairpin is never a holder: every access at every record, against the oracle.
#[test]
fn brg_map_53_p() {
    for record in records() {
        let before = u64::from(matches!(record, ExportRecord::A(_)));
        for (request, access, value) in [
            (read(BASE, 16), "Read", before),
            (write_full(BASE, 1, 7), "WriteFull", 0x0707_0707_0707_0707),
            (write_part(BASE, 0b10, 7), "Write", 0x0700 | before),
            (add(ReqCmd::AtomicR, BASE, 5), "AtomicR", before + 5),
            (add(ReqCmd::AtomicNR, BASE, 5), "AtomicNR", before + 5),
        ] {
            assert_eq!(converted(request, &record), (hairpin(access, &record), value), "{record:?}");
        }
    }
    // A request of four lines, of which each goes its own way.
    let mut cluster = Cluster::new(1, 2);
    held(&mut cluster, 1, true);
    let response = cluster.whole(read(BASE, 64));
    assert_eq!((verdict(&response).0, beats(&response).len(), beats(&response)[0][0]), (Status::OKAY, 4, 1));
}

/// A hairpin that would be recorded, and one that writes a line which it has not taken back.
#[test]
fn brg_map_53_n() {
    let keeps: Wrong = |msg| match msg {
        Msg::M2sReq { opcode: M2sReqOpcode::MemInv, snp, meta_field, line, tag, .. } => {
            Msg::M2sReq { opcode: M2sReqOpcode::MemInv, snp, meta_field, meta: MetaValue::Any, line, tag }
        }
        other => other,
    };
    let reads: Wrong = |msg| match msg {
        Msg::M2sReq { opcode: M2sReqOpcode::MemInv, line, tag, .. } => {
            let (meta_field, meta) =
                (scalepool_protocols::cxl::cxl256::code::MetaField::Meta0State, MetaValue::Invalid);
            let snp = scalepool_protocols::cxl::cxl256::code::SnpType::SnpCur;
            Msg::M2sReq { opcode: M2sReqOpcode::MemRd, snp, meta_field, meta, line, tag }
        }
        other => other,
    };
    for wrong in [keeps, reads] {
        for sharers in 0..=3 {
            let mut cluster = Cluster::new(3, 1);
            held(&mut cluster, sharers, false);
            cluster.wrong = wrong;
            cluster.ask(write_full(BASE, 1, 7));
            cluster.settle_but(|_| false);
            assert!(cluster.findings.iter().any(|finding| finding.0 == "BRG-MAP-53"), "{:?}", cluster.findings);
            assert!(!cluster.holders_of(BASE).contains(&3), "it is recorded");
        }
    }
}

/// Atomics of accelerators and additions of holders to the same lines, in any order: none is lost, and each brings back a value of its own.
#[test]
fn atomics_and_additions_of_holders_add_up() {
    for seed in 0..60 {
        // With a cache in front of memory too, whose lines are not those that accelerators have.
        let is_cached = seed % 2 == 1;
        let mut cluster = if is_cached { Cluster::cached(2, seed) } else { Cluster::new(2, seed) };
        let lines = [BASE, BASE + 64];
        for n in 0..12u16 {
            let address = lines[usize::from(n) % 2];
            for holder in 0..2 {
                cluster.programs[holder].push_back(HolderOp::Add(line(address)));
            }
            let cmd = if n % 3 == 0 { ReqCmd::AtomicNR } else { ReqCmd::AtomicR };
            cluster.ask(of_source(SOURCE + n, 0, add(cmd, address, 1)));
        }
        cluster.settle();
        assert_eq!((cluster.findings.len(), cluster.responses.len()), (0, 12), "{seed}: {:?}", cluster.findings);
        let seen = |cluster: &mut Cluster, address| {
            let response = cluster.whole(read(address, 16));
            u64::from_le_bytes(*beats(&response)[0].first_chunk().expect("a line"))
        };
        assert_eq!(lines.map(|address| seen(&mut cluster, address)), [18, 18], "{seed}");
        let counts = cluster.inbound.cache_counts().unwrap_or_default();
        assert!(!is_cached || counts.write_backs > 0 && counts.bypasses == 12, "{seed}: {counts:?}");
    }
}

/// What a holder loads of two lines of a block, the second one first, while a source writes both, the second one on a virtual channel.
fn order_seen(seed: u64, vchan: u8) -> (u64, u64) {
    let mut cluster = Cluster::new(2, seed);
    cluster.is_unordered = true;
    let [flag, data] = [BASE + 64, BASE];
    // Each line is taken back from another holder, of which one may be slow.
    for (holder, address) in [(0, data), (1, flag)] {
        cluster.programs[holder].push_back(HolderOp::Load(line(address)));
    }
    cluster.settle();
    cluster.ask(of_source(SOURCE, 0, write_full(data, 1, 1)));
    cluster.ask(of_source(SOURCE, vchan, write_full(flag, 1, 1)));
    for _ in 0..cluster.random.below(60) {
        let open: Vec<Channel> = cluster.channels.iter().filter(|(_, q)| !q.is_empty()).map(|(c, _)| *c).collect();
        let n = cluster.random.below(open.len().max(1));
        open.get(n).into_iter().for_each(|next| _ = cluster.deliver(*next));
    }
    cluster.programs[1].extend([HolderOp::Load(line(flag)), HolderOp::Load(line(data))]);
    cluster.settle();
    assert_eq!((cluster.findings.len(), cluster.responses.len()), (0, 2), "{:?}", cluster.findings);
    let [.., flag, data] = cluster.loaded[1][..] else { panic!("{:?}", cluster.loaded) };
    (flag.min(1), data.min(1))
}

/// Two writes of a source to a block: whoever sees the second one sees the first one.
#[test]
fn brg_ord_08_p() {
    let seen: Vec<_> = (0..400).map(|seed| order_seen(seed, 0)).collect();
    assert!(!seen.contains(&(1, 0)));
    for other in [(0, 0), (0, 1), (1, 1)] {
        assert!(seen.contains(&other), "{other:?}");
    }
}

/// The second one on another virtual channel, which overtakes: some order shows it.
#[test]
fn brg_ord_08_n() {
    assert!((0..400).any(|seed| order_seen(seed, 1) == (1, 0)));
}

/// A status of the accelerator ends an atomic, and its line is free again; a write that is lost poisons the line until it is written.
#[test]
fn the_line_is_free_behind_an_access_that_fails() {
    for (status, told) in [(Status::DecodeError, 3), (Status::ProtectionViolation, 6), (Status::TargetAbort, 2)] {
        let mut cluster = Cluster::new(1, 3);
        held(&mut cluster, 1, true);
        // The write back of the holder comes first.
        cluster.statuses = vec![Status::OKAY, status];
        let response = cluster.whole(add(ReqCmd::AtomicR, BASE, 5));
        assert_eq!(verdict(&response), (Status(told), RdWr::Read));
        cluster.programs[0].push_back(HolderOp::Add(line(BASE)));
        cluster.settle();
        assert_eq!(cluster.value(BASE), 2, "the atomic was not done");
        assert_eq!(cluster.findings, []);
    }
    let mut cluster = Cluster::new(1, 4);
    cluster.statuses = vec![Status::TargetAbort];
    assert_eq!(verdict(&cluster.whole(write_full(BASE, 1, 7))).0, Status::OKAY, "CXL.mem has no other word");
    let response = cluster.whole(read(BASE, 16));
    assert_eq!((verdict(&response).0, response.poisoned), (Status::OKAY, 1));
    let response = cluster.whole(add(ReqCmd::AtomicR, BASE, 5));
    assert_eq!((verdict(&response).0, response.poisoned), (Status::OKAY, 1));
    cluster.whole(write_full(BASE, 1, 7));
    let response = cluster.whole(read(BASE, 16));
    assert_eq!((response.poisoned, beats(&response)[0]), (0, [7; 64]));
}

/// What an accelerator says of an atomic is told if it is a status that a bridge makes; all else is an error nevertheless (`bridge` §8.2).
#[test]
fn statuses_that_a_bridge_never_makes_are_errors_of_an_atomic() {
    for code in 0..16 {
        let mut cluster = Cluster::new(1, 3);
        cluster.statuses = vec![Status(code)];
        cluster.ask(add(ReqCmd::AtomicR, BASE, 5));
        cluster.settle();
        let told = verdict(&cluster.responses[0]).0;
        let expected = if [0, 3, 6, 8].contains(&code) { Status(code) } else { Status::TargetAbort };
        assert_eq!(told, expected, "{code}");
    }
}

/// An access that is given up, at whatever it waits for, gives its line back when what it waits for has come.
#[test]
fn an_access_that_was_given_up_gives_its_line_back() {
    let stuck: [fn(Channel) -> bool; 4] = [
        |channel| matches!(channel, Channel::FromHome(1, Class::S2mNdr)),
        |channel| channel == Channel::Asks,
        |channel| channel == Channel::OldValues,
        |channel| matches!(channel, Channel::ToHome(0, _)),
    ];
    for (n, stuck) in stuck.into_iter().enumerate() {
        for request in [add(ReqCmd::AtomicR, BASE, 5), write_full(BASE, 1, 7)] {
            let mut cluster = Cluster::new(1, 5);
            held(&mut cluster, 1, true);
            cluster.ask(request);
            cluster.settle_but(stuck);
            let (child, advances) = *cluster.deadlines.last().expect("a deadline");
            let mut out = BridgeOutput::default();
            cluster.bridge.time_out(child, advances, &mut out);
            cluster.follow_bridge(out);
            cluster.programs[0].push_back(HolderOp::Add(line(BASE)));
            cluster.settle();
            assert_eq!(cluster.responses.len(), 1, "{n}");
            assert!(cluster.findings.is_empty(), "{n}: {:?}", cluster.findings);
        }
    }
}

/// Rights are those of the window of class HP; an address that the bridge does not keep coherent, which registers may say, is none.
#[test]
fn what_leads_nowhere_is_refused() {
    let mut cluster = Cluster::new(1, 6);
    let beyond = BASE + FROM + SIZE - EXPORTED;
    for (request, status) in [
        (read(beyond, 16), Status::DecodeError),
        (write_full(beyond, 1, 1), Status::DecodeError),
        (add(ReqCmd::AtomicR, beyond, 1), Status::DecodeError),
        (read(beyond - 64, 16), Status::OKAY),
    ] {
        assert_eq!(verdict(&cluster.whole(request)).0, status);
    }
    let part = transfer(
        TlReq { cmd: ReqCmd::AtomicR, address: BASE, len: 1, attr: 1 << 2, ..TlReq::default() },
        &[[0; 64]],
        Some([0x0f; 32]),
    );
    assert_eq!(verdict(&cluster.whole(part)).0, Status::TargetAbort, "an element enabled in part");
    assert_eq!(cluster.accessed, [ReqCmd::Read]);
}

const HANDOVER: &str = include_str!("../../systems/handover.toml");
const UALINK: &str = include_str!("../../systems/hairpin.toml");

/// The same of GPUs.
fn nvlink() -> String {
    UALINK
        .replace(
            "accel = { kind = \"ualink.accelerator\", count = 2, clock = \"accel\", traffic = { operations = 100, regions = 1, mix = \"all\" } }",
            "accel = { kind = \"nvlink.gpu\", count = 2, clock = \"bridge\", links = 1, traffic = { pattern = \"mix\", requests = 80 } }",
        )
        .replace("kind = \"ualink.switch\", clock = \"accel\"", "kind = \"nvlink.switch\", clock = \"bridge\"")
        .replace("bridge.ualink", "bridge.nvlink")
        .replace("size = \"3 MiB\"", "size = \"128 MiB\"")
        .replace("kind = \"ualink\", order = \"relaxed\"", "kind = \"nvlink\"")
        .replace("accel[0].port[0]", "accel[0].link[0]")
        .replace("accel[1].port[0]", "accel[1].link[0]")
}

/// Accelerators reach exported memory by its alias, beside hosts that hold lines of it: every byte is what was written.
#[test]
fn brg_hom_02_p() {
    for text in [UALINK.to_owned(), nvlink()] {
        let report = sound(&text, &[]);
        let json = report.json();
        let of = |name: &str| json["components"]["bridge"][name].as_u64().unwrap_or_else(|| panic!("{json:?}"));
        assert!(of("atomics") > 15 && of("writes") > 20 && of("reads") > 30, "{json:?}");
        assert!(of("s2m_bisnp") > 0, "{json:?}");
    }
}

/// Hosts and accelerators write the same lines: accelerators, who take their own writes for the only ones, read other bytes, and nobody
/// breaks a rule of coherence.
#[test]
fn hosts_and_accelerators_share_lines() {
    let text = UALINK.replace("to = \"64 MiB\"", "to = \"0\"").replace("mix = \"all\"", "mix = \"all\", blocks = 1");
    let set = ["component.host.core.lines=4", "component.host.core.pattern=migratory"];
    let report = run(&text, &set);
    let others = report.violations.iter().find(|found| found.violation.rule != "SIM-E2E-01");
    assert!(others.is_none() && !report.violations.is_empty(), "{others:?}");
}

/// Accelerators that write exported memory past the alias: the bridge cannot see it, and whoever reads the line next finds it.
#[test]
fn brg_hom_02_n() {
    let text = UALINK.replace("to = \"8 GiB\"", "to = \"1 MiB\"").replace("operations = 100", "operations = 400");
    let report = run(&text, &["component.host.core.accesses=1000", "component.host.core.lines=256"]);
    let first = report.violations.first().expect("a finding");
    assert_eq!((first.violation.rule, &first.place[..]), ("BRG-HOM-02", "bridge.home"), "{first:?}");
}

/// Loads of an accelerator of the first bytes of a line, with the value that the line has then, while a holder adds to it in between; one that
/// keeps copies asks once.
fn loads(keeps_copies: bool) -> Vec<(u64, u64)> {
    let mut cluster = Cluster::new(1, 7);
    let (mut loads, mut kept) = (Vec::new(), None);
    for _ in 0..4 {
        let of_copy = kept.filter(|_| keeps_copies);
        let seen = of_copy.unwrap_or_else(|| {
            let response = cluster.whole(read(BASE, 16));
            u64::from_le_bytes(*beats(&response)[0].first_chunk().expect("a line"))
        });
        kept = Some(seen);
        loads.push((seen, cluster.value(BASE)));
        cluster.programs[0].push_back(HolderOp::Add(line(BASE)));
        cluster.settle();
    }
    loads
}

/// Accelerators that keep no copy see every store of a holder; those that have a CXL.cache link of their own keep lines by that.
#[test]
fn brg_hom_03_p() {
    let loads = loads(false);
    assert!(loads.iter().all(|(seen, is)| seen == is) && loads[3].0 == 3, "{loads:?}");
    let report = sound(HANDOVER, &[]);
    let json = report.json();
    assert!(json["components"]["accel[0]"]["d2h_rsp"].as_u64() > Some(10), "{json:?}: its copies are taken back");
}

/// A copy that is kept without such a link is old from the first store of a holder on, and nobody takes it back; without its link an
/// accelerator with a cache is refused.
#[test]
fn brg_hom_03_n() {
    let loads = loads(true);
    assert!(loads[1..].iter().all(|(seen, is)| seen < is), "{loads:?}");
    let (text, _) = HANDOVER.split_once("[settings]").expect("settings");
    let alone = text
        .replace(
            "[\"home.port[i]\", \"accel[i].cxl\"]",
            "[[\"home.port[0]\", \"accel[0].cxl\"], [\"home.port[1]\", \"accel[1].cxl\"]]",
        )
        .replace("clock = \"agents\", ports = 3", "clock = \"agents\", ports = 2");
    let error = resolves(&alone).err().expect("a finding");
    assert!(error.contains("found no link at the port `accel[2].cxl`"), "{error}");
}

/// A window of class HP that leads to memory which the bridge does not keep coherent, one with ports, and one without a home.
#[test]
fn windows_of_class_hp_lead_to_windows_of_class_db() {
    let refused = |from: &str, to: &str| {
        let text = UALINK.replace(from, to);
        assert_ne!(text, UALINK);
        resolves(&text).err().expect("a finding")
    };
    let beyond = refused("to = \"64 MiB\"", "to = \"1022 MiB\"");
    let text = "found window 0 of class HP from 0x3fe00000 to 0x40100000, expected addresses of windows of class DB in `inbound` alone, and 0x40000000 is in none (bridge §1.3)";
    assert!(beyond.contains(text), "{beyond}");
    let ports = refused("class = \"HP\"", "class = \"HP\", ports = [\"0\"]");
    assert!(
        ports.contains("found a window of class HP with 1 ports, expected none: it stays in the bridge"),
        "{ports}"
    );
    let plain = refused("class = \"DB\"", "class = \"NH\"");
    assert!(plain.contains("0x4000000 is in none"), "{plain}");
}

/// A table whose entries other windows hold has eight for hairpins alone, and hairpins leave those of every channel to the others: whoever
/// waits for the one side, the other goes on.
#[test]
fn entries_are_kept_for_hairpins_alone() {
    let of = |base: u64, out_base: u64, class| BridgeWindow {
        base,
        size: 2 << 20,
        out_base,
        class,
        ports: vec![0],
        granule: 256,
        rights: [AccessRights::ALL; GROUPS],
    };
    let windows = common::windows(vec![of(BASE, EXPORTED, WindowClass::Hp), of(0, 0, WindowClass::Mn)]);
    let on = |address, vchan| of_source(SOURCE, vchan, read(address, 16));
    for (entries, shared) in [(FEWEST_WITH_HAIRPIN, 0), (FEWEST_WITH_HAIRPIN + 3, 3)] {
        for hairpin_first in [true, false] {
            let mut cluster = Cluster::new(1, 6);
            let exported = cluster.exported.clone();
            let windows = windows.clone();
            let config =
                OutboundConfig { windows, entries, exported: Some(exported), ..common::config(WindowClass::Hp) };
            cluster.bridge = OutboundBridge::new(config);
            let fill = |cluster: &mut Cluster, base: u64, vchan: u8| {
                let mut n = 0;
                while let Some(entry) = cluster.bridge.admit(0, asked(&on(base + 256 * n, vchan))) {
                    let mut out = BridgeOutput::default();
                    cluster.bridge.start(entry, &mut out);
                    // Memory of the other windows never answers.
                    if base == BASE {
                        cluster.follow_bridge(out);
                    }
                    n += 1;
                }
                n
            };
            // Hairpins of any channel, then four channels to memory, or the other way round.
            let mut taken = Vec::new();
            if hairpin_first {
                taken.push(fill(&mut cluster, BASE, 1));
            }
            taken.extend((0..4).map(|vchan| fill(&mut cluster, 0, vchan)));
            if !hairpin_first {
                taken.push(fill(&mut cluster, BASE, 3));
            }
            let first = RESERVED as u64 + shared;
            assert_eq!(taken, [first, 8, 8, 8, 8], "{entries} entries, hairpins first: {hairpin_first}");
            assert_eq!(cluster.bridge.lacks(asked(&on(BASE, 0)).need()), Some(Lacking::Entry));
            cluster.settle_but(|_| false);
            assert_eq!(cluster.responses.len() as u64, if hairpin_first { first } else { RESERVED as u64 });
            assert_eq!(cluster.bridge.lacks(asked(&on(BASE, 0)).need()), None, "they end while memory does not answer");
            assert_eq!(cluster.findings, []);
        }
    }
    let text = UALINK.replace("cxl_ports = 0", "cxl_ports = 0\nentries = 39");
    assert_ne!(text, UALINK);
    let error = resolves(&text).err().expect("a finding");
    assert!(error.contains("found 39 entries beside windows of class HP, expected at least 40"), "{error}");
}

/// One and two threads, bit errors, the smallest tables: the same bytes, and none is lost.
#[test]
fn a_hairpin_at_the_ends_of_its_ranges() {
    for text in [UALINK.to_owned(), nvlink()] {
        for set in [
            &["component.bridge.inbound_cache.capacity=4 KiB", "component.bridge.inbound_cache.ways=2"][..],
            &["component.bridge.entries=40", "component.bridge.inbound_entries=4"][..],
            &["component.bridge.home.filter_entries=1", "component.bridge.home.filter_ways=1"],
            &["component.bridge.home.recalls=2", "component.bridge.write_buffers=4"],
            &["link.host.ber=1e-5"],
        ] {
            sound(&text, set);
        }
    }
}

/// What passes between the halves of a bridge is in waves and traces, also of a bridge without links of CXL.mem to others.
#[test]
fn a_hairpin_is_in_the_wave() {
    let folder = tempfile::tempdir().expect("a folder");
    let [vcd, fst, trace] = ["w.vcd", "w.fst", "t.jsonl"].map(|name| folder.path().join(name));
    let outputs = Outputs { vcd: Some(vcd.clone()), fst: Some(fst), trace: Some(trace), ..Outputs::default() };
    let set = vec!["component.accel.traffic.operations=20".to_owned(), "component.host.core.accesses=10".to_owned()];
    let request = ScenarioRequest {
        description: Some(UALINK.to_owned()),
        seed: 1,
        threads: 1,
        set,
        outputs,
        ..Default::default()
    };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    let wave = std::fs::read_to_string(vcd).expect("a wave");
    assert!(wave.contains("m2s_req") && wave.contains("s2m_ndr"));
}

/// The hairpin, which charts and summaries name, has its own place in waves.
#[test]
fn a_hairpin_is_a_scope_of_waves() {
    let folder = tempfile::tempdir().expect("a folder");
    let vcd = folder.path().join("w.vcd");
    let outputs = Outputs { vcd: Some(vcd.clone()), scopes: vec!["bridge.hairpin*".to_owned()], ..Outputs::default() };
    let set = vec!["component.accel.traffic.operations=20".to_owned(), "component.host.core.accesses=10".to_owned()];
    let description = Some(UALINK.to_owned());
    let request = ScenarioRequest { description, seed: 1, threads: 1, set, outputs, ..Default::default() };
    scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    let wave = std::fs::read_to_string(vcd).expect("a wave");
    let modules: Vec<_> = wave.lines().filter(|line| line.starts_with("$scope module")).collect();
    assert!(modules.iter().any(|line| line.contains(" hairpin ")), "{modules:?}");
    assert!(wave.contains("m2s_req") && wave.contains("s2m_ndr") && !modules.iter().any(|line| line.contains("home")));
}

/// Accesses that a bridge has given up break no rule of coherence, neither at its halves nor at another bridge: who reads has nothing, and what
/// a write left is poison until the line is written again.
#[test]
fn accesses_that_were_given_up_break_no_rule_of_coherence() {
    const EXPORTED: &str = include_str!("../../systems/exported_hbm.toml");
    for (text, set) in [
        (UALINK, "component.bridge.stages.timeout_cycles=400"),
        (UALINK, "component.bridge.stages.timeout_cycles=900"),
        (EXPORTED, "component.ubridge.stages.timeout_cycles=300"),
        (EXPORTED, "component.nbridge.stages.timeout_cycles=1200"),
    ] {
        let seen = run(text, &[set]).violations;
        assert!(!seen.is_empty(), "{set}: nothing was given up");
        let wrong = seen.iter().find(|found| !["SIM-E2E-01", "SIM-E2E-02"].contains(&found.violation.rule));
        assert!(wrong.is_none(), "{set}: {wrong:?}");
    }
}

/// A read of an accelerator that is given up is poison, which says nothing of its memory: whoever reads the line next finds no other way to it.
#[test]
fn a_read_that_was_given_up_is_no_way_past_the_alias() {
    let set = ["component.bridge.stages.timeout_cycles=1000", "component.bridge.stages.response_cycles=100"];
    let seen = run(UALINK, &set).violations;
    assert!(!seen.is_empty(), "no access was given up");
    let wrong = seen.iter().find(|found| found.violation.rule == "BRG-HOM-02");
    assert!(wrong.is_none(), "{wrong:?}");
}
