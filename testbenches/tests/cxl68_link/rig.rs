//! Agents over a link, with a scoreboard: a host and a device that ask for lines of each other's memory.
//!
//! Modelled: CXL.mem reads, writes and hints of the host; RdCurr and WrInv of a device without a cache; one access to a
//! line at a time, because channels keep no order between them; the end-to-end checks. Left out: time inside an agent.

use scalepool::kernel::Rng;
use scalepool::link::cxl68::{EndConfig, LinkEvent, Pair, Severity};
use scalepool::link::hook::{Direction, HookAnswer, HookItem, HookPoint, Hooks};
use scalepool::memory::store::{Background, Store};
use scalepool::memory::{ALL_BYTES, LineBytes};
use scalepool::nodes::stimulus::AlgorithmStep;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::code::{
    D2hReqOpcode, GoState, H2dRspOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField,
};
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::message::{
    Class, D2hData, D2hReq, H2dData, H2dRsp, M2sReq, M2sRwd, S2mDrs, S2mNdr,
};
use scalepool_protocols::cxl::cxl68::stream::{Cxl68Message, Data, Size};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::Wire;
use std::collections::{BTreeMap, BTreeSet};

/// Flit clocks that a wire takes.
pub const LATENCY_FLITS: u64 = 12;
/// Flit clocks that training takes.
pub const RETRAIN_FLITS: u64 = 60;
/// Flit clocks after which open work is a completion time-out; far above every retry time-out of the tests.
pub const PATIENCE_FLITS: u64 = 20_000;
/// Accesses of a side that may be open.
const OUTSTANDING: usize = 24;

/// Whose memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// The device's, asked by the host (CXL.mem).
    Device,
    /// The host's, asked by the device (CXL.cache).
    Host,
}

/// A fault of an agent, for tests of the scoreboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentFault {
    /// The device completes MemSpecRd.
    CompletesHints,
    /// Byte enables of the write before stay in force at the device where none travel.
    KeepsByteEnables,
    /// The device marks clean data as poisoned.
    PoisonsCleanData,
    /// The device never answers this tag.
    Swallows(u16),
}

/// A check that fired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Rule.
    pub rule: &'static str,
    /// Flit clock.
    pub at: u64,
    /// What was seen.
    pub text: String,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    line: u64,
    write: Option<(Data, bool)>,
}

struct Asker {
    open: BTreeMap<u16, Open>,
    expected: Store,
    next_tag: u16,
    hints: BTreeSet<u16>,
}

impl Asker {
    fn new() -> Asker {
        let expected = Store::new(Background::OwnAddress);
        Asker { open: BTreeMap::new(), expected, next_tag: 0, hints: BTreeSet::new() }
    }

    /// A tag of 12 bits that is not in use.
    fn tag(&mut self) -> u16 {
        loop {
            self.next_tag = (self.next_tag + 1) & 0xfff;
            if !self.open.contains_key(&self.next_tag) {
                return self.next_tag;
            }
        }
    }
}

/// What becomes of a unit.
pub type ChangedUnit = fn(Cxl68Unit) -> Cxl68Unit;

/// The agents and their link.
pub struct Rig {
    /// The link.
    pub pair: Pair,
    /// Memory of the device.
    pub device_memory: Store,
    /// Memory of the host.
    pub host_memory: Store,
    /// Checks that fired.
    pub broken: Vec<Broken>,
    /// Events of both ends, with the flit clock in which they came.
    pub events: Vec<(u64, LinkEvent)>,
    /// The agents take messages that have arrived.
    pub takes: bool,
    /// What is wrong with the agents.
    pub fault: Option<AgentFault>,
    /// What the host or the device makes of a unit that its end sends.
    pub says: Option<(Dir, ChangedUnit)>,
    /// Reads that ended, poisoned or not, by line.
    pub reads: Vec<(u64, LineBytes, bool)>,
    device_space: Asker,
    host_space: Asker,
    /// Lines and CQIDs of writes that the host has pulled, by UQID.
    pulled: BTreeMap<u16, (u64, u16)>,
    /// Bytes that the last write to the device had enabled.
    last_enables: u64,
}

