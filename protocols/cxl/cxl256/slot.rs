//! Slot formats: which messages stand where in an H, G or HS slot (`cxl-256b` section 2).
//!
//! A slot is a `u128` of 112 (H), 128 (G) or 96 (HS) bits; bit 0 is bit 0 of its first byte. Bits 3:0 are the format code,
//! messages follow from bit 4 without gaps, bits above the last one are 0. Where a message is longer than its slot the
//! slot carries the low bits and the receiver adds zeros (zero extension, §2.3).

use super::mode::Mode;
use super::{Class, Routing};

/// Which of the three kinds a slot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SlotKind {
    /// 14 bytes, slot 0.
    H,
    /// 16 bytes; the only kind that carries data.
    G,
    /// 12 bytes, slot 8 of a latency-optimised flit.
    Hs,
}

impl SlotKind {
    /// Bytes of the slot.
    pub const fn bytes(self) -> usize {
        match self {
            SlotKind::H => 14,
            SlotKind::G => 16,
            SlotKind::Hs => 12,
        }
    }

    /// Bits of the slot, all set.
    pub const fn mask(self) -> u128 {
        u128::MAX >> (128 - 8 * self.bytes())
    }
}

/// First bit behind the format code.
const FIRST_BIT: u32 = 4;
/// Format code of a slot with control content.
pub const CONTROL: u8 = 8;
/// Format codes from here on announce data.
pub const FIRST_DATA: u8 = 12;

/// Format code of a slot.
pub const fn code(slot: u128) -> u8 {
    (slot & 0xf) as u8
}

/// Place of one message in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cxl256SlotPlace {
    /// What stands there.
    pub class: Class,
    /// First bit in the slot.
    pub lsb: u32,
    /// Bits that the slot carries: the whole message, or its low bits under zero extension.
    pub kept: u32,
}

impl Cxl256SlotPlace {
    /// The message at this place, zeros above the bits that travel.
    #[inline]
    pub const fn extract(&self, slot: u128) -> u128 {
        slot >> self.lsb & (u128::MAX >> (128 - self.kept))
    }

    /// The slot with a message at this place. Bits that do not travel are lost, see [`Cxl256SlotPlace::fits`].
    #[inline]
    pub const fn insert(&self, slot: u128, message: u128) -> u128 {
        slot & !self.bits() | (message << self.lsb) & self.bits()
    }

    /// Whether every bit of a message that does not travel is 0 (`cxl-256b` §2.3).
    #[inline]
    pub const fn fits(&self, message: u128) -> bool {
        message >> self.kept == 0
    }

    /// The slot bits that the message takes.
    pub const fn bits(&self) -> u128 {
        (u128::MAX >> (128 - self.kept)) << self.lsb
    }

    /// Whether the valid bit at this place is set.
    #[inline]
    pub const fn is_valid(&self, slot: u128) -> bool {
        slot >> self.lsb & 1 == 1
    }
}

/// One row of the format tables.
#[derive(Debug, PartialEq, Eq)]
pub struct SlotFormat {
    /// `H0` to `HS15`.
    pub name: &'static str,
    /// Code in bits 3:0.
    pub code: u8,
    /// Kind of slot.
    pub kind: SlotKind,
    /// Layouts of its messages.
    pub routing: Routing,
    /// What stands in it, in order; empty for a control slot.
    pub classes: &'static [Class],
    /// Where it stands.
    pub places: &'static [Cxl256SlotPlace],
    /// Bit n: it has a place for the class of [`Class::index`] n.
    pub class_set: u16,
    /// Valid bits of its places.
    pub valid_bits: u128,
}

/// Places of messages that stand without gaps from the first bit on, the last one cut off at the end of the slot.
const fn places<const N: usize>(kind: SlotKind, routing: Routing, classes: [Class; N]) -> [Cxl256SlotPlace; N] {
    let end = 8 * kind.bytes() as u32;
    let mut places = [Cxl256SlotPlace { class: Class::H2dReq, lsb: FIRST_BIT, kept: 0 }; N];
    let (mut lsb, mut n) = (FIRST_BIT, 0);
    while n < N {
        let bits = classes[n].def(routing).bits;
        let kept = if bits < end - lsb { bits } else { end - lsb };
        places[n] = Cxl256SlotPlace { class: classes[n], lsb, kept };
        lsb += kept;
        n += 1;
    }
    places
}

