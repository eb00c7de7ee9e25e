//! Both directions of a link, in the order of time, past the watcher of one end.
//!
//! A walk through one unit: the next one of the two interfaces is taken; of two at one time that which the end sends comes
//! first, for it cannot know the other one. The watcher says whether the unit is next in its stream, and leaves events, each
//! with the unit that it concerns. A reset of either interface begins anew. The flit clock is the number of units that the
//! end has sent: a bus may need several clocks for one.

use super::stream::{Judged, Stream};
use crate::link::hook::Way;
use crate::link::protocol::Protocol;
use crate::link::watch::{Watch, WatchConfig};

/// What stands in the way of the two interfaces.
enum Step<'a> {
    Reset([usize; 2]),
    Unit(Way, usize, &'a [u8]),
}

/// Watches the end; what it says of the units that come to it and of those that it sends.
pub(super) fn watch(config: &WatchConfig, receives: &Stream, sends: &Stream) -> [Judged; 2] {
    let ways = [(Way::Rx, receives), (Way::Tx, sends)];
    let mut judged =
        ways.map(|(_, stream)| Judged { in_stream: vec![true; stream.units().count()], broken: Vec::new() });
    let mut watch = Watch::new(config).ok();
    // Units fed so far, and those before the last reset.
    let (mut fed, mut first) = ([0, 0], [0, 0]);
    for step in steps(ways) {
        let (way, number, bytes) = match step {
            Step::Reset(before) => {
                (watch, first) = (Watch::new(config).ok(), before);
                continue;
            }
            Step::Unit(way, number, bytes) => (way, number, bytes),
        };
        let Some(watch) = &mut watch else { continue };
        fed[index(way)] = number + 1;
        let now = (fed[index(Way::Tx)] - first[index(Way::Tx)]) as u64;
        // A packet of NVLink is as many units as it has flits; its header tells where it belongs.
        let parts = bytes.chunks(config.protocol.unit_bytes());
        // Units of a stream have the length of the protocol.
        let taken: Vec<bool> = parts.map(|part| watch.unit(way, part, now).unwrap_or(false)).collect();
        judged[index(way)].in_stream[number] = taken.first().copied().unwrap_or(false);
        for (of, event) in watch.take_events() {
            let counted = first[index(of)] + event.unit as usize;
            let last = fed[index(of)].checked_sub(1);
            let unit = if config.protocol == Protocol::Nvlink { last } else { last.map(|last| counted.min(last)) };
            let (of, unit) = unit.map_or((way, number), |unit| (of, unit));
            judged[index(of)].broken.push((unit, event.violation));
        }
    }
    judged
}

/// Resets and units of both interfaces in the order of time.
fn steps<'a>(ways: [(Way, &'a Stream); 2]) -> Vec<Step<'a>> {
    let before = |t_fs: u64| ways.map(|(_, stream)| stream.units().take_while(|(at, _)| *at <= t_fs).count());
    let mut steps = Vec::new();
    for (way, stream) in ways {
        steps.extend(stream.resets().iter().map(|&(t_fs, _)| ((t_fs, 0), Step::Reset(before(t_fs)))));
        let order = if way == Way::Tx { 1 } else { 2 };
        steps.extend(stream.units().enumerate().map(|(n, (t_fs, bytes))| ((t_fs, order), Step::Unit(way, n, bytes))));
    }
    // The sort is stable: units of one interface keep their order.
    steps.sort_by_key(|(at, _)| *at);
    steps.into_iter().map(|(_, step)| step).collect()
}

const fn index(way: Way) -> usize {
    match way {
        Way::Rx => 0,
        Way::Tx => 1,
    }
}
