//! The bridge without JSON: its messages as bits and bytes, its findings as texts.
//!
//! Modelled: nothing of its own; the classes of the SystemVerilog package `scalepool_pkg` stand on these calls. Each says the same as its
//! neighbour with JSON in [`super::bridge`]. What stands where is said in the text of [`super::link::typed::sp_link_send_bits`].

use super::bridge::{BRIDGES, Role, point_of, wrong};
use super::call::{Caller, call};
use super::link::bits::MessageBits;
use super::link::message::CapiMessage;
use super::link::protocol::CapiProtocol;
use super::link::typed::{BitsPlace, SP_NO_LAYOUT};
use super::message::def;
use super::status::{Failure, SP_EMPTY, SP_OK};
use scalepool::conversion::message::{BridgeMessage, CxlMessage};
use scalepool::conversion::model::BridgeEvent;
use scalepool::conversion::tlp;
use scalepool::endpoint::tlp::TlpForm;
use scalepool::link::nvlink::NvlMessage;
use scalepool::link::protocol::LinkProtocol;
use scalepool_protocols::cxl::cxl256::stream::{Cxl256Message, Data as Data256};
use scalepool_protocols::cxl::cxl256::{Class, Mode, Routing};
use scalepool_protocols::cxl::message::{Message, MessageForm, PeerRoute};
use std::ffi::c_char;

/// The mode of 256B flits whose layouts messages of CXL have here.
const MODE: Mode = Mode::Standard;

fn unusable(found: impl std::fmt::Display) -> Failure {
    Failure::range("message", found, "one that passes at a bridge")
}

/// The message of bits at a port of a bridge.
fn read(bits: &MessageBits) -> Result<BridgeMessage, Failure> {
    let name = if bits.layout == SP_NO_LAYOUT { "" } else { def(bits.layout)?.name };
    let protocol = match name.split_once('.') {
        None => CapiProtocol::CxlIo,
        Some(("ualink", _)) => CapiProtocol::Link(LinkProtocol::Ualink),
        Some(("nvlink", _)) => CapiProtocol::Link(LinkProtocol::Nvlink),
        Some(_) => CapiProtocol::Link(LinkProtocol::Cxl256(MODE)),
    };
    match bits.read(protocol)? {
        CapiMessage::Cxl256(_, message) => {
            if message.data.and_then(|data| data.metadata).is_some() {
                return Err(unusable("metadata beside the data"));
            }
            Ok(BridgeMessage::Cxl(CxlMessage::of_link(&Message::from_cxl256(&message, Routing::Hbr))))
        }
        CapiMessage::UalinkTransfer(transfer) => Ok(BridgeMessage::Upli(transfer)),
        CapiMessage::Nvlink(message) => {
            // The length of its data says the size.
            let size = if message.data.is_empty() { message.size } else { 0 };
            let message = NvlMessage { size, ..message };
            message.decoded().map_err(unusable)?;
            Ok(BridgeMessage::Nvlink(Box::new(message)))
        }
        CapiMessage::Tlp(bytes) => tlp::of_bytes(&bytes, TlpForm::Flit).map_err(wrong),
        _ => Err(unusable(name)),
    }
}

/// The bits of a message that the model has made.
fn bits_of(message: &BridgeMessage) -> Result<MessageBits, Failure> {
    let made = match message {
        BridgeMessage::Upli(transfer) => CapiMessage::UalinkTransfer(transfer.clone()),
        BridgeMessage::Nvlink(message) => {
            let mut bits = MessageBits::of(&CapiMessage::Nvlink((**message).clone()));
            // In the header of a packet the size is that of its data.
            if let (Ok(decoded), true) = (message.decoded(), bits.bits.len() >= size_of::<u128>()) {
                let size = NvlMessage { size: decoded.packet.header().size, ..(**message).clone() };
                bits.bits = MessageBits::of(&CapiMessage::Nvlink(size)).bits;
            }
            return Ok(bits);
        }
        BridgeMessage::Cxl(message) => {
            let link = message.to_link(PeerRoute::default());
            let (def, bits) = link.spell(MessageForm::Hbr).map_err(unusable)?;
            let class = Class::of(def, Routing::Hbr).ok_or_else(|| unusable(def.name))?;
            let data = link.data().map(|data| Data256 {
                line: data.line,
                byte_enables: data.byte_enables,
                metadata: data.metadata,
            });
            CapiMessage::Cxl256(MODE, Cxl256Message { class, bits, data })
        }
        BridgeMessage::Tlp(tlp) => CapiMessage::Tlp(tlp.encode(TlpForm::Flit).map_err(unusable)?),
    };
    Ok(MessageBits::of(&made))
}

