//! The host's side of HDM-DB: its cache, its requests, and its answers to back-invalidates.
//!
//! Modelled: one cache a host with one open request or write a line, the two-phase write, BISnp with write back before
//! the answer, the BIConflict handshake with all its outcomes, block snoops line by line. Detail: message in, messages
//! out; each step is a row of [`super::host_rows`]. Left out: sets and ways of the cache (the core decides what it
//! evicts), MemRdFill. One agent talks to one device; a host with several devices has one agent each.
//!
//! One conflict: the host has sent MemRd for a line and a BISnp for it arrives. It sends BIConflict with the Tag of the
//! request. When the Ack comes, a completion that came earlier says that the device served the request first: the fill
//! ends, one access is made, and only then the host answers. Without a completion the device had served the snoop first:
//! the host answers from what it has, and its request goes on.

mod answers;
mod snoops;

use super::host_rows::{MemHostAction, MemHostInput, Phase};
use super::tables::{self, Copy4, HdmRegion};
use crate::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
use crate::config::CoherenceConfig;
use crate::content::{LineAddr, LineContent, WHOLE_LINE};
use crate::event::CoherenceEvent;
use crate::lines::{LineMap, OfLine};
use crate::message::Msg;
use crate::names::{self, BI_TAGS, TAGS};
use crate::rules::PoisonStep;
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};

/// An M2S Req that a core can ask for: opcode, meta (`None` = NoOp) and SnpType.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostReq {
    /// Opcode.
    pub opcode: M2sReqOpcode,
    /// What the host will hold; `None` for MetaField NoOp.
    pub meta: Option<MetaValue>,
    /// What the device's caches must do.
    pub snp: SnpType,
}

impl HostReq {
    const fn new(opcode: M2sReqOpcode, meta: Option<MetaValue>, snp: SnpType) -> Self {
        Self { opcode, meta, snp }
    }

    /// Read for ownership.
    pub const RD_ANY: Self = Self::new(M2sReqOpcode::MemRd, Some(MetaValue::Any), SnpType::SnpInv);
    /// Read to share.
    pub const RD_SHARED: Self = Self::new(M2sReqOpcode::MemRd, Some(MetaValue::Shared), SnpType::SnpData);
    /// Read, nothing kept, device copies invalidated.
    pub const RD_FLUSH: Self = Self::new(M2sReqOpcode::MemRd, Some(MetaValue::Invalid), SnpType::SnpInv);
    /// Read, nothing kept.
    pub const RD_ONCE: Self = Self::new(M2sReqOpcode::MemRd, Some(MetaValue::Invalid), SnpType::SnpCur);
    /// Read of the current value, nothing recorded.
    pub const RD_NOOP_CUR: Self = Self::new(M2sReqOpcode::MemRd, None, SnpType::SnpCur);
    /// Read of the memory's value, nothing recorded.
    pub const RD_NOOP: Self = Self::new(M2sReqOpcode::MemRd, None, SnpType::NoOp);
    /// Read for instruction or data, S or E as the device likes.
    pub const RD_DATA: Self = Self::new(M2sReqOpcode::MemRdData, None, SnpType::SnpData);
    /// Ownership without data.
    pub const INV: Self = Self::new(M2sReqOpcode::MemInv, Some(MetaValue::Any), SnpType::SnpInv);
    /// Ownership without data, a write back follows soon.
    pub const INV_NT: Self = Self::new(M2sReqOpcode::MemInvNT, Some(MetaValue::Any), SnpType::SnpInv);
    /// The line is flushed to memory, nobody caches it.
    pub const FLUSH: Self = Self::new(M2sReqOpcode::MemInv, Some(MetaValue::Invalid), SnpType::SnpInv);
    /// A clean copy is given up.
    pub const CLN_EVCT: Self = Self::new(M2sReqOpcode::MemClnEvct, Some(MetaValue::Invalid), SnpType::NoOp);
    /// A hint; no answer.
    pub const SPEC_RD: Self = Self::new(M2sReqOpcode::MemSpecRd, None, SnpType::NoOp);

