//! The device of HDM-D: memory, own cache and bias table.
//!
//! Modelled: bias a line, flips both ways, local use in device bias, own evicts, the CXL.cache flow of ItoMWr, WrCur and
//! WrInv, errors. Detail: one request a line; M2S messages are served at once and never wait for own requests. Left out:
//! coarser bias grains, since the sheet leaves the grain open and a line is the strictest.
//!
//! One flip: the device wants to write a line in host bias. It sends RdOwn. The host gives its copy up, a dirty one by
//! MemWr whose Cmp it awaits, and answers with MemRdFwd Invalid, which no later M2S Req of the line overtakes. The device
//! reads its own memory, holds E, and the line is in device bias until the host asks for it.

use super::tables::{self, Served};
use crate::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
use crate::config::CoherenceConfig;
use crate::content::{LineAddr, LineContent, WHOLE_LINE};
use crate::event::CoherenceEvent;
use crate::mem::dcoh::answer_outside;
use crate::mem::tables::{Copy4, DirectoryRecord, HdmRegion, ReqRow, check_req, is_read, req_rows, rwd};
use crate::message::Msg;
use crate::names::{self, CQIDS};
use crate::rules::PoisonStep;
use scalepool_protocols::cxl::cxl256::code::{
    D2hReqOpcode, D2hRspOpcode, DevLoad, DrsOpcode, GoState, H2dRspOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField,
    MetaValue, NdrOpcode, SnpType,
};
use std::collections::BTreeMap;

/// Who may use a line without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Bias {
    /// The host may hold copies; the device asks first.
    #[default]
    Host,
    /// The host holds nothing.
    Device,
}

/// A D2H request without its end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct PendingRequest<D> {
    opcode: D2hReqOpcode,
    cqid: u16,
    /// Bytes of a write, with enables.
    data: Option<(D, u64)>,
    /// The data has left; what remains is the GO or ExtCmp.
    pulled: bool,
}

/// A line of device memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct BiasLine<D> {
    memory: D,
    bias: Bias,
    state: Copy4,
    /// Bytes of the own copy; the memory's when there is none.
    own: Option<D>,
    pending: Option<PendingRequest<D>>,
}

/// The device.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BiasDevice<D> {
    cells: BTreeMap<LineAddr, BiasLine<D>>,
}

impl<D: LineContent> Default for BiasDevice<D> {
    fn default() -> Self {
        Self { cells: BTreeMap::new() }
    }
}

impl<D: LineContent> BiasDevice<D> {
    /// A device whose lines are all in host bias.
    pub fn new() -> Self {
        Self::default()
    }

    /// Memory, bias and own copy of a line, without messages, for the start of a run.
    pub fn preset(&mut self, line: LineAddr, memory: D, bias: Bias, state: Copy4, own: Option<D>) {
        self.cells.insert(line, BiasLine { memory, bias, state, own, pending: None });
    }

    fn cell(&mut self, line: LineAddr) -> &mut BiasLine<D> {
        self.cells.entry(line).or_insert_with(|| BiasLine {
            memory: D::initial(line),
            bias: Bias::Host,
            state: Copy4::I,
            own: None,
            pending: None,
        })
    }

    /// Value of the memory.
    pub fn memory(&self, line: LineAddr) -> D {
        self.cells.get(&line).map_or_else(|| D::initial(line), |c| c.memory.clone())
    }

    /// Bias of a line.
    pub fn bias(&self, line: LineAddr) -> Bias {
        self.cells.get(&line).map_or(Bias::Host, |c| c.bias)
    }

    /// State and bytes of the own copy.
    pub fn own(&self, line: LineAddr) -> (Copy4, Option<D>) {
        self.cells.get(&line).map_or((Copy4::I, None), |c| (c.state, c.own.clone()))
    }

    /// Lines that are in use: held, or asked for.
    pub fn lines(&self) -> impl Iterator<Item = LineAddr> {
        self.cells.iter().filter(|(_, c)| c.state != Copy4::I || c.pending.is_some()).map(|(line, _)| *line)
    }

