//! The CRD field: credits returned, one channel a group (`cxl-256b` §1.6).

use super::Class;
use crate::{layout, wire_enum};

/// Credits that the codes of a channel stand for, lowest code first.
pub const COUNTS: [u8; 5] = [1, 4, 8, 12, 16];

wire_enum! {
    /// Credits of a request channel; unlisted codes are ignored.
    pub RequestCredit: 5 bits, rule "CXL256-CRD-02", source "cxl-256b §1.6" {
        /// None.
        NoCredit = 0,
        /// Marks an Empty flit; no credit.
        EmptyFlit = 1,
        /// 1 H2D Req.
        H2dReq1 = 4,
        /// 4 H2D Req.
        H2dReq4 = 5,
        /// 8 H2D Req.
        H2dReq8 = 6,
        /// 12 H2D Req.
        H2dReq12 = 7,
        /// 16 H2D Req.
        H2dReq16 = 8,
        /// 1 D2H Req.
        D2hReq1 = 9,
        /// 4 D2H Req.
        D2hReq4 = 10,
        /// 8 D2H Req.
        D2hReq8 = 11,
        /// 12 D2H Req.
        D2hReq12 = 12,
        /// 16 D2H Req.
        D2hReq16 = 13,
        /// 1 M2S Req.
        M2sReq1 = 20,
        /// 4 M2S Req.
        M2sReq4 = 21,
        /// 8 M2S Req.
        M2sReq8 = 22,
        /// 12 M2S Req.
        M2sReq12 = 23,
        /// 16 M2S Req.
        M2sReq16 = 24,
        /// 1 S2M BISnp.
        S2mBisnp1 = 25,
        /// 4 S2M BISnp.
        S2mBisnp4 = 26,
        /// 8 S2M BISnp.
        S2mBisnp8 = 27,
        /// 12 S2M BISnp.
        S2mBisnp12 = 28,
        /// 16 S2M BISnp.
        S2mBisnp16 = 29,
    }
}

wire_enum! {
    /// Credits of a data channel; unlisted codes are ignored.
    pub DataCredit: 5 bits, rule "CXL256-CRD-02", source "cxl-256b §1.6" {
        /// None.
        NoCredit = 0,
        /// 1 H2D Data.
        H2dData1 = 4,
        /// 4 H2D Data.
        H2dData4 = 5,
        /// 8 H2D Data.
        H2dData8 = 6,
        /// 12 H2D Data.
        H2dData12 = 7,
        /// 16 H2D Data.
        H2dData16 = 8,
        /// 1 D2H Data.
        D2hData1 = 9,
        /// 4 D2H Data.
        D2hData4 = 10,
        /// 8 D2H Data.
        D2hData8 = 11,
        /// 12 D2H Data.
        D2hData12 = 12,
        /// 16 D2H Data.
        D2hData16 = 13,
        /// 1 M2S RwD.
        M2sRwd1 = 20,
        /// 4 M2S RwD.
        M2sRwd4 = 21,
        /// 8 M2S RwD.
        M2sRwd8 = 22,
        /// 12 M2S RwD.
        M2sRwd12 = 23,
        /// 16 M2S RwD.
        M2sRwd16 = 24,
        /// 1 S2M DRS.
        S2mDrs1 = 25,
        /// 4 S2M DRS.
        S2mDrs4 = 26,
        /// 8 S2M DRS.
        S2mDrs8 = 27,
        /// 12 S2M DRS.
        S2mDrs12 = 28,
        /// 16 S2M DRS.
        S2mDrs16 = 29,
    }
}

wire_enum! {
    /// Credits of a response channel; unlisted codes are ignored.
    pub ResponseCredit: 5 bits, rule "CXL256-CRD-02", source "cxl-256b §1.6" {
        /// None.
        NoCredit = 0,
        /// 1 H2D Rsp.
        H2dRsp1 = 4,
        /// 4 H2D Rsp.
        H2dRsp4 = 5,
        /// 8 H2D Rsp.
        H2dRsp8 = 6,
        /// 12 H2D Rsp.
        H2dRsp12 = 7,
        /// 16 H2D Rsp.
        H2dRsp16 = 8,
        /// 1 D2H Rsp.
        D2hRsp1 = 9,
        /// 4 D2H Rsp.
        D2hRsp4 = 10,
        /// 8 D2H Rsp.
        D2hRsp8 = 11,
        /// 12 D2H Rsp.
        D2hRsp12 = 12,
        /// 16 D2H Rsp.
        D2hRsp16 = 13,
        /// 1 M2S BIRsp.
        M2sBirsp1 = 20,
        /// 4 M2S BIRsp.
        M2sBirsp4 = 21,
        /// 8 M2S BIRsp.
        M2sBirsp8 = 22,
        /// 12 M2S BIRsp.
        M2sBirsp12 = 23,
        /// 16 M2S BIRsp.
        M2sBirsp16 = 24,
        /// 1 S2M NDR.
        S2mNdr1 = 25,
        /// 4 S2M NDR.
        S2mNdr4 = 26,
        /// 8 S2M NDR.
        S2mNdr8 = 27,
        /// 12 S2M NDR.
        S2mNdr12 = 28,
        /// 16 S2M NDR.
        S2mNdr16 = 29,
    }
}