    /// Every request above, for explorations.
    pub const ALL: [Self; 12] = [
        Self::RD_ANY,
        Self::RD_SHARED,
        Self::RD_FLUSH,
        Self::RD_ONCE,
        Self::RD_NOOP_CUR,
        Self::RD_NOOP,
        Self::RD_DATA,
        Self::INV,
        Self::INV_NT,
        Self::FLUSH,
        Self::CLN_EVCT,
        Self::SPEC_RD,
    ];

    fn field(self) -> MetaField {
        if self.meta.is_some() { MetaField::Meta0State } else { MetaField::NoOp }
    }

    fn value(self) -> MetaValue {
        self.meta.unwrap_or(MetaValue::Invalid)
    }

    /// Whether a line of data answers it.
    pub fn has_data(self) -> bool {
        tables::is_read(self.opcode)
    }

    /// Whether the core means to write: a store that waits asks again when this was lost.
    pub fn asks_ownership(self) -> bool {
        self.meta == Some(MetaValue::Any)
    }
}

/// Tags that requests of the core may have. The rest is for the write backs that others ask for, which must not wait: a host
/// of HDM-DB has at most one for each of the four lines of each BITag, a host of HDM-D one for each UQID.
const CORE_TAGS: usize = TAGS - 4 * BI_TAGS;

/// The access that a request is for. The host makes it before it gives the line up again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum HostAccess {
    /// None: a prefetch.
    #[default]
    Nothing,
    /// A load.
    Load,
    /// A store of the whole line: ownership is enough for it, the old bytes are not needed.
    Store,
    /// A store of a part of the line.
    StorePart,
}

impl HostAccess {
    /// The access that stores these bytes.
    pub fn store(enables: u64) -> Self {
        if enables == WHOLE_LINE { HostAccess::Store } else { HostAccess::StorePart }
    }

    /// Whether it is a store.
    pub fn stores(self) -> bool {
        matches!(self, HostAccess::Store | HostAccess::StorePart)
    }
}

/// A request without its end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Open<D> {
    req: HostReq,
    tag: u16,
    granted: Option<NdrOpcode>,
    data: Option<D>,
    want: HostAccess,
}

/// Where an unanswered back-invalidate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum SnoopStage {
    Conflict { tag: u16, granted: bool },
    AwaitFill,
    AwaitWrite,
    WriteBack { answer: BirspOpcode },
    Resolved { answer: BirspOpcode },
}

/// An unanswered back-invalidate of one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct PendingSnoop {
    opcode: BisnpOpcode,
    bi_tag: u16,
    way: u8,
    stage: SnoopStage,
}

/// A line that is cached or busy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct TrackedLine<D> {
    line: LineAddr,
    state: Copy4,
    /// `None` in E: ownership without bytes.
    data: Option<D>,
    open: Option<Open<D>>,
    /// Tag of a MemWr without its Cmp.
    write: Option<u16>,
    snoop: Option<PendingSnoop>,
    /// The access that has to come before the line is given up.
    due: HostAccess,
    /// Ownership came without bytes and nobody writes the whole line: MemRd Any follows, for this access.
    lacking: Option<HostAccess>,
}

impl<D> OfLine for TrackedLine<D> {
    fn line(&self) -> LineAddr {
        self.line
    }
}

impl<D: LineContent> TrackedLine<D> {
    fn new(line: LineAddr) -> Self {
        Self {
            line,
            state: Copy4::I,
            data: None,
            open: None,
            write: None,
            snoop: None,
            due: HostAccess::Nothing,
            lacking: None,
        }
    }

    fn phase(&self) -> Phase {
        if let Some(snoop) = &self.snoop {
            return match snoop.stage {
                SnoopStage::Conflict { granted: false, .. } => Phase::Conflict,
                SnoopStage::Conflict { granted: true, .. } => Phase::ConflictWon,
                SnoopStage::AwaitFill => Phase::Filling,
                SnoopStage::AwaitWrite => Phase::WritingSnooped,
                SnoopStage::WriteBack { .. } => Phase::Answering,
                SnoopStage::Resolved { .. } => Phase::Resolved,
            };
        }
        match &self.open {
            Some(open) if open.req.opcode == M2sReqOpcode::MemClnEvct => Phase::Evicting,
            Some(Open { granted: Some(_), .. }) => Phase::Granted,
            Some(_) => Phase::Asked,
            None if self.write.is_some() => Phase::Writing,
            None => Phase::Idle,
        }
    }