const fn class_set(places: &[Cxl256SlotPlace]) -> u16 {
    let (mut classes, mut n) = (0, 0);
    while n < places.len() {
        classes |= 1 << places[n].class.index();
        n += 1;
    }
    classes
}

const fn valid_bits_of(places: &[Cxl256SlotPlace]) -> u128 {
    let (mut bits, mut n) = (0, 0);
    while n < places.len() {
        bits |= 1 << places[n].lsb;
        n += 1;
    }
    bits
}

impl SlotFormat {
    /// Places of messages, in order.
    #[inline]
    pub fn places(&self) -> impl Iterator<Item = Cxl256SlotPlace> + Clone + use<> {
        self.places.iter().copied()
    }

    /// Whether data follows.
    pub const fn has_data(&self) -> bool {
        self.code >= FIRST_DATA
    }

    /// Whether it is the control format.
    pub const fn is_control(&self) -> bool {
        self.code == CONTROL
    }

    /// Slot bits that neither the code nor a message takes: sent 0, ignored.
    pub fn reserved_bits(&self) -> u128 {
        self.places().fold(self.kind.mask() & !0xf, |free, place| free & !place.bits())
    }

    /// Whether any message in it is valid.
    #[inline]
    pub const fn any_valid(&self, slot: u128) -> bool {
        slot & self.valid_bits != 0
    }
}

/// Rows of one kind of slot: name, code, messages.
macro_rules! rows {
    ($kind:ident $routing:ident: $($name:literal $code:literal [$($class:ident)*])*) => {
        [$({
            const CLASSES: &[Class] = &[$(Class::$class),*];
            const PLACES: [Cxl256SlotPlace; CLASSES.len()] = places(SlotKind::$kind, Routing::$routing, [$(Class::$class),*]);
            SlotFormat {
                name: $name,
                code: $code,
                kind: SlotKind::$kind,
                routing: Routing::$routing,
                classes: CLASSES,
                places: &PLACES,
                class_set: class_set(&PLACES),
                valid_bits: valid_bits_of(&PLACES),
            }
        }),*]
    };
}

/// G slots (`cxl-256b` §2.1).
static HBR_G: [SlotFormat; 12] = rows! { G Hbr:
    "G0" 0 [H2dReq H2dRsp]
    "G1" 1 [H2dRsp H2dRsp H2dRsp]
    "G2" 2 [D2hReq D2hRsp D2hRsp]
    "G3" 3 [D2hRsp D2hRsp D2hRsp D2hRsp]
    "G4" 4 [M2sReq]
    "G5" 5 [M2sBirsp M2sBirsp M2sBirsp]
    "G6" 6 [S2mBisnp S2mNdr]
    "G7" 7 [S2mNdr S2mNdr S2mNdr]
    "G12" 12 [H2dData H2dData H2dData H2dData]
    "G13" 13 [D2hData D2hData D2hData D2hData]
    "G14" 14 [M2sRwd]
    "G15" 15 [S2mDrs S2mDrs S2mDrs]
};

/// H slots (`cxl-256b` §2.1).
static HBR_H: [SlotFormat; 13] = rows! { H Hbr:
    "H0" 0 [H2dReq]
    "H1" 1 [H2dRsp H2dRsp]
    "H2" 2 [D2hReq D2hRsp]
    "H3" 3 [D2hRsp D2hRsp D2hRsp D2hRsp]
    "H4" 4 [M2sReq]
    "H5" 5 [M2sBirsp M2sBirsp]
    "H6" 6 [S2mBisnp]
    "H7" 7 [S2mNdr S2mNdr]
    "H8" 8 []
    "H12" 12 [H2dData H2dData H2dData]
    "H13" 13 [D2hData D2hData D2hData D2hData]
    "H14" 14 [M2sRwd]
    "H15" 15 [S2mDrs S2mDrs]
};

