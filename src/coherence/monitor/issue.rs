//! O10, O11 and CacheFlushed: which requests of a device may be open together, and in which order they may come.

use crate::content::{LineAddr, LineContent};
use crate::event::CoherenceEvent;
use crate::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode as Op, H2dRspOpcode, M2sReqOpcode};
use std::collections::{BTreeMap, BTreeSet};

/// Reads the messages of one device's link, at the home's end. It suits any device, also one with several requests a line.
#[derive(Debug, Clone, Default)]
pub struct IssueWatch {
    open: BTreeMap<u16, (LineAddr, Op)>,
    /// Lines evicted with no cacheable read since.
    evicted: BTreeSet<LineAddr>,
    /// Requests that rely on the end of an earlier one, by CQID.
    relies: BTreeMap<u16, u16>,
    /// CacheFlushed has its GO, and no cacheable request has come since.
    flushed: bool,
    /// The device has memory of HDM-D, of a line of which several flips may be open (`coherence` §2.6 O11).
    pub may_flip: bool,
}

fn serialises(op: Op) -> bool {
    [Op::RdShared, Op::RdAny, Op::RdOwn, Op::RdOwnNoData].contains(&op)
}

fn evicts(op: Op) -> bool {
    [Op::CleanEvict, Op::CleanEvictNoData, Op::DirtyEvict].contains(&op)
}

impl IssueWatch {
    /// The device relies on `earlier` being visible before `later`. No message says so; the device's program does.
    pub fn relies_on(&mut self, later: u16, earlier: u16) {
        self.relies.insert(later, earlier);
    }

    /// A message from the device.
    pub fn up<D: LineContent>(&mut self, msg: &Msg<D>, events: &mut Vec<CoherenceEvent>) {
        let Msg::D2hReq { opcode, line, cqid } = *msg else { return };
        let name = |op: Op| op.name().unwrap_or("?");
        if let Some(earlier) = self.relies.get(&cqid).filter(|earlier| self.open.contains_key(earlier)) {
            let found = format!("{} before the end of CQID {earlier}, on which it relies", name(opcode));
            events.push(CoherenceEvent::new(
                "COH-ORD-09",
                line,
                "device",
                found,
                "its GO or ExtCmp before, because the host may reorder",
            ));
        }
        if opcode == Op::CacheFlushed {
            if let Some((open, other)) = self.open.values().next() {
                let found = format!("CacheFlushed beside {} of line {:#x}", name(*other), open.address());
                events.push(CoherenceEvent::new("COH-REQ-27", line, "device", found, "all accesses answered first"));
            }
            self.open.insert(cqid, (line, opcode));
            return;
        }
        self.flushed = false;
        let mut say = |found: String, expected: &str| {
            events.push(CoherenceEvent::new("COH-ORD-10", line, "device", found, expected));
        };
        let are_flips = |other: Op| self.may_flip && opcode == Op::RdOwnNoData && other == Op::RdOwnNoData;
        let serialised = |other: Op| (serialises(opcode) || serialises(other)) && !are_flips(other);
        if let Some((_, other)) = self.open.values().find(|(l, other)| *l == line && serialised(*other)) {
            say(format!("{} beside {}", name(opcode), name(*other)), "a cacheable read alone on its line");
        }
        if evicts(opcode) && !self.evicted.insert(line) {
            say(format!("{} again", name(opcode)), "a cacheable read between the two evicts");
        }
        if serialises(opcode) || opcode == Op::CLFlush {
            self.evicted.remove(&line);
        }
        self.open.insert(cqid, (line, opcode));
    }

    /// A message to the device, as the home sends it.
    pub fn down<D: LineContent>(&mut self, msg: &Msg<D>, events: &mut Vec<CoherenceEvent>) {
        self.ends(msg);
        if let Msg::H2dReq { line, .. } = msg
            && self.flushed
        {
            let (found, expected) =
                ("a snoop sent to a device that has flushed its cache", "no new snoop before its next request");
            events.push(CoherenceEvent::new("COH-REQ-27", *line, "home", found, expected));
        }
    }

    /// A message to the device, somewhere on its way: its GO, its ExtCmp, the data of RdCurr or, for its own memory, a
    /// Mem*Fwd ends a request.
    pub fn ends<D: LineContent>(&mut self, msg: &Msg<D>) {
        match msg {
            Msg::H2dRsp { opcode, cqid, .. } if *opcode != H2dRspOpcode::WritePull => {
                let ended = self.open.remove(cqid);
                self.flushed |= matches!(ended, Some((_, Op::CacheFlushed)));
            }
            Msg::H2dData { cqid, .. } if self.open.get(cqid).is_some_and(|(_, op)| *op == Op::RdCurr) => {
                self.open.remove(cqid);
            }
            Msg::M2sReq { opcode: M2sReqOpcode::MemRdFwd | M2sReqOpcode::MemWrFwd, tag, .. } => {
                self.open.remove(tag);
            }
            _ => {}
        }
    }
}
