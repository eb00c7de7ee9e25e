//! The twelve channels, and which layout a message has on them.

use super::{message, pbr};
use crate::cxl::Dir;
use crate::wire::{LayoutDef, Wire};

/// How messages find their way, and so which layouts they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Routing {
    /// Hierarchy based: CacheID, LD-ID, BI-ID (`cxl-256b` §3.1).
    Hbr,
    /// Port based: SPID, DPID (`cxl-256b` §3.2).
    Pbr,
}

/// Class of a message: one of the twelve layouts of a routing, and the channel it travels on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// CXL.cache snoop.
    H2dReq,
    /// CXL.cache answer.
    H2dRsp,
    /// CXL.cache data to the device.
    H2dData,
    /// CXL.cache request.
    D2hReq,
    /// CXL.cache snoop answer.
    D2hRsp,
    /// CXL.cache data to the host.
    D2hData,
    /// CXL.mem request.
    M2sReq,
    /// CXL.mem request with data.
    M2sRwd,
    /// Answer to a back-invalidate snoop.
    M2sBirsp,
    /// Back-invalidate snoop.
    S2mBisnp,
    /// CXL.mem answer.
    S2mNdr,
    /// CXL.mem answer with data.
    S2mDrs,
}

impl Class {
    /// All classes, in order of the sheet.
    pub const ALL: [Class; 12] = [
        Class::H2dReq,
        Class::H2dRsp,
        Class::H2dData,
        Class::D2hReq,
        Class::D2hRsp,
        Class::D2hData,
        Class::M2sReq,
        Class::M2sRwd,
        Class::M2sBirsp,
        Class::S2mBisnp,
        Class::S2mNdr,
        Class::S2mDrs,
    ];

    /// Layout of the message or data header.
    pub const fn def(self, routing: Routing) -> &'static LayoutDef {
        match (self, routing) {
            (Class::H2dReq, Routing::Hbr) => message::H2dReq::DEF,
            (Class::H2dRsp, Routing::Hbr) => message::H2dRsp::DEF,
            (Class::H2dData, Routing::Hbr) => message::H2dData::DEF,
            (Class::D2hReq, Routing::Hbr) => message::D2hReq::DEF,
            (Class::D2hRsp, Routing::Hbr) => message::D2hRsp::DEF,
            (Class::D2hData, Routing::Hbr) => message::D2hData::DEF,
            (Class::M2sReq, Routing::Hbr) => message::M2sReq::DEF,
            (Class::M2sRwd, Routing::Hbr) => message::M2sRwd::DEF,
            (Class::M2sBirsp, Routing::Hbr) => message::M2sBirsp::DEF,
            (Class::S2mBisnp, Routing::Hbr) => message::S2mBisnp::DEF,
            (Class::S2mNdr, Routing::Hbr) => message::S2mNdr::DEF,
            (Class::S2mDrs, Routing::Hbr) => message::S2mDrs::DEF,
            (Class::H2dReq, Routing::Pbr) => pbr::H2dReq::DEF,
            (Class::H2dRsp, Routing::Pbr) => pbr::H2dRsp::DEF,
            (Class::H2dData, Routing::Pbr) => pbr::H2dData::DEF,
            (Class::D2hReq, Routing::Pbr) => pbr::D2hReq::DEF,
            (Class::D2hRsp, Routing::Pbr) => pbr::D2hRsp::DEF,
            (Class::D2hData, Routing::Pbr) => pbr::D2hData::DEF,
            (Class::M2sReq, Routing::Pbr) => pbr::M2sReq::DEF,
            (Class::M2sRwd, Routing::Pbr) => pbr::M2sRwd::DEF,
            (Class::M2sBirsp, Routing::Pbr) => pbr::M2sBirsp::DEF,
            (Class::S2mBisnp, Routing::Pbr) => pbr::S2mBisnp::DEF,
            (Class::S2mNdr, Routing::Pbr) => pbr::S2mNdr::DEF,
            (Class::S2mDrs, Routing::Pbr) => pbr::S2mDrs::DEF,
        }
    }

    /// The class of a layout, if it is a message of that routing.
    pub fn of(def: &LayoutDef, routing: Routing) -> Option<Class> {
        Class::ALL.into_iter().find(|c| c.def(routing).name == def.name)
    }

    /// Direction it travels in between a host and its device.
    pub const fn dir(self) -> Dir {
        match self {
            Class::H2dReq | Class::H2dRsp | Class::H2dData | Class::M2sReq | Class::M2sRwd | Class::M2sBirsp => {
                Dir::Down
            }
            _ => Dir::Up,
        }
    }

    /// Whether it is CXL.mem, which peers may also send directly to each other.
    pub const fn is_mem(self) -> bool {
        matches!(
            self,
            Class::M2sReq | Class::M2sRwd | Class::M2sBirsp | Class::S2mBisnp | Class::S2mNdr | Class::S2mDrs
        )
    }

    /// Whether a line of data follows.
    pub const fn has_data(self) -> bool {
        matches!(self, Class::H2dData | Class::D2hData | Class::M2sRwd | Class::S2mDrs)
    }

    /// Most messages of the class in two neighbouring groups of slots, 128 bytes (`cxl-256b` §5.3).
    pub const fn max_per_window(self) -> u8 {
        match self {
            Class::H2dRsp | Class::S2mNdr => 6,
            Class::D2hReq | Class::D2hRsp | Class::D2hData | Class::H2dData | Class::M2sReq => 4,
            Class::S2mDrs | Class::M2sBirsp => 3,
            Class::S2mBisnp | Class::H2dReq | Class::M2sRwd => 2,
        }
    }

    /// Position in [`Class::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_stand_at_their_index_and_name_their_layout() {
        for (i, c) in Class::ALL.into_iter().enumerate() {
            assert_eq!(c.index(), i);
            for routing in [Routing::Hbr, Routing::Pbr] {
                assert_eq!(Class::of(c.def(routing), routing), Some(c));
            }
            assert_eq!(Class::of(c.def(Routing::Pbr), Routing::Hbr), None);
        }
    }
}
