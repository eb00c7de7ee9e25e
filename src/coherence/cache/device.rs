//! A device cache.
//!
//! One line is one small state machine ([`CacheLineState`]); the cache is the list of its lines that are not in I.
//! Requests go through [`requests`], snoops through [`snoops`](super::snoops), answers through [`answers`]. One request a line is open
//! at a time (`coherence` §2.6 O11a).
//!
//! One miss: [`DeviceCache::issue`] takes the next CQID and sends RdOwn; GO and data arrive in any order, each a row of
//! the table; with the second one the line is cached and a store that waited is done in the same step. A snoop between
//! the two is answered at once in the granted state.

use super::answers::{self, CacheDeviceAction, Got};
use super::requests::{self, CacheRequestKind};
use super::snoops::{Forward, Reply};
use super::state::{CacheLineState, HostAnswer, Snoop};
use crate::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
use crate::config::{CoherenceConfig, SnpCurOnClean, SnpCurOnM, SnpDataOnM, WithoutBytes};
use crate::content::{LineAddr, LineContent, WHOLE_LINE};
use crate::event::CoherenceEvent;
use crate::message::Msg;
use crate::names::{self, CQIDS};
use crate::rules::PoisonStep;
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, H2dReqOpcode, H2dRspOpcode};

/// Bytes to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriteBytes<D> {
    /// Values.
    pub data: D,
    /// One bit a byte.
    pub enables: u64,
}

/// A line that is not plainly I.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheEntry<D> {
    /// State.
    pub at: CacheLineState,
    /// The open request; [`D2hReqOpcode`] 0 when none is.
    pub op: D2hReqOpcode,
    /// Its CQID.
    pub cqid: u16,
    /// UQID of the snoop whose data is owed.
    pub owed: u16,
    /// The copy, the early data of a read, or the bytes of a write.
    pub data: Option<WriteBytes<D>>,
    /// A store that waits for ownership.
    pub store: Option<WriteBytes<D>>,
}

/// No request.
const NO_OP: D2hReqOpcode = D2hReqOpcode(0);

impl<D> CacheEntry<D> {
    /// The home waits for its data, under the UQID `owed`.
    fn owes_data(&self) -> bool {
        matches!(self.at, CacheLineState::OweI | CacheLineState::OweS | CacheLineState::OweM)
    }

    /// A copy without an open request.
    fn copy(at: CacheLineState, data: D) -> Self {
        Self { at, op: NO_OP, cqid: 0, owed: 0, data: Some(WriteBytes { data, enables: WHOLE_LINE }), store: None }
    }
}

/// The cache.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceCache<D> {
    /// Sorted by line; no plain I in it.
    lines: Vec<(LineAddr, CacheEntry<D>)>,
    /// CQID of an open CacheFlushed.
    flushing: Option<u16>,
}

impl<D: LineContent> Default for DeviceCache<D> {
    fn default() -> Self {
        Self { lines: Vec::new(), flushing: None }
    }
}

/// The device's only link.
const LINK: AgentPort = 0;

fn event<D>(out: &mut AgentOutput<D>, rule: &'static str, line: Option<LineAddr>, found: String, expected: &str) {
    out.events.push(CoherenceEvent::new(rule, line, "device", found, expected));
}

impl<D: LineContent> DeviceCache<D> {
    /// A cache that holds nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a copy in place, as the start of a run. `at` is S, E or M; anything else leaves the line in I.
    pub fn preset(&mut self, line: LineAddr, at: CacheLineState, data: D) {
        self.remove(line);
        if matches!(at, CacheLineState::S | CacheLineState::E | CacheLineState::M) {
            self.insert(line, CacheEntry::copy(at, data));
        }
    }

    fn find(&self, line: LineAddr) -> Result<usize, usize> {
        self.lines.binary_search_by_key(&line, |(l, _)| *l)
    }

