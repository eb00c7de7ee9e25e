//! DL messages: one DWord in the first sector of a segment (`ualink` §6).
//!
//! Left out: who may send what when, UART credit, channel states (see `scalepool::link`).

use super::code::{ChannelCommand, DeviceType, MsgClass};
use crate::layout;
use crate::wire::{At, LayoutDef, Violation, Wire};

layout! {
    /// Does nothing.
    pub struct NoOp: 32 bits = "ualink.dl_noop" {
        source: "ualink §6 (A)", basis: Spec, rule: "UAL-MSG-03", cross_check: no_op_type;
        /// 0; a receiver ignores a message with 1 (\[D\]).
        compressed: bool = [0 +: 1];
        /// Reserved.
        rsvd: bool = [1 +: 1], reserved;
        /// Class.
        mclass: MsgClass = [2 +: 4], default 0;
        /// Type within the class.
        mtype: u8 = [6 +: 3], default 0;
        /// Reserved.
        rsvd1: u32 = [9 +: 23], reserved;
    }
}

layout! {
    /// Announces the rate of the transaction layer, or acknowledges one.
    pub struct TlRate: 32 bits = "ualink.dl_tl_rate" {
        source: "ualink §6 (A)", basis: Spec, rule: "UAL-MSG-04", cross_check: tl_rate_type;
        /// 0; a receiver ignores a message with 1 (\[D\]).
        compressed: bool = [0 +: 1];
        /// Reserved.
        rsvd: bool = [1 +: 1], reserved;
        /// Class.
        mclass: MsgClass = [2 +: 4], default 0;
        /// Type within the class.
        mtype: u8 = [6 +: 3], default 4;
        /// Reserved.
        rsvd1: u8 = [9 +: 3], reserved;
        /// 1: acknowledges a request.
        ack: bool = [12 +: 1];
        /// Reserved.
        rsvd2: u8 = [13 +: 3], reserved;
        /// Rate in units of 50 kHz; means something in requests only.
        rate: u16 = [16 +: 16];
    }
}

layout! {
    /// Asks for or tells the identity of a device.
    pub struct DeviceId: 32 bits = "ualink.dl_device_id" {
        source: "ualink §6 (A)", basis: Spec, rule: "UAL-MSG-05", cross_check: device_id_type;
        /// 0; a receiver ignores a message with 1 (\[D\]).
        compressed: bool = [0 +: 1];
        /// Reserved.
        rsvd: bool = [1 +: 1], reserved;
        /// Class.
        mclass: MsgClass = [2 +: 4], default 0;
        /// Type within the class.
        mtype: u8 = [6 +: 3], default 5;
        /// Reserved.
        rsvd1: u8 = [9 +: 3], reserved;
        /// 1: answers a request.
        ack: bool = [12 +: 1];
        /// Reserved.
        rsvd2: u8 = [13 +: 3], reserved;
        /// Identity.
        id: u16 = [16 +: 10];
        /// Reserved.
        rsvd3: u8 = [26 +: 3], reserved;
        /// What the device is.
        device_type: DeviceType = [29 +: 2];
        /// Identity and type mean something.
        valid: bool = [31 +: 1];
    }
}

layout! {
    /// Asks for or tells the number of a port.
    pub struct PortNumber: 32 bits = "ualink.dl_port_number" {
        source: "ualink §6 (A)", basis: Spec, rule: "UAL-MSG-06", cross_check: port_and_type;
        /// 0; a receiver ignores a message with 1 (\[D\]).
        compressed: bool = [0 +: 1];
        /// Reserved.
        rsvd: bool = [1 +: 1], reserved;
        /// Class.
        mclass: MsgClass = [2 +: 4], default 0;
        /// Type within the class.
        mtype: u8 = [6 +: 3], default 6;
        /// Reserved.
        rsvd1: u8 = [9 +: 3], reserved;
        /// 1: answers a request.
        ack: bool = [12 +: 1];
        /// Reserved.
        rsvd2: u8 = [13 +: 3], reserved;
        /// Port number, 0 to 1023; the field is 12 bits wide (X5).
        port: u16 = [16 +: 12];
        /// Reserved.
        rsvd3: u8 = [28 +: 3], reserved;
        /// The number means something.
        valid: bool = [31 +: 1];
    }
}

