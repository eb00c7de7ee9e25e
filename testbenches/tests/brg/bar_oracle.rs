//! Class BR of the bridge against a second spelling of its sheet: random TLPs of every kind, random answers of accelerators, and pairs of
//! TLPs of one requester.

use scalepool::bridge::inbound::bar::access::{AccessReach, BlockAccess, BlockOperation};
use scalepool::bridge::inbound::bar::rows::{TlpAction, action};
use scalepool::bridge::inbound::bar::{BarConfig, BarOutput, BarStep, BarTarget, packets, upli};
use scalepool::bridge::window::{AccessRights, BridgeWindow, BridgeWindows, GROUPS, InboundClass, WindowLimits};
use scalepool::coherence::content::CacheLine;
use scalepool::endpoint::tlp::{Enables, Tlp, TlpAtomic, TlpKind};
use scalepool::link::nvlink::NvlMessage;
use scalepool::ordered::OrderedMap;
use scalepool_oracle::bridge_bar::{self, BarAccess, BarAnswer, BarCompletion, BarPlan, BarTlp, BarWindow, Kind, Link};
use scalepool_protocols::cxl::cxlio::code::{CplStatus, FmType};
use scalepool_protocols::nvlink::{NvlConfig, Op};
use scalepool_protocols::ualink::code::Status;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_testbenches::legal::Random;
use std::collections::BTreeSet;

const LINKS: [Link; 2] = [Link::Ualink, Link::Nvlink];
const SIZE: u64 = 2 << 20;

fn reach(link: Link) -> AccessReach {
    if link == Link::Ualink { AccessReach::UPLI } else { AccessReach::NVLINK }
}

fn random_window(random: &mut Random) -> BarWindow {
    let base = SIZE * random.below(3) as u64;
    let out_base = (1 << 33) + SIZE * random.below(5) as u64;
    let granule = 256 << random.below(7);
    let accelerators = 1 << random.below(5);
    // Most sources have all rights.
    let mut may = || random.below(10) > 0;
    let (may_read, may_write, may_change) = (may(), may(), may());
    BarWindow { base, size: SIZE, out_base, granule, accelerators, may_read, may_write, may_change }
}

fn target(window: &BarWindow, link: Link, payload_bytes: usize) -> BarTarget {
    let rights = AccessRights { read: window.may_read, write: window.may_write, atomic: window.may_change };
    let windows = vec![BridgeWindow {
        base: window.base,
        size: window.size,
        out_base: window.out_base,
        class: InboundClass::Br,
        ports: (0..window.accelerators as usize).collect(),
        granule: window.granule,
        rights: [rights; GROUPS],
    }];
    let limits = if link == Link::Ualink { WindowLimits::INBOUND_UALINK } else { WindowLimits::INBOUND_NVLINK };
    let windows = BridgeWindows::exporting(limits, windows, OrderedMap::new(), window.accelerators as usize);
    BarTarget::new(BarConfig { windows: windows.expect("a window"), reach: reach(link), tags: 100..164, payload_bytes })
}

/// A TLP of this kind that begins so many bytes behind the start of the window; what PCIe allows.
fn random_tlp(random: &mut Random, kind: Kind, from: u64) -> BarTlp {
    let mut data = |dw: u64| -> Vec<u8> { (0..4 * dw).map(|_| random.below(256) as u8).collect() };
    let (dw, payload) = match kind {
        Kind::Read | Kind::Write => {
            let most = if data(1)[0] < 100 { 3 } else { (4096 - from % 4096) / 4 };
            let dw = 1 + (u64::from(data(1)[0]) << 8 | u64::from(data(1)[1])) % most.min((4096 - from % 4096) / 4);
            (dw, if kind == Kind::Write { data(dw) } else { Vec::new() })
        }
        Kind::FetchAdd | Kind::Swap => {
            let dw = if from.is_multiple_of(8) { 1 + u64::from(data(1)[0] % 2) } else { 1 };
            (dw, data(dw))
        }
        Kind::CompareSwap => {
            let most = if from.is_multiple_of(16) { 3 } else { 1 + u8::from(from.is_multiple_of(8)) };
            let dw = 2 << (data(1)[0] % most);
            (dw, data(dw))
        }
        Kind::LockedRead | Kind::Unordered | Kind::Local => (1, data(1)),
    };
    let enables = match (kind, dw) {
        (Kind::Read | Kind::Write, 1) => (random.below(16) as u8, 0),
        // Two DWs that are one QW may have any enables.
        (Kind::Read | Kind::Write, 2) if from.is_multiple_of(8) => {
            (1 + random.below(15) as u8, 1 + random.below(15) as u8)
        }
        (Kind::Read | Kind::Write, _) => (0xf << random.below(4) & 0xf, 0xf >> random.below(4)),
        _ => (0, 0),
    };
    let poison = !payload.is_empty() && random.below(8) == 0;
    BarTlp { kind, address: from, dw, enables, data: payload, poison, relaxed: random.below(2) == 0 }
}

