//! Back-invalidates at a host: which answer a line gives, when, and how a conflict ends.
//!
//! Modelled: BISnp with write back before the answer, BIConflict and its outcomes, block snoops line by line. Left out: the host's own
//! requests (the parent).
//!
//! A walk: BISnpInv finds the line dirty; MemWr leaves, its Cmp comes, and BIRspI answers.

use super::{HostAccess, MemHost, PendingSnoop, SnoopStage, TrackedLine, block_lines, conflict};
use crate::agent::AgentOutput;
use crate::config::CoherenceConfig;
use crate::content::{LineAddr, LineContent};
use crate::mem::host_rows::{MemHostAction, MemHostInput};
use crate::mem::options::{BlockAnswer, Keep};
use crate::mem::tables;
use crate::mem::tables::{AnswerRow, Copy4};
use crate::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{BirspOpcode, BisnpOpcode};

impl<D: LineContent> MemHost<D> {
    /// A snoop that waited for the fill is answered when the fill is done and the due access made.
    pub(super) fn answer_after_fill(&mut self, config: &CoherenceConfig, at: usize, out: &mut AgentOutput<D>) {
        let entry = &self.lines[at];
        let waits = matches!(entry.snoop, Some(PendingSnoop { stage: SnoopStage::AwaitFill, .. }));
        if waits && entry.open.is_none() && entry.due == HostAccess::Nothing {
            self.answer(config, at, out);
        }
    }

