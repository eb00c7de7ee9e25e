//! One direction of a hop, as the passing table of `coherence` §3.6 wants it.
//!
//! Modelled: credits of each channel, delivery past a channel that is stuck, the pairs that keep their order, CXL.io
//! beside CXL.cachemem, and the six channels of a direct peer a second time. Detail: one message a delivery, in order of
//! arrival where nothing is stuck, so that no channel starves. Left out: time and flits.
//!
//! A walk through one delivery: the oldest message whose channel is not stuck, which has no earlier message of its own
//! channel before it and none that it must stay behind, leaves and gives its credit back. The watch behind it says which
//! row of the table was broken, if one was.

use super::config::CoherenceConfig;
use super::content::CacheLine;
use super::event::CoherenceEvent;
use super::message::{Class, Msg, passing_rule, rank};
use super::monitor::CreditWatch;
use super::order::must_stay_behind;
use std::collections::BTreeMap;
use std::fmt;

/// What has credits of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoherenceChannel {
    /// A class between host and device.
    Own(Class),
    /// A CXL.mem class of a direct peer, which drives it the other way round (`coherence` §3.7).
    Peer(Class),
    /// CXL.io but completions of UIO.
    Io,
    /// Completions of UIO.
    UioCompletion,
}

impl CoherenceChannel {
    /// Channels of CXL.cachemem: twelve, with direct peers six more.
    pub fn of(peers: bool) -> Vec<CoherenceChannel> {
        let own = Class::ALL.into_iter().map(CoherenceChannel::Own);
        let mem = Class::ALL.into_iter().filter(|class| peers && class.is_mem());
        own.chain(mem.map(CoherenceChannel::Peer)).collect()
    }

    fn class(self) -> Option<Class> {
        match self {
            CoherenceChannel::Own(class) | CoherenceChannel::Peer(class) => Some(class),
            CoherenceChannel::Io | CoherenceChannel::UioCompletion => None,
        }
    }
}

impl fmt::Display for CoherenceChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CoherenceChannel::Own(class) => f.write_str(class.name()),
            CoherenceChannel::Peer(class) => write!(f, "{} of a peer", class.name()),
            CoherenceChannel::Io => f.write_str("CXL.io"),
            CoherenceChannel::UioCompletion => f.write_str("completions of UIO"),
        }
    }
}

/// The rule by which `later` must be able to pass `earlier` when that is stuck; `None` when it may wait. `fabric`: a PBR
/// switch, an inter-switch link or a device with direct peers.
pub fn must_pass(later: CoherenceChannel, earlier: CoherenceChannel, fabric: bool) -> Option<&'static str> {
    match (later, earlier) {
        (
            CoherenceChannel::Own(_) | CoherenceChannel::Peer(_),
            CoherenceChannel::Io | CoherenceChannel::UioCompletion,
        )
        | (CoherenceChannel::UioCompletion, CoherenceChannel::Own(_) | CoherenceChannel::Peer(_)) => Some("COH-DLK-16"),
        (CoherenceChannel::Own(_), CoherenceChannel::Peer(_))
        | (CoherenceChannel::Peer(_), CoherenceChannel::Own(_)) => Some("COH-CHN-01"),
        (CoherenceChannel::Own(later), CoherenceChannel::Own(earlier))
        | (CoherenceChannel::Peer(later), CoherenceChannel::Peer(earlier)) => {
            let in_fabric = fabric && later == Class::H2dReq && earlier == Class::M2sRwd;
            let passes = later.dir() == earlier.dir() && rank(later) > rank(earlier) || in_fabric;
            passes.then(|| passing_rule(later))
        }
        _ => None,
    }
}

/// A deliberate fault of a hop; tests only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneFault {
    /// One pool of credits for all channels.
    SharedPool,
    /// One queue: a stuck message holds everything behind it.
    InOrder,
    /// A channel is served only when nothing else waits.
    Starves(CoherenceChannel),
    /// Pairs that keep their order do not.
    PassesAll,
    /// A credit is not returned.
    KeepsCredit,
    /// A message is sent without a credit.
    SendsWithout,
}

/// Messages that a waiting one may be passed by although it could go, before it counts as starved.
const STARVED_DELIVERIES: u32 = 32;

#[derive(Debug, Clone)]
struct HeldMessage {
    channel: CoherenceChannel,
    msg: Option<Msg<CacheLine>>,
    passed_by: u32,
}

/// One direction of a hop.
#[derive(Debug, Clone)]
pub struct Lane {
    credits: u64,
    fabric: bool,
    fault: Option<LaneFault>,
    held: Vec<HeldMessage>,
    used: BTreeMap<CoherenceChannel, u64>,
    watches: BTreeMap<CoherenceChannel, CreditWatch>,
    /// Broken rules that the watch saw.
    pub events: Vec<CoherenceEvent>,
}

impl Lane {
    /// A hop with so many credits a channel.
    pub fn new(credits: u64, fabric: bool, fault: Option<LaneFault>) -> Self {
        let (used, watches) = (BTreeMap::new(), BTreeMap::new());
        Self { credits, fabric, fault, held: Vec::new(), used, watches, events: Vec::new() }
    }

