//! One transaction with all that it caused as a picture: time from left to right, a row for each transaction of its tree.
//!
//! Modelled: a bar from the beginning of a transaction to its end, on it a coloured bar for each wait, from where it begins to where it is
//! over, and what each colour means. What a title says is shown by viewers where the pointer rests. What has not ended lasts to the last
//! record of the trace. Left out: rows behind the first [`MOST_ROWS`], which the picture counts.
//!
//! A walk: a read of an accelerator over two bridges is a bar over the whole width; below it, further to the right, stands the request of the
//! first bridge, with the time for which it waited for an earlier one in another colour, below that the one of the second bridge.

use super::explain::{ExplainError, TraceTransaction, Trees, Waited, ns};
use super::wait::Wait;
use std::fmt::Write;

/// Most rows of a picture.
pub const MOST_ROWS: usize = 400;

/// Where bars begin, right of the names.
const LEFT: u64 = 430;
/// Width of all bars.
const WIDTH: u64 = 900;
const ROW: usize = 18;
const TOP: usize = 70;
/// Rows of what colours mean stand below the last row; so many in a line.
const KEYS: usize = 6;
/// Colours of waits, in the order of [`Wait::ALL`].
const COLOURS: [&str; Wait::ALL.len()] = [
    "#1f77b4", "#aec7e8", "#d62728", "#ff9896", "#ff7f0e", "#ffbb78", "#9467bd", "#c5b0d5", "#2ca02c", "#98df8a",
    "#8c564b", "#e377c2", "#bcbd22",
];
/// Colour of a transaction that does not wait.
const SERVICE: &str = "#c7c7c7";

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn colour(wait: &str) -> &'static str {
    let place = Wait::ALL.iter().position(|known| known.name() == wait);
    place.map_or(SERVICE, |place| COLOURS[place])
}

/// The time from the beginning of the first transaction to the end of the last one.
struct Axis {
    from_fs: u64,
    length_fs: u64,
}

impl Axis {
    fn x(&self, fs: u64) -> u64 {
        let part = u128::from(fs.saturating_sub(self.from_fs).min(self.length_fs)) * u128::from(WIDTH);
        LEFT + (part / u128::from(self.length_fs.max(1))) as u64
    }

    /// A bar, one unit wide at least.
    fn bar(&self, [from_fs, to_fs]: [u64; 2], (y, height): (usize, usize), (fill, title): (&str, &str)) -> String {
        let (x, end) = (self.x(from_fs), self.x(to_fs));
        format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{height}\" fill=\"{fill}\"><title>{}</title></rect>\n",
            (end - x).max(1),
            escaped(title)
        )
    }
}

fn text(x: u64, y: usize, anchor: &str, text: &str) -> String {
    format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>\n", escaped(text))
}