    /// Something has not ended.
    fn is_open(&self) -> bool {
        self.phase() != Phase::Idle || self.lacking.is_some()
    }

    fn is_gone(&self) -> bool {
        self.state == Copy4::I && !self.is_open()
    }

    /// A snoop has decided what happens to the copy; the core keeps its hands off until the answer has left.
    fn is_frozen(&self) -> bool {
        matches!(self.phase(), Phase::Answering | Phase::Resolved)
    }

    fn can_load(&self) -> bool {
        self.state != Copy4::I && self.data.is_some()
    }

    /// `whole`: the store writes all 64 bytes.
    fn can_store(&self, whole: bool) -> bool {
        matches!(self.state, Copy4::E | Copy4::M)
            && (whole || self.data.is_some())
            && self.write.is_none()
            && !self.is_frozen()
    }
}

/// What a core sees of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCopy<D> {
    /// Stable state.
    pub state: Copy4,
    /// Its bytes; `None` when it has none.
    pub data: Option<D>,
    /// A core may load from it.
    pub usable: bool,
    /// A core may store to it.
    pub writable: bool,
    /// The newest value may be here and nowhere else: M, or a write back without its Cmp.
    pub dirty: bool,
}

/// A host as the agent of one HDM-DB device.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemHost<D> {
    id: AgentPort,
    region: HdmRegion,
    lines: LineMap<TrackedLine<D>>,
}

impl<D: LineContent> MemHost<D> {
    /// A host of HDM-DB with an empty cache; `id` names it in events.
    pub fn new(id: AgentPort) -> Self {
        Self { id, region: HdmRegion::HdmDb, lines: LineMap::default() }
    }

    /// A host of HDM-D.
    pub fn of_hdm_d(id: AgentPort) -> Self {
        Self { region: HdmRegion::HdmD, ..Self::new(id) }
    }

    /// Gives the host another number (symmetry reduction of a search).
    pub fn rename(&mut self, id: AgentPort) {
        self.id = id;
    }

    /// Puts a copy into the cache without a message, for the start of a run.
    pub fn preset(&mut self, line: LineAddr, state: Copy4, data: D) {
        let at = self.slot(line);
        self.lines[at].state = state;
        self.lines[at].data = Some(data);
        self.tidy();
    }

    /// What the cache holds of a line.
    pub fn copy(&self, line: LineAddr) -> HostCopy<D> {
        match self.get(line) {
            None => HostCopy { state: Copy4::I, data: None, usable: false, writable: false, dirty: false },
            Some(l) => HostCopy {
                state: l.state,
                data: l.data.clone(),
                usable: l.can_load(),
                writable: l.can_store(true),
                dirty: l.state == Copy4::M || l.write.is_some(),
            },
        }
    }

    /// Situation of a line, for coverage and charts.
    pub fn phase(&self, line: LineAddr) -> Phase {
        self.get(line).map_or(Phase::Idle, TrackedLine::phase)
    }

    /// Lines with a copy or something open.
    pub fn lines(&self) -> impl Iterator<Item = LineAddr> {
        self.lines.iter().map(|l| l.line)
    }

    /// How many lines these are.
    pub fn held(&self) -> usize {
        self.lines.len()
    }

    /// Whether the line is one of them.
    pub fn holds(&self, line: LineAddr) -> bool {
        self.get(line).is_some()
    }

    /// Value that an open request has got and not yet filled.
    pub fn arrived(&self, line: LineAddr) -> Option<&D> {
        self.get(line)?.open.as_ref()?.data.as_ref()
    }

    /// The access that must come before the line is given up; the core makes it at once.
    pub fn due(&self, line: LineAddr) -> HostAccess {
        self.get(line).map_or(HostAccess::Nothing, |l| l.due)
    }

    /// Whether a request may be issued now: it is one of §3.2, its start state holds, nothing is open on the line and a Tag is
    /// free.
    pub fn can_issue(&self, line: LineAddr, req: HostReq) -> bool {
        self.check_issue(line, req).is_ok()
    }