    /// Sends a message; `false`: its channel has no credit. A message without content stands for CXL.io.
    pub fn send(&mut self, channel: CoherenceChannel, msg: Option<Msg<CacheLine>>) -> bool {
        let own = self.used.get(&channel).copied().unwrap_or(0);
        let free = match self.fault {
            Some(LaneFault::SharedPool) => self.used.values().sum::<u64>() < self.credits,
            Some(LaneFault::SendsWithout) => true,
            _ => own < self.credits,
        };
        if !free {
            if own < self.credits {
                let (at, found) = (channel.to_string(), "no credit while others hold all of them".to_owned());
                self.events.push(CoherenceEvent::new(
                    "COH-CHN-01",
                    None,
                    at,
                    found,
                    "credits of its own for each channel",
                ));
            }
            return false;
        }
        *self.used.entry(channel).or_insert(0) += 1;
        let credits = self.credits;
        let watch = self.watches.entry(channel).or_insert_with(|| CreditWatch::new(channel.to_string(), credits));
        watch.send(&mut self.events);
        self.held.push(HeldMessage { channel, msg, passed_by: 0 });
        true
    }

    /// Whether message `at` has to stay where it is; `config` says which order rules are on.
    fn is_behind(&self, config: &CoherenceConfig, at: usize) -> bool {
        let later = &self.held[at];
        self.held[..at].iter().any(|earlier| match (&later.msg, &earlier.msg) {
            (Some(l), Some(e)) => later.channel == earlier.channel || must_stay_behind(config, l, e).is_some(),
            _ => later.channel == earlier.channel,
        })
    }

    /// Delivers one message while the receiver takes nothing of the channels `stuck`.
    pub fn deliver(
        &mut self,
        config: &CoherenceConfig,
        stuck: &[CoherenceChannel],
    ) -> Option<(CoherenceChannel, Option<Msg<CacheLine>>)> {
        let goes = |at: usize| !stuck.contains(&self.held[at].channel);
        let free = |at: &usize| goes(*at) && (self.fault == Some(LaneFault::PassesAll) || !self.is_behind(config, *at));
        let all = 0..self.held.len();
        let found = match self.fault {
            Some(LaneFault::InOrder) => all.take(1).find(free),
            // The newest first, so that whatever may be passed is passed.
            Some(LaneFault::PassesAll) => all.rev().find(free),
            Some(LaneFault::Starves(last)) => {
                let mut waiting: Vec<_> = all.filter(free).collect();
                scalepool_ordered::sort_by_key(&mut waiting, |at| self.held[*at].channel == last);
                waiting.first().copied()
            }
            _ => all.into_iter().find(free),
        };
        let Some(at) = found else {
            self.watch_stuck(stuck);
            return None;
        };
        self.watch_order(at);
        self.watch_starved(at, stuck);
        let held = self.held.remove(at);
        if self.fault != Some(LaneFault::KeepsCredit) {
            if let Some(used) = self.used.get_mut(&held.channel) {
                *used = used.saturating_sub(1);
            }
            if let Some(watch) = self.watches.get_mut(&held.channel) {
                watch.give_back(&mut self.events);
            }
        }
        Some((held.channel, held.msg))
    }

    /// Nothing moves: a message that must be able to pass what is stuck names its row.
    fn watch_stuck(&mut self, stuck: &[CoherenceChannel]) {
        for (at, later) in self.held.iter().enumerate().filter(|(_, h)| !stuck.contains(&h.channel)) {
            let mut before = self.held[..at].iter().filter(|e| stuck.contains(&e.channel));
            if let Some((earlier, rule)) =
                before.find_map(|e| must_pass(later.channel, e.channel, self.fabric).map(|rule| (e, rule)))
            {
                let found = format!("{} waits behind {}", later.channel, earlier.channel);
                self.events.push(CoherenceEvent::new(rule, None, "hop", found, "it passes"));
            }
        }
    }

    /// What leaves must not pass an earlier message of its line.
    fn watch_order(&mut self, at: usize) {
        let sheet = CoherenceConfig::default();
        let (Some(later), Some(class)) = (self.held[at].msg, self.held[at].channel.class()) else { return };
        let passed =
            self.held[..at].iter().filter_map(|e| e.msg).find(|e| must_stay_behind(&sheet, &later, e).is_some());
        if let Some(earlier) = passed {
            let found = format!("{} passes {}", later.label(), earlier.label());
            self.events.push(CoherenceEvent::new(passing_rule(class), later.line(), "hop", found, "it stays behind"));
        }
    }

    /// Passing never starves what could go.
    fn watch_starved(&mut self, at: usize, stuck: &[CoherenceChannel]) {
        for held in self.held[..at].iter_mut().filter(|h| !stuck.contains(&h.channel)) {
            held.passed_by += 1;
            if held.passed_by == STARVED_DELIVERIES {
                let rule = held.channel.class().map_or("COH-DLK-16", passing_rule);
                let found = format!("{} was passed {STARVED_DELIVERIES} times", held.channel);
                self.events.push(CoherenceEvent::new(rule, None, "hop", found, "a channel that is not starved"));
            }
        }
    }

    /// Nothing is under way any more: all credits are back.
    pub fn check_idle(&mut self) {
        for watch in self.watches.values() {
            watch.idle(&mut self.events);
        }
    }
}
