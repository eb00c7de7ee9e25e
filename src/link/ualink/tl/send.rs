//! The transmitter of the transaction layer: what goes into the next Control half.

use super::credit::TlClass;
use super::transfer::{class_of, response, vchan};
use super::{CATCH, Tl, VCS};
use crate::link::line_time::{Parts, Use};
use scalepool_protocols::ualink::compress::Compressed;
use scalepool_protocols::ualink::control::Field;
use scalepool_protocols::ualink::half::{HALF_SECTORS, MessageHalf, SECTOR_BITS, TAGS, TlFlit};
use scalepool_protocols::ualink::pack::PackError;
use scalepool_protocols::ualink::unpack::Transfer;

/// Which of the two catch levels is the peer's.
const PEER: usize = 0;

/// What a Control half has been given.
#[derive(Default)]
struct Chosen {
    requests: Vec<Transfer>,
    responses: Vec<Transfer>,
    /// Sectors up to the end of the last field.
    end: usize,
}

/// Where fields end that are put one behind the other, each at a multiple of its size.
fn end_of<'a>(fields: impl Iterator<Item = &'a Field>) -> usize {
    fields.fold(0, |end, field| end.next_multiple_of(field.sectors()) + field.sectors())
}

impl Chosen {
    fn count(&self) -> usize {
        self.requests.len() + self.responses.len()
    }

    /// Sectors with one more field; responses stand behind requests.
    fn end_with(&self, field: &Field) -> usize {
        let of = |list: &'_ [Transfer]| list.iter().map(|t| t.field).collect::<Vec<Field>>();
        let (mut requests, mut responses) = (of(&self.requests), of(&self.responses));
        match class_of(field) {
            Some(TlClass::Request) => requests.push(*field),
            _ => responses.push(*field),
        }
        end_of(requests.iter().chain(&responses))
    }

    fn add(&mut self, transfer: Transfer) {
        self.end = self.end_with(&transfer.field);
        match class_of(&transfer.field) {
            Some(TlClass::Request) => self.requests.push(transfer),
            _ => self.responses.push(transfer),
        }
    }
}

