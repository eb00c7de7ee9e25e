//! Deliberate faults of our own model, one for each rule that only a checker above the link can see broken and that sit
//! inside a state machine; those that change what passes a hook point are hooks ([`crate::hook`]). The conformance
//! suite switches them on, one at a time, to show that the checker fires. No scenario uses them.

/// One fault, named after what goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cxl68Mutant {
    /// HDR-05: byte enables of the message before stay in force where none travel.
    StaleByteEnables,
    /// CRD-03: one credit is returned a chunk instead of a message.
    CreditPerChunk,
    /// CRD-06: the sender's credit counter wraps to 0 instead of saturating.
    CreditCounterWraps,
    /// CRD-05: cache credits are never returned while mem credits wait.
    MemCreditsOnly,
    /// CRD-02: credits are counted for the channels of the wrong direction.
    CreditsOfOwnDirection,
    /// LLR-01: RETRY.Idle takes an entry of the retry buffer.
    IdleStored,
    /// LLR-02: flits are counted while ESeq is frozen.
    CountedWhileFrozen,
    /// LLR-03: a replayed Ak takes acknowledgements off again.
    ReplayedAkDecrements,
    /// LLR-07: the last entry of the retry buffer is used.
    LastEntryUsed,
    /// LLR-10: acknowledgements and credits are never forced out.
    FlushTimerOff,
    /// LLR-14: new flits go before the rest of the replay.
    ReplayOrderChanged,
    /// LLR-16: the Req sequence goes before the Ack sequence.
    ReqBeforeAck,
    /// LRS-02: a RETRY flit counts as a retryable one.
    RetryFlitCounted,
    /// LRS-03: a Req sequence moves the local machine.
    ReqMovesLocal,
    /// LRS-04: the bad flit is delivered.
    BadFlitDelivered,
    /// LRS-08: ordinary flits are delivered in LLRREQ.
    DeliversInLlrReq,
    /// LRS-09, LRS-14: the time-out never runs.
    NoTimeout,
    /// LRS-11: NUM_RETRY is kept over a PHY reinitialisation.
    ReinitKeepsCount,
    /// LRS-13: an Ack with another echo is accepted.
    StaleAckAccepted,
    /// LRS-15: ordinary flits are delivered in LOCAL_IDLE.
    DeliversInLocalIdle,
    /// LRS-16: RETRY_ABORT is left when a good flit comes.
    AbortLeaves,
    /// RRS-02: flits go before the Ack sequence.
    DataBeforeAck,
    /// RRS-03: the pending Ack survives a retrain.
    AckAfterRetrain,
    /// RRS-04: Empty is set although flits follow.
    EmptyWithData,
    /// LLR-12: four Frames before a Req or Ack.
    FourFrames,
    /// LLR-08: an all-data run is begun that cannot finish.
    RunNotReserved,
    /// LLR-09: Ak is sent with seven flits to acknowledge.
    AkTooEarly,
    /// VIR-01: viral is signalled without a spoiled flit.
    ViralWithoutSpoil,
    /// VIR-02: Viral is set without local viral.
    ViralUnasked,
}
