//! Who holds lines of memory that a bridge keeps coherent, beside the accelerator whose memory it is.
//!
//! Modelled: answers to back-invalidate snoops by the tables of `coherence` §3.4, with a write back in front of them if the copy is dirty.
//! What a holder has it knows by its own requests and their completions. Who has dropped a line, and asks for it again, answers a snoop by
//! BIConflict. Left out: conflicts of those that have a copy.
//!
//! A walk: host 1 has asked for a line and got Cmp-E, and has stored into it; BISnpData comes, so MemWr Shared goes back with its bytes; with
//! its Cmp BIRspS follows, and host 1 shares the line.

use super::peer::{Peer, PeerAccelerator};
use crate::message::{BridgeMessage, CxlMessage};
use crate::model::{BridgeEvent, BridgePoint};
use scalepool_coherence::content::{CacheLine, LineAddr, WHOLE_LINE};
use scalepool_coherence::message::Msg;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};

/// First tag of write backs: those of cases are smaller.
const WRITE_BACK_TAGS: u16 = 0x8000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CopyState {
    Shared,
    Exclusive,
    Modified,
}

/// What holders do with lines that they own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HolderMood {
    /// They leave them as they are.
    Clean,
    /// They store into them at once.
    Dirty,
    /// They store poison into them at once.
    Poisoned,
    /// They drop them at once, and say nothing.
    Silent,
}

/// All holders, one at each CXL port, and the accelerators.
pub(super) struct Cluster {
    accelerator: PeerAccelerator,
    mood: HolderMood,
    copies: OrderedMap<(usize, LineAddr), CopyState>,
    /// Lines that are asked for, by port and tag.
    asked: OrderedMap<(usize, u16), LineAddr>,
    /// What is said behind the Cmp of a write back, by port and tag.
    leaving: OrderedMap<(usize, u16), Msg<CacheLine>>,
    write_backs: u16,
}

impl Cluster {
    pub fn of(mood: HolderMood, accelerator: PeerAccelerator) -> Cluster {
        Cluster {
            accelerator,
            mood,
            copies: OrderedMap::new(),
            asked: OrderedMap::new(),
            leaving: OrderedMap::new(),
            write_backs: 0,
        }
    }

    /// The answer to a snoop, or what comes in front of it: a write back, or a conflict.
    fn snooped(&mut self, port: usize, (opcode, line, bi_tag): (BisnpOpcode, LineAddr, u16)) -> Msg<CacheLine> {
        let copy = self.copies.get(&(port, line)).copied();
        let (meta, kept, says) = match (opcode, copy) {
            (BisnpOpcode::BISnpData, Some(_)) => (MetaValue::Shared, Some(CopyState::Shared), BirspOpcode::BIRspS),
            (BisnpOpcode::BISnpCur, Some(CopyState::Shared)) => {
                (MetaValue::Any, Some(CopyState::Shared), BirspOpcode::BIRspS)
            }
            (BisnpOpcode::BISnpCur, Some(_)) => (MetaValue::Any, Some(CopyState::Exclusive), BirspOpcode::BIRspE),
            _ => (MetaValue::Invalid, None, BirspOpcode::BIRspI),
        };
        let asked = self.asked.iter().find(|((at, _), of)| (*at, **of) == (port, line)).map(|((_, tag), _)| *tag);
        if let (HolderMood::Silent, Some(tag)) = (self.mood, asked) {
            let answer = Msg::M2sBirsp { opcode: BirspOpcode::BIRspI, bi_tag, low_addr: (line.0 & 3) as u8 };
            self.leaving.insert((port, tag), answer);
            let (meta_field, meta, snp) = (MetaField::NoOp, MetaValue::Invalid, SnpType::NoOp);
            let (opcode, data, enables) = (M2sRwdOpcode::BIConflict, CacheLine::of([0; 64]), WHOLE_LINE);
            return Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data, enables };
        }
        match kept {
            Some(kept) => self.copies.insert((port, line), kept),
            None => self.copies.remove(&(port, line)),
        };
        let answer = Msg::M2sBirsp { opcode: says, bi_tag, low_addr: (line.0 & 3) as u8 };
        if copy != Some(CopyState::Modified) {
            return answer;
        }
        let tag = WRITE_BACK_TAGS + self.write_backs;
        self.write_backs += 1;
        self.leaving.insert((port, tag), answer);
        let bytes = std::array::from_fn(|k| (k as u8).wrapping_mul(59) ^ line.0 as u8 ^ port as u8);
        let data = CacheLine { bytes, poison: self.mood == HolderMood::Poisoned };
        let (snp, meta_field) = (SnpType::NoOp, MetaField::Meta0State);
        let (opcode, enables) = (M2sRwdOpcode::MemWr, WHOLE_LINE);
        Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data, enables }
    }

    fn completed(&mut self, port: usize, tag: u16, opcode: NdrOpcode) {
        let Some(line) = self.asked.remove(&(port, tag)) else { return };
        let copy = match (opcode, self.mood) {
            (NdrOpcode::CmpS, HolderMood::Clean | HolderMood::Dirty | HolderMood::Poisoned) => CopyState::Shared,
            (NdrOpcode::CmpE, HolderMood::Clean) => CopyState::Exclusive,
            (NdrOpcode::CmpE, HolderMood::Dirty | HolderMood::Poisoned) => CopyState::Modified,
            _ => return,
        };
        self.copies.insert((port, line), copy);
    }
}

impl Peer for Cluster {
    fn answers(&mut self, message: &BridgeMessage) -> Vec<BridgeMessage> {
        self.accelerator.answers(message)
    }

    fn asks(&mut self, event: &BridgeEvent) {
        let BridgeMessage::Cxl(CxlMessage { msg, .. }) = &event.message else { return };
        let (port, line) = (event.port, msg.line());
        match *msg {
            Msg::M2sReq { tag, meta, line, .. } => {
                if meta == MetaValue::Invalid {
                    self.copies.remove(&(port, line));
                }
                self.asked.insert((port, tag), line);
            }
            Msg::M2sRwd { meta: MetaValue::Invalid, .. } => {
                line.map(|line| self.copies.remove(&(port, line)));
            }
            Msg::M2sRwd { meta: MetaValue::Shared, .. } => {
                line.map(|line| self.copies.insert((port, line), CopyState::Shared));
            }
            _ => (),
        }
    }

    fn hears(&mut self, event: &BridgeEvent) -> Vec<BridgeEvent> {
        let port = event.port;
        if event.point != BridgePoint::Response {
            let answer = |message| BridgeEvent { point: BridgePoint::Answer, port, message };
            return self.answers(&event.message).into_iter().map(answer).collect();
        }
        let BridgeMessage::Cxl(CxlMessage { msg, .. }) = event.message else { return Vec::new() };
        let said = match msg {
            Msg::S2mBisnp { opcode, line, bi_tag } => Some(self.snooped(port, (opcode, line, bi_tag))),
            Msg::S2mNdr { opcode, tag, .. } => {
                let said = self.leaving.remove(&(port, tag));
                if opcode != NdrOpcode::BIConflictAck {
                    self.completed(port, tag, opcode);
                }
                said
            }
            _ => None,
        };
        let of = |msg| BridgeMessage::Cxl(CxlMessage { msg, ld_id: 0, traffic_class: 0 });
        said.map(|msg| BridgeEvent { point: BridgePoint::Request, port, message: of(msg) }).into_iter().collect()
    }
}