/// The tree below a transaction as SVG.
///
/// # Errors
/// There is no such transaction.
pub fn svg(trees: &Trees, id: u64) -> Result<String, ExplainError> {
    let end_fs = |t: &TraceTransaction| t.end_fs.unwrap_or(trees.last_fs());
    let mut rows = Vec::new();
    let mut todo = vec![(trees.get(id)?, 0u64)];
    while let Some((transaction, depth)) = todo.pop() {
        rows.push((transaction, depth));
        let children = transaction.children.iter().rev().filter_map(|child| trees.all().get(child));
        todo.extend(children.map(|child| (child, depth + 1)));
    }
    let (root, from_fs) = (rows[0].0, rows[0].0.begin_fs);
    let last_fs = rows.iter().map(|(transaction, _)| end_fs(transaction)).max().unwrap_or(from_fs);
    let axis = Axis { from_fs, length_fs: last_fs.saturating_sub(from_fs) };
    let more = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);

    let below = TOP + ROW * rows.len();
    let height = below + 60 + ROW * Wait::ALL.len().div_ceil(KEYS);
    let span = format!("{} to {} ns", ns(from_fs), ns(last_fs));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        LEFT + WIDTH + 30
    );
    out += &text(10, 24, "start", &format!("{}: {} {} (id {id}), {span}", root.place, root.what, root.address));
    for fourth in 0..=4 {
        let fs = from_fs + (u128::from(axis.length_fs) * fourth / 4) as u64;
        let x = axis.x(fs);
        // Writing to a String cannot fail.
        let _ = writeln!(out, "<line x1=\"{x}\" y1=\"{}\" x2=\"{x}\" y2=\"{below}\" stroke=\"#e0e0e0\"/>", TOP - 6);
        out += &text(x, TOP - 12, "middle", &format!("{} ns", ns(fs)));
    }
    for (n, (transaction, depth)) in rows.iter().enumerate() {
        let TraceTransaction { place, what, begin_fs, waits, .. } = transaction;
        let (y, to_fs) = (TOP + ROW * n, end_fs(transaction));
        out += &text(10 + 10 * (*depth).min(15), y + 12, "start", &format!("{place}: {what}"));
        let title = format!("{place}: {what}, {} to {} ns", ns(*begin_fs), ns(to_fs));
        out += &axis.bar([*begin_fs, to_fs], (y + 2, ROW - 4), (SERVICE, &title));
        for Waited { wait, place, from_fs, to_fs, .. } in waits {
            let to_fs = to_fs.unwrap_or(trees.last_fs());
            let title = format!("{wait} at {place}, {} to {} ns", ns(*from_fs), ns(to_fs));
            out += &axis.bar([*from_fs, to_fs], (y + 5, ROW - 10), (colour(wait), &title));
        }
    }
    if more > 0 {
        out += &text(10, below + 14, "start", &format!("{more} more are not shown"));
    }
    for (n, wait) in Wait::ALL.iter().enumerate() {
        let (x, y) = (10 + 220 * (n % KEYS) as u64, below + 40 + ROW * (n / KEYS));
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{}\" width=\"12\" height=\"8\" fill=\"{}\"/>",
            y - 8,
            colour(wait.name())
        );
        out += &text(x + 18, y, "start", wait.name());
    }
    out += "</svg>\n";
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::DiffInput;

    fn read(lines: &[&str]) -> Trees {
        let text = format!("{{\"format\":\"scalepool-trace\",\"format_version\":1}}\n{}\n", lines.join("\n"));
        Trees::read(DiffInput { name: "t.jsonl".to_owned(), reader: std::io::Cursor::new(text) }).expect("a trace")
    }

    #[test]
    fn bars_stand_where_their_times_are() {
        let trees = read(&[
            r#"{"t_fs":1000,"where":"a<b","kind":"begin","id":1,"parent":0,"name":"read","address":"0x40"}"#,
            r#"{"t_fs":2000,"where":"c","kind":"begin","id":2,"parent":1,"name":"serve"}"#,
            r#"{"t_fs":2000,"where":"c","kind":"mark","id":2,"parent":1,"name":"wait_media"}"#,
            r#"{"t_fs":4000,"where":"c","kind":"end","id":2,"parent":1}"#,
            r#"{"t_fs":5000,"where":"a<b","kind":"end","id":1,"parent":0}"#,
            r#"{"t_fs":9000,"where":"c","kind":"begin","id":3,"parent":0,"name":"open"}"#,
        ]);
        let picture = svg(&trees, 1).expect("it is there");
        let bar = |x: u64, y: usize, width: u64, height: usize| {
            picture.contains(&format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\""))
        };
        assert!(bar(LEFT, TOP + 2, WIDTH, ROW - 4), "{picture}");
        let (x, width) = (LEFT + WIDTH / 4, WIDTH / 2);
        assert!(bar(x, TOP + ROW + 2, width, ROW - 4) && bar(x, TOP + ROW + 5, width, ROW - 10), "{picture}");
        assert!(picture.contains("a&lt;b: read") && !picture.contains("open"), "{picture}");
        assert!(svg(&trees, 3).is_ok() && svg(&trees, 4).is_err());
        // A wait of each reason has a colour of its own.
        let mut colours: Vec<_> = Wait::ALL.iter().map(|wait| colour(wait.name())).collect();
        colours.sort_unstable();
        colours.dedup();
        assert_eq!(colours.len(), Wait::ALL.len());
    }

    #[test]
    fn what_has_no_room_is_counted() {
        let mut lines = vec![r#"{"t_fs":0,"where":"a","kind":"begin","id":1,"parent":0}"#.to_owned()];
        let child = |n| format!("{{\"t_fs\":{n},\"where\":\"a\",\"kind\":\"begin\",\"id\":{n},\"parent\":1}}");
        lines.extend((2..=MOST_ROWS + 3).map(child));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let picture = svg(&read(&lines), 1).expect("it is there");
        assert!(picture.contains("3 more are not shown"));
    }
}