    /// The same; the error is the rule that the request would break.
    fn check_issue(&self, line: LineAddr, req: HostReq) -> Result<(), &'static str> {
        tables::check_req(self.region, req.opcode, req.field(), req.value(), req.snp)?;
        if req.opcode == M2sReqOpcode::MemSpecRd {
            return Ok(());
        }
        let state = self.get(line).map_or(Copy4::I, |l| l.state);
        match tables::issue_req(req.opcode, req.field(), req.value()) {
            Some(row) if self.phase(line) == Phase::Idle && row.states.contains(&state) => {
                if self.has_tag() {
                    Ok(())
                } else {
                    Err("COH-IDS-01")
                }
            }
            row => Err(row.map_or("COH-MEM-37", |r| r.rule)),
        }
    }

    /// Issues a request for which [`MemHost::can_issue`] holds; otherwise an event and nothing else.
    pub fn issue(&mut self, line: LineAddr, req: HostReq, want: HostAccess, out: &mut AgentOutput<D>) {
        if let Err(rule) = self.check_issue(line, req) {
            let (state, phase) = (self.copy(line).state.letter(), self.phase(line));
            let found = format!("{:?} {:?} {:?} from {state} in {phase:?}", req.opcode, req.meta, req.snp);
            let expected = "a row of the table, an allowed start state, an idle line and a free Tag";
            out.events.push(self.event(rule, Some(line), found, expected));
            return;
        }
        let Some(tag) = self.free_tag() else { return };
        let (snp, meta_field, meta) = (req.snp, req.field(), req.value());
        out.send(0, Msg::M2sReq { opcode: req.opcode, snp, meta_field, meta, line, tag });
        if req.opcode == M2sReqOpcode::MemSpecRd {
            return;
        }
        let at = self.slot(line);
        let entry = &mut self.lines[at];
        if req.opcode == M2sReqOpcode::MemClnEvct {
            // Use right ends at issue.
            entry.state = Copy4::I;
            entry.data = None;
        }
        entry.open = Some(Open { req, tag, granted: None, data: None, want });
    }

    /// Whether a dirty line may be written back now.
    pub fn can_write_back(&self, line: LineAddr) -> bool {
        self.phase(line) == Phase::Idle && self.copy(line).state == Copy4::M && self.has_tag()
    }

    /// Writes a dirty line back and keeps `kept` of it: MemWr with MetaValue Invalid, Shared or Any.
    pub fn write_back(&mut self, line: LineAddr, kept: Copy4, out: &mut AgentOutput<D>) {
        if !self.can_write_back(line) {
            let found = format!("MemWr from {} in {:?}", self.copy(line).state.letter(), self.phase(line));
            out.events.push(self.event("COH-MEM-42", Some(line), found, "M on an idle line"));
            return;
        }
        let at = self.slot(line);
        self.send_write(at, kept, out);
    }

    /// Writes without owning the line: MemWr or, with byte enables, MemWrPtl with SnpInv. For memory of one host.
    pub fn write_unowned(&mut self, line: LineAddr, data: D, enables: u64, out: &mut AgentOutput<D>) {
        if self.phase(line) != Phase::Idle || self.copy(line).state != Copy4::I {
            let found = format!("MemWr SnpInv from {}", self.copy(line).state.letter());
            out.events.push(self.event("COH-MEM-43", Some(line), found, "I on an idle line"));
            return;
        }
        let Some(tag) = self.free_tag() else { return };
        let at = self.slot(line);
        self.lines[at].write = Some(tag);
        let opcode = if enables == WHOLE_LINE { M2sRwdOpcode::MemWr } else { M2sRwdOpcode::MemWrPtl };
        let (snp, meta_field, meta) = (SnpType::SnpInv, MetaField::Meta0State, MetaValue::Invalid);
        out.send(0, Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data, enables });
    }

    /// Makes a clean copy a weaker one without a message (`coherence` §3.1).
    pub fn degrade(&mut self, line: LineAddr, kept: Copy4) {
        let copy = self.copy(line);
        if self.phase(line) == Phase::Idle && copy.state != Copy4::M && kept < copy.state {
            let at = self.slot(line);
            self.lines[at].state = kept;
            if kept == Copy4::I {
                self.lines[at].data = None;
            }
            self.tidy();
        }
    }

    /// A level below has changed an owned line: the copy is dirty now.
    pub fn absorb(&mut self, line: LineAddr, data: D) {
        let at = self.slot(line);
        self.lines[at].state = Copy4::M;
        self.lines[at].data = Some(data);
    }

    /// Gives a clean copy up without a message (`coherence` §3.1).
    pub fn drop_clean(&mut self, line: LineAddr) {
        self.degrade(line, Copy4::I);
    }

    /// Gives a dirty copy up without a message, where the rules let it. Returns whether it did.
    pub fn drop_dirty(&mut self, config: &CoherenceConfig, line: LineAddr) -> bool {
        let drops = config.rules.drops_dirty() && self.can_write_back(line);
        if drops {
            self.lines.remove(line);
        }
        drops
    }

    /// Whether a load is served from the cache.
    pub fn can_load(&self, line: LineAddr) -> bool {
        self.get(line).is_some_and(TrackedLine::can_load)
    }

    /// A load from the cache.
    pub fn load(&mut self, config: &CoherenceConfig, line: LineAddr, out: &mut AgentOutput<D>) -> Option<D> {
        let entry = self.get(line).filter(|l| l.can_load())?;
        let value = config.passed(PoisonStep::Loaded, entry.data.clone()?);
        self.access_made(config, line, HostAccess::Load, out);
        Some(value)
    }

    /// Whether a store is served from the cache; `whole` when it writes all bytes.
    pub fn can_store(&self, line: LineAddr, whole: bool) -> bool {
        self.get(line).is_some_and(|l| l.can_store(whole))
    }

    /// A store into the cache. Returns whether it was done; without ownership it is not.
    pub fn store(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        data: D,
        enables: u64,
        out: &mut AgentOutput<D>,
    ) -> bool {
        if !self.can_store(line, enables == WHOLE_LINE) {
            return false;
        }
        let at = self.slot(line);
        let entry = &mut self.lines[at];
        match &mut entry.data {
            Some(old) => {
                let was = old.is_poisoned();
                old.merge(&data, enables);
                let poison = config.rules.poisoned_behind_store(was, old.is_poisoned());
                if poison != old.is_poisoned() {
                    *old = old.clone().poisoned(poison);
                }
            }
            none => *none = Some(data),
        }
        entry.state = Copy4::M;
        out.effects.push(Effect::Stored(line));
        self.access_made(config, line, HostAccess::store(enables), out);
        true
    }

    /// The core cannot make the access that is due, since the grant came without bytes: a snoop waits for it no longer.
    pub fn decline(&mut self, config: &CoherenceConfig, line: LineAddr, out: &mut AgentOutput<D>) {
        if self.due(line) != HostAccess::Nothing {
            let at = self.slot(line);
            self.lines[at].due = HostAccess::Nothing;
            self.answer_after_fill(config, at, out);
            self.tidy();
        }
    }

    fn access_made(&mut self, config: &CoherenceConfig, line: LineAddr, access: HostAccess, out: &mut AgentOutput<D>) {
        let at = self.slot(line);
        self.lines[at].due = HostAccess::Nothing;
        // An access that the old copy allowed does not wait for the request any more.
        let same = |want: HostAccess| want == access || want.stores() && access.stores();
        if let Some(open) = self.lines[at].open.as_mut().filter(|open| same(open.want)) {
            open.want = HostAccess::Nothing;
        }
        self.answer_after_fill(config, at, out);
        self.tidy();
    }

    fn name(&self) -> String {
        format!("host {}", self.id)
    }

    fn event(
        &self,
        rule: &'static str,
        line: Option<LineAddr>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> CoherenceEvent {
        CoherenceEvent::new(rule, line, self.name(), found, expected)
    }

    fn get(&self, line: LineAddr) -> Option<&TrackedLine<D>> {
        self.lines.get(line)
    }

    /// Place of the line's entry, which is made if need be, to work on it.
    fn slot(&mut self, line: LineAddr) -> usize {
        self.lines.touch(line, TrackedLine::new)
    }

    /// Entries that say nothing are removed, so that equal caches are equal states. Ends every step: places change.
    fn tidy(&mut self) {
        self.lines.settle(TrackedLine::is_gone, TrackedLine::is_open);
    }

    /// Tag and opcode of the open request of a line.
    pub fn asked(&self, line: LineAddr) -> Option<(u16, M2sReqOpcode)> {
        self.get(line)?.open.as_ref().map(|o| (o.tag, o.req.opcode))
    }

    /// Whether a request or a write of the line has not ended.
    pub fn awaits(&self, line: LineAddr) -> bool {
        self.asked(line).is_some() || self.is_writing(line)
    }

    /// Whether a MemWr of the line has no Cmp yet.
    pub fn is_writing(&self, line: LineAddr) -> bool {
        self.get(line).is_some_and(|l| l.write.is_some())
    }

    /// Opcode and BITag of the back-invalidate of a line that is not answered.
    pub fn snooped(&self, line: LineAddr) -> Option<(BisnpOpcode, u16)> {
        self.get(line)?.snoop.map(|s| (s.opcode, s.bi_tag))
    }

    /// The line of a BIConflict without its Ack.
    pub fn disputed(&self, tag: u16) -> Option<LineAddr> {
        let waits = |l: &&TrackedLine<D>| matches!(l.snoop, Some(PendingSnoop { stage: SnoopStage::Conflict { tag: t, .. }, .. }) if t == tag);
        self.lines.open().find(waits).map(|l| l.line)
    }

    /// The line of an open tag, and whether the tag is that of a write.
    pub fn tagged(&self, tag: u16) -> Option<(LineAddr, bool)> {
        self.lines.open().find(|l| Self::uses_tag(l, tag)).map(|l| (l.line, l.write == Some(tag)))
    }

    fn uses_tag(l: &TrackedLine<D>, tag: u16) -> bool {
        l.open.as_ref().is_some_and(|o| o.tag == tag)
            || l.write == Some(tag)
            || matches!(l.snoop, Some(PendingSnoop { stage: SnoopStage::Conflict { tag: t, .. }, .. }) if t == tag)
    }

    /// Tags in use: of requests, of writes, and of conflicts whose request has ended.
    fn tags(&self) -> impl Iterator<Item = u16> {
        self.lines.open().flat_map(|l| {
            let disputed = match l.snoop {
                Some(PendingSnoop { stage: SnoopStage::Conflict { tag, .. }, .. }) => Some(tag),
                _ => None,
            };
            let asked = l.open.as_ref().map(|o| o.tag);
            asked.into_iter().chain(l.write).chain(disputed.filter(|_| asked.is_none()))
        })
    }

    /// Whether a request of the core finds a Tag.
    pub fn has_tag(&self) -> bool {
        self.tags().count() < CORE_TAGS
    }

    fn free_tag(&self) -> Option<u16> {
        names::lowest_free(TAGS, self.tags())
    }

    /// Sends MemWr NoOp of a dirty line and keeps `kept` of it.
    fn send_write(&mut self, at: usize, kept: Copy4, out: &mut AgentOutput<D>) {
        let Some(tag) = self.free_tag() else { return };
        let entry = &mut self.lines[at];
        let Some(data) = entry.data.clone() else { return };
        let meta = match kept {
            Copy4::I => MetaValue::Invalid,
            Copy4::S => MetaValue::Shared,
            Copy4::E | Copy4::M => MetaValue::Any,
        };
        entry.state = if kept == Copy4::M { Copy4::E } else { kept };
        entry.write = Some(tag);
        let line = entry.line;
        if kept == Copy4::I {
            entry.data = None;
        }
        out.send(
            0,
            Msg::M2sRwd {
                opcode: M2sRwdOpcode::MemWr,
                snp: SnpType::NoOp,
                meta_field: MetaField::Meta0State,
                meta,
                line,
                tag,
                data,
                enables: WHOLE_LINE,
            },
        );
    }

    /// A line that was granted without bytes, whatever became of it meanwhile, is read as soon as nothing is open on it.
    fn ask_for_bytes(&mut self, out: &mut AgentOutput<D>) {
        while self.has_tag()
            && let Some(at) = self.lines.first_open(|l| l.lacking.is_some() && l.phase() == Phase::Idle)
            && let Some(want) = self.lines[at].lacking.take()
        {
            let line = self.lines[at].line;
            self.issue(line, HostReq::RD_ANY, want, out);
        }
    }

    /// One event on one line, through the table.
    fn step(
        &mut self,
        config: &CoherenceConfig,
        at: usize,
        input: MemHostInput,
        found: &str,
        out: &mut AgentOutput<D>,
    ) -> Option<MemHostAction> {
        let row = config.rules.host_row(self.lines[at].phase(), input);
        if row.act.is_none() {
            let line = self.lines[at].line;
            let expected = format!("no {input:?} in {:?}", row.phase);
            out.events.push(self.event(row.rule, Some(line), found, expected));
        }
        row.act
    }
}

