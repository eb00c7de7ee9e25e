//! What the packer of 68B flits asks of a message, and which messages it takes.
//!
//! Modelled: class and data of a message, whatever form it is in; the rules that a message by itself must obey before it is
//! queued. Left out: where it goes, see [`super::packer`].
//!
//! A walk through one message of an agent: for a link with bytes it is spelled in bits ([`Message::to_cxl68`]); for one without,
//! [`pass`] makes of it what the peer would read of those bits. Then [`Packable::admit`] judges it, and the packer queues it.

use super::Dir;
use super::code::DrsOpcode;
use super::config::{Cxl68Config, Revision};
use super::message::{Class, D2hData, H2dData, S2mDrs};
use super::stream::{Cxl68Message, Data, Size};
use crate::cxl::message::{Message, MessageFormError};
use crate::wire::Wire;

/// A message as the packer decides on it: its class, and the data behind it. Flits with bytes are packed of messages that have
/// their bits ([`Cxl68Message`]), flits without of the agents' own ([`Message`]).
pub trait Packable: Copy {
    /// Its class.
    fn class(&self) -> Class;

    /// What travels behind it, if anything does.
    fn payload(&self) -> Option<DataShape>;

    /// The same as data, to cut chunks from.
    fn data(&self) -> Option<Data>;

    /// Judges it before it is queued.
    ///
    /// # Errors
    /// See [`Cxl68Refused`].
    fn admit(&self, dir: Dir) -> Result<(), Cxl68Refused>;

    /// Whether it is data of an address without memory.
    fn is_nxm(&self) -> bool;

    /// Takes away what this end does not send.
    fn keep_sent(&mut self, config: &Cxl68Config);
}

/// What travels of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataShape {
    /// How much of it.
    pub size: Size,
    /// Whether a chunk of byte enables follows.
    pub has_byte_enables: bool,
}

impl DataShape {
    /// Chunks owed for it.
    #[inline]
    pub const fn chunks(self) -> usize {
        self.size.chunks() + self.has_byte_enables as usize
    }
}

impl Packable for Cxl68Message {
    #[inline]
    fn class(&self) -> Class {
        self.class
    }

    #[inline]
    fn payload(&self) -> Option<DataShape> {
        let shape = |data: &Data| DataShape { size: data.size, has_byte_enables: data.byte_enables.is_some() };
        self.data.as_ref().map(shape)
    }

    #[inline]
    fn data(&self) -> Option<Data> {
        self.data
    }

    fn admit(&self, dir: Dir) -> Result<(), Cxl68Refused> {
        admit(dir, self)
    }

    #[inline]
    fn is_nxm(&self) -> bool {
        self.class == Class::S2mDrs && S2mDrs::from_bits(self.bits).opcode == DrsOpcode::MemDataNXM
    }

    #[inline]
    fn keep_sent(&mut self, config: &Cxl68Config) {
        if self.class == Class::M2sReq && !config.send_address_bit_5 {
            self.bits &= !ADDRESS_BIT_5;
        }
        if config.revision == Revision::V1_1 {
            self.bits &= !self.class.reserved_in_1_1();
        }
    }
}

/// As it comes out of 68B flits: [`pass`] makes it so.
impl Packable for Message {
    #[inline]
    fn class(&self) -> Class {
        Message::class(self).on_cxl68().unwrap_or_else(|| unreachable!("68B flits carry what `pass` leaves"))
    }

    #[inline]
    fn payload(&self) -> Option<DataShape> {
        Message::data(self).map(|data| DataShape { size: Size::Line, has_byte_enables: data.byte_enables.is_some() })
    }

    fn data(&self) -> Option<Data> {
        Message::data(self).map(|data| Data { bytes: data.line, size: Size::Line, byte_enables: data.byte_enables })
    }

    #[inline]
    fn admit(&self, dir: Dir) -> Result<(), Cxl68Refused> {
        let class = Packable::class(self);
        let has_byte_enables = Message::data(self).is_some_and(|data| data.byte_enables.is_some());
        if class.dir() != dir || has_byte_enables && !class.may_have_byte_enables() {
            return self
                .to_cxl68()
                .map_or(Err(Cxl68Refused::NotValid { layout: class.def().name }), |m| admit(dir, &m));
        }
        Ok(())
    }

    #[inline]
    fn is_nxm(&self) -> bool {
        matches!(self, Message::S2mDrs(header, _) if header.opcode.0 == DrsOpcode::MemDataNXM.0)
    }

