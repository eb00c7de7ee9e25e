//! Aligned tables for people.

use std::io::{self, Write};

/// Widest line.
const WIDTH: usize = 120;
/// Blanks between columns.
const GAP: usize = 2;

/// Rows under a head; the last column is broken into several lines where it does not fit.
pub(super) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub fn new(head: [&str; N]) -> Self {
        Table { rows: vec![head.map(str::to_owned)] }
    }

    pub fn row(&mut self, row: [String; N]) {
        self.rows.push(row);
    }

    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let widths: [usize; N] =
            std::array::from_fn(|c| self.rows.iter().map(|r| r[c].chars().count()).max().unwrap_or(0));
        let before_last: usize = widths[..N - 1].iter().map(|w| w + GAP).sum();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row[..N - 1].iter().zip(widths) {
                line += &format!("{cell:width$}{:GAP$}", "");
            }
            for (i, part) in wrap(&row[N - 1], WIDTH.saturating_sub(before_last)).iter().enumerate() {
                if i > 0 {
                    line = " ".repeat(before_last);
                }
                writeln!(out, "{}", format!("{line}{part}").trim_end())?;
            }
        }
        Ok(())
    }
}

/// Breaks at blanks; a longer word stands alone.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if lines[last].is_empty() {
            lines[last] = word.to_owned();
        } else if lines[last].chars().count() + 1 + word.chars().count() <= width {
            lines[last] += " ";
            lines[last] += word;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
