//! A bridge of somebody else, watched from both sides.
//!
//! Modelled: each message at the four points of the bridge is compared with what a [reference model](super::model) does with the same
//! requests and answers. Requests in order: a message that leaves before its turn is one that the model has not sent; TLPs of one source, and completions of one
//! request, leave one behind the other at their port. Conservation: each
//! request is answered once, and nothing is left at the end. Identifiers: tags of the bridge are its own choice, but none is used twice
//! at once, BITags of its own snoops among them; what was sent, its port, address, fields, data, enables and poison are compared. [Credits](super::credits) of pools that the
//! configuration names. Left out: when something leaves. What says nothing is not compared: the load that a target reports,
//! bytes without an enable, bytes of a response that nobody asked for, the value of a number that is none in what a sum without a cache
//! writes.
//!
//! The model has no stages: it looks a request up at once, and a read that then finds an open read of its line joins that one. A request
//! passes therefore when the bridge has accepted it behind the lookup of its line (the line lock is taken, or the request waits for it
//! or has joined), not when it enters a pipeline; a bench hooks the point where the bridge writes that decision down.
//!
//! For the same reason a snoop passes when the bridge looks up the state of its line. A bridge that gives a line back, by the decision that it
//! has taken before, may still have that message on its way out, and answers as one that gives it back.
//!
//! A walk: a read of two lines comes; the model expects two MemRd; the bridge sends the second one first, with tag 9: it is found, and tag 9
//! stands for that of the model; the answer with tag 9 is given to the model; when both are answered the model expects the response.

use super::config::{BridgeHalf, ReferenceConfig};
use super::credits::{CreditFault, CreditSides, PortCredits};
use super::meaning::{OwedResponse, asker, meant, same_nan};
use super::message::{BridgeMessage, CxlMessage};
use super::model::{BridgeEvent, BridgePoint, ReferenceBridge, ReferenceError};
use super::told::{difference, told};
use scalepool_bridge::outbound::order::BridgeOrder;
use scalepool_coherence::message::Msg;
use scalepool_forms::FormError;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxl256::code::M2sRwdOpcode;
use scalepool_protocols::nvlink::code::Op;
use scalepool_protocols::ualink::code::{RdWr, Status};
use scalepool_protocols::ualink::control::ControlField;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Most expectations that a finding lists.
const SHOWN: usize = 2;

/// Something that a bridge has done wrong, or the memory or accelerator beside it.
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

/// Something that has still to leave.
struct ExpectedEvent {
    event: BridgeEvent,
    /// Its message without what says nothing, as it is compared.
    meant: BridgeMessage,
    /// TLPs of one row leave in their order; `None`: it is no TLP.
    row: Option<TlpRow>,
    /// Bytes of an element, and the bytes of the elements, of a sum of floating point numbers in data for a host, which have no tag.
    sum: Option<(usize, u64)>,
}

/// TLPs of one port that leave in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TlpRow {
    /// Requests of the bridge for one source (`bridge` §6.2, O4).
    Source(u16),
    /// Completions of one request: requester and tag (`bridge` §5.3).
    Request(u16, u16),
}

impl From<BridgeEvent> for ExpectedEvent {
    fn from(event: BridgeEvent) -> ExpectedEvent {
        ExpectedEvent { meant: meant(&event.message), event, row: None, sum: None }
    }
}

impl ExpectedEvent {
    fn is_at(&self, point: BridgePoint, port: usize) -> bool {
        self.event.point == point && self.event.port == port
    }
}

/// The scoreboard of one half of a bridge.
pub struct BridgeScoreboard {
    model: ReferenceBridge,
    /// What has still to leave.
    expected: Vec<ExpectedEvent>,
    /// Tags of the model, of CXL.cache CQIDs, by port and tag of the bridge, as long as an answer under them is to come.
    tags: OrderedMap<(usize, u16), u16>,
    /// The same of BITags, of snoops that the bridge has sent.
    snoop_tags: OrderedMap<(usize, u16), u16>,
    /// What responses have to bring, by port, source and tag of their requests.
    asked: OrderedMap<(usize, u16, u16), Vec<OwedResponse>>,
    credits: PortCredits,
    /// Responses of a source keep the order of its requests.
    is_strict: bool,
    /// Reads of several lines are answered beat by beat.
    single_beat: bool,
    findings: VecDeque<ScoreboardFinding>,
    /// Messages that have passed.
    passed: u64,
}

