//! A host that answers a bridge by CXL.cache in a case.
//!
//! Modelled: answers by the tables of `coherence` §2.2, with the errors that a case asks for; one snoop at a moment that a case names. Left
//! out: other caches: nobody else takes lines. A walk: WrInv comes, and WritePull goes back with a UQID; the data come under that UQID, and
//! now GO-I goes back with the CQID of the request.

use super::peer::{MemoryMood, Peer, fresh};
use crate::message::{BridgeMessage, CxlMessage};
use crate::model::{BridgeEvent, BridgePoint};
use scalepool_coherence::content::{CacheLine, LineAddr, LineContent};
use scalepool_coherence::message::Msg;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, GoState, H2dReqOpcode, H2dRspOpcode};

/// First UQID: those of the host are others than the CQIDs of a case.
const FIRST_UQID: u16 = 0x800;

/// When a snoop comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SnoopMoment {
    /// In front of all answers to the first request with this opcode.
    Before(D2hReqOpcode),
    /// Between the GO and the data of the first read with this opcode.
    BehindGo(D2hReqOpcode),
    /// Behind so many responses of the case, when nothing is under way.
    AtRest(usize),
}

/// A snoop of a case.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlannedSnoop {
    pub moment: SnoopMoment,
    pub opcode: H2dReqOpcode,
    /// The line, which is at port 0.
    pub line: LineAddr,
}

/// What has still to come under a UQID.
#[derive(Debug, Clone, Copy)]
enum OwedData {
    /// The data of a request: its CQID, its opcode, its line, and whether it is refused.
    Pulled(u16, D2hReqOpcode, LineAddr, bool),
    /// The line that answers a snoop.
    Snooped(LineAddr),
}

/// The host.
pub(super) struct PeerHost {
    mood: MemoryMood,
    /// Data come before their GO.
    data_first: bool,
    /// What one who asks to own a line with its bytes is granted.
    grant: GoState,
    /// The GO of a read that is refused: Error or Invalid.
    refusal: GoState,
    /// Requests that are refused whatever their line.
    refused: Vec<D2hReqOpcode>,
    snoop: Option<PlannedSnoop>,
    lines: OrderedMap<u64, CacheLine>,
    owed: OrderedMap<u16, OwedData>,
    uqids: u16,
    responses: usize,
}

impl PeerHost {
    /// One of a mood; lines that are absent are answered by errors.
    pub fn of(mood: MemoryMood) -> PeerHost {
        PeerHost {
            mood,
            data_first: false,
            grant: GoState::Exclusive,
            refusal: GoState::Error,
            refused: Vec::new(),
            snoop: None,
            lines: OrderedMap::new(),
            owed: OrderedMap::new(),
            uqids: FIRST_UQID,
            responses: 0,
        }
    }

    /// Whose data come before their GO, or behind it.
    pub fn data_first(self, data_first: bool) -> PeerHost {
        PeerHost { data_first, ..self }
    }

    /// That grants this to one who asks to own a line.
    pub fn granting(self, grant: GoState) -> PeerHost {
        PeerHost { grant, ..self }
    }

    /// That refuses these requests, reads by this GO.
    pub fn refusing(self, refused: &[D2hReqOpcode], refusal: GoState) -> PeerHost {
        PeerHost { refused: refused.to_vec(), refusal, ..self }
    }

    /// That sends a snoop.
    pub fn snooping(self, snoop: PlannedSnoop) -> PeerHost {
        PeerHost { snoop: Some(snoop), ..self }
    }

    fn uqid(&mut self, owed: OwedData) -> u16 {
        let uqid = self.uqids;
        self.uqids += 1;
        self.owed.insert(uqid, owed);
        uqid
    }

    fn line(&self, line: LineAddr) -> CacheLine {
        let own = self.lines.get(&line.0).copied().unwrap_or_else(|| fresh(line));
        own.poisoned(own.poison || self.mood == MemoryMood::Poisoned)
    }

    /// The snoop of the case, if its moment is this one; it comes once.
    fn snoops(&mut self, moment: SnoopMoment) -> Option<Msg<CacheLine>> {
        let PlannedSnoop { opcode, line, .. } = self.snoop.take_if(|snoop| snoop.moment == moment)?;
        let uqid = self.uqid(OwedData::Snooped(line));
        Some(Msg::H2dReq { opcode, line, uqid })
    }

