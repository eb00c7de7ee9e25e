//! Class IO of the bridge: its TLPs against the oracle, its order, its answers, and what stands around it.

use super::common::*;
use scalepool::bridge::io::runs::{DwRun, runs};
use scalepool::bridge::io::tlps::IoAck;
use scalepool::bridge::outbound::OutboundConfig;
use scalepool::bridge::outbound::table::ChildId;
use scalepool::bridge::window::WindowClass;
use scalepool::coherence::content::CacheLine;
use scalepool::endpoint::tlp::{Enables, Tlp, TlpAtomic, TlpForm, TlpKind};
use scalepool_oracle::bridge::UpliRequest;
use scalepool_oracle::bridge_io::{self, ToldTlp};
use scalepool_protocols::cxl::cxlio::code::CplStatus;
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::field::TlReq;
use scalepool_protocols::ualink::half::Half;
use scalepool_protocols::ualink::unpack::Transfer;
use std::collections::{BTreeMap, BTreeSet};

const IO: WindowClass = WindowClass::Io;

/// A device behind the bridge: bytes by address, and what it has been told.
#[derive(Default)]
struct Device {
    bytes: BTreeMap<u64, u8>,
    poisoned: BTreeSet<u64>,
    /// The status of its completions.
    status: Option<CplStatus>,
    /// Most bytes of a completion.
    part: usize,
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte))
}

impl Device {
    fn get(&self, address: u64) -> u8 {
        self.bytes.get(&address).copied().unwrap_or(0)
    }

    /// Takes a TLP as it is on a link; its completions.
    fn takes(&mut self, tlp: &Tlp) -> Vec<Tlp> {
        let wire = tlp.encode(TlpForm::Flit).expect("a TLP");
        let tlp = Tlp::decode(&wire, TlpForm::Flit).expect("the same");
        let completion = |status, byte_count, lower: u64, data| {
            let lower_address = (lower & 0x7f) as u8;
            let kind = TlpKind::Completion { completer: 0x100, status, byte_count, lower_address };
            Tlp { tag: tlp.tag, ..Tlp::new(kind, tlp.requester, data) }
        };
        if let Some(status) = self.status.filter(|_| tlp.is_non_posted()) {
            return vec![completion(status, 4, 0, Vec::new())];
        }
        match tlp.kind {
            TlpKind::MemWrite { address, enables } => {
                let dw = tlp.data.len() / 4;
                for (n, byte) in tlp.data.iter().enumerate().filter(|(n, _)| enables.has(*n, dw)) {
                    self.bytes.insert(address + n as u64, *byte);
                    if tlp.poison {
                        self.poisoned.insert(address + n as u64);
                    }
                }
                Vec::new()
            }
            TlpKind::MemRead { address, dw, enables } => {
                let (first, count) = enables.bounds(dw);
                let (mut at, end) = (address + first as u64, address + (first + count) as u64);
                let mut parts = Vec::new();
                while at < end {
                    let part = self.part.max(64) as u64;
                    let next = (at / part * part + part).min(end);
                    let whole = at & !3..next.next_multiple_of(4);
                    let data: Vec<u8> = whole.map(|at| self.get(at)).collect();
                    let poison = (at..next).any(|at| self.poisoned.contains(&at));
                    parts.push(Tlp { poison, ..completion(CplStatus::SC, (end - at) as usize, at, data) });
                    at = next;
                }
                parts
            }
            TlpKind::Atomic { operation, address } => {
                let size = tlp.data.len() / operation.operands();
                let old: Vec<u8> = (0..size as u64).map(|n| self.get(address + n)).collect();
                let [first, last] = [number(&tlp.data[..size]), number(&tlp.data[tlp.data.len() - size..])];
                let new = match operation {
                    TlpAtomic::FetchAdd => number(&old).wrapping_add(first),
                    TlpAtomic::Swap => first,
                    TlpAtomic::CompareSwap if number(&old) == first => last,
                    TlpAtomic::CompareSwap => number(&old),
                };
                (0..size).for_each(|n| {
                    self.bytes.insert(address + n as u64, (new >> (8 * n)) as u8);
                });
                vec![completion(CplStatus::SC, size, 0, old)]
            }
            _ => panic!("{tlp:?}"),
        }
    }
}

