//! Class BR of the bridge without time: what TLPs to its BAR ask of accelerators, and what is completed.

use scalepool::bridge::inbound::bar::access::{AccessReach, BlockAccess, BlockOperation};
use scalepool::bridge::inbound::bar::rows::{TlpAction, action};
use scalepool::bridge::inbound::bar::{BarConfig, BarOutput, BarStep, BarTarget, packets, upli};
use scalepool::bridge::window::{AccessRights, BridgeWindow, BridgeWindows, GROUPS, InboundClass, WindowLimits};
use scalepool::coherence::content::CacheLine;
use scalepool::endpoint::tlp::{Enables, Tlp, TlpAtomic, TlpForm, TlpKind};
use scalepool::memory::store::Store;
use scalepool::nodes::nvlink::memory::GpuMemory;
use scalepool::nodes::ualink::completer::{apply, global};
use scalepool::nodes::ualink::read::BACKGROUND;
use scalepool::ordered::OrderedMap;
use scalepool_protocols::cxl::cxlio::code::{CplStatus, FmType};
use scalepool_protocols::nvlink::NvlConfig;
use scalepool_protocols::ualink::code::Status;
use scalepool_testbenches::legal::Random;
use std::collections::BTreeMap;

/// Where the window leads in the memory of an accelerator.
const TO: u64 = 1 << 33;
/// Bytes of the window, dealt among two accelerators.
const SIZE: u64 = 4 << 20;
/// Bytes in a row at one of them.
const GRANULE: u64 = 512;
const REACHES: [AccessReach; 2] = [AccessReach::UPLI, AccessReach::NVLINK];

fn windows(rights: [AccessRights; GROUPS]) -> BridgeWindows<InboundClass> {
    let (class, ports) = (InboundClass::Br, vec![0, 1]);
    let window = BridgeWindow { base: 0, size: SIZE, out_base: TO, class, ports, granule: GRANULE, rights };
    let mut groups = OrderedMap::new();
    groups.insert(9, 1);
    BridgeWindows::exporting(WindowLimits::INBOUND_UALINK, vec![window], groups, 2).expect("a window")
}

/// The accelerator and its address of a byte behind the BAR, worked out here: each accelerator is at the address that the window gives.
fn placed(at: u64) -> (u16, u64) {
    ((at / GRANULE % 2) as u16, TO + at)
}

/// Accelerators whose bytes are known, and a bridge in front of them.
struct BarBench {
    target: BarTarget,
    reach: AccessReach,
    bytes: BTreeMap<(u16, u64), u8>,
    poisoned: BTreeMap<(u16, u64), bool>,
    /// Accesses that have left and are not answered.
    left: Vec<u16>,
    /// Completions so far.
    completed: Vec<Tlp>,
    written: usize,
    findings: Vec<String>,
}

impl BarBench {
    fn new(reach: AccessReach) -> BarBench {
        BarBench::with(reach, 64, [AccessRights::ALL; GROUPS])
    }

    fn with(reach: AccessReach, tags: u16, rights: [AccessRights; GROUPS]) -> BarBench {
        let config = BarConfig { windows: windows(rights), reach, tags: 100..100 + tags, payload_bytes: 256 };
        BarBench {
            target: BarTarget::new(config),
            reach,
            bytes: BTreeMap::new(),
            poisoned: BTreeMap::new(),
            left: Vec::new(),
            completed: Vec::new(),
            written: 0,
            findings: Vec::new(),
        }
    }

    fn byte(&self, at: (u16, u64)) -> u8 {
        self.bytes.get(&at).copied().unwrap_or((at.1 as u8).wrapping_mul(37) ^ (at.1 >> 8) as u8 ^ at.0 as u8)
    }

    fn behind(&self, at: u64, bytes: usize) -> Vec<u8> {
        (at..at + bytes as u64).map(|at| self.byte(placed(at))).collect()
    }

