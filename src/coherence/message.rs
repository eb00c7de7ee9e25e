//! The message classes as the agents see them: only fields on which an agent acts.
//!
//! Poison is no field of its own: it stands in the data ([`LineContent`]) and becomes the Poison bit of the header on a
//! link. Left out: routing identifiers (a port of the agent stands for them: one port a CacheID, a host or a device),
//! traffic classes, hints without effect on coherence, which are 0 on a link. Agents never see a flit.
//!
//! `agent_messages!` is the one declaration: the fields, the field of the link's message that each of them is, and where the
//! class stands in the order of waiting.

use super::content::{CacheLine, LineAddr, LineContent, WHOLE_LINE};
pub use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, D2hReqOpcode, D2hRspOpcode, DevLoad, DrsOpcode, H2dReqOpcode, H2dRspOpcode, M2sReqOpcode,
    M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};
pub use scalepool_protocols::cxl::message::Class;
use scalepool_protocols::cxl::message::{self as link, Data, Message, MessageIdentifier, PeerRoute};

/// Declares the messages of the agents.
///
/// Behind the name: the place of the class in the order of waiting, the rule of its row in the passing table, and that of its
/// row in the tables of what may wait inside an agent (`coherence` §3.6); `data` where a line of data follows, and `enables`
/// where a part of a line may, one bit a byte. Behind each field: the field of the link's message.
macro_rules! agent_messages {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident ($rank:literal, $passes:literal, $waits:literal $(, $data:ident $($enables:ident)?)?) {
            $($field:ident: $type:ty => $of:ident,)*
        }
    )*) => {
        /// One message. Field names are those of the specification.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)]
        pub enum Msg<D> {
            $($(#[doc = $doc])* $name { $($field: $type,)* $($data: D, $($enables: u64,)?)? },)*
        }

        /// Place of a class in the order of waiting: a message waits for classes of higher places only, and passes those of
        /// lower ones, so that nobody waits in a circle.
        pub const fn rank(class: Class) -> u8 {
            match class {
                $(Class::$name => $rank,)*
            }
        }

        /// The rule of a class in the passing table.
        pub const fn passing_rule(class: Class) -> &'static str {
            match class {
                $(Class::$name => $passes,)*
            }
        }

        /// The rule of an incoming class in the device's or the host's table.
        pub const fn waiting_rule(incoming: Class) -> &'static str {
            match incoming {
                $(Class::$name => $waits,)*
            }
        }

        impl<D: LineContent> Msg<D> {
            /// Its class.
            pub const fn class(&self) -> Class {
                match self {
                    $(Msg::$name { .. } => Class::$name,)*
                }
            }

            /// The line's content, for the classes that carry data.
            pub fn data(&self) -> Option<&D> {
                match self {
                    $($(Msg::$name { $data, .. } => Some($data),)?)*
                    _ => None,
                }
            }

            /// The line's content, to age it.
            pub fn data_mut(&mut self) -> Option<&mut D> {
                match self {
                    $($(Msg::$name { $data, .. } => Some($data),)?)*
                    _ => None,
                }
            }

            /// The message for a link to the peer at the end of a route.
            pub fn to_link(&self, route: PeerRoute) -> Message {
                match self {
                    // The header alone gets the route: a whole message with its line would be moved for it.
                    $(Msg::$name { $($field,)* $($data, $($enables: _)?)? } => Message::$name(
                        link::$name {
                            $($of: (*$field).into(),)*
                            $(poison: $data.is_poisoned(),)?
                            ..link::$name::default()
                        }
                        .on_route(route),
                        $(payload($data, self.travelling_enables()),)?
                    ),)*
                }
            }
        }

        /// A message of a link for the agent.
        pub fn from_link(message: &Message) -> Msg<CacheLine> {
            match message {
                $(Message::$name(message $(, $data)?) => Msg::$name {
                    $($field: message.$of.into(),)*
                    $(
                        $($enables: $data.byte_enables.unwrap_or(WHOLE_LINE),)?
                        $data: CacheLine { bytes: $data.line, poison: message.poison },
                    )?
                },)*
            }
        }
    };
}

