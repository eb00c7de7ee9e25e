//! Direct peers, UIO, and what leaves a host.

use super::mem_bench::*;
use super::mem_explore::{clean, explore};
use super::names::names;
use scalepool::coherence::agent::{Agent, AgentOutput, AgentPort};
use scalepool::coherence::cache::state::CacheLineState;
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{CacheLine, LineAddr, LineContent, WHOLE_LINE};
use scalepool::coherence::ids::IdSet;
use scalepool::coherence::mem::boundary::Inside;
use scalepool::coherence::mem::peer::{CACHE, MEM, MemPeer, OtherInterface};
use scalepool::coherence::mem::tables::Copy4;
use scalepool::coherence::mem::uio::{Abort, LINE_BYTES, UioDecodedAccess, UioDecoder, decode};
use scalepool::coherence::mem::{DeviceOp, Holders, HostAccess, HostReq, MemHost};
use scalepool::coherence::message::Msg;
use scalepool::coherence::monitor::{CopyView, View, check_copies};
use scalepool::proof::mutant::CoherenceMutant;
use scalepool::proof::systems::mem::{Setup, system as mem_system};
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, D2hReqOpcode, H2dReqOpcode, H2dRspOpcode, M2sReqOpcode, M2sRwdOpcode, MetaValue,
    NdrOpcode, SnpType,
};

fn breaking(mutant: CoherenceMutant) -> CoherenceConfig {
    CoherenceConfig { rules: mutant.rules(), ..CoherenceConfig::default() }
}

fn snoop(opcode: H2dReqOpcode) -> M {
    Msg::H2dReq { opcode, line: X, uqid: 0x30 }
}

/// A peer that owns line X of the other device, dirty.
fn owner_by_mem() -> MemPeer<CacheLine> {
    let mut peer = MemPeer::new(1);
    peer.mem.preset(X, Copy4::M, bytes(5));
    peer
}

/// A peer that holds line X of its host.
fn owner_by_cache() -> MemPeer<CacheLine> {
    let mut peer = MemPeer::new(1);
    peer.cache.preset(X, CacheLineState::M, bytes(5));
    peer
}

#[test]
fn coh_p2p_01_p() {
    let config = CoherenceConfig::default();
    // Host 0 shares the line, then the peer (port 1 of the device) asks for it all, then the host asks again.
    let mut dcoh = device(&config, 2, Holders::Shared(IdSet::of_bits(1)));
    let mut peer = MemPeer::<CacheLine>::new(1);
    let mut out = AgentOutput::default();
    assert!(peer.ask_peer(X, HostReq::RD_ANY, HostAccess::Store, &mut out));
    assert_eq!((out.sends[0].0, out.sends.len()), (MEM, 1));
    let out = give(&mut dcoh, &config, 1, out.sends[0].1);
    assert_eq!((labels(&out), out.sends[0].0), (vec!["BISnpInv".to_owned()], 0), "the host is a holder");
    let out = give(&mut dcoh, &config, 0, birsp(BirspOpcode::BIRspI, 0));
    for (_, msg) in out.sends {
        give(&mut peer, &config, MEM, msg);
    }
    assert!(peer.mem.store(&config, X, bytes(7), WHOLE_LINE, &mut AgentOutput::default()));
    assert_eq!(peer.interface(X), Some(MEM));
    let out = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemRd, Some(MetaValue::Any), SnpType::SnpInv));
    assert_eq!((labels(&out), out.sends[0].0), (vec!["BISnpInv".to_owned()], 1), "so is the peer");
    // It answers as a host: write back, its Cmp, then BIRspI.
    let out = give(&mut peer, &config, MEM, out.sends[0].1);
    let [(MEM, write @ Msg::M2sRwd { opcode: M2sRwdOpcode::MemWr, .. })] = out.sends[..] else { panic!("{out:?}") };
    let out = give(&mut dcoh, &config, 1, write);
    let out = give(&mut peer, &config, MEM, out.sends[0].1);
    assert_eq!(labels(&out), ["BIRspI"]);
    let out = give(&mut dcoh, &config, 1, out.sends[0].1);
    assert_eq!(out.sends.iter().find_map(|(_, m)| m.data().copied()), Some(bytes(7)));
    assert!(peer.is_idle() && peer.interface(X).is_none());
}

#[test]
fn coh_p2p_01_n() {
    // A device that does not ask its peer, port 1: two writable copies.
    let setup = Setup { peers: IdSet::of_bits(0b10), ..Setup::core(breaking(CoherenceMutant::HolderSkipped), 2) };
    names(&mem_system(setup.clone()), "COH-P2P-01");
    let found = explore("peer skipped", &mem_system(Setup { orders: false, ..setup }));
    let rule = found.violation.expect("it is found").event.rule;
    assert!(["COH-INV-01", "COH-INV-04"].contains(&rule), "{rule}");
}

