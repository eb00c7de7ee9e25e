//! The agents of CXL.cache in front of cores, and as the watcher reads them.

use super::accessor::{Act, Asked, Caching};
use super::coverage::{self, Point};
use super::watcher::{HomeView, Watched, nodes_at};
use crate::agent::Out;
use crate::cache::backing::Backing;
use crate::cache::device::{Bytes, Device};
use crate::cache::home::Home;
use crate::cache::state::{Answer, At, Snoop};
use crate::config::CoherenceConfig;
use crate::content::{Content, Line, LineAddr};
use crate::message::Msg;
use crate::monitor::CopyView;
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode;
use std::collections::BTreeMap;

/// Memory of any size: the lines that were written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Sparse(BTreeMap<LineAddr, Line>);

impl Backing<Line> for Sparse {
    fn read(&self, line: LineAddr) -> Line {
        self.0.get(&line).copied().unwrap_or_else(|| Line::initial(line))
    }

    fn write(&mut self, line: LineAddr, data: &Line, enables: u64) {
        self.0.entry(line).or_insert_with(|| Line::initial(line)).merge(data, enables);
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut Line)) {
        self.0.values_mut().for_each(f);
    }
}

impl Caching for Device<Line> {
    fn value(&mut self, config: &CoherenceConfig, line: LineAddr, _: &mut Out<Line>) -> Option<Line> {
        self.load(config, line).copied()
    }

    fn store(&mut self, _: &CoherenceConfig, line: LineAddr, bytes: &Line, enables: u64, out: &mut Out<Line>) -> bool {
        Device::store(self, line, &Bytes { data: *bytes, enables }, out)
    }

    fn ask(&mut self, _: &CoherenceConfig, line: LineAddr, act: &Act, out: &mut Out<Line>) -> Asked {
        let (op, bytes) = match (act, self.at(line)) {
            (Act::Load, At::I) => (D2hReqOpcode::RdShared, None),
            (Act::Store { bytes, enables }, at @ (At::I | At::S)) => {
                let op = if at == At::I { D2hReqOpcode::RdOwn } else { D2hReqOpcode::RdOwnNoData };
                (op, Some(Bytes { data: *bytes, enables: *enables }))
            }
            _ => return Asked::NotNow,
        };
        let store = bytes.is_some();
        match self.issue(op, line, bytes, out) {
            false => Asked::NotNow,
            true if store => Asked::Store,
            true => Asked::Copy,
        }
    }

    fn evict(&mut self, _: &CoherenceConfig, line: LineAddr, out: &mut Out<Line>) -> bool {
        let op = match self.at(line) {
            At::M => D2hReqOpcode::DirtyEvict,
            At::E => D2hReqOpcode::CleanEvict,
            At::S => D2hReqOpcode::CleanEvictNoData,
            _ => return false,
        };
        self.issue(op, line, None, out)
    }

    fn lines(&self) -> Vec<LineAddr> {
        Device::lines(self).map(|(line, _)| line).collect()
    }
}

impl Watched for Device<Line> {
    fn copy(&self, config: &CoherenceConfig, line: LineAddr) -> Option<CopyView<Line>> {
        let entry = self.entry(line).filter(|entry| entry.at.has_copy())?;
        Some(CopyView {
            agent: 0,
            usable: self.may_load(config, line),
            writable: entry.at.may_store(),
            dirty: entry.at.is_dirty(),
            value: entry.data.as_ref()?.data,
        })
    }

    fn lines_of(&self, msg: &Msg<Line>) -> Vec<LineAddr> {
        let asked = match *msg {
            Msg::H2dRsp { cqid, .. } | Msg::H2dData { cqid, .. } => self.asked(cqid),
            _ => msg.line(),
        };
        asked.into_iter().collect()
    }

    fn home(&self, _: LineAddr) -> Option<HomeView> {
        None
    }

    fn row(&self, msg: &Msg<Line>) -> Option<Point> {
        match *msg {
            Msg::H2dReq { opcode, line, .. } => coverage::snoop(self.at(line), Snoop::of(opcode)?),
            Msg::H2dRsp { opcode, rsp_data, cqid } => {
                coverage::answer(self.at(self.asked(cqid)?), Some(Answer::of(opcode, rsp_data)?))
            }
            Msg::H2dData { cqid, .. } => coverage::answer(self.at(self.asked(cqid)?), None),
            _ => None,
        }
    }

    fn early(&self, line: LineAddr) -> Option<Line> {
        self.entry(line).filter(|entry| !entry.at.has_copy())?.data.as_ref().map(|bytes| bytes.data)
    }
}

impl<B: Backing<Line>> Watched for Home<Line, B> {
    fn row(&self, msg: &Msg<Line>) -> Option<Point> {
        match *msg {
            Msg::D2hReq { opcode, .. } => coverage::request(opcode),
            Msg::D2hRsp { opcode, .. } => coverage::reading(opcode),
            _ => None,
        }
    }

    fn copy(&self, _: &CoherenceConfig, _: LineAddr) -> Option<CopyView<Line>> {
        None
    }

    fn lines_of(&self, msg: &Msg<Line>) -> Vec<LineAddr> {
        Home::lines_of(self, msg)
    }

    fn home(&self, line: LineAddr) -> Option<HomeView> {
        let kept = self.open().iter().filter(|t| t.line == line).flat_map(|t| t.values()).copied().collect();
        Some(HomeView {
            value: self.memory.read(line),
            tracked: nodes_at(&self.holders(line).all()),
            kept,
            device_bias: None,
        })
    }

    fn early(&self, _: LineAddr) -> Option<Line> {
        None
    }
}
