//! Lines of the own cluster that accelerators reach by the bridge, from the side of those that ask (`bridge` §5.1).
//!
//! Modelled: the atomic that goes to its accelerator; a line that was taken back from all holders is given back, however its access ends.
//! Detail: reads and writes are messages of CXL.mem as in other classes, see [`flows`](crate::flows). Left out: the home, see
//! [`inbound::hairpin`](crate::inbound::hairpin). A walk through an atomic that its accelerator refuses: MemInv is answered, so the
//! accelerator is asked; its status is kept, MemWrPtl of no byte gives the line back, and with its Cmp the request ends with that status.

use super::request::ReplyForm;
use super::table::ChildId;
use super::transaction::{AwaitedAnswers, Child};
use super::{BridgeOutput, BridgeStep, OutboundBridge};
use crate::flows::{CoherenceFields, FlowStep, GIVE_LINE_BACK, RECALLED, StepMessage};
use crate::hairpin::{OwnerAnswer, OwnerAtomic};
use crate::status::told;
use crate::window::{InboundClass, WindowClass};
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_coherence::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{M2sReqOpcode, M2sRwdOpcode};
use scalepool_protocols::ualink::code::{ReqCmd, Status};

/// Steps of an access that ends before its time.
const GIVES_BACK: &[FlowStep] = &[GIVE_LINE_BACK];

impl Child {
    /// Whether the answer that has come leaves its line held at the home, and nothing that is still to be sent ends that: it has failed, or
    /// was given up.
    pub(super) fn owes_line(&self) -> bool {
        let is_held = self.class == WindowClass::Hp
            && self.steps.get(self.step).is_some_and(|step| {
                matches!(step.message, StepMessage::Owner | StepMessage::Request(M2sReqOpcode::MemInv, _))
            });
        is_held && (self.is_done || self.failed.is_some())
    }

    /// Gives the line back, and does nothing else any more.
    pub(super) fn gives_line_back(&mut self) {
        (self.steps, self.step) = (GIVES_BACK, 0);
    }
}

/// The message that gives a line back.
pub(super) fn give_back(line: LineAddr, tag: u16) -> Msg<CacheLine> {
    let CoherenceFields { field: meta_field, value: meta, snp } = RECALLED;
    let (opcode, data, enables) = (M2sRwdOpcode::MemWrPtl, CacheLine::of([0; 64]), 0);
    Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data, enables }
}

/// Whether an atomic brings the old values back.
fn returns(reply: &ReplyForm) -> bool {
    match reply {
        ReplyForm::Upli(req) => req.cmd == ReqCmd::AtomicR,
        // Of GPUs a posted one would not tell its status (`bridge` §5.4).
        ReplyForm::Nvlink(..) => true,
    }
}

impl OutboundBridge {
    /// Whether the bridge keeps the memory at an address of CXL coherent.
    pub(super) fn is_exported(&self, address: u64) -> bool {
        let route = self.config.exported.as_ref().and_then(|windows| windows.translated(address));
        route.is_some_and(|route| route.class == InboundClass::Db)
    }

    /// The line of an atomic is held: its accelerator is asked.
    pub(super) fn ask_owner(&mut self, child: ChildId, out: &mut BridgeOutput) {
        let Some(transaction) = self.table.get_mut(child.entry) else { return };
        let (returns, vchan) = (returns(&transaction.request.reply), transaction.request.traffic_class);
        let Some(open) = transaction.children.get_mut(usize::from(child.child)) else { return };
        let Some(atomic) = open.atomic else { return };
        open.awaited = AwaitedAnswers { data: true, ..AwaitedAnswers::default() };
        let ask = OwnerAtomic { child, line: open.line, atomic, operands: open.data, returns, vchan };
        self.gets_on(child, out);
        out.steps.push(BridgeStep::AskOwner(ask));
    }

    /// The accelerator whose line it is has answered.
    pub fn receive_owner(&mut self, answer: OwnerAnswer, out: &mut BridgeOutput) {
        let OwnerAnswer { child: id, status, line } = answer;
        let is_asked = |child: &&mut Child| {
            let step = child.steps.get(child.step).map(|step| step.message);
            child.awaited.data && step == Some(StepMessage::Owner)
        };
        let Some(child) = self.child(id).filter(is_asked) else {
            let found = format!("the answer of an atomic with tag {:#06x}", id.tag());
            return out.find("COH-IDS-01", found, "an open request of its kind");
        };
        child.awaited.data = false;
        match status {
            Status::OKAY => child.read = Some(line),
            failed => child.failed = Some(told(failed)),
        }
        self.answered(id, out);
        self.settle(out);
    }
}
