//! A drawing of a system: a box a component, a line a link, as SVG.
//!
//! Components stand in columns by their distance from those that ask, so that requests run from left to right. After a run each
//! line has the colour and the width of the load of its busier direction; both directions stand in its title, which viewers show
//! under the pointer.

mod grid;

use super::design::{LinkInstance, System};
use scalepool_ordered::OrderedMap;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A drawing whose links have no load yet.
#[derive(Debug, Clone)]
pub struct Drawing {
    /// All that stands below the links.
    head: String,
    links: Vec<DrawnLink>,
    /// All that stands above them.
    tail: String,
}

/// A link of a drawing.
#[derive(Debug, Clone)]
struct DrawnLink {
    path: String,
    /// Its path and kind.
    name: String,
    /// Element and coordinates.
    shape: String,
    /// What stands beside it: the element up to the text.
    label: Option<String>,
    colour: &'static str,
    width: f64,
}

/// A load from which on a link has this colour and width.
struct LoadStep {
    from: f64,
    colour: &'static str,
    width: f64,
}

/// Steps of loads, the highest last.
const LOAD_STEPS: [LoadStep; 5] = [
    LoadStep { from: 0.0, colour: "#bbb", width: 1.0 },
    LoadStep { from: 0.01, colour: "#4a90d9", width: 2.0 },
    LoadStep { from: 0.25, colour: "#3aa655", width: 3.0 },
    LoadStep { from: 0.5, colour: "#e6a100", width: 4.0 },
    LoadStep { from: 0.75, colour: "#d0312d", width: 5.0 },
];

/// The load of a link: share of the time of its line, from its first end and from its second; `None`: a caller drives that
/// direction.
pub type LinkLoad = [Option<f64>; 2];

impl Drawing {
    /// The drawing of a system.
    pub fn of(system: &System) -> Drawing {
        match system.components.iter().any(|component| component.config.drawn_at().is_some()) {
            true => grid::drawing(system),
            false => columns_drawing(system),
        }
    }

    /// As SVG, without loads.
    pub fn svg(&self) -> String {
        let mut text = self.head.clone();
        self.links.iter().for_each(|link| link.write(&mut text, None));
        text + &self.tail
    }

    /// As SVG, with the loads of links by their paths.
    pub fn loaded_svg(&self, loads: &[(String, LinkLoad)]) -> String {
        let loads: OrderedMap<&str, LinkLoad> = loads.iter().map(|(path, load)| (path.as_str(), *load)).collect();
        let mut text = self.head.clone();
        for (n, step) in LOAD_STEPS.iter().enumerate() {
            let x = MARGIN + n * 100;
            let _ = writeln!(
                text,
                "<path d=\"M{x} 44 h24\" stroke=\"{}\" stroke-width=\"{}\"/>\n\
                 <text x=\"{}\" y=\"48\" font-size=\"11\" fill=\"#333\">from {} %</text>",
                step.colour,
                step.width,
                x + 30,
                // A legend in whole percent.
                (step.from * 100.0).round(),
            );
        }
        self.links.iter().for_each(|link| link.write(&mut text, loads.get(link.path.as_str()).copied()));
        text + &self.tail
    }
}

impl DrawnLink {
    fn write(&self, text: &mut String, load: Option<LinkLoad>) {
        let percent = |share: Option<f64>| {
            share.map_or("driven by a caller".to_owned(), |share| format!("{:.1} %", share * 100.0))
        };
        let busier = load.map(|load| load.into_iter().flatten().fold(0.0, f64::max));
        let step = busier.and_then(|share| LOAD_STEPS.iter().rev().find(|step| share >= step.from));
        let (colour, width) = step.map_or((self.colour, self.width), |step| (step.colour, step.width));
        let loads = load.map(|[first, second]| format!(": {}, back {}", percent(first), percent(second)));
        let title = format!("{}{}", self.name, loads.unwrap_or_default());
        let _ = writeln!(
            text,
            "<{} fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"><title>{}</title></{}>",
            self.shape,
            escaped(&title),
            self.shape.split(' ').next().unwrap_or_default(),
        );
        if let Some(label) = &self.label {
            let shares = load.map(|[first, second]| format!(" {} / {}", percent(first), percent(second)));
            let _ = writeln!(text, "{label}{}{}</text>", escaped(&self.name), shares.unwrap_or_default());
        }
    }
}

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

/// Components in columns.
fn columns_drawing(system: &System) -> Drawing {
    let columns = columns(system);
    let labels: Vec<String> = system.links.iter().map(|link| format!("{} ({})", link.path, link.kind.name)).collect();
    // Two labels may stand in one row, each beside its end, and behind each the loads of a run.
    let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0) + " 100.0 % / 100.0 %".len();
    let step_x = WIDTH + GAP_X.max(2 * (LETTER * longest + 2 * BESIDE));
    let mut filled: OrderedMap<usize, usize> = OrderedMap::new();
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
    let head = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{MARGIN}\" y=\"30\" font-size=\"18\">{}</text>\n",
        escaped(&system.name)
    );
    let drawn = |(link, label): (&LinkInstance, String)| {
        // From the middle of one side to the middle of the other, below one another where there are several.
        let ends = link.ports.map(|(component, port)| {
            let count = system.components[component].ports.len();
            (places[component], HEIGHT * (port + 1) / (count + 1))
        });
        let [((x0, y0), at0), ((x1, y1), at1)] = ends;
        let (from, to) = if x0 <= x1 { (x0 + WIDTH, x1) } else { (x0, x1 + WIDTH) };
        let (y0, y1) = (y0 + at0, y1 + at1);
        let shape = format!("line x1=\"{from}\" y1=\"{y0}\" x2=\"{to}\" y2=\"{y1}\"");
        // Beside the end with fewer links, of two alike the left one: there labels do not lie over one another.
        let counts = link.ports.map(|(component, _)| system.components[component].ports.len());
        let is_first = if counts[0] == counts[1] { x0 <= x1 } else { counts[0] < counts[1] };
        let ((x, y), lies_left) = if is_first { ((from, y0), x0 <= x1) } else { ((to, y1), x0 > x1) };
        let (x, anchor) = if lies_left { (x + BESIDE, "start") } else { (x - BESIDE, "end") };
        let at = format!("<text x=\"{x}\" y=\"{}\" font-size=\"11\" fill=\"#333\" text-anchor=\"{anchor}\">", y - 4);
        DrawnLink { path: link.path.clone(), name: label, shape, label: Some(at), colour: "#555", width: 2.0 }
    };
    let links = system.links.iter().zip(labels).map(drawn).collect();
    let mut tail = String::new();
    for (component, (x, y)) in system.components.iter().zip(places) {
        let dashed = if component.external.is_some() { " stroke-dasharray=\"6 4\"" } else { "" };
        let _ = writeln!(
            tail,
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
    tail.push_str("</svg>\n");
    Drawing { head, links, tail }
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
    // A ring has driven its components apart: columns in which nobody stands are left out.
    let used: BTreeSet<usize> = columns.iter().copied().collect();
    columns.iter().map(|column| used.range(..column).count()).collect()
}

/// Text in SVG.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