/// The TLP as the model has it.
fn spelled(tlp: &BarTlp, random: &mut Random) -> Tlp {
    let (address, enables) = (tlp.address, Enables { first: tlp.enables.0, last: tlp.enables.1 });
    let other = |code: FmType| TlpKind::Other { type_code: code.0 };
    let pick = random.below(2);
    let kind = match tlp.kind {
        Kind::Read => TlpKind::MemRead { address, dw: tlp.dw as usize, enables },
        Kind::Write => TlpKind::MemWrite { address, enables },
        Kind::FetchAdd => TlpKind::Atomic { operation: TlpAtomic::FetchAdd, address },
        Kind::Swap => TlpKind::Atomic { operation: TlpAtomic::Swap, address },
        Kind::CompareSwap => TlpKind::Atomic { operation: TlpAtomic::CompareSwap, address },
        Kind::LockedRead => other([FmType::MRdLk32, FmType::MRdLk64][pick]),
        Kind::Unordered => other([FmType::UIOMRd, FmType::UIOMWr][pick]),
        Kind::Local if pick == 0 => TlpKind::ConfigRead { level: 0, target: 0x100, register: 0, enables: 0xf },
        Kind::Local => other([FmType::IORd, FmType::IOWr][random.below(2)]),
    };
    let attr = if tlp.relaxed { 2 } else { 0 };
    Tlp { tag: 77, attr, poison: tlp.poison, ..Tlp::new(kind, 0x123, tlp.data.clone()) }
}

/// A bridge of which is kept what has left it.
struct Watched {
    target: BarTarget,
    left: Vec<u16>,
    completed: Vec<Tlp>,
    written: usize,
}

impl Watched {
    fn new(window: &BarWindow, link: Link, payload_bytes: usize) -> Watched {
        Watched { target: target(window, link, payload_bytes), left: Vec::new(), completed: Vec::new(), written: 0 }
    }

    fn ask(&mut self, port: usize, tlp: Tlp) {
        let mut out = BarOutput::default();
        let request = self.target.admit(port, tlp);
        self.target.start(request, false, &mut out);
        self.follow(out);
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
        assert!(out.findings.is_empty(), "{:?}", out.findings);
    }

    fn answer(&mut self, tag: u16, status: u8, lines: &[CacheLine]) {
        let mut out = BarOutput::default();
        self.target.receive(tag, Status(status), lines, &mut out);
        self.follow(out);
    }

    /// Lines of zeros for an access that brings some.
    fn plain_lines(&self, tag: u16) -> Vec<CacheLine> {
        let access = self.target.access(tag).expect("an open access");
        let lines = (access.address % 64 + access.bytes as u64).div_ceil(64) as usize;
        let has_some = access.operation != BlockOperation::Write;
        vec![CacheLine { bytes: [0; 64], poison: false }; if has_some { lines } else { 0 }]
    }
}

