//! Cases from UALink to CXL without a cache (`bridge` §2, §3, §4.1, §4.2, §4.4, §8.1, §8.3).

use super::peer::MemoryMood;
use super::{CaseWriter, ConversionVectors, cached, host_lines};
use crate::message::BridgeMessage;
use scalepool_kernel::Rng;
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlReq;
use scalepool_protocols::ualink::pack::with_data;
use scalepool_protocols::ualink::unpack::Transfer;
use serde_json::{Value, json};

/// Number of the bridge among accelerators.
pub(super) const OWN: u16 = 7;
/// An accelerator that may do everything.
pub(super) const SOURCE: u16 = 3;
/// First address of the plain window.
pub(super) const BASE: u64 = 0x1000_0000;
/// First address of the window that is dealt among two ports by 512 bytes.
pub(super) const DEALT: u64 = 0x2000_0000;
/// First address of the window whose second half leads beyond the addresses of CXL.
pub(super) const BEYOND: u64 = 0x3000_0000;
/// Sources with fewer rights, which stand beside them.
pub(super) const LIMITED: [(u16, &str); 4] = [(4, "r"), (5, "w"), (6, "rw"), (8, "")];

/// The configuration of a bridge from accelerators to windows of a class.
pub(super) fn config(protocol: &str, class: &str) -> Value {
    let rights = json!({ "1": "r", "2": "w", "3": "rw", "15": "" });
    json!({
        "protocol": protocol, "direction": "outbound", "own": OWN,
        "windows": [
            { "class": class, "base": BASE, "size": 16 << 20, "out_base": "0x400000000", "rights": rights },
            { "class": class, "base": DEALT, "size": 2 << 20, "out_base": "0x800000000", "targets": [2, 1], "granule": 512 },
            { "class": class, "base": BEYOND, "size": 2 << 20, "out_base": "0xffffffff00000" },
        ],
        "groups": { "4": 1, "5": 2, "6": 3, "8": 15 },
        "entries": 64,
    })
}

/// What a UPLI request says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub cmd: ReqCmd,
    pub metadata: u8,
    pub attr: u8,
    pub address: u64,
    pub dwords: u64,
    pub source: u16,
    pub vchan: u8,
}

impl Asked {
    pub fn of(cmd: ReqCmd, address: u64, dwords: u64) -> Asked {
        Asked { cmd, metadata: 0, attr: 0, address, dwords, source: SOURCE, vchan: 0 }
    }

    /// The request with data at random; beats that `poisoned` names are.
    pub fn message(self, rng: &mut Rng, enables: Option<[u8; 32]>, poisoned: u8) -> BridgeMessage {
        let Asked { cmd, metadata, attr, address, dwords, source, vchan } = self;
        let beats = ((address % 64 + 4 * dwords).div_ceil(64)).min(4 - address % 256 / 64) as usize;
        let mut data = vec![[0; 64]; if cmd.has_data() { beats } else { 0 }];
        data.iter_mut().for_each(|beat| rng.fill_bytes(beat));
        let numbeats = data.len().saturating_sub(1) as u8;
        let tag = rng.below(1 << 11) as u16;
        let len = (dwords - 1) as u8;
        let req = TlReq {
            cmd,
            metadata,
            attr,
            address,
            len,
            numbeats,
            tag,
            vchan,
            src: source,
            dst: OWN,
            ..TlReq::default()
        };
        let has_enables = cmd.has_data() && cmd != ReqCmd::WriteFull;
        let enables = if has_enables { Some(enables.unwrap_or([0xff; 32])) } else { None };
        let transfer = with_data(ControlField::Request(req), &data, enables);
        BridgeMessage::Upli(Box::new(Transfer { address: address.into(), poisoned, ..transfer }))
    }
}

/// Enables: all, none, one byte in three, the second line, whole elements of 8 bytes, at random.
pub(super) fn shape(n: usize, rng: &mut Rng) -> [u8; 32] {
    let mut enables = [0u8; 32];
    let mut set = |is_set: &mut dyn FnMut(usize) -> bool| {
        for byte in 0..256 {
            enables[byte / 8] |= u8::from(is_set(byte)) << (byte % 8);
        }
    };
    match n {
        0 => set(&mut |_| true),
        1 => set(&mut |_| false),
        2 => set(&mut |byte| byte % 3 == 0),
        3 => set(&mut |byte| byte / 64 == 1),
        4 => set(&mut |byte| byte / 8 % 3 == 0),
        _ => set(&mut |_| rng.ratio(1, 2)),
    }
    enables
}

