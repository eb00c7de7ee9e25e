//! What the tests of the CXL 68-byte link share: flits built slot by slot, streams read by the codec and by the oracle.

use proptest::test_runner::{Config as ProptestConfig, FileFailurePersistence, RngSeed};
use scalepool_oracle::cxl68_messages::{self, MessageOracle};
use scalepool_oracle::cxl68_slots as oracle_slots;
use scalepool_oracle::cxl68_stream::{FlitFacts, StreamChecker, Transfer};
use scalepool_protocols::cxl::cxl68::check::{self, Findings};
use scalepool_protocols::cxl::cxl68::code::{
    D2hReqOpcode, D2hRspOpcode, H2dReqOpcode, H2dRspOpcode, M2sReqOpcode, M2sRwdOpcode,
};
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, Revision};
use scalepool_protocols::cxl::cxl68::control::Control;
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::packer::{Packed, Packer};
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled};
use scalepool_protocols::cxl::cxl68::slot;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68DecodedUnit, Cxl68Message, Data, Size, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::{Cxl68Unit, PAYLOAD_BYTES};
pub use scalepool_protocols::cxl::cxl68::{Dir, LAYOUTS};
use scalepool_protocols::wire::{At, LayoutDef, Violation, Wire};

/// The defaults.
pub fn config() -> Cxl68Config {
    Cxl68Config::default()
}

/// Names a direction in the oracle's terms.
pub fn oracle_dir(dir: Dir) -> oracle_slots::Dir {
    match dir {
        Dir::Down => oracle_slots::Dir::Down,
        Dir::Up => oracle_slots::Dir::Up,
    }
}

/// Random cases that are the same in every run; `PROPTEST_CASES` and `PROPTEST_RNG_SEED` ask for more and for others.
/// Cases that failed once are kept in a file beside the test and tried first.
pub fn random_cases(cases: u32, regressions: &'static str) -> ProptestConfig {
    let asked = ProptestConfig::default();
    ProptestConfig {
        cases: cases.max(asked.cases),
        rng_seed: if asked.rng_seed == RngSeed::Random { RngSeed::Fixed(68) } else { asked.rng_seed },
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(regressions))),
        ..asked
    }
}

/// A protocol flit under construction.
#[derive(Debug, Clone, Copy)]
pub struct Flit {
    pub dir: Dir,
    pub header: FlitHeader,
    pub slots: [u128; 4],
}

impl Flit {
    /// All bits 0: four empty slots.
    pub fn new(dir: Dir) -> Flit {
        Flit { dir, header: FlitHeader::from_bits(0), slots: [0; 4] }
    }

    /// Sets Sz and BE.
    pub fn sized(mut self, sz: bool, be: bool) -> Flit {
        (self.header.sz, self.header.be) = (sz, be);
        self
    }

    /// Puts messages of the given places into a slot and sets its format code.
    pub fn with(mut self, n: usize, format: &str, messages: &[(usize, u128)]) -> Flit {
        let rows = slot::formats(Revision::V2_0, self.dir, n);
        let row = rows.iter().find(|f| f.name == format).expect("a format of that slot");
        self.header.set_slot(n, row.code);
        for &(place, bits) in messages {
            self.slots[n] = row.places()[place].insert(self.slots[n], bits);
        }
        self
    }

    /// Puts 16 bytes into a slot of format G0.
    pub fn chunk(mut self, n: usize, chunk: u128) -> Flit {
        self.slots[n] = chunk;
        self
    }

    /// The unit with its CRC.
    pub fn unit(&self) -> Cxl68Unit {
        let mut slots = self.slots;
        slots[0] |= self.header.to_bits().expect("header fields fit");
        Cxl68Unit::from_slots(pid::CACHEMEM, &slots)
    }
}

/// An all-data flit.
pub fn all_data(chunks: [u128; 4]) -> Cxl68Unit {
    Cxl68Unit::from_slots(pid::CACHEMEM, &chunks)
}

/// A control flit.
pub fn control(control: &Control) -> Cxl68Unit {
    control_slot(control.to_slot().expect("control fields fit"))
}

/// A control flit of any slot 0.
pub fn control_slot(slot: u128) -> Cxl68Unit {
    Cxl68Unit::from_slots(pid::CACHEMEM, &[slot, 0, 0, 0])
}