/// What a UPLI message says, in the words of the oracle.
fn of_upli(access: &BlockAccess) -> BarAccess {
    let transfer = upli::spelled(6, 17, access);
    let ControlField::Request(req) = transfer.field else { panic!("{transfer:?}") };
    let address = transfer.address.get().unwrap_or(req.address);
    assert_eq!((req.src, req.tag, address), (6, 17, req.address));
    let bytes = 4 * (usize::from(req.len) + 1);
    let (in_block, in_beats) = ((address % 256) as usize, (address % 64) as usize);
    assert!(in_block + bytes <= 256, "one block: {req:?}");
    let beats = (in_beats + bytes).div_ceil(64);
    let data: Vec<u8> = transfer.data.iter().flatten().collect();
    let carries = if req.cmd.0 == 0x03 { 0 } else { beats };
    assert_eq!(data.len(), 64 * carries, "whole beats");
    if carries > 0 {
        assert_eq!(usize::from(req.numbeats) + 1, beats);
    }
    let all = (1u8 << carries) - 1;
    assert!(transfer.poisoned == 0 || transfer.poisoned == all, "all beats or none");
    let enabled: Vec<bool> = match (req.cmd.0, &transfer.enables) {
        (0x03, None) => {
            let code = |byte: usize| match byte / 4 {
                0 => req.attr & 0xf,
                dw if dw == bytes / 4 - 1 => req.attr >> 4,
                _ => 0xf,
            };
            (0..bytes).map(|byte| code(byte) >> (byte % 4) & 1 == 1).collect()
        }
        (0x29, None) => {
            assert_eq!((in_beats, bytes % 64), (0, 0), "whole lines: {req:?}");
            vec![true; bytes]
        }
        (_, Some(half)) => {
            let is_on = |byte: usize| half[byte / 8] >> (byte % 8) & 1 == 1;
            assert!((0..256).all(|byte| !is_on(byte) || (in_block..in_block + bytes).contains(&byte)), "inside");
            (in_block..in_block + bytes).map(is_on).collect()
        }
        (command, enables) => panic!("command {command:#x} with enables {enables:?}"),
    };
    let data = match req.cmd.0 {
        0x03 => Vec::new(),
        0x30 => data,
        _ => data[in_beats..in_beats + bytes].to_vec(),
    };
    // A WriteFull is the Write of all bytes without its enables (§5.4).
    let command = if req.cmd.0 == 0x29 { 0x28 } else { req.cmd.0 };
    let poison = transfer.poisoned != 0;
    BarAccess { accelerator: req.dst.into(), address, enabled, command, attributes: req.attr, data, poison }
}

/// What an NVLink message says, in the words of the oracle.
fn of_nvlink(access: &BlockAccess) -> BarAccess {
    let message = packets::spelled(6, 17, access, &NvlConfig::default());
    assert_eq!((message.rid, message.tag), (6, 17));
    let bytes = if message.data.is_empty() { 16 * (usize::from(message.size) + 1) } else { message.data.len() };
    assert!(message.address.is_multiple_of(16) && bytes.is_multiple_of(16), "units: {message:?}");
    assert!(message.address % 256 + bytes as u64 <= 256, "one block: {message:?}");
    assert!(message.be.is_none() || bytes <= 128, "what a BE flit reaches: {message:?}");
    assert!(message.be.is_none_or(|be| bytes == 128 || be >> bytes == 0), "inside: {message:?}");
    BarAccess {
        // §5: bits 46:36 select.
        accelerator: message.address >> 36,
        address: message.address & ((1 << 36) - 1),
        enabled: (0..bytes).map(|byte| message.be.is_none_or(|be| be >> byte & 1 == 1)).collect(),
        command: message.op.0,
        attributes: message.attr,
        data: message.data,
        poison: message.ep,
    }
}

/// The same request: the enables of a read name at least what is asked for, as reading more of a DW has no effect on memory; of a write, what
/// stands at bytes that are not enabled has no meaning.
fn agree(found: &BarAccess, told: &BarAccess) -> bool {
    let is_as_wide = found.enabled.len() == told.enabled.len();
    match told.command {
        0x03 | 0x01 if told.data.is_empty() => {
            let mut bytes = found.enabled.iter().zip(&told.enabled);
            let said = |access: &BarAccess| BarAccess { enabled: Vec::new(), attributes: 0, ..access.clone() };
            is_as_wide && bytes.all(|(found, told)| *found || !told) && said(found) == said(told)
        }
        0x28 | 0x03 => {
            let mut data = found.data.clone();
            data.iter_mut().zip(&found.enabled).filter(|(_, on)| !**on).for_each(|(byte, _)| *byte = 0);
            is_as_wide && BarAccess { data, ..found.clone() } == *told
        }
        _ => found == told,
    }
}

