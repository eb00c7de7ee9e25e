//! The ten messages: plain field values to bytes and back, by the model and by the oracle's `modular-bitfield` structs.
//!
//! Both encoders read the same plain structs, check every field's range (the model also that an address is aligned) and
//! write the same bytes; both decoders read those bytes, refuse a bit above the message, and give the same plain structs.

use std::hint::black_box;

use scalepool_oracle::cxl68_messages as oracle;
use scalepool_protocols::cxl::cxl68::message as model;
use scalepool_protocols::wire::{FieldValue, Wire};

use super::Effort;
use super::race::{Numbers, Variant, race};
use super::table::{Row, Table};

/// Messages a call: fields and bytes of all of them stay in the first level of the cache.
const MESSAGES: usize = 256;

/// A message in both spellings.
trait Spelled: Wire + PartialEq + std::fmt::Debug {
    type Bytes: Copy + PartialEq + std::fmt::Debug;
    const ZERO: Self::Bytes;
    fn encode_model(&self) -> Self::Bytes;
    fn encode_oracle(&self) -> Self::Bytes;
    fn decode_model(bytes: &Self::Bytes) -> Option<Self>;
    fn decode_oracle(bytes: &Self::Bytes) -> Option<Self>;
}

macro_rules! spelled {
    ($($type:ident $(address $shift:literal)? { $($field:ident)+ })+) => {$(
        impl Spelled for model::$type {
            type Bytes = [u8; oracle::$type::BYTES];
            const ZERO: Self::Bytes = [0; oracle::$type::BYTES];

            #[inline(always)]
            fn encode_model(&self) -> Self::Bytes {
                let bits = self.to_bits().expect("a value that fits").to_le_bytes();
                bits[..oracle::$type::BYTES].try_into().expect("at most 16 bytes")
            }

            #[inline(always)]
            fn encode_oracle(&self) -> Self::Bytes {
                #[allow(unused_mut)]
                let mut plain = *self;
                $(plain.address >>= $shift;)?
                oracle::$type::encode(($(FieldValue::to_raw(plain.$field) as _,)+))
            }

            #[inline(always)]
            fn decode_model(bytes: &Self::Bytes) -> Option<Self> {
                let mut all = [0; 16];
                all[..bytes.len()].copy_from_slice(bytes);
                let bits = u128::from_le_bytes(all);
                (bits >> Self::DEF.bits == 0).then(|| Self::from_bits(bits))
            }

            #[inline(always)]
            fn decode_oracle(bytes: &Self::Bytes) -> Option<Self> {
                let ($($field,)+) = oracle::$type::decode(*bytes)?;
                #[allow(unused_mut)]
                let mut plain = model::$type { $($field: FieldValue::from_raw($field as u128),)+ };
                $(plain.address <<= $shift;)?
                Some(plain)
            }
        }
    )+};
}

// The names alone; places and widths are the model's and the oracle's own.
spelled! {
    M2sReq address 5 { valid opcode snp_type meta_field meta_value tag address tc ld_id rsvd }
    M2sRwd address 6 { valid opcode snp_type meta_field meta_value tag address poison tc ld_id rsvd }
    S2mNdr { valid opcode meta_field meta_value tag ld_id devload }
    S2mDrs { valid opcode meta_field meta_value tag poison ld_id devload rsvd }
    D2hReq address 6 { valid opcode cqid nt rsvd address rsvd1 }
    D2hRsp { valid opcode uqid rsvd }
    D2hData { valid uqid chunk_valid bogus poison rsvd }
    H2dReq address 6 { valid opcode address uqid rsvd }
    H2dRsp { valid opcode rsp_data rsp_pre cqid rsvd }
    H2dData { valid cqid chunk_valid poison go_err rsvd }
}

/// Rates of one direction of one message, in million a second.
struct Rates {
    name: &'static str,
    model: f64,
    oracle: f64,
    memcpy: f64,
}

/// Encode and decode of one message.
fn rates<M: Spelled>(effort: Effort) -> [Rates; 2] {
    let mut numbers = Numbers(M::DEF.bits.into());
    let plain: Vec<M> = (0..MESSAGES).map(|_| M::from_bits(numbers.next())).collect();
    let bytes: Vec<M::Bytes> = plain.iter().map(M::encode_oracle).collect();
    for (plain, bytes) in plain.iter().zip(&bytes) {
        assert_eq!(plain.encode_model(), *bytes);
        assert_eq!((M::decode_model(bytes), M::decode_oracle(bytes)), (Some(*plain), Some(*plain)));
    }
    let mut out = [(); 3].map(|_| vec![M::ZERO; MESSAGES]);
    let mut back = [(); 2].map(|_| plain.clone());
    let [out_model, out_oracle, out_memcpy] = &mut out;
    let [back_model, back_oracle] = &mut back;

    let encoders: [Variant; 3] = [
        Box::new(|| {
            for (to, from) in black_box(&mut *out_model).iter_mut().zip(black_box(&plain)) {
                *to = from.encode_model();
            }
        }),
        Box::new(|| {
            for (to, from) in black_box(&mut *out_oracle).iter_mut().zip(black_box(&plain)) {
                *to = from.encode_oracle();
            }
        }),
        Box::new(|| black_box(&mut *out_memcpy).copy_from_slice(black_box(&bytes))),
    ];
    let [model, oracle, memcpy] = race(effort, MESSAGES, encoders);
    let encode = Rates { name: M::DEF.name, model, oracle, memcpy };

    let decoders: [Variant; 2] = [
        Box::new(|| {
            for (to, from) in black_box(&mut *back_model).iter_mut().zip(black_box(&bytes)) {
                *to = M::decode_model(from).expect("no bit above: compared above");
            }
        }),
        Box::new(|| {
            for (to, from) in black_box(&mut *back_oracle).iter_mut().zip(black_box(&bytes)) {
                *to = M::decode_oracle(from).expect("no bit above: compared above");
            }
        }),
    ];
    let [model, oracle] = race(effort, MESSAGES, decoders);
    [encode, Rates { name: M::DEF.name, model, oracle, memcpy }]
}

/// Adds a row for every message and direction, and one for all ten together (one message of each kind in turn).
pub fn measure(effort: Effort, table: &mut Table) {
    let all = [
        rates::<model::M2sReq>(effort),
        rates::<model::M2sRwd>(effort),
        rates::<model::S2mNdr>(effort),
        rates::<model::S2mDrs>(effort),
        rates::<model::D2hReq>(effort),
        rates::<model::D2hRsp>(effort),
        rates::<model::D2hData>(effort),
        rates::<model::H2dReq>(effort),
        rates::<model::H2dRsp>(effort),
        rates::<model::H2dData>(effort),
    ];
    for (n, direction) in ["encode", "decode"].into_iter().enumerate() {
        for message in &all {
            row(table, direction, &message[n]);
        }
        // The time of ten messages is the sum of their times.
        let mean = |rate: fn(&Rates) -> f64| all.len() as f64 / all.iter().map(|m| 1.0 / rate(&m[n])).sum::<f64>();
        let (model, oracle, memcpy) = (mean(|r| r.model), mean(|r| r.oracle), mean(|r| r.memcpy));
        row(table, direction, &Rates { name: "cxl68.(all ten)", model, oracle, memcpy });
    }
}

fn row(table: &mut Table, direction: &str, rates: &Rates) {
    table.row(Row {
        what: format!("{direction} {}", rates.name.trim_start_matches("cxl68.")),
        unit: "M message/s",
        ours: rates.model,
        peer: Some(("modular-bitfield", rates.oracle)),
        aim: Some(1.0),
        memcpy: Some(rates.memcpy),
    });
}
