//! What a home may make of one message (`coherence` §2.2, §2.3, §2.6 to §2.9): snoops, grants, tracking and memory, seen
//! from outside, before and after.

use crate::agent::{AgentOutput, AgentPort};
use crate::cache::backing::Backing;
use crate::cache::home::{Holders, HomeAgent, HomeTransaction, Phase, Task};
use crate::cache::requests::{self, Snooped};
use crate::cache::snoops::{self, Left};
use crate::cache::state::{HostAnswer, Snoop};
use crate::config::CoherenceConfig;
use crate::content::{LineAddr, LineContent};
use crate::event::CoherenceEvent;
use crate::ids::IdSet;
use crate::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode as Op, D2hRspOpcode as Rsp};

/// The home before and after a message, with what left it.
#[derive(Debug)]
pub struct HomeWatch<'a, D, B> {
    /// Before.
    pub before: &'a HomeAgent<D, B>,
    /// What it sent and reported.
    pub out: &'a AgentOutput<D>,
    /// After.
    pub after: &'a HomeAgent<D, B>,
}

const EVICTS: [Op; 3] = [Op::CleanEvict, Op::DirtyEvict, Op::CleanEvictNoData];

/// Whether an answer under the CQID of the request is still to come. A pull by GO is the last one of its request: while
/// the data is under way the device may have asked again under the same CQID.
fn owes_answer<D>(t: &HomeTransaction<D>) -> bool {
    match t.phase {
        Phase::Pulling { .. } | Phase::Storing { ends: true } => {
            matches!(t.task, Task::Request { op: Op::WrInv | Op::WOWrInv | Op::WOWrInvF, .. })
        }
        Phase::Snooping | Phase::Fetching | Phase::Storing { ends: false } | Phase::Answered | Phase::GoFollows(_) => {
            true
        }
    }
}

