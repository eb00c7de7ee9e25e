//! The agents of HDM-D in front of cores, and as the watcher reads them.
//!
//! A core of the device reads with RdShared and owns with RdOwn or, from S, RdOwnNoData: each takes the line to device
//! bias when it owns. A core of the host reads with MemRd and owns with MemRd or MemInv, which takes the line back.

use super::accessor::{Caching, CoreOperation, LineRequestOutcome};
use super::coverage::{self, Point};
use super::mem::device_row;
use super::watcher::{HomeView, Watched};
use crate::agent::AgentOutput;
use crate::bias::{Bias, BiasDevice, BiasHost};
use crate::config::CoherenceConfig;
use crate::content::{CacheLine, LineAddr};
use crate::ids::IdSet;
use crate::mem::tables::Copy4;
use crate::message::Msg;
use crate::monitor::CopyView;
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode;

impl Caching for BiasDevice<CacheLine> {
    fn value(&mut self, _: &CoherenceConfig, line: LineAddr, _: &mut AgentOutput<CacheLine>) -> Option<CacheLine> {
        self.own(line).1.filter(|_| self.can_load(line))
    }

    fn store(
        &mut self,
        _: &CoherenceConfig,
        line: LineAddr,
        bytes: &CacheLine,
        enables: u64,
        out: &mut AgentOutput<CacheLine>,
    ) -> bool {
        BiasDevice::store(self, line, bytes, enables, out)
    }

    fn ask(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        act: &CoreOperation,
        out: &mut AgentOutput<CacheLine>,
    ) -> LineRequestOutcome {
        let opcode = match (act, self.own(line).0) {
            (CoreOperation::Load, Copy4::I) => D2hReqOpcode::RdShared,
            (CoreOperation::Store { .. }, Copy4::I) => D2hReqOpcode::RdOwn,
            (CoreOperation::Store { .. }, Copy4::S) => D2hReqOpcode::RdOwnNoData,
            _ => return LineRequestOutcome::NotNow,
        };
        if !self.can_issue(line, opcode) {
            return LineRequestOutcome::NotNow;
        }
        self.issue(config, line, opcode, None, out);
        LineRequestOutcome::Copy
    }

    fn evict(&mut self, config: &CoherenceConfig, line: LineAddr, out: &mut AgentOutput<CacheLine>) -> bool {
        let opcode = match self.own(line).0 {
            Copy4::I => return false,
            Copy4::S => D2hReqOpcode::CleanEvictNoData,
            Copy4::E => D2hReqOpcode::CleanEvict,
            Copy4::M => D2hReqOpcode::DirtyEvict,
        };
        let can = self.can_issue(line, opcode);
        if can {
            self.issue(config, line, opcode, None, out);
        }
        can
    }

    fn lines(&self) -> Vec<LineAddr> {
        BiasDevice::lines(self).collect()
    }
}

impl Caching for BiasHost<CacheLine> {
    fn value(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        out: &mut AgentOutput<CacheLine>,
    ) -> Option<CacheLine> {
        if self.is_busy(line) { None } else { self.mem.value(config, line, out) }
    }

    fn store(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        bytes: &CacheLine,
        enables: u64,
        out: &mut AgentOutput<CacheLine>,
    ) -> bool {
        !self.is_busy(line) && Caching::store(&mut self.mem, config, line, bytes, enables, out)
    }

    fn ask(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        act: &CoreOperation,
        out: &mut AgentOutput<CacheLine>,
    ) -> LineRequestOutcome {
        if self.is_busy(line) { LineRequestOutcome::NotNow } else { self.mem.ask(config, line, act, out) }
    }

    /// Clean copies go without a message: HDM-D has no MemClnEvct (`coherence` §3.2).
    fn evict(&mut self, _: &CoherenceConfig, line: LineAddr, out: &mut AgentOutput<CacheLine>) -> bool {
        if !self.is_free(line) {
            return false;
        }
        match self.mem.copy(line).state {
            Copy4::I => return false,
            Copy4::M => self.mem.write_back(line, Copy4::I, out),
            _ => self.mem.drop_clean(line),
        }
        true
    }

    fn lines(&self) -> Vec<LineAddr> {
        Caching::lines(&self.mem)
    }

    fn held(&self) -> usize {
        self.mem.held()
    }

    fn holds(&self, line: LineAddr) -> bool {
        self.mem.holds(line)
    }
}

impl Watched for BiasDevice<CacheLine> {
    fn row(&self, msg: &Msg<CacheLine>) -> Option<Point> {
        device_row(msg)
    }

    fn copy(&self, _: &CoherenceConfig, line: LineAddr) -> Option<CopyView<CacheLine>> {
        let (state, value) = self.own(line);
        let value = value.filter(|_| state != Copy4::I)?;
        Some(CopyView { agent: 0, usable: true, writable: state >= Copy4::E, dirty: state == Copy4::M, value })
    }

    fn lines_of(&self, msg: &Msg<CacheLine>) -> Vec<LineAddr> {
        let asked = match *msg {
            Msg::H2dRsp { cqid, .. } | Msg::H2dData { cqid, .. } => self.asked_by(cqid),
            _ => msg.line(),
        };
        asked.into_iter().collect()
    }

    /// The device itself is always tracked, the host in host bias.
    fn home(&self, line: LineAddr) -> Option<HomeView> {
        let in_device_bias = self.bias(line) == Bias::Device;
        let tracked = IdSet::of_bits(if in_device_bias { 0b01 } else { 0b11 });
        let value = self.memory(line);
        Some(HomeView { value: Some(value), tracked, kept: Vec::new(), device_bias: Some(in_device_bias) })
    }

    fn early(&self, _: LineAddr) -> Option<CacheLine> {
        None
    }
}

impl Watched for BiasHost<CacheLine> {
    fn row(&self, msg: &Msg<CacheLine>) -> Option<Point> {
        match *msg {
            Msg::D2hReq { opcode, .. } => coverage::bias_request(opcode),
            _ => self.mem.row(msg),
        }
    }

    fn copy(&self, config: &CoherenceConfig, line: LineAddr) -> Option<CopyView<CacheLine>> {
        Watched::copy(&self.mem, config, line)
    }

    fn lines_of(&self, msg: &Msg<CacheLine>) -> Vec<LineAddr> {
        self.mem.lines_of(msg).into_iter().chain(self.busy_lines()).collect()
    }

    fn home(&self, _: LineAddr) -> Option<HomeView> {
        None
    }

    fn early(&self, line: LineAddr) -> Option<CacheLine> {
        self.mem.early(line)
    }
}
