//! Where the home's lines live: in a memory of its own, which reads and writes in the step that asks, or in one behind a port,
//! which answers later.
//!
//! A walk with a memory behind a port: the home needs a line that it does not have in hand ([`Backing::has`]), asks for it and
//! keeps what comes ([`Backing::fetched`]). What a transaction writes stays in hand until it is stored ([`Backing::stored`]). When
//! the transaction ends nothing of the line is left here ([`Backing::released`]).

use crate::agent::AgentPort;
use crate::content::{LineAddr, LineContent, WHOLE_LINE};
use crate::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, SnpType};
use std::fmt::Debug;
use std::hash::Hash;

/// Memory behind the home. A line that nobody has written reads as [`LineContent::initial`].
pub trait Backing<D: LineContent>: Clone + Eq + Hash + Debug {
    /// The line's value; of a memory behind a port, that of a line in hand.
    fn read(&self, line: LineAddr) -> D;
    /// Writes the enabled bytes.
    fn write(&mut self, line: LineAddr, data: &D, enables: u64);
    /// Every value held.
    fn visit(&mut self, f: &mut dyn FnMut(&mut D));

    /// The port of the home behind which the memory is, which is read and written by messages of CXL.mem without coherence;
    /// `None`: it is the home's own.
    fn port(&self) -> Option<AgentPort> {
        None
    }

    /// Whether a line can be read now.
    fn has(&self, _line: LineAddr) -> bool {
        true
    }

    /// Whether all that was written to a line has been stored.
    fn is_stored(&self, _line: LineAddr) -> bool {
        true
    }

    /// The line has come from the memory behind the port.
    fn fetched(&mut self, _line: LineAddr, _data: D) {}

    /// What was written has been stored there.
    fn stored(&mut self, _line: LineAddr) {}

    /// No transaction needs the line any longer.
    fn released(&mut self, _line: LineAddr) {}
}

/// The request for a line to a memory behind a port.
pub fn read_of<D>(line: LineAddr, tag: u16) -> Msg<D> {
    let (opcode, snp) = (M2sReqOpcode::MemRd, SnpType::NoOp);
    Msg::M2sReq { opcode, snp, meta_field: MetaField::NoOp, meta: MetaValue::Invalid, line, tag }
}

/// The write of a line to a memory behind a port. It has to bring the two bits that the memory keeps for its host; a home has
/// no use for them.
pub fn write_of<D>(line: LineAddr, tag: u16, data: D) -> Msg<D> {
    let (opcode, snp) = (M2sRwdOpcode::MemWr, SnpType::NoOp);
    let (meta_field, meta) = (MetaField::Meta0State, MetaValue::Invalid);
    Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data, enables: WHOLE_LINE }
}

/// The write of a part of a line to a memory behind a port, bit i of `enables` for byte i.
pub fn write_part_of<D>(line: LineAddr, tag: u16, data: D, enables: u64) -> Msg<D> {
    let (opcode, snp) = (M2sRwdOpcode::MemWrPtl, SnpType::NoOp);
    let (meta_field, meta) = (MetaField::Meta0State, MetaValue::Invalid);
    Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data, enables }
}

/// A line in hand.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct LineInHand<D> {
    line: LineAddr,
    data: D,
    is_stored: bool,
}

/// The lines in hand of a home whose memory is behind a port: those of open transactions, sorted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinesInHand<D> {
    port: AgentPort,
    lines: Vec<LineInHand<D>>,
}

impl<D: LineContent> LinesInHand<D> {
    /// None, of a memory behind this port.
    pub fn of(port: AgentPort) -> Self {
        Self { port, lines: Vec::new() }
    }

    fn place(&self, line: LineAddr) -> Result<usize, usize> {
        self.lines.binary_search_by_key(&line, |held| held.line)
    }

    fn get(&self, line: LineAddr) -> Option<&LineInHand<D>> {
        self.place(line).ok().map(|at| &self.lines[at])
    }

    /// The values of a line in hand that have not been stored.
    pub fn unstored(&self, line: LineAddr) -> Option<&D> {
        self.get(line).filter(|held| !held.is_stored).map(|held| &held.data)
    }
}

impl<D: LineContent> Backing<D> for LinesInHand<D> {
    fn read(&self, line: LineAddr) -> D {
        self.get(line).map_or_else(|| D::initial(line), |held| held.data.clone())
    }

