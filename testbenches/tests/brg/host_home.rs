//! A bridge with a window of class CC, a home agent with its core, and one more caching device, on the same lines, in random orders of
//! messages: every byte that an accelerator reads is one that was there between the beginning and the end of its read.
//!
//! The core of the host writes the upper half of each line, number by number, accelerators the lower half; both add to words with the
//! atomics of accelerators and with stores of the device to lines that it owns. The home judges every message of the bridge.

use super::common::*;
use scalepool::bridge::cache::DataCacheConfig;
use scalepool::bridge::outbound::{BridgeActor, BridgeOutput, BridgeStep, OutboundBridge, OutboundConfig, upli};
use scalepool::bridge::window::WindowClass;
use scalepool::coherence::agent::{Accept, Agent, AgentOutput};
use scalepool::coherence::cache::backing::Backing;
use scalepool::coherence::cache::device::{DeviceCache, WriteBytes};
use scalepool::coherence::cache::home::{HomeAgent, HomeTransaction, Task};
use scalepool::coherence::cache::state::CacheLineState;
use scalepool::coherence::clocked::cache::Sparse;
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{CacheLine, LineAddr};
use scalepool::coherence::message::{Class, Msg};
use scalepool::kernel::Rng;
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode;
use scalepool_protocols::ualink::code::{ReqCmd, Status};
use scalepool_protocols::ualink::field::TlReq;
use scalepool_protocols::ualink::unpack::Transfer;
use std::collections::{BTreeMap, VecDeque};

const LINES: u64 = 3;

/// Messages of a class on a link, each with its number.
type Lane = VecDeque<(u64, Msg<CacheLine>)>;

/// The links of the devices, in one direction.
#[derive(Default)]
struct Wires(BTreeMap<(usize, Class), Lane>);

struct Rig {
    config: CoherenceConfig,
    home: HomeAgent<CacheLine, Sparse>,
    bridge: OutboundBridge,
    device: DeviceCache<CacheLine>,
    up: Wires,
    down: Wires,
    sent: u64,
    rng: Rng,
    accessed: Vec<BridgeActor>,
    done: Vec<u16>,
    broken: Vec<String>,
}

fn line(n: u64) -> LineAddr {
    LineAddr::of_address(OUT + 64 * n)
}

impl Rig {
    fn new(data: Option<DataCacheConfig>, seed: u64) -> Rig {
        let config = data.map_or_else(|| config(WindowClass::Cc), |data| cached(WindowClass::Cc, data));
        Rig {
            config: CoherenceConfig::default(),
            home: HomeAgent::new(Sparse::default()),
            bridge: OutboundBridge::new(OutboundConfig { entries: 32, ..config }),
            device: DeviceCache::new(),
            up: Wires::default(),
            down: Wires::default(),
            sent: 0,
            rng: Rng::for_name(seed, "host lines"),
            accessed: Vec::new(),
            done: Vec::new(),
            broken: Vec::new(),
        }
    }

    fn of_home(&mut self, out: AgentOutput<CacheLine>) {
        self.broken.extend(out.events.iter().map(|event| format!("{event:?}")));
        for (port, msg) in out.sends {
            self.sent += 1;
            self.down.0.entry((port.into(), msg.class())).or_default().push_back((self.sent, msg));
        }
    }

    fn of_device(&mut self, out: AgentOutput<CacheLine>) {
        self.broken.extend(out.events.iter().map(|event| format!("{event:?}")));
        for (_, msg) in out.sends {
            self.sent += 1;
            self.up.0.entry((1, msg.class())).or_default().push_back((self.sent, msg));
        }
    }

    fn of_bridge(&mut self, out: BridgeOutput) {
        self.broken.extend(out.findings.iter().map(|finding| format!("{finding:?}")));
        for step in out.steps {
            match step {
                BridgeStep::Send { by, msg, .. } => {
                    self.sent += 1;
                    self.up.0.entry((0, msg.class())).or_default().push_back((self.sent, msg));
                    if let Some(BridgeActor::Child(id)) = by {
                        let mut more = BridgeOutput::default();
                        self.bridge.sent(id, &msg, &mut more);
                        self.of_bridge(more);
                    }
                }
                BridgeStep::Access { by: Some(by), .. } => self.accessed.push(by),
                BridgeStep::Respond { entry } => self.done.push(entry),
                _ => (),
            }
        }
    }