fn bits(message: &impl Wire) -> u128 {
    message.to_bits().expect("every field fits")
}

/// A link whose time-out fits short tests.
pub fn quick() -> Cxl68Config {
    Cxl68Config { timeout_flits: 128, ..Cxl68Config::default() }
}

impl Rig {
    /// Agents over two ends.
    pub fn new(host: EndConfig, device: EndConfig) -> Rig {
        Rig {
            pair: Pair::new(host, device, LATENCY_FLITS, RETRAIN_FLITS).expect("a legal configuration"),
            device_memory: Store::new(Background::OwnAddress),
            host_memory: Store::new(Background::OwnAddress),
            broken: Vec::new(),
            events: Vec::new(),
            takes: true,
            fault: None,
            says: None,
            last_enables: ALL_BYTES,
            reads: Vec::new(),
            device_space: Asker::new(),
            host_space: Asker::new(),
            pulled: BTreeMap::new(),
        }
    }

    /// CXL.mem alone.
    pub fn mem(link: Cxl68Config) -> Rig {
        Rig::new(EndConfig::mem(Dir::Down, link, 32), EndConfig::mem(Dir::Up, link, 32))
    }

    /// CXL.cache and CXL.mem.
    pub fn cachemem(link: Cxl68Config) -> Rig {
        Rig::new(EndConfig::cachemem(Dir::Down, link, 32), EndConfig::cachemem(Dir::Up, link, 32))
    }

