//! A sender of 256-byte flits: it keeps the data that is owed, the sequence number and the limits of packing.
//!
//! Modelled: one flit after the other, slots filled in order, owed data first. Left out: credits and retry.
//!
//! A walk through one flit: [`Cxl256Sender::begin`] starts it, [`Cxl256Sender::data`] puts owed data into a G slot,
//! [`Cxl256Sender::messages`] fills a slot and adds its data to what is owed, [`Cxl256Sender::end`] writes the header,
//! CRC and FEC.

use crate::cross;
use crate::legal;
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::crd::Crd;
use scalepool_protocols::cxl::cxl256::flit::{Cxl256Flit, SLOTS};
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::slot::{Cxl256SlotPlace, SlotFormat, SlotKind};
use scalepool_protocols::cxl::cxl256::{Class, Mode};
use std::collections::VecDeque;

/// Sequence numbers of payload flits: 1 to 1023, then 1 again (`cxl-256b` §9).
const LAST_SEQ: u16 = 1023;
/// Most data messages active in one flit, and in two on end (`cxl-256b` §5.3).
const MAX_ACTIVE: usize = 5;
const MAX_ACTIVE_IN_TWO: usize = 8;
/// Most data slots owed (`cxl-256b` §5.1), and most when a header stands in an H or HS slot (§5.3).
const MAX_OWED: usize = 36;
const MAX_OWED_IN_SHORT_SLOT: usize = 16;

/// Slot of a latency-optimised flit that counts in groups B and C (`cxl-256b` §5.3).
const SHARED_SLOT: usize = 7;

/// A sender of one direction.
#[derive(Debug)]
pub struct Cxl256Sender<'a> {
    /// Flit format.
    pub mode: Mode,
    /// Direction.
    pub dir: Dir,
    /// Random numbers of the file.
    pub rng: &'a mut Rng,
    seq: u16,
    prior: bool,
    flit: Cxl256Flit,
    /// Owed data and trailer slots; `true`: the last of its message.
    owed: VecDeque<(u128, bool)>,
    begun: usize,
    carried: usize,
    last_active: usize,
    /// Messages of each class in the groups of the last flit and this one: its group D, then A to D.
    windows: [[u8; Class::COUNT]; 5],
}