/// A bridge in front of a device.
struct IoBench {
    bench: Bench,
    device: Device,
    /// All that has left, in its order.
    left: Vec<Tlp>,
    /// Completions that the device has made and nobody has delivered.
    completions: Vec<Tlp>,
}

fn io_config(io_ack: IoAck) -> OutboundConfig {
    OutboundConfig { io_ack, ..config(IO) }
}

impl IoBench {
    fn of(config: OutboundConfig) -> IoBench {
        let device = Device { part: 64, ..Device::default() };
        IoBench { bench: Bench::new(config), device, left: Vec::new(), completions: Vec::new() }
    }

    fn new() -> IoBench {
        IoBench::of(io_config(IoAck::Flush))
    }

    /// One TLP leaves for the link and reaches the device.
    fn leave(&mut self) -> Option<Tlp> {
        if self.bench.tlps.is_empty() {
            return None;
        }
        let (child, _, tlp, is_last) = self.bench.tlps.remove(0);
        self.completions.extend(self.device.takes(&tlp));
        self.left.push(tlp.clone());
        self.bench.bridge.tlp_sent(child, is_last, &mut self.bench.out);
        self.bench.collect();
        Some(tlp)
    }

    fn deliver(&mut self, tlp: &Tlp) {
        self.bench.bridge.receive_tlp(0, tlp, &mut self.bench.out);
        self.bench.collect();
    }

    /// All leaves, all completions come.
    fn finish(&mut self) {
        while !self.bench.tlps.is_empty() || !self.completions.is_empty() {
            while self.leave().is_some() {}
            for tlp in std::mem::take(&mut self.completions) {
                self.deliver(&tlp);
            }
        }
    }

    /// One request, from its arrival to its response.
    fn whole(&mut self, request: Transfer) -> Transfer {
        self.bench.ask(request);
        self.finish();
        self.bench.responses.pop().expect("a response")
    }
}

/// A read with the byte enables of an accelerator.
fn reads(address: u64, dwords: u8, attr: u8) -> Transfer {
    let mut request = read(address, dwords);
    change(&mut request, |req| req.attr = attr);
    request
}

fn half(enables: &[bool]) -> Half {
    std::array::from_fn(|n| (0..8).fold(0, |byte, bit| byte | u8::from(enables[8 * n + bit]) << bit))
}

/// A request of the model for what the oracle is asked.
fn request(asked: &UpliRequest) -> Transfer {
    let (cmd, attr, len) = (ReqCmd(asked.cmd), asked.attr, asked.dwords as u8 - 1);
    let req = TlReq { cmd, address: asked.address, len, attr, ..TlReq::default() };
    let beats = ((asked.address % 64 + 4 * asked.dwords).div_ceil(64) as usize).min(4);
    let data: Vec<[u8; 64]> = (0..beats).map(|n| std::array::from_fn(|k| (64 * n + k) as u8 ^ 0x5a)).collect();
    let has_enables = cmd.has_data() && cmd != ReqCmd::WriteFull;
    transfer(req, if cmd.has_data() { &data } else { &[] }, has_enables.then(|| half(&asked.enables)))
}

/// A TLP in the words of the oracle.
fn said(tlp: &Tlp) -> ToldTlp {
    let here = |address: u64| address - OUT + BASE;
    match tlp.kind {
        TlpKind::MemRead { address, dw, enables } => {
            ToldTlp { name: "MRd", address: here(address), dw: dw as u64, enables: (enables.first, enables.last) }
        }
        TlpKind::MemWrite { address, enables } => {
            let dw = (tlp.data.len() / 4) as u64;
            ToldTlp { name: "MWr", address: here(address), dw, enables: (enables.first, enables.last) }
        }
        TlpKind::Atomic { operation, address } => {
            let name = ["FetchAdd", "Swap", "CAS"][operation as usize];
            ToldTlp { name, address: here(address), dw: (tlp.data.len() / 4) as u64, enables: (0, 0) }
        }
        _ => panic!("{tlp:?}"),
    }
}

fn asked(cmd: u8, attr: u8, offset: u64, dwords: u64, enables: &[bool]) -> UpliRequest {
    let address = BASE + 0x4_2000 + offset;
    UpliRequest { cmd, message: 0, attr, address, dwords, enables: enables.to_vec() }
}