agent_messages! {
    /// CXL.cache request, device to host.
    D2hReq (0, "COH-DLK-03", "COH-DLK-14") {
        opcode: D2hReqOpcode => opcode,
        line: LineAddr => address,
        cqid: u16 => cqid,
    }
    /// CXL.cache snoop answer.
    D2hRsp (4, "COH-DLK-01", "COH-DLK-12") {
        opcode: D2hRspOpcode => opcode,
        uqid: u16 => uqid,
    }
    /// CXL.cache data, device to host.
    D2hData (4, "COH-DLK-01", "COH-DLK-12", data enables) {
        uqid: u16 => uqid,
        bogus: bool => bogus,
    }
    /// CXL.cache snoop.
    H2dReq (3, "COH-DLK-06", "COH-DLK-10") {
        opcode: H2dReqOpcode => opcode,
        line: LineAddr => address,
        uqid: u16 => uqid,
    }
    /// CXL.cache answer; `rsp_data` is a GO state or a UQID, by opcode.
    H2dRsp (5, "COH-DLK-07", "COH-DLK-11") {
        opcode: H2dRspOpcode => opcode,
        rsp_data: u16 => rsp_data,
        cqid: u16 => cqid,
    }
    /// CXL.cache data, host to device.
    H2dData (5, "COH-DLK-07", "COH-DLK-11", data) {
        cqid: u16 => cqid,
        go_err: bool => go_err,
    }
    /// CXL.mem request without data.
    M2sReq (1, "COH-DLK-04", "COH-DLK-08") {
        opcode: M2sReqOpcode => opcode,
        snp: SnpType => snp_type,
        meta_field: MetaField => meta_field,
        meta: MetaValue => meta_value,
        line: LineAddr => address,
        tag: u16 => tag,
    }
    /// CXL.mem request with data.
    M2sRwd (3, "COH-DLK-05", "COH-DLK-09", data enables) {
        opcode: M2sRwdOpcode => opcode,
        snp: SnpType => snp_type,
        meta_field: MetaField => meta_field,
        meta: MetaValue => meta_value,
        line: LineAddr => address,
        tag: u16 => tag,
    }
    /// Answer to a back-invalidate snoop; `low_addr` is the line within its block, 0 to 3.
    M2sBirsp (5, "COH-DLK-07", "COH-DLK-11") {
        opcode: BirspOpcode => opcode,
        bi_tag: u16 => bi_tag,
        low_addr: u8 => low_addr,
    }
    /// Back-invalidate snoop; of a block, bits 1:0 of `line` name the part.
    S2mBisnp (2, "COH-DLK-02", "COH-DLK-13") {
        opcode: BisnpOpcode => opcode,
        line: LineAddr => address,
        bi_tag: u16 => bi_tag,
    }
    /// CXL.mem answer without data.
    S2mNdr (4, "COH-DLK-01", "COH-DLK-12") {
        opcode: NdrOpcode => opcode,
        meta_field: MetaField => meta_field,
        meta: MetaValue => meta_value,
        tag: u16 => tag,
        devload: DevLoad => devload,
    }
    /// CXL.mem answer with data.
    S2mDrs (4, "COH-DLK-01", "COH-DLK-12", data) {
        opcode: DrsOpcode => opcode,
        meta_field: MetaField => meta_field,
        meta: MetaValue => meta_value,
        tag: u16 => tag,
        devload: DevLoad => devload,
    }
}

/// Order in which the classes of a link are offered to the agent: what waits for nothing first.
pub const ORDER: [Class; Class::COUNT] = [
    Class::H2dRsp,
    Class::H2dData,
    Class::M2sBirsp,
    Class::S2mNdr,
    Class::S2mDrs,
    Class::D2hRsp,
    Class::D2hData,
    Class::M2sRwd,
    Class::H2dReq,
    Class::S2mBisnp,
    Class::M2sReq,
    Class::D2hReq,
];

/// Bytes with their enables; a whole line has no trailer.
fn payload<D: LineContent>(line: &D, byte_enables: Option<u64>) -> Data {
    Data { byte_enables, ..Data::line(line.bytes()) }
}

/// A message as traces show it, whoever its peer is.
pub fn shown<D: LineContent>(msg: &Msg<D>) -> Message {
    msg.to_link(PeerRoute::default())
}

impl<D: LineContent> Msg<D> {
    /// Line, for the classes that carry an address.
    pub fn line(&self) -> Option<LineAddr> {
        match *self {
            Msg::D2hReq { line, .. }
            | Msg::H2dReq { line, .. }
            | Msg::M2sReq { line, .. }
            | Msg::M2sRwd { line, .. }
            | Msg::S2mBisnp { line, .. } => Some(line),
            _ => None,
        }
    }

