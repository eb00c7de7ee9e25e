//! Slot formats: which messages stand where in a 128-bit slot (`cxl-68b` section 3).
//!
//! A slot is a `u128`; bit 0 is bit 0 of its first byte. In slot 0 of a protocol flit bits 31:0 are the flit header, so
//! the H formats start at bit 32, as the sheet counts. The first NDR of up H4, G4 and G5 is split: its DevLoad stands
//! behind the second NDR. Down G4 and G5 have a pad bit at 87.

use super::Dir;
use super::config::Revision;
use super::message::Class;

/// Place of one message in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cxl68SlotPlace {
    /// What stands there.
    pub class: Class,
    /// First bit in the slot.
    pub lsb: u8,
    /// Bits that stand at `lsb`: the whole message, or an NDR without its DevLoad.
    pub width: u8,
    /// Where the DevLoad (bits 29:28) of a split NDR stands.
    pub devload_lsb: Option<u8>,
    /// The valid bit, as a mask of the slot; `valid` and `message` are made of `lsb` and `width`.
    valid: u128,
    /// Mask of the bits of the message that stand at `lsb`, moved down to bit 0.
    message: u128,
}

const fn mask(bits: u8) -> u128 {
    (1 << bits) - 1
}

/// Bits of an NDR before its DevLoad; the whole NDR of 1.1.
const NDR_HEAD_BITS: u8 = 28;
/// Bits of a DevLoad.
const DEVLOAD_BITS: u8 = 2;

impl Cxl68SlotPlace {
    /// The message at this place.
    #[inline]
    pub const fn extract(&self, slot: u128) -> u128 {
        let head = slot >> self.lsb & self.message;
        match self.devload_lsb {
            None => head,
            Some(tail) => head | (slot >> tail & mask(DEVLOAD_BITS)) << NDR_HEAD_BITS,
        }
    }

    /// The slot with a message at this place; bits that have no place in it are lost.
    #[inline]
    pub const fn insert(&self, slot: u128, message: u128) -> u128 {
        let slot = slot & !self.bits() | (message & mask(self.width)) << self.lsb;
        match self.devload_lsb {
            None => slot,
            Some(tail) => slot | (message >> NDR_HEAD_BITS & mask(DEVLOAD_BITS)) << tail,
        }
    }

    /// The slot bits that the message takes.
    pub const fn bits(&self) -> u128 {
        let head = mask(self.width) << self.lsb;
        match self.devload_lsb {
            None => head,
            Some(tail) => head | mask(DEVLOAD_BITS) << tail,
        }
    }

    /// Whether the valid bit at this place is set.
    #[inline]
    pub const fn is_valid(&self, slot: u128) -> bool {
        slot & self.valid != 0
    }
}

/// What a slot holds by its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotContent {
    /// Messages at fixed places.
    Messages(&'static [Cxl68SlotPlace]),
    /// A data chunk or byte enables (G0).
    Data,
    /// The MAC of an IDE epoch, bits 127:32 (H6).
    Mac,
}

/// One row of the format tables.
#[derive(Debug, PartialEq, Eq)]
pub struct SlotFormat {
    /// `H0` to `H6`, `G0` to `G6`.
    pub name: &'static str,
    /// Code in the flit header.
    pub code: u8,
    /// Direction of the flit.
    pub dir: Dir,
    /// Whether it may hold several data headers (MDH).
    pub mdh: bool,
    /// What stands in it.
    pub content: SlotContent,
    /// Bit n: it has a place for the class of [`Class::index`] n.
    pub class_set: u16,
    /// Valid bits of its places.
    pub valid_bits: u128,
    /// Reserved bits of the messages at its places.
    pub reserved_in_messages: u128,
}

impl SlotFormat {
    /// Whether any message in it is valid.
    #[inline]
    pub const fn any_valid(&self, slot: u128) -> bool {
        slot & self.valid_bits != 0
    }

