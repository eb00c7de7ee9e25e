//! Messages of link ends: one type for all protocols, and its JSON, the form of a message with the data that belongs to it. The
//! other spelling, bits and bytes, is in [`super::bits`].

use super::hex_of;
use super::protocol::CapiProtocol;
use scalepool::forms::{self, FormError, Object, message, number};
use scalepool::link::nvlink::NvlMessage;
use scalepool::link::plain::PlainMessage;
use scalepool::link::protocol::LinkProtocol;
use scalepool::link::ualink::tl::transfer::expanded;
use scalepool::link::watch::WatchedContent;
use scalepool_protocols::cxl::cxl68;
use scalepool_protocols::cxl::cxl256::{self, Mode};
use scalepool_protocols::cxl::cxlio::tlp::IoTlpForm;
use scalepool_protocols::cxl::message::Message;
use scalepool_protocols::nvlink::{Op, Vc};
use scalepool_protocols::ualink::code::FieldType;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::half::{HALF_BYTES, TlFlit};
use scalepool_protocols::ualink::pack;
use scalepool_protocols::ualink::unpack::{MaybeAddress, Transfer};
use scalepool_protocols::wire::{CodeTable, LayoutDef, Wire};
use serde_json::Value;

/// A message of a link end.
#[derive(Debug, Clone)]
pub enum CapiMessage {
    /// Of CXL 68B.
    Cxl68(cxl68::stream::Cxl68Message),
    /// Of a 256B mode.
    Cxl256(Mode, cxl256::stream::Cxl256Message),
    /// Of NVLink.
    Nvlink(NvlMessage),
    /// A TL flit of UALink.
    Ualink(TlFlit),
    /// A request or response of UALink.
    UalinkTransfer(Box<Transfer>),
    /// The bytes of a TLP.
    Tlp(Vec<u8>),
}

impl CapiMessage {
    /// Reads the form of a message that an end of this protocol sends.
    pub fn from_json(protocol: CapiProtocol, form: &Value) -> Result<CapiMessage, FormError> {
        let CapiProtocol::Link(protocol) = protocol else { return Ok(CapiMessage::Tlp(tlp(form)?)) };
        Ok(match protocol {
            LinkProtocol::Cxl68 => CapiMessage::Cxl68(cxl68(form)?),
            LinkProtocol::Cxl256(mode) => CapiMessage::Cxl256(mode, cxl256(mode, form)?),
            LinkProtocol::Nvlink => CapiMessage::Nvlink(nvlink(form)?),
            // A transaction layer has fields of a layout, a data link layer TL flits.
            LinkProtocol::Ualink if form.get("layout").is_some() => {
                CapiMessage::UalinkTransfer(Box::new(ualink_transfer(form)?))
            }
            LinkProtocol::Ualink => CapiMessage::Ualink(ualink(form)?),
        })
    }

    /// The form.
    pub fn json(&self) -> Value {
        match self {
            CapiMessage::Cxl68(given) => cxl68_json(given),
            CapiMessage::Cxl256(mode, given) => cxl256_json(*mode, given),
            CapiMessage::Nvlink(given) => nvlink_json(given),
            CapiMessage::Ualink(given) => ualink_json(given),
            CapiMessage::UalinkTransfer(given) => ualink_transfer_json(given),
            CapiMessage::Tlp(bytes) => tlp_json(bytes),
        }
    }

