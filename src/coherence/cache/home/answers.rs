//! What a transaction of the home agent does when something that it waited for comes: snoop answers, pulled data, lines of the memory.
//!
//! Modelled: the rows of [`READINGS`](super::super::snoops::READINGS) and the answer to the requester (`coherence` §2.8). Left out: which
//! request starts, and when (the parent).
//!
//! A walk: the last snoop answer of a read comes with dirty data; the directory forgets the owner, the line is stored, and the
//! requester gets GO and the data.

use super::{Holders, HomeAgent, HomeTransaction, Phase, Task, event, port_of, uqid};
use crate::agent::{AgentOutput, AgentPort, Effect};
use crate::cache::backing::Backing;
use crate::cache::device::WriteBytes;
use crate::cache::snoops::Left;
use crate::cache::state::{HostAnswer, Snoop};
use crate::config::{CleanEvictAnswer, CoherenceConfig, ErrorAnswer};
use crate::content::{LineAddr, LineContent, WHOLE_LINE};
use crate::ids::IdSet;
use crate::message::Msg;
use crate::rules::PoisonStep;
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode as Op, D2hRspOpcode};

impl<D: LineContent, B: Backing<D>> HomeAgent<D, B> {
    /// The line has come from the memory behind its port; `None`: there is no such line, and whoever asked gets an error.
    pub(super) fn fetched(&mut self, config: &CoherenceConfig, tag: u16, data: Option<D>, out: &mut AgentOutput<D>) {
        let asked = self.open.iter().position(|t| u16::from(t.slot) == tag && t.phase == Phase::Fetching);
        let Some(i) = asked else {
            return event(out, "COH-IDS-01", None, format!("S2M DRS with tag {tag}"), "the tag of an open read");
        };
        let (slot, line) = (self.open[i].slot, self.open[i].line);
        if let Some(data) = data {
            self.memory.fetched(line, data);
            return self.ready(config, slot, out);
        }
        let t = self.open.remove(i);
        match t.task {
            Task::Request { op, cqid } => self.refuse(slot, t.port, line, op, cqid, ErrorAnswer::GoError, out),
            Task::CoreRead => out.effects.push(Effect::Used { line, value: D::ones(), current: false }),
            Task::CoreWrite { .. } => out.effects.push(Effect::Written(line)),
            Task::Recall => {}
        }
        if self.slot(slot).is_none() {
            out.effects.push(Effect::Done(line));
        }
    }

    /// The memory behind its port has what was written.
    pub(super) fn stored(&mut self, config: &CoherenceConfig, tag: u16, out: &mut AgentOutput<D>) {
        let stores = |t: &HomeTransaction<D>| u16::from(t.slot) == tag && matches!(t.phase, Phase::Storing { .. });
        let Some(i) = self.open.iter().position(stores) else {
            return event(out, "COH-IDS-01", None, format!("S2M NDR with tag {tag}"), "the tag of an open write");
        };
        let (slot, line, phase) = (self.open[i].slot, self.open[i].line, self.open[i].phase);
        self.memory.stored(line);
        if phase == (Phase::Storing { ends: true }) {
            self.finish(config, slot, out)
        } else {
            self.answer(config, slot, out)
        }
    }