    /// What the cache knows of a line that is not plainly I.
    pub fn entry(&self, line: LineAddr) -> Option<&CacheEntry<D>> {
        self.find(line).ok().map(|i| &self.lines[i].1)
    }

    fn entry_mut(&mut self, line: LineAddr) -> Option<&mut CacheEntry<D>> {
        self.find(line).ok().map(|i| &mut self.lines[i].1)
    }

    fn insert(&mut self, line: LineAddr, entry: CacheEntry<D>) {
        match self.find(line) {
            Ok(i) => self.lines[i].1 = entry,
            Err(i) => self.lines.insert(i, (line, entry)),
        }
    }

    fn remove(&mut self, line: LineAddr) -> Option<CacheEntry<D>> {
        self.find(line).ok().map(|i| self.lines.remove(i).1)
    }

    /// All lines that are not plainly I.
    pub fn lines(&self) -> impl Iterator<Item = (LineAddr, &CacheEntry<D>)> {
        self.lines.iter().map(|(l, e)| (*l, e))
    }

    /// State of a line.
    pub fn at(&self, line: LineAddr) -> CacheLineState {
        self.entry(line).map_or(CacheLineState::I, |e| e.at)
    }

    /// Whether the core may load a line now.
    pub fn may_load(&self, config: &CoherenceConfig, line: LineAddr) -> bool {
        config.rules.may_load(self.at(line))
    }

    /// The value of a line that may be loaded.
    pub fn load(&self, config: &CoherenceConfig, line: LineAddr) -> Option<&D> {
        if !self.may_load(config, line) {
            return None;
        }
        self.entry(line)?.data.as_ref().map(|b| &b.data)
    }

    /// Stores to a line in E or M; E becomes M without a message. `false`: the state does not allow it.
    pub fn store(&mut self, line: LineAddr, bytes: &WriteBytes<D>, out: &mut AgentOutput<D>) -> bool {
        let Some(entry) = self.entry_mut(line).filter(|e| e.at.may_store()) else { return false };
        entry.at = CacheLineState::M;
        if let Some(copy) = &mut entry.data {
            copy.data.merge(&bytes.data, bytes.enables);
        }
        out.effects.push(Effect::Stored(line));
        true
    }

    /// Whether a clean copy may be dropped without a message.
    pub fn can_drop(&self, config: &CoherenceConfig, line: LineAddr) -> bool {
        config.rules.drops(config, self.at(line))
    }

    /// Drops a clean copy without a message. `false`: not allowed.
    pub fn drop_copy(&mut self, config: &CoherenceConfig, line: LineAddr) -> bool {
        self.can_drop(config, line) && self.remove(line).is_some()
    }

    /// Whether a request may be issued: the line's state is a start state (§2.2), and no request is open on it (O11a).
    /// CacheFlushed (its line means nothing): the whole cache is I and nothing is open.
    pub fn can_issue(&self, op: D2hReqOpcode, line: LineAddr) -> bool {
        if self.flushing.is_some() {
            return false;
        }
        if op == D2hReqOpcode::CacheFlushed {
            return self.lines.is_empty();
        }
        requests::request(op).is_some_and(|r| r.starts.iter().any(|(start, _)| *start == self.at(line)))
    }

    fn next_cqid(&self) -> Option<u16> {
        let asked = self.lines.iter().filter(|(_, e)| e.op != NO_OP).map(|(_, e)| e.cqid);
        names::lowest_free(CQIDS, asked.chain(self.flushing))
    }