impl BridgeScoreboard {
    /// A scoreboard for a bridge with nothing under way.
    pub fn new(config: ReferenceConfig) -> BridgeScoreboard {
        let (is_inbound, asking) = match &config.half {
            BridgeHalf::Outbound(half) => (false, Some(&**half)),
            BridgeHalf::Exported(half) => (true, half.hairpin.as_deref()),
            BridgeHalf::Inbound(_) | BridgeHalf::Bar(_) => (true, None),
        };
        let has_hairpin = is_inbound && asking.is_some();
        let is_bar = matches!(config.half, BridgeHalf::Bar(_));
        let sides = CreditSides { protocol: config.protocol, is_inbound, has_hairpin, is_bar, ports: config.ports };
        let is_strict = asking.is_some_and(|half| half.order == BridgeOrder::Sources);
        let single_beat = asking.is_some_and(|half| half.single_beat);
        let credits = PortCredits::new(sides, &config.credits);
        let mut model = ReferenceBridge::new(config);
        model.waits_for_pulled();
        BridgeScoreboard {
            credits,
            is_strict,
            single_beat,
            model,
            expected: Vec::new(),
            tags: OrderedMap::new(),
            snoop_tags: OrderedMap::new(),
            asked: OrderedMap::new(),
            findings: VecDeque::new(),
            passed: 0,
        }
    }

    /// New windows are committed to the bridge, in the JSON form of [`ReferenceBridge::commit`]: whether they are valid now. If not, the
    /// bridge may take no request before it has answered those that it has: before the last of their responses has passed, which the bridge
    /// sends later than the model does.
    ///
    /// # Errors
    /// As there.
    pub fn commit(&mut self, form: &Value) -> Result<bool, FormError> {
        self.model.commit(form)?;
        self.model.hold_commit();
        self.end_commit();
        Ok(!self.model.is_committing())
    }

    /// A commit is done when the model has answered all that came before, and the bridge too.
    fn end_commit(&mut self) {
        let is_owed = |expected: &ExpectedEvent| expected.event.point == BridgePoint::Response;
        if !self.expected.iter().any(is_owed) {
            self.model.release_commit();
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

    fn find_credits(&mut self, faults: impl IntoIterator<Item = CreditFault>) {
        for CreditFault { rule, found, expected } in faults {
            self.find(rule, found, expected);
        }
    }

    /// Credits are given by the receiver of the messages at a point: `{"point":"sent","port":0,"class":"m2s_req","count":4}`.
    ///
    /// # Errors
    /// What is no credit of a pool that the configuration names.
    pub fn credit(&mut self, form: &Value) -> Result<(), FormError> {
        let fault = self.credits.given(form)?;
        self.find_credits(fault);
        Ok(())
    }

    /// A message passes.
    ///
    /// # Errors
    /// It is none that passes there.
    pub fn pass(&mut self, event: &BridgeEvent) -> Result<(), ReferenceError> {
        let spent = self.passed;
        let judged = self.judge(event);
        if judged.is_ok() {
            // It has the number of the message that spends them.
            let behind = std::mem::replace(&mut self.passed, spent);
            let faults = self.credits.passes(event.point, event.port, &event.message);
            self.find_credits(faults);
            self.passed = behind;
        }
        judged
    }

    fn judge(&mut self, event: &BridgeEvent) -> Result<(), ReferenceError> {
        let BridgeEvent { point, port, message } = event;
        match point {
            BridgePoint::Request => {
                let mut renamed = message.clone();
                if let Some(tag) = message.snoop_tag() {
                    let own = self.snoop_tags.remove(&(*port, tag)).filter(|own| self.model.awaits_snoop(*port, *own));
                    let Some(own) = own else {
                        let found = format!("the answer to a snoop with BITag {tag:#x} at port {port}");
                        self.find("BRG-TAG-02", found, "an answer to something that is open");
                        self.passed += 1;
                        return Ok(());
                    };
                    renamed.set_snoop_tag(own);
                }
                match self.model.request(*port, &renamed) {
                    Ok(followed) => self.expects(followed, None),
                    Err(ReferenceError::Full) => {
                        let found =
                            format!("a request for which there is no free entry or buffer, {}", told(*port, message));
                        self.find("BRG-BUF-03", found, "no request that is taken before a response has left");
                        self.passed += 1;
                        return Ok(());
                    }
                    Err(ReferenceError::Epoch) => {
                        let found = format!("a request that is taken while a commit waits, {}", told(*port, message));
                        self.find("BRG-WIN-06", found, "no request before those under the old windows are answered");
                        self.passed += 1;
                        return Ok(());
                    }
                    Err(misplaced) => return Err(misplaced),
                }
                if let Some((source, tag)) = asker(message) {
                    self.asked
                        .entry((*port, source, tag))
                        .or_default()
                        .push(OwedResponse::to(message, self.single_beat));
                }
            }
            BridgePoint::Answer => {
                let Some(told) = self.translated(*port, message) else {
                    let found = format!("an answer with tag {:#x} at port {port}", message.tag().unwrap_or(0));
                    self.find("BRG-TAG-02", found, "an answer to something that is open");
                    self.passed += 1;
                    return Ok(());
                };
                let sum = self.model.float_elements_behind(*port, &told);
                let followed = self.model.answer(*port, &told)?;
                if let (Some(tag), Some(own)) = (message.tag(), told.tag()) {
                    // Behind the last answer the tag is free, even if the model sends its next message under the same one.
                    let is_next = |event: &BridgeEvent| {
                        event.point == BridgePoint::Sent
                            && event.message.tag() == Some(own)
                            && !is_conflict(&event.message)
                    };
                    if !self.model.awaits(*port, own) || followed.iter().any(is_next) {
                        self.tags.remove(&(*port, tag));
                    }
                }
                self.expects(followed, sum);
            }
            BridgePoint::Sent => self.sent(*port, message),
            BridgePoint::Response => self.responded(*port, message),
        }
        self.end_commit();
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
                let own = self.tags.get(&(port, tag)).filter(|own| self.model.awaits(port, **own))?;
                Some(message.clone().tagged(*own))
            }
        }
    }