    fn ask(&mut self, tlp: Tlp) -> u64 {
        let mut out = BarOutput::default();
        let request = self.target.admit(0, tlp);
        self.target.start(request, false, &mut out);
        self.follow(out);
        request
    }

    fn follow(&mut self, out: BarOutput) {
        for step in out.steps {
            match step {
                BarStep::Send(tag) => self.left.push(tag),
                BarStep::Respond { tlp, .. } => self.completed.push(tlp),
                BarStep::Written(_) => self.written += 1,
                BarStep::Advanced { .. } | BarStep::Waits { .. } => (),
            }
        }
        self.findings.extend(out.findings.into_iter().map(|finding| finding.found));
    }

    /// The accelerator of an access performs it and answers with a status.
    fn answer(&mut self, tag: u16, status: Status) {
        let access = self.target.access(tag).expect("an open access").clone();
        self.left.retain(|other| *other != tag);
        let lines = if status == Status::OKAY { self.performed(&access) } else { Vec::new() };
        let mut out = BarOutput::default();
        self.target.receive(tag, status, &lines, &mut out);
        self.follow(out);
    }

    fn performed(&mut self, access: &BlockAccess) -> Vec<CacheLine> {
        let BlockAccess { target, address, bytes, operation, .. } = *access;
        let unit = self.reach.unit_bytes;
        assert!(
            address.is_multiple_of(unit) && (bytes as u64).is_multiple_of(unit) && bytes > 0,
            "whole units: {access:?}"
        );
        assert_eq!(address / 256, (address + bytes as u64 - 1) / 256, "one block: {access:?}");
        let base = address / 64 * 64;
        let lines = (address + bytes as u64).div_ceil(64) - address / 64;
        let line = |n: u64, bench: &BarBench| {
            let at = |byte: u64| (target, base + 64 * n + byte);
            let poison = (0..64).any(|byte| bench.poisoned.contains_key(&at(byte)));
            CacheLine { bytes: std::array::from_fn(|byte| bench.byte(at(byte as u64))), poison }
        };
        let read: Vec<CacheLine> = (0..lines).map(|n| line(n, self)).collect();
        match operation {
            BlockOperation::Read => read,
            BlockOperation::Write => {
                assert_eq!(access.data.len(), bytes);
                for n in (0..bytes).filter(|n| access.enables.as_ref().is_none_or(|enables| enables[*n])) {
                    self.bytes.insert((target, address + n as u64), access.data[n]);
                }
                Vec::new()
            }
            BlockOperation::Atomic { operation, at, size } => {
                let first = address + at as u64;
                let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b));
                let old: Vec<u8> = (first..first + size as u64).map(|at| self.byte((target, at))).collect();
                let (one, two) = (number(&access.data[..size]), number(&access.data[access.data.len() - size..]));
                let new = match operation {
                    TlpAtomic::FetchAdd => number(&old).wrapping_add(one),
                    TlpAtomic::Swap => two,
                    TlpAtomic::CompareSwap if number(&old) == one => two,
                    TlpAtomic::CompareSwap => number(&old),
                };
                for (n, byte) in new.to_le_bytes()[..size].iter().enumerate() {
                    self.bytes.insert((target, first + n as u64), *byte);
                }
                read
            }
        }
    }

    /// Answers all that is open, the last one first, until nothing leaves any more.
    fn settle(&mut self) {
        while let Some(tag) = self.left.last().copied() {
            self.answer(tag, Status::OKAY);
        }
    }

    fn take(&mut self) -> Vec<Tlp> {
        std::mem::take(&mut self.completed)
    }
}

pub fn read(requester: u16, tag: u16, at: u64, bytes: usize) -> Tlp {
    let (enables, dw) = Enables::span(at, bytes);
    let kind = TlpKind::MemRead { address: at & !3, dw, enables };
    Tlp { tag, ..Tlp::new(kind, requester, Vec::new()) }
}