    /// Every snoop is answered and the line is in hand where it is needed: the requester gets what it asked for.
    pub(super) fn answer(&mut self, config: &CoherenceConfig, slot: u8, out: &mut AgentOutput<D>) {
        let Some(i) = self.slot(slot) else { return };
        let t = self.open[i].clone();
        let (line, port) = (t.line, t.port);
        let mut send = |answer: HostAnswer, cqid: u16| {
            let (opcode, state) = answer.code();
            let rsp_data = state.map_or(uqid(slot, port), |s| u16::from(s.0));
            out.send(port, Msg::H2dRsp { opcode, rsp_data, cqid });
        };
        let mut fill = None;
        match &t.task {
            // Every holder has answered: the entry leaves, also where a rule is off by which somebody was not asked.
            Task::Recall => self.change(line, |h| *h = Holders::default()),
            Task::CoreRead => {
                out.effects.push(Effect::Used { line, value: self.memory.read(line), current: true });
            }
            Task::CoreWrite { data, enables } => {
                self.memory.write(line, data, *enables);
                out.effects.push(Effect::Written(line));
            }
            &Task::Request { op, cqid } => match op {
                Op::RdCurr => {
                    let data = t.passed.clone().unwrap_or_else(|| self.memory.read(line));
                    out.send(port, Msg::H2dData { cqid, go_err: false, data });
                }
                Op::RdShared | Op::RdAny | Op::RdOwn => {
                    // What the requester itself is tracked for is gone: it asks from I.
                    self.change(line, |h| h.forget(port));
                    let alone = !t.kept && self.holders(line) == Holders::default();
                    let dirty = config.rules.grants_dirty(t.dirty, alone);
                    let go = match op {
                        Op::RdShared => HostAnswer::GoS,
                        Op::RdAny if dirty => HostAnswer::GoM,
                        Op::RdAny if !alone || !config.rd_any_exclusive => HostAnswer::GoS,
                        _ if dirty => HostAnswer::GoM,
                        _ => HostAnswer::GoE,
                    };
                    self.change(line, |h| match go {
                        HostAnswer::GoS => h.sharers.insert(port),
                        _ => *h = Holders::owned_by(port),
                    });
                    let data = t.passed.clone().unwrap_or_else(|| self.memory.read(line));
                    fill = Some((go, cqid, data));
                }
                Op::RdOwnNoData => {
                    self.change(line, |h| *h = Holders::owned_by(port));
                    send(HostAnswer::GoE, cqid);
                }
                Op::CLFlush => {
                    self.change(line, |h| *h = Holders::default());
                    send(HostAnswer::GoI, cqid);
                }
                Op::ItoMWr | Op::WrCur | Op::WrInv | Op::WOWrInv | Op::WOWrInvF => {
                    self.change(line, |h| *h = Holders::default());
                    config.rules.write_answers(op).at_pull.iter().for_each(|answer| send(*answer, cqid));
                    self.open[i].phase = Phase::Pulling { expected: true };
                    return;
                }
                Op::CleanEvictNoData => {
                    self.untrack(config, line, port);
                    send(HostAnswer::GoI, cqid);
                }
                Op::CleanEvict | Op::DirtyEvict => {
                    let expected = self.holders(line).owner == Some(port);
                    // O12: out of the directory when the GO leaves.
                    self.untrack(config, line, port);
                    if op == Op::CleanEvict && (!expected || config.clean_evict == CleanEvictAnswer::Drop) {
                        send(HostAnswer::GoDrop, cqid);
                    } else {
                        send(HostAnswer::GoPull, cqid);
                        self.open[i].phase = Phase::Pulling { expected };
                        return;
                    }
                }
                // `accepts` and `requested` let nothing else in.
                _ => {}
            },
        }
        if let Some((go, cqid, data)) = fill {
            let (opcode, state) = go.code();
            let rsp = Msg::H2dRsp { opcode, rsp_data: state.map_or(0, |s| u16::from(s.0)), cqid };
            let data = Msg::H2dData { cqid, go_err: false, data };
            out.send(port, data);
            if !config.rules.go_leaves_with_data() {
                self.open[i].phase = Phase::GoFollows(go);
                return;
            }
            out.send(port, rsp);
        }
        if t.answers.is_empty() {
            self.finish(config, slot, out);
        }
    }

