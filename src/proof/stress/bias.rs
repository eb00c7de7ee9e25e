//! HDM-D under stress: one host and one device that flip lines between their biases.

use super::mem::{ask_host, other_of_host, view_of_host};
use super::rig::{Dice, Need, Rig, StressRequestOutcome, StressRig, Who};
use scalepool_coherence::agent::{Accept, Agent, AgentOutput, AgentPort};
use scalepool_coherence::bias::device::{Bias, BiasDevice};
use scalepool_coherence::bias::host::BiasHost;
use scalepool_coherence::bias::tables::ROWS;
use scalepool_coherence::cache::device::WriteBytes;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::mem::host::{HostAccess, HostReq};
use scalepool_coherence::mem::tables::{Copy4, HdmRegion};
use scalepool_coherence::message::{Dir, Msg};
use scalepool_coherence::monitor::{CopyView, View};
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode as Op;

/// The host, actor 0, and the device, actor 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BiasRig {
    host: BiasHost<CacheLine>,
    device: BiasDevice<CacheLine>,
}

const HOST: usize = 0;
const DEVICE: usize = 1;

/// Requests of a host to HDM-D (`coherence` §3.2).
const REQUESTS: &[HostReq] = &[
    HostReq::RD_ANY,
    HostReq::RD_SHARED,
    HostReq::RD_FLUSH,
    HostReq::RD_ONCE,
    HostReq::RD_NOOP_CUR,
    HostReq::RD_NOOP,
    HostReq::RD_DATA,
    HostReq::INV,
    HostReq::FLUSH,
];

impl BiasRig {
    /// Nobody holds anything.
    pub fn new() -> Self {
        Self { host: BiasHost::new(0), device: BiasDevice::new() }
    }
}

impl Rig for BiasRig {
    const TO_LEAF: Dir = Dir::Up;

    fn leaves(&self) -> usize {
        1
    }

    fn name(&self, who: Who) -> String {
        if who == Who::Hub { "device".into() } else { "host".into() }
    }

    fn accepts(&self, config: &CoherenceConfig, who: Who, _: AgentPort, msg: &Msg<CacheLine>) -> Accept {
        match who {
            Who::Leaf(_) => self.host.accepts(config, 0, msg),
            Who::Hub => self.device.accepts(config, 0, msg),
        }
    }

    fn take(
        &mut self,
        config: &CoherenceConfig,
        who: Who,
        _: AgentPort,
        msg: Msg<CacheLine>,
        way: u8,
        out: &mut AgentOutput<CacheLine>,
    ) {
        match who {
            Who::Leaf(_) => self.host.take(config, 0, msg, way, out),
            Who::Hub => self.device.take(config, 0, msg, way, out),
        }
    }

    fn holds(&self, actor: usize, line: LineAddr) -> bool {
        actor == DEVICE || self.host.mem.lines().any(|l| l == line)
    }

    fn load(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        out: &mut AgentOutput<CacheLine>,
    ) -> Option<CacheLine> {
        match actor {
            HOST => self.host.mem.load(config, line, out),
            _ => self.device.own(line).1.filter(|_| self.device.can_load(line)),
        }
    }

    fn store(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        bytes: &WriteBytes<CacheLine>,
        out: &mut AgentOutput<CacheLine>,
    ) -> bool {
        match actor {
            HOST => {
                (self.host.is_free(line) || self.host.mem.due(line).stores())
                    && self.host.mem.store(config, line, bytes.data, bytes.enables, out)
            }
            _ => self.device.store(line, &bytes.data, bytes.enables, out),
        }
    }

    fn ask(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        need: Need,
        out: &mut AgentOutput<CacheLine>,
    ) -> StressRequestOutcome {
        if actor == HOST {
            let free = self.host.is_free(line);
            return if free { ask_host(&mut self.host.mem, line, need, out) } else { StressRequestOutcome::No };
        }
        let op = match (need, self.device.own(line).0) {
            (Need::Copy, Copy4::I) => Op::RdShared,
            (Need::Value, Copy4::I) => Op::RdCurr,
            (Need::Ownership(_) | Need::Update, Copy4::I) => Op::RdOwn,
            (Need::Ownership(_) | Need::Update, Copy4::S) => Op::RdOwnNoData,
            _ => return StressRequestOutcome::No,
        };
        if !self.device.can_issue(line, op) {
            return StressRequestOutcome::No;
        }
        self.device.issue(config, line, op, None, out);
        StressRequestOutcome::Yes
    }

    fn due(&self, actor: usize, line: LineAddr) -> HostAccess {
        if actor == HOST { self.host.mem.due(line) } else { HostAccess::Nothing }
    }