/// What leaves for a request and its status, and what the oracle tells of both.
fn compared(asked: &UpliRequest) -> [(Vec<ToldTlp>, Status); 2] {
    let mut bench = IoBench::new();
    let response = bench.whole(request(asked));
    assert_eq!((bench.bench.bridge.open(), bench.bench.bridge.buffers_free()), (0, 64), "{asked:?}");
    assert!(bench.bench.findings.is_empty(), "{asked:?}: {:?}", bench.bench.findings);
    assert!(bench.bench.sent.is_empty(), "no message of CXL.mem");
    let is_legal = scalepool_oracle::bridge::told("MC", asked).refused.is_none();
    let told = Some(()).filter(|()| is_legal).and_then(|()| bridge_io::told(asked));
    let want = told.map_or((Vec::new(), Status::TargetAbort), |tlps| (tlps, Status::OKAY));
    [(bench.left.iter().map(said).collect(), rsp(&response).status), want]
}

fn holds(asked: &UpliRequest) {
    let [is, want] = compared(asked);
    assert_eq!(is, want, "{asked:?}");
}

/// Whether a wrong word of the oracle would be seen.
fn is_seen(asked: &UpliRequest, spoil: fn(&mut Vec<ToldTlp>)) -> bool {
    let [is, mut want] = compared(asked);
    spoil(&mut want.0);
    is != want
}

/// Shapes of enables: all, none, every third byte, one line, bytes 5 to 27, with gaps of bytes and DWs.
fn shapes() -> [Vec<bool>; 6] {
    let of = |f: fn(usize) -> bool| (0..256).map(f).collect::<Vec<bool>>();
    [
        of(|_| true),
        of(|_| false),
        of(|n| n % 3 == 0),
        of(|n| n / 64 == 1),
        of(|n| (5..28).contains(&n)),
        of(|n| n % 7 != 0 && n / 4 % 5 != 0),
    ]
}

/// Offsets and sizes in and over the end of the block.
fn extents() -> Vec<(u64, u64)> {
    let all = (0..64).flat_map(|first| (1..=64).map(move |dwords| (4 * first, dwords)));
    let near = |byte: u64| byte % 64 <= 4 || byte % 64 >= 60;
    all.filter(|(offset, dwords)| near(*offset) && near(offset + 4 * dwords)).collect()
}

#[test]
fn brg_map_04_p() {
    for (offset, dwords) in extents() {
        for attr in [0xff, 0x1f, 0xf8, 0x3c, 0x0f, 0xf0, 0x00] {
            holds(&asked(0x03, attr, offset, dwords, &shapes()[0]));
        }
    }
    let mut bench = IoBench::new();
    (0..256u64).for_each(|n| {
        bench.device.bytes.insert(OUT + 0x100 + n, n as u8);
    });
    let response = bench.whole(reads(BASE + 0x138, 20, 0xff));
    let got = beats(&response);
    assert_eq!((got.len(), got[0][56..].to_vec()), (3, (0x38..0x40).collect()));
    assert_eq!((got[1].to_vec(), got[2][..8].to_vec()), ((0x40..0x80).collect(), (0x80..0x88).collect()));
}

/// Other DWs, other enables, a second read: the walk sees each; completions that are not those that come next are told and bring nothing.
#[test]
fn brg_map_04_n() {
    let request = asked(0x03, 0x3c, 60, 5, &shapes()[0]);
    assert!(is_seen(&request, |tlps| tlps[0].dw += 1));
    assert!(is_seen(&request, |tlps| tlps[0].enables = (0xf, 0xf)));
    assert!(is_seen(&request, |tlps| tlps.push(tlps[0].clone())));
    let mut bench = IoBench::new();
    bench.bench.ask(reads(BASE, 32, 0xff));
    bench.leave();
    let [first, second] = [bench.completions[0].clone(), bench.completions[1].clone()];
    bench.deliver(&second);
    assert_eq!(bench.bench.findings.pop().expect("a finding").rule, "BRG-MAP-04");
    bench.deliver(&first);
    assert!(bench.bench.responses.is_empty(), "half of it is there");
    bench.deliver(&second);
    assert_eq!((bench.bench.responses.len(), bench.bench.findings.len()), (1, 0));
    // A completion for nobody.
    bench.deliver(&second);
    assert_eq!(bench.bench.findings.pop().expect("a finding").rule, "BRG-TAG-02");
    bench.deliver(&Tlp::new(TlpKind::MemRead { address: 0, dw: 1, enables: Enables::all(1) }, 0, Vec::new()));
    assert_eq!(bench.bench.findings.pop().expect("a finding").rule, "BRG-MAP-04");
}

