//! Requests of hosts at the DCOH: what is taken, and what is answered once nothing is waited for.
//!
//! Modelled: the M2S Req and RwD rows of [`super::super::tables`] with their answers. Left out: operations of the device itself and of peers
//! (the parent), back-invalidates.
//!
//! A walk: MemRd of a line that nobody else holds is taken and completed in one step: Cmp-E and the data leave, and the filter
//! records its host.

use super::{Dcoh, DcohCause, Open, answer_outside};
use crate::agent::{AgentOutput, AgentPort, Effect};
use crate::config::CoherenceConfig;
use crate::content::{LineAddr, LineContent, WHOLE_LINE};
use crate::ids::IdSet;
use crate::mem::dcoh_memory::WaitingPart;
use crate::mem::filter::Holders;
use crate::mem::tables;
use crate::mem::tables::{Copy4, HdmRegion};
use crate::message::Msg;
use crate::rules::PoisonStep;
use scalepool_protocols::cxl::cxl256::code::{
    DrsOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};

impl<D: LineContent> Dcoh<D> {
    #[allow(clippy::too_many_arguments)]
    pub(super) fn complete_host(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        host: AgentPort,
        (opcode, meta_field, meta, snp): (M2sReqOpcode, MetaField, MetaValue, SnpType),
        tag: u16,
        way: u8,
        out: &mut AgentOutput<D>,
    ) {
        let holders = self.filter.get(line).unwrap_or(Holders::NONE);
        let others = holders.without(host);
        let own = self.own.get(&line).map_or(Copy4::I, |o| o.0);
        let said = tables::meta_said(meta_field, meta).flatten();
        let any = said == Some(MetaValue::Any);
        let has_data = tables::is_read(opcode);
        let alone = others.is_empty();
        let exclusive = match opcode {
            M2sReqOpcode::MemRdData => alone && own == Copy4::I && way == 0,
            M2sReqOpcode::MemRd if meta == MetaValue::Shared => {
                alone && own == Copy4::I && (config.mem.shared_grants_exclusive || way == 1)
            }
            _ => any,
        };
        let caches = Self::needs_entry(opcode, meta_field, meta);
        // Dirty data of the own cache may go to the host as it is; otherwise memory is made current first.
        let dirty = config.mem.cmp_m && own == Copy4::M && opcode == M2sReqOpcode::MemRd && any;
        let value = match self.own.get(&line) {
            Some((Copy4::M, data)) if dirty || snp == SnpType::SnpCur => data.clone(),
            _ => {
                self.own_under(config, line, snp);
                self.memory(line)
            }
        };
        if dirty {
            self.own.remove(&line);
        }
        if opcode == M2sReqOpcode::MemRdData && exclusive {
            self.own.remove(&line);
        }
        let ndr = match (caches, exclusive) {
            (true, true) if dirty => NdrOpcode::CmpM,
            (true, true) => NdrOpcode::CmpE,
            (true, false) => NdrOpcode::CmpS,
            _ => NdrOpcode::Cmp,
        };
        if caches {
            let holders = match others {
                _ if exclusive => Holders::Owner(host),
                others => Holders::Shared(others.all().with(host)),
            };
            self.filter.put(line, holders);
        }
        // MemClnEvct says it too; of MemRdData the value means nothing.
        if said == Some(MetaValue::Invalid) && opcode != M2sReqOpcode::MemRdData {
            self.filter.update(line, |h| h.without(host));
        }
        self.ndr(config, host, ndr, tag, Some(line), out);
        if has_data {
            let (returned_field, returned) = self.returned_meta(config, line);
            out.send(
                host,
                Msg::S2mDrs {
                    opcode: DrsOpcode::MemData,
                    meta_field: returned_field,
                    meta: returned,
                    tag,
                    data: value,
                    devload: self.load(config),
                },
            );
        }
        if let Some(value) = said.filter(|_| config.mem.meta_stored) {
            self.memory.set_meta(line, value);
        }
        self.tidy(line);
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn take_req(
        &mut self,
        config: &CoherenceConfig,
        host: AgentPort,
        (opcode, meta_field, meta, snp): (M2sReqOpcode, MetaField, MetaValue, SnpType),
        line: LineAddr,
        tag: u16,
        way: u8,
        out: &mut AgentOutput<D>,
    ) {
        if let Err(rule) = tables::check_req(HdmRegion::HdmDb, opcode, meta_field, meta, snp) {
            let found = format!("{opcode:?} {meta_field:?} {meta:?} {snp:?}");
            out.events.push(self.event(rule, Some(line), found, "a row of the table"));
            return;
        }
        if opcode == M2sReqOpcode::MemSpecRd {
            return;
        }
        if config.mem.is_outside(line) {
            let read = tables::is_read(opcode);
            answer_outside(config, host, read, tag, self.load(config), out);
            return;
        }
        let needs = Self::needs_entry(opcode, meta_field, meta) && self.filter.get(line).is_none();
        let victim = if needs && !self.filter.has_room(line) { self.victim(config, line) } else { None };
        if needs && victim.is_none() {
            // The place is taken now, so that no other line gets it meanwhile.
            self.filter.put(line, Holders::NONE);
        }
        let cause = DcohCause::Host { host, opcode, meta_field, meta, snp, tag, way };
        self.begin(config, Open { line, count: 1, victim, cause }, out);
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn take_rwd(
        &mut self,
        config: &CoherenceConfig,
        host: AgentPort,
        (opcode, meta_field, meta, snp): (M2sRwdOpcode, MetaField, MetaValue, SnpType),
        line: LineAddr,
        tag: u16,
        (data, enables): (D, u64),
        out: &mut AgentOutput<D>,
    ) {
        // Who is none of the hosts writes what was taken back from all of them.
        let is_shared = self.hosts > 1 && host < self.hosts;
        let row = match tables::rwd(HdmRegion::HdmDb, is_shared, opcode, meta_field, meta, snp) {
            Ok(row) => row,
            Err(rule) => {
                let found = format!("{opcode:?} {meta_field:?} {meta:?} {snp:?}");
                if rule == "COH-MEM-45" {
                    let text = "MemWr SnpInv in memory of one host only";
                    out.events.push(self.event("COH-MEM-24", Some(line), found.clone(), text));
                }
                out.events.push(self.event(rule, Some(line), found, "a row of the table"));
                return;
            }
        };
        if opcode == M2sRwdOpcode::BIConflict {
            self.take_conflict(config, host, line, tag, out);
            return;
        }
        if config.mem.is_outside(line) {
            answer_outside(config, host, false, tag, self.load(config), out);
            return;
        }
        let unowned = snp == SnpType::SnpInv;
        let owner = self.filter.get(line) == Some(Holders::Owner(host));
        if !unowned && !owner {
            // A host that may not have M: its data is not believed, its write is ended.
            let holders = self.filter.get(line).unwrap_or(Holders::NONE);
            let found = format!("MemWr of host {host} while the record names {holders}");
            out.events.push(self.event("COH-MEM-42", Some(line), found, "a write of the recorded owner"));
            self.ndr(config, host, NdrOpcode::Cmp, tag, None, out);
            return;
        }
        if unowned {
            self.own_under(config, line, SnpType::SnpInv);
        }
        let data = config.passed(PoisonStep::Stored, data);
        if enables == WHOLE_LINE || self.memory.has(line) && !self.memory.passes_part(line) {
            self.memory.write(line, &data, enables);
            if unowned {
                out.effects.push(Effect::Written(line));
            }
        } else {
            self.memory.take_part(line, WaitingPart { data, enables, is_new: unowned }, out);
        }
        if config.mem.meta_stored {
            self.memory.set_meta(line, meta);
        }
        match row.record {
            tables::DirectoryRecord::Shared => self.filter.update(line, |_| Holders::Shared(IdSet::one(host))),
            tables::DirectoryRecord::Invalid => self.filter.update(line, |h| h.without(host)),
            _ => {}
        }
        self.tidy(line);
        self.settle(line, out);
        if !self.memory.ends_when_stored(line, host, tag) {
            self.ndr(config, host, NdrOpcode::Cmp, tag, None, out);
        }
    }
}
