//! Back-invalidate snoops of lines (`bridge` §9.5, §9.6, in the flow without a cache).
//!
//! Modelled: a bridge without a cache holds a line between the grant and its write back alone. A snoop of a line that is asked for is a
//! conflict (R1), one that comes between grant and write back waits for the Cmp of the write (R2, R3), any other finds nothing.
//!
//! A walk through R1: MemRd is open and BISnpInv comes; BIConflict leaves with the Tag of the MemRd; the Ack comes before any Cmp, so the
//! snoop is answered BIRspI and the request goes on.

use super::locks::OpenSnoop;
use super::table::ChildId;
use super::{BridgeOutput, BridgeStep, OutboundBridge};
use crate::flows::{LineOperation, StepMessage};
use scalepool_coherence::content::{CacheLine, LineAddr, WHOLE_LINE};
use scalepool_coherence::mem::host::block_lines;
use scalepool_coherence::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{BirspOpcode, BisnpOpcode, M2sRwdOpcode, MetaField, MetaValue, SnpType};

/// What a child does with a line when a snoop of it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holding {
    /// Nothing, and it asks for nothing.
    Nothing,
    /// It asks for the line.
    Asking,
    /// The line is granted, or written back.
    Granted,
}

fn nothing_held(port: usize, line: LineAddr, bi_tag: u16) -> BridgeStep {
    let msg = Msg::M2sBirsp { opcode: BirspOpcode::BIRspI, bi_tag, low_addr: (line.0 & 3) as u8 };
    BridgeStep::Send { child: None, port, msg, is_computed: false }
}

impl OutboundBridge {
    /// A snoop comes; of a block each line is answered by itself.
    pub(super) fn snooped(
        &mut self,
        port: usize,
        opcode: BisnpOpcode,
        line: LineAddr,
        bi_tag: u16,
        out: &mut BridgeOutput,
    ) {
        self.counts.snoops += 1;
        if !opcode.is_block() {
            return self.snooped_line((port, line), opcode, bi_tag, out);
        }
        let Some((first, count)) = block_lines(line) else {
            return out.find("COH-BLK-01", "a block snoop of no line".to_owned(), "enable 1, 2 or 3");
        };
        for n in 0..count {
            self.snooped_line((port, LineAddr(first.0 + n)), opcode, bi_tag, out);
        }
    }

    fn holding(&self, id: ChildId) -> Holding {
        let Some(child) = self.child_of(id) else { return Holding::Nothing };
        match child.steps.get(child.step).map(|step| step.message) {
            Some(StepMessage::Data(..)) => Holding::Granted,
            Some(StepMessage::Request(..)) if child.awaited.completion => Holding::Asking,
            Some(StepMessage::Request(..)) if child.operation != LineOperation::Read && !child.is_done => {
                Holding::Granted
            }
            _ => Holding::Nothing,
        }
    }

    fn snooped_line(
        &mut self,
        (port, line): (usize, LineAddr),
        opcode: BisnpOpcode,
        bi_tag: u16,
        out: &mut BridgeOutput,
    ) {
        let holder = self.locks.get_mut((port, line)).map(|lock| lock.holder);
        let holding = holder.map_or(Holding::Nothing, |holder| self.holding(holder));
        let (Some(holder), true) = (holder, holding != Holding::Nothing) else {
            return out.steps.push(nothing_held(port, line, bi_tag));
        };
        if let Some(lock) = self.locks.get_mut((port, line)) {
            lock.snoop = Some(OpenSnoop { bi_tag, opcode, awaits_ack: holding == Holding::Asking });
        }
        if holding == Holding::Asking {
            if let Some(child) = self.child(holder) {
                child.awaited.ack = true;
            }
            let msg = Msg::M2sRwd {
                opcode: M2sRwdOpcode::BIConflict,
                snp: SnpType::NoOp,
                meta_field: MetaField::NoOp,
                meta: MetaValue::Invalid,
                line,
                tag: holder.tag(),
                data: CacheLine::of([0; 64]),
                enables: WHOLE_LINE,
            };
            out.steps.push(BridgeStep::Send { child: None, port, msg, is_computed: false });
        }
    }

    /// BIConflictAck: if the request was first, its access is done before the snoop is answered; else the snoop is answered, and the
    /// request goes on.
    pub(super) fn acknowledged(&mut self, port: usize, tag: u16, out: &mut BridgeOutput) {
        let Some((id, child)) = self.awaiting(port, tag, |awaited| awaited.ack, "BIConflictAck", out) else { return };
        child.awaited.ack = false;
        let place = (port, child.line);
        let is_granted = !child.awaited.completion && child.operation != LineOperation::Read && !child.is_done;
        if let Some(snoop) = self.locks.get_mut(place).and_then(|lock| lock.snoop.as_mut()) {
            snoop.awaits_ack = false;
        }
        if !is_granted {
            self.answer_snoop(place, out);
        }
        self.answered(id, out);
    }

    /// Answers the snoop that waits at a line, if there is one: the bridge has kept nothing.
    pub(super) fn answer_snoop(&mut self, (port, line): (usize, LineAddr), out: &mut BridgeOutput) {
        let waiting = self.locks.get_mut((port, line)).and_then(|lock| lock.snoop.take());
        if let Some(OpenSnoop { bi_tag, .. }) = waiting {
            out.steps.push(nothing_held(port, line, bi_tag));
        }
    }
}
