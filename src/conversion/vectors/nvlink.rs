//! Cases from NVLink to CXL without a cache, model profile NVL-M1 (`bridge` §3, §4.1, §4.3, §4.4, §6.3, §8). Basis: model.

use super::peer::MemoryMood;
use super::ualink::{BASE, BEYOND, DEALT, LIMITED, SOURCE, config};
use super::{CaseWriter, ConversionVectors, cached, host_lines};
use crate::message::BridgeMessage;
use scalepool_kernel::Rng;
use scalepool_link::nvlink::NvlMessage;
use scalepool_nodes::nvlink::link_group::global;
use scalepool_protocols::nvlink::{Class, NvlConfig, Op};

/// Number of the bridge among GPUs.
const OWN: u16 = super::ualink::OWN;

pub(super) fn files() -> Vec<ConversionVectors> {
    let of = |name, about, class| {
        let mut writer = CaseWriter::new(name, about, config("nvlink", class));
        operations(&mut writer);
        extents(&mut writer);
        atomics(&mut writer, class);
        windows(&mut writer);
        answers(&mut writer);
        flushes(&mut writer);
        if class == "CC" {
            host_lines::alone(&mut writer, cached::packet);
        }
        writer.vectors
    };
    vec![
        of("nvlink_to_cxl_mc", "NVLink (model) to CXL.mem, windows of class MC (coherent)", "MC"),
        of("nvlink_to_cxl_mn", "NVLink (model) to CXL.mem, windows of class MN (nobody keeps them coherent)", "MN"),
        of("nvlink_to_cxl_cc", "NVLink (model) to a host by CXL.cache, windows of class CC", "CC"),
    ]
}

/// An operation on so many units of 16 bytes, with data at random where it has some.
pub(super) fn asked(op: Op, address: u64, units: usize, rng: &mut Rng) -> NvlMessage {
    let has_data = op.has_data() == Some(true);
    let mut data = vec![0; if has_data { 16 * units } else { 0 }];
    rng.fill_bytes(&mut data);
    let (tag, size) = (rng.below(1 << 10) as u16, if has_data { 0 } else { units as u8 - 1 });
    let address = global(OWN, address);
    NvlMessage { rid: SOURCE, tag, size, address, data, ..NvlMessage::new(op, &NvlConfig::default()) }
}

pub(super) fn message(message: NvlMessage) -> BridgeMessage {
    BridgeMessage::Nvlink(Box::new(message))
}

/// Operations that ask for something.
fn requests() -> impl Iterator<Item = Op> {
    let codes = (0..=31).map(Op);
    codes.filter(|op| matches!(op.class(), Some(Class::Posted | Class::NonPosted)))
}

/// An ADD of 64 bits on all bytes.
pub(super) fn with_atomic(op: Op, asked: NvlMessage) -> NvlMessage {
    let is_atomic = matches!(op, Op::ATOMIC_RETURN | Op::ATOMIC_POSTED);
    let be = is_atomic.then_some(u128::MAX);
    NvlMessage { attr: if is_atomic { 1 << 4 } else { 0 }, be, ..asked }
}

fn operations(writer: &mut CaseWriter) {
    for op in requests() {
        let asked = asked(op, BASE + 64, 4, &mut writer.rng);
        let asked = if op == Op::FLUSH { NvlMessage { address: 0, size: 0, ..asked } } else { with_atomic(op, asked) };
        writer.case(format!("operation {}", op.0), &[message(asked)], &mut *writer.below.good());
    }
}

fn extents(writer: &mut CaseWriter) {
    for op in [Op::READ, Op::WRITE_POSTED, Op::WRITE_NONPOSTED] {
        for first in [0u64, 1, 3, 4, 7, 8, 12, 15] {
            for units in [1usize, 2, 3, 4, 5, 8, 13, 16] {
                let shapes = if op == Op::READ || units > 8 { 1 } else { 5 };
                for n in 0..shapes {
                    let of = asked(op, BASE + 0x4_2000 + 16 * first, units, &mut writer.rng);
                    let random = u128::from(writer.rng.next_u64()) << 64 | u128::from(writer.rng.next_u64());
                    let be = [None, Some(u128::MAX), Some(0), Some(0xffff << 16), Some(random)][n];
                    let what = format!("operation {}, {units} units at {first}, enables {n}", op.0);
                    writer.case(what, &[message(NvlMessage { be, ..of })], &mut *writer.below.good());
                }
            }
        }
    }
}

