//! DL messages (`ualink` §6).

use super::common::*;
use scalepool_protocols::ualink::message::*;
use scalepool_protocols::ualink::stream::DlItem;
use scalepool_protocols::wire::Wire;

/// The low bits that all messages have.
const LOW: &str = "compressed 0, rsvd 1, mclass 5:2, mtype 8:6, ";

#[track_caller]
fn message_p<M: Wire + std::fmt::Debug>(rest: &str, class: u8, kind: u8) {
    layout_p::<M>(&format!("{LOW}{rest}"));
    // The layout's own class and type are there without being asked for.
    assert_eq!(M::DEF.default_bits(), u128::from(class) << 2 | u128::from(kind) << 6);
    assert!(!broken(M::from_bits(M::DEF.default_bits())).contains(&"UAL-MSG-02"));
}

/// A stream of words, one a segment.
fn read_words(words: &[u32]) -> UalDecodedFlit {
    let mut offers = Offers::default();
    words.iter().enumerate().for_each(|(n, word)| offers.messages[n] = Some(*word));
    read(&[flit(explicit(1), &payload(&offers))]).remove(0)
}

#[test]
fn ual_msg_01_p() {
    for def in MESSAGES {
        let places: Vec<_> = def.fields[..4].iter().map(|f| (f.name, f.lsb, f.width)).collect();
        assert_eq!(places, [("compressed", 0, 1), ("rsvd", 1, 1), ("mclass", 2, 4), ("mtype", 6, 3)]);
        assert!(!is_ignored(def.default_bits() as u32));
    }
}

/// A compressed message is named and ignored: one that would announce UART payload announces none.
#[test]
fn ual_msg_01_n() {
    for def in MESSAGES {
        let word = def.default_bits() as u32 | 1;
        assert!(is_ignored(word));
        let mut found = Vec::new();
        def.check(word.into(), &mut found);
        assert_eq!(found.iter().filter(|v| v.rule == "UAL-MSG-01").count(), 1, "{}", def.name);
    }
    let decoded = read_words(&[UartTransport::DEF.default_bits() as u32 | 1, 0]);
    assert!(matches!(decoded.messages[1].item, DlItem::Message(def) if def.name == "ualink.dl_noop"));
}

#[test]
fn ual_msg_02_p() {
    let codes = [(0, 0), (0, 4), (0, 5), (0, 6), (8, 4), (1, 0), (1, 1), (1, 6), (1, 7)];
    let found = codes.map(|(class, kind): (u32, u32)| def_of(class << 2 | kind << 6).expect("listed").name);
    assert_eq!(found, MESSAGES.map(|def| def.name));
}

#[test]
fn ual_msg_02_n() {
    let unlisted_words = (0..128).map(|n| n << 2).filter(|&word| def_of(word).is_none());
    let words: Vec<u32> = unlisted_words.collect();
    assert_eq!(words.len(), 128 - 9);
    for word in words {
        let decoded = read_words(&[word]);
        assert_eq!(rules(&decoded), ["UAL-MSG-02"], "{word:#x}");
        assert!(matches!(decoded.messages[0].item, DlItem::Unlisted));
    }
    assert_eq!(broken(NoOp { mtype: 4, ..NoOp::default() }), ["UAL-MSG-02"]);
}

#[test]
fn ual_msg_03_p() {
    message_p::<NoOp>("rsvd1 31:9", 0, 0);
}

#[test]
fn ual_msg_03_n() {
    layout_n::<NoOp>();
}

#[test]
fn ual_msg_04_p() {
    message_p::<TlRate>("rsvd1 11:9, ack 12, rsvd2 15:13, rate 31:16", 0, 4);
    // 1562.5 MHz in units of 50 kHz.
    assert_eq!(TlRate { rate: 31_250, ..TlRate::default() }.to_bits(), Ok(31_250 << 16 | 4 << 6));
}

#[test]
fn ual_msg_04_n() {
    layout_n::<TlRate>();
}

