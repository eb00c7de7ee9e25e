//! CXL.cache: what a device cache and a home decide (`coherence` §2).

use crate::agent::AgentPort;
use crate::cache::home::{Holders, Phase};
use crate::cache::requests::{self, Snooped, WriteAnswers};
use crate::cache::snoops::{self, Reading, SnoopRow};
use crate::cache::state::{CacheLineState, Snoop};
use crate::config::CoherenceConfig;
use crate::ids::IdSet;
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, D2hRspOpcode};

/// The decisions of a device cache, then those of a home.
pub trait CacheRules {
    /// Whether the core may load in this state (§2.1).
    fn may_load(&self, at: CacheLineState) -> bool {
        at.may_load()
    }

    /// Whether a copy may be dropped without a message: a clean one, where the configuration lets it (§2.1).
    fn drops(&self, config: &CoherenceConfig, at: CacheLineState) -> bool {
        match at {
            CacheLineState::S => config.silent_drop_s,
            CacheLineState::E => config.silent_drop_e,
            _ => false,
        }
    }

    /// The answers of a state to a snoop (§2.3, §2.4).
    fn snoop_row(&self, at: CacheLineState, snoop: Snoop) -> &'static SnoopRow {
        snoops::row_of(at, snoop)
    }

    /// Whether a snoop is kept waiting in this state: in none, since D2H Rsp depends on nothing (§2.4, §2.6 O7).
    fn snoop_waits(&self, _at: CacheLineState) -> bool {
        false
    }

    /// Whether the bytes of a copy are gone in this state, into which a snoop led (§2.4).
    fn loses_bytes(&self, at: CacheLineState) -> bool {
        matches!(at, CacheLineState::UpI | CacheLineState::NdI)
    }

    /// Whether the data of an evict that is pulled in this state is Bogus: a snoop has hit the evict (§2.5).
    fn is_bogus(&self, at: CacheLineState) -> bool {
        matches!(at, CacheLineState::EvS | CacheLineState::EvI)
    }

    /// Whether a transaction keeps its line from other requests (§2.6 O2 to O6, §2.8).
    fn blocks(&self, phase: Phase) -> bool {
        phase != Phase::Answered
    }

    /// Whom a request has the home snoop, of those that the directory knows (§2.8).
    fn snooped(&self, snooped: Snooped, holders: &Holders) -> IdSet {
        match snooped {
            Snooped::Nobody => IdSet::EMPTY,
            Snooped::Owner(_) => holders.owner(),
            Snooped::Everybody(_) => holders.all(),
        }
    }

    /// Whether a requester is answered only when all snoop answers are in (§2.6 O9).
    fn answer_awaits_snoops(&self) -> bool {
        true
    }

    /// Whether the GO of a read leaves in one step with its data. Both orders are legal, as long as no snoop goes between data and GO
    /// (§2.6 O6), which is [`CacheRules::blocks`]' part.
    fn go_leaves_with_data(&self) -> bool {
        true
    }

    /// Whether ownership is granted by GO-M, by whether dirty data is passed on and whether nobody else has the line (§2.2).
    fn grants_dirty(&self, passed: bool, _alone: bool) -> bool {
        passed
    }

    /// How the home reads an answer to a snoop (§2.3).
    fn reading(&self, rsp: D2hRspOpcode) -> Option<&'static Reading> {
        snoops::reading(rsp)
    }

    /// What a write is answered with (§2.2, §2.6 O13).
    fn write_answers(&self, op: D2hReqOpcode) -> WriteAnswers {
        requests::write_answers(op)
    }

    /// What the directory forgets when the last GO of an evict leaves (§2.6 O12, §2.7).
    fn evicted(&self, holders: &mut Holders, device: AgentPort) {
        holders.forget(device);
    }

    /// Whether a device is tracked while its request waits for a busy line, as an evict does until its last GO (§2.6 O12).
    fn tracks_waiting(&self) -> bool {
        true
    }

    /// Whether memory takes the data of an evict: that of a dirty one, of the owner, not Bogus (§2.5).
    fn is_evict_written(&self, owned: bool, bogus: bool, op: D2hReqOpcode) -> bool {
        owned && !bogus && op == D2hReqOpcode::DirtyEvict
    }

    /// Whether a port lets a message down, by whether it has the CacheID of the device below (§2.9).
    fn passes_down(&self, own: bool) -> bool {
        own
    }
}