    /// Places of messages, in order of the format; empty for data and MAC slots.
    #[inline]
    pub const fn places(&self) -> &'static [Cxl68SlotPlace] {
        match self.content {
            SlotContent::Messages(places) => places,
            _ => &[],
        }
    }

    /// Places of messages that data follows.
    pub(super) const fn data_headers(&self) -> usize {
        let places = self.places();
        let (mut n, mut headers) = (0, 0);
        while n < places.len() {
            headers += places[n].class.has_data() as usize;
            n += 1;
        }
        headers
    }

    /// Whether it belongs to slot 0.
    pub const fn is_header(&self) -> bool {
        self.name.as_bytes()[0] == b'H'
    }

    /// Slot bits that no message, data or header takes: sent 0, ignored.
    pub const fn reserved_bits(&self) -> u128 {
        let mut used = if self.is_header() { 0xffff_ffff } else { 0 };
        match self.content {
            SlotContent::Messages(places) => {
                let mut i = 0;
                while i < places.len() {
                    used |= places[i].bits();
                    i += 1;
                }
            }
            SlotContent::Data | SlotContent::Mac => used = u128::MAX,
        }
        !used
    }
}

const fn place(class: Class, lsb: u8, width: u8, devload_lsb: Option<u8>) -> Cxl68SlotPlace {
    Cxl68SlotPlace { class, lsb, width, devload_lsb, valid: 1 << lsb, message: mask(width) }
}

const fn at(class: Class, lsb: u8) -> Cxl68SlotPlace {
    place(class, lsb, class.def().bits as u8, None)
}

/// An NDR whose DevLoad stands elsewhere.
const fn split(lsb: u8, devload_lsb: u8) -> Cxl68SlotPlace {
    place(Class::S2mNdr, lsb, NDR_HEAD_BITS, Some(devload_lsb))
}

/// An NDR of 1.1, without DevLoad.
const fn short(lsb: u8) -> Cxl68SlotPlace {
    place(Class::S2mNdr, lsb, NDR_HEAD_BITS, None)
}

const fn row(dir: Dir, name: &'static str, code: u8, mdh: bool, places: &'static [Cxl68SlotPlace]) -> SlotFormat {
    let (mut class_set, mut valid_bits, mut reserved_in_messages, mut i) = (0, 0, 0, 0);
    while i < places.len() {
        let reserved = places[i].class.def().reserved();
        assert!(reserved & !places[i].message == 0, "slot format: a reserved bit of a message stands apart");
        class_set |= 1 << places[i].class.index();
        valid_bits |= places[i].valid;
        reserved_in_messages |= reserved << places[i].lsb;
        i += 1;
    }
    let content = SlotContent::Messages(places);
    SlotFormat { name, code, dir, mdh, content, class_set, valid_bits, reserved_in_messages }
}

/// A format without messages.
const fn plain(dir: Dir, name: &'static str, code: u8, content: SlotContent) -> SlotFormat {
    SlotFormat { name, code, dir, mdh: false, content, class_set: 0, valid_bits: 0, reserved_in_messages: 0 }
}

use Class::{D2hData, D2hReq, D2hRsp, H2dData, H2dReq, H2dRsp, M2sReq, M2sRwd, S2mDrs, S2mNdr};

/// Formats of slot 0, host to device (`cxl-68b` §3.2).
pub static DOWN_HEADER: [SlotFormat; 7] = [
    row(Dir::Down, "H0", 0, false, &[at(H2dReq, 32), at(H2dRsp, 96)]),
    row(Dir::Down, "H1", 1, false, &[at(H2dData, 32), at(H2dRsp, 56), at(H2dRsp, 88)]),
    row(Dir::Down, "H2", 2, false, &[at(H2dReq, 32), at(H2dData, 96)]),
    row(Dir::Down, "H3", 3, true, &[at(H2dData, 32), at(H2dData, 56), at(H2dData, 80), at(H2dData, 104)]),
    row(Dir::Down, "H4", 4, false, &[at(M2sRwd, 32)]),
    row(Dir::Down, "H5", 5, false, &[at(M2sReq, 32)]),
    plain(Dir::Down, "H6", 6, SlotContent::Mac),
];

