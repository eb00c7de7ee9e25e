//! A request or a response as bytes of one length: in a channel that RTL or a caller drives and samples.
//!
//! Modelled: the uncompressed field as its layout spells it, byte 0 first, then 256 bytes of data (beat 0 first; those that the field
//! does not have are zeros), of a request 32 bytes of byte enables (bit i for byte i of the block; ones where it has none), then one
//! byte whose bit i says that beat i is known to be wrong. Left out: what links decide, which is 0: credits by pool, the address cache,
//! tags of authentication. The sheet has no such form; that there is one is our choice (D).
//!
//! A walk through one: a write of 64 bytes is 305 bytes of which the first 16 are `ualink.tl_req`, the next 64 the data, bytes 272 to
//! 303 the enables.

use super::config::UalConfig;
use super::control::{ControlField, Owed};
use super::field::{TlReq, TlRsp};
use super::half::{HALF_BYTES, Half};
use super::unpack::Transfer;
use crate::wire::{LayoutDef, PackedError, Wire};

/// Bytes of a beat.
const BEAT_BYTES: usize = 2 * HALF_BYTES;
/// Bytes of data of any message: four beats.
const DATA_BYTES: usize = 4 * BEAT_BYTES;
/// Fields of a request that the link decides.
const OF_THE_LINK: [&str; 3] = ["pool", "cway", "cload"];

/// Which of the two classes a channel carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackedTransfer {
    /// Requests.
    Request,
    /// Responses.
    Response,
}

fn not_carried(found: &str, expected: &str) -> PackedError {
    PackedError::NotCarried(format!("ualink: found {found}, expected {expected}"))
}

