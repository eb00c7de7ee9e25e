//! Back-invalidate snoops of lines (`bridge` §9.5, §9.6).
//!
//! Modelled: a snoop is answered by the state of its sector, a dirty one behind its write back. A snoop of a line that is asked for, or
//! given up, is a conflict (R1, R4); one that meets a line in use waits for its holder (R2, R3, R7), which waits for devices alone.
//! Without a cache a bridge holds a line between the grant and its write back, and finds nothing else. A snoop of memory that no device keeps
//! coherent is answered as well, and told.
//!
//! A walk through R1: MemRd is open and BISnpInv comes; BIConflict leaves with the Tag of the MemRd; the Ack comes before any Cmp, so the
//! snoop is answered from the old state, and the request goes on.

use super::transaction::CachedStage;
use super::write_backs::{self, WriteBack, WriteBackEnd, WriteBackMessage};
use super::{BridgeOutput, BridgeStep, OutboundBridge};
use crate::cache::data::PortLine;
use crate::cache::sector::{self, SectorState};
use crate::flows::{LineOperation, StepMessage};
use crate::locks::{LockHolder, OpenSnoop};
use crate::window::WindowClass;
use scalepool_coherence::content::{CacheLine, LineAddr, WHOLE_LINE};
use scalepool_coherence::mem::host::block_lines;
use scalepool_coherence::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{BirspOpcode, BisnpOpcode, M2sRwdOpcode, MetaField, MetaValue, SnpType};

/// What is done with a line when a snoop of it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holding {
    /// Nothing that a snoop has to wait for.
    Nothing,
    /// It is asked for, or given up, with this Tag.
    Asking(u16),
    /// It is granted, or written back.
    Granted,
}

impl OpenSnoop {
    /// Its answer for a line.
    pub(super) fn answered(self, (port, line): PortLine, opcode: BirspOpcode) -> BridgeStep {
        let msg = Msg::M2sBirsp { opcode, bi_tag: self.bi_tag, low_addr: (line.0 & 3) as u8 };
        BridgeStep::Send { by: None, port, msg, is_computed: false }
    }
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

    fn holding(&self, place: PortLine, holder: LockHolder) -> Holding {
        let id = match holder {
            LockHolder::Child(id) => id,
            LockHolder::WriteBack(n) => return self.holding_of_write_back(n),
        };
        let Some(child) = self.child_of(id) else { return Holding::Nothing };
        match child.steps.get(child.step).map(|step| step.message) {
            _ if child.cached == Some(CachedStage::Looked) => {
                // It has asked for nothing yet; what is dirty is written back when it has had the line.
                let is_dirty = self.cache.as_ref().is_some_and(|cache| cache.state(place).is_dirty());
                if is_dirty { Holding::Granted } else { Holding::Nothing }
            }
            _ if child.cached.is_some() && !child.awaited.completion => Holding::Granted,
            Some(StepMessage::Data(..)) => Holding::Granted,
            Some(StepMessage::Request(..)) if child.awaited.completion => Holding::Asking(id.tag()),
            Some(StepMessage::Request(..)) if child.operation != LineOperation::Read && !child.is_done => {
                Holding::Granted
            }
            _ => Holding::Nothing,
        }
    }

    fn holding_of_write_back(&self, n: u16) -> Holding {
        let Some(write_back) = self.write_backs.get(n) else { return Holding::Nothing };
        match write_back.message {
            WriteBackMessage::Drop if !write_back.is_completed => Holding::Asking(write_backs::tag(n)),
            _ => Holding::Granted,
        }
    }