    /// Delivers a message, or ends an access to the cache; whether there was one.
    fn deliver(&mut self) -> bool {
        let oldest_go =
            |wires: &Wires, to: usize| wires.0.get(&(to, Class::H2dRsp)).and_then(|q| q.front()).map(|f| f.0);
        let mut ready: Vec<(bool, (usize, Class))> = Vec::new();
        for (&(port, class), queue) in &self.up.0 {
            let takes =
                |(_, msg): &(u64, Msg<CacheLine>)| self.home.accepts(&self.config, port as u16, msg) == Accept::Take;
            if queue.front().is_some_and(takes) {
                ready.push((true, (port, class)));
            }
        }
        for (&(port, class), queue) in &self.down.0 {
            // O1: a snoop stays behind the GOs before it.
            let is_behind = |n: u64| class == Class::H2dReq && oldest_go(&self.down, port).is_some_and(|go| go < n);
            if queue.front().is_some_and(|(n, _)| !is_behind(*n)) {
                ready.push((false, (port, class)));
            }
        }
        let all = ready.len() + self.accessed.len();
        if all == 0 {
            return false;
        }
        let n = self.rng.below(all as u64) as usize;
        if n >= ready.len() {
            let by = self.accessed.remove(n - ready.len());
            let mut out = BridgeOutput::default();
            self.bridge.accessed(by, &mut out);
            self.of_bridge(out);
            return true;
        }
        let (is_up, at) = ready[n];
        let wires = if is_up { &mut self.up } else { &mut self.down };
        let Some((_, msg)) = wires.0.get_mut(&at).and_then(VecDeque::pop_front) else { return true };
        if is_up {
            let mut out = AgentOutput::default();
            self.home.take(&self.config, at.0 as u16, msg, 0, &mut out);
            self.of_home(out);
        } else if at.0 == 1 {
            let mut out = AgentOutput::default();
            self.device.take(&self.config, 0, msg, 0, &mut out);
            self.of_device(out);
        } else {
            let mut out = BridgeOutput::default();
            self.bridge.receive(0, msg, &mut out);
            self.of_bridge(out);
        }
        true
    }
}

/// What is asked of the bridge.
#[derive(Clone, Copy)]
enum Asked {
    /// A read that began when so much of its line was written by the host, and by accelerators.
    Read {
        line: u64,
        host: u64,
        own: u64,
    },
    /// The lower half of a line is written with a number.
    Write {
        line: u64,
        number: u64,
    },
    Add,
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes"))
}

