//! The 4-bit credit field (`cxl-68b` §5.4): bit 3 names the protocol, bits 2:0 code a count.

use super::Dir;
use super::message::Class;
use crate::wire::Numbers;

/// What the 16 codes of a credit field stand for.
pub static CODES: &Numbers = &Numbers {
    source: "cxl-68b §5.4",
    rows: &[
        (0, "no credits"),
        (1, "1 credit of CXL.cache"),
        (2, "2 credits of CXL.cache"),
        (3, "4 credits of CXL.cache"),
        (4, "8 credits of CXL.cache"),
        (5, "16 credits of CXL.cache"),
        (6, "32 credits of CXL.cache"),
        (7, "64 credits of CXL.cache"),
        (8, "no credits"),
        (9, "1 credit of CXL.mem"),
        (10, "2 credits of CXL.mem"),
        (11, "4 credits of CXL.mem"),
        (12, "8 credits of CXL.mem"),
        (13, "16 credits of CXL.mem"),
        (14, "32 credits of CXL.mem"),
        (15, "64 credits of CXL.mem"),
    ],
};

/// Credits that a 3-bit count stands for.
pub const COUNTS: [u8; 8] = [0, 1, 2, 4, 8, 16, 32, 64];

/// The three credit fields of a flit header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CreditField {
    /// RspCrd.
    Rsp,
    /// ReqCrd.
    Req,
    /// DataCrd.
    Data,
}

impl CreditField {
    /// All fields, in order of their bits.
    pub const ALL: [CreditField; 3] = [CreditField::Rsp, CreditField::Req, CreditField::Data];
}

/// The channel that a credit belongs to. `dir` is the direction of the flit that carries the field: a flit that travels
/// down returns credits of upstream channels. `None`: reserved, ignored.
pub const fn channel(dir: Dir, field: CreditField, mem: bool) -> Option<Class> {
    match (dir, field, mem) {
        (Dir::Down, CreditField::Req, false) => Some(Class::D2hReq),
        (Dir::Down, CreditField::Req, true) => None,
        (Dir::Down, CreditField::Data, false) => Some(Class::D2hData),
        (Dir::Down, CreditField::Data, true) => Some(Class::S2mDrs),
        (Dir::Down, CreditField::Rsp, false) => Some(Class::D2hRsp),
        (Dir::Down, CreditField::Rsp, true) => Some(Class::S2mNdr),
        (Dir::Up, CreditField::Req, false) => Some(Class::H2dReq),
        (Dir::Up, CreditField::Req, true) => Some(Class::M2sReq),
        (Dir::Up, CreditField::Data, false) => Some(Class::H2dData),
        (Dir::Up, CreditField::Data, true) => Some(Class::M2sRwd),
        (Dir::Up, CreditField::Rsp, false) => Some(Class::H2dRsp),
        (Dir::Up, CreditField::Rsp, true) => None,
    }
}

/// Reads a field: the channel and the credits. `None` for count 0 and for reserved channels.
pub const fn decode(dir: Dir, field: CreditField, code: u8) -> Option<(Class, u8)> {
    match (channel(dir, field, code & 8 != 0), COUNTS[(code & 7) as usize]) {
        (_, 0) | (None, _) => None,
        (Some(class), count) => Some((class, count)),
    }
}

/// The code of the largest power of two that is not above `pending`, and the credits it stands for \[D\].
pub const fn encode(mem: bool, pending: u16) -> (u8, u8) {
    let Some(log) = pending.checked_ilog2() else { return (0, 0) };
    let count = if log < 6 { log as usize + 1 } else { 7 };
    ((mem as u8) << 3 | count as u8, COUNTS[count])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_power_of_two() {
        for pending in 0..300 {
            let (code, count) = encode(true, pending);
            assert!(count as u16 <= pending && (count == 64 || pending < 2 * (count as u16).max(1) || pending == 0));
            assert_eq!(COUNTS[(code & 7) as usize], count);
            assert_eq!(code & 8 != 0, count != 0, "no credits: code 0000");
        }
    }

    #[test]
    fn the_table_says_what_the_codes_are() {
        for code in 0..16 {
            let (count, protocol) = (COUNTS[code & 7], if code & 8 == 0 { "cache" } else { "mem" });
            let meaning = match count {
                0 => "no credits".to_owned(),
                1 => format!("1 credit of CXL.{protocol}"),
                n => format!("{n} credits of CXL.{protocol}"),
            };
            assert_eq!(CODES.rows[code], (code as u128, meaning.as_str()));
        }
    }

    #[test]
    fn every_class_has_one_field() {
        for class in Class::ALL {
            let dir = class.dir().opposite();
            let hits = CreditField::ALL.iter().flat_map(|&f| [(f, false), (f, true)]);
            assert_eq!(hits.filter(|&(f, mem)| channel(dir, f, mem) == Some(class)).count(), 1);
        }
    }
}