fn of_completion(tlp: &Tlp) -> BarCompletion {
    let TlpKind::Completion { status, byte_count, lower_address, .. } = tlp.kind else { panic!("{tlp:?}") };
    assert_eq!((tlp.requester, tlp.tag), (0x123, 77));
    let (byte_count, lower_address) = (byte_count as u64, lower_address.into());
    BarCompletion { status: word(status), byte_count, lower_address, data: tlp.data.clone(), poison: tlp.poison }
}

fn word(status: CplStatus) -> &'static str {
    match status {
        CplStatus::SC => "SC",
        CplStatus::UR => "UR",
        CplStatus::CA => "CA",
        _ => "another",
    }
}

/// An answer with random bytes and poison, as the model takes it and as the oracle does.
fn random_answer(random: &mut Random, link: Link, access: &BlockAccess) -> (Vec<CacheLine>, BarAnswer) {
    let status = if random.below(5) == 0 { random.below(16) as u8 } else { 0 };
    if status != 0 || access.operation == BlockOperation::Write {
        return (Vec::new(), BarAnswer { status, data: Vec::new(), poison: Vec::new() });
    }
    let bytes = access.bytes;
    let data: Vec<u8> = (0..bytes).map(|_| random.below(256) as u8).collect();
    let from = (access.address % 64) as usize;
    if link == Link::Nvlink {
        let ep = random.below(6) == 0;
        let message = NvlMessage { ep, data: data.clone(), ..NvlMessage::new(Op::RSP_DATA, &NvlConfig::default()) };
        let lines = packets::lines_of(access.address, bytes, &message).expect("as many bytes as were asked for");
        return (lines, BarAnswer { status, data, poison: vec![ep; bytes] });
    }
    let mut lines = vec![CacheLine { bytes: [0; 64], poison: false }; (from + bytes).div_ceil(64)];
    lines.iter_mut().for_each(|line| line.poison = random.below(6) == 0);
    for (n, byte) in data.iter().enumerate() {
        lines[(from + n) / 64].bytes[(from + n) % 64] = *byte;
    }
    let poison = (0..bytes).map(|n| lines[(from + n) / 64].poison).collect();
    (lines, BarAnswer { status, data, poison })
}

const KINDS: [Kind; 11] = [
    Kind::Read,
    Kind::Read,
    Kind::Read,
    Kind::Write,
    Kind::Write,
    Kind::FetchAdd,
    Kind::Swap,
    Kind::CompareSwap,
    Kind::LockedRead,
    Kind::Unordered,
    Kind::Local,
];

