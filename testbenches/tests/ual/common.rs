//! What the tests of UALink share: fields, TL flits, DL flits, streams read and judged, layouts of the sheet.

pub use scalepool_protocols::ualink::code::*;
pub use scalepool_protocols::ualink::compress::CompressionRole;
pub use scalepool_protocols::ualink::config::UalConfig;
pub use scalepool_protocols::ualink::control::{ControlField, Writer};
pub use scalepool_protocols::ualink::field::*;
pub use scalepool_protocols::ualink::flit::{DlFlit, Payload};
pub use scalepool_protocols::ualink::half::{Half, MessageHalf, TlFlit};
pub use scalepool_protocols::ualink::header::*;
pub use scalepool_protocols::ualink::pack::{TlPacker, with_data};
pub use scalepool_protocols::ualink::segment::{self, SegmentPlace, SegmentSource};
pub use scalepool_protocols::ualink::stream::{UalDecodedFlit, Unpacker};
pub use scalepool_protocols::ualink::unpack::{HalfRole, TlRead, TlUnpacker, Transfer};
use scalepool_protocols::wire::{FieldFault, LayoutDef, Violation, Wire};

/// What the sheet uses.
pub const SHEET: UalConfig = UalConfig::SHEET;

/// Authentication on.
pub const WITH_TAGS: UalConfig = UalConfig { authentication: true, ..SHEET };

/// A payload header with the whole sequence number.
pub fn explicit(seq: u16) -> UalHeader {
    UalHeader::Explicit(ExplicitHeader { seq, payload: true, ..ExplicitHeader::default() })
}

/// A header without payload.
pub fn nop(seq: u16) -> UalHeader {
    UalHeader::Explicit(ExplicitHeader { seq, ..ExplicitHeader::default() })
}

/// A sealed flit.
pub fn flit(header: UalHeader, payload: &Payload) -> DlFlit {
    DlFlit::new(&header, payload, &SHEET).expect("the header fits")
}

/// What can be sent in each segment of one flit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Offers {
    pub messages: [Option<u32>; 5],
    pub tl: [[Option<TlFlit>; 2]; 5],
}

impl SegmentSource for Offers {
    fn message(&mut self, segment: usize) -> Option<u32> {
        self.messages[segment].take()
    }

    fn tl_flit(&mut self, segment: usize, place: SegmentPlace) -> Option<TlFlit> {
        self.tl[segment][place as usize].take()
    }
}

/// TL flits without end: each is `numbered`.
#[derive(Debug, Clone, Default)]
pub struct Saturated {
    pub sent: u32,
    /// Segments with a DL message.
    pub messages: Vec<usize>,
}

impl SegmentSource for Saturated {
    fn message(&mut self, segment: usize) -> Option<u32> {
        // A No-Op.
        self.messages.contains(&segment).then_some(0)
    }

    fn tl_flit(&mut self, _segment: usize, _place: SegmentPlace) -> Option<TlFlit> {
        self.sent += 1;
        Some(numbered(self.sent))
    }
}

/// A TL flit that tells its number in every sector.
pub fn numbered(n: u32) -> TlFlit {
    let mut flit = TlFlit::default();
    for sector in 0..16 {
        flit.set_sector(sector, ((n << 8) + sector as u32 + 1).to_le_bytes());
    }
    flit
}

/// A payload of one flit and what a packer keeps.
pub fn payload(offers: &Offers) -> Payload {
    segment::Packer::default().pack(&mut offers.clone())
}

/// Reads a stream towards a switch.
pub fn read(flits: &[DlFlit]) -> Vec<UalDecodedFlit> {
    let mut unpacker = Unpacker::new(SHEET, CompressionRole::ToSwitch);
    flits.iter().map(|flit| unpacker.read(flit)).collect()
}

/// Ids of all broken rules of a flit and its TL flits.
pub fn rules(decoded: &UalDecodedFlit) -> Vec<&'static str> {
    let items = decoded.finished.iter().chain(&decoded.tl);
    let inside = items.flat_map(|tl| tl.violations().map(|v| v.rule).collect::<Vec<_>>());
    decoded.violations.iter().map(|v| v.rule).chain(inside).collect()
}

/// Ids of broken rules of a TL flit.
pub fn tl_rules(read: &TlRead) -> Vec<&'static str> {
    read.violations.iter().map(|v| v.rule).collect()
}

/// A Control half of fields, one behind the other.
pub fn control(fields: &[ControlField]) -> Half {
    let mut writer = Writer::default();
    fields.iter().for_each(|f| assert!(writer.put(f).expect("the field fits"), "no room for {f:?}"));
    writer.half()
}

/// A TL flit without message halves.
pub fn tl(lower: Half, upper: Half) -> TlFlit {
    TlFlit { halves: [lower, upper], message: [false; 2] }
}

/// Reads TL flits with a configuration.
pub fn read_tl(config: UalConfig, flits: &[TlFlit]) -> Vec<TlRead> {
    let mut unpacker = TlUnpacker::new(config, CompressionRole::ToSwitch);
    flits.iter().map(|flit| unpacker.read(flit)).collect()
}

