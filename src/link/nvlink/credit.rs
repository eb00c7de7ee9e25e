//! The credit book of one end (`nvlink` §6.3).
//!
//! Modelled: for each channel header credits, one a packet, and data credits, one a data flit; AE and BE are free. Credits
//! that CREDIT_INIT gave and those that came back are kept apart. CREDIT_INIT has no number, so it is said in parts with a numbered
//! packet behind each: when that one is acknowledged, the part has been heard, and a replay before says the part again and nothing
//! else. Left out: what a buffer holds.

use super::config::Buffers;
use scalepool_protocols::nvlink::{NvlHeader, Op, Vc};

/// Headers and data flits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NvlCreditCount {
    /// Header credits.
    pub headers: u64,
    /// Data credits.
    pub data_flits: u64,
}

impl NvlCreditCount {
    fn add(&mut self, headers: impl Into<u64>, data_flits: impl Into<u64>) {
        self.headers += headers.into();
        self.data_flits += data_flits.into();
    }

    fn is_zero(&self) -> bool {
        *self == NvlCreditCount::default()
    }
}

/// Credits that CREDIT_INIT has given, by channel number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GivenByInit([NvlCreditCount; Vc::COUNT]);

/// Credits of one end, by channel number.
#[derive(Debug, Clone)]
pub struct CreditBook {
    init: [NvlCreditCount; Vc::COUNT],
    returned: [NvlCreditCount; Vc::COUNT],
    used: [NvlCreditCount; Vc::COUNT],
    /// Our own buffers that are free and not given back.
    pending: [NvlCreditCount; Vc::COUNT],
    /// Credits of the peer: given and not used by it.
    granted: [NvlCreditCount; Vc::COUNT],
    /// What `init` was when the last numbered packet came: a replay does not say it again.
    init_before: [NvlCreditCount; Vc::COUNT],
    /// The next CREDIT_INIT is the first of a repetition.
    begins_again: bool,
    /// What CREDIT_INIT has still to say of its present part, all of that part, and what the parts behind it say.
    unsaid: [NvlCreditCount; Vc::COUNT],
    part: [NvlCreditCount; Vc::COUNT],
    later: [NvlCreditCount; Vc::COUNT],
    turn: usize,
    waiting_flits: u32,
}

/// The largest counts that fit a header: `crh` and `crd` (`nvlink` §6.1).
const MOST: NvlCreditCount = NvlCreditCount { headers: 15, data_flits: 31 };

/// CREDIT_INIT of a part. At a bit error rate of 1e-4 one part in five comes whole. Basis: model.
const PART_PACKETS: u64 = 128;

impl CreditBook {
    /// The book of an end with these receive buffers.
    pub fn new(buffers: Buffers) -> CreditBook {
        let none = [NvlCreditCount::default(); Vc::COUNT];
        let all = std::array::from_fn(|vc| NvlCreditCount {
            headers: buffers.headers[vc].into(),
            data_flits: buffers.data_flits[vc].into(),
        });
        let mut book = CreditBook {
            init: none,
            returned: none,
            used: none,
            pending: none,
            granted: all,
            init_before: none,
            begins_again: false,
            unsaid: none,
            part: none,
            later: all,
            turn: 0,
            waiting_flits: 0,
        };
        book.part_was_heard();
        book
    }

    /// The present part of CREDIT_INIT begins from its start, unless the peer has heard it.
    pub fn say_again(&mut self) {
        self.unsaid = self.part;
    }

    /// The peer has heard all that CREDIT_INIT has said: the next part is due.
    pub fn part_was_heard(&mut self) {
        let mut packets = PART_PACKETS;
        for (part, later) in self.part.iter_mut().zip(&mut self.later) {
            let most = NvlCreditCount { headers: MOST.headers * packets, data_flits: MOST.data_flits * packets };
            *part = take(later, most);
            packets -= part.headers.div_ceil(MOST.headers).max(part.data_flits.div_ceil(MOST.data_flits));
        }
        self.unsaid = self.part;
    }

    /// The next CREDIT_INIT, if there is something to say.
    pub fn next_init(&mut self) -> Option<NvlHeader> {
        let vc = self.unsaid.iter().position(|c| !c.is_zero())?;
        let mut header = NvlHeader { op: Op::CREDIT_INIT, ..NvlHeader::default() };
        put(&mut header, vc, &mut self.unsaid[vc]);
        Some(header)
    }

    /// Whether CREDIT_INIT has said everything.
    pub fn is_said(&self) -> bool {
        self.unsaid.iter().chain(&self.later).all(NvlCreditCount::is_zero)
    }

    /// Whether a part is said and others wait until it has been heard.
    pub fn waits_between_parts(&self) -> bool {
        !self.is_said() && self.unsaid.iter().all(NvlCreditCount::is_zero)
    }

    /// The peer may say CREDIT_INIT again: if it does, before the next numbered packet, what it said since the last one does not
    /// count. A peer that has been heard well need not repeat it, since CREDIT_INIT has no number (`nvlink` §6.3).
    pub fn may_begin_again(&mut self) {
        self.begins_again = true;
    }

