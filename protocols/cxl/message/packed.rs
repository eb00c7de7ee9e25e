//! A message as bytes of one length for its channel: what a component outside the model takes and gives.
//!
//! Modelled: the message or data header in the layout of its link, which is the packed struct of the SystemVerilog package, byte
//! 0 first and the last byte padded with zeros; behind it, in a class with data, 64 bytes of the line, 8 bytes of byte enables
//! (bit n for byte n) and 4 bytes of extended metadata, low byte first. Where the message has no byte enables all of these bits
//! are 1; where it has no metadata those are 0. Left out: transfers of half a line, and fields that no message of the model has,
//! such as CKID: they are 0.
//!
//! A walk through one message that is read: its length is judged, then its reserved bits and codes, then the payload that its
//! header announces; what the model would send in its place has to be the same, bit by bit, so nothing is silently dropped.

use super::form::{MessageForm, MessageFormError};
use super::{Class, Data, Message};
use crate::cxl::cxl68;
use crate::cxl::cxl256::Routing;
use crate::cxl::cxl256::stream::trailer;
use crate::wire::{LayoutDef, PackedError, Wire};

/// Bytes behind the header of a class with data: line, byte enables, metadata.
pub const PAYLOAD_BYTES: usize = 64 + 8 + 4;

impl MessageForm {
    /// Bytes of a message of a class; `None`: the link does not have it.
    pub const fn packed_bytes(self, class: Class) -> Option<usize> {
        match self.layout(class) {
            Some(layout) => Some(layout.len_bytes() + if class.has_data() { PAYLOAD_BYTES } else { 0 }),
            None => None,
        }
    }
}

/// Whether a message of this header may come with byte enables, and whether with metadata.
fn may_have(form: MessageForm, class: Class, bits: u128) -> (bool, bool) {
    let routing = match form {
        MessageForm::Cxl68 => return (matches!(class, Class::M2sRwd | Class::D2hData), false),
        MessageForm::Hbr => Routing::Hbr,
        MessageForm::Pbr => Routing::Pbr,
    };
    trailer(class, routing, bits).map_or((false, false), |trailer| (trailer.byte_enables, trailer.metadata))
}

/// Whether byte enables travel even if all of them are 1: in 256B flits the header announces them, in 68B flits nothing but the
/// opcode asks for them.
fn always_enables(form: MessageForm, class: Class, bits: u128) -> bool {
    let is_partial = || cxl68::message::M2sRwd::from_bits(bits).opcode == cxl68::code::M2sRwdOpcode::MemWrPtl;
    form != MessageForm::Cxl68 || class == Class::M2sRwd && is_partial()
}

fn data(
    form: MessageForm,
    class: Class,
    def: &'static LayoutDef,
    bits: u128,
    payload: &[u8],
) -> Result<Data, PackedError> {
    let (line, behind) = payload.split_at(64);
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    let (enables, metadata) = (number(&behind[..8]), number(&behind[8..]));
    let (may_enable, may_describe) = may_have(form, class, bits);
    let first = def.len_bytes() + 64;
    let none = |what, first, last, found, expected| {
        Err(PackedError::Payload { layout: def.name, what, first, last, found, expected })
    };
    if !may_enable && enables != u64::MAX {
        return none("byte enables", first, first + 7, enables, u64::MAX);
    }
    if !may_describe && metadata != 0 {
        return none("metadata", first + 8, first + 11, metadata, 0);
    }
    let has_enables = may_enable && (enables != u64::MAX || always_enables(form, class, bits));
    let mut data = Data::line([0; 64]);
    data.line.copy_from_slice(line);
    data.byte_enables = has_enables.then_some(enables);
    data.metadata = may_describe.then_some(metadata as u32);
    Ok(data)
}

impl From<MessageFormError> for PackedError {
    fn from(error: MessageFormError) -> PackedError {
        PackedError::NotCarried(error.to_string())
    }
}

impl Message {
    /// The bytes of the message in its channel.
    ///
    /// # Errors
    /// The link cannot carry it, see [`MessageFormError`].
    pub fn to_packed(&self, form: MessageForm) -> Result<Vec<u8>, MessageFormError> {
        let (def, bits) = self.spell(form)?;
        let mut bytes = def.to_bytes(bits);
        if let Some(data) = self.data() {
            bytes.extend(data.line);
            bytes.extend(data.byte_enables.unwrap_or(u64::MAX).to_le_bytes());
            bytes.extend(data.metadata.unwrap_or(0).to_le_bytes());
        }
        Ok(bytes)
    }