fn open_granted<D>(line: &TrackedLine<D>) -> bool {
    line.open.as_ref().is_some_and(|o| o.granted.is_some())
}

/// BIConflict, no meta. Its 64 bytes are zero on the wire and nobody reads them; here they are no value of the line, so that
/// no monitor takes them for a copy.
fn conflict<D: LineContent>(line: LineAddr, tag: u16) -> Msg<D> {
    Msg::M2sRwd {
        opcode: M2sRwdOpcode::BIConflict,
        snp: SnpType::NoOp,
        meta_field: MetaField::NoOp,
        meta: MetaValue::Invalid,
        line,
        tag,
        data: D::ones(),
        enables: 0,
    }
}

/// First line and number of lines of a block snoop: bits 1:0 of its line are the enable. `None` for enable 0.
pub fn block_lines(line: LineAddr) -> Option<(LineAddr, u64)> {
    let base = line.0 & !3;
    match line.0 & 3 {
        1 => Some((LineAddr(base), 2)),
        2 => Some((LineAddr(base + 2), 2)),
        3 => Some((LineAddr(base), 4)),
        _ => None,
    }
}

impl<D: LineContent> Agent<D> for MemHost<D> {
    /// The host sinks everything that the device sends: it has reserved the place with the request.
    fn accepts(&self, _: &CoherenceConfig, _: AgentPort, _: &Msg<D>) -> Accept {
        Accept::Take
    }

