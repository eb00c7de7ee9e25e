//! Where the time of a transaction went, hop by hop: every femtosecond of it belongs to one transaction of its tree, as service
//! or as a wait.
//!
//! Modelled: at each instant the hop that holds the whole transaction up is the deepest one of its tree that has begun and not
//! ended; of several equally deep ones it is the one that ends last, because the others were ready before it. The instant is a
//! wait if that hop waits then, of several waits the one that began last, and service otherwise. Service includes the way of
//! the hop's own messages over links. So the times of all hops sum to the time of the transaction, exactly. Left out: what a
//! transaction caused that was still going on after its end.
//!
//! A walk: the transactions below a root are collected with their depth, all begins and ends of them and of their waits cut the
//! root's time into pieces, and each piece is added to its hop.

use scalepool_ordered::{OrderedMap, OrderedSet};

use super::explain::{ExplainError, TraceTransaction, Trees};

/// Time that one kind of transaction took at one place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hop {
    /// Transactions that held the whole up for some time.
    pub count: u64,
    /// Time in which they waited for nothing \[fs\].
    pub service_fs: u128,
    /// By reason: time in which they waited \[fs\].
    pub waits_fs: OrderedMap<&'static str, u128>,
}

impl Hop {
    /// Time of all waits \[fs\].
    pub fn waited_fs(&self) -> u128 {
        self.waits_fs.values().sum()
    }
}

/// The hops of one transaction, or of many, by place and kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hops<'a> {
    /// The hops.
    pub hops: OrderedMap<(&'a str, &'a str), Hop>,
    /// Time of the transactions, which is that of all hops \[fs\].
    pub total_fs: u128,
}