    /// The message of bytes in the channel of a class.
    ///
    /// # Errors
    /// The bytes are no such message, see [`PackedError`].
    pub fn from_packed(form: MessageForm, class: Class, bytes: &[u8]) -> Result<Message, PackedError> {
        let def = form.layout(class).ok_or(MessageFormError::Class { class })?;
        let (header, found) = (def.len_bytes(), bytes.len());
        let (payload, expected) = match form.packed_bytes(class) {
            Some(expected) if class.has_data() => (", 64 of data, 8 of byte enables, 4 of metadata", expected),
            _ => ("", header),
        };
        if found != expected {
            return Err(PackedError::Length { layout: def.name, found, expected, header, payload });
        }
        let (header, payload) = bytes.split_at(header);
        let bits = def.from_bytes(header)?;
        if let Some(valid) = def.fields.iter().find(|f| f.name == "valid" && f.extract(bits) == 0) {
            return Err(PackedError::value(def, valid, bits, 1, ""));
        }
        def.check_packed(bits, &[])?;
        let data = if class.has_data() { data(form, class, def, bits, payload)? } else { Data::line([0; 64]) };
        let message = Message::read(class, form, bits, data);
        let (_, meant) = message.spell(form)?;
        match def.fields.iter().find(|f| f.extract(bits) != f.extract(meant)) {
            Some(field) => {
                let meant = field.value(meant);
                Err(PackedError::value(def, field, bits, meant, ", as the model has no other use of it"))
            }
            None => Ok(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{D2hData, M2sReq, M2sRwd, S2mDrs};
    use super::*;
    use crate::cxl::cxl256::code::{M2sReqOpcode, M2sRwdOpcode, MetaField};

    const FORMS: [MessageForm; 3] = [MessageForm::Cxl68, MessageForm::Hbr, MessageForm::Pbr];

    fn messages() -> Vec<Message> {
        let line = core::array::from_fn(|n| n as u8);
        let partial = Data { byte_enables: Some(0xf0), ..Data::line(line) };
        let whole = Data { byte_enables: Some(u64::MAX), ..Data::line(line) };
        let rwd = |opcode| M2sRwd { opcode, meta_field: MetaField::NoOp, tag: 7, address: 0x1240, ..M2sRwd::default() };
        let drs = S2mDrs { meta_field: MetaField::NoOp, tag: 9, poison: true, ..S2mDrs::default() };
        vec![
            Message::M2sReq(M2sReq { opcode: M2sReqOpcode::MemRd, tag: 3, address: 0x40, ..M2sReq::default() }),
            Message::M2sRwd(rwd(M2sRwdOpcode::MemWr), Data::line(line)),
            Message::M2sRwd(rwd(M2sRwdOpcode::MemWrPtl), partial),
            Message::M2sRwd(rwd(M2sRwdOpcode::MemWrPtl), whole),
            Message::S2mDrs(drs, Data::line(line)),
            Message::D2hData(D2hData { uqid: 5, ..D2hData::default() }, partial),
        ]
    }

    #[test]
    fn every_message_comes_back() {
        for form in FORMS {
            for message in messages() {
                let bytes = message.to_packed(form).expect("the link carries it");
                assert_eq!(Some(bytes.len()), form.packed_bytes(message.class()));
                assert_eq!(Message::from_packed(form, message.class(), &bytes), Ok(message), "{form:?}");
            }
        }
    }

    /// Of any bits: what is taken is what would be sent.
    #[test]
    fn what_is_taken_keeps_every_bit() {
        let mut state = 1u64;
        let mut taken = 0;
        for message in messages().into_iter().cycle().take(6000) {
            for form in FORMS {
                let mut bytes = message.to_packed(form).expect("the link carries it");
                for _ in 0..2 {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    let bit = (state >> 33) as usize % (8 * bytes.len());
                    bytes[bit / 8] ^= 1 << (bit % 8);
                }
                if let Ok(read) = Message::from_packed(form, message.class(), &bytes) {
                    assert_eq!(read.to_packed(form), Ok(bytes), "{form:?}");
                    taken += 1;
                }
            }
        }
        assert!((6000..18_000).contains(&taken), "{taken}");
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let read =
            |form, class, bytes: &[u8]| Message::from_packed(form, class, bytes).expect_err("no message").to_string();
        let [request, write, .., answer, _] = &messages()[..] else { unreachable!() };
        let packed = |message: &Message, form, bit: usize| {
            let mut bytes = message.to_packed(form).expect("the link carries it");
            bytes[bit / 8] ^= 1 << (bit % 8);
            read(form, message.class(), &bytes)
        };
        assert_eq!(
            read(MessageForm::Cxl68, Class::M2sRwd, &[0; 11]),
            "cxl68.m2s_rwd: found 11 bytes, expected 87: 11 of the header, 64 of data, 8 of byte enables, 4 of metadata"
        );
        assert_eq!(
            read(MessageForm::Hbr, Class::M2sReq, &[0; 12]),
            "cxl256.m2s_req: found 12 bytes, expected 13: 13 of the header"
        );
        assert_eq!(
            packed(request, MessageForm::Cxl68, 0),
            "cxl68.m2s_req: field `valid` at bits 0: found 0x0, expected 0x1"
        );
        let reserved = packed(write, MessageForm::Cxl68, 81);
        assert!(reserved.contains("reserved field `rsvd` is not 0: found 0x1, expected 0"), "{reserved}");
        assert_eq!(
            packed(write, MessageForm::Hbr, 8 * 78),
            "cxl256.m2s_rwd: byte enables at bytes 77 to 84: found 0xfffffffffffffeff, expected 0xffffffffffffffff, since the \
             message has none"
        );
        assert_eq!(
            packed(answer, MessageForm::Cxl68, 8 * 78),
            "cxl68.s2m_drs: metadata at bytes 77 to 80: found 0x100, expected 0x0, since the message has none"
        );
        assert!(read(MessageForm::Cxl68, Class::S2mBisnp, &[]).contains("expected a message that 68B flits carry"));
        let key = Class::M2sRwd.def(Routing::Hbr).field("ckid").expect("it has one");
        let found = packed(write, MessageForm::Hbr, key.lsb as usize);
        assert!(found.contains("field `ckid`") && found.contains("found 0x1, expected 0x0"), "{found}");
    }
}