    fn ways(&self, _: &CoherenceConfig, _: AgentPort, msg: &Msg<D>) -> u8 {
        match msg {
            Msg::S2mBisnp { opcode, .. } => match tables::plain_snoop(*opcode) {
                BisnpOpcode::BISnpData => 2,
                BisnpOpcode::BISnpCur => 3,
                _ => 1,
            },
            _ => 1,
        }
    }

    fn take(&mut self, config: &CoherenceConfig, _: AgentPort, msg: Msg<D>, way: u8, out: &mut AgentOutput<D>) {
        self.take_one(config, msg, way, out);
        self.ask_for_bytes(out);
        self.tidy();
    }

    fn is_idle(&self) -> bool {
        self.lines.open().all(|l| l.phase() == Phase::Idle)
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut D)) {
        for l in self.lines.iter_mut() {
            if let Some(data) = &mut l.data {
                f(data);
            }
            if let Some(data) = l.open.as_mut().and_then(|o| o.data.as_mut()) {
                f(data);
            }
        }
    }
}

impl<D: LineContent> MemHost<D> {
    fn take_one(&mut self, config: &CoherenceConfig, msg: Msg<D>, way: u8, out: &mut AgentOutput<D>) {
        match msg {
            Msg::S2mNdr { meta_field, tag, .. }
                if meta_field != MetaField::NoOp && self.lines.open().any(|l| l.write == Some(tag)) =>
            {
                let line = self.lines.open().find(|l| l.write == Some(tag)).map(|l| l.line);
                let found = format!("meta in the answer to the write with tag {tag}");
                out.events.push(self.event("COH-MEM-03", line, found, "MetaField NoOp"));
            }
            Msg::S2mNdr { tag, devload, .. } | Msg::S2mDrs { tag, devload, .. } if devload.0 > 3 => {
                let line = self.tagged(tag).map(|t| t.0);
                let found = format!("DevLoad {} for tag {tag}", devload.0);
                out.events.push(self.event("COH-QOS-01", line, found, "0 to 3 on NDR and DRS"));
            }
            Msg::S2mNdr { opcode, tag, .. } => self.take_ndr(config, opcode, tag, out),
            Msg::S2mDrs { opcode, tag, data, .. } => self.take_drs(config, opcode, tag, data, out),
            Msg::S2mBisnp { opcode, line, bi_tag } => self.take_bisnp(config, opcode, line, bi_tag, way, out),
            other => {
                let found = format!("{} at a host", other.class().name());
                out.events.push(self.event("COH-TYP-01", other.line(), found, "S2M messages"));
            }
        }
    }
}
