//! CXL 68-byte flit mode: the slot formats of both directions, spelled with `bitvec`.
//!
//! Modelled: which bits of a 16-byte slot carry which bits of which message, for every H and G format (sheet cxl-68b §3.1
//! to §3.4, CXL 2.0). Ranges are written as the sheet prints them, `high, low`, in bits of the slot; a header slot is slot
//! 0 of the flit, so its bits count from the flit's bit 0 and begin at 32, after the flit header. Left out: the flit
//! header, the rules of packing, and the CXL 1.1 forms with 28-bit NDR.

use bitvec::prelude::*;

/// Bits of a message or a slot; bit i is bit i % 8 of byte i / 8.
pub type Bits = BitSlice<u8, Lsb0>;

/// The way a flit travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dir {
    /// Host to device: H2D and M2S.
    Down,
    /// Device to host: D2H and S2M.
    Up,
}

/// Name of the content of G0: 16 bytes of data or of byte enables. Not a message of the layout table.
pub const CHUNK: &str = "chunk";
/// Name of the content of H6: the 96-bit MAC. Not a message of the layout table.
pub const MAC: &str = "mac";

/// A run of message bits that lie together in the slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// First bit of the message.
    pub message_bit: usize,
    /// First bit of the slot.
    pub slot_bit: usize,
    /// Length in bits.
    pub bits: usize,
}

/// Where one message lies in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Layout name, or [`CHUNK`] or [`MAC`].
    pub message: &'static str,
    /// Its pieces, from message bit 0 upward.
    pub pieces: &'static [Piece],
}

impl Place {
    /// Length of the message in bits.
    pub fn bits(&self) -> usize {
        self.pieces.iter().map(|p| p.bits).sum()
    }
}

/// One slot format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotOracle {
    /// Direction of the flit.
    pub dir: Dir,
    /// `H0`..`H6`, `G0`..`G6`.
    pub name: &'static str,
    /// Code in the flit header, 0..=6.
    pub code: u8,
    /// A format of slots 1 to 3; otherwise of slot 0.
    pub generic: bool,
    /// Holds several data headers, allowed only if more than one of them is valid.
    pub mdh: bool,
    /// What it carries, in order.
    pub places: &'static [Place],
}

/// All formats, down then up, in the order of the sheet.
pub fn slots() -> &'static [SlotOracle] {
    SLOTS
}

/// The format of that name. Panics on an unknown name.
pub fn slot(dir: Dir, name: &str) -> &'static SlotOracle {
    SLOTS.iter().find(|s| s.dir == dir && s.name == name).unwrap_or_else(|| panic!("no format {name} {dir:?}"))
}

/// The format of a header code, or `None` for a reserved one.
pub fn slot_of_code(dir: Dir, generic: bool, code: u8) -> Option<&'static SlotOracle> {
    SLOTS.iter().find(|s| s.dir == dir && s.generic == generic && s.code == code)
}

/// A slot that carries that message at that place and zeros elsewhere. Panics when the length of the message is wrong.
pub fn place(format: &SlotOracle, index: usize, message_bits: &Bits) -> [u8; 16] {
    let mut slot = [0; 16];
    place_into(format, &mut slot, index, message_bits);
    slot
}

/// Writes a message into its place and leaves all other bits alone. Panics when the length of the message is wrong.
pub fn place_into(format: &SlotOracle, slot: &mut [u8; 16], index: usize, message_bits: &Bits) {
    let place = &format.places[index];
    assert_eq!(message_bits.len(), place.bits(), "{} in {} {:?}", place.message, format.name, format.dir);
    let slot = slot.view_bits_mut::<Lsb0>();
    for piece in place.pieces {
        let (from, to) = (piece.message_bit, piece.slot_bit);
        slot[to..to + piece.bits].copy_from_bitslice(&message_bits[from..from + piece.bits]);
    }
}

/// The message at that place, valid or not.
pub fn extract(format: &SlotOracle, slot: &[u8; 16], index: usize) -> BitVec<u8, Lsb0> {
    let slot = slot.view_bits::<Lsb0>();
    let pieces = format.places[index].pieces.iter();
    pieces.flat_map(|piece| slot[piece.slot_bit..piece.slot_bit + piece.bits].iter().by_vals()).collect()
}

/// A message in one piece at slot bits `high..=low`.
macro_rules! whole {
    ($message:expr, $high:literal, $low:literal) => {
        Place { message: $message, pieces: &[Piece { message_bit: 0, slot_bit: $low, bits: $high - $low + 1 }] }
    };
}

/// The first NDR of up H4, G4 and G5: bits 27:0 at `high..=low`, DevLoad apart at `devload_high..=devload_low`, after the
/// second NDR. CXL 2.0 added DevLoad in bits that 1.1 had reserved.
macro_rules! split_ndr {
    ($high:literal, $low:literal, devload $devload_high:literal, $devload_low:literal) => {
        Place {
            message: NDR,
            pieces: &[
                Piece { message_bit: 0, slot_bit: $low, bits: $high - $low + 1 },
                Piece { message_bit: 28, slot_bit: $devload_low, bits: $devload_high - $devload_low + 1 },
            ],
        }
    };
}

