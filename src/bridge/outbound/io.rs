//! Requests of class IO (`bridge` §4.1, §4.3, §6.2).
//!
//! Modelled: a request of class IO locks its lines when its turn among those of its source has come, sends all of its TLPs when it holds them,
//! and is performed when the last completion is there, or with `sent` when its last MWr has left. Each line is a child as in other classes;
//! the first one that something is sent for gives the tag. Left out: the TLPs, see [`tlps`](crate::io::tlps). A walk through a write of two
//! lines: both are locked, one MWr leaves and the read of no byte behind it; its completion ends both children.

use super::table::ChildId;
use super::transaction::{Child, Transaction};
use super::{BridgeOutput, BridgeStep, BridgeWait, OutboundBridge, OutboundWork};
use crate::commands::AccessKind;
use crate::io::exchange::{self, IoExchange};
use crate::io::tlps::tlps;
use crate::window::WindowClass;
use scalepool_coherence::content::CacheLine;
use scalepool_endpoint::tlp::{Tlp, TlpKind};
use scalepool_memory::LINE_BYTES;
use scalepool_protocols::cxl::cxlio::code::CplStatus;
use scalepool_protocols::ualink::code::Status;

impl Child {
    /// Whether TLPs leave for it.
    fn is_io(&self) -> bool {
        self.class == WindowClass::Io && !self.is_done
    }
}

impl OutboundBridge {
    /// A request that is converted takes its turn among those of its source, if it is of class IO and sends anything.
    pub(super) fn takes_turn(&mut self, entry: u16) {
        let Some(transaction) = self.table.get(entry) else { return };
        if transaction.children.iter().any(Child::is_io) {
            self.turns.add(transaction.request.source, entry);
        }
    }

    /// Whether another request of the source comes first.
    pub(super) fn waits_for_turn(&mut self, entry: u16, out: &mut BridgeOutput) -> bool {
        let Some(transaction) = self.table.get_mut(entry) else { return false };
        if !transaction.children.iter().any(Child::is_io) {
            return false;
        }
        let before = self.turns.before(transaction.request.source, entry);
        transaction.waits_turn = before.is_some();
        if let Some(holder) = before {
            out.steps.push(BridgeStep::Waits { entry, reason: BridgeWait::Order, holder: Some(holder) });
        }
        before.is_some()
    }

    /// The turn of a request is over: it has sent what it sends, or will not.
    pub(super) fn turn_over(&mut self, entry: u16, out: &mut BridgeOutput) {
        let Some(source) = self.table.get(entry).map(|transaction| transaction.request.source) else { return };
        let Some(next) = self.turns.over(source, entry) else { return };
        if let Some(transaction) = self.table.get_mut(next)
            && std::mem::take(&mut transaction.waits_turn)
        {
            out.steps.push(BridgeStep::GoesOn { entry: next });
            self.work.push_back(OutboundWork::Activate(next));
        }
    }

    /// A child of class IO holds its line: with the last one of its request all TLPs leave.
    pub(super) fn launch_io(&mut self, id: ChildId, out: &mut BridgeOutput) {
        self.passes_cache(id);
        if let Some(child) = self.child(id) {
            child.is_held = true;
        }
        let Some(transaction) = self.table.get(id.entry) else { return };
        if transaction.children.iter().filter(|child| child.is_io()).all(|child| child.is_held) {
            self.send_io(id.entry, out);
        }
    }

    /// A child of a class of which the cache holds nothing passes it by.
    pub(super) fn passes_cache(&mut self, id: ChildId) {
        let is_first = self.child_of(id).is_some_and(|child| child.step == 0 && !child.is_done);
        self.cache_counts.bypasses += u64::from(self.cache.is_some() && is_first);
    }

    fn send_io(&mut self, entry: u16, out: &mut BridgeOutput) {
        let ack = self.config.io_ack;
        let Some(transaction) = self.table.get_mut(entry) else { return };
        let Some(first) = transaction.children.first() else { return };
        let port = first.port;
        let address = first.line.address() + transaction.request.address % LINE_BYTES;
        let Some(child) = transaction.children.iter().position(Child::is_io) else { return };
        let id = ChildId { entry, child: child as u8 };
        let mut tlps = tlps(&transaction.request, address, ack);
        let asks = tlps.last().filter(|tlp| tlp.is_non_posted());
        transaction.exchange = asks.map(IoExchange::of);
        let is_asking = asks.is_some();
        for child in transaction.children.iter_mut().filter(|child| child.is_io()) {
            // Without a completion the last TLP that leaves ends it.
            (child.awaited.data, child.awaited.completion) = (is_asking, !is_asking);
        }
        self.io_gets_on(entry, out);
        let count = tlps.len();
        for (n, mut tlp) in tlps.drain(..).enumerate() {
            if tlp.is_non_posted() {
                tlp.tag = id.tag();
            }
            out.steps.push(BridgeStep::SendTlp { child: id, port, tlp, is_last: n + 1 == count });
        }
        self.turn_over(entry, out);
    }