    /// The request that is open on a line.
    pub fn asked(&self, line: LineAddr) -> Option<D2hReqOpcode> {
        self.cells.get(&line)?.pending.as_ref().map(|p| p.opcode)
    }

    /// Whether a request is open on a line.
    pub fn is_pending(&self, line: LineAddr) -> bool {
        self.cells.get(&line).is_some_and(|c| c.pending.is_some())
    }

    /// Whether an operation may begin: its start state holds, nothing is open on the line and a CQID is free.
    pub fn can_issue(&self, line: LineAddr, opcode: D2hReqOpcode) -> bool {
        tables::find(opcode).is_some()
            && !self.is_pending(line)
            && tables::starts(opcode).contains(&self.own(line).0)
            && self.free_cqid().is_some()
    }

    /// Begins an operation for which [`BiasDevice::can_issue`] holds. `data` is what a write writes, with byte enables.
    pub fn issue(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        opcode: D2hReqOpcode,
        data: Option<(D, u64)>,
        out: &mut AgentOutput<D>,
    ) {
        let Some(row) = tables::find(opcode).filter(|_| self.can_issue(line, opcode)) else {
            let found = format!("{opcode:?} from {}", self.own(line).0.letter());
            out.events.push(event(
                "COH-BIA-01",
                Some(line),
                found,
                "an allowed start state, an idle line and a free CQID",
            ));
            return;
        };
        let inside = row.served == Served::Inside;
        let local = config.rules.uses_alone(self.bias(line));
        if inside || (local && row.served != Served::Cache) {
            self.serve_inside(line, opcode, data, out);
            return;
        }
        let Some(cqid) = self.free_cqid() else { return };
        let cell = self.cell(line);
        if row.served == Served::Cache {
            // The host will write the line: until then the device asks like anybody.
            cell.bias = Bias::Host;
        }
        cell.pending = Some(PendingRequest { opcode, cqid, data, pulled: false });
        out.send(0, Msg::D2hReq { opcode, line, cqid });
    }

    /// The line of an open request.
    pub fn asked_by(&self, cqid: u16) -> Option<LineAddr> {
        let asks = |cell: &BiasLine<D>| cell.pending.as_ref().is_some_and(|p| p.cqid == cqid);
        self.cells.iter().find(|(_, cell)| asks(cell)).map(|(line, _)| *line)
    }

    fn free_cqid(&self) -> Option<u16> {
        names::lowest_free(CQIDS, self.cells.values().filter_map(|c| c.pending.as_ref()).map(|p| p.cqid))
    }

    /// What needs no message: own evicts, and everything but writes by the host in device bias.
    fn serve_inside(&mut self, line: LineAddr, opcode: D2hReqOpcode, data: Option<(D, u64)>, out: &mut AgentOutput<D>) {
        let cell = self.cell(line);
        match opcode {
            D2hReqOpcode::RdCurr => {
                out.effects.push(Effect::Used { line, value: cell.memory.clone(), current: true });
            }
            D2hReqOpcode::RdShared => (cell.state, cell.own) = (Copy4::S, Some(cell.memory.clone())),
            D2hReqOpcode::RdAny | D2hReqOpcode::RdOwn | D2hReqOpcode::RdOwnNoData => {
                (cell.state, cell.own) = (Copy4::E, Some(cell.memory.clone()));
            }
            D2hReqOpcode::WOWrInv | D2hReqOpcode::WOWrInvF => {
                if let Some((bytes, enables)) = data {
                    cell.memory.merge(&bytes, enables);
                    out.effects.push(Effect::Written(line));
                }
            }
            D2hReqOpcode::DirtyEvict => {
                if let Some(bytes) = cell.own.take() {
                    cell.memory = bytes;
                }
                cell.state = Copy4::I;
            }
            D2hReqOpcode::CleanEvict | D2hReqOpcode::CleanEvictNoData => (cell.state, cell.own) = (Copy4::I, None),
            _ => {}
        }
        out.effects.push(Effect::Done(line));
    }

    /// Whether a load is served from the own copy.
    pub fn can_load(&self, line: LineAddr) -> bool {
        self.own(line).0 != Copy4::I
    }

