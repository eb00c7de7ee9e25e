//! Who waits for whom in a clocked node: each outgoing class is blocked in turn while each incoming one arrives.

use super::hops::{CLASSES, message};
use super::mem_bench::{X, bytes, device, give, issue, m2s, ndr, write};
use super::mem_explore::explore;
use super::names::names;
use scalepool::coherence::agent::{Accept, Agent, AgentOutput, AgentPort};
use scalepool::coherence::clocked::core::{Core, Wants};
use scalepool::coherence::clocked::linked::{NodeLink, Numbered, Received};
use scalepool::coherence::clocked::node::{AgentNode, NodeConfig, NodeResult};
use scalepool::coherence::clocked::waiting::{WaitTable, may_wait_for};
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{CacheLine, LineAddr};
use scalepool::coherence::mem::{DeviceOp, Holders, HostAccess, HostReq, MemHost};
use scalepool::coherence::message::{Class, Dir, Msg, ORDER, waiting_rule};
use scalepool::kernel::{self, Clock, Cx, Module, Next, RunOptions, Simulation, Time};
use scalepool::proof::mutant::CoherenceMutant;
use scalepool::proof::systems::mem::{Setup, system as mem_system};
use scalepool::trace::Tap;
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, M2sReqOpcode, M2sRwdOpcode, MetaValue, NdrOpcode, SnpType,
};
use scalepool_protocols::cxl::message::{Message, MessageForm, PeerRoute};
use std::sync::{Arc, Mutex};

/// Takes whatever comes, when it comes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Taker;

impl Agent<CacheLine> for Taker {
    fn accepts(&self, _: &CoherenceConfig, _: AgentPort, _: &Msg<CacheLine>) -> Accept {
        Accept::Take
    }

    fn take(&mut self, _: &CoherenceConfig, _: AgentPort, _: Msg<CacheLine>, _: u8, _: &mut AgentOutput<CacheLine>) {}

    fn is_idle(&self) -> bool {
        true
    }

    fn visit(&mut self, _: &mut dyn FnMut(&mut CacheLine)) {}
}

/// More messages of a class than its channel and its queue take.
const FLOOD_MESSAGES: usize = 16;

struct Flood {
    port: AgentPort,
    class: Class,
    /// What its agent has taken.
    heard: Arc<Mutex<Vec<Class>>>,
}

impl Core<Taker> for Flood {
    fn cycle(
        &mut self,
        _: &mut Taker,
        _: &CoherenceConfig,
        cycle: u64,
        _: &[scalepool::coherence::agent::Effect<CacheLine>],
        out: &mut AgentOutput<CacheLine>,
    ) -> Wants {
        if cycle == 0 {
            (0..FLOOD_MESSAGES).for_each(|_| out.send(self.port, message(self.class)));
        }
        Wants::Message
    }

    fn heard(&mut self, _: u64, msg: &Msg<CacheLine>) {
        self.heard.lock().expect("nobody panicked").push(msg.class());
    }

    fn open_work(&self) -> Option<String> {
        None
    }
}

/// The other end of a link: takes nothing of a class before a cycle, and sends one message at cycle 20.
struct Far {
    from: Vec<(Class, kernel::In<Numbered>)>,
    to: Vec<(Class, kernel::Out<Message>)>,
    stuck: Option<Class>,
    until_cycle: u64,
    sends: Option<Class>,
}

impl Module for Far {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let cycle = cx.cycle();
        let stuck = self.stuck.filter(|_| cycle < self.until_cycle);
        for (class, channel) in &mut self.from {
            while Some(*class) != stuck && channel.pop(cx).is_some() {
                cx.progress();
            }
        }
        if let Some(class) = self.sends.filter(|_| cycle == 20) {
            let to = self.to.iter_mut().find(|(c, _)| *c == class).expect("it arrives here");
            assert!(to.1.push(cx, message(class).to_link(PeerRoute::default())).is_ok());
        }
        Next::busy_if(cycle < 100)
    }
}

/// Messages that a channel of a class holds.
const CHANNEL_MESSAGES: u32 = 8;

