//! The way to a fault as a trace and as waves, as steps in words, and as a script that can be followed again.
//!
//! Modelled: each step of the way is one nanosecond. Each agent has two places, `takes` and `sends`: a message stands where it is sent in the
//! step in which it leaves, delivered or not, and where it is taken in the step in which it arrives. Detail: fields of 256B flits; data
//! is the age of the value in every byte ([`LineContent::bytes`](scalepool_coherence::content::LineContent::bytes)). Left out: links and
//! flits, of which an exploration knows nothing; classes of messages that an agent neither takes nor sends.
//!
//! A walk: [`WayPlaces::new`] names the places; [`WayPlaces::record`] writes the steps into them; a sink takes them from the hub as in
//! any run. [`told_steps`] has the steps in words. [`Counterexample::script`] has the words that [`play`](crate::flows::play) follows, to
//! the same event.

use crate::explore::{ChartStep, Counterexample};
use scalepool_coherence::chart::SentMessage;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxl256::code::{H2dRspOpcode, M2sReqOpcode};
use scalepool_protocols::cxl::message::{Message, MessageForm, MessageIdentifier};
use scalepool_protocols::wire::{At, LayoutDef, Violation};
use scalepool_trace::{Body, Hub, PlaceKind, RecordKind, Stamp, Tap};

/// Time of a step \[fs\].
pub const STEP_FS: u64 = 1_000_000;

/// Place of the broken rule.
const FINDINGS: &str = "broken";

/// Whether an agent takes a message or sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessageMove {
    Takes,
    Sends,
}

/// What an agent takes or sends of one layout.
#[derive(Debug)]
struct AgentPlace {
    agent: usize,
    passing: MessageMove,
    layout: &'static LayoutDef,
    tap: Tap,
}

/// Places of the messages of a way.
#[derive(Debug)]
pub struct WayPlaces {
    messages: Vec<AgentPlace>,
    /// What agents begin by themselves, of those that do.
    acts: Vec<Option<Tap>>,
    findings: Tap,
}

impl WayPlaces {
    /// The places of the agents, named as their columns, blanks as underscores. Those of messages are there for what passes on the way.
    pub fn new(way: &Counterexample, hub: &mut Hub) -> WayPlaces {
        let names: Vec<String> = way.columns.iter().map(|name| name.replace(' ', "_")).collect();
        let mut messages: Vec<AgentPlace> = Vec::new();
        for (agent, passing, message) in way.steps.iter().flat_map(passes) {
            let Ok((layout, _)) = message.spell(MessageForm::Hbr) else { continue };
            if !messages.iter().any(|at| at.is_of(agent, passing, layout)) {
                let name = names.get(agent).map_or("", String::as_str);
                let what = if passing == MessageMove::Takes { "takes" } else { "sends" };
                let all = MessageForm::Hbr.layouts();
                let at = all.iter().position(|of| std::ptr::eq(*of, layout));
                let tap = hub.tap(&format!("{name}.{what}"), PlaceKind::Messages(at.map_or(&[], |at| &all[at..=at])));
                messages.push(AgentPlace { agent, passing, layout, tap });
            }
        }
        let acts = |n: usize| way.steps.iter().any(|step| matches!(step, ChartStep::Act { agent, .. } if *agent == n));
        let act = |(n, name): (usize, &String)| acts(n).then(|| hub.tap(name, PlaceKind::Messages(&[])));
        let acts = names.iter().enumerate().map(act).collect();
        WayPlaces { messages, acts, findings: hub.tap(FINDINGS, PlaceKind::Findings) }
    }

    /// Writes the way into the places of its agents, the broken rule behind the last step.
    pub fn record(&mut self, way: &Counterexample) {
        let at = |step: usize| Stamp { t_fs: (step as u64 + 1) * STEP_FS, cycle: step as u64 + 1 };
        for (n, step) in way.steps.iter().enumerate() {
            if let ChartStep::Act { agent, .. } = step
                && let Some(Some(tap)) = self.acts.get_mut(*agent)
            {
                tap.record(at(n), RecordKind::Mark, 0, 0, || Body::None);
            }
            for (agent, passing, message) in passes(step) {
                let Ok((layout, bits)) = message.spell(MessageForm::Hbr) else { continue };
                let Some(place) = self.messages.iter_mut().find(|at| at.is_of(agent, passing, layout)) else {
                    continue;
                };
                let kind = if passing == MessageMove::Takes { RecordKind::Mark } else { RecordKind::Begin };
                let data = message.data().map(|data| data.line.to_vec());
                place.tap.record(at(n), kind, 0, 0, || Body::Message { layout, bits, data });
            }
        }
        let event = &way.event;
        let broken = Violation {
            rule: event.rule,
            at: event.line.map_or(At::Message, |line| At::Line(line.address())),
            found: event.found.clone(),
            expected: event.expected.clone(),
            text: event.to_string(),
        };
        self.findings.record(at(way.steps.len()), RecordKind::Violation, 0, 0, || Body::Violation(broken));
    }
}