/// All transfers of some TL flits.
pub fn delivered(reads: &[TlRead]) -> Vec<Transfer> {
    reads.iter().flat_map(|read| &read.delivered).map(|transfer| Transfer::clone(transfer)).collect()
}

/// Fails unless no rule is broken.
#[track_caller]
pub fn assert_clean(reads: &[TlRead]) {
    let all: Vec<_> = reads.iter().flat_map(|read| &read.violations).collect();
    assert!(all.is_empty(), "{all:#?}");
}

/// A request of 64-byte beats.
pub fn request(cmd: ReqCmd, tag: u16, beats: u8) -> TlReq {
    let attr = if cmd == ReqCmd::Read { 0xff } else { 0 };
    TlReq { cmd, tag, attr, numbeats: beats - 1, len: 16 * beats - 1, dst: 2, src: 1, ..TlReq::default() }
}

/// A response; `beats` of a read.
pub fn response(rdwr: RdWr, tag: u16, beats: u8) -> TlRsp {
    let last = rdwr == RdWr::Read;
    TlRsp { rdwr, tag, last, len: beats - 1, dst: 1, ..TlRsp::default() }
}

/// Bytes that tell their number.
pub fn beat(n: u8) -> [u8; 64] {
    std::array::from_fn(|k| n.wrapping_mul(64).wrapping_add(k as u8) | 1)
}

/// A transfer of a field, with the data that it owes; beats are numbered from its `seed`.
pub fn transfer(field: ControlField, seed: u8, config: &UalConfig) -> Transfer {
    let owed = field.owed(config);
    let data: Vec<_> = (0..owed.beats).map(|n| beat(seed.wrapping_add(n as u8))).collect();
    let enables = owed.enables.then(|| std::array::from_fn(|k| 0xa0 | k as u8));
    with_data(field, &data, enables)
}

/// All TL flits that a packer makes of transfers.
pub fn pack_all(config: UalConfig, transfers: &[Transfer]) -> Vec<TlFlit> {
    let mut packer = TlPacker::new(config);
    transfers.iter().for_each(|t| packer.push(t.clone()).expect("a legal transfer"));
    std::iter::from_fn(|| packer.pack()).collect()
}

/// What a receiver has of a transfer: the address comes with requests.
pub fn received(transfer: &Transfer) -> Transfer {
    let address = match &transfer.field {
        ControlField::Request(req) => req.address.into(),
        _ => transfer.address,
    };
    Transfer { address, ..transfer.clone() }
}

/// What a layout finds in a message.
pub fn judged<M: Wire>(message: M) -> Vec<Violation> {
    let mut found = Vec::new();
    M::DEF.check(message.to_bits().expect("the fields fit"), &mut found);
    found
}

/// Ids of the rules that a message breaks.
pub fn broken<M: Wire>(message: M) -> Vec<&'static str> {
    judged(message).iter().map(|v| v.rule).collect()
}

/// W, obeys: the fields stand where the sheet says (`name high:low`, ..); walking ones encode and decode so.
#[track_caller]
pub fn layout_p<M: Wire + std::fmt::Debug>(sheet: &str) {
    let def = M::DEF;
    let mut fields: Vec<(&str, u32, u32)> = Vec::new();
    for part in sheet.split(',') {
        let (name, place) = part.trim().split_once(' ').expect("a name and a place");
        let (high, low) = place.split_once(':').unwrap_or((place, place));
        let (high, low): (u32, u32) = (high.parse().expect("a bit"), low.parse().expect("a bit"));
        fields.push((name, low, high - low + 1));
    }
    fields.sort_by_key(|f| f.1);
    let mine: Vec<_> = def.fields.iter().map(|f| (f.name, f.lsb, f.width)).collect();
    assert_eq!(mine, fields, "{}", def.name);
    let all = u128::MAX >> (128 - def.bits);
    for bits in (0..def.bits).map(|bit| 1 << bit).chain([0, all]) {
        assert_eq!(M::from_bits(bits).to_bits(), Ok(bits), "{}: {bits:#x}", def.name);
        assert_eq!(def.from_bytes(&def.to_bytes(bits)), Ok(bits), "{}", def.name);
    }
}

/// W, breaks: a value above a field's maximum is refused by name; a set reserved bit is kept and named by the rule of the
/// layout.
#[track_caller]
pub fn layout_n<M: Wire + std::fmt::Debug>() {
    let def: &'static LayoutDef = M::DEF;
    for f in def.fields {
        let too_large = (f.max_raw() + 1) << f.address_lsb;
        assert!(matches!(f.insert(0, too_large), Err(FieldFault::TooWide { field, .. }) if field == f.name));
        for bit in (f.lsb..f.lsb + f.width).filter(|_| f.reserved) {
            let bits = def.default_bits() | 1 << bit;
            assert_eq!(M::from_bits(bits).to_bits(), Ok(bits), "kept");
            let mut found = Vec::new();
            def.check(bits, &mut found);
            assert!(found.iter().any(|v| v.rule == def.rule && v.text.contains(f.name)), "{} bit {bit}", def.name);
        }
    }
}
