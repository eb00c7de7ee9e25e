//! What the sheet rules, as data: one row for each decision of an agent that a proof exchanges to see what the rule is for.
//!
//! Modelled: the decisions of `coherence` §2 and §3 that are no choice ([`CoherenceConfig`] has those). Detail: a row is a list of
//! rules or states, or a function of what the agent knows when it decides. Left out: tables that have a page of their own
//! ([`snoops`], [`host_rows`], [`bias::tables`](crate::bias::tables)); their rows here say which table is used.
//!
//! A walk: an agent that decides asks the row of its configuration ([`CoherenceConfig::rules`]), which is that of [`SHEET`]. The
//! exploration has values of [`SheetRules`] that differ from it in one row.

use crate::agent::AgentPort;
use crate::bias::{self, Bias};
use crate::cache::home;
use crate::cache::requests::Snooped;
use crate::cache::snoops::{self, Reading, SnoopRow};
use crate::cache::state::{CacheLineState, Snoop};
use crate::config::{CoherenceConfig, WithoutBytes};
use crate::ids::IdSet;
use crate::mem::host_rows::{self, MemHostInput};
use crate::mem::options::BlockRelease;
use crate::mem::tables::{AnswerRow, Copy4};
use crate::mem::{Holders, HostAccess};
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, D2hRspOpcode, DevLoad, M2sReqOpcode, SnpType};
use std::fmt;

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

/// The decisions. Those of [`SHEET`] are the sheet's.
#[derive(Clone, Copy)]
pub struct SheetRules {
    /// Name of the row that is another one; empty for the sheet itself.
    pub name: &'static str,
    /// Orders of messages that hold on a link, by their rules (§3.6).
    pub orders: &'static [&'static str],

    // Poison, in and out.
    /// Of a copy that is filled, by that of the data.
    pub filled_poison: fn(bool) -> bool,
    /// Of data for the home, by that of the copy.
    pub sent_poison: fn(bool) -> bool,
    /// Of memory, by that of what is written.
    pub stored_poison: fn(bool) -> bool,
    /// Of the value of a load, by that of the copy.
    pub loaded_poison: fn(bool) -> bool,
    /// Of a copy behind a store, by that before it and that of the merged bytes.
    pub poison_behind_store: fn(bool, bool) -> bool,

    // A device cache (§2).
    /// States in which the core may load (§2.1).
    pub may_load: fn(CacheLineState) -> bool,
    /// States in which a copy may be dropped without a message (§2.1).
    pub drops: fn(&CoherenceConfig, CacheLineState) -> bool,
    /// The answers of a state to a snoop (§2.3, §2.4).
    pub snoop_row: fn(CacheLineState, Snoop) -> &'static SnoopRow,
    /// States in which a snoop waits (§2.6 O7: none).
    pub snoop_waits: fn(CacheLineState) -> bool,
    /// States behind a snoop in which the bytes of the copy are gone (§2.4).
    pub loses_bytes: fn(CacheLineState) -> bool,
    /// States before a pull in which the data is Bogus (§2.5).
    pub bogus: fn(CacheLineState) -> bool,

    // A home (§2).
    /// Phases of a transaction in which its line takes no other request (§2.6, §2.8).
    pub blocks: fn(home::Phase) -> bool,
    /// Who is snooped, of those that the directory knows (§2.8).
    pub snooped: fn(Snooped, &home::Holders) -> IdSet,
    /// GO-M: by whether dirty data is passed on, and whether nobody else has the line (§2.2).
    pub grants_dirty: fn(bool, bool) -> bool,
    /// How an answer to a snoop is read (§2.3).
    pub reading: fn(D2hRspOpcode) -> Option<&'static Reading>,
    /// What the directory forgets of a line whose evict a device has asked for (§2.7).
    pub evicted: fn(&mut home::Holders, AgentPort),
    /// Whether memory takes the data of an evict: by whether it is that of the holder, Bogus, and the request (§2.5).
    pub evict_written: fn(bool, bool, D2hReqOpcode) -> bool,
    /// Whether a port lets a message down, by whether it has the CacheID of its device (§2.9).
    pub passes_down: fn(bool) -> bool,

    // A device with HDM-DB, and its hosts (§3).
    /// The holders of a line that are asked (§3.2, §3.7, §3.8).
    pub asked: fn(&Holders, &AskedFor) -> IdSet,
    /// Messages that wait while their line is busy (§3.4, §3.5).
    pub m2s_waits: fn(M2sKind) -> bool,
    /// Whether a line of a block is free before the block, by the choice and whether the line is answered (§3.4).
    pub block_released: fn(BlockRelease, bool) -> bool,
    /// A fill waits: by whether data comes, and whether it is here (§3.2).
    pub fill_waits: fn(bool, bool) -> bool,
    /// The rule that data for no open read breaks.
    pub stray_data: Option<&'static str>,
    /// The access that is due behind a grant, by the one that was asked for (§3.5).
    pub due_access: fn(HostAccess) -> HostAccess,
    /// Whether a host asks for bytes that a grant has not brought, by the access (§3.4).
    pub asks_bytes: fn(HostAccess, WithoutBytes) -> bool,
    /// Whether a dirty copy is written back before an answer (§3.4).
    pub writes_back: fn(&AnswerRow) -> bool,
    /// BIRsp waits for the Cmp of the write back (§3.4).
    pub birsp_awaits_write: bool,
    /// Whether a host keeps its bytes: by the state behind an answer, and whether a request is open (§3.4).
    pub keeps_bytes: fn(Copy4, bool) -> bool,
    /// What a host does in a situation under an event (§3.4, §3.5).
    pub host_row: fn(host_rows::Phase, MemHostInput) -> &'static host_rows::Row,
    /// Whether a line of a block gets its BIConflict, by whether another one has had one (§3.5).
    pub disputes: fn(bool) -> bool,
    /// States in which a host may give a copy up without a message (§3.1).
    pub host_drops: fn(Copy4) -> bool,

    // A device with HDM-D, and its host (§3.3).
    /// Bias in which the device uses a line without asking.
    pub uses_alone: fn(Bias) -> bool,
    /// How the device's own cache is snooped for an access of the host.
    pub own_snoop: fn(SnpType) -> SnpType,
    /// What a request of the device gets.
    pub bias_row: fn(D2hReqOpcode) -> Option<&'static bias::tables::Row>,
    /// M2S Req that wait for the device's own request.
    pub awaits_own_request: fn(M2sReqOpcode) -> bool,
    /// Mem*Fwd waits for the Cmp of the write back.
    pub fwd_awaits_write: bool,
}

