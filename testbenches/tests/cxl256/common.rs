//! What the tests of the 256-byte flits share: flits built slot by slot, streams read and judged, layouts of the sheet.

use scalepool::forms::flit256::Cxl256FlitEncoder;
pub use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::check::{self, Findings};
use scalepool_protocols::cxl::cxl256::code::FlitType;
pub use scalepool_protocols::cxl::cxl256::config::Cxl256Config;
use scalepool_protocols::cxl::cxl256::crd::Crd;
pub use scalepool_protocols::cxl::cxl256::flit::{self, Cxl256Flit};
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::slot;
use scalepool_protocols::cxl::cxl256::stream::{Cxl256DecodedFlit, Cxl256Message, Unpacker};
pub use scalepool_protocols::cxl::cxl256::{Class, Mode};
use scalepool_protocols::wire::{FieldFault, LayoutDef, Violation, Wire};
use serde_json::Value;

/// A flit under construction; `flit` computes CRC and FEC.
#[derive(Debug, Clone, Copy)]
pub struct Build {
    pub mode: Mode,
    pub flit: Cxl256Flit,
}

/// A cachemem flit without content.
pub fn cachemem(mode: Mode) -> Build {
    of_type(mode, FlitType::Cachemem)
}

/// A flit of a type without content, sequence number 1.
pub fn of_type(mode: Mode, flit_type: FlitType) -> Build {
    let mut flit = Cxl256Flit::ZERO;
    flit.set_header(&FlitHeader { flit_type, seq: 1, ..FlitHeader::default() }).expect("the fields fit");
    Build { mode, flit }
}

impl Build {
    /// Messages at places of a format.
    pub fn with(mut self, n: usize, format: &str, messages: &[(usize, u128)]) -> Build {
        let row = slot::formats(self.mode, n).iter().find(|f| f.name == format).expect("a format of that slot");
        let places: Vec<_> = row.places().collect();
        let bits = messages.iter().fold(u128::from(row.code), |bits, &(place, m)| places[place].insert(bits, m));
        self.flit.set_slot(self.mode, n, bits);
        self
    }

    /// Any bits in a slot.
    pub fn bits(mut self, n: usize, bits: u128) -> Build {
        self.flit.set_slot(self.mode, n, bits);
        self
    }

    /// The same bits in a run of slots, each told apart by its number in the lowest byte.
    pub fn run(self, slots: std::ops::Range<usize>, fill: u128) -> Build {
        slots.fold(self, |b, n| b.bits(n, fill ^ n as u128))
    }

    /// The credit field.
    pub fn crd(mut self, crd: Crd) -> Build {
        self.flit.set_crd(&crd).expect("the codes fit");
        self
    }

    /// A byte of the flit.
    pub fn byte(mut self, at: usize, value: u8) -> Build {
        self.flit.0[at] = value;
        self
    }

    /// The flit with CRC and FEC.
    pub fn flit(mut self) -> Cxl256Flit {
        self.flit.seal(self.mode);
        self.flit
    }
}

/// A legal message of a class that carries `id` (10 bits) in its tag, CQID, UQID or BITag.
pub fn legal(mode: Mode, class: Class, id: u16) -> u128 {
    let def = class.def(mode.routing());
    let named = |name: &str| def.fields.iter().find(|f| f.name == name);
    let id_field = ["tag", "cqid", "uqid", "bi_tag"].into_iter().find_map(named).expect("every message has one");
    // A code that is legal without further conditions (`cxl-256b` §4).
    let opcode = match class {
        Class::M2sReq | Class::M2sRwd | Class::H2dReq => 1,
        Class::D2hReq => 2,
        Class::D2hRsp | Class::H2dRsp => 5,
        _ => 0,
    };
    let bits = id_field.insert(1, id.into()).expect("the number fits");
    named("opcode").map_or(bits, |f| f.insert(bits, opcode).expect("the code fits"))
}

/// A legal message with fields set by name; addresses in bytes.
pub fn message(mode: Mode, class: Class, id: u16, fields: &[(&str, u128)]) -> u128 {
    let def = class.def(mode.routing());
    fields.iter().fold(legal(mode, class, id), |bits, (name, value)| {
        def.field(name).expect("a field of the layout").insert(bits, *value).expect("the value fits")
    })
}

/// A message with nothing but its valid bit and the named fields set.
pub fn plain(mode: Mode, class: Class, fields: &[(&str, u128)]) -> u128 {
    let def = class.def(mode.routing());
    fields.iter().fold(1, |bits, (name, value)| {
        def.field(name).expect("a field of the layout").insert(bits, *value).expect("the value fits")
    })
}

/// What the codec makes of a stream.
pub struct Read {
    pub decoded: Vec<Cxl256DecodedFlit>,
    pub findings: Vec<Findings>,
    /// Messages in the order in which they were complete.
    pub delivered: Vec<Cxl256Message>,
    pub owed_slots: usize,
}

