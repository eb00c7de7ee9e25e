//! Control flits and ALMPs (`cxl-68b` sections 6 and 8.1). A control flit uses slot 0 alone; bits 511:128 are zero.

use super::code::{LlCtrl, VlsmInstance, VlsmState};
use super::credit::CODES;
use crate::layout;
use crate::wire::Wire;

layout! {
    /// LLCRD slot: credits and acknowledgements. Full_Ack is {ack_high, ak, ack_low}.
    pub struct Llcrd: 128 bits = "cxl68.llcrd" {
        source: "cxl-68b §6.1", basis: Spec, rule: "CXL68-CTL-01";
        /// 1: control.
        flit_type: bool = [0 +: 1], default 1;
        /// Reserved.
        rsvd: u8 = [1 +: 1], reserved;
        /// Bit 3 of Full_Ack.
        ak: bool = [2 +: 1];
        /// Reserved.
        rsvd1: u8 = [3 +: 2], reserved;
        /// Format of the control slot, 0.
        ctl_fmt: u8 = [5 +: 3];
        /// Reserved.
        rsvd2: u16 = [8 +: 12], reserved;
        /// Response credits returned: for D2H Rsp and S2M NDR in a flit that travels down, for H2D Rsp in one up.
        rsp_crd: u8 = [20 +: 4], numbers CODES;
        /// Request credits returned: for D2H Req in a flit that travels down, for H2D Req and M2S Req in one up.
        req_crd: u8 = [24 +: 4], numbers CODES;
        /// Data credits returned: for D2H Data and S2M DRS in a flit that travels down, for H2D Data and M2S RwD in one up.
        data_crd: u8 = [28 +: 4], numbers CODES;
        /// Control class.
        llctrl: LlCtrl = [32 +: 4];
        /// Kind within the class, 1 Acknowledge.
        sub_type: u8 = [36 +: 4], default 1;
        /// Static zero, checked by the receiver.
        static0: u32 = [40 +: 24], reserved;
        /// Full_Ack bits 2:0.
        ack_low: u8 = [64 +: 3];
        /// Reserved.
        rsvd3: u8 = [67 +: 1], reserved;
        /// Full_Ack bits 7:4.
        ack_high: u8 = [68 +: 4];
        /// Reserved.
        rsvd4: u64 = [72 +: 56], reserved;
    }
}

impl Llcrd {
    /// Flits acknowledged, 0 to 255.
    pub const fn full_ack(&self) -> u8 {
        self.ack_high << 4 | (self.ak as u8) << 3 | self.ack_low
    }

    /// Spreads the count over its three fields.
    pub const fn set_full_ack(&mut self, count: u8) {
        self.ack_low = count & 7;
        self.ak = count & 8 != 0;
        self.ack_high = count >> 4;
    }
}

layout! {
    /// RETRY slot without payload: Idle and Frame.
    pub struct Retry: 128 bits = "cxl68.retry" {
        source: "cxl-68b §6.1", basis: Spec, rule: "CXL68-CTL-01";
        /// 1: control.
        flit_type: bool = [0 +: 1], default 1;
        /// Reserved.
        rsvd: u8 = [1 +: 4], reserved;
        /// Format of the control slot, 0.
        ctl_fmt: u8 = [5 +: 3];
        /// Reserved.
        rsvd1: u32 = [8 +: 24], reserved;
        /// Control class.
        llctrl: LlCtrl = [32 +: 4], default 1;
        /// Kind within the class: 0 Idle, 3 Frame.
        sub_type: u8 = [36 +: 4];
        /// Static zero, checked by the receiver.
        static0: u32 = [40 +: 24], reserved;
        /// Reserved.
        rsvd2: u64 = [64 +: 64], reserved;
    }
}

