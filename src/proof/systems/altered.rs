//! A system in which one message is not what was sent: another field, lost, or there twice.
//!
//! Modelled: the agents and orders of a [`Composite`], and one message of a class that is changed once on its way, any message of that
//! class and at any time. So a search finds the shortest way to what the change breaks first. Left out: waits that never end, for a
//! lost message leaves them by itself.

use super::composite::{Composite, CompositeMove};
use crate::explore::system::{AgentWait, ChartStep, ExploredSystem, Fairness};
use scalepool_coherence::content::{Age, LineToken, WHOLE_LINE};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::message::{Class, Dir, Msg};
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, D2hReqOpcode, D2hRspOpcode, DevLoad, DrsOpcode, H2dReqOpcode, H2dRspOpcode, M2sReqOpcode,
    M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};

/// A field of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AlteredField {
    /// Its opcode.
    Opcode,
    /// SnpType.
    SnpType,
    /// MetaField.
    MetaField,
    /// MetaValue.
    MetaValue,
    /// What both ends know its transaction by: CQID, UQID, Tag or BITag.
    Identifier,
    /// LowAddr of a BIRsp.
    LowAddr,
    /// RspData of an H2D Rsp.
    RspData,
    /// Bogus of D2H Data.
    Bogus,
    /// GO-Err of H2D Data.
    GoErr,
    /// Byte enables of a write, of bytes 0 to 15; 0xffff stands for the whole line.
    Enables,
    /// The age of the value that it carries: 0 for that of an earlier store.
    Value,
    /// Poison of its data.
    Poison,
    /// DevLoad of an answer of CXL.mem.
    DevLoad,
}

impl AlteredField {
    pub(super) fn name(self) -> &'static str {
        match self {
            AlteredField::Opcode => "opcode",
            AlteredField::SnpType => "SnpType",
            AlteredField::MetaField => "MetaField",
            AlteredField::MetaValue => "MetaValue",
            AlteredField::Identifier => "identifier",
            AlteredField::LowAddr => "LowAddr",
            AlteredField::RspData => "RspData",
            AlteredField::Bogus => "Bogus",
            AlteredField::GoErr => "GO-Err",
            AlteredField::Enables => "byte enables",
            AlteredField::Value => "value",
            AlteredField::Poison => "Poison",
            AlteredField::DevLoad => "DevLoad",
        }
    }
}

/// The name of an opcode of a class; `None` for a reserved code.
pub(super) fn opcode_name(class: Class, code: u16) -> Option<&'static str> {
    let code = code as u8;
    match class {
        Class::D2hReq => D2hReqOpcode(code).name(),
        Class::D2hRsp => D2hRspOpcode(code).name(),
        Class::H2dReq => H2dReqOpcode(code).name(),
        Class::H2dRsp => H2dRspOpcode(code).name(),
        Class::M2sReq => M2sReqOpcode(code).name(),
        Class::M2sRwd => M2sRwdOpcode(code).name(),
        Class::M2sBirsp => BirspOpcode(code).name(),
        Class::S2mBisnp => BisnpOpcode(code).name(),
        Class::S2mNdr => NdrOpcode(code).name(),
        Class::S2mDrs => DrsOpcode(code).name(),
        Class::D2hData | Class::H2dData => None,
    }
}

/// What becomes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Alteration {
    /// A field has this value.
    Field(AlteredField, u16),
    /// It is lost.
    Lost,
    /// It comes twice.
    Twice,
}

impl Alteration {
    /// What becomes of the message, in words.
    pub fn about(self) -> String {
        match self {
            Alteration::Field(field, value) => format!("gets {} {value:#x}", field.name()),
            Alteration::Lost => "is lost".to_owned(),
            Alteration::Twice => "comes twice".to_owned(),
        }
    }

