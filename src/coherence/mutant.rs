//! Deliberate faults of our own engine: each turns one ordering or blocking rule of the sheet off. The exploration has to
//! find every one of them. They cannot be set from a file, and no scenario uses them.

/// One rule that is off, named after what goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mutant {
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
    /// 2.4: GO is here, data is not: the device keeps the snoop waiting for the data.
    GrantedHoldsSnoop,
    /// 2.4: a device that lost its S copy goes on with the old bytes after RdOwnNoData.
    OldBytesKept,
    /// 2.7: a stale evict clears the present owner.
    StaleEvictClearsOwner,
    /// 2.3: the home writes what RspVFwdV brought to memory, as clean data.
    CurrentDataCleansOwner,
    /// 2.8: sharers are not snooped for ownership.
    SharersNotSnooped,
    /// 2.1: M is dropped silently.
    DirtyDropped,
    /// 2.3: a device keeps its S copy under SnpInv.
    CopyKeptUnderSnpInv,
    // CXL.mem
    /// 3.5: BIConflictAck overtakes a Cmp of the same Tag.
    AckPassesCmp,
    /// 3.3: an M2S Req overtakes a Mem*Fwd of the line.
    ReqPassesFwd,
}
