//! Trees of transactions out of a trace: what an access caused, where, for how long, and what for it waited.
//!
//! Modelled: transactions by their ids, from the records `begin`, `mark` and `end` of [`super::jsonl`]; children in the order of
//! their beginning. A transaction that has not ended, and a wait that is not over, last to the last record of the trace. Left
//! out: flits, values, the fields of messages other than what they ask for and where.
//!
//! A walk: every record is read once; a `begin` makes a transaction and joins it to its parent; a mark with the name of a
//! [`Wait`] opens a wait of that transaction at that place, and what follows there closes it; then trees are printed, or sums.

use scalepool_ordered::{OrderedMap, OrderedSet};
use std::fmt::Write;
use std::io::BufRead;

use serde_json::{Value, json};

use super::diff::{DiffError, DiffInput, Lines};
use super::wait::{WAIT_OVER, Wait};

/// What makes an explanation impossible.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// The file is no trace.
    #[error(transparent)]
    Trace(#[from] DiffError),
    /// A record lacks something.
    #[error("{file}:{line}: found a record without `{field}`, expected one that every record of a trace has")]
    Record {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What it lacks.
        field: &'static str,
    },
    /// There is no such transaction.
    #[error("--txn: found {found}, expected the id of one of the {known} transactions that begin in {file}")]
    NoId {
        /// The file.
        file: String,
        /// The id.
        found: u64,
        /// How many there are.
        known: usize,
    },
}

/// A while in which a transaction waited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waited {
    /// Why: the name of a [`Wait`].
    pub wait: &'static str,
    /// Who let it wait.
    pub place: String,
    /// The transaction that had to end before, 0 where none is known.
    pub holder: u64,
    /// When it began \[fs\].
    pub from_fs: u64,
    /// When it was over \[fs\]; `None`: it was not.
    pub to_fs: Option<u64>,
}

/// A vPPB of a switch with virtual hierarchies that a transaction passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedVppb {
    /// The switch, or the port of it that records what passes.
    pub place: String,
    /// Virtual hierarchy, from 0.
    pub vcs: u64,
    /// vPPB of a downstream port, from 0.
    pub vppb: u64,
}

/// A transaction of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceTransaction {
    /// The one that caused it, 0 for none.
    pub parent: u64,
    /// Where it began.
    pub place: String,
    /// What is done, e.g. `read` or `cxl68.m2s_req MemRd`.
    pub what: String,
    /// Address, as the trace has it; empty where there is none.
    pub address: String,
    /// When it began \[fs\].
    pub begin_fs: u64,
    /// When it ended \[fs\]; `None`: it did not.
    pub end_fs: Option<u64>,
    /// Its waits, in the order of their beginning.
    pub waits: Vec<Waited>,
    /// vPPBs that it passes, each once, in the order of the trace.
    pub vppbs: Vec<PassedVppb>,
    /// Those that it caused, in the order of their beginning.
    pub children: Vec<u64>,
}

impl TraceTransaction {
    /// How long it took \[fs\]; 0 if it has not ended.
    pub fn time_fs(&self) -> u64 {
        self.end_fs.map_or(0, |end_fs| end_fs.saturating_sub(self.begin_fs))
    }
}

/// All transactions of a trace.
#[derive(Debug, Default)]
pub struct Trees {
    file: String,
    all: OrderedMap<u64, TraceTransaction>,
    last_fs: u64,
    /// Ids that have ended without a beginning before.
    ended: OrderedSet<u64>,
    broken: Vec<String>,
}

/// Sums over the transactions of one kind at one place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sums {
    /// How many began.
    pub count: u64,
    /// How many of them did not end.
    pub open: u64,
    /// Time of all that ended \[fs\].
    pub total_fs: u128,
    /// Longest time \[fs\].
    pub max_fs: u64,
    /// By reason: how often, and how long in all \[fs\].
    pub waits: OrderedMap<&'static str, (u64, u128)>,
}

impl Sums {
    /// Mean time of those that ended \[fs\]; 0: none has.
    pub fn mean_fs(&self) -> u64 {
        (self.total_fs / u128::from(self.count - self.open).max(1)) as u64
    }
}

/// An integer of a record, also where it stands as a `0x` string.
fn number(record: &Value, field: &'static str) -> Option<u64> {
    scalepool_forms::number::from_json(record.get(field)?, field).ok().map(|n| n as u64)
}

/// What a record that begins a transaction asks for, and where.
fn what(record: &Value) -> (String, String) {
    let (mut what, fields) = (String::new(), &record["fields"]);
    let name = ["message", "name"].into_iter().find_map(|key| record[key].as_str());
    what.push_str(name.unwrap_or("transaction"));
    if let Some(code) = ["opcode", "op", "cmd", "fmt_type", "ftype"].into_iter().find_map(|key| fields[key].as_str()) {
        what.push(' ');
        what.push_str(code);
    }
    let address = record["address"].as_str().or(fields["address"].as_str()).unwrap_or_default();
    (what, address.to_owned())
}

