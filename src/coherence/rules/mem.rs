//! CXL.mem: what a device with HDM-DB and its hosts decide (`coherence` §3).

use crate::agent::AgentPort;
use crate::config::WithoutBytes;
use crate::ids::IdSet;
use crate::mem::host_rows::{self, MemHostInput, Phase, Row};
use crate::mem::options::BlockRelease;
use crate::mem::tables::{AnswerRow, Copy4};
use crate::mem::{Holders, HostAccess};
use scalepool_protocols::cxl::cxl256::code::{DevLoad, SnpType};

/// M2S messages by what they wait for (`coherence` §3.4, §3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum M2sKind {
    /// M2S Req.
    Req,
    /// M2S RwD with data of a line.
    Rwd,
    /// BIConflict.
    Conflict,
}

/// What a device asks hosts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedFor {
    /// What the holders' caches must do.
    pub snp: SnpType,
    /// The host whose request it is for; `None`: the device's own operation.
    pub requester: Option<AgentPort>,
    /// It is for a UIO write.
    pub uio_write: bool,
    /// The load that the device tells.
    pub load: DevLoad,
}

/// The decisions of a device, then those of a host.
pub trait MemRules {
    /// Whether a device treats all holders of a line alike, so that a search may merge states that differ only in their names.
    fn treats_holders_alike(&self) -> bool {
        true
    }

    /// The holders of a line that are asked: all others for ownership, the owner for a copy, whatever the load is (§3.2, §3.7,
    /// §3.8).
    fn asked(&self, holders: Holders, asked: &AskedFor) -> IdSet {
        let others = match asked.requester {
            Some(host) => holders.without(host),
            None => holders,
        };
        match (asked.snp, others) {
            (SnpType::SnpInv, any) => any.all(),
            (SnpType::SnpData | SnpType::SnpCur, Holders::Owner(owner)) => IdSet::one(owner),
            _ => IdSet::EMPTY,
        }
    }

    /// Whether a filter entry stays until its hosts have answered (§3.4).
    fn entry_awaits_hosts(&self) -> bool {
        true
    }

    /// Whether a message waits, as for a busy line: a request does, a write and BIConflict never do (§3.4, §3.5).
    fn m2s_waits(&self, kind: M2sKind) -> bool {
        kind == M2sKind::Req
    }

    /// Whether a line of a block takes requests before all of the block does, by the choice and whether the line is answered
    /// (§3.4).
    fn releases_line(&self, release: BlockRelease, answered: bool) -> bool {
        answered && release == BlockRelease::Early
    }

    /// Whether a granted request goes on waiting, by whether it reads and whether its data is here (§3.2).
    fn fill_waits(&self, reads: bool, here: bool) -> bool {
        reads && !here
    }

    /// Whether data for no open read breaks COH-IDS-01.
    fn data_needs_read(&self) -> bool {
        true
    }

    /// The access that is made at once behind a grant, by the one that was asked for (§3.5).
    fn due_access(&self, asked: HostAccess) -> HostAccess {
        asked
    }

    /// Whether a host that was granted a line without bytes asks for them, by its access and the choice (§3.4).
    fn asks_bytes(&self, access: HostAccess, choice: WithoutBytes) -> bool {
        match access {
            HostAccess::Store => false,
            HostAccess::Load | HostAccess::StorePart => true,
            // A store of the whole line may come yet.
            HostAccess::Nothing => choice == WithoutBytes::Read,
        }
    }

    /// Whether a copy is written back for an answer (§3.4).
    fn writes_back(&self, row: &AnswerRow) -> bool {
        row.write_back
    }

    /// Whether BIRsp waits for the Cmp of the write back (§3.4).
    fn answer_awaits_write(&self) -> bool {
        true
    }

    /// Whether the answer for a block waits until each of its lines is resolved (§3.4).
    fn block_awaits_lines(&self) -> bool {
        true
    }

    /// Whether a host keeps its bytes, by the state behind its answer and whether it has a request open (§3.4).
    fn keeps_bytes(&self, left: Copy4, _open: bool) -> bool {
        left != Copy4::I
    }

    /// What a host does in a situation under an event (§3.4, §3.5).
    fn host_row(&self, phase: Phase, input: MemHostInput) -> &'static Row {
        host_rows::find(phase, input)
    }

    /// Whether a line of a block gets a BIConflict, by whether another one has had its own (§3.5).
    fn disputes(&self, _already: bool) -> bool {
        true
    }

    /// Whether a host may drop a dirty copy without a message (§3.1).
    fn drops_dirty(&self) -> bool {
        false
    }
}
