//! The agents of HDM-DB in front of cores, and as the watcher reads them.

use super::accessor::{Caching, CoreOperation, LineRequestOutcome};
use super::coverage::{self, Point};
use super::watcher::{HomeView, Watched, nodes_at};
use crate::agent::AgentOutput;
use crate::config::CoherenceConfig;
use crate::content::{CacheLine, LineAddr, WHOLE_LINE};
use crate::ids::IdSet;
use crate::mem::dcoh::Dcoh;
use crate::mem::host::{HostAccess, HostCopy, HostReq, MemHost, block_lines};
use crate::mem::host_rows::MemHostInput;
use crate::mem::tables::Copy4;
use crate::message::Msg;
use crate::monitor::CopyView;
use scalepool_protocols::cxl::cxl256::code::{DrsOpcode, NdrOpcode};

impl Caching for MemHost<CacheLine> {
    fn value(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        out: &mut AgentOutput<CacheLine>,
    ) -> Option<CacheLine> {
        self.load(config, line, out)
    }

    fn store(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        bytes: &CacheLine,
        enables: u64,
        out: &mut AgentOutput<CacheLine>,
    ) -> bool {
        MemHost::store(self, config, line, *bytes, enables, out)
    }

    fn ask(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        act: &CoreOperation,
        out: &mut AgentOutput<CacheLine>,
    ) -> LineRequestOutcome {
        let whole = matches!(act, CoreOperation::Store { enables, .. } if *enables == WHOLE_LINE);
        let without_bytes = |copy: &HostCopy<CacheLine>| copy.state == Copy4::E && copy.data.is_none();
        if without_bytes(&self.copy(line)) && !whole {
            // Ownership without bytes is of no use to this access: it is given up (`coherence` §3.4), and the line read.
            self.decline(config, line, out);
            self.drop_clean(line);
        }
        let (request, want) = match (act, self.copy(line).state) {
            (CoreOperation::Load, Copy4::I) => (HostReq::RD_SHARED, HostAccess::Load),
            // With the bytes here, or about to be overwritten, ownership is enough.
            (CoreOperation::Store { enables, .. }, Copy4::S) => (HostReq::INV, HostAccess::store(*enables)),
            (CoreOperation::Store { .. }, Copy4::I) if whole => (HostReq::INV, HostAccess::Store),
            (CoreOperation::Store { .. }, Copy4::I) => (HostReq::RD_ANY, HostAccess::StorePart),
            _ => return LineRequestOutcome::NotNow,
        };
        if !self.can_issue(line, request) {
            return LineRequestOutcome::NotNow;
        }
        self.issue(line, request, want, out);
        LineRequestOutcome::Copy
    }

    fn evict(&mut self, _: &CoherenceConfig, line: LineAddr, out: &mut AgentOutput<CacheLine>) -> bool {
        if self.can_write_back(line) {
            self.write_back(line, Copy4::I, out);
            return true;
        }
        let clean = matches!(self.copy(line).state, Copy4::S | Copy4::E) && self.can_issue(line, HostReq::CLN_EVCT);
        if clean {
            self.issue(line, HostReq::CLN_EVCT, HostAccess::Nothing, out);
        }
        clean
    }

    fn lines(&self) -> Vec<LineAddr> {
        MemHost::lines(self).collect()
    }

    fn held(&self) -> usize {
        MemHost::held(self)
    }

    fn holds(&self, line: LineAddr) -> bool {
        MemHost::holds(self, line)
    }
}

impl Watched for MemHost<CacheLine> {
    fn copy(&self, _: &CoherenceConfig, line: LineAddr) -> Option<CopyView<CacheLine>> {
        let copy = MemHost::copy(self, line);
        let value = copy.data.filter(|_| copy.state != Copy4::I)?;
        Some(CopyView { agent: 0, usable: copy.usable, writable: copy.writable, dirty: copy.dirty, value })
    }

    fn lines_of(&self, msg: &Msg<CacheLine>) -> Vec<LineAddr> {
        match *msg {
            Msg::S2mNdr { tag, .. } | Msg::S2mDrs { tag, .. } => {
                self.tagged(tag).map(|(line, _)| line).into_iter().collect()
            }
            Msg::S2mBisnp { opcode, line, .. } if opcode.is_block() => {
                let block = block_lines(line).into_iter();
                block.flat_map(|(first, count)| (first.0..first.0 + count).map(LineAddr)).collect()
            }
            _ => msg.line().into_iter().collect(),
        }
    }

    fn home(&self, _: LineAddr) -> Option<HomeView> {
        None
    }

    fn row(&self, msg: &Msg<CacheLine>) -> Option<Point> {
        let (line, input) = match *msg {
            Msg::S2mBisnp { line, .. } => (line, MemHostInput::Snoop),
            Msg::S2mNdr { opcode, tag, .. } => {
                let (line, writes) = self.tagged(tag)?;
                let cmp = if writes { MemHostInput::WriteCmp } else { MemHostInput::Cmp };
                (line, if opcode == NdrOpcode::BIConflictAck { MemHostInput::Ack } else { cmp })
            }
            Msg::S2mDrs { tag, .. } => (self.tagged(tag)?.0, MemHostInput::Data),
            _ => return None,
        };
        coverage::host(self.phase(line), input)
    }

    fn early(&self, line: LineAddr) -> Option<CacheLine> {
        self.arrived(line).copied()
    }
}

/// The row of a CXL.mem message at a device.
pub(super) fn device_row(msg: &Msg<CacheLine>) -> Option<Point> {
    match *msg {
        Msg::M2sReq { opcode, snp, meta_field, meta, .. } => coverage::mem_request(opcode, meta_field, meta, snp),
        Msg::M2sRwd { opcode, snp, meta_field, meta, .. } => coverage::mem_write(opcode, meta_field, meta, snp),
        _ => None,
    }
}

impl Watched for Dcoh<CacheLine> {
    fn row(&self, msg: &Msg<CacheLine>) -> Option<Point> {
        device_row(msg)
    }

    fn copy(&self, _: &CoherenceConfig, _: LineAddr) -> Option<CopyView<CacheLine>> {
        None
    }

    fn lines_of(&self, msg: &Msg<CacheLine>) -> Vec<LineAddr> {
        self.busy_lines().chain(msg.line()).collect()
    }

    fn home(&self, line: LineAddr) -> Option<HomeView> {
        let tracked = self.holders(line).map_or(IdSet::EMPTY, |h| nodes_at(&h.all()));
        let value = self.has(line).then(|| self.memory(line));
        Some(HomeView { value, tracked, kept: self.unsent(line).copied().collect(), device_bias: None })
    }

    fn fetched(&self, msg: &Msg<CacheLine>) -> Option<(LineAddr, CacheLine)> {
        let Msg::S2mDrs { opcode: DrsOpcode::MemData, tag, data, .. } = *msg else { return None };
        self.fetching(tag).map(|line| (line, data))
    }

    fn passed_on(&self, msg: &Msg<CacheLine>) -> Option<(LineAddr, CacheLine, u64)> {
        Dcoh::passed_on(self, msg).map(|(line, data, enables)| (line, *data, enables))
    }

    fn early(&self, _: LineAddr) -> Option<CacheLine> {
        None
    }
}
