//! Lines of class CC: the memory of a host, asked for by CXL.cache (`bridge` §4.1, §9.4 to §9.6, role H).
//!
//! Modelled: what an H2D Rsp, an H2D Data and a snoop do to the line of a request or of a write back, by the tables of CXL.cache
//! ([`answers`], [`snoops`]); snoops are answered at once, in whatever state the line is; what is forwarded waits for the data of the host
//! alone; a granted line that nobody waits for any more is given back. Detail: message in, messages out. Left out: CLFlush, CacheFlushed and
//! weakly ordered writes, which a bridge has no use for.
//!
//! A walk through an atomic without a cache: RdOwn leaves; GO-E comes, and before the data a SnpInv: RspIFwdM leaves at once, since a
//! store waits (R7); the data comes, the atomic is done, the line leaves as the data of the snoop, and no DirtyEvict follows. Without the
//! snoop DirtyEvict leaves as soon as the atomic is done; a snoop before its GO_WritePull takes the line (R8), and what is pulled is Bogus.

use super::table::{ChildId, MOST_ENTRIES};
use super::transaction::Child;
use super::write_backs::{self, SNOOP_WRITE_BACKS, WRITE_BACKS, WriteBackEnd, WriteBackMessage};
use super::{BridgeActor, BridgeOutput, BridgeStep, OutboundBridge};
use crate::cache::data::{PortLine, Sector};
use crate::cache::sector::SectorState;
use crate::flows::{self, LineOperation, StepMessage};
use crate::locks::LockHolder;
use crate::watched::BridgeLines;
use scalepool_coherence::cache::answers::{self, AnswerRow, CacheDeviceAction, Got};
use scalepool_coherence::cache::requests::{self, CacheRequestKind};
use scalepool_coherence::cache::snoops::{self, Forward, Reply};
use scalepool_coherence::cache::state::{CacheLineState, HostAnswer, Snoop};
use scalepool_coherence::content::{CacheLine, LineAddr, LineContent, WHOLE_LINE};
use scalepool_coherence::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, D2hRspOpcode, H2dReqOpcode, H2dRspOpcode};
use scalepool_protocols::ualink::code::Status;

/// Most entries of a bridge with a cache of lines and a port to a host: behind their CQIDs, which have 12 bits, stand those of write backs.
pub const MOST_CACHED_ENTRIES: usize = MOST_ENTRIES - (WRITE_BACKS + SNOOP_WRITE_BACKS).div_ceil(4) as usize;
/// CQID of the first write back.
const FIRST_CQID: u16 = 4 * MOST_CACHED_ENTRIES as u16;

/// CQID of a write back.
pub(super) fn cqid(n: u16) -> u16 {
    FIRST_CQID + n
}

/// The write back of a CQID; `None`: it can only be a request's.
pub(crate) fn write_back_of(cqid: u16) -> Option<u16> {
    cqid.checked_sub(FIRST_CQID).filter(|n| *n < WRITE_BACKS + SNOOP_WRITE_BACKS)
}

/// What a bridge has of a line of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HostLine {
    /// Where the request for it stands; I: none is open, and the tags of the cache say what is there.
    pub at: CacheLineState,
    /// UQID of a snoop whose data is owed.
    pub owed: u16,
    /// The line, owned and stored to, that nobody has got yet.
    pub copy: Option<CacheLine>,
    /// A snoop has hit the line since it was read: whoever asks later may have seen a store that came behind it.
    pub is_snooped: bool,
}

impl HostLine {
    /// Nothing.
    pub const NOTHING: HostLine = HostLine { at: CacheLineState::I, owed: 0, copy: None, is_snooped: false };
}

/// Who has a line when a snoop comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostSeat {
    /// A request with an open message.
    Child(ChildId),
    /// A write back.
    WriteBack(u16),
    /// The tags of the cache.
    Tags,
}

/// The state of a sector as that of a line of a device cache.
fn as_line(state: SectorState) -> CacheLineState {
    match state {
        SectorState::Shared => CacheLineState::S,
        SectorState::Exclusive => CacheLineState::E,
        SectorState::Modified => CacheLineState::M,
        _ => CacheLineState::I,
    }
}

/// The other way.
pub(super) fn as_sector(at: CacheLineState) -> SectorState {
    match at {
        CacheLineState::S => SectorState::Shared,
        CacheLineState::E => SectorState::Exclusive,
        CacheLineState::M => SectorState::Modified,
        _ => SectorState::Invalid,
    }
}