/// Gives a message to the bridge, as sp_bridge_pass does, with its bits and bytes in place of JSON. They are those of
/// sp_link_send_bits: of UALink with `layer` = `tl`, of nvlink, of CXL in the layouts `cxl256`, and of a TLP in flit mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_bridge_pass_bits(
    bridge: u64,
    point: u32,
    port: u32,
    layout: u32,
    bits: *const u8,
    bits_length: usize,
    data: *const u8,
    data_length: usize,
    enables: *const u8,
    enables_length: usize,
    extra: u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let point = point_of(point)?;
        let message = read(&MessageBits {
            layout,
            bits: caller.items("bits", bits, bits_length)?,
            data: caller.items("data", data, data_length)?,
            enables: caller.items("enables", enables, enables_length)?,
            extra,
        })?;
        BRIDGES.with(bridge, |role| role.pass(&BridgeEvent { point, port: port as usize, message }))
    })
}

/// Takes the next message that the model has made, as sp_bridge_next does, with its bits and bytes in place of JSON. Returns SP_EMPTY if
/// there is none; a scoreboard makes none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_bridge_next_bits(
    bridge: u64,
    point: *mut u32,
    port: *mut u32,
    layout: *mut u32,
    bits: *mut u8,
    bits_capacity: usize,
    bits_length: *mut usize,
    data: *mut u8,
    data_capacity: usize,
    data_length: *mut usize,
    enables: *mut u8,
    enables_capacity: usize,
    enables_length: *mut usize,
    extra: *mut u64,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let (point, port) = (caller.place("point", point)?, caller.place("port", port)?);
        let place = BitsPlace {
            layout: caller.place("layout", layout)?,
            bits: caller.buffer("bits", bits, bits_capacity, bits_length)?,
            data: caller.buffer("data", data, data_capacity, data_length)?,
            enables: caller.buffer("enables", enables, enables_capacity, enables_length)?,
            extra: caller.place("extra", extra)?,
        };
        BRIDGES.with(bridge, |role| {
            let empty = || Failure::new(SP_EMPTY, "bridge: no message has been made");
            let Role::Reference { made, .. } = role else { return Err(empty()) };
            let event = made.front().ok_or_else(empty)?;
            place.fill(&bits_of(&event.message)?)?;
            point.set(event.point as u32);
            port.set(event.port as u32);
            made.pop_front();
            Ok(SP_OK)
        })
    })
}

/// Takes the next finding, as sp_bridge_finding does: `message` is its number among those that have passed, from 0, and the texts are
/// `rule`, `found` and `expected`. Returns SP_EMPTY if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_bridge_finding_fields(
    bridge: u64,
    message: *mut u64,
    rule: *mut c_char,
    rule_capacity: usize,
    rule_length: *mut usize,
    found: *mut c_char,
    found_capacity: usize,
    found_length: *mut usize,
    expected: *mut c_char,
    expected_capacity: usize,
    expected_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let message = caller.place("message", message)?;
        let texts = [
            caller.buffer("rule", rule, rule_capacity, rule_length)?,
            caller.buffer("found", found, found_capacity, found_length)?,
            caller.buffer("expected", expected, expected_capacity, expected_length)?,
        ];
        BRIDGES.with(bridge, |role| {
            let finding = role.finding().ok_or_else(|| Failure::new(SP_EMPTY, "bridge: nothing has been found"))?;
            let said = [finding.rule, finding.found.as_str(), finding.expected.as_str()];
            // All lengths are written before one is too short.
            let fits: Vec<_> = texts.iter().zip(said).map(|(buffer, text)| buffer.fits_text(text)).collect();
            fits.into_iter().collect::<Result<(), _>>()?;
            for (buffer, text) in texts.iter().zip(said) {
                buffer.fill_text(text)?;
            }
            message.set(finding.message);
            role.drop_finding();
            Ok(SP_OK)
        })
    })
}