#[test]
fn brg_map_08_p() {
    for (offset, dwords) in extents() {
        holds(&asked(0x29, 0, offset, dwords, &shapes()[0]));
    }
    let mut bench = IoBench::new();
    assert_eq!(rsp(&bench.whole(write_full(BASE + 64, 2, 0x33))).status, Status::OKAY);
    assert_eq!(bench.device.bytes.len(), 128);
    assert!(bench.device.bytes.iter().all(|(at, byte)| (OUT + 64..OUT + 192).contains(at) && *byte == 0x33));
}

#[test]
fn brg_map_08_n() {
    let request = asked(0x29, 0, 64, 32, &shapes()[0]);
    assert!(is_seen(&request, |tlps| tlps[0].address += 4));
    assert!(is_seen(&request, |tlps| tlps.truncate(1)));
    assert!(is_seen(&request, |tlps| tlps[0].dw = 16));
}

#[test]
fn brg_map_12_p() {
    for (offset, dwords) in extents() {
        for shape in &shapes() {
            holds(&asked(0x28, 0, offset, dwords, shape));
        }
    }
    let mut bench = IoBench::new();
    assert_eq!(rsp(&bench.whole(write_part(BASE, 0x5a5, 7))).status, Status::OKAY);
    let written: Vec<u64> = bench.device.bytes.keys().map(|at| at - OUT).collect();
    assert_eq!(written, [0, 2, 5, 7, 8, 10]);
}

#[test]
fn brg_map_12_n() {
    let request = asked(0x28, 0, 0, 64, &shapes()[4]);
    assert!(is_seen(&request, |tlps| tlps[0].enables.0 = 0xf));
    assert!(is_seen(&request, |tlps| tlps[0].enables.1 = 0x7));
    assert!(is_seen(&request, |tlps| tlps.swap(0, 1)));
}

/// Both examples of the sheet, and each mask of 16 bytes: the oracle's runs, every byte once, what PCIe demands of byte enables.
#[test]
fn brg_spl_05_p() {
    let block: Vec<bool> = (0..256).map(|n| (5..28).contains(&n)).collect();
    let codes = |enabled: &[bool]| -> Vec<u8> {
        enabled.chunks(4).map(|dw| (0..4).map(|k| u8::from(dw[k]) << k).sum()).collect()
    };
    assert_eq!(runs(&codes(&block), |_| false), [DwRun { first_dw: 1, dw: 6, first: 0xe, last: 0xf }]);
    let one = |first_dw, first| DwRun { first_dw, dw: 1, first, last: 0 };
    assert_eq!(runs(&[0xf, 5, 0, 0xf, 0xb], |_| false), [one(0, 0xf), one(1, 5), one(3, 0xf), one(4, 0xb)]);
    for mask in 0..=u16::MAX {
        let enabled: Vec<bool> = (0..16).map(|n| mask >> n & 1 == 1).collect();
        let found = runs(&codes(&enabled), |_| false);
        let told = |run: &DwRun| (run.first_dw as u64, run.dw as u64, (run.first, run.last));
        assert_eq!(found.iter().map(told).collect::<Vec<_>>(), bridge_io::runs(&enabled), "{mask:#06x}");
        assert_eq!(written(&found), mask, "{mask:#06x}");
        assert!(found.iter().all(is_of_pcie), "{mask:#06x}: {found:?}");
    }
}

/// Bytes that runs write, of 16.
fn written(runs: &[DwRun]) -> u16 {
    let bytes = |run: &DwRun| {
        let enables = Enables { first: run.first, last: run.last };
        (0..4 * run.dw).filter(|n| enables.has(*n, run.dw)).fold(0, |mask, n| mask | 1 << (4 * run.first_dw + n))
    };
    runs.iter().map(bytes).fold(0, |all, mask: u16| all | mask)
}

/// Enables of a request of several DWs have no gap between its first and its last byte.
fn is_of_pcie(run: &DwRun) -> bool {
    let whole = [0xf, 0xe, 0xc, 0x8].contains(&run.first) && [0xf, 0x7, 0x3, 0x1].contains(&run.last);
    run.first != 0 && if run.dw == 1 { run.last == 0 } else { whole }
}