/// HS slots (`cxl-256b` §2.1).
static HBR_HS: [SlotFormat; 13] = rows! { Hs Hbr:
    "HS0" 0 [H2dReq]
    "HS1" 1 [H2dRsp H2dRsp]
    "HS2" 2 [D2hReq]
    "HS3" 3 [D2hRsp D2hRsp D2hRsp]
    "HS4" 4 [M2sReq]
    "HS5" 5 [M2sBirsp M2sBirsp]
    "HS6" 6 [S2mBisnp]
    "HS7" 7 [S2mNdr S2mNdr]
    "HS8" 8 []
    "HS12" 12 [H2dData H2dData H2dData]
    "HS13" 13 [D2hData D2hData D2hData]
    "HS14" 14 [M2sRwd]
    "HS15" 15 [S2mDrs S2mDrs]
};

/// G slots with port based routing (`cxl-256b` §2.2).
static PBR_G: [SlotFormat; 12] = rows! { G Pbr:
    "G0" 0 [H2dReq]
    "G1" 1 [H2dRsp H2dRsp]
    "G2" 2 [D2hReq]
    "G3" 3 [D2hRsp D2hRsp D2hRsp]
    "G4" 4 [M2sReq]
    "G5" 5 [M2sBirsp M2sBirsp]
    "G6" 6 [S2mBisnp]
    "G7" 7 [S2mNdr S2mNdr]
    "G12" 12 [H2dData H2dData H2dData]
    "G13" 13 [D2hData D2hData D2hData]
    "G14" 14 [M2sRwd]
    "G15" 15 [S2mDrs S2mDrs]
};

/// H slots with port based routing (`cxl-256b` §2.2): as the G slots, and control.
static PBR_H: [SlotFormat; 13] = rows! { H Pbr:
    "H0" 0 [H2dReq]
    "H1" 1 [H2dRsp H2dRsp]
    "H2" 2 [D2hReq]
    "H3" 3 [D2hRsp D2hRsp D2hRsp]
    "H4" 4 [M2sReq]
    "H5" 5 [M2sBirsp M2sBirsp]
    "H6" 6 [S2mBisnp]
    "H7" 7 [S2mNdr S2mNdr]
    "H8" 8 []
    "H12" 12 [H2dData H2dData H2dData]
    "H13" 13 [D2hData D2hData D2hData]
    "H14" 14 [M2sRwd]
    "H15" 15 [S2mDrs S2mDrs]
};

/// The rows of a slot, 0 to 14.
#[inline]
pub fn formats(mode: Mode, slot: usize) -> &'static [SlotFormat] {
    match (mode.routing(), mode.slot_kind(slot)) {
        (Routing::Hbr, SlotKind::H) => &HBR_H,
        (Routing::Hbr, SlotKind::G) => &HBR_G,
        (Routing::Hbr, SlotKind::Hs) => &HBR_HS,
        (Routing::Pbr, SlotKind::H) => &PBR_H,
        (Routing::Pbr, _) => &PBR_G,
    }
}

/// Rows with a place for each class, by [`Class::index`]: bit n for row n.
const fn rows_with_classes(rows: &[SlotFormat]) -> [u16; Class::COUNT] {
    let mut with = [0; Class::COUNT];
    let mut n = 0;
    while n < rows.len() * Class::COUNT {
        let (row, class) = (n / Class::COUNT, n % Class::COUNT);
        with[class] |= (rows[row].class_set >> class & 1) << row;
        n += 1;
    }
    with
}

static HBR_H_WITH: [u16; Class::COUNT] = rows_with_classes(&HBR_H);
static HBR_G_WITH: [u16; Class::COUNT] = rows_with_classes(&HBR_G);
static HBR_HS_WITH: [u16; Class::COUNT] = rows_with_classes(&HBR_HS);
static PBR_H_WITH: [u16; Class::COUNT] = rows_with_classes(&PBR_H);
static PBR_G_WITH: [u16; Class::COUNT] = rows_with_classes(&PBR_G);

/// Row of the only format with a place for each class where that is its only place, else [`NO_ROW`], by [`Class::index`].
const fn lone_rows(rows: &[SlotFormat]) -> [u8; Class::COUNT] {
    let (with, mut lone) = (rows_with_classes(rows), [NO_ROW; Class::COUNT]);
    let mut class = 0;
    while class < Class::COUNT {
        let row = with[class].trailing_zeros() as usize;
        if with[class].is_power_of_two() && rows[row].places.len() == 1 {
            lone[class] = row as u8;
        }
        class += 1;
    }
    lone
}

