//! The units before a retimer past those behind it.
//!
//! A walk through one unit: those of both interfaces are taken in the order of time, of two at one time the one that goes in first. What
//! comes out is held against what has gone in; what is wrong is said of the unit that came out. A reset of either interface
//! begins anew.

use super::InspectError;
use super::map::Map;
use super::stream::{Judged, UnitStream};
use scalepool_forms::flit256;
use scalepool_link::health::retimer::RetimerWatch;
use scalepool_protocols::wire::Violation;

/// What happens at the two interfaces.
enum Step<'a> {
    Reset,
    GoesIn(&'a [u8]),
    ComesOut(usize, &'a [u8]),
}

/// Adds what every retimer of the map does wrong to the findings of the interface behind it.
///
/// # Errors
/// The map names no interfaces that fit.
pub(super) fn judge(
    map: &Map,
    map_path: &str,
    streams: &[UnitStream],
    judged: &mut [Option<Judged>],
) -> Result<(), InspectError> {
    for retimer in &map.retimer {
        let wrong = |text| InspectError::Map { path: map_path.to_owned(), text };
        let [before, behind] = map.retimer_places(retimer).map_err(wrong)?;
        let fresh = || RetimerWatch::new(flit256::mode_of(&map.interface[before].protocol));
        let (mut watch, mut found, mut last) = (fresh(), Vec::new(), 0);
        for step in steps(&streams[before], &streams[behind]) {
            match step {
                Step::Reset => watch = fresh(),
                Step::GoesIn(unit) => watch.goes_in(unit),
                Step::ComesOut(number, unit) => {
                    last = number;
                    found.extend(watch.comes_out(unit).into_iter().map(|violation| (number, violation)));
                }
            }
        }
        found.extend(watch.finish().into_iter().map(|violation| (last, violation)));
        let named = |v: Violation| Violation { text: format!("{}: {}", retimer.name, v.text), ..v };
        let found = found.into_iter().map(|(number, violation)| (number, named(violation)));
        judged[behind].get_or_insert_with(|| Judged::beside(&streams[behind])).broken.extend(found);
    }
    Ok(())
}

/// Resets and units of both interfaces in the order of time.
fn steps<'a>(before: &'a UnitStream, behind: &'a UnitStream) -> Vec<Step<'a>> {
    let mut steps: Vec<((u64, u8), Step<'a>)> = Vec::new();
    for stream in [before, behind] {
        steps.extend(stream.resets().iter().map(|reset| ((reset.ends_fs, 0), Step::Reset)));
    }
    steps.extend(before.whole().map(|(t_fs, _, unit)| ((t_fs, 1), Step::GoesIn(unit))));
    steps.extend(behind.whole().map(|(t_fs, number, unit)| ((t_fs, 2), Step::ComesOut(number, unit))));
    // The sort is stable: units of one interface keep their order.
    scalepool_ordered::sort_by_key(&mut steps, |(at, _)| *at);
    steps.into_iter().map(|(_, step)| step).collect()
}
