//! How each kind of link spells a message: its layout and bits, there and back.
//!
//! Modelled: the fields of 68B mode, of 256B mode with hierarchy based and with port based routing. What a link has no
//! field for is left out on the way there and 0 on the way back. Left out: transfers of 32 bytes are read and not made.

use super::{Class, Data, Message};
use crate::cxl::cxl68::stream::Size;
use crate::cxl::{cxl68, cxl256};
use crate::wire::{FieldError, FieldValue, LayoutDef};
use cxl256::Routing;
use std::sync::OnceLock;

/// How a link spells messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageForm {
    /// 68B flits.
    Cxl68,
    /// 256B flits, hierarchy based routing.
    Hbr,
    /// 256B flits, port based routing.
    Pbr,
}

/// A message that a link cannot carry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessageFormError {
    /// The link has no such message.
    #[error("found {class:?}, expected a message that 68B flits carry")]
    Class {
        /// Its class.
        class: Class,
    },
    /// The sheet of the link has no such code.
    #[error("{layout}: field `{field}`: found code {found:#x}, expected a code of this link's flit mode")]
    Code {
        /// Layout on this link.
        layout: &'static str,
        /// The field.
        field: &'static str,
        /// The code.
        found: u128,
    },
    /// A value does not fit.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// 68B flits carry no metadata.
    #[error("{layout}: found metadata, expected none in 68B flits")]
    Metadata {
        /// Layout on this link.
        layout: &'static str,
    },
}

impl From<Routing> for MessageForm {
    fn from(routing: Routing) -> MessageForm {
        match routing {
            Routing::Hbr => MessageForm::Hbr,
            Routing::Pbr => MessageForm::Pbr,
        }
    }
}

impl MessageForm {
    /// Layout of a class; `None`: the link does not have it.
    pub const fn layout(self, class: Class) -> Option<&'static LayoutDef> {
        match self {
            MessageForm::Cxl68 => match class.on_cxl68() {
                Some(class) => Some(class.def()),
                None => None,
            },
            MessageForm::Hbr => Some(class.def(Routing::Hbr)),
            MessageForm::Pbr => Some(class.def(Routing::Pbr)),
        }
    }

    /// Layouts of all classes that the link has; the list is made once.
    pub fn layouts(self) -> &'static [&'static LayoutDef] {
        static LAYOUTS: [OnceLock<Vec<&LayoutDef>>; 3] = [const { OnceLock::new() }; 3];
        LAYOUTS[self as usize].get_or_init(|| Class::ALL.iter().filter_map(|class| self.layout(*class)).collect())
    }

    /// Layouts of all classes that links of these forms have, each once: those of an agent whose links have different flits.
    pub fn layouts_of(forms: impl IntoIterator<Item = MessageForm>) -> &'static [&'static LayoutDef] {
        const ALL: [MessageForm; 3] = [MessageForm::Cxl68, MessageForm::Hbr, MessageForm::Pbr];
        static LAYOUTS: [OnceLock<Vec<&LayoutDef>>; 8] = [const { OnceLock::new() }; 8];
        let set = forms.into_iter().fold(0, |set, form| set | 1usize << form as usize);
        let taken = ALL.into_iter().filter(|form| set >> *form as usize & 1 != 0);
        LAYOUTS[set].get_or_init(|| taken.flat_map(|form| form.layouts().iter().copied()).collect())
    }

    /// Those of a direct peer, whose CXL.mem travels in a fabric, whatever the form of its CXL.cache.
    pub fn peer_layouts(self) -> &'static [&'static LayoutDef] {
        static LAYOUTS: [OnceLock<Vec<&LayoutDef>>; 3] = [const { OnceLock::new() }; 3];
        let of = |class: &Class| if class.is_mem() { MessageForm::Pbr.layout(*class) } else { self.layout(*class) };
        LAYOUTS[self as usize].get_or_init(|| Class::ALL.iter().filter_map(of).collect())
    }
}

