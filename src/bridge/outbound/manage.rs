//! Flush and invalidate of lines that nobody keeps coherent (`bridge` §9.9).
//!
//! Modelled: one operation at a time on a range of addresses of accelerators; requests to the range that come while it runs wait, those that use its
//! lines end first; stores are written back by as many entries as there are; then the registers say done. Left out: a second window that
//! leads to the same lines: its requests do not wait.
//!
//! A walk through a flush: two lines of the range are in D and one in V; both are written by MemWr Any; a read of one of them comes and waits;
//! both Cmps are there, so all three are in V, done is 1, and the read goes on and finds its line.

use super::transaction::TransactionProgress;
use super::write_backs::{WriteBack, WriteBackEnd, WriteBackMessage};
use super::{BridgeOutput, BridgeStep, BridgeWait, OutboundBridge, OutboundWork};
use crate::cache::data::PortLine;
use crate::cache::sector::SectorState;
use crate::registers::{BridgeRegisters, ControlWindow, ManagedRange, RegisterStart};
use scalepool_coherence::content::CacheLine;
use scalepool_memory::ALL_BYTES;
use scalepool_protocols::cxl::cxl256::code::MetaValue;
use std::collections::VecDeque;

/// An operation that runs.
#[derive(Debug, Clone)]
pub(super) struct ManagedOperation {
    range: ManagedRange,
    /// Lines that are still to be looked at.
    lines: VecDeque<PortLine>,
    /// Lines that are being written back.
    pub writing: usize,
    /// Requests that wait for its end.
    waiting: Vec<u16>,
}

impl OutboundBridge {
    /// Its registers, if it has any.
    pub fn control(&self) -> Option<ControlWindow> {
        self.config.control
    }

    /// Whether an address is one of its registers.
    pub(super) fn is_control(&self, address: u64) -> bool {
        self.config.control.is_some_and(|window| window.holds(address))
    }

    /// A request is the first of its key: of one to the control window registers are read or written.
    pub(super) fn access_control(&mut self, entry: u16, out: &mut BridgeOutput) {
        let Some(ControlWindow { base, .. }) = self.config.control else { return };
        let (epoch, is_committing, is_viral) = (self.epoch(), self.is_committing(), self.is_viral());
        let is_meant = self.table.get(entry).is_some_and(|transaction| self.is_control(transaction.request.address));
        let (Some(transaction), Some(registers)) =
            (self.table.get_mut(entry).filter(|_| is_meant), &mut self.registers)
        else {
            return;
        };
        let line = ((transaction.request.address - base) / 64) as usize;
        let Some(child) = transaction.children.first_mut() else { return };
        if !child.data_is_written() {
            registers.show(epoch, is_committing, is_viral);
            child.read = Some(CacheLine::of(registers.line(line)));
        } else if child.data.poison {
            registers.error();
        } else {
            let (bytes, mask) = (child.data.bytes, child.mask);
            for (register, value) in BridgeRegisters::written(line, &bytes, mask) {
                let started = self.registers.as_mut().and_then(|registers| registers.write(register, value));
                match started {
                    Some(RegisterStart::Manage(range)) => self.begin_operation(range, out),
                    Some(RegisterStart::Commit) => self.commit_registers(),
                    Some(RegisterStart::Flip(address, bit)) => self.flip_at(address, bit),
                    None => (),
                }
            }
        }
    }

    fn begin_operation(&mut self, range: ManagedRange, out: &mut BridgeOutput) {
        let (lines, waiting) = (self.lines_in(range).into(), Vec::new());
        self.managed = Some(ManagedOperation { range, lines, writing: 0, waiting });
        self.manage(out);
    }

    /// Lines without an owner that are in the cache and in a range.
    fn lines_in(&self, range: ManagedRange) -> Vec<PortLine> {
        let Some(cache) = &self.cache else { return Vec::new() };
        let is_meant = |(place, state): &(PortLine, SectorState)| {
            let needs_it = *state == SectorState::Dirty || *state == SectorState::Valid && range.invalidate;
            needs_it && self.leads_to(range, *place)
        };
        cache.valid().into_iter().filter(is_meant).map(|(place, _)| place).collect()
    }

