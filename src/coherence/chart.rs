//! Message sequence charts of a way through the states: one column an agent, one arrow a message.
//!
//! Time goes down, one row a step. In the picture an arrow leaves in the row in which the message was sent and arrives in
//! the row in which it was delivered, so messages that overtake each other cross. The text form has one row a delivery and
//! names the step in which the message was sent. Messages that never arrive have no arrow.
//!
//! A chart of a clocked run ([`Chart::timed`]) has times \[ns\] in the place of steps, and a row of its own for each
//! departure.

use super::content::LineAddr;
use scalepool_protocols::cxl::message::Message;
use std::collections::BTreeMap;
use std::fmt::Write;

/// One step of a run, for charts and replays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChartStep {
    /// An agent did something of its own.
    Act {
        /// Column of the chart.
        agent: usize,
        /// What, e.g. `Store` or `issues RdOwn`.
        text: String,
        /// The line that it is about, if it is about one.
        line: Option<LineAddr>,
        /// Messages that left in this step.
        sent: Vec<SentMessage>,
    },
    /// A message arrived.
    Deliver {
        /// Column it came from.
        from: usize,
        /// Column it reached.
        to: usize,
        /// Its label.
        label: String,
        /// The message itself.
        message: Message,
        /// What the receiver's program did at once.
        did: Vec<String>,
        /// Messages that left in this step.
        sent: Vec<SentMessage>,
    },
}

/// A message that left in a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentMessage {
    /// Column it leaves.
    pub from: usize,
    /// Column it goes to.
    pub to: usize,
    /// Its label.
    pub label: String,
    /// The message itself.
    pub message: Message,
}

/// A chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    columns: Vec<String>,
    rows: Vec<Row>,
    /// Time of each row \[fs\]; empty for a way through states.
    times_fs: Vec<u64>,
    /// The row from which on all rows come again and again.
    repeats: Option<usize>,
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

/// A message of a clocked run that leaves or arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passing {
    /// When \[fs\].
    pub t_fs: u64,
    /// Column it leaves.
    pub from: usize,
    /// Column it goes to.
    pub to: usize,
    /// Its label.
    pub label: String,
    /// For an arrival: when it left \[fs\]; `None`: it leaves now.
    pub sent_fs: Option<u64>,
}

/// A time in ns without a rounding, at least one digit behind the point.
pub fn in_ns(fs: u64) -> String {
    let text = format!("{}.{:06}", fs / 1_000_000, fs % 1_000_000);
    let kept = text.trim_end_matches('0').len();
    let least = text.len() - 5;
    text[..kept.max(least)].to_owned()
}

/// Width of a column in characters.
const COLUMN_CHARS: usize = 34;
/// Width of a column in pixels.
const COLUMN_PX: usize = 220;
/// Width of the times of a clocked run in pixels.
const TIMES_PX: usize = 90;
/// Height of a row in pixels.
const ROW_PX: usize = 26;

/// Stands above the rows that come again and again.
const REPEATED: &str = "--- from here on, again and again ---";
/// Stands below the last row when nothing comes any more.
const RESTS: &str = "--- nothing more happens ---";