/// The header of a message in each form.
pub(super) trait Spelling: Sized {
    fn to_bits(&self, form: MessageForm) -> Result<u128, MessageFormError>;
    /// What the form has no field for is 0.
    fn from_bits(form: MessageForm, bits: u128) -> Self;
    /// What comes out of 68B flits, as [`Spelling::from_bits`] gives it of [`Spelling::to_bits`]; `None` where that is refused.
    fn behind_cxl68(&self) -> Option<Self>;
    /// Whether the sheet of 68B flits names all of its codes.
    fn is_named_in_cxl68(&self) -> bool;
}

/// A value in the type that another sheet gives it.
pub(super) fn carry<A: FieldValue, B: FieldValue>(
    layout: &'static str,
    field: &'static str,
    value: A,
) -> Result<B, MessageFormError> {
    let found = value.to_raw();
    if keeps_meaning::<A, B>(found) {
        Ok(B::from_raw(found))
    } else {
        Err(MessageFormError::Code { layout, field, found })
    }
}

/// Whether a code means the same in both sheets. One that neither names travels as it is; one that only the sheet of the sender
/// names would change its meaning.
#[inline(always)]
fn keeps_meaning<A: FieldValue, B: FieldValue>(found: u128) -> bool {
    !A::is_named(found) || B::is_named(found)
}

/// Whether a field of a link carries a value: [`carry`] takes it, and none of its bits is `outside` of the field. `_of` says of
/// which type the field is. Of a code that is one look into a mask of the codes that are carried.
#[inline(always)]
pub(super) fn is_carried<A: FieldValue, B: FieldValue, W>(outside: u128, value: A, _of: impl Fn(W) -> B) -> bool {
    let found = value.to_raw();
    let carried = const { !named_codes::<A>() | named_codes::<B>() };
    // What fits into the field is below 64, as the compiler then knows.
    found & outside == 0
        && match A::CODES {
            None => true,
            Some(_) if found < 64 => carried >> found & 1 == 1,
            Some(_) => keeps_meaning::<A, B>(found),
        }
}

/// Bit n: the sheet of a type names number n, or it has no code table.
const fn named_codes<A: FieldValue>() -> u64 {
    match A::CODES {
        Some(table) => table.named(),
        None => u64::MAX,
    }
}

/// Whether the sheet of a link names a code. `_of` says of which type the field is.
#[inline(always)]
pub(super) fn is_named<A: FieldValue, B: FieldValue, W>(value: A, _of: impl Fn(W) -> B) -> bool {
    B::is_named(value.to_raw())
}

/// The value of a field that was read.
pub(super) fn read<A: FieldValue, B: FieldValue>(value: A) -> B {
    B::from_raw(value.to_raw())
}

/// Implements [`Spelling`] from the list of fields that each form has.
macro_rules! spellings {
    ($name:ident $(cxl68 [$($of_68:ident)*])? hbr [$($of_hbr:ident)*] pbr [$($of_pbr:ident)*]) => {
        impl form::Spelling for $name {
            fn to_bits(&self, form: MessageForm) -> Result<u128, MessageFormError> {
                use crate::wire::Wire;
                match form {
                    $(MessageForm::Cxl68 => form::spelling!(self, crate::cxl::cxl68::message::$name [$($of_68)*]),)?
                    MessageForm::Hbr => form::spelling!(self, crate::cxl::cxl256::message::$name [$($of_hbr)*]),
                    MessageForm::Pbr => form::spelling!(self, crate::cxl::cxl256::pbr::$name [$($of_pbr)*]),
                    #[allow(unreachable_patterns)]
                    MessageForm::Cxl68 => Err(MessageFormError::Class { class: Class::$name }),
                }
            }

            // A form may have every field of a message.
            #[allow(clippy::needless_update)]
            fn from_bits(form: MessageForm, bits: u128) -> $name {
                use crate::wire::Wire;
                match form {
                    $(MessageForm::Cxl68 => form::reading!($name, crate::cxl::cxl68::message::$name, bits, [$($of_68)*]),)?
                    MessageForm::Hbr => form::reading!($name, crate::cxl::cxl256::message::$name, bits, [$($of_hbr)*]),
                    MessageForm::Pbr => form::reading!($name, crate::cxl::cxl256::pbr::$name, bits, [$($of_pbr)*]),
                    #[allow(unreachable_patterns)]
                    MessageForm::Cxl68 => $name::default(),
                }
            }

            // A form may have every field of a message, or none.
            #[allow(clippy::needless_update, unreachable_code)]
            #[inline]
            fn behind_cxl68(&self) -> Option<$name> {
                $(return form::behind!(self, $name, crate::cxl::cxl68::message::$name, [$($of_68)*]);)?
                None
            }

            #[allow(unreachable_code)]
            #[inline]
            fn is_named_in_cxl68(&self) -> bool {
                $(return form::named!(self, crate::cxl::cxl68::message::$name, [$($of_68)*]);)?
                false
            }
        }
    };
}

