//! Choices of the 256B link: what the sheet leaves open or marks \[D\], and what an end has.
//!
//! [`LinkConfig`] is about numbers, [`CachememConfig`] about what CXL.cachemem above them is and has.

use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::config::Cxl256Config;
use scalepool_protocols::cxl::cxl256::flit::FLIT_BYTES;
use scalepool_protocols::cxl::cxl256::{Class, Mode};

/// Time of a flit as a fraction \[fs\], (numerator, denominator).
pub const fn flit_time_fs(lanes: u64, gt_per_s: u64) -> (u64, u64) {
    // 8 bits a byte; 10^6 fs over the rate in GT/s is the time of one bit on one lane.
    (FLIT_BYTES as u64 * 8 * 1_000_000, gt_per_s * lanes)
}

/// What the two ends have agreed on does not go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("CXL256-MAP-04: found latency-optimised flits with port based routing, expected one of them")]
pub struct NoSuchMode;

/// The format of all flits of a link, as it was negotiated.
///
/// # Errors
/// Latency-optimised flits with port based routing (`cxl-256b` §1.5).
pub const fn negotiated(latency_optimised: bool, port_based: bool) -> Result<Mode, NoSuchMode> {
    match (latency_optimised, port_based) {
        (true, true) => Err(NoSuchMode),
        (true, false) => Ok(Mode::LatencyOptimised),
        (false, true) => Ok(Mode::Pbr),
        (false, false) => Ok(Mode::Standard),
    }
}

/// How often a replay may be tried without progress (`cxl-256b` §9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayLimit {
    /// 64 GT/s: one more each time, training when it would pass 7.
    UpTo7,
    /// 32 GT/s and below: two more each time, training at 6 and above.
    Below6,
}

impl ReplayLimit {
    /// The count behind one more replay; `None`: the link has to be trained.
    pub const fn after(self, count: u8) -> Option<u8> {
        let (next, last) = match self {
            ReplayLimit::UpTo7 => (count + 1, 7),
            ReplayLimit::Below6 => (count + 2, 5),
        };
        if next <= last { Some(next) } else { None }
    }
}

/// Widths of a link in lanes with the time in which payload should be acknowledged, in ns (`cxl-256b` §9).
pub const ACK_TARGETS_NS: [(u32, u32); 5] = [(16, 50), (8, 52), (4, 56), (2, 64), (1, 80)];

/// Whole flits of the Ack latency target of a link of `lanes` lanes at `gt_per_s` GT/s; `None`: no such width.
///
/// A flit takes 2048 / (`lanes` * `gt_per_s`) ns: 2 ns at x16 and 64 GT/s.
pub fn ack_target_flits(lanes: u32, gt_per_s: u32) -> Option<u64> {
    let (_, ns) = ACK_TARGETS_NS.into_iter().find(|&(width, _)| width == lanes)?;
    Some(u64::from(ns) * u64::from(lanes) * u64::from(gt_per_s) / 2048)
}

/// Choices of the link layer. `Default` is what the sheet uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkConfig {
    /// Flit format, agreed in negotiation for the whole link (§1.5).
    pub mode: Mode,
    /// Flits of the retry buffer; more than 511 are not used (§9).
    pub buffer_flits: u16,
    /// Flits without progress after which everything not acknowledged is sent again (§9).
    pub replay_timer_flits: u32,
    /// Flits behind the start of a replay in which a Nak is not heard: at most 300 ns, 150 flits of 2 ns at x16 and
    /// 64 GT/s (§9). The sheet gives no least number; three copies of a Nak must fit.
    pub nak_ignore_flits: u16,
    /// A single loss is asked for alone (§9).
    pub selective_nak: bool,
    /// Payload with an implied number waits until a flit states its number, and is not acknowledged before \[D\]. Off, a
    /// flit that vanishes behind a stated number can make the next one be taken for it.
    pub doubt_implied: bool,
    /// Flits in which payload should be acknowledged, see [`ack_target_flits`]; later Acks are counted.
    pub ack_target_flits: u64,
    /// Tries of a replay.
    pub replay_limit: ReplayLimit,
    /// Flits after which a handshake without end asks for training: 256 or, at 64 GT/s, 512 (§9).
    pub handshake_flits: u32,
}

impl Default for LinkConfig {
    fn default() -> Self {
        LinkConfig {
            mode: Mode::Standard,
            buffer_flits: 511,
            replay_timer_flits: 1500,
            nak_ignore_flits: 16,
            selective_nak: false,
            doubt_implied: true,
            ack_target_flits: 25,
            replay_limit: ReplayLimit::UpTo7,
            handshake_flits: 512,
        }
    }
}

impl LinkConfig {
    /// Choices of a link of a format, of `lanes` lanes at `gt_per_s` GT/s (`cxl-256b` §9).
    pub fn of_line(mode: Mode, lanes: u32, gt_per_s: u32) -> LinkConfig {
        let (handshake_flits, replay_limit) =
            if gt_per_s == 64 { (512, ReplayLimit::UpTo7) } else { (256, ReplayLimit::Below6) };
        let ack_target_flits = ack_target_flits(lanes, gt_per_s).unwrap_or(u64::MAX);
        LinkConfig { mode, ack_target_flits, replay_limit, handshake_flits, ..LinkConfig::default() }
    }