/// What happened to `incoming` while `stuck` did not move: taken before cycle 60, taken at all, rules reported.
fn seen(waits: &WaitTable, incoming: Class, stuck: Class, until_cycle: u64) -> (bool, Vec<&'static str>) {
    let (result, taken): (Arc<Mutex<NodeResult>>, Arc<Mutex<Vec<Class>>>) = Default::default();
    let config = CoherenceConfig { waits: waits.clone(), ..CoherenceConfig::default() };
    let mut sim = Simulation::new(1);
    let (node_result, heard) = (Arc::clone(&result), Arc::clone(&taken));
    sim.partition(move |p| {
        let clock = p.clock("clk", Clock::with_period_fs(1_000)?)?;
        // Port 0 of the node sends as the agent of `incoming` does, port 1 the other way, as a direct peer.
        let sends = if incoming.dir() == Dir::Down { Dir::Up } else { Dir::Down };
        let other = incoming.dir();
        let mut ends = Vec::new();
        for (n, dir) in [sends, other].into_iter().enumerate() {
            let (mut node_tx, mut node_rx, mut from, mut to) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for (c, class) in ORDER.into_iter().enumerate() {
                let name = format!("link[{n}].class[{c}]");
                if class.dir() == dir {
                    let (tx, rx) = p.channel::<Numbered>(&name, CHANNEL_MESSAGES, 1)?;
                    node_tx.push((class, tx));
                    from.push((class, rx));
                } else {
                    let (tx, rx) = p.channel::<Message>(&name, CHANNEL_MESSAGES, 1)?;
                    to.push((class, tx));
                    node_rx.push((class, rx));
                }
            }
            let stuck = (stuck.dir() == dir).then_some(stuck);
            let sends = (n == 0).then_some(incoming);
            p.module(&format!("far[{n}]"), clock, |bind| {
                let from = from.into_iter().map(|(class, end)| (class, bind.attach(end))).collect();
                let to = to.into_iter().map(|(class, end)| (class, bind.attach(end))).collect();
                Far { from, to, stuck, until_cycle, sends }
            })?;
            ends.push((node_tx, node_rx));
        }
        p.module("node", clock, |bind| {
            let link = |(tx, rx): (Vec<_>, Vec<_>)| NodeLink {
                tells: None,
                hears: None,
                damage: None,
                rx: rx.into_iter().map(|(class, end)| (class, Received::from(bind.attach(end)))).collect(),
                tx: tx.into_iter().map(|(class, end)| (class, bind.attach(end))).collect(),
                routes: vec![PeerRoute::default()],
                form: MessageForm::Hbr,
                number: 0,
                link: 0,
            };
            let links = ends.into_iter().map(link).collect();
            let port = AgentPort::from(stuck.dir() != sends);
            let core = Flood { port, class: stuck, heard };
            let config = NodeConfig {
                number: 0,
                agent: Taker,
                core: Box::new(core),
                config,
                reductions: Vec::new(),
                links,
                tap: Tap::off(),
                shown: None,
                watch: None,
            };
            AgentNode::new(config, node_result)
        })
    });
    let limit = Some(Time::from_fs(60_000));
    let options = RunOptions { limit, open_at_limit_allowed: true, stall_limit_fs: None, ..RunOptions::default() };
    sim.run(&options, |_| ()).expect("it runs");
    let result = result.lock().expect("nobody panicked");
    let is_taken = *taken.lock().expect("nobody panicked") == [incoming];
    (is_taken, result.events.iter().map(|(_, e)| e.rule).collect())
}

/// Classes that leave the agent at which `incoming` arrives.
fn outgoing(incoming: Class) -> impl Iterator<Item = Class> {
    CLASSES.into_iter().filter(move |c| c.dir() != incoming.dir())
}

const NEVER: u64 = u64::MAX;

