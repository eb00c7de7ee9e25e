//! Checksums and the FEC of 256-byte flits, one item or many.

use super::call::{Caller, call};
use super::message::check_count;
use super::status::{Failure, SP_FINDING, SP_OK};
use scalepool_protocols::check::{crc16, crc256, fec256, pcie};
use scalepool_protocols::cxl::cxl256::flit::lopt;
use scalepool_protocols::nvlink::{FLIT_BYTES, NvlConfig};
use scalepool_protocols::ualink;

/// CRC-16 of a 68B flit, over the 64 bytes of its slots.
pub const SP_CRC_CXL68: u32 = 1;
/// 8-byte CRC of a standard or PBR flit, over the 242 bytes before it.
pub const SP_CRC_CXL256: u32 = 2;
/// 6-byte CRC of the even half of a latency-optimised flit, over the 122 bytes before it.
pub const SP_CRC_LOPT_EVEN: u32 = 3;
/// 6-byte CRC of the odd half of a latency-optimised flit, over its bytes 128 to 243 (116 bytes).
pub const SP_CRC_LOPT_ODD: u32 = 4;
/// CRC-32 of a UALink DL flit. The item is the whole flit of 640 bytes; the bytes of the CRC itself do not count.
pub const SP_CRC_UALINK: u32 = 5;
/// CRC-25 of an NVLink header in the model profile. The item has 16 bytes for each flit that is covered, with the
/// header last; the CRC field of the header does not count.
pub const SP_CRC_NVLINK: u32 = 6;
/// CRC-16 of a DLLP, over its 4 bytes.
pub const SP_CRC_DLLP: u32 = 7;
/// LCRC of a TLP, over its sequence number (2 bytes, high byte first) and the TLP in wire order.
pub const SP_CRC_LCRC: u32 = 8;
/// ECRC of a TLP, over the TLP without its local prefixes and without the digest.
pub const SP_CRC_ECRC: u32 = 9;

/// FEC of a standard or PBR flit.
pub const SP_FEC_STANDARD: u32 = 1;
/// FEC of a latency-optimised flit.
pub const SP_FEC_LOPT: u32 = 2;

/// Bytes of a 256B flit.
const FLIT: usize = 256;

fn wrong_length(found: usize, expected: &str) -> Failure {
    Failure::range("item", format!("{found} bytes"), expected)
}

/// The bytes of an item that has a fixed length.
fn fixed<const N: usize>(item: &[u8]) -> Result<&[u8; N], Failure> {
    item.try_into().map_err(|_| wrong_length(item.len(), &format!("{N}")))
}

/// The bytes of the CRC in wire order, read little-endian.
fn crc(kind: u32, item: &[u8]) -> Result<u64, Failure> {
    Ok(match kind {
        SP_CRC_CXL68 => crc16::cxl68(fixed(item)?).into(),
        SP_CRC_CXL256 => crc256::crc8(fixed(item)?),
        SP_CRC_LOPT_EVEN => crc256::crc6_even(fixed(item)?),
        SP_CRC_LOPT_ODD => crc256::crc6_odd(fixed(item)?),
        SP_CRC_UALINK => {
            let (order, coverage) = (ualink::crc::CrcBitOrder::X0First, ualink::crc::CrcCoverage::WholeFlit);
            ualink::crc::crc(fixed(item)?, order, coverage).into()
        }
        SP_CRC_NVLINK => {
            let flits = item.chunks_exact(FLIT_BYTES);
            if !flits.remainder().is_empty() {
                return Err(wrong_length(item.len(), "a multiple of 16, at least 16"));
            }
            let flits: Vec<u128> = flits.map(|f| f.iter().rev().fold(0, |n, &b| n << 8 | u128::from(b))).collect();
            let Some((header, covered)) = flits.split_last() else {
                return Err(wrong_length(item.len(), "a multiple of 16, at least 16"));
            };
            NvlConfig::default().crc_of(covered, *header).into()
        }
        SP_CRC_DLLP => u16::from_le_bytes(pcie::dllp_crc(fixed(item)?)).into(),
        SP_CRC_LCRC => match item {
            [high, low, tlp @ ..] => u32::from_le_bytes(pcie::lcrc(u16::from_be_bytes([*high, *low]), tlp)).into(),
            _ => return Err(wrong_length(item.len(), "at least 2")),
        },
        SP_CRC_ECRC => u32::from_le_bytes(pcie::ecrc(item)).into(),
        _ => return Err(Failure::range("kind", kind, "one of SP_CRC_*, 1 to 9")),
    })
}