    /// Whether a store is served from the own copy.
    pub fn can_store(&self, line: LineAddr) -> bool {
        self.own(line).0 >= Copy4::E
    }

    /// A store into the own copy; without E or M nothing happens.
    pub fn store(&mut self, line: LineAddr, data: &D, enables: u64, out: &mut AgentOutput<D>) -> bool {
        match self.cells.get_mut(&line) {
            Some(BiasLine { state, own: Some(own), .. }) if *state >= Copy4::E => {
                own.merge(data, enables);
                *state = Copy4::M;
                out.effects.push(Effect::Stored(line));
                true
            }
            _ => false,
        }
    }

    /// The own copy under a host's access; under SnpData it keeps at most `most`.
    fn snoop_own(&mut self, config: &CoherenceConfig, line: LineAddr, snp: SnpType, most: Copy4) {
        let snp = config.rules.own_snoop(snp);
        let keeps = most != Copy4::I;
        let cell = self.cell(line);
        if cell.state == Copy4::M
            && snp != SnpType::NoOp
            && snp != SnpType::SnpCur
            && let Some(own) = &cell.own
        {
            cell.memory = own.clone();
        }
        match snp {
            SnpType::SnpInv => (cell.state, cell.own) = (Copy4::I, None),
            SnpType::SnpData if keeps && cell.state != Copy4::I => cell.state = Copy4::S,
            SnpType::SnpData => (cell.state, cell.own) = (Copy4::I, None),
            _ => {}
        }
    }

    fn take_forward(
        &mut self,
        config: &CoherenceConfig,
        opcode: M2sReqOpcode,
        meta: MetaValue,
        line: LineAddr,
        tag: u16,
        out: &mut AgentOutput<D>,
    ) {
        let found = format!("{} {} for CQID {tag}", opcode.name().unwrap_or("?"), meta.name().unwrap_or("?"));
        let cell = self.cell(line);
        let Some(pending) = cell.pending.take_if(|p| p.cqid == tag && !p.pulled) else {
            out.events.push(event("COH-IDS-03", Some(line), found, "the CQID of an open request"));
            return;
        };
        let row = config.rules.bias_row(pending.opcode);
        let grant =
            row.filter(|r| r.served == Served::Forward(opcode)).and_then(|r| r.grants.iter().find(|g| g.0 == meta));
        let Some(&(_, state, flips)) = grant else {
            let rule = row.map_or("COH-BIA-08", |r| r.rule);
            out.events.push(event(rule, Some(line), found, format!("an answer that {:?} can have", pending.opcode)));
            cell.pending = Some(pending);
            return;
        };
        if flips {
            cell.bias = Bias::Device;
        }
        match pending.opcode {
            D2hReqOpcode::RdCurr => {
                out.effects.push(Effect::Used { line, value: cell.memory.clone(), current: false });
            }
            D2hReqOpcode::WOWrInv | D2hReqOpcode::WOWrInvF => {
                if let Some((bytes, enables)) = pending.data {
                    cell.memory.merge(&bytes, enables);
                    out.effects.push(Effect::Written(line));
                }
            }
            _ => {}
        }
        cell.state = state;
        cell.own = (state != Copy4::I).then(|| cell.memory.clone());
        out.effects.push(Effect::Done(line));
    }

