//! What a module can say about itself.

use super::handles::TransactionNaming;
use super::wait::Wait;
use scalepool_protocols::wire::{LayoutDef, Violation};

/// When something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Stamp {
    /// Simulated time in femtoseconds.
    pub t_fs: u64,
    /// Cycle of the module's own clock.
    pub cycle: u64,
}

/// What kind of event a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordKind {
    /// A transaction begins.
    Begin,
    /// Something worth a name happens to a transaction, e.g. what it waited for.
    Mark,
    /// A transaction ends.
    End,
    /// A wire unit passes.
    Flit,
    /// A rule is broken.
    Violation,
    /// A signal takes a value.
    Value,
}

impl RecordKind {
    /// All kinds.
    pub const ALL: [RecordKind; 6] = [
        RecordKind::Begin,
        RecordKind::Mark,
        RecordKind::End,
        RecordKind::Flit,
        RecordKind::Violation,
        RecordKind::Value,
    ];

    /// Name in JSON lines.
    pub const fn name(self) -> &'static str {
        match self {
            RecordKind::Begin => "begin",
            RecordKind::Mark => "mark",
            RecordKind::End => "end",
            RecordKind::Flit => "flit",
            RecordKind::Violation => "violation",
            RecordKind::Value => "value",
        }
    }
}

/// What a record carries.
#[derive(Debug, Clone)]
pub enum Body {
    /// Nothing but its kind and id.
    None,
    /// Name of a mark.
    Mark(&'static str),
    /// What a program or a core asks for: the root of a tree.
    Access {
        /// What it does, e.g. `read`.
        name: &'static str,
        /// Byte address.
        address: u64,
    },
    /// From here on the transaction waits.
    Wait {
        /// What for.
        wait: Wait,
        /// The transaction that has to end before, 0 where none is known.
        holder: u64,
    },
    /// A message.
    Message {
        /// Its layout.
        layout: &'static LayoutDef,
        /// Its bits.
        bits: u128,
        /// Bytes of data that belong to it, byte 0 first.
        data: Option<Vec<u8>>,
    },
    /// A wire unit.
    Flit {
        /// Name in [`scalepool_protocols::registry::PROTOCOLS`].
        protocol: &'static str,
        /// `down` or `up`.
        dir: &'static str,
        /// The bytes, byte 0 first.
        bytes: Vec<u8>,
    },
    /// Payload that a receiver has taken: after its check, in the order of the numbers, once.
    Taken {
        /// Sequence number.
        number: u16,
        /// The unit, byte 0 first.
        bytes: Vec<u8>,
    },
    /// A broken rule.
    Violation(Violation),
    /// What passes a switch, with the vPPB of the virtual hierarchy that it passes there.
    Via {
        /// Which vPPB.
        vppb: TraceVppb,
        /// What passes.
        body: Box<Body>,
    },
    /// Value of a signal.
    Value {
        /// One of the names the place was declared with.
        signal: &'static str,
        /// The value.
        value: u64,
    },
    /// Value of a signal that was named at run time.
    Figure {
        /// Its position in [`super::PlaceKind::Figures`] of the place.
        signal: usize,
        /// The value.
        value: u64,
    },
}

/// A vPPB of a downstream port in a switch with virtual hierarchies, as descriptions number it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TraceVppb {
    /// Virtual hierarchy, the number of its upstream port, from 0.
    pub vcs: usize,
    /// vPPB of a downstream port, from 0 (`fabric` VCS-7 counts that of the upstream port too).
    pub vppb: usize,
}

impl Body {
    /// What is recorded, without the vPPB that it passes.
    pub fn without_vppb(&self) -> &Body {
        match self {
            Body::Via { body, .. } => body.without_vppb(),
            body => body,
        }
    }

    /// The same with the vPPB that it passes, if it passes one.
    pub fn via(self, vppb: Option<TraceVppb>) -> Body {
        match vppb {
            Some(vppb) => Body::Via { vppb, body: Box::new(self) },
            None => self,
        }
    }
}

/// One event at one place.
#[derive(Debug, Clone)]
pub struct Record {
    /// When.
    pub at: Stamp,
    /// Where: position in [`super::Places`], which is the order of creation of the taps.
    pub ordinal: u32,
    /// Counts the records of its tap from 0.
    pub sequence: u64,
    /// What kind.
    pub kind: RecordKind,
    /// Transaction it belongs to, 0 for none.
    pub id: u64,
    /// Transaction that caused that one, 0 for none.
    pub parent: u64,
    /// What it carries.
    pub body: Body,
    /// How the transaction is known at other places.
    pub named: TransactionNaming,
    /// Link on which a coherent agent sends (`true`) or takes a message, for the log.
    pub link: Option<(u16, bool)>,
    /// Who has recorded it, for the log.
    pub from: &'static std::panic::Location<'static>,
}
