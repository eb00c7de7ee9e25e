//! A message at one of the ports of a bridge, and its JSON form.
//!
//! Modelled: requests and responses of UALink with their beats, byte enables and poison; messages of NVLink with the parts of their packet;
//! messages of CXL.mem and CXL.cache in the layouts of 256B flits with hierarchy based routing; TLPs of CXL.io in those of non-flit mode ([`tlp`]).
//! Left out: what links add, such as CRC and credits; CacheID and BI-ID, which say which port of the fabric a message belongs to; hints.
//!
//! A walk: `{"layout":"ualink.tl_req","fields":{"cmd":"Read","address":"0x1000","len":15}}` is a read of 64 bytes. A write has `data`, one
//! string of 128 digits for each beat, and `enables`, 64 digits, if its command has byte enables; `poison` has the numbers of the beats that
//! are known to be wrong.

use super::tlp;
use scalepool_bridge::lines::BLOCK_LINES;
use scalepool_coherence::content::CacheLine;
use scalepool_coherence::message::{self, Msg};
use scalepool_endpoint::tlp::{Tlp, TlpKind};
use scalepool_forms::message::{field_to_json, fields_from_json, layout_of};
use scalepool_forms::{FormError, Object, number, object, shown, text};
use scalepool_link::nvlink::NvlMessage;
use scalepool_nodes::ualink::read::lines_of;
use scalepool_protocols::cxl::cxl256::Routing;
use scalepool_protocols::cxl::message::{Class, Data, Message, MessageForm, PeerRoute};
use scalepool_protocols::nvlink::{Ae, NvlConfig, NvlHeader};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::half::Half;
use scalepool_protocols::ualink::pack::with_data;
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::{LayoutDef, Wire};
use serde_json::Value;

/// Bytes of a line, a beat of UALink, the data of a message of CXL.mem or CXL.cache.
const LINE_BYTES: usize = 64;
/// Bytes of a unit of the sizes of NVLink.
const UNIT_BYTES: usize = 16;
/// Most bytes of data in one message: a block.
const MOST_BYTES: usize = BLOCK_LINES * LINE_BYTES;

/// Fields of an NVLink header that belong to the transaction; the link fills in the others.
const NVLINK_FIELDS: [&str; 8] = ["op", "vc", "tag", "rid", "size", "ep", "atag", "address"];
/// Fields of an address extension that belong to the transaction.
const EXTENSION_FIELDS: [&str; 3] = ["route", "attr", "address"];

/// A message of CXL.mem or CXL.cache with what links know beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CxlMessage {
    /// The message.
    pub msg: Msg<CacheLine>,
    /// Logical device that it is for; 0 without one.
    pub ld_id: u8,
    /// Traffic class of a request of CXL.mem; 0 of others.
    pub traffic_class: u8,
}

impl CxlMessage {
    /// The message as a link brings it; identifiers of a fabric are not kept.
    pub fn of_link(link: &Message) -> CxlMessage {
        let (ld_id, traffic_class) = match link {
            Message::M2sReq(header) => (header.ld_id, header.tc),
            Message::M2sRwd(header, _) => (header.ld_id, header.tc),
            Message::S2mNdr(header) => (header.ld_id, 0),
            Message::S2mDrs(header, _) => (header.ld_id, 0),
            _ => (0, 0),
        };
        CxlMessage { msg: message::from_link(link), ld_id, traffic_class }
    }

    /// The message as a link takes it; `route` has the identifiers of a fabric, its logical device is that of the message.
    pub fn to_link(&self, route: PeerRoute) -> Message {
        let mut link = self.msg.to_link(PeerRoute { ld_id: self.ld_id, ..route });
        match &mut link {
            Message::M2sReq(header) => header.tc = self.traffic_class,
            Message::M2sRwd(header, _) => header.tc = self.traffic_class,
            _ => (),
        }
        link
    }
}