    /// What a watcher of a link has seen; `None` of what is no message of the protocol, which are TLPs on a link of CXL.cachemem.
    pub fn seen(protocol: CapiProtocol, content: &WatchedContent) -> Option<CapiMessage> {
        match (protocol.messages(), content) {
            (Some(LinkProtocol::Cxl68), WatchedContent::Cxl(message)) => {
                message.to_cxl68().ok().map(CapiMessage::Cxl68)
            }
            (Some(LinkProtocol::Cxl256(mode)), WatchedContent::Cxl(message)) => {
                message.to_cxl256(mode.routing()).ok().map(|message| CapiMessage::Cxl256(mode, message))
            }
            (None, WatchedContent::Tlp { bytes, .. }) => Some(CapiMessage::Tlp(bytes.clone())),
            // On the wire it may be compressed.
            (_, WatchedContent::Ualink(transfer)) => expanded(transfer.clone()).and_then(CapiMessage::of_transfer),
            (_, WatchedContent::Nvlink(decoded)) => {
                Some(CapiMessage::Nvlink(NvlMessage::of(&decoded.packet, &decoded.ae)))
            }
            _ => None,
        }
    }

    /// What a transaction layer of UALink hands out; `None` of a field that is neither request nor response, which none does.
    pub fn of_transfer(transfer: Box<Transfer>) -> Option<CapiMessage> {
        transfer_bits(&transfer).map(|_| CapiMessage::UalinkTransfer(transfer))
    }

    /// Whether it is a snoop of CXL.cache (true) or an answer to a device (false); `None` of all others.
    pub fn is_snoop(&self) -> Option<bool> {
        use {cxl68::message::Class as Class68, cxl256::Class};
        match self {
            CapiMessage::Cxl68(given) if given.class == Class68::H2dReq => Some(true),
            CapiMessage::Cxl68(given) if given.class == Class68::H2dRsp => Some(false),
            CapiMessage::Cxl256(_, given) if given.class == Class::H2dReq => Some(true),
            CapiMessage::Cxl256(_, given) if given.class == Class::H2dRsp => Some(false),
            _ => None,
        }
    }

    /// What it says to those who judge messages; `None` of TL flits, and of packets that are none.
    pub fn content(&self) -> Option<WatchedContent> {
        match self {
            CapiMessage::Cxl68(given) => Some(WatchedContent::Cxl(Message::from_cxl68(given))),
            CapiMessage::Cxl256(mode, given) => Some(WatchedContent::Cxl(Message::from_cxl256(given, mode.routing()))),
            CapiMessage::Nvlink(given) => given.decoded().ok().map(|packet| WatchedContent::Nvlink(Box::new(packet))),
            CapiMessage::UalinkTransfer(given) => Some(WatchedContent::Ualink(given.clone())),
            CapiMessage::Tlp(bytes) => {
                Some(WatchedContent::Tlp { bytes: bytes.clone(), form: IoTlpForm::Flit { pbr: false } })
            }
            CapiMessage::Ualink(_) => None,
        }
    }
}

impl From<PlainMessage> for CapiMessage {
    fn from(message: PlainMessage) -> CapiMessage {
        match message {
            PlainMessage::Cxl68(message) => CapiMessage::Cxl68(message),
            PlainMessage::Cxl256(mode, message) => CapiMessage::Cxl256(mode, message),
        }
    }
}

/// The layout and bits of a request or response; `None` of other fields.
pub fn transfer_bits(transfer: &Transfer) -> Option<(&'static LayoutDef, u128)> {
    match &transfer.field {
        ControlField::Request(request) => Some((TlReq::DEF, request.to_bits().ok()?)),
        ControlField::Response(response) => Some((TlRsp::DEF, response.to_bits().ok()?)),
        _ => None,
    }
}

/// A request or response of these bits, with its beats of data and their byte enables.
pub fn transfer_of(
    def: &'static LayoutDef,
    bits: u128,
    beats: &[[u8; 64]],
    enables: Option<[u8; HALF_BYTES]>,
    poisoned: u8,
) -> Result<Transfer, FormError> {
    let (field, address) = match def.name {
        name if name == TlReq::DEF.name => {
            let request = TlReq::from_bits(bits);
            right_kind(request.ftype, TlReq::default().ftype)?;
            (ControlField::Request(request), request.address.into())
        }
        name if name == TlRsp::DEF.name => {
            let response = TlRsp::from_bits(bits);
            right_kind(response.ftype, TlRsp::default().ftype)?;
            (ControlField::Response(response), MaybeAddress::NONE)
        }
        name => return Err(unknown(name, "ualink: `ualink.tl_req` or `ualink.tl_rsp`")),
    };
    Ok(Transfer { address, poisoned, ..pack::with_data(field, beats, enables) })
}

