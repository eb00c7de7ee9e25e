//! The home of memory of accelerators that a bridge keeps coherent (`bridge` §1.3, §5.1): a DCOH in front of their memory.
//!
//! Modelled: windows and rights in front of the DCOH, which has the record of each line, recalls by back-invalidate snoops and a filter
//! with victims ([`Dcoh`]); each read of a line is one at its accelerator, each write back is one there, and its Cmp follows the answer of
//! the accelerator; messages that stand in no row are answered without an effect, and counted; the load that is told is the larger one of
//! the DCOH and of the table behind it. Detail: message in, messages out; what the accelerators are asked leaves as CXL.mem without
//! coherence, which the [inbound half](super) spells. What accelerators of the same cluster ask of these lines comes by the [`hairpin`].
//! Who may not write may not own a line either, since an owner stores without a message: its requests for ownership are refused, and where the
//! home is free to grant E it grants S (our choice, as the sheet says nothing of rights of holders). Left out: virtual channels, for one
//! access may serve several requests: all leave on channel 0.
//!
//! A walk: MemRd Shared/SnpData of host 1 for a line that host 2 owns. Window and rights let it pass; BISnpData goes to host 2, whose MemWr
//! Shared becomes a WriteFull at the accelerator and is answered when that is; BIRspS ends the recall; a Read at the accelerator brings the
//! line, and MemData and Cmp-S leave for host 1. Both share the line.

use super::convert::read_answer;
use super::hairpin::{self, HairpinHolds};
use crate::commands::AccessKind;
use crate::window::{BridgeWindows, InboundClass};
use scalepool_coherence::agent::{Accept, Agent, AgentOutput, AgentPort};
use scalepool_coherence::clocked::coverage::Point;
use scalepool_coherence::clocked::making::MakesWatch;
use scalepool_coherence::clocked::node::AgentWatch;
use scalepool_coherence::clocked::sequence::Recorded;
use scalepool_coherence::clocked::watcher::{HomeView, Watched, Watcher, WatcherHandle};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_coherence::mem::dcoh::Dcoh;
use scalepool_coherence::mem::tables::{self, HdmRegion};
use scalepool_coherence::message::Msg;
use scalepool_coherence::monitor::CopyView;
use scalepool_protocols::cxl::cxl256::code::{
    DevLoad, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};
use scalepool_protocols::ualink::code::Status;
use std::sync::{Arc, Mutex};

/// Entries of the filter (`bridge` §5.1).
pub const FILTER_ENTRIES: usize = 64 << 10;
/// Ways of the filter (`bridge` §5.1).
pub const FILTER_WAYS: usize = 16;
/// Recalls that may be open (`bridge` §7: BITag).
pub const RECALLS: usize = 64;

/// The home. Its ports lead to those that hold lines, then to the hairpin, if there is one, the last one to the memory of accelerators.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ExportedHome {
    dcoh: Dcoh<CacheLine>,
    windows: Arc<BridgeWindows<InboundClass>>,
    /// By port who is there, as groups of sources name it: SPID, else LD-ID.
    sources: Vec<u16>,
    /// Lines that the hairpin has taken back from all holders; `None`: there is none.
    hairpin: Option<HairpinHolds>,
    /// Messages that have ended here.
    refused: u64,
    /// The load that the inbound half told last (`bridge` §7).
    behind: DevLoad,
}

impl ExportedHome {
    /// A home of the windows of class DB among these, for holders that are at its ports in this order, with nothing recorded.
    pub fn new(config: &CoherenceConfig, windows: Arc<BridgeWindows<InboundClass>>, sources: Vec<u16>) -> ExportedHome {
        let holders = sources.len() as AgentPort;
        let dcoh = Dcoh::exporting(config, holders, holders);
        ExportedHome { dcoh, windows, sources, hairpin: None, refused: 0, behind: DevLoad(0) }
    }

    /// The same with a hairpin at the port behind those of holders.
    pub fn with_hairpin(
        config: &CoherenceConfig,
        windows: Arc<BridgeWindows<InboundClass>>,
        sources: Vec<u16>,
    ) -> ExportedHome {
        let port = sources.len() as AgentPort;
        let dcoh = Dcoh::exporting(config, port, port + 1);
        let hairpin = Some(HairpinHolds::default());
        ExportedHome { dcoh, hairpin, ..ExportedHome::new(config, windows, sources) }
    }

    /// The DCOH, to be looked at.
    pub fn dcoh(&self) -> &Dcoh<CacheLine> {
        &self.dcoh
    }