/// Offsets in a block and DWords: at the edges of lines and of the block, and over them.
const OFFSETS: [u64; 7] = [0, 4, 60, 64, 124, 192, 252];
const DWORDS: [u64; 8] = [1, 2, 15, 16, 17, 33, 48, 64];

pub(super) fn files() -> Vec<ConversionVectors> {
    let of = |name, about, class| {
        let mut writer = CaseWriter::new(name, about, config("ualink", class));
        commands(&mut writer);
        extents(&mut writer);
        atomics(&mut writer, class);
        windows(&mut writer);
        answers(&mut writer);
        together(&mut writer);
        if class == "CC" {
            host_lines::alone(&mut writer, cached::upli);
        }
        writer.vectors
    };
    vec![
        of("ualink_to_cxl_mc", "UALink to CXL.mem, windows of class MC (coherent)", "MC"),
        of("ualink_to_cxl_mn", "UALink to CXL.mem, windows of class MN (nobody keeps them coherent)", "MN"),
        of("ualink_to_cxl_cc", "UALink to a host by CXL.cache, windows of class CC", "CC"),
    ]
}

/// Every code of a command, every type of a Write Message.
fn commands(writer: &mut CaseWriter) {
    for code in 0..64 {
        let cmd = ReqCmd(code);
        let message = Asked::of(cmd, BASE + 64, 16).message(&mut writer.rng, None, 0);
        writer.case(format!("command {code:#04x}"), &[message], &mut *writer.below.good());
    }
    for metadata in 0..=255 {
        let asked = Asked { metadata, ..Asked::of(ReqCmd::WriteMessage, BASE, 16) };
        let message = asked.message(&mut writer.rng, None, 0);
        writer.case(format!("write message {metadata:#04x}"), &[message], &mut *writer.below.good());
    }
}

/// Reads and writes of every extent with every shape of enables.
fn extents(writer: &mut CaseWriter) {
    for offset in OFFSETS {
        for dwords in DWORDS {
            for (cmd, name, shapes) in
                [(ReqCmd::Read, "read", 1), (ReqCmd::WriteFull, "write full", 1), (ReqCmd::Write, "write", 6)]
            {
                for n in 0..shapes {
                    let enables = shape(n, &mut writer.rng);
                    let asked = Asked::of(cmd, BASE + 0x4_2000 + offset, dwords);
                    let message = asked.message(&mut writer.rng, Some(enables), 0);
                    let what = format!("{name} of {dwords} DW at {offset:#x}, enables {n}");
                    writer.case(what, &[message], &mut *writer.below.good());
                }
            }
        }
    }
}

/// Every operation and size, with and without an answer, on whole elements, parts of them, none, and over the end of a line.
fn atomics(writer: &mut CaseWriter, class: &str) {
    let places: [(u64, u64, usize); 5] = [(8, 2, 0), (0, 16, 4), (64, 16, 2), (16, 4, 1), (60, 2, 0)];
    for cmd in [ReqCmd::AtomicR, ReqCmd::AtomicNR] {
        for op in 0..32u8 {
            for size in 0..4u8 {
                let places = if class == "MN" { &places[..1] } else { &places[..] };
                for &(offset, dwords, n) in places {
                    let attr = (op & 15) << 4 | op >> 4 | size << 2;
                    let asked = Asked { attr, ..Asked::of(cmd, BASE + 0x100 + offset, dwords) };
                    let enables = element_or_shape(n, op, size, offset, &mut writer.rng);
                    let message = asked.message(&mut writer.rng, Some(enables), 0);
                    let what = format!("command {:#04x}, operation {op}, size {size} at {offset:#x}", cmd.0);
                    writer.case(what, &[message], &mut *writer.below.good());
                }
            }
        }
    }
}

/// Compare and swap takes one element; others as many as are enabled.
pub(super) fn element_or_shape(n: usize, op: u8, size: u8, offset: u64, rng: &mut Rng) -> [u8; 32] {
    if n != 0 || op != 2 {
        return shape(n, rng);
    }
    let bytes = [4, 8, 2, 1][usize::from(size)];
    let mut enables = [0; 32];
    for byte in offset as usize % 256..offset as usize % 256 + bytes {
        enables[byte / 8] |= 1 << (byte % 8);
    }
    enables
}

