//! Posted requests that are not performed, and the FLUSHes that wait for them (`bridge` §6.3).
//!
//! Modelled: posted requests of each source and link by the order in which they came; a FLUSH that covers what has come before it, or, our
//! choice, states in address bits 35:4 how many of its link it covers, as GPUs of this model do; the first
//! error of a source, which the next FLUSH reports. Left out: what a posted request does. A walk: a source has posted two writes over a
//! link and asks for a FLUSH of two; the second write is performed first, the FLUSH waits on; the first ends with status 3; the FLUSH is
//! answered with 3, and the next one with 0.

use super::request::FlushCover;
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::ualink::code::Status;

/// A source and one of its links.
type PostedWay = (u16, usize);

/// Posted requests that a FLUSH waits for: so many of each source and link, counted from the first one of all.
pub type CoveredRequests = Vec<(PostedWay, u64)>;

/// Posted requests.
#[derive(Debug, Clone, Default)]
pub struct PostedBook {
    /// How many have come.
    arrived: OrderedMap<PostedWay, u64>,
    /// Numbers of those that are not performed.
    open: OrderedMap<PostedWay, OrderedSet<u64>>,
    /// The first error of a source.
    errors: OrderedMap<u16, Status>,
    /// Entries of FLUSHes that are not answered.
    flushes: OrderedSet<u16>,
}

impl PostedBook {
    /// A posted request has come; its number.
    pub fn arrives(&mut self, way: PostedWay) -> u64 {
        let arrived = self.arrived.entry(way).or_default();
        let number = *arrived;
        *arrived += 1;
        self.open.entry(way).or_default().insert(number);
        number
    }

    /// It is performed, with a status that nobody is told of now. The FLUSHes that may be answered from here on.
    pub fn performed(&mut self, way: PostedWay, number: u64, status: Status) -> Vec<u16> {
        if let Some(open) = self.open.get_mut(&way) {
            open.remove(&number);
            if open.is_empty() {
                self.open.remove(&way);
            }
        }
        if status != Status::OKAY {
            self.errors.entry(way.0).or_insert(status);
        }
        self.flushes.iter().copied().collect()
    }

    /// What a FLUSH covers that comes now: so many requests of each way.
    pub fn covered(&self, source: u16, cover: FlushCover) -> CoveredRequests {
        match cover {
            FlushCover::Arrived => {
                self.arrived.range((source, 0)..=(source, usize::MAX)).map(|(way, count)| (*way, *count)).collect()
            }
            FlushCover::Counted { link, count } => vec![((source, link), count)],
        }
    }

    /// Whether all that a FLUSH covers has come and is performed.
    pub fn are_performed(&self, covered: &CoveredRequests) -> bool {
        covered.iter().all(|(way, count)| self.are_done(*way, *count))
    }

    /// Whether so many requests have come and are performed.
    fn are_done(&self, way: PostedWay, count: u64) -> bool {
        let has_come = self.arrived.get(&way).copied().unwrap_or(0) >= count;
        let first = self.open.get(&way).and_then(|open| open.first());
        has_come && first.is_none_or(|first| *first >= count)
    }

    /// A FLUSH waits.
    pub fn waits(&mut self, entry: u16) {
        self.flushes.insert(entry);
    }

    /// A FLUSH of a source is answered; with which status.
    pub fn answers(&mut self, entry: u16, source: u16) -> Status {
        self.flushes.remove(&entry);
        self.errors.remove(&source).unwrap_or(Status::OKAY)
    }
}