    /// The same with a hook at the end that sends in a direction.
    pub fn with_hook(
        dir: Dir,
        (point, way): (HookPoint, Direction),
        hook: impl FnMut(&HookItem<'_>) -> HookAnswer + Send + 'static,
        link: Cxl68Config,
    ) -> Rig {
        let mut rig = Rig::cachemem(link);
        rig.attach(dir, (point, way), hook);
        rig
    }

    /// Attaches a hook to the end that sends in a direction.
    pub fn attach(
        &mut self,
        dir: Dir,
        (point, way): (HookPoint, Direction),
        hook: impl FnMut(&HookItem<'_>) -> HookAnswer + Send + 'static,
    ) {
        let hooks = Hooks::new();
        hooks.attach(point, way, hook).expect("no hook runs");
        let end = if dir == Dir::Down { &mut self.pair.host } else { &mut self.pair.device };
        end.attach_hooks(&hooks);
    }

    fn asker(&mut self, space: Space) -> &mut Asker {
        match space {
            Space::Device => &mut self.device_space,
            Space::Host => &mut self.host_space,
        }
    }

    fn broke(&mut self, rule: &'static str, text: String) {
        self.broken.push(Broken { rule, at: self.pair.wires.now(), text });
    }

    /// Accesses without an answer.
    pub fn open(&self) -> usize {
        self.device_space.open.len() + self.host_space.open.len()
    }

    fn send(&mut self, dir: Dir, message: Cxl68Message) {
        self.pair.sender(dir).send(message).expect("a legal message");
    }

    // ---- accesses ------------------------------------------------------------------------------------------------

    /// Waits until a line may be asked for; `false`: it never may.
    fn ready(&mut self, space: Space, line: u64) -> bool {
        let until = self.pair.wires.now() + PATIENCE_FLITS;
        loop {
            let asker = self.asker(space);
            if asker.open.len() < OUTSTANDING && asker.open.values().all(|o| o.line != line) {
                return true;
            }
            if self.pair.wires.now() >= until
                || self.pair.host.halted().is_some()
                || self.pair.device.halted().is_some()
            {
                return false;
            }
            self.step();
        }
    }

    /// Reads a line.
    pub fn read(&mut self, space: Space, line: u64) {
        self.ask(space, line, None);
    }

    /// Writes a line or a part of it.
    pub fn write(&mut self, space: Space, line: u64, data: Data, poison: bool) {
        self.ask(space, line, Some((data, poison)));
    }

    /// Writes a line whole.
    pub fn write_line(&mut self, space: Space, line: u64, bytes: LineBytes) {
        self.write(space, line, Data::line(bytes), false);
    }

    fn ask(&mut self, space: Space, line: u64, write: Option<(Data, bool)>) {
        if !self.ready(space, line) {
            return;
        }
        let asker = self.asker(space);
        let tag = asker.tag();
        asker.open.insert(tag, Open { line, write });
        if let Some((data, poison)) = write {
            asker.expected.write_line(line, &data.bytes, data.enabled(), poison);
        }
        let meta_field = MetaField::NoOp;
        match (space, write) {
            (Space::Device, None) => {
                let opcode = M2sReqOpcode::MemRd;
                let req = M2sReq { opcode, meta_field, tag, address: line, ..M2sReq::default() };
                self.send(Dir::Down, Cxl68Message::new(Class::M2sReq, bits(&req)));
            }
            (Space::Device, Some((data, poison))) => {
                let opcode = if data.byte_enables.is_some() { M2sRwdOpcode::MemWrPtl } else { M2sRwdOpcode::MemWr };
                let rwd = M2sRwd { opcode, meta_field, tag, address: line, poison, ..M2sRwd::default() };
                self.send(Dir::Down, Cxl68Message::with_data(Class::M2sRwd, bits(&rwd), data));
            }
            (Space::Host, write) => {
                let opcode = if write.is_some() { D2hReqOpcode::WrInv } else { D2hReqOpcode::RdCurr };
                let req = D2hReq { opcode, cqid: tag, address: line, ..D2hReq::default() };
                self.send(Dir::Up, Cxl68Message::new(Class::D2hReq, bits(&req)));
            }
        }
    }

    /// Sends MemSpecRd: a hint without an answer. Its tag is reserved; it is used to name a wrong answer.
    pub fn hint(&mut self, line: u64) {
        let tag = self.device_space.tag();
        self.device_space.hints.insert(tag);
        let req = M2sReq { opcode: M2sReqOpcode::MemSpecRd, tag, address: line, ..M2sReq::default() };
        self.send(Dir::Down, Cxl68Message::new(Class::M2sReq, bits(&req)));
    }

    /// Marks a line of the device's memory as known to be wrong, as a media error does.
    pub fn poison_media(&mut self, line: u64) {
        self.device_memory.set_poison(line, true);
        self.device_space.expected.set_poison(line, true);
    }

    /// Reads and writes of random lines of a small region: whole, partial, and halves where the protocol has them.
    pub fn traffic(&mut self, space: Space, accesses: u32, seed: u64) {
        let mut rng = Rng::from_seed(seed);
        for _ in 0..accesses {
            let line = rng.below(64) * 64;
            let mut bytes = [0; 64];
            rng.fill_bytes(&mut bytes);
            let enables = rng.next_u64();
            match (rng.below(6), space) {
                (0..3, _) => self.read(space, line),
                (3, _) => self.write_line(space, line, bytes),
                (4, Space::Host) => {
                    let size = if enables & 1 == 0 { Size::LowerHalf } else { Size::UpperHalf };
                    self.write(space, line, Data { bytes: kept(bytes, size), size, byte_enables: None }, false);
                }
                _ => {
                    let data = Data { bytes, size: Size::Line, byte_enables: Some(enables) };
                    self.write(space, line, data, false);
                }
            }
        }
    }

    /// Traffic of every space of the link at the same time, in bursts.
    pub fn all_traffic(&mut self, bursts: u32, seed: u64) {
        for burst in 0..bursts {
            self.traffic(Space::Device, 12, seed + u64::from(burst));
            if self.pair.host.config().sends[Class::H2dRsp.index()] {
                self.traffic(Space::Host, 12, seed + 1000 + u64::from(burst));
            }
        }
    }

    /// Runs a stress algorithm; reads are judged by the scoreboard, which knows the last write of every byte.
    pub fn algorithm(&mut self, space: Space, steps: &[AlgorithmStep]) {
        for step in steps {
            match step {
                AlgorithmStep::Write { address, data, byte_enables } => {
                    let byte_enables = (*byte_enables != ALL_BYTES).then_some(*byte_enables);
                    self.write(space, *address, Data { bytes: *data, size: Size::Line, byte_enables }, false);
                }
                AlgorithmStep::Fence => {
                    self.settle();
                }
                AlgorithmStep::Read { address, expected, byte_mask } => {
                    let known = self.asker(space).expected.read_line(*address).data;
                    let same = (0..64).all(|n| byte_mask >> n & 1 == 0 || known[n] == expected[n]);
                    assert!(same, "the scoreboard and the algorithm agree on line {address:#x}");
                    self.read(space, *address);
                }
            }
        }
    }

    // ---- time ----------------------------------------------------------------------------------------------------

    /// One flit clock, and what the agents do with what it brought.
    pub fn step(&mut self) {
        let says = self.says;
        self.pair.step_with(&mut |from, _, unit| {
            let other = says.filter(|(dir, _)| Dir::ALL[from] == *dir);
            Some(other.map_or(unit, |(_, other)| other(unit)))
        });
        let now = self.pair.wires.now();
        for end in [&mut self.pair.host, &mut self.pair.device] {
            self.events.extend(end.take_events().into_iter().map(|e| (now, e)));
        }
        if !self.takes {
            return;
        }
        while let Some(message) = self.pair.device.take() {
            self.at_device(&message);
        }
        while let Some(message) = self.pair.host.take() {
            self.at_host(&message);
        }
    }

    /// A number of flit clocks.
    pub fn steps(&mut self, flits: u64) {
        for _ in 0..flits {
            self.step();
        }
    }

    /// Steps until both ends have exchanged INIT.Param and the first credits.
    pub fn bring_up(&mut self) {
        assert!(self.settle(), "the link comes up");
    }

    /// Steps until nothing is open and nothing under way. `false`: a completion time-out, which is recorded.
    pub fn settle(&mut self) -> bool {
        for _ in 0..PATIENCE_FLITS {
            if self.open() == 0 && self.pair.is_quiet() {
                self.all_home();
                return true;
            }
            self.step();
        }
        let lines = self.device_space.open.values().chain(self.host_space.open.values());
        let lines: Vec<String> = lines.map(|o| format!("{:#x}", o.line)).collect();
        let halted = [self.pair.host.halted(), self.pair.device.halted()];
        let text = format!("open lines [{}], halted {halted:?}", lines.join(" "));
        self.broke("SIM-E2E-03", text);
        false
    }

    /// Rules of all events so far.
    pub fn rules(&self) -> BTreeSet<&'static str> {
        self.events.iter().map(|(_, e)| e.violation.rule).collect()
    }

    /// Rules of all checks of the scoreboard that fired.
    pub fn broken_rules(&self) -> BTreeSet<&'static str> {
        self.broken.iter().map(|b| b.rule).collect()
    }