/// Windows, rights, translation, virtual channels.
fn windows(writer: &mut CaseWriter) {
    let commands =
        [ReqCmd::Read, ReqCmd::Write, ReqCmd::WriteFull, ReqCmd::AtomicR, ReqCmd::AtomicNR, ReqCmd(0x2f), ReqCmd(0x3d)];
    let places = [
        ("before the first window", BASE - 256),
        ("behind a window", BASE + (16 << 20)),
        ("nowhere", 0),
        ("last byte of the addresses", (1 << 57) - 64),
        ("first line of a window", BASE),
        ("last line of a window", BASE + (16 << 20) - 64),
        ("first port of two", DEALT + 0x100),
        ("second port of two", DEALT + 0x200),
        ("again the first of two", DEALT + 0x400),
        ("below 2^52", BEYOND + (1 << 20) - 64),
        ("at 2^52", BEYOND + (1 << 20)),
    ];
    for cmd in commands {
        for (name, address) in places {
            let asked = Asked { attr: 1 << 2, ..Asked::of(cmd, address, 16) };
            let message = asked.message(&mut writer.rng, None, 0);
            writer.case(format!("command {:#04x} {name}", cmd.0), &[message], &mut *writer.below.good());
        }
        for (source, rights) in LIMITED {
            // Rights are looked at before the form of a request.
            for dwords in [2, 64] {
                let asked = Asked { attr: 1 << 2, source, ..Asked::of(cmd, BASE + 8, dwords) };
                let message = asked.message(&mut writer.rng, None, 0);
                let what = format!("command {:#04x}, {dwords} DW, with rights `{rights}`", cmd.0);
                writer.case(what, &[message], &mut *writer.below.good());
            }
        }
        for vchan in 1..4 {
            let asked = Asked { attr: 1 << 2, vchan, ..Asked::of(cmd, BASE + 64, 16) };
            let message = asked.message(&mut writer.rng, None, 0);
            writer.case(format!("command {:#04x} in channel {vchan}", cmd.0), &[message], &mut *writer.below.good());
        }
    }
}

/// What CXL may answer: data first, no memory, poison; and what is written poisoned.
fn answers(writer: &mut CaseWriter) {
    let commands = [ReqCmd::Read, ReqCmd::Write, ReqCmd::WriteFull, ReqCmd::AtomicR, ReqCmd::AtomicNR];
    let moods = [
        ("no memory", MemoryMood::Absent),
        ("poisoned memory", MemoryMood::Poisoned),
        ("no memory from the second line on", MemoryMood::AbsentFrom(1)),
        ("no memory from the third line on", MemoryMood::AbsentFrom(2)),
    ];
    for cmd in commands {
        let is_atomic = matches!(cmd, ReqCmd::AtomicR | ReqCmd::AtomicNR);
        for (offset, dwords) in [(0, 2), (0, 16), (32, 24), (0, 64)].into_iter().filter(|e| !is_atomic || e.1 <= 16) {
            let asked = Asked { attr: 1 << 2, ..Asked::of(cmd, BASE + 0x700 + offset, dwords) };
            for (name, mood) in moods {
                let message = asked.message(&mut writer.rng, None, 0);
                writer.case(
                    format!("command {:#04x}, {dwords} DW, {name}", cmd.0),
                    &[message],
                    &mut *writer.below.of_mood(mood),
                );
            }
            let message = asked.message(&mut writer.rng, None, 0);
            let what = format!("command {:#04x}, {dwords} DW, data before completions", cmd.0);
            writer.case(what, &[message], &mut *writer.below.data_first());
            if cmd != ReqCmd::Read {
                let last = ((offset % 64 + 4 * dwords).div_ceil(64) - 1) as u8;
                for poisoned in [1, 1 << last] {
                    let message = asked.message(&mut writer.rng, None, poisoned);
                    let what = format!("command {:#04x}, {dwords} DW, beats {poisoned:#x} poisoned", cmd.0);
                    writer.case(what, &[message], &mut *writer.below.good());
                }
            }
        }
    }
}

/// Requests that are there together: of one block, of one line by two sources, of two blocks.
fn together(writer: &mut CaseWriter) {
    let pairs = [(ReqCmd::Read, ReqCmd::Read), (ReqCmd::Write, ReqCmd::Read), (ReqCmd::Read, ReqCmd::WriteFull)];
    for (a, b) in pairs {
        for (name, source, offset) in
            [("one block", SOURCE, 128), ("one line, two sources", 9, 0), ("two blocks", SOURCE, 256)]
        {
            let first = Asked::of(a, BASE + 0x9000, 16).message(&mut writer.rng, None, 0);
            let second = Asked { source, ..Asked::of(b, BASE + 0x9000 + offset, 16) };
            let second = second.message(&mut writer.rng, None, 0);
            let what = format!("commands {:#04x} and {:#04x} together: {name}", a.0, b.0);
            writer.rounds(what, &[&[first, second]], &mut *writer.below.good());
        }
    }
}
