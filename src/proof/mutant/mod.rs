//! Deliberate faults of the engine: rules of the sheet that are off, one at a time. An exploration has to find each of them. They
//! cannot be set from a file, and no scenario uses them.
//!
//! Modelled: each fault as decisions that differ from the sheet's ([`CoherenceMutant`] implements
//! [`SheetRules`], a file for each group of them). Detail: agents ask the [`RuleSet`] of their configuration and know
//! nothing of faults. Left out: [`CoherenceMutant::InterfaceForgotten`] and [`CoherenceMutant::PartOfUio`] are of parts that no
//! exploration has and that decide nothing by these rules; their tests put a wrong part around the right one.
//!
//! A walk: [`CoherenceMutant::rules`] goes into a configuration. A home that has a request for a busy line asks what blocks it;
//! [`CoherenceMutant::HomeDoesNotBlock`] says nothing does, and a search finds what comes of it.

mod bias;
mod cache;
mod mem;
mod poison;

use scalepool_coherence::rules::{RuleSet, SheetRules};

/// Declares the faults once: the type, and the values that rules are borrowed from.
macro_rules! mutants {
    ($($(#[doc = $doc:literal])* $name:ident,)*) => {
        /// One rule that is off, named after what goes wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum CoherenceMutant {
            $($(#[doc = $doc])* $name,)*
        }

        static ALL: &[CoherenceMutant] = &[$(CoherenceMutant::$name),*];

        impl CoherenceMutant {
            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(CoherenceMutant::$name => stringify!($name),)*
                }
            }

            /// What goes wrong, in words.
            pub fn about(self) -> &'static str {
                let doc = match self {
                    $(CoherenceMutant::$name => concat!($($doc),*),)*
                };
                // The section that says what is right stands in front, what else is to be said behind.
                let said = doc.split_once(": ").map_or(doc, |(_, said)| said);
                said.split(". ").next().unwrap_or(said).trim().trim_end_matches('.')
            }
        }
    };
}