/// A message at a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BridgeMessage {
    /// A request or a response of UALink.
    Upli(Box<Transfer>),
    /// A message of NVLink.
    Nvlink(Box<NvlMessage>),
    /// A message of CXL.mem or CXL.cache.
    Cxl(CxlMessage),
    /// A TLP of CXL.io.
    Tlp(Box<Tlp>),
}

impl BridgeMessage {
    /// Name of its layout.
    pub fn layout(&self) -> &'static str {
        match self {
            BridgeMessage::Upli(transfer) => match transfer.field {
                ControlField::Request(_) => TlReq::DEF.name,
                _ => TlRsp::DEF.name,
            },
            BridgeMessage::Nvlink(_) => NvlHeader::DEF.name,
            BridgeMessage::Tlp(tlp) => tlp::layout(tlp).name,
            BridgeMessage::Cxl(CxlMessage { msg, .. }) => {
                msg.to_link(PeerRoute::default()).spell(MessageForm::Hbr).map_or("cxl256", |(def, _)| def.name)
            }
        }
    }

    /// The number that joins requests and answers, of a message that has one: of CXL.cache the CQID. The UQID, by which snoops and pulled data
    /// are joined, is the choice of the host.
    pub fn tag(&self) -> Option<u16> {
        match self {
            BridgeMessage::Upli(transfer) => match transfer.field {
                ControlField::Request(TlReq { tag, .. }) | ControlField::Response(TlRsp { tag, .. }) => Some(tag),
                _ => None,
            },
            BridgeMessage::Nvlink(message) => Some(message.tag),
            // Posted ones have none.
            BridgeMessage::Tlp(tlp) => {
                let has_tag = tlp.is_non_posted() || matches!(tlp.kind, TlpKind::Completion { .. });
                has_tag.then_some(tlp.tag)
            }
            BridgeMessage::Cxl(CxlMessage { msg, .. }) => match *msg {
                Msg::M2sReq { tag, .. } | Msg::M2sRwd { tag, .. } => Some(tag),
                Msg::S2mNdr { tag, .. } | Msg::S2mDrs { tag, .. } => Some(tag),
                Msg::D2hReq { cqid, .. } | Msg::H2dRsp { cqid, .. } | Msg::H2dData { cqid, .. } => Some(cqid),
                _ => None,
            },
        }
    }

    /// The same message with another tag.
    #[must_use]
    pub fn tagged(mut self, new: u16) -> BridgeMessage {
        self.set_tag(new);
        self
    }

    /// Gives it another tag, if it has one.
    pub fn set_tag(&mut self, new: u16) {
        match self {
            BridgeMessage::Upli(transfer) => match &mut transfer.field {
                ControlField::Request(TlReq { tag, .. }) | ControlField::Response(TlRsp { tag, .. }) => *tag = new,
                _ => (),
            },
            BridgeMessage::Nvlink(message) => message.tag = new,
            BridgeMessage::Tlp(tlp) => tlp.tag = new,
            BridgeMessage::Cxl(CxlMessage { msg, .. }) => match msg {
                Msg::M2sReq { tag, .. } | Msg::M2sRwd { tag, .. } => *tag = new,
                Msg::S2mNdr { tag, .. } | Msg::S2mDrs { tag, .. } => *tag = new,
                Msg::D2hReq { cqid, .. } | Msg::H2dRsp { cqid, .. } | Msg::H2dData { cqid, .. } => *cqid = new,
                _ => (),
            },
        }
    }

    /// The number that joins a back-invalidate snoop and its answer.
    pub fn snoop_tag(&self) -> Option<u16> {
        match self {
            BridgeMessage::Cxl(CxlMessage {
                msg: Msg::S2mBisnp { bi_tag, .. } | Msg::M2sBirsp { bi_tag, .. }, ..
            }) => Some(*bi_tag),
            _ => None,
        }
    }

    /// Gives a back-invalidate snoop, or its answer, another number.
    pub fn set_snoop_tag(&mut self, new: u16) {
        if let BridgeMessage::Cxl(CxlMessage {
            msg: Msg::S2mBisnp { bi_tag, .. } | Msg::M2sBirsp { bi_tag, .. }, ..
        }) = self
        {
            *bi_tag = new;
        }
    }

    /// Its JSON form.
    pub fn to_json(&self) -> Value {
        match self {
            BridgeMessage::Upli(transfer) => upli_to_json(transfer),
            BridgeMessage::Nvlink(message) => nvlink_to_json(message),
            BridgeMessage::Cxl(message) => cxl_to_json(message),
            BridgeMessage::Tlp(tlp) => tlp::to_json(tlp),
        }
    }

    /// Reads its JSON form.
    ///
    /// # Errors
    /// What is no message of UALink, NVLink, CXL.mem, CXL.cache or CXL.io, with its place.
    pub fn from_json(form: &Value) -> Result<BridgeMessage, FormError> {
        let keys = ["layout", "fields", "data", "enables", "poison", "ae", "be"];
        let form = object(form, "message", &keys)?;
        let def = layout_of(form)?;
        let wrong = || {
            let expected = "ualink.tl_req, ualink.tl_rsp, nvlink.header, cxlio.nfm_mem32, cxlio.nfm_mem64, cxlio.nfm_cpl, or a message of CXL.mem or CXL.cache of cxl256";
            FormError::new("layout", def.name, expected)
        };
        match def.name {
            "ualink.tl_req" | "ualink.tl_rsp" => upli_from_json(def, form),
            "nvlink.header" => nvlink_from_json(form),
            _ if tlp::is_tlp(def) => tlp::from_json(def, form),
            _ => {
                let class = Class::of(def, Routing::Hbr).ok_or_else(wrong)?;
                cxl_from_json(class, def, form)
            }
        }
    }
}