/// The unit with its CRC made to fit again.
pub fn with_crc(mut unit: Cxl68Unit) -> Cxl68Unit {
    unit.set_tail(unit.expected_crc());
    unit
}

/// An ALMP of one DWORD.
pub fn almp(word: u32) -> Cxl68Unit {
    let mut payload = [0; PAYLOAD_BYTES];
    for copy in payload[..16].chunks_exact_mut(4) {
        copy.copy_from_slice(&word.to_le_bytes());
    }
    Cxl68Unit::plain(pid::ALMP, &payload)
}

/// A legal message of a class that carries `id` in its tag, CQID or UQID (12 bits at least).
pub fn legal(class: Class, id: u16) -> u128 {
    let id = u128::from(id & 0xfff);
    // Opcode at bit 1 in every message that has one; the identifier by `cxl-68b` §2.
    let (opcode, id_lsb) = match class {
        Class::M2sReq => (M2sReqOpcode::MemRd.0, 12),
        Class::M2sRwd => (M2sRwdOpcode::MemWr.0, 12),
        Class::S2mNdr | Class::S2mDrs => (0, 8),
        Class::D2hReq => (D2hReqOpcode::RdOwn.0, 6),
        Class::D2hRsp => (D2hRspOpcode::RspIHitI.0, 6),
        Class::D2hData | Class::H2dData => (0, 1),
        Class::H2dReq => (H2dReqOpcode::SnpInv.0, 50),
        Class::H2dRsp => (H2dRspOpcode::GO_WritePull.0, 19),
    };
    1 | u128::from(opcode) << 1 | id << id_lsb
}

/// A line whose bytes differ from each other and from those of lines with another seed.
pub fn line(seed: u8) -> [u8; 64] {
    std::array::from_fn(|k| (k as u8) ^ seed.wrapping_mul(67))
}

/// A legal message; classes with data carry the line of `id`.
pub fn message(class: Class, id: u16) -> Cxl68Message {
    let data = class.has_data().then(|| Data::line(line(id as u8)));
    Cxl68Message { class, bits: legal(class, id), data }
}

/// A legal message with data of a size, the rest of the line 0.
pub fn sized(class: Class, id: u16, size: Size, byte_enables: Option<u64>) -> Cxl68Message {
    let whole = line(id as u8);
    let mask = size.bytes_mask();
    let bytes = std::array::from_fn(|k| if mask >> k & 1 == 1 { whole[k] } else { 0 });
    // ChunkValid, bit 13 of both CXL.cache data headers.
    let upper = if size == Size::UpperHalf { 1 << 13 } else { 0 };
    Cxl68Message::with_data(class, legal(class, id) | upper, Data { bytes, size, byte_enables })
}

/// Credits that never run out in a test.
pub const PLENTY: [u16; 10] = [u16::MAX; 10];

/// The unit of a packed flit.
pub fn unit_of(packed: &Packed) -> Option<Cxl68Unit> {
    match packed {
        Packed::Nothing => None,
        Packed::AllData(chunks) => Some(all_data(*chunks)),
        Packed::Protocol(header, slots) => Some(Flit { dir: Dir::Down, header: *header, slots: *slots }.unit()),
    }
}

/// Packs messages that all wait at once, until nothing is left.
pub fn pack(dir: Dir, config: Cxl68Config, messages: &[Cxl68Message]) -> Vec<Cxl68Unit> {
    let mut packer = Packer::new(dir, config);
    for m in messages {
        packer.push(m).expect("the message is legal");
    }
    let mut units = Vec::new();
    while !packer.is_empty() {
        units.push(unit_of(&packer.pack(&mut PLENTY.clone(), 4)).expect("a packer with work packs something"));
    }
    units
}

/// What the codec makes of a stream.
pub struct Read {
    pub decoded: Vec<Cxl68DecodedUnit>,
    pub findings: Vec<Findings>,
    /// Messages in the order in which they were complete.
    pub delivered: Vec<Cxl68Message>,
    pub rollover: usize,
}