layout! {
    /// Negotiates whether a channel is online.
    pub struct DlChannel: 32 bits = "ualink.dl_channel" {
        source: "ualink §6 (B)", basis: Spec, rule: "UAL-MSG-07", cross_check: channel_type;
        /// 0; a receiver ignores a message with 1 (\[D\]).
        compressed: bool = [0 +: 1];
        /// Reserved.
        rsvd: bool = [1 +: 1], reserved;
        /// Class.
        mclass: MsgClass = [2 +: 4], default 8;
        /// Type within the class.
        mtype: u8 = [6 +: 3], default 4;
        /// Reserved.
        rsvd1: u8 = [9 +: 7], reserved;
        /// State that is negotiated: bit 3 online, bits 2:0 the channel (0 TL flits, 4 UART).
        target: u8 = [16 +: 4];
        /// What is asked or answered.
        command: ChannelCommand = [20 +: 4];
        /// Answer.
        response: u8 = [24 +: 4];
        /// Reserved.
        rsvd2: u8 = [28 +: 4], reserved;
    }
}

layout! {
    /// Head of a run of UART payload DWords.
    pub struct UartTransport: 32 bits = "ualink.dl_uart_transport" {
        source: "ualink §6 (A)", basis: Spec, rule: "UAL-MSG-08", cross_check: uart_transport_type;
        /// 0; a receiver ignores a message with 1 (\[D\]).
        compressed: bool = [0 +: 1];
        /// Reserved.
        rsvd: bool = [1 +: 1], reserved;
        /// Class.
        mclass: MsgClass = [2 +: 4], default 1;
        /// Type within the class.
        mtype: u8 = [6 +: 3], default 0;
        /// Stream; 0 is the only one.
        stream: u8 = [9 +: 3];
        /// Reserved.
        rsvd1: u16 = [12 +: 15], reserved;
        /// Payload DWords that follow, minus 1.
        length: u8 = [27 +: 5];
    }
}

layout! {
    /// Advertises UART buffers.
    pub struct UartCredit: 32 bits = "ualink.dl_uart_credit" {
        source: "ualink §6 (A)", basis: Spec, rule: "UAL-MSG-09", cross_check: uart_credit_type;
        /// 0; a receiver ignores a message with 1 (\[D\]).
        compressed: bool = [0 +: 1];
        /// Reserved.
        rsvd: bool = [1 +: 1], reserved;
        /// Class.
        mclass: MsgClass = [2 +: 4], default 1;
        /// Type within the class.
        mtype: u8 = [6 +: 3], default 1;
        /// Stream; 0 is the only one.
        stream: u8 = [9 +: 3];
        /// Reserved.
        rsvd1: u8 = [12 +: 8], reserved;
        /// Counter of buffers given so far, modulo 4096.
        data_fc_seq: u16 = [20 +: 12];
    }
}

layout! {
    /// Asks to reset UART streams.
    pub struct UartResetReq: 32 bits = "ualink.dl_uart_reset_req" {
        source: "ualink §6 (A)", basis: Spec, rule: "UAL-MSG-10", cross_check: uart_reset_req_type;
        /// 0; a receiver ignores a message with 1 (\[D\]).
        compressed: bool = [0 +: 1];
        /// Reserved.
        rsvd: bool = [1 +: 1], reserved;
        /// Class.
        mclass: MsgClass = [2 +: 4], default 1;
        /// Type within the class.
        mtype: u8 = [6 +: 3], default 6;
        /// Stream; 0 is the only one.
        stream: u8 = [9 +: 3];
        /// All streams.
        all: bool = [12 +: 1];
        /// Reserved.
        rsvd1: u32 = [13 +: 19], reserved;
    }
}

layout! {
    /// Answers a UART reset.
    pub struct UartResetRsp: 32 bits = "ualink.dl_uart_reset_rsp" {
        source: "ualink §6 (A)", basis: Spec, rule: "UAL-MSG-11", cross_check: uart_reset_rsp_type;
        /// 0; a receiver ignores a message with 1 (\[D\]).
        compressed: bool = [0 +: 1];
        /// Reserved.
        rsvd: bool = [1 +: 1], reserved;
        /// Class.
        mclass: MsgClass = [2 +: 4], default 1;
        /// Type within the class.
        mtype: u8 = [6 +: 3], default 7;
        /// Stream; 0 is the only one.
        stream: u8 = [9 +: 3];
        /// All streams.
        all: bool = [12 +: 1];
        /// 0: success.
        status: u8 = [13 +: 3];
        /// Reserved.
        rsvd1: u16 = [16 +: 16], reserved;
    }
}