/// The kind of field that a request or response has on the wire: with another one the peer would read another field.
fn right_kind(found: FieldType, expected: FieldType) -> Result<(), FormError> {
    if found == expected {
        return Ok(());
    }
    Err(FormError::new("message.fields.ftype", found.0.to_string(), expected.0.to_string()))
}

/// A layout with its bits, and what else stands in the object.
struct MessageParts<'a> {
    layout: &'static str,
    bits: u128,
    line: Option<[u8; 64]>,
    byte_enables: Option<u64>,
    object: &'a Object,
}

fn parts<'a>(form: &'a Value, more: &[&str]) -> Result<MessageParts<'a>, FormError> {
    let known = [&["layout", "fields", "data", "be"], more].concat();
    let object = forms::object(form, "message", &known)?;
    let def = message::layout_of(object)?;
    let bits = match object.get("fields") {
        Some(fields) => message::fields_from_json(def, def.default_bits(), fields)?,
        None => def.default_bits(),
    };
    let line = object.get("data").map(|v| number::array_of(v, "message.data")).transpose()?;
    let byte_enables = object.get("be").map(|v| unsigned(v, "message.be")).transpose()?;
    Ok(MessageParts { layout: def.name, bits, line, byte_enables, object })
}

fn unsigned<T: TryFrom<u128>>(value: &Value, at: &str) -> Result<T, FormError> {
    let wide = |_| FormError::new(at, forms::shown(value), format!("a number of {} bits", 8 * size_of::<T>()));
    T::try_from(number::from_json(value, at)?).map_err(wide)
}

pub(super) fn unknown(layout: &str, protocol: &str) -> FormError {
    FormError::new("message.layout", format!("`{layout}`"), format!("a message of {protocol}"))
}

/// Byte enables without a line.
fn no_line() -> FormError {
    FormError::new("message", "`be` without `data`", "both or neither")
}

fn with_data(mut form: Value, line: &[u8], byte_enables: Option<u64>) -> Value {
    form["data"] = number::hex(line).into();
    if let Some(be) = byte_enables {
        form["be"] = number::to_json(be.into());
    }
    form
}

/// A message of CXL 68B.
fn cxl68(form: &Value) -> Result<cxl68::stream::Cxl68Message, FormError> {
    use cxl68::stream::{Cxl68Message, Data, Size};
    let MessageParts { layout, bits, line, byte_enables, object } = parts(form, &["half"])?;
    let class = cxl68::message::Class::ALL.into_iter().find(|c| c.def().name == layout);
    let class = class.ok_or_else(|| unknown(layout, forms::flit68::PROTOCOL))?;
    let size = match object.get("half").map(Value::as_str) {
        None => Size::Line,
        Some(Some("lower")) => Size::LowerHalf,
        Some(Some("upper")) => Size::UpperHalf,
        Some(_) => return Err(FormError::new("message.half", forms::shown(&object["half"]), "`lower` or `upper`")),
    };
    if line.is_none() && (byte_enables.is_some() || size != Size::Line) {
        return Err(no_line());
    }
    Ok(Cxl68Message { class, bits, data: line.map(|bytes| Data { bytes, size, byte_enables }) })
}

/// The same as JSON.
fn cxl68_json(given: &cxl68::stream::Cxl68Message) -> Value {
    use cxl68::stream::Size;
    let form = message::message_to_json(given.class.def(), given.bits);
    let Some(data) = given.data else { return form };
    let mut form = with_data(form, &data.bytes, data.byte_enables);
    match data.size {
        Size::Line => (),
        Size::LowerHalf => form["half"] = "lower".into(),
        Size::UpperHalf => form["half"] = "upper".into(),
    }
    form
}

