//! Transfers, messages and TL flits to a stream of DL flits.

use super::CONFIG;
use crate::legal;
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::ualink::code::FieldType;
use scalepool_protocols::ualink::control::{self, ControlField};
use scalepool_protocols::ualink::flit::DlFlit;
use scalepool_protocols::ualink::half::TlFlit;
use scalepool_protocols::ualink::header::{CommandHeader, ExplicitHeader, UalHeader, next_seq};
use scalepool_protocols::ualink::message::{MESSAGES, UartTransport};
use scalepool_protocols::ualink::pack::{TlPacker, with_data};
use scalepool_protocols::ualink::segment::{Packer, SegmentPlace, SegmentSource};
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::Wire;

/// What can be sent in one flit.
#[derive(Debug, Default)]
pub struct Offers {
    /// A message for each segment.
    pub messages: [Option<u32>; 5],
    /// TL flits for the two starts of each segment.
    pub tl: [[Option<TlFlit>; 2]; 5],
}

impl Offers {
    /// A message alone.
    pub fn message(segment: usize, word: u32) -> Offers {
        let mut offers = Offers::default();
        offers.messages[segment] = Some(word);
        offers
    }

    /// An empty TL flit wherever one can start.
    pub fn full() -> Offers {
        Offers { tl: [[Some(TlFlit::default()); 2]; 5], ..Offers::default() }
    }
}

impl SegmentSource for Offers {
    fn message(&mut self, segment: usize) -> Option<u32> {
        self.messages[segment].take()
    }

    fn tl_flit(&mut self, segment: usize, place: SegmentPlace) -> Option<TlFlit> {
        self.tl[segment][place as usize].take()
    }
}

/// What a packer of TL flits offers, without pause, behind messages.
struct OfferedTraffic<'a> {
    messages: [Option<u32>; 5],
    tl: &'a mut TlPacker,
}

impl SegmentSource for OfferedTraffic<'_> {
    fn message(&mut self, segment: usize) -> Option<u32> {
        self.messages[segment].take()
    }

    fn tl_flit(&mut self, _segment: usize, _place: SegmentPlace) -> Option<TlFlit> {
        self.tl.pack()
    }
}

/// Sends one stream; every call begins and ends with nothing left over, but [`UalSender::flit`].
pub struct UalSender<'a> {
    /// Random numbers of the file.
    pub rng: &'a mut Rng,
    packer: Packer,
    seq: u16,
    dir: Dir,
}