/// An object with a layout and those of its fields that `is_shown`, reserved ones left out.
pub(crate) fn head(def: &LayoutDef, bits: u128, is_shown: impl Fn(&str) -> bool) -> Object {
    let mut form = Object::new();
    form.insert("layout".into(), def.name.into());
    form.insert("fields".into(), fields(def, bits, is_shown));
    form
}

fn fields(def: &LayoutDef, bits: u128, is_shown: impl Fn(&str) -> bool) -> Value {
    let shown = def.fields.iter().filter(|field| is_shown(field.name));
    Value::Object(shown.map(|field| (field.name.to_owned(), field_to_json(field, bits))).collect())
}

/// Bits of a layout by the key `fields`, of which only those that are `known` may stand there.
pub(crate) fn bits_of(def: &'static LayoutDef, form: &Object, known: Option<&[&str]>) -> Result<u128, FormError> {
    let Some(fields) = form.get("fields") else { return Ok(def.default_bits()) };
    if let Some(known) = known {
        object(fields, "fields", known)?;
    }
    fields_from_json(def, def.default_bits(), fields)
}

/// The keys of a message that its protocol has.
pub(crate) fn only(form: &Object, known: &[&str]) -> Result<(), FormError> {
    match form.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(FormError::new("message", format!("key `{key}`"), format!("one of: {}", known.join(", ")))),
        None => Ok(()),
    }
}

fn upli_to_json(transfer: &Transfer) -> Value {
    let (def, bits) = match transfer.field {
        ControlField::Request(req) => (TlReq::DEF, req.to_bits()),
        ControlField::Response(rsp) => (TlRsp::DEF, rsp.to_bits()),
        _ => (TlRsp::DEF, Ok(0)),
    };
    // Numbers of the model fit their fields.
    let mut form = head(def, bits.unwrap_or_default(), |name| name != "spare");
    if let Some(enables) = &transfer.enables {
        form.insert("enables".into(), number::hex(enables.as_slice()).into());
    }
    let data: Vec<Value> = lines_of(&transfer.data).map(|line| number::hex(&line).into()).collect();
    if !data.is_empty() {
        form.insert("data".into(), data.into());
    }
    let poison: Vec<Value> = (0..8u8).filter(|n| transfer.poisoned >> n & 1 == 1).map(Value::from).collect();
    if !poison.is_empty() {
        form.insert("poison".into(), poison.into());
    }
    Value::Object(form)
}