fn write(requester: u16, at: u64, data: &[u8]) -> Tlp {
    let (enables, dw) = Enables::span(at, data.len());
    let skip = (at % 4) as usize;
    let mut dws = vec![0xee; 4 * dw];
    dws[skip..skip + data.len()].copy_from_slice(data);
    Tlp::new(TlpKind::MemWrite { address: at & !3, enables }, requester, dws)
}

fn atomic(operation: TlpAtomic, at: u64, operands: &[u8]) -> Tlp {
    Tlp { tag: 5, ..Tlp::new(TlpKind::Atomic { operation, address: at }, 0, operands.to_vec()) }
}

fn status_of(tlp: &Tlp) -> CplStatus {
    let TlpKind::Completion { status, .. } = tlp.kind else { panic!("{tlp:?}") };
    status
}

/// Judges the completions of a read that went well: bytes to come, first byte, cuts; its bytes, from the first DW on.
fn joined(request: &Tlp, completions: &[Tlp]) -> Vec<u8> {
    let TlpKind::MemRead { address, dw, enables } = request.kind else { panic!("a read") };
    let (first, count) = enables.bounds(dw);
    let mut data = Vec::new();
    for part in completions {
        let TlpKind::Completion { status, byte_count, lower_address, .. } = part.kind else { panic!("{part:?}") };
        assert_eq!((status, part.tag), (CplStatus::SC, request.tag));
        let begins = data.len().max(first);
        assert_eq!(byte_count, first + count - begins, "bytes to come");
        assert_eq!(u64::from(lower_address), (address + begins as u64) & 0x7f);
        data.extend(&part.data);
        let end = address + data.len() as u64;
        assert!(end.is_multiple_of(64) || data.len() == 4 * dw, "it ends at {end:#x}");
        part.encode(TlpForm::Flit).expect("a TLP");
    }
    assert_eq!(data.len(), 4 * dw);
    data
}

/// Bytes of any extent are completed in their order, whatever order accelerators answer in.
#[test]
fn brg_map_59_p() {
    let mut random = Random::new(59);
    for reach in REACHES {
        let mut bench = BarBench::new(reach);
        for n in 0..100 {
            let page = 4096 * random.below(64) as u64;
            let from = if n == 0 { 0 } else { random.below(4096) as u64 };
            let bytes = if n == 0 { 4096 } else { 1 + random.below(4096 - from as usize) };
            let request = read(3, n as u16, page + from, bytes);
            bench.ask(request.clone());
            bench.settle();
            let completions = bench.take();
            let (data, skip) = (joined(&request, &completions), (from % 4) as usize);
            assert!(data[skip..skip + bytes] == bench.behind(page + from, bytes), "{bytes} bytes from {from:#x} on");
            assert!(completions.iter().all(|part| part.data.len() <= 256));
        }
        assert_eq!((bench.findings.len(), bench.target.open()), (0, 0));
    }
}

/// A fault in each block of 4 KiB: what is before it is completed, it ends the request, nothing follows, and answers that come then are no
/// late ones.
#[test]
fn brg_map_59_n() {
    for (status, expected) in [
        (Status::TargetAbort, CplStatus::CA),
        (Status::DecodeError, CplStatus::UR),
        (Status::ProtectionViolation, CplStatus::CA),
        (Status::CompletionTimeout, CplStatus::CA),
        (Status::ISOLATE, CplStatus::CA),
        (Status(5), CplStatus::CA),
    ] {
        for failing in 0..16 {
            let mut bench = BarBench::new(AccessReach::UPLI);
            bench.ask(read(0, 1, 4096, 4096));
            let (left, mut open) = (bench.left.clone(), 16);
            assert_eq!(left.len(), 16);
            for (n, tag) in left.into_iter().enumerate() {
                bench.answer(tag, if n == failing { status } else { Status::OKAY });
                open -= 1;
                let done = bench.completed.len();
                assert_eq!(done, (n + 1).min(failing + 1), "block {n}");
                assert_eq!(bench.target.open(), if n < failing { 1 } else { open });
            }
            let completions = bench.take();
            let statuses: Vec<CplStatus> = completions.iter().map(status_of).collect();
            assert_eq!(statuses[..failing], vec![CplStatus::SC; failing][..]);
            assert_eq!((statuses[failing], statuses.len()), (expected, failing + 1), "{status:?}");
            assert_eq!((bench.target.counts().late, bench.target.counts().refused), (0, 1));
        }
    }
}

