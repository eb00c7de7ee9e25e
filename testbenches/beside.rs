//! A watcher beside an active end under test: whatever the end says of what comes to it, the watcher of that end says too.
//!
//! A walk: the rig of a test shows every unit that comes to the end and every unit that it sends; the events of the end are
//! then held against what the watcher has said of what came.

use scalepool::link::event::{LinkEvent, Severity};
use scalepool::link::hook::Direction;
use scalepool::link::watch::{EndWatch, WatchConfig};
use std::fmt;

/// Rules of link layers that an end judges by what comes to it, and its watcher too: area, numbers.
pub const JUDGED_BY_BOTH: [(&str, &[u8]); 21] = [
    ("CXL68-CRD", &[4]),
    ("CXL68-INI", &[1, 2, 3, 5]),
    ("CXL68-LLR", &[5, 9, 14, 15]),
    ("CXL68-RRS", &[1]),
    ("CXL68-VIR", &[2]),
    ("CXL256-CRD", &[4, 6]),
    ("CXL256-RTY", &[1, 4, 6]),
    ("CXL256-LOP", &[4]),
    ("CXL256-VIR", &[1]),
    ("UAL-CHN", &[3, 4, 5, 6]),
    ("UAL-MSG", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]),
    ("UAL-URT", &[1, 2, 5]),
    ("UAL-RTE", &[1, 2]),
    ("UAL-RXR", &[3, 4, 6, 8]),
    ("UAL-TXS", &[1, 2, 4, 5]),
    ("UAL-SEQ", &[1]),
    ("UAL-LNK", &[3, 5, 6]),
    ("UAL-CRD", &[1, 3, 4, 5, 6, 7, 8]),
    ("NVL-ACK", &[1]),
    ("NVL-CRD", &[3, 4]),
    ("NVL-SEQ", &[1]),
];

/// Rules of link layers that no end judges by what comes to it: what an end does by itself, which its watcher judges by what
/// it sends, or a test by its state.
pub const JUDGED_BY_NO_END: [(&str, &[u8]); 23] = [
    ("CXL68-CRD", &[1, 2, 3, 5, 6, 7, 8]),
    ("CXL68-INI", &[4, 6]),
    ("CXL68-LLR", &[1, 2, 3, 4, 6, 7, 8, 10, 11, 12, 13, 16]),
    ("CXL68-LRS", &[1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]),
    ("CXL68-RRS", &[2, 3, 4]),
    ("CXL68-VIR", &[1, 3]),
    ("CXL256-CRD", &[1, 2, 5, 7]),
    ("CXL256-VIR", &[2, 3]),
    ("CXL256-LOP", &[1, 2, 3, 5]),
    ("CXL256-RTY", &[2, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]),
    ("UAL-MSG", &[14, 15]),
    ("UAL-CHN", &[1, 2]),
    ("UAL-URT", &[3, 4]),
    ("UAL-SEQ", &[2, 3]),
    ("UAL-RXR", &[1, 2, 5, 7, 9, 10, 11, 12, 13]),
    ("UAL-TXS", &[3, 6, 8]),
    ("UAL-LNK", &[2, 4]),
    ("UAL-CRD", &[2]),
    ("NVL-SEQ", &[2]),
    ("NVL-DLV", &[1, 2]),
    ("NVL-ACK", &[2]),
    ("NVL-RPL", &[1, 2, 3, 4]),
    ("NVL-CRD", &[1, 2, 5]),
];

/// Whether a list has a rule.
pub fn has(list: &[(&str, &[u8])], rule: &str) -> bool {
    let Some((area, number)) = rule.rsplit_once('-') else { return false };
    list.iter().any(|(of, numbers)| *of == area && numbers.iter().any(|n| format!("{n:02}") == number))
}

