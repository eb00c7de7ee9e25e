//! The transmitter of the transaction layer: what goes into the next Control half.

use super::credit::TlClass;
use super::transfer::{class_of, response, vchan};
use super::{CATCH, Tl, VCS};
use crate::line_time::{LineTimeParts, Use};
use scalepool_protocols::ualink::compress::Compressed;
use scalepool_protocols::ualink::content::TlContent;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::half::{HALF_SECTORS, MessageHalf, SECTOR_BITS, TAGS, TL_SECTORS};
use scalepool_protocols::ualink::pack::{PackError, TlPacker};
use scalepool_protocols::ualink::unpack::Transfer;
use std::collections::VecDeque;

/// Which of the two catch levels is the peer's.
const PEER: usize = 0;

/// Transactions that one class may be ahead of the other while both wait: as many as a Control half takes. Then one of the
/// other class goes, however well it fits.
const MOST_LEAD: i32 = 8;
/// Most transactions of a class that a catch buffer takes.
const MOST_CAUGHT: usize = 8;
const _: () = assert!(CATCH[0] as usize <= MOST_CAUGHT && CATCH[1] as usize <= MOST_CAUGHT);

/// How far fields fill a Control half that are put one behind the other, each at a multiple of its size.
#[derive(Debug, Clone, Copy, Default)]
struct Fill {
    /// Fields.
    count: usize,
    /// Sectors up to the end of the last one.
    end: usize,
    /// Sectors of the fields, without those between them.
    used: usize,
    /// Data or byte enables follow.
    brings_data: bool,
}

/// What a transaction takes of a Control half.
#[derive(Debug, Clone, Copy, Default)]
struct TransactionShape {
    /// Sectors of its field.
    sectors: usize,
    /// Data or byte enables follow.
    brings_data: bool,
}

impl TransactionShape {
    fn of(transfer: &Transfer) -> TransactionShape {
        let brings_data = !transfer.data.is_empty() || transfer.enables.is_some();
        TransactionShape { sectors: transfer.field.sectors(), brings_data }
    }
}

/// The transactions of each class that are ready, as far as a Control half could take them.
#[derive(Debug, Clone, Copy)]
struct Shapes {
    of: [[TransactionShape; MOST_CAUGHT]; 2],
    /// Those of each class that the peer's catch buffer takes.
    caught: [usize; 2],
}

impl Fill {
    fn with(self, TransactionShape { sectors, brings_data }: TransactionShape) -> Fill {
        Fill {
            count: self.count + 1,
            // Fields have 1, 2 or 4 sectors.
            end: ((self.end + sectors - 1) & !(sectors - 1)) + sectors,
            used: self.used + sectors,
            brings_data: self.brings_data || brings_data,
        }
    }
}

impl Shapes {
    /// So many of each class in a Control half; responses stand behind requests.
    fn fill(&self, [requests, responses]: [usize; 2]) -> Fill {
        let fields = self.of[0].iter().take(requests).chain(self.of[1].iter().take(responses));
        fields.fold(Fill::default(), |fill, shape| fill.with(*shape))
    }
}

/// What a Control half offers.
#[derive(Debug, Clone, Copy)]
struct Space {
    /// Sectors for requests and responses.
    sectors: usize,
    /// Tags for them, if each needs one.
    tags: Option<usize>,
    /// The half behind it is the last one of earlier data.
    swap: bool,
}

impl Space {
    fn takes(&self, fill: &Fill) -> bool {
        fill.end <= self.sectors && self.tags.is_none_or(|tags| fill.count <= tags)
    }

    /// Places that stay empty: of tags, which run out first, or of sectors, with those of the half behind when that has
    /// nothing to carry.
    fn empty(&self, fill: &Fill) -> usize {
        match self.tags {
            Some(tags) => tags - fill.count,
            None if self.swap || fill.brings_data => self.sectors - fill.used,
            None => self.sectors - fill.used + HALF_SECTORS,
        }
    }
}

/// Bits of so many sectors.
const fn bits(sectors: usize) -> u32 {
    SECTOR_BITS * sectors as u32
}

/// Parts of a TL flit whose halves are both data.
const DATA_ALONE: LineTimeParts = LineTimeParts::all(Use::Idle).with(Use::Payload, bits(TL_SECTORS));