    /// Refuses pipelines and wires so slow that no handshake ends before it is given up.
    ///
    /// # Errors
    /// What was found and expected of `way_fs`, the time from one end to the other, where a flit takes `num / den` fs.
    pub fn check_way(&self, way_fs: u64, (num, den): (u64, u64)) -> Result<(), String> {
        let most_fs = (u64::from(self.handshake_flits) - HANDSHAKE_FLITS) * num / den / 2;
        if way_fs <= most_fs {
            return Ok(());
        }
        Err(format!(
            "found {way_fs} fs one way with the other pipeline and the wire, expected at most {most_fs}: the handshake of a 256B link \
             is given up after {} flits",
            self.handshake_flits
        ))
    }

    /// Refuses a replay timer that runs out before any Ack can be back: everything would go again for nothing, and in the end
    /// the link would train for ever.
    ///
    /// # Errors
    /// What was found and expected of the timer, where the way from one end to the other takes `way_fs` and a flit
    /// `num / den` fs.
    pub fn check_timer(&self, way_fs: u64, unit_time_fs: (u64, u64)) -> Result<(), String> {
        let (found, least) = (self.replay_timer_flits, round_trip_flits(way_fs, unit_time_fs));
        if u64::from(found) >= least {
            return Ok(());
        }
        Err(format!(
            "found {found} flits, expected at least {least}: so long a flit and its Ack are under way, with the pipelines and the wire"
        ))
    }
}

/// Flits on the way to the peer and back.
fn round_trip_flits(way_fs: u64, (num, den): (u64, u64)) -> u64 {
    (2 * u128::from(way_fs) * u128::from(den)).div_ceil(u128::from(num)).try_into().unwrap_or(u64::MAX)
}

/// Flits of a handshake beside the round trip: three Acks, one in four flits, the way through both ends (`cxl-256b` §9).
const HANDSHAKE_FLITS: u64 = 16;

/// When credits return without a message \[D\] (`cxl-256b` §9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreditReturn {
    /// At this many credits of one channel.
    pub credits: u16,
    /// When credits have waited for so many flits.
    pub waiting_flits: u32,
}

impl Default for CreditReturn {
    fn default() -> Self {
        CreditReturn { credits: 16, waiting_flits: 64 }
    }
}

/// What CXL.cachemem of one end is and has.
#[derive(Debug, Clone)]
pub struct CachememConfig {
    /// Direction of its transmitter: the host sends down.
    pub dir: Dir,
    /// Flit format of the link.
    pub mode: Mode,
    /// Choices of the codec.
    pub codec: Cxl256Config,
    /// When credits return without a message.
    pub credit_return: CreditReturn,
    /// IDE is active: credits alone go in flits that are not marked as Empty (§1.4).
    pub ide_active: bool,
    /// Times that the other channels of a credit group may be refilled while messages of one wait without any \[D\]; then
    /// the peer is reported (§1.6).
    pub starved_refills: u32,
    /// Receive buffers, in messages, by [`Class::index`]; 0 for classes that the end does not support.
    pub buffers: [u16; Class::COUNT],
    /// Classes that the end may send; credits for others are named and not used.
    pub sends: [bool; Class::COUNT],
}

impl CachememConfig {
    /// A host (`Dir::Down`) or device (`Dir::Up`) with buffers of `messages` a channel, for the classes that `supported`
    /// picks.
    pub fn new(dir: Dir, mode: Mode, messages: u16, supported: fn(Class) -> bool) -> CachememConfig {
        let receives = |c: Class| supported(c) && c.dir() != dir;
        CachememConfig {
            dir,
            mode,
            codec: Cxl256Config::default(),
            credit_return: CreditReturn::default(),
            ide_active: false,
            starved_refills: 256,
            buffers: Class::ALL.map(|c| if receives(c) { messages } else { 0 }),
            sends: Class::ALL.map(|c| supported(c) && c.dir() == dir),
        }
    }

    /// One that speaks CXL.mem alone.
    pub fn mem(dir: Dir, mode: Mode, messages: u16) -> CachememConfig {
        CachememConfig::new(dir, mode, messages, Class::is_mem)
    }

    /// An end of a link between switches: each class that `supported` picks travels both ways, with credits of its own each way
    /// (`fabric` ISL-1). `dir` tells the ends apart.
    fn both_ways(dir: Dir, mode: Mode, messages: u16, supported: fn(Class) -> bool) -> CachememConfig {
        CachememConfig {
            codec: Cxl256Config { direct_p2p: true, between_switches: true, ..Cxl256Config::default() },
            buffers: Class::ALL.map(|c| if supported(c) { messages } else { 0 }),
            sends: Class::ALL.map(supported),
            ..CachememConfig::new(dir, mode, messages, supported)
        }
    }

    /// One between switches that speaks CXL.mem alone.
    pub fn mem_both_ways(dir: Dir, mode: Mode, messages: u16) -> CachememConfig {
        CachememConfig::both_ways(dir, mode, messages, Class::is_mem)
    }

    /// One between switches that speaks CXL.cache and CXL.mem.
    pub fn cachemem_both_ways(dir: Dir, mode: Mode, messages: u16) -> CachememConfig {
        CachememConfig::both_ways(dir, mode, messages, |_| true)
    }

    /// One that speaks CXL.cache and CXL.mem.
    pub fn cachemem(dir: Dir, mode: Mode, messages: u16) -> CachememConfig {
        CachememConfig::new(dir, mode, messages, |_| true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x16_at_64_gtps() {
        let (num, den) = flit_time_fs(16, 64);
        assert_eq!((num / den, num % den), (2_000_000, 0));
    }
}