mutants! {
    // CXL.cache
    /// O1: a snoop overtakes a GO.
    SnoopPassesGo,
    /// O2, O4, O5: the home starts a request on a line whose transaction is still open.
    HomeDoesNotBlock,
    /// O3: the home releases the line when the pull is sent, not when its data is in.
    SnoopDuringPull,
    /// O6: the home sends the data of a read and lets the next snoop go before the GO.
    SnoopBetweenDataAndGo,
    /// O7: the device keeps a snoop waiting until its own request has ended.
    SnoopWaitsForRequest,
    /// O9: the home answers before the snoop answers are in.
    GoBeforeAnswers,
    /// O12: the home forgets an evicting device before the GO of the evict: when it takes the request of a peer.
    EvictUntracksAll,
    /// 2.1: the core goes on using a line whose evict is under way.
    UseAfterEvict,
    /// 2.5: Bogus is never set.
    BogusNotSet,
    /// 2.5: the home writes bogus data to memory.
    BogusWritten,
    /// 2.4: GO is here, data is not: the device answers a snoop as if it held nothing.
    GrantedAnswersAsInvalid,
    /// 2.4: GO is here, data is not: the device keeps the snoop waiting for the data. They come whatever happens, so neither state nor
    /// value is wrong and everything ends; the monitor of the rule (COH-ORD-07) alone sees it.
    GrantedHoldsSnoop,
    /// 2.4: a device that lost its S copy goes on with the old bytes after RdOwnNoData.
    OldBytesKept,
    /// 2.7: a stale evict clears the present owner.
    StaleEvictClearsOwner,
    /// 2.3: the home writes what RspVFwdV brought to memory, as clean data.
    CurrentDataCleansOwner,
    /// 2.8: sharers are not snooped for ownership.
    SharersNotSnooped,
    /// 2.1, 3.1: M is dropped silently.
    DirtyDropped,
    /// 2.3: a device keeps its S copy under SnpInv.
    CopyKeptUnderSnpInv,
    /// 2.2: the home hands clean data over with GO-M.
    CleanGrantedDirty,
    /// 2.6 O13: the home ends WrInv before its data is in.
    WriteEndsBeforeData,
    /// A line whose bytes are on their way to the memory behind the home's port is released before that memory has them.
    StoreNotAwaited,
    /// 2.9: a port lets messages of other CacheIDs down.
    ForeignCacheId,
    /// Poison: a copy is made of a poisoned line as if it were good.
    FillCleansPoison,
    /// Poison: data for the home, of a snoop, an evict or a write, leaves its poison behind.
    PoisonLeftBehind,
    /// Poison: memory takes the bytes of a poisoned write and not its poison.
    MemoryCleansPoison,
    /// Poison: a write of a part of a poisoned line makes all of it good.
    PartClearsPoison,
    /// Poison: a copy is made of a good line as if it were poisoned.
    FillPoisons,
    // CXL.mem
    /// 3.5: BIConflictAck overtakes a Cmp of the same Tag.
    AckPassesCmp,
    /// 3.3: an M2S Req overtakes a Mem*Fwd of the line.
    ReqPassesFwd,
    /// 3.2: a read is filled by its completion, before its data is here.
    FilledWithoutData,
    /// 3.2, 3.7: an exclusive grant is given while one other holder has not been asked.
    HolderSkipped,
    /// 3.2, 3.7: a shared grant is given without asking the owner.
    OwnerNotAsked,
    /// 3.4: a filter entry leaves before its hosts have answered.
    EntryLeavesEarly,
    /// 3.4: BIRsp is sent with the write back, not after its Cmp.
    AnswerBeforeWriteDone,
    /// 3.4: a dirty copy is given up without a write back.
    DirtyHostNotWritten,
    /// 3.4: the DCOH keeps writes waiting while a BISnp is open.
    BisnpBlocksRwd,
    /// 3.4: the DCOH serves requests to a line with an open BISnp.
    ReqServedUnderBisnp,
    /// 3.4: a host that lost its S copy goes on with the old bytes after MemInv.
    HostOldBytes,
    /// 3.4: a host that was granted a line without bytes does not ask for them, whatever the access is for.
    BytesNotAsked,
    /// 3.4: a block answer is sent while a line of the block still waits.
    BlockAnswerEarly,
    /// 3.4: a request to a line of a block is served before the line is answered.
    BlockLineReleased,
    /// 3.5: BIConflict travels like a Req: it waits for the BISnp it is about.
    ConflictOnReq,
    /// 3.5: BIConflictAck is withheld until the BISnp is answered.
    AckWithheld,
    /// 3.5: the host takes the row of the early conflict in a late one.
    ConflictRowSwapped,
    /// 3.5: one BIConflict for all lines of a block.
    OneConflictForBlock,
    /// 3.5: a granted line is given up before its access.
    GrantNotUsed,
    /// 3.7: a device with two interfaces answers a snoop of one from what it got through the other.
    InterfaceForgotten,
    /// 3.7: an access of UIO that is refused has the effect of the part that was hit.
    PartOfUio,
    /// 3.7: a UIO write leaves the holders their copies.
    UioSkipsHolders,
    /// 3.8: an overloaded device leaves back-invalidates out.
    LoadSkipsSnoops,
    /// Poison: a store of a whole line leaves the line poisoned.
    WholeKeepsPoison,
    /// Poison: a load of a poisoned line says nothing of it.
    LoadHidesPoison,
    // HDM-D
    /// 3.3: Mem*Fwd is sent with the write back, not after its Cmp.
    FwdBeforeWriteDone,
    /// 3.3: the device uses a line in host bias without asking.
    LocalUseInHostBias,
    /// 3.3: the device's own cache is not snooped when the host takes a line back.
    BackFlipUnsnooped,
    /// 3.3: CLFlush flips the bias.
    FlushFlips,
    /// 3.3: the device keeps an M2S Req waiting until its own request has ended.
    ReqWaitsForOwnRequest,
}

impl CoherenceMutant {
    /// The rules of the agents where this one is off.
    pub fn rules(self) -> RuleSet {
        RuleSet::new(&ALL[self as usize])
    }
}

impl SheetRules for CoherenceMutant {
    fn deviation(&self) -> Option<&'static str> {
        Some(self.name())
    }

    fn keeps_order(&self, rule: &'static str) -> bool {
        let lifted = match self {
            Self::SnoopPassesGo => Some("COH-ORD-01"),
            Self::AckPassesCmp => Some("COH-BIC-03"),
            Self::ReqPassesFwd => Some("COH-BIA-11"),
            _ => None,
        };
        lifted != Some(rule)
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, CoherenceMutant};
    use scalepool_coherence::rules::RuleSet;

    #[test]
    fn each_has_rules_of_its_own() {
        for (i, mutant) in ALL.iter().enumerate() {
            assert_eq!(*mutant as usize, i);
            assert!(mutant.rules() == mutant.rules() && !mutant.rules().is_sheet());
            assert_eq!(format!("{:?}", mutant.rules()), format!("{mutant:?}"));
            assert!(ALL.iter().all(|other| (other.rules() == mutant.rules()) == (other == mutant)));
        }
        assert!(RuleSet::default().is_sheet() && RuleSet::default() != CoherenceMutant::BogusNotSet.rules());
    }
}
