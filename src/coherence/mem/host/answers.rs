//! Answers of the device at a host: completions, data, and the fill that both together make.
//!
//! Modelled: S2M NDR and DRS in either order. Left out: back-invalidates.
//!
//! A walk: the data of a MemRd comes before its Cmp-E and waits; with Cmp-E the line is filled and the access that asked is due.

use super::{HostAccess, MemHost, PendingSnoop, SnoopStage, TrackedLine, open_granted};
use crate::agent::{AgentOutput, Effect};
use crate::config::CoherenceConfig;
use crate::content::LineContent;
use crate::mem::host_rows::{MemHostAction, MemHostInput};
use crate::mem::tables;
use crate::mem::tables::Copy4;
use crate::rules::PoisonStep;
use scalepool_protocols::cxl::cxl256::code::{DrsOpcode, M2sReqOpcode, NdrOpcode};

impl<D: LineContent> MemHost<D> {
    /// The fill is done when completion and data are here.
    pub(super) fn try_fill(&mut self, config: &CoherenceConfig, at: usize, out: &mut AgentOutput<D>) {
        let entry = &mut self.lines[at];
        let Some(open) = &entry.open else { return };
        let Some(granted) = open.granted else { return };
        if config.rules.fill_waits(open.req.has_data(), open.data.is_some()) {
            return;
        }
        let Some(open) = entry.open.take() else { return };
        let line = entry.line;
        let cached = match granted {
            NdrOpcode::CmpS => Some(Copy4::S),
            NdrOpcode::CmpE => Some(Copy4::E),
            NdrOpcode::CmpM => Some(Copy4::M),
            _ => None,
        };
        match cached {
            // An own dirty copy is newer than what the device sent.
            Some(_) if entry.state == Copy4::M => {}
            Some(state) => {
                entry.state = state;
                if let Some(data) = open.data {
                    entry.data = Some(config.passed(PoisonStep::Filled, data));
                }
            }
            None => {
                if let Some(value) = open.data {
                    out.effects.push(Effect::Used { line, value, current: false });
                }
            }
        }
        if cached.is_some() && config.mem.one_access {
            let served = match open.want {
                HostAccess::Nothing => false,
                HostAccess::Load => entry.can_load(),
                HostAccess::Store => matches!(entry.state, Copy4::E | Copy4::M),
                HostAccess::StorePart => matches!(entry.state, Copy4::E | Copy4::M) && entry.can_load(),
            };
            entry.due = if served { config.rules.due_access(open.want) } else { HostAccess::Nothing };
        }
        let reads = config.rules.asks_bytes(open.want, config.without_bytes);
        entry.lacking = (cached == Some(Copy4::E) && entry.data.is_none() && reads).then_some(open.want);
        out.effects.push(Effect::Done(line));
        self.answer_after_fill(config, at, out);
        self.ask_for_bytes(out);
    }