impl Trees {
    /// Reads a trace.
    ///
    /// # Errors
    /// What is no trace.
    pub fn read<R: BufRead>(input: DiffInput<R>) -> Result<Trees, ExplainError> {
        let mut trees = Trees { file: input.name.clone(), ..Trees::default() };
        let mut lines = Lines::new(input, &[]);
        lines.header()?;
        while let Some((line, record)) = lines.next()? {
            let lacks = |field| ExplainError::Record { file: trees.file.clone(), line: line.number, field };
            let [t_fs, id, parent] =
                ["t_fs", "id", "parent"].map(|field| number(&record, field).ok_or_else(|| lacks(field)));
            let text = |field| record[field].as_str().ok_or_else(|| lacks(field));
            let (place, kind) = (text("where")?, text("kind")?);
            let (t_fs, id, parent) = (t_fs?, id?, parent?);
            trees.last_fs = trees.last_fs.max(t_fs);
            trees.take(line.number, (t_fs, place, kind), (id, parent), &record);
        }
        Ok(trees)
    }

    fn take(&mut self, line: usize, (t_fs, place, kind): (u64, &str, &str), (id, parent): (u64, u64), record: &Value) {
        match kind {
            "begin" => return self.begin(line, (t_fs, place), (id, parent), record),
            "mark" | "end" if id != 0 => (),
            _ => return,
        }
        // What began before the trace did is left out, and its id does not begin again.
        let Some(transaction) = self.all.get_mut(&id) else {
            if kind == "end" {
                self.ended.insert(id);
            }
            return;
        };
        if t_fs < transaction.begin_fs {
            let begin_fs = transaction.begin_fs;
            let text =
                format!("found `{kind}` of id {id} at {t_fs} fs, expected none before it begins at {begin_fs} fs");
            self.broken.push(format!("{}:{line}: {text}", self.file));
            return;
        }
        if let (Some(vcs), Some(vppb)) = (number(record, "vcs"), number(record, "vppb")) {
            let passed = PassedVppb { place: place.to_owned(), vcs, vppb };
            // Its answer comes back by the same one.
            if !transaction.vppbs.contains(&passed) {
                transaction.vppbs.push(passed);
            }
        }
        let name = record["name"].as_str().unwrap_or_default();
        let reason = Wait::ALL.iter().map(|wait| wait.name()).find(|wait| kind == "mark" && *wait == name);
        if kind == "end" {
            transaction.end_fs = Some(t_fs);
        }
        if kind == "end" || reason.is_some() || name == WAIT_OVER {
            let of_place = |w: &&mut Waited| w.to_fs.is_none() && (kind == "end" || w.place == place);
            transaction.waits.iter_mut().filter(of_place).for_each(|w| w.to_fs = Some(t_fs));
        }
        if let Some(wait) = reason {
            let holder = number(record, "holder").unwrap_or(0);
            transaction.waits.push(Waited { wait, place: place.to_owned(), holder, from_fs: t_fs, to_fs: None });
        }
    }

    fn begin(&mut self, line: usize, (t_fs, place): (u64, &str), (id, parent): (u64, u64), record: &Value) {
        let at = format!("{}:{line}", self.file);
        match self.all.get_mut(&parent) {
            Some(cause) => cause.children.push(id),
            None if parent != 0 => {
                self.broken.push(format!("{at}: found parent {parent}, expected a transaction that began before"));
            }
            None => (),
        }
        if self.ended.contains(&id) {
            self.broken.push(format!("{at}: found the beginning of id {id} behind its end, expected it before"));
        }
        let (what, address) = what(record);
        let (place, begin_fs, end_fs) = (place.to_owned(), t_fs, None);
        let (waits, vppbs, children) = (Vec::new(), Vec::new(), Vec::new());
        let new = TraceTransaction { parent, place, what, address, begin_fs, end_fs, waits, vppbs, children };
        if id == 0 || self.all.insert(id, new).is_some() {
            self.broken.push(format!("{at}: found id {id} again, expected an id of its own for what begins"));
        }
    }

    /// Transactions whose parent has not begun in the trace, and ids that begin twice. A trace of some places or of a part of
    /// the time has such parents.
    pub fn broken(&self) -> &[String] {
        &self.broken
    }

    /// All transactions, by id.
    pub fn all(&self) -> &OrderedMap<u64, TraceTransaction> {
        &self.all
    }

