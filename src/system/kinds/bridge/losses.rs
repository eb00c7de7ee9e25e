//! CXL links of a bridge that are lost while the system runs, and come back, see
//! [`scalepool_coherence::clocked::outages`].
//!
//! Modelled: which links, from when on and for how long, for each half of the bridge by the numbers of its ports. At ports of the home nothing
//! is lost but time: who holds lines knows no time-out, and a record has to agree with the copies, so all that is on its way waits until the
//! link is back ([`scalepool_coherence::clocked::node`]). Left out: the peers' ends of the links. A walk: `cxl[1]` is lost at 5 us for 2 us; the
//! name is looked up among the ports, and the outbound half gets the cycles in which its port 1 is down.

use super::outbound::OutboundFields;
use crate::field::{FieldRange, config};
use crate::kind::{ConfigFinding, SitePort};
use crate::metric::{MetricValue, metrics};
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_coherence::clocked::outages::LinkOutage;
use scalepool_kernel::{Clock, Time};

metrics! {
    /// What a bridge counts of CXL links that are lost.
    pub static LOSS_METRICS {
        LOST_LINKS = "CXL links lost" ["links"] Sum, "times that a CXL link of the bridge went down";
        LOST_REQUESTS = "requests lost with links" ["requests"] Sum, "requests of accelerators that ended with status 8 because the CXL link that they needed went down (bridge §8.1)";
        LOST_MESSAGES = "messages lost with links" ["messages"] Sum, "messages and TLPs of hosts that came over a CXL link before it went down, whose answers were lost, and those that came while it was down (bridge §8.1)";
    }
}

/// What the halves of a bridge have counted of links.
#[derive(Debug, Clone, Copy, Default)]
pub struct LossCounts {
    /// Times that a link went down.
    pub links: u64,
    /// Requests of accelerators.
    pub requests: u64,
    /// Messages and TLPs of hosts.
    pub messages: u64,
}

impl LossCounts {
    /// As metrics.
    pub fn measured(self) -> [MetricValue; 3] {
        [(&LOST_LINKS, self.links), (&LOST_REQUESTS, self.requests), (&LOST_MESSAGES, self.messages)]
    }
}

config! {
    /// A CXL link of a bridge that goes down and comes back.
    pub struct BridgeOutage {
        port: String = "" [Unit::Of("-")] in FieldRange::Text("a port of CXL, such as `cxl[0]`"), "its port: `cxl[n]`, `coherent[n]`, `host[n]`, `io[n]`, `target[n]`, `home[n]` or `bar[n]`";
        at: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 50), "when it goes down: requests of accelerators under way over it end with status 8, those that come while it is down with status 2; what a host has asked over it is lost, and the host hears nothing; at a port of the home requests, answers and snoops wait at both ends until it is back (bridge §8.1)";
        length: u64 = "1 us" [Unit::Time] in FieldRange::Int(1, 1 << 50), "time until it is back, at least a cycle";
    }
}

config! {
    /// CXL links that are lost.
    pub struct BridgeLosses {
        lost: Vec<(BridgeOutage, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(BridgeOutage::fields), "CXL links of the bridge that go down while the system runs, and come back, each as often as it is listed (bridge §8.1)";
    }
}

/// Ports of the inbound half, as they are called.
const INBOUND: [&str; 3] = ["target", "home", "bar"];

/// Where a port stands in its half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LostPort {
    /// Number of a way of the outbound half.
    Outbound(usize),
    /// Place in [`INBOUND`], and number of a port of that name.
    Inbound(usize, usize),
}

/// Times in which links are down, by the halves of the bridge.
#[derive(Debug, Clone, Default)]
pub struct HalvesOutages {
    /// Of the outbound half, by ways.
    pub outbound: Vec<LinkOutage>,
    /// Of ports of the inbound half: targets, those of the home, those of class BR.
    pub inbound: [Vec<LinkOutage>; 3],
}

