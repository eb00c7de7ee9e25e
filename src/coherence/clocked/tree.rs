//! Which transaction of a node a message belongs to, for traces: what it asks for, what it serves, whom it snoops.
//!
//! Modelled: a transaction for each access of the core, each request that the node sends, each request or snoop that it takes,
//! and each snoop that it sends. An access causes the requests on its line and the evict that makes room for it; what is taken
//! causes what the node sends for it. Who serves a request finds who sent it by CQID, Tag, UQID or BITag of the link
//! ([`part`]). A request ends when the agent says so, what is served with its last answer, a snoop with its last answer.
//! Left out: what the agent does inside; nothing here changes a run.
//!
//! A walk through one snoop: a home takes D2H Req, which begins a transaction that serves the device's; its H2D Req to another
//! device begins a snoop below that one, and the home's transaction waits for it; D2H Rsp ends the snoop; GO and data to the
//! first device are the answer, so behind the step the home's transaction ends. The other device serves the snoop alike.

use super::core::Told;
use crate::agent::AgentPort;
use crate::cache::requests::names_uqid;
use crate::content::LineAddr;
use crate::mem::host::block_lines;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::{
    D2hRspOpcode, H2dRspOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, NdrOpcode, SnpType,
};
use scalepool_protocols::cxl::message::{self, Message, MessageForm, TransactionRole};
use scalepool_trace::wait::WAIT_OVER;
use scalepool_trace::{Body, RecordKind, RequestIdentifier, Stamp, Tap, TransactionHandle, TransactionNaming, Wait};

/// What a message is to the transaction that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionPart {
    /// It begins it.
    Request,
    /// A conflict, or its acknowledgement.
    Conflict,
    /// It answers a request.
    Answer,
    /// It is a snoop.
    Snoop,
    /// It answers a snoop, or brings the data of a write that was pulled.
    SnoopAnswer,
}

/// What a message is, and by what both ends of the link know its transaction.
pub fn part(link: u32, form: MessageForm, message: &Message) -> (TransactionPart, TransactionHandle) {
    let (named, value) = message.identifier();
    let route = message.route();
    let is_down = message.class().dir() == Dir::Down;
    // Ports of a fabric travel with port based routing alone, CacheIDs in 256-byte flits alone.
    let port = |port: u16| if form == MessageForm::Pbr { u32::from(port) } else { 0 };
    // Hosts that share a device with logical devices use the same tags (`fabric` MLD-2).
    let host = match form {
        MessageForm::Pbr => u32::from(if is_down { route.spid } else { route.dpid }),
        _ => u32::from(route.ld_id),
    };
    let device = port(if is_down { route.dpid } else { route.spid });
    let cache = if form == MessageForm::Hbr { u32::from(route.cache_id) } else { device };
    let (part, identifier, owner) = match (message, named) {
        // Their tag is a CQID.
        (Message::M2sReq(m), _) if matches!(m.opcode, M2sReqOpcode::MemRdFwd | M2sReqOpcode::MemWrFwd) => {
            (TransactionPart::Answer, RequestIdentifier::Cqid, device)
        }
        (Message::M2sRwd(m, _), _) if m.opcode == M2sRwdOpcode::BIConflict => {
            (TransactionPart::Conflict, RequestIdentifier::CxlConflict, host)
        }
        (Message::S2mNdr(m), _) if m.opcode == NdrOpcode::BIConflictAck => {
            (TransactionPart::Conflict, RequestIdentifier::CxlConflict, host)
        }
        (_, message::MessageIdentifier::Cqid) => (message.class().role().into(), RequestIdentifier::Cqid, cache),
        // The UQID of a home names the device.
        (_, message::MessageIdentifier::Uqid) => (message.class().role().into(), RequestIdentifier::Uqid, 0),
        (_, message::MessageIdentifier::Tag) => (message.class().role().into(), RequestIdentifier::CxlTag, host),
        (_, message::MessageIdentifier::BiTag) => {
            let source = if form == MessageForm::Pbr { host } else { u32::from(route.bi_id) };
            (message.class().role().into(), RequestIdentifier::BiTag, source)
        }
    };
    (part, TransactionHandle { identifier, link, owner, value, address: 0 })
}