    /// Issues a request. `bytes` are what a write writes, or a store that waits for the ownership that RdOwn or
    /// RdOwnNoData brings. `false`: not allowed now ([`DeviceCache::can_issue`]), or the bytes do not fit the request.
    pub fn issue(
        &mut self,
        op: D2hReqOpcode,
        line: LineAddr,
        bytes: Option<WriteBytes<D>>,
        out: &mut AgentOutput<D>,
    ) -> bool {
        let Some(row) = requests::request(op).filter(|_| self.can_issue(op, line)) else { return false };
        let fits = match (row.kind, &bytes) {
            (CacheRequestKind::Write, Some(b)) => match op {
                D2hReqOpcode::WrInv => true,
                D2hReqOpcode::WOWrInv => b.enables != WHOLE_LINE,
                _ => b.enables == WHOLE_LINE,
            },
            (CacheRequestKind::Write, None) => false,
            (_, Some(_)) => [D2hReqOpcode::RdOwn, D2hReqOpcode::RdOwnNoData].contains(&op),
            (_, None) => true,
        };
        let Some(cqid) = self.next_cqid().filter(|_| fits) else { return false };
        out.send(LINK, Msg::D2hReq { opcode: op, line, cqid });
        if op == D2hReqOpcode::CacheFlushed {
            self.flushing = Some(cqid);
            return true;
        }
        let old = self.remove(line);
        let start = old.as_ref().map_or(CacheLineState::I, |e| e.at);
        let at = row.starts.iter().find(|(s, _)| *s == start).map_or(CacheLineState::I, |(_, next)| *next);
        let copy = old.and_then(|e| e.data);
        let (data, store) = if row.kind == CacheRequestKind::Write { (bytes, None) } else { (copy, bytes) };
        self.insert(line, CacheEntry { at, op, cqid, owed: 0, data, store });
        true
    }

    /// Whether a store may still join the read that is open on a line: E is granted, the data is on its way (§2.4).
    pub fn can_join(&self, line: LineAddr) -> bool {
        self.at(line) == CacheLineState::RdGoE
    }

    /// A store that the core has only now joins the open read and waits for its data. `false`:
    /// [`DeviceCache::can_join`].
    pub fn join(&mut self, line: LineAddr, bytes: WriteBytes<D>) -> bool {
        let Some(entry) = self.entry_mut(line).filter(|e| e.at == CacheLineState::RdGoE) else { return false };
        (entry.at, entry.store) = (CacheLineState::RdGoESt, Some(bytes));
        true
    }

    /// The replies to a snoop that the configuration allows, the one it asks for first.
    fn replies(&self, config: &CoherenceConfig, line: LineAddr, snoop: Snoop) -> Vec<Reply> {
        let at = self.at(line);
        let all = config.rules.snoop_row(at, snoop).replies;
        let preferred = match (snoop, at) {
            (Snoop::Data, CacheLineState::M) => match config.snp_data_on_m {
                SnpDataOnM::Shared => 0,
                SnpDataOnM::SharedThenInvalid => 1,
                SnpDataOnM::Invalid => 2,
            },
            (Snoop::Cur, CacheLineState::S | CacheLineState::E | CacheLineState::EvE) => {
                match config.snp_cur_on_clean {
                    SnpCurOnClean::Keep => 0,
                    SnpCurOnClean::Shared => 1,
                    SnpCurOnClean::Forward => 2,
                }
            }
            (Snoop::Cur, CacheLineState::M | CacheLineState::EvM) => match config.snp_cur_on_m {
                SnpCurOnM::Keep => 0,
                SnpCurOnM::Shared => 1,
                SnpCurOnM::Invalid => 2,
            },
            _ => 0,
        };
        let preferred = if preferred < all.len() { preferred } else { 0 };
        let mut replies: Vec<Reply> = all.iter().copied().skip(preferred).take(1).collect();
        if config.alternatives {
            replies.extend(all.iter().enumerate().filter(|(i, _)| *i != preferred).map(|(_, r)| *r));
        }
        replies
    }

