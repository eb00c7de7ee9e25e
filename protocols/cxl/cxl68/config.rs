//! Choices of the 68B link: what the sheet marks \[C\] or \[D\], and the capabilities that the two ends agree on.

/// Link-layer revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Revision {
    /// 1.0 and 1.1: NDR of 28 bits, three NDR in up G5, no H6 (`cxl-68b` §3.3).
    V1_1,
    /// 2.0 and later.
    #[default]
    V2_0,
}

impl Revision {
    /// Version field of INIT.Param (`cxl-68b` §6.3).
    pub const fn init_version(self) -> u8 {
        match self {
            Revision::V1_1 => 1,
            Revision::V2_0 => 2,
        }
    }
}

/// How the LLR wrap value of INIT.Param is read (`cxl-68b` §6.4) \[D\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WrapMeaning {
    /// The highest sequence number before 0: modulus is wrap + 1.
    #[default]
    HighestNumber,
    /// The modulus itself, as one public bench sends it.
    Modulus,
}

/// Which NUM_RETRY a RETRY.Req carries (`cxl-68b` §7.3) \[D\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReqCount {
    /// The value before the increment: the first try carries 0.
    #[default]
    BeforeIncrement,
    /// The value after it: the first try carries 1.
    AfterIncrement,
}

/// What a bad static bit in a control flit with a good CRC means (`cxl-68b` §6.1) \[D\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StaticBitFault {
    /// A CRC error in every state.
    #[default]
    CrcError,
    /// Fatal in RETRY_LOCAL_NORMAL, a CRC error elsewhere.
    FatalInNormal,
}

/// How a transmitter spoils a CRC to signal viral (`cxl-68b` §7.5) \[D\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CrcSpoil {
    /// All 16 bits inverted.
    #[default]
    InvertAll,
    /// The lowest bit inverted.
    InvertLowest,
}

/// Every \[C\] and \[D\] choice of the 68B link layer, each named after its row of the sheet `cxl-68b`, with the agreed
/// capabilities. `Default` is what the sheet calls our choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cxl68Config {
    /// Link-layer revision that both ends speak.
    pub revision: Revision,
    /// Both ends support several data headers in one slot (§5.3); `false` as if the defeature bit 0 were set.
    pub mdh: bool,
    /// §2.1 \[D\]: send Addr\[5\] of an M2S Req as given (critical chunk) instead of 0. A receiver ignores it.
    pub send_address_bit_5: bool,
    /// §1.5 \[D\]: Sz and BE of a flit in which no data begins. A receiver ignores them.
    pub idle_sz_be: (bool, bool),
    /// §4.6 \[D\]: a device may send MemDataNXM. A receiver always decodes it.
    pub send_nxm: bool,
    /// §5.4 \[C\]: width of a sender's credit counter; it saturates. 1 to 16 bits.
    pub credit_counter_bits: u8,
    /// §6.1 \[D\]: reaction to a bad static bit.
    pub static_bit_fault: StaticBitFault,
    /// §6.4 \[D\]: reading of the LLR wrap value.
    pub wrap_meaning: WrapMeaning,
    /// §7.1: entries of the retry buffer, 22 to 255; the sheet's bounds, the number is ours.
    pub llrb_entries: u16,
    /// §7.1: acknowledgements or credits wait at most this many link clocks (flush retimer), 1 to 1023; number ours.
    pub llcrd_flush_flits: u16,
    /// §7.1: acknowledgements that force an LLCRD (recommended at least 16), 1 to 255.
    pub llcrd_ack_threshold: u8,
    /// §7.2 \[D\]: Frames that have to stand before a Req or Ack; more are accepted.
    pub frames_before_sequence: u8,
    /// §7.3 \[D\]: which NUM_RETRY travels.
    pub req_count: ReqCount,
    /// §7.3 \[D\]: transmitted flits until a missing Ack is asked for again (at least 4096 suggested).
    pub timeout_flits: u32,
    /// §7.3 \[D\]: tries before the PHY is reinitialised, 1 to 31 (at least 10 suggested).
    pub max_num_retry: u8,
    /// §7.3 \[D\]: reinitialisations before the link is given up, 1 to 31 (at least 10 suggested).
    pub max_num_phy_reinit: u8,
    /// §7.5 \[D\]: how viral spoils a CRC.
    pub crc_spoil: CrcSpoil,
}

impl Default for Cxl68Config {
    fn default() -> Self {
        Cxl68Config {
            revision: Revision::V2_0,
            mdh: true,
            send_address_bit_5: false,
            idle_sz_be: (false, false),
            send_nxm: false,
            credit_counter_bits: 10,
            static_bit_fault: StaticBitFault::CrcError,
            wrap_meaning: WrapMeaning::HighestNumber,
            llrb_entries: 128,
            llcrd_flush_flits: 32,
            llcrd_ack_threshold: 16,
            frames_before_sequence: 5,
            req_count: ReqCount::BeforeIncrement,
            timeout_flits: 4096,
            max_num_retry: 10,
            max_num_phy_reinit: 10,
            crc_spoil: CrcSpoil::InvertAll,
        }
    }
}

/// A choice outside its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cxl-68b link: `{name}` is {found}, expected {expected} ({rule})")]
pub struct Cxl68ConfigError {
    /// Field of [`Cxl68Config`].
    pub name: &'static str,
    /// Value given.
    pub found: u64,
    /// Range.
    pub expected: &'static str,
    /// Rule that bounds it.
    pub rule: &'static str,
}

impl Cxl68Config {
    /// Checks every range.
    ///
    /// # Errors
    /// The first field outside its range.
    pub fn validate(&self) -> Result<(), Cxl68ConfigError> {
        let ranges: [(&'static str, u64, core::ops::RangeInclusive<u64>, &'static str, &'static str); 8] = [
            ("llrb_entries", self.llrb_entries.into(), 22..=255, "22 to 255", "CXL68-LLR-06"),
            ("max_num_retry", self.max_num_retry.into(), 1..=31, "1 to 31, a 5-bit field", "CXL68-LRS-18"),
            ("max_num_phy_reinit", self.max_num_phy_reinit.into(), 1..=31, "1 to 31, a 5-bit field", "CXL68-LRS-18"),
            ("timeout_flits", self.timeout_flits.into(), 1..=u32::MAX as u64, "at least 1", "CXL68-LRS-18"),
            ("credit_counter_bits", self.credit_counter_bits.into(), 1..=16, "1 to 16", "CXL68-CRD-06"),
            ("llcrd_flush_flits", self.llcrd_flush_flits.into(), 1..=1023, "1 to 1023, a 10-bit field", "CXL68-LLR-10"),
            ("llcrd_ack_threshold", self.llcrd_ack_threshold.into(), 1..=255, "1 to 255", "CXL68-LLR-10"),
            ("frames_before_sequence", self.frames_before_sequence.into(), 1..=255, "1 to 255", "CXL68-LLR-12"),
        ];
        for (name, found, range, expected, rule) in ranges {
            if !range.contains(&found) {
                return Err(Cxl68ConfigError { name, found, expected, rule });
            }
        }
        Ok(())
    }
}