/// The answer of a state to a snoop: the first one of its row, but where a store waits for its data the line leaves altogether (R7).
fn reply(at: CacheLineState, snoop: Snoop) -> Option<Reply> {
    let replies = snoops::row_of(at, snoop).replies;
    let is_owed_whole = |reply: &&Reply| reply.rsp == D2hRspOpcode::RspIFwdM && reply.forward == Forward::Owed;
    replies.iter().find(is_owed_whole).or(replies.first()).copied()
}

impl OutboundBridge {
    /// Whether a CXL port leads to a host.
    pub fn is_host(&self, port: usize) -> bool {
        self.config.host_ports.contains(&port)
    }

    /// The write back whose answers have this tag at a port, of CXL.cache this CQID; `None`: it can only be a request's.
    pub fn write_back_of(&self, port: usize, tag: u16) -> Option<u16> {
        if self.is_host(port) { write_back_of(tag).filter(|_| self.cache.is_some()) } else { write_backs::of_tag(tag) }
    }

    /// The request that has asked a port for a line, or has it.
    pub fn child_with(&self, port: usize, line: LineAddr) -> Option<&Child> {
        match self.locks.holder((port, line))? {
            LockHolder::Child(id) => self.child_of(id),
            LockHolder::WriteBack(_) => None,
        }
    }

    fn seat(&self, place: PortLine) -> (HostSeat, CacheLineState) {
        match self.locks.holder(place) {
            Some(LockHolder::WriteBack(n)) if let Some(write_back) = self.write_backs.get(n) => {
                return (HostSeat::WriteBack(n), write_back.host);
            }
            Some(LockHolder::Child(id))
                if let Some(child) = self.child_of(id)
                    && child.host.at != CacheLineState::I =>
            {
                return (HostSeat::Child(id), child.host.at);
            }
            _ => (),
        }
        (HostSeat::Tags, self.cache.as_ref().map_or(CacheLineState::I, |cache| as_line(cache.state(place))))
    }

    /// A message of CXL.cache leaves for a child; what its line is from then on.
    pub(super) fn asks_host(&mut self, id: ChildId, opcode: D2hReqOpcode) -> Option<Msg<CacheLine>> {
        let child = self.child_of(id)?;
        let place = (child.port, child.line);
        let is_shared = self.cache.as_ref().is_some_and(|cache| cache.state(place) == SectorState::Shared);
        let from = if is_shared { CacheLineState::S } else { CacheLineState::I };
        let starts = requests::request(opcode).map_or(&[][..], |row| row.starts);
        let start = starts.iter().find(|(at, _)| *at == from).or(starts.first());
        let child = self.child(id)?;
        child.host.at = start.map_or(CacheLineState::I, |(_, next)| *next);
        Some(Msg::D2hReq { opcode, line: child.line, cqid: id.tag() })
    }

    /// Shows what there is of a line of a host.
    pub(super) fn show_host(&self, (port, line): PortLine, out: &mut BridgeOutput) {
        let copy = BridgeLines::of(self, port, &[line]);
        out.steps.push(BridgeStep::Changed { port, line, copy, is_stored: false });
    }

    /// A store was done in a line that is in no sector.
    fn show_host_store(&self, (port, line): PortLine, value: CacheLine, out: &mut BridgeOutput) {
        let copy = BridgeLines::owned(line, value);
        out.steps.push(BridgeStep::Changed { port, line, copy, is_stored: true });
    }

    fn send_host_data(
        &self,
        (by, port): (Option<BridgeActor>, usize),
        (uqid, bogus): (u16, bool),
        (data, enables): (CacheLine, u64),
        out: &mut BridgeOutput,
    ) {
        let msg = self.as_viral(Msg::D2hData { uqid, bogus, data, enables });
        out.steps.push(BridgeStep::Send { by, port, msg, is_computed: false });
    }

    // ---- snoops --------------------------------------------------------------------------------------------------