impl BridgeOutage {
    /// Name of the port and its number.
    fn named(&self) -> Option<(&str, usize)> {
        let (name, number) = self.port.strip_suffix(']')?.split_once('[')?;
        Some((name, number.parse().ok().filter(|_| !number.starts_with('+'))?))
    }

    fn place(&self, outbound: &OutboundFields, inbound: [usize; 3]) -> Result<LostPort, String> {
        let found = &self.port;
        if found.starts_with("x[") {
            return Err(format!("found `{found}`, expected a port of CXL: a UALink has an outage of its own"));
        }
        let place = self.named().and_then(|(name, n)| match INBOUND.iter().position(|own| *own == name) {
            Some(kind) => (n < inbound[kind]).then_some(LostPort::Inbound(kind, n)),
            None => outbound.way_of(name, n).map(LostPort::Outbound),
        });
        place.ok_or_else(|| {
            format!(
                "found `{found}`, expected a port that the bridge has, of `cxl`, `coherent`, `host`, `io`, `target`, `home` or `bar`, such as `cxl[0]`"
            )
        })
    }

    const fn until(&self) -> u64 {
        self.at + self.length
    }
}

impl BridgeLosses {
    /// Whether any link is lost.
    pub fn are_any(&self) -> bool {
        !self.lost.is_empty()
    }

    /// The longest time for which a link is down \[fs\].
    pub fn longest_fs(&self) -> u64 {
        self.lost.iter().map(|(lost, _)| lost.length).max().unwrap_or(0)
    }

    /// Ports that are not there, and times of one port that overlap; `inbound`: how many ports of the inbound half there are, as [`HalvesOutages::inbound`] has them.
    pub fn check(&self, outbound: &OutboundFields, inbound: [usize; 3]) -> Vec<ConfigFinding> {
        let mut wrong = Vec::new();
        for (n, (own, _)) in self.lost.iter().enumerate() {
            if let Err(text) = own.place(outbound, inbound) {
                wrong.push(("lost", text));
            }
            let meets =
                |other: &BridgeOutage| other.port == own.port && other.at < own.until() && own.at < other.until();
            if let Some((other, _)) = self.lost[..n].iter().find(|(other, _)| meets(other)) {
                let [a, b, c] = [other.at, other.until(), own.at].map(|fs| Unit::Time.shown(fs));
                let text = format!(
                    "found `{}` down from {a} to {b} and again from {c}, expected times that do not overlap",
                    own.port
                );
                wrong.push(("lost", text));
            }
        }
        wrong
    }

    /// Hosts that would wait for ever for an answer that is lost; `targets` are the target ports.
    pub fn check_joined(&self, targets: &[SitePort]) -> Option<ConfigFinding> {
        let is_lost = |n: usize| self.lost.iter().any(|(lost, _)| lost.named() == Some(("target", n)));
        let (n, port) = targets.iter().enumerate().find(|(n, port)| is_lost(*n) && port.peer.waits_for_ever)?;
        let text = format!(
            "found `target[{n}]` beside {}, which has no time-out, expected one: what it has asked over a lost link is not answered",
            port.path
        );
        Some(("lost", text))
    }

    /// The times in cycles of the bridge.
    pub fn outages(&self, outbound: &OutboundFields, inbound: [usize; 3], clock: Clock) -> HalvesOutages {
        let mut all = HalvesOutages::default();
        for (lost, _) in &self.lost {
            let cycle = |fs| clock.first_at_or_after(Time::from_fs(fs));
            let from_cycle = cycle(lost.at);
            let until_cycle = cycle(lost.until()).max(from_cycle + 1);
            let (list, port) = match lost.place(outbound, inbound) {
                Ok(LostPort::Outbound(way)) => (&mut all.outbound, way),
                Ok(LostPort::Inbound(kind, n)) => (&mut all.inbound[kind], n),
                // A finding of the check.
                Err(_) => continue,
            };
            list.push(LinkOutage { from_cycle, until_cycle, port });
        }
        all
    }
}