impl From<TransactionRole> for TransactionPart {
    fn from(role: TransactionRole) -> TransactionPart {
        match role {
            TransactionRole::Request => TransactionPart::Request,
            TransactionRole::Answer => TransactionPart::Answer,
            TransactionRole::Snoop => TransactionPart::Snoop,
            TransactionRole::SnoopAnswer => TransactionPart::SnoopAnswer,
        }
    }
}

/// An identifier as a node tells it apart.
type Key = (AgentPort, RequestIdentifier, u16);

/// Answers of a snoop that are still to come.
#[derive(Debug, Clone, Copy)]
struct OwedSnoopAnswers {
    rsp: bool,
    /// Data, or lines of a back-invalidate.
    data: i8,
}

impl OwedSnoopAnswers {
    /// Of a request: no snoop.
    const NOTHING: OwedSnoopAnswers = OwedSnoopAnswers { rsp: false, data: 0 };

    fn of(snoop: &Message) -> OwedSnoopAnswers {
        match snoop {
            Message::S2mBisnp(m) if m.opcode.is_block() => {
                let lines = block_lines(LineAddr(m.address / 64)).map_or(1, |(_, lines)| lines as i8);
                OwedSnoopAnswers { rsp: false, data: lines }
            }
            Message::S2mBisnp(_) => OwedSnoopAnswers { rsp: false, data: 1 },
            _ => OwedSnoopAnswers { rsp: true, data: 0 },
        }
    }

    /// Takes an answer; whether it was the last one.
    fn answer(&mut self, answer: &Message) -> bool {
        match answer {
            Message::D2hRsp(m) => {
                use D2hRspOpcode as Rsp;
                self.rsp = false;
                self.data += i8::from([Rsp::RspIFwdM, Rsp::RspSFwdM, Rsp::RspVFwdV].contains(&m.opcode));
            }
            Message::M2sBirsp(m) if m.opcode.is_block() => self.data = 0,
            _ => self.data -= 1,
        }
        !self.rsp && self.data <= 0
    }
}

/// A request or snoop of a peer.
#[derive(Debug)]
struct Served {
    id: u64,
    line: Option<LineAddr>,
    owed: OwedSnoopAnswers,
    /// Its answer has been sent.
    answered: bool,
    /// Data that was pulled has not come.
    pulls: bool,
    /// The node has sent something for it.
    acts: bool,
    /// It waits, as the trace says.
    waits: bool,
}

/// A request of this node.
#[derive(Debug)]
struct TreeRequest {
    id: u64,
    parent: u64,
    /// The line of a read that asks nobody for a copy, which ends with its data.
    reads: Option<LineAddr>,
    /// The line of a write, which ends with its answer; the agent says when others end.
    writes: Option<LineAddr>,
}

/// A snoop of this node.
#[derive(Debug)]
struct Snooped {
    id: u64,
    parent: u64,
    owed: OwedSnoopAnswers,
}

/// A message on a link of a node.
pub struct Passing<'a> {
    /// Number of the link for the log, and whether the node sends it.
    pub link: (u16, bool),
    /// The agent's port.
    pub port: AgentPort,
    /// The message.
    pub message: &'a Message,
    /// What it is to its transaction.
    pub part: (TransactionPart, TransactionHandle),
    /// Its line, if it names one.
    pub line: Option<LineAddr>,
}