fn list<'a>(form: &'a Object, key: &str) -> Result<&'a [Value], FormError> {
    match form.get(key) {
        None => Ok(&[]),
        Some(value) => value
            .as_array()
            .map(Vec::as_slice)
            .filter(|list| list.len() <= BLOCK_LINES)
            .ok_or_else(|| FormError::new(key, shown(value), format!("a list of at most {BLOCK_LINES} entries"))),
    }
}

fn upli_from_json(def: &'static LayoutDef, form: &Object) -> Result<BridgeMessage, FormError> {
    only(form, &["layout", "fields", "data", "enables", "poison"])?;
    let bits = bits_of(def, form, None)?;
    let is_request = def.name == TlReq::DEF.name;
    let data = list(form, "data")?.iter().map(|line| number::array_of::<LINE_BYTES>(line, "data"));
    let data: Vec<[u8; LINE_BYTES]> = data.collect::<Result<_, _>>()?;
    let enables = form.get("enables").map(|enables| number::array_of::<{ size_of::<Half>() }>(enables, "enables"));
    let mut poisoned = 0;
    for beat in list(form, "poison")? {
        let n = number::from_json(beat, "poison")?;
        if n >= data.len() as u128 {
            return Err(FormError::new("poison", n.to_string(), format!("numbers of the {} beats", data.len())));
        }
        poisoned |= 1 << n;
    }
    let (field, address) = if is_request {
        let req = TlReq::from_bits(bits);
        (ControlField::Request(req), Some(req.address))
    } else {
        (ControlField::Response(TlRsp::from_bits(bits)), None)
    };
    let transfer = with_data(field, &data, enables.transpose()?);
    Ok(BridgeMessage::Upli(Box::new(Transfer { address: address.into(), poisoned, ..transfer })))
}

fn nvlink_to_json(message: &NvlMessage) -> Value {
    // Messages of the model are packets.
    let Ok(decoded) = message.decoded() else { return Value::Null };
    let mut form = head(NvlHeader::DEF, decoded.packet.header_bits(), |name| NVLINK_FIELDS.contains(&name));
    // Numbers of the model fit their fields.
    let bits = decoded.ae.to_bits().unwrap_or_default();
    if bits != 0 {
        form.insert("ae".into(), fields(Ae::DEF, bits, |name| EXTENSION_FIELDS.contains(&name)));
    }
    if let Some(be) = message.be {
        form.insert("be".into(), number::hex(&be.to_le_bytes()).into());
    }
    if !message.data.is_empty() {
        form.insert("data".into(), number::hex(&message.data).into());
    }
    Value::Object(form)
}

fn nvlink_from_json(form: &Object) -> Result<BridgeMessage, FormError> {
    only(form, &["layout", "fields", "data", "ae", "be"])?;
    let header = NvlHeader::from_bits(bits_of(NvlHeader::DEF, form, Some(&NVLINK_FIELDS))?);
    let ae = match form.get("ae") {
        Some(ae) => {
            object(ae, "ae", &EXTENSION_FIELDS)?;
            Ae::from_bits(fields_from_json(Ae::DEF, 0, ae).map_err(|e| e.within("ae"))?)
        }
        None => Ae::from_bits(0),
    };
    let be = form.get("be").map(|be| number::array_of(be, "be").map(u128::from_le_bytes)).transpose()?;
    let data = match form.get("data") {
        Some(data) => number::bytes_of(text(data, "data", "a string of hexadecimal digits")?, "data")?,
        None => Vec::new(),
    };
    // What follows from the operation and the data may be left out, and is refused where it says something else.
    let has = |name: &str| form.get("fields").is_some_and(|fields| fields.get(name).is_some());
    let vc = NvlConfig::default().vc_of(header.op).unwrap_or(header.vc);
    if has("vc") && header.vc != vc {
        let expected = format!("{vc:?}, the channel of {:?}", header.op);
        return Err(FormError::new("vc", format!("{:?}", header.vc), expected));
    }
    let has_data = header.op.has_data() == Some(true);
    let fits = data.len().is_multiple_of(UNIT_BYTES) && data.len() <= MOST_BYTES && has_data != data.is_empty();
    if !fits {
        let expected = if has_data { "16 to 256 bytes, a multiple of 16" } else { "no data with this operation" };
        return Err(FormError::new("data", format!("{} bytes", data.len()), expected));
    }
    if has_data && has("size") && usize::from(header.size) + 1 != data.len() / UNIT_BYTES {
        let expected = format!("{}, units of 16 bytes less one", data.len() / UNIT_BYTES - 1);
        return Err(FormError::new("size", header.size.to_string(), expected));
    }
    let message = NvlMessage::of_parts(NvlHeader { vc, ..header }, &ae, be, data);
    message.decoded().map_err(|e| FormError::new("message", e.to_string(), "a packet of NVLink"))?;
    Ok(BridgeMessage::Nvlink(Box::new(message)))
}