/// One run over an inner DW that is not whole writes other bytes, and has enables that no request has.
#[test]
fn brg_spl_05_n() {
    let wrong = DwRun { first_dw: 0, dw: 3, first: 0xf, last: 0xf };
    assert_ne!(written(&[wrong]), 0xf5f);
    assert!(!is_of_pcie(&DwRun { first: 5, ..wrong }) && !is_of_pcie(&DwRun { last: 0xb, ..wrong }));
    let request = asked(0x28, 0, 0, 16, &shapes()[2]);
    assert!(is_seen(&request, |tlps| tlps[0].dw += 1));
}

/// An atomic of an operation and a size code on so many bytes.
fn attr(op: u8, size: u8) -> u8 {
    (op & 15) << 4 | op >> 4 | size << 2
}

#[test]
fn brg_map_16_p() {
    for cmd in [0x30, 0x32] {
        for op in 0..32 {
            for size in 0..4 {
                for (offset, dwords) in [(0, 1), (8, 2), (56, 2), (60, 2), (64, 16), (4, 3)] {
                    let one =
                        |n: usize| (offset as usize..offset as usize + [4, 8, 2, 1][usize::from(size)]).contains(&n);
                    let one: Vec<bool> = (0..256).map(one).collect();
                    for shape in [&one, &shapes()[0], &shapes()[1]] {
                        holds(&asked(cmd, attr(op, size), offset, dwords, shape));
                    }
                }
            }
        }
    }
}

#[test]
fn brg_map_16_n() {
    let one: Vec<bool> = (0..256).map(|n| (8..16).contains(&n)).collect();
    let request = asked(0x30, attr(0, 1), 8, 2, &one);
    assert!(is_seen(&request, |tlps| tlps[0].name = "Swap"));
    assert!(is_seen(&request, |tlps| tlps[0].dw = 1));
    assert!(is_seen(&request, |tlps| tlps.clear()));
    // AND is no atomic of PCIe: it must not be sent as another one.
    let [is, _] = compared(&asked(0x30, attr(3, 1), 8, 2, &one));
    assert_eq!(is, (Vec::new(), Status::TargetAbort));
}

/// An atomic on 8 bytes at an offset of a line, with its beat.
fn atomic(cmd: ReqCmd, op: u8, offset: u64, beat: [u8; 64]) -> Transfer {
    let req = TlReq { cmd, address: BASE + offset, len: 1, attr: attr(op, 1), ..TlReq::default() };
    transfer(req, &[beat], Some([0xff; 32]))
}

/// Bytes of a beat from a place on.
fn beat(at: usize, values: &[u64]) -> [u8; 64] {
    let mut beat = [0; 64];
    for (n, value) in values.iter().enumerate() {
        beat[at + 8 * n..][..8].copy_from_slice(&value.to_le_bytes());
    }
    beat
}

#[test]
fn brg_atm_07_p() {
    let mut bench = IoBench::new();
    let value = |bench: &IoBench| number(&(0..8).map(|n| bench.device.get(OUT + 16 + n)).collect::<Vec<_>>());
    let old = |response: &Transfer| number(&beats(response)[0][16..24]);
    let steps = [
        (0, beat(16, &[5]), 0, 5),
        (0, beat(16, &[7]), 5, 12),
        (1, beat(16, &[100]), 12, 100),
        // Operands of compare and swap stand at the begin of the beat.
        (2, beat(0, &[99, 1]), 100, 100),
        (2, beat(0, &[100, 1]), 100, 1),
    ];
    for (op, beat, before, after) in steps {
        let response = bench.whole(atomic(ReqCmd::AtomicR, op, 16, beat));
        assert_eq!((rsp(&response).status, old(&response), value(&bench)), (Status::OKAY, before, after), "{op}");
    }
    let response = bench.whole(atomic(ReqCmd::AtomicNR, 0, 16, beat(16, &[1])));
    assert_eq!((rsp(&response).rdwr, response.data.is_empty(), value(&bench)), (RdWr::Write, true, 2));
}

