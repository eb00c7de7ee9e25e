//! A drawing of components that have places, as the routers of a topology: a box each at its column and row, what hangs on one of them
//! below it, and a line a link. Names of links are left out: there are too many of them, and their ends say who they are.
//!
//! A link between boxes that are not beside each other is bent, so that it does not run through those in between.

use super::{Drawing, DrawnLink, MARGIN, TOP, escaped};
use crate::design::System;
use scalepool_ordered::OrderedMap;
use std::fmt::Write;

/// From one column, or row, to the next.
const STEP_X: usize = 150;
const STEP_Y: usize = 130;
/// Size of a box.
const WIDTH: usize = 96;
const HEIGHT: usize = 30;
/// Size of a box below another one.
const SMALL: usize = 18;

/// Where a component stands: left and upper corner, and whether it hangs on another one.
#[derive(Clone, Copy)]
struct BoxPlace {
    x: usize,
    y: usize,
    is_small: bool,
}

impl BoxPlace {
    fn middle(self) -> (usize, usize) {
        (self.x + WIDTH / 2, self.y + if self.is_small { SMALL } else { HEIGHT } / 2)
    }
}

/// The places of all components.
fn places(system: &System) -> Vec<BoxPlace> {
    let own: Vec<Option<(usize, usize)>> = system.components.iter().map(|c| c.config.drawn_at()).collect();
    // Rows are as high as what hangs on their boxes.
    let host = |component: usize| {
        system.components[component].ports.iter().find_map(|port| {
            let (peer, _) = system.links[port.link].ports[1 - port.end];
            own[peer].map(|_| peer)
        })
    };
    let mut hanging: OrderedMap<usize, usize> = OrderedMap::new();
    let hosts: Vec<Option<(usize, usize)>> = (0..own.len())
        .map(|n| {
            let host = own[n].is_none().then(|| host(n)).flatten()?;
            let count = hanging.entry(host).or_default();
            *count += 1;
            Some((host, *count - 1))
        })
        .collect();
    let deepest = hanging.values().copied().max().unwrap_or(0);
    let step_y = STEP_Y + deepest.saturating_sub(2) * (SMALL + 4);
    let at = |(column, row): (usize, usize)| (MARGIN + column * STEP_X, TOP + row * step_y);
    let mut loose = 0;
    (0..own.len())
        .map(|n| match (own[n], hosts[n]) {
            (Some(place), _) => {
                let (x, y) = at(place);
                BoxPlace { x, y, is_small: false }
            }
            (None, Some((host, nth))) => {
                let (x, y) = at(own[host].unwrap_or_default());
                BoxPlace { x: x + 20, y: y + HEIGHT + 12 + nth * (SMALL + 4), is_small: true }
            }
            (None, None) => {
                loose += 1;
                BoxPlace { x: MARGIN + (loose - 1) * STEP_X, y: TOP - HEIGHT, is_small: true }
            }
        })
        .collect()
}

/// The drawing.
pub(super) fn drawing(system: &System) -> Drawing {
    let places = places(system);
    let width = places.iter().map(|place| place.x).max().unwrap_or(0) + WIDTH + STEP_X;
    let height = places.iter().map(|place| place.y).max().unwrap_or(0) + HEIGHT + STEP_Y;
    let head = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{MARGIN}\" y=\"30\" font-size=\"18\">{}</text>\n",
        escaped(&system.name)
    );
    let links = system.links.iter().map(|link| {
        let [(x0, y0), (x1, y1)] = link.ports.map(|(component, _)| places[component].middle());
        // Bent to the side by a fifth of its length where it is longer than one step along a row or column.
        let is_long = x0.abs_diff(x1) > STEP_X || y0.abs_diff(y1) > 2 * STEP_Y || (x0 != x1 && y0 != y1);
        let bend = if is_long { 0.2 } else { 0.0 };
        let (dx, dy) = (x1 as f64 - x0 as f64, y1 as f64 - y0 as f64);
        let (cx, cy) = ((x0 + x1) as f64 / 2.0 - bend * dy, (y0 + y1) as f64 / 2.0 + bend * dx);
        DrawnLink {
            path: link.path.clone(),
            name: format!("{} ({})", link.path, link.kind.name),
            shape: format!("path d=\"M{x0} {y0} Q{cx:.0} {cy:.0} {x1} {y1}\""),
            label: None,
            colour: "#777",
            width: 1.0,
        }
    });
    let links = links.collect();
    let mut tail = String::new();
    for (component, place) in system.components.iter().zip(&places) {
        let height = if place.is_small { SMALL } else { HEIGHT };
        let (x, y) = place.middle();
        let _ = writeln!(
            tail,
            "<rect x=\"{}\" y=\"{}\" width=\"{WIDTH}\" height=\"{height}\" rx=\"4\" fill=\"#eef3fa\" stroke=\"#345\"><title>{}</title></rect>\n\
             <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            place.x,
            place.y,
            component.kind.name,
            y + 4,
            escaped(&component.path),
        );
    }
    tail.push_str("</svg>\n");
    Drawing { head, links, tail }
}
