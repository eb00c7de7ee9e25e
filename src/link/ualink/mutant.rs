//! Deliberate faults of our own model, one for each rule that only a checker above the link or beside it can see broken.
//! The conformance suite switches them on, one at a time, to show that the checker fires. No scenario uses them.

/// One fault, named after what goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UalMutant {
    /// FLH-05: payload behind an Ack or a Replay Request is counted and lost.
    CommandPayloadLost,
    /// CHN-02: TL flits are handed on while their channel is offline.
    OfflineDelivered,
    /// MSG-14: DL message classes are asked in a fixed order, the UART first.
    UartFirst,
    /// SEQ-02: a NOP takes a number of its own.
    NopNumbered,
    /// RXR-01: every copy of a Replay Request begins a replay.
    EveryRequestHeard,
    /// RXR-02: too many bad flits do not make numbers ambiguous.
    NeverAmbiguous,
    /// RXR-05: a Replay Request acknowledges what comes before it.
    RequestAcknowledges,
    /// RXR-08: payload out of order is taken.
    GapTaken,
    /// RXR-09: a Replay Request is never repeated.
    AskedOnce,
    /// RXR-10: numbers in full count as unexpected too.
    ExplicitCounted,
    /// RXR-11: a command flit is used while only ambiguous.
    AmbiguousUsed,
    /// TXS-01: a Replay Request goes before a number in full that is due.
    RequestFirst,
    /// TXS-02: a number in full every eight flits.
    ExplicitEveryEight,
    /// TXS-04: replayed flits are marked as original.
    ReplayUnmarked,
    /// TXS-05: each copy of a Replay Request names what is due when it is sent, and follows at once.
    RequestMoves,
    /// TXS-06: new payload goes out with a full buffer, and its place is that of the oldest.
    RoomIgnored,
}
