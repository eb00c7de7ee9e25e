//! The credit book of one end (`cxl-256b` §1.6, §9).
//!
//! Modelled: credits to spend on the peer's buffers, credits to return for our own, one channel a group and flit in turn,
//! returns that are forced. One credit is one message with its line and trailer. Left out: what a buffer holds.
//!
//! A walk: the peer's CRD fields add to `spend`; the packer takes one off a message. A message that we received used one
//! of `granted`; when its consumer takes it, one is `pending` and goes back in a CRD field, the largest count that fits.

use super::config::CreditReturn;
use scalepool_protocols::cxl::cxl256::Class;
use scalepool_protocols::cxl::cxl256::crd::{CHANNELS, Crd, RequestCredit};

/// Group of the request channels, whose bits also mark an Empty flit.
const REQUESTS: usize = 0;

/// Credits of one end, by [`Class::index`].
#[derive(Debug, Clone)]
pub struct CreditBook {
    sends: [bool; Class::COUNT],
    /// Messages that may be sent now.
    pub spend: [u16; Class::COUNT],
    /// Credits that the peer has given, all from the start.
    received: [u64; Class::COUNT],
    /// Buffers of our own that are free and not granted.
    pending: [u16; Class::COUNT],
    /// Sum of them.
    pending_in_all: u32,
    /// Buffers of our own, by class.
    buffers: [u16; Class::COUNT],
    /// Credits granted to the peer and not used by it.
    granted: [u16; Class::COUNT],
    /// Channel of each group that is asked first.
    turn: [usize; 3],
    /// Flit clock since which credits wait.
    waiting_since: Option<u64>,
    /// By [`Class::index`]: refills of the other channels of its group since one has messages and no credit.
    dry_refills: [u32; Class::COUNT],
}

impl CreditBook {
    /// The book of an end that may send `sends` and has `buffers` free messages a class.
    pub fn new(sends: [bool; Class::COUNT], buffers: [u16; Class::COUNT]) -> CreditBook {
        let (spend, granted) = ([0; Class::COUNT], [0; Class::COUNT]);
        CreditBook {
            sends,
            spend,
            received: [0; Class::COUNT],
            pending: buffers,
            pending_in_all: buffers.iter().map(|&n| u32::from(n)).sum(),
            buffers,
            granted,
            turn: [0; 3],
            waiting_since: None,
            dry_refills: [0; Class::COUNT],
        }
    }

    /// Takes the credits of a received flit; gives the channels that this end does not send.
    pub fn receive(&mut self, crd: &Crd) -> Vec<Class> {
        let mut foreign = Vec::new();
        for (class, count) in crd.credits() {
            let spend = &mut self.spend[class.index()];
            if self.sends[class.index()] {
                *spend = spend.saturating_add(count.into());
                self.received[class.index()] += u64::from(count);
            } else {
                foreign.push(class);
            }
        }
        foreign
    }

    /// Credits of a channel that the peer has given, all from the start.
    pub fn received(&self, class: Class) -> u64 {
        self.received[class.index()]
    }

    /// Follows a refill: a channel with messages that wait and no credit counts those of the other channels of its group.
    /// Gives the channels that have starved for `limit` of them, once each.
    pub fn starved(&mut self, crd: &Crd, limit: u32, waits: impl Fn(Class) -> bool) -> Vec<Class> {
        let mut found = Vec::new();
        for (channels, filled) in CHANNELS.iter().zip(crd.by_group()) {
            if filled.is_none() {
                continue;
            }
            for class in channels.iter().copied() {
                let dry = self.spend[class.index()] == 0 && waits(class);
                let refills = &mut self.dry_refills[class.index()];
                *refills = if dry { refills.saturating_add(1) } else { 0 };
                if *refills == limit {
                    found.push(class);
                }
            }
        }
        found
    }

    /// A message has come in. `false`: the peer had no credit for it.
    pub fn arrived(&mut self, class: Class) -> bool {
        let granted = &mut self.granted[class.index()];
        let had = *granted > 0;
        *granted = granted.saturating_sub(1);
        had
    }

    /// The consumer has taken a message out of its buffer.
    pub fn freed(&mut self, class: Class) {
        self.pending[class.index()] += 1;
        self.pending_in_all += 1;
    }

    /// Buffers of a class that are neither free nor granted: they hold messages that came and that nobody has taken. A message
    /// without a credit had no buffer.
    pub fn held(&self, class: Class) -> u16 {
        let i = class.index();
        self.buffers[i].saturating_sub(self.pending[i] + self.granted[i])
    }

    /// Credits that wait to be returned, over all classes.
    pub fn pending(&self) -> u32 {
        self.pending_in_all
    }

    /// Credits granted to the peer and not used by it.
    pub fn granted(&self, class: Class) -> u16 {
        self.granted[class.index()]
    }

    /// Notes since when credits wait.
    pub fn clock(&mut self, now_flits: u64) {
        self.waiting_since = (self.pending() > 0).then(|| self.waiting_since.unwrap_or(now_flits));
    }

    /// Flit clock from which credits go even without a message; `None`: none wait.
    pub fn forced_at(&self, choice: &CreditReturn) -> Option<u64> {
        let since = self.waiting_since.filter(|_| self.pending() > 0)?;
        let full = self.pending.iter().any(|&n| n >= choice.credits);
        Some(if full { since } else { since + u64::from(choice.waiting_flits) })
    }

    /// The CRD field of the next flit with messages; the credits count as returned.
    pub fn take(&mut self) -> Crd {
        self.groups(REQUESTS)
    }

    /// The CRD field of the next flit without messages. Request credits and the mark of an Empty flit share their bits:
    /// with request credits due it is a flit with credits alone, which is not marked; so it is while none may be marked.
    pub fn take_alone(&mut self, may_mark: bool) -> Crd {
        let requests = CHANNELS[REQUESTS].iter().any(|c| self.pending[c.index()] > 0);
        let unmarked = requests || !may_mark;
        let crd = self.groups(if unmarked { REQUESTS } else { REQUESTS + 1 });
        if unmarked { crd } else { Crd { request: RequestCredit::EmptyFlit, ..crd } }
    }

    fn groups(&mut self, first: usize) -> Crd {
        let mut crd = Crd::default();
        for (group, turn) in CHANNELS.iter().zip(&mut self.turn).skip(first) {
            let order = (0..group.len()).map(|k| (*turn + k) % group.len());
            let Some(at) = order.into_iter().find(|&k| self.pending[group[k].index()] > 0) else { continue };
            let i = group[at].index();
            let given = u16::from(crd.give(group[at], self.pending[i]));
            self.pending[i] -= given;
            self.pending_in_all -= u32::from(given);
            self.granted[i] += given;
            *turn = (at + 1) % group.len();
        }
        self.waiting_since = None;
        crd
    }
}
