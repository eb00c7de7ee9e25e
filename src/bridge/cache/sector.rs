//! What becomes of a sector of 64 bytes (`bridge` §9.4, §9.5): the tables.
//!
//! Modelled: states, what an access does in each, what a sector gives back when it leaves, how snoops are answered. Left out: who waits
//! for whom. A walk through a store of class MC: the sector is in S, so the line is asked for with MemInv; Cmp-E comes, the bytes are
//! stored, the sector is in M; BISnpData writes it back by MemWr Shared and leaves S.

use crate::flows::{self, FlowStep, LineOperation};
use crate::window::WindowClass;
use scalepool_protocols::cxl::cxl256::code::{BirspOpcode, BisnpOpcode, MetaValue};

/// State of a sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum SectorState {
    /// It is not there.
    #[default]
    Invalid,
    /// MC and CC: others may have it too.
    Shared,
    /// MC and CC: nobody else has it.
    Exclusive,
    /// MC and CC: nobody else has it, and memory is old.
    Modified,
    /// MN: it is as memory was when it was read.
    Valid,
    /// MN: it was written here.
    Dirty,
}

use SectorState::{Dirty, Exclusive, Invalid, Modified, Shared, Valid};

impl SectorState {
    /// Whether its bytes are those of the line.
    pub fn is_valid(self) -> bool {
        self != Invalid
    }

    /// Whether memory lacks its bytes.
    pub fn is_dirty(self) -> bool {
        matches!(self, Modified | Dirty)
    }

    /// The state behind a store.
    pub fn stored(class: WindowClass) -> SectorState {
        match class {
            WindowClass::Mc | WindowClass::Cc => Modified,
            WindowClass::Mn => Dirty,
            // The cache never holds a line of them (`bridge` §2, §9.2).
            WindowClass::Io | WindowClass::Hp => Invalid,
        }
    }

    /// The state when memory has got its bytes and it stays.
    pub fn cleaned(self) -> SectorState {
        match self {
            Modified => Exclusive,
            Dirty => Valid,
            other => other,
        }
    }
}

/// What an access does to a sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectorAction {
    /// It is done here; no message.
    Here,
    /// These steps come first.
    Ask(&'static [FlowStep]),
}

/// A row: class, operation, states, action.
type SectorTableRow = (WindowClass, LineOperation, &'static [SectorState], SectorAction);

/// What accesses do (`bridge` §9.4). Memory without an owner refuses atomics before they come here.
const ROWS: [SectorTableRow; 19] = {
    use LineOperation::{Atomic, Read, WriteFull, WritePart};
    use SectorAction::{Ask, Here};
    use WindowClass::{Cc, Mc, Mn};
    const OWNED: &[SectorState] = &[Exclusive, Modified];
    const LACKING: &[SectorState] = &[Shared, Invalid];
    [
        (Mc, Read, &[Shared, Exclusive, Modified], Here),
        (Mc, Read, &[Invalid], Ask(flows::FILL_SHARED)),
        (Mc, WriteFull, OWNED, Here),
        (Mc, WriteFull, LACKING, Ask(flows::FILL_OWNED_BLANK)),
        (Mc, WritePart, OWNED, Here),
        (Mc, WritePart, LACKING, Ask(flows::FILL_OWNED)),
        (Mc, Atomic, OWNED, Here),
        (Mc, Atomic, LACKING, Ask(flows::FILL_OWNED)),
        (Cc, Read, &[Shared, Exclusive, Modified], Here),
        (Cc, Read, &[Invalid], Ask(flows::FILL_HOST_SHARED)),
        (Cc, WriteFull, OWNED, Here),
        (Cc, WriteFull, LACKING, Ask(flows::FILL_HOST_UPGRADED)),
        // A shared sector has its bytes, and lacks the right alone.
        (Cc, WritePart, &[Shared], Ask(flows::FILL_HOST_UPGRADED)),
        (Cc, WritePart, &[Invalid], Ask(flows::FILL_HOST_OWNED)),
        (Cc, Atomic, &[Shared], Ask(flows::FILL_HOST_UPGRADED)),
        (Cc, Atomic, &[Invalid], Ask(flows::FILL_HOST_OWNED)),
        (Mn, Read, &[Invalid], Ask(flows::FILL_PLAIN)),
        (Mn, WritePart, &[Invalid], Ask(flows::FILL_PLAIN)),
        // A line that is written whole does not have to be read.
        (Mn, WriteFull, &[Invalid], Here),
    ]
};

/// What an access does to a sector in a state.
pub fn action(class: WindowClass, operation: LineOperation, state: SectorState) -> SectorAction {
    let row = ROWS.iter().find(|row| (row.0, row.1) == (class, operation) && row.2.contains(&state));
    row.map_or(SectorAction::Here, |row| row.3)
}

/// How a snoop is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnoopedSector {
    /// The answer.
    pub answer: BirspOpcode,
    /// The state behind it.
    pub next: SectorState,
    /// Meta value of the MemWr that comes before the answer; `None`: memory has the bytes.
    pub writes: Option<MetaValue>,
}

/// What a snoop of a line, or of a block of which the line is one, does to its sector (`bridge` §9.5).
pub fn snooped(opcode: BisnpOpcode, state: SectorState) -> SnoopedSector {
    let (answer, next, meta) = match (opcode, state) {
        // Memory that nobody keeps coherent is not snooped; whatever asks for it finds nothing.
        (_, Invalid | Valid | Dirty) => (BirspOpcode::BIRspI, state, MetaValue::Invalid),
        (BisnpOpcode::BISnpData | BisnpOpcode::BISnpDataBlk, _) => (BirspOpcode::BIRspS, Shared, MetaValue::Shared),
        (BisnpOpcode::BISnpCur | BisnpOpcode::BISnpCurBlk, Shared) => (BirspOpcode::BIRspS, Shared, MetaValue::Shared),
        (BisnpOpcode::BISnpCur | BisnpOpcode::BISnpCurBlk, _) => (BirspOpcode::BIRspE, Exclusive, MetaValue::Any),
        _ => (BirspOpcode::BIRspI, Invalid, MetaValue::Invalid),
    };
    SnoopedSector { answer, next, writes: (state == Modified).then_some(meta) }
}