    /// A snoop of one line.
    pub(super) fn snooped_line(&mut self, place: PortLine, opcode: BisnpOpcode, bi_tag: u16, out: &mut BridgeOutput) {
        if self.config.windows.leads_to_class(place.0, place.1.address(), WindowClass::Mn) {
            let found = format!("{} of {:#x}", opcode.name().unwrap_or("a reserved BISnp"), place.1.address());
            out.find("BRG-TIR-02", found, "no snoop of memory that nobody keeps coherent");
        }
        let snoop = OpenSnoop { bi_tag, opcode, awaits_ack: false };
        let holder = self.locks.get_mut(place).map(|lock| lock.holder);
        let holding = holder.map_or(Holding::Nothing, |holder| self.holding(place, holder));
        let (Some(holder), true) = (holder, holding != Holding::Nothing) else {
            self.answer_snoop(place, snoop, out);
            return;
        };
        if let Some(lock) = self.locks.get_mut(place) {
            lock.snoop = Some(OpenSnoop { awaits_ack: matches!(holding, Holding::Asking(_)), ..snoop });
        }
        let Holding::Asking(tag) = holding else { return };
        match holder {
            LockHolder::Child(id) => {
                if let Some(child) = self.child(id) {
                    child.awaited.ack = true;
                }
            }
            LockHolder::WriteBack(n) => {
                if let Some(write_back) = self.write_backs.get_mut(n) {
                    write_back.awaits_ack = true;
                }
            }
        }
        let msg = Msg::M2sRwd {
            opcode: M2sRwdOpcode::BIConflict,
            snp: SnpType::NoOp,
            meta_field: MetaField::NoOp,
            meta: MetaValue::Invalid,
            line: place.1,
            tag,
            data: CacheLine::of([0; 64]),
            enables: WHOLE_LINE,
        };
        out.steps.push(BridgeStep::Send { by: None, port: place.0, msg, is_computed: false });
    }

    /// BIConflictAck of a request: if the request was first, its access is done before the snoop is answered; else the snoop is answered
    /// from the old state, and the request goes on.
    pub(super) fn acknowledged(&mut self, port: usize, tag: u16, out: &mut BridgeOutput) {
        let Some((id, child)) = self.awaiting(port, tag, |awaited| awaited.ack, "BIConflictAck", out) else { return };
        child.awaited.ack = false;
        let place = (port, child.line);
        let keeps = child.operation != LineOperation::Read || child.cached.is_some();
        let is_granted = !child.awaited.completion && keeps && !child.is_done;
        if let Some(snoop) = self.locks.get_mut(place).and_then(|lock| lock.snoop.as_mut()) {
            snoop.awaits_ack = false;
        }
        if !is_granted && let Some(snoop) = self.locks.get_mut(place).and_then(|lock| lock.snoop.take()) {
            self.answer_snoop(place, snoop, out);
        }
        self.answered(id, out);
    }

    /// Answers a snoop from the state of its sector. Whether a write back has taken the line for it, behind which the answer comes.
    pub(super) fn answer_snoop(&mut self, place: PortLine, snoop: OpenSnoop, out: &mut BridgeOutput) -> bool {
        let sector = self.cache.as_ref().map(|cache| cache.sector(place));
        let state = sector.map_or(SectorState::Invalid, |sector| sector.state);
        let row = sector::snooped(snoop.opcode, state);
        let is_held = matches!(state, SectorState::Shared | SectorState::Exclusive | SectorState::Modified);
        if let (Some(meta), Some(sector)) = (row.writes, sector) {
            let address = self.cache.as_ref().and_then(|cache| cache.hbm_address(place));
            let end = WriteBackEnd::Snooped(row.next, row.answer, snoop);
            let write_back = WriteBack::new(place, WriteBackMessage::Write(meta), sector.line, end, None);
            let is_taken = self.write_back(write_back, address, out);
            self.cache_counts.snoop_hits += u64::from(is_taken);
            if !is_taken {
                self.waiting_snoops.push_back((place, snoop));
            }
            return is_taken;
        }
        self.cache_counts.snoop_hits += u64::from(is_held);
        self.change_state(place, row.next, out);
        out.steps.push(snoop.answered(place, row.answer));
        false
    }
}