/// The transactions of a node.
#[derive(Debug, Default)]
pub struct Tree {
    /// Accesses of the core, by their number.
    accesses: OrderedMap<u64, u64>,
    /// Requests of this node but for writes of CXL.mem, by line.
    own: OrderedMap<LineAddr, u64>,
    /// Those writes, by line.
    writes: OrderedMap<LineAddr, u64>,
    /// All by what they were sent as last.
    asked: OrderedMap<Key, TreeRequest>,
    served: OrderedMap<Key, Served>,
    snooped: OrderedMap<Key, Snooped>,
    /// Conflicts without an acknowledgement, with the snoops that they are about.
    conflicts: OrderedMap<Key, u64>,
    /// Snoops without an answer, by who waits for them.
    awaited: OrderedMap<u64, u32>,
    /// Data that a peer pulls, and data that was pulled from a peer.
    pulled: OrderedMap<(AgentPort, u16), u64>,
    pulls: OrderedMap<(AgentPort, u16), Key>,
    /// What the step is done for.
    cause: u64,
    /// What was taken in the step.
    taken: Option<Key>,
    /// The write that ended in the step, of which the agent will tell.
    written: Option<LineAddr>,
    /// Accesses for which the core works on lines in this cycle.
    causes: OrderedMap<LineAddr, u64>,
    /// Messages that wait in their channels, by link and place.
    held: OrderedMap<(usize, usize), Wait>,
}

impl Tree {
    /// Lines of requests that have not ended.
    pub fn lines(&self) -> impl Iterator<Item = &LineAddr> {
        self.own.keys().chain(self.writes.keys().filter(|line| !self.own.contains_key(line)))
    }

    fn key(passing: &Passing<'_>) -> Key {
        let (_, TransactionHandle { identifier, value, .. }) = passing.part;
        (passing.port, identifier, value)
    }

    // ---- messages in their channels ------------------------------------------------------------------------------

    /// The first message of a channel is not taken: by the agent, or because what it may wait for has no room.
    pub fn holds(
        &mut self,
        at: Stamp,
        tap: &mut Tap,
        channel: (usize, usize),
        (wait, line): (Wait, Option<LineAddr>),
        part: (TransactionPart, TransactionHandle),
    ) {
        let holder = line.filter(|_| wait == Wait::Line).map_or(0, |line| self.holder(line, 0));
        // A line that nobody works on: the agent has no place for what comes.
        let wait = if wait == Wait::Line && holder == 0 { Wait::Room } else { wait };
        let begins = matches!(part.0, TransactionPart::Request | TransactionPart::Snoop);
        if begins && self.held.insert(channel, wait) != Some(wait) {
            tap.named(TransactionNaming::By(part.1), at, RecordKind::Mark, 0, 0, || Body::Wait { wait, holder });
        }
    }

    /// The transaction other than `but` that keeps others from a line, 0 for none.
    fn holder(&self, line: LineAddr, but: u64) -> u64 {
        let works = |s: &&Served| s.line == Some(line) && s.id != but && (!s.answered || s.pulls);
        let served = self.served.values().filter(works).map(|s| s.id).min();
        served.unwrap_or_else(|| self.asks(line))
    }

    /// The request of this node on a line, 0 for none.
    fn asks(&self, line: LineAddr) -> u64 {
        self.own.get(&line).or_else(|| self.writes.get(&line)).copied().unwrap_or(0)
    }

    // ---- messages ------------------------------------------------------------------------------------------------