    /// Whether the hairpin is at this port.
    fn is_hairpin(&self, port: AgentPort) -> bool {
        self.hairpin.is_some() && usize::from(port) == self.sources.len()
    }

    /// With which status a message ends here, and whether it breaks a rule of the DCOH; `None`: it is the DCOH's. Window, rights, legality
    /// are looked at in this order (`bridge` §2). A line that the hairpin gives back ends here with status 0.
    fn refused(&self, port: AgentPort, msg: &Msg<CacheLine>) -> Option<(Status, bool)> {
        let needed = needed(msg)?;
        let address = msg.line()?.address();
        if !self.windows.translated(address).is_some_and(|route| route.class == InboundClass::Db) {
            return Some((Status::DecodeError, false));
        }
        if self.is_hairpin(port) {
            // Rights of accelerators are those of the window by which they ask.
            if hairpin::gives_back(msg) {
                return Some((Status::OKAY, false));
            }
            let is_legal = hairpin::rows().any(|row| hairpin::fits(row, msg));
            return (!is_legal).then_some((Status::TargetAbort, false));
        }
        let source = self.sources.get(usize::from(port)).copied().unwrap_or(0);
        for access in needed {
            if let Err(status) = self.windows.route(source, address, *access) {
                return Some((status, false));
            }
        }
        let is_legal = match *msg {
            Msg::M2sReq { opcode, meta_field, meta, snp, .. } => {
                tables::check_req(HdmRegion::HdmDb, opcode, meta_field, meta, snp).is_ok()
            }
            Msg::M2sRwd { opcode, meta_field, meta, snp, .. } => {
                tables::rwd(HdmRegion::HdmDb, self.sources.len() > 1, opcode, meta_field, meta, snp).is_ok()
            }
            _ => true,
        };
        (!is_legal).then_some((Status::TargetAbort, true))
    }

    /// A message as the DCOH gets it: MemRdData of a holder that may not write is a request to share the line.
    fn limited(&self, port: AgentPort, msg: &Msg<CacheLine>) -> Msg<CacheLine> {
        let Msg::M2sReq { opcode: M2sReqOpcode::MemRdData, line, tag, .. } = *msg else { return *msg };
        let source = self.sources.get(usize::from(port)).copied().unwrap_or(0);
        if self.is_hairpin(port) || self.windows.route(source, line.address(), AccessKind::Write).is_ok() {
            return *msg;
        }
        let (meta_field, meta) = (MetaField::Meta0State, MetaValue::Shared);
        Msg::M2sReq { opcode: M2sReqOpcode::MemRd, snp: SnpType::SnpData, meta_field, meta, line, tag }
    }

    /// Answers a message that has no effect, so that nobody waits for ever. A read gets Cmp too, unless there is no memory
    /// (`coherence` §3.2).
    fn refuse(
        &self,
        config: &CoherenceConfig,
        port: AgentPort,
        msg: &Msg<CacheLine>,
        status: Status,
        out: &mut AgentOutput<CacheLine>,
    ) {
        let (tag, is_read) = match *msg {
            Msg::M2sReq { opcode: M2sReqOpcode::MemSpecRd, .. } => return,
            Msg::M2sReq { opcode, tag, .. } => (tag, tables::is_read(opcode)),
            Msg::M2sRwd { opcode, tag, .. } => (tag, opcode == M2sRwdOpcode::MemRdFill),
            _ => return,
        };
        let (meta_field, meta, devload) = (MetaField::NoOp, MetaValue::Invalid, self.dcoh.load(config));
        if is_read {
            let (opcode, data) = read_answer(status, CacheLine::of([0xff; 64]));
            out.send(port, Msg::S2mDrs { opcode, meta_field, meta, tag, data, devload });
        }
        if !is_read || status != Status::DecodeError {
            out.send(port, Msg::S2mNdr { opcode: NdrOpcode::Cmp, meta_field, meta, tag, devload });
        }
    }
}

/// Rights that a message of a holder takes; `None`: it asks for nothing. What is given up takes none.
fn needed(msg: &Msg<CacheLine>) -> Option<&'static [AccessKind]> {
    Some(match *msg {
        Msg::M2sReq { opcode: M2sReqOpcode::MemClnEvct, .. } => &[],
        Msg::M2sReq { opcode, meta_field: MetaField::Meta0State, meta: MetaValue::Any, .. } => {
            match opcode {
                // Its meta value says nothing (`coherence` §3.2).
                M2sReqOpcode::MemRdData => &[AccessKind::Read],
                _ if tables::is_read(opcode) => &[AccessKind::Read, AccessKind::Write],
                _ => &[AccessKind::Write],
            }
        }
        Msg::M2sReq { .. } => &[AccessKind::Read],
        Msg::M2sRwd { opcode: M2sRwdOpcode::BIConflict, .. } => return None,
        Msg::M2sRwd { .. } => &[AccessKind::Write],
        _ => return None,
    })
}

