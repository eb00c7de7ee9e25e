//! What the units of the interfaces cover: the bins of their protocols.
//!
//! A walk through one unit: where a watcher of its link says that a receiver throws it away or has it already, it counts nowhere;
//! otherwise it goes to the coverage of its interface. A reset forgets what is under way there, not what was counted.

use super::map::Interface;
use super::stream::{Judged, UnitStream};
use scalepool_link::coverage::Met;
use scalepool_link::link_coverage::LinkCoverage;
use scalepool_link::protocol::LinkProtocol;

/// The bins of all interfaces; those of interfaces with one protocol are summed.
pub(super) fn of(interfaces: &[Interface], streams: &[UnitStream], judged: &[Option<Judged>]) -> Vec<Met> {
    let mut all: Vec<Met> = Vec::new();
    for ((interface, stream), judged) in interfaces.iter().zip(streams).zip(judged) {
        let Some(protocol) = LinkProtocol::named(&interface.protocol) else { continue };
        for met in of_stream(protocol, stream, judged.as_ref()) {
            match all.iter_mut().find(|known| (known.protocol, known.group) == (met.protocol, met.group)) {
                Some(known) => known.add(&met),
                None => all.push(met),
            }
        }
    }
    all
}

fn of_stream(protocol: LinkProtocol, stream: &UnitStream, judged: Option<&Judged>) -> Vec<Met> {
    let mut coverage = LinkCoverage::new(protocol);
    let mut resets = stream.resets().iter().map(|reset| reset.units).peekable();
    for (_, number, unit) in stream.whole() {
        while resets.next_if(|reset| *reset <= number).is_some() {
            coverage.restart();
        }
        let is_taken = judged.is_none_or(|judged| judged.in_stream.get(number).copied().unwrap_or(true));
        if is_taken {
            // Units of a stream have the length of their protocol.
            let _ = coverage.unit(stream.dir(), unit);
        }
    }
    coverage.met()
}