/// Every class of the row waits for what it may and goes on behind it, and is taken beside everything else.
fn obeys(rule: &str) {
    let sheet = WaitTable::default();
    assert_eq!(sheet.cycle(), None);
    for incoming in CLASSES.into_iter().filter(|c| waiting_rule(*c) == rule) {
        for stuck in outgoing(incoming) {
            let may = may_wait_for(incoming, stuck);
            assert_eq!(seen(&sheet, incoming, stuck, NEVER), (!may, vec![]), "{incoming:?} while {stuck:?} is stuck");
            if may {
                assert_eq!(seen(&sheet, incoming, stuck, 40), (true, vec![]), "{incoming:?} after {stuck:?}");
            }
        }
    }
}

/// What a class is made to wait for against its row: every class that leaves its agent and is not in the row.
///
/// COH-DLK-14 has no such class: the sheet lets D2H Req wait for everything that leaves a host and forbids nothing by
/// name. What is left of the row is the order above it, "each class waits only for classes to its right", and D2H Req is
/// the leftmost: the one wait that breaks it is for another D2H Req, and two of them wait for each other.
fn forbidden(rule: &str, incoming: Class) -> Vec<Class> {
    if rule == "COH-DLK-14" {
        return vec![Class::D2hReq];
    }
    outgoing(incoming).filter(|c| !may_wait_for(incoming, *c)).collect()
}

/// With a wait that the row does not have: a cycle of classes, and a node that waits is named.
fn breaks(rule: &'static str) {
    let mut broken = 0;
    for incoming in CLASSES.into_iter().filter(|c| waiting_rule(*c) == rule) {
        for stuck in forbidden(rule, incoming) {
            let table = WaitTable::default().with(incoming, stuck);
            assert_eq!(table.cycle().map(|e| e.rule), Some(rule), "{incoming:?} for {stuck:?}");
            assert_eq!(seen(&table, incoming, stuck, NEVER), (false, vec![rule]), "{incoming:?} for {stuck:?}");
            // By the sheet it does not wait.
            assert_eq!(
                seen(&WaitTable::default(), incoming, stuck, NEVER),
                (true, vec![]),
                "{incoming:?} past {stuck:?}"
            );
            broken += 1;
        }
    }
    assert_ne!(broken, 0);
}

rule_tests! { obeys, breaks:
    coh_dlk_08_p coh_dlk_08_n "COH-DLK-08"
    coh_dlk_09_p coh_dlk_09_n "COH-DLK-09"
    coh_dlk_10_p coh_dlk_10_n "COH-DLK-10"
    coh_dlk_11_p coh_dlk_11_n "COH-DLK-11"
    coh_dlk_12_p coh_dlk_12_n "COH-DLK-12"
    coh_dlk_13_p coh_dlk_13_n "COH-DLK-13"
    coh_dlk_14_p coh_dlk_14_n "COH-DLK-14"
}

#[test]
fn coh_p2p_03_p() {
    let peer = WaitTable::peer();
    assert_eq!(peer.cycle(), None);
    for incoming in CLASSES {
        use Class::*;
        assert_eq!(seen(&peer, incoming, M2sReq, NEVER), (true, vec![]), "a Req holds nothing: {incoming:?}");
        let held = matches!(incoming, M2sReq | S2mBisnp);
        assert_eq!(seen(&peer, incoming, M2sRwd, NEVER), (!held, vec![]), "{incoming:?} beside RwD");
        let free = matches!(incoming, H2dRsp | H2dData | M2sBirsp);
        assert_eq!(seen(&peer, incoming, M2sBirsp, NEVER), (free, vec![]), "{incoming:?} beside BIRsp");
    }
}

#[test]
fn coh_p2p_03_n() {
    for incoming in [Class::H2dReq, Class::M2sReq, Class::S2mBisnp] {
        let table = WaitTable::peer().with(incoming, Class::M2sReq);
        assert_eq!(table.cycle().map(|e| e.rule), Some("COH-P2P-03"), "{incoming:?}");
        assert_eq!(seen(&table, incoming, Class::M2sReq, NEVER), (false, vec!["COH-P2P-03"]));
    }
}

