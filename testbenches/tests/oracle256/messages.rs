//! The 24 messages, and header, credits, control slots and ALMPs: table, bytes and types.

use super::common::{ones, patterns};
use scalepool_oracle::cxl68_messages::MessageOracle;
use scalepool_oracle::cxl256_messages as oracle;
use scalepool_protocols::cxl::cxl256::{message, pbr};
use scalepool_protocols::registry;
use scalepool_protocols::wire::{LayoutDef, Wire};

/// Every layout in both spellings.
fn pairs() -> Vec<(&'static LayoutDef, &'static MessageOracle)> {
    let def = |name| registry::layout(name).unwrap_or_else(|| panic!("the registry has no {name}"));
    oracle::messages().iter().chain(oracle::frames()).map(|theirs| (def(theirs.name), theirs)).collect()
}

/// The raw fields, in order, as the model builds them: field by field, through the checks of width and alignment.
fn build(def: &'static LayoutDef, raw: &[u128]) -> Vec<u8> {
    let fields = def.fields.iter().zip(raw);
    let bits = fields.fold(0, |bits, (f, raw)| {
        f.insert(bits, raw << f.address_lsb).unwrap_or_else(|fault| panic!("{}: {fault:?}", def.name))
    });
    def.to_bytes(bits)
}

/// The oracle's bytes in the order they are sent: the flit header alone has its high byte first (§1.3).
fn sent(theirs: &MessageOracle, raw: &[u128]) -> Vec<u8> {
    let mut bytes = (theirs.build)(raw);
    if theirs.name == "cxl256.flit_header" {
        bytes.reverse();
    }
    bytes
}

#[track_caller]
fn same_both_ways(def: &'static LayoutDef, theirs: &MessageOracle, raw: &[u128]) {
    let bytes = sent(theirs, raw);
    assert_eq!(build(def, raw), bytes, "{} {raw:x?}", def.name);
    let bits = def.from_bytes(&bytes).expect("the bytes of the oracle are a message");
    let read: Vec<u128> = def.fields.iter().map(|f| f.extract(bits)).collect();
    assert_eq!(read, (theirs.read)(&(theirs.build)(raw)), "{} {bytes:02x?}", def.name);
    assert_eq!(read, raw, "{} {bytes:02x?}", def.name);
}

#[test]
fn fields_are_those_of_the_oracle() {
    for (def, theirs) in pairs() {
        assert_eq!((def.bits, def.len_bytes()), (theirs.bits, theirs.bytes()), "{}", def.name);
        let fields: Vec<_> = def.fields.iter().map(|f| (f.name, f.lsb, f.width)).collect();
        assert_eq!(fields, theirs.fields, "{}", def.name);
        for f in def.fields {
            assert_eq!(f.reserved, f.name.starts_with("rsvd"), "{}.{}", def.name, f.name);
            // §3.1 note 4: the lowest coded bit is Addr[6]; the Addr[7:6] of a BIRsp is a chunk code.
            assert_eq!(f.address_lsb, if f.name == "address" { 6 } else { 0 }, "{}.{}", def.name, f.name);
        }
    }
}

#[test]
fn patterns_over_the_whole_message() {
    for (def, theirs) in pairs() {
        for bits in patterns(def.bits) {
            let raw: Vec<u128> = theirs.fields.iter().map(|&(_, low, width)| bits >> low & ones(width)).collect();
            same_both_ways(def, theirs, &raw);
            assert_eq!(def.to_bytes(bits), sent(theirs, &raw), "{} {bits:#x}", def.name);
        }
    }
}

/// Each field at its maximum among zeros, at zero among maxima, and one above its maximum, which is refused.
#[test]
fn maxima_of_every_field() {
    for (def, theirs) in pairs() {
        let maxima: Vec<u128> = theirs.fields.iter().map(|f| ones(f.2)).collect();
        for index in 0..maxima.len() {
            let mut raw = vec![0; maxima.len()];
            raw[index] = maxima[index];
            same_both_ways(def, theirs, &raw);
            let mut raw = maxima.clone();
            raw[index] = 0;
            same_both_ways(def, theirs, &raw);
            let field = &def.fields[index];
            assert!(field.insert(0, (maxima[index] + 1) << field.address_lsb).is_err(), "{}.{}", def.name, field.name);
        }
    }
}

/// The types that the tables describe keep every bit.
#[test]
fn types_keep_every_bit() {
    fn kept<T: Wire>() -> &'static str {
        for bits in patterns(T::DEF.bits) {
            assert_eq!(T::from_bits(bits).to_bits().as_ref(), Ok(&bits), "{}", T::DEF.name);
        }
        T::DEF.name
    }
    macro_rules! kept {
        ($($module:ident),+) => {
            [$(
                kept::<$module::H2dReq>(), kept::<$module::H2dRsp>(), kept::<$module::H2dData>(),
                kept::<$module::D2hReq>(), kept::<$module::D2hRsp>(), kept::<$module::D2hData>(),
                kept::<$module::M2sReq>(), kept::<$module::M2sRwd>(), kept::<$module::M2sBirsp>(),
                kept::<$module::S2mBisnp>(), kept::<$module::S2mNdr>(), kept::<$module::S2mDrs>(),
            )+]
        };
    }
    let names: Vec<_> = oracle::messages().iter().map(|m| m.name).collect();
    assert_eq!(names, kept!(message, pbr));
}

/// The example of §1.3: type 10b, prior 1, command 00, sequence 123h; the NOP and the L0p request of §10.
#[test]
fn examples_of_the_frames() {
    let cases: [(&str, &[u128], &[u8]); 3] = [
        ("cxl256.flit_header", &[0x123, 0, 0, 1, 2], &[0xA1, 0x23]),
        ("cxl256.flit_header", &[5, 1, 0, 0, 0], &[0x04, 0x05]),
        ("cxl256.almp_l0p", &[0, 1, 0, 0, 1, 4, 1], &[0x00, 0x01, 0x80, 0x14]),
    ];
    for (name, raw, bytes) in cases {
        let theirs = oracle::message(name);
        let def = registry::layout(name).unwrap();
        assert_eq!((sent(theirs, raw), build(def, raw)), (bytes.to_vec(), bytes.to_vec()), "{name}");
    }
}
