//! A bridge of somebody else, watched from both sides.
//!
//! Modelled: each message at the four points of the bridge is compared with what a [reference model](super::model) does with the same
//! requests and answers. Requests in order: a message that leaves before its turn is one that the model has not sent. Conservation: each
//! request is answered once, and nothing is left at the end. Identifiers: tags of the bridge are its own choice, but none is used twice
//! at once; what was sent, its port, address, fields, data, enables and poison are compared. Left out: when something leaves, credits of
//! links, responses in single beats, the order of strict responses. The load that a target reports is not compared.
//!
//! A walk: a read of two lines comes; the model expects two MemRd; the bridge sends the second one first, with tag 9: it is found, and tag 9
//! stands for that of the model; the answer with tag 9 is given to the model; when both are answered the model expects the response.

use super::config::ReferenceConfig;
use super::message::{BridgeMessage, CxlMessage};
use super::model::{BridgeEvent, BridgePoint, ReferenceBridge, ReferenceError};
use scalepool_coherence::message::Msg;
use scalepool_protocols::cxl::cxl256::code::DevLoad;
use scalepool_protocols::ualink::control::ControlField;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

/// Most expectations that a finding lists.
const SHOWN: usize = 2;

/// Something that a bridge has done wrong, or one beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScoreboardFinding {
    /// The rule.
    pub rule: &'static str,
    /// Number of the message at which it was found, from 0; behind the last one: at the end.
    pub message: u64,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

impl ScoreboardFinding {
    /// As JSON.
    pub fn to_json(&self) -> Value {
        json!({ "rule": self.rule, "message": self.message, "found": self.found, "expected": self.expected })
    }
}

/// The scoreboard of one half of a bridge.
pub struct BridgeScoreboard {
    model: ReferenceBridge,
    /// What has still to leave.
    expected: Vec<BridgeEvent>,
    /// Tags of the model, by port and tag of the bridge.
    tags: BTreeMap<(usize, u16), u16>,
    findings: VecDeque<ScoreboardFinding>,
    /// Messages that have passed.
    passed: u64,
}

/// A message without what bridges may choose.
fn compared(message: &BridgeMessage) -> BridgeMessage {
    let mut message = message.clone();
    match &mut message {
        BridgeMessage::Cxl(CxlMessage { msg, .. }) => {
            if let Msg::S2mNdr { devload, .. } | Msg::S2mDrs { devload, .. } = msg {
                *devload = DevLoad(0);
            }
        }
        // Caches of addresses and pools of credits belong to the link.
        BridgeMessage::Upli(transfer) => match &mut transfer.field {
            ControlField::Request(req) => (req.cway, req.cload, req.pool) = (0, false, false),
            ControlField::Response(rsp) => rsp.pool = false,
            _ => (),
        },
        BridgeMessage::Nvlink(_) => (),
    }
    message
}

impl BridgeScoreboard {
    /// A scoreboard for a bridge with nothing under way.
    pub fn new(config: ReferenceConfig) -> BridgeScoreboard {
        BridgeScoreboard {
            model: ReferenceBridge::new(config),
            expected: Vec::new(),
            tags: BTreeMap::new(),
            findings: VecDeque::new(),
            passed: 0,
        }
    }

    /// The first finding that was not taken.
    pub fn finding(&self) -> Option<&ScoreboardFinding> {
        self.findings.front()
    }

    /// Takes it.
    pub fn drop_finding(&mut self) {
        self.findings.pop_front();
    }

    fn find(&mut self, rule: &'static str, found: impl Into<String>, expected: impl Into<String>) {
        let (found, expected) = (found.into(), expected.into());
        self.findings.push_back(ScoreboardFinding { rule, message: self.passed, found, expected });
    }

