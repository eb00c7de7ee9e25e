//! A peer on CXL.io that reads and writes the memory of a device (UIO to HDM-DB, `coherence` §3.7).
//!
//! Modelled: accesses one after the other, each through the decoders of the device: what no decoder covers is aborted
//! without effect, the rest goes line by line through the DCOH, which asks the holders first; the completion comes last.
//! Detail: an access begins when it has reached the device. Left out: packets of CXL.io, their way, several at a time.
//!
//! A walk through one read: its decoder allows UIO and covers it; its first line is read, for which the DCOH asks the owner
//! by BISnpCur; when that has ended the next line follows; behind the last one the access is complete.

use super::accessor::AccessorMeasured;
use super::core::{Core, CoreReport, Told, Wants};
use super::program::CoreProgram;
use crate::agent::{AgentOutput, Effect};
use crate::config::CoherenceConfig;
use crate::content::{CacheLine, LineAddr};
use crate::mem::dcoh::{Dcoh, DeviceOp};
use crate::mem::uio::{LINE_BYTES, UioDecoder, decode};
use scalepool_trace::Wait;
use std::collections::VecDeque;

/// An access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UioAccess {
    /// First byte address.
    pub address: u64,
    /// Length, at least 1.
    pub bytes: u64,
    /// What a write writes, as it stands in each line.
    pub write: Option<CacheLine>,
    /// Cycles that must pass before it begins.
    pub think_cycles: u64,
}

impl UioAccess {
    /// Its bytes in a line, one bit a byte.
    fn enables(&self, line: LineAddr) -> u64 {
        let bytes = (line.address()..).take(LINE_BYTES as usize).enumerate();
        let own = |address: &u64| (self.address..self.address.saturating_add(self.bytes)).contains(address);
        bytes.filter(|(_, address)| own(address)).fold(0, |bits, (n, _)| bits | 1 << n)
    }
}

/// What is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Open {
    access: UioAccess,
    lines: VecDeque<LineAddr>,
    since: u64,
    /// The first line has been given to the DCOH.
    given: bool,
    /// It waits for that line, as the trace says.
    waits: bool,
}

/// The peer.
#[derive(Debug, Clone)]
pub struct UioPeer {
    decoders: Vec<UioDecoder>,
    todo: CoreProgram<UioAccess>,
    open: Option<Open>,
    begins_at: u64,
    /// Accesses that have begun.
    begun: u64,
    /// What has become of them in this cycle.
    told: Vec<Told>,
    /// Accesses that were aborted.
    pub aborts: u64,
    /// Accesses that were completed.
    pub measured: AccessorMeasured,
}

impl UioPeer {
    /// A peer with its accesses, in front of these decoders.
    pub fn new(decoders: Vec<UioDecoder>, accesses: CoreProgram<UioAccess>) -> UioPeer {
        let begins_at = accesses.front().map_or(0, |a| a.think_cycles);
        let measured = AccessorMeasured::default();
        let (begun, told) = (0, Vec::new());
        UioPeer { decoders, todo: accesses, open: None, begins_at, begun, told, aborts: 0, measured }
    }

    /// Decodes the next access, if its time has come.
    fn begin(&mut self, cycle: u64) {
        if self.open.is_some() || cycle < self.begins_at {
            return;
        }
        let Some(access) = self.todo.next() else { return };
        let decoded = decode(&self.decoders, access.address, access.bytes);
        self.begun += 1;
        let name = if access.write.is_some() { "uio_write" } else { "uio_read" };
        self.told.push(Told::Begins { access: self.begun, name, address: access.address });
        if decoded.abort.is_some() {
            self.aborts += 1;
            self.begins_at = cycle + 1 + self.todo.front().map_or(0, |a| a.think_cycles);
        }
        if !decoded.lines.is_empty() {
            self.open = Some(Open { access, lines: decoded.lines.into(), since: cycle, given: false, waits: false });
        } else {
            self.told.push(Told::Ends { access: self.begun });
        }
    }
}

impl Core<Dcoh<CacheLine>> for UioPeer {
    fn cycle(
        &mut self,
        agent: &mut Dcoh<CacheLine>,
        config: &CoherenceConfig,
        cycle: u64,
        effects: &[Effect<CacheLine>],
        out: &mut AgentOutput<CacheLine>,
    ) -> Wants {
        if let Some(open) = &mut self.open
            && open.given
            && open.lines.front().is_some_and(|line| effects.contains(&Effect::Done(*line)))
        {
            if open.lines.front().is_some_and(|line| effects.contains(&Effect::Refused(*line))) {
                // The memory does not have the line.
                self.aborts += 1;
                open.lines.clear();
            }
            open.lines.pop_front();
            open.given = false;
            if open.lines.is_empty() {
                self.told.push(Told::Ends { access: self.begun });
                self.measured.latency_cycles.push(cycle - open.since);
                self.begins_at = cycle + 1 + self.todo.front().map_or(0, |a| a.think_cycles);
                self.open = None;
            }
        }
        self.begin(cycle);
        if let Some(open) = &mut self.open {
            let next = open.lines.front().copied().filter(|_| !open.given);
            if let Some(line) = next {
                out.worked.push(line);
                let op = if open.access.write.is_some() { DeviceOp::UioWrite } else { DeviceOp::UioRead };
                open.given = agent.can_issue(config, line, op);
                match open.access.write {
                    Some(data) if open.given => {
                        agent.uio_write(config, line, data, open.access.enables(line), out);
                    }
                    None if open.given => agent.issue(config, line, op, out),
                    _ => {}
                }
                let access = self.begun;
                match (open.given, std::mem::replace(&mut open.waits, !open.given)) {
                    (false, false) => {
                        self.told.push(Told::Waits { access, wait: Wait::Line, on: None, line: Some(line) });
                    }
                    (true, true) => self.told.push(Told::Goes { access }),
                    _ => (),
                }
                if open.given {
                    self.told.push(Told::Asks { access, line });
                }
            }
            return Wants::Message;
        }
        if self.todo.front().is_none() { Wants::Message } else { Wants::Cycle(self.begins_at) }
    }

    fn told(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.told)
    }

    fn report(&self) -> Option<CoreReport> {
        Some(CoreReport { measured: self.measured.clone(), aborts: self.aborts })
    }

    fn open_work(&self) -> Option<String> {
        let open = usize::from(self.open.is_some()) + self.todo.len();
        (open > 0).then(|| format!("{open} UIO accesses to do"))
    }
}