layout! {
    /// RETRY.Req slot: ask the peer to resend.
    pub struct RetryReq: 128 bits = "cxl68.retry_req" {
        source: "cxl-68b §6.3", basis: Spec, rule: "CXL68-CTL-03";
        /// 1: control.
        flit_type: bool = [0 +: 1], default 1;
        /// Reserved.
        rsvd: u8 = [1 +: 4], reserved;
        /// Format of the control slot, 0.
        ctl_fmt: u8 = [5 +: 3];
        /// Reserved.
        rsvd1: u32 = [8 +: 24], reserved;
        /// Control class.
        llctrl: LlCtrl = [32 +: 4], default 1;
        /// Kind within the class, 1 Req.
        sub_type: u8 = [36 +: 4], default 1;
        /// Static zero, checked by the receiver.
        static0: u32 = [40 +: 24], reserved;
        /// Sequence number of the flit to resend from.
        eseq: u8 = [64 +: 8];
        /// Reserved.
        rsvd2: u8 = [72 +: 8], reserved;
        /// Tries so far.
        num_retry: u8 = [80 +: 5];
        /// PHY reinitialisations so far (debug).
        num_phy_reinit: u8 = [85 +: 5];
        /// Reserved.
        rsvd3: u64 = [90 +: 38], reserved;
    }
}

layout! {
    /// RETRY.Ack slot: the resent flits follow.
    pub struct RetryAck: 128 bits = "cxl68.retry_ack" {
        source: "cxl-68b §6.3", basis: Spec, rule: "CXL68-CTL-03";
        /// 1: control.
        flit_type: bool = [0 +: 1], default 1;
        /// Reserved.
        rsvd: u8 = [1 +: 4], reserved;
        /// Format of the control slot, 0.
        ctl_fmt: u8 = [5 +: 3];
        /// Reserved.
        rsvd1: u32 = [8 +: 24], reserved;
        /// Control class.
        llctrl: LlCtrl = [32 +: 4], default 1;
        /// Kind within the class, 2 Ack.
        sub_type: u8 = [36 +: 4], default 2;
        /// Static zero, checked by the receiver.
        static0: u32 = [40 +: 24], reserved;
        /// Nothing to resend.
        empty: bool = [64 +: 1];
        /// The sender is in viral.
        viral: bool = [65 +: 1];
        /// Reserved.
        rsvd2: u8 = [66 +: 1], reserved;
        /// Echo of the request.
        num_retry: u8 = [67 +: 5];
        /// Write pointer of the retry buffer (debug).
        wr_ptr: u8 = [72 +: 8];
        /// Echo of the request.
        eseq: u8 = [80 +: 8];
        /// Free entries of the retry buffer (debug).
        num_free_buf: u8 = [88 +: 8];
        /// Logical devices in viral, one bit each; 0 is all.
        viral_ld_id: u16 = [96 +: 16];
        /// Reserved.
        rsvd3: u16 = [112 +: 16], reserved;
    }
}

layout! {
    /// INIT.Param slot: link-layer parameters.
    pub struct InitParam: 128 bits = "cxl68.init_param" {
        source: "cxl-68b §6.3", basis: Spec, rule: "CXL68-CTL-03";
        /// 1: control.
        flit_type: bool = [0 +: 1], default 1;
        /// Reserved.
        rsvd: u8 = [1 +: 4], reserved;
        /// Format of the control slot, 0.
        ctl_fmt: u8 = [5 +: 3];
        /// Reserved.
        rsvd1: u32 = [8 +: 24], reserved;
        /// Control class.
        llctrl: LlCtrl = [32 +: 4], default 12;
        /// Kind within the class, 8 Param.
        sub_type: u8 = [36 +: 4], default 8;
        /// Static zero, checked by the receiver.
        static0: u32 = [40 +: 24], reserved;
        /// Link-layer version: 1 is 1.0 and 1.1, 2 is 2.0 and later.
        version: u8 = [64 +: 4];
        /// Reserved.
        rsvd2: u32 = [68 +: 20], reserved;
        /// LLR wrap value: highest sequence number before 0 (our choice).
        wrap: u8 = [88 +: 8];
        /// Reserved.
        rsvd3: u32 = [96 +: 32], reserved;
    }
}

layout! {
    /// IDE slot, content opaque. The payload is {payload_high, payload_mid, payload_low}.
    pub struct Ide: 128 bits = "cxl68.ide" {
        source: "cxl-68b §6.1", basis: Spec, rule: "CXL68-CTL-01";
        /// 1: control.
        flit_type: bool = [0 +: 1], default 1;
        /// Reserved.
        rsvd: u8 = [1 +: 4], reserved;
        /// Format of the control slot, 1.
        ctl_fmt: u8 = [5 +: 3], default 1;
        /// Reserved.
        rsvd1: u16 = [8 +: 16], reserved;
        /// Payload bits 7:0.
        payload_low: u8 = [24 +: 8];
        /// Control class.
        llctrl: LlCtrl = [32 +: 4], default 2;
        /// Kind within the class: 0 Idle, 1 Start, 2 TMAC.
        sub_type: u8 = [36 +: 4];
        /// Payload bits 31:8.
        payload_mid: u32 = [40 +: 24];
        /// Payload bits 95:32.
        payload_high: u64 = [64 +: 64];
    }
}