/// The operand from the place of the element, as for other operations, is another one: the sum shows it.
#[test]
fn brg_atm_07_n() {
    let mut bench = IoBench::new();
    bench.whole(atomic(ReqCmd::AtomicR, 2, 16, beat(16, &[0, 9])));
    assert_eq!(bench.device.get(OUT + 16), 0, "its new value is that behind the first 8 bytes, which is 0");
    let Some(TlpKind::Atomic { operation, .. }) = bench.left.last().map(|tlp| tlp.kind.clone()) else { panic!() };
    assert_eq!((operation, bench.left.last().expect("a TLP").data.clone()), (TlpAtomic::CompareSwap, vec![0; 16]));
    // Two elements are no atomic of PCIe.
    let req = TlReq { cmd: ReqCmd::AtomicR, address: BASE, len: 3, attr: attr(0, 1), ..TlReq::default() };
    let two = bench.whole(transfer(req, &[beat(0, &[1, 1])], Some([0xff; 32])));
    assert_eq!(rsp(&two).status, Status::TargetAbort);
}

/// Whether a response comes in front of what it needs: the completion of the read of no byte.
fn answers_early(left: &[Tlp], completed: usize, responses: usize) -> bool {
    let asked = left.iter().filter(|tlp| tlp.is_non_posted()).count();
    responses > 0 && completed < asked.max(1)
}

#[test]
fn brg_map_29_p() {
    let mut bench = IoBench::new();
    bench.bench.ask(write_part(BASE + 64, 0xff0f, 7));
    while bench.leave().is_some() {}
    assert!(bench.bench.responses.is_empty(), "a slow completer");
    let last = said(bench.left.last().expect("a read"));
    assert_eq!(last, ToldTlp { name: "MRd", address: BASE + 64 + 12, dw: 1, enables: (0, 0) });
    assert!(bench.left.iter().all(|tlp| tlp.tc == bench.left[0].tc), "the same traffic class");
    bench.finish();
    assert_eq!(bench.bench.responses.len(), 1);
    assert!(!answers_early(&bench.left, 1, 1));
}

/// A bridge that does not wait is one with `sent`: the judge sees it.
#[test]
fn brg_map_29_n() {
    let mut bench = IoBench::of(io_config(IoAck::Sent));
    bench.bench.ask(write_full(BASE, 1, 7));
    while bench.leave().is_some() {}
    assert!(answers_early(&bench.left, 0, bench.bench.responses.len()));
}

#[test]
fn brg_map_30_p() {
    let mut bench = IoBench::of(io_config(IoAck::Sent));
    bench.bench.ask(write_part(BASE, 0x5, 7));
    assert_eq!(bench.bench.tlps.len(), 1, "one DW with two bytes");
    bench.bench.ask(write_part(BASE + 64, 0xf00f, 7));
    bench.leave();
    assert_eq!(bench.bench.responses.len(), 1);
    bench.leave();
    assert_eq!(bench.bench.responses.len(), 1, "its last MWr has not left");
    bench.leave();
    assert_eq!(bench.bench.responses.len(), 2);
    assert!(bench.left.iter().all(|tlp| !tlp.is_non_posted()));
    assert_eq!((bench.bench.bridge.open(), bench.bench.bridge.buffers_free()), (0, 64));
}

#[test]
fn brg_map_30_n() {
    let mut bench = IoBench::new();
    bench.whole(write_full(BASE, 1, 7));
    assert!(
        bench.left.iter().any(Tlp::is_non_posted),
        "with `flush` a read is sent, which the rule forbids with `sent`"
    );
}

/// Requests of a source in the order in which their TLPs leave, by tag or by the address of a write.
fn is_in_order(left: &[Tlp], addresses: &[u64]) -> bool {
    let of = |tlp: &Tlp| match tlp.kind {
        TlpKind::MemRead { address, .. } | TlpKind::MemWrite { address, .. } => address & !255,
        _ => 0,
    };
    let mut seen: Vec<u64> = left.iter().map(of).collect();
    seen.dedup();
    seen == addresses && left.iter().all(|tlp| (tlp.tc, tlp.attr) == (0, 0))
}

fn from(mut request: Transfer, src: u16, tag: u16) -> Transfer {
    change(&mut request, |req| (req.src, req.tag) = (src, tag));
    request
}