    /// The row by which a line is answered now.
    pub(super) fn answer_row(
        config: &CoherenceConfig,
        entry: &TrackedLine<D>,
        snoop: &PendingSnoop,
    ) -> Option<&'static AnswerRow> {
        let rows: Vec<&AnswerRow> = tables::answers(snoop.opcode, entry.state)
            // Ownership without bytes cannot become a shared copy.
            .filter(|r| r.left != Copy4::S || entry.data.is_some())
            .collect();
        let fits = |r: &&&AnswerRow| match config.mem.host_keeps {
            Keep::Most => true,
            Keep::Shared => r.left <= Copy4::S,
            Keep::Nothing => r.left == Copy4::I,
        };
        let first = rows.iter().position(|r| fits(&r)).unwrap_or(0);
        rows.get((first + usize::from(snoop.way)).min(rows.len().saturating_sub(1))).copied()
    }

    /// Answers the snoop of a line from its present state; a dirty copy is written back first.
    pub(super) fn answer(&mut self, config: &CoherenceConfig, at: usize, out: &mut AgentOutput<D>) {
        let Some(snoop) = self.lines[at].snoop else { return };
        let Some(row) = Self::answer_row(config, &self.lines[at], &snoop) else { return };
        if config.rules.writes_back(row) {
            self.send_write(at, row.left, out);
            if config.rules.answer_awaits_write() {
                self.lines[at].snoop =
                    Some(PendingSnoop { stage: SnoopStage::WriteBack { answer: row.answer }, ..snoop });
                if snoop.opcode.is_block() && !config.rules.block_awaits_lines() {
                    self.resolve(config, at, row.answer, out);
                }
                return;
            }
        } else {
            let entry = &mut self.lines[at];
            entry.state = row.left;
            if !config.rules.keeps_bytes(row.left, entry.open.is_some()) {
                entry.data = None;
            }
        }
        self.resolve(config, at, row.answer, out);
    }

    /// The line is resolved: its own answer leaves, or the block's when it was the last line.
    pub(super) fn resolve(
        &mut self,
        config: &CoherenceConfig,
        at: usize,
        answer: BirspOpcode,
        out: &mut AgentOutput<D>,
    ) {
        let Some(snoop) = self.lines[at].snoop else { return };
        let line = self.lines[at].line;
        let bi_tag = snoop.bi_tag;
        let low = |line: LineAddr| (line.0 & 3) as u8;
        if !snoop.opcode.is_block() || config.mem.block_answer == BlockAnswer::Lines {
            self.lines[at].snoop = None;
            out.send(0, Msg::M2sBirsp { opcode: answer, bi_tag, low_addr: low(line) });
            return;
        }
        self.lines[at].snoop = Some(PendingSnoop { stage: SnoopStage::Resolved { answer }, ..snoop });
        let mut answers = Vec::new();
        let same = |s: &Option<PendingSnoop>| s.is_some_and(|s| s.bi_tag == bi_tag && s.opcode.is_block());
        for l in self.lines.open().filter(|l| same(&l.snoop)) {
            match l.snoop.map(|s| s.stage) {
                Some(SnoopStage::Resolved { answer }) => answers.push((l.line, answer)),
                _ if !config.rules.block_awaits_lines() => {}
                _ => return,
            }
        }
        let is_resolved = |l: &TrackedLine<D>| {
            same(&l.snoop) && matches!(l.snoop, Some(PendingSnoop { stage: SnoopStage::Resolved { .. }, .. }))
        };
        while let Some(at) = self.lines.first_open(is_resolved) {
            self.lines[at].snoop = None;
        }
        // I, S, E are 0, 1, 2: the largest code says the most.
        let most = answers.iter().map(|a| a.1).max().unwrap_or(BirspOpcode::BIRspI);
        let equal = answers.iter().all(|a| a.1 == most);
        if equal || config.mem.block_answer == BlockAnswer::Whole {
            out.send(0, Msg::M2sBirsp { opcode: BirspOpcode(most.0 + 4), bi_tag, low_addr: 0 });
        } else {
            for (line, opcode) in answers {
                out.send(0, Msg::M2sBirsp { opcode, bi_tag, low_addr: low(line) });
            }
        }
    }

    pub(super) fn take_bisnp(
        &mut self,
        config: &CoherenceConfig,
        opcode: BisnpOpcode,
        line: LineAddr,
        bi_tag: u16,
        way: u8,
        out: &mut AgentOutput<D>,
    ) {
        let known = matches!(opcode.0, 0..=2 | 4..=6);
        let covered = if opcode.is_block() { block_lines(line) } else { Some((line, 1)) };
        let (Some((first, count)), true) = (covered, known) else {
            let found = format!("BISnp {} at {:#x}", opcode.name().unwrap_or("reserved"), line.address());
            let rule = if opcode.is_block() { "COH-BLK-01" } else { "COH-SFI-02" };
            out.events.push(self.event(rule, Some(line), found, "a known opcode and enable 1, 2 or 3"));
            return;
        };
        let lines = (0..count).map(|i| LineAddr(first.0 + i));
        for line in lines.clone() {
            let at = self.slot(line);
            let act = self.step(config, at, MemHostInput::Snoop, "a second BISnp", out);
            let Some(act) = act else { continue };
            let stage = match act {
                MemHostAction::Dispute => {
                    let tag = self.lines[at].open.as_ref().map_or(0, |o| o.tag);
                    SnoopStage::Conflict { tag, granted: false }
                }
                MemHostAction::AwaitFill => SnoopStage::AwaitFill,
                MemHostAction::AwaitWrite => SnoopStage::AwaitWrite,
                // Replaced at once below.
                _ => SnoopStage::AwaitFill,
            };
            self.lines[at].snoop = Some(PendingSnoop { opcode, bi_tag, way, stage });
        }
        let mut disputed = false;
        for line in lines {
            let at = self.slot(line);
            let Some(PendingSnoop { stage, bi_tag: own, .. }) = self.lines[at].snoop else { continue };
            if own != bi_tag {
                continue;
            }
            match stage {
                SnoopStage::Conflict { tag, granted: false } => {
                    if config.rules.disputes(disputed) {
                        out.send(0, conflict(line, tag));
                    }
                    disputed = true;
                }
                SnoopStage::AwaitFill if self.lines[at].open.is_none() => self.answer(config, at, out),
                _ => {}
            }
        }
    }
}