/// A message of a 256B mode.
fn cxl256(mode: Mode, form: &Value) -> Result<cxl256::stream::Cxl256Message, FormError> {
    use cxl256::stream::{Cxl256Message, Data};
    let MessageParts { layout, bits, line, byte_enables, object } = parts(form, &["metadata"])?;
    let class = cxl256::Class::ALL.into_iter().find(|c| c.def(mode.routing()).name == layout);
    let class = class.ok_or_else(|| unknown(layout, mode.protocol()))?;
    let metadata = object.get("metadata").map(|v| unsigned(v, "message.metadata")).transpose()?;
    if line.is_none() && (byte_enables.is_some() || metadata.is_some()) {
        return Err(no_line());
    }
    Ok(Cxl256Message { class, bits, data: line.map(|line| Data { line, byte_enables, metadata }) })
}

/// The same as JSON.
fn cxl256_json(mode: Mode, given: &cxl256::stream::Cxl256Message) -> Value {
    let form = message::message_to_json(given.class.def(mode.routing()), given.bits);
    let Some(data) = given.data else { return form };
    let mut form = with_data(form, &data.line, data.byte_enables);
    if let Some(metadata) = data.metadata {
        form["metadata"] = metadata.into();
    }
    form
}

/// A code by name or number.
fn code(table: &CodeTable, value: &Value, at: &str) -> Result<u8, FormError> {
    if let Some(found) = value.as_str().and_then(|name| table.value_of(name)) {
        return Ok(found as u8);
    }
    let expected = || format!("a code of {}, below {}", table.name, 1 << table.width);
    let found: u8 = unsigned(value, at).map_err(|_| FormError::new(at, forms::shown(value), expected()))?;
    if u32::from(found) >> table.width != 0 {
        return Err(FormError::new(at, forms::shown(value), expected()));
    }
    Ok(found)
}

fn code_json(name: Option<&'static str>, number: u8) -> Value {
    name.map_or(number.into(), Value::from)
}

/// A message of NVLink.
fn nvlink(form: &Value) -> Result<NvlMessage, FormError> {
    let known = ["op", "vc", "tag", "rid", "size", "ep", "atag", "address", "attr", "route", "be", "data"];
    let object = forms::object(form, "message", &known)?;
    let Some(op) = object.get("op") else {
        return Err(FormError::new("message", "no key `op`", "the name of an operation"));
    };
    let mut message = NvlMessage::new(Op(code(Op::TABLE, op, "message.op")?), &Default::default());
    for (key, value) in object {
        let at = format!("message.{key}");
        match key.as_str() {
            "vc" => message.vc = Vc(code(Vc::TABLE, value, &at)?),
            "tag" => message.tag = unsigned(value, &at)?,
            "rid" => message.rid = unsigned(value, &at)?,
            "size" => message.size = unsigned(value, &at)?,
            "ep" => message.ep = unsigned::<u8>(value, &at)? != 0,
            "atag" => message.atag = unsigned(value, &at)?,
            "address" => message.address = unsigned(value, &at)?,
            "attr" => message.attr = unsigned(value, &at)?,
            "route" => message.route = unsigned(value, &at)?,
            "be" => message.be = Some(unsigned(value, &at)?),
            "data" => message.data = hex_of(value, &at)?,
            _ => (),
        }
    }
    Ok(message)
}