/// Behind the end of the window there is nothing: UR, and the blocks before it are completed.
#[test]
fn a_read_that_leaves_the_window_ends_there() {
    let mut bench = BarBench::new(AccessReach::UPLI);
    bench.ask(read(0, 1, SIZE - 512, 1024));
    bench.settle();
    assert_eq!(bench.take().iter().map(status_of).collect::<Vec<_>>(), [CplStatus::SC, CplStatus::SC, CplStatus::UR]);
    bench.ask(read(0, 1, SIZE, 4));
    assert_eq!(bench.take().iter().map(status_of).collect::<Vec<_>>(), [CplStatus::UR]);
    assert_eq!(bench.target.counts().accesses, 2, "nobody is asked for what is not there");
}

/// Completions are cut where poison begins or ends, and have its mark.
#[test]
fn poison_of_a_line_marks_its_completion_alone() {
    let mut bench = BarBench::new(AccessReach::UPLI);
    bench.poisoned.insert(placed(0x80), true);
    bench.ask(read(0, 1, 0x10, 0xf0));
    bench.settle();
    let parts: Vec<(usize, bool)> = bench.take().iter().map(|part| (part.data.len(), part.poison)).collect();
    assert_eq!(parts, [(0x70, false), (0x40, true), (0x40, false)]);
}

/// Enabled bytes alone are written, over any number of blocks.
#[test]
fn brg_map_60_p() {
    let mut random = Random::new(60);
    for reach in REACHES {
        let mut bench = BarBench::new(reach);
        for _ in 0..150 {
            let (at, bytes) = (random.below(2048) as u64, 1 + random.below(1024));
            let mut data = vec![0; bytes];
            data.iter_mut().for_each(|byte| *byte = random.below(256) as u8);
            let mut expected = bench.behind(0, 3072);
            expected[at as usize..at as usize + bytes].copy_from_slice(&data);
            bench.ask(write(0, at, &data));
            bench.settle();
            assert!(bench.behind(0, 3072) == expected, "{bytes} bytes at {at:#x}");
        }
        assert_eq!((bench.written, bench.findings.len(), bench.target.open()), (150, 0, 0));
        assert_eq!(bench.target.counts().lost_writes, 0);
    }
}

/// What has no enabled byte, no window or no right changes nothing; of a write no host is told, so it is counted.
#[test]
fn brg_map_60_n() {
    let mut rights = [AccessRights::ALL; GROUPS];
    rights[1] = AccessRights { read: true, write: false, atomic: false };
    let mut bench = BarBench::with(AccessReach::UPLI, 8, rights);
    let none = Tlp::new(TlpKind::MemWrite { address: 64, enables: Enables { first: 0, last: 0 } }, 0, vec![1; 4]);
    bench.ask(none);
    assert_eq!((bench.written, bench.target.counts().accesses, bench.target.counts().lost_writes), (1, 0, 0));
    bench.ask(write(9, 64, &[1; 8]));
    bench.ask(write(0, SIZE - 4, &[1; 8]));
    bench.settle();
    assert_eq!((bench.written, bench.target.counts().lost_writes), (3, 2));
    assert_eq!(bench.bytes.len(), 4, "the part inside the window is written");
    bench.ask(read(9, 2, 64, 8));
    bench.settle();
    assert_eq!(status_of(&bench.take()[0]), CplStatus::SC);
    // Which bytes an accelerator that fails has written nobody knows.
    bench.ask(write(0, 0, &[2; 8]));
    bench.answer(bench.left[0], Status::TargetAbort);
    assert_eq!(bench.target.counts().lost_writes, 3);
}

