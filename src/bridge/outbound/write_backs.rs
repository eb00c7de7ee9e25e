//! What the cache gives back to devices by itself: the buffer of write backs (`bridge` §9.3 to §9.6, §10 d).
//!
//! Modelled: entries with Tags above those of requests; two of them are taken for snoops alone; an entry holds its line until the Cmp is
//! there. Left out: who needs one. A walk through a dirty sector that leaves: an entry has its bytes and
//! its line; the bytes are read from HBM, MemWr leaves, its Cmp frees line and entry, and whoever waited for the way goes on.

use super::table::{ChildId, MOST_ENTRIES};
use super::{BridgeActor, BridgeOutput, BridgeStep, OutboundBridge, OutboundWork};
use crate::cache::data::{CachedBlock, PortLine};
use crate::cache::sector::SectorState;
use crate::flows::{CoherenceFields, fields};
use crate::locks::OpenSnoop;
use scalepool_coherence::cache::state::CacheLineState;
use scalepool_coherence::content::{CacheLine, WHOLE_LINE};
use scalepool_coherence::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{BirspOpcode, M2sReqOpcode, M2sRwdOpcode, MetaValue, NdrOpcode, SnpType};

/// Entries for sectors that leave and for stores that are written through (our choice: one for each line that may be under way at first,
/// `bridge` §7).
pub const WRITE_BACKS: u16 = 64;
/// Entries for snoops alone (`bridge` §10 d).
pub const SNOOP_WRITE_BACKS: u16 = 2;
/// Tag of the first entry: behind those of requests.
const FIRST_TAG: u16 = 4 * MOST_ENTRIES as u16;

/// What an entry sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WriteBackMessage {
    /// MemWr with a meta value.
    Write(MetaValue),
    /// MemClnEvct: the line is dropped.
    Drop,
}

/// What is done when it has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WriteBackEnd {
    /// A way of this block is empty, as far as the line goes.
    Left(CachedBlock),
    /// The sector stays, in this state.
    Stays(SectorState),
    /// Software wants it in this state.
    Managed(SectorState),
    /// The sector stays in this state, or not at all, and the snoop is answered.
    Snooped(SectorState, BirspOpcode, OpenSnoop),
}

/// An entry.
#[derive(Debug, Clone, Hash)]
pub struct WriteBack {
    /// The line.
    pub place: PortLine,
    /// What is sent.
    pub message: WriteBackMessage,
    /// Its bytes.
    pub line: CacheLine,
    /// What is done at the end.
    pub end: WriteBackEnd,
    /// The request for which it is done, for traces.
    pub cause: Option<ChildId>,
    /// The message has left.
    pub is_sent: bool,
    /// The Cmp has come.
    pub is_completed: bool,
    /// BIConflict has left, and its Ack has not come.
    pub awaits_ack: bool,
    /// What there is of the line of a host; I: it is no host's, or a snoop has taken it.
    pub host: CacheLineState,
}

impl WriteBack {
    /// One that has sent nothing.
    pub fn new(
        place: PortLine,
        message: WriteBackMessage,
        line: CacheLine,
        end: WriteBackEnd,
        cause: Option<ChildId>,
    ) -> WriteBack {
        let (is_sent, is_completed, awaits_ack) = (false, false, false);
        let host = CacheLineState::I;
        WriteBack { place, message, line, end, cause, is_sent, is_completed, awaits_ack, host }
    }

    /// Whether it brings bytes.
    pub fn has_data(&self) -> bool {
        self.message != WriteBackMessage::Drop
    }

    /// Its message.
    pub(super) fn msg(&self, tag: u16) -> Msg<CacheLine> {
        let (line, data) = (self.place.1, self.line);
        match self.message {
            WriteBackMessage::Drop => {
                let CoherenceFields { field: meta_field, value: meta, snp } = fields(MetaValue::Invalid, SnpType::NoOp);
                Msg::M2sReq { opcode: M2sReqOpcode::MemClnEvct, snp, meta_field, meta, line, tag }
            }
            WriteBackMessage::Write(value) => {
                let CoherenceFields { field: meta_field, value: meta, snp } = fields(value, SnpType::NoOp);
                let (opcode, enables) = (M2sRwdOpcode::MemWr, WHOLE_LINE);
                Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data, enables }
            }
        }
    }
}

/// The buffer.
#[derive(Debug, Clone, Hash)]
pub struct WriteBackBuffer {
    entries: Vec<Option<WriteBack>>,
}

impl Default for WriteBackBuffer {
    fn default() -> WriteBackBuffer {
        WriteBackBuffer { entries: (0..WRITE_BACKS + SNOOP_WRITE_BACKS).map(|_| None).collect() }
    }
}

impl WriteBackBuffer {
    /// Entries that are free for what is no snoop.
    pub fn free(&self) -> usize {
        let free = self.entries.iter().filter(|entry| entry.is_none()).count();
        free.saturating_sub(SNOOP_WRITE_BACKS.into())
    }