    /// All lines of a request get on.
    fn io_gets_on(&mut self, entry: u16, out: &mut BridgeOutput) {
        for id in self.io_awaiting(entry) {
            self.gets_on(id, out);
        }
    }

    /// Children of class IO for which something is still to come or to leave.
    fn io_awaiting(&self, entry: u16) -> Vec<ChildId> {
        let children = self.table.get(entry).map_or(&[][..], |transaction| &transaction.children);
        let awaiting = (0u8..).zip(children).filter(|(_, c)| c.class == WindowClass::Io && c.awaited.any());
        awaiting.map(|(child, _)| ChildId { entry, child }).collect()
    }

    /// A TLP of a child has left for its link; behind the last one of its request its data are kept no longer.
    pub fn tlp_sent(&mut self, id: ChildId, is_last: bool, out: &mut BridgeOutput) {
        if !is_last {
            return;
        }
        for id in self.io_awaiting(id.entry) {
            self.free_buffer(id);
            if let Some(child) = self.child(id).filter(|child| child.awaited.completion) {
                child.awaited.completion = false;
                self.answered(id, out);
            }
        }
        self.settle(out);
    }

    /// A TLP comes from CXL: a completion, or what nobody sends to a requester.
    pub fn receive_tlp(&mut self, port: usize, tlp: &Tlp, out: &mut BridgeOutput) {
        let TlpKind::Completion { status, byte_count, lower_address, .. } = tlp.kind else {
            let found = format!("a TLP of type {:#04x}", tlp.type_code());
            return out.find("BRG-MAP-04", found, "completions alone at a port of windows of class IO");
        };
        let id = ChildId::of_tag(tlp.tag);
        let awaits = |child: &Child| child.class == WindowClass::Io && child.port == port && child.awaited.data;
        let exchange =
            self.table.get_mut(id.entry).filter(|t| t.children.get(usize::from(id.child)).is_some_and(awaits));
        let Some(exchange) = exchange.and_then(|transaction| transaction.exchange.as_mut()) else {
            let found = format!("a completion with tag {:#06x}", tlp.tag);
            return out.find("BRG-TAG-02", found, "the tag of a request that is open");
        };
        let is_over = match status {
            CplStatus::SC => match exchange.takes(byte_count, lower_address, &tlp.data, tlp.poison) {
                Ok(is_over) => is_over,
                Err(wrong) => {
                    let found = format!("{}, not {}", wrong.found, wrong.expected);
                    return out.find("BRG-MAP-04", found, "the completion that comes next");
                }
            },
            _ => true,
        };
        if !is_over {
            self.io_gets_on(id.entry, out);
            return self.settle(out);
        }
        let failed = Some(exchange::status(status)).filter(|status| *status != Status::OKAY);
        if let Some(transaction) = self.table.get_mut(id.entry).filter(|_| failed.is_none()) {
            transaction.takes_data();
        }
        for id in self.io_awaiting(id.entry) {
            if let Some(child) = self.child(id) {
                (child.awaited.data, child.failed) = (false, child.failed.or(failed));
            }
            self.answered(id, out);
        }
        self.settle(out);
    }
}

impl Transaction {
    /// What has come is dealt to its lines.
    fn takes_data(&mut self) {
        let Some(exchange) = &self.exchange else { return };
        let begin = match self.request.access {
            AccessKind::Read => self.request.address + exchange.skipped() as u64,
            AccessKind::Atomic => {
                let at = self.request.atomic.as_ref().and_then(|atomic| atomic.only_element()).map_or(0, |(at, _)| at);
                self.request.address / LINE_BYTES * LINE_BYTES + at as u64
            }
            AccessKind::Write => return,
        };
        for (touched, child) in self.request.lines.iter().zip(&mut self.children) {
            let mut line = CacheLine::of([0; 64]);
            for (at, (byte, poisoned)) in (begin..).zip(exchange.bytes.iter().zip(&exchange.poisoned)) {
                if let Some(byte_in_line) = at.checked_sub(touched.address).filter(|byte| *byte < LINE_BYTES) {
                    line.bytes[byte_in_line as usize] = *byte;
                    line.poison |= *poisoned;
                }
            }
            child.read = Some(line);
        }
    }
}
