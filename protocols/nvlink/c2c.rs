//! NVLink-C2C: a preset of rate and latency (`nvlink` §5). Its wire format is not public, so there is no codec: encoding a
//! flit of it is an error.

use super::generation::Generation;
use super::packet::Packet;
use thiserror::Error;

/// A chip-to-chip port. Rates are decimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct C2c {
    /// Bits on a signal, in kb/s: NRZ, single-ended.
    pub signal_kbps: u64,
    /// Data signals of a link, each direction.
    pub signals: u64,
    /// Links of a port.
    pub links: u64,
    /// Latency of the interface \[fs\]; stated as less than that.
    pub latency_fs: u64,
}

/// The port of Grace and H100.
pub const C2C: C2c = C2c { signal_kbps: 40_000_000, signals: 9, links: 10, latency_fs: 5_000_000 };

/// The same in the form of a generation, for what takes a rate; it is none of the five. A signal counts as a lane.
pub static C2C_RATE: Generation = Generation {
    number: 0,
    raw_lane_kbps: C2C.signal_kbps,
    nominal_lane_kbps: C2C.signal_kbps,
    lanes: C2C.signals,
    links: C2C.links,
};

/// What cannot be encoded.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum C2cError {
    /// There is no public format.
    #[error("nvlink-c2c: found a packet of {found} flits to encode, expected none: the wire format is not public")]
    NoWireFormat {
        /// Flits of the packet given.
        found: usize,
    },
}

impl C2c {
    /// Bytes of one direction of a link, in MB/s.
    pub const fn link_mbps(&self) -> u64 {
        self.signal_kbps * self.signals / 8_000
    }

    /// Bytes of one direction of all links, in MB/s.
    pub const fn side_mbps(&self) -> u64 {
        self.links * self.link_mbps()
    }

    /// Time until the last of so many bytes is there, when they are spread over all links \[fs\].
    pub const fn transfer_fs(&self, bytes: u64) -> u64 {
        self.latency_fs + (bytes as u128 * 1_000_000_000 / self.side_mbps() as u128) as u64
    }

    /// Always refuses.
    ///
    /// # Errors
    /// [`C2cError::NoWireFormat`].
    pub fn encode(&self, packet: &Packet) -> Result<Vec<u8>, C2cError> {
        Err(C2cError::NoWireFormat { found: packet.flits().len() })
    }
}