    /// A snoop comes, and is answered at once: D2H Rsp waits for nothing (`bridge` §9.5, §10).
    pub(super) fn host_snooped(
        &mut self,
        port: usize,
        opcode: H2dReqOpcode,
        line: LineAddr,
        uqid: u16,
        out: &mut BridgeOutput,
    ) {
        self.counts.snoops += 1;
        let Some(snoop) = Snoop::of(opcode) else {
            return out.find("COH-OPC-01", format!("snoop code {}", opcode.0), "SnpData, SnpInv or SnpCur");
        };
        let place = (port, line);
        let (seat, at) = self.seat(place);
        let Some(reply) = reply(at, snoop) else {
            let found = format!("Snp{} of {:#x} in {}", snoop.name(), line.address(), at.name());
            return out.find(snoops::row_of(at, snoop).rule, found, "no snoop between these two messages");
        };
        let is_hit = reply.rsp != D2hRspOpcode::RspIHitI;
        // A line that is held for a request alone is in no sector.
        let is_cached = self.cache.as_ref().is_some_and(|cache| cache.state(place).is_valid());
        self.cache_counts.snoop_hits += u64::from(is_cached);
        if let (true, Some(LockHolder::Child(id))) = (is_hit, self.locks.holder(place))
            && let Some(child) = self.child(id)
        {
            child.host.is_snooped = true;
        }
        let msg = Msg::D2hRsp { opcode: reply.rsp, uqid };
        out.steps.push(BridgeStep::Send { by: None, port, msg, is_computed: false });
        if reply.forward == Forward::Now
            && let Some(data) = self.forwarded(place, seat, out)
        {
            self.send_host_data((None, port), (uqid, false), (data, WHOLE_LINE), out);
        }
        self.leave_snooped(place, seat, (reply, uqid), out);
        self.show_host(place, out);
    }

    /// The line that answers a snoop.
    fn forwarded(&mut self, place: PortLine, seat: HostSeat, out: &mut BridgeOutput) -> Option<CacheLine> {
        match seat {
            HostSeat::WriteBack(n) => self.write_backs.get(n).map(|write_back| write_back.line),
            HostSeat::Child(id) => self.child_of(id).and_then(|child| child.host.copy),
            HostSeat::Tags => {
                let cache = self.cache.as_ref()?;
                let (sector, address) = (cache.sector(place), cache.hbm_address(place)?);
                self.access(None, address, false, out);
                Some(self.read_sector(place, sector, address, out).unwrap_or(sector.line))
            }
        }
    }

    /// The state behind the answer to a snoop.
    fn leave_snooped(&mut self, place: PortLine, seat: HostSeat, (reply, uqid): (Reply, u16), out: &mut BridgeOutput) {
        match seat {
            HostSeat::Tags => self.change_state(place, as_sector(reply.next), out),
            HostSeat::WriteBack(n) => {
                if let Some(write_back) = self.write_backs.get_mut(n) {
                    write_back.host = reply.next;
                }
            }
            HostSeat::Child(id) => {
                if let Some(child) = self.child(id) {
                    child.host.at = reply.next;
                    if reply.forward == Forward::Owed {
                        child.host.owed = uqid;
                    }
                }
                if reply.next == CacheLineState::UpI {
                    self.change_state(place, SectorState::Invalid, out);
                }
            }
        }
    }

    // ---- answers -------------------------------------------------------------------------------------------------

    /// H2D Rsp.
    pub(super) fn host_answered(
        &mut self,
        port: usize,
        (opcode, rsp_data, cqid): (H2dRspOpcode, u16, u16),
        out: &mut BridgeOutput,
    ) {
        let Some(answer) = HostAnswer::of(opcode, rsp_data) else {
            let found = format!("H2D Rsp code {}, RspData {rsp_data:#x}", opcode.0);
            return out.find("COH-IDS-05", found, "a listed opcode and GO state");
        };
        if let Some(n) = self.host_write_back(port, cqid) {
            return self.evict_answered(n, answer, rsp_data, out);
        }
        let id = ChildId::of_tag(cqid);
        let Some((op, at)) = self.asked_of_host(port, id) else {
            return out.find("COH-IDS-01", format!("H2D Rsp with CQID {cqid}"), "the CQID of an open request");
        };
        let Some(row) = answer_row(op, at, answer, out) else { return };
        let is_read = requests::request(op).is_some_and(|row| row.kind == CacheRequestKind::Read);
        let is_refused = matches!(answer, HostAnswer::GoErr | HostAnswer::GoErrPull);
        let Some(child) = self.child(id) else { return };
        if is_refused || is_read && answer == HostAnswer::GoI {
            child.failed = Some(Status::TargetAbort);
        }
        // Behind a pull of WrInv its GO comes.
        child.awaited.completion = row.next == CacheLineState::WrSent;
        self.perform(id, row, rsp_data, None, out);
    }