    /// The legal ways to serve a request of the host, what the configuration asks for first: what the own cache keeps of the
    /// line, and the row that answers. E is granted to a read that only shares when the device keeps nothing.
    fn services(
        config: &CoherenceConfig,
        own: Copy4,
        opcode: M2sReqOpcode,
        snp: SnpType,
        rows: impl Iterator<Item = &'static ReqRow> + Clone,
    ) -> Vec<(Copy4, &'static ReqRow)> {
        let lefts = match snp {
            SnpType::SnpData if own == Copy4::I => vec![Copy4::I],
            SnpType::SnpData if config.mem.device_keeps_shared => vec![Copy4::S, Copy4::I],
            SnpType::SnpData => vec![Copy4::I, Copy4::S],
            SnpType::SnpInv => vec![Copy4::I],
            _ => vec![own],
        };
        let sharing = rows.clone().find(|r| r.ndr.contains(&NdrOpcode::CmpS));
        let owning = rows.clone().find(|r| r.ndr.contains(&NdrOpcode::CmpE));
        let prefers_e = opcode == M2sReqOpcode::MemRdData || config.mem.shared_grants_exclusive;
        let mut services = Vec::new();
        for left in lefts {
            let answers = match (sharing, owning) {
                (Some(sharing), Some(_)) if left != Copy4::I => [Some(sharing), None],
                (Some(sharing), Some(owning)) if prefers_e => [Some(owning), Some(sharing)],
                (None, None) => [rows.clone().next(), None],
                several => [several.0, several.1],
            };
            services.extend(answers.into_iter().flatten().map(|row| (left, row)));
        }
        services
    }

    fn take_req(
        &mut self,
        config: &CoherenceConfig,
        (opcode, meta_field, meta, snp): (M2sReqOpcode, MetaField, MetaValue, SnpType),
        line: LineAddr,
        tag: u16,
        way: u8,
        out: &mut AgentOutput<D>,
    ) {
        if let Err(rule) = check_req(HdmRegion::HdmD, opcode, meta_field, meta, snp) {
            let found = format!("{opcode:?} {meta_field:?} {meta:?} {snp:?}");
            out.events.push(event(rule, Some(line), found, "a row of the table"));
            return;
        }
        match opcode {
            M2sReqOpcode::MemSpecRd => return,
            M2sReqOpcode::MemRdFwd | M2sReqOpcode::MemWrFwd => {
                self.take_forward(config, opcode, meta, line, tag, out);
                return;
            }
            _ => {}
        }
        let has_data = is_read(opcode);
        if config.mem.is_outside(line) {
            answer_outside(config, 0, has_data, tag, DevLoad(0), out);
            return;
        }
        let own = self.own(line);
        let rows = req_rows(HdmRegion::HdmD, opcode, meta_field, meta, snp);
        let is_dirty_legal = rows.clone().any(|r| r.ndr.contains(&NdrOpcode::CmpM));
        let services = Self::services(config, own.0, opcode, snp, rows);
        // The check above has found a row.
        let Some((left, row)) = services.get(usize::from(way)).or(services.first()).copied() else { return };
        // Dirty data of the own cache may go to the host as it is; otherwise memory is made current first.
        let dirty = config.mem.cmp_m && own.0 == Copy4::M && has_data && is_dirty_legal;
        let value = match own {
            (_, Some(bytes)) if dirty => {
                let cell = self.cell(line);
                (cell.state, cell.own) = (Copy4::I, None);
                bytes
            }
            (Copy4::M, Some(bytes)) if snp == SnpType::SnpCur => bytes,
            _ => {
                self.snoop_own(config, line, snp, left);
                self.memory(line)
            }
        };
        if matches!(row.record, DirectoryRecord::Any | DirectoryRecord::Shared) {
            self.cell(line).bias = Bias::Host;
        }
        let (field, none, devload) = (MetaField::NoOp, MetaValue::Invalid, DevLoad(0));
        let granted = if dirty { Some(NdrOpcode::CmpM) } else { row.ndr.first().copied() };
        if let Some(answer) = granted {
            out.send(0, Msg::S2mNdr { opcode: answer, meta_field: field, meta: none, tag, devload });
        }
        if has_data {
            let opcode = DrsOpcode::MemData;
            out.send(0, Msg::S2mDrs { opcode, meta_field: field, meta: none, tag, data: value, devload });
        }
    }