    /// A clean copy of the host leaves without a message: MemClnEvct is none of HDM-D.
    fn evict(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        out: &mut AgentOutput<CacheLine>,
    ) -> bool {
        if actor == HOST {
            let host = &mut self.host;
            let (free, state) = (host.is_free(line), host.mem.copy(line).state);
            if free && host.mem.can_write_back(line) {
                host.mem.write_back(line, Copy4::I, out);
            } else if free {
                host.mem.drop_clean(line);
            }
            return free && state != Copy4::I;
        }
        let op = match self.device.own(line).0 {
            Copy4::M => Op::DirtyEvict,
            Copy4::E => Op::CleanEvict,
            Copy4::S => Op::CleanEvictNoData,
            Copy4::I => return false,
        };
        let can = self.device.can_issue(line, op);
        if can {
            self.device.issue(config, line, op, None, out);
        }
        can
    }

    fn drop_dirty(&mut self, config: &CoherenceConfig, actor: usize, line: LineAddr) -> bool {
        actor == HOST && self.host.is_free(line) && self.host.mem.drop_dirty(config, line)
    }

    fn view(&self, _: &CoherenceConfig, line: LineAddr, view: &mut View<CacheLine>) {
        view.home = self.device.memory(line);
        view.tracked = IdSet::one(DEVICE as AgentPort);
        if self.device.bias(line) == Bias::Host {
            view.tracked.insert(HOST as AgentPort);
        }
        view.copies.extend(view_of_host(&self.host.mem, HOST, line));
        if let (state, Some(value)) = self.device.own(line)
            && state != Copy4::I
        {
            let (writable, dirty) = (state >= Copy4::E, state == Copy4::M);
            view.copies.push(CopyView { agent: DEVICE, usable: true, writable, dirty, value });
        }
    }

    fn awaits(&self, actor: usize, line: LineAddr) -> bool {
        if actor == HOST { self.host.mem.awaits(line) } else { self.device.is_pending(line) }
    }

    fn is_idle(&self) -> bool {
        self.host.is_idle() && self.device.is_idle()
    }
}

impl StressRig for BiasRig {
    const REGION: HdmRegion = HdmRegion::HdmD;

    fn ways(&self, config: &CoherenceConfig, who: Who, _: AgentPort, msg: &Msg<CacheLine>) -> u8 {
        match who {
            Who::Leaf(_) => self.host.ways(config, 0, msg),
            Who::Hub => self.device.ways(config, 0, msg),
        }
    }

    fn held(&self, actor: usize) -> usize {
        if actor == HOST { self.host.mem.lines().count() } else { 0 }
    }

    fn other(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        dice: &mut Dice,
        out: &mut AgentOutput<CacheLine>,
    ) -> Option<WriteBytes<CacheLine>> {
        if actor == HOST {
            if self.host.is_free(line) && self.host.mem.lines().all(|l| self.host.is_free(l)) {
                other_of_host(&mut self.host.mem, line, REQUESTS, dice, out);
            }
            return None;
        }
        let row = &ROWS[dice.below(ROWS.len())];
        let op = row.opcodes[dice.below(row.opcodes.len())];
        let evict = [Op::CleanEvict, Op::CleanEvictNoData, Op::DirtyEvict].contains(&op);
        if !self.device.can_issue(line, op) || dice.evicts_only && !evict {
            return None;
        }
        let bytes = match op {
            Op::WrInv | Op::WOWrInv => Some(dice.bytes(actor, false)),
            Op::ItoMWr | Op::WrCur | Op::WOWrInvF if dice.byte_owners => return None,
            Op::ItoMWr | Op::WrCur | Op::WOWrInvF => Some(dice.bytes(actor, true)),
            _ => None,
        };
        self.device.issue(config, line, op, bytes.map(|b| (b.data, b.enables)), out);
        bytes
    }

    /// Only the device writes by message.
    fn writer(
        &self,
        _: Option<AgentPort>,
        _: Option<&Msg<CacheLine>>,
        _: &dyn Fn(usize, &Msg<CacheLine>) -> bool,
    ) -> usize {
        DEVICE
    }

    fn kept(&self, line: LineAddr, values: &mut Vec<CacheLine>) {
        values.extend(self.host.mem.arrived(line).copied());
    }

    /// V13.
    fn check(&self, _: &CoherenceConfig, line: LineAddr, events: &mut Vec<CoherenceEvent>) {
        let (bias, host, own) = (self.device.bias(line), self.host.mem.copy(line).state, self.device.own(line).0);
        if bias == Bias::Device && host != Copy4::I {
            let found = format!("the host in {}", host.letter());
            events.push(CoherenceEvent::new("COH-INV-13", line, "host", found, "no host copy in device bias"));
        }
        if bias == Bias::Host && own >= Copy4::E {
            let found = format!("the device in {} in host bias", own.letter());
            events.push(CoherenceEvent::new("COH-INV-13", line, "device", found, "ownership in device bias only"));
        }
    }
}