/// Another source uses the line of the first request: the second one, of another block, does not pass it.
#[test]
fn brg_ord_04_p() {
    let mut bench = IoBench::new();
    let blocks = [OUT, OUT + 512];
    bench.bench.ask(from(write_full(BASE, 1, 1), 9, 1));
    while bench.leave().is_some() {}
    bench.left.clear();
    bench.bench.ask(from(write_full(BASE, 1, 2), SOURCE, 1));
    bench.bench.ask(from(reads(BASE + 512, 16, 0xff), SOURCE, 2));
    assert!(bench.bench.tlps.is_empty(), "both wait");
    bench.finish();
    assert!(is_in_order(&bench.left, &blocks), "{:?}", bench.left);
    assert_eq!(bench.bench.responses.len(), 3);
    assert_eq!((bench.device.get(OUT), bench.bench.bridge.open()), (2, 0));
    // A source of its own is free (O2).
    bench.bench.ask(from(reads(BASE + 768, 16, 0xff), 5, 3));
    assert_eq!(bench.bench.tlps.len(), 1);
    bench.finish();
}

/// Without the turns the second one leaves first, and the judge sees it; so it sees another traffic class.
#[test]
fn brg_ord_04_n() {
    let mut bench = IoBench::new();
    bench.bench.ask(from(write_full(BASE, 1, 1), 9, 1));
    while bench.leave().is_some() {}
    bench.left.clear();
    bench.bench.ask(from(write_full(BASE, 1, 2), SOURCE, 1));
    // Two sources have no order between them.
    bench.bench.ask(from(reads(BASE + 512, 16, 0xff), 5, 2));
    assert_eq!(bench.bench.tlps.len(), 1);
    bench.finish();
    assert!(!is_in_order(&bench.left, &[OUT, OUT + 512]));
    let relaxed: Vec<Tlp> = bench.left.iter().map(|tlp| Tlp { attr: 2, ..tlp.clone() }).collect();
    assert!(is_in_order(&bench.left, &[OUT + 512, OUT]) && !is_in_order(&relaxed, &[OUT + 512, OUT]));
}

/// Each status on a read, a write and an atomic.
fn told_of(status: CplStatus) -> BTreeSet<u8> {
    let requests = [reads(BASE, 32, 0xff), write_full(BASE, 2, 1), atomic(ReqCmd::AtomicR, 0, 8, beat(8, &[1]))];
    let told = requests.map(|request| {
        let mut bench = IoBench::new();
        bench.device.status = Some(status);
        let response = bench.whole(request);
        let field = rsp(&response);
        assert!(field.rdwr == RdWr::Write || beats(&response).iter().all(|beat| *beat == [0xff; 64]));
        assert_eq!((bench.bench.bridge.open(), bench.bench.bridge.buffers_free()), (0, 64));
        field.status.0
    });
    told.into()
}

#[test]
fn brg_err_01_p2() {
    assert_eq!(told_of(CplStatus::UR), [3].into());
}

#[test]
fn brg_err_02_p() {
    assert_eq!(told_of(CplStatus::CA), [2].into());
    assert_eq!(told_of(CplStatus::CRS), [2].into());
}

#[test]
fn brg_err_02_n() {
    assert_ne!(told_of(CplStatus::UR), told_of(CplStatus::CA), "a bridge that tells all alike is seen");
    let mut bench = IoBench::new();
    assert_eq!(rsp(&bench.whole(reads(BASE, 32, 0xff))).status, Status::OKAY);
}

/// A completion that does not come ends the request with status 8; its tag stays taken until it has come.
#[test]
fn brg_tag_03_p2() {
    let mut bench = IoBench::new();
    bench.bench.ask(reads(BASE, 32, 0xff));
    bench.leave();
    let (child, advances) = bench.bench.deadlines.last().copied().expect("a deadline");
    bench.bench.bridge.time_out(child, advances, &mut bench.bench.out);
    bench.bench.collect();
    assert_eq!(rsp(&bench.bench.responses[0]).status, Status::CompletionTimeout);
    assert_eq!(bench.bench.bridge.open(), 1, "a tombstone");
    bench.finish();
    assert_eq!((bench.bench.bridge.open(), bench.bench.findings.len()), (0, 0));
    // A request that waits for a line is given up, and those behind it have their turn.
    bench.bench.ask(from(write_full(BASE, 1, 1), 9, 1));
    bench.leave();
    bench.bench.ask(from(write_full(BASE, 2, 2), SOURCE, 1));
    bench.bench.ask(from(reads(BASE + 512, 16, 0xff), SOURCE, 2));
    let waiting: Vec<(ChildId, u64)> = bench.bench.deadlines.iter().rev().take(1).copied().collect();
    let (child, advances) = waiting[0];
    bench.bench.bridge.time_out(child, advances, &mut bench.bench.out);
    bench.bench.collect();
    bench.finish();
    assert_eq!((bench.bench.bridge.open(), bench.bench.bridge.held()), (0, None));
    assert_eq!(bench.bench.responses.len(), 4);
}