    fn take_rwd(
        &mut self,
        config: &CoherenceConfig,
        (opcode, meta_field, meta, snp): (M2sRwdOpcode, MetaField, MetaValue, SnpType),
        line: LineAddr,
        tag: u16,
        (data, enables): (D, u64),
        out: &mut AgentOutput<D>,
    ) {
        if let Err(rule) = rwd(HdmRegion::HdmD, false, opcode, meta_field, meta, snp) {
            let found = format!("{opcode:?} {meta_field:?} {meta:?} {snp:?}");
            out.events.push(event(rule, Some(line), found, "a row of the table"));
            return;
        }
        if config.mem.is_outside(line) {
            answer_outside(config, 0, false, tag, DevLoad(0), out);
            return;
        }
        if snp == SnpType::SnpInv {
            self.snoop_own(config, line, snp, Copy4::I);
        }
        let cell = self.cell(line);
        cell.memory.merge(&config.passed(PoisonStep::Stored, data), enables);
        if snp == SnpType::SnpInv {
            out.effects.push(Effect::Written(line));
        } else if meta != MetaValue::Invalid {
            cell.bias = Bias::Host;
        }
        let (opcode, meta_field, meta) = (NdrOpcode::Cmp, MetaField::NoOp, MetaValue::Invalid);
        out.send(0, Msg::S2mNdr { opcode, meta_field, meta, tag, devload: DevLoad(0) });
    }

    fn take_rsp(
        &mut self,
        config: &CoherenceConfig,
        opcode: H2dRspOpcode,
        rsp_data: u16,
        cqid: u16,
        out: &mut AgentOutput<D>,
    ) {
        let found = format!("{} for CQID {cqid}", opcode.name().unwrap_or("a reserved H2D Rsp"));
        let open = self.cells.iter_mut().find(|(_, c)| c.pending.as_ref().is_some_and(|p| p.cqid == cqid));
        let Some((&line, cell)) = open else {
            out.events.push(event("COH-IDS-01", None, found, "the CQID of an open request"));
            return;
        };
        let Some(pending) = &mut cell.pending else { return };
        let served = tables::find(pending.opcode).map(|r| r.served);
        let forwarded = matches!(served, Some(Served::Forward(_)));
        // The error of a RdCurr is data with GO-Err, that of a forwarded write a pull.
        let is_refused_by_go =
            served == Some(Served::Forward(M2sReqOpcode::MemRdFwd)) && pending.opcode != D2hReqOpcode::RdCurr;
        let is_refused_by_pull = served != Some(Served::Forward(M2sReqOpcode::MemRdFwd));
        let go = GoState((rsp_data & 15) as u8);
        let done = match opcode {
            H2dRspOpcode::GO if pending.opcode == D2hReqOpcode::WrInv && pending.pulled => {
                if ![GoState::Invalid, GoState::Error].contains(&go) {
                    out.events.push(event("COH-BIA-08", Some(line), found, "GO-I or GO-Err"));
                    return;
                }
                true
            }
            H2dRspOpcode::GO if is_refused_by_go && go == GoState::Error => true,
            H2dRspOpcode::GO if forwarded => {
                let owns = matches!(pending.opcode, D2hReqOpcode::RdOwn | D2hReqOpcode::RdOwnNoData);
                if owns && config.mem.flip_by_go && go == GoState::Exclusive {
                    cell.bias = Bias::Device;
                    (cell.state, cell.own) = (Copy4::E, Some(cell.memory.clone()));
                    true
                } else {
                    let expected = match pending.opcode {
                        D2hReqOpcode::RdCurr => "MemRdFwd or data with GO-Err",
                        _ if is_refused_by_go => "MemRdFwd or GO-Err",
                        _ => "MemWrFwd or GO_ERR_WritePull",
                    };
                    out.events.push(event("COH-BIA-16", Some(line), found, expected));
                    return;
                }
            }
            H2dRspOpcode::WritePull | H2dRspOpcode::GO_WritePull | H2dRspOpcode::GO_ERR_WritePull
                if !pending.pulled
                    && (opcode == H2dRspOpcode::GO_ERR_WritePull && is_refused_by_pull || !forwarded)
                    && (opcode == H2dRspOpcode::WritePull) == (pending.opcode == D2hReqOpcode::WrInv) =>
            {
                if let Some((data, enables)) = pending.data.clone() {
                    out.send(0, Msg::D2hData { uqid: rsp_data, bogus: false, data, enables });
                }
                pending.pulled = true;
                matches!(pending.opcode, D2hReqOpcode::ItoMWr | D2hReqOpcode::WrCur)
            }
            H2dRspOpcode::ExtCmp if forwarded && pending.pulled => true,
            _ => {
                let expected = format!("an answer that {:?} can have", pending.opcode);
                out.events.push(event("COH-BIA-08", Some(line), found, expected));
                return;
            }
        };
        if done {
            cell.pending = None;
            out.effects.push(Effect::Done(line));
        }
    }
}