    /// These have to leave, and data for a host among them may have such a sum.
    fn expects(&mut self, followed: Vec<BridgeEvent>, sum: Option<(usize, u64)>) {
        for event in followed {
            let mut expected = ExpectedEvent::from(event);
            expected.sum = sum.filter(|_| is_host_data(&expected.event.message));
            if let BridgeMessage::Tlp(tlp) = &expected.event.message {
                expected.row = match expected.event.point {
                    BridgePoint::Sent => self.model.take_tlp_source().map(TlpRow::Source),
                    _ => Some(TlpRow::Request(tlp.requester, tlp.tag)),
                };
            }
            self.expected.push(expected);
        }
    }

    fn sent(&mut self, port: usize, message: &BridgeMessage) {
        let mut found = meant(message);
        let is_tagged = message.tag().is_some();
        let model = &self.model;
        let mut is_meant = |expected: &ExpectedEvent| {
            if !expected.is_at(BridgePoint::Sent, port) {
                return false;
            }
            let own = expected.meant.tag().filter(|_| is_tagged);
            if let Some(own) = own {
                found.set_tag(own);
            }
            match own.and_then(|own| model.float_elements(port, own)).or(expected.sum) {
                Some(elements) => {
                    let (mut wanted, mut found) = (expected.meant.clone(), found.clone());
                    same_nan(&mut wanted, elements);
                    same_nan(&mut found, elements);
                    wanted == found
                }
                None => expected.meant == found,
            }
        };
        let places = self.expected.iter().enumerate().filter(|(_, expected)| is_meant(expected)).map(|(n, _)| n);
        // Of TLPs that are alike, such as writes of the same bytes, the one whose turn it is.
        let places: Vec<usize> = places.collect();
        let in_turn = places.iter().copied().find(|place| self.first_of_row(*place) == *place);
        let Some(place) = in_turn.or(places.first().copied()) else {
            let expected = self.still_expected(BridgePoint::Sent, message);
            return self.find("BRG-INT-02", told(port, message), expected);
        };
        self.judge_row(place, "BRG-ORD-04");
        let wanted = self.expected.remove(place).event;
        // A write is done when the data that its host has pulled have left.
        let followed = self.model.left(port, &wanted.message);
        self.expects(followed, None);
        let (Some(tag), Some(own)) = (message.tag(), wanted.message.tag()) else { return };
        if is_conflict(message) {
            // It has the tag of the request that is open, and begins nothing (`bridge` §9.6 R1).
            if self.tags.get(&(port, tag)) != Some(&own) {
                let mut open = self.tags.iter().filter(|((at, _), model)| *at == port && **model == own);
                let expected = match open.next() {
                    Some(((_, tag), _)) => format!("tag {tag:#x}, that of the open request of the line"),
                    None => "the tag of a request of the line that has left".to_owned(),
                };
                self.find("COH-IDS-03", format!("BIConflict with tag {tag:#x} at port {port}"), expected);
            }
            return;
        }
        let before = self.tags.insert((port, tag), own);
        if before.is_some_and(|before| self.model.awaits(port, before)) {
            let expected = "a tag under which no answer is to come";
            self.find("BRG-TAG-02", format!("tag {tag:#x} a second time at port {port}"), expected);
        }
    }

