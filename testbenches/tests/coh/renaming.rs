//! Agents that are alike: every renaming of a state has one canonical form.
//!
//! A renaming is made here without the code that finds the form: the same moves by other agents lead to it. So each state goes
//! along with its twins, one for each order of the agents, and a move of the state is made in every twin by the agent that stands
//! in the place of its own.

use scalepool::coherence::cache::state::CacheLineState;
use scalepool::coherence::config::{CoherenceConfig, ErrorAnswer, ErrorRange, OwnMemory};
use scalepool::coherence::mem::HostReq;
use scalepool::proof::explore::ExploredSystem;
use scalepool::proof::systems::cache::{ALL_REQUESTS, Setup as CacheSetup, system as cache};
use scalepool::proof::systems::composite::{Composite, CompositeMove};
use scalepool::proof::systems::mem::{Setup as MemSetup, system as mem, two_levels};
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode as Op;
use scalepool_testbenches::soak::is_soak;
use std::collections::HashSet;

/// Agents and links of holders that are alike, in order.
struct Alike {
    agents: Vec<u16>,
    links: Vec<u16>,
}

impl Alike {
    /// Neighbouring agents and links.
    fn of(count: u16, agent: u16, link: u16) -> Self {
        Self { agents: (agent..agent + count).collect(), links: (link..link + count).collect() }
    }

    /// All orders but the one that there is.
    fn orders(&self) -> Vec<Vec<usize>> {
        match self.agents.len() {
            2 => vec![vec![1, 0]],
            _ => vec![vec![0, 2, 1], vec![1, 0, 2], vec![1, 2, 0], vec![2, 0, 1], vec![2, 1, 0]],
        }
    }

    /// The move where holder n stands in the place of holder `order[n]`.
    fn moved(&self, mv: CompositeMove, order: &[usize]) -> CompositeMove {
        let other = |all: &[u16], own: u16| all.iter().position(|n| *n == own).map_or(own, |n| all[order[n]]);
        match mv {
            CompositeMove::Deliver { link, dir, index, way } => {
                CompositeMove::Deliver { link: other(&self.links, link), dir, index, way }
            }
            CompositeMove::Begin { agent, operation } => {
                CompositeMove::Begin { agent: other(&self.agents, agent), operation }
            }
        }
    }
}

/// Visits all states; gives how many there are, and how many are left without names. `twins`: the start in each order.
fn visited(start: Composite, twins: Vec<Composite>, alike: &Alike) -> (usize, usize) {
    assert!(start.has_symmetry());
    let orders = alike.orders();
    let mut seen = HashSet::from([start.print()]);
    let mut forms = HashSet::new();
    let mut left = vec![(start, twins)];
    while let Some((state, twins)) = left.pop() {
        let form = state.clone().canonical(&mut []).print();
        for (twin, order) in twins.iter().zip(&orders) {
            assert_eq!(
                twin.clone().canonical(&mut []).print(),
                form,
                "a state and its renaming {order:?} differ: {state:?}"
            );
        }
        forms.insert(form);
        let mut moves = Vec::new();
        state.moves(&mut moves);
        for mv in moves {
            let mut after = state.clone();
            after.apply(mv, &mut Vec::new());
            if seen.insert(after.print()) {
                let mut twins = twins.clone();
                for (twin, order) in twins.iter_mut().zip(&orders) {
                    twin.apply(alike.moved(mv, order), &mut Vec::new());
                }
                left.push((after, twins));
            }
        }
    }
    (seen.len(), forms.len())
}

/// About one form for each two states of two agents, and for each six of three.
#[track_caller]
fn has_one_form(start: Composite, alike: &Alike) {
    let orders = alike.orders().len() + 1;
    let (states, forms) = visited(start.clone(), vec![start; orders - 1], alike);
    println!("{states} states, {forms} without names");
    assert!(forms * orders >= states && forms * orders < states * 3 / 2, "{forms} of {states}");
}

/// The form does not depend on which port an open snoop or pull was sent to, nor on early data at the home, nor on RspData that
/// names nobody.
#[test]
fn every_renaming_of_caching_devices_has_one_form() {
    has_one_form(cache(CacheSetup::free(CoherenceConfig::default(), 2, ALL_REQUESTS)), &Alike::of(2, 1, 0));
    let drops = CoherenceConfig { silent_drop_e: true, ..CoherenceConfig::default() };
    let menu = [Op::RdShared, Op::RdOwn, Op::DirtyEvict];
    let three = CacheSetup { waiting_stores: false, ..CacheSetup::free(drops, 3, &menu) };
    has_one_form(cache(three), &Alike::of(3, 1, 0));
}

/// Every answer is an error, and one device has a copy from the start: its CleanEvict is answered too.
#[test]
fn every_renaming_of_devices_that_are_refused_has_one_form() {
    let range = ErrorRange { first: 0, last: 63, answer: ErrorAnswer::GoError };
    let refusing = CoherenceConfig { error_ranges: vec![range], ..CoherenceConfig::default() };
    let held =
        |states: [CacheLineState; 2]| cache(CacheSetup::free(refusing.clone(), 2, ALL_REQUESTS)).start_at(&states);
    let (first, second) = ([CacheLineState::E, CacheLineState::I], [CacheLineState::I, CacheLineState::E]);
    let (states, forms) = visited(held(first), vec![held(second)], &Alike::of(2, 1, 0));
    assert!(forms > 1 && forms <= states, "{forms} of {states}");
    let own_memory = vec![OwnMemory { device: 0, first: 0, last: 63 }];
    let differing = CoherenceConfig { own_memory, ..CoherenceConfig::default() };
    assert!(!cache(CacheSetup::free(differing, 2, ALL_REQUESTS)).has_symmetry(), "the line is memory of one device");
}

/// Hosts of a device. Caching devices below one of them, and three hosts, take most of the time, so they have their turn in
/// `make soak`.
#[test]
fn every_renaming_of_hosts_has_one_form() {
    let config = CoherenceConfig::default;
    for setup in [
        MemSetup::core(config(), 2),
        MemSetup::waiting_accesses(config(), 2),
        MemSetup::one_entry(config()),
        MemSetup::uio(config()),
    ] {
        has_one_form(mem(setup), &Alike::of(2, 0, 0));
    }
    if !is_soak() {
        return;
    }
    has_one_form(two_levels(config(), 2), &Alike::of(2, 3, 2));
    let three = MemSetup { requests: vec![HostReq::RD_ANY, HostReq::RD_SHARED], ..MemSetup::core(config(), 3) };
    has_one_form(mem(three), &Alike::of(3, 0, 0));
}