    /// The line cannot be served: every request is answered with an error, nothing is read or written (§2.2).
    #[allow(clippy::too_many_arguments)]
    pub(super) fn refuse(
        &mut self,
        slot: u8,
        port: AgentPort,
        line: LineAddr,
        op: Op,
        cqid: u16,
        error: ErrorAnswer,
        out: &mut AgentOutput<D>,
    ) {
        let go = if error == ErrorAnswer::GoInvalid { HostAnswer::GoI } else { HostAnswer::GoErr };
        let mut send = |answer: HostAnswer, rsp_data: u16| {
            let (opcode, state) = answer.code();
            out.send(port, Msg::H2dRsp { opcode, rsp_data: state.map_or(rsp_data, |s| u16::from(s.0)), cqid });
        };
        let pull = match op {
            Op::RdCurr => {
                out.send(port, Msg::H2dData { cqid, go_err: true, data: D::ones() });
                return;
            }
            Op::RdShared | Op::RdAny | Op::RdOwn => {
                send(go, 0);
                out.send(port, Msg::H2dData { cqid, go_err: false, data: D::ones() });
                return;
            }
            Op::RdOwnNoData => return send(HostAnswer::GoErr, 0),
            Op::CLFlush => return send(go, 0),
            Op::CleanEvictNoData => return send(HostAnswer::GoI, 0),
            Op::CleanEvict => return send(HostAnswer::GoDrop, uqid(slot, port)),
            Op::WrInv => HostAnswer::Pull,
            _ => HostAnswer::GoErrPull,
        };
        send(pull, uqid(slot, port));
        self.open.push(HomeTransaction {
            slot,
            line,
            port,
            task: Task::Request { op, cqid },
            phase: Phase::Pulling { expected: false },
            answers: IdSet::EMPTY,
            data: IdSet::EMPTY,
            early: Vec::new(),
            late: Vec::new(),
            kept: false,
            passed: None,
            dirty: false,
            refused: Some(error),
        });
        scalepool_ordered::sort_by_key(&mut self.open, |t| t.slot);
    }

    pub(super) fn snoop_answered(
        &mut self,
        config: &CoherenceConfig,
        port: AgentPort,
        rsp: D2hRspOpcode,
        id: u16,
        out: &mut AgentOutput<D>,
    ) {
        let open = self.slot((id >> 4) as u8).filter(|i| port_of(id) == port && self.open[*i].answers.has(port));
        let Some(i) = open else {
            let found = format!("D2H Rsp with UQID {id} of device {port}");
            return event(out, "COH-IDS-01", None, found, "the UQID of an open snoop of this port");
        };
        let t = &mut self.open[i];
        let line = t.line;
        let (Some(reading), Some(snoop)) = (config.rules.reading(rsp), t.task.snooped().snoop()) else {
            return event(out, "COH-OPC-01", Some(line), format!("D2H Rsp code {}", rsp.0), "a listed answer");
        };
        if !reading.to.contains(&snoop) {
            let rule = match snoop {
                Snoop::Data => "COH-SNP-01",
                Snoop::Inv => "COH-SNP-05",
                Snoop::Cur => "COH-SNP-09",
            };
            let found = format!("{} to Snp{}", rsp.name().unwrap_or("?"), snoop.name());
            return event(out, rule, Some(line), found, "an answer that this snoop can have");
        }
        t.answers.remove(port);
        if reading.data {
            match t.early.iter().position(|(p, _)| *p == port) {
                Some(at) => {
                    let (_, data) = t.early.remove(at);
                    self.forwarded(config, i, port, rsp, data);
                }
                None => {
                    t.data.insert(port);
                    t.late.push((port, rsp));
                    scalepool_ordered::sort(&mut t.late);
                }
            }
        } else if t.early.iter().any(|(p, _)| *p == port) {
            let found = format!("data with {}", rsp.name().unwrap_or("?"));
            event(out, "COH-SNP-13", Some(line), found, "data with a Fwd answer only");
        }
        let left = reading.left;
        let t = &mut self.open[i];
        t.kept |= left != Left::Nothing;
        self.change(line, |h| match left {
            Left::Nothing => h.forget(port),
            Left::Shared => {
                h.forget(port);
                h.sharers.insert(port);
            }
            Left::Same => {}
        });
        self.progress(config, i, out);
    }

    /// The line that a Fwd answer brought.
    pub(super) fn forwarded(
        &mut self,
        config: &CoherenceConfig,
        i: usize,
        port: AgentPort,
        rsp: D2hRspOpcode,
        data: D,
    ) {
        let t = &mut self.open[i];
        let line = t.line;
        t.data.remove(port);
        let written = config.rules.reading(rsp).is_some_and(|r| r.written);
        let takes_dirty = matches!(t.task, Task::Request { op: Op::RdOwn | Op::RdAny, .. });
        if written && config.grant_dirty && takes_dirty && rsp == D2hRspOpcode::RspIFwdM {
            (t.passed, t.dirty) = (Some(data), true);
        } else if written {
            self.memory.write(line, &data, WHOLE_LINE);
        } else {
            t.passed = Some(data);
        }
    }

