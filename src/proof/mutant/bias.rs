//! HDM-D decided wrongly.

use super::CoherenceMutant;
use scalepool_coherence::bias::Bias;
use scalepool_coherence::bias::tables::{Row, Served};
use scalepool_coherence::mem::tables::Copy4;
use scalepool_coherence::rules::{BiasRules, Sheet};
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, M2sReqOpcode, MetaValue, SnpType};

impl BiasRules for CoherenceMutant {
    fn uses_alone(&self, bias: Bias) -> bool {
        *self == Self::LocalUseInHostBias || Sheet.uses_alone(bias)
    }

    fn own_snoop(&self, snp: SnpType) -> SnpType {
        if *self == Self::BackFlipUnsnooped { SnpType::NoOp } else { snp }
    }

    fn bias_row(&self, op: D2hReqOpcode) -> Option<&'static Row> {
        static FLIPS: Row = Row {
            rule: "COH-BIA-06",
            opcodes: &[D2hReqOpcode::CLFlush],
            served: Served::Forward(M2sReqOpcode::MemRdFwd),
            grants: &[(MetaValue::Invalid, Copy4::I, true)],
        };
        let flips = *self == Self::FlushFlips && op == D2hReqOpcode::CLFlush;
        if flips { Some(&FLIPS) } else { Sheet.bias_row(op) }
    }

    fn awaits_own_request(&self, req: M2sReqOpcode) -> bool {
        let forwards = matches!(req, M2sReqOpcode::MemRdFwd | M2sReqOpcode::MemWrFwd);
        *self == Self::ReqWaitsForOwnRequest && !forwards
    }

    fn forward_awaits_write(&self) -> bool {
        *self != Self::FwdBeforeWriteDone
    }
}
