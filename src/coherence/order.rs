//! Which messages of a link keep their order: the "must not pass" column of `coherence` §3.6.

use crate::config::CoherenceConfig;
use crate::content::LineContent;
use crate::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{M2sReqOpcode, NdrOpcode};

/// The rule by which `later` stays behind `earlier` of the same link and direction; `None` when it may pass.
pub fn order_of<D: LineContent>(later: &Msg<D>, earlier: &Msg<D>) -> Option<&'static str> {
    match (later, earlier) {
        // O1: snoop pushes GO. A GO carries no address, so the snoop stays behind all of them.
        (Msg::H2dReq { .. }, _) if earlier.bears_go() => Some("COH-ORD-01"),
        (Msg::S2mNdr { opcode, tag, .. }, Msg::S2mNdr { opcode: before, tag: same, .. })
            if *opcode == NdrOpcode::BIConflictAck && tag == same && *before != NdrOpcode::BIConflictAck =>
        {
            Some("COH-BIC-03")
        }
        (Msg::M2sReq { line, .. }, Msg::M2sReq { opcode, line: same, .. })
            if [M2sReqOpcode::MemRdFwd, M2sReqOpcode::MemWrFwd].contains(opcode) && line == same =>
        {
            Some("COH-BIA-11")
        }
        _ => None,
    }
}

/// [`order_of`] as far as the rules of the configuration have it.
pub fn must_stay_behind<D: LineContent>(
    config: &CoherenceConfig,
    later: &Msg<D>,
    earlier: &Msg<D>,
) -> Option<&'static str> {
    order_of(later, earlier).filter(|rule| config.rules.keeps_order(rule))
}
