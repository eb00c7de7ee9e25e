//! Credits inside a switch: who was given room, and gave it back.
//!
//! Modelled: a way is an input, an output and a class. Its room is what the queue of the input and that of the output hold; a message
//! takes a place of it when the input accepts it and gives it back when it leaves, or ends in the switch. The ledger is told of both, counts by
//! itself, and says when more was taken than there is, when more came back than was taken, and what is not back (`fabric` §4.2). Left out:
//! places of the output that several inputs share.

use super::violation;
use scalepool_protocols::wire::Violation;

/// The ledger of a switch.
#[derive(Debug, Clone)]
pub struct RoomLedger {
    outputs: usize,
    classes: usize,
    /// Places of a way.
    granted: u64,
    /// Places taken and not given back, by way.
    open: Vec<u64>,
}

impl RoomLedger {
    /// A ledger of ways with so many places each.
    pub fn new(inputs: usize, outputs: usize, classes: usize, granted: u64) -> RoomLedger {
        RoomLedger { outputs, classes, granted, open: vec![0; inputs * outputs * classes] }
    }

    fn at(&self, (input, output, class): (usize, usize, usize)) -> usize {
        (input * self.outputs + output) * self.classes + class
    }

    /// A message takes a place.
    #[inline]
    pub fn take(&mut self, way: (usize, usize, usize)) -> Option<Violation> {
        let (at, granted) = (self.at(way), self.granted);
        self.open[at] += 1;
        let open = self.open[at];
        if open > granted { Some(taken_too_much(way, open, granted)) } else { None }
    }

    /// A message gives its place back.
    #[inline]
    pub fn give_back(&mut self, way: (usize, usize, usize)) -> Option<Violation> {
        let at = self.at(way);
        match self.open[at].checked_sub(1) {
            Some(open) => {
                self.open[at] = open;
                None
            }
            None => Some(given_back_untaken(way)),
        }
    }

    /// Ways whose places are not all back, which is wrong at the end of a run that is at rest.
    pub fn astray(&self) -> Vec<Violation> {
        let open = self.open.iter().enumerate().filter(|(_, open)| **open > 0);
        let found = |(n, open): (usize, &u64)| {
            let way = (n / self.classes / self.outputs, n / self.classes % self.outputs, n % self.classes);
            let text = format!("room of {} is not given back at the end of the run", shown(way));
            violation("FAB-SWC-03", format!("{open} places taken"), "none", text)
        };
        open.map(found).collect()
    }
}

#[cold]
fn taken_too_much(way: (usize, usize, usize), open: u64, granted: u64) -> Violation {
    let text = format!("{} takes more room than it has", shown(way));
    violation("FAB-SWC-03", format!("{open} places taken"), format!("at most {granted}"), text)
}

#[cold]
fn given_back_untaken(way: (usize, usize, usize)) -> Violation {
    let text = format!("{} gives back room that nobody has taken", shown(way));
    violation("FAB-SWC-03", "a place given back", "none, as all are free", text)
}

/// A way as findings name it.
fn shown((input, output, class): (usize, usize, usize)) -> String {
    let class = super::module::SWITCH_CLASSES.get(class).map_or("a class", |class| class.name());
    format!("{class} from input {input} to output {output}")
}
