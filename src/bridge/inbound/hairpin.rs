//! Lines of its own cluster that accelerators reach by the bridge, the hairpin (`bridge` §1.3, §5.1): what the home takes of them.
//!
//! Modelled: reads that get the present value; writes and atomics, for which every holder gives its line back before anything is asked of
//! the accelerator; from there to the end of the access nobody else gets the line. The hairpin is never recorded as a holder. Detail: the
//! hairpin speaks CXL.mem with the home inside of the bridge; only what the rows here say may come. Left out: who asks, and the rights of
//! accelerators, which are those of the [outbound half](crate::outbound); the atomic itself, which goes to its accelerator by the
//! [inbound half](super).
//!
//! A walk through one atomic: MemInv Invalid/SnpInv takes the line back from all holders; with its Cmp the line is held, and requests of
//! others for it wait; the accelerator computes; MemWrPtl of no byte ends the hold, and whoever waits goes on.

use crate::flows::{self, LineOperation, StepMessage};
use crate::window::{BridgeWindow, InboundClass, WindowClass};
use scalepool_coherence::agent::{AgentOutput, Effect};
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::message::Msg;
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::cxl256::code::{M2sReqOpcode, M2sRwdOpcode, SnpType};

/// The messages of the hairpin.
pub fn rows() -> impl Iterator<Item = StepMessage> {
    let operations = [LineOperation::Read, LineOperation::WriteFull, LineOperation::WritePart, LineOperation::Atomic];
    operations.into_iter().flat_map(|operation| flows::steps(WindowClass::Hp, operation)).map(|step| step.message)
}

/// Whether a message is the one of a row.
pub fn fits(row: StepMessage, msg: &Msg<CacheLine>) -> bool {
    match (row, *msg) {
        (StepMessage::Request(of, f), Msg::M2sReq { opcode, meta_field, meta, snp, .. }) => {
            (of, f.field, f.value, f.snp) == (opcode, meta_field, meta, snp)
        }
        (StepMessage::Data(of, f), Msg::M2sRwd { opcode, meta_field, meta, snp, .. }) => {
            (of, f.field, f.value, f.snp) == (opcode, meta_field, meta, snp)
        }
        (StepMessage::GiveBack, msg) => gives_back(&msg),
        _ => false,
    }
}

/// Whether a message gives a line back, and does nothing else.
pub fn gives_back(msg: &Msg<CacheLine>) -> bool {
    let of_row = fits(StepMessage::Data(M2sRwdOpcode::MemWrPtl, flows::RECALLED), msg);
    of_row && matches!(msg, Msg::M2sRwd { enables: 0, .. })
}

/// The first address of CXL to which a window of class HP leads and which is in no window of class DB of these; `None`: all are.
pub fn first_not_coherent(window: &BridgeWindow, exported: &[BridgeWindow<InboundClass>]) -> Option<u64> {
    let coherent_until = |address: u64| {
        let holds = |of: &&BridgeWindow<InboundClass>| {
            of.class == InboundClass::Db && address >= of.base && address - of.base < of.size
        };
        exported.iter().find(holds).map(|of| of.base + of.size)
    };
    let (mut at, end) = (window.out_base, window.out_base.saturating_add(window.size));
    while at < end {
        match coherent_until(at) {
            Some(next) => at = next,
            None => return Some(at),
        }
    }
    None
}

/// Lines that were taken back from all holders, or are being taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct HairpinHolds {
    /// By the tag of its request.
    recalled: OrderedMap<u16, LineAddr>,
    held: OrderedSet<LineAddr>,
}

impl HairpinHolds {
    /// Whether no line is held.
    pub fn is_empty(&self) -> bool {
        self.recalled.is_empty() && self.held.is_empty()
    }

    /// Whether a line is held.
    pub fn has(&self, line: LineAddr) -> bool {
        self.held.contains(&line)
    }

    /// Whether a message of a holder has to wait for the end of an access: it asks for the line, or writes it without having held it.
    pub(super) fn keeps_waiting(&self, msg: &Msg<CacheLine>) -> bool {
        let asks = matches!(msg, Msg::M2sReq { .. } | Msg::M2sRwd { snp: SnpType::SnpInv, .. });
        asks && msg.line().is_some_and(|line| self.has(line))
    }

    /// A message of the hairpin is taken.
    pub(super) fn takes(&mut self, msg: &Msg<CacheLine>, is_refused: bool, out: &mut AgentOutput<CacheLine>) {
        let Some(line) = msg.line() else { return };
        let mut finds = |expected: &str| {
            out.events.push(CoherenceEvent::new("BRG-MAP-53", Some(line), "hairpin", msg.label(), expected));
        };
        match *msg {
            _ if is_refused => {
                finds(
                    "a read of the present value, or an access to a line taken back from all holders: none is recorded",
                );
            }
            Msg::M2sReq { opcode: M2sReqOpcode::MemInv, tag, .. } => {
                self.recalled.insert(tag, line);
            }
            Msg::M2sRwd { .. } if !self.held.remove(&line) => finds("the line taken back from all holders before"),
            // The accelerator may have computed, and its values have not come by here.
            _ if gives_back(msg) => out.effects.push(Effect::ChangedBehind(line)),
            _ => (),
        }
    }

    /// An answer to the hairpin leaves: if it was asked to take a line back, nobody else gets it from here on.
    pub(super) fn answered(&mut self, tag: u16) {
        self.held.extend(self.recalled.remove(&tag));
    }
}
