//! What a DCOH may make of one step (`coherence` §3.1, §3.4, §3.7, §3.8): whom it asks, what it serves, and when an entry
//! of the filter leaves, seen from outside, before and after.

use crate::agent::{AgentOutput, AgentPort};
use crate::config::CoherenceConfig;
use crate::content::{LineAddr, LineContent};
use crate::event::CoherenceEvent;
use crate::ids::IdSet;
use crate::mem::tables::Copy4;
use crate::mem::{Dcoh, DeviceOp, Holders};
use crate::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{DevLoad, M2sReqOpcode, NdrOpcode, SnpType};

/// What happened to the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DcohStep<D> {
    /// A message arrived.
    Took(AgentPort, Msg<D>),
    /// It began an operation on so many lines from this one on.
    Began(DeviceOp, LineAddr, u64),
}

/// The device before and after a step, with what left it.
#[derive(Debug)]
pub struct DcohWatch<'a, D> {
    /// Before.
    pub before: &'a Dcoh<D>,
    /// What it sent and reported.
    pub out: &'a AgentOutput<D>,
    /// After.
    pub after: &'a Dcoh<D>,
    /// Ports with a direct peer behind them.
    pub peers: &'a IdSet,
}

impl<D: LineContent> DcohWatch<'_, D> {
    /// The rules that the step breaks.
    pub fn check(&self, config: &CoherenceConfig, step: &DcohStep<D>, events: &mut Vec<CoherenceEvent>) {
        let mut say = |rule, line: LineAddr, found: String, expected: &str| {
            events.push(CoherenceEvent::new(rule, line, "DCOH", found, expected));
        };
        if !self.out.events.is_empty() {
            return;
        }
        match *step {
            DcohStep::Took(host, Msg::M2sReq { opcode, snp, line, tag, .. })
                if opcode != M2sReqOpcode::MemSpecRd && !config.mem.is_outside(line) =>
            {
                if let Some(block) = self.before.unanswered(line) {
                    let rule = if block { "COH-BLK-05" } else { "COH-SFI-06" };
                    say(rule, line, "a Req served under an open BISnp".into(), "a Req that waits for the BIRsp");
                }
                self.check_asked(config, host, line, snp, &mut say);
                self.check_own(host, line, snp, tag, &mut say);
            }
            DcohStep::Began(op, first, count) => {
                let snp = match op {
                    DeviceOp::ReadOnce | DeviceOp::UioRead => SnpType::SnpCur,
                    DeviceOp::ReadShared => SnpType::SnpData,
                    DeviceOp::ReadOwn | DeviceOp::Reclaim | DeviceOp::UioWrite => SnpType::SnpInv,
                    DeviceOp::Evict => SnpType::NoOp,
                };
                let sent = self.snooped(|_| true);
                for line in (0..count).map(|i| LineAddr(first.0 + i)) {
                    let missing = must_ask(self.before.holders(line), snp).minus(&sent);
                    if !missing.is_empty() {
                        let uio = matches!(op, DeviceOp::UioRead | DeviceOp::UioWrite);
                        let rule = if uio { "COH-UIO-01" } else { "COH-MHO-01" };
                        let found = format!("{op:?} without a BISnp of {}", hosts(&missing));
                        say(rule, line, found, "an answer of every holder that the access concerns");
                    }
                }
            }
            DcohStep::Took(..) => {}
        }
        self.check_filter(step, &mut say);
    }

    /// Ports that were sent a BISnp for such lines.
    fn snooped(&self, of: impl Fn(LineAddr) -> bool) -> IdSet {
        let snoops = self.out.sends.iter().filter(|(_, m)| matches!(m, Msg::S2mBisnp { line, .. } if of(*line)));
        snoops.map(|(port, _)| *port).collect()
    }

    fn check_asked(
        &self,
        config: &CoherenceConfig,
        host: AgentPort,
        line: LineAddr,
        snp: SnpType,
        say: &mut impl FnMut(&'static str, LineAddr, String, &str),
    ) {
        let others = self.before.holders(line).map(|h| h.without(host));
        let (must, sent) = (must_ask(others, snp), self.snooped(|l| l == line));
        let (missing, extra) = (must.minus(&sent), sent.minus(&must));
        let name = snp.name().unwrap_or("?");
        let sharing = snp == SnpType::SnpData;
        if !missing.is_empty() {
            let found = format!("{name} of host {host} served without a BISnp of {}", hosts(&missing));
            let rule = if sharing { "COH-MHO-02" } else { "COH-MHO-01" };
            say(rule, line, found.clone(), "an answer of every other holder, or to share only of the owner");
            let grants = |m: &Msg<D>| matches!(m, Msg::S2mNdr { opcode, .. } if *opcode != NdrOpcode::Cmp);
            if self.out.sends.iter().any(|(to, m)| *to == host && grants(m)) {
                say(
                    "COH-MEM-46",
                    line,
                    found.clone(),
                    "no other owner under Cmp-S, no other holder under Cmp-E or Cmp-M",
                );
            }
            if missing.meets(self.peers) {
                say("COH-P2P-01", line, found.clone(), "a BISnp of the direct peer as of any holder");
            }
            if self.before.load(config) != DevLoad(0) {
                say("COH-QOS-04", line, found, "the same snoops whatever the load");
            }
        }
        if !extra.is_empty() {
            let found = format!("a needless BISnp of {} for {name} of host {host}", hosts(&extra));
            let rule = if sharing { "COH-MHO-02" } else { "COH-SFI-09" };
            say(rule, line, found, "a BISnp only where it is needed (lint)");
        }
    }

    /// SnpType is a duty of the device's own cache, done when the request is answered.
    fn check_own(
        &self,
        host: AgentPort,
        line: LineAddr,
        snp: SnpType,
        tag: u16,
        say: &mut impl FnMut(&'static str, LineAddr, String, &str),
    ) {
        let answered =
            |(to, m): &(AgentPort, Msg<D>)| *to == host && matches!(m, Msg::S2mNdr { tag: t, .. } if *t == tag);
        let left = self.after.own(line).map_or(Copy4::I, |o| o.0);
        if self.out.sends.iter().any(answered) && !may_keep(snp, left) {
            let found = format!("{} in the device's cache after {}", left.letter(), snp.name().unwrap_or("?"));
            say("COH-MEM-02", line, found, "I after SnpInv, S or I after SnpData");
        }
    }

    /// An entry with holders leaves after the answers of all of them.
    fn check_filter(&self, step: &DcohStep<D>, say: &mut impl FnMut(&'static str, LineAddr, String, &str)) {
        for entry in self.before.filter().iter().filter(|e| self.after.holders(e.line).is_none()) {
            let answered = match step {
                DcohStep::Took(host, Msg::M2sBirsp { .. }) => Some(*host),
                DcohStep::Took(host, msg) if msg.line() == Some(entry.line) => Some(*host),
                _ => None,
            };
            // Whose request says that it holds nothing has said so itself: a copy may go without a message (`coherence` §3.1).
            let gave_up = self.before.gives_up(entry.line).filter(|_| self.after.gives_up(entry.line).is_none());
            let silent = answered.into_iter().chain(gave_up).fold(entry.holders.all(), IdSet::without);
            if silent.is_empty() {
                continue;
            }
            let found = format!("its filter entry removed without an answer of {}", hosts(&silent));
            say("COH-SFI-01", entry.line, found, "BIRspI of every holder first");
            let ends = |m: &Msg<D>| matches!(m, Msg::S2mNdr { .. } | Msg::S2mDrs { .. });
            if self.out.sends.iter().any(|(_, m)| ends(m)) {
                let found = "a request completed before the victim's answer".into();
                say("COH-SFI-07", entry.line, found, "the victim's BIRspI, then the completion");
            }
        }
    }
}

/// Hosts in words.
fn hosts(set: &IdSet) -> String {
    set.named("host")
}

/// Whether a device cache may be left so by a request with this SnpType.
pub(super) fn may_keep(snp: SnpType, left: Copy4) -> bool {
    match snp {
        SnpType::SnpInv => left == Copy4::I,
        SnpType::SnpData => left <= Copy4::S,
        _ => true,
    }
}

/// Holders that a snoop of this kind concerns.
fn must_ask(holders: Option<Holders>, snp: SnpType) -> IdSet {
    match (snp, holders) {
        (SnpType::SnpInv, Some(any)) => any.all(),
        (SnpType::SnpData | SnpType::SnpCur, Some(owner @ Holders::Owner(_))) => owner.all(),
        _ => IdSet::EMPTY,
    }
}
