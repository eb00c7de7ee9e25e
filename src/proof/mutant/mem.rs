//! HDM-DB decided wrongly.

use super::CoherenceMutant;
use scalepool_coherence::config::WithoutBytes;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::mem::host_rows::{MemHostAction, MemHostInput, Phase, Row};
use scalepool_coherence::mem::options::BlockRelease;
use scalepool_coherence::mem::tables::{AnswerRow, Copy4};
use scalepool_coherence::mem::{Holders, HostAccess};
use scalepool_coherence::rules::{AskedFor, M2sKind, MemRules, Sheet};
use scalepool_protocols::cxl::cxl256::code::{DevLoad, SnpType};

impl MemRules for CoherenceMutant {
    /// The first holder of a line, by its number, is left out.
    fn treats_holders_alike(&self) -> bool {
        *self != Self::HolderSkipped
    }

    fn asked(&self, holders: Holders, asked: &AskedFor) -> IdSet {
        let mut all = Sheet.asked(holders, asked);
        let for_host = |snp| asked.requester.is_some() && asked.snp == snp;
        match self {
            Self::HolderSkipped if for_host(SnpType::SnpInv) => {
                if let Some(first) = all.first() {
                    all.remove(first);
                }
                all
            }
            Self::OwnerNotAsked if for_host(SnpType::SnpData) => IdSet::EMPTY,
            Self::UioSkipsHolders if asked.uio_write => IdSet::EMPTY,
            Self::LoadSkipsSnoops if asked.load != DevLoad(0) => IdSet::EMPTY,
            _ => all,
        }
    }

    fn entry_awaits_hosts(&self) -> bool {
        *self != Self::EntryLeavesEarly
    }

    fn m2s_waits(&self, kind: M2sKind) -> bool {
        match self {
            Self::BisnpBlocksRwd => kind != M2sKind::Conflict,
            // A conflict that has not been taken gets no Ack: to hosts, these two are one.
            Self::ConflictOnReq | Self::AckWithheld => kind != M2sKind::Rwd,
            Self::ReqServedUnderBisnp => false,
            _ => Sheet.m2s_waits(kind),
        }
    }

    fn releases_line(&self, release: BlockRelease, answered: bool) -> bool {
        *self == Self::BlockLineReleased || Sheet.releases_line(release, answered)
    }

    fn fill_waits(&self, reads: bool, here: bool) -> bool {
        *self != Self::FilledWithoutData && Sheet.fill_waits(reads, here)
    }

    fn data_needs_read(&self) -> bool {
        *self != Self::FilledWithoutData
    }

    fn due_access(&self, asked: HostAccess) -> HostAccess {
        if *self == Self::GrantNotUsed { HostAccess::Nothing } else { asked }
    }

    fn asks_bytes(&self, access: HostAccess, choice: WithoutBytes) -> bool {
        let never = *self == Self::BytesNotAsked && choice == WithoutBytes::Write;
        !never && Sheet.asks_bytes(access, choice)
    }

    fn writes_back(&self, row: &AnswerRow) -> bool {
        *self != Self::DirtyHostNotWritten && row.write_back
    }

    fn answer_awaits_write(&self) -> bool {
        *self != Self::AnswerBeforeWriteDone
    }

    fn block_awaits_lines(&self) -> bool {
        *self != Self::BlockAnswerEarly
    }

    fn keeps_bytes(&self, left: Copy4, open: bool) -> bool {
        Sheet.keeps_bytes(left, open) || *self == Self::HostOldBytes && open
    }

    fn host_row(&self, phase: Phase, input: MemHostInput) -> &'static Row {
        static EARLY: Row = Row {
            phase: Phase::ConflictWon,
            input: MemHostInput::Ack,
            act: Some(MemHostAction::Answer),
            rule: "COH-BIC-04",
        };
        let swapped = *self == Self::ConflictRowSwapped && (EARLY.phase, EARLY.input) == (phase, input);
        if swapped { &EARLY } else { Sheet.host_row(phase, input) }
    }

    fn disputes(&self, already: bool) -> bool {
        !(*self == Self::OneConflictForBlock && already)
    }

    fn drops_dirty(&self) -> bool {
        *self == Self::DirtyDropped
    }
}