/// The sheet.
pub static SHEET: SheetRules = SheetRules::SHEET;

impl SheetRules {
    /// The sheet, to begin another one with.
    pub const SHEET: SheetRules = SheetRules {
        name: "",
        orders: &["COH-ORD-01", "COH-BIC-03", "COH-BIA-11"],
        filled_poison: |poison| poison,
        sent_poison: |poison| poison,
        stored_poison: |poison| poison,
        loaded_poison: |poison| poison,
        poison_behind_store: |_, merged| merged,
        may_load: CacheLineState::may_load,
        drops: |config, at| match at {
            CacheLineState::S => config.silent_drop_s,
            CacheLineState::E => config.silent_drop_e,
            _ => false,
        },
        snoop_row: snoops::row_of,
        snoop_waits: |_| false,
        loses_bytes: |at| matches!(at, CacheLineState::UpI | CacheLineState::NdI),
        bogus: |at| matches!(at, CacheLineState::EvS | CacheLineState::EvI),
        blocks: |phase| !matches!(phase, home::Phase::Absorbing | home::Phase::Owing(_)),
        snooped: |snooped, holders| match snooped {
            Snooped::Nobody => IdSet::EMPTY,
            Snooped::Owner(_) => holders.owner(),
            Snooped::Everybody(_) => holders.all(),
        },
        grants_dirty: |passed, _| passed,
        reading: snoops::reading,
        evicted: home::Holders::forget,
        evict_written: |held, bogus, op| held && !bogus && op == D2hReqOpcode::DirtyEvict,
        passes_down: |own| own,
        asked: |holders, asked| {
            let others = match asked.requester {
                Some(host) => holders.clone().without(host),
                None => holders.clone(),
            };
            match (asked.snp, others) {
                (SnpType::SnpInv, any) => any.all(),
                (SnpType::SnpData | SnpType::SnpCur, Holders::Owner(owner)) => IdSet::one(owner),
                _ => IdSet::EMPTY,
            }
        },
        m2s_waits: |kind| kind == M2sKind::Req,
        block_released: |release, answered| answered && release == BlockRelease::Early,
        fill_waits: |reads, here| reads && !here,
        stray_data: Some("COH-IDS-01"),
        due_access: |asked| asked,
        asks_bytes: |access, choice| match access {
            HostAccess::Store => false,
            HostAccess::Load | HostAccess::StorePart => true,
            // A store of the whole line may come yet.
            HostAccess::Nothing => choice == WithoutBytes::Read,
        },
        writes_back: |row| row.write_back,
        birsp_awaits_write: true,
        keeps_bytes: |left, _| left != Copy4::I,
        host_row: host_rows::find,
        disputes: |_| true,
        host_drops: |at| matches!(at, Copy4::S | Copy4::E),
        uses_alone: |bias| bias == Bias::Device,
        own_snoop: |snp| snp,
        bias_row: bias::tables::find,
        awaits_own_request: |_| false,
        fwd_awaits_write: true,
    };

    /// Whether these are the rules of the sheet.
    pub fn is_sheet(&self) -> bool {
        self.name.is_empty()
    }
}

/// Rules are told apart by their name.
impl PartialEq for SheetRules {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for SheetRules {}

impl fmt::Debug for SheetRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_sheet() { "sheet" } else { self.name })
    }
}

impl Default for &'static SheetRules {
    fn default() -> Self {
        &SHEET
    }
}
