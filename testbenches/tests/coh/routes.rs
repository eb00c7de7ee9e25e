//! CacheID: routes to several caching devices, and the hierarchies that may run.

use super::cache_bench::{AgentOutput, DeviceCache, HomeAgent, LINE, Op, WriteBytes};
use scalepool::coherence::agent::Agent;
use scalepool::coherence::cache::route::{Below, CacheIdDiscard, CacheRoutes, Flits, Hdm, Hierarchy, HierarchyError};
use scalepool::coherence::clocked::cache::Sparse;
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::CacheLine;
use scalepool::coherence::event::CoherenceEvent;
use scalepool::coherence::ids::AgentPort;
use scalepool::coherence::message::from_link;
use scalepool::proof::mutant::CoherenceMutant;
use scalepool_protocols::cxl::message::Message;
use scalepool_protocols::cxl::message::PeerRoute;
use std::collections::VecDeque;

fn below(cache_id: Option<u8>) -> Below {
    Below { hdm: Hdm::None, link: Flits::B256, cache_id, forward: false }
}

fn devices(count: usize) -> Hierarchy {
    let devices = (0..count).map(|n| below(Some(n as u8))).collect();
    Hierarchy { devices, upper: Flits::B256, cache_ids: true }
}

/// Devices behind their ports and the home above, each message in order.
struct Tree {
    config: CoherenceConfig,
    routes: CacheRoutes,
    devices: Vec<DeviceCache<CacheLine>>,
    home: HomeAgent<CacheLine, Sparse>,
    events: Vec<CoherenceEvent>,
    /// What was discarded.
    discarded: Vec<CacheIdDiscard>,
}

impl Tree {
    fn new(hierarchy: &Hierarchy, config: CoherenceConfig) -> Self {
        Tree {
            config,
            routes: CacheRoutes::new(hierarchy).expect("it may run"),
            devices: hierarchy.devices.iter().map(|_| DeviceCache::new()).collect(),
            home: HomeAgent::new(Sparse::default()),
            events: Vec::new(),
            discarded: Vec::new(),
        }
    }

    fn issue(&mut self, device: usize, op: Op) {
        let mut out = AgentOutput::default();
        assert!(self.devices[device].issue(op, LINE, None::<WriteBytes<CacheLine>>, &mut out));
        self.run(device, out);
    }

    /// Delivers everything that follows. The port of the home is the CacheID that arrives.
    fn run(&mut self, device: usize, out: AgentOutput<CacheLine>) {
        let mut up: VecDeque<(usize, Message)> = VecDeque::new();
        let send = |up: &mut VecDeque<_>, device, out: AgentOutput<CacheLine>| {
            up.extend(out.sends.iter().map(|(_, m)| (device, m.to_link(PeerRoute::default()))));
        };
        send(&mut up, device, out);
        while let Some((device, message)) = up.pop_front() {
            let message = match self.routes.up(device, message) {
                Ok(message) => message,
                Err(discard) => {
                    self.discarded.push(discard);
                    continue;
                }
            };
            // Answers go home by UQID, whose lower bits name the port.
            let port = match message {
                Message::D2hReq(m) => m.cache_id.into(),
                Message::D2hRsp(m) => m.uqid & 15,
                Message::D2hData(m, _) => m.uqid & 15,
                _ => panic!("a message up"),
            };
            let mut out = AgentOutput::default();
            self.home.take(&self.config, port, from_link(&message), 0, &mut out);
            self.events.append(&mut out.events);
            for (port, msg) in out.sends {
                let message = msg.to_link(PeerRoute { cache_id: port as u8, ..PeerRoute::default() });
                let passed = self.routes.down(&self.config, message);
                self.discarded.extend(passed.err());
                if let Ok((to, passed)) = passed {
                    self.events.extend(self.routes.foreign(message));
                    let message = passed;
                    let mut out = AgentOutput::default();
                    self.devices[to].take(&self.config, 0, from_link(&message), 0, &mut out);
                    self.events.append(&mut out.events);
                    send(&mut up, to, out);
                }
            }
        }
    }

    fn waiting(&self) -> Vec<usize> {
        (0..self.devices.len()).filter(|d| !self.devices[*d].is_idle()).collect()
    }

    fn rules(&self) -> Vec<&'static str> {
        self.events.iter().map(|e| e.rule).collect()
    }
}

#[test]
fn coh_cid_01_p() {
    for count in [1, 2, 16] {
        let mut tree = Tree::new(&devices(count), CoherenceConfig::default());
        // All with the same line and CQID.
        for device in 0..count {
            tree.issue(device, Op::RdShared);
        }
        assert!(tree.events.is_empty() && tree.waiting().is_empty());
        assert_eq!(tree.home.holders(LINE).all(), (0..count as AgentPort).collect());
    }
}

#[test]
fn coh_cid_01_n() {
    assert_eq!(CacheRoutes::new(&devices(17)), Err(HierarchyError::TooMany { found: 17 }));
    let mut twice = devices(2);
    twice.devices[1].cache_id = Some(0);
    assert_eq!(CacheRoutes::new(&twice), Err(HierarchyError::BadId { found: 0, device: 1 }));
    assert!(CacheRoutes::new(&twice).is_err_and(|e| e.to_string().starts_with("COH-CID-01")));
}