impl PackedTransfer {
    /// Layout of its field.
    pub const fn layout(self) -> &'static LayoutDef {
        match self {
            PackedTransfer::Request => TlReq::DEF,
            PackedTransfer::Response => TlRsp::DEF,
        }
    }

    /// Bytes of a message: 305 of a request, 265 of a response.
    pub const fn bytes(self) -> usize {
        self.layout().len_bytes() + DATA_BYTES + self.enables_bytes() + 1
    }

    const fn enables_bytes(self) -> usize {
        match self {
            PackedTransfer::Request => HALF_BYTES,
            PackedTransfer::Response => 0,
        }
    }

    /// The bytes of a message in a channel of this class.
    ///
    /// # Errors
    /// [`PackedError::NotCarried`], and fields that do not fit their layout.
    pub fn pack(self, transfer: &Transfer, codec: &UalConfig) -> Result<Vec<u8>, PackedError> {
        let bits = match (self, transfer.field) {
            (PackedTransfer::Request, ControlField::Request(req)) => {
                TlReq { pool: false, cway: 0, cload: false, ..req }.to_bits()?
            }
            (PackedTransfer::Response, ControlField::Response(rsp)) => TlRsp { pool: false, ..rsp }.to_bits()?,
            (_, field) => {
                return Err(not_carried(field.def().name, self.layout().name));
            }
        };
        let Owed { beats, enables } = transfer.field.owed(codec);
        if transfer.data.len() != 2 * beats || transfer.enables.is_some() != enables {
            let found = format!("{} halves of data, enables: {}", transfer.data.len(), transfer.enables.is_some());
            return Err(not_carried(&found, "the data and enables that its field asks for"));
        }
        let mut bytes = self.layout().to_bytes(bits);
        bytes.extend(transfer.data.iter().flatten());
        bytes.resize(self.layout().len_bytes() + DATA_BYTES, 0);
        let ones = [0xff; HALF_BYTES];
        let enables = transfer.enables.as_deref().unwrap_or(&ones);
        bytes.extend(&enables[..self.enables_bytes()]);
        bytes.push(transfer.poisoned);
        Ok(bytes)
    }

    /// The message of bytes in a channel of this class.
    ///
    /// # Errors
    /// The bytes are no such message, see [`PackedError`].
    pub fn unpack(self, bytes: &[u8], codec: &UalConfig) -> Result<Transfer, PackedError> {
        let def = self.layout();
        let (header, layout) = (def.len_bytes(), def.name);
        if bytes.len() != self.bytes() {
            let payload = match self {
                PackedTransfer::Request => ", 256 of data, 32 of byte enables, 1 of poison",
                PackedTransfer::Response => ", 256 of data, 1 of poison",
            };
            return Err(PackedError::Length { layout, found: bytes.len(), expected: self.bytes(), header, payload });
        }
        let bits = def.from_bytes(&bytes[..header])?;
        def.check_packed(bits, &OF_THE_LINK)?;
        let (field, address) = match self {
            PackedTransfer::Request => {
                let req = TlReq::from_bits(bits);
                (ControlField::Request(req), Some(req.address))
            }
            PackedTransfer::Response => (ControlField::Response(TlRsp::from_bits(bits)), None),
        };
        let owed = field.owed(codec);
        let (data, rest) = bytes[header..].split_at(DATA_BYTES);
        let (data, unused) = data.split_at(owed.beats * BEAT_BYTES);
        def.check_absent("data", header + data.len(), unused, 0)?;
        let (enables, poison) = rest.split_at(self.enables_bytes());
        let enables = match (owed.enables, enables.first_chunk::<HALF_BYTES>()) {
            (true, Some(enables)) => Some(*enables),
            _ => {
                def.check_absent("byte enables", header + DATA_BYTES, enables, 0xff)?;
                None
            }
        };
        // One byte is left.
        let poisoned = poison[0];
        if u32::from(poisoned) >> owed.beats != 0 {
            let expected = poisoned & ((1u32 << owed.beats) - 1) as u8;
            def.check_absent("poison", bytes.len() - 1, poison, expected)?;
        }
        let halves: Vec<Half> = data.as_chunks::<HALF_BYTES>().0.to_vec();
        Ok(Transfer {
            address: address.into(),
            data: halves.into_iter().collect(),
            enables: enables.map(Box::new),
            poisoned,
            ..Transfer::new(field)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::code::{RdWr, ReqCmd, Status};
    use super::*;

    const CODEC: UalConfig = UalConfig::SHEET;

    fn write() -> Transfer {
        let req = TlReq { cmd: ReqCmd::Write, numbeats: 1, len: 31, address: 0x1240, tag: 9, ..TlReq::default() };
        let data = (0..4u8).map(|n| [n; HALF_BYTES]).collect();
        let mut enables = [0xff; HALF_BYTES];
        enables[3] = 0x5a;
        let field = ControlField::Request(req);
        Transfer {
            address: Some(0x1240).into(),
            data,
            enables: Some(Box::new(enables)),
            poisoned: 2,
            ..Transfer::new(field)
        }
    }

    #[test]
    fn messages_come_back_as_they_were() {
        let read = ControlField::Request(TlReq { cmd: ReqCmd::Read, address: 0x40, ..TlReq::default() });
        let read = Transfer { address: Some(0x40).into(), ..Transfer::new(read) };
        for request in [write(), read] {
            let bytes = PackedTransfer::Request.pack(&request, &CODEC).expect("it has a form");
            assert_eq!(bytes.len(), 305);
            assert_eq!(PackedTransfer::Request.unpack(&bytes, &CODEC), Ok(request));
        }
        let done = TlRsp { rdwr: RdWr::Write, status: Status::OKAY, tag: 9, ..TlRsp::default() };
        let lines = TlRsp { rdwr: RdWr::Read, len: 3, tag: 8, ..TlRsp::default() };
        let done = Transfer::new(ControlField::Response(done));
        let lines = Transfer {
            data: (0..8u8).map(|n| [n; HALF_BYTES]).collect(),
            ..Transfer::new(ControlField::Response(lines))
        };
        for response in [done, lines] {
            let bytes = PackedTransfer::Response.pack(&response, &CODEC).expect("it has a form");
            assert_eq!(bytes.len(), 265);
            assert_eq!(PackedTransfer::Response.unpack(&bytes, &CODEC), Ok(response));
        }
    }

    #[test]
    fn what_the_link_decides_is_left_to_it() {
        let ControlField::Request(req) = write().field else { unreachable!() };
        let on_link = Transfer { field: ControlField::Request(TlReq { pool: true, cway: 2, ..req }), ..write() };
        let bytes = PackedTransfer::Request.pack(&on_link, &CODEC).expect("it has a form");
        assert_eq!(PackedTransfer::Request.unpack(&bytes, &CODEC), Ok(write()));
        let mut wrong = bytes;
        wrong[0] |= 0b100;
        let text = PackedTransfer::Request.unpack(&wrong, &CODEC).expect_err("a way of the cache").to_string();
        assert_eq!(text, "ualink.tl_req: field `cway` at bits 3:2: found 0x1, expected 0x0: the link decides it");
    }

    #[test]
    fn bytes_that_are_no_message_are_refused_by_name() {
        let bytes = PackedTransfer::Request.pack(&write(), &CODEC).expect("it has a form");
        let refused = |change: &dyn Fn(&mut Vec<u8>), expected: &str| {
            let mut wrong = bytes.clone();
            change(&mut wrong);
            let text = PackedTransfer::Request.unpack(&wrong, &CODEC).expect_err(expected).to_string();
            assert!(text.contains(expected), "{text}");
        };
        refused(&|wrong| wrong.truncate(304), "found 304 bytes, expected 305: 16 of the header");
        refused(&|wrong| wrong[16 + 128] = 1, "data at bytes 144 to 271: found 0x1, expected 0x0");
        refused(&|wrong| wrong[304] = 4, "poison at bytes 304 to 304: found 0x4, expected 0x0");
        // A read has neither data nor enables.
        let read = TlReq { cmd: ReqCmd::Read, ..TlReq::default() };
        let read = Transfer { address: Some(0).into(), ..Transfer::new(ControlField::Request(read)) };
        let mut wrong = PackedTransfer::Request.pack(&read, &CODEC).expect("it has a form");
        wrong[272] = 0xfe;
        let text = PackedTransfer::Request.unpack(&wrong, &CODEC).expect_err("enables").to_string();
        assert!(text.contains("byte enables at bytes 272 to 303: found 0xfe, expected 0xff"), "{text}");
        let text = PackedTransfer::Response.pack(&read, &CODEC).expect_err("a request").to_string();
        assert_eq!(text, "ualink: found ualink.tl_req, expected ualink.tl_rsp");
    }
}
