//! A byte mask of a block as writes of CXL.io (`bridge` §3.6).
//!
//! Modelled: a run begins at a DW with an enabled byte; it grows while the enables of its first DW reach byte 3 without a gap, those between
//! are whole, and the next one begins at byte 0 without a gap. Left out: the data. A walk: bytes 5 to 27 are one run of 6 DWs, whose first
//! DW has bytes 1 to 3 and whose last one is whole; DWs with enables F, 5, 0, F, B are four runs.

/// DWs of a block.
pub const BLOCK_DW: usize = 64;

/// DWs side by side that one MWr writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DwRun {
    /// First DW, counted from the begin of the block.
    pub first_dw: usize,
    /// DWs, at least 1.
    pub dw: usize,
    /// Enabled bytes of the first one.
    pub first: u8,
    /// Enabled bytes of the last one; 0 of a run of one DW.
    pub last: u8,
}

/// Enables of a first DW behind which a run goes on.
fn reaches_end(enables: u8) -> bool {
    matches!(enables, 0xf | 0xe | 0xc | 0x8)
}

/// Enables of a DW with which a run goes on.
fn begins_at_start(enables: u8) -> bool {
    matches!(enables, 0xf | 0x7 | 0x3 | 0x1)
}

/// The runs of the enables of DWs, 4 bits each, ascending. A run never goes over a DW for which `is_cut` holds, but begins there anew.
pub fn runs(enables: &[u8], is_cut: impl Fn(usize) -> bool) -> Vec<DwRun> {
    let mut all: Vec<DwRun> = Vec::new();
    let mut may_grow = false;
    for (n, enabled) in enables.iter().map(|enables| enables & 0xf).enumerate() {
        if enabled == 0 {
            may_grow = false;
            continue;
        }
        match all.last_mut() {
            Some(run) if may_grow && begins_at_start(enabled) && !is_cut(n) => {
                (run.dw, run.last) = (run.dw + 1, enabled);
                // Every inner DW is whole.
                may_grow = enabled == 0xf;
            }
            _ => {
                all.push(DwRun { first_dw: n, dw: 1, first: enabled, last: 0 });
                may_grow = reaches_end(enabled);
            }
        }
    }
    all
}