    fn asked(&mut self, opcode: D2hReqOpcode, line: LineAddr, cqid: u16) -> Vec<Msg<CacheLine>> {
        use D2hReqOpcode as Op;
        let is_refused = self.refused.contains(&opcode) || self.mood.is_absent(line);
        let data = if is_refused { CacheLine::ones() } else { self.line(line) };
        let rsp = |opcode, rsp_data| Msg::H2dRsp { opcode, rsp_data, cqid };
        let go = |state: GoState| rsp(H2dRspOpcode::GO, state.0.into());
        let data = |go_err| Msg::H2dData { cqid, go_err, data };
        let (refusal, grant) = (self.refusal, self.grant);
        let granted = |state| if is_refused { refusal } else { state };
        let mut made: Vec<Msg<CacheLine>> = self.snoops(SnoopMoment::Before(opcode)).into_iter().collect();
        match opcode {
            // Its error stands in the header of its data.
            Op::RdCurr => made.push(data(is_refused)),
            Op::RdShared | Op::RdOwn => {
                let state = if opcode == Op::RdShared { GoState::Shared } else { grant };
                let mut answers = vec![go(granted(state)), data(false)];
                if let Some(snoop) = self.snoops(SnoopMoment::BehindGo(opcode)) {
                    answers.insert(1, snoop);
                } else if self.data_first {
                    answers.reverse();
                }
                made.extend(answers);
            }
            // Ownership without bytes is refused by GO-Err alone.
            Op::RdOwnNoData => made.push(go(if is_refused { GoState::Error } else { GoState::Exclusive })),
            Op::WrCur | Op::DirtyEvict => {
                let uqid = self.uqid(OwedData::Pulled(cqid, opcode, line, is_refused));
                let pull = if is_refused { H2dRspOpcode::GO_ERR_WritePull } else { H2dRspOpcode::GO_WritePull };
                made.push(rsp(pull, uqid));
            }
            Op::WrInv => {
                let uqid = self.uqid(OwedData::Pulled(cqid, opcode, line, is_refused));
                made.push(rsp(H2dRspOpcode::WritePull, uqid));
            }
            _ => made.push(go(GoState::Invalid)),
        }
        made
    }

    /// Data come; what is said to that.
    fn brought(&mut self, uqid: u16, bogus: bool, data: CacheLine, enables: u64) -> Option<Msg<CacheLine>> {
        let owed = self.owed.remove(&uqid)?;
        let (line, is_refused) = match owed {
            OwedData::Pulled(_, _, line, is_refused) => (line, is_refused),
            OwedData::Snooped(line) => (line, false),
        };
        if !bogus && !is_refused {
            let mut own = self.line(line);
            own.merge(&data, enables);
            self.lines.insert(line.0, own);
        }
        let OwedData::Pulled(cqid, D2hReqOpcode::WrInv, ..) = owed else { return None };
        let state = if is_refused { GoState::Error } else { GoState::Invalid };
        Some(Msg::H2dRsp { opcode: H2dRspOpcode::GO, rsp_data: state.0.into(), cqid })
    }
}

fn spelled(msg: Msg<CacheLine>) -> BridgeMessage {
    BridgeMessage::Cxl(CxlMessage { msg, ld_id: 0, traffic_class: 0 })
}

impl Peer for PeerHost {
    fn answers(&mut self, message: &BridgeMessage) -> Vec<BridgeMessage> {
        let BridgeMessage::Cxl(CxlMessage { msg, .. }) = message else { return Vec::new() };
        let made = match *msg {
            Msg::D2hReq { opcode, line, cqid } => self.asked(opcode, line, cqid),
            Msg::D2hData { uqid, bogus, data, enables } => {
                self.brought(uqid, bogus, data, enables).into_iter().collect()
            }
            _ => Vec::new(),
        };
        made.into_iter().map(spelled).collect()
    }

    fn hears(&mut self, event: &BridgeEvent) -> Vec<BridgeEvent> {
        let answer = |port| move |message| BridgeEvent { point: BridgePoint::Answer, port, message };
        match event.point {
            BridgePoint::Sent => self.answers(&event.message).into_iter().map(answer(event.port)).collect(),
            BridgePoint::Response => {
                self.responses += 1;
                self.snoops(SnoopMoment::AtRest(self.responses)).map(spelled).map(answer(0)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}
