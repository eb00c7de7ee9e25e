//! Back-invalidates of the DCOH: their trackers, the answers to them, and the conflicts of a host's own request.
//!
//! Modelled: one tracker for each host and line or block, BIRsp and BIConflict. Left out: why a back-invalidate is sent (the parent).
//!
//! A walk: a tracker opens for host 1 and BISnpInv leaves; host 1 sends BIConflict, gets its Ack, and later BIRspI, which closes it.

use super::{Dcoh, DcohCause, DeviceOp, Tracker};
use crate::agent::{AgentOutput, AgentPort};
use crate::config::CoherenceConfig;
use crate::content::{LineAddr, LineContent};
use crate::ids::IdSet;
use crate::mem::filter::Holders;
use crate::mem::tables;
use crate::message::Msg;
use crate::names;
use crate::names::BI_TAGS;
use scalepool_protocols::cxl::cxl256::code::{BirspOpcode, BisnpOpcode, NdrOpcode, SnpType};

impl<D: LineContent> Dcoh<D> {
    pub(super) fn snp_of(cause: &DcohCause) -> SnpType {
        match cause {
            DcohCause::Host { snp, .. } => *snp,
            DcohCause::Device(DeviceOp::ReadOnce | DeviceOp::UioRead) => SnpType::SnpCur,
            DcohCause::Device(DeviceOp::ReadShared) => SnpType::SnpData,
            DcohCause::Device(DeviceOp::ReadOwn | DeviceOp::Reclaim | DeviceOp::UioWrite) => SnpType::SnpInv,
            DcohCause::Device(DeviceOp::Evict) => SnpType::NoOp,
        }
    }

    /// Asks hosts for a line or a block, the lowest number first.
    pub(super) fn back_invalidate(
        &mut self,
        hosts: &IdSet,
        plain: BisnpOpcode,
        first: LineAddr,
        count: u8,
        out: &mut AgentOutput<D>,
    ) {
        for host in hosts.iter().take_while(|host| *host < self.hosts) {
            let used = self.trackers[self.trackers_of(host)].iter().map(|t| t.bi_tag);
            // `can_begin` was asked first: there are no more trackers than BITags.
            let Some(bi_tag) = names::lowest_free(BI_TAGS, used) else { continue };
            let (opcode, line) = match count {
                // The enable of a block stands in the lowest bits of the line.
                2 => (BisnpOpcode(plain.0 + 4), LineAddr(first.0 & !3 | if first.0 & 2 == 0 { 1 } else { 2 })),
                4 => (BisnpOpcode(plain.0 + 4), LineAddr(first.0 & !3 | 3)),
                _ => (plain, first),
            };
            let waits = ((1_u16 << count) - 1) as u8;
            let tracker = Tracker { host, bi_tag, opcode, first, count, waits, disputed: 0 };
            let at = self.trackers.partition_point(|t| t < &tracker);
            self.trackers.insert(at, tracker);
            out.send(host, Msg::S2mBisnp { opcode, line, bi_tag });
        }
    }

    /// Where the trackers of a host stand: they are sorted by host.
    pub(super) fn trackers_of(&self, host: AgentPort) -> std::ops::Range<usize> {
        self.trackers.partition_point(|t| t.host < host)..self.trackers.partition_point(|t| t.host <= host)
    }

    pub(super) fn take_conflict(
        &mut self,
        config: &CoherenceConfig,
        host: AgentPort,
        line: LineAddr,
        tag: u16,
        out: &mut AgentOutput<D>,
    ) {
        let own = self.trackers_of(host);
        match self.trackers[own].iter_mut().find(|t| t.waits & t.bit(line) != 0) {
            None => {
                let found = format!("a BIConflict of host {host} without a back-invalidate");
                out.events.push(self.event("COH-BIC-11", Some(line), found, "an open BISnp for the line"));
            }
            Some(tracker) => {
                let bit = tracker.bit(line);
                let again = tracker.disputed & bit != 0;
                tracker.disputed |= bit;
                if again {
                    let found = format!("a second BIConflict of host {host}");
                    out.events.push(self.event("COH-INV-06", Some(line), found, "one per BISnp and line"));
                }
            }
        }
        self.ndr(config, host, NdrOpcode::BIConflictAck, tag, None, out);
    }

    pub(super) fn take_birsp(
        &mut self,
        config: &CoherenceConfig,
        host: AgentPort,
        opcode: BirspOpcode,
        bi_tag: u16,
        low_addr: u8,
        out: &mut AgentOutput<D>,
    ) {
        let found = format!("{} of host {host} for BITag {bi_tag}", opcode.name().unwrap_or("a reserved BIRsp"));
        let Some(at) = self.trackers_of(host).find(|at| self.trackers[*at].bi_tag == bi_tag) else {
            out.events.push(self.event("COH-IDS-01", None, found, "the BITag of an open BISnp"));
            return;
        };
        let tracker = self.trackers[at];
        if let Err(rule) = tables::check_answer(tracker.opcode, opcode) {
            out.events.push(self.event(rule, Some(tracker.first), found, format!("an answer to {:?}", tracker.opcode)));
            return;
        }
        if tracker.count == 1 && u64::from(low_addr) != tracker.first.0 & 3 {
            let expected = format!("LowAddr {}, Addr[7:6] of the line", tracker.first.0 & 3);
            let found = format!("{found} with LowAddr {low_addr}");
            out.events.push(self.event("COH-IDS-04", Some(tracker.first), found, expected));
            return;
        }
        let all = ((1_u16 << tracker.count) - 1) as u8;
        let bits = if opcode.is_block() {
            all
        } else if tracker.count == 1 {
            1
        } else {
            let line = LineAddr(tracker.first.0 & !3 | u64::from(low_addr & 3));
            tracker.bit(line)
        };
        if bits == 0 || bits & !tracker.waits != 0 {
            out.events.push(self.event("COH-BLK-02", Some(tracker.first), found, "one answer per line"));
            return;
        }
        for i in (0..tracker.count).filter(|i| bits >> i & 1 == 1) {
            let line = LineAddr(tracker.first.0 + u64::from(i));
            match tables::plain_answer(opcode) {
                BirspOpcode::BIRspI => self.filter.update(line, |h| h.without(host)),
                BirspOpcode::BIRspS => self.filter.update(line, |h| match h {
                    Holders::Owner(owner) if owner == host => Holders::Shared(IdSet::one(host)),
                    same => same,
                }),
                _ => {}
            }
        }
        let mut tracker = self.trackers.remove(at);
        tracker.waits &= !bits;
        if tracker.waits != 0 {
            let at = self.trackers.partition_point(|t| t < &tracker);
            self.trackers.insert(at, tracker);
        }
        self.advance(config, out);
        for i in 0..u64::from(tracker.count) {
            self.tidy(LineAddr(tracker.first.0 + i));
        }
    }
}