/// Each operation and size: the old value goes back, the new one is in memory; the same by real accelerators of both protocols.
#[test]
fn brg_map_61_p() {
    for reach in REACHES {
        for operation in [TlpAtomic::FetchAdd, TlpAtomic::Swap, TlpAtomic::CompareSwap] {
            for size in [4usize, 8] {
                for at in (0..64).step_by(size).map(|at| 0x400 + at as u64) {
                    let mut bench = BarBench::new(reach);
                    let old = bench.behind(at, size);
                    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b));
                    let new: Vec<u8> = (1..=size as u8).map(|n| n * 29).collect();
                    let (operands, after) = match operation {
                        TlpAtomic::FetchAdd => (new.clone(), number(&old).wrapping_add(number(&new))),
                        TlpAtomic::Swap => (new.clone(), number(&new)),
                        TlpAtomic::CompareSwap => ([&old[..], &new[..]].concat(), number(&new)),
                    };
                    bench.ask(atomic(operation, at, &operands));
                    let access = bench.target.access(bench.left[0]).expect("one access").clone();
                    bench.settle();
                    let done = bench.take();
                    assert_eq!((status_of(&done[0]), &done[0].data, done.len()), (CplStatus::SC, &old, 1));
                    assert_eq!(bench.behind(at, size), after.to_le_bytes()[..size], "{operation:?} {size} {at:#x}");
                    let TlpKind::Completion { byte_count, lower_address, .. } = done[0].kind else { panic!() };
                    assert_eq!((byte_count, lower_address), (size, 0));
                    performed_by_accelerators(reach, &access, &old, &after.to_le_bytes()[..size]);
                }
            }
        }
    }
}

/// The same element in the memory of an accelerator, as its protocol spells the access.
fn performed_by_accelerators(reach: AccessReach, access: &BlockAccess, old: &[u8], new: &[u8]) {
    let BlockOperation::Atomic { at, size, .. } = access.operation else { panic!("an atomic") };
    let first = access.address + at as u64;
    if reach == AccessReach::NVLINK {
        let mut memory = GpuMemory::default();
        memory.write(first, old, None);
        let message = packets::spelled(6, 17, access, &NvlConfig::default());
        let before = memory.atomic(access.address, message.attr, message.be.unwrap_or(0), &message.data);
        assert_eq!(before.expect("an atomic")[at..at + size], *old);
        assert_eq!(memory.read(first, size), new);
        return;
    }
    let mut store = Store::new(BACKGROUND);
    let mut line = [0; 64];
    let place = (first % 64) as usize..(first % 64) as usize + size;
    line[place.clone()].copy_from_slice(old);
    let address = global(access.target, first & !63);
    store.write_line(address, &line, u64::MAX, false);
    let read = apply(&mut store, access.target, &upli::spelled(6, 17, access));
    let answer = read.lines(0).next().expect("a beat").0;
    assert_eq!(answer[place.clone()], *old);
    line[place].copy_from_slice(new);
    assert_eq!(store.read_line(address).data, line, "no other byte");
}

/// CAS of 128 bits and elements that lie across are refused, and so is who may not do atomics; nobody is asked.
#[test]
fn brg_map_61_n() {
    let mut rights = [AccessRights::ALL; GROUPS];
    rights[0] = AccessRights { read: true, write: true, atomic: false };
    for (bench, tlp) in [
        (BarBench::new(AccessReach::UPLI), atomic(TlpAtomic::CompareSwap, 0x40, &[0; 32])),
        (BarBench::new(AccessReach::UPLI), atomic(TlpAtomic::FetchAdd, 0x44, &[0; 8])),
        (BarBench::with(AccessReach::UPLI, 8, rights), atomic(TlpAtomic::FetchAdd, 0x40, &[0; 8])),
    ] {
        let mut bench = bench;
        bench.ask(tlp);
        let done = bench.take();
        assert_eq!(done.iter().map(status_of).collect::<Vec<_>>(), [CplStatus::CA]);
        assert_eq!((bench.target.counts().accesses, bench.target.open()), (0, 0));
    }
}