impl Tl {
    /// Adds a transaction, uncompressed, behind those of its class and channel. While the link is down it is dropped.
    ///
    /// # Errors
    /// It cannot be sent; nothing is added.
    pub fn send(&mut self, transfer: impl Into<Box<Transfer>>) -> Result<(), PackError> {
        let transfer = transfer.into();
        transfer.field.to_bits()?;
        self.relay(transfer)
    }

    /// The same with one that has come over a link, so that every part of its field fits.
    ///
    /// # Errors
    /// Its data are not those of its field; nothing is added.
    pub fn relay(&mut self, transfer: Box<Transfer>) -> Result<(), PackError> {
        let Some(class) = class_of(&transfer.field) else { return Err(PackError::Credits) };
        let (owed, layout) = (transfer.field.owed(&self.config.codec), transfer.field.def().name);
        if transfer.data.len() != 2 * owed.beats {
            return Err(PackError::Data { layout, found: transfer.data.len(), expected: 2 * owed.beats });
        }
        if transfer.enables.is_some() != owed.enables {
            return Err(PackError::Enables { layout, found: !owed.enables });
        }
        if u32::from(transfer.poisoned) >> owed.beats != 0 {
            return Err(PackError::Poison { layout, found: transfer.poisoned, beats: owed.beats });
        }
        if self.dropping {
            self.stats.dropped += 1;
            if let ControlField::Request(TlReq { src: dst, dst: src, tag, .. }) = transfer.field {
                self.isolates(TlRsp { dst, src, tag, ..TlRsp::default() });
            }
        } else {
            let queue = if self.config.strict_order { 0 } else { usize::from(vchan(&transfer.field)) % VCS };
            self.queues[class.index()][queue].push_back(transfer);
            self.queued[class.index()] += 1;
            self.rests_at = None;
        }
        Ok(())
    }

    /// The next TL flit, in the form in which `pack` makes it and `empty` makes one without anything.
    pub(super) fn next_flit<F>(
        &mut self,
        now_flits: u64,
        pack: fn(&mut TlPacker) -> Option<F>,
        empty: fn() -> F,
    ) -> Option<F> {
        let mut fields = [0; 2];
        let mut blocked = false;
        if self.packer.owed_halves() <= 1 {
            if !self.said_done {
                self.initial_credits();
            } else if self.credits.is_open() {
                (fields, blocked) = self.control(now_flits);
            } else if let Some(credits) = self.credits_due() {
                self.set_credits(credits);
            }
        }
        let mut flit = pack(&mut self.packer);
        if flit.is_none() && blocked {
            self.stats.empty_flits += 1;
            flit = Some(empty());
        }
        self.uses = self.parts(blocked, now_flits);
        if flit.is_some() {
            self.stats.flits += 1;
            for (level, fields) in self.catch[PEER].iter_mut().zip(fields) {
                *level = (*level + fields).saturating_sub(1);
            }
        }
        flit
    }

    /// The next TL flit without bytes if both its halves are data: most of a busy line are, and take 50 instructions this way
    /// instead of 220.
    pub(super) fn data_flit(&mut self) -> Option<TlContent> {
        let flit = self.packer.pack_data_content()?;
        // A Control half is not due, so nothing else changes.
        (self.dropping, self.rests_at, self.uses) = (false, None, DATA_ALONE);
        self.stats.flits += 1;
        self.catch[PEER] = self.catch[PEER].map(|level| level.saturating_sub(1));
        Some(flit)
    }

    /// Parts of the TL flit that was packed last. What is empty waits for a place, for a credit or the peer's catch buffer, or
    /// for nothing.
    fn parts(&self, blocked: bool, now_flits: u64) -> LineTimeParts {
        let filled = self.packer.filled();
        if filled.data == TL_SECTORS {
            return DATA_ALONE;
        }
        let named = LineTimeParts::all(Use::Idle)
            .with(Use::Headers, bits(filled.fields))
            .with(Use::Payload, bits(filled.data))
            .with(Use::Control, bits(filled.control));
        if filled.fields + filled.data + filled.control == TL_SECTORS {
            // Nothing is empty, so there is no reason for it: most TL flits are full.
            return named;
        }
        let waits = TlClass::ALL.into_iter().any(|class| self.waiting(class) > 0);
        named.and_empty(match waits || self.packer.owed_halves() > 0 {
            _ if !self.is_open() => Use::Control,
            true if blocked || self.stalled_at == Some(now_flits) => Use::Credits,
            true => Use::Packing,
            false => Use::Idle,
        })
    }

