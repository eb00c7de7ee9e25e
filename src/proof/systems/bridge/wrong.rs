//! Bridges with a fault, which a search has to find: the right bridge, and around it something that changes what it gets or says.

use super::ADDED;
use scalepool_bridge::commands::AccessKind;
use scalepool_bridge::outbound::request::BridgeRequest;
use scalepool_coherence::content::{CacheLine, LINE_BYTES, WHOLE_LINE};
use scalepool_coherence::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{BirspOpcode, BisnpOpcode, M2sReqOpcode, NdrOpcode, SnpType};
use scalepool_protocols::ualink::code::Status;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WrongBridge {
    /// BISnp is answered with BIRspI, and the cache keeps the line.
    IgnoresSnoops,
    /// BISnpInv does what BISnpData does, and is answered with BIRspI.
    KeepsShared,
    /// Cmp-S is taken for Cmp-E.
    OwnsWhatIsShared,
    /// A dirty line is given up as a clean one.
    DropsDirty,
    /// Requests to share a line do not snoop its owner.
    ReadsPastOwners,
    /// The bytes of a line are lost on their way in, and zeros are taken for them.
    MergesIntoZeros,
    /// A store of a part writes all of the line.
    IgnoresEnables,
    /// Requests of one accelerator have no order.
    Overtakes,
    /// A response is lost.
    LosesResponses,
    /// A response says that the target has given up.
    TellsAnError,
    /// An atomic is answered with its result.
    AnswersWithResults,
    /// The second half of what is read is that of another line.
    TearsReads,
    /// What is read loses its poison.
    HidesPoison,
}

impl WrongBridge {
    /// All of them.
    pub const ALL: [WrongBridge; 13] = [
        WrongBridge::IgnoresSnoops,
        WrongBridge::KeepsShared,
        WrongBridge::OwnsWhatIsShared,
        WrongBridge::DropsDirty,
        WrongBridge::ReadsPastOwners,
        WrongBridge::MergesIntoZeros,
        WrongBridge::IgnoresEnables,
        WrongBridge::Overtakes,
        WrongBridge::LosesResponses,
        WrongBridge::TellsAnError,
        WrongBridge::AnswersWithResults,
        WrongBridge::TearsReads,
        WrongBridge::HidesPoison,
    ];

    /// What is wrong, in words.
    pub fn about(self) -> &'static str {
        match self {
            WrongBridge::IgnoresSnoops => "BISnp is answered with BIRspI, and the cache keeps the line",
            WrongBridge::KeepsShared => "BISnpInv does what BISnpData does, and is answered with BIRspI",
            WrongBridge::OwnsWhatIsShared => "Cmp-S is taken for Cmp-E",
            WrongBridge::DropsDirty => "a dirty line is given up as a clean one",
            WrongBridge::ReadsPastOwners => "requests to share a line do not snoop its owner",
            WrongBridge::MergesIntoZeros => {
                "The bytes of a line are lost on their way in, and zeros are taken for them"
            }
            WrongBridge::IgnoresEnables => "a store of a part writes all of the line",
            WrongBridge::Overtakes => "requests of one accelerator have no order",
            WrongBridge::LosesResponses => "a response is lost",
            WrongBridge::TellsAnError => "a response says that the target has given up",
            WrongBridge::AnswersWithResults => "an atomic is answered with its result",
            WrongBridge::TearsReads => "the second half of what is read is that of another line",
            WrongBridge::HidesPoison => "what is read loses its poison",
        }
    }
}

/// What the bridge gets of the request of a requester.
pub(crate) fn asked(wrong: Option<WrongBridge>, mut request: BridgeRequest, requester: u8) -> BridgeRequest {
    match wrong {
        Some(WrongBridge::IgnoresEnables) if request.access == AccessKind::Write => {
            request.lines.iter_mut().for_each(|line| line.mask = WHOLE_LINE);
        }
        Some(WrongBridge::Overtakes) => request.source = requester.into(),
        _ => (),
    }
    request
}

/// What the requester gets of a response; `None`: nothing.
pub(crate) fn answered(
    wrong: Option<WrongBridge>,
    status: Status,
    line: Option<&CacheLine>,
) -> Option<(Status, Option<CacheLine>)> {
    let mut line = line.copied();
    let mut status = status;
    match (wrong, &mut line) {
        (Some(WrongBridge::LosesResponses), _) => return None,
        (Some(WrongBridge::TellsAnError), _) => status = Status::TargetAbort,
        // The operand has one byte.
        (Some(WrongBridge::AnswersWithResults), Some(line)) => line.bytes[0] = line.bytes[0].wrapping_add(ADDED as u8),
        (Some(WrongBridge::TearsReads), Some(line)) => line.bytes[LINE_BYTES / 2..].fill(u8::MAX),
        (Some(WrongBridge::HidesPoison), Some(line)) => line.poison = false,
        _ => (),
    }
    Some((status, line))
}

/// What the bridge gets of a message, and what is answered without it.
pub(crate) fn received(
    wrong: Option<WrongBridge>,
    msg: Msg<CacheLine>,
) -> (Option<Msg<CacheLine>>, Option<Msg<CacheLine>>) {
    match (wrong, msg) {
        (Some(WrongBridge::IgnoresSnoops), Msg::S2mBisnp { line, bi_tag, .. }) => {
            let low_addr = (line.0 & 3) as u8;
            (None, Some(Msg::M2sBirsp { opcode: BirspOpcode::BIRspI, bi_tag, low_addr }))
        }
        (Some(WrongBridge::KeepsShared), Msg::S2mBisnp { opcode: BisnpOpcode::BISnpInv, line, bi_tag }) => {
            (Some(Msg::S2mBisnp { opcode: BisnpOpcode::BISnpData, line, bi_tag }), None)
        }
        (
            Some(WrongBridge::OwnsWhatIsShared),
            Msg::S2mNdr { opcode: NdrOpcode::CmpS, meta_field, meta, tag, devload },
        ) => (Some(Msg::S2mNdr { opcode: NdrOpcode::CmpE, meta_field, meta, tag, devload }), None),
        (Some(WrongBridge::MergesIntoZeros), Msg::S2mDrs { opcode, meta_field, meta, tag, devload, data }) => {
            let data = CacheLine { bytes: [0; 64], ..data };
            (Some(Msg::S2mDrs { opcode, meta_field, meta, tag, devload, data }), None)
        }
        (_, msg) => (Some(msg), None),
    }
}

/// What leaves in the place of a message.
pub(crate) fn sent(wrong: Option<WrongBridge>, msg: Msg<CacheLine>) -> Option<Msg<CacheLine>> {
    Some(match (wrong, msg) {
        (Some(WrongBridge::KeepsShared), Msg::M2sBirsp { bi_tag, low_addr, .. }) => {
            Msg::M2sBirsp { opcode: BirspOpcode::BIRspI, bi_tag, low_addr }
        }
        (Some(WrongBridge::DropsDirty), Msg::M2sRwd { meta_field, meta, line, tag, .. })
            if scalepool_bridge::outbound::write_backs::of_tag(tag).is_some() =>
        {
            let (opcode, snp) = (M2sReqOpcode::MemClnEvct, SnpType::NoOp);
            Msg::M2sReq { opcode, snp, meta_field, meta, line, tag }
        }
        (
            Some(WrongBridge::ReadsPastOwners),
            Msg::M2sReq { opcode: M2sReqOpcode::MemRd, meta_field, meta, line, tag, .. },
        ) => Msg::M2sReq { opcode: M2sReqOpcode::MemRd, snp: SnpType::NoOp, meta_field, meta, line, tag },
        (_, msg) => msg,
    })
}