const H2D_REQ: &str = "cxl68.h2d_req";
const H2D_RSP: &str = "cxl68.h2d_rsp";
const H2D_DATA: &str = "cxl68.h2d_data";
const M2S_REQ: &str = "cxl68.m2s_req";
const M2S_RWD: &str = "cxl68.m2s_rwd";
const D2H_REQ: &str = "cxl68.d2h_req";
const D2H_RSP: &str = "cxl68.d2h_rsp";
const D2H_DATA: &str = "cxl68.d2h_data";
const NDR: &str = "cxl68.s2m_ndr";
const DRS: &str = "cxl68.s2m_drs";

const fn header(dir: Dir, name: &'static str, code: u8, places: &'static [Place]) -> SlotOracle {
    SlotOracle { dir, name, code, generic: false, mdh: false, places }
}

const fn generic(dir: Dir, name: &'static str, code: u8, places: &'static [Place]) -> SlotOracle {
    SlotOracle { dir, name, code, generic: true, mdh: false, places }
}

const fn mdh(format: SlotOracle) -> SlotOracle {
    SlotOracle { mdh: true, ..format }
}

use Dir::{Down, Up};

#[rustfmt::skip] // one row a format, as in the sheet
static SLOTS: &[SlotOracle] = &[
    // Downstream, §3.2
    header(Down, "H0", 0, &[whole!(H2D_REQ, 95, 32), whole!(H2D_RSP, 127, 96)]),
    header(Down, "H1", 1, &[whole!(H2D_DATA, 55, 32), whole!(H2D_RSP, 87, 56), whole!(H2D_RSP, 119, 88)]),
    header(Down, "H2", 2, &[whole!(H2D_REQ, 95, 32), whole!(H2D_DATA, 119, 96)]),
    mdh(header(Down, "H3", 3, &[whole!(H2D_DATA, 55, 32), whole!(H2D_DATA, 79, 56), whole!(H2D_DATA, 103, 80), whole!(H2D_DATA, 127, 104)])),
    header(Down, "H4", 4, &[whole!(M2S_RWD, 118, 32)]),
    header(Down, "H5", 5, &[whole!(M2S_REQ, 118, 32)]),
    header(Down, "H6", 6, &[whole!(MAC, 127, 32)]),
    generic(Down, "G0", 0, &[whole!(CHUNK, 127, 0)]),
    generic(Down, "G1", 1, &[whole!(H2D_RSP, 31, 0), whole!(H2D_RSP, 63, 32), whole!(H2D_RSP, 95, 64), whole!(H2D_RSP, 127, 96)]),
    generic(Down, "G2", 2, &[whole!(H2D_REQ, 63, 0), whole!(H2D_DATA, 87, 64), whole!(H2D_RSP, 119, 88)]),
    mdh(generic(Down, "G3", 3, &[whole!(H2D_DATA, 23, 0), whole!(H2D_DATA, 47, 24), whole!(H2D_DATA, 71, 48), whole!(H2D_DATA, 95, 72), whole!(H2D_RSP, 127, 96)])),
    // In G4 and G5 bit 87 is padding: the second message starts on byte 11.
    generic(Down, "G4", 4, &[whole!(M2S_REQ, 86, 0), whole!(H2D_DATA, 111, 88)]),
    generic(Down, "G5", 5, &[whole!(M2S_RWD, 86, 0), whole!(H2D_RSP, 119, 88)]),
    // Upstream, §3.3
    header(Up, "H0", 0, &[whole!(D2H_DATA, 48, 32), whole!(D2H_RSP, 68, 49), whole!(D2H_RSP, 88, 69), whole!(NDR, 118, 89)]),
    header(Up, "H1", 1, &[whole!(D2H_REQ, 110, 32), whole!(D2H_DATA, 127, 111)]),
    mdh(header(Up, "H2", 2, &[whole!(D2H_DATA, 48, 32), whole!(D2H_DATA, 65, 49), whole!(D2H_DATA, 82, 66), whole!(D2H_DATA, 99, 83), whole!(D2H_RSP, 119, 100)])),
    header(Up, "H3", 3, &[whole!(DRS, 71, 32), whole!(NDR, 101, 72)]),
    header(Up, "H4", 4, &[split_ndr!(59, 32, devload 91, 90), whole!(NDR, 89, 60)]),
    mdh(header(Up, "H5", 5, &[whole!(DRS, 71, 32), whole!(DRS, 111, 72)])),
    header(Up, "H6", 6, &[whole!(MAC, 127, 32)]),
    generic(Up, "G0", 0, &[whole!(CHUNK, 127, 0)]),
    generic(Up, "G1", 1, &[whole!(D2H_REQ, 78, 0), whole!(D2H_RSP, 98, 79), whole!(D2H_RSP, 118, 99)]),
    generic(Up, "G2", 2, &[whole!(D2H_REQ, 78, 0), whole!(D2H_DATA, 95, 79), whole!(D2H_RSP, 115, 96)]),
    mdh(generic(Up, "G3", 3, &[whole!(D2H_DATA, 16, 0), whole!(D2H_DATA, 33, 17), whole!(D2H_DATA, 50, 34), whole!(D2H_DATA, 67, 51)])),
    generic(Up, "G4", 4, &[whole!(DRS, 39, 0), split_ndr!(67, 40, devload 99, 98), whole!(NDR, 97, 68)]),
    generic(Up, "G5", 5, &[split_ndr!(27, 0, devload 59, 58), whole!(NDR, 57, 28)]),
    mdh(generic(Up, "G6", 6, &[whole!(DRS, 39, 0), whole!(DRS, 79, 40), whole!(DRS, 119, 80)])),
];