    /// Records a message that is taken from a channel, and what it begins.
    pub fn take(
        &mut self,
        at: Stamp,
        tap: &mut Tap,
        channel: (usize, usize),
        passing: &Passing<'_>,
        body: impl FnOnce() -> Body,
    ) {
        let ((part, handle), key) = (passing.part, Tree::key(passing));
        if self.held.remove(&channel).is_some() {
            tap.named(TransactionNaming::By(handle), at, RecordKind::Mark, 0, 0, || Body::Mark(WAIT_OVER));
        }
        (self.cause, self.taken, self.written) = (0, None, None);
        let mut named = TransactionNaming::Nowhere;
        let (kind, id) = match part {
            TransactionPart::Request | TransactionPart::Snoop => {
                let id = tap.new_id();
                let (answered, owed) = match part {
                    TransactionPart::Snoop => (false, OwedSnoopAnswers::of(passing.message)),
                    _ => (has_no_answer(passing.message), OwedSnoopAnswers::NOTHING),
                };
                let line = passing.line;
                let new = Served { id, line, owed, answered, pulls: false, acts: false, waits: false };
                self.served.insert(key, new);
                (self.cause, self.taken, named) = (id, Some(key), TransactionNaming::By(handle));
                (RecordKind::Begin, id)
            }
            TransactionPart::Conflict => {
                named = TransactionNaming::By(handle);
                // The request in conflict has the same tag; the agent may ask again for its access.
                self.cause = self.asked.get(&(key.0, RequestIdentifier::CxlTag, key.2)).map_or(0, |asked| asked.parent);
                (RecordKind::Mark, self.conflicts.remove(&key).unwrap_or(0))
            }
            TransactionPart::Answer => {
                let id = self.asked.get(&key).map_or(0, |asked| asked.id);
                if let Some(uqid) = pull(passing.message) {
                    self.pulled.insert((passing.port, uqid), id);
                }
                // What follows is for the same access.
                self.cause = self.asked.get(&key).map_or(0, |asked| asked.parent);
                (RecordKind::Mark, id)
            }
            TransactionPart::SnoopAnswer => (RecordKind::Mark, self.snoop_answer(key)),
        };
        tap.record_on(passing.link, named, at, kind, (id, 0), body);
        self.snoop_ends(at, tap, key, passing.message);
        self.write_ends(at, tap, key, passing.message);
        self.read_ends(at, tap, key, passing.message);
    }

    /// The transaction of an answer to a snoop, or of pulled data.
    fn snoop_answer(&mut self, key: Key) -> u64 {
        if let Some(snooped) = self.snooped.get(&key) {
            self.cause = snooped.parent;
            return snooped.id;
        }
        let pulls = self.pulls.remove(&(key.0, key.2)).and_then(|served| self.served.get_mut(&served));
        pulls.map_or(0, |served| {
            served.pulls = false;
            self.cause = served.id;
            served.id
        })
    }

    fn snoop_ends(&mut self, at: Stamp, tap: &mut Tap, key: Key, answer: &Message) {
        let Some(snooped) = self.snooped.get_mut(&key) else { return };
        let &mut Snooped { id, parent, .. } = snooped;
        if !snooped.owed.answer(answer) {
            return;
        }
        self.snooped.remove(&key);
        tap.record(at, RecordKind::End, id, 0, || Body::None);
        if let Some(awaited) = self.awaited.get_mut(&parent) {
            *awaited -= 1;
            if *awaited == 0 {
                self.awaited.remove(&parent);
                tap.wait_over(at, parent);
            }
        }
    }

    fn write_ends(&mut self, at: Stamp, tap: &mut Tap, key: Key, answer: &Message) {
        if !matches!(answer, Message::S2mNdr(_)) {
            return;
        }
        if let Some(&TreeRequest { id, writes: Some(line), .. }) = self.asked.get(&key) {
            self.asked.remove(&key);
            self.writes.remove(&line);
            self.written = Some(line);
            tap.record(at, RecordKind::End, id, 0, || Body::None);
        }
    }

    fn read_ends(&mut self, at: Stamp, tap: &mut Tap, key: Key, answer: &Message) {
        if !matches!(answer, Message::S2mDrs(..)) {
            return;
        }
        if let Some(&TreeRequest { id, reads: Some(line), .. }) = self.asked.get(&key) {
            self.asked.remove(&key);
            self.own.remove(&line);
            tap.record(at, RecordKind::End, id, 0, || Body::None);
        }
    }