impl Read {
    /// Ids of all broken rules, in order.
    pub fn rules(&self) -> Vec<&'static str> {
        self.findings.iter().flat_map(|f| f.violations.iter().map(|v| v.rule)).collect()
    }

    /// All violations, in order.
    pub fn violations(&self) -> Vec<&Violation> {
        self.findings.iter().flat_map(|f| &f.violations).collect()
    }

    /// Ids of all lints, in order.
    pub fn lints(&self) -> Vec<&'static str> {
        self.findings.iter().flat_map(|f| f.lints.iter().map(|v| v.rule)).collect()
    }

    /// Fails unless no rule is broken; lints may fire.
    #[track_caller]
    pub fn assert_legal(&self) {
        assert!(self.rules().is_empty(), "{:#?}", self.violations());
    }

    /// Fails unless no rule is broken and no lint fires.
    #[track_caller]
    pub fn assert_clean(&self) {
        self.assert_legal();
        assert!(self.lints().is_empty(), "{:#?}", self.findings);
    }
}

/// Reads a stream with the codec and judges every unit.
pub fn read_as(dir: Dir, config: Cxl68Config, units: &[Cxl68Unit]) -> Read {
    let mut reader = Unpacker::new(dir, config.revision, Enabled::ALL);
    let mut read = Read { decoded: Vec::new(), findings: Vec::new(), delivered: Vec::new(), rollover: 0 };
    for unit in units {
        let decoded = reader.read(unit);
        read.findings.push(check::unit(&decoded, &config));
        read.decoded.push(decoded);
        read.delivered.extend_from_slice(reader.delivered());
    }
    read.rollover = reader.rollover();
    read
}

/// Reads a stream at the default configuration.
pub fn read(dir: Dir, units: &[Cxl68Unit]) -> Read {
    read_as(dir, config(), units)
}

/// Reads one unit on which nothing is owed.
pub fn judge(dir: Dir, unit: Cxl68Unit) -> Read {
    read(dir, &[unit])
}

/// What the independent checker sees in a stream.
pub fn oracle(dir: Dir, mdh: bool, units: &[Cxl68Unit]) -> Result<Vec<FlitFacts>, String> {
    let mut checker = StreamChecker::new(oracle_dir(dir), mdh);
    units.iter().map(|u| checker.flit(&u.0)).collect()
}

/// Whether a message with data says what the oracle put together.
pub fn same_transfer(message: &Cxl68Message, transfer: &Transfer) -> bool {
    let Some(data) = message.data else { return false };
    let travels = data.size.bytes_mask();
    let sent: Vec<u8> = (0..64).filter(|k| travels >> k & 1 == 1).map(|k| data.bytes[k]).collect();
    let enables_agree = match data.byte_enables {
        Some(_) => transfer.has_byte_enables && data.enabled() == transfer.byte_enables,
        None => !transfer.has_byte_enables,
    };
    message.class.def().name == transfer.name
        && message.bits == transfer.header
        && sent == transfer.data
        && enables_agree
}

/// The messages of a class, in order.
pub fn of_class(messages: &[Cxl68Message], class: Class) -> Vec<Cxl68Message> {
    messages.iter().filter(|m| m.class == class).copied().collect()
}

/// The layout of the oracle that has the name of a layout of the codec. The oracle has no layout of its own for the
/// RETRY flits without payload: their bits are those of RETRY.Req with the payload reserved.
pub fn oracle_of(def: &LayoutDef) -> &'static MessageOracle {
    cxl68_messages::message(if def.name == "cxl68.retry" { "cxl68.retry_req" } else { def.name })
}

fn number(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |n, b| n << 8 | u128::from(*b))
}