    /// Everything the requester waited for may be here.
    pub(super) fn progress(&mut self, config: &CoherenceConfig, i: usize, out: &mut AgentOutput<D>) {
        let t = &self.open[i];
        if !t.answers.is_empty() || !t.data.is_empty() {
            return;
        }
        let slot = t.slot;
        match t.phase {
            Phase::Snooping => self.ready(config, slot, out),
            Phase::Answered => self.close(slot, out),
            Phase::Pulling { .. } | Phase::Fetching | Phase::Storing { .. } | Phase::GoFollows(_) => {}
        }
    }

    pub(super) fn data_came(
        &mut self,
        config: &CoherenceConfig,
        port: AgentPort,
        id: u16,
        bogus: bool,
        bytes: WriteBytes<D>,
        out: &mut AgentOutput<D>,
    ) {
        let Some(i) = self.slot((id >> 4) as u8).filter(|_| port_of(id) == port) else {
            return event(out, "COH-IDS-02", None, format!("D2H Data with UQID {id}"), "the UQID of a pull or a snoop");
        };
        let t = &mut self.open[i];
        let line = t.line;
        if let (Phase::Pulling { expected }, true) = (t.phase, t.port == port) {
            return self.pulled(config, i, expected, bogus, bytes, out);
        }
        if bogus {
            event(out, "COH-BOG-02", Some(line), "Bogus on the data of a snoop".into(), "Bogus on evicts only");
        }
        if let Some(at) = t.late.iter().position(|(p, _)| *p == port) {
            let (_, rsp) = t.late.remove(at);
            self.forwarded(config, i, port, rsp, bytes.data);
            return self.progress(config, i, out);
        }
        if !t.answers.has(port) || t.early.iter().any(|(p, _)| *p == port) {
            return event(
                out,
                "COH-SNP-13",
                Some(line),
                "data that no answer announced".into(),
                "one line a Fwd answer",
            );
        }
        t.early.push((port, bytes.data));
        scalepool_ordered::sort(&mut t.early);
    }

    /// The data of a pull.
    pub(super) fn pulled(
        &mut self,
        config: &CoherenceConfig,
        i: usize,
        expected: bool,
        bogus: bool,
        bytes: WriteBytes<D>,
        out: &mut AgentOutput<D>,
    ) {
        let WriteBytes { data, enables } = bytes;
        let t = &self.open[i];
        let (line, slot) = (t.line, t.slot);
        let Task::Request { op, .. } = t.task else { return };
        let evict = [Op::CleanEvict, Op::DirtyEvict].contains(&op);
        if t.refused.is_some() {
            // GO_ERR_WritePull: the data is taken and forgotten.
        } else if evict {
            // Of a clean one, memory has the bytes.
            if config.rules.is_evict_written(expected, bogus, op) {
                self.memory.write(line, &config.passed(PoisonStep::Stored, data), WHOLE_LINE);
            }
            match (expected, bogus) {
                (true, false) | (false, true) => {}
                (true, true) => {
                    event(
                        out,
                        "COH-BOG-02",
                        Some(line),
                        "Bogus from the holder".into(),
                        "Bogus of evicts that a snoop hit",
                    );
                }
                (false, false) => {
                    let found = "data without Bogus from a device that holds nothing".into();
                    event(out, "COH-EVT-03", Some(line), found, "Bogus on data that will be dropped");
                    let found = "Bogus = 0 on the data of an evict that a snoop hit".into();
                    event(out, "COH-BOG-01", Some(line), found, "Bogus = 1 on every data message");
                }
            }
        } else if bogus {
            let found = format!("Bogus on {}", op.name().unwrap_or("?"));
            event(out, "COH-BOG-02", Some(line), found, "Bogus on evicts only");
        } else {
            self.memory.write(line, &config.passed(PoisonStep::Stored, data), enables);
            if enables != WHOLE_LINE {
                let merged = self.memory.read(line);
                let poison = config.rules.poisoned_behind_part(merged.is_poisoned());
                if poison != merged.is_poisoned() {
                    self.memory.write(line, &merged.poisoned(poison), WHOLE_LINE);
                }
            }
            out.effects.push(Effect::Written(line));
        }
        self.finish(config, slot, out);
    }
}
