//! Choices of the CXL.io link layer: what the sheets leave open or mark \[C\] or \[D\].

use super::credit::{Advertised, IoCreditField};
use super::order::IoOrder;
use scalepool_protocols::cxl::cxl256::Mode;

/// What the local prefix 8Eh carries on this link (`cxl-io` §3.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IdPrefix {
    /// One logical device: no such prefix.
    #[default]
    Nothing,
    /// Several logical devices: an LD-ID of 16 bits.
    LdId,
    /// A PBR-ID of 12 bits.
    PbrId,
}

/// Receive buffers of one kind of TLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffers {
    /// Headers.
    pub headers: Advertised,
    /// Data, in units of 4 DW.
    pub data: Advertised,
}

/// A choice outside its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: found {found}, expected {expected}")]
pub struct IoConfigError {
    what: &'static str,
    found: u64,
    expected: &'static str,
}

/// Choices of both link layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoConfig {
    /// Time of one flit, in which all other times are counted. 1062.5 ps: 68 bytes at x16 and 32 GT/s.
    pub flit_fs: u64,
    /// Receive buffers by [`IoCreditClass::index`](super::tlp::IoCreditClass::index); a kind may be infinite. Each must hold the longest TLP that comes.
    pub buffers: [Buffers; 3],
    /// Receive buffers of the channel of UIO ([`UIO_VC`](super::flow::UIO_VC)), where the link has one: in flit mode alone.
    pub uio: Option<[Buffers; 3]>,
    /// TLPs of each kind that may wait to be sent, by [`IoCreditClass::index`](super::tlp::IoCreditClass::index).
    pub queue_tlps: [usize; 3],
    /// Which of them may leave in front of which.
    pub order: IoOrder,
    /// Longest silence about credits: 10 us (`cxl-io` §2.5). This end speaks four times as often, as a DLLP may be
    /// lost \[D\].
    pub update_fc_fs: u64,
    /// Flits after which InitFC goes again while the peer is silent \[D\].
    pub init_repeat_flits: u64,
    /// What the local prefix 8Eh carries.
    pub id_prefix: IdPrefix,
}

impl Default for IoConfig {
    fn default() -> Self {
        // Room for 64 headers and 16 KiB of each kind [D]; completions are taken without limit, as their requester
        // has made room for them [C].
        let finite = Buffers { headers: Advertised::x1(64), data: Advertised::x1(1024) };
        let endless = Buffers { headers: Advertised::INFINITE, data: Advertised::INFINITE };
        IoConfig {
            flit_fs: 1_062_500,
            buffers: [finite, finite, endless],
            uio: None,
            queue_tlps: [64; 3],
            order: IoOrder::STRICT,
            update_fc_fs: 10_000_000_000,
            init_repeat_flits: 32,
            id_prefix: IdPrefix::Nothing,
        }
    }
}

impl IoConfig {
    /// A time in flits, at least `least`.
    pub(super) fn flits(&self, time_fs: u64, least: u64) -> u64 {
        (time_fs / self.flit_fs).max(least)
    }

    /// Judges the ranges.
    ///
    /// # Errors
    /// The first choice outside its range.
    pub fn check(&self) -> Result<(), IoConfigError> {
        let wrong = |what, found, expected| Err(IoConfigError { what, found, expected });
        if self.flit_fs == 0 {
            return wrong("flit_fs", 0, "at least 1");
        }
        if self.queue_tlps.contains(&0) {
            return wrong("queue_tlps", 0, "at least 1");
        }
        if self.update_fc_fs / 4 < self.flit_fs {
            return wrong("update_fc_fs", self.update_fc_fs, "at least 4 flits");
        }
        let of_channels = [Some(self.buffers), self.uio].into_iter().flatten();
        for Buffers { headers, data } in of_channels.flatten() {
            if !headers.is_legal(IoCreditField::Header) {
                return wrong("buffers.headers", headers.field.into(), "at most 127 counts");
            }
            if !data.is_legal(IoCreditField::Data) {
                return wrong("buffers.data", data.field.into(), "at most 2047 counts");
            }
        }
        Ok(())
    }
}

/// Choices of replay on 68B links. The sheet has no number: all \[C\] or \[D\].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayConfig {
    /// TLPs of the replay buffer, 1 to 2047 \[D\].
    pub buffer_tlps: usize,
    /// Time without progress after which everything not acknowledged goes again: 24000 symbols of 8 bits at 32 GT/s \[C\].
    pub replay_timer_fs: u64,
    /// Longest time that a good TLP waits for its Ack: that of flit mode at x16, 50 ns (`cxl-256b` §9) \[D\].
    pub ack_latency_fs: u64,
    /// Replays without progress, at most; one more asks for training. The counter has two bits \[C\].
    pub replays: u8,
}

impl Default for ReplayConfig {
    fn default() -> Self {
        ReplayConfig { buffer_tlps: 256, replay_timer_fs: 6_000_000_000, ack_latency_fs: 50_000_000, replays: 3 }
    }
}

impl ReplayConfig {
    /// Judges the ranges.
    ///
    /// # Errors
    /// The first choice outside its range.
    pub fn check(&self) -> Result<(), IoConfigError> {
        if self.buffer_tlps == 0 || self.buffer_tlps > 2047 {
            let found = self.buffer_tlps as u64;
            return Err(IoConfigError { what: "buffer_tlps", found, expected: "1 to 2047" });
        }
        Ok(())
    }
}

/// Choices of 256B links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlitConfig {
    /// Flit format.
    pub mode: Mode,
    /// Flits that a DLLP waits for one to ride on before a flit is sent for it \[D\].
    pub dllp_patience_flits: u64,
}

impl FlitConfig {
    /// Of a format.
    pub const fn new(mode: Mode) -> FlitConfig {
        FlitConfig { mode, dllp_patience_flits: 16 }
    }
}
