//! A watcher beside an active end under test: whatever the end says of what comes to it, the watcher of that end says too.
//!
//! A walk: the rig of a test shows every unit that comes to the end and every unit that it sends; the events of the end are
//! then held against what the watcher has said of what came.

use scalepool::link::event::{Event, Severity};
use scalepool::link::hook::Way;
use scalepool::link::watch::{Watch, WatchConfig};
use std::fmt;

/// Rules that an end judges and its watcher cannot, and why.
pub const ONLY_THE_END: [(&str, &str); 5] = [
    ("CXL68-LRS-06", "the end says of itself that it has given up; its watcher sees that it is silent"),
    ("CXL256-CRD-03", "whether messages wait for a credit is known in the end's queues alone"),
    ("NVL-RPL-05", "the end says of itself that it has given up; its watcher counts the replays that it sends"),
    ("UAL-TXS-07", "the end says of itself that it has given up, by its own time-out"),
    ("UAL-LNK-01", "the layer below tells the end"),
];

/// Whether a watcher can say it.
fn is_watched(event: &Event) -> bool {
    let (rule, expected) = (event.violation.rule, event.violation.expected.as_str());
    let contained = (event.severity, rule) == (Severity::Retrain, "UAL-CRC-04");
    // The time of a flit, which the deadlines of DL messages need, is not known to a watcher.
    let late = matches!((rule, expected), ("UAL-MSG-13", "an answer") | ("UAL-CHN-05", "a request"));
    !contained && !late && ONLY_THE_END.iter().all(|(only, _)| *only != rule)
}

/// The watcher. A copy of a rig is not watched any more.
#[derive(Default)]
pub struct Beside {
    watch: Option<Watch>,
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
        Beside { watch: Some(Watch::new(config).expect("legal choices")), said: Vec::new() }
    }

    fn unit(&mut self, way: Way, unit: &[u8], now: u64) {
        let Some(watch) = &mut self.watch else { return };
        watch.unit(way, unit, now).expect("a unit");
        let heard = watch.take_events().into_iter().filter(|(way, _)| *way == Way::Rx);
        self.said.extend(heard.map(|(_, event)| (event.severity, event.violation.rule)));
    }

    /// A unit comes to the end.
    pub fn arrives(&mut self, unit: &[u8], now: u64) {
        self.unit(Way::Rx, unit, now);
    }

    /// The end has sent a unit.
    pub fn sends(&mut self, unit: &[u8], now: u64) {
        self.unit(Way::Tx, unit, now);
    }

    /// The link is trained.
    pub fn trained(&mut self) {
        self.watch.iter_mut().for_each(Watch::trained);
    }

    /// The rule that has stopped the link.
    pub fn halted(&self) -> Option<&'static str> {
        self.watch.as_ref().and_then(Watch::halted)
    }

    /// What the watcher has said of what came, since the last call.
    pub fn said(&mut self) -> Vec<(Severity, &'static str)> {
        std::mem::take(&mut self.said)
    }

    /// Holds the events of the end since the last call against those of the watcher.
    #[track_caller]
    pub fn judge(&mut self, events: &[Event]) {
        let mut said = self.said();
        if self.watch.is_none() {
            return;
        }
        let all = said.clone();
        for event in events.iter().filter(|event| is_watched(event)) {
            println!("SEEN {}", event.violation.rule);
            let found =
                said.iter().position(|(severity, rule)| (*severity, *rule) == (event.severity, event.violation.rule));
            let at = found.unwrap_or_else(|| panic!("the end says {event}, its watcher {all:?}"));
            said.remove(at);
        }
    }
}
