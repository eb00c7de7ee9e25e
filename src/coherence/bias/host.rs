//! The host of HDM-D: the CXL.mem host agent, and a home for the device's requests to its own memory.
//!
//! Modelled: one request a line; the host's copy is given up or degraded, a dirty one by MemWr whose Cmp is awaited, and
//! only then Mem*Fwd goes out. ItoMWr, WrCur and WrInv are pulled over CXL.cache and written over CXL.mem. Detail:
//! message in, messages out. Left out: other caching devices, since HDM-D has one device a bridge (`coherence` §2.9).

use super::tables::{self, Served};
use crate::agent::{Accept, Agent, AgentOutput, AgentPort};
use crate::config::CoherenceConfig;
use crate::content::{LineAddr, LineContent};
use crate::event::CoherenceEvent;
use crate::mem::host_rows::Phase;
use crate::mem::options::Keep;
use crate::mem::tables::Copy4;
use crate::mem::{HostAccess, MemHost};
use crate::message::Msg;
use crate::names::{self, UQIDS};
use scalepool_protocols::cxl::cxl256::code::{
    D2hReqOpcode, D2hRspOpcode, GoState, H2dRspOpcode, M2sReqOpcode, MetaField, MetaValue, SnpType,
};

/// Where a device's request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum RequestStage {
    /// The own dirty copy is on its way to memory; this much is kept.
    WritingBack(Copy4),
    /// The data has been pulled.
    Pulled { error: bool },
    /// The data is on its way to memory.
    Writing,
}

/// A request of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Txn {
    line: LineAddr,
    opcode: D2hReqOpcode,
    cqid: u16,
    /// Names its pull: the data of the device returns under it.
    uqid: u16,
    stage: RequestStage,
}

/// The host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BiasHost<D> {
    /// Its cache and CXL.mem side.
    pub mem: MemHost<D>,
    open: Vec<Txn>,
}

impl<D: LineContent> BiasHost<D> {
    /// A host with an empty cache.
    pub fn new(id: AgentPort) -> Self {
        Self { mem: MemHost::of_hdm_d(id), open: Vec::new() }
    }

    /// Whether a request of the device is open on a line: the host's cores wait.
    pub fn is_busy(&self, line: LineAddr) -> bool {
        self.open.iter().any(|t| t.line == line)
    }

    /// Lines of requests of the device that are under way.
    pub fn busy_lines(&self) -> impl Iterator<Item = LineAddr> {
        self.open.iter().map(|t| t.line)
    }

    /// Whether the host's core may start something on a line.
    pub fn is_free(&self, line: LineAddr) -> bool {
        !self.is_busy(line) && self.mem.phase(line) == Phase::Idle
    }

    /// A name for the pull that a request may need.
    fn free_uqid(&self) -> Option<u16> {
        names::lowest_free(UQIDS, self.open.iter().map(|t| t.uqid))
    }

    fn event(rule: &'static str, line: Option<LineAddr>, found: impl Into<String>, expected: &str) -> CoherenceEvent {
        CoherenceEvent::new(rule, line, "host", found, expected)
    }

    /// What the host may keep under a request (`coherence` §3.3), what the configuration asks for first.
    fn keeps(config: &CoherenceConfig, opcode: D2hReqOpcode, state: Copy4) -> Vec<Copy4> {
        let most = state.min(match opcode {
            D2hReqOpcode::RdCurr => Copy4::E,
            D2hReqOpcode::RdShared | D2hReqOpcode::RdAny | D2hReqOpcode::CLFlush => Copy4::S,
            _ => Copy4::I,
        });
        let wanted = match config.mem.host_keeps {
            _ if opcode == D2hReqOpcode::CLFlush && !config.mem.flush_keeps_shared => Copy4::I,
            Keep::Most => most,
            Keep::Shared => most.min(Copy4::S),
            Keep::Nothing => Copy4::I,
        };
        let others = [Copy4::E, Copy4::S, Copy4::I].into_iter().filter(|kept| *kept <= most && *kept != wanted);
        std::iter::once(wanted).chain(others).collect()
    }