/// Rules that an end judges and its watcher cannot, and why.
pub const ONLY_THE_END: [(&str, &str); 5] = [
    ("CXL68-LRS-06", "the end says of itself that it has given up; its watcher sees that it is silent"),
    ("CXL256-CRD-03", "whether messages wait for a credit is known in the end's queues alone"),
    ("NVL-RPL-05", "the end says of itself that it has given up; its watcher counts the replays that it sends"),
    ("UAL-TXS-07", "the end says of itself that it has given up, by its own time-out"),
    ("UAL-LNK-01", "the layer below tells the end"),
];

/// Whether a watcher can say it.
fn is_watched(event: &LinkEvent) -> bool {
    let (rule, expected) = (event.violation.rule, event.violation.expected.as_str());
    let contained = (event.severity, rule) == (Severity::Retrain, "UAL-CRC-04");
    // The time of a flit, which the deadlines of DL messages need, is not known to a watcher.
    let late = matches!((rule, expected), ("UAL-MSG-13", "an answer") | ("UAL-CHN-05", "a request"));
    !contained && !late && ONLY_THE_END.iter().all(|(only, _)| *only != rule)
}

/// The watcher. A copy of a rig is not watched any more.
#[derive(Default)]
pub struct Beside {
    watch: Option<EndWatch>,
    said: Vec<(Severity, &'static str)>,
}

impl Clone for Beside {
    fn clone(&self) -> Beside {
        Beside::default()
    }
}

impl fmt::Debug for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Beside({:?})", self.said)
    }
}

impl Beside {
    /// Beside an end before its first unit.
    pub fn new(config: &WatchConfig) -> Beside {
        Beside { watch: Some(EndWatch::new(config).expect("legal choices")), said: Vec::new() }
    }

    fn unit(&mut self, way: Direction, unit: &[u8], now: u64) {
        let Some(watch) = &mut self.watch else { return };
        watch.unit(way, unit, now).expect("a unit");
        let heard = watch.take_events().into_iter().filter(|(way, _)| *way == Direction::Rx);
        self.said.extend(heard.map(|(_, event)| (event.severity, event.violation.rule)));
    }

    /// A unit comes to the end.
    pub fn arrives(&mut self, unit: &[u8], now: u64) {
        self.unit(Direction::Rx, unit, now);
    }

    /// The end has sent a unit.
    pub fn sends(&mut self, unit: &[u8], now: u64) {
        self.unit(Direction::Tx, unit, now);
    }

    /// The link is trained.
    pub fn trained(&mut self) {
        self.watch.iter_mut().for_each(|watch| watch.train(true));
    }

    /// The rule that has stopped the link.
    pub fn halted(&self) -> Option<&'static str> {
        self.watch.as_ref().and_then(EndWatch::halted)
    }

    /// What the watcher has said of what came, since the last call.
    pub fn said(&mut self) -> Vec<(Severity, &'static str)> {
        std::mem::take(&mut self.said)
    }

    /// Holds the events of the end since the last call against those of the watcher.
    #[track_caller]
    pub fn judge(&mut self, events: &[LinkEvent]) {
        let mut said = self.said();
        if self.watch.is_none() {
            return;
        }
        let all = said.clone();
        for event in events.iter().filter(|event| is_watched(event)) {
            let rule = event.violation.rule;
            let area = rule.rsplit_once('-').map_or("", |(area, _)| area);
            let is_of_links = JUDGED_BY_BOTH.iter().chain(&JUDGED_BY_NO_END).any(|(of, _)| *of == area);
            assert!(!is_of_links || has(&JUDGED_BY_BOTH, rule), "JUDGED_BY_BOTH lacks {rule}");
            let same = |(severity, said): &(Severity, &str)| (*severity, *said) == (event.severity, rule);
            match said.iter().position(same) {
                Some(at) => drop(said.remove(at)),
                // Of copies of one unit it is said once.
                None => assert!(all.iter().any(same), "the end says {event}, its watcher {all:?}"),
            }
        }
    }
}