    /// Records a message that the agent sends, and what it begins.
    pub fn send(&mut self, at: Stamp, tap: &mut Tap, passing: &Passing<'_>, body: impl FnOnce() -> Body) {
        let ((part, handle), key) = (passing.part, Tree::key(passing));
        let mut named = TransactionNaming::Nowhere;
        let (kind, id, parent) = match part {
            TransactionPart::Request => {
                let writes = passing.line.filter(|_| matches!(passing.message, Message::M2sRwd(..)));
                let lines = if writes.is_some() { &mut self.writes } else { &mut self.own };
                let open = passing.line.and_then(|line| lines.get(&line)).copied();
                let id = open.unwrap_or_else(|| tap.new_id());
                lines.extend(passing.line.map(|line| (line, id)));
                let parent = if open.is_some() { self.cause } else { self.acts(at, tap, passing.line) };
                let reads = passing.line.filter(|_| is_plain_read(passing.message));
                self.asked.insert(key, TreeRequest { id, parent, reads, writes });
                named = TransactionNaming::As(handle);
                (if open.is_some() { RecordKind::Mark } else { RecordKind::Begin }, id, parent)
            }
            TransactionPart::Conflict => match passing.line {
                Some(line) => {
                    // Of the snoop that it is about.
                    let id = self.holder(line, 0);
                    self.conflicts.insert(key, id);
                    named = TransactionNaming::As(handle);
                    (RecordKind::Mark, id, 0)
                }
                None => {
                    named = TransactionNaming::By(handle);
                    (RecordKind::Mark, 0, 0)
                }
            },
            TransactionPart::Answer => (RecordKind::Mark, self.answer(at, tap, key, passing.message), 0),
            TransactionPart::Snoop => {
                let (id, parent) = (tap.new_id(), self.acts(at, tap, passing.line));
                self.snooped.insert(key, Snooped { id, parent, owed: OwedSnoopAnswers::of(passing.message) });
                named = TransactionNaming::As(handle);
                if parent != 0 {
                    let awaited = self.awaited.entry(parent).or_default();
                    *awaited += 1;
                    if *awaited == 1 {
                        tap.wait(at, parent, Wait::Snoop, 0);
                    }
                }
                (RecordKind::Begin, id, parent)
            }
            TransactionPart::SnoopAnswer => {
                let pulled = (passing.port, key.2);
                let id = self.pulled.remove(&pulled).unwrap_or_else(|| self.answer(at, tap, key, passing.message));
                (RecordKind::Mark, id, 0)
            }
        };
        tap.record_on(passing.link, named, at, kind, (id, parent), body);
    }

    /// What causes something that begins on a line; it waits no more for others.
    fn acts(&mut self, at: Stamp, tap: &mut Tap, line: Option<LineAddr>) -> u64 {
        if let Some(id) = line.and_then(|line| self.causes.get(&line)) {
            return *id;
        }
        let serves = |s: &&Served| s.line.is_some() && s.line == line && !s.answered;
        let cause = self.served.values().filter(serves).map(|s| s.id).min().unwrap_or(self.cause);
        let key = self.served.iter().find(|(_, s)| s.id == cause).map(|(key, _)| *key);
        if let Some(served) = key.and_then(|key| self.served.get_mut(&key)) {
            served.acts = true;
            if std::mem::take(&mut served.waits) {
                tap.wait_over(at, cause);
            }
        }
        cause
    }

    /// The transaction that an answer to a peer belongs to, 0 if it is not open.
    fn answer(&mut self, at: Stamp, tap: &mut Tap, key: Key, answer: &Message) -> u64 {
        let Some(served) = self.served.get_mut(&key) else { return 0 };
        if std::mem::take(&mut served.waits) {
            tap.wait_over(at, served.id);
        }
        if let Some(uqid) = pull(answer) {
            served.pulls = true;
            self.pulls.insert((key.0, uqid), key);
        }
        served.answered |= match answer {
            Message::D2hRsp(_) | Message::D2hData(..) | Message::M2sBirsp(_) => served.owed.answer(answer),
            _ => true,
        };
        served.id
    }

