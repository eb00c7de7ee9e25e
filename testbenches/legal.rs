//! Random legal traffic of the CXL 68-byte link, for every test that needs some.
//!
//! Modelled: messages whose codes are listed, whose reserved bits are 0 and whose data is as their channel may send it
//! (`cxl-68b` §1.5, §2, §4). Left out: sense between messages; a tag may be in flight twice.

use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::code::{GoState, H2dRspOpcode};
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68Message, Data, Size};

/// A small generator with a fixed sequence (splitmix64), so that a seed means the same flits for ever.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// 128 bits.
    pub fn wide(&mut self) -> u128 {
        u128::from(self.bits()) << 64 | u128::from(self.bits())
    }

    /// A number below `n`, `n` at least 1; the bias of 2^-64 does not matter here.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// True once in `n`.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Fills a byte array.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        for part in out.chunks_mut(8) {
            part.copy_from_slice(&self.bits().to_le_bytes()[..part.len()]);
        }
        out
    }
}

/// Classes of a direction, in order of the sheet.
pub fn classes(dir: Dir) -> impl Iterator<Item = Class> {
    Class::ALL.into_iter().filter(move |c| c.dir() == dir)
}

/// Turns any bits into a legal message: valid, listed codes, reserved bits 0. What only an
/// option makes a sender send stays out: address bit 5 of an M2S Req (§2.1) and MemDataNXM (§4.6) are 0.
pub fn legal_bits(class: Class, raw: u128) -> u128 {
    let mut bits = 0;
    for field in class.def().fields {
        let any = field.extract(raw);
        let value = match field.codes {
            _ if field.name == "valid" => 1,
            _ if field.reserved => 0,
            Some(table) => table.codes[any as usize % table.codes.len()].value,
            None => any,
        };
        bits |= value << field.lsb;
    }
    match class {
        Class::M2sReq => bits & !(1 << 28),
        Class::S2mDrs => bits & !(7 << 1),
        Class::H2dRsp if bits >> 1 & 0xf == u128::from(H2dRspOpcode::GO.0) => {
            let states = GoState::TABLE.codes;
            let state = states[(raw >> 5) as usize % states.len()].value;
            bits & !(0xfff << 5) | state << 5
        }
        _ => bits,
    }
}

/// A legal message made of random bits, a line and byte enables. `shape` picks size and enables where there is a choice:
/// bits 1:0 the size (0 and 3 the line, 1 the lower half, 2 the upper half), bit 2 byte enables.
pub fn legal_message(class: Class, raw: u128, shape: u8, line: [u8; 64], enables: u64) -> Cxl68Message {
    let mut bits = legal_bits(class, raw);
    if !class.has_data() {
        return Cxl68Message::new(class, bits);
    }
    let size = match (class.may_be_32_bytes(), shape & 3) {
        (true, 1) => Size::LowerHalf,
        (true, 2) if class != Class::S2mDrs => Size::UpperHalf,
        _ => Size::Line,
    };
    // ChunkValid, bit 13 of both CXL.cache data headers, names the half (§2.7, §2.10).
    if class != Class::S2mDrs && size != Size::Line {
        bits = bits & !(1 << 13) | u128::from(size == Size::UpperHalf) << 13;
    }
    let enables = (class.may_have_byte_enables() && shape & 4 != 0).then_some(enables);
    let travels = size.bytes_mask();
    let bytes = std::array::from_fn(|k| if travels >> k & 1 == 1 { line[k] } else { 0 });
    Cxl68Message::with_data(class, bits, Data { bytes, size, byte_enables: enables })
}

/// A random legal message of a direction.
pub fn random_message(random: &mut Random, dir: Dir) -> Cxl68Message {
    let class = classes(dir).nth(random.below(5)).expect("five classes a direction");
    legal_message(class, random.wide(), random.bits() as u8, random.bytes(), random.bits())
}