    /// H2D Data.
    pub(super) fn host_filled(
        &mut self,
        port: usize,
        cqid: u16,
        (data, is_error): (CacheLine, bool),
        out: &mut BridgeOutput,
    ) {
        let id = ChildId::of_tag(cqid);
        let asked = self.asked_of_host(port, id).filter(|_| self.host_write_back(port, cqid).is_none());
        let Some((_, at)) = asked else {
            return out.find("COH-IDS-01", format!("H2D Data with CQID {cqid}"), "the CQID of an open request");
        };
        let Some(row) = answers::row_of(at, Got::Data) else {
            return out.find("COH-REQ-21", format!("data in {}", at.name()), "one line of data per read");
        };
        let Some(child) = self.child(id) else { return };
        if is_error {
            child.failed = Some(Status::TargetAbort);
        }
        child.awaited.data = false;
        self.perform(id, row, 0, Some(data), out);
    }

    /// The open message of a child at a port to a host, and where its line stands.
    fn asked_of_host(&self, port: usize, id: ChildId) -> Option<(D2hReqOpcode, CacheLineState)> {
        let child = self.child_of(id).filter(|child| child.port == port && child.host.at != CacheLineState::I)?;
        match child.steps.get(child.step)?.message {
            StepMessage::Cache(op) => Some((op, child.host.at)),
            _ => None,
        }
    }

    /// Does what a row of the device's table says; `uqid` is that of a pull.
    fn perform(
        &mut self,
        id: ChildId,
        row: &'static AnswerRow,
        uqid: u16,
        data: Option<CacheLine>,
        out: &mut BridgeOutput,
    ) {
        let Some(child) = self.child(id) else { return };
        let (place, was) = ((child.port, child.line), child.host.at);
        let waits_to_store = child.operation != LineOperation::Read && !child.is_done;
        child.host.at = row.next;
        // Bytes of an error are all ones and nobody's.
        child.read = data.or(child.read).filter(|_| child.failed != Some(Status::TargetAbort));
        match row.act {
            CacheDeviceAction::Note if row.next == CacheLineState::RdGoE && waits_to_store => {
                child.host.at = CacheLineState::RdGoESt;
            }
            CacheDeviceAction::Note | CacheDeviceAction::Keep => (),
            CacheDeviceAction::Fill => return self.host_granted(id, as_sector(row.next), out),
            CacheDeviceAction::UseOnce => {
                (child.host.at, child.granted) = (CacheLineState::I, SectorState::Invalid);
            }
            CacheDeviceAction::PayOwed => return self.pay_owed(id, row.next, out),
            CacheDeviceAction::Upgrade => return self.upgraded(id, out),
            CacheDeviceAction::NoBytes => return self.without_bytes(id, out),
            CacheDeviceAction::End => {
                (child.host.at, child.host.copy) = (CacheLineState::I, None);
                if was == CacheLineState::UpS {
                    self.change_state(place, SectorState::Invalid, out);
                }
            }
            CacheDeviceAction::SendCopy => {
                let copy = child.host.copy.take().unwrap_or(CacheLine::ones());
                child.awaited.buffer = true;
                let bogus = matches!(was, CacheLineState::EvS | CacheLineState::EvI);
                let by = Some(BridgeActor::Child(id));
                self.send_host_data((by, place.0), (uqid, bogus), (copy, WHOLE_LINE), out);
            }
            CacheDeviceAction::SendWrite => {
                let written = (child.data, child.mask);
                child.awaited.buffer = true;
                self.send_host_data((Some(BridgeActor::Child(id)), place.0), (uqid, false), written, out);
            }
        }
        self.show_host(place, out);
        self.answered(id, out);
    }

    /// A line has come with the right to keep it.
    fn host_granted(&mut self, id: ChildId, granted: SectorState, out: &mut BridgeOutput) {
        let Some(child) = self.child(id) else { return };
        let place = (child.port, child.line);
        (child.host.at, child.granted) = (CacheLineState::I, granted);
        if child.is_done {
            return self.give_back(id, out);
        }
        if child.cached.is_none() && child.failed.is_none() {
            // It is stored to in the same step, and given back.
            let line = child.written();
            child.host.copy = Some(line);
            self.show_host_store(place, line, out);
        }
        self.answered(id, out);
    }

