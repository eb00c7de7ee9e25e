//! What the checkers of all protocols have in common: the flits that have passed, what waits for an answer and since when, and what
//! has been found.

use super::{AnswerLimit, TransactionFinding};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::rules;
use scalepool_protocols::wire::{At, Violation};

/// A flit: its link, its direction, its number there.
pub(crate) type FlitPlace = (usize, Dir, u64);

/// The book of a checker; `W` names what waits.
#[derive(Debug)]
pub(crate) struct Ledger<W> {
    names: Vec<String>,
    /// Newest flit of each link, by direction.
    units: Vec<[u64; 2]>,
    /// Messages so far.
    number: u64,
    now: u64,
    /// By number: what waits for an answer, with the time at which it passed and its flit; late ones have gone from here.
    waiting: OrderedMap<u64, (W, u64, FlitPlace)>,
    /// Flit of the message that is looked at.
    place: FlitPlace,
    /// Flit of the request whose answer does not come.
    asked: Option<(Dir, u64)>,
    /// Tag of the request that is looked at.
    concerned: Option<u16>,
    findings: Vec<TransactionFinding>,
}

const fn index(dir: Dir) -> usize {
    match dir {
        Dir::Down => 0,
        Dir::Up => 1,
    }
}

/// `flit 12 up`.
pub(crate) fn flit(unit: u64, dir: Dir) -> String {
    format!("flit {unit} {}", dir.name())
}

impl<W> Ledger<W> {
    /// Of links with these names, on which nothing has passed.
    pub fn new(names: Vec<String>) -> Ledger<W> {
        Ledger {
            units: vec![[0; 2]; names.len()],
            names,
            number: 0,
            now: 0,
            waiting: OrderedMap::new(),
            place: (0, Dir::Down, 0),
            asked: None,
            concerned: None,
            findings: Vec::new(),
        }
    }

    /// A flit passes.
    pub fn unit(&mut self, (link, dir, unit): FlitPlace) {
        if let Some(units) = self.units.get_mut(link) {
            units[index(dir)] = unit;
        }
    }

    /// A message passes in a flit: its number, which no other one has.
    pub fn message(&mut self, place: FlitPlace, tag: Option<u16>) -> u64 {
        self.unit(place);
        self.number += 1;
        self.concerned = tag;
        (self.place, self.asked) = (place, None);
        self.number
    }

    /// The number of the message that is looked at.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The newest flit of a link in a direction.
    pub fn newest(&self, link: usize, dir: Dir) -> FlitPlace {
        (link, dir, self.units.get(link).map_or(0, |units| units[index(dir)]))
    }

    /// A number of its own for something else that the message brings.
    pub fn another(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    /// The message that is looked at waits for an answer.
    pub fn wait(&mut self, what: W) {
        self.wait_as(self.number, what);
    }

    /// What has this number waits for an answer.
    pub fn wait_as(&mut self, number: u64, what: W) {
        self.waiting.insert(number, (what, self.now, self.place));
    }

    /// The message with this number waits no more.
    pub fn end(&mut self, number: u64) {
        self.waiting.remove(&number);
    }

    /// Time goes on.
    pub fn clock(&mut self, now: u64) {
        self.now = now;
    }

    /// Takes the oldest that waits for longer than a limit.
    pub fn late(&mut self, limit: AnswerLimit) -> Option<(u64, W)> {
        let (_, (_, since, _)) = self.waiting.first_key_value()?;
        if self.now.saturating_sub(*since) <= limit.time {
            return None;
        }
        self.oldest()
    }

    /// Takes the oldest that waits.
    pub fn oldest(&mut self) -> Option<(u64, W)> {
        let (number, (what, _, (_, dir, unit))) = self.waiting.pop_first()?;
        self.asked = Some((dir, unit));
        Some((number, what))
    }

    /// A broken rule, with the line concerned.
    pub fn say(
        &mut self,
        rule: &'static str,
        (link, dir, unit): FlitPlace,
        line: Option<u64>,
        found: String,
        expected: impl Into<String>,
    ) {
        let name = self.names.get(link).map_or("?", String::as_str);
        let text = format!("{name}: {}", rules::find(rule).map_or(rule, |rule| rule.text));
        let at = line.map_or(At::Message, At::Line);
        let violation = Violation { rule, at, found, expected: expected.into(), text };
        self.findings.push(TransactionFinding { link, dir, unit, asked: self.asked, tag: self.concerned, violation });
    }

    /// What is said from here on is about a request with this tag.
    pub fn concern(&mut self, tag: Option<u16>) {
        self.concerned = tag;
    }

    /// What was found since the last call.
    pub fn take(&mut self) -> Vec<TransactionFinding> {
        std::mem::take(&mut self.findings)
    }
}