#[test]
fn ual_msg_05_p() {
    message_p::<DeviceId>("rsvd1 11:9, ack 12, rsvd2 15:13, id 25:16, rsvd3 28:26, device_type 30:29, valid 31", 0, 5);
    for device_type in [DeviceType::Switch, DeviceType::Accelerator] {
        assert_eq!(broken(DeviceId { device_type, id: 1023, ..DeviceId::default() }), Vec::<&str>::new());
    }
}

#[test]
fn ual_msg_05_n() {
    layout_n::<DeviceId>();
    assert_eq!(broken(DeviceId { device_type: DeviceType(2), ..DeviceId::default() }), ["UAL-MSG-05"]);
}

#[test]
fn ual_msg_06_p() {
    message_p::<PortNumber>("rsvd1 11:9, ack 12, rsvd2 15:13, port 27:16, rsvd3 30:28, valid 31", 0, 6);
}

#[test]
fn ual_msg_06_n() {
    layout_n::<PortNumber>();
}

#[test]
fn ual_msg_07_p() {
    message_p::<DlChannel>("rsvd1 15:9, target 19:16, command 23:20, response 27:24, rsvd2 31:28", 8, 4);
    for code in [4, 6, 7, 8] {
        assert_eq!(
            broken(DlChannel { command: ChannelCommand(code), target: 8, ..DlChannel::default() }),
            Vec::<&str>::new()
        );
    }
}

#[test]
fn ual_msg_07_n() {
    layout_n::<DlChannel>();
    for code in (0..16).filter(|code| ![4, 6, 7, 8].contains(code)) {
        assert_eq!(broken(DlChannel { command: ChannelCommand(code), ..DlChannel::default() }), ["UAL-MSG-07"]);
    }
}

#[test]
fn ual_msg_08_p() {
    message_p::<UartTransport>("stream 11:9, rsvd1 26:12, length 31:27", 1, 0);
    // The DWords that it announces are payload, whatever they look like.
    let head = UartTransport { length: 1, ..UartTransport::default() }.to_bits().expect("it fits") as u32;
    let decoded = read_words(&[head, 0x0fc, 0xffff_ffff, 0]);
    assert_eq!(rules(&decoded), Vec::<&str>::new());
    let uart = decoded.messages.iter().map(|m| matches!(m.item, DlItem::Uart));
    assert_eq!(uart.collect::<Vec<_>>(), [false, true, true, false]);
}

#[test]
fn ual_msg_08_n() {
    layout_n::<UartTransport>();
    assert!(UartTransport { length: 32, ..UartTransport::default() }.to_bits().is_err());
}

#[test]
fn ual_msg_09_p() {
    message_p::<UartCredit>("stream 11:9, rsvd1 19:12, data_fc_seq 31:20", 1, 1);
}

#[test]
fn ual_msg_09_n() {
    layout_n::<UartCredit>();
}

#[test]
fn ual_msg_10_p() {
    message_p::<UartResetReq>("stream 11:9, all 12, rsvd1 31:13", 1, 6);
}

#[test]
fn ual_msg_10_n() {
    layout_n::<UartResetReq>();
}

#[test]
fn ual_msg_11_p() {
    message_p::<UartResetRsp>("stream 11:9, all 12, status 15:13, rsvd1 31:16", 1, 7);
}

#[test]
fn ual_msg_11_n() {
    layout_n::<UartResetRsp>();
}

#[test]
fn ual_msg_12_p() {
    layout_p::<UartVendor>("length 7:0, packet_type 15:8, vendor 31:16");
}

#[test]
fn ual_msg_12_n() {
    layout_n::<UartVendor>();
}

#[test]
fn ual_msg_15_p() {
    assert_eq!(broken(PortNumber { port: 1023, valid: true, ..PortNumber::default() }), Vec::<&str>::new());
}

#[test]
fn ual_msg_15_n() {
    for port in [1024, 2048, 4095] {
        assert_eq!(broken(PortNumber { port, ..PortNumber::default() }), ["UAL-MSG-15"]);
    }
}
