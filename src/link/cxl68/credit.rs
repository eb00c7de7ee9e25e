//! The credit book of one end (`cxl-68b` §5.4).
//!
//! Modelled: credits to spend on the peer's buffers, credits to return for our own, the alternation of CXL.cache and
//! CXL.mem in each field. One credit is one message with all its data. Left out: what a buffer holds.
//!
//! A walk: the peer's grants arrive in header or LLCRD fields and are added, saturating, to `spend`; the packer takes one
//! off a message. A message that we received took one of `granted`; when the consumer takes it out of its buffer, one is
//! `pending` and goes back in the next header, the largest power of two that fits \[D\].

use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::credit::{self, CreditField};
use scalepool_protocols::cxl::cxl68::message::Class;

/// Flits with credits for the other protocol after which a waiting protocol counts as starved (CXL68-CRD-05).
const STARVED_AFTER_FLITS: u32 = 64;

/// Flits for which each protocol has waited while a credit field returned credits of the other one.
#[derive(Debug, Clone, Copy, Default)]
pub struct CreditTurns([u32; 2]);

impl CreditTurns {
    /// The field returns credits of CXL.mem or of CXL.cache; `waits` says of CXL.cache and of CXL.mem whether credits are
    /// pending. The rule that is broken when one has waited for more than 64 flits.
    pub fn returned(&mut self, mem: bool, waits: [bool; 2]) -> Option<&'static str> {
        if !waits[usize::from(!mem)] {
            self.0 = [0; 2];
            return None;
        }
        let mut broken = None;
        for (other, starved) in [false, true].into_iter().zip(&mut self.0) {
            *starved = if other != mem && waits[usize::from(other)] { *starved + 1 } else { 0 };
            if *starved > STARVED_AFTER_FLITS {
                broken = Some("CXL68-CRD-05");
            }
        }
        broken
    }
}

/// Credits of one end, by [`Class::index`].
#[derive(Debug, Clone)]
pub struct CreditBook {
    /// Channels of each field of a header that comes, of CXL.cache and of CXL.mem.
    from_peer: [[Option<Class>; 2]; 3],
    /// Those of a header that goes.
    to_peer: [[Option<Class>; 2]; 3],
    maximum: u16,
    /// Classes that this end may send; credits for others are dropped silently (CRD-07).
    sends: [bool; 10],
    /// Messages that may be sent now.
    pub spend: [u16; 10],
    /// Credits that the peer has given, all from the start.
    received: [u64; 10],
    /// Buffers of our own that are free and not yet granted.
    pending: [u16; 10],
    /// Sum of them.
    pending_in_all: u32,
    /// The classes that have some, bit n for [`Class::index`] n.
    pending_classes: u16,
    /// The classes of each field of a header that goes. Most flits return credits of one field or of none.
    field_classes: [u16; 3],
    /// Buffers of our own, by class.
    buffers: [u16; 10],
    /// Credits granted to the peer and not used by it.
    granted: [u16; 10],
    /// Whether CXL.mem goes next, by field.
    mem_next: [bool; 3],
    turns: [CreditTurns; 3],
}

impl CreditBook {
    /// The book of an end that transmits in `dir`, with `buffers` free messages a class of the other direction.
    pub fn new(dir: Dir, counter_bits: u8, sends: [bool; 10], buffers: [u16; 10]) -> CreditBook {
        let maximum = ((1u32 << counter_bits) - 1) as u16;
        let (spend, granted) = ([0; 10], [0; 10]);
        let set = |classes: &mut dyn Iterator<Item = usize>| classes.fold(0u16, |set, class| set | 1 << class);
        let channels = |dir| CreditField::ALL.map(|field| [false, true].map(|mem| credit::channel(dir, field, mem)));
        CreditBook {
            from_peer: channels(dir.opposite()),
            to_peer: channels(dir),
            maximum,
            sends,
            spend,
            received: [0; 10],
            pending: buffers,
            pending_in_all: buffers.iter().map(|&n| u32::from(n)).sum(),
            pending_classes: set(&mut (0..buffers.len()).filter(|class| buffers[*class] > 0)),
            field_classes: channels(dir).map(|field| set(&mut field.into_iter().flatten().map(Class::index))),
            buffers,
            granted,
            mem_next: [false; 3],
            turns: Default::default(),
        }
    }

    /// Takes the credits of a received header; `codes` in the order Rsp, Req, Data.
    pub fn receive(&mut self, codes: [u8; 3]) {
        for (channels, code) in self.from_peer.iter().zip(codes) {
            // Most fields of most flits have none.
            if code == 0 {
                continue;
            }
            let count = credit::COUNTS[usize::from(code & 7)];
            let Some(i) = channels[usize::from(code & 8 != 0)].map(Class::index).filter(|i| self.sends[*i]) else {
                continue;
            };
            // A counter of 16 bits and what is added to it need 17.
            let (sum, maximum) = (u32::from(self.spend[i]) + u32::from(count), u32::from(self.maximum));
            self.spend[i] = sum.min(maximum) as u16;
            self.received[i] += u64::from(count);
        }
    }

    /// Credits of a class that the peer has given, all from the start.
    pub fn received(&self, class: Class) -> u64 {
        self.received[class.index()]
    }

    /// A message of a class has come in. `false`: the peer had no credit for it (CRD-04).
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
        self.pending_classes |= 1 << class.index();
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

    /// The codes of the next header, in the order Rsp, Req, Data; the credits count as returned. The second value is the
    /// rule that a starved protocol breaks (CRD-05), which our own alternation never lets happen.
    pub fn take(&mut self) -> ([u8; 3], Option<&'static str>) {
        let mut codes = [0; 3];
        let mut broken = None;
        if self.pending_in_all == 0 {
            return (codes, broken);
        }
        for (n, channels) in self.to_peer.iter().enumerate() {
            if self.field_classes[n] & self.pending_classes == 0 {
                continue;
            }
            let waits = channels.map(|class| class.is_some_and(|class| self.pending[class.index()] > 0));
            let mem = match waits {
                [false, false] => continue,
                [true, true] => self.mem_next[n],
                [_, mem] => mem,
            };
            broken = self.turns[n].returned(mem, waits).or(broken);
            self.mem_next[n] = !mem;
            let Some(class) = channels[usize::from(mem)] else { continue };
            let (code, count) = credit::encode(mem, self.pending[class.index()]);
            self.pending[class.index()] -= u16::from(count);
            if self.pending[class.index()] == 0 {
                self.pending_classes &= !(1 << class.index());
            }
            self.pending_in_all -= u32::from(count);
            self.granted[class.index()] += u16::from(count);
            codes[n] = code;
        }
        (codes, broken)
    }
}