    /// Credits, then message 0x01, and nothing else before.
    fn initial_credits(&mut self) {
        if let Some(credits) = self.credits_due() {
            self.set_credits(credits);
        }
        if self.buffers.due().is_zero() {
            self.packer.push_message(MessageHalf::initial_credits_done(self.config.shared_data_buffer));
            self.said_done = true;
        }
    }

    /// Credits to return, unless a hook holds them back.
    fn credits_due(&mut self) -> Option<scalepool_protocols::ualink::field::TlFc> {
        let due = self.buffers.due();
        if due.is_zero() || self.hooks.holds_credits(due.total()) { None } else { self.buffers.next_field() }
    }

    fn set_credits(&mut self, credits: scalepool_protocols::ualink::field::TlFc) {
        self.stats.fields[0] += 1;
        // Counts are at most what the field takes, and a Control half follows at once, so nothing is there before.
        let before = self.packer.set_credits(credits);
        debug_assert!(matches!(before, Ok(None)), "{before:?}");
    }

    /// Fills a Control half. Gives the transactions by class, and whether one waits for the peer's catch buffer.
    fn control(&mut self, now_flits: u64) -> ([u16; 2], bool) {
        if TlClass::ALL.into_iter().all(|class| self.waiting(class) == 0) {
            self.lead = 0;
            if let Some(credits) = self.credits_due() {
                self.set_credits(credits);
            }
            return ([0; 2], false);
        }
        let swap = self.packer.owed_halves() == 1;
        let tags = self.config.codec.authentication.then_some(if swap { 0 } else { TAGS });
        let space = Space { sectors: HALF_SECTORS - usize::from(self.buffers.is_urgent()), tags, swap };
        TlClass::ALL.into_iter().for_each(|class| self.prepare(class, now_flits));
        let shapes = self.shapes();
        let (counts, fill) = self.choose(&space, &shapes);
        let blocked = self.waits_for_catch(&space, &shapes, counts);
        self.lead = match self.ready.iter().all(|ready| !ready.is_empty()) {
            true => self.lead + counts[0] as i32 - counts[1] as i32,
            false => 0,
        };
        if fill.end < HALF_SECTORS
            && let Some(credits) = self.credits_due()
        {
            self.set_credits(credits);
        }
        for (class, count) in counts.into_iter().enumerate() {
            for transfer in self.ready[class].drain(..count) {
                self.stats.fields[match transfer.field {
                    ControlField::FlowControl(_) => 0,
                    ControlField::Request(_) => 1,
                    ControlField::Response(_) => 2,
                    ControlField::CompressedRequest(_) => 3,
                    ControlField::CompressedSingle(_) => 4,
                    ControlField::CompressedMulti(_) => 5,
                }] += 1;
                // It was judged when it came, and its form on the wire owes the same data.
                self.packer.push_judged(transfer);
            }
        }
        (counts.map(|count| count as u16), blocked)
    }

    /// What those that are ready take. Several ways to fill a Control half are tried, so each is looked at once.
    fn shapes(&self) -> Shapes {
        let mut of = [[TransactionShape::default(); MOST_CAUGHT]; 2];
        for (shapes, ready) in of.iter_mut().zip(&self.ready) {
            shapes.iter_mut().zip(ready).for_each(|(shape, transfer)| *shape = TransactionShape::of(transfer));
        }
        let room = |n: usize| usize::from(CATCH[n].saturating_sub(self.catch[PEER][n]));
        Shapes { of, caught: std::array::from_fn(|n| self.ready[n].len().min(room(n))) }
    }