    pub(super) fn take_ndr(&mut self, config: &CoherenceConfig, opcode: NdrOpcode, tag: u16, out: &mut AgentOutput<D>) {
        let found = format!("NDR {} for tag {tag}", opcode.name().unwrap_or("reserved"));
        if opcode == NdrOpcode::BIConflictAck {
            let Some(at) = self.disputed(tag).map(|line| self.slot(line)) else {
                out.events.push(self.event("COH-BIC-02", None, found, "an Ack for an open BIConflict"));
                return;
            };
            let Some(act) = self.step(config, at, MemHostInput::Ack, &found, out) else { return };
            if act == MemHostAction::AnswerFilled {
                if let Some(snoop) = &mut self.lines[at].snoop {
                    snoop.stage = SnoopStage::AwaitFill;
                }
                self.answer_after_fill(config, at, out);
            } else {
                self.answer(config, at, out);
            }
            return;
        }
        let waits = |l: &TrackedLine<D>| {
            l.write == Some(tag) || l.open.as_ref().is_some_and(|o| o.tag == tag && o.granted.is_none())
        };
        let Some(at) = self.lines.first_open(waits) else {
            out.events.push(self.event("COH-IDS-01", None, found, "the tag of an open request"));
            return;
        };
        let line = self.lines[at].line;
        if self.lines[at].write == Some(tag) {
            if opcode != NdrOpcode::Cmp {
                // The row of the write is named by what it said is kept.
                let rule = match self.lines[at].state {
                    Copy4::I => "COH-MEM-23",
                    Copy4::S => "COH-MEM-22",
                    Copy4::E | Copy4::M => "COH-MEM-21",
                };
                out.events.push(self.event(rule, Some(line), found, "Cmp for a write"));
                return;
            }
            match self.step(config, at, MemHostInput::WriteCmp, &found, out) {
                Some(MemHostAction::Retire) => {
                    self.lines[at].write = None;
                    out.effects.push(Effect::Done(line));
                }
                Some(MemHostAction::Answer) => {
                    self.lines[at].write = None;
                    out.effects.push(Effect::Done(line));
                    self.answer(config, at, out);
                }
                Some(MemHostAction::SendAnswer) => {
                    self.lines[at].write = None;
                    if let Some(PendingSnoop { stage: SnoopStage::WriteBack { answer }, .. }) = self.lines[at].snoop {
                        self.resolve(config, at, answer, out);
                    }
                }
                // The answer has left without waiting.
                _ => self.lines[at].write = None,
            }
            return;
        }
        let Some(req) = self.lines[at].open.as_ref().map(|o| o.req) else { return };
        let rows = tables::REQ_ROWS
            .iter()
            .filter(|r| r.opcodes.contains(&req.opcode) && (r.meta_ignored || r.meta == req.meta) && r.snp == req.snp);
        let mut rule = "COH-MEM-04";
        let mut fits = false;
        for row in rows {
            rule = row.rule;
            // Cmp alone says that the device has no such line (§3.2): nothing is granted.
            let nothing_there = opcode == NdrOpcode::Cmp && !req.has_data() && config.mem.is_outside(line);
            if nothing_there || row.ndr.contains(&opcode) && (opcode != NdrOpcode::CmpM || config.mem.cmp_m) {
                fits = true;
                break;
            }
        }
        if !fits {
            let rule = if opcode == NdrOpcode::CmpM { "COH-MEM-46" } else { rule };
            out.events.push(self.event(rule, Some(line), found, format!("an answer that {:?} can have", req.opcode)));
            return;
        }
        if opcode == NdrOpcode::Cmp && req.asks_ownership() {
            out.effects.push(Effect::Refused(line));
        }
        match self.step(config, at, MemHostInput::Cmp, &found, out) {
            Some(MemHostAction::Retire) => {
                self.lines[at].open = None;
                out.effects.push(Effect::Done(line));
            }
            Some(_) => {
                let entry = &mut self.lines[at];
                if let Some(PendingSnoop { stage: SnoopStage::Conflict { granted, .. }, .. }) = &mut entry.snoop {
                    *granted = true;
                }
                let is_evict = req.opcode == M2sReqOpcode::MemClnEvct;
                if let Some(open) = &mut entry.open {
                    open.granted = Some(opcode);
                }
                if is_evict {
                    entry.open = None;
                    out.effects.push(Effect::Done(line));
                } else {
                    self.try_fill(config, at, out);
                }
            }
            None => {}
        }
    }

    pub(super) fn take_drs(
        &mut self,
        config: &CoherenceConfig,
        opcode: DrsOpcode,
        tag: u16,
        data: D,
        out: &mut AgentOutput<D>,
    ) {
        let found = format!("DRS {} for tag {tag}", opcode.name().unwrap_or("reserved"));
        let Some(at) = self.lines.first_open(|l| l.open.as_ref().is_some_and(|o| o.tag == tag)) else {
            if config.rules.data_needs_read() {
                out.events.push(self.event("COH-IDS-01", None, found, "the tag of an open read"));
            }
            return;
        };
        let line = self.lines[at].line;
        let open = self.lines[at].open.as_ref();
        if open.is_some_and(|o| o.data.is_some() || !o.req.has_data()) {
            out.events.push(self.event("COH-MEM-47", Some(line), found, "one line for a read, none for the others"));
            return;
        }
        if self.step(config, at, MemHostInput::Data, &found, out).is_none() {
            return;
        }
        if opcode == DrsOpcode::MemDataNXM {
            // The only answer: no completion follows.
            if open_granted(&self.lines[at]) {
                out.events.push(self.event("COH-MEM-36", Some(line), found, "no completion beside MemDataNXM"));
            }
            self.lines[at].open = None;
            out.effects.push(Effect::Refused(line));
            out.effects.push(Effect::Done(line));
            return;
        }
        if let Some(open) = &mut self.lines[at].open {
            open.data = Some(data);
        }
        self.try_fill(config, at, out);
    }
}