impl<D: LineContent, B: Backing<D>> HomeWatch<'_, D, B> {
    /// The rules that the step breaks.
    pub fn check(&self, config: &CoherenceConfig, port: AgentPort, msg: &Msg<D>, events: &mut Vec<CoherenceEvent>) {
        let mut say = |rule, line: LineAddr, found: String, expected: &str| {
            events.push(CoherenceEvent::new(rule, line, "home", found, expected));
        };
        if let Msg::D2hReq { opcode, line, cqid } = *msg {
            self.requested(config, (port, opcode, line, cqid), &mut say);
        }
        if !self.out.events.is_empty() {
            return;
        }
        match *msg {
            Msg::D2hRsp { opcode, uqid } => {
                if let Some(t) = self.transaction(uqid) {
                    self.snoop_answered(port, opcode, t, &mut say);
                }
            }
            Msg::D2hData { uqid, .. } => {
                if let Some(t) = self.transaction(uqid) {
                    match t.phase {
                        Phase::Pulling { expected } if t.port == port => {
                            self.pulled(config, expected, t, msg, &mut say);
                        }
                        _ => self.forwarded(t, t.late_answer(port), &mut say),
                    }
                }
            }
            Msg::S2mNdr { tag, .. } => {
                let stores =
                    |t: &&HomeTransaction<D>| u16::from(t.slot) == tag && t.phase == Phase::Storing { ends: true };
                if let Some(t) = self.before.open().iter().find(stores)
                    && let Task::Request { op, cqid } = t.task
                {
                    self.ended(t, op, cqid, &mut say);
                }
            }
            _ => {}
        }
        self.check_tracking(port, msg, &mut say);
        self.check_grants(port, msg, &mut say);
    }

    fn transaction(&self, uqid: u16) -> Option<&HomeTransaction<D>> {
        self.before.open().iter().find(|t| u16::from(t.slot) == uqid >> 4)
    }

    /// H2D Rsp to a port: (CQID, what).
    fn answers(&self, to: AgentPort) -> impl Iterator<Item = (u16, HostAnswer)> {
        self.out.sends.iter().filter_map(move |(port, m)| match m {
            Msg::H2dRsp { opcode, rsp_data, cqid } if *port == to => Some((*cqid, HostAnswer::of(*opcode, *rsp_data)?)),
            _ => None,
        })
    }

    fn requested(
        &self,
        config: &CoherenceConfig,
        (port, op, line, cqid): (AgentPort, Op, LineAddr, u16),
        say: &mut impl FnMut(&'static str, LineAddr, String, &str),
    ) {
        let name = op.name().unwrap_or("?");
        let Some(row) = requests::request(op) else { return };
        let refused = self.out.events.iter().any(|e| e.rule != "COH-BIA-10");
        let ignored = self.out.events.is_empty() && self.out.sends.is_empty() && self.before == self.after;
        if refused || ignored && op != Op::CacheFlushed {
            say(
                "COH-REQ-16",
                line,
                format!("{name} refused"),
                "a request accepted although a snoop in flight has lowered its sender's state",
            );
        }
        let of_line = |home: &HomeAgent<D, B>| home.open().iter().filter(|t| t.line == line).count();
        // A device may ask again under the CQID of a write whose data is under way.
        let is_new = |t: &HomeTransaction<D>| {
            t.port == port && t.task == Task::Request { op, cqid } && !self.before.open().contains(t)
        };
        let answered = self.out.sends.iter().any(|(to, m)| {
            *to == port && matches!(m, Msg::H2dRsp { cqid: id, .. } | Msg::H2dData { cqid: id, .. } if *id == cqid)
        });
        let started = answered || self.after.open().iter().any(is_new);
        if of_line(self.after) > of_line(self.before).max(1) || started && of_line(self.before) > 0 {
            say("COH-HOM-01", line, format!("{name} started beside an open transaction"), "one transaction per line");
            let pulling = |t: &HomeTransaction<D>| {
                t.line == line && matches!(t.phase, Phase::Pulling { .. } | Phase::GoFollows(_))
            };
            if self.before.open().iter().any(pulling) {
                let found = format!("{name} started before the data of a pull, or a GO, had arrived");
                say(
                    "COH-HOM-05",
                    line,
                    found,
                    "a line released by GO and data of a read, or by the last data of a pull",
                );
            }
        }
        // A snoop names its transaction, which may be that of a request that waited and goes on now.
        let of_other = |uqid: u16| self.after.open().iter().any(|t| u16::from(t.slot) == uqid >> 4 && t.port != port);
        let sent = self.out.sends.iter().filter_map(|(to, m)| match m {
            Msg::H2dReq { opcode, line: of, uqid } if *of == line && !of_other(*uqid) => {
                Some((*to, Snoop::of(*opcode)?))
            }
            _ => None,
        });
        let sent: Vec<(AgentPort, Snoop)> = sent.collect();
        let holders = self.before.holders(line);
        let (kind, targets) = match row.snooped {
            _ if config.error_of(line).is_some() => (None, IdSet::EMPTY),
            Snooped::Nobody => (None, IdSet::EMPTY),
            Snooped::Owner(snoop) => (Some(snoop), holders.owner()),
            Snooped::Everybody(snoop) => (Some(snoop), holders.all()),
        };
        let snooped: IdSet = sent.iter().map(|(to, _)| *to).collect();
        let missing = targets.without(port).minus(&snooped);
        if started && !missing.is_empty() {
            let found = format!("{name} served without a snoop of {}", missing.named("device"));
            say("COH-HOM-02", line, found, "a snoop of the owner, and for ownership of every sharer");
        }
        if started && snooped.has(port) {
            say("COH-HOM-02", line, format!("device {port} snooped for its own {name}"), "a snoop of others only");
        }
        for (_, snoop) in sent.iter().filter(|(_, snoop)| started && Some(*snoop) != kind) {
            let found = format!("Snp{} for {name}", snoop.name());
            say("COH-SNP-16", line, found, "SnpCur for RdCurr, SnpData to share, SnpInv for ownership");
        }
    }

    fn snoop_answered(
        &self,
        port: AgentPort,
        rsp: Rsp,
        t: &HomeTransaction<D>,
        say: &mut impl FnMut(&'static str, LineAddr, String, &str),
    ) {
        let Some(reading) = snoops::reading(rsp) else { return };
        let line = t.line;
        let name = rsp.name().unwrap_or("?");
        let (was, now) = (self.before.holders(line), self.after.holders(line));
        // A request of the same port that waited may have been served in this step.
        if self.answers(port).next().is_none() {
            let right = match reading.left {
                Left::Nothing => !now.all().has(port),
                Left::Shared => now.sharers.has(port) && now.owner != Some(port),
                Left::Same => now.all().has(port) == was.all().has(port) && now.owner == was.owner,
            };
            if !right {
                let found = format!("{now} after {name} of device {port}");
                say(
                    "COH-HOM-04",
                    line,
                    found,
                    "no copy tracked after RspI*, a sharer after RspS*, no change after RspV*",
                );
                if rsp == Rsp::RspSFwdM {
                    let found = format!("device {port} not tracked as sharer after RspSFwdM");
                    say("COH-SNP-15", line, found, "S tracked, whatever the device has kept");
                }
            }
        }
        self.forwarded(t, Some(rsp), say);
    }

    /// A line that a snoop brought, or its answer: what it does to memory.
    fn forwarded(
        &self,
        t: &HomeTransaction<D>,
        rsp: Option<Rsp>,
        say: &mut impl FnMut(&'static str, LineAddr, String, &str),
    ) {
        let request = matches!(t.task, Task::Request { .. });
        if !request || self.before.memory.read(t.line) == self.after.memory.read(t.line) {
            return;
        }
        if rsp == Some(Rsp::RspVFwdV) {
            say("COH-SNP-14", t.line, "memory written with the data of RspVFwdV".into(), "data to the requester only");
        } else if t.phase == Phase::Answered {
            say(
                "COH-HOM-03",
                t.line,
                "dirty data written to memory after the GO".into(),
                "dirty data in memory before the GO",
            );
        }
    }

    /// The data of a pull: what memory holds then, and the end of the request.
    fn pulled(
        &self,
        config: &CoherenceConfig,
        expected: bool,
        t: &HomeTransaction<D>,
        msg: &Msg<D>,
        say: &mut impl FnMut(&'static str, LineAddr, String, &str),
    ) {
        let Msg::D2hData { bogus, data, enables, .. } = msg else { return };
        let Task::Request { op, cqid } = t.task else { return };
        let line = t.line;
        let name = op.name().unwrap_or("?");
        let (was, now) = (self.before.memory.read(line), self.after.memory.read(line));
        let mut right = was.clone();
        let (rules, text): (&[&'static str], &str) = match (op, expected, bogus) {
            _ if config.error_of(line).is_some() || t.refused.is_some() => {
                (&["COH-REQ-24"], "data of a refused request is dropped")
            }
            (Op::DirtyEvict, true, false) => {
                right = data.clone();
                (&["COH-EVT-01"], "the owner's data in memory")
            }
            (Op::CleanEvict, _, _) => (&["COH-EVT-04"], "clean data is not written"),
            (Op::DirtyEvict, _, true) => (&["COH-BOG-03", "COH-EVT-02"], "bogus data is dropped"),
            (Op::DirtyEvict, false, false) => (&["COH-EVT-03"], "data of a device that holds nothing is dropped"),
            _ => {
                right.merge(data, *enables);
                (&["COH-REQ-26"], "the enabled bytes, and no other, written")
            }
        };
        // Poison is judged with the value that the line has then.
        let differs = now.clone().poisoned(right.is_poisoned()) != right;
        for &rule in rules.iter().filter(|_| differs) {
            let found = format!("memory has {now} after the data of {name}");
            say(rule, line, found, text);
        }
        // A memory behind a port has to have the data first.
        let stores = |now: &HomeTransaction<D>| now.slot == t.slot && now.phase == Phase::Storing { ends: true };
        if !self.after.open().iter().any(stores) {
            self.ended(t, op, cqid, say);
        }
    }

    /// The data of a write is in: its last answer has to leave.
    fn ended(
        &self,
        t: &HomeTransaction<D>,
        op: Op,
        cqid: u16,
        say: &mut impl FnMut(&'static str, LineAddr, String, &str),
    ) {
        let (rule, text) = match op {
            Op::WrInv => ("COH-REQ-22", "GO when the data is in"),
            Op::WOWrInv | Op::WOWrInvF => ("COH-REQ-23", "ExtCmp when the data is in"),
            _ => return,
        };
        if !self.answers(t.port).any(|(id, _)| id == cqid) {
            say(rule, t.line, format!("nothing after the data of {}", op.name().unwrap_or("?")), text);
        }
    }

    /// Nobody leaves the directory but by an answer to a snoop, its own request, or the GO of its evict.
    fn check_tracking(
        &self,
        port: AgentPort,
        msg: &Msg<D>,
        say: &mut impl FnMut(&'static str, LineAddr, String, &str),
    ) {
        for (line, was) in self.before.directory() {
            for p in &was.all().minus(&self.after.holders(line).all()) {
                let found = format!("device {p} no longer tracked");
                let ends = self.answers(p).next().is_some();
                match *msg {
                    _ if ends => {}
                    Msg::D2hReq { opcode, line: of, .. } if p == port && EVICTS.contains(&opcode) && of == line => {
                        say("COH-ORD-12", line, found, "tracking until the final GO of the evict");
                    }
                    Msg::D2hReq { opcode, line: of, .. } if EVICTS.contains(&opcode) && of == line => {
                        let rule = match opcode {
                            Op::DirtyEvict => "COH-EVT-02",
                            Op::CleanEvict => "COH-EVT-04",
                            _ => "COH-EVT-05",
                        };
                        let found = format!("device {p} no longer tracked after a stale evict of device {port}");
                        say(rule, line, found, "no change for any other device");
                    }
                    Msg::D2hReq { .. } if p == port => {}
                    Msg::D2hRsp { opcode, .. }
                        if p == port && snoops::reading(opcode).is_some_and(|r| r.left == Left::Nothing) => {}
                    // HOM-04 has said it.
                    Msg::D2hRsp { .. } if p == port => {}
                    _ => say("COH-HOM-06", line, found, "tracking of every holder"),
                }
            }
        }
    }

    /// Answers go to who asked, and who is granted a copy is tracked.
    fn check_grants(&self, port: AgentPort, msg: &Msg<D>, say: &mut impl FnMut(&'static str, LineAddr, String, &str)) {
        for (to, m) in &self.out.sends {
            let (Msg::H2dRsp { cqid, .. } | Msg::H2dData { cqid, .. }) = *m else { continue };
            let asks = |t: &&HomeTransaction<D>| {
                t.port == *to && matches!(t.task, Task::Request { cqid: id, .. } if id == cqid)
            };
            let mut open = self.before.open().iter().filter(|t| owes_answer(t)).filter(asks);
            let own = match *msg {
                Msg::D2hReq { line, cqid: id, .. } if port == *to && id == cqid => Some(line),
                _ => None,
            };
            let line = own.or_else(|| open.next().map(|t| t.line)).or_else(|| self.before.waiting(*to, cqid));
            let Some(line) = line else {
                let found = format!("{} for CQID {cqid} to device {to}", m.label());
                let line = msg.line().unwrap_or(LineAddr(0));
                say("COH-CID-05", line, found, "an answer to the device that used this CQID");
                continue;
            };
            let Msg::H2dRsp { opcode, rsp_data, .. } = *m else { continue };
            let Holders { owner, sharers } = self.after.holders(line);
            let tracked = match HostAnswer::of(opcode, rsp_data) {
                Some(HostAnswer::GoS) => sharers.has(*to) || owner == Some(*to),
                Some(HostAnswer::GoE | HostAnswer::GoM) => owner == Some(*to),
                _ => true,
            };
            if !tracked {
                let found = format!("{} to device {to}, and {} at home", m.label(), self.after.holders(line));
                say("COH-HOM-06", line, found, "tracking that has the grant");
            }
        }
    }
}
