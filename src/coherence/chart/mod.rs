//! Message sequence charts of a way through the states: one column an agent, one arrow a message.
//!
//! Time goes down, one row a step. In the picture an arrow leaves in the row in which the message was sent and arrives in
//! the row in which it was delivered, so messages that overtake each other cross. The text form has one row a delivery and
//! names the step in which the message was sent. Messages that never arrive have no arrow.

use super::explore::{Step, Violation};
use std::fmt::Write;

/// A chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    columns: Vec<String>,
    rows: Vec<Row>,
    /// What stands under the chart.
    caption: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Row {
    Note {
        column: usize,
        text: String,
    },
    /// `sent`: row in which it left, `None` before the first one.
    Arrow {
        from: usize,
        to: usize,
        label: String,
        sent: Option<usize>,
        note: String,
    },
}

/// Width of a column in characters.
const COLUMN_CHARS: usize = 30;
/// Width of a column in pixels.
const COLUMN_PX: usize = 220;
/// Height of a row in pixels.
const ROW_PX: usize = 26;

impl Chart {
    /// The chart of the way to a fault.
    pub fn of(violation: &Violation) -> Self {
        Self::new(&violation.columns, &violation.steps, violation.event.to_string())
    }

    /// The chart of any way.
    pub fn new(columns: &[String], steps: &[Step], caption: String) -> Self {
        // Messages under way: (from, to, label, row in which they left).
        let mut under_way: Vec<(usize, usize, &str, usize)> = Vec::new();
        let mut rows = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let sent = match step {
                Step::Act { agent, text, sent } => {
                    rows.push(Row::Note { column: *agent, text: text.clone() });
                    sent
                }
                Step::Deliver { from, to, label, did, sent } => {
                    let at = under_way.iter().position(|(f, t, l, _)| (f, t, *l) == (from, to, label));
                    let left = at.map(|i| under_way.remove(i).3);
                    let (label, note) = (label.clone(), did.join(", "));
                    rows.push(Row::Arrow { from: *from, to: *to, label, sent: left, note });
                    sent
                }
            };
            under_way.extend(sent.iter().map(|s| (s.from, s.to, s.label.as_str(), number)));
        }
        Self { columns: columns.to_vec(), rows, caption }
    }

    /// The chart as text, LF at the end of each line.
    pub fn text(&self) -> String {
        let centre = |column: usize| column * COLUMN_CHARS + 8;
        let mut out = String::from("      ");
        for name in &self.columns {
            let _ = write!(out, "{name:^16}{:w$}", "", w = COLUMN_CHARS - 16);
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
        for (number, row) in self.rows.iter().enumerate() {
            let mut cells: Vec<char> = vec![' '; self.columns.len() * COLUMN_CHARS];
            for column in 0..self.columns.len() {
                cells[centre(column)] = '|';
            }
            let mut put = |at: usize, text: &str| {
                for (i, c) in text.chars().enumerate() {
                    if let Some(cell) = cells.get_mut(at + i) {
                        *cell = c;
                    } else {
                        cells.push(c);
                    }
                }
            };
            match row {
                Row::Note { column, text } => put(centre(*column) + 2, text),
                Row::Arrow { from, to, label, sent, note } => {
                    let (left, right) = (centre(*from.min(to)), centre(*from.max(to)));
                    put(left + 1, &"-".repeat(right.saturating_sub(left + 1)));
                    put(if from < to { right - 1 } else { left + 1 }, if from < to { ">" } else { "<" });
                    let sent = sent.map_or_else(|| "start".to_owned(), |s| (s + 1).to_string());
                    let label = format!(" {label} ({sent}) ");
                    let room = (right - left).saturating_sub(label.len()) / 2;
                    put(left + room.max(2), &label);
                    if !note.is_empty() {
                        put(centre(*to) + 2, note);
                    }
                }
            }
            let line: String = cells.into_iter().collect();
            let _ = writeln!(out, "{:>4}  {}", number + 1, line.trim_end());
        }
        if !self.caption.is_empty() {
            let _ = writeln!(out, "{}", self.caption);
        }
        out
    }

    /// The chart as an SVG picture.
    pub fn svg(&self) -> String {
        let x = |column: usize| COLUMN_PX / 2 + column * COLUMN_PX;
        let y = |row: usize| 60 + row * ROW_PX;
        let (width, height) = (self.columns.len() * COLUMN_PX, y(self.rows.len()) + 40);
        let mut out = String::new();
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"12\">"
        );
        out.push_str(
            "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
             orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        );
        let text = |x: usize, y: usize, anchor: &str, text: &str| {
            format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>\n", escape(text))
        };
        for (column, name) in self.columns.iter().enumerate() {
            out.push_str(&text(x(column), 24, "middle", name));
            let (x, end) = (x(column), y(self.rows.len()));
            let _ = writeln!(out, "<line x1=\"{x}\" y1=\"34\" x2=\"{x}\" y2=\"{end}\" stroke=\"silver\"/>");
        }
        for (number, row) in self.rows.iter().enumerate() {
            match row {
                Row::Note { column, text: note } => {
                    let _ = writeln!(out, "<circle cx=\"{}\" cy=\"{}\" r=\"3\"/>", x(*column), y(number));
                    out.push_str(&text(x(*column) + 8, y(number) + 4, "start", note));
                }
                Row::Arrow { from, to, label, sent, note } => {
                    let left = sent.map_or(40, y);
                    let _ = writeln!(
                        out,
                        "<line x1=\"{}\" y1=\"{left}\" x2=\"{}\" y2=\"{}\" stroke=\"black\" marker-end=\"url(#head)\"/>",
                        x(*from),
                        x(*to),
                        y(number)
                    );
                    let at = x(*to).min(x(*from)) + COLUMN_PX / 2;
                    // The label stands near the head, where arrows of one sender have gone apart.
                    let shift = if from < to { at + COLUMN_PX / 5 } else { at - COLUMN_PX / 5 };
                    out.push_str(&text(shift, y(number) - 5, "middle", label));
                    if !note.is_empty() {
                        out.push_str(&text(x(*to) + 8, y(number) + 4, "start", note));
                    }
                }
            }
        }
        out.push_str(&text(10, height - 14, "start", &self.caption));
        out.push_str("</svg>\n");
        out
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