/// Formats of slots 1 to 3, host to device (`cxl-68b` §3.2).
pub static DOWN_GENERIC: [SlotFormat; 6] = [
    plain(Dir::Down, "G0", 0, SlotContent::Data),
    row(Dir::Down, "G1", 1, false, &[at(H2dRsp, 0), at(H2dRsp, 32), at(H2dRsp, 64), at(H2dRsp, 96)]),
    row(Dir::Down, "G2", 2, false, &[at(H2dReq, 0), at(H2dData, 64), at(H2dRsp, 88)]),
    row(Dir::Down, "G3", 3, true, &[at(H2dData, 0), at(H2dData, 24), at(H2dData, 48), at(H2dData, 72), at(H2dRsp, 96)]),
    row(Dir::Down, "G4", 4, false, &[at(M2sReq, 0), at(H2dData, 88)]),
    row(Dir::Down, "G5", 5, false, &[at(M2sRwd, 0), at(H2dRsp, 88)]),
];

/// Formats of slot 0, device to host (`cxl-68b` §3.3).
pub static UP_HEADER: [SlotFormat; 7] = [
    row(Dir::Up, "H0", 0, false, &[at(D2hData, 32), at(D2hRsp, 49), at(D2hRsp, 69), at(S2mNdr, 89)]),
    row(Dir::Up, "H1", 1, false, &[at(D2hReq, 32), at(D2hData, 111)]),
    row(Dir::Up, "H2", 2, true, &[at(D2hData, 32), at(D2hData, 49), at(D2hData, 66), at(D2hData, 83), at(D2hRsp, 100)]),
    row(Dir::Up, "H3", 3, false, &[at(S2mDrs, 32), at(S2mNdr, 72)]),
    row(Dir::Up, "H4", 4, false, &[split(32, 90), at(S2mNdr, 60)]),
    row(Dir::Up, "H5", 5, true, &[at(S2mDrs, 32), at(S2mDrs, 72)]),
    plain(Dir::Up, "H6", 6, SlotContent::Mac),
];

/// Formats of slots 1 to 3, device to host (`cxl-68b` §3.3).
pub static UP_GENERIC: [SlotFormat; 7] = [
    plain(Dir::Up, "G0", 0, SlotContent::Data),
    row(Dir::Up, "G1", 1, false, &[at(D2hReq, 0), at(D2hRsp, 79), at(D2hRsp, 99)]),
    row(Dir::Up, "G2", 2, false, &[at(D2hReq, 0), at(D2hData, 79), at(D2hRsp, 96)]),
    row(Dir::Up, "G3", 3, true, &[at(D2hData, 0), at(D2hData, 17), at(D2hData, 34), at(D2hData, 51)]),
    row(Dir::Up, "G4", 4, false, &[at(S2mDrs, 0), split(40, 98), at(S2mNdr, 68)]),
    row(Dir::Up, "G5", 5, false, &[split(0, 58), at(S2mNdr, 28)]),
    row(Dir::Up, "G6", 6, true, &[at(S2mDrs, 0), at(S2mDrs, 40), at(S2mDrs, 80)]),
];

/// Formats of slot 0 of 1.1, device to host: NDR of 28 bits, no H6 (`cxl-68b` §3.3, §3.1).
pub static UP_HEADER_1_1: [SlotFormat; 6] = [
    row(Dir::Up, "H0", 0, false, &[at(D2hData, 32), at(D2hRsp, 49), at(D2hRsp, 69), short(89)]),
    row(Dir::Up, "H1", 1, false, &[at(D2hReq, 32), at(D2hData, 111)]),
    row(Dir::Up, "H2", 2, true, &[at(D2hData, 32), at(D2hData, 49), at(D2hData, 66), at(D2hData, 83), at(D2hRsp, 100)]),
    row(Dir::Up, "H3", 3, false, &[at(S2mDrs, 32), short(72)]),
    row(Dir::Up, "H4", 4, false, &[short(32), short(60)]),
    row(Dir::Up, "H5", 5, true, &[at(S2mDrs, 32), at(S2mDrs, 72)]),
];

