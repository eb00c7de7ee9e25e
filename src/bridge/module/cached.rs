//! What a bridge with a cache does beside: accesses to its memory, when what was found may leave, write backs in traces.
//!
//! Modelled: a line that was found passes the memory of the cache and the stage of answers, not the conversion. Left out: what is found, see
//! [`outbound`](crate::outbound). A walk: a read has found its line; its bytes are read from the memory, the answer is matched and merged,
//! the response is framed.

use super::{Bridge, CacheMemory, DueResponse};
use crate::outbound::transaction::CachedStage;
use crate::outbound::{BridgeActor, OutboundConfig, write_backs};
use scalepool_kernel::Cx;
use scalepool_memory::backend::DramView;
use scalepool_nodes::cxl::{memory, shown};
use scalepool_protocols::cxl::message::Message;
use scalepool_protocols::ualink::code::Status;
use scalepool_trace::{Body, RecordKind, Stamp, Wait};

impl Bridge {
    pub(super) fn start_cycles(&self) -> u64 {
        let OutboundConfig { data, templates, .. } = &self.config.outbound;
        self.config.timing.start_cycles(data.is_some(), templates.is_some())
    }

    /// Accesses to the memory of the cache end and begin. What was found passes the stage of answers; whoever goes on inside does not.
    pub(super) fn access_cache(&mut self, cx: &mut Cx, at: Stamp) {
        let ended = self.memory.as_mut().map(|memory| memory.ended(at.cycle)).unwrap_or_default();
        self.judge_memory(at);
        for by in ended {
            if let BridgeActor::Child(id) = by {
                self.show_wait(id.entry, Some((Wait::Stage, 0)), at);
            }
            let stage = match by {
                BridgeActor::Child(id) => self.bridge.child_of(id).and_then(|child| child.cached),
                BridgeActor::WriteBack(_) => None,
            };
            let response = if stage == Some(CachedStage::Accessed) { self.config.timing.response_cycles } else { 0 };
            let behind = self.accessed.iter().rev().take_while(|(due, _)| *due > at.cycle + response).count();
            self.accessed.insert(self.accessed.len() - behind, (at.cycle + response, by));
        }
        while self.accessed.front().is_some_and(|(due, _)| *due <= at.cycle) {
            let Some((_, by)) = self.accessed.pop_front() else { return };
            self.bridge.accessed(by, &mut self.out);
            self.follow(at);
            cx.progress();
        }
        if let Some(memory) = &mut self.memory {
            memory.issue(at.cycle);
        }
    }

    /// Keeps the rules that commands of the memory of the cache have broken.
    pub(super) fn judge_memory(&mut self, at: Stamp) {
        let Some(DramView { findings, .. }) = self.memory.as_ref().and_then(CacheMemory::dram) else { return };
        let new = &findings[self.dram_findings..];
        self.dram_findings = findings.len();
        for placed in new.iter().map(|finding| memory::violation(finding, &self.config.place)) {
            self.tap.record(at, RecordKind::Violation, 0, 0, || Body::Violation(placed.violation.clone()));
            self.mine.broken.push(placed);
        }
    }

    /// A response is ready: it leaves behind what was computed, and, if the cache had nothing to say, behind the conversion.
    pub(super) fn ready(&mut self, entry: u16, beat: Option<u8>, at: Stamp) {
        let timing = self.config.timing;
        let Some(transaction) = self.bridge.transaction(entry) else { return };
        let is_computed = transaction.status == Status::OKAY
            && transaction.children.iter().any(|child| child.atomic.is_some() && child.cached.is_some());
        let is_found = transaction.children.iter().any(|child| child.verdict.is_some());
        let converted = if is_found { 0 } else { self.traced[usize::from(entry)].converted_cycle };
        let alu = if is_computed { timing.alu_cycles } else { 0 };
        let due = at.cycle.max(converted) + alu + timing.frame_cycles;
        // The last beat of a read comes behind its others.
        let is_later = |other: &&DueResponse| other.due > due && other.entry != entry;
        let behind = self.responses.iter().rev().take_while(is_later).count();
        self.responses.insert(self.responses.len() - behind, DueResponse { due, entry, beat });
    }

    /// A write back leaves: a part of the request for which it leaves, if that has not ended.
    pub(super) fn show_write_back(&mut self, n: u16, port: usize, message: &Message, at: Stamp) {
        let cause = self.bridge.write_backs().get(n).and_then(|write_back| write_back.cause);
        let parent = cause.map_or(0, |child| self.traced[usize::from(child.entry)].id);
        let id = self.tap_at(port).new_id();
        self.traced_write_backs[usize::from(n)] = id;
        let named = self.naming(port, write_backs::tag(n), message);
        let form = self.cxl[port].form;
        self.tap_at(port).named(named, at, RecordKind::Begin, id, parent, || shown(message, form));
    }

    /// Ends a write back in the trace if this was its last answer.
    pub(super) fn show_written_back(&mut self, n: u16, port: usize, message: &Message, at: Stamp) {
        // The entry may be another one's already, which has sent nothing.
        let is_open = self.bridge.write_backs().get(n).is_some_and(|write_back| write_back.is_sent);
        let Some(slot) = self.traced_write_backs.get_mut(usize::from(n)).filter(|slot| **slot != 0) else { return };
        let (id, form) = (*slot, self.cxl[port].form);
        let kind = if is_open { RecordKind::Mark } else { RecordKind::End };
        if !is_open {
            *slot = 0;
        }
        self.tap_at(port).record(at, kind, id, 0, || shown(message, form));
    }
}
