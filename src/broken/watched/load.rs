//! What judges the load that a device tells of itself.
//!
//! | watcher | its lines |
//! | --- | --- |
//! | `load` | `INTERNAL EGRESS REDUCTION SAID`, loads 0 to 3: those of the parts, and the one in an answer |
//! | `share` | of a logical device: `USED LIMIT ALLOCATION LOAD SAID`, bandwidths in 256ths of the device's, the load of the device, and the one in an answer |

use super::{CaseWatcher, LineOutcome, MadeWatched};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::mem::load::{DevLoadParts, Share};
use scalepool_protocols::cxl::cxl256::code::DevLoad;
use scalepool_protocols::rules;
use scalepool_protocols::wire::{At, Violation};

/// All of them.
pub(super) const ALL: &[(&str, MadeWatched)] =
    &[("load", || Some(Box::new(Parts))), ("share", || Some(Box::new(LogicalShare)))];

fn numbers<const N: usize>(words: &[&str]) -> Option<[u16; N]> {
    let numbers: Vec<u16> = words.iter().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

fn load(number: u16) -> DevLoad {
    DevLoad((number & 3) as u8)
}

fn named(event: CoherenceEvent) -> Violation {
    let CoherenceEvent { rule, found, expected, .. } = event;
    // What the load is made of stands in the line.
    let parts = found.split_once(" of ").or_else(|| found.split_once(" for "));
    let found = parts.map_or(found.as_str(), |(said, _)| said).to_owned();
    let text = rules::find(rule).map_or("", |rule| rule.text).to_owned();
    Violation { rule, at: At::Message, found, expected, text }
}

/// The parts of a load.
struct Parts;

impl CaseWatcher for Parts {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [internal, egress, reduction, said] = numbers(words)?;
        let parts = DevLoadParts { internal: load(internal), egress: load(egress), reduction: load(reduction) };
        let told = format!("internal load {internal}, egress {egress}, reduction {reduction}; the answer says {said}");
        LineOutcome::judged(told, said.into(), parts.check(load(said)).map(named))
    }
}

/// The share of a logical device.
struct LogicalShare;

impl CaseWatcher for LogicalShare {
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome> {
        let [used, limit, allocation, total, said] = numbers(words)?;
        let share = Share { limit, allocation, used };
        let told = format!(
            "it uses {used} of an allocation of {allocation} and a limit of {limit}, the device is at load {total}; the answer says {said}"
        );
        LineOutcome::judged(told, said.into(), share.check(load(total), load(said)).map(named))
    }
}