const NO_ROW: u8 = u8::MAX;
static HBR_H_LONE: [u8; Class::COUNT] = lone_rows(&HBR_H);
static HBR_G_LONE: [u8; Class::COUNT] = lone_rows(&HBR_G);
static HBR_HS_LONE: [u8; Class::COUNT] = lone_rows(&HBR_HS);
static PBR_H_LONE: [u8; Class::COUNT] = lone_rows(&PBR_H);
static PBR_G_LONE: [u8; Class::COUNT] = lone_rows(&PBR_G);

/// The format of a slot that alone has a place for a class, and no other place; `None`: several have, or there are more places.
#[inline]
pub fn lone_format(mode: Mode, slot: usize, class: Class) -> Option<&'static SlotFormat> {
    let (rows, lone): (&'static [SlotFormat], _) = match (mode.routing(), mode.slot_kind(slot)) {
        (Routing::Hbr, SlotKind::H) => (&HBR_H, &HBR_H_LONE),
        (Routing::Hbr, SlotKind::G) => (&HBR_G, &HBR_G_LONE),
        (Routing::Hbr, SlotKind::Hs) => (&HBR_HS, &HBR_HS_LONE),
        (Routing::Pbr, SlotKind::H) => (&PBR_H, &PBR_H_LONE),
        (Routing::Pbr, _) => (&PBR_G, &PBR_G_LONE),
    };
    rows.get(usize::from(lone[class.index()]))
}

/// The rows of a slot that have a place for a class. Most classes have one or two of the twelve.
#[inline]
pub fn formats_with(mode: Mode, slot: usize, class: Class) -> impl Iterator<Item = &'static SlotFormat> {
    let (rows, with): (&'static [SlotFormat], _) = match (mode.routing(), mode.slot_kind(slot)) {
        (Routing::Hbr, SlotKind::H) => (&HBR_H, &HBR_H_WITH),
        (Routing::Hbr, SlotKind::G) => (&HBR_G, &HBR_G_WITH),
        (Routing::Hbr, SlotKind::Hs) => (&HBR_HS, &HBR_HS_WITH),
        (Routing::Pbr, SlotKind::H) => (&PBR_H, &PBR_H_WITH),
        (Routing::Pbr, _) => (&PBR_G, &PBR_G_WITH),
    };
    let mut left = with[class.index()];
    std::iter::from_fn(move || {
        let row = rows.get(left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(row)
    })
}

/// The row of a code, `None` for a reserved one.
#[inline]
pub fn format(mode: Mode, slot: usize, code: u8) -> Option<&'static SlotFormat> {
    let rows = formats(mode, slot);
    // The first eight rows stand at their codes, which is where nearly every slot leads.
    match rows.get(usize::from(code)) {
        Some(row) if row.code == code => Some(row),
        _ => rows.iter().find(|row| row.code == code),
    }
}

/// Every row of every kind and routing.
pub fn all_formats() -> impl Iterator<Item = &'static SlotFormat> {
    HBR_G.iter().chain(&HBR_H).chain(&HBR_HS).chain(&PBR_G).chain(&PBR_H)
}

/// Stops the build when messages do not fit a slot; one message alone may be longer (zero extension).
const fn assert_rows(rows: &[SlotFormat]) {
    let mut i = 0;
    while i < rows.len() {
        let mut bits = FIRST_BIT;
        let mut j = 0;
        while j < rows[i].classes.len() {
            bits += rows[i].classes[j].def(rows[i].routing).bits;
            j += 1;
        }
        let is_g = matches!(rows[i].kind, SlotKind::G);
        let fits = bits as usize <= 8 * rows[i].kind.bytes();
        assert!(fits || !is_g && rows[i].classes.len() == 1, "slot format: the messages leave the slot");
        i += 1;
    }
}
const _: () = {
    assert_rows(&HBR_G);
    assert_rows(&HBR_H);
    assert_rows(&HBR_HS);
    assert_rows(&PBR_G);
    assert_rows(&PBR_H);
};