    /// Transactions that nothing caused and that have ended, by id.
    pub fn ended_roots(&self) -> impl Iterator<Item = (u64, &TraceTransaction)> {
        self.all.iter().filter(|(_, t)| t.parent == 0 && t.end_fs.is_some()).map(|(&id, t)| (id, t))
    }

    /// Time of the last record \[fs\].
    pub fn last_fs(&self) -> u64 {
        self.last_fs
    }

    /// The transaction of an id.
    ///
    /// # Errors
    /// There is none.
    pub fn get(&self, id: u64) -> Result<&TraceTransaction, ExplainError> {
        let none = || ExplainError::NoId { file: self.file.clone(), found: id, known: self.all.len() };
        self.all.get(&id).ok_or_else(none)
    }

    /// Sums by place and kind of transaction.
    pub fn sums(&self) -> OrderedMap<(&str, &str), Sums> {
        let mut all: OrderedMap<(&str, &str), Sums> = OrderedMap::new();
        for transaction in self.all.values() {
            let sums = all.entry((&transaction.place, &transaction.what)).or_default();
            sums.count += 1;
            match transaction.end_fs {
                None => sums.open += 1,
                Some(end_fs) => {
                    let fs = end_fs.saturating_sub(transaction.begin_fs);
                    sums.total_fs += u128::from(fs);
                    sums.max_fs = sums.max_fs.max(fs);
                }
            }
            for waited in &transaction.waits {
                let (count, fs) = sums.waits.entry(waited.wait).or_default();
                *count += 1;
                *fs += u128::from(waited.to_fs.unwrap_or(self.last_fs) - waited.from_fs);
            }
        }
        all
    }

    /// The tree below a transaction for people, a line for each transaction and wait.
    ///
    /// # Errors
    /// There is no such transaction.
    pub fn tree(&self, id: u64) -> Result<String, ExplainError> {
        self.get(id)?;
        let mut out = String::new();
        let mut todo = vec![(id, 0)];
        while let Some((id, depth)) = todo.pop() {
            let Some(transaction) = self.all.get(&id) else { continue };
            self.describe(id, transaction, depth, &mut out);
            todo.extend(transaction.children.iter().rev().map(|child| (*child, depth + 1)));
        }
        Ok(out)
    }

    fn describe(&self, id: u64, transaction: &TraceTransaction, depth: usize, out: &mut String) {
        let TraceTransaction { place, what, address, begin_fs, end_fs, waits, vppbs, .. } = transaction;
        let (indent, gap) = ("  ".repeat(depth), if address.is_empty() { "" } else { " " });
        let span = self.span(*begin_fs, *end_fs, "has not ended");
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{indent}{place}: {what}{gap}{address} (id {id}), {span}");
        for PassedVppb { place, vcs, vppb } in vppbs {
            let _ = writeln!(out, "{indent}  - passes vPPB {vppb} of VCS {vcs} at {place}");
        }
        for Waited { wait, place, holder, from_fs, to_fs } in waits {
            let holder = if *holder == 0 { String::new() } else { format!(" for id {holder}") };
            let span = self.span(*from_fs, *to_fs, "is not over");
            let _ = writeln!(out, "{indent}  - {wait}{holder} at {place}, {span}");
        }
    }

    fn span(&self, from_fs: u64, to_fs: Option<u64>, open: &str) -> String {
        match to_fs {
            Some(to_fs) => format!("{} to {} ns: {} ns", ns(from_fs), ns(to_fs), ns(to_fs.saturating_sub(from_fs))),
            None => format!("from {} ns, {open}", ns(from_fs)),
        }
    }

    /// The same tree as one object.
    ///
    /// # Errors
    /// There is no such transaction.
    pub fn tree_json(&self, id: u64) -> Result<Value, ExplainError> {
        let transaction = self.get(id)?;
        let children: Result<Vec<Value>, _> = transaction.children.iter().map(|child| self.tree_json(*child)).collect();
        let wait = |w: &Waited| json!({"wait": w.wait, "where": w.place, "holder": w.holder, "from_fs": w.from_fs, "to_fs": w.to_fs});
        let passed = |p: &PassedVppb| json!({"where": p.place, "vcs": p.vcs, "vppb": p.vppb});
        Ok(json!({
            "id": id,
            "parent": transaction.parent,
            "where": transaction.place,
            "what": transaction.what,
            "address": transaction.address,
            "begin_fs": transaction.begin_fs,
            "end_fs": transaction.end_fs,
            "waits": transaction.waits.iter().map(wait).collect::<Vec<_>>(),
            "vppbs": transaction.vppbs.iter().map(passed).collect::<Vec<_>>(),
            "children": children?,
        }))
    }
}