    fn snooped(
        &mut self,
        config: &CoherenceConfig,
        opcode: H2dReqOpcode,
        line: LineAddr,
        uqid: u16,
        way: u8,
        out: &mut AgentOutput<D>,
    ) {
        let Some(snoop) = Snoop::of(opcode) else {
            return event(
                out,
                "COH-OPC-01",
                Some(line),
                format!("snoop code {}", opcode.0),
                "SnpData, SnpInv or SnpCur",
            );
        };
        let at = self.at(line);
        let Some(reply) = self.replies(config, line, snoop).get(usize::from(way)).copied() else {
            let row = config.rules.snoop_row(at, snoop);
            return event(
                out,
                row.rule,
                Some(line),
                format!("Snp{} in {}", snoop.name(), at.name()),
                &format!("no snoop, because {}", row.never),
            );
        };
        out.send(LINK, Msg::D2hRsp { opcode: reply.rsp, uqid });
        let Some(i) = self.find(line).ok() else { return };
        let entry = &mut self.lines[i].1;
        match (reply.forward, &entry.data) {
            (Forward::Now, Some(copy)) => {
                let data = copy.data.clone();
                let data = config.passed(PoisonStep::Sent, data);
                out.send(LINK, Msg::D2hData { uqid, bogus: false, data, enables: WHOLE_LINE });
            }
            (Forward::Owed, _) => entry.owed = uqid,
            _ => {}
        }
        entry.at = reply.next;
        match reply.next {
            CacheLineState::I => {
                self.lines.remove(i);
            }
            // Bytes of an invalid copy mean nothing: equal states look equal.
            next if config.rules.loses_bytes(next) => entry.data = None,
            _ => {}
        }
    }

    /// The device is on another port of the home: UQIDs that it owes name it (symmetry reduction of a search).
    pub fn rename_port(&mut self, port: AgentPort) {
        for (_, entry) in self.lines.iter_mut().filter(|(_, entry)| entry.owes_data()) {
            entry.owed = entry.owed & !15 | port;
        }
    }

    /// Whether an open UQID names the port.
    pub fn knows_port(&self) -> bool {
        self.lines.iter().any(|(_, entry)| entry.owes_data())
    }

    /// CacheFlushed is open.
    pub fn is_flushing(&self) -> bool {
        self.flushing.is_some()
    }

    /// The line of an open request.
    pub fn asked(&self, cqid: u16) -> Option<LineAddr> {
        self.line_of(cqid).map(|at| self.lines[at].0)
    }

    fn line_of(&self, cqid: u16) -> Option<usize> {
        self.lines.iter().position(|(_, e)| e.op != NO_OP && e.cqid == cqid)
    }

    fn answered(
        &mut self,
        config: &CoherenceConfig,
        opcode: H2dRspOpcode,
        rsp_data: u16,
        cqid: u16,
        out: &mut AgentOutput<D>,
    ) {
        let Some(answer) = HostAnswer::of(opcode, rsp_data) else {
            let found = format!("H2D Rsp code {}, RspData {rsp_data:#x}", opcode.0);
            return event(out, "COH-IDS-05", None, found, "a listed opcode and GO state");
        };
        if self.flushing == Some(cqid) {
            if answer == HostAnswer::GoI {
                self.flushing = None;
                return;
            }
            return event(out, "COH-REQ-07", None, answer.name().into(), "GoI to CacheFlushed");
        }
        let Some(i) = self.line_of(cqid) else {
            return event(out, "COH-IDS-01", None, format!("H2D Rsp with CQID {cqid}"), "the CQID of an open request");
        };
        let (line, entry) = &self.lines[i];
        let (line, at) = (*line, entry.at);
        let allowed = requests::request(entry.op).filter(|r| !r.answers.contains(&answer));
        if let Some(row) = allowed {
            let found = format!("{} to {}", answer.name(), entry.op.name().unwrap_or("?"));
            if let Some(rule) = requests::never(entry.op, answer) {
                event(out, rule, Some(line), found.clone(), "an answer that this request can have");
            }
            return event(out, row.rule, Some(line), found, "an answer that this request can have");
        }
        let Some(row) = answers::row_of(at, Got::Answer(answer)) else {
            let rule = if entry.op == D2hReqOpcode::WrInv { "COH-REQ-22" } else { "COH-REQ-21" };
            return event(
                out,
                rule,
                Some(line),
                format!("{} in {}", answer.name(), at.name()),
                "each answer once, in order",
            );
        };
        if [HostAnswer::GoErr, HostAnswer::GoErrPull].contains(&answer) {
            out.effects.push(Effect::Refused(line));
        }
        self.perform(config, i, row, rsp_data, None, out);
    }