/// Bytes in all of `count` items of the same length.
pub(super) fn bytes_of(count: usize, item_bytes: usize) -> Result<usize, Failure> {
    check_count(count)?;
    let all = count.checked_mul(item_bytes);
    all.ok_or_else(|| {
        Failure::range("item", format!("{count} times {item_bytes} bytes"), "fewer bytes than memory has")
    })
}

/// Computes the CRCs of `count` items of `item_bytes` each, which stand one after the other in `data`. `crcs` needs
/// room for `count` numbers. A CRC is given as a number whose little-endian bytes are the CRC in wire order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_crc(kind: u32, data: *const u8, item_bytes: usize, count: usize, crcs: *mut u64) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let crcs = caller.room("crcs", crcs, count)?;
        let data = caller.items("data", data, bytes_of(count, item_bytes)?)?;
        let found = match item_bytes {
            0 => (0..count).map(|_| crc(kind, &[])).collect::<Result<Vec<_>, _>>()?,
            n => data.chunks(n).map(|item| crc(kind, item)).collect::<Result<Vec<_>, _>>()?,
        };
        crcs.set(&found);
        Ok(SP_OK)
    })
}

fn flits(bytes: &mut [u8]) -> impl Iterator<Item = &mut [u8; FLIT]> {
    bytes.as_chunks_mut().0.iter_mut()
}

fn check_kind(kind: u32) -> Result<(), Failure> {
    match kind {
        SP_FEC_STANDARD | SP_FEC_LOPT => Ok(()),
        _ => Err(Failure::range("kind", kind, "SP_FEC_STANDARD or SP_FEC_LOPT")),
    }
}

/// Writes the six FEC bytes of `count` flits of 256 bytes in place. The CRCs must have been written before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_fec_encode(kind: u32, flits: *mut u8, count: usize) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        check_kind(kind)?;
        let length = bytes_of(count, FLIT)?;
        let room = caller.room("flits", flits, length)?;
        let mut bytes = caller.items("flits", flits.cast_const(), length)?;
        for flit in self::flits(&mut bytes) {
            if kind == SP_FEC_LOPT {
                let parity = fec256::parity_lopt(flit);
                flit[lopt::FEC].copy_from_slice(&parity);
            } else {
                let (protected, parity) = flit.split_at_mut(fec256::PROTECTED_BYTES);
                parity.copy_from_slice(&fec256::parity(fixed(protected)?));
            }
        }
        room.set(&bytes);
        Ok(SP_OK)
    })
}

/// Corrects `count` flits of 256 bytes in place. `corrected` needs room for `count` numbers: the number of bytes that
/// were corrected, or -1 for a flit that cannot be corrected and stays as it is. Returns SP_FINDING if there is such a
/// flit. The FEC corrects at most three bytes, one in each group. More errors can look like fewer, so check the CRC
/// afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_fec_correct(kind: u32, flits: *mut u8, count: usize, corrected: *mut i32) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        check_kind(kind)?;
        let length = bytes_of(count, FLIT)?;
        let (room, corrected) = (caller.room("flits", flits, length)?, caller.room("corrected", corrected, count)?);
        let mut bytes = caller.items("flits", flits.cast_const(), length)?;
        let correct = if kind == SP_FEC_LOPT { fec256::correct_lopt } else { fec256::correct };
        let repaired = |flit| correct(flit).map_or(-1, |corrections| corrections.iter().count() as i32);
        let found: Vec<i32> = self::flits(&mut bytes).map(repaired).collect();
        room.set(&bytes);
        corrected.set(&found);
        match found.iter().position(|&n| n < 0) {
            Some(n) => Err(Failure::new(SP_FINDING, format!("flit {n}: found errors that the FEC cannot repair"))),
            None => Ok(SP_OK),
        }
    })
}
