//! CXL.cache under stress: 1 to 16 devices by CacheID, the home, the host's own core.

use super::rig::{Dice, Need, Rig, StressRequestOutcome, StressRig, Who};
use scalepool_coherence::agent::{Accept, Agent, AgentOutput, AgentPort};
use scalepool_coherence::cache::backing::{Backing, Flat};
use scalepool_coherence::cache::device::{DeviceCache, WriteBytes};
use scalepool_coherence::cache::home::{HomeAgent, Task};
use scalepool_coherence::cache::requests::{CacheRequestKind, REQUESTS};
use scalepool_coherence::cache::state::CacheLineState;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LineAddr, WHOLE_LINE};
use scalepool_coherence::message::{Dir, Msg};
use scalepool_coherence::monitor::{CopyView, View};
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode as Op;

/// The agents.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CacheRig {
    devices: Vec<DeviceCache<CacheLine>>,
    home: HomeAgent<CacheLine, Flat<CacheLine>>,
}

impl CacheRig {
    /// Empty caches.
    pub fn new(devices: usize) -> Self {
        Self { devices: vec![DeviceCache::new(); devices.clamp(1, 16)], home: HomeAgent::new(Flat::default()) }
    }
}

impl Rig for CacheRig {
    const TO_LEAF: Dir = Dir::Down;

    fn leaves(&self) -> usize {
        self.devices.len()
    }

    fn name(&self, who: Who) -> String {
        match who {
            Who::Leaf(n) => format!("device {n}"),
            Who::Hub => "home".into(),
        }
    }

    fn accepts(&self, config: &CoherenceConfig, who: Who, port: AgentPort, msg: &Msg<CacheLine>) -> Accept {
        match who {
            Who::Leaf(n) => self.devices[n].accepts(config, 0, msg),
            Who::Hub => self.home.accepts(config, port, msg),
        }
    }

    fn take(
        &mut self,
        config: &CoherenceConfig,
        who: Who,
        port: AgentPort,
        msg: Msg<CacheLine>,
        way: u8,
        out: &mut AgentOutput<CacheLine>,
    ) {
        match who {
            Who::Leaf(n) => self.devices[n].take(config, 0, msg, way, out),
            Who::Hub => self.home.take(config, port, msg, way, out),
        }
    }

    fn holds(&self, actor: usize, line: LineAddr) -> bool {
        self.devices.get(actor).is_some_and(|d| d.entry(line).is_some())
    }

    fn load(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        _: &mut AgentOutput<CacheLine>,
    ) -> Option<CacheLine> {
        self.devices.get(actor)?.load(config, line).copied()
    }

    fn store(
        &mut self,
        _: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        bytes: &WriteBytes<CacheLine>,
        out: &mut AgentOutput<CacheLine>,
    ) -> bool {
        self.devices.get_mut(actor).is_some_and(|d| d.store(line, bytes, out))
    }

    fn ask(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        need: Need,
        out: &mut AgentOutput<CacheLine>,
    ) -> StressRequestOutcome {
        let Some(device) = self.devices.get_mut(actor) else {
            // The host's core works through the home: its reads come back as [`Effect::Used`], its writes are given away.
            return match need {
                Need::Copy | Need::Value if self.home.core_read(config, line, out) => StressRequestOutcome::Yes,
                Need::Ownership(b) if self.home.core_write(config, line, b.data, b.enables, out) => {
                    StressRequestOutcome::Written
                }
                _ => StressRequestOutcome::No,
            };
        };
        let (op, bytes) = match (need, device.at(line)) {
            (Need::Copy, CacheLineState::I) => (Op::RdShared, None),
            (Need::Value, CacheLineState::I) => (Op::RdCurr, None),
            (Need::Ownership(bytes), CacheLineState::I) => (Op::RdOwn, Some(*bytes)),
            (Need::Ownership(bytes), CacheLineState::S) => (Op::RdOwnNoData, Some(*bytes)),
            (Need::Update, CacheLineState::I) => (Op::RdOwn, None),
            (Need::Update, CacheLineState::S) => (Op::RdOwnNoData, None),
            _ => return StressRequestOutcome::No,
        };
        match device.issue(op, line, bytes, out) {
            false => StressRequestOutcome::No,
            true if bytes.is_some() => StressRequestOutcome::Given,
            true => StressRequestOutcome::Yes,
        }
    }

    fn evict(&mut self, _: &CoherenceConfig, actor: usize, line: LineAddr, out: &mut AgentOutput<CacheLine>) -> bool {
        let Some(device) = self.devices.get_mut(actor) else { return false };
        let op = match device.at(line) {
            CacheLineState::M => Op::DirtyEvict,
            CacheLineState::E => Op::CleanEvict,
            CacheLineState::S => Op::CleanEvictNoData,
            _ => return false,
        };
        device.issue(op, line, None, out)
    }