    fn filled(&mut self, config: &CoherenceConfig, cqid: u16, data: D, out: &mut AgentOutput<D>) {
        let Some(i) = self.line_of(cqid) else {
            return event(out, "COH-IDS-01", None, format!("H2D Data with CQID {cqid}"), "the CQID of an open request");
        };
        let (line, at) = (self.lines[i].0, self.lines[i].1.at);
        let Some(row) = answers::row_of(at, Got::Data) else {
            return event(out, "COH-REQ-21", Some(line), format!("data in {}", at.name()), "one line of data per read");
        };
        self.perform(config, i, row, 0, Some(data), out);
    }

    /// Does what a row says; `uqid` is the RspData of a pull.
    fn perform(
        &mut self,
        config: &CoherenceConfig,
        i: usize,
        row: &answers::AnswerRow,
        uqid: u16,
        data: Option<D>,
        out: &mut AgentOutput<D>,
    ) {
        let line = self.lines[i].0;
        let entry = &mut self.lines[i].1;
        let arrived = data.map(|data| {
            let data = config.passed(PoisonStep::Filled, data);
            WriteBytes { data, enables: WHOLE_LINE }
        });
        let was = entry.at;
        entry.at = row.next;
        match row.act {
            CacheDeviceAction::Note => {
                if entry.at == CacheLineState::RdGoE && entry.store.is_some() {
                    entry.at = CacheLineState::RdGoESt;
                }
            }
            CacheDeviceAction::Keep => {
                if let Some(b) = &arrived
                    && b.data != D::ones()
                {
                    out.effects.push(Effect::Used { line, value: b.data.clone(), current: true });
                }
                entry.data = arrived;
            }
            CacheDeviceAction::Fill | CacheDeviceAction::Upgrade => {
                entry.data = arrived.or(entry.data.take());
                self.close(i, out);
            }
            CacheDeviceAction::UseOnce => {
                if let Some(b) = arrived.or(entry.data.take()) {
                    out.effects.push(Effect::Used { line, value: b.data, current: false });
                }
                self.close(i, out);
            }
            CacheDeviceAction::PayOwed => {
                entry.data = arrived;
                let owed = entry.owed;
                let store = entry.store.take();
                if let (Some(copy), Some(store)) = (&mut entry.data, store) {
                    copy.data.merge(&store.data, store.enables);
                    out.effects.push(Effect::Stored(line));
                }
                if let Some(copy) = &entry.data {
                    let data = config.passed(PoisonStep::Sent, copy.data.clone());
                    out.send(LINK, Msg::D2hData { uqid: owed, bogus: false, data, enables: WHOLE_LINE });
                }
                self.close(i, out);
            }
            CacheDeviceAction::NoBytes => self.without_bytes(config, i, out),
            CacheDeviceAction::End => self.close(i, out),
            CacheDeviceAction::SendCopy => {
                let bogus = config.rules.is_bogus(was);
                // A copy that was snooped away is sent all the same: the pull waits for 64 bytes.
                if let Some(copy) = entry.data.take() {
                    let data = config.passed(PoisonStep::Sent, copy.data);
                    out.send(LINK, Msg::D2hData { uqid, bogus, data, enables: WHOLE_LINE });
                }
                self.close(i, out);
            }
            CacheDeviceAction::SendWrite => {
                if let Some(b) = entry.data.take() {
                    let data = config.passed(PoisonStep::Sent, b.data);
                    out.send(LINK, Msg::D2hData { uqid, bogus: false, data, enables: b.enables });
                }
                let weak = [D2hReqOpcode::WOWrInv, D2hReqOpcode::WOWrInvF].contains(&entry.op);
                if was == CacheLineState::Wr && weak {
                    entry.at = CacheLineState::WrSent;
                }
                if entry.at == CacheLineState::I {
                    self.close(i, out);
                }
            }
        }
    }