    /// A message passes.
    ///
    /// # Errors
    /// It is none that passes there, or the bridge has taken a request for which its table has no entry.
    pub fn pass(&mut self, event: &BridgeEvent) -> Result<(), ReferenceError> {
        let BridgeEvent { point, port, message } = event;
        match point {
            BridgePoint::Request => {
                let followed = self.model.request(*port, message)?;
                self.expected.extend(followed);
            }
            BridgePoint::Answer => {
                let Some(told) = self.translated(*port, message) else {
                    let found = format!("an answer with tag {:#x} at port {port}", message.tag().unwrap_or(0));
                    self.find("BRG-TAG-02", found, "an answer to something that is open");
                    self.passed += 1;
                    return Ok(());
                };
                let followed = self.model.answer(*port, &told)?;
                self.expected.extend(followed);
            }
            BridgePoint::Sent => self.sent(*port, message),
            BridgePoint::Response => self.responded(*port, message),
        }
        for finding in self.model.take_findings() {
            self.find(finding.rule, finding.found, finding.expected);
        }
        self.passed += 1;
        Ok(())
    }

    /// A message from below with the tag of the model; without a tag as it is.
    fn translated(&self, port: usize, message: &BridgeMessage) -> Option<BridgeMessage> {
        match message.tag() {
            None => Some(message.clone()),
            Some(tag) => {
                let own = self.tags.get(&(port, tag)).filter(|own| self.model.awaits(**own))?;
                Some(message.clone().tagged(*own))
            }
        }
    }

    fn sent(&mut self, port: usize, message: &BridgeMessage) {
        let found = compared(message);
        let place = self.expected.iter().position(|event| {
            let tagged = |tag| compared(&event.message).tagged(tag);
            let same = match message.tag() {
                Some(tag) if event.message.tag().is_some() => tagged(tag) == found,
                _ => compared(&event.message) == found,
            };
            event.point == BridgePoint::Sent && event.port == port && same
        });
        let Some(place) = place else {
            let expected = self.still_expected(BridgePoint::Sent);
            return self.find("BRG-INT-02", shown(port, message), expected);
        };
        let wanted = self.expected.remove(place);
        if let (Some(tag), Some(own)) = (message.tag(), wanted.message.tag()) {
            let before = self.tags.insert((port, tag), own);
            if before.is_some_and(|before| before != own && self.model.awaits(before)) {
                let expected = "a tag under which no answer is to come";
                self.find("BRG-TAG-02", format!("tag {tag:#x} a second time at port {port}"), expected);
            }
        }
    }

    fn responded(&mut self, port: usize, message: &BridgeMessage) {
        let found = compared(message);
        let place = self.expected.iter().position(|event| {
            event.point == BridgePoint::Response && event.port == port && compared(&event.message) == found
        });
        match place {
            Some(place) => {
                self.expected.remove(place);
            }
            None => {
                let expected = self.still_expected(BridgePoint::Response);
                self.find("BRG-INT-02", shown(port, message), expected);
            }
        }
    }

    /// The first messages that have still to leave at a point.
    fn still_expected(&self, point: BridgePoint) -> String {
        let wanted: Vec<String> = self.expected.iter().filter(|event| event.point == point).map(text).collect();
        match wanted.len() {
            0 => format!("nothing at the point `{}` now", point.name()),
            n if n <= SHOWN => wanted.join(" or "),
            n => format!("{} or {} others", wanted[..SHOWN].join(" or "), n - SHOWN),
        }
    }

    /// The end: what has still to leave and what is open is found.
    pub fn finish(&mut self) {
        for event in std::mem::take(&mut self.expected) {
            self.find("BRG-INT-02", format!("no {}", text(&event)), "all that was asked for has left");
        }
        let open = self.model.open();
        if open > 0 {
            self.find("BRG-INT-02", format!("{open} transactions that are open"), "an answer to each request");
        }
    }
}

fn shown(port: usize, message: &BridgeMessage) -> String {
    format!("port {port}: {}", message.to_json())
}

fn text(event: &BridgeEvent) -> String {
    shown(event.port, &event.message)
}