/// The newest value is 5, memory has 1, and the peer holds what it holds.
fn view_of(peer: &MemPeer<CacheLine>) -> View<CacheLine> {
    let by_mem = peer.mem.copy(X).data.filter(|_| peer.mem.copy(X).state != Copy4::I);
    let by_cache = peer.cache.entry(X).and_then(|e| e.data.as_ref()).map(|d| d.data);
    let copy = |value| CopyView { agent: 1, usable: true, writable: true, dirty: true, value };
    let copies = by_mem.into_iter().chain(by_cache).map(copy).collect();
    let (in_flight, tracked, levels) = (Vec::new(), IdSet::of_bits(2), Vec::new());
    View { line: X, newest: bytes(5), home: bytes(1), copies, in_flight, tracked, levels }
}

/// What the monitors say of a peer.
fn monitored(peer: &MemPeer<CacheLine>) -> Vec<&'static str> {
    let mut events = Vec::new();
    check_copies(&view_of(peer), &|n| format!("agent {n}"), &mut events);
    events.iter().map(|e| e.rule).collect()
}

#[test]
fn coh_p2p_02_p() {
    let config = CoherenceConfig::default();
    for opcode in [H2dReqOpcode::SnpData, H2dReqOpcode::SnpInv, H2dReqOpcode::SnpCur] {
        let mut peer = owner_by_mem();
        let before = peer.clone();
        let out = give(&mut peer, &config, CACHE, snoop(opcode));
        assert_eq!((labels(&out), rules(&out)), (vec!["RspIHitI".to_owned()], vec![]));
        assert!(peer == before && out.sends[0].0 == CACHE && monitored(&peer).is_empty());
    }
    for opcode in [BisnpOpcode::BISnpData, BisnpOpcode::BISnpInv, BisnpOpcode::BISnpCur] {
        let mut peer = owner_by_cache();
        let before = peer.clone();
        let out = give(&mut peer, &config, MEM, bisnp(opcode, X));
        assert_eq!((labels(&out), rules(&out)), (vec!["BIRspI".to_owned()], vec![]));
        assert!(peer == before && out.sends[0].0 == MEM && monitored(&peer).is_empty());
    }
    // While it asks through one interface it does not ask through the other.
    let mut peer = owner_by_cache();
    assert!(!peer.ask_peer(X, HostReq::RD_ANY, HostAccess::Nothing, &mut AgentOutput::default()));
    assert!(!owner_by_mem().ask_host(D2hReqOpcode::RdOwn, X, None, &mut AgentOutput::default()));
    assert!(owner_by_cache().ask_host(D2hReqOpcode::DirtyEvict, X, None, &mut AgentOutput::default()));
}

/// InterfaceForgotten: a wrong peer around the right one, which gives up what it got through the other interface.
fn take_forgetting(peer: &mut MemPeer<CacheLine>, port: AgentPort, msg: M) -> AgentOutput<CacheLine> {
    let other = OtherInterface::before(peer, port, &msg).expect("a line of the other interface");
    let mut out = give(peer, &CoherenceConfig::default(), port, msg);
    peer.mem.preset(X, Copy4::I, CacheLine::ones());
    peer.cache.preset(X, CacheLineState::I, CacheLine::ones());
    out.events.extend(other.check(peer));
    out
}

#[test]
fn coh_p2p_02_n() {
    let cases = [
        (owner_by_mem(), CACHE, snoop(H2dReqOpcode::SnpInv)),
        (owner_by_cache(), MEM, bisnp(BisnpOpcode::BISnpInv, X)),
    ];
    for (mut peer, port, msg) in cases {
        let out = take_forgetting(&mut peer, port, msg);
        assert_eq!(rules(&out), ["COH-P2P-02"]);
        // Its dirty copy was the only place of the newest value.
        assert_eq!((monitored(&peer), peer.interface(X)), (vec!["COH-INV-03"], None));
    }
}