/// Configuration, messages and I/O are for the bridge itself.
#[test]
fn brg_map_62_p() {
    let config = TlpKind::ConfigRead { level: 0, target: 0x100, register: 0, enables: 0xf };
    assert_eq!(action(&Tlp::new(config, 0, Vec::new())), TlpAction::Local);
    let config = TlpKind::ConfigWrite { level: 0, target: 0x100, register: 4, enables: 0xf };
    assert_eq!(action(&Tlp::new(config, 0, vec![0; 4])), TlpAction::Local);
    for code in [FmType::IORd, FmType::IOWr] {
        assert_eq!(action(&Tlp::new(TlpKind::Other { type_code: code.0 }, 0, Vec::new())), TlpAction::Local);
    }
}

/// One of them that came to memory all the same asks no accelerator.
#[test]
fn brg_map_62_n() {
    let mut bench = BarBench::new(AccessReach::UPLI);
    bench.ask(Tlp::new(TlpKind::ConfigRead { level: 0, target: 0x100, register: 0, enables: 0xf }, 0, Vec::new()));
    bench.ask(Tlp::new(TlpKind::Other { type_code: FmType::IOWr.0 }, 0, vec![0; 4]));
    assert_eq!((bench.target.counts().accesses, bench.bytes.len()), (0, 0));
}

/// Locked reads are unsupported, unordered I/O is aborted.
#[test]
fn brg_map_63_p() {
    for (code, status) in [
        (FmType::MRdLk32, CplStatus::UR),
        (FmType::MRdLk64, CplStatus::UR),
        (FmType::UIOMRd, CplStatus::CA),
        (FmType::UIOMWr, CplStatus::CA),
    ] {
        let tlp = Tlp::new(TlpKind::Other { type_code: code.0 }, 0, Vec::new());
        assert_eq!(action(&tlp), TlpAction::Refused(status), "{code:?}");
    }
}

/// Neither has an effect.
#[test]
fn brg_map_63_n() {
    let mut bench = BarBench::new(AccessReach::NVLINK);
    for code in [FmType::MRdLk64, FmType::UIOMWr] {
        bench.ask(Tlp::new(TlpKind::Other { type_code: code.0 }, 0, vec![1; 4]));
    }
    assert_eq!((bench.target.counts().accesses, bench.bytes.len(), bench.left.len()), (0, 0, 0));
}

/// A second write waits for the answer to the first one, with relaxed ordering to the same block alone; reads and atomics wait for all
/// writes before them, whose bytes they see; other requesters wait for nothing.
#[test]
fn brg_ord_07_p() {
    for (relaxed, second, leaves) in
        [(false, 0x1000, false), (true, 0x1000, true), (true, 0x80, false), (false, 0x80, false)]
    {
        let mut bench = BarBench::new(AccessReach::UPLI);
        bench.ask(write(0, 0, &[1; 4]));
        bench.ask(Tlp { attr: if relaxed { 2 } else { 0 }, ..write(0, second, &[2; 4]) });
        assert_eq!(bench.left.len(), if leaves { 2 } else { 1 }, "{relaxed} {second:#x}");
        bench.settle();
        assert_eq!(bench.written, 2);
    }
    let mut bench = BarBench::new(AccessReach::UPLI);
    bench.ask(write(0, 0, &[1; 4]));
    bench.ask(write(0, 0x2000, &[2; 4]));
    bench.ask(read(0, 1, 0x2000, 4));
    bench.ask(atomic(TlpAtomic::FetchAdd, 0, &[1, 0, 0, 0]));
    bench.ask(read(7, 2, 0x4000, 4));
    assert_eq!(bench.left.len(), 2, "the first write, and the read of another requester");
    bench.settle();
    let done = bench.take();
    let data = |tag: u16| done.iter().find(|tlp| tlp.tag == tag).map(|tlp| tlp.data.clone());
    assert_eq!((data(1), data(5)), (Some(vec![2; 4]), Some(vec![1; 4])));
    assert_eq!(bench.behind(0, 4), [2, 1, 1, 1]);
}

