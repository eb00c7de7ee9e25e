//! What a vector file holds, before it becomes text.

use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::nvlink::Packet;
use scalepool_protocols::ualink::flit::DlFlit;
use scalepool_protocols::wire::LayoutDef;
use std::fmt;

/// Cases of one kind, in order; the headers of the files name the range.
#[derive(Debug, Clone)]
pub struct CaseGroup<C> {
    /// What the cases show, in a few words.
    pub what: String,
    /// The cases.
    pub cases: Vec<C>,
}

impl<C> CaseGroup<C> {
    /// A group.
    pub fn new(what: impl Into<String>, cases: Vec<C>) -> CaseGroup<C> {
        CaseGroup { what: what.into(), cases }
    }
}

/// One message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageCase {
    /// The whole message.
    pub bits: u128,
    /// First rule it breaks in layout order, as the generator means it; `None` for a legal one.
    pub rule: Option<&'static str>,
}

/// A run of flits that starts and ends with no data owed.
#[derive(Debug, Clone)]
pub struct StreamCase<U = Cxl68Unit> {
    /// What has to be known beside the flits to judge them.
    pub context: Option<Context>,
    /// Flits in order of the wire.
    pub units: Vec<U>,
    /// The one rule it breaks, as the generator means it; `None` for a legal one.
    pub rule: Option<&'static str>,
}

impl<U> StreamCase<U> {
    /// A legal run.
    pub fn legal(units: Vec<U>) -> StreamCase<U> {
        StreamCase { context: None, units, rule: None }
    }

    /// A run that breaks one rule, visibly.
    pub fn breaks(rule: &'static str, units: Vec<U>) -> StreamCase<U> {
        StreamCase { context: None, units, rule: Some(rule) }
    }
}

/// What the flits of a case do not carry. Written as `[Context = ...]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// Several data headers in one slot are disabled.
    MdhOff,
    /// CXL.cachemem is not enabled.
    CachememOff,
    /// CXL.io is not enabled.
    IoOff,
    /// The sender means flit n (from 0) of the case to be all data.
    MeantAllData(usize),
    /// The sender means flit n (from 0) of the case to be a protocol flit.
    MeantProtocol(usize),
    /// The sender means flit n (from 0) of the case to be a control flit.
    MeantControl(usize),
    /// The receiver has granted this many credits of the class, and none since.
    Credits(Class, usize),
    /// No RETRY.Req of the receiver is open.
    NoRequestOpen,
    /// The sequence number of the first flit that takes one.
    FirstSequence(u8),
    /// The sender means this number in a field of the message in slot n of the first flit; the slot drops it.
    Dropped(usize, &'static str, u64),
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Context::MdhOff => f.write_str("several data headers in a slot are disabled"),
            Context::CachememOff => f.write_str("cachemem is not enabled"),
            Context::IoOff => f.write_str("io is not enabled"),
            Context::MeantAllData(n) => write!(f, "the sender means flit {n} to be all data"),
            Context::MeantProtocol(n) => write!(f, "the sender means flit {n} to be a protocol flit"),
            Context::MeantControl(n) => write!(f, "the sender means flit {n} to be a control flit"),
            Context::Credits(class, n) => write!(f, "the receiver has granted {n} credits of {}", class.def().name),
            Context::NoRequestOpen => f.write_str("the receiver has not asked for a replay"),
            Context::Dropped(slot, field, value) => {
                write!(f, "the sender means {value} in the field {field} of the message in slot {slot}")
            }
            Context::FirstSequence(n) => write!(f, "the first flit that takes a sequence number has number {n}"),
        }
    }
}

/// One direction of a protocol with flits of 256 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream256 {
    /// Name of the protocol.
    pub protocol: &'static str,
    /// Byte map and routing of its flits.
    pub mode: Mode,
    /// Direction.
    pub dir: Dir,
}

/// The cases of a file.
#[derive(Debug, Clone)]
pub enum VectorContent {
    /// Messages of one layout.
    Messages(&'static LayoutDef, Vec<CaseGroup<MessageCase>>),
    /// Flits of `cxl-68b` in one direction.
    Cxl68(Dir, Vec<CaseGroup<StreamCase>>),
    /// Flits of 256 bytes in one direction.
    Flits256(Stream256, Vec<CaseGroup<StreamCase<Cxl256Flit>>>),
    /// Flits of `ualink` in one direction.
    Ualink(Dir, Vec<CaseGroup<StreamCase<DlFlit>>>),
    /// Packets of `nvlink` in one direction.
    Nvlink(Dir, Vec<CaseGroup<StreamCase<Packet>>>),
}

/// One vector set: it becomes a `.hex`, a `.rsp` and a `.jsonl` file.
#[derive(Debug, Clone)]
pub struct VectorSet {
    /// Path in the set without extension, e.g. `cxl68/m2s_req`.
    pub path: String,
    /// What it is, for the headers.
    pub about: String,
    /// Its cases.
    pub content: VectorContent,
}

impl VectorSet {
    /// Lines of the `.hex` file: messages or flits.
    pub fn numbers(&self) -> usize {
        match &self.content {
            VectorContent::Nvlink(_, groups) => {
                let packets = groups.iter().flat_map(|g| &g.cases).flat_map(|c| &c.units);
                packets.map(|packet| packet.flits().len()).sum()
            }
            _ => self.vectors(),
        }
    }

    /// Lines of the `.jsonl` file: messages, flits or packets.
    pub fn vectors(&self) -> usize {
        match &self.content {
            VectorContent::Messages(_, groups) => groups.iter().map(|g| g.cases.len()).sum(),
            VectorContent::Cxl68(_, groups) => groups.iter().flat_map(|g| &g.cases).map(|c| c.units.len()).sum(),
            VectorContent::Flits256(_, groups) => groups.iter().flat_map(|g| &g.cases).map(|c| c.units.len()).sum(),
            VectorContent::Ualink(_, groups) => groups.iter().flat_map(|g| &g.cases).map(|c| c.units.len()).sum(),
            VectorContent::Nvlink(_, groups) => groups.iter().flat_map(|g| &g.cases).map(|c| c.units.len()).sum(),
        }
    }

    /// Cases of the `.rsp` file.
    pub fn cases(&self) -> usize {
        match &self.content {
            VectorContent::Messages(_, groups) => groups.iter().map(|g| g.cases.len()).sum(),
            VectorContent::Cxl68(_, groups) => groups.iter().map(|g| g.cases.len()).sum(),
            VectorContent::Flits256(_, groups) => groups.iter().map(|g| g.cases.len()).sum(),
            VectorContent::Ualink(_, groups) => groups.iter().map(|g| g.cases.len()).sum(),
            VectorContent::Nvlink(_, groups) => groups.iter().map(|g| g.cases.len()).sum(),
        }
    }
}