fn event(
    rule: &'static str,
    line: Option<LineAddr>,
    found: impl Into<String>,
    expected: impl Into<String>,
) -> CoherenceEvent {
    CoherenceEvent::new(rule, line, "device", found, expected)
}

/// The whole line, or its first byte: what a write of an exploration writes.
pub fn enables_of(opcode: D2hReqOpcode) -> Option<u64> {
    match opcode {
        D2hReqOpcode::ItoMWr | D2hReqOpcode::WrCur | D2hReqOpcode::WOWrInvF => Some(WHOLE_LINE),
        D2hReqOpcode::WrInv | D2hReqOpcode::WOWrInv => Some(1),
        _ => None,
    }
}

impl<D: LineContent> Agent<D> for BiasDevice<D> {
    fn accepts(&self, config: &CoherenceConfig, _: AgentPort, msg: &Msg<D>) -> Accept {
        match msg {
            Msg::M2sReq { opcode, line, .. } if config.rules.awaits_own_request(*opcode) && self.is_pending(*line) => {
                Accept::Wait
            }
            _ => Accept::Take,
        }
    }

    fn ways(&self, config: &CoherenceConfig, _: AgentPort, msg: &Msg<D>) -> u8 {
        match *msg {
            Msg::M2sReq { opcode, snp, meta_field, meta, line, .. } => {
                let rows = req_rows(HdmRegion::HdmD, opcode, meta_field, meta, snp);
                Self::services(config, self.own(line).0, opcode, snp, rows).len().max(1) as u8
            }
            _ => 1,
        }
    }

    fn take(&mut self, config: &CoherenceConfig, _: AgentPort, msg: Msg<D>, way: u8, out: &mut AgentOutput<D>) {
        match msg {
            Msg::M2sReq { opcode, snp, meta_field, meta, line, tag } => {
                self.take_req(config, (opcode, meta_field, meta, snp), line, tag, way, out);
            }
            Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data, enables, .. } => {
                self.take_rwd(config, (opcode, meta_field, meta, snp), line, tag, (data, enables), out);
            }
            Msg::H2dRsp { opcode, rsp_data, cqid } => self.take_rsp(config, opcode, rsp_data, cqid, out),
            // A host may snoop more than it must: the answer is always the same and nothing changes.
            Msg::H2dReq { uqid, .. } => out.send(0, Msg::D2hRsp { opcode: D2hRspOpcode::RspIHitI, uqid }),
            Msg::H2dData { cqid, go_err: true, data, .. } => {
                let open = self.cells.iter_mut().find(|(_, c)| {
                    c.pending.as_ref().is_some_and(|p| p.cqid == cqid && p.opcode == D2hReqOpcode::RdCurr)
                });
                match open {
                    Some((&line, cell)) => {
                        cell.pending = None;
                        out.effects.push(Effect::Used { line, value: data, current: false });
                        out.effects.push(Effect::Done(line));
                    }
                    None => out.events.push(event("COH-IDS-01", None, "data with GO-Err", "an open RdCurr")),
                }
            }
            other => {
                let found = format!("{} at a device of HDM-D", other.class().name());
                out.events.push(event("COH-TYP-01", other.line(), found, "M2S Req, RwD, H2D Rsp or Req"));
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.cells.values().all(|c| c.pending.is_none())
    }

    /// Bytes of an open write have no place in coherence order yet: they are not visited.
    fn visit(&mut self, f: &mut dyn FnMut(&mut D)) {
        for cell in self.cells.values_mut() {
            f(&mut cell.memory);
            if let Some(own) = &mut cell.own {
                f(own);
            }
        }
    }
}