/// Formats of slots 1 to 3 of 1.1, device to host: NDR of 28 bits, three of them in G5 (`cxl-68b` §3.3).
pub static UP_GENERIC_1_1: [SlotFormat; 7] = [
    plain(Dir::Up, "G0", 0, SlotContent::Data),
    row(Dir::Up, "G1", 1, false, &[at(D2hReq, 0), at(D2hRsp, 79), at(D2hRsp, 99)]),
    row(Dir::Up, "G2", 2, false, &[at(D2hReq, 0), at(D2hData, 79), at(D2hRsp, 96)]),
    row(Dir::Up, "G3", 3, true, &[at(D2hData, 0), at(D2hData, 17), at(D2hData, 34), at(D2hData, 51)]),
    row(Dir::Up, "G4", 4, false, &[at(S2mDrs, 0), short(40), short(68)]),
    row(Dir::Up, "G5", 5, false, &[short(0), short(28), short(56)]),
    row(Dir::Up, "G6", 6, true, &[at(S2mDrs, 0), at(S2mDrs, 40), at(S2mDrs, 80)]),
];

/// The rows of a slot: header formats for slot 0, generic ones for slots 1 to 3.
#[inline]
pub fn formats(revision: Revision, dir: Dir, slot: usize) -> &'static [SlotFormat] {
    match (dir, slot, revision) {
        (Dir::Down, 0, Revision::V1_1) => &DOWN_HEADER[..6],
        (Dir::Down, 0, Revision::V2_0) => &DOWN_HEADER,
        (Dir::Down, _, _) => &DOWN_GENERIC,
        (Dir::Up, 0, Revision::V1_1) => &UP_HEADER_1_1,
        (Dir::Up, 0, Revision::V2_0) => &UP_HEADER,
        (Dir::Up, _, Revision::V1_1) => &UP_GENERIC_1_1,
        (Dir::Up, _, Revision::V2_0) => &UP_GENERIC,
    }
}

/// The row of a code, `None` for a reserved one (`cxl-68b` §3.1). Codes are row numbers.
#[inline]
pub fn format(revision: Revision, dir: Dir, slot: usize, code: u8) -> Option<&'static SlotFormat> {
    formats(revision, dir, slot).get(code as usize)
}

/// Every row of both directions, revision 2.0.
pub fn all_formats() -> impl Iterator<Item = &'static SlotFormat> {
    DOWN_HEADER.iter().chain(&DOWN_GENERIC).chain(&UP_HEADER).chain(&UP_GENERIC)
}

/// Stops the build when a row is at the wrong code, or when its messages overlap, leave the slot or take header bits.
const fn assert_rows(rows: &[SlotFormat]) {
    let mut i = 0;
    while i < rows.len() {
        assert!(rows[i].code as usize == i, "slot format: a row does not stand at its code");
        let mut used = if rows[i].is_header() { 0xffff_ffff } else { 0u128 };
        let places = rows[i].places();
        let mut j = 0;
        while j < places.len() {
            assert!(places[j].lsb + places[j].width <= 128, "slot format: a message leaves the slot");
            assert!(used & places[j].bits() == 0, "slot format: a message overlaps another one or the header");
            used |= places[j].bits();
            j += 1;
        }
        i += 1;
    }
}
const _: () = {
    assert_rows(&DOWN_HEADER);
    assert_rows(&DOWN_GENERIC);
    assert_rows(&UP_HEADER);
    assert_rows(&UP_GENERIC);
    assert_rows(&UP_HEADER_1_1);
    assert_rows(&UP_GENERIC_1_1);
};
