//! Aligned tables for people.

use std::io::{self, Write};

/// Widest line.
const WIDTH: usize = 120;
/// Blanks between columns.
const GAP: usize = 2;

/// Widest column but the last; what is wider goes on below.
const COLUMN: usize = 40;

/// Rows under a head; a cell is broken into several lines where it does not fit.
pub(super) struct TextTable<const N: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize> TextTable<N> {
    pub fn new(head: [&str; N]) -> Self {
        TextTable { rows: vec![head.map(str::to_owned)] }
    }

    pub fn row(&mut self, row: [String; N]) {
        self.rows.push(row);
    }

    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut widths: [usize; N] = std::array::from_fn(|c| {
            let parts = self.rows.iter().flat_map(|r| wrap(&r[c], COLUMN));
            parts.map(|p| p.chars().count()).max().unwrap_or(0)
        });
        let before_last: usize = widths[..N - 1].iter().map(|w| w + GAP).sum();
        widths[N - 1] = WIDTH.saturating_sub(before_last);
        for row in &self.rows {
            let cells: [Vec<String>; N] = std::array::from_fn(|c| wrap(&row[c], widths[c]));
            for n in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
                let mut line = String::new();
                for (cell, width) in cells.iter().zip(widths) {
                    let part = cell.get(n).map_or("", String::as_str);
                    line += &format!("{part:width$}{:GAP$}", "");
                }
                writeln!(out, "{}", line.trim_end())?;
            }
        }
        Ok(())
    }
}

/// Breaks at blanks, a word that is longer than a line behind `|` too; what cannot be broken stands alone.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let long = word.chars().count() > width;
        let parts: Vec<&str> = if long { word.split_inclusive('|').collect() } else { vec![word] };
        for (n, part) in parts.into_iter().enumerate() {
            let last = lines.len() - 1;
            let gap = if n == 0 && !lines[last].is_empty() { " " } else { "" };
            if lines[last].is_empty() || lines[last].chars().count() + gap.len() + part.chars().count() <= width {
                lines[last] += gap;
                lines[last] += part;
            } else {
                lines.push(part.to_owned());
            }
        }
    }
    lines
}