#[test]
fn coh_uio_01_p() {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    let mut out = AgentOutput::default();
    dcoh.issue(&config, X, DeviceOp::UioRead, &mut out);
    assert_eq!(labels(&out), ["BISnpCur"]);
    give(&mut dcoh, &config, 0, write(M2sRwdOpcode::MemWr, Some(MetaValue::Any), SnpType::NoOp, 9));
    let out = give(&mut dcoh, &config, 0, birsp(BirspOpcode::BIRspE, 0));
    assert!(out.effects.iter().any(|e| format!("{e:?}").contains(&format!("{:?}", bytes(9)))), "the owner's value");
    assert_eq!(dcoh.holders(X), Some(Holders::Owner(0)), "the owner keeps its copy, the peer has none");
    let mut dcoh = device(&config, 3, Holders::Shared(IdSet::of_bits(0b111)));
    let mut out = AgentOutput::default();
    assert!(dcoh.uio_write(&config, X, bytes(4), 0xff, &mut out));
    assert_eq!(labels(&out), ["BISnpInv"; 3]);
    for host in 0..3 {
        assert_eq!(dcoh.memory(X), bytes(1), "not before all have answered");
        give(&mut dcoh, &config, host, birsp(BirspOpcode::BIRspI, 0));
    }
    let mut expected = bytes(1);
    expected.bytes[..8].fill(4);
    assert_eq!((dcoh.memory(X), dcoh.holders(X)), (expected, None));
    // Also what the device itself holds.
    let mut dcoh = device(&config, 2, Holders::NONE);
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut AgentOutput::default());
    dcoh.store(X, &bytes(6), WHOLE_LINE, &mut AgentOutput::default());
    assert!(dcoh.uio_write(&config, X, bytes(4), 1, &mut AgentOutput::default()));
    assert_eq!((dcoh.memory(X).bytes[..2].to_vec(), dcoh.own(X)), (vec![4, 6], None));
}

#[test]
fn coh_uio_01_n() {
    let setup = Setup::uio(breaking(CoherenceMutant::UioSkipsHolders));
    names(&mem_system(setup.clone()), "COH-UIO-01");
    let found = explore("UIO skips holders", &mem_system(Setup { orders: false, ..setup }));
    let rule = found.violation.expect("it is found").event.rule;
    assert!(["COH-INV-01", "COH-INV-02"].contains(&rule), "{rule}");
}

const DECODERS: [UioDecoder; 2] = [
    UioDecoder { first: 0x1000, last: 0x1fff, granule_bytes: 256, uio: true },
    UioDecoder { first: 0x2000, last: 0x2fff, granule_bytes: 0x1000, uio: false },
];

#[test]
fn coh_uio_02_p() {
    let of = |address, bytes| decode(&DECODERS, address, bytes);
    assert_eq!(of(0x1040, 64).lines, [LineAddr(0x41)]);
    assert_eq!(of(0x1000, 256).lines, [0x40, 0x41, 0x42, 0x43].map(LineAddr));
    assert_eq!(of(0x1fff, 1).lines, [LineAddr(0x7f)]);
    assert_eq!(of(0x10c0, 65).abort, Some(Abort::Crosses { address: 0x10c0, bytes: 65 }));
    assert_eq!(of(0x1fc0, 128).abort, Some(Abort::NotCovered { address: 0x1fc0, bytes: 128 }));
    assert_eq!(of(0xfff, 2).abort, Some(Abort::NotCovered { address: 0xfff, bytes: 2 }));
    assert_eq!(of(0x2000, 64).abort, Some(Abort::NotAllowed { address: 0x2000 }));
    for (address, bytes) in [(0x10c0, 65), (0x1fc0, 128), (0xfff, 2), (0x2000, 64), (u64::MAX, 64)] {
        let decoded = of(address, bytes);
        assert!(decoded.lines.is_empty() && decoded.abort.is_some() && decoded.check().is_none());
    }
}

/// PartOfUio: wrong decoders around the right ones, which refuse an access and let the part through that one of them covers.
fn decode_part(decoders: &[UioDecoder], address: u64, bytes: u64) -> UioDecodedAccess {
    let mut decoded = decode(decoders, address, bytes);
    let hit = decoders.iter().find(|d| (d.first..=d.last).contains(&address));
    if let (Some(_), Some(hit)) = (decoded.abort, hit) {
        let last = hit.last.min(address + bytes - 1);
        decoded.lines = (address / LINE_BYTES..=last / LINE_BYTES).map(LineAddr).collect();
    }
    decoded
}

#[test]
fn coh_uio_02_n() {
    let config = CoherenceConfig::default();
    // The first line is in the decoder, the second is not: the device writes the first, and says that it refused.
    let decoded = decode_part(&DECODERS, 0x1fc0, 128);
    let mut dcoh = device(&config, 2, Holders::NONE);
    for &line in &decoded.lines {
        dcoh.uio_write(&config, line, bytes(4), WHOLE_LINE, &mut AgentOutput::default());
    }
    assert_eq!(dcoh.memory(LineAddr(0x7f)), bytes(4), "a partial write");
    assert_eq!(decoded.check().map(|e| (e.rule, e.line)), Some(("COH-UIO-02", Some(LineAddr(0x7f)))));
}