impl Chart {
    /// The chart of any way.
    pub fn new(columns: &[String], steps: &[ChartStep], caption: String) -> Self {
        // Messages under way: (from, to, label, row in which they left).
        let mut under_way: Vec<(usize, usize, &str, usize)> = Vec::new();
        let mut rows = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let sent = match step {
                ChartStep::Act { agent, text, sent, .. } => {
                    rows.push(Row::Note { column: *agent, text: text.clone() });
                    sent
                }
                ChartStep::Deliver { from, to, label, did, sent, .. } => {
                    let at = under_way.iter().position(|(f, t, l, _)| (f, t, *l) == (from, to, label));
                    let left = at.map(|i| under_way.remove(i).3);
                    let (label, note) = (label.clone(), did.join(", "));
                    rows.push(Row::Arrow { from: *from, to: *to, label, sent: left, note });
                    sent
                }
            };
            under_way.extend(sent.iter().map(|s| (s.from, s.to, s.label.as_str(), number)));
        }
        Self { columns: columns.to_vec(), rows, times_fs: Vec::new(), repeats: None, caption }
    }

    /// The same; from this row on (counted from 0) all rows come again and again.
    pub fn repeating(self, from: Option<usize>) -> Self {
        Self { repeats: from, ..self }
    }

    /// The chart of messages of a clocked run, in order of time.
    pub fn timed(columns: &[String], passing: &[Passing], caption: String) -> Self {
        let mut rows: Vec<Row> = Vec::new();
        let mut left = BTreeMap::new();
        for (number, message) in passing.iter().enumerate() {
            let Passing { t_fs, from, to, label, sent_fs } = message.clone();
            rows.push(match sent_fs {
                None => {
                    left.entry((t_fs, from, to, &message.label)).or_insert(number);
                    Row::Note { column: from, text: format!("sends {label}") }
                }
                Some(t_fs) => {
                    let sent = left.get(&(t_fs, from, to, &message.label)).copied();
                    Row::Arrow { from, to, label, sent, note: String::new() }
                }
            });
        }
        let times_fs = passing.iter().map(|p| p.t_fs).collect();
        Self { columns: columns.to_vec(), rows, times_fs, repeats: None, caption }
    }

    /// What stands in front of a row: its step or its time.
    fn gutter(&self, row: usize) -> String {
        match self.times_fs.get(row) {
            Some(&fs) => in_ns(fs),
            None => (row + 1).to_string(),
        }
    }

    /// The chart as text, LF at the end of each line.
    pub fn text(&self) -> String {
        let centre = |column: usize| column * COLUMN_CHARS + 8;
        let width = if self.times_fs.is_empty() { 4 } else { 14 };
        let mut out = if self.times_fs.is_empty() { " ".repeat(width + 2) } else { format!("{:>width$}  ", "ns") };
        for name in &self.columns {
            let _ = write!(out, "{name:^16}{:w$}", "", w = COLUMN_CHARS - 16);
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
        for (number, row) in self.rows.iter().enumerate() {
            if self.repeats == Some(number) {
                let _ = writeln!(out, "{:>width$}  {REPEATED}", "");
            }
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
                    let sent = sent.map_or_else(|| "start".to_owned(), |s| self.gutter(s));
                    let label = format!(" {label} ({sent}) ");
                    let room = (right - left).saturating_sub(label.len()) / 2;
                    put(left + room.max(2), &label);
                    if !note.is_empty() {
                        put(centre(*to) + 2, note);
                    }
                }
            }
            let line: String = cells.into_iter().collect();
            let _ = writeln!(out, "{:>width$}  {}", self.gutter(number), line.trim_end());
        }
        if self.repeats == Some(self.rows.len()) {
            let _ = writeln!(out, "{:>width$}  {RESTS}", "");
        }
        if !self.caption.is_empty() {
            let _ = writeln!(out, "{}", self.caption);
        }
        out
    }

    /// The chart as an SVG picture.
    pub fn svg(&self) -> String {
        let left_px = if self.times_fs.is_empty() { 0 } else { TIMES_PX };
        let x = |column: usize| left_px + COLUMN_PX / 2 + column * COLUMN_PX;
        let y = |row: usize| 60 + row * ROW_PX;
        let (width, height) = (left_px + self.columns.len() * COLUMN_PX, y(self.rows.len()) + 40);
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
        if let (Some(first), Some(last)) = (self.times_fs.first(), self.times_fs.last()) {
            let _ = writeln!(out, "<desc>{first} fs to {last} fs</desc>");
            out.push_str(&text(10, 24, "start", "ns"));
        }
        if let Some(row) = self.repeats {
            let at = y(row) - ROW_PX / 2 - 2;
            let _ = writeln!(
                out,
                "<line x1=\"0\" y1=\"{at}\" x2=\"{width}\" y2=\"{at}\" stroke=\"black\" stroke-dasharray=\"6 4\"/>"
            );
            out.push_str(&text(10, at + 12, "start", if row == self.rows.len() { RESTS } else { REPEATED }));
        }
        for (number, row) in self.rows.iter().enumerate() {
            if !self.times_fs.is_empty() {
                out.push_str(&text(10, y(number) + 4, "start", &self.gutter(number)));
            }
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