/// The W test that obeys: zeros, ones, walking ones, walking zeros and field maxima are the oracle's.
///
/// The two spellings group some bits differently (neighbouring reserved bits, the IDE payload), so each bit is asked for
/// by its position: a one in bit i of the codec's field is a one in the oracle's field that covers bit i, and nowhere else.
#[track_caller]
pub fn layout_p<M: Wire + std::fmt::Debug>() {
    let def = M::DEF;
    let oracle = oracle_of(def);
    assert_eq!(def.bits, oracle.bits, "{}", def.name);
    assert_eq!(def.fields.iter().map(|f| f.width).sum::<u32>(), def.bits, "{}: widths", def.name);
    let all = if def.bits == 128 { u128::MAX } else { (1 << def.bits) - 1 };
    let same = |bits: u128| {
        let (typed, bytes) = (M::from_bits(bits), def.to_bytes(bits));
        assert_eq!(typed.to_bits(), Ok(bits), "{}: {bits:#x}", def.name);
        assert_eq!(bytes.len(), oracle.bytes(), "{}", def.name);
        assert_eq!(def.from_bytes(&bytes), Ok(bits), "{}", def.name);
        let values = (oracle.read)(&bytes);
        assert_eq!(number(&(oracle.build)(&values)), bits, "{}: {bits:#x}", def.name);
        for f in def.fields {
            for bit in f.lsb..f.lsb + f.width {
                let (theirs, &(name, lsb, _)) =
                    values.iter().zip(oracle.fields).find(|(_, o)| (o.1..o.1 + o.2).contains(&bit)).expect("no gap");
                let (mine, at) = (f.extract(bits) >> (bit - f.lsb) & 1, bit - lsb);
                assert_eq!(mine, theirs >> at & 1, "{}.{} bit {bit}, oracle field {name}", def.name, f.name);
            }
        }
    };
    same(0);
    same(all);
    for bit in 0..def.bits {
        same(1 << bit);
        same(all & !(1 << bit));
    }
    for (f, other) in def.fields.iter().flat_map(|f| oracle.fields.iter().map(move |o| (f, o))) {
        let max = f.insert(0, f.max_raw() << f.address_lsb).expect("the maximum fits");
        same(max);
        same(all & !max);
        // A field that both spell with the same place: the oracle's own setter gives the codec's bits.
        if (other.1, other.2) == (f.lsb, f.width) {
            assert_eq!(number(&oracle.one_field(other.0, f.max_raw())), max, "{}.{}", def.name, f.name);
        }
    }
    // Outside the few that are grouped differently, every field has its partner.
    let partners = def.fields.iter().filter(|f| oracle.fields.iter().any(|o| (o.1, o.2) == (f.lsb, f.width))).count();
    let apart = match def.name {
        "cxl68.retry" => 1, // payload of RETRY.Req
        "cxl68.ide" => 2,   // payload split at bit 64
        _ => 0,
    };
    assert_eq!(partners, def.fields.len() - apart, "{}: fields without a partner in the oracle", def.name);
}

/// The W test that breaks: what does not fit is refused with the field named; reserved bits are kept and named.
#[track_caller]
pub fn layout_n<M: Wire + std::fmt::Debug>(rule: &str) {
    use scalepool_protocols::wire::FieldFault;
    let def = M::DEF;
    for f in def.fields {
        let over = (f.max_raw() + if f.width == 128 { 0 } else { 1 }) << f.address_lsb;
        match f.insert(0, over) {
            Err(FieldFault::TooWide { field, lsb, width, found, .. }) => {
                assert_eq!((field, lsb, width, found), (f.name, f.lsb, f.width, over), "{}", def.name);
            }
            other => panic!("{}.{}: {other:?}", def.name, f.name),
        }
        if f.address_lsb > 0 {
            assert!(matches!(f.insert(0, 1), Err(FieldFault::Misaligned { field, .. }) if field == f.name));
        }
    }
    for f in def.fields.iter().filter(|f| f.reserved) {
        for bit in f.lsb..f.lsb + f.width {
            let bits = def.default_bits() | 1 << bit;
            assert_eq!(M::from_bits(bits).to_bits(), Ok(bits), "{} bit {bit} is not kept", def.name);
            let mut found = Vec::new();
            def.check(bits, &mut found);
            let at = At::Bits { lsb: f.lsb, width: f.width };
            let named = found.iter().filter(|v| v.rule == rule && v.at == at && v.text.contains(f.name)).count();
            assert_eq!(named, 1, "{} bit {bit}: {found:?}", def.name);
        }
    }
}

/// Asserts that `to_bits` refuses a message with the field named.
#[track_caller]
pub fn refused<M: Wire>(message: M, field: &str) {
    let error = message.to_bits().err().unwrap_or_else(|| panic!("{}.{field} was not refused", M::DEF.name));
    assert_eq!(error.layout, M::DEF.name);
    assert!(error.to_string().contains(&format!("`{field}`")), "{error}");
}