layout! {
    /// First DWord of a vendor packet inside UART payload.
    pub struct UartVendor: 32 bits = "ualink.dl_uart_vendor" {
        source: "ualink §6 (A)", basis: Spec, rule: "UAL-MSG-12";
        /// DWords of the packet, minus 1.
        length: u8 = [0 +: 8];
        /// Type, the vendor's own.
        packet_type: u8 = [8 +: 8];
        /// PCI-SIG vendor; 0xFFFF: defined by the consortium.
        vendor: u16 = [16 +: 16];
    }
}

/// Layouts of messages that stand in a sector of their own; the vendor packet is inside UART payload.
pub static MESSAGES: [&LayoutDef; 9] = [
    NoOp::DEF,
    TlRate::DEF,
    DeviceId::DEF,
    PortNumber::DEF,
    DlChannel::DEF,
    UartTransport::DEF,
    UartCredit::DEF,
    UartResetReq::DEF,
    UartResetRsp::DEF,
];

/// The bits that say which message a DWord is: class and type.
const KIND_BITS: u128 = 0x1fc;

/// The layout of a DWord; `None` for an unlisted class or type.
pub fn def_of(word: u32) -> Option<&'static LayoutDef> {
    MESSAGES.into_iter().find(|def| (def.default_bits() ^ u128::from(word)) & KIND_BITS == 0)
}

/// Whether a receiver ignores a DWord: compressed, or unlisted (`ualink` §16 X11 \[D\]).
pub fn is_ignored(word: u32) -> bool {
    word & 1 == 1 || def_of(word).is_none()
}

/// What is wrong with a DWord that is no listed message. Of a compressed one class and type say nothing.
pub fn unlisted(word: u32) -> Violation {
    if word & 1 == 1 {
        return compressed("a compressed message is ignored".into());
    }
    Violation {
        rule: "UAL-MSG-02",
        at: At::Bits { lsb: 2, width: 7 },
        found: format!("class {}, type {}", word >> 2 & 0xf, word >> 6 & 7),
        expected: "a listed class and type".into(),
        text: "DL message of an unlisted class or type is ignored".into(),
    }
}

fn compressed(text: String) -> Violation {
    let (at, found, expected) = (At::Bits { lsb: 0, width: 1 }, "0x1".into(), "0".into());
    Violation { rule: "UAL-MSG-01", at, found, expected, text }
}

/// The rules that all messages share.
fn common(def: &'static LayoutDef, bits: u128, found: &mut Vec<Violation>) {
    if bits & 1 == 1 {
        found.push(compressed(format!("{}: a compressed message is ignored", def.name)));
    }
    if (bits ^ def.default_bits()) & KIND_BITS != 0 {
        found.push(Violation {
            rule: "UAL-MSG-02",
            at: At::Bits { lsb: 2, width: 7 },
            found: format!("class {}, type {}", bits >> 2 & 0xf, bits >> 6 & 7),
            expected: format!("class {}, type {}", def.default_bits() >> 2 & 0xf, def.default_bits() >> 6 & 7),
            text: format!("{}: class and type are those of another message", def.name),
        });
    }
}

fn no_op_type(bits: u128, found: &mut Vec<Violation>) {
    common(NoOp::DEF, bits, found);
}

fn tl_rate_type(bits: u128, found: &mut Vec<Violation>) {
    common(TlRate::DEF, bits, found);
}

fn device_id_type(bits: u128, found: &mut Vec<Violation>) {
    common(DeviceId::DEF, bits, found);
}

fn port_and_type(bits: u128, found: &mut Vec<Violation>) {
    common(PortNumber::DEF, bits, found);
    let port = PortNumber::from_bits(bits).port;
    if port >> 10 != 0 {
        found.push(Violation {
            rule: "UAL-MSG-15",
            at: At::Bits { lsb: 26, width: 2 },
            found: format!("{:#x}", port >> 10),
            expected: "0".into(),
            text: "ualink.dl_port_number: port numbers have 10 bits".into(),
        });
    }
}

fn channel_type(bits: u128, found: &mut Vec<Violation>) {
    common(DlChannel::DEF, bits, found);
}

fn uart_transport_type(bits: u128, found: &mut Vec<Violation>) {
    common(UartTransport::DEF, bits, found);
}

fn uart_credit_type(bits: u128, found: &mut Vec<Violation>) {
    common(UartCredit::DEF, bits, found);
}

fn uart_reset_req_type(bits: u128, found: &mut Vec<Violation>) {
    common(UartResetReq::DEF, bits, found);
}

fn uart_reset_rsp_type(bits: u128, found: &mut Vec<Violation>) {
    common(UartResetRsp::DEF, bits, found);
}