    fn take_req(
        &mut self,
        config: &CoherenceConfig,
        opcode: D2hReqOpcode,
        line: LineAddr,
        cqid: u16,
        way: u8,
        out: &mut AgentOutput<D>,
    ) {
        let name = opcode.name().unwrap_or("a reserved D2H Req");
        let Some(row) = tables::find(opcode).filter(|r| r.served != Served::Inside) else {
            out.events.push(Self::event("COH-BIA-09", Some(line), name, "no evict of device memory"));
            return;
        };
        let Some(uqid) = self.free_uqid() else {
            out.events.push(Self::event("COH-IDS-02", Some(line), name, "no request while all UQIDs are in use"));
            return;
        };
        if config.error_of(line).is_some() {
            let stage = RequestStage::Pulled { error: true };
            self.answer_error(row.served, Txn { line, opcode, cqid, uqid, stage }, out);
            return;
        }
        let state = self.mem.copy(line).state;
        let keeps = Self::keeps(config, opcode, state);
        let kept = keeps.get(usize::from(way)).copied().unwrap_or(keeps[0]);
        let txn = Txn { line, opcode, cqid, uqid, stage: RequestStage::WritingBack(kept) };
        if state == Copy4::M {
            self.mem.write_back(line, kept, out);
            if config.rules.forward_awaits_write() {
                self.insert(txn);
                return;
            }
        } else if kept < state {
            self.mem.degrade(line, kept);
        }
        self.go_on(txn, out);
    }

    fn insert(&mut self, txn: Txn) {
        let at = self.open.partition_point(|t| t < &txn);
        self.open.insert(at, txn);
    }

    fn answer_error(&mut self, served: Served, txn: Txn, out: &mut AgentOutput<D>) {
        let Txn { opcode, cqid, uqid, .. } = txn;
        if opcode == D2hReqOpcode::RdCurr {
            out.send(0, Msg::H2dData { cqid, go_err: true, data: D::ones() });
        } else if served == Served::Forward(M2sReqOpcode::MemRdFwd) {
            out.send(0, Msg::H2dRsp { opcode: H2dRspOpcode::GO, rsp_data: GoState::Error.0.into(), cqid });
        } else {
            let error = H2dRspOpcode::GO_ERR_WritePull;
            let pull = if opcode == D2hReqOpcode::WrInv { H2dRspOpcode::WritePull } else { error };
            out.send(0, Msg::H2dRsp { opcode: pull, rsp_data: uqid, cqid });
            self.insert(txn);
        }
    }

    /// Memory is current and the host keeps what it keeps: the answer leaves.
    fn go_on(&mut self, txn: Txn, out: &mut AgentOutput<D>) {
        let RequestStage::WritingBack(kept) = txn.stage else { return };
        let Some(row) = tables::find(txn.opcode) else { return };
        match row.served {
            Served::Forward(opcode) => {
                let meta = match kept {
                    // The host may keep S and say nothing: the device assumes it anyway.
                    _ if txn.opcode == D2hReqOpcode::CLFlush => MetaValue::Invalid,
                    Copy4::I => MetaValue::Invalid,
                    Copy4::S => MetaValue::Shared,
                    _ => MetaValue::Any,
                };
                let (snp, meta_field) = (SnpType::NoOp, MetaField::Meta0State);
                out.send(0, Msg::M2sReq { opcode, snp, meta_field, meta, line: txn.line, tag: txn.cqid });
            }
            _ => {
                let strong = txn.opcode == D2hReqOpcode::WrInv;
                let opcode = if strong { H2dRspOpcode::WritePull } else { H2dRspOpcode::GO_WritePull };
                out.send(0, Msg::H2dRsp { opcode, rsp_data: txn.uqid, cqid: txn.cqid });
                self.insert(Txn { stage: RequestStage::Pulled { error: false }, ..txn });
            }
        }
    }

