//! The host agent's table: what happens to a line in each situation under each event.

/// Situation of a line at the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Nothing open.
    Idle,
    /// A request is open, its completion has not come.
    Asked,
    /// The completion has come, the data has not.
    Granted,
    /// MemClnEvct is open.
    Evicting,
    /// MemWr is open.
    Writing,
    /// MemWr is open and a back-invalidate waits for its Cmp.
    WritingSnooped,
    /// BIConflict is sent; neither its Ack nor a completion has come.
    Conflict,
    /// BIConflict is sent, the completion came before its Ack.
    ConflictWon,
    /// A back-invalidate waits for the fill and one access.
    Filling,
    /// A back-invalidate waits for the Cmp of its write back.
    Answering,
    /// The line of a block is resolved, the block is not.
    Resolved,
}

/// What can come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemHostInput {
    /// NDR Cmp* of the request.
    Cmp,
    /// NDR Cmp of the write.
    WriteCmp,
    /// DRS of the request.
    Data,
    /// NDR BIConflictAck.
    Ack,
    /// S2M BISnp.
    Snoop,
}

/// What the host does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemHostAction {
    /// Note the completion; the fill is done if the data is here.
    Grant,
    /// Note the data; the fill is done if the completion is here.
    Fill,
    /// The request or write has ended.
    Retire,
    /// Answer from the present state, a dirty copy is written back first.
    Answer,
    /// Send BIConflict.
    Dispute,
    /// Keep the snoop until the fill and one access.
    AwaitFill,
    /// Keep the snoop until the Cmp of the write.
    AwaitWrite,
    /// Answer now if the fill is done, otherwise keep the snoop until it is.
    AnswerFilled,
    /// Send the answer that the write back was for.
    SendAnswer,
}

/// One row. `act` is `None` for an explicitly impossible pair: the message is reported and dropped.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Situation.
    pub phase: Phase,
    /// Event.
    pub input: MemHostInput,
    /// What is done.
    pub act: Option<MemHostAction>,
    /// Rule that the row follows, or that an impossible event breaks.
    pub rule: &'static str,
}

const fn row(phase: Phase, input: MemHostInput, act: MemHostAction, rule: &'static str) -> Row {
    Row { phase, input, act: Some(act), rule }
}

const fn no(phase: Phase, input: MemHostInput, rule: &'static str) -> Row {
    Row { phase, input, act: None, rule }
}

use MemHostInput::{Ack, Cmp, Data, Snoop, WriteCmp};
use Phase::{
    Answering, Asked, Conflict, ConflictWon, Evicting, Filling, Granted, Idle, Resolved, Writing, WritingSnooped,
};

/// Every pair of situation and event.
pub static ROWS: &[Row] = &[
    no(Idle, Cmp, "COH-IDS-01"),
    no(Idle, WriteCmp, "COH-IDS-01"),
    no(Idle, Data, "COH-IDS-01"),
    no(Idle, Ack, "COH-BIC-02"),
    row(Idle, Snoop, MemHostAction::Answer, "COH-BIC-09"),
    row(Asked, Cmp, MemHostAction::Grant, "COH-MEM-47"),
    no(Asked, WriteCmp, "COH-IDS-01"),
    row(Asked, Data, MemHostAction::Fill, "COH-MEM-47"),
    no(Asked, Ack, "COH-BIC-02"),
    row(Asked, Snoop, MemHostAction::Dispute, "COH-BIC-01"),
    no(Granted, Cmp, "COH-IDS-01"),
    no(Granted, WriteCmp, "COH-IDS-01"),
    row(Granted, Data, MemHostAction::Fill, "COH-MEM-47"),
    no(Granted, Ack, "COH-BIC-02"),
    row(Granted, Snoop, MemHostAction::AwaitFill, "COH-BIC-09"),
    row(Evicting, Cmp, MemHostAction::Retire, "COH-MEM-18"),
    no(Evicting, WriteCmp, "COH-IDS-01"),
    no(Evicting, Data, "COH-MEM-18"),
    no(Evicting, Ack, "COH-BIC-02"),
    row(Evicting, Snoop, MemHostAction::Dispute, "COH-BIC-01"),
    no(Writing, Cmp, "COH-IDS-01"),
    row(Writing, WriteCmp, MemHostAction::Retire, "COH-MEM-23"),
    no(Writing, Data, "COH-IDS-01"),
    no(Writing, Ack, "COH-BIC-02"),
    row(Writing, Snoop, MemHostAction::AwaitWrite, "COH-BIC-08"),
    no(WritingSnooped, Cmp, "COH-IDS-01"),
    row(WritingSnooped, WriteCmp, MemHostAction::Answer, "COH-BIC-08"),
    no(WritingSnooped, Data, "COH-IDS-01"),
    no(WritingSnooped, Ack, "COH-BIC-02"),
    no(WritingSnooped, Snoop, "COH-SFI-08"),
    row(Conflict, Cmp, MemHostAction::Grant, "COH-BIC-04"),
    no(Conflict, WriteCmp, "COH-IDS-01"),
    row(Conflict, Data, MemHostAction::Fill, "COH-MEM-47"),
    row(Conflict, Ack, MemHostAction::Answer, "COH-BIC-05"),
    no(Conflict, Snoop, "COH-SFI-08"),
    no(ConflictWon, Cmp, "COH-IDS-01"),
    no(ConflictWon, WriteCmp, "COH-IDS-01"),
    row(ConflictWon, Data, MemHostAction::Fill, "COH-MEM-47"),
    row(ConflictWon, Ack, MemHostAction::AnswerFilled, "COH-BIC-04"),
    no(ConflictWon, Snoop, "COH-SFI-08"),
    no(Filling, Cmp, "COH-IDS-01"),
    no(Filling, WriteCmp, "COH-IDS-01"),
    row(Filling, Data, MemHostAction::Fill, "COH-BIC-04"),
    no(Filling, Ack, "COH-BIC-02"),
    no(Filling, Snoop, "COH-SFI-08"),
    no(Answering, Cmp, "COH-BIC-03"),
    row(Answering, WriteCmp, MemHostAction::SendAnswer, "COH-SFI-05"),
    no(Answering, Data, "COH-BIC-03"),
    no(Answering, Ack, "COH-BIC-02"),
    no(Answering, Snoop, "COH-SFI-08"),
    no(Resolved, Cmp, "COH-IDS-01"),
    no(Resolved, WriteCmp, "COH-IDS-01"),
    no(Resolved, Data, "COH-IDS-01"),
    no(Resolved, Ack, "COH-BIC-02"),
    no(Resolved, Snoop, "COH-SFI-08"),
];

/// Inputs a phase has.
const INPUTS: usize = 5;

/// The row of a pair.
pub fn find(phase: Phase, input: MemHostInput) -> &'static Row {
    &ROWS[phase as usize * INPUTS + input as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_its_row() {
        assert_eq!(ROWS.len(), (Phase::Resolved as usize + 1) * INPUTS);
        for row in ROWS {
            let found = find(row.phase, row.input);
            assert_eq!((found.phase, found.input), (row.phase, row.input));
        }
    }
}
