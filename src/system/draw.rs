//! A drawing of a system: a box a component, a line a link, as SVG.
//!
//! Components stand in columns by their distance from those that ask, so that requests run from left to right.

mod grid;

use super::design::System;
use std::collections::BTreeMap;
use std::fmt::Write;

const WIDTH: usize = 220;
const HEIGHT: usize = 64;
/// Least room between columns.
const GAP_X: usize = 180;
/// Width of a letter of a label, rounded up.
const LETTER: usize = 7;
/// Room beside a label.
const BESIDE: usize = 6;
const GAP_Y: usize = 28;
const MARGIN: usize = 24;
/// Room for the title.
const TOP: usize = 56;

/// The drawing.
pub fn svg(system: &System) -> String {
    if system.components.iter().any(|component| component.config.drawn_at().is_some()) {
        return grid::svg(system);
    }
    let columns = columns(system);
    let labels: Vec<String> = system.links.iter().map(|link| format!("{} ({})", link.path, link.kind.name)).collect();
    // Two labels may stand in one row, each beside its end.
    let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let step_x = WIDTH + GAP_X.max(2 * (LETTER * longest + 2 * BESIDE));
    let mut filled: BTreeMap<usize, usize> = BTreeMap::new();
    let places: Vec<(usize, usize)> = columns
        .iter()
        .map(|&column| {
            let row = filled.entry(column).or_default();
            let place = (MARGIN + column * step_x, TOP + *row * (HEIGHT + GAP_Y));
            *row += 1;
            place
        })
        .collect();
    let width = 2 * MARGIN + columns.iter().max().map_or(0, |last| last * step_x + WIDTH);
    let height = TOP + MARGIN + filled.values().max().map_or(0, |rows| rows * (HEIGHT + GAP_Y));
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{MARGIN}\" y=\"30\" font-size=\"18\">{}</text>\n",
        escaped(&system.name)
    );
    for (link, label) in system.links.iter().zip(&labels) {
        // From the middle of one side to the middle of the other, below one another where there are several.
        let ends = link.ports.map(|(component, port)| {
            let count = system.components[component].ports.len();
            (places[component], HEIGHT * (port + 1) / (count + 1))
        });
        let [((x0, y0), at0), ((x1, y1), at1)] = ends;
        let (from, to) = if x0 <= x1 { (x0 + WIDTH, x1) } else { (x0, x1 + WIDTH) };
        let (y0, y1) = (y0 + at0, y1 + at1);
        let _ = writeln!(
            text,
            "<line x1=\"{from}\" y1=\"{y0}\" x2=\"{to}\" y2=\"{y1}\" stroke=\"#555\" stroke-width=\"2\"/>"
        );
        // Beside the end with fewer links, of two alike the left one: there labels do not lie over one another.
        let counts = link.ports.map(|(component, _)| system.components[component].ports.len());
        let is_first = if counts[0] == counts[1] { x0 <= x1 } else { counts[0] < counts[1] };
        let ((x, y), lies_left) = if is_first { ((from, y0), x0 <= x1) } else { ((to, y1), x0 > x1) };
        let (x, anchor) = if lies_left { (x + BESIDE, "start") } else { (x - BESIDE, "end") };
        let label = escaped(label);
        let _ = writeln!(
            text,
            "<text x=\"{x}\" y=\"{}\" font-size=\"11\" fill=\"#333\" text-anchor=\"{anchor}\">{label}</text>",
            y - 4
        );
    }
    for (component, (x, y)) in system.components.iter().zip(places) {
        let dashed = if component.external.is_some() { " stroke-dasharray=\"6 4\"" } else { "" };
        let _ = writeln!(
            text,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\" fill=\"#eef3fa\" stroke=\"#345\"{dashed}/>\n\
             <text x=\"{0}\" y=\"{1}\" text-anchor=\"middle\" font-weight=\"bold\">{2}</text>\n\
             <text x=\"{0}\" y=\"{3}\" text-anchor=\"middle\" fill=\"#333\">{4}</text>",
            x + WIDTH / 2,
            y + 26,
            escaped(&component.path),
            y + 46,
            component.kind.name,
        );
    }
    text.push_str("</svg>\n");
    text
}

/// The column of each component: links lead from left to right.
fn columns(system: &System) -> Vec<usize> {
    let mut columns = vec![0; system.components.len()];
    // A longest path has at most as many links as there are components; rings stop there.
    for _ in 0..system.components.len().min(64) {
        let before = columns.clone();
        for link in &system.links {
            let [(from, _), (to, _)] = link.ports;
            if from != to && columns[to] <= columns[from] && columns[from] < 63 {
                columns[to] = columns[from] + 1;
            }
        }
        if columns == before {
            break;
        }
    }
    columns
}

/// Text in SVG.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
