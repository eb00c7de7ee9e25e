//! `scalepool explain`: where the time of transactions went.

use super::diff::open;
use super::table::TextTable;
use super::{CommandStatus, counted, print_json, report};
use clap::Args;
use scalepool_trace::explain::{Sums, TraceTransaction, Trees, ns};
use scalepool_trace::hops::{Hop, Hops};
use scalepool_trace::output::{self, PartFile};
use scalepool_trace::tree_chart;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::io::Write;
use std::path::PathBuf;

/// Show where transactions spent their time: by place and kind, hop by hop, or one transaction with its tree.
///
/// Each `begin` record of the trace begins a transaction; `list waits` shows what a transaction can wait for. A table of hops
/// counts every instant of a transaction at one hop, that of the deepest transaction of its tree that is active then, as service
/// or as a wait, so the hops add up to its latency. Exit 0: every parent is in the trace, 1: a parent is missing, because the trace is limited
/// to some places or to a part of the time, 2: the file cannot be used.
#[derive(Debug, Args)]
pub(super) struct Explain {
    /// Trace that `run --trace` wrote, JSON lines.
    trace: PathBuf,
    /// Show the transaction with this id, every transaction that it caused, and its hops.
    #[arg(long, value_name = "ID", group = "what")]
    txn: Option<u64>,
    /// Draw the transaction and every transaction that it caused as an SVG picture: a bar each, with its waits.
    #[arg(long, value_name = "FILE", requires = "txn", conflicts_with_all = ["slowest", "aggregate"])]
    svg: Option<PathBuf>,
    /// Show the N transactions that took longest among those that no other transaction caused.
    #[arg(long, value_name = "N", group = "what")]
    slowest: Option<usize>,
    /// Show the hops of all transactions together that have ended and that no other transaction caused.
    #[arg(long, group = "what")]
    aggregate: bool,
    /// Print JSON: an object for a tree and for hops, a list of objects for transactions and for places and kinds.
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub(super) fn run(self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        if let Some(path) = &self.svg {
            output::check_apart(&[path.as_path()], &[], &[self.trace.as_path()])?;
        }
        let trees = Trees::read(open(&self.trace)?)?;
        if let (Some(path), Some(id)) = (&self.svg, self.txn) {
            PartFile::write(path, tree_chart::svg(&trees, id)?.as_bytes())?;
        }
        match (self.txn, self.slowest, self.aggregate) {
            (Some(id), ..) => one(&trees, id, self.json, out)?,
            (None, Some(count), _) => slowest(&trees, count, self.json, out)?,
            (None, None, true) if self.json => print_json(out, &hops_json(&Hops::of_all(&trees)))?,
            (None, None, true) => print_hops(&Hops::of_all(&trees), out)?,
            (None, None, false) if self.json => {
                let rows = trees.sums().into_iter().map(|(of, sums)| to_json(of, &sums));
                print_json(out, &rows.collect::<Value>())?;
            }
            (None, None, false) => print(&trees, out)?,
        }
        if let Some(first) = trees.broken().first() {
            report(format_args!(
                "{} without a place in a tree, the first: {first}",
                counted(trees.broken().len(), "record")
            ));
        }
        Ok(CommandStatus::of(trees.broken()))
    }
}

/// The tree of a transaction and its hops.
fn one(trees: &Trees, id: u64, json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let hops = Hops::of(trees, id)?;
    if json {
        let mut tree = trees.tree_json(id)?;
        tree["hops"] = hops_json(&hops)["hops"].take();
        return Ok(print_json(out, &tree)?);
    }
    let parent = trees.get(id)?.parent;
    if parent != 0 {
        writeln!(out, "caused by id {parent}")?;
    }
    out.write_all(trees.tree(id)?.as_bytes())?;
    writeln!(out)?;
    Ok(print_hops(&hops, out)?)
}

/// The slowest transactions, of equal ones those with the lower ids.
fn slowest(trees: &Trees, count: usize, json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut roots: Vec<(u64, &TraceTransaction)> = trees.ended_roots().collect();
    scalepool_ordered::sort_by_key(&mut roots, |(id, root)| (Reverse(root.time_fs()), *id));
    roots.truncate(count);
    let mut table = TextTable::new(["id", "where", "transaction", "from ns", "ns", "longest part"]);
    let mut rows = Vec::new();
    for (id, root) in roots {
        let hops = Hops::of(trees, id)?;
        let (place, what, wait, fs) = hops.longest().unwrap_or_default();
        if json {
            rows.push(json!({
                "id": id,
                "where": root.place,
                "what": root.what,
                "address": root.address,
                "begin_fs": root.begin_fs,
                "time_fs": root.time_fs(),
                "longest": {"where": place, "what": what, "wait": wait, "time_fs": fs as u64},
            }));
            continue;
        }
        table.row([
            id.to_string(),
            root.place.clone(),
            format!("{} {}", root.what, root.address).trim_end().to_owned(),
            ns(root.begin_fs),
            ns(root.time_fs()),
            format!("{} of {what} at {place}, {} ns", wait.unwrap_or("service"), ns(fs as u64)),
        ]);
    }
    match json {
        true => print_json(out, &rows.into())?,
        false => table.print(out)?,
    }
    Ok(())
}

/// A row for each hop, and their sum.
fn print_hops(hops: &Hops, out: &mut dyn Write) -> std::io::Result<()> {
    let mut table = TextTable::new(["hop", "transaction", "count", "service ns", "wait ns", "share %", "waits: ns"]);
    let share = |fs: u128| format!("{:.1}", 100.0 * fs as f64 / hops.total_fs.max(1) as f64);
    let time = |fs: u128| ns(fs as u64);
    for (&(place, what), hop) in &hops.hops {
        let waits: Vec<String> = hop.waits_fs.iter().map(|(wait, fs)| format!("{wait} {}", time(*fs))).collect();
        table.row([
            place.to_owned(),
            what.to_owned(),
            hop.count.to_string(),
            time(hop.service_fs),
            time(hop.waited_fs()),
            share(hop.service_fs + hop.waited_fs()),
            waits.join("; "),
        ]);
    }
    let waited = hops.hops.values().map(Hop::waited_fs).sum::<u128>();
    let service = time(hops.total_fs - waited);
    table.row(["all".into(), String::new(), String::new(), service, time(waited), share(hops.total_fs), String::new()]);
    table.print(out)
}

fn hops_json(hops: &Hops) -> Value {
    let rows = hops.hops.iter().map(|(&(place, what), hop)| {
        let waits = hop.waits_fs.iter().map(|(wait, fs)| ((*wait).to_owned(), Value::from(*fs as u64)));
        json!({
            "where": place,
            "what": what,
            "count": hop.count,
            "service_fs": hop.service_fs as u64,
            "waits_fs": waits.collect::<serde_json::Map<_, _>>(),
        })
    });
    json!({"total_fs": hops.total_fs as u64, "hops": rows.collect::<Value>()})
}

fn print(trees: &Trees, out: &mut dyn Write) -> std::io::Result<()> {
    let mut table =
        TextTable::new(["where", "transaction", "count", "open", "mean ns", "max ns", "waits: times, ns in all"]);
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