    #[inline]
    fn keep_sent(&mut self, _: &Cxl68Config) {}
}

/// Makes of a message of an agent what the peer of an end has of it from flits without bytes.
///
/// # Errors
/// 68B flits cannot carry it; nothing has changed.
#[inline]
pub fn pass(message: &mut Message, config: &Cxl68Config) -> Result<(), MessageFormError> {
    if config.revision == Revision::V1_1 {
        let mut spelled = message.to_cxl68()?;
        spelled.keep_sent(config);
        *message = Message::from_cxl68(&spelled);
        return Ok(());
    }
    message.pass_cxl68()
}

/// A message that must not be sent in 68B mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cxl68Refused {
    /// Travels the other way.
    #[error("{layout}: found direction {found}, expected {expected}")]
    Direction {
        /// Layout of the message.
        layout: &'static str,
        /// Direction of the packer.
        found: &'static str,
        /// Direction of the message.
        expected: &'static str,
    },
    /// Data where there must be none, or none where there must be some.
    #[error("{layout}: found {found}, expected {expected}")]
    DataPresence {
        /// Layout of the message.
        layout: &'static str,
        /// What it came with.
        found: &'static str,
        /// What it must come with.
        expected: &'static str,
    },
    /// 32 B where only 64 B is legal (CXL68-HDR-03).
    #[error("{layout}: found a 32 B transfer, expected 64 B (CXL68-HDR-03)")]
    Size {
        /// Layout of the message.
        layout: &'static str,
    },
    /// Byte enables where there must be none (CXL68-HDR-04).
    #[error("{layout}: found byte enables, expected none (CXL68-HDR-04)")]
    ByteEnables {
        /// Layout of the message.
        layout: &'static str,
    },
    /// ChunkValid of a 32 B transfer does not name the half that travels (CXL68-MSG-12).
    #[error("{layout}: chunk_valid is {found}, expected {expected} for the half that travels (CXL68-MSG-12)")]
    ChunkValid {
        /// Layout of the message.
        layout: &'static str,
        /// The bit.
        found: u8,
        /// The bit that fits.
        expected: u8,
    },
    /// An opcode of later revisions that this end does not send (CXL68-ENC-06).
    #[error("{layout}: found opcode MemDataNXM, expected MemData unless `send_nxm` is set (CXL68-ENC-06)")]
    NotSent {
        /// Layout of the message.
        layout: &'static str,
    },
    /// The valid bit is 0.
    #[error("{layout}: valid is 0, expected 1")]
    NotValid {
        /// Layout of the message.
        layout: &'static str,
    },
}

/// Judges a message before it is queued.
///
/// # Errors
/// See [`Cxl68Refused`].
pub fn admit(dir: Dir, message: &Cxl68Message) -> Result<(), Cxl68Refused> {
    let class = message.class;
    let layout = class.def().name;
    if class.dir() != dir {
        return Err(Cxl68Refused::Direction { layout, found: dir.name(), expected: class.dir().name() });
    }
    if message.bits & 1 == 0 {
        return Err(Cxl68Refused::NotValid { layout });
    }
    let data = match (class.has_data(), message.data) {
        (false, None) => return Ok(()),
        (true, Some(data)) => data,
        (false, Some(_)) => {
            return Err(Cxl68Refused::DataPresence { layout, found: "data", expected: "none" });
        }
        (true, None) => return Err(Cxl68Refused::DataPresence { layout, found: "no data", expected: "data" }),
    };
    if data.size != Size::Line && !class.may_be_32_bytes() {
        return Err(Cxl68Refused::Size { layout });
    }
    if data.byte_enables.is_some() && !class.may_have_byte_enables() {
        return Err(Cxl68Refused::ByteEnables { layout });
    }
    let chunk_valid = match class {
        Class::D2hData => D2hData::from_bits(message.bits).chunk_valid,
        Class::H2dData => H2dData::from_bits(message.bits).chunk_valid,
        _ => false,
    };
    if data.size != Size::Line && chunk_valid != (data.size == Size::UpperHalf) {
        return Err(Cxl68Refused::ChunkValid { layout, found: chunk_valid.into(), expected: (!chunk_valid).into() });
    }
    Ok(())
}

/// Bit 28 of an M2S Req: Addr\[5\].
const ADDRESS_BIT_5: u128 = 1 << 28;
