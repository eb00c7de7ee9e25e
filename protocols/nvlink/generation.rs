//! Generations and their rates (`nvlink` §4, §5). The rates are public facts; that a model's throughput uses the nominal one
//! is the sheet's choice (§7).

/// One generation of the link. Rates are decimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generation {
    /// 1 to 5; 0 for [`C2C_RATE`](super::C2C_RATE).
    pub number: u8,
    /// Bits on a lane, in kb/s, what is lost to the line coding included.
    pub raw_lane_kbps: u64,
    /// Bits on a lane that carry flits, in kb/s.
    pub nominal_lane_kbps: u64,
    /// Lanes of a link, each direction.
    pub lanes: u64,
    /// Links of the first GPU.
    pub links: u64,
}

/// Bits of a flit.
const FLIT_BITS: u64 = 128;

/// The generations, in order (`nvlink` §4).
#[rustfmt::skip] // one row a line, as in the sheet
pub static GENERATIONS: [Generation; 5] = [
    Generation { number: 1, raw_lane_kbps:  20_000_000, nominal_lane_kbps:  20_000_000, lanes: 8, links:  4 },
    Generation { number: 2, raw_lane_kbps:  25_781_250, nominal_lane_kbps:  25_000_000, lanes: 8, links:  6 },
    Generation { number: 3, raw_lane_kbps:  50_000_000, nominal_lane_kbps:  50_000_000, lanes: 4, links: 12 },
    Generation { number: 4, raw_lane_kbps: 106_250_000, nominal_lane_kbps: 100_000_000, lanes: 2, links: 18 },
    Generation { number: 5, raw_lane_kbps: 212_500_000, nominal_lane_kbps: 200_000_000, lanes: 2, links: 18 },
];

impl Generation {
    /// Nominal bytes of one direction of a link, in MB/s.
    pub const fn link_mbps(&self) -> u64 {
        self.nominal_lane_kbps * self.lanes / 8_000
    }

    /// Raw bytes of one direction of a link, in MB/s, rounded down.
    pub const fn raw_link_mbps(&self) -> u64 {
        self.raw_lane_kbps * self.lanes / 8_000
    }

    /// Nominal bytes of all links of a GPU in both directions, in MB/s.
    pub const fn gpu_mbps(&self) -> u64 {
        2 * self.links * self.link_mbps()
    }

    /// Time of a flit at the nominal rate, in fs.
    pub const fn flit_fs(&self) -> u64 {
        FLIT_BITS * 1_000_000_000_000 / (self.nominal_lane_kbps * self.lanes)
    }
}

/// Share of a direction that is payload, when packets of so many payload bytes with so many AE and BE flits follow each
/// other (`nvlink` §5). With symmetric reads each packet shares its direction with a request of one flit, as if it had one
/// flit more.
pub fn efficiency(payload_bytes: u32, extra_flits: u32) -> f64 {
    let (payload, header) = (f64::from(payload_bytes), 16.0 * f64::from(1 + extra_flits));
    payload / (payload + header)
}
