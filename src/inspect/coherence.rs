//! Links of one home or one device past the monitor that judges coherence by their messages.
//!
//! A walk through one message: those of all links are taken in the order of time, of two at one time in the order in which the
//! map names their links. What the monitor says of a message is said of the unit that ended it. A reset of any link makes the
//! monitor begin anew, for nobody holds a copy behind it.

use super::link::Said;
use super::map::MappedCoherence;
use scalepool_coherence::passive::PassiveMonitor;
use scalepool_link::hook::Direction;
use scalepool_link::watch::WatchedContent;
use scalepool_protocols::wire::Violation;

/// What is wrong, by the link, an index into what was given, its way and the number of the unit.
pub(super) fn judge(
    map: &MappedCoherence,
    links: &[(&str, &[(u64, Said)])],
) -> Vec<(usize, Direction, usize, Violation)> {
    let names = || links.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut said: Vec<(u64, usize, &Said)> = Vec::new();
    for (link, (_, of_link)) in links.iter().enumerate() {
        said.extend(of_link.iter().map(|(t_fs, what)| (*t_fs, link, what)));
    }
    // The sort is stable: what one link says keeps its order.
    scalepool_ordered::sort_by_key(&mut said, |(t_fs, ..)| *t_fs);
    let mut monitor = PassiveMonitor::new(map.config(), names());
    let mut broken = Vec::new();
    for (_, link, what) in said {
        match what {
            Said::Reset(_) => monitor = PassiveMonitor::new(map.config(), names()),
            Said::Message(way, unit, WatchedContent::Cxl(message)) => {
                let events = monitor.see(link, message);
                broken.extend(events.iter().map(|event| (link, *way, *unit, event.violation())));
            }
            Said::Message(..) => {}
        }
    }
    broken
}