    /// Takes out the fatal event of a peer in viral, which a run with viral must have seen exactly once.
    pub fn assert_one_fatal(&mut self, logical_devices: u16) {
        let all = std::mem::take(&mut self.events);
        let (fatal, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, e)| e.severity == Severity::Fatal);
        self.events = rest;
        assert_eq!(fatal.len(), 1, "{fatal:?}");
        let violation = &fatal[0].1.violation;
        assert_eq!(violation.rule, "CXL68-VIR-02");
        assert!(violation.found.ends_with(&format!("{logical_devices:#06x}")), "{violation}");
    }

    /// Ends a run that must end well: all answered, memory as expected, credits home, no event but repaired ones.
    pub fn assert_no_loss(&mut self) {
        self.settle();
        assert_eq!(self.broken, []);
        let repaired = |e: &LinkEvent| matches!(e.severity, Severity::Corrected | Severity::Retrain);
        let unrepaired: Vec<_> = self.events.iter().filter(|(_, e)| !repaired(e)).collect();
        assert!(unrepaired.is_empty(), "{}: {}", unrepaired[0].0, unrepaired[0].1);
        let spaces = [(&self.device_space, &self.device_memory), (&self.host_space, &self.host_memory)];
        for (asker, memory) in spaces {
            for line in (0..128).map(|n| 64 * n) {
                assert_eq!(memory.read_line(line), asker.expected.read_line(line), "line {line:#x}");
            }
        }
    }

    /// Every end holds as many credits as the other one has buffers, and every stored flit has a number at the peer.
    fn all_home(&mut self) {
        let mut found = Vec::new();
        for (end, peer) in [(&self.pair.host, &self.pair.device), (&self.pair.device, &self.pair.host)] {
            let maximum = (1u32 << end.config().link.credit_counter_bits) - 1;
            for class in Class::ALL.into_iter().filter(|c| end.config().sends[c.index()]) {
                let home = u32::from(end.credits().spend[class.index()]);
                let all = u32::from(peer.config().buffers[class.index()]).min(maximum);
                if home != all {
                    found.push(format!("{home} of {all} credits for {}", class.def().name));
                }
            }
            let (kept, due) = (end.buffer().unacknowledged(), peer.num_ack());
            if kept != due {
                found.push(format!("{kept} flits in the retry buffer, {due} to acknowledge"));
            }
        }
        for text in found {
            self.broke("SIM-E2E-03", text);
        }
    }

    // ---- agents --------------------------------------------------------------------------------------------------

    fn at_device(&mut self, message: &Cxl68Message) {
        match message.class {
            Class::M2sReq => {
                let req = M2sReq::from_bits(message.bits);
                let hint = req.opcode == M2sReqOpcode::MemSpecRd;
                if self.fault == Some(AgentFault::Swallows(req.tag))
                    || hint && self.fault != Some(AgentFault::CompletesHints)
                {
                    return;
                }
                let line = self.device_memory.read_line(req.address);
                let poison = line.poison || self.fault == Some(AgentFault::PoisonsCleanData);
                let drs = S2mDrs { meta_field: MetaField::NoOp, tag: req.tag, poison, ..S2mDrs::default() };
                self.send(Dir::Up, Cxl68Message::with_data(Class::S2mDrs, bits(&drs), Data::line(line.data)));
            }
            Class::M2sRwd => {
                let rwd = M2sRwd::from_bits(message.bits);
                let data = message.data.expect("a write has data");
                let keeps = self.fault == Some(AgentFault::KeepsByteEnables) && data.byte_enables.is_none();
                if !keeps {
                    self.last_enables = data.enabled();
                }
                self.device_memory.write_line(rwd.address, &data.bytes, self.last_enables, rwd.poison);
                if self.fault != Some(AgentFault::Swallows(rwd.tag)) {
                    let ndr = S2mNdr { meta_field: MetaField::NoOp, tag: rwd.tag, ..S2mNdr::default() };
                    self.send(Dir::Up, Cxl68Message::new(Class::S2mNdr, bits(&ndr)));
                }
            }
            Class::H2dRsp => {
                let rsp = H2dRsp::from_bits(message.bits);
                let open = self.host_space.open.get(&rsp.cqid).copied();
                match (rsp.opcode, open) {
                    (H2dRspOpcode::WritePull, Some(Open { write: Some((data, poison)), .. })) => {
                        let uqid = rsp.rsp_data;
                        let chunk_valid = data.size == Size::UpperHalf;
                        let header = D2hData { uqid, chunk_valid, poison, ..D2hData::default() };
                        self.send(Dir::Up, Cxl68Message::with_data(Class::D2hData, bits(&header), data));
                    }
                    (H2dRspOpcode::GO, Some(Open { write: Some(_), .. })) => {
                        self.host_space.open.remove(&rsp.cqid);
                    }
                    _ => self.broke("SIM-E2E-02", format!("H2D Rsp of CQID {:#x} without a write", rsp.cqid)),
                }
            }
            Class::H2dData => {
                let header = H2dData::from_bits(message.bits);
                self.read_ended(Space::Host, header.cqid, message.data.map(|d| d.bytes), header.poison);
            }
            _ => self.broke("SIM-E2E-02", format!("{} at the device", message.class.def().name)),
        }
    }

    fn at_host(&mut self, message: &Cxl68Message) {
        match message.class {
            Class::S2mDrs => {
                let drs = S2mDrs::from_bits(message.bits);
                self.read_ended(Space::Device, drs.tag, message.data.map(|d| d.bytes), drs.poison);
            }
            Class::S2mNdr => {
                let tag = S2mNdr::from_bits(message.bits).tag;
                match self.device_space.open.get(&tag) {
                    Some(Open { write: Some(_), .. }) => {
                        self.device_space.open.remove(&tag);
                    }
                    _ => self.broke("SIM-E2E-02", format!("S2M NDR of tag {tag:#x} without a write")),
                }
            }
            Class::D2hReq => {
                let req = D2hReq::from_bits(message.bits);
                if req.opcode == D2hReqOpcode::RdCurr {
                    let line = self.host_memory.read_line(req.address);
                    let header = H2dData { cqid: req.cqid, poison: line.poison, ..H2dData::default() };
                    self.send(Dir::Down, Cxl68Message::with_data(Class::H2dData, bits(&header), Data::line(line.data)));
                } else {
                    // One write a CQID, so the CQID serves as UQID.
                    self.pulled.insert(req.cqid, (req.address, req.cqid));
                    self.respond(H2dRspOpcode::WritePull, req.cqid, req.cqid);
                }
            }
            Class::D2hData => {
                let header = D2hData::from_bits(message.bits);
                let Some((line, cqid)) = self.pulled.remove(&header.uqid) else {
                    self.broke("SIM-E2E-02", format!("D2H data of UQID {:#x} without a pull", header.uqid));
                    return;
                };
                let data = message.data.expect("D2H data has data");
                self.host_memory.write_line(line, &data.bytes, data.enabled(), header.poison);
                self.respond(H2dRspOpcode::GO, GoState::Invalid.0.into(), cqid);
            }
            _ => self.broke("SIM-E2E-02", format!("{} at the host", message.class.def().name)),
        }
    }

    fn respond(&mut self, opcode: H2dRspOpcode, rsp_data: u16, cqid: u16) {
        let rsp = H2dRsp { opcode, rsp_data, cqid, ..H2dRsp::default() };
        self.send(Dir::Down, Cxl68Message::new(Class::H2dRsp, bits(&rsp)));
    }

    fn read_ended(&mut self, space: Space, tag: u16, bytes: Option<LineBytes>, poison: bool) {
        let asker = self.asker(space);
        let Some(Open { line, write: None }) = asker.open.get(&tag).copied() else {
            let rule = if asker.hints.contains(&tag) { "CXL68-ENC-14" } else { "SIM-E2E-02" };
            self.broke(rule, format!("data for tag {tag:#x} without a read"));
            return;
        };
        asker.open.remove(&tag);
        let expected = asker.expected.read_line(line);
        let bytes = bytes.unwrap_or([0; 64]);
        if (bytes, poison) != (expected.data, expected.poison) {
            self.broke("SIM-E2E-01", format!("line {line:#x}: poison {poison}, expected {}", expected.poison));
        }
        self.reads.push((line, bytes, poison));
    }
}

/// The half that travels; the other bytes are 0, as a receiver sees them.
fn kept(mut bytes: LineBytes, size: Size) -> LineBytes {
    for (n, byte) in bytes.iter_mut().enumerate() {
        if size.bytes_mask() >> n & 1 == 0 {
            *byte = 0;
        }
    }
    bytes
}