    /// By what both ends of its link know its transaction.
    pub fn identifier(&self) -> (MessageIdentifier, u16) {
        match *self {
            Msg::D2hReq { cqid, .. } | Msg::H2dRsp { cqid, .. } | Msg::H2dData { cqid, .. } => {
                (MessageIdentifier::Cqid, cqid)
            }
            Msg::H2dReq { uqid, .. } | Msg::D2hRsp { uqid, .. } | Msg::D2hData { uqid, .. } => {
                (MessageIdentifier::Uqid, uqid)
            }
            // The tag of a Mem*Fwd is the CQID of the request that it answers.
            Msg::M2sReq { opcode: M2sReqOpcode::MemRdFwd | M2sReqOpcode::MemWrFwd, tag, .. } => {
                (MessageIdentifier::Cqid, tag)
            }
            Msg::M2sReq { tag, .. } | Msg::M2sRwd { tag, .. } | Msg::S2mNdr { tag, .. } | Msg::S2mDrs { tag, .. } => {
                (MessageIdentifier::Tag, tag)
            }
            Msg::M2sBirsp { bi_tag, .. } | Msg::S2mBisnp { bi_tag, .. } => (MessageIdentifier::BiTag, bi_tag),
        }
    }

    /// Byte enables with which its data travels: those of a partial write always (`cxl-256b` §5.1), those of data of CXL.cache if a
    /// byte is not enabled; BIConflict has bytes without a meaning.
    fn travelling_enables(&self) -> Option<u64> {
        match self {
            Msg::D2hData { enables, .. } => (*enables != WHOLE_LINE).then_some(*enables),
            Msg::M2sRwd { opcode: M2sRwdOpcode::MemWrPtl, enables, .. } => Some(*enables),
            _ => None,
        }
    }

    /// Whether the message is an H2D Rsp that observes globally, so that later snoops stay behind it (`coherence` §2.6 O1).
    pub fn bears_go(&self) -> bool {
        match self {
            Msg::H2dRsp { opcode, .. } => ![H2dRspOpcode::WritePull, H2dRspOpcode::ExtCmp].contains(opcode),
            _ => false,
        }
    }

    /// Name for charts: class, opcode and what decides its meaning.
    pub fn label(&self) -> String {
        fn name(code: Option<&'static str>, raw: u8) -> String {
            code.map_or_else(|| format!("reserved {raw}"), str::to_owned)
        }
        fn poison(data: &impl LineContent) -> &'static str {
            if data.is_poisoned() { " Poison" } else { "" }
        }
        match self {
            Msg::D2hReq { opcode, .. } => name(opcode.name(), opcode.0),
            Msg::D2hRsp { opcode, .. } => name(opcode.name(), opcode.0),
            Msg::D2hData { bogus: true, .. } => "Data Bogus".into(),
            Msg::D2hData { data, .. } | Msg::H2dData { go_err: false, data, .. } => format!("Data{}", poison(data)),
            Msg::H2dData { .. } => "Data GO-Err".into(),
            Msg::H2dReq { opcode, .. } => name(opcode.name(), opcode.0),
            Msg::H2dRsp { opcode, rsp_data, .. } if *opcode == H2dRspOpcode::GO => {
                format!("GO-{}", super::cache::go_letter(*rsp_data))
            }
            Msg::H2dRsp { opcode, .. } => name(opcode.name(), opcode.0),
            Msg::M2sReq { opcode, meta_field, meta, snp, .. } => {
                let meta = if *meta_field == MetaField::NoOp { "NoOp".into() } else { name(meta.name(), meta.0) };
                format!("{} {meta} {}", name(opcode.name(), opcode.0), name(snp.name(), snp.0))
            }
            Msg::M2sRwd { opcode, meta, snp, data, .. } => {
                let (meta, snp) = (name(meta.name(), meta.0), name(snp.name(), snp.0));
                format!("{} {meta} {snp}{}", name(opcode.name(), opcode.0), poison(data))
            }
            Msg::M2sBirsp { opcode, .. } => name(opcode.name(), opcode.0),
            Msg::S2mBisnp { opcode, .. } => name(opcode.name(), opcode.0),
            Msg::S2mNdr { opcode, .. } => name(opcode.name(), opcode.0),
            Msg::S2mDrs { opcode, data, .. } => format!("{}{}", name(opcode.name(), opcode.0), poison(data)),
        }
    }
}