/// Writes of a block of which one beat is poisoned: DWs and mark of each.
fn marks(bench: &mut IoBench, poisoned: u8) -> Vec<(u64, bool)> {
    let mut request = write_full(BASE, 4, 1);
    request.poisoned = poisoned;
    bench.whole(request);
    bench.left.iter().filter(|tlp| !tlp.is_non_posted()).map(|tlp| (said(tlp).dw, tlp.poison)).collect()
}

/// Lines that marks poison.
fn marked(marks: &[(u64, bool)]) -> u8 {
    let lines = marks.iter().flat_map(|(dw, poison)| std::iter::repeat_n(*poison, *dw as usize / 16));
    lines.enumerate().fold(0, |all, (n, poison)| all | u8::from(poison) << n)
}

/// Poison of a beat marks the writes of its line and no others.
#[test]
fn brg_psn_01_p2() {
    for poisoned in 0..16 {
        let mut bench = IoBench::new();
        assert_eq!(marked(&marks(&mut bench, poisoned)), poisoned);
        assert_eq!(bench.device.poisoned.len(), 64 * poisoned.count_ones() as usize);
    }
}

/// One write over a poisoned line and a clean one marks the clean one too.
#[test]
fn brg_psn_01_n2() {
    assert_ne!(marked(&[(64, true)]), 0b0010);
    assert_ne!(marked(&[(64, false)]), 0b0010);
}

/// Poison comes back with its line alone, and the status is OKAY.
#[test]
fn brg_psn_02_p2() {
    let mut bench = IoBench::new();
    marks(&mut bench, 0b0010);
    let response = bench.whole(reads(BASE, 64, 0xff));
    assert_eq!((rsp(&response).status, response.poisoned), (Status::OKAY, 0b0010));
}

/// Whether a class keeps nothing of what passes and speaks no CXL.mem; a cache stands beside.
fn passes_by(class: WindowClass) -> bool {
    let cached = OutboundConfig { io_ack: IoAck::Flush, ..cached(class, SMALL) };
    let mut bench = IoBench::of(cached);
    for request in [write_full(BASE, 2, 5), reads(BASE, 32, 0xff)] {
        bench.bench.ask(request);
        bench.finish();
        bench.bench.finish(false);
    }
    let responses = std::mem::take(&mut bench.bench.responses);
    assert_eq!(beats(&responses[1]), [[5; 64]; 2]);
    let states: String = (0..4).map(|n| bench.bench.state(BASE + 64 * n)).collect();
    bench.bench.sent.is_empty() && states == "IIII" && bench.bench.bridge.cache_counts().bypasses == 4
}

/// A copy by reads and writes: at the answer of a write its bytes are at the device.
#[test]
fn brg_tir_05_p() {
    assert!(passes_by(IO));
    let mut bench = IoBench::new();
    (0..256u64).for_each(|n| {
        bench.device.bytes.insert(OUT + n, n as u8 ^ 0x11);
    });
    let source = bench.whole(reads(BASE, 64, 0xff));
    let req = TlReq { cmd: ReqCmd::WriteFull, address: BASE + 4096, len: 63, ..TlReq::default() };
    let copied = bench.whole(transfer(req, &beats(&source), None));
    assert_eq!(rsp(&copied).status, Status::OKAY);
    assert!((0..256).all(|n| bench.device.get(OUT + 4096 + n) == n as u8 ^ 0x11));
}

/// Class MC keeps lines, and asks for them by CXL.mem.
#[test]
fn brg_tir_05_n() {
    assert!(!passes_by(WindowClass::Mc));
    assert!(!passes_by(WindowClass::Mn));
}

/// A line is content: the words of this file need it.
#[test]
fn lines_of_a_device_are_zero_at_first() {
    let mut bench = IoBench::new();
    let response = bench.whole(reads(BASE, 16, 0xff));
    assert_eq!(beats(&response), [CacheLine::of([0; 64]).bytes]);
}