/// Answers of accelerators in any order do not let a request overtake the write before it: of a hundred random programs every read sees
/// what its requester has written.
#[test]
fn brg_ord_07_n() {
    let mut random = Random::new(7);
    for _ in 0..100 {
        let mut bench = BarBench::with(AccessReach::NVLINK, 4, [AccessRights::ALL; GROUPS]);
        let mut memory = bench.behind(0, 2048);
        let mut expected: Vec<Vec<u8>> = Vec::new();
        for n in 0..20 {
            let (at, bytes) = (random.below(1500), 1 + random.below(500));
            if random.below(2) == 0 && bench.target.has_room() {
                let data = vec![n as u8; bytes];
                memory[at..at + bytes].copy_from_slice(&data);
                bench.ask(write(0, at as u64, &data));
            } else {
                bench.ask(read(0, expected.len() as u16, at as u64, bytes));
                expected.push(memory[at..at + bytes].to_vec());
            }
            if random.below(3) == 0 && !bench.left.is_empty() {
                let tag = bench.left[random.below(bench.left.len())];
                bench.answer(tag, Status::OKAY);
            }
        }
        while !bench.left.is_empty() {
            let tag = bench.left[random.below(bench.left.len())];
            bench.answer(tag, Status::OKAY);
        }
        let done = bench.take();
        for (tag, bytes) in expected.iter().enumerate() {
            let parts = done.iter().filter(|part| usize::from(part.tag) == tag);
            let data: Vec<u8> = parts.flat_map(|part| part.data.clone()).collect();
            assert!(data.windows(bytes.len()).any(|part| part == bytes), "read {tag}");
        }
        assert!(memory == bench.behind(0, 2048) && bench.target.open() == 0);
    }
}

/// Every offset and length of a read is whole units of 16 bytes at a GPU.
#[test]
fn brg_spl_06_p() {
    for from in 0..64 {
        for bytes in [1, 3, 4, 15, 16, 17, 64] {
            let mut bench = BarBench::new(AccessReach::NVLINK);
            bench.ask(read(0, 1, from, bytes));
            let access = bench.target.access(bench.left[0]).expect("one access");
            let (first, end) = ((TO + from) & !15, (TO + from + bytes as u64).next_multiple_of(16));
            assert_eq!((access.address, access.bytes as u64), (first, end - first));
            let message = packets::spelled(6, 17, access, &NvlConfig::default());
            assert_eq!(usize::from(message.size) + 1, access.bytes / 16);
        }
    }
}

/// What is read around what was asked for does not go back.
#[test]
fn brg_spl_06_n() {
    for from in 0..16 {
        let mut bench = BarBench::new(AccessReach::NVLINK);
        let request = read(0, 1, from, 5);
        bench.ask(request.clone());
        bench.settle();
        let (data, skip) = (joined(&request, &bench.take()), (from % 4) as usize);
        assert!(data.len() <= 8, "DWs of the request alone");
        assert_eq!(data[skip..skip + 5], bench.behind(from, 5)[..]);
    }
}

/// A block is written as one access if all of it is, else with enables for 128 bytes at a time; UALink has enables for all of it.
#[test]
fn brg_spl_07_p() {
    for (reach, at, bytes, expected) in [
        (AccessReach::NVLINK, 0, 256, vec![256]),
        (AccessReach::NVLINK, 1, 255, vec![128, 128]),
        (AccessReach::NVLINK, 0x7c, 8, vec![16, 16]),
        (AccessReach::NVLINK, 0x80, 64, vec![64]),
        (AccessReach::NVLINK, 0, 300, vec![256, 48]),
        (AccessReach::UPLI, 1, 255, vec![256]),
        (AccessReach::UPLI, 0x7c, 8, vec![8]),
        (AccessReach::UPLI, 0xfc, 8, vec![4, 4]),
    ] {
        let mut bench = BarBench::new(reach);
        bench.ask(write(0, at, &vec![7; bytes]));
        let found: Vec<usize> =
            bench.left.iter().map(|tag| bench.target.access(*tag).expect("an access").bytes).collect();
        assert_eq!(found, expected, "{reach:?} {bytes} bytes at {at:#x}");
    }
}