/// COH-T14: SWMR and the value hold between a host, a direct peer and UIO accesses, in every order of their messages.
#[test]
fn t14_peer_traffic() {
    clean("UIO, a host and a peer", &mem_system(Setup::uio(CoherenceConfig::default())));
    let own = Setup {
        device: vec![DeviceOp::UioRead, DeviceOp::UioWrite, DeviceOp::ReadOwn, DeviceOp::Evict],
        requests: vec![HostReq::RD_ANY],
        ..Setup::uio(CoherenceConfig::default())
    };
    clean("UIO beside the device's own cache", &mem_system(own));
}

#[test]
fn coh_mho_03_p() {
    let config = CoherenceConfig::default();
    // Owned inside is modified outside: a snoop for sharing brings the write back before the answer.
    for (inside, expected) in [
        (Inside::M, vec!["MemWr", "BIRspS"]),
        (Inside::O, vec!["MemWr", "BIRspS"]),
        (Inside::E, vec!["BIRspS"]),
        (Inside::F, vec!["BIRspS"]),
        (Inside::S, vec!["BIRspS"]),
        (Inside::I, vec!["BIRspI"]),
    ] {
        let mut host = host(inside.outside());
        let mut out = give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpData, X));
        let mut said = Vec::new();
        let wrote = match out.sends[..] {
            [(_, Msg::M2sRwd { opcode, tag, .. })] => {
                said.push(opcode.name().expect("a name"));
                out = give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, tag));
                true
            }
            _ => false,
        };
        let [(_, Msg::M2sBirsp { opcode, .. })] = out.sends[..] else { panic!("{inside:?}: {out:?}") };
        said.push(opcode.name().expect("a name"));
        assert_eq!(said, expected, "{inside:?}");
        let left = if opcode == BirspOpcode::BIRspS { Copy4::S } else { Copy4::I };
        assert_eq!(inside.check(X, left, wrote), None);
    }
}

#[test]
fn coh_mho_03_n() {
    let config = CoherenceConfig::default();
    // A host that lets its O, with bytes 9, be an S outside answers BIRspS without a write back.
    let mut owner = MemHost::new(0);
    owner.preset(X, Copy4::S, bytes(9));
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    let mut out = AgentOutput::default();
    dcoh.issue(&config, X, DeviceOp::ReadShared, &mut out);
    let out = give(&mut owner, &config, 0, out.sends[0].1);
    assert_eq!(labels(&out), ["BIRspS"]);
    assert_eq!(Inside::O.check(X, Copy4::S, false).map(|e| e.rule), Some("COH-MHO-03"));
    assert_eq!(Inside::F.check(X, Copy4::E, false).map(|e| e.rule), Some("COH-MHO-03"), "more than it has");
    // The device goes on with the old value.
    give(&mut dcoh, &config, 0, out.sends[0].1);
    let clean_copy = |agent, value| CopyView { agent, usable: true, writable: false, dirty: false, value };
    let at_host = owner.copy(X).data.map(|d| clean_copy(0, d));
    let at_device = dcoh.own(X).map(|(_, d)| clean_copy(2, d));
    let copies: Vec<_> = at_host.into_iter().chain(at_device).collect();
    assert_eq!(copies.len(), 2);
    let view = View {
        line: X,
        newest: bytes(9),
        home: dcoh.memory(X),
        copies,
        in_flight: Vec::new(),
        tracked: IdSet::of_bits(5),
        levels: Vec::new(),
    };
    let mut events = Vec::new();
    check_copies(&view, &|n| format!("agent {n}"), &mut events);
    assert!(events.iter().any(|e| e.rule == "COH-INV-02"), "{events:?}");
    assert!(events.iter().any(|e| e.rule == "COH-INV-03"), "{events:?}");
}

#[test]
fn a_peer_fills_through_the_interface_it_asked() {
    let config = CoherenceConfig::default();
    let mut peer = MemPeer::<CacheLine>::new(0);
    assert!(peer.ask_host(D2hReqOpcode::RdShared, X, None, &mut AgentOutput::default()));
    assert_eq!(peer.interface(X), Some(CACHE));
    let Some(cqid) = peer.cache.entry(X).map(|e| e.cqid) else { panic!("no entry") };
    give(&mut peer, &config, CACHE, Msg::H2dRsp { opcode: H2dRspOpcode::GO, rsp_data: 1, cqid });
    give(&mut peer, &config, CACHE, Msg::H2dData { cqid, go_err: false, data: bytes(3) });
    assert_eq!((peer.cache.at(X), peer.mem.copy(X).state), (CacheLineState::S, Copy4::I));
}
