//! Agents that are alike: the canonical form of a state.
//!
//! Which holders of a home are alike says [`Setup`](super::setup::Setup). A renaming of them moves each to the port of another, with its
//! messages, and the home learns the new numbers.
//!
//! Sorting is exact: two holders between which it makes no difference are equal in all that any part of the system knows of them, so
//! that exchanging them changes nothing. Holders of different homes have no line in common, or stand at different levels of one
//! hierarchy, where nobody but their own home knows them; they are sorted on their own.

use super::composite::{Composite, CompositeMove};
use super::part::Member;
use super::setup::back;
use crate::explore::fingerprint::fingerprint;
use crate::shared::SharedState;
use scalepool_coherence::agent::AgentPort;
use scalepool_coherence::cache::requests;
use scalepool_coherence::content::LineToken;
use scalepool_coherence::message::Msg;
use std::cmp::Ordering;

/// The same state with the holders of a home sorted; moves of it are renamed alike.
pub(super) fn sorted(system: Composite, home: usize, moves: &mut [CompositeMove]) -> Composite {
    let count = system.setup().holders(home).len();
    // Most states are sorted already.
    if (1..count).all(|n| compared(&system, home, n - 1, n).is_le()) {
        return system;
    }
    let mut order: Vec<usize> = (0..count).collect();
    scalepool_ordered::sort_by(&mut order, |&a, &b| compared(&system, home, a, b));
    renamed(system, home, &order, moves)
}

/// Two holders by all that is known of them without their numbers.
fn compared(system: &Composite, home: usize, a: usize, b: usize) -> Ordering {
    let setup = system.setup();
    let holders = setup.holders(home);
    let lanes = |n: usize| holders[n].way.iter().flat_map(|&(link, dir)| [(link, dir), (link, back(dir))]);
    // UQIDs name the port: all are compared as those of one port.
    let messages = |(link, dir)| system.under_way(link, dir).iter().map(|msg| on_port(*msg, 0));
    let by_messages = || {
        let both = lanes(a).zip(lanes(b));
        let mut differing = both.map(|(a, b)| messages(a).cmp(messages(b))).filter(|order| order.is_ne());
        differing.next().unwrap_or(Ordering::Equal)
    };
    let signature = |n: usize| system.agents[home].signature(n as AgentPort);
    nameless(&system.agents[holders[a].agent])
        .cmp(&nameless(&system.agents[holders[b].agent]))
        .then_with(by_messages)
        .then_with(|| signature(a).cmp(&signature(b)))
}

/// The fingerprint of an agent behind no port of its own.
fn nameless(member: &SharedState<Member>) -> u128 {
    member.form(|member| {
        if !member.part().knows_port() {
            return fingerprint(member);
        }
        let mut member = member.clone();
        member.part_mut().behind(0);
        fingerprint(&member)
    })
}

/// Holder `order[n]` becomes n.
pub(super) fn renamed(mut system: Composite, home: usize, order: &[usize], moves: &mut [CompositeMove]) -> Composite {
    let setup = system.setup().clone();
    let holders = setup.holders(home);
    let mut to = vec![0; order.len()];
    let mut links: Vec<usize> = (0..setup.links.len()).collect();
    let mut ports = vec![None; links.len()];
    let old: Vec<SharedState<Member>> = holders.iter().map(|holder| system.agents[holder.agent].clone()).collect();
    for (new, &from) in order.iter().enumerate() {
        to[from] = new as AgentPort;
        let member = &mut system.agents[holders[new].agent];
        *member = old[from].clone();
        if member.part().knows_port() {
            member.part_mut().behind(new as AgentPort);
        }
        for (own, other) in holders[new].way.iter().zip(&holders[from].way) {
            links[own.0] = other.0;
            ports[own.0] = Some(new as AgentPort);
        }
    }
    system.agents[home].renamed(&to);
    system.net = system.net.renamed(&links, |msg, link| {
        if let Some(port) = ports[link] {
            *msg = on_port(*msg, port);
        }
    });
    for mv in moves {
        match mv {
            // Its messages stay in their order.
            CompositeMove::Deliver { link, .. } => {
                *link = links.iter().position(|&old| old == usize::from(*link)).unwrap_or_default() as u16;
            }
            CompositeMove::Begin { agent, .. } => {
                let is_old = |&from: &usize| holders[from].agent == usize::from(*agent);
                let new = order.iter().position(is_old);
                *agent = new.map_or(*agent, |new| holders[new].agent as u16);
            }
        }
    }
    system
}

/// The same message where its device is on another port: its UQID says so. No message of CXL.mem says which host it is of.
fn on_port(mut msg: Msg<LineToken>, port: AgentPort) -> Msg<LineToken> {
    match &mut msg {
        Msg::H2dReq { uqid, .. } | Msg::D2hRsp { uqid, .. } | Msg::D2hData { uqid, .. } => *uqid = *uqid & !15 | port,
        Msg::H2dRsp { opcode, rsp_data, .. } if requests::names_uqid(*opcode) => *rsp_data = *rsp_data & !15 | port,
        _ => {}
    }
    msg
}