macro_rules! behind {
    ($message:expr, $name:ident, $wire:path, [$($field:ident)*]) => {{
        type Wire = $wire;
        let is_carried = $(form::is_carried(
            const { <Wire as crate::wire::Wire>::DEF.known_field(stringify!($field)).outside() },
            $message.$field,
            |wire: Wire| wire.$field,
        ))&&*;
        is_carried.then(|| $name { $($field: $message.$field,)* ..$name::default() })
    }};
}

macro_rules! named {
    ($message:expr, $wire:path, [$($field:ident)*]) => {{
        type Wire = $wire;
        $(form::is_named($message.$field, |wire: Wire| wire.$field))&&*
    }};
}

macro_rules! spelling {
    ($message:expr, $wire:path [$($field:ident)*]) => {{
        type Wire = $wire;
        let layout = Wire::DEF.name;
        let wire = Wire {
            $($field: form::carry(layout, stringify!($field), $message.$field)?,)*
            ..Wire::default()
        };
        Ok(wire.to_bits()?)
    }};
}

macro_rules! reading {
    ($name:ident, $wire:path, $bits:expr, [$($field:ident)*]) => {{
        type Wire = $wire;
        let wire = Wire::from_bits($bits);
        $name { $($field: form::read(wire.$field),)* ..$name::default() }
    }};
}

pub(super) use {behind, named, reading, spelling, spellings};

/// Classes of the twelve by those of 68B flits.
const OF_CXL68: [Class; cxl68::message::Class::ALL.len()] = {
    let mut classes = [Class::ALL[0]; cxl68::message::Class::ALL.len()];
    let mut n = 0;
    while n < Class::COUNT {
        if let Some(class) = Class::ALL[n].on_cxl68() {
            classes[class as usize] = Class::ALL[n];
        }
        n += 1;
    }
    classes
};

impl Message {
    /// Layout and bits on a link, without valid data: the message or data header.
    ///
    /// # Errors
    /// The link cannot carry it, see [`MessageFormError`].
    pub fn spell(&self, form: MessageForm) -> Result<(&'static LayoutDef, u128), MessageFormError> {
        let class = self.class();
        let def = form.layout(class).ok_or(MessageFormError::Class { class })?;
        let bits = self.header_bits(form)?;
        // In 256B flits a bit of the header announces the trailer; 68B flits have none.
        let has_trailer = self.data().is_some_and(|d| d.byte_enables.is_some() || d.metadata.is_some());
        if !has_trailer {
            return Ok((def, bits));
        }
        let flag = def.fields.iter().find(|f| f.name == "trp" || f.name == "bep");
        Ok((def, bits | flag.map_or(0, |f| 1 << f.lsb)))
    }

