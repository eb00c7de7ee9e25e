//! What a caching device may make of one step (`coherence` §2.1 to §2.5, O11a): rules that no state shows, only the way
//! from one to the next. The tables say what is legal; the device is seen from outside, before and after.

use crate::agent::AgentOutput;
use crate::cache::device::DeviceCache;
use crate::cache::requests::{self, CacheRequestKind};
use crate::cache::snoops::{self, Forward, Reply};
use crate::cache::state::{CacheLineState, HostAnswer, Snoop};
use crate::config::CoherenceConfig;
use crate::content::{LineAddr, LineContent, WHOLE_LINE};
use crate::event::CoherenceEvent;
use crate::message::Msg;
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode as Op;

/// What happened to the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceStep<D> {
    /// A message arrived.
    Took(Msg<D>),
    /// Its core asked for this; nothing was sent when it was refused.
    Issued(Op, LineAddr),
    /// Its core stored.
    Stored(LineAddr),
    /// A copy was dropped without a message.
    Dropped(LineAddr),
}

/// The device before and after a step, with what left it.
#[derive(Debug)]
pub struct DeviceWatch<'a, D> {
    /// Before.
    pub before: &'a DeviceCache<D>,
    /// What it sent and reported.
    pub out: &'a AgentOutput<D>,
    /// After.
    pub after: &'a DeviceCache<D>,
}