    /// Takes an entry, of which there has to be a free one; for a snoop any one will do. `None`: there is none.
    pub fn take(&mut self, write_back: WriteBack) -> Option<u16> {
        let is_snoop = matches!(write_back.end, WriteBackEnd::Snooped(..));
        if !is_snoop && self.free() == 0 {
            return None;
        }
        let n = self.entries.iter().position(Option::is_none)?;
        self.entries[n] = Some(write_back);
        Some(n as u16)
    }

    /// An entry.
    pub fn get(&self, n: u16) -> Option<&WriteBack> {
        self.entries.get(usize::from(n))?.as_ref()
    }

    /// An entry, to change it.
    pub fn get_mut(&mut self, n: u16) -> Option<&mut WriteBack> {
        self.entries.get_mut(usize::from(n))?.as_mut()
    }

    /// Frees an entry.
    pub fn remove(&mut self, n: u16) -> Option<WriteBack> {
        self.entries.get_mut(usize::from(n))?.take()
    }

    /// Entries in use.
    pub fn open(&self) -> usize {
        self.all().count()
    }

    /// Entries in use, to be looked at.
    pub fn all(&self) -> impl Iterator<Item = &WriteBack> {
        self.entries.iter().flatten()
    }

    /// The entry of a line, whose bytes are nowhere else.
    pub fn of_line(&self, place: PortLine) -> Option<&WriteBack> {
        self.all().find(|write_back| write_back.place == place)
    }

    /// Whether sectors that leave are still in the way of a block.
    pub fn empties(&self, block: CachedBlock) -> bool {
        self.all().any(|write_back| write_back.end == WriteBackEnd::Left(block))
    }
}

impl OutboundBridge {
    /// The bytes of an entry are there: its message leaves.
    pub(super) fn send_write_back(&mut self, n: u16, out: &mut BridgeOutput) {
        let Some(write_back) = self.write_backs.get_mut(n) else { return };
        write_back.is_sent = true;
        let (place, msg) = (write_back.place, write_back.msg(tag(n)));
        let (port, is_host) = (place.0, self.is_host(place.0));
        let msg = match self.evicts(n) {
            _ if !is_host => msg,
            Some(msg) => msg,
            // A snoop has taken the line.
            None => return self.end_write_back(n, out),
        };
        let msg = self.as_viral(msg);
        out.steps.push(BridgeStep::Send { by: Some(BridgeActor::WriteBack(n)), port, msg, is_computed: false });
        if is_host {
            self.show_host(place, out);
        }
    }

    /// S2M NDR for an entry.
    pub(super) fn written_back(&mut self, n: u16, port: usize, opcode: NdrOpcode, out: &mut BridgeOutput) {
        let is_ack = opcode == NdrOpcode::BIConflictAck;
        let fits = |write_back: &&mut WriteBack| {
            let is_open = if is_ack { write_back.awaits_ack } else { write_back.is_sent && !write_back.is_completed };
            write_back.place.0 == port && is_open && (is_ack || opcode == NdrOpcode::Cmp)
        };
        let Some(write_back) = self.write_backs.get_mut(n).filter(fits) else {
            let found = format!("{} with tag {:#06x}", opcode.name().unwrap_or("a reserved NDR"), tag(n));
            return out.find("COH-IDS-01", found, "the Cmp, or the BIConflictAck, of a write back");
        };
        let place = write_back.place;
        match is_ack {
            true => write_back.awaits_ack = false,
            false => write_back.is_completed = true,
        }
        let has_ended = write_back.is_completed && !write_back.awaits_ack;
        if is_ack && let Some(snoop) = self.locks.get_mut(place).and_then(|lock| lock.snoop.take()) {
            // R4: the line has been given up, so the answer does not wait for the Cmp.
            self.answer_snoop(place, snoop, out);
        }
        if has_ended {
            self.end_write_back(n, out);
        }
    }

    pub(super) fn end_write_back(&mut self, n: u16, out: &mut BridgeOutput) {
        let Some(WriteBack { place, end, .. }) = self.write_backs.remove(n) else { return };
        match end {
            WriteBackEnd::Left(_) => (),
            WriteBackEnd::Stays(state) => self.change_state(place, state, out),
            WriteBackEnd::Managed(state) => {
                self.change_state(place, state, out);
                if let Some(operation) = &mut self.managed {
                    operation.writing -= 1;
                }
            }
            WriteBackEnd::Snooped(state, answer, snoop) => {
                self.change_state(place, state, out);
                out.steps.push(snoop.answered(place, answer));
            }
        }
        if self.is_host(place.0) {
            self.show_host(place, out);
        }
        self.release_line(place, out);
        if let WriteBackEnd::Left(block) = end
            && !self.write_backs.empties(block)
        {
            self.block_is_empty(block);
        }
        if self.rooms.entry_freed() {
            self.work.push_back(OutboundWork::TryEntry);
        }
        if let Some((place, snoop)) = self.waiting_snoops.pop_front() {
            self.snooped_line(place, snoop.opcode, snoop.bi_tag, out);
        }
    }
}

/// Tag of the messages of an entry.
pub fn tag(n: u16) -> u16 {
    FIRST_TAG + n
}

/// The entry of a Tag; `None`: it is a request's.
pub fn of_tag(tag: u16) -> Option<u16> {
    tag.checked_sub(FIRST_TAG)
}