impl AgentPlace {
    fn is_of(&self, agent: usize, passing: MessageMove, layout: &LayoutDef) -> bool {
        self.agent == agent && self.passing == passing && std::ptr::eq(self.layout, layout)
    }
}

/// The message that is taken in a step and those that are sent, each with its agent.
fn passes(step: &ChartStep) -> impl Iterator<Item = (usize, MessageMove, &Message)> {
    let (taken, sent) = match step {
        ChartStep::Act { sent, .. } => (None, sent),
        ChartStep::Deliver { to, message, sent, .. } => (Some((*to, MessageMove::Takes, message)), sent),
    };
    taken.into_iter().chain(sent.iter().map(|sent| (sent.from, MessageMove::Sends, &sent.message)))
}

/// A step in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldStep {
    /// The agent that does it, or that from which a message arrives and that which takes it.
    pub place: String,
    /// What is done or taken, with its line, and what is sent.
    pub said: String,
}

/// The steps of a way in words.
pub fn told_steps(way: &Counterexample) -> Vec<ToldStep> {
    let mut lines = OpenLines::default();
    way.steps.iter().map(|step| told(way, step, &mut lines)).collect()
}

fn told(way: &Counterexample, step: &ChartStep, lines: &mut OpenLines) -> ToldStep {
    let column = |n: usize| way.columns.get(n).map_or("?", String::as_str);
    let (place, line, mut said, sent) = match step {
        ChartStep::Act { agent, text, line, sent } => {
            let line = line.map(|line| format!("line {:#x}", line.address()));
            let said = [Some(text.clone()).filter(|text| !text.is_empty()), line.clone()];
            (column(*agent).to_owned(), line, said.into_iter().flatten().collect::<Vec<_>>().join(", "), sent)
        }
        ChartStep::Deliver { from, to, label, message, did, sent } => {
            let line = lines.of(*from, *to, message);
            let said =
                [Some(format!("{label} arrives")), line.clone()].into_iter().flatten().chain(did.iter().cloned());
            let place = format!("{} > {}", column(*from), column(*to));
            (place, line, said.collect::<Vec<_>>().join(", "), sent)
        }
    };
    let mut before = None;
    for SentMessage { from, to, label, message } in sent {
        let of = lines.of(*from, *to, message).filter(|of| line.as_ref() != Some(of));
        let of = of.map_or_else(String::new, |of| format!(" of {of}"));
        // Of several to one peer the names are not said again.
        said += &match before == Some((from, to)) {
            true => format!(" and {label}{of}"),
            false => format!("; {} sends {} {label}{of}", column(*from), column(*to)),
        };
        before = Some((from, to));
    }
    ToldStep { place, said }
}

/// Lines of transactions that are open: what has no address belongs to a message that had one.
#[derive(Debug, Default)]
struct OpenLines(OrderedMap<((usize, usize), MessageIdentifier, u16), String>);

impl OpenLines {
    /// The line of a message between two agents, in words.
    fn of(&mut self, from: usize, to: usize, message: &Message) -> Option<String> {
        let between = (from.min(to), from.max(to));
        let (identifier, number) = message.identifier();
        let own = match message {
            Message::D2hReq(req) => Some(req.address),
            Message::H2dReq(req) => Some(req.address),
            Message::M2sReq(req) => Some(req.address),
            Message::M2sRwd(rwd, _) => Some(rwd.address),
            Message::S2mBisnp(snoop) if snoop.opcode.is_block() => {
                // Bits 7:6 name the lines of the block.
                let line = format!("the block at {:#x}", snoop.address & !0xff);
                self.0.insert((between, identifier, number), line.clone());
                return Some(line);
            }
            Message::S2mBisnp(snoop) => Some(snoop.address),
            _ => None,
        };
        let line = match own {
            Some(address) => Some(format!("line {address:#x}")),
            None => self.0.get(&(between, identifier, number)).cloned(),
        }?;
        // A MemRdFwd or MemWrFwd ends a request of CXL.cache and has its number.
        let is_forward = matches!(message, Message::M2sReq(req)
            if [M2sReqOpcode::MemRdFwd, M2sReqOpcode::MemWrFwd].contains(&req.opcode));
        if own.is_some() && !is_forward {
            self.0.insert((between, identifier, number), line.clone());
        }
        // An answer that pulls data names the number with which the data comes.
        if let Message::H2dRsp(rsp) = message
            && ![H2dRspOpcode::GO, H2dRspOpcode::ExtCmp].contains(&rsp.opcode)
        {
            self.0.insert((between, MessageIdentifier::Uqid, rsp.rsp_data), line.clone());
        }
        Some(line)
    }
}
