//! Time in each state of a link and of its retry.

use super::LinkHealth;
use super::figures::{LINK_STATE, LINK_STATE_FLITS, RETRY_STATE, RETRY_STATE_FLITS};
use crate::protocol::LinkProtocol;
use scalepool_protocols::wire::{Code, CodeTable};

/// Names of the states of a protocol.
#[derive(Debug, PartialEq, Eq)]
pub struct HealthStates {
    /// Of the link.
    pub link: &'static [&'static str],
    /// Of the retry.
    pub retry: &'static [&'static str],
    /// Family of layouts of the protocol, and the states of the link as codes for a wave.
    pub link_codes: (&'static str, &'static CodeTable),
    /// The same of the retry.
    pub retry_codes: (&'static str, &'static CodeTable),
}

/// Names as codes, counted from 0.
const fn codes<const N: usize>(names: &[&'static str]) -> [Code; N] {
    let mut rows = [Code { name: "", value: 0, doc: "" }; N];
    let mut n = 0;
    while n < N {
        rows[n] = Code { name: names[n], value: n as u128, doc: "A state of the end." };
        n += 1;
    }
    rows
}

/// A table of states, which never travel.
macro_rules! state_codes {
    ($name:literal, $source:literal, $names:expr) => {{
        static CODES: [Code; $names.len()] = codes($names);
        static TABLE: CodeTable =
            CodeTable { name: $name, width: 3, rule: "none, it does not travel", source: $source, codes: &CODES };
        &TABLE
    }};
}

const CXL68_RETRY: &[&str] =
    &["RETRY_LOCAL_NORMAL", "RETRY_LLRREQ", "RETRY_LOCAL_IDLE", "RETRY_PHY_REINIT", "RETRY_ABORT"];
const CXL256_RETRY: &[&str] = &["normal", "waits_for_replay", "replays", "handshake"];
const UALINK_LINK: &[&str] = &["fault", "idle", "nop", "up"];
const NVLINK_LINK: &[&str] = &["init", "up", "training", "down"];
/// UALink and NVLink.
const RETRY: &[&str] = &["normal", "waits_for_replay", "replays"];

/// States of an end of CXL: credits and messages may go when initialisation is over.
const CXL_LINK: &[&str] = &["init", "up", "training", "stopped"];

/// The link comes up: INIT.Param has not gone both ways.
pub const LINK_INIT: usize = 0;
/// The link carries messages.
pub const LINK_UP: usize = 1;
/// The physical layer trains.
pub const LINK_TRAINING: usize = 2;
/// A rule has stopped the link, or its retry has given up; NVLink calls this place `down`.
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
    retry: CXL68_RETRY,
    link_codes: ("cxl68", state_codes!("LinkState", "cxl-68b §6.4", CXL_LINK)),
    retry_codes: ("cxl68", state_codes!("RetryState", "cxl-68b §7.3", CXL68_RETRY)),
};
/// CXL 256B (`cxl-256b` §9).
pub static CXL256: HealthStates = HealthStates {
    link: CXL_LINK,
    retry: CXL256_RETRY,
    link_codes: ("cxl256", state_codes!("LinkState", "cxl-256b §9", CXL_LINK)),
    retry_codes: ("cxl256", state_codes!("RetryState", "cxl-256b §9", CXL256_RETRY)),
};
/// UALink: the states of its data link layer (`ualink` §8).
pub static UALINK: HealthStates = HealthStates {
    link: UALINK_LINK,
    retry: RETRY,
    link_codes: ("ualink", state_codes!("LinkState", "ualink §8", UALINK_LINK)),
    retry_codes: ("ualink", state_codes!("RetryState", "ualink §7", RETRY)),
};
/// NVLink (`nvlink` §6.3).
pub static NVLINK: HealthStates = HealthStates {
    link: NVLINK_LINK,
    retry: RETRY,
    link_codes: ("nvlink", state_codes!("LinkState", "nvlink §6.3", NVLINK_LINK)),
    retry_codes: ("nvlink", state_codes!("RetryState", "nvlink §6.3", RETRY)),
};

/// The states of a protocol.
pub fn of(protocol: LinkProtocol) -> &'static HealthStates {
    match protocol {
        LinkProtocol::Cxl68 => &CXL68,
        LinkProtocol::Cxl256(_) => &CXL256,
        LinkProtocol::Nvlink => &NVLINK,
        LinkProtocol::Ualink => &UALINK,
    }
}

/// Time of an end in its states, as the places of [`HealthStates`].
#[derive(Debug, Clone)]
pub struct StateTimes {
    states: &'static HealthStates,
    at_flits: u64,
    /// The states of the time from `since_flits` on, which is not in the sums yet: states change rarely.
    now: [usize; 2],
    since_flits: u64,
    link: Vec<u64>,
    retry: Vec<u64>,
}

impl StateTimes {
    /// No time has passed.
    pub fn new(states: &'static HealthStates) -> StateTimes {
        StateTimes {
            states,
            at_flits: 0,
            now: [0; 2],
            since_flits: 0,
            link: vec![0; states.link.len()],
            retry: vec![0; states.retry.len()],
        }
    }

    /// Time has gone on to `now_flits`, during which the end was in these states.
    #[inline]
    pub fn pass(&mut self, now_flits: u64, link: usize, retry: usize) {
        if self.now != [link, retry] {
            self.sum_up();
            self.now = [link, retry];
        }
        self.at_flits = self.at_flits.max(now_flits);
    }

    #[cold]
    fn sum_up(&mut self) {
        let ([link, retry], flits) = (self.now, self.at_flits - self.since_flits);
        self.link[link] += flits;
        self.retry[retry] += flits;
        self.since_flits = self.at_flits;
    }

    /// Fills the figures of states: the end is in these states since time went on last.
    pub fn fill(&self, health: &mut LinkHealth, now_flits: u64, link: usize, retry: usize) {
        let mut until = self.clone();
        until.pass(now_flits, link, retry);
        until.sum_up();
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