/// No packet with a BE flit has more than 128 bytes: the codec of NVLink takes all that leaves.
#[test]
fn brg_spl_07_n() {
    let mut random = Random::new(70);
    for _ in 0..500 {
        let mut bench = BarBench::new(AccessReach::NVLINK);
        bench.ask(write(0, random.below(4096) as u64, &vec![9; 1 + random.below(1024)]));
        for tag in bench.left.clone() {
            let access = bench.target.access(tag).expect("an access");
            let message = packets::spelled(6, tag, access, &NvlConfig::default());
            assert!(message.be.is_none() || message.data.len() <= 128, "{access:?}");
            assert!(message.data.len() <= 256 && message.data.len().is_multiple_of(16));
        }
        bench.settle();
    }
}

/// An accelerator that answers nothing: its access is given up, those behind it to the same line end as it does, and the late answer frees
/// the line; an access that nobody waits for keeps its line, and does no harm to what comes then.
#[test]
fn a_line_without_an_answer_is_refused_until_it_comes() {
    let mut bench = BarBench::new(AccessReach::UPLI);
    bench.ask(read(0, 1, 0, 4));
    let tag = bench.left[0];
    let mut out = BarOutput::default();
    let advances = bench.target.advances(tag).expect("it is open");
    bench.target.time_out(tag, advances, &mut out);
    bench.follow(out);
    bench.ask(read(0, 2, 8, 4));
    bench.ask(read(0, 3, 64, 4));
    let statuses = |bench: &mut BarBench| bench.take().iter().map(|tlp| (tlp.tag, status_of(tlp))).collect::<Vec<_>>();
    assert_eq!(statuses(&mut bench), [(1, CplStatus::CA), (2, CplStatus::CA)]);
    bench.settle();
    assert_eq!(statuses(&mut bench), [(3, CplStatus::SC)]);
    assert_eq!((bench.target.counts().late, bench.target.counts().timeouts, bench.target.open()), (1, 1, 0));
    bench.ask(read(0, 4, 0, 4));
    bench.settle();
    assert_eq!(statuses(&mut bench), [(4, CplStatus::SC)]);
    // The link is reset: the same, until the answer cannot come any more.
    bench.ask(read(0, 7, 0, 4));
    let tag = bench.left.remove(0);
    let mut out = BarOutput::default();
    bench.target.link_lost(tag, &mut out);
    bench.follow(out);
    bench.ask(read(0, 8, 8, 4));
    assert_eq!(statuses(&mut bench), [(7, CplStatus::CA), (8, CplStatus::CA)]);
    let mut out = BarOutput::default();
    bench.target.forget(tag, &mut out);
    bench.follow(out);
    bench.ask(read(0, 9, 0, 4));
    bench.settle();
    assert_eq!(statuses(&mut bench), [(9, CplStatus::SC)]);
    assert_eq!((bench.target.counts().late, bench.target.counts().timeouts, bench.target.open()), (1, 2, 0));
    // The first block fails; the second one is still under way when its line is asked for again.
    bench.ask(read(0, 5, 0, 512));
    bench.answer(bench.left[0], Status::TargetAbort);
    bench.ask(read(0, 6, 256, 4));
    assert_eq!(statuses(&mut bench), [(5, CplStatus::CA)]);
    bench.settle();
    assert_eq!(statuses(&mut bench), [(6, CplStatus::SC)]);
}
