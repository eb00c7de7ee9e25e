//! The device of HDM-H: memory that only its host caches.
//!
//! Modelled: the seven rows of `coherence` §3.2 with the host's two private bits, MemRdFill, addresses without memory.
//! Detail: each message is answered at once; the same code is explored, over a map of values, and clocked, over a store of
//! bytes ([`Backing`]). Left out: access times; the device never looks at the bits, but for MemRdData, which makes a stored
//! I an A.

use super::backing::Backing;
use super::tables;
use crate::agent::{Accept, Agent, AgentOutput, AgentPort};
use crate::config::CoherenceConfig;
use crate::content::{LineAddr, LineContent};
use crate::event::CoherenceEvent;
use crate::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{
    DevLoad, DrsOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// The device.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct HdmH<D, M = BTreeMap<LineAddr, D>> {
    memory: M,
    meta: BTreeMap<LineAddr, MetaValue>,
    content: PhantomData<D>,
}

/// The row of what HDM-H never takes.
const NEVER: &str = "COH-MEM-35";

impl<D: LineContent> HdmH<D> {
    /// A device with memory that nobody has written.
    pub fn new() -> Self {
        Self::over(BTreeMap::new())
    }
}

impl<D: LineContent, M: Backing<D>> HdmH<D, M> {
    /// A device with this memory.
    pub fn over(memory: M) -> Self {
        Self { memory, meta: BTreeMap::new(), content: PhantomData }
    }

    /// Where it keeps the values.
    pub fn backing(&self) -> &M {
        &self.memory
    }

    /// Where it keeps the values, to be changed beside its messages: faults of cells, ports.
    pub fn backing_mut(&mut self) -> &mut M {
        &mut self.memory
    }

    /// Value of a line.
    pub fn memory(&self, line: LineAddr) -> D {
        self.memory.value(line)
    }

    /// The stored bits of a line.
    pub fn meta(&self, line: LineAddr) -> MetaValue {
        self.meta.get(&line).copied().unwrap_or(MetaValue::Invalid)
    }

    fn is_outside(&self, config: &CoherenceConfig, line: LineAddr) -> bool {
        config.mem.is_outside(line) || !self.memory.holds(line)
    }

    fn returned(&self, config: &CoherenceConfig, line: LineAddr) -> (MetaField, MetaValue) {
        if config.mem.meta_stored {
            (MetaField::Meta0State, self.meta(line))
        } else {
            (MetaField::NoOp, MetaValue::Invalid)
        }
    }

    fn answer_data(
        &self,
        config: &CoherenceConfig,
        line: LineAddr,
        tag: u16,
        bits: (MetaField, MetaValue),
        out: &mut AgentOutput<D>,
    ) {
        let outside = self.is_outside(config, line);
        let (opcode, data) = if outside {
            (DrsOpcode::MemDataNXM, D::ones().poisoned(config.mem.no_range_poison))
        } else {
            (DrsOpcode::MemData, self.memory(line))
        };
        let (meta_field, meta) = bits;
        out.send(0, Msg::S2mDrs { opcode, meta_field, meta, tag, data, devload: DevLoad(0) });
    }

    fn refuse(rule: &'static str, line: LineAddr, found: String, snp: SnpType, out: &mut AgentOutput<D>) {
        // A snoop breaks the row of its message, and the one that forbids snoops.
        if snp != SnpType::NoOp && rule != NEVER {
            out.events.push(CoherenceEvent::new(NEVER, line, "HDM-H", found.clone(), "SnpType NoOp: there is no DCOH"));
        }
        out.events.push(CoherenceEvent::new(rule, line, "HDM-H", found, "a row of the table"));
    }

    /// Takes a message of the host: its answer and the rules that it breaks go to `out`.
    pub fn serve(&mut self, config: &CoherenceConfig, msg: Msg<D>, out: &mut AgentOutput<D>) {
        match msg {
            Msg::M2sReq { opcode, snp, meta_field, meta, line, tag } => {
                if let Err(rule) = tables::hdm_h_req(opcode, meta_field, snp) {
                    return Self::refuse(rule, line, format!("{opcode:?} {meta_field:?} {snp:?}"), snp, out);
                }
                let bits = self.returned(config, line);
                match opcode {
                    M2sReqOpcode::MemSpecRd => return,
                    read if tables::is_read(read) => self.answer_data(config, line, tag, bits, out),
                    _ => {
                        let (opcode, (meta_field, meta)) = (NdrOpcode::Cmp, bits);
                        out.send(0, Msg::S2mNdr { opcode, meta_field, meta, tag, devload: DevLoad(0) });
                    }
                }
                if !config.mem.meta_stored || self.is_outside(config, line) {
                    return;
                }
                if opcode == M2sReqOpcode::MemRdData && self.meta(line) == MetaValue::Invalid {
                    self.meta.insert(line, MetaValue::Any);
                } else if meta_field == MetaField::Meta0State {
                    self.meta.insert(line, meta);
                }
            }
            Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data, enables } => {
                if let Err(rule) = tables::hdm_h_rwd(opcode, meta_field, snp) {
                    return Self::refuse(rule, line, format!("{opcode:?} {meta_field:?} {snp:?}"), snp, out);
                }
                if opcode == M2sRwdOpcode::MemRdFill {
                    let none = (MetaField::NoOp, MetaValue::Invalid);
                    return self.answer_data(config, line, tag, none, out);
                }
                if !self.is_outside(config, line) {
                    self.memory.merge(line, &data, enables);
                    if config.mem.meta_stored {
                        self.meta.insert(line, meta);
                    }
                }
                let (opcode, meta_field, meta) = (NdrOpcode::Cmp, MetaField::NoOp, MetaValue::Invalid);
                out.send(0, Msg::S2mNdr { opcode, meta_field, meta, tag, devload: DevLoad(0) });
            }
            other => {
                let found = format!("{} at a device of HDM-H", other.class().name());
                out.events.push(CoherenceEvent::new("COH-TYP-01", other.line(), "HDM-H", found, "M2S Req or RwD"));
            }
        }
    }
}

impl<D: LineContent> Agent<D> for HdmH<D> {
    fn accepts(&self, _: &CoherenceConfig, _: AgentPort, _: &Msg<D>) -> Accept {
        Accept::Take
    }

    fn take(&mut self, config: &CoherenceConfig, _: AgentPort, msg: Msg<D>, _: u8, out: &mut AgentOutput<D>) {
        self.serve(config, msg, out);
    }

    fn is_idle(&self) -> bool {
        true
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut D)) {
        self.memory.values_mut().for_each(f);
    }
}