    /// The line that a snoop has taken before it came: what waited for it is done, and it leaves (R7).
    fn pay_owed(&mut self, id: ChildId, next: CacheLineState, out: &mut BridgeOutput) {
        let Some(child) = self.child(id) else { return };
        let (place, owed) = ((child.port, child.line), child.host.owed);
        if next == CacheLineState::M {
            // SnpCur takes nothing away: the value from before the store goes to whom it may concern.
            let line = child.read.unwrap_or(CacheLine::ones());
            self.send_host_data((None, place.0), (owed, false), (line, WHOLE_LINE), out);
            return self.host_granted(id, SectorState::Modified, out);
        }
        (child.host.at, child.granted) = (CacheLineState::I, SectorState::Invalid);
        let line = if child.is_done { child.read.unwrap_or(CacheLine::ones()) } else { child.written() };
        if !child.is_done {
            // Whatever step would follow has nothing left to give back.
            child.step = child.steps.len().saturating_sub(1);
            self.show_host_store(place, line, out);
        }
        self.send_host_data((None, place.0), (owed, false), (line, WHOLE_LINE), out);
        self.show_host(place, out);
        self.answered(id, out);
    }

    /// A shared sector is owned, with the bytes that are there.
    fn upgraded(&mut self, id: ChildId, out: &mut BridgeOutput) {
        let Some(child) = self.child(id) else { return };
        let (place, is_done) = ((child.port, child.line), child.is_done);
        child.host.at = CacheLineState::I;
        if is_done {
            self.change_state(place, SectorState::Exclusive, out);
            return self.answered(id, out);
        }
        let needs_bytes = child.operation != LineOperation::WriteFull;
        let found = self.cache.as_ref().and_then(|cache| Some((cache.sector(place), cache.hbm_address(place)?)));
        let line = match found {
            Some((sector, address)) if needs_bytes => {
                self.access(None, address, false, out);
                self.read_sector(place, sector, address, out)
            }
            _ => Some(CacheLine::of([0; 64])),
        };
        if line.is_none() {
            // The memory of the cache has lost them.
            self.cache_counts.refetched += 1;
            self.change_state(place, SectorState::Invalid, out);
            return self.without_bytes(id, out);
        }
        let Some(child) = self.child(id) else { return };
        child.read = line.filter(|_| needs_bytes);
        child.granted = SectorState::Exclusive;
        self.answered(id, out);
    }

    /// Ownership without bytes: the whole line is written, or the line is given up and asked for (`bridge` §9.4).
    fn without_bytes(&mut self, id: ChildId, out: &mut BridgeOutput) {
        let Some(child) = self.child(id) else { return };
        (child.host.at, child.granted) = (CacheLineState::I, SectorState::Exclusive);
        if child.operation == LineOperation::WriteFull && !child.is_done {
            return self.answered(id, out);
        }
        if child.is_done {
            return self.give_back(id, out);
        }
        (child.steps, child.step, child.granted) = (flows::HOST_FETCH_AGAIN, 0, SectorState::Valid);
        self.send_step(id, out);
    }

    /// A line was granted to a request that nobody waits for any more: the host gets it back. One in E is as good as stored to with its
    /// own bytes.
    fn give_back(&mut self, id: ChildId, out: &mut BridgeOutput) {
        let Some(child) = self.child(id) else { return };
        let is_dirty = child.granted == SectorState::Modified;
        child.host.copy = child.read;
        child.granted = SectorState::Invalid;
        (child.steps, child.step) = (if is_dirty { flows::HOST_GIVE_BACK } else { flows::HOST_DROP }, 0);
        self.send_step(id, out);
    }

    // ---- write backs ---------------------------------------------------------------------------------------------

    /// The write back of a CQID at a port.
    fn host_write_back(&self, port: usize, cqid: u16) -> Option<u16> {
        let n = write_back_of(cqid)?;
        self.write_backs.get(n).filter(|write_back| write_back.place.0 == port && write_back.is_sent).map(|_| n)
    }

    /// The message of a write back of a host's line; `None`: a snoop has taken the line before it left.
    pub(super) fn evicts(&mut self, n: u16) -> Option<Msg<CacheLine>> {
        let write_back = self.write_backs.get_mut(n)?;
        let (opcode, next) = match write_back.host {
            CacheLineState::M => (D2hReqOpcode::DirtyEvict, CacheLineState::EvM),
            CacheLineState::E => (D2hReqOpcode::CleanEvictNoData, CacheLineState::NdE),
            CacheLineState::S => (D2hReqOpcode::CleanEvictNoData, CacheLineState::NdS),
            _ => return None,
        };
        let line = write_back.place.1;
        write_back.host = next;
        if matches!(write_back.end, WriteBackEnd::Left(_)) {
            self.cache_counts.evicted(opcode == D2hReqOpcode::DirtyEvict);
        }
        Some(Msg::D2hReq { opcode, line, cqid: cqid(n) })
    }