/// The same as JSON.
fn nvlink_json(given: &NvlMessage) -> Value {
    let mut form = Object::new();
    form.insert("op".into(), code_json(given.op.name(), given.op.0));
    form.insert("vc".into(), code_json(given.vc.name(), given.vc.0));
    form.insert("tag".into(), given.tag.into());
    form.insert("rid".into(), given.rid.into());
    form.insert("size".into(), given.size.into());
    form.insert("ep".into(), u8::from(given.ep).into());
    form.insert("atag".into(), given.atag.into());
    form.insert("address".into(), number::to_json(given.address.into()));
    form.insert("attr".into(), given.attr.into());
    form.insert("route".into(), given.route.into());
    if let Some(be) = given.be {
        form.insert("be".into(), number::to_json(be));
    }
    form.insert("data".into(), number::hex(&given.data).into());
    Value::Object(form)
}

/// A request or response of UALink.
fn ualink_transfer(form: &Value) -> Result<Transfer, FormError> {
    let object = forms::object(form, "message", &["layout", "fields", "data", "be", "poisoned"])?;
    let def = message::layout_of(object)?;
    let bits = match object.get("fields") {
        Some(fields) => message::fields_from_json(def, def.default_bits(), fields)?,
        None => def.default_bits(),
    };
    let data = object.get("data").map(|v| hex_of(v, "message.data")).transpose()?.unwrap_or_default();
    let (beats, rest) = data.as_chunks::<64>();
    if !rest.is_empty() {
        let found = format!("{} bytes", data.len());
        return Err(FormError::new("message.data", found, "64 bytes for each beat"));
    }
    let enables = object.get("be").map(|v| number::array_of(v, "message.be")).transpose()?;
    let poisoned = object.get("poisoned").map(|v| unsigned(v, "message.poisoned")).transpose()?.unwrap_or_default();
    transfer_of(def, bits, beats, enables, poisoned)
}

/// The same as JSON.
fn ualink_transfer_json(given: &Transfer) -> Value {
    let Some((def, bits)) = transfer_bits(given) else { unreachable!("it was made of a request or a response") };
    let mut form = message::message_to_json(def, bits);
    if !given.data.is_empty() {
        let bytes: Vec<u8> = (0..given.data.len()).filter_map(|n| given.data.get(n)).flatten().collect();
        form["data"] = number::hex(&bytes).into();
    }
    if let Some(enables) = &given.enables {
        form["be"] = number::hex(&enables[..]).into();
    }
    if given.poisoned != 0 {
        form["poisoned"] = given.poisoned.into();
    }
    form
}

/// A TLP of CXL.io.
fn tlp(form: &Value) -> Result<Vec<u8>, FormError> {
    let object = forms::object(form, "message", &["tlp"])?;
    let bytes = object.get("tlp").ok_or_else(|| FormError::new("message", "no key `tlp`", "the bytes of a TLP"))?;
    hex_of(bytes, "message.tlp")
}

/// The same as JSON.
fn tlp_json(bytes: &[u8]) -> Value {
    let mut form = Object::new();
    form.insert("tlp".into(), number::hex(bytes).into());
    Value::Object(form)
}

/// A TL flit of UALink.
fn ualink(form: &Value) -> Result<TlFlit, FormError> {
    let object = forms::object(form, "message", &["lower", "upper", "indicators"])?;
    let mut flit = TlFlit::default();
    for (half, key) in ["lower", "upper"].into_iter().enumerate() {
        if let Some(value) = object.get(key) {
            flit.halves[half] = number::array_of(value, &format!("message.{key}"))?;
        }
    }
    if let Some(value) = object.get("indicators") {
        let bits: u8 = unsigned(value, "message.indicators")?;
        if bits > 3 {
            return Err(FormError::new("message.indicators", bits.to_string(), "0 to 3"));
        }
        flit.set_indicators(bits);
    }
    Ok(flit)
}

/// The same as JSON.
fn ualink_json(given: &TlFlit) -> Value {
    let mut form = Object::new();
    form.insert("lower".into(), number::hex(&given.halves[0]).into());
    form.insert("upper".into(), number::hex(&given.halves[1]).into());
    form.insert("indicators".into(), given.indicators().into());
    Value::Object(form)
}