/// Accesses, completions and lost writes of some thousand TLPs, whose answers come in any order.
#[test]
fn tlps_become_accesses_and_completions_as_the_oracle_says() {
    let mut random = Random::new(5903);
    let mut seen = BTreeSet::new();
    for n in 0..4000 {
        let (link, kind) = (LINKS[n % 2], KINDS[random.below(KINDS.len())]);
        let window = random_window(&mut random);
        let largest = [128, 256, 512][random.below(3)];
        // Some begin in the last page of the window, some behind it.
        let page = [0, 1, 77, SIZE / 4096 - 1, SIZE / 4096][random.below(5)];
        let mut from = window.base + 4096 * page + 4 * random.below(1024) as u64;
        if matches!(kind, Kind::FetchAdd | Kind::Swap | Kind::CompareSwap) && random.below(2) == 0 {
            from &= !15;
        }
        let tlp = random_tlp(&mut random, kind, from);
        let sent = spelled(&tlp, &mut random);
        let BarPlan { accesses, refused } = bridge_bar::told(&window, link, &tlp);
        let of_kind = action(&sent);
        let mut bench = Watched::new(&window, link, largest);
        bench.ask(0, sent);
        let open: Vec<(u16, BlockAccess)> =
            bench.left.iter().map(|tag| (*tag, bench.target.access(*tag).expect("it is open").clone())).collect();
        let spell = |access: &BlockAccess| if link == Link::Ualink { of_upli(access) } else { of_nvlink(access) };
        let found: Vec<BarAccess> = open.iter().map(|(_, access)| spell(access)).collect();
        let is_right =
            found.len() == accesses.len() && found.iter().zip(&accesses).all(|(one, other)| agree(one, other));
        assert!(is_right, "{n}: {tlp:x?}\n behind {window:x?}\n found {found:x?}\n the sheet {accesses:x?}");

        let mut answers: Vec<(u16, Vec<CacheLine>, BarAnswer)> = Vec::new();
        for (tag, access) in &open {
            let (lines, answer) = random_answer(&mut random, link, access);
            answers.push((*tag, lines, answer));
        }
        let told: Vec<BarAnswer> = answers.iter().map(|(_, _, answer)| answer.clone()).collect();
        let completions = bridge_bar::completed(&window, link, &tlp, &told, largest as u64);
        let is_lost = refused.is_some() || told.iter().any(|answer| answer.status != 0);
        seen.extend(told.iter().map(|answer| (link == Link::Ualink, format!("{kind:?}"), answer.status)));
        while !answers.is_empty() {
            let (tag, lines, answer) = answers.swap_remove(random.below(answers.len()));
            bench.answer(tag, answer.status, &lines);
        }
        match (kind, of_kind) {
            (Kind::Local, TlpAction::Local) => assert!(completions.is_empty()),
            // What is refused by its kind alone never comes to a window.
            (Kind::LockedRead | Kind::Unordered, TlpAction::Refused(status)) => {
                assert_eq!(vec![word(status)], completions.iter().map(|one| one.status).collect::<Vec<_>>());
            }
            (Kind::Write, TlpAction::Accesses) => {
                assert_eq!((bench.written, bench.completed.len()), (1, 0), "{n}: {tlp:x?}");
                assert_eq!(bench.target.counts().lost_writes, u64::from(is_lost), "{n}: {tlp:x?} {told:?}");
            }
            (Kind::LockedRead | Kind::Unordered | Kind::Local | Kind::Write, _) => {
                panic!("{n}: {of_kind:?} of {tlp:x?}")
            }
            _ => {
                let found: Vec<BarCompletion> = bench.completed.iter().map(of_completion).collect();
                assert!(found == completions, "{n}: {tlp:x?}\n found {found:x?}\n the sheet {completions:x?}");
                seen.extend(found.iter().map(|one| (one.poison, one.status.to_owned(), 99)));
            }
        }
        if !matches!(kind, Kind::LockedRead | Kind::Unordered | Kind::Local) {
            assert_eq!(bench.target.open(), 0, "{n}: {tlp:x?}");
        }
    }
    for link in [true, false] {
        for (kind, status) in ["Read", "Write"].into_iter().flat_map(|kind| (0..16).map(move |status| (kind, status))) {
            assert!(seen.contains(&(link, kind.to_owned(), status)), "{link} {kind} {status}: it was drawn");
        }
    }
    for (poison, status) in [(false, "SC"), (true, "SC"), (false, "UR"), (false, "CA")] {
        assert!(seen.contains(&(poison, status.to_owned(), 99)), "{poison} {status}: it was drawn");
    }
}

fn lines_of(accesses: &[BarAccess]) -> BTreeSet<(u64, u64)> {
    let of = |access: &BarAccess| {
        let end = access.address + access.enabled.len() as u64;
        let target = access.accelerator;
        (access.address / 64..end.div_ceil(64)).map(move |line| (target, line)).collect::<Vec<_>>()
    };
    accesses.iter().flat_map(of).collect()
}