    /// The message as it goes on; `None` where it has no such field, or had the value before.
    pub(super) fn of(self, msg: &Msg<LineToken>) -> Option<Vec<Msg<LineToken>>> {
        match self {
            Alteration::Field(field, value) => {
                let mut new = *msg;
                set(&mut new, field, value)?;
                (new != *msg).then(|| vec![new])
            }
            Alteration::Lost => Some(Vec::new()),
            Alteration::Twice => Some(vec![*msg; 2]),
        }
    }
}

/// Gives a field a value. `None`: the message has no such field.
fn set(msg: &mut Msg<LineToken>, field: AlteredField, value: u16) -> Option<()> {
    use AlteredField::{
        Bogus, Enables, GoErr, Identifier, LowAddr, MetaField as Field, MetaValue as Meta, Opcode, Poison, RspData,
        Value,
    };
    let byte = value as u8;
    match (field, msg) {
        (Opcode, Msg::D2hReq { opcode, .. }) => *opcode = D2hReqOpcode(byte),
        (Opcode, Msg::D2hRsp { opcode, .. }) => *opcode = D2hRspOpcode(byte),
        (Opcode, Msg::H2dReq { opcode, .. }) => *opcode = H2dReqOpcode(byte),
        (Opcode, Msg::H2dRsp { opcode, .. }) => *opcode = H2dRspOpcode(byte),
        (Opcode, Msg::M2sReq { opcode, .. }) => *opcode = M2sReqOpcode(byte),
        (Opcode, Msg::M2sRwd { opcode, .. }) => *opcode = M2sRwdOpcode(byte),
        (Opcode, Msg::M2sBirsp { opcode, .. }) => *opcode = BirspOpcode(byte),
        (Opcode, Msg::S2mBisnp { opcode, .. }) => *opcode = BisnpOpcode(byte),
        (Opcode, Msg::S2mNdr { opcode, .. }) => *opcode = NdrOpcode(byte),
        (Opcode, Msg::S2mDrs { opcode, .. }) => *opcode = DrsOpcode(byte),
        (AlteredField::SnpType, Msg::M2sReq { snp, .. } | Msg::M2sRwd { snp, .. }) => *snp = SnpType(byte),
        (
            Field,
            Msg::M2sReq { meta_field, .. }
            | Msg::M2sRwd { meta_field, .. }
            | Msg::S2mNdr { meta_field, .. }
            | Msg::S2mDrs { meta_field, .. },
        ) => *meta_field = MetaField(byte),
        (
            Meta,
            Msg::M2sReq { meta, .. } | Msg::M2sRwd { meta, .. } | Msg::S2mNdr { meta, .. } | Msg::S2mDrs { meta, .. },
        ) => *meta = MetaValue(byte),
        (Identifier, Msg::D2hReq { cqid: id, .. } | Msg::H2dRsp { cqid: id, .. } | Msg::H2dData { cqid: id, .. }) => {
            *id = value;
        }
        (Identifier, Msg::H2dReq { uqid: id, .. } | Msg::D2hRsp { uqid: id, .. } | Msg::D2hData { uqid: id, .. }) => {
            *id = value;
        }
        (
            Identifier,
            Msg::M2sReq { tag: id, .. }
            | Msg::M2sRwd { tag: id, .. }
            | Msg::S2mNdr { tag: id, .. }
            | Msg::S2mDrs { tag: id, .. },
        ) => *id = value,
        (Identifier, Msg::M2sBirsp { bi_tag: id, .. } | Msg::S2mBisnp { bi_tag: id, .. }) => *id = value,
        (LowAddr, Msg::M2sBirsp { low_addr, .. }) => *low_addr = byte,
        (RspData, Msg::H2dRsp { rsp_data, .. }) => *rsp_data = value,
        (Bogus, Msg::D2hData { bogus, .. }) => *bogus = value != 0,
        (GoErr, Msg::H2dData { go_err, .. }) => *go_err = value != 0,
        (Enables, Msg::D2hData { enables, .. } | Msg::M2sRwd { enables, .. }) => {
            *enables = if value == u16::MAX { WHOLE_LINE } else { value.into() };
        }
        (Value, msg) => msg.data_mut()?.age = if value == 0 { Age::Stale } else { Age::Current },
        (Poison, msg) => msg.data_mut()?.poison = value != 0,
        (AlteredField::DevLoad, Msg::S2mNdr { devload, .. } | Msg::S2mDrs { devload, .. }) => *devload = DevLoad(byte),
        _ => return None,
    }
    Some(())
}