impl Read {
    /// Ids of all broken rules, in order.
    pub fn rules(&self) -> Vec<&'static str> {
        self.findings.iter().flat_map(|f| f.violations.iter().map(|v| v.rule)).collect()
    }

    /// Ids of all lints, in order.
    pub fn lints(&self) -> Vec<&'static str> {
        self.findings.iter().flat_map(|f| f.lints.iter().map(|v| v.rule)).collect()
    }

    /// The only violation.
    #[track_caller]
    pub fn only(&self) -> &Violation {
        let all: Vec<_> = self.findings.iter().flat_map(|f| &f.violations).collect();
        assert_eq!(all.len(), 1, "{all:#?}");
        all[0]
    }

    /// Fails unless no rule is broken and no lint fires.
    #[track_caller]
    pub fn assert_clean(&self) {
        assert_eq!((self.rules(), self.lints()), (vec![], vec![]), "{:#?}", self.findings);
    }
}

/// Reads a stream and judges every flit.
pub fn read_as(mode: Mode, dir: Dir, config: Cxl256Config, flits: &[Cxl256Flit]) -> Read {
    let mut reader = Unpacker::new(mode, dir);
    let mut read = Read { decoded: Vec::new(), findings: Vec::new(), delivered: Vec::new(), owed_slots: 0 };
    for flit in flits {
        let decoded = reader.read(flit);
        read.findings.push(check::flit(&decoded, &config));
        read.decoded.push(decoded);
        read.delivered.extend_from_slice(reader.delivered());
    }
    read.owed_slots = reader.owed_slots();
    read
}

/// Reads a stream at the default configuration.
pub fn read(mode: Mode, dir: Dir, flits: &[Cxl256Flit]) -> Read {
    read_as(mode, dir, Cxl256Config::default(), flits)
}

/// Builds one flit from its object: the bytes, or why it is refused.
pub fn encode(mode: Mode, form: &Value) -> Result<Cxl256Flit, String> {
    Cxl256FlitEncoder::new(mode, Some(Dir::Down)).encode(form).map(|e| e.unit).map_err(|e| e.to_string())
}

/// Bytes of hex digits; blanks are passed over.
pub fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Fields of a layout as the sheet writes them: name, lowest bit, width.
fn fields_of_sheet(text: &str) -> Vec<(&str, u32, u32)> {
    text.split(',')
        .map(|part| {
            let (name, place) = part.trim().split_once(' ').expect("a name and a place");
            let (hi, lo) = place.split_once(':').unwrap_or((place, place));
            let (hi, lo): (u32, u32) = (hi.parse().expect("a bit"), lo.parse().expect("a bit"));
            (name, lo, hi - lo + 1)
        })
        .collect()
}

/// W, obeys: the fields stand where the sheet says; zeros, ones, walking ones and field maxima encode and decode so.
#[track_caller]
pub fn layout_p<M: Wire + std::fmt::Debug>(sheet: &str) {
    let def = M::DEF;
    let fields = fields_of_sheet(sheet);
    let mine: Vec<_> = def.fields.iter().map(|f| (f.name, f.lsb, f.width)).collect();
    assert_eq!(mine, fields, "{}", def.name);
    let all = u128::MAX >> (128 - def.bits);
    let same = |bits: u128| {
        assert_eq!(M::from_bits(bits).to_bits(), Ok(bits), "{}: {bits:#x}", def.name);
        let bytes = def.to_bytes(bits);
        // Byte n bit b is bit 8n + b of the message.
        for bit in 0..8 * bytes.len() {
            assert_eq!(u128::from(bytes[bit / 8] >> (bit % 8) & 1), bits >> bit & 1, "{} bit {bit}", def.name);
        }
        assert_eq!(def.from_bytes(&bytes), Ok(bits));
        for &(name, lsb, width) in &fields {
            let value = def.field(name).expect("listed").extract(bits);
            assert_eq!(value, bits >> lsb & (u128::MAX >> (128 - width)), "{}.{name}", def.name);
        }
    };
    same(0);
    same(all);
    (0..def.bits).for_each(|bit| same(1 << bit));
    fields.iter().for_each(|&(_, lsb, width)| same((u128::MAX >> (128 - width)) << lsb));
}

/// W, breaks: a value above a field's maximum is refused by name; a set reserved bit is kept and named by the rule.
#[track_caller]
pub fn layout_n<M: Wire + std::fmt::Debug>(rule: &str) {
    let def: &'static LayoutDef = M::DEF;
    assert_eq!(def.rule, rule);
    for f in def.fields {
        let too_large = (f.max_raw() + 1) << f.address_lsb;
        match f.insert(0, too_large) {
            Err(FieldFault::TooWide { field, .. }) => assert_eq!(field, f.name),
            other => panic!("{}.{}: {other:?}", def.name, f.name),
        }
        for bit in (f.lsb..f.lsb + f.width).filter(|_| f.reserved) {
            let bits = def.default_bits() | 1 << bit;
            assert_eq!(M::from_bits(bits).to_bits(), Ok(bits), "kept");
            let mut found = Vec::new();
            def.check(bits, &mut found);
            assert!(
                found.iter().any(|v| v.rule == rule && v.text.contains(f.name)),
                "{}.{} bit {bit}",
                def.name,
                f.name
            );
        }
    }
}
