//! The agents of CXL.cache in front of cores, and as the watcher reads them.

use super::accessor::{Caching, CoreOperation, LineRequestOutcome};
use super::coverage::{self, Point};
use super::watcher::{HomeView, Watched, nodes_at};
use crate::agent::AgentOutput;
use crate::cache::backing::Backing;
use crate::cache::device::{DeviceCache, WriteBytes};
use crate::cache::home::{HomeAgent, HomeTransaction, Phase};
use crate::cache::state::{CacheLineState, HostAnswer, Snoop};
use crate::config::CoherenceConfig;
use crate::content::{CacheLine, LineAddr, LineContent};
use crate::message::Msg;
use crate::monitor::CopyView;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, DrsOpcode};

/// Memory of any size: the lines that were written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Sparse(OrderedMap<LineAddr, CacheLine>);

impl Backing<CacheLine> for Sparse {
    fn read(&self, line: LineAddr) -> CacheLine {
        self.0.get(&line).copied().unwrap_or_else(|| CacheLine::initial(line))
    }

    fn write(&mut self, line: LineAddr, data: &CacheLine, enables: u64) {
        self.0.entry(line).or_insert_with(|| CacheLine::initial(line)).merge(data, enables);
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut CacheLine)) {
        self.0.values_mut().for_each(f);
    }
}

impl Caching for DeviceCache<CacheLine> {
    fn value(&mut self, config: &CoherenceConfig, line: LineAddr, _: &mut AgentOutput<CacheLine>) -> Option<CacheLine> {
        self.load(config, line).copied()
    }

    fn store(
        &mut self,
        _: &CoherenceConfig,
        line: LineAddr,
        bytes: &CacheLine,
        enables: u64,
        out: &mut AgentOutput<CacheLine>,
    ) -> bool {
        DeviceCache::store(self, line, &WriteBytes { data: *bytes, enables }, out)
    }

    fn ask(
        &mut self,
        _: &CoherenceConfig,
        line: LineAddr,
        act: &CoreOperation,
        out: &mut AgentOutput<CacheLine>,
    ) -> LineRequestOutcome {
        let (op, bytes) = match (act, self.at(line)) {
            (CoreOperation::Load, CacheLineState::I) => (D2hReqOpcode::RdShared, None),
            (CoreOperation::Store { bytes, enables }, at @ (CacheLineState::I | CacheLineState::S)) => {
                let op = if at == CacheLineState::I { D2hReqOpcode::RdOwn } else { D2hReqOpcode::RdOwnNoData };
                (op, Some(WriteBytes { data: *bytes, enables: *enables }))
            }
            _ => return LineRequestOutcome::NotNow,
        };
        let store = bytes.is_some();
        match self.issue(op, line, bytes, out) {
            false => LineRequestOutcome::NotNow,
            true if store => LineRequestOutcome::Store,
            true => LineRequestOutcome::Copy,
        }
    }

    fn ask_to_own(&mut self, _: &CoherenceConfig, line: LineAddr, out: &mut AgentOutput<CacheLine>) {
        match self.at(line) {
            CacheLineState::I => self.issue(D2hReqOpcode::RdOwn, line, None, out),
            CacheLineState::S => self.issue(D2hReqOpcode::RdOwnNoData, line, None, out),
            _ => false,
        };
    }

    fn evict(&mut self, _: &CoherenceConfig, line: LineAddr, out: &mut AgentOutput<CacheLine>) -> bool {
        let op = match self.at(line) {
            CacheLineState::M => D2hReqOpcode::DirtyEvict,
            CacheLineState::E => D2hReqOpcode::CleanEvict,
            CacheLineState::S => D2hReqOpcode::CleanEvictNoData,
            _ => return false,
        };
        self.issue(op, line, None, out)
    }

    fn lines(&self) -> Vec<LineAddr> {
        DeviceCache::lines(self).map(|(line, _)| line).collect()
    }
}

impl Watched for DeviceCache<CacheLine> {
    fn copy(&self, config: &CoherenceConfig, line: LineAddr) -> Option<CopyView<CacheLine>> {
        let entry = self.entry(line).filter(|entry| entry.at.has_copy())?;
        Some(CopyView {
            agent: 0,
            usable: self.may_load(config, line),
            writable: entry.at.may_store(),
            dirty: entry.at.is_dirty(),
            value: entry.data.as_ref()?.data,
        })
    }

    fn lines_of(&self, msg: &Msg<CacheLine>) -> Vec<LineAddr> {
        let asked = match *msg {
            Msg::H2dRsp { cqid, .. } | Msg::H2dData { cqid, .. } => self.asked(cqid),
            _ => msg.line(),
        };
        asked.into_iter().collect()
    }

    fn home(&self, _: LineAddr) -> Option<HomeView> {
        None
    }

    fn row(&self, msg: &Msg<CacheLine>) -> Option<Point> {
        match *msg {
            Msg::H2dReq { opcode, line, .. } => coverage::snoop(self.at(line), Snoop::of(opcode)?),
            Msg::H2dRsp { opcode, rsp_data, cqid } => {
                coverage::answer(self.at(self.asked(cqid)?), Some(HostAnswer::of(opcode, rsp_data)?))
            }
            Msg::H2dData { cqid, .. } => coverage::answer(self.at(self.asked(cqid)?), None),
            _ => None,
        }
    }

    fn early(&self, line: LineAddr) -> Option<CacheLine> {
        self.entry(line).filter(|entry| !entry.at.has_copy())?.data.as_ref().map(|bytes| bytes.data)
    }
}

impl<B: Backing<CacheLine>> Watched for HomeAgent<CacheLine, B> {
    fn row(&self, msg: &Msg<CacheLine>) -> Option<Point> {
        match *msg {
            Msg::D2hReq { opcode, .. } => coverage::request(opcode),
            Msg::D2hRsp { opcode, .. } => coverage::reading(opcode),
            _ => None,
        }
    }

    fn copy(&self, _: &CoherenceConfig, _: LineAddr) -> Option<CopyView<CacheLine>> {
        None
    }

    fn fetched(&self, msg: &Msg<CacheLine>) -> Option<(LineAddr, CacheLine)> {
        let Msg::S2mDrs { opcode: DrsOpcode::MemData, tag, data, .. } = *msg else { return None };
        let asks = |t: &&HomeTransaction<CacheLine>| u16::from(t.slot) == tag && t.phase == Phase::Fetching;
        self.open().iter().find(asks).map(|t| (t.line, data))
    }

    fn lines_of(&self, msg: &Msg<CacheLine>) -> Vec<LineAddr> {
        HomeAgent::lines_of(self, msg)
    }

    fn home(&self, line: LineAddr) -> Option<HomeView> {
        let kept = self.open().iter().filter(|t| t.line == line).flat_map(|t| t.values()).copied().collect();
        Some(HomeView {
            value: self.memory.has(line).then(|| self.memory.read(line)),
            tracked: nodes_at(&self.holders(line).all()),
            kept,
            device_bias: None,
        })
    }

    fn early(&self, _: LineAddr) -> Option<CacheLine> {
        None
    }
}
