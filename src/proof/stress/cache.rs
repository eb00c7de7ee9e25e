//! CXL.cache under stress: 1 to 16 devices by CacheID, the home, the host's own core.

use super::rig::{Asked, Dice, Need, Rig, Who};
use scalepool_coherence::agent::{Accept, Agent, Out, Port};
use scalepool_coherence::cache::backing::{Backing, Flat};
use scalepool_coherence::cache::device::{Bytes, Device};
use scalepool_coherence::cache::home::{Home, Task};
use scalepool_coherence::cache::requests::{Kind, REQUESTS};
use scalepool_coherence::cache::state::At;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{Line, LineAddr, WHOLE_LINE};
use scalepool_coherence::message::{Dir, Msg};
use scalepool_coherence::monitor::{CopyView, View};
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode as Op;

/// The agents.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CacheRig {
    devices: Vec<Device<Line>>,
    home: Home<Line, Flat<Line>>,
}

impl CacheRig {
    /// Empty caches.
    pub fn new(devices: usize) -> Self {
        Self { devices: vec![Device::new(); devices.clamp(1, 16)], home: Home::new(Flat::default()) }
    }
}

impl Rig for CacheRig {
    const TO_LEAF: Dir = Dir::Down;
    const READS_FOLLOW_WRITES: bool = true;

    fn leaves(&self) -> usize {
        self.devices.len()
    }

    fn name(&self, who: Who) -> String {
        match who {
            Who::Leaf(n) => format!("device {n}"),
            Who::Hub => "home".into(),
        }
    }

    fn accepts(&self, config: &CoherenceConfig, who: Who, port: Port, msg: &Msg<Line>) -> Accept {
        match who {
            Who::Leaf(n) => self.devices[n].accepts(config, 0, msg),
            Who::Hub => self.home.accepts(config, port, msg),
        }
    }

    fn ways(&self, config: &CoherenceConfig, who: Who, port: Port, msg: &Msg<Line>) -> u8 {
        match who {
            Who::Leaf(n) => self.devices[n].ways(config, 0, msg),
            Who::Hub => self.home.ways(config, port, msg),
        }
    }

    fn take(&mut self, config: &CoherenceConfig, who: Who, port: Port, msg: Msg<Line>, way: u8, out: &mut Out<Line>) {
        match who {
            Who::Leaf(n) => self.devices[n].take(config, 0, msg, way, out),
            Who::Hub => self.home.take(config, port, msg, way, out),
        }
    }

    fn held(&self, actor: usize) -> usize {
        self.devices.get(actor).map_or(0, |d| d.lines().count())
    }

    fn holds(&self, actor: usize, line: LineAddr) -> bool {
        self.devices.get(actor).is_some_and(|d| d.entry(line).is_some())
    }

    fn load(&mut self, config: &CoherenceConfig, actor: usize, line: LineAddr, _: &mut Out<Line>) -> Option<Line> {
        self.devices.get(actor)?.load(config, line).copied()
    }

    fn store(
        &mut self,
        _: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        bytes: &Bytes<Line>,
        out: &mut Out<Line>,
    ) -> bool {
        self.devices.get_mut(actor).is_some_and(|d| d.store(line, bytes, out))
    }

    fn ask(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        need: Need,
        out: &mut Out<Line>,
    ) -> Asked {
        let Some(device) = self.devices.get_mut(actor) else {
            // The host's core works through the home: its reads come back as [`Effect::Used`], its writes are given away.
            return match need {
                Need::Copy | Need::Value if self.home.core_read(config, line, out) => Asked::Yes,
                Need::Ownership(b) if self.home.core_write(config, line, b.data, b.enables, out) => Asked::Written,
                _ => Asked::No,
            };
        };
        let (op, bytes) = match (need, device.at(line)) {
            (Need::Copy, At::I) => (Op::RdShared, None),
            (Need::Value, At::I) => (Op::RdCurr, None),
            (Need::Ownership(bytes), At::I) => (Op::RdOwn, Some(*bytes)),
            (Need::Ownership(bytes), At::S) => (Op::RdOwnNoData, Some(*bytes)),
            _ => return Asked::No,
        };
        match device.issue(op, line, bytes, out) {
            false => Asked::No,
            true if bytes.is_some() => Asked::Given,
            true => Asked::Yes,
        }
    }

    fn evict(&mut self, _: &CoherenceConfig, actor: usize, line: LineAddr, out: &mut Out<Line>) -> bool {
        let Some(device) = self.devices.get_mut(actor) else { return false };
        let op = match device.at(line) {
            At::M => Op::DirtyEvict,
            At::E => Op::CleanEvict,
            At::S => Op::CleanEvictNoData,
            _ => return false,
        };
        device.issue(op, line, None, out)
    }

    fn drop_dirty(&mut self, config: &CoherenceConfig, actor: usize, line: LineAddr) -> bool {
        let device = self.devices.get_mut(actor).filter(|d| d.at(line) == At::M);
        device.is_some_and(|d| d.drop_copy(config, line))
    }

    fn other(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        dice: &mut Dice,
        out: &mut Out<Line>,
    ) -> Option<Bytes<Line>> {
        let device = self.devices.get_mut(actor)?;
        if !dice.evicts_only && dice.once_in(64) && device.issue(Op::CacheFlushed, line, None, out) {
            return None;
        }
        if device.at(line) == At::I {
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
        if !device.can_issue(row.op, line) || dice.evicts_only && row.kind != Kind::Evict {
            return None;
        }
        let whole = [Op::ItoMWr, Op::WrCur, Op::WOWrInvF].contains(&row.op);
        if whole && dice.byte_owners {
            return None;
        }
        let bytes = (row.kind == Kind::Write).then(|| dice.bytes(actor, whole));
        // A waiting store of the whole line takes the other way where ownership comes without bytes.
        let store =
            (row.op == Op::RdOwnNoData && !dice.byte_owners && dice.once_in(2)).then(|| dice.bytes(actor, true));
        let bytes = bytes.or(store);
        device.issue(row.op, line, bytes, out);
        bytes
    }

    fn writer(
        &self,
        port: Option<Port>,
        msg: Option<&Msg<Line>>,
        matches: &dyn Fn(usize, &Msg<Line>) -> bool,
    ) -> usize {
        match (port, msg) {
            (Some(port), Some(msg @ Msg::D2hData { .. })) if matches(usize::from(port), msg) => port.into(),
            _ => self.devices.len(),
        }
    }

    fn view(&self, config: &CoherenceConfig, line: LineAddr, view: &mut View<Line>) {
        view.home = self.home.memory.read(line);
        view.tracked = self.home.holders(line).all();
        for (agent, device) in self.devices.iter().enumerate() {
            let Some(entry) = device.entry(line) else { continue };
            let Some(copy) = entry.data.as_ref().filter(|_| entry.at.has_copy()) else { continue };
            let usable = device.may_load(config, line);
            // O12: the tracking of an evict may have ended, its GO is on its way.
            if !usable {
                view.tracked.insert(agent as Port);
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

    fn kept(&self, line: LineAddr, values: &mut Vec<Line>) {
        values.extend(self.home.open().iter().filter(|t| t.line == line).flat_map(|t| t.values()).copied());
        let early = self.devices.iter().filter_map(|d| d.entry(line)).filter(|e| !e.at.has_copy());
        values.extend(early.filter_map(|e| e.data.filter(|b| b.enables == WHOLE_LINE)).map(|b| b.data));
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
