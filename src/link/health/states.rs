//! Time in each state of a link and of its retry.

use super::LinkHealth;
use super::figures::{LINK_STATE, LINK_STATE_FLITS, RETRY_STATE, RETRY_STATE_FLITS};

/// Names of the states of a protocol.
#[derive(Debug, PartialEq, Eq)]
pub struct HealthStates {
    /// Of the link.
    pub link: &'static [&'static str],
    /// Of the retry.
    pub retry: &'static [&'static str],
}

/// States of an end of CXL: credits and messages may go when initialisation is over.
const CXL_LINK: &[&str] = &["init", "up", "training", "stopped"];

/// The link comes up: INIT.Param has not gone both ways.
pub const LINK_INIT: usize = 0;
/// The link carries messages.
pub const LINK_UP: usize = 1;
/// The physical layer trains.
pub const LINK_TRAINING: usize = 2;
/// A rule has stopped the link; NVLink calls it down.
pub const LINK_STOPPED: usize = 3;

/// The retry rests: the first state of every protocol.
pub const RETRY_NORMAL: usize = 0;
/// The end has asked for a replay and waits for it. CXL 68B has the states of its sheet instead.
pub const RETRY_WAITS: usize = 1;
/// The end sends flits again.
pub const RETRY_REPLAYS: usize = 2;
/// CXL 256B: sequence numbers are being agreed.
pub const RETRY_HANDSHAKE: usize = 3;

/// CXL 68B: the states of the LRSM (`cxl-68b` §7.3).
pub static CXL68: HealthStates = HealthStates {
    link: CXL_LINK,
    retry: &["RETRY_LOCAL_NORMAL", "RETRY_LLRREQ", "RETRY_LOCAL_IDLE", "RETRY_PHY_REINIT", "RETRY_ABORT"],
};
/// CXL 256B (`cxl-256b` §9).
pub static CXL256: HealthStates =
    HealthStates { link: CXL_LINK, retry: &["normal", "waits_for_replay", "replays", "handshake"] };
/// UALink: the states of its data link layer (`ualink` §8).
pub static UALINK: HealthStates =
    HealthStates { link: &["fault", "idle", "nop", "up"], retry: &["normal", "waits_for_replay", "replays"] };
/// NVLink (`nvlink` §6.3).
pub static NVLINK: HealthStates =
    HealthStates { link: &["init", "up", "training", "down"], retry: &["normal", "waits_for_replay", "replays"] };

/// Time of an end in its states, as the places of [`HealthStates`].
#[derive(Debug, Clone)]
pub struct StateTimes {
    states: &'static HealthStates,
    at_flits: u64,
    link: Vec<u64>,
    retry: Vec<u64>,
}

impl StateTimes {
    /// No time has passed.
    pub fn new(states: &'static HealthStates) -> StateTimes {
        StateTimes { states, at_flits: 0, link: vec![0; states.link.len()], retry: vec![0; states.retry.len()] }
    }

    /// Time has gone on to `now_flits`, during which the end was in these states.
    #[inline]
    pub fn pass(&mut self, now_flits: u64, link: usize, retry: usize) {
        let flits = now_flits.saturating_sub(self.at_flits);
        self.link[link] += flits;
        self.retry[retry] += flits;
        self.at_flits = self.at_flits.max(now_flits);
    }

    /// Fills the figures of states: the end is in these states since time went on last.
    pub fn fill(&self, health: &mut LinkHealth, now_flits: u64, link: usize, retry: usize) {
        let mut until = self.clone();
        until.pass(now_flits, link, retry);
        let named = |names: &'static [&'static str], flits: Vec<u64>| names.iter().copied().zip(flits);
        health.name(&LINK_STATE, self.states.link[link]);
        health.name(&RETRY_STATE, self.states.retry[retry]);
        health.each(&LINK_STATE_FLITS, named(self.states.link, until.link));
        health.each(&RETRY_STATE_FLITS, named(self.states.retry, until.retry));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::HealthValue;

    #[test]
    fn all_time_is_in_one_state_of_each_kind() {
        let mut times = StateTimes::new(&CXL256);
        times.pass(7, LINK_INIT, RETRY_HANDSHAKE);
        times.pass(10, LINK_UP, RETRY_NORMAL);
        // Time never goes back.
        times.pass(9, LINK_UP, RETRY_WAITS);
        let mut health = LinkHealth::default();
        times.fill(&mut health, 15, LINK_UP, RETRY_REPLAYS);
        let each = |of: &[(&str, u64)]| HealthValue::Each(of.iter().map(|&(k, n)| (k.to_owned(), n)).collect());
        assert_eq!(
            health.of(&LINK_STATE_FLITS),
            Some(&each(&[("init", 7), ("up", 8), ("training", 0), ("stopped", 0)]))
        );
        assert_eq!(
            health.of(&RETRY_STATE_FLITS),
            Some(&each(&[("normal", 3), ("waits_for_replay", 0), ("replays", 5), ("handshake", 7)]))
        );
        assert_eq!(health.of(&RETRY_STATE), Some(&HealthValue::Name("replays")));
    }
}