impl<'a> Cxl256Sender<'a> {
    /// A sender that has sent nothing.
    pub fn new(mode: Mode, dir: Dir, rng: &'a mut Rng) -> Cxl256Sender<'a> {
        Cxl256Sender {
            mode,
            dir,
            rng,
            seq: 0,
            prior: false,
            flit: Cxl256Flit::ZERO,
            owed: VecDeque::new(),
            begun: 0,
            carried: 0,
            last_active: 0,
            windows: [[0; Class::COUNT]; 5],
        }
    }

    /// Data and trailer slots owed.
    pub fn owed(&self) -> usize {
        self.owed.len()
    }

    fn open(&self) -> usize {
        self.owed.iter().filter(|o| o.1).count()
    }

    /// Starts a flit with slots.
    pub fn begin(&mut self) {
        self.flit = Cxl256Flit::ZERO;
        self.begun = 0;
        self.carried = self.open();
        self.windows = [self.windows[4], [0; Class::COUNT], [0; Class::COUNT], [0; Class::COUNT], [0; Class::COUNT]];
    }

    /// Puts owed data into slot n where it must; whether the slot is taken.
    pub fn data(&mut self, n: usize) -> bool {
        if self.mode.slot_kind(n) != SlotKind::G {
            return false;
        }
        let Some((bits, _)) = self.owed.pop_front() else { return false };
        self.flit.set_slot(self.mode, n, bits);
        true
    }

    /// Whether a format with messages at its first `count` places may stand in slot n.
    fn may(&self, n: usize, format: &SlotFormat, count: usize) -> bool {
        // Group of the slot, with the group D of the flit before as 0.
        let group = n / 4 + 1;
        let fits = format.places().take(count).all(|p| {
            let here = format.places().take(count).filter(|q| q.class == p.class).count() as u8;
            let i = p.class.index();
            let before = self.windows[group - 1][i];
            before + self.windows[group][i] + here <= p.class.max_per_window()
        });
        let slots = format.places().take(count).map(|p| if p.class.has_data() { 5 } else { 0 }).sum::<usize>();
        let data = !format.has_data()
            || self.carried + self.begun + count <= MAX_ACTIVE
                && self.last_active + self.begun + count <= MAX_ACTIVE_IN_TWO
                && self.owed() + slots <= MAX_OWED
                && (format.kind == SlotKind::G || self.owed() <= MAX_OWED_IN_SHORT_SLOT);
        fits && data
    }

    /// Fills the first `count` places of a format in slot n with messages, where the limits allow it.
    pub fn messages(&mut self, n: usize, format: &SlotFormat, count: usize, make: &mut Make) -> bool {
        let may = self.may(n, format, count);
        if may {
            self.fill(n, format, count, make);
        }
        may
    }

    /// As [`Cxl256Sender::messages`], whatever the limits say.
    pub fn fill(&mut self, n: usize, format: &SlotFormat, count: usize, make: &mut Make) {
        let mut slot = u128::from(format.code);
        let mut sent = Vec::new();
        for place in format.places().take(count) {
            let bits = make(&place, self.rng);
            slot = place.insert(slot, bits);
            self.windows[n / 4 + 1][place.class.index()] += 1;
            if self.mode.is_lopt() && n == SHARED_SLOT {
                // It counts with both halves; stricter than the rule in the window of groups B and C.
                self.windows[SHARED_SLOT / 4 + 2][place.class.index()] += 1;
            }
            sent.push((place.class, bits));
        }
        self.flit.set_slot(self.mode, n, slot);
        self.owe(&sent);
    }

    /// Adds the data of the headers of one slot to what is owed (`cxl-256b` §5.1, §5.2).
    fn owe(&mut self, sent: &[(Class, u128)]) {
        let routing = self.mode.routing();
        let raw = |class: Class, bits, name: &str| {
            class.def(routing).fields.iter().find(|f| f.name == name).map_or(0, |f| f.extract(bits))
        };
        // One word of metadata for each DRS with TRP, tight, behind the first line.
        let mut words = 0;
        let mut shared = 0;
        for _ in sent.iter().filter(|(c, bits)| *c == Class::S2mDrs && raw(*c, *bits, "trp") == 1) {
            let word = u128::from(self.rng.next_u64() as u32);
            shared |= word << (32 * words);
            words += 1;
        }
        for (k, &(class, bits)) in sent.iter().filter(|(c, _)| c.has_data()).enumerate() {
            // BIConflict and MemRdFill carry zeros (`cxl-256b` §4.2).
            let zero = class == Class::M2sRwd && matches!(raw(class, bits, "opcode"), 4 | 5 | 13);
            let line: [u128; 4] = std::array::from_fn(|_| if zero { 0 } else { legal::random_bits(self.rng, 128) });
            let trailer = match class {
                Class::M2sRwd if raw(class, bits, "trp") == 1 => {
                    let enables = cross::has_byte_enables(class.def(routing), bits);
                    let metadata = raw(class, bits, "meta_field") == cross::EMS;
                    let low = if enables { u128::from(self.rng.next_u64()) } else { 0 };
                    let word = if metadata { u128::from(self.rng.next_u64() as u32) } else { 0 };
                    Some(low | word << if enables { 64 } else { 0 })
                }
                Class::D2hData if raw(class, bits, "bep") == 1 => Some(self.rng.next_u64().into()),
                Class::S2mDrs if k == 0 && words > 0 => Some(shared),
                _ => None,
            };
            let all: Vec<u128> = line.into_iter().chain(trailer).collect();
            let last = all.len() - 1;
            self.owed.extend(all.into_iter().enumerate().map(|(n, bits)| (bits, n == last)));
            self.begun += 1;
        }
    }

    /// Any bits in a slot of the flit.
    pub fn raw(&mut self, n: usize, bits: u128) {
        self.flit.set_slot(self.mode, n, bits);
    }

    /// Replaces the data that is owed, trailers too.
    pub fn owe_pattern(&mut self, pattern: u128) {
        self.owed.iter_mut().for_each(|o| o.0 = pattern);
    }

    /// The flit with credits, header, CRC and FEC.
    pub fn end(&mut self, crd: Crd) -> Cxl256Flit {
        self.last_active = self.carried + self.begun;
        if self.flit.set_crd(&crd).is_err() {
            unreachable!("the codes fit");
        }
        self.seal(FlitType::Cachemem, true)
    }

    /// A flit without slots: header, body, CRC and FEC. `payload`: it takes a sequence number.
    pub fn of_body(&mut self, flit_type: FlitType, dllp_type: bool, body: &[u8]) -> Cxl256Flit {
        self.flit = Cxl256Flit::ZERO;
        self.flit.set_body(self.mode, body.iter().copied());
        if dllp_type {
            self.flit.0[0] |= 1 << 4;
        }
        self.seal(flit_type, flit_type != FlitType::Nop)
    }

    fn seal(&mut self, flit_type: FlitType, payload: bool) -> Cxl256Flit {
        if payload {
            self.seq = self.seq % LAST_SEQ + 1;
        }
        let dllp_type = self.flit.0[0] >> 4 & 1 == 1;
        let header = FlitHeader { seq: self.seq, prior: self.prior, flit_type, dllp_type, ..FlitHeader::default() };
        if self.flit.set_header(&header).is_err() {
            unreachable!("the sequence number has 10 bits");
        }
        self.prior = payload;
        self.flit.seal(self.mode);
        self.flit
    }

    /// Flits with the data that is still owed, other slots empty.
    pub fn drain(&mut self) -> Vec<Cxl256Flit> {
        let mut flits = Vec::new();
        while !self.owed.is_empty() {
            self.begin();
            for n in 0..SLOTS {
                self.data(n);
            }
            flits.push(self.end(Crd::default()));
        }
        flits
    }

    /// A flit with one slot as `put` fills it, and the rest of what is then owed behind it.
    pub fn one(&mut self, n: usize, put: impl FnOnce(&mut Self)) -> Vec<Cxl256Flit> {
        self.begin();
        put(self);
        for slot in n + 1..SLOTS {
            self.data(slot);
        }
        let mut flits = vec![self.end(Crd::default())];
        flits.extend(self.drain());
        flits
    }
}

/// Makes the message of a place.
pub type Make<'m> = dyn FnMut(&Cxl256SlotPlace, &mut Rng) -> u128 + 'm;
