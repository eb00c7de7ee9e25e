//! One device or one home on the bench, and explorations that several rules share.

pub use scalepool::coherence::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
pub use scalepool::coherence::cache::backing::{Backing, Flat};
pub use scalepool::coherence::cache::device::{DeviceCache, WriteBytes};
pub use scalepool::coherence::cache::home::{Holders, HomeAgent, uqid};
pub use scalepool::coherence::cache::state::{CacheLineState, HostAnswer, Snoop};
pub use scalepool::coherence::config::{CleanEvictAnswer, CoherenceConfig, WithoutBytes};
pub use scalepool::coherence::content::{Age, CacheLine, LineAddr, LineContent, LineToken, WHOLE_LINE};
pub use scalepool::coherence::ids::IdSet;
pub use scalepool::coherence::message::Msg;
pub use scalepool::proof::explore::{Counterexample, ExplorationReport, Limits, search};
pub use scalepool::proof::mutant::CoherenceMutant;
pub use scalepool::proof::systems::cache::{ALL_REQUESTS, HINTED_REQUESTS, Setup, system as cache_system};
pub use scalepool_protocols::cxl::cxl256::code::{
    D2hReqOpcode as Op, D2hRspOpcode as Rsp, H2dReqOpcode, H2dRspOpcode, M2sReqOpcode, MetaField, MetaValue, NdrOpcode,
    SnpType,
};
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

pub const LINE: LineAddr = LineAddr(0);

pub fn token(age: Age) -> LineToken {
    LineToken::of(LINE, age)
}

/// The bytes that a request needs.
pub fn bytes_of(op: Op) -> Option<WriteBytes<LineToken>> {
    let enables = match op {
        Op::WrInv | Op::WOWrInv => 1,
        Op::ItoMWr | Op::WrCur | Op::WOWrInvF => WHOLE_LINE,
        _ => return None,
    };
    Some(WriteBytes { data: token(Age::New), enables })
}

/// A device on the bench.
#[derive(Clone)]
pub struct Bench {
    pub device: DeviceCache<LineToken>,
    pub config: CoherenceConfig,
}

impl Bench {
    pub fn new(start: CacheLineState) -> Self {
        let mut device = DeviceCache::new();
        device.preset(LINE, start, token(Age::Current));
        Self { device, config: CoherenceConfig::default() }
    }

    pub fn issued(start: CacheLineState, op: Op) -> Self {
        let mut bench = Self::new(start);
        assert!(bench.issue(op), "{op:?} from {start:?}");
        bench
    }

    pub fn issue(&mut self, op: Op) -> bool {
        self.device.issue(op, LINE, bytes_of(op), &mut AgentOutput::default())
    }

    pub fn give(&mut self, msg: Msg<LineToken>, way: u8) -> AgentOutput<LineToken> {
        let mut out = AgentOutput::default();
        self.device.take(&self.config, 0, msg, way, &mut out);
        out
    }

    pub fn answer(&mut self, answer: HostAnswer) -> AgentOutput<LineToken> {
        self.give(rsp(answer, 0), 0)
    }

    pub fn data(&mut self) -> AgentOutput<LineToken> {
        self.give(Msg::H2dData { cqid: 0, go_err: false, data: token(Age::Current) }, 0)
    }

    pub fn snoop(&mut self, snoop: Snoop, way: u8) -> AgentOutput<LineToken> {
        self.give(Msg::H2dReq { opcode: snoop.code(), line: LINE, uqid: 0x30 }, way)
    }

    pub fn at(&self) -> CacheLineState {
        self.device.at(LINE)
    }
}

/// An H2D Rsp; pulls carry UQID 0x21.
pub fn rsp(answer: HostAnswer, cqid: u16) -> Msg<LineToken> {
    let (opcode, state) = answer.code();
    Msg::H2dRsp { opcode, rsp_data: state.map_or(0x21, |s| u16::from(s.0)), cqid }
}

pub fn rules(out: &AgentOutput<LineToken>) -> Vec<&'static str> {
    out.events.iter().map(|e| e.rule).collect()
}

/// D2H Data that left: (UQID, Bogus).
pub fn data_sent(out: &AgentOutput<LineToken>) -> Vec<(u16, bool)> {
    out.sends
        .iter()
        .filter_map(|(_, m)| if let Msg::D2hData { uqid, bogus, .. } = m { Some((*uqid, *bogus)) } else { None })
        .collect()
}

/// D2H Rsp that left.
pub fn rsp_sent(out: &AgentOutput<LineToken>) -> Vec<Rsp> {
    out.sends
        .iter()
        .filter_map(|(_, m)| if let Msg::D2hRsp { opcode, .. } = m { Some(*opcode) } else { None })
        .collect()
}