    fn drop_dirty(&mut self, config: &CoherenceConfig, actor: usize, line: LineAddr) -> bool {
        let device = self.devices.get_mut(actor).filter(|d| d.at(line) == CacheLineState::M);
        device.is_some_and(|d| d.drop_copy(config, line))
    }

    fn view(&self, config: &CoherenceConfig, line: LineAddr, view: &mut View<CacheLine>) {
        view.home = self.home.memory.read(line);
        view.tracked = self.home.holders(line).all();
        for (agent, device) in self.devices.iter().enumerate() {
            let Some(entry) = device.entry(line) else { continue };
            let Some(copy) = entry.data.as_ref().filter(|_| entry.at.has_copy()) else { continue };
            let usable = device.may_load(config, line);
            // O12: the tracking of an evict may have ended, its GO is on its way.
            if !usable {
                view.tracked.insert(agent as AgentPort);
            }
            view.copies.push(CopyView {
                agent,
                usable,
                writable: entry.at.may_store(),
                dirty: entry.at.is_dirty(),
                value: copy.data,
            });
        }
    }

    fn awaits(&self, actor: usize, line: LineAddr) -> bool {
        match self.devices.get(actor) {
            Some(device) => !device.at(line).is_stable(),
            None => self.home.open().iter().any(|t| t.line == line && !matches!(t.task, Task::Request { .. })),
        }
    }

    fn is_idle(&self) -> bool {
        self.home.is_idle() && self.devices.iter().all(Agent::is_idle)
    }
}

impl StressRig for CacheRig {
    const READS_FOLLOW_WRITES: bool = true;

    fn ways(&self, config: &CoherenceConfig, who: Who, port: AgentPort, msg: &Msg<CacheLine>) -> u8 {
        match who {
            Who::Leaf(n) => self.devices[n].ways(config, 0, msg),
            Who::Hub => self.home.ways(config, port, msg),
        }
    }

    fn held(&self, actor: usize) -> usize {
        self.devices.get(actor).map_or(0, |d| d.lines().count())
    }

    fn other(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        dice: &mut Dice,
        out: &mut AgentOutput<CacheLine>,
    ) -> Option<WriteBytes<CacheLine>> {
        let device = self.devices.get_mut(actor)?;
        if !dice.evicts_only && dice.once_in(64) && device.issue(Op::CacheFlushed, line, None, out) {
            return None;
        }
        if device.at(line) == CacheLineState::I {
            let held = device.lines().count();
            if held >= dice.cache_lines {
                let victim = device.lines().nth(dice.below(held)).map(|(l, _)| l)?;
                self.evict(config, actor, victim, out);
                return None;
            }
        } else if dice.once_in(4) && device.drop_copy(config, line) {
            return None;
        }
        let row = &REQUESTS[dice.below(REQUESTS.len())];
        if !device.can_issue(row.op, line) || dice.evicts_only && row.kind != CacheRequestKind::Evict {
            return None;
        }
        let whole = [Op::ItoMWr, Op::WrCur, Op::WOWrInvF].contains(&row.op);
        if whole && dice.byte_owners {
            return None;
        }
        let bytes = (row.kind == CacheRequestKind::Write).then(|| dice.bytes(actor, whole));
        // A waiting store of the whole line takes the other way where ownership comes without bytes.
        let store =
            (row.op == Op::RdOwnNoData && !dice.byte_owners && dice.once_in(2)).then(|| dice.bytes(actor, true));
        let bytes = bytes.or(store);
        device.issue(row.op, line, bytes, out);
        bytes
    }

    fn writer(
        &self,
        port: Option<AgentPort>,
        msg: Option<&Msg<CacheLine>>,
        matches: &dyn Fn(usize, &Msg<CacheLine>) -> bool,
    ) -> usize {
        match (port, msg) {
            (Some(port), Some(msg @ Msg::D2hData { .. })) if matches(usize::from(port), msg) => port.into(),
            _ => self.devices.len(),
        }
    }

    fn kept(&self, line: LineAddr, values: &mut Vec<CacheLine>) {
        values.extend(self.home.open().iter().filter(|t| t.line == line).flat_map(|t| t.values()).copied());
        let early = self.devices.iter().filter_map(|d| d.entry(line)).filter(|e| !e.at.has_copy());
        values.extend(early.filter_map(|e| e.data.filter(|b| b.enables == WHOLE_LINE)).map(|b| b.data));
    }
}