/// A system, and what becomes of one message in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Altered {
    system: Composite,
    class: Class,
    alteration: Alteration,
    is_done: bool,
}

/// A move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AlteredMove {
    /// One of the system.
    Own(CompositeMove),
    /// A message is changed.
    #[allow(missing_docs)]
    Alter { link: u16, dir: Dir, index: u8 },
}

impl Altered {
    /// A system in which one message of a class is changed.
    pub fn new(system: Composite, class: Class, alteration: Alteration) -> Altered {
        Altered { system, class, alteration, is_done: false }
    }

    fn message(&self, link: u16, dir: Dir, index: u8) -> Msg<LineToken> {
        self.system.under_way(link.into(), dir)[usize::from(index)]
    }
}

impl ExploredSystem for Altered {
    type Move = AlteredMove;

    fn columns(&self) -> Vec<String> {
        self.system.columns()
    }

    fn moves(&self, out: &mut Vec<AlteredMove>) {
        let mut own = Vec::new();
        self.system.moves(&mut own);
        out.extend(own.into_iter().map(AlteredMove::Own));
        for link in (0..self.system.links() as u16).filter(|_| !self.is_done) {
            for dir in [Dir::Down, Dir::Up] {
                for (index, msg) in self.system.under_way(link.into(), dir).iter().enumerate() {
                    if msg.class() == self.class && self.alteration.of(msg).is_some() {
                        out.push(AlteredMove::Alter { link, dir, index: index as u8 });
                    }
                }
            }
        }
    }

    fn fairness(&self, mv: AlteredMove) -> Fairness {
        match mv {
            AlteredMove::Own(mv) => self.system.fairness(mv),
            AlteredMove::Alter { .. } => Fairness::Optional,
        }
    }

    fn action(&self, mv: AlteredMove) -> u128 {
        match mv {
            AlteredMove::Own(mv) => self.system.action(mv),
            AlteredMove::Alter { .. } => 0,
        }
    }

    fn waits(&self, out: &mut Vec<AgentWait>) {
        self.system.waits(out);
    }

    fn apply(&mut self, mv: AlteredMove, events: &mut Vec<CoherenceEvent>) -> Option<usize> {
        match mv {
            AlteredMove::Own(mv) => self.system.apply(mv, events),
            AlteredMove::Alter { link, dir, index } => {
                let new = self.alteration.of(&self.message(link, dir, index)).unwrap_or_default();
                self.system.replace(link.into(), dir, index.into(), new);
                self.is_done = true;
                None
            }
        }
    }

    fn describe(&self, mv: AlteredMove) -> ChartStep {
        let (link, dir, index) = match mv {
            AlteredMove::Own(mv) => return self.system.describe(mv),
            AlteredMove::Alter { link, dir, index } => (link, dir, index),
        };
        let msg = self.message(link, dir, index);
        let new = self.alteration.of(&msg).unwrap_or_default();
        let new = new.first().map(|new| new.label()).filter(|label| *label != msg.label());
        let new = new.map_or_else(String::new, |label| format!(" and is {label}"));
        let text = format!("on its way, {} {}{new}", msg.label(), self.alteration.about());
        let agent = self.system.setup().sender(link.into(), dir);
        ChartStep::Act { agent, text, line: msg.line(), sent: Vec::new() }
    }

    fn check(&self, events: &mut Vec<CoherenceEvent>) {
        self.system.check(events);
    }

    fn is_idle(&self) -> bool {
        // What a lost message leaves open is no fault of an agent.
        self.is_done || self.system.is_idle()
    }

    fn check_idle(&self, events: &mut Vec<CoherenceEvent>) {
        if self.system.is_idle() {
            self.system.check_idle(events);
        }
    }
}