#[test]
fn coh_cid_02_p() {
    // A table with a wrong entry: the port lets nothing foreign through.
    let mut tree = Tree::new(&devices(3), CoherenceConfig::default());
    tree.routes.set_entry(1, Some(2));
    tree.issue(1, Op::RdShared);
    assert!(tree.events.is_empty() && tree.waiting() == [1]);
    assert_eq!(tree.discarded, [CacheIdDiscard::Port(2); 2], "GO and data");
    assert!(tree.devices[2].is_idle());
}

#[test]
fn coh_cid_02_n() {
    let config = CoherenceConfig { rules: CoherenceMutant::ForeignCacheId.rules(), ..CoherenceConfig::default() };
    let mut tree = Tree::new(&devices(3), config);
    tree.routes.set_entry(1, Some(2));
    tree.issue(1, Op::RdShared);
    assert!(tree.rules().contains(&"COH-CID-02"), "{:?}", tree.events);
    assert!(tree.rules().contains(&"COH-IDS-01"), "device 2 has not asked: {:?}", tree.events);
}

#[test]
fn coh_cid_03_p() {
    let mut tree = Tree::new(&devices(16), CoherenceConfig::default());
    (0..16).for_each(|d| tree.issue(d, Op::RdShared));
    assert!(tree.waiting().is_empty());
    assert_eq!((tree.discarded, tree.routes.watchdog(&[], 0)), (vec![], vec![]));
}

#[test]
fn coh_cid_03_n() {
    let mut tree = Tree::new(&devices(4), CoherenceConfig::default());
    tree.routes.set_entry(3, None);
    tree.issue(3, Op::RdShared);
    assert_eq!(tree.discarded, [CacheIdDiscard::NoEntry(3); 2], "discarded without answer");
    assert_eq!(tree.waiting(), [3]);
    let events = tree.routes.watchdog(&[(3, 3)], 2);
    assert_eq!((events[0].rule, events[0].at.as_str()), ("COH-CID-03", "device 3"));
    // A port that is not configured discards both ways.
    let mut none = devices(2);
    none.devices[1].cache_id = None;
    let mut tree = Tree::new(&none, CoherenceConfig::default());
    tree.issue(1, Op::RdShared);
    assert_eq!(tree.discarded, [CacheIdDiscard::Port(1)]);
    assert_eq!((tree.home.is_idle(), tree.waiting()), (true, vec![1]));
    assert_eq!(tree.routes.watchdog(&[(1, 1)], 1)[0].rule, "COH-CID-03");
}

#[test]
fn coh_cid_04_p() {
    let mut mixed = devices(3);
    mixed.devices[2].link = Flits::B68;
    let mut tree = Tree::new(&mixed, CoherenceConfig::default());
    (0..3).for_each(|d| tree.issue(d, Op::RdShared));
    assert!(tree.events.is_empty() && tree.waiting().is_empty());
    // The field does not exist on the 68B link.
    let go = Message::H2dRsp(scalepool_protocols::cxl::message::H2dRsp { cache_id: 2, ..Default::default() });
    let Ok((2, Message::H2dRsp(rsp))) = tree.routes.down(&tree.config, go) else { panic!("lost") };
    assert_eq!(rsp.cache_id, 0);
    // Alone, a device needs no CacheID above it.
    assert!(Hierarchy { upper: Flits::B68, cache_ids: false, ..devices(1) }.check().is_ok());
}

#[test]
fn coh_cid_04_n() {
    let narrow = Hierarchy { upper: Flits::B68, ..devices(2) };
    assert_eq!(CacheRoutes::new(&narrow), Err(HierarchyError::NoField { devices: 2 }));
    let without = Hierarchy { cache_ids: false, ..devices(2) };
    assert!(CacheRoutes::new(&without).is_err_and(|e| e.to_string().starts_with("COH-CID-04")));
}

fn with_memory(memory: &[Hdm]) -> Hierarchy {
    let mut hierarchy = devices(memory.len());
    for (below, hdm) in hierarchy.devices.iter_mut().zip(memory) {
        below.hdm = *hdm;
    }
    hierarchy
}

#[test]
fn coh_cid_06_p() {
    for legal in [&[Hdm::D][..], &[Hdm::Db, Hdm::Db], &[Hdm::Db, Hdm::None, Hdm::Db]] {
        assert_eq!(with_memory(legal).check(), Ok(()));
    }
}

#[test]
fn coh_cid_06_n() {
    for illegal in [&[Hdm::D, Hdm::D][..], &[Hdm::D, Hdm::Db], &[Hdm::D, Hdm::None]] {
        let found = CacheRoutes::new(&with_memory(illegal));
        assert_eq!(found, Err(HierarchyError::HdmD { device: 0, others: illegal.len() - 1 }));
        assert!(found.is_err_and(|e| e.to_string().starts_with("COH-CID-06")));
    }
}