    /// How many of each class go next: what leaves the fewest places empty; of several, what keeps the classes closest
    /// together. With it how they fill the half.
    fn choose(&self, space: &Space, shapes: &Shapes) -> ([usize; 2], Fill) {
        let caught = shapes.caught;
        // Each one more leaves less empty, so where all fit there is nothing to choose: at light load that is the rule, and takes
        // a fifth of the instructions.
        let all = shapes.fill(caught);
        if space.takes(&all) {
            return (caught, all);
        }
        let least = [self.lead <= -MOST_LEAD, self.lead >= MOST_LEAD].map(usize::from);
        let least = [least[0].min(caught[0]), least[1].min(caught[1])];
        let mut best: Option<((usize, u32), [usize; 2], Fill)> = None;
        let mut requests = Fill::default();
        for r in 0..=caught[0] {
            if r > 0 {
                requests = requests.with(shapes.of[0][r - 1]);
            }
            let mut fill = requests;
            if !space.takes(&fill) {
                break;
            }
            for p in 0..=caught[1] {
                if p > 0 {
                    fill = fill.with(shapes.of[1][p - 1]);
                }
                if !space.takes(&fill) {
                    break;
                }
                let rank = (space.empty(&fill), (self.lead + r as i32 - p as i32).unsigned_abs());
                if r >= least[0] && p >= least[1] && best.is_none_or(|(least, ..)| rank < least) {
                    best = Some((rank, [r, p], fill));
                }
            }
        }
        best.map_or_else(Default::default, |(_, counts, fill)| (counts, fill))
    }

    /// Whether the peer's catch buffer keeps one out for which there is a place.
    fn waits_for_catch(&self, space: &Space, shapes: &Shapes, counts: [usize; 2]) -> bool {
        let caught = shapes.caught;
        (0..counts.len()).any(|n| {
            let mut more = counts;
            more[n] += 1;
            counts[n] == caught[n] && self.ready[n].len() > caught[n] && space.takes(&shapes.fill(more))
        })
    }

    /// Pays the next transactions of a class and gives them their form on the wire, as many as one Control half could take.
    fn prepare(&mut self, class: TlClass, now_flits: u64) {
        let index = class.index();
        while self.ready[index].len() < usize::from(CATCH[index])
            && let Some(paid) = self.pay(class)
        {
            self.ready[index].push_back(paid);
        }
        let waits = self.ready[index].is_empty() && self.waiting(class) > 0;
        if waits && self.stalled_at != Some(now_flits) {
            self.stalled_at = Some(now_flits);
            self.stats.credit_stalls += 1;
        }
    }

    /// The next transaction of a class that credits pay for, channels in turn.
    fn pay(&mut self, class: TlClass) -> Option<Box<Transfer>> {
        let index = class.index();
        if self.queued[index] == 0 {
            return None;
        }
        let start = self.next_vc[index];
        for vc in (start..start + VCS).map(|vc| vc % VCS) {
            let Some(first) = self.queues[index][vc].front() else { continue };
            let beats = first.field.owed(&self.config.codec).beats as u16;
            let Some(target) = self.credits.payer(class, vchan(&first.field), beats) else { continue };
            self.credits.spend(class, target, beats);
            self.next_vc[index] = (vc + 1) % VCS;
            let first = self.queues[index][vc].pop_front();
            self.queued[index] -= 1;
            return first.map(|transfer| self.on_wire(transfer, target == super::TlCreditTarget::Pool));
        }
        None
    }

    /// Transactions of a class that wait and of which none can be paid.
    pub(super) fn unpaid(&self, class: TlClass) -> u64 {
        let index = class.index();
        let can_go = self.queues[index].iter().filter_map(VecDeque::front).any(|first| {
            let beats = first.field.owed(&self.config.codec).beats as u16;
            self.credits.payer(class, vchan(&first.field), beats).is_some()
        });
        if can_go || !self.ready[index].is_empty() { 0 } else { self.waiting(class) as u64 }
    }

    fn on_wire(&mut self, mut transfer: Box<Transfer>, pool: bool) -> Box<Transfer> {
        match &mut transfer.field {
            ControlField::Request(req) => {
                // Without bytes it arrives with its address, as the receiver's cache would give it.
                transfer.address = req.address.into();
                (req.pool, req.cload, req.cway) = (pool, false, 0);
                if self.config.compress_requests {
                    let form = self.compressor.request(req);
                    transfer.field = match form {
                        Compressed::Hit(compressed) => ControlField::CompressedRequest(compressed),
                        Compressed::Miss(plain) => ControlField::Request(plain),
                    };
                }
            }
            ControlField::Response(rsp) => {
                rsp.pool = pool;
                let form = response(rsp, self.config.compress_responses);
                transfer.field = form;
            }
            ControlField::CompressedRequest(req) => req.pool = pool,
            ControlField::CompressedSingle(rsp) => rsp.pool = pool,
            ControlField::CompressedMulti(rsp) => rsp.pool = pool,
            ControlField::FlowControl(_) => (),
        }
        transfer
    }
}