/// What has been done, of a seed: how many of each.
fn play(data: Option<DataCacheConfig>, seed: u64) -> [u64; 4] {
    let mut rig = Rig::new(data, seed);
    let (mut host, mut own, mut done) = ([0u64; LINES as usize], [0u64; LINES as usize], [0u64; LINES as usize]);
    let mut written = [0u64; LINES as usize];
    let (mut added, mut by_device, mut reads, mut writes) = (0u64, 0u64, 0u64, 0u64);
    let mut open: BTreeMap<u16, Asked> = BTreeMap::new();
    let mut open_writes = [false; LINES as usize];
    for turn in 0..6000u64 {
        for n in 0..LINES {
            let is_open = |t: &HomeTransaction<CacheLine>| t.line == line(n) && !matches!(t.task, Task::Request { .. });
            if !rig.home.open().iter().any(is_open) {
                written[n as usize] = host[n as usize];
            }
        }
        let last = turn >= 4000;
        if !last && rig.rng.below(4) == 0 && open.len() < 8 {
            let n = rig.rng.below(LINES);
            let at = n as usize;
            let address = BASE + 64 * n;
            let (request, asked) = match rig.rng.below(3) {
                0 => (read(address, 16), Asked::Read { line: n, host: written[at], own: done[at] }),
                1 if !open_writes[at] => {
                    own[at] += 1;
                    open_writes[at] = true;
                    (numbered(address, own[at]), Asked::Write { line: n, number: own[at] })
                }
                _ => (add(ReqCmd::AtomicR, BASE, 1), Asked::Add),
            };
            // Another source each time, so that nothing but the line keeps them in order.
            let mut request = request;
            change(&mut request, |req| req.src = (turn % 8) as u16);
            if let Some(entry) = rig.bridge.admit(0, super::common::asked(&request)) {
                let mut out = BridgeOutput::default();
                rig.bridge.start(entry, &mut out);
                open.insert(entry, asked);
                rig.of_bridge(out);
            } else if let Asked::Write { line, .. } = asked {
                own[line as usize] -= 1;
                open_writes[line as usize] = false;
            }
        }
        if !last && rig.rng.below(6) == 0 {
            // The core of the host.
            let n = rig.rng.below(LINES);
            let mut bytes = [0; 64];
            bytes[32..40].copy_from_slice(&(host[n as usize] + 1).to_le_bytes());
            let mut out = AgentOutput::default();
            if rig.home.core_write(&rig.config, line(n), CacheLine::of(bytes), 0xff << 32, &mut out) {
                host[n as usize] += 1;
            }
            rig.of_home(out);
        }
        if rig.rng.below(4) == 0 {
            // The device adds to the same word as the accelerators, in a line that it owns, and gives it back.
            let mut out = AgentOutput::default();
            match rig.device.at(line(0)) {
                CacheLineState::I if !last => {
                    rig.device.issue(D2hReqOpcode::RdOwn, line(0), None, &mut out);
                }
                CacheLineState::E | CacheLineState::M if rig.rng.below(2) == 0 => {
                    let old = *rig.device.load(&rig.config, line(0)).expect("it is here");
                    let mut bytes = old;
                    bytes.bytes[..8].copy_from_slice(&(number(&old.bytes) + 1).to_le_bytes());
                    let stored = WriteBytes { data: bytes, enables: 0xff };
                    by_device += u64::from(rig.device.store(line(0), &stored, &mut out));
                }
                CacheLineState::M => {
                    rig.device.issue(D2hReqOpcode::DirtyEvict, line(0), None, &mut out);
                }
                _ => (),
            }
            rig.of_device(out);
        }
        if !rig.deliver() && last && open.is_empty() {
            break;
        }
        for entry in std::mem::take(&mut rig.done) {
            let (_, response) = rig.bridge.response(entry).expect("a response");
            let response = upli::answered(OWN, &response).expect("it is UALink's");
            rig.bridge.left(entry);
            assert_eq!(rsp(&response).status, Status::OKAY, "{seed}");
            match open.remove(&entry).expect("it was asked") {
                Asked::Read { line, host: from, own: own_from } => {
                    let bytes = beats(&response)[0];
                    let (of_host, of_own) = (number(&bytes[32..]), number(&bytes[8..]));
                    let at = line as usize;
                    assert!((from..=host[at]).contains(&of_host), "{seed}: {of_host} of {from}..={}", host[at]);
                    assert!((own_from..=own[at]).contains(&of_own), "{seed}: {of_own} of {own_from}..={}", own[at]);
                    reads += 1;
                }
                Asked::Write { line, number } => {
                    done[line as usize] = number;
                    open_writes[line as usize] = false;
                    writes += 1;
                }
                Asked::Add => added += 1,
            }
        }
    }
    assert_eq!(rig.broken, [""; 0], "{seed}");
    assert!(open.is_empty(), "{seed}: {} open", open.len());
    // Whatever is still in a cache is asked for by the core of the host.
    let mut sum = None;
    for n in 0..LINES {
        let mut out = AgentOutput::default();
        assert!(rig.home.core_write(&rig.config, line(n), CacheLine::of([0; 64]), 1 << 63, &mut out), "{seed}");
        rig.of_home(out);
        while rig.deliver() {}
        let bytes = rig.home.memory.read(line(n)).bytes;
        assert_eq!((number(&bytes[32..]), number(&bytes[8..])), (host[n as usize], own[n as usize]), "{seed}");
        sum = sum.or(Some(number(&bytes)));
    }
    assert_eq!(sum, Some(added + by_device), "{seed}: an addition is lost");
    assert_eq!(rig.broken, [""; 0], "{seed}");
    [reads, writes, added, by_device]
}

/// A write of a number to the second word of a line.
fn numbered(address: u64, number: u64) -> Transfer {
    let (mut line, mut enables) = ([0; 64], [0; 32]);
    line[8..16].copy_from_slice(&number.to_le_bytes());
    enables[(address % 256 / 8) as usize + 1] = 0xff;
    transfer(TlReq { cmd: ReqCmd::Write, address, len: 15, ..TlReq::default() }, &[line], Some(enables))
}

fn all(data: Option<DataCacheConfig>) {
    let mut counts = [0; 4];
    for seed in 0..24 {
        let of = play(data, seed);
        counts.iter_mut().zip(of).for_each(|(all, one)| *all += one);
    }
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}

#[test]
fn a_host_and_accelerators_share_lines() {
    all(None);
}

#[test]
fn a_host_and_accelerators_share_lines_behind_a_cache() {
    all(Some(SMALL));
    // Every line is the only one of its set: blocks leave all the time.
    all(Some(DataCacheConfig { capacity_bytes: 64, ways: 1, block_bytes: 64, ..SMALL }));
    all(Some(DataCacheConfig { stores: scalepool::bridge::cache::StorePolicy::Through, tags_in_hbm: true, ..SMALL }));
}