fn cxl_to_json(message: &CxlMessage) -> Value {
    let link = message.to_link(PeerRoute::default());
    // Messages of agents have a form in 256B flits.
    let Ok((def, bits)) = link.spell(MessageForm::Hbr) else { return Value::Null };
    let mut form = head(def, bits, |name| !def.fields.iter().any(|field| field.name == name && field.reserved));
    if let Some(data) = link.data() {
        if let Some(enables) = data.byte_enables {
            form.insert("enables".into(), number::hex(&enables.to_le_bytes()).into());
        }
        form.insert("data".into(), number::hex(&data.line).into());
    }
    Value::Object(form)
}

fn cxl_from_json(class: Class, def: &'static LayoutDef, form: &Object) -> Result<BridgeMessage, FormError> {
    only(form, &["layout", "fields", "data", "enables"])?;
    let bits = bits_of(def, form, None)?;
    let has_data = matches!(class, Class::M2sRwd | Class::S2mDrs | Class::D2hData | Class::H2dData);
    let line = form.get("data").map(|data| number::array_of::<LINE_BYTES>(data, "data")).transpose()?;
    if has_data != line.is_some() {
        let (found, expected) = if has_data { ("none", "64 bytes") } else { ("64 bytes", "none with this class") };
        return Err(FormError::new("data", found, expected));
    }
    let byte_enables = match form.get("enables") {
        Some(_) if !matches!(class, Class::M2sRwd | Class::D2hData) => {
            return Err(FormError::new("enables", "some", "none with this class"));
        }
        enables => enables.map(|e| number::array_of(e, "enables").map(u64::from_le_bytes)).transpose()?,
    };
    consistent(def, form, bits, byte_enables.is_some())?;
    let data = line.map(|line| Data { byte_enables, ..Data::line(line) });
    let found = scalepool_protocols::cxl::cxl256::stream::Cxl256Message { class, bits, data };
    let link = Message::from_cxl256(&found, Routing::Hbr);
    Ok(BridgeMessage::Cxl(CxlMessage::of_link(&link)))
}

/// Refuses a header that says something else than what is beside it, or something that the bridge does not have: fields that are left out
/// follow from the rest.
fn consistent(def: &LayoutDef, form: &Object, bits: u128, has_enables: bool) -> Result<(), FormError> {
    let given = |name: &str| {
        form.get("fields")?.get(name)?;
        let field = def.fields.iter().find(|field| field.name == name)?;
        Some(bits >> field.lsb & (u128::MAX >> (128 - field.width)))
    };
    let wrong = |name: &str, found: u128, expected: &str| Err(FormError::new(name, found.to_string(), expected));
    if let Some(0) = given("valid") {
        return wrong("valid", 0, "1, or no such field");
    }
    if let Some(ckid) = given("ckid").filter(|ckid| *ckid != 0) {
        return wrong("ckid", ckid, "0: what is encrypted by keys is not modelled");
    }
    for name in ["trp", "bep"] {
        match given(name) {
            Some(0) if has_enables => return wrong(name, 0, "1 with enables, or no such field"),
            Some(1) if !has_enables => return wrong(name, 1, "0 without enables, or no such field"),
            _ => (),
        }
    }
    Ok(())
}
