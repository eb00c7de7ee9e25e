//! Memory of the own cluster that accelerators reach by the bridge, as a description gives it, see [`scalepool_bridge::inbound::hairpin`].
//!
//! Modelled: the channels between the outbound half, the home and the inbound half, which windows of class HP need; that these windows lead
//! to memory that the bridge keeps coherent. Left out: ports, for nothing of it leaves the bridge. A walk through one description: a window
//! of class HP leads to addresses of a window of class DB; the outbound half gets one port more, whose channels end at the home.

use super::exported::HOME_FORM;
use super::inbound::MemoryOf;
use crate::coherence::{Seat, recorded};
use crate::kind::{ConfigFinding, SitePort};
use scalepool_bridge::hairpin::{OwnerAnswer, OwnerAtomic};
use scalepool_bridge::inbound::hairpin::first_not_coherent;
use scalepool_bridge::inbound::owner::OwnerPort;
use scalepool_bridge::module::BridgeCxlPort;
use scalepool_bridge::module::hairpin::OwnerChannels;
use scalepool_bridge::watched::{BridgeLines, PortWatch};
use scalepool_bridge::window::{BridgeWindow, BridgeWindows, InboundClass, WindowClass};
use scalepool_coherence::clocked::linked::{NodeLink, Numbered, Received};
use scalepool_coherence::message::Class;
use scalepool_kernel::{Binder, BuildError, InEnd, OutEnd, PartitionBuilder};
use scalepool_protocols::cxl::message::PeerRoute;
use scalepool_trace::Tap;
use std::sync::Arc;

/// Messages of a class between the halves.
const CHANNEL_MESSAGES: u32 = 32;
/// Cycles from one half to the other.
const CHANNEL_CYCLES: u32 = 1;

/// What the outbound half has to know of the memory that the bridge exports.
pub struct ExportedMemory<'a> {
    /// Windows from CXL.
    pub windows: Arc<BridgeWindows<InboundClass>>,
    /// What memory of accelerators holds at first.
    pub memory: MemoryOf,
    /// A port of the home.
    pub home: &'a SitePort,
}

/// Windows of class HP that lead to addresses which the bridge does not keep coherent.
pub fn check(windows: &[BridgeWindow], exported: &[BridgeWindow<InboundClass>]) -> Vec<ConfigFinding> {
    let one = |(n, window): (usize, &BridgeWindow)| {
        let at = first_not_coherent(window, exported)?;
        let (first, end) = (window.out_base, window.out_base.saturating_add(window.size));
        let text = format!(
            "found window {n} of class HP from {first:#x} to {end:#x}, expected addresses of windows of class DB in `inbound` alone, and {at:#x} is in none (bridge §1.3)"
        );
        Some(("windows", text))
    };
    let of_class = windows.iter().enumerate().filter(|(_, window)| window.class == WindowClass::Hp);
    of_class.filter_map(one).collect()
}

/// Ends of channels of messages of two classes, each with the other way back.
type MessageEnds<T> = [(Class, T); 2];

/// The ends of the outbound half.
pub struct RequesterChannels {
    tx: MessageEnds<OutEnd<Numbered>>,
    rx: MessageEnds<InEnd<Numbered>>,
    asks: OutEnd<OwnerAtomic>,
    answers: InEnd<OwnerAnswer>,
    link: u32,
}

/// The ends of the home.
pub struct HomeChannels {
    rx: MessageEnds<InEnd<Numbered>>,
    tx: MessageEnds<OutEnd<Numbered>>,
    link: u32,
}

/// The ends of the inbound half.
pub struct OwnerEnds {
    asks: InEnd<OwnerAtomic>,
    answers: OutEnd<OwnerAnswer>,
    link: u32,
}

/// Number of the channels among links, for traces: links are numbered from 0 on, and channels of homes to memory from the last one down.
fn link_number(home_port: u32) -> u32 {
    (u32::MAX >> 1) - home_port
}

/// The channels of a bridge whose first port of the home has this number among links.
///
/// # Errors
/// A mistake of ours.
pub fn channels(
    p: &mut PartitionBuilder,
    bridge: &str,
    home_port: u32,
) -> Result<(RequesterChannels, HomeChannels, OwnerEnds), BuildError> {
    let mut of = |class: Class| {
        let name = format!("{bridge}.hairpin.{}", class.name().to_lowercase().replace(' ', "_"));
        p.channel::<Numbered>(&name, CHANNEL_MESSAGES, CHANNEL_CYCLES).map(|(tx, rx)| ((class, tx), (class, rx)))
    };
    let (req, home_req) = of(Class::M2sReq)?;
    let (rwd, home_rwd) = of(Class::M2sRwd)?;
    let (home_ndr, ndr) = of(Class::S2mNdr)?;
    let (home_drs, drs) = of(Class::S2mDrs)?;
    let (asks, taken) = p.channel(&format!("{bridge}.hairpin.atomics"), CHANNEL_MESSAGES, CHANNEL_CYCLES)?;
    let (answers, answered) = p.channel(&format!("{bridge}.hairpin.old_values"), CHANNEL_MESSAGES, CHANNEL_CYCLES)?;
    let link = link_number(home_port);
    Ok((
        RequesterChannels { tx: [req, rwd], rx: [ndr, drs], asks, answers: answered, link },
        HomeChannels { rx: [home_req, home_rwd], tx: [home_ndr, home_drs], link },
        OwnerEnds { asks: taken, answers, link },
    ))
}

/// A link without a link: both ends are agents of one bridge.
fn attached(
    bind: &mut Binder<'_>,
    (rx, tx): (MessageEnds<InEnd<Numbered>>, MessageEnds<OutEnd<Numbered>>),
    (number, link): (u16, u32),
) -> NodeLink {
    NodeLink {
        tells: None,
        hears: None,
        damage: None,
        rx: rx.into_iter().map(|(class, end)| (class, Received::Agent(bind.attach(end)))).collect(),
        tx: tx.into_iter().map(|(class, end)| (class, bind.attach(end))).collect(),
        routes: vec![PeerRoute::default()],
        form: HOME_FORM,
        number,
        link,
    }
}

impl HomeChannels {
    /// Attached to the home; `number` is that of the links to its memory in the log.
    pub fn attach(self, bind: &mut Binder<'_>, number: u16) -> NodeLink {
        attached(bind, (self.rx, self.tx), (number, self.link))
    }
}

impl OwnerEnds {
    /// Attached to the inbound half.
    pub fn attach(self, bind: &mut Binder<'_>) -> OwnerPort {
        OwnerPort { rx: bind.attach(self.asks), tx: bind.attach(self.answers), link: self.link }
    }
}

impl RequesterChannels {
    /// Attached to the outbound half, which has a place of its own among those that the home's lines are watched at.
    pub fn attach(self, bind: &mut Binder<'_>, seat: &Seat, tap: Tap) -> (BridgeCxlPort, OwnerChannels) {
        let RequesterChannels { tx, rx, asks, answers, link } = self;
        let domain = &seat.domain;
        let node = domain.holders() + 1;
        let watch = recorded(domain.watch::<BridgeLines>(), node, std::slice::from_ref(seat));
        let port = BridgeCxlPort {
            link: attached(bind, (rx, tx), (domain.memory_link_number(), link)),
            is_coherent: true,
            watch: watch.map(|watch| PortWatch { node, watch }),
        };
        (port, OwnerChannels { asks: bind.attach(asks), answers: bind.attach(answers), link, tap })
    }
}