impl Ide {
    /// The 96 payload bits; the truncated MAC of a TMAC.
    pub const fn payload(&self) -> u128 {
        self.payload_low as u128 | (self.payload_mid as u128) << 8 | (self.payload_high as u128) << 32
    }

    /// Spreads 96 bits over the three fields.
    pub const fn set_payload(&mut self, bits: u128) {
        self.payload_low = bits as u8;
        self.payload_mid = (bits >> 8) as u32 & 0xff_ffff;
        self.payload_high = (bits >> 32) as u64;
    }
}

layout! {
    /// One DWORD of an ARB/MUX link management packet; it stands four times in flit bytes 0 to 15.
    pub struct Almp: 32 bits = "cxl68.almp" {
        source: "cxl-68b §8.1", basis: Spec, rule: "CXL68-ALM-02";
        /// Reserved.
        rsvd: u8 = [0 +: 8], reserved;
        /// Message code, 8: vLSM.
        code: u8 = [8 +: 8], default 8;
        /// vLSM state.
        state: VlsmState = [16 +: 4];
        /// Reserved.
        rsvd1: u8 = [20 +: 3], reserved;
        /// 1 Request, 0 Status.
        request: bool = [23 +: 1];
        /// Which vLSM.
        instance_id: VlsmInstance = [24 +: 4];
        /// Reserved.
        rsvd2: u8 = [28 +: 4], reserved;
    }
}

/// A control flit by its class and kind (`cxl-68b` §6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Credits and acknowledgements.
    LlcrdAcknowledge(Llcrd),
    /// Filler.
    RetryIdle(Retry),
    /// Marks a Req or Ack sequence.
    RetryFrame(Retry),
    /// Ask for a replay.
    RetryReq(RetryReq),
    /// Answer to a Req.
    RetryAck(RetryAck),
    /// Link-layer parameters.
    InitParam(InitParam),
    /// IDE filler.
    IdeIdle(Ide),
    /// IDE key switch.
    IdeStart(Ide),
    /// IDE truncated MAC.
    IdeTmac(Ide),
    /// LLCTRL or SubType is reserved; the whole slot.
    Reserved(u128),
}

impl Control {
    /// Names of the nine kinds, in order of the sheet.
    pub const NAMES: [&'static str; 9] = [
        "LLCRD.Acknowledge",
        "RETRY.Idle",
        "RETRY.Req",
        "RETRY.Ack",
        "RETRY.Frame",
        "IDE.Idle",
        "IDE.Start",
        "IDE.TMAC",
        "INIT.Param",
    ];

    /// Reads slot 0 of a control flit. Total; judges nothing.
    pub fn from_slot(slot: u128) -> Control {
        let head = Retry::from_bits(slot);
        match (head.llctrl, head.sub_type) {
            (LlCtrl::LLCRD, 1) => Control::LlcrdAcknowledge(Llcrd::from_bits(slot)),
            (LlCtrl::RETRY, 0) => Control::RetryIdle(head),
            (LlCtrl::RETRY, 1) => Control::RetryReq(RetryReq::from_bits(slot)),
            (LlCtrl::RETRY, 2) => Control::RetryAck(RetryAck::from_bits(slot)),
            (LlCtrl::RETRY, 3) => Control::RetryFrame(head),
            (LlCtrl::IDE, 0) => Control::IdeIdle(Ide::from_bits(slot)),
            (LlCtrl::IDE, 1) => Control::IdeStart(Ide::from_bits(slot)),
            (LlCtrl::IDE, 2) => Control::IdeTmac(Ide::from_bits(slot)),
            (LlCtrl::INIT, 8) => Control::InitParam(InitParam::from_bits(slot)),
            _ => Control::Reserved(slot),
        }
    }

    /// RETRY.Idle, with SubType 0.
    pub fn retry_idle() -> Control {
        Control::RetryIdle(Retry::default())
    }