layout! {
    /// Credit return, flit bytes 240 and 241.
    pub struct Crd: 16 bits = "cxl256.crd" {
        source: "cxl-256b §1.6", basis: Spec, rule: "CXL256-CRD-01";
        /// Request channels, or the mark of an Empty flit.
        request: RequestCredit = [0 +: 5];
        /// Data channels.
        data: DataCredit = [5 +: 5];
        /// Response channels.
        response: ResponseCredit = [10 +: 5];
        /// Reserved.
        rsvd: u8 = [15 +: 1], reserved;
    }
}

/// First codes of the four channels of each group, in order H2D, D2H, M2S, S2M.
const FIRST_CODES: [u8; 4] = [0x04, 0x09, 0x14, 0x19];
/// Codes of a field of five bits.
const CODES: usize = 32;
/// Channels of the request, data and response group.
pub const CHANNELS: [[Class; 4]; 3] = [
    [Class::H2dReq, Class::D2hReq, Class::M2sReq, Class::S2mBisnp],
    [Class::H2dData, Class::D2hData, Class::M2sRwd, Class::S2mDrs],
    [Class::H2dRsp, Class::D2hRsp, Class::M2sBirsp, Class::S2mNdr],
];

/// What each code of a group means, made of the rows above.
const MEANINGS: [[Option<(Class, u8)>; CODES]; 3] = {
    let mut meanings = [[None; CODES]; 3];
    let mut n = 0;
    while n < 3 * FIRST_CODES.len() * COUNTS.len() {
        let (group, channel, count) = (n % 3, n / 3 % FIRST_CODES.len(), n / 3 / FIRST_CODES.len());
        meanings[group][FIRST_CODES[channel] as usize + count] = Some((CHANNELS[group][channel], COUNTS[count]));
        n += 1;
    }
    meanings
};

impl Crd {
    /// Channels and credits, in order of the bits; codes that mean none are left out.
    pub fn credits(&self) -> impl Iterator<Item = (Class, u8)> {
        self.by_group().into_iter().flatten()
    }

    /// Channel and credits of each group, in the order of [`CHANNELS`]; `None`: the code means none.
    #[inline]
    pub fn by_group(&self) -> [Option<(Class, u8)>; 3] {
        let codes = [self.request.0, self.data.0, self.response.0];
        std::array::from_fn(|group| MEANINGS[group].get(usize::from(codes[group])).copied().flatten())
    }

    /// Whether it marks an Empty flit.
    pub fn marks_empty(&self) -> bool {
        self.request == RequestCredit::EmptyFlit
    }

    /// Returns the most credits of a channel that one code can, at most `pending`; gives their number. The group of the
    /// channel must be free.
    pub fn give(&mut self, class: Class, pending: u16) -> u8 {
        let Some(n) = COUNTS.iter().rposition(|&c| u16::from(c) <= pending) else { return 0 };
        let place = CHANNELS.iter().enumerate().find_map(|(g, channels)| {
            let at = channels.iter().position(|&c| c == class)?;
            Some((g, FIRST_CODES[at] + n as u8))
        });
        match place {
            Some((0, code)) => self.request = RequestCredit(code),
            Some((1, code)) => self.data = DataCredit(code),
            Some((_, code)) => self.response = ResponseCredit(code),
            None => return 0,
        }
        COUNTS[n]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_read() {
        for class in Class::ALL {
            for pending in 0..40 {
                let mut crd = Crd::default();
                let given = crd.give(class, pending);
                let read: Vec<_> = crd.credits().collect();
                assert_eq!(read, if given == 0 { vec![] } else { vec![(class, given)] });
                assert!(u16::from(given) <= pending);
            }
        }
    }

    #[test]
    fn every_named_code_but_two_is_a_credit() {
        for code in 0..32 {
            let crd = Crd { request: RequestCredit(code), ..Crd::default() };
            assert_eq!(crd.credits().count() == 1, crd.request.name().is_some() && code > 1, "{code}");
        }
    }
}