impl Tl {
    /// Adds a transaction, uncompressed, behind those of its class and channel. While the link is down it is dropped.
    ///
    /// # Errors
    /// It cannot be sent; nothing is added.
    pub fn send(&mut self, transfer: Transfer) -> Result<(), PackError> {
        transfer.field.to_bits()?;
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
        } else {
            let queue = if self.config.strict_order { 0 } else { usize::from(vchan(&transfer.field)) % VCS };
            self.queues[class.index()][queue].push_back(transfer);
        }
        Ok(())
    }

    /// The next TL flit.
    pub(super) fn next_flit(&mut self, now_flits: u64) -> Option<TlFlit> {
        let mut fields = [0; 2];
        let mut blocked = false;
        if self.packer.owed_halves() <= 1 {
            if !self.said_done {
                self.initial_credits();
            } else if self.purse.is_open() {
                (fields, blocked) = self.control(now_flits);
            } else if let Some(credits) = self.credits_due() {
                self.set_credits(credits);
            }
        }
        let mut flit = self.packer.pack();
        if flit.is_none() && blocked {
            self.stats.empty_flits += 1;
            flit = Some(TlFlit::default());
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

    /// Parts of the TL flit that was packed last. What is empty waits for a place, for a credit or the peer's catch buffer, or
    /// for nothing.
    fn parts(&self, blocked: bool, now_flits: u64) -> Parts {
        let filled = self.packer.filled();
        let waits = TlClass::ALL.into_iter().any(|class| self.waiting(class) > 0);
        let bits = |sectors: usize| SECTOR_BITS * sectors as u32;
        Parts::all(match waits || self.packer.owed_halves() > 0 {
            _ if !self.is_open() => Use::Control,
            true if blocked || self.stalled_at == Some(now_flits) => Use::Credits,
            true => Use::Packing,
            false => Use::Idle,
        })
        .with(Use::Headers, bits(filled.fields))
        .with(Use::Payload, bits(filled.data))
        .with(Use::Control, bits(filled.control))
    }

    /// Credits, then message 0x01, and nothing else before.
    fn initial_credits(&mut self) {
        if let Some(credits) = self.credits_due() {
            self.set_credits(credits);
        }
        if self.stock.due().is_zero() {
            self.packer.push_message(MessageHalf::initial_credits_done(self.config.shared_data_buffer));
            self.said_done = true;
        }
    }

    /// Credits to return, unless a hook holds them back.
    fn credits_due(&mut self) -> Option<scalepool_protocols::ualink::field::TlFc> {
        let due = self.stock.due().total();
        if due > 0 && self.hooks.holds_credits(due) { None } else { self.stock.next_field() }
    }

    fn set_credits(&mut self, credits: scalepool_protocols::ualink::field::TlFc) {
        self.stats.fields[0] += 1;
        // Counts are at most what the field takes, and a Control half follows at once, so nothing is there before.
        let before = self.packer.set_credits(credits);
        debug_assert!(matches!(before, Ok(None)), "{before:?}");
    }

    /// Fills a Control half. Gives the transactions by class, and whether one waits for the peer's catch buffer.
    fn control(&mut self, now_flits: u64) -> ([u16; 2], bool) {
        let swap = self.packer.owed_halves() == 1;
        let most = match (self.config.codec.authentication, swap) {
            (true, true) => 0,
            (true, false) => TAGS,
            (false, _) => usize::MAX,
        };
        let urgent = self.stock.is_urgent();
        let room = HALF_SECTORS - usize::from(urgent);
        let order = match self.responses_first {
            true => [TlClass::Response, TlClass::Request],
            false => TlClass::ALL,
        };
        let mut chosen = Chosen::default();
        let (mut fields, mut blocked) = ([0; 2], false);
        // One of each class in turn: a half of one class alone would leave the half behind it empty, or have no data.
        let mut open = [true; 2];
        for class in order.into_iter().cycle() {
            if chosen.count() >= most || open == [false; 2] {
                break;
            }
            let n = class.index();
            let fits =
                open[n] && self.prepare(class, now_flits).is_some_and(|next| chosen.end_with(&next.field) <= room);
            let caught = fits && self.catch[PEER][n] + fields[n] < CATCH[n];
            blocked |= fits && !caught;
            match self.ready[n].take_if(|_| caught) {
                Some(next) => {
                    fields[n] += 1;
                    chosen.add(next);
                }
                None => open[n] = false,
            }
        }
        if chosen.count() > 0 {
            self.responses_first = !self.responses_first;
        }
        if chosen.end < HALF_SECTORS
            && let Some(credits) = self.credits_due()
        {
            self.set_credits(credits);
        }
        for transfer in chosen.requests.into_iter().chain(chosen.responses) {
            self.stats.fields[match transfer.field {
                Field::FlowControl(_) => 0,
                Field::Request(_) => 1,
                Field::Response(_) => 2,
                Field::CompressedRequest(_) => 3,
                Field::CompressedSingle(_) => 4,
                Field::CompressedMulti(_) => 5,
            }] += 1;
            // It was judged when it came, and its form on the wire owes the same data.
            let pushed = self.packer.push(transfer);
            debug_assert!(pushed.is_ok(), "{pushed:?}");
        }
        (fields, blocked)
    }

    /// The next transaction of a class, paid and in its form on the wire.
    fn prepare(&mut self, class: TlClass, now_flits: u64) -> Option<&Transfer> {
        let index = class.index();
        if self.ready[index].is_none() {
            let start = self.next_vc[index];
            let mut waits = false;
            for vc in (start..start + VCS).map(|vc| vc % VCS) {
                let Some(first) = self.queues[index][vc].front() else { continue };
                let beats = first.field.owed(&self.config.codec).beats as u16;
                let Some(target) = self.purse.payer(class, vchan(&first.field), beats) else {
                    waits = true;
                    continue;
                };
                self.purse.spend(class, target, beats);
                self.next_vc[index] = (vc + 1) % VCS;
                let first = self.queues[index][vc].pop_front();
                let pool = target == super::Target::Pool;
                self.ready[index] = first.map(|transfer| self.on_wire(transfer, pool));
                break;
            }
            if waits && self.ready[index].is_none() && self.stalled_at != Some(now_flits) {
                self.stalled_at = Some(now_flits);
                self.stats.credit_stalls += 1;
            }
        }
        self.ready[index].as_ref()
    }

    fn on_wire(&mut self, mut transfer: Transfer, pool: bool) -> Transfer {
        match &mut transfer.field {
            Field::Request(req) => {
                (req.pool, req.cload, req.cway) = (pool, false, 0);
                if self.config.compress_requests {
                    let form = self.compressor.request(req);
                    transfer.field = match form {
                        Compressed::Hit(compressed) => Field::CompressedRequest(compressed),
                        Compressed::Miss(plain) => Field::Request(plain),
                    };
                }
            }
            Field::Response(rsp) => {
                rsp.pool = pool;
                let form = response(rsp, self.config.compress_responses);
                transfer.field = form;
            }
            Field::CompressedRequest(req) => req.pool = pool,
            Field::CompressedSingle(rsp) => rsp.pool = pool,
            Field::CompressedMulti(rsp) => rsp.pool = pool,
            Field::FlowControl(_) => (),
        }
        transfer
    }
}
