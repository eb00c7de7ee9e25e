//! O11: which requests of a device for one line may be open together.

use crate::coherence::content::{Content, LineAddr};
use crate::coherence::event::Event;
use crate::coherence::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode as Op, H2dRspOpcode};
use std::collections::{BTreeMap, BTreeSet};

/// Reads the messages of one device's link, at the home's end. It suits any device, also one with several requests a line.
#[derive(Debug, Clone, Default)]
pub struct IssueWatch {
    open: BTreeMap<u16, (LineAddr, Op)>,
    /// Lines evicted with no cacheable read since.
    evicted: BTreeSet<LineAddr>,
}

fn serialises(op: Op) -> bool {
    [Op::RdShared, Op::RdAny, Op::RdOwn, Op::RdOwnNoData].contains(&op)
}

fn evicts(op: Op) -> bool {
    [Op::CleanEvict, Op::CleanEvictNoData, Op::DirtyEvict].contains(&op)
}

impl IssueWatch {
    /// A message from the device.
    pub fn up<D: Content>(&mut self, msg: &Msg<D>, events: &mut Vec<Event>) {
        let Msg::D2hReq { opcode, line, cqid } = *msg else { return };
        let mut say = |found: String, expected: &str| {
            events.push(Event::new("COH-ORD-10", line, "device", found, expected));
        };
        let name = |op: Op| op.name().unwrap_or("?");
        if let Some((_, other)) =
            self.open.values().find(|(l, other)| *l == line && (serialises(opcode) || serialises(*other)))
        {
            say(format!("{} beside {}", name(opcode), name(*other)), "a cacheable read alone on its line");
        }
        if evicts(opcode) && !self.evicted.insert(line) {
            say(format!("{} again", name(opcode)), "a cacheable read between two evicts");
        }
        if serialises(opcode) || opcode == Op::CLFlush {
            self.evicted.remove(&line);
        }
        self.open.insert(cqid, (line, opcode));
    }

    /// A message to the device: its GO, its ExtCmp or the data of RdCurr ends a request.
    pub fn down<D: Content>(&mut self, msg: &Msg<D>) {
        match msg {
            Msg::H2dRsp { opcode, cqid, .. } if *opcode != H2dRspOpcode::WritePull => {
                self.open.remove(cqid);
            }
            Msg::H2dData { cqid, .. } if self.open.get(cqid).is_some_and(|(_, op)| *op == Op::RdCurr) => {
                self.open.remove(cqid);
            }
            _ => {}
        }
    }
}
