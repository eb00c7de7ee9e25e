//! Both directions of a link, in the order of time, past the watcher of one end.
//!
//! A packet of NVLink is shown flit by flit, for its header alone may confirm the packet before.
//!
//! A walk through one unit: the next one of the two interfaces is taken; of two at one time that which the end sends comes
//! first, for it cannot know the other one. The watcher says whether the unit is next in its stream, and leaves events, each
//! with the unit that it concerns. A reset of either interface begins anew. The flit clock is the number of units that the
//! end has sent: a bus may need several clocks for one. The watcher is told when the first edge is, when a reset begins and ends, and
//! behind the last unit how long the wave goes on: an end that never says anything is waited for too. A finding behind which no
//! unit stands since the last reset is one of the link, with its time.

use super::health::HealthHistory;
use super::stream::{Judged, UnitStream};
use scalepool_link::event::LinkEvent;
use scalepool_link::health::LinkHealth;
use scalepool_link::hook::Direction;
use scalepool_link::protocol::LinkProtocol;
use scalepool_link::watch::{EndWatch, WatchConfig, WatchedContent};

/// What an end says and hears.
#[derive(Debug, Clone)]
pub(super) enum Said {
    /// The link begins anew, behind so many units that came to the end and that it sent.
    Reset([usize; 2]),
    /// A message, behind the unit with this number of the interface of this way.
    Message(Direction, usize, WatchedContent),
}

/// What the watcher of an end makes of its units.
pub(super) struct WatchedEnd {
    /// Figures of the end behind the last unit, since the last reset.
    pub health: LinkHealth,
    /// How they went, where that is asked for.
    pub history: HealthHistory,
    /// Of the units that come to it and of those that it sends.
    pub judged: [Judged; 2],
    /// In the order of time \[fs\], where messages are asked for.
    pub said: Vec<(u64, Said)>,
}

/// What stands in the way of the two interfaces.
enum Step<'a> {
    /// Units before it, and its first edge \[fs\]; it is taken at its last one.
    Reset([usize; 2], u64),
    Unit(Direction, usize, &'a [u8]),
}

/// Watches the end.
pub(super) fn watch(config: &WatchConfig, receives: &UnitStream, sends: &UnitStream, with_history: bool) -> WatchedEnd {
    let ways = [(Direction::Rx, receives), (Direction::Tx, sends)];
    let mut judged = ways.map(|(_, stream)| Judged { in_stream: vec![true; stream.count()], ..Judged::default() });
    let mut watch = EndWatch::new(config).ok();
    // Units fed so far, and those before the last reset.
    let (mut fed, mut first) = ([0, 0], [0, 0]);
    let mut said = Vec::new();
    let mut history = HealthHistory::new(config.protocol);
    // Everybody waits from the beginning on, whenever the first unit comes.
    let edges = [receives, sends].into_iter().filter_map(UnitStream::first_edge_fs);
    if let (Some(watch), Some(t_fs)) = (&mut watch, edges.min()) {
        watch.clock(0, t_fs);
    }
    for (t_fs, step) in steps(ways, config.protocol.unit_bytes()) {
        let (way, number, bytes) = match step {
            Step::Reset(before, begins_fs) => {
                // What has been waited for until then may be overdue although no unit has passed.
                if let Some(watch) = &mut watch {
                    watch.clock(0, begins_fs);
                    keep(watch.take_events(), begins_fs, &mut judged, &fed, &first);
                }
                (watch, first) = (EndWatch::new(config).ok(), before);
                watch.iter_mut().for_each(|watch| watch.clock(0, t_fs));
                said.push((t_fs, Said::Reset(before)));
                continue;
            }
            Step::Unit(way, number, bytes) => (way, number, bytes),
        };
        let Some(watch) = &mut watch else { continue };
        watch.clock(0, t_fs);
        let begins = fed[index(way)] == number;
        fed[index(way)] = number + 1;
        let now = (fed[index(Direction::Tx)] - first[index(Direction::Tx)]) as u64;
        // Units of a stream have the length of the protocol.
        let in_stream = watch.unit(way, bytes, now).unwrap_or(false);
        if begins {
            // The header of a packet tells where all of it belongs.
            judged[index(way)].in_stream[number] = in_stream;
        }
        said.extend(watch.take_messages().into_iter().map(|m| (t_fs, Said::Message(m.way, number, m.message))));
        if with_history {
            history.add(t_fs, &watch.health());
        }
        for (of, event) in watch.take_events() {
            let counted = first[index(of)] + event.unit as usize;
            let last = last_since(of, &fed, &first);
            let unit = if config.protocol == LinkProtocol::Nvlink { last } else { last.map(|last| counted.min(last)) };
            let (of, unit) = unit.map_or((way, number), |unit| (of, unit));
            judged[index(of)].broken.push((unit, event.violation));
        }
    }
    let Some(mut watch) = watch else { return WatchedEnd { health: LinkHealth::default(), history, judged, said } };
    // What is waited for at the end of the wave may be overdue although no unit passes.
    let end_fs = receives.last_edge_fs().max(sends.last_edge_fs());
    watch.clock(0, end_fs);
    watch.ends();
    keep(watch.take_events(), end_fs, &mut judged, &fed, &first);
    WatchedEnd { health: watch.health(), history, judged, said }
}

/// What is found when no unit passes, at a time \[fs\]: said of the last unit since the last reset, or of the link.
fn keep(
    events: Vec<(Direction, LinkEvent)>,
    t_fs: u64,
    judged: &mut [Judged; 2],
    fed: &[usize; 2],
    first: &[usize; 2],
) {
    for (of, event) in events {
        let last = |way| last_since(way, fed, first).map(|unit| (way, unit));
        match last(of).or(last(Direction::Tx)).or(last(Direction::Rx)) {
            Some((of, unit)) => judged[index(of)].broken.push((unit, event.violation)),
            None => judged[index(of)].without_unit.push((t_fs, event.violation)),
        }
    }
}

/// The last unit of a way since the last reset, of the units that were fed and those before that reset.
fn last_since(way: Direction, fed: &[usize; 2], first: &[usize; 2]) -> Option<usize> {
    fed[index(way)].checked_sub(1).filter(|last| *last >= first[index(way)])
}

/// Resets and units of both interfaces in the order of time.
fn steps<'a>(ways: [(Direction, &'a UnitStream); 2], part_bytes: usize) -> Vec<(u64, Step<'a>)> {
    let before = |t_fs: u64| {
        let last =
            |stream: &UnitStream| stream.parts(part_bytes).take_while(|(at, ..)| *at <= t_fs).last().map(|(_, n, _)| n);
        ways.map(|(_, stream)| last(stream).map_or(0, |n| n + 1))
    };
    let mut steps = Vec::new();
    for (way, stream) in ways {
        let resets = stream.resets().iter();
        steps.extend(resets.map(|reset| ((reset.ends_fs, 0), Step::Reset(before(reset.ends_fs), reset.begins_fs))));
        let order = if way == Direction::Tx { 1 } else { 2 };
        let parts = stream.parts(part_bytes);
        steps.extend(parts.map(|(t_fs, n, bytes)| ((t_fs, order), Step::Unit(way, n, bytes))));
    }
    // The sort is stable: units of one interface keep their order.
    scalepool_ordered::sort_by_key(&mut steps, |(at, _)| *at);
    steps.into_iter().map(|((t_fs, _), step)| (t_fs, step)).collect()
}

const fn index(way: Direction) -> usize {
    match way {
        Direction::Rx => 0,
        Direction::Tx => 1,
    }
}