#[cfg(test)]
mod tests {
    use super::super::cxl68_messages::message;
    use super::*;

    /// Column "Used" of §3.2 and §3.3; G0 is 128, H6 96.
    #[test]
    fn used_bits_are_those_of_the_sheet() {
        let used: Vec<usize> = slots().iter().map(|s| s.places.iter().map(Place::bits).sum()).collect();
        let down = [96, 88, 88, 96, 87, 87, 96, 128, 128, 120, 128, 111, 119];
        let up = [87, 96, 88, 70, 60, 80, 96, 128, 119, 116, 68, 100, 60, 120];
        assert_eq!(used, [&down[..], &up[..]].concat());
    }

    #[test]
    fn places_have_the_length_of_their_message_and_lie_apart_inside_the_slot() {
        for format in slots() {
            let mut taken: BitArr!(for 128, in u8, Lsb0) = BitArray::ZERO;
            if !format.generic {
                taken[..32].fill(true); // the flit header
            }
            for place in format.places {
                if ![CHUNK, MAC].contains(&place.message) {
                    assert_eq!(place.bits(), message(place.message).bits as usize, "{format:?}");
                }
                for piece in place.pieces {
                    let bits = &mut taken[piece.slot_bit..piece.slot_bit + piece.bits];
                    assert!(bits.not_any(), "{format:?}");
                    bits.fill(true);
                }
            }
        }
    }

    #[test]
    fn names_and_codes_follow_the_code_table() {
        for (dir, generics) in [(Down, 6), (Up, 7)] {
            for code in 0..8 {
                let name = |letter: &str| format!("{letter}{code}");
                assert_eq!(slot_of_code(dir, false, code).map(|s| s.name.into()), (code < 7).then(|| name("H")));
                assert_eq!(slot_of_code(dir, true, code).map(|s| s.name.into()), (code < generics).then(|| name("G")));
            }
        }
    }

    #[test]
    fn the_multi_data_header_formats() {
        let names = |dir| slots().iter().filter(|s| s.dir == dir && s.mdh).map(|s| s.name).collect::<Vec<_>>();
        assert_eq!(names(Down), ["H3", "G3"]);
        assert_eq!(names(Up), ["H2", "H5", "G3", "G6"]);
    }

    #[test]
    fn every_bit_of_every_place_comes_back() {
        for format in slots() {
            for (index, place) in format.places.iter().enumerate() {
                for bit in 0..place.bits() {
                    let mut one = bitvec![u8, Lsb0; 0; place.bits()];
                    one.set(bit, true);
                    let slot = super::place(format, index, &one);
                    assert_eq!(slot.view_bits::<Lsb0>().count_ones(), 1);
                    assert_eq!(extract(format, &slot, index), one);
                }
            }
        }
    }

    /// Where the message ones of a place go, for places written out by hand from the sheet.
    #[track_caller]
    fn assert_ones(dir: Dir, name: &str, index: usize, expected: impl Iterator<Item = usize>) {
        let format = slot(dir, name);
        let ones = bitvec![u8, Lsb0; 1; format.places[index].bits()];
        let slot = place(format, index, &ones);
        assert!(slot.view_bits::<Lsb0>().iter_ones().eq(expected), "{name} {dir:?} place {index}: {slot:02x?}");
    }

    #[test]
    fn the_first_ndr_is_split_around_the_second() {
        for (name, start) in [("H4", 32), ("G4", 40), ("G5", 0)] {
            let first = slot(Up, name).places.iter().position(|p| p.message == NDR).unwrap();
            assert_ones(Up, name, first, (start..start + 28).chain(start + 58..start + 60));
            assert_ones(Up, name, first + 1, start + 28..start + 58);
        }
    }

    #[test]
    fn the_second_message_of_down_g4_and_g5_skips_bit_87() {
        assert_ones(Down, "G4", 0, 0..87);
        assert_ones(Down, "G4", 1, 88..112);
        assert_ones(Down, "G5", 0, 0..87);
        assert_ones(Down, "G5", 1, 88..120);
    }

    #[test]
    fn placing_a_message_leaves_its_neighbours_alone() {
        let format = slot(Up, "G5");
        let mut slot = [0xFF; 16];
        place_into(format, &mut slot, 0, bits![u8, Lsb0; 0; 30]);
        let zeros: Vec<usize> = slot.view_bits::<Lsb0>().iter_zeros().collect();
        assert!(zeros.into_iter().eq((0..28).chain(58..60)));
    }
}