/// H2D Rsp that left, with its port.
pub fn answers_sent(out: &AgentOutput<LineToken>) -> Vec<(AgentPort, HostAnswer)> {
    out.sends
        .iter()
        .filter_map(|(port, m)| match m {
            Msg::H2dRsp { opcode, rsp_data, .. } => Some((*port, HostAnswer::of(*opcode, *rsp_data)?)),
            _ => None,
        })
        .collect()
}

/// Snoops that left, with their ports.
pub fn snoops_sent(out: &AgentOutput<LineToken>) -> Vec<(AgentPort, Snoop)> {
    out.sends
        .iter()
        .filter_map(|(port, m)| match m {
            Msg::H2dReq { opcode, .. } => Some((*port, Snoop::of(*opcode)?)),
            _ => None,
        })
        .collect()
}

/// A home on the bench.
#[derive(Clone)]
pub struct HomeBench {
    pub home: HomeAgent<LineToken, Flat<LineToken>>,
    pub config: CoherenceConfig,
}

impl HomeBench {
    pub fn new(owner: Option<AgentPort>, sharers: u64) -> Self {
        let mut home = HomeAgent::new(Flat::default());
        home.memory.write(LINE, &token(Age::Stale), WHOLE_LINE);
        home.set_holders(LINE, Holders { owner, sharers: IdSet::of_bits(sharers) });
        Self { home, config: CoherenceConfig::default() }
    }

    pub fn give(&mut self, port: AgentPort, msg: Msg<LineToken>) -> AgentOutput<LineToken> {
        let mut out = AgentOutput::default();
        self.home.take(&self.config, port, msg, 0, &mut out);
        out
    }

    pub fn request(&mut self, port: AgentPort, op: Op) -> AgentOutput<LineToken> {
        self.give(port, Msg::D2hReq { opcode: op, line: LINE, cqid: 7 })
    }

    pub fn reply(&mut self, port: AgentPort, opcode: Rsp) -> AgentOutput<LineToken> {
        self.give(port, Msg::D2hRsp { opcode, uqid: uqid(0, port) })
    }

    pub fn data(&mut self, port: AgentPort, bogus: bool, age: Age) -> AgentOutput<LineToken> {
        let data = token(age);
        self.give(port, Msg::D2hData { uqid: uqid(0, port), bogus, data, enables: WHOLE_LINE })
    }

    pub fn memory(&self) -> Age {
        self.home.memory.read(LINE).age
    }

    pub fn holders(&self) -> (Option<AgentPort>, u64) {
        let h = self.home.holders(LINE);
        (h.owner, h.sharers.iter().fold(0, |bits, port| bits | 1 << port))
    }
}

/// Two devices and the host's core, all requests, every legal answer: clean. The report is shared by the rules that ask
/// for exactly this.
pub fn explored() -> &'static ExplorationReport {
    static REPORT: OnceLock<ExplorationReport> = OnceLock::new();
    REPORT.get_or_init(|| {
        let config = CoherenceConfig { alternatives: true, silent_drop_e: true, ..CoherenceConfig::default() };
        let mut setup = Setup::free(config, 2, ALL_REQUESTS);
        setup.core = true;
        clean(search(&cache_system(setup), Limits::default()))
    })
}

/// The report of a search that has found nothing.
pub fn clean(report: ExplorationReport) -> ExplorationReport {
    if let Some(v) = &report.violation {
        panic!("{}\n{}", v.event, v.chart().text());
    }
    assert!(report.complete);
    report
}

/// The way to the first fault when one rule is off.
pub fn counterexample(mutant: CoherenceMutant, devices: u16, orders: bool) -> Option<Counterexample> {
    let config =
        CoherenceConfig { rules: mutant.rules(), clean_evict: CleanEvictAnswer::Pull, ..CoherenceConfig::default() };
    let mut setup = Setup::free(config, devices, ALL_REQUESTS);
    setup.orders = orders;
    search(&cache_system(setup), Limits { states: 400_000, symmetry: devices > 2, ..Limits::default() }).violation
}

/// The rule that the counterexample of a mutant breaks. Several tests ask for the same one.
pub fn killer(mutant: CoherenceMutant, orders: bool) -> &'static str {
    static FOUND: Mutex<BTreeMap<(CoherenceMutant, bool), &'static str>> = Mutex::new(BTreeMap::new());
    if let Some(rule) = FOUND.lock().expect("no test panics here").get(&(mutant, orders)) {
        return rule;
    }
    let found = counterexample(mutant, 2, orders);
    let rule = found.map_or("none", |v| v.event.rule);
    FOUND.lock().expect("no test panics here").insert((mutant, orders), rule);
    rule
}