    fn write(&mut self, line: LineAddr, data: &D, enables: u64) {
        let at = match self.place(line) {
            Ok(at) => at,
            Err(at) => {
                self.lines.insert(at, LineInHand { line, data: D::initial(line), is_stored: false });
                at
            }
        };
        self.lines[at].data.merge(data, enables);
        self.lines[at].is_stored = false;
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut D)) {
        self.lines.iter_mut().for_each(|held| f(&mut held.data));
    }

    fn port(&self) -> Option<AgentPort> {
        Some(self.port)
    }

    fn has(&self, line: LineAddr) -> bool {
        self.place(line).is_ok()
    }

    fn is_stored(&self, line: LineAddr) -> bool {
        self.get(line).is_none_or(|held| held.is_stored)
    }

    fn fetched(&mut self, line: LineAddr, data: D) {
        self.write(line, &data, WHOLE_LINE);
        self.stored(line);
    }

    fn stored(&mut self, line: LineAddr) {
        if let Ok(at) = self.place(line) {
            self.lines[at].is_stored = true;
        }
    }

    fn released(&mut self, line: LineAddr) {
        if let Ok(at) = self.place(line) {
            self.lines.remove(at);
        }
    }
}

/// The memory of a home that has its own or one behind a port, as its description says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HomeMemory<M, D> {
    /// Its own.
    Own(M),
    /// Behind a port.
    Behind(LinesInHand<D>),
}

impl<M, D: LineContent> HomeMemory<M, D> {
    /// A memory behind a port.
    pub fn behind(port: AgentPort) -> Self {
        HomeMemory::Behind(LinesInHand::of(port))
    }
}

impl<M: Backing<D>, D: LineContent> Backing<D> for HomeMemory<M, D> {
    fn read(&self, line: LineAddr) -> D {
        match self {
            HomeMemory::Own(own) => own.read(line),
            HomeMemory::Behind(lines) => lines.read(line),
        }
    }

    fn write(&mut self, line: LineAddr, data: &D, enables: u64) {
        match self {
            HomeMemory::Own(own) => own.write(line, data, enables),
            HomeMemory::Behind(lines) => lines.write(line, data, enables),
        }
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut D)) {
        match self {
            HomeMemory::Own(own) => own.visit(f),
            HomeMemory::Behind(lines) => lines.visit(f),
        }
    }

    fn port(&self) -> Option<AgentPort> {
        match self {
            HomeMemory::Own(_) => None,
            HomeMemory::Behind(lines) => lines.port(),
        }
    }

    fn has(&self, line: LineAddr) -> bool {
        match self {
            HomeMemory::Own(_) => true,
            HomeMemory::Behind(lines) => lines.has(line),
        }
    }

    fn is_stored(&self, line: LineAddr) -> bool {
        match self {
            HomeMemory::Own(_) => true,
            HomeMemory::Behind(lines) => lines.is_stored(line),
        }
    }

    fn fetched(&mut self, line: LineAddr, data: D) {
        if let HomeMemory::Behind(lines) = self {
            lines.fetched(line, data);
        }
    }

    fn stored(&mut self, line: LineAddr) {
        if let HomeMemory::Behind(lines) = self {
            lines.stored(line);
        }
    }

    fn released(&mut self, line: LineAddr) {
        if let HomeMemory::Behind(lines) = self {
            lines.released(line);
        }
    }
}

/// The lines that were written, sorted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flat<D>(Vec<(LineAddr, D)>);

impl<D> Default for Flat<D> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<D: LineContent> Flat<D> {
    /// The lines that were written.
    pub fn lines(&self) -> impl Iterator<Item = LineAddr> {
        self.0.iter().map(|(line, _)| *line)
    }

    /// Whether a line was written.
    pub fn holds(&self, line: LineAddr) -> bool {
        self.0.binary_search_by_key(&line, |(l, _)| *l).is_ok()
    }

    /// The line is as one that nobody has written.
    pub fn forget(&mut self, line: LineAddr) {
        if let Ok(at) = self.0.binary_search_by_key(&line, |(l, _)| *l) {
            self.0.remove(at);
        }
    }
}

impl<D: LineContent> Backing<D> for Flat<D> {
    fn read(&self, line: LineAddr) -> D {
        match self.0.binary_search_by_key(&line, |(l, _)| *l) {
            Ok(i) => self.0[i].1.clone(),
            Err(_) => D::initial(line),
        }
    }

    fn write(&mut self, line: LineAddr, data: &D, enables: u64) {
        let i = match self.0.binary_search_by_key(&line, |(l, _)| *l) {
            Ok(i) => i,
            Err(i) => {
                self.0.insert(i, (line, D::initial(line)));
                i
            }
        };
        self.0[i].1.merge(data, enables);
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut D)) {
        self.0.iter_mut().for_each(|(_, d)| f(d));
    }
}