fn atomics(writer: &mut CaseWriter, class: &str) {
    for op in [Op::ATOMIC_RETURN, Op::ATOMIC_POSTED] {
        for code in 0..16u8 {
            for size in 0..4u8 {
                let bytes = [4, 8, 2, 1][usize::from(size)];
                let one = (1u128 << (8 * bytes / 8)) - 1;
                let shapes = [Some(one), Some(u128::MAX), Some(0x0f0f << 3), Some(0), None];
                let places = if class == "MN" { &shapes[..1] } else { &shapes[..] };
                for (n, be) in places.iter().enumerate() {
                    let asked = asked(op, BASE + 0x110, 3, &mut writer.rng);
                    let asked = NvlMessage { attr: code | size << 4, be: *be, ..asked };
                    let what = format!("operation {}, atomic {code}, size {size}, enables {n}", op.0);
                    writer.case(what, &[message(asked)], &mut *writer.below.good());
                }
                let asked = asked(op, BASE + 0x120, 3, &mut writer.rng);
                let asked = NvlMessage { attr: code | size << 4, be: Some(u128::MAX), ..asked };
                let what = format!("operation {}, atomic {code}, size {size}, over the end of a line", op.0);
                writer.case(what, &[message(asked)], &mut *writer.below.good());
            }
        }
    }
}

fn windows(writer: &mut CaseWriter) {
    let ops = [Op::READ, Op::WRITE_POSTED, Op::WRITE_NONPOSTED, Op::ATOMIC_RETURN, Op::ATOMIC_POSTED, Op::REDUCE_READ];
    let places = [
        ("before the first window", BASE - 256),
        ("behind a window", BASE + (16 << 20)),
        ("nowhere", 0),
        ("last line of a window", BASE + (16 << 20) - 64),
        ("first port of two", DEALT + 0x100),
        ("second port of two", DEALT + 0x200),
        ("below 2^52", BEYOND + (1 << 20) - 64),
        ("at 2^52", BEYOND + (1 << 20)),
    ];
    for op in ops {
        for (name, address) in places {
            let asked = with_atomic(op, asked(op, address, 4, &mut writer.rng));
            writer.case(format!("operation {} {name}", op.0), &[message(asked)], &mut *writer.below.good());
        }
        for (rid, rights) in LIMITED {
            for units in [1, 8] {
                let asked = with_atomic(op, asked(op, BASE + 0xf0, units, &mut writer.rng));
                let what = format!("operation {}, {units} units, with rights `{rights}`", op.0);
                writer.case(what, &[message(NvlMessage { rid, ..asked })], &mut *writer.below.good());
            }
        }
    }
}

fn answers(writer: &mut CaseWriter) {
    let moods = [
        ("no memory", MemoryMood::Absent),
        ("poisoned memory", MemoryMood::Poisoned),
        ("no memory from the second line on", MemoryMood::AbsentFrom(1)),
    ];
    for op in [Op::READ, Op::WRITE_POSTED, Op::WRITE_NONPOSTED, Op::ATOMIC_RETURN, Op::ATOMIC_POSTED] {
        let is_atomic = matches!(op, Op::ATOMIC_RETURN | Op::ATOMIC_POSTED);
        for units in [1, 4, 7, 16].into_iter().filter(|units| !is_atomic || *units <= 4) {
            for (name, mood) in moods {
                let asked = with_atomic(op, asked(op, BASE + 0x700, units, &mut writer.rng));
                let what = format!("operation {}, {units} units, {name}", op.0);
                writer.case(what, &[message(asked)], &mut *writer.below.of_mood(mood));
            }
            let asked = with_atomic(op, asked(op, BASE + 0x700, units, &mut writer.rng));
            let what = format!("operation {}, {units} units, data before completions", op.0);
            writer.case(what, &[message(asked.clone())], &mut *writer.below.data_first());
            if op != Op::READ {
                let what = format!("operation {}, {units} units, poisoned", op.0);
                writer.case(what, &[message(NvlMessage { ep: true, ..asked })], &mut *writer.below.good());
            }
        }
    }
}

/// FLUSH behind posted requests: it waits for those that it counts, and tells of the first error once.
fn flushes(writer: &mut CaseWriter) {
    let flush = |count: u64, rng: &mut Rng| {
        let asked = asked(Op::FLUSH, 0, 1, rng);
        message(NvlMessage { address: count << 4, ..asked })
    };
    for (name, first, second) in [
        ("both are good", BASE, BASE + 0x400),
        ("the first is nowhere", 0, BASE + 0x400),
        ("the second is beyond 2^52", BASE, BEYOND + (1 << 20)),
    ] {
        let posted = [first, second].map(|at| message(asked(Op::WRITE_POSTED, at, 4, &mut writer.rng)));
        let [a, b] = posted;
        let asked = [a, b, flush(2, &mut writer.rng), flush(2, &mut writer.rng)];
        writer.case(format!("two posted writes and two flushes: {name}"), &asked, &mut *writer.below.good());
        writer.rounds(format!("the same together: {name}"), &[&asked], &mut *writer.below.good());
    }
}