impl<D: LineContent> DeviceWatch<'_, D> {
    /// The rules that the step breaks. A message that the device itself has reported is not judged again.
    pub fn check(&self, config: &CoherenceConfig, step: &DeviceStep<D>, events: &mut Vec<CoherenceEvent>) {
        let mut say = |rule, line: LineAddr, found: String, expected: &str| {
            events.push(CoherenceEvent::new(rule, line, "device", found, expected));
        };
        match step {
            _ if !self.out.events.is_empty() => {}
            DeviceStep::Took(Msg::H2dReq { opcode, line, uqid }) => {
                if let Some(snoop) = Snoop::of(*opcode) {
                    self.snooped(*line, snoop, *uqid, &mut say);
                }
            }
            DeviceStep::Took(Msg::H2dRsp { opcode, rsp_data, cqid }) => {
                if let (Some(line), Some(answer)) = (self.before.asked(*cqid), HostAnswer::of(*opcode, *rsp_data)) {
                    self.answered(line, answer, *rsp_data, &mut say);
                }
            }
            DeviceStep::Took(Msg::H2dData { cqid, .. }) => {
                if let Some(line) = self.before.asked(*cqid) {
                    self.filled(line, &mut say);
                }
            }
            DeviceStep::Took(_) => {}
            DeviceStep::Issued(op, line) => self.issued(*op, *line, &mut say),
            DeviceStep::Stored(line) => {
                let at = self.before.at(*line);
                if !at.may_store() && self.before != self.after {
                    let rule = if at.is_evicting() { "COH-STA-04" } else { "COH-STA-01" };
                    say(rule, *line, format!("a store in {}", at.name()), "E or M for a store");
                }
            }
            DeviceStep::Dropped(line) => {
                let at = self.before.at(*line);
                let (rule, legal, expected) = match at {
                    CacheLineState::S => ("COH-STA-03", config.silent_drop_s, "silent_drop_s on, or an evict"),
                    CacheLineState::E => ("COH-STA-03", config.silent_drop_e, "silent_drop_e on, or an evict"),
                    _ => ("COH-STA-02", false, "DirtyEvict"),
                };
                if !legal && self.before != self.after {
                    say(rule, *line, format!("{} dropped without a message", at.name()), expected);
                }
            }
        }
    }

    /// Lines of D2H Data under this UQID, with their Bogus.
    fn data(&self, id: u16) -> impl Iterator<Item = bool> {
        self.out.sends.iter().filter_map(move |(_, m)| match m {
            Msg::D2hData { uqid, bogus, .. } if *uqid == id => Some(*bogus),
            _ => None,
        })
    }

    /// One answer, at once, from the row of state and snoop.
    fn snooped(
        &self,
        line: LineAddr,
        snoop: Snoop,
        id: u16,
        say: &mut impl FnMut(&'static str, LineAddr, String, &str),
    ) {
        let (at, left) = (self.before.at(line), self.after.at(line));
        let row = snoops::row_of(at, snoop);
        let answers = self.out.sends.iter().filter_map(|(_, m)| match m {
            Msg::D2hRsp { opcode, uqid } if *uqid == id => Some(*opcode),
            _ => None,
        });
        let answers: Vec<_> = answers.collect();
        let data = self.data(id).count();
        let legal = |r: &Reply| answers == [r.rsp] && r.next == left && data == usize::from(r.forward == Forward::Now);
        if !row.replies.iter().any(legal) {
            let names: Vec<_> = answers.iter().map(|r| r.name().unwrap_or("?")).collect();
            let (names, snoop) = (names.join(", "), snoop.name());
            let found =
                format!("[{names}] with {data} lines of data to Snp{snoop} in {}, then {}", at.name(), left.name());
            say(row.rule, line, found, "a reply of the table row");
        }
        if left == CacheLineState::UpI && self.after.entry(line).is_some_and(|e| e.data.is_some()) {
            say(row.rule, line, "bytes kept of a copy that was lost".into(), "a request without valid bytes");
        }
    }

    fn answered(
        &self,
        line: LineAddr,
        answer: HostAnswer,
        id: u16,
        say: &mut impl FnMut(&'static str, LineAddr, String, &str),
    ) {
        let Some(entry) = self.before.entry(line) else { return };
        let left = self.after.at(line);
        let kind = requests::request(entry.op).map(|r| r.kind);
        if matches!(answer, HostAnswer::GoI | HostAnswer::GoErr)
            && kind == Some(CacheRequestKind::Read)
            && !matches!(left, CacheLineState::I | CacheLineState::RdOnce)
        {
            let found = format!("{} after {}", left.name(), answer.name());
            say("COH-REQ-18", line, found, "data of an error used at most once and not cached");
        }
        let hit = matches!(entry.at, CacheLineState::EvS | CacheLineState::EvI);
        let bears_uqid =
            matches!(answer, HostAnswer::Pull | HostAnswer::GoPull | HostAnswer::FastGoPull | HostAnswer::GoErrPull);
        if bears_uqid {
            for bogus in self.data(id).filter(|bogus| *bogus != hit) {
                let rule = if bogus { "COH-BOG-02" } else { "COH-BOG-01" };
                let found = format!("Bogus = {} on data in {}", u8::from(bogus), entry.at.name());
                say(rule, line, found, "Bogus on data of an evict that a snoop has hit, and on no other");
            }
        }
        if answer == HostAnswer::GoErrPull && self.data(id).next().is_none() {
            say("COH-REQ-24", line, "no data under GO_ERR_WritePull".into(), "data, which the host then drops");
        }
        let whole = entry.store.as_ref().is_some_and(|s| s.enables == WHOLE_LINE);
        if entry.at == CacheLineState::UpI && answer == HostAnswer::GoE && left.may_store() && !whole {
            let found = format!("{} without bytes and without a store of the whole line", left.name());
            say("COH-REQ-28", line, found, "all 64 B written, or the E given up");
        }
        let weak = [Op::WOWrInv, Op::WOWrInvF].contains(&entry.op);
        if weak && answer != HostAnswer::ExtCmp && entry.at != CacheLineState::WrExt && left == CacheLineState::I {
            let found = format!("{} ended by {}", entry.op.name().unwrap_or("?"), answer.name());
            say("COH-REQ-23", line, found, "ExtCmp as well, before or after");
        }
    }

    fn filled(&self, line: LineAddr, say: &mut impl FnMut(&'static str, LineAddr, String, &str)) {
        let (at, left) = (self.before.at(line), self.after.at(line));
        let cached = left.is_stable() && left != CacheLineState::I;
        if at == CacheLineState::RdWait && (left.may_load() || cached) {
            let found = format!("{} with the data, before the GO", left.name());
            say("COH-REQ-20", line, found, "at most one use before the GO");
        }
        if at == CacheLineState::RdOnce && cached {
            say(
                "COH-REQ-18",
                line,
                format!("{} after an error or a lost grant", left.name()),
                "one use, and no cached copy",
            );
        }
    }

    fn issued(&self, op: Op, line: LineAddr, say: &mut impl FnMut(&'static str, LineAddr, String, &str)) {
        if !self.out.sends.iter().any(|(_, m)| matches!(m, Msg::D2hReq { .. })) {
            return;
        }
        let name = op.name().unwrap_or("?");
        let at = self.before.at(line);
        if self.before.is_flushing() || op == Op::CacheFlushed && self.before.lines().next().is_some() {
            let found = format!("{name} with {} lines held or asked for", self.before.lines().count());
            say("COH-REQ-27", line, found, "CacheFlushed when the whole cache is in I and all accesses are answered");
        } else if op == Op::CacheFlushed {
        } else if !at.is_stable() {
            say("COH-ORD-11", line, format!("{name} in {}", at.name()), "one request per line at a time");
        } else if let Some(row) = requests::request(op)
            && !row.starts.iter().any(|(start, _)| *start == at)
        {
            say(row.rule, line, format!("{name} issued in {}", at.name()), "a start state of its table row");
        }
    }
}