/// Nanoseconds with as many decimals as it takes.
pub fn ns(fs: u64) -> String {
    let text = format!("{}.{:06}", fs / 1_000_000, fs % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "{\"format\":\"scalepool-trace\",\"format_version\":1}\n";

    fn read(lines: &[&str]) -> Result<Trees, ExplainError> {
        let text = format!("{HEAD}{}\n", lines.join("\n"));
        Trees::read(DiffInput { name: "t.jsonl".to_owned(), reader: std::io::Cursor::new(text) })
    }

    #[test]
    fn a_tree_has_times_places_and_waits() {
        let trees = read(&[
            r#"{"t_fs":0,"where":"host","kind":"begin","id":1,"parent":0,"name":"read","address":"0x40"}"#,
            r#"{"t_fs":0,"where":"host","kind":"mark","id":1,"parent":0,"name":"wait_tag"}"#,
            r#"{"t_fs":1500000,"where":"host","kind":"mark","id":1,"parent":0,"name":"wait_line","holder":9}"#,
            r#"{"t_fs":2000000,"where":"host","kind":"mark","id":1,"parent":0,"name":"wait_over"}"#,
            r#"{"t_fs":2000000,"where":"host","kind":"begin","id":2,"parent":1,"message":"x.req","fields":{"opcode":"Rd"}}"#,
            r#"{"t_fs":2500000,"where":"wire","kind":"flit","id":0,"parent":0}"#,
            r#"{"t_fs":2600000,"where":"switch","kind":"mark","id":2,"parent":1,"message":"x.req","vcs":1,"vppb":3}"#,
            r#"{"t_fs":3000000,"where":"device","kind":"begin","id":68719476737,"parent":2,"message":"x.req"}"#,
            r#"{"t_fs":3000000,"where":"device","kind":"mark","id":68719476737,"parent":2,"name":"wait_media"}"#,
            r#"{"t_fs":3900000,"where":"switch","kind":"mark","id":2,"parent":1,"message":"x.rsp","vcs":1,"vppb":3}"#,
            r#"{"t_fs":4000000,"where":"host","kind":"end","id":2,"parent":1}"#,
            r#"{"t_fs":4000001,"where":"host","kind":"end","id":1,"parent":0}"#,
        ])
        .expect("a trace");
        assert_eq!(trees.broken(), [""; 0]);
        let expected = "\
host: read 0x40 (id 1), 0 to 4.000001 ns: 4.000001 ns
  - wait_tag at host, 0 to 1.5 ns: 1.5 ns
  - wait_line for id 9 at host, 1.5 to 2 ns: 0.5 ns
  host: x.req Rd (id 2), 2 to 4 ns: 2 ns
    - passes vPPB 3 of VCS 1 at switch
    device: x.req (id 68719476737), from 3 ns, has not ended
      - wait_media at device, from 3 ns, is not over
";
        assert_eq!(trees.tree(1).expect("it is there"), expected);
        assert_eq!(trees.tree_json(2).expect("it is there")["children"][0]["waits"][0]["to_fs"], Value::Null);
        let sums = &trees.sums()[&("device", "x.req")];
        assert_eq!((sums.count, sums.open, sums.waits["wait_media"]), (1, 1, (1, 1_000_001)));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let orphan_of_1 = r#"{"t_fs":2000,"where":"a","kind":"begin","id":1,"parent":0}"#;
        let orphan = r#"{"t_fs":0,"where":"a","kind":"begin","id":3,"parent":2}"#;
        let trees = read(&[orphan, r#"{"t_fs":1,"where":"a","kind":"begin","id":3,"parent":0}"#]).expect("a trace");
        let expected = [
            "t.jsonl:2: found parent 2, expected a transaction that began before",
            "t.jsonl:3: found id 3 again, expected an id of its own for what begins",
        ];
        assert_eq!(trees.broken(), expected);
        let error = trees.tree(4).expect_err("no such id").to_string();
        let early = [r#"{"t_fs":1000,"where":"a","kind":"end","id":1,"parent":0}"#, orphan_of_1];
        let trees = read(&early).expect("a trace");
        assert_eq!(trees.broken, ["t.jsonl:3: found the beginning of id 1 behind its end, expected it before"]);
        let late = r#"{"t_fs":10,"where":"a","kind":"begin","id":3,"parent":0}"#;
        let trees = read(&[late, r#"{"t_fs":5,"where":"a","kind":"end","id":3,"parent":0}"#]).expect("a trace");
        let expected = "t.jsonl:3: found `end` of id 3 at 5 fs, expected none before it begins at 10 fs";
        assert_eq!(trees.broken, [expected]);
        assert_eq!(error, "--txn: found 4, expected the id of one of the 1 transactions that begin in t.jsonl");
        let error = read(&[r#"{"t_fs":0,"where":"a","kind":"end"}"#]).expect_err("no id").to_string();
        assert_eq!(error, "t.jsonl:2: found a record without `id`, expected one that every record of a trace has");
    }
}
