//! The UPLI: signals between an accelerator and its transaction layer (`ualink` §12).
//!
//! Widths are the sheet's; signals have no order on a wire, so here they stand in the order of its table. Data (512 bits)
//! and the 64-bit authentication tag travel beside these words. Left out: how transfers are timed.

use super::code::{AtomicSize, ReqCmd, Status};
use super::field::finding;
use crate::layout;
use crate::wire::{Violation, Wire};

layout! {
    /// Request channel, originator to completer.
    pub struct UpliReq: 127 bits = "ualink.upli_req" {
        source: "ualink §12 (A)", basis: Spec, rule: "UAL-UPL-01";
        /// The cycle has a request.
        valid: bool = [0 +: 1], default 1;
        /// Port of the station.
        port: u8 = [1 +: 2];
        /// Virtual channel.
        vc: u8 = [3 +: 2];
        /// 1: pool credits.
        pool: bool = [5 +: 1];
        /// Names the transaction.
        tag: u16 = [6 +: 11];
        /// Source accelerator.
        src: u16 = [17 +: 10];
        /// Destination accelerator.
        dst: u16 = [27 +: 10];
        /// Byte address.
        address: u64 = [37 +: 57];
        /// Command.
        cmd: ReqCmd = [94 +: 6];
        /// DWords, minus 1.
        len: u8 = [100 +: 6];
        /// Attributes.
        attr: u8 = [106 +: 8];
        /// Metadata.
        metadata: u8 = [114 +: 8];
        /// Address space.
        asi: u8 = [122 +: 2];
        /// Data beats, minus 1.
        numbeats: u8 = [124 +: 2];
        /// Even parity of the other bits.
        parity: bool = [126 +: 1];
    }
}

layout! {
    /// Originator data channel, beside 512 bits of data.
    pub struct UpliOrigData: 82 bits = "ualink.upli_orig_data" {
        source: "ualink §12 (A)", basis: Spec, rule: "UAL-UPL-01";
        /// The cycle has a beat.
        valid: bool = [0 +: 1], default 1;
        /// Port of the station.
        port: u8 = [1 +: 2];
        /// Virtual channel.
        vc: u8 = [3 +: 2];
        /// 1: pool credits.
        pool: bool = [5 +: 1];
        /// Beat.
        offset: u8 = [6 +: 2];
        /// Last beat.
        last: bool = [8 +: 1];
        /// The data is known to be wrong.
        error: bool = [9 +: 1];
        /// Bit i enables byte i.
        byte_en: u64 = [10 +: 64];
        /// Even parity, bit i of data bits 64i+63:64i.
        data_parity: u8 = [74 +: 8];
    }
}

layout! {
    /// Read response and data channel, completer to originator, beside 512 bits of data.
    pub struct UpliRdRsp: 55 bits = "ualink.upli_rd_rsp" {
        source: "ualink §12 (A)", basis: Spec, rule: "UAL-UPL-01";
        /// The cycle has a response.
        valid: bool = [0 +: 1], default 1;
        /// Port of the station.
        port: u8 = [1 +: 2];
        /// Virtual channel.
        vc: u8 = [3 +: 2];
        /// 1: pool credits.
        pool: bool = [5 +: 1];
        /// Names the transaction.
        tag: u16 = [6 +: 11];
        /// Source accelerator.
        src: u16 = [17 +: 10];
        /// Destination accelerator.
        dst: u16 = [27 +: 10];
        /// Status.
        status: Status = [37 +: 4];
        /// Beats, minus 1.
        numbeats: u8 = [41 +: 2];
        /// Beat.
        offset: u8 = [43 +: 2];
        /// Last beat.
        last: bool = [45 +: 1];
        /// The data is known to be wrong.
        error: bool = [46 +: 1];
        /// Even parity, bit i of data bits 64i+63:64i.
        data_parity: u8 = [47 +: 8];
    }
}

layout! {
    /// Write response channel, completer to originator.
    pub struct UpliWrRsp: 42 bits = "ualink.upli_wr_rsp" {
        source: "ualink §12 (A)", basis: Spec, rule: "UAL-UPL-01";
        /// The cycle has a response.
        valid: bool = [0 +: 1], default 1;
        /// Port of the station.
        port: u8 = [1 +: 2];
        /// Virtual channel.
        vc: u8 = [3 +: 2];
        /// 1: pool credits.
        pool: bool = [5 +: 1];
        /// Names the transaction.
        tag: u16 = [6 +: 11];
        /// Source accelerator.
        src: u16 = [17 +: 10];
        /// Destination accelerator.
        dst: u16 = [27 +: 10];
        /// Status.
        status: Status = [37 +: 4];
        /// Even parity of the other bits.
        parity: bool = [41 +: 1];
    }
}