    fn take_data(&mut self, uqid: u16, data: D, enables: u64, out: &mut AgentOutput<D>) {
        let pulled = |t: &Txn| t.uqid == uqid && matches!(t.stage, RequestStage::Pulled { .. });
        let Some(at) = self.open.iter().position(pulled) else {
            let found = format!("D2H Data for UQID {uqid}");
            out.events.push(Self::event("COH-IDS-02", None, found, "the UQID of an open pull"));
            return;
        };
        let txn = self.open.remove(at);
        if txn.stage == (RequestStage::Pulled { error: true }) {
            let (opcode, rsp_data) = match txn.opcode {
                D2hReqOpcode::WrInv => (H2dRspOpcode::GO, GoState::Error.0.into()),
                D2hReqOpcode::WOWrInv | D2hReqOpcode::WOWrInvF => (H2dRspOpcode::ExtCmp, 0),
                _ => return,
            };
            out.send(0, Msg::H2dRsp { opcode, rsp_data, cqid: txn.cqid });
            return;
        }
        self.mem.write_unowned(txn.line, data, enables, out);
        self.insert(Txn { stage: RequestStage::Writing, ..txn });
    }

    /// Requests whose CXL.mem write has ended go on.
    fn advance(&mut self, out: &mut AgentOutput<D>) {
        let ready = |t: &Txn, mem: &MemHost<D>| {
            !matches!(t.stage, RequestStage::Pulled { .. }) && mem.phase(t.line) == Phase::Idle
        };
        while let Some(at) = self.open.iter().position(|t| ready(t, &self.mem)) {
            let txn = self.open.remove(at);
            match txn.stage {
                RequestStage::Writing => {
                    if txn.opcode == D2hReqOpcode::WrInv {
                        let rsp_data = GoState::Invalid.0.into();
                        out.send(0, Msg::H2dRsp { opcode: H2dRspOpcode::GO, rsp_data, cqid: txn.cqid });
                    }
                }
                _ => self.go_on(txn, out),
            }
        }
    }
}

impl<D: LineContent> Agent<D> for BiasHost<D> {
    /// A device's request waits for everything else on its line, and for names: of its pull and of the write that it may need.
    /// The rest is always taken.
    fn accepts(&self, _: &CoherenceConfig, _: AgentPort, msg: &Msg<D>) -> Accept {
        let Msg::D2hReq { line, .. } = msg else { return Accept::Take };
        let free = self.is_free(*line) && self.mem.due(*line) == HostAccess::Nothing;
        let named = self.free_uqid().is_some() && self.mem.has_tag();
        if free && named { Accept::Take } else { Accept::Wait }
    }

    fn ways(&self, config: &CoherenceConfig, port: AgentPort, msg: &Msg<D>) -> u8 {
        match msg {
            Msg::D2hReq { opcode, line, .. } => Self::keeps(config, *opcode, self.mem.copy(*line).state).len() as u8,
            other => self.mem.ways(config, port, other),
        }
    }

    fn take(&mut self, config: &CoherenceConfig, port: AgentPort, msg: Msg<D>, way: u8, out: &mut AgentOutput<D>) {
        match msg {
            Msg::D2hReq { opcode, line, cqid } => self.take_req(config, opcode, line, cqid, way, out),
            Msg::D2hData { uqid, data, enables, .. } => self.take_data(uqid, data, enables, out),
            Msg::D2hRsp { opcode, uqid } => {
                let found = format!("{} for UQID {uqid}", opcode.name().unwrap_or("a reserved D2H Rsp"));
                if opcode != D2hRspOpcode::RspIHitI {
                    out.events.push(Self::event("COH-SNP-17", None, found, "RspIHitI for device memory"));
                }
            }
            Msg::S2mBisnp { line, .. } => {
                out.events.push(Self::event("COH-TYP-01", Some(line), "BISnp", "no back-invalidation on HDM-D"));
            }
            other => {
                self.mem.take(config, port, other, way, out);
                self.advance(out);
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.open.is_empty() && self.mem.is_idle()
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut D)) {
        self.mem.visit(f);
    }
}