    // ---- steps ---------------------------------------------------------------------------------------------------

    /// A request of this node has ended, the agent says; `false`: none is known on that line.
    pub fn done(&mut self, at: Stamp, tap: &mut Tap, line: LineAddr) -> bool {
        if self.written.take_if(|written| *written == line).is_some() {
            return true;
        }
        let own = self.own.remove(&line);
        if let Some(id) = own {
            tap.record(at, RecordKind::End, id, 0, || Body::None);
        }
        own.is_some()
    }

    /// Behind a step: what is answered ends, and what was taken and left as it is waits.
    pub fn stepped(&mut self, at: Stamp, tap: &mut Tap) {
        self.served.retain(|_, served| {
            let is_over = served.answered && !served.pulls;
            if is_over {
                tap.record(at, RecordKind::End, served.id, 0, || Body::None);
            }
            !is_over
        });
        let taken = self.taken.take().and_then(|key| self.served.get(&key).map(|s| (key, s)));
        if let Some((key, &Served { id, line, answered: false, acts: false, .. })) = taken {
            let holder = line.map_or(0, |line| self.holder(line, id));
            let wait = if holder == 0 { Wait::Room } else { Wait::Line };
            tap.wait(at, id, wait, holder);
            if let Some(served) = self.served.get_mut(&key) {
                served.waits = true;
            }
        }
        self.cause = 0;
    }

    // ---- the core ------------------------------------------------------------------------------------------------

    /// Records what the core has said of its accesses, but for those that have ended.
    pub fn tell(&mut self, at: Stamp, tap: &mut Tap, told: &[Told]) {
        for told in told {
            match *told {
                Told::Begins { access, name, address } => {
                    let id = tap.new_id();
                    self.accesses.insert(access, id);
                    tap.record(at, RecordKind::Begin, id, 0, || Body::Access { name, address });
                }
                Told::Waits { access, wait, on, line } => {
                    let id = self.access(access);
                    let holder = match on {
                        Some(on) => self.access(on),
                        None => line.map_or(0, |line| self.asks(line)),
                    };
                    tap.wait(at, id, wait, holder);
                }
                Told::Goes { access } => tap.wait_over(at, self.access(access)),
                Told::Asks { access, line } => {
                    self.causes.insert(line, self.access(access));
                }
                Told::Ends { .. } => (),
            }
        }
    }

    /// Records the end of accesses, behind what was sent for them.
    pub fn tell_ends(&mut self, at: Stamp, tap: &mut Tap, told: &[Told]) {
        self.causes.clear();
        for told in told {
            if let Told::Ends { access } = told
                && let Some(id) = self.accesses.remove(access)
            {
                tap.record(at, RecordKind::End, id, 0, || Body::None);
            }
        }
    }

    fn access(&self, number: u64) -> u64 {
        self.accesses.get(&number).copied().unwrap_or(0)
    }
}

/// The read of a home whose memory is behind a port: no copy is made of what it brings.
fn is_plain_read(request: &Message) -> bool {
    let is_plain = |field: MetaField, snp: SnpType| field == MetaField::NoOp && snp == SnpType::NoOp;
    matches!(request, Message::M2sReq(m) if m.opcode == M2sReqOpcode::MemRd && is_plain(m.meta_field, m.snp_type))
}

/// A request that nobody answers.
fn has_no_answer(request: &Message) -> bool {
    matches!(request, Message::M2sReq(m) if m.opcode == M2sReqOpcode::MemSpecRd)
}

/// The UQID under which an answer pulls data.
fn pull(answer: &Message) -> Option<u16> {
    let Message::H2dRsp(m) = answer else { return None };
    (names_uqid(m.opcode) && m.opcode != H2dRspOpcode::GO_WritePull_Drop).then_some(m.rsp_data)
}
