//! CXL links that are lost and come back (`bridge` §7, §8.1).
//!
//! Modelled: requests under way over a link that goes down end with status 8, those that come while it is down with status 2, as those of a
//! viral bridge do; what they hold is free when nothing can come for them any more. The sheet says no more than these two states. Our choice
//! [D]: an answer that has not come through is kept by the other end until the link is back, and is a late one then (`bridge` §7,
//! tombstone); so is a snoop, which is answered then. A message that has not left is taken back with its request. What the conversion cache
//! holds stays, dirty lines too, because their homes and the bridge both know who has them, before and after; what it writes back waits for the
//! link. A hit ends with status 2 as well, as it does at a viral port. Accesses to the memory of the cache that have begun end by themselves.
//! Left out: the other end, which is in no state of its own while the link is down.
//!
//! A walk: a read waits for its data, a write for its turn behind it, a second read stands in front of its link. The link goes down: all three
//! end with status 8; the lines of the last two are free at once, that of the first one is not. Another read comes and ends with status 2. The
//! link is back, the data come, are dropped, and line, Tag and entry of the first read are free.

use super::table::ChildId;
use super::transaction::{CachedStage, Child};
use super::{BridgeOutput, OutboundBridge};
use crate::window::WindowClass;
use scalepool_coherence::content::CacheLine;
use scalepool_coherence::message::Msg;
use scalepool_protocols::ualink::code::Status;

impl Child {
    /// Whether it ends when its link is lost. What the memory of the cache has begun, or what only waits to be written through, has its
    /// line and needs no link.
    fn needs_link(&self) -> bool {
        !self.is_done && !self.awaited.access && self.cached != Some(CachedStage::Stored)
    }
}

impl OutboundBridge {
    /// Whether the link of a CXL port is down.
    pub fn is_down(&self, port: usize) -> bool {
        self.down.contains(&port)
    }

    /// The link of a CXL port goes down: all that is under way over it ends with status 8. These children have ended, and messages of
    /// them that have not left are to be [taken back](Self::taken_back).
    pub fn link_down(&mut self, port: usize, out: &mut BridgeOutput) -> Vec<ChildId> {
        self.down.insert(port);
        let (mut waiting, mut holding) = (Vec::new(), Vec::new());
        for entry in self.table.numbers() {
            let Some(transaction) = self.table.get(entry) else { continue };
            let children = (0u8..).zip(&transaction.children);
            let before = waiting.len() + holding.len();
            for (child, open) in children.filter(|(_, child)| child.port == port && child.needs_link()) {
                let holds = open.awaited.any() || open.waits_for_room || open.is_held;
                if holds { &mut holding } else { &mut waiting }.push(ChildId { entry, child });
            }
            self.counts.lost += u64::from(waiting.len() + holding.len() > before);
        }
        // Who waits for a line ends before the line is free: it would get it.
        waiting.extend(holding);
        for id in &waiting {
            self.give_up(*id, Status::CompletionTimeout, out);
        }
        self.settle(out);
        waiting
    }

    /// The link of a CXL port is back.
    pub fn link_up(&mut self, port: usize) {
        self.down.remove(&port);
    }

    /// A child ends with a status before its answers have come; what it waits for in vain is left to others.
    pub(super) fn give_up(&mut self, id: ChildId, status: Status, out: &mut BridgeOutput) {
        let Some(open) = self.child_of(id).filter(|child| !child.is_done) else { return };
        let (place, is_waiting) = ((open.port, open.line), open.waits_for_room);
        // It holds its line, and its request waits for another one.
        let is_holding = open.is_held && !open.awaited.any();
        if !open.awaited.any() && !is_waiting && !is_holding {
            self.locks.give_up(place, id);
        }
        self.end(id, Some(status));
        if is_waiting {
            self.waits_no_longer(id);
        }
        if is_waiting || is_holding {
            self.release(id, out);
        }
    }

    /// Whether a message of a child that has ended is taken back before it has left. A line of a host that was stored to goes back whatever
    /// has become of its request.
    pub fn may_be_taken_back(&self, id: ChildId, msg: &Msg<CacheLine>) -> bool {
        let Some(child) = self.child_of(id).filter(|child| child.is_done) else { return false };
        match msg {
            Msg::M2sReq { .. } | Msg::M2sRwd { .. } => true,
            Msg::D2hReq { .. } => child.host.copy.is_none(),
            _ => false,
        }
    }

    /// A message of a child has not left, and will not: no answer to it comes.
    pub fn taken_back(&mut self, id: ChildId, out: &mut BridgeOutput) {
        let Some(child) = self.child(id).filter(|child| child.is_done) else { return };
        (child.awaited.completion, child.awaited.data) = (false, false);
        let place = (child.port, child.line);
        child.host = super::host_lines::HostLine::NOTHING;
        if self.is_host(place.0) {
            self.show_host(place, out);
        }
        self.retires_unanswered(id, out);
        self.settle(out);
    }

    /// TLPs of a request have not left, and will not: its last one is among them, so no completion comes.
    pub fn tlps_taken_back(&mut self, entry: u16, out: &mut BridgeOutput) {
        let children = self.table.get(entry).map_or(0, |transaction| transaction.children.len() as u8);
        for id in (0..children).map(|child| ChildId { entry, child }) {
            let Some(child) = self.child(id).filter(|child| child.class == WindowClass::Io && child.awaited.any())
            else {
                continue;
            };
            (child.awaited.completion, child.awaited.data) = (false, false);
            self.retires_unanswered(id, out);
        }
        self.settle(out);
    }

    /// A child that has ended waits for nothing any more, unless a snoop has met it: its line is free.
    fn retires_unanswered(&mut self, id: ChildId, out: &mut BridgeOutput) {
        if self.child_of(id).is_some_and(|child| !child.awaited.any()) {
            self.release(id, out);
            self.retire(id.entry);
        }
    }

    /// Lines of a request that has just been converted end with status 2 if the link that they need is down; the status of the request.
    pub(super) fn refuses_lost(&self, children: &mut [Child]) -> Status {
        let mut status = Status::OKAY;
        for child in children.iter_mut().filter(|child| !child.is_done && self.is_down(child.port)) {
            (child.is_done, child.has_buffer, child.failed) = (true, false, Some(Status::TargetAbort));
            status = Status::TargetAbort;
        }
        status
    }

    /// A child whose link was lost while the memory of the cache was accessed for it needs the link after all: it ends; whether it has.
    pub(super) fn ends_by_loss(&mut self, id: ChildId, out: &mut BridgeOutput) -> bool {
        let Some(child) = self.child_of(id) else { return false };
        // A line that a host has granted is given back all the same.
        let ends = !child.is_done && child.host.copy.is_none() && self.is_down(child.port);
        if ends {
            self.end(id, Some(Status::CompletionTimeout));
            self.release(id, out);
        }
        ends
    }
}
