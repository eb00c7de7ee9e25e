//! `scalepool explain`: where the time of transactions went.

use super::diff::open;
use super::table::Table;
use super::{Status, counted, print_json, report};
use clap::Args;
use scalepool_trace::explain::{Sums, Trees, ns};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Show where transactions spent their time, by place and kind, or the tree of one transaction.
///
/// Each `begin` record of the trace begins a transaction; `list waits` shows what a transaction can wait for. Exit 0: every
/// parent is in the trace, 1: a parent is missing, because the trace is limited to some places or to a part of the time,
/// 2: the file cannot be used.
#[derive(Debug, Args)]
pub(super) struct Explain {
    /// Trace that `run --trace` wrote, JSON lines.
    trace: PathBuf,
    /// Show the transaction with this id and every transaction that it caused, with times, places and waits.
    #[arg(long, value_name = "N")]
    id: Option<u64>,
    /// Print JSON: the tree as one object, or a list of objects, one for each place and kind.
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<Status> {
        let trees = Trees::read(open(&self.trace)?)?;
        match (self.id, self.json) {
            (Some(id), true) => print_json(out, &trees.tree_json(id)?)?,
            (Some(id), false) => {
                let parent = trees.get(id)?.parent;
                if parent != 0 {
                    writeln!(out, "caused by id {parent}")?;
                }
                out.write_all(trees.tree(id)?.as_bytes())?;
            }
            (None, true) => {
                let rows = trees.sums().into_iter().map(|(of, sums)| to_json(of, &sums));
                print_json(out, &rows.collect::<Value>())?;
            }
            (None, false) => print(&trees, out)?,
        }
        if let Some(first) = trees.broken().first() {
            report(format_args!(
                "{} without a place in a tree, the first: {first}",
                counted(trees.broken().len(), "record")
            ));
        }
        Ok(Status::of(trees.broken()))
    }
}

fn print(trees: &Trees, out: &mut dyn Write) -> std::io::Result<()> {
    let mut table =
        Table::new(["where", "transaction", "count", "open", "mean ns", "max ns", "waits: times, ns in all"]);
    for ((place, what), sums) in trees.sums() {
        let wait = |(wait, (count, fs)): (&&str, &(u64, u128))| format!("{wait} {count}, {}", ns(*fs as u64));
        let waits: Vec<_> = sums.waits.iter().map(wait).collect();
        table.row([
            place.to_owned(),
            what.to_owned(),
            sums.count.to_string(),
            sums.open.to_string(),
            ns(sums.mean_fs()),
            ns(sums.max_fs),
            waits.join("; "),
        ]);
    }
    table.print(out)
}

fn to_json((place, what): (&str, &str), sums: &Sums) -> Value {
    let waits = sums.waits.iter().map(|(wait, (count, fs))| {
        let of_wait = json!({"count": count, "total_fs": *fs as u64});
        ((*wait).to_owned(), of_wait)
    });
    json!({
        "where": place,
        "what": what,
        "count": sums.count,
        "open": sums.open,
        "mean_fs": sums.mean_fs(),
        "max_fs": sums.max_fs,
        "waits": waits.collect::<serde_json::Map<_, _>>(),
    })
}
