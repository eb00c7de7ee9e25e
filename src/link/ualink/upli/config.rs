//! What both ends of a UPLI agree on, and what the sheet leaves open.

use super::signals::MAX_PORTS;
use scalepool_protocols::ualink::config::UalConfig;
use thiserror::Error;

/// Beats of a transaction at most: 256 bytes (`ualink` §1).
pub const MAX_BEATS: u16 = 4;

/// Channels of a UPLI (`ualink` §12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UpliChannel {
    /// Originator to completer.
    Request,
    /// Originator to completer, beside requests.
    OrigData,
    /// Completer to originator, with data.
    RdRsp,
    /// Completer to originator.
    WrRsp,
}

impl UpliChannel {
    /// All of them, in the order of the sheet.
    pub const ALL: [UpliChannel; 4] =
        [UpliChannel::Request, UpliChannel::OrigData, UpliChannel::RdRsp, UpliChannel::WrRsp];

    /// Its place in [`UpliChannel::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Credits of one channel of one port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UpliCreditCounts {
    /// Of the pool.
    pub pool: u16,
    /// Of each virtual channel.
    pub vc: [u16; 4],
}

impl UpliCreditCounts {
    /// As many of the pool as of each virtual channel.
    pub const fn each(credits: u16) -> UpliCreditCounts {
        UpliCreditCounts { pool: credits, vc: [credits; 4] }
    }

    /// In the order of [`target`].
    pub(super) const fn row(&self) -> [u16; TARGETS] {
        [self.vc[0], self.vc[1], self.vc[2], self.vc[3], self.pool]
    }
}

/// Four virtual channels and the pool.
pub(super) const TARGETS: usize = 5;

/// Where a credit belongs: 0 to 3 a virtual channel, 4 the pool.
pub(super) const fn target(pool: bool, vc: u8) -> usize {
    if pool { TARGETS - 1 } else { (vc & 3) as usize }
}

/// What must not pass what (`ualink` §12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ordering {
    /// Requests of a virtual channel to one region of 256 bytes.
    #[default]
    Default,
    /// All requests; read responses among themselves; write responses among themselves.
    Strict,
}

/// What both ends of a UPLI agree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpliConfig {
    /// Ports of the station, 1 to 4: the slots 0 to `ports - 1` repeat.
    pub ports: u8,
    /// Slot of cycle 0 on the request and originator data channels, which share it.
    pub originator_phase: u8,
    /// Slot of cycle 0 on both response channels \[D\].
    pub completer_phase: u8,
    /// Credits of a port, by channel. A data channel has none or at least 4 of each: beats of a burst do not wait.
    pub credits: [UpliCreditCounts; 4],
    /// Order that is promised.
    pub ordering: Ordering,
    /// Cycles after which an originator takes a request for lost \[D\].
    pub watchdog_cycles: u64,
    /// Choices of the codec.
    pub codec: UalConfig,
}

impl Default for UpliConfig {
    /// One port, 16 credits of each kind, a watchdog of 100 us at 1562.5 MHz (basis: model).
    fn default() -> UpliConfig {
        UpliConfig {
            ports: 1,
            originator_phase: 0,
            completer_phase: 0,
            credits: [UpliCreditCounts::each(16); 4],
            ordering: Ordering::Default,
            watchdog_cycles: 156_250,
            codec: UalConfig::SHEET,
        }
    }
}

/// What a configuration gets wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum UpliConfigError {
    /// A station has 1 to 4 ports.
    #[error("found {0} ports, expected 1 to 4")]
    Ports(u8),
    /// A burst could wait for ever.
    #[error("found {found} credits of a target of {channel:?}, expected none or at least {MAX_BEATS}")]
    Credits {
        /// Data channel.
        channel: UpliChannel,
        /// Credits.
        found: u16,
    },
    /// A channel without any credit.
    #[error("found no credit on {0:?}, expected some")]
    NoCredits(UpliChannel),
}

impl UpliConfig {
    /// Judges it.
    ///
    /// # Errors
    /// Ports or credits with which nothing can work.
    pub fn check(&self) -> Result<(), UpliConfigError> {
        if self.ports == 0 || usize::from(self.ports) > MAX_PORTS {
            return Err(UpliConfigError::Ports(self.ports));
        }
        for channel in UpliChannel::ALL {
            let row = self.credits[channel.index()].row();
            if row == [0; TARGETS] {
                return Err(UpliConfigError::NoCredits(channel));
            }
            let data = matches!(channel, UpliChannel::OrigData | UpliChannel::RdRsp);
            if let Some(&found) = row.iter().find(|&&c| data && c > 0 && c < MAX_BEATS) {
                return Err(UpliConfigError::Credits { channel, found });
            }
        }
        Ok(())
    }

    /// Port whose slot a cycle is on the channels of the originator.
    pub fn originator_slot(&self, cycle: u64) -> u8 {
        self.slot(cycle, self.originator_phase)
    }

    /// Port whose slot a cycle is on the channels of the completer.
    pub fn completer_slot(&self, cycle: u64) -> u8 {
        self.slot(cycle, self.completer_phase)
    }

    fn slot(&self, cycle: u64, phase: u8) -> u8 {
        let ports = u64::from(self.ports.max(1));
        ((cycle % ports + u64::from(phase)) % ports) as u8
    }
}