    /// Whether an address of a range leads to a line.
    fn leads_to(&self, range: ManagedRange, (port, line): PortLine) -> bool {
        self.config.windows.leading_to(port, line.address()).any(|address| range.meets(address, 64))
    }

    /// Whether stores of a range are on their way to memory: those of a line that leaves are not in the cache any more.
    fn is_writing(&self, range: ManagedRange) -> bool {
        self.write_backs.all().any(|write_back| write_back.has_data() && self.leads_to(range, write_back.place))
    }

    /// Keeps a request waiting that meets the range of an operation; whether it does.
    pub(super) fn waits_for_operation(&mut self, entry: u16, out: &mut BridgeOutput) -> bool {
        let Some(transaction) = self.table.get(entry) else { return false };
        let (address, bytes) = (transaction.request.address, transaction.request.bytes);
        if self.is_control(address) {
            return false;
        }
        let Some(operation) = self.managed.as_mut().filter(|operation| operation.range.meets(address, bytes)) else {
            return false;
        };
        operation.waiting.push(entry);
        out.steps.push(BridgeStep::Waits { entry, reason: BridgeWait::Room, holder: None });
        true
    }

    /// Goes on with the operation that runs: what is free is written back or dropped.
    pub(super) fn manage(&mut self, out: &mut BridgeOutput) {
        let looks = self.managed.as_ref().map_or(0, |operation| operation.lines.len());
        for _ in 0..looks {
            let Some(operation) = &mut self.managed else { return };
            let (range, Some(place)) = (operation.range, operation.lines.pop_front()) else { break };
            if self.write_backs.free() == 0 && range.flush {
                operation.lines.push_front(place);
                break;
            }
            match self.locks.is_held(place) {
                true => operation.lines.push_back(place),
                false => self.manage_line(place, range, out),
            }
        }
        self.end_operation(out);
    }

    fn manage_line(&mut self, place: PortLine, range: ManagedRange, out: &mut BridgeOutput) {
        let Some(cache) = &self.cache else { return };
        let (sector, address) = (cache.sector(place), cache.hbm_address(place));
        match sector.state {
            SectorState::Dirty if range.flush => {
                let next = if range.invalidate { SectorState::Invalid } else { SectorState::Valid };
                let (message, end) = (WriteBackMessage::Write(MetaValue::Any), WriteBackEnd::Managed(next));
                self.cache_counts.flushed += 1;
                if let Some(operation) = &mut self.managed {
                    operation.writing += 1;
                }
                self.write_back(WriteBack::new(place, message, sector.line, end, None), address, out);
            }
            SectorState::Dirty | SectorState::Valid if range.invalidate => {
                if let Some(registers) = self.registers.as_mut().filter(|_| sector.state == SectorState::Dirty) {
                    registers.lost();
                }
                self.change_state(place, SectorState::Invalid, out);
                self.drop_empty(place);
            }
            _ => (),
        }
    }

    /// The operation has ended if nothing of its range is left to be done, nobody stores there any more, and what a flush wants in memory is
    /// there.
    fn end_operation(&mut self, out: &mut BridgeOutput) {
        let Some(operation) = self.managed.as_ref().filter(|operation| operation.writing + operation.lines.len() == 0)
        else {
            return;
        };
        let range = operation.range;
        let is_in_use = self.table.all().any(|transaction| {
            let is_open = transaction.progress == TransactionProgress::Active && !transaction.is_done();
            is_open && range.meets(transaction.request.address, transaction.request.bytes)
        });
        if is_in_use || range.flush && self.is_writing(range) {
            return;
        }
        let left = self.lines_in(range);
        if !left.is_empty() {
            if let Some(operation) = &mut self.managed {
                operation.lines = left.into();
            }
            return self.manage(out);
        }
        if let Some(registers) = &mut self.registers {
            registers.set_running(false);
        }
        for entry in self.managed.take().map(|operation| operation.waiting).unwrap_or_default() {
            out.steps.push(BridgeStep::GoesOn { entry });
            self.work.push_back(OutboundWork::Activate(entry));
        }
        self.end_epoch();
    }
}

impl super::transaction::Child {
    /// It brings bytes, at least one of which is enabled.
    fn data_is_written(&self) -> bool {
        self.operation != crate::flows::LineOperation::Read && self.mask & ALL_BYTES != 0
    }
}
