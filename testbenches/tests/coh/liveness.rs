//! What never ends: a line that two agents take from each other for ever, and a load that nobody serves.

use scalepool::coherence::config::{CoherenceConfig, WithoutBytes};
use scalepool::coherence::event::CoherenceEvent;
use scalepool::proof::explore::{
    AgentWait, Awaited, ChartStep, Counterexample, ExplorationReport, ExploredSystem, Fairness, Limits, named, search,
};
use scalepool::proof::flows::{FlowError, play};
use scalepool::proof::litmus::parse;
use scalepool::proof::mutant::CoherenceMutant;

/// Two agents that want to store to one line. Who holds it gives it up when asked, and asks again at once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Swap {
    /// Who has stored.
    done: [bool; 2],
    /// Who holds the line.
    holder: usize,
    /// When a holder may store.
    may_store: Chance,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Chance {
    Never,
    /// If it likes.
    Optional,
    /// It does unless the line is taken away before.
    Weak,
    /// It does before the line is taken away.
    First,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Move {
    Take,
    Store,
}

impl ExploredSystem for Swap {
    type Move = Move;

    fn columns(&self) -> Vec<String> {
        vec!["agent 0".into(), "agent 1".into()]
    }

    fn moves(&self, out: &mut Vec<Move>) {
        let [wants, other_wants] = [self.holder, 1 - self.holder].map(|agent| !self.done[agent]);
        if other_wants && !(wants && self.may_store == Chance::First) {
            out.push(Move::Take);
        }
        if wants && self.may_store != Chance::Never {
            out.push(Move::Store);
        }
    }

    fn fairness(&self, mv: Move) -> Fairness {
        match (mv, self.may_store) {
            (Move::Take, _) => Fairness::Strong,
            (Move::Store, Chance::Optional) => Fairness::Optional,
            (Move::Store, Chance::First) => Fairness::Strong,
            (Move::Store, _) => Fairness::Weak,
        }
    }

    fn action(&self, mv: Move) -> u128 {
        (mv == Move::Store) as u128 * 2 + self.holder as u128
    }

    fn waits(&self, out: &mut Vec<AgentWait>) {
        let waits = (0..2).filter(|&agent| !self.done[agent]);
        out.extend(waits.map(|agent| AgentWait { agent, awaited: Awaited::Store, line: None }));
    }

    fn apply(&mut self, mv: Move, _events: &mut Vec<CoherenceEvent>) -> Option<usize> {
        match mv {
            Move::Take => self.holder = 1 - self.holder,
            Move::Store => self.done[self.holder] = true,
        }
        None
    }

    fn describe(&self, mv: Move) -> ChartStep {
        match mv {
            Move::Take => {
                ChartStep::Act { agent: 1 - self.holder, text: "takes the line".into(), line: None, sent: Vec::new() }
            }
            Move::Store => ChartStep::Act { agent: self.holder, text: "Store".into(), line: None, sent: Vec::new() },
        }
    }

    fn check(&self, _events: &mut Vec<CoherenceEvent>) {}

    fn is_idle(&self) -> bool {
        // The old question, whether something can move, is always answered with yes.
        self.done[1 - self.holder] || self.may_store == Chance::First
    }
}

fn swap(may_store: Chance) -> (Swap, ExplorationReport) {
    let start = Swap { done: [false; 2], holder: 0, may_store };
    let report = search(&start, Limits::default());
    (start, report)
}

fn broken(report: ExplorationReport) -> Counterexample {
    report.violation.expect("something that never ends")
}

#[test]
fn a_line_that_is_swapped_for_ever_is_found() {
    // No way out: no state reaches quiescence.
    let violation = broken(swap(Chance::Never).1);
    assert_eq!((violation.event.rule, violation.repeats, violation.steps.len()), ("COH-INV-09", Some(0), 2));
    // A way out that nobody need take: the store of the second agent waits though nothing stands in its way.
    let violation = broken(swap(Chance::Optional).1);
    let found = "a store that waits for ever: nothing more happens";
    assert_eq!((violation.event.rule, violation.event.found.as_str()), ("COH-INV-10", found));
    assert_eq!((violation.repeats, violation.steps.len()), (Some(2), 2));
    // One that need not be taken in time.
    let (start, report) = swap(Chance::Weak);
    let violation = broken(report);
    let found = "a store that waits for ever: steps 1 to 2 come again and again";
    assert_eq!((violation.event.rule, violation.event.found.as_str()), ("COH-INV-10", found));
    let chart = violation.chart();
    assert_eq!(chart.text().lines().count(), 2 + violation.steps.len() + 1, "{}", chart.text());
    assert!(chart.text().contains("again and again ---\n   1 ") && chart.svg().contains("stroke-dasharray"));
    let words: Vec<&str> = violation.script.iter().map(String::as_str).collect();
    assert_eq!(words, ["again and again", "agent 1: takes the line", "agent 0: takes the line"]);
    match play("again", start, &words) {
        Err(FlowError::Broken { event, .. }) => assert_eq!(event, violation.event.to_string()),
        other => panic!("found {other:?}, expected {}", violation.event),
    }
    // One access before the line is given up: every store is done.
    let report = swap(Chance::First).1;
    assert!(report.complete && report.violation.is_none(), "{:?}", report.violation);
}

/// Without the one access two stores over HDM-DB ask for the line again and again. No rule of states and steps is broken.
#[test]
fn stores_that_lose_their_line_again_and_again_are_found() {
    let text = "kind = \"hdm-db\"\nstart = \"II\"\nprograms = [[\"MemRdA\", \"Store\"], [\"MemRdA\", \"Store\"]]\n";
    let kept = parse(text).expect("a case").explore().expect("it is explored");
    assert!(kept.complete && kept.violation.is_none());
    let start = parse(&format!("{text}[config.mem]\none_access = false\n")).expect("a case").start().expect("agents");
    let safe = start.search(Limits { liveness: false, ..Limits::default() }, &mut |_| ());
    assert!(safe.complete && safe.violation.is_none());
    let violation = broken(start.search(Limits::default(), &mut |_| ()));
    assert_eq!(violation.event.rule, "COH-INV-10", "{}", violation.chart().text());
    assert!(violation.event.found.starts_with("a store that waits for ever: steps "), "{}", violation.event);
    assert!(violation.repeats.is_some_and(|first| first < violation.steps.len()));
}

/// A host whose copy is lost is granted ownership without bytes; its load is never served when it does not ask for them.
#[test]
fn a_load_without_bytes_is_found() {
    let text = "kind = \"hdm-db\"\nstart = \"SS\"\nprograms = [[\"MemRdA\"], [\"MemInv\", \"Load\", \"Store\"]]\n\
                [config]\nwithout_bytes = \"write\"\n";
    let mut case = parse(text).expect("a case");
    let served = case.explore().expect("it is explored");
    assert!(served.violation.is_none() && served.outcomes.iter().all(|o| o.letters != "IE"), "{:?}", served.outcomes);
    case.config.rules = CoherenceMutant::BytesNotAsked.rules();
    // A program has nothing else to do: no way leads to an end.
    let violation = case.explore().expect("it is explored").violation.expect("a program that is stuck");
    assert_eq!((violation.event.rule, violation.repeats), ("COH-INV-09", Some(violation.steps.len())));
    assert!(violation.chart().text().contains("--- nothing more happens ---"));
    // A free host may store, write back and ask again, without bytes as before: the load waits all the time.
    let rules = CoherenceMutant::BytesNotAsked.rules();
    let config = CoherenceConfig { rules, without_bytes: WithoutBytes::Write, ..CoherenceConfig::default() };
    let start = named::find("hdm-db-2-loads").expect("an exploration").start(config);
    let violation = broken(start.search(Limits::default(), &mut |_| ()));
    assert_eq!(violation.event.rule, "COH-INV-10", "{}", violation.chart().text());
    assert!(violation.event.found.starts_with("a load that waits for ever: "), "{}", violation.event);
}