impl Agent<CacheLine> for ExportedHome {
    fn accepts(&self, config: &CoherenceConfig, port: AgentPort, msg: &Msg<CacheLine>) -> Accept {
        let waits = |holds: &HairpinHolds| !self.is_hairpin(port) && holds.keeps_waiting(msg);
        match self.refused(port, msg) {
            Some(_) => Accept::Take,
            None if self.hairpin.as_ref().is_some_and(waits) => Accept::Wait,
            None => self.dcoh.accepts(config, port, &self.limited(port, msg)),
        }
    }

    fn ways(&self, config: &CoherenceConfig, port: AgentPort, msg: &Msg<CacheLine>) -> u8 {
        self.dcoh.ways(config, port, &self.limited(port, msg))
    }

    fn take(
        &mut self,
        config: &CoherenceConfig,
        port: AgentPort,
        msg: Msg<CacheLine>,
        way: u8,
        out: &mut AgentOutput<CacheLine>,
    ) {
        if let Msg::S2mDrs { devload, .. } | Msg::S2mNdr { devload, .. } = msg {
            self.behind = devload;
        }
        let before = out.sends.len();
        let refused = self.refused(port, &msg);
        if self.is_hairpin(port)
            && let Some(holds) = &mut self.hairpin
        {
            holds.takes(&msg, refused.is_some_and(|(status, _)| status != Status::OKAY), out);
        }
        // Of what is wrong the DCOH says which rule of the table is broken, and nothing else.
        if refused.is_none_or(|(_, is_wrong)| is_wrong) {
            self.dcoh.take(config, port, self.limited(port, &msg), way, out);
        }
        if let Some((status, _)) = refused {
            self.refused += u64::from(status != Status::OKAY);
            self.refuse(config, port, &msg, status, out);
        }
        for (to, sent) in &mut out.sends[before..] {
            if let Msg::S2mDrs { devload, .. } | Msg::S2mNdr { devload, .. } = sent {
                devload.0 = devload.0.max(self.behind.0);
            }
            if let (Some(holds), Msg::S2mNdr { tag, .. }) = (&mut self.hairpin, sent)
                && usize::from(*to) == self.sources.len()
            {
                holds.answered(*tag);
            }
        }
    }

    fn refusals(&self) -> u64 {
        self.refused
    }

    fn is_idle(&self) -> bool {
        self.dcoh.is_idle() && self.hairpin.as_ref().is_none_or(HairpinHolds::is_empty)
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut CacheLine)) {
        self.dcoh.visit(f);
    }
}

impl Watched for ExportedHome {
    fn copy(&self, config: &CoherenceConfig, line: LineAddr) -> Option<CopyView<CacheLine>> {
        self.dcoh.copy(config, line)
    }

    fn home(&self, line: LineAddr) -> Option<HomeView> {
        self.dcoh.home(line)
    }

    fn early(&self, line: LineAddr) -> Option<CacheLine> {
        self.dcoh.early(line)
    }

    fn lines_of(&self, msg: &Msg<CacheLine>) -> Vec<LineAddr> {
        self.dcoh.lines_of(msg)
    }

    fn fetched(&self, msg: &Msg<CacheLine>) -> Option<(LineAddr, CacheLine)> {
        self.dcoh.fetched(msg)
    }

    /// Accelerators may not go past the alias of the bridge (`bridge` §1.3).
    fn one_way_to_memory(&self) -> Option<&'static str> {
        Some("BRG-HOM-02")
    }

    /// Between accelerators a poisoned beat is its mark and no bytes (`bridge` §8.3).
    fn drops_poisoned_bytes(&self) -> bool {
        true
    }

    fn passed_on(&self, msg: &Msg<CacheLine>) -> Option<(LineAddr, CacheLine, u64)> {
        Watched::passed_on(&self.dcoh, msg)
    }

    fn row(&self, msg: &Msg<CacheLine>) -> Option<Point> {
        self.dcoh.row(msg)
    }
}

impl MakesWatch for ExportedHome {
    fn watch(watcher: Arc<Mutex<Watcher>>) -> Box<dyn AgentWatch<ExportedHome>> {
        Box::new(WatcherHandle(watcher))
    }

    fn recorded(recorded: Recorded<ExportedHome>) -> Box<dyn AgentWatch<ExportedHome>> {
        Box::new(recorded)
    }
}
