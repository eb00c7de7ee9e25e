//! Links of one device of CXL.mem, links of CXL.io, of UALink, or of NVLink, past the checker that judges their transactions.
//!
//! A walk through one message: those of all links are taken in the order of time, as for coherence (`coherence`), each with the
//! number of the flit that ended it, counted from the last reset as the output counts them. Time goes on with the messages, to the
//! beginning of each reset, and to the last edge of the clock; an answer that is late is said of the last flit of its direction by then, or
//! of that of its request if this is later. A reset of any link, or
//! the end of one of UALink, makes the checker begin anew.

use super::link::Said;
use super::map::MappedTransactions;
use super::stream::UnitStream;
use scalepool_link::hook::Direction;
use scalepool_link::protocol::LinkProtocol;
use scalepool_link::watch::WatchedContent;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::wire::Violation;
use scalepool_transactions::{TransactionChecker, TransactionFinding};

/// A link: its name, what its two directions carry, what was said on it.
pub(super) struct JudgedLink<'a> {
    pub name: &'a str,
    /// What the watched end receives and sends.
    pub streams: [&'a UnitStream; 2],
    pub said: &'a [(u64, Said)],
}

impl JudgedLink<'_> {
    fn way(&self, dir: Dir) -> usize {
        usize::from(self.streams[1].dir() == dir)
    }

    /// What was said, with the time from which on it counts \[fs\]. A reset is said with its end: nobody is owed an answer from its
    /// beginning on.
    fn said(&self) -> impl Iterator<Item = (u64, &Said)> {
        let mut before_fs = 0;
        self.said.iter().map(move |(t_fs, what)| {
            let resets = self.streams.into_iter().flat_map(UnitStream::resets).filter(|reset| reset.ends_fs == *t_fs);
            let begins_fs = match what {
                Said::Reset(_) => resets.map(|reset| reset.begins_fs).min(),
                Said::Message(..) => None,
            };
            before_fs = begins_fs.unwrap_or(*t_fs).max(before_fs);
            (before_fs, what)
        })
    }
}

/// The checker, and what has to be known to name a unit.
struct TransactionJudge<'a> {
    links: &'a [JudgedLink<'a>],
    checker: TransactionChecker,
    /// Units before the last reset, by link and way.
    first: Vec<[usize; 2]>,
    broken: Vec<(usize, Direction, usize, Violation)>,
}

impl TransactionJudge<'_> {
    fn keep(&mut self, found: Vec<TransactionFinding>) {
        for TransactionFinding { link, dir, unit, asked, violation, .. } in found {
            let place = |(dir, unit): (Dir, u64)| {
                let way = self.links[link].way(dir);
                let stream = self.links[link].streams[way];
                let unit = (self.first[link][way] + unit as usize).min(stream.count().saturating_sub(1));
                (way, unit, stream.unit_end_fs(unit))
            };
            let mut at = place((dir, unit));
            // Where nothing has passed behind a request, its own flit shows that nothing came.
            if let Some(request) = asked.map(place).filter(|request| request.2 > at.2) {
                at = request;
            }
            self.broken.push((link, [Direction::Rx, Direction::Tx][at.0], at.1, violation));
        }
    }

    /// Time goes on.
    fn clock(&mut self, t_fs: u64) {
        for (link, of) in self.links.iter().enumerate() {
            for (way, stream) in of.streams.into_iter().enumerate() {
                if let Some(unit) = stream.last_at(t_fs).and_then(|unit| unit.checked_sub(self.first[link][way])) {
                    self.checker.unit(link, stream.dir(), unit as u64);
                }
            }
        }
        let late = self.checker.clock(t_fs);
        self.keep(late);
    }
}

/// What is wrong, by the link, an index into what was given, its way and the number of the unit.
pub(super) fn judge(
    map: &MappedTransactions,
    protocol: LinkProtocol,
    links: &[JudgedLink<'_>],
) -> Vec<(usize, Direction, usize, Violation)> {
    let fresh = || map.checker(protocol, links.iter().map(|link| link.name.to_owned()).collect());
    let mut said: Vec<(u64, usize, &Said)> = Vec::new();
    for (link, of) in links.iter().enumerate() {
        said.extend(of.said().map(|(t_fs, what)| (t_fs, link, what)));
    }
    // The sort is stable: what one link says keeps its order.
    scalepool_ordered::sort_by_key(&mut said, |(t_fs, ..)| *t_fs);
    let mut judge = TransactionJudge { links, checker: fresh(), first: vec![[0; 2]; links.len()], broken: Vec::new() };
    for (t_fs, link, what) in said {
        if map.answer_ns.is_some() {
            judge.clock(t_fs);
        }
        match what {
            Said::Reset(before) => {
                judge.checker = fresh();
                judge.first[link] = *before;
            }
            Said::Message(way, unit, message) => {
                let at = usize::from(*way == Direction::Tx);
                let number = unit.saturating_sub(judge.first[link][at]) as u64;
                let found = match message {
                    WatchedContent::Cxl(message) => judge.checker.see_cxl(link, number, message),
                    WatchedContent::SpareData { slot } => {
                        judge.checker.see_spare_data(link, links[link].streams[at].dir(), number, *slot)
                    }
                    WatchedContent::Tlp { bytes, form } => {
                        let dir = links[link].streams[at].dir();
                        judge.checker.see_tlp(link, dir, number, bytes, *form)
                    }
                    WatchedContent::Ualink(transfer) => {
                        let dir = links[link].streams[at].dir();
                        judge.checker.see_ualink(link, dir, number, transfer)
                    }
                    WatchedContent::Nvlink(packet) => {
                        let dir = links[link].streams[at].dir();
                        judge.checker.see_nvlink(link, dir, number, packet)
                    }
                    WatchedContent::Restart => {
                        judge.checker = fresh();
                        Vec::new()
                    }
                };
                judge.keep(found);
            }
        }
    }
    // What hangs sends nothing any more: a clock that goes on tells how long nothing has come.
    judge.clock(links.iter().flat_map(|link| link.streams).map(UnitStream::last_edge_fs).max().unwrap_or_default());
    if map.ends_at_rest {
        let open = judge.checker.finish();
        judge.keep(open);
    }
    judge.broken
}