#[test]
fn coh_dlk_15_p() {
    let config = CoherenceConfig::default();
    // A device whose tracker and lines are all busy takes RwD and BIRsp, and no Req.
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut AgentOutput::default());
    let req = m2s(M2sReqOpcode::MemRd, Some(MetaValue::Any), SnpType::SnpInv);
    assert_eq!(dcoh.accepts(&config, 1, &req), Accept::Wait);
    give(&mut dcoh, &config, 0, write(M2sRwdOpcode::MemWr, Some(MetaValue::Invalid), SnpType::NoOp, 9));
    give(&mut dcoh, &config, 0, super::mem_bench::birsp(BirspOpcode::BIRspI, 0));
    assert_eq!(dcoh.own(X).map(|o| o.1), Some(bytes(9)));
    // A host with many requests open has room for all their answers and for a snoop of each line.
    let mut host = MemHost::<CacheLine>::new(0);
    for line in (0..64).map(LineAddr) {
        host.issue(line, HostReq::RD_ANY, HostAccess::Nothing, &mut AgentOutput::default());
    }
    for tag in 0..64_u16 {
        let snoop = Msg::S2mBisnp { opcode: BisnpOpcode::BISnpInv, line: LineAddr(tag.into()), bi_tag: tag };
        give(&mut host, &config, 0, snoop);
        give(&mut host, &config, 0, super::mem_bench::drs(tag, 1));
        give(&mut host, &config, 0, ndr(NdrOpcode::CmpE, tag));
    }
}

#[test]
fn coh_dlk_15_n() {
    let config = CoherenceConfig { rules: CoherenceMutant::BisnpBlocksRwd.rules(), ..CoherenceConfig::default() };
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut AgentOutput::default());
    let rwd = write(M2sRwdOpcode::MemWr, Some(MetaValue::Invalid), SnpType::NoOp, 9);
    assert_eq!(dcoh.accepts(&config, 0, &rwd), Accept::Wait, "its sink is missing");
    let setup = Setup::core(config, 2);
    names(&mem_system(setup.clone()), "COH-DLK-15");
    let start = mem_system(Setup { orders: false, ..setup });
    let found = explore("BisnpBlocksRwd", &start).violation.expect("a deadlock");
    assert_eq!(found.event.rule, "COH-INV-09", "{}", found.event);
}

/// A host that lost its bytes while it waited for ownership: the store of some bytes gives the grant up and reads, also
/// when a snoop waits for the access that the grant was for.
#[test]
fn a_grant_without_bytes_holds_nobody() {
    use super::mem_bench::{bisnp, host, labels};
    use scalepool::coherence::clocked::accessor::{Caching, CoreOperation, LineRequestOutcome};
    use scalepool::coherence::mem::tables::Copy4;
    let config = CoherenceConfig::default();
    let store = CoreOperation::Store { bytes: bytes(7), enables: 1 };
    for snooped_again in [false, true] {
        let mut host = host(Copy4::S);
        let out = issue(&mut host, HostReq::INV, HostAccess::Store);
        let Msg::M2sReq { tag, .. } = out.sends[0].1 else { panic!("no request") };
        give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpInv, X));
        let out = give(&mut host, &config, 0, ndr(NdrOpcode::BIConflictAck, tag));
        assert_eq!(labels(&out), ["BIRspI"], "the snoop won");
        if snooped_again {
            give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpInv, X));
        }
        give(&mut host, &config, 0, ndr(NdrOpcode::CmpE, tag));
        if snooped_again {
            let out = give(&mut host, &config, 0, ndr(NdrOpcode::BIConflictAck, tag));
            assert!(out.sends.is_empty(), "it waits for the access");
        }
        assert_eq!((host.copy(X).state, host.copy(X).data), (Copy4::E, None));
        let mut out = AgentOutput::default();
        assert!(!Caching::store(&mut host, &config, X, &bytes(7), 1, &mut out));
        assert_eq!(host.ask(&config, X, &store, &mut out), LineRequestOutcome::Copy);
        let read = "MemRd Any SnpInv".to_owned();
        let expected = if snooped_again { vec!["BIRspI".to_owned(), read] } else { vec![read] };
        assert_eq!(labels(&out), expected);
    }
}