/// Of two TLPs of one requester the second one leaves at once, or not before the last answer to the first one, as the oracle says; the same
/// of another requester, or at another port, leaves at once.
#[test]
fn tlps_wait_for_earlier_writes_as_the_oracle_says() {
    let mut random = Random::new(641);
    let kinds = [Kind::Read, Kind::Write, Kind::Write, Kind::FetchAdd, Kind::CompareSwap];
    let mut seen = [[0; 2]; 2];
    for n in 0..1500 {
        let link = LINKS[n % 2];
        let window = BarWindow { may_read: true, may_write: true, may_change: true, ..random_window(&mut random) };
        let mut draw = |kinds: &[Kind]| {
            let kind = kinds[random.below(kinds.len())];
            let mut from = window.base + 4 * random.below(256) as u64;
            if matches!(kind, Kind::FetchAdd | Kind::CompareSwap) {
                from &= !7;
            }
            let mut tlp = random_tlp(&mut random, kind, from);
            if matches!(kind, Kind::Read | Kind::Write) {
                // Short ones, of which many have no block in common.
                tlp.dw = tlp.dw.min(1 + random.below(150) as u64);
                tlp.enables = (0xf, if tlp.dw == 1 { 0 } else { 0xf });
                tlp.data.truncate(4 * tlp.dw as usize);
            } else if tlp.dw > 4 {
                tlp.dw = 4;
                tlp.data.truncate(16);
            }
            let sent = spelled(&tlp, &mut random);
            (tlp, sent)
        };
        let ((first, sent_first), (second, sent_second)) = (draw(&kinds), draw(&kinds));
        let told = [&first, &second].map(|tlp| bridge_bar::told(&window, link, tlp).accesses);
        let is_apart = lines_of(&told[0]).is_disjoint(&lines_of(&told[1]));
        // 0: the same requester; 1: another one; 2: another port.
        let who = random.below(4).saturating_sub(1);
        let waits = who == 0 && bridge_bar::waits(&second, &first);
        if !waits && !is_apart {
            // One access at a time to a line (§3.4) is another rule.
            continue;
        }
        let mut bench = Watched::new(&window, link, 256);
        bench.ask(0, sent_first);
        let of_first = std::mem::take(&mut bench.left);
        assert_eq!(of_first.len(), told[0].len());
        let sent_second = Tlp { requester: if who == 1 { 0x456 } else { 0x123 }, ..sent_second };
        bench.ask(usize::from(who == 2), sent_second);
        let mut rest = of_first;
        while !rest.is_empty() {
            let expected = if waits { 0 } else { told[1].len() };
            assert_eq!(
                bench.left.len(),
                expected,
                "{n}: {second:x?}\n behind {first:x?}, {} answers to come",
                rest.len()
            );
            let tag = rest.swap_remove(random.below(rest.len()));
            // One that fails is over too.
            let status = [0, 0, 2][random.below(3)];
            let lines = if status == 0 { bench.plain_lines(tag) } else { Vec::new() };
            bench.answer(tag, status, &lines);
        }
        assert_eq!(bench.left.len(), told[1].len(), "{n}: {second:x?}\n behind {first:x?}, which is over");
        for tag in bench.left.clone() {
            let lines = bench.plain_lines(tag);
            bench.answer(tag, 0, &lines);
        }
        assert_eq!(bench.target.open(), 0);
        seen[usize::from(waits)][usize::from(second.relaxed && second.kind == Kind::Write)] += 1;
    }
    assert!(seen.as_flattened().iter().all(|count| *count > 20), "waits or not, relaxed or not: {seen:?}");
}

/// A read of no byte asks nobody and is completed behind the writes before it.
#[test]
fn a_read_of_no_byte_waits_for_earlier_writes() {
    for link in LINKS {
        let mut random = Random::new(1);
        let window = BarWindow { may_read: true, may_write: true, ..random_window(&mut random) };
        let mut write = random_tlp(&mut random, Kind::Write, window.base);
        (write.dw, write.enables) = (1, (0xf, 0));
        write.data.truncate(4);
        let read = BarTlp {
            kind: Kind::Read,
            address: window.base + 0x1000,
            enables: (0, 0),
            data: Vec::new(),
            poison: false,
            ..write.clone()
        };
        assert!(bridge_bar::waits(&read, &write) && bridge_bar::told(&window, link, &read).accesses.is_empty());
        let mut bench = Watched::new(&window, link, 256);
        for tlp in [&write, &read] {
            let sent = spelled(tlp, &mut random);
            bench.ask(0, sent);
        }
        assert_eq!((bench.left.len(), bench.completed.len()), (1, 0));
        bench.answer(bench.left[0], 0, &[]);
        let found: Vec<BarCompletion> = bench.completed.iter().map(of_completion).collect();
        assert_eq!(found, bridge_bar::completed(&window, link, &read, &[], 256));
    }
}