impl<'a> Hops<'a> {
    /// The hops of the transaction with an id. One that has not ended lasts to the end of the trace.
    ///
    /// # Errors
    /// [`ExplainError::NoId`].
    pub fn of(trees: &'a Trees, id: u64) -> Result<Hops<'a>, ExplainError> {
        let mut hops = Hops::default();
        let root = trees.get(id)?;
        hops.add(trees, id, root);
        Ok(hops)
    }

    /// The hops of all transactions that nothing caused and that have ended.
    pub fn of_all(trees: &'a Trees) -> Hops<'a> {
        let mut hops = Hops::default();
        trees.ended_roots().for_each(|(id, root)| hops.add(trees, id, root));
        hops
    }

    /// The longest service or wait: its place, its kind of transaction, the reason of a wait, and its time \[fs\].
    pub fn longest(&self) -> Option<(&'a str, &'a str, Option<&'static str>, u128)> {
        let parts = self.hops.iter().flat_map(|(&(place, what), hop)| {
            let waits = hop.waits_fs.iter().map(|(&reason, &fs)| (Some(reason), fs));
            std::iter::once((None, hop.service_fs)).chain(waits).map(move |(reason, fs)| (place, what, reason, fs))
        });
        // The first of equal ones, in the order of the table.
        parts.rev().max_by_key(|(.., fs)| *fs)
    }

    fn add(&mut self, trees: &'a Trees, id: u64, root: &'a TraceTransaction) {
        let end_of = |transaction: &TraceTransaction| transaction.end_fs.unwrap_or(trees.last_fs());
        let (from_fs, to_fs) = (root.begin_fs, end_of(root));
        let mut tree: Vec<(usize, u64, &TraceTransaction)> = Vec::new();
        let mut todo = vec![(id, 0)];
        while let Some((id, depth)) = todo.pop() {
            let Some(transaction) = trees.all().get(&id) else { continue };
            tree.push((depth, id, transaction));
            todo.extend(transaction.children.iter().map(|child| (*child, depth + 1)));
        }
        let waits = |transaction: &TraceTransaction| {
            let ends = transaction.waits.iter().flat_map(|wait| [Some(wait.from_fs), wait.to_fs]);
            ends.flatten().collect::<Vec<u64>>()
        };
        let cuts = tree.iter().flat_map(|(_, _, t)| [vec![t.begin_fs, end_of(t)], waits(t)].concat());
        let mut cuts: Vec<u64> = cuts.filter(|cut| (from_fs..=to_fs).contains(cut)).collect();
        scalepool_ordered::sort(&mut cuts);
        cuts.dedup();
        scalepool_ordered::sort_by_key(&mut tree, |(_, id, t)| (t.begin_fs, *id));
        let mut to_begin = tree.into_iter().peekable();
        // The last one holds the whole up, once those that have ended are gone from behind it.
        let mut going_on: OrderedMap<(usize, u64, u64), &TraceTransaction> = OrderedMap::new();
        let mut held_up = OrderedSet::new();
        for piece in cuts.windows(2) {
            let (from, to) = (piece[0], piece[1]);
            while let Some((depth, id, t)) = to_begin.next_if(|(_, _, t)| t.begin_fs <= from) {
                going_on.insert((depth, end_of(t), id), t);
            }
            while going_on.last_key_value().is_some_and(|(&(_, end, _), _)| end <= from) {
                going_on.pop_last();
            }
            // The root goes on in every piece of its time.
            let Some((&(_, _, id), &hop)) = going_on.last_key_value() else { continue };
            let waits = hop.waits.iter().filter(|w| w.from_fs <= from && w.to_fs.is_none_or(|end| to <= end));
            let sums = self.hops.entry((&hop.place, &hop.what)).or_default();
            let fs = u128::from(to - from);
            match waits.max_by_key(|wait| wait.from_fs) {
                Some(wait) => *sums.waits_fs.entry(wait.wait).or_default() += fs,
                None => sums.service_fs += fs,
            }
            sums.count += u64::from(held_up.insert(id));
            self.total_fs += fs;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::DiffInput;

    fn read(lines: &[&str]) -> Trees {
        let text = format!("{{\"format\":\"scalepool-trace\",\"format_version\":1}}\n{}\n", lines.join("\n"));
        Trees::read(DiffInput { name: "t.jsonl".to_owned(), reader: std::io::Cursor::new(text) }).expect("a trace")
    }

    /// A read with two requests side by side, of which the second ends later; below it the device waits for its media, and has
    /// to do after the read has ended.
    fn two_requests() -> Trees {
        read(&[
            r#"{"t_fs":10,"where":"core","kind":"begin","id":1,"parent":0,"name":"read"}"#,
            r#"{"t_fs":10,"where":"core","kind":"mark","id":1,"parent":0,"name":"wait_tag"}"#,
            r#"{"t_fs":15,"where":"core","kind":"mark","id":1,"parent":0,"name":"wait_over"}"#,
            r#"{"t_fs":20,"where":"port","kind":"begin","id":2,"parent":1,"name":"a"}"#,
            r#"{"t_fs":22,"where":"port","kind":"begin","id":3,"parent":1,"name":"b"}"#,
            r#"{"t_fs":30,"where":"mem","kind":"begin","id":4,"parent":3,"name":"b"}"#,
            r#"{"t_fs":32,"where":"mem","kind":"mark","id":4,"parent":3,"name":"wait_media"}"#,
            r#"{"t_fs":35,"where":"port","kind":"end","id":2,"parent":1}"#,
            r#"{"t_fs":40,"where":"mem","kind":"mark","id":4,"parent":3,"name":"wait_over"}"#,
            r#"{"t_fs":60,"where":"port","kind":"end","id":3,"parent":1}"#,
            r#"{"t_fs":65,"where":"core","kind":"end","id":1,"parent":0}"#,
            r#"{"t_fs":80,"where":"mem","kind":"end","id":4,"parent":3}"#,
        ])
    }

    #[test]
    fn each_instant_belongs_to_the_deepest_hop_and_all_sum_up() {
        let trees = two_requests();
        let hops = Hops::of(&trees, 1).expect("it is there");
        assert_eq!(hops.total_fs, 55);
        let of = |place, what| {
            let hop = &hops.hops[&(place, what)];
            (hop.count, hop.service_fs, hop.waited_fs())
        };
        // 10 to 15 it waits for its tag, 15 to 20 it is served; a alone 20 to 22, b 22 to 30, then the device to the end.
        assert_eq!([of("core", "read"), of("port", "a"), of("port", "b")], [(1, 5, 5), (1, 2, 0), (1, 8, 0)]);
        assert_eq!(of("mem", "b"), (1, 27, 8));
        assert_eq!(hops.hops[&("mem", "b")].waits_fs["wait_media"], 8);
        assert_eq!(hops.longest(), Some(("mem", "b", None, 27)));
        let sum: u128 = hops.hops.values().map(|hop| hop.service_fs + hop.waited_fs()).sum();
        assert_eq!(sum, hops.total_fs);
    }

    #[test]
    fn all_are_those_that_nothing_caused_and_that_ended() {
        let trees = two_requests();
        assert_eq!(Hops::of_all(&trees), Hops::of(&trees, 1).expect("it is there"));
        let open = read(&[
            r#"{"t_fs":0,"where":"core","kind":"begin","id":1,"parent":0,"name":"read"}"#,
            r#"{"t_fs":7,"where":"core","kind":"begin","id":2,"parent":0,"name":"read"}"#,
        ]);
        assert_eq!(Hops::of_all(&open), Hops::default());
        assert_eq!(Hops::of(&open, 1).expect("it is there").total_fs, 7);
    }
}