    fn responded(&mut self, port: usize, message: &BridgeMessage) {
        let key = asker(message).map(|(source, tag)| (port, source, tag));
        let asked = key.and_then(|key| self.asked.get(&key)).cloned().unwrap_or_default();
        // Requests of one source with one tag at a time are one; if there are more, the response is that of any.
        let owed = asked.iter().enumerate().map(|(n, owed)| (Some(n), Some(owed)));
        let owed: Vec<_> = if asked.is_empty() { vec![(None, None)] } else { owed.collect() };
        let mut found = meant(message);
        if message.snoop_tag().is_some() {
            return self.snooped(port, message, &mut found);
        }
        for (n, owed) in owed {
            let is_same = |wanted: &BridgeMessage| owed.map_or(*wanted == found, |owed| owed.is_same(&found, wanted));
            let is_meant = |event: &ExpectedEvent| event.is_at(BridgePoint::Response, port) && is_same(&event.meant);
            let place = self.expected.iter().position(is_meant);
            let Some(place) = place else { continue };
            self.judge_order(place);
            self.judge_row(place, "BRG-MAP-59");
            self.expected.remove(place);
            if let (Some(key), Some(n)) = (key, n) {
                self.left(key, n, message);
            }
            return;
        }
        let expected = self.still_expected(BridgePoint::Response, message);
        // A second response, or one to a posted request: whatever it says is one too many.
        let rule = match () {
            () if isolates(message) => "BRG-ERR-25",
            () if key.is_some() && asked.is_empty() => "BRG-INT-03",
            () => "BRG-INT-02",
        };
        self.find(rule, told(port, message), expected);
    }

    /// A response to a request leaves; behind the last one nothing is owed to it.
    fn left(&mut self, key: (usize, u16, u16), n: usize, message: &BridgeMessage) {
        let Some(asked) = self.asked.get_mut(&key) else { return };
        let Some((is_right, is_last)) = asked.get_mut(n).map(|owed| owed.leaves(message)) else { return };
        if is_last {
            asked.remove(n);
        }
        if asked.is_empty() {
            self.asked.remove(&key);
        }
        if !is_right {
            let expected = if is_last { "LAST: no other one follows" } else { "no LAST: other ones follow" };
            self.find("BRG-RSP-03", told(key.0, message), expected);
        }
    }

    /// A snoop leaves for one who holds a line: its BITag is the bridge's own choice.
    fn snooped(&mut self, port: usize, message: &BridgeMessage, found: &mut BridgeMessage) {
        let place = self.expected.iter().position(|expected| {
            expected.meant.snoop_tag().is_some_and(|own| {
                found.set_snoop_tag(own);
                expected.is_at(BridgePoint::Response, port) && expected.meant == *found
            })
        });
        let Some(place) = place else {
            let expected = self.still_expected(BridgePoint::Response, message);
            return self.find("BRG-INT-02", told(port, message), expected);
        };
        let wanted = self.expected.remove(place).event.message;
        let (Some(tag), Some(own)) = (message.snoop_tag(), wanted.snoop_tag()) else { return };
        let before = self.snoop_tags.insert((port, tag), own);
        if before.is_some_and(|before| self.model.awaits_snoop(port, before)) {
            let expected = "a BITag under which no answer is to come";
            self.find("BRG-TAG-02", format!("BITag {tag:#x} a second time at port {port}"), expected);
        }
    }

    /// The first TLP that has still to leave in the row of one; of what is no TLP, itself.
    fn first_of_row(&self, place: usize) -> usize {
        let ExpectedEvent { event: BridgeEvent { point, port, .. }, row, .. } = &self.expected[place];
        let is_of_row = |other: &ExpectedEvent| row.is_some() && other.row == *row && other.is_at(*point, *port);
        self.expected[..place].iter().position(is_of_row).unwrap_or(place)
    }