    /// The message for a link with 68B flits; a line travels whole.
    ///
    /// # Errors
    /// 68B flits cannot carry it, see [`MessageFormError`].
    pub fn to_cxl68(&self) -> Result<cxl68::stream::Cxl68Message, MessageFormError> {
        let class = self.class().on_cxl68().ok_or(MessageFormError::Class { class: self.class() })?;
        let (def, bits) = self.spell(MessageForm::Cxl68)?;
        if self.data().is_some_and(|d| d.metadata.is_some()) {
            return Err(MessageFormError::Metadata { layout: def.name });
        }
        let line = |d: &Data| cxl68::stream::Data { bytes: d.line, size: Size::Line, byte_enables: d.byte_enables };
        Ok(cxl68::stream::Cxl68Message { class, bits, data: self.data().map(line) })
    }

    /// Becomes what the peer reads behind 68B flits, as [`Message::from_cxl68`] gives it of [`Message::to_cxl68`]: identifiers of
    /// the other routing are 0. It is done without the bits, where the message lies: a message crosses a link in 340 instructions
    /// less (callgrind, profile `dev`).
    ///
    /// # Errors
    /// 68B flits cannot carry it, see [`MessageFormError`]; nothing has changed.
    #[inline]
    pub fn pass_cxl68(&mut self) -> Result<(), MessageFormError> {
        let has_metadata = self.data().is_some_and(|data| data.metadata.is_some());
        if has_metadata || !self.header_behind_cxl68() {
            // The long way names what is wrong.
            *self = Message::from_cxl68(&self.to_cxl68()?);
        }
        if let Message::M2sReq(request) = self {
            request.address &= !63;
        }
        Ok(())
    }

    /// A message of a link with 68B flits. Half a line becomes a line with byte enables; bit 5 of a read address, a hint
    /// which half is wanted first, is lost.
    pub fn from_cxl68(message: &cxl68::stream::Cxl68Message) -> Message {
        let data = message.data.map_or(Data::line([0; 64]), |d| {
            let byte_enables = if d.size == Size::Line { d.byte_enables } else { Some(d.enabled()) };
            Data { line: d.bytes, byte_enables, metadata: None }
        });
        let mut read = Message::read(OF_CXL68[message.class as usize], MessageForm::Cxl68, message.bits, data);
        if let Message::M2sReq(request) = &mut read {
            request.address &= !63;
        }
        read
    }

    /// The message for a link with 256B flits.
    ///
    /// # Errors
    /// A value does not fit, see [`MessageFormError`].
    #[inline]
    pub fn to_cxl256(&self, routing: Routing) -> Result<cxl256::stream::Cxl256Message, MessageFormError> {
        let (_, bits) = self.spell(routing.into())?;
        Ok(cxl256::stream::Cxl256Message { class: self.class(), bits, data: self.data().copied() })
    }

