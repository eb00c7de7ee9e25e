//! UALink DL flits as a string of 5120 bits: where sectors stand, CRC-32 by long division, packing of TL flits.
//!
//! Modelled: the byte map (sheet ualink §2), segment headers and packing (§4), the CRC (§5). A position is an index into a
//! bit string, a CRC is the remainder of a polynomial, and a flit is packed by laying all of its sectors out in one row and
//! cutting them where segments end. Left out: what TL flits and messages say.

use bitvec::prelude::*;

/// A DL flit, bit 0 of byte 0 first.
pub type FlitBits = BitArray<[u8; 640], Lsb0>;

/// §2: the byte that holds `By` of `Sx`, as the rows of the sheet give it.
pub fn offset(x: usize, y: usize) -> usize {
    let split = |bytes: [usize; 4]| bytes[y];
    match x {
        31 => split([64, 65, 66, 131]),
        47 => split([128, 129, 130, 194]),
        63 => split([192, 193, 258, 259]),
        79 => split([256, 257, 321, 322]),
        95 => split([320, 385, 386, 387]),
        111 => split([384, 448, 449, 450]),
        156 => split([576, 577, 578, 627]),
        0..=15 => 4 * x + y,
        16..=30 => 68 + 4 * (x - 16) + y,
        32..=46 => 132 + 4 * (x - 32) + y,
        48..=62 => 196 + 4 * (x - 48) + y,
        64..=78 => 260 + 4 * (x - 64) + y,
        80..=94 => 324 + 4 * (x - 80) + y,
        96..=110 => 388 + 4 * (x - 96) + y,
        112..=126 => 452 + 4 * (x - 112) + y,
        127..=142 => 512 + 4 * (x - 127) + y,
        143..=153 => 580 + 4 * (x - 143) + y,
        154 => 628 + y,
        155 => 632 + y,
        _ => panic!("sector {x} of 157"),
    }
}

/// §2: the segment header of segment g stands at 128 g + 67.
fn segment_header(g: usize) -> usize {
    128 * g + 67
}

/// §5: the remainder of the flit, its CRC taken as 0, times x^32, with the first 32 bits inverted; complemented. Element i
/// of the answer is the coefficient of x^i.
fn remainder(flit: &FlitBits) -> [bool; 32] {
    const POLYNOMIAL: u32 = 0x04C1_1DB7;
    let mut row: Vec<bool> = flit[..8 * 636].iter().by_vals().collect();
    row.resize(5120 + 32, false);
    row[..32].iter_mut().for_each(|bit| *bit = !*bit);
    for lead in 0..5120 {
        if row[lead] {
            row[lead] = false;
            for power in 0..32 {
                // The coefficient of x^power stands 32 - power behind that of x^32.
                row[lead + 32 - power] ^= POLYNOMIAL >> power & 1 == 1;
            }
        }
    }
    std::array::from_fn(|power| !row[5120 + 31 - power])
}

/// §5: bytes 636 to 639; x^0 is sent first, and bit 0 of a byte is.
pub fn crc(flit: &[u8; 640]) -> [u8; 4] {
    let coefficients = remainder(&FlitBits::new(*flit));
    std::array::from_fn(|n| (0..8).fold(0, |byte, bit| byte | u8::from(coefficients[8 * n + bit]) << bit))
}

/// A TL flit: 64 bytes, and the message bits M0 and M1.
pub type Tl = ([u8; 64], [bool; 2]);

/// What can be sent in one segment.
#[derive(Debug, Clone, Default)]
pub struct Offer {
    /// A DL message that waits.
    pub message: Option<[u8; 4]>,
    /// TL flits that are there at the first and at the second moment.
    pub tl: [Option<Tl>; 2],
}

/// §4: one payload flit without CRC, and the sectors that are left over. `header` is FH\[23:0\].
pub fn pack(header: u32, left: Vec<[u8; 4]>, offers: &[Offer; 5]) -> ([u8; 640], Vec<[u8; 4]>) {
    let mut flit = [0; 640];
    flit[624] = header as u8;
    flit[625] = (header >> 8) as u8;
    flit[626] = (header >> 16) as u8;
    let mut left = left;
    let mut sector = 0;
    for (g, offer) in offers.iter().enumerate() {
        // 32 sectors a segment, 31 and 30 in the last two; the first half always has 16.
        let size = [32, 32, 32, 31, 30][g];
        let mut row: Vec<[u8; 4]> = Vec::new();
        let mut bits = bitarr![u8, Lsb0; 0; 8];
        if let Some(message) = offer.message {
            row.push(message);
            bits.set(0, true);
        }
        row.append(&mut left);
        let first_half_full = row.len() >= 16;
        let mut starts = 0;
        for moment in 0..2 {
            if row.len() >= size {
                break;
            }
            let Some((bytes, indicators)) = offer.tl[moment] else {
                if moment == 0 && !first_half_full {
                    row.resize(16, [0; 4]);
                }
                continue;
            };
            // TL Flit[0] unless the first half was left empty on purpose.
            let which = if first_half_full || moment == 0 { starts } else { 1 };
            let low = if which == 0 { 2 } else { 5 };
            bits.set(low, indicators[0]);
            bits.set(low + 1, indicators[1]);
            bits.set(low + 2, true);
            starts += 1;
            row.extend(bytes.as_chunks::<4>().0);
        }
        if row.len() > size {
            left = row.split_off(size);
        }
        for data in row {
            for (y, byte) in data.into_iter().enumerate() {
                flit[offset(sector, y)] = byte;
            }
            sector += 1;
        }
        sector = [32, 64, 96, 127, 157][g];
        flit[segment_header(g)] = bits.into_inner()[0];
    }
    (flit, left)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §5: the idle Ack.
    #[test]
    fn anchor() {
        let mut flit = [0; 640];
        flit[624..627].copy_from_slice(&[0x00, 0xff, 0x4f]);
        assert_eq!(crc(&flit), [0x02, 0x90, 0x3d, 0xea]);
        // FH in another place changes it.
        let moved = |at: usize| {
            let mut flit = [0; 640];
            flit[at..at + 3].copy_from_slice(&[0x00, 0xff, 0x4f]);
            u32::from_le_bytes(crc(&flit)).reverse_bits()
        };
        assert_eq!((moved(0), moved(632)), (0xF1BB_F68B, 0x274F_E453));
    }

    #[test]
    fn the_map_leaves_the_overhead() {
        let mut used: Vec<usize> = (0..157).flat_map(|x| (0..4).map(move |y| offset(x, y))).collect();
        used.extend([67, 195, 323, 451, 579, 624, 625, 626, 636, 637, 638, 639]);
        used.sort();
        assert_eq!(used, (0..640).collect::<Vec<_>>());
    }
}