    fn evict_answered(&mut self, n: u16, answer: HostAnswer, uqid: u16, out: &mut BridgeOutput) {
        let Some(write_back) = self.write_backs.get_mut(n) else { return };
        let op = match write_back.host {
            CacheLineState::NdE | CacheLineState::NdS | CacheLineState::NdI => D2hReqOpcode::CleanEvictNoData,
            _ => D2hReqOpcode::DirtyEvict,
        };
        let (at, line, port) = (write_back.host, write_back.line, write_back.place.0);
        let Some(row) = answer_row(op, at, answer, out) else { return };
        if let Some(write_back) = self.write_backs.get_mut(n) {
            (write_back.host, write_back.is_completed) = (CacheLineState::I, true);
        }
        if row.act == CacheDeviceAction::SendCopy {
            let bogus = matches!(at, CacheLineState::EvS | CacheLineState::EvI);
            self.cache_counts.lost_dirty += u64::from(answer == HostAnswer::GoErrPull && !bogus);
            self.send_host_data((Some(BridgeActor::WriteBack(n)), port), (uqid, bogus), (line, WHOLE_LINE), out);
        }
        self.end_write_back(n, out);
    }

    /// The state of a host's line in a write back that has sent nothing.
    pub(super) fn host_leaves(
        &self,
        place: PortLine,
        message: WriteBackMessage,
        sector: SectorState,
    ) -> CacheLineState {
        match message {
            _ if !self.is_host(place.0) => CacheLineState::I,
            WriteBackMessage::Write(_) => CacheLineState::M,
            WriteBackMessage::Drop => as_line(sector),
        }
    }

    /// A host takes a line that is written through whole: nothing of it stays (`bridge` §9.4).
    pub(super) fn through_end(&self, place: PortLine, state: SectorState) -> WriteBackEnd {
        WriteBackEnd::Stays(if self.is_host(place.0) { SectorState::Invalid } else { state.cleaned() })
    }
}

/// The row of an answer to a request in a state; without one it breaks a rule.
fn answer_row(
    op: D2hReqOpcode,
    at: CacheLineState,
    answer: HostAnswer,
    out: &mut BridgeOutput,
) -> Option<&'static AnswerRow> {
    let request = requests::request(op)?;
    if !request.answers.contains(&answer) {
        let found = format!("{} to {}", answer.name(), op.name().unwrap_or("?"));
        out.find(requests::never(op, answer).unwrap_or(request.rule), found, "an answer that this request can have");
        return None;
    }
    let row = answers::row_of(at, Got::Answer(answer));
    if row.is_none() {
        let rule = if op == D2hReqOpcode::WrInv { "COH-REQ-22" } else { "COH-REQ-21" };
        out.find(rule, format!("{} in {}", answer.name(), at.name()), "each answer once, in order");
    }
    row
}

/// What the watcher of a host sees of a line: a copy, and a value that came before its grant.
pub(crate) fn seen(bridge: &OutboundBridge, place: PortLine) -> (Option<HostLineCopy>, Option<CacheLine>) {
    let (seat, at) = bridge.seat(place);
    let copy = |value| HostLineCopy { at, value, is_leaving: seat != HostSeat::Tags };
    match seat {
        HostSeat::WriteBack(n) => {
            let line = bridge.write_backs.get(n).map(|write_back| write_back.line);
            (line.filter(|_| at.is_stable() && at != CacheLineState::I || at.has_copy()).map(copy), None)
        }
        HostSeat::Child(id) => {
            let Some(child) = bridge.child_of(id) else { return (None, None) };
            let early = child.read.filter(|_| at == CacheLineState::RdData);
            if at == CacheLineState::UpS {
                let sector = bridge.cache.as_ref().map(|cache| cache.sector(place));
                let shared = sector.filter(|sector: &Sector| sector.state.is_valid());
                return (shared.map(|Sector { line, .. }| HostLineCopy { at, value: line, is_leaving: false }), None);
            }
            (child.host.copy.filter(|_| at.has_copy()).map(copy), early)
        }
        HostSeat::Tags => {
            let sector = bridge.cache.as_ref().map(|cache| cache.sector(place));
            (sector.filter(|sector| sector.state.is_valid()).map(|Sector { line, .. }| copy(line)), None)
        }
    }
}

/// A copy of a host's line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostLineCopy {
    /// Its state.
    pub at: CacheLineState,
    /// Its bytes.
    pub value: CacheLine,
    /// It is on its way to the host.
    pub is_leaving: bool,
}
