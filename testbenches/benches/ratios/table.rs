//! The table: a row for every comparison.

use std::fmt;

/// What was measured, beside one peer.
pub struct Row {
    /// What is done.
    pub what: String,
    /// Of the rate.
    pub unit: &'static str,
    /// Our rate.
    pub ours: f64,
    /// The peer and its rate.
    pub peer: Option<(&'static str, f64)>,
    /// The ratio we want, ours to the peer's.
    pub aim: Option<f64>,
    /// Rate at which memcpy moves the same bytes.
    pub memcpy: Option<f64>,
}

/// All rows, and remarks below them.
pub struct Table {
    rounds: u32,
    rows: Vec<Row>,
    remarks: Vec<String>,
}

impl Table {
    pub fn new(rounds: u32) -> Table {
        Table { rounds, rows: Vec::new(), remarks: Vec::new() }
    }

    pub fn row(&mut self, row: Row) {
        self.rows.push(row);
    }

    pub fn remark(&mut self, remark: String) {
        self.remarks.push(remark);
    }
}

/// Four digits that count.
fn figure(value: f64) -> String {
    match value {
        v if v < 10.0 => format!("{v:.3}"),
        v if v < 100.0 => format!("{v:.2}"),
        v if v < 1000.0 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "best of {} turns each, variants in turn; M/s = million a second, ratio = ours / peer",
            self.rounds
        )?;
        let line = |f: &mut fmt::Formatter<'_>, c: [&str; 9]| {
            let text = format!(
                "{:<24} {:<11} {:>8}  {:<22} {:>8} {:>7} {:<12} {:>8} {:>7}",
                c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]
            );
            writeln!(f, "{}", text.trim_end())
        };
        line(f, ["what", "unit", "ours", "peer", "peer's", "ratio", "aim", "memcpy", "ours/it"])?;
        for row in &self.rows {
            let (peer, rate, ratio) = match row.peer {
                Some((peer, rate)) => (peer, figure(rate), Some(row.ours / rate)),
                None => ("-", "-".into(), None),
            };
            let aim = match (row.aim, ratio) {
                // As printed: a ratio of 1.00 is no worse than 1.
                (Some(aim), Some(ratio)) if (ratio * 100.0).round() >= aim * 100.0 => format!(">= {aim} met"),
                (Some(aim), _) => format!(">= {aim} MISSED"),
                (None, _) => String::new(),
            };
            let (memcpy, part) = match row.memcpy {
                Some(rate) => (figure(rate), format!("{:.4}", row.ours / rate)),
                None => Default::default(),
            };
            let ratio = ratio.map_or("-".into(), |ratio| format!("{ratio:.2}"));
            line(f, [&row.what, row.unit, &figure(row.ours), peer, &rate, &ratio, &aim, &memcpy, &part])?;
        }
        self.remarks.iter().try_for_each(|remark| writeln!(f, "{remark}"))
    }
}