impl<'a> UalSender<'a> {
    /// A stream of which nothing has been sent.
    pub fn new(rng: &'a mut Rng, dir: Dir) -> UalSender<'a> {
        UalSender { rng, packer: Packer::default(), seq: 511, dir }
    }

    /// Whether this direction has the case of a number: down those with even ones.
    pub fn takes(&self, n: usize) -> bool {
        n.is_multiple_of(2) == (self.dir == Dir::Down)
    }

    /// The header of the next payload flit: every seventh with its whole number, else an Ack.
    fn header(&mut self) -> UalHeader {
        self.seq = next_seq(self.seq);
        if self.seq % 7 == 1 {
            let seq = self.seq;
            return UalHeader::Explicit(ExplicitHeader { payload: true, seq, ..ExplicitHeader::default() });
        }
        let seq_lo = (self.seq & 7) as u8;
        UalHeader::Command(CommandHeader { payload: true, ack_req_seq: 511, seq_lo, ..CommandHeader::default() })
    }

    /// A flit of a header, with what is offered if it has payload.
    pub fn flit_of(&mut self, header: UalHeader, offers: &mut Offers) -> DlFlit {
        let mut flit = DlFlit::ZERO;
        // The fields of the generator's headers fit.
        flit.set_header_bits(header.to_bits().unwrap_or_default());
        if header.payload() {
            flit.set_payload(&self.packer.pack(offers));
        }
        flit.seal(&CONFIG);
        flit
    }

    /// The next payload flit.
    pub fn flit(&mut self, offers: &mut Offers) -> DlFlit {
        let header = self.header();
        self.flit_of(header, offers)
    }

    /// Flits until nothing is left over.
    pub fn finish(&mut self) -> Vec<DlFlit> {
        let mut flits = Vec::new();
        while self.packer.carry() > 0 {
            flits.push(self.flit(&mut Offers::default()));
        }
        flits
    }

    /// A flit with one TL flit.
    pub fn one(&mut self, tl: TlFlit) -> DlFlit {
        let mut offers = Offers::default();
        offers.tl[0][0] = Some(tl);
        self.flit(&mut offers)
    }

    /// The flit with another byte and a CRC that fits.
    pub fn with_byte(&self, mut flit: DlFlit, at: usize, byte: u8) -> DlFlit {
        flit.0[at] = byte;
        flit.seal(&CONFIG);
        flit
    }

    /// A field with random data, with beats of it poisoned.
    fn with_random_data(&mut self, field: ControlField, poisoned: u8) -> Transfer {
        let owed = field.owed(&CONFIG);
        let mut beats = vec![[0; 64]; owed.beats];
        beats.iter_mut().for_each(|beat| self.rng.fill_bytes(beat));
        let mut enables = [0; 32];
        self.rng.fill_bytes(&mut enables);
        Transfer { poisoned, ..with_data(field, &beats, owed.enables.then_some(enables)) }
    }

    /// All flits of transfers, one behind the other; each with the beats of it that are poisoned.
    pub fn transfers(&mut self, fields: impl Iterator<Item = (ControlField, u8)>) -> Vec<DlFlit> {
        let mut tl = TlPacker::new(CONFIG);
        for (field, poisoned) in fields {
            let transfer = self.with_random_data(field, poisoned);
            // The data is what the field owes.
            let _ = tl.push(transfer);
        }
        self.send(&mut tl)
    }

    /// Flits until a packer has nothing more.
    fn send(&mut self, tl: &mut TlPacker) -> Vec<DlFlit> {
        let mut flits = Vec::new();
        while !tl.is_idle() || self.packer.carry() > 0 {
            flits.push(self.traffic_flit(tl, [None; 5]));
        }
        flits
    }

    fn traffic_flit(&mut self, tl: &mut TlPacker, messages: [Option<u32>; 5]) -> DlFlit {
        let mut flit = DlFlit::ZERO;
        flit.set_header_bits(self.header().to_bits().unwrap_or_default());
        flit.set_payload(&self.packer.pack(&mut OfferedTraffic { messages, tl }));
        flit.seal(&CONFIG);
        flit
    }

    /// Random transfers and messages in so many flits, and what is left of them.
    pub fn traffic(&mut self, count: usize) -> Vec<DlFlit> {
        let mut tl = TlPacker::new(CONFIG);
        let mut flits = Vec::new();
        for _ in 0..count {
            while tl.waiting() < 4 {
                let field = self.random_field();
                let transfer = self.with_random_data(field, 0);
                if tl.push(transfer).is_err() {
                    break;
                }
            }
            let messages = [(); 5].map(|()| (self.rng.below(8) == 0).then(|| self.random_message()));
            flits.push(self.traffic_flit(&mut tl, messages));
        }
        flits.extend(self.send(&mut tl));
        flits
    }

    /// A request or response with random fields. Compressed requests need a history and stay out.
    fn random_field(&mut self) -> ControlField {
        let kinds = [FieldType::Request, FieldType::Response, FieldType::CompressedSingle, FieldType::CompressedMulti];
        let kind = kinds[self.rng.below(4) as usize];
        let bits = control::def_of(kind).map_or(0, |def| legal::random(def, self.rng));
        ControlField::from_bits(kind, bits).unwrap_or(ControlField::FlowControl(Default::default()))
    }

    fn random_message(&mut self) -> u32 {
        let plain: Vec<_> = MESSAGES.into_iter().filter(|def| def.name != UartTransport::DEF.name).collect();
        let def = plain[self.rng.below(plain.len() as u64) as usize];
        legal::random(def, self.rng) as u32
    }
}