    /// RETRY.Frame, with SubType 3.
    pub fn retry_frame() -> Control {
        Control::RetryFrame(Retry { sub_type: 3, ..Retry::default() })
    }

    /// The kind of a name with all fields at their default, `None` for an unknown name.
    pub fn by_name(name: &str) -> Option<Control> {
        let ide = |sub_type| Ide { sub_type, ..Ide::default() };
        Some(match name {
            "LLCRD.Acknowledge" => Control::LlcrdAcknowledge(Llcrd::default()),
            "RETRY.Idle" => Control::retry_idle(),
            "RETRY.Frame" => Control::retry_frame(),
            "RETRY.Req" => Control::RetryReq(RetryReq::default()),
            "RETRY.Ack" => Control::RetryAck(RetryAck::default()),
            "IDE.Idle" => Control::IdeIdle(ide(0)),
            "IDE.Start" => Control::IdeStart(ide(1)),
            "IDE.TMAC" => Control::IdeTmac(ide(2)),
            "INIT.Param" => Control::InitParam(InitParam::default()),
            _ => return None,
        })
    }

    /// Name as the sheet writes it, `reserved` for an unlisted code.
    pub const fn name(&self) -> &'static str {
        match self {
            Control::LlcrdAcknowledge(_) => "LLCRD.Acknowledge",
            Control::RetryIdle(_) => "RETRY.Idle",
            Control::RetryFrame(_) => "RETRY.Frame",
            Control::RetryReq(_) => "RETRY.Req",
            Control::RetryAck(_) => "RETRY.Ack",
            Control::InitParam(_) => "INIT.Param",
            Control::IdeIdle(_) => "IDE.Idle",
            Control::IdeStart(_) => "IDE.Start",
            Control::IdeTmac(_) => "IDE.TMAC",
            Control::Reserved(_) => "reserved",
        }
    }

    /// Layout of the slot, `None` for an unlisted code.
    pub const fn def(&self) -> Option<&'static crate::wire::LayoutDef> {
        Some(match self {
            Control::LlcrdAcknowledge(_) => Llcrd::DEF,
            Control::RetryIdle(_) | Control::RetryFrame(_) => Retry::DEF,
            Control::RetryReq(_) => RetryReq::DEF,
            Control::RetryAck(_) => RetryAck::DEF,
            Control::InitParam(_) => InitParam::DEF,
            Control::IdeIdle(_) | Control::IdeStart(_) | Control::IdeTmac(_) => Ide::DEF,
            Control::Reserved(_) => return None,
        })
    }

    /// Slot 0.
    ///
    /// # Errors
    /// A field that does not fit.
    pub fn to_slot(&self) -> Result<u128, crate::wire::FieldError> {
        match self {
            Control::LlcrdAcknowledge(c) => c.to_bits(),
            Control::RetryIdle(c) | Control::RetryFrame(c) => c.to_bits(),
            Control::RetryReq(c) => c.to_bits(),
            Control::RetryAck(c) => c.to_bits(),
            Control::InitParam(c) => c.to_bits(),
            Control::IdeIdle(c) | Control::IdeStart(c) | Control::IdeTmac(c) => c.to_bits(),
            Control::Reserved(slot) => Ok(*slot),
        }
    }

    /// Whether the flit takes a sequence number and an entry of the retry buffer (`cxl-68b` §6.2).
    pub const fn is_retryable(&self) -> bool {
        !matches!(self, Control::RetryIdle(_) | Control::RetryFrame(_) | Control::RetryReq(_) | Control::RetryAck(_))
    }

    /// Whether the bits that a receiver checks are as they must be (our choice): Type 1, CTL_FMT as LLCTRL says, bits 63:40
    /// zero (not in IDE flits). A reserved LLCTRL or SubType has no known CTL_FMT and counts as wrong.
    pub fn static_bits_ok(slot: u128) -> bool {
        let head = Retry::from_bits(slot);
        let ctl_fmt = match Control::from_slot(slot) {
            Control::Reserved(_) => return false,
            Control::IdeIdle(_) | Control::IdeStart(_) | Control::IdeTmac(_) => 1,
            _ => 0,
        };
        head.flit_type && head.ctl_fmt == ctl_fmt && (ctl_fmt == 1 || head.static0 == 0)
    }
}