    /// TLPs of one row leave in their order.
    fn judge_row(&mut self, place: usize, rule: &'static str) {
        let first = self.first_of_row(place);
        if first != place {
            let [found, expected] = [place, first].map(|n| text(&self.expected[n].event));
            self.find(rule, found, format!("first {expected}"));
        }
    }

    /// In strict order a response leaves behind those of its source and channel whose requests came before.
    fn judge_order(&mut self, place: usize) {
        let ExpectedEvent { event: BridgeEvent { port, message, .. }, .. } = &self.expected[place];
        let (port, own, of) = (*port, asker(message), channel(message));
        // Beats of one read leave as they come.
        let is_before = |other: &&ExpectedEvent| {
            let message = &other.event.message;
            let is_other = !self.single_beat || asker(message) != own;
            is_other && other.is_at(BridgePoint::Response, port) && channel(message) == of
        };
        let Some(first) = self.expected[..place].iter().find(is_before).filter(|_| self.is_strict) else { return };
        let (found, expected) = (text(&self.expected[place].event), text(&first.event));
        self.find("BRG-ORD-03", found, format!("first {expected}"));
    }

    /// The first messages that have still to leave at a point; of the only one, in what it differs from what was found.
    fn still_expected(&self, point: BridgePoint, found: &BridgeMessage) -> String {
        let wanted = || self.expected.iter().map(|expected| &expected.event).filter(|event| event.point == point);
        let first: Vec<String> = wanted().take(SHOWN).map(text).collect();
        match wanted().count() {
            0 => format!("nothing at the point `{}` now", point.name()),
            1 => {
                let differs = wanted().next().and_then(|wanted| difference(found, &wanted.message));
                differs.unwrap_or_else(|| first.join(""))
            }
            n if n <= SHOWN => first.join(" or "),
            n => format!("{}, or one of {} more", first.join(" or "), n - SHOWN),
        }
    }

    /// The end: what has still to leave and what is open is found.
    pub fn finish(&mut self) {
        for ExpectedEvent { event, .. } in std::mem::take(&mut self.expected) {
            self.find("BRG-INT-03", format!("no {}", text(&event)), "all that was asked for has left");
        }
        let faults = self.credits.ends();
        self.find_credits(faults);
        let open = self.model.open();
        if open > 0 {
            self.find("BRG-INT-03", format!("{open} transactions that are open"), "an answer to each request");
        }
    }
}

/// Whether it is BIConflict.
fn is_conflict(message: &BridgeMessage) -> bool {
    let BridgeMessage::Cxl(CxlMessage { msg, .. }) = message else { return false };
    matches!(msg, Msg::M2sRwd { opcode: M2sRwdOpcode::BIConflict, .. })
}

/// Whether it is D2H Data.
fn is_host_data(message: &BridgeMessage) -> bool {
    matches!(message, BridgeMessage::Cxl(CxlMessage { msg: Msg::D2hData { .. }, .. }))
}

/// Class of responses within which those of a source keep their order (`bridge` §6.2, O3).
#[derive(PartialEq, Eq)]
enum ResponseClass {
    Reads,
    Writes,
    /// Errors of NVLink do not say what they answer: they keep their order among themselves.
    Errors,
}

/// Source and class of a response.
fn channel(message: &BridgeMessage) -> (Option<u16>, ResponseClass) {
    let class = match message {
        BridgeMessage::Upli(transfer) => match transfer.field {
            ControlField::Response(rsp) if rsp.rdwr == RdWr::Read => ResponseClass::Reads,
            _ => ResponseClass::Writes,
        },
        BridgeMessage::Nvlink(message) => match message.op {
            Op::RSP_DATA => ResponseClass::Reads,
            Op::RSP_ERROR => ResponseClass::Errors,
            _ => ResponseClass::Writes,
        },
        BridgeMessage::Cxl(_) | BridgeMessage::Tlp(_) => ResponseClass::Writes,
    };
    (asker(message).map(|(source, _)| source), class)
}

/// Whether it says that its accelerator is isolated, which a bridge never says (`bridge` §8.2).
fn isolates(message: &BridgeMessage) -> bool {
    let BridgeMessage::Upli(transfer) = message else { return false };
    matches!(transfer.field, ControlField::Response(rsp) if rsp.status == Status::ISOLATE)
}

fn text(event: &BridgeEvent) -> String {
    told(event.port, &event.message)
}
