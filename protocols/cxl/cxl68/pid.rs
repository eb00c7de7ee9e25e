//! Protocol IDs and what a receiver does with a byte pair (`cxl-68b` §1.2).

/// Who a unit is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PidKind {
    /// CXL.io.
    Io,
    /// CXL.cache and CXL.mem.
    Cachemem,
    /// Filler of the physical layer.
    Null,
    /// ARB/MUX.
    Almp,
}

/// One row of the ID table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pid {
    /// Who it is for.
    pub kind: PidKind,
    /// Implied EDS: the block after the one in which the unit ends is an ordered set.
    pub eds: bool,
    /// The 8-bit code; both bytes of the ID are equal.
    pub code: u8,
}

impl Pid {
    /// The 16-bit ID.
    pub const fn id(self) -> u16 {
        (self.code as u16) << 8 | self.code as u16
    }
}

/// The eight IDs; codes have Hamming distance 4, all others are reserved.
pub const PIDS: [Pid; 8] = [
    Pid { kind: PidKind::Io, eds: false, code: 0xff },
    Pid { kind: PidKind::Io, eds: true, code: 0xd2 },
    Pid { kind: PidKind::Cachemem, eds: false, code: 0x55 },
    Pid { kind: PidKind::Cachemem, eds: true, code: 0x87 },
    Pid { kind: PidKind::Null, eds: false, code: 0x99 },
    Pid { kind: PidKind::Null, eds: true, code: 0x4b },
    Pid { kind: PidKind::Almp, eds: false, code: 0xcc },
    Pid { kind: PidKind::Almp, eds: true, code: 0x1e },
];

/// ID of CXL.cachemem.
pub const CACHEMEM: u16 = 0x5555;
/// ID of a NULL unit.
pub const NULL: u16 = 0x9999;
/// ID of an ALMP.
pub const ALMP: u16 = 0xcccc;
/// ID of CXL.io.
pub const IO: u16 = 0xffff;

/// [`PIDS`] by their code.
static BY_CODE: [Option<Pid>; 256] = {
    let mut by_code = [None; 256];
    let mut n = 0;
    while n < PIDS.len() {
        by_code[PIDS[n].code as usize] = Some(PIDS[n]);
        n += 1;
    }
    by_code
};

/// The row of an 8-bit code, `None` for a reserved one.
#[inline]
pub fn lookup(code: u8) -> Option<Pid> {
    BY_CODE[usize::from(code)]
}

/// Protocols that negotiation enabled. IDs of the physical layer and of ARB/MUX are never unexpected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enabled {
    /// CXL.io.
    pub io: bool,
    /// CXL.cache and CXL.mem.
    pub cachemem: bool,
}

impl Enabled {
    /// Both protocols.
    pub const ALL: Enabled = Enabled { io: true, cachemem: true };

    /// Whether a unit of the kind may come.
    pub const fn expects(self, kind: PidKind) -> bool {
        match kind {
            PidKind::Io => self.io,
            PidKind::Cachemem => self.cachemem,
            PidKind::Null | PidKind::Almp => true,
        }
    }
}

/// What is written to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PidLog {
    /// One byte was invalid, the other one was used: correctable.
    CorrectableFraming,
    /// ID of a protocol that is not enabled.
    UnexpectedDropped,
    /// One byte of a protocol that is not enabled, the other one invalid: logged as unexpected, not as framing.
    UnexpectedHalf,
    /// Both bytes invalid.
    UncorrectableInvalid,
    /// Two valid bytes that differ.
    UncorrectableMismatch,
}

impl PidLog {
    /// The rule that the sender broke.
    pub const fn rule(self) -> &'static str {
        match self {
            PidLog::CorrectableFraming => "CXL68-PID-02",
            PidLog::UnexpectedDropped => "CXL68-PID-05",
            PidLog::UnexpectedHalf => "CXL68-PID-06",
            PidLog::UncorrectableInvalid => "CXL68-PID-03",
            PidLog::UncorrectableMismatch => "CXL68-PID-04",
        }
    }

    /// Whether the log entry is "unexpected protocol ID".
    pub const fn is_unexpected(self) -> bool {
        matches!(self, PidLog::UnexpectedDropped | PidLog::UnexpectedHalf)
    }

    /// Text of the log.
    pub const fn text(self) -> &'static str {
        match self {
            PidLog::CorrectableFraming => {
                "one byte of the protocol ID is invalid; the other one is used (correctable framing error)"
            }
            PidLog::UnexpectedDropped | PidLog::UnexpectedHalf => {
                "the protocol ID is unexpected, because its protocol is not enabled; the unit is dropped"
            }
            PidLog::UncorrectableInvalid => "both bytes of the protocol ID are invalid (uncorrectable framing error)",
            PidLog::UncorrectableMismatch => "the bytes of the protocol ID differ (uncorrectable framing error)",
        }
    }
}

/// What the receiver does with a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PidAction {
    /// Use the unit as this kind; `None`: drop it, retrain, tell the link layers.
    pub accept: Option<Pid>,
    /// Log entry, if any.
    pub log: Option<PidLog>,
}

/// The receiver's action table: one row a pair class.
///
/// The sheet's table lists `invalid` beside `valid+unexpected` under "unexpected"; a pair of two equal unexpected IDs
/// is the other row of that log. Two valid IDs that differ are a mismatch whether or not they are expected.
#[inline]
pub fn receive(id: u16, enabled: Enabled) -> PidAction {
    let [lo, hi] = id.to_le_bytes();
    // Nearly every ID is one code twice, which is looked up once.
    if lo == hi
        && let Some(pid) = lookup(lo).filter(|pid| enabled.expects(pid.kind))
    {
        return PidAction { accept: Some(pid), log: None };
    }
    receive_other(lo, hi, enabled)
}

/// An ID that is not one expected code twice.
#[cold]
fn receive_other(lo: u8, hi: u8, enabled: Enabled) -> PidAction {
    let drop = |log| PidAction { accept: None, log: Some(log) };
    match (lookup(lo), lookup(hi)) {
        (Some(a), Some(b)) if a != b => drop(PidLog::UncorrectableMismatch),
        (Some(p), Some(_)) if enabled.expects(p.kind) => PidAction { accept: Some(p), log: None },
        (Some(p), None) | (None, Some(p)) if enabled.expects(p.kind) => {
            PidAction { accept: Some(p), log: Some(PidLog::CorrectableFraming) }
        }
        (Some(_), Some(_)) => drop(PidLog::UnexpectedDropped),
        (Some(_), None) | (None, Some(_)) => drop(PidLog::UnexpectedHalf),
        (None, None) => drop(PidLog::UncorrectableInvalid),
    }
}