    /// What CREDIT_INIT has given up to here.
    pub fn given_by_init(&self) -> GivenByInit {
        GivenByInit(self.init)
    }

    /// A numbered packet that came behind these CREDIT_INIT has come well: no replay says them again.
    pub fn stays(&mut self, given: GivenByInit) {
        self.init_before = given.0;
    }

    /// Takes the credits of a header. `false`: more came back than were used.
    pub fn heard(&mut self, header: &NvlHeader) -> bool {
        let vc = usize::from(header.crvc.0) % Vc::COUNT;
        if header.op == Op::CREDIT_INIT && self.begins_again {
            self.init = self.init_before;
        }
        self.begins_again &= !header.op.is_numbered() && header.op != Op::CREDIT_INIT;
        let to = if header.op == Op::CREDIT_INIT { &mut self.init } else { &mut self.returned };
        to[vc].add(header.crh, header.crd);
        let (returned, used) = (&self.returned[vc], &self.used[vc]);
        returned.headers <= used.headers && returned.data_flits <= used.data_flits
    }

    /// Credits of a channel that the peer has given, of headers and data flits, all from the start.
    pub fn received(&self, vc: Vc) -> u64 {
        let vc = usize::from(vc.0) % Vc::COUNT;
        [&self.init[vc], &self.returned[vc]].into_iter().map(|count| count.headers + count.data_flits).sum()
    }

    /// Credits to spend.
    pub fn available(&self, vc: Vc) -> NvlCreditCount {
        let vc = usize::from(vc.0) % Vc::COUNT;
        let (init, returned, used) = (&self.init[vc], &self.returned[vc], &self.used[vc]);
        NvlCreditCount {
            headers: (init.headers + returned.headers).saturating_sub(used.headers),
            data_flits: (init.data_flits + returned.data_flits).saturating_sub(used.data_flits),
        }
    }

    /// Takes the credits of one packet, if they are there.
    pub fn spend(&mut self, vc: Vc, data_flits: u16) -> bool {
        let available = self.available(vc);
        let enough = available.headers >= 1 && available.data_flits >= u64::from(data_flits);
        if enough {
            self.charge(vc, data_flits);
        }
        enough
    }

    /// Takes the credits of one packet, there or not: it has been sent.
    pub fn charge(&mut self, vc: Vc, data_flits: u16) {
        self.used[usize::from(vc.0) % Vc::COUNT].add(1u8, data_flits);
    }

    /// A packet has come in. `false`: the peer had no credit for it.
    pub fn arrived(&mut self, vc: Vc, data_flits: u16) -> bool {
        let granted = &mut self.granted[usize::from(vc.0) % Vc::COUNT];
        let had = granted.headers >= 1 && granted.data_flits >= u64::from(data_flits);
        granted.headers = granted.headers.saturating_sub(1);
        granted.data_flits = granted.data_flits.saturating_sub(data_flits.into());
        had
    }

    /// The consumer has taken a packet out of its buffer.
    pub fn freed(&mut self, vc: Vc, data_flits: u16) {
        self.pending[usize::from(vc.0) % Vc::COUNT].add(1u8, data_flits);
    }

    /// Whether credits wait to be given back.
    pub fn is_pending(&self) -> bool {
        self.pending.iter().any(|c| !c.is_zero())
    }

    /// Credits granted to the peer and not used by it.
    pub fn granted(&self, vc: Vc) -> NvlCreditCount {
        self.granted[usize::from(vc.0) % Vc::COUNT]
    }

    /// Puts credits of one channel into a header, the channels in turn.
    pub fn give_back(&mut self, header: &mut NvlHeader) {
        self.waiting_flits = 0;
        let order = (0..Vc::COUNT).map(|k| (self.turn + k) % Vc::COUNT);
        let Some(vc) = order.into_iter().find(|&vc| !self.pending[vc].is_zero()) else { return };
        let given = put(header, vc, &mut self.pending[vc]);
        self.granted[vc].add(given.headers, given.data_flits);
        self.turn = (vc + 1) % Vc::COUNT;
    }

    /// One flit clock; whether credits have waited for so many.
    pub fn have_waited(&mut self, flits: u32) -> bool {
        self.waiting_flits = if self.is_pending() { self.waiting_flits.saturating_add(1) } else { 0 };
        self.waiting_flits > flits
    }
}

/// Moves as many credits as fit into a header.
fn put(header: &mut NvlHeader, vc: usize, from: &mut NvlCreditCount) -> NvlCreditCount {
    let given = take(from, MOST);
    header.crvc = Vc(vc as u8);
    header.crh = given.headers as u8;
    header.crd = given.data_flits as u8;
    given
}

/// Takes as many credits out of `from` as `most` says.
fn take(from: &mut NvlCreditCount, most: NvlCreditCount) -> NvlCreditCount {
    let taken =
        NvlCreditCount { headers: from.headers.min(most.headers), data_flits: from.data_flits.min(most.data_flits) };
    from.headers -= taken.headers;
    from.data_flits -= taken.data_flits;
    taken
}
