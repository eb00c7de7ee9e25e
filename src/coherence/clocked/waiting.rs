//! Who may wait for whom inside an agent (`coherence` §3.6).
//!
//! An incoming message is taken only when the classes that it may wait for have room on their way out. A class that it
//! must not wait for is never asked: its queue grows by what the protocol bounds, the requests of the agent itself.

use crate::coherence::message::Class;

/// Outgoing classes that an incoming message may wait for, at a device and at a host. Deadlock freedom is the order
/// D2H Req > M2S Req > S2M BISnp > {M2S RwD, H2D Req} > {NDR, DRS, D2H Rsp, D2H Data} > {H2D Rsp, H2D Data, BIRsp}.
pub const fn may_wait_for(incoming: Class) -> &'static [Class] {
    use Class::*;
    match incoming {
        // At a device.
        M2sReq => &[S2mNdr, S2mDrs, D2hRsp, D2hData, S2mBisnp],
        M2sRwd | H2dReq => &[S2mNdr, S2mDrs, D2hRsp, D2hData],
        H2dRsp | H2dData | M2sBirsp => &[],
        // At a host.
        S2mNdr | S2mDrs | D2hRsp | D2hData => &[H2dRsp, H2dData, M2sBirsp],
        S2mBisnp => &[M2sRwd, H2dReq, H2dRsp, H2dData, M2sBirsp],
        D2hReq => &[H2dReq, H2dRsp, H2dData, M2sReq, M2sRwd, M2sBirsp],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Place of a class in the order; waiting goes to larger numbers only, so no cycle exists.
    fn rank(class: Class) -> u8 {
        use Class::*;
        match class {
            D2hReq => 0,
            M2sReq => 1,
            S2mBisnp => 2,
            M2sRwd | H2dReq => 3,
            S2mNdr | S2mDrs | D2hRsp | D2hData => 4,
            H2dRsp | H2dData | M2sBirsp => 5,
        }
    }

    #[test]
    fn no_class_waits_for_one_before_it() {
        use Class::*;
        for incoming in
            [D2hReq, D2hRsp, D2hData, H2dReq, H2dRsp, H2dData, M2sReq, M2sRwd, M2sBirsp, S2mBisnp, S2mNdr, S2mDrs]
        {
            for &outgoing in may_wait_for(incoming) {
                assert!(rank(outgoing) > rank(incoming), "{incoming:?} waits for {outgoing:?}");
                assert_ne!(outgoing.dir(), incoming.dir(), "{outgoing:?} does not leave where {incoming:?} arrives");
            }
        }
    }
}