layout! {
    /// Credit return of one port on one channel.
    pub struct UpliCredit: 7 bits = "ualink.upli_credit" {
        source: "ualink §12 (A)", basis: Spec, rule: "UAL-UPL-01";
        /// The cycle returns credits.
        valid: bool = [0 +: 1], default 1;
        /// 1: to the pool.
        pool: bool = [1 +: 1];
        /// Virtual channel.
        vc: u8 = [2 +: 2];
        /// Credits, minus 1.
        num: u8 = [4 +: 2];
        /// The initial credits are all there.
        init_done: bool = [6 +: 1];
    }
}

layout! {
    /// ReqAttr of a read: byte enables.
    pub struct ReadAttr: 8 bits = "ualink.attr_read" {
        source: "ualink §12 (B)", basis: Spec, rule: "UAL-UPL-04";
        /// First DWord.
        first: u8 = [0 +: 4];
        /// Last DWord; ignored where there is one alone.
        last: u8 = [4 +: 4];
    }
}

layout! {
    /// ReqAttr of an atomic: operation and size of the operand. Operations are the vendor's own.
    pub struct AtomicAttr: 8 bits = "ualink.attr_atomic" {
        source: "ualink §12 (B)", basis: Spec, rule: "UAL-UPL-04";
        /// Bit 4 of the operation.
        op_high: bool = [0 +: 1];
        /// Reserved.
        rsvd: bool = [1 +: 1], reserved;
        /// Size of the operand.
        size: AtomicSize = [2 +: 2];
        /// Bits 3:0 of the operation.
        op_low: u8 = [4 +: 4];
    }
}

layout! {
    /// Initialisation vector of AES-GCM; the cipher is left out. Which end is the counter's is our choice: the last bytes.
    pub struct Iv: 96 bits = "ualink.iv" {
        source: "ualink §12 (A)", basis: Inferred, rule: "UAL-SEC-01", order: Big;
        /// Counts the transactions of a stream.
        counter: u32 = [0 +: 32];
        /// Zeros.
        zeros: u64 = [32 +: 64], reserved;
    }
}

/// Even parity of the eight 64-bit words of a beat: each word and its bit have an even number of ones.
pub fn data_parity(data: &[u8; 64]) -> u8 {
    data.chunks_exact(8).enumerate().fold(0, |parity, (i, word)| {
        let ones: u32 = word.iter().map(|b| b.count_ones()).sum();
        parity | ((ones & 1) as u8) << i
    })
}

/// Judges the parity of a beat; `None` when it fits.
pub fn check_data_parity(data: &[u8; 64], parity: u8) -> Option<Violation> {
    let expected = data_parity(data);
    (parity != expected).then(|| {
        let text = "the data parity of a UPLI beat does not match its data";
        finding("UAL-UPL-13", (0, 8), format!("{parity:#04x}"), format!("{expected:#04x}"), text)
    })
}

/// Even parity of a word whose parity bit is its highest.
pub fn control_parity(bits: u128) -> bool {
    bits.count_ones() % 2 == 1
}

/// Judges ReqAttr of an AtomicR or AtomicNR whose length field is `len`.
pub(super) fn check_atomic(attr: u8, len: u8, found: &mut Vec<Violation>) {
    let fields = AtomicAttr::from_bits(attr.into());
    if fields.rsvd {
        found.push(finding(
            "UAL-UPL-04",
            (95, 1),
            1,
            0,
            "ualink.tl_req: a reserved bit of the attributes of an atomic is not 0",
        ));
    }
    // Elements of 8, 16 and 32 bits divide every number of double words.
    if fields.size == AtomicSize::Bits64 && !(len + 1).is_multiple_of(2) {
        let found_dwords = format!("{} DWords", len + 1);
        let text = "ualink.tl_req: the elements of an atomic do not divide its length";
        found.push(finding(
            "UAL-UPL-04",
            (96, 2),
            found_dwords,
            "a multiple of 2 DWords, for elements of 64 bits",
            text,
        ));
    }
}
