//! Class IO of the bridge SoC by its sheet (`bridge` §3.6, §4.1, §4.3, §4.4): what leaves as TLPs, in words and byte by byte.
//!
//! Runs are found between DWs, not along them: two DWs side by side are in one write if the last byte of one and the first byte of the next
//! are enabled, and neither has a gap.

use crate::bridge::UpliRequest;

/// A TLP as far as the tables look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldTlp {
    /// `MRd`, `MWr`, `FetchAdd`, `Swap`, `CAS`.
    pub name: &'static str,
    /// Byte address of its first DW, a UALink address.
    pub address: u64,
    /// DWs of the request; of an atomic, of its operands.
    pub dw: u64,
    /// Enables of the first and the last DW; of an atomic nothing.
    pub enables: (u8, u8),
}

/// Whether the enabled bytes of a DW stand side by side.
fn has_no_gap(dw: &[bool]) -> bool {
    let ends = dw.windows(2).filter(|pair| pair[0] != pair[1]).count() + usize::from(dw[0]) + usize::from(dw[3]);
    ends == 2
}

fn code(dw: &[bool]) -> u8 {
    (0..4).filter(|k| dw[*k]).map(|k| 1 << k).sum()
}

/// 3.6: writes of enabled bytes: first DW, DWs, enables of the first and the last one.
pub fn runs(enabled: &[bool]) -> Vec<(u64, u64, (u8, u8))> {
    let dws: Vec<&[bool]> = enabled.chunks(4).collect();
    let is_joined = |n: usize| {
        let (one, next) = (dws[n], dws[n + 1]);
        one[3] && next[0] && has_no_gap(one) && has_no_gap(next)
    };
    let starts: Vec<usize> = (0..dws.len()).filter(|n| code(dws[*n]) != 0 && (*n == 0 || !is_joined(n - 1))).collect();
    let run = |first: usize| {
        let last = (first..dws.len() - 1).find(|n| !is_joined(*n)).unwrap_or(dws.len() - 1);
        let of_last = if last == first { 0 } else { code(dws[last]) };
        (first as u64, (last - first + 1) as u64, (code(dws[first]), of_last))
    };
    starts.into_iter().map(run).collect()
}

/// 4.4: what a completer is asked for an atomic on these bytes of a line, if it has such a thing.
fn atomic(attr: u8, bytes: &[u64]) -> Option<(&'static str, u64)> {
    let size = [4, 8, 2, 1][usize::from(attr / 4 % 4)];
    let name = *["FetchAdd", "Swap", "CAS"].get(usize::from(attr / 16 + 16 * (attr % 2)))?;
    let is_one = bytes.len() as u64 == size && bytes[0].is_multiple_of(size);
    (is_one && size >= 4).then_some((name, size))
}

/// TLPs of a request to a window of class IO in which its source has all rights, with writes acknowledged by a read of no byte; `None`: it is
/// refused with status 2. The request is one that other classes with atomics would do.
pub fn told(asked: &UpliRequest) -> Option<Vec<ToldTlp>> {
    let (first, block) = (asked.address % 256, asked.address - asked.address % 256);
    let inside = |byte: u64| (first..first + 4 * asked.dwords).contains(&byte);
    match asked.cmd {
        0x03 => {
            let (low, high) = (asked.attr % 16, asked.attr / 16);
            let enables = if asked.dwords == 1 { (low, 0) } else { (low, high) };
            if asked.dwords > 1 && (low == 0 || high == 0) {
                return None;
            }
            Some(vec![ToldTlp { name: "MRd", address: asked.address, dw: asked.dwords, enables }])
        }
        0x28 | 0x29 => {
            let enabled: Vec<bool> =
                (0..256).map(|byte| inside(byte) && (asked.cmd == 0x29 || asked.enables[byte as usize])).collect();
            let mut tlps: Vec<ToldTlp> = runs(&enabled)
                .into_iter()
                .map(|(at, dw, enables)| ToldTlp { name: "MWr", address: block + 4 * at, dw, enables })
                .collect();
            if let Some(last) = tlps.last() {
                let address = last.address + 4 * (last.dw - 1);
                tlps.push(ToldTlp { name: "MRd", address, dw: 1, enables: (0, 0) });
            }
            Some(tlps)
        }
        _ => {
            let bytes: Vec<u64> = (0..256).filter(|byte| inside(*byte) && asked.enables[*byte as usize]).collect();
            if bytes.is_empty() {
                return Some(Vec::new());
            }
            let (name, size) = atomic(asked.attr, &bytes)?;
            let dw = size / 4 * if name == "CAS" { 2 } else { 1 };
            Some(vec![ToldTlp { name, address: block + bytes[0], dw, enables: (0, 0) }])
        }
    }
}