    /// A message of a link with 256B flits.
    #[inline]
    pub fn from_cxl256(message: &cxl256::stream::Cxl256Message, routing: Routing) -> Message {
        Message::read(message.class, routing.into(), message.bits, message.data.unwrap_or(Data::line([0; 64])))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{M2sReq, M2sRwd, S2mBisnp, S2mNdr};
    use super::*;
    use crate::cxl::cxl256::code::{M2sReqOpcode, M2sRwdOpcode, MetaField, NdrOpcode};

    fn write() -> Message {
        let header = M2sRwd {
            opcode: M2sRwdOpcode::MemWrPtl,
            meta_field: MetaField::NoOp,
            tag: 0xabcd,
            address: 0x1_2345_6780 & !63,
            ld_id: 3,
            spid: 0x111,
            dpid: 0x222,
            ..M2sRwd::default()
        };
        Message::M2sRwd(header, Data { line: [7; 64], byte_enables: Some(0xf0), metadata: None })
    }

    /// Each link gives back what it has fields for.
    #[test]
    fn a_message_survives_every_link() {
        let Message::M2sRwd(sent, data) = write() else { unreachable!() };
        let without_ports = Message::M2sRwd(M2sRwd { spid: 0, dpid: 0, ..sent }, data);
        let without_ld = Message::M2sRwd(M2sRwd { ld_id: 0, ..sent }, data);
        assert_eq!(Message::from_cxl68(&write().to_cxl68().expect("68B has it")), without_ports);
        for (routing, left) in [(Routing::Hbr, without_ports), (Routing::Pbr, without_ld)] {
            let wire = write().to_cxl256(routing).expect("it fits");
            assert!(cxl256::stream::trailer(wire.class, routing, wire.bits).is_some(), "byte enables are announced");
            assert_eq!(Message::from_cxl256(&wire, routing), left);
        }
    }

    #[test]
    fn what_a_link_cannot_say_is_refused() {
        let m = |opcode| Message::S2mNdr(S2mNdr { opcode, ..S2mNdr::default() });
        assert!(matches!(m(NdrOpcode::CmpM).to_cxl68(), Err(MessageFormError::Code { field: "opcode", found: 3, .. })));
        assert!(m(NdrOpcode::CmpM).to_cxl256(Routing::Hbr).is_ok());
        let snoop = Message::S2mBisnp(S2mBisnp::default());
        assert_eq!(snoop.to_cxl68(), Err(MessageFormError::Class { class: Class::S2mBisnp }));
        let request = M2sReq { opcode: M2sReqOpcode::MemRd, address: 1 << 52, ..M2sReq::default() };
        assert!(matches!(Message::M2sReq(request).to_cxl68(), Err(MessageFormError::Field(_))));
    }

    /// What comes out of 68B flits is known without their bits, of any message: every field, every code, in range or not.
    #[test]
    fn what_comes_out_of_68b_flits_is_known_without_them() {
        let (mut state, mut seen) = (1u64, [0; 3]);
        let mut number = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for class in Class::ALL.into_iter().cycle().take(12_000) {
            let routing = [Routing::Hbr, Routing::Pbr][number(2) as usize];
            let mut bits = (0..5).fold(0, |bits, _| bits << 31 | u128::from(number(1 << 31)));
            // Two in three have an address of 52 bits and codes near 0.
            for field in class.def(routing).fields.iter().filter(|_| number(3) > 0) {
                let most = if field.name == "address" { 52 - field.address_lsb } else { field.width.min(3) };
                bits &= !(field.max_raw() << field.lsb) | ((1 << most.min(field.width)) - 1) << field.lsb;
            }
            let data = Data {
                line: [number(256) as u8; 64],
                byte_enables: (number(2) == 0).then(|| number(1 << 31)),
                metadata: (number(30) == 0).then_some(7),
            };
            let message = Message::read(class, routing.into(), bits, data);
            let spelled = message.to_cxl68();
            let mut passed = message;
            let result = passed.pass_cxl68().map(|()| passed);
            assert_eq!(result, spelled.clone().map(|m| Message::from_cxl68(&m)), "{message:?}");
            assert!(result.is_ok() || passed == message);
            let Ok(spelled) = spelled else {
                seen[0] += 1;
                continue;
            };
            let def = spelled.class.def();
            let is_sound = def.codes_are_sound(spelled.bits);
            assert!(def.cross_check.is_some() || message.is_named_in_cxl68() == is_sound, "{message:?}");
            assert!(message.is_named_in_cxl68() || !is_sound);
            seen[1 + usize::from(is_sound)] += 1;
        }
        assert!(seen.iter().all(|n| *n > 500), "{seen:?} refused, with reserved codes, sound");
    }

    #[test]
    fn half_a_line_becomes_byte_enables() {
        let data = cxl68::stream::Data { bytes: [1; 64], size: Size::UpperHalf, byte_enables: None };
        let wire = cxl68::stream::Cxl68Message::with_data(cxl68::message::Class::D2hData, 1, data);
        let read = Message::from_cxl68(&wire);
        assert_eq!(read.data().and_then(|d| d.byte_enables), Some(0xffff_ffff_0000_0000));
    }
}