    /// Ownership has come without bytes (§2.4): write the whole line, or give the E up and read.
    fn without_bytes(&mut self, config: &CoherenceConfig, i: usize, out: &mut AgentOutput<D>) {
        let line = self.lines[i].0;
        let entry = &mut self.lines[i].1;
        let whole = entry.store.as_ref().is_some_and(|s| s.enables == WHOLE_LINE);
        if entry.data.is_none() && config.without_bytes == WithoutBytes::Write && whole {
            // With a store of the whole line the bytes that stood here do not matter.
            entry.data = entry.store.clone();
        }
        if entry.data.is_some() {
            entry.at = CacheLineState::E;
            return self.close(i, out);
        }
        entry.at = CacheLineState::RdWait;
        entry.op = D2hReqOpcode::RdOwn;
        entry.data = None;
        out.send(LINK, Msg::D2hReq { opcode: entry.op, line, cqid: entry.cqid });
    }

    /// The request has ended; the state is stable. A store that waited is done if the state allows it.
    fn close(&mut self, i: usize, out: &mut AgentOutput<D>) {
        let (line, entry) = &mut self.lines[i];
        out.effects.push(Effect::Done(*line));
        (entry.op, entry.cqid, entry.owed) = (NO_OP, 0, 0);
        let store = entry.store.take();
        if let (true, Some(copy), Some(store)) = (entry.at.may_store(), &mut entry.data, store) {
            copy.data.merge(&store.data, store.enables);
            entry.at = CacheLineState::M;
            out.effects.push(Effect::Stored(*line));
        }
        if entry.at == CacheLineState::I {
            self.lines.remove(i);
        }
    }
}

impl<D: LineContent> Agent<D> for DeviceCache<D> {
    /// A device never keeps anything waiting (`coherence` §2.6 O7).
    fn accepts(&self, config: &CoherenceConfig, _port: AgentPort, msg: &Msg<D>) -> Accept {
        let Msg::H2dReq { line, .. } = msg else { return Accept::Take };
        if config.rules.snoop_waits(self.at(*line)) { Accept::Wait } else { Accept::Take }
    }

    fn ways(&self, config: &CoherenceConfig, _port: AgentPort, msg: &Msg<D>) -> u8 {
        match msg {
            Msg::H2dReq { opcode, line, .. } if config.alternatives => {
                Snoop::of(*opcode).map_or(1, |snoop| self.replies(config, *line, snoop).len().max(1) as u8)
            }
            _ => 1,
        }
    }

    fn take(&mut self, config: &CoherenceConfig, _port: AgentPort, msg: Msg<D>, way: u8, out: &mut AgentOutput<D>) {
        match msg {
            Msg::H2dReq { opcode, line, uqid } => self.snooped(config, opcode, line, uqid, way, out),
            Msg::H2dRsp { opcode, rsp_data, cqid } => self.answered(config, opcode, rsp_data, cqid, out),
            Msg::H2dData { cqid, data, .. } => self.filled(config, cqid, data, out),
            other => event(out, "COH-TYP-01", other.line(), other.class().name().into(), "an H2D message"),
        }
    }

    fn is_idle(&self) -> bool {
        self.flushing.is_none() && self.lines.iter().all(|(_, e)| e.at.is_stable())
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut D)) {
        for (_, entry) in &mut self.lines {
            entry.data.iter_mut().chain(&mut entry.store).for_each(|b| f(&mut b.data));
        }
    }
}
