//! The address cache of compressed requests against its second spelling (`oracle::ual_cache`), in both directions of a link
//! of a switch: what a sender makes of requests, and what a receiver makes of fields.

use super::common::*;
use scalepool_oracle::ual_cache::{History, Toward, shorten};
use scalepool_protocols::ualink::compress::{Compressed, Compressor};
use scalepool_testbenches::legal::Random;

/// Streams of each kind are at least so long.
const TL_FLITS: u64 = 20_000;
const SIDES: [(CompressionRole, Toward); 2] =
    [(CompressionRole::ToSwitch, Toward::Switch), (CompressionRole::FromSwitch, Toward::Accelerator)];

/// Any legal request, often one that may go compressed; six regions for four ways, five rows.
fn any_request(random: &mut Random) -> TlReq {
    let cmd = match random.below(9) {
        0..=3 => ReqCmd::Read,
        4 | 5 => ReqCmd::WriteFull,
        6 | 7 => ReqCmd::Write,
        _ => ReqCmd::AtomicR,
    };
    let is_whole = !random.one_in(5) && cmd != ReqCmd::AtomicR;
    let first = random.below(if is_whole { 4 } else { 64 }) as u64;
    let (byte, dwords) = match is_whole {
        // Operands of 32 bits: `attr` is 0.
        _ if cmd == ReqCmd::AtomicR => (4 * first, 1),
        true => (64 * first, 16 * (1 + random.below(4 - first as usize))),
        false => (4 * first, 1 + random.below(64 - first as usize)),
    };
    let address = (random.below(6) as u64 + 1) * 0x1_2340_0000 + 256 * random.below(4096) as u64 + byte;
    let beats = (address % 64 + 4 * dwords as u64).div_ceil(64);
    TlReq {
        cmd,
        address,
        len: dwords as u8 - 1,
        numbeats: if cmd == ReqCmd::Read { 0 } else { beats as u8 - 1 },
        attr: match cmd {
            ReqCmd::Read if random.one_in(8) => random.below(256) as u8,
            ReqCmd::Read => 0xff,
            _ => 0,
        },
        metadata: if random.one_in(8) { random.below(256) as u8 } else { random.below(8) as u8 },
        src: random.below(5) as u16,
        dst: random.below(5) as u16,
        tag: random.below(2048) as u16,
        asi: random.below(4) as u8,
        vchan: random.below(4) as u8,
        pool: random.one_in(2),
        ..TlReq::default()
    }
}

fn bits(field: &ControlField) -> u128 {
    field.to_bits().expect("it fits")
}

/// Requests through a sender and a receiver, both watched by the history of what passes between them.
#[test]
fn a_sender_and_its_receiver_are_those_of_the_oracle() {
    for (seed, (role, toward)) in SIDES.into_iter().enumerate() {
        let mut random = Random::new(seed as u64 + 1);
        let mut history = History::new(toward);
        let (mut sender, mut packer) = (Compressor::new(role), TlPacker::new(SHEET));
        let mut receiver = TlUnpacker::new(SHEET, role);
        let (mut sent, mut compressed, mut loads) = (std::collections::VecDeque::new(), 0, 0);
        for _ in 0..TL_FLITS {
            while packer.waiting() < 4 {
                let req = any_request(&mut random);
                let original = bits(&ControlField::Request(req));
                // What the sender may do is judged by what has gone out before.
                let (short, ways) = (shorten(original), history.ways(original));
                let form = match sender.request(&req) {
                    Compressed::Hit(field) => {
                        let field = ControlField::CompressedRequest(field);
                        let way = (bits(&field) & 3) as u8;
                        assert_eq!(Some(bits(&field) as u64 & !3), short, "{req:?}");
                        assert!(ways.contains(&way), "{req:?} by way {way}, known by {ways:?}");
                        compressed += 1;
                        field
                    }
                    Compressed::Miss(full) => {
                        let field = ControlField::Request(full);
                        assert!(short.is_none() || ways.is_empty(), "{req:?} is known by {ways:?}");
                        // CLOAD and CWAY alone may differ.
                        assert_eq!(bits(&field) & !0x1c, original, "{req:?}");
                        assert_eq!(history.full(bits(&field)), req.address);
                        loads += u32::from(full.cload);
                        field
                    }
                };
                let owed = form.owed(&SHEET);
                let data = vec![[0; 64]; owed.beats];
                packer.push(with_data(form, &data, owed.enables.then_some([0; 32]))).expect("legal");
                sent.push_back(req);
            }
            let read = receiver.read(&packer.pack().expect("there is more to send"));
            assert_clean(std::slice::from_ref(&read));
            for transfer in read.delivered {
                let req = sent.pop_front().expect("it was sent");
                assert_eq!(transfer.address.get(), Some(req.address));
            }
        }
        assert!(compressed > 5000 && loads > 2000, "{compressed} compressed, {loads} loads");
    }
}

/// Fields that nobody sane sends: any way is loaded and used at any time, in one half or far apart.
#[test]
fn a_receiver_is_that_of_the_oracle_whatever_comes() {
    for (seed, (role, toward)) in SIDES.into_iter().enumerate() {
        let mut random = Random::new(seed as u64 + 11);
        let mut history = History::new(toward);
        let mut receiver = TlUnpacker::new(SHEET, role);
        let (mut known, mut unknown) = (0, 0);
        for n in 0..TL_FLITS {
            if n % 200 == 0 {
                // A fresh link: nothing is loaded.
                history = History::new(toward);
                receiver = TlUnpacker::new(SHEET, role);
            }
            let (mut writer, mut expected) = (Writer::default(), Vec::new());
            for _ in 0..4 {
                let [src, dst] = [0; 2].map(|_: u16| random.below(6) as u16);
                let cway = random.below(4) as u8;
                let field = if random.one_in(3) {
                    let address = (random.bits() & ((1 << 57) - 1)) & !3 & !0xff;
                    let cload = random.one_in(2);
                    let (cmd, attr, len) = (ReqCmd::Read, 0xff, 15);
                    ControlField::Request(TlReq { cmd, attr, len, address, src, dst, cway, cload, ..TlReq::default() })
                } else {
                    let address = (random.below(1 << 14) as u32) << 6;
                    ControlField::CompressedRequest(TlCreq { address, src, dst, cway, ..TlCreq::default() })
                };
                if !writer.put(&field).expect("it fits") {
                    break;
                }
                expected.push(match field {
                    ControlField::Request(_) => Some(history.full(bits(&field))),
                    _ => history.short(bits(&field) as u64),
                });
            }
            let read = receiver.read(&tl(writer.half(), [0; 32]));
            let found: Vec<Option<u64>> = read.delivered.iter().map(|transfer| transfer.address.get()).collect();
            assert_eq!(found, expected, "{read:?}");
            let missing = expected.iter().filter(|address| address.is_none()).count();
            let judged = tl_rules(&read).iter().filter(|rule| **rule == "UAL-CAC-01").count();
            assert_eq!(judged, missing, "each use of what was never loaded is named");
            unknown += missing;
            known += expected.len() - missing;
        }
        assert!(known > 10_000 && unknown > 500, "{known} known, {unknown} unknown");
    }
}
