//! Whole units: slots to 68 bytes, and a stream of units back to roles, messages and data.
//!
//! The streams are the packer's: all five classes of a direction wait all the time, so flits are full, data rolls over and
//! all-data flits occur. `+crc` rows compute or judge the CRC, `+checks` rows hold every flit against the rules, of which it
//! breaks none. Their peer is the least that a codec built on the `crc`
//! crate has to do: for encoding, the bytes of the unit and the crate's CRC; for decoding, the crate's CRC alone.

use std::collections::VecDeque;
use std::hint::black_box;

use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::check;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::packer::{Packed, Packer};
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled, PidAction};
use scalepool_protocols::cxl::cxl68::stream::{Cxl68DecodedUnit, Cxl68Message, Data, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::{Cxl68Unit, payload_of};
use scalepool_protocols::wire::Wire;

use super::Effort;
use super::crc16::CRATE;
use super::race::{Numbers, Variant, race};
use super::table::{Row, Table};

/// Units a call; 17 KiB.
const UNITS: usize = 256;
/// Credits of every class before each flit, and messages that wait: more than a flit can take.
const PLENTY: usize = 8;

/// Random bits that are a legal message.
fn legal(class: Class, numbers: &mut Numbers) -> u128 {
    loop {
        // Bit 0 is `valid`, and bit 28 of an M2S Req, address bit 5, does not travel.
        let mut bits = numbers.next() & ((1 << class.def().bits) - 1) & !class.def().reserved() | 1;
        bits &= !(u128::from(class == Class::M2sReq) << 28);
        // Opcode 0 is MemData; MemDataNXM is not sent.
        bits &= !(u128::from(class == Class::S2mDrs) * 0b1110);
        if class.def().codes_are_sound(bits) {
            return bits;
        }
    }
}

/// A stream of the packer, as slots, and the messages in it.
fn stream(dir: Dir) -> (Vec<[u128; 4]>, Vec<Cxl68Message>) {
    let classes: Vec<Class> = Class::ALL.into_iter().filter(|class| class.dir() == dir).collect();
    let mut numbers = Numbers(dir as u64);
    // Every opcode may be sent: the bits are random as far as they are legal.
    let mut packer = Packer::new(dir, Cxl68Config { send_nxm: true, ..Cxl68Config::default() });
    let mut sent = Vec::new();
    let slots = (0..UNITS).map(|_| {
        for &class in &classes {
            while packer.waiting(class) < PLENTY {
                let bits = legal(class, &mut numbers);
                let bytes = std::array::from_fn(|_| (numbers.next() & 0xff) as u8);
                let data = class.has_data().then_some(Data::line(bytes));
                let message = Cxl68Message { class, bits, data };
                packer.push(&message).expect("a valid message of the direction");
                sent.push(message);
            }
        }
        match packer.pack(&mut [PLENTY as u16; 10], UNITS) {
            Packed::Protocol(header, mut slots) => {
                slots[0] |= header.to_bits().expect("the packer's header fits");
                slots
            }
            Packed::AllData(chunks) => chunks,
            Packed::Nothing => unreachable!("messages wait"),
        }
    });
    (slots.collect(), sent)
}

/// Shows that the units hold the messages, class by class in order; returns how many.
fn check(dir: Dir, units: &[Cxl68Unit], sent: &[Cxl68Message]) -> usize {
    let mut queues: [VecDeque<&Cxl68Message>; 10] = Default::default();
    for message in sent {
        queues[message.class.index()].push_back(message);
    }
    let mut unpacker = Unpacker::new(dir, Cxl68Config::default().revision, Enabled::ALL);
    let mut messages = 0;
    for unit in units {
        assert_eq!(unpacker.read(unit).crc_ok, Some(true));
        for message in unpacker.delivered() {
            assert_eq!(Some(message), queues[message.class.index()].pop_front());
            messages += 1;
        }
    }
    messages
}

/// The payload as the crate wants it, and its CRC.
fn crate_crc(payload: &[u8; 64]) -> u16 {
    let mut turned = *payload;
    turned.reverse();
    CRATE.checksum(&turned)
}

/// Adds the rows of both directions.
pub fn measure(effort: Effort, table: &mut Table) {
    for dir in Dir::ALL {
        let (slots, sent) = stream(dir);
        let units: Vec<Cxl68Unit> = slots.iter().map(|slots| Cxl68Unit::from_slots(pid::CACHEMEM, slots)).collect();
        let messages = check(dir, &units, &sent);
        assert!(units.iter().all(|unit| crate_crc(unit.payload()) == unit.tail()));

        let mut out = [(); 4].map(|_| units.clone());
        let [with, without, by_crate, copied] = &mut out;
        let encode = |out: &mut Vec<Cxl68Unit>, encode: fn(&[u128; 4]) -> Cxl68Unit| {
            for (to, from) in black_box(out).iter_mut().zip(black_box(&slots)) {
                *to = encode(from);
            }
        };
        let encoders: [Variant; 4] = [
            Box::new(|| encode(without, |slots| Cxl68Unit::plain(pid::CACHEMEM, &payload_of(slots)))),
            Box::new(|| encode(with, |slots| Cxl68Unit::from_slots(pid::CACHEMEM, slots))),
            Box::new(|| {
                encode(by_crate, |slots| {
                    let payload = payload_of(slots);
                    let mut unit = Cxl68Unit::plain(pid::CACHEMEM, &payload);
                    unit.set_tail(crate_crc(&payload));
                    unit
                })
            }),
            Box::new(|| black_box(&mut *copied).copy_from_slice(black_box(&units))),
        ];
        let [encode, encode_crc, encode_crate, memcpy] = race(effort, UNITS, encoders);

        let new = || Unpacker::new(dir, Cxl68Config::default().revision, Enabled::ALL);
        // A reader writes what it finds to one place.
        let read = |decode: &dyn Fn(&mut Unpacker, &Cxl68Unit, PidAction, &mut Cxl68DecodedUnit)| {
            let (mut unpacker, mut decoded) = (new(), Cxl68DecodedUnit::nothing(dir));
            for unit in black_box(&units) {
                decode(&mut unpacker, unit, pid::receive(unit.pid(), Enabled::ALL), black_box(&mut decoded));
                black_box(unpacker.delivered());
            }
        };
        let config = Cxl68Config::default();
        let decoders: [Variant; 4] = [
            Box::new(|| read(&|unpacker, unit, pid, decoded| unpacker.read_judged(unit, pid, Some(true), decoded))),
            Box::new(|| read(&|unpacker, unit, pid, decoded| unpacker.read_into(unit, pid, decoded))),
            Box::new(|| {
                read(&|unpacker, unit, pid, decoded| {
                    unpacker.read_into(unit, pid, decoded);
                    assert!(check::violations(decoded, &config).is_empty());
                });
            }),
            Box::new(|| {
                for unit in black_box(&units) {
                    black_box(crate_crc(unit.payload()) == unit.tail());
                }
            }),
        ];
        let [decode, decode_crc, decode_checks, judge_crate] = race(effort, UNITS, decoders);

        let name = dir.name();
        let bytes_and_crate = ("bytes + crc crate", encode_crate);
        let crate_alone = ("crc crate alone", judge_crate);
        for (what, ours, peer) in [
            ("encode flit", encode, None),
            ("encode flit +crc", encode_crc, Some(bytes_and_crate)),
            ("decode flit", decode, None),
            ("decode flit +crc", decode_crc, Some(crate_alone)),
            ("decode flit +crc +checks", decode_checks, Some(crate_alone)),
        ] {
            let memcpy = Some(memcpy);
            table.row(Row { what: format!("{what}, {name}"), unit: "M flit/s", ours, peer, aim: None, memcpy });
        }
        let a_flit = messages as f64 / UNITS as f64;
        table.remark(format!(
            "flits {name}: {a_flit:.2} whole messages each, so {:.1} M message/s decoded +crc",
            decode_crc * a_flit
        ));
    }
}
